package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"smsdesk/internal/health"
	"smsdesk/internal/sms"
	"smsdesk/storage/log"
)

// Inbox keeps callbacks as they arrive, in a file of its own, so that a big
// import into the main database never slows a report down. A report that Keep
// has taken is on disk: in the inbox, or in the spool while the inbox cannot
// be written or is not open.
type Inbox struct {
	data             string
	using            sync.Mutex // held while Run uses the file, and while it is opened or closed
	db               *sql.DB    // one connection, so that nobody waits for a lock asleep; nil while it is not open
	reader           *sql.DB
	one              *sql.Stmt
	many             *sql.Stmt
	drop             *sql.Stmt
	queue            chan inboxEntry
	spool            *spool
	lastSpoolAttempt time.Time // when the spool was last tried in vain

	asking sync.Mutex // held by Takes
	asked  time.Time  // when Takes last found out
	taken  error      // what it found

	applied atomic.Int64 // reports up to this id are not needed any more
	oldest  int64        // no id below it is there any more
	forget  chan struct{}

	log     atomic.Pointer[ReportLog] // nil: reports are only kept here
	known   int64                     // reports up to this id were in a log that is not there
	last    atomic.Int64              // the highest id that was given
	noted   int64                     // the id of what is logged beside the next batch; 0: nothing is
	unsure  bool                      // whether a commit that failed has used ids
	behind  time.Time                 // when the log was last tried in vain
	aside   string                    // the name that a damaged file was given
	id      string                    // of the file
	damaged atomic.Int64              // reports that could not be read, here or in the log
}

type inboxEntry struct {
	sms.RawReport
	done  chan error
	probe bool // nothing to keep: Takes asks whether it could be
}

const (
	inboxQueue = 16 << 10
	inboxBatch = 1000
	// inboxRows is how many rows one statement stores.
	inboxRows = 32
	// inboxWaits is how long the inbox may be locked by another process before
	// reports go to the spool, in milliseconds; spoolAfter how long a report
	// waits for a disk that does not answer. The provider gives up after 10 s.
	inboxWaits = 2000
	spoolAfter = 5 * time.Second
	// spoolInterval is how often reports are brought from the spool to the inbox
	// while that fails.
	spoolInterval = time.Second
	// purgeBatch is how many applied reports are removed in one transaction
	// when none arrive, purgeInterval the rest between two of them.
	purgeBatch    = 500
	purgeInterval = 50 * time.Millisecond
	// spoolSpace is reserved for about 40,000 reports while the disk is full;
	// spaceInterval is how often is looked whether it is there.
	spoolSpace    = 16 << 20
	spaceInterval = 10 * time.Second
)

// NewInbox returns the inbox of a data folder. Until Open its reports go to the
// spool: that is the folder spool, data/spool where it is "".
func NewInbox(data, spoolFolder string) *Inbox {
	if spoolFolder == "" {
		spoolFolder = filepath.Join(data, "spool")
	}
	return &Inbox{data: data, spool: newSpool(spoolFolder, spoolSpace), queue: make(chan inboxEntry, inboxQueue),
		forget: make(chan struct{}, 1)}
}

// OpenInbox is NewInbox and Open.
func OpenInbox(ctx context.Context, data, spool string, cursor int64) (*Inbox, error) {
	in := NewInbox(data, spool)
	return in, in.Open(ctx, cursor)
}

// Open opens the file, which it makes where it is missing. cursor is where the
// applier stands: ids never start again below it, even when the file is a new
// one, and what is not above it is forgotten. After an error Open may be called
// again; an inbox that is open stays so.
func (in *Inbox) Open(ctx context.Context, cursor int64) error {
	in.using.Lock()
	defer in.using.Unlock()
	if in.db != nil {
		return nil
	}
	err := in.openFile(ctx, cursor)
	if TroubleOf(err) == health.TroubleDamaged {
		if err = in.leaveDamaged(); err == nil {
			err = in.openFile(ctx, cursor)
		}
	}
	if err == nil {
		err = in.spool.find()
	}
	if err != nil {
		return errors.Join(err, in.shut())
	}
	return nil
}

func (in *Inbox) openFile(ctx context.Context, cursor int64) (err error) {
	file := sqliteFile{filepath.Join(in.data, inboxName)}
	if in.db, in.reader, err = file.open(); err != nil {
		in.db = nil
		return fmt.Errorf("open the inbox: %w", err)
	}
	if err = file.assert(ctx, in.db); err == nil {
		err = checkWhole(ctx, in.db)
	}
	if err == nil {
		err = in.prepare(ctx, cursor)
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("open the inbox: %w", err), in.shut())
	}
	return err
}

// Shut closes the file, so that it may be opened again. Reports go to the spool.
func (in *Inbox) Shut() error {
	in.using.Lock()
	defer in.using.Unlock()
	return in.shut()
}

func (in *Inbox) shut() error {
	if in.db == nil {
		return nil
	}
	err := errors.Join(in.reader.Close(), in.db.Close())
	in.db = nil // what is read of the reader now fails
	return err
}

func (in *Inbox) prepare(ctx context.Context, cursor int64) error {
	for _, statement := range []string{
		`create table if not exists raw (id integer primary key autoincrement, account_id integer not null,
  received_at integer not null, remote text not null, query text not null)`,
		`create table if not exists drained (file text primary key, position integer not null) without rowid`,
		`create table if not exists identity (id text not null)`,
		`insert into identity (id) select '` + randomHex(16) + `' where not exists (select 1 from identity)`,
		`insert into sqlite_sequence (name, seq) select 'raw', 0 where not exists (select 1 from sqlite_sequence where name = 'raw')`,
		fmt.Sprintf(`update sqlite_sequence set seq = %d where name = 'raw' and seq < %[1]d`, cursor),
		fmt.Sprintf(`pragma busy_timeout = %d`, inboxWaits),
	} {
		if _, err := in.db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("prepare the inbox: %w", err)
		}
	}
	if err := in.prepareSums(ctx); err != nil {
		return fmt.Errorf("prepare the inbox: %w", err)
	}
	var errs [3]error
	row := func(i int) string { return "(" + places(rawColumns*i+1, rawColumns) + ")" }
	rows := make([]string, inboxRows)
	for i := range rows {
		rows[i] = row(i)
	}
	const insert = `insert into raw (id, account_id, received_at, remote, query, sum) values `
	in.one, errs[0] = in.db.PrepareContext(ctx, insert+row(0))
	in.many, errs[1] = in.db.PrepareContext(ctx, insert+strings.Join(rows, ", "))
	in.drop, errs[2] = in.db.PrepareContext(ctx, `delete from raw where id <= $1`)
	if err := errors.Join(errs[:]...); err != nil {
		return fmt.Errorf("prepare the inbox: %w", err)
	}
	in.applied.Store(cursor)
	in.unsure = true
	const oldest = `select coalesce((select min(id) from raw), (select seq + 1 from sqlite_sequence where name = 'raw')), (select min(id) from identity)`
	if err := in.db.QueryRowContext(ctx, oldest).Scan(&in.oldest, &in.id); err != nil {
		return fmt.Errorf("prepare the inbox: %w", err)
	}
	return nil
}

// Close closes the files. Run must have ended.
func (in *Inbox) Close() error { return errors.Join(in.spool.Close(), in.Shut()) }

// Keep stores a callback and returns once it is synced to disk. When ctx ends
// first it returns an error although the callback may still be stored. A disk
// that hangs may bring a report into both files: it then counts as repeated.
func (in *Inbox) Keep(ctx context.Context, k sms.RawReport) error {
	item := inboxEntry{RawReport: k, done: make(chan error, 1)}
	if ackBeforeSync {
		in.queue <- item
		return nil
	}
	hangs := time.NewTimer(spoolAfter)
	defer hangs.Stop()
	select {
	case in.queue <- item:
	case <-hangs.C:
		return in.spool.append([]sms.RawReport{k})
	case <-ctx.Done():
		return fmt.Errorf("keep the report: %w", ctx.Err())
	}
	select {
	case err := <-item.done:
		return err
	case <-hangs.C:
		return in.spool.append([]sms.RawReport{k})
	case <-ctx.Done():
		return fmt.Errorf("keep the report: %w", ctx.Err())
	}
}

// Run writes what Keep was given until ctx ends and the queue is empty. Each
// transaction takes whatever is queued: a fixed wait would only add delay.
// stored is called after each commit. What the inbox cannot take goes to the
// spool, and from there to the inbox in the order of arrival as soon as that
// can be written again; spooled says how many went there, and why.
func (in *Inbox) Run(ctx context.Context, stored func(), spooled func(n int, why error)) error {
	for {
		batch, more := in.next(ctx)
		if err := in.store(context.WithoutCancel(ctx), batch, stored); len(batch) > 0 {
			if err != nil {
				err = in.spill(batch, err, spooled)
			}
			for _, item := range batch {
				item.done <- err
			}
		}
		if !more {
			return nil
		}
	}
}

var errNotOpen = errors.New("the inbox is not open")

// store brings the spool and then the batch into the inbox.
func (in *Inbox) store(ctx context.Context, batch []inboxEntry, stored func()) error {
	in.using.Lock()
	defer in.using.Unlock()
	if in.db == nil {
		return errNotOpen
	}
	if err := in.drain(ctx, stored); err != nil {
		return err
	}
	if len(batch) == 0 && !in.purgeable() {
		in.catchUp(ctx)
		return nil
	}
	list := reportsOfEntries(batch)
	err := in.write(ctx, list, proof(batch))
	if err == nil && len(list) > 0 {
		stored()
	}
	return err
}

func reportsOfEntries(batch []inboxEntry) []sms.RawReport {
	list := make([]sms.RawReport, 0, len(batch))
	for _, item := range batch {
		if !item.probe {
			list = append(list, item.RawReport)
		}
	}
	return list
}

// spill brings a batch into the spool; the error is nil when it is there.
func (in *Inbox) spill(batch []inboxEntry, why error, spooled func(int, error)) error {
	list := reportsOfEntries(batch)
	if err := in.spool.append(list); err != nil {
		return errors.Join(why, err)
	}
	if len(list) > 0 {
		spooled(len(list), why)
	}
	return nil
}

// next waits for reports, or for the moment to look at the spool again; more is
// false when ctx has ended and nothing is queued.
func (in *Inbox) next(ctx context.Context) (batch []inboxEntry, more bool) {
	var again <-chan time.Time
	if waits, rests := in.spool.waits() || in.owes(), in.mayForget(); waits || rests {
		rest := spoolInterval
		if rests {
			rest = purgeInterval
		}
		timer := time.NewTimer(rest)
		defer timer.Stop()
		again = timer.C
	}
	more = true
	select {
	case item := <-in.queue:
		batch = append(batch, item)
	case <-again:
	case <-in.forget:
	case <-ctx.Done():
		more = false
	}
	for len(batch) < inboxBatch {
		select {
		case item := <-in.queue:
			batch = append(batch, item)
		default:
			return batch, more || len(batch) > 0
		}
	}
	return batch, true
}

var errSpooling = errors.New("the inbox could not be written a moment ago")

// drain brings the spool into the inbox. Each part goes in together with how
// far the file has been read: a crash in between repeats nothing.
func (in *Inbox) drain(ctx context.Context, stored func()) error {
	if !in.spool.waits() {
		return nil
	}
	if time.Since(in.lastSpoolAttempt) < spoolInterval {
		return errSpooling
	}
	err := in.spool.drain(func(file string) (position int64, err error) {
		err = in.db.QueryRowContext(ctx, `select position from drained where file = $1`, file).Scan(&position)
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return position, err
	}, func(list []sms.RawReport, to log.Position) error {
		err := in.write(ctx, list, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx,
				`insert into drained (file, position) values ($1, $2) on conflict (file) do update set position = excluded.position`,
				to.Segment, to.Offset)
			return err
		})
		if err == nil {
			stored()
		}
		return err
	})
	in.lastSpoolAttempt = time.Time{}
	if err != nil {
		in.lastSpoolAttempt = time.Now()
		return fmt.Errorf("bring reports from the spool: %w", err)
	}
	return nil
}

// write stores a batch, here and in the log side by side, and forgets about
// twice as many applied reports. What the log does not take is brought there
// later, and not forgotten before.
func (in *Inbox) write(ctx context.Context, batch []sms.RawReport, also func(*sql.Tx) error) error {
	if err := in.number(ctx, batch); err != nil {
		return fmt.Errorf("store reports: %w", err)
	}
	logged := in.logBeside(ctx, batch)
	err := in.commit(ctx, batch, also)
	in.unsure = err != nil
	logged()
	return err
}

func (in *Inbox) commit(ctx context.Context, batch []sms.RawReport, also func(*sql.Tx) error) error {
	tx, err := in.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("store reports: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	some := int64(purgeBatch)
	if len(batch) > 0 {
		some = 2 * int64(len(batch))
	}
	if err := in.put(ctx, tx, batch); err != nil {
		return fmt.Errorf("store reports: %w", err)
	}
	if also != nil {
		if err := also(tx); err != nil {
			return fmt.Errorf("store reports: %w", err)
		}
	}
	upTo := min(in.oldest+some-1, in.forgettableUpTo())
	if upTo >= in.oldest {
		if _, err := tx.StmtContext(ctx, in.drop).ExecContext(ctx, upTo); err != nil {
			return fmt.Errorf("forget reports: %w", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("store reports: %w", err)
	}
	in.oldest = max(in.oldest, upTo+1)
	return nil
}

// rawColumns is how many values a row takes.
const rawColumns = 6

func (in *Inbox) put(ctx context.Context, tx *sql.Tx, batch []sms.RawReport) error {
	args := make([]any, 0, rawColumns*inboxRows)
	for len(batch) > 0 {
		n, statement := 1, in.one
		if len(batch) >= inboxRows {
			n, statement = inboxRows, in.many
		}
		args = args[:0]
		for _, k := range batch[:n] {
			args = append(args, k.ID, k.AccountID, k.ReceivedAt, k.Remote, k.Query, keptSum(k))
		}
		if _, err := tx.StmtContext(ctx, statement).ExecContext(ctx, args...); err != nil {
			return err
		}
		batch = batch[n:]
	}
	return nil
}

// Applied says that the reports up to an id have been applied. They are
// forgotten a few at a time, along with the storing of others: a sync of its
// own would make reports that arrive wait. The ids are not used again.
func (in *Inbox) Applied(upTo int64) {
	in.applied.Store(upTo)
	in.wakeUp()
}

// wakeUp lets Run look what is to be done besides reports.
func (in *Inbox) wakeUp() {
	select {
	case in.forget <- struct{}{}:
	default:
	}
}

// purgeable says whether applied reports are still there.
func (in *Inbox) purgeable() bool { return in.oldest <= in.forgettableUpTo() }

func (in *Inbox) mayForget() bool {
	in.using.Lock()
	defer in.using.Unlock()
	return in.db != nil && in.purgeable()
}

// KeepSpace reserves space in the spool and renews it after it was used, until
// ctx ends: reports of a time in which the disk is full find it there.
func (in *Inbox) KeepSpace(ctx context.Context, log func(error)) {
	looks := time.NewTicker(spaceInterval)
	defer looks.Stop()
	failed := false
	for {
		err := in.spool.Prepare()
		if err != nil && !failed {
			log(err)
		}
		failed = err != nil
		select {
		case <-ctx.Done():
			return
		case <-looks.C:
		}
	}
}

// After lists what was kept behind the given id, in order. What has changed on
// the disk is taken from the log.
func (in *Inbox) After(ctx context.Context, id int64, limit int) ([]sms.RawReport, error) {
	list, bad, err := readKept(ctx, in.reader, id, limit)
	if err == nil && len(bad) > 0 {
		list, err = in.mend(ctx, list, bad)
	}
	return wrapNotFound(list, err, "read the inbox")
}
