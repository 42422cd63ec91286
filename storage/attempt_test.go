package storage

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// numbersOf lists the numbers of a call and fails on one that is there twice.
func numbersOf(t *testing.T, a *sms.Attempt) (list []string) {
	t.Helper()
	for _, r := range a.Call.Recipients {
		list = append(list, r.Number)
	}
	slices.Sort(list)
	if len(slices.Compact(slices.Clone(list))) != len(list) {
		t.Fatalf("a number stands twice in one call: %v", list)
	}
	return list
}

func TestAClaimFreezesACallsWorth(t *testing.T) {
	f := newFixture(t)
	c := f.draftOf(sms.Campaign{Text: "Hello", Flash: true},
		[]sms.Message{{Number: "1", Text: "Hello"}, {Number: "2", Text: "Hello"}, {Number: "3", Text: "Hello"}})
	f.set(c.ID, sms.CampaignRunning)
	at := f.now()
	claim, err := f.db.Claim(f.ctx, f.order(0, 2), at)
	f.must(err)
	a := claim.Attempt
	list := f.messages(c.ID)
	want := &sms.Attempt{ID: a.ID, UID: a.UID, AccountID: f.account.ID, CampaignID: c.ID, Epoch: f.epoch,
		State: sms.AttemptPrepared, Canary: true, Recipients: 2,
		Messages: []int64{list[0].ID, list[1].ID}, PreparedAt: at,
		Call: sms.Call{Kind: sms.CallText, SenderID: "CLINIC", Text: "Hello", Flash: true,
			Recipients: []sms.Recipient{{MessageID: list[0].ID, Number: "1"}, {MessageID: list[1].ID, Number: "2"}}}}
	if d := cmp.Diff(want, a); d != "" {
		t.Error(d)
	}
	if len(a.UID) != 32 {
		t.Errorf("UID %q", a.UID)
	}
	if list[0].State != sms.Claimed || list[0].AttemptID != a.ID || list[2].State != sms.Queued || list[2].AttemptID != 0 {
		t.Errorf("%+v", list)
	}
	f.check()
}

func TestOnlyRunningCampaignsAreClaimed(t *testing.T) {
	f := newFixture(t)
	draft := f.newDraft("Hello", numbers(3)...)
	if a := f.claimAfter(0, 10); a != nil {
		t.Errorf("a draft was claimed: %+v", a)
	}
	f.set(draft.ID, sms.CampaignRunning)
	for _, state := range []sms.CampaignState{sms.CampaignStopped, sms.CampaignPaused} {
		f.set(draft.ID, state)
		if a := f.claimAfter(0, 10); a != nil {
			t.Errorf("claimed while %s", state)
		}
		f.set(draft.ID, sms.CampaignRunning)
	}
	if other := f.other(t, "Other"); other.claimAfter(0, 10) != nil {
		t.Error("another account's campaign was claimed")
	}
	old := f.order(0, 10)
	f.lease()
	if claim, err := f.db.Claim(f.ctx, old, f.now()); !errors.Is(err, sms.ErrConflict) || claim.Attempt != nil {
		t.Errorf("claimed under a lease that is gone: %+v %v", claim, err)
	}
	f.pause()
	if f.claimAfter(0, 10) != nil {
		t.Error("claimed while the account is paused")
	}
	if _, err := f.db.ResumeAccount(f.ctx, f.account.ID); err != nil {
		t.Fatal(err)
	}
	f.claim(10)
	f.check()
}

// pause pauses the account as a listed error does.
func (f *fixture) pause() {
	f.t.Helper()
	_, err := f.db.writer.ExecContext(f.ctx, "update account set pause = 'why', pause_code = '007' where id = $1",
		f.account.ID)
	f.must(err)
}

// TestANumberIsOnceInACallAndOnceInFlight: the same number and text
// waits until the first is settled; with another text it need not.
func TestANumberIsOnceInACallAndOnceInFlight(t *testing.T) {
	f := newFixture(t)
	c := f.proven("Hello", "1", "2", "1", "3", "1", "2")
	other := f.proven("Hello", "3", "4")
	another := f.proven("Bye", "1")
	first := f.claim(10)
	if got := numbersOf(t, first); !slices.Equal(got, []string{"1", "2", "3"}) {
		t.Errorf("the first call holds %v", got)
	}
	if again := f.claimAfter(other.ID-1, 10); again == nil || again.CampaignID != other.ID ||
		!slices.Equal(numbersOf(t, again), []string{"4"}) {
		t.Errorf("%+v: number 3 is in flight with this text", again)
	}
	if a := f.claimAfter(another.ID-1, 10); a == nil || a.CampaignID != another.ID {
		t.Errorf("%+v: number 1 may get another text", a)
	}
	if a := f.claimAfter(0, 10); a != nil {
		t.Errorf("claimed %v although all are in flight", numbersOf(t, a))
	}
	f.check()
	f.settle(f.license(first), sms.Outcome{Class: sms.ClassDoubt, Reason: "lost"})
	if a := f.claimAfter(0, 10); a != nil {
		t.Errorf("claimed %v although the first is in doubt", numbersOf(t, a))
	}
	f.wantStates(c.ID, map[sms.State]int{sms.InDoubt: 3, sms.Queued: 3})
	if got := f.campaign(c.ID); got.State != sms.CampaignRunning {
		t.Errorf("the campaign is %s while messages wait", got.State)
	}
	f.check()
}

func TestRepeatedNumbersGoOutOneAfterTheOther(t *testing.T) {
	f := newFixture(t)
	c := f.proven("Hello", "1", "1", "1")
	var got []int64
	for range 3 {
		a := f.claim(10)
		if len(numbersOf(t, a)) != 1 {
			t.Fatalf("%+v", a)
		}
		f.settle(f.license(a), answer(a))
		got = append(got, a.Messages...)
		f.check()
	}
	if !slices.IsSorted(got) || f.campaign(c.ID).State != sms.CampaignFinished {
		t.Errorf("%v %s", got, f.campaign(c.ID).State)
	}
}

func TestTheCanaryFliesAlone(t *testing.T) {
	f := newFixture(t)
	c := f.start("Hello", numbers(40)...)
	a := f.claim(100)
	if a.Recipients != 5 || !a.Canary || f.campaign(c.ID).Canary != sms.CanaryFlying {
		t.Fatalf("%+v", a)
	}
	if f.claimAfter(0, 100) != nil {
		t.Error("a second call beside the prepared canary")
	}
	f.license(a)
	if f.claimAfter(0, 100) != nil {
		t.Error("a second call beside the flying canary")
	}
	f.settle(a, sms.Outcome{Class: sms.ClassRate})
	a = f.claim(100)
	f.settle(a, sms.Outcome{Class: sms.ClassNothingLeft})
	if f.campaign(c.ID).Canary != sms.CanaryPending {
		t.Error("a canary that was not executed has passed")
	}
	if a = f.claim(100); a.Recipients != 5 || !a.Canary {
		t.Fatalf("%+v", a)
	}
	f.settle(f.license(a), answer(a))
	if f.campaign(c.ID).Canary != sms.CanaryPassed {
		t.Error("an accepted canary has not passed")
	}
	x, y := f.claim(20), f.claim(20)
	if x.Canary || y.Canary || x.Recipients != 20 || y.Recipients != 15 {
		t.Errorf("%+v %+v", x, y)
	}
	f.set(c.ID, sms.CampaignStopped)
	if err := f.db.License(f.ctx, x, f.now()); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("a stopped campaign got a licence: %v", err)
	}
	f.settle(x, sms.Outcome{Class: sms.ClassNothingLeft})
	f.set(c.ID, sms.CampaignRunning)
	if f.claimAfter(0, 100) != nil {
		t.Error("a canary beside a call from before the stop")
	}
	f.settle(y, sms.Outcome{Class: sms.ClassNothingLeft})
	if a = f.claim(100); !a.Canary || a.Recipients != 5 {
		t.Errorf("continued without a canary: %+v", a)
	}
	f.check()
}

func TestCampaignsTakeTurns(t *testing.T) {
	f := newFixture(t)
	var ids []int64
	for i := range 3 {
		ids = append(ids, f.proven(fmt.Sprint("text ", i), numbers(6)...).ID)
	}
	var got []int64
	for last := int64(0); len(got) < 9; {
		a := f.claimAfter(last, 2)
		if a == nil {
			break
		}
		last = a.CampaignID
		got = append(got, last)
		f.settle(f.license(a), answer(a))
	}
	if want := []int64{ids[0], ids[1], ids[2], ids[0], ids[1], ids[2], ids[0], ids[1], ids[2]}; !slices.Equal(got, want) {
		t.Errorf("served %v, want %v", got, want)
	}
	if f.claimAfter(0, 2) != nil {
		t.Error("something is left")
	}
	for _, limit := range []int{0, -1} {
		c := f.proven(fmt.Sprint("limit ", limit), numbers(3)...)
		if a := f.claim(limit); a.Recipients != 1 {
			t.Errorf("a limit of %d gives %d recipients", limit, a.Recipients)
		}
		f.set(c.ID, sms.CampaignStopped)
	}
	f.check()
}

// TestALicenceIsForOneUse: a second one is refused.
func TestALicenceIsForOneUse(t *testing.T) {
	f := newFixture(t)
	f.proven("Hello", numbers(10)...)
	a := f.claim(2)
	var won atomic.Int64
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			twin := *a
			if err := f.db.License(f.ctx, &twin, f.now()); err == nil {
				won.Add(1)
			} else if !errors.Is(err, sms.ErrConflict) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 {
		t.Fatalf("%d licences", won.Load())
	}
	f.must(f.db.update(f.ctx, "license", func(t *tx) error {
		n, err := t.LicenseAttempt(f.ctx, query.LicenseAttemptParams{ID: a.ID, Epoch: a.Epoch, LicensedAt: f.now(),
			JournalSeq: -1})
		if n != 0 {
			return fmt.Errorf("%d rows were licensed again", n)
		}
		return err
	}))
	if a.State = sms.AttemptSending; f.db.License(f.ctx, a, f.now()) == nil {
		t.Error("licensed again")
	}
	f.settle(a, answer(a))
	if f.db.License(f.ctx, a, f.now()) == nil {
		t.Error("licensed after its end")
	}
	f.check()
}

func TestALicenceIsRefusedWhenSomethingStoppedIt(t *testing.T) {
	f := newFixture(t)
	c := f.proven("Hello", numbers(20)...)
	for name, stop := range map[string]struct{ by, undo func() }{
		"campaign stopped": {func() { f.set(c.ID, sms.CampaignStopped) }, func() { f.set(c.ID, sms.CampaignRunning) }},
		"campaign paused":  {func() { f.set(c.ID, sms.CampaignPaused) }, func() { f.set(c.ID, sms.CampaignRunning) }},
		"account paused":   {f.pause, func() { f.must(second(f.db.ResumeAccount(f.ctx, f.account.ID))) }},
		"lease taken":      {f.lease, func() {}},
	} {
		a := f.claim(2)
		stop.by()
		if err := f.db.License(f.ctx, a, f.now()); !errors.Is(err, sms.ErrConflict) || a.State != sms.AttemptPrepared ||
			a.LicensedAt != 0 {
			t.Errorf("%s: %v, %s", name, err, a.State)
		}
		f.settle(a, sms.Outcome{Class: sms.ClassNothingLeft, Reason: "stopped"})
		if got := one[string](f, "select state from attempt where id = $1", a.ID); got != "released" {
			t.Errorf("%s: the attempt is %s", name, got)
		}
		f.wantStates(c.ID, map[sms.State]int{sms.Queued: 20})
		stop.undo()
		f.check()
	}
}
