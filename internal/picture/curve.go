package picture

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Curve is what happened in each stretch of a flow: lines and areas in a box as wide
// as there are stretches and 1,000 high.
type Curve struct {
	Most            int64  // the highest figure, at least 1
	Sent            string // a line
	Delivered       string // an area over the ground
	Failed          string
	DeliveredEdge   string
	FailedEdge      string
	Gaps            []Gap
	From, Until, By int64 // By is how long a stretch is, in milliseconds
}

// Gap is a time in which nothing was sent, although something was before and after;
// X and W are in percent of the width.
type Gap struct {
	From, Until int64
	X, W        string
}

// Long is how long the gap is.
func (g Gap) Long() time.Duration { return time.Duration(g.Until-g.From) * time.Millisecond }

// NewCurve draws the stretches of a flow one by one. A time without sending that is
// shorter than least is no gap.
func NewCurve(f Flow, least time.Duration) Curve {
	c := Curve{Most: 1, From: f.From, By: f.Step.Milliseconds()}
	c.Until = c.From + int64(len(f.Stretches))*c.By
	for _, m := range f.Stretches {
		c.Most = max(c.Most, m.Sent, m.Delivered, m.Failed)
	}
	line := func(of func(Moment) int64) string {
		var b strings.Builder
		for i, m := range f.Stretches {
			y := strconv.Itoa(height(of(m), c.Most))
			if i == 0 {
				b.WriteString("M0 " + y)
			}
			b.WriteString("L" + Unit(float64(i)+0.5) + " " + y)
			if i == len(f.Stretches)-1 {
				b.WriteString("L" + strconv.Itoa(i+1) + " " + y)
			}
		}
		return b.String()
	}
	c.Sent = line(func(m Moment) int64 { return m.Sent })
	c.DeliveredEdge = line(func(m Moment) int64 { return m.Delivered })
	c.FailedEdge = line(func(m Moment) int64 { return m.Failed })
	c.Delivered, c.Failed = c.DeliveredEdge+"V1000H0z", c.FailedEdge+"V1000H0z"
	last := -1
	for i, m := range f.Stretches {
		if m.Sent == 0 {
			continue
		}
		from, until := c.From+int64(last+1)*c.By, c.From+int64(i)*c.By
		if g := (Gap{From: from, Until: until}); last >= 0 && i > last+1 && g.Long() >= least {
			x, w := Span{c.From, c.Until}.Bar(from, until)
			g.X, g.W = Unit(x), Unit(w)
			c.Gaps = append(c.Gaps, g)
		}
		last = i
	}
	return c
}

// Spread is how far the times of a network's deliveries lie apart: positions in
// percent of an axis on which a time stands at the square root of its share of two
// minutes.
type Spread struct {
	Low, High  string // 5 and 95 percent
	Near, Far  string // 25 and 75 percent
	Half       string
	Half95     [2]float64 // the median and the 95th percentile in seconds
	LastIsOpen bool       // the 95th percentile lies above the last step
}

// NewSpread reads the spread from a histogram that holds something.
func NewSpread(h Histogram) Spread {
	at := func(share float64) string {
		seconds, _ := h.Within(share)
		return Axis(seconds)
	}
	half, _ := h.Within(0.5)
	most, known := h.Within(0.95)
	return Spread{Low: at(0.05), Near: at(0.25), Half: at(0.5), Far: at(0.75), High: at(0.95),
		Half95: [2]float64{half, most}, LastIsOpen: !known}
}

// Axis is where a time in seconds stands on a spread's axis, in percent.
func Axis(seconds float64) string {
	return Unit(100 * min(max(math.Sqrt(max(seconds, 0)/120), 0), 1))
}
