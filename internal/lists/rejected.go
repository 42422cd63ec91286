package lists

import (
	"context"
	"fmt"
	"io"
	"iter"

	"smsdesk/internal/sheet"
	"smsdesk/internal/sms"
)

// Rejected are the bad rows of a checked list as they stand in the file, for a
// download.
type Rejected struct {
	layout sheet.Layout
	rows   iter.Seq2[sheet.Rejected, error]
}

// Write writes the rows as CSV, or as XLSX. The file is read again meanwhile.
func (r Rejected) Write(w io.Writer, xlsx bool) error {
	if xlsx {
		return sheet.WriteXLSX(w, r.layout, r.rows)
	}
	return sheet.WriteCSV(w, r.layout, r.rows)
}

// RejectedRows gives the bad rows of a list that is checked.
func (d *Lists) RejectedRows(ctx context.Context, by sms.User, uid string) (Rejected, error) {
	if err := by.May(sms.Sender, "list rejected rows"); err != nil {
		return Rejected{}, err
	}
	l, err := d.ownList(ctx, by, uid)
	if err != nil {
		return Rejected{}, err
	}
	if l.State != sms.ListChecked && l.State != sms.ListMaking && l.State != sms.ListMade {
		return Rejected{}, fmt.Errorf("list rejected rows: %w: the list is %s", sms.ErrConflict, l.State)
	}
	account, err := d.store.Account(ctx, l.AccountID)
	if err != nil {
		return Rejected{}, err
	}
	_, profile, err := d.ListProfile(ctx, by, uid)
	if err != nil {
		return Rejected{}, err
	}
	layout := sheet.Layout{Header: profile.Header, Columns: l.Tally.Columns}
	return Rejected{layout, func(yield func(sheet.Rejected, error) bool) {
		reader, err := d.openList(ctx, account, l, l.Reading)
		if err != nil {
			yield(sheet.Rejected{}, err)
			return
		}
		defer func() { _ = reader.Close() }()
		var row sheet.Row
		for n, err := range d.badRows(ctx, uid) {
			for err == nil && row.Number < int(n.Row) {
				if row, err = reader.Next(); err == io.EOF {
					row, err = sheet.Row{Number: int(n.Row) + 1}, nil
				}
			}
			bad := sheet.Rejected{Row: row, Fix: n.Text}
			if err == nil && row.Number > int(n.Row) {
				// Names that are said again were rows when an earlier smsdesk
				// checked the list.
				bad.Row = sheet.Row{Number: int(n.Row), Cells: n.Cells}
			}
			if !yield(bad, err) || err != nil {
				return
			}
		}
	}}, nil
}

const notesPerBatch = 1000

func (d *Lists) badRows(ctx context.Context, uid string) iter.Seq2[sms.RowNote, error] {
	return func(yield func(sms.RowNote, error) bool) {
		f := sms.RowFilter{Limit: notesPerBatch}
		for {
			notes, more, err := d.store.ListNotes(ctx, uid, f)
			if err != nil {
				yield(sms.RowNote{}, err)
				return
			}
			for _, n := range notes {
				if !yield(n, nil) {
					return
				}
				f.After = n.Row
			}
			if !more {
				return
			}
		}
	}
}
