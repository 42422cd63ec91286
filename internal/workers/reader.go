package workers

import (
	"context"
	"log/slog"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
)

// Reader keeps what pages show beside the campaigns fresh: balances, sender
// IDs, templates, lateness, old drafts and sessions. What it does may be repeated.
type Reader struct {
	store   ReaderStore
	records AllRecords
	clocks  Clocks
	feed    *feed.Feed
	log     *slog.Logger
	now     func() time.Time
	mailer  Mailer // nil: nobody is mailed
	mailed  time.Time
}

// ReaderStore is what the Reader needs to be remembered.
type ReaderStore interface {
	guardStore
	Accounts(ctx context.Context) ([]sms.Account, error)
	Balances(ctx context.Context, account int64) ([]sms.Balance, error)
	Campaigns(ctx context.Context, f sms.CampaignFilter) ([]sms.CampaignRow, bool, error)
	MarkLate(ctx context.Context, account, before, now int64) ([]int64, error)
	DoubtRateAnswers(ctx context.Context, account int64, country string, before int64) (proven bool, err error)
	PurgeDrafts(ctx context.Context, before int64) error
	PurgeWritten(ctx context.Context, before int64) error
	Tidy(ctx context.Context, now int64) (more bool, err error)
	PurgeSessions(ctx context.Context, idle, oldest int64) error
	PurgeTokenRequests(ctx context.Context, before int64) error
}

// AllRecords reads everything that the provider keeps of an account, or its
// balance alone.
type AllRecords interface {
	Records
	// ReadRecords reads the balance and the records of every kind.
	ReadRecords(ctx context.Context, a sms.Account) error
}

// NewReader returns a Reader; Run makes it work. now is the wall clock.
func NewReader(store ReaderStore, records AllRecords, clocks Clocks, news *feed.Feed, log *slog.Logger,
	now func() time.Time) *Reader {
	return &Reader{store: store, records: records, clocks: clocks, feed: news, log: log, now: now}
}

const (
	readInterval  = 15 * time.Second
	balanceMaxAge = 5 * time.Minute
	retryInterval = time.Minute
	draftMaxAge   = 7 * 24 * time.Hour
	writtenMaxAge = 30 * 24 * time.Hour
	requestMaxAge = 90 * 24 * time.Hour // of a program's Idempotency-Key
	readTimeout   = 30 * time.Second
	reportGrace   = 2 * time.Minute
	tidyFor       = 10 * time.Second
	tidyRests     = 20 * time.Millisecond
)

// Run reads and tidies until ctx ends.
func (r *Reader) Run(ctx context.Context) {
	news := r.feed.Subscribe(feed.Account(0))
	defer news.Close()
	tried := map[int64]time.Time{}
	for {
		accounts, err := r.store.Accounts(ctx)
		r.logError(ctx, "accounts not read", err)
		for _, a := range accounts {
			r.logError(ctx, "account not kept up", r.account(ctx, a, tried))
		}
		r.logError(ctx, "alarms not mailed", r.sendAlerts(ctx))
		now := r.now()
		r.logError(ctx, "old drafts not forgotten", r.store.PurgeDrafts(ctx, now.Add(-draftMaxAge).UnixMilli()))
		r.logError(ctx, "what was typed long ago not forgotten",
			r.store.PurgeWritten(ctx, now.Add(-writtenMaxAge).UnixMilli()))
		r.logError(ctx, "campaigns not tidied", r.tidy(ctx))
		// They are refused long before; as long as they are known they tell
		// whoever comes back why they are signed out.
		known := now.Add(-sms.SessionKnown)
		r.logError(ctx, "old sessions not forgotten",
			r.store.PurgeSessions(ctx, known.UnixMilli(), known.Add(-sms.SessionTTL).UnixMilli()))
		r.logError(ctx, "old requests of programs not forgotten",
			r.store.PurgeTokenRequests(ctx, now.Add(-requestMaxAge).UnixMilli()))
		if !feed.Pause(ctx, readInterval, news.C()) {
			return
		}
		news.Take()
	}
}

// tidy finishes what dropped and cancelled campaigns left to be done, in steps
// between which everything else has its turn, and not for longer than a while.
func (r *Reader) tidy(ctx context.Context) error {
	for until := r.now().Add(tidyFor); r.now().Before(until); {
		more, err := r.store.Tidy(ctx, r.now().UnixMilli())
		if err != nil || !more || !feed.Pause(ctx, tidyRests, nil) {
			return err
		}
	}
	return nil
}

func (r *Reader) logError(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil {
		r.log.Error(what, "error", err)
	}
}

func (r *Reader) account(ctx context.Context, a sms.Account, tried map[int64]time.Time) error {
	late, err := r.store.MarkLate(ctx, a.ID, r.now().Add(-a.LateAfter).UnixMilli(), r.now().UnixMilli())
	if err != nil {
		return err
	}
	for _, id := range late {
		r.feed.Publish(feed.Campaign(id), feed.Campaigns(a.ID))
	}
	if err := r.compare(ctx, a); err != nil {
		return err
	}
	if err := r.keepFresh(ctx, a, tried); err != nil {
		return err
	}
	return r.enforceMinBalance(ctx, a)
}

// keepFresh reads an account's records where they are old; in between, the
// balance alone.
func (r *Reader) keepFresh(ctx context.Context, a sms.Account, tried map[int64]time.Time) error {
	due, whole, wait, err := r.due(ctx, a)
	if err != nil || !due || r.now().Sub(tried[a.ID]) < wait && a.ChangedAt < tried[a.ID].UnixMilli() {
		return err
	}
	tried[a.ID] = r.now()
	reading, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	if whole {
		err = r.records.ReadRecords(reading, a)
	} else {
		err = r.records.ReadBalance(reading, a)
	}
	if err != nil && ctx.Err() == nil {
		r.log.Warn("records not read", "account", a.ID, "error", err)
	}
	r.feed.Publish(feed.Account(a.ID), feed.Records(a.ID))
	return nil
}

// compare looks for the proof that a 429 of this account does not mean "not
// executed". A report may come before its answer, so young ones are left alone.
func (r *Reader) compare(ctx context.Context, a sms.Account) error {
	proven, err := r.store.DoubtRateAnswers(ctx, a.ID, a.Country, r.now().Add(-reportGrace).UnixMilli())
	if proven {
		r.log.Warn("a report arrived for a call that was answered 429: from now on such calls are in doubt", "account", a.ID)
	}
	return err
}

// due says that the records are old (whole), or that the balance is: a campaign
// ended after it was read, something is sent that may have to stop at a floor, or
// schedules wait for the service to say what time it is. wait is how long after a try the next one is made.
func (r *Reader) due(ctx context.Context, a sms.Account) (due, whole bool, wait time.Duration, err error) {
	balances, err := r.store.Balances(ctx, a.ID)
	if err != nil || len(balances) == 0 {
		return true, true, retryInterval, err
	}
	if r.clocks.Standing(a, r.now()).Holds() {
		return true, false, readInterval, nil
	}
	read := balances[0].ReadAt
	at, err := r.store.Reading(ctx, a.ID, sms.RecordSenders)
	if err != nil || r.now().UnixMilli()-min(read, at.At) > balanceMaxAge.Milliseconds() {
		return true, true, retryInterval, err
	}
	if near, err := r.needsBalanceCheck(ctx, a.ID); err != nil || near {
		return r.now().UnixMilli()-read > minBalanceMaxAge.Milliseconds(), false, minBalanceMaxAge, err
	}
	if wait = minBalanceMaxAge; a.Failure != "" {
		wait = retryInterval
	}
	latest, _, err := r.store.Campaigns(ctx, sms.CampaignFilter{AccountID: a.ID,
		States: []sms.CampaignState{sms.CampaignFinished, sms.CampaignCancelled}, Limit: 5})
	for _, c := range latest {
		if c.Campaign.FinishedAt >= read {
			return true, false, wait, nil
		}
	}
	return false, false, wait, err
}
