package stage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/gateway"
	"smsdesk/internal/phone"
	"smsdesk/internal/rehearsal"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
	"smsdesk/internal/workers"
	"smsdesk/storage"
)

// setting is what a rehearsal is played with.
type setting struct {
	account  sms.Account // as it really is; what of it counts is copied
	sender   string
	day      rehearsal.Day
	seed     uint64
	speed    int
	latency  time.Duration // of an answer, by the rehearsal's clock
	again    time.Duration // what a 429 says; 0: nothing
	inFlight int
	fate     func(number string) int // an ending of the sandbox; nil: as the day says
	start    time.Time
}

// house is a desk of its own with the sandbox at the other end of its pipes.
type house struct {
	setting
	db       *storage.DB
	feed     *feed.Feed
	desk     *desk.Desk
	account  sms.Account
	by       sms.User
	clock    *clock
	sandbox  *sandbox.Sandbox
	inbox    *inbox
	journal  *journal
	receiver *workers.Receiver
	pipes    *pipes
	failed   atomic.Int64 // connections
	waits    atomic.Int64 // milliseconds that answers 429 asked for
	end      func() error
}

// line is the account's client as orders and loops ask for it.
type line struct{ *gateway.Client }

// Wait is how long a campaign waits.
func (l line) Wait() time.Duration { return l.Client.Wait(gateway.Bulk) }

func forOrders(l line) desk.Gateway     { return l }
func forSending(l line) workers.Gateway { return l }

// copied is the account as the house has it: without limits and hours, which
// count real messages, and at an address where nobody is.
func (s setting) copied() sms.Account {
	a := s.account
	return sms.Account{Name: "Rehearsal", BaseURL: "http://127.0.0.1:1/v2", Test: true, PerMinute: a.PerMinute,
		CallLimit: a.CallLimit, URLBudget: a.URLBudget, MaxParts: a.MaxParts, Country: a.Country, Timezone: a.Timezone,
		Currency: a.Currency, HoldOn429: a.HoldOn429, Doubt429: a.Doubt429, SendByGet: a.SendByGet, Abroad: a.Abroad}
}

const answerTimeout = 20 * time.Second

// newHouse builds one in a folder and starts it.
func newHouse(ctx context.Context, folder string, s setting) (h *house, err error) {
	h = &house{setting: s, feed: feed.New(), clock: newClock(s.start, s.speed), pipes: newPipes(),
		by: sms.User{ID: 1, Name: "Rehearsal", Role: sms.Administrator, Active: true}}
	h.inbox = &inbox{now: h.clock.now, notify: func() {}}
	h.journal = &journal{now: h.clock.now}
	secrets := sms.Credentials{ClientID: "rehearsal", APIKey: desk.NewToken()}
	if h.sandbox, err = h.newSandbox(secrets); err != nil {
		return nil, err
	}
	if h.db, err = storage.Open(ctx, storage.Config{Data: folder}); err != nil {
		return nil, errors.Join(err, h.sandbox.Close())
	}
	log := slog.New(slog.DiscardHandler)
	accounts := gateway.NewAccounts(h.open, h.db, log)
	h.desk = desk.New(storesOf(h.db), gateway.See(accounts, forOrders), h.feed, log, h.clock.now)
	if err := h.furnish(ctx, secrets); err != nil {
		return nil, errors.Join(err, h.sandbox.Close(), h.db.Close())
	}
	h.receiver = workers.NewReceiver(h.inbox, h.db, gateway.ParseReport, h.feed, log, h.clock.now)
	h.inbox.notify = h.receiver.Notify
	dispatcher := workers.NewDispatcher(h.db, h.journal, gateway.See(accounts, forSending), h.feed, s.inFlight, log,
		h.clock.now)
	dispatcher.Hasten(s.speed)
	h.run(ctx, dispatcher)
	return h, nil
}

func storesOf(db *storage.DB) desk.Stores {
	return desk.Stores{Accounts: db, Again: db, Audit: db, Campaigns: db, Door: db, Doubts: db, Journal: db, Menus: db,
		People: db, Records: db, Reads: db, Rehearsals: db, Staff: db, Walls: db}
}

// newSandbox is the service at the other end. It asks no rate: the client keeps
// the account's.
func (h *house) newSandbox(secrets sms.Credentials) (*sandbox.Sandbox, error) {
	var networks phone.Networks
	fate := h.fate
	if fate == nil {
		fate = func(number string) int { return ending(h.day.Fate(h.seed, networks.Of(number), number)) }
	}
	s, err := sandbox.New(sandbox.Config{APIKey: secrets.APIKey, ClientID: secrets.ClientID, PerMinute: -1,
		DLRURL: "http://rehearsal.invalid/dlr", Carry: h.inbox, Fate: fate, SenderIDs: []string{h.sender},
		Location: h.setting.account.Location(), Currency: h.setting.account.Currency, Credit: 1 << 50, RetryAfter: h.again, Seed: h.seed,
		ReportMin: time.Millisecond, ReportMax: 2 * time.Millisecond, Now: h.clock.now,
		Faults: sandbox.Faults{Latency: h.latency / time.Duration(h.speed), TooMany: h.day.TooMany,
			CutAfter: h.day.Lost, ErrorAfter: h.day.Broken}})
	if err != nil {
		return nil, fmt.Errorf("build the sandbox of a rehearsal: %w", err)
	}
	return s, nil
}

// ending is the test number's ending that meets a fate.
func ending(key string) int {
	return map[string]int{"undelivered": 2, "expired": 3, "rejected": 4, "blocked": 5, rehearsal.NoReport: 6, "refused": 10,
		"unknown": 12, "deleted": 13}[key]
}

// open opens the only account there is, over pipes.
func (h *house) open(o gateway.Opening[line]) (line, error) {
	cfg := gateway.Config{BaseURL: o.Account.BaseURL, Credentials: o.Secrets, Location: o.Account.Location(),
		PerMinute: o.Account.PerMinute, Called: o.Called, Heard: o.Heard, Throttled: h.throttled(o.Throttled), Now: h.clock.now,
		Speed: h.speed, AnswerTimeout: answerTimeout,
		Dial: failing(h.pipes.dial, h.day.Unreached, h.seed, func() { h.failed.Add(1) })}
	cfg.After = o.After.Client
	if o.Account.SendByGet {
		cfg.ByGet = o.Account.URLBudget
	}
	client, err := gateway.Open(cfg)
	return line{client}, err
}

// throttled adds up what answers 429 ask to wait.
func (h *house) throttled(tell func(sms.Throttle)) func(sms.Throttle) {
	return func(t sms.Throttle) {
		h.waits.Add(t.Left.Milliseconds())
		tell(t)
	}
}

// furnish makes the account and lets it use the sender ID.
func (h *house) furnish(ctx context.Context, secrets sms.Credentials) (err error) {
	if h.account, err = h.desk.CreateAccount(ctx, h.by, h.copied(), secrets); err != nil {
		return err
	}
	h.inbox.account = h.account.ID
	return h.db.PutSenderIDs(ctx, h.account.ID,
		[]sms.SenderID{{ID: 1, Text: h.sender, IsActive: true, ApproveStatus: "Approved"}}, h.clock.now().UnixMilli())
}

// run starts the loops; h.end ends them and closes everything.
func (h *house) run(ctx context.Context, dispatcher *workers.Dispatcher) {
	ctx, stop := context.WithCancel(ctx)
	server := &http.Server{Handler: h.sandbox.Handler(), ReadHeaderTimeout: answerTimeout}
	var loops errgroup.Group
	loops.Go(func() error { return dispatcher.Run(ctx) })
	loops.Go(func() error { return h.sandbox.Run(ctx) })
	loops.Go(func() error { h.receiver.Run(ctx); return nil })
	var serving errgroup.Group
	serving.Go(func() error {
		if err := server.Serve(h.pipes); err != nil && !errors.Is(err, http.ErrServerClosed) && ctx.Err() == nil {
			return err
		}
		return nil
	})
	h.end = func() error {
		stop()
		err := loops.Wait()
		return errors.Join(err, server.Close(), h.pipes.Close(), serving.Wait(), h.sandbox.Close(), h.db.Close())
	}
}
