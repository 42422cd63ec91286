package desk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"smsdesk/internal/sms"
)

// Gateway is one account at the bulk-SMS service.
type Gateway interface {
	// Send makes one call. licence is called once, after the connection
	// stands and before the first byte; an error from it ends the call unsent.
	// ctx ends the waiting before the licence and nothing after it.
	Send(ctx context.Context, call sms.Call, licence func() error) sms.Outcome
	// SendUrgent is Send in one of the places that are kept for a single
	// message that a person waits for.
	SendUrgent(ctx context.Context, call sms.Call, licence func() error) sms.Outcome
	// Wait is how long until a call of a campaign could start, 0 for now;
	// WaitUrgent is the same for an urgent one.
	Wait() time.Duration
	WaitUrgent() time.Duration
	// Throttle is what answers 429 have left in force.
	Throttle() sms.Throttle
	// PairsOverhead is the bytes of the whole URL of GET /SendBulkSMS (§4.4)
	// with MobileNumber_Message empty and Is_Unicode false; Overhead is the
	// same for a call as it is, whose recipients it does not look at.
	PairsOverhead(senderID string, flash bool) int
	Overhead(call sms.Call) int
	Records
}

// Records are an account's records at the service: §4.1 and §4.5 to §4.7.
// Changes are made once and never repeated; they return the service's own
// words. Their errors are sms.ErrTaken (027), sms.ErrGone (028),
// sms.ErrUncertain, and others of which the text may be shown.
type Records interface {
	Balance(ctx context.Context) ([]sms.Balance, error)
	// BalanceXML asks for XML; raw is the answer's text of at most 16 KiB.
	BalanceXML(ctx context.Context) (list []sms.Balance, raw string, err error)
	templateRecords
	senderRecords
	groupRecords
}

type templateRecords interface {
	Templates(ctx context.Context) ([]sms.Template, error)
	// CreateTemplate is a call that the specification does not show (§4.9).
	CreateTemplate(ctx context.Context, name, text string) (string, error)
	UpdateTemplate(ctx context.Context, id int64, name, text string) (string, error)
	DeleteTemplate(ctx context.Context, id int64) (string, error)
}

type senderRecords interface {
	SenderIDs(ctx context.Context) ([]sms.SenderID, error)
	// CreateSenderID is a call that the specification does not show (§4.9).
	CreateSenderID(ctx context.Context, text, purpose string) (string, error)
	UpdateSenderID(ctx context.Context, id int64, text, purpose string) (string, error)
	DeleteSenderID(ctx context.Context, id int64) (string, error)
}

type groupRecords interface {
	Groups(ctx context.Context) ([]sms.Group, error)
	CreateGroup(ctx context.Context, name string) (string, error)
	CreateSubGroup(ctx context.Context, parent int64, name string) (string, error)
	UpdateGroup(ctx context.Context, id int64, name string) (string, error)
	DeleteGroup(ctx context.Context, id int64) (string, error)
}

// Opening is what a Gateway is made from.
type Opening struct {
	Account sms.Account
	Secrets sms.Credentials
	// Before is what earlier processes have left of the rate.
	Before sms.CallsBefore
	// After is the account's Gateway until now, whose rate goes on: nil at first.
	After Gateway
	// Called is told of each call that no licence stands for, before it is made,
	// and gives what is to be done when it has ended.
	Called func() (ended func())
	// Heard is told what time it was for the service when an answer came, zero
	// when the answer does not say. Throttled is told what each 429 has left in
	// force, before the call returns.
	Heard     func(service time.Time)
	Throttled func(sms.Throttle)
}

// Opener makes a Gateway.
type Opener func(Opening) (Gateway, error)

// Gateways keeps one open Gateway per account, because the rate limit and
// what was learnt from 429 answers live in it.
type Gateways struct {
	mu    sync.Mutex
	open  Opener
	store gatewayStore
	log   *slog.Logger
	clock *Clock // nil: nobody wants to know the time
	by    map[int64]*openGateway
}

type openGateway struct {
	Gateway
	changedAt int64
	baseURL   string
	since     sms.Steady
	throttled *atomic.Bool // stored: an answer 429 has left something in force
}

type gatewayStore interface {
	Credentials(ctx context.Context, account int64) (sms.Credentials, error)
	CallsBefore(ctx context.Context, account int64, rate int) (sms.CallsBefore, error)
	PutThrottle(ctx context.Context, account int64, t sms.Throttle) error
	BeginCall(ctx context.Context, account int64) (id int64, err error)
	EndCall(ctx context.Context, id int64) error
}

// NewGateways returns a set with nothing open.
func NewGateways(open Opener, store gatewayStore, log *slog.Logger) *Gateways {
	return &Gateways{open: open, store: store, log: log, by: map[int64]*openGateway{}}
}

// TellTime makes clock hear what every answer says about the time. It is called
// before the first For.
func (g *Gateways) TellTime(clock *Clock) { g.clock = clock }

// For returns the account's gateway, opened afresh when its settings changed.
func (g *Gateways) For(ctx context.Context, a sms.Account) (Gateway, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	o := g.by[a.ID]
	if o != nil && o.changedAt == a.ChangedAt && o.baseURL == a.BaseURL {
		g.forgetThrottle(ctx, a.ID, o)
		return o.Gateway, nil
	}
	secrets, err := g.store.Credentials(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	before, err := g.store.CallsBefore(ctx, a.ID, a.PerMinute)
	if err != nil {
		return nil, err
	}
	next := &openGateway{changedAt: a.ChangedAt, baseURL: a.BaseURL, since: before.Since, throttled: &atomic.Bool{}}
	opening := Opening{Account: a, Secrets: secrets, Before: before, Called: g.notes(a.ID), Heard: g.hears(a.ID), Throttled: g.keeps(a.ID, next.throttled)}
	if o != nil {
		opening.After, next.throttled = o.Gateway, o.throttled
		if opening.Throttled = g.keeps(a.ID, o.throttled); o.since == before.Since {
			opening.Before = sms.CallsBefore{}
		}
	} else {
		next.throttled.Store(before.Throttle != sms.Throttle{})
	}
	if next.Gateway, err = g.open(opening); err != nil {
		return nil, fmt.Errorf("open account %q: %w", a.Name, err)
	}
	g.by[a.ID] = next
	return next.Gateway, nil
}

// wantsTime says that schedules wait for what the next answer says of the time.
func (g *Gateways) wantsTime(a sms.Account, wall time.Time) bool { return g.standing(a, wall).Holds() }

func (g *Gateways) standing(a sms.Account, wall time.Time) sms.ClockStanding {
	if g.clock == nil {
		return sms.ClockStanding{State: sms.ClockUnchecked}
	}
	return g.clock.Standing(a, wall)
}

// ClockStanding is the computer's clock as the account's service and the journal
// see it.
func (d *Desk) ClockStanding(a sms.Account) sms.ClockStanding { return d.gateways.standing(a, d.now()) }

func (g *Gateways) hears(account int64) func(time.Time) {
	return func(service time.Time) {
		if g.clock != nil {
			g.clock.Hear(account, service)
		}
	}
}

// notes remembers a call that is not a send. One that cannot be noted is made
// all the same: without the database nothing is sent beside it.
func (g *Gateways) notes(account int64) func() func() {
	return func() func() {
		id, err := g.store.BeginCall(context.Background(), account)
		if err != nil {
			g.log.Warn("a request that reads or changes records is not noted", "account", account, "error", err)
			return func() {}
		}
		return func() {
			if err := g.store.EndCall(context.Background(), id); err != nil {
				g.log.Warn("the end of a request is not noted", "account", account, "error", err)
			}
		}
	}
}

// keeps remembers at once what a 429 asks for, as the process may end before
// the call's outcome is stored.
func (g *Gateways) keeps(account int64, throttled *atomic.Bool) func(sms.Throttle) {
	return func(t sms.Throttle) {
		throttled.Store(true)
		if err := g.store.PutThrottle(context.Background(), account, t); err != nil {
			g.log.Error("how long the service told us to wait is not stored", "account", account, "error", err)
		}
	}
}

// forgetThrottle forgets a wait that is over: after the next start of the
// computer it would begin anew.
func (g *Gateways) forgetThrottle(ctx context.Context, account int64, o *openGateway) {
	if !o.throttled.Load() || !o.Throttle().None() || !o.throttled.CompareAndSwap(true, false) {
		return
	}
	if err := g.store.PutThrottle(ctx, account, sms.Throttle{}); err != nil {
		o.throttled.Store(true)
		g.log.Error("a wait that is over is not forgotten", "account", account, "error", err)
	}
}

// failure is what an account's connection shows for err: nothing when the
// waiting was ended from our side.
func failure(err error) string {
	if err == nil || errors.Is(err, context.Canceled) {
		return ""
	}
	return err.Error()
}
