package storage

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"smsdesk/internal/sms"
)

// spool is where reports go while the inbox cannot be written: files of
// one line each, synced before the report is acknowledged. A line that a crash
// cut off was never acknowledged.
type spool struct {
	folder string
	mu     sync.Mutex
	files  []string // with something to read, oldest first; the last may be open
	open   *os.File
	size   int64
	whole  bool  // open has its blocks already: it is never made shorter
	ready  bool  // spaceName is there
	space  int64 // how large spaceName is to be; 0: nothing is reserved
	closed bool
}

const (
	spoolEnding = ".reports"
	// spaceName is a file of zeros that becomes the next file of the spool: on a
	// disk that is full its blocks are there already. The name is as long as
	// those it gives way to, so that the folder need not grow either.
	spaceName = "00000000000000000000.prepare"
	// spoolPart is how many reports are read at once.
	spoolPart = 1000
)

// find lists what an earlier process has left, before what this one spools. The
// folder is made when it is needed: it may be on a disk that is not there today.
func (s *spool) find() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	entries, err := os.ReadDir(s.folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("open the spool of reports: %w", err)
	}
	var earlier []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), spoolEnding) && !slices.Contains(s.files, e.Name()) {
			earlier = append(earlier, e.Name())
		}
	}
	s.files = append(earlier, s.files...)
	return nil
}

// prepare reserves space of that many bytes for a time in which the disk is
// full, unless there is some already.
func (s *spool) prepare(size int64) error {
	s.mu.Lock()
	ready := s.ready
	s.mu.Unlock()
	if ready {
		return nil
	}
	err := os.MkdirAll(s.folder, 0o700)
	if err == nil {
		err = fillFile(filepath.Join(s.folder, spaceName), size)
	}
	if err != nil {
		return fmt.Errorf("reserve space for reports: %w", err)
	}
	s.mu.Lock()
	s.ready, s.space = true, size
	s.mu.Unlock()
	return nil
}

// recycle makes a file that was taken whole the space of the next one, if it has
// the size: on a disk that is full others would be quicker to take its blocks.
func (s *spool) recycle(name string) (done bool) {
	path := filepath.Join(s.folder, name)
	info, err := os.Stat(path)
	if err != nil || s.space == 0 || s.ready || info.Size() != s.space {
		return false
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	if err = zero(f, 0, s.space); err == nil {
		err = f.Sync()
	}
	if errors.Join(err, f.Close()) != nil || os.Rename(path, filepath.Join(s.folder, spaceName)) != nil {
		return false
	}
	s.ready = true
	return true
}

// waits says that there is something to bring to the inbox.
func (s *spool) waits() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.files) > 0
}

func (s *spool) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return s.end()
}

func (s *spool) end() error {
	if s.open == nil {
		return nil
	}
	err := s.open.Close()
	s.open = nil
	return err
}

// append writes reports, or proves with an empty line that it could, and returns
// after the sync. After a failure the file
// ends where it did before, or is left behind: what came of the write is in the
// dark, and nobody was told that it is stored.
func (s *spool) append(list []sms.RawReport) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("spool a report: the spool is closed")
	}
	if s.open == nil {
		if err := s.start(); err != nil {
			return fmt.Errorf("spool a report: %w", err)
		}
	}
	var b strings.Builder
	for _, k := range list {
		fmt.Fprintf(&b, "%d %d %q %q\n", k.AccountID, k.ReceivedAt, k.Remote, k.Query)
	}
	if len(list) == 0 {
		b.WriteByte('\n') // a line that is no report is passed over
	}
	_, err := s.open.WriteAt([]byte(b.String()), s.size)
	if err == nil {
		err = s.open.Sync()
	}
	if err != nil {
		if !s.whole && s.open.Truncate(s.size) != nil {
			err = errors.Join(err, s.end())
		}
		return fmt.Errorf("spool a report: %w", err)
	}
	s.size += int64(b.Len())
	return nil
}

// start begins a file, with the space that was reserved where there is some.
// Its name sorts behind those before it and is never used again; the folder is
// synced, or a crash could forget the file.
func (s *spool) start() error {
	if err := os.MkdirAll(s.folder, 0o700); err != nil {
		return err
	}
	name := fmt.Sprintf("%020d%s", time.Now().UnixNano(), spoolEnding)
	path, how := filepath.Join(s.folder, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY
	whole := s.ready && os.Rename(filepath.Join(s.folder, spaceName), path) == nil
	if s.ready = false; whole {
		how = os.O_WRONLY
	}
	f, err := os.OpenFile(path, how, 0o600)
	if err != nil {
		return err
	}
	if err := syncFolder(s.folder); err != nil {
		return errors.Join(err, f.Close())
	}
	s.open, s.size, s.whole, s.files = f, 0, whole, append(s.files, name)
	return nil
}

// drain hands out everything there is, in order and in parts, and removes each
// file that was taken whole. from says how far a file was taken before. The file
// that is written goes on to be used while it cannot be taken: it may hold the
// only space there is.
func (s *spool) drain(from func(file string) (int64, error),
	take func(list []sms.RawReport, file string, position int64) error) error {
	for {
		s.mu.Lock()
		if len(s.files) == 0 {
			s.mu.Unlock()
			return nil
		}
		name, end := s.files[0], int64(math.MaxInt64)
		if len(s.files) == 1 && s.open != nil {
			end = s.size
		}
		s.mu.Unlock()
		if err := s.drainFile(name, end, from, take); err != nil {
			return err
		}
		if err := s.remove(name, end); err != nil {
			return err
		}
	}
}

// remove removes a file that was taken up to end, unless it has grown since.
func (s *spool) remove(name string, end int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.files) == 1 && s.open != nil {
		if s.size > end {
			return nil
		}
		if err := s.end(); err != nil {
			return err
		}
	}
	if !s.recycle(name) {
		if err := os.Remove(filepath.Join(s.folder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	s.files = s.files[1:]
	return nil
}

func (s *spool) drainFile(name string, end int64, from func(string) (int64, error),
	take func([]sms.RawReport, string, int64) error) error {
	f, err := os.Open(filepath.Join(s.folder, name))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	position, err := from(name)
	if err != nil {
		return err
	}
	lines := bufio.NewReaderSize(untilZero{io.NewSectionReader(f, position, end-position)}, 1<<20)
	for ended := false; !ended; {
		var list []sms.RawReport
		for len(list) < spoolPart {
			line, err := lines.ReadString('\n')
			if errors.Is(err, io.EOF) {
				ended = true
				break
			}
			if err != nil {
				return err
			}
			position += int64(len(line))
			if k, ok := readSpooled(line); ok {
				list = append(list, k)
			}
		}
		if len(list) == 0 {
			continue
		}
		if err := take(list, name, position); err != nil {
			return err
		}
	}
	return nil
}

// untilZero ends before the first zero: behind it is space that nobody used.
type untilZero struct{ r io.Reader }

func (u untilZero) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if at := bytes.IndexByte(p[:n], 0); at >= 0 {
		return at, io.EOF
	}
	return n, err
}

// readSpooled reads one line; ok is false for one that nobody wrote whole.
func readSpooled(line string) (k sms.RawReport, ok bool) {
	account, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	at, rest, _ := strings.Cut(rest, " ")
	remote, err := strconv.QuotedPrefix(rest)
	if err != nil || !strings.HasPrefix(rest[len(remote):], " ") {
		return k, false
	}
	var errs [4]error
	k.AccountID, errs[0] = strconv.ParseInt(account, 10, 64)
	k.ReceivedAt, errs[1] = strconv.ParseInt(at, 10, 64)
	k.Remote, errs[2] = strconv.Unquote(remote)
	k.Query, errs[3] = strconv.Unquote(rest[len(remote)+1:])
	return k, errors.Join(errs[:]...) == nil
}
