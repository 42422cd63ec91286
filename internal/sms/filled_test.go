package sms

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func marked(list []Span) string {
	var b strings.Builder
	for _, s := range list {
		if s.Filled {
			b.WriteString("[" + s.Text + "]")
		} else {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

func TestStretches(t *testing.T) {
	for _, c := range []struct{ template, text, want string }{
		{"Dear ##Name##, come on ##Date##.", "Dear Ada, come on 12 June.", "Dear [Ada], come on [12 June]."},
		{"##Name##", "Ada", "[Ada]"},
		{"##Name## owes ##Sum##", "Ada owes 5", "[Ada] owes [5]"},
		{"##First####Last##, hello", "AdaObi, hello", "[AdaObi], hello"},
		{"Hello ##Name##", "Hello ", "Hello "},
		{"No marks", "No marks", "No marks"},
		{"Dear ##Name##, come on ##Date##.", "Something else", "Something else"},
		{"Dear ##Name##, come.", "Dear Ada, come", "Dear Ada, come"},
		{"##A## and ##B##", "x and y and z", "x and y and z"},
		{"a##A##a", "a", "a"},
		{"Dear ##Name## ##", "Dear Ada ##", "Dear [Ada] ##"},
	} {
		if got := marked(Spans(c.template, c.text)); got != c.want {
			t.Errorf("%q filled as %q: %q, want %q", c.template, c.text, got, c.want)
		}
	}
}

func TestStretchesMakeUpTheText(t *testing.T) {
	piece := rapid.StringMatching(`[ab ,#]{0,4}`)
	rapid.Check(t, func(t *rapid.T) {
		template := piece.Draw(t, "1") + "##X##" + piece.Draw(t, "2") + "##Y##" + piece.Draw(t, "3")
		text, _ := Fill(template, func(string) (string, bool) { return piece.Draw(t, "value"), true })
		var b strings.Builder
		for _, s := range Spans(template, text) {
			b.WriteString(s.Text)
		}
		if b.String() != text {
			t.Fatalf("%q from %q", b.String(), text)
		}
	})
}
