package sms

import (
	"strings"

	"smsdesk/internal/phone"
)

// SearchMonths is how far back messages can be found.
const SearchMonths = 13

// maxTailDigits is how many digits of a number, from its end, a search by its
// last digits goes by.
const maxTailDigits = 10

// minTailDigits is how many of the last digits a search needs: fewer are those of
// too many people.
const minTailDigits = 4

// MessageSearch says which messages of an account are wanted, newest campaign
// first. Only campaigns that were started are looked at.
type MessageSearch struct {
	AccountID  int64
	Number     string        // MSISDN; "": any
	Ends       string        // last digits, minTailDigits to maxTailDigits of them; "": any
	Words      string        // of the campaign's name or text, without Number and Ends; "": any
	Keys       []string      // standing keys; none: all
	CampaignID int64         // 0: all
	From, To   int64         // the campaign was started in [From, To); 0: no bound
	Since      int64         // nothing of campaigns that were started before this
	Before     MessageCursor // only what comes behind this; zero: from the newest
	Limit      int
}

// MessageCursor is a message's place among those found.
type MessageCursor struct{ CampaignID, MessageID int64 }

// FoundMessage is one message found, with what its row tells of its campaign:
// id, name, group, sender ID and where it stands.
type FoundMessage struct {
	Message
	Campaign Campaign
}

// FailingNumber is a number to which several messages were not delivered.
type FailingNumber struct {
	Times  int     // among the messages that were looked at
	Latest Message // the last of them
}

// ParseNumberQuery reads what a person typed to find somebody: a whole number in
// any form, or its last digits. The error is an Invalid with the one sentence
// under "number".
func ParseNumberQuery(typed, country string) (number, ends string, err error) {
	typed = strings.TrimSpace(typed)
	p, err := phone.Parse(typed, country, true)
	if err == nil {
		return p.Number, "", nil
	}
	digits, _, sentence := phone.Clean(typed)
	digits = strings.TrimPrefix(digits, "+")
	switch {
	case sentence != "":
		return "", "", Invalid{"number": sentence}
	case len(digits) < minTailDigits:
		return "", "", Invalid{"number": "Enter the full number, or at least its last 4 digits"}
	case len(digits) > maxTailDigits || strings.HasPrefix(digits, "0") &&
		len(digits) >= phone.DialledDigits(strings.ToUpper(country)):
		return "", "", Invalid{"number": err.Error()}
	}
	return "", digits, nil
}

// ReverseTail is the order of digits in which numbers are found by their last
// ones: at most maxTailDigits of them, from the end.
func ReverseTail(digits string) string {
	b := []byte(digits[max(0, len(digits)-maxTailDigits):])
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}
