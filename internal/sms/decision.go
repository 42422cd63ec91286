package sms

import "fmt"

// Choice is what a person decides about a message that waits for a decision.
type Choice string

// The choices. The first three are for messages in doubt, the last two for held
// ones; ChooseClose is for both.
const (
	ChooseLater Choice = "later" // nothing happens
	ChooseSent  Choice = "sent"  // the service's support says that it was sent
	ChooseAgain Choice = "again" // a new message in a new campaign; this one is closed when that starts
	ChooseClose Choice = "close" // nobody will ever know
	ChooseQueue Choice = "queue" // a held message goes back into the queue
)

// SecondFrom is how many messages one person may mark as sent or send again
// within a day in one campaign; above it a second person has to agree
// (internal/workers/README.md, Evidence).
const SecondFrom = 100

// Becomes is the state to which a choice leads a message of state s; ok is
// false for a choice that this state does not have, or that a campaign that
// stands so does not have any more: nothing of a cancelled one is sent. A message
// that is sent again stays in doubt until its successor's campaign starts.
func (c Choice) Becomes(s State, of CampaignState) (to State, ok bool) {
	switch {
	case c == ChooseLater:
		return s, s == InDoubt || s == Held
	case c == ChooseAgain:
		return InDoubt, s == InDoubt
	case c == ChooseQueue:
		return Queued, s == Held && of != CampaignCancelled
	}
	to = map[Choice]State{ChooseSent: Accepted, ChooseClose: ClosedUnknown}[c]
	return to, (s == InDoubt || s == Held) && s.MayBecome(to, ClassDoubt)
}

// NeedsSecond says that the choice counts towards SecondFrom.
func (c Choice) NeedsSecond() bool { return c == ChooseSent || c == ChooseAgain }

// DecisionItem is what a person chose for one call's messages or for one message.
type DecisionItem struct {
	Attempt int64  `json:"a"`           // the call; 0 is none
	Message int64  `json:"m,omitempty"` // one message of it, 0: every one that has no choice of its own
	Seen    int    `json:"n,omitempty"` // how many messages of the call the person saw waiting; only where Message is 0
	Choice  Choice `json:"c"`
}

// Decision is one press of "Save decisions".
type Decision struct {
	ID         int64
	CampaignID int64
	AccountID  int64
	State      DecisionState
	N          int // messages marked as sent or sent again
	Choices    []DecisionItem
	By         User
	At         int64
	Second     User // who agreed, the zero User where nobody had to
	DecidedAt  int64
}

// DecisionResult is what became of a decision.
type DecisionResult struct {
	Decision Decision
	Campaign Campaign // the draft made for those to be sent again, zero when there are none
	Counts   map[Choice]int
	// Settled are the messages that reports settled before the decision came: it is
	// not carried out for them. Where nothing else was left, Decision.ID is 0.
	Settled int
}

// DecisionState is where a decision stands.
type DecisionState string

// The states of a decision.
const (
	DecisionProposed DecisionState = "proposed" // waits for a second person
	DecisionDone     DecisionState = "done"
	DecisionDropped  DecisionState = "dropped" // taken back, or overtaken
)

// StaleDecisionError is the error of a decision about messages that somebody
// has decided already, or that are not those that were shown. Nothing of it was
// done. What reports alone settled is no such error (DecisionResult.Settled).
type StaleDecisionError struct {
	Messages []Message // the first few
}

// Error says how many.
func (o StaleDecisionError) Error() string {
	return fmt.Sprintf("%v: %d messages have been decided in the meantime", ErrConflict, len(o.Messages))
}

// Unwrap makes it an ErrConflict.
func (o StaleDecisionError) Unwrap() error { return ErrConflict }

// DoubtGroup is one call with the messages of a campaign that wait for a
// decision because of it.
type DoubtGroup struct {
	Attempt  Attempt
	Messages []Message
	Before   Balance            // last reading before the call, zero where there is none
	After    Balance            // first reading after it
	Hints    map[int64][]Hint   // by message: reports that may be about it
	Again    map[int64]Campaign // by message: the draft in which it is to be sent again
}

// Hint is a report that may be about a message in doubt but does not prove it.
type Hint struct {
	Report       StoredReport
	Fit          Fit
	Young        bool // it may yet be matched by its id
	OtherMatches int  // messages that it may be about as well
}
