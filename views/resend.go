package views

import "smsdesk/internal/sms"

// AgainPage asks which messages of a campaign are to be sent again.
type AgainPage struct {
	Formatter
	Campaign sms.Campaign
	Tally    sms.Tally
	Earlier  []sms.Campaign  // campaigns that send messages of this one again already
	Chosen   map[string]bool // by standing
	Token    string
	Bad      sms.Invalid
}

// choices are those of which there are messages.
func (p AgainPage) choices(unsent bool) (list []sms.ResendChoice) {
	for _, c := range sms.ResendChoices() {
		if c.NotSent == unsent && p.Tally[c.Standing.Key] > 0 {
			list = append(list, c)
		}
	}
	return list
}

func (p AgainPage) label(c sms.ResendChoice) string {
	return Number(int(p.Tally[c.Standing.Key])) + " " + againWords(c)
}

func againWords(c sms.ResendChoice) string {
	words := c.Standing.Words
	return string(words[0]|0x20) + words[1:]
}

// FailedAgain counts the messages that were not delivered and are proposed to
// be sent again, and UnsentAgain those of which nothing has left.
func FailedAgain(t sms.Tally) int64 { return againCount(t, false) }

// UnsentAgain is described at FailedAgain.
func UnsentAgain(t sms.Tally) int64 { return againCount(t, true) }

func againCount(t sms.Tally, unsent bool) (n int64) {
	for _, c := range sms.ResendChoices() {
		if c.NotSent == unsent && c.May && (unsent || c.Proposed) {
			n += t[c.Standing.Key]
		}
	}
	return n
}

// AgainMessagePage asks before one message is sent again.
type AgainMessagePage struct {
	MessagePage
	Token string
	Bad   sms.Invalid
}

// againID gives the first box the id to which a summary of errors leads.
func againID(c sms.ResendChoice, p AgainPage) string {
	first := append(p.choices(false), p.choices(true)...)
	for _, f := range first {
		if f.May {
			if f.Standing.Key == c.Standing.Key {
				return "keys"
			}
			break
		}
	}
	return "key-" + c.Standing.Key
}

func againState(o Formatter, c sms.Campaign) string {
	if c.StartedAt > 0 {
		return "started " + o.When(c.StartedAt)
	}
	return "not sent yet"
}

// MaySendAgain says that messages of the campaign can be chosen to be sent
// again: everything of it that is to be sent has left.
func (p CampaignPage) MaySendAgain() bool {
	return p.CanSend && p.Campaign.GroupID == "" && p.Campaign.Decided() &&
		(p.Campaign.State != sms.CampaignRunning && p.Campaign.State != sms.CampaignPaused || p.waiting() == 0)
}
