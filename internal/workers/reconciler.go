package workers

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
)

// Reconciler lowers doubt by evidence (internal/workers/README.md, Evidence): it compares
// reports with messages in doubt, and asks the service about ids and lost
// reports as far as the rate has room to spare. It only ever moves a message
// towards "was sent".
type Reconciler struct {
	store    ReconcileStore
	gateways Gateways
	feed     *feed.Feed
	log      *slog.Logger
	now      func() time.Time
}

// ReconcileStore is what the Reconciler needs to be remembered.
type ReconcileStore interface {
	Accounts(ctx context.Context) ([]sms.Account, error)
	// Reconcile compares everything there is with what waits.
	Reconcile(ctx context.Context, account int64, country string, now int64, each func(sms.ApplyResult)) error
	NextAsked(ctx context.Context, account int64) (sms.StatusQuery, error)
	PutAnswer(ctx context.Context, a sms.StatusQuery, country string) (sms.Message, sms.Effect, error)
	NextInquired(ctx context.Context, account, now int64) (sms.StatusCheck, sms.Message, error)
	PutInquired(ctx context.Context, i sms.StatusCheck, m sms.Message, a sms.StatusQuery,
		country string) (sms.Message, sms.Effect, error)
	PurgeUnmatched(ctx context.Context, account int64, q sms.Quarantine) error
	PurgeReceiverStats(ctx context.Context, accounts []int64, before int64) error
}

// StatusQuerier is a Gateway that can be asked about one message (§4.8). The places
// that it takes under the rate are those for reads that nobody waits for.
type StatusQuerier interface {
	MessageStatus(ctx context.Context, id string) (sms.MessageStatus, error)
}

// NewReconciler returns a Reconciler; Compare and Ask make it work, each in a
// goroutine of its own.
func NewReconciler(store ReconcileStore, gateways Gateways, news *feed.Feed, log *slog.Logger,
	now func() time.Time) *Reconciler {
	return &Reconciler{store: store, gateways: gateways, feed: news, log: log, now: now}
}

const (
	compareInterval = 30 * time.Second
	compareRests    = 5 * time.Second // between two comparisons, however much commits
	askRests        = 5 * time.Second
	askTimeout      = 20 * time.Second
	// The bounds of the quarantine of one account.
	quarantineMaxAge = 14 * 24 * time.Hour
	maxQuarantined   = 1_000_000
	quarantineBytes  = 1 << 30
	heartbeatMaxAge  = 400 * 24 * time.Hour
	purgeInterval    = time.Hour
)

// MatchReports looks for evidence until ctx ends: every 30 s, and sooner when a call
// of an account has been committed.
func (r *Reconciler) MatchReports(ctx context.Context) {
	tidied := time.Time{}
	for {
		accounts, err := r.store.Accounts(ctx)
		r.logError(ctx, "accounts not read", err)
		names := []string{feed.Account(0)}
		for _, a := range accounts {
			names = append(names, feed.Campaigns(a.ID))
		}
		news := r.feed.Subscribe(names...)
		for _, a := range accounts {
			r.logError(ctx, "reports not compared with doubts", r.compare(ctx, a))
		}
		if r.now().Sub(tidied) > purgeInterval {
			tidied = r.now()
			r.logError(ctx, "old reports not forgotten", r.forget(ctx, accounts))
		}
		ok := feed.Pause(ctx, compareRests, nil) && feed.Pause(ctx, compareInterval-compareRests, news.C())
		news.Close()
		if !ok {
			return
		}
	}
}

func (r *Reconciler) logError(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		r.log.Error(what, "error", err)
	}
}

func (r *Reconciler) compare(ctx context.Context, a sms.Account) error {
	return r.store.Reconcile(ctx, a.ID, a.Country, r.now().UnixMilli(), func(done sms.ApplyResult) {
		if len(done.Messages) == 0 {
			return
		}
		r.log.Info("messages in doubt settled by reports", "account", a.ID, "count", len(done.Messages))
		r.notify(a.ID, done)
	})
}

func (r *Reconciler) notify(account int64, done sms.ApplyResult) {
	r.feed.Publish(feed.Applied(account, done.Campaigns, done.Messages)...)
}

func (r *Reconciler) forget(ctx context.Context, accounts []sms.Account) error {
	now := r.now()
	var ids []int64
	for _, a := range accounts {
		ids = append(ids, a.ID)
		if err := r.store.PurgeUnmatched(ctx, a.ID,
			sms.Quarantine{Before: now.Add(-quarantineMaxAge).UnixMilli(), Reports: maxQuarantined,
				Bytes: quarantineBytes}); err != nil {
			return err
		}
	}
	return r.store.PurgeReceiverStats(ctx, ids, now.Add(-heartbeatMaxAge).UnixMilli())
}

// QueryStatuses puts the questions that wait to the service until ctx ends, one after
// another for each account, and at once when a person asks.
func (r *Reconciler) QueryStatuses(ctx context.Context) {
	for {
		accounts, err := r.store.Accounts(ctx)
		r.logError(ctx, "accounts not read", err)
		names := make([]string, len(accounts))
		for i, a := range accounts {
			names[i] = feed.Asked(a.ID)
		}
		news := r.feed.Subscribe(names...)
		asked := false
		for _, a := range accounts {
			did, err := r.ask(ctx, a)
			asked = asked || did
			r.logError(ctx, "the provider was not asked about a message", err)
		}
		ok := ctx.Err() == nil && (asked || feed.Pause(ctx, askRests, news.C()))
		news.Close()
		if !ok {
			return
		}
	}
}

// ask puts one question of an account. It did not when nothing waits, when the
// rate has no room to spare, or when no answer came: then it is put again.
func (r *Reconciler) ask(ctx context.Context, a sms.Account) (did bool, err error) {
	q, err := r.store.NextAsked(ctx, a.ID)
	if err == nil {
		if did, err = r.query(ctx, a, &q); !did {
			return false, err
		}
		after, effect, err := r.store.PutAnswer(ctx, q, a.Country)
		r.answered(after, effect)
		return err == nil, err
	}
	if !errors.Is(err, sms.ErrNotFound) {
		return false, err
	}
	i, m, err := r.store.NextInquired(ctx, a.ID, r.now().UnixMilli())
	if errors.Is(err, sms.ErrNotFound) {
		if i.ID > 0 {
			r.feed.Publish(feed.Reports(a.ID))
		}
		return false, nil
	}
	if err != nil {
		return false, err
	}
	q = sms.StatusQuery{AccountID: a.ID, MessageID: m.ID, ProviderID: m.ProviderID}
	if did, err = r.query(ctx, a, &q); !did {
		return false, err
	}
	after, effect, err := r.store.PutInquired(ctx, i, m, q, a.Country)
	r.answered(after, effect)
	return err == nil, err
}

// query asks the service. An error of the account (§7) is no answer about
// the message, and neither is silence.
func (r *Reconciler) query(ctx context.Context, a sms.Account, q *sms.StatusQuery) (did bool, err error) {
	g, err := r.gateways.For(ctx, a)
	if err != nil {
		return false, err
	}
	asker, ok := g.(StatusQuerier)
	if !ok {
		return false, nil
	}
	asking, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	q.Answer, err = asker.MessageStatus(asking, q.ProviderID)
	q.AskedAt = r.now().UnixMilli()
	if err == nil {
		return true, nil
	}
	var said interface{ ProviderCode() string }
	if errors.As(err, &said) {
		if sms.FaultOf(err) == "" && said.ProviderCode() != "" {
			q.Code, q.Words = said.ProviderCode(), err.Error()
			return true, nil
		}
	}
	r.log.Debug("the provider was not asked", "account", a.ID, "error", err)
	return false, nil
}

func (r *Reconciler) answered(m sms.Message, effect sms.Effect) {
	if m.ID == 0 {
		return
	}
	if effect == sms.Suspicious {
		r.log.Warn("a report settled a doubt, but the provider does not know its message ID", "account", m.AccountID,
			"campaign", m.CampaignID, "message", m.ID)
	}
	r.notify(m.AccountID, sms.ApplyResult{Campaigns: []int64{m.CampaignID}, Messages: []int64{m.ID}})
}
