// Package workers is what happens by itself: sending, applying reports, asking
// what became of messages, forgetting. It must never know roles or forms: what may
// be sent, and who may say so, is decided before it.
package workers

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"smsdesk/internal/feed"
	"smsdesk/internal/health"
	"smsdesk/internal/sms"
)

// Dispatcher is the loop that sends. It claims a call's worth of messages,
// waits for the rate, and lets the gateway make one attempt; what became of it
// is committed before anything else happens to those messages. It never
// repeats an attempt that may have been executed (internal/workers/README.md).
type Dispatcher struct {
	store    DispatchStore
	journal  Journal
	gateways Gateways
	feed     *feed.Feed
	log      *slog.Logger
	now      func() time.Time
	inFlight int
	reserve  Reserve      // nil: none
	outage   *Outage      // nil: nobody asks for it
	behind   atomic.Int64 // outcomes that the database does not take
	held     holding
	after    func(ctx context.Context, account int64) // nil: nothing
	speed    int                                      // how many times as fast as timers now runs
}

// DispatchStore is what the Dispatcher needs to be remembered.
type DispatchStore interface {
	Accounts(ctx context.Context) ([]sms.Account, error)
	Account(ctx context.Context, id int64) (sms.Account, error)
	Campaign(ctx context.Context, id int64) (sms.Campaign, error)
	TakeLease(ctx context.Context, account int64) (epoch int64, err error)
	Recover(ctx context.Context, account, now int64) (released, doubtful int64, err error)
	Claim(ctx context.Context, o sms.ClaimOrder, now int64) (sms.Claim, error)
	License(ctx context.Context, a *sms.Attempt, now int64) error
	Settle(ctx context.Context, a *sms.Attempt, s sms.Settlement, o sms.Outcome, country string,
		judge func(sms.Canary, []sms.Finished) sms.Verdict, now int64) (alert bool, err error)
	SettleKept(ctx context.Context, u sms.Unsettled, judge func(sms.Canary, []sms.Finished) sms.Verdict) (
		a sms.Attempt, open, alert bool, err error)
	MarkAccount(ctx context.Context, id int64, failure string, now int64) error
}

// Journal is the dispatch journal. Append returns once the line of the attempt's
// licence is on the disk; after an error nothing of the request may leave. Ready
// says why no request can be licensed at the moment.
type Journal interface {
	Append(a *sms.Attempt) error
	Ready(ctx context.Context) error
}

// NewDispatcher returns a Dispatcher; Run makes it work. inFlight is the most
// attempts under way for one account, beside urgentInFlight for urgent
// campaigns: each of them is in doubt after a crash.
func NewDispatcher(store DispatchStore, journal Journal, gateways Gateways, news *feed.Feed, inFlight int,
	log *slog.Logger, now func() time.Time) *Dispatcher {
	return &Dispatcher{store: store, journal: journal, gateways: gateways, feed: news, inFlight: inFlight, log: log,
		now: now, speed: 1}
}

// Hasten says that the clock runs so many times as fast as the computer's, so
// that what is waited for comes so much sooner. It comes before Run.
func (d *Dispatcher) Hasten(speed int) { d.speed = max(speed, 1) }

// Reserve is space that was set aside for outcomes which the database does not
// take. They outlive the process there.
type Reserve interface {
	// Hold makes it at least so large, in bytes.
	Hold(size int64) error
	// Kept lists what an earlier process left, also beside an error.
	Kept() ([]sms.Unsettled, error)
	// Put returns once the outcome cannot be lost; Done forgets it.
	Put(u sms.Unsettled) error
	Done(uid string) error
}

// Endure lets outcomes that cannot be stored go to the reserve, and says in the
// outage that they do. It comes before Run.
func (d *Dispatcher) Endure(reserve Reserve, outage *Outage) { d.reserve, d.outage = reserve, outage }

// After makes the first claim for each account wait until the function has
// returned. It comes before Run.
func (d *Dispatcher) After(first func(ctx context.Context, account int64)) { d.after = first }

const (
	idle           = time.Second
	settleInterval = time.Second
	maxBackoff     = time.Minute
	refusedRest    = 500 * time.Millisecond
	markReachedIn  = 10 * time.Second

	// urgentInFlight is how many urgent attempts of an account are under way at
	// once: each is of one message.
	urgentInFlight = 2
)

// Run sends until ctx ends, then lets the attempts in flight finish; the
// gateway's own deadline bounds them. While the database takes no outcomes
// nothing is claimed, and they wait in the reserve. An error means that another
// process settled what this one had sent: it must end.
func (d *Dispatcher) Run(ctx context.Context) error {
	if !d.settleKept(ctx) {
		return nil
	}
	work, stopped := errgroup.WithContext(ctx)
	running := map[int64]bool{}
	news := d.feed.Subscribe(feed.Account(0))
	defer news.Close()
	for {
		accounts, err := d.store.Accounts(stopped)
		if err != nil && stopped.Err() == nil {
			d.log.Error("accounts not read", "error", err)
		}
		d.hold(accounts)
		for _, a := range accounts {
			if !running[a.ID] {
				running[a.ID] = true
				work.Go(func() error { return d.account(stopped, a.ID) })
			}
		}
		if !feed.Pause(stopped, idle, news.C()) {
			return work.Wait()
		}
		news.Take()
	}
}

// accountWorker is the Dispatcher's work for one account.
type accountWorker struct {
	*Dispatcher
	id     int64
	epoch  int64
	last   int64 // bulk campaign served last
	bulk   semaphore
	urgent semaphore
	freed  chan struct{} // a slot is free again
	mu     sync.Mutex
	fails  int // attempts in a row of which nothing left
	until  time.Time
	marked time.Time
}

// semaphore are places for attempts under way.
type semaphore chan struct{}

// free says that there is a place. Only the line's own goroutine takes places,
// so one that is free stays so until it does.
func (s semaphore) free() bool { return len(s) < cap(s) }

func (d *Dispatcher) account(ctx context.Context, id int64) error {
	l := &accountWorker{Dispatcher: d, id: id, bulk: make(semaphore, d.inFlight), urgent: make(semaphore, urgentInFlight),
		freed: make(chan struct{}, 1)}
	for !l.takeOver(ctx) {
		if !feed.Pause(ctx, idle, nil) {
			return nil
		}
	}
	if d.after != nil {
		d.after(ctx, id)
	}
	nudges := d.feed.Subscribe(feed.Campaigns(id), feed.Account(id))
	defer nudges.Close()
	work, _ := errgroup.WithContext(ctx)
	failed := make(chan struct{})
	var once sync.Once
	for l.alive(ctx, failed) {
		t, rest := l.next(ctx)
		if t == nil {
			if !l.pause(ctx, rest, nudges) {
				break
			}
			continue
		}
		work.Go(func() error {
			defer l.releaseSlot(t.slots)
			err := l.attempt(ctx, t)
			if err != nil {
				once.Do(func() { close(failed) })
			}
			return err
		})
	}
	return work.Wait()
}

// pause waits until there may be something to do; false when ctx ended.
func (l *accountWorker) pause(ctx context.Context, most time.Duration, news *feed.Listener) bool {
	timer := time.NewTimer(most / time.Duration(l.speed))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-news.C():
		news.Take()
	case <-l.freed:
	case <-timer.C:
	}
	return ctx.Err() == nil
}

func (l *accountWorker) releaseSlot(s semaphore) {
	<-s
	select {
	case l.freed <- struct{}{}:
	default:
	}
}

func (l *accountWorker) alive(ctx context.Context, failed <-chan struct{}) bool {
	select {
	case <-failed:
		return false
	default:
		return ctx.Err() == nil
	}
}

// takeOver makes this process the one that sends for the account and settles
// what the one before it left open.
func (l *accountWorker) takeOver(ctx context.Context) bool {
	epoch, err := l.store.TakeLease(ctx, l.id)
	if err == nil {
		l.epoch = epoch
		var released, doubtful int64
		released, doubtful, err = l.store.Recover(ctx, l.id, l.now().UnixMilli())
		if released+doubtful > 0 {
			l.log.Warn("an earlier process was cut off", "account", l.id, "messages_released", released, "messages_in_doubt",
				doubtful)
			l.feed.Publish(feed.Campaigns(l.id))
		}
	}
	if ctx.Err() == nil {
		l.outage.Note(err)
	}
	if err != nil && health.TroubleOf(err) == "" {
		l.logError(ctx, "account not taken over", err)
	}
	return err == nil
}

// attemptRun is one attempt on its way.
type attemptRun struct {
	*sms.Attempt
	account sms.Account
	gateway Gateway
	urgent  bool
	slots   semaphore // where it holds a place
}

// next claims a call's worth when the account may send, the rate allows a
// call now and a slot is free, which the caller gives back. Urgent campaigns
// have places and slots of their own, so that no other call holds them up.
// Without one it says how long to rest.
func (l *accountWorker) next(ctx context.Context) (*attemptRun, time.Duration) {
	account, err := l.store.Account(ctx, l.id)
	if err != nil || account.Pause != "" || l.behind.Load() > 0 || l.journal.Ready(ctx) != nil {
		return nil, idle
	}
	gateway, err := l.gateways.For(ctx, account)
	if err != nil {
		l.logError(ctx, "account not opened", err)
		return nil, idle
	}
	wait, urgently := l.waits(gateway)
	o := sms.ClaimOrder{AccountID: l.id, Epoch: l.epoch, After: l.last, CallLimit: account.CallLimit,
		Bulk: wait <= 0 && l.bulk.free(), Urgent: urgently <= 0 && l.urgent.free(),
		Fill: func(call sms.Call, messages []sms.Recipient, limit int) (sms.CallKind, []sms.Recipient) {
			return gateway.Fill(call, messages, limit, account.URLBudget)
		}}
	if !o.Bulk && !o.Urgent {
		return nil, l.idleDelay(wait, urgently)
	}
	claim, err := l.store.Claim(ctx, o, l.now().UnixMilli())
	if ctx.Err() == nil {
		l.outage.Note(err)
	}
	if err != nil && health.TroubleOf(err) == "" {
		l.logError(ctx, "messages not claimed", err)
	}
	l.notify(claim)
	if claim.Attempt == nil {
		if o.Bulk {
			return nil, idle
		}
		return nil, l.idleDelay(wait, idle)
	}
	t := &attemptRun{Attempt: claim.Attempt, account: account, gateway: gateway, urgent: claim.Urgent, slots: l.bulk}
	if t.urgent {
		t.slots = l.urgent
	} else {
		l.last = t.CampaignID
	}
	t.slots <- struct{}{}
	return t, 0
}

// waits is how long a bulk and an urgent call must wait. While nothing reaches
// the service one probe at a time is enough.
func (l *accountWorker) waits(g Gateway) (bulk, urgent time.Duration) {
	l.mu.Lock()
	probing, backoff := l.fails > 0, l.until.Sub(l.now())
	l.mu.Unlock()
	if probing && len(l.bulk)+len(l.urgent) > 0 {
		backoff = idle
	}
	return max(backoff, g.Wait()), max(backoff, g.WaitUrgent())
}

// idleDelay is how long to wait for a place under the rate. A slot that comes free
// ends the waiting by itself.
func (l *accountWorker) idleDelay(bulk, urgent time.Duration) time.Duration {
	rest := idle
	if bulk > 0 {
		rest = min(rest, bulk)
	}
	if urgent > 0 {
		rest = min(rest, urgent)
	}
	return rest
}

// notify says what a claim changed on the way.
func (l *accountWorker) notify(c sms.Claim) {
	for _, id := range c.Changed {
		l.feed.Publish(feed.Campaign(id), feed.Campaigns(l.id))
	}
	for _, p := range c.Paused {
		l.log.Warn("sending paused", "campaign", p.ID, "account", l.id, "code", p.PauseCode, "reason", p.Pause)
	}
}

func (l *accountWorker) logError(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		l.log.Error(what, "account", l.id, "error", err)
	}
}

// attempt makes one attempt and commits its outcome.
func (l *accountWorker) attempt(ctx context.Context, t *attemptRun) error {
	account, a := t.account, t.Attempt
	before, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	disarm := l.cancelWhenStopped(ctx, cancel, a.CampaignID)
	refused := false
	licence := func() error {
		disarm()
		err := before.Err()
		if err == nil {
			err = l.store.License(context.WithoutCancel(ctx), a, l.now().UnixMilli())
		}
		if err == nil {
			err = l.journal.Append(a)
		}
		refused = err != nil
		return err
	}
	l.feed.Publish(feed.Campaign(a.CampaignID))
	send := t.gateway.Send
	if t.urgent {
		send = t.gateway.SendUrgent
	}
	outcome := send(before, a.Call, licence)
	disarm()
	switch {
	case outcome.Class != sms.ClassRate:
	case account.Doubt429:
		outcome.Class = sms.ClassDoubt
		outcome.Reason = "The provider said we were sending too fast. It has sent messages despite that answer before, " +
			"so we cannot tell whether these went out."
	case account.HoldOn429:
		outcome.Class = sms.ClassHold
		outcome.Reason = "The provider said that requests come too fast. This account holds such messages for a decision."
	}
	l.note(ctx, account, outcome, refused || before.Err() != nil)
	return l.settle(ctx, account, a, outcome)
}

// cancelWhenStopped ends the waiting for rate and connection when the campaign
// or the process is stopped; after disarm nothing is cancelled any more.
func (l *accountWorker) cancelWhenStopped(ctx context.Context, cancel func(), campaign int64) (disarm func()) {
	changes := l.feed.Subscribe(feed.Campaign(campaign), feed.Account(l.id))
	done := make(chan struct{})
	var once sync.Once
	var watching sync.WaitGroup
	watching.Go(func() {
		defer changes.Close()
		// Another process may have stopped it: that tells nobody here.
		looks := time.NewTicker(idle)
		defer looks.Stop()
		for {
			select {
			case <-done:
				return
			case <-ctx.Done():
				cancel()
				return
			case <-looks.C:
			case <-changes.C():
				changes.Take()
			}
			if c, err := l.store.Campaign(ctx, campaign); err == nil && c.State != sms.CampaignRunning {
				cancel()
				return
			}
		}
	})
	return func() {
		once.Do(func() { close(done) })
		watching.Wait()
	}
}

// note keeps the account's connection state and the backoff of class P. When
// we ended the call ourselves, it says nothing about the provider.
func (l *accountWorker) note(ctx context.Context, account sms.Account, o sms.Outcome, ended bool) {
	l.mu.Lock()
	mark, text := false, ""
	if o.Class == sms.ClassNothingLeft && !ended {
		l.fails++
		most := min(maxBackoff, time.Second<<min(l.fails, 6))
		l.until = l.now().Add(time.Second/2 + rand.N(most))
		mark, text = true, o.Reason
	} else if o.Class == sms.ClassNothingLeft {
		// Whatever refused the licence refuses the next one, too.
		if rest := l.now().Add(refusedRest); rest.After(l.until) {
			l.until = rest
		}
	} else {
		mark = l.fails > 0 || l.now().Sub(l.marked) > markReachedIn
		l.fails, l.until = 0, time.Time{}
	}
	if mark {
		l.marked = l.now()
	}
	l.mu.Unlock()
	if !mark {
		return
	}
	if err := l.store.MarkAccount(context.WithoutCancel(ctx), account.ID, text, l.now().UnixMilli()); err != nil {
		l.logError(ctx, "account not marked", err)
	}
	l.feed.Publish(feed.Account(account.ID))
}

func (d *Dispatcher) report(a *sms.Attempt, strange int, o sms.Outcome, alert bool) {
	level := slog.LevelInfo
	if o.Class != sms.ClassAnswered {
		level = slog.LevelWarn
	}
	d.log.Log(context.Background(), level, "attempt ended", "attempt", a.ID, "campaign", a.CampaignID, "class", o.Class,
		"recipients", a.Recipients,
		"http_status", o.HTTPStatus, "code", o.Code, "reason", o.Reason, "written", o.Written, "strange_rows", strange)
	if alert {
		d.log.Warn("sending paused", "campaign", a.CampaignID, "account", a.AccountID, "code", o.Code, "reason", o.Reason)
	}
}
