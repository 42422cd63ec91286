package storage

import (
	"testing"
	"time"

	"smsdesk/internal/sms"
)

func (f *fixture) clockTime() time.Time { return time.UnixMilli(f.clock.Load()) }

// doubtAll brings what an older copy does not know as sent into doubt, as accepting it does.
func (s *station) doubtAll(c sms.Campaign) {
	s.t.Helper()
	var ids []int64
	for _, m := range s.messages(c.ID) {
		if m.State.Unsent() {
			ids = append(ids, m.ID)
		}
	}
	s.must(s.db.update(s.ctx, "test", func(t *tx) error {
		for _, id := range ids {
			if _, err := t.doubtAfterRollback(s.ctx, c.ID, id, rollbackReason, s.now(), s.now()); err != nil {
				return err
			}
		}
		return t.finishAll(s.ctx, []int64{c.ID}, s.now())
	}))
}

func (s *station) reconcile() (settled int) {
	s.t.Helper()
	s.must(s.db.Reconcile(s.ctx, s.account.ID, "NG", s.now(), func(done sms.ApplyResult) {
		settled += len(done.Messages)
	}))
	return settled
}

// TestAnswersSettleDoubts: a copy from before a campaign's requests, put back
// and accepted. What the log says was taken is accepted again, under its id, with
// its report; what it does not say stays in doubt; nothing is queued.
func TestAnswersSettleDoubts(t *testing.T) {
	f := newFixture(t)
	journal := t.TempDir()
	s := f.station(t, journal, nil)
	f.db.NoteAnswersIn(s.logged)
	s.logged.now = f.clockTime
	c := f.proven("Dear patient", numbers(30)...)
	copied := image(t, f.data)
	for range 2 {
		a := f.license(f.claim(10))
		f.settle(a, answer(a))
	}
	lost := f.license(f.claim(10))
	f.settle(lost, sms.Outcome{Class: sms.ClassDoubt, Reason: "no answer"})
	list := f.messages(c.ID)
	s.apply()
	if got := s.keep(list[:5], "DELIVRD"); len(got) != 5 {
		t.Fatal("not acknowledged")
	}
	eventually(t, "the answers to be in the log", func() bool { return !s.in.owes() })
	s.apply()
	want := f.tallyOf(c)
	s.stop()

	r := f.on(t, copied, image(t, journal), nil)
	r.logged.now = f.clockTime
	r.apply()
	r.doubtAll(c)
	r.wantStates(c.ID, map[sms.State]int{sms.InDoubt: 30})
	if n := r.reconcile(); n != 20 {
		t.Errorf("%d messages settled, want 20", n)
	}
	r.wantStates(c.ID, map[sms.State]int{sms.Accepted: 20, sms.InDoubt: 10})
	if got := r.tallyOf(c); got["accepted"] != want["accepted"] || got.Total() != want.Total() {
		t.Errorf("tally %v, want %v", got, want)
	}
	delivered := 0
	for _, m := range r.messages(c.ID) {
		if m.State == sms.Accepted && m.ProviderID != providerID(m.ID) {
			t.Errorf("message %d got the id %q", m.ID, m.ProviderID)
		}
		if m.Delivery.Status == "DELIVRD" {
			delivered++
		}
	}
	if delivered != 5 {
		t.Errorf("%d delivered, want 5", delivered)
	}
	r.counts("after answers")
	r.check()
	if n := r.reconcile(); n != 0 {
		t.Errorf("%d messages settled twice", n)
	}
}

// TestTwoAnswersSettleNothing: which of two requests a doubt is about is not
// known, and a request whose end the database knows says nothing new.
func TestTwoAnswersSettleNothing(t *testing.T) {
	f := newFixture(t)
	s := f.station(t, t.TempDir(), nil)
	f.db.NoteAnswersIn(s.logged)
	s.logged.now = f.clockTime
	c := f.proven("Dear patient", numbers(2)...)
	a := f.license(f.claim(2))
	token := one[string](f, "select token from campaign where id = $1", c.ID)
	note := func(uid, id string) {
		o := answer(a)
		for i := range o.Rows {
			o.Rows[i].ProviderID = id + o.Rows[i].ProviderID
		}
		other := *a
		other.UID = uid
		f.db.noteAnswer(t.Context(), &other, campaignUID(token),
			sms.Settle(a.Call.Recipients[:1], sms.Outcome{Class: o.Class, HTTPStatus: 200, Code: "000", Rows: o.Rows[:1]}, "NG"),
			f.now())
	}
	note("an attempt that nobody knows", "x")
	note("and another", "y")
	f.settle(a, sms.Outcome{Class: sms.ClassDoubt, Reason: "no answer"})
	eventually(t, "the answers to be in the log", func() bool { return !s.in.owes() })
	s.apply()
	if n := one[int64](f, "select count(*) from answer"); n != 2 {
		t.Fatalf("%d answers kept", n)
	}
	if n := s.reconcile(); n != 0 {
		t.Errorf("%d messages settled", n)
	}
	f.wantStates(c.ID, map[sms.State]int{sms.InDoubt: 2})
	later := time.UnixMilli(f.now()).Add(2 * answersFor)
	s.logged.now = func() time.Time { return later }
	f.must(s.logged.TakeAnswers(t.Context(), 0))
	if n := one[int64](f, "select count(*) from answer"); n != 0 {
		t.Errorf("%d answers are kept for ever", n)
	}
}
