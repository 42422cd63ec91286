package views

import (
	"slices"
	"strconv"
	"strings"

	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
)

func contactTabs(current string) []Tab {
	return []Tab{{Text: "Contacts", Href: ContactsPath, Current: current == "people"},
		{Text: "Audiences", Href: AudiencesPath, Current: current == "audiences"}}
}

// FilterForm is a filter as a form shows it, with room for one more condition.
type FilterForm struct {
	Filter  sms.Filter
	Columns []sms.ContactColumn
	Bad     sms.Invalid
}

// shown are the conditions with an empty one at the end.
func (p FilterForm) shown() []sms.Condition {
	list := slices.Clone(p.Filter.Conditions)
	if len(list) < sms.MaxFilterConditions {
		list = append(list, sms.Condition{Op: sms.Is})
	}
	return list
}

func (p FilterForm) columnOptions() []Option {
	options := []Option{{Value: "", Label: "Choose"}, {Value: sms.KeyName, Label: "Name"},
		{Value: sms.KeyTag, Label: "Tag"}}
	for _, c := range p.Columns {
		options = append(options, Option{Value: c.Key, Label: c.Name})
	}
	return options
}

func opOptions() (options []Option) {
	for _, o := range sms.Ops() {
		options = append(options, Option{Value: string(o), Label: o.Words()})
	}
	return options
}

// ordinal names a field of a condition. Only the first are seen, above their
// columns; those below are heard with their place.
func ordinal(name string, i int) string {
	if i == 0 {
		return name
	}
	return name + " " + Number(i+1)
}

func (p FilterForm) join() string {
	if p.Filter.Any {
		return "any"
	}
	return "all"
}

// conditionFields are the fields that sms.Filter's Check names.
func (p FilterForm) conditionFields() (list []string) {
	for i := range sms.MaxFilterConditions {
		list = append(list, "condition:"+strconv.Itoa(i))
	}
	return list
}

// problem is a condition's sentence, by its place.
func (p FilterForm) problem(i int) string { return p.Bad["condition:"+strconv.Itoa(i)] }

func (p FilterForm) conditionID(part string, i int) string {
	if part == "column" {
		return "condition:" + strconv.Itoa(i)
	}
	return domID(part, i)
}

// ContactListPage is the contacts of an account, all or some.
type ContactListPage struct {
	Formatter
	FilterForm
	NoAccount   bool
	MayChange   bool
	Typed       string // what was searched for
	Ended       bool   // the address names a search that is not known any more
	Total       int64  // of the account, -1: not counted
	Count       int64  // who fits the filter
	Rows        []sms.Contact
	First, Next string
	Audiences   []sms.Audience // picked ones, to add people to
	Imported    *sms.List      // that has just been taken in
	Name        string         // typed for a new audience
	PickBad     sms.Invalid
}

func (p ContactListPage) searchHint() string {
	if p.Masked {
		return "Part of a name, or a full phone number"
	}
	return "Part of a name, or the first digits of a number"
}

func (p ContactListPage) narrowed() bool { return p.Typed != "" || !p.Filter.Everybody() }

func (p ContactListPage) caption() string {
	switch {
	case p.Typed != "":
		return "Results for “" + Shorten(p.Typed, 40) + "”"
	case !p.Filter.Everybody():
		return Plural(int(p.Count), "contact matches", "contacts match") + ": " + Shorten(p.Filter.Words(p.Columns), 200)
	}
	return Plural(int(p.Count), "contact", "contacts") + ", newest first"
}

func (p ContactListPage) empty() EmptyProps {
	switch {
	case p.Typed != "":
		return EmptyProps{Glyph: GlyphSearch, Title: "No contacts match “" + Shorten(p.Typed, 40) + "”",
			Action: Link{Text: "Show all", Href: ContactsPath}}
	case p.narrowed():
		return EmptyProps{Glyph: GlyphSearch, Title: "No contacts match this filter",
			Action: Link{Text: "Clear the filter", Href: ContactsPath}}
	case p.MayChange:
		return EmptyProps{Glyph: GlyphContacts, Title: "No contacts yet.", Text: "Import a spreadsheet, or add a contact.",
			Action: Link{Text: "Import from a file", Href: ImportPath}}
	}
	return EmptyProps{Glyph: GlyphContacts, Title: "No contacts yet."}
}

// columnsInTable is how many columns of contacts a table shows.
const columnsInTable = 4

func (p FilterForm) inTable() []sms.ContactColumn {
	return p.Columns[:min(len(p.Columns), columnsInTable)]
}

func (p ContactListPage) imported() string {
	t := p.Imported.Tally
	words := Number(int(t.Added)) + " added"
	if t.Changed > 0 {
		words += ", " + Number(int(t.Changed)) + " updated"
	}
	if same := t.Good - t.Added - t.Changed; same > 0 {
		words += ", " + Number(int(same)) + " unchanged"
	}
	if left := t.Rows - t.Good; left > 0 {
		words += ", " + Plural(int(left), "row", "rows") + " left out"
	}
	return words + "."
}

func (p ContactListPage) audienceOptions() (options []Option) {
	for _, a := range p.Audiences {
		options = append(options, Option{Value: strconv.FormatInt(a.ID, 10), Label: a.Name})
	}
	return options
}

// contactName is what a contact is called.
func contactName(o Formatter, c sms.Contact) string {
	if c.Name != "" {
		return c.Name
	}
	return o.Phone(c.Number)
}

// ContactFormPage is a contact as it is entered.
type ContactFormPage struct {
	Formatter
	Contact sms.Contact // ID 0: a new one
	Typed   map[string]string
	Columns []sms.ContactColumn
	Changed bool // somebody else saved meanwhile: Contact is what they left
	Bad     sms.Invalid
}

func (p ContactFormPage) typedTitle() string {
	if p.Changed {
		return "Your version"
	}
	return ""
}

// stored is what somebody else has saved.
func (p ContactFormPage) stored() []KeyValue {
	name := p.Contact.Name
	if name == "" {
		name = "None"
	}
	known := ContactPage{Formatter: p.Formatter, Contact: p.Contact, Columns: p.Columns}
	return append([]KeyValue{{Name: "Name", Text: name}}, known.terms()...)
}

func (p ContactFormPage) title() string {
	if p.Contact.ID == 0 {
		return "Add a contact"
	}
	return "Change " + Shorten(contactName(p.Formatter, p.Contact), 60)
}

// Title is the page's name.
func (p ContactFormPage) Title() string { return p.title() }

func (p ContactFormPage) action() string {
	if p.Contact.ID == 0 {
		return ContactsPath + "/new"
	}
	return ContactPath(p.Contact.ID, "/edit")
}

func (p ContactFormPage) back() string {
	if p.Contact.ID == 0 {
		return ContactsPath
	}
	return ContactPath(p.Contact.ID, "")
}

func (p ContactFormPage) fieldsInOrder() []string {
	list := []string{"number", "name", "tags"}
	for _, c := range p.Columns {
		list = append(list, "field:"+c.Key)
	}
	return append(list, "column")
}

// ContactPage is one person with their history.
type ContactPage struct {
	Formatter
	MayChange bool
	Contact   sms.Contact
	Columns   []sms.ContactColumn
	Blocked   *sms.Blocked
	Audiences []sms.Audience
	Ended     []sms.EndedBlock   // the newest
	Messages  []sms.FoundMessage // the newest
	More      bool
}

// Title is the page's name.
func (p ContactPage) Title() string { return Shorten(contactName(p.Formatter, p.Contact), 80) }

func (p ContactPage) terms() []KeyValue {
	terms := []KeyValue{{Name: "Phone number", Text: p.Phone(p.Contact.Number)},
		{Name: "Network", Text: networkGuess(p.Contact.Number)}}
	for _, c := range p.Columns {
		if v := p.Contact.Fields[c.Key]; v != "" {
			terms = append(terms, KeyValue{Name: c.Name, Text: p.MaskNumbers(v)})
		}
	}
	if len(p.Contact.Tags) > 0 {
		terms = append(terms, KeyValue{Name: "Tags", Text: strings.Join(p.Contact.Tags, ", ")})
	}
	came := p.Contact.Source
	if p.Contact.ByName != "" {
		came += ", by " + p.Contact.ByName
	}
	return append(terms, KeyValue{Name: "Added", Text: p.When(p.Contact.CreatedAt) + ": " + came},
		KeyValue{Name: "Changed", Text: p.When(p.Contact.ChangedAt)})
}

func networkGuess(number string) string {
	name := phone.Network(number)
	if name == "" {
		return "Unknown prefix"
	}
	return name + " (" + phone.NetworkNote + ")"
}

func (p ContactPage) found() SearchPage {
	return SearchPage{Formatter: p.Formatter, Number: p.Contact.Number, Rows: p.Messages, CanSend: p.MayChange}
}

// ContactImportPage chooses what becomes of the columns of a list.
type ContactImportPage struct {
	ListMessagePage
	Fields map[string]int // key to column, as proposed or chosen
	Tags   string
}

// Name is the column with the names, -1 for none.
func (p ContactImportPage) name() string {
	if at, is := p.Fields[sms.KeyName]; is {
		return strconv.Itoa(at)
	}
	return ""
}

func (p ContactImportPage) kept(column int) bool {
	for _, at := range p.Fields {
		if at == column {
			return true
		}
	}
	return false
}

func (p ContactImportPage) chosenPhone() string {
	if p.Order.Phone < 0 {
		return ""
	}
	return strconv.Itoa(p.Order.Phone)
}

func (p ContactImportPage) fileColumns() (options []Option) {
	for i, c := range p.ListMessagePage.Columns {
		label := Shorten(c.Name, 60)
		if len(c.Examples) > 0 {
			label += " – e.g. " + Shorten(strings.Join(c.Examples, ", "), 60)
		}
		options = append(options, Option{Value: strconv.Itoa(i), Label: label})
	}
	return options
}

func (p ContactImportPage) button() string {
	if p.List.Total > 0 {
		return "Check and import " + Plural(int(p.List.Total), "contact", "contacts")
	}
	return "Check and import these contacts"
}

// AudienceListPage is the audiences of an account.
type AudienceListPage struct {
	Formatter
	NoAccount bool
	MayChange bool
	Columns   []sms.ContactColumn
	Rows      []sms.Audience
	Counts    map[int64]int64 // by id; what is not in it was not counted
}

func (p AudienceListPage) who(a sms.Audience) string {
	if a.Kind == sms.Picked {
		return "Picked by hand"
	}
	return "Filter: " + Shorten(a.Filter.Words(p.Columns), 160)
}

func (p AudienceListPage) count(a sms.Audience) string {
	if n, known := p.Counts[a.ID]; known {
		return Number(int(n))
	}
	return "–"
}

// AudiencePage is one audience: its people, its filter and the way to write to
// them.
type AudiencePage struct {
	Formatter
	FilterForm
	Audience     sms.Audience // ID 0: a new one
	MayChange    bool
	Name         string
	Count        int64 // who is in it now, or would be
	Blocked      int64 // of these, whose number is blocked
	Counted      bool
	Rows         []sms.Contact
	First, Next  string
	Token        string // one-use, for sending
	AudienceBad  string
	NameProblem  string
	ContactsFail string
	Changed      bool // somebody else saved meanwhile: Audience is what they left
}

// stored is what somebody else has saved.
func (p AudiencePage) stored() string {
	words := "It is now called “" + Shorten(p.Audience.Name, 80) + "”"
	if p.Audience.Kind != sms.Picked {
		words += ", with the filter " + Shorten(p.Audience.Filter.Words(p.Columns), 200)
	}
	return words + ". Compare it with your version. Saving replaces it."
}

// Title is the page's name.
func (p AudiencePage) Title() string {
	if p.Audience.ID == 0 {
		return "New audience"
	}
	return Shorten(p.Audience.Name, 80)
}

func (p AudiencePage) action() string {
	if p.Audience.ID == 0 {
		return AudiencesPath + "/new"
	}
	return AudiencePath(p.Audience.ID, "")
}

func (p AudiencePage) version() string { return strconv.FormatInt(p.Audience.Version, 10) }

func (p AudiencePage) errors() []FieldError {
	bad := sms.Invalid{}
	for k, v := range p.Bad {
		bad[k] = v
	}
	if p.NameProblem != "" {
		bad["name"] = p.NameProblem
	}
	if p.AudienceBad != "" {
		bad["send"] = p.AudienceBad
	}
	if p.ContactsFail != "" {
		bad["members"] = p.ContactsFail
	}
	return Summary(bad, append([]string{"name", "send", "members"}, p.conditionFields()...)...)
}

// written is how many people get a message.
func (p AudiencePage) written() int { return int(p.Count - p.Blocked) }

// who says who gets a message, and who does not.
func (p AudiencePage) who() string {
	if p.Blocked == 0 {
		return ""
	}
	return Plural(int(p.Blocked), "is", "are") + " blocked and will be left out. The message will go to " +
		Plural(p.written(), "contact", "contacts") + "."
}
