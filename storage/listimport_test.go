package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/sms"
)

func (f *fixture) newList(name string) sms.List {
	f.t.Helper()
	l, created, err := f.db.CreateList(f.ctx, sms.List{UID: randomHex(16), AccountID: f.account.ID, FileName: name,
		CreatedBy: 1, CreatedName: "Ada Obi",
		Reading: sms.ListReading{Columns: []string{"phone"}},
		Order:   sms.ListOrder{Text: "Hello", Fields: map[string]int{"a": 1}}}, randomHex(16), f.now())
	f.must(err)
	if !created {
		f.t.Fatalf("the list was there already")
	}
	return l
}

func (f *fixture) making(l sms.List) sms.List {
	f.t.Helper()
	l, err := f.db.UpdateList(f.ctx, l.UID, f.now(), func(l *sms.List) error { l.State = sms.ListMaking; return nil })
	f.must(err)
	return l
}

func (f *fixture) listRows(campaign int64, n int) []sms.Message {
	list := make([]sms.Message, n)
	for i := range list {
		list[i] = sms.Message{AccountID: f.account.ID, Row: int64(i + 2), Number: fmt.Sprintf("23480300%05d", i),
			Text: "Hello", Parts: 1, State: sms.Draft, Call: int32(i / 10)}
		if i%7 == 3 {
			list[i].State, list[i].Reason, list[i].Code = sms.Skipped, "Too short", string(sms.RowNumber)
		}
	}
	return list
}

// visible counts what questions can see of the account's campaigns.
func (f *fixture) visible(id int64, message int64) (n int) {
	f.t.Helper()
	list, _, err := f.db.Campaigns(f.ctx, sms.CampaignFilter{AccountID: f.account.ID, Limit: 100})
	f.must(err)
	n = len(list)
	for _, err := range []error{outcome(f.db.Campaign(f.ctx, id)), outcome(f.db.Message(f.ctx, message)),
		outcome(f.db.UpdateCampaign(f.ctx, id, f.now(), func(*sms.Campaign) error { return nil }))} {
		if err == nil {
			n++
		} else if !errors.Is(err, sms.ErrNotFound) {
			f.t.Fatalf("%v", err)
		}
	}
	n += len(f.messages(id))
	tally, err := f.db.Tally(f.ctx, id)
	f.must(err)
	return n + int(tally.Total())
}

func outcome[T any](_ T, err error) error { return err }

func TestACampaignIsHiddenUntilItIsWhole(t *testing.T) {
	f := newFixture(t)
	l := f.making(f.newList("a.csv"))
	c := sms.Campaign{AccountID: f.account.ID, Name: "June", SenderID: "CLINIC", Text: "Hello", ListID: l.ID,
		Recipients: 1005, CreatedBy: 1}
	var err error
	c.ID, err = f.db.StartImport(f.ctx, l, c, f.now())
	f.must(err)
	rows := f.listRows(c.ID, 1005)
	f.putMessages(c.ID, rows[:500])
	f.putMessages(c.ID, rows[500:])
	first := one[int64](f, "select min(id) from message where campaign_id = $1", c.ID)
	if n := f.visible(c.ID, first); n != 0 {
		t.Fatalf("%d things are seen of a campaign that is not whole", n)
	}
	if more, err := f.db.DeleteAbandonedImports(f.ctx, f.now()); more || err != nil ||
		one[int](f, "select count(*) from message") != 1005 {
		t.Fatalf("a campaign in the making was swept: %v", err)
	}
	tally := sms.Tally{"draft": 861, "leftout": 144}
	c.Parts, c.Fingerprint, c.CallsText = 861, "f", 87
	stale := l
	stale.Version--
	if err := f.db.PublishImport(f.ctx, stale, c, tally, f.now()); !errors.Is(err, sms.ErrConflict) {
		t.Fatalf("shown for a list that changed: %v", err)
	}
	if n := f.visible(c.ID, first); n != 0 {
		t.Fatalf("%d things are seen after a conflict", n)
	}
	f.must(f.db.PublishImport(f.ctx, l, c, tally, f.now()))
	f.check()
	l, err = f.db.List(f.ctx, l.UID)
	f.must(err)
	got := f.campaign(c.ID)
	if l.State != sms.ListMade || l.CampaignID != c.ID || got.State != sms.CampaignDraft || got.Parts != 861 ||
		got.CallsText != 87 || got.ListID != l.ID {
		t.Errorf("%+v %+v", l, got)
	}
	want := append([]sms.Message(nil), rows...)
	messages := f.messages(c.ID)
	for i, m := range messages {
		want[i].ID, want[i].CampaignID, want[i].CreatedAt, want[i].ChangedAt = m.ID, c.ID, m.CreatedAt, m.ChangedAt
	}
	if d := cmp.Diff(want, messages); d != "" {
		t.Errorf("messages (-want +got):\n%s", d)
	}
	if err := f.db.PublishImport(f.ctx, l, c, tally, f.now()); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("shown twice: %v", err)
	}
}

// TestAbandonedCampaignsAreSwept: begun anew, dropped with its list, and a long
// draft that was replaced.
func TestAbandonedCampaignsAreSwept(t *testing.T) {
	f := newFixture(t)
	l := f.making(f.newList("a.csv"))
	c := sms.Campaign{AccountID: f.account.ID, Name: "June", SenderID: "CLINIC", Text: "Hello", ListID: l.ID, CreatedBy: 1}
	begin := func() sms.Campaign {
		c := c
		id, err := f.db.StartImport(f.ctx, l, c, f.now())
		f.must(err)
		c.ID = id
		f.putMessages(id, f.listRows(id, 2500))
		return c
	}
	sweep := func() {
		for more := true; more; {
			var err error
			more, err = f.db.DeleteAbandonedImports(f.ctx, f.now())
			f.must(err)
		}
	}
	count := func() int { return one[int](f, "select count(*) from message") }
	begin()
	again := begin()
	if sweep(); count() != 2500 {
		t.Fatalf("%d messages are left", count())
	}
	again.Recipients = 2500
	f.must(f.db.PublishImport(f.ctx, l, again, sms.Tally{"draft": 2143, "leftout": 357}, f.now()))
	f.must(f.db.PurgeDrafts(f.ctx, f.now()))
	if n := f.visible(again.ID, one[int64](f, "select min(id) from message")); n-2500 != 0 {
		t.Errorf("%d things are seen of a forgotten draft", n-2500)
	}
	sweep()
	if count() != 0 || one[int](f, "select count(*) from campaign")+one[int](f,
		"select count(*) from campaign_tally") != 0 {
		t.Error("something is left of a forgotten draft")
	}
}

func TestListsAreStored(t *testing.T) {
	f := newFixture(t)
	l := f.newList("a.csv")
	got, err := f.db.List(f.ctx, l.UID)
	f.must(err)
	if d := cmp.Diff(l, got); d != "" || got.Version != 1 || got.State != sms.ListUploaded {
		t.Errorf("%s", d)
	}
	byID, err := f.db.ListByID(f.ctx, l.ID)
	if err != nil || byID.UID != l.UID {
		t.Error(byID, err)
	}
	f.must(f.db.PutListProgress(f.ctx, got, 5, 10))
	changed, err := f.db.UpdateList(f.ctx, l.UID, f.now(), func(l *sms.List) error {
		l.State, l.Tally, l.Sum = sms.ListChecked, sms.ListTally{Rows: 10, Kinds: map[sms.RowKind]int64{sms.RowText: 1},
			Already: &sms.AlreadySent{Name: "x"}}, 77
		return nil
	})
	f.must(err)
	again, err := f.db.List(f.ctx, l.UID)
	f.must(err)
	if d := cmp.Diff(changed, again); d != "" || again.Done != 5 || again.Total != 10 {
		t.Errorf("%+v %s", again, d)
	}
	if err := f.db.PutListProgress(f.ctx, got, 6, 10); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("progress of an old version: %v", err)
	}
	if err := f.db.DeleteList(f.ctx, got); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("an old version was deleted: %v", err)
	}
	if _, err := f.db.ListMapping(f.ctx, f.account.ID, "k"); !errors.Is(err, sms.ErrNotFound) {
		t.Error(err)
	}
	for _, name := range []string{"A", "B"} {
		f.must(f.db.PutListMapping(f.ctx, f.account.ID, "k", sms.ListOrder{SenderID: name}, f.now()))
		if o, err := f.db.ListMapping(f.ctx, f.account.ID, "k"); err != nil || o.SenderID != name {
			t.Error(o, err)
		}
	}
	f.must(f.db.DeleteList(f.ctx, again))
	if _, err := f.db.List(f.ctx, l.UID); !errors.Is(err, sms.ErrNotFound) {
		t.Error(err)
	}
}

func TestStagedRowsComeBackAsTheyWere(t *testing.T) {
	f := newFixture(t)
	_, _, err := f.db.KeepUpload("abc", strings.NewReader("x"), 10)
	f.must(err)
	rows := []sms.ListRow{{Row: 2, Number: 2348031234567, Text: "Hello", Parts: 1}, {Row: 4, Kind: sms.RowMissing},
		{Row: 5, Number: 1, Text: "ọ", Unicode: true, Parts: 200},
		{Row: 9, Number: 2, Text: "", Kind: sms.RowRepeat, Parts: 3}}
	notes := []sms.RowNote{{Row: 4, Kind: sms.RowMissing, Column: -1, Text: "Missing", Cells: []string{"a", "\"b"}},
		{Row: 9, Kind: sms.RowRepeat, Text: "Same", Other: 2},
		{Row: 9, Kind: sms.RowRepaired, Text: "Removed", Before: "x", After: "y"}}
	sum, err := f.db.WriteStaging(f.ctx, "abc", func(put func([]sms.ListRow, []sms.RowNote) error) error {
		return errors.Join(put(rows[:1], nil), put(rows[1:], notes))
	})
	f.must(err)
	want := rows
	var got []sms.ListRow
	for r, err := range f.db.StagedRows(f.ctx, "abc", sum) {
		f.must(err)
		got = append(got, r)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
	for kind, want := range map[sms.RowKind][]sms.RowNote{"": notes[:1], sms.RowRepeat: notes[1:2],
		sms.RowRepaired: notes[2:], sms.RowText: nil} {
		filter := sms.RowFilter{Limit: 10}
		if kind != "" {
			filter.Kinds = []sms.RowKind{kind}
		}
		list, more, err := f.db.ListNotes(f.ctx, "abc", filter)
		if d := cmp.Diff(want, list); d != "" || more || err != nil {
			t.Errorf("notes %q (-want +got):\n%s %v", kind, d, err)
		}
	}
	var last error
	for _, err := range f.db.StagedRows(f.ctx, "abc", sum+1) {
		last = err
	}
	if !errors.Is(last, sms.ErrConflict) {
		t.Errorf("other rows than were staged: %v", last)
	}
	if _, err := f.db.WriteStaging(f.ctx, "abc", func(func([]sms.ListRow,
		[]sms.RowNote) error) error {
		return sms.ErrForbidden
	}); !errors.Is(err, sms.ErrForbidden) {
		t.Error(err)
	}
	if _, _, err := f.db.ListNotes(f.ctx, "abc", sms.RowFilter{Limit: 1}); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("what a failed check staged is still there: %v", err)
	}
}

// putMessages stores all of them, in as many turns as it takes.
func (f *fixture) putMessages(campaign int64, list []sms.Message) {
	f.t.Helper()
	for len(list) > 0 {
		n, err := f.db.PutMessages(f.ctx, campaign, list, f.now())
		f.must(err)
		list = list[n:]
	}
}

// TestImportTakesTurns: a million messages must neither keep other writers
// waiting nor wait for ever while others always want to write.
func TestImportTakesTurns(t *testing.T) {
	f := newFixture(t)
	l := f.making(f.newList("a.csv"))
	id, err := f.db.StartImport(f.ctx, l, sms.Campaign{AccountID: f.account.ID, Name: "June", SenderID: "CLINIC",
		Text: "Hello", ListID: l.ID, CreatedBy: 1}, f.now())
	f.must(err)
	rows := f.listRows(id, 50_000)
	began := time.Now()
	n, err := f.db.PutMessages(f.ctx, id, rows, f.now())
	f.must(err)
	if n == 0 || n == len(rows) {
		t.Fatalf("%d of %d messages were stored in one turn of %s", n, len(rows), time.Since(began))
	}
}

// stage writes the staged rows of a list that is being made, of which every
// seventh is not sent, with a gap now and then.
func (f *fixture) stage(n int) (l sms.List, rows []sms.ListRow) {
	f.t.Helper()
	l = f.newList("staged.csv")
	f.must(outcome(f.db.UpdateList(f.ctx, l.UID, f.now(), func(now *sms.List) error {
		now.State = sms.ListMaking
		return nil
	})))
	l, err := f.db.List(f.ctx, l.UID)
	f.must(err)
	_, _, err = f.db.KeepUpload(l.UID, strings.NewReader("x"), 10)
	f.must(err)
	var notes []sms.RowNote
	for i := range n {
		r := sms.ListRow{Row: int64(i + 2 + i/1000*5), Number: 2348030000000 + int64(i), Text: fmt.Sprintf("Hello %d ọ", i),
			Unicode: i%3 == 0, Parts: 1 + i%4}
		if i%7 == 3 {
			r.Kind, r.Number = kinds[i%len(kinds)], int64(i%2)
			notes = append(notes, sms.RowNote{Row: r.Row, Kind: r.Kind, Text: "Wrong " + string(r.Kind)},
				sms.RowNote{Row: r.Row, Kind: kinds[(i+1)%len(kinds)], Text: "Another"})
		}
		rows = append(rows, r)
	}
	f.must(outcome(f.db.WriteStaging(f.ctx, l.UID, func(put func([]sms.ListRow, []sms.RowNote) error) error {
		return put(rows, notes)
	})))
	return l, rows
}

// press puts the staged rows of a list into a hidden campaign.
func (f *fixture) press(l sms.List, rows []sms.ListRow, progress func(int64) error) (id int64, err error) {
	f.t.Helper()
	c := sms.Campaign{AccountID: f.account.ID, Name: "June", SenderID: "CLINIC", Text: "Hello", ListID: l.ID, CreatedBy: 1}
	c.ID, err = f.db.StartImport(f.ctx, l, c, f.now())
	f.must(err)
	calls := func(yield func(int64, int32) bool) {
		for _, r := range rows {
			if r.Kind == "" && !yield(r.Row, int32(r.Row%100)) {
				return
			}
		}
	}
	left := func(yield func(sms.ListRow, error) bool) {
		for _, r := range rows {
			if r.Reason != "" && !yield(r, nil) {
				return
			}
		}
	}
	return c.ID, f.db.PutStaged(f.ctx, l.UID, c, int64(len(rows)), calls, left, f.now(), progress)
}

// whole fails unless a campaign's messages are the staged rows, each once.
func (f *fixture) whole(campaign int64, rows []sms.ListRow) {
	f.t.Helper()
	list, err := f.db.reader.QueryContext(f.ctx, `select row_no, number, text, text_hash, unicode, parts, call_no, state,
reason, code, account_id, sent_at from message where campaign_id = $1 order by id`, campaign)
	i := 0
	f.must(forEachRow(list, err, func(scan func(...any) error) error {
		var m sms.Message
		var hash []byte
		if err := scan(&m.Row, &m.Number, &m.Text, &hash, &m.Unicode, &m.Parts, &m.Call, &m.State, &m.Reason, &m.Code,
			&m.AccountID, &m.SentAt); err != nil {
			return err
		}
		r := rows[i]
		i++
		want := sms.Message{AccountID: f.account.ID, Row: r.Row, Number: r.MSISDN(), Text: r.Text, Unicode: r.Unicode,
			Parts: r.Parts, State: sms.Draft, Call: int32(r.Row % 100)}
		if r.Kind != "" {
			if r.Reason == "" {
				r.Reason = "Wrong " + string(r.Kind)
			}
			want.State, want.Reason, want.Code, want.Call = sms.Skipped, r.Reason, string(r.Kind), 0
		}
		if d := cmp.Diff(want, m); d != "" || string(hash) != string(textHash(r.Text, "")) {
			return fmt.Errorf("row %d, hash %x (-want +got):\n%s", r.Row, hash, d)
		}
		return nil
	}))
	if i != len(rows) {
		f.t.Fatalf("%d of %d rows are messages", i, len(rows))
	}
}

// asBefore fails when something of an import is left with the writer.
func (f *fixture) asBefore(l sms.List) {
	f.t.Helper()
	for text, want := range map[string]int64{
		"select count(*) from pragma_database_list where name not in ('main', 'temp')": 0,
		"pragma cache_size":         -8000,
		"pragma wal_autocheckpoint": 8000,
	} {
		var got int64
		f.must(f.db.writer.QueryRowContext(f.ctx, text).Scan(&got))
		if got != want {
			f.t.Errorf("%s: %d", text, got)
		}
	}
	if _, err := os.Stat(filepath.Join(f.db.ListFolder(l.UID), madeName)); !errors.Is(err, fs.ErrNotExist) {
		f.t.Errorf("the decisions are left: %v", err)
	}
}

func TestStagedRowsBecomeMessages(t *testing.T) {
	f := newFixture(t)
	l, rows := f.stage(2500)
	// Two are left out between the check and the press.
	for _, i := range []int{4, 2498} {
		rows[i].Kind, rows[i].Reason = sms.RowAlready, "Got it on Monday"
	}
	f.must(os.WriteFile(filepath.Join(f.db.ListFolder(l.UID), madeName), []byte("left by a crash"), 0o600))
	id, err := f.press(l, rows, func(int64) error { return nil })
	f.must(err)
	f.whole(id, rows)
	f.asBefore(l)
	if _, err := f.press(l, rows[:1000], func(int64) error { return nil }); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("more rows than there should be were taken: %v", err)
	}
	if _, err := f.press(l, rows, func(int64) error { return sms.ErrForbidden }); !errors.Is(err, sms.ErrForbidden) {
		t.Errorf("the end of the work was not heard: %v", err)
	}
	f.asBefore(l)
	f.must(f.db.DropStaged(l.UID))
	if _, err := f.press(l, rows, func(int64) error { return nil }); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("rows that are not there: %v", err)
	}
}

// TestReportsAreAppliedPatiently: they come by the hundred a second, and turns that
// ended for each would make an import write most of its pages again.
func TestReportsAreAppliedPatiently(t *testing.T) {
	f := newFixture(t)
	for name, c := range map[string]struct {
		write func() error
		ends  int64 // writers for whom a turn ends
	}{
		"reports": {func() error {
			_, err := f.db.ApplyReports(f.ctx, nil, nil, sms.Cursors{Inbox: 1}, f.now())
			return err
		}, 0},
		"others": {func() error { return f.db.Tell(f.ctx, "x", f.now()) }, 1},
	} {
		held, err := f.db.writer.BeginTx(f.ctx, nil)
		f.must(err)
		before, ended := f.db.writer.Stats().WaitCount, make(chan error, 1)
		go func() { ended <- c.write() }()
		for f.db.writer.Stats().WaitCount == before {
			time.Sleep(time.Millisecond)
		}
		if n := f.db.pendingWriters.Load(); n != c.ends {
			t.Errorf("%s: turns end for %d", name, n)
		}
		f.must(errors.Join(held.Rollback(), <-ended))
	}
}

// TestAStagedImportTakesTurns: while others wait, a turn is short.
func TestAStagedImportTakesTurns(t *testing.T) {
	f := newFixture(t)
	l, rows := f.stage(30_000)
	alone := 0
	id, err := f.press(l, rows, func(int64) error { alone++; return nil })
	f.must(err)
	f.whole(id, rows)
	f.db.pendingWriters.Add(1)
	last, turns := int64(0), 0
	id, err = f.press(l, rows, func(done int64) error {
		if done <= last {
			t.Errorf("%d rows are stored after %d", done, last)
		}
		last, turns = done, turns+1
		return nil
	})
	f.must(err)
	f.db.pendingWriters.Add(-1)
	if turns <= alone || last != int64(len(rows)) {
		t.Errorf("%d turns while somebody waits, %d otherwise; told of %d rows", turns, alone, last)
	}
	f.whole(id, rows)
}
