package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// Balances lists the last reading of every service type of an account.
func (db accountStore) Balances(ctx context.Context, account int64) ([]sms.Balance, error) {
	rows, err := db.read().LatestBalances(ctx, account)
	return foundAll(rows, err, balance, "read balances")
}

func balance(r query.Balance) sms.Balance {
	return sms.Balance{PluginType: r.PluginType, Credits: r.Credits, ReadAt: r.ReadAt}
}

// BalanceHistory lists how the balance of one service type went since a time,
// the oldest first; at most 20,000 changes.
func (db accountStore) BalanceHistory(ctx context.Context, account int64, pluginType string,
	since int64) ([]sms.BalanceSpan, error) {
	rows, err := db.read().BalanceHistory(ctx, account, pluginType, since)
	return foundAll(rows, err, func(r query.Balance) sms.BalanceSpan {
		return sms.BalanceSpan{Balance: balance(r), Since: r.Since}
	}, "read the history of the balance")
}

// BalancesOn is the last reading of one service type before each of the given
// times; where there was none before a time, there is none of it.
func (db accountStore) BalancesOn(ctx context.Context, account int64, pluginType string,
	times []int64) (list []sms.BalanceSpan, err error) {
	for _, at := range times {
		r, err := db.read().BalanceOn(ctx, account, pluginType, at)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the balance of a day: %w", err)
		}
		list = append(list, sms.BalanceSpan{Balance: balance(r), Since: r.Since})
	}
	return list, nil
}

// PutBalances stores a reading. A balance that did not change only moves the
// time of its last reading, so that the history stays short. What of the change
// people should know becomes an alarm.
func (db accountStore) PutBalances(ctx context.Context, account int64, list []sms.Balance, now int64) error {
	return db.update(ctx, "store balances", func(t *tx) error {
		latest, err := t.LatestBalances(ctx, account)
		if err != nil {
			return err
		}
		known := map[string]query.Balance{}
		for _, b := range latest {
			known[b.PluginType] = b
		}
		w, err := t.witness(ctx, db.core, account, list)
		if err != nil {
			return err
		}
		for _, b := range list {
			k, ok := known[b.PluginType]
			b.ReadAt = now
			seen, err := w.look(ctx, b)
			if err != nil {
				return err
			}
			if ok && k.Credits == b.Credits {
				err = seen.touch(ctx, k, now)
			} else {
				err = t.InsertBalance(ctx, query.InsertBalanceParams{AccountID: account, PluginType: b.PluginType,
					Credits: b.Credits, Since: now,
					Seq: seen.seq, SeqBefore: seen.before})
			}
			if err == nil && ok && k.Credits != b.Credits {
				err = accountTx{t}.alarm(ctx, account, balance(k), b, seen.asked)
			}
			if err != nil {
				return err
			}
		}
		return t.RecordsRead(ctx, account, string(sms.RecordBalance), now)
	})
}

// chargeLag is how long after a call the service may take its cost off the
// balance without anybody being alarmed.
const chargeLag = 15 * time.Minute

// alarm writes down that a balance went below the warning level, or fell while
// nothing was sent. asked: people are asked about the fall already.
func (t accountTx) alarm(ctx context.Context, account int64, before, after sms.Balance, asked bool) error {
	fall, ok := sms.Fall(before, after)
	if !ok || fall.Sign() <= 0 {
		return nil
	}
	put := func(kind sms.AlarmKind) error {
		_, err := t.InsertAlarm(ctx, query.InsertAlarmParams{AccountID: account, Kind: string(kind),
			PluginType: after.PluginType, At: after.ReadAt,
			FromAt: before.ReadAt, Before: before.Credits, After: after.Credits})
		return err
	}
	quiet, err := alone(ctx, t.Queries, account, 0, before.ReadAt-chargeLag.Milliseconds(), after.ReadAt)
	if err != nil {
		return err
	}
	if quiet && !asked {
		if err := put(sms.AlarmFall); err != nil {
			return err
		}
	}
	settings, err := t.recordSettings(ctx, account)
	if err != nil || !after.Below(settings.WarnBelow) || before.Below(settings.WarnBelow) {
		return err
	}
	return put(sms.AlarmLow)
}

// PutAlarm writes an alarm down.
func (db accountStore) PutAlarm(ctx context.Context, a sms.Alarm) error {
	return db.update(ctx, "store alarm", func(t *tx) error {
		_, err := t.InsertAlarm(ctx, query.InsertAlarmParams{AccountID: a.AccountID, Kind: string(a.Kind),
			PluginType: a.PluginType, At: a.At, FromAt: a.From, Before: a.Before, After: a.After})
		return err
	})
}

// Alarms lists an account's alarms that nobody has seen to, the latest first.
func (db accountStore) Alarms(ctx context.Context, account int64) ([]sms.Alarm, error) {
	rows, err := db.read().OpenAlarms(ctx, account)
	return alarms(rows), wrapErr(err, "list alarms")
}

func alarms(rows []query.BalanceAlarm) []sms.Alarm {
	list := make([]sms.Alarm, len(rows))
	for i, r := range rows {
		list[i] = sms.Alarm{ID: r.ID, AccountID: r.AccountID, Kind: sms.AlarmKind(r.Kind), PluginType: r.PluginType, At: r.At,
			From: r.FromAt, Before: r.Before, After: r.After}
	}
	return list
}

// SeeAlarms says that a person has seen the alarms up to one.
func (db accountStore) SeeAlarms(ctx context.Context, account, last int64, by string, now int64) (n int64, err error) {
	err = db.update(ctx, "see alarms", func(t *tx) error {
		n, err = t.Queries.SeeAlarms(ctx, query.SeeAlarmsParams{AccountID: account, ID: last, SeenName: by, SeenAt: now})
		return err
	})
	return n, err
}

// UnmailedAlarms lists alarms of every account that were not mailed yet.
func (db accountStore) UnmailedAlarms(ctx context.Context) ([]sms.Alarm, error) {
	rows, err := db.read().UnmailedAlarms(ctx)
	return alarms(rows), wrapErr(err, "list alarms to mail")
}

// AlarmMailed says that an alarm is mailed, or that nobody wants it.
func (db accountStore) AlarmMailed(ctx context.Context, id int64) error {
	return db.update(ctx, "mark alarm", func(t *tx) error { return t.Queries.AlarmMailed(ctx, id) })
}
