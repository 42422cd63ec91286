package picture

import (
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestACurvesGapsAreWithoutSending: whatever left when, no gap holds anything that was
// sent, each has sending on both sides, and none is shorter than was asked for.
func TestACurvesGapsAreWithoutSending(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []Moment
		for range rapid.IntRange(1, 30).Draw(t, "messages") {
			at := rapid.Int64Range(0, 3_600_000).Draw(t, "at")
			list = append(list, Moment{At: at - at%1000, Sent: 1, Delivered: rapid.Int64Range(0, 1).Draw(t, "delivered")})
		}
		f := NewFlow(list, int64(len(list)), 0, 0)
		least := 10 * time.Second
		c := NewCurve(f, least)
		for _, g := range c.Gaps {
			before, after := false, false
			for _, m := range f.Stretches {
				if m.Sent > 0 && m.At >= g.From && m.At < g.Until {
					t.Fatalf("%d left within the gap %+v", m.Sent, g)
				}
				before = before || m.Sent > 0 && m.At < g.From
				after = after || m.Sent > 0 && m.At >= g.Until
			}
			if !before || !after || g.Long() < least {
				t.Fatalf("%+v is no gap", g)
			}
		}
	})
}

// TestASpreadIsInOrder: its five marks stand from left to right inside the axis.
func TestASpreadIsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := Histogram{Bins: make([]int64, len(lows))}
		for range rapid.IntRange(1, 200).Draw(t, "reports") {
			h.Bins[rapid.IntRange(0, len(lows)-1).Draw(t, "step")]++
			h.N++
		}
		s, last := NewSpread(h), 0.0
		for _, mark := range []string{s.Low, s.Near, s.Half, s.Far, s.High} {
			at, err := strconv.ParseFloat(mark, 64)
			if err != nil || at < last || at > 100 {
				t.Fatalf("%+v", s)
			}
			last = at
		}
	})
}
