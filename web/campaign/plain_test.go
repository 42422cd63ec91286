package campaign

import (
	"testing"

	"pgregory.net/rapid"

	"smsdesk/internal/sms"
)

// TestStandardCharacters: what is changed is named once each with its count,
// characters of a language stay, and what comes out needs no more parts.
func TestStandardCharacters(t *testing.T) {
	plain, about := inStandard("“Fees” of ₦5 – Ọlá’s… and ₦6\u00a0only")
	if plain != `"Fees" of N5 - Ọlá's... and N6 only` {
		t.Errorf("%q", plain)
	}
	if len(about.Changes) != 7 || about.Changes[2].Name != "naira sign" || about.Changes[2].Times != 2 {
		t.Errorf("%+v", about.Changes)
	}
	if len(about.Left) != 2 || about.Left[0] != "Ọ" || about.Left[1] != "á" {
		t.Errorf("left %q", about.Left)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("abc “”‘’–—…₦é\u200b\t#@€\n"))).Draw(t, "text")
		plain, about := inStandard(text)
		again, rest := inStandard(plain)
		if again != plain || len(rest.Changes) != 0 {
			t.Fatalf("%q becomes %q and then %q", text, plain, again)
		}
		if len(about.Left) == 0 && sms.CountSegments(plain, false).Unicode {
			t.Fatalf("%q becomes %q, which is not in standard characters", text, plain)
		}
	})
}

// TestATemplateTakesAndGivesBack: the person's own text outlives any number of
// templates.
func TestATemplateTakesAndGivesBack(t *testing.T) {
	templates := []sms.Template{{ID: 1, Text: "one"}, {ID: 2, Text: "two\r\nlines"}}
	chosen, in, own, text := "1", "", "", "mine"
	step := func(want, wantText, problem string) {
		t.Helper()
		chosen = want
		if got := applyTemplate(templates, &chosen, &in, &own, &text); got != problem || text != wantText {
			t.Fatalf("template %q: %q, the text is %q", want, got, text)
		}
	}
	step("1", "one", "")
	step("2", "two\nlines", "")
	step("9", "two\nlines", "This template can no longer be used. Choose another, or write your own text")
	if chosen != "2" {
		t.Errorf("chosen stays %q", chosen)
	}
	step("", "mine", "")
	step("", "mine", "")
}
