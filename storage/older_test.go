package storage

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"smsdesk/internal/sms"
)

// olderLife is a random life of a folder to which older states come back, on a
// disk that may be full. What the service has carried out is the oracle: nobody
// gets a text twice, unless the desk said so and a person said send.
type olderLife struct {
	*fixture
	disk     *crashDisk
	root     string
	journal  *Journal
	asks     bool
	copies   int
	texts    int
	licences []string        // attempts whose line is in a journal that nobody harmed
	executed map[string]int  // by number and text
	told     map[string]bool // by number and text
}

func newOlderLife(t *testing.T, rt tb, n int) *olderLife {
	t.Helper()
	root := filepath.Join(t.TempDir(), fmt.Sprint(n))
	data := filepath.Join(root, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := crashDesk.Copy(data); err != nil {
		t.Fatal(err)
	}
	l := &olderLife{root: root, disk: newCrashDisk(t, data), executed: map[string]int{}, told: map[string]bool{}}
	l.fixture = &fixture{t: rt, ctx: context.Background(), data: data, clock: new(atomic.Int64)}
	l.account = sms.Account{ID: 1}
	l.clock.Store(began + 1_000_000)
	l.begin()
	return l
}

// begin is a start of the program.
func (l *olderLife) begin() {
	l.t.Helper()
	var err error
	l.db, err = Open(l.ctx, Config{Data: l.data})
	l.must(err)
	l.journal = NewJournal(l.db, JournalConfig{Program: "test", FS: l.disk.logs()})
	_, err = l.journal.Start(l.ctx, l.now())
	if l.asks = errors.Is(err, ErrQuestion); l.asks {
		return
	}
	l.must(err)
	l.takeOver()
}

func (l *olderLife) takeOver() {
	l.t.Helper()
	l.lease()
	_, _, err := l.db.Recover(l.ctx, l.account.ID, l.now())
	l.must(err)
}

// end closes what the process had open, however the disk is.
func (l *olderLife) end() {
	_ = l.journal.Close()
	_ = l.db.Close()
	l.disk.setFull(false)
}

// setFull has every write fail, as on a disk that is full.
func (d *crashDisk) setFull(full bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead = full
}

func (l *olderLife) Create(t *rapid.T) {
	l.texts++
	var to []string
	for i, n := range numbers(6) {
		if i == 0 || rapid.Bool().Draw(t, "to") {
			to = append(to, n)
		}
	}
	l.proven(fmt.Sprint("text ", l.texts), to...)
}

// call claims and licenses; nil: nothing may leave.
func (l *olderLife) call() *sms.Attempt {
	claim, err := l.db.Claim(l.ctx, l.order(0, 2), l.now())
	if err != nil || claim.Attempt == nil {
		return nil
	}
	a := claim.Attempt
	if err := l.db.License(l.ctx, a, l.now()); err == nil && l.journal.Append(a) == nil {
		if l.asks {
			l.t.Fatalf("a licence while a question is open")
		}
		l.licences = append(l.licences, a.UID)
		return a
	}
	_, _ = l.trySettle(a, sms.Outcome{Class: sms.ClassNothingLeft, Reason: "no licence"})
	return nil
}

func (l *olderLife) execute(a *sms.Attempt) {
	for _, r := range a.Call.Recipients {
		l.executed[r.Number+" "+cmp.Or(r.Text, a.Call.Text)]++
	}
}

func (l *olderLife) Send(t *rapid.T) {
	a := l.call()
	if a == nil {
		return
	}
	o := answer(a)
	if rapid.IntRange(0, 3).Draw(t, "doubt") == 0 {
		o = sms.Outcome{Class: sms.ClassDoubt, Reason: "why"}
	}
	if o.Class == sms.ClassAnswered || rapid.Bool().Draw(t, "executed") {
		l.execute(a)
	}
	l.settle(a, o)
}

// Crash ends the process, often in the middle of a call.
func (l *olderLife) Crash(t *rapid.T) {
	if a := l.call(); a != nil && rapid.Bool().Draw(t, "executed") {
		l.execute(a)
	}
	l.end()
	l.begin()
}

// DiskFull is a call whose outcome cannot be stored, or that gets no licence.
func (l *olderLife) DiskFull(t *rapid.T) {
	before := rapid.Bool().Draw(t, "before the call")
	l.disk.setFull(before)
	if a := l.call(); a != nil {
		if before {
			l.t.Fatalf("a licence on a full disk")
		}
		l.disk.setFull(true)
		l.execute(a)
		if _, err := l.trySettle(a, answer(a)); err == nil {
			l.t.Fatalf("an outcome is stored on a full disk")
		}
	}
	l.end()
	l.begin()
	if l.asks && len(l.licences) > 0 && l.copies == 0 {
		l.t.Fatalf("a full disk looks like an older state")
	}
}

func (l *olderLife) ClockStep(t *rapid.T) {
	l.clock.Add(rapid.SampledFrom([]int64{-1, 1}).Draw(t, "step") * time.Hour.Milliseconds())
}

// Backup copies the folder while nobody writes.
func (l *olderLife) Backup(*rapid.T) {
	if l.copies == 3 {
		return
	}
	l.end()
	l.copies++
	l.must(os.CopyFS(l.copyOf(l.copies), os.DirFS(l.data)))
	l.begin()
}

func (l *olderLife) copyOf(n int) string { return filepath.Join(l.root, fmt.Sprint(n)) }

// Restore puts the database of a copy back beside the journal as it is.
func (l *olderLife) Restore(t *rapid.T) {
	if l.copies == 0 {
		return
	}
	l.end()
	l.putBack(rapid.IntRange(1, l.copies).Draw(t, "copy"))
	l.begin()
	if unknown := l.lacks(); unknown != "" && !l.asks {
		l.t.Fatalf("the journal knows the licence %s, the database does not, and nobody is asked", unknown)
	}
}

func (l *olderLife) putBack(n int) {
	l.t.Helper()
	for _, ending := range []string{"", "-wal", "-shm"} {
		path := filepath.Join(l.data, "smsdesk.db"+ending)
		_ = os.Remove(path)
		raw, err := os.ReadFile(filepath.Join(l.copyOf(n), "smsdesk.db"+ending))
		if err == nil && ending != "-shm" {
			l.must(os.WriteFile(path, raw, 0o600))
		}
	}
}

// lacks is a licence in the journal that this database does not know.
func (l *olderLife) lacks() string {
	for _, uid := range l.licences {
		if one[int](l.fixture, "select count(*) from attempt where uid = $1", uid)+
			one[int](l.fixture, "select count(*) from journal_accepted where uid = $1", uid) == 0 {
			return uid
		}
	}
	return ""
}

// LoseJournal removes it, often together with a restore.
func (l *olderLife) LoseJournal(t *rapid.T) {
	l.harm(t, func() { l.must(os.RemoveAll(l.journal.Folder())) })
	if !l.asks {
		l.t.Fatalf("the journal is gone and nobody is asked")
	}
}

// harm does something to the journal of a desk that is stopped. What it says
// is no evidence from then on.
func (l *olderLife) harm(t *rapid.T, do func()) {
	l.end()
	if l.copies > 0 && rapid.Bool().Draw(t, "restore") {
		l.putBack(rapid.IntRange(1, l.copies).Draw(t, "copy"))
	}
	do()
	l.licences = nil
	l.begin()
}

func (l *olderLife) TruncateJournal(t *rapid.T) {
	l.harm(t, func() {
		l.change(func(raw []byte) []byte { return raw[:rapid.IntRange(0, len(raw)).Draw(t, "length")] })
	})
}

func (l *olderLife) FlipBytes(t *rapid.T) {
	l.harm(t, func() {
		l.change(func(raw []byte) []byte {
			if len(raw) > 0 {
				raw[rapid.IntRange(0, len(raw)-1).Draw(t, "place")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			}
			return raw
		})
	})
}

// change rewrites the last segment.
func (l *olderLife) change(how func([]byte) []byte) {
	l.t.Helper()
	names, err := filepath.Glob(filepath.Join(l.journal.Folder(), "*"+journalEnding))
	l.must(err)
	if len(names) == 0 {
		return
	}
	last := names[len(names)-1]
	raw, err := os.ReadFile(last)
	l.must(err)
	l.must(os.WriteFile(last, how(slices.Clone(raw)), 0o600))
}

// Downgrade is an older program: it does not open a newer schema, and on this
// one it cannot license.
func (l *olderLife) Downgrade(*rapid.T) {
	newer := newestSchema() + 1
	const apply = "insert into goose_db_version (version_id, is_applied) values ($1, true)"
	_, err := l.db.writer.ExecContext(l.ctx, apply, newer)
	l.must(err)
	if db, err := Open(l.ctx, Config{Data: l.data}); err == nil {
		_ = db.Close()
		l.t.Fatalf("a newer schema is opened")
	}
	_, err = l.db.writer.ExecContext(l.ctx, "delete from goose_db_version where version_id = $1", newer)
	l.must(err)
	claim, err := l.db.Claim(l.ctx, l.order(0, 2), l.now())
	if err != nil || claim.Attempt == nil {
		return
	}
	const license = "update attempt set state = 'sending', licensed_at = $1 where id = $2"
	_, err = l.db.writer.ExecContext(l.ctx, license, l.now(), claim.Attempt.ID)
	if err == nil || !strings.Contains(err.Error(), "journal") {
		l.t.Fatalf("an older program licenses: %v", err)
	}
	l.settle(claim.Attempt, sms.Outcome{Class: sms.ClassNothingLeft, Reason: "no licence"})
}

// Accept is an administrator who answers.
func (l *olderLife) Accept(*rapid.T) {
	if !l.asks {
		return
	}
	_, err := l.journal.Accept(l.ctx, "Ada Obi", time.UTC, l.now())
	l.must(err)
	l.licences = nil
	if n := one[int](l.fixture, "select count(*) from campaign where state = 'running'"); n > 0 {
		l.t.Fatalf("%d campaigns run on after an older state was accepted", n)
	}
	_, err = l.journal.Start(l.ctx, l.now())
	l.must(err)
	l.asks = false
	l.takeOver()
}

// Continue is a person who was told that some may get it twice.
func (l *olderLife) Continue(*rapid.T) {
	const paused = "select id from campaign where state = 'paused' and pause_code = 'copy'"
	for _, id := range column[int64](l.fixture, paused) {
		for _, m := range l.messages(id) {
			l.told[m.Number+" "+m.Text] = true
		}
		l.set(id, sms.CampaignRunning)
	}
}

// Check holds after every step.
func (l *olderLife) Check(*rapid.T) {
	for key, n := range l.executed {
		if n > 1 && !l.told[key] {
			l.t.Fatalf("%s was executed %d times and nobody was told", key, n)
		}
	}
}

func TestAnOlderStateRepeatsNobody(t *testing.T) {
	lifetimes(t, "40")
	lives := 0
	rapid.Check(t, func(rt *rapid.T) {
		lives++
		l := newOlderLife(t, rt, lives)
		defer l.end()
		rt.Repeat(rapid.StateMachineActions(l))
	})
}

// A journal may end anywhere after a power cut or a full disk. Wherever that
// is, smsdesk starts, or asks and starts once it was answered, and the next
// start finds a journal that agrees.
func TestAJournalThatEndsAnywhereIsGoneOnWith(t *testing.T) {
	whole := newOlderLife(t, t, 0)
	t.Cleanup(whole.end)
	whole.proven("text 0", numbers(2)...)
	whole.execute(whole.call())
	whole.end()
	var raw []byte
	whole.change(func(all []byte) []byte { raw = slices.Clone(all); return all })
	first := bytes.IndexByte(raw, '\n') + 1
	second := first + bytes.IndexByte(raw[first:], '\n') + 1
	for _, kept := range []bool{false, true} { // kept: the database still holds the start's line
		for length := range second + 1 {
			if length%16 != 0 && (length < first-2 || length > first+1) && length < second-2 {
				continue
			}
			l := newOlderLife(t, t, 1+2*length+map[bool]int{true: 1}[kept])
			if l.end(); kept {
				l.keepStartLine()
			}
			l.change(func(all []byte) []byte { return all[:min(length, len(all))] })
			l.begin()
			if kept && l.asks {
				t.Errorf("cut off at %d of %d bytes, all of them still in the database: somebody is asked", length, second)
			}
			l.Accept(nil)
			l.proven(fmt.Sprint("text ", length), numbers(1)...)
			if a := l.call(); a == nil {
				t.Errorf("cut off at %d bytes: nothing is licensed", length)
			} else {
				l.settle(a, answer(a))
			}
			l.end()
			if l.begin(); l.asks {
				t.Errorf("cut off at %d bytes and gone on with: the next start asks", length)
			}
			l.end()
		}
	}
}

// keepStartLine puts the line of the first start back into the database, where
// it is until the journal has it.
func (l *olderLife) keepStartLine() {
	l.change(func(all []byte) []byte {
		line := all[bytes.IndexByte(all, '\n')+1:]
		db, err := Open(l.ctx, Config{Data: l.data})
		l.must(err)
		l.must(db.update(l.ctx, "keep a line", func(t *tx) error {
			return t.PutJournalLine(l.ctx, db.node, 1, string(line[:bytes.IndexByte(line, '\n')+1]))
		}))
		l.must(db.Close())
		return all
	})
}
