// Package rehearsal is what a rehearsal is: a draft's own list played through the
// sandbox before anything is sent, and what that foretells. It must never know how
// one is run, stored or shown: it is values, and arithmetic over them.
package rehearsal

import (
	"time"

	"smsdesk/internal/sms"
)

const (
	// MinRows is the shortest list that is worth one: below it a test message
	// tells more.
	MinRows = 20
	// MaxRows is the most rows that are rehearsed; of a longer list as many are
	// taken, evenly.
	MaxRows = 20_000
	// WatchRows are the made-up recipients of one that is watched.
	WatchRows = 200
	// MinReports is how many reports of Reach an account must have before shares
	// are foretold.
	MinReports = 500
	// Reach is how far back reports count, and Keep how long a rehearsal is kept.
	Reach = 90 * 24 * time.Hour
	Keep  = 7 * 24 * time.Hour
	// maxSpeed is how many times as fast as in life it goes at most, up to
	// fastRequests requests a minute: more would only measure this computer.
	maxSpeed     = 100
	fastRequests = 10_000
)

// Kind is which day is rehearsed.
type Kind string

// The kinds.
const (
	Usual Kind = "usual" // as the account's reports tell it
	Bad   Kind = "bad"   // with many faults
	Watch Kind = "watch" // made-up recipients that meet every fate
)

// State is where a rehearsal stands.
type State string

// The states.
const (
	Waiting     State = "waiting"
	Running     State = "running"
	Done        State = "done"
	Stopped     State = "stopped"     // a person stopped it
	Failed      State = "failed"      // it could not be played
	Interrupted State = "interrupted" // smsdesk ended in its middle
)

// Rehearsal is one rehearsal, from the order to its result.
type Rehearsal struct {
	ID         int64
	AccountID  int64
	CampaignID int64  // 0: made-up recipients
	Name       string // of the campaign
	By         sms.User
	Kind       Kind
	State      State
	All        int64 // messages of the campaign
	Rows       int64 // of those rehearsed
	Done       int64 // of those that have left
	CreatedAt  int64
	StartedAt  int64 // 0: it waits
	EndedAt    int64
	Result     Result
}

// Open says that it waits or is being played.
func (r Rehearsal) Open() bool { return r.State == Waiting || r.State == Running }

// Sampled says that not all of the list was played.
func (r Rehearsal) Sampled() bool { return r.Rows < r.All }

// Foretells says that its shares rest on the account's own reports.
func (r Rehearsal) Foretells() bool { return r.Kind == Usual && r.Result.Reports >= MinReports }

// Whole is a count of the rehearsed rows for the whole list.
func (r Rehearsal) Whole(n int64) int64 {
	if r.Rows == 0 || !r.Sampled() {
		return n
	}
	return (n*r.All + r.Rows/2) / r.Rows
}

// Takes is how long the whole list is foretold to take, from the first request
// to the last.
func (r Rehearsal) Takes() time.Duration {
	return time.Duration(r.Whole(r.Result.Took)) * time.Millisecond
}

// Result is what a rehearsal found.
type Result struct {
	Speed    int   // how many times as fast as in life it was played
	Reports  int64 // that the day rests on
	Requests int64
	Took     int64 // milliseconds, by the rehearsal's clock
	Parts    int64 // of the whole campaign
	// Cost is what the whole campaign costs, in hundredths, as it was reckoned
	// when the rehearsal was ordered; 0 where no price was known.
	CostLow, CostMiddle, CostHigh int64

	Tally     sms.Tally // of the rehearsed rows; what has no report is late
	Networks  []Network
	TooFast   int64 // requests answered 429
	Unreached int64 // connections that failed before a byte had left
	Lost      int64 // requests whose answer was lost
	Doubt     *Doubt
	Pauses    []string // why it paused, each time

	// Twice counts texts that the sandbox sent twice to a number, and Missing
	// messages that ended in no state: both are 0, or smsdesk has a mistake.
	Twice, Missing int64
	Steps          []Step
}

// Network is what one network was foretold.
type Network struct {
	Name                    string // "" where it is not known
	Rows, Delivered, Failed int64
}

// Doubt is what became of the messages whose answer was lost.
type Doubt struct {
	Messages   int64 // in doubt at first
	Settled    int64 // of those proved sent by their reports
	Row        int64 // one of them
	Recipients int   // of its request
	Reason     string
}

// Step is one stop of a rehearsal that is watched.
type Step struct {
	Name  string // StepStop and the others
	Tally sms.Tally
	// Settled of the messages in doubt were proved sent; Again may be sent again
	// and NotAgain not.
	Doubted, Settled, Again, NotAgain int64
}

// The stops of a rehearsal that is watched.
const (
	StepStop  = "stop"
	StepDoubt = "doubt"
	StepAgain = "again"
)

// Speed is how many times as fast as in life a rehearsal for an account with
// this request rate goes.
func Speed(perMinute int) int { return min(max(fastRequests/max(perMinute, 1), 1), maxSpeed) }

// Picks says whether the row at a place, from 0, of a list of so many is among
// those rehearsed.
func Picks(at, of int64) bool {
	if of <= MaxRows {
		return true
	}
	return (at+1)*MaxRows/of > at*MaxRows/of
}
