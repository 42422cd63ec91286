package storage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/gateway"
	"smsdesk/internal/health"
	"smsdesk/internal/migrated"
	"smsdesk/internal/sms"
	"smsdesk/internal/workers"
)

// crashLife is a campaign on a disk that fails, over as many processes as it
// takes, with what the service has carried out as the oracle.
type crashLife struct {
	t       *testing.T
	data    string
	disk    *crashDisk
	account sms.Account
	now     int64
	sent    map[string]int  // by number: how often
	reports map[string]bool // that were acknowledged, by provider ID
	owed    []string        // that the service still has to hand over
}

const crashPeople = 3

// crashDesk is a folder with a campaign that may be sent.
var crashDesk = &migrated.Template{Make: func(data string) error {
	if err := schema.Copy(data); err != nil {
		return err
	}
	db, err := Open(context.Background(), Config{Data: data})
	if err != nil {
		return err
	}
	f := &fixture{t: panics{}, ctx: context.Background(), db: db, data: data, clock: new(atomic.Int64)}
	f.clock.Store(began)
	f.other(f.t, "Clinic").proven("Hello", numbers(crashPeople)...)
	return db.Close()
}}

// panics is for a fixture that belongs to no test.
type panics struct{}

func (panics) Helper() {}

func (panics) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (panics) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func newCrashLife(t *testing.T) *crashLife {
	t.Helper()
	l := &crashLife{t: t, data: crashDesk.Folder(t), account: sms.Account{ID: 1}, now: began + 1_000_000,
		sent: map[string]int{}, reports: map[string]bool{}}
	l.disk = newCrashDisk(t, l.data)
	return l
}

// crashProcess is one run of the program.
type crashProcess struct {
	*fixture
	life    *crashLife
	journal *Journal
	inbox   *Inbox
	logged  *ReportLog
	reports *workers.Receiver
	stop    func()
}

// start opens everything; the error says how far it came.
func (l *crashLife) start() (*crashProcess, error) {
	l.t.Helper()
	p := &crashProcess{life: l}
	p.fixture = &fixture{t: l.t, ctx: context.Background(), data: l.data, account: l.account, clock: new(atomic.Int64)}
	p.clock.Store(l.now)
	var err error
	if p.db, err = Open(p.ctx, Config{Data: l.data}); err != nil {
		return nil, err
	}
	err = p.openReports()
	p.journal = NewJournal(p.db, JournalConfig{Program: "test", FS: l.disk.logs()})
	if err == nil {
		var q health.Question
		if q, err = p.journal.Start(p.ctx, l.now); err != nil {
			err = fmt.Errorf("%s: %w", q.Sentence(time.UTC), err)
		}
	}
	if err == nil {
		err = errors.Join(p.logged.Create(), p.reports.Replay(p.ctx))
	}
	if err == nil {
		p.epoch, err = p.db.TakeLease(p.ctx, l.account.ID)
	}
	if err == nil {
		_, _, err = p.db.Recover(p.ctx, l.account.ID, p.now())
	}
	ctx, cancel := context.WithCancel(p.ctx)
	var writing sync.WaitGroup
	if p.inbox != nil {
		writing.Go(func() { _ = p.inbox.Run(ctx, func() {}, func(int, error) {}) })
	}
	p.stop = func() {
		l.now = p.clock.Load()
		cancel()
		writing.Wait()
		if p.inbox != nil {
			_ = p.inbox.Close()
		}
		if p.logged != nil {
			_ = p.logged.Close()
		}
		_ = p.journal.Close()
		_ = p.db.Close()
	}
	if err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

func (p *crashProcess) openReports() error {
	cursor, err := p.db.InboxCursor(p.ctx)
	if err != nil {
		return err
	}
	if p.logged, err = p.db.openReportLog(p.ctx, p.data, time.Now, p.life.disk.logs()); err != nil {
		return err
	}
	applied, err := p.db.LogCursor(p.ctx)
	if err != nil {
		return err
	}
	p.inbox = NewInbox(p.data, filepath.Join(p.data, "spool"))
	p.inbox.LogWith(p.logged, applied)
	p.reports = workers.NewReceiver(p.inbox, p.db, gateway.ParseReport, feed.New(), slog.New(slog.DiscardHandler),
		time.Now)
	p.reports.ReplayFrom(p.logged)
	if err := p.inbox.Open(p.ctx, cursor); err != nil {
		return err
	}
	_, err = p.inbox.Meet(p.ctx, p.db)
	return err
}

// work sends and takes reports until there is no more to do, or something fails
// for good.
func (p *crashProcess) work() error {
	for {
		if _, err := again(p.ready); err != nil {
			return err
		}
		claim, err := again(func() (sms.Claim, error) { return p.db.Claim(p.ctx, p.order(0, 2), p.now()) })
		if err != nil {
			return err
		}
		if claim.Attempt == nil {
			return p.take()
		}
		if err := p.call(claim.Attempt); err != nil {
			return err
		}
		if err := p.take(); err != nil {
			return err
		}
	}
}

// ready brings the journal into order after a fault, without the rest that it
// takes between two tries.
func (p *crashProcess) ready() (struct{}, error) {
	p.journal.mu.Lock()
	p.journal.tried = time.Time{}
	p.journal.mu.Unlock()
	return struct{}{}, p.journal.Ready(p.ctx)
}

// call is one attempt: where the licence is not certain, nothing leaves.
func (p *crashProcess) call(a *sms.Attempt) error {
	o := sms.Outcome{Class: sms.ClassNothingLeft, Reason: "The licence could not be stored."}
	if p.db.License(p.ctx, a, p.now()) == nil && p.journal.Append(a) == nil {
		o = answer(a)
		for _, r := range a.Call.Recipients {
			p.life.sent[r.Number]++
			p.life.owed = append(p.life.owed, providerID(r.MessageID)+" "+r.Number)
		}
	}
	_, err := again(func() (bool, error) { return p.trySettle(a, o) })
	return err
}

// take has the service hand over the reports that it owes, and applies them.
func (p *crashProcess) take() error {
	for _, owed := range slices.Clone(p.life.owed) {
		var id, number string
		if _, err := fmt.Sscan(owed, &id, &number); err != nil {
			return err
		}
		q := url.Values{"messageId": {id}, "mobile": {number}, "status": {"DELIVRD"}}.Encode()
		if err := p.inbox.Keep(p.ctx, sms.RawReport{AccountID: p.account.ID, ReceivedAt: p.now(), Query: q}); err != nil {
			return err
		}
		p.life.reports[id] = true
		p.life.owed = slices.DeleteFunc(p.life.owed, func(s string) bool { return s == owed })
	}
	for p.inbox.spool.waits() && !p.life.disk.struck() {
		time.Sleep(time.Millisecond)
	}
	_, err := again(func() (struct{}, error) { return struct{}{}, p.reports.Drain(p.ctx) })
	return err
}

// again tries twice more, as the desk does what it must not give up.
func again[T any](try func() (T, error)) (v T, err error) {
	for range 3 {
		if v, err = try(); err == nil {
			break
		}
	}
	return v, err
}

// check opens the folder on a disk that is well again, and goes on to the end.
func (l *crashLife) check() error {
	p, err := l.start()
	if err != nil {
		return fmt.Errorf("the folder does not open any more: %w", err)
	}
	defer p.stop()
	if err := errors.Join(p.db.Check(p.ctx), p.work()); err != nil {
		return err
	}
	wrong, err := p.db.CountMismatches(p.ctx)
	if err != nil || len(wrong) > 0 {
		return fmt.Errorf("%+v, %v", wrong, err)
	}
	for _, m := range p.messages(1) {
		switch n := l.sent[m.Number]; {
		case n > 1:
			return fmt.Errorf("%s was sent %d times", m.Number, n)
		case n == 0 && m.State != sms.InDoubt:
			return fmt.Errorf("%s is %s and was never sent", m.Number, m.State)
		case n == 1 && m.State != sms.InDoubt && m.State != sms.Accepted:
			return fmt.Errorf("%s is %s and was sent", m.Number, m.State)
		}
	}
	for id := range l.reports {
		if known, err := p.db.knowsReport(p.ctx, id); err != nil || !known {
			return fmt.Errorf("the acknowledged report of %s is lost (%v)", id, err)
		}
	}
	return nil
}

// knowsReport says whether a report with this ID is stored.
func (db *DB) knowsReport(ctx context.Context, id string) (known bool, err error) {
	const question = "select exists (select 1 from delivery_report where provider_id = ?)"
	err = db.reader.QueryRowContext(ctx, question, id).Scan(&known)
	return known, err
}

// TestEveryFault has each write, each sync and each change of the folder fail
// once, in turn, and power cut at each. Every second write that fails leaves
// half of itself, and every second cut loses all that is not synced, not some.
// The gate takes turns: odd operations fail and power is cut at even ones; make
// soak does both at each.
func TestEveryFault(t *testing.T) {
	seeds, step := uint64(1), 2
	if os.Getenv("SMSDESK_SOAK") != "" {
		seeds, step = 50, 1
	}
	for first, cut := range []bool{false, true} {
		t.Run(fmt.Sprintf("cut %v", cut), func(t *testing.T) {
			t.Parallel()
			n := 1 + first
			for ; ; n += step {
				struck := false
				for seed := range seeds {
					var chance *rand.Rand
					if (uint64(n/step)+seed)%2 == 0 {
						chance = rand.New(rand.NewPCG(uint64(n), seed))
					}
					did, err := crashAt(t, n, cut, chance != nil, false, chance)
					if err != nil {
						t.Fatalf("operation %d, cut %v, seed %d: %v", n, cut, seed, err)
					}
					struck = struck || did
				}
				if !struck {
					break
				}
			}
			t.Logf("%d operations", n-1)
			if n < 100 {
				t.Error("the campaign hardly used the disk")
			}
		})
	}
}

// crashAt plays the campaign with one fault; false: it did not come so far.
func crashAt(t *testing.T, n int, cut, half, lies bool, chance *rand.Rand) (struck bool, err error) {
	t.Helper()
	l := newCrashLife(t)
	l.disk.half, l.disk.lies = half, lies
	l.disk.arm(n, cut)
	if p, err := l.start(); err == nil {
		if err := p.work(); err != nil && !l.disk.struck() {
			return false, err
		}
		p.stop()
	}
	struck = l.disk.struck()
	l.disk.restart(t, chance)
	return struck, l.check()
}

// A disk that only says that it has synced is found out, or these tests would
// find nothing.
func TestADiskThatLiesIsNoticed(t *testing.T) {
	for n := 1; ; n += 7 {
		struck, err := crashAt(t, n, true, false, true, nil)
		if err != nil {
			t.Logf("operation %d: %v", n, err)
			return
		}
		if !struck {
			t.Fatal("nothing was noticed")
		}
	}
}
