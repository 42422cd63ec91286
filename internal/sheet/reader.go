package sheet

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dustin/go-humanize"

	"smsdesk/internal/sms"
)

// record is one row as a source finds it.
type record struct {
	Row
	columns int // as many as the row has, even where Cells holds fewer
	blanks  int // blank rows right above it that were passed over
}

// source gives the records of one kind of file, blank and hidden ones too,
// with rising numbers, and io.EOF behind the last.
type source interface {
	next() (record, error)
	progress() float64
	Close() error
}

// Reader reads the rows of one list. It is for one goroutine, and nothing in
// it waits for anything but the file.
type Reader struct {
	file    *boundedReader
	source  source
	profile Profile
	ahead   []record // read already, to find out how to read
	tally   Tally
	ended   error
}

// Open reads a file of size bytes as o says and finds out what o leaves open.
// A file that cannot be a list, or has no row, is refused as sms.Invalid with
// the sentence under "file"; an option that does not fit the file, under
// "encoding", "delimiter", "header" or "sheet". The file must stay as it is
// until Close. A workbook at its limits takes seconds to open, and Next as long
// where all rows are blank: a caller that answers a page gives both a goroutine
// and a deadline.
func Open(r io.ReaderAt, size int64, o Options) (reader *Reader, err error) {
	rd := &Reader{file: &boundedReader{r: r, left: -1}, profile: Profile{Options: o}}
	defer func() {
		if err != nil {
			rd.Close()
			reader = nil
		}
	}()
	defer rd.settle(&err)
	return rd, rd.open(size)
}

func (r *Reader) open(size int64) error {
	container, err := refuseForeign(r.file, size)
	switch {
	case err != nil:
		return err
	case container:
		err = r.openBook(size)
	default:
		err = r.openText(size)
	}
	if err != nil {
		return err
	}
	return r.begin()
}

// Profile is how the file is read and how it begins.
func (r *Reader) Profile() Profile {
	p := r.profile
	p.Sheets = append([]Tab(nil), p.Sheets...)
	return p
}

// Tally counts what Next has passed so far.
func (r *Reader) Tally() Tally { return r.tally }

// Progress is the share of the file that was read, from 0 to 1.
func (r *Reader) Progress() float64 { return r.source.progress() }

// Next returns the next row that is neither blank nor, unless asked for,
// hidden. It returns io.EOF behind the last one, sms.Invalid with the sentence
// under "file" when the file turns out to be damaged or to have more than
// MaxRows rows, and any other error when the file could not be read. After an
// error it returns the same again.
func (r *Reader) Next() (row Row, err error) {
	if r.ended != nil {
		return Row{}, r.ended
	}
	defer func() { r.ended = err }()
	defer r.settle(&err)
	return r.advance()
}

func (r *Reader) advance() (Row, error) {
	rec, err := r.pull()
	if err != nil {
		return Row{}, err
	}
	if r.tally.Rows == MaxRows {
		return Row{}, r.refuseRest()
	}
	r.tally.Rows++
	r.tally.Columns = max(r.tally.Columns, min(rec.columns, MaxColumns))
	if rec.Problem != "" {
		r.tally.Problems++
	}
	return rec.Row, nil
}

// Close lets go of what the reader holds; the file stays open. It may be
// called again.
func (r *Reader) Close() error {
	if r.source == nil {
		return nil
	}
	return r.source.Close()
}

// settle turns a panic over a hostile file into its sentence, and a sentence
// into the failure of the disk that was behind it. It must itself be deferred.
func (r *Reader) settle(err *error) {
	if p := recover(); p != nil {
		*err = sms.Invalid{"file": unreadable}
	}
	if fault := r.file.failure(); fault != nil && *err != nil {
		*err = fault
	}
}

// pull gives the next row to return, from those read ahead or the source.
func (r *Reader) pull() (record, error) {
	for {
		var rec record
		if len(r.ahead) > 0 {
			rec, r.ahead = r.ahead[0], r.ahead[1:]
		} else {
			var err error
			if rec, err = r.source.next(); err != nil {
				return record{}, err
			}
		}
		r.tally.Blank += rec.blanks
		switch {
		case blank(rec):
			r.tally.Blank++
		case rec.Hidden && !r.profile.Options.IncludeHidden:
			r.tally.Hidden++
		case r.repeatsHeader(rec):
			r.tally.Headers++
		default:
			return rec, nil
		}
	}
}

// repeatsHeader tells a row that says the names of the columns again, as
// printed pages and files put behind one another do.
func (r *Reader) repeatsHeader(rec record) bool {
	header := r.profile.Header
	if len(header) == 0 || rec.Problem != "" || used(rec.Cells) > len(header) {
		return false
	}
	for i, name := range header {
		cell := ""
		if i < len(rec.Cells) {
			cell = rec.Cells[i]
		}
		// Most rows differ in the first letter of the first cell.
		if cell != name && !strings.EqualFold(strings.TrimSpace(cell), name) {
			return false
		}
	}
	return true
}

// refuseRest counts on to the end, because the sentence tells how many rows
// there are.
func (r *Reader) refuseRest() error {
	total := MaxRows + 1
	for {
		_, err := r.pull()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		total++
	}
	files := "two"
	if n := (total + MaxRows - 1) / MaxRows; n > 2 {
		files = humanize.Comma(int64(n))
	}
	return refuse("The selected file has %s rows. The limit is %s. Split it into %s files",
		humanize.Comma(int64(total)), humanize.Comma(MaxRows), files)
}

// begin finds the header row and fills the rest of the profile.
func (r *Reader) begin() error {
	o := &r.profile.Options
	first, err := r.lookAhead()
	if err != nil {
		return err
	}
	if len(first) == 0 {
		return refuse("The selected file is empty")
	}
	if r.profile.Kind == Pairs {
		o.HeaderRow = NoHeader
		r.profile.Header = []string{"phone", "message"}
	}
	if o.HeaderRow == 0 {
		o.HeaderRow = findHeader(first)
	}
	top := first[0]
	if o.HeaderRow > 0 {
		if top, err = r.seek(o.HeaderRow); err != nil {
			return err
		}
		for _, c := range top.Cells {
			r.profile.Header = append(r.profile.Header, strings.TrimSpace(c))
		}
	}
	if top.columns > MaxColumns {
		return refuse("The selected file has %s columns. The limit is %s. Remove the columns you do not need",
			humanize.Comma(int64(top.columns)), humanize.Comma(MaxColumns))
	}
	rows, err := r.lookAhead()
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return refuse("The selected file has column names but no rows. Add at least one row")
	}
	r.sample(rows)
	return nil
}

// lookAhead reads until SampleRows rows that are not blank lie ahead, and
// returns them.
func (r *Reader) lookAhead() ([]record, error) {
	for blanks := 0; len(r.ahead) < SampleRows; {
		rec, err := r.source.next()
		if err == io.EOF {
			r.tally.Blank += blanks
			break
		}
		if err != nil {
			return nil, err
		}
		if blanks += rec.blanks; blank(rec) {
			blanks++
			continue
		}
		rec.blanks, blanks = blanks, 0
		r.ahead = append(r.ahead, rec)
	}
	return r.ahead, nil
}

// seek drops the rows above row number n, and that row itself, which it
// returns.
func (r *Reader) seek(n int) (record, error) {
	for {
		var rec record
		if len(r.ahead) > 0 {
			rec, r.ahead = r.ahead[0], r.ahead[1:]
		} else {
			var err error
			if rec, err = r.source.next(); err != nil && err != io.EOF {
				return record{}, err
			} else if err == io.EOF {
				rec.Number = n + 1
			}
		}
		if rec.Number == n && !blank(rec) {
			return rec, nil
		}
		if rec.Number >= n {
			return record{}, sms.Invalid{"header": fmt.Sprintf("Row %s is empty. Choose the row with the column names",
				humanize.Comma(int64(n)))}
		}
	}
}

// sample looks at the first rows. Beside columns with names, those at the end
// that have no name and nothing in these rows are left out: they come from
// formatting.
func (r *Reader) sample(rows []record) {
	width := used(r.profile.Header)
	for _, rec := range rows {
		if r.profile.Header == nil {
			width = max(width, len(rec.Cells))
		}
		width = max(width, used(rec.Cells))
	}
	r.profile.Header = r.profile.Header[:min(len(r.profile.Header), width)]
	for _, rec := range rows {
		if (!rec.Hidden || r.profile.Options.IncludeHidden) && !r.repeatsHeader(rec) {
			r.profile.Sample = append(r.profile.Sample, rec.Row)
		}
	}
	for i := range width {
		name := "Column " + ColumnName(i)
		if i < len(r.profile.Header) && r.profile.Header[i] != "" {
			name = r.profile.Header[i]
		}
		r.profile.Columns = append(r.profile.Columns, name)
	}
}

func blank(rec record) bool { return rec.Problem == "" && used(rec.Cells) == 0 }

// used counts the cells up to the last one in which something stands.
func used(cells []string) int {
	n := len(cells)
	for n > 0 && strings.Trim(cells[n-1], " \t\r\n\u00a0\x1a") == "" {
		n--
	}
	return n
}

// boundedReader is the file, remembering a failure of the disk that the layers above
// would take for damage. left bounds the bytes still to be read where it is
// not negative.
type boundedReader struct {
	r    io.ReaderAt
	left int64
	high int64 // the end of what was read
	err  error
}

var errByteBudget = errors.New("too many bytes wanted")

// ReadAt is that of io.ReaderAt. An offset below 0 is a lie of the file, not a
// failure of the disk.
func (t *boundedReader) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errDamaged
	}
	if t.left >= 0 {
		if t.left -= int64(len(p)); t.left < 0 {
			t.left = 0
			return 0, errByteBudget
		}
	}
	n, err := t.r.ReadAt(p, off)
	t.high = max(t.high, off+int64(n))
	if err != nil && err != io.EOF && t.err == nil {
		t.err = err
	}
	return n, err
}

func (t *boundedReader) failure() error {
	if t.err == nil {
		return nil
	}
	return fmt.Errorf("read the uploaded file: %w", t.err)
}
