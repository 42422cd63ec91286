package storage

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"smsdesk/internal/health"
	"smsdesk/internal/sms"
	"smsdesk/storage/log"
)

// journal starts the journal of the fixture's folder, which must agree.
func (f *fixture) journal() *Journal {
	f.t.Helper()
	j := NewJournal(f.db, JournalConfig{Program: "test"})
	if q, err := j.Start(f.ctx, f.now()); err != nil {
		f.t.Fatalf("%v: %s %s", err, q.Relation, q.Sentence(time.UTC))
	}
	return j
}

// relation compares database and journal.
func (f *fixture) relation() health.Question {
	f.t.Helper()
	q, err := NewJournal(f.db, JournalConfig{}).Compare(f.ctx, false)
	f.must(err)
	return q
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
	if j := f.db.journal.Load(); j != nil {
		f.must(j.Close())
	}
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

// reopen ends the process and starts the next one.
func (f *fixture) reopen(t *testing.T) {
	t.Helper()
	if j := f.db.journal.Load(); j != nil {
		f.must(j.Close())
	}
	f.must(f.db.Close())
	f.db = open(t, f.data)
	f.lease()
}

// ledger is what a service executed: the number of times by number and text.
type ledger map[string]int

func (l ledger) execute(a *sms.Attempt) {
	for _, r := range a.Call.Recipients {
		text := a.Call.Text
		if a.Call.Kind == sms.CallPairs {
			text = r.Text
		}
		l[r.Number+" "+text]++
	}
	if a.Call.Kind == sms.CallGroup {
		l["group "+a.Call.GroupID+" "+a.Call.Text]++
	}
}

func (l ledger) twice() (n int) {
	for _, times := range l {
		if times > 1 {
			n++
		}
	}
	return n
}

// send lets up to so many requests go out, as the dispatcher does.
func (f *fixture) send(j *Journal, l ledger, most int) (sent int) {
	f.t.Helper()
	for range most {
		a := f.claimAfter(0, 3)
		if a == nil {
			break
		}
		f.license(a)
		f.must(j.Append(a))
		l.execute(a)
		f.settle(a, answer(a))
		sent++
	}
	return sent
}

func (f *fixture) accept() health.Answered {
	f.t.Helper()
	done, err := NewJournal(f.db, JournalConfig{}).Accept(f.ctx, "Ada Obi", time.UTC, f.now())
	f.must(err)
	return done
}

// goOn lets everything continue that a person can continue.
func (f *fixture) goOn() {
	f.t.Helper()
	for _, id := range column[int64](f, "select id from campaign order by id") {
		if c := f.campaign(id); c.MayStart() || c.MayContinue() {
			f.set(id, sms.CampaignRunning)
		}
	}
}

func (f *fixture) segment(n int) string {
	return filepath.Join(f.data, journalFolder, fmt.Sprintf("%08d%s", n, journalEnding))
}

func (f *fixture) read(path string) []byte {
	f.t.Helper()
	raw, err := os.ReadFile(path)
	f.must(err)
	return raw
}

func (f *fixture) write(path string, raw []byte) {
	f.t.Helper()
	f.must(os.WriteFile(path, raw, 0o600))
}

func TestTheJournalHoldsAChainOfLines(t *testing.T) {
	f := newFixture(t)
	j := f.journal()
	f.proven("Hello", numbers(9)...)
	f.send(j, ledger{}, 3)
	raw := f.read(f.segment(1))
	lines := bytes.Split(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n"))
	if s, ok := readSegment(lines[0]); !ok || s.Desk != f.db.desk || s.Node != f.db.node || s.N != 1 ||
		s.Prev != noSum || len(s.Node) != 32 {
		t.Errorf("%+v", s)
	}
	prev := noSum
	for i, text := range lines[1:] {
		l, sum, ok := readLine(text)
		if !ok || l.N != int64(i+1) || l.Prev != prev || l.Generation != 1 {
			t.Fatalf("line %d: %s", i+1, text)
		}
		if prev = sum; i == 0 {
			if l.Kind != lineStart || l.Program != "test" || l.Schema == 0 {
				t.Errorf("%+v", l)
			}
			continue
		}
		if l.Kind != lineLicence || l.recipients() != 3 || l.Attempt == "" || l.Account == "" || (l.Name != nil) != (i == 1) {
			t.Errorf("%+v", l)
		}
		if got := readPeople(l.People); i == 1 && got[0] != f.db.people.of(numbers(1)[0], "Hello") {
			t.Error("a recipient's hash is not that of number and text")
		}
	}
	if len(lines) != 5 || bytes.Contains(raw, []byte("Hello")) || bytes.Contains(raw, []byte("234803")) {
		t.Errorf("%d lines:\n%s", len(lines), raw)
	}
	for _, path := range []string{f.segment(1), filepath.Join(f.data, nodeFile)} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info, err)
		}
	}
	if q := f.relation(); q.Relation != health.RelationAgrees {
		t.Errorf("%+v", q)
	}
	if j.Close(); j.Append(&sms.Attempt{JournalSeq: 9}) == nil {
		t.Error("a closed journal took a licence")
	}
}

// TestACrashIsNoCopy: killed after the commit of some licences, with all their
// lines, some, none, or one cut off anywhere.
func TestACrashIsNoCopy(t *testing.T) {
	f := newFixture(t)
	j := f.journal()
	f.proven("Hello", numbers(30)...)
	for _, a := range []*sms.Attempt{f.license(f.claim(3)), f.license(f.claim(3))} {
		f.must(j.Append(a))
	}
	whole := f.read(f.segment(1))
	first := bytes.LastIndexByte(bytes.TrimSuffix(whole, []byte("\n")), '\n') + 1
	second := bytes.LastIndexByte(whole[:first-1], '\n') + 1
	copied := f.backup(t)
	for end := second; end <= len(whole); end += 7 {
		f.restore(t, copied)
		f.write(f.segment(1), whole[:end])
		want := health.RelationCutOff
		if end == len(whole) {
			want = health.RelationAgrees
		}
		if q := f.relation(); q.Relation != want {
			t.Fatalf("cut at %d of %d: %s %s", end, len(whole), q.Relation, q.Sentence(time.UTC))
		}
		f.must(f.journal().Close())
		if got := f.read(f.segment(1)); !bytes.HasPrefix(got, whole) {
			t.Fatalf("cut at %d: the lines were not put back", end)
		}
		if n := one[int](f, "select count(*) from journal_line"); n != 0 {
			t.Fatalf("%d lines are kept", n)
		}
	}
}

// TestAGapBeforeASettledRequestIsNoCrash: the line of a request that has ended
// was in the journal before its first byte.
func TestAGapBeforeASettledRequestIsNoCrash(t *testing.T) {
	f := newFixture(t)
	j := f.journal()
	f.proven("Hello", numbers(30)...)
	before := f.read(f.segment(1))
	a := f.license(f.claim(3))
	f.must(j.Append(a))
	f.settle(a, answer(a))
	f.write(f.segment(1), before)
	f.reopen(t)
	if q := f.relation(); q.Relation != health.RelationBehind || !strings.Contains(q.Sentence(time.UTC), "is not known") {
		t.Errorf("%s %s", q.Relation, q.Sentence(time.UTC))
	}
}

// TestAStartMayBeCutOffAnywhere: its line in the database only, in both, and
// let go of.
func TestAStartMayBeCutOffAnywhere(t *testing.T) {
	f := newFixture(t)
	f.must(f.journal().Close())
	for nth := 1; nth <= 6; nth++ {
		left := nth
		j := NewJournal(f.db, JournalConfig{FS: failing{left: &left}})
		_, err := j.Start(f.ctx, f.now())
		_ = j.Close()
		f.reopen(t)
		if q := f.relation(); !q.Relation.MaySend() {
			t.Fatalf("fault %d (%v): %s %s", nth, err, q.Relation, q.Sentence(time.UTC))
		}
	}
	raw := f.read(f.segment(1))
	last := raw[bytes.LastIndexByte(raw[:len(raw)-1], '\n')+1:]
	f.must(f.db.update(f.ctx, "the database still has the line", func(t *tx) error {
		return t.PutJournalLine(f.ctx, f.db.node, mustRead(last).N, string(last))
	}))
	if q := f.relation(); q.Relation != health.RelationAgrees {
		t.Errorf("%s", q.Relation)
	}
	f.must(f.journal().Close())
}

func mustRead(line []byte) journalLine {
	l, _, _ := readLine(bytes.TrimSuffix(line, []byte("\n")))
	return l
}

// failing fails the n-th write or sync of a file.
type failing struct {
	log.Disk
	left *int
}

var errOnPurpose = errors.New("no space left on purpose")

func (d failing) Create(path string) (log.File, error) {
	f, err := d.Disk.Create(path)
	return failingFile{f, d}, err
}

func (d failing) Open(path string) (log.File, error) {
	f, err := d.Disk.Open(path)
	return failingFile{f, d}, err
}

type failingFile struct {
	log.File
	disk failing
}

func (f failingFile) due() bool {
	*f.disk.left--
	return *f.disk.left <= 0 && *f.disk.left > -1000
}

func (f failingFile) WriteAt(b []byte, at int64) (int, error) {
	if f.due() {
		n, _ := f.File.WriteAt(b[:len(b)/2], at)
		return n, errOnPurpose
	}
	return f.File.WriteAt(b, at)
}

func (f failingFile) Sync() error {
	if f.due() {
		return errOnPurpose
	}
	return f.File.Sync()
}

// TestNothingLeavesWhileTheJournalCannotBeWritten: eight requests are under way
// when its disk is full; none leaves, none is in doubt, and the chain is whole
// when there is space again.
func TestNothingLeavesWhileTheJournalCannotBeWritten(t *testing.T) {
	f := newFixture(t)
	left := 1 << 30
	j := NewJournal(f.db, JournalConfig{FS: failing{left: &left}})
	_, err := j.Start(f.ctx, f.now())
	f.must(err)
	c := f.proven("Hello", numbers(40)...)
	var attempts []*sms.Attempt
	for range 8 {
		attempts = append(attempts, f.claim(3))
	}
	for _, a := range attempts[:4] {
		f.license(a)
	}
	left = 0
	var all sync.WaitGroup
	for _, a := range attempts[:4] {
		all.Go(func() {
			if j.Append(a) == nil {
				t.Error("a line was written on a full disk")
			}
		})
	}
	all.Wait()
	for _, a := range attempts[4:] {
		if err := f.db.License(f.ctx, a, f.now()); err == nil || j.Stuck() == nil {
			t.Error("licensed while the journal cannot be written")
		}
	}
	for _, a := range attempts {
		f.settle(a, sms.Outcome{Class: sms.ClassNothingLeft, Reason: "the journal cannot be written"})
	}
	f.wantStates(c.ID, map[sms.State]int{sms.Queued: 40})
	j.tried = time.Time{}
	if err := j.Ready(f.ctx); err == nil {
		t.Error("the journal is ready on a full disk")
	}
	left = 1 << 30
	if err := j.Ready(f.ctx); err == nil {
		t.Error("it was tried again at once")
	}
	j.tried = time.Time{}
	f.must(j.Ready(f.ctx))
	l := ledger{}
	if n := f.send(j, l, 99); n != 14 || l.twice() != 0 {
		t.Errorf("%d requests went out, %d people twice", n, l.twice())
	}
	if lines, _, err := j.Damage(f.ctx); err != nil || lines != 0 {
		t.Errorf("%d lines are damaged, %v", lines, err)
	}
	f.must(j.Close())
	if q := f.relation(); q.Relation != health.RelationAgrees {
		t.Errorf("%s", q.Relation)
	}
	f.check()
}

// TestAKillWhileTheJournalIsFullIsNoCopy: the lines of requests that never left
// are put back at the next start.
func TestAKillWhileTheJournalIsFullIsNoCopy(t *testing.T) {
	for _, settled := range []bool{false, true} {
		f := newFixture(t)
		left := 1 << 30
		j := NewJournal(f.db, JournalConfig{FS: failing{left: &left}})
		_, err := j.Start(f.ctx, f.now())
		f.must(err)
		f.proven("Hello", numbers(9)...)
		a := f.license(f.claim(3))
		left = 0
		if j.Append(a) == nil {
			t.Fatal("written on a full disk")
		}
		if settled {
			f.settle(a, sms.Outcome{Class: sms.ClassNothingLeft})
		}
		f.reopen(t)
		if q := f.relation(); q.Relation != health.RelationCutOff {
			t.Errorf("settled %v: %s", settled, q.Relation)
		}
		f.must(f.journal().Close())
	}
}

// TestACommitThatWasReportedAsFailed: its line is in the database although
// nobody was told. It ends as a request of which nothing left.
func TestACommitThatWasReportedAsFailed(t *testing.T) {
	f := newFixture(t)
	j := f.journal()
	c := f.proven("Hello", numbers(9)...)
	a := f.claim(3)
	twin := *a
	f.db.journal.Store(nil) // nobody hears of this one
	f.must(f.db.License(f.ctx, &twin, f.now()))
	f.db.journal.Store(j)
	f.settle(a, sms.Outcome{Class: sms.ClassNothingLeft, Reason: "commit the licence: disk I/O error"})
	f.wantStates(c.ID, map[sms.State]int{sms.Queued: 9})
	b := f.license(f.claim(3))
	if j.Append(b) == nil {
		t.Error("a line went to the journal before the one that it follows")
	}
	f.settle(b, sms.Outcome{Class: sms.ClassNothingLeft})
	j.tried = time.Time{}
	f.must(j.Ready(f.ctx))
	l := ledger{}
	f.send(j, l, 99)
	if len(l) != 9 || l.twice() != 0 {
		t.Errorf("%v", l)
	}
	f.must(j.Close())
	if q := f.relation(); q.Relation != health.RelationAgrees {
		t.Errorf("%s", q.Relation)
	}
}

// journalDamage is what happened to the journal beside an older database.
type journalDamage struct {
	name string
	do   func(f *fixture, atBackup []byte)
	want health.Relation
	// unsure says that the journal lacks some of what was sent.
	unsure bool
}

func damages(f *fixture) []journalDamage {
	path := f.segment(1)
	list := []journalDamage{
		{"kept", func(*fixture, []byte) {}, health.RelationAhead, false},
		{"missing", func(f *fixture, _ []byte) { f.must(os.RemoveAll(filepath.Join(f.data, journalFolder))) },
			health.RelationBehind, true},
		{"empty folder", func(f *fixture, _ []byte) { f.must(os.Remove(path)) }, health.RelationBehind, true},
		{"empty file", func(f *fixture, _ []byte) { f.write(path, nil) }, health.RelationBehind, true},
		{"older than the database", func(f *fixture, old []byte) {
			f.write(path, old[:bytes.LastIndexByte(old[:len(old)-1],
				'\n')+1])
		}, health.RelationBehind, true},
		{"of another desk", func(f *fixture, _ []byte) {
			f.write(path, bytes.Replace(f.read(path), []byte(f.db.desk), []byte(randomHex(16)), 1))
			f.resum(path)
		}, health.RelationForeign, true},
		{"rubbish at its end", func(f *fixture, _ []byte) {
			f.write(path, append(f.read(path), bytes.Repeat([]byte("rubbish\x00"), 150_000)...))
		}, health.RelationDamaged, false},
		{"zeros at its end", func(f *fixture, _ []byte) { f.write(path, append(f.read(path), make([]byte, 4096)...)) },
			health.RelationAhead, false},
		{"last line cut by 20 bytes", func(f *fixture, _ []byte) { raw := f.read(path); f.write(path, raw[:len(raw)-20]) },
			health.RelationDamaged, true},
		{"flipped behind the copy", func(f *fixture, old []byte) {
			raw := f.read(path)
			for i := len(old) + 300; i < len(raw); i++ {
				raw[i] ^= 0x10
			}
			f.write(path, raw)
		}, health.RelationDamaged, true},
	}
	return list
}

// resum makes a changed first line whole again.
func (f *fixture) resum(path string) {
	f.t.Helper()
	first, rest, _ := bytes.Cut(f.read(path), []byte("\n"))
	body := first[:bytes.LastIndexByte(first, ' ')]
	f.write(path, slices.Concat(body, []byte(" "+lineSum(body)+"\n"), rest))
}

// TestAnOlderDatabaseRepeatsNobody: the database of before comes back, whatever
// became of the journal. Nothing is sent until a person has answered and then
// continued; and what the journal could tell is not sent then either.
func TestAnOlderDatabaseRepeatsNobody(t *testing.T) {
	for i := range damages(newFixture(t)) {
		f := newFixture(t)
		d := damages(f)[i]
		t.Run(d.name, func(t *testing.T) {
			f.t = t
			j, l := f.journal(), ledger{}
			f.proven("Hello", numbers(30)...)
			f.send(j, l, 3)
			copied, old := f.backup(t), f.read(f.segment(1))
			f.send(j, l, 4)
			f.must(j.Close())
			d.do(f, old)
			f.restore(t, copied)
			q := f.relation()
			if q.Relation != d.want || q.Relation.MaySend() {
				t.Fatalf("%s: %s", q.Relation, q.Sentence(time.UTC))
			}
			if _, err := NewJournal(f.db, JournalConfig{}).Start(f.ctx, f.now()); !errors.Is(err, ErrQuestion) {
				t.Fatalf("started: %v", err)
			}
			if d.want == health.RelationAhead && (q.Messages != 12 || len(q.Campaigns) != 1 || q.KnownUntil == 0) {
				t.Errorf("%+v", q)
			}
			done := f.accept()
			if s := done.Sentence(time.UTC); done.Campaigns != 1 || strings.Contains(s, "0 messages") {
				t.Errorf("%+v: %s", done, s)
			}
			j = f.journal()
			if n := f.send(j, l, 99); n != 0 {
				t.Errorf("%d requests went out before a person continued", n)
			}
			f.goOn()
			f.send(j, l, 99)
			if got := l.twice(); (got > 0) != d.unsure || !d.unsure && len(l)+int(done.Doubtful) < 30 {
				t.Errorf("%d people twice, %d reached, %d in doubt", got, len(l), done.Doubtful)
			}
			f.check()
			f.must(j.Close())
			f.must(f.journal().Close())
			if gap, err := f.db.OpenGap(f.ctx, f.now()); err != nil || gap.ID == 0 || gap.AcceptedBy != "Ada Obi" {
				t.Errorf("%+v %v", gap, err)
			}
		})
	}
}

// TestEveryDamageIsAQuestion: one bit anywhere behind the database's head, and
// a cut at any byte. Before the head it is damage that is only told.
func TestEveryDamageIsAQuestion(t *testing.T) {
	f := newFixture(t)
	j, l := f.journal(), ledger{}
	f.proven("Hello", numbers(30)...)
	f.send(j, l, 2)
	copied, head := f.backup(t), len(f.read(f.segment(1)))
	f.send(j, l, 3)
	whole := f.read(f.segment(1))
	f.restore(t, copied)
	lastOfHead := bytes.LastIndexByte(whole[:head-1], '\n') + 1
	for at := 0; at < len(whole); at += 11 {
		flipped := bytes.Clone(whole)
		flipped[at] ^= 1 << (at % 7)
		f.write(f.segment(1), flipped)
		q := f.relation()
		if q.Relation.MaySend() || at >= head && q.Relation != health.RelationDamaged {
			t.Fatalf("a bit at %d of %d, the head is at %d: %s", at, len(whole), lastOfHead, q.Relation)
		}
		f.write(f.segment(1), whole[:at])
		if q := f.relation(); q.Relation.MaySend() && (at < lastOfHead || at > head) {
			t.Fatalf("cut at %d of %d: %s", at, len(whole), q.Relation)
		}
	}
	// The same beside the newest database: damage before its head holds nothing up.
	f.write(f.segment(1), whole)
	f.accept()
	j = f.journal()
	f.must(j.Close())
	whole = f.read(f.segment(1))
	for at := bytes.IndexByte(whole, '\n') + 1; at < lastOfHead; at += 17 {
		flipped := bytes.Clone(whole)
		flipped[at] ^= 4
		f.write(f.segment(1), flipped)
		if q := f.relation(); q.Relation != health.RelationAgrees {
			t.Fatalf("a bit at %d: %s", at, q.Relation)
		}
		if lines, segment, err := NewJournal(f.db, JournalConfig{}).Damage(f.ctx); err != nil || lines == 0 || segment == "" {
			t.Fatalf("a bit at %d is not seen: %v", at, err)
		}
	}
}

// TestAWrongClockDecidesNothing: a campaign was made and sent while the clock
// was an hour fast.
func TestAWrongClockDecidesNothing(t *testing.T) {
	f := newFixture(t)
	f.clock.Add(time.Hour.Milliseconds())
	j, l := f.journal(), ledger{}
	f.proven("Hello", numbers(9)...)
	f.clock.Add(-time.Hour.Milliseconds())
	copied := f.backup(t)
	f.send(j, l, 9)
	f.restore(t, copied)
	if done := f.accept(); done.Doubtful != 9 || done.Messages != 9 {
		t.Errorf("%+v", done)
	}
	f.goOn()
	if j = f.journal(); f.send(j, l, 9) != 0 || l.twice() != 0 {
		t.Errorf("%d twice", l.twice())
	}
}

// TestACampaignThatIsMadeAgainLeavesOutWhoGotIt: the copy was made before the
// campaign, so that nothing of it is known but hashes.
func TestACampaignThatIsMadeAgainLeavesOutWhoGotIt(t *testing.T) {
	f := newFixture(t)
	links, err := sms.NewStopLinks("https://one.example.org", f.stopKey())
	f.must(err)
	elsewhere, err := sms.NewStopLinks("https://two.example.org", f.stopKey())
	f.must(err)
	text := func(l *sms.StopLinks, account int64) string {
		return "Hello,  stop:\n" + l.Link(account, 2348030000001)
	}
	copied := f.backup(t)
	j, l := f.journal(), ledger{}
	c := f.start(text(links, 7), numbers(3)...)
	f.send(j, l, 9)
	group := f.newGroup("To all", "77")
	f.set(group.ID, sms.CampaignRunning)
	f.send(j, l, 9)
	if len(l) != 4 {
		t.Fatalf("%v", l)
	}
	f.restore(t, copied)
	if q := f.relation(); q.Relation.MaySend() || q.Messages != 4 || len(q.Campaigns) != 2 ||
		q.Campaigns[1].Name != c.Name {
		t.Fatalf("%+v", q)
	}
	f.accept()
	j = f.journal()
	again := f.start(strings.Join(strings.Fields(text(elsewhere, 9)), " "), numbers(4)...)
	other := f.newGroup("To all", "77")
	f.set(other.ID, sms.CampaignRunning)
	f.send(j, l, 9)
	f.wantStates(again.ID, map[sms.State]int{sms.Skipped: 3, sms.Accepted: 1})
	f.wantStates(other.ID, map[sms.State]int{sms.Skipped: 1})
	for _, m := range f.messages(again.ID)[:3] {
		if m.Code != health.CodeRemembered || !strings.Contains(m.Reason, "which this copy of the database does not know") {
			t.Errorf("%+v", m)
		}
	}
	on := f.newDraft(text(links, 7), numbers(9)[2:]...)
	found, parts, err := f.db.RememberedIn(f.ctx, on)
	if err != nil || len(found) != 1 || found[0].Name != c.Name || found[0].Messages != 1 || parts != 1 ||
		found[0].LastAt == 0 {
		t.Errorf("%+v %d %v", found, parts, err)
	}
	toGroup := f.newGroup("To all", "77")
	if found, _, err := f.db.RememberedIn(f.ctx, toGroup); err != nil || len(found) != 1 || found[0].Name != group.Name {
		t.Errorf("%+v %v", found, err)
	}
	on = f.newDraft(text(links, 7), numbers(3)...)
	f.must(f.db.IncludeSent(f.ctx, on.ID))
	if on, err = f.db.Campaign(f.ctx, on.ID); err != nil || !on.IncludeSent {
		t.Errorf("%+v %v", on, err)
	}
	if found, _, err := f.db.RememberedIn(f.ctx, on); err != nil || len(found) > 0 {
		t.Errorf("%+v %v", found, err)
	}
	f.set(on.ID, sms.CampaignRunning)
	f.send(j, l, 9)
	f.wantStates(on.ID, map[sms.State]int{sms.Accepted: 3})
	f.clock.Add(rememberedFor.Milliseconds() + time.Hour.Milliseconds())
	later := f.start(text(links, 7), numbers(3)...)
	if found, _, err := f.db.RememberedIn(f.ctx, later); err != nil || len(found) > 0 {
		t.Errorf("a week later %+v %v", found, err)
	}
	f.send(j, l, 9)
	f.wantStates(later.ID, map[sms.State]int{sms.Accepted: 3})
	if n, err := f.db.DeleteRemembered(f.ctx, 0, f.now()); err != nil || n != 4 || f.db.remembers.Load() {
		t.Errorf("%d forgotten, %v", n, err)
	}
	f.check()
}

func (f *fixture) stopKey() []byte {
	key, err := f.db.StopKey()
	f.must(err)
	return key
}

// TestACopyIntoTheMiddleOfAClaim: it knows the attempt but not that it was
// licensed.
func TestACopyIntoTheMiddleOfAClaim(t *testing.T) {
	f := newFixture(t)
	j := f.journal()
	c := f.proven("Hello", numbers(5)...)
	a := f.claim(3)
	copied := f.backup(t)
	f.license(a)
	f.must(j.Append(a))
	f.settle(a, answer(a))
	f.restore(t, copied)
	if done := f.accept(); done.Doubtful != 3 {
		t.Fatalf("%+v", done)
	}
	f.wantStates(c.ID, map[sms.State]int{sms.InDoubt: 3, sms.Queued: 2})
	f.check()
}

// TestADraftThatWasSentInTheLostTime stays a draft; who got it is left out when
// it is started.
func TestADraftThatWasSentInTheLostTime(t *testing.T) {
	f := newFixture(t)
	j, l := f.journal(), ledger{}
	c := f.newDraft("Hello", numbers(6)...)
	copied := f.backup(t)
	f.set(c.ID, sms.CampaignRunning)
	f.send(j, l, 1)
	f.restore(t, copied)
	f.accept()
	f.wantStates(c.ID, map[sms.State]int{sms.Draft: 6})
	j = f.journal()
	f.set(c.ID, sms.CampaignRunning)
	f.send(j, l, 9)
	if l.twice() != 0 || len(l) != 6 {
		t.Errorf("%v", l)
	}
	f.check()
}

// TestAcceptMayBeCutOffAnywhere: at each write of the database and the journal
// the same question is there again, and answering it then is enough.
func TestAcceptMayBeCutOffAnywhere(t *testing.T) {
	for nth := 1; nth <= 4; nth++ {
		f := newFixture(t)
		j, l := f.journal(), ledger{}
		f.proven("Hello", numbers(12)...)
		copied := f.backup(t)
		f.send(j, l, 2)
		f.restore(t, copied)
		left := nth
		_, err := NewJournal(f.db, JournalConfig{FS: failing{left: &left}}).Accept(f.ctx, "Ada", time.UTC, f.now())
		f.reopen(t)
		if err != nil {
			if q := f.relation(); q.Relation.MaySend() {
				t.Fatalf("fault %d: %s", nth, q.Relation)
			}
			f.accept()
		}
		j = f.journal()
		f.goOn()
		f.send(j, l, 99)
		if l.twice() != 0 {
			t.Errorf("fault %d: %d twice", nth, l.twice())
		}
		f.check()
	}
}

// TestACopyWithAMarkAlwaysAsks, even where nothing was sent since.
func TestACopyWithAMarkAlwaysAsks(t *testing.T) {
	f := newFixture(t)
	j := f.journal()
	f.proven("Hello", numbers(3)...)
	f.must(j.Close())
	f.must(f.db.PutSetting(f.ctx, health.SettingCopy, `{"uid":"a","madeAt":1700000000000,"by":"J. Otieno","head":1}`))
	q := f.relation()
	if q.Relation != health.RelationCopy || q.Beneath != health.RelationAgrees || !strings.Contains(q.Sentence(time.UTC),
		"the backup of 14 November 2023") {
		t.Fatalf("%+v %s", q, q.Sentence(time.UTC))
	}
	if done := f.accept(); done.Campaigns != 1 {
		t.Errorf("%+v", done)
	}
	f.must(f.journal().Close())
}

// TestTwoHistories: the copy has sent by itself beside another journal.
func TestTwoHistories(t *testing.T) {
	f := newFixture(t)
	j, l := f.journal(), ledger{}
	f.proven("Hello", numbers(30)...)
	f.send(j, l, 1)
	copied, old := f.backup(t), f.read(f.segment(1))
	f.send(j, l, 3)
	newest := f.read(f.segment(1))
	f.restore(t, copied)
	f.write(f.segment(1), old)
	j = f.journal()
	f.send(j, l, 1)
	f.must(j.Close())
	f.write(f.segment(1), newest)
	f.reopen(t)
	q := f.relation()
	if q.Relation != health.RelationDiverged || q.Messages != 9 {
		t.Fatalf("%s %s", q.Relation, q.Sentence(time.UTC))
	}
	twice := l.twice()
	f.accept()
	j = f.journal()
	f.goOn()
	f.send(j, l, 99)
	if l.twice() != twice {
		t.Errorf("%d twice, %d before", l.twice(), twice)
	}
	f.check()
}

// TestAnotherKeyIsTold and does not look like a journal that knows nothing.
func TestAnotherKeyIsTold(t *testing.T) {
	f := newFixture(t)
	f.must(f.journal().Close())
	key := f.db.people.key
	f.db.people.key = []byte("another key")
	if q := f.relation(); q.Relation != health.RelationForeign || !strings.Contains(q.Sentence(time.UTC), "another key") {
		t.Errorf("%s", q.Sentence(time.UTC))
	}
	f.db.people.key = key
}

// TestAJournalOnAnotherDisk: a start without the flag, or without the disk, is
// not a start without a journal.
func TestAJournalOnAnotherDisk(t *testing.T) {
	f := newFixture(t)
	disk := t.TempDir()
	j := NewJournal(f.db, JournalConfig{Dir: disk})
	_, err := j.Start(f.ctx, f.now())
	f.must(err)
	f.must(j.Close())
	if q := f.relation(); q.Relation != health.RelationBehind ||
		!strings.Contains(q.Sentence(time.UTC), "--journal "+disk) {
		t.Errorf("%s %s", q.Relation, q.Sentence(time.UTC))
	}
	q, err := NewJournal(f.db, JournalConfig{Dir: disk}).Compare(f.ctx, false)
	if err != nil || q.Relation != health.RelationAgrees {
		t.Errorf("%s %v", q.Relation, err)
	}
	away := filepath.Join(t.TempDir(), "away")
	f.must(os.Rename(filepath.Join(disk, journalFolder), away))
	if q, err := NewJournal(f.db, JournalConfig{Dir: disk}).Compare(f.ctx, false); err != nil ||
		q.Relation != health.RelationBehind {
		t.Errorf("%s %v", q.Relation, err)
	}
}

// TestAnOlderProgramCannotLicense: its statement knows nothing of lines.
func TestAnOlderProgramCannotLicense(t *testing.T) {
	f := newFixture(t)
	f.proven("Hello", numbers(3)...)
	a := f.claim(3)
	_, err := f.db.writer.ExecContext(f.ctx, "update attempt set state = 'sending', licensed_at = 1 where id = $1", a.ID)
	if err == nil || !strings.Contains(err.Error(), "without its line") {
		t.Errorf("%v", err)
	}
}

// TestTwoStartsOfOneDatabase: the earlier process can license no more.
func TestTwoStartsOfOneDatabase(t *testing.T) {
	f := newFixture(t)
	j := f.journal()
	f.proven("Hello", numbers(3)...)
	f.must(f.db.update(f.ctx, "another start", func(t *tx) error {
		_, err := t.sql.ExecContext(f.ctx, "update journal_head set generation = generation + 1")
		return err
	}))
	if err := f.db.License(f.ctx, f.claim(3), f.now()); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("%v", err)
	}
	f.must(j.Close())
}

// TestSegmentsAreKeptAsLongAsTheyAreNeeded and removed after that.
func TestSegmentsAreKeptAsLongAsTheyAreNeeded(t *testing.T) {
	f := newFixture(t)
	j, l := f.journal(), ledger{}
	f.proven("Hello", numbers(9)...)
	f.send(j, l, 1)
	f.must(j.log.Roll())
	f.send(j, l, 1)
	f.must(j.log.Roll())
	f.send(j, l, 1)
	old := f.now() + journalKept.Milliseconds() - time.Hour.Milliseconds()
	f.must(j.Forget(f.ctx, old))
	if n := len(j.log.Segments()); n != 3 {
		t.Errorf("%d segments", n)
	}
	old += 2 * time.Hour.Milliseconds()
	f.must(j.Forget(f.ctx, old))
	if n := len(j.log.Segments()); n != 1 {
		t.Errorf("%d segments", n)
	}
	f.must(j.Close())
	f.must(f.journal().Close())
}
