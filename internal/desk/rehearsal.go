package desk

import (
	"context"
	"errors"
	"fmt"

	"smsdesk/internal/feed"
	"smsdesk/internal/rehearsal"
	"smsdesk/internal/sms"
)

// Rehearsals takes the orders to play a draft through the sandbox before it is
// sent. What plays them hears of it by the Feed.
type Rehearsals struct {
	work
	store     RehearsalStore
	campaigns *Campaigns
}

// RehearsalStore is what those orders need to be remembered.
type RehearsalStore interface {
	Account(ctx context.Context, id int64) (sms.Account, error)
	Campaign(ctx context.Context, id int64) (sms.Campaign, error)
	OrderRehearsal(ctx context.Context, r rehearsal.Rehearsal) (rehearsal.Rehearsal, error)
	Rehearsal(ctx context.Context, id int64) (rehearsal.Rehearsal, error)
	StopRehearsal(ctx context.Context, id, now int64) error
}

// RehearseOrder asks for a draft to be rehearsed. The costs are those of the whole
// campaign as the person saw them, in hundredths; 0 where no price is known.
type RehearseOrder struct {
	CampaignID                    int64
	Kind                          rehearsal.Kind
	CostLow, CostMiddle, CostHigh int64
}

// Rehearse orders a rehearsal of a draft. While one of the same person is open it
// gives that one and sms.ErrConflict. The field of its Invalid is rehearse.
func (d *Rehearsals) Rehearse(ctx context.Context, by sms.User, o RehearseOrder) (rehearsal.Rehearsal, error) {
	if err := by.May(sms.Sender, "rehearse a campaign"); err != nil {
		return rehearsal.Rehearsal{}, err
	}
	if o.Kind != rehearsal.Usual && o.Kind != rehearsal.Bad {
		return rehearsal.Rehearsal{}, sms.Invalid{"rehearse": "Choose a usual day or a bad day"}
	}
	c, err := d.store.Campaign(ctx, o.CampaignID)
	if err != nil {
		return rehearsal.Rehearsal{}, err
	}
	if !c.MayStart() {
		return rehearsal.Rehearsal{}, fmt.Errorf("rehearse campaign %d: %w: it is no draft", c.ID, sms.ErrConflict)
	}
	out, err := d.campaigns.Outgoing(ctx, c)
	if err != nil {
		return rehearsal.Rehearsal{}, err
	}
	if !MayRehearse(c, out) {
		return rehearsal.Rehearsal{}, sms.Invalid{"rehearse": fmt.Sprintf(
			"You can rehearse a list of %d recipients or more. Send a test to your own phone instead", rehearsal.MinRows)}
	}
	return d.order(ctx, by, rehearsal.Rehearsal{AccountID: c.AccountID, CampaignID: c.ID, Name: c.Name, Kind: o.Kind,
		All:    out.Messages,
		Result: rehearsal.Result{CostLow: o.CostLow, CostMiddle: o.CostMiddle, CostHigh: o.CostHigh}})
}

// MayRehearse says whether a rehearsal is offered for a draft.
func MayRehearse(c sms.Campaign, out sms.Outgoing) bool {
	return c.MayStart() && c.GroupID == "" && out.Messages >= rehearsal.MinRows
}

// WatchRehearsal orders one with made-up recipients.
func (d *Rehearsals) WatchRehearsal(ctx context.Context, by sms.User, account int64) (rehearsal.Rehearsal, error) {
	if err := by.May(sms.Sender, "watch a rehearsal"); err != nil {
		return rehearsal.Rehearsal{}, err
	}
	a, err := d.store.Account(ctx, account)
	if err != nil {
		return rehearsal.Rehearsal{}, err
	}
	return d.order(ctx, by, rehearsal.Rehearsal{AccountID: a.ID, Name: "Made-up recipients", Kind: rehearsal.Watch,
		All: rehearsal.WatchRows})
}

func (d *Rehearsals) order(ctx context.Context, by sms.User, r rehearsal.Rehearsal) (rehearsal.Rehearsal, error) {
	r.By, r.CreatedAt = by, d.ms()
	made, err := d.store.OrderRehearsal(ctx, r)
	if err == nil {
		d.feed.Publish(feed.Rehearsals, feed.Rehearsal(made.ID))
	}
	return made, err
}

// StopRehearsal ends a rehearsal, of whomever: others wait behind it. One that is
// over stays as it is.
func (d *Rehearsals) StopRehearsal(ctx context.Context, by sms.User, id int64) error {
	if err := by.May(sms.Sender, "stop a rehearsal"); err != nil {
		return err
	}
	if _, err := d.store.Rehearsal(ctx, id); err != nil {
		return err
	}
	if err := d.store.StopRehearsal(ctx, id, d.ms()); err != nil && !errors.Is(err, sms.ErrConflict) {
		return err
	}
	d.feed.Publish(feed.Rehearsal(id))
	return nil
}
