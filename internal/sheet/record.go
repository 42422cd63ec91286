package sheet

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
)

// The problems of rows of text files, in the words for staff.
const (
	problemNUL     = "Has a hidden character that cannot be read (NUL). Delete it or retype the row"
	problemQuote   = `Has an opening quotation mark (") with no closing one. Add or delete it`
	problemLong    = "Row must be smaller than 64KB. Shorten it or remove columns you do not need"
	problemReturn  = "Has a line break outside quotation marks. Delete it or put the text in quotation marks"
	problemLetters = "Has characters that are not valid %s. Choose another encoding or retype the row"
	problemColumns = "Row has %s columns. The limit is %s. Remove columns you do not need"
)

const (
	// maxUnclosed bounds the work on files full of quotes that nobody closed:
	// each costs a look at MaxRecord bytes. After so many a quote must close
	// on its own line.
	maxUnclosed = 1000
	// keptOfLong is how many bytes of a row that is too long are kept, so
	// that staff can find it.
	keptOfLong = 1 << 10
)

// records reads text with a delimiter. It agrees with encoding/csv on files
// that are well formed, and keeps what an unclosed quote would swallow: a
// record ends within MaxRecord bytes, else its first line alone is at fault
// and reading goes on at the next.
type records struct {
	r         io.Reader
	delimiter byte
	encoding  Encoding

	buf        []byte // buf[start:end] is read and not yet consumed
	start, end int
	eof        bool
	fault      error
	number     int // of the last record
	unclosed   int

	text  []byte // of the quoted record in work, its fields one behind another
	ends  []int  // where in text each field ends
	chunk []string
}

func newRecords(r io.Reader, delimiter byte, e Encoding) *records {
	return &records{r: r, delimiter: delimiter, encoding: e, buf: make([]byte, 4*MaxRecord)}
}

// next returns the next record. Empty lines are counted in the record below
// them; those at the end come as one blank record.
func (s *records) next() (record, error) {
	blanks := 0
	w := s.window()
	for ; len(w) > 0; w = s.window() {
		n, size := emptyLines(w)
		blanks += n
		s.consume(size)
		if size < len(w) {
			w = s.window()
			break
		}
	}
	s.number += blanks
	if len(w) > 0 {
		rec, err := s.record(w)
		rec.blanks = blanks
		return rec, err
	}
	switch {
	case s.fault != nil:
		return record{}, s.fault
	case blanks > 0:
		return record{Row: Row{Number: s.number}, blanks: blanks - 1}, nil
	}
	return record{}, io.EOF
}

// emptyLines counts the lines at the start of w in which nothing stands, and
// their bytes.
func emptyLines(w []byte) (lines, size int) {
	for size < len(w) {
		switch {
		case w[size] == '\n':
			size++
		case w[size] == '\r' && size+1 < len(w) && w[size+1] == '\n':
			size += 2
		default:
			return lines, size
		}
		lines++
	}
	return lines, size
}

// record reads the record at the start of w.
func (s *records) record(w []byte) (record, error) {
	s.number++
	n := bytes.IndexByte(w[:min(len(w), MaxRecord+1)], '\n')
	last := n < 0 && s.eof && len(w) <= MaxRecord
	if last {
		n = len(w)
	}
	if n < 0 {
		return s.long(), nil
	}
	if bytes.IndexByte(w[:n], '"') >= 0 {
		return s.quoted(w, n), nil
	}
	rec := s.plain(w[:n])
	s.consume(min(n+1, len(w)))
	return rec, nil
}

// window makes sure that the next record, or as much of it as may be, is in
// the buffer, and returns what is there.
func (s *records) window() []byte {
	if s.end-s.start > MaxRecord || s.eof {
		return s.buf[s.start:s.end]
	}
	s.end = copy(s.buf, s.buf[s.start:s.end])
	s.start = 0
	for s.end < len(s.buf) && !s.eof {
		n, err := s.r.Read(s.buf[s.end:])
		s.end += n
		if err != nil {
			s.eof = true
			if err != io.EOF {
				s.fault = fmt.Errorf("read the list: %w", err)
			}
		}
	}
	return s.buf[s.start:s.end]
}

func (s *records) consume(n int) { s.start += n }

// plain reads a line that has no quotes.
func (s *records) plain(line []byte) record {
	line = trimReturns(line)
	rec := record{Row: Row{Number: s.number}, columns: bytes.Count(line, []byte{s.delimiter}) + 1}
	if rec.columns > MaxColumns {
		line = bytes.TrimRight(line, string(rune(s.delimiter))+" ")
		rec.columns = bytes.Count(line, []byte{s.delimiter}) + 1
	}
	rec.Problem = problemOf(line, rec.columns, s.encoding)
	if returns := bytes.Count(line, []byte{'\r'}); returns > 0 {
		s.number += returns
		rec.Problem = problemReturn
	}
	rec.Cells = s.split(line, rec.columns)
	if rec.Problem != "" {
		clean(rec.Cells)
	}
	return rec
}

// split cuts a line at its delimiters, whatever stands between them.
func (s *records) split(line []byte, columns int) []string {
	cells := s.cells(min(columns, MaxColumns))
	rest := string(line)
	for i := range cells {
		cells[i], rest, _ = strings.Cut(rest, string(rune(s.delimiter)))
	}
	return cells
}

// quoted reads the record at the start of w, whose first line ends at n. The
// record may go on over more lines.
func (s *records) quoted(w []byte, n int) record {
	whole := len(w) <= MaxRecord && s.eof
	w = w[:min(len(w), MaxRecord)]
	if s.unclosed >= maxUnclosed {
		w, whole = w[:min(n+1, len(w))], true
	}
	size, returns, ok := s.fields(w, whole)
	if !ok {
		s.unclosed++
		line := trimReturns(w[:min(n, len(w))])
		columns := bytes.Count(line, []byte{s.delimiter}) + 1
		if quotesAreLetters(line, s.delimiter) {
			rec := s.plain(line)
			s.consume(min(n+1, len(w)))
			return rec
		}
		rec := record{Row: Row{Number: s.number, Cells: s.split(line, columns), Problem: problemQuote}, columns: columns}
		clean(rec.Cells)
		s.consume(min(n+1, len(w)))
		return rec
	}
	if len(s.ends) > MaxColumns {
		s.dropEmpty()
	}
	rec := record{Row: Row{Number: s.number}, columns: len(s.ends)}
	rec.Problem = problemOf(w[:size], rec.columns, s.encoding)
	if returns > 0 {
		s.number += returns
		rec.Problem = problemReturn
	}
	rec.Cells = s.cells(min(rec.columns, MaxColumns))
	text, from := string(s.text), 0
	for i := range rec.Cells {
		rec.Cells[i], from = text[from:s.ends[i]], s.ends[i]
	}
	if rec.Problem != "" {
		clean(rec.Cells)
	}
	s.consume(size)
	return rec
}

// dropEmpty leaves out the empty fields at the end of the record in work: they
// come from formatting.
func (s *records) dropEmpty() {
	n := len(s.ends)
	for n > 1 && len(bytes.TrimSpace(s.text[s.ends[n-2]:s.ends[n-1]])) == 0 {
		n--
	}
	s.ends = s.ends[:n]
}

// quotesAreLetters tells of a line in which no field has a quote that another
// one in it does not answer, as programs write that know no quoting.
func quotesAreLetters(line []byte, delimiter byte) bool {
	for field := range bytes.SplitSeq(line, []byte{delimiter}) {
		if bytes.Count(field, []byte{'"'})%2 > 0 {
			return false
		}
	}
	return true
}

// fields cuts the record at the start of w into s.text and s.ends. It returns
// the record's size with its line end and the line breaks outside quotes.
// ok is false when a quote is not closed within w; whole says that no more
// follows behind w. A quote that neither opens nor closes is a letter, but not
// in a record of several lines: there it is the sign that an earlier quote was
// never closed and swallows the rows below.
func (s *records) fields(w []byte, whole bool) (size, returns int, ok bool) {
	s.text, s.ends = s.text[:0], s.ends[:0]
	stray, lines := false, 0
	for i := 0; ; {
		if q := skipSpaces(w, i); q < len(w) && w[q] == '"' {
			from := len(s.text)
			next, loose, closed := s.quotedField(w, q+1)
			if !closed {
				return 0, 0, false
			}
			stray = stray || loose
			lines += bytes.Count(s.text[from:], []byte{'\n'})
			i = next
		} else {
			from := i
			for i < len(w) && w[i] != s.delimiter && w[i] != '\n' {
				i++
			}
			field := w[from:i]
			if i == len(w) || w[i] == '\n' {
				field = trimReturns(field)
			}
			returns += bytes.Count(field, []byte{'\r'})
			s.text = append(s.text, field...)
		}
		s.ends = append(s.ends, len(s.text))
		switch {
		case i < len(w) && w[i] == s.delimiter:
			i++
		case i < len(w) && w[i] == '\n':
			return i + 1, returns, !stray || lines == 0
		case i == len(w):
			return i, returns, whole && (!stray || lines == 0)
		}
	}
}

// quotedField appends what stands between the quote before i and the one that
// closes it, and returns the place of the delimiter, line end or end behind
// that. stray tells of quotes in between that are letters.
func (s *records) quotedField(w []byte, i int) (next int, stray, closed bool) {
	for {
		k := bytes.IndexByte(w[i:], '"')
		if k < 0 {
			return 0, stray, false
		}
		s.appendLines(w[i : i+k])
		i += k + 1
		if i < len(w) && w[i] == '"' {
			s.text = append(s.text, '"')
			i++
			continue
		}
		end := skipSpaces(w, i)
		for end < len(w) && w[end] == '\r' {
			end++
		}
		if end == len(w) || w[end] == '\n' || w[end] == s.delimiter {
			return end, stray, true
		}
		s.text = append(s.text, '"')
		stray = true
	}
}

// appendLines appends text with its line breaks as "\n".
func (s *records) appendLines(b []byte) {
	for {
		k := bytes.IndexByte(b, '\r')
		if k < 0 {
			s.text = append(s.text, b...)
			return
		}
		s.text = append(append(s.text, b[:k]...), '\n')
		if b = b[k+1:]; len(b) > 0 && b[0] == '\n' {
			b = b[1:]
		}
	}
}

// long passes over a line of more than MaxRecord bytes, in a buffer's worth at
// a time.
func (s *records) long() record {
	w := s.window()
	rec := record{Row: Row{Number: s.number, Problem: problemLong}, columns: 1}
	head := w[:keptOfLong-splitRune(w[:keptOfLong])]
	rec.Cells = s.split(head, bytes.Count(head, []byte{s.delimiter})+1)
	clean(rec.Cells)
	for len(w) > 0 {
		n := bytes.IndexByte(w, '\n')
		ended := n >= 0
		if !ended {
			n = len(w)
		}
		rec.columns += bytes.Count(w[:n], []byte{s.delimiter})
		s.consume(min(n+1, len(w)))
		if ended {
			break
		}
		w = s.window()
	}
	return rec
}

// problemOf judges the bytes of a record.
func problemOf(raw []byte, columns int, e Encoding) string {
	switch {
	case bytes.IndexByte(raw, 0) >= 0:
		return problemNUL
	case !utf8.Valid(raw), e.lossy() && bytes.Contains(raw, []byte("\ufffd")):
		return fmt.Sprintf(problemLetters, e)
	case columns > MaxColumns:
		return fmt.Sprintf(problemColumns, humanize.Comma(int64(columns)), humanize.Comma(MaxColumns))
	}
	return ""
}

// cells hands out n cells of a larger piece, which saves an allocation a row.
func (s *records) cells(n int) []string {
	if n > len(s.chunk) {
		s.chunk = make([]string, max(n, 512))
	}
	cells := s.chunk[:n:n]
	s.chunk = s.chunk[n:]
	return cells
}

// clean makes cells fit to be shown and stored.
func clean(cells []string) {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(strings.ToValidUTF8(c, "\ufffd"), "\x00", "\ufffd")
	}
}

// trimReturns takes the line end's own "\r" off a line; a line that was
// converted twice has two.
func trimReturns(line []byte) []byte {
	for len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	return line
}

func skipSpaces(w []byte, i int) int {
	for i < len(w) && w[i] == ' ' {
		i++
	}
	return i
}
