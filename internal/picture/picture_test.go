package picture

import (
	"slices"
	"strconv"
	"strings"
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

// TestAFlowEndsWithItsCounts: whatever happened whenever, the areas end where the
// counts say, and what is added up for a table is all of it.
func TestAFlowEndsWithItsCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.Int64Range(0, 100_000_000_000).Draw(t, "start")
		span := rapid.SampledFrom([]int64{1_000, 90_000, 4_000_000, 300_000_000, 3_000_000_000}).Draw(t, "span")
		var list []Moment
		total := Moment{}
		for range rapid.IntRange(0, 40).Draw(t, "messages") {
			left := start + rapid.Int64Range(0, span).Draw(t, "left")
			list = append(list, Moment{At: Slot(left, start), Sent: 1})
			total.Sent++
			m := Moment{At: Slot(left+rapid.Int64Range(-2_000, span).Draw(t, "known"), start)}
			for _, field := range []*int64{&m.Delivered, &m.Failed, &m.Unsure} {
				if *field == 0 && m == (Moment{At: m.At}) && rapid.Bool().Draw(t, "so") {
					*field = 1
				}
			}
			list = append(list, m)
			total = total.Add(m)
		}
		total.At = 0
		all := total.Sent + rapid.Int64Range(0, 30).Draw(t, "waiting")
		f := NewFlow(list, all, start, start+rapid.Int64Range(0, span).Draw(t, "now"))
		got := f.Total()
		got.At = 0
		if got != total {
			t.Fatalf("%+v drawn, %+v counted", got, total)
		}
		if n := len(f.Stretches); n > Most+1 {
			t.Fatalf("%d stretches", n)
		}
		under := int64(0)
		for _, b := range f.Bands {
			under += b.N
			want := " " + strconv.Itoa(height(under, all))
			if !strings.HasSuffix(b.Edge, want) {
				t.Fatalf("%s ends with %q, want%s", b.Kind, b.Edge, want)
			}
		}
		if under != total.Delivered+total.Failed+total.Unsure+total.Open() {
			t.Fatalf("the areas hold %d", under)
		}
		sum := Moment{}
		few := f.Fewer(20)
		for _, m := range few {
			sum = sum.Add(m)
		}
		if sum != total || len(few) > 20 {
			t.Fatalf("%d rows with %+v of %+v", len(few), sum, total)
		}
	})
}

// TestARingIsNeverLongerThanItself: every part that is there is drawn, in its order.
func TestARingIsNeverLongerThanItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := func(name string) int64 { return rapid.Int64Range(0, 50_000).Draw(t, name) }
		m := Moment{Delivered: n("delivered"), Failed: n("failed"), Unsure: n("unsure")}
		m.Sent = m.Delivered + m.Failed + m.Unsure + n("open")
		end, drawn := 0.0, int64(0)
		for _, a := range Ring(m, m.Sent+n("waiting")) {
			start, err := strconv.ParseFloat(a.Start, 64)
			long, bad := strconv.ParseFloat(a.Long, 64)
			if err != nil || bad != nil || -start < end-0.2 || long <= 0 {
				t.Fatalf("%+v begins before %v", a, end)
			}
			end, drawn = -start+long, drawn+a.N
		}
		if end > around || drawn != m.Sent {
			t.Fatalf("it ends at %v with %d of %d", end, drawn, m.Sent)
		}
	})
}

func TestPlacesStandApart(t *testing.T) {
	if got := Apart([]float64{10, 12, 14, 150}, 20, 152); !slices.Equal(got, []float64{10, 30, 50, 150}) {
		t.Errorf("%v", got)
	}
	if got := Apart([]float64{140, 150, 151}, 20, 152); !slices.Equal(got, []float64{112, 132, 152}) {
		t.Errorf("%v", got)
	}
}

// TestWhatAWrongClockNotedStandsAtTheStart: a report that was noted as of 1970 does
// not make a campaign of seven seconds fifty years long.
func TestWhatAWrongClockNotedStandsAtTheStart(t *testing.T) {
	const start = 1_700_000_000_000
	list := []Moment{{At: 0, Delivered: 2}, {At: start, Sent: 3}, {At: start + 7000, Delivered: 1}}
	f := NewFlow(list, 3, start, start+8000)
	if total := f.Total(); total.Delivered != 3 || f.Until-f.From > 2*60_000 || f.From > start {
		t.Errorf("%+v from %d to %d", total, f.From, f.Until)
	}
	if list[0].At != 0 {
		t.Error("what was given has changed")
	}
}
