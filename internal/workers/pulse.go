package workers

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/health"
	"smsdesk/internal/sms"
)

// ReceiverStats counts what the callbacks' receiver does, in memory, and writes it down
// now and then together with the fact that callbacks are answered at all: what
// is missing there is a time in which reports were lost. Counting costs no look
// into the database, whoever calls.
type ReceiverStats struct {
	store PulseStore
	alive func(context.Context) bool
	feed  *feed.Feed
	log   *slog.Logger
	now   func() time.Time
	every time.Duration
	// outage is told of every beat; may be nil.
	outage *Outage

	mu     sync.Mutex
	counts map[pulseKey]*sms.ReceiverMinute
}

type pulseKey struct{ account, minute int64 }

// PulseStore is what the Pulse needs to be remembered.
type PulseStore interface {
	Heartbeat(ctx context.Context, span, now int64) (int64, error)
	AddReceiverStats(ctx context.Context, list []sms.ReceiverMinute) error
}

// NewPulse returns a Pulse; Run makes it beat. alive says whether callbacks are
// answered at this moment; every is the time between two beats, 0 for the
// usual one.
func NewPulse(store PulseStore, alive func(context.Context) bool, every time.Duration, news *feed.Feed,
	log *slog.Logger, now func() time.Time) *ReceiverStats {
	if every == 0 {
		every = heartbeatInterval
	}
	return &ReceiverStats{store: store, alive: alive, every: every, feed: news, log: log, now: now,
		counts: map[pulseKey]*sms.ReceiverMinute{}}
}

// Watch lets every beat say whether the database can be written. It comes before
// Run.
func (p *ReceiverStats) Watch(outage *Outage) { p.outage = outage }

const (
	heartbeatInterval = 10 * time.Second
	// beatsMissed is how many beats may be late before it is a gap.
	beatsMissed = 3
	// maxHeartbeats bounds the memory while the database cannot be written.
	maxHeartbeats = 10_000
)

// Answered counts one report of an account and the time that its answer took.
// kept is false for one that was turned away and is lost.
func (p *ReceiverStats) Answered(account int64, took time.Duration, kept bool) {
	p.count(account, func(c *sms.ReceiverMinute) {
		if !kept {
			c.Lost++
			return
		}
		c.Answered++
		c.Took.Add(took)
	})
}

// Refused counts one call with a wrong token.
func (p *ReceiverStats) Refused() { p.count(0, func(c *sms.ReceiverMinute) { c.Refused++ }) }

// Posted counts one report that came by POST and was turned away.
func (p *ReceiverStats) Posted(account int64) {
	p.count(account, func(c *sms.ReceiverMinute) { c.Posted++ })
}

func (p *ReceiverStats) count(account int64, add func(*sms.ReceiverMinute)) {
	key := pulseKey{account, p.now().Truncate(time.Minute).UnixMilli()}
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.counts[key]
	if c == nil {
		if len(p.counts) >= maxHeartbeats {
			return
		}
		c = &sms.ReceiverMinute{AccountID: key.account, Minute: key.minute}
		p.counts[key] = c
	}
	add(c)
}

// Run beats until ctx ends, and once more then: a stop in good order leaves no
// gap but the time until the next start.
func (p *ReceiverStats) Run(ctx context.Context) {
	var span int64
	var last time.Time
	beat := func(ctx context.Context) {
		now := p.now()
		// The monotonic clock decides: setting the wall clock is no gap, and a
		// process that was stopped for a while is one.
		if !last.IsZero() && now.Sub(last) > beatsMissed*p.every {
			span = 0
		}
		if p.alive(ctx) {
			next, err := p.store.Heartbeat(ctx, span, p.now().UnixMilli())
			if err == nil {
				span = next
			} else if ctx.Err() == nil && health.TroubleOf(err) == "" {
				p.log.Error("not noted that callbacks are answered", "error", err)
			}
			if ctx.Err() == nil {
				p.outage.Note(err)
			}
			// They are answered whether that could be written or not: the next beat
			// that can makes the stretch as long as it was.
			last = now
		}
		p.flush(ctx)
	}
	for {
		beat(ctx)
		if !feed.Pause(ctx, p.every, nil) {
			after, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.every)
			beat(after)
			cancel()
			return
		}
	}
}

// flush writes the counts down. What cannot be written is kept for the next time.
func (p *ReceiverStats) flush(ctx context.Context) {
	p.mu.Lock()
	taken := p.counts
	p.counts = map[pulseKey]*sms.ReceiverMinute{}
	p.mu.Unlock()
	if len(taken) == 0 {
		return
	}
	list := make([]sms.ReceiverMinute, 0, len(taken))
	for _, c := range taken {
		list = append(list, *c)
	}
	if err := p.store.AddReceiverStats(ctx, list); err != nil {
		if ctx.Err() == nil && health.TroubleOf(err) == "" {
			p.log.Error("counts of callbacks not written", "error", err)
		}
		p.requeue(taken)
		return
	}
	names := map[string]bool{}
	for _, c := range list {
		names[feed.Reports(c.AccountID)] = true
	}
	for n := range names {
		p.feed.Publish(n)
	}
}

func (p *ReceiverStats) requeue(taken map[pulseKey]*sms.ReceiverMinute) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, c := range taken {
		now := p.counts[key]
		if now == nil {
			p.counts[key] = c
			continue
		}
		now.Answered, now.Refused, now.Lost = now.Answered+c.Answered, now.Refused+c.Refused, now.Lost+c.Lost
		now.Posted += c.Posted
		now.Took.Merge(c.Took)
	}
}
