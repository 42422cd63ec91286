package desk_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
	"smsdesk/internal/workers"
	"smsdesk/storage"
)

// brittle is a database that cannot be written while it is full.
type brittle struct {
	*storage.DB
	full    atomic.Bool
	refused atomic.Int64 // writes while it was full
}

var errFullDisk = sms.Troubled{Trouble: sms.TroubleFull, Err: errors.New("database or disk is full")}

func (b *brittle) broken() error {
	if b.full.Load() {
		b.refused.Add(1)
		return errFullDisk
	}
	return nil
}

func (b *brittle) Claim(ctx context.Context, o sms.ClaimOrder, now int64) (sms.Claim, error) {
	if err := b.broken(); err != nil {
		return sms.Claim{}, err
	}
	return b.DB.Claim(ctx, o, now)
}

func (b *brittle) License(ctx context.Context, a *sms.Attempt, now int64) error {
	if err := b.broken(); err != nil {
		return err
	}
	return b.DB.License(ctx, a, now)
}

func (b *brittle) Settle(ctx context.Context, a *sms.Attempt, s sms.Settlement, o sms.Outcome, country string,
	judge func(sms.Canary, []sms.Finished) sms.Verdict, now int64) (bool, error) {
	if err := b.broken(); err != nil {
		return false, err
	}
	return b.DB.Settle(ctx, a, s, o, country, judge, now)
}

func (b *brittle) SettleKept(ctx context.Context, u sms.Unsettled,
	judge func(sms.Canary, []sms.Finished) sms.Verdict) (sms.Attempt, bool, bool, error) {
	if err := b.broken(); err != nil {
		return sms.Attempt{}, true, false, err
	}
	return b.DB.SettleKept(ctx, u, judge)
}

// onBrittle lets the rig's Dispatchers work on a database that can fail.
func (r *rig) onBrittle() (*brittle, *workers.Outage) {
	b := &brittle{DB: r.db}
	outage := workers.NewOutage(slog.New(slog.DiscardHandler), time.Now)
	r.store = b
	r.endures = func(d *workers.Dispatcher) {
		reserve := storage.NewReserve(r.data, "")
		r.t.Cleanup(func() { _ = reserve.Close() })
		d.Endure(reserve, outage)
	}
	return b, outage
}

// reserved lists what another process would find in the reserve.
func (r *rig) reserved() []sms.Unsettled {
	r.t.Helper()
	reserve := storage.NewReserve(r.data, "")
	list, err := reserve.Kept()
	if err := errors.Join(err, reserve.Close()); err != nil {
		r.t.Fatal(err)
	}
	return list
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(15 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// sending counts the messages of calls that are licensed and not settled.
func (r *rig) sending(campaign int64) (n int) {
	r.t.Helper()
	list, _, err := r.db.Messages(r.ctx, sms.MessageFilter{CampaignID: campaign, Limit: 1000})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, m := range list {
		if m.State == sms.Sending {
			n++
		}
	}
	return n
}

// fillInFlight makes the database fail while several calls are under way, and
// waits until the outcomes of all of them are in the reserve. It returns how
// many messages they are about.
func (r *rig) fillInFlight(b *brittle, campaign int64) (flying int) {
	r.t.Helper()
	eventually(r.t, "several calls under way", func() bool { return r.sending(campaign) >= 40 })
	b.full.Store(true)
	time.Sleep(100 * time.Millisecond) // what is being stored gets to its end
	if flying = r.sending(campaign); flying < 20 {
		r.t.Fatalf("only %d messages were under way", flying)
	}
	eventually(r.t, "all outcomes in the reserve", func() bool { return len(r.reserved())*10 >= flying })
	return flying
}

func (r *rig) once(n int) {
	r.t.Helper()
	if got := r.ledger(); len(got) != n {
		r.t.Errorf("%d numbers were executed, want %d", len(got), n)
	}
	for number, times := range r.ledger() {
		if times != 1 {
			r.t.Errorf("%s was executed %d times", number, times)
		}
	}
}

// TestAFullDatabaseDoubtsNothing: outcomes wait, nothing is claimed meanwhile,
// it is said why, and the Dispatcher goes on by itself.
func TestAFullDatabaseDoubtsNothing(t *testing.T) {
	r := newRig(t, sandbox.Config{Faults: sandbox.Faults{Latency: 300 * time.Millisecond}}, nil)
	b, outage := r.onBrittle()
	c := r.start(r.draft("CLINIC", "Hello", ordinary(400)...))
	r.dispatch()
	flying := r.fillInFlight(b, c.ID)
	eventually(t, "the outage to be told", func() bool { return strings.Contains(outage.Sentence(), "full") })
	executed := len(r.ledger())
	before := b.refused.Load()
	time.Sleep(3 * time.Second)
	if now := len(r.ledger()); now != executed {
		t.Errorf("%d messages were sent although nothing could be stored", now-executed)
	}
	// Each outcome and each account's claim is tried about once a second.
	if tries := b.refused.Load() - before; tries > 50 {
		t.Errorf("%d tries in 3 seconds", tries)
	}
	if tally, err := r.db.Tally(r.ctx, c.ID); err != nil || tally["doubt"] != 0 || r.sending(c.ID) != flying {
		t.Errorf("tally %v, %v", tally, err)
	}
	b.full.Store(false)
	_, tally := r.until(c.ID, "the end", finished)
	if tally["network"] != 400 {
		t.Errorf("tally %v", tally)
	}
	r.once(400)
	eventually(t, "the reserve to be empty", func() bool { return len(r.reserved()) == 0 })
	if outage.Sentence() != "" {
		t.Errorf("the outage is still told: %s", outage.Sentence())
	}
}

// TestTheNextProcessStoresWhatWasKept: the one before it was stopped while the
// database was full, also at once when it starts with a full one.
func TestTheNextProcessStoresWhatWasKept(t *testing.T) {
	r := newRig(t, sandbox.Config{Faults: sandbox.Faults{Latency: 300 * time.Millisecond}}, nil)
	b, _ := r.onBrittle()
	c := r.start(r.draft("CLINIC", "Hello", ordinary(400)...))
	stop := r.dispatch()
	r.fillInFlight(b, c.ID)
	began := time.Now()
	stop()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("stopping took %s", took)
	}
	kept := len(r.reserved())
	r.dispatch()
	time.Sleep(time.Second)
	if tally, err := r.db.Tally(r.ctx, c.ID); err != nil || tally["doubt"] != 0 || len(r.reserved()) != kept {
		t.Errorf("a start with a full database: %v, %v, %d of %d kept", tally, err, len(r.reserved()), kept)
	}
	b.full.Store(false)
	_, tally := r.until(c.ID, "the end", finished)
	if tally["network"] != 400 {
		t.Errorf("tally %v", tally)
	}
	r.once(400)
}

// TestALicenceThatCannotBeStoredSendsNothing and does not spin: its messages
// come back when the database does.
func TestALicenceThatCannotBeStoredSendsNothing(t *testing.T) {
	r := newRig(t, sandbox.Config{}, nil)
	b, _ := r.onBrittle()
	unlicensed := &unlicensed{brittle: b}
	r.store = unlicensed
	c := r.start(r.draft("CLINIC", "Hello", ordinary(60)...))
	r.dispatch()
	time.Sleep(3 * time.Second)
	if n := unlicensed.asked.Load(); n < 2 || n > 40 {
		t.Errorf("%d licences were asked for in 3 seconds", n)
	}
	if tally, err := r.db.Tally(r.ctx, c.ID); err != nil || tally["doubt"]+tally["sending"] != 0 || len(r.ledger()) != 0 ||
		len(r.reserved()) != 0 {
		t.Errorf("tally %v %v, executed %d, kept %d", tally, err, len(r.ledger()), len(r.reserved()))
	}
	unlicensed.well.Store(true)
	_, tally := r.until(c.ID, "the end", finished)
	if tally["network"] != 60 {
		t.Errorf("tally %v", tally)
	}
	r.once(60)
}

// unlicensed stores everything but licences until it is well.
type unlicensed struct {
	*brittle
	well  atomic.Bool
	asked atomic.Int64
}

func (u *unlicensed) License(ctx context.Context, a *sms.Attempt, now int64) error {
	if !u.well.Load() {
		u.asked.Add(1)
		return errFullDisk
	}
	return u.brittle.License(ctx, a, now)
}

// TestAGroupsOutcomeIsKept as a whole, like that of a list.
func TestAGroupsOutcomeIsKept(t *testing.T) {
	r := newRig(t, sandbox.Config{Faults: sandbox.Faults{Latency: 700 * time.Millisecond}}, nil)
	b, _ := r.onBrittle()
	c, err := r.desk.CreateCampaign(r.ctx, r.by, desk.Order{AccountID: r.account.ID, SenderID: "CLINIC", Text: "Hello",
		GroupID: "107", GroupName: "Parents", Token: desk.NewToken()})
	if err != nil {
		t.Fatal(err)
	}
	r.start(c)
	stop := r.dispatch()
	eventually(t, "the call", func() bool { return r.sending(c.ID) == 1 })
	b.full.Store(true)
	eventually(t, "its outcome in the reserve", func() bool { return len(r.reserved()) == 1 })
	stop()
	b.full.Store(false)
	r.dispatch()
	_, tally := r.until(c.ID, "the end", finished)
	if tally["network"] != 12 || tally.Total() != 12 || len(r.sandbox.Ledger()) != 12 {
		t.Errorf("tally %v, executed %d; the group Parents has 12 contacts", tally, len(r.sandbox.Ledger()))
	}
}

// unstaged cannot write the rows of lists for the first few times.
type unstaged struct {
	*storage.DB
	left atomic.Int64
}

func (u *unstaged) StageRows(ctx context.Context, uid string,
	fill func(func([]sms.ListRow, []sms.RowNote) error) error) (int64, error) {
	if u.left.Add(-1) >= 0 {
		return 0, fmt.Errorf("stage the rows: %w", errFullDisk)
	}
	return u.DB.StageRows(ctx, uid, fill)
}

// TestAListWaitsForTheDisk and is not given up: its file need not be uploaded
// again because a disk was full for a while.
func TestAListWaitsForTheDisk(t *testing.T) {
	r := newRig(t, sandbox.Config{}, nil)
	store := &unstaged{DB: r.db}
	store.left.Store(4)
	l := r.upload("people.csv", "Phone,Name\n0803 000 0001,Ada\n0803 000 0002,Ben\n")
	r.importerOn(store)
	if l = r.checked(l, order(l, "Hello")); l.State == sms.ListFailed || store.left.Load() >= 0 {
		t.Errorf("the list is %s: %s; %d tries were left", l.State, l.Problem, store.left.Load())
	}
}
