package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// wrapErr says what was being done when it failed.
func wrapErr(err error, doing string) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", doing, err)
	}
	return err
}

// Reading is when an account's records of one kind were read, and what went
// wrong since; zero where they were never asked for.
func (db accountStore) Reading(ctx context.Context, account int64, kind sms.RecordKind) (sms.Reading, error) {
	row, err := db.read().RecordReading(ctx, account, string(kind))
	if errors.Is(err, sql.ErrNoRows) {
		return sms.Reading{}, nil
	}
	return sms.Reading{At: row.ReadAt, Failure: row.Failure}, wrapErr(err, "read the time of "+string(kind))
}

// MarkRecords keeps why records could not be read. They stay as they were last read.
func (db accountStore) MarkRecords(ctx context.Context, account int64, kind sms.RecordKind, failure string) error {
	return db.update(ctx, "mark "+string(kind), func(t *tx) error {
		return t.RecordsFailed(ctx, account, string(kind), failure)
	})
}

// RecordSettings is what an account does with its records; zero where nothing
// was chosen.
func (db accountStore) RecordSettings(ctx context.Context, account int64) (sms.RecordSettings, error) {
	return accountTx{&tx{Queries: db.read()}}.recordSettings(ctx, account)
}

func (t accountTx) recordSettings(ctx context.Context, account int64) (sms.RecordSettings, error) {
	r, err := t.RecordSetting(ctx, account)
	if errors.Is(err, sql.ErrNoRows) {
		return sms.RecordSettings{}, nil
	}
	return sms.RecordSettings{Creates: r.Creates, WarnBelow: r.WarnBelow, Floor: r.Floor, MailTo: r.MailTo,
			OthersSend: r.OthersSend},
		wrapErr(err, "read the settings of records")
}

// UpdateRecordSettings changes the settings in one transaction.
func (db accountStore) UpdateRecordSettings(ctx context.Context, account int64,
	change func(*sms.RecordSettings) error) (after sms.RecordSettings, err error) {
	err = db.update(ctx, "save the settings of records", func(t *tx) error {
		if after, err = (accountTx{t}).recordSettings(ctx, account); err != nil {
			return err
		}
		if err := change(&after); err != nil {
			return err
		}
		return t.PutRecordSetting(ctx, query.PutRecordSettingParams{AccountID: account, Creates: after.Creates,
			WarnBelow: after.WarnBelow, Floor: after.Floor, MailTo: after.MailTo,
			OthersSend: after.OthersSend})
	})
	return after, err
}
