package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"smsdesk/internal/radar"
	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// What a message must be to count as got, or about to be: what was refused,
// left out, cancelled or reported as not delivered does not.
const (
	countsAsSent = `(m.state in ('sending', 'in_doubt', 'closed_unknown', 'closed_resent')
  or m.state = 'accepted' and m.status in ('', 'ACCEPTD', 'UNKNOWN', 'DELIVRD')
  or m.state in ('draft', 'queued', 'claimed') and c.state <> 'cancelled')`
	howSent = `case when m.state = 'accepted' and m.status = 'DELIVRD' then 0 when m.state in ('accepted', 'sending') then 1
  when m.state in ('draft', 'queued', 'claimed') then 3 else 2 end`

	// A text is read only where the campaign's key does not stand for it.
	sentOfCampaign = `select m.id, m.number, case when c.text_key < 2 then m.text else '' end, m.sent_at, ` + howSent + `, ` + countsAsSent + `
from message m join campaign c on c.id = m.campaign_id where m.campaign_id = $1 and m.id > $2 order by m.id limit $3`

	sentToNumber = `select c.id, c.text_key, c.recipients, c.started_at, c.group_id, c.series_id, c.name, c.started_name,
  case when c.text_key < 2 then m.text else '' end, m.sent_at, ` + howSent + `
from message m join campaign c on c.id = m.campaign_id
where ` + byNumber + ` and c.started_at > $4 and c.test_of = 0
  and ` + countsAsSent + ` order by m.id desc limit $5`
)

const (
	// sentPerRead bounds one read of a campaign, and sentPerNumber what is looked
	// at of one number.
	sentPerRead   = 5000
	sentPerNumber = 500
)

// SimilarCampaigns lists campaigns of an account started after a time that have
// this key, or none that stands for all their messages; the newest first. With
// radar.KeyEach it lists all.
func (db campaignStore) SimilarCampaigns(ctx context.Context, account, since, key int64) (list []radar.Campaign,
	err error) {
	if key == radar.KeyEach || key == radar.KeyUnknown {
		rows, err := db.read().CampaignsSince(ctx, account, since)
		return foundAll(rows, err, func(r query.CampaignsSinceRow) radar.Campaign {
			return similar(query.SimilarCampaignsRow(r))
		}, "list campaigns")
	}
	for _, k := range []int64{key, radar.KeyEach, radar.KeyUnknown} {
		rows, err := db.read().SimilarCampaigns(ctx, account, k, since)
		some, err := foundAll(rows, err, similar, "list similar campaigns")
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	slices.SortFunc(list, func(a, b radar.Campaign) int { return int(b.StartedAt - a.StartedAt) })
	return list, nil
}

func similar(r query.SimilarCampaignsRow) radar.Campaign {
	return radar.Campaign{ID: r.ID, Key: r.TextKey, Recipients: r.Recipients, StartedAt: r.StartedAt,
		GroupID: r.GroupID, Series: r.SeriesID, Name: r.Name, ByName: r.StartedName}
}

// EachSent gives the messages of a campaign that were sent, may have been, or
// are about to be. Each read is bounded: a long one would keep the write-ahead
// log.
func (db campaignStore) EachSent(ctx context.Context, c radar.Campaign, do func(radar.Sent),
	read func(messages int64) error) error {
	all := int64(0)
	for last, n := int64(0), sentPerRead; n == sentPerRead; {
		rows, err := db.readStmts.QueryContext(ctx, sentOfCampaign, c.ID, last, sentPerRead)
		n = 0
		m := radar.Sent{Campaign: c}
		var number string
		var counts bool
		err = forEachRow(rows, err, func(scan func(...any) error) error {
			n++
			if err := scan(&last, &number, &m.Text, &m.At, &m.How, &counts); err != nil || !counts {
				return err
			}
			m.Number, _ = strconv.ParseInt(number, 10, 64)
			do(m)
			return nil
		})
		if err != nil {
			return fmt.Errorf("read what a campaign sent: %w", err)
		}
		if all += int64(n); n > 0 {
			if err := read(all); err != nil {
				return err
			}
		}
	}
	return nil
}

// SentTo lists the newest messages to a number that were sent, may have been,
// or are about to be, by campaigns started after a time.
func (db campaignStore) SentTo(ctx context.Context, account, number, since int64) (list []radar.Sent, err error) {
	to := strconv.FormatInt(number, 10)
	rows, err := db.readStmts.QueryContext(ctx, sentToNumber, account, to, tailOf(to), since,
		sentPerNumber)
	err = forEachRow(rows, err, func(scan func(...any) error) error {
		m := radar.Sent{Number: number}
		c := &m.Campaign
		err := scan(&c.ID, &c.Key, &c.Recipients, &c.StartedAt, &c.GroupID, &c.Series, &c.Name, &c.ByName, &m.Text, &m.At, &m.How)
		list = append(list, m)
		return err
	})
	return wrapNotFound(list, err, "look for what a number got")
}

// FillTextKeys gives some campaigns of an older version their key; more says
// that there may be further ones. It begins again where it was interrupted.
func (db campaignStore) FillTextKeys(ctx context.Context) (more bool, err error) {
	some, err := db.read().CampaignsWithoutTextKey(ctx, 0)
	if err != nil || len(some) == 0 {
		return false, wrapErr(err, "list campaigns without a key")
	}
	if err := db.yieldToWriters(ctx); err != nil {
		return false, err
	}
	err = db.update(ctx, "put keys of texts", func(t *tx) error {
		for _, c := range some {
			key, err := t.oldTextKey(ctx, c)
			if err == nil {
				err = t.PutTextKey(ctx, c.ID, key)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return err == nil, err
}

// oldTextKey is the key of a campaign that was made before there were keys.
func (t *tx) oldTextKey(ctx context.Context, c query.CampaignsWithoutTextKeyRow) (int64, error) {
	if c.AgainOf > 0 {
		key, err := t.TextKeyOf(ctx, c.AgainOf)
		if err == nil && key != radar.KeyUnknown {
			return key, nil
		}
	}
	switch {
	case c.Text != "":
		return radar.Key(c.Text), nil
	case c.ListID == 0:
		return radar.KeyEach, nil
	}
	l, err := t.ListByID(ctx, c.ListID)
	if errors.Is(classify(err), sms.ErrNotFound) {
		return radar.KeyEach, nil
	}
	if err != nil {
		return 0, err
	}
	var o sms.ListOrder
	if err := json.Unmarshal([]byte(l.Choices), &o); err != nil {
		return 0, fmt.Errorf("list %d: %w", c.ListID, err)
	}
	return radar.ListKey(o), nil
}
