package sms

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestAgainName(t *testing.T) {
	for name, want := range map[string]string{
		"June reminders": "June reminders (sent again)",
		"Good morning. The clinic is open from 9 today.": "Good morning. The clinic is open from 9 today (sent again)",
		"Are you coming?! ":           "Are you coming (sent again)",
		"The clinic is closed…":       "The clinic is closed (sent again)",
		"June reminders (sent again)": "June reminders (sent again)",
		"Wards (2)":                   "Wards (2) (sent again)",
		"...":                         "... (sent again)",
		strings.Repeat("é", 120):      strings.Repeat("é", 87) + " (sent again)",
	} {
		if got := ResendName(name); got != want {
			t.Errorf("%q became %q, want %q", name, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		once := ResendName(name)
		if ResendName(once) != once {
			t.Fatalf("%q, then %q", once, ResendName(once))
		}
		rest, ok := strings.CutSuffix(once, " (sent again)")
		last, _ := utf8.DecodeLastRuneInString(rest)
		if !ok || !strings.HasSuffix(name, " (sent again)") && strings.ContainsFunc(rest, unicode.IsLetter) &&
			strings.ContainsRune(" .,!", last) {
			t.Fatalf("%q became %q", name, once)
		}
	})
}
