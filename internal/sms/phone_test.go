package sms

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParsePhoneReadsWhatPeopleWrite(t *testing.T) {
	for raw, want := range map[string]string{
		"08030000101":          "2348030000101",
		"8030000101":           "2348030000101",
		"+234 (0)803 000 0101": "2348030000101",
		"+234 803 000 0101":    "2348030000101",
		"2348030000101.0":      "2348030000101",
		"2348030000101":        "2348030000101",
		"002348030000101":      "2348030000101",
		" 0803-000-0101 ":      "2348030000101",
		"٠٨٠٣٠٠٠٠١٠١":          "2348030000101",
		"\u200e0803 000 0101":  "2348030000101",
		"'08030000101":         "2348030000101",
		"2340803 000 0101":     "2348030000101",
	} {
		got, err := ParsePhone(raw, "NG", false)
		if err != nil || got.Number != want {
			t.Errorf("ParsePhone(%q) = %q, %v; want %q", raw, got.Number, err, want)
		}
	}
}

func TestParsePhoneSaysWhatIsWrong(t *testing.T) {
	for raw, want := range map[string]string{
		"":                          "Missing: enter a phone number",
		"080312345":                 "Too short: has 9 digits, needs 11",
		"08031234567890":            "Too long: has 14 digits, needs 11",
		"0803 5S5 0101":             `Contains letters: "0803 5S5 0101" has S in place 7`,
		"08031234567x":              `Contains letters: "08031234567x" has x in place 12`,
		"2.34803E+12":               "Excel has shortened this number (2.34803E+12) and the last digits are lost. Set the column to Text and type the number again",
		"08030000101/08030000102":   "Two numbers in one cell. Put each on its own row",
		"08030000101+2348030000102": "Two numbers in one cell. Put each on its own row",
		"+447400123456":             "Not a mobile number in Nigeria, and sending abroad is turned off",
	} {
		_, err := ParsePhone(raw, "NG", false)
		var bad Invalid
		if !errors.As(err, &bad) || bad["phone"] != want {
			t.Errorf("ParsePhone(%q) says %v; want %q", raw, err, want)
		}
	}
	if p, err := ParsePhone("+447400123456", "NG", true); err != nil || p.Number != "447400123456" {
		t.Errorf("abroad allowed: %v %v", p, err)
	}
}

func TestMatchKeyMeetsInEveryForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		national := "803" + rapid.StringMatching(`[0-9]{7}`).Draw(t, "rest")
		for _, form := range []string{"234" + national, "+234" + national, "0" + national, national, "00234" + national, " +234 " + national[:3] + "-" + national[3:]} {
			if got := MatchKey(form, "NG"); got != "234"+national {
				t.Fatalf("MatchKey(%q) = %q", form, got)
			}
		}
	})
}

func TestPhoneIsShownAndMasked(t *testing.T) {
	if got := ShowPhone("2348030000101", "NG"); got != "0803 000 0101" {
		t.Errorf("shown as %q", got)
	}
	if got := MaskPhone("2348030000101", "NG"); got != "0803 ••• 0101" {
		t.Errorf("masked as %q", got)
	}
	if got := LogPhone("2348030000101"); strings.Contains(got, "000") || !strings.HasSuffix(got, "0101") {
		t.Errorf("logged as %q", got)
	}
}

func FuzzMSISDN(f *testing.F) {
	for _, s := range []string{"08030000101", "+234 (0)803", "2.34803E+12", "\x00", "٠٨٠٣", "+++", "0803 5S5 0101"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		p, err := ParsePhone(raw, "NG", true)
		MatchKey(raw, "NG")
		if err != nil {
			return
		}
		if strings.Trim(p.Number, "0123456789") != "" || len(p.Number) < 8 || len(p.Number) > 15 {
			t.Fatalf("%q became %q", raw, p.Number)
		}
		if again, err := ParsePhone("+"+p.Number, "NG", true); err != nil || again.Number != p.Number {
			t.Fatalf("%q became %q, which became %q (%v)", raw, p.Number, again.Number, err)
		}
	})
}
