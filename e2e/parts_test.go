package e2e

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	oracle "github.com/warthog618/sms"
	"github.com/warthog618/sms/encoding/tpdu"
	"github.com/warthog618/sms/encoding/ucs2"

	"smsdesk/internal/sms"
)

// counted is a text and how it is to be carried.
type counted struct {
	Text    string `json:"text"`
	Unicode bool   `json:"unicode"` // asked for (Is_Unicode, §4.2), whatever the text needs
}

// nodeCount is what sms-segments-calculator says of a text: its parts, whether
// it takes it for UCS-2, and the UTF-16 units of each cluster that it keeps
// whole.
type nodeCount struct {
	Parts    int   `json:"parts"`
	Unicode  bool  `json:"unicode"`
	Clusters []int `json:"clusters"`
}

// nodeCounter reads all texts from its input at once. Smart encoding, which
// replaces letters before it counts, stays off: smsdesk sends what was written.
const nodeCounter = `
const {SegmentedMessage} = require(process.argv[1]);
const texts = JSON.parse(require('fs').readFileSync(0, 'utf8'));
process.stdout.write(JSON.stringify(texts.map(t => {
	const m = new SegmentedMessage(t.text, t.unicode ? 'UCS-2' : 'auto', false);
	return {parts: m.segmentsCount, unicode: m.encodingName === 'UCS-2', clusters: m.graphemes.map(g => g.length)};
})));`

// TestPartsAgreeWithTwoOtherCounters compares the parts of 10,000 random texts,
// most of them near the ends of parts, with github.com/warthog618/sms, which
// makes real TPDUs, and with npm's sms-segments-calculator.
//
// The second one differs by a choice: it never parts what is one letter to the
// eye, such as a letter and its accent mark or a family of emoji, where a phone
// and the provider cut between any two characters. So every text is counted
// once more with its clusters kept whole, and that count must be its own;
// whatever else differs is a fault.
func TestPartsAgreeWithTwoOtherCounters(t *testing.T) {
	beside(t)
	const n = 10_000
	texts := randomTexts(n)
	theirs := askNode(t, texts)
	parts, clustered, unicode := 0, 0, 0
	for i, c := range texts {
		ours := sms.CountSegments(c.Text, c.Unicode)
		parts += ours.Parts
		if ours.Unicode {
			unicode++
		}
		if made := partsOfTPDUs(t, c.Text, ours.Unicode); made != ours.Parts {
			t.Errorf("%q unicode=%v: %d parts, as TPDUs %d", c.Text, c.Unicode, ours.Parts, made)
		}
		if theirs[i].Unicode != ours.Unicode {
			t.Errorf("%q unicode=%v: Unicode=%v, sms-segments-calculator says %v", c.Text, c.Unicode, ours.Unicode,
				theirs[i].Unicode)
			continue
		}
		want := ours.Parts
		if whole := partsOfClusters(theirs[i].Clusters); ours.Unicode && whole != ours.Parts {
			want = whole
			clustered++
			if !slices.ContainsFunc(theirs[i].Clusters, func(units int) bool { return units > 1 }) {
				t.Errorf("%q: counted whole it has %d parts without a cluster", c.Text, whole)
			}
		}
		if theirs[i].Parts != want {
			t.Errorf("%q unicode=%v: %d parts, sms-segments-calculator says %d where %d is explained", c.Text, c.Unicode,
				ours.Parts, theirs[i].Parts, want)
		}
		if t.Failed() && i > 100 {
			t.FailNow()
		}
	}
	if unicode < n/4 || unicode > n*3/4 || clustered == 0 || clustered > n/20 {
		t.Errorf("%d texts of Unicode, %d with clusters at the end of a part: the texts do not test", unicode, clustered)
	}
	t.Logf(
		"measured: the parts of %d random texts (%d parts, %d texts of Unicode) agree with two other counters; %d differ "+
			"by whole clusters, as explained", n, parts, unicode, clustered)
}

// randomTexts draws texts of one kind of letters or of several, and half of
// them so long that a part ends within the last few letters.
func randomTexts(n int) []counted {
	rng := rand.New(rand.NewPCG(3, 14))
	pick := func(letters string) func() string {
		all := []rune(letters)
		return func() string { return string(all[rng.IntN(len(all))]) }
	}
	plain := pick(
		"abcdefghijklmnopqrstuvwxyz     ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,!?\n\r@£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ¤ÄÖÑÜ§¿äöñüà¡")
	extension := pick("\f^{}\\[~]|€")
	odd := pick("₦“”‘’–ọẹṣçÁạ中あकب\u00a0\u200b\t`")
	wide := pick("😀👍𝄞🎉")
	clusters := []string{"o\u0323\u0301", "e\u0301", "👍🏽", "👩\u200d👩\u200d👧", "🇳🇬", "❤\ufe0f"}
	cluster := func() string { return clusters[rng.IntN(len(clusters))] }
	kinds := [][]func() string{
		{plain}, {plain, plain, plain, extension}, {extension}, {plain, extension, extension},
		{plain, odd}, {odd}, {plain, plain, odd, wide}, {wide, odd}, {plain, extension, odd, wide}, {plain, plain, plain, plain, plain, odd, cluster},
	}
	ends := []int{67, 70, 134, 153, 160, 201, 306, 459}
	texts := make([]counted, n)
	for i := range texts {
		kind := kinds[rng.IntN(len(kinds))]
		length := rng.IntN(500)
		if rng.IntN(2) == 0 {
			length = ends[rng.IntN(len(ends))] + rng.IntN(9) - 4
		}
		var b strings.Builder
		for units := 0; units < length; {
			letter := kind[rng.IntN(len(kind))]()
			b.WriteString(letter)
			units += len(utf16.Encode([]rune(letter)))
		}
		// Nothing is paid for nothing, where the others see one empty part.
		if b.Len() == 0 {
			b.WriteString("a")
		}
		texts[i] = counted{b.String(), rng.IntN(8) == 0}
	}
	return texts
}

// partsOfTPDUs makes the text into what is sent on the air.
func partsOfTPDUs(t *testing.T, text string, unicode bool) int {
	t.Helper()
	var pdus []tpdu.TPDU
	var err error
	if unicode {
		pdus, err = oracle.Encode(ucs2.Encode([]rune(text)), oracle.AsUCS2)
	} else {
		pdus, err = oracle.Encode([]byte(text))
	}
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return len(pdus)
}

// partsOfClusters counts the parts of a text of UCS-2 that is only cut between
// clusters.
func partsOfClusters(units []int) int {
	all, parts, used := 0, 1, 0
	for _, n := range units {
		all += n
		if used+n > 67 {
			parts, used = parts+1, 0
		}
		used += n
	}
	if all <= 70 {
		return 1
	}
	return parts
}

func askNode(t *testing.T, texts []counted) []nodeCount {
	t.Helper()
	counter, err := filepath.Abs(filepath.Join("..", ".cache", "counter", "package"))
	if err != nil {
		t.Fatal(err)
	}
	input, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	var complaint bytes.Buffer
	node := exec.CommandContext(t.Context(), "node", "-e", nodeCounter, counter)
	node.Stdin, node.Stderr = bytes.NewReader(input), &complaint
	output, err := node.Output()
	if err != nil {
		t.Fatalf("sms-segments-calculator does not count (make deps fetches it): %v\n%s", err, complaint.String())
	}
	var counts []nodeCount
	if err := json.Unmarshal(output, &counts); err != nil || len(counts) != len(texts) {
		t.Fatalf("%d counts for %d texts: %v", len(counts), len(texts), err)
	}
	return counts
}
