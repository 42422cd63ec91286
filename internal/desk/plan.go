package desk

import (
	"fmt"

	"smsdesk/internal/plan"
	"smsdesk/internal/sms"
)

// divided divides the messages of a typed campaign into calls of at most limit
// recipients. All of them have one text, so none of the calls is a list of
// pairs. Left out messages are in no call. A campaign to one number is urgent: a
// person waits for it.
func divided(limit int, c *sms.Campaign, messages []sms.Message) error {
	if c.GroupID != "" {
		c.CallsText = 1
		return nil
	}
	planner := plan.New(plan.Limits{CallLimit: limit}, len(messages))
	var planned []*sms.Message
	for i := range messages {
		m := &messages[i]
		if m.State == sms.Skipped {
			continue
		}
		if err := planner.Add(plan.Row{ID: m.Row, Number: m.Number, Text: m.Text, Unicode: m.Unicode}); err != nil {
			return fmt.Errorf("plan campaign: %w", err)
		}
		planned = append(planned, m)
	}
	p := planner.Plan()
	for i, m := range planned {
		m.Call = p.Assign[i]
	}
	c.CallsText, c.CallsPairs = int64(p.ByKind[sms.CallText]), int64(p.ByKind[sms.CallPairs])
	c.Urgent = len(messages) == 1
	return nil
}
