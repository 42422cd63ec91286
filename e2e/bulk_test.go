package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/gateway"
	"smsdesk/internal/plan"
	"smsdesk/internal/sms"
)

// bulkMessages makes rows as staff have them: six of ten get one of three
// texts, the others one with their own name, sum and date, some of these in
// Yoruba letters, a few with letters that no list of pairs can hold.
func bulkMessages(n int) []sms.Message {
	rng := rand.New(rand.NewPCG(11, 12))
	names := []string{"Ada", "Bola", "Chidi", "Ngozi Okonkwo", "Tunde", "Aisha Bello", "Emeka", "Yetunde", "Ibrahim",
		"Oluwaseun Adébáyọ̀"}
	common := []string{"The clinic is closed on Friday. For emergencies call 0800 123 4567.",
		"Fees for the second term are due on 12 January. Pay at the office or by transfer.",
		"Ẹ kú àárọ̀! The market opens at 7 tomorrow."}
	list := make([]sms.Message, n)
	for i := range list {
		text := common[rng.IntN(len(common))]
		if rng.IntN(10) < 4 {
			text = fmt.Sprintf("Dear %s, your balance is %d.%02d. Please come on %d %s at %d:%02d.", names[rng.IntN(len(names))],
				rng.IntN(90_000), rng.IntN(100),
				1+rng.IntN(28), time.Month(1+rng.IntN(12)), 8+rng.IntN(9), 15*rng.IntN(4))
			if rng.IntN(200) == 0 {
				text += " ~ Ref ^" + fmt.Sprint(i)
			}
		}
		s := sms.CountSegments(text, false)
		list[i] = sms.Message{Row: int64(i + 2), Number: fmt.Sprintf("234803%07d", 1_000_000+i*7), Text: text,
			Unicode: s.Unicode, Parts: s.Parts}
	}
	return list
}

// seed stores a planned draft as a list makes it.
func (p *pair) seed(messages []sms.Message) (sms.Campaign, plan.Plan) {
	p.t.Helper()
	ctx := context.Background()
	secrets, err := p.db.Credentials(ctx, p.account.ID)
	p.must(err)
	client, err := gateway.Open(gateway.Config{BaseURL: p.account.BaseURL, Credentials: secrets, PerMinute: 1})
	p.must(err)
	planner := plan.New(plan.Limits{CallLimit: p.account.CallLimit, Size: client.PairSize, Room: func(unicode bool) int {
		return client.PairRoom(sms.Call{SenderID: "CLINIC", Unicode: unicode}, p.account.URLBudget)
	}}, len(messages))
	for _, m := range messages {
		p.must(planner.Add(plan.Row{ID: m.Row, Number: m.Number, Text: m.Text, Unicode: m.Unicode}))
	}
	plan := planner.Plan()
	c := sms.Campaign{AccountID: p.account.ID, Name: "Bulk", SenderID: "CLINIC",
		CallsText: int64(plan.ByKind[sms.CallText]), CallsPairs: int64(plan.ByKind[sms.CallPairs])}
	for i := range messages {
		messages[i].Call = plan.Assign[i]
		c.Parts += int64(messages[i].Parts)
	}
	made, _, err := p.db.CreateDraft(ctx, c, desk.NewToken(), messages, 0, time.Now().UnixMilli())
	p.must(err)
	return made, plan
}

func (p *pair) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// begin starts a draft as the desk does for a person.
func (p *pair) begin(c sms.Campaign) {
	p.t.Helper()
	waitFor(p.t, longPatience, "the sender IDs", func() bool {
		list, err := p.db.SenderIDs(context.Background(), p.account.ID)
		return err == nil && len(list) > 0
	})
	d := p.desk()
	_, err := d.StartCampaign(context.Background(), desk.Operator(), c.ID,
		desk.StartOrder{Version: c.Version, Again: true, FromToken: true})
	p.must(err)
}

// TestBulkGoesOutAsPlanned sends 20,000 rows (100,000 by make soak) with mixed texts through real
// HTTP: each of them is executed once, with its own text, in as many calls as
// the plan says and one more, because the first call is a small one.
func TestBulkGoesOutAsPlanned(t *testing.T) {
	beside(t)
	bulkRows := many(20_000, 100_000)
	p := newPair(t, binary(t, ""), 100, "--dlr-url=")
	messages := bulkMessages(bulkRows)
	began := time.Now()
	c, plan := p.seed(messages)
	t.Logf("measured: seeded in %s", time.Since(began).Round(time.Millisecond))
	p.serve()
	began = time.Now()
	p.begin(c)
	t.Logf("measured: started in %s", time.Since(began).Round(time.Millisecond))
	waitFor(t, longPatience, "the end", func() bool {
		time.Sleep(100 * time.Millisecond)
		return p.campaign(c.ID).State == sms.CampaignFinished
	})
	took := time.Since(began)
	texts, calls := map[string]string{}, map[int64]bool{}
	list := ledger(t, p.sandbox)
	for _, e := range list {
		if _, twice := texts[e.Number]; twice {
			t.Errorf("%s was executed twice", e.Number)
		}
		texts[e.Number] = e.Text
		calls[e.Call] = true
	}
	for _, m := range messages {
		if got := texts[m.Number]; got != m.Text {
			t.Fatalf("%s got %q, want %q", m.Number, got, m.Text)
		}
	}
	if len(list) != bulkRows || len(calls) != plan.Calls+1 {
		t.Errorf("%d executed in %d calls; want %d in %d and the first small one", len(list), len(calls), bulkRows,
			plan.Calls)
	}
	tally, err := p.db.Tally(context.Background(), c.ID)
	if err != nil || tally["network"] != int64(bulkRows) || tally.Total() != int64(bulkRows) {
		t.Errorf("tally %v, %v", tally, err)
	}
	t.Logf(
		"measured: %d rows in %d calls, planned %d (%d with one text, %d lists of pairs) and a first small one, in %s: %.0f calls a second",
		len(list), len(calls), plan.Calls, plan.ByKind[sms.CallText], plan.ByKind[sms.CallPairs],
		took.Round(time.Millisecond), float64(len(calls))/took.Seconds())
}
