package storage

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"smsdesk/internal/health"
)

// Copies of SQLite files, for backups. None of these makes a file that is to be read, migrates it, or needs the key.

// openFile opens an SQLite file that is there; how is "ro" or "rw", or "immutable" for one that nobody writes.
func openFile(path, how string) (*sql.DB, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	q := url.Values{}
	q["_pragma"] = []string{"busy_timeout(10000)", "synchronous(FULL)", "cache_size(-8000)"}
	if q.Set("mode", how); how == "immutable" {
		q.Set("mode", "ro")
		q.Set("immutable", "1")
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+q.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// CopyFile writes what the SQLite file at from holds between two transactions into a new file at to, beside a desk
// that goes on writing. The new file is synced and has no write-ahead log.
func CopyFile(ctx context.Context, from, to string) error {
	db, err := openFile(from, "ro")
	if err != nil {
		return fmt.Errorf("copy a database: %w", err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(ctx, "vacuum into ?", to); err != nil {
		return fmt.Errorf("copy a database: %w", err)
	}
	f, err := os.OpenFile(to, os.O_RDWR, 0)
	if err == nil {
		err = errors.Join(f.Chmod(0o600), f.Sync(), f.Close())
	}
	if err != nil {
		return fmt.Errorf("copy a database: %w", err)
	}
	return nil
}

// FileSize is about how large a copy of the SQLite file becomes, its write-ahead log included; 0 where there is none.
func FileSize(path string) (size int64, err error) {
	for _, end := range []string{"", "-wal"} {
		info, err := os.Stat(path + end)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, fmt.Errorf("look at a database: %w", err)
		}
		if err == nil {
			size += info.Size()
		}
	}
	return size, nil
}

// MarkCopy puts the mark of a copy into a database that nobody serves: the next start then asks. Head, sum and cursors
// are those of the database.
func MarkCopy(ctx context.Context, path string, mark health.Copy) (health.Copy, error) {
	db, err := openFile(path, "rw")
	if err == nil {
		mark, err = putMark(ctx, db, mark)
		err = errors.Join(err, db.Close())
	}
	return wrapNotFound(mark, err, "mark a copy")
}

const putSetting = `insert into setting (name, value) values (?, ?) on conflict (name) do update set value = excluded.value`

func putMark(ctx context.Context, db *sql.DB, mark health.Copy) (health.Copy, error) {
	var err error
	if mark.Head, mark.Sum, err = head(ctx, db); err != nil {
		return mark, err
	}
	if mark.Cursors, err = cursors(ctx, db); err != nil {
		return mark, err
	}
	text, err := json.Marshal(mark)
	if err != nil {
		return mark, err
	}
	_, err = db.ExecContext(ctx, putSetting, health.SettingCopy, string(text))
	return mark, err
}

// PutSettingIn stores one setting in a database file beside whoever serves it.
func PutSettingIn(ctx context.Context, path, name, value string) error {
	db, err := openFile(path, "rw")
	if err != nil {
		return fmt.Errorf("store setting: %w", err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(ctx, putSetting, name, value); err != nil {
		return fmt.Errorf("store setting: %w", err)
	}
	return nil
}

// SettingIn reads one setting of a database file; "" where it was never set.
func SettingIn(ctx context.Context, path, name string) (value string, err error) {
	db, err := openFile(path, "ro")
	if err != nil {
		return "", fmt.Errorf("read setting: %w", err)
	}
	defer func() { _ = db.Close() }()
	err = db.QueryRowContext(ctx, "select value from setting where name = ?", name).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return wrapNotFound(value, err, "read setting")
}

// Contents is what a database file holds.
type Contents struct {
	Schema int64
	Desk   string // "" before desks had one
	Copy   *health.Copy
	Rows   map[string]int64 // by table
}

// ReadContents counts what a database file holds that nobody writes. With check it reads all of it and fails where it
// is damaged.
func ReadContents(ctx context.Context, path string, check bool) (c Contents, err error) {
	db, err := openFile(path, "immutable")
	if err != nil {
		return c, fmt.Errorf("read a database: %w", err)
	}
	defer func() { _ = db.Close() }()
	if check {
		var verdict string
		if err := db.QueryRowContext(ctx, "pragma quick_check(1)").Scan(&verdict); err != nil || verdict != "ok" {
			return c, fmt.Errorf("the database file is damaged: %s", damage(verdict, err))
		}
	}
	if c.Rows, err = countRows(ctx, db); err != nil {
		return c, fmt.Errorf("read a database: %w", err)
	}
	if c.Schema, err = (sqliteFile{}).schema(ctx, db); err != nil {
		return c, fmt.Errorf("read a database: %w", err)
	}
	if _, is := c.Rows["setting"]; !is {
		return c, nil
	}
	if c.Desk, err = settingOr(ctx, db, health.SettingDesk); err != nil {
		return c, err
	}
	mark, err := settingOr(ctx, db, health.SettingCopy)
	if err != nil || mark == "" {
		return c, err
	}
	if err := json.Unmarshal([]byte(mark), &c.Copy); err != nil {
		return c, fmt.Errorf("read the mark of a copy: %w", err)
	}
	return c, nil
}

func damage(verdict string, err error) string {
	if err != nil {
		return err.Error()
	}
	return verdict
}

func settingOr(ctx context.Context, db *sql.DB, name string) (value string, err error) {
	err = db.QueryRowContext(ctx, "select value from setting where name = ?", name).Scan(&value)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("read setting: %w", err)
	}
	return value, nil
}

func countRows(ctx context.Context, db *sql.DB) (map[string]int64, error) {
	list, err := db.QueryContext(ctx,
		`select name from sqlite_schema where type = 'table' and name not like 'sqlite\_%' escape '\'`)
	var tables []string
	if err = forEachRow(list, err, func(scan func(...any) error) error {
		var name string
		err := scan(&name)
		tables = append(tables, name)
		return err
	}); err != nil {
		return nil, err
	}
	rows := map[string]int64{}
	for _, t := range tables {
		var n int64
		if err := db.QueryRowContext(ctx, `select count(*) from "`+strings.ReplaceAll(t, `"`, `""`)+
			`"`).Scan(&n); err != nil {
			return nil, err
		}
		rows[t] = n
	}
	return rows, nil
}

// head is the last line of the journal that a database knows of; 0 in one from before the journal had numbers.
func head(ctx context.Context, db *sql.DB) (seq int64, sum string, err error) {
	var tables int
	const has = "select count(*) from sqlite_schema where name = 'journal_head'"
	if err = db.QueryRowContext(ctx, has).Scan(&tables); err != nil || tables == 0 {
		return 0, "", err
	}
	err = db.QueryRowContext(ctx, "select seq, sum from journal_head order by seq desc limit 1").Scan(&seq, &sum)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return seq, sum, err
}

func cursors(ctx context.Context, db *sql.DB) (map[string]int64, error) {
	all := map[string]int64{}
	rows, err := db.QueryContext(ctx, "select name, position from inbox_cursor")
	err = forEachRow(rows, err, func(scan func(...any) error) error {
		var name string
		var at int64
		err := scan(&name, &at)
		all[name] = at
		return err
	})
	return all, err
}

// KeyFits says whether the text of a key file opens what a database file holds that nobody writes.
func KeyFits(ctx context.Context, path string, key []byte) (bool, error) {
	seal, err := newSealer(key)
	if err != nil {
		return false, fmt.Errorf("this is no key: %w", err)
	}
	db, err := openFile(path, "immutable")
	if err != nil {
		return false, fmt.Errorf("try the key: %w", err)
	}
	defer func() { _ = db.Close() }()
	fits, err := seal.fits(ctx, db)
	return wrapNotFound(fits, err, "try the key")
}

// NewestSchema is the number of the newest migration that this program knows.
func NewestSchema() int64 { return newestSchema() }

// JoinInboxes brings into an inbox what an older copy of it holds besides. Both are files that nobody has open. What
// the older copy knew of the spool counts: its files are there again, and a report that comes twice counts once.
func JoinInboxes(ctx context.Context, into, older string) error {
	db, err := openFile(into, "rw")
	if err != nil {
		return fmt.Errorf("join inboxes: %w", err)
	}
	for _, statement := range []string{
		"attach database " + quoted(older) + " as older",
		"begin immediate",
		"insert or ignore into raw (id, account_id, received_at, remote, query) select id, account_id, received_at, remote, query from older.raw",
		"delete from drained",
		"insert into drained (file, position) select file, position from older.drained",
		"commit",
		"detach database older",
	} {
		if err == nil {
			_, err = db.ExecContext(ctx, statement)
		}
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("join inboxes: %w", err)
	}
	return nil
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
