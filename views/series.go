package views

import (
	"strconv"
	"time"

	"smsdesk/internal/series"
	"smsdesk/internal/sms"
)

// SeriesPath is where the series of an account are listed.
const SeriesPath = "/series"

// SeriesOne is the page of a series, or one of its orders.
func SeriesOne(of int64, order string) string { return SeriesPath + "/" + id(of) + order }

// SeriesListPage is every series of the account.
type SeriesListPage struct {
	Formatter
	CanSend bool
	Rows    []series.Series
}

// SeriesForm is a new series as it is typed.
type SeriesForm struct {
	Formatter
	Account                sms.Account
	Senders                []string
	Templates              []sms.Template
	Audiences              []sms.Audience
	Columns                []sms.ContactColumn
	Name, SenderID         string
	Template, Text         string // the template's name
	Audience               int64
	Flash                  bool
	Rule                   series.Rule
	Step, Time, MonthDay   string // as typed
	Ends                   string // "until" or "count"
	Until, Count, Ceiling  string // as typed
	Token                  string
	Errors                 sms.Invalid
	Dates                  []series.Date // the next runs, once the form was reviewed
	Recipients, PartsFirst int64         // of the audience as it is now; parts of one run, about
	Price                  Price
}

// Reviewed says that the page asks for the last yes.
func (p SeriesForm) Reviewed() bool { return len(p.Dates) > 0 }

// Title is the page's heading.
func (p SeriesForm) Title() string {
	if p.Reviewed() {
		return "Check the series"
	}
	return "New series"
}

func (p SeriesForm) field(name, label, value string) Field {
	return Field{Name: name, Label: label, Value: value, Error: p.Errors[name]}
}

func (p SeriesForm) senders() []Option {
	list := make([]Option, len(p.Senders))
	for i, s := range p.Senders {
		list[i] = Option{Value: s, Label: s}
	}
	return list
}

func (p SeriesForm) templates() []Option {
	list := []Option{{Label: "Own text, below"}}
	for _, t := range p.Templates {
		list = append(list, Option{Value: t.Name, Label: Shorten(t.Name, 60)})
	}
	return list
}

func (p SeriesForm) audiences() []Option {
	list := make([]Option, len(p.Audiences))
	for i, a := range p.Audiences {
		list[i] = Option{Value: id(a.ID), Label: Shorten(a.Name, 60)}
	}
	return list
}

func (p SeriesForm) audienceName() string {
	for _, a := range p.Audiences {
		if a.ID == p.Audience {
			return a.Name
		}
	}
	return ""
}

func (p SeriesForm) marksHint() string {
	words := "##Name## stands for the contact's name"
	for i, c := range p.Columns {
		if i == 4 {
			break
		}
		words += ", ##" + c.Name + "##"
	}
	return words + "."
}

func (p SeriesForm) units() []Option {
	return []Option{{Value: string(series.Daily), Label: "days"},
		{Value: string(series.Weekly), Label: "weeks"},
		{Value: string(series.Monthly), Label: "months"}}
}

// weekday is one box of the week, Monday first.
type weekday struct {
	Name, Words string
	Checked     bool
}

func (p SeriesForm) weekdays() (list []weekday) {
	for i := range 7 {
		d := time.Weekday((i + 1) % 7)
		list = append(list, weekday{"weekday-" + strconv.Itoa(int(d)), d.String(), p.Rule.Weekdays[d]})
	}
	return list
}

func (p SeriesForm) monthDays() []Option {
	list := []Option{{Value: "last", Label: "The last day"}}
	for n := 1; n <= 31; n++ {
		list = append(list, Option{Value: strconv.Itoa(n), Label: strconv.Itoa(n)})
	}
	return list
}

func (p SeriesForm) shorts() []Option {
	return []Option{{Value: string(series.LastDay), Label: "Send on the last day of that month"},
		{Value: string(series.NoRun), Label: "Send nothing in that month"}}
}

func (p SeriesForm) ends() []Option {
	return []Option{{Value: "until", Label: "On a date"}, {Value: "count", Label: "After a number of times"}}
}

func (p SeriesForm) terms() []KeyValue {
	list := []KeyValue{{Name: "When", Text: p.Rule.Words() + ", " + p.Rule.Ends()},
		{Name: "Time zone", Text: ZoneWords(p.Now)},
		{Name: "Audience", Text: p.audienceName() + ", " + Plural(int(p.Recipients), "contact", "contacts") + " now"},
		{Name: "Sender ID", Text: p.SenderID}}
	if p.Template != "" {
		list = append(list, KeyValue{Name: "Template", Text: p.Template})
	}
	if p.Price.Known() {
		list = append(list, KeyValue{Name: "A run costs about", Text: amount(p.Account.Currency, p.Price.of(p.PartsFirst))})
	}
	if p.Rule.Until == "" || p.Ceiling != "" {
		ceiling := "No limit"
		if p.Ceiling != "" {
			ceiling = p.Account.Currency + p.Ceiling
		}
		list = append(list, KeyValue{Name: "A run may cost at most", Text: ceiling})
	}
	return list
}

// needsApproval says that the audience as it is now needs a second person's yes.
func (p SeriesForm) needsApproval() bool {
	return p.Account.ApproveAbove > 0 && p.Recipients > p.Account.ApproveAbove
}

// SeriesPage is one series with its runs.
type SeriesPage struct {
	Formatter
	Series  series.Series
	Account sms.Account
	CanSend bool
	Runs    []SeriesRun // the latest first
	Coming  []series.Date
	Moving  string // the day whose time is being changed, "" for none
	Day     string // as typed
	Time    string
	Ceiling string // as typed
	Errors  sms.Invalid
	People  int64 // in the audience now
}

// SeriesRun is a run with the campaign that was made for it.
type SeriesRun struct {
	series.Run
	Campaign *sms.Campaign
	Tally    sms.Tally
}

func seriesTag(s series.Series) (Tone, Glyph, string) {
	switch s.State {
	case series.Active:
		return ToneOK, GlyphScheduled, "Active"
	case series.Paused:
		return ToneWarn, GlyphPaused, "Paused"
	case series.Stop:
		return ToneMute, GlyphStopped, "Stopped"
	}
	return ToneMute, GlyphTick, "Ended"
}

func runTag(r series.Run) (Tone, Glyph, string) {
	switch r.State {
	case series.Making:
		return ToneInfo, GlyphSending, "Being prepared"
	case series.Asking:
		return ToneWarn, GlyphDecide, "Needs your decision"
	case series.Skipped:
		return ToneMute, GlyphStopped, "Left out"
	}
	return ToneOK, GlyphTick, "Prepared"
}

// nextWords are when the next run goes.
func (o Formatter) nextWords(s series.Series) string {
	if s.NextAt == 0 || s.State != series.Active {
		return "–"
	}
	return o.When(s.NextAt)
}

func (p SeriesPage) terms() []KeyValue {
	s := p.Series
	list := []KeyValue{{Name: "When", Text: s.Rule.Words() + ", " + s.Rule.Ends()},
		{Name: "Next run", Text: p.nextWords(s)},
		{Name: "Audience", Text: s.AudienceName + ", " + Plural(int(p.People), "contact", "contacts") + " now"},
		{Name: "Sender ID", Text: s.SenderID}}
	if s.Template != "" {
		list = append(list, KeyValue{Name: "Template", Text: s.Template})
	}
	if s.Ceiling > 0 {
		list = append(list, KeyValue{Name: "A run may cost at most", Text: Money(p.Account.Currency, s.Ceiling)})
	}
	return append(list, KeyValue{Name: "Sends in the name of", Text: s.CreatedName})
}

// asks says that a person decides about a run whose campaign has not been made.
func (r SeriesRun) asks() bool { return r.State == series.Asking && r.CampaignID == 0 }

// drafted says that a person decides about a run by its draft.
func (r SeriesRun) drafted() bool {
	return r.State == series.Asking && r.Campaign != nil && r.Campaign.MayStart()
}

func (p SeriesPage) live() bool {
	return p.Series.State == series.Active || p.Series.State == series.Paused
}

// dateWords are a day of a rule as people read it.
func (o Formatter) dateWords(d series.Date) string {
	if d.Skipped {
		at, err := time.Parse("2006-01-02", d.Day)
		if err != nil {
			return d.Day
		}
		return at.Format("Monday 2 January 2006")
	}
	at := d.At.Time()
	return at.Format("Monday 2 January 2006") + ", " + Clock(at)
}
