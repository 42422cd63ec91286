package views

import (
	"slices"
	"strconv"
	"strings"

	"smsdesk/internal/sms"
)

// UploadForm sends a file. Its zero value but for the token and the account is
// a form for a new list.
type UploadForm struct {
	Token    string // one-use
	Account  string // the account that the form was made for
	Action   string // "" for a list that becomes a campaign
	Replaces string // UID of the list whose message and columns are kept, or ""
	Most     int64  // bytes
	Label    string // "" for the usual one
	Error    string
	GoesOn   bool // the message is written beside: it goes along with the file, and on with it
}

func (p UploadForm) action() string {
	if p.Action == "" {
		return UploadPath
	}
	return p.Action
}

func (p UploadForm) field() Field {
	f := Field{Name: "file", Label: p.Label, Error: p.Error,
		Hint: "CSV, TSV, TXT, XLSX or ODS, up to " + megabytes(p.Most) + " and 1,000,000 rows. One row per recipient."}
	if f.Label == "" {
		f.Label = "Drop a file here, or choose one"
	}
	return f
}

func megabytes(bytes int64) string { return Number(int(bytes>>20)) + "MB" }

// listTypes are what a file picker offers first; what a file is, its content
// says.
const listTypes = ".csv,.tsv,.txt,.xlsx,.ods,text/csv,text/tab-separated-values,text/plain," +
	"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet,application/vnd.oasis.opendocument.spreadsheet"

// UploadPage is the page on which a file is chosen.
type UploadPage struct {
	Formatter
	NoAccount bool
	Settings  Link // where an account is connected; empty for who may not
	Form      UploadForm
	// Replaces is the list whose message and columns are kept; nil for none.
	Replaces *sms.List
	Example  [][]string // names of columns and rows below them
	For      string     // UID whose text the example is for, or ""
	Lists    []sms.List // the person's own, newest first
	Errors   sms.Invalid
}

func (p UploadPage) title() string {
	if p.Replaces != nil {
		return "Upload a new file"
	}
	return "Upload a list"
}

func (p UploadPage) sub() string {
	if p.Replaces != nil {
		return "Keeps the message and column settings from " + Shorten(p.Replaces.FileName, 60) + "."
	}
	return "Send one message to everyone, or a different message to each recipient. Nothing is sent until you confirm."
}

func (p UploadPage) drawn() []ListFirst {
	rows := make([]ListFirst, len(p.Example))
	for i, cells := range p.Example {
		rows[i] = ListFirst{Row: i + 1, Cells: cells}
	}
	return rows
}

func (p UploadPage) example(kind string) string {
	return With(UploadPath+"/example."+kind, "for", p.For)
}

// listStanding says in words how far a list is, and where it goes on.
func (o Formatter) listStanding(l sms.List) (tone Tone, words string, next Link) {
	path := ListPath(l.UID, "/check")
	switch l.State {
	case sms.ListChecking:
		return ToneInfo, "Checking", Link{Text: "View list", Href: path}
	case sms.ListMaking:
		return ToneInfo, "Creating campaign", Link{Text: "View list", Href: path}
	case sms.ListChecked:
		if bad := l.Tally.Bad(); bad > 0 {
			return ToneBad, Plural(int(bad), "row to fix", "rows to fix"), Link{Text: "Continue", Href: path}
		}
		return ToneInfo, "Checked", Link{Text: "Continue", Href: path}
	case sms.ListFailed:
		return ToneBad, "Cannot be used", Link{Text: "View list", Href: path}
	case sms.ListMade:
		switch l.Purpose {
		case sms.ForContacts:
			return ToneOK, "Imported", Link{Text: "View contacts", Href: With(ContactsPath, "list", l.UID)}
		case sms.ForAudience:
			return ToneOK, "Campaign created", Link{Text: "Show the audiences", Href: AudiencesPath}
		}
		return ToneOK, "Campaign created", Link{Text: "Send again with a new file", Href: With(UploadPath, "replaces", l.UID)}
	}
	if l.Purpose == sms.ForContacts {
		return ToneMute, "Columns not chosen yet", Link{Text: "Continue", Href: ListStart(l)}
	}
	return ToneMute, "No message yet", Link{Text: "Continue", Href: ListStart(l)}
}

func listGlyph(t Tone) Glyph {
	switch t {
	case ToneBad:
		return GlyphAlert
	case ToneOK:
		return GlyphDelivered
	case ToneInfo:
		return GlyphWaiting
	}
	return GlyphTemplate
}

// ListColumn is a column of the file as the page names it.
type ListColumn struct {
	Name     string
	Examples []string // the first different values
}

// ListSheet is a sheet of the workbook.
type ListSheet struct {
	Name   string
	Rows   int // -1: not counted
	Hidden bool
}

func (s ListSheet) label() string {
	label := s.Name
	if s.Rows >= 0 {
		label += " (" + Plural(s.Rows, "row", "rows") + ")"
	}
	if s.Hidden {
		label += ", hidden"
	}
	return label
}

// ListFirst is a row as the page draws it; Row 0 has no number, as names of
// columns that no row of the file holds.
type ListFirst struct {
	Row   int
	Cells []string
}

// ListFilled is the text for one row.
type ListFilled struct {
	Row     int64
	Text    string
	Runs    []TextSpan // Text, with the words from the row marked
	Missing []string   // marks for which there is nothing
}

// ListMessagePage is the page on which the message and the columns of a list
// are chosen.
type ListMessagePage struct {
	Formatter
	List      sms.List
	Order     sms.ListOrder // as chosen so far
	Columns   []ListColumn
	Sheets    []ListSheet
	Encodings []string
	First     []ListFirst // the names of the columns and the first rows
	Notices   []string
	Question  string // asks for the phone column; "" when it was found
	Read      bool   // the file was just read another way
	SenderIDs []string
	Settings  Link
	Templates []sms.Template
	Template  string // the id of the one that is chosen, "" for own text
	// TemplateIn is the id of the one whose text is in the message, and Own the text before it.
	TemplateIn, Own string
	Plain           PlainText
	NoAddress       OptOutNoAddressProps
	MaxParts        int
	Filled          ListFilled
	Numbers         string // typed beside the file
	Audiences       []sms.Audience
	Groups          []sms.Group
	Upload          UploadForm // where the list began without a file
	See             string     // which row is on the phone: the first, SeeLongest or SeeSpecial
	Survey          ListSurvey
	Price           Price
	Currency        string
	// by field: phone, sender_id, message, text, field:KEY, name, encoding, delimiter, header, sheet
	Errors sms.Invalid
}

// Which row of a list is on the phone.
const (
	SeeLongest = "longest"
	SeeSpecial = "special"
)

// ListSurvey is what the first rows of a list come to as it is written to.
type ListSurvey struct {
	Ready, Twice, Parts  int64
	Numbers, ToFix       int64 // different numbers that are ready; rows that are not
	Typed                int64 // rows of typed numbers
	Special, Extra       int64 // rows with special characters, and the parts these cost
	Rows                 int64 // that were read
	Whole                bool  // which are all
	HasLongest, HasOther bool  // rows differ; some have special characters
}

// FixedText says in a mark's select that one text for everyone takes its
// place.
const FixedText = "fixed"

// FixedName is the name of the field with one text for everyone in place of a
// mark; MarkName is that of the column.
func FixedName(mark string) string { return "fixed:" + sms.PlaceholderKey(mark) }

// listMarksMost is the most marks that get a row.
const listMarksMost = 50

func (p ListMessagePage) marks() []string {
	if p.Order.Message >= 0 {
		return nil
	}
	marks := slices.DeleteFunc(sms.Placeholders(p.Order.Text), sms.IsStopMark)
	return marks[:min(len(marks), listMarksMost)]
}

func (p ListMessagePage) summary() []FieldError {
	fields := []string{"numbers", "audience", "phone", "sender_id", "template", "message", "text"}
	for _, m := range p.marks() {
		fields = append(fields, MarkName(m), FixedName(m))
	}
	return Summary(p.Errors, append(fields, "name", "encoding", "delimiter", "header", "sheet")...)
}

func (p ListMessagePage) field(name, label, hint, value string) Field {
	return Field{Name: name, Label: label, Hint: hint, Value: value, Error: p.Errors[name]}
}

func (p ListMessagePage) columnOptions() []Option {
	options := make([]Option, len(p.Columns))
	for i, c := range p.Columns {
		options[i] = Option{Value: strconv.Itoa(i), Label: Shorten(c.Name, 60)}
	}
	return options
}

// phoneHint shows what the column holds, or asks for it.
func (p ListMessagePage) phoneHint() string {
	if p.Order.Phone < 0 {
		return p.Question
	}
	return p.examples(p.Order.Phone)
}

func columnValue(i int) string {
	if i < 0 {
		return ""
	}
	return strconv.Itoa(i)
}

func (p ListMessagePage) examples(column int) string {
	if column < 0 || column >= len(p.Columns) || len(p.Columns[column].Examples) == 0 {
		return ""
	}
	var short []string
	for _, e := range p.Columns[column].Examples {
		short = append(short, Shorten(e, 24))
	}
	return "e.g. " + strings.Join(short, ", ")
}

// chosen is what stands in the select of a mark: a column's number, FixedText
// or "".
func (p ListMessagePage) chosen(mark string) string {
	key := sms.PlaceholderKey(mark)
	if _, fixed := p.Order.Fixed[key]; fixed {
		return FixedText
	}
	if column, ok := p.Order.Fields[key]; ok {
		return columnValue(column)
	}
	return ""
}

func (p ListMessagePage) markField(mark string) SelectProps {
	value := p.chosen(mark)
	hint := ""
	if column, err := strconv.Atoi(value); err == nil {
		hint = p.examples(column)
	}
	return SelectProps{
		Field: Field{Name: MarkName(mark), Label: "##" + mark + "##", Hint: hint, Error: p.Errors[MarkName(mark)],
			Value: value},
		Options: append(p.columnOptions(), Option{Value: FixedText, Label: "Same text for everyone"}),
		Prompt:  "Choose",
	}
}

func (p ListMessagePage) fixedField(mark string) InputProps {
	return InputProps{Field: Field{Name: FixedName(mark), Label: "##" + mark + "## for everyone",
		Error: p.Errors[FixedName(mark)], Value: p.Order.Fixed[sms.PlaceholderKey(mark)]}, Autocomplete: "off"}
}

// promptUnless asks to choose while nothing that can be chosen is.
func promptUnless(value string, options []Option) string {
	if slices.ContainsFunc(options, func(o Option) bool { return o.Value == value && value != "" }) {
		return ""
	}
	return "Choose one"
}

func (p ListMessagePage) messageOptions() []Option {
	options := []Option{{Label: "The message above"}}
	for i, c := range p.Columns {
		if i != p.Order.Phone {
			options = append(options, Option{Value: strconv.Itoa(i), Label: "Text from the column “" + Shorten(c.Name, 40) +
				"”"})
		}
	}
	return options
}

func (p ListMessagePage) parts() TextParts {
	return TextParts{Text: p.Filled.Text, MaxParts: p.MaxParts}
}

func (p ListMessagePage) editor() Editor {
	e := Editor{Form: "list", SenderIDs: p.SenderIDs, SenderID: p.Order.SenderID, Settings: p.Settings,
		Templates: p.Templates,
		Template:  p.Template, TemplateIn: p.TemplateIn, Own: p.Own, Renew: ListPath(p.List.UID, "/message"),
		RenewPart: "writing",
		Text:      p.Order.Text, Column: p.Order.Message >= 0, Each: true, Plain: p.Plain, Run: p.running(),
		NoAddress: p.NoAddress, Errors: p.Errors}
	for i, c := range p.Columns {
		if i != p.Order.Phone && len(sms.Placeholders(placeholder(c.Name))) == 1 {
			e.Columns = append(e.Columns, c.Name)
		}
	}
	return e
}

// asksPhone says that the column of the numbers was not found.
func (p ListMessagePage) asksPhone() bool {
	return p.Order.Phone < 0 || p.Question != "" || p.Errors["phone"] != ""
}

// handset is the phone of the first recipient.
func (p ListMessagePage) handset() Handset {
	h := Handset{From: p.Order.SenderID, Runs: p.Filled.Runs}
	if p.Filled.Row > 0 {
		h.Told = "Row " + Number(int(p.Filled.Row)) + " as the recipient sees it"
	}
	if p.Filled.Text == "" {
		h.Ghost, h.Runs = true, Plain("Your message appears here.")
	}
	return h
}

func (p ListMessagePage) source() Source {
	s := Source{Name: Shorten(p.List.FileName, 60), Says: "File", Glyph: GlyphTemplate}
	if p.List.Purpose == sms.ForAudience {
		s.Says, s.Glyph = "Saved audience, as its contacts are now", GlyphContacts
	}
	if p.Order.Phone >= 0 && p.Order.Phone < len(p.Columns) {
		s.Says += " · number in " + Shorten(p.Columns[p.Order.Phone].Name, 40)
	}
	if n := p.fileRows(); n > 0 {
		s.Count = Number(int(n))
	}
	if s.ID, s.Out = "without", NewWithoutPath; len(p.audiences()) > 0 {
		s.Out, s.Do = ListPath(p.List.UID, "/message"), "without"
	}
	return s
}

// moreWays are the ways to add recipients. There is one file at most.
func (p ListMessagePage) moreWays() []Way {
	all := ways()
	if p.List.Purpose != sms.ForAudience {
		return all[1:]
	}
	return all
}

func (p ListMessagePage) way() string {
	switch {
	case p.Errors["audience"] != "":
		return WayAudience
	case p.Numbers != "" || p.Errors["numbers"] != "":
		return WayNumbers
	case p.Errors["file"] != "" && p.List.Purpose == sms.ForAudience:
		return WayFile
	}
	return ""
}

// fileRows is how many rows the file has, 0 where that is not known.
func (p ListMessagePage) fileRows() int64 { return max(p.List.Total-p.List.Reading.AddedRows(), 0) }

// audiences are those that were added.
func (p ListMessagePage) audiences() []sms.ListSource {
	return slices.DeleteFunc(slices.Clone(p.List.Reading.Added), func(s sms.ListSource) bool { return s.Audience == 0 })
}

// sources are the file and what was added to it.
func (p ListMessagePage) sources() []Source {
	all := []Source{p.source()}
	for _, s := range p.audiences() {
		all = append(all, Source{Name: Shorten(s.Name, 60), Says: "Saved audience. Columns of the same name are used.",
			Count: Number(int(s.Rows)), Glyph: GlyphContacts, ID: "remove-" + id(s.Audience),
			Out: ListPath(p.List.UID, "/message"), Do: "remove:" + id(s.Audience)})
	}
	return all
}

// grown is how the sources add up: "1,200 from the file + 14 typed + 300 in
// Parents =", "1,496", "numbers, 18 twice".
func (p ListMessagePage) grown() (lead, sum, rest string) {
	s := p.Survey
	var from []string
	if n := p.fileRows(); n > 0 && p.List.Purpose == sms.ForAudience {
		from = append(from, Number(int(n))+" in "+Shorten(p.List.FileName, 40))
	} else if n > 0 {
		from = append(from, Number(int(n))+" from the file")
	}
	if s.Typed > 0 {
		from = append(from, Number(int(s.Typed))+" typed")
	}
	for _, a := range p.audiences() {
		from = append(from, Number(int(a.Rows))+" in "+Shorten(a.Name, 40))
	}
	if len(from) > 1 {
		lead = strings.Join(from, " + ") + " ="
	}
	if !s.Whole || p.Order.Phone < 0 {
		n := p.fileRows()
		if n == 0 {
			return lead, "", "The check counts the rows."
		}
		return lead, Number(int(p.List.Total - p.List.Reading.AddedRows() + s.Typed + p.audienceRows())),
			"rows. The check finds who is there twice."
	}
	rest = plural(s.Numbers, "number", "numbers")
	if s.Twice > 0 {
		rest += ", " + Number(int(s.Twice)) + " twice"
	}
	if s.ToFix > 0 {
		rest += ", " + Number(int(s.ToFix)) + " to fix"
	}
	return lead, Number(int(s.Numbers)), rest
}

func (p ListMessagePage) audienceRows() (n int64) {
	for _, a := range p.audiences() {
		n += a.Rows
	}
	return n
}

// running is what the message takes as far as it is written. Of a list that was
// not read to its end it is what all rows take if they are like the first.
func (p ListMessagePage) running() Running {
	s := p.Survey
	u := Running{Currency: p.Currency, Price: p.Price, Each: p.parts().segments().Parts, Recipients: s.Ready,
		Parts: s.Parts, Special: s.Special, Extra: s.Extra}
	if all := p.List.Total; !s.Whole && s.Rows > 0 && all > s.Rows {
		scale := func(n int64) int64 { return n * all / s.Rows }
		u.About, u.Recipients, u.Parts = true, scale(s.Ready), scale(s.Parts)
		u.Special, u.Extra = scale(s.Special), scale(s.Extra)
	}
	return u
}

// seen says of which rows the longest is one, where not all were read.
func (p ListMessagePage) seen() string {
	if p.See == "" || p.Survey.Whole {
		return ""
	}
	return "Of the first " + Number(int(p.Survey.Rows)) + " rows. The check reads all of them."
}

func seeName(see string) string {
	if see == "" {
		return "first"
	}
	return see
}

func (p ListMessagePage) deck() Deck {
	d := Deck{Form: "list", Next: "Next: the rows are checked. Nothing is sent yet",
		Button: ButtonProps{ID: "check", Text: "Continue", Name: "do", Value: "check", Glyph: GlyphOnward}}
	if d.Facts = p.running().facts(); len(d.Facts) == 0 && p.List.Total > 0 {
		d.Facts = []DeckFact{{Figure: Number(int(p.List.Total)), Word: "rows"}}
	}
	if n := len(p.Errors); n > 0 {
		d.Next = Plural(n, "problem", "problems") + ", at the top"
	}
	return d
}

// delimiters are those that lists have, as forms send them and as staff read
// them.
var delimiters = []Option{{Value: ",", Label: "Comma"}, {Value: ";", Label: "Semicolon"}, {Value: "\t", Label: "Tab"},
	{Value: "|", Label: "Vertical bar |"}}

func delimiterWords(d string) string {
	for _, o := range delimiters {
		if o.Value == d {
			return o.Label
		}
	}
	return d
}

func (p ListMessagePage) text() bool { return !p.workbook() }

// workbook says that the file may have several sheets and hidden rows.
func (p ListMessagePage) workbook() bool {
	return p.List.Reading.Kind == "XLSX" || p.List.Reading.Kind == "ODS"
}
func (p ListMessagePage) csv() bool { return p.List.Reading.Kind == "CSV" }

// noNames is the value that says that the first row is data.
const noNames = "-1"

func (p ListMessagePage) headerOptions() []Option {
	options := []Option{{Value: noNames, Label: "None: the first row is data"}}
	for i := 1; i <= max(10, p.List.Reading.HeaderRow); i++ {
		options = append(options, Option{Value: strconv.Itoa(i), Label: "Row " + strconv.Itoa(i)})
	}
	return options
}

func (p ListMessagePage) encodingOptions() []Option {
	options := make([]Option, len(p.Encodings))
	for i, e := range p.Encodings {
		options[i] = Option{Value: e, Label: e}
	}
	return options
}

func (p ListMessagePage) sheetOptions() []Option {
	options := make([]Option, len(p.Sheets))
	for i, s := range p.Sheets {
		options[i] = Option{Value: s.Name, Label: s.label()}
	}
	return options
}

// reading is how the file was read, in words.
func (p ListMessagePage) reading() []KeyValue {
	r := p.List.Reading
	kind := map[string]string{"CSV": "Text with columns (CSV)", "pairs": "Pairs of phone^message",
		"XLSX": "Excel workbook (XLSX)", "ODS": "OpenDocument spreadsheet (ODS)"}[r.Kind]
	terms := []KeyValue{{Name: "File", Text: kind}}
	if p.text() {
		terms = append(terms, KeyValue{Name: "Encoding", Text: r.Encoding})
	}
	if p.csv() {
		terms = append(terms, KeyValue{Name: "Column separator", Text: delimiterWords(r.Delimiter)})
	}
	if r.Sheet != "" {
		terms = append(terms, KeyValue{Name: "Sheet", Text: r.Sheet})
	}
	if r.Kind != "pairs" {
		names := "Row " + strconv.Itoa(r.HeaderRow)
		if r.HeaderRow < 0 {
			names = "None: the first row is data"
		}
		terms = append(terms, KeyValue{Name: "Column names", Text: names})
	}
	if p.workbook() {
		hidden := "Left out"
		if r.Hidden {
			hidden = "Included"
		}
		terms = append(terms, KeyValue{Name: "Hidden rows", Text: hidden})
	}
	return terms
}

// readingOpen says that the page opens with the way to read the file again.
func (p ListMessagePage) readingOpen() bool {
	for _, name := range []string{"encoding", "delimiter", "header", "sheet", "file"} {
		if p.Errors[name] != "" {
			return true
		}
	}
	return p.Read || len(p.Notices) > 0
}

func sheetWidth(rows []ListFirst) int {
	width := 0
	for _, row := range rows {
		width = max(width, len(row.Cells))
	}
	return width
}

// sheetColumn is the letter that spreadsheet programs give column i.
func sheetColumn(i int) string {
	name := ""
	for i++; i > 0; i = (i - 1) / 26 {
		name = string(rune('A'+(i-1)%26)) + name
	}
	return name
}

func listRows(l sms.List) string {
	switch {
	case l.Tally.Rows > 0:
		return Number(int(l.Tally.Rows))
	case l.Total > 0:
		return Number(int(l.Total))
	}
	return "–"
}

// unfilled says why something stands open in the message shown: no column is
// chosen for a placeholder, or the row's cell is empty.
func (p ListMessagePage) unfilled() string {
	var open, empty []string
	for _, m := range p.Filled.Missing {
		if p.chosen(m) == "" {
			open = append(open, placeholder(m))
		} else {
			empty = append(empty, placeholder(m))
		}
	}
	var words []string
	if len(open) > 0 {
		words = append(words, "Choose a column or text for "+and(open)+".")
	}
	if len(empty) > 0 {
		words = append(words, "This row has nothing for "+and(empty)+".")
	}
	return strings.Join(words, " ")
}

func theRows(n int) string {
	if n == 1 {
		return "the row"
	}
	return "the " + Number(n) + " rows"
}
