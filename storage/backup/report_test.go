package backup

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/storage"
)

// intake is the way of reports of a desk: kept in the inbox, applied to the database, forgotten by the inbox.
type intake struct {
	t    *testing.T
	data string
	db   *storage.DB
	in   *storage.Inbox
}

func newIntake(t *testing.T) *intake {
	t.Helper()
	i := &intake{t: t, data: desks.Folder(t)}
	must(t, os.RemoveAll(filepath.Join(i.data, spoolName)))
	var err error
	i.db, err = storage.Open(t.Context(), storage.Config{Data: i.data})
	must(t, err)
	i.in, err = storage.OpenInbox(t.Context(), i.data, "", 0)
	must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := i.in.Run(ctx, func() {}, func(int, error) {}); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		stop()
		running.Wait()
		if err := i.in.Close(); err != nil {
			t.Error(err)
		}
		if err := i.db.Close(); err != nil {
			t.Error(err)
		}
	})
	return i
}

// keep takes one report and returns once it is acknowledged.
func (i *intake) keep(id string) {
	if err := i.in.Keep(context.Background(), sms.RawReport{AccountID: 1, ReceivedAt: began, Query: "messageId=" +
		id}); err != nil {
		i.t.Error(err)
	}
}

// apply brings what is kept into the database, and has the inbox forget it.
func (i *intake) apply() {
	ctx := context.Background()
	cursor, err := i.db.InboxCursor(ctx)
	if err != nil {
		i.t.Error(err)
		return
	}
	list, err := i.in.After(ctx, cursor, 10_000)
	if err != nil || len(list) == 0 {
		return
	}
	reports := make([]sms.DeliveryReport, len(list))
	for n, k := range list {
		q, _ := url.ParseQuery(k.Query)
		reports[n] = sms.DeliveryReport{ID: k.ID, AccountID: 1, ReceivedAt: k.ReceivedAt, ProviderID: q.Get("messageId"),
			Mobile: "2348030000001",
			Status: "DELIVRD", Raw: k.Query}
	}
	last := list[len(list)-1].ID
	if _, err := i.db.ApplyReports(ctx, reports, map[int64]string{1: "NG"}, sms.Cursors{Inbox: last}, began); err != nil {
		i.t.Error(err)
		return
	}
	i.in.Applied(last)
}

// settle applies until the inbox has forgotten everything.
func (i *intake) settle() {
	i.t.Helper()
	i.apply()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		list, err := i.in.After(context.Background(), 0, 1)
		must(i.t, err)
		if len(list) == 0 {
			return
		}
		if time.Now().After(deadline) {
			i.t.Fatal("the inbox does not forget what was applied")
		}
	}
}

// reportsIn lists the reports that a backup or a data folder holds, in either database.
func reportsIn(t *testing.T, folder string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for file, query := range map[string]string{inboxName: "select query from raw",
		databaseName: "select raw from delivery_report"} {
		db, err := sql.Open("sqlite", "file:"+filepath.Join(folder, file)+"?mode=ro")
		must(t, err)
		rows, err := db.QueryContext(t.Context(), query)
		must(t, err)
		for rows.Next() {
			var raw string
			must(t, rows.Scan(&raw))
			all[strings.TrimPrefix(raw, "messageId=")] = true
		}
		must(t, rows.Err())
		must(t, rows.Close())
		must(t, db.Close())
	}
	return all
}

// TestAReportOnItsWayIsInTheBackup: it is applied, and forgotten by the inbox, between the two copies. The other order
// loses it, or this test proves nothing.
func TestAReportOnItsWayIsInTheBackup(t *testing.T) {
	for name, c := range map[string]struct {
		order []string
		lost  bool
	}{
		"as it is":              {[]string{"Copying the inbox", "", "Copying the database"}, false},
		"database before inbox": {[]string{"Copying the database", "", "Copying the inbox"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			i := newIntake(t)
			for n := range 20 {
				i.keep(fmt.Sprint("early-", n))
			}
			var wrong []step
			for _, doing := range c.order {
				found := step{"waiting", func(context.Context, *making) error { i.settle(); return nil }}
				for _, s := range steps() {
					if s.doing == doing {
						found = s
					}
				}
				wrong = append(wrong, found)
			}
			made, err := makeBy(t.Context(), order(t, i.data), wrong)
			must(t, err)
			if n := len(reportsIn(t, made.Folder)); (n < 20) != c.lost {
				t.Errorf("%d of 20 reports that were acknowledged before the backup are in it", n)
			}
		})
	}
	var order []string
	for _, s := range steps() {
		order = append(order, s.doing)
	}
	if got := strings.Join(order[:3], ", "); got != "Copying the spools, Copying the inbox, Copying the database" {
		t.Errorf("the steps are %s: a report goes from the spool through the inbox into the database", got)
	}
}

// TestABackupUnder500ReportsASecond: whatever was acknowledged before it began is in it.
func TestABackupUnder500ReportsASecond(t *testing.T) {
	i := newIntake(t)
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	working.Go(func() {
		each := time.NewTicker(10 * time.Millisecond)
		defer each.Stop()
		for n := 0; ctx.Err() == nil; n++ {
			for k := range 5 {
				working.Go(func() {
					id := fmt.Sprintf("report-%d-%d", n, k)
					i.keep(id)
					mu.Lock()
					acknowledged[id] = true
					mu.Unlock()
				})
			}
			<-each.C
		}
	})
	working.Go(func() {
		for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
			i.apply()
		}
	})
	for range 3 {
		time.Sleep(700 * time.Millisecond)
		mu.Lock()
		before := maps.Clone(acknowledged)
		mu.Unlock()
		made := makeOne(t, order(t, i.data))
		there := reportsIn(t, made.Folder)
		for id := range before {
			if !there[id] {
				t.Errorf("%s was acknowledged before the backup began and is not in it", id)
			}
		}
		if len(before) < 100 {
			t.Errorf("only %d reports came before the backup: this proves nothing", len(before))
		}
		t.Logf("%d acknowledged before, %d in the backup, which took %d ms", len(before), len(there), made.Took)
	}
	stop()
	working.Wait()
}

// TestWhatTheOldFolderKnowsIsTakenOver: journal and logs, both spools, and the inbox of both.
func TestWhatTheOldFolderKnowsIsTakenOver(t *testing.T) {
	i := newIntake(t)
	put := func(name, text string) {
		t.Helper()
		file := filepath.Join(i.data, name)
		must(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must(t, os.WriteFile(file, []byte(text), 0o600))
	}
	put("dispatch.journal/00000001.j", "old\n")
	i.keep("before")
	put("spool/1.reports", "1 5 \"\" \"x\"\n")
	o := order(t, i.data)
	o.Journal = true
	made := makeOne(t, o)
	i.settle()
	i.keep("after")
	put("dispatch.journal/00000001.j", "old\nnew\n")
	put("reports.log/00000001.l", "a report\n")
	put("outcomes.reserve", "an outcome\n")
	put("blocks.log/00000001.l", "a block\n")
	put("spool/1.reports", "1 5 \"\" \"x\"\n1 6 \"\" \"y\"\n")
	put("ussd.spool", `{"b":2}`+"\n")
	r := RestoreOrder{From: made.Folder, To: storage.Config{Data: fresh(t)}, Take: i.data}
	release, err := i.db.AcquireDispatchLock()
	must(t, err)
	refused(t, r, "is serving", "Stop it first")
	release()
	before, err := os.ReadDir(i.data)
	must(t, err)
	done, err := Restore(t.Context(), r)
	must(t, err)
	if len(done.Notes) != 1 || !strings.Contains(done.Notes[0], "--spool") {
		t.Errorf("%+v", done)
	}
	for name, want := range map[string]string{"dispatch.journal/00000001.j": "old\nnew\n",
		"reports.log/00000001.l": "a report\n", "outcomes.reserve": "an outcome\n",
		"blocks.log/00000001.l": "a block\n", "spool/1.reports": "1 5 \"\" \"x\"\n1 6 \"\" \"y\"\n", "ussd.spool": `{"a":1}` + "\n\n" + `{"b":2}` + "\n"} {
		if got, err := os.ReadFile(filepath.Join(r.To.Data, name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v; want %q", name, got, err, want)
		}
	}
	if there := reportsIn(t, r.To.Data); !there["before"] || !there["after"] {
		t.Errorf("the restored desk knows only of %v", there)
	}
	if after, _ := os.ReadDir(i.data); len(after) != len(before) {
		t.Errorf("the old folder was changed from %v to %v", before, after)
	}

	must(t, os.RemoveAll(filepath.Join(i.data, "dispatch.journal")))
	old := t.TempDir()
	key, err := os.ReadFile(filepath.Join(i.data, keyName))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(old, keyName), key, 0o600))
	must(t, os.WriteFile(filepath.Join(old, inboxName), []byte("no database at all, for more than a page of it"), 0o600))
	r.Take, r.To.Data = old, fresh(t)
	done, err = Restore(t.Context(), r)
	must(t, err)
	if said := strings.Join(done.Notes, " "); !strings.Contains(said, "no journal") ||
		!strings.Contains(said, "cannot be taken over") {
		t.Errorf("said %q", said)
	}
	if there := reportsIn(t, r.To.Data); !there["before"] {
		t.Errorf("with a damaged inbox in the old folder, the restored desk knows only of %v", there)
	}
}

// TestTheJournalOnAnotherDisk: with --journal what lies there is newer than anything else, and stays.
func TestTheJournalOnAnotherDisk(t *testing.T) {
	data, disk := desks.Folder(t), t.TempDir()
	put := func(folder, text string) {
		t.Helper()
		must(t, os.MkdirAll(filepath.Join(folder, "dispatch.journal"), 0o700))
		must(t, os.WriteFile(filepath.Join(folder, "dispatch.journal", "00000001.j"), []byte(text), 0o600))
	}
	read := func(folder string) string {
		b, _ := os.ReadFile(filepath.Join(folder, "dispatch.journal", "00000001.j"))
		return string(b)
	}
	put(disk, "old\n")
	o := order(t, data)
	o.Journal, o.Logs = true, disk
	made := makeOne(t, o)
	if !made.has("dispatch.journal/00000001.j") {
		t.Errorf("the journal is not in the backup: %+v", made.Files)
	}
	put(disk, "old\nnew\n")
	put(data, "of another time\n")
	r := RestoreOrder{From: made.Folder, To: storage.Config{Data: fresh(t)}, Logs: disk, Take: data}
	_, err := Restore(t.Context(), r)
	must(t, err)
	if got := read(disk); got != "old\nnew\n" || read(r.To.Data) != "" {
		t.Errorf("the journal is %q there and %q in the data folder", got, read(r.To.Data))
	}
	r = RestoreOrder{From: made.Folder, To: storage.Config{Data: fresh(t)}, Logs: t.TempDir(),
		Key: KeyFrom{File: filepath.Join(data, keyName)}}
	_, err = Restore(t.Context(), r)
	must(t, err)
	if got := read(r.Logs); got != "old\n" {
		t.Errorf("on an empty disk the backup's journal is %q", got)
	}
}
