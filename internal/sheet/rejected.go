package sheet

import (
	"io"
	"iter"
)

// fixColumn is the name of the column that says why a row was rejected.
const fixColumn = "What to fix"

// Layout is the form of the list that rejected rows came from.
type Layout struct {
	Header  []string // nil writes no row of names
	Columns int      // of the widest row: Tally.Columns
}

// Rejected is a row with what to do about it.
type Rejected struct {
	Row Row
	Fix string
}

// line is one row of the download: the row's cells in their places, the
// reason, and behind it the cells of a row wider than the list. A list that was
// rejected before has the column already, and it is filled anew.
func (l Layout) line(cells []string, fix string) []string {
	width := max(len(l.Header), l.Columns)
	behind := width
	if n := len(l.Header); n > 0 && n == width && l.Header[n-1] == fixColumn {
		width--
	}
	out := make([]string, width, max(width, len(cells))+1)
	copy(out, cells)
	out = append(out, fix)
	return append(out, cells[min(behind, len(cells)):]...)
}

// WriteCSV writes rejected rows to w in their layout with a column "What to
// fix", as UTF-8 with a byte order mark, which Excel needs. No cell is taken
// for a formula by a spreadsheet program. An error of rows ends it.
func WriteCSV(w io.Writer, l Layout, rows iter.Seq2[Rejected, error]) error {
	return WriteTableCSV(w, l.table(rows))
}

// WriteXLSX is WriteCSV as a workbook in which every cell is text, so that a
// number keeps its zeros when it is corrected.
func WriteXLSX(w io.Writer, l Layout, rows iter.Seq2[Rejected, error]) error {
	return WriteTableXLSX(w, l.table(rows))
}

// table is the rows as they are written, the names first.
func (l Layout) table(rows iter.Seq2[Rejected, error]) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		if l.Header != nil && !yield(l.line(l.Header, fixColumn), nil) {
			return
		}
		for r, err := range rows {
			if !yield(l.line(r.Row.Cells, r.Fix), err) || err != nil {
				return
			}
		}
	}
}
