package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// Corrections lists the cells of a list that a person corrected, in the order of
// rows and columns.
func (db listStore) Corrections(ctx context.Context, list int64) ([]sms.Correction, error) {
	rows, err := db.read().ListCorrections(ctx, list)
	if err != nil {
		return nil, fmt.Errorf("list corrections: %w", err)
	}
	all := make([]sms.Correction, len(rows))
	for i, r := range rows {
		all[i] = sms.Correction{Row: r.RowNo, From: r.FromRow, Column: int(r.Col), Given: r.Given, Corrected: r.Corrected,
			By: r.UserID, ByName: r.UserName, At: r.CorrectedAt}
	}
	return all, nil
}

// StagedNotes is what the check said of one row, one note a kind.
func (db listStore) StagedNotes(ctx context.Context, uid string, row int64) (notes []sms.RowNote, err error) {
	file, err := db.staging(uid)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	for _, k := range kinds {
		some, err := notesOf(ctx, file, k, sms.RowFilter{After: row - 1, Upto: row, Limit: 1})
		if err != nil {
			return nil, fmt.Errorf("read the notes of a row: %w", err)
		}
		notes = append(notes, some...)
	}
	return notes, nil
}

// StagedRow is a row of a checked list; sms.ErrNotFound where there is none.
func (db listStore) StagedRow(ctx context.Context, uid string, row int64) (sms.ListRow, error) {
	list, err := db.stagedOf(ctx, uid, "row_no", row, 1)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("row %d: %w", row, sms.ErrNotFound)
	}
	if err != nil {
		return sms.ListRow{}, err
	}
	return list[0], nil
}

// StagedWith lists the rows of a checked list that have a number, in the order
// of rows.
func (db listStore) StagedWith(ctx context.Context, uid string, number int64, limit int) ([]sms.ListRow, error) {
	return db.stagedOf(ctx, uid, "number", number, limit)
}

func (db listStore) stagedOf(ctx context.Context, uid, column string, is int64, limit int) ([]sms.ListRow, error) {
	file, err := db.staging(uid)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return stagedWhere(ctx, file, column, is, limit)
}

func stagedWhere(ctx context.Context, from querier, column string, is int64, limit int) (list []sms.ListRow,
	err error) {
	rows, err := from.QueryContext(ctx, "select row_no, number, text, verdict from row where "+column+
		" = ? order by row_no limit ?", is, limit)
	err = forEachRow(rows, err, func(scan func(...any) error) error {
		var r sms.ListRow
		var v int64
		err := scan(&r.Row, &r.Number, &r.Text, &v)
		list = append(list, withVerdict(r, v))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read staged rows: %w", err)
	}
	return list, nil
}

// CorrectRows stores corrected cells of a checked list with the new verdicts on
// their rows. A correction with nothing changed takes an earlier one back. The
// file with the verdicts follows the database: should the process end between
// the two, its sum is another, and the list is checked again with what was
// corrected. It fails with sms.ErrConflict when the list was changed meanwhile.
func (db listStore) CorrectRows(ctx context.Context, l sms.List, tally sms.ListTally, cells []sms.Correction,
	rows []sms.RowVerdict, now int64) (after sms.List, err error) {
	file, err := openStaging(filepath.Join(db.ListFolder(l.UID), stagingName), correctStaging)
	if err != nil {
		return l, err
	}
	defer func() { _ = file.Close() }()
	edit, err := file.BeginTx(ctx, nil)
	if err != nil {
		return l, fmt.Errorf("correct rows: %w", troubled(err))
	}
	sum := rowSum{sum: uint64(l.Sum)}
	for _, v := range rows {
		if err := restage(ctx, edit, v, &sum); err != nil {
			return l, errors.Join(fmt.Errorf("correct rows: %w", troubled(err)), edit.Rollback())
		}
	}
	err = db.update(ctx, "correct a list", func(t *tx) error {
		after, err = t.updateList(ctx, l.UID, now, func(is *sms.List) error {
			if is.Version != l.Version || is.State != sms.ListChecked {
				return sms.ErrConflict
			}
			is.Tally, is.Sum = tally, sum.value()
			return nil
		})
		return errors.Join(err, putCorrections(ctx, t, l.ID, cells, now))
	})
	if err != nil {
		return l, errors.Join(err, edit.Rollback())
	}
	if err := edit.Commit(); err != nil {
		return l, fmt.Errorf("correct rows: %w", troubled(err))
	}
	return after, nil
}

// CorrectAgain stores corrected cells of a checked list as CorrectRows does, and
// has all its rows checked again. What was corrected in the rows of gone is
// forgotten, and with it those of them that were made of others.
func (db listStore) CorrectAgain(ctx context.Context, l sms.List, cells []sms.Correction, gone []int64,
	now int64) (after sms.List, err error) {
	err = db.update(ctx, "correct a list and check it again", func(t *tx) error {
		after, err = t.updateList(ctx, l.UID, now, func(is *sms.List) error {
			if is.Version != l.Version || is.State != sms.ListChecked {
				return sms.ErrConflict
			}
			is.State, is.Done, is.Sum, is.Again = sms.ListChecking, 0, 0, false
			return nil
		})
		for i := 0; i < len(gone) && err == nil; i++ {
			err = t.DeleteRowCorrections(ctx, l.ID, gone[i])
		}
		if err != nil {
			return err
		}
		return putCorrections(ctx, t, l.ID, cells, now)
	})
	if err != nil {
		return l, err
	}
	return after, nil
}

func putCorrections(ctx context.Context, t *tx, list int64, cells []sms.Correction, now int64) error {
	for _, c := range cells {
		var err error
		if c.Corrected == c.Given && c.From == 0 {
			err = t.DeleteCorrection(ctx, list, c.Row, int64(c.Column))
		} else {
			err = t.PutCorrection(ctx, query.PutCorrectionParams{ListID: list, RowNo: c.Row, Col: int64(c.Column),
				Given: c.Given, Corrected: c.Corrected, UserID: c.By, UserName: c.ByName, CorrectedAt: now, FromRow: c.From})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// restage puts a new verdict on a row in the place of the one before.
func restage(ctx context.Context, tx *sql.Tx, v sms.RowVerdict, sum *rowSum) error {
	before, err := stagedWhere(ctx, tx, "row_no", v.Row.Row, 1)
	if err != nil {
		return err
	}
	if len(before) != 1 {
		return fmt.Errorf("row %d: %w", v.Row.Row, sms.ErrNotFound)
	}
	sum.remove(staged(before[0]))
	is := staged(v.Row)
	sum.add(is)
	_, err = tx.ExecContext(ctx, "update row set number = ?, text = ?, verdict = ?, text_hash = ? where row_no = ?",
		is.number, is.text, is.verdict, textHash(is.text, ""), is.row)
	for i := 0; i < len(kinds) && err == nil; i++ {
		_, err = tx.ExecContext(ctx, "delete from note where kind = ? and row_no = ?", i+1, is.row)
	}
	if err != nil {
		return err
	}
	insert, err := tx.PrepareContext(ctx, insertNote)
	if err != nil {
		return err
	}
	defer func() { _ = insert.Close() }()
	for _, n := range v.Notes {
		if err := putNote(ctx, insert, n); err != nil {
			return err
		}
	}
	return nil
}
