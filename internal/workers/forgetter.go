package workers

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/picture"
	"smsdesk/internal/rehearsal"
	"smsdesk/internal/sms"
)

// RetentionJob removes numbers and texts whose time is over, a few at a time.
type RetentionJob struct {
	store ForgetStore
	feed  *feed.Feed
	log   *slog.Logger
	now   func() time.Time
}

// ForgetStore is what the Forgetter needs to be remembered.
type ForgetStore interface {
	ReadSetting(ctx context.Context, name string) (string, error)
	Campaign(ctx context.Context, id int64) (sms.Campaign, error)
	PurgeMessages(ctx context.Context, before, now int64) (campaign, n int64, whole bool, err error)
	PurgeReports(ctx context.Context, before int64) (n int64, more bool, err error)
	PurgeBlocks(ctx context.Context, before int64) (n int64, more bool, err error)
	PurgeCalls(ctx context.Context, before int64) (n int64, more bool, err error)
	PurgeRehearsals(ctx context.Context, before int64) error
	FoldFlow(ctx context.Context, before int64) (more bool, err error)
	PutAudit(ctx context.Context, line sms.Audit) error
}

// NewRetentionJob returns a Forgetter; Run makes it work.
func NewRetentionJob(store ForgetStore, news *feed.Feed, log *slog.Logger, now func() time.Time) *RetentionJob {
	return &RetentionJob{store: store, feed: news, log: log, now: now}
}

const (
	forgetLooks = 10 * time.Minute
	forgetRests = 50 * time.Millisecond // between two batches
)

// Run removes what is due until ctx ends, and at once when the setting changes.
func (f *RetentionJob) Run(ctx context.Context) {
	news := f.feed.Subscribe(feed.Retention)
	defer news.Close()
	for {
		if err := f.RunOnce(ctx); err != nil && ctx.Err() == nil {
			f.log.Error("old numbers and texts not removed", "error", err)
		}
		if !feed.Pause(ctx, forgetLooks, news.C()) {
			return
		}
		news.Take()
	}
}

// RunOnce removes everything that is due now.
func (f *RetentionJob) RunOnce(ctx context.Context) error {
	r, err := sms.ReadRetention(f.store.ReadSetting(ctx, sms.SettingRetention))
	if err != nil {
		return err
	}
	now := f.now().UTC()
	if err := f.store.PurgeRehearsals(ctx, now.Add(-rehearsal.Keep).UnixMilli()); err != nil {
		return err
	}
	if err := f.fold(ctx, now.Add(-picture.FineFor).UnixMilli()); err != nil {
		return err
	}
	if before := sms.RemovedBefore(now, r.Messages); before > 0 {
		if err := f.messages(ctx, before); err != nil {
			return err
		}
	}
	for _, kind := range []struct {
		action, word string
		months       int
		some         func(context.Context, int64) (int64, bool, error)
	}{{"blocks.forget", "ended blocks", r.Messages, f.store.PurgeBlocks},
		{"reports.forget", "reports", r.Reports, f.store.PurgeReports}, {"calls.forget", "requests", r.Calls, f.store.PurgeCalls}} {
		if before := sms.RemovedBefore(now, kind.months); before > 0 {
			if err := f.purgeAll(ctx, kind.action, kind.word, before, kind.some); err != nil {
				return err
			}
		}
	}
	return nil
}

// fold makes minutes of the seconds of campaigns that were started before the
// given time.
func (f *RetentionJob) fold(ctx context.Context, before int64) error {
	for {
		more, err := f.store.FoldFlow(ctx, before)
		if err != nil || !more {
			return err
		}
		if !feed.Pause(ctx, forgetRests, nil) {
			return ctx.Err()
		}
	}
}

func (f *RetentionJob) messages(ctx context.Context, before int64) error {
	for {
		id, _, whole, err := f.store.PurgeMessages(ctx, before, f.now().UnixMilli())
		if err != nil || id == 0 {
			return err
		}
		if whole {
			c, err := f.store.Campaign(ctx, id)
			if err != nil {
				return err
			}
			if err := f.audit(ctx, "campaign.forget", feed.Campaign(id),
				fmt.Sprintf("numbers and texts of %d messages", c.Recipients)); err != nil {
				return err
			}
			f.feed.Publish(feed.Campaign(id), feed.Campaigns(c.AccountID))
		}
		if !feed.Pause(ctx, forgetRests, nil) {
			return ctx.Err()
		}
	}
}

func (f *RetentionJob) purgeAll(ctx context.Context, action, word string, before int64,
	some func(context.Context, int64) (int64, bool, error)) error {
	total := int64(0)
	for more := true; more; {
		n, further, err := some(ctx, before)
		if err != nil {
			return err
		}
		total, more = total+n, further
		if more && !feed.Pause(ctx, forgetRests, nil) {
			return ctx.Err()
		}
	}
	if total == 0 {
		return nil
	}
	return f.audit(ctx, action, feed.Retention, fmt.Sprintf("numbers and texts of %d %s", total, word))
}

func (f *RetentionJob) audit(ctx context.Context, action, object, detail string) error {
	return f.store.PutAudit(ctx, sms.Audit{At: f.now().UnixMilli(), User: sms.User{Name: "smsdesk"}, Action: action,
		Object: object, Detail: detail})
}
