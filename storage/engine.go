package storage

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
)

//go:embed migrations
var migrations embed.FS

// engine is what differs between database engines, but for what an error means:
// that is in classify. Behind it stands sqliteFile. The inbox, snapshots and the
// staging of lists are SQLite beside every engine.
type engine interface {
	// open opens the database to be written and to be read.
	open() (writer, reader *sql.DB, err error)
	// look opens a database that is there to be read, beside a process that
	// writes to it too; nothing in it changes.
	look() (*sql.DB, error)
	// assert reads settings and version back: one that is ignored silently would
	// make "committed" mean less than the sending rules need.
	assert(ctx context.Context, db *sql.DB) error
	// migrate brings the schema to newestSchema.
	migrate(ctx context.Context, db *sql.DB) error
	// schema is the number of the last migration that the database has had, 0
	// for one without any.
	schema(ctx context.Context, db *sql.DB) (int64, error)
	// check reads the whole database and says what is damaged.
	check(ctx context.Context, db *sql.DB) error
	// spare gives back the memory of pages that were read.
	spare(ctx context.Context, db *sql.DB) error
	// lend lets statements of db read the tables of a staging file as those of the
	// schema as, until giveBack.
	lend(ctx context.Context, db *sql.DB, path, as string) (giveBack func() error, err error)
	// stretch lets transactions of db change many pages at once, until back.
	stretch(ctx context.Context, db *sql.DB) (back func() error, err error)
	// placeholders stands for n arguments, each in its place in the statement.
	placeholders(n int) string
	// claimLock ends the statement that picks messages for a call, so that no
	// other node picks them too.
	claimLock() string
}

// engine is the one that the configuration names.
func (c Config) engine() engine { return sqliteFile{c.path()} }

// newestSchema is the number of the last migration that this program has: the
// same for every engine.
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

// ShrinkMemory gives back the memory of pages that were read, of every file:
// several that are open share their caches, and what is read once of one stays
// in it.
func (db *core) ShrinkMemory(ctx context.Context) error { return db.engine.spare(ctx, db.writer) }

// Check reads the whole database and says what is damaged.
func (db *core) Check(ctx context.Context) error { return db.engine.check(ctx, db.reader) }
