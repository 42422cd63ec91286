package wording

import (
	"strings"
	"testing"
)

// TestAPlantedSentenceIsFound: what pages, labels and busy words should not say
// is found, and what somebody typed is not held against a page.
func TestAPlantedSentenceIsFound(t *testing.T) {
	for page, want := range map[string]string{
		`<p>Nothing more is sent, and a stop <b>cannot be called back</b>.</p>`: "will be sent, will never be sent",
		`<p>Somebody with the role Manager decides.</p>`:                        "someone",
		`<button data-busy="Looking…">Search</button>`:                          "Searching…, Refreshing…, Creating…, Withdrawing…",
		`<table aria-label="Campaigns, scrolls sideways"></table>`:              "scrolls horizontally",
		`<a href="/campaigns/1">Look at it</a>`:                                 "what is shown, opened, kept or reviewed",
		`<p>Sending goes
			on.</p>`: "continue",
		`<p>The menu is withdrawn by itself.</p>`:                                        "automatically",
		`<th>Records</th>`:                                                               "template, sender ID or group",
		`<p>Someone with the Manager role decides. Everyone waits.</p>`:                  "",
		`<textarea>Look at it</textarea><input value="Somebody"><p>Records of 3 May</p>`: "",
		`<p>Write ##stop link## for the opt-out link.</p>`:                               "",
	} {
		texts, err := Visible(strings.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		found := NewChecker().Check(texts...)
		if want == "" && len(found) > 0 || want != "" && (len(found) == 0 || found[0].Instead != want) {
			t.Errorf("%s: %v, want %q", page, found, want)
		}
	}
}

// TestATextIsLookedAtOnce: what is said on every page is told once.
func TestATextIsLookedAtOnce(t *testing.T) {
	c := NewChecker()
	if found := append(c.Check("Somebody", "Somebody"), c.Check("somebody ")...); len(found) != 1 {
		t.Error(found)
	}
}

// TestWhatToWriteInsteadIsNotBanned itself.
func TestWhatToWriteInsteadIsNotBanned(t *testing.T) {
	for _, b := range banned() {
		if found := NewChecker().Check(b[1]); len(found) > 0 {
			t.Error(found)
		}
	}
}
