package picture

import (
	"math"
	"strconv"
)

// Columns are figures over even places, such as days: each place has one column
// of parts that stand on each other.
type Columns struct {
	Top   int64 // of the scale
	Rules []Rule
	List  []Column
}

// Rule is a line across the columns, at N.
type Rule struct {
	N int64
	Y string
}

// Column is one place. X, Wide and Middle are percent of the width, as are the
// edges of its place, At and Pitch; Y is its upper edge in pixels.
type Column struct {
	N                          int64
	X, Wide, Middle, At, Pitch string
	Y                          string
	Parts                      []Part
}

// Part is one part of a column, of the figure with this number, in pixels.
type Part struct {
	Series int
	N      int64
	Y, H   string
}

const (
	columnShare = 0.62 // of its place that a column takes
	partLeast   = 2.0  // a part that is there can be seen
	partGap     = 1.5
	headroom    = 1.1 // above the scale's top
)

// NewColumns draws figures, for each place one of every series, in a box so many
// pixels high. Figures below 0 are nothing.
func NewColumns(places [][]int64, high float64) Columns {
	var c Columns
	most := int64(1)
	for _, figures := range places {
		most = max(most, sum(figures))
	}
	c.Top = RoundTop(most)
	y := func(n int64) float64 { return high * (1 - float64(n)/(headroom*float64(c.Top))) }
	for _, n := range []int64{c.Top / 2, c.Top} {
		if n > 0 {
			c.Rules = append(c.Rules, Rule{n, Unit(y(n))})
		}
	}
	pitch := 100 / math.Max(float64(len(places)), 1)
	for i, figures := range places {
		col := Column{N: sum(figures), At: place(float64(i) * pitch), Pitch: place(pitch), Wide: place(columnShare * pitch),
			X: place((float64(i) + (1-columnShare)/2) * pitch), Middle: place((float64(i) + 0.5) * pitch)}
		top := high
		for s, n := range figures {
			if n <= 0 {
				continue
			}
			tall := math.Max(high-y(n)-partGap, partLeast)
			col.Parts = append(col.Parts, Part{Series: s, N: n, Y: Unit(math.Max(top-tall, 0)), H: Unit(tall)})
			top -= tall + partGap
		}
		col.Y = Unit(math.Max(top, 0))
		c.List = append(c.List, col)
	}
	return c
}

func sum(figures []int64) (all int64) {
	for _, n := range figures {
		all += max(n, 0)
	}
	return all
}

// place is a share of the width, fine enough for many places.
func place(percent float64) string { return strconv.FormatFloat(percent, 'f', 2, 64) }

// RoundTop is the least of 1, 2, 2.5 and 5 times a power of ten that is not below
// n; 2.5 is none.
func RoundTop(n int64) int64 {
	for step := int64(1); step < math.MaxInt64/100; step *= 10 {
		for _, half := range []int64{2, 4, 5, 10} {
			if at := half * step / 2; half*step%2 == 0 && at >= n {
				return at
			}
		}
	}
	return n
}
