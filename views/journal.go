package views

import (
	"strconv"
	"time"

	"smsdesk/internal/health"
	"smsdesk/internal/sms"
)

// JournalPage is what an administrator sees of the journal, and what is asked
// when an older state came back.
type JournalPage struct {
	Formatter
	Question   *health.Question // nil where journal and database agree
	Doing      bool             // an answer is being carried out
	Problem    string           // why the last answer was not carried out
	Stuck      string           // why the journal cannot be written
	Folder     string
	Shared     string // "yes": it is on the disk of the data
	Gaps       []health.JournalGap
	Remembered []health.RememberedSend
	Live       Refresh
	Bad        sms.Invalid
}

// Mark tells the sides of the page apart.
func (p JournalPage) Mark() string {
	switch {
	case p.Doing:
		return "doing"
	case p.Question != nil:
		return string(p.Question.Relation) + "-" + strconv.FormatInt(p.Question.Messages, 10)
	case p.Stuck != "":
		return "stuck"
	}
	return "agrees"
}

func (p JournalPage) moment(ms int64) string { return health.Moment(ms, p.Now.Location()) }

// span is when something was sent.
func (p JournalPage) span(r health.RememberedSend) string {
	first, last := p.When(r.FirstAt), p.When(r.LastAt)
	if first == last {
		return first
	}
	return first + " to " + last
}

func sendName(r health.RememberedSend) string {
	if r.Name == "" {
		return "No longer known"
	}
	return r.Name
}

func sendBy(r health.RememberedSend) string {
	if r.StartedName == "" {
		return "Not known"
	}
	return r.StartedName
}

// back is how the newer state is put back, by what is the matter.
func (p JournalPage) back() string {
	relation := p.Question.Relation
	if relation == health.RelationCopy {
		relation = p.Question.Beneath
	}
	switch relation {
	case health.RelationBehind:
		return "Put the newest journal into the folder below. smsdesk looks every few seconds and continues " +
			"automatically once it fits. If the data folder is the wrong one, stop smsdesk, put the newest data folder back and start it again."
	case health.RelationForeign:
		return "Put this desk's own journal into the folder below, and its own smsdesk.key beside the database. smsdesk " +
			"looks every few seconds and continues automatically once they fit."
	}
	return "Stop smsdesk, put the newest data folder back and start it again. Nothing has to be answered then."
}

// newest is the last accepted older state while people are still warned of it.
func (p JournalPage) newest() *health.JournalGap {
	if len(p.Gaps) > 0 && p.Gaps[0].Open(p.Now) {
		return &p.Gaps[0]
	}
	return nil
}

// until is the time after which nothing is known.
func (p JournalPage) until(g health.JournalGap) string {
	if g.KnownUntil == 0 {
		return p.moment(g.CopyAt)
	}
	return p.moment(g.KnownUntil)
}

// ended says how the warnings about an accepted state ended, or will.
func (p JournalPage) ended(g health.JournalGap) string {
	switch {
	case g.ClosedBy != "":
		return "Until " + p.When(g.ClosesAt) + ": " + g.ClosedBy + " said that nothing else was sent"
	case g.Open(p.Now):
		return "Until " + p.When(g.ClosesAt)
	}
	return "Ended " + p.When(g.ClosesAt)
}

// dayMark is a day in an address.
func dayMark(t time.Time) string { return t.Format(time.DateOnly) }

func dayWords(t time.Time) string { return t.Format("2 January 2006") }

// daysMost is how many days are offered to be forgotten.
const daysMost = 31

// days are those of which something is remembered, the latest first.
func (p JournalPage) days() []time.Time {
	seen := map[string]bool{}
	var list []time.Time
	for _, r := range p.Remembered {
		zone := p.Now.Location()
		first := dayOf(time.UnixMilli(r.FirstAt).In(zone))
		for d := dayOf(time.UnixMilli(r.LastAt).In(zone)); !d.Before(first) && len(list) < daysMost; d = d.AddDate(0, 0, -1) {
			if !seen[dayMark(d)] {
				seen[dayMark(d)] = true
				list = append(list, d)
			}
		}
	}
	return list
}

func dayOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

// ForgetPage asks before something that was remembered is forgotten.
type ForgetPage struct {
	Day       time.Time
	Campaigns []health.RememberedSend // of which something is remembered on that day
}

// Forgetting is that question about one day.
func (p JournalPage) Forgetting(from, before time.Time) ForgetPage {
	f := ForgetPage{Day: from}
	for _, r := range p.Remembered {
		if r.FirstAt < before.UnixMilli() && r.LastAt >= from.UnixMilli() {
			f.Campaigns = append(f.Campaigns, r)
		}
	}
	return f
}

// ContinuePage asks before a campaign is continued of which more may have been
// sent than is known.
type ContinuePage struct {
	Campaign sms.Campaign
	Warning  string
}

// Repeat is what has to be said of a state that was lost before something is
// sent, and the person's tick. Without a warning nothing is asked.
type Repeat struct {
	Warning string
	Ticked  bool
}

// sentLines are the recipients who are left out because a campaign that is not
// known here has sent them the same text.
func (p ConfirmPage) sentLines() []string {
	var lines []string
	for _, r := range p.Out.Sent {
		by := "a campaign whose name is no longer known"
		if r.Name != "" {
			by = "“" + r.Name + "”"
		}
		lines = append(lines, Plural(int(r.Messages), "recipient is", "recipients are")+" left out: sent on "+
			dayWords(time.UnixMilli(r.LastAt).In(p.Now.Location()))+" by "+by+", which this copy of the database does not know.")
	}
	return lines
}
