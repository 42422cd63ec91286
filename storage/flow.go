package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"smsdesk/internal/health"
	"smsdesk/internal/picture"
	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// What became of a campaign's messages over time. A message stands where it left
// and where what is known of it came, by our clock; both are read from its row, so
// that a report that comes again, or a recount, makes the same picture.

type flowKey struct{ campaign, at int64 }

type waitKey struct {
	campaign     int64
	network, key string
	low          int64
}

// addFlow counts n messages like m, whose campaign's beginning must be known.
func (c *traffic) addFlow(m sms.Message, n int64) {
	// A clock that was set back must not have a report come before its message left.
	known, at := picture.Moment{}, max(m.Delivery.KnownAt, m.SentAt)
	switch m.Standing().Tile {
	case sms.TileNetwork:
	case sms.TileDelivered:
		known.Delivered = n
		c.waits[c.wait(m, sms.ReportDelivered)] += n
	case sms.TileFailed:
		known.Failed = n
		c.waits[c.wait(m, sms.ReportFailed)] += n
	case sms.TileUnknown:
		known.Unsure = n
	case sms.TileDecision:
		known.Unsure, at = n, max(m.ChangedAt, m.SentAt)
	default:
		return
	}
	start := c.campaigns[m.CampaignID].StartedAt
	left := flowKey{m.CampaignID, picture.Slot(m.SentAt, start)}
	c.flow[left] = c.flow[left].Add(picture.Moment{Sent: n})
	if known != (picture.Moment{}) {
		told := flowKey{m.CampaignID, picture.Slot(at, start)}
		c.flow[told] = c.flow[told].Add(known)
	}
}

func (c *traffic) wait(m sms.Message, key string) waitKey {
	return waitKey{m.CampaignID, c.networks.Of(m.Number), key, picture.Low(m.Delivery.KnownAt - m.SentAt)}
}

func (c *traffic) flushFlow(ctx context.Context, to *query.Queries) (err error) {
	for k, m := range c.flow {
		if m != (picture.Moment{}) {
			err = errors.Join(err, to.AddFlow(ctx, query.AddFlowParams{CampaignID: k.campaign, At: k.at, Sent: m.Sent,
				Delivered: m.Delivered, Failed: m.Failed, Unsure: m.Unsure}))
		}
	}
	for k, n := range c.waits {
		if n != 0 {
			err = errors.Join(err, to.AddWait(ctx, query.AddWaitParams{CampaignID: k.campaign, Network: k.network, Key: k.key,
				Low: k.low, N: n}))
		}
	}
	return err
}

// CampaignFlow is what became of a campaign's messages over time, oldest first.
func (db usageStore) CampaignFlow(ctx context.Context, id int64) ([]picture.Moment, error) {
	rows, err := db.read().CampaignFlow(ctx, id)
	return foundAll(rows, err, func(r query.CampaignFlowRow) picture.Moment { return picture.Moment(r) },
		"read a campaign's flow")
}

// CampaignWaits is how long a campaign's final reports took.
func (db usageStore) CampaignWaits(ctx context.Context, id int64) ([]picture.Wait, error) {
	rows, err := db.read().CampaignWaits(ctx, id)
	return foundAll(rows, err, func(r query.CampaignWaitsRow) picture.Wait { return picture.Wait(r) },
		"read how long a campaign's reports took")
}

// AccountWaits is how long the final reports of an account's other campaigns took
// that were started since a time.
func (db usageStore) AccountWaits(ctx context.Context, account, not, since int64) ([]picture.Wait, error) {
	rows, err := db.read().AccountWaits(ctx, account, not, since)
	return foundAll(rows, err, func(r query.AccountWaitsRow) picture.Wait { return picture.Wait(r) },
		"read how long an account's reports took")
}

// FoldFlow makes minutes of the seconds of one campaign that was started before
// the given time; more says that there may be another.
func (db usageStore) FoldFlow(ctx context.Context, before int64) (more bool, err error) {
	const cursor = "fold:flow"
	err = db.forget(ctx, "fold a campaign's seconds", func(t *tx) error {
		after, err := accountTx{t}.position(ctx, cursor)
		if err != nil {
			return err
		}
		next, err := t.NextToFold(ctx, after, before)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		more = true
		n, err := t.CountFlow(ctx, next.ID)
		if err == nil && n > picture.Most {
			err = errors.Join(t.Queries.FoldFlow(ctx, next.ID), t.DeleteFolded(ctx, next.ID))
		}
		return errors.Join(err, t.PutCursor(ctx, cursor, next.StartedAt))
	})
	return more && err == nil, err
}

// settingFlow is there once messages of an older version are counted.
const settingFlow = "flow_counted"

// fillFlow counts what was there before there were these counts.
func (db usageStore) fillFlow(ctx context.Context) error {
	if v, err := db.ReadSetting(ctx, settingFlow); err == nil && v != "" {
		return nil
	} else if err != nil && !errors.Is(err, sms.ErrNotFound) {
		return err
	}
	return db.update(ctx, "count what became of messages over time", func(t *tx) error {
		for _, table := range []string{"campaign_flow", "campaign_wait"} {
			if _, err := t.sql.ExecContext(ctx, "delete from "+table); err != nil {
				return err
			}
		}
		counted, err := recountTraffic(ctx, t.sql, &db.networks)
		if err != nil {
			return err
		}
		t.traffic.flow, t.traffic.waits = counted.flow, counted.waits
		return t.Queries.PutSetting(ctx, settingFlow, "yes")
	})
}

// flow adds the counts over time, by the minute: seconds are folded.
func (c counts) flow(t *traffic) {
	for k, m := range t.flow {
		at := k.at - k.at%picture.Coarse.Milliseconds()
		for key, n := range map[string]int64{"sent": m.Sent, "delivered": m.Delivered, "failed": m.Failed,
			"unsure": m.Unsure} {
			c[health.CountOf{Table: "over time", Campaign: k.campaign, At: at, Key: key}] += n
		}
	}
	for k, n := range t.waits {
		c[health.CountOf{Table: "time to report", Campaign: k.campaign,
			Key: fmt.Sprintf("%s / %s / from %d s", k.network, k.key, k.low)}] += n
	}
}

// storedFlow reads the kept counts over time.
func storedFlow(ctx context.Context, from querier, t *traffic) error {
	rows, err := from.QueryContext(ctx, "select campaign_id, at, sent, delivered, failed, unsure from campaign_flow")
	err = forEachRow(rows, err, func(scan func(...any) error) error {
		var k flowKey
		var m picture.Moment
		err := scan(&k.campaign, &k.at, &m.Sent, &m.Delivered, &m.Failed, &m.Unsure)
		t.flow[k] = m
		return err
	})
	if err != nil {
		return err
	}
	rows, err = from.QueryContext(ctx, "select campaign_id, network, key, low, n from campaign_wait")
	return forEachRow(rows, err, func(scan func(...any) error) error {
		var k waitKey
		var n int64
		err := scan(&k.campaign, &k.network, &k.key, &k.low, &n)
		t.waits[k] = n
		return err
	})
}
