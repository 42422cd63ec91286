package desk

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/radar"
	"smsdesk/internal/sms"
)

// AlreadySent says how many recipients of a campaign that has not started got
// nearly the same text in the last 30 days; nil where nobody did. What the check
// of its list found is believed until a similar campaign is sent after it.
func (d *Campaigns) AlreadySent(ctx context.Context, c sms.Campaign) (*sms.AlreadySent, error) {
	since := d.now().Add(-sms.AlreadySentWithin).UnixMilli()
	switch {
	case c.TestOf > 0:
		return nil, nil
	case c.GroupID != "":
		return d.groupGot(ctx, c, since)
	}
	known, fresh, err := d.knownAlready(ctx, c)
	if err != nil || !fresh {
		return known, err
	}
	found, err := radar.Look(ctx, d.store, radar.Search{Account: c.AccountID, Key: c.TextKey, Rows: c.Recipients,
		Since: since, Except: []int64{c.ID, c.AgainOf}, Series: c.SeriesID}, d.unsent(ctx, c.ID))
	if err != nil {
		return nil, fmt.Errorf("compare campaign %d with earlier ones: %w", c.ID, err)
	}
	return found.Already(), nil
}

// knownAlready is what the check of a campaign's list found. fresh says that it
// has to be looked up anew.
func (d *Campaigns) knownAlready(ctx context.Context, c sms.Campaign) (known *sms.AlreadySent, fresh bool, err error) {
	if c.ListID == 0 || c.AgainOf > 0 {
		return nil, true, nil
	}
	l, err := d.store.ListByID(ctx, c.ListID)
	if errors.Is(err, sms.ErrNotFound) || err == nil && l.Tally.LookedAt == 0 {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, err
	}
	if l.Tally.Already != nil && !l.Tally.Already.LeftOut {
		known = l.Tally.Already
	}
	later, err := d.store.SimilarCampaigns(ctx, c.AccountID, l.Tally.LookedAt, c.TextKey)
	fresh = slices.ContainsFunc(later, func(s radar.Campaign) bool {
		return s.ID != c.ID && (c.SeriesID == 0 || s.Series != c.SeriesID)
	})
	return known, fresh, err
}

// unsent are the messages of a campaign that would leave.
func (d *Campaigns) unsent(ctx context.Context, campaign int64) iter.Seq2[radar.Row, error] {
	return func(yield func(radar.Row, error) bool) {
		for r, err := range d.store.Recipients(ctx, campaign) {
			number, _ := strconv.ParseInt(r.Number, 10, 64)
			if !yield(radar.Row{Number: number, Text: r.Text}, err) {
				return
			}
		}
	}
}

// groupGot says that a group of the provider got nearly the same text.
func (d *Campaigns) groupGot(ctx context.Context, c sms.Campaign, since int64) (*sms.AlreadySent, error) {
	list, err := d.store.SimilarCampaigns(ctx, c.AccountID, since, c.TextKey)
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		if s.ID == c.ID || s.GroupID != c.GroupID || s.Key != c.TextKey {
			continue
		}
		var a *sms.AlreadySent
		err := d.store.EachSent(ctx, s, func(m radar.Sent) {
			a = &sms.AlreadySent{Recipients: 1, Of: 1, Group: true, LastAt: max(m.At, s.StartedAt), Campaigns: 1,
				CampaignID: s.ID, Name: s.Name, ByName: s.ByName}
		}, func(int64) error { return nil })
		if a != nil || err != nil {
			return a, err
		}
	}
	return nil, nil
}

// LeaveOutOfDraft leaves those recipients of a typed draft out who got nearly
// the same text, or takes all that were left out for that in again. A campaign
// that is made of a list is made of it anew instead.
func (d *Campaigns) LeaveOutOfDraft(ctx context.Context, by sms.User, id, version int64,
	leaveOut bool) (sms.Campaign, error) {
	if err := by.May(sms.Sender, "campaign.leaveout"); err != nil {
		return sms.Campaign{}, err
	}
	c, err := d.store.Campaign(ctx, id)
	if err == nil && (c.Version != version || !typedDraft(c)) {
		err = fmt.Errorf("leave out of campaign %d: %w", id, sms.ErrConflict)
	}
	if err != nil {
		return c, err
	}
	account, err := d.store.Account(ctx, c.AccountID)
	if err != nil {
		return c, err
	}
	messages, err := d.alreadyMarked(ctx, c, account, leaveOut)
	if err != nil {
		return c, err
	}
	limit, err := d.records.textLimit(ctx, account, c)
	if err != nil {
		return c, err
	}
	if err := divided(limit, &c, messages); err != nil {
		return c, err
	}
	c.Parts = 0
	for _, m := range messages {
		if m.State != sms.Skipped {
			c.Parts += int64(m.Parts)
		}
	}
	if c, err = d.store.ReplanDraft(ctx, c, messages, d.ms()); err != nil {
		return c, err
	}
	d.audit(ctx, by, "campaign.leaveout", feed.Campaign(id), strconv.FormatBool(leaveOut))
	d.feed.Publish(feed.Campaign(id), feed.Campaigns(c.AccountID))
	return c, nil
}

// typedDraft says that a draft's numbers were typed.
func typedDraft(c sms.Campaign) bool {
	return c.State == sms.CampaignDraft && c.ListID == 0 && c.GroupID == "" && c.AgainOf == 0 && c.TestOf == 0
}

// alreadyMarked are the messages of a typed draft as they are to be.
func (d *Campaigns) alreadyMarked(ctx context.Context, c sms.Campaign, account sms.Account,
	leaveOut bool) ([]sms.Message, error) {
	messages, _, err := d.store.Messages(ctx, sms.MessageFilter{CampaignID: c.ID, Limit: maxTyped})
	if err != nil {
		return nil, err
	}
	found, err := radar.Look(ctx, d.store, radar.Search{Account: c.AccountID, Key: c.TextKey, Rows: c.Recipients,
		Since: d.now().Add(-sms.AlreadySentWithin).UnixMilli()}, d.unsent(ctx, c.ID))
	if err != nil {
		return nil, err
	}
	for i := range messages {
		m := &messages[i]
		number, _ := strconv.ParseInt(m.Number, 10, 64)
		at, got := found.At(radar.Row{Number: number, Text: m.Text})
		switch {
		case leaveOut && got && m.State == sms.Draft:
			m.State, m.Code = sms.Skipped, sms.CodeAlready
			m.Reason = sms.AlreadyReason(time.UnixMilli(at).In(account.Location()))
		case !leaveOut && m.State == sms.Skipped && m.Code == sms.CodeAlready:
			m.State, m.Code, m.Reason = sms.Draft, "", ""
		}
	}
	return messages, nil
}
