package views

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"smsdesk/internal/sms"
)

// Rows that stop a list are mended where they stand: the wrong cell is a field,
// and what is right by then goes along.

// fixRow is a row of the file with the cell that is to be fixed, or was.
type fixRow struct {
	sms.RowNote
	Fixed []sms.Correction // of this row
	Ready bool             // it was corrected while the page is open, and is right now
}

// rows are those of the table, in their order: the ones to fix, and those that
// were fixed since the page was opened.
func (p ListCheckPage) rows() []fixRow {
	var rows []fixRow
	for _, n := range p.Notes {
		rows = append(rows, fixRow{n, p.Fixed[n.Row], false})
	}
	for _, n := range p.Done {
		if !slices.ContainsFunc(p.Notes, func(o sms.RowNote) bool { return o.Row == n.Row }) {
			rows = append(rows, fixRow{n, p.Fixed[n.Row], true})
		}
	}
	slices.SortFunc(rows, func(a, b fixRow) int { return cmp.Compare(a.Row, b.Row) })
	return rows
}

// fixing says that the page shows rows to fix, each with its field.
func (p ListCheckPage) fixing() bool { return p.Kind == "" || sms.RowKind(p.Kind).Bad() }

// fields says that the rows of the page have fields: what was corrected can be
// corrected again.
func (p ListCheckPage) fields() bool {
	return len(p.rows()) > 0 && (p.fixing() || p.Kind == string(sms.RowCorrected))
}

func (p ListCheckPage) fixTitle() string {
	if p.fixing() {
		return "Fix them here"
	}
	return p.caption()
}

// correction is what a person typed in the row's wrong cell, if they did.
func (r fixRow) correction() (c sms.Correction, typed bool) {
	at := slices.IndexFunc(r.Fixed, func(c sms.Correction) bool { return c.Column == r.Column })
	if at < 0 {
		return c, false
	}
	return r.Fixed[at], true
}

// value is what stands in the field.
func (r fixRow) value() string {
	if r.Column < 0 || r.Column >= len(r.Cells) {
		return ""
	}
	return r.Cells[r.Column]
}

// editable says that the row has a cell in which the fault is.
func (r fixRow) editable() bool { return r.Column >= 0 && r.Kind != sms.RowUnreadable }

// sentence is what is wrong, also after it was typed anew.
func (r fixRow) sentence() string {
	if c, typed := r.correction(); !typed || c.From != 0 || r.Text == "" || !r.Kind.Bad() {
		return r.Text
	}
	first := []rune(r.Text)
	return "Still wrong: " + string(unicode.ToLower(first[0])) + string(first[1:])
}

// was is what the file has where something else was typed.
func (r fixRow) was() string {
	c, typed := r.correction()
	switch {
	case !typed || c.From != 0 && !r.Kind.Bad():
		return ""
	case c.From != 0:
		return "From row " + Number(int(c.From))
	case strings.TrimSpace(c.Given) == "":
		return "The file has nothing here"
	}
	return "In the file: " + Shorten(c.Given, 60)
}

// name tells a row from others by its first words.
func (p ListCheckPage) name(r fixRow) string {
	for i, c := range r.Cells {
		if i != p.List.Order.Phone && strings.ContainsFunc(c, unicode.IsLetter) {
			return Shorten(c, 40)
		}
	}
	return ""
}

// madeOf is the row of which this one was made, 0: of none.
func (p ListCheckPage) madeOf(row int64) int64 {
	for _, c := range p.Made {
		if c.Row == row {
			return c.From
		}
	}
	return 0
}

// unsplit is the row whose other numbers' rows can be taken back where this row
// stands, 0: none.
func (p ListCheckPage) unsplit(r fixRow) int64 {
	for _, c := range p.Made {
		if c.Row == r.Row || c.From == r.Row {
			return c.From
		}
	}
	return 0
}

// splitText is the button that gives each number of a row its own one.
func (p ListCheckPage) splitText(r fixRow) string {
	if n := p.Several[r.Row]; n > 2 {
		return "Make " + Number(n) + " rows"
	}
	return "Make two rows"
}

// splitAll is the offer to do that for all rows at once.
func (p ListCheckPage) splitAll() (words, button string, is bool) {
	n := int(p.tally().Several)
	if n < 2 || p.Kind != "" && sms.RowKind(p.Kind) != sms.RowNumber {
		return "", "", false
	}
	button = "Give each number its own row"
	if n > p.MaxSplit {
		button += ", for the first " + Number(p.MaxSplit) + " rows"
	}
	return Number(n) + " rows have several numbers in one cell.", button, true
}

// maxFixColumns is the most columns of the table of rows to fix; the others
// stand behind the row's number.
const maxFixColumns = 5

// fixColumns are the columns that the table shows: where faults are, the number,
// those that the message uses, and the first with words.
func (p ListCheckPage) fixColumns() []int {
	o := p.List.Order
	want := []int{o.Phone}
	for _, r := range p.rows() {
		want = append(want, r.Column)
	}
	for _, mark := range sms.Placeholders(o.Text) {
		if at, is := o.Fields[sms.PlaceholderKey(mark)]; is {
			want = append(want, at)
		}
	}
	for _, r := range p.rows() {
		want = append(want, slices.IndexFunc(r.Cells, func(c string) bool { return strings.ContainsFunc(c, unicode.IsLetter) }))
	}
	if o.Text == "" {
		want = append(want, o.Message)
	}
	var columns []int
	for _, c := range want {
		if c >= 0 && !slices.Contains(columns, c) && len(columns) < maxFixColumns {
			columns = append(columns, c)
		}
	}
	slices.Sort(columns)
	return columns
}

func (p ListCheckPage) columnName(i int) string {
	if names := p.List.Reading.Columns; i < len(names) && strings.TrimSpace(names[i]) != "" {
		return names[i]
	}
	return "Column " + sheetColumn(i)
}

// hides says that a row has more than the table shows.
func (p ListCheckPage) hides(r fixRow) bool {
	shown := p.fixColumns()
	for i, c := range r.Cells {
		if c != "" && !slices.Contains(shown, i) {
			return true
		}
	}
	return false
}

func cellName(r fixRow) string {
	return "cell:" + strconv.FormatInt(r.Row, 10) + ":" + strconv.Itoa(r.Column)
}

// keyboard is the one that a phone shows for a cell.
func (p ListCheckPage) keyboard(r fixRow) string {
	if r.Column == p.List.Order.Phone {
		return "tel"
	}
	return "text"
}

// OrderKey tells what is made of a list from anything else that could be.
func OrderKey(l sms.List) string {
	text, err := json.Marshal([]any{l.Reading, l.Order})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// minFill is from how many rows on that lack the same one value is offered.
const minFill = 3

// fillMark is a placeholder that many rows have nothing for.
type fillMark struct {
	Key, Name string
	Rows      int
}

// lacks is the placeholder that most rows have nothing for.
func (p ListCheckPage) lacks() (most fillMark, many bool) {
	o := p.List.Order
	if p.people() || p.Kind != "" && sms.RowKind(p.Kind) != sms.RowMissing {
		return most, false
	}
	for _, mark := range sms.Placeholders(o.Text) {
		key := sms.PlaceholderKey(mark)
		at, is := o.Fields[key]
		if n := int(p.tally().Lacks[at]); is && n >= minFill && n > most.Rows {
			most = fillMark{Key: key, Name: mark, Rows: n}
		}
	}
	return most, most.Rows > 0
}

// filled are the placeholders for which one value stands in empty cells.
func (p ListCheckPage) filled() []fillMark {
	var list []fillMark
	for _, mark := range sms.Placeholders(p.List.Order.Text) {
		key := sms.PlaceholderKey(mark)
		if p.List.Order.Empty[key] != "" && !slices.ContainsFunc(list, func(f fillMark) bool { return f.Key == key }) {
			list = append(list, fillMark{Key: key, Name: mark})
		}
	}
	return list
}

// listKey is a kind of rows with its count; the address is "" where its rows
// are not listed.
type listKey struct {
	Text, Href  string
	Count       int
	Current     bool
	Class, Fill string // of its colour in the map
}

// keys are the kinds of rows, as colours of the map and as filter.
func (p ListCheckPage) keys() []listKey {
	var keys []listKey
	if bad := int(p.tally().Bad()); bad > 0 {
		keys = append(keys, listKey{Text: "To fix", Href: p.path() + "#rows", Count: bad, Current: p.fixing(), Class: "fix"})
	}
	for _, k := range sms.RowKinds() {
		n := p.of(k)
		if k.Bad() || n == 0 || k == sms.RowAlready {
			continue
		}
		key := listKey{Text: wordsOf(k).tab, Href: p.filter(k), Count: n, Current: p.Kind == string(k)}
		switch k {
		case sms.RowRepeat, sms.RowSecond, sms.RowOtherText:
			key.Fill = "url(#map-repeated)"
		case sms.RowRepaired:
			key.Fill = "url(#map-repaired)"
		}
		keys = append(keys, key)
	}
	return append(keys, listKey{Text: "Ready", Count: int(p.tally().Good), Class: "ready"})
}

// problems are the kinds of rows to fix, where there are several.
func (p ListCheckPage) problems() []listKey {
	keys := []listKey{{Text: "All", Href: p.path() + "#rows", Count: int(p.tally().Bad()), Current: p.Kind == ""}}
	for _, k := range sms.RowKinds() {
		if n := p.of(k); k.Bad() && n > 0 {
			keys = append(keys, listKey{Text: wordsOf(k).tab, Href: p.filter(k), Count: n, Current: p.Kind == string(k)})
		}
	}
	if len(keys) == 2 {
		return nil
	}
	return keys
}
