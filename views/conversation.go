package views

import (
	"cmp"

	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
)

// Recipient is what is known of a number beside the messages to it.
type Recipient struct {
	Contact *sms.Contact // nil: nobody saved the number
	Blocked *sms.Blocked // nil: not blocked
	Ended   []sms.EndedBlock
}

// Conversation says that the messages are those to one number, shown one after
// another with what is known of the recipient.
func (p SearchPage) Conversation() bool {
	return p.Number != "" && len(p.Bad) == 0 && !p.Ended && !p.NoAccount
}

// one is a found message as its own page knows it.
func (p SearchPage) one(m sms.FoundMessage) MessagePage {
	return MessagePage{Formatter: p.Formatter, Message: m.Message, Campaign: m.Campaign, Blocked: p.Recipient.Blocked}
}

// mayRepeat says that "Send again" leads somewhere. Of a found message's
// campaign the group's name is known and not its ID.
func (p SearchPage) mayRepeat(m sms.FoundMessage) bool {
	return m.Campaign.GroupName == "" && p.one(m).MayRepeat()
}

// blockHref is where the number can be blocked, by its newest message; "" for
// nowhere.
func (p SearchPage) blockHref() string {
	if len(p.Rows) == 0 || !p.CanSend || !p.one(p.Rows[0]).MayBlock() {
		return ""
	}
	return MessagePath(p.Rows[0].ID) + "/block"
}

// recipientTerms are the facts about the number.
func (p SearchPage) recipientTerms() []KeyValue {
	terms := []KeyValue{{Name: "Phone number", Text: p.Phone(p.Number)},
		{Name: "Network", Text: cmp.Or(phone.Network(p.Number), "Unknown prefix")},
		{Name: "Contact", Text: "Not a saved contact"}}
	if c := p.Recipient.Contact; c != nil {
		terms[2] = KeyValue{Name: "Contact",
			View: words(Link{Text: Shorten(contactName(p.Formatter, *c), 80), Href: ContactPath(c.ID, "")})}
	}
	if p.Recipient.Blocked == nil {
		terms = append(terms, KeyValue{Name: "Blocked", Text: "No"})
	}
	return terms
}
