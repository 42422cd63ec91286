package sheet

import (
	"bytes"
	"io"
	"strconv"
	"strings"
)

const (
	// The largest row and column that the format has.
	maxBookRows    = 1 << 20
	maxBookColumns = 1 << 14
)

// worksheet reads the rows of one sheet of a workbook, as far as memory goes
// one at a time. It is written for this because the library, which stays the
// yardstick of our tests, keeps the texts of a whole workbook in memory and
// takes damage in the middle of a sheet for its end.
type worksheet struct {
	book   *book
	m      *xmlReader
	closer io.Closer
	size   uint64
	texts  *sharedStrings
	blind  bool // only whether a cell holds something matters

	number int // of the last row
	inData bool
	places []place
	text   []byte // the values of the row in work
	raw    []byte // what stands in the cell in work
	long   bool   // the row has more than MaxRecord bytes
}

// place is where in the text of a row the value of a column stands.
type place struct{ column, from, to int }

func openWorksheet(b *book, i int, blind bool) (*worksheet, error) {
	m, closer, err := b.open(b.paths[i], maxPart)
	if err != nil {
		return nil, err
	}
	s := &worksheet{book: b, m: m, closer: closer, size: b.parts[b.paths[i]].UncompressedSize64, blind: blind}
	if !blind {
		if s.texts, err = openSharedStrings(b); err != nil {
			closer.Close()
			return nil, err
		}
	}
	return s, nil
}

// countRows counts the rows of sheet i that are not hidden and not blank, but
// not beyond most. It returns -1 when the sheet cannot be read.
func countRows(b *book, i, most int) int {
	s, err := openWorksheet(b, i, true)
	if err != nil {
		return -1
	}
	defer s.Close()
	for n := 0; ; {
		rec, err := s.next()
		if err == io.EOF {
			return n
		}
		if err != nil {
			return -1
		}
		if !rec.Hidden && rec.columns > 0 {
			if n++; n == most {
				return n
			}
		}
	}
}

func (s *worksheet) progress() float64 {
	return min(1, float64(s.m.in.n)/float64(max(s.size, 1)))
}

// Close lets go of the sheet and of the texts put aside.
func (s *worksheet) Close() error {
	s.closer.Close()
	if s.texts == nil {
		return nil
	}
	return s.texts.close()
}

func (s *worksheet) next() (record, error) {
	rec, err := s.find()
	return rec, damage(err)
}

// find goes on to the next row. Behind the last it reads sheet and texts to
// the end, where the container's checksums say whether any of it was right.
func (s *worksheet) find() (record, error) {
	for {
		kind, err := s.m.next()
		if err == io.EOF && !s.blind {
			if err := s.texts.finish(); err != nil {
				return record{}, err
			}
		}
		if err != nil {
			return record{}, err
		}
		name := string(s.m.name)
		switch {
		case kind == tokenText:
		case kind == tokenStart && name == "sheetData":
			s.inData = true
		case kind == tokenEnd && name == "sheetData":
			s.inData = false
		case kind == tokenStart && name == "row" && s.inData:
			return s.row()
		case kind == tokenStart && s.inData:
			if err := s.m.skip(); err != nil {
				return record{}, err
			}
		}
	}
}

func (s *worksheet) row() (record, error) {
	number := s.number + 1
	if r := s.m.rawAttr("r"); r != nil {
		n, err := strconv.Atoi(string(r))
		if err != nil || n < number {
			return record{}, errDamaged
		}
		number = n
	}
	if number > maxBookRows {
		return record{}, errDamaged
	}
	s.number = number
	rec := record{Row: Row{Number: number, Hidden: isTrue(s.m.rawAttr("hidden"))}}
	s.text, s.places, s.long = s.text[:0], s.places[:0], false
	column := -1
	for depth := s.m.open; s.m.open >= depth; {
		kind, err := s.m.next()
		if err != nil {
			return record{}, torn(err)
		}
		if kind != tokenStart {
			continue
		}
		if string(s.m.name) != "c" {
			if err := s.m.skip(); err != nil {
				return record{}, err
			}
			continue
		}
		column++
		if ref := s.m.rawAttr("r"); ref != nil {
			column = columnOf(ref)
		}
		if column < 0 || column >= maxBookColumns {
			return record{}, errDamaged
		}
		if err := s.cell(column, &rec); err != nil {
			return record{}, err
		}
	}
	s.fill(&rec)
	return rec, nil
}

// cell reads one cell; what it holds goes behind the row's text.
func (s *worksheet) cell(column int, rec *record) error {
	kind := valueKind(s.m.rawAttr("t"))
	style, _ := strconv.Atoi(string(s.m.rawAttr("s")))
	s.raw = s.raw[:0]
	inValue := false
	for depth := s.m.open; s.m.open >= depth; {
		token, err := s.m.next()
		if err != nil {
			return torn(err)
		}
		switch {
		case token == tokenEnd:
			inValue = false
		case token == tokenText:
			if inValue && len(s.raw) <= MaxRecord {
				s.raw = s.m.appendText(s.raw)
			}
		case string(s.m.name) == "v":
			inValue = true
		case string(s.m.name) == "is":
			err = s.m.appendRuns(&s.raw)
		default:
			err = s.m.skip()
		}
		if err != nil {
			return err
		}
	}
	if len(s.raw) == 0 {
		return nil
	}
	if s.blind {
		rec.columns = max(rec.columns, column+1)
		return nil
	}
	return s.keep(column, kind, style, rec)
}

// keep appends the cell's value to the row's text.
func (s *worksheet) keep(column int, kind valueKind, style int, rec *record) error {
	from := len(s.text)
	var err error
	switch kind {
	case "s":
		i, bad := strconv.Atoi(strings.TrimSpace(string(s.raw)))
		if bad != nil {
			return errDamaged
		}
		if s.text, err = s.texts.appendString(s.text, i); err == nil {
			s.restyle(from, style)
		}
	case "str":
		s.text = decodeX(append(s.text, s.raw...), from)
		s.restyle(from, style)
	case "inlineStr":
		s.text = append(s.text, s.raw...)
		s.restyle(from, style)
	case "e":
		s.text = append(s.text, s.raw...)
	case "d":
		s.text = append(s.text, bytes.TrimSuffix(s.raw, []byte("T00:00:00"))...)
	case "b":
		s.text = append(s.text, strings.ToUpper(strconv.FormatBool(isTrue(s.raw)))...)
	default:
		s.text = s.book.formats.appendNumber(s.text, s.raw, style)
	}
	switch {
	case err != nil:
		return err
	case len(s.text) == from:
	case len(s.text) > MaxRecord:
		s.long, s.text = true, s.text[:from]
		rec.columns = max(rec.columns, column+1)
	case column >= MaxColumns:
		s.text = s.text[:from]
		rec.columns = max(rec.columns, column+1)
	default:
		s.places = append(s.places, place{column, from, len(s.text)})
		rec.columns = max(rec.columns, column+1)
	}
	return nil
}

// restyle shows the text from a place on as its cell style does; most styles
// do nothing to it.
func (s *worksheet) restyle(from, style int) {
	if format := s.book.formats.of(style); format != nil && format.text != nil && len(s.text) > from {
		s.raw = append(s.raw[:0], s.text[from:]...)
		s.text = format.text.appendText(s.text[:from], s.raw)
	}
}

// fill makes the row's cells.
func (s *worksheet) fill(rec *record) {
	if s.blind || rec.columns == 0 {
		return
	}
	fillCells(rec, s.text, s.places, s.long)
}

// fillCells makes the cells of a row whose values stand in text; long says that
// some did not fit there.
func fillCells(rec *record, values []byte, places []place, long bool) {
	rec.Cells = make([]string, min(rec.columns, MaxColumns))
	text := string(values)
	for _, p := range places {
		rec.Cells[p.column] = text[p.from:p.to]
	}
	if rec.Problem = problemOf(values, rec.columns, UTF8); long {
		rec.Problem = problemLong
	}
	if rec.Problem != "" {
		clean(rec.Cells)
	}
}

// valueKind says what the value of a cell is: "s" a shared string, "str" the
// text of a formula, "inlineStr", "e" the failure of a formula, "d" a date,
// "b" a truth value, and else a number.
type valueKind string

// columnOf is the column of a reference like "AB12", from 0, or -1.
func columnOf(ref []byte) int {
	column := 0
	for i, b := range ref {
		switch {
		case b >= 'A' && b <= 'Z':
			column = column*26 + int(b-'A') + 1
		case b >= 'a' && b <= 'z':
			column = column*26 + int(b-'a') + 1
		case b >= '0' && b <= '9' && i > 0:
			return column - 1
		default:
			return -1
		}
		if column > maxBookColumns {
			return -1
		}
	}
	return column - 1
}

// decodeX replaces the form _x000D_, in which texts carry what XML cannot, in
// b[from:], and makes line ends "\n".
func decodeX(b []byte, from int) []byte {
	if !bytes.Contains(b[from:], []byte("_x")) && bytes.IndexByte(b[from:], '\r') < 0 {
		return b
	}
	out := b[:from]
	for i := from; i < len(b); {
		if n, ok := hexForm(b[i:]); ok {
			out = append(out, string(n)...)
			i += len("_x0000_")
			continue
		}
		out = append(out, b[i])
		i++
	}
	text := strings.ReplaceAll(strings.ReplaceAll(string(out[from:]), "\r\n", "\n"), "\r", "\n")
	return append(out[:from], text...)
}

func hexForm(b []byte) (rune, bool) {
	if len(b) < 7 || b[0] != '_' || b[1] != 'x' || b[6] != '_' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}
