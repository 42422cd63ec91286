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

// lookups remembers when records of the service were last asked for because
// somebody named one that is not known here.
type lookups struct {
	mu sync.Mutex
	by map[string]*lookup
}

type lookup struct {
	mu    sync.Mutex
	asked time.Time
	err   error
}

func newLookups() *lookups { return &lookups{by: map[string]*lookup{}} }

func (l *lookups) of(name string) *lookup {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by[name] == nil {
		l.by[name] = &lookup{}
	}
	return l.by[name]
}

// lookUp asks the service for an account's records of one kind. Whoever comes
// while they are read, or just afterwards, shares the answer.
func (d *Records) lookUp(ctx context.Context, what string, account int64,
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
	d.feed.Tell(feed.Account(account))
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
