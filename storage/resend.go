package storage

import (
	"context"
	"errors"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// StartResend stores the hidden campaign that sends messages of c.AgainOf
// again. The token makes it one: where a campaign was made with it already,
// that one is given back, and while one is being made the error is
// sms.ErrConflict.
func (db campaignStore) StartResend(ctx context.Context, c sms.Campaign, token string,
	now int64) (made sms.Campaign, whole bool, err error) {
	err = db.update(ctx, "begin campaign", func(t *tx) error {
		first, err := t.CampaignByToken(ctx, token)
		if err == nil {
			made, whole = campaign(first.Campaign, first.Test), true
			return nil
		}
		if !errors.Is(classify(err), sms.ErrNotFound) {
			return err
		}
		// The people who were chosen get it, not all of the group that it went to.
		one := c
		one.GroupID, one.GroupName = "", ""
		made = c
		made.ID, err = t.insertCampaign(ctx, one, sms.CampaignHidden, token, now)
		return err
	})
	return made, whole, err
}

// PublishResend makes the hidden campaign a draft. tally counts its messages by
// standing.
func (db campaignStore) PublishResend(ctx context.Context, c sms.Campaign, tally sms.Tally,
	now int64) (sms.Campaign, error) {
	if err := db.findByNumber(ctx, c, numbersSorted); err != nil {
		return c, err
	}
	var made sms.Campaign
	err := db.update(ctx, "show campaign", func(t *tx) error {
		n, err := t.Queries.ShowCampaign(ctx, query.ShowCampaignParams{ID: c.ID, Recipients: c.Recipients, Parts: c.Parts,
			Unicode:     c.Unicode,
			Fingerprint: c.Fingerprint, CallsText: c.CallsText, CallsPairs: c.CallsPairs, CreatedAt: now})
		if err != nil || n != 1 {
			return conflictIfNil(err)
		}
		for key, n := range tally {
			t.count(c.ID, key, n)
		}
		row, err := t.CampaignByID(ctx, c.ID)
		made = campaign(row.Campaign, row.Test)
		return err
	})
	return made, err
}

// Resends lists the campaigns that send messages of a campaign again,
// oldest first.
func (db campaignStore) Resends(ctx context.Context, id int64) ([]sms.Campaign, error) {
	rows, err := db.read().AgainCampaigns(ctx, id)
	return foundAll(rows, err, func(r query.AgainCampaignsRow) sms.Campaign {
		return campaign(r.Campaign, r.Test)
	}, "list campaigns that send again")
}
