package sheet

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"
)

// WriteTableCSV writes rows, the names of the columns first, as UTF-8 with a
// byte order mark, which Excel needs. No cell is taken for a formula by a
// spreadsheet program. A row is done with before the next is asked for. An
// error of rows ends it.
func WriteTableCSV(w io.Writer, rows iter.Seq2[[]string, error]) error {
	b := bufio.NewWriterSize(w, 64<<10)
	b.WriteString(UTF8.mark())
	for cells, err := range rows {
		if err != nil {
			return fmt.Errorf("list the rows: %w", err)
		}
		writeRecord(b, cells)
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write the rows: %w", err)
	}
	return nil
}

// WriteTableXLSX is WriteTableCSV as a workbook in which every cell is text.
func WriteTableXLSX(w io.Writer, rows iter.Seq2[[]string, error]) error {
	return writeBook(w, func(put func([]string) error) error {
		for cells, err := range rows {
			if err != nil {
				return err
			}
			if err := put(cells); err != nil {
				return err
			}
		}
		return nil
	})
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
		if strings.IndexByte(c, 0) >= 0 {
			c = strings.ReplaceAll(c, "\x00", "\ufffd")
		}
		for {
			quote := strings.IndexByte(c, '"')
			if quote < 0 {
				break
			}
			b.WriteString(c[:quote+1])
			b.WriteByte('"')
			c = c[quote+1:]
		}
		b.WriteString(c)
		b.WriteByte('"')
	}
	b.WriteString("\r\n")
}

// opensFormula tells whether spreadsheet programs may run a cell that begins
// like this. White space in front does not keep them from it.
func opensFormula(cell string) bool {
	if cell == "" || cell[0] > ' ' && cell[0] < utf8.RuneSelf {
		return cell != "" && strings.IndexByte("=+-@", cell[0]) >= 0
	}
	for _, r := range strings.TrimLeft(cell, " \u00a0") {
		return strings.ContainsRune("=+-@\t\r\n＝＋－＠", r)
	}
	return false
}
