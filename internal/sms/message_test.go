package sms

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lawful is the table of internal/workers/README.md, States of a message, typed out a second time.
var lawful = map[string][]string{
	"draft":          {"queued", "cancelled", "skipped"},
	"queued":         {"claimed", "cancelled", "skipped"},
	"claimed":        {"sending", "queued"},
	"sending":        {"accepted", "refused", "in_doubt", "held", "queued"},
	"in_doubt":       {"accepted", "closed_unknown", "closed_resent"},
	"held":           {"queued", "closed_unknown", "cancelled"},
	"accepted":       nil,
	"refused":        nil,
	"skipped":        nil,
	"cancelled":      nil,
	"closed_unknown": nil,
	"closed_resent":  nil,
}

var everyClass = []Class{ClassAnswered, ClassNothingLeft, ClassRate, ClassListed, ClassHold, ClassDoubt, ClassCrash, "",
	"p", "X"}

func TestTransitionsAreThoseOfTheTable(t *testing.T) {
	if len(States()) != len(lawful) {
		t.Fatalf("%d states, the table has %d", len(States()), len(lawful))
	}
	for _, from := range States() {
		targets, known := lawful[string(from)]
		if !known {
			t.Errorf("the table does not know %q", from)
		}
		var got []string
		for _, to := range from.Next() {
			got = append(got, string(to))
		}
		if d := cmp.Diff(targets, got); d != "" {
			t.Errorf("after %s (-want +got):\n%s", from, d)
		}
		for _, to := range States() {
			for _, class := range everyClass {
				want := slices.Contains(targets, string(to))
				if from == "sending" && to == "queued" {
					want = class == "P" || class == "C" || class == "C'"
				}
				if got := from.MayBecome(to, class); got != want {
					t.Errorf("%s to %s by class %q: %v, want %v", from, to, class, got, want)
				}
			}
		}
	}
}

func TestForbiddenForEver(t *testing.T) {
	for _, class := range everyClass {
		if State("in_doubt").MayBecome("queued", class) {
			t.Errorf("a doubt may be queued again by class %q", class)
		}
		for _, to := range States() {
			if State("accepted").MayBecome(to, class) {
				t.Errorf("an accepted message may become %s by class %q", to, class)
			}
		}
	}
	if State("unheard of").MayBecome(Queued, ClassNothingLeft) || Draft.MayBecome("unheard of", ClassNothingLeft) {
		t.Error("a state that does not exist has a transition")
	}
}

func TestTheTableCannotBeChangedThroughNext(t *testing.T) {
	list := InDoubt.Next()
	list[0] = Queued
	if InDoubt.MayBecome(Queued, ClassNothingLeft) {
		t.Error("a caller changed the transition table")
	}
}

func TestUnsentIsWhatHasNotLeft(t *testing.T) {
	for _, s := range States() {
		want := s == "draft" || s == "queued" || s == "claimed"
		if s.Unsent() != want {
			t.Errorf("%s.Unsent() = %v", s, !want)
		}
	}
}

func TestOnlyProvenClassesAllowAnotherAttempt(t *testing.T) {
	for _, c := range everyClass {
		if want := c == "P" || c == "C" || c == "C'"; c.NothingExecuted() != want {
			t.Errorf("class %q: NothingExecuted() = %v", c, !want)
		}
	}
}
