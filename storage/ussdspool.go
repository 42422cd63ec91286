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
// database's one writer while a list is imported. Reading it twice does no
// harm: PutUSSDSessions takes the same again as nothing new.
// It is one file and no log of storage/log: it is emptied while others append to it, where a
// log's last segment stays, and a restore joins those of two folders, whose segments would
// have the same names.
type USSDSpool struct {
	path string
	mu   sync.Mutex
	f    *os.File
	size int64
	torn bool // the file may end in the middle of a line
}

// spoolShort is how long the file may be before a part of it is given up: up to
// there it waits until nothing in it is needed any more.
const spoolShort = 1 << 20

// OpenUSSDSpool opens ussd.spool in the data folder, making it where it is
// missing.
func OpenUSSDSpool(data string) (*USSDSpool, error) {
	s := &USSDSpool{path: filepath.Join(data, "ussd.spool")}
	err := s.open(s.path)
	if err == nil {
		err = syncFolder(data)
	}
	if err != nil {
		return nil, fmt.Errorf("open the spool of USSD answers: %w", errors.Join(err, s.Close()))
	}
	return s, nil
}

// open goes over to the file at path.
func (s *USSDSpool) open(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	at, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	err = s.Close()
	// What an earlier process left may have been cut off.
	s.f, s.size, s.torn = f, at.Size(), at.Size() > 0
	return err
}

// Append returns after the batch is on the disk. After an error nothing of it
// is kept: the file ends where it did before, or at least the next line does
// not grow together with the rest of this one.
func (s *USSDSpool) Append(b ussd.Batch) error {
	line, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("spool USSD answers: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	line = append(line, '\n')
	if s.torn {
		line = append([]byte{'\n'}, line...)
	}
	if _, err = s.f.Write(line); err == nil {
		err = s.f.Sync()
	}
	if err != nil {
		s.torn = s.f.Truncate(s.size) != nil || s.torn
		return fmt.Errorf("spool USSD answers: %w", err)
	}
	s.size, s.torn = s.size+int64(len(line)), false
	return nil
}

// Read returns all that was appended and is not cleared, in that order. A line
// that a crash cut off was promised to nobody and is passed over.
func (s *USSDSpool) Read() (all ussd.Batch, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := bufio.NewReader(io.NewSectionReader(s.f, 0, 1<<40))
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, fmt.Errorf("read the spool of USSD answers: %w", err)
		}
		var b ussd.Batch
		if json.Unmarshal(bytes.TrimSpace(line), &b) == nil {
			all.Sessions, all.Steps = append(all.Sessions, b.Sessions...), append(all.Steps, b.Steps...)
			all.Saved, all.Joined = append(all.Saved, b.Saved...), append(all.Joined, b.Joined...)
		}
	}
}

// Mark is where the spool ends at the moment.
func (s *USSDSpool) Mark() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

// Clear forgets what was appended before the mark, because the database has it
// by now. A mark is good for one Clear.
func (s *USSDSpool) Clear(mark int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	switch {
	case mark >= s.size:
		if err = s.f.Truncate(0); err == nil {
			s.size, s.torn = 0, false
		}
	case mark > spoolShort:
		err = s.keepFrom(mark)
	}
	if err != nil {
		return fmt.Errorf("clear the spool of USSD answers: %w", err)
	}
	return nil
}

// keepFrom puts a file with what follows the mark into the place of this one.
func (s *USSDSpool) keepFrom(mark int64) error {
	next := s.path + ".next"
	f, err := os.OpenFile(next, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, io.NewSectionReader(s.f, mark, s.size-mark))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(next, s.path)
	}
	if err == nil {
		err = s.open(s.path)
	}
	if err == nil {
		err = syncFolder(filepath.Dir(s.path))
	}
	return err
}

// Close closes the file.
func (s *USSDSpool) Close() error {
	if s.f == nil {
		return nil
	}
	return s.f.Close()
}
