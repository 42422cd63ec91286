package storage

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/storage/log"
)

// logging lets the fixture's database use the log of blocks of a folder, as
// serve does at its start.
func (f *fixture) logging(t *testing.T, journal string, files log.FS) *BlockLog {
	t.Helper()
	l, err := f.db.openBlockLog(t.Context(), journal, time.Now, files)
	f.must(err)
	t.Cleanup(func() { _ = l.Close() })
	f.db.UseBlockLog(l)
	f.must(l.Create())
	_, _, _, err = f.db.ReplayBlocks(t.Context())
	f.must(err)
	return l
}

// blockedOn is the desk in other folders.
func (f *fixture) blockedOn(t *testing.T, data, journal string, files log.FS) *fixture {
	t.Helper()
	other := *f
	other.t, other.data, other.db = t, data, open(t, data)
	other.logging(t, journal, files)
	return &other
}

func (f *fixture) optOut(number string, kind sms.BlockKind) error {
	_, err := f.db.Block(f.ctx, []sms.Blocked{{AccountID: f.account.ID, Number: number, Kind: kind, Since: f.now(),
		Proof: "asked for it", ByName: "Ada Obi", Note: "a note"}})
	return err
}

func (f *fixture) takeOff(number string) error {
	id := one[int64](f, "select id from blocked where account_id = $1 and number = $2", f.account.ID, number)
	_, err := f.db.EndBlock(f.ctx, id, sms.Unblocking{At: f.now(), Kind: sms.BlockedByStaff, Note: "asked again",
		ByName: "Ada Obi"})
	return err
}

func (f *fixture) optedOut() []string {
	return column[string](f, "select number from blocked where account_id = $1 order by number", f.account.ID)
}

// TestWhoOptedOutStaysOut: by each way in, beside a database from before; what
// was ended after the copy is ended again.
func TestWhoOptedOutStaysOut(t *testing.T) {
	f := newFixture(t)
	journal := t.TempDir()
	f.logging(t, journal, nil)
	c := f.accepted(1)
	f.must(f.optOut("2348030000900", sms.BlockedByStaff))
	f.must(f.optOut("2348030000901", sms.BlockedByUSSD))
	before := image(t, f.data)
	ways := []sms.BlockKind{sms.BlockedByUSSD, sms.BlockedByLink, sms.BlockedByStaff, sms.BlockedByFile}
	for i, kind := range ways {
		f.must(f.optOut(fmt.Sprintf("234803000091%d", i), kind))
	}
	m := f.messages(c.ID)[0]
	f.apply(sms.DeliveryReport{AccountID: f.account.ID, ProviderID: providerID(m.ID), Mobile: m.Number,
		Status: "BLACKLIST", ReceivedAt: f.now()})
	f.must(f.db.LogBlocks(t.Context()))
	f.must(f.takeOff("2348030000900"))
	_, done, err := f.db.EndOwnBlock(t.Context(), f.account.ID, "2348030000901", sms.BlockedByUSSD,
		sms.Unblocking{At: f.now(), Kind: sms.BlockedByUSSD})
	if f.must(err); !done {
		t.Fatal("the person could not take it back")
	}
	f.must(f.optOut("2348030000901", sms.BlockedByLink))
	f.must(f.optOut("2348030000920", sms.BlockedByLink))
	f.must(f.takeOff("2348030000920"))
	want := f.optedOut()
	if len(want) != 6 {
		t.Fatalf("%q", want)
	}
	for what, data := range map[string]string{"older": before, "the same": image(t, f.data)} {
		t.Run(what, func(t *testing.T) {
			r := f.blockedOn(t, data, image(t, journal), nil)
			if got := r.optedOut(); !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
			if n := one[int64](r, "select count(*) from ended_block"); n != 3 {
				t.Errorf("%d blocks ended, want 3", n)
			}
			link := one[string](r,
				"select kind || ' ' || proof || ' ' || note || ' ' || by_name from blocked where number = '2348030000901'")
			if link != "link asked for it a note Ada Obi" {
				t.Errorf("%q", link)
			}
			// Nothing of it is applied again when it starts again.
			r.must(r.takeOff("2348030000910"))
			again := r.blockedOn(t, image(t, r.data), r.db.blocking.log.cfg.Dir[:len(r.db.blocking.log.cfg.Dir)-len(
				BlockLogFolder)], nil)
			if got := again.optedOut(); len(got) != 5 {
				t.Errorf("%q after another start", got)
			}
		})
	}
}

// TestTheLogOfBlocksMayFail: whatever fails, who was told that they are blocked
// is blocked, here and after a restore, and nothing else changes.
func TestTheLogOfBlocksMayFail(t *testing.T) {
	f := newFixture(t)
	data := image(t, f.data)
	for from := 1; from <= 30; from++ {
		t.Run(fmt.Sprint("from operation ", from), func(t *testing.T) {
			files, journal := faults(from, from+5), t.TempDir()
			s := f.blockedOn(t, image(t, data), journal, files)
			want := map[string]bool{}
			for i := range 12 {
				number := fmt.Sprintf("23480300009%02d", i)
				if err := s.optOut(number, sms.BlockedByLink); err != nil {
					t.Fatalf("a log that fails refuses %s: %v", number, err)
				}
				if want[number] = true; i%3 == 2 {
					if err := s.takeOff(number); err != nil {
						t.Fatal(err)
					}
					delete(want, number)
				}
			}
			if *files.done < files.from {
				t.Fatalf("only %d operations", *files.done)
			}
			crashed := s.blockedOn(t, image(t, s.data), image(t, journal), nil)
			if got := crashed.optedOut(); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
				t.Errorf("after a crash %q", got)
			}
			if n := one[int64](crashed, "select count(*) from block_owed"); n > 0 {
				t.Errorf("%d lines are owed to a log that can be written", n)
			}
			journal = strings.TrimSuffix(crashed.db.blocking.log.cfg.Dir, BlockLogFolder)
			old := s.blockedOn(t, image(t, data), image(t, journal), nil)
			if got := old.optedOut(); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
				t.Errorf("after a restore %q", got)
			}
		})
	}
}

// TestACrashWhileBlocking: log and database each as they were before and after,
// with the number blocked wherever one of both says so.
func TestACrashWhileBlocking(t *testing.T) {
	f := newFixture(t)
	journal := t.TempDir()
	f.logging(t, journal, nil)
	f.must(f.optOut("2348030000900", sms.BlockedByLink))
	data, logs := []string{image(t, f.data)}, []string{image(t, journal)}
	f.must(f.optOut("2348030000901", sms.BlockedByLink))
	data, logs = append(data, image(t, f.data)), append(logs, image(t, journal))
	f.must(f.takeOff("2348030000900"))
	data, logs = append(data, image(t, f.data)), append(logs, image(t, journal))
	want := map[string][]string{
		"0 0": {"2348030000900"}, "0 1": {"2348030000900", "2348030000901"}, "0 2": {"2348030000901"},
		"1 1": {"2348030000900", "2348030000901"}, "1 2": {"2348030000901"}, "2 1": {"2348030000901"}, "2 2": {"2348030000901"},
	}
	for i := range data {
		for j := range logs {
			at := fmt.Sprintf("%d %d", i, j)
			if want[at] == nil {
				continue // the database is ahead by more than a crash leaves
			}
			r := f.blockedOn(t, image(t, data[i]), image(t, logs[j]), nil)
			if got := r.optedOut(); !slices.Equal(got, want[at]) {
				t.Errorf("database and log %s: %q, want %q", at, got, want[at])
			}
		}
	}
}

// TestAnOptOutIsNotUndoneByAnOlderEnd: while the log was not there somebody
// opted out again, and the log ends an earlier block of theirs.
func TestAnOptOutIsNotUndoneByAnOlderEnd(t *testing.T) {
	f := newFixture(t)
	journal := t.TempDir()
	f.logging(t, journal, nil)
	f.must(f.optOut("2348030000900", sms.BlockedByLink))
	older := image(t, f.data)
	f.must(f.takeOff("2348030000900"))
	f.must(f.optOut("2348030000901", sms.BlockedByLink))

	other := *f
	other.data, other.db = older, open(t, older)
	elsewhere := t.TempDir()
	l, err := other.db.openBlockLog(t.Context(), elsewhere, time.Now, nil)
	f.must(err)
	other.db.UseBlockLog(l)
	if l.Trouble() == "" {
		t.Fatal("a log that is missing is not missed")
	}
	f.must(other.takeOff("2348030000900"))
	f.must(other.optOut("2348030000900", sms.BlockedByUSSD))
	if entries, err := os.ReadDir(elsewhere); err != nil || len(entries) > 0 {
		t.Fatalf("something was made where the log was expected: %v %v", entries, err)
	}
	f.must(os.CopyFS(elsewhere, os.DirFS(journal)))
	f.must(l.Look(t.Context()))
	_, _, lost, err := other.db.ReplayBlocks(t.Context())
	f.must(err)
	if got := other.optedOut(); lost != "" || !slices.Equal(got, []string{"2348030000900", "2348030000901"}) {
		t.Errorf("%q, lost %q", got, lost)
	}
	if kind := one[string](&other, "select kind from blocked where number = '2348030000900'"); kind != "ussd" {
		t.Errorf("blocked by %s", kind)
	}
	_ = l.Close()
	again := f.blockedOn(t, image(t, older), elsewhere, nil)
	if got := again.optedOut(); !slices.Equal(got, []string{"2348030000900", "2348030000901"}) {
		t.Errorf("%q after a restore", got)
	}
}

// TestTheLogOfBlocksIsAnotherDesks: nothing of it is believed or overwritten.
func TestTheLogOfBlocksIsAnotherDesks(t *testing.T) {
	other := newFixture(t)
	journal := t.TempDir()
	key := make([]byte, 32)
	other.db.seal.key = key
	other.logging(t, journal, nil)
	other.must(other.optOut("2348030000900", sms.BlockedByLink))
	f := newFixture(t)
	l, err := f.db.openBlockLog(t.Context(), journal, time.Now, nil)
	f.must(err)
	f.db.UseBlockLog(l)
	if why := l.Trouble(); !strings.Contains(why, "another desk") {
		t.Errorf("trouble: %q", why)
	}
	f.must(f.optOut("2348030000901", sms.BlockedByLink))
	f.must(l.Create())
	_, _, _, err = f.db.ReplayBlocks(t.Context())
	f.must(err)
	if got := f.optedOut(); !slices.Equal(got, []string{"2348030000901"}) {
		t.Errorf("%q", got)
	}
	names, err := filepath.Glob(filepath.Join(journal, BlockLogFolder, "*"))
	f.must(err)
	if len(names) != 2 || !strings.HasSuffix(names[0], ".foreign") {
		t.Errorf("%q", names)
	}
	_ = l.Close()
	again := f.blockedOn(t, image(t, f.data), journal, nil)
	if got := again.optedOut(); !slices.Equal(got, []string{"2348030000901"}) {
		t.Errorf("%q after another start", got)
	}
}
