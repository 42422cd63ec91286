package sms

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestMarks(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"Dear customer", nil},
		{"Dear ##Name##, see you on ##Date##.", []string{"Name", "Date"}},
		{"##First name## and ## Last ##", []string{"First name", "Last"}},
		{"##Name## ##name## ##NA_ME## ##N-a m e##", []string{"Name"}},
		{"##A####B##", []string{"A", "B"}},
		{"###Name###", []string{"Name"}},
		{"##Name", nil},
		{"Name##", nil},
		{"####", nil},
		{"## ##", nil},
		{"##-##", nil},
		{"##a#b##", nil},
		{"##one\ntwo##", nil},
		{"##a##b##c##", []string{"a", "c"}},
		{"Bo##Prénom##", []string{"Prénom"}},
		{"##" + strings.Repeat("x", 100) + "##", []string{strings.Repeat("x", 100)}},
		{"##" + strings.Repeat("x", 101) + "##", nil},
		{"##\xff##", nil},
	} {
		if got := Placeholders(c.text); !slices.Equal(got, c.want) {
			t.Errorf("Marks(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

func TestFill(t *testing.T) {
	values := map[string]string{"name": "Ada", "evil": "##Name## ##evil## %2523 {{.}} $1", "hash": "##", "empty": ""}
	for _, c := range []struct {
		text, want string
		missing    []string
	}{
		{"Dear ##Name##, ##NAME## and ##n_ame##", "Dear Ada, Ada and Ada", nil},
		{"no marks, 100 % ## alone", "no marks, 100 % ## alone", nil},
		{"##Evil##!", "##Name## ##evil## %2523 {{.}} $1!", nil},
		{"##hash##Name##hash##", "##Name##", nil},
		{"[##empty##]", "[]", nil},
		{"##Date## ##Name## ##date## ##Place##", "##Date## Ada ##date## ##Place##", []string{"Date", "Place"}},
		{"###Name###", "#Ada#", nil},
	} {
		got, missing := Fill(c.text, func(name string) (string, bool) { v, ok := values[PlaceholderKey(name)]; return v, ok })
		if got != c.want || !slices.Equal(missing, c.missing) {
			t.Errorf("Fill(%q) = %q, missing %q; want %q, %q", c.text, got, missing, c.want, c.missing)
		}
	}
}

func TestMarkKey(t *testing.T) {
	for _, same := range [][]string{
		{"First Name", "first_name", "FIRST-NAME", "firstname", " first\u00a0name\ufeff"},
		{"Pre\u0301nom", "pr\u00e9nom"},
	} {
		for _, name := range same {
			if PlaceholderKey(name) != PlaceholderKey(same[0]) {
				t.Errorf("MarkKey(%q) = %q, MarkKey(%q) = %q", name, PlaceholderKey(name), same[0], PlaceholderKey(same[0]))
			}
		}
	}
	if PlaceholderKey("name") == PlaceholderKey("name2") {
		t.Error("different names have one key")
	}
}

// markPattern says in another way what a mark is.
var markPattern = regexp.MustCompile(`##([^#\r\n]{1,100})##`)

// expand replaces the marks of text one after another by the pattern.
func expand(text string, value func(string) string) string {
	var b strings.Builder
	for text != "" {
		at := -1
		var found []int
		for from := 0; from < len(text) && at < 0; {
			loc := markPattern.FindStringSubmatchIndex(text[from:])
			if loc == nil {
				break
			}
			name := text[from+loc[2] : from+loc[3]]
			if len(name) <= 100 && utf8.ValidString(name) && strings.ContainsFunc(name, func(r rune) bool {
				return unicode.IsLetter(r) || unicode.IsDigit(r)
			}) {
				at, found = from, loc
				break
			}
			from += loc[0] + 1
		}
		if at < 0 {
			break
		}
		b.WriteString(text[:at+found[0]])
		b.WriteString(value(strings.TrimSpace(text[at+found[2] : at+found[3]])))
		text = text[at+found[1]:]
	}
	return b.String() + text
}

func FuzzTemplate(f *testing.F) {
	for _, s := range []string{"Dear ##Name##", "###a####b###", "## ##x##", "##a#b##c##", "a\n##b\n##c##",
		"##é## ##\xff##", "##one##two##three##"} {
		f.Add(s, "##Name##")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		if len(text) > 2000 {
			return // the pattern is slow, and no text is that long
		}
		asked := 0
		out, missing := Fill(text, func(string) (string, bool) { asked++; return value, true })
		if want := expand(text, func(string) string { return value }); out != want {
			t.Fatalf("Fill(%q) with %q = %q, want %q", text, value, out, want)
		}
		if len(missing) != 0 {
			t.Fatalf("missing %q although every value was given", missing)
		}
		kept, missing := Fill(text, func(string) (string, bool) { return value, false })
		if kept != text {
			t.Fatalf("without values Fill(%q) = %q", text, kept)
		}
		marks := Placeholders(text)
		if !slices.Equal(missing, marks) {
			t.Fatalf("Fill misses %q, Marks lists %q", missing, marks)
		}
		if (asked == 0) != (len(marks) == 0) || asked < len(marks) {
			t.Fatalf("asked %d times for %d marks", asked, len(marks))
		}
	})
}

func BenchmarkFill(b *testing.B) {
	text := "Dear ##First name##, your appointment at the clinic is on ##Date## at ##Time##. Call us if you cannot come. Thank you, ##Name##."
	for b.Loop() {
		Fill(text, func(name string) (string, bool) { return name, true })
	}
}
