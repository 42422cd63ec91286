package desk

import (
	"context"
	"strings"

	"smsdesk/internal/sms"
)

// writtenMost is the longest form that is saved while a person types, in bytes.
const writtenMost = 256 << 10

// maxWrittenKey is the longest key of a form.
const maxWrittenKey = 80

// SaveWritten remembers what the person has typed for a message, as its form, in
// place of what was remembered for this account under the key; "" forgets it.
// What is too long to be a message is left alone.
func (d *Campaigns) SaveWritten(ctx context.Context, by sms.User, account int64, key, form string) error {
	if err := by.May(sms.Sender, "save what is typed"); err != nil {
		return err
	}
	if len(form) > writtenMost || len(key) > maxWrittenKey {
		return nil
	}
	return d.store.SaveWritten(ctx, by.ID, account, strings.ToValidUTF8(key, ""), strings.ToValidUTF8(form, ""), d.ms())
}
