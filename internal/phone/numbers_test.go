package phone

import (
	"bufio"
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/nyaruka/phonenumbers"
)

var write = flag.Bool("write", false, "write what is done with the numbers of testdata/numbers.tsv into it again, to be looked at")

const numbersTable = "testdata/numbers.tsv"

// numberLine is a line of the table: a cell, what we do with it, what
// libphonenumber does, and why.
type numberLine struct {
	country, raw, ours, fixes, library, why string
	abroad                                  bool
}

func readNumbers(t *testing.T) (comments []string, lines []numberLine) {
	t.Helper()
	f, err := os.Open(numbersTable)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if strings.HasPrefix(s.Text(), "#") {
			comments = append(comments, s.Text())
			continue
		}
		cells := strings.Split(s.Text(), "\t")
		if len(cells) != 6 {
			t.Fatalf("%q has %d cells, not 6", s.Text(), len(cells))
		}
		country, abroad := strings.CutSuffix(cells[0], "+")
		raw, err := strconv.Unquote(cells[1])
		if err != nil {
			t.Fatalf("%q: %v", cells[1], err)
		}
		lines = append(lines, numberLine{country, raw, cells[2], cells[3], cells[4], cells[5], abroad})
	}
	return comments, lines
}

// libraryReads is the number as libphonenumber alone reads a cell, where a
// mobile phone may have it; else "-".
func libraryReads(raw, country string) string {
	p, err := phonenumbers.Parse(raw, country)
	if err != nil || !phonenumbers.IsValidNumber(p) {
		return "-"
	}
	if kind := phonenumbers.GetNumberType(p); kind != phonenumbers.MOBILE && kind != phonenumbers.FIXED_LINE_OR_MOBILE {
		return "-"
	}
	return strings.TrimPrefix(phonenumbers.Format(p, phonenumbers.E164), "+")
}

// TestNumbersOfTheTable: of each number of the table comes what stands there,
// and where that is not what libphonenumber makes of it, a reason is given.
func TestNumbersOfTheTable(t *testing.T) {
	comments, lines := readNumbers(t)
	out, differ := append([]string(nil), comments...), 0
	for _, l := range lines {
		p, err := Parse(l.raw, l.country, l.abroad)
		ours, fixes := p.Number, strings.Join(p.Fixes, ", ")
		if err != nil {
			ours = err.Error()
		}
		library := libraryReads(l.raw, l.country)
		country := l.country
		if l.abroad {
			country += "+"
		}
		out = append(out, strings.Join([]string{country, strconv.QuoteToASCII(l.raw), ours, fixes, library, l.why}, "\t"))
		if *write {
			continue
		}
		if ours != l.ours || fixes != l.fixes || library != l.library {
			t.Errorf("%s %q: %q (%q), libphonenumber %s; the table has %q (%q), %s", l.country, l.raw, ours, fixes, library,
				l.ours, l.fixes, l.library)
		}
		verdict := ours
		if err != nil {
			verdict = "-"
		}
		if verdict != library {
			differ++
		}
		if l.why == "" || verdict != library && !strings.Contains(l.why, "; libphonenumber ") {
			t.Errorf("%s %q: the table does not say why", l.country, l.raw)
		}
		if err == nil && libraryReads("+"+ours, l.country) != ours {
			t.Errorf("%s %q became %s, which is nobody's mobile number", l.country, l.raw, ours)
		}
	}
	if *write {
		if err := os.WriteFile(numbersTable, []byte(strings.Join(out, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if len(lines) < 150 {
		t.Errorf("the table has %d numbers", len(lines))
	}
	t.Logf("%d numbers, %d of them not as libphonenumber alone reads them", len(lines), differ)
}

// TestExampleNumbers holds Parse against the examples that libphonenumber
// publishes of every kind of number: those of mobile phones are read in each
// form, the others are refused, and where the plan tells their kind it is said.
func TestExampleNumbers(t *testing.T) {
	kinds := map[phonenumbers.PhoneNumberType]string{phonenumbers.MOBILE: "", phonenumbers.FIXED_LINE: "Landline number",
		phonenumbers.TOLL_FREE: "Toll-free number", phonenumbers.PREMIUM_RATE: "Premium-rate number", phonenumbers.SHARED_COST: "Shared-cost number",
		phonenumbers.VOIP: "Internet phone number", phonenumbers.PERSONAL_NUMBER: "Forwarding number", phonenumbers.PAGER: "Pager number",
		phonenumbers.UAN: "Company number", phonenumbers.VOICEMAIL: "Voicemail number"}
	forms := []phonenumbers.PhoneNumberFormat{phonenumbers.E164, phonenumbers.INTERNATIONAL, phonenumbers.NATIONAL, phonenumbers.RFC3966}
	held := 0
	for _, country := range []string{"NG", "KE", "GH", "ZA", "GB", "US"} {
		for kind, says := range kinds {
			example := phonenumbers.GetExampleNumberForType(country, kind)
			if example == nil {
				continue
			}
			want := strings.TrimPrefix(phonenumbers.Format(example, phonenumbers.E164), "+")
			// In some plans a number is not told from a mobile one.
			reaches := says == "" || phonenumbers.GetNumberType(example) == phonenumbers.FIXED_LINE_OR_MOBILE
			for _, form := range forms {
				raw := phonenumbers.Format(example, form)
				held++
				switch p, err := Parse(raw, country, false); {
				case reaches && (err != nil || p.Number != want):
					t.Errorf("%s: %q is %q, %v; want %s", country, raw, p.Number, err, want)
				case !reaches && (err == nil || !strings.HasPrefix(err.Error(), says)):
					t.Errorf("%s: %q is %q, %v; want %s", country, raw, p.Number, err, says)
				}
			}
		}
	}
	if held < 100 {
		t.Errorf("%d examples", held)
	}
	t.Logf("%d examples", held)
}
