package workers_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/health"
	"smsdesk/internal/rig"
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

var errFullDisk = health.Troubled{Trouble: health.TroubleFull, Err: errors.New("database or disk is full")}

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
func (r *kit) onBrittle() (*brittle, *workers.Outage) {
	b := &brittle{DB: r.DB}
	outage := workers.NewOutage(slog.New(slog.DiscardHandler), time.Now)
	r.Store = b
	r.Endures = func(d *workers.Dispatcher) {
		reserve := storage.NewReserve(r.Data, "")
		r.T.Cleanup(func() { _ = reserve.Close() })
		d.Endure(reserve, outage)
	}
	return b, outage
}

// reserved lists what another process would find in the reserve.
func (r *kit) reserved() []sms.Unsettled {
	r.T.Helper()
	reserve := storage.NewReserve(r.Data, "")
	list, err := reserve.Kept()
	if err := errors.Join(err, reserve.Close()); err != nil {
		r.T.Fatal(err)
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
func (r *kit) sending(campaign int64) (n int) {
	r.T.Helper()
	list, _, err := r.DB.Messages(r.Ctx, sms.MessageFilter{CampaignID: campaign, Limit: 1000})
	if err != nil {
		r.T.Fatal(err)
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
func (r *kit) fillInFlight(b *brittle, campaign int64) (flying int) {
	r.T.Helper()
	eventually(r.T, "several calls under way", func() bool { return r.sending(campaign) >= 40 })
	b.full.Store(true)
	time.Sleep(100 * time.Millisecond) // what is being stored gets to its end
	if flying = r.sending(campaign); flying < 20 {
		r.T.Fatalf("only %d messages were under way", flying)
	}
	eventually(r.T, "all outcomes in the reserve", func() bool { return len(r.reserved())*10 >= flying })
	return flying
}

func (r *kit) once(n int) {
	r.T.Helper()
	if got := r.Ledger(); len(got) != n {
		r.T.Errorf("%d numbers were executed, want %d", len(got), n)
	}
	for number, times := range r.Ledger() {
		if times != 1 {
			r.T.Errorf("%s was executed %d times", number, times)
		}
	}
}

// TestAFullDatabaseDoubtsNothing: outcomes wait, nothing is claimed meanwhile,
// it is said why, and the Dispatcher goes on by itself.
func TestAFullDatabaseDoubtsNothing(t *testing.T) {
	r := newKit(t, sandbox.Config{Faults: sandbox.Faults{Latency: 300 * time.Millisecond}}, nil)
	b, outage := r.onBrittle()
	c := r.Start(r.Draft("CLINIC", "Hello", rig.Ordinary(400)...))
	r.Dispatch()
	flying := r.fillInFlight(b, c.ID)
	eventually(t, "the outage to be told", func() bool { return strings.Contains(outage.Sentence(), "full") })
	executed := len(r.Ledger())
	before := b.refused.Load()
	time.Sleep(3 * time.Second)
	if now := len(r.Ledger()); now != executed {
		t.Errorf("%d messages were sent although nothing could be stored", now-executed)
	}
	// Each outcome and each account's claim is tried about once a second.
	if tries := b.refused.Load() - before; tries > 50 {
		t.Errorf("%d tries in 3 seconds", tries)
	}
	if tally, err := r.DB.Tally(r.Ctx, c.ID); err != nil || tally["doubt"] != 0 || r.sending(c.ID) != flying {
		t.Errorf("tally %v, %v", tally, err)
	}
	b.full.Store(false)
	_, tally := r.Until(c.ID, "the end", rig.Finished)
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
	r := newKit(t, sandbox.Config{Faults: sandbox.Faults{Latency: 300 * time.Millisecond}}, nil)
	b, _ := r.onBrittle()
	c := r.Start(r.Draft("CLINIC", "Hello", rig.Ordinary(400)...))
	stop := r.Dispatch()
	r.fillInFlight(b, c.ID)
	began := time.Now()
	stop()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("stopping took %s", took)
	}
	kept := len(r.reserved())
	r.Dispatch()
	time.Sleep(time.Second)
	if tally, err := r.DB.Tally(r.Ctx, c.ID); err != nil || tally["doubt"] != 0 || len(r.reserved()) != kept {
		t.Errorf("a start with a full database: %v, %v, %d of %d kept", tally, err, len(r.reserved()), kept)
	}
	b.full.Store(false)
	_, tally := r.Until(c.ID, "the end", rig.Finished)
	if tally["network"] != 400 {
		t.Errorf("tally %v", tally)
	}
	r.once(400)
}

// TestALicenceThatCannotBeStoredSendsNothing and does not spin: its messages
// come back when the database does.
func TestALicenceThatCannotBeStoredSendsNothing(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	b, _ := r.onBrittle()
	unlicensed := &unlicensed{brittle: b}
	r.Store = unlicensed
	c := r.Start(r.Draft("CLINIC", "Hello", rig.Ordinary(60)...))
	r.Dispatch()
	time.Sleep(3 * time.Second)
	if n := unlicensed.asked.Load(); n < 2 || n > 40 {
		t.Errorf("%d licences were asked for in 3 seconds", n)
	}
	if tally, err := r.DB.Tally(r.Ctx, c.ID); err != nil || tally["doubt"]+tally["sending"] != 0 || len(r.Ledger()) != 0 ||
		len(r.reserved()) != 0 {
		t.Errorf("tally %v %v, executed %d, kept %d", tally, err, len(r.Ledger()), len(r.reserved()))
	}
	unlicensed.well.Store(true)
	_, tally := r.Until(c.ID, "the end", rig.Finished)
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
	r := newKit(t, sandbox.Config{Faults: sandbox.Faults{Latency: 700 * time.Millisecond}}, nil)
	b, _ := r.onBrittle()
	c, err := r.Desk.CreateCampaign(r.Ctx, r.By, desk.Order{AccountID: r.Account.ID, SenderID: "CLINIC", Text: "Hello",
		GroupID: "107", GroupName: "Parents", Token: desk.NewToken()})
	if err != nil {
		t.Fatal(err)
	}
	r.Start(c)
	stop := r.Dispatch()
	eventually(t, "the call", func() bool { return r.sending(c.ID) == 1 })
	b.full.Store(true)
	eventually(t, "its outcome in the reserve", func() bool { return len(r.reserved()) == 1 })
	stop()
	b.full.Store(false)
	r.Dispatch()
	_, tally := r.Until(c.ID, "the end", rig.Finished)
	if tally["network"] != 12 || tally.Total() != 12 || len(r.Sandbox.Ledger()) != 12 {
		t.Errorf("tally %v, executed %d; the group Parents has 12 contacts", tally, len(r.Sandbox.Ledger()))
	}
}
