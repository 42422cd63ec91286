package storage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/sms"
)

func (f *fixture) journal() *Journal {
	f.t.Helper()
	j, err := OpenJournal(f.data)
	f.must(err)
	return j
}

func (f *fixture) ahead(j *Journal) []sms.Licence {
	f.t.Helper()
	list, err := j.Ahead(f.ctx, f.db)
	f.must(err)
	return list
}

// backup copies the database as it is now.
func (f *fixture) backup(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "backup.db")
	_, err := f.db.writer.ExecContext(f.ctx, "vacuum into $1", path)
	f.must(err)
	return path
}

// restore puts a copy back in the place of the database.
func (f *fixture) restore(t *testing.T, path string) {
	t.Helper()
	f.must(f.db.Close())
	raw, err := os.ReadFile(path)
	f.must(err)
	for _, end := range []string{"-wal", "-shm"} {
		if err := os.Remove(filepath.Join(f.data, "smsdesk.db"+end)); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	f.must(os.WriteFile(filepath.Join(f.data, "smsdesk.db"), raw, 0o600))
	f.db = open(t, f.data)
	f.lease()
}

// send claims of a campaign, licenses, writes the journal and settles, as the
// dispatcher does.
func (f *fixture) send(j *Journal, c sms.Campaign, limit int, o func(*sms.Attempt) sms.Outcome) *sms.Attempt {
	f.t.Helper()
	a := f.claimAfter(c.ID-1, limit)
	if a == nil || a.CampaignID != c.ID {
		f.t.Fatalf("nothing of campaign %d was claimed", c.ID)
	}
	f.license(a)
	f.must(j.Append(a))
	f.settle(a, o(a))
	return a
}

func licence(a *sms.Attempt) sms.Licence {
	return sms.Licence{UID: a.UID, Account: a.AccountID, Campaign: a.CampaignID, Epoch: a.Epoch, At: a.LicensedAt, Messages: a.Messages}
}

func TestTheJournalHoldsOneLineALicence(t *testing.T) {
	f := newFixture(t)
	j := f.journal()
	c := f.proven("Hello", numbers(30)...)
	var want []sms.Licence
	for range 3 {
		want = append(want, licence(f.send(j, c, 3, answer)))
	}
	f.must(j.Close())
	raw, err := os.ReadFile(filepath.Join(f.data, "dispatch.journal"))
	f.must(err)
	var got []sms.Licence
	for _, line := range bytes.Split(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n")) {
		var l sms.Licence
		f.must(json.Unmarshal(line, &l))
		got = append(got, l)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if strings.Contains(string(raw), "Hello") || strings.Contains(string(raw), "234803") {
		t.Error("the journal holds texts or numbers")
	}
	if info, err := os.Stat(filepath.Join(f.data, "dispatch.journal")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	j = f.journal()
	if list := f.ahead(j); len(list) != 0 {
		t.Errorf("without a rollback it is ahead by %v", list)
	}
	if j.Close(); j.Append(&sms.Attempt{UID: "x"}) == nil {
		t.Error("a closed journal took a licence")
	}
}

// TestAnOrdinaryCrashIsNotARollback: killed after the licence, with or without
// its line, or in the middle of the line.
func TestAnOrdinaryCrashIsNotARollback(t *testing.T) {
	f := newFixture(t)
	j := f.journal()
	f.proven("Hello", numbers(30)...)
	f.license(f.claim(3))
	f.must(j.Append(f.license(f.claim(3))))
	torn, err := json.Marshal(licence(f.license(f.claim(3))))
	f.must(err)
	_, err = j.file.Write(torn[:len(torn)-7])
	f.must(err)
	f.must(j.Close())
	for i := range 3 {
		uid := fmt.Sprint("unknown-", i)
		j = f.journal()
		if list := f.ahead(j); len(list) != 0 {
			t.Errorf("ahead by %v", list)
		}
		f.must(third(f.db.Recover(f.ctx, f.account.ID, f.now())))
		f.must(j.Append(&sms.Attempt{UID: uid, LicensedAt: 5, Messages: []int64{1}}))
		if list := f.ahead(j); len(list) != 1 || list[0].UID != uid {
			t.Errorf("the line behind a torn one is lost: %v", list)
		}
		f.must(second(f.db.AcceptRollback(f.ctx, f.ahead(j), f.now())))
		f.must(j.Close())
		raw, err := os.ReadFile(filepath.Join(f.data, "dispatch.journal"))
		f.must(err)
		f.must(os.WriteFile(filepath.Join(f.data, "dispatch.journal"), append(raw, torn[:20]...), 0o600))
	}
}

// TestALineBehindAFailedWriteStandsAlone: a full disk may leave half a line,
// and the disk has space again later.
func TestALineBehindAFailedWriteStandsAlone(t *testing.T) {
	f := newFixture(t)
	j := f.journal()
	file := j.file
	closed, err := os.Open(os.DevNull)
	f.must(err)
	f.must(closed.Close())
	j.file = closed
	if err := j.Append(&sms.Attempt{UID: "one"}); err == nil {
		t.Fatal("a failed write was taken for a written line")
	}
	_, err = file.WriteString(`{"uid":"one","acc`)
	f.must(err)
	j.file = file
	f.must(j.Append(&sms.Attempt{UID: "two", LicensedAt: 1}))
	f.must(j.Append(&sms.Attempt{UID: "three", LicensedAt: 2}))
	var got []string
	for _, l := range f.ahead(j) {
		got = append(got, l.UID)
	}
	if !slices.Equal(got, []string{"two", "three"}) {
		t.Errorf("%v", got)
	}
	f.must(j.Close())
}

func TestLicencesAreAppendedWhole(t *testing.T) {
	f := newFixture(t)
	j := f.journal()
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			if err := j.Append(&sms.Attempt{UID: fmt.Sprint("u", i), Messages: numbersFrom(1, 500)}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	list := f.ahead(j)
	if len(list) != 50 || len(list[0].Messages) != 500 {
		t.Errorf("%d lines", len(list))
	}
	f.must(j.Close())
}

func numbersFrom(first, n int64) (list []int64) {
	for i := range n {
		list = append(list, first+i)
	}
	return list
}

// TestALongJournalIsReadFromItsEnd: several blocks of unknown lines, one line
// longer than a block, and a long past that is not read.
func TestALongJournalIsReadFromItsEnd(t *testing.T) {
	f := newFixture(t)
	j := f.journal()
	var known, unknown []string
	write := func(uid string, messages int64) {
		line, err := json.Marshal(sms.Licence{UID: uid, At: 7, Messages: numbersFrom(1_000_000, messages)})
		f.must(err)
		_, err = j.file.Write(append(line, '\n'))
		f.must(err)
	}
	for i := range 400 {
		known = append(known, fmt.Sprint("known-", i))
		write(known[i], 700)
	}
	accept := func(uids []string) {
		f.must(f.db.update(f.ctx, "accept", func(tx *tx) error {
			for _, uid := range uids {
				if err := tx.AcceptJournalLine(f.ctx, uid, 1); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	accept(known)
	if list := f.ahead(j); len(list) != 0 {
		t.Fatalf("%d unknown", len(list))
	}
	for i := range 401 {
		unknown = append(unknown, fmt.Sprint("unknown-", i))
		write(unknown[i], map[bool]int64{true: 200_000, false: 700}[i == 200])
	}
	if info, err := os.Stat(filepath.Join(f.data, "dispatch.journal")); err != nil || info.Size() < 5<<20 {
		t.Fatalf("%v %v", info.Size(), err)
	}
	var got []string
	for _, l := range f.ahead(j) {
		got = append(got, l.UID)
	}
	if d := cmp.Diff(unknown, got); d != "" {
		t.Errorf("oldest first, none left out:\n%s", d)
	}
	accept(unknown)
	if list := f.ahead(j); len(list) != 0 {
		t.Errorf("%d unknown after they were accepted", len(list))
	}
	f.must(j.Close())
}

// TestARestoredBackupRepeatsNothing is S-24.
func TestARestoredBackupRepeatsNothing(t *testing.T) {
	f := newFixture(t)
	j := f.journal()
	before := f.proven("Before", numbers(6)...)
	old := f.send(j, before, 2, answer)
	draft := f.newDraft("Draft", numbers(4)...)
	stopped := f.proven("Stopped", numbers(3)...)
	f.set(stopped.ID, sms.CampaignStopped)
	copied := f.backup(t)

	var want []sms.Licence
	send := func(c sms.Campaign, o func(*sms.Attempt) sms.Outcome) {
		want = append(want, licence(f.send(j, c, 2, o)))
	}
	send(before, answer)
	send(before, func(*sms.Attempt) sms.Outcome { return sms.Outcome{Class: sms.ClassDoubt} })
	f.set(draft.ID, sms.CampaignRunning)
	send(draft, answer)
	unknown := f.proven("Unknown to the copy", numbers(2)...)
	send(unknown, answer)

	f.restore(t, copied)
	if d := cmp.Diff(want, f.ahead(j)); d != "" {
		t.Fatalf("(-sent +ahead):\n%s", d)
	}
	again := f.newDraft("Made after the restore", numbers(5)...)
	if again.ID != unknown.ID {
		t.Fatalf("campaign %d should have got the id %d again", again.ID, unknown.ID)
	}
	doubtful, err := f.db.AcceptRollback(f.ctx, f.ahead(j), f.now())
	if err != nil || doubtful != 4 {
		t.Errorf("%d messages in doubt, %v; want 4", doubtful, err)
	}
	f.check()
	f.wantStates(before.ID, map[sms.State]int{sms.Accepted: 2, sms.InDoubt: 4})
	f.wantStates(draft.ID, map[sms.State]int{sms.Draft: 2, sms.Cancelled: 2})
	f.wantStates(again.ID, map[sms.State]int{sms.Draft: 5})
	f.wantStates(stopped.ID, map[sms.State]int{sms.Queued: 3})
	if got := f.campaign(before.ID); got.State != sms.CampaignFinished {
		t.Errorf("nothing is left to send and it is %s", got.State)
	}
	for _, m := range f.messages(before.ID) {
		attempts, err := f.db.MessageAttempts(f.ctx, m.ID)
		f.must(err)
		last := attempts[len(attempts)-1]
		if m.State == sms.InDoubt && (m.Reason != rollbackReason || m.SentAt == 0 || last.State != sms.AttemptInDoubt || last.LicensedAt != m.SentAt || last.Reason == "") {
			t.Errorf("%+v in %+v", m, last)
		}
		if m.State == sms.Accepted && !slices.Contains(old.Messages, m.ID) {
			t.Errorf("%+v", m)
		}
	}
	if list := f.ahead(j); len(list) != 0 {
		t.Errorf("still ahead by %v", list)
	}
	if n, err := f.db.AcceptRollback(f.ctx, want, f.now()); err != nil || n != 0 {
		t.Errorf("accepted twice: %d %v", n, err)
	}
	f.set(draft.ID, sms.CampaignRunning)
	for a := f.claimAfter(0, 100); a != nil; a = f.claimAfter(0, 100) {
		for _, id := range a.Messages {
			for _, l := range want {
				if l.Campaign != unknown.ID && slices.Contains(l.Messages, id) {
					t.Errorf("message %d is sent again", id)
				}
			}
		}
		f.settle(f.license(a), answer(a))
	}
	f.check()
	f.must(j.Close())
}

// TestARollbackIntoTheMiddleOfAClaim: the copy was made between the claim and
// the licence, so that it knows the attempt but not that it was licensed.
func TestARollbackIntoTheMiddleOfAClaim(t *testing.T) {
	f := newFixture(t)
	j := f.journal()
	c := f.proven("Hello", numbers(5)...)
	a := f.claim(3)
	copied := f.backup(t)
	f.license(a)
	f.must(j.Append(a))
	f.settle(a, answer(a))
	f.restore(t, copied)
	list := f.ahead(j)
	if len(list) != 1 || list[0].UID != a.UID {
		t.Fatalf("%v", list)
	}
	doubtful, err := f.db.AcceptRollback(f.ctx, list, f.now())
	if err != nil || doubtful != 3 {
		t.Fatalf("%d %v", doubtful, err)
	}
	f.wantStates(c.ID, map[sms.State]int{sms.InDoubt: 3, sms.Queued: 2})
	f.check()
	f.must(j.Close())
}

// TestARollbackWithTheSameMessageTwice: a number that got the text twice in
// the lost time, and one that was in doubt elsewhere when the copy was made.
func TestARollbackWithTheSameMessageTwice(t *testing.T) {
	f := newFixture(t)
	j := f.journal()
	other := f.proven("Hello", "2")
	f.send(j, other, 1, func(*sms.Attempt) sms.Outcome { return sms.Outcome{Class: sms.ClassDoubt} })
	c := f.proven("Hello", "1", "1", "2")
	copied := f.backup(t)
	f.send(j, c, 9, answer)
	f.send(j, c, 9, answer)
	id := f.messages(other.ID)[0].ID
	f.must(f.db.update(f.ctx, "a person decides", func(t *tx) error {
		_, err := t.raw.ExecContext(f.ctx, "update message set state = 'closed_unknown' where id = $1", id)
		return errors.Join(err, t.DeleteInFlight(f.ctx, id))
	}))
	f.send(j, c, 9, answer)
	f.restore(t, copied)
	doubtful, err := f.db.AcceptRollback(f.ctx, f.ahead(j), f.now())
	if err != nil || doubtful != 3 || len(f.ahead(j)) != 0 {
		t.Fatalf("%d %v", doubtful, err)
	}
	f.wantStates(c.ID, map[sms.State]int{sms.InDoubt: 3})
	f.must(j.Close())
}

// TestADraftOfARollbackIsKept: it is the record of what was sent, and the
// other drafts are forgotten all the same.
func TestADraftOfARollbackIsKept(t *testing.T) {
	f := newFixture(t)
	j := f.journal()
	kept, gone := f.newDraft("Kept", numbers(3)...), f.newDraft("Gone", numbers(3)...)
	copied := f.backup(t)
	f.set(kept.ID, sms.CampaignRunning)
	f.send(j, kept, 2, answer)
	f.restore(t, copied)
	f.must(second(f.db.AcceptRollback(f.ctx, f.ahead(j), f.now())))
	f.must(f.db.ForgetDrafts(f.ctx, f.now()))
	f.wantStates(kept.ID, map[sms.State]int{sms.Cancelled: 2, sms.Draft: 1})
	if _, err := f.db.Campaign(f.ctx, gone.ID); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("%v", err)
	}
	_, created, err := f.db.CreateDraft(f.ctx, sms.Campaign{AccountID: f.account.ID}, randomHex(16), []sms.Message{{Number: "1", Text: "x"}}, kept.ID, f.now())
	if err != nil || !created {
		t.Errorf("a draft that takes its place: %v", err)
	}
	f.wantStates(kept.ID, map[sms.State]int{sms.Cancelled: 2, sms.Draft: 1})
	f.check()
	f.must(j.Close())
}
