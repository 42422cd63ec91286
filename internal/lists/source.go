package lists

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"smsdesk/internal/feed"
	"smsdesk/internal/phone"
	"smsdesk/internal/sheet"
	"smsdesk/internal/sms"
)

// A list is a file and who was added to it: audiences as they were then, and
// numbers that were typed. Their rows follow the last one of the file, with the
// next numbers, and are checked, corrected and sent like its own.

const (
	// maxTypedNumbers is the most numbers that are typed, as for a message without
	// a list.
	maxTypedNumbers = 1000
	// maxSources is the most audiences of one list.
	maxSources = 20
)

// AddAudience adds an audience's people, as they are now, to a list of the
// person's own. Twice is once. The field of its Invalid is audience.
func (d *Lists) AddAudience(ctx context.Context, by sms.User, uid string, id int64) (sms.List, error) {
	l, err := d.sourceList(ctx, by, uid)
	if err != nil {
		return l, err
	}
	added := l.Reading.Added
	if l.Reading.Audience == id || slices.ContainsFunc(added, func(s sms.ListSource) bool { return s.Audience == id }) {
		return l, nil
	}
	if len(added) >= maxSources {
		return l, sms.Invalid{"audience": "A message can go to up to 20 audiences. Make one of several"}
	}
	a, people, err := d.audience(ctx, l.AccountID, id)
	if err != nil {
		return l, err
	}
	if l.Total+people > sheet.MaxRows {
		return l, sms.Invalid{"audience": "A list can have up to 1,000,000 rows. Send to this audience in a message of its own"}
	}
	if err := d.roomFor(0); err != nil {
		return l, err
	}
	from, err := d.audienceFile(ctx, a)
	if err != nil {
		return l, err
	}
	defer func() { _ = from.Close() }()
	s := sms.ListSource{Audience: a.ID, Name: a.Name, File: "added-" + newUID(), Rows: people}
	if err := d.corrected.KeepAddition(uid, s.File, from, sms.MaxListBytes); err != nil {
		return l, err
	}
	d.audit(ctx, by, "list.add", feed.List(uid), fmt.Sprintf("%s, %s rows", a.Name, humanize.Comma(people)))
	return d.changeSources(ctx, l, append(slices.Clone(added), s))
}

// SetNumbers says which numbers were typed beside a list of the person's own, ""
// for none. What was typed before is gone. The field of its Invalid is numbers.
func (d *Lists) SetNumbers(ctx context.Context, by sms.User, uid, typed string) (sms.List, error) {
	l, err := d.sourceList(ctx, by, uid)
	if err != nil {
		return l, err
	}
	account, err := d.store.Account(ctx, l.AccountID)
	if err != nil {
		return l, err
	}
	typed = strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(typed, "\r\n", "\n"), "�"))
	n := len(phone.Entries(typed, account.Country, account.Abroad))
	if n > maxTypedNumbers {
		return l, sms.Invalid{"numbers": fmt.Sprintf(
			"You can enter up to 1,000 numbers. You entered %d. Put them into the file instead", n)}
	}
	added := slices.DeleteFunc(slices.Clone(l.Reading.Added), func(s sms.ListSource) bool { return s.Audience == 0 })
	if n > 0 {
		added = append(added, sms.ListSource{Typed: typed, Rows: int64(n)})
	}
	if slices.Equal(added, l.Reading.Added) {
		return l, nil
	}
	return d.changeSources(ctx, l, added)
}

// RemoveAudience takes an audience that was added out of a list again.
func (d *Lists) RemoveAudience(ctx context.Context, by sms.User, uid string, id int64) (sms.List, error) {
	l, err := d.sourceList(ctx, by, uid)
	if err != nil {
		return l, err
	}
	added := slices.DeleteFunc(slices.Clone(l.Reading.Added), func(s sms.ListSource) bool { return s.Audience == id })
	if len(added) == len(l.Reading.Added) {
		return l, nil
	}
	return d.changeSources(ctx, l, added)
}

// TakeSources adds to a list the audiences that another one of the same person
// goes to, and the numbers that were typed for it. That one stays as it is.
func (d *Lists) TakeSources(ctx context.Context, by sms.User, uid, from string) (sms.List, error) {
	l, err := d.sourceList(ctx, by, uid)
	if err != nil {
		return l, err
	}
	other, err := d.ownList(ctx, by, from)
	if err != nil || other.AccountID != l.AccountID {
		return l, err
	}
	for _, id := range audiencesOf(other) {
		if l, err = d.AddAudience(ctx, by, uid, id); err != nil {
			return l, err
		}
	}
	if typed := Typed(other); typed != "" {
		return d.SetNumbers(ctx, by, uid, typed)
	}
	return l, nil
}

// Typed is the numbers that were typed beside a list's file.
func Typed(l sms.List) string {
	for _, s := range l.Reading.Added {
		if s.Typed != "" {
			return s.Typed
		}
	}
	return ""
}

// audiencesOf are the audiences that a list goes to.
func audiencesOf(l sms.List) (ids []int64) {
	if l.Reading.Audience != 0 {
		ids = append(ids, l.Reading.Audience)
	}
	for _, s := range l.Reading.Added {
		if s.Audience != 0 {
			ids = append(ids, s.Audience)
		}
	}
	return ids
}

// WithoutFile makes a list of the audiences that were added to another one, which
// stays as it is. It is sms.ErrNotFound where there are none. The token makes it
// one.
func (d *Lists) WithoutFile(ctx context.Context, by sms.User, uid, token string) (sms.List, error) {
	l, err := d.sourceList(ctx, by, uid)
	if err != nil {
		return l, err
	}
	var rest []int64
	for _, s := range l.Reading.Added {
		if s.Audience != 0 {
			rest = append(rest, s.Audience)
		}
	}
	if len(rest) == 0 {
		return l, fmt.Errorf("list without its file: %w", sms.ErrNotFound)
	}
	made, err := d.ListAudience(ctx, by, l.AccountID, rest[0], token)
	for _, id := range rest[1:] {
		if err != nil {
			return l, err
		}
		made, err = d.AddAudience(ctx, by, made.UID, id)
	}
	return made, err
}

// sourceList is a list whose recipients can still be changed.
func (d *Lists) sourceList(ctx context.Context, by sms.User, uid string) (sms.List, error) {
	if err := by.May(sms.Sender, "change who gets a list"); err != nil {
		return sms.List{}, err
	}
	l, err := d.ownList(ctx, by, uid)
	if err == nil && (!editable(l.State) || l.Purpose == sms.ForContacts) {
		err = fmt.Errorf("change who gets a list: %w: the list is %s", sms.ErrConflict, l.State)
	}
	return l, err
}

// changeSources stores who was added: the audiences, and behind them the numbers.
func (d *Lists) changeSources(ctx context.Context, l sms.List, added []sms.ListSource) (sms.List, error) {
	slices.SortStableFunc(added, func(a, b sms.ListSource) int {
		switch {
		case (a.Audience == 0) == (b.Audience == 0):
			return 0
		case a.Audience == 0:
			return 1
		}
		return -1
	})
	if len(added) == 0 {
		added = nil
	}
	return d.changeList(ctx, l, func(now *sms.List) error {
		if now.Version != l.Version || !editable(now.State) {
			return sms.ErrConflict
		}
		rows := max(now.Total-now.Reading.AddedRows(), 0)
		now.Reading.Added = added
		notChecked(now, rows)
		return nil
	})
}

// addedReader reads the rows that were added to a list, laid out in its columns.
type addedReader struct {
	list    sms.List
	country string
	abroad  bool
	store   Corrected
	begun   bool

	at    int // of the source that is read
	file  sms.File
	rows  *csv.Reader
	place []int // by column of the file: where it goes, -1 for nowhere
	typed []string
}

// next is the next row, which gets this number; io.EOF behind the last.
func (a *addedReader) next(number int) (sheet.Row, error) {
	for {
		cells, err := a.cells()
		if err == nil {
			if number > sheet.MaxRows {
				err = sms.Invalid{"file": "The list has more than 1,000,000 rows with what was added to it. Take an audience out again"}
			}
			return sheet.Row{Number: number, Cells: cells}, err
		}
		if err == io.EOF {
			err = a.open()
		}
		if err == io.EOF {
			return sheet.Row{}, err
		}
		if err != nil {
			return sheet.Row{}, fmt.Errorf("read what was added to a list: %w", err)
		}
	}
}

// cells are those of the next row of the source that is read.
func (a *addedReader) cells() ([]string, error) {
	if len(a.typed) > 0 {
		cells := a.blank()
		cells[a.list.Order.Phone], a.typed = a.typed[0], a.typed[1:]
		return cells, nil
	}
	if a.rows == nil {
		return nil, io.EOF
	}
	row, err := a.rows.Read()
	if err != nil {
		return nil, err
	}
	cells := a.blank()
	for i, value := range row {
		if to := a.place[i]; to >= 0 {
			cells[to] = value
		}
	}
	return cells, nil
}

func (a *addedReader) blank() []string {
	return make([]string, max(len(a.list.Reading.Columns), a.list.Order.Phone+1))
}

// open goes on to the next source; io.EOF behind the last.
func (a *addedReader) open() error {
	if err := a.close(); err != nil {
		return err
	}
	// Without a column for numbers nobody of them can be reached.
	if a.at >= len(a.list.Reading.Added) || a.list.Order.Phone < 0 {
		return io.EOF
	}
	s := a.list.Reading.Added[a.at]
	a.at++
	if s.Audience == 0 {
		a.typed = phone.Entries(s.Typed, a.country, a.abroad)
		return nil
	}
	file, err := a.store.Addition(a.list.UID, s.File)
	if errors.Is(err, sms.ErrNotFound) {
		return sms.Invalid{"file": fmt.Sprintf("The audience %q is not in this backup. Remove it and add it again", s.Name)}
	}
	if err != nil {
		return err
	}
	a.file, a.rows = file, csv.NewReader(io.NewSectionReader(file, 0, sms.MaxListBytes))
	head, err := a.rows.Read()
	a.place = placesOf(head, a.list)
	return err
}

// placesOf says where the columns of an audience go in a list: the number into
// that of the numbers, the others where the list has one of that name.
func placesOf(head []string, l sms.List) []int {
	place := make([]int, len(head))
	for i, name := range head {
		place[i] = -1
		for at, column := range l.Reading.Columns {
			if at != l.Order.Phone && sms.PlaceholderKey(column) == sms.PlaceholderKey(name) {
				place[i] = at
				break
			}
		}
	}
	if len(place) > 0 {
		place[0] = l.Order.Phone
	}
	return place
}

func (a *addedReader) close() error {
	if a.file == nil {
		return nil
	}
	err := a.file.Close()
	a.file, a.rows = nil, nil
	return err
}
