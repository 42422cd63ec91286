package storage

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"smsdesk/internal/ussd"
)

// USSDSpool is an append-only file beside the database. What callers were
// promised is in it before they are answered, so that no caller waits for the
// database's one writer while a list is imported.
type USSDSpool struct {
	mu sync.Mutex
	f  *os.File
}

// OpenUSSDSpool opens ussd.spool in the data folder, making it where it is
// missing.
func OpenUSSDSpool(data string) (*USSDSpool, error) {
	f, err := os.OpenFile(filepath.Join(data, "ussd.spool"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the spool of USSD answers: %w", err)
	}
	if err := syncFolder(data); err != nil {
		return nil, errors.Join(fmt.Errorf("open the spool of USSD answers: %w", err), f.Close())
	}
	return &USSDSpool{f: f}, nil
}

// Append returns after the batch is on the disk.
func (s *USSDSpool) Append(b ussd.Batch) error {
	line, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("spool USSD answers: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.f.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("spool USSD answers: %w", err)
	}
	if err := s.f.Sync(); err != nil {
		return fmt.Errorf("spool USSD answers: %w", err)
	}
	return nil
}

// Read returns all that was appended since the last Clear. A line that a crash
// cut off was promised to nobody and is passed over.
func (s *USSDSpool) Read() (all ussd.Batch, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	raw, err := io.ReadAll(io.NewSectionReader(s.f, 0, 1<<40))
	if err != nil {
		return all, fmt.Errorf("read the spool of USSD answers: %w", err)
	}
	lines := bufio.NewReader(bytes.NewReader(raw))
	for {
		line, err := lines.ReadBytes('\n')
		var b ussd.Batch
		if err == nil && json.Unmarshal(line, &b) == nil {
			all.Saved, all.Joined = append(all.Saved, b.Saved...), append(all.Joined, b.Joined...)
		}
		if err != nil {
			return all, nil
		}
	}
}

// Clear forgets what is in the database by now.
func (s *USSDSpool) Clear() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.f.Truncate(0); err != nil {
		return fmt.Errorf("clear the spool of USSD answers: %w", err)
	}
	return nil
}

// Close closes the file.
func (s *USSDSpool) Close() error { return s.f.Close() }
