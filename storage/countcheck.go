package storage

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"smsdesk/internal/health"
	"smsdesk/internal/sms"
)

// counts are kept or recounted figures; 0 and missing are the same.
type counts map[health.CountOf]int64

// CountMismatches counts everything anew that is counted when it changes, at one
// moment, and gives what differs, by campaign. It reads every message and
// report: for checks, not for pages.
func (db usageStore) CountMismatches(ctx context.Context) ([]health.Miscount, error) {
	raw, err := db.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("recount: %w", err)
	}
	defer func() { _ = raw.Rollback() }()
	counted, kept := counts{}, counts{}
	hidden, err := counted.messages(ctx, raw)
	if err != nil {
		return nil, fmt.Errorf("recount messages: %w", err)
	}
	if err := kept.tallies(ctx, raw, hidden); err != nil {
		return nil, fmt.Errorf("read the tallies: %w", err)
	}
	recounted, err := recountTraffic(ctx, raw, &db.networks)
	if err != nil {
		return nil, err
	}
	counted.traffic(recounted)
	counted.flow(recounted)
	stored, err := storedTraffic(ctx, raw)
	if err != nil {
		return nil, fmt.Errorf("read the traffic: %w", err)
	}
	if err := storedFlow(ctx, raw, stored); err != nil {
		return nil, fmt.Errorf("read the counts over time: %w", err)
	}
	kept.traffic(stored)
	kept.flow(stored)
	if err := counted.usage(ctx, raw, &db.networks); err != nil {
		return nil, fmt.Errorf("recount usage: %w", err)
	}
	if err := kept.storedUsage(ctx, raw); err != nil {
		return nil, fmt.Errorf("read the usage: %w", err)
	}
	return differences(kept, counted), nil
}

func differences(kept, counted counts) (list []health.Miscount) {
	for of, n := range counted {
		if kept[of] != n {
			list = append(list, health.Miscount{Of: of, Kept: kept[of], Counted: n})
		}
	}
	for of, n := range kept {
		if _, both := counted[of]; !both && n != 0 {
			list = append(list, health.Miscount{Of: of, Kept: n})
		}
	}
	slices.SortFunc(list, func(a, b health.Miscount) int {
		return cmp.Or(cmp.Compare(a.Of.Campaign, b.Of.Campaign), cmp.Compare(a.Of.Account, b.Of.Account),
			cmp.Compare(a.Of.Table, b.Of.Table), cmp.Compare(a.Of.At, b.Of.At), cmp.Compare(a.Of.Key, b.Of.Key))
	})
	return list
}

const (
	recipientsTable = "recipients"
	tallyTable      = "messages"
)

// messages counts the messages as people see them: those of a campaign that was
// cancelled, say, are so before each row says it. A hidden campaign is still
// being made and has no counts yet.
func (c counts) messages(ctx context.Context, from querier) (hidden map[int64]bool, err error) {
	campaigns := map[int64]sms.Campaign{}
	hidden = map[int64]bool{}
	rows, err := from.QueryContext(ctx, "select id, state, started_at from campaign")
	err = forEachRow(rows, err, func(scan func(...any) error) error {
		var m sms.Campaign
		err := scan(&m.ID, &m.State, &m.StartedAt)
		campaigns[m.ID] = m
		if m.State == sms.CampaignHidden {
			hidden[m.ID] = true
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	rows, err = from.QueryContext(ctx,
		"select campaign_id, state, status, late, count(*) from message group by campaign_id, state, status, late")
	err = forEachRow(rows, err, func(scan func(...any) error) error {
		var id, n int64
		var m sms.Message
		if err := scan(&id, &m.State, &m.Delivery.Status, &m.Delivery.Late, &n); err != nil || hidden[id] {
			return err
		}
		m.State = campaigns[id].Shows(m.State)
		c[health.CountOf{Table: tallyTable, Campaign: id,
			Key: sms.StandingKey(m.State, m.Delivery.Status, m.Delivery.Late)}] += n
		c[health.CountOf{Table: recipientsTable, Campaign: id}] += n
		if acceptd(m) == 1 {
			c[health.CountOf{Table: tallyTable, Campaign: id, Key: interimKey}] += n
		}
		return nil
	})
	return hidden, err
}

func (c counts) tallies(ctx context.Context, from querier, hidden map[int64]bool) error {
	rows, err := from.QueryContext(ctx, "select campaign_id, key, n from campaign_tally")
	err = forEachRow(rows, err, func(scan func(...any) error) error {
		var n int64
		of := health.CountOf{Table: tallyTable}
		err := scan(&of.Campaign, &of.Key, &n)
		if !hidden[of.Campaign] {
			c[of] = n
		}
		return err
	})
	if err != nil {
		return err
	}
	rows, err = from.QueryContext(ctx, "select id, recipients from campaign")
	return forEachRow(rows, err, func(scan func(...any) error) error {
		var n int64
		of := health.CountOf{Table: recipientsTable}
		err := scan(&of.Campaign, &n)
		if !hidden[of.Campaign] {
			c[of] = n
		}
		return err
	})
}

func (c counts) traffic(t *traffic) {
	for k, n := range t.slots {
		c[health.CountOf{Table: "traffic", Account: k.account, At: k.slot, Key: k.network + " / " + k.sender + " / " +
			k.key}] += n
	}
	for k, n := range t.quarters {
		c[health.CountOf{Table: "traffic by quarters", Account: k.account, At: k.quarter, Key: k.key}] += n
	}
	for k, n := range t.cuts {
		c[health.CountOf{Table: "by " + string(k.kind), Campaign: k.campaign, Key: k.name + " / " + k.standing}] += n
	}
}

// storedTraffic reads the kept counts that recountTraffic makes anew.
func storedTraffic(ctx context.Context, from querier) (*traffic, error) {
	t := newTraffic(nil)
	rows, err := from.QueryContext(ctx, "select account_id, slot, network, sender_id, key, n from traffic where n <> 0")
	err = forEachRow(rows, err, func(scan func(...any) error) error {
		var k slotKey
		var n int64
		err := scan(&k.account, &k.slot, &k.network, &k.sender, &k.key, &n)
		t.slots[k] = n
		return err
	})
	if err != nil {
		return nil, err
	}
	rows, err = from.QueryContext(ctx, "select account_id, quarter, key, n from traffic_quarter where n <> 0")
	err = forEachRow(rows, err, func(scan func(...any) error) error {
		var k quarterKey
		var n int64
		err := scan(&k.account, &k.quarter, &k.key, &n)
		t.quarters[k] = n
		return err
	})
	if err != nil {
		return nil, err
	}
	rows, err = from.QueryContext(ctx, "select campaign_id, kind, name, key, n from campaign_cut where n <> 0")
	return t, forEachRow(rows, err, func(scan func(...any) error) error {
		var k cutKey
		var n int64
		err := scan(&k.campaign, &k.kind, &k.name, &k.standing, &n)
		t.cuts[k] = n
		return err
	})
}
