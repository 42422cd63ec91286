package lists

import (
	"io"

	"smsdesk/internal/sheet"
)

// ExampleRows are the rows of a list with the columns that a text with these
// marks needs, the names of the columns first.
func ExampleRows(marks []string) [][]string { return sheet.ExampleRows(marks) }

// WriteExample writes such a list as CSV, or as XLSX.
func WriteExample(w io.Writer, marks []string, xlsx bool) error {
	if xlsx {
		return sheet.Example(w, marks)
	}
	return sheet.ExampleCSV(w, marks)
}
