package views

import (
	"strings"
	"time"

	"smsdesk/internal/sms"
)

// AlreadyCard says how many recipients got nearly the same text lately, and
// asks what to do about them.
type AlreadyCard struct {
	Formatter
	Sent    *sms.AlreadySent // nil: nothing is said
	Left    *LeftOutAlready  // those who are left out for that; nil where none are
	Action  string           // where leaving out and taking back is posted to, "" where neither can be done here
	Version int64            // of the campaign or the list
	Asks    bool             // a tick is asked for
	Again   bool             // the person wants them too
	Error   string           // of the tick
}

// LeftOutAlready are recipients who are left out because they got nearly the
// same text.
type LeftOutAlready struct {
	N  int64
	At int64 // when the last of them got it (ms), 0: not known
}

func (c AlreadyCard) title() string {
	when := ""
	if c.Sent.LastAt > 0 && c.Sent.Waiting < c.Sent.Recipients {
		when = " " + c.ago(c.Sent.LastAt)
	}
	return c.Sent.Sentence() + when
}

// ago says how long ago something was, as people do, and from two days on when.
func (c AlreadyCard) ago(ms int64) string {
	if d := c.Now.Sub(c.at(ms)); d >= 0 && d < 48*time.Hour {
		if d < time.Minute {
			return "just now"
		}
		return strings.TrimPrefix(roughly(d), "about ") + " ago"
	}
	return c.When(ms)
}

func (c AlreadyCard) fresh() int64 { return c.Sent.Fresh() }

// from says which campaigns they got it from, behind the link to the one.
func (c AlreadyCard) from() string {
	words := ""
	if c.Sent.ByName != "" {
		words = " by " + c.Sent.ByName
	}
	words += ", " + c.When(c.Sent.LastAt)
	if n := int(c.Sent.Campaigns) - 1; n > 0 {
		words += ", and " + Plural(n, "other campaign", "other campaigns")
	}
	return words + "."
}

// unsure says who of them may not have got it.
func (c AlreadyCard) unsure() string {
	if c.Sent.Group || c.Sent.Waiting == c.Sent.Recipients {
		return ""
	}
	var some []string
	for _, k := range []struct {
		n     int64
		words string
	}{{c.Sent.Awaiting, "awaiting a report"}, {c.Sent.Doubt, "in doubt"}, {c.Sent.Waiting, "waiting to be sent"}} {
		switch {
		case k.n == c.Sent.Recipients:
			some = append(some, "all are "+k.words)
		case k.n > 0:
			some = append(some, Plural(int(k.n), "is", "are")+" "+k.words)
		}
	}
	if len(some) == 0 {
		return ""
	}
	return capitalise(and(some)) + ". Messages that were not delivered do not count."
}

// bar is who had it and who is new.
func (c AlreadyCard) bar() []Share {
	had := 100 * float64(c.Sent.Recipients) / float64(max(c.Sent.Of, 1))
	return []Share{{Class: "old", Long: had - 0.5}, {Class: "fresh", From: had + 0.5, Long: 99.5 - had}}
}

func (c AlreadyCard) barWords() string { return c.had() + ", " + c.news() }

func (c AlreadyCard) had() string { return Number(int(c.Sent.Recipients)) + " had it" }

func (c AlreadyCard) news() string { return Number(int(c.fresh())) + " new" }

func (c AlreadyCard) onlyNew() string {
	if c.fresh() == 1 {
		return "Send only to the new one"
	}
	return "Send only to the " + Number(int(c.fresh())) + " new"
}

func (c AlreadyCard) toAll() string {
	if c.Sent.Of == 1 {
		return "Send it anyway"
	}
	return "Send to all " + Number(int(c.Sent.Of))
}

// leftOut says who is left out, and why.
func (c AlreadyCard) leftOut() string {
	words := Plural(int(c.Left.N), "recipient is", "recipients are") + " left out: got nearly this text"
	if c.Left.At > 0 {
		words += " " + c.When(c.Left.At)
	}
	return words
}

func (c AlreadyCard) tickLabel() string {
	if c.Sent.Group || c.Sent.Of == 1 {
		return "Send again"
	}
	return "Send it to them again"
}

// hasLeft says that the card is about those who are left out.
func (c AlreadyCard) hasLeft() bool { return c.left() > 0 }

// shows says that there is something to say.
func (c AlreadyCard) shows() bool { return c.hasLeft() || c.Sent.Asks() }

// left is how many are left out.
func (c AlreadyCard) left() int64 {
	if c.Left == nil {
		return 0
	}
	return c.Left.N
}
