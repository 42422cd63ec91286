package desk

import (
	"context"
	"fmt"
	"sync"
	"time"

	"smsdesk/internal/feed"
)

const (
	// lookupInterval is the least time between two questions of one kind for one
	// account: each takes a place under its rate.
	lookupInterval = 2 * time.Second
	lookupTimeout  = 10 * time.Second
)

// refreshLimiter remembers when records of the service were last asked for because
// somebody named one that is not known here.
type refreshLimiter struct {
	mu     sync.Mutex
	byName map[string]*lookup
}

type lookup struct {
	mu    sync.Mutex
	asked time.Time
	err   error
}

func newRefreshLimiter() *refreshLimiter { return &refreshLimiter{byName: map[string]*lookup{}} }

func (l *refreshLimiter) of(name string) *lookup {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byName[name] == nil {
		l.byName[name] = &lookup{}
	}
	return l.byName[name]
}

// refreshUnknown asks the service for an account's records of one kind. Whoever comes
// while they are read, or just afterwards, shares the answer.
func (d *Records) refreshUnknown(ctx context.Context, what string, account int64,
	read func(context.Context, Gateway) error) error {
	l := d.lookups.of(fmt.Sprint(what, account))
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := d.now(); now.Sub(l.asked) < lookupInterval && !now.Before(l.asked) {
		return l.err
	}
	l.err = d.readRecords(ctx, account, read)
	l.asked = d.now()
	if l.err != nil && ctx.Err() == nil {
		d.log.Warn(what+" not read", "account", account, "error", l.err)
	}
	d.feed.Publish(feed.Account(account))
	return l.err
}

func (d *Records) readRecords(ctx context.Context, account int64, read func(context.Context, Gateway) error) error {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	a, err := d.store.Account(ctx, account)
	if err != nil {
		return err
	}
	g, err := d.gateways.For(ctx, a)
	if err != nil {
		return err
	}
	return read(ctx, g)
}
