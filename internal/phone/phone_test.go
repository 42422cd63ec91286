package phone

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		`="08030000101"`:       "2348030000101",
		"2340803 000 0101":     "2348030000101",
	} {
		got, err := Parse(raw, "NG", false)
		if err != nil || got.Number != want {
			t.Errorf("ParsePhone(%q) = %q, %v; want %q", raw, got.Number, err, want)
		}
	}
}

func TestParsePhoneSaysWhatIsWrong(t *testing.T) {
	for raw, want := range map[string]string{
		"":               "Missing: enter a phone number",
		"080312345":      "Too short: has 9 digits, needs 11",
		"08031234567890": "Too long: has 14 digits, needs 11",
		"0803 5S5 0101":  `Contains letters: character 7 of "0803 5S5 0101" is S`,
		"08031234567x":   `Contains letters: character 12 of "08031234567x" is x`,
		"2.34803E+12": "Excel has shortened this number (2.34803E+12), so its last digits are lost. " +
			"Set the column to Text and re-enter the number",
		"0803 000 0101 ::: 0805 000 0101": "Cell has two numbers. Put each on its own row",
		`="2.34803E+12"`: "Excel has shortened this number (2.34803E+12), so its last digits are lost. " +
			"Set the column to Text and re-enter the number",
		`="08030000101`:             `Contains a symbol: character 1 of "=\"08030000101" is =`,
		"08030000101/08030000102":   "Cell has two numbers. Put each on its own row",
		"08030000101+2348030000102": "Cell has two numbers. Put each on its own row",
		"+447400123456":             "Number is in the United Kingdom, and sending abroad is turned off",
	} {
		_, err := Parse(raw, "NG", false)
		if err == nil || err.Error() != want {
			t.Errorf("ParsePhone(%q) says %v; want %q", raw, err, want)
		}
	}
	for raw, want := range map[string]string{
		"4702335":       "Company number in Norway. Enter a mobile number", // a company's short number
		"+442079460000": "Landline number in the United Kingdom. Enter a mobile number",
		"+80012345678":  "Toll-free number. Enter a mobile number",
	} {
		_, err := Parse(raw, "NG", true)
		if err == nil || err.Error() != want {
			t.Errorf("abroad, ParsePhone(%q) says %v; want %q", raw, err, want)
		}
	}
	if p, err := Parse("+447400123456", "NG", true); err != nil || p.Number != "447400123456" {
		t.Errorf("abroad allowed: %v %v", p, err)
	}
}

func TestMatchKeyMeetsInEveryForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		national := "803" + rapid.StringMatching(`[0-9]{7}`).Draw(t, "rest")
		for _, form := range []string{"234" + national, "+234" + national, "0" + national, national, "00234" + national,
			" +234 " + national[:3] + "-" + national[3:]} {
			if got := Key(form, "NG"); got != "234"+national {
				t.Fatalf("MatchKey(%q) = %q", form, got)
			}
		}
	})
}

func TestPhoneIsShownAndMasked(t *testing.T) {
	if got := Show("2348030000101", "NG"); got != "0803 000 0101" {
		t.Errorf("shown as %q", got)
	}
	if got := Mask("2348030000101", "NG"); got != "0803 ••• 0101" {
		t.Errorf("masked as %q", got)
	}
	if got := ForLog("2348030000101"); strings.Contains(got, "000") || !strings.HasSuffix(got, "0101") {
		t.Errorf("logged as %q", got)
	}
}

func FuzzMSISDN(f *testing.F) {
	for _, s := range []string{"08030000101", "+234 (0)803 000 0101", "2348030000101.0", "2.34803E+12", "\x00",
		"٠٨٠٣٠٠٠٠١٠١", "+++", "0803 5S5 0101", "+44 7400 123456", "+1 202 555 0123", "00254712345678", "'0803-000-0101", "4702335"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		p, err := Parse(raw, "NG", true)
		Key(raw, "NG")
		if err != nil {
			if err.Error() == "" {
				t.Fatalf("%q refused without a sentence: %v", raw, err)
			}
			return
		}
		key := Key(p.Number, "NG")
		if key != Key("+"+p.Number, "NG") || key != Key("00"+p.Number, "NG") ||
			strings.HasPrefix(p.Number, "234") && key != p.Number {
			t.Fatalf("%q became %q, but a report of it is looked for as %q", raw, p.Number, key)
		}
		home, err := Parse(raw, "NG", false)
		if err == nil && home.Number != p.Number || err != nil && strings.HasPrefix(p.Number, "234") {
			t.Fatalf("%q is %q where abroad is allowed and %q where not (%v)", raw, p.Number, home.Number, err)
		}
		shown := Show(p.Number, "NG")
		if back, err := Parse(shown, "NG", true); err != nil || back.Number != p.Number {
			t.Fatalf("%q became %q, shown as %q, which became %q (%v)", raw, p.Number, shown, back.Number, err)
		}
		if strings.Trim(p.Number, "0123456789") != "" || len(p.Number) < 7 || len(p.Number) > 15 {
			t.Fatalf("%q became %q", raw, p.Number)
		}
		if again, err := Parse("+"+p.Number, "NG", true); err != nil || again.Number != p.Number {
			t.Fatalf("%q became %q, which became %q (%v)", raw, p.Number, again.Number, err)
		}
	})
}

func TestReadNumbersOfAPastedMess(t *testing.T) {
	const one, two, three = "2348030000101", "2348030000102", "2348030000103"
	for text, want := range map[string]Numbers{
		"":                          {},
		" \r\n,;\t| ":               {},
		"08030000101":               {Good: []string{one}},
		"0803 000 0101":             {Good: []string{one}},
		"08030000101\r\n8030000102": {Good: []string{one, two}},
		"08030000101, +234 803 000 0102; 2348030000103": {Good: []string{one, two, three}},
		"08030000101 08030000102 08030000103":           {Good: []string{one, two, three}},
		"08030000101\u00a008030000102\u202808030000103": {Good: []string{one, two, three}},
		"08030000103\t08030000101|08030000102":          {Good: []string{three, one, two}},
		"08030000101,,\n\n,08030000101, +2348030000101": {Good: []string{one}, Repeated: 2},
		"0803-000-0101;(0803) 000 0102":                 {Good: []string{one, two}},
		"Ada: 08030000101":                              {Bad: []Bad{{"Ada: 08030000101", `Contains letters: character 1 of "Ada: 08030000101" is A`}}},
		"08030000101,080300001,hello": {Good: []string{one},
			Bad: []Bad{{"080300001", "Too short: has 9 digits, needs 11"},
				{"hello", `Contains letters: character 1 of "hello" is h`}}},
		"08030000101 080300":          {Bad: []Bad{{"08030000101 080300", "Too long: has 17 digits, needs 11"}}},
		"0803 000 0101 0803 000 0102": {Bad: []Bad{{"0803 000 0101 0803 000 0102", "Cell has two numbers. Put each on its own row"}}},
		"0803000010108030000102":      {Bad: []Bad{{"0803000010108030000102", "Cell has two numbers. Put each on its own row"}}},
		"08030000101/08030000102":     {Bad: []Bad{{"08030000101/08030000102", "Cell has two numbers. Put each on its own row"}}},
		"2.34803E+12": {Bad: []Bad{{"2.34803E+12",
			"Excel has shortened this number (2.34803E+12), so its last digits are lost. Set the column to Text and re-enter the number"}}},
		"+44 7400 123456": {Bad: []Bad{{"+44 7400 123456", "Number is in the United Kingdom, and sending abroad is turned off"}}},
		"'08030000101\n=08030000102": {Good: []string{one},
			Bad: []Bad{{"=08030000102", `Contains a symbol: character 1 of "=08030000102" is =`}}},
	} {
		if d := cmp.Diff(want, ReadAll(text, "NG", false)); d != "" {
			t.Errorf("%q:\n%s", text, d)
		}
	}
}

// TestReadNumbersLosesNothing: every entry is good, repeated or named as bad,
// and the good ones are each there once.
func TestReadNumbersLosesNothing(t *testing.T) {
	forms := func(n string) []string {
		return []string{n, "+" + n, "00" + n, "0" + n[3:], n[3:], "0" + n[3:6] + " " + n[6:9] + " " + n[9:], "+234 (0)" +
			n[3:]}
	}
	rapid.Check(t, func(t *rapid.T) {
		text, want, repeated, bad, seen := "", []string(nil), 0, 0, map[string]bool{}
		for range rapid.IntRange(0, 12).Draw(t, "entries") {
			if rapid.IntRange(0, 4).Draw(t, "bad") == 0 {
				text += rapid.SampledFrom([]string{"x", "123", "0803 5S5 0101", "+", "1e9"}).Draw(t, "what")
				bad++
			} else {
				n := "23480300001" + rapid.StringMatching(`[0-2]{2}`).Draw(t, "number")
				text += rapid.SampledFrom(forms(n)).Draw(t, "form")
				if seen[n] {
					repeated++
				} else {
					seen[n], want = true, append(want, n)
				}
			}
			text += rapid.SampledFrom([]string{"\n", "\r\n", ", ", ";", " \t", "|", ",,\n "}).Draw(t, "between")
		}
		got := ReadAll(text, "NG", false)
		if d := cmp.Diff(want, got.Good); d != "" || got.Repeated != repeated || len(got.Bad) != bad {
			t.Fatalf("%q: %+v, want %v, %d repeated, %d bad", text, got, want, repeated, bad)
		}
	})
}

// TestMatchKeyAbroad: a number of another country meets itself in every form,
// and no two countries meet.
func TestMatchKeyAbroad(t *testing.T) {
	for _, n := range []string{"447400123456", "4712345678", "16502530000", "2250701020304", "233241234567"} {
		for _, form := range []string{n, "+" + n, "00" + n, "+" + n[:2] + " " + n[2:]} {
			if Key(form, "NG") != Key(n, "NG") {
				t.Errorf("MatchKey(%q) = %q, of %q it is %q", form, Key(form, "NG"), n, Key(n, "NG"))
			}
		}
		if Key(n, "NG") == Key("2348030000101", "NG") {
			t.Errorf("%q meets a Nigerian number", n)
		}
	}
	for country, forms := range map[string][]string{
		"CI": {"2250701020304", "+225 07 01 02 03 04", "0701020304", "002250701020304"},
		"DE": {"491711234567", "+49 171 1234567", "01711234567", "1711234567", "+49 (0)171 1234567"},
		"US": {"16502530000", "+1 650 253 0000", "6502530000", "0016502530000"},
		"KE": {"254712345678", "0712345678", "712345678", "+254 (0)712 345678"},
		"GH": {"233231234567", "0231234567", "231234567"},
	} {
		for _, f := range forms {
			if got, want := Key(f, country), Key(forms[0], country); got != want {
				t.Errorf("%s: MatchKey(%q) = %q, of %q it is %q", country, f, got, forms[0], want)
			}
		}
	}
	if Key("", "NG") != "" || Key("•••", "NG") != "" || Key("+234 803", "") != "234803" {
		t.Error("what is no number became one")
	}
}
