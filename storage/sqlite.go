package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"

	"smsdesk/internal/health"
	"smsdesk/internal/sms"
)

// sqliteFile is the engine of one file. It has one writer, so that nobody waits
// for a lock asleep.
type sqliteFile struct{ path string }

const sqliteReaders = 4

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

func (f sqliteFile) open() (writer, reader *sql.DB, err error) {
	// What SQLite keeps of the pages that one statement changes, in case it
	// fails, else goes to a temporary file: a fifth of applying reports.
	writer, err = sql.Open("sqlite", sqliteDSN(f.path, "temp_store(MEMORY)"))
	if err != nil {
		return nil, nil, fmt.Errorf("open database: %w", err)
	}
	writer.SetMaxOpenConns(1)
	reader, err = sql.Open("sqlite", sqliteDSN(f.path, "query_only(1)"))
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open database for reading: %w", err), writer.Close())
	}
	reader.SetMaxOpenConns(sqliteReaders)
	reader.SetMaxIdleConns(sqliteReaders)
	return writer, reader, nil
}

// look reads beside other processes. What a killed process has left in
// the write-ahead log is read and stays where it is, which needs a connection
// that could not write; of an empty log that one would leave files behind.
func (f sqliteFile) look() (*sql.DB, error) {
	mode := "rw"
	if info, err := os.Stat(f.path + "-wal"); err == nil && info.Size() > 0 {
		mode = "ro"
	}
	q := url.Values{"mode": {mode}, "_pragma": {"busy_timeout(10000)", "query_only(1)", "cache_size(-8000)",
		"temp_store(MEMORY)"}}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: f.path}).EscapedPath()+"?"+q.Encode())
	if err != nil {
		return nil, fmt.Errorf("open the database for reading: %w", err)
	}
	db.SetMaxOpenConns(sqliteReaders)
	return db, nil
}

func (sqliteFile) schema(ctx context.Context, db *sql.DB) (version int64, err error) {
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

// placeholders have no numbers: SQLite looks a numbered one up among all others,
// and a statement of many rows then costs the square of their number.
func (sqliteFile) placeholders(n int) string { return strings.Repeat("?, ", n-1) + "?" }

// claimLock is nothing: there is one writer.
func (sqliteFile) claimLock() string { return "" }

func (sqliteFile) spare(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, "pragma shrink_memory"); err != nil {
		return fmt.Errorf("give memory back: %w", err)
	}
	return nil
}

func (sqliteFile) lend(ctx context.Context, db *sql.DB, path, as string) (giveBack func() error, err error) {
	_, err = db.ExecContext(ctx, "attach $1 as "+as, fileURI(path, url.Values{"mode": {"ro"}}))
	if err == nil {
		// It is read from the beginning to the end.
		_, err = db.ExecContext(ctx, "pragma "+as+".cache_size = -100")
	}
	if err != nil {
		return nil, fmt.Errorf("attach %s: %w", as, err)
	}
	return func() error {
		if _, err := db.ExecContext(context.WithoutCancel(ctx), "detach "+as); err != nil {
			return fmt.Errorf("detach %s: %w", as, err)
		}
		return nil
	}, nil
}

const (
	usualLog     = "pragma wal_autocheckpoint = 8000"
	stretchedLog = "pragma wal_autocheckpoint = 64000"
)

// stretch lets the write-ahead log grow to 256 MB: pages of an index in which rows stand
// far apart change in every transaction, and are brought into the file once for many.
func (f sqliteFile) stretch(ctx context.Context, db *sql.DB) (back func() error, err error) {
	if _, err := db.ExecContext(ctx, stretchedLog); err != nil {
		return nil, fmt.Errorf("let the log grow: %w", err)
	}
	return func() error {
		ctx := context.WithoutCancel(ctx)
		if _, err := db.ExecContext(ctx, usualLog); err != nil {
			return fmt.Errorf("keep the log short: %w", err)
		}
		return f.spare(ctx, db)
	}, nil
}

func (sqliteFile) assert(ctx context.Context, db *sql.DB) error {
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

func (sqliteFile) migrate(ctx context.Context, db *sql.DB) (err error) {
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

func (sqliteFile) check(ctx context.Context, db *sql.DB) error {
	var verdict string
	if err := db.QueryRowContext(ctx, "pragma quick_check(1)").Scan(&verdict); err != nil {
		return fmt.Errorf("check the database file: %w", err)
	}
	if verdict != "ok" {
		return fmt.Errorf("the database file is damaged: %s", verdict)
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
