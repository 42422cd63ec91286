package lists

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"smsdesk/internal/sheet"
	"smsdesk/internal/sms"
)

// tidyOrder writes an order the way it is stored. A text for everybody fills a
// mark instead of a column; tags for everybody are added to a contact's own.
func tidyOrder(o sms.ListOrder, l sms.List) sms.ListOrder {
	o.Text = strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(o.Text, "�"), "\r\n", "\n"))
	if o.Name = strings.TrimSpace(strings.ToValidUTF8(o.Name, "�")); o.Name == "" {
		o.Name = nameFromFile(l.FileName)
	}
	if o.Text == "" {
		o.Template = ""
	}
	fields, fixed := map[string]int{}, map[string]string{}
	for k, v := range o.Fields {
		if v >= 0 {
			fields[k] = v
		}
	}
	for k, v := range o.Fixed {
		if v = strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(v, "�"), "\r\n", "\n")); v != "" {
			fixed[k] = v
			if l.Purpose != sms.ForContacts {
				delete(fields, k)
			}
		}
	}
	o.Fields, o.Fixed = fields, fixed
	return o
}

func sameOrder(a, b sms.ListOrder) bool {
	return maps.Equal(a.Fields, b.Fields) && maps.Equal(a.Fixed, b.Fixed) && maps.Equal(a.Empty, b.Empty) &&
		a.FirstOnly == b.FirstOnly && a.Name == b.Name &&
		a.SenderID == b.SenderID && a.Template == b.Template &&
		a.Text == b.Text && a.Flash == b.Flash && a.Phone == b.Phone && a.Message == b.Message && a.Own == b.Own &&
		a.OnlyNew == b.OnlyNew
}

// checkOrder says what is wrong with a tidy order as far as no row is needed.
func checkOrder(account sms.Account, l sms.List, o sms.ListOrder) sms.Invalid {
	bad, columns := sms.Invalid{}, len(l.Reading.Columns)
	if utf8.RuneCountInString(o.Name) > 100 {
		bad["name"] = "Name must be 100 characters or fewer"
	}
	if o.Phone < 0 || o.Phone >= columns {
		bad["phone"] = "Choose the column with the phone numbers"
	}
	switch {
	case o.Text == "" && (o.Message < 0 || o.Message >= columns):
		bad["text"] = "Enter the message, or choose the column it is in"
	case o.Own && o.Message >= columns:
		bad["message"] = "Choose the column with the messages"
	case o.Text != "" && o.Message >= 0 && !o.Own:
		bad["message"] = "Enter a message or choose a column, not both"
	case o.Text == "" && o.Message == o.Phone:
		bad["message"] = "The numbers and the messages cannot be in the same column. Choose another"
	}
	marks := sms.Placeholders(o.Text)
	for _, m := range marks {
		key := sms.PlaceholderKey(m)
		if sms.IsStopMark(m) {
			continue
		}
		column, chosen := o.Fields[key]
		if _, fixed := o.Fixed[key]; !fixed && (!chosen || column >= columns) {
			bad["field:"+key] = sheet.MarkQuestion(m, l.Reading.Columns)
		}
	}
	if o.Text != "" && len(marks) == 0 {
		if sentence := sms.CheckText(o.Text, sms.CountSegments(o.Text, false), account.MaxParts); sentence != "" {
			bad["text"] = sentence
		}
	}
	return bad
}

// renderer makes the text of a row.
type renderer struct {
	text    string
	message int
	own     bool                    // text is for rows without a message of their own
	byName  map[string]columnOrText // by the name of a mark as written
	link    func() string           // what stands in the place of the mark for a link; nil without
}

// columnOrText is what fills a mark: a column, or one text for everybody.
type columnOrText struct {
	column int
	fixed  string
	empty  string // for rows without anything in the column
	stop   bool   // the link with which the person stops messages
}

func newRenderer(o sms.ListOrder) renderer {
	f := renderer{text: o.Text, message: o.Message, own: o.Own && o.Text != "" && o.Message >= 0,
		byName: map[string]columnOrText{}}
	if o.Text != "" && !f.own {
		f.message = -1
	}
	sms.Fill(o.Text, func(name string) (string, bool) {
		key := sms.PlaceholderKey(name)
		if sms.IsStopMark(name) {
			f.byName[name] = columnOrText{column: -1, stop: true}
		} else if fixed := o.Fixed[key]; fixed != "" {
			f.byName[name] = columnOrText{column: -1, fixed: fixed}
		} else if column, ok := o.Fields[key]; ok {
			f.byName[name] = columnOrText{column: column, empty: o.Empty[key]}
		} else {
			f.byName[name] = columnOrText{column: -1}
		}
		return "", true
	})
	return f
}

// constant says that every row gets the same text.
func (f renderer) constant() bool {
	for _, s := range f.byName {
		if s.column >= 0 || s.stop {
			return false
		}
	}
	return f.message < 0
}

func cell(cells []string, i int) string {
	if i < 0 || i >= len(cells) {
		return ""
	}
	return strings.TrimSpace(cells[i])
}

func (f renderer) value(cells []string, name string) string {
	s := f.byName[name]
	if s.stop && f.link != nil {
		return f.link()
	}
	if s.fixed != "" {
		return s.fixed
	}
	return cmp.Or(cell(cells, s.column), s.empty)
}

func (f renderer) fill(cells []string) (text string, missing []string) {
	if f.message >= 0 {
		if own := cell(cells, f.message); own != "" || !f.own {
			return own, nil
		}
	}
	return sms.Fill(f.text, func(name string) (string, bool) {
		v := f.value(cells, name)
		return v, v != ""
	})
}

// preview is fill for a page.
func (f renderer) preview(cells []string) (text string, missing []string) {
	text, missing = f.fill(cells)
	return strings.TrimSpace(text), missing
}

const (
	// noteCells and noteRunes are how much of a row stands in its note.
	noteCells, noteRunes = 12, 80
	// maxCorrected is the most letters of a cell of a row to fix: it is kept whole,
	// so that the row can be checked again without the file.
	maxCorrected = 4000
	// knownNotes is how many notes of one kind are kept that stop nobody; all
	// are counted.
	knownNotes = 1000
	maxLetters = 20
)

// checker gives the verdict on one row after the other. It is for one
// goroutine.
type checker struct {
	account sms.Account
	list    sms.List
	fill    renderer
	columns []int // that the message needs, beside the phone number
	phones  *phoneReader
	blocked []int64 // in order
	seen    *numberSet
	tally   sms.ListTally
	make    func(c *checker, cells []string) (message, sms.RowKind, int, string)
	number  int64                                      // of the row in work
	often   func(number string) (got int64, err error) // nil: no limit
	failed  error                                      // of often
	letters map[rune]bool
	fixed   map[int64][]sms.Correction // by row: what a person corrected
	places  fileMap
	here    place // of the row in work
	longest int   // parts of the longest text so far
	letter  int   // and its units

	last message // the text of the row before, which often is that of the next
}

// message is a text with what is known of it.
type message struct {
	text  string
	count sms.Segments
	hash  uint64
	fault string // why it cannot be sent
}

func newChecker(account sms.Account, l sms.List, blocked []int64, stops *sms.StopLinks) *checker {
	c := &checker{account: account, list: l, fill: newRenderer(l.Order), phones: newPhoneReader(account), blocked: blocked,
		seen:  newNumberSet(),
		tally: sms.ListTally{Kinds: map[sms.RowKind]int64{}, Fixes: map[string]int64{}, Lacks: map[int]int64{}}, letters: map[rune]bool{},
		make: (*checker).message}
	if l.Purpose == sms.ForContacts {
		return c.forContacts()
	}
	if stops != nil {
		c.fill.link = func() string { return stops.Link(account.ID, c.number) }
	}
	if c.fill.message >= 0 {
		c.columns = []int{c.fill.message}
	}
	for _, s := range c.fill.byName {
		if s.column >= 0 && !slices.Contains(c.columns, s.column) {
			c.columns = append(c.columns, s.column)
		}
	}
	slices.Sort(c.columns)
	return c
}

// checkBatch gives the verdicts on a batch.
func (c *checker) checkBatch(batch rowBatch) checkedBatch {
	j := checkedBatch{rows: make([]sms.ListRow, 0, len(batch.rows))}
	c.seen.expect(estimateTotal(c.tally.Rows, batch.share))
	for _, r := range batch.rows {
		row, notes := c.row(r)
		j.rows, j.notes = append(j.rows, row), append(j.notes, notes...)
	}
	j.total = c.tally.Rows
	j.about = estimateTotal(j.total, batch.share)
	return j
}

// row is the verdict on one row, with notes where something is to be said.
func (c *checker) row(r sheet.Row) (sms.ListRow, []sms.RowNote) {
	fixed := c.fixed[int64(r.Number)]
	c.here = place{}
	v, notes := c.judge(r)
	if len(fixed) > 0 {
		c.tally.Kinds[sms.RowCorrected]++
		notes = append(notes, correctedNote(r, fixed))
	}
	c.here.ready = v.Kind == ""
	c.places.count(v.Row, c.here)
	return v, notes
}

func (c *checker) judge(r sheet.Row) (v sms.ListRow, notes []sms.RowNote) {
	v = sms.ListRow{Row: int64(r.Number)}
	c.tally.Rows++
	note := func(kind sms.RowKind, column int, text string) *sms.RowNote {
		c.tally.Kinds[kind]++
		c.here.note(kind)
		if kind == sms.RowMissing {
			c.tally.Lacks[column]++
		}
		if !kind.Bad() && !kind.LeftOut() && c.tally.Kinds[kind] > knownNotes {
			return &sms.RowNote{}
		}
		n := sms.RowNote{Row: v.Row, Kind: kind, Column: column, Text: text, Cells: noteRow(r.Cells, kind.Bad())}
		if column >= 0 && column < len(r.Cells) {
			n.Before = cut(r.Cells[column])
		}
		notes = append(notes, n)
		return &notes[len(notes)-1]
	}
	bad := func(kind sms.RowKind, column int, text string) (sms.ListRow, []sms.RowNote) {
		note(kind, column, text)
		return sms.ListRow{Row: v.Row, Kind: kind}, notes
	}
	if r.Problem != "" {
		return bad(sms.RowUnreadable, -1, r.Problem)
	}
	phone, kind, sentence := c.phones.read(cell(r.Cells, c.list.Order.Phone))
	if kind == sms.RowNumber && SeveralNumbers(c.account, r.Cells[c.list.Order.Phone]) != nil {
		c.tally.Several++
	}
	if kind != "" {
		return bad(kind, c.list.Order.Phone, sentence)
	}
	c.number = phone.number
	m, kind, column, sentence := c.make(c, r.Cells)
	if kind != "" {
		return bad(kind, column, sentence)
	}
	v.Number, v.Text, v.Unicode, v.Parts = phone.number, m.text, m.count.Unicode, m.count.Parts
	if _, is := slices.BinarySearch(c.blocked, v.Number); is {
		v.Kind = sms.RowBlocked
		note(sms.RowBlocked, c.list.Order.Phone, "Number is blocked").After = v.MSISDN()
		return v, notes
	}
	if sentence := c.enough(v.MSISDN()); sentence != "" {
		v.Kind = sms.RowOften
		note(sms.RowOften, c.list.Order.Phone, sentence)
		return v, notes
	}
	repeat, other := c.seen.add(v.Number, m.hash, v.Row)
	if repeat != 0 {
		v.Kind = sms.RowRepeat
		note(sms.RowRepeat, c.list.Order.Phone, repeatSentence(c.list.Purpose, repeat)).Other = repeat
		return v, notes
	}
	if other != 0 && c.list.Order.FirstOnly {
		v.Kind = sms.RowSecond
		note(sms.RowSecond, c.list.Order.Phone, secondSentence(other)).Other = other
		return v, notes
	}
	if other != 0 {
		note(sms.RowOtherText, c.list.Order.Phone, otherSentence(other)).Other = other
	}
	if len(phone.fixes) > 0 && !c.typed(v.Row, c.list.Order.Phone) {
		for _, f := range phone.fixes {
			c.tally.Fixes[f]++
		}
		note(sms.RowRepaired, c.list.Order.Phone, strings.Join(phone.fixes, ", ")).After = v.MSISDN()
	}
	if sentence := longer(m); sentence != "" {
		note(sms.RowLonger, c.fill.message, sentence)
	}
	c.good(v, m.count)
	return v, notes
}

// enough says that a person got as many messages as the account allows, or "".
func (c *checker) enough(number string) string {
	if c.often == nil || c.failed != nil {
		return ""
	}
	got, err := c.often(number)
	if c.failed = err; err == nil && got >= c.account.Limits.CapMessages {
		return c.account.Limits.CapSentence(got)
	}
	return ""
}

// good counts a row that is to be sent.
func (c *checker) good(v sms.ListRow, count sms.Segments) {
	t := &c.tally
	t.Good++
	t.Parts += int64(v.Parts)
	if v.Parts > c.longest || v.Parts == c.longest && count.Units > c.letter {
		t.Longest, c.longest, c.letter = v.Row, v.Parts, count.Units
	}
	if !v.Unicode {
		return
	}
	if t.Unicode++; t.Odd == 0 {
		t.Odd = v.Row
	}
	for _, r := range count.Odd {
		if len(c.letters) < maxLetters && !c.letters[r] {
			c.letters[r] = true
			t.Letters += string(r)
		}
	}
}

// message makes the text of a row and says why it cannot be sent, with the
// column that is at fault.
func (c *checker) message(cells []string) (m message, kind sms.RowKind, column int, sentence string) {
	for _, i := range c.columns {
		if fault := sheet.CellFault(cell(cells, i)); fault != "" {
			return m, sms.RowText, i, fault
		}
	}
	text, missing := c.fill.fill(cells)
	if len(missing) > 0 {
		return m, sms.RowMissing, c.fill.byName[missing[0]].column, "Missing: enter " + withArticle(missing[0])
	}
	if c.fill.message >= 0 && !c.fill.own && text == "" {
		return m, sms.RowMissing, c.fill.message, "Missing: enter a message"
	}
	if text = strings.TrimSpace(text); text != c.last.text || text == "" {
		c.last = message{text: text, count: sms.CountSegments(text, false), hash: c.seen.hash(text)}
		c.last.fault = sms.CheckText(text, c.last.count, c.account.MaxParts)
	}
	if c.last.fault == "" {
		return c.last, "", -1, ""
	}
	if text == "" {
		return m, sms.RowText, -1, "Message is empty once the placeholders are filled in"
	}
	column, name := c.longestColumn(cells)
	if name != "" {
		return m, sms.RowText, column, c.last.fault + ". Shorten " + strconv.Quote(name)
	}
	return m, sms.RowText, column, c.last.fault
}

// longestColumn is the column that makes a text long, and its name.
func (c *checker) longestColumn(cells []string) (column int, name string) {
	column = -1
	for _, i := range c.columns {
		if column < 0 || len(cell(cells, i)) > len(cell(cells, column)) {
			column = i
		}
	}
	if names := c.list.Reading.Columns; c.fill.message < 0 && column >= 0 && column < len(names) {
		name = names[column]
	}
	return column, name
}

// withArticle is a mark's name in a sentence: "a name", "an amount".
func withArticle(name string) string {
	name = strings.ToLower(name)
	if name != "" && strings.ContainsRune("aeiou", rune(name[0])) {
		return "an " + name
	}
	return "a " + name
}

// longer is the notice about a text that special letters make longer, or "".
func longer(m message) string {
	if !m.count.Unicode || m.count.Parts == 1 || len(m.count.Odd) == 0 || m.count.Units <= 160 && m.count.Parts <= 1 {
		return ""
	}
	plain := 1
	if m.count.Units > 160 {
		plain = (m.count.Units + 152) / 153
	}
	if plain >= m.count.Parts {
		return ""
	}
	return fmt.Sprintf("This message needs %d parts because of %q", m.count.Parts, string(m.count.Odd[0]))
}

// noteRow is how much of a row its note holds: all of one to fix.
func noteRow(cells []string, whole bool) []string {
	width, most := min(len(cells), noteCells), noteRunes
	if whole {
		width, most = len(cells), maxCorrected
	}
	some := make([]string, width)
	for i := range some {
		some[i] = cutAt(cells[i], most)
	}
	return some
}

func cut(s string) string { return cutAt(s, noteRunes) }

func cutAt(s string, most int) string {
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i]
		}
	}
	return s
}

func otherSentence(row int64) string {
	return "This number is also in row " + strconv.FormatInt(row, 10)
}

func secondSentence(row int64) string {
	return "This number is in row " + strconv.FormatInt(row, 10) + ", and only the first of each is kept"
}

// result is the tally of all rows. It is the end of c.
func (c *checker) result(read sheet.Tally) sms.ListTally {
	t := c.tally
	t.Hidden, t.Blank, t.Headers, t.Columns = int64(read.Hidden), int64(read.Blank), int64(read.Headers), read.Columns
	if c.list.Order.FirstOnly {
		c.seen.more = seenTable{}
	}
	t.Texts = c.seen.texts()
	t.Map = c.places.cells()
	return t
}
