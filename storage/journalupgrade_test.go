package storage

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/health"
)

// asEarlier makes the fixture's folder what a version without heads left: one
// file with ids of rows, and no trace of lines in the database.
func (f *fixture) asEarlier(t *testing.T) (path string) {
	t.Helper()
	var lines []byte
	for _, uid := range column[string](f, "select uid from attempt where licensed_at > 0 order by id") {
		lines = append(lines, f.earlierLine(uid)...)
	}
	if j := f.db.journal.Load(); j != nil {
		f.must(j.Close())
	}
	f.must(os.RemoveAll(filepath.Join(f.data, journalFolder)))
	path = filepath.Join(f.data, journalFolder)
	f.write(path, lines)
	f.withoutLines()
	return path
}

func (f *fixture) withoutLines() {
	f.t.Helper()
	for _, statement := range []string{"delete from journal_head", "delete from journal_line",
		"update attempt set journal_seq = 0"} {
		_, err := f.db.writer.ExecContext(f.ctx, statement)
		f.must(err)
	}
	f.db.generation = 0
}

func (f *fixture) earlierLine(uid string) []byte {
	l := earlierLicence{UID: uid, At: one[int64](f, "select licensed_at from attempt where uid = $1", uid),
		Campaign: one[int64](f, "select campaign_id from attempt where uid = $1", uid)}
	l.Messages = column[int64](f,
		"select message_id from attempt_message m join attempt a on a.id = m.attempt_id where a.uid = $1", uid)
	raw, err := json.Marshal(l)
	f.must(err)
	return append(raw, '\n')
}

// TestAnEarlierJournalIsUpgraded: a copy of before the upgrade meets lines with
// people, and repeats nobody.
func TestAnEarlierJournalIsUpgraded(t *testing.T) {
	f := newFixture(t)
	j, l := f.journal(), ledger{}
	f.proven("Hello", numbers(12)...)
	f.send(j, l, 1)
	_ = f.asEarlier(t)
	before := f.backup(t)
	f.reopen(t)
	raw := f.read(filepath.Join(f.data, journalFolder))
	// The earlier version goes on sending.
	f.must(os.Remove(filepath.Join(f.data, journalFolder)))
	a := f.claimAfter(0, 3)
	f.license(a)
	l.execute(a)
	f.settle(a, answer(a))
	f.write(filepath.Join(f.data, journalFolder), append(raw, f.earlierLine(a.UID)...))
	f.withoutLines()
	f.reopen(t)
	if q := f.relation(); q.Relation != health.RelationStarted {
		t.Fatalf("%s %s", q.Relation, q.Sentence(time.UTC))
	}
	j = f.journal()
	if info, err := os.Stat(filepath.Join(f.data, journalFolder+earlierEnding)); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the earlier file is not kept: %v", err)
	}
	f.send(j, l, 1)
	if len(l) != 9 || l.twice() != 0 {
		t.Errorf("%v", l)
	}
	f.restore(t, before)
	q := f.relation()
	if q.Relation != health.RelationDiverged || q.Messages != 6 {
		t.Fatalf("a copy from before the upgrade: %s %s", q.Relation, q.Sentence(time.UTC))
	}
	f.accept()
	j = f.journal()
	f.goOn()
	f.send(j, l, 99)
	if l.twice() != 0 || len(l) != 12 {
		t.Errorf("%d twice of %d", l.twice(), len(l))
	}
	f.check()
}

// TestAnOlderStateOfAnEarlierVersion: the question is asked at the upgrade too.
func TestAnOlderStateOfAnEarlierVersion(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(f *fixture, path string, known []byte)
		want health.Relation
	}{
		{"older database", func(*fixture, string, []byte) {}, health.RelationDamaged},
		{"older database, no journal", func(f *fixture, path string, _ []byte) { f.must(os.Remove(path)) },
			health.RelationBehind},
		{"older database, older journal", func(f *fixture, path string, known []byte) {
			f.write(path, known[:strings.Index(string(known), "\n")+1])
		}, health.RelationBehind},
		{"older database, rubbish at the end", func(f *fixture, path string, _ []byte) {
			f.write(path, append(f.read(path), []byte(strings.Repeat("rubbish ", 150_000))...))
		}, health.RelationDamaged},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t)
			j, l := f.journal(), ledger{}
			f.proven("Hello", numbers(18)...)
			f.send(j, l, 2)
			path := f.asEarlier(t)
			known := f.read(path)
			copied := f.backup(t)
			a := f.claimAfter(0, 3)
			f.license(a)
			l.execute(a)
			f.settle(a, answer(a))
			line := f.earlierLine(a.UID)
			f.restore(t, copied)
			f.write(path, append(known, line...))
			c.do(f, path, known)
			q := f.relation()
			if q.Relation != c.want || q.Relation.MaySend() {
				t.Fatalf("%s %s", q.Relation, q.Sentence(time.UTC))
			}
			f.accept()
			if n := f.send(f.journal(), l, 99); n != 0 {
				t.Errorf("%d requests before a person continued", n)
			}
			if c.want == health.RelationDamaged {
				f.goOn()
				f.send(f.db.journal.Load(), l, 99)
				if l.twice() != 0 {
					t.Errorf("%d twice", l.twice())
				}
			}
			f.check()
		})
	}
}

// TestAnUpgradeMayBeCutOffAnywhere: it is begun again, and nothing is asked.
func TestAnUpgradeMayBeCutOffAnywhere(t *testing.T) {
	for nth := 1; nth <= 5; nth++ {
		f := newFixture(t)
		j, l := f.journal(), ledger{}
		f.proven("Hello", numbers(12)...)
		f.send(j, l, 2)
		_ = f.asEarlier(t)
		f.reopen(t)
		left := nth
		j = NewJournal(f.db, JournalConfig{FS: failing{left: &left}})
		_, err := j.Start(f.ctx, f.now())
		_ = j.Close()
		f.reopen(t)
		if q := f.relation(); !q.Relation.MaySend() {
			t.Fatalf("fault %d (%v): %s %s", nth, err, q.Relation, q.Sentence(time.UTC))
		}
		f.send(f.journal(), l, 99)
		if len(l) != 12 || l.twice() != 0 {
			t.Errorf("fault %d: %v", nth, l)
		}
	}
	// Cut off between the two renames.
	f := newFixture(t)
	j, l := f.journal(), ledger{}
	f.proven("Hello", numbers(12)...)
	f.send(j, l, 2)
	path := f.asEarlier(t)
	f.must(os.Rename(path, path+earlierEnding))
	f.reopen(t)
	f.send(f.journal(), l, 99)
	if len(l) != 12 || l.twice() != 0 {
		t.Errorf("%v", l)
	}
}
