package views

import "fmt"

// ChartProps describes figures over time, drawn here as stacked columns in SVG.
// Says is what the picture says, in words; the figures themselves stand in a
// table that can be opened.
type ChartProps struct {
	ID     string
	Name   string // "Reports per minute"
	Says   string
	Head   string // what the points are: "Minute"
	Series []ChartSeries
	Points []ChartPoint
}

// ChartSeries is one thing that is counted.
type ChartSeries struct {
	Words string
	Tone  Tone
}

// ChartPoint is one place on the time axis, with a value for each series.
// Short stands on the axis, Label in the table.
type ChartPoint struct {
	Label, Short string
	Values       []int
}

// The drawing's own units. It grows with its place, letters and all, so that
// it is kept narrow enough to be read on a phone.
const (
	chartWidth, chartHeight = 400, 176
	chartLeft, chartRight   = 42, 392
	chartTop, chartBottom   = 12, 148
)

func (p ChartProps) top() int {
	most := 1
	for _, at := range p.Points {
		sum := 0
		for _, v := range at.Values {
			sum += v
		}
		most = max(most, sum)
	}
	for step := 1; ; step *= 10 {
		for _, n := range []int{1, 2, 5} {
			if n*step >= most {
				return n * step
			}
		}
	}
}

func (p ChartProps) total(series int) (n int) {
	for _, at := range p.Points {
		n += at.Values[series]
	}
	return n
}

// x is the left edge of a point's place.
func (p ChartProps) x(i int) float64 {
	return chartLeft + float64(chartRight-chartLeft)*float64(i)/float64(max(len(p.Points), 1))
}

func (p ChartProps) middle(i int) float64 { return (p.x(i) + p.x(i+1)) / 2 }

func (p ChartProps) y(n int) float64 {
	return chartBottom - float64(chartBottom-chartTop)*float64(n)/float64(p.top())
}

type column struct{ class, x, y, width, height string }

// widest is how wide a column is at most: a single one is no wall.
const widest = 36

func (p ChartProps) columns() (list []column) {
	wide := p.x(1) - p.x(0)
	wide = min(wide-min(wide*0.2, 4), widest)
	for i, at := range p.Points {
		sum := 0
		for s, v := range at.Values {
			if v == 0 {
				continue
			}
			list = append(list, column{class: p.Series[s].Tone.class(), x: unit(p.middle(i) - wide/2), width: unit(wide),
				y: unit(p.y(sum + v)), height: unit(max(p.y(sum)-p.y(sum+v), 1))})
			sum += v
		}
	}
	return list
}

func unit(v float64) string { return fmt.Sprintf("%.1f", v) }

// ticks are the points that are named on the axis: the first, the last and,
// where there is room, the one in the middle.
func (p ChartProps) ticks() (at []int) {
	last := len(p.Points) - 1
	switch {
	case last < 0:
		return nil
	case last == 0:
		return []int{0}
	case last < 4:
		return []int{0, last}
	}
	return []int{0, last / 2, last}
}

func (p ChartProps) anchor(i int) string {
	switch {
	case len(p.Points) == 1:
		return "middle"
	case i == 0:
		return "start"
	case i == len(p.Points)-1:
		return "end"
	}
	return "middle"
}

func (p ChartProps) tickX(i int) string {
	switch p.anchor(i) {
	case "start":
		return unit(chartLeft)
	case "end":
		return unit(chartRight)
	}
	return unit(p.middle(i))
}
