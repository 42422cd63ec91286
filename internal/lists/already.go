package lists

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"smsdesk/internal/feed"
	"smsdesk/internal/radar"
	"smsdesk/internal/sms"
)

// already finds out who of a list's rows to be sent got nearly the same text
// lately; nil where nobody did. n is about how many rows those are.
func (im *Importer) already(ctx context.Context, l sms.List, sum, n int64) (*radar.Found, error) {
	l.Comparing = true
	said := im.lists.now()
	s := radar.Search{Account: l.AccountID, Key: radar.ListKey(l.Order), Rows: n, Series: l.Reading.Series,
		Since: said.Add(-sms.AlreadySentWithin).UnixMilli(),
		Progress: func(done, total int64) error {
			if now := im.lists.now(); now.Sub(said) >= progressInterval {
				said = now
				return im.progress(ctx, l, done, total)
			}
			return ctx.Err()
		}}
	found, err := radar.Look(ctx, im.lists.already, s, im.toSend(ctx, l.UID, sum))
	if err != nil {
		return nil, fmt.Errorf("compare list with earlier campaigns: %w", err)
	}
	return found, nil
}

// toSend are the staged rows that nothing keeps from being sent.
func (im *Importer) toSend(ctx context.Context, uid string, sum int64) iter.Seq2[radar.Row, error] {
	return func(yield func(radar.Row, error) bool) {
		for r, err := range im.store.StagedRows(ctx, uid, sum) {
			if err == nil && r.Kind != "" {
				continue
			}
			if !yield(rowOf(r), err) {
				return
			}
		}
	}
}

func rowOf(r sms.ListRow) radar.Row { return radar.Row{Number: r.Number, Text: r.Text} }

// leaveOutAlready counts those rows out who got nearly the same text, or in
// again.
func leaveOutAlready(t *sms.ListTally, leaveOut bool) {
	if t.Already == nil || t.Already.LeftOut == leaveOut {
		return
	}
	a := *t.Already
	a.LeftOut, t.Already = leaveOut, &a
	if leaveOut {
		t.Good -= a.Recipients
		t.Kinds[sms.RowAlready] = a.Recipients
		return
	}
	t.Good += a.Recipients
	delete(t.Kinds, sms.RowAlready)
}

// alreadyStale says of a corrected list that its rows are looked up again when
// its campaign is made.
func alreadyStale(t *sms.ListTally) {
	if t.LookedAt = 0; t.Already == nil {
		return
	}
	a := *t.Already
	if a.Of = t.Good; a.LeftOut {
		a.Of += a.Recipients
	}
	t.Already = &a
}

// LeaveOutAlready decides for a checked list that it goes only to those who did
// not get nearly the same text lately, that it goes to all of its recipients
// again, or that this is open. Nothing is made of the list yet.
func (d *Lists) LeaveOutAlready(ctx context.Context, by sms.User, uid string, version int64,
	leaveOut, again bool) (sms.List, error) {
	if err := by.May(sms.Sender, "leave out"); err != nil {
		return sms.List{}, err
	}
	l, err := d.ownList(ctx, by, uid)
	if err != nil {
		return l, err
	}
	after, err := d.changeList(ctx, l, func(now *sms.List) error {
		if now.Version != version || now.State != sms.ListChecked || now.Tally.Already == nil {
			return sms.ErrConflict
		}
		leaveOutAlready(&now.Tally, leaveOut)
		now.Again, now.Order.OnlyNew = again && !leaveOut, leaveOut
		return nil
	})
	if errors.Is(err, sms.ErrConflict) {
		// Whoever presses twice gets what the first press did.
		now, err := d.ownList(ctx, by, uid)
		if err == nil && (now.Tally.Already == nil || now.Tally.Already.LeftOut != leaveOut) {
			err = fmt.Errorf("leave out: %w", sms.ErrConflict)
		}
		return now, err
	}
	return after, err
}

// Remake makes the campaign of a list anew, without those who got nearly the
// same text, or with all of them again. The draft c, as it was seen, goes away.
func (d *Lists) Remake(ctx context.Context, by sms.User, uid string, c sms.Campaign, leaveOut bool) (sms.List, error) {
	if err := by.May(sms.Sender, "make campaign"); err != nil {
		return sms.List{}, err
	}
	l, err := d.ownList(ctx, by, uid)
	if err != nil {
		return l, err
	}
	after, err := d.already.ReopenList(ctx, uid, c, d.ms(), func(now *sms.List) error {
		if now.State != sms.ListMade || now.CampaignID != c.ID {
			return sms.ErrConflict
		}
		if now.Tally.Already == nil {
			now.Tally.Already = &sms.AlreadySent{}
		}
		leaveOutAlready(&now.Tally, leaveOut)
		now.Order.Name, now.Order.OnlyNew, now.Again = c.Name, leaveOut, false
		now.State, now.CampaignID, now.Done, now.Total = sms.ListMaking, 0, 0, now.Tally.Rows
		return nil
	})
	if err != nil {
		return l, err
	}
	d.audit(ctx, by, "campaign.leaveout", feed.Campaign(c.ID), "made anew of its list")
	d.feed.Publish(feed.List(uid), feed.Lists, feed.Campaigns(l.AccountID), feed.Campaign(c.ID))
	return after, nil
}
