package views

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
)

// ComposePage is the form for a message to a few numbers, as typed so far.
type ComposePage struct {
	Token    string // one-use
	Account  string // the account that the form was made for
	Writing  string // key under which what is typed is saved
	Replaces string // the draft that this one takes the place of, or ""

	Numbers, SenderID, Text, Name string
	Flash                         bool

	Way       string     // the tile that is chosen, "" for the first
	Group     *sms.Group // a group at the provider instead of numbers, nil for numbers
	Groups    []sms.Group
	Audiences []sms.Audience
	List      string // UID of the list that a group set aside, "" for none
	ListName  string

	Upload UploadForm // for many people at once

	Templates []sms.Template // those that may be chosen
	Template  string         // the id of the one that is chosen, "" for own text
	// TemplateIn is the id of the one whose text is in the message, and Own the text before it.
	TemplateIn, Own string
	Plain           PlainText
	Price           Price
	Currency        string
	NoAddress       OptOutNoAddressProps
	Fixed           map[string]string // what stands in the place of the text's marks, by sms.PlaceholderKey

	SenderIDs []string // those that may be chosen
	Settings  Link     // where the connection is mended; empty for who may not
	NoAccount bool     // nothing is connected yet
	TestHint  bool     // says which numbers force an outcome
	MaxParts  int

	Unsent []Unsent       // what the same person wrote and did not send, the latest first
	Gone   bool           // the message that was asked for is not there any more
	Count  *phone.Numbers // what was read of Numbers, nil before anything was
	// by field: numbers, sender_id, template, text, a mark's MarkName, name; others are about the
	// whole
	Errors sms.Invalid
}

// Unsent is a draft to go on with.
type Unsent struct{ Name, When, Href string }

// badShown is the most wrong numbers that are listed one by one.
const badShown = 20

// bad are the numbers to list one by one; a single one that the sentence at
// the field quotes already needs no list.
func (p ComposePage) bad() []phone.Bad {
	if p.Errors["numbers"] == "" || p.Count == nil || len(p.Count.Bad) == 1 &&
		strings.Contains(p.Errors["numbers"], p.Count.Bad[0].Raw) {
		return nil
	}
	return p.Count.Bad[:min(len(p.Count.Bad), badShown)]
}

func (p ComposePage) badLeft() int {
	if p.bad() == nil {
		return 0
	}
	return len(p.Count.Bad) - len(p.bad())
}

func (p ComposePage) field(name, label, hint, value string) Field {
	return Field{Name: name, Label: label, Hint: hint, Value: value, Error: p.Errors[name]}
}

func (p ComposePage) editor() Editor {
	return Editor{Form: "compose", SenderIDs: p.SenderIDs, SenderID: p.SenderID, Settings: p.Settings,
		Templates: p.Templates,
		Template:  p.Template, TemplateIn: p.TemplateIn, Own: p.Own, Renew: NewTemplatePath, RenewPart: "writing",
		Text:  p.Text,
		Plain: p.Plain, Run: p.running(), Group: p.Group != nil, NoAddress: p.NoAddress, Errors: p.Errors}
}

func (p ComposePage) way() string {
	switch {
	case p.Way != "":
		return p.Way
	case p.Numbers != "" || p.Errors["numbers"] != "":
		return WayNumbers
	case p.Errors["audience"] != "":
		return WayAudience
	}
	return WayFile
}

func (p ComposePage) groupSource() Source {
	return Source{Name: p.Group.Name, Says: "Group at the provider. We cannot show or check its numbers.",
		Count: "about " + Number(int(p.Group.ContactCount)), Glyph: GlyphRecords, ID: "without", Out: NewWithoutPath}
}

// aside is who was set aside for a group, which is sent alone.
func (p ComposePage) aside() string {
	var list []string
	if p.ListName != "" {
		list = append(list, Shorten(p.ListName, 60))
	}
	if p.Count != nil && len(p.Count.Good) > 0 {
		list = append(list, Plural(len(p.Count.Good), "typed number", "typed numbers"))
	}
	if len(list) == 0 {
		return ""
	}
	return "A group is sent alone. Set aside: " + and(list) + "."
}

func (p ComposePage) handset() Handset {
	h := Handset{From: p.SenderID, Runs: Plain(p.parts().preview()), Ghost: p.Text == ""}
	if p.Group != nil {
		h.Told = "Everyone in " + Shorten(p.Group.Name, 40)
	}
	return h
}

func (p ComposePage) deck() Deck {
	d := Deck{Form: "compose", Next: "Next: check and send. Nothing is sent yet",
		Button: ButtonProps{ID: "check", Text: "Continue", Glyph: GlyphOnward}}
	if n := len(p.Errors); n > 0 {
		d.Next = Plural(n, "problem", "problems") + ", at the top"
	}
	d.Facts = p.running().facts()
	return d
}

// running is what the message takes as far as it is written.
func (p ComposePage) running() Running {
	u := Running{Currency: p.Currency, Price: p.Price, Each: p.parts().segments().Parts}
	switch {
	case p.Group != nil:
		u.Group, u.Recipients = true, int64(p.Group.ContactCount)
	case p.Count != nil:
		u.Recipients = int64(len(p.Count.Good))
	}
	u.Parts = u.Recipients * int64(u.Each)
	return u
}

func (p ComposePage) parts() TextParts {
	return TextParts{Text: p.filled(), MaxParts: p.MaxParts}
}

// TextParts is what a text costs in parts.
type TextParts struct {
	Text     string
	MaxParts int
}

// spoken is read out when it changes, and changes only with the number of
// parts.
func (p TextParts) spoken() string {
	s := sms.CountSegments(p.Text, false)
	switch {
	case s.Parts == 0:
		return ""
	case s.Parts > p.MaxParts:
		return fmt.Sprintf("Too long: %s. The limit is %d", Plural(s.Parts, "part", "parts"), p.MaxParts)
	}
	return Plural(s.Parts, "part", "parts")
}

// more is only seen: what is left, and which letters make parts smaller.
func (p TextParts) more() string {
	s := sms.CountSegments(p.Text, false)
	switch {
	case s.Parts == 0:
		return "One part holds 160 characters."
	case s.Parts > p.MaxParts:
		return "· " + withStop(sms.CheckText(p.Text, s, p.MaxParts))
	}
	left := Plural(s.Left, "character", "characters") + " left"
	if s.Parts > 1 {
		left += " in this part"
	}
	return "· " + left + "." + OddLetters(p.Text)
}

// OddLetters says what the letters outside the basic alphabet do to a text, as
// a sentence with a space in front; "" where there are none.
func OddLetters(text string) string {
	s := sms.CountSegments(text, false)
	if len(s.Odd) == 0 {
		return ""
	}
	letters := oddNames(s.Odd)
	if plain := sms.CountSegments(withoutOdd(text), false); plain.Parts < s.Parts {
		return fmt.Sprintf(" This message needs %s because of %s. Without %s, %s enough.",
			Plural(s.Parts, "part", "parts"), letters, them(len(s.Odd)), Plural(plain.Parts, "part would be", "parts would be"))
	}
	size := 70
	if s.Parts > 1 {
		size = 67
	}
	return fmt.Sprintf(" Each part holds only %d characters because of %s.", size, letters)
}

const oddShown = 5

func oddNames(odd []rune) string {
	var names []string
	for _, r := range odd {
		if n := quoted(r); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	if len(names) > oddShown {
		names = append(names[:oddShown:oddShown], Plural(len(names)-oddShown, "other", "others"))
	}
	return and(names)
}

// A quotation mark within quotation marks cannot be told apart, and neither
// can what has no shape of its own.
func quoted(r rune) string {
	switch r {
	case '“', '”', '„':
		return "the curly quotation mark " + string(r)
	case '‘', '’':
		return "the curly apostrophe " + string(r)
	case '\u00a0', '\u202f', '\u2007':
		return "a non-breaking space"
	case '\u200b', '\u200c', '\u200d', '\ufeff', '\ufe0f':
		return "an invisible character"
	case '\t':
		return "a tab"
	}
	if unicode.Is(unicode.M, r) {
		return "a separate accent mark"
	}
	return "“" + string(r) + "”"
}

func them(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

func withoutOdd(text string) string {
	plain := make([]rune, 0, len(text))
	for _, r := range text {
		if !sms.IsGSM7(r) {
			r = 'a'
		}
		plain = append(plain, r)
	}
	return string(plain)
}

// NumberCount is what was read of the numbers typed.
type NumberCount struct {
	phone.Numbers
	TooMany bool // so many that they were not counted
}

func (c NumberCount) spoken() string {
	if c.TooMany {
		return "More than 1,000 numbers"
	}
	if len(c.Good)+len(c.Bad)+c.Repeated == 0 {
		return ""
	}
	return Plural(len(c.Good), "number", "numbers")
}

func (c NumberCount) more() string {
	if c.spoken() == "" {
		return ""
	}
	more := ""
	if c.Repeated > 0 {
		more += "· " + Plural(c.Repeated, "duplicate", "duplicates") + " "
	}
	if len(c.Bad) > 0 {
		more += "· " + Number(len(c.Bad)) + " cannot be used: " + Shorten(c.Bad[0].Raw, 24)
		if len(c.Bad) > 1 {
			more += " and " + Number(len(c.Bad)-1) + " more"
		}
	}
	return more
}

func (p ComposePage) count() NumberCount {
	if p.Count == nil {
		return NumberCount{}
	}
	c := NumberCount{Numbers: *p.Count}
	if p.Errors["numbers"] != "" {
		c.Bad = nil
	}
	return c
}

func (p TextParts) preview() string {
	if p.Text == "" {
		return "Your message appears here."
	}
	return p.Text
}

// pictured says what the picture of the parts shows.
func (p TextParts) pictured() string {
	if words := p.spoken(); words != "" {
		return words
	}
	return "No text yet"
}

func (p TextParts) segments() sms.Segments { return sms.CountSegments(p.Text, false) }
