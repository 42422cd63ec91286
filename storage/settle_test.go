package storage

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/sms"
)

// TestSettleByClass: what every class leaves behind, section 3.
func TestSettleByClass(t *testing.T) {
	for _, c := range []struct {
		o        sms.Outcome
		attempt  sms.AttemptState
		message  sms.State
		campaign sms.CampaignState
		account  bool // paused
		alert    bool
	}{
		{sms.Outcome{Class: sms.ClassNothingLeft, Reason: "dial"}, "not_sent", sms.Queued, sms.CampaignRunning, false, false},
		{sms.Outcome{Class: sms.ClassRate, HTTPStatus: 429}, "not_sent", sms.Queued, sms.CampaignRunning, false, false},
		{sms.Outcome{Class: sms.ClassListed, Code: "007", Fault: sms.FaultCredentials, Reason: "Key."}, "not_sent", sms.Queued, sms.CampaignRunning, true, true},
		{sms.Outcome{Class: sms.ClassListed, Code: "003", Fault: sms.FaultSender, Reason: "Sender."}, "not_sent", sms.Queued, sms.CampaignPaused, false, true},
		{sms.Outcome{Class: sms.ClassHold, Code: "021", Reason: "credits"}, "held", sms.Held, sms.CampaignPaused, false, true},
		{sms.Outcome{Class: sms.ClassDoubt, Reason: "lost", HTTPStatus: 502, Excerpt: "<html>", Written: 99}, "in_doubt",
			sms.InDoubt, sms.CampaignRunning, false, false},
	} {
		f := newFixture(t)
		campaign := f.proven("Hello", numbers(4)...)
		a := f.license(f.claim(3))
		if alert := f.settle(a, c.o); alert != c.alert {
			t.Errorf("%s %s: alert %v", c.o.Class, c.o.Code, alert)
		}
		want := map[sms.State]int{sms.Queued: 1}
		want[c.message] += 3
		f.wantStates(campaign.ID, want)
		got := f.campaign(campaign.ID)
		account, err := f.db.Account(f.ctx, f.account.ID)
		f.must(err)
		if got.State != c.campaign || (account.Pause != "") != c.account || account.PauseCode != c.o.Code && c.account {
			t.Errorf("%s %s: campaign %s %q, account %q", c.o.Class, c.o.Code, got.State, got.Pause, account.Pause)
		}
		flying := one[int](f, "select count(*) from in_flight")
		if want := 3 * btoi(c.o.Class == sms.ClassDoubt); flying != want {
			t.Errorf("%s: %d in flight, want %d", c.o.Class, flying, want)
		}
		attempts, err := f.db.MessageAttempts(f.ctx, a.Messages[0])
		f.must(err)
		ended := sms.Attempt{ID: a.ID, UID: a.UID, AccountID: a.AccountID, CampaignID: a.CampaignID, Epoch: a.Epoch,
			State: c.attempt, Class: c.o.Class, Recipients: 3,
			HTTPStatus: c.o.HTTPStatus, Code: c.o.Code, Reason: c.o.Reason, Excerpt: c.o.Excerpt, Written: c.o.Written,
			PreparedAt: a.PreparedAt,
			LicensedAt: a.LicensedAt, JournalSeq: a.JournalSeq, EndedAt: attempts[0].EndedAt,
			Call: sms.Call{Kind: sms.CallText, SenderID: "CLINIC", Text: "Hello"}}
		if d := cmp.Diff([]sms.Attempt{ended}, attempts); d != "" || ended.EndedAt <= a.LicensedAt {
			t.Errorf("%s:\n%s", c.o.Class, d)
		}
		m := f.message(a.Messages[0])
		if c.message == sms.Queued && (m.Reason != "" || m.Code != "") || c.message != sms.Queued && m.Reason != c.o.Reason {
			t.Errorf("%s: reason %q code %q", c.o.Class, m.Reason, m.Code)
		}
		f.check()
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestAPartialAnswerSettlesEachByItself(t *testing.T) {
	f := newFixture(t)
	c := f.proven("Hello", numbers(5)...)
	a := f.license(f.claim(5))
	n := numbers(5)
	f.settle(a, sms.Outcome{Class: sms.ClassAnswered, Code: "000", Rows: []sms.ResultRow{
		{Number: "0" + n[3][3:], ProviderID: "third"}, {Number: "+" + n[1], Code: "401", Description: "filter"}, {Number: n[3], ProviderID: "alias"},
		{Number: "2349990000000", ProviderID: "strange"}, {Number: n[0], ProviderID: "x", Code: "9"}}})
	list := f.messages(c.ID)
	for i, want := range []sms.Message{{State: sms.InDoubt, Code: "9"},
		{State: sms.Refused, Code: "401", Reason: "filter"}, {State: sms.InDoubt},
		{State: sms.Accepted, ProviderID: "third"}, {State: sms.InDoubt}} {
		m := list[i]
		if m.State != want.State || m.Code != want.Code || m.ProviderID != want.ProviderID || want.Reason != "" &&
			m.Reason != want.Reason {
			t.Errorf("message %d: %s %q %q %q, want %+v", i, m.State, m.Code, m.Reason, m.ProviderID, want)
		}
	}
	if got := column[string](f, "select provider_id from message_alias where message_id = $1",
		list[3].ID); !slices.Equal(got, []string{"alias"}) {
		t.Errorf("aliases %v", got)
	}
	if got := one[string](f, "select state || accepted from attempt where id = $1", a.ID); got != "partial1" {
		t.Errorf("the attempt is %s", got)
	}
	if got := f.campaign(c.ID); got.State != sms.CampaignFinished {
		t.Errorf("the campaign is %s", got.State)
	}
	f.check()
}

// TestASettlementMustFit: a wrong settlement changes nothing at all.
func TestASettlementMustFit(t *testing.T) {
	f := newFixture(t)
	c := f.proven("Hello", numbers(6)...)
	a, b := f.license(f.claim(2)), f.license(f.claim(2))
	judge := func(sms.Canary, []sms.Finished) sms.Verdict { return sms.Verdict{Canary: sms.CanaryPassed} }
	good := sms.Settle(a.Call.Recipients, answer(a), "NG")
	try := func(a *sms.Attempt, s sms.Settlement, class sms.Class) error {
		_, err := f.db.Settle(f.ctx, a, s, sms.Outcome{Class: class}, "NG", judge, f.now())
		return err
	}
	both := sms.Settlement{State: sms.AttemptAccepted, Messages: slices.Clone(good.Messages)}
	both.Messages[1] = sms.Settled{MessageID: b.Messages[0], To: sms.Accepted, ProviderID: "x"}
	twice := sms.Settlement{State: sms.AttemptAccepted, Messages: []sms.Settled{good.Messages[0], good.Messages[0]}}
	for name, err := range map[string]error{
		"one missing":          try(a, sms.Settlement{State: sms.AttemptAccepted, Messages: good.Messages[:1]}, sms.ClassAnswered),
		"nobody":               try(a, sms.Settlement{State: sms.AttemptAccepted}, sms.ClassAnswered),
		"one of another call":  try(a, both, sms.ClassAnswered),
		"one twice":            try(a, twice, sms.ClassAnswered),
		"a doubt sent again":   try(a, sms.Settle(a.Call.Recipients, sms.Outcome{Class: sms.ClassNothingLeft}, "NG"), sms.ClassDoubt),
		"a refusal sent again": try(a, sms.Settle(a.Call.Recipients, sms.Outcome{Class: sms.ClassNothingLeft}, "NG"), sms.ClassHold),
		"an unlicensed attempt's": try(&sms.Attempt{ID: a.ID, CampaignID: c.ID, AccountID: a.AccountID,
			State: sms.AttemptPrepared, Recipients: 2}, good, sms.ClassAnswered),
		"an attempt that is none": try(&sms.Attempt{ID: 99, CampaignID: c.ID, State: sms.AttemptSending, Recipients: 2}, good, sms.ClassAnswered),
	} {
		if err == nil {
			t.Errorf("%s: settled", name)
		}
		f.wantStates(c.ID, map[sms.State]int{sms.Sending: 4, sms.Queued: 2})
		f.check()
	}
	f.must(try(a, good, sms.ClassAnswered))
	if err := try(a, good, sms.ClassAnswered); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("settled twice: %v", err)
	}
	f.check()
}

// TestTheAccountIsPausedOnce: calls in flight bring the same error,
// the first one alone raises the alert.
func TestTheAccountIsPausedOnce(t *testing.T) {
	f := newFixture(t)
	c := f.proven("Hello", numbers(20)...)
	var calls []*sms.Attempt
	for range 5 {
		calls = append(calls, f.license(f.claim(2)))
	}
	alerts := 0
	for i, a := range calls {
		alerts += btoi(f.settle(a, sms.Outcome{Class: sms.ClassListed, Code: []string{"007", "008"}[i%2],
			Fault: []sms.Fault{sms.FaultCredentials, sms.FaultAccount}[i%2], Reason: []string{"Key.", "Closed."}[i%2]}))
	}
	account, err := f.db.Account(f.ctx, f.account.ID)
	f.must(err)
	if alerts != 1 || account.PauseCode != "007" || account.Pause != "Key." {
		t.Errorf("%d alerts, %s %q", alerts, account.PauseCode, account.Pause)
	}
	f.wantStates(c.ID, map[sms.State]int{sms.Queued: 20})
	if resumed, err := f.db.ResumeAccount(f.ctx, f.account.ID); err != nil || !resumed {
		t.Errorf("%v %v", resumed, err)
	}
	f.claim(2)
	f.check()
}

func TestTheBreakerPausesTheCampaignOnce(t *testing.T) {
	f := newFixture(t)
	c := f.proven("Hello", numbers(20)...)
	var calls []*sms.Attempt
	for range 6 {
		calls = append(calls, f.license(f.claim(2)))
	}
	alerts := ""
	for _, a := range calls {
		alerts += fmt.Sprint(btoi(f.settle(a, sms.Outcome{Class: sms.ClassDoubt})))
	}
	got := f.campaign(c.ID)
	if alerts != "001000" || got.State != sms.CampaignPaused || got.Canary != sms.CanaryPending || got.Pause == "" {
		t.Errorf("alerts %s, %s %s %q", alerts, got.State, got.Canary, got.Pause)
	}
	f.set(c.ID, sms.CampaignRunning)
	a := f.license(f.claim(2))
	if f.settle(a, sms.Outcome{Class: sms.ClassDoubt}) || f.campaign(c.ID).State != sms.CampaignRunning {
		t.Error("doubts from before the person continued were counted again")
	}
	f.check()
}

// TestTheBreakerSeesTheEndsInTheirOrder: calls end in another order than they
// begin, and the one just ended is the newest whatever the clock says.
func TestTheBreakerSeesTheEndsInTheirOrder(t *testing.T) {
	f := newFixture(t)
	f.proven("Hello", numbers(20)...)
	x, y, z := f.license(f.claim(2)), f.license(f.claim(2)), f.license(f.claim(2))
	var seen []sms.Finished
	settle := func(a *sms.Attempt, o sms.Outcome, at int64) {
		t.Helper()
		_, err := f.db.Settle(f.ctx, a, sms.Settle(a.Call.Recipients, o, "NG"), o, "NG",
			func(c sms.Canary, recent []sms.Finished) sms.Verdict {
				seen = recent
				return sms.Verdict{Canary: c}
			}, at)
		f.must(err)
	}
	classes := func() (s string) {
		for _, r := range seen {
			s += string(r.Class)
		}
		return s
	}
	settle(z, sms.Outcome{Class: sms.ClassDoubt}, f.now())
	settle(y, answer(y), f.now())
	if classes() != "AD" || seen[0].Accepted != 2 {
		t.Errorf("%+v", seen)
	}
	settle(x, sms.Outcome{Class: sms.ClassRate}, began-1000)
	if classes() != "CAD" {
		t.Errorf("the clock went back: %+v", seen)
	}
	// A crash and a release prove nothing about the provider.
	f.license(f.claim(2))
	f.claim(2)
	f.must(third(f.db.Recover(f.ctx, f.account.ID, f.now())))
	last := f.license(f.claim(2))
	settle(last, answer(last), f.now())
	if classes() != "AAD" {
		t.Errorf("after a crash: %+v", seen)
	}
	f.check()
}

func third[A, B any](_ A, _ B, err error) error { return err }

// TestRecover is section 5: a kill at any step.
func TestRecover(t *testing.T) {
	f := newFixture(t)
	c := f.proven("Hello", numbers(10)...)
	canary := f.start("Bye", numbers(9)...)
	last := f.proven("Last", numbers(1)...)
	flying := f.claimAfter(canary.ID-1, 9)
	prepared := f.claimAfter(c.ID-1, 2)
	sending := f.license(f.claimAfter(c.ID-1, 3))
	done := f.license(f.claimAfter(c.ID-1, 1))
	f.settle(done, answer(done))
	f.license(f.claimAfter(last.ID-1, 1))
	other := f.other(t, "Other")
	foreign := other.start("Hello", numbers(2)...)
	other.claim(1)

	db := open(t, f.data) // the next process
	f.lease()
	released, doubtful, err := db.Recover(f.ctx, f.account.ID, f.now())
	if err != nil || released != int64(flying.Recipients+2) || doubtful != 4 {
		t.Errorf("%d released, %d in doubt, %v", released, doubtful, err)
	}
	f.wantStates(c.ID, map[sms.State]int{sms.Accepted: 1, sms.InDoubt: 3, sms.Queued: 6})
	f.wantStates(canary.ID, map[sms.State]int{sms.Queued: 9})
	f.wantStates(last.ID, map[sms.State]int{sms.InDoubt: 1})
	other.wantStates(foreign.ID, map[sms.State]int{sms.Queued: 1, sms.Claimed: 1})
	if got := f.campaign(c.ID); got.State != sms.CampaignRunning || got.Canary != sms.CanaryPassed {
		t.Errorf("a crash made it %s %s %q", got.State, got.Canary, got.Pause)
	}
	if got := f.campaign(canary.ID); got.State != sms.CampaignRunning || got.Canary != sms.CanaryPending {
		t.Errorf("a crash made it %s %s", got.State, got.Canary)
	}
	if got := f.campaign(last.ID); got.State != sms.CampaignFinished {
		t.Errorf("nothing is left to send and it is %s", got.State)
	}
	if m := f.message(sending.Messages[0]); m.Reason == "" || m.SentAt != sending.LicensedAt {
		t.Errorf("%+v", m)
	}
	f.check()
	// What the killed process still tries is refused, and changes nothing.
	if err := f.db.License(f.ctx, prepared, f.now()); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("a licence of the dead: %v", err)
	}
	if _, err := f.trySettle(sending, answer(sending)); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("an outcome of the dead: %v", err)
	}
	if released, doubtful, err := f.db.Recover(f.ctx, f.account.ID, f.now()); err != nil || released+doubtful != 0 {
		t.Errorf("recovered twice: %d %d %v", released, doubtful, err)
	}
	f.check()
	other.check()
}

func TestStoppingKeepsWhatIsUnderWay(t *testing.T) {
	f := newFixture(t)
	c := f.proven("Hello", numbers(9)...)
	a := f.license(f.claim(3))
	f.set(c.ID, sms.CampaignStopped)
	f.wantStates(c.ID, map[sms.State]int{sms.Sending: 3, sms.Queued: 6})
	f.settle(a, answer(a))
	if got := f.campaign(c.ID); got.State != sms.CampaignStopped {
		t.Errorf("an answer made a stopped campaign %s", got.State)
	}
	f.set(c.ID, sms.CampaignRunning)
	b := f.license(f.claim(9))
	f.settle(b, answer(b))
	last := f.license(f.claim(9))
	f.set(c.ID, sms.CampaignStopped)
	f.settle(last, answer(last))
	if got := f.campaign(c.ID); got.State != sms.CampaignFinished || got.FinishedAt == 0 {
		t.Errorf("nothing is left to send and it is %s", got.State)
	}
	f.check()
}
