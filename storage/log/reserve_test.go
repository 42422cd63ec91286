package log

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// fullDisk gives no new block while it is full: nothing is made and nothing grows.
type fullDisk struct {
	Disk
	full *bool
}

func (d fullDisk) Create(path string) (File, error) {
	if *d.full {
		return nil, syscall.ENOSPC
	}
	f, err := d.Disk.Create(path)
	return fullFile{f, d}, err
}

func (d fullDisk) Open(path string) (File, error) {
	f, err := d.Disk.Open(path)
	return fullFile{f, d}, err
}

type fullFile struct {
	File
	disk fullDisk
}

func (f fullFile) WriteAt(b []byte, at int64) (int, error) {
	size, err := f.Size()
	if err != nil || !*f.disk.full {
		return f.File.WriteAt(b, at)
	}
	n := max(0, min(int64(len(b)), size-at))
	if wrote, err := f.File.WriteAt(b[:n], at); err != nil || n == int64(len(b)) {
		return wrote, err
	}
	return int(n), syscall.ENOSPC
}

// TestAFullDiskTakesWhatWasReserved: lines go into the reserved segment until it
// is full, what goes beyond is refused and leaves nothing, and its blocks are
// reserved again once its lines are not needed any more.
func TestAFullDiskTakesWhatWasReserved(t *testing.T) {
	full, number := false, 0
	cfg := Config{Dir: filepath.Join(t.TempDir(), "log"), Ending: ".x", FS: fullDisk{full: &full}, Reserve: 100, Digits: 20,
		Number: func() int { number += 10; return number }}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	stat := func(name string) os.FileInfo {
		t.Helper()
		info, err := os.Stat(filepath.Join(cfg.Dir, name))
		must(err)
		return info
	}
	const ready = "00000000000000000000.prepare"
	l := New(cfg)
	must(l.Prepare())
	reserved := stat(ready)
	full = true
	must(l.Look())
	var want []string
	refused := 0
	for i := range 20 {
		line := fmt.Sprint("this is line ", i)
		if l.Append([]byte(line+"\n")) == nil {
			want = append(want, line)
		} else if refused++; refused == 1 {
			line = "short"
			must(l.Append([]byte(line + "\n")))
			want = append(want, line)
		}
	}
	if refused == 0 || len(want) < 5 {
		t.Fatalf("%d lines were refused, %d taken", refused, len(want))
	}
	if got := read(t, l); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if used := stat("00000000000000000010.x"); !os.SameFile(used, reserved) || used.Size() != 100 {
		t.Errorf("%s of %d bytes is not what was reserved", used.Name(), used.Size())
	}
	// The next process finds the lines, and goes on in the same space.
	must(l.Close())
	l, err := Open(cfg)
	must(err)
	if l.Append([]byte("a line that is too long for what is left\n")) == nil {
		t.Error("a full disk took a line that has no space")
	}
	if got := read(t, l); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	must(l.RemoveLast(Position{"00000000000000000010.x", 5}))
	if len(l.Segments()) != 1 {
		t.Error("a segment was removed that holds more")
	}
	must(l.RemoveLast(l.End()))
	if again := stat(ready); !os.SameFile(again, reserved) || again.Size() != 100 || len(l.Segments()) != 0 {
		t.Errorf("it is not reserved again: %d bytes, %q are left", again.Size(), l.Segments())
	}
	must(l.Append([]byte("anew\n")))
	if got := l.Segments(); !slices.Equal(got, []string{"00000000000000000020.x"}) {
		t.Errorf("a name was used again: %q", got)
	}
	if got := read(t, l); !slices.Equal(got, []string{"anew"}) {
		t.Errorf("%q", got)
	}
	full = false
	must(l.Roll())
	must(l.Prepare())
	if n := stat(ready).Size(); n != 100 {
		t.Errorf("%d bytes are reserved", n)
	}
	must(l.Close())
}

// TestWhatIsFoundLaterComesFirst: a log that was used before its folder could be
// read.
func TestWhatIsFoundLaterComesFirst(t *testing.T) {
	dir := t.TempDir()
	l := New(Config{Dir: dir, Ending: ".x", Number: func() int { return 7 }})
	if err := l.Append([]byte("later\n")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "00000003.x"), []byte("earlier\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := l.Look(); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Append([]byte("last\n")); err != nil {
		t.Fatal(err)
	}
	if got := read(t, l); !slices.Equal(got, []string{"earlier", "later", "last"}) {
		t.Errorf("%q", got)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}
