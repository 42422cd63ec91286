package log

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// faulty fails the n-th write, sync, creation or folder sync from now on.
type faulty struct {
	Disk
	left *int // until the fault; below 0: none
	half bool // a write that fails leaves half of itself
}

var errFault = errors.New("a fault on purpose")

func (f faulty) due() bool {
	*f.left--
	return *f.left == 0
}

func (f faulty) Create(path string) (File, error) {
	if f.due() {
		return nil, errFault
	}
	file, err := f.Disk.Create(path)
	return faultyFile{file, f}, err
}

func (f faulty) Open(path string) (File, error) {
	file, err := f.Disk.Open(path)
	return faultyFile{file, f}, err
}

func (f faulty) Rename(from, to string) error {
	if f.due() {
		return errFault
	}
	return f.Disk.Rename(from, to)
}

func (f faulty) SyncFolder(dir string) error {
	if f.due() {
		return errFault
	}
	return f.Disk.SyncFolder(dir)
}

type faultyFile struct {
	File
	fs faulty
}

func (f faultyFile) WriteAt(b []byte, at int64) (int, error) {
	if !f.fs.due() {
		return f.File.WriteAt(b, at)
	}
	if f.fs.half {
		_, _ = f.File.WriteAt(b[:len(b)/2], at)
	}
	return 0, errFault
}

func (f faultyFile) Sync() error {
	if f.fs.due() {
		return errFault
	}
	return f.File.Sync()
}

func read(t tb, l *Log) (lines []string) {
	t.Helper()
	for _, segment := range l.Segments() {
		if err := l.Read(segment, 0, func(line Line) error {
			text := string(line.Text)
			if !line.Whole {
				text = "torn " + text
			}
			lines = append(lines, text)
			return nil
		}); err != nil {
			t.Fatalf("%v", err)
		}
	}
	return lines
}

type tb interface {
	Helper()
	Fatalf(format string, args ...any)
}

// TestWhatWasAppendedIsThereAndNothingElse: whichever write or sync fails, the
// log holds the batches that were acknowledged, whole and in their order.
func TestWhatWasAppendedIsThereAndNothingElse(t *testing.T) {
	for _, c := range []struct {
		half           bool
		ahead, reserve int64
	}{{false, 0, 0}, {true, 0, 0}, {false, 30, 0}, {true, 30, 0}, {false, 0, 25}, {true, 0, 60}} {
		for nth := 1; ; nth++ {
			left := nth
			cfg := Config{Dir: filepath.Join(t.TempDir(), "log"), Ending: ".x", FS: faulty{left: &left, half: c.half},
				MaxBytes: 40, Ahead: c.ahead, Reserve: c.reserve,
				Head: func() []byte { return []byte("head\n") }}
			l, err := Open(cfg)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for i := range 12 {
				if c.reserve > 0 {
					_ = l.Prepare() // the disk may fail now, and be well when it is tried again
				}
				line := fmt.Sprintf("line %d", i)
				if l.Append([]byte(line+"\n")) == nil {
					want = append(want, line)
				}
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			cfg.FS = nil
			again, err := Open(cfg)
			if err != nil {
				t.Fatal(err)
			}
			got := slices.DeleteFunc(read(t, again), func(s string) bool { return s == "head" })
			if !slices.Equal(got, want) {
				t.Errorf("fault %d: %q, want %q", nth, got, want)
			}
			if len(want) < 11 {
				t.Errorf("fault %d: %d of 12 lines were taken", nth, len(want))
			}
			_ = again.Close()
			if left > 0 {
				break
			}
		}
	}
}

func TestANewSegmentBeginsWhenOneIsFull(t *testing.T) {
	dir := t.TempDir()
	l, err := Open(Config{Dir: dir, Ending: ".x", MaxBytes: 20})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 9 {
		if err := l.Append(fmt.Appendf(nil, "line %d\n", i)); err != nil {
			t.Fatal(err)
		}
	}
	if got := l.Segments(); !slices.Equal(got, []string{"00000001.x", "00000002.x", "00000003.x", "00000004.x",
		"00000005.x"}) {
		t.Errorf("%q", got)
	}
	if err := l.Remove("00000003.x"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, l); len(got) != 5 || got[0] != "line 4" {
		t.Errorf("%q", got)
	}
	if err := l.SetAside("00000005.x", ".damaged"); err != nil {
		t.Fatal(err)
	}
	if err := l.Append([]byte("behind\n")); err != nil {
		t.Fatal(err)
	}
	if got := l.Segments(); !slices.Equal(got, []string{"00000003.x", "00000004.x", "00000006.x"}) {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "00000005.x.damaged")); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "00000006.x")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

// TestLinesGoWhereZerosAre: a process that goes on finds the end of the lines,
// and a segment that is left behind holds nothing else.
func TestLinesGoWhereZerosAre(t *testing.T) {
	dir := t.TempDir()
	cfg := Config{Dir: dir, Ending: ".x", Ahead: 100, MaxBytes: 30}
	size := func(name string) int64 {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	for i := range 4 {
		l, err := Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Append(fmt.Appendf(nil, "line %d\n", i)); err != nil {
			t.Fatal(err)
		}
		if want := int64(7 + 100); i < 3 && size("00000001.x") != want {
			t.Errorf("%d bytes after line %d, want %d", size("00000001.x"), i, want)
		}
		if end := l.End(); i < 3 && end.Offset != int64(7*(i+1)) {
			t.Errorf("the end is %v after line %d", end, i)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	l, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Append([]byte("line 4, longer\n")), l.Append([]byte("line 5\n"))); err != nil {
		t.Fatal(err)
	}
	if got := read(t, l); !slices.Equal(got, []string{"line 0", "line 1", "line 2", "line 3", "line 4, longer",
		"line 5"}) {
		t.Errorf("%q", got)
	}
	if size("00000001.x") != 28 {
		t.Errorf("%d bytes in a segment of 28 that is full", size("00000001.x"))
	}
	_ = l.Close()
}

func TestReadingEndsWhereALineWasCut(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"empty", "", nil},
		{"whole", "a\nb\n", []string{"a", "b"}},
		{"cut", "a\nb", []string{"a", "torn b"}},
		{"empty line", "\n\n", []string{"", ""}},
		{"too long", strings.Repeat("x", MaxLine+5) + "\na\n", []string{"torn " + strings.Repeat("x", MaxLine+1), "a"}},
		{"long", strings.Repeat("x", MaxLine) + "\na\n", []string{strings.Repeat("x", MaxLine), "a"}},
		{"zeros behind", "a\nb\n" + strings.Repeat("\x00", 2*MaxLine), []string{"a", "b"}},
		{"cut before zeros", "a\nb\x00\x00", []string{"a", "torn b\x00\x00"}},
		{"zeros in the middle", "a\n\x00\x00\nb\n\x00", []string{"a", "\x00\x00", "b"}},
		{"nothing but zeros", "\x00\x00", nil},
		{"too long and cut", strings.Repeat("x", 3*MaxLine), []string{"torn " + strings.Repeat("x", MaxLine+1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(dir, "00000001.x")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			l, err := Open(Config{Dir: dir, Ending: ".x"})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = l.Close() }()
			if got := read(t, l); !slices.Equal(got, c.want) {
				t.Errorf("%d lines, want %d", len(got), len(c.want))
			}
		})
	}
}

// TestLinesTellWhereTheyAre: positions are those of the bytes, whatever the
// lines are.
func TestLinesTellWhereTheyAre(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		var whole []byte
		for range rapid.IntRange(0, 8).Draw(rt, "lines") {
			n := rapid.SampledFrom([]int{0, 1, 7, readBytes - 1, readBytes, readBytes + 1}).Draw(rt, "length")
			whole = append(append(whole, bytes.Repeat([]byte{'a'}, n)...), '\n')
		}
		whole = append(whole, bytes.Repeat([]byte{'b'}, rapid.IntRange(0, 3).Draw(rt, "rest"))...)
		if err := os.WriteFile(filepath.Join(dir, "00000001.x"), whole, 0o600); err != nil {
			rt.Fatal(err)
		}
		l, err := Open(Config{Dir: dir, Ending: ".x"})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		next := int64(0)
		if err := l.Read("00000001.x", 0, func(line Line) error {
			if line.At.Offset != next || !bytes.HasPrefix(whole[next:], line.Text) ||
				line.Whole != (whole[next+line.Bytes-1] == '\n') {
				rt.Fatalf("a line of %d bytes at %d, expected at %d", line.Bytes, line.At.Offset, next)
			}
			next = line.End().Offset
			return nil
		}); err != nil {
			rt.Fatal(err)
		}
		if next != int64(len(whole)) {
			rt.Fatalf("read to %d of %d", next, len(whole))
		}
	})
}
