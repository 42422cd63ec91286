package sheet

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"smsdesk/internal/sms"
)

// sampleBytes is how much of a text file is looked at to find its shape.
const sampleBytes = 64 << 10

// delimiters are the ones looked for; of equals the first wins.
var delimiters = []rune{',', ';', '\t', '|'}

// titleRows is how many rows the column names are looked for in.
const titleRows = 5

// text is a text file as a source.
type text struct {
	rows interface{ next() (record, error) }
	file *boundedReader
	size int64
}

func (t *text) next() (record, error) { return t.rows.next() }

func (t *text) progress() float64 { return min(1, float64(t.file.high)/float64(t.size)) }

func (t *text) Close() error { return nil }

// openText makes the source of a text file and settles its encoding, kind and
// delimiter.
func (r *Reader) openText(size int64) error {
	o := &r.profile.Options
	if o.Encoding == "" {
		var err error
		if o.Encoding, err = detectEncoding(r.file, size); err != nil {
			return err
		}
	}
	if !o.Encoding.known() {
		return sms.Invalid{"encoding": fmt.Sprintf("%q is not an encoding we can read. Choose one from the list",
			string(o.Encoding))}
	}
	sample, whole, err := readSample(r.file, size, o.Encoding)
	if err != nil {
		return err
	}
	if err := refuseBinary(sample, o.Encoding); err != nil {
		return err
	}
	if len(bytes.TrimSpace(sample)) == 0 && whole {
		return refuse("The selected file is empty")
	}
	body, err := o.Encoding.reader(r.file, size)
	if err != nil {
		return err
	}
	if bytes.IndexByte(sample, '\r') >= 0 && bytes.IndexByte(sample, '\n') < 0 {
		body, sample = &returns{r: body}, bytes.ReplaceAll(sample, []byte{'\r'}, []byte{'\n'})
	}
	r.file.high = 0
	if r.profile.Kind = CSV; looksPaired(sample, whole) {
		r.profile.Kind = Pairs
		o.Delimiter = 0
		r.source = &text{rows: newPairs(newRecords(body, '^', o.Encoding)), file: r.file, size: size}
		return nil
	}
	hint, skip := separatorLine(sample)
	if skip > 0 {
		if _, err := io.CopyN(io.Discard, body, int64(skip)); err != nil {
			return fmt.Errorf("read the list's first line: %w", err)
		}
		sample = sample[skip:]
	}
	if o.Delimiter == 0 {
		if o.Delimiter = hint; hint == 0 {
			o.Delimiter = findDelimiter(sample, whole)
		}
	}
	if !canDelimit(o.Delimiter) {
		return sms.Invalid{"delimiter": "Choose what separates the columns: comma, semicolon, tab or vertical bar"}
	}
	r.source = &text{rows: newRecords(body, byte(o.Delimiter), o.Encoding), file: r.file, size: size}
	return nil
}

// readSample decodes the beginning of the file; whole says that it is all.
func readSample(file *boundedReader, size int64, e Encoding) (sample []byte, whole bool, err error) {
	body, err := e.reader(file, size)
	if err != nil {
		return nil, false, err
	}
	sample = make([]byte, sampleBytes)
	n, err := io.ReadFull(body, sample)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, false, fmt.Errorf("read the beginning of the list: %w", err)
	}
	return sample[:n], err != nil, nil
}

func canDelimit(d rune) bool {
	return d == '\t' || d > ' ' && d < unicode.MaxASCII && d != '"' && !unicode.IsLetter(d) && !unicode.IsDigit(d)
}

// separatorLine reads the line "sep=;" with which Excel is told the delimiter.
// It is no row, and skip is its size.
func separatorLine(sample []byte) (delimiter rune, skip int) {
	line, _, ended := bytes.Cut(sample[:min(len(sample), 16)], []byte{'\n'})
	if !ended || len(line) < 5 || !strings.EqualFold(string(line[:4]), "sep=") || len(trimReturns(line[5:])) > 0 {
		return 0, 0
	}
	if d := rune(line[4]); canDelimit(d) {
		return d, len(line) + 1
	}
	return 0, 0
}

// findDelimiter tries each delimiter on the sample. The best one cuts most
// records into one same number of columns, with numbers in a column of their
// own.
func findDelimiter(sample []byte, whole bool) rune {
	best, score := ',', 0.0
	for _, d := range delimiters {
		if got := rateDelimiter(sample, whole, d); got > score {
			best, score = d, got
		}
	}
	return best
}

func rateDelimiter(sample []byte, whole bool, d rune) float64 {
	widths, phones := map[int]int{}, map[int]int{}
	rows := sampleRecords(sample, whole, d)
	for _, rec := range rows {
		widths[rec.columns]++
		for i, c := range rec.Cells {
			if mostlyDigits(c) && looksLikePhone(c) {
				phones[i]++
			}
		}
	}
	width, alike := 1, 0
	for w, n := range widths {
		if w > 1 && (n > alike || n == alike && w > width) {
			width, alike = w, n
		}
	}
	if alike == 0 {
		return 0
	}
	score := float64(alike) / float64(len(rows))
	for _, n := range phones {
		if 2*n > len(rows)-1 {
			return score + 1
		}
	}
	return score
}

// sampleRecords reads the first records of the sample that are not blank. The
// last one may be cut off, unless the sample is whole.
func sampleRecords(sample []byte, whole bool, d rune) []record {
	var rows []record
	s := newRecords(bytes.NewReader(sample), byte(d), UTF8)
	for len(rows) <= SampleRows {
		rec, err := s.next()
		if err != nil {
			break
		}
		if !blank(rec) {
			rows = append(rows, rec)
		}
	}
	if len(rows) > SampleRows || !whole && len(rows) > 1 {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// findHeader is the number of the row with the column names among the first
// rows of a file, or NoHeader. A row with the name of a phone column and no
// number in it is taken for it, else one above the first row with something
// like a number.
func findHeader(rows []record) int {
	data := len(rows)
	for i, rec := range rows {
		switch {
		case anyDigitish(rec.Cells):
			data = min(data, i)
		case i < titleRows && slices.ContainsFunc(rec.Cells, isPhoneName), i < titleRows && filled(rec.Cells) > 1 &&
			slices.ContainsFunc(rec.Cells, tellsPhone):
			return rec.Number
		}
	}
	if data == 0 {
		return NoHeader
	}
	width := 1
	if data < len(rows) {
		width = filled(rows[data].Cells)
	}
	// A title above the names fills one cell, where the names fill about as
	// many as the data.
	for _, rec := range rows[:data] {
		if n := filled(rec.Cells); n >= min(2, width) && 2*n >= width {
			return rec.Number
		}
	}
	return rows[0].Number
}

func filled(cells []string) int {
	n := 0
	for _, c := range cells {
		if strings.TrimSpace(c) != "" {
			n++
		}
	}
	return n
}

func anyDigitish(cells []string) bool { return slices.ContainsFunc(cells, mostlyDigits) }

// returns reads the text of an old Mac, whose lines end in "\r".
type returns struct {
	r    io.Reader
	last byte
}

// Read is that of io.Reader.
func (t *returns) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	kept := 0
	for _, b := range p[:n] {
		pair := t.last == '\r' && b == '\n'
		if t.last = b; pair {
			continue
		}
		if b == '\r' {
			b = '\n'
		}
		p[kept] = b
		kept++
	}
	return kept, err
}
