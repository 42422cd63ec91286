package storage

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"smsdesk/internal/phone"
)

// purgedPerTx is how many rows one transaction takes numbers and texts from:
// few, because sending and reports wait for it.
const purgedPerTx = 500

// numberHash is the same for the same number in one data folder and tells
// nobody without its key file which number it was.
func (db usageStore) numberHash(number string) string {
	mac := hmac.New(sha256.New, db.seal.numbers)
	mac.Write([]byte(number))
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

func (db usageStore) removedNumber(number string) string {
	return phone.RemovedFrom(number, db.numberHash(number), &db.networks)
}

// PurgeMessages removes the numbers and texts of some messages of the first
// campaign that ended before the given time and has nothing left to be
// decided. The campaign is 0 when there is none; whole says that it has none
// left with a number or a text.
func (db usageStore) PurgeMessages(ctx context.Context, before, now int64) (campaign, n int64, whole bool, err error) {
	err = db.forget(ctx, "remove numbers and texts of messages", func(t *tx) error {
		campaign, err = t.FirstKept(ctx, before)
		if errors.Is(err, sql.ErrNoRows) {
			campaign = 0
			return nil
		}
		if err != nil {
			return err
		}
		cursor := fmt.Sprintf("forget:%d", campaign)
		after, err := accountTx{t}.position(ctx, cursor)
		if err != nil {
			return err
		}
		rows, err := t.SomeNumbers(ctx, campaign, after, purgedPerTx)
		if err != nil {
			return err
		}
		n = int64(len(rows))
		if whole = n < purgedPerTx; whole {
			if err := errors.Join(t.SetRemoved(ctx, campaign, now), t.DeleteCursor(ctx, cursor)); err != nil {
				return err
			}
		} else if err := t.PutCursor(ctx, cursor, rows[n-1].ID); err != nil {
			return err
		}
		for some := range slices.Chunk(rows, reportsPerStmt) {
			values, args := make([]string, len(some)), []any{[]byte{}}
			for i, m := range some {
				values[i] = fmt.Sprintf("(cast($%d as bigint), $%d)", len(args)+1, len(args)+2)
				args = append(args, m.ID, db.removedNumber(m.Number))
			}
			if _, err := t.sql.ExecContext(ctx, fmt.Sprintf(forgetMessages, strings.Join(values, ", ")), args...); err != nil {
				return err
			}
		}
		return nil
	})
	return campaign, n, whole && err == nil, err
}

const forgetMessages = `update message set number = s.column2, text = '', text_hash = $1 from (values %s) as s where message.id = s.column1`

// PurgeReports removes numbers and texts of some reports that arrived for the
// last time before the given one, in the order of their arrival; more says that
// there may be further ones.
func (db usageStore) PurgeReports(ctx context.Context, before int64) (n int64, more bool, err error) {
	const cursor = "forget:reports"
	err = db.forget(ctx, "remove numbers and texts of reports", func(t *tx) error {
		after, err := accountTx{t}.position(ctx, cursor)
		if err != nil {
			return err
		}
		rows, err := t.SomeReports(ctx, after, purgedPerTx)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if r.LastAt >= before {
				break
			}
			if err := t.ForgetReport(ctx, r.ID, db.removedNumber(r.Mobile)); err != nil {
				return err
			}
			n, after = n+1, r.ID
		}
		if more = n == purgedPerTx; !more {
			asked, err := t.ForgetAsked(ctx, before)
			if err != nil {
				return err
			}
			n += asked
		}
		return t.PutCursor(ctx, cursor, after)
	})
	return n, more && err == nil, err
}

// PurgeCalls removes the texts of some requests that ended before the given
// time, and the answers' excerpts.
func (db usageStore) PurgeCalls(ctx context.Context, before int64) (n int64, more bool, err error) {
	const cursor = "forget:calls"
	err = db.forget(ctx, "remove texts of requests", func(t *tx) error {
		after, err := accountTx{t}.position(ctx, cursor)
		if err != nil {
			return err
		}
		rows, err := t.SomeCalls(ctx, after, purgedPerTx)
		if err != nil {
			return err
		}
		for _, a := range rows {
			if a.EndedAt == 0 || a.EndedAt >= before {
				break
			}
			if err := t.ForgetCall(ctx, a.ID); err != nil {
				return err
			}
			n, after = n+1, a.ID
		}
		more = n == purgedPerTx
		return t.PutCursor(ctx, cursor, after)
	})
	return n, more && err == nil, err
}

// PurgeBlocks deletes some blocks that ended before the given time: without
// their number they tell nothing. Those that hold stay, however old they are.
func (db usageStore) PurgeBlocks(ctx context.Context, before int64) (n int64, more bool, err error) {
	err = db.forget(ctx, "delete ended blocks", func(t *tx) error {
		ids, err := t.SomeEndedBlocks(ctx, before, purgedPerTx)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := t.DeleteEndedBlock(ctx, id); err != nil {
				return err
			}
		}
		n = int64(len(ids))
		more = n == purgedPerTx
		return nil
	})
	return n, more && err == nil, err
}

// forget is update once nobody else waits to write.
func (db usageStore) forget(ctx context.Context, doing string, fn func(*tx) error) error {
	if err := campaignStore(db).yieldToWriters(ctx); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return db.update(ctx, doing, fn)
}

func (t accountTx) position(ctx context.Context, cursor string) (int64, error) {
	at, err := t.Cursor(ctx, cursor)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return at, err
}
