package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// listStore keeps the uploaded lists, their staging and the downloads.
type listStore struct{ *core }

// CreateList stores an uploaded list. The token makes it one: a second call
// with the same token returns the first result and created false.
func (db listStore) CreateList(ctx context.Context, l sms.List, token string,
	now int64) (made sms.List, created bool, err error) {
	err = db.update(ctx, "store list", func(t *tx) error {
		first, err := t.ListByToken(ctx, token)
		if err == nil {
			made, err = list(first)
			return err
		}
		if !errors.Is(classify(err), sms.ErrNotFound) {
			return err
		}
		r, err := listRow(l)
		if err != nil {
			return err
		}
		_, err = t.InsertList(ctx, query.InsertListParams{Uid: l.UID, Token: token, AccountID: l.AccountID,
			State: string(sms.ListUploaded), FileName: l.FileName,
			Size: l.Size, Hash: l.Hash, HeaderKey: l.HeaderKey, Reading: r.Reading, Choices: r.Choices, Tally: r.Tally,
			CreatedBy:   l.CreatedBy,
			CreatedName: l.CreatedName, CreatedAt: now, Total: l.Total, Purpose: string(l.Purpose)})
		if err != nil {
			return err
		}
		row, err := t.ListByUID(ctx, l.UID)
		if err != nil {
			return err
		}
		made, err = list(row)
		created = err == nil
		return err
	})
	return made, created, err
}

// List finds a list by its UID.
func (db listStore) List(ctx context.Context, uid string) (sms.List, error) {
	row, err := db.read().ListByUID(ctx, uid)
	return readOne(row, err, list, "read list")
}

// ListByID finds a list by its id, as campaigns name it.
func (db listStore) ListByID(ctx context.Context, id int64) (sms.List, error) {
	row, err := db.read().ListByID(ctx, id)
	return readOne(row, err, list, "read list")
}

// ListByToken finds the list that was made with a one-use token.
func (db listStore) ListByToken(ctx context.Context, token string) (sms.List, error) {
	row, err := db.read().ListByToken(ctx, token)
	return readOne(row, err, list, "read list")
}

// Lists lists the lists of one person, newest first.
func (db listStore) Lists(ctx context.Context, account, user int64, limit int) ([]sms.List, error) {
	rows, err := db.read().RecentLists(ctx, account, user, int32(limit))
	return lists(rows, err, "list lists")
}

// BusyLists lists the lists that are to be checked or made, oldest first.
func (db listStore) BusyLists(ctx context.Context) ([]sms.List, error) {
	rows, err := db.read().BusyLists(ctx)
	return lists(rows, err, "list lists in work")
}

// OldLists lists lists not changed since before of which there is no campaign.
func (db listStore) OldLists(ctx context.Context, before int64) ([]sms.List, error) {
	rows, err := db.read().OldLists(ctx, before)
	return lists(rows, err, "list old lists")
}

// CheckedLists lists the lists that wait for a person and were changed since
// after.
func (db listStore) CheckedLists(ctx context.Context, after int64) ([]sms.List, error) {
	rows, err := db.read().CheckedLists(ctx, after)
	return lists(rows, err, "list checked lists")
}

// UpdateList changes a list in one transaction; the closure decides.
func (db listStore) UpdateList(ctx context.Context, uid string, now int64,
	change func(*sms.List) error) (after sms.List, err error) {
	err = db.update(ctx, "save list", func(t *tx) error {
		after, err = t.updateList(ctx, uid, now, change)
		return err
	})
	return after, err
}

// ReopenList changes the list of a draft that goes away, so that another
// campaign is made of it. It fails with sms.ErrConflict when the draft was
// changed or started meanwhile, or messages of it have left.
func (db listStore) ReopenList(ctx context.Context, uid string, c sms.Campaign, now int64,
	change func(*sms.List) error) (sms.List, error) {
	var after sms.List
	err := db.update(ctx, "make campaign anew", func(t *tx) error {
		seen, err := t.campaign(ctx, c.ID)
		if err == nil && (seen.Version != c.Version || seen.State != sms.CampaignDraft) {
			err = sms.ErrConflict
		}
		if err != nil {
			return err
		}
		if moved, err := t.CountMoved(ctx, c.ID); err != nil || moved > 0 {
			return conflictIfNil(err)
		}
		if err := t.deleteDraft(ctx, c.AccountID, c.ID); err != nil {
			return err
		}
		if after, err = t.updateList(ctx, uid, now, change); err != nil {
			return err
		}
		after.CampaignID = 0
		n, err := t.ListCampaign(ctx, after.ID, after.Version, 0)
		if err == nil && n != 1 {
			err = errUnexpected
		}
		return err
	})
	return after, err
}

func (t *tx) updateList(ctx context.Context, uid string, now int64, change func(*sms.List) error) (sms.List, error) {
	row, err := t.ListByUID(ctx, uid)
	if err != nil {
		return sms.List{}, err
	}
	after, err := list(row)
	if err != nil {
		return after, err
	}
	before := after.Reading
	if err := change(&after); err != nil {
		return after, err
	}
	r, err := listRow(after)
	if err != nil {
		return after, err
	}
	if err := forgetCorrections(ctx, t, row.ID, before, after.Reading); err != nil {
		return after, err
	}
	n, err := t.Queries.UpdateList(ctx, query.UpdateListParams{ID: row.ID, Version: row.Version,
		State: string(after.State), Problem: after.Problem,
		HeaderKey: after.HeaderKey, Reading: r.Reading, Choices: r.Choices, Tally: r.Tally, Checksum: after.Sum,
		Again: after.Again, Done: after.Done,
		Total: after.Total, ChangedAt: now})
	if err == nil && n != 1 {
		err = errUnexpected
	}
	after.Version, after.ChangedAt = row.Version+1, now
	return after, err
}

// forgetCorrections forgets the corrections of a list that is read in another
// way: its rows and columns are others then. Hidden rows have numbers of their
// own, but what was added behind the file is numbered from its last row on, and
// so are rows that were made of others: those are forgotten then.
func forgetCorrections(ctx context.Context, t *tx, list int64, before, after sms.ListReading) error {
	hidden := before.Hidden != after.Hidden
	if len(after.Added) == 0 {
		before.Hidden = after.Hidden
	}
	switch same := reflect.DeepEqual(before, after); {
	case same && hidden:
		return t.DeleteMadeRows(ctx, list)
	case same:
		return nil
	}
	return t.DeleteCorrections(ctx, list)
}

// PutListProgress tells how far the work on a list is. It fails with
// sms.ErrConflict when the list was changed or dropped meanwhile.
func (db listStore) PutListProgress(ctx context.Context, l sms.List, done, total int64) error {
	return db.update(ctx, "store progress", func(t *tx) error {
		n, err := t.ListProgress(ctx, query.ListProgressParams{ID: l.ID, Version: l.Version, Done: done, Total: total,
			Comparing: l.Comparing})
		if err == nil && n != 1 {
			err = errUnexpected
		}
		return err
	})
}

// DeleteList forgets a list; sms.ErrConflict when it was changed meanwhile.
func (db listStore) DeleteList(ctx context.Context, l sms.List) error {
	return db.update(ctx, "delete list", func(t *tx) error {
		n, err := t.Queries.DeleteList(ctx, l.ID, l.Version)
		if err == nil && n != 1 {
			err = errUnexpected
		}
		return err
	})
}

// ListMapping is what was last chosen for lists with the same column names;
// sms.ErrNotFound when there was none.
func (db listStore) ListMapping(ctx context.Context, account int64, headerKey string) (o sms.ListOrder, err error) {
	text, err := db.read().ListMapping(ctx, account, headerKey)
	if _, err := wrapNotFound(text, err, "read mapping"); err != nil {
		return o, err
	}
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return o, fmt.Errorf("read mapping: %w", err)
	}
	return o, nil
}

// PutListMapping remembers what was chosen for lists with these column names.
func (db listStore) PutListMapping(ctx context.Context, account int64, headerKey string, o sms.ListOrder,
	now int64) error {
	text, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("store mapping: %w", err)
	}
	return db.update(ctx, "store mapping", func(t *tx) error {
		return t.Queries.PutListMapping(ctx, query.PutListMappingParams{AccountID: account, HeaderKey: headerKey,
			Choices: string(text), ChangedAt: now})
	})
}

func lists(rows []query.List, err error, doing string) ([]sms.List, error) {
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	all := make([]sms.List, len(rows))
	for i, r := range rows {
		if all[i], err = list(r); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// listRow writes the parts of a list that are stored as documents.
func listRow(l sms.List) (r query.List, err error) {
	for _, part := range []struct {
		to   *string
		from any
	}{{&r.Reading, l.Reading}, {&r.Choices, l.Order}, {&r.Tally, l.Tally}} {
		text, err := json.Marshal(part.from)
		if err != nil {
			return r, fmt.Errorf("write list: %w", err)
		}
		*part.to = string(text)
	}
	return r, nil
}

func list(r query.List) (sms.List, error) {
	l := sms.List{ID: r.ID, UID: r.Uid, AccountID: r.AccountID, State: sms.ListState(r.State), Problem: r.Problem,
		Version: r.Version, FileName: r.FileName,
		Size: r.Size, Hash: r.Hash, HeaderKey: r.HeaderKey, Again: r.Again, Sum: r.Checksum, Done: r.Done, Total: r.Total,
		Comparing: r.Comparing,
		CreatedBy: r.CreatedBy, Purpose: sms.ListPurpose(r.Purpose),
		CreatedName: r.CreatedName, CreatedAt: r.CreatedAt, ChangedAt: r.ChangedAt}
	if l.State == sms.ListMade {
		l.CampaignID = r.CampaignID
	}
	for _, part := range []struct {
		from string
		to   any
	}{{r.Reading, &l.Reading}, {r.Choices, &l.Order}, {r.Tally, &l.Tally}} {
		if err := json.Unmarshal([]byte(part.from), part.to); err != nil {
			return l, fmt.Errorf("read list: %w", err)
		}
	}
	return l, nil
}
