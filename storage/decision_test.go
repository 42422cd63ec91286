package storage

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"smsdesk/internal/gateway"
	"smsdesk/internal/plan"
	"smsdesk/internal/sms"
)

var (
	ada  = sms.User{ID: 1, Name: "Ada Obi"}
	bola = sms.User{ID: 2, Name: "Bola Ade"}
)

var planLimits = plan.Limits{CallLimit: 2, Size: gateway.PairSize, Room: func(bool) int { return pairRoom }}

func (f *fixture) decide(by sms.User, c sms.Campaign, choices ...sms.DecisionItem) (sms.DecisionResult, error) {
	return f.db.Decide(f.ctx, sms.Decision{CampaignID: c.ID, AccountID: c.AccountID, Choices: choices, By: by,
		At: f.now()}, planLimits, 0, f.now())
}

// TestDecisions: for a whole call, for one message of it, and for held ones.
func TestDecisions(t *testing.T) {
	f := newFixture(t)
	c, a := f.doubt("Hello", numbers(4)...)
	out, err := f.decide(ada, c, sms.DecisionItem{Attempt: a.ID, Seen: 4, Choice: sms.ChooseSent},
		sms.DecisionItem{Attempt: a.ID, Message: a.Messages[1], Choice: sms.ChooseClose},
		sms.DecisionItem{Attempt: a.ID, Message: a.Messages[2], Choice: sms.ChooseLater})
	f.must(err)
	if out.Decision.State != sms.DecisionDone || out.Decision.N != 2 || out.Counts[sms.ChooseSent] != 2 ||
		out.Counts[sms.ChooseClose] != 1 {
		t.Errorf("%+v", out)
	}
	f.wantStates(c.ID, map[sms.State]int{sms.Accepted: 2, sms.ClosedUnknown: 1, sms.InDoubt: 1})
	if m := f.message(a.Messages[0]); m.Evidence != sms.ByPerson || m.ProviderID != "" {
		t.Errorf("%+v", m)
	}
	f.check()
	// A report that comes later belongs to what the person called sent.
	f.apply(f.foreign(a, 0, "late", "Hello", "UNDELIV"))
	f.pass(ripe)
	f.reconcile()
	if m := f.message(a.Messages[0]); m.Delivery.Status != sms.Undeliv || m.ProviderID != "late" {
		t.Errorf("%+v", m)
	}

	h := f.proven("Held", numbers(2)...)
	b := f.license(f.claim(2))
	f.settle(b, sms.Outcome{Class: sms.ClassHold, Code: "042", Reason: "too many"})
	if _, err := f.decide(ada, h, sms.DecisionItem{Attempt: b.ID, Seen: 2, Choice: sms.ChooseSent}); !errors.Is(err,
		sms.ErrConflict) {
		t.Errorf("a held message was marked as sent: %v", err)
	}
	f.must(second(f.decide(ada, h, sms.DecisionItem{Attempt: b.ID, Seen: 2, Choice: sms.ChooseQueue},
		sms.DecisionItem{Attempt: b.ID, Message: b.Messages[1], Choice: sms.ChooseClose})))
	f.wantStates(h.ID, map[sms.State]int{sms.Queued: 1, sms.ClosedUnknown: 1})
	if got := f.campaign(h.ID); got.State != sms.CampaignRunning || got.Canary != sms.CanaryPending ||
		got.FinishedAt != 0 {
		t.Errorf("%+v", got)
	}
	f.check()
}

// TestNothingOfACancelledCampaignIsQueuedAgain: it would wait there for ever, and
// be counted as what it is not.
func TestNothingOfACancelledCampaignIsQueuedAgain(t *testing.T) {
	f := newFixture(t)
	c := f.proven("Held", numbers(4)...)
	a := f.license(f.claim(2))
	f.settle(a, sms.Outcome{Class: sms.ClassHold, Code: "042", Reason: "too many"})
	f.set(c.ID, sms.CampaignCancelled)
	f.tidy()
	if _, err := f.decide(ada, c, sms.DecisionItem{Attempt: a.ID, Seen: 2, Choice: sms.ChooseQueue}); !errors.Is(err,
		sms.ErrConflict) {
		t.Errorf("%v", err)
	}
	f.tidy()
	f.wantStates(c.ID, map[sms.State]int{sms.Held: 2, sms.Cancelled: 2})
	f.check()
	f.must(second(f.decide(ada, c, sms.DecisionItem{Attempt: a.ID, Seen: 2, Choice: sms.ChooseClose})))
	f.wantStates(c.ID, map[sms.State]int{sms.ClosedUnknown: 2, sms.Cancelled: 2})
	f.check()
}

// TestADecisionIsWholeOrNotAtAll: somebody else, or a report, was faster.
func TestADecisionIsWholeOrNotAtAll(t *testing.T) {
	f := newFixture(t)
	c, a := f.doubt("Hello", numbers(3)...)
	f.must(second(f.decide(bola, c, sms.DecisionItem{Attempt: a.ID, Message: a.Messages[1], Choice: sms.ChooseClose})))
	for _, late := range [][]sms.DecisionItem{
		{{Attempt: a.ID, Message: a.Messages[0], Choice: sms.ChooseSent}, {Attempt: a.ID, Message: a.Messages[1], Choice: sms.ChooseSent}},
		{{Attempt: a.ID, Seen: 3, Choice: sms.ChooseSent}},
		{{Attempt: a.ID + 9, Message: a.Messages[0], Choice: sms.ChooseSent}},
		{{Attempt: a.ID, Message: a.Messages[0], Choice: sms.ChooseQueue}},
		{{Attempt: a.ID, Message: a.Messages[0], Choice: "made up"}},
	} {
		d := sms.Decision{CampaignID: c.ID, AccountID: c.AccountID, Choices: late, By: ada, At: 0}
		_, err := f.db.Decide(f.ctx, d, planLimits, 0, f.now())
		var gone sms.StaleDecisionError
		if !errors.As(err, &gone) || !errors.Is(err, sms.ErrConflict) || len(gone.Messages) == 0 {
			t.Errorf("%v: %v", late, err)
		}
	}
	f.wantStates(c.ID, map[sms.State]int{sms.InDoubt: 2, sms.ClosedUnknown: 1})
	other, _ := f.doubt("Another campaign", numbers(1)...)
	if _, err := f.decide(ada, other, sms.DecisionItem{Attempt: a.ID, Message: a.Messages[0],
		Choice: sms.ChooseSent}); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("a message of another campaign was decided: %v", err)
	}
	f.check()
}

// TestADecisionThatReportsOvertookKeepsWhatIsLeft: for a whole call and message by
// message, and never for what a report settled.
func TestADecisionThatReportsOvertookKeepsWhatIsLeft(t *testing.T) {
	f := newFixture(t)
	c, a := f.doubt("Hello", numbers(5)...)
	read := f.now()
	decide := func(by sms.User, choices ...sms.DecisionItem) (sms.DecisionResult, error) {
		return f.db.Decide(f.ctx, sms.Decision{CampaignID: c.ID, AccountID: c.AccountID, Choices: choices, By: by,
			At: read}, planLimits, 0, f.now())
	}
	report := func(recipient int) {
		t.Helper()
		f.apply(f.foreign(a, recipient, fmt.Sprint("late", recipient), "Hello", "DELIVRD"))
		f.pass(ripe)
		if got := f.reconcile(); len(got) != 1 {
			t.Fatalf("reports settled %v", got)
		}
	}
	whole := sms.DecisionItem{Attempt: a.ID, Seen: 5, Choice: sms.ChooseAgain}
	report(0)
	report(1)
	out, err := decide(ada, whole, sms.DecisionItem{Attempt: a.ID, Message: a.Messages[1], Choice: sms.ChooseSent},
		sms.DecisionItem{Attempt: a.ID, Message: a.Messages[2], Choice: sms.ChooseLater})
	if err != nil || out.Settled != 2 || out.Counts[sms.ChooseAgain] != 2 || out.Counts[sms.ChooseSent] != 0 ||
		out.Decision.N != 2 || out.Campaign.Recipients != 2 {
		t.Fatalf("%+v %v", out, err)
	}
	f.wantStates(c.ID, map[sms.State]int{sms.Accepted: 2, sms.InDoubt: 3})
	f.check()
	if _, err := decide(ada, whole); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("a double click sends again twice: %v", err)
	}
	// Message by message, and a second tab after that.
	report(2)
	each := []sms.DecisionItem{{Attempt: a.ID, Message: a.Messages[2], Choice: sms.ChooseClose},
		{Attempt: a.ID, Message: a.Messages[3], Choice: sms.ChooseClose}}
	if out, err = decide(ada, each...); err != nil || out.Settled != 1 || out.Counts[sms.ChooseClose] != 1 {
		t.Errorf("%+v %v", out, err)
	}
	for _, late := range [][]sms.DecisionItem{each, {{Attempt: a.ID, Seen: 5, Choice: sms.ChooseSent}}} {
		if _, err := decide(bola, late...); !errors.Is(err, sms.ErrConflict) {
			t.Errorf("a decision about what a person decided: %v", err)
		}
	}
	if _, err := decide(bola, sms.DecisionItem{Attempt: a.ID, Message: a.Messages[2],
		Choice: "made up"}); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("a choice that there is not: %v", err)
	}
	f.wantStates(c.ID, map[sms.State]int{sms.Accepted: 3, sms.ClosedUnknown: 1, sms.InDoubt: 1})
	// Nothing left is nothing decided.
	report(4)
	last := sms.DecisionItem{Attempt: a.ID, Message: a.Messages[4], Choice: sms.ChooseSent}
	if out, err = decide(ada, last); err != nil || out.Settled != 1 || out.Decision.ID != 0 || len(out.Counts) != 0 {
		t.Errorf("%+v %v", out, err)
	}
	f.wantStates(c.ID, map[sms.State]int{sms.Accepted: 4, sms.ClosedUnknown: 1})
	f.check()
}

// TestManyNeedTwoPeople: also when they come in several presses.
func TestManyNeedTwoPeople(t *testing.T) {
	f := newFixture(t)
	c, a := f.doubt("Hello", numbers(sms.SecondFrom+1)...)
	part := func(from, to int) (list []sms.DecisionItem) {
		for _, id := range a.Messages[from:to] {
			list = append(list, sms.DecisionItem{Attempt: a.ID, Message: id, Choice: sms.ChooseSent})
		}
		return list
	}
	out, err := f.decide(ada, c, part(0, sms.SecondFrom-1)...)
	f.must(err)
	if out.Decision.State != sms.DecisionDone {
		t.Fatalf("%+v", out.Decision)
	}
	rest := part(sms.SecondFrom-1, sms.SecondFrom+1)
	if out, err = f.decide(ada, c, rest...); err != nil || out.Decision.State != sms.DecisionProposed {
		t.Fatalf("%+v %v", out.Decision, err)
	}
	f.wantStates(c.ID, map[sms.State]int{sms.Accepted: sms.SecondFrom - 1, sms.InDoubt: 2})
	if _, err := f.db.Agree(f.ctx, out.Decision.ID, ada, planLimits, f.now()); !errors.Is(err, sms.ErrForbidden) {
		t.Errorf("the same person agreed: %v", err)
	}
	if list, err := f.db.Proposals(f.ctx, c.ID); err != nil || len(list) != 1 || list[0].N != 2 ||
		list[0].By.Name != ada.Name {
		t.Errorf("%+v %v", list, err)
	}
	// A report that settles one meanwhile does not stand in the way.
	r := a.Call.Recipients[slices.Index(a.Messages, rest[0].Message)]
	f.apply(sms.DeliveryReport{AccountID: f.account.ID, ProviderID: "x", Mobile: r.Number, Status: "DELIVRD",
		ShortMessage: "Hello", ReceivedAt: f.now()})
	f.pass(ripe)
	f.reconcile()
	done, err := f.db.Agree(f.ctx, out.Decision.ID, bola, planLimits, f.now())
	if err != nil || done.Counts[sms.ChooseSent] != 1 || done.Decision.Second.Name != bola.Name {
		t.Errorf("%+v %v", done, err)
	}
	f.wantStates(c.ID, map[sms.State]int{sms.Accepted: sms.SecondFrom + 1})
	if _, err := f.db.Agree(f.ctx, out.Decision.ID, bola, planLimits, f.now()); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("agreed twice: %v", err)
	}
	f.check()
}

// TestSendingAgain: new messages, and the old ones are closed when those start,
// not before, and only if they are still in doubt.
func TestSendingAgain(t *testing.T) {
	f := newFixture(t)
	c, a := f.doubt("Hello", numbers(4)...)
	again := func(ids ...int64) (list []sms.DecisionItem) {
		for _, id := range ids {
			list = append(list, sms.DecisionItem{Attempt: a.ID, Message: id, Choice: sms.ChooseAgain})
		}
		return list
	}
	out, err := f.decide(ada, c, again(a.Messages[:3]...)...)
	f.must(err)
	draft := out.Campaign
	if draft.State != sms.CampaignDraft || draft.Recipients != 3 || draft.ID == c.ID || draft.CreatedBy != ada.ID {
		t.Fatalf("%+v", draft)
	}
	f.wantStates(c.ID, map[sms.State]int{sms.InDoubt: 4})
	f.wantStates(draft.ID, map[sms.State]int{sms.Draft: 3})
	if _, err := f.decide(bola, c, again(a.Messages[0])...); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("a message stands in two drafts: %v", err)
	}
	groups, _, err := f.db.DoubtGroups(f.ctx, c, "NG", 0, 10, f.now())
	f.must(err)
	if len(groups) != 1 || groups[0].Again[a.Messages[0]].ID != draft.ID || len(groups[0].Again) != 3 {
		t.Errorf("%+v", groups)
	}
	// Before the draft starts, a report settles one and a person another.
	f.apply(f.foreign(a, 0, "x", "Hello", "DELIVRD"))
	f.pass(ripe)
	f.reconcile()
	f.must(second(f.decide(ada, c, sms.DecisionItem{Attempt: a.ID, Message: a.Messages[1], Choice: sms.ChooseClose})))
	f.set(draft.ID, sms.CampaignRunning)
	f.wantStates(draft.ID, map[sms.State]int{sms.Skipped: 2, sms.Queued: 1})
	f.wantStates(c.ID, map[sms.State]int{sms.Accepted: 1, sms.ClosedUnknown: 1, sms.ClosedResent: 1, sms.InDoubt: 1})
	next := f.claim(5)
	if next.CampaignID != draft.ID || len(next.Messages) != 1 || next.Call.Recipients[0].Number != numbers(3)[2] {
		t.Errorf("%+v", next)
	}
	if before, after, err := f.db.Resent(f.ctx, next.Messages[0]); err != nil || before != a.Messages[2] || after != 0 {
		t.Error(before, after, err)
	}
	if _, after, err := f.db.Resent(f.ctx, a.Messages[2]); err != nil || after != next.Messages[0] {
		t.Error(after, err)
	}
	f.check()
	// A report for the old one now proves nothing: it may be about either.
	f.license(next)
	f.settle(next, sms.Outcome{Class: sms.ClassDoubt})
	f.apply(f.foreign(a, 2, "y", "Hello", "DELIVRD"))
	f.pass(ripe)
	if got := f.reconcile(); len(got) != 0 {
		t.Errorf("settled %v", got)
	}
	f.check()
}

// TestAThrownAwayDraftLeavesTheDoubt as it was, to be sent again another time.
func TestAThrownAwayDraftLeavesTheDoubt(t *testing.T) {
	f := newFixture(t)
	c, a := f.doubt("Hello", numbers(1)...)
	choice := sms.DecisionItem{Attempt: a.ID, Seen: 1, Choice: sms.ChooseAgain}
	out, err := f.decide(ada, c, choice)
	f.must(err)
	f.pass(minute)
	f.must(f.db.PurgeDrafts(f.ctx, f.now()))
	if _, err := f.db.Campaign(f.ctx, out.Campaign.ID); !errors.Is(err, sms.ErrNotFound) {
		t.Fatal(err)
	}
	f.wantStates(c.ID, map[sms.State]int{sms.InDoubt: 1})
	if out, err = f.decide(ada, c, choice); err != nil || out.Campaign.ID == 0 {
		t.Errorf("%+v %v", out, err)
	}
	f.check()
}

func TestDoubtGroupsArePaged(t *testing.T) {
	f := newFixture(t)
	c := f.proven("Hello", numbers(5)...)
	var calls []int64
	for range 5 {
		a := f.license(f.claim(1))
		f.settle(a, sms.Outcome{Class: sms.ClassDoubt, Reason: fmt.Sprint("lost ", a.ID)})
		calls = append(calls, a.ID)
		f.set(c.ID, sms.CampaignRunning)
	}
	f.must(f.db.PutBalances(f.ctx, f.account.ID, []sms.Balance{{PluginType: "SMS", Credits: "₦10.00"}}, f.now()))
	var seen []int64
	for after, more := int64(0), true; more; {
		var list []sms.DoubtGroup
		var err error
		list, more, err = f.db.DoubtGroups(f.ctx, c, "NG", after, 2, f.now())
		f.must(err)
		for _, g := range list {
			seen, after = append(seen, g.Attempt.ID), g.Attempt.ID
			if len(g.Messages) != 1 || g.Attempt.Reason == "" || g.Before.Credits != "" || g.After.Credits != "₦10.00" {
				t.Errorf("%+v", g)
			}
		}
	}
	if !slices.Equal(seen, calls) {
		t.Errorf("calls %v, want %v", seen, calls)
	}
}

// TestADoubtSentAgainIsPlannedAndLinked: its campaign is like any other that
// sends again.
func TestADoubtSentAgainIsPlannedAndLinked(t *testing.T) {
	f := newFixture(t)
	c, a := f.doubt("Hello", numbers(5)...)
	out, err := f.decide(ada, c, sms.DecisionItem{Attempt: a.ID, Seen: 5, Choice: sms.ChooseAgain})
	f.must(err)
	made := out.Campaign
	if made.AgainOf != c.ID || made.CallsText != 3 || made.CallsPairs != 0 || made.Recipients != 5 || made.Parts != 5 ||
		made.Name != "A campaign (sent again)" {
		t.Errorf("%+v", made)
	}
	again, err := f.db.Resends(f.ctx, c.ID)
	if err != nil || len(again) != 1 || again[0].ID != made.ID {
		t.Errorf("%+v, %v", again, err)
	}
	calls := map[int32]int{}
	for i, m := range f.messages(made.ID) {
		calls[m.Call]++
		if m.Row != int64(i+1) {
			t.Errorf("row %d at %d", m.Row, i)
		}
	}
	if len(calls) != 3 {
		t.Errorf("calls %v", calls)
	}
	f.check()
}
