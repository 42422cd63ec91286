package storage

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"

	"smsdesk/internal/health"
	"smsdesk/internal/sms"
)

//go:embed migrations
var migrations embed.FS

// Everything that differs between database engines is in this file.

const (
	sqliteReaders = 4
	// claimLock keeps two nodes from claiming the same rows. SQLite has one
	// writer, so there is nothing to lock.
	claimLock = ""
)

// sqliteDSN makes the settings part of every connection. busy_timeout stands
// first so that the switch to WAL waits for other processes too. Checkpoints are
// rarer than SQLite's own: reports change the same pages again and again.
func sqliteDSN(path string, pragmas ...string) string {
	q := url.Values{}
	q.Set("_txlock", "immediate")
	q["_pragma"] = append([]string{"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
		"cache_size(-8000)", "wal_autocheckpoint(8000)"}, pragmas...)
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
}

func openSQLite(path string) (writer, reader *sql.DB, err error) {
	// What SQLite keeps of the pages that one statement changes, in case it
	// fails, else goes to a temporary file: a fifth of applying reports.
	writer, err = sql.Open("sqlite", sqliteDSN(path, "temp_store(MEMORY)"))
	if err != nil {
		return nil, nil, fmt.Errorf("open database: %w", err)
	}
	writer.SetMaxOpenConns(1)
	reader, err = sql.Open("sqlite", sqliteDSN(path, "query_only(1)"))
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open database for reading: %w", err), writer.Close())
	}
	reader.SetMaxOpenConns(sqliteReaders)
	reader.SetMaxIdleConns(sqliteReaders)
	return writer, reader, nil
}

// openReading opens a database that is there to be read, beside a process that
// writes to it too; nothing in it changes. What a killed process has left in
// the write-ahead log is read and stays where it is, which needs a connection
// that could not write; of an empty log that one would leave files behind.
func openReading(path string) (*sql.DB, error) {
	mode := "rw"
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		mode = "ro"
	}
	q := url.Values{"mode": {mode}, "_pragma": {"busy_timeout(10000)", "query_only(1)", "cache_size(-8000)",
		"temp_store(MEMORY)"}}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+q.Encode())
	if err != nil {
		return nil, fmt.Errorf("open the database for reading: %w", err)
	}
	db.SetMaxOpenConns(sqliteReaders)
	return db, nil
}

// schemaOf is the number of the last migration that the database has had, 0
// for a file without any.
func schemaOf(ctx context.Context, db *sql.DB) (version int64, err error) {
	var tables int
	err = db.QueryRowContext(ctx,
		"select count(*) from sqlite_master where type = 'table' and name = 'goose_db_version'").Scan(&tables)
	if err == nil && tables > 0 {
		err = db.QueryRowContext(ctx, "select coalesce(max(version_id), 0) from goose_db_version where is_applied").Scan(
			&version)
	}
	if err != nil {
		return 0, fmt.Errorf("read the database's schema: %w", err)
	}
	return version, nil
}

// newestSchema is the number of the last migration that this program has.
func newestSchema() (version int64) {
	files, err := fs.Glob(migrations, "migrations/sqlite/*.sql")
	if err != nil {
		panic(err) // the pattern is wrong
	}
	for _, file := range files {
		number, _, _ := strings.Cut(filepath.Base(file), "_")
		if n, err := strconv.ParseInt(number, 10, 64); err == nil {
			version = max(version, n)
		}
	}
	return version
}

// placeholders stands for n arguments, each in its place in the statement. They have
// no numbers: SQLite looks a numbered one up among all others, and a statement
// of many rows then costs the square of their number.
func placeholders(n int) string { return strings.Repeat("?, ", n-1) + "?" }

// ShrinkMemory gives back the memory of pages that were read, of every file: several
// that are open share their caches, and what is read once of one stays in it.
func (db *core) ShrinkMemory(ctx context.Context) error {
	if _, err := db.writer.ExecContext(ctx, "pragma shrink_memory"); err != nil {
		return fmt.Errorf("give memory back: %w", err)
	}
	return nil
}

// stagingRows is how many rows one statement puts into a staging file.
const stagingRows = 16

// stagingSchema is that of a staging file, which is SQLite beside every engine.
// verdict holds 2 * parts, 1 for Unicode, and 65,536 * the place of the kind
// among sms.RowKinds, counted from 1.
const stagingSchema = `
create table row (
  row_no integer primary key,
  number integer not null,
  text text not null,
  verdict integer not null
);
create table note (
  kind integer not null,
  row_no integer not null,
  col integer not null,
  text text not null,
  before text not null,
  after text not null,
  other integer not null,
  cells text not null,
  primary key (kind, row_no)
) without rowid;`

// openStaging opens the staging file of one list. It is written once and can
// be made again, so nothing of it is synced on the way; once whole it is only
// read.
func openStaging(path string, write bool) (*sql.DB, error) {
	q := url.Values{}
	if write {
		q["_pragma"] = []string{"page_size(8192)", "journal_mode(OFF)", "synchronous(OFF)", "locking_mode(EXCLUSIVE)",
			"cache_size(-1000)"}
	} else {
		q.Set("mode", "ro")
		q.Set("immutable", "1")
		q["_pragma"] = []string{"query_only(1)", "cache_size(-1000)"}
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+q.Encode())
	if err != nil {
		return nil, fmt.Errorf("open the staged rows: %w", err)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// assertSQLite reads the settings back: a driver that ignores one silently
// would make "committed" mean less than the sending rules need.
func assertSQLite(ctx context.Context, db *sql.DB) error {
	want := map[string]string{"journal_mode": "wal", "synchronous": "2", "busy_timeout": "10000", "foreign_keys": "1"}
	for name, value := range want {
		var got string
		if err := db.QueryRowContext(ctx, "pragma "+name).Scan(&got); err != nil {
			return fmt.Errorf("read setting %s: %w", name, err)
		}
		if !strings.EqualFold(got, value) {
			return fmt.Errorf("the database's setting %s is %q, not %q", name, got, value)
		}
	}
	var version string
	if err := db.QueryRowContext(ctx, "select sqlite_version()").Scan(&version); err != nil {
		return fmt.Errorf("read SQLite's version: %w", err)
	}
	if !versionAtLeast(version, 3, 51, 3) {
		return fmt.Errorf("SQLite is %s; 3.51.3 or newer is needed", version)
	}
	return nil
}

func versionAtLeast(version string, want ...int) bool {
	parts := strings.SplitN(version, ".", len(want))
	for i, part := range parts {
		n := 0
		if _, err := fmt.Sscanf(part, "%d", &n); err != nil {
			return false
		}
		if n != want[i] {
			return n > want[i]
		}
	}
	return len(parts) == len(want)
}

func migrate(ctx context.Context, db *sql.DB) (err error) {
	// A new index over millions of rows is sorted in a file.
	if _, err := db.ExecContext(ctx, "pragma temp_store = FILE"); err != nil {
		return fmt.Errorf("bring the database up to date: %w", err)
	}
	defer func() {
		_, also := db.ExecContext(ctx, "pragma temp_store = MEMORY")
		err = errors.Join(err, also)
	}()
	folder, err := fs.Sub(migrations, "migrations/sqlite")
	if err != nil {
		return fmt.Errorf("open migrations: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, folder, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("bring the database up to date: %w", err)
	}
	return nil
}

// classify turns a driver's error into one of ours where it has a meaning.
func classify(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return sms.ErrNotFound
	}
	if e, ours := errors.AsType[*sqlite.Error](err); ours && (e.Code() == sqlitelib.SQLITE_CONSTRAINT_UNIQUE ||
		e.Code() == sqlitelib.SQLITE_CONSTRAINT_PRIMARYKEY) {
		return fmt.Errorf("%w: %w", sms.ErrConflict, err)
	}
	return troubled(err)
}

// engineTrouble is the trouble with storage that the driver reports. The low
// byte of a code is its kind.
func engineTrouble(err error) health.Trouble {
	e, ours := errors.AsType[*sqlite.Error](err)
	if !ours {
		return ""
	}
	switch e.Code() & 0xff {
	case sqlitelib.SQLITE_FULL:
		return health.TroubleFull
	case sqlitelib.SQLITE_READONLY, sqlitelib.SQLITE_PERM, sqlitelib.SQLITE_AUTH, sqlitelib.SQLITE_CANTOPEN:
		return health.TroubleReadOnly
	case sqlitelib.SQLITE_BUSY, sqlitelib.SQLITE_LOCKED, sqlitelib.SQLITE_PROTOCOL:
		return health.TroubleLocked
	case sqlitelib.SQLITE_CORRUPT, sqlitelib.SQLITE_NOTADB:
		return health.TroubleDamaged
	case sqlitelib.SQLITE_IOERR:
		return health.TroubleFailing
	}
	return ""
}

// checkURL says whether this engine can open the database that a person named.
func checkURL(raw string) error {
	if raw == "" || strings.HasPrefix(raw, "sqlite:") {
		return nil
	}
	return fmt.Errorf(
		"unsupported database %q: use sqlite:PATH, or leave out --database for smsdesk.db in the data folder", redactURL(raw))
}

// redactURL keeps what tells a person which setting is meant. Whatever is no
// plain scheme and host may be a password.
func redactURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return "…"
	}
	return u.Scheme + "://" + u.Host + "/…"
}

// Check reads the whole database file and says what is damaged.
func (db *core) Check(ctx context.Context) error {
	var verdict string
	if err := db.reader.QueryRowContext(ctx, "pragma quick_check(1)").Scan(&verdict); err != nil {
		return fmt.Errorf("check the database file: %w", err)
	}
	if verdict != "ok" {
		return fmt.Errorf("the database file is damaged: %s", verdict)
	}
	return nil
}
