package views

import (
	"time"

	"smsdesk/internal/sms"
)

// CalendarPath is where campaigns stand by day.
const CalendarPath = "/calendar"

// planTabs are the three ways to look at campaigns.
func planTabs(current string) []Tab {
	return []Tab{{Text: "Campaigns", Href: CampaignsPath, Current: current == "campaigns"},
		{Text: "Calendar", Href: CalendarPath, Current: current == "calendar"},
		{Text: "Series", Href: SeriesPath, Current: current == "series"}}
}

// CalendarPage is a month or a week of campaigns.
type CalendarPage struct {
	Formatter
	Account sms.Account
	Week    bool // one week, else a month
	First   time.Time
	Weeks   [][]CalendarDay
	Prev    string // the day to which the links lead
	Next    string
	Price   Price
	CanSend bool
}

// CalendarDay is one day with what goes on it.
type CalendarDay struct {
	Date  time.Time
	Other bool // belongs to the month before or after
	Hours string
	// Closed says that nothing may be sent on this day.
	Closed bool
	Items  []CalendarItem
}

// CalendarItem is a campaign, or a run of a series that is not prepared yet.
type CalendarItem struct {
	At       time.Time
	Name     string
	Href     string
	Move     string // where its time is changed, "" where it cannot be
	Campaign *sms.Campaign
	Series   bool
	Count    int64 // recipients
	Parts    int64
	Note     string // what stands in its way, a sentence without its point
}

// Title is the month, or the days of the week.
func (p CalendarPage) Title() string {
	if !p.Week {
		return p.First.Format("January 2006")
	}
	last := p.First.AddDate(0, 0, 6)
	if last.Month() == p.First.Month() {
		return p.First.Format("2") + " to " + last.Format("2 January 2006")
	}
	return p.First.Format("2 January") + " to " + last.Format("2 January 2006")
}

func (p CalendarPage) address(week bool, at string) string {
	to := With(CalendarPath, "at", at)
	if week {
		return With(to, "view", "week")
	}
	return to
}

// other leads to the same days as a month, or as a week.
func (p CalendarPage) other() Link {
	at := p.First
	if p.Week {
		return Link{Text: "Show the month", Href: p.address(false, at.AddDate(0, 0, 3).Format("2006-01-02"))}
	}
	if p.First.Month() == p.Now.Month() && p.First.Year() == p.Now.Year() {
		at = p.Now
	}
	return Link{Text: "Show the week", Href: p.address(true, at.Format("2006-01-02"))}
}

func (p CalendarPage) previous() string {
	if p.Week {
		return "Week before"
	}
	return "Month before"
}

func (p CalendarPage) following() string {
	if p.Week {
		return "Week after"
	}
	return "Month after"
}

// isToday says that a day is the present one.
func (p CalendarPage) isToday(d CalendarDay) bool { return midnight(d.Date).Equal(midnight(p.Now)) }

func (d CalendarDay) class(today bool) string {
	class := "on-day"
	if d.Other {
		class += " other"
	}
	if d.Closed {
		class += " closed"
	}
	if today {
		class += " today"
	}
	if len(d.Items) == 0 {
		class += " none"
	}
	return class
}

// facts are how many, and what they cost.
func (p CalendarPage) facts(i CalendarItem) string {
	if i.Count == 0 {
		return ""
	}
	words := Plural(int(i.Count), "recipient", "recipients")
	if p.Price.Known() {
		words += ", " + reckoned(p.Account.Currency, p.Price.of(i.Parts))
	}
	return words
}

func (i CalendarItem) status() (Tone, Glyph, string) {
	c := i.Campaign
	switch {
	case c == nil:
		return ToneMute, GlyphRefresh, "Series"
	case c.Held():
		return ToneWarn, GlyphPaused, "Held"
	case c.State == sms.CampaignAwaiting:
		return ToneWarn, GlyphApproval, "Waits for approval"
	case c.State == sms.CampaignScheduled:
		return ToneInfo, GlyphScheduled, "Scheduled"
	case c.State == sms.CampaignRunning:
		return ToneInfo, GlyphSending, "Sending"
	case c.State == sms.CampaignFinished:
		return ToneMute, GlyphTick, "Finished"
	case c.State == sms.CampaignCancelled:
		return ToneMute, GlyphStopped, "Cancelled"
	}
	return ToneWarn, GlyphPaused, "Paused"
}

// total says how much is to come on the days shown.
func (p CalendarPage) total() string {
	var n, parts int64
	campaigns := 0
	for _, w := range p.Weeks {
		for _, d := range w {
			for _, i := range d.Items {
				if !d.Other && i.At.After(p.Now) {
					campaigns, n, parts = campaigns+1, n+i.Count, parts+i.Parts
				}
			}
		}
	}
	if campaigns == 0 {
		return "Nothing is to come on these days"
	}
	words := "To come: " + Plural(campaigns, "campaign", "campaigns") + " to " + Plural(int(n), "recipient", "recipients")
	if p.Price.Known() {
		words += ", " + reckoned(p.Account.Currency, p.Price.of(parts))
	}
	return words
}
