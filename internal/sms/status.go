package sms

import (
	"strings"

	"smsdesk/internal/phone"
)

// Status is the delivery status of an accepted message (§3.2).
type Status string

// The statuses of §3.2.
const (
	Delivrd   Status = "DELIVRD"
	Undeliv   Status = "UNDELIV"
	Expired   Status = "EXPIRED"
	Deleted   Status = "DELETED"
	Unknown   Status = "UNKNOWN"
	Acceptd   Status = "ACCEPTD"
	Rejectd   Status = "REJECTD"
	Blacklist Status = "BLACKLIST"
)

// Statuses lists every status once, weakest first: of two reports for one
// message the later in this list wins, whatever the order of arrival.
func Statuses() []Status {
	return []Status{Acceptd, Unknown, Deleted, Expired, Undeliv, Rejectd, Blacklist, Delivrd}
}

// ParseStatus reads a status as reported. Letter case and surrounding space
// are forgiven; ok is false for a word that the specification does not list.
func ParseStatus(raw string) (s Status, ok bool) {
	s = Status(strings.ToUpper(strings.TrimSpace(raw)))
	return s, s.rank() > 0
}

func (s Status) rank() int {
	for i, t := range Statuses() {
		if s == t {
			return i + 1
		}
	}
	return 0
}

// Final says that no further report is expected. ACCEPTD is interim in
// practice and UNKNOWN ambiguous.
func (s Status) Final() bool { return s.rank() > Unknown.rank() }

// DeliveryReport is one callback of §6.1 as received.
type DeliveryReport struct {
	ID           int64 // its place in the inbox
	AccountID    int64
	ReceivedAt   int64
	ProviderID   string // messageId
	Mobile       string
	Status       string // as reported; read it with ParseStatus
	ErrorCode    string
	SubmitDate   string
	DoneDate     string
	ShortMessage string
	Raw          string // the query string as received
}

// Effect is what a report did to a message.
type Effect string

// The effects of a report.
const (
	Changed      Effect = "changed"      // the message's delivery moved
	Repeated     Effect = "repeated"     // told nothing new
	WrongNumber  Effect = "wrong_number" // the id is known, the number is another: not believed
	Unrecognised Effect = "unrecognised" // a status that §3.2 does not list
	NotMatched   Effect = "not_matched"  // no message has this id (yet)
)

// Apply returns the message as it stands after the report. It is a join on a
// semilattice: any multiset of reports in any order gives the same delivery.
// A report never moves a message whose state is not Accepted, and never one
// of another number. country helps to read the reported number.
func (m Message) Apply(r DeliveryReport, country string) (Message, Effect) {
	if m.State != Accepted {
		return m, NotMatched
	}
	if r.Mobile != m.Number && phone.Key(r.Mobile, country) != phone.Key(m.Number, country) {
		return m, WrongNumber
	}
	s, ok := ParseStatus(r.Status)
	if !ok {
		return m, Unrecognised
	}
	d := m.Delivery
	if d.Status.Final() && s.Final() && d.Status != s {
		d.Conflict = true
	}
	if s != Acceptd && (s.rank() > d.Status.rank() || s == d.Status && r.ReceivedAt < d.KnownAt) {
		d.KnownAt = r.ReceivedAt
	}
	if stronger(s, r, d) {
		d.Status, d.ErrorCode, d.DoneDate = s, r.ErrorCode, r.DoneDate
	}
	if d.Status.Final() {
		d.Late = false
	}
	if d == m.Delivery {
		return m, Repeated
	}
	m.Delivery = d
	return m, Changed
}

// stronger orders reports totally, so that equal statuses with different
// details settle on the same detail in every order of arrival.
func stronger(s Status, r DeliveryReport, d Delivery) bool {
	if a, b := s.rank(), d.Status.rank(); a != b {
		return a > b
	}
	if r.ErrorCode != d.ErrorCode {
		return r.ErrorCode > d.ErrorCode
	}
	return r.DoneDate > d.DoneDate
}

// StoredReport is a stored delivery report.
type StoredReport struct {
	DeliveryReport
	Key        int64 // names it; its own ID is its place in the inbox
	Times      int64 // how often it arrived
	LastAt     int64
	MessageID  int64 // ours, 0 while not matched
	Effect     Effect
	Suspicious bool // the service does not know its id (§4.8)
}

// ApplyResult says what changed when reports were applied.
type ApplyResult struct {
	Campaigns []int64
	Messages  []int64
	Unmatched int
	// Doubted are messages that came into doubt because a report says that they
	// were sent by a request that is not known here.
	Doubted int
}

// RawReport is one raw callback.
type RawReport struct {
	ID         int64
	AccountID  int64
	ReceivedAt int64
	Remote     string
	Query      string
}

// Cursors say up to where reports have been applied, by their ids; 0 leaves
// one as it is.
type Cursors struct {
	Inbox int64
	Log   int64 // everything in the log of reports up to here
}
