package views

import (
	"strings"
	"time"

	"smsdesk/internal/picture"
)

// DayColumnsProps are figures by day, drawn as columns that lead to their day, with
// the figures in a table.
type DayColumnsProps struct {
	ID, Name, Says string
	Noun           [2]string // of all figures of a day together: "message", "messages"
	Series         []ChartSeries
	Days           []ColumnDay        // oldest first
	Today          bool               // the last day is today
	Plain          bool               // the figures stand in a table elsewhere
	Show           func(int64) string // a figure in words
}

// ColumnDay is one day, with a figure for each series.
type ColumnDay struct {
	Day    time.Time
	Href   string
	Values []int64
}

const (
	columnsHigh = 174
	// fewDays are so few that each column has its figure above it.
	fewDays = 16
)

func (p DayColumnsProps) columns() picture.Columns {
	places := make([][]int64, len(p.Days))
	for i, d := range p.Days {
		places[i] = d.Values
	}
	return picture.NewColumns(places, columnsHigh)
}

// says is one day in words.
func (p DayColumnsProps) says(i int, all int64) string {
	words := p.Days[i].Day.Format("Monday 2 January") + ": " + p.Show(all)
	if p.Noun[0] != "" {
		words = p.Days[i].Day.Format("Monday 2 January") + ": " + Plural(int(all), p.Noun[0], p.Noun[1])
	}
	if len(p.Series) > 1 {
		var parts []string
		for s, n := range p.Days[i].Values {
			if n > 0 {
				parts = append(parts, p.Show(n)+" "+strings.ToLower(p.Series[s].Words))
			}
		}
		words += ", " + strings.Join(parts, ", ")
	}
	return words
}

// back is how many days before the last one a column stands.
func (p DayColumnsProps) back(i int) int { return len(p.Days) - 1 - i }

// figure says whether a column's figure stands above it, and its class.
func (p DayColumnsProps) figure(c picture.Columns, i int) (class string, shown bool) {
	high := 0
	for k, col := range c.List {
		if col.N > c.List[high].N {
			high = k
		}
	}
	few := len(p.Days) <= fewDays
	switch {
	case c.List[i].N == 0:
		return "", false
	case i == high:
		return p.strong(i), true
	case p.back(i) == 0 && p.back(high) > 4:
		return p.strong(i), true
	case p.back(i) == 0 && (few || p.back(high) > 2):
		return "alt " + p.strong(i), true
	}
	return "alt", few
}

// strong is the class of what is said about today.
func (p DayColumnsProps) strong(i int) string {
	if p.Today && p.back(i) == 0 {
		return "strong"
	}
	return ""
}

// label says whether a day has its name below, and the class.
func (p DayColumnsProps) label(i int) (class string, shown bool) {
	step := 1
	if len(p.Days) > fewDays {
		step = 3
	}
	if p.back(i)%step != 0 {
		return "", false
	}
	if p.back(i)%(2*step) != 0 {
		return "alt", true
	}
	return p.strong(i), true
}

func (p DayColumnsProps) total(series int) (n int64) {
	for _, d := range p.Days {
		n += d.Values[series]
	}
	return n
}

// count shows figures as numbers.
func count(n int64) string { return Number(int(n)) }
