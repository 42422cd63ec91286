package sms

// NoReport stands in counts and filters for accepted messages without any
// report. No report says it.
const NoReport Status = "none"

// CampaignCount is a campaign with its messages counted at one moment, by
// state and, those accepted, by their last status. Both maps have every key.
type CampaignCount struct {
	Campaign Campaign
	States   map[State]int64
	Delivery map[Status]int64
}

// CountStates divides a tally further than the words on screen do. claimed is
// how many of the messages that are being sent still wait for their licence,
// interim how many were last reported ACCEPTD. The states add up to the tally,
// the statuses to the accepted messages.
func CountStates(t Tally, claimed, interim int64) (states map[State]int64, delivery map[Status]int64) {
	states, delivery = map[State]int64{}, map[Status]int64{}
	for _, s := range States() {
		if s != Accepted && s != Claimed {
			states[s] = t[StandingKey(s, "", false)]
		}
	}
	states[Claimed] = max(0, min(claimed, states[Sending]))
	states[Sending] -= states[Claimed]
	for _, s := range Statuses() {
		if s != Acceptd {
			delivery[s] = t[StandingKey(Accepted, s, false)]
		}
	}
	open := t[StandingKey(Accepted, "", false)] + t[StandingKey(Accepted, "", true)]
	delivery[Acceptd] = max(0, min(interim, open))
	delivery[NoReport] = open - delivery[Acceptd]
	for _, n := range delivery {
		states[Accepted] += n
	}
	return states, delivery
}
