package lists

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/sheet"
	"smsdesk/internal/sms"
)

// An uploaded list whose purpose is contacts goes the way of every list: the
// same reader, the same check, the same staging. Only what a row is checked for
// and what becomes of it differ, and that is here.

// peopleNames are what a column with names is called beside "name".
func peopleNames() []string {
	return []string{"fullname", "names", "contactname", "customername", "customer", "studentname", "patientname",
		"surname", "firstname"}
}

// contactFields proposes what the columns of a list become: all but the number
// are kept.
func contactFields(columns []string, phone int) map[string]int {
	fields := map[string]int{}
	for i, name := range columns {
		key := sms.PlaceholderKey(name)
		if key == "tags" {
			key = sms.KeyTag
		}
		if _, taken := fields[key]; i != phone && key != "" && !taken {
			fields[key] = i
		}
	}
	if _, named := fields[sms.KeyName]; !named {
		for _, like := range peopleNames() {
			if at, is := fields[like]; is {
				fields[sms.KeyName] = at
				delete(fields, like)
				break
			}
		}
	}
	return fields
}

// checkContactOrder says what is wrong with what is to become of the columns;
// the fields of its Invalid are phone, fields and tags.
func checkContactOrder(l sms.List, o sms.ListOrder, known []sms.ContactColumn) error {
	bad, columns := sms.Invalid{}, len(l.Reading.Columns)
	if o.Phone < 0 || o.Phone >= columns {
		bad["phone"] = "Choose the column with the phone numbers"
	}
	fresh := len(known)
	for key, at := range o.Fields {
		if at >= columns || key == "" || at == o.Phone {
			bad["fields"] = "Choose again which columns to keep"
		}
		if !sms.Reserved(key) && !slices.ContainsFunc(known, func(c sms.ContactColumn) bool { return c.Key == key }) {
			fresh++
		}
	}
	if fresh > sms.MaxContactColumns && fresh > len(known) {
		bad["fields"] = fmt.Sprintf("Contacts can have up to %d columns. You chose %d. Keep fewer", sms.MaxContactColumns,
			fresh)
	}
	if len(sms.ReadTags(o.Fixed[sms.KeyTag])) > sms.MaxContactTags {
		bad["tags"] = fmt.Sprintf("A contact can have up to %d tags. Enter fewer", sms.MaxContactTags)
	}
	return bad.Or()
}

// stagedContact is a row of the list as its staged text holds it.
type stagedContact struct {
	Name   string            `json:"n,omitempty"`
	Fields map[string]string `json:"f,omitempty"`
	Tags   string            `json:"t,omitempty"`
}

// forContacts makes a checker one for contacts: whoever is blocked may be
// known all the same, and a number is one person.
func (c *checker) forContacts() *checker {
	c.make, c.blocked, c.columns = (*checker).contact, nil, nil
	for _, at := range c.list.Order.Fields {
		c.columns = append(c.columns, at)
	}
	slices.Sort(c.columns)
	return c
}

func repeatSentence(p sms.ListPurpose, row int64) string {
	if p == sms.ForContacts {
		return "Same number as row " + strconv.FormatInt(row, 10)
	}
	return "Same number and message as row " + strconv.FormatInt(row, 10)
}

// contact reads what a row tells of a person.
func (c *checker) contact(cells []string) (m message, kind sms.RowKind, column int, sentence string) {
	for _, i := range c.columns {
		if fault := sheet.CellFault(cell(cells, i)); fault != "" {
			return m, sms.RowText, i, fault
		}
	}
	told := stagedContact{Fields: map[string]string{}}
	for key, at := range c.list.Order.Fields {
		raw := cell(cells, at)
		switch key {
		case sms.KeyName:
			told.Name = sms.TidyValue(raw, sms.MaxContactName)
		case sms.KeyTag:
			told.Tags = raw
		default:
			if v := sms.TidyValue(raw, sms.MaxContactValue); v != "" {
				told.Fields[key] = v
			}
		}
	}
	if len(sms.ReadTags(told.Tags)) > sms.MaxContactTags {
		return m, sms.RowText, c.list.Order.Fields[sms.KeyTag], fmt.Sprintf("A contact can have up to %d tags. Enter fewer",
			sms.MaxContactTags)
	}
	text, err := json.Marshal(told)
	if err != nil {
		return m, sms.RowUnreadable, -1, "This row cannot be read"
	}
	return message{text: string(text)}, "", -1, ""
}

// makeContacts puts the checked rows among the contacts. Each step is one
// transaction of its own, so that nothing waits for a long list; what a crash
// interrupts is begun anew, and adds nobody twice.
func (im *Importer) makeContacts(ctx context.Context, l sms.List) error {
	columns := contactColumns(l)
	var added, changed, done int64
	said := im.lists.now()
	some := make([]sms.Contact, 0, messagesPerTx)
	store := func() error {
		a, c, err := im.store.MergeContacts(ctx, l.AccountID, some, columns, 0, im.lists.ms())
		if err != nil {
			return err
		}
		added, changed, done, some = added+a, changed+c, done+int64(len(some)), some[:0]
		if now := im.lists.now(); now.Sub(said) >= progressInterval {
			said = now
			return im.progress(ctx, l, done, l.Tally.Good)
		}
		return ctx.Err()
	}
	for r, err := range im.store.StagedRows(ctx, l.UID, l.Sum) {
		if errors.Is(err, sms.ErrConflict) || errors.Is(err, sms.ErrNotFound) {
			im.lists.log.Warn("the staged rows of a list are damaged: it is checked again", "list", l.UID, "error", err)
			_, err = im.change(ctx, l, func(now *sms.List) { now.State, now.Done = sms.ListChecking, 0 })
			return err
		}
		if err != nil {
			return err
		}
		if r.Kind != "" {
			continue
		}
		c, err := contactOf(l, r)
		if err != nil {
			return err
		}
		if some = append(some, c); len(some) == cap(some) {
			if err := store(); err != nil {
				return err
			}
		}
	}
	if err := store(); err != nil {
		return err
	}
	if _, err := im.change(ctx, l, func(now *sms.List) {
		now.State, now.Done, now.Tally.Added, now.Tally.Changed = sms.ListMade, now.Total, added, changed
	}); err != nil {
		return err
	}
	im.lists.audit(ctx, sms.User{ID: l.CreatedBy, Name: l.CreatedName}, "contacts.import", feed.Account(l.AccountID),
		fmt.Sprintf("%s: %d people added, %d changed", l.FileName, added, changed))
	im.lists.feed.Publish(feed.Contacts(l.AccountID), feed.AllContacts)
	return nil
}

func contactOf(l sms.List, r sms.ListRow) (sms.Contact, error) {
	var told stagedContact
	if err := json.Unmarshal([]byte(r.Text), &told); err != nil {
		return sms.Contact{}, fmt.Errorf("read a staged contact: %w", err)
	}
	return sms.Contact{AccountID: l.AccountID, Number: r.MSISDN(), Name: told.Name, Fields: told.Fields,
		Source: l.FileName, ByID: l.CreatedBy, ByName: l.CreatedName,
		Tags: sms.MergeTags(sms.ReadTags(told.Tags), sms.ReadTags(l.Order.Fixed[sms.KeyTag]))}, nil
}

// contactColumns are the columns that a list fills, by their place in the file.
func contactColumns(l sms.List) []sms.ContactColumn {
	var list []sms.ContactColumn
	for i, name := range l.Reading.Columns {
		for key, at := range l.Order.Fields {
			if at == i && !sms.Reserved(key) {
				list = append(list, sms.ContactColumn{Key: key, Name: sms.TidyValue(strings.TrimSpace(name), sms.MaxContactTag)})
			}
		}
	}
	return list
}

// packInterval is how long changed contacts wait to be packed at most.
const packInterval = time.Minute

// packContacts packs what changed of the contacts, so that filters stay quick.
func (im *Importer) packContacts(ctx context.Context) {
	news := im.lists.feed.Subscribe(feed.AllContacts)
	defer news.Close()
	for {
		news.Take()
		for more := true; more && ctx.Err() == nil; {
			var err error
			more, err = im.store.PackContacts(ctx)
			im.logError(ctx, "contacts not packed", err)
			more = more && err == nil
		}
		if !feed.Pause(ctx, packInterval, news.C()) {
			return
		}
	}
}
