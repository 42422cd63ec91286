package storage

import (
	"context"

	"smsdesk/storage/query"
)

// SaveWritten remembers what a person has typed for a new message of an
// account, as its form; "" forgets it.
func (db campaignStore) SaveWritten(ctx context.Context, user, account int64, form string, now int64) error {
	return db.update(ctx, "save what is typed", func(t *tx) error {
		if form == "" {
			return t.DeleteWritten(ctx, user, account)
		}
		return t.PutWritten(ctx, query.PutWrittenParams{UserID: user, AccountID: account, Form: form, SavedAt: now})
	})
}

// Written is what SaveWritten remembered last, and when; sms.ErrNotFound where
// it is nothing.
func (db campaignStore) Written(ctx context.Context, user, account int64) (form string, savedAt int64, err error) {
	row, err := db.read().Written(ctx, user, account)
	_, err = wrapNotFound(row, err, "read what was typed")
	return row.Form, row.SavedAt, err
}

// PurgeWritten forgets what was typed before the given time.
func (db campaignStore) PurgeWritten(ctx context.Context, before int64) error {
	return db.update(ctx, "forget what was typed", func(t *tx) error { return t.DeleteOldWritten(ctx, before) })
}
