package stage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"smsdesk/internal/desk"
	"smsdesk/internal/rehearsal"
	"smsdesk/internal/rig"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

// kit is a real desk whose provider counts who comes, beside a stage.
type kit struct {
	*rig.Rig
	stage    *Stage
	listener net.Listener
	came     chan struct{}
}

// newKit has an account whose provider is a bare listener: whatever connects to it
// is a rehearsal that got out.
func newKit(t *testing.T, change func(*sms.Account)) *kit {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	k := &kit{listener: l, came: make(chan struct{}, 100)}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			k.came <- struct{}{}
			_ = c.Close()
		}
	}()
	k.Rig = rig.New(t, sandbox.Config{}, func(a *sms.Account) {
		a.BaseURL, a.PerMinute, a.CallLimit = "http://"+l.Addr().String()+"/v2", 100, 100
		if change != nil {
			change(a)
		}
	})
	k.stage = New(k.DB, k.Data, k.Feed, slog.New(slog.DiscardHandler), time.Now)
	k.stage.rest = time.Millisecond
	return k
}

// draft is a draft with a row for each text.
func (k *kit) draft(texts ...string) sms.Campaign {
	k.T.Helper()
	messages := make([]sms.Message, len(texts))
	c := sms.Campaign{AccountID: k.Account.ID, Name: "Fees", SenderID: "CLINIC", CreatedBy: k.By.ID, CreatedName: k.By.Name}
	for i, text := range texts {
		s := sms.CountSegments(text, false)
		messages[i] = sms.Message{Row: int64(i + 1), Number: fmt.Sprintf("2348031%06d", i), Text: text, Parts: s.Parts}
		c.Parts += int64(s.Parts)
	}
	c, _, err := k.DB.CreateDraft(k.Ctx, c, desk.NewToken(), messages, 0, time.Now().UnixMilli())
	if err != nil {
		k.T.Fatal(err)
	}
	return c
}

func each(n int, text func(i int) string) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = text(i)
	}
	return list
}

// run lets the stage work until the test ends.
func (k *kit) run() (stop func()) {
	ctx, cancel := context.WithCancel(k.Ctx)
	done := make(chan struct{})
	go func() { defer close(done); k.stage.Run(ctx) }()
	stop = func() { cancel(); <-done }
	k.T.Cleanup(stop)
	return stop
}

func (k *kit) until(id int64, what string, ok func(rehearsal.Rehearsal) bool) rehearsal.Rehearsal {
	k.T.Helper()
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		r, err := k.DB.Rehearsal(k.Ctx, id)
		if err != nil {
			k.T.Fatal(err)
		}
		if ok(r) {
			return r
		}
		if time.Now().After(deadline) {
			k.T.Fatalf("waited in vain for %s: %+v", what, r)
		}
	}
}

func over(r rehearsal.Rehearsal) bool { return !r.Open() }

func (k *kit) rehearse(c sms.Campaign, kind rehearsal.Kind) rehearsal.Rehearsal {
	k.T.Helper()
	r, err := k.Desk.Rehearse(k.Ctx, k.By, desk.RehearseOrder{CampaignID: c.ID, Kind: kind, CostMiddle: 100})
	if err != nil {
		k.T.Fatal(err)
	}
	return r
}

// rowsOf dumps every table but that of rehearsals.
func (k *kit) rowsOf() map[string]string {
	k.T.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(k.Data, "smsdesk.db")+"?mode=ro")
	if err != nil {
		k.T.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	tables, err := db.Query("select name from sqlite_master where type = 'table' and name not in ('rehearsal', 'sqlite_sequence')")
	if err != nil {
		k.T.Fatal(err)
	}
	var names []string
	for tables.Next() {
		var name string
		if err := tables.Scan(&name); err != nil {
			k.T.Fatal(err)
		}
		names = append(names, name)
	}
	if err := errors.Join(tables.Err(), tables.Close()); err != nil {
		k.T.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range names {
		rows, err := db.Query("select * from " + name)
		if err != nil {
			k.T.Fatal(err)
		}
		columns, err := rows.Columns()
		if err != nil {
			k.T.Fatal(err)
		}
		var all strings.Builder
		for rows.Next() {
			values := make([]any, len(columns))
			for i := range values {
				values[i] = new(any)
			}
			if err := rows.Scan(values...); err != nil {
				k.T.Fatal(err)
			}
			for _, v := range values {
				fmt.Fprintf(&all, "%v|", *v.(*any))
			}
			all.WriteByte('\n')
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			k.T.Fatal(err)
		}
		out[name] = all.String()
	}
	return out
}

// A rehearsal sends the whole list, and nothing real notices: not the provider,
// not a table, not a file.
func TestNothingRealNoticesARehearsal(t *testing.T) {
	k := newKit(t, func(a *sms.Account) { a.Limits.MaxPerDay = 10 })
	c := k.draft(each(300, func(i int) string { return fmt.Sprintf("Dear parent %d, fees are due.", i) })...)
	before := k.rowsOf()
	files := filesOf(t, k.Data)
	r := k.rehearse(c, rehearsal.Bad)
	stop := k.run()
	r = k.until(r.ID, "its end", over)
	stop()
	if r.State != rehearsal.Done || r.Rows != 300 || r.Done != 300 || r.Result.Tally.Total() != 300 {
		t.Fatalf("%+v", r)
	}
	if r.Result.Twice != 0 || r.Result.Missing != 0 {
		t.Errorf("%d twice, %d missing", r.Result.Twice, r.Result.Missing)
	}
	for name, rows := range k.rowsOf() {
		if rows != before[name] {
			t.Errorf("table %s has changed:\n%s\nwas\n%s", name, rows, before[name])
		}
	}
	select {
	case <-k.came:
		t.Error("the provider was called")
	default:
	}
	if after := filesOf(t, k.Data); after != files {
		t.Errorf("files are left: %s, were %s", after, files)
	}
}

func filesOf(t *testing.T, folder string) string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// The figures are those of the same campaign when it is really sent.
func TestARehearsalCountsWhatTheCampaignTakes(t *testing.T) {
	k := newKit(t, nil)
	c := k.draft(each(250, func(int) string { return "School is closed on Monday." })...)
	r := k.rehearse(c, rehearsal.Usual)
	k.run()
	r = k.until(r.ID, "its end", over)
	// 250 recipients are 3 requests of up to 100, and one more for the canary.
	if got := r.Result.Requests - r.Result.TooFast; r.State != rehearsal.Done || got != 4 || r.Result.Parts != 250 {
		t.Errorf("%+v", r)
	}
	if r.Result.CostMiddle != 100 || r.Result.Speed != 100 || r.Foretells() {
		t.Errorf("%+v", r)
	}
}

func TestTheTimeIsThatOfTheAccountsRate(t *testing.T) {
	k := newKit(t, func(a *sms.Account) { a.CallLimit = 2 })
	c := k.draft(each(600, func(int) string { return "School is closed on Monday." })...)
	r := k.rehearse(c, rehearsal.Usual)
	k.run()
	r = k.until(r.ID, "its end", over)
	// 301 requests at 100 a minute, and for each 429 a wait of a minute or a little more.
	took := r.Takes() - time.Duration(r.Result.TooFast)*66*time.Second
	if r.State != rehearsal.Done || took < 2*time.Minute || took > 4*time.Minute {
		t.Errorf("it takes %v: %+v", took, r)
	}
}

func TestABadDayHasDoubts(t *testing.T) {
	k := newKit(t, func(a *sms.Account) { a.CallLimit = 2 })
	c := k.draft(each(600, func(int) string { return "School is closed on Monday." })...)
	r := k.rehearse(c, rehearsal.Bad)
	k.run()
	r = k.until(r.ID, "its end", over)
	d := r.Result.Doubt
	if r.State != rehearsal.Done || d == nil || d.Messages == 0 || d.Settled == 0 || d.Row == 0 || d.Reason == "" ||
		r.Result.Lost == 0 || r.Result.TooFast == 0 || r.Result.Unreached == 0 || len(r.Result.Networks) == 0 {
		t.Errorf("%+v %+v", r, d)
	}
	if r.Result.Twice != 0 || r.Result.Missing != 0 {
		t.Errorf("%d twice, %d missing", r.Result.Twice, r.Result.Missing)
	}
}

func TestARehearsalThatIsWatchedStopsThreeTimes(t *testing.T) {
	k := newKit(t, nil)
	r, err := k.Desk.WatchRehearsal(k.Ctx, k.By, k.Account.ID)
	if err != nil {
		t.Fatal(err)
	}
	k.run()
	r = k.until(r.ID, "its end", over)
	if r.State != rehearsal.Done || len(r.Result.Steps) != 3 || r.Result.Twice != 0 || r.Result.Missing != 0 {
		t.Fatalf("%+v", r)
	}
	stop, doubt, again := r.Result.Steps[0], r.Result.Steps[1], r.Result.Steps[2]
	if left := stop.Tally["queued"]; stop.Name != rehearsal.StepStop || left < 100 || left > 140 {
		t.Errorf("stopped: %+v", stop)
	}
	if doubt.Doubted != 8 || doubt.Settled != 3 {
		t.Errorf("doubt: %+v", doubt)
	}
	if again.Again == 0 || again.NotAgain == 0 {
		t.Errorf("again: %+v", again)
	}
	for _, key := range []string{"delivered", "undelivered", "expired", "deleted", "rejected", "blocked", "unknown",
		rehearsal.NoReport, "doubt", "refused"} {
		if r.Result.Tally[key] == 0 {
			t.Errorf("nobody met %q: %v", key, r.Result.Tally)
		}
	}
}

func TestARehearsalIsStopped(t *testing.T) {
	k := newKit(t, func(a *sms.Account) { a.CallLimit, a.PerMinute = 1, 10 })
	c := k.draft(each(500, func(int) string { return "School is closed on Monday." })...)
	r := k.rehearse(c, rehearsal.Usual)
	k.run()
	k.until(r.ID, "its beginning", func(r rehearsal.Rehearsal) bool { return r.Done > 0 })
	again, err := k.Desk.Rehearse(k.Ctx, k.By, desk.RehearseOrder{CampaignID: c.ID, Kind: rehearsal.Bad})
	if !errors.Is(err, sms.ErrConflict) ||
		again.ID != r.ID {
		t.Errorf("a second one at a time: %+v, %v", again, err)
	}
	if err := k.Desk.StopRehearsal(k.Ctx, k.By, r.ID); err != nil {
		t.Fatal(err)
	}
	k.until(r.ID, "its end", func(r rehearsal.Rehearsal) bool { return r.State == rehearsal.Stopped })
	next := k.rehearse(k.draft(each(20, func(int) string { return "Hello" })...), rehearsal.Usual)
	if next = k.until(next.ID, "the next one", over); next.State != rehearsal.Done {
		t.Errorf("%+v", next)
	}
}

// One in which nothing moves any more ends, so that others are not held up.
func TestARehearsalThatIsStuckFails(t *testing.T) {
	k := newKit(t, func(a *sms.Account) { a.CallLimit, a.PerMinute = 1, 1 })
	k.stage.stuck = time.Millisecond
	r := k.rehearse(k.draft(each(30, func(int) string { return "Hello" })...), rehearsal.Usual)
	k.run()
	if r = k.until(r.ID, "its end", over); r.State != rehearsal.Failed || r.EndedAt == 0 {
		t.Errorf("%+v", r)
	}
}

// A process that ends in the middle leaves a rehearsal that says so at the next
// start, and no folder.
func TestARestartSaysThatItInterrupted(t *testing.T) {
	k := newKit(t, func(a *sms.Account) { a.CallLimit, a.PerMinute = 1, 10 })
	r := k.rehearse(k.draft(each(500, func(int) string { return "Hello" })...), rehearsal.Usual)
	stop := k.run()
	k.until(r.ID, "its beginning", func(r rehearsal.Rehearsal) bool { return r.Done > 0 })
	stop()
	if err := os.Mkdir(filepath.Join(k.Data, prefix+"left"), 0o700); err != nil {
		t.Fatal(err)
	}
	k.run()
	k.until(r.ID, "the next start", func(r rehearsal.Rehearsal) bool { return r.State == rehearsal.Interrupted })
	if files := filesOf(t, k.Data); strings.Contains(files, prefix) {
		t.Errorf("a folder is left: %s", files)
	}
}
