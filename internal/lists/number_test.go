package lists

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
)

// agrees holds the quick reading of a number against the parser's.
func agrees(t interface{ Fatalf(string, ...any) }, p *phoneReader, raw string) (good bool) {
	got, kind, sentence := p.read(raw)
	want, err := phone.Parse(raw, p.country, p.abroad)
	if err != nil {
		if kind == "" || sentence == "" || !strings.HasPrefix(raw, "#") && sentence != err.Error() {
			t.Fatalf("%s %q: %v %q, the parser says %v", p.country, raw, got, sentence, err)
		}
		return false
	}
	if kind != "" || fmt.Sprint(got.number) != want.Number || !cmp.Equal(got.fixes, want.Fixes) {
		t.Fatalf("%s %q: %v %q, the parser says %v", p.country, raw, got, sentence, want)
	}
	return true
}

var spellings = map[string][]string{
	"NG": {"0%s", "%s", "234%s", "+234%s", "2340%s", "+2340%s", "00234%s"}, "KE": {"0%s", "%s", "254%s", "+254%s", "2540%s"},
	"GH": {"0%s", "%s", "233%s", "+233%s"}, "UG": {"0%s", "256%s", "+256%s"}, "TZ": {"0%s", "255%s", "+255%s"}, "IN": {"0%s", "%s", "91%s", "+91%s"},
}

// TestRangesAreWhole: in the countries where a number is judged by its range,
// the last five digits never decide.
func TestRangesAreWhole(t *testing.T) {
	for country := range ranged {
		length := 9
		if country == "NG" || country == "IN" {
			length = 10
		}
		random := rand.New(rand.NewPCG(1, uint64(len(country))))
		good := 0
		for range 600 {
			first := ""
			for range length - 5 {
				first += fmt.Sprint(random.IntN(10))
			}
			spelling := spellings[country][random.IntN(len(spellings[country]))]
			p := newPhoneReader(sms.Account{Country: country})
			for _, last := range []int{random.IntN(rangeSize), 0, 99_999, random.IntN(rangeSize)} {
				if agrees(t, p, fmt.Sprintf(spelling, first+fmt.Sprintf("%05d", last))) {
					good++
				}
			}
		}
		if good < 50 {
			t.Errorf("%s: only %d numbers were good: nothing is proven", country, good)
		}
	}
}

// TestNumbersAreReadAsTheParserReadsThem writes numbers as people do.
func TestNumbersAreReadAsTheParserReadsThem(t *testing.T) {
	for _, abroad := range []bool{false, true} {
		p := newPhoneReader(sms.Account{Country: "NG", Abroad: abroad})
		rapid.Check(t, func(t *rapid.T) {
			digits := rapid.StringMatching(`(0|234|\+234|\+|00|)[789][01][0-9]{6,9}|[0-9]{5,16}|44[0-9]{10}`).Draw(t, "digits")
			odd := rapid.SampledFrom([]string{"", "", "", " ", "-", ".0", "x", "E+12", "٣", "\u200e", ";0803", "#N/A"}).Draw(t,
				"odd")
			at := rapid.IntRange(0, len(digits)).Draw(t, "at")
			agrees(t, p, strings.TrimSpace(digits[:at]+odd+digits[at:]))
		})
	}
}
