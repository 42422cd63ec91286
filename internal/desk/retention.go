package desk

import (
	"context"
	"fmt"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
)

// SaveRetention sets how long numbers and texts are kept. A shorter time takes
// effect at once, and what is removed cannot be brought back. The error is
// sms.Invalid by field for months out of bounds.
func (d *Accounts) SaveRetention(ctx context.Context, by sms.User, r sms.Retention) error {
	if err := by.May(sms.Administrator, "set how long numbers and texts are kept"); err != nil {
		return err
	}
	if err := r.Check(); err != nil {
		return err
	}
	if err := d.store.PutSetting(ctx, sms.SettingRetention, r.ReadSetting()); err != nil {
		return err
	}
	d.audit(ctx, by, "retention.save", feed.Retention,
		fmt.Sprintf("messages %d, reports %d, calls %d months; 0 for ever; log of reports %d days", r.Messages, r.Reports,
			r.Calls, r.Days()))
	d.feed.Publish(feed.Retention)
	return nil
}
