package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// Messages lists messages in the order of their rows; more says that there
// are further ones in the direction asked for.
func (db campaignStore) Messages(ctx context.Context, f sms.MessageFilter) (list []sms.Message, more bool, err error) {
	c, err := db.messagesOf(ctx, f.CampaignID)
	if err != nil {
		return nil, false, err
	}
	if c.ID == 0 {
		return nil, false, nil
	}
	order := "asc"
	if f.Before > 0 {
		order = "desc"
	}
	where, args := messageConditions(f)
	query := `select ` + messageColumns + ` from message where ` +
		where + fmt.Sprintf(` order by id %s limit %d`, order, f.Limit+1)
	if narrow(f) {
		query = standingMessages(f, c, messageColumns, order)
	}
	rows, err := db.reader.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, false, fmt.Errorf("list messages: %w", err)
	}
	for rows.Next() {
		m, err := scanMessage(rows)
		if err != nil {
			return nil, false, errors.Join(fmt.Errorf("list messages: %w", err), rows.Close())
		}
		list = append(list, shown(m, c))
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, false, fmt.Errorf("list messages: %w", err)
	}
	if more = len(list) > f.Limit; more {
		list = list[:f.Limit]
	}
	if f.Before > 0 {
		for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
			list[i], list[j] = list[j], list[i]
		}
	}
	return list, more, nil
}

// messagesOf is the campaign of messages that are asked for; it may be hidden
// or gone.
func (db campaignStore) messagesOf(ctx context.Context, id int64) (sms.Campaign, error) {
	row, err := db.read().CampaignByID(ctx, id)
	if err = classify(err); err != nil && !errors.Is(err, sms.ErrNotFound) {
		return sms.Campaign{}, fmt.Errorf("read the campaign of messages: %w", err)
	}
	return campaign(row.Campaign, row.Test), nil
}

// shown is a message as people see it. One that waits or was cancelled has
// changed with its campaign, though it may be moved later.
func shown(m sms.Message, of sms.Campaign) sms.Message {
	stored := m.State
	switch m.State = of.Shows(stored); m.State {
	case sms.Queued:
		m.ChangedAt = max(m.ChangedAt, of.StartedAt)
	case sms.Cancelled:
		if stored != sms.Cancelled {
			m.Reason, m.ChangedAt = of.Pause, max(m.ChangedAt, of.FinishedAt)
		}
	}
	return m
}

const messageColumns = `id, account_id, campaign_id, row_no, number, text, text_hash, unicode, parts, state, reason, code, attempt_id, provider_id, evidence,
  status, error_code, done_date, conflict, late, created_at, sent_at, changed_at, call_no, known_at`

// scanMessage reads messageColumns and what stands behind them.
func scanMessage(rows *sql.Rows, more ...any) (sms.Message, error) {
	var r query.Message
	err := rows.Scan(append([]any{&r.ID, &r.AccountID, &r.CampaignID, &r.RowNo, &r.Number, &r.Text, &r.TextHash,
		&r.Unicode, &r.Parts, &r.State, &r.Reason, &r.Code,
		&r.AttemptID, &r.ProviderID, &r.Evidence, &r.Status, &r.ErrorCode, &r.DoneDate, &r.Conflict, &r.Late, &r.CreatedAt,
		&r.SentAt, &r.ChangedAt, &r.CallNo, &r.KnownAt}, more...)...)
	return message(r), err
}

func messageConditions(f sms.MessageFilter) (where string, args []any) {
	arg := func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	}
	parts := []string{"campaign_id = " + arg(f.CampaignID)}
	if f.After > 0 {
		parts = append(parts, "id > "+arg(f.After))
	}
	if f.Before > 0 {
		parts = append(parts, "id < "+arg(f.Before))
	}
	if len(f.IDs) > 0 {
		var in []string
		for _, id := range f.IDs {
			in = append(in, arg(id))
		}
		parts = append(parts, "id in ("+strings.Join(in, ", ")+")")
	}
	return strings.Join(parts, " and "), args
}

// Message finds a message by id.
func (db campaignStore) Message(ctx context.Context, id int64) (sms.Message, error) {
	r, err := db.read().MessageByID(ctx, id)
	if _, err := wrapNotFound(r, err, "read message"); err != nil {
		return sms.Message{}, err
	}
	c, err := db.Campaign(ctx, r.CampaignID)
	if err != nil {
		return sms.Message{}, fmt.Errorf("read message: %w", err)
	}
	return shown(message(r), c), nil
}

// MessageAttempts lists the calls that held a message, oldest first.
func (db campaignStore) MessageAttempts(ctx context.Context, id int64) ([]sms.Attempt, error) {
	rows, err := db.read().MessageAttempts(ctx, id)
	return foundAll(rows, err, attempt, "list a message's attempts")
}

// MarkLate marks messages without a final report that were sent before the
// given time; it returns the campaigns that changed.
func (db campaignStore) MarkLate(ctx context.Context, account, before, now int64) (campaigns []int64, err error) {
	err = db.update(ctx, "mark late messages", func(t *tx) error {
		rows, err := t.LateMessages(ctx, account, before)
		if err != nil {
			return err
		}
		for _, r := range rows {
			m := message(r)
			after := m
			after.Delivery.Late = true
			if after.Delivery.Status != sms.Unknown {
				after.Delivery.KnownAt = now
			}
			if err := t.saveDelivery(ctx, m, after, now); err != nil {
				return err
			}
			campaigns = appendNew(campaigns, m.CampaignID)
		}
		return nil
	})
	return campaigns, err
}

func (t *tx) saveDelivery(ctx context.Context, before, after sms.Message, now int64) error {
	d := after.Delivery
	n, err := t.DeliverMessage(ctx, query.DeliverMessageParams{ID: after.ID, Status: string(d.Status),
		ErrorCode: d.ErrorCode, DoneDate: d.DoneDate,
		Conflict: d.Conflict, Late: d.Late, ChangedAt: now, KnownAt: d.KnownAt})
	if err == nil && n != 1 {
		err = errUnexpected
	}
	if err != nil {
		return err
	}
	return t.countDelivery(ctx, before, after, now)
}

// countDelivery counts a message whose delivery moved; a blacklisted number is
// blocked from then on.
func (t *tx) countDelivery(ctx context.Context, before, after sms.Message, now int64) error {
	t.moveTally(after.CampaignID, standingOf(before), standingOf(after), 1)
	t.count(after.CampaignID, interimKey, acceptd(after)-acceptd(before))
	if err := errors.Join(t.countTraffic(ctx, before, -1), t.countTraffic(ctx, after, 1)); err != nil {
		return err
	}
	if after.Delivery.Status == sms.Blacklist && before.Delivery.Status != sms.Blacklist {
		return contactTx{t}.blockReported(ctx, after, now)
	}
	return nil
}

func standingOf(m sms.Message) string {
	return sms.StandingKey(m.State, m.Delivery.Status, m.Delivery.Late)
}

func appendNew(list []int64, id int64) []int64 {
	if slices.Contains(list, id) {
		return list
	}
	return append(list, id)
}

func message(r query.Message) sms.Message {
	return sms.Message{ID: r.ID, AccountID: r.AccountID, CampaignID: r.CampaignID, Row: r.RowNo, Number: r.Number,
		Text: r.Text, Unicode: r.Unicode,
		Parts: int(r.Parts), State: sms.State(r.State), Reason: r.Reason, Code: r.Code, AttemptID: r.AttemptID,
		ProviderID: r.ProviderID, Evidence: r.Evidence,
		Delivery: sms.Delivery{Status: sms.Status(r.Status), ErrorCode: r.ErrorCode, DoneDate: r.DoneDate,
			Conflict: r.Conflict, Late: r.Late, KnownAt: r.KnownAt},
		CreatedAt: r.CreatedAt, SentAt: r.SentAt, ChangedAt: r.ChangedAt, Call: int32(r.CallNo)}
}
