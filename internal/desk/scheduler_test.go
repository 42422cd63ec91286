package desk_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/gateway"
	"smsdesk/internal/rig"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
	"smsdesk/internal/workers"
	"smsdesk/storage"
)

// clocks are a wall clock that can be set and one that cannot. Both run with
// the bubble's time.
type clocks struct {
	mu    sync.Mutex
	began time.Time
	set   time.Duration
}

func (c *clocks) wall() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.set)
}

func (c *clocks) elapsed() time.Duration { return time.Since(c.began) }

func (c *clocks) jump(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set += d
}

// timetable is a desk with a Scheduler and no Dispatcher, in a bubble of time.
type timetable struct {
	*kit
	clocks *clocks
	log    bytes.Buffer
	stop   func()
	n      int
}

// scheduled runs play with a Scheduler under fake time and without the sandbox:
// real sockets do not keep to such time.
func scheduled(t *testing.T, play func(p *timetable)) {
	t.Helper()
	data := rig.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		db, err := storage.Open(t.Context(), storage.Config{Data: data})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		p := &timetable{clocks: &clocks{began: time.Now()}}
		open := func(gateway.Opening[rig.Service]) (rig.Service, error) {
			return nil, errors.New("nothing is sent here")
		}
		p.kit = &kit{&rig.Rig{T: t, Ctx: t.Context(), DB: db, Feed: feed.New(),
			By: sms.User{ID: 1, Name: "Ada Obi", Role: sms.Administrator, Active: true}}}
		p.Accounts = gateway.NewAccounts(open, db, slog.New(slog.DiscardHandler))
		p.Desk = rig.StaffOn(db, p.Orders(), p.Feed, slog.New(slog.NewTextHandler(&p.log, nil)), p.clocks.wall)
		a := sms.Account{Name: "Clinic", BaseURL: "http://127.0.0.1:1/v2", PerMinute: 100, CallLimit: 10, Country: "NG",
			Timezone: "Africa/Lagos", Currency: "₦"}
		if p.Account, err = p.Desk.CreateAccount(t.Context(), p.By, a,
			sms.Credentials{ClientID: "c", APIKey: rig.Key}); err != nil {
			t.Fatal(err)
		}
		p.Know("CLINIC", "PENDING1")
		p.run()
		play(p)
		p.stop()
	})
}

// run starts a Scheduler, as a process that begins does.
func (p *timetable) run() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	s := workers.NewScheduler(workers.SchedulerConfig{Store: p.DB, Orders: p.Desk, Clocks: p.Accounts, Feed: p.Feed,
		Log: slog.New(slog.NewTextHandler(&p.log, nil)), Now: p.clocks.wall, Elapsed: p.clocks.elapsed})
	go func() { defer close(done); s.Run(ctx) }()
	p.stop = func() { cancel(); <-done }
}

// order schedules a new campaign for so long from now.
func (p *timetable) order(in time.Duration) sms.Campaign {
	p.T.Helper()
	p.n++
	c := p.Draft("CLINIC", strings.Repeat("x", p.n), rig.Ordinary(3)...)
	c, err := p.Desk.ScheduleCampaign(p.Ctx, p.By, c.ID, sms.ScheduleAt(p.clocks.wall().Add(in)),
		desk.StartOrder{Version: c.Version})
	if err != nil {
		p.T.Fatal(err)
	}
	return c
}

// pass lets time go by, and the loop do what there is to do.
func (p *timetable) pass(d time.Duration) { time.Sleep(d) }

func (p *timetable) is(id int64, state sms.CampaignState, pause string) sms.Campaign {
	p.T.Helper()
	c, err := p.DB.Campaign(p.Ctx, id)
	if err != nil {
		p.T.Fatal(err)
	}
	if c.State != state || !strings.Contains(c.Pause, pause) || pause == "" && c.Pause != "" {
		p.T.Errorf("campaign %d is %s %q, want %s %q", id, c.State, c.Pause, state, pause)
	}
	return c
}

func TestASchedulerStartsAtTheMinuteAndOnce(t *testing.T) {
	scheduled(t, func(p *timetable) {
		c := p.order(time.Hour)
		p.pass(time.Hour - time.Second)
		p.is(c.ID, sms.CampaignScheduled, "")
		p.pass(3 * time.Second)
		got := p.is(c.ID, sms.CampaignRunning, "")
		if late := got.StartedAt - got.SendAt; late < 0 || late > 2000 || got.StartedName != "Ada Obi" {
			t.Errorf("started %d ms after its time by %q", late, got.StartedName)
		}
		if tally, err := p.DB.Tally(p.Ctx, c.ID); err != nil || tally["queued"] != 3 {
			t.Errorf("%v %v", tally, err)
		}
		// the clock is put back before the time of the start.
		p.clocks.jump(-2 * time.Hour)
		p.pass(3 * time.Hour)
		if again := p.is(c.ID, sms.CampaignRunning, ""); again.Version != got.Version {
			t.Error("it was started a second time")
		}
	})
}

// TestALateStartIsLeftToAPerson.
func TestALateStartIsLeftToAPerson(t *testing.T) {
	scheduled(t, func(p *timetable) {
		soon, late := p.order(40*time.Minute), p.order(5*time.Minute)
		p.stop()
		p.pass(sms.LateMost + 6*time.Minute + 5*time.Minute)
		p.run()
		p.pass(2 * time.Second)
		p.is(soon.ID, sms.CampaignRunning, "")
		held := p.is(late.ID, sms.CampaignPaused, "more than 30 minutes late, so someone has to decide when to send it")
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
		scheduled(t, func(p *timetable) {
			inside, after := p.order(by-30*time.Second), p.order(by+10*time.Minute)
			p.pass(5 * time.Second)
			p.clocks.jump(by)
			p.pass(5 * time.Second)
			p.is(inside.ID, sms.CampaignPaused, "clock of the computer that runs smsdesk jumped ahead")
			p.is(after.ID, sms.CampaignScheduled, "")
			if n := strings.Count(p.log.String(), "the clock jumped"); n != 1 {
				t.Errorf("%s: said %d times", by, n)
			}
			p.pass(10 * time.Minute)
			p.is(after.ID, sms.CampaignRunning, "")
		})
	}
}

// However clocks are set, nothing starts before its time by the wall, nothing
// starts in a jump, and nothing starts twice.
func TestSchedulesUnderRandomClocks(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 2))
	scheduled(t, func(p *timetable) {
		starts := map[int64]int64{}
		var list []int64
		for round := range 150 {
			list = append(list, p.order(time.Duration(1+random.IntN(7200))*time.Second).ID)
			before := p.clocks.wall()
			jump := time.Duration(0)
			if random.IntN(3) == 0 {
				jump = time.Duration(random.IntN(3)-1) * time.Duration(2+random.IntN(90)) * time.Minute
				p.clocks.jump(jump)
				p.pass(1500 * time.Millisecond)
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
			p.pass(time.Duration(random.IntN(600)) * time.Second)
		}
		if len(starts) < 30 {
			t.Errorf("only %d were started: this proves nothing", len(starts))
		}
	})
}

func TestAScheduledStartObeysTheRulesOfAStart(t *testing.T) {
	scheduled(t, func(p *timetable) {
		c := p.order(time.Minute)
		p.Know("OTHER")
		p.pass(62 * time.Second)
		p.is(c.ID, sms.CampaignPaused, "We could not check with the provider whether sender ID CLINIC is approved")
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
	scheduled(t, func(p *timetable) {
		twin := func(again bool) sms.Campaign {
			c := p.Draft("CLINIC", "The same", rig.Ordinary(2)...)
			c, err := p.Desk.ScheduleCampaign(p.Ctx, p.By, c.ID, sms.ScheduleAt(p.clocks.wall().Add(time.Minute)),
				desk.StartOrder{Version: c.Version, Again: again})
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		first, second, meant := twin(false), twin(false), twin(true)
		p.pass(62 * time.Second)
		p.is(first.ID, sms.CampaignRunning, "")
		p.is(second.ID, sms.CampaignPaused, "with the same text and numbers, was sent in the meantime")
		p.is(meant.ID, sms.CampaignRunning, "")
	})
}

func TestOrdersAboutASchedule(t *testing.T) {
	scheduled(t, func(p *timetable) {
		viewer, other := sms.User{ID: 9, Name: "V", Role: sms.Viewer, Active: true},
			sms.User{ID: 2, Name: "Bola", Role: sms.Sender, Active: true}
		c := p.Draft("CLINIC", "Hello", rig.Ordinary(2)...)
		at := func(d time.Duration) sms.Schedule { return sms.ScheduleAt(p.clocks.wall().Add(d)) }
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
		c = p.is(c.ID, sms.CampaignScheduled, "")
		if _, err := p.Desk.RescheduleCampaign(p.Ctx, other, c.ID, at(2*time.Hour),
			desk.StartOrder{Version: c.Version}); err != nil {
			t.Error(err)
		}
		p.pass(time.Hour + time.Minute)
		if got := p.is(c.ID, sms.CampaignScheduled, ""); got.StartedName != "Bola" {
			t.Errorf("%+v", got)
		}
		if got, err := p.Desk.CancelSchedule(p.Ctx, p.By, c.ID); err != nil || got.State != sms.CampaignDraft ||
			got.SendAt != 0 {
			t.Errorf("%+v %v", got, err)
		}
		if _, err := p.Desk.CancelSchedule(p.Ctx, p.By, c.ID); !errors.Is(err, sms.ErrConflict) {
			t.Errorf("cancelled twice: %v", err)
		}
		p.pass(2 * time.Hour)
		c = p.is(c.ID, sms.CampaignDraft, "")
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
