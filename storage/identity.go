package storage

import (
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// What a folder is: database, key, journal and the rest of one desk belong
// together. A part that is missing is never made anew beside the others, or
// what was sealed with the old one, or sent from it, would be lost silently
// (storage/README.md).

const (
	keyName = "smsdesk.key"
	// makingName marks a folder while key and database are made for the first
	// time, so that an interruption can be told from a loss.
	makingName = "smsdesk.making"
	// RestoringName marks a folder into which a backup is being restored.
	RestoringName = "smsdesk.restoring"
)

// traces are the other things in a data folder that only a desk leaves.
var traces = []string{"dispatch.journal", "reports.log", "blocks.log", "inbox.db", "ussd.spool"}

// names match everything that a desk keeps in its data folder.
var names = []string{"smsdesk.*", "open.lock", "inbox.db*", "dispatch.journal*", "reports.log*", "blocks.log*",
	"ussd.spool*", "spool", "lists", "kept", callbackCacheName + "*", nodeFile, reserveName + "*"}

// Files lists what is there of the desk: files, and folders with all that is in
// them. What else lies in the data folder is somebody else's.
func (c Config) Files() (list []string) {
	path := quoteGlob(c.path())
	patterns := []string{path, path + "-wal", path + "-shm", path + ".lock"}
	for _, name := range names {
		patterns = append(patterns, filepath.Join(quoteGlob(c.Data), name))
	}
	for _, pattern := range patterns {
		if found, err := filepath.Glob(pattern); err == nil {
			list = append(list, found...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func quoteGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

var (
	// ErrNoDesk says that nothing in the folder was made by smsdesk.
	ErrNoDesk = errors.New("there is no desk")
	// ErrOlderSchema says that serve has to upgrade the database first.
	ErrOlderSchema = errors.New("the database was made by an earlier version of smsdesk")
)

// parts is what was found of a desk, without changing anything.
type parts struct {
	making bool
	key    *sealer
	file   bool   // there is a file for the database
	used   bool   // the database has rows
	schema int64  // of the database, 0 without any table
	trace  string // one of traces, or ""
}

// fresh says that a desk may be made: there is none, or its making was
// interrupted.
func (p parts) fresh() bool { return !p.used && p.trace == "" && (p.making || p.key == nil) }

// find looks at the folder and the database. Its error says what is wrong with
// them and what to do.
func (c Config) find(ctx context.Context) (p parts, err error) {
	if half, err := exists(filepath.Join(c.Data, RestoringName)); err != nil {
		return p, err
	} else if half {
		return p, fmt.Errorf("a backup was being restored into %s and that did not end. Run the same smsdesk restore again",
			c.Data)
	}
	if p.making, err = exists(filepath.Join(c.Data, makingName)); err != nil {
		return p, err
	}
	for _, name := range traces {
		if there, err := holds(filepath.Join(c.Data, name)); err != nil {
			return p, err
		} else if there {
			p.trace = name
			break
		}
	}
	if p.key, err = readSealer(filepath.Join(c.Data, keyName)); err != nil {
		return p, err
	}
	if p.file, err = exists(c.path()); err != nil || !p.file {
		return p, errors.Join(err, c.judge(p))
	}
	db, err := c.engine().look()
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := p.read(ctx, c.engine(), db); err != nil {
		return p, fmt.Errorf("the database %s cannot be read: %w. Put it back from a backup with smsdesk restore", c.path(),
			err)
	}
	if err := c.judge(p); err != nil || !p.used {
		return p, err
	}
	if fits, err := p.key.fits(ctx, db); err != nil {
		return p, fmt.Errorf("check the key against the database: %w", err)
	} else if !fits {
		return p,
			fmt.Errorf(
				"the key file %s is not the key of this database: what the database seals does not open. Put back the key from "+
					"the same backup as the database, or give the --data that belongs to it",
				filepath.Join(c.Data, keyName))
	}
	return p, nil
}

// read finds the schema, and whether anything was ever stored.
func (p *parts) read(ctx context.Context, e engine, db *sql.DB) (err error) {
	if p.schema, err = e.schema(ctx, db); err != nil || p.schema == 0 {
		return err
	}
	if p.schema > newestSchema() {
		p.used = true
		return nil
	}
	tables := []string{"setting", "account"}
	if p.schema > 1 {
		tables = append(tables, "app_user")
	}
	for _, table := range tables {
		var n int64
		if err := db.QueryRowContext(ctx, "select count(*) from (select 1 from "+table+" limit 1) t").Scan(&n); err != nil {
			return err
		}
		p.used = p.used || n > 0
	}
	return nil
}

// judge refuses what does not belong together.
func (c Config) judge(p parts) error {
	folder, key, path := c.Data, filepath.Join(c.Data, keyName), c.path()
	const restore = "Put it back from your backup (smsdesk restore), or give another --data for a new desk"
	switch {
	case p.used && p.schema > newestSchema():
		return fmt.Errorf(
			"the database %s has schema %d, and this program knows only up to schema %d. Run the newer smsdesk that wrote "+
				"it, or restore the backup that was made before the upgrade",
			path, p.schema, newestSchema())
	case p.used && p.key == nil:
		return fmt.Errorf(
			"the key file %s is missing, and the database %s cannot be used without it. Put the key back from your backup. "+
				"No new one is made: it could not open what is sealed", key, path)
	case p.used || p.fresh():
		return nil
	}
	beside := p.trace
	if p.key != nil {
		beside = keyName
	}
	if p.file {
		return fmt.Errorf("the database %s is empty, and %s lies in %s: this is not a new desk. %s", path, beside, folder,
			restore)
	}
	return fmt.Errorf("the database %s is missing, and %s lies in %s: this is not a new desk. %s", path, beside, folder,
		restore)
}

func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// holds says that there is a file with something in it, or a folder with a file.
func holds(path string) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || !info.IsDir() {
		return err == nil && info.Size() > 0, err
	}
	entries, err := os.ReadDir(path)
	return len(entries) > 0, err
}

// noDesk says so of the folder, and of the database where that is elsewhere.
func (c Config) noDesk() error {
	if c.Database != "" {
		return fmt.Errorf("%w in %s with the database %s. Check --data and --database; \"smsdesk serve\" makes a new desk",
			ErrNoDesk, c.Data, c.path())
	}
	return fmt.Errorf("%w in %s. Check --data; \"smsdesk serve\" makes a new desk", ErrNoDesk, c.Data)
}

// beginMaking marks the folder, then makes its key.
func (c Config) beginMaking(p parts) (sealer, error) {
	mark, err := os.OpenFile(filepath.Join(c.Data, makingName), os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		err = errors.Join(mark.Sync(), mark.Close(), syncFolder(c.Data))
	}
	if err != nil {
		return sealer{}, fmt.Errorf("begin a new desk: %w", err)
	}
	if p.key != nil {
		return *p.key, nil
	}
	raw, err := makeKey(filepath.Join(c.Data, keyName))
	if err != nil {
		return sealer{}, fmt.Errorf("make the key file: %w", err)
	}
	return newSealer(raw)
}

// endMaking takes the mark away once everything is there.
func (c Config) endMaking() error {
	err := os.Remove(filepath.Join(c.Data, makingName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err = errors.Join(err, syncFolder(c.Data)); err != nil {
		return fmt.Errorf("end the making of a new desk: %w", err)
	}
	return nil
}

const (
	// settingKeyCheck holds keyChecked, sealed: another key does not open it.
	settingKeyCheck = "key_check"
	keyChecked      = "smsdesk"
	keyCheckPlace   = "setting:" + settingKeyCheck
)

// putKeyCheck stores what a wrong key is told by.
func (db *core) putKeyCheck(ctx context.Context) error {
	if have, err := db.ReadSetting(ctx, settingKeyCheck); err != nil || have != "" {
		return err
	}
	return db.PutSetting(ctx, settingKeyCheck, base64.StdEncoding.EncodeToString(db.seal.seal(keyChecked, keyCheckPlace)))
}

// fits says whether the key opens what the database seals. A database of before
// there was a check value is asked for an account's secret.
func (s sealer) fits(ctx context.Context, db *sql.DB) (bool, error) {
	var text string
	err := db.QueryRowContext(ctx, "select value from setting where name = $1", settingKeyCheck).Scan(&text)
	if err == nil {
		sealed, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return false, nil
		}
		got, err := s.open(sealed, keyCheckPlace)
		return err == nil && got == keyChecked, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	var uid string
	var secret []byte
	err = db.QueryRowContext(ctx, "select uid, client_id from account order by id limit 1").Scan(&uid, &secret)
	if errors.Is(err, sql.ErrNoRows) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	_, err = s.open(secret, "account:"+uid+":client_id")
	return err == nil, nil
}

// Sealed opens everything that the database seals and counts it. Its error
// names the first that does not open.
func (db *core) Sealed(ctx context.Context) (n int64, err error) {
	for _, kind := range []struct {
		text  string
		place func(name any) string
	}{
		{"select uid, client_id from account", func(uid any) string { return fmt.Sprintf("account:%s:client_id", uid) }},
		{"select uid, api_key from account", func(uid any) string { return fmt.Sprintf("account:%s:api_key", uid) }},
		{"select hash, sealed from callback_token", func(hash any) string { return tokenPlace(hash.([]byte)) }},
		{"select account_id, secret from ussd_menu", func(account any) string { return menuPlace(account.(int64)) }},
	} {
		rows, err := db.reader.QueryContext(ctx, kind.text)
		if err := forEachRow(rows, err, func(scan func(...any) error) error {
			var name any
			var sealed []byte
			if err := scan(&name, &sealed); err != nil {
				return err
			}
			n++
			_, err := db.seal.open(sealed, kind.place(name))
			return err
		}); err != nil {
			return n, fmt.Errorf("open what is sealed: %w", err)
		}
	}
	return n, nil
}

// AcquireDispatchLock takes the data folder and the database for the one process that
// may send. The locks end with the process, however that ends.
func (db *core) AcquireDispatchLock() (release func(), err error) { return db.config.serve() }

// Served fails when another process serves the data folder or the database.
// What else keeps it from looking is for others to find.
func (c Config) Served() error {
	if there, err := exists(filepath.Join(c.Data, servingLock)); err != nil || !there {
		return nil
	}
	release, err := c.serve()
	if errors.Is(err, errServed) {
		return err
	}
	if err == nil {
		release()
	}
	return nil
}

const servingLock = "smsdesk.lock"

var errServed = errors.New("another smsdesk is already using")

func (c Config) serve() (release func(), err error) {
	folder, err := lockFile(filepath.Join(c.Data, servingLock), false)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("%w the data folder %s. Stop it or use another --data", errServed, c.Data)
	}
	if err != nil {
		return nil, err
	}
	// By a link, or from another folder, the database goes by other names.
	path, err := filepath.EvalSymlinks(c.path())
	if err != nil {
		folder()
		return nil, fmt.Errorf("find the database: %w", err)
	}
	file, err := lockFile(path+".lock", false)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf(
			"%w the database %s from another data folder. Stop it first, or give this one a --database of its own", errServed, c.path())
	}
	if err != nil {
		folder()
		return nil, err
	}
	return func() { file(); folder() }, nil
}

// upgradable takes what serve takes: no schema changes under a desk that runs.
func (c Config) upgradable(p parts) (release func(), err error) {
	if p.schema == 0 || p.schema == newestSchema() {
		return func() {}, nil
	}
	if release, err = c.serve(); err != nil {
		return nil,
			fmt.Errorf(
				"the database %s has schema %d and this program needs schema %d, but it is not upgraded while another smsdesk "+
					"serves it. Stop that one, then start this one: %w",
				c.path(), p.schema, newestSchema(), err)
	}
	return release, nil
}

// File is the path of the database's file.
func (c Config) File() string { return c.path() }

// path is that of the database's file.
func (c Config) path() string {
	if path := strings.TrimPrefix(c.Database, "sqlite:"); path != "" {
		return path
	}
	return filepath.Join(c.Data, "smsdesk.db")
}
