package lists

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/dustin/go-humanize"

	"smsdesk/internal/feed"
	"smsdesk/internal/sheet"
	"smsdesk/internal/sms"
)

// MakeOrder says what a person decided about a checked list.
type MakeOrder struct {
	LeaveOut bool // the bad rows
}

func (d *Lists) ownList(ctx context.Context, by sms.User, uid string) (sms.List, error) {
	l, err := d.store.List(ctx, uid)
	if err == nil && l.CreatedBy != by.ID {
		return sms.List{}, fmt.Errorf("list of somebody else: %w", sms.ErrNotFound)
	}
	return l, err
}

// ReadList reads a list in another way. The fields of its Invalid are file,
// encoding, delimiter, header and sheet. What was chosen about columns is
// proposed anew.
func (d *Lists) ReadList(ctx context.Context, by sms.User, uid string, r sms.ListReading) (sms.List, error) {
	if err := by.May(sms.Sender, "read list"); err != nil {
		return sms.List{}, err
	}
	l, err := d.ownList(ctx, by, uid)
	if err != nil {
		return l, err
	}
	account, err := d.store.Account(ctx, l.AccountID)
	if err != nil {
		return l, err
	}
	profile, rows, err := d.detectFile(ctx, account, l, r, countTimeout)
	if err != nil {
		return l, err
	}
	fresh := l
	fresh.Reading, fresh.HeaderKey = readingOf(profile), headerKey(l, profile)
	fresh.Reading.Added, fresh.Reading.Audience = l.Reading.Added, l.Reading.Audience
	if fresh.Order, err = d.proposed(ctx, account, fresh, profile); err != nil {
		return l, err
	}
	fresh.Order = carryOver(l, fresh)
	return d.changeList(ctx, l, func(now *sms.List) error {
		if now.Version != l.Version || !editable(now.State) {
			return sms.ErrConflict
		}
		now.Reading, now.HeaderKey, now.Order = fresh.Reading, fresh.HeaderKey, fresh.Order
		notChecked(now, rows)
		return nil
	})
}

// notChecked takes a list back to where it was before its rows were checked.
// rows is how many the file has, 0: not known.
func notChecked(l *sms.List, rows int64) {
	if l.Total = rows; rows > 0 {
		l.Total += l.Reading.AddedRows()
	}
	l.State, l.Problem, l.Tally, l.Sum, l.Done, l.Again = sms.ListUploaded, "", sms.ListTally{}, 0, 0, false
}

func editable(s sms.ListState) bool {
	return s == sms.ListUploaded || s == sms.ListChecked || s == sms.ListFailed
}

func (d *Lists) changeList(ctx context.Context, l sms.List, change func(*sms.List) error) (sms.List, error) {
	after, err := d.store.UpdateList(ctx, l.UID, d.ms(), change)
	if err != nil {
		return l, err
	}
	d.feed.Publish(feed.List(l.UID), feed.Lists)
	return after, nil
}

// ProposeOrder is what was last chosen for lists with these column names, else
// a guess.
func (d *Lists) ProposeOrder(ctx context.Context, l sms.List, p sheet.Profile) (sms.ListOrder, error) {
	account, err := d.store.Account(ctx, l.AccountID)
	if err != nil {
		return sms.ListOrder{}, err
	}
	return d.proposed(ctx, account, l, p)
}

func (d *Lists) proposed(ctx context.Context, account sms.Account, l sms.List, p sheet.Profile) (sms.ListOrder, error) {
	guess := sheet.Guess(p.Header, p.Sample, account.Country)
	o := sms.ListOrder{Name: nameFromFile(l.FileName), SenderID: account.DefaultSender, Phone: guess.Phone,
		Message: guess.Message,
		Fields:  map[string]int{}, Fixed: map[string]string{}}
	switch l.Purpose {
	case sms.ForContacts:
		o.Message, o.Fields = -1, contactFields(p.Columns, guess.Phone)
	case sms.ForAudience:
		o.Name, o.Message = l.FileName, -1
		// Written here, with the number first, whatever else looks like one.
		o.Phone = 0
	}
	if l.HeaderKey == "" {
		return o, nil
	}
	known, err := d.store.ListMapping(ctx, account.ID, l.HeaderKey)
	if errors.Is(err, sms.ErrNotFound) {
		return o, nil
	}
	if err != nil {
		return o, err
	}
	known.Name, known.Text, known.Template = o.Name, "", ""
	return known, nil
}

// carryOver is the order of an earlier list for a new one: columns are found
// again by their names.
func carryOver(old, fresh sms.List) sms.ListOrder {
	o := old.Order
	place := func(column int) int {
		if column < 0 || column >= len(old.Reading.Columns) {
			return -1
		}
		for i, name := range fresh.Reading.Columns {
			if sms.PlaceholderKey(name) == sms.PlaceholderKey(old.Reading.Columns[column]) {
				return i
			}
		}
		return -1
	}
	if o.Phone = place(o.Phone); o.Phone < 0 {
		o.Phone = fresh.Order.Phone
	}
	if o.Message >= 0 || o.Text == "" {
		if o.Message = place(o.Message); o.Message < 0 {
			o.Message = fresh.Order.Message
		}
	}
	o.Fields = map[string]int{}
	for key, column := range old.Order.Fields {
		if at := place(column); at >= 0 {
			o.Fields[key] = at
		}
	}
	o.Name = fresh.Order.Name
	return o
}

// CheckList stores what is to be made of a list, remembers it for lists with
// the same column names, and has the rows checked. The fields of its Invalid
// are sender_id, text, name, phone, message and "field:" with the key of a
// mark. A second press is given the list as it is.
func (d *Lists) CheckList(ctx context.Context, by sms.User, uid string, version int64,
	o sms.ListOrder) (sms.List, error) {
	if err := by.May(sms.Sender, "check list"); err != nil {
		return sms.List{}, err
	}
	l, err := d.ownList(ctx, by, uid)
	if err != nil {
		return l, err
	}
	account, err := d.store.Account(ctx, l.AccountID)
	if err != nil {
		return l, err
	}
	o = tidyOrder(o, l)
	if err := d.orderProblems(ctx, account, l, o); err != nil {
		return l, err
	}
	if l.Version != version {
		return pressedAgain(l, sameOrder(l.Order, o))
	}
	l, err = d.changeList(ctx, l, func(now *sms.List) error {
		if now.Version != version || !editable(now.State) {
			return sms.ErrConflict
		}
		now.Order, now.State, now.Problem = o, sms.ListChecking, ""
		now.Tally, now.Sum, now.Done, now.Again = sms.ListTally{}, 0, 0, false
		return nil
	})
	if errors.Is(err, sms.ErrConflict) {
		if l, err = d.ownList(ctx, by, uid); err == nil {
			return pressedAgain(l, sameOrder(l.Order, o))
		}
	}
	if err != nil || l.HeaderKey == "" {
		return l, err
	}
	return l, d.rememberOrder(ctx, l)
}

func (d *Lists) orderProblems(ctx context.Context, account sms.Account, l sms.List, o sms.ListOrder) error {
	if l.Purpose == sms.ForContacts {
		columns, err := d.store.ContactColumns(ctx, account.ID)
		return errors.Join(err, checkContactOrder(l, o, columns))
	}
	bad := checkOrder(account, l, o)
	if d.stops == nil && slices.ContainsFunc(sms.Placeholders(o.Text), sms.IsStopMark) {
		bad["text"] = "Opt-out links need a public URL. Ask an administrator to set one, or remove ##" + sms.StopMark +
			"## from the message"
	}
	if sentence, err := d.checks.SenderProblem(ctx, l.AccountID, o.SenderID); err != nil {
		return err
	} else if sentence != "" {
		bad["sender_id"] = sentence
	}
	return bad.Or()
}

// pressedAgain gives whoever pressed a button twice what the first press did.
func pressedAgain(l sms.List, same bool) (sms.List, error) {
	if same && !editable(l.State) || same && l.State == sms.ListChecked {
		return l, nil
	}
	return l, fmt.Errorf("list %s: %w", l.UID, sms.ErrConflict)
}

// rememberOrder keeps what is known of the columns, also of marks that this
// text does not use.
func (d *Lists) rememberOrder(ctx context.Context, l sms.List) error {
	o := l.Order
	known, err := d.store.ListMapping(ctx, l.AccountID, l.HeaderKey)
	if err != nil && !errors.Is(err, sms.ErrNotFound) {
		return err
	}
	fields := map[string]int{}
	for _, from := range []map[string]int{known.Fields, o.Fields} {
		maps.Copy(fields, from)
	}
	for k := range o.Fixed {
		if l.Purpose != sms.ForContacts {
			delete(fields, k)
		}
	}
	o.Fields, o.Name, o.Text, o.Template, o.Flash, o.OnlyNew = fields, "", "", "", false, false
	// What one list lacked says nothing of the next with the same columns.
	o.Empty, o.FirstOnly = nil, false
	return d.store.PutListMapping(ctx, l.AccountID, l.HeaderKey, o, d.ms())
}

// MakeCampaign has a campaign made of a checked list. Its Invalid has rows
// where bad rows are not to be left out. Whether those are sent to who got
// nearly the same text may stay open: it is asked before the campaign starts. A
// second press is given the list as it is, and makes no second campaign.
func (d *Lists) MakeCampaign(ctx context.Context, by sms.User, uid string, version int64,
	m MakeOrder) (sms.List, error) {
	if err := by.May(sms.Sender, "make campaign"); err != nil {
		return sms.List{}, err
	}
	l, err := d.ownList(ctx, by, uid)
	if err != nil {
		return l, err
	}
	if l.State == sms.ListMaking || l.State == sms.ListMade {
		return l, nil
	}
	if l.State != sms.ListChecked {
		return l, fmt.Errorf("make campaign: %w: the list is %s", sms.ErrConflict, l.State)
	}
	if err := mayMake(l.Tally, m); err != nil {
		return l, err
	}
	after, err := d.changeList(ctx, l, func(now *sms.List) error {
		if now.Version != version || now.State != sms.ListChecked {
			return sms.ErrConflict
		}
		now.State, now.Done, now.Total = sms.ListMaking, 0, l.Tally.Rows
		return nil
	})
	if errors.Is(err, sms.ErrConflict) {
		if l, err = d.ownList(ctx, by, uid); err == nil && (l.State == sms.ListMaking || l.State == sms.ListMade) {
			return l, nil
		}
		return l, errors.Join(err, fmt.Errorf("make campaign: %w", sms.ErrConflict))
	}
	return after, err
}

func mayMake(t sms.ListTally, m MakeOrder) error {
	bad := sms.Invalid{}
	switch n := t.Bad(); {
	case t.Good == 0 && t.Kinds[sms.RowAlready] > 0:
		bad["rows"] = "All recipients got nearly this text already. Include them to send it to them again"
	case t.Good == 0:
		bad["rows"] = "None of the rows can be sent. Correct them and upload the list again"
	case n == 1 && !m.LeaveOut:
		bad["rows"] = "1 row has an error. Fix it and upload the list again, or leave it out"
	case n > 1 && !m.LeaveOut:
		bad["rows"] = humanize.Comma(n) + " rows have errors. Fix them and upload the list again, or leave them out"
	}
	return bad.Or()
}

// DropList forgets a list with its file, unless a campaign was made of it.
func (d *Lists) DropList(ctx context.Context, by sms.User, uid string) error {
	if err := by.May(sms.Sender, "drop list"); err != nil {
		return err
	}
	l, err := d.ownList(ctx, by, uid)
	if err != nil {
		return err
	}
	if l.State == sms.ListMade {
		return fmt.Errorf("drop list: %w: a campaign was made of it", sms.ErrConflict)
	}
	if err := d.store.DeleteList(ctx, l); err != nil {
		return err
	}
	d.feed.Publish(feed.List(uid), feed.Lists)
	return d.store.DropUpload(uid)
}
