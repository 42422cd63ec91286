package sms

import (
	"slices"
	"strings"

	"smsdesk/internal/phone"
)

// State is where a message stands between us and the gateway. What the network
// did with it afterwards is its Status.
type State string

// The states of a message (internal/workers/README.md, States of a message).
const (
	Draft         State = "draft"
	Queued        State = "queued"
	Claimed       State = "claimed"
	Sending       State = "sending"
	Accepted      State = "accepted"
	Refused       State = "refused"
	InDoubt       State = "in_doubt"
	Held          State = "held"
	Skipped       State = "skipped"
	Cancelled     State = "cancelled"
	ClosedUnknown State = "closed_unknown"
	ClosedResent  State = "closed_resent"
)

// States lists every state once, in the order in which a message meets them.
func States() []State {
	return []State{Draft, Queued, Claimed, Sending, Accepted, Refused, InDoubt, Held, Skipped, Cancelled, ClosedUnknown,
		ClosedResent}
}

// next is the whole transition table. SQLite holds the same table in a trigger.
var next = map[State][]State{
	Draft:   {Queued, Cancelled, Skipped},
	Queued:  {Claimed, Cancelled, Skipped},
	Claimed: {Sending, Queued},
	Sending: {Accepted, Refused, InDoubt, Held, Queued},
	InDoubt: {Accepted, ClosedUnknown, ClosedResent},
	Held:    {Queued, ClosedUnknown, Cancelled},
}

// Next lists the states that may follow s; none for a final one.
func (s State) Next() []State { return slices.Clone(next[s]) }

// MayBecome says whether a message may go from s to t. The class is that of
// the attempt which moves it: leaving Sending for Queued is allowed only when
// the class proves that nothing was executed.
func (s State) MayBecome(t State, class Class) bool {
	return slices.Contains(next[s], t) && (s != Sending || t != Queued || class.NothingExecuted())
}

// Unsent says that the message is still ours to send: nothing of it has left.
func (s State) Unsent() bool { return s == Draft || s == Queued || s == Claimed }

// MayAsk says that the service can be asked what became of the message (§4.8):
// it gave an id for it.
func (m Message) MayAsk() bool { return m.State == Accepted && m.ProviderID != "" }

// Message is one text to one number.
type Message struct {
	ID         int64
	AccountID  int64
	CampaignID int64
	Row        int64  // row of the list it came from, 1 for the first typed number
	Number     string // MSISDN as digits with country code, no "+"
	Text       string
	Unicode    bool  // goes out with Is_Unicode
	Parts      int   // what is paid for it
	Call       int32 // the call of the campaign's plan, from 0
	State      State
	Reason     string // plain words or the provider's own, for refused, held, skipped…
	Code       string // the provider's error code as shown, "" when none
	AttemptID  int64  // the last attempt that held it, 0 when none
	ProviderID string // MessageId (§2.1), "" until accepted
	Evidence   string // how it became accepted: "" by the answer, "report", "person"
	Delivery   Delivery
	CreatedAt  int64
	SentAt     int64 // when the licence of its last attempt was given
	ChangedAt  int64
}

// Delivery is what is known of a message after the gateway accepted it.
type Delivery struct {
	Status    Status // "" until the first report
	ErrorCode string // the report's errorCode (§2.6) as given
	DoneDate  string // as given: its format is not specified
	Conflict  bool   // two different final statuses were reported
	Late      bool   // no final report within the account's limit
	KnownAt   int64  // when the report that says so came, or it was called late; 0: neither
}

// Extremes are the rows worth looking at before a campaign is sent; 0 where
// there is none.
type Extremes struct {
	Longest int64 // row of the message with the most parts, then the most letters
	Odd     int64 // first row that needs Unicode
}

// MessageFilter says which messages of a campaign are wanted, by id.
type MessageFilter struct {
	CampaignID int64
	Keys       []string // standing keys; none: all
	States     []State  // none: all
	Status     Status   // the last one reported, or NoReport; "": any
	After      int64    // ids above this
	Before     int64    // ids below this, nearest first turned round; 0: unused
	IDs        []int64  // only these (rows on screen); none: all
	Limit      int

	// What follows is for those that look for something in particular.
	Network string // as Network names it, or NoNetwork; "": any
	Text    string // part of the text, in any letter case; "": any
	Number  string // MSISDN; "": any
	Ends    string // last digits of the number; "": any
}

// NoNetwork stands in filters for numbers whose prefix tells no network.
const NoNetwork = "unknown"

// Searches says that the filter looks for something that no index knows.
func (f MessageFilter) Searches() bool {
	return f.Network != "" || f.Text != "" || f.Number != "" || f.Ends != ""
}

// Admits says whether a message with this number and text is looked for; the
// number itself is found by other means.
func (f MessageFilter) Admits(number, text string, networks *phone.Networks) bool {
	if f.Text != "" && !strings.Contains(strings.ToLower(text), strings.ToLower(f.Text)) {
		return false
	}
	switch f.Network {
	case "":
		return true
	case NoNetwork:
		return networks.Of(number) == ""
	}
	return networks.Of(number) == f.Network
}
