package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"smsdesk/internal/health"
	"smsdesk/internal/sms"
)

// TestTroubleIsTold: a database that is full, locked, damaged or read-only says
// so by its kind, through everything that wraps the driver's error.
func TestTroubleIsTold(t *testing.T) {
	f := newFixture(t)
	write := func() error { return f.db.PutSetting(f.ctx, "a", string(make([]byte, 1<<20))) }

	pages := one[int](f, "pragma page_count")
	_, err := f.db.writer.ExecContext(f.ctx, fmt.Sprint("pragma max_page_count = ", pages))
	f.must(err)
	if err := write(); health.TroubleOf(err) != health.TroubleFull {
		t.Errorf("full: %v", err)
	}
	_, err = f.db.writer.ExecContext(f.ctx, "pragma max_page_count = 1073741823")
	f.must(err)

	_, err = f.db.writer.ExecContext(f.ctx, "pragma busy_timeout = 10")
	f.must(err)
	other, _, err := sqliteFile{filepath.Join(f.data, "smsdesk.db")}.open()
	f.must(err)
	t.Cleanup(func() { _ = other.Close() })
	tx, err := other.BeginTx(f.ctx, nil)
	f.must(err)
	if err := write(); health.TroubleOf(err) != health.TroubleLocked {
		t.Errorf("locked: %v", err)
	}
	f.must(tx.Rollback())
	f.must(write())

	_, err = f.db.writer.ExecContext(f.ctx, "pragma query_only = 1")
	f.must(err)
	if err := write(); health.TroubleOf(err) != health.TroubleReadOnly {
		t.Errorf("read-only: %v", err)
	}
	if err := f.db.RotateCallback(f.ctx, 99, sms.CallbackDLR, 1); health.TroubleOf(err) != health.TroubleReadOnly {
		t.Errorf("read-only, another way: %v", err)
	}
	if _, err := f.db.Account(f.ctx, 99); err == nil || health.TroubleOf(err) != "" {
		t.Errorf("what is not there is no trouble: %v", err)
	}
}

// TestADamagedFileIsToldWhenItIsOpened, as is a folder that cannot be written;
// a damaged key is another matter: it is a wrong configuration.
func TestADamagedFileIsToldWhenItIsOpened(t *testing.T) {
	open := func(data string) error {
		db, err := Open(context.Background(), Config{Data: data})
		if err == nil {
			err = db.Close()
		}
		return err
	}
	damaged := t.TempDir()
	if err := open(damaged); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(damaged, "smsdesk.db"),
		[]byte("this is no database at all, but it is long enough to look like one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open(damaged); TroubleOf(err) != health.TroubleDamaged {
		t.Errorf("damaged: %v", err)
	}
	key := t.TempDir()
	if err := os.WriteFile(filepath.Join(key, "smsdesk.key"), []byte("?"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open(key); err == nil || TroubleOf(err) != "" {
		t.Errorf("damaged key: %v", err)
	}
	for errno, want := range map[syscall.Errno]health.Trouble{syscall.ENOSPC: health.TroubleFull,
		syscall.EDQUOT: health.TroubleFull, syscall.EFBIG: health.TroubleFull,
		syscall.EROFS: health.TroubleReadOnly, syscall.EACCES: health.TroubleReadOnly, syscall.EIO: health.TroubleFailing,
		syscall.ENOENT: "", syscall.EWOULDBLOCK: ""} {
		err := fmt.Errorf("open: %w", &fs.PathError{Op: "open", Path: "x", Err: errno})
		if got := TroubleOf(err); got != want || health.TroubleOf(troubled(err)) != want || !errors.Is(troubled(err), errno) {
			t.Errorf("%v: %q, want %q", errno, got, want)
		}
	}
}
