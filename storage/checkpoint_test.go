package storage

import (
	"context"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// copyAlone copies the database file without its write-ahead log, as cp does.
func (f *fixture) copyAlone(t *testing.T) *sql.DB {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(f.data, "smsdesk.db"))
	f.must(err)
	path := filepath.Join(t.TempDir(), "copied.db")
	f.must(os.WriteFile(path, raw, 0o600))
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=ro&immutable=1")
	f.must(err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (f *fixture) checkpointer(t *testing.T) *Checkpointer {
	t.Helper()
	c, err := f.db.Checkpointer(f.ctx)
	f.must(err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestTheDatabaseFileAloneHoldsWhatWasCommitted: whoever copies smsdesk.db of a running desk gets no empty file.
func TestTheDatabaseFileAloneHoldsWhatWasCommitted(t *testing.T) {
	f := newFixture(t)
	c := f.checkpointer(t)
	f.start("Hello", numbers(30)...)
	f.must(c.Step(f.ctx))
	f.must(c.Step(f.ctx))
	var n int
	if err := f.copyAlone(t).QueryRowContext(f.ctx, "select count(*) from message").Scan(&n); err != nil || n != 30 {
		t.Errorf("the file alone holds %d messages of 30, %v", n, err)
	}
	if info, err := os.Stat(filepath.Join(f.data, "smsdesk.db-wal")); err != nil || info.Size() != 0 {
		t.Errorf("the log still has %d bytes, %v", info.Size(), err)
	}
	f.start("And on", numbers(3)...)
	f.check()
}

// TestACheckpointMakesNobodyWait: a download may read for minutes.
func TestACheckpointMakesNobodyWait(t *testing.T) {
	f := newFixture(t)
	c := f.checkpointer(t)
	reading, err := f.db.reader.QueryContext(f.ctx, "select name from sqlite_schema")
	f.must(err)
	reading.Next()
	f.start("Hello", numbers(30)...)
	ctx, cancel := context.WithTimeout(f.ctx, 5*time.Second)
	defer cancel()
	for range 3 {
		began := time.Now()
		f.must(c.Step(ctx))
		f.must(f.db.PutSetting(ctx, "a", "b"))
		if took := time.Since(began); took > 2*time.Second {
			t.Fatalf("a step beside a reader, and a write, took %s", took)
		}
	}
	f.must(reading.Close())
	f.must(c.Step(f.ctx))
	f.must(c.Step(f.ctx))
	if info, err := os.Stat(filepath.Join(f.data, "smsdesk.db-wal")); err != nil || info.Size() != 0 {
		t.Errorf("after the reader has gone, the log still has %d bytes, %v", info.Size(), err)
	}
}
