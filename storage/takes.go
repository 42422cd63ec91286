package storage

import (
	"context"
	"database/sql"
	"time"
)

const (
	// takesInterval is how often Takes finds out, takesWaits how long that may take
	// before the spool is asked: balancers are not patient.
	takesInterval = time.Second
	takesWaits    = 2 * time.Second
)

// Takes says whether a report could be acknowledged now. A probe goes the way of
// a report and is synced like one, into the inbox or else into the spool; nothing
// of it stays. The answer may be a second old. Run must be running.
func (in *Inbox) Takes(ctx context.Context) error {
	in.asking.Lock()
	defer in.asking.Unlock()
	if !in.asked.IsZero() && time.Since(in.asked) < takesInterval {
		return in.taken
	}
	in.taken = in.ask(context.WithoutCancel(ctx))
	in.asked = time.Now()
	return in.taken
}

func (in *Inbox) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, takesWaits)
	defer cancel()
	item := inboxEntry{done: make(chan error, 1), probe: true}
	select {
	case in.queue <- item:
	case <-ctx.Done():
		return in.spool.append(nil)
	}
	select {
	case err := <-item.done:
		return err
	case <-ctx.Done():
		return in.spool.append(nil)
	}
}

// proof makes a transaction write although there is nothing to keep: an empty
// one would end well on any disk.
func proof(batch []inboxEntry) func(*sql.Tx) error {
	for _, item := range batch {
		if item.probe {
			return func(tx *sql.Tx) error {
				_, err := tx.Exec("update sqlite_sequence set seq = seq where name = 'raw'")
				return err
			}
		}
	}
	return nil
}
