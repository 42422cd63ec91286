package lists

import (
	"context"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"smsdesk/internal/feed"
	"smsdesk/internal/phone"
	"smsdesk/internal/sheet"
	"smsdesk/internal/sms"
)

// A row whose cell has several numbers can be made several rows: it keeps the
// first number, and each other one gets a row behind all others with the same
// other cells. That is a correction of both, and the file stays as it is.

// MaxSplit is the most rows of which others are made by one order.
const MaxSplit = 10_000

// SeveralNumbers are the numbers of a cell that has more than one, nil for any
// other.
func SeveralNumbers(a sms.Account, cell string) []string {
	return phone.Several(cell, a.Country, a.Abroad)
}

// Split makes a row of its own for each number of the rows that have several, and
// has all rows checked again. Without rows it takes the first MaxSplit there are.
// Rows that have one number are left as they are. The field of its Invalid is
// rows.
func (d *Corrections) Split(ctx context.Context, by sms.User, uid string, rows []int64) (sms.List, error) {
	return d.order(by, "make several rows", func() (sms.List, error) {
		e, err := d.mendable(ctx, by, uid)
		if err != nil {
			return e.list, err
		}
		notes, err := e.several(ctx, rows)
		if err != nil {
			return e.list, err
		}
		next := e.lastRow()
		for _, n := range notes {
			cell := n.Cells[e.list.Order.Phone]
			for i, number := range SeveralNumbers(e.account, cell) {
				if i == 0 {
					e.keep(by, n.Row, e.list.Order.Phone, cell, number)
					continue
				}
				next++
				e.cells = append(e.cells, sms.Correction{Row: next, From: n.Row, Column: e.list.Order.Phone, Given: cell,
					Corrected: number, By: by.ID, ByName: by.Name})
			}
		}
		if next > sheet.MaxRows {
			return e.list, sms.Invalid{"rows": "A list can have up to 1,000,000 rows, and these would be more"}
		}
		return e.checkAgain(ctx, by, "list.split", humanize.Comma(int64(len(notes)))+" rows of "+e.list.FileName)
	})
}

// Unsplit takes the rows out again that Split made of rows, and puts back what
// the cells had. Without rows it takes all of them.
func (d *Corrections) Unsplit(ctx context.Context, by sms.User, uid string, rows []int64) (sms.List, error) {
	return d.order(by, "take back rows", func() (sms.List, error) {
		e, err := d.mendable(ctx, by, uid)
		if err != nil {
			return e.list, err
		}
		for _, m := range e.made() {
			if len(rows) == 0 || slices.Contains(rows, m.From) {
				e.unmake(by, m)
			}
		}
		return e.checkAgain(ctx, by, "list.unsplit", e.list.FileName)
	})
}

// mendable is a checked list of the person's own.
func (d *Corrections) mendable(ctx context.Context, by sms.User, uid string) (*edit, error) {
	l, err := d.lists.ownList(ctx, by, uid)
	if err == nil && l.State != sms.ListChecked {
		err = fmt.Errorf("correct list: %w: the list is %s", sms.ErrConflict, l.State)
	}
	if err != nil {
		return &edit{list: l}, err
	}
	e, err := d.edit(ctx, l)
	if err != nil {
		return &edit{list: l}, err
	}
	return e, nil
}

// several are the notes on those of the rows that have several numbers, with all
// their cells; without rows, on the first of the list.
func (e *edit) several(ctx context.Context, rows []int64) (all []sms.RowNote, err error) {
	take := func(n sms.RowNote) {
		if severalIn(e.account, e.list.Order.Phone, n) && len(all) < MaxSplit {
			all = append(all, n)
		}
	}
	for _, row := range rows {
		notes, err := e.d.store.StagedNotes(ctx, e.list.UID, row)
		if err != nil {
			return nil, err
		}
		for _, n := range notes {
			take(n)
		}
	}
	f := sms.RowFilter{Kinds: []sms.RowKind{sms.RowNumber}, Limit: notesPerBatch}
	for more := len(rows) == 0; more && len(all) < MaxSplit; {
		var notes []sms.RowNote
		if notes, more, err = e.d.lists.store.ListNotes(ctx, e.list.UID, f); err != nil {
			return nil, err
		}
		for _, n := range notes {
			take(n)
			f.After = n.Row
		}
	}
	return all, nil
}

// severalIn says that a note is about a row with several numbers.
func severalIn(a sms.Account, column int, n sms.RowNote) bool {
	return n.Kind == sms.RowNumber && column >= 0 && column < len(n.Cells) && SeveralNumbers(a, n.Cells[column]) != nil
}

// made are the rows that were made of others, in their order.
func (e *edit) made() (all []sms.Correction) {
	for _, fixes := range e.fixed {
		all = append(all, madeRows(fixes)...)
	}
	slices.SortFunc(all, func(a, b sms.Correction) int { return int(a.Row - b.Row) })
	return all
}

// madeRows are those of some corrections that made a row.
func madeRows(fixes []sms.Correction) (made []sms.Correction) {
	for _, c := range fixes {
		if c.From != 0 {
			made = append(made, c)
		}
	}
	return made
}

// lastRow is the number of the list's last row.
func (e *edit) lastRow() (last int64) {
	for _, m := range e.made() {
		last = m.Row
	}
	if cells := e.list.Tally.Map; len(cells) > 0 {
		last = max(last, cells[len(cells)-1].Last)
	}
	return last
}

// keep takes in what stands in a cell of a row, where nothing is looked at. given
// is what the file has, unless the cell was corrected before.
func (e *edit) keep(by sms.User, row int64, column int, given, value string) {
	fix := sms.Correction{Row: row, Column: column, Given: given, Corrected: value, By: by.ID, ByName: by.Name}
	for _, was := range e.fixed[row] {
		if was.Column == column {
			fix.Given, fix.From = was.Given, was.From
		}
	}
	e.cells = append(e.cells, fix)
}

// unmake takes a row out again that was made of another one, and those that were
// made of it. The other gets back what stood in its cell.
func (e *edit) unmake(by sms.User, m sms.Correction) {
	if slices.Contains(e.gone, m.Row) {
		return
	}
	e.gone = append(e.gone, m.Row)
	for _, of := range e.made() {
		if of.From == m.Row {
			e.unmake(by, of)
		}
	}
	e.keep(by, m.From, m.Column, m.Given, m.Given)
}

// checkAgain stores what was taken in, and has all rows checked.
func (e *edit) checkAgain(ctx context.Context, by sms.User, what, detail string) (sms.List, error) {
	cells := slices.DeleteFunc(slices.Clone(e.cells), func(c sms.Correction) bool { return slices.Contains(e.gone, c.Row) })
	if len(cells) == 0 && len(e.gone) == 0 {
		return e.list, nil
	}
	after, err := e.d.store.CorrectAgain(ctx, e.list, cells, e.gone, e.d.lists.ms())
	if err != nil {
		return e.list, err
	}
	e.d.lists.audit(ctx, by, what, feed.List(e.list.UID), detail)
	e.d.lists.feed.Publish(feed.List(e.list.UID), feed.Lists)
	return after, nil
}
