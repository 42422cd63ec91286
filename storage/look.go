package storage

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// What can be known of the files beside the database without changing them.

// InboxState is what LookIntoInbox found.
type InboxState struct {
	Missing bool
	// Newest is the highest id that was ever given to a report.
	Newest int64
	// Waiting is how many reports are there behind the cursor.
	Waiting int64
}

// LookIntoInbox reads the whole inbox of a data folder, also beside a desk that
// runs. cursor is where the applier stands. The error says what is damaged.
func LookIntoInbox(ctx context.Context, data string, cursor int64) (s InboxState, err error) {
	path := filepath.Join(data, "inbox.db")
	if there, err := exists(path); err != nil || !there {
		return InboxState{Missing: !there}, err
	}
	db, err := sqliteFile{path}.look()
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := (sqliteFile{path}).check(ctx, db); err != nil {
		return s, err
	}
	const state = `select coalesce((select seq from sqlite_sequence where name = 'raw'), 0), (select count(*) from raw where id > $1)`
	if err := db.QueryRowContext(ctx, state, cursor).Scan(&s.Newest, &s.Waiting); err != nil {
		return s, fmt.Errorf("read the inbox: %w", err)
	}
	return s, nil
}

// Spooled counts the delivery reports that wait in a spool folder.
func Spooled(folder string) (reports int64, err error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the spool of reports: %w", err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), spoolEnding) {
			continue
		}
		n, err := spooledIn(filepath.Join(folder, e.Name()))
		if err != nil {
			return reports, fmt.Errorf("read the spool of reports: %w", err)
		}
		reports += n
	}
	return reports, nil
}

func spooledIn(path string) (reports int64, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // taken to the inbox meanwhile
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewReaderSize(f, 1<<20)
	for {
		// Behind the lines there may be space that was reserved.
		if next, err := lines.Peek(1); errors.Is(err, io.EOF) || err == nil && next[0] == 0 {
			return reports, nil
		}
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return reports, nil
		}
		if err != nil {
			return reports, err
		}
		if _, ok := readSpooled(line); ok {
			reports++
		}
	}
}

// FreeSpace is how many bytes the disk of a folder still takes.
func FreeSpace(folder string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, fmt.Errorf("look how full the disk of %s is: %w", folder, err)
	}
	return int64(s.Bavail) * s.Bsize, nil
}
