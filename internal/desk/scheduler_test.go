package desk_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/rig"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
	"smsdesk/internal/workers"
)

func TestASchedulerStartsAtTheMinuteAndOnce(t *testing.T) {
	rig.Scheduled(t, func(p *rig.Timetable) {
		c := p.Order(time.Hour)
		p.Pass(time.Hour - time.Second)
		p.Is(c.ID, sms.CampaignScheduled, "")
		p.Pass(3 * time.Second)
		got := p.Is(c.ID, sms.CampaignRunning, "")
		if late := got.StartedAt - got.SendAt; late < 0 || late > 2000 || got.StartedName != "Ada Obi" {
			t.Errorf("started %d ms after its time by %q", late, got.StartedName)
		}
		if tally, err := p.DB.Tally(p.Ctx, c.ID); err != nil || tally["queued"] != 3 {
			t.Errorf("%v %v", tally, err)
		}
		// the clock is put back before the time of the start.
		p.Clocks.Jump(-2 * time.Hour)
		p.Pass(3 * time.Hour)
		if again := p.Is(c.ID, sms.CampaignRunning, ""); again.Version != got.Version {
			t.Error("it was started a second time")
		}
	})
}

// TestALateStartIsLeftToAPerson.
func TestALateStartIsLeftToAPerson(t *testing.T) {
	rig.Scheduled(t, func(p *rig.Timetable) {
		soon, late := p.Order(40*time.Minute), p.Order(5*time.Minute)
		p.Stop()
		p.Pass(sms.MaxLate + 6*time.Minute + 5*time.Minute)
		p.Run()
		p.Pass(2 * time.Second)
		p.Is(soon.ID, sms.CampaignRunning, "")
		held := p.Is(late.ID, sms.CampaignPaused, "more than 30 minutes late, so someone has to decide when to send it")
		if tally, err := p.DB.Tally(p.Ctx, late.ID); err != nil || tally["draft"] != 3 || !held.Held() {
			t.Errorf("%v %v", tally, err)
		}
		started, err := p.Desk.ContinueCampaign(p.Ctx, sms.User{ID: 2, Name: "Bola", Role: sms.Sender, Active: true}, late.ID,
			desk.ContinueOrder{})
		if err != nil || started.State != sms.CampaignRunning || started.StartedName != "Bola" || started.StartedAt == 0 {
			t.Errorf("%+v %v", started, err)
		}
		if tally, err := p.DB.Tally(p.Ctx, late.ID); err != nil || tally["queued"] != 3 {
			t.Errorf("%v %v", tally, err)
		}
	})
}

// TestAJumpOfTheClockStartsNothing.
func TestAJumpOfTheClockStartsNothing(t *testing.T) {
	for _, by := range []time.Duration{2 * time.Minute, time.Hour, 24 * time.Hour} {
		rig.Scheduled(t, func(p *rig.Timetable) {
			inside, after := p.Order(by-30*time.Second), p.Order(by+10*time.Minute)
			p.Pass(5 * time.Second)
			p.Clocks.Jump(by)
			p.Pass(5 * time.Second)
			p.Is(inside.ID, sms.CampaignPaused, "clock of the computer that runs smsdesk jumped ahead")
			p.Is(after.ID, sms.CampaignScheduled, "")
			if n := strings.Count(p.Log.String(), "the clock jumped"); n != 1 {
				t.Errorf("%s: said %d times", by, n)
			}
			p.Pass(10 * time.Minute)
			p.Is(after.ID, sms.CampaignRunning, "")
		})
	}
}

// However clocks are set, nothing starts before its time by the wall, nothing
// starts in a jump, and nothing starts twice.
func TestSchedulesUnderRandomClocks(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 2))
	rig.Scheduled(t, func(p *rig.Timetable) {
		starts := map[int64]int64{}
		var list []int64
		for round := range 150 {
			list = append(list, p.Order(time.Duration(1+random.IntN(7200))*time.Second).ID)
			before := p.Clocks.Wall()
			jump := time.Duration(0)
			if random.IntN(3) == 0 {
				jump = time.Duration(random.IntN(3)-1) * time.Duration(2+random.IntN(90)) * time.Minute
				p.Clocks.Jump(jump)
				p.Pass(1500 * time.Millisecond)
			}
			for _, id := range list {
				c, err := p.DB.Campaign(p.Ctx, id)
				if err != nil {
					t.Fatal(err)
				}
				if c.StartedAt > 0 && starts[id] == 0 {
					starts[id] = c.StartedAt
					if c.StartedAt < c.SendAt {
						t.Fatalf("round %d: started %d ms early", round, c.SendAt-c.StartedAt)
					}
					if jump > 0 && c.SendAt > before.Add(2*time.Second).UnixMilli() && c.SendAt < before.Add(jump).UnixMilli() {
						t.Fatalf("round %d: started by a jump of %s", round, jump)
					}
				}
				if starts[id] != c.StartedAt {
					t.Fatalf("round %d: started again", round)
				}
			}
			p.Pass(time.Duration(random.IntN(600)) * time.Second)
		}
		if len(starts) < 30 {
			t.Errorf("only %d were started: this proves nothing", len(starts))
		}
	})
}

func TestAScheduledStartObeysTheRulesOfAStart(t *testing.T) {
	rig.Scheduled(t, func(p *rig.Timetable) {
		c := p.Order(time.Minute)
		p.Know("OTHER")
		p.Pass(62 * time.Second)
		p.Is(c.ID, sms.CampaignPaused, "We could not check with the provider whether sender ID CLINIC is approved")
		if got, err := p.Desk.ContinueCampaign(p.Ctx, p.By, c.ID, desk.ContinueOrder{}); err != nil ||
			got.State != sms.CampaignPaused {
			t.Errorf("it goes on without a sender ID: %+v %v", got, err)
		}
		p.Know("CLINIC")
		if got, err := p.Desk.ContinueCampaign(p.Ctx, p.By, c.ID, desk.ContinueOrder{}); err != nil ||
			got.State != sms.CampaignRunning {
			t.Errorf("%+v %v", got, err)
		}
	})
	rig.Scheduled(t, func(p *rig.Timetable) {
		twin := func(again bool) sms.Campaign {
			c := p.Draft("CLINIC", "The same", rig.Ordinary(2)...)
			c, err := p.Desk.ScheduleCampaign(p.Ctx, p.By, c.ID, sms.ScheduleAt(p.Clocks.Wall().Add(time.Minute)),
				desk.StartOrder{Version: c.Version, Again: again})
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		first, second, meant := twin(false), twin(false), twin(true)
		p.Pass(62 * time.Second)
		p.Is(first.ID, sms.CampaignRunning, "")
		p.Is(second.ID, sms.CampaignPaused, "nearly this text in the meantime, from campaign")
		p.Is(meant.ID, sms.CampaignRunning, "")
	})
}

func TestOrdersAboutASchedule(t *testing.T) {
	rig.Scheduled(t, func(p *rig.Timetable) {
		viewer, other := sms.User{ID: 9, Name: "V", Role: sms.Viewer, Active: true},
			sms.User{ID: 2, Name: "Bola", Role: sms.Sender, Active: true}
		c := p.Draft("CLINIC", "Hello", rig.Ordinary(2)...)
		at := func(d time.Duration) sms.Schedule { return sms.ScheduleAt(p.Clocks.Wall().Add(d)) }
		if _, err := p.Desk.ScheduleCampaign(p.Ctx, viewer, c.ID, at(time.Hour),
			desk.StartOrder{Version: c.Version}); !errors.Is(err, sms.ErrForbidden) {
			t.Errorf("a viewer schedules: %v", err)
		}
		var bad sms.Invalid
		for _, in := range []time.Duration{-time.Second, 0, 366 * 24 * time.Hour} {
			if _, err := p.Desk.ScheduleCampaign(p.Ctx, p.By, c.ID, at(in), desk.StartOrder{Version: c.Version}); !errors.As(err,
				&bad) || bad["time"] == "" {
				t.Errorf("%s from now: %v", in, err)
			}
		}
		if _, err := p.Desk.RescheduleCampaign(p.Ctx, p.By, c.ID, at(time.Hour),
			desk.StartOrder{Version: c.Version}); !errors.Is(err, sms.ErrConflict) {
			t.Errorf("a draft is rescheduled: %v", err)
		}
		when := at(time.Hour)
		for range 2 {
			if got, err := p.Desk.ScheduleCampaign(p.Ctx, p.By, c.ID, when, desk.StartOrder{Version: c.Version}); err != nil ||
				got.State != sms.CampaignScheduled {
				t.Errorf("pressing twice: %+v %v", got, err)
			}
		}
		if _, err := p.Desk.ScheduleCampaign(p.Ctx, other, c.ID, when, desk.StartOrder{Version: c.Version}); !errors.Is(err,
			sms.ErrConflict) {
			t.Errorf("two people schedule: %v", err)
		}
		if _, err := p.Desk.StartCampaign(p.Ctx, other, c.ID, desk.StartOrder{Version: c.Version, Again: true}); !errors.Is(
			err, sms.ErrConflict) {
			t.Errorf("a scheduled campaign is started: %v", err)
		}
		if _, err := p.Desk.StopCampaign(p.Ctx, p.By, c.ID); !errors.Is(err, sms.ErrConflict) {
			t.Errorf("a scheduled campaign is stopped: %v", err)
		}
		if _, err := p.Desk.RescheduleCampaign(p.Ctx, p.By, c.ID, at(2*time.Hour),
			desk.StartOrder{Version: c.Version}); !errors.Is(err, sms.ErrConflict) {
			t.Errorf("an old page changes the time: %v", err)
		}
		c = p.Is(c.ID, sms.CampaignScheduled, "")
		if _, err := p.Desk.RescheduleCampaign(p.Ctx, other, c.ID, at(2*time.Hour),
			desk.StartOrder{Version: c.Version}); err != nil {
			t.Error(err)
		}
		p.Pass(time.Hour + time.Minute)
		if got := p.Is(c.ID, sms.CampaignScheduled, ""); got.StartedName != "Bola" {
			t.Errorf("%+v", got)
		}
		if got, err := p.Desk.CancelSchedule(p.Ctx, p.By, c.ID); err != nil || got.State != sms.CampaignDraft ||
			got.SendAt != 0 {
			t.Errorf("%+v %v", got, err)
		}
		if _, err := p.Desk.CancelSchedule(p.Ctx, p.By, c.ID); !errors.Is(err, sms.ErrConflict) {
			t.Errorf("cancelled twice: %v", err)
		}
		p.Pass(2 * time.Hour)
		c = p.Is(c.ID, sms.CampaignDraft, "")
		if got, err := p.Desk.StartCampaign(p.Ctx, p.By, c.ID, desk.StartOrder{Version: c.Version}); err != nil ||
			got.State != sms.CampaignRunning {
			t.Errorf("%+v %v", got, err)
		}
		if _, err := p.Desk.CancelSchedule(p.Ctx, p.By, c.ID); !errors.Is(err, sms.ErrConflict) {
			t.Errorf("cancelled after its start: %v", err)
		}
	})
}

// A scheduled campaign goes out over the real client to the sandbox once.
func TestAScheduledCampaignIsSentOnce(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.Dispatch()
	ctx, cancel := context.WithCancel(t.Context())
	var loops sync.WaitGroup
	for range 3 {
		s := workers.NewScheduler(workers.SchedulerConfig{Store: r.DB, Orders: r.Desk, Clocks: r.Accounts, Feed: r.Feed,
			Log: slog.New(slog.DiscardHandler), Now: time.Now,
			Elapsed: func() time.Duration { return time.Duration(time.Now().UnixNano()) }})
		loops.Go(func() { s.Run(ctx) })
	}
	defer func() { cancel(); loops.Wait() }()
	c := r.Draft("CLINIC", "Hello", rig.Ordinary(7)...)
	if _, err := r.Desk.ScheduleCampaign(r.Ctx, r.By, c.ID, sms.ScheduleAt(time.Now().Add(700*time.Millisecond)),
		desk.StartOrder{Version: c.Version}); err != nil {
		t.Fatal(err)
	}
	r.Until(c.ID, "the end", rig.Finished)
	for number, n := range r.Ledger() {
		if n != 1 {
			t.Errorf("%s was executed %d times", number, n)
		}
	}
	if len(r.Ledger()) != 7 {
		t.Errorf("%v", r.Ledger())
	}
}
