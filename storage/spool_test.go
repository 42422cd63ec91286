package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"smsdesk/internal/sms"
	"smsdesk/storage/log"
)

// breakInbox makes every insert fail until the returned function is called.
func breakInbox(t *testing.T, in *Inbox) (mend func()) {
	t.Helper()
	if _, err := in.db.ExecContext(t.Context(),
		"create trigger broken before insert on raw begin select raise(abort, 'database or disk is full'); end"); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if _, err := in.db.ExecContext(context.Background(), "drop trigger broken"); err != nil {
			t.Fatal(err)
		}
	}
}

func (in *Inbox) queriesOf(t *testing.T) (list []string) {
	t.Helper()
	for _, k := range everything(t, in) {
		list = append(list, k.Query)
	}
	return list
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// TestAnInboxThatCannotBeWrittenLosesNothing: the spool takes over, and
// its reports come to the inbox in the order of their arrival.
func TestAnInboxThatCannotBeWrittenLosesNothing(t *testing.T) {
	data := t.TempDir()
	in := openInbox(t, data, 0)
	runInbox(t, in)
	keep := func(q string) {
		t.Helper()
		if err := in.Keep(t.Context(), sms.RawReport{AccountID: 3, ReceivedAt: 4, Remote: "[::1]:9", Query: q}); err != nil {
			t.Fatal(err)
		}
	}
	keep("before")
	mend := breakInbox(t, in)
	var want []string
	for i := range 20 {
		keep(fmt.Sprintf("while %d\n\x00\xff\"%%", i))
		want = append(want, fmt.Sprintf("while %d\n\x00\xff\"%%", i))
	}
	if d := cmp.Diff([]string{"before"}, in.queriesOf(t)); d != "" {
		t.Fatal(d)
	}
	mend()
	eventually(t, "the spool to be empty", func() bool { return !in.spool.waits() })
	keep("after")
	if d := cmp.Diff(append(append([]string{"before"}, want...), "after"), in.queriesOf(t)); d != "" {
		t.Error(d)
	}
	if k := everything(t, in)[1]; k.AccountID != 3 || k.ReceivedAt != 4 || k.Remote != "[::1]:9" {
		t.Errorf("%+v", k)
	}
	if left, err := filepath.Glob(filepath.Join(data, "spool", "*")); err != nil || len(left) != 0 {
		t.Errorf("left in the spool: %v %v", left, err)
	}
}

// TestFaultsAtAnyMomentLoseNothing: 200 faults at random moments
// while many report: what was acknowledged is there, once.
func TestFaultsAtAnyMomentLoseNothing(t *testing.T) {
	in := openInbox(t, t.TempDir(), 0)
	runInbox(t, in)
	var all sync.WaitGroup
	var stop atomic.Bool
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	for p := range 8 {
		all.Go(func() {
			for i := 0; !stop.Load(); i++ {
				q := fmt.Sprintf("%d-%d", p, i)
				if err := in.Keep(context.Background(), sms.RawReport{Query: q}); err == nil {
					mu.Lock()
					acknowledged[q] = true
					mu.Unlock()
				}
			}
		})
	}
	for range 200 {
		mend := breakInbox(t, in)
		time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond)
		mend()
		time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond)
	}
	stop.Store(true)
	all.Wait()
	eventually(t, "the spool to be empty", func() bool { return !in.spool.waits() })
	times := map[string]int{}
	for _, q := range in.queriesOf(t) {
		times[q]++
	}
	for q := range acknowledged {
		if times[q] != 1 {
			t.Fatalf("%s was acknowledged and is there %d times", q, times[q])
		}
	}
	if len(acknowledged) < 200 {
		t.Fatalf("only %d reports came: this proves nothing", len(acknowledged))
	}
}

func TestBothFilesFailAndTheReportIsRefused(t *testing.T) {
	data := t.TempDir()
	blocked := filepath.Join(data, "no-folder")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := OpenInbox(t.Context(), data, filepath.Join(data, "spool"), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	in.spool = newSpool(blocked, 0)
	runInbox(t, in)
	breakInbox(t, in)
	if err := in.Keep(t.Context(), sms.RawReport{Query: "q"}); err == nil {
		t.Error("a report was acknowledged that is nowhere")
	}
	if in.spool.waits() {
		t.Error("the spool believes that it holds something")
	}
}

// TestALockedInboxIsAnsweredInTime is about reports: another process holds
// the file, and the provider waits ten seconds only.
func TestALockedInboxIsAnsweredInTime(t *testing.T) {
	data := t.TempDir()
	in := openInbox(t, data, 0)
	runInbox(t, in)
	other := openInbox(t, data, 0)
	tx, err := other.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := in.Keep(t.Context(), sms.RawReport{Query: "q"}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("answered after %s", took)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the report in the inbox", func() bool { return len(everything(t, in)) == 1 })
}

// TestASpoolOfADeadProcess: the next one takes over what is left, whether the
// crash came before, within or behind the way to the inbox, and once only.
func TestASpoolOfADeadProcess(t *testing.T) {
	for _, stopAfter := range []int{0, 1, 2, 3} {
		data := t.TempDir()
		folder := filepath.Join(data, "spool")
		dead := newSpool(folder, 0)
		var list []sms.RawReport
		for i := range 2*spoolPart + 500 {
			list = append(list, sms.RawReport{AccountID: 1, Query: fmt.Sprint(i)})
		}
		if err := dead.append(list); err != nil {
			t.Fatal(err)
		}
		cutOff(t, filepath.Join(folder, dead.End().Segment))
		before := openInbox(t, data, 0)
		parts := 0
		real, died := before.spool, errors.New("died")
		_ = real.drain(func(string) (int64, error) {
			return 0, nil
		}, func(list []sms.RawReport, to log.Position) error {
			if parts++; parts > stopAfter {
				return died
			}
			if err := before.number(t.Context(), list); err != nil {
				return err
			}
			tx, err := before.db.BeginTx(t.Context(), nil)
			if err != nil {
				return err
			}
			_, err = tx.Exec(
				`insert into drained (file, position) values ($1, $2) on conflict (file) do update set position = excluded.position`,
				to.Segment, to.Offset)
			if err == nil {
				err = before.put(t.Context(), tx, list)
			}
			return errors.Join(err, tx.Commit())
		})
		if err := before.Close(); err != nil {
			t.Fatal(err)
		}
		in := openInbox(t, data, 0)
		runInbox(t, in)
		eventually(t, "the dead process's reports", func() bool { return !in.spool.waits() })
		got := in.queriesOf(t)
		if len(got) != len(list) {
			t.Fatalf("died after %d parts: %d reports of %d", stopAfter, len(got), len(list))
		}
		for i, q := range got {
			if q != fmt.Sprint(i) {
				t.Fatalf("died after %d parts: report %d is %q", stopAfter, i, q)
			}
		}
	}
}

// TestASpoolOfAnOlderProgram is one that smsdesk wrote before the spool was a log:
// a file in reserved space, with an empty line and one that was cut off, and one
// that grew. What is spooled now comes behind, in a segment of its own.
func TestASpoolOfAnOlderProgram(t *testing.T) {
	data := t.TempDir()
	folder := filepath.Join(data, "spool")
	line := func(q string) string { return fmt.Sprintf("%d %d %q %q\n", 3, 4, "[::1]:9", q) }
	older := map[string]string{
		"01763800000000000000.reports": line("0") + "\n" + line("1") + `3 4 "[::1]:9" "cut o` + strings.Repeat("\x00", 64<<10),
		"01763800000000000001.reports": line("2") + `3 4 "[::`}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range older {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := NewInbox(data, "")
	t.Cleanup(func() { _ = in.Close() })
	runInbox(t, in)
	keep := func(q string) {
		t.Helper()
		if err := in.Keep(t.Context(), sms.RawReport{AccountID: 3, ReceivedAt: 4, Remote: "[::1]:9", Query: q}); err != nil {
			t.Fatal(err)
		}
	}
	keep("3") // it is not open
	if err := in.Open(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	keep("4")
	eventually(t, "the spool to be empty", func() bool { return !in.spool.waits() })
	if d := cmp.Diff([]string{"0", "1", "2", "3", "4"}, in.queriesOf(t)); d != "" {
		t.Error(d)
	}
}

func TestASpooledLineReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := sms.RawReport{AccountID: rapid.Int64().Draw(t, "account"), ReceivedAt: rapid.Int64().Draw(t, "at"),
			Remote: string(rapid.SliceOf(rapid.Byte()).Draw(t, "remote")),
			Query:  string(rapid.SliceOf(rapid.Byte()).Draw(t, "query"))}
		line := fmt.Sprintf("%d %d %q %q\n", want.AccountID, want.ReceivedAt, want.Remote, want.Query)
		got, ok := readSpooled(line)
		if d := cmp.Diff(want, got); d != "" || !ok {
			t.Fatal(ok, d)
		}
		if cut := rapid.IntRange(0, len(line)-2).Draw(t, "cut"); cut < len(line)-2 {
			if _, ok := readSpooled(line[:cut] + "\n"); ok {
				t.Fatalf("%q was read", line[:cut])
			}
		}
	})
}

// TestAnInboxThatIsNotOpenKeepsReports: a data folder that cannot be opened
// refuses nobody, and what came meanwhile is in the inbox once it opens.
func TestAnInboxThatIsNotOpenKeepsReports(t *testing.T) {
	data, elsewhere := filepath.Join(t.TempDir(), "no-folder"), t.TempDir()
	in := NewInbox(data, elsewhere)
	t.Cleanup(func() { _ = in.Close() })
	runInbox(t, in)
	var want []string
	keep := func() {
		t.Helper()
		want = append(want, fmt.Sprint(len(want)))
		if err := in.Keep(t.Context(), sms.RawReport{Query: want[len(want)-1]}); err != nil {
			t.Fatal(err)
		}
	}
	for range 30 {
		keep()
	}
	if err := in.Open(t.Context(), 0); TroubleOf(err) == "" {
		t.Fatalf("opened in a folder that is not there: %v", err)
	}
	keep()
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 { // it may be opened, given up and opened again
		if err := in.Open(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		keep()
		if err := in.Shut(); err != nil {
			t.Fatal(err)
		}
		keep()
	}
	if err := in.Open(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the spool to be empty", func() bool { return !in.spool.waits() })
	if d := cmp.Diff(want, in.queriesOf(t)); d != "" {
		t.Error(d)
	}
}

// TestReservedSpaceTakesReports: they need no block that is not there, the
// zeros behind them are nobody's report, and it is reserved anew afterwards.
func TestReservedSpaceTakesReports(t *testing.T) {
	data := t.TempDir()
	in := openInbox(t, data, 0)
	in.spool = newSpool(filepath.Join(data, "spool"), 64<<10)
	in.spool.must(t, in.spool.Prepare())
	space := filepath.Join(data, "spool", "00000000000000000000.prepare")
	before, err := os.Stat(space)
	in.spool.must(t, err)
	runInbox(t, in)
	mend := breakInbox(t, in)
	var want []string
	for i := range 40 {
		want = append(want, fmt.Sprint("report ", i))
		in.spool.must(t, in.Keep(t.Context(), sms.RawReport{Query: want[i]}))
	}
	files, err := filepath.Glob(filepath.Join(data, "spool", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v: one file was expected, in the space reserved", files, err)
	}
	after, err := os.Stat(files[0])
	in.spool.must(t, err)
	if !os.SameFile(before, after) || after.Size() != 64<<10 {
		t.Errorf("%s is not the space that was reserved: %d bytes", files[0], after.Size())
	}
	mend()
	eventually(t, "the spool to be empty", func() bool { return !in.spool.waits() })
	if d := cmp.Diff(want, in.queriesOf(t)); d != "" {
		t.Error(d)
	}
	// Its blocks are never given back: others would take them on a full disk.
	again, err := os.ReadFile(space)
	in.spool.must(t, err)
	if info, err := os.Stat(space); err != nil || !os.SameFile(before, info) || len(bytes.Trim(again, "\x00")) > 0 {
		t.Errorf("it is not reserved anew: %v, %d bytes are left", err, len(bytes.Trim(again, "\x00")))
	}
}

// cutOff leaves half a line at the end of a file, as a crash does.
func cutOff(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = f.WriteString("1 5 \"r\" \"cut o")
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func (s *spool) must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
