package sms

import (
	"time"

	"github.com/dustin/go-humanize"
)

// AlreadySent is how many recipients of a list or a campaign got nearly the
// same text lately, from which campaigns and when. What did not arrive does not
// count; what may have arrived, or is about to be sent, does.
type AlreadySent struct {
	Recipients int64
	Of         int64
	Awaiting   int64 // of Recipients: without a final report
	Doubt      int64 // of Recipients: it may or may not have been sent
	Waiting    int64 // of Recipients: it has not left yet
	Group      bool  // the provider's group got it; its numbers are not known
	LastAt     int64 // when the last of them got it (ms)
	Campaigns  int64 // from so many
	CampaignID int64 // from which most of them got it
	Name       string
	ByName     string
	LeftOut    bool // they are not sent to: the person wants only the others
}

const (
	// AlreadySentWithin is how far back sends count.
	AlreadySentWithin = 30 * 24 * time.Hour
	// alreadyLeast and alreadyShare are from how many recipients on, or from which
	// share of them, a person is asked.
	alreadyLeast, alreadyShare = 5, 10 // recipients, per cent
	// CodeAlready marks a message that was left out because its recipient got
	// nearly the same text.
	CodeAlready = string(RowAlready)
)

// Asks says that they are enough to ask a person; a is nil where nobody is
// known to have got it.
func (a *AlreadySent) Asks() bool {
	return a != nil && a.Recipients > 0 && (a.Recipients >= alreadyLeast || a.Recipients*100 >= a.Of*alreadyShare)
}

// Fresh is how many did not get it.
func (a *AlreadySent) Fresh() int64 { return a.Of - a.Recipients }

// Sentence says it without a full stop.
func (a *AlreadySent) Sentence() string {
	verb := "got"
	switch {
	case a.Waiting == a.Recipients && a.Recipients == 1:
		verb = "is already waiting to get"
	case a.Waiting == a.Recipients:
		verb = "are already waiting to get"
	}
	switch {
	case a.Group:
		return "This group got nearly this text"
	case a.Of == 1 && a.Waiting == 1:
		return "The recipient is already waiting to get nearly this text"
	case a.Of == 1:
		return "The recipient got nearly this text"
	case a.Recipients == a.Of:
		return "All " + humanize.Comma(a.Of) + " recipients " + verb + " nearly this text"
	}
	return humanize.Comma(a.Recipients) + " of these " + humanize.Comma(a.Of) + " recipients " + verb + " nearly this text"
}

// AlreadyReason is why a recipient is left out who got it at a time in their
// account's zone.
func AlreadyReason(at time.Time) string {
	return "Got nearly this text on " + at.Format("2 January at 3:04pm")
}
