// Package storage is what smsdesk remembers: one DB, SQL by noun. It reads and
// writes; it never orders, notifies, calls the gateway or knows what a page
// looks like. Rules about nouns live in internal/sms and reach a transaction
// as closures; no I/O may happen in one.
//
// Times are int64 milliseconds since 1970 UTC and come from the caller.
package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"

	"smsdesk/internal/health"
	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// Config says where things are kept.
type Config struct {
	Data     string // the data folder
	Database string // "" or sqlite:PATH
}

// Check says what is wrong with the configuration without opening anything.
func (c Config) Check() error { return checkURL(c.Database) }

// DB is everything that is remembered except the inbox and the journal.
// It is safe for use by many goroutines and by several processes at once.
type DB struct {
	*core
	accountStore
	staffStore
	campaignStore
	callStore
	reportStore
	contactStore
	listStore
	menuStore
	usageStore
	rehearsalStore
	seriesStore
	wallStore
}

// newDB gives each noun its questions and its changes.
func newDB(c *core) *DB {
	return &DB{core: c, accountStore: accountStore{c}, staffStore: staffStore{c}, campaignStore: campaignStore{c},
		callStore: callStore{c}, reportStore: reportStore{c},
		contactStore: contactStore{c}, listStore: listStore{c}, menuStore: menuStore{c}, usageStore: usageStore{c},
		rehearsalStore: rehearsalStore{c}, seriesStore: seriesStore{c}, wallStore: wallStore{c}}
}

// core is what every noun stands on: the engine's connections, the transaction
// and the journal's side.
type core struct {
	config         Config
	engine         engine
	data           string
	writer         *sql.DB
	reader         *sql.DB
	readStmts      *stmtCache // of reader
	writeStmts     *stmtCache // of writer
	seal           sealer
	steady         func() health.Steady
	pendingWriters atomic.Int64 // writers that wait for their turn and have no time

	// The journal's side. Licences are committed one by one, so that its lines
	// have their order.
	desk       string // the desk's id
	node       string // this data folder's name
	people     people
	journal    atomic.Pointer[Journal] // nil before it is started
	generation int64                   // of the start of this process
	licensing  sync.Mutex
	remembers  atomic.Bool // something was sent that this copy does not know

	// blocking is the way into the list of blocked numbers.
	blocking blocking
	answers  atomic.Pointer[ReportLog] // where the provider's answers are noted; nil: nowhere

	// networks are those of numbers that were counted.
	networks phone.Networks
}

// Open opens the desk of a data folder. In a folder that holds nothing of a
// desk it makes one: the key file, the database and its schema. Several
// processes may do so at the same moment.
func Open(ctx context.Context, c Config) (*DB, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	return c.open(ctx, true)
}

// OpenExisting is Open for whoever has no use of a new desk: where there is
// none the error is ErrNoDesk, and nothing is made.
func OpenExisting(ctx context.Context, c Config) (*DB, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	// A folder that is only looked at does not even get a lock file.
	if p, err := c.find(ctx); err == nil && p.fresh() && !p.making {
		return nil, c.noDesk()
	}
	return c.open(ctx, false)
}

// Look opens the desk of a data folder for reading, also beside one that runs:
// nothing is made, upgraded or changed. Of a database with an older schema the
// error is ErrOlderSchema, and ErrNoDesk where there is none.
func Look(ctx context.Context, c Config) (*DB, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	p, err := c.find(ctx)
	if err != nil {
		return nil, err
	}
	if p.fresh() {
		return nil, c.noDesk()
	}
	if p.schema < newestSchema() {
		return nil,
			fmt.Errorf(
				"%w: it has schema %d, and this program needs schema %d. \"smsdesk serve\" upgrades it; make a backup before", ErrOlderSchema, p.schema, newestSchema())
	}
	db := newDB(&core{config: c, engine: c.engine(), data: c.Data, seal: *p.key, steady: Steady})
	if db.reader, err = db.engine.look(); err != nil {
		return nil, err
	}
	db.writer = db.reader
	db.readStmts, db.writeStmts = newStmtCache(db.reader), newStmtCache(db.writer)
	for _, find := range []func(context.Context) error{db.findDesk, db.findNode, db.openJournalSide} {
		if err := find(ctx); err != nil {
			return nil, errors.Join(err, db.readStmts.close(), db.reader.Close())
		}
	}
	return db, nil
}

func (c Config) open(ctx context.Context, may bool) (*DB, error) {
	unlock, err := lockFile(filepath.Join(c.Data, "open.lock"), true)
	if err != nil {
		return nil, fmt.Errorf("wait for another smsdesk to open the data folder: %w", err)
	}
	defer unlock()
	p, err := c.find(ctx)
	if err != nil {
		return nil, err
	}
	db := newDB(&core{config: c, engine: c.engine(), data: c.Data, steady: Steady})
	switch {
	case !p.fresh():
		db.seal = *p.key
	case !may:
		return nil, c.noDesk()
	default:
		if db.seal, err = c.beginMaking(p); err != nil {
			return nil, err
		}
	}
	release, err := c.upgradable(p)
	if err != nil {
		return nil, err
	}
	defer release()
	if db.writer, db.reader, err = db.engine.open(); err != nil {
		return nil, err
	}
	db.readStmts, db.writeStmts = newStmtCache(db.reader), newStmtCache(db.writer)
	for _, step := range []func(context.Context, *sql.DB) error{db.engine.assert, db.engine.migrate} {
		if err := step(ctx, db.writer); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	for _, fill := range []func(context.Context) error{
		db.fillTraffic, db.fillFlow, db.fillUsage, db.fillNames, db.putKeyCheck, db.openDesk, db.openNode, db.openJournalSide,
	} {
		if err := fill(ctx); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	if err := c.endMaking(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Close closes the database. Nothing may use it afterwards.
func (db *core) Close() error {
	return errors.Join(db.readStmts.close(), db.writeStmts.close(), db.reader.Close(), db.writer.Close())
}

func lockFile(path string, wait bool) (func(), error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	for err = syscall.EINTR; err == syscall.EINTR; {
		err = syscall.Flock(int(f.Fd()), how)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
	}
	return func() { _ = f.Close() }, nil
}

func (db *core) read() *query.Queries { return query.New(db.readStmts) }

// tx is one writing transaction. Whatever moves a message counts it here, so
// that the campaign's tally commits together with the change.
type tx struct {
	*query.Queries
	sql     *sql.Tx
	stmts   *txStmts // for texts that are always the same
	tally   map[tallyKey]int64
	traffic *traffic
	steady  func() health.Steady
	engine  engine
}

type tallyKey struct {
	campaign int64
	key      string
}

func (t *tx) count(campaign int64, key string, n int64) {
	t.tally[tallyKey{campaign, key}] += n
}

func (t *tx) moveTally(campaign int64, from, to string, n int64) {
	if from != to {
		t.count(campaign, from, -n)
		t.count(campaign, to, n)
	}
}

// update runs fn in one writing transaction. fn may run once only.
func (db *core) update(ctx context.Context, doing string, fn func(*tx) error) error {
	db.pendingWriters.Add(1)
	raw, err := db.writer.BeginTx(ctx, nil)
	db.pendingWriters.Add(-1)
	return db.within(ctx, doing, raw, err, fn)
}

// updatePatiently is update for what has a moment: it has its turn, but nobody who
// writes much ends their own for it.
func (db *core) updatePatiently(ctx context.Context, doing string, fn func(*tx) error) error {
	raw, err := db.writer.BeginTx(ctx, nil)
	return db.within(ctx, doing, raw, err, fn)
}

// within runs fn in a transaction that has begun, or not.
func (db *core) within(ctx context.Context, doing string, raw *sql.Tx, err error, fn func(*tx) error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", doing, classify(err))
	}
	always := &txStmts{Tx: raw, cache: db.writeStmts, missing: map[string]bool{}}
	t := &tx{Queries: query.New(always), sql: raw, stmts: always, tally: map[tallyKey]int64{},
		traffic: newTraffic(&db.networks), steady: db.steady, engine: db.engine}
	if err = fn(t); err == nil {
		err = t.flush(ctx)
	}
	if err == nil {
		err = raw.Commit()
	}
	if err != nil {
		_ = raw.Rollback()
		return fmt.Errorf("%s: %w", doing, classify(err))
	}
	db.writeStmts.prepareAll(ctx, always.missing)
	return nil
}

func (t *tx) flush(ctx context.Context) error {
	for k, n := range t.tally {
		if n == 0 {
			continue
		}
		if err := t.AddTally(ctx, k.campaign, k.key, n); err != nil {
			return fmt.Errorf("count: %w", err)
		}
	}
	if err := t.flushTraffic(ctx); err != nil {
		return fmt.Errorf("count traffic: %w", err)
	}
	return nil
}

// wrapNotFound turns "no rows" into sms.ErrNotFound and says what was being done.
func wrapNotFound[T any](v T, err error, doing string) (T, error) {
	if err != nil {
		return v, fmt.Errorf("%s: %w", doing, classify(err))
	}
	return v, nil
}

// readOne is found for a row, which is made what the desk knows it as.
func readOne[R, T any](row R, err error, made func(R) (T, error), doing string) (v T, _ error) {
	if err != nil {
		return v, fmt.Errorf("%s: %w", doing, classify(err))
	}
	return made(row)
}

// foundOne is readOne where nothing of a row can be damaged.
func foundOne[R, T any](row R, err error, made func(R) T, doing string) (T, error) {
	return readOne(row, err, func(r R) (T, error) { return made(r), nil }, doing)
}

// readAll is readOne for rows.
func readAll[R, T any](rows []R, err error, made func(R) (T, error), doing string) ([]T, error) {
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, classify(err))
	}
	list := make([]T, len(rows))
	for i, r := range rows {
		if list[i], err = made(r); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// foundAll is readAll where nothing of a row can be damaged.
func foundAll[R, T any](rows []R, err error, made func(R) T, doing string) ([]T, error) {
	return readAll(rows, err, func(r R) (T, error) { return made(r), nil }, doing)
}

// ErrNewerSchema says that a newer program has upgraded the database meanwhile.
var ErrNewerSchema = errors.New("the database was upgraded by a newer smsdesk. Stop this one and start that")

// Ready says whether the database answers, and still has this program's schema.
func (db *core) Ready(ctx context.Context) error {
	schema, err := db.engine.schema(ctx, db.reader)
	if err != nil {
		return fmt.Errorf("ask the database: %w", err)
	}
	if schema > newestSchema() {
		return ErrNewerSchema
	}
	return nil
}

var errUnexpected = fmt.Errorf("%w: it is not in the expected state", sms.ErrConflict)
