package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/feed"
	"smsdesk/internal/gateway"
	"smsdesk/internal/health"
	"smsdesk/internal/sms"
	"smsdesk/internal/workers"
	"smsdesk/storage/log"
)

// station is a desk that takes reports: database, inbox, log and receiver.
type station struct {
	*fixture
	journal  string
	logged   *ReportLog
	in       *Inbox
	receiver *workers.Receiver
	told     []string // by Meet
	stop     func()
}

// station opens what takes reports over a fixture's database, as serve does. Nothing
// is applied before replay or drain.
func (f *fixture) station(t *testing.T, journal string, files log.FS) *station {
	t.Helper()
	s := f.stationOf(t, journal, files)
	f.must(s.logged.Create())
	return s
}

// stationAway is a station whose log may not be made.
func (f *fixture) stationAway(t *testing.T, journal string) *station {
	t.Helper()
	return f.stationOf(t, journal, nil)
}

func (f *fixture) stationOf(t *testing.T, journal string, files log.FS) *station {
	t.Helper()
	s := &station{fixture: f, journal: journal}
	var err error
	s.logged, err = f.db.openReportLog(t.Context(), journal, time.Now, files)
	f.must(err)
	cursor, err := f.db.InboxCursor(t.Context())
	f.must(err)
	applied, err := f.db.LogCursor(t.Context())
	f.must(err)
	s.in = NewInbox(f.data, "")
	s.in.LogWith(s.logged, applied)
	f.must(s.in.Open(t.Context(), cursor))
	s.told, err = s.in.Meet(t.Context(), f.db)
	f.must(err)
	s.receiver = workers.NewReceiver(s.in, f.db, gateway.ParseReport, feed.New(), slog.New(slog.DiscardHandler), time.Now)
	s.receiver.ReplayFrom(s.logged)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := s.in.Run(ctx, func() {}, func(int, error) {}); err != nil {
			t.Error(err)
		}
	})
	s.stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
		_ = errors.Join(s.in.Close(), s.logged.Close())
	})
	t.Cleanup(s.stop)
	return s
}

// on is the desk in other folders: what a crash or a restore has left there.
func (f *fixture) on(t *testing.T, data, journal string, files log.FS) *station {
	t.Helper()
	other := *f
	other.t, other.data, other.db = t, data, open(t, data)
	return other.station(t, journal, files)
}

// image copies a folder as it is on the disk now.
func image(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rest, _ := filepath.Rel(from, path)
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rest), 0o700)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rest), raw, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// accepted is a campaign of which the service has taken every message.
func (f *fixture) accepted(n int) sms.Campaign {
	f.t.Helper()
	c := f.proven("Dear patient, come to the clinic", numbers(n)...)
	for {
		a := f.claimAfter(0, 100)
		if a == nil {
			return c
		}
		f.settle(f.license(a), answer(a))
	}
}

// callback is a report about a message as the service sends it.
func callback(m sms.Message, status string) string {
	return fmt.Sprintf(
		"messageId=%s&mobile=%s&submitDate=2026-06-03+09:48&doneDate=2026-06-03+09:49&status=%s&errorCode=000"+
			"&shortMessage=Dear+patient", providerID(m.ID), m.Number, status)
}

// keep has a report acknowledged for each message; the list holds those that were.
func (s *station) keep(list []sms.Message, status string) (acknowledged []sms.Message) {
	var all sync.WaitGroup
	var mu sync.Mutex
	for some := range slices.Chunk(list, 50) {
		for _, m := range some {
			all.Go(func() {
				if s.in.Keep(context.Background(), sms.RawReport{AccountID: s.account.ID, ReceivedAt: s.now(),
					Remote: "127.0.0.1:1",
					Query:  callback(m, status)}) == nil {
					mu.Lock()
					defer mu.Unlock()
					acknowledged = append(acknowledged, m)
				}
			})
		}
		all.Wait()
	}
	return acknowledged
}

func (s *station) apply() {
	s.t.Helper()
	s.must(s.receiver.Replay(s.ctx))
	s.must(s.receiver.Drain(s.ctx))
}

// reported counts the acknowledged reports that are stored, by message, and how
// often each came.
func (s *station) reported() map[string]int64 {
	s.t.Helper()
	rows, err := s.db.reader.QueryContext(s.ctx,
		`select provider_id || ' ' || status, sum(times) from delivery_report group by 1`)
	got := map[string]int64{}
	s.must(forEachRow(rows, err, func(scan func(...any) error) error {
		var name string
		var n int64
		err := scan(&name, &n)
		got[name] = n
		return err
	}))
	return got
}

// wantOnce says which reports must be there, each once, and recounts.
func (s *station) wantOnce(what string, list []sms.Message, status string) {
	s.t.Helper()
	want := map[string]int64{}
	for _, m := range list {
		want[providerID(m.ID)+" "+status] = 1
	}
	if got := s.reported(); !maps.Equal(got, want) {
		missing, often := 0, 0
		for name := range want {
			if got[name] == 0 {
				missing++
			}
			if got[name] > 1 {
				often++
			}
		}
		s.t.Fatalf("%s: %d of %d acknowledged reports are missing, %d count more than once, %d are there", what, missing,
			len(want), often, len(got))
	}
	s.counts(what)
}

func (s *station) counts(what string) {
	s.t.Helper()
	wrong, err := s.db.CountMismatches(s.ctx)
	s.must(err)
	if len(wrong) > 0 {
		s.t.Fatalf("%s: %v", what, wrong)
	}
}

func (f *fixture) tallyOf(c sms.Campaign) sms.Tally {
	f.t.Helper()
	got, err := f.db.Tally(f.ctx, c.ID)
	f.must(err)
	return got
}

// TestAcknowledgedReportsComeBackAfterARestore: a database from before, in the
// middle of and after a campaign, beside the log as it is now.
func TestAcknowledgedReportsComeBackAfterARestore(t *testing.T) {
	f := newFixture(t)
	journal := t.TempDir()
	copies := map[string]string{"before the campaign": image(t, f.data)}
	c := f.accepted(600)
	list := f.messages(c.ID)
	s := f.station(t, journal, nil)
	s.apply()
	copies["before the reports"] = image(t, f.data)
	got := s.keep(list[:250], "DELIVRD")
	copies["before they are applied"] = image(t, f.data)
	s.apply()
	copies["after some"] = image(t, f.data)
	got = append(got, s.keep(list[250:], "DELIVRD")...)
	s.apply()
	if s.wantOnce("no restore", list, "DELIVRD"); len(got) != 600 {
		t.Fatalf("%d of 600 acknowledged", len(got))
	}
	copies["nothing was lost"] = image(t, f.data)
	want := f.tallyOf(c)
	s.stop()
	for what, data := range copies {
		t.Run(what, func(t *testing.T) {
			r := f.on(t, data, image(t, journal), nil)
			r.apply()
			r.wantOnce(what, list, "DELIVRD")
			if what == "before the campaign" {
				return
			}
			if d := cmp.Diff(want, r.tallyOf(c)); d != "" {
				t.Errorf("tally (-before the restore +after):\n%s", d)
			}
			// What comes now has an id of its own, and a second start changes nothing.
			r.keep(list[:5], "UNDELIV")
			r.apply()
			r.stop()
			again := f.on(t, image(t, r.data), r.journal, nil)
			again.apply()
			if n := len(again.reported()); n != 605 {
				t.Errorf("%d reports, want 605", n)
			}
			again.counts(what)
		})
	}
}

// TestALostInboxLosesNoReport: deleted, emptied or damaged while the process was
// down, with reports in it that nobody had applied.
func TestALostInboxLosesNoReport(t *testing.T) {
	f := newFixture(t)
	journal := t.TempDir()
	c := f.accepted(150)
	list := f.messages(c.ID)
	s := f.station(t, journal, nil)
	s.keep(list[:60], "DELIVRD")
	s.apply()
	if got := s.keep(list[60:], "DELIVRD"); len(got) != 90 {
		t.Fatalf("%d of 90 acknowledged", len(got))
	}
	s.must(f.db.SeeInbox(t.Context(), s.in.Last()))
	data := image(t, f.data)
	s.stop()
	change := func(name string, do func(raw []byte) []byte) func(t *testing.T, data string) {
		return func(t *testing.T, data string) {
			path := filepath.Join(data, name)
			raw, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				return
			}
			if err == nil {
				err = os.WriteFile(path, do(raw), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	flip := func(at float64) func([]byte) []byte {
		return func(raw []byte) []byte {
			if len(raw) > 0 {
				raw[int(at*float64(len(raw)-1))] ^= 0x55
			}
			return raw
		}
	}
	cases := map[string]func(t *testing.T, data string){
		"untouched": func(*testing.T, string) {},
		"deleted": func(t *testing.T, data string) {
			for _, ending := range []string{"", "-wal", "-shm"} {
				_ = os.Remove(filepath.Join(data, inboxName+ending))
			}
		},
		"its log deleted":  func(t *testing.T, data string) { _ = os.Remove(filepath.Join(data, inboxName+"-wal")) },
		"emptied":          change(inboxName, func([]byte) []byte { return nil }),
		"its log emptied":  change(inboxName+"-wal", func([]byte) []byte { return nil }),
		"filled with text": change(inboxName, func(raw []byte) []byte { return []byte(strings.Repeat("rubbish ", len(raw)/8+1)) }),
	}
	for i := range 10 {
		cases[fmt.Sprintf("flipped at %d%%", 10*i)] = change(inboxName, flip(float64(i)/10))
		cases[fmt.Sprintf("its log flipped at %d%%", 10*i)] = change(inboxName+"-wal", flip(float64(i)/10))
	}
	for _, what := range slices.Sorted(maps.Keys(cases)) {
		t.Run(what, func(t *testing.T) {
			here := image(t, data)
			cases[what](t, here)
			r := f.on(t, here, image(t, journal), nil)
			r.apply()
			r.wantOnce(what, list, "DELIVRD")
			told := strings.Join(r.told, " ")
			if what == "untouched" && told != "" || (what == "deleted" || what == "emptied") &&
				!strings.Contains(told, "is in the log") {
				t.Errorf("told: %q", told)
			}
			if got := r.keep(list[:1], "UNDELIV"); len(got) != 1 {
				t.Error("no report is acknowledged afterwards")
			}
			r.apply()
			if n := len(r.reported()); n != 151 {
				t.Errorf("%d reports, want 151", n)
			}
		})
	}
}

// faultyFiles fails some operations of a log's files, counted over all.
type faultyFiles struct {
	log.Disk
	mu         *sync.Mutex
	done       *int
	from, upTo int
}

var errFault = errors.New("a fault on purpose")

func faults(from, upTo int) faultyFiles {
	return faultyFiles{mu: new(sync.Mutex), done: new(int), from: from, upTo: upTo}
}

func (f faultyFiles) due() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	*f.done++
	return *f.done >= f.from && *f.done < f.upTo
}

func (f faultyFiles) Create(path string) (log.File, error) {
	if f.due() {
		return nil, errFault
	}
	file, err := f.Disk.Create(path)
	return faultyFile{file, f}, err
}

func (f faultyFiles) Open(path string) (log.File, error) {
	file, err := f.Disk.Open(path)
	return faultyFile{file, f}, err
}

func (f faultyFiles) SyncFolder(dir string) error {
	if f.due() {
		return errFault
	}
	return f.Disk.SyncFolder(dir)
}

type faultyFile struct {
	log.File
	fs faultyFiles
}

func (f faultyFile) WriteAt(b []byte, at int64) (int, error) {
	if !f.fs.due() {
		return f.File.WriteAt(b, at)
	}
	_, _ = f.File.WriteAt(b[:len(b)/2], at)
	return 0, errFault
}

func (f faultyFile) Sync() error {
	if f.fs.due() {
		return errFault
	}
	return f.File.Sync()
}

func (f faultyFile) Truncate(size int64) error {
	if f.fs.due() {
		return errFault
	}
	return f.File.Truncate(size)
}

// TestTheLogMayFail: the inbox alone acknowledges then, and what it has is not
// forgotten before the log has it too.
func TestTheLogMayFail(t *testing.T) {
	f := newFixture(t)
	c := f.accepted(40)
	list := f.messages(c.ID)
	data := image(t, f.data)
	for from := 1; from <= 24; from++ {
		t.Run(fmt.Sprint("from operation ", from), func(t *testing.T) {
			files := faults(from, from+4)
			journal := t.TempDir()
			s := f.on(t, image(t, data), journal, files)
			for some := range slices.Chunk(list, 5) {
				if got := s.keep(some, "DELIVRD"); len(got) != len(some) {
					t.Fatalf("%d of %d acknowledged", len(got), len(some))
				}
				if some[0].ID%3 == 0 {
					s.apply()
				}
			}
			if *files.done < files.from {
				t.Fatalf("only %d operations", *files.done)
			}
			crashed := f.on(t, image(t, s.data), image(t, journal), nil)
			crashed.apply()
			crashed.wantOnce("after a crash", list, "DELIVRD")
			crashed.keep(list[:1], "UNDELIV")
			if d := strings.Join(crashed.told, " "); d != "" {
				t.Errorf("told: %s", d)
			}
			// The log has all of them now: the oldest database gets them back.
			old := f.on(t, image(t, data), image(t, crashed.journal), nil)
			old.apply()
			if n := len(old.reported()); n != 41 {
				t.Errorf("%d reports in the log, want 41", n)
			}
			old.counts("an older database")
		})
	}
}

// TestACrashBetweenInboxAndLog: each of both may be behind the other, and the
// provider tells again what was not acknowledged.
func TestACrashBetweenInboxAndLog(t *testing.T) {
	f := newFixture(t)
	journal := t.TempDir()
	c := f.accepted(40)
	list := f.messages(c.ID)
	oldest := image(t, f.data)
	s := f.station(t, journal, nil)
	s.keep(list[:20], "DELIVRD")
	s.apply()
	data, logs := []string{image(t, f.data)}, []string{image(t, journal)}
	s.keep(list[20:], "DELIVRD")
	data, logs = append(data, image(t, f.data)), append(logs, image(t, journal))
	s.apply()
	data, logs = append(data, image(t, f.data)), append(logs, image(t, journal))
	s.stop()
	for i, d := range data {
		for j, l := range logs {
			t.Run(fmt.Sprintf("database %d log %d", i, j), func(t *testing.T) {
				r := f.on(t, image(t, d), image(t, l), nil)
				r.apply()
				r.keep(list[20:], "DELIVRD")
				r.apply()
				if n := len(r.reported()); n != 40 {
					t.Fatalf("%d reports, want 40", n)
				}
				r.counts("after the crash")
				old := f.on(t, image(t, oldest), image(t, r.journal), nil)
				old.apply()
				if n := len(old.reported()); n != 40 {
					t.Errorf("%d of 40 reports after a restore", n)
				}
				old.counts("after a restore")
			})
		}
	}
}

// TestALogThatIsNotThere: nothing is made in its place before somebody says so,
// reports go on, and it is read once it is back.
func TestALogThatIsNotThere(t *testing.T) {
	f := newFixture(t)
	journal := t.TempDir()
	c := f.accepted(60)
	list := f.messages(c.ID)
	oldest := image(t, f.data)
	s := f.station(t, journal, nil)
	s.keep(list[:20], "DELIVRD")
	s.apply()
	older := image(t, f.data)
	s.keep(list[20:40], "DELIVRD")
	s.apply()
	s.stop()
	newest := image(t, journal)

	elsewhere := t.TempDir()
	other := *f
	other.t, other.data, other.db = t, older, open(t, older)
	r := other.stationAway(t, elsewhere)
	if got := r.keep(list[40:], "DELIVRD"); len(got) != 20 {
		t.Fatalf("%d of 20 acknowledged without a log", len(got))
	}
	r.apply()
	if entries, err := os.ReadDir(elsewhere); err != nil || len(entries) > 0 {
		t.Fatalf("something was made where the log was expected: %v %v", entries, err)
	}
	if n := len(r.reported()); n != 40 {
		t.Errorf("%d reports without the log, want 40", n)
	}
	if err := os.CopyFS(elsewhere, os.DirFS(newest)); err != nil {
		t.Fatal(err)
	}
	r.must(r.logged.Look(t.Context()))
	r.apply()
	r.wantOnce("the log is back", list, "DELIVRD")
	r.keep(list[:1], "UNDELIV")
	old := f.on(t, oldest, image(t, elsewhere), nil)
	old.apply()
	if n := len(old.reported()); n != 61 {
		t.Errorf("%d reports are in the log, want 61", n)
	}
}

// TestDamageInTheLogIsTold, with the days, once it matters; what can be read is
// applied, and new reports go to a new segment.
func TestDamageInTheLogIsTold(t *testing.T) {
	f := newFixture(t)
	journal := t.TempDir()
	c := f.accepted(60)
	list := f.messages(c.ID)
	oldest := image(t, f.data)
	s := f.station(t, journal, nil)
	for some := range slices.Chunk(list, 20) {
		s.keep(some, "DELIVRD")
	}
	s.apply()
	s.stop()
	newest := image(t, f.data)
	path := filepath.Join(ReportLogFolder, "00000001"+segmentEnding)
	raw, err := os.ReadFile(filepath.Join(journal, path))
	f.must(err)
	raw = raw[:len(strings.TrimRight(string(raw), "\x00"))]
	told := func(s *station) string {
		set, err := s.db.ReadSetting(t.Context(), health.SettingTold)
		s.must(err)
		list, err := health.ReadTold(set)
		s.must(err)
		var text []string
		for _, l := range list {
			text = append(text, l.Text)
		}
		return strings.Join(text, "\n")
	}
	for i := range 12 {
		at := i * (len(raw) - 1) / 11
		t.Run(fmt.Sprint("byte ", at), func(t *testing.T) {
			changed := slices.Clone(raw)
			changed[at] ^= 1
			damaged := image(t, journal)
			if err := os.WriteFile(filepath.Join(damaged, path), changed, 0o600); err != nil {
				t.Fatal(err)
			}
			same := f.on(t, image(t, newest), image(t, damaged), nil)
			same.apply()
			same.keep(list[:1], "UNDELIV")
			if text := told(same); strings.Contains(text, "replayed") {
				t.Errorf("nothing is missing, and it says %q", text)
			}
			old := f.on(t, image(t, oldest), damaged, nil)
			old.apply()
			if n := len(old.reported()); n < 10 || n == 60 && at > 300 && at < len(raw)-1 {
				t.Errorf("%d reports", n)
			}
			if text := told(old); len(old.reported()) < 60 &&
				!strings.Contains(text, "Delivery reports of "+time.Now().Format("2 January")+" cannot be replayed") && at > 200 {
				t.Errorf("%d of 60 reports, and told: %q", len(old.reported()), text)
			}
			if got := old.keep(list[:1], "UNDELIV"); len(got) != 1 {
				t.Error("no report is acknowledged afterwards")
			}
			old.apply()
			last := f.on(t, image(t, oldest), image(t, damaged), nil)
			last.apply()
			if got := last.reported(); got[providerID(list[0].ID)+" UNDELIV"] != 1 {
				t.Error("a report that came after the damage is not in the log")
			}
			last.counts("after damage")
		})
	}
}

// TestOldReportsLeaveTheLog: a segment a day, removed once all of it is older
// than the time, and never before it is applied.
func TestOldReportsLeaveTheLog(t *testing.T) {
	f := newFixture(t)
	journal := t.TempDir()
	c := f.accepted(40)
	list := f.messages(c.ID)
	s := f.station(t, journal, nil)
	today := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for day := range 4 {
		s.logged.mu.Lock()
		s.logged.now = func() time.Time { return today.AddDate(0, 0, day) }
		s.logged.mu.Unlock()
		s.keep(list[10*day:10*day+10], "DELIVRD")
	}
	segments := func() int {
		names, err := filepath.Glob(filepath.Join(journal, ReportLogFolder, "*"))
		f.must(err)
		return len(names)
	}
	forget := func(before time.Time, want int) {
		t.Helper()
		cursor, err := f.db.LogCursor(t.Context())
		f.must(err)
		f.must(s.logged.Forget(before.UnixMilli(), cursor))
		if n := segments(); n != want {
			t.Errorf("%d segments are left, want %d", n, want)
		}
	}
	forget(today.AddDate(1, 0, 0), 4) // nothing is applied
	s.apply()
	forget(today.AddDate(0, 0, 1), 4) // the first day ended only then
	forget(today.AddDate(0, 0, 1).Add(time.Second), 3)
	forget(today.AddDate(1, 0, 0), 1)
	n, lost, err := s.logged.Check(t.Context())
	if f.must(err); n != 10 || lost != "" {
		t.Errorf("%d reports, lost %q", n, lost)
	}
	s.keep(list[:1], "UNDELIV")
	s.stop()
	again := f.on(t, image(t, f.data), journal, nil)
	again.apply()
	if n := len(again.reported()); n != 41 {
		t.Errorf("%d reports, want 41", n)
	}
}
