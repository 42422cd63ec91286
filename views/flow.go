package views

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/a-h/templ"

	"smsdesk/internal/sms"
)

// The three pages from a message to its campaign share a top with the steps, a
// phone, and a bar at the bottom with the one thing to do.

// FlowStep is one of the pages.
type FlowStep int

// The steps in their order.
const (
	StepWrite FlowStep = iota
	StepCheck
	StepSend
)

func (s FlowStep) words() string { return [...]string{"Write", "Check", "Send"}[s] }

// FlowTop is the top of a page: its name, a line about what it is of, and the
// steps; Back has the address of each step before this one, "" for none.
type FlowTop struct {
	Title, Sub string
	Step       FlowStep
	Back       [2]string
}

func (t FlowTop) steps() []FlowStep { return []FlowStep{StepWrite, StepCheck, StepSend} }

func (t FlowTop) back(s FlowStep) string {
	if s >= t.Step {
		return ""
	}
	return t.Back[s]
}

// Deck is the bar at the bottom: what it is and costs, the way back, and the
// one primary action.
type Deck struct {
	Facts   []DeckFact
	Next    string // what comes, left of the button
	Back    Link
	Error   string // stands above the button
	Form    string // id of the form that the button sends
	Button  ButtonProps
	Without bool // there is nothing to press

	Say  string // words in the place of the facts; a script counts changes of the form there
	Undo string // the page as it is stored, where changes were not accepted
	Desk bool   // not on a phone
}

// DeckFact is a figure above its word; Desk hides it on a phone.
type DeckFact struct {
	Figure, Word string
	Tone         Tone
	Desk         bool
}

// Handset is a phone with the message on it.
type Handset struct {
	From  string
	Told  string // who gets it: "Row 2 to 0803 000 0001"
	Runs  []TextSpan
	Ghost bool // nothing is written yet
}

func (h Handset) letter() string {
	if h.From == "" {
		return "#"
	}
	return strings.ToUpper(string([]rune(h.From)[0]))
}

// ink is the message with what was filled in and its special characters apart.
func (h Handset) ink() []mirrorRun {
	var runs []mirrorRun
	for _, run := range h.Runs {
		for _, s := range spansOdd(run.Text) {
			class := ""
			switch {
			case s.Filled && run.Filled:
				class = "mark odd"
			case s.Filled:
				class = "odd"
			case run.Filled:
				class = "mark"
			}
			runs = append(runs, mirrorRun{s.Text, class})
		}
	}
	return runs
}

// spansOdd divides a run so that special characters can be marked.
func spansOdd(text string) []TextSpan {
	var out []TextSpan
	from := 0
	for i, r := range text {
		if sms.IsGSM7(r) || r == '\n' {
			continue
		}
		if i > from {
			out = append(out, TextSpan{Text: text[from:i]})
		}
		end := i + len(string(r))
		out = append(out, TextSpan{Text: text[i:end], Filled: true})
		from = end
	}
	if from < len(text) {
		out = append(out, TextSpan{Text: text[from:]})
	}
	return out
}

// Price is what a part costs: as an administrator set it, else as the account's
// own campaigns tell it. The zero value is not known.
type Price struct {
	Low, Middle, High *big.Rat // of one part
	Learned           int      // the campaigns that tell it, 0 for a price that was set
}

// minLearned is the fewest campaigns that tell a price.
const minLearned = 3

// PriceOf is the price that is reckoned with.
func PriceOf(a sms.Account, learnt sms.LearntPrice) Price {
	switch {
	case a.PricePerPart > 0:
		set := big.NewRat(a.PricePerPart, 100)
		return Price{Low: set, Middle: set, High: set}
	case learnt.Samples >= minLearned && learnt.Middle.Sign() > 0:
		return Price{Low: learnt.Low, Middle: learnt.Middle, High: learnt.High, Learned: learnt.Samples}
	}
	return Price{}
}

// Known says that there is a price.
func (p Price) Known() bool { return p.Middle != nil }

func (p Price) of(parts int64) *big.Rat {
	return new(big.Rat).Mul(p.Middle, new(big.Rat).SetInt64(parts))
}

// Decimal is what parts cost as a number for a table, "" where no price is known.
func (p Price) Decimal(parts int64) string {
	if !p.Known() {
		return ""
	}
	return p.of(parts).FloatString(2)
}

// each is the price of a part in words: "₦4.00 a part".
func (p Price) each(currency string) string { return amount(currency, p.Middle) + " a part" }

// source says where the price is from.
func (p Price) source() string {
	if p.Learned > 0 {
		return "learned from " + Plural(p.Learned, "campaign", "campaigns")
	}
	return "as set in Settings"
}

// spread is the least and the most that so many parts may cost, "" where every
// campaign cost the same.
func (p Price) spread(currency string, parts int64) string {
	if p.Low.Cmp(p.High) == 0 {
		return ""
	}
	n := new(big.Rat).SetInt64(parts)
	return reckoned(currency, new(big.Rat).Mul(p.Low, n)) + " to " + reckoned(currency, new(big.Rat).Mul(p.High, n))
}

// reckoned writes an amount that is reckoned: without hundredths from 100 up.
func reckoned(currency string, x *big.Rat) string {
	if new(big.Rat).Abs(x).Cmp(big.NewRat(100, 1)) < 0 {
		return amount(currency, x)
	}
	whole := amount(currency, new(big.Rat).SetInt64(rounded(x)))
	return strings.TrimSuffix(whole, ".00")
}

func rounded(x *big.Rat) int64 {
	half := big.NewRat(1, 2)
	if x.Sign() < 0 {
		half.Neg(half)
	}
	sum := new(big.Rat).Add(x, half)
	return new(big.Int).Quo(sum.Num(), sum.Denom()).Int64()
}

// Share is a stretch of a bar drawn in SVG: where it begins and how long it is,
// in per cent of the whole.
type Share struct {
	Class string
	From  float64
	Long  float64
}

func (s Share) x() string     { return inPercent(s.From) }
func (s Share) width() string { return inPercent(max(s.Long, 0)) }

func inPercent(f float64) string { return fmt.Sprintf("%.2f%%", f) }

// shares lays the parts of a whole beside each other; whatever is there at all
// can be seen.
func shares(parts ...Counted) []Share {
	const least = 0.8
	total := 0
	for _, p := range parts {
		total += max(p.N, 0)
	}
	var list []Share
	at := 0.0
	for _, p := range parts {
		if p.N <= 0 {
			continue
		}
		long := max(100*float64(p.N)/float64(total), least)
		list = append(list, Share{Class: p.Class, From: at, Long: min(long, 100-at)})
		at = min(at+long, 100)
	}
	return list
}

// Counted is how many of a whole are of one kind.
type Counted struct {
	Class string
	N     int
}

// Fact is one of the figures of the last page: a label, a figure, a picture of
// it and a line of words.
type Fact struct {
	ID, Label, Figure, Small string
	Link                     Link // behind Small
	Words                    string
	Bad, Warn                bool
	Picture                  templ.Component
}

// partsGauge is the boxes of the parts gauge, a box for each part and never
// fewer than three.
func partsGauge(s sms.Segments, most int) (boxes, fills []Share) {
	n := max(min(max(s.Parts, 1), 12), min(3, max(most, 1)))
	pitch := 100 / float64(n)
	wide := pitch - 1.2
	class := "full"
	if s.Unicode {
		class = "warn"
	}
	for i := range n {
		boxes = append(boxes, Share{Class: "track", From: float64(i) * pitch, Long: wide})
		if i < s.Parts {
			full := 1.0
			if i == s.Parts-1 && s.Units+s.Left > 0 {
				per := float64(s.Units+s.Left) / float64(s.Parts)
				full = max(0.04, min(1, (float64(s.Units)-per*float64(i))/per))
			}
			fills = append(fills, Share{Class: class, From: float64(i) * pitch, Long: wide * full})
		}
	}
	return boxes, fills
}
