package series

import (
	"fmt"
	"time"

	"smsdesk/internal/sms"
)

// State is how a series stands.
type State string

// The states.
const (
	Active State = "active"
	Paused State = "paused" // smsdesk paused it, or a person; Pause says why
	Ended  State = "ended"  // its last run has been made
	Stop   State = "stopped"
)

// Series is a campaign that repeats: to an audience as it is on the day of each
// run, with a text that people agreed to.
type Series struct {
	ID        int64
	UID       string // random; names its runs in the journal, so that none counts as a repeat of another
	AccountID int64
	Name      string
	SenderID  string
	Template  string // name of the service's template whose text Text is, "" for own text
	Text      string // with marks, as it was agreed to
	Flash     bool
	Audience  int64
	// AudienceName is for people; it is read with the series.
	AudienceName string
	Rule         Rule
	// Ceiling is the most that one run may cost, in hundredths of the currency; 0: no
	// bound.
	Ceiling     int64
	State       State
	Pause       string // why it is paused, a sentence
	Runs        int    // so many were begun, the skipped ones without a run left out
	LastDay     string // the day of the latest run; the next one is later
	NextAt      int64  // when the next run goes (ms), 0: there is none
	Version     int64
	CreatedBy   int64 // in whose name it sends
	CreatedName string
	CreatedAt   int64
	ChangedAt   int64
}

// RunState is how a run stands.
type RunState string

// The states of a run.
const (
	Making  RunState = "making"  // its list is checked and made into a campaign
	Made    RunState = "made"    // its campaign is scheduled, or waits for approval
	Asking  RunState = "asking"  // a person decides; Why says what about
	Skipped RunState = "skipped" // nothing was sent; Why says why
)

// Run is one time that a series goes.
type Run struct {
	SeriesID   int64
	N          int // from 1
	Day        string
	At         sms.Schedule
	State      RunState
	Why        string // a sentence, "" while nothing is unusual
	ListUID    string
	CampaignID int64
	LeftOut    int64 // rows that could not be sent
	ChangedAt  int64
}

// OlderState says why a series is paused after an older state of the data came back.
const OlderState = "An older state of smsdesk came back. Check which runs were sent, then resume"

const (
	// Lead is how long before its time a run is made, and ApprovalLead how long
	// where a second person may have to approve it.
	Lead         = time.Hour
	ApprovalLead = 3 * 24 * time.Hour
	// MaxLate is how late a run still goes by itself.
	MaxLate = 15 * time.Minute
)

// Next is the next day of the series that is not begun; ok is false where there is
// none. Skipped days before it are passed over.
func (s Series) Next() (d Date, ok bool) {
	for _, d := range s.Rule.Dates(s.LastDay, s.Runs, MostDays) {
		if !d.Skipped {
			return d, true
		}
	}
	return Date{}, false
}

// Begin takes the day as the next run.
func (s *Series) Begin(d Date) Run {
	s.Runs++
	s.LastDay = d.Day
	s.Look()
	return Run{SeriesID: s.ID, N: s.Runs, Day: d.Day, At: d.At, State: Making}
}

// Look renews when the next run goes and ends the series after its last.
func (s *Series) Look() {
	next, ok := s.Next()
	s.NextAt = next.At.At
	if !ok && s.State == Active {
		s.State = Ended
	}
}

// PauseFor pauses the series for a reason.
func (s *Series) PauseFor(why string) { s.State, s.Pause = Paused, why }

// Late says that a run was missed by more than MaxLate.
func (r Run) Late(now time.Time) bool { return now.Sub(time.UnixMilli(r.At.At)) > MaxLate }

// MissedSentence asks about a run that was missed.
func (r Run) MissedSentence() string {
	at := r.At.Time()
	return fmt.Sprintf("It was due on %s at %s, but smsdesk was not running or could not send. It is more than %d minutes "+
		"late, so someone has to decide whether to send it now", at.Format("Monday 2 January"), at.Format("3:04pm"),
		int(MaxLate/time.Minute))
}

// Open says that the run still needs work or an answer.
func (r Run) Open() bool { return r.State == Making || r.State == Asking }

// CampaignName names the campaign of a run, so that two of them can be told apart.
func (s Series) CampaignName(r Run) string {
	const most = 100 // characters, as of every campaign
	tail := ", " + r.At.Time().Format("2 January 2006")
	name := []rune(s.Name)
	return string(name[:min(len(name), most-len(tail))]) + tail
}

// Token is what makes a run's campaign one, whoever makes it and how often.
func Token(uid string, n int) string { return fmt.Sprintf("series %s run %d", uid, n) }
