package sms

import (
	"strings"
	"time"
	"unicode/utf8"

	"smsdesk/internal/phone"
)

// How a message came out of doubt (Message.Evidence).
const (
	ByReport = "report" // a delivery report with its number and text (internal/workers/README.md, Evidence)
	ByPerson = "person" // a person decided
)

// The bounds within which a report may speak for a message whose id is not
// known (internal/workers/README.md, Evidence).
const (
	EvidenceGrace = 2 * time.Minute // a younger report may still be matched by its id
	evidenceEarly = 5 * time.Minute // before the licence: clocks differ
	evidenceLate  = 72 * time.Hour  // after it
	minCutLen     = 20              // letters of a cut text that still tell something
)

// Quarantine bounds what is kept of reports that belong to no message: whatever
// is older than Before (milliseconds since 1970 UTC), and the oldest while there
// are more than so many reports or bytes of them.
type Quarantine struct {
	Before  int64
	Reports int64
	Bytes   int64
}

// Fit says how well a report fits a message of which no id is known.
type Fit int

// The fits. Only FitWhole may move anything by itself.
const (
	FitNone  Fit = iota
	FitPart      // same number, and the report's text is the beginning of the message's
	FitWhole     // same number, same text
)

// FitReport compares number, text and time. The text is compared in Unicode's
// NFC with white space folded; a cut one counts from 20 letters on. A message
// to a gateway group fits no report by itself: its numbers are not known.
func FitReport(m Message, r DeliveryReport, country string) Fit {
	key := phone.Key(r.Mobile, country)
	if key == "" || key != phone.Key(m.Number, country) || !inWindow(m, r) {
		return FitNone
	}
	return fitText(m.Text, r.ShortMessage)
}

func inWindow(m Message, r DeliveryReport) bool {
	after := time.Duration(r.ReceivedAt-m.SentAt) * time.Millisecond
	return m.SentAt > 0 && after >= -evidenceEarly && after <= evidenceLate
}

func fitText(sent, reported string) Fit {
	text, told := foldText(sent), foldText(reported)
	switch {
	case told == "":
		return FitNone
	case told == text:
		return FitWhole
	}
	told = strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(told, "…"), "..."), " ")
	letters := utf8.RuneCountInString(told)
	if strings.TrimRight(reported, " ") != reported {
		letters++ // cut behind a space, which folding has taken away
	}
	if letters >= minCutLen && strings.HasPrefix(text, told) {
		return FitPart
	}
	return FitNone
}

// OtherText says that a report about this very message tells another text than
// was sent. It is no reason to doubt it: some services put a reason there.
// What has been removed cannot be compared.
func OtherText(m Message, r DeliveryReport) bool {
	text, told := foldText(m.Text), foldText(r.ShortMessage)
	if text == "" || told == "" || phone.Removed(m.Number) {
		return false
	}
	return !strings.HasPrefix(text, strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(told, "…"), "..."), " "))
}

// Owner finds the message that a report is proof for: the only one of among
// that it can be about. among holds every message to the report's number that
// left or may have left, groups included, without those that a plain answer
// named an id for. The message is in doubt, or already "sent" by a report or
// by a person; ok is false when there is none, when there are two, when the
// report is too young, and when it names no id, because then nobody can ask
// the service about it.
func Owner(r DeliveryReport, among []Message, country string, now int64) (m Message, ok bool) {
	if r.ProviderID == "" || now-r.ReceivedAt <= EvidenceGrace.Milliseconds() {
		return Message{}, false
	}
	var open, settled []Message
	for _, c := range among {
		group := c.Number == "" && inWindow(c, r) && fitText(c.Text, r.ShortMessage) == FitWhole
		if !group && FitReport(c, r, country) != FitWhole {
			continue
		}
		switch {
		case c.State == Accepted && c.ProviderID != "":
			settled = append(settled, c)
		case c.mayHaveLeft():
			open = append(open, c)
		}
	}
	if len(open) == 0 {
		open = settled
	}
	if len(open) != 1 || open[0].Number == "" || open[0].State != InDoubt && open[0].State != Accepted {
		return Message{}, false
	}
	return open[0], true
}

// mayHaveLeft says that a report under an id that nobody was given can be
// about this message.
func (m Message) mayHaveLeft() bool {
	switch m.State {
	case Claimed, Sending, InDoubt, ClosedUnknown, ClosedResent:
		return true
	case Accepted:
		return m.ProviderID == ""
	}
	return false
}

// MayLink says whether a person may tie the report to the message: the same
// number and at least the beginning of the text, within the same time, and a
// message that this can only move towards "was sent".
func MayLink(m Message, r DeliveryReport, country string) bool {
	settled := m.State == Accepted && m.Evidence != ""
	return r.ProviderID != "" && (m.State == InDoubt || settled) && FitReport(m, r, country) != FitNone
}

// StatusQuery is one question to the service what became of a message (§4.8), and
// its answer.
type StatusQuery struct {
	ID         int64
	AccountID  int64
	MessageID  int64
	ProviderID string
	Why        QueryReason
	InquiryID  int64 // for AskedGap
	CreatedAt  int64
	AskedAt    int64 // 0 while it waits
	Answer     MessageStatus
	Code       string // the service's error code, "" when it answered 000
	Words      string // its error in words
	Effect     Effect // what the answer did
}

// QueryReason is why the service was asked.
type QueryReason string

// The reasons.
const (
	AskedProof QueryReason = "proof" // a report settled a doubt: does the service know its id?
	AskedGap   QueryReason = "gap"   // reports were lost while this system was down
	AskedStaff QueryReason = "staff" // a person wants to know
)

// The effects of an answer beside those of a report.
const (
	Confirmed     Effect = "confirmed"  // the service knows the id
	Suspicious    Effect = "suspicious" // it does not, or for another number
	NotConclusive Effect = "shown"      // kept to be looked at
)

// Evaluate decides what an answer of §4.8 does to its message. code is the error
// code of a refusal, "" for an answer under 000. A listed status for the same
// number enters the status rules, as a report would; nothing an answer says
// moves a message back to "was not sent".
func (a StatusQuery) Evaluate(m Message, country string) (Message, Effect) {
	if a.Code != "" || a.Answer.Number != "" && phone.Key(a.Answer.Number, country) != phone.Key(m.Number, country) {
		if a.Why == AskedProof {
			return m, Suspicious
		}
		return m, NotConclusive
	}
	if a.Answer.Number != "" {
		told := DeliveryReport{ProviderID: a.ProviderID, Mobile: a.Answer.Number, Status: a.Answer.Status,
			ErrorCode: a.Answer.ErrorCode, DoneDate: a.Answer.DoneDate, ReceivedAt: a.AskedAt}
		if after, e := m.Apply(told, country); e == Changed {
			return after, Changed
		}
	}
	if a.Why == AskedProof {
		return m, Confirmed
	}
	return m, NotConclusive
}
