package api

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"smsdesk/internal/sheet"
	"smsdesk/internal/sms"
)

// The columns into which a program's rows are written. The first one keeps a
// row in which nothing else stands from being taken for a blank line.
const (
	columnRow = iota
	columnPhone
	columnText
	columnFields // and the ones after it: the fields, in the order in which they turn up
)

// fieldsMost is the most different names of fields.
const fieldsMost = 500

// rowWriter writes a program's rows as the list that a person would upload, so
// that both are checked and sent in one way. It is for one goroutine.
type rowWriter struct {
	spool  *tempFile
	out    *bufio.Writer
	first  []string       // the first row: it is written last, as wide as the widest
	fields map[string]int // column by sms.PlaceholderKey
	rows   int
	own    bool // some row has a text of its own
	line   bytes.Buffer
}

func newRowWriter(s *tempFile) *rowWriter {
	return &rowWriter{spool: s, out: bufio.NewWriterSize(s, 64<<10), fields: map[string]int{}}
}

// apiRow is one row as it comes. Fields hold texts, numbers and booleans.
type apiRow struct {
	Phone  *string        `json:"phone"`
	Text   *string        `json:"text"`
	Fields map[string]any `json:"fields"`
}

func (w *rowWriter) add(r apiRow) error {
	if w.rows++; w.rows > sheet.MaxRows {
		return wrongField(422, "rows", "More than "+humanize.Comma(sheet.MaxRows)+" rows. Create several campaigns")
	}
	cells := make([]string, columnFields, columnFields+len(w.fields)+len(r.Fields))
	cells[columnRow] = strconv.Itoa(w.rows)
	if r.Phone != nil {
		cells[columnPhone] = *r.Phone
	}
	if r.Text != nil {
		// A blank text is none, like one that is not there.
		if sentence := changedText(*r.Text); sentence != "" && strings.TrimSpace(*r.Text) != "" {
			return wrongField(422, fmt.Sprintf("rows[%d].text", w.rows-1), sentence)
		}
		cells[columnText] = *r.Text
		w.own = w.own || strings.TrimSpace(*r.Text) != ""
	}
	for _, name := range slices.Sorted(maps.Keys(r.Fields)) {
		value, ok := fieldText(r.Fields[name])
		if !ok {
			return wrongField(422, fmt.Sprintf("rows[%d].fields.%s", w.rows-1, shortened(name)),
				"Must be a string, a number, true or false")
		}
		if sentence := changedText(strings.TrimSpace(value)); sentence != "" {
			return wrongField(422, fmt.Sprintf("rows[%d].fields.%s", w.rows-1, shortened(name)), sentence)
		}
		column, err := w.column(name)
		if err != nil {
			return err
		}
		for len(cells) <= column {
			cells = append(cells, "")
		}
		cells[column] = value
	}
	if w.rows == 1 {
		w.first = cells
		return nil
	}
	_, err := w.out.Write(w.encoded(cells))
	return err
}

// column is where a field stands. Names that sms.PlaceholderKey makes equal are one.
func (w *rowWriter) column(name string) (int, error) {
	key := sms.PlaceholderKey(name)
	column, ok := w.fields[key]
	switch {
	case ok:
		return column, nil
	case key == "":
		return 0, wrongField(422, fmt.Sprintf("rows[%d].fields", w.rows-1), "A field has no name")
	case len(w.fields) == fieldsMost:
		return 0, wrongField(422, "rows", fmt.Sprintf("More than %d different field names", fieldsMost))
	}
	column = columnFields + len(w.fields)
	w.fields[key] = column
	return column, nil
}

func fieldText(v any) (text string, ok bool) {
	switch v := v.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// encoded is one record. One that would be too long for the reader, which could
// then begin another row inside it, is written so that the reader says so.
func (w *rowWriter) encoded(cells []string) []byte {
	w.line.Reset()
	c := csv.NewWriter(&w.line)
	// Writing to memory does not fail.
	_ = c.Write(cells)
	c.Flush()
	if w.line.Len() > sheet.MaxRecord {
		w.line.Reset()
		w.line.WriteString(cells[columnRow] + strings.Repeat(",", len(cells)-1))
		w.line.WriteString(strings.Repeat("x", sheet.MaxRecord+1) + "\n")
	}
	return w.line.Bytes()
}

// finish writes what is left and returns the whole list with its bytes.
func (w *rowWriter) finish() (list io.Reader, size int64, err error) {
	if err := w.out.Flush(); err != nil {
		return nil, 0, err
	}
	for len(w.first) < columnFields+len(w.fields) {
		w.first = append(w.first, "")
	}
	first := slices.Clone(w.encoded(w.first))
	w.spool.sum.Write(first)
	return io.MultiReader(bytes.NewReader(first), w.spool.body()), int64(len(first)) + w.spool.size, nil
}

// reading says how the list is to be read: nothing is found out of it.
func (w *rowWriter) reading() *sms.ListReading {
	return &sms.ListReading{Kind: string(sheet.CSV), Encoding: string(sheet.UTF8), Delimiter: ",",
		HeaderRow: sheet.NoHeader}
}

// columns says which column is what.
func (w *rowWriter) columns(o *sms.ListOrder) {
	o.Phone, o.Fields["phone"], o.Fields["text"] = columnPhone, columnPhone, columnText
	for key, column := range w.fields {
		o.Fields[key] = column
	}
	if w.own || o.Text == "" {
		o.Message, o.Own = columnText, o.Text != ""
	}
}

// shortened cuts a name of a field that a program made up.
func shortened(name string) string {
	if letters := []rune(name); len(letters) > 60 {
		return strings.TrimSpace(string(letters[:59])) + "…"
	}
	return name
}
