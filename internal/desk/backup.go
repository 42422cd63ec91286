package desk

import (
	"context"

	"smsdesk/internal/sms"
)

// BackupName names what is known of the desk's backups.
const BackupName = "backup"

// BackUp has a backup made soon; start is told who wants it.
func (d *Desk) BackUp(ctx context.Context, by sms.User, start func(by string)) error {
	if err := may(by, sms.Administrator, "make a backup"); err != nil {
		return err
	}
	d.audit(ctx, by, "backup.make", BackupName, "")
	start(by.Name)
	return nil
}
