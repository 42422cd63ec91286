package sms

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	oracle "github.com/warthog618/sms"
	"github.com/warthog618/sms/encoding/tpdu"
	"github.com/warthog618/sms/encoding/ucs2"
	"pgregory.net/rapid"
)

func TestCountSegments(t *testing.T) {
	a := func(n int) string { return strings.Repeat("a", n) }
	o := func(n int) string { return strings.Repeat("ọ", n) }
	odd := []rune{'ọ'}
	for _, c := range []struct {
		name, text string
		unicode    bool
		want       Segments
	}{
		{"empty", "", false, Segments{Left: 160}},
		{"empty unicode", "", true, Segments{Left: 70, Unicode: true}},
		{"one letter", "a", false, Segments{Parts: 1, Units: 1, Left: 159}},
		{"160", a(160), false, Segments{Parts: 1, Units: 160}},
		{"161", a(161), false, Segments{Parts: 2, Units: 161, Left: 145}},
		{"306", a(306), false, Segments{Parts: 2, Units: 306}},
		{"307", a(307), false, Segments{Parts: 3, Units: 307, Left: 152}},
		{"70 forced", a(70), true, Segments{Parts: 1, Units: 70, Unicode: true}},
		{"71 forced", a(71), true, Segments{Parts: 2, Units: 71, Left: 63, Unicode: true}},
		{"70 odd", o(70), false, Segments{Parts: 1, Units: 70, Unicode: true, Odd: odd}},
		{"71 odd", o(71), false, Segments{Parts: 2, Units: 71, Left: 63, Unicode: true, Odd: odd}},
		{"134 odd", o(134), false, Segments{Parts: 2, Units: 134, Unicode: true, Odd: odd}},
		{"135 odd", o(135), false, Segments{Parts: 3, Units: 135, Left: 66, Unicode: true, Odd: odd}},
		{"80 extension characters fill a part", strings.Repeat("€", 80), false, Segments{Parts: 1, Units: 160}},
		{"extension at the last septet of a part moves on", a(152) + "€" + a(152), false, Segments{Parts: 3, Units: 306, Left: 152}},
		{"extension ends exactly at the boundary", a(151) + "€" + a(153), false, Segments{Parts: 2, Units: 306}},
		{"surrogate pair at the boundary moves on", a(66) + "😀" + a(66), false, Segments{Parts: 3, Units: 134, Left: 66, Unicode: true, Odd: []rune{'😀'}}},
		{"surrogate pair ends exactly at the boundary", a(65) + "😀" + a(67), false, Segments{Parts: 2, Units: 134, Unicode: true, Odd: []rune{'😀'}}},
		{"pair across 70 in one part", a(68) + "😀", false, Segments{Parts: 1, Units: 70, Unicode: true, Odd: []rune{'😀'}}},
		{"GSM-7 accents", "é£¥ñÇ", false, Segments{Parts: 1, Units: 5, Left: 155}},
		{"every extension character", "\f^{}\\[~]|€", false, Segments{Parts: 1, Units: 20, Left: 140}},
		{"odd letters once, in order", "₦5 “ok” ẹ₦ọẹ", false, Segments{Parts: 1, Units: 12, Left: 58, Unicode: true, Odd: []rune("₦“”ẹọ")}},
		{"escape and grave are not letters of GSM-7", "\x1b`", false, Segments{Parts: 1, Units: 2, Left: 68, Unicode: true, Odd: []rune("\x1b`")}},
		{"small c cedilla is not GSM-7", "ç", false, Segments{Parts: 1, Units: 1, Left: 69, Unicode: true, Odd: []rune("ç")}},
		{"not UTF-8", "a\xff\xfe", false, Segments{Parts: 1, Units: 3, Left: 67, Unicode: true, Odd: []rune{'\uFFFD'}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, CountSegments(c.text, c.unicode)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestIsGSM7CoversTheAlphabet(t *testing.T) {
	n := 0
	for r := rune(0); r <= 0x10FFFF; r++ {
		if IsGSM7(r) {
			n++
		}
	}
	if want := 127 + 10; n != want {
		t.Errorf("IsGSM7 accepts %d characters, want %d (127 of the default alphabet, 10 of the extension)", n, want)
	}
}

// texts draws texts near the boundaries of parts, with many two-unit characters.
func texts() *rapid.Generator[string] {
	gsm := rapid.SampledFrom([]rune(gsm7Basic))
	ext := rapid.SampledFrom([]rune(gsm7Extension))
	odd := rapid.SampledFrom([]rune("₦“”ọẹṣç😀👍🏽𝄞\u0301\uFFFD"))
	return rapid.Custom(func(t *rapid.T) string {
		kind := rapid.SampledFrom([]*rapid.Generator[rune]{
			gsm, rapid.OneOf(gsm, gsm, gsm, ext), ext, rapid.OneOf(gsm, odd), rapid.OneOf(gsm, ext, odd), odd,
		}).Draw(t, "kind")
		head := rapid.SampledFrom([]int{0, 60, 66, 67, 68, 69, 130, 151, 152, 153, 158, 159, 160, 300, 305}).Draw(t, "head")
		return strings.Repeat("a", head) + rapid.StringOfN(kind, 0, 80, -1).Draw(t, "text")
	})
}

func TestCountSegmentsAgreesWithAnEncoder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		agree(t, texts().Draw(t, "text"), rapid.Bool().Draw(t, "unicode"))
	})
}

func FuzzSegments(f *testing.F) {
	for _, s := range []string{"", "hello", strings.Repeat("€", 90), strings.Repeat("😀", 40), "a\xff\x80",
		strings.Repeat("x", 152) + "~"} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, unicode bool) {
		agree(t, text, unicode)
	})
}

// agree checks one text against real TPDUs of another implementation.
func agree(t interface{ Errorf(string, ...any) }, text string, unicode bool) {
	got := CountSegments(text, unicode)
	if strings.ContainsRune(text, '\x1b') && !got.Unicode {
		t.Errorf("the escape was taken for a letter in %q", text)
	}
	var pdus []tpdu.TPDU
	var err error
	if got.Unicode {
		pdus, err = oracle.Encode(ucs2.Encode([]rune(text)), oracle.AsUCS2)
	} else {
		pdus, err = oracle.Encode([]byte(text))
	}
	if err != nil {
		t.Errorf("oracle: %v", err)
		return
	}
	if len(pdus) != got.Parts {
		t.Errorf("%q unicode=%v: %d parts, the encoder makes %d", text, unicode, got.Parts, len(pdus))
	}
	if unicode && !got.Unicode || len(got.Odd) > 0 && !got.Unicode {
		t.Errorf("%q unicode=%v: Unicode=%v with odd letters %q", text, unicode, got.Unicode, got.Odd)
	}
	if !unicode && got.Unicode && len(got.Odd) == 0 {
		t.Errorf("%q: UCS-2 without a letter that explains it", text)
	}
	units := 0
	for _, p := range pdus {
		if got.Unicode {
			units += len(p.UD) / 2
		} else {
			units += len(p.UD)
		}
	}
	if units != got.Units {
		t.Errorf("%q: %d units, the encoder makes %d", text, got.Units, units)
	}
	if got.Unicode && got.Units != len(utf16.Encode([]rune(text))) {
		t.Errorf("%q: %d UTF-16 units, want %d", text, got.Units, len(utf16.Encode([]rune(text))))
	}
	if err := leftIsTight(got, text, unicode); err != nil {
		t.Errorf("%v", err)
	}
}

// leftIsTight checks that Left more letters still fit and one above does not.
func leftIsTight(s Segments, text string, unicode bool) error {
	full := CountSegments(text+strings.Repeat("a", s.Left), unicode)
	if text != "" && (full.Parts != s.Parts || full.Left != 0) {
		return fmt.Errorf("%q: %d more letters give %d parts with %d left, want %d and 0", text, s.Left, full.Parts,
			full.Left, s.Parts)
	}
	if over := CountSegments(text+strings.Repeat("a", s.Left+1), unicode); text != "" && over.Parts <= s.Parts {
		return fmt.Errorf("%q: %d more letters still fit into %d parts", text, s.Left+1, s.Parts)
	}
	return nil
}
