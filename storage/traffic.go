package storage

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"smsdesk/internal/phone"
	"smsdesk/internal/picture"
	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// The counts behind the overview and the breakdown of a campaign. Whatever
// accepts a message, moves what is known of it, or matches a report counts it
// in its own transaction; no page counts messages.

type slotKey struct {
	account, slot        int64
	network, sender, key string
}

type quarterKey struct {
	account, quarter int64
	key              string
}

type cutKey struct {
	campaign       int64
	kind           sms.CutKind
	name, standing string
}

// traffic is what one transaction has counted.
type traffic struct {
	networks *phone.Networks
	slots    map[slotKey]int64
	quarters map[quarterKey]int64
	cuts     map[cutKey]int64
	flow     map[flowKey]picture.Moment
	waits    map[waitKey]int64
	// campaigns are those of the messages, with sender ID and start.
	campaigns map[int64]query.CampaignSenderRow
}

func newTraffic(networks *phone.Networks) *traffic {
	return &traffic{networks: networks, slots: map[slotKey]int64{}, quarters: map[quarterKey]int64{},
		cuts: map[cutKey]int64{}, flow: map[flowKey]picture.Moment{}, waits: map[waitKey]int64{},
		campaigns: map[int64]query.CampaignSenderRow{}}
}

// add counts n messages like m, whose campaign must be known.
func (c *traffic) add(m sms.Message, n int64) {
	key, network := standingOf(m), ""
	c.addFlow(m, n)
	if m.State == sms.Accepted {
		network = c.networks.Of(m.Number)
		c.slots[slotKey{m.AccountID, m.SentAt - m.SentAt%sms.TrafficSlot.Milliseconds(), network,
			c.campaigns[m.CampaignID].SenderID, key}] += n
		c.quarters[quarterKey{m.AccountID, m.SentAt - m.SentAt%sms.TrafficQuarter.Milliseconds(), key}] += n
		c.cuts[cutKey{m.CampaignID, sms.CutNetwork, network, key}] += n
	}
	if code, ok := m.FailureCode(); ok {
		c.cuts[cutKey{m.CampaignID, sms.CutReason, code, key}] += n
	}
}

// report counts the first arrival of a report about a message of a campaign.
func (c *traffic) report(campaign, receivedAt int64, status string) {
	c.cuts[cutKey{campaign, sms.CutMinute, strconv.FormatInt(receivedAt-receivedAt%60_000, 10), sms.ReportKey(status)}]++
}

// hasLeft are the states in which a message stands in the counts.
func hasLeft(s sms.State) bool {
	return s == sms.Accepted || s == sms.Refused || s == sms.InDoubt || s == sms.Held
}

// countTraffic counts n messages like m, which are in a state of hasLeft from now
// on; with n below 0, which are so no longer.
func (t *tx) countTraffic(ctx context.Context, m sms.Message, n int64) error {
	if !hasLeft(m.State) {
		return nil
	}
	if _, known := t.traffic.campaigns[m.CampaignID]; !known {
		row, err := t.CampaignSender(ctx, m.CampaignID)
		if err != nil {
			return fmt.Errorf("read a campaign's sender ID: %w", err)
		}
		t.traffic.campaigns[m.CampaignID] = row
	}
	t.traffic.add(m, n)
	return nil
}

func (t *tx) flushTraffic(ctx context.Context) (err error) {
	for k, n := range t.traffic.slots {
		if n != 0 {
			err = errors.Join(err, t.AddTraffic(ctx, query.AddTrafficParams{AccountID: k.account, Slot: k.slot,
				Network: k.network, SenderID: k.sender, Key: k.key, N: n}))
		}
	}
	for k, n := range t.traffic.quarters {
		if n != 0 {
			err = errors.Join(err, t.AddQuarter(ctx, query.AddQuarterParams{AccountID: k.account, Quarter: k.quarter, Key: k.key,
				N: n}))
		}
	}
	for k, n := range t.traffic.cuts {
		if n != 0 {
			err = errors.Join(err, t.AddCut(ctx, query.AddCutParams{CampaignID: k.campaign, Kind: string(k.kind), Name: k.name,
				Key: k.standing, N: n}))
		}
	}
	return errors.Join(err, t.traffic.flushFlow(ctx, t.Queries))
}

// Traffic is what became of an account's messages that left since the given
// time, by slot, network and sender ID.
func (db usageStore) Traffic(ctx context.Context, account, since int64) ([]sms.Traffic, error) {
	rows, err := db.read().Traffic(ctx, account, since)
	return foundAll(rows, err, func(r query.TrafficRow) sms.Traffic {
		return sms.Traffic{At: r.Slot, Network: r.Network, SenderID: r.SenderID, Key: r.Key, N: r.N}
	}, "read traffic")
}

// TrafficQuarters is the same by quarters of an hour.
func (db usageStore) TrafficQuarters(ctx context.Context, account, since int64) ([]sms.Traffic, error) {
	rows, err := db.read().TrafficQuarters(ctx, account, since)
	return foundAll(rows, err, func(r query.TrafficQuartersRow) sms.Traffic {
		return sms.Traffic{At: r.Quarter, Key: r.Key, N: r.N}
	}, "read traffic")
}

// CampaignCuts cuts a campaign's messages or reports into parts of one kind, in the
// order of their names.
func (db usageStore) CampaignCuts(ctx context.Context, id int64, kind sms.CutKind) ([]sms.Breakdown, error) {
	rows, err := db.read().CampaignCuts(ctx, id, string(kind))
	return foundAll(rows, err, func(r query.CampaignCutsRow) sms.Breakdown {
		return sms.Breakdown{Kind: kind, Name: r.Name, Key: r.Key, N: r.N}
	}, "read a campaign's parts")
}

// ComingUp lists an account's campaigns that have a time to start, some of which
// still need approval, the soonest first.
func (db usageStore) ComingUp(ctx context.Context, account int64, limit int) ([]sms.Campaign, error) {
	ids, err := db.read().ComingUp(ctx, account, int32(limit))
	if err != nil {
		return nil, fmt.Errorf("list scheduled campaigns: %w", err)
	}
	return db.campaigns(ctx, ids)
}

// PausedCampaigns lists an account's campaigns that smsdesk has paused, the
// latest first.
func (db usageStore) PausedCampaigns(ctx context.Context, account int64, limit int) ([]sms.Campaign, error) {
	ids, err := db.read().PausedCampaigns(ctx, account, int32(limit))
	if err != nil {
		return nil, fmt.Errorf("list paused campaigns: %w", err)
	}
	return db.campaigns(ctx, ids)
}

// BusyCampaigns lists an account's campaigns that are being sent, the latest
// first.
func (db usageStore) BusyCampaigns(ctx context.Context, account int64, limit int) ([]sms.Campaign, error) {
	ids, err := db.read().BusyCampaigns(ctx, account, int32(limit))
	if err != nil {
		return nil, fmt.Errorf("list running campaigns: %w", err)
	}
	return db.campaigns(ctx, ids)
}

func (db usageStore) campaigns(ctx context.Context, ids []int64) (list []sms.Campaign, err error) {
	for _, id := range ids {
		c, err := campaignStore(db).Campaign(ctx, id)
		if errors.Is(err, sms.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

// settingTraffic is there once messages of an older version are counted.
const settingTraffic = "traffic_counted"

// fillTraffic counts what was there before there were these counts.
func (db usageStore) fillTraffic(ctx context.Context) error {
	if v, err := db.ReadSetting(ctx, settingTraffic); err == nil && v != "" {
		return nil
	} else if err != nil && !errors.Is(err, sms.ErrNotFound) {
		return err
	}
	return db.update(ctx, "count the messages that are there", func(t *tx) error {
		if _, err := t.sql.ExecContext(ctx, "delete from traffic"); err != nil {
			return err
		}
		if _, err := t.sql.ExecContext(ctx, "delete from traffic_quarter"); err != nil {
			return err
		}
		if _, err := t.sql.ExecContext(ctx, "delete from campaign_cut"); err != nil {
			return err
		}
		counted, err := recountTraffic(ctx, t.sql, &db.networks)
		if err != nil {
			return err
		}
		t.traffic = counted
		return t.Queries.PutSetting(ctx, settingTraffic, "yes")
	})
}
