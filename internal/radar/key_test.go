package radar

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// someText draws texts as people write them, in several alphabets.
func someText() *rapid.Generator[string] {
	return rapid.StringOf(rapid.OneOf(rapid.RuneFrom([]rune("abc XYZ019 ,.!-'\n")), rapid.RuneFrom([]rune("ọẹṣńÉßſςΣΩ₦½①ﬁ日本عربİı")),
		rapid.Rune()))
}

// ignored draws what does not count.
func ignored() *rapid.Generator[string] {
	return rapid.StringOfN(rapid.RuneFrom([]rune(" \t\n\u00a0\u200b\u00ad.,;:!?-–—’“”(){}/₦🎉\u2060")), 1, 5, -1)
}

func counts(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// TestTextsThatAreNearlyTheSameHaveOneKey: blanks, signs and case make no
// difference, wherever they stand; each letter and digit does.
func TestTextsThatAreNearlyTheSameHaveOneKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := someText().Filter(func(s string) bool { return strings.ContainsFunc(s, counts) }).Draw(t, "text")
		key := Key(text)
		if key <= KeyEach {
			t.Fatalf("%d stands for no text", key)
		}
		if got := Key(string(onlyLetters(text))); got != key {
			t.Fatalf("%q is not what counts of %q", onlyLetters(text), text)
		}
		letters := []rune(text)
		at := rapid.IntRange(0, len(letters)).Draw(t, "at")
		more := string(letters[:at]) + ignored().Draw(t, "more") + string(letters[at:])
		if utf8.ValidString(text) && Key(more) != key {
			t.Fatalf("%q differs from %q", more, text)
		}
		other := strings.Map(unicode.SimpleFold, text)
		if Key(other) != key {
			t.Fatalf("%q differs from %q", other, text)
		}
		if Key(text+"x") == key || Key("7"+text) == key {
			t.Fatalf("a letter more makes no difference to %q", text)
		}
	})
}

// TestPlaceholdersAreNotPartOfTheKey, whatever they are called and however many
// there are, as long as enough is left.
func TestPlaceholdersAreNotPartOfTheKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.StringMatching(`[a-zA-Z0-9 .,]{8,20}`), 2, 4).Draw(t, "parts")
		named := func(label string) string {
			var b strings.Builder
			for i, p := range parts {
				if i > 0 {
					b.WriteString("##" + rapid.StringMatching(`[A-Za-z][A-Za-z0-9 _]{0,8}`).Draw(t, label) + "##")
				}
				b.WriteString(p)
			}
			return b.String()
		}
		one, two := named("one"), named("two")
		if utf8.RuneCount(onlyLetters(strings.Join(parts, ""))) < templateLeast {
			if TemplateKey(one) != KeyEach {
				t.Fatalf("too little is left of %q", one)
			}
			return
		}
		if TemplateKey(one) != TemplateKey(two) || TemplateKey(one) != Key(strings.Join(parts, " ")) {
			t.Fatalf("%q and %q", one, two)
		}
	})
	for text, want := range map[string]int64{"Hello": Key("hello"), "Hi ##name##": KeyEach, "##a####b##": KeyEach,
		"Dear ##Name##, we are closed.": Key("dear we are closed")} {
		if got := TemplateKey(text); got != want {
			t.Errorf("%q: %d", text, got)
		}
	}
	if Key("🎉") == Key("🙏") || Key("") == Key("!") {
		t.Error("signs alone are all one text")
	}
}
