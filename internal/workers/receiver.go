package workers

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
)

// Receiver applies the delivery reports of the inbox to their messages, in the
// order of their arrival.
type Receiver struct {
	inbox Inbox
	store ReceiveStore
	parse func(raw string) sms.DeliveryReport
	feed  *feed.Feed
	log   *slog.Logger
	now   func() time.Time
	nudge chan struct{}

	applying sync.Mutex
	logged   ReportLog // nil: reports are in the inbox only
	replayed bool      // everything in the log is applied, but what is in the inbox too
}

// ReportLog is where reports are before they are acknowledged, for some weeks.
type ReportLog interface {
	// Away says that the log is not there, and why is told elsewhere.
	Away() bool
	// Last is the number of the last record and the id of the last report.
	Last() (record, report int64)
	// TakeAnswers keeps the provider's answers behind an id for messages in doubt.
	TakeAnswers(ctx context.Context, after int64) error
	// Entries gives the reports behind an id, in order. strangers are those of
	// accounts that nobody knows; lost says of which days reports cannot be read.
	Entries(ctx context.Context, after int64, each func([]sms.RawReport) error) (strangers int, lost string, err error)
}

// Inbox is where callbacks are kept as they came.
type Inbox interface {
	After(ctx context.Context, id int64, limit int) ([]sms.RawReport, error)
	Applied(upTo int64)
}

// ReceiveStore is what the Receiver needs to be remembered.
type ReceiveStore interface {
	InboxCursor(ctx context.Context) (int64, error)
	LogCursor(ctx context.Context) (int64, error)
	Accounts(ctx context.Context) ([]sms.Account, error)
	ApplyReports(ctx context.Context, reports []sms.DeliveryReport, countries map[int64]string, upTo sms.Cursors,
		now int64) (sms.ApplyResult, error)
	Tell(ctx context.Context, text string, now int64) error
}

// NewReceiver returns a Receiver; Run makes it work. parse reads a callback's
// query string and never fails.
func NewReceiver(inbox Inbox, store ReceiveStore, parse func(string) sms.DeliveryReport, news *feed.Feed,
	log *slog.Logger, now func() time.Time) *Receiver {
	return &Receiver{inbox: inbox, store: store, parse: parse, feed: news, log: log, now: now,
		nudge: make(chan struct{}, 1)}
}

const (
	reportBatch   = 2000
	receiverRests = 5 * time.Second
	receiverWaits = time.Second // after an error
	// receiverGathers is how long reports that come one by one are gathered: a
	// transaction costs as much as fifty of them.
	receiverGathers = 100 * time.Millisecond
)

// Notify says that the inbox has something new. It never blocks.
func (r *Receiver) Notify() {
	select {
	case r.nudge <- struct{}{}:
	default:
	}
}

// ReplayFrom lets Run apply first what the log holds and the database does not:
// reports that came after the copy was made that this database may be. It is
// called before Run.
func (r *Receiver) ReplayFrom(l ReportLog) { r.logged = l }

// Run applies reports until ctx ends.
func (r *Receiver) Run(ctx context.Context) {
	for {
		rest := receiverRests
		if err := r.Replay(ctx); err != nil && ctx.Err() == nil {
			r.log.Error("delivery reports of the log are not applied again yet", "error", err)
		}
		if err := r.Drain(ctx); err != nil && ctx.Err() == nil {
			r.log.Error("delivery reports wait in the inbox", "error", err)
			rest = receiverWaits
		}
		if !feed.Pause(ctx, receiverGathers, nil) || !feed.Pause(ctx, rest, r.nudge) {
			return
		}
	}
}

// Replay applies what the log holds behind its cursor, once: a second call does
// nothing. Reports that the inbox holds as well are applied once.
func (r *Receiver) Replay(ctx context.Context) error {
	r.applying.Lock()
	defer r.applying.Unlock()
	if r.logged == nil || r.replayed || r.logged.Away() {
		return nil
	}
	p := replaying{Receiver: r}
	var err error
	if p.upTo.Inbox, err = r.store.InboxCursor(ctx); err != nil {
		return err
	}
	if p.upTo.Log, err = r.store.LogCursor(ctx); err != nil {
		return err
	}
	if err := r.logged.TakeAnswers(ctx, p.upTo.Log); err != nil {
		return err
	}
	_, end := r.logged.Last()
	strangers, lost, err := r.logged.Entries(ctx, p.upTo.Log, func(list []sms.RawReport) error {
		return p.take(ctx, list)
	})
	if err == nil {
		err = p.flush(ctx, end)
	}
	if err != nil {
		return err
	}
	if p.applied > 0 {
		r.log.Info("delivery reports of the log were applied", "count", p.applied)
	}
	if strangers > 0 {
		r.log.Warn("the log holds delivery reports of accounts that are not there", "count", strangers)
	}
	if lost != "" {
		text := "Delivery reports " + lost +
			" cannot be replayed: the log of delivery reports is damaged there. Messages of these days may show no report although one came."
		if err := r.store.Tell(ctx, text, r.now().UnixMilli()); err != nil {
			return err
		}
	}
	r.replayed = true
	return nil
}

// replaying is one replay.
type replaying struct {
	*Receiver
	upTo    sms.Cursors
	waiting []sms.RawReport // entries that are not applied yet
	applied int
}

func (p *replaying) take(ctx context.Context, list []sms.RawReport) error {
	p.waiting = append(p.waiting, list...)
	if len(p.waiting) < reportBatch {
		return nil
	}
	return p.flush(ctx, p.waiting[len(p.waiting)-1].ID)
}

// flush applies what waits, and what the inbox has up to an id that is not the
// same in the log: the two may be of different times.
func (p *replaying) flush(ctx context.Context, end int64) error {
	if n := len(p.waiting); n > 0 {
		end = max(end, p.waiting[n-1].ID)
	}
	same := make(map[sms.RawReport]bool, len(p.waiting))
	for _, k := range p.waiting {
		same[k] = true
	}
	list := p.waiting
	for from := p.upTo.Inbox; from < end; {
		rows, err := p.inbox.After(ctx, from, reportBatch)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			break
		}
		for _, k := range rows {
			if from = k.ID; k.ID <= end && !same[k] {
				list = append(list, k)
			}
		}
	}
	if len(list) == 0 && end <= p.upTo.Log {
		return nil
	}
	p.upTo = sms.Cursors{Inbox: max(p.upTo.Inbox, end), Log: max(p.upTo.Log, end)}
	if err := p.apply(ctx, list, p.upTo); err != nil {
		return err
	}
	p.inbox.Applied(p.upTo.Inbox)
	p.applied += len(list)
	p.waiting = p.waiting[:0]
	return nil
}

// Drain applies everything that the inbox holds now.
func (r *Receiver) Drain(ctx context.Context) error {
	r.applying.Lock()
	defer r.applying.Unlock()
	cursor, err := r.store.InboxCursor(ctx)
	if err != nil {
		return err
	}
	for {
		kept, err := r.inbox.After(ctx, cursor, reportBatch)
		if err != nil || len(kept) == 0 {
			return err
		}
		cursor = kept[len(kept)-1].ID
		upTo := sms.Cursors{Inbox: cursor}
		if r.replayed {
			// What the log holds beyond the inbox is applied: they go on together.
			upTo.Log = cursor
		}
		if err := r.apply(ctx, kept, upTo); err != nil {
			return err
		}
		r.inbox.Applied(cursor)
		if len(kept) < reportBatch {
			return nil
		}
	}
}

func (r *Receiver) apply(ctx context.Context, kept []sms.RawReport, upTo sms.Cursors) error {
	accounts, err := r.store.Accounts(ctx)
	if err != nil {
		return err
	}
	countries := map[int64]string{}
	for _, a := range accounts {
		countries[a.ID] = a.Country
	}
	reports := make([]sms.DeliveryReport, len(kept))
	names := map[string]bool{}
	for i, k := range kept {
		reports[i] = r.parse(k.Query)
		reports[i].ID, reports[i].AccountID, reports[i].ReceivedAt, reports[i].Raw = k.ID, k.AccountID, k.ReceivedAt, k.Query
		names[feed.Reports(k.AccountID)], names[feed.Campaigns(k.AccountID)] = true, true
	}
	done, err := r.store.ApplyReports(ctx, reports, countries, upTo, r.now().UnixMilli())
	if err != nil {
		return err
	}
	for _, id := range done.Campaigns {
		names[feed.Campaign(id)] = true
	}
	for _, id := range done.Messages {
		names[feed.Message(id)] = true
	}
	tell := make([]string, 0, len(names))
	for n := range names {
		tell = append(tell, n)
	}
	r.feed.Publish(tell...)
	if done.Doubted > 0 {
		r.log.Warn(
			"delivery reports tell of messages that were not sent yet as far as is known here: was an older state put back?", "in_doubt", done.Doubted)
	}
	if done.Unmatched > 0 {
		r.log.Info("delivery reports without a message", "count", done.Unmatched)
	}
	return nil
}
