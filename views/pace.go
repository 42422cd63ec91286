package views

import (
	"strings"
	"time"

	"smsdesk/internal/sms"
)

// Pace is how fast a campaign leaves.
type Pace struct {
	LastMinute int64 // requests of the campaign that left in the last minute
	TooFast    int64 // when the provider last said that the account's come too fast, 0 when not lately
	Others     []Ahead
}

// Ahead is another campaign of the account that is being sent: what it is called,
// when it began, and the messages and requests that it still has before it.
type Ahead struct {
	Name            string
	StartedAt       int64
	Messages, Calls int64
}

// others are the requests of the account's other campaigns.
func (p Pace) others() []int64 {
	left := make([]int64, len(p.Others))
	for i, a := range p.Others {
		left[i] = a.Calls
	}
	return left
}

// CallsLeft estimates how many calls a campaign still has before it.
func CallsLeft(c sms.Campaign, t sms.Tally, a sms.Account) int64 {
	waiting, all := t.Tile(sms.TileWaiting), t.Total()-t["leftout"]
	if waiting <= 0 || all <= 0 {
		return 0
	}
	planned := c.CallsText + c.CallsPairs
	if planned == 0 {
		limit := int64(max(a.CallLimit, 1))
		planned = (all + limit - 1) / limit
	}
	return (planned*waiting + all - 1) / all
}

// forecast says when the last message has left.
func (p CampaignPage) forecast() sms.Forecast {
	hours := p.Account.Hours
	if !hours.Open(p.Now) && !sms.SendsAt(p.Account, p.Campaign, p.Now).After(p.Now) {
		hours = sms.Hours{} // they do not hold this one back
	}
	return sms.Foresee(sms.Turns(CallsLeft(p.Campaign, p.Tally, p.Account), p.Pace.others()), p.Account.PerMinute, hours,
		p.Now)
}

// resting says when sending goes on, while the sending hours hold it back.
func (p CampaignPage) resting() string {
	at := sms.SendsAt(p.Account, p.Campaign, p.Now)
	if !p.sending() || !at.After(p.Now) {
		return ""
	}
	if p.waiting() == p.Tally.Total()-p.Tally["leftout"] {
		return "Sending starts " + When(at, p.Now)
	}
	return "Sending continues " + When(at, p.Now)
}

// pace says how far the sending is and how long it still takes.
func (p CampaignPage) pace() string {
	if !p.sending() {
		return p.rest()
	}
	if p.resting() != "" {
		return waitingWords(p.waiting()) + "."
	}
	if words := p.waitsBehind(); words != "" {
		return words
	}
	if p.untouched() && p.justStarted() {
		return "Sending starts in a few seconds."
	}
	return p.timeLeft()
}

// soon is how long it is that nobody is told the time for which a campaign waits.
const soon = 30 * time.Second

// untouched says that nothing of the campaign has left.
func (p CampaignPage) untouched() bool {
	return p.Pace.LastMinute == 0 && p.waiting() == p.Tally.Total()-p.Tally["leftout"]
}

func (p CampaignPage) justStarted() bool {
	return p.Now.Sub(time.UnixMilli(p.Campaign.StartedAt)) < soon
}

// waitsBehind says for whose requests a campaign waits of which nothing has left,
// and when its turn comes: each of the others puts in one before it. It is "" for
// one that does not wait for them.
func (p CampaignPage) waitsBehind() string {
	others := len(p.Pace.Others)
	if others == 0 || !p.untouched() || p.Campaign.Urgent || p.DayFull || p.Account.Failure != "" {
		return ""
	}
	first := turnOf(p)
	if first.Takes < soon && p.justStarted() {
		return ""
	}
	who := Number(others) + " campaigns"
	if others == 1 {
		who = "“" + Shorten(p.Pace.Others[0].Name, 40) + "”"
	}
	return "Waits behind " + who + ", starts " + strings.TrimPrefix(about(first.Ends, p.Now, first.Takes), "today ") + "."
}

// turnOf is when the campaign's first request leaves.
func turnOf(p CampaignPage) sms.Forecast {
	return sms.Foresee(int64(len(p.Pace.Others))+1, p.Account.PerMinute, sms.Hours{}, p.Now)
}

// timeLeft says how long the sending still takes.
func (p CampaignPage) timeLeft() string {
	words := TimeLeft(p.forecast().Takes) + " at " + Plural(p.Account.PerMinute, "request", "requests") + " per minute"
	if n := len(p.Pace.Others); n > 0 {
		words += ", shared with " + Plural(n, "other campaign", "other campaigns")
	}
	return words + "."
}

// further says what else there is to know of the pace.
func (p CampaignPage) further() string {
	var words []string
	if !p.sending() || p.resting() != "" {
		return ""
	}
	if p.waitsBehind() != "" {
		words = append(words, p.timeLeft())
	}
	if f := p.forecast(); f.Pauses > 0 && !f.Ends.IsZero() {
		words = append(words, "Sending pauses from "+p.Account.Hours.Pause()+" and should finish "+
			about(f.Ends, p.Now, f.Takes)+".")
	}
	if n := p.Pace.LastMinute; n > 0 {
		words = append(words, Plural(int(n), "request", "requests")+" sent in the last minute.")
	}
	return strings.Join(words, " ")
}

// tooFast says what the provider's answer about the rate means.
func (p CampaignPage) tooFast() string {
	if p.Pace.TooFast == 0 || !p.sending() || p.Account.HoldOn429 {
		return ""
	}
	return capitalise(p.When(p.Pace.TooFast)) +
		" the provider said we were sending too fast. We have slowed down automatically. No message is lost. " + p.timeLeft()
}

// rest says how it is when nothing is being sent.
func (p CampaignPage) rest() string {
	network, decide := p.Tally.Tile(sms.TileNetwork), p.Tally.Tile(sms.TileDecision)
	switch {
	case p.Campaign.State == sms.CampaignFinished && p.handed():
		return "The provider has all messages."
	case p.Campaign.State == sms.CampaignFinished && network == 1:
		return "Sending is complete. 1 message is awaiting its report."
	case p.Campaign.State == sms.CampaignFinished && network > 1:
		return "Sending is complete. " + Number(int(network)) + " messages are awaiting their reports."
	case p.Campaign.State == sms.CampaignFinished && decide > 0:
		return "There is nothing more to send."
	case p.Campaign.State == sms.CampaignFinished:
		return "There is nothing more to send."
	case p.Campaign.State == sms.CampaignRunning && p.Account.Pause == "":
		return "Sending the last requests."
	}
	return ""
}

// handed says that the provider keeps what was handed over until a time that
// is still to come.
func (p CampaignPage) handed() bool {
	return p.Campaign.HandOver && p.Campaign.StartedAt > 0 && p.Now.UnixMilli() < p.Campaign.SendAt
}

// handedWords say what the provider was told.
func (p CampaignPage) handedWords() string {
	at := p.Campaign.Schedule().Time()
	return "The provider will send it " + When(at, p.Now) + ", " + ZoneWords(at) + ". You cannot recall it from here."
}

// cancelledWords say what became of a campaign that was given up.
func (p CampaignPage) cancelledWords() string {
	words := withStop(p.Campaign.Pause)
	if words != "" {
		words += " "
	}
	switch n := p.Tally["stopped"] + p.Tally["queued"] + p.Tally["draft"]; n {
	case 0:
		return words + "Nothing was left to cancel."
	case 1:
		return words + "1 message will never be sent."
	default:
		return words + Number(int(n)) + " messages will never be sent."
	}
}

// TimeLeft says a duration roughly: "About 4 minutes left".
func TimeLeft(d time.Duration) string { return capitalise(roughly(d)) + " left" }
