package views

import (
	"fmt"
	"math/big"
	"slices"
	"time"

	"smsdesk/internal/sms"
)

// MoneyForm is what a part is taken to cost, as its form shows it.
type MoneyForm struct {
	Typed     bool   // the price was typed, not learned
	Price     string // "" for none
	Currency  string
	WarnBelow string
}

func (p MoneyForm) from() string {
	if p.Typed {
		return "typed"
	}
	return "learned"
}

// priceDot is one campaign that tells what a part cost.
type priceDot struct {
	Name string
	Link string
	At   time.Time
	Each *big.Rat
	X, Y float64
	Far  bool // not near the others
}

func (d priceDot) x() string { return inPercent(d.X) }
func (d priceDot) y() string { return fmt.Sprintf("%.1f", d.Y) }

func (d priceDot) class() string {
	if d.Far {
		return "warn"
	}
	return "full"
}

func (d priceDot) radius() string {
	if d.Far {
		return "5.5"
	}
	return "4"
}

// priceLine is a price on the scale.
type priceLine struct {
	Y      float64
	Text   string
	Middle bool
}

func (l priceLine) y() string    { return fmt.Sprintf("%.1f", l.Y) }
func (l priceLine) base() string { return fmt.Sprintf("%.1f", l.Y+4.5) }

// priceChart is what a part cost in the campaigns that tell, the oldest first.
type priceChart struct {
	Dots        []priceDot
	Lines       []priceLine
	First, Last string
	Label       string
}

// The drawing's height, without the words below it.
const priceTop, priceBottom = 12.0, 88.0

// priceChartOf draws costs, the newest of which comes first.
func priceChartOf(costs []sms.Cost, price sms.LearntPrice, currency string, now time.Time) priceChart {
	var c priceChart
	for _, cost := range slices.Backward(costs) {
		if fell, ok := cost.Fell(); ok {
			c.Dots = append(c.Dots, priceDot{Name: cost.Campaign.Name, Link: CampaignPath(cost.Campaign.ID),
				At:   time.UnixMilli(cost.Campaign.StartedAt).In(now.Location()),
				Each: new(big.Rat).Quo(fell, new(big.Rat).SetInt64(cost.Parts()))})
		}
	}
	if len(c.Dots) == 0 || price.Samples == 0 {
		return priceChart{}
	}
	c.mark(price.Middle)
	step := priceStep(price)
	low, high := floorTo(price.Low, step), floorTo(price.High, step)
	if low.Cmp(price.Low) == 0 && low.Sign() > 0 {
		low.Sub(low, step) // a dot on the lowest line would look like nothing
	}
	high.Add(high, step)
	place := func(value *big.Rat) float64 {
		up, _ := new(big.Rat).Quo(new(big.Rat).Sub(value, low), new(big.Rat).Sub(high, low)).Float64()
		return priceBottom - up*(priceBottom-priceTop)
	}
	for at := low; at.Cmp(high) <= 0; at = new(big.Rat).Add(at, step) {
		c.Lines = append(c.Lines, priceLine{Y: place(at), Text: amount(currency, at), Middle: at.Cmp(price.Middle) == 0})
	}
	for i := range c.Dots {
		d := &c.Dots[i]
		d.X, d.Y = 2, place(d.Each)
		if len(c.Dots) > 1 {
			d.X += 96 * float64(i) / float64(len(c.Dots)-1)
		}
	}
	c.First, c.Last = dotDay(c.Dots[0].At, now), dotDay(c.Dots[len(c.Dots)-1].At, now)
	if c.First == c.Last {
		c.First = ""
	}
	c.Label = fmt.Sprintf("Price per part in %s: %s to %s, in the middle %s", Plural(len(c.Dots), "campaign", "campaigns"),
		amount(currency, price.Low), amount(currency, price.High), amount(currency, price.Middle))
	return c
}

// mark tells those that are far from the middle: by more than 2 % and more than
// three times as far as half of all campaigns are.
func (c *priceChart) mark(middle *big.Rat) {
	off := make([]*big.Rat, len(c.Dots))
	for i, d := range c.Dots {
		off[i] = new(big.Rat).Sub(d.Each, middle)
		off[i].Abs(off[i])
	}
	sorted := slices.SortedFunc(slices.Values(off), (*big.Rat).Cmp)
	usual := new(big.Rat).Mul(sorted[(len(sorted)-1)/2], big.NewRat(3, 1))
	least := new(big.Rat).Mul(middle, big.NewRat(1, 50))
	for i := range c.Dots {
		c.Dots[i].Far = off[i].Cmp(usual) > 0 && off[i].Cmp(least) > 0
	}
}

// far are those that are not near the others, the newest first, at most three.
func (c priceChart) far() (list []priceDot) {
	for _, d := range slices.Backward(c.Dots) {
		if d.Far && len(list) < 3 {
			list = append(list, d)
		}
	}
	return list
}

// priceStep is how far the lines of the scale are apart: a round amount, of
// which three or four fit.
func priceStep(price sms.LearntPrice) *big.Rat {
	span := new(big.Rat).Sub(price.High, price.Low)
	if least := new(big.Rat).Quo(price.Middle, big.NewRat(20, 1)); span.Cmp(least) < 0 {
		span = least
	}
	span.Quo(span, big.NewRat(3, 1))
	for unit := big.NewRat(1, 100); ; unit = new(big.Rat).Mul(unit, big.NewRat(10, 1)) {
		for _, n := range []int64{1, 2, 5} {
			if step := new(big.Rat).Mul(unit, big.NewRat(n, 1)); step.Cmp(span) >= 0 {
				return step
			}
		}
	}
}

// floorTo is the last multiple of step that is not above r.
func floorTo(r, step *big.Rat) *big.Rat {
	n := new(big.Rat).Quo(r, step)
	whole := new(big.Rat).SetInt(new(big.Int).Div(n.Num(), n.Denom()))
	return whole.Mul(whole, step)
}

func dotDay(t, now time.Time) string {
	if midnight(t).Equal(midnight(now)) {
		return "today"
	}
	return t.Format("2 January")
}
