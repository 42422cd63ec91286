package workers

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
)

// Witness lets an account send only after its balance was read once since the
// start: a fall that this desk did not spend tells that the whole data folder
// was put back, which nothing in the folder can (storage/README.md). What a fall
// means is decided where readings are stored. Without an answer sending goes on.
type Witness struct {
	store   WitnessStore
	records Records
	feed    *feed.Feed
	log     *slog.Logger
	now     func() time.Time
	mu      sync.Mutex
	said    map[int64]string
}

// WitnessStore is what the Witness needs to be remembered.
type WitnessStore interface {
	Account(ctx context.Context, id int64) (sms.Account, error)
	// AwaitsReading says whether the balance has to be read before the first
	// request.
	AwaitsReading(ctx context.Context, account int64) (bool, error)
}

// NewWitness returns a Witness.
func NewWitness(store WitnessStore, records Records, news *feed.Feed, log *slog.Logger, now func() time.Time) *Witness {
	return &Witness{store: store, records: records, feed: news, log: log, now: now, said: map[int64]string{}}
}

const (
	witnessTimeout = time.Minute
	witnessAgain   = time.Second
	witnessWaits   = 20 * time.Second // for one answer

	witnessWaiting = "Sending begins when the balance has been read, in a minute at the latest: it may tell whether an older state was put back."
	witnessFailed  = "The balance could not be read after the start, so it cannot tell whether an older state was put " +
		"back. Messages are sent. Check the connection, then refresh the balance."
)

// Await returns when the account may send: once its balance was read, or after a
// minute.
func (w *Witness) Await(ctx context.Context, account int64) {
	asked := false
	for until := w.now().Add(witnessTimeout); ctx.Err() == nil; {
		awaits, err := w.store.AwaitsReading(ctx, account)
		if err == nil && !awaits {
			break
		}
		if !w.now().Before(until) {
			w.log.Warn("the balance was not read after the start: an older state would not be noticed by it", "account", account)
			w.say(account, witnessFailed)
			return
		}
		if asked && !feed.Pause(ctx, witnessAgain, nil) {
			break
		}
		asked = true
		w.say(account, witnessWaiting)
		if err = w.read(ctx, account, until); err != nil && ctx.Err() == nil {
			w.log.Info("the balance was not read", "account", account, "error", err)
		}
	}
	if asked {
		w.say(account, "")
	}
}

func (w *Witness) read(ctx context.Context, id int64, until time.Time) error {
	a, err := w.store.Account(ctx, id)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, min(witnessWaits, until.Sub(w.now())))
	defer cancel()
	return w.records.ReadBalance(ctx, a)
}

func (w *Witness) say(account int64, sentence string) {
	w.mu.Lock()
	if sentence == "" {
		delete(w.said, account)
	} else {
		w.said[account] = sentence
	}
	w.mu.Unlock()
	w.feed.Publish(feed.Account(account), feed.Campaigns(account), feed.Records(account))
}

// Sentence says that an account's first request waits for the balance, or that
// it did so in vain; "" otherwise.
func (w *Witness) Sentence(ctx context.Context, account int64) string {
	w.mu.Lock()
	said := w.said[account]
	w.mu.Unlock()
	if said != witnessFailed {
		return said
	}
	if awaits, err := w.store.AwaitsReading(ctx, account); err == nil && !awaits {
		w.mu.Lock()
		delete(w.said, account)
		w.mu.Unlock()
		return ""
	}
	return said
}
