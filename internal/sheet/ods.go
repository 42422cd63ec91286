package sheet

import (
	"io"
	"slices"
	"strconv"
	"strings"
)

const (
	odsType = "application/vnd.oasis.opendocument.spreadsheet"
	// odsContent is the part with all sheets, odsManifest the one that says
	// which parts need a password.
	odsContent  = "content.xml"
	odsManifest = "meta-inf/manifest.xml"
)

// isODS tells of an OpenDocument spreadsheet (ISO/IEC 26300-3).
func (b *book) isODS() bool {
	return b.parts[odsContent] != nil && strings.HasPrefix(b.mimetype(), odsType)
}

// readODS lists the sheets of an OpenDocument spreadsheet. All lie in one part,
// which is read to its end, where its checksum says whether it was right.
func (b *book) readODS() error {
	if b.parts[odsManifest] != nil {
		if err := b.eachStart(odsManifest, func(m *xmlReader) error {
			if string(m.name) == "encryption-data" {
				return refuse("The selected file is password protected. Remove the password and upload it again")
			}
			return nil
		}); err != nil {
			return err
		}
	}
	m, closer, err := b.open(odsContent, maxPart)
	if err != nil {
		return err
	}
	defer closer.Close()
	hidden, style := map[string]bool{}, ""
	for place := 0; ; {
		kind, err := m.next()
		switch {
		case err == io.EOF && len(b.tabs) > 0:
			return nil
		case err != nil:
			return torn(err)
		case kind != tokenStart:
			continue
		}
		switch string(m.name) {
		case "style":
			style = m.attr("name")
		case "table-properties":
			if string(m.rawAttr("display")) == "false" && len(hidden) < maxFormats {
				hidden[style] = true
			}
		case "table":
			err = b.addTable(m, place, hidden)
			place++
		}
		if err != nil {
			return err
		}
	}
}

// addTable lists the sheet that has just started and counts its rows. Copies of
// other files' sheets, which a program keeps behind its own, are no sheets.
func (b *book) addTable(m *xmlReader, place int, hidden map[string]bool) error {
	t := Tab{Name: m.attr("name"), Hidden: hidden[m.attr("style-name")]}
	copied := strings.HasPrefix(t.Name, "'file:")
	s := &odsSheet{m: m, inTable: true, blind: true}
	for {
		rec, err := s.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if !rec.Hidden && rec.columns > 0 {
			t.Rows++
		}
	}
	if !copied && len(b.tabs) < maxEntries {
		b.tabs, b.tables = append(b.tabs, t), append(b.tables, place)
	}
	return nil
}

// odsSheet reads the rows of one sheet of an OpenDocument spreadsheet, one at a
// time. What repeats is kept once.
type odsSheet struct {
	m       *xmlReader
	closer  io.Closer
	size    uint64
	inTable bool
	blind   bool // only whether a cell holds something matters

	number int    // of the last row
	held   record // the row that repeats
	again  int    // how often it still does
	blanks int    // rows without anything above the next
	places []place
	text   []byte // the values of the row in work
	raw    []byte // what the cell in work shows
	value  []byte // what is stored in it
	long   bool   // the row has more than MaxRecord bytes
}

// openODSSheet goes to the beginning of sheet i.
func openODSSheet(b *book, i int) (*odsSheet, error) {
	m, closer, err := b.open(odsContent, maxPart)
	if err != nil {
		return nil, err
	}
	s := &odsSheet{m: m, closer: closer, size: b.parts[odsContent].UncompressedSize64}
	for place := -1; place < b.tables[i]; {
		kind, err := m.next()
		if err != nil {
			closer.Close()
			return nil, torn(err)
		}
		if kind != tokenStart || string(m.name) != "table" {
			continue
		}
		if place++; place < b.tables[i] {
			err = m.skip()
		}
		if err != nil {
			closer.Close()
			return nil, err
		}
	}
	s.inTable = true
	return s, nil
}

func (s *odsSheet) progress() float64 { return min(1, float64(s.m.in.n)/float64(max(s.size, 1))) }

// Close lets go of the sheet.
func (s *odsSheet) Close() error {
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}

func (s *odsSheet) next() (record, error) {
	if s.again > 0 {
		s.again--
		s.number++
		s.held.Number = s.number
		rec := s.held
		rec.Cells = slices.Clone(rec.Cells)
		return rec, nil
	}
	rec, err := s.find()
	return rec, damage(err)
}

// find goes on to the next row in which something stands. The empty ones at the
// end of a sheet, of which programs write a million, are none.
func (s *odsSheet) find() (record, error) {
	for s.inTable {
		kind, err := s.m.next()
		if err != nil {
			return record{}, torn(err)
		}
		switch name := string(s.m.name); {
		case kind == tokenEnd && name == "table":
			s.inTable = false
		case kind != tokenStart:
		case name == "table-row":
			rec, err := s.row()
			if err != nil || rec.columns > 0 {
				return rec, err
			}
		case name == "table-rows", name == "table-header-rows", name == "table-row-group":
		default:
			if err := s.m.skip(); err != nil {
				return record{}, err
			}
		}
	}
	return record{}, io.EOF
}

// row reads the row that has just started. One without values is only counted.
func (s *odsSheet) row() (record, error) {
	times, err := s.repeats("number-rows-repeated", maxBookRows-s.number)
	if err != nil {
		return record{}, err
	}
	visibility := string(s.m.rawAttr("visibility"))
	rec := record{Row: Row{Number: s.number + 1, Hidden: visibility == "collapse" || visibility == "filter"}}
	s.text, s.places, s.long = s.text[:0], s.places[:0], false
	column := 0
	for depth := s.m.open; s.m.open >= depth; {
		kind, err := s.m.next()
		if err != nil {
			return record{}, torn(err)
		}
		if kind != tokenStart {
			continue
		}
		if name := string(s.m.name); name != "table-cell" && name != "covered-table-cell" {
			if err := s.m.skip(); err != nil {
				return record{}, err
			}
			continue
		}
		if column, err = s.cell(column, &rec); err != nil {
			return record{}, err
		}
	}
	if rec.columns == 0 {
		s.number += times
		s.blanks += times
		return rec, nil
	}
	s.number++
	rec.blanks, s.blanks = s.blanks, 0
	s.fill(&rec)
	s.held, s.again = rec, times-1
	s.held.blanks = 0
	return rec, nil
}

// repeats is how often the element that has just started counts, at most the
// number that a sheet has room for.
func (s *odsSheet) repeats(name string, most int) (int, error) {
	raw := s.m.rawAttr(name)
	if raw == nil {
		raw = []byte("1")
	}
	n, err := strconv.Atoi(string(raw))
	if err != nil || n < 1 || n > most {
		return 0, errDamaged
	}
	return n, nil
}

// cell reads the cell at a column and returns the column behind it.
func (s *odsSheet) cell(column int, rec *record) (int, error) {
	times, err := s.repeats("number-columns-repeated", maxBookColumns-column)
	if err != nil {
		return column, err
	}
	kind := string(s.m.rawAttr("value-type"))
	name := "value"
	if kind == "date" {
		name = "date-value"
	}
	s.raw, s.value = s.raw[:0], append(s.value[:0], s.m.rawAttr(name)...)
	paragraphs := 0
	for depth := s.m.open; s.m.open >= depth; {
		token, err := s.m.next()
		if err != nil {
			return column, torn(err)
		}
		if token != tokenStart {
			continue
		}
		if string(s.m.name) != "p" {
			if err := s.m.skip(); err != nil {
				return column, err
			}
			continue
		}
		if paragraphs++; paragraphs > 1 && len(s.raw) <= MaxRecord {
			s.raw = append(s.raw, '\n')
		}
		if err := s.paragraph(); err != nil {
			return column, err
		}
	}
	s.asValue(kind)
	if len(s.raw) > 0 {
		s.keep(column, times, rec)
	}
	return column + times, nil
}

// asValue takes the value of a cell where what it shows is missing, or has
// fewer digits than a whole number in it: those of phones must not be lost.
func (s *odsSheet) asValue(kind string) {
	switch kind {
	case "float", "percentage", "currency":
		v, err := strconv.ParseFloat(string(s.value), 64)
		if err == nil && (len(s.raw) == 0 || wholeNumber(v) && strings.ContainsAny(string(s.raw), "eE")) {
			s.raw = appendGeneral(s.raw[:0], v)
		}
	case "date":
		if len(s.raw) == 0 {
			s.raw = append(s.raw, s.value...)
		}
	}
}

// paragraph appends the text of the paragraph that has just started, with its
// white space as it is meant and without notes.
func (s *odsSheet) paragraph() error {
	from := len(s.raw)
	for depth := s.m.open; s.m.open >= depth; {
		kind, err := s.m.next()
		if err != nil {
			return torn(err)
		}
		full := len(s.raw) > MaxRecord
		switch name := string(s.m.name); {
		case kind == tokenText && !full:
			s.appendCollapsed(from)
		case kind != tokenStart:
		case name == "annotation", name == "note", name == "ruby-text":
			err = s.m.skip()
		case name == "s" && !full:
			n, bad := strconv.Atoi(string(s.m.rawAttr("c")))
			if bad != nil {
				n = 1
			}
			s.raw = append(s.raw, strings.Repeat(" ", max(0, min(n, MaxRecord)))...)
		case name == "tab" && !full:
			s.raw = append(s.raw, '\t')
		case name == "line-break" && !full:
			s.raw = append(s.raw, '\n')
		}
		if err != nil {
			return err
		}
	}
	s.raw = s.raw[:min(len(s.raw), MaxRecord+1)]
	return nil
}

// appendCollapsed appends the run of text, in which white space of any length
// is one space, and none at the beginning of a paragraph.
func (s *odsSheet) appendCollapsed(from int) {
	at := len(s.raw)
	s.raw = s.m.appendText(s.raw)
	out := s.raw[:at]
	for _, c := range s.raw[at:] {
		if white(c) {
			if len(out) == from || out[len(out)-1] == ' ' {
				continue
			}
			c = ' '
		}
		out = append(out, c)
	}
	s.raw = out
}

// keep puts the cell's value into the row as often as it stands there.
func (s *odsSheet) keep(column, times int, rec *record) {
	rec.columns = max(rec.columns, column+times)
	if s.blind || column >= MaxColumns {
		return
	}
	times = min(times, MaxColumns-column)
	if len(s.text)+len(s.raw)*times > MaxRecord {
		s.long = true
		return
	}
	for i := range times {
		from := len(s.text)
		s.text = append(s.text, s.raw...)
		s.places = append(s.places, place{column + i, from, len(s.text)})
	}
}

// fill makes the row's cells.
func (s *odsSheet) fill(rec *record) {
	if !s.blind {
		fillCells(rec, s.text, s.places, s.long)
	}
}
