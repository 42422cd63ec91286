package views

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"smsdesk/internal/sms"
)

// TestThePriceThatIsReckonedWith: one that was set wins, campaigns tell it from
// three on, and what is not known is never nothing.
func TestThePriceThatIsReckonedWith(t *testing.T) {
	learnt := func(samples int) sms.LearntPrice {
		return sms.LearntPrice{Samples: samples, Low: big.NewRat(396, 100), Middle: big.NewRat(4, 1),
			High: big.NewRat(404, 100)}
	}
	page := func(p Price) Fact {
		return ConfirmPage{Account: sms.Account{Currency: "₦"}, Out: sms.Outgoing{Messages: 1196, Parts: 1196},
			Price: p}.costFact()
	}
	for name, tc := range map[string]struct {
		set           int64
		samples       int
		figure, words string
	}{
		"nothing is known":     {0, 0, "not known yet", "Learned after 3 campaigns"},
		"too few tell":         {0, 2, "not known yet", "Learned after 3 campaigns"},
		"campaigns tell":       {0, 3, "about ₦4,784", "₦4,736 to ₦4,832, learned from 3 campaigns"},
		"an administrator set": {350, 38, "about ₦4,186", "As set in Settings"},
	} {
		got := page(PriceOf(sms.Account{PricePerPart: tc.set}, learnt(tc.samples)))
		if got.Figure != tc.figure || got.Words != tc.words {
			t.Errorf("%s: %q, %q", name, got.Figure, got.Words)
		}
	}
	if free := PriceOf(sms.Account{}, sms.LearntPrice{Samples: 9, Low: new(big.Rat), Middle: new(big.Rat),
		High: new(big.Rat)}); free.Known() {
		t.Error("nothing was taken from the balance, and that is a price")
	}
}

// TestWhatLiesBehindTheText is the text, letter for letter.
func TestWhatLiesBehindTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"##Name##", "##", "#", "a b", " ", "\n", "₦", "“", "ọ",
			"<b>",
			"##x", "é"})).Draw(t, "text"), "")
		var b strings.Builder
		for _, run := range mirror(text) {
			b.WriteString(run.Text)
		}
		if b.String() != text {
			t.Fatalf("%q is painted as %q", text, b.String())
		}
	})
	runs := mirror("Dear ##Name##, ₦5")
	if len(runs) != 5 || runs[1] != (mirrorRun{"##Name##", "slot"}) || runs[3] != (mirrorRun{"₦", "odd"}) {
		t.Errorf("%+v", runs)
	}
}

// TestTheDayOfTheStart: hours over midnight, closed days and a start at the
// edge stay inside the picture.
func TestTheDayOfTheStart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		minute := rapid.IntRange(0, dayMinutes-1)
		from := time.Date(2026, 6, rapid.IntRange(1, 14).Draw(t, "day"), 0, minute.Draw(t, "at"), 0, 0, time.UTC)
		hours := sms.Hours{From: minute.Draw(t, "from"), To: minute.Draw(t, "to")}
		p := Plan{Now: from, From: from, Hours: hours, Forecast: sms.Foresee(rapid.Int64Range(1, 100_000).Draw(t, "calls"),
			100, hours, from)}
		d := p.day()
		for _, s := range append(d.Open, d.Run) {
			if s.From < 0 || s.Long < 0 || s.From+s.Long > 100.6 {
				t.Fatalf("%+v of %+v", s, d)
			}
		}
		if hours.Always() != (len(d.Open) == 0) {
			t.Fatalf("hours %+v: %d stretches are open", hours, len(d.Open))
		}
	})
}

// TestSharesCoverTheWhole: whatever occurs can be seen, and nothing is longer
// than the bar.
func TestSharesCoverTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts []Counted
		for range rapid.IntRange(1, 6).Draw(t, "kinds") {
			parts = append(parts, Counted{"x", rapid.IntRange(0, 1_000_000).Draw(t, "n")})
		}
		at := 0.0
		for _, s := range shares(parts...) {
			if s.From < at-.001 || s.From+s.Long > 100.001 {
				t.Fatalf("%+v of %+v", s, parts)
			}
			at = s.From
		}
	})
}
