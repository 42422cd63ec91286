package sms

import (
	"strings"
	"time"

	"smsdesk/internal/phone"
)

// AttemptState is the state of one call that may send messages.
type AttemptState string

// The states of an attempt (internal/workers/README.md, States of a message).
const (
	AttemptPrepared AttemptState = "prepared"
	AttemptSending  AttemptState = "sending"
	AttemptAccepted AttemptState = "accepted"
	AttemptPartial  AttemptState = "partial"
	AttemptNotSent  AttemptState = "not_sent"
	AttemptHeld     AttemptState = "held"
	AttemptInDoubt  AttemptState = "in_doubt"
	AttemptReleased AttemptState = "released"
)

// Class is what the observed end of a call allows (internal/workers/README.md, What may be sent again).
type Class string

// The classes. Everything that is not proven to be another class is ClassDoubt
// (doubt.go).
const (
	ClassAnswered    Class = "A"  // a valid success answer; judged row by row
	ClassNothingLeft Class = "P"  // not one request byte left this machine
	ClassRate        Class = "C"  // HTTP 429 (§8)
	ClassListed      Class = "C'" // codes 001, 003, 007, 008, 010 without Data (§7)
	ClassHold        Class = "H"  // an answer that nobody documented; a person decides
)

// NothingExecuted says that the class proves that the service executed
// nothing, so that the same messages may be sent in another attempt.
func (c Class) NothingExecuted() bool {
	return c == ClassNothingLeft || c == ClassRate || c == ClassListed
}

// CallKind is the form in which a call carries messages.
type CallKind string

// The forms of a send call.
const (
	CallText  CallKind = "text"  // POST /SendSMS, one text to many numbers (§4.2)
	CallPairs CallKind = "pairs" // GET /SendBulkSMS, a text per number (§4.4)
	CallGroup CallKind = "group" // POST /SendSMS with GroupId, numbers unknown to us (§4.2)
)

// Recipient is one message of a call.
type Recipient struct {
	MessageID int64 // ours
	Number    string
	Text      string // used by CallPairs only
}

// Call is the content of one send call.
type Call struct {
	Kind       CallKind
	SenderID   string
	Text       string
	Recipients []Recipient // empty for CallGroup
	Unicode    bool
	Flash      bool
	SchedTime  time.Time // zero: now. Written in the account's zone
	GroupID    string
}

// Attempt is one call as remembered.
type Attempt struct {
	ID         int64
	UID        string // random; names the attempt in the dispatch journal
	AccountID  int64
	CampaignID int64
	Epoch      int64
	State      AttemptState
	Canary     bool
	Call       Call
	Recipients int
	Messages   []int64 // ours; filled in by a claim only
	Class      Class
	HTTPStatus int
	Code       string
	Reason     string
	Excerpt    string
	Written    int64 // request bytes counted on the raw socket
	PreparedAt int64
	LicensedAt int64
	JournalSeq int64 // number of its licence's line in the journal; 0: none
	EndedAt    int64
}

// ClaimOrder asks for a call's worth of messages of one account.
type ClaimOrder struct {
	AccountID int64
	Epoch     int64 // the lease under which is asked
	After     int64 // bulk campaigns take turns: the first one with a higher id is served
	Urgent    bool  // urgent campaigns may be served; they come first
	Bulk      bool  // the others may be served
	CallLimit int   // most recipients of a call
	// Fill chooses of messages that could go together, at most limit, those that
	// one call carries, the first among them, and its form.
	Fill func(call Call, messages []Recipient, limit int) (CallKind, []Recipient)
}

// Claim is what came of a ClaimOrder.
type Claim struct {
	Attempt *Attempt   // nil: there was nothing to claim
	Urgent  bool       // it is of an urgent campaign
	Changed []int64    // campaigns that changed on the way: messages left out, paused, finished
	Paused  []Campaign // those that were paused, each once
}

// Outcome is what was observed of a call.
type Outcome struct {
	Class       Class
	HTTPStatus  int
	Code        string // the provider's own, "" when the answer carried none
	Fault       Fault  // for ClassListed
	Description string // ErrorDescription as given
	Rows        []ResultRow
	Reason      string        // what happened, in plain words, no secrets
	Excerpt     string        // at most 2 KiB of the answer, redacted
	Written     int64         // request bytes that left
	RetryAfter  time.Duration // for ClassRate; 0 when the answer named none
}

// ResultRow is one element of Data of a send answer (§2.1), with the
// per-recipient refusal seen in the field.
type ResultRow struct {
	Number      string
	ProviderID  string
	Code        string // MessageErrorCode, "" when absent or zero
	Description string
}

// Settled is what one message becomes by the answer of its call.
type Settled struct {
	MessageID  int64
	To         State
	ProviderID string
	Code       string
	Reason     string
	Aliases    []string // further ids given for the same number
}

// Settlement is a whole call, settled.
type Settlement struct {
	State    AttemptState
	Messages []Settled
	Strange  []ResultRow // rows for numbers never asked for, with their possible ids
}

// Settle decides what each recipient becomes. Rows are matched by number,
// never by position; a recipient that the answer leaves out is in doubt.
func Settle(to []Recipient, o Outcome, country string) Settlement {
	if o.Class != ClassAnswered {
		return settleWhole(to, o)
	}
	keys := phone.KeysOf(country)
	byNumber := map[string][]ResultRow{}
	for _, r := range o.Rows {
		k := keys.Key(r.Number)
		byNumber[k] = append(byNumber[k], r)
	}
	s := Settlement{State: AttemptAccepted}
	for _, r := range to {
		k := keys.Key(r.Number)
		m := settleRows(byNumber[k])
		m.MessageID = r.MessageID
		if m.To != Accepted {
			s.State = AttemptPartial
		}
		s.Messages = append(s.Messages, m)
		byNumber[k] = nil
	}
	for _, r := range o.Rows {
		if byNumber[keys.Key(r.Number)] != nil {
			s.Strange = append(s.Strange, r)
		}
	}
	return s
}

func settleWhole(to []Recipient, o Outcome) Settlement {
	state, m := AttemptInDoubt, InDoubt
	switch {
	case o.Class.NothingExecuted():
		state, m = AttemptNotSent, Queued
	case o.Class == ClassHold:
		state, m = AttemptHeld, Held
	}
	s := Settlement{State: state}
	for _, r := range to {
		s.Messages = append(s.Messages, Settled{MessageID: r.MessageID, To: m, Code: o.Code, Reason: o.Reason})
	}
	return s
}

// settleRows judges the rows given for one number. An id beside an error code,
// or neither of them, proves nothing.
func settleRows(rows []ResultRow) Settled {
	if len(rows) == 0 {
		return Settled{To: InDoubt, Reason: "The provider's answer did not mention this number."}
	}
	var m Settled
	for _, r := range rows {
		if r.ProviderID == "" || r.Code != "" {
			continue
		}
		if m.ProviderID == "" {
			m = Settled{To: Accepted, ProviderID: r.ProviderID}
		} else if r.ProviderID != m.ProviderID {
			m.Aliases = append(m.Aliases, r.ProviderID)
		}
	}
	if m.To == Accepted {
		return m
	}
	for _, r := range rows {
		if r.ProviderID != "" || r.Code == "" {
			return Settled{To: InDoubt, Code: r.Code, Reason: "The provider gave two different answers for this number."}
		}
	}
	return Settled{To: Refused, Code: rows[0].Code, Reason: strings.TrimSpace(rows[0].Description)}
}
