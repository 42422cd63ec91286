package storage

import (
	"context"
	"fmt"
	"time"

	"smsdesk/internal/sms"
)

// gotRecently counts what went to a number since a moment, or may have gone.
const gotRecently = `select count(*) from message m where ` + byNumber + ` and m.sent_at >= $4
and m.state in ('sending', 'accepted', 'in_doubt', 'closed_unknown')`

// sentSince counts the recipients of an account's calls since a moment, with
// those that are about to leave.
const sentSince = `select (select coalesce(sum(a.recipients), 0) from attempt a where a.account_id = $1
  and a.licensed_at >= $2 and a.state not in ('not_sent', 'prepared', 'released'))
+ (select coalesce(sum(p.recipients), 0) from attempt p where p.account_id = $1 and p.state = 'prepared')`

// startedSince counts the recipients of the campaigns that a person started.
const startedSince = `select coalesce(sum(c.recipients), 0) from campaign c where c.account_id = $1
  and c.started_at > 0 and c.started_at >= $2 and c.started_by = $3 and c.test_of = 0`

// GotRecently counts the messages of an account that went to a number since a
// moment.
func (db campaignStore) GotRecently(ctx context.Context, account int64, number string,
	since int64) (n int64, err error) {
	if err := db.reader.QueryRowContext(ctx, gotRecently, account, number, tailOf(number), since).Scan(&n); err != nil {
		return 0, fmt.Errorf("count what a person got: %w", err)
	}
	return n, nil
}

// SentSince counts the recipients of an account's calls since a moment.
func (db campaignStore) SentSince(ctx context.Context, account, since int64) (n int64, err error) {
	if err := db.reader.QueryRowContext(ctx, sentSince, account, since).Scan(&n); err != nil {
		return 0, fmt.Errorf("count what was sent: %w", err)
	}
	return n, nil
}

// StartedSince counts the recipients of the campaigns of an account that a
// person started since a moment.
func (db campaignStore) StartedSince(ctx context.Context, account, user, since int64) (n int64, err error) {
	if err := db.reader.QueryRowContext(ctx, startedSince, account, since, user).Scan(&n); err != nil {
		return 0, fmt.Errorf("count what a person started: %w", err)
	}
	return n, nil
}

// dailyQuotaLeft is how many recipients the account may still send to today.
func (c *claimer) dailyQuotaLeft(ctx context.Context) (int64, error) {
	most := c.account.Limits.MaxPerDay
	if most <= 0 {
		return maxCall, nil
	}
	var n int64
	since := sms.DayBegins(time.UnixMilli(c.now).In(c.account.Location())).UnixMilli()
	if err := c.sql.QueryRowContext(ctx, sentSince, c.account.ID, since).Scan(&n); err != nil {
		return 0, fmt.Errorf("count what was sent today: %w", err)
	}
	return max(most-n, 0), nil
}

// skipCapped leaves out those messages of a call whose number got as many as the
// account allows meanwhile. It returns how many they were.
func (c *claimer) skipCapped(ctx context.Context, campaign int64, call []callRow) (int64, error) {
	l := c.account.Limits
	if !l.Capped() || c.test {
		return 0, nil
	}
	since := l.CapSince(time.UnixMilli(c.now)).UnixMilli()
	why := map[int64]string{}
	for _, r := range call {
		if r.Number == "" {
			continue
		}
		var got int64
		if err := c.sql.QueryRowContext(ctx, gotRecently, c.account.ID, r.Number, tailOf(r.Number), since).Scan(&got); err != nil {
			return 0, fmt.Errorf("count what a person got: %w", err)
		}
		if got >= l.CapMessages {
			why[r.MessageID] = l.CapSentence(got)
		}
	}
	return c.leaveOut(ctx, campaign, why)
}
