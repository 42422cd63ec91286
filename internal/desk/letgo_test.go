package desk_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/rig"
	"smsdesk/internal/sms"
)

// passage is one way on which messages leave: a campaign that may go it, and the
// order.
type passage struct {
	way  sms.Way
	made []func(c *sms.Campaign, at sms.Schedule) error
	give func(c sms.Campaign, o desk.StartOrder) (sms.Campaign, error)
}

// inState orders a campaign in storage, past every check.
func (r *kit) inState(c sms.Campaign, order func(*sms.Campaign) error) sms.Campaign {
	r.T.Helper()
	c, err := r.DB.UpdateCampaign(r.Ctx, c.ID, time.Now().UnixMilli(), order)
	if err != nil {
		r.T.Fatal(err)
	}
	return c
}

func (o *quartet) passages() []passage {
	later := sms.ScheduleAt(time.Now().Add(3 * time.Hour))
	type moves = []func(c *sms.Campaign, at sms.Schedule) error
	due := func(c *sms.Campaign, at sms.Schedule) error { return c.ScheduleAt(at, o.ada, c.Version, false) }
	next := func(c sms.Campaign, so desk.StartOrder) (sms.Campaign, error) {
		return o.Desk.ContinueCampaign(o.Ctx, o.ada, c.ID, desk.ContinueOrder{MayRepeat: so.MayRepeat})
	}
	return []passage{
		{sms.WayStart, nil, func(c sms.Campaign, so desk.StartOrder) (sms.Campaign, error) {
			return o.Desk.StartCampaign(o.Ctx, o.ada, c.ID, so)
		}},
		{sms.WayTry, nil, func(c sms.Campaign, _ desk.StartOrder) (sms.Campaign, error) {
			list, _, err := o.DB.Messages(o.Ctx, sms.MessageFilter{CampaignID: c.ID, Limit: 1})
			if err != nil {
				return c, err
			}
			return o.Desk.SendTest(o.Ctx, o.ada, c.ID, desk.TestOrder{MessageID: list[0].ID, Number: "08031000000",
				Token: desk.NewToken()})
		}},
		{sms.WayHandOver, nil, func(c sms.Campaign, so desk.StartOrder) (sms.Campaign, error) {
			return o.Desk.HandOverCampaign(o.Ctx, o.ada, c.ID, later, so)
		}},
		{sms.WaySchedule, nil, func(c sms.Campaign, so desk.StartOrder) (sms.Campaign, error) {
			return o.Desk.ScheduleCampaign(o.Ctx, o.ada, c.ID, later, so)
		}},
		{sms.WayReschedule, moves{due}, func(c sms.Campaign, so desk.StartOrder) (sms.Campaign, error) {
			return o.Desk.RescheduleCampaign(o.Ctx, o.ada, c.ID, later, so)
		}},
		{sms.WayAsk, nil, func(c sms.Campaign, so desk.StartOrder) (sms.Campaign, error) {
			return o.Desk.AskApproval(o.Ctx, o.ada, c.ID, desk.Ask{StartOrder: so})
		}},
		{sms.WayApprove, moves{func(c *sms.Campaign, _ sms.Schedule) error {
			return c.Ask(sms.Schedule{}, false, o.ada, c.Version, false, time.Now())
		}}, func(c sms.Campaign, so desk.StartOrder) (sms.Campaign, error) {
			return o.Desk.ApproveCampaign(o.Ctx, o.bola, c.ID,
				desk.ApproveOrder{Version: c.Version, Again: so.Again, MayRepeat: so.MayRepeat})
		}},
		{sms.WayStartDue, moves{due}, func(c sms.Campaign, _ desk.StartOrder) (sms.Campaign, error) { return o.due(c) }},
		{sms.WayRelease, moves{due, func(c *sms.Campaign, _ sms.Schedule) error { return c.Hold(c.Version, sms.PauseLate, "It was late") }}, next},
		{sms.WayContinue, moves{func(c *sms.Campaign, _ sms.Schedule) error {
			return c.Start(o.ada, c.Version, false, time.Now())
		}, func(c *sms.Campaign, _ sms.Schedule) error { return c.Stop() }}, next},
	}
}

// due lets a Scheduler look once at what is due.
func (o *quartet) due(c sms.Campaign) (sms.Campaign, error) {
	ctx, stop := context.WithCancel(o.Ctx)
	done := make(chan struct{})
	go func() { defer close(done); o.Scheduler(o.Desk, time.Now).Run(ctx) }()
	for deadline := time.Now().Add(15 * time.Second); o.now(c.ID).State == sms.CampaignScheduled &&
		time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	stop()
	<-done
	return o.now(c.ID), nil
}

// refusedBy names what stands in the way of a campaign after an order: fields,
// or the code of the pause that holds it. Nothing: it went.
func refusedBy(c sms.Campaign, err error, field, code string) bool {
	return said(err, field) != "" || c.Held() && c.PauseCode == code
}

// TestEveryWayAsksWhatTheTableSays breaks one thing after the other and gives
// every order: it is refused for that where the table says so, and nowhere else.
func TestEveryWayAsksWhatTheTableSays(t *testing.T) {
	met := map[sms.Way]bool{}
	for _, check := range sms.Checks() {
		t.Run(string(check), func(t *testing.T) {
			o := newQuartet(t)
			o.known()
			o.Know("CLINIC", "PENDING1")
			if err := o.DB.PutGroups(o.Ctx, o.Account.ID, []sms.Group{{ID: 999, Name: "Parents", ContactCount: 12}},
				time.Now().UnixMilli()); err != nil {
				t.Fatal(err)
			}
			ways := o.passages()
			campaigns := map[sms.Way]sms.Campaign{}
			for _, w := range ways {
				campaigns[w.way] = o.toGo(check, w)
			}
			o.spoil(check)
			for _, w := range ways {
				met[w.way] = true
				c := campaigns[w.way]
				order := desk.StartOrder{Version: c.Version, Typed: fmt.Sprint(c.Recipients), Blind: true}
				switch check {
				case sms.CheckTyped:
					order.Typed = ""
				case sms.CheckBlind:
					order.Blind = false
				}
				after, err := w.give(c, order)
				field, code := fields[check], codes[check]
				if check == sms.CheckGroup && w.way == sms.WayApprove {
					field = "sender_id"
				}
				if got, want := refusedBy(after, err, field, code), slices.Contains(w.way.Asks(), check); got != want {
					t.Errorf("%s was refused %v, want %v: %v, %s %q", w.way, got, want, err, after.State, after.Pause)
				}
			}
		})
	}
	for _, tr := range sms.Transitions() {
		if len(tr.Asks) > 0 && !met[tr.Way] {
			t.Errorf("%s was not tried", tr.Way)
		}
	}
}

var (
	fields = map[sms.Check]string{sms.CheckSender: "sender_id", sms.CheckTyped: "typed", sms.CheckGroup: "group",
		sms.CheckBlind: "blind",
		sms.CheckLimit: "limit", sms.CheckApproval: "approval", sms.CheckRepeat: "may_repeat", sms.CheckSame: "again"}
	codes = map[sms.Check]string{sms.CheckSender: sms.PauseSender, sms.CheckGroup: sms.PauseGroup,
		sms.CheckSame: sms.PauseSame}
)

// toGo makes a campaign that stands where a way begins, and that a check which is
// spoiled later may refuse. What waits for approval goes to more people than the
// account lets go without.
func (o *quartet) toGo(check sms.Check, w passage) sms.Campaign {
	o.T.Helper()
	sender, n := "CLINIC", 3
	if check == sms.CheckSender {
		sender = "PENDING1"
	}
	if w.way == sms.WayAsk || w.way == sms.WayApprove {
		n = 4
	}
	text := "Hello " + desk.NewToken()[:8]
	var c sms.Campaign
	var err error
	if (check == sms.CheckGroup || check == sms.CheckBlind) && w.way != sms.WayTry {
		c, err = o.Desk.CreateCampaign(o.Ctx, o.ada, desk.Order{AccountID: o.Account.ID, SenderID: sender, Text: text,
			GroupID: "999", GroupName: "Parents", Token: desk.NewToken()})
	} else {
		c = o.Draft(sender, text, rig.Ordinary(n)...)
	}
	if err != nil {
		o.T.Fatal(err)
	}
	if check == sms.CheckSame {
		twin := o.Draft(sender, text, rig.Ordinary(n)...)
		o.inState(twin, func(c *sms.Campaign) error { return c.Start(o.ada, c.Version, true, time.Now()) })
	}
	for _, move := range w.made {
		c = o.inState(c, func(c *sms.Campaign) error { return move(c, sms.ScheduleAt(time.Now().Add(-time.Second))) })
	}
	return c
}

// spoil makes one thing stand in the way of every campaign.
func (o *quartet) spoil(check sms.Check) {
	o.T.Helper()
	change := func(do func(*sms.Account)) {
		if _, err := o.Desk.SaveAccount(o.Ctx, o.ada, o.Account.ID, func(a *sms.Account, _ *sms.Credentials) {
			do(a)
		}); err != nil {
			o.T.Fatal(err)
		}
	}
	switch check {
	case sms.CheckSender:
		o.Know("CLINIC")
	case sms.CheckGroup:
		if err := o.DB.PutGroups(o.Ctx, o.Account.ID, nil, time.Now().UnixMilli()); err != nil {
			o.T.Fatal(err)
		}
	case sms.CheckLimit:
		change(func(a *sms.Account) { a.Limits = sms.Limits{MaxPerCampaign: 1} })
	case sms.CheckApproval:
		change(func(a *sms.Account) { a.ApproveAbove = 1 })
	case sms.CheckRepeat:
		o.asks()
	}
}

// TestAHeldCampaignWhoseTwinWasSentIsReleasedOnceThePersonKnows: who releases it
// is told first, as who starts is.
func TestAHeldCampaignWhoseTwinWasSentIsReleasedOnceThePersonKnows(t *testing.T) {
	o := newQuartet(t)
	var release passage
	for _, w := range o.passages() {
		if w.way == sms.WayRelease {
			release = w
		}
	}
	c := o.toGo(sms.CheckSame, release)
	if got, err := release.give(c, desk.StartOrder{}); err != nil || !got.Held() || got.PauseCode != sms.PauseSame {
		t.Fatalf("%+v %v", got, err)
	}
	if got, err := release.give(c, desk.StartOrder{}); err != nil || got.State != sms.CampaignRunning {
		t.Errorf("%+v %v", got, err)
	}
}

// meanwhile is storage in which something happens while a desk looks up the
// sender IDs that it knows.
type meanwhile struct {
	desk.RecordStore
	happens func()
}

func (m *meanwhile) SenderIDs(ctx context.Context, account int64) ([]sms.SenderID, error) {
	list, err := m.RecordStore.SenderIDs(ctx, account)
	if m.happens != nil {
		happens := m.happens
		m.happens = nil
		happens()
	}
	return list, err
}

// TestNobodyHoldsWhatAPersonGaveAnotherTime: the question to the provider takes
// seconds, in which the campaign may become another one.
func TestNobodyHoldsWhatAPersonGaveAnotherTime(t *testing.T) {
	o := newQuartet(t)
	o.known()
	o.Know("PENDING1", "CLINIC")
	tomorrow := sms.ScheduleAt(time.Now().Add(24 * time.Hour))
	c := o.Draft("PENDING1", "Hello", rig.Ordinary(2)...)
	c = o.inState(c, func(c *sms.Campaign) error {
		return c.ScheduleAt(sms.ScheduleAt(time.Now().Add(-time.Second)), o.ada, c.Version, false)
	})
	o.Know("CLINIC")
	store := &meanwhile{RecordStore: o.DB, happens: func() {
		o.inState(c, func(c *sms.Campaign) error { return c.Reschedule(tomorrow, o.ada, c.Version, false) })
	}}
	stores := rig.Stores(o.DB)
	stores.Records = store
	slow := desk.New(stores, o.Orders(), o.Feed, slog.New(slog.DiscardHandler), time.Now)
	ctx, stop := context.WithTimeout(o.Ctx, 1500*time.Millisecond)
	defer stop()
	o.Scheduler(slow, time.Now).Run(ctx)
	if got := o.now(c.ID); got.State != sms.CampaignScheduled || got.SendAt != tomorrow.At || store.happens != nil {
		t.Errorf("%s %q at %d, %v", got.State, got.Pause, got.SendAt, store.happens == nil)
	}
}

// TestAStoppedCampaignBeginsSmallAgain, whatever it proved before.
func TestAStoppedCampaignBeginsSmallAgain(t *testing.T) {
	o := newQuartet(t)
	c := o.Start(o.Draft("CLINIC", "Hello", rig.Ordinary(2)...))
	o.inState(c, func(c *sms.Campaign) error { c.Proves(sms.CanaryPassed); return c.Stop() })
	if got, err := o.Desk.ContinueCampaign(o.Ctx, o.ada, c.ID, desk.ContinueOrder{}); err != nil ||
		got.Canary != sms.CanaryPending {
		t.Errorf("%+v %v", got, err)
	}
}

// TestAStartKeepsThatThePersonKnewOfTheSame, so that the evidence can say it.
func TestAStartKeepsThatThePersonKnewOfTheSame(t *testing.T) {
	o := newQuartet(t)
	o.Start(o.Draft("CLINIC", "Hello", rig.Ordinary(2)...))
	if c := o.Start(o.Draft("CLINIC", "Hello", rig.Ordinary(2)...)); !c.SendAgain {
		t.Error("nobody knows that the person knew")
	}
}
