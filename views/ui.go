package views

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/a-h/templ"
)

// Tone is the meaning a colour stands for. It never stands alone: words and a
// glyph always go with it.
type Tone int

// The tones. ToneTest is for test mode and nothing else.
const (
	ToneMute Tone = iota
	ToneInfo
	ToneOK
	ToneBad
	ToneWarn
	ToneTest
)

func (t Tone) class() string {
	switch t {
	case ToneInfo:
		return "info"
	case ToneOK:
		return "ok"
	case ToneBad:
		return "bad"
	case ToneWarn:
		return "warn"
	case ToneTest:
		return "test"
	default:
		return "grey"
	}
}

func (t Tone) glyph() Glyph {
	switch t {
	case ToneOK:
		return GlyphDelivered
	case ToneBad:
		return GlyphAlert
	case ToneWarn:
		return GlyphWarning
	case ToneTest:
		return GlyphTest
	default:
		return GlyphInfo
	}
}

// Glyph is the name of an icon in the sprite.
type Glyph string

// The glyphs. Those of the message states are named after the state.
const (
	GlyphWaiting   Glyph = "clock"
	GlyphSending   Glyph = "loader"
	GlyphDelivered Glyph = "circle-check"
	GlyphFailed    Glyph = "circle-x"
	GlyphBlocked   Glyph = "ban"
	GlyphUnknown   Glyph = "circle-alert"
	GlyphDecide    Glyph = "circle-question-mark"
	GlyphStopped   Glyph = "circle-minus"
	GlyphScheduled Glyph = "calendar-clock"
	GlyphPaused    Glyph = "pause"

	GlyphOverview Glyph = "layout-dashboard"
	GlyphCampaign Glyph = "send"
	GlyphMessage  Glyph = "message-square"
	GlyphContacts Glyph = "users"
	GlyphRecords  Glyph = "folder"
	GlyphTemplate Glyph = "file-text"
	GlyphSenderID Glyph = "badge-check"
	GlyphBalance  Glyph = "wallet"
	GlyphUSSD     Glyph = "hash"
	GlyphSettings Glyph = "settings"
	GlyphReports  Glyph = "inbox"

	GlyphPlus     Glyph = "plus"
	GlyphSearch   Glyph = "search"
	GlyphDownload Glyph = "download"
	GlyphCopy     Glyph = "copy"
	GlyphRefresh  Glyph = "refresh-cw"
	GlyphPlay     Glyph = "play"
	GlyphPhone    Glyph = "smartphone"
	GlyphFlash    Glyph = "zap"
	GlyphTick     Glyph = "check"
	GlyphClose    Glyph = "x"
	GlyphPrevious Glyph = "chevron-left"
	GlyphNext     Glyph = "chevron-right"
	GlyphSignOut  Glyph = "log-out"
	GlyphMenu     Glyph = "menu"
	GlyphChoose   Glyph = "chevrons-up-down"
	GlyphPerson   Glyph = "circle-user"
	GlyphEdit     Glyph = "pencil"
	GlyphUndo     Glyph = "undo-2"
	GlyphOnward   Glyph = "arrow-right"
	GlyphApproval Glyph = "shield-check"
	GlyphAdvanced Glyph = "sliders-horizontal"
	GlyphMoney    Glyph = "banknote"
	GlyphConnect  Glyph = "plug"
	GlyphUpload   Glyph = "upload"
	GlyphRadar    Glyph = "radar"
	GlyphInfo     Glyph = "info"
	GlyphAlert    Glyph = "circle-alert"
	GlyphWarning  Glyph = "triangle-alert"
	GlyphTest     Glyph = "flask-conical"
)

// Heading is the top of a page: its one H1, a line below, and as children the
// live mark and the actions.
type Heading struct {
	Title, Sub string
}

// TileProps describes one figure with its name. With Href it is a filter link,
// Current marks the chosen one.
type TileProps struct {
	ID           string
	Label, Value string
	More         string // a short second line
	Tone         Tone
	Glyph        Glyph
	Href         string
	Current      bool
}

// TableProps describes a table in its own sideways scroller. Label names the
// scroller, Caption the table; they must differ.
type TableProps struct {
	ID, Caption, Label string
	Class              string // of the table, beside its own
}

func (p TableProps) label() string {
	if p.Label != "" {
		return p.Label
	}
	return "Table: " + p.Caption
}

// NoteProps describes a box that stands out. Title is optional.
type NoteProps struct {
	ID    string
	Tone  Tone
	Title string
}

// Task is one line of a task list with its state in words.
type Task struct {
	Text, Href, Hint string
	Tone             Tone
	Status           string
	Optional         bool // nothing is missing while it is not done
}

// Segment is one share of a bar.
type Segment struct {
	Tone  Tone
	Words string
	Count int
}

// BarProps describes a stacked bar. Label says what the whole is, such as
// "1,200 messages by state". Mini leaves the list of figures to the page and
// puts them into the accessible name instead.
type BarProps struct {
	ID       string
	Label    string
	Segments []Segment
	Mini     bool
}

func (p BarProps) name() string {
	var shares []string
	for _, s := range p.Segments {
		if s.Count > 0 {
			shares = append(shares, strings.ToLower(s.Words)+" "+Number(s.Count))
		}
	}
	if len(shares) == 0 {
		return p.Label + ": nothing yet"
	}
	return p.Label + ": " + strings.Join(shares, ", ")
}

type share struct {
	class, x, width string
}

// Shares are cut by running totals so that they always end at 100 %. A share
// above 0 is never thinner than it takes to be seen.
func (p BarProps) shares() []share {
	const least = 1.2
	total, seen := 0, 0
	for _, s := range p.Segments {
		if s.Count > 0 {
			total += s.Count
			seen++
		}
	}
	var out []share
	x := 0.0
	for _, s := range p.Segments {
		if s.Count <= 0 {
			continue
		}
		width := least + (100-least*float64(seen))*float64(s.Count)/float64(total)
		out = append(out, share{class: s.Tone.class(), x: percent(x), width: percent(math.Min(width, 100-x))})
		x += width
	}
	return out
}

func percent(v float64) string {
	return strconv.FormatFloat(v, 'f', 2, 64) + "%"
}

// TextSpan is a stretch of a message's text; Filled marks words that came from a
// list or a contact.
type TextSpan struct {
	Text   string
	Filled bool
}

// Plain is a text without filled-in words.
func Plain(text string) []TextSpan {
	return []TextSpan{{Text: text}}
}

// BubbleProps describes a message as a phone shows it. Under is a line below,
// such as "2 parts".
type BubbleProps struct {
	ID, From, Under string
	Text            []TextSpan
}

// TimelineEvent is one event of a timeline. Time is for people, Stamp the same time
// as RFC 3339. Raw holds the provider's own words, shown small; Source a whole
// raw report, folded away. CopyID, where set, gets a copy button of its own.
type TimelineEvent struct {
	ID          string
	Tone        Tone
	Glyph       Glyph
	Title, Text string
	Time, Stamp string
	Raw         string
	Source      string
	CopyName    string // what CopyValue is, such as "Message ID"
	CopyValue   string
}

// KeyValue is one pair of a description list. View is shown instead of Text where
// it is set.
type KeyValue struct {
	Name, Text string
	View       templ.Component
	Number     bool
}

// Chip is a small word, a link where Href is set.
type Chip struct {
	Text, Href string
	Glyph      Glyph
}

// Tab is one of several views of the same thing, by link.
type Tab struct {
	Text, Href string
	Current    bool
	Count      int // shown while above 0
}

// EmptyProps describes a place where nothing is yet, and the one thing to do.
type EmptyProps struct {
	Glyph       Glyph
	Title, Text string
	Action      Link
}

// PagerProps describes the way to the rows before and after. Text says which
// are shown, such as "Messages 51 to 100 of 1,200"; an empty address hides its
// link.
type PagerProps struct {
	Text, Previous, Next string
}

func stepState(i, current int) string {
	if i < current {
		return "done"
	}
	return ""
}

func domID(parts ...any) string {
	words := make([]string, len(parts))
	for i, p := range parts {
		words[i] = fmt.Sprint(p)
	}
	return strings.Join(words, "-")
}

// An empty id would be an attribute without meaning, so it is left out.
func ident(id string) templ.Attributer {
	if id == "" {
		return templ.OrderedAttributes{}
	}
	return templ.OrderedAttributes{{Key: "id", Value: id}}
}

func current(here bool, value string) templ.Attributer {
	if !here {
		return templ.OrderedAttributes{}
	}
	return templ.OrderedAttributes{{Key: "aria-current", Value: value}}
}
