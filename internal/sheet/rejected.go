package sheet

import (
	"archive/zip"
	"bufio"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/xuri/excelize/v2"
)

// fixColumn is the name of the column that says why a row was rejected.
const fixColumn = "What to fix"

// Layout is the form of the list that rejected rows came from.
type Layout struct {
	Header  []string // nil writes no row of names
	Columns int      // of the widest row: Tally.Columns
	// TempDir is where the growing workbook goes; "" is the system's.
	TempDir string
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
	b := bufio.NewWriterSize(w, 64<<10)
	b.WriteString(UTF8.mark())
	if l.Header != nil {
		writeRecord(b, l.line(l.Header, fixColumn))
	}
	for r, err := range rows {
		if err != nil {
			return fmt.Errorf("list the rejected rows: %w", err)
		}
		writeRecord(b, l.line(r.Row.Cells, r.Fix))
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write the rejected rows: %w", err)
	}
	return nil
}

// writeRecord writes one record. The buffer keeps the first error.
func writeRecord(b *bufio.Writer, cells []string) {
	for i, c := range cells {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('"')
		if opensFormula(c) {
			b.WriteByte('\'')
		}
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(c, "\x00", "\ufffd"), `"`, `""`))
		b.WriteByte('"')
	}
	b.WriteString("\r\n")
}

// opensFormula tells whether spreadsheet programs may run a cell that begins
// like this. White space in front does not keep them from it.
func opensFormula(cell string) bool {
	for _, r := range strings.TrimLeft(cell, " \u00a0") {
		return strings.ContainsRune("=+-@\t\r\n＝＋－＠", r)
	}
	return false
}

// WriteXLSX is WriteCSV as a workbook in which every cell is text, so that a
// number keeps its zeros when it is corrected.
func WriteXLSX(w io.Writer, l Layout, rows iter.Seq2[Rejected, error]) error {
	return writeBook(w, l.TempDir, func(put func([]string) error) error {
		if l.Header != nil {
			if err := put(l.line(l.Header, fixColumn)); err != nil {
				return err
			}
		}
		for r, err := range rows {
			if err != nil {
				return err
			}
			if err := put(l.line(r.Row.Cells, r.Fix)); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeBook writes a workbook of one sheet, whose cells are all text, row by
// row as fill puts them.
func writeBook(w io.Writer, tempDir string, fill func(put func([]string) error) error) (err error) {
	f := excelize.NewFile(excelize.Options{TmpDir: tempDir})
	defer f.Close()
	// The library would gather the whole file in memory before it writes.
	f.ZipWriter = func(io.Writer) excelize.ZipWriter { return zip.NewWriter(w) }
	format := "@"
	style, err := f.NewStyle(&excelize.Style{CustomNumFmt: &format})
	if err != nil {
		return fmt.Errorf("make a workbook: %w", err)
	}
	sheet, err := f.NewStreamWriter("Sheet1")
	if err != nil {
		return fmt.Errorf("make a workbook: %w", err)
	}
	if err := sheet.SetColStyle(1, excelize.MaxColumns, style); err != nil {
		return fmt.Errorf("set the columns to text: %w", err)
	}
	row := 0
	put := func(cells []string) error {
		row++
		values := make([]any, len(cells))
		for i, c := range cells {
			if c != "" {
				values[i] = excelize.Cell{StyleID: style, Value: c}
			}
		}
		return sheet.SetRow(fmt.Sprintf("A%d", row), values)
	}
	if err := fill(put); err != nil {
		return fmt.Errorf("fill a workbook: %w", err)
	}
	if err := sheet.Flush(); err != nil {
		return fmt.Errorf("finish a workbook: %w", err)
	}
	if err := f.Write(w); err != nil {
		return fmt.Errorf("write a workbook: %w", err)
	}
	return nil
}
