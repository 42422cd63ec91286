package sms

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
)

// Limits is how much an account sends at most. A zero is no limit.
type Limits struct {
	CapMessages    int64 // to one number within CapDays days
	CapDays        int64
	MaxPerDay      int64 // of the account, on one day of its zone
	MaxPerCampaign int64 // recipients of one campaign, whoever starts it
	MaxPerUserDay  int64 // recipients of all campaigns that one person starts on a day
}

// The largest limits.
const (
	maxCapMessages = 100
	maxCapDays     = 90
	maxLimit       = 100_000_000
)

// Check says what is wrong with limits; the fields of its Invalid are
// cap_messages, cap_days, day_most, person_most and person_day_most.
func (l Limits) Check() error {
	bad := Invalid{}
	whole := func(field string, n, most int64) {
		if n < 0 || n > most {
			bad[field] = "Limit must be a whole number up to " + humanize.Comma(most) + ", or empty for no limit"
		}
	}
	whole("cap_messages", l.CapMessages, maxCapMessages)
	whole("cap_days", l.CapDays, maxCapDays)
	whole("day_most", l.MaxPerDay, maxLimit)
	whole("person_most", l.MaxPerCampaign, maxLimit)
	whole("person_day_most", l.MaxPerUserDay, maxLimit)
	if (l.CapMessages > 0) != (l.CapDays > 0) && len(bad) == 0 {
		bad["cap_days"] = "Enter both the number of messages and the number of days, or leave both empty"
	}
	return bad.Or()
}

// Capped says that a person may get a limited number of messages.
func (l Limits) Capped() bool { return l.CapMessages > 0 && l.CapDays > 0 }

// CapSince is the moment from which messages to a person count.
func (l Limits) CapSince(now time.Time) time.Time {
	return now.Add(-time.Duration(l.CapDays) * 24 * time.Hour)
}

// CapSentence is why a message to a person is left out who got enough of them.
func (l Limits) CapSentence(got int64) string {
	days := "day"
	if l.CapDays > 1 {
		days = fmt.Sprintf("%d days", l.CapDays)
	}
	messages := "messages"
	if got == 1 {
		messages = "message"
	}
	return fmt.Sprintf("This recipient already got %d %s in the last %s (limit: %d)", got, messages, days, l.CapMessages)
}

// DayBegins is the midnight before a moment, in its zone.
func DayBegins(at time.Time) time.Time {
	return time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, at.Location())
}

// StartProblem is why a person may not start a campaign to so many recipients,
// who has started campaigns to started ones today; "" when they may.
func (l Limits) StartProblem(recipients, started int64) string {
	switch {
	case l.MaxPerCampaign > 0 && recipients > l.MaxPerCampaign:
		return fmt.Sprintf(
			"A campaign can have up to %s recipients. This one has %s. Split it, or ask an administrator to raise the limit",
			humanize.Comma(l.MaxPerCampaign), humanize.Comma(recipients))
	case l.MaxPerUserDay > 0 && started+recipients > l.MaxPerUserDay:
		return fmt.Sprintf(
			"You can send to %s recipients per day. You have sent to %s today, and this campaign has %s. Send it tomorrow, or ask an administrator to raise the limit",
			humanize.Comma(l.MaxPerUserDay), humanize.Comma(started), humanize.Comma(recipients))
	}
	return ""
}
