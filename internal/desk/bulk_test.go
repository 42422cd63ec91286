package desk_test

import (
	"fmt"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

// rows makes n rows of a list; every third has a text of its own.
func rows(first, n int) []sms.Message {
	list := make([]sms.Message, n)
	for i := range list {
		text := "The clinic is closed on Friday."
		if i%3 == 0 {
			text = fmt.Sprintf("Dear patient %d, your appointment is on Friday at nine.", first+i)
		}
		list[i] = sms.Message{Row: int64(i + 2), Number: fmt.Sprintf("234803%07d", first+i), Text: text, Parts: 1}
	}
	return list
}

// list stores a planned draft as a list makes it.
func (r *rig) list(name string, messages []sms.Message) sms.Campaign {
	r.t.Helper()
	g, err := r.gateways.For(r.ctx, r.account)
	if err != nil {
		r.t.Fatal(err)
	}
	planner := sms.NewPlanner(sms.PlanLimits{CallLimit: r.account.CallLimit, URLBudget: r.account.URLBudget, Overhead: g.PairsOverhead("CLINIC", false)}, len(messages))
	for _, m := range messages {
		if err := planner.Add(sms.PlanRow{ID: m.Row, Number: m.Number, Text: m.Text, Unicode: m.Unicode}); err != nil {
			r.t.Fatal(err)
		}
	}
	plan := planner.Plan()
	for i := range messages {
		messages[i].Call = plan.Assign[i]
	}
	c := sms.Campaign{AccountID: r.account.ID, Name: name, SenderID: "CLINIC", CallsText: int64(plan.ByKind[sms.CallText]), CallsPairs: int64(plan.ByKind[sms.CallPairs]), Fingerprint: name}
	made, _, err := r.db.CreateDraft(r.ctx, c, desk.NewToken(), messages, 0, time.Now().UnixMilli())
	if err != nil {
		r.t.Fatal(err)
	}
	return made
}

// BenchmarkBulk measures what one call of a campaign with many texts costs
// from its claim to its outcome, the sandbox's share included.
func BenchmarkBulk(b *testing.B) {
	r := newRig(b, sandbox.Config{}, func(a *sms.Account) { a.CallLimit = 100; a.PerMinute = 1_000_000 })
	c := r.list("bulk", rows(1_000_000, b.N*20))
	c = r.start(c)
	b.ResetTimer()
	r.dispatch()
	for {
		got, err := r.db.Campaign(r.ctx, c.ID)
		if err != nil {
			b.Fatal(err)
		}
		if got.State == sms.CampaignFinished {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	b.StopTimer()
	calls := float64(c.CallsText + c.CallsPairs)
	b.ReportMetric(b.Elapsed().Seconds()*1000/calls, "ms/call")
	b.ReportMetric(float64(b.N*20)/b.Elapsed().Seconds(), "rows/s")
}
