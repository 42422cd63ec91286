package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"smsdesk/internal/health"
	"smsdesk/internal/sms"
)

// Opening is what an account's G is made from.
type Opening[G Opened] struct {
	Account sms.Account
	Secrets sms.Credentials
	// Before is what earlier processes have left of the rate.
	Before sms.CallsBefore
	// After is the account's G until now, whose rate goes on. Again says that there
	// is one.
	After G
	Again bool
	// Called is told of each call that no licence stands for, before it is made,
	// and gives what is to be done when it has ended.
	Called func() (ended func())
	// Heard is told what time it was for the service when an answer came, zero
	// when the answer does not say. Throttled is told what each 429 has left in
	// force, before the call returns.
	Heard     func(service time.Time)
	Throttled func(sms.Throttle)
}

// Opened is an account that is open at the provider.
type Opened interface {
	// Throttle is what answers 429 have left in force.
	Throttle() sms.Throttle
}

// Opener opens an account.
type Opener[G Opened] func(Opening[G]) (G, error)

// Clock compares the computer's clock with what services say about the time.
type Clock interface {
	// Hear is told at once what time it was for the account's service, zero when
	// its answer did not say.
	Hear(account int64, service time.Time)
	Standing(a sms.Account, wall time.Time) health.ClockStanding
}

// Accounts keeps one open G per account, because the rate limit and what was
// learnt from 429 answers live in it.
type Accounts[G Opened] struct {
	mu    sync.Mutex
	open  Opener[G]
	store AccountStore
	log   *slog.Logger
	clock Clock // nil: nobody wants to know the time
	by    map[int64]*openAccount[G]
}

type openAccount[G Opened] struct {
	gateway   G
	changedAt int64
	baseURL   string
	since     health.Steady
	throttled *atomic.Bool // stored: an answer 429 has left something in force
}

// AccountStore is what open accounts need to be remembered.
type AccountStore interface {
	Credentials(ctx context.Context, account int64) (sms.Credentials, error)
	CallsBefore(ctx context.Context, account int64, rate int) (sms.CallsBefore, error)
	PutThrottle(ctx context.Context, account int64, t sms.Throttle) error
	BeginCall(ctx context.Context, account int64) (id int64, err error)
	EndCall(ctx context.Context, id int64) error
}

// NewAccounts returns a set with nothing open.
func NewAccounts[G Opened](open Opener[G], store AccountStore, log *slog.Logger) *Accounts[G] {
	return &Accounts[G]{open: open, store: store, log: log, by: map[int64]*openAccount[G]{}}
}

// TellTime makes clock hear what every answer says about the time. It is called
// before the first For.
func (g *Accounts[G]) TellTime(clock Clock) { g.clock = clock }

// For returns the account, opened afresh when its settings changed.
func (g *Accounts[G]) For(ctx context.Context, a sms.Account) (opened G, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	o := g.by[a.ID]
	if o != nil && o.changedAt == a.ChangedAt && o.baseURL == a.BaseURL {
		g.forgetThrottle(ctx, a.ID, o)
		return o.gateway, nil
	}
	secrets, err := g.store.Credentials(ctx, a.ID)
	if err != nil {
		return opened, err
	}
	before, err := g.store.CallsBefore(ctx, a.ID, a.PerMinute)
	if err != nil {
		return opened, err
	}
	next := &openAccount[G]{changedAt: a.ChangedAt, baseURL: a.BaseURL, since: before.Since, throttled: &atomic.Bool{}}
	opening := Opening[G]{Account: a, Secrets: secrets, Before: before, Called: g.notes(a.ID), Heard: g.hears(a.ID),
		Throttled: g.keeps(a.ID, next.throttled)}
	if o != nil {
		opening.After, opening.Again, next.throttled = o.gateway, true, o.throttled
		if opening.Throttled = g.keeps(a.ID, o.throttled); o.since == before.Since {
			opening.Before = sms.CallsBefore{}
		}
	} else {
		next.throttled.Store(before.Throttle != sms.Throttle{})
	}
	if next.gateway, err = g.open(opening); err != nil {
		return opened, fmt.Errorf("open account %q: %w", a.Name, err)
	}
	g.by[a.ID] = next
	return next.gateway, nil
}

// Standing is the computer's clock, which shows wall now, as the account sees it.
func (g *Accounts[G]) Standing(a sms.Account, wall time.Time) health.ClockStanding {
	if g.clock == nil {
		return health.ClockStanding{State: health.ClockUnchecked}
	}
	return g.clock.Standing(a, wall)
}

func (g *Accounts[G]) hears(account int64) func(time.Time) {
	return func(service time.Time) {
		if g.clock != nil {
			g.clock.Hear(account, service)
		}
	}
}

// notes remembers a call that is not a send. One that cannot be noted is made
// all the same: without the database nothing is sent beside it.
func (g *Accounts[G]) notes(account int64) func() func() {
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
func (g *Accounts[G]) keeps(account int64, throttled *atomic.Bool) func(sms.Throttle) {
	return func(t sms.Throttle) {
		throttled.Store(true)
		if err := g.store.PutThrottle(context.Background(), account, t); err != nil {
			g.log.Error("how long the service told us to wait is not stored", "account", account, "error", err)
		}
	}
}

// forgetThrottle forgets a wait that is over: after the next start of the
// computer it would begin anew.
func (g *Accounts[G]) forgetThrottle(ctx context.Context, account int64, o *openAccount[G]) {
	if !o.throttled.Load() || !o.gateway.Throttle().None() || !o.throttled.CompareAndSwap(true, false) {
		return
	}
	if err := g.store.PutThrottle(ctx, account, sms.Throttle{}); err != nil {
		o.throttled.Store(true)
		g.log.Error("a wait that is over is not forgotten", "account", account, "error", err)
	}
}

// View shows a room the open accounts through an interface that it declares, T.
type View[G Opened, T any] struct {
	*Accounts[G]
	as func(G) T
}

// See returns the accounts as T.
func See[G Opened, T any](accounts *Accounts[G], as func(G) T) View[G, T] {
	return View[G, T]{accounts, as}
}

// For returns the account, opened afresh when its settings changed.
func (v View[G, T]) For(ctx context.Context, a sms.Account) (seen T, err error) {
	opened, err := v.Accounts.For(ctx, a)
	if err != nil {
		return seen, err
	}
	return v.as(opened), nil
}
