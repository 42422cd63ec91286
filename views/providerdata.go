package views

import (
	"strconv"
	"strings"
	"time"

	"smsdesk/internal/sms"
)

// RecordPage is what the pages about an account's records have in common.
type RecordPage struct {
	Formatter
	Account   string
	NoAccount bool
	Reading   sms.Reading
	MaySend   bool // may write messages and refresh
	MayManage bool // may change records
	Creates   bool // the account's settings allow to make records at the provider
	Bad       sms.Invalid
}

// freshness says when the records were read.
func (p RecordPage) freshness() string {
	if p.Reading.At == 0 {
		return "Not loaded from the provider yet."
	}
	return "Read from the provider " + p.When(p.Reading.At) + "."
}

// kept says what is shown instead when the provider could not be asked.
func (p RecordPage) kept() string {
	if p.Reading.At == 0 {
		return "There is nothing to show yet."
	}
	return "Showing what the provider said " + p.When(p.Reading.At) + "."
}

func recordPath(base string, n int64, more string) string { return base + "/" + id(n) + more }

// providerTrouble is what the provider said to a change that it did not make.
func (p RecordPage) providerTrouble() string {
	for _, field := range []string{"provider", "changed"} {
		if p.Bad[field] != "" {
			return withStop(p.Bad[field])
		}
	}
	return ""
}

// TemplatesPage is the list of an account's templates and drafts.
type TemplatesPage struct {
	RecordPage
	Search string
	All    int
	Rows   []TemplateRow
	Drafts []sms.TemplateDraft
}

// TemplateRow is one template in the list.
type TemplateRow struct {
	sms.Template
	Use sms.TemplateUse
}

func (p TemplatesPage) caption() string {
	if p.Search != "" {
		return Plural(len(p.Rows), "template contains", "templates contain") + " “" + Shorten(p.Search, 30) + "”"
	}
	return Plural(len(p.Rows), "template", "templates") + " at the provider"
}

func (p TemplatesPage) empty() EmptyProps {
	if p.Search != "" && p.All > 0 {
		return EmptyProps{Glyph: GlyphSearch, Title: "No templates contain “" + Shorten(p.Search, 30) + "”.",
			Action: Link{Text: "Show all", Href: TemplatesPath}}
	}
	return EmptyProps{Glyph: GlyphTemplate, Title: "No templates yet.",
		Text: "Create templates in the provider dashboard, then refresh this list."}
}

func yes(is bool, words, not string) (Tone, Glyph, string) {
	if is {
		return ToneOK, GlyphDelivered, words
	}
	return ToneMute, GlyphStopped, not
}

// TemplatePage is one template.
type TemplatePage struct {
	RecordPage
	Template  sms.Template
	Use       sms.TemplateUse
	Campaigns []sms.Campaign // the last that used it
	Waiting   int64          // scheduled campaigns that use it
	Name      string         // as typed
	Text      string
	Added     []string // marks that only the new text has
	Gone      []string // marks that only the old one has
	MarksOK   bool
}

// markRuns is a text with its marks set apart.
func markRuns(text string) []TextSpan {
	const open, shut = "\x01", "\x02"
	plain := strings.NewReplacer(open, "", shut, "").Replace(text)
	filled, _ := sms.Fill(plain, func(name string) (string, bool) { return open + "##" + name + "##" + shut, true })
	var runs []TextSpan
	for _, piece := range strings.Split(filled, open) {
		mark, rest, is := strings.Cut(piece, shut)
		if !is {
			rest, mark = piece, ""
		}
		if mark != "" {
			runs = append(runs, TextSpan{Text: mark, Filled: true})
		}
		if rest != "" {
			runs = append(runs, TextSpan{Text: rest})
		}
	}
	return runs
}

func markChips(text string) []Chip {
	var chips []Chip
	for _, m := range sms.Placeholders(text) {
		chips = append(chips, Chip{Text: "##" + m + "##"})
	}
	return chips
}

// partsOf says how long a template is before its marks are filled.
func partsOf(text string) string {
	s := sms.CountSegments(text, false)
	words := Plural(s.Parts, "part", "parts")
	if len(sms.Placeholders(text)) > 0 {
		return words + " without placeholders filled in; values may make it longer"
	}
	return words
}

func (p TemplatePage) facts() []KeyValue {
	usable := "No, only approved and active templates can be used"
	if p.Template.Usable() {
		usable = "Yes"
	}
	terms := []KeyValue{
		{Name: "Usable", Text: usable},
		{Name: "Approved", View: yesTag(p.Template.IsApproved, "Approved", "Not approved")},
		{Name: "Active", View: yesTag(p.Template.IsActive, "Active", "Not active")},
		{Name: "Length", Text: partsOf(p.Template.Text)},
		{Name: "Created", Text: orDash(p.Template.CreatedDate)},
		{Name: "Approved on", Text: orDash(p.Template.ApprovedDate)},
		{Name: "Provider ID", Text: id(p.Template.ID)},
	}
	if p.Use.Campaigns > 0 {
		terms = append(terms, KeyValue{Name: "Used", Text: Plural(int(p.Use.Campaigns), "campaign", "campaigns") + ", last " +
			p.When(p.Use.Last)})
	} else {
		terms = append(terms, KeyValue{Name: "Used", Text: "Never"})
	}
	return terms
}

func orDash(text string) string {
	if strings.TrimSpace(text) == "" {
		return "–"
	}
	return text
}

// waits says what happens to campaigns that wait for their time.
func (p TemplatePage) waits() string {
	if p.Waiting == 0 {
		return ""
	}
	if p.Waiting == 1 {
		return "1 scheduled campaign uses this template. It keeps the old text."
	}
	return Number(int(p.Waiting)) + " scheduled campaigns use this template. They will keep the old text."
}

func (p TemplatePage) marksChanged() string {
	name := func(list []string) string {
		var marks []string
		for _, m := range list {
			marks = append(marks, "##"+Shorten(m, 40)+"##")
		}
		return and(marks)
	}
	var said []string
	if len(p.Added) > 0 {
		said = append(said, "New: "+name(p.Added)+".")
	}
	if len(p.Gone) > 0 {
		said = append(said, "Gone: "+name(p.Gone)+".")
	}
	return strings.Join(said, " ")
}

// DraftPage is a template that is kept here.
type DraftPage struct {
	RecordPage
	Draft sms.TemplateDraft
}

func (p DraftPage) action() string {
	if p.Draft.ID == 0 {
		return TemplatesPath + "/new"
	}
	return recordPath(TemplatesPath+"/drafts", p.Draft.ID, "")
}

// SendersPage is the list of an account's sender IDs.
type SendersPage struct {
	RecordPage
	Rows    []sms.SenderID
	Default string
	Last    map[string]string // by sender ID: the day of its last use
	Text    string            // as typed into the form for a new one
	Purpose string
}

func (p SendersPage) lastUse(text string) string {
	day, err := timeOfDay(p.Last[text], p.Now)
	if err != nil {
		return "–"
	}
	return day
}

// SenderPage is one sender ID, to be changed or deleted.
type SenderPage struct {
	RecordPage
	Sender  sms.SenderID
	Default bool
	Waiting int64
	Last    string // the day of its last use, "" for none
	Seen    string // the purpose as the person saw it
	Purpose string // as typed
}

func (p SenderPage) facts() []KeyValue {
	s, usable := p.Sender, "No, only approved and active sender IDs can be used"
	if s.Usable() {
		usable = "Yes"
	}
	used := "Never"
	if day, err := timeOfDay(p.Last, p.Now); err == nil {
		used = "Last used on " + day
	}
	terms := []KeyValue{
		{Name: "Usable", Text: usable},
		{Name: "Status", View: yesTag(s.Approved(), s.ApproveStatus, orDash(s.ApproveStatus))},
		{Name: "Active", View: yesTag(s.IsActive, "Active", "Not active")},
		{Name: "Created", Text: orDash(s.CreatedDate)},
		{Name: "Approved on", Text: orDash(s.ApprovedDate)},
		{Name: "Provider ID", Text: id(s.ID)},
		{Name: "Used", Text: used},
	}
	if p.Waiting > 0 {
		terms = append(terms, KeyValue{Name: "Waiting",
			Text: Plural(int(p.Waiting), "scheduled campaign", "scheduled campaigns")})
	}
	return terms
}

func (p SenderPage) waits() string {
	if p.Waiting == 0 {
		return ""
	}
	if p.Waiting == 1 {
		return "1 scheduled campaign uses it. It will pause at its time and ask you what to do, because you cannot send with a deleted sender ID."
	}
	return Number(int(p.Waiting)) +
		" scheduled campaigns use it. They will pause at their time and ask you what to do, because you cannot send with a deleted sender ID."
}

// GroupsPage is the tree of an account's groups.
type GroupsPage struct {
	RecordPage
	Rows []sms.GroupNode
}

// GroupPage is one group to be made, renamed or deleted.
type GroupPage struct {
	RecordPage
	Group   sms.Group
	Parent  sms.Group // of a new sub-group; ID 0 for a new group of its own
	Below   int       // sub-groups that are known here
	Waiting int64
	Seen    string // the name as the person saw it
	Name    string // as typed
	Typed   string
}

func groupIndent(depth int) string {
	if depth == 0 {
		return ""
	}
	return strings.Repeat("\u2003", min(depth, 6)) + "↳ "
}

func groupMade(g sms.GroupNode) string {
	if g.MadeHere {
		return "here"
	}
	return "elsewhere"
}

func (p GroupPage) waits() string {
	if p.Waiting == 0 {
		return ""
	}
	if p.Waiting == 1 {
		return "1 scheduled campaign goes to this group. It will pause at its time and ask you what to do."
	}
	return Number(int(p.Waiting)) +
		" scheduled campaigns go to this group. They will pause at their time and ask you what to do."
}

func (p GroupPage) lost() string {
	if p.Group.ContactCount == 1 {
		return "The 1 contact is taken out of the group at the provider. This cannot be undone."
	}
	return "The provider will remove all " + Number(int(p.Group.ContactCount)) +
		" contacts from the group. This cannot be undone."
}

// RecordNote says that a record which a campaign was made with has changed
// since, and what that means for it.
type RecordNote struct {
	ID   string
	Tone Tone
	Text string
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func (p DraftPage) title() string {
	if p.Draft.ID == 0 {
		return "New template draft"
	}
	return "Template draft"
}

func (p GroupsPage) empty() EmptyProps {
	e := EmptyProps{Glyph: GlyphContacts, Title: "No groups yet."}
	if p.MayManage {
		e.Action = Link{Text: "Create a group", Href: GroupsPath + "/new"}
	}
	return e
}

func (p GroupPage) newAction() string {
	if p.Parent.ID != 0 {
		return recordPath(GroupsPath, p.Parent.ID, "/sub")
	}
	return GroupsPath + "/new"
}

func (p GroupPage) newButton() string {
	if p.Parent.ID != 0 {
		return "Create the sub-group"
	}
	return "Create the group"
}

// timeOfDay says a day written 2006-01-02 as people do.
func timeOfDay(day string, now time.Time) (string, error) {
	t, err := time.ParseInLocation(time.DateOnly, day, now.Location())
	switch {
	case err != nil:
		return "", err
	case t.Year() == now.Year():
		return t.Format("2 January"), nil
	}
	return t.Format("2 January 2006"), nil
}

// groupSays is what is known of whom a message to a group reaches.
func groupSays(contacts int64) string {
	about := "About " + Plural(int(contacts), "recipient", "recipients")
	if contacts < 0 {
		about = "We do not know how many recipients"
	}
	return about + ". We cannot show or check a provider group's numbers. Blocked numbers in it will get the message too."
}
