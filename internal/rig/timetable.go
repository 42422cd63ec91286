package rig

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/gateway"
	"smsdesk/internal/sms"
	"smsdesk/internal/workers"
	"smsdesk/storage"
)

// Clocks are a wall clock that can be set and one that cannot. Both run with
// the bubble's time.
type Clocks struct {
	mu    sync.Mutex
	began time.Time
	set   time.Duration
}

// Wall is the time on the wall clock.
func (c *Clocks) Wall() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.set)
}

// Elapsed is the time by the clock that cannot be set.
func (c *Clocks) Elapsed() time.Duration { return time.Since(c.began) }

// Jump sets the wall clock.
func (c *Clocks) Jump(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set += d
}

// Timetable is a desk with a Scheduler and no Dispatcher, in a bubble of time.
type Timetable struct {
	*Rig
	Clocks *Clocks
	Log    bytes.Buffer // of desk and Scheduler
	Stop   func()       // stops the Scheduler and waits
	n      int
}

// Scheduled runs play with a Scheduler under fake time and without the sandbox:
// real sockets do not keep to such time. Nobody listens where the account sends.
func Scheduled(t *testing.T, play func(p *Timetable)) {
	t.Helper()
	data := Folder(t)
	synctest.Test(t, func(t *testing.T) {
		db, err := storage.Open(t.Context(), storage.Config{Data: data})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		p := &Timetable{Clocks: &Clocks{began: time.Now()}}
		p.Rig = &Rig{T: t, Ctx: t.Context(), DB: db, Feed: feed.New(),
			By: sms.User{ID: 1, Name: "Ada Obi", Role: sms.Administrator, Active: true}}
		p.Accounts = gateway.NewAccounts(Open, db, slog.New(slog.DiscardHandler))
		p.Desk = StaffOn(db, p.Orders(), p.Feed, slog.New(slog.NewTextHandler(&p.Log, nil)), p.Clocks.Wall)
		a := sms.Account{Name: "Clinic", BaseURL: "http://127.0.0.1:1/v2", PerMinute: 100, CallLimit: 10, Country: "NG",
			Timezone: "Africa/Lagos", Currency: "₦"}
		if p.Account, err = p.Desk.CreateAccount(t.Context(), p.By, a,
			sms.Credentials{ClientID: "c", APIKey: Key}); err != nil {
			t.Fatal(err)
		}
		p.Know("CLINIC", "PENDING1")
		p.Run()
		play(p)
		p.Stop()
	})
}

// Run starts a Scheduler, as a process that begins does.
func (p *Timetable) Run() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	s := workers.NewScheduler(workers.SchedulerConfig{Store: p.DB, Orders: p.Desk, Clocks: p.Accounts, Feed: p.Feed,
		Log: slog.New(slog.NewTextHandler(&p.Log, nil)), Now: p.Clocks.Wall, Elapsed: p.Clocks.Elapsed})
	go func() { defer close(done); s.Run(ctx) }()
	p.Stop = sync.OnceFunc(func() { cancel(); <-done })
}

// Order schedules a new campaign for so long from now.
func (p *Timetable) Order(in time.Duration) sms.Campaign {
	p.T.Helper()
	p.n++
	c := p.Draft("CLINIC", strings.Repeat("x", p.n), Ordinary(3)...)
	c, err := p.Desk.ScheduleCampaign(p.Ctx, p.By, c.ID, sms.ScheduleAt(p.Clocks.Wall().Add(in)),
		desk.StartOrder{Version: c.Version})
	if err != nil {
		p.T.Fatal(err)
	}
	return c
}

// Pass lets time go by, and the loop do what there is to do.
func (p *Timetable) Pass(d time.Duration) { time.Sleep(d) }

// Is says that a campaign is in a state, with words in the reason of its pause;
// "": without a reason.
func (p *Timetable) Is(id int64, state sms.CampaignState, pause string) sms.Campaign {
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
