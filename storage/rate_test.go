package storage

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/health"
	"smsdesk/internal/sms"
)

// TestAReportForACallAnswered429IsProof: class C (internal/workers/README.md, What may be sent again).
func TestAReportForACallAnswered429IsProof(t *testing.T) {
	const grace = 120_000
	unknown := func(f *fixture, mobile, text string) sms.DeliveryReport {
		return sms.DeliveryReport{AccountID: f.account.ID, ReceivedAt: f.now(), ProviderID: "never-given-" + text,
			Mobile: mobile, Status: "DELIVRD", ShortMessage: text}
	}
	for name, c := range map[string]struct {
		report func(f *fixture) sms.DeliveryReport
		wait   int64
		want   bool
	}{
		"same number and text":           {func(f *fixture) sms.DeliveryReport { return unknown(f, "0803 000 0000", "Hello  you") }, grace + 10, true},
		"too young to tell":              {func(f *fixture) sms.DeliveryReport { return unknown(f, "2348030000000", "Hello you") }, 10, false},
		"another text":                   {func(f *fixture) sms.DeliveryReport { return unknown(f, "2348030000000", "Hello") }, grace + 10, false},
		"no text":                        {func(f *fixture) sms.DeliveryReport { return unknown(f, "2348030000000", "") }, grace + 10, false},
		"a number that was not in there": {func(f *fixture) sms.DeliveryReport { return unknown(f, "2348030000009", "Hello you") }, grace + 10, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.start("Hello you", "2348030000000", "2348030000001")
			f.settle(f.license(f.claim(10)), sms.Outcome{Class: sms.ClassRate, HTTPStatus: 429, Written: 400})
			r := c.report(f)
			f.apply(r)
			for i := range 2 {
				proven, err := f.db.DoubtRateAnswers(f.ctx, f.account.ID, "NG", r.ReceivedAt+c.wait-grace)
				f.must(err)
				if proven != (c.want && i == 0) {
					t.Errorf("look %d: proven %v", i+1, proven)
				}
			}
			a, err := f.db.Account(f.ctx, f.account.ID)
			f.must(err)
			if a.Doubt429 != c.want {
				t.Errorf("the account doubts 429: %v, want %v", a.Doubt429, c.want)
			}
			f.check()
		})
	}
}

// machine is a computer with a clock that nobody can set.
type machine struct{ health.Steady }

func (m *machine) pass(d time.Duration) { m.Ms += d.Milliseconds() }

func (m *machine) boot() { m.Steady = health.Steady{Boot: m.Boot + 1, Ms: 90_000} }

// onMachine is a fixture on a computer of its own.
func onMachine(t *testing.T) (*fixture, *machine) {
	f, m := newFixture(t), &machine{health.Steady{Boot: 7, Ms: 1_000_000}}
	f.db.steady = func() health.Steady { return m.Steady }
	return f, m
}

// before is what a process that starts now is told, the longest ago first.
func (f *fixture) before() sms.CallsBefore {
	f.t.Helper()
	got, err := f.db.CallsBefore(f.ctx, f.account.ID, 10)
	f.must(err)
	slices.Sort(got.Ended)
	slices.Reverse(got.Ended)
	return got
}

func wantEnded(t *testing.T, got sms.CallsBefore, want ...time.Duration) {
	t.Helper()
	if d := cmp.Diff(want, got.Ended); d != "" {
		t.Errorf("calls that ended: %s", d)
	}
}

// TestCallsOfBeforeARestart: under one start of the computer ends are exact,
// whatever the wall clock shows; what is open ends now; what never left counts
// for nothing.
func TestCallsOfBeforeARestart(t *testing.T) {
	f, m := onMachine(t)
	wantEnded(t, f.before())
	f.proven("Hello", numbers(9)...)
	first, unsent, open := f.license(f.claim(2)), f.license(f.claim(2)), f.license(f.claim(2))
	f.claim(1)
	m.pass(10 * time.Second)
	f.clock.Add(3_600_000)
	f.settle(first, answer(first))
	f.settle(unsent, sms.Outcome{Class: sms.ClassNothingLeft})
	m.pass(5 * time.Second)
	f.clock.Add(-7_200_000)
	wantEnded(t, f.before(), 5*time.Second, 0)
	// Recovering ends what is open.
	m.pass(10 * time.Second)
	f.lease()
	if _, _, err := f.db.Recover(f.ctx, f.account.ID, f.now()); err != nil || open.State != sms.AttemptSending {
		t.Fatal(err)
	}
	m.pass(20 * time.Second)
	wantEnded(t, f.before(), 35*time.Second, 20*time.Second)
}

// TestCallsOfBeforeTheComputerWasStarted: nobody knows when they ended, so they
// count from the first opening after it, and not anew from each.
func TestCallsOfBeforeTheComputerWasStarted(t *testing.T) {
	f, m := onMachine(t)
	f.before()
	f.proven("Hello", numbers(6)...)
	for range 2 {
		a := f.license(f.claim(2))
		f.settle(a, answer(a))
	}
	m.pass(time.Hour)
	m.boot()
	wantEnded(t, f.before(), 0, 0)
	m.pass(20 * time.Second)
	a := f.license(f.claim(2))
	f.settle(a, answer(a))
	m.pass(5 * time.Second)
	wantEnded(t, f.before(), 25*time.Second, 25*time.Second, 5*time.Second)
	// A computer that has no such clock knows nothing at each start.
	m.Steady = health.Steady{}
	for range 2 {
		wantEnded(t, f.before(), 0, 0, 0)
	}
}

// TestOtherCallsOfBefore: what reads and changes records counts too, over as many
// starts as a minute has.
func TestOtherCallsOfBefore(t *testing.T) {
	f, m := onMachine(t)
	f.before()
	begin := func() int64 {
		id, err := f.db.BeginCall(f.ctx, f.account.ID)
		f.must(err)
		return id
	}
	for range 3 {
		f.must(f.db.EndCall(f.ctx, begin()))
		m.pass(10 * time.Second)
	}
	cutOff := begin()
	m.pass(5 * time.Second)
	wantEnded(t, f.before(), 35*time.Second, 25*time.Second, 15*time.Second, 0)
	m.pass(5 * time.Second)
	wantEnded(t, f.before(), 40*time.Second, 30*time.Second, 20*time.Second, 5*time.Second)
	f.must(f.db.EndCall(f.ctx, cutOff))
	wantEnded(t, f.before(), 40*time.Second, 30*time.Second, 20*time.Second, 0)
	m.boot()
	wantEnded(t, f.before(), 0, 0, 0, 0)
	m.pass(30 * time.Second)
	wantEnded(t, f.before(), 30*time.Second, 30*time.Second, 30*time.Second, 30*time.Second)
	m.pass(31 * time.Second)
	begin()
	wantEnded(t, f.before(), 0)
}

// TestAWaitOutlivesTheProcess: under the same start of the computer what is left
// of it, under another one the whole; what is over is over.
func TestAWaitOutlivesTheProcess(t *testing.T) {
	f, m := onMachine(t)
	f.before()
	f.must(f.db.PutThrottle(f.ctx, f.account.ID, sms.Throttle{Wait: 30 * time.Second, Left: 34 * time.Second, Rate: 8,
		Ago: time.Second}))
	m.pass(10 * time.Second)
	f.clock.Add(3_600_000)
	if got, want := f.before().Throttle, (sms.Throttle{Wait: 30 * time.Second, Left: 24 * time.Second, Rate: 8,
		Ago: 11 * time.Second}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	m.boot()
	f.before()
	m.pass(time.Second)
	if got, want := f.before().Throttle, (sms.Throttle{Wait: 30 * time.Second, Left: 29 * time.Second, Rate: 8,
		Ago: time.Second}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	f.must(f.db.PutThrottle(f.ctx, f.account.ID, sms.Throttle{}))
	m.boot()
	if got := f.before().Throttle; !got.None() {
		t.Errorf("%+v is not forgotten", got)
	}
}

// TestAllPlacesAreTaken: for a minute from the next opening on, also where there
// are no calls, and a process that serves already notices.
func TestAllPlacesAreTaken(t *testing.T) {
	f, m := onMachine(t)
	since := f.before().Since
	f.must(f.db.update(f.ctx, "take all places", func(t *tx) error { return t.takeAllPlaces(f.ctx, f.now()) }))
	if a, err := f.db.Account(f.ctx, f.account.ID); err != nil || a.ChangedAt <= f.account.ChangedAt {
		t.Errorf("the account is not opened anew: %d, %v", a.ChangedAt, err)
	}
	m.pass(time.Hour)
	got := f.before()
	wantEnded(t, got, make([]time.Duration, 10)...)
	if got.Since == since {
		t.Error("an open limiter would not notice")
	}
	m.pass(20 * time.Second)
	wantEnded(t, f.before(), slices.Repeat([]time.Duration{20 * time.Second}, 10)...)
	m.boot()
	if got := f.before(); len(got.Ended) != 0 {
		t.Errorf("asked for once, taken at the next start of the computer: %v", got.Ended)
	}
}

// TestAnAcceptedRollbackTakesAllPlaces: the older copy does not know the calls
// of the last minute, which were made under the same start of the computer.
func TestAnAcceptedRollbackTakesAllPlaces(t *testing.T) {
	f := newFixture(t)
	f.before()
	j, l := f.journal(), ledger{}
	f.proven("Hello", numbers(12)...)
	copied := f.backup(t)
	f.send(j, l, 3)
	f.restore(t, copied)
	f.accept()
	got := f.before()
	if n := len(got.Ended); n < 10 || got.Ended[0] > time.Second {
		t.Errorf("%d places are taken: %v", n, got.Ended)
	}
}

func TestAClockReading(t *testing.T) {
	f, m := onMachine(t)
	if _, err := f.db.ClockReading(f.ctx, f.account.ID); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("%v", err)
	}
	for range 2 {
		m.pass(time.Second)
		want := health.ClockReading{At: m.Steady, Service: f.now(), Wall: f.now()}
		f.must(f.db.PutClockReading(f.ctx, f.account.ID, want))
		if got, err := f.db.ClockReading(f.ctx, f.account.ID); err != nil || got != want {
			t.Errorf("%+v %v, want %+v", got, err, want)
		}
	}
}
