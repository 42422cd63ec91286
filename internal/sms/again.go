package sms

import (
	"strings"
	"unicode"
)

// AgainChoice is what can be done about the messages of one standing when a
// campaign is sent again.
type AgainChoice struct {
	Standing Standing
	// Unsent: nothing of them has left. The others were not delivered.
	Unsent bool
	// May says that they can be sent again, Proposed that they are unless the
	// person decides otherwise.
	May, Proposed bool
	// Why is the sentence for what is not proposed, and for what is worth
	// knowing.
	Why string
}

// AgainChoices lists the standings from which messages can be sent again, and
// those of which people would expect it.
func AgainChoices() []AgainChoice {
	choice := func(key string, c AgainChoice) AgainChoice {
		c.Standing, _ = StandingByKey(key)
		return c
	}
	return []AgainChoice{
		choice("undelivered", AgainChoice{May: true, Proposed: true}),
		choice("expired", AgainChoice{May: true, Proposed: true}),
		choice("deleted", AgainChoice{May: true, Proposed: true}),
		choice("rejected", AgainChoice{May: true, Why: "The network refused them, often because of the sender ID or the text. Sending them again unchanged will not help."}),
		choice("blocked", AgainChoice{Why: "The numbers are on a block list. They are left out."}),
		choice("refused", AgainChoice{May: true, Proposed: true, Unsent: true}),
		choice("stopped", AgainChoice{May: true, Proposed: true, Unsent: true}),
		choice("leftout", AgainChoice{May: true, Unsent: true, Why: "Rows without a usable number, repeated rows and numbers that are still blocked stay left out."}),
	}
}

// RepeatRisk says what may happen when one message is sent again that may have
// arrived, "" where it did not.
func (m Message) RepeatRisk() string {
	switch key := m.Standing().Key; {
	case key == "delivered":
		return "It was delivered. The person gets it a second time, and you pay a second time."
	case m.State == Accepted && !m.Delivery.Status.Final():
		return "It may have been delivered, or may still be. The person may get it twice, and you may pay twice."
	case m.State == ClosedUnknown:
		return "Nobody knows whether it was sent. The person may get it twice, and you may pay twice."
	}
	return ""
}

// MayRepeat says whether a message can be sent again by itself: it has a number
// and nothing of it is still to be sent or decided.
func (m Message) MayRepeat() bool {
	switch m.State {
	case Accepted, Refused, Skipped, Cancelled, ClosedUnknown:
		return m.Number != "" && !Removed(m.Number)
	}
	return false
}

// againLength is the most letters of a name before "again" is added.
const againLength = 90

// AgainName names a campaign that sends another one's messages again. Names
// are often made of the first sentence of the text: its end goes.
func AgainName(name string) string {
	const again = ", again"
	if strings.HasSuffix(name, again) {
		return name
	}
	letters := []rune(name)
	name = string(letters[:min(len(letters), againLength)])
	trimmed := strings.TrimRightFunc(name, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(".,;:!?…-–—", r) })
	if trimmed == "" {
		trimmed = name
	}
	return trimmed + again
}

// Repetition puts a campaign together that sends messages of an earlier one
// again. Whoever makes it gives it the new messages one by one, in the order of
// their rows, and stores them.
type Repetition struct {
	Campaign Campaign
	Tally    Tally // of the messages given, by standing
	planner  *Planner
	print    Print
}

// NewRepetition begins the campaign of about n messages that a person sends again.
func NewRepetition(earlier Campaign, by User, limits PlanLimits, n int) *Repetition {
	return &Repetition{Tally: Tally{}, planner: NewPlanner(limits, n), Campaign: Campaign{AccountID: earlier.AccountID, Name: AgainName(earlier.Name), SenderID: earlier.SenderID,
		Text: earlier.Text, Flash: earlier.Flash, GroupID: earlier.GroupID, GroupName: earlier.GroupName, ListID: earlier.ListID, AgainOf: earlier.ID, CreatedBy: by.ID, CreatedName: by.Name}}
}

// Add counts a new message, which is a draft or left out.
func (r *Repetition) Add(m Message) error {
	r.Campaign.Recipients++
	r.Tally[StandingKey(m.State, "", false)]++
	if m.State == Skipped {
		return nil
	}
	r.Campaign.Parts += int64(m.Parts)
	r.Campaign.Unicode = r.Campaign.Unicode || m.Unicode
	r.print.Add(m.Number, m.Text)
	if r.Campaign.GroupID != "" {
		return nil
	}
	return r.planner.Add(PlanRow{ID: m.Row, Number: m.Number, Text: m.Text, Unicode: m.Unicode})
}

// Plan ends the campaign: its calls are planned and its fingerprint is known.
// calls are those of the messages that are not left out, in their order.
func (r *Repetition) Plan() (calls []int32) {
	r.Campaign.Fingerprint = r.print.Of(r.Campaign.SenderID)
	if r.Campaign.GroupID != "" {
		r.Campaign.CallsText = 1
		return make([]int32, r.Tally["draft"])
	}
	plan := r.planner.Plan()
	r.Campaign.CallsText, r.Campaign.CallsPairs = int64(plan.ByKind[CallText]), int64(plan.ByKind[CallPairs])
	return plan.Assign
}
