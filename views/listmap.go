package views

import (
	"math"
	"strconv"
	"strings"

	"smsdesk/internal/sms"
)

// The map of a file shows where in it there is something to do: its rows from
// the first to the last in some cells, each with its shares.

// coarseCells is the most cells of the map on a phone.
const coarseCells = 8

// coarse is a map with fewer cells.
func coarse(fine []sms.MapCell) []sms.MapCell {
	per := (len(fine) + coarseCells - 1) / coarseCells
	var cells []sms.MapCell
	for from := 0; from < len(fine); from += per {
		some := fine[from:min(from+per, len(fine))]
		all := some[0]
		for _, c := range some[1:] {
			all.Last = c.Last
			all.Ready, all.Fix, all.Repeated, all.Repaired = all.Ready+c.Ready, all.Fix+c.Fix, all.Repeated+c.Repeated,
				all.Repaired+c.Repaired
		}
		cells = append(cells, all)
	}
	return cells
}

// mapShare is a part of a cell: how high it is and where it begins, in pixels.
type mapShare struct {
	Class, Fill string
	Y, Height   string
}

// cellHeight is that of a cell's shares in pixels, fewRows the most rows of a
// cell in which each kind has cellLeast of them, and mapLeast beyond that.
const (
	cellHeight = 40
	fewRows    = 50
	cellLeast  = 9
	mapLeast   = 3
)

// mapShares are what a cell shows above what is ready: true shares, but each kind
// that occurs can be seen.
func mapShares(c sms.MapCell) []mapShare {
	rows, least := max(1, c.Ready+c.Fix), float64(cellLeast)
	if rows > fewRows {
		least = mapLeast
	}
	var list []mapShare
	at := 0.0
	for _, kind := range []struct {
		n           int64
		class, fill string
	}{{c.Fix, "fix", ""}, {c.Repeated, "", "url(#map-repeated)"}, {c.Repaired, "", "url(#map-repaired)"}} {
		if kind.n == 0 {
			continue
		}
		height := min(max(least, math.Round(cellHeight*float64(kind.n)/float64(max(rows, kind.n)))), cellHeight-at)
		list = append(list, mapShare{kind.class, kind.fill, pixels(at), pixels(height)})
		at += height
	}
	return list
}

func pixels(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// mapWords are what a cell says: "Rows 8 to 13: 4 ready, 2 to fix".
func mapWords(c sms.MapCell) string {
	words := "Row " + Number(int(c.First))
	if c.Last > c.First {
		words = "Rows " + Number(int(c.First)) + " to " + Number(int(c.Last))
	}
	var what []string
	for _, of := range []struct {
		n    int64
		word string
	}{{c.Ready, "ready"}, {c.Fix, "to fix"}, {c.Repeated, "repeated"}, {c.Repaired, "repaired"}} {
		if of.n > 0 {
			what = append(what, Number(int(of.n))+" "+of.word)
		}
	}
	if len(what) == 0 {
		what = []string{"left out"}
	}
	return words + ": " + strings.Join(what, ", ")
}

// ends are rows at equal distances along the map.
func (p ListCheckPage) ends() []string {
	cells := p.tally().Map
	if len(cells) < 5 {
		return nil
	}
	first, last := cells[0].First, cells[len(cells)-1].Last
	var list []string
	for i := range int64(5) {
		list = append(list, Number(int(first+(last-first)*i/4)))
	}
	list[0] = "row " + list[0]
	return list
}

// from is the address of the rows of the filter from a cell of the map on.
func (p ListCheckPage) from(c sms.MapCell) string {
	to := With(p.path(), "kind", p.Kind)
	if c.First > 1 {
		to = With(to, "after", strconv.FormatInt(c.First-1, 10))
	}
	return to + "#rows"
}

// inView says that the first row that the page shows is in a cell.
func (p ListCheckPage) inView(c sms.MapCell) bool {
	rows := p.rows()
	return len(rows) > 0 && rows[0].Row >= c.First && rows[0].Row <= c.Last
}

// perCell is how many rows a cell stands for, in words.
func perCell(cells []sms.MapCell) string {
	if len(cells) == 0 {
		return ""
	}
	return Plural(int(cells[0].Last-cells[0].First+1), "row", "rows") + " a column"
}

// shortNumber fits over a cell of the map: 999, 12k, 1M.
func shortNumber(n int64) string {
	switch {
	case n >= 1_000_000:
		return strconv.FormatInt(n/1_000_000, 10) + "M"
	case n >= 1000:
		return strconv.FormatInt(n/1000, 10) + "k"
	}
	return strconv.FormatInt(n, 10)
}
