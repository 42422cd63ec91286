package web

import (
	"log/slog"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/health"
	"smsdesk/internal/sms"
	"smsdesk/internal/workers"
	"smsdesk/views"
)

func TestCampaignSaysHowFastItLeaves(t *testing.T) {
	s := newSite(t)
	a := s.clinic(func(a *sms.Account) { a.PerMinute = 1; a.Hours = sms.Hours{From: 8 * 60, To: 11 * 60} })
	c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(100)})
	b := s.as(s.boss)
	path := views.CampaignPath(c.ID)
	s.clock.pass(time.Minute)
	b.get(path).has("About 10 minutes left at 1 request per minute.").lacks("in the last minute", "Sending pauses")
	s.send(a, 1, accept)
	b.get(path).has("1 request sent in the last minute.")
	another := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(100), Text: "Another"})
	got := b.get(path).has("About 20 minutes left at 1 request per minute, shared with 1 other campaign.",
		"Sending pauses from 11:00 to 08:00 and should finish tomorrow about 8:10am.")
	s.leads(got)
	// Nothing of the other has left: it waits for its turn, and the request of the
	// last minute is not its own.
	waits := b.get(views.CampaignPath(another.ID)).has("Waits behind “"+c.Name+"”", "Starts about 10:51am",
		"About 20 minutes left at 1 request per minute, shared with 1 other campaign.").lacks("in the last minute",
		"in a few seconds")
	if left, own := waits.text("#queue-0 td"), waits.text("#queue-own td"); left != "95" || own != "100" {
		t.Errorf("the queue has %s and %s messages left, want 95 and 100", left, own)
	}

	s.send(a, 2, func(sms.Call) sms.Outcome { return sms.Outcome{Class: sms.ClassRate, HTTPStatus: 429} })
	band := b.get(path).has("Sending at the provider's rate limit",
		"Today at 10:49am the provider said we were sending too fast. We have slowed down automatically. No message is lost.")
	band.count("#too-fast.warn", 1)
	s.clock.pass(5 * time.Minute)
	b.get(path).count("#too-fast", 0).lacks("in the last minute")

	s.clock.pass(time.Hour)
	rest := b.get(path).has("Sending continues tomorrow at 8:00am", "This account only sends from 08:00 to 11:00.",
		"95 messages are waiting.").count("#stop", 1)
	s.leads(rest)
	rest.lacks("minutes left")
	fresh := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(3), Text: "Fresh"})
	b.get(views.CampaignPath(fresh.ID)).has("Sending starts tomorrow at 8:00am")
	test, err := s.desk.SendTest(t.Context(), s.boss, c.ID,
		desk.TestOrder{MessageID: 1, Number: "08030000101", Token: desk.NewToken()})
	s.must(err)
	b.get(views.CampaignPath(test.ID)).has("Sending starts in a few seconds.").count("#resting", 0)
}

// TestEveryPageSaysThatTheClockIsWrong: for as long as it is.
func TestEveryPageSaysThatTheClockIsWrong(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	log := slog.New(slog.DiscardHandler)
	steady := func() health.Steady { return health.Steady{Boot: 1, Ms: 1} }
	clock := workers.NewClock(s.db, func() time.Time { return time.Time{} }, s.clock.now, steady, log)
	s.accounts.TellTime(clock)
	b := s.as(s.boss)
	b.get("/").count("#clock-wrong", 0)
	clock.Hear(a.ID, s.clock.now().Add(-time.Hour))
	for _, path := range []string{"/", "/campaigns", "/settings/account"} {
		b.get(path).has(
			"The clock of the computer that runs smsdesk is 60 minutes ahead of the provider's. Scheduled campaigns wait.",
			"Set the computer's clock, best by a time service (NTP); scheduled campaigns then continue automatically.").count("#clock-wrong.bad", 1)
	}
	s.clock.pass(-time.Hour)
	b.get("/").count("#clock-wrong", 0)
}

func TestCampaignIsGivenUp(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(12)})
	s.send(a, 1, accept)
	path := views.CampaignPath(c.ID)
	b := s.as(s.hire("s@example.com", sms.Sender))
	b.get(path + "/give-up").to(path)
	b.post(path + "/stop").to(path)
	page := b.get(b.get(path).attr("#give-up", "href")).is(200).has("Cancel unsent messages?",
		"7 messages will never be sent.", "This cannot be undone.")
	s.leads(page)
	if page.text("#cancel-rest") != "Cancel 7 messages" {
		t.Errorf("the button says %q", page.text("#cancel-rest"))
	}
	s.as(s.hire("v@example.com", sms.Viewer)).post(path + "/give-up").is(403)
	b.post(path + "/give-up").to(path)
	b.post(path + "/give-up").to(path)
	got := b.get(path).is(200).has("This campaign was cancelled", "7 messages will never be sent.").count(
		"#continue, #stop, #give-up", 0)
	s.leads(got)
	b.get("/campaigns?state=finished").has("Cancelled")
}
