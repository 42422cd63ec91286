package storage

import (
	"context"
	"fmt"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// Balances lists the last reading of every service type of an account.
func (db *DB) Balances(ctx context.Context, account int64) ([]sms.Balance, error) {
	rows, err := db.read().LatestBalances(ctx, account)
	if err != nil {
		return nil, fmt.Errorf("read balances: %w", err)
	}
	list := make([]sms.Balance, len(rows))
	for i, r := range rows {
		list[i] = sms.Balance{PluginType: r.PluginType, Credits: r.Credits, ReadAt: r.ReadAt}
	}
	return list, nil
}

// PutBalances stores a reading. A balance that did not change only moves the
// time of its last reading, so that the history stays short.
func (db *DB) PutBalances(ctx context.Context, account int64, list []sms.Balance, now int64) error {
	return db.update(ctx, "store balances", func(t *tx) error {
		latest, err := t.LatestBalances(ctx, account)
		if err != nil {
			return err
		}
		known := map[string]query.Balance{}
		for _, b := range latest {
			known[b.PluginType] = b
		}
		for _, b := range list {
			if k, ok := known[b.PluginType]; ok && k.Credits == b.Credits {
				err = t.TouchBalance(ctx, k.ID, now)
			} else {
				err = t.InsertBalance(ctx, query.InsertBalanceParams{AccountID: account, PluginType: b.PluginType, Credits: b.Credits, Since: now})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
