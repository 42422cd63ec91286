package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// querier is a transaction or a pool that questions are put to.
type querier interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// recountPerRead bounds one read of the recount.
const recountPerRead = 20_000

const (
	countedMessages = `select id, account_id, campaign_id, number, state, code, status, error_code, late, sent_at, known_at,
  changed_at from message where id > $1 order by id limit $2`
	countedReports = `select r.id, m.campaign_id, r.received_at, r.status from delivery_report r join message m on m.id = r.message_id
where r.id > $1 and r.message_id > 0 and r.effect <> 'wrong_number' order by r.id limit $2`
)

// recountTraffic counts every message and report there is, as traffic,
// traffic_quarter and campaign_cut should have them. Counts that are 0 may be
// left out there and here.
func recountTraffic(ctx context.Context, from querier, networks *phone.Networks) (*traffic, error) {
	counted := newTraffic(networks)
	senders, err := from.QueryContext(ctx, "select id, sender_id, started_at from campaign")
	err = forEachRow(senders, err, func(scan func(...any) error) error {
		var id int64
		var c query.CampaignSenderRow
		err := scan(&id, &c.SenderID, &c.StartedAt)
		counted.campaigns[id] = c
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("recount: %w", err)
	}
	if err := inPages(ctx, from, countedMessages, func(scan func(...any) error) (last int64, err error) {
		var r query.Message
		if err = scan(&r.ID, &r.AccountID, &r.CampaignID, &r.Number, &r.State, &r.Code, &r.Status, &r.ErrorCode, &r.Late,
			&r.SentAt, &r.KnownAt, &r.ChangedAt); err == nil && hasLeft(sms.State(r.State)) {
			counted.add(message(r), 1)
		}
		return r.ID, err
	}); err != nil {
		return nil, fmt.Errorf("recount messages: %w", err)
	}
	if err := inPages(ctx, from, countedReports, func(scan func(...any) error) (last int64, err error) {
		var campaign, at int64
		var status string
		if err = scan(&last, &campaign, &at, &status); err == nil {
			counted.report(campaign, at, status)
		}
		return last, err
	}); err != nil {
		return nil, fmt.Errorf("recount reports: %w", err)
	}
	return counted, nil
}

// inPages reads a table in the order of its ids, a bounded piece at a time.
func inPages(ctx context.Context, from querier, text string,
	do func(scan func(...any) error) (last int64, err error)) error {
	for last, n := int64(0), recountPerRead; n == recountPerRead; {
		n = 0
		rows, err := from.QueryContext(ctx, text, last, recountPerRead)
		if err = forEachRow(rows, err, func(scan func(...any) error) (err error) {
			n++
			last, err = do(scan)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// forEachRow hands out the rows of a question one by one, and closes it.
func forEachRow(rows *sql.Rows, err error, do func(scan func(...any) error) error) error {
	if err != nil {
		return err
	}
	for rows.Next() {
		if err := do(rows.Scan); err != nil {
			return errors.Join(err, rows.Close())
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

// records reads all rows of a question; fields are where the columns of one go.
func records[T any](rows *sql.Rows, err error, fields func(*T) []any) (list []T, _ error) {
	err = forEachRow(rows, err, func(scan func(...any) error) error {
		var r T
		err := scan(fields(&r)...)
		list = append(list, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// onlyColumn reads all rows of a question for one column.
// anys are values as a statement takes them.
func anys[T any](list []T) []any {
	args := make([]any, len(list))
	for i, v := range list {
		args[i] = v
	}
	return args
}

func onlyColumn[T any](rows *sql.Rows, err error) ([]T, error) {
	return records(rows, err, func(v *T) []any { return []any{v} })
}
