package sms

import (
	"math"
	"testing"
)

// TestSketchesTellHowAlikeSetsAre holds the estimate against the truth.
func TestSketchesTellHowAlikeSetsAre(t *testing.T) {
	set := func(from, to int64) *Sketch {
		s := &Sketch{}
		for n := from; n < to; n++ {
			s.Add(2348030000000 + n*7)
		}
		return s
	}
	for name, c := range map[string]struct {
		a, b *Sketch
		want float64
		off  float64
	}{
		"equal and small": {set(0, 100), set(0, 100), 1, 0}, "one of a small set": {set(0, 100), set(50, 150), 0.5, 0},
		"apart":           {set(0, 5000), set(5000, 9000), 0, 0},
		"equal and large": {set(0, 100_000), set(0, 100_000), 1, 0}, "most of it": {set(0, 100_000), set(5000, 105_000), 0.95, 0.06},
		"half":                 {set(0, 50_000), set(25_000, 75_000), 0.5, 0.12},
		"part of a larger one": {set(0, 50_000), set(0, 100_000), 0.5, 0.12}, "empty": {set(0, 0), set(0, 10), 0, 0},
	} {
		if got := c.a.Alike(c.b); math.Abs(got-c.want) > c.off || math.Abs(got-c.b.Alike(c.a)) > 1e-12 {
			t.Errorf("%s: %.3f, want %.3f", name, got, c.want)
		}
		again, err := ReadSketch(c.a.Bytes())
		if err != nil || again.Size() != c.a.Size() || again.Alike(c.b) != c.a.Alike(c.b) {
			t.Errorf("%s: changed on the way through storage: %v", name, err)
		}
	}
	for _, b := range [][]byte{nil, {1}, make([]byte, 9)} {
		if _, err := ReadSketch(b); err == nil {
			t.Errorf("%v was read", b)
		}
	}
}
