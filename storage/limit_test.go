package storage

import (
	"testing"

	"smsdesk/internal/sms"
)

func (f *fixture) limit(l sms.Limits) {
	f.t.Helper()
	_, err := f.db.UpdateAccount(f.ctx, f.account.ID, f.now(), func(a *sms.Account, _ *sms.Credentials) error {
		a.Limits = l
		return nil
	})
	f.must(err)
}

// TestACapHoldsAtTheMinuteOfSending: who got as many messages as the account
// allows since the campaign was checked is left out with the reason, and the
// others are sent to.
func TestACapHoldsAtTheMinuteOfSending(t *testing.T) {
	f := newFixture(t)
	first := f.proven("one", "2348030000101")
	f.license(f.claim(10))
	second := f.proven("two", "2348030000101", "2348030000102")
	f.limit(sms.Limits{CapMessages: 1, CapDays: 7})
	if a := f.claim(10); a == nil || a.Recipients != 1 {
		t.Fatalf("%+v", a)
	}
	f.wantStates(second.ID, map[sms.State]int{sms.Skipped: 1, sms.Claimed: 1})
	for _, m := range f.messages(second.ID) {
		if m.State == sms.Skipped && m.Reason != "This recipient already got 1 message in the last 7 days (limit: 1)" {
			t.Errorf("%+v", m)
		}
	}
	f.wantStates(first.ID, map[sms.State]int{sms.Sending: 1})
	f.check()
}

// TestADayHasItsLimit: an account sends to so many recipients a day and holds
// the rest until midnight.
func TestADayHasItsLimit(t *testing.T) {
	f := newFixture(t)
	f.limit(sms.Limits{MaxPerDay: 3})
	c := f.proven("one", numbers(5)...)
	a := f.claim(2)
	f.license(a)
	if b := f.claim(2); b == nil || b.Recipients != 1 {
		t.Fatalf("the second call: %+v", b)
	} else {
		f.license(b)
	}
	if got, err := f.db.Claim(f.ctx, f.order(0, 2), f.now()); err != nil || got.Attempt != nil {
		t.Errorf("more than the limit: %+v %v", got.Attempt, err)
	}
	f.wantStates(c.ID, map[sms.State]int{sms.Queued: 2, sms.Sending: 3})
	f.pass(25 * 3600 * 1000)
	if got, err := f.db.Claim(f.ctx, f.order(0, 2), f.now()); err != nil || got.Attempt == nil ||
		got.Attempt.Recipients != 2 {
		t.Errorf("on the next day: %+v %v", got.Attempt, err)
	}
}
