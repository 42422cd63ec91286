package picture

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// lows are the lower edges of the steps in which times to a report are counted, in
// seconds. They are stored: a change needs a migration.
var lows = [...]int64{0, 1, 2, 3, 5, 8, 12, 20, 30, 45, 60, 120, 300}

// Lows lists the lower edges of the steps in seconds; the last step has no end.
func Lows() []int64 { return slices.Clone(lows[:]) }

// Low is the lower edge of the step that a time in milliseconds falls into.
func Low(ms int64) int64 {
	for _, low := range slices.Backward(lows[:]) {
		if ms >= low*1000 {
			return low
		}
	}
	return 0
}

// Wait is how many messages of a network had their final report within one step.
type Wait struct {
	Network string
	Key     string // sms.ReportDelivered or sms.ReportFailed
	Low     int64  // the step's lower edge in seconds
	N       int64
}

// Histogram is how long messages took, by the steps of Lows.
type Histogram struct {
	Bins []int64
	N    int64
}

// FewReports is how many it takes before anything is said of their times.
const FewReports = 20

// NewHistogram adds up the waits of one kind.
func NewHistogram(list []Wait, key string) Histogram {
	h := Histogram{Bins: make([]int64, len(lows))}
	for _, w := range list {
		if i := slices.Index(lows[:], w.Low); i >= 0 && w.Key == key {
			h.Bins[i] += w.N
			h.N += w.N
		}
	}
	return h
}

// Within is the time in seconds within which a share (0 to 1) of the messages had
// their report, by proportion inside the step; ok is false where it lies in the last
// step, which has no end: the time is then that step's lower edge.
func (h Histogram) Within(share float64) (seconds float64, ok bool) {
	at, ok := h.place(share)
	i := int(at)
	if !ok || i >= len(lows)-1 {
		return float64(lows[len(lows)-1]), false
	}
	return float64(lows[i]) + (at-float64(i))*float64(lows[i+1]-lows[i]), true
}

// place is where a share is reached, in steps from the first one's lower edge.
func (h Histogram) place(share float64) (steps float64, ok bool) {
	need, sum := share*float64(h.N), 0.0
	for i, n := range h.Bins {
		if n > 0 && sum+float64(n) >= need {
			return float64(i) + (need-sum)/float64(n), true
		}
		sum += float64(n)
	}
	return 0, false
}

// Rounded is a time as it is told: up to the next second below 20 seconds, to 5
// seconds below 2 minutes, to a minute above.
func Rounded(seconds float64) time.Duration {
	unit := 1.0
	switch {
	case seconds >= 120:
		unit = 60
	case seconds >= 20:
		unit = 5
	}
	return time.Duration(max(math.Ceil(seconds/unit), 1)*unit) * time.Second
}

// Bin is one column of a histogram: its left edge and width in percent of the
// picture's width, its top and height in pixels.
type Bin struct {
	N              int64
	X, Y, W, H     string
	Late           bool // it lies above the 95th percentile
	From           int64
	To             int64 // 0: no end
	Label, LabelAt string
}

// Mark is a line at a share of the messages.
type Mark struct {
	X  string // percent
	In float64
}

// Columns places the steps at equal widths, the highest as high as the picture is.
func (h Histogram) Columns(height float64) (list []Bin) {
	most, late := slices.Max(h.Bins), math.Inf(1)
	if at, ok := h.place(0.95); ok {
		late = at
	}
	pitch := 100 / float64(len(lows))
	for i, n := range h.Bins {
		b := Bin{N: n, From: lows[i], Late: float64(i) >= late, X: Unit(float64(i)*pitch + pitch*0.06), W: Unit(pitch * 0.88),
			LabelAt: Unit(float64(i) * pitch)}
		if i+1 < len(lows) {
			b.To = lows[i+1]
		}
		tall := 0.0
		if n > 0 {
			tall = max(height*float64(n)/float64(most), 2)
		}
		b.Y, b.H = Unit(height-tall), Unit(tall)
		list = append(list, b)
	}
	return list
}

// Mark is where a share of the messages is reached.
func (h Histogram) Mark(share float64) Mark {
	at, _ := h.place(share)
	return Mark{X: Unit(at * 100 / float64(len(lows))), In: at / float64(len(lows))}
}

// Unit writes a length with one digit behind the point at most.
func Unit(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }
