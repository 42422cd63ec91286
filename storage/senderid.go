package storage

import (
	"context"
	"fmt"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// SenderIDs lists what was last read from the gateway, by text.
func (db accountStore) SenderIDs(ctx context.Context, account int64) ([]sms.SenderID, error) {
	rows, err := db.read().SenderIDs(ctx, account)
	return wrapNotFound(senderIDs(rows), err, "list sender IDs")
}

func (t accountTx) senderIDs(ctx context.Context, account int64) ([]sms.SenderID, error) {
	rows, err := t.SenderIDs(ctx, account)
	return senderIDs(rows), err
}

func senderIDs(rows []query.SenderID) []sms.SenderID {
	list := make([]sms.SenderID, len(rows))
	for i, r := range rows {
		list[i] = sms.SenderID{ID: r.ID, CompanyID: r.CompanyID, Text: r.Text, Purpose: r.Purpose, IsActive: r.IsActive,
			ApproveStatus: r.ApproveStatus, CreatedDate: r.CreatedDate, ApprovedDate: r.ApprovedDate, ReadAt: r.ReadAt}
	}
	return list
}

// PutSenderIDs replaces what is known of an account's sender IDs. Of several
// with one id the first counts: a careless list must not hide the others.
func (db accountStore) PutSenderIDs(ctx context.Context, account int64, list []sms.SenderID, now int64) error {
	return db.update(ctx, "store sender IDs", func(t *tx) error {
		if err := t.DeleteSenderIDs(ctx, account); err != nil {
			return err
		}
		known := map[int64]bool{}
		for _, s := range list {
			if known[s.ID] {
				continue
			}
			known[s.ID] = true
			err := t.InsertSenderID(ctx, query.InsertSenderIDParams{AccountID: account, ID: s.ID, CompanyID: s.CompanyID,
				Text:    s.Text,
				Purpose: s.Purpose, IsActive: s.IsActive, ApproveStatus: s.ApproveStatus, CreatedDate: s.CreatedDate,
				ApprovedDate: s.ApprovedDate, ReadAt: now})
			if err != nil {
				return err
			}
		}
		return t.RecordsRead(ctx, account, string(sms.RecordSenders), now)
	})
}

// ChangePurpose keeps a change of a sender ID's purpose that the service has made.
func (db accountStore) ChangePurpose(ctx context.Context, account, id int64, purpose string) error {
	return db.update(ctx, "change sender ID", func(t *tx) error {
		return t.UpdateSenderPurpose(ctx, account, id, purpose)
	})
}

// DeleteSenderID takes a sender ID out that the service has no more.
func (db accountStore) DeleteSenderID(ctx context.Context, account, id int64) error {
	return db.update(ctx, "forget sender ID", func(t *tx) error { return t.DeleteSenderID(ctx, account, id) })
}

// SetDefaultSender chooses the sender ID that new messages begin with, "" for none.
func (db accountStore) SetDefaultSender(ctx context.Context, account int64, text string, now int64) error {
	return db.update(ctx, "choose the default sender ID", func(t *tx) error {
		n, err := t.Queries.SetDefaultSender(ctx, account, text, now)
		if err == nil && n != 1 {
			err = sms.ErrNotFound
		}
		return err
	})
}

// CountScheduledBySender counts the campaigns that wait for their time with a sender ID.
func (db accountStore) CountScheduledBySender(ctx context.Context, account int64, text string) (int64, error) {
	n, err := db.read().SenderWaits(ctx, account, text)
	return n, wrapErr(err, "count campaigns of a sender ID")
}

// LastSentDays tells by sender ID on which day something was last sent with it.
func (db accountStore) LastSentDays(ctx context.Context, account int64) (map[string]string, error) {
	rows, err := db.read().SenderLastUse(ctx, account)
	if err != nil {
		return nil, fmt.Errorf("read the last use of sender IDs: %w", err)
	}
	days := map[string]string{}
	for _, r := range rows {
		days[r.SenderID] = r.Day
	}
	return days, nil
}
