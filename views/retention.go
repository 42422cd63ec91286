package views

import (
	"smsdesk/internal/sms"
)

// RetentionForm is how long numbers and texts are kept, as typed: months,
// empty for ever.
type RetentionForm struct {
	Messages, Reports, Calls string
	Log                      string // days
	Bad                      sms.Invalid
}

// keptWords says until when a campaign's numbers and texts are there, "" for ever.
func (o Formatter) keptWords(c sms.Campaign) string {
	if c.RemovedAt > 0 {
		return "numbers and texts removed on " + o.at(c.RemovedAt).Format("2 January 2006")
	}
	if until := sms.KeptUntil(c.FinishedAt, o.Retention.Messages, o.Now.Location()); until > 0 {
		return "numbers and texts kept until " + o.at(until).Format("2 January 2006")
	}
	return ""
}
