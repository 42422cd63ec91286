package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// interimKey counts, beside the standings, messages last reported ACCEPTD: they
// stand where those without any report do.
const interimKey = "acceptd"

func interim(m sms.Message) int64 {
	if m.State == sms.Accepted && m.Delivery.Status == sms.Acceptd {
		return 1
	}
	return 0
}

// CountCampaign finds a campaign and counts its messages at one moment. It
// costs the same for a campaign of any size.
func (db *DB) CountCampaign(ctx context.Context, id int64) (c sms.CampaignCount, err error) {
	raw, err := db.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return c, fmt.Errorf("count a campaign: %w", err)
	}
	defer func() { _ = raw.Rollback() }()
	q := query.New(raw)
	row, err := q.CampaignByID(ctx, id)
	if err != nil {
		return c, fmt.Errorf("count a campaign: %w", classify(err))
	}
	c.Campaign = campaign(row.Campaign, row.Test)
	rows, err := q.CampaignTally(ctx, id)
	if err != nil {
		return c, fmt.Errorf("count a campaign: %w", err)
	}
	claimed, err := q.CountClaimed(ctx, c.Campaign.AccountID, id)
	if err != nil {
		return c, fmt.Errorf("count a campaign: %w", err)
	}
	tally := sms.Tally{}
	for _, r := range rows {
		tally[r.Key] = r.N
	}
	c.States, c.Delivery = sms.CountStates(tally, claimed, tally[interimKey])
	return c, nil
}

// CountCampaigns lists campaigns with their counts; an AccountID of 0 means
// those of every account. more says that there are older ones.
func (db *DB) CountCampaigns(ctx context.Context, f sms.CampaignFilter) (list []sms.CampaignCount, more bool, err error) {
	ids, more, err := db.campaignIDs(ctx, f)
	if err != nil {
		return nil, false, err
	}
	for _, id := range ids {
		c, err := db.CountCampaign(ctx, id)
		if errors.Is(err, sms.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, false, err
		}
		list = append(list, c)
	}
	return list, more, nil
}

func (db *DB) campaignIDs(ctx context.Context, f sms.CampaignFilter) (ids []int64, more bool, err error) {
	where, args := campaignConditions(f)
	rows, err := db.reader.QueryContext(ctx, `select c.id from campaign c where `+where+fmt.Sprintf(` order by c.id desc limit %d`, f.Limit+1), args...)
	if err != nil {
		return nil, false, fmt.Errorf("list campaigns: %w", err)
	}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, false, errors.Join(fmt.Errorf("list campaigns: %w", err), rows.Close())
		}
		ids = append(ids, id)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, false, fmt.Errorf("list campaigns: %w", err)
	}
	if more = len(ids) > f.Limit; more {
		ids = ids[:f.Limit]
	}
	return ids, more, nil
}

// states is a list of states for an SQL "in".
func states[T ~string](list []T, arg func(any) string) string {
	in := make([]string, len(list))
	for i, s := range list {
		in[i] = arg(string(s))
	}
	return "(" + strings.Join(in, ", ") + ")"
}
