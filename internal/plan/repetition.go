package plan

import "smsdesk/internal/sms"

// Repetition puts a campaign together that sends messages of an earlier one
// again. Whoever makes it gives it the new messages one by one, in the order of
// their rows, and stores them.
type Repetition struct {
	Campaign sms.Campaign
	Tally    sms.Tally // of the messages given, by standing
	planner  *Planner
	print    sms.Fingerprinter
}

// NewRepetition begins the campaign of about n messages that a person sends again.
func NewRepetition(earlier sms.Campaign, by sms.User, limits Limits, n int) *Repetition {
	return &Repetition{Tally: sms.Tally{}, planner: New(limits, n),
		Campaign: sms.Campaign{AccountID: earlier.AccountID, Name: sms.ResendName(earlier.Name), SenderID: earlier.SenderID,
			Text: earlier.Text, TextKey: earlier.TextKey, Flash: earlier.Flash, GroupID: earlier.GroupID, GroupName: earlier.GroupName,
			ListID: earlier.ListID, AgainOf: earlier.ID, CreatedBy: by.ID, CreatedName: by.Name}}
}

// Add counts a new message, which is a draft or left out.
func (r *Repetition) Add(m sms.Message) error {
	r.Campaign.Recipients++
	r.Tally[sms.StandingKey(m.State, "", false)]++
	if m.State == sms.Skipped {
		return nil
	}
	r.Campaign.Parts += int64(m.Parts)
	r.Campaign.Unicode = r.Campaign.Unicode || m.Unicode
	r.print.Add(m.Number, m.Text)
	if r.Campaign.GroupID != "" {
		return nil
	}
	return r.planner.Add(Row{ID: m.Row, Number: m.Number, Text: m.Text, Unicode: m.Unicode})
}

// Plan ends the campaign: its calls are planned and its fingerprint is known.
// calls are those of the messages that are not left out, in their order.
func (r *Repetition) Plan() (calls []int32) {
	r.Campaign.Fingerprint = r.print.Sum(r.Campaign.SenderID)
	if r.Campaign.GroupID != "" {
		r.Campaign.CallsText = 1
		return make([]int32, r.Tally["draft"])
	}
	plan := r.planner.Plan()
	r.Campaign.CallsText, r.Campaign.CallsPairs = int64(plan.ByKind[sms.CallText]), int64(plan.ByKind[sms.CallPairs])
	return plan.Assign
}
