package sheet

import (
	"bufio"
	"fmt"
	"io"
)

// RecordWriter writes a table as CSV for people's spreadsheet programs: UTF-8
// with a byte order mark, every cell in quotes, none taken for a formula.
type RecordWriter struct{ b *bufio.Writer }

// NewRecordWriter begins the file on w.
func NewRecordWriter(w io.Writer) *RecordWriter {
	b := bufio.NewWriterSize(w, 64<<10)
	b.WriteString(UTF8.mark())
	return &RecordWriter{b}
}

// Write adds one record.
func (w *RecordWriter) Write(cells ...string) { writeRecord(w.b, cells) }

// Flush hands on what is buffered and returns the first error there was.
func (w *RecordWriter) Flush() error {
	if err := w.b.Flush(); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}
