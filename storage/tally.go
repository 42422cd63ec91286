package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// interimKey counts, beside the standings, messages last reported ACCEPTD: they
// stand where those without any report do.
const interimKey = "acceptd"

func acceptd(m sms.Message) int64 {
	if m.State == sms.Accepted && m.Delivery.Status == sms.Acceptd {
		return 1
	}
	return 0
}

// CountCampaign finds a campaign and counts its messages at one moment. It
// costs the same for a campaign of any size.
func (db campaignStore) CountCampaign(ctx context.Context, id int64) (c sms.CampaignCount, err error) {
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
func (db campaignStore) CountCampaigns(ctx context.Context,
	f sms.CampaignFilter) (list []sms.CampaignCount, more bool, err error) {
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
