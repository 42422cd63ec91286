package storage

import (
	"context"
	"fmt"

	"smsdesk/storage/query"
)

// writtenMost is how many forms are remembered of a person and account; of more,
// the oldest are forgotten.
const writtenMost = 20

// SaveWritten remembers what a person has typed for a message of an account, as
// its form; "" forgets it. The key tells forms from each other: "list UID" is that
// of a list.
func (db campaignStore) SaveWritten(ctx context.Context, user, account int64, key, form string, now int64) error {
	return db.update(ctx, "save what is typed", func(t *tx) error {
		if form == "" {
			return t.DeleteWritten(ctx, user, account, key)
		}
		err := t.PutWritten(ctx, query.PutWrittenParams{UserID: user, AccountID: account, FormKey: key, Form: form,
			SavedAt: now})
		if err != nil {
			return err
		}
		return t.DeleteMostWritten(ctx, user, account, writtenMost)
	})
}

// Written is what SaveWritten remembered last, and when; sms.ErrNotFound where
// it is nothing.
func (db campaignStore) Written(ctx context.Context, user, account int64, key string) (form string, savedAt int64,
	err error) {
	row, err := db.read().Written(ctx, user, account, key)
	_, err = wrapNotFound(row, err, "read what was typed")
	return row.Form, row.SavedAt, err
}

// WrittenKeys are the keys of what is remembered but for lists, the latest first.
func (db campaignStore) WrittenKeys(ctx context.Context, user, account int64, limit int) ([]string, error) {
	keys, err := db.read().WrittenKeys(ctx, user, account, int32(limit))
	if err != nil {
		return nil, fmt.Errorf("list what was typed: %w", err)
	}
	return keys, nil
}

// PurgeWritten forgets what was typed before the given time.
func (db campaignStore) PurgeWritten(ctx context.Context, before int64) error {
	return db.update(ctx, "forget what was typed", func(t *tx) error { return t.DeleteOldWritten(ctx, before) })
}
