package picture

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Flow is what became of a campaign's messages over time: areas over each other
// that only grow.
type Flow struct {
	Step        time.Duration
	From, Until int64
	All         int64
	Stretches   []Moment // what happened in each
	Bands       []Band   // those of which there is anything, from below
}

// Band is one area of a flow. Area and Edge are paths in a box as wide as there are
// stretches and 1,000 high.
type Band struct {
	Kind       string
	N          int64 // in the end
	Area, Edge string
	Middle     float64 // of its right end, from 0 at the top to 1
}

// NewFlow draws moments, oldest first, of a campaign with so many messages, from its
// start to now; in a campaign that has ended, or rests, to the last moment. What a
// clock that was wrong noted before the start stands at it.
func NewFlow(list []Moment, all, start, now int64) Flow {
	list = slices.Clone(list)
	for i, m := range list {
		if m.At < start-Coarse.Milliseconds() {
			list[i].At = start - start%Coarse.Milliseconds()
		}
	}
	f := Flow{All: all, From: start, Until: max(now, start+Fine.Milliseconds())}
	for _, m := range list {
		if m != (Moment{At: m.At}) {
			f.From, f.Until = min(f.From, m.At), max(f.Until, m.At+Fine.Milliseconds())
		}
	}
	f.Step = Step(f.From, f.Until, folded(list))
	width := f.Step.Milliseconds()
	f.From -= f.From % width
	f.Stretches = make([]Moment, (f.Until-f.From+width-1)/width)
	for i := range f.Stretches {
		f.Stretches[i].At = f.From + int64(i)*width
	}
	for _, m := range list {
		if m != (Moment{At: m.At}) {
			i := (m.At - f.From) / width
			f.Stretches[i] = f.Stretches[i].Add(m)
		}
	}
	f.Bands = bands(f.Stretches, all)
	return f
}

// Last is the time of the last moment of a list, 0 for none.
func Last(list []Moment) (at int64) {
	for _, m := range list {
		if m != (Moment{At: m.At}) {
			at = max(at, m.At)
		}
	}
	return at
}

// Total is what has become of all messages that left.
func (f Flow) Total() (sum Moment) {
	for _, m := range f.Stretches {
		sum = sum.Add(m)
	}
	return sum
}

// Top is where the line stands that all messages would reach, from 0 to 1.
const Top = 1 - 1/1.06

// bands lays what is known of the messages over each other, what is delivered below.
func bands(list []Moment, all int64) (out []Band) {
	sums := make([]Moment, len(list)+1) // at the end of each stretch, 0 at the beginning
	for i, m := range list {
		sums[i+1] = sums[i].Add(m)
	}
	end, under := sums[len(list)], int64(0)
	for _, b := range []struct {
		kind string
		n    int64
		top  func(Moment) int64
	}{
		{Delivered, end.Delivered, func(m Moment) int64 { return m.Delivered }},
		{Failed, end.Failed, func(m Moment) int64 { return m.Delivered + m.Failed }},
		{Unsure, end.Unsure, func(m Moment) int64 { return m.Delivered + m.Failed + m.Unsure }},
		{Open, end.Open(), func(m Moment) int64 { return max(m.Sent, m.Delivered+m.Failed+m.Unsure) }},
	} {
		if b.n == 0 && (b.kind != Open || end.Sent == 0) {
			continue
		}
		var line strings.Builder
		for i, m := range sums {
			line.WriteString(" " + strconv.Itoa(i) + " " + strconv.Itoa(height(b.top(m), all)))
		}
		edge := "M" + strings.TrimPrefix(line.String(), " ")
		out = append(out, Band{Kind: b.kind, N: b.n, Edge: edge,
			Area:   edge + "V1000H0z",
			Middle: (share(under, all) + share(under+b.n, all)) / 2})
		under += b.n
	}
	return out
}

func share(n, all int64) float64 { return 1 - float64(n)/(1.06*float64(max(all, n, 1))) }

func height(n, all int64) int { return int(math.Round(1000 * share(n, all))) }

// Apart moves places (from above) so that they stand so far from each other and
// inside 0 to the height.
func Apart(places []float64, between, height float64) []float64 {
	out := slices.Clone(places)
	for i := range out {
		if i > 0 {
			out[i] = max(out[i], out[i-1]+between)
		}
	}
	for i := len(out) - 1; i >= 0; i-- {
		limit := height
		if i < len(out)-1 {
			limit = out[i+1] - between
		}
		out[i] = min(out[i], limit)
	}
	return out
}

// Fewer adds neighbouring stretches up until there are at most so many, for tables.
func (f Flow) Fewer(most int) (list []Moment) {
	each := (len(f.Stretches) + most - 1) / most
	for i, m := range f.Stretches {
		if i%max(each, 1) == 0 {
			list = append(list, Moment{At: m.At})
		}
		last := len(list) - 1
		list[last] = list[last].Add(m)
	}
	return list
}
