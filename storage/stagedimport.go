package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"smsdesk/internal/sms"
)

const (
	// rowsPerStage is over how many rows one statement goes: the end of a turn and
	// other writers are looked for in between, and the engine keeps every page that a
	// statement changes as it was before, in case it fails.
	rowsPerStage = 250
	// longSlice is how long one transaction stores staged rows when nobody waits:
	// most of what it costs is the pages that its rows share.
	longSlice = time.Second
	// sliceGap is how long other processes find the database free.
	sliceGap = 10 * time.Millisecond
	// callsPerStmt is how many calls one statement notes.
	callsPerStmt = 64
)

// putStaged makes messages of staged rows and their calls: $1 account, $2
// campaign, $3 now, behind row $4 up to row $5. %[1]s is the schema of the rows,
// %[2]s that of the decisions, %[3]s gives a kind's code its name.
const putStaged = `insert into message (account_id, campaign_id, row_no, number, text, text_hash, unicode, parts,
  call_no, state, reason, code, attempt_id, provider_id, evidence, status, error_code, done_date, conflict, late,
  created_at, sent_at, changed_at)
select $1, $2, r.row_no, case when r.number = 0 then '' else cast(r.number as text) end, r.text, r.text_hash,
  (r.verdict & 1) = 1, (r.verdict & 65535) >> 1, coalesce(c.call_no, 0),
  case when r.verdict < 65536 and o.row_no is null then 'draft' else 'skipped' end, coalesce(o.reason, n.text, ''),
  coalesce(o.code, case r.verdict >> 16 %[3]s else '' end), 0, '', '', '', '', '', false, false, $3, 0, $3
from %[1]s.row r
left join %[2]s.call c on c.row_no = r.row_no
left join %[2]s.left_out o on o.row_no = r.row_no
left join %[1]s.note n on r.verdict >= 65536 and n.kind = r.verdict >> 16 and n.row_no = r.row_no
where r.row_no > $4 and r.row_no <= $5
order by r.row_no`

// PutStaged stores the messages of a hidden campaign, one for each staged row of
// its list, of which there are rows; calls gives the planned call of each row
// that is sent, left are those that were left out since the check. It lets every other writer go first. progress is told now and
// then how many are stored, and ends the work with an error.
func (db campaignStore) PutStaged(ctx context.Context, uid string, c sms.Campaign, rows int64,
	calls iter.Seq2[int64, int32], left iter.Seq2[sms.ListRow, error], now int64, progress func(done int64) error) (err error) {
	p := stagedImport{campaignStore: db, campaign: c}
	if p.last, err = p.lastRow(ctx, uid); err != nil {
		return fmt.Errorf("put the staged rows: %w", err)
	}
	release, err := p.borrow(ctx, uid, calls, left)
	if err != nil {
		return errors.Join(fmt.Errorf("put the staged rows: %w", troubled(err)), release())
	}
	defer func() { err = errors.Join(err, release()) }()
	put := turns{what: "store messages", text: p.text, last: p.last, after: progress}
	put.step = func(t *tx, stmt *sql.Stmt, at int64) (next, stored int64, err error) {
		result, err := stmt.ExecContext(ctx, c.AccountID, c.ID, now, at, at+rowsPerStage)
		if err == nil {
			stored, err = result.RowsAffected()
		}
		return at + rowsPerStage, stored, err
	}
	stored, err := put.take(ctx, db)
	if err != nil {
		return err
	}
	if stored != rows {
		return fmt.Errorf("put the staged rows: %d of %d were there: %w", stored, rows, errUnexpected)
	}
	return nil
}

// stagedImport is the way of one list's rows into its campaign.
type stagedImport struct {
	campaignStore
	campaign sms.Campaign
	text     string // the statement
	last     int64  // row
}

func (p *stagedImport) lastRow(ctx context.Context, uid string) (last int64, err error) {
	file, err := listStore(p.campaignStore).staging(uid)
	if err != nil {
		return 0, err
	}
	err = file.QueryRowContext(ctx, "select coalesce(max(row_no), 0) from row").Scan(&last)
	return last, errors.Join(err, file.Close())
}

// borrow lets the writer read the staged rows and what was decided about them. What release takes
// back is what there is, also after an error.
func (p *stagedImport) borrow(ctx context.Context, uid string, calls iter.Seq2[int64, int32],
	left iter.Seq2[sms.ListRow, error]) (release func() error, err error) {
	var back []func() error
	release = func() error {
		var errs []error
		for i := len(back) - 1; i >= 0; i-- {
			errs = append(errs, back[i]())
		}
		return errors.Join(errs...)
	}
	folder := listStore(p.campaignStore).ListFolder(uid)
	path := filepath.Join(folder, madeName)
	back = append(back, func() error { return removeMade(path) })
	if err := writeMade(ctx, path, calls, left); err != nil {
		return release, fmt.Errorf("note what was decided about rows: %w", err)
	}
	rows, made := fmt.Sprintf("rows_%d", p.campaign.ID), fmt.Sprintf("made_%d", p.campaign.ID)
	p.text = fmt.Sprintf(putStaged, rows, made, kindNames())
	for as, from := range map[string]string{rows: filepath.Join(folder, stagingName), made: path} {
		giveBack, err := p.engine.lend(ctx, p.writer, from, as)
		if err != nil {
			return release, err
		}
		back = append(back, giveBack)
	}
	narrow, err := p.engine.stretch(ctx, p.writer)
	if err == nil {
		back = append(back, narrow)
	}
	return release, err
}

// turns is a long piece of work from at to last in transactions that let every
// other writer go first.
type turns struct {
	what, text string // text is the statement of a step
	at, last   int64
	step       func(t *tx, stmt *sql.Stmt, at int64) (next, stored int64, err error)
	after      func(stored int64) error // each transaction; an error ends the work
}

// take works until the end and says how much was stored.
func (w turns) take(ctx context.Context, db campaignStore) (stored int64, err error) {
	for w.at < w.last {
		next, n, err := w.one(ctx, db)
		if err != nil {
			return stored, err
		}
		w.at, stored = next, stored+n
		if err := w.after(stored); err != nil {
			return stored, err
		}
		if w.at < w.last {
			time.Sleep(sliceGap)
		}
	}
	return stored, nil
}

// one works in one transaction: for as long as it waited for its turn when
// others wait meanwhile, so that two who always want to write get half of the
// time each, and otherwise longer.
func (w turns) one(ctx context.Context, db campaignStore) (at, stored int64, err error) {
	asked := time.Now()
	if err := db.yieldToWriters(ctx); err != nil {
		return w.at, 0, err
	}
	err = db.update(ctx, w.what, func(t *tx) error {
		began := time.Now()
		share := min(max(began.Sub(asked), minSlice), maxSlice)
		at, stored = w.at, 0
		stmt, err := t.sql.PrepareContext(ctx, w.text)
		if err != nil {
			return err
		}
		defer func() { _ = stmt.Close() }()
		for at < w.last {
			took := time.Since(began)
			if took >= longSlice || took >= share && db.pendingWriters.Load() > 0 {
				break
			}
			next, n, err := w.step(t, stmt, at)
			if err != nil {
				return err
			}
			at, stored = next, stored+n
		}
		return nil
	})
	return at, stored, err
}

// kindNames is the part of a "case" that gives the codes of kinds their names.
func kindNames() string {
	var b strings.Builder
	for _, k := range kinds {
		fmt.Fprintf(&b, "when %d then '%s' ", kindCode(k), k)
	}
	return b.String()
}

func removeMade(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove what was decided about rows: %w", err)
	}
	return nil
}

// writeMade writes what was decided about rows in place of what a crash has left.
func writeMade(ctx context.Context, path string, calls iter.Seq2[int64, int32],
	left iter.Seq2[sms.ListRow, error]) (err error) {
	if err := removeMade(path); err != nil {
		return err
	}
	file, err := openStaging(path, writeStaging)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := file.ExecContext(ctx, madeSchema); err != nil {
		return err
	}
	tx, err := file.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := errors.Join(putCalls(ctx, tx, calls), putLeft(ctx, tx, left)); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func putCalls(ctx context.Context, tx *sql.Tx, calls iter.Seq2[int64, int32]) error {
	const one = "insert into call (row_no, call_no) values (?, ?)"
	many, err := tx.PrepareContext(ctx, one+strings.Repeat(", (?, ?)", callsPerStmt-1))
	if err != nil {
		return err
	}
	waiting := make([]any, 0, 2*callsPerStmt)
	for row, call := range calls {
		if waiting = append(waiting, row, int64(call)); len(waiting) < cap(waiting) {
			continue
		}
		if _, err := many.ExecContext(ctx, waiting...); err != nil {
			return err
		}
		waiting = waiting[:0]
	}
	if len(waiting) == 0 {
		return nil
	}
	_, err = tx.ExecContext(ctx, one+strings.Repeat(", (?, ?)", len(waiting)/2-1), waiting...)
	return err
}

func putLeft(ctx context.Context, tx *sql.Tx, left iter.Seq2[sms.ListRow, error]) error {
	one, err := tx.PrepareContext(ctx, "insert into left_out (row_no, code, reason) values (?, ?, ?)")
	if err != nil {
		return err
	}
	for r, err := range left {
		if err != nil {
			return err
		}
		if _, err := one.ExecContext(ctx, r.Row, string(r.Kind), r.Reason); err != nil {
			return err
		}
	}
	return nil
}
