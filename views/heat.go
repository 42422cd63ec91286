package views

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"smsdesk/internal/picture"
)

// heatHours is how many hours are shown, the present one included.
const heatHours = 24

// heat is how each network delivered, hour by hour of the account's day.
type heat struct {
	Hours []time.Time // their beginnings, oldest first
	Rows  []heatRow   // the busiest network first
}

type heatRow struct {
	Network string
	Cells   []picture.Cell
	All     picture.Cell
}

// heat adds the sender IDs of each network up.
func (p OverviewPage) heat() heat {
	var h heat
	first := p.Now.Truncate(time.Minute).Add(-time.Duration(p.Now.Minute())*time.Minute - (heatHours-1)*time.Hour)
	for i := range heatHours {
		h.Hours = append(h.Hours, first.Add(time.Duration(i)*time.Hour))
	}
	for _, l := range p.Lanes {
		i := slices.IndexFunc(h.Rows, func(r heatRow) bool { return r.Network == l.Network })
		if i < 0 {
			h.Rows = append(h.Rows, heatRow{Network: l.Network, Cells: make([]picture.Cell, heatHours)})
			i = len(h.Rows) - 1
		}
		for _, s := range l.Points {
			at := (s.At - first.UnixMilli()) / time.Hour.Milliseconds()
			if s.At < first.UnixMilli() || at >= heatHours {
				continue
			}
			cell := picture.Cell{Sent: s.Sent, Delivered: s.Delivered, Failed: s.Failed}
			h.Rows[i].Cells[at] = h.Rows[i].Cells[at].Add(cell)
			h.Rows[i].All = h.Rows[i].All.Add(cell)
		}
	}
	h.Rows = slices.DeleteFunc(h.Rows, func(r heatRow) bool { return r.All.Sent == 0 })
	slices.SortStableFunc(h.Rows, func(a, b heatRow) int { return int(b.All.Sent - a.All.Sent) })
	return h
}

// heatHour is an hour above its column: where the day or its half begins, with
// am or pm.
func heatHour(i int, t time.Time) string {
	if i == 0 || t.Hour()%6 == 0 {
		return t.Format("3pm")
	}
	return t.Format("3")
}

// class is the tone of a cell.
func heatClass(c picture.Cell) string { return "h" + strconv.Itoa(c.Grade()) }

// figure is what stands in a cell.
func heatFigure(c picture.Cell) string {
	switch {
	case c.Sent == 0:
		return ""
	case c.Share() < 0:
		return "…"
	}
	return strconv.FormatInt(c.Share(), 10)
}

// heatWords is a cell in words: for those who do not see it, and for the mouse.
func heatWords(c picture.Cell) string {
	if c.Sent == 0 {
		return "nothing sent"
	}
	words := []string{Number(int(c.Delivered)) + " delivered", Number(int(c.Failed)) + " not delivered"}
	if open := c.Sent - c.Final(); open > 0 {
		words = append(words, Number(int(open))+" without a final report")
	}
	text := strings.Join(words, ", ")
	if c.Grade() == 0 {
		text += " (too few to tell)"
	}
	return text
}

// heatSteps are the key to the tones.
func heatSteps() [][2]string {
	return [][2]string{{"h5", "98 and more"}, {"h4", "96"}, {"h3", "92"}, {"h2", "80"}, {"h1", "less"},
		{"h0", "too few, or nothing sent"}}
}

// trend says how a network goes: the worst of its sender IDs.
func (p OverviewPage) trend(network string) (words string, failing bool) {
	since := int64(0)
	for _, l := range p.Lanes {
		if f, ok := l.Failing(); ok && l.Network == network && (since == 0 || f.Since < since) {
			since = f.Since
		}
	}
	if since == 0 {
		return "", false
	}
	return "failing since " + p.ShortTime(since), true
}

// heatSays is what the map shows at a glance.
func (p OverviewPage) heatHourWords(t time.Time) string { return "From " + p.When(t.UnixMilli()) }

// heatHours with anything sent, the latest first.
type heatHourRow struct {
	at    time.Time
	cells []picture.Cell
}

func (h heat) busyHours() (list []heatHourRow) {
	for i, at := range slices.Backward(h.Hours) {
		row, sent := heatHourRow{at: at}, int64(0)
		for _, r := range h.Rows {
			row.cells = append(row.cells, r.Cells[i])
			sent += r.Cells[i].Sent
		}
		if sent > 0 {
			list = append(list, row)
		}
	}
	return list
}

// heatTable is a cell in the table of figures.
func heatTable(c picture.Cell) string {
	if c.Sent == 0 {
		return "–"
	}
	return Percent(c.Delivered, c.Final()) + " of " + Number(int(c.Sent))
}
