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
	"strings"
	"sync/atomic"
	"syscall"

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
	data    string
	writer  *sql.DB
	reader  *sql.DB
	asked   *prepared // of reader
	told    *prepared // of writer
	seal    sealer
	waiting atomic.Int64 // writers that wait for their turn
	// networks are those of numbers that were counted.
	networks sms.Networks
}

// Open opens the database, making the folder, the key file and the schema
// where they are missing. Several processes may do so at the same moment.
func Open(ctx context.Context, c Config) (*DB, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	unlock, err := lockFile(filepath.Join(c.Data, "open.lock"), true)
	if err != nil {
		return nil, fmt.Errorf("wait for another smsdesk to open the data folder: %w", err)
	}
	defer unlock()
	seal, err := openSealer(filepath.Join(c.Data, "smsdesk.key"))
	if err != nil {
		return nil, err
	}
	path := strings.TrimPrefix(c.Database, "sqlite:")
	if path == "" {
		path = filepath.Join(c.Data, "smsdesk.db")
	}
	db := &DB{data: c.Data, seal: seal}
	if db.writer, db.reader, err = openSQLite(path); err != nil {
		return nil, err
	}
	db.asked, db.told = newPrepared(db.reader), newPrepared(db.writer)
	for _, step := range []func(context.Context, *sql.DB) error{assertSQLite, migrate} {
		if err := step(ctx, db.writer); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	for _, fill := range []func(context.Context) error{db.fillTraffic, db.fillNames} {
		if err := fill(ctx); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return db, nil
}

// Close closes the database. Nothing may use it afterwards.
func (db *DB) Close() error {
	return errors.Join(db.asked.close(), db.told.close(), db.reader.Close(), db.writer.Close())
}

// Dispatching takes the data folder for the one process that may send. The
// lock ends with the process, however that ends.
func (db *DB) Dispatching() (release func(), err error) {
	release, err = lockFile(filepath.Join(db.data, "smsdesk.lock"), false)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("another smsdesk is already serving the data folder %s. Stop it first, or give another --data", db.data)
	}
	return release, err
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

func (db *DB) read() *query.Queries { return query.New(db.asked) }

// tx is one writing transaction. Whatever moves a message counts it here, so
// that the campaign's tally commits together with the change.
type tx struct {
	*query.Queries
	raw     *sql.Tx
	always  *telling // for texts that are always the same
	tally   map[tallyKey]int64
	traffic *traffic
}

type tallyKey struct {
	campaign int64
	key      string
}

func (t *tx) count(campaign int64, key string, n int64) {
	t.tally[tallyKey{campaign, key}] += n
}

func (t *tx) moved(campaign int64, from, to string, n int64) {
	if from != to {
		t.count(campaign, from, -n)
		t.count(campaign, to, n)
	}
}

// update runs fn in one writing transaction. fn may run once only.
func (db *DB) update(ctx context.Context, doing string, fn func(*tx) error) error {
	db.waiting.Add(1)
	raw, err := db.writer.BeginTx(ctx, nil)
	db.waiting.Add(-1)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, classify(err))
	}
	always := &telling{Tx: raw, prepared: db.told, unknown: map[string]bool{}}
	t := &tx{Queries: query.New(always), raw: raw, always: always, tally: map[tallyKey]int64{}, traffic: newTraffic(&db.networks)}
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
	db.told.learn(ctx, always.unknown)
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

// found turns "no rows" into sms.ErrNotFound and says what was being done.
func found[T any](v T, err error, doing string) (T, error) {
	if err != nil {
		return v, fmt.Errorf("%s: %w", doing, classify(err))
	}
	return v, nil
}

// Ready says whether the database answers.
func (db *DB) Ready(ctx context.Context) error {
	var one int
	if err := db.reader.QueryRowContext(ctx, "select 1").Scan(&one); err != nil {
		return fmt.Errorf("ask the database: %w", err)
	}
	return nil
}

var errUnexpected = fmt.Errorf("%w: it is not in the expected state", sms.ErrConflict)
