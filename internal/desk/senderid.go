package desk

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

const (
	// senderAge is how long what was read of a sender ID is believed. The
	// Reader reads much more often while the provider answers.
	senderAge = 15 * time.Minute
	// lookupEvery is the least time between two questions for one account:
	// each takes a place under its rate.
	lookupEvery   = 2 * time.Second
	lookupTimeout = 10 * time.Second
)

// lookups remembers when an account's sender IDs were last asked for.
type lookups struct {
	mu sync.Mutex
	by map[int64]*lookup
}

type lookup struct {
	mu    sync.Mutex
	asked time.Time
	err   error
}

func newLookups() *lookups { return &lookups{by: map[int64]*lookup{}} }

func (l *lookups) of(account int64) *lookup {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by[account] == nil {
		l.by[account] = &lookup{}
	}
	return l.by[account]
}

// senderProblem says why a sender ID cannot be used, or "". One that is not
// known to be usable, or was read long ago, is looked up at the service first.
// Where the service does not answer, what was read last counts.
func (d *Desk) senderProblem(ctx context.Context, account int64, sender string) (string, error) {
	if strings.TrimSpace(sender) == "" {
		return "Choose a sender ID", nil
	}
	usable, fresh, err := d.knownSender(ctx, account, sender)
	if err != nil || usable && fresh {
		return "", err
	}
	asked := d.lookUpSenders(ctx, account)
	if asked == nil {
		usable, _, err = d.knownSender(ctx, account, sender)
	}
	switch {
	case err != nil || usable:
		return "", err
	case asked != nil:
		return fmt.Sprintf("The sender ID %s is not known to be approved, and the provider could not be asked. Try again, or choose another", sender), nil
	}
	return fmt.Sprintf("The sender ID %s is not approved and active at the provider. Choose another", sender), nil
}

func (d *Desk) knownSender(ctx context.Context, account int64, sender string) (usable, fresh bool, err error) {
	list, err := d.store.SenderIDs(ctx, account)
	for _, s := range list {
		if s.Text == sender && s.Usable() {
			usable = true
			fresh = fresh || d.ms()-s.ReadAt < senderAge.Milliseconds()
		}
	}
	return usable, fresh, err
}

// lookUpSenders reads an account's sender IDs from the service and stores them.
// Whoever comes while they are read, or just afterwards, shares the answer.
func (d *Desk) lookUpSenders(ctx context.Context, account int64) error {
	l := d.lookups.of(account)
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := d.now(); now.Sub(l.asked) >= lookupEvery || now.Before(l.asked) {
		l.err = d.readSenders(ctx, account)
		l.asked = d.now()
		if l.err != nil && ctx.Err() == nil {
			d.log.Warn("sender IDs not read", "account", account, "error", l.err)
		}
	}
	return l.err
}

func (d *Desk) readSenders(ctx context.Context, account int64) error {
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
	list, err := g.SenderIDs(ctx)
	if err != nil {
		return err
	}
	if err := d.store.PutSenderIDs(ctx, account, list, d.ms()); err != nil {
		return err
	}
	d.feed.Tell(AccountName(account))
	return nil
}
