package desk

import (
	"context"
	"strings"

	"smsdesk/internal/sms"
)

// writtenMost is the longest form that is saved while a person types, in bytes.
const writtenMost = 256 << 10

// SaveWritten remembers what the person has typed for a new message, as its
// form, in place of what was remembered for this account; "" forgets it. What is
// too long to be a message is left alone.
func (d *Campaigns) SaveWritten(ctx context.Context, by sms.User, account int64, form string) error {
	if err := by.May(sms.Sender, "save what is typed"); err != nil {
		return err
	}
	if len(form) > writtenMost {
		return nil
	}
	return d.store.SaveWritten(ctx, by.ID, account, strings.ToValidUTF8(form, ""), d.ms())
}
