package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Checkpointer keeps SQLite's write-ahead log short, so that the database file alone is never far behind: somebody
// may copy it with cp. It has a connection of its own that waits for nobody, because writers wait for a checkpoint
// that waits for readers. It is for one goroutine.
type Checkpointer struct {
	db      *sql.DB
	log     string    // its path
	written time.Time // when the log was written last, as seen by the last Step
	brought time.Time // when pages were brought over last
}

// checkpointBusy is how often pages are brought over while the log is being written: reports change the same pages
// again and again, and each time they would be written twice.
const checkpointBusy = 10 * time.Second

// Checkpointer opens the connection; Close ends it.
func (db *core) Checkpointer(ctx context.Context) (*Checkpointer, error) {
	var file string
	if err := db.reader.QueryRowContext(ctx, "select file from pragma_database_list where name = 'main'").Scan(
		&file); err != nil {
		return nil, fmt.Errorf("find the database file: %w", err)
	}
	c := &Checkpointer{log: file + "-wal", brought: time.Now()}
	var err error
	if c.db, err = sql.Open("sqlite", sqliteDSN(file, "cache_size(-200)")); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	c.db.SetMaxOpenConns(1)
	if _, err := c.db.ExecContext(ctx, "pragma busy_timeout = 0"); err != nil {
		return nil, errors.Join(fmt.Errorf("open database: %w", err), c.db.Close())
	}
	return c, nil
}

// Close closes the connection.
func (c *Checkpointer) Close() error { return c.db.Close() }

// Step brings what was committed into the database file. A log that was not written since the last Step is emptied,
// unless somebody is reading from it: then a later Step does it. Call it every few seconds.
func (c *Checkpointer) Step(ctx context.Context) error {
	info, err := os.Stat(c.log)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at the write-ahead log: %w", err)
	}
	rests := info.ModTime().Equal(c.written)
	c.written = info.ModTime()
	if !rests && time.Since(c.brought) < checkpointBusy {
		return nil
	}
	c.brought = time.Now()
	// Writers go on beside a passive checkpoint, so what is left for the one that stops them is little.
	how := []string{"pragma wal_checkpoint(PASSIVE)", "pragma wal_checkpoint(TRUNCATE)"}
	if !rests {
		how = how[:1]
	}
	for _, pragma := range how {
		var busy, inLog, moved int
		if err := c.db.QueryRowContext(ctx, pragma).Scan(&busy, &inLog, &moved); err != nil {
			return fmt.Errorf("empty the write-ahead log: %w", err)
		}
		if busy != 0 {
			return nil
		}
	}
	return nil
}
