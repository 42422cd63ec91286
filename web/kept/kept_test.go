package kept

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

type fixture struct {
	t      *testing.T
	path   string
	at     time.Time
	free   int64
	folder *Folder
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, path: filepath.Join(t.TempDir(), "kept"), at: time.Now(), free: Most}
	f.open()
	return f
}

func (f *fixture) open() {
	f.t.Helper()
	var err error
	f.folder, err = Open(f.path, func() time.Time { return f.at }, func(size int64) bool { return size <= f.free })
	f.must(err)
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) keep(person int64, text string) string {
	f.t.Helper()
	key, err := f.folder.Keep(person, About{Path: "/new", Type: "text/plain", Length: int64(len(text))}, strings.NewReader(text))
	f.must(err)
	return key
}

func (f *fixture) read(open func(int64, string) (*Form, error), person int64, key string) string {
	f.t.Helper()
	form, err := open(person, key)
	if errors.Is(err, ErrNone) {
		return "none"
	}
	f.must(err)
	text, err := io.ReadAll(form)
	f.must(errors.Join(err, form.Close()))
	if form.Path != "/new" || form.Type != "text/plain" || form.Length != int64(len(text)) {
		f.t.Errorf("about %+v", form.About)
	}
	return string(text)
}

func (f *fixture) files() (names []string) {
	f.t.Helper()
	all, err := os.ReadDir(f.path)
	f.must(err)
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

func TestAKeyOpensOnceAndForItsPersonOnly(t *testing.T) {
	f := newFixture(t)
	key := f.keep(7, "Dear Ada")
	other := f.keep(8, "from somebody else")
	for _, wrong := range []string{"", "x", other, strings.Repeat("q", 58), key[:len(key)-1]} {
		if got := f.read(f.folder.Take, 7, wrong); got != "none" {
			t.Errorf("the key %q opens %q", wrong, got)
		}
	}
	if got := f.read(f.folder.Take, 8, key); got != "none" {
		t.Errorf("another person reads %q", got)
	}
	if got := f.read(f.folder.Look, 7, key) + f.read(f.folder.Take, 7, key) + f.read(f.folder.Take, 7, key); got != "Dear AdaDear Adanone" {
		t.Errorf("looked, taken, taken again: %q", got)
	}
}

func TestTheNewestOfAPersonIsKept(t *testing.T) {
	f := newFixture(t)
	first := f.keep(7, "first")
	second := f.keep(7, "second")
	if got := f.read(f.folder.Take, 7, first) + " " + f.read(f.folder.Take, 7, second); got != "none second" {
		t.Errorf("%q", got)
	}
}

func TestFilesAreSealedAndPrivate(t *testing.T) {
	f := newFixture(t)
	f.keep(7, strings.Repeat("0803 555 0101 ", 9000))
	folder, err := os.Stat(f.path)
	f.must(err)
	info, err := os.Stat(filepath.Join(f.path, "7"))
	f.must(err)
	if folder.Mode().Perm() != 0o700 || info.Mode().Perm() != 0o600 {
		t.Errorf("folder %v, file %v", folder.Mode(), info.Mode())
	}
	raw, err := os.ReadFile(filepath.Join(f.path, "7"))
	f.must(err)
	if bytes.Contains(raw, []byte("0803")) || bytes.Contains(raw, []byte("/new")) {
		t.Error("it can be read without the key")
	}
}

func TestAnHourAndAStart(t *testing.T) {
	f := newFixture(t)
	key := f.keep(7, "Dear Ada")
	f.must(os.WriteFile(filepath.Join(f.path, "8"+unready), nil, 0o600))
	f.open()
	if got := f.files(); len(got) != 1 {
		t.Errorf("after a start there are %v", got)
	}
	f.at = f.at.Add(Life - time.Second)
	if got := f.read(f.folder.Look, 7, key); got != "Dear Ada" {
		t.Errorf("a moment before the hour: %q", got)
	}
	f.at = f.at.Add(time.Second)
	if got := f.read(f.folder.Look, 7, key); got != "none" {
		t.Errorf("after the hour: %q", got)
	}
	f.must(f.folder.sweep(false))
	if got := f.files(); len(got) != 0 {
		t.Errorf("after the hour there are %v", got)
	}
}

func TestWhatIsTooLargeOrBreaksOffLeavesNothing(t *testing.T) {
	f := newFixture(t)
	for name, c := range map[string]struct {
		length int64
		free   int64
		body   io.Reader
	}{
		"said to be too large": {Most + 1, 2 * Most, strings.NewReader("x")},
		"too large":            {-1, Most, io.LimitReader(zeros{}, Most+1)},
		"disk full":            {10, 9, strings.NewReader("x")},
		"size not told":        {-1, Most - 1, strings.NewReader("x")},
		"broken off":           {10, Most, iotest.ErrReader(io.ErrUnexpectedEOF)},
	} {
		f.free = c.free
		if _, err := f.folder.Keep(7, About{Length: c.length}, c.body); err == nil {
			t.Errorf("%s: kept", name)
		}
		if got := f.files(); len(got) != 0 {
			t.Errorf("%s: %v is left", name, got)
		}
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

func TestOneOfAPersonAtATime(t *testing.T) {
	f := newFixture(t)
	in, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := f.folder.Keep(7, About{Length: 1}, in)
		done <- err
	}()
	_, err := out.Write([]byte("x"))
	f.must(err)
	if _, err := f.folder.Keep(7, About{Length: 1}, strings.NewReader("y")); !errors.Is(err, ErrNoRoom) {
		t.Errorf("a second one beside it: %v", err)
	}
	f.keep(8, "somebody else")
	f.must(out.Close())
	f.must(<-done)
}

func TestADamagedFileIsNotTakenForAWholeOne(t *testing.T) {
	f := newFixture(t)
	key := f.keep(7, strings.Repeat("a", 200_000))
	f.must(os.Truncate(filepath.Join(f.path, "7"), 140_000))
	f.must(os.Chtimes(filepath.Join(f.path, "7"), f.at, f.at))
	form, err := f.folder.Take(7, key)
	f.must(err)
	if _, err := io.ReadAll(form); err == nil {
		t.Error("half of it was read without an error")
	}
	f.must(form.Close())
}
