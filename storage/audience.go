package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// CreateAudience stores a new audience with the contacts picked for it. A name
// that the account has already is sms.ErrConflict.
func (db contactStore) CreateAudience(ctx context.Context, a sms.Audience, members []int64,
	now int64) (sms.Audience, error) {
	filter, err := json.Marshal(a.Filter)
	if err != nil {
		return a, fmt.Errorf("write audience: %w", err)
	}
	err = db.update(ctx, "store audience", func(t *tx) error {
		if a.ID, err = t.InsertAudience(ctx, query.InsertAudienceParams{AccountID: a.AccountID, Name: a.Name,
			Kind: string(a.Kind), Filter: string(filter), ByID: a.ByID, ByName: a.ByName, CreatedAt: now}); err != nil {
			return err
		}
		for _, id := range members {
			if err := (contactTx{t}).member(ctx, a.ID, id); err != nil {
				return err
			}
		}
		return nil
	})
	a.Version, a.CreatedAt, a.ChangedAt = 1, now, now
	return a, err
}

// UpdateAudience changes the name and the filter of an audience whose version
// is that of a; else it is sms.ErrConflict.
func (db contactStore) UpdateAudience(ctx context.Context, a sms.Audience, now int64) error {
	filter, err := json.Marshal(a.Filter)
	if err != nil {
		return fmt.Errorf("write audience: %w", err)
	}
	return db.update(ctx, "store audience", func(t *tx) error {
		n, err := t.Queries.UpdateAudience(ctx, query.UpdateAudienceParams{ID: a.ID, Version: a.Version, Name: a.Name,
			Filter: string(filter), ChangedAt: now})
		if err == nil && n != 1 {
			err = errUnexpected
		}
		return err
	})
}

// DeleteAudience forgets an audience. Its people stay.
func (db contactStore) DeleteAudience(ctx context.Context, id int64) (gone sms.Audience, err error) {
	err = db.update(ctx, "delete audience", func(t *tx) error {
		if err := t.DeleteMembers(ctx, id); err != nil {
			return err
		}
		row, err := t.Queries.DeleteAudience(ctx, id)
		if err == nil {
			gone, err = audience(row)
		}
		return err
	})
	return gone, err
}

// Audience finds an audience.
func (db contactStore) Audience(ctx context.Context, id int64) (sms.Audience, error) {
	row, err := db.read().AudienceByID(ctx, id)
	return readOne(row, err, audience, "read audience")
}

// Audiences lists the audiences of an account by name.
func (db contactStore) Audiences(ctx context.Context, account int64, limit int) (list []sms.Audience, err error) {
	rows, err := db.read().Audiences(ctx, account, int32(limit))
	return audiences(rows, err)
}

// AudiencesOf lists the picked audiences that a contact is in.
func (db contactStore) AudiencesOf(ctx context.Context, contact int64) ([]sms.Audience, error) {
	rows, err := db.read().AudiencesOf(ctx, contact)
	return audiences(rows, err)
}

func audiences(rows []query.Audience, err error) (list []sms.Audience, _ error) {
	if err != nil {
		return nil, fmt.Errorf("list audiences: %w", err)
	}
	for _, r := range rows {
		a, err := audience(r)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// ChangeMembers puts contacts into a picked audience, or takes them out, and
// counts those for whom that changed anything.
func (db contactStore) ChangeMembers(ctx context.Context, audience int64, contacts []int64,
	in bool) (changed int64, err error) {
	err = db.update(ctx, "change the people of an audience", func(t *tx) error {
		for _, id := range contacts {
			change := t.DeleteMember
			if in {
				change = t.InsertMember
			}
			n, err := change(ctx, audience, id)
			if err != nil {
				return err
			}
			changed += n
		}
		return nil
	})
	return changed, err
}

// CountAudience counts the people of an audience.
func (db contactStore) CountAudience(ctx context.Context, a sms.Audience) (int64, error) {
	if a.Kind == sms.Filtered {
		return db.CountContacts(ctx, a.AccountID, a.Filter)
	}
	n, err := db.read().CountMembers(ctx, a.ID)
	return wrapNotFound(n, err, "count the people of an audience")
}

// CountBlockedIn counts the people of an audience whose number is blocked.
func (db contactStore) CountBlockedIn(ctx context.Context, a sms.Audience) (n int64, err error) {
	ids, err := db.blockedContacts(ctx, a.AccountID)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	if a.Kind == sms.Picked {
		members, err := db.audienceIDs(ctx, a)
		for _, id := range members {
			if ids[id] {
				n++
			}
		}
		return n, err
	}
	err = db.matching(ctx, a.AccountID, math.MaxInt64, a.Filter, func(some []int64) bool {
		for _, id := range some {
			if ids[id] {
				n++
			}
		}
		return true
	})
	return n, err
}

const blockedPeople = `select c.id from blocked b join contact c on c.account_id = b.account_id and c.number = b.number where b.account_id = $1`

// blockedContacts are the ids of the contacts whose number is blocked.
func (db contactStore) blockedContacts(ctx context.Context, account int64) (map[int64]bool, error) {
	list, err := onlyColumn[int64](db.reader.QueryContext(ctx, blockedPeople, account))
	ids := map[int64]bool{}
	for _, id := range list {
		ids[id] = true
	}
	return wrapNotFound(ids, err, "find blocked contacts")
}

// audienceIDs lists the people of an audience, the oldest first.
func (db contactStore) audienceIDs(ctx context.Context, a sms.Audience) (ids []int64, err error) {
	if a.Kind == sms.Filtered {
		err = db.matching(ctx, a.AccountID, math.MaxInt64, a.Filter, func(some []int64) bool {
			ids = append(ids, some...)
			return true
		})
		slices.Reverse(ids)
		return ids, err
	}
	return onlyColumn[int64](db.reader.QueryContext(ctx,
		"select contact_id from audience_member where audience_id = $1 order by contact_id", a.ID))
}

func audience(r query.Audience) (sms.Audience, error) {
	a := sms.Audience{ID: r.ID, AccountID: r.AccountID, Name: r.Name, Kind: sms.AudienceKind(r.Kind), Version: r.Version,
		ByID: r.ByID, ByName: r.ByName, CreatedAt: r.CreatedAt, ChangedAt: r.ChangedAt}
	if err := json.Unmarshal([]byte(r.Filter), &a.Filter); err != nil {
		return a, fmt.Errorf("read audience: %w", err)
	}
	return a, nil
}
