package views

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"smsdesk/internal/sms"
)

// ListCheckPage is a list while it is checked, and what the check found.
type ListCheckPage struct {
	Formatter
	List     sms.List
	Kind     string // the filter: a RowKind, or "" for the rows that stop the list
	Notes    []sms.RowNote
	Done     []sms.RowNote              // rows that were to be fixed when the page was opened, and are right now
	Fixed    map[int64][]sms.Correction // by row, of the rows shown
	Made     []sms.Correction           // all rows that were made of others, in their order
	Several  map[int64]int              // by row, of the rows shown: how many numbers its cell has; 0 for one
	MaxSplit int                        // the most rows of which others are made at once
	After    int64                      // the page begins behind this row
	Upto     int64                      // and ended with this one when it was opened
	Trail    string                     // the pages before this one
	Since    int64                      // when the page was opened
	Price    Price
	Currency string // of the price
	Prev     string
	Next     string
	Upload   UploadForm // for the corrected file
	Live     Refresh    // of the figures while rows are checked or made
	Errors   sms.Invalid
}

// kindWords are what a kind of rows is called on the page.
type kindWords struct {
	tab  string // of the filter
	many string // "4 rows …", after a number
	one  string // "1 row …", after a number
}

func wordsOf(k sms.RowKind) kindWords {
	switch k {
	case sms.RowMissing:
		return kindWords{"Missing value", "rows with something missing", "row with something missing"}
	case sms.RowNumber:
		return kindWords{"Phone number", "phone numbers that cannot be used", "phone number that cannot be used"}
	case sms.RowText:
		return kindWords{"Message", "messages that cannot be sent", "message that cannot be sent"}
	case sms.RowUnreadable:
		return kindWords{"Unreadable", "rows that cannot be read", "row that cannot be read"}
	case sms.RowBlocked:
		return kindWords{"Blocked", "rows with blocked numbers", "row with a blocked number"}
	case sms.RowCorrected:
		return kindWords{"Corrected", "rows that were corrected here", "row that was corrected here"}
	case sms.RowSecond:
		return kindWords{"Not the first", "rows after the first with the same number", "row after the first with the same number"}
	case sms.RowOften:
		return kindWords{"Message limit reached", "recipients who have reached the message limit",
			"recipient who has reached the message limit"}
	case sms.RowAlready:
		return kindWords{"Already sent", "recipients who got nearly this text", "recipient who got nearly this text"}
	case sms.RowRepeat:
		return kindWords{"Repeated", "duplicate rows", "row that repeats an earlier one"}
	case sms.RowOtherText:
		return kindWords{"Different text", "rows with a different text for the same number",
			"row with another text to the same number"}
	case sms.RowRepaired:
		return kindWords{"Fixed", "phone numbers we fixed", "phone number that we fixed"}
	}
	return kindWords{"Extra parts", "messages that need more parts", "message that needs more parts"}
}

func (p ListCheckPage) path() string { return ListPath(p.List.UID, "/check") }

func (p ListCheckPage) tally() sms.ListTally { return p.List.Tally }

// of counts the rows of a kind.
func (p ListCheckPage) of(k sms.RowKind) int { return int(p.List.Tally.Kinds[k]) }

// Filter is the address of the rows of one kind.
func (p ListCheckPage) filter(k sms.RowKind) string {
	return With(p.path(), "kind", string(k)) + "#rows"
}

func (p ListCheckPage) caption() string {
	if p.Kind == "" {
		return Number(int(p.tally().Bad())) + " of " + Plural(int(p.tally().Rows), "row", "rows") + " to fix"
	}
	k := sms.RowKind(p.Kind)
	return Plural(p.of(k), wordsOf(k).one, wordsOf(k).many)
}

// cellsShown is the most columns of a row that the table shows, as RowNote has.
const cellsShown = 12

// columns are the headings of the table.
func (p ListCheckPage) columns() []string {
	width := 0
	for _, n := range p.Notes {
		width = max(width, len(n.Cells), min(n.Column+1, cellsShown))
	}
	names := slices.Clone(p.List.Reading.Columns[:min(len(p.List.Reading.Columns), cellsShown)])
	for len(names) < width {
		names = append(names, "Column "+sheetColumn(len(names)))
	}
	return names
}

// hasFaultOutsideCells says that some fault is in none of the cells shown.
func (p ListCheckPage) hasFaultOutsideCells() bool {
	return slices.ContainsFunc(p.Notes, func(n sms.RowNote) bool { return noteBeside(n, len(p.columns())) })
}

func noteBeside(n sms.RowNote, columns int) bool { return n.Column < 0 || n.Column >= columns }

// cellCut is where a cell is cut on the page, in runes; a RowNote cuts some there
// already.
const cellCut = 80

func noteCell(n sms.RowNote, i int) string {
	if i >= len(n.Cells) {
		return ""
	}
	return Shorten(n.Cells[i], cellCut)
}

// usedAs is a repaired number as it will be used, without the spaces that make
// it easy to read: they may be what was repaired.
func (o Formatter) usedAs(number string) string {
	return strings.ReplaceAll(o.Phone(number), " ", "")
}

func (p ListCheckPage) title() string {
	t := p.tally()
	switch {
	case p.List.State == sms.ListFailed:
		return "This list cannot be used"
	case p.List.Comparing:
		return "Looking for recipients who already got this text"
	case p.List.State == sms.ListMaking:
		if p.people() {
			return "Adding contacts"
		}
		return "Creating the campaign"
	case p.List.State != sms.ListChecked:
		return "Checking the list"
	case t.Bad() > 0:
		verb := " need fixing"
		if t.Bad() == 1 {
			verb = " needs fixing"
		}
		return Number(int(t.Bad())) + " of " + Plural(int(t.Rows), "row", "rows") + verb
	case t.Good == 0:
		return p.nothingLeft()
	case p.people():
		return Plural(int(t.Good), "contact is", "contacts are") + " ready to import"
	}
	return Plural(int(t.Good), "message is", "messages are") + " ready"
}

// Title is the page's name, also in the browser's tab.
func (p ListCheckPage) Title() string { return p.title() }

// progress says how far the work is.
func (p ListCheckPage) progress() string {
	verb, what := "Checked ", "rows"
	if p.List.Comparing {
		verb, what = "Compared with ", "earlier messages"
	} else if p.List.State == sms.ListMaking && p.people() {
		verb, what = "Added ", "contacts"
	} else if p.List.State == sms.ListMaking {
		if verb, what = "Prepared ", "messages"; p.List.Done == 0 {
			return "Dividing " + Plural(int(p.List.Total), "message", "messages") + " into requests"
		}
	}
	if p.List.Total <= 0 {
		return verb + Number(int(p.List.Done)) + " " + what
	}
	return verb + Number(int(p.List.Done)) + " of " + Number(int(max(p.List.Total, p.List.Done))) + " " + what
}

// spoken changes at every quarter only.
func (p ListCheckPage) spoken() string {
	if p.List.Total <= 0 {
		return p.title()
	}
	return fmt.Sprintf("%s: %d%%", p.title(), min(p.List.Done*4/p.List.Total, 4)*25)
}

func (p ListCheckPage) good() string { return Plural(int(p.tally().Good), "message", "messages") }

func (p ListCheckPage) button() string {
	if bad := int(p.tally().Bad()); bad > 0 {
		return "Leave out " + Plural(bad, "row", "rows") + " and continue"
	}
	if p.people() {
		return "Import " + Plural(int(p.tally().Good), "contact", "contacts")
	}
	return "Continue with " + p.good()
}

// people says that the rows become contacts and no campaign.
func (p ListCheckPage) people() bool { return p.List.Purpose == sms.ForContacts }

func (p ListCheckPage) nothingLeft() string {
	if p.people() {
		return "No contacts left to import"
	}
	return "No messages left to send"
}

func (p ListCheckPage) parentLink() Link {
	if p.people() {
		return Link{Text: "Import contacts", Href: ImportPath}
	}
	return Link{Text: "Upload a list", Href: UploadPath}
}

func (p ListCheckPage) repeats() string {
	if p.people() {
		return " We keep the first row for each number and leave out the others. "
	}
	return " Same number and same text. We keep the first and leave out the others. "
}

func (p ListCheckPage) making() string {
	if p.people() {
		return "Importing…"
	}
	return "Creating the campaign…"
}

func (p ListCheckPage) back() string {
	if p.people() {
		return "Back to columns"
	}
	return "Back to message and columns"
}

// fixes are what was repaired, most first.
func (p ListCheckPage) fixes() []string {
	type fix struct {
		words string
		n     int64
	}
	var list []fix
	for words, n := range p.tally().Fixes {
		list = append(list, fix{words, n})
	}
	slices.SortFunc(list, func(a, b fix) int {
		if a.n != b.n {
			return int(b.n - a.n)
		}
		return slices.Compare([]byte(a.words), []byte(b.words))
	})
	var words []string
	for _, f := range list {
		words = append(words, f.words+" ("+Number(int(f.n))+")")
	}
	return words
}

// already is the card about those who got nearly this text.
func (p ListCheckPage) already() AlreadyCard {
	a := p.tally().Already
	c := AlreadyCard{Formatter: p.Formatter, Sent: a, Action: ListPath(p.List.UID, "/already"), Version: p.List.Version,
		Again: p.List.Again}
	if a != nil && a.LeftOut {
		c.Left = &LeftOutAlready{a.Recipients, a.LastAt}
	}
	return c
}

func (p ListCheckPage) version() string { return strconv.FormatInt(p.List.Version, 10) }

func (p ListCheckPage) hiddenRows() string {
	return Plural(int(p.tally().Hidden), "hidden row is", "hidden rows are") + " left out"
}

// sub says what the page is about: the file, the sender and the text.
func (p ListCheckPage) sub() string {
	if p.tally().Bad() > 0 {
		words := Shorten(p.List.FileName, 60)
		if o := p.List.Order; !p.people() && o.SenderID != "" {
			words += " · from " + o.SenderID
		}
		if o := p.List.Order; !p.people() && o.Text != "" {
			words += " · “" + Shorten(o.Text, 80) + "”"
		}
		return words
	}
	out := "From " + Plural(int(p.tally().Rows), "row", "rows") + " in " + Shorten(p.List.FileName, 60) + "."
	if p.tally().Good == 0 {
		return out
	}
	return out + " Check the notices below, then continue."
}

// where says which rows were added to the file.
func (p ListCheckPage) where() string {
	if len(p.tally().Map) == 0 {
		return ""
	}
	last := p.tally().Map[len(p.tally().Map)-1].Last
	var said []string
	if len(p.Made) > 0 {
		said = append(said, madeWhere(p.Made))
		last = p.tally().Last
	}
	for _, s := range slices.Backward(p.List.Reading.Added) {
		first := last - s.Rows + 1
		rows := "Rows " + Number(int(first)) + " to " + Number(int(last))
		if s.Rows == 1 {
			rows = "Row " + Number(int(last))
		}
		if last = first - 1; s.Audience == 0 {
			said = append(said, rows+plural(s.Rows, " was", " were")+" typed.")
		} else {
			said = append(said, rows+" "+plural(s.Rows, "is", "are")+" of “"+Shorten(s.Name, 60)+"”.")
		}
	}
	slices.Reverse(said)
	return strings.Join(said, " ")
}

// madeWhere says which rows were made of others.
func madeWhere(made []sms.Correction) string {
	first, last := made[0].Row, made[len(made)-1].Row
	if first == last {
		return "Row " + Number(int(first)) + " was made of row " + Number(int(made[0].From)) + "."
	}
	return "Rows " + Number(int(first)) + " to " + Number(int(last)) + " were made of rows with several numbers."
}

// nextStepText says what the way on leads to. Nothing is sent by it.
func (p ListCheckPage) nextStepText() string {
	words := ""
	if p.people() {
		if n := int(p.tally().Bad() + p.tally().LeftOut()); n > 0 {
			words = Plural(n, "row is", "rows are") + " left out. "
		}
		return words + "Existing contacts will be updated. Nothing is sent."
	}
	if p.tally().Bad() > 0 {
		words = Plural(int(p.tally().Good), "message is", "messages are") + " ready. "
	}
	if n := int(p.tally().LeftOut()); n > 0 {
		words += Plural(n, "row is", "rows are") + " left out. "
	}
	if p.tally().Bad() > 0 {
		return words + "You can download the rows to fix and upload them as a new list."
	}
	return words + "You will see the cost on the next page. Nothing has been sent yet."
}

// top is the head of the page.
func (p ListCheckPage) top(title, sub string) FlowTop {
	return FlowTop{Title: title, Sub: sub, Step: StepCheck, Back: [2]string{ListStart(p.List), ""}}
}

func (p ListCheckPage) deck() Deck {
	t := p.tally()
	ready := "ready"
	if p.people() {
		ready = "ready to import"
	}
	d := Deck{Form: "make", Back: Link{Text: p.back(), Href: ListStart(p.List)}, Without: t.Good == 0,
		Button: ButtonProps{ID: "go-on", Text: p.button(), Glyph: GlyphOnward},
		Facts:  []DeckFact{{Figure: Number(int(t.Good)), Word: ready, Tone: ToneOK}}}
	if bad := t.Bad(); bad > 0 {
		d.Facts = append(d.Facts, DeckFact{Figure: Number(int(bad)), Word: "to fix", Tone: ToneBad})
	}
	if left := t.LeftOut(); left > 0 {
		d.Facts = append(d.Facts, DeckFact{Figure: Number(int(left)), Word: "left out", Desk: true})
	}
	if t.Good > 0 && p.Price.Known() && !p.people() {
		d.Facts = append(d.Facts, DeckFact{Figure: "about " + reckoned(p.Currency, p.Price.of(t.Parts)), Word: "to send them",
			Desk: true})
	}
	return d
}
