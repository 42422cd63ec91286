package sms

import (
	"strings"
	"unicode"

	"smsdesk/internal/phone"
)

// ResendChoice is what can be done about the messages of one standing when a
// campaign is sent again.
type ResendChoice struct {
	Standing DisplayStatus
	// Unsent: nothing of them has left. The others were not delivered.
	NotSent bool
	// May says that they can be sent again, Proposed that they are unless the
	// person decides otherwise.
	May, Proposed bool
	// Why is the sentence for what is not proposed, and for what is worth
	// knowing.
	Why string
}

// ResendChoices lists the standings from which messages can be sent again, and
// those of which people would expect it.
func ResendChoices() []ResendChoice {
	choice := func(key string, c ResendChoice) ResendChoice {
		c.Standing, _ = StandingByKey(key)
		return c
	}
	return []ResendChoice{
		choice("undelivered", ResendChoice{May: true, Proposed: true}),
		choice("expired", ResendChoice{May: true, Proposed: true}),
		choice("deleted", ResendChoice{May: true, Proposed: true}),
		choice("rejected",
			ResendChoice{May: true,
				Why: "The network refused these, often because of the sender ID or the text. Change one of them first."}),
		choice("blocked",
			ResendChoice{Why: "Delivery reports say these numbers are on a block list. They will be left out."}),
		choice("refused", ResendChoice{May: true, Proposed: true, NotSent: true}),
		choice("stopped", ResendChoice{May: true, Proposed: true, NotSent: true}),
		choice("leftout", ResendChoice{May: true, NotSent: true,
			Why: "Rows with no usable number, repeated rows and blocked numbers will still be left out."}),
	}
}

// ResendRisk says what may happen when one message is sent again that may have
// arrived, "" where it did not.
func (m Message) ResendRisk() string {
	switch key := m.Standing().Key; {
	case key == "delivered":
		return "This message was delivered. The recipient will get it twice and you will pay twice."
	case m.State == Accepted && !m.Delivery.Status.Final():
		return "This message may have been delivered or may still be. The recipient may get it twice and you may pay twice."
	case m.State == ClosedUnknown:
		return "This message may or may not have been sent. The recipient may get it twice and you may pay twice."
	}
	return ""
}

// MayResend says whether a message can be sent again by itself: it has a number
// and nothing of it is still to be sent or decided.
func (m Message) MayResend() bool {
	switch m.State {
	case Accepted, Refused, Skipped, Cancelled, ClosedUnknown:
		return m.Number != "" && !phone.Removed(m.Number)
	}
	return false
}

// againLength is the most letters of a name before "(sent again)" is added: a
// name has at most 100.
const againLength = 87

// ResendName names a campaign that sends another one's messages again. Names
// are often made of the first sentence of the text: its end goes.
func ResendName(name string) string {
	const again = " (sent again)"
	if strings.HasSuffix(name, again) {
		return name
	}
	letters := []rune(name)
	name = string(letters[:min(len(letters), againLength)])
	trimmed := strings.TrimRightFunc(name, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(".,;:!?…-–—", r)
	})
	if trimmed == "" {
		trimmed = name
	}
	return trimmed + again
}
