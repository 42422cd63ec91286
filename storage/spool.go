package storage

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/storage/log"
)

// spool is where reports go while the inbox cannot be written: a log with one
// line for each report, synced before it is acknowledged. A line that a crash cut
// off was never acknowledged.
type spool struct {
	*log.Log
	mu    sync.Mutex
	begun bool // the last segment, if there is one, is this process's own
}

const (
	spoolEnding = ".reports"
	// spoolPart is how many reports are read at once.
	spoolPart = 1000
)

// newSpool returns the spool of a folder, which is made when it is needed: it may
// be on a disk that is not there today. The inbox remembers how far it has read a
// segment by its name, so that none is used again.
func newSpool(folder string, space int64) *spool {
	return &spool{Log: log.New(log.Config{Dir: folder, Ending: spoolEnding, Digits: 20, Reserve: space,
		Number: func() int { return int(time.Now().UnixNano()) }})}
}

// waits says that there is something to bring to the inbox.
func (s *spool) waits() bool { return len(s.Segments()) > 0 }

// find looks for what an earlier process has left. It is only read: its last line
// may be cut off.
func (s *spool) find() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.Segments())
	err := s.Look()
	s.begun = s.begun && len(s.Segments()) == before
	return err
}

// append writes reports, or proves with an empty line that it could, and returns
// after the sync.
func (s *spool) append(list []sms.RawReport) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waits() && !s.begun {
		if err := s.Roll(); err != nil {
			return fmt.Errorf("spool a report: %w", err)
		}
	}
	s.begun = true
	var b strings.Builder
	for _, k := range list {
		fmt.Fprintf(&b, "%d %d %q %q\n", k.AccountID, k.ReceivedAt, k.Remote, k.Query)
	}
	if len(list) == 0 {
		b.WriteByte('\n') // a line that is no report is passed over
	}
	if err := s.Append([]byte(b.String())); err != nil {
		return fmt.Errorf("spool a report: %w", err)
	}
	return nil
}

// drain hands out everything there is, in order and in parts, and removes each
// segment that was taken whole. from says how far a segment was taken before.
func (s *spool) drain(from func(segment string) (int64, error),
	take func(list []sms.RawReport, to log.Position) error) error {
	for {
		segments, end := s.Segments(), s.End()
		if len(segments) == 0 {
			return nil
		}
		position, err := from(segments[0])
		if err == nil {
			err = s.drainSegment(log.Position{Segment: segments[0], Offset: position}, end, take)
		}
		if err == nil && len(segments) > 1 {
			err = s.Remove(segments[1])
		} else if err == nil {
			err = s.RemoveLast(end)
		}
		if err != nil {
			return err
		}
	}
}

var errTaken = errors.New("the rest is not synced yet")

// drainSegment hands out what stands in a segment behind a place, the last one's
// up to end.
func (s *spool) drainSegment(at, end log.Position, take func([]sms.RawReport, log.Position) error) error {
	var list []sms.RawReport
	hand := func() (err error) {
		if len(list) > 0 {
			err = take(list, at)
		}
		list = nil
		return err
	}
	err := s.Read(at.Segment, at.Offset, func(line log.Line) error {
		if at.Segment == end.Segment && line.At.Offset >= end.Offset {
			return errTaken
		}
		if k, ok := readSpooled(string(line.Text)); ok && line.Whole {
			list = append(list, k)
		}
		if at = line.End(); len(list) == spoolPart {
			return hand()
		}
		return nil
	})
	if err != nil && !errors.Is(err, errTaken) {
		return err
	}
	return hand()
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
