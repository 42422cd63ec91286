package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"smsdesk/internal/rehearsal"
	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// rehearsalStore are rehearsals: the order, how far it is, and what it foretold.
type rehearsalStore struct{ *core }

// OrderRehearsal remembers that a person wants a rehearsal. While an earlier one
// of the same person is open the error is sms.ErrConflict, and the rehearsal is
// that one.
func (db rehearsalStore) OrderRehearsal(ctx context.Context, r rehearsal.Rehearsal) (rehearsal.Rehearsal, error) {
	made := rehearsal.Rehearsal{}
	err := db.update(ctx, "order a rehearsal", func(t *tx) error {
		open, err := t.OpenRehearsal(ctx, r.By.ID)
		if err == nil {
			if made, err = rehearsalOf(open); err == nil {
				err = fmt.Errorf("another rehearsal is open: %w", sms.ErrConflict)
			}
			return err
		}
		if !errors.Is(classify(err), sms.ErrNotFound) {
			return err
		}
		result, err := json.Marshal(r.Result)
		if err != nil {
			return err
		}
		id, err := t.InsertRehearsal(ctx, query.InsertRehearsalParams{AccountID: r.AccountID, CampaignID: r.CampaignID,
			Name: r.Name, UserID: r.By.ID, UserName: r.By.Name, Kind: string(r.Kind), AllRows: r.All,
			CreatedAt: r.CreatedAt, Result: string(result)})
		if err != nil {
			return err
		}
		row, err := t.Rehearsal(ctx, id)
		if err != nil {
			return err
		}
		made, err = rehearsalOf(row)
		return err
	})
	return made, err
}

// Rehearsal is one rehearsal.
func (db rehearsalStore) Rehearsal(ctx context.Context, id int64) (rehearsal.Rehearsal, error) {
	row, err := db.read().Rehearsal(ctx, id)
	if row, err = wrapNotFound(row, err, "read a rehearsal"); err != nil {
		return rehearsal.Rehearsal{}, err
	}
	return rehearsalOf(row)
}

// CampaignRehearsals lists the rehearsals of a campaign, the latest first.
func (db rehearsalStore) CampaignRehearsals(ctx context.Context, campaign int64,
	limit int) (list []rehearsal.Rehearsal, err error) {
	rows, err := db.read().CampaignRehearsals(ctx, campaign, int32(limit))
	if err != nil {
		return nil, fmt.Errorf("list rehearsals: %w", err)
	}
	for _, row := range rows {
		r, err := rehearsalOf(row)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// BeginRehearsal takes the one that waits longest; sms.ErrNotFound where none
// does.
func (db rehearsalStore) BeginRehearsal(ctx context.Context, now int64) (rehearsal.Rehearsal, error) {
	if _, err := db.read().NextRehearsal(ctx); err != nil {
		_, err = wrapNotFound(query.Rehearsal{}, err, "look for a rehearsal")
		return rehearsal.Rehearsal{}, err
	}
	begun := rehearsal.Rehearsal{}
	err := db.update(ctx, "begin a rehearsal", func(t *tx) error {
		row, err := t.NextRehearsal(ctx)
		if err != nil {
			return err
		}
		if err := t.Queries.BeginRehearsal(ctx, row.ID, now); err != nil {
			return err
		}
		row.State, row.StartedAt = string(rehearsal.Running), now
		begun, err = rehearsalOf(row)
		return err
	})
	return begun, err
}

// SaveRehearsal stores how far one is or how it ended. One that does not run any
// more is sms.ErrConflict.
func (db rehearsalStore) SaveRehearsal(ctx context.Context, r rehearsal.Rehearsal) error {
	result, err := json.Marshal(r.Result)
	if err != nil {
		return fmt.Errorf("write what a rehearsal found: %w", err)
	}
	return db.changeRehearsal(ctx, "save a rehearsal", func(t *tx) (int64, error) {
		return t.Queries.SaveRehearsal(ctx, query.SaveRehearsalParams{ID: r.ID, State: string(r.State), RowCount: r.Rows,
			Done: r.Done, EndedAt: r.EndedAt, Result: string(result)})
	})
}

// StopRehearsal ends one that waits or runs; any other is sms.ErrConflict.
func (db rehearsalStore) StopRehearsal(ctx context.Context, id, now int64) error {
	return db.changeRehearsal(ctx, "stop a rehearsal", func(t *tx) (int64, error) {
		return t.Queries.StopRehearsal(ctx, id, now)
	})
}

func (db rehearsalStore) changeRehearsal(ctx context.Context, doing string, change func(*tx) (int64, error)) error {
	return db.update(ctx, doing, func(t *tx) error {
		n, err := change(t)
		if err == nil && n == 0 {
			err = sms.ErrConflict
		}
		return err
	})
}

// InterruptRehearsals ends those that an earlier process was playing.
func (db rehearsalStore) InterruptRehearsals(ctx context.Context, now int64) error {
	return db.update(ctx, "end rehearsals of an earlier process", func(t *tx) error {
		return t.Queries.InterruptRehearsals(ctx, now)
	})
}

// PurgeRehearsals forgets those that were ordered before a time and are over.
func (db rehearsalStore) PurgeRehearsals(ctx context.Context, before int64) error {
	return db.update(ctx, "forget old rehearsals", func(t *tx) error { return t.DeleteOldRehearsals(ctx, before) })
}

// Past is what an account's messages since a time tell of its networks and
// requests.
func (db rehearsalStore) Past(ctx context.Context, account, since int64) (p rehearsal.Past, err error) {
	if p.Traffic, err = usageStore(db).Traffic(ctx, account, since); err != nil {
		return p, err
	}
	if p.Refused, err = db.read().RefusedSince(ctx, account, since); err != nil {
		return p, fmt.Errorf("count refused recipients: %w", err)
	}
	ends, err := db.read().RequestEnds(ctx, account, since)
	if err != nil {
		return p, fmt.Errorf("count how requests ended: %w", err)
	}
	p.Requests = map[sms.Class]int64{}
	for _, e := range ends {
		p.Requests[sms.Class(e.Class)] = e.N
	}
	return p, nil
}

func rehearsalOf(r query.Rehearsal) (rehearsal.Rehearsal, error) {
	out := rehearsal.Rehearsal{ID: r.ID, AccountID: r.AccountID, CampaignID: r.CampaignID, Name: r.Name,
		By: sms.User{ID: r.UserID, Name: r.UserName}, Kind: rehearsal.Kind(r.Kind), State: rehearsal.State(r.State),
		All: r.AllRows, Rows: r.RowCount, Done: r.Done, CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, EndedAt: r.EndedAt}
	if err := json.Unmarshal([]byte(r.Result), &out.Result); err != nil {
		return out, fmt.Errorf("read what rehearsal %d found: %w", r.ID, err)
	}
	return out, nil
}
