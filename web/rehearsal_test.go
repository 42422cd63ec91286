package web

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"smsdesk/internal/desk"
	"smsdesk/internal/rehearsal"
	"smsdesk/internal/sms"
	"smsdesk/views"
)

// fees is a draft of 24 recipients.
func (s *site) fees(a sms.Account) sms.Campaign {
	s.t.Helper()
	var numbers []string
	for i := range 24 {
		numbers = append(numbers, fmt.Sprintf("0803%07d", 1000+i))
	}
	return s.draft(s.boss, desk.Order{AccountID: a.ID, Name: "June fees", Numbers: strings.Join(numbers, "\n"),
		Text: "Fees are due."})
}

// played ends the rehearsal that waits, with a result.
func (s *site) played(result rehearsal.Result) rehearsal.Rehearsal {
	s.t.Helper()
	r, err := s.db.BeginRehearsal(context.Background(), s.clock.now().UnixMilli())
	s.must(err)
	result.CostLow, result.CostMiddle, result.CostHigh = r.Result.CostLow, r.Result.CostMiddle, r.Result.CostHigh
	r.State, r.Rows, r.Done, r.Result = rehearsal.Done, min(r.All, rehearsal.MaxRows), r.All, result
	r.EndedAt = s.clock.now().UnixMilli()
	s.must(s.db.SaveRehearsal(context.Background(), r))
	return r
}

func TestADraftIsRehearsedBeforeItIsSent(t *testing.T) {
	s := newSite(t)
	a := s.clinic(func(a *sms.Account) { a.PricePerPart = 400 })
	c := s.fees(a)
	b := s.as(s.boss)
	confirm := b.get(views.ConfirmPath(c.ID)).is(200).has("Rehearse first", "Show me a bad day", "Nothing is sent")
	s.leads(confirm)
	b.post(views.CampaignPath(c.ID)+"/rehearse", "day", "usual").to(views.RehearsalPath(1))
	b.get(views.RehearsalPath(1)).is(200).has("Waits for another rehearsal", "Stop the rehearsal").lacks("Time to send")
	b.post(views.CampaignPath(c.ID)+"/rehearse", "day", "bad").to(views.RehearsalPath(1))
	b.get(views.ConfirmPath(c.ID)).has("A rehearsal is running", "View rehearsal")

	s.played(rehearsal.Result{Speed: 100, Reports: 700, Requests: 5, Took: 118_000, Parts: 24, TooFast: 1, Lost: 1, Unreached: 2,
		Tally: sms.Tally{"delivered": 20, "undelivered": 1, "late": 2, "doubt": 1}, Pauses: []string{"Three answers were lost"},
		Networks: []rehearsal.Network{{Name: "MTN", Rows: 24, Delivered: 20, Failed: 1}},
		Doubt:    &rehearsal.Doubt{Messages: 5, Settled: 4, Row: 3, Recipients: 5, Reason: "We lost the connection"}})
	got := b.get(views.RehearsalPath(1)).is(200).has("20 of 24 would arrive", "1 min 58 s", "about ₦96",
		"1 answer was lost and 2 connections failed",
		"700 delivery reports of the last 90 days", "5 messages were in doubt", "proved that 4 were sent",
		"decide about the other 1", "Row 3", "Three answers were lost", "MTN", "10 June", "Back to send", "1 came too fast")
	s.leads(got)
	b.get(views.ConfirmPath(c.ID)).has("20 of 24 would arrive", "View rehearsal", "Show me a bad day").lacks("Rehearse first")

	// Another list than the rehearsed one says so.
	if _, _, err := s.desk.BlockNumbers(context.Background(), s.boss,
		desk.BlockOrder{AccountID: a.ID, Numbers: "08030001000"}); err != nil {
		t.Fatal(err)
	}
	b.get(views.ConfirmPath(c.ID)).has("Rehearsed before the last change", "Rehearse")
}

// With too few reports nothing is said of how many would arrive, and of a sample
// that it is one.
func TestARehearsalPromisesNoMoreThanItKnows(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.fees(a)
	b := s.as(s.boss)
	b.post(views.CampaignPath(c.ID)+"/rehearse", "day", "usual").is(303)
	s.played(rehearsal.Result{Speed: 100, Reports: 499, Requests: 5, Took: 300, Parts: 24, Tally: sms.Tally{"delivered": 24},
		Networks: []rehearsal.Network{{Name: "MTN", Rows: 24, Delivered: 24}}})
	b.get(views.RehearsalPath(1)).has("We do not say how many would arrive", "499 delivery reports", "500 are needed", "not known yet",
		"No answer was lost in this rehearsal", "under 1 s", "Nothing was sent twice and no message was lost.").lacks("MTN", "sample",
		"of 24 would arrive")
	b.get(views.ConfirmPath(c.ID)).has("Rehearsed at").lacks("would arrive")
	b.post(views.CampaignPath(c.ID)+"/rehearse", "day", "bad").is(303)
	s.played(rehearsal.Result{Reports: 700, Requests: 5, Twice: 1, Tally: sms.Tally{"delivered": 24}})
	b.get(views.RehearsalPath(2)).has("A bad day", "it foretells no figures", "Do not send", "Rehearse a usual day").lacks(
		"of 24 would arrive", "Show me a bad day")
	b.get(views.ConfirmPath(c.ID)).has("Rehearsed on a bad day", "Rehearse a usual day")

	big := s.sampled(a)
	b.get(views.RehearsalPath(big)).has("about 50", "A sample of 20,000 of 100,000 messages", "10 min 0 s", "90,000 of 100,000 would arrive")
}

// sampled is a rehearsal of a list that is five times as long as what is played.
func (s *site) sampled(a sms.Account) int64 {
	s.t.Helper()
	r, err := s.db.OrderRehearsal(context.Background(), rehearsal.Rehearsal{AccountID: a.ID, Name: "Big", By: s.boss,
		Kind: rehearsal.Usual, All: 100_000, CreatedAt: s.clock.now().UnixMilli()})
	s.must(err)
	s.played(rehearsal.Result{Reports: 700, Requests: 10, Took: 120_000, Parts: 100_000, Tally: sms.Tally{"delivered": 18_000, "late": 2_000}})
	return r.ID
}

func TestARehearsalIsRefusedStoppedOrInterrupted(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	b := s.as(s.boss)
	few := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: "08030001000", Text: "Hello."})
	b.get(views.ConfirmPath(few.ID)).lacks("Rehearse")
	b.post(views.CampaignPath(few.ID)+"/rehearse", "day", "usual").is(422)
	c := s.fees(a)
	b.post(views.CampaignPath(c.ID)+"/rehearse", "day", "someday").is(422).has("Choose a usual day or a bad day")
	viewer := s.hire("vera@example.com", sms.Viewer)
	s.as(viewer).post(views.CampaignPath(c.ID)+"/rehearse", "day", "usual").is(403)
	s.as(viewer).post(views.RehearsalsPath).is(403)

	b.post(views.CampaignPath(c.ID)+"/rehearse", "day", "usual").to(views.RehearsalPath(1))
	other := s.hire("bola@example.com", sms.Sender)
	s.as(other).get(views.RehearsalPath(1)).is(200).has("Stop the rehearsal")
	s.as(viewer).post(views.RehearsalPath(1) + "/stop").is(403)
	b.post(views.RehearsalPath(1) + "/stop").to(views.RehearsalPath(1))
	s.leads(b.get(views.RehearsalPath(1)).has("Someone stopped this rehearsal", "Rehearse a usual day", "Show me a bad day"))
	b.get(views.ConfirmPath(c.ID)).has("The rehearsal did not finish", "Rehearse")

	b.post(views.CampaignPath(c.ID)+"/rehearse", "day", "usual").to(views.RehearsalPath(2))
	if _, err := s.db.BeginRehearsal(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	b.get(views.RehearsalPath(2)).has("Preparing the rehearsal")
	s.must(s.db.InterruptRehearsals(context.Background(), 2))
	b.get(views.RehearsalPath(2)).has("smsdesk was restarted in the middle of this rehearsal", "Nothing was sent")
	b.get(views.RehearsalPath(9)).is(404)
	b.get(views.RehearsalPath(1) + "/stop").to(views.RehearsalPath(1))
	b.get(views.CampaignPath(c.ID) + "/rehearse").to(views.ConfirmPath(c.ID))
}

func TestWhatWasForetoldStandsBesideWhatCame(t *testing.T) {
	s := newSite(t)
	a := s.clinic(func(a *sms.Account) { a.PricePerPart = 400 })
	c := s.fees(a)
	b := s.as(s.boss)
	for _, day := range []string{"usual", "bad"} {
		b.post(views.CampaignPath(c.ID)+"/rehearse", "day", day).is(303)
		s.played(rehearsal.Result{Reports: 700, Requests: 5, Took: 61_000, Parts: 24, Tally: sms.Tally{"delivered": 21, "undelivered": 3}})
	}
	b.get(views.CampaignPath(c.ID)).lacks("Predicted and actual")
	if _, err := s.desk.StartCampaign(context.Background(), s.boss, c.ID, desk.StartOrder{Version: c.Version}); err != nil {
		t.Fatal(err)
	}
	s.send(a, 100, accept)
	got := b.get(views.CampaignPath(c.ID)).is(200)
	s.leads(got.has("Predicted and actual", "21 of 24 would arrive, 0 have", "1 min 1 s", "about ₦96"))
	table := got.text("#rehearsed-table")
	for _, row := range []string{"Requests54", "Parts2424", "Delivered210", "Not delivered30"} {
		if !strings.Contains(strings.Join(strings.Fields(table), ""), strings.ReplaceAll(row, " ", "")) {
			t.Errorf("no row %q in %s", row, table)
		}
	}
	// The bad day is not what is compared.
	if got.attr("#rehearsed-show", "href") != views.RehearsalPath(1) {
		t.Errorf("compared with %s", got.attr("#rehearsed-show", "href"))
	}
	s.clock.pass(rehearsal.Keep)
	s.must(s.db.PurgeRehearsals(context.Background(), s.clock.now().UnixMilli()))
	b.get(views.CampaignPath(c.ID)).lacks("Predicted and actual")
	if _, err := s.db.Rehearsal(context.Background(), 1); !errors.Is(err, sms.ErrNotFound) {
		t.Error(err)
	}
}

func TestAnEmptyOverviewOffersARehearsal(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	b := s.as(s.boss)
	s.leads(b.get("/").has("Watch a rehearsal", "made-up recipients"))
	b.post(views.RehearsalsPath).to(views.RehearsalPath(1))
	s.played(rehearsal.Result{Requests: 26, Tally: sms.Tally{"delivered": 156}, Steps: []rehearsal.Step{
		{Name: rehearsal.StepStop, Tally: sms.Tally{"queued": 128, "delivered": 72}},
		{Name: rehearsal.StepDoubt, Tally: sms.Tally{"delivered": 200}, Doubted: 8, Settled: 3},
		{Name: rehearsal.StepAgain, Tally: sms.Tally{"delivered": 200}, Again: 23, NotAgain: 6}}})
	got := b.get(views.RehearsalPath(1)).has("200 made-up recipients", "After 72 messages", "the other 128 wait", "8 messages may or may not",
		"proved that 3 were", "about the other 5", "23 of 29", "Write a message", "Watch it again")
	s.leads(got)
	b.get(views.RehearsalsPath).to("/")
	s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: "08030001000", Text: "Hello."})
	b.get("/").lacks("Watch a rehearsal")
}
