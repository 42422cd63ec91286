package sms

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestCampaignStates(t *testing.T) {
	for state, want := range map[CampaignState][3]bool{ // start, stop, continue
		"draft": {true, false, false}, "running": {false, true, false}, "paused": {false, true, true},
		"stopped": {false, false, true}, "finished": {false, false, false}, "": {false, false, false},
	} {
		c := Campaign{State: state}
		if got := [3]bool{c.MayStart(), c.MayStop(), c.MayContinue()}; got != want {
			t.Errorf("%s: start, stop, continue = %v, want %v", state, got, want)
		}
	}
}

func TestFingerprintSeesTheSetOfNumbers(t *testing.T) {
	base := Fingerprint("CLINIC", "Hello", []string{"1", "2", "3"})
	for name, same := range map[string]string{
		"order":    Fingerprint("CLINIC", "Hello", []string{"3", "1", "2"}),
		"repeated": Fingerprint("CLINIC", "Hello", []string{"3", "1", "2", "1"}),
	} {
		if same != base {
			t.Errorf("%s makes another campaign", name)
		}
	}
	others := map[string]string{base: "the campaign"}
	for name, f := range map[string]string{
		"one less": Fingerprint("CLINIC", "Hello", []string{"1", "2"}), "one more": Fingerprint("CLINIC", "Hello", []string{"1", "2", "3", "4"}),
		"text": Fingerprint("CLINIC", "hello", []string{"1", "2", "3"}), "sender": Fingerprint("CLINIC2", "Hello", []string{"1", "2", "3"}),
		"joined": Fingerprint("CLINIC", "Hello", []string{"12", "3"}), "text with a quote": Fingerprint(`CLINIC" "Hello`, "", []string{"1", "2", "3"}),
		"text that ends in a number": Fingerprint("CLINIC", "Hello 1", []string{"2", "3"}), "nobody": Fingerprint("CLINIC", "Hello", nil),
	} {
		if was, met := others[f]; met {
			t.Errorf("%s has the fingerprint of %s", name, was)
		}
		others[f] = name
	}
	numbers := []string{"3", "1"}
	if Fingerprint("A", "b", numbers); numbers[0] != "3" {
		t.Error("the caller's list was sorted")
	}
}

func TestNameFromText(t *testing.T) {
	long := strings.Repeat("ọ", 60)
	for text, want := range map[string]string{
		"":                        "",
		" \n ":                    "",
		"Hello":                   "Hello",
		"  Dear\tparents,\n come": "Dear parents, come",
		long:                      long[:48*2+48],
		"Short " + long:           "Short",
		"aaaa bbbb cccc dddd eeee ffff gggg hhhh iiii jjjj": "aaaa bbbb cccc dddd eeee ffff gggg hhhh iiii",
	} {
		if got := NameFromText(text); got != want {
			t.Errorf("NameFromText(%q) = %q, want %q", text, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		name := NameFromText(text)
		if n := utf8.RuneCountInString(name); n > 48 || (n == 0) != (len(strings.Fields(text)) == 0) ||
			name != strings.Join(strings.Fields(name), " ") {
			t.Fatalf("NameFromText(%q) = %q", text, name)
		}
	})
}

func TestCheckText(t *testing.T) {
	gsm := func(n int) string { return strings.Repeat("a", n) }
	for _, c := range []struct {
		text  string
		parts int
		want  string
	}{
		{"", 6, "Enter the message"},
		{" \n\t", 6, "Enter the message"},
		{"a", 1, ""},
		{gsm(160), 1, ""},
		{gsm(161), 1, "Message must be 160 characters or fewer. Yours is 1 over"},
		{gsm(918), 6, ""},
		{gsm(930), 6, "Message must be 918 characters or fewer. Yours is 12 over"},
		{gsm(306), 2, ""},
		{gsm(307), 2, "Message must be 306 characters or fewer. Yours is 1 over"},
		{strings.Repeat("ọ", 402), 6, ""},
		{strings.Repeat("ọ", 404), 6, "Message must be 402 characters or fewer. Yours is 2 over"},
		{strings.Repeat("ọ", 71), 1, "Message must be 70 characters or fewer. Yours is 1 over"},
		{gsm(152) + "€" + gsm(152), 2, "Message must be 306 characters or fewer. Yours is 1 over"},
	} {
		if got := CheckText(c.text, CountSegments(c.text, false), c.parts); got != c.want {
			t.Errorf("%d runes in %d parts: %q, want %q", utf8.RuneCountInString(c.text), c.parts, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab €^ọ😀"))).Draw(t, "text")
		parts := rapid.IntRange(1, 6).Draw(t, "parts")
		s := CountSegments(text, false)
		if fits := s.Parts >= 1 && s.Parts <= parts &&
			strings.TrimSpace(text) != ""; (CheckText(text, s, parts) == "") != fits {
			t.Fatalf("%q in %d parts: %q", text, s.Parts, CheckText(text, s, parts))
		}
	})
}

func TestSenderIDUsable(t *testing.T) {
	for _, c := range []struct {
		s    SenderID
		want bool
	}{
		{SenderID{IsActive: true, ApproveStatus: "Approved"}, true},
		{SenderID{IsActive: true, ApproveStatus: " approved "}, true},
		{SenderID{IsActive: false, ApproveStatus: "Approved"}, false},
		{SenderID{IsActive: true, ApproveStatus: "", ApprovedDate: "Mar 19, 2018"}, false},
		{SenderID{IsActive: true, ApproveStatus: "Not Approved"}, false},
	} {
		if c.s.Usable() != c.want {
			t.Errorf("%+v", c.s)
		}
	}
}
