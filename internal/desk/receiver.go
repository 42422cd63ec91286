package desk

import (
	"context"
	"log/slog"
	"time"

	"smsdesk/internal/sms"
)

// Receiver applies the delivery reports of the inbox to their messages, in the
// order of their arrival.
type Receiver struct {
	inbox Inbox
	store ReceiveStore
	parse func(raw string) sms.DeliveryReport
	feed  *Feed
	log   *slog.Logger
	now   func() time.Time
	nudge chan struct{}
}

// Inbox is where callbacks are kept as they came.
type Inbox interface {
	After(ctx context.Context, id int64, limit int) ([]sms.Kept, error)
	Applied(upTo int64)
}

// ReceiveStore is what the Receiver needs to be remembered.
type ReceiveStore interface {
	InboxCursor(ctx context.Context) (int64, error)
	Accounts(ctx context.Context) ([]sms.Account, error)
	ApplyReports(ctx context.Context, reports []sms.DeliveryReport, countries map[int64]string, cursor, now int64) (sms.Applied, error)
}

// NewReceiver returns a Receiver; Run makes it work. parse reads a callback's
// query string and never fails.
func NewReceiver(inbox Inbox, store ReceiveStore, parse func(string) sms.DeliveryReport, feed *Feed, log *slog.Logger, now func() time.Time) *Receiver {
	return &Receiver{inbox: inbox, store: store, parse: parse, feed: feed, log: log, now: now, nudge: make(chan struct{}, 1)}
}

const (
	reportBatch   = 2000
	receiverRests = 5 * time.Second
	receiverWaits = time.Second // after an error
	// receiverGathers is how long reports that come one by one are gathered: a
	// transaction costs as much as fifty of them.
	receiverGathers = 100 * time.Millisecond
)

// Nudge says that the inbox has something new. It never blocks.
func (r *Receiver) Nudge() {
	select {
	case r.nudge <- struct{}{}:
	default:
	}
}

// Run applies reports until ctx ends.
func (r *Receiver) Run(ctx context.Context) {
	for {
		rest := receiverRests
		if err := r.Drain(ctx); err != nil && ctx.Err() == nil {
			r.log.Error("delivery reports wait in the inbox", "error", err)
			rest = receiverWaits
		}
		if !pause(ctx, receiverGathers, nil) || !pause(ctx, rest, r.nudge) {
			return
		}
	}
}

// Drain applies everything that the inbox holds now.
func (r *Receiver) Drain(ctx context.Context) error {
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
		if err := r.apply(ctx, kept, cursor); err != nil {
			return err
		}
		r.inbox.Applied(cursor)
		if len(kept) < reportBatch {
			return nil
		}
	}
}

func (r *Receiver) apply(ctx context.Context, kept []sms.Kept, cursor int64) error {
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
		names[ReportsName(k.AccountID)], names[CampaignsName(k.AccountID)] = true, true
	}
	done, err := r.store.ApplyReports(ctx, reports, countries, cursor, r.now().UnixMilli())
	if err != nil {
		return err
	}
	for _, id := range done.Campaigns {
		names[CampaignName(id)] = true
	}
	for _, id := range done.Messages {
		names[MessageName(id)] = true
	}
	tell := make([]string, 0, len(names))
	for n := range names {
		tell = append(tell, n)
	}
	r.feed.Tell(tell...)
	if done.Unmatched > 0 {
		r.log.Info("delivery reports without a message", "count", done.Unmatched)
	}
	return nil
}
