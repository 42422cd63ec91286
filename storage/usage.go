package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"time"

	"smsdesk/internal/health"
	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// usageStore keeps what was used, by day and network, and how long it is kept.
type usageStore struct{ *core }

// recordUsage counts messages that the service has accepted just now, in the
// transaction that makes them so. Each is counted once: accepted is final.
func (t *tx) recordUsage(ctx context.Context, of sms.Campaign, accepted []query.AcceptedOfRow, now int64) error {
	if len(accepted) == 0 {
		return nil
	}
	row, err := t.AccountByID(ctx, of.AccountID)
	if err != nil {
		return err
	}
	day := time.UnixMilli(now).In(account(row).Location()).Format(time.DateOnly)
	by := map[string]sms.Usage{}
	for _, m := range accepted {
		network := phone.Network(m.Number)
		u := by[network]
		by[network] = sms.Usage{Messages: u.Messages + 1, Parts: u.Parts + m.Parts}
	}
	for network, u := range by {
		err := errors.Join(
			t.AddUsageDay(ctx, query.AddUsageDayParams{AccountID: of.AccountID, Day: day, SenderID: of.SenderID,
				UserID: of.StartedBy, Network: network, Messages: u.Messages, Parts: u.Parts}),
			t.AddCampaignUsage(ctx, query.AddCampaignUsageParams{CampaignID: of.ID, Network: network, Messages: u.Messages,
				Parts: u.Parts}))
		if err != nil {
			return fmt.Errorf("count usage: %w", err)
		}
	}
	return nil
}

// Usage and traffic both count messages when they are accepted, and neither can
// stand for the other: traffic is what became of them, without parts or people,
// and changes with every report; usage is what was paid for, by whom and on
// which day of the account, and never changes again.

const (
	usedMessages  = "select id, campaign_id, number, parts from message where id > $1 and state = 'accepted' order by id limit $2"
	usageTable    = "usage"
	usageDayTable = "usage by days"
)

// usage counts the parts that were accepted, by campaign and network, and by
// account, sender ID and network.
func (c counts) usage(ctx context.Context, from querier, networks *phone.Networks) error {
	whose := map[int64]sms.Campaign{}
	rows, err := from.QueryContext(ctx, "select id, account_id, sender_id from campaign")
	err = forEachRow(rows, err, func(scan func(...any) error) error {
		var m sms.Campaign
		err := scan(&m.ID, &m.AccountID, &m.SenderID)
		whose[m.ID] = m
		return err
	})
	if err != nil {
		return err
	}
	return inPages(ctx, from, usedMessages, func(scan func(...any) error) (last int64, err error) {
		var campaign, parts int64
		var number string
		if err = scan(&last, &campaign, &number, &parts); err == nil {
			network, of := networks.Of(number), whose[campaign]
			c[health.CountOf{Table: usageTable, Campaign: campaign, Key: network}] += parts
			c[health.CountOf{Table: usageDayTable, Account: of.AccountID, Key: of.SenderID + " / " + network}] += parts
		}
		return last, err
	})
}

func (c counts) storedUsage(ctx context.Context, from querier) error {
	rows, err := from.QueryContext(ctx, "select campaign_id, network, parts from campaign_usage")
	err = forEachRow(rows, err, func(scan func(...any) error) error {
		of, parts := health.CountOf{Table: usageTable}, int64(0)
		err := scan(&of.Campaign, &of.Key, &parts)
		c[of] += parts
		return err
	})
	if err != nil {
		return err
	}
	rows, err = from.QueryContext(ctx, "select account_id, sender_id, network, parts from usage_day")
	return forEachRow(rows, err, func(scan func(...any) error) error {
		of, sender, network, parts := health.CountOf{Table: usageDayTable}, "", "", int64(0)
		err := scan(&of.Account, &sender, &network, &parts)
		of.Key = sender + " / " + network
		c[of] += parts
		return err
	})
}

// UsageDays lists what an account sent from one day to another, both counted
// in, written 2006-01-02.
func (db usageStore) UsageDays(ctx context.Context, account int64, from, to string) ([]sms.UsageDay, error) {
	rows, err := db.read().UsageDays(ctx, account, from, to)
	if err != nil {
		return nil, fmt.Errorf("read usage: %w", err)
	}
	list := make([]sms.UsageDay, len(rows))
	for i, r := range rows {
		list[i] = sms.UsageDay{Day: r.Day, SenderID: r.SenderID, UserID: r.UserID, UserName: r.UserName, Network: r.Network,
			Usage: sms.Usage{Messages: r.Messages, Parts: r.Parts}}
	}
	return list, nil
}

// maxCosts is how many campaigns are compared with the balance at once.
const maxCosts = 50

// Costs compares campaigns that ended, were started after the given time and
// had something accepted with what the balance for SMS fell meanwhile, the
// latest first and at most 50.
func (db usageStore) Costs(ctx context.Context, account, after int64) ([]sms.Cost, error) {
	rows, err := db.read().LatestFinished(ctx, account, after)
	if err != nil {
		return nil, fmt.Errorf("list campaigns that ended: %w", err)
	}
	var list []sms.Cost
	for _, r := range rows {
		c, err := db.cost(ctx, campaign(r.Campaign, r.Test))
		if err != nil {
			return nil, err
		}
		if c.Parts() > 0 {
			list = append(list, c)
		}
		if len(list) == maxCosts {
			break
		}
	}
	return list, nil
}

// Cost compares one campaign that ended with the balance for SMS.
func (db usageStore) Cost(ctx context.Context, id int64) (sms.Cost, error) {
	c, err := campaignStore(db).Campaign(ctx, id)
	if err != nil {
		return sms.Cost{}, err
	}
	return db.cost(ctx, c)
}

func (db usageStore) cost(ctx context.Context, c sms.Campaign) (sms.Cost, error) {
	cost := sms.Cost{Campaign: c}
	used, err := db.read().CampaignUsage(ctx, c.ID)
	if err != nil {
		return cost, fmt.Errorf("read the campaign's usage: %w", err)
	}
	for _, u := range used {
		cost.Networks = append(cost.Networks, sms.NetworkUsage{Network: u.Network,
			Usage: sms.Usage{Messages: u.Messages, Parts: u.Parts}})
	}
	if c.StartedAt == 0 || c.FinishedAt == 0 || len(used) == 0 {
		return cost, nil
	}
	before, err := db.read().LastBalanceAt(ctx, c.AccountID, smsPlugin, c.StartedAt)
	after, missing := db.read().FirstBalanceFrom(ctx, c.AccountID, smsPlugin, c.FinishedAt)
	if errors.Is(err, sql.ErrNoRows) || errors.Is(missing, sql.ErrNoRows) {
		return cost, nil
	}
	if err := errors.Join(err, missing); err != nil {
		return cost, fmt.Errorf("read the balance around a campaign: %w", err)
	}
	cost.Before, cost.After, cost.Known = balance(before), balance(after), true
	// The span before may go on behind the start, with the old credit read again.
	from := min(before.ReadAt, c.StartedAt)
	until := max(after.Since, c.FinishedAt)
	cost.After.ReadAt = until
	cost.Alone, err = alone(ctx, db.read(), c.AccountID, c.ID, from, until)
	return cost, err
}

// smsPlugin is the PluginType that messages are paid from (§2.2).
const smsPlugin = "SMS"

// alone says that nothing but the campaign, which may be 0, was sent in a
// stretch of time.
func alone(ctx context.Context, q *query.Queries, account, campaign, from, until int64) (bool, error) {
	ids, err := q.LicencesBetween(ctx, account, from, until)
	if err != nil {
		return false, fmt.Errorf("look for other calls: %w", err)
	}
	for _, id := range ids {
		if id != campaign {
			return false, nil
		}
	}
	n, err := q.HandedOverBetween(ctx, account, from, until)
	return n == 0, wrapErr(err, "look for campaigns that were handed over")
}

// settingUsage is there once usage of before schema 20 is counted.
const settingUsage = "usage_counted"

// fillUsage counts what was accepted before there were counts of usage. Desks
// took the step to schema 20 without it and have counted since: what was
// counted stays, and only what is missing is added.
func (db usageStore) fillUsage(ctx context.Context) error {
	if v, err := db.ReadSetting(ctx, settingUsage); err != nil || v != "" {
		return err
	}
	return db.update(ctx, "count the usage that is there", func(t *tx) error {
		missing, err := missingUsage(ctx, t.sql, &db.networks)
		if err != nil {
			return err
		}
		for id, by := range missing {
			if err := t.addUsage(ctx, id, by, &db.networks); err != nil {
				return err
			}
		}
		return t.Queries.PutSetting(ctx, settingUsage, "yes")
	})
}

// byNetwork is a campaign's usage.
type byNetwork map[string]sms.Usage

// missingUsage is what campaigns have more of accepted messages than counted.
func missingUsage(ctx context.Context, from querier, networks *phone.Networks) (map[int64]byNetwork, error) {
	missing := map[int64]byNetwork{}
	add := func(campaign int64, network string, messages, parts int64) {
		if missing[campaign] == nil {
			missing[campaign] = byNetwork{}
		}
		u := missing[campaign][network]
		missing[campaign][network] = sms.Usage{Messages: u.Messages + messages, Parts: u.Parts + parts}
	}
	err := inPages(ctx, from, usedMessages, func(scan func(...any) error) (last int64, err error) {
		var campaign, parts int64
		var number string
		if err = scan(&last, &campaign, &number, &parts); err == nil {
			add(campaign, networks.Of(number), 1, parts)
		}
		return last, err
	})
	if err != nil {
		return nil, err
	}
	rows, err := from.QueryContext(ctx, "select campaign_id, network, messages, parts from campaign_usage")
	err = forEachRow(rows, err, func(scan func(...any) error) error {
		var campaign, messages, parts int64
		var network string
		err := scan(&campaign, &network, &messages, &parts)
		add(campaign, network, -messages, -parts)
		return err
	})
	for id, by := range missing {
		for network, u := range by {
			if u.Messages <= 0 {
				delete(by, network)
			}
		}
		if len(by) == 0 {
			delete(missing, id)
		}
	}
	return missing, err
}

const acceptedInOrder = "select number, parts, sent_at from message where campaign_id = $1 and state = 'accepted' order by sent_at, id"

// addUsage counts what a campaign misses. Those that left first are the missing
// ones: whatever was accepted after the step to schema 20 was counted.
func (t *tx) addUsage(ctx context.Context, id int64, missing byNetwork, networks *phone.Networks) error {
	row, err := t.CampaignByID(ctx, id)
	if err != nil {
		return err
	}
	of := campaign(row.Campaign, row.Test)
	owner, err := t.AccountByID(ctx, of.AccountID)
	if err != nil {
		return err
	}
	type place struct{ day, network string }
	days, first, left, zone := map[place]sms.Usage{}, map[string]place{}, maps.Clone(missing), account(owner).Location()
	rows, err := t.sql.QueryContext(ctx, acceptedInOrder, id)
	err = forEachRow(rows, err, func(scan func(...any) error) error {
		var number string
		var parts, at int64
		if err := scan(&number, &parts, &at); err != nil {
			return err
		}
		p := place{time.UnixMilli(at).In(zone).Format(time.DateOnly), networks.Of(number)}
		if u := left[p.network]; u.Messages > 0 {
			left[p.network] = sms.Usage{Messages: u.Messages - 1, Parts: u.Parts - parts}
			days[p] = sms.Usage{Messages: days[p].Messages + 1, Parts: days[p].Parts + parts}
			if _, known := first[p.network]; !known {
				first[p.network] = p
			}
		}
		return nil
	})
	// Where others than the first were missing, their parts may be more or fewer.
	for network, u := range left {
		p := first[network]
		days[p] = sms.Usage{Messages: days[p].Messages, Parts: days[p].Parts + u.Parts}
	}
	for p, u := range days {
		err = errors.Join(err, t.AddUsageDay(ctx, query.AddUsageDayParams{AccountID: of.AccountID, Day: p.day,
			SenderID: of.SenderID, UserID: of.StartedBy, Network: p.network,
			Messages: u.Messages, Parts: u.Parts}))
	}
	for network, u := range missing {
		err = errors.Join(err, t.AddCampaignUsage(ctx, query.AddCampaignUsageParams{CampaignID: id, Network: network,
			Messages: u.Messages, Parts: u.Parts}))
	}
	if err != nil {
		return fmt.Errorf("count the usage of campaign %d: %w", id, err)
	}
	return nil
}
