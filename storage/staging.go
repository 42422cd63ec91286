package storage

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"smsdesk/internal/sms"
)

// Every uploaded list has a folder of its own under "lists" in the data
// folder, with the file as it came and, once it is checked, a staging file
// with the verdict on each row. So a check writes nothing into the database
// that reports and calls wait for.
const (
	uploadName  = "upload"
	stagingName = "rows.db"
	madeName    = "made.db"
)

// ListFolder is the folder of a list's files.
func (db listStore) ListFolder(uid string) string { return filepath.Join(db.data, "lists", uid) }

// KeepUpload stores what body holds as the file of a new list, synced to disk.
// More than most bytes are sms.ErrTooLarge. Nothing is left behind on an error.
func (db listStore) KeepUpload(uid string, body io.Reader, most int64) (size int64, hash string, err error) {
	folder := db.ListFolder(uid)
	if err := os.MkdirAll(filepath.Dir(folder), 0o700); err != nil {
		return 0, "", fmt.Errorf("make the folder of lists: %w", err)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return 0, "", fmt.Errorf("make a list's folder: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.DropUpload(uid))
		}
	}()
	f, err := os.OpenFile(filepath.Join(folder, uploadName), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, "", fmt.Errorf("make a list's file: %w", err)
	}
	sum := sha256.New()
	size, err = io.Copy(io.MultiWriter(f, sum), io.LimitReader(body, most+1))
	if err == nil && size > most {
		err = sms.ErrTooLarge
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return size, "", fmt.Errorf("store the uploaded file: %w", troubled(err))
	}
	return size, hex.EncodeToString(sum.Sum(nil)), nil
}

// Upload opens the file of a list for reading.
func (db listStore) Upload(uid string) (sms.File, error) {
	f, err := os.Open(filepath.Join(db.ListFolder(uid), uploadName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open the uploaded file: %w", sms.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("open the uploaded file: %w", err)
	}
	return f, nil
}

// KeepAddition stores people who are added to a list, as a file of that name
// beside the list's own, synced to disk. More than most bytes are
// sms.ErrTooLarge. Nothing is left behind on an error.
func (db listStore) KeepAddition(uid, name string, body io.Reader, most int64) (err error) {
	path := filepath.Join(db.ListFolder(uid), filepath.Base(name))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("make a file beside a list's: %w", err)
	}
	size, err := io.Copy(f, io.LimitReader(body, most+1))
	if err == nil && size > most {
		err = sms.ErrTooLarge
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(fmt.Errorf("store what is added to a list: %w", troubled(err)), os.Remove(path))
	}
	return nil
}

// Addition opens a file that KeepAddition stored.
func (db listStore) Addition(uid, name string) (sms.File, error) {
	f, err := os.Open(filepath.Join(db.ListFolder(uid), filepath.Base(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open what was added to a list: %w", sms.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("open what was added to a list: %w", err)
	}
	return f, nil
}

// DropUpload removes everything that belongs to a list's file.
func (db listStore) DropUpload(uid string) error {
	if err := os.RemoveAll(db.ListFolder(uid)); err != nil {
		return fmt.Errorf("remove a list's files: %w", err)
	}
	return nil
}

// DropStaged removes the verdicts on a list's rows and keeps its file.
func (db listStore) DropStaged(uid string) error {
	for _, name := range []string{stagingName, madeName} {
		err := os.Remove(filepath.Join(db.ListFolder(uid), name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the staged rows: %w", err)
		}
	}
	return nil
}

// Uploads lists the UIDs of the folders of lists not touched since before.
func (db listStore) Uploads(before time.Time) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(db.data, "lists"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the folders of lists: %w", err)
	}
	var uids []string
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().Before(before) {
			uids = append(uids, e.Name())
		}
	}
	return uids, nil
}

// FreeSpace is how many bytes the disk of the data folder still takes.
func (db listStore) FreeSpace() (int64, error) { return FreeSpace(db.data) }

// WriteStaging writes the verdicts on a list's rows, in place of earlier ones.
// fill puts them in the order of the rows; they are whole once WriteStaging has
// returned, and sum tells them from any others.
func (db listStore) WriteStaging(ctx context.Context, uid string,
	fill func(put func([]sms.ListRow, []sms.RowNote) error) error) (sum int64, err error) {
	if err := db.DropStaged(uid); err != nil {
		return 0, err
	}
	file, err := openStaging(filepath.Join(db.ListFolder(uid), stagingName), writeStaging)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			err = errors.Join(fmt.Errorf("stage the rows of a list: %w", troubled(err)), db.DropStaged(uid))
		}
	}()
	if _, err := file.ExecContext(ctx, stagingSchema); err != nil {
		return 0, err
	}
	tx, err := file.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	// The rows of a file come in a million statements, and the driver starts a
	// goroutine for each whose context can end. fill ends with ctx instead.
	s, err := newStageWriter(context.WithoutCancel(ctx), tx)
	if err == nil {
		err = s.write(fill)
	}
	// Whoever corrects a row asks which others have its number.
	if err == nil && s.bad {
		_, err = tx.ExecContext(ctx, "create index row_number on row (number)")
	}
	if err != nil {
		return 0, errors.Join(err, tx.Rollback())
	}
	return s.runs.sum.value(), tx.Commit()
}

// stageWriter puts rows and notes with prepared statements. Rows that follow each
// other without a gap share a statement, and SQLite numbers them by itself,
// which it does fastest.
type stageWriter struct {
	ctx          context.Context
	many, next   *sql.Stmt
	insertWithID *sql.Stmt // for a row behind a gap
	note         *sql.Stmt
	runs         runMaker
	bad          bool // some row is to be fixed
}

// rowValues is how many values a row of a run has.
const rowValues = 4

func newStageWriter(ctx context.Context, tx *sql.Tx) (*stageWriter, error) {
	s := &stageWriter{ctx: ctx}
	var errs [4]error
	const one = "insert into row (number, text, verdict, text_hash) values (?, ?, ?, ?)"
	s.many, errs[0] = tx.PrepareContext(ctx, one+strings.Repeat(", (?, ?, ?, ?)", stagingRows-1))
	s.next, errs[1] = tx.PrepareContext(ctx, one)
	s.insertWithID, errs[2] = tx.PrepareContext(ctx,
		"insert into row (row_no, number, text, verdict, text_hash) values (?, ?, ?, ?, ?)")
	s.note, errs[3] = tx.PrepareContext(ctx, insertNote)
	return s, errors.Join(errs[:]...)
}

// write stages what fill puts. The rows are made ready beside the statements,
// which take the most time of a check.
func (s *stageWriter) write(fill func(put func([]sms.ListRow, []sms.RowNote) error) error) error {
	hands, ctx := errgroup.WithContext(s.ctx)
	ready := make(chan *stagedRun, 1)
	s.runs = runMaker{ready: ready, written: make(chan *stagedRun, cap(ready)+2), ended: ctx.Done()}
	hands.Go(func() error {
		defer close(ready)
		if err := fill(s.runs.put); err != nil {
			return err
		}
		return s.runs.end()
	})
	hands.Go(func() error {
		for run := range ready {
			if err := s.putRun(run); err != nil {
				return fmt.Errorf("put rows: %w", err)
			}
			s.runs.written <- run
		}
		return nil
	})
	return hands.Wait()
}

func (s *stageWriter) putRun(run *stagedRun) error {
	rest := run.values
	if run.first != 0 {
		if _, err := s.insertWithID.ExecContext(s.ctx, append([]any{run.first}, rest[:rowValues]...)...); err != nil {
			return err
		}
		rest = rest[rowValues:]
	}
	for values := range slices.Chunk(rest, rowValues*stagingRows) {
		if len(values) == rowValues*stagingRows {
			if _, err := s.many.ExecContext(s.ctx, values...); err != nil {
				return err
			}
			continue
		}
		for row := range slices.Chunk(values, rowValues) {
			if _, err := s.next.ExecContext(s.ctx, row...); err != nil {
				return err
			}
		}
	}
	for _, n := range run.notes {
		if err := putNote(s.ctx, s.note, n); err != nil {
			return err
		}
		s.bad = s.bad || n.Kind.Bad()
	}
	return nil
}

const insertNote = "insert into note values (?, ?, ?, ?, ?, ?, ?, ?)"

func putNote(ctx context.Context, insert *sql.Stmt, n sms.RowNote) error {
	cells, err := json.Marshal(n.Cells)
	if err == nil {
		_, err = insert.ExecContext(ctx, kindCode(n.Kind), n.Row, n.Column, n.Text, n.Before, n.After, n.Other, string(cells))
	}
	if err != nil {
		return fmt.Errorf("put a note: %w", err)
	}
	return nil
}

// stagedRun is rows that follow each other without a gap, as statements take
// them, and the notes that came with them.
type stagedRun struct {
	first  int64  // the first row behind a gap; 0: the run follows the one before it
	values []any  // rowValues of each row
	hashes []byte // those among values
	notes  []sms.RowNote
}

// runStatements is how many statements a full run takes.
const runStatements = 16

// runMaker makes runs of rows. Runs that were written come back to be filled again.
type runMaker struct {
	ready   chan<- *stagedRun
	written chan *stagedRun
	ended   <-chan struct{} // nobody writes any more
	run     *stagedRun
	last    int64 // row
	sum     rowSum
}

func (m *runMaker) put(rows []sms.ListRow, notes []sms.RowNote) error {
	for _, r := range rows {
		gap := r.Row != m.last+1 || m.last == 0
		if m.last = r.Row; gap || m.run == nil || len(m.run.values) == cap(m.run.values) {
			if err := m.end(); err != nil {
				return err
			}
			m.begin()
		}
		if gap {
			m.run.first = r.Row
		}
		m.sum.add(staged(r))
		m.run.values = append(m.run.values, r.Number, r.Text, flags(r), m.hash(r.Text))
	}
	if m.run == nil {
		m.begin()
	}
	m.run.notes = append(m.run.notes, notes...)
	return nil
}

func (m *runMaker) begin() {
	select {
	case m.run = <-m.written:
		*m.run = stagedRun{values: m.run.values[:0], hashes: m.run.hashes[:0]}
	default:
		const rows = stagingRows * runStatements
		m.run = &stagedRun{values: make([]any, 0, rowValues*rows), hashes: make([]byte, 0, hashBytes*rows)}
	}
}

// hash is the textHash of a row, kept with its run.
func (m *runMaker) hash(text string) []byte {
	m.run.hashes = appendTextHash(m.run.hashes, text, "")
	return m.run.hashes[len(m.run.hashes)-hashBytes:]
}

// end hands the run in work to whoever writes.
func (m *runMaker) end() error {
	if m.run == nil {
		return nil
	}
	select {
	case m.ready <- m.run:
		m.run = nil
		return nil
	case <-m.ended:
		return context.Canceled
	}
}

// rowSum tells one set of staged rows from another, in whatever order they come:
// a row that is corrected takes its old part out and puts its new one in.
type rowSum struct {
	sum    uint64
	buffer []byte
}

func (s *rowSum) add(r stagedRow) { s.sum += s.of(r) }

func (s *rowSum) remove(r stagedRow) { s.sum -= s.of(r) }

func (s *rowSum) of(r stagedRow) uint64 {
	b := s.buffer[:0]
	b = binary.LittleEndian.AppendUint64(b, uint64(r.row))
	b = binary.LittleEndian.AppendUint64(b, uint64(r.number))
	b = binary.LittleEndian.AppendUint64(b, uint64(r.verdict))
	b = append(b, r.text...)
	s.buffer = b
	return uint64(crc32.Update(0, castagnoli, b[:24]))<<32 | uint64(crc32.Update(0, castagnoli, b))
}

func (s *rowSum) value() int64 { return int64(s.sum) }

// stagedRow is a row as a staging file holds it.
type stagedRow struct {
	row, number, verdict int64
	text                 string
}

func staged(r sms.ListRow) stagedRow { return stagedRow{r.Row, r.Number, flags(r), r.Text} }

func flags(r sms.ListRow) int64 {
	v := int64(r.Parts) << 1
	if r.Unicode {
		v |= 1
	}
	return v | kindCode(r.Kind)<<16
}

func withVerdict(r sms.ListRow, v int64) sms.ListRow {
	r.Parts, r.Unicode, r.Kind = int(v&0xffff>>1), v&1 == 1, kindOf(v>>16)
	return r
}

// kinds stand in a staging file as their places, counted from 1.
var kinds = sms.RowKinds()

func kindCode(k sms.RowKind) int64 { return int64(slices.Index(kinds, k) + 1) }

func kindOf(code int64) sms.RowKind {
	if code < 1 || code > int64(len(kinds)) {
		return ""
	}
	return kinds[code-1]
}

// stagedRows fails over a file of a program that did not keep the hash yet.
const stagedRows = `select row_no, number, text, verdict, length(text_hash) from row order by row_no`

// StagedRows reads the verdicts on a list's rows in their order. At the end it fails with sms.ErrConflict
// when they are not those of which WriteStaging gave the sum.
func (db listStore) StagedRows(ctx context.Context, uid string, sum int64) iter.Seq2[sms.ListRow, error] {
	return func(yield func(sms.ListRow, error) bool) {
		if err := db.eachStaged(ctx, uid, sum, func(r sms.ListRow) bool { return yield(r, nil) }); err != nil {
			yield(sms.ListRow{}, fmt.Errorf("read the staged rows: %w", err))
		}
	}
}

func (db listStore) eachStaged(ctx context.Context, uid string, sum int64, do func(sms.ListRow) bool) error {
	file, err := db.staging(uid)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	rows, err := file.QueryContext(ctx, stagedRows)
	if err != nil {
		return damaged(err)
	}
	defer func() { _ = rows.Close() }()
	var got rowSum
	for rows.Next() {
		var r sms.ListRow
		var v, hash int64
		if err := rows.Scan(&r.Row, &r.Number, &r.Text, &v, &hash); err != nil {
			return damaged(err)
		}
		got.add(stagedRow{r.Row, r.Number, v, r.Text})
		r = withVerdict(r, v)
		if !do(r) {
			return nil
		}
	}
	if err := rows.Err(); err != nil {
		return damaged(err)
	}
	if got.value() != sum {
		return damaged(errors.New("they are others than were written"))
	}
	return nil
}

func damaged(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w: %w", sms.ErrConflict, err)
}

func (db listStore) staging(uid string) (*sql.DB, error) {
	path := filepath.Join(db.ListFolder(uid), stagingName)
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("open the staged rows: %w", sms.ErrNotFound)
	}
	return openStaging(path, readStaging)
}

// ListNotes lists what the check of a list has to say, in the order of rows;
// more says that there are further notes.
func (db listStore) ListNotes(ctx context.Context, uid string,
	f sms.RowFilter) (list []sms.RowNote, more bool, err error) {
	file, err := db.staging(uid)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = file.Close() }()
	kinds := f.Kinds
	if len(kinds) == 0 {
		kinds = slices.DeleteFunc(sms.RowKinds(), func(k sms.RowKind) bool { return !k.Bad() })
	}
	for _, k := range kinds {
		some, err := notesOf(ctx, file, k, f)
		if err != nil {
			return nil, false, fmt.Errorf("list the notes of a list: %w", err)
		}
		list = append(list, some...)
	}
	slices.SortStableFunc(list, func(a, b sms.RowNote) int { return int(a.Row - b.Row) })
	if more = len(list) > f.Limit; more {
		list = list[:f.Limit]
	}
	return list, more, nil
}

// notesOf reads one kind, so that each is a walk along the index however many
// notes there are.
func notesOf(ctx context.Context, file *sql.DB, kind sms.RowKind, f sms.RowFilter) (list []sms.RowNote, err error) {
	rows, err := file.QueryContext(ctx,
		"select row_no, col, text, before, after, other, cells from note where kind = ? and row_no > ? and row_no <= ? "+
			"order by row_no limit ?", kindCode(kind), f.After, cmp.Or(f.Upto, math.MaxInt64), f.Limit+1)
	err = forEachRow(rows, err, func(scan func(...any) error) error {
		n := sms.RowNote{Kind: kind}
		var cells string
		if err := scan(&n.Row, &n.Column, &n.Text, &n.Before, &n.After, &n.Other, &cells); err != nil {
			return err
		}
		err := json.Unmarshal([]byte(cells), &n.Cells)
		list = append(list, n)
		return err
	})
	return list, err
}
