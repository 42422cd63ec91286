package views

import (
	"sort"
	"strconv"

	"smsdesk/internal/sms"
	"smsdesk/internal/ussd"
)

// SessionsPage is the log of USSD sessions.
type SessionsPage struct {
	Formatter
	Kind        string // "", "open" or "slow"
	Rows        []ussd.Session
	Names       map[int64]string // of menus
	Open        int64
	Slow        int // sessions with a slow answer, as far as they are looked at
	Next, First string
	Mark        LiveMarkProps
	Renew       Refresh
	Lists       []JoinedList
	Days        string // how long sessions are kept
	MayKeep     bool
	MayExport   bool
	NoAccount   bool
	Bad         sms.Invalid
}

// JoinedList is a list that callers joined by a menu.
type JoinedList struct {
	Name, Href string
	People     int64
}

func (p SessionsPage) menu(s ussd.Session) string {
	if s.MenuID == 0 {
		return "No menu"
	}
	name := p.Names[s.MenuID]
	if name == "" {
		name = "A deleted menu"
	}
	if s.Version == 0 {
		name += ", draft"
	}
	return name
}

func (p SessionsPage) empty(f PageFrame) EmptyProps {
	switch p.Kind {
	case "open":
		return EmptyProps{Glyph: GlyphUSSD, Title: "No open sessions"}
	case "slow":
		return EmptyProps{Glyph: GlyphUSSD, Title: "No slow answers", Text: "All answers took less than a second."}
	}
	return EmptyProps{Glyph: GlyphUSSD, Title: "No sessions yet.", Text: "Dial in the simulator.",
		Action: inSimulator(f, 0)}
}

func sessionChips(here string, open int64) (chips []Chip) {
	for _, k := range [][2]string{{"", "All"}, {"open", "In progress (" + Number(int(open)) + ")"},
		{"slow", "Slowest answers"}} {
		c := Chip{Text: k[1], Href: With(SessionsPath, "kind", k[0])}
		if k[0] == here {
			c.Href, c.Glyph = "", GlyphTick
		}
		chips = append(chips, c)
	}
	return chips
}

func ended(s ussd.Session) (Tone, Glyph, string) {
	switch s.Ended {
	case "":
		return ToneInfo, GlyphSending, "In progress"
	case ussd.EndedByMenu:
		return ToneOK, GlyphDelivered, "Completed"
	case ussd.EndedByCaller:
		return ToneMute, GlyphStopped, "Caller hung up"
	case ussd.EndedByService:
		return ToneMute, GlyphStopped, "Network timeout or end"
	case ussd.EndedByTime:
		return ToneWarn, GlyphWaiting, "No answer for 3 minutes"
	case ussd.EndedByBegin:
		return ToneMute, GlyphStopped, "Caller redialled"
	case ussd.EndedByRestart:
		return ToneWarn, GlyphRefresh, "smsdesk restarted"
	}
	return ToneBad, GlyphFailed, "smsdesk error"
}

// SessionPage is one session as a conversation.
type SessionPage struct {
	Formatter
	ussd.Session
	Menu   string
	Titles map[string]string // of screens, by key
	Steps  []ussd.Step
	Saved  []ussd.SavedAnswer
}

func (p SessionPage) terms() []KeyValue {
	return []KeyValue{{Name: "Number", Text: or(p.Phone(p.Number), "unknown")},
		{Name: "Network", Text: or(p.Network, "unknown")}, {Name: "Dialled", Text: "*" + p.Code + "#"},
		{Name: "Menu", Text: p.Menu}, {Name: "Began", Text: p.When(p.BegunAt)}, {Name: "Slowest answer", Text: micros(p.Slowest)}}
}

// provided is what the begin request carried beside, as it came.
func (p SessionPage) provided() (list []KeyValue) {
	for _, t := range []KeyValue{{Name: "Session at the provider", Text: p.ServiceID}, {Name: "USSD id", Text: p.USSDID},
		{Name: "Status", Text: p.Status}, {Name: "backend.cuap.body", Text: p.MaskNumbers(p.Body)}} {
		if t.Text != "" {
			list = append(list, t)
		}
	}
	return list
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// AnswersPage shows where callers leave a menu, and what they answered.
type AnswersPage struct {
	Formatter
	ussd.Draft
	Map       MenuMap
	Drops     []ScreenDrop
	Counts    []ussd.AnswerCount // by name, the most frequent first
	Names     []string           // of answers: the columns
	Rows      []AnswerRow
	More      bool
	Next      string
	MayExport bool
}

// ScreenDrop is a screen with how many saw it and how many left there.
type ScreenDrop struct {
	Title string
	ussd.Drop
}

// AnswerRow is what one caller answered, in the order of the columns.
type AnswerRow struct {
	Session int64
	Number  string
	At      int64
	Answers []string
}

// AnswerNames are the names of the answers that a menu keeps, and of those that
// earlier versions kept.
func AnswerNames(m ussd.Menu, rows [][]ussd.SavedAnswer) []string {
	var names []string
	known := map[string]bool{}
	add := func(n string) {
		if !known[n] {
			known[n] = true
			names = append(names, n)
		}
	}
	for _, s := range m.Screens {
		if s.Record && s.Save != "" {
			add(s.Save)
		}
	}
	var old []string
	for _, r := range rows {
		for _, a := range r {
			if !known[a.Name] {
				known[a.Name] = true
				old = append(old, a.Name)
			}
		}
	}
	sort.Strings(old)
	return append(names, old...)
}

// NewAnswerRow orders one session's answers by the columns.
func NewAnswerRow(names []string, answers []ussd.SavedAnswer) AnswerRow {
	row := AnswerRow{Answers: make([]string, len(names))}
	for _, a := range answers {
		row.Session, row.Number, row.At = a.SessionID, a.Number, max(row.At, a.At)
		for i, n := range names {
			if n == a.Name {
				row.Answers[i] = a.Text
			}
		}
	}
	return row
}

// answerBars are the answers that were given most, of each name.
type answerBars struct {
	Name  string
	Total int64
	Rows  []ussd.AnswerCount
}

// answersShown is how many answers of a name have a bar of their own.
const answersShown = 6

func (p AnswersPage) bars() (list []answerBars) {
	for _, c := range p.Counts {
		if len(list) == 0 || list[len(list)-1].Name != c.Name {
			list = append(list, answerBars{Name: c.Name})
		}
		b := &list[len(list)-1]
		b.Total += c.Callers
		if len(b.Rows) < answersShown {
			b.Rows = append(b.Rows, c)
		} else {
			last := &b.Rows[answersShown-1]
			last.Text, last.Callers = "other", last.Callers+c.Callers
		}
	}
	return list
}

// width is how long the bar of an answer is, in percent of the longest.
func (b answerBars) width(c ussd.AnswerCount) string {
	most := int64(1)
	for _, r := range b.Rows {
		most = max(most, r.Callers)
	}
	return inPercent(100 * float64(c.Callers) / float64(most))
}

func stepTitle(p SessionPage, s ussd.Step) string {
	if t := p.Titles[s.Screen]; t != "" {
		return t
	}
	return "Step " + strconv.Itoa(s.No)
}

func savedTerms(p SessionPage) (list []KeyValue) {
	for _, s := range p.Saved {
		list = append(list, KeyValue{Name: s.Name, Text: p.MaskNumbers(s.Text)})
	}
	return list
}
