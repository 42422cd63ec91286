// Package log keeps append-only logs: a folder of segments, each a file of
// lines. It appends, syncs, begins new segments, cuts and reads. It must never
// know what a line says.
package log

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Config says where a log is and how it is divided.
type Config struct {
	Dir    string
	Ending string // of the segments' names, such as ".j"
	FS     FS     // nil: the machine's own
	// MaxBytes is how long a segment may become; 0: as long as it likes. A batch
	// is never divided.
	MaxBytes int64
	// Ahead is how many zeros are written behind the lines at a time, so that a
	// sync need not store a new length; 0: none. Zeros at the end are no line.
	Ahead int64
	// Head gives the first lines of a new segment, each with its line feed; nil:
	// none. It is called with the log locked and must not call it.
	Head func() []byte
	// Digits is how many digits the numbers of segments have; 0: 8. Number is the
	// least that a new one may have, for a log that forgets all its segments and
	// must not use a name twice; nil: 1. It is called with the log locked.
	Digits int
	Number func() int
	// Reserve is the size of a segment that Prepare keeps ready; 0: none.
	Reserve int64
}

// MaxLine is the length of the longest line that is read, in bytes. What is
// longer is damage.
const MaxLine = 1 << 20

// Log is an append-only log. It is safe for use by many goroutines.
type Log struct {
	cfg Config

	mu       sync.Mutex
	segments []string // file names, oldest first
	file     File     // the last segment; nil: none yet, or it has to be opened again
	size     int64    // of the last segment's lines, as far as they are synced
	whole    int64    // of the last segment with the zeros behind its lines
	kept     int64    // of the last segment, which is never made shorter
	zeros    []byte   // to be written ahead
	written  int64    // how far there may be bytes in the last segment
	prepared bool     // the reserved segment is there
	closed   bool
}

// Position is a place between two lines.
type Position struct {
	Segment string // "": before the first
	Offset  int64
}

// New returns a log that knows of no segment yet.
func New(cfg Config) *Log {
	if cfg.FS == nil {
		cfg.FS = Disk{}
	}
	if cfg.Digits == 0 {
		cfg.Digits = 8
	}
	if cfg.Number == nil {
		cfg.Number = func() int { return 1 }
	}
	return &Log{cfg: cfg}
}

// Open is New and Look.
func Open(cfg Config) (*Log, error) {
	l := New(cfg)
	if err := l.Look(); err != nil {
		return nil, err
	}
	return l, nil
}

// Look reads which segments there are. Those that are new to it come before what
// was appended to this log. It makes nothing: the folder and the first segment
// come with the first Append.
func (l *Log) Look() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	names, err := l.cfg.FS.Names(l.cfg.Dir)
	var earlier []string
	for _, name := range names {
		if _, ok := l.number(name); ok && !slices.Contains(l.segments, name) {
			earlier = append(earlier, name)
		}
	}
	l.segments = append(earlier, l.segments...)
	if err == nil && len(earlier) == len(l.segments) {
		err = l.openLast()
	}
	if err != nil {
		return fmt.Errorf("open the log %s: %w", l.cfg.Dir, err)
	}
	return nil
}

func (l *Log) openLast() error {
	if len(l.segments) == 0 {
		return nil
	}
	f, err := l.cfg.FS.Open(l.path(l.segments[len(l.segments)-1]))
	if err != nil {
		return err
	}
	whole, err := f.Size()
	size := whole
	if err == nil {
		size, err = withoutZeros(f, whole)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l.file, l.size, l.whole, l.kept, l.written = f, size, whole, 0, size
	if whole == l.cfg.Reserve {
		l.kept = whole
	}
	return nil
}

// withoutZeros is the length of a file without the zeros at its end.
func withoutZeros(f File, size int64) (int64, error) {
	block := make([]byte, readBytes)
	for size > 0 {
		n := min(size, readBytes)
		if _, err := f.ReadAt(block[:n], size-n); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if used := len(bytes.TrimRight(block[:n], "\x00")); used > 0 {
			return size - n + int64(used), nil
		}
		size -= n
	}
	return 0, nil
}

func (l *Log) path(segment string) string { return filepath.Join(l.cfg.Dir, segment) }

func (l *Log) number(name string) (n int, ok bool) {
	digits, ok := strings.CutSuffix(name, l.cfg.Ending)
	if !ok || len(digits) != l.cfg.Digits {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0
}

// Close closes the log.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return l.end()
}

func (l *Log) end() error {
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

var errClosed = errors.New("the log is closed")

// Append writes whole lines and returns once they are synced. After an error
// nothing of them counts: the next Append begins where this one did.
func (l *Log) Append(lines []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.append(lines); err != nil {
		return fmt.Errorf("append to %s: %w", l.cfg.Dir, err)
	}
	return nil
}

func (l *Log) append(lines []byte) error {
	if l.closed {
		return errClosed
	}
	if len(lines) == 0 {
		return nil
	}
	if err := l.ready(int64(len(lines))); err != nil {
		return err
	}
	l.written = max(l.written, l.size+int64(len(lines)))
	l.reserve(int64(len(lines)))
	_, err := l.file.WriteAt(lines, l.size)
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		// What a failed sync has left is unknown, and a second one of the same
		// open file would not say. Where nothing can be cut now, the next Append
		// does it first.
		err = errors.Join(err, l.end())
		_ = l.ready(0)
		return err
	}
	l.size += int64(len(lines))
	return nil
}

// reserve writes zeros where the next lines go. Where that fails, the lines make
// the file longer themselves.
func (l *Log) reserve(more int64) {
	if l.cfg.Ahead <= 0 || l.size+more <= l.whole {
		return
	}
	from := max(l.whole, l.size)
	if missing := int(more+l.cfg.Ahead) - len(l.zeros); missing > 0 {
		l.zeros = append(l.zeros, make([]byte, missing)...)
	}
	if _, err := l.file.WriteAt(l.zeros[:more+l.cfg.Ahead], from); err == nil {
		l.whole = from + more + l.cfg.Ahead
	}
}

// ready brings the last segment to its last synced length, or begins a new one.
func (l *Log) ready(more int64) error {
	if l.file == nil && len(l.segments) > 0 {
		size, written, kept := l.size, l.written, l.kept
		if err := l.openLast(); err != nil {
			return err
		}
		l.size, l.written, l.kept = size, written, kept
	}
	if l.written > l.size {
		if err := l.cutFile(l.size); err != nil {
			return err
		}
	}
	if l.file == nil || l.cfg.MaxBytes > 0 && l.size > 0 && l.size+more > l.cfg.MaxBytes {
		return l.begin()
	}
	return nil
}

// cutFile makes zeros of what stands in space that was reserved, and removes the
// rest.
func (l *Log) cutFile(size int64) error {
	whole := max(size, l.kept)
	err := l.file.Truncate(whole)
	if err == nil {
		err = zero(l.file, size, min(l.written, whole))
	}
	if err != nil {
		return err
	}
	if err := l.file.Sync(); err != nil {
		return errors.Join(err, l.end())
	}
	l.size, l.whole, l.written = size, whole, size
	return nil
}

// begin makes the next segment: its first line and then the folder are synced
// before anything counts on it.
func (l *Log) begin() error {
	if err := l.cfg.FS.MakeFolder(l.cfg.Dir); err != nil {
		return err
	}
	next := l.cfg.Number()
	if len(l.segments) > 0 {
		last, _ := l.number(l.segments[len(l.segments)-1])
		next = max(next, last+1)
	}
	name := fmt.Sprintf("%0*d%s", l.cfg.Digits, next, l.cfg.Ending)
	f, kept, err := l.create(l.path(name))
	if err != nil {
		return err
	}
	var head []byte
	if l.cfg.Head != nil {
		head = l.cfg.Head()
	}
	if len(head) > 0 {
		_, err = f.WriteAt(head, 0)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = l.cfg.FS.SyncFolder(l.cfg.Dir)
	}
	if err != nil {
		return errors.Join(err, f.Close(), l.drop(name))
	}
	if l.file != nil && l.whole > max(l.size, l.kept) {
		_ = l.file.Truncate(l.size) // the zeros would do no harm
	}
	err = l.end()
	l.file, l.size, l.kept = f, int64(len(head)), kept
	l.whole, l.written = max(l.size, kept), l.size
	l.segments = append(l.segments, name)
	return err
}

// Roll begins a new segment, where the last one holds more than its head.
func (l *Log) Roll() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := errClosed
	if !l.closed {
		err = l.begin()
	}
	if err != nil {
		return fmt.Errorf("begin a segment of %s: %w", l.cfg.Dir, err)
	}
	return nil
}

// End is the place behind the last line that was appended.
func (l *Log) End() Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.segments) == 0 {
		return Position{}
	}
	return Position{l.segments[len(l.segments)-1], l.size}
}

// Cut removes what stands behind a place of the last segment.
func (l *Log) Cut(at Position) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := errClosed
	switch {
	case l.closed:
	case len(l.segments) == 0 || l.segments[len(l.segments)-1] != at.Segment:
		err = errors.New("only the last segment can be cut")
	default:
		if err = l.reopen(); err == nil {
			l.written = max(l.written, l.size)
			err = l.cutFile(at.Offset)
		}
	}
	if err != nil {
		return fmt.Errorf("cut the log %s: %w", l.cfg.Dir, err)
	}
	return nil
}

func (l *Log) reopen() error {
	if l.file != nil {
		return nil
	}
	return l.openLast()
}

// Segments lists the segments' names, oldest first.
func (l *Log) Segments() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.segments...)
}

// Remove removes the oldest segments, up to and not including the named one.
// The last one always stays.
func (l *Log) Remove(before string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.segments) > 1 && l.segments[0] < before {
		if err := l.drop(l.segments[0]); err != nil {
			return fmt.Errorf("remove a segment of %s: %w", l.cfg.Dir, err)
		}
		l.segments = l.segments[1:]
	}
	return nil
}

// RemoveLast removes the only segment that is left, unless more was appended to
// it behind at.
func (l *Log) RemoveLast(at Position) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.segments) != 1 || l.segments[0] != at.Segment || l.size > at.Offset {
		return nil
	}
	if err := errors.Join(l.end(), l.drop(at.Segment)); err != nil {
		return fmt.Errorf("remove the last segment of %s: %w", l.cfg.Dir, err)
	}
	l.segments = nil
	return nil
}

// SetAside gives a segment's file another ending, so that it does not belong to
// the log any more and nothing of it is lost. Names do not repeat: what is
// appended next goes to a later segment.
func (l *Log) SetAside(segment, ending string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := len(l.segments) - 1
	err := errors.New("there is no such segment")
	for i, name := range l.segments {
		if name != segment {
			continue
		}
		if i == last {
			// The next one is begun first: its number comes from this one's.
			if err = l.begin(); err != nil {
				break
			}
		}
		if err = l.cfg.FS.Rename(l.path(name), l.path(name+ending)); err == nil {
			err = l.cfg.FS.SyncFolder(l.cfg.Dir)
		}
		l.segments = append(l.segments[:i:i], l.segments[i+1:]...)
		break
	}
	if err != nil {
		return fmt.Errorf("set a segment of %s aside: %w", l.cfg.Dir, err)
	}
	return nil
}

// Line is one line of a segment, or a piece of one.
type Line struct {
	Text  []byte // without its line feed; good until the next one is read
	At    Position
	Bytes int64 // with its line feed
	// Whole is false for what has no line feed or is longer than MaxLine: Text
	// then holds its beginning only.
	Whole bool
}

// End is the place behind the line.
func (l Line) End() Position { return Position{l.At.Segment, l.At.Offset + l.Bytes} }

// Read gives the lines of a segment from an offset on. It may be called while
// others append; what is not synced yet may then be among the lines.
func (l *Log) Read(segment string, from int64, each func(Line) error) error {
	f, err := l.cfg.FS.Open(l.path(segment))
	if err == nil {
		err = errors.Join(eachLine(f, segment, from, each), f.Close())
	}
	if err != nil {
		return fmt.Errorf("read the log %s: %w", l.cfg.Dir, err)
	}
	return nil
}

const readBytes = 256 << 10

func eachLine(f File, segment string, from int64, each func(Line) error) error {
	var kept, block []byte
	begin, at := from, from // of the line that is being read, and of the next block
	zeros := true           // there is nothing else since begin
	block = make([]byte, readBytes)
	for {
		n, err := f.ReadAt(block, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		part := block[:n]
		at += int64(n)
		for len(part) > 0 {
			end := bytes.IndexByte(part, '\n')
			if end < 0 {
				zeros = zeros && len(bytes.TrimLeft(part, "\x00")) == 0
				kept = append(kept, part[:min(len(part), MaxLine+1-len(kept))]...)
				break
			}
			kept = append(kept, part[:min(end, MaxLine+1-len(kept))]...)
			here := at - int64(len(part)) + int64(end) + 1
			line := Line{Text: kept, At: Position{segment, begin}, Bytes: here - begin, Whole: len(kept) <= MaxLine}
			if err := each(line); err != nil {
				return err
			}
			kept, begin, part, zeros = kept[:0], here, part[end+1:], true
		}
		if err != nil || n == 0 {
			break
		}
	}
	if at == begin || zeros {
		return nil
	}
	return each(Line{Text: kept, At: Position{segment, begin}, Bytes: at - begin})
}
