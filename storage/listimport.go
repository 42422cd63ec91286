package storage

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"smsdesk/internal/series"
	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// A campaign of many messages is written while it is hidden: no question finds
// it or its messages, and what a crash leaves of it is swept away.

// StartImport stores the hidden campaign of a list that is being made. It
// fails with sms.ErrConflict when the list was changed meanwhile.
func (db campaignStore) StartImport(ctx context.Context, l sms.List, c sms.Campaign,
	now int64) (id int64, err error) {
	err = db.update(ctx, "begin campaign", func(t *tx) error {
		c.ListID = l.ID
		token, err := importToken(ctx, t.Queries, c)
		if err != nil {
			return err
		}
		if id, err = t.insertCampaign(ctx, c, sms.CampaignHidden, token, now); err != nil {
			return err
		}
		if err := t.recordTemplate(ctx, c, id, now); err != nil {
			return err
		}
		n, err := t.ListCampaign(ctx, l.ID, l.Version, id)
		if err == nil && n != 1 {
			err = errUnexpected
		}
		return err
	})
	return id, err
}

// importToken is the token of a list's campaign: random, or that of a run of a
// series, by which the journal knows it also where an older state has come back.
// What an interrupted attempt left hidden gives it up.
func importToken(ctx context.Context, q *query.Queries, c sms.Campaign) (string, error) {
	if c.SeriesID == 0 {
		return randomHex(32), nil
	}
	uid, err := q.SeriesUID(ctx, c.SeriesID)
	if err != nil {
		return "", err
	}
	token := series.Token(uid, c.SeriesRun)
	return token, q.ReleaseToken(ctx, token, token+" "+randomHex(16))
}

const (
	// messagesPerStmt is how many messages one statement takes.
	messagesPerStmt = 10
	// minSlice and maxSlice bound how long one transaction stores messages.
	minSlice = 30 * time.Millisecond
	maxSlice = 150 * time.Millisecond
	// sweptPerTx is how many messages of an abandoned campaign go in one
	// transaction.
	sweptPerTx = 1000
)

// PutMessages adds messages to a hidden campaign in one transaction that lets
// every other writer go first, and says how many of them: as many as fit into
// its turn. It is as long as what it waited for, so that two who always want to
// write get half of the time each.
func (db campaignStore) PutMessages(ctx context.Context, campaign int64, messages []sms.Message,
	now int64) (stored int, err error) {
	asked := time.Now()
	if err := db.yieldToWriters(ctx); err != nil {
		return 0, err
	}
	err = db.update(ctx, "store messages", func(t *tx) error {
		stored, err = t.putMessages(ctx, campaign, messages, time.Now().Add(min(max(time.Since(asked), minSlice), maxSlice)),
			now)
		return err
	})
	if err != nil {
		return 0, err
	}
	return stored, nil
}

func (t *tx) putMessages(ctx context.Context, campaign int64, messages []sms.Message, ends time.Time,
	now int64) (stored int, err error) {
	many, err := t.sql.PrepareContext(ctx, insertDrafts(messagesPerStmt))
	if err != nil {
		return 0, err
	}
	defer func() { _ = many.Close() }()
	for stored < len(messages) && (stored == 0 || time.Now().Before(ends)) {
		n, rest := 0, messages[stored:]
		for n < len(rest) && n < messagesPerStmt && rest[n].State == sms.Draft {
			n++
		}
		if n == messagesPerStmt {
			_, err = many.ExecContext(ctx, draftArgs(campaign, rest[:n], now)...)
		} else {
			n, err = 1, t.putMessage(ctx, campaign, rest[0], now)
		}
		if err != nil {
			return stored, err
		}
		stored += n
	}
	return stored, nil
}

func insertDrafts(n int) string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = "($1, $2, " + places(4+7*i, 7) + ", 'draft', '', '', 0, '', '', '', '', '', false, false, $3, 0, $3)"
	}
	return `insert into message (account_id, campaign_id, row_no, number, text, text_hash, unicode, parts, call_no, state, reason, code, attempt_id,
  provider_id, evidence, status, error_code, done_date, conflict, late, created_at, sent_at, changed_at) values ` + strings.Join(rows, ", ")
}

func draftArgs(campaign int64, messages []sms.Message, now int64) []any {
	args := make([]any, 0, 3+7*len(messages))
	args = append(args, messages[0].AccountID, campaign, now)
	for _, m := range messages {
		args = append(args, m.Row, m.Number, m.Text, textHash(m.Text, ""), m.Unicode, int64(m.Parts), int64(m.Call))
	}
	return args
}

func (t *tx) putMessage(ctx context.Context, campaign int64, m sms.Message, now int64) error {
	_, err := t.InsertMessage(ctx, query.InsertMessageParams{AccountID: m.AccountID, CampaignID: campaign, RowNo: m.Row,
		Number: m.Number, Text: m.Text,
		TextHash: textHash(m.Text, ""), Unicode: m.Unicode, Parts: int64(m.Parts), State: string(m.State), Reason: m.Reason,
		Code: m.Code, CreatedAt: now,
		CallNo: int64(m.Call)})
	return err
}

// PublishImport makes a hidden campaign a draft and its list made, in one
// transaction. tally counts its messages by standing. It fails with
// sms.ErrConflict when the list was changed or dropped meanwhile.
func (db campaignStore) PublishImport(ctx context.Context, l sms.List, c sms.Campaign, tally sms.Tally,
	now int64) error {
	if err := db.findByNumber(ctx, c, numbersSorted); err != nil {
		return err
	}
	return db.update(ctx, "show campaign", func(t *tx) error {
		n, err := t.Queries.ShowCampaign(ctx, query.ShowCampaignParams{ID: c.ID, Recipients: c.Recipients, Parts: c.Parts,
			Unicode:     c.Unicode,
			Fingerprint: c.Fingerprint, CallsText: c.CallsText, CallsPairs: c.CallsPairs, CreatedAt: now})
		if err != nil || n != 1 {
			return conflictIfNil(err)
		}
		if n, err = t.ListMade(ctx, query.ListMadeParams{ID: l.ID, Version: l.Version, CampaignID: c.ID,
			ChangedAt: now}); err != nil || n != 1 {
			return conflictIfNil(err)
		}
		for key, n := range tally {
			t.count(c.ID, key, n)
		}
		return nil
	})
}

// DeleteAbandonedImports removes some of what is left of hidden campaigns that nobody
// makes any more; more says that there is more to remove. One that sends
// messages again is made by no list: it is left alone until before.
func (db campaignStore) DeleteAbandonedImports(ctx context.Context, before int64) (more bool, err error) {
	ids, err := db.read().AbandonedCampaigns(ctx, before)
	if err != nil {
		return false, fmt.Errorf("list abandoned campaigns: %w", err)
	}
	for _, id := range ids {
		if err := db.yieldToWriters(ctx); err != nil {
			return false, err
		}
		err := db.update(ctx, "remove an abandoned campaign", func(t *tx) error {
			n, err := t.DeleteSomeMessages(ctx, id, sweptPerTx)
			if more = n == sweptPerTx; err != nil || more {
				return err
			}
			if err := t.DeleteTally(ctx, id); err != nil {
				return err
			}
			_, err = t.DeleteHidden(ctx, id)
			return err
		})
		if err != nil || more {
			return more, err
		}
	}
	return false, nil
}

// yieldToWriters waits until no other writer of this process waits, and a moment
// longer, but not for ever.
func (db campaignStore) yieldToWriters(ctx context.Context) error {
	for range 100 {
		if db.pendingWriters.Load() == 0 {
			return ctx.Err()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

const someRecipients = `select id, number, text from message where campaign_id = $1 and id > $2 and state <> 'skipped' order by id limit $3`

// recipientsPerStmt bounds how long one read keeps the write-ahead log.
const recipientsPerStmt = 5000

// Recipients gives the numbers and texts of a campaign's messages that were not
// left out.
func (db campaignStore) Recipients(ctx context.Context, campaign int64) iter.Seq2[sms.Recipient, error] {
	return func(yield func(sms.Recipient, error) bool) {
		some := make([]sms.Recipient, 0, recipientsPerStmt)
		for last, n := int64(0), recipientsPerStmt; n == recipientsPerStmt; n = len(some) {
			rows, err := db.reader.QueryContext(ctx, someRecipients, campaign, last, recipientsPerStmt)
			some = some[:0]
			err = forEachRow(rows, err, func(scan func(...any) error) error {
				var r sms.Recipient
				err := scan(&r.MessageID, &r.Number, &r.Text)
				some, last = append(some, r), r.MessageID
				return err
			})
			if err != nil {
				yield(sms.Recipient{}, fmt.Errorf("list recipients: %w", err))
				return
			}
			for _, r := range some {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}
