package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/sms"
)

func openInbox(t *testing.T, data string, cursor int64) *Inbox {
	t.Helper()
	in, err := OpenInbox(t.Context(), data, "", cursor)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	return in
}

// runInbox writes what is kept until stop; it counts the commits.
func runInbox(t *testing.T, in *Inbox) (stop func(), commits *atomic.Int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	commits = new(atomic.Int64)
	var running sync.WaitGroup
	running.Go(func() {
		if err := in.Run(ctx, func() { commits.Add(1) }, func(int, error) {}); err != nil {
			t.Error(err)
		}
	})
	stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	t.Cleanup(stop)
	return stop, commits
}

func everything(t *testing.T, in *Inbox) []sms.RawReport {
	t.Helper()
	list, err := in.After(t.Context(), 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestEverythingKeptIsThereOnceAndWhole(t *testing.T) {
	in := openInbox(t, t.TempDir(), 0)
	stop, _ := runInbox(t, in)
	const people, each = 64, 25
	var all sync.WaitGroup
	for p := range people {
		all.Go(func() {
			for i := range each {
				k := sms.RawReport{AccountID: int64(p), ReceivedAt: int64(i), Remote: "[::1]:9",
					Query: fmt.Sprintf("messageId=%d-%d&shortMessage=%%00%%ff\x00\xff", p, i)}
				if err := in.Keep(t.Context(), k); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	stop()
	got, last := map[string]int{}, int64(0)
	next := map[int64]int64{}
	for _, k := range everything(t, in) {
		if k.ID <= last {
			t.Fatalf("id %d after %d", k.ID, last)
		}
		last = k.ID
		got[k.Query]++
		if k.ReceivedAt != next[k.AccountID] || k.Remote != "[::1]:9" {
			t.Fatalf("%+v: reports of one sender are out of order", k)
		}
		next[k.AccountID]++
	}
	if len(got) != people*each {
		t.Fatalf("%d of %d are kept", len(got), people*each)
	}
	for q, n := range got {
		if n != 1 {
			t.Errorf("%q is there %d times", q, n)
		}
	}
}

// TestWhatIsQueuedIsWrittenAtOnce: one sync for all that wait, not one each.
func TestWhatIsQueuedIsWrittenAtOnce(t *testing.T) {
	in := openInbox(t, t.TempDir(), 0)
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			if err := in.Keep(t.Context(), sms.RawReport{Query: "q"}); err != nil {
				t.Error(err)
			}
		})
	}
	for len(in.queue) < 200 {
		time.Sleep(time.Millisecond)
	}
	stop, commits := runInbox(t, in)
	all.Wait()
	stop()
	if n := commits.Load(); n != 1 || len(everything(t, in)) != 200 {
		t.Errorf("%d commits for %d reports", n, len(everything(t, in)))
	}
}

func TestAppliedReportsAreForgotten(t *testing.T) {
	data := t.TempDir()
	in := openInbox(t, data, 0)
	stop, _ := runInbox(t, in)
	for i := range 10 {
		if err := in.Keep(t.Context(), sms.RawReport{AccountID: 1, ReceivedAt: int64(i), Remote: "r",
			Query: "q"}); err != nil {
			t.Fatal(err)
		}
	}
	ids := func(list []sms.RawReport, err error) (ids []int64) {
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range list {
			ids = append(ids, k.ID)
		}
		return ids
	}
	if d := cmp.Diff([]int64{4, 5, 6}, ids(in.After(t.Context(), 3, 3))); d != "" {
		t.Error(d)
	}
	// Along with one that comes go two of those applied.
	in.Applied(7)
	if err := in.Keep(t.Context(), sms.RawReport{AccountID: 1, Query: "q"}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int64{3, 4, 5}, ids(in.After(t.Context(), 0, 3))); d != "" {
		t.Error(d)
	}
	left := func(want ...int64) {
		var d string
		for range 200 {
			if d = cmp.Diff(want, ids(in.After(t.Context(), 0, 99))); d == "" {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Error(d)
	}
	left(8, 9, 10, 11)
	in.Applied(11)
	left()
	stop()
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	again := openInbox(t, data, 0)
	runInbox(t, again)
	if err := again.Keep(t.Context(), sms.RawReport{Query: "q"}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int64{12}, ids(again.After(t.Context(), 0, 99))); d != "" {
		t.Errorf("ids start again after everything was applied:\n%s", d)
	}
}

// TestWhatWasAppliedBeforeTheStartIsForgotten: the process may have ended
// between the two.
func TestWhatWasAppliedBeforeTheStartIsForgotten(t *testing.T) {
	data := t.TempDir()
	in := openInbox(t, data, 0)
	stop, _ := runInbox(t, in)
	for range 5 {
		if err := in.Keep(t.Context(), sms.RawReport{Query: "q"}); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	again := openInbox(t, data, 3)
	runInbox(t, again)
	for n := 0; len(everything(t, again)) != 2; n++ {
		if n == 200 {
			t.Fatalf("%d reports are left of two", len(everything(t, again)))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestIdsNeverStartBelowTheCursor: with a lost or an older inbox file, new
// reports must still lie behind what the applier has done.
func TestIdsNeverStartBelowTheCursor(t *testing.T) {
	for name, kept := range map[string]int{"fresh": 0, "older": 3, "newer": 2000} {
		data := t.TempDir()
		if kept > 0 {
			in := openInbox(t, data, 0)
			_, err := in.db.ExecContext(t.Context(),
				"with recursive n(i) as (select 1 union all select i + 1 from n where i < $1) insert into raw (account_id, "+
					"received_at, remote, query) select 1, i, '', '' from n", kept)
			if err = errors.Join(err, in.Close()); err != nil {
				t.Fatal(err)
			}
		}
		in := openInbox(t, data, 1000)
		runInbox(t, in)
		if err := in.Keep(t.Context(), sms.RawReport{Query: "new"}); err != nil {
			t.Fatal(err)
		}
		list, err := in.After(t.Context(), 1000, 9999)
		if want := int64(max(1000, kept) + 1); err != nil || len(list) == 0 || list[len(list)-1].ID != want {
			t.Errorf("%s: %d reports behind the cursor, %v; the newest should be %d", name, len(list), err, want)
		}
	}
}

func TestAKeepThatFailedSaysSo(t *testing.T) {
	in := openInbox(t, t.TempDir(), 0)
	_, commits := runInbox(t, in)
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := in.Keep(t.Context(), sms.RawReport{Query: "q"}); err == nil {
		t.Error("a closed inbox took a report")
	}
	if _, err := in.After(t.Context(), 0, 1); err == nil {
		t.Error("a closed inbox was read")
	}
	if commits.Load() != 0 {
		t.Error("a commit was announced")
	}
}

func TestKeepEndsWithItsContext(t *testing.T) {
	in := openInbox(t, t.TempDir(), 0)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := in.Keep(ctx, sms.RawReport{Query: "nobody writes"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// TestRunDrainsTheQueueAtTheEnd: what Keep was given before the stop is stored.
func TestRunDrainsTheQueueAtTheEnd(t *testing.T) {
	in := openInbox(t, t.TempDir(), 0)
	var all sync.WaitGroup
	for range inboxBatch + 500 {
		all.Go(func() {
			if err := in.Keep(context.Background(), sms.RawReport{Query: "q"}); err != nil {
				t.Error(err)
			}
		})
	}
	for len(in.queue) < inboxBatch+500 {
		time.Sleep(time.Millisecond)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := in.Run(ended, func() {}, func(int, error) {}); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	if n := len(everything(t, in)); n != inboxBatch+500 {
		t.Errorf("%d reports", n)
	}
}

// TestKeptReportsSurviveACrash looks at the files as a killed process leaves
// them: the copy has no clean close behind it.
func TestKeptReportsSurviveACrash(t *testing.T) {
	data, image := t.TempDir(), t.TempDir()
	in := openInbox(t, data, 0)
	runInbox(t, in)
	for i := range 50 {
		if err := in.Keep(t.Context(), sms.RawReport{AccountID: 1, ReceivedAt: int64(i), Query: "q"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"inbox.db", "inbox.db-wal"} {
		raw, err := os.ReadFile(filepath.Join(data, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(image, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(everything(t, openInbox(t, image, 0))); n != 50 {
		t.Errorf("%d of 50 reports after a crash", n)
	}
	if n := len(everything(t, openInbox(t, data, 0))); n != 50 {
		t.Errorf("a second process sees %d of 50 reports", n)
	}
}
