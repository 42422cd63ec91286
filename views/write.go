package views

import (
	"context"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"smsdesk/internal/sms"
)

// Editor is the message as it is written: the sender ID, the template, the text
// with its chips, and what is to be said of its characters.
type Editor struct {
	Form      string // id of the form that it is part of
	SenderIDs []string
	SenderID  string
	Settings  Link // where the connection is mended; empty for who may not

	Templates  []sms.Template
	Template   string // id of the one that is chosen, "" for own text
	TemplateIn string // id of the one whose text is in the message
	Own        string // the person's own text while a template's is in the message
	Renew      string // address that applies a template
	RenewPart  string // id of the part of the page that its answer renews

	Text    string
	Column  bool     // the text comes from a column of the file
	Columns []string // those that can be put into the text
	Plain   PlainText
	Run     Running
	Group   bool
	Each    bool // each recipient has a row, and so can have an opt-out link

	NoAddress OptOutNoAddressProps
	Errors    sms.Invalid
}

// PlainText is the message in standard characters: what each special one
// becomes, and what that saves.
type PlainText struct {
	Changes []PlainChange
	Left    []string // special characters of a language, which are kept
	Before  int      // parts as written
	After   int      // parts in standard characters
}

// PlainChange is one special character with its name and what takes its place.
type PlainChange struct {
	From, Name, To string
	Times          int
}

// stopMark stands for a link with which each recipient can opt out.
const stopMark = sms.StopMark

// chipsShown is how many columns stand beside each other; the others follow
// when they are asked for.
const chipsShown = 7

func (e Editor) field(name, label, value string) Field {
	return Field{Name: name, Label: label, Value: value, Error: e.Errors[name]}
}

func (e Editor) senderOptions() []Option {
	options := make([]Option, len(e.SenderIDs))
	for i, s := range e.SenderIDs {
		options[i] = Option{Value: s, Label: s}
	}
	return options
}

func (e Editor) templateOptions() []Option {
	options := []Option{{Label: "Own text"}}
	for _, t := range e.Templates {
		options = append(options, Option{Value: strconv.FormatInt(t.ID, 10), Label: Shorten(t.Name, 60)})
	}
	return options
}

// templateName is the name of the template that is in the message.
func (e Editor) templateName() string {
	for _, t := range e.Templates {
		if strconv.FormatInt(t.ID, 10) == e.TemplateIn {
			return t.Name
		}
	}
	return ""
}

// fresh says that a template's text stands in the message as it came.
func (e Editor) fresh() bool {
	for _, t := range e.Templates {
		if strconv.FormatInt(t.ID, 10) == e.TemplateIn {
			return strings.TrimSpace(strings.ReplaceAll(t.Text, "\r\n", "\n")) == strings.TrimSpace(e.Text)
		}
	}
	return false
}

func (e Editor) kept() string {
	if n := len([]rune(e.Own)); n > 0 {
		return "Your own text, " + Plural(n, "character", "characters") + ", is kept."
	}
	return ""
}

// chips are the columns that stand beside each other, more the others.
func (e Editor) chips() (first, more []string) {
	n := min(len(e.Columns), chipsShown)
	if len(e.Columns) == chipsShown+1 {
		n++
	}
	return e.Columns[:n], e.Columns[n:]
}

// placeholder is a column as it stands in the text.
func placeholder(column string) string { return "##" + column + "##" }

func (p PlainText) title() string {
	n := 0
	for _, c := range p.Changes {
		n += c.Times
	}
	n += len(p.Left)
	words := Plural(n, "special character", "special characters")
	if p.After < p.Before {
		return words + " " + makes(n) + " this " + Plural(p.Before, "part", "parts") + " instead of " + Number(p.After) + "."
	}
	return words + ": each part holds fewer characters."
}

func makes(n int) string {
	if n == 1 {
		return "makes"
	}
	return "make"
}

// standard is what the button says that writes the text in standard characters.
func (e Editor) standard() string {
	if saved := e.Plain.Before - e.Plain.After; saved > 0 {
		words := "Use standard characters, save " + Plural(saved, "part", "parts")
		if money := e.Run.saves(saved); money != "" {
			words += " each, " + money
		}
		return words
	}
	return "Use standard characters"
}

func (c PlainChange) words() string {
	words := c.Name
	if c.Times > 1 {
		words += " (" + Number(c.Times) + ")"
	}
	return words
}

func (p PlainText) left() string {
	if len(p.Left) == 0 {
		return ""
	}
	return "Kept as written: " + strings.Join(p.Left, " ")
}

// mirror is the text with its placeholders and special characters apart, to be
// painted behind the letters.
func mirror(text string) []mirrorRun {
	var runs []mirrorRun
	for _, part := range splitPlaceholders(text) {
		if part.Filled {
			runs = append(runs, mirrorRun{part.Text, "slot"})
			continue
		}
		for _, s := range spansOdd(part.Text) {
			class := ""
			if s.Filled {
				class = "odd"
			}
			runs = append(runs, mirrorRun{s.Text, class})
		}
	}
	return runs
}

// mirrorRun is a stretch of a text and how it is painted, "" for not at all.
type mirrorRun struct{ Text, Class string }

// inked writes runs one behind the other with nothing between them: the text
// keeps every space, and one more would move all that follows.
func inked(runs []mirrorRun) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		for _, run := range runs {
			if run.Class == "" {
				b.WriteString(templ.EscapeString(run.Text))
				continue
			}
			b.WriteString(`<mark class="` + templ.EscapeString(run.Class) + `">` + templ.EscapeString(run.Text) + `</mark>`)
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// splitPlaceholders parts a text at its placeholders, which are marked filled.
func splitPlaceholders(text string) []TextSpan {
	var runs []TextSpan
	add := func(run string, filled bool) {
		if run != "" {
			runs = append(runs, TextSpan{Text: run, Filled: filled})
		}
	}
	from := 0
	for _, at := range placeholderShape.FindAllStringIndex(text, -1) {
		if len(sms.Placeholders(text[at[0]:at[1]])) == 1 {
			add(text[from:at[0]], false)
			add(text[at[0]:at[1]], true)
			from = at[1]
		}
	}
	add(text[from:], false)
	return runs
}

var placeholderShape = regexp.MustCompile(`##[^#\n]+##`)

// The ways to say who gets a message.
const (
	WayFile     = "file"
	WayNumbers  = "numbers"
	WayAudience = "audience"
	WayGroup    = "group"
)

// Way is one of the tiles.
type Way struct {
	Value, Label, Help string
	Glyph              Glyph
}

func ways() []Way {
	return []Way{
		{WayFile, "File", "Excel or CSV. One row for each recipient.", GlyphTemplate},
		{WayNumbers, "Numbers", "Type or paste them.", GlyphPhone},
		{WayAudience, "Saved audience", "Chosen from your contacts.", GlyphContacts},
		{WayGroup, "Provider group", "Its numbers stay at the provider.", GlyphRecords},
	}
}

// Source is who gets the message, when that is chosen: a file, an audience or a
// group.
type Source struct {
	Name, Says, Count string
	Glyph             Glyph
	ID, Out, Do       string // of the button that takes it out: its id, address and order
}
