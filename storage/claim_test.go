package storage

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/sms"
)

// planned makes a running campaign without a canary of messages that have
// their calls.
func (f *fixture) ready(c sms.Campaign, messages []sms.Message) sms.Campaign {
	f.t.Helper()
	c = f.draftOf(c, messages)
	f.set(c.ID, sms.CampaignRunning)
	c, err := f.db.UpdateCampaign(f.ctx, c.ID, f.now(), func(c *sms.Campaign) error {
		c.Proves(sms.CanaryPassed)
		return nil
	})
	f.must(err)
	return c
}

// said writes a call as its kind and what it says to whom.
func said(a *sms.Attempt) string {
	if a == nil {
		return "nothing"
	}
	list := []string{string(a.Call.Kind)}
	if a.Call.Unicode {
		list[0] += " unicode"
	}
	for _, r := range a.Call.Recipients {
		text := r.Text
		if a.Call.Kind == sms.CallText {
			text = a.Call.Text + text
		}
		list = append(list, r.Number+"="+text)
	}
	return strings.Join(list, " ")
}

func (f *fixture) wantCalls(order sms.ClaimOrder, want ...string) {
	f.t.Helper()
	var got []string
	for {
		claim, err := f.db.Claim(f.ctx, order, f.now())
		f.must(err)
		if claim.Attempt == nil {
			break
		}
		got = append(got, said(claim.Attempt))
		stored := one[string](f, "select kind || ' ' || text from attempt where id = $1", claim.Attempt.ID)
		if want := string(claim.Attempt.Call.Kind) + " " + claim.Attempt.Call.Text; stored != want {
			f.t.Errorf("stored as %q, want %q", stored, want)
		}
		f.settle(f.license(claim.Attempt), answer(claim.Attempt))
		f.check()
	}
	if d := cmp.Diff(want, got); d != "" {
		f.t.Errorf("calls (-want +got):\n%s", d)
	}
}

func TestCallsGoOutAsTheyWerePlanned(t *testing.T) {
	f := newFixture(t)
	messages := func() []sms.Message {
		return []sms.Message{{Number: "5", Text: "same", Call: 2}, {Number: "1", Text: "a", Call: 0},
			{Number: "3", Text: "ọ", Call: 1, Unicode: true},
			{Number: "2", Text: "b", Call: 0}, {Number: "6", Text: "same", Call: 2}, {Number: "4", Text: "x", Call: 3},
			{Number: "7", Text: "y", Call: 3}, {Number: "8", Text: "x~9^y", Call: 4}}
	}
	f.ready(sms.Campaign{}, messages())
	order := f.order(0, 10)
	f.wantCalls(order, "pairs 1=a 2=b", "text unicode 3=ọ", "text 5=same 6=same", "pairs 4=x 7=y", "text 8=x~9^y")
	// Lowered settings cut calls and keep the order; nobody is lost.
	f.ready(sms.Campaign{}, messages())
	order.CallLimit = 1
	f.wantCalls(order, "text 1=a", "text 2=b", "text unicode 3=ọ", "text 5=same", "text 6=same", "text 4=x", "text 7=y",
		"text 8=x~9^y")
	f.ready(sms.Campaign{}, messages())
	order.CallLimit, order.Fill = 10, fillUpTo(11)
	f.wantCalls(order, "text 1=a", "text 2=b", "text unicode 3=ọ", "text 5=same 6=same", "text 4=x", "text 7=y",
		"text 8=x~9^y")
	f.ready(sms.Campaign{}, messages())
	order.Fill = fillUpTo(12)
	f.wantCalls(order, "pairs 1=a 2=b", "text unicode 3=ọ", "text 5=same 6=same", "pairs 4=x 7=y", "text 8=x~9^y")
}

// TestWithoutAPlanNothingMixes: messages of one call number that no plan made
// still never mix alphabets, repeat a number or carry a separator in a list.
func TestWithoutAPlanNothingMixes(t *testing.T) {
	f := newFixture(t)
	c := f.draftOf(sms.Campaign{}, []sms.Message{{Number: "1", Text: "a"}, {Number: "2", Text: "b"},
		{Number: "3", Text: "a", Unicode: true}, {Number: "1", Text: "c"},
		{Number: "4", Text: "a^"}, {Number: "5", Text: "~"}, {Number: "6", Text: "~"}})
	_, err := f.db.writer.ExecContext(f.ctx, "update message set text_hash = x'0102030405060708' where campaign_id = $1",
		c.ID)
	f.must(err)
	f.set(c.ID, sms.CampaignRunning)
	f.must(second(f.db.UpdateCampaign(f.ctx, c.ID, f.now(), func(c *sms.Campaign) error {
		c.Proves(sms.CanaryPassed)
		return nil
	})))
	f.wantCalls(f.order(0, 10), "pairs 1=a 2=b", "text unicode 3=a", "text 1=c", "text 4=a^", "text 5=~ 6=~")
}

// TestACallThatComesBackIsServedAgainAsItWas: what a 429 brings back keeps its
// place in the plan.
func TestACallThatComesBackIsServedAgainAsItWas(t *testing.T) {
	f := newFixture(t)
	f.ready(sms.Campaign{}, []sms.Message{{Number: "1", Text: "a", Call: 0}, {Number: "2", Text: "b", Call: 0},
		{Number: "3", Text: "c", Call: 1}})
	for range 3 {
		a := f.claim(10)
		if said(a) != "pairs 1=a 2=b" {
			t.Fatal(said(a))
		}
		f.settle(f.license(a), sms.Outcome{Class: sms.ClassRate, HTTPStatus: 429})
		f.check()
	}
	f.wantCalls(f.order(0, 10), "pairs 1=a 2=b", "text 3=c")
}

// many makes messages in calls of a given size.
func many(n, call int) []sms.Message {
	list := make([]sms.Message, n)
	for i := range list {
		list[i] = sms.Message{Number: fmt.Sprintf("23480%08d", i), Text: "Hello", Parts: 1, Call: int32(i / call)}
	}
	return list
}

// TestAStartQueuesALittleAtATime: whoever starts a long campaign waits for
// nothing, everybody sees all of it as queued, and whole calls are queued.
func TestAStartQueuesALittleAtATime(t *testing.T) {
	f := newFixture(t)
	const all, call = 5 * queuedPerTx / 2, 30
	c := f.draftOf(sms.Campaign{}, many(all, call))
	states := func() (draft, queued int) {
		return one[int](f, "select count(*) from message where campaign_id = $1 and state = 'draft'", c.ID),
			one[int](f, "select count(*) from message where campaign_id = $1 and state = 'queued'", c.ID)
	}
	f.set(c.ID, sms.CampaignRunning)
	if draft, queued := states(); draft != all || queued != 0 {
		t.Errorf("the start itself moved messages: %d drafts, %d queued", draft, queued)
	}
	f.check()
	f.wantStates(c.ID, map[sms.State]int{sms.Queued: all})
	shown, _, err := f.db.Messages(f.ctx, sms.MessageFilter{CampaignID: c.ID, Keys: []string{"queued"}, Limit: all})
	if f.must(err); len(shown) != all || f.message(shown[all-1].ID).State != sms.Queued {
		t.Errorf("%d are shown as queued", len(shown))
	}
	if none, _, err := f.db.Messages(f.ctx, sms.MessageFilter{CampaignID: c.ID, Keys: []string{"draft"},
		Limit: all}); err != nil || len(none) != 0 {
		t.Errorf("%d are shown as drafts, %v", len(none), err)
	}
	a := f.claim(100)
	draft, queued := states()
	if whole := (queuedPerTx + call - 1) / call * call; queued != whole-sms.CanarySize || draft != all-whole {
		t.Errorf("%d drafts, %d queued beside a canary of %d", draft, queued, a.Recipients)
	}
	f.check()
	f.settle(f.license(a), answer(a))
	sizes := map[int]int{}
	for a := f.claimAfter(0, 100); a != nil; a = f.claimAfter(0, 100) {
		sizes[a.Recipients]++
		f.settle(f.license(a), answer(a))
	}
	if d := cmp.Diff(map[int]int{call: all/call - 1, call - sms.CanarySize: 1, all % call: 1}, sizes); d != "" {
		t.Errorf("sizes of calls:\n%s", d)
	}
	f.check()
	if got := f.campaign(c.ID); got.State != sms.CampaignFinished {
		t.Errorf("the campaign is %s", got.State)
	}
}

// TestWhatWaitsForATwinHoldsNobodyUp: queued messages that cannot go because
// their twins are in doubt must not keep the drafts behind them from going.
func TestWhatWaitsForATwinHoldsNobodyUp(t *testing.T) {
	f := newFixture(t)
	list := many(queuedPerTx, 100)
	twins := f.ready(sms.Campaign{}, slices.Clone(list))
	for a := f.claimAfter(0, 100); a != nil; a = f.claimAfter(0, 100) {
		f.settle(f.license(a), sms.Outcome{Class: sms.ClassDoubt})
		if f.campaign(twins.ID).State == sms.CampaignPaused {
			f.set(twins.ID, sms.CampaignRunning)
			f.must(second(f.db.UpdateCampaign(f.ctx, twins.ID, f.now(), func(c *sms.Campaign) error {
				c.Proves(sms.CanaryPassed)
				return nil
			})))
		}
	}
	f.wantStates(twins.ID, map[sms.State]int{sms.InDoubt: len(list)})
	behind := append(list, sms.Message{Number: "1", Text: "Hello", Call: 20})
	c := f.ready(sms.Campaign{}, behind)
	f.wantCalls(f.order(0, 100), "text 1=Hello")
	f.wantStates(c.ID, map[sms.State]int{sms.Accepted: 1, sms.Queued: len(list)})
}

func TestUrgentCampaignsComeFirst(t *testing.T) {
	f := newFixture(t)
	bulk := f.proven("bulk", numbers(4)...)
	first := f.ready(sms.Campaign{Urgent: true}, []sms.Message{{Number: "1", Text: "now"}})
	second := f.ready(sms.Campaign{Urgent: true}, []sms.Message{{Number: "2", Text: "now"}})
	only := f.order(bulk.ID, 2)
	only.Urgent = false
	claim, err := f.db.Claim(f.ctx, only, f.now())
	if f.must(err); claim.Attempt.CampaignID != bulk.ID || claim.Urgent {
		t.Errorf("bulk alone: %+v", claim)
	}
	for _, want := range []int64{first.ID, second.ID} {
		claim, err := f.db.Claim(f.ctx, f.order(second.ID, 2), f.now())
		if f.must(err); claim.Attempt.CampaignID != want || !claim.Urgent {
			t.Errorf("%+v, want campaign %d", claim.Attempt, want)
		}
	}
	only = f.order(0, 2)
	only.Bulk = false
	if claim, err := f.db.Claim(f.ctx, only, f.now()); err != nil || claim.Attempt != nil {
		t.Errorf("urgent alone: %+v %v", claim.Attempt, err)
	}
}

// TestNothingLeavesInQuietHours: neither claimed nor, when the hours end in
// between, licensed. What is handed over for later may be.
func TestNothingLeavesInQuietHours(t *testing.T) {
	f := newFixture(t)
	f.proven("Hello", numbers(4)...)
	f.must(second(f.db.UpdateAccount(f.ctx, f.account.ID, f.now(), func(a *sms.Account, _ *sms.Credentials) error {
		a.Hours = sms.Hours{From: 8 * 60, To: 20 * 60}
		return nil
	})))
	at := func(clock string) int64 {
		m, err := time.Parse(time.RFC3339, "2026-11-21T"+clock+"+01:00")
		f.must(err)
		return m.UnixMilli()
	}
	for _, clock := range []string{"07:59:59", "20:00:00"} {
		if claim, err := f.db.Claim(f.ctx, f.order(0, 2), at(clock)); err != nil || claim.Attempt != nil {
			t.Errorf("claimed at %s: %+v %v", clock, claim.Attempt, err)
		}
	}
	claim, err := f.db.Claim(f.ctx, f.order(0, 2), at("19:59:59"))
	f.must(err)
	if err := f.db.License(f.ctx, claim.Attempt, at("20:00:00")); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("licensed in quiet hours: %v", err)
	}
	f.must(f.db.License(f.ctx, claim.Attempt, at("19:59:59")))
	f.settle(claim.Attempt, answer(claim.Attempt))
	handed := f.ready(sms.Campaign{}, many(2, 2))
	f.must(second(f.db.UpdateCampaign(f.ctx, handed.ID, f.now(), func(c *sms.Campaign) error {
		c.HandOver, c.SendAt, c.SendZone, c.StartedAt = true, at("12:00:00")+24*3600*1000, "Africa/Lagos", 1
		return nil
	})))
	claim, err = f.db.Claim(f.ctx, f.order(0, 2), at("23:00:00"))
	f.must(err)
	if claim.Attempt == nil || claim.Attempt.Call.SchedTime.UnixMilli() != at("12:00:00")+24*3600*1000 {
		t.Fatalf("%+v", claim.Attempt)
	}
	f.must(f.db.License(f.ctx, claim.Attempt, at("23:00:00")))
}

// TestAClaimPausesWhatMayNotGoOn: once, with its sentence, and the others have
// their turn in the same claim.
func TestAClaimPausesWhatMayNotGoOn(t *testing.T) {
	f := newFixture(t)
	gone, late, good := f.ready(sms.Campaign{}, many(3, 3)), f.ready(sms.Campaign{}, many(3, 3)), f.proven("Good", "1")
	_, err := f.db.writer.ExecContext(f.ctx, "update campaign set sender_id = 'GONE' where id = $1", gone.ID)
	f.must(err)
	f.must(second(f.db.UpdateCampaign(f.ctx, late.ID, f.now(), func(c *sms.Campaign) error {
		c.HandOver, c.SendAt, c.SendZone, c.StartedAt = true, f.now()+59_000, "Africa/Lagos", 1
		return nil
	})))
	claim, err := f.db.Claim(f.ctx, f.order(0, 10), f.now())
	f.must(err)
	if claim.Attempt == nil || claim.Attempt.CampaignID != good.ID ||
		!slices.Equal(claim.Changed, []int64{gone.ID, late.ID}) || len(claim.Paused) != 2 {
		t.Fatalf("%+v", claim)
	}
	for id, want := range map[int64][2]string{gone.ID: {sms.PauseSender,
		"Sender ID GONE is no longer approved and active at the provider. Nothing more will be sent with it"},
		late.ID: {sms.PauseHandOver, "Not all messages could be scheduled with the provider before 14 November at 23:14. Continue to send the rest now"}} {
		if c := f.campaign(id); c.State != sms.CampaignPaused || c.PauseCode != want[0] || c.Pause != want[1] {
			t.Errorf("%s %s %q", c.State, c.PauseCode, c.Pause)
		}
		f.wantStates(id, map[sms.State]int{sms.Queued: 3})
	}
	if claim, err := f.db.Claim(f.ctx, f.order(0, 10), f.now()); err != nil || claim.Attempt != nil ||
		len(claim.Changed)+len(claim.Paused) > 0 {
		t.Errorf("%+v %v", claim, err)
	}
	f.check()
}

// TestACancelledCampaignIsGivenUpAtOnce: everybody sees that at once, a call
// under way ends as it ends, and what it brings back is cancelled too.
func TestACancelledCampaignIsGivenUpAtOnce(t *testing.T) {
	f := newFixture(t)
	const all = tidyPerTx*2 + 500
	c := f.ready(sms.Campaign{}, many(all, 10))
	gone, flying := f.license(f.claim(10)), f.license(f.claim(10))
	prepared := f.claim(10)
	f.set(c.ID, sms.CampaignCancelled)
	f.check()
	f.wantStates(c.ID, map[sms.State]int{sms.Sending: 20, sms.Claimed: 10, sms.Cancelled: all - 30})
	stopped, _, err := f.db.Messages(f.ctx, sms.MessageFilter{CampaignID: c.ID, Keys: []string{"stopped"}, Limit: all})
	if f.must(err); len(stopped) != all-30 || stopped[0].Reason != "Cancelled by Ada Obi" ||
		f.message(stopped[0].ID).State != sms.Cancelled {
		t.Errorf("%d are shown as stopped: %+v", len(stopped), stopped[0])
	}
	if f.claimAfter(0, 10) != nil || f.db.License(f.ctx, prepared, f.now()) == nil {
		t.Error("a cancelled campaign is claimed or licensed")
	}
	if steps := f.tidy(); steps < 3 {
		t.Errorf("all of it in %d transactions", steps)
	}
	f.check()
	if n := one[int](f,
		"select count(*) from message where campaign_id = $1 and state = 'cancelled' and reason = 'Cancelled by Ada Obi'", c.ID); n != all-30 {
		t.Errorf("%d messages are cancelled", n)
	}
	f.settle(gone, answer(gone))
	f.settle(flying, sms.Outcome{Class: sms.ClassRate})
	f.settle(prepared, sms.Outcome{Class: sms.ClassNothingLeft})
	f.check()
	want := map[sms.State]int{sms.Accepted: 10, sms.Cancelled: all - 10}
	f.wantStates(c.ID, want)
	f.tidy()
	f.wantStates(c.ID, want)
	f.check()
	if n := one[int](f, "select count(*) from message where campaign_id = $1 and state in ('draft', 'queued')",
		c.ID); n != 0 {
		t.Errorf("%d are left", n)
	}
	for _, state := range []sms.CampaignState{sms.CampaignRunning, sms.CampaignDraft, sms.CampaignStopped} {
		_, err := f.db.UpdateCampaign(f.ctx, c.ID, f.now(), func(c *sms.Campaign) error { c.State = state; return nil })
		if !errors.Is(err, sms.ErrConflict) {
			t.Errorf("a cancelled campaign became %s: %v", state, err)
		}
	}
	draft := f.newDraft("Hello", numbers(3)...)
	f.set(draft.ID, sms.CampaignCancelled)
	f.tidy()
	f.wantStates(draft.ID, map[sms.State]int{sms.Cancelled: 3})
	f.check()
}

// TestDroppedDraftsGoInBoundedSteps: a long draft that is replaced is on no
// page from then on, while it is removed a little at a time.
func TestDroppedDraftsGoInBoundedSteps(t *testing.T) {
	f := newFixture(t)
	long := f.draftOf(sms.Campaign{}, many(sweptPerTx*3, 10))
	token := randomHex(16)
	f.must(f.db.update(f.ctx, "set token", func(t *tx) error {
		_, err := t.sql.ExecContext(f.ctx, "update campaign set token = $1 where id = $2", token, long.ID)
		return err
	}))
	made, created, err := f.db.CreateDraft(f.ctx, sms.Campaign{AccountID: f.account.ID, SenderID: "CLINIC"}, randomHex(16),
		many(1, 1), long.ID, f.now())
	if f.must(err); !created {
		t.Fatal("not created")
	}
	if n := one[int](f, "select count(*) from message where campaign_id = $1", long.ID); n != sweptPerTx*3 {
		t.Errorf("the replacement itself removed messages: %d are left", n)
	}
	if rows, _, err := f.db.Campaigns(f.ctx, sms.CampaignFilter{AccountID: f.account.ID, Limit: 10}); err != nil ||
		len(rows) != 1 || rows[0].Campaign.ID != made.ID {
		t.Errorf("%d campaigns are listed, %v", len(rows), err)
	}
	if again, created, err := f.db.CreateDraft(f.ctx, sms.Campaign{AccountID: f.account.ID, SenderID: "CLINIC"}, token,
		many(1, 1), 0, f.now()); err != nil || !created || again.ID == long.ID {
		t.Errorf("the form of a replaced draft gives %d, %v", again.ID, err)
	}
	if steps := f.tidy(); steps != 3 {
		t.Errorf("%d steps", steps)
	}
	if n := one[int](f,
		"select (select count(*) from message where campaign_id = $1) + (select count(*) from campaign where id = $1) + "+
			"(select count(*) from campaign_tally where campaign_id = $1)", long.ID); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}
