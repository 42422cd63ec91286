package storage

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// contactStore keeps the contacts, the audiences and the blocked numbers.
type contactStore struct{ *core }

// Contacts lists contacts; more says that there are further ones.
func (db contactStore) Contacts(ctx context.Context, f sms.ContactFilter) (list []sms.Contact, more bool, err error) {
	rows, err := db.contactRows(ctx, f)
	if err != nil {
		return nil, false, fmt.Errorf("list contacts: %w", err)
	}
	return db.shownContacts(ctx, f, rows)
}

func (db contactStore) shownContacts(ctx context.Context, f sms.ContactFilter,
	rows []query.Contact) (list []sms.Contact, more bool, err error) {
	if more = len(rows) > f.Limit; more {
		rows = rows[:f.Limit]
	}
	numbers := make([]string, len(rows))
	list = make([]sms.Contact, len(rows))
	for i, r := range rows {
		if list[i], err = contact(r); err != nil {
			return nil, false, err
		}
		numbers[i] = r.Number
	}
	blocked, err := db.BlockedAmong(ctx, f.AccountID, numbers)
	for i := range list {
		list[i].BlockedKind = blocked[list[i].Number].Kind
	}
	return list, more, err
}

func (db contactStore) contactRows(ctx context.Context, f sms.ContactFilter) ([]query.Contact, error) {
	before, limit := f.Before, int32(f.Limit+1)
	if before == 0 {
		before = math.MaxInt64
	}
	switch {
	case f.Prefix != "":
		from := f.Prefix
		if f.After != "" {
			from = f.After + " " // behind the number, before all longer ones
		}
		return db.read().ContactsRange(ctx, query.ContactsRangeParams{AccountID: f.AccountID, Number: from,
			Number_2: f.Prefix + maxDigits, Limit: limit})
	case f.Audience > 0:
		return db.read().MembersPage(ctx, f.Audience, before, limit)
	case f.Filter.Everybody():
		return db.read().ContactsPage(ctx, f.AccountID, before, limit)
	}
	var ids []int64
	err := db.matching(ctx, f.AccountID, before-1, f.Filter, func(some []int64) bool {
		for _, id := range some {
			if id < before && len(ids) <= f.Limit {
				ids = append(ids, id)
			}
		}
		return len(ids) <= f.Limit
	})
	if err != nil {
		return nil, err
	}
	return db.contactsByID(ctx, ids)
}

// contactsByID reads contacts in the order of ids; those that are gone are left
// out.
func (db contactStore) contactsByID(ctx context.Context, ids []int64) ([]query.Contact, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := readContacts(db.reader.QueryContext(ctx, contactsIn(len(ids)), anys(ids)...))
	at := make(map[int64]int, len(ids))
	for i, id := range ids {
		at[id] = i
	}
	slices.SortFunc(list, func(a, b query.Contact) int { return at[a.ID] - at[b.ID] })
	return list, err
}

const contactFields = "id, account_id, number, name, fields, tags, source, by_id, by_name, created_at, changed_at, version"

func contactsIn(n int) string {
	return "select " + contactFields + " from contact where id in (" + places(1, n) + ")"
}

func readContacts(rows *sql.Rows, err error) ([]query.Contact, error) {
	return records(rows, err, func(r *query.Contact) []any {
		return []any{&r.ID, &r.AccountID, &r.Number, &r.Name, &r.Fields, &r.Tags, &r.Source, &r.ByID, &r.ByName,
			&r.CreatedAt, &r.ChangedAt, &r.Version}
	})
}

// CountContacts counts the contacts of an account that a filter wants.
func (db contactStore) CountContacts(ctx context.Context, account int64, f sms.Filter) (n int64, err error) {
	if f.Everybody() {
		return db.countAll(ctx, account)
	}
	err = db.matching(ctx, account, math.MaxInt64, f, func(ids []int64) bool { n += int64(len(ids)); return true })
	return wrapNotFound(n, err, "count contacts")
}

const countPacked = `select coalesce(sum(b.n), 0) from contact_block b where b.account_id = $1 and b.key = ''
and not exists (select 1 from contact_stale s where s.account_id = b.account_id and s.block = b.block)`

const countStale = `select count(*) from contact_stale s join contact c on c.account_id = s.account_id
  and c.id >= s.block * $2 and c.id < (s.block + 1) * $2 where s.account_id = $1`

// countAll counts the contacts of an account by their blocks.
func (db contactStore) countAll(ctx context.Context, account int64) (n int64, err error) {
	var stale int64
	err = db.reader.QueryRowContext(ctx, "select ("+countPacked+"), ("+countStale+")", account, int64(blockSize)).Scan(&n,
		&stale)
	return wrapNotFound(n+stale, err, "count contacts")
}

// FindContacts lists contacts as Contacts does, and counts all that the filter
// wants on the same way.
func (db contactStore) FindContacts(ctx context.Context,
	f sms.ContactFilter) (list []sms.Contact, more bool, count int64, err error) {
	if f.Prefix != "" || f.Audience > 0 || f.Filter.Everybody() {
		if list, more, err = db.Contacts(ctx, f); err == nil {
			count, err = db.CountContacts(ctx, f.AccountID, f.Filter)
		}
		return list, more, count, err
	}
	before := f.Before
	if before == 0 {
		before = math.MaxInt64
	}
	var ids []int64
	err = db.matching(ctx, f.AccountID, math.MaxInt64, f.Filter, func(some []int64) bool {
		count += int64(len(some))
		for _, id := range some {
			if len(ids) > f.Limit {
				break
			}
			if id < before {
				ids = append(ids, id)
			}
		}
		return true
	})
	if err != nil {
		return nil, false, 0, fmt.Errorf("find contacts: %w", err)
	}
	rows, err := db.contactsByID(ctx, ids)
	if err != nil {
		return nil, false, 0, fmt.Errorf("find contacts: %w", err)
	}
	list, more, err = db.shownContacts(ctx, f, rows)
	return list, more, count, err
}

// contactsPerStmt is how many contacts one question reads.
const contactsPerStmt = 500

// EachContact gives the members of a picked audience, or whoever a filter
// wants, the oldest first.
func (db contactStore) EachContact(ctx context.Context, a sms.Audience, do func(sms.Contact) error) error {
	ids, err := db.audienceIDs(ctx, a)
	if err != nil {
		return fmt.Errorf("list the people of an audience: %w", err)
	}
	for some := range slices.Chunk(ids, contactsPerStmt) {
		rows, err := db.contactsByID(ctx, some)
		if err != nil {
			return fmt.Errorf("read the people of an audience: %w", err)
		}
		for _, r := range rows {
			c, err := contact(r)
			if err != nil {
				return err
			}
			if err := do(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// Contact finds a contact.
func (db contactStore) Contact(ctx context.Context, id int64) (sms.Contact, error) {
	row, err := db.read().ContactByID(ctx, id)
	return readOne(row, err, contact, "read contact")
}

// ContactByNumber finds the contact of an account with a number.
func (db contactStore) ContactByNumber(ctx context.Context, account int64, number string) (sms.Contact, error) {
	row, err := db.read().ContactByNumber(ctx, account, number)
	return readOne(row, err, contact, "read contact")
}

// ContactColumns lists what is known of the contacts of an account.
func (db contactStore) ContactColumns(ctx context.Context, account int64) (list []sms.ContactColumn, err error) {
	rows, err := db.read().ContactColumns(ctx, account)
	for _, r := range rows {
		list = append(list, sms.ContactColumn{Key: r.Key, Name: r.Name})
	}
	return wrapNotFound(list, err, "list columns of contacts")
}

// SaveContact stores a contact: a new one where its ID is 0, else the contact
// changed. A number that another contact of the account has is sms.ErrConflict,
// and so is a contact that has changed since its Version.
func (db contactStore) SaveContact(ctx context.Context, c sms.Contact, columns []sms.ContactColumn,
	now int64) (sms.Contact, error) {
	fields, tags, err := contactDocuments(c)
	if err != nil {
		return c, err
	}
	err = db.update(ctx, "store contact", func(t *tx) error {
		if err := (contactTx{t}).nameColumns(ctx, c.AccountID, columns); err != nil {
			return err
		}
		if c.ID == 0 {
			c.ID, err = t.InsertContact(ctx, query.InsertContactParams{AccountID: c.AccountID, Number: c.Number, Name: c.Name,
				Fields: fields, Tags: tags, Source: c.Source,
				ByID: c.ByID, ByName: c.ByName, CreatedAt: now})
			c.CreatedAt, c.Version = now, 1
		} else if err = (contactTx{t}).changeContact(ctx, c, fields, tags, now); err == nil {
			c.Version++
		}
		if err != nil {
			return err
		}
		return t.MarkStale(ctx, c.AccountID, blockOf(c.ID))
	})
	c.ChangedAt = now
	return c, err
}

func (t contactTx) changeContact(ctx context.Context, c sms.Contact, fields, tags string, now int64) error {
	n, err := t.UpdateContact(ctx, query.UpdateContactParams{ID: c.ID, Number: c.Number, Name: c.Name, Fields: fields,
		Tags: tags, ChangedAt: now, Version: c.Version})
	if err == nil && n != 1 {
		err = errUnexpected
	}
	return err
}

func (t contactTx) nameColumns(ctx context.Context, account int64, columns []sms.ContactColumn) error {
	for _, c := range columns {
		if err := t.InsertContactColumn(ctx, account, c.Key, c.Name); err != nil {
			return err
		}
	}
	return nil
}

// DeleteContact forgets a contact and takes it out of every audience. The
// number stays on the list of blocked numbers.
func (db contactStore) DeleteContact(ctx context.Context, account, id int64) (gone sms.Contact, err error) {
	err = db.update(ctx, "delete contact", func(t *tx) error {
		row, err := t.Queries.DeleteContact(ctx, id, account)
		if err != nil {
			return err
		}
		if gone, err = contact(row); err != nil {
			return err
		}
		return errors.Join(t.DeleteMemberships(ctx, id), t.MarkStale(ctx, account, blockOf(id)))
	})
	return gone, err
}

// MergeContacts stores what a list tells of people, at most some thousand at
// once, none twice: new ones are added, others are changed as Merge says. The
// numbers count both; who is as told already is in neither. members, where not
// 0, is a picked audience that gets all of them.
func (db contactStore) MergeContacts(ctx context.Context, account int64, told []sms.Contact,
	columns []sms.ContactColumn, members, now int64) (added, changed int64, err error) {
	err = db.update(ctx, "store contacts", func(t *tx) error {
		added, changed = 0, 0
		if err := (contactTx{t}).nameColumns(ctx, account, columns); err != nil {
			return err
		}
		stale := map[int64]bool{}
		for some := range slices.Chunk(told, mergedPerStmt) {
			known, err := contactTx{t}.contactsOf(ctx, account, some)
			if err != nil {
				return err
			}
			var fresh []sms.Contact
			for _, c := range some {
				old, is := known[c.Number]
				if !is {
					fresh = append(fresh, c)
					continue
				}
				after := old.Merge(c)
				if err := (contactTx{t}).member(ctx, members, old.ID); err != nil {
					return err
				}
				if after.Name == old.Name && maps.Equal(after.Fields, old.Fields) && slices.Equal(after.Tags, old.Tags) {
					continue
				}
				fields, tags, err := contactDocuments(after)
				if err == nil {
					err = contactTx{t}.changeContact(ctx, after, fields, tags, now)
				}
				if err != nil {
					return err
				}
				changed++
				stale[blockOf(old.ID)] = true
			}
			if err := (contactTx{t}).insertContacts(ctx, fresh, now, func(id int64) error {
				stale[blockOf(id)] = true
				return (contactTx{t}).member(ctx, members, id)
			}); err != nil {
				return err
			}
			added += int64(len(fresh))
		}
		for block := range stale {
			if err := t.MarkStale(ctx, account, block); err != nil {
				return err
			}
		}
		return nil
	})
	return added, changed, err
}

func (t contactTx) member(ctx context.Context, audience, contact int64) error {
	if audience == 0 {
		return nil
	}
	_, err := t.InsertMember(ctx, audience, contact)
	return err
}

// mergedPerStmt is how many contacts one statement finds or adds.
const mergedPerStmt = 50

const contactsOfNumbers = "select " + contactFields + " from contact where account_id = $1 and number in "

func (t contactTx) contactsOf(ctx context.Context, account int64, some []sms.Contact) (map[string]sms.Contact, error) {
	args := []any{account}
	for _, c := range some {
		args = append(args, c.Number)
	}
	list, err := readContacts(t.sql.QueryContext(ctx, contactsOfNumbers+"("+places(2, len(some))+")", args...))
	if err != nil {
		return nil, fmt.Errorf("read contacts: %w", err)
	}
	known := make(map[string]sms.Contact, len(list))
	for _, r := range list {
		if known[r.Number], err = contact(r); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// insertContacts adds contacts in one statement and gives their ids.
func (t contactTx) insertContacts(ctx context.Context, list []sms.Contact, now int64, do func(id int64) error) error {
	if len(list) == 0 {
		return nil
	}
	rows, args := make([]string, len(list)), make([]any, 0, 10*len(list))
	for i, c := range list {
		fields, tags, err := contactDocuments(c)
		if err != nil {
			return err
		}
		rows[i] = "(" + places(len(args)+1, 10) + ")"
		args = append(args, c.AccountID, c.Number, c.Name, fields, tags, c.Source, c.ByID, c.ByName, now, now)
	}
	added, err := t.sql.QueryContext(ctx,
		`insert into contact (account_id, number, name, fields, tags, source, by_id, by_name, created_at, changed_at) values `+
			strings.Join(rows, ", ")+` returning id`, args...)
	if err != nil {
		return fmt.Errorf("insert contacts: %w", err)
	}
	var ids []int64
	for added.Next() {
		var id int64
		if err := added.Scan(&id); err != nil {
			return errors.Join(fmt.Errorf("insert contacts: %w", err), added.Close())
		}
		ids = append(ids, id)
	}
	if err := errors.Join(added.Err(), added.Close()); err != nil {
		return fmt.Errorf("insert contacts: %w", err)
	}
	for _, id := range ids {
		if err := do(id); err != nil {
			return err
		}
	}
	return nil
}

func contactDocuments(c sms.Contact) (fields, tags string, err error) {
	known := map[string]string{}
	for k, v := range c.Fields {
		if v != "" {
			known[k] = v
		}
	}
	f, err := json.Marshal(known)
	if err != nil {
		return "", "", fmt.Errorf("write contact: %w", err)
	}
	if len(c.Tags) == 0 {
		return string(f), "[]", nil
	}
	t, err := json.Marshal(c.Tags)
	if err != nil {
		return "", "", fmt.Errorf("write contact: %w", err)
	}
	return string(f), string(t), nil
}

func contact(r query.Contact) (sms.Contact, error) {
	c := sms.Contact{ID: r.ID, AccountID: r.AccountID, Number: r.Number, Name: r.Name, Source: r.Source, ByID: r.ByID,
		ByName: r.ByName, CreatedAt: r.CreatedAt, ChangedAt: r.ChangedAt, Version: r.Version}
	err := json.Unmarshal([]byte(r.Fields), &c.Fields)
	if r.Tags != "[]" {
		err = errors.Join(err, json.Unmarshal([]byte(r.Tags), &c.Tags))
	}
	if err != nil {
		return c, fmt.Errorf("read contact: %w", err)
	}
	return c, nil
}

// contactTx changes contacts and blocked numbers within a transaction.
type contactTx struct{ *tx }
