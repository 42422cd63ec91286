package desk

import (
	"context"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
)

// BackUp has a backup made soon; start is told who wants it.
func (d *Accounts) BackUp(ctx context.Context, by sms.User, start func(by string)) error {
	if err := by.May(sms.Administrator, "make a backup"); err != nil {
		return err
	}
	d.audit(ctx, by, "backup.make", feed.Backup, "")
	start(by.Name)
	return nil
}
