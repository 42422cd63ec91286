package desk

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"

	"smsdesk/internal/feed"
	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
)

// People takes the orders about those who get messages: contacts, audiences and
// blocked numbers.
type People struct {
	work
	store PeopleStore
	stops *sms.StopLinks // nil: texts hold no links
}

// PeopleStore is what those orders need to be remembered.
type PeopleStore interface {
	Account(ctx context.Context, id int64) (sms.Account, error)
	Audience(ctx context.Context, id int64) (sms.Audience, error)
	Block(ctx context.Context, list []sms.Blocked) (added int64, err error)
	BlockedAmong(ctx context.Context, account int64, numbers []string) (map[string]sms.Blocked, error)
	ChangeMembers(ctx context.Context, audience int64, contacts []int64, in bool) (int64, error)
	Contact(ctx context.Context, id int64) (sms.Contact, error)
	ContactByNumber(ctx context.Context, account int64, number string) (sms.Contact, error)
	ContactColumns(ctx context.Context, account int64) ([]sms.ContactColumn, error)
	CreateAudience(ctx context.Context, a sms.Audience, members []int64, now int64) (sms.Audience, error)
	DeleteAudience(ctx context.Context, id int64) (sms.Audience, error)
	DeleteContact(ctx context.Context, account, id int64) (sms.Contact, error)
	EndBlock(ctx context.Context, id int64, end sms.Unblocking) (gone sms.Blocked, err error)
	EndOwnBlock(ctx context.Context, account int64, number string, kind sms.BlockKind,
		end sms.Unblocking) (gone sms.Blocked, done bool, err error)
	GotRecently(ctx context.Context, account int64, number string, since int64) (int64, error)
	SaveContact(ctx context.Context, c sms.Contact, columns []sms.ContactColumn, now int64) (sms.Contact, error)
	SearchMessages(ctx context.Context, f sms.MessageSearch) (list []sms.FoundMessage, next sms.MessageCursor, err error)
	StartedSince(ctx context.Context, account, user, since int64) (int64, error)
	UpdateAudience(ctx context.Context, a sms.Audience, now int64) error
}

// ContactOrder is what a person enters of one contact.
type ContactOrder struct {
	ID        int64 // 0: a new one
	Version   int64 // of the contact as it was shown
	AccountID int64
	Number    string
	Name      string
	Fields    map[string]string // of columns that there are, by key
	Tags      string            // with commas between
	Column    string            // a new column, "" for none
	Value     string            // what stands in it
}

// SaveContact adds a contact or changes one. The number is normalised here and
// never again. The fields of its Invalid are number, name, tags, column, value
// and "field:" with the key of a column. Where somebody else has changed the
// contact since it was shown, the error is sms.ErrConflict.
func (d *People) SaveContact(ctx context.Context, by sms.User, o ContactOrder) (sms.Contact, error) {
	if err := by.May(sms.Sender, "save contact"); err != nil {
		return sms.Contact{}, err
	}
	account, err := d.store.Account(ctx, o.AccountID)
	if err != nil {
		return sms.Contact{}, err
	}
	columns, err := d.store.ContactColumns(ctx, o.AccountID)
	if err != nil {
		return sms.Contact{}, err
	}
	c := sms.Contact{AccountID: account.ID, Source: "entered by hand", ByID: by.ID, ByName: by.Name}
	if o.ID > 0 {
		if c, err = d.ownContact(ctx, o.AccountID, o.ID); err != nil {
			return c, err
		}
	}
	added, bad := tidyContact(&c, o, account, columns)
	if known, err := d.store.ContactByNumber(ctx, account.ID, c.Number); err == nil && known.ID != c.ID {
		bad["number"] = nameOr(known.Name, "A contact without a name") + " already has this number"
	} else if err != nil && !errors.Is(err, sms.ErrNotFound) {
		return c, err
	}
	if err := bad.Or(); err != nil {
		return c, err
	}
	if c.Version != o.Version {
		return c, fmt.Errorf("save contact: %w: somebody else changed it", sms.ErrConflict)
	}
	saved, err := d.store.SaveContact(ctx, c, added, d.ms())
	if err != nil {
		return c, d.contactRaced(ctx, c, err)
	}
	d.audit(ctx, by, "contact.save", feed.Account(account.ID), fmt.Sprintf("contact %d", saved.ID))
	d.feed.Publish(feed.Contacts(account.ID), feed.AllContacts)
	return saved, nil
}

// contactRaced tells the two conflicts apart that a contact can have when two
// people save at the same moment.
func (d *People) contactRaced(ctx context.Context, c sms.Contact, err error) error {
	if !errors.Is(err, sms.ErrConflict) {
		return err
	}
	taken, looked := d.store.ContactByNumber(ctx, c.AccountID, c.Number)
	if looked == nil && taken.ID != c.ID {
		return sms.Invalid{"number": "Another contact has this number already"}
	}
	return err
}

func nameOr(name, otherwise string) string {
	if name == "" {
		return otherwise
	}
	return name
}

func (d *People) ownContact(ctx context.Context, account, id int64) (sms.Contact, error) {
	c, err := d.store.Contact(ctx, id)
	if err == nil && c.AccountID != account {
		err = fmt.Errorf("contact of another account: %w", sms.ErrNotFound)
	}
	return c, err
}

// tidyContact puts an order into a contact, and says which column is new and
// what is wrong.
func tidyContact(c *sms.Contact, o ContactOrder, account sms.Account,
	columns []sms.ContactColumn) (added []sms.ContactColumn, bad sms.Invalid) {
	bad = sms.Invalid{}
	phone, err := phone.Parse(o.Number, account.Country, account.Abroad)
	if err != nil {
		bad["number"] = err.Error()
	}
	c.Number = phone.Number
	if c.Name = sms.TidyValue(o.Name, 2*sms.MaxContactName); utf8.RuneCountInString(c.Name) > sms.MaxContactName {
		bad["name"] = fmt.Sprintf("Name must be %d characters or fewer", sms.MaxContactName)
	}
	if c.Tags = sms.ReadTags(o.Tags); len(c.Tags) > sms.MaxContactTags {
		bad["tags"] = fmt.Sprintf("A contact can have up to %d tags. Enter fewer", sms.MaxContactTags)
	}
	fields, names := maps.Clone(o.Fields), map[string]bool{}
	if fields == nil {
		fields = map[string]string{}
	}
	for _, column := range columns {
		names[column.Key] = true
	}
	if column := sms.TidyValue(o.Column, sms.MaxContactTag); column != "" {
		key := sms.PlaceholderKey(column)
		switch {
		case sms.Reserved(key) || key == "" || names[key]:
			bad["column"] = "A column with this name already exists. Choose another name"
		case len(columns) >= sms.MaxContactColumns:
			bad["column"] = fmt.Sprintf("You already have the maximum of %d columns", sms.MaxContactColumns)
		default:
			names[key], fields[key] = true, o.Value
			added = append(added, sms.ContactColumn{Key: key, Name: column})
		}
	} else if sms.TidyValue(o.Value, 1) != "" {
		bad["column"] = "Enter a name for the new column"
	}
	c.Fields = map[string]string{}
	for key, raw := range fields {
		v := sms.TidyValue(raw, 2*sms.MaxContactValue)
		if utf8.RuneCountInString(v) > sms.MaxContactValue {
			bad["field:"+key] = fmt.Sprintf("Value must be %d characters or fewer", sms.MaxContactValue)
		}
		if v != "" && names[key] {
			c.Fields[key] = v
		}
	}
	return added, bad
}

// DeleteContact forgets a person, and takes them out of every audience. The
// number stays blocked where it is blocked.
func (d *People) DeleteContact(ctx context.Context, by sms.User, account, id int64) (sms.Contact, error) {
	if err := by.May(sms.Sender, "delete contact"); err != nil {
		return sms.Contact{}, err
	}
	gone, err := d.store.DeleteContact(ctx, account, id)
	if err != nil {
		return gone, err
	}
	d.audit(ctx, by, "contact.delete", feed.Account(account), gone.Number)
	d.feed.Publish(feed.Contacts(account), feed.AllContacts)
	return gone, nil
}

// AudienceOrder is what a person wants an audience to be.
type AudienceOrder struct {
	ID        int64 // 0: a new one
	Version   int64 // of the audience as it was shown
	AccountID int64
	Name      string
	Kind      sms.AudienceKind
	Filter    sms.Filter
	Members   []int64 // of a new picked one: ids of contacts
}

// SaveAudience makes an audience or changes one. The fields of its Invalid are
// name, filter and those of sms.Filter's Check.
func (d *People) SaveAudience(ctx context.Context, by sms.User, o AudienceOrder) (sms.Audience, error) {
	if err := by.May(sms.Sender, "save audience"); err != nil {
		return sms.Audience{}, err
	}
	columns, err := d.store.ContactColumns(ctx, o.AccountID)
	if err != nil {
		return sms.Audience{}, err
	}
	a := sms.Audience{ID: o.ID, AccountID: o.AccountID, Name: sms.TidyValue(o.Name, 2*sms.MaxContactName), Kind: o.Kind,
		Filter: o.Filter, Version: o.Version, ByID: by.ID, ByName: by.Name}
	bad := sms.Invalid{}
	if a.Kind != sms.Picked {
		a.Kind = sms.Filtered
		if wrong, ok := errors.AsType[sms.Invalid](a.Filter.Check(columns)); ok {
			maps.Copy(bad, wrong)
		}
	}
	if a.Name == "" {
		bad["name"] = "Enter a name for the audience"
	} else if utf8.RuneCountInString(a.Name) > sms.MaxContactName {
		bad["name"] = fmt.Sprintf("Name must be %d characters or fewer", sms.MaxContactName)
	}
	if err := bad.Or(); err != nil {
		return a, err
	}
	return d.putAudience(ctx, by, a, o.Members)
}

func (d *People) putAudience(ctx context.Context, by sms.User, a sms.Audience, members []int64) (sms.Audience, error) {
	for _, id := range members {
		if _, err := d.ownContact(ctx, a.AccountID, id); err != nil {
			return a, err
		}
	}
	taken := sms.Invalid{"name": fmt.Sprintf("An audience called %q already exists. Choose another name", a.Name)}
	var err error
	if a.ID == 0 {
		if a, err = d.store.CreateAudience(ctx, a, members, d.ms()); errors.Is(err, sms.ErrConflict) {
			return a, taken
		}
	} else {
		old, err := d.ownAudience(ctx, a.AccountID, a.ID)
		if err != nil {
			return a, err
		}
		if old.Version != a.Version {
			return old, fmt.Errorf("save audience: %w: somebody else changed it", sms.ErrConflict)
		}
		a.Kind = old.Kind
		if err := d.store.UpdateAudience(ctx, a, d.ms()); errors.Is(err, sms.ErrConflict) {
			if now, looked := d.store.Audience(ctx, a.ID); looked == nil && now.Version == a.Version {
				return a, taken
			}
			return a, err // somebody saved at the same moment
		} else if err != nil {
			return a, err
		}
	}
	if err != nil {
		return a, err
	}
	d.audit(ctx, by, "audience.save", feed.Account(a.AccountID), a.Name)
	d.feed.Publish(feed.Contacts(a.AccountID))
	return a, nil
}

func (d *People) ownAudience(ctx context.Context, account, id int64) (sms.Audience, error) {
	a, err := d.store.Audience(ctx, id)
	if err == nil && a.AccountID != account {
		err = fmt.Errorf("audience of another account: %w", sms.ErrNotFound)
	}
	return a, err
}

// DeleteAudience forgets an audience; its people stay.
func (d *People) DeleteAudience(ctx context.Context, by sms.User, account, id int64) (sms.Audience, error) {
	if err := by.May(sms.Sender, "delete audience"); err != nil {
		return sms.Audience{}, err
	}
	if _, err := d.ownAudience(ctx, account, id); err != nil {
		return sms.Audience{}, err
	}
	gone, err := d.store.DeleteAudience(ctx, id)
	if err != nil {
		return gone, err
	}
	d.audit(ctx, by, "audience.delete", feed.Account(account), gone.Name)
	d.feed.Publish(feed.Contacts(account))
	return gone, nil
}

// ChangeMembers puts people into a picked audience or takes them out of it, and
// says for how many that changed anything.
func (d *People) ChangeMembers(ctx context.Context, by sms.User, account, audience int64, contacts []int64,
	in bool) (int64, error) {
	if err := by.May(sms.Sender, "change audience"); err != nil {
		return 0, err
	}
	a, err := d.ownAudience(ctx, account, audience)
	if err != nil {
		return 0, err
	}
	if a.Kind != sms.Picked {
		return 0, sms.Invalid{"audience": "This audience is a filter, so you cannot add contacts by hand"}
	}
	if len(contacts) == 0 {
		return 0, sms.Invalid{"contacts": "Select at least one contact"}
	}
	for _, id := range contacts {
		if _, err := d.ownContact(ctx, account, id); err != nil {
			return 0, err
		}
	}
	n, err := d.store.ChangeMembers(ctx, audience, contacts, in)
	if err == nil {
		d.feed.Publish(feed.Contacts(account))
	}
	return n, err
}

// NarrowContacts narrows a filter to what a person typed: the first digits of a
// number, or part of a name. Who sees numbers masked finds whole ones only:
// digit by digit they would come to light.
func NarrowContacts(f *sms.ContactFilter, typed, country string, masked bool) {
	if typed == "" {
		return
	}
	if !strings.ContainsFunc(typed, unicode.IsLetter) {
		f.Prefix = sms.NumberPrefix(typed, country)
	}
	if _, err := phone.Parse(typed, country, true); masked && f.Prefix != "" && err != nil {
		f.Prefix = "" // and no name holds digits alone
	}
	if f.Prefix == "" {
		f.Filter = sms.Filter{Conditions: []sms.Condition{{Key: sms.KeyName, Op: sms.Contains, Value: typed}}}
	}
}
