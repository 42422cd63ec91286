package storage

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"smsdesk/internal/ussd"
)

func openSpooled(t tb, data string) *USSDSpool {
	t.Helper()
	s, err := OpenUSSDSpool(data)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return s
}

func savedText(session int64, name, text string, at int64) ussd.Batch {
	return ussd.Batch{Saved: []ussd.SavedAnswer{{SessionID: session, AccountID: 1, MenuID: 3, Number: "2348030000101",
		Name: name, Text: text, At: at}}}
}

func texts(b ussd.Batch) (list []string) {
	for _, a := range b.Saved {
		list = append(list, a.Text)
	}
	return list
}

// leftIn is what a process that opens the folder now would read.
func leftIn(t tb, data string) []string {
	t.Helper()
	s := openSpooled(t, data)
	defer func() { _ = s.Close() }()
	b, err := s.Read()
	if err != nil {
		t.Fatalf("%v", err)
	}
	return texts(b)
}

func TestUSSDSpoolBehindAFailedWrite(t *testing.T) {
	data := t.TempDir()
	s := openSpooled(t, data)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.Append(savedText(1, "a", "one", 1)))
	// A full disk takes half of a line. Here the file cannot even be made
	// shorter again, as one that is open for reading alone.
	whole := s.f
	broken, err := os.Open(s.path)
	must(err)
	s.f = broken
	if err := s.Append(savedText(1, "a", "lost", 2)); err == nil {
		t.Fatal("a failed write was taken for a promise that is kept")
	}
	must(broken.Close())
	s.f = whole
	_, err = whole.WriteString(`{"Saved":[{"Text":"lo`)
	must(err)
	must(s.Append(savedText(1, "b", "two", 3)))
	must(s.Append(savedText(1, "c", "three", 4)))
	if d := cmp.Diff([]string{"one", "two", "three"}, leftIn(t, data)); d != "" {
		t.Error(d)
	}
	// A crash cuts the last line off; the next process goes on behind it.
	_, err = whole.WriteString(`{"Saved":[{"Te`)
	must(err)
	must(s.Close())
	s = openSpooled(t, data)
	must(s.Append(savedText(1, "d", "four", 5)))
	must(s.Close())
	if d := cmp.Diff([]string{"one", "two", "three", "four"}, leftIn(t, data)); d != "" {
		t.Error(d)
	}
}

// TestUSSDSpoolOnAFullDisk fills the file up to a limit that the kernel holds.
func TestUSSDSpoolOnAFullDisk(t *testing.T) {
	data := t.TempDir()
	s := openSpooled(t, data)
	defer func() { _ = s.Close() }()
	free := fileLimit(t, 1<<20)
	var want []string
	failed := 0
	for i := range 60 {
		text := fmt.Sprint(i, " ", strings.Repeat("x", 30_000))
		if err := s.Append(savedText(1, "a", text, int64(i))); err != nil {
			failed++
			continue
		}
		want = append(want, text)
	}
	small := s.Append(savedText(1, "a", "small enough", 1))
	free()
	if failed == 0 || len(want) < 10 {
		t.Fatalf("%d failed, %d were taken: this proves nothing", failed, len(want))
	}
	if small != nil {
		t.Errorf("the failed writes took the room of one that fits: %v", small)
	}
	if err := s.Append(savedText(1, "a", "there is room again", 1)); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(append(want, "small enough", "there is room again"), leftIn(t, data)); d != "" {
		t.Error(d)
	}
}

// fileLimit lets no file of this process grow above so many bytes until free is
// called.
func fileLimit(t *testing.T, most uint64) (free func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	free = sync.OnceFunc(func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			t.Error(err)
		}
		signal.Reset(syscall.SIGXFSZ)
	})
	t.Cleanup(free)
	return free
}

// TestUSSDSpoolStaysShort: a database that never finds the spool at rest does
// not let it grow for ever.
func TestUSSDSpoolStaysShort(t *testing.T) {
	data := t.TempDir()
	s := openSpooled(t, data)
	defer func() { _ = s.Close() }()
	var long []byte
	for range 100 << 10 {
		long = append(long, 'x')
	}
	most := int64(0)
	for i := range 100 {
		mark := s.Mark()
		if err := s.Append(savedText(1, "a", fmt.Sprint(i, string(long)), 1)); err != nil {
			t.Fatal(err)
		}
		if err := s.Clear(mark); err != nil {
			t.Fatal(err)
		}
		at, err := os.Stat(filepath.Join(data, "ussd.spool"))
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, at.Size())
	}
	if got := leftIn(t, data); len(got) == 0 || got[len(got)-1][:2] != "99" || most > spoolShort+(300<<10) {
		t.Errorf("%d lines, %d bytes at most", len(got), most)
	}
}

// TestCrashesLoseNoPromiseOfUSSD lets a process append, store and clear in its
// way and die at any point, with a line cut off at any byte. The next one reads
// what is left, as often as it takes. In the end the database holds exactly
// what it would hold without a crash.
func TestCrashesLoseNoPromiseOfUSSD(t *testing.T) {
	whole := newFixture(t)
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		f := whole.other(t, fmt.Sprint("Run ", run))
		data, err := os.MkdirTemp(whole.data, "crash")
		f.must(err)
		c := &crashing{f: f, t: t, data: data, spool: openSpooled(t, data), menu: int64(run), want: map[string]string{},
			ended: map[int64]string{}}
		t.Repeat(map[string]func(*rapid.T){"answer": c.answer, "hand over": c.handOver, "end": c.end, "crash": c.crash,
			"": func(*rapid.T) {}})
		c.crash(t)
		f.must(c.spool.Close())
		c.check()
	})
}

// crashing is a process between spool and database. due is what it has handed
// on; after a crash that is gone.
type crashing struct {
	f     *fixture
	t     *rapid.T
	data  string
	spool *USSDSpool
	menu  int64
	at    int64
	due   ussd.Batch
	want  map[string]string
	ended map[int64]string
	lists int // that were promised
}

func (c *crashing) session(n int64, step int) ussd.Session {
	return ussd.Session{ID: c.menu<<20 | n, AccountID: c.f.account.ID, MenuID: c.menu, Number: "2348030000101",
		Network: "mtn", Code: "347", BegunAt: began + n, LastAt: began + c.at, Steps: step, Screen: fmt.Sprint("s", step),
		Body: "{}"}
}

func (c *crashing) answer(t *rapid.T) {
	n := rapid.Int64Range(1, 3).Draw(t, "session")
	c.at++
	x := c.session(n, int(c.at))
	if c.ended[x.ID] != "" {
		return
	}
	name, text := rapid.SampledFrom([]string{"Day", "News"}).Draw(t, "name"), fmt.Sprint("answer ", c.at)
	b := ussd.Batch{Sessions: []ussd.Session{x},
		Saved: []ussd.SavedAnswer{{SessionID: x.ID, AccountID: x.AccountID, MenuID: c.menu, Number: x.Number, Name: name,
			Text: text, At: c.at}},
		Joined: []ussd.SignUp{{AccountID: x.AccountID, List: "List of " + text, Number: x.Number, At: c.at}}}
	c.f.must(c.spool.Append(b))
	c.want[fmt.Sprint(x.ID, name)] = text
	c.lists++
	c.due.Sessions, c.due.Saved, c.due.Joined = append(c.due.Sessions, b.Sessions...), append(c.due.Saved, b.Saved...),
		append(c.due.Joined, b.Joined...)
}

// end is what nobody waits for: only the database learns of it.
func (c *crashing) end(t *rapid.T) {
	x := c.session(rapid.Int64Range(1, 3).Draw(t, "session"), int(c.at))
	if c.ended[x.ID] != "" {
		return
	}
	x.EndedAt, x.Ended = began+c.at, ussd.EndedByCaller
	c.f.must(c.f.db.PutUSSDSessions(c.f.ctx, c.due))
	c.f.must(c.f.db.PutUSSDSessions(c.f.ctx, ussd.Batch{Sessions: []ussd.Session{x}}))
	c.due, c.ended[x.ID] = ussd.Batch{}, x.Ended
}

func (c *crashing) handOver(t *rapid.T) {
	mark, due := c.spool.Mark(), c.due
	c.due = ussd.Batch{}
	if rapid.Bool().Draw(t, "somebody answers meanwhile") {
		c.answer(t)
	}
	c.f.must(c.f.db.PutUSSDSessions(c.f.ctx, due))
	if rapid.Bool().Draw(t, "dies before it clears") {
		c.crash(t)
		return
	}
	c.f.must(c.spool.Clear(mark))
}

func (c *crashing) crash(t *rapid.T) {
	cut := rapid.SampledFrom([]string{"", "{", `{"Saved":[{"Text":"cut off`, `{"Saved":[]}`}).Draw(t, "cut off")
	_, err := c.spool.f.WriteString(cut)
	c.f.must(err)
	c.f.must(c.spool.Close())
	c.due = ussd.Batch{}
	for again := true; again; again = rapid.Bool().Draw(t, "dies before it clears") {
		c.spool = openSpooled(t, c.data)
		mark := c.spool.Mark()
		left, err := c.spool.Read()
		c.f.must(err)
		c.f.must(c.f.db.PutUSSDSessions(c.f.ctx, left))
		if rapid.Bool().Draw(t, "clears") {
			c.f.must(c.spool.Clear(mark))
		}
	}
}

func (c *crashing) check() {
	c.t.Helper()
	got, lists := map[string]string{}, map[int64]string{}
	c.f.must(c.f.db.EachAnswers(c.f.ctx, c.menu, 0, func(answers []ussd.SavedAnswer) bool {
		for _, a := range answers {
			got[fmt.Sprint(a.SessionID, a.Name)] = a.Text
			x, _, _, err := c.f.db.USSDSession(c.f.ctx, a.SessionID)
			c.f.must(err)
			lists[x.ID] = x.Ended
		}
		return true
	}))
	if d := cmp.Diff(c.want, got); d != "" {
		c.t.Error(d)
	}
	for id, ended := range lists {
		if ended != c.ended[id] {
			c.t.Errorf("session %d ended by %q, want %q", id, ended, c.ended[id])
		}
	}
	joined, err := c.f.db.JoinedLists(c.f.ctx, c.f.account.ID)
	c.f.must(err)
	for list, people := range joined {
		if people != 1 {
			c.t.Errorf("%s has %d people", list, people)
		}
	}
	if len(joined) != c.lists {
		c.t.Errorf("%d lists are kept of %d", len(joined), c.lists)
	}
}
