package storage

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/sms"
)

func rowsFor(list ...sms.ResultRow) sms.Outcome {
	return sms.Outcome{Class: sms.ClassAnswered, HTTPStatus: 200, Code: "000", Rows: list}
}

// groupCall claims and licenses the campaign to a group.
func (f *fixture) groupCall(c sms.Campaign) *sms.Attempt {
	f.t.Helper()
	a := f.claimAfter(c.ID-1, 10)
	if a == nil || a.CampaignID != c.ID || a.Call.Kind != sms.CallGroup || a.Call.GroupID != c.GroupID ||
		len(a.Call.Recipients) != 0 || a.Recipients != 1 {
		f.t.Fatalf("the group's call: %+v", a)
	}
	return f.license(a)
}

func TestAGroupsAnswerBecomesMessages(t *testing.T) {
	f := newFixture(t)
	c := f.set(f.newGroup("Hello", "107").ID, sms.CampaignRunning)
	var early []sms.DeliveryReport
	tries := []sms.Outcome{{Class: sms.ClassRate}, {Class: sms.ClassNothingLeft}}
	for _, o := range tries {
		f.settle(f.groupCall(c), o)
		f.wantStates(c.ID, map[sms.State]int{sms.Queued: 1})
		f.check()
	}
	a := f.groupCall(c)
	place := a.Messages[0]
	early = append(early, sms.DeliveryReport{AccountID: f.account.ID, ProviderID: "g2", Mobile: "08030000102",
		Status: "DELIVRD", ReceivedAt: f.now()})
	f.apply(early...)
	f.settle(a, rowsFor(sms.ResultRow{Number: "+2348030000101", ProviderID: "g1"},
		sms.ResultRow{Number: "08030000102", ProviderID: "g2"},
		sms.ResultRow{Number: "2348030000103", Code: "401", Description: "filter"}, sms.ResultRow{Number: "2348030000104"},
		sms.ResultRow{Number: "hidden••••", ProviderID: "g5"}))
	var got []sms.Message
	for _, m := range f.messages(c.ID) {
		m.Delivery.KnownAt = 0
		got = append(got, sms.Message{Row: m.Row, Number: m.Number, Text: m.Text, Parts: m.Parts, State: m.State,
			ProviderID: m.ProviderID, Code: m.Code, Reason: m.Reason, SentAt: m.SentAt,
			Delivery: m.Delivery})
		if m.ID == place || m.AttemptID != a.ID || m.AccountID != f.account.ID {
			t.Errorf("%+v", m)
		}
	}
	line := func(row int64, number string, state sms.State, id, code, reason string, status sms.Status) sms.Message {
		return sms.Message{Row: row, Number: number, Text: "Hello", Parts: 2, State: state, ProviderID: id, Code: code,
			Reason: reason, SentAt: a.LicensedAt, Delivery: sms.Delivery{Status: status}}
	}
	want := []sms.Message{line(1, "2348030000101", sms.Accepted, "g1", "", "", ""),
		line(2, "2348030000102", sms.Accepted, "g2", "", "", sms.Delivrd),
		line(3, "2348030000103", sms.Refused, "", "401", "filter", ""),
		line(4, "2348030000104", sms.InDoubt, "", "", "The provider gave two different answers for this number.", ""),
		line(5, "hidden••••", sms.Accepted, "g5", "", "", "")}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	campaign := f.campaign(c.ID)
	if campaign.Recipients != 5 || campaign.State != sms.CampaignFinished || campaign.Canary != sms.CanaryPassed {
		t.Errorf("%+v", campaign)
	}
	if campaign.Parts-c.Parts != 8 {
		t.Errorf("parts grew by %d, want 2 for each of 4 more", campaign.Parts-c.Parts)
	}
	if got := one[string](f, "select state || accepted from attempt where id = $1", a.ID); got != "partial3" {
		t.Errorf("the attempt is %s", got)
	}
	if n := one[int](f, "select count(*) from message where id = $1", place); n != 0 {
		t.Error("the row that stood for the group is still there")
	}
	f.check()
}

func TestAGroupWithoutAnAnswerIsInDoubtAsAWhole(t *testing.T) {
	for name, o := range map[string]sms.Outcome{"lost": {Class: sms.ClassDoubt, Reason: "lost"},
		"nobody named": rowsFor()} {
		f := newFixture(t)
		c := f.set(f.newGroup("Hello", "107").ID, sms.CampaignRunning)
		a := f.groupCall(c)
		f.settle(a, o)
		list := f.messages(c.ID)
		if len(list) != 1 || list[0].State != sms.InDoubt || list[0].Reason == "" || list[0].ID != a.Messages[0] {
			t.Errorf("%s: %+v", name, list)
		}
		if got := f.campaign(c.ID); got.Recipients != 1 || got.State != sms.CampaignFinished {
			t.Errorf("%s: %+v", name, got)
		}
		if got := one[string](f, "select state from attempt where id = $1", a.ID); got != "in_doubt" {
			t.Errorf("%s: the attempt is %s", name, got)
		}
		f.check()
	}
}

func TestAGroupIsHeldOrCutOffAsAWhole(t *testing.T) {
	f := newFixture(t)
	held := f.set(f.newGroup("one", "107").ID, sms.CampaignRunning)
	f.settle(f.groupCall(held), sms.Outcome{Class: sms.ClassHold, Code: "017", Reason: "invalid group"})
	f.wantStates(held.ID, map[sms.State]int{sms.Held: 1})
	cut := f.set(f.newGroup("two", "107").ID, sms.CampaignRunning)
	f.groupCall(cut)
	released := f.set(f.newGroup("three", "107").ID, sms.CampaignRunning)
	f.claimAfter(released.ID-1, 1)
	f.must(third(f.db.Recover(f.ctx, f.account.ID, f.now())))
	f.wantStates(cut.ID, map[sms.State]int{sms.InDoubt: 1})
	f.wantStates(released.ID, map[sms.State]int{sms.Queued: 1})
	f.check()
	f.settle(f.groupCall(released), rowsFor(sms.ResultRow{Number: "2348030000101", ProviderID: "x"}))
	f.check()
}

// TestTheSameTextToTwoGroupsIsNotTheSameMessage: a doubt about one group must
// not keep another one waiting, only the same one.
func TestTheSameTextToTwoGroupsIsNotTheSameMessage(t *testing.T) {
	f := newFixture(t)
	first := f.set(f.newGroup("Hello", "107").ID, sms.CampaignRunning)
	f.settle(f.groupCall(first), sms.Outcome{Class: sms.ClassDoubt})
	again := f.set(f.newGroup("Hello", "107").ID, sms.CampaignRunning)
	if a := f.claimAfter(0, 10); a != nil {
		t.Errorf("the group in doubt got the text again: %+v", a)
	}
	other := f.set(f.newGroup("Hello", "108").ID, sms.CampaignRunning)
	f.groupCall(other)
	f.wantStates(again.ID, map[sms.State]int{sms.Queued: 1})
	f.check()
}

// TestADoubtOfAGroupsAnswerKeepsItsNumberBack: nobody in doubt gets the text
// again from another campaign.
func TestADoubtOfAGroupsAnswerKeepsItsNumberBack(t *testing.T) {
	f := newFixture(t)
	c := f.set(f.newGroup("Hello", "107").ID, sms.CampaignRunning)
	numbers := f.proven("Hello", "2348030000101", "2348030000102")
	f.claimAfter(numbers.ID-1, 1)
	a := f.groupCall(c)
	f.settle(a, rowsFor(sms.ResultRow{Number: "+2348030000102", ProviderID: "x", Code: "5"},
		sms.ResultRow{Number: "+2348030000101", ProviderID: "y", Code: "5"}))
	if b := f.claimAfter(0, 10); b != nil {
		t.Errorf("claimed %v", b.Call.Recipients)
	}
	var states []sms.State
	for _, m := range f.messages(c.ID) {
		states = append(states, m.State)
	}
	if !slices.Equal(states, []sms.State{sms.InDoubt, sms.InDoubt}) {
		t.Errorf("%v", states)
	}
}
