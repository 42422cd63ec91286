package picture

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestRoundedTimes(t *testing.T) {
	for seconds, want := range map[float64]time.Duration{0.2: time.Second, 5.1: 6 * time.Second, 19.5: 20 * time.Second,
		36: 40 * time.Second, 119: 2 * time.Minute, 121: 3 * time.Minute} {
		if got := Rounded(seconds); got != want {
			t.Errorf("%v s is told as %v, want %v", seconds, got, want)
		}
	}
}

// TestAHistogramKeepsItsNumber: each time is in one step, and the share of all is
// never reached before that of a part.
func TestAHistogramKeepsItsNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfN(rapid.Int64Range(-1000, 600_000), 1, 60).Draw(t, "times")
		var list []Wait
		for _, ms := range times {
			list = append(list, Wait{Network: "MTN", Key: "delivered", Low: Low(ms), N: 1},
				Wait{Network: "MTN", Key: "failed", Low: Low(ms), N: 5})
		}
		h := NewHistogram(list, "delivered")
		if h.N != int64(len(times)) {
			t.Fatalf("%d of %d times", h.N, len(times))
		}
		sum := int64(0)
		for _, b := range h.Columns(64) {
			sum += b.N
		}
		half, _ := h.Within(0.5)
		most, _ := h.Within(0.95)
		if sum != h.N || half > most || h.Mark(0.5).In > h.Mark(0.95).In {
			t.Fatalf("%d of %d drawn, half within %v, 95%% within %v", sum, h.N, half, most)
		}
	})
}
