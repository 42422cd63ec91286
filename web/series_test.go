package web

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/series"
	"smsdesk/internal/sms"
	"smsdesk/views"
)

var monthly = []string{"name", "Fees", "audience", "1", "sender_id", "CLINIC", "text", "Dear ##Name##, the fees are due.", "step", "1",
	"unit", "month", "month_day", "31", "short", "last", "time", "09:00", "from", "2026-06-04", "ends", "count", "count", "3",
	"ceiling", "50.00"}

// A series is checked at its fields, shown with every date that is unusual, and
// started by one press; a second press starts no second one.
func TestASeriesIsReviewedBeforeItStarts(t *testing.T) {
	s := newSite(t)
	account := s.clinic(func(a *sms.Account) { a.PricePerPart = 400 })
	b := s.as(s.boss)
	b.get("/series").is(200).has("No series yet.")
	s.parents(account)
	form := b.get("/series/new").is(200)
	s.leads(form)
	bad := b.post("/series", "do", "review", "ends", "until", "time", "x", "ceiling", "much").is(http.StatusUnprocessableEntity)
	bad.has("Enter a name for the series", "Choose an audience", "Enter a time, for example 09:00", "Enter an amount, for example 5000",
		"Enter the last day, or choose a number of times", "Choose every day, week or month")
	s.leads(bad)
	token := desk.NewToken()
	order := append([]string{"token", token, "do", "review"}, monthly...)
	review := b.post("/series", order...).is(200)
	review.has("On the 31st of every month at 9:00am, 3 times", "Parents, 2 contacts now", "₦8.00", "Tuesday 30 June 2026, 9:00am",
		"June has no 31st, so it is sent on the last day", "Friday 31 July 2026, 9:00am", "It is prepared an hour before its time")
	if n := review.page().Find("#dates tbody tr").Length(); n != 3 {
		t.Errorf("%d dates", n)
	}
	b.post("/series", review.formOf("#start-series", "do", "change")...).is(200).has("New series", "Review the dates")
	made := b.post("/series", review.formOf("#start-series", "do", "start")...).is(303).header.Get("Location")
	again := b.post("/series", review.formOf("#start-series", "do", "start")...).is(303).header.Get("Location")
	if made != again {
		t.Errorf("a second press leads to %s, the first to %s", again, made)
	}
	page := b.get(made).is(200).has("Active", "On the 31st of every month", "No run has been prepared yet.", "₦50.00")
	s.leads(page)
	b.get("/series").is(200).has("Fees", "Active")

	// One day is moved, another one skipped.
	b.post("/series/1/move", "run", "2026-06-30", "do", "move", "day", "2026-07-31", "time", "10:00").is(422).
		has("Choose a time between the runs before and after this one")
	b.post("/series/1/move", "run", "2026-06-30", "do", "move", "day", "2026-07-01", "time", "10:00").is(303)
	b.post("/series/1/move", "run", "2026-07-31", "do", "skip").is(303)
	b.get("/series/1").has("Wednesday 1 July 2026, 10:00am", "Moved from Tuesday 30 June, 9:00am", "Left out")

	b.post("/series/1/pause").is(303)
	b.get("/series/1").has("Paused by ", "Resume the series")
	b.post("/series/1/resume", "ceiling", "x").is(422)
	b.post("/series/1/resume", "ceiling", "20").is(303)
	b.get("/series/1").has("₦20.00", "Active")
	b.get("/series/1/stop").is(200).has("Stop this series for good?")
	b.post("/series/1/stop").is(303)
	b.get("/series/1").has("Stopped").lacks("Move or leave out", "Stop for good")

	viewer := s.as(s.hire("viewer@example.com", sms.Viewer))
	viewer.get("/series/1").is(200)
	for _, path := range []string{"/series", "/series/1/pause", "/series/1/resume", "/series/1/stop", "/series/1/move", "/series/1/runs/1"} {
		viewer.post(path).is(http.StatusForbidden)
	}
	b.get("/series/99").is(http.StatusNotFound)
	other := s.account(sms.Account{Name: "School"})
	b.post("/account", "account", "2", "back", "/").is(303)
	if b.get("/series/1").status != http.StatusNotFound {
		t.Errorf("the series is shown in %s", other.Name)
	}
}

// A run that waits for a person is asked about on the page of its series.
func TestARunIsDecidedOnItsPage(t *testing.T) {
	s := newSite(t)
	account := s.clinic()
	a := s.parents(account)
	made, _, err := s.db.CreateSeries(context.Background(), series.Series{UID: "u", AccountID: account.ID, Name: "Fees",
		SenderID: "CLINIC", Text: "Pay", Audience: a.ID, State: series.Active, CreatedBy: s.boss.ID, CreatedName: s.boss.Name,
		Rule: series.Rule{Unit: series.Daily, Step: 1, From: "2026-06-04", Count: 9, Zone: "Africa/Lagos"}}, desk.NewToken(), 1)
	s.must(err)
	at := sms.ScheduleAt(s.clock.now().Add(-time.Hour))
	_, err = s.db.UpdateSeries(context.Background(), made.ID, 1, func(x *series.Series) ([]series.Run, error) {
		late := series.Run{SeriesID: made.ID, N: 1, Day: "2026-06-03", At: at, State: series.Asking}
		late.Why = late.MissedSentence()
		second := late
		second.N, x.Runs, x.LastDay = 2, 2, "2026-06-03"
		return []series.Run{late, second}, nil
	})
	s.must(err)
	b := s.as(s.boss)
	page := b.get("/series/1").is(200).has("Run 1 needs your decision", "more than 15 minutes late", "Send it in 2 minutes")
	s.leads(page)
	b.post("/series/1/runs/1", "do", "skip").is(303)
	b.post("/series/1/runs/2", "do", "send").is(303)
	b.get("/series/1").has("Left out by "+s.boss.Name, "Being prepared").lacks("needs your decision")
	b.post("/series/1/runs/1", "do", "send").is(303)
	b.get("/series/1").has("Left out by " + s.boss.Name)
}

// The calendar shows what went and what is to come, what stands in its way and what
// it costs; its figures are those of the campaigns.
func TestTheCalendarTellsWhatStandsInTheWay(t *testing.T) {
	s := newSite(t)
	account := s.clinic(func(a *sms.Account) {
		a.PricePerPart, a.PerMinute = 400, 1
		a.Hours = sms.Hours{From: 8 * 60, To: 20 * 60}
		a.Hours.Own[time.Sunday] = sms.DayHours{Set: true, Closed: true}
	})
	s.parents(account)
	b := s.as(s.boss)
	b.get("/calendar").is(200).has("June 2026", "Nothing is to come on these days", "No sending", "08:00 to 20:00")
	sent := s.started(s.boss, desk.Order{AccountID: account.ID, Numbers: typed(3)})
	zone := account.Location()
	when := func(name string, day, hour, minute, n int) sms.Campaign {
		c := s.draft(s.boss, desk.Order{AccountID: account.ID, Name: name, Numbers: typed(n), Text: name})
		c, err := s.desk.ScheduleCampaign(context.Background(), s.boss, c.ID,
			sms.ScheduleAt(time.Date(2026, 6, day, hour, minute, 0, 0, zone)), desk.StartOrder{Version: c.Version})
		s.must(err)
		return c
	}
	first, second := when("Long list", 10, 9, 0, 30), when("Right behind", 10, 9, 2, 2)
	night := when("At night", 12, 21, 0, 2)
	b.post("/series", append([]string{"token", desk.NewToken(), "do", "start"}, monthly...)...).is(303)
	page := b.get("/calendar").is(200)
	s.leads(page)
	if got := page.text("#on-2026-06-10"); !strings.Contains(got, "9:00am Long list") || !strings.Contains(got, "30 recipients, ₦120") ||
		!strings.Contains(got, "“Long list” may still be sending then, until about 9:03am") {
		t.Errorf("%q", got)
	}
	if got := page.text("#on-2026-06-12"); !strings.Contains(got, "Outside the sending hours: it starts Saturday at 8:00am") {
		t.Errorf("%q", got)
	}
	if got := page.text("#on-2026-06-30"); !strings.Contains(got, "9:00am Fees") || !strings.Contains(got, "2 recipients, ₦8") ||
		!strings.Contains(got, "June has no 31st") {
		t.Errorf("%q", got)
	}
	if got := page.text("#on-2026-06-03"); !strings.Contains(got, "3 recipients") || strings.Contains(got, "Move") {
		t.Errorf("%q of %d", got, sent.ID)
	}
	if got := page.text(".head p"); got != "To come: 4 campaigns to 36 recipients, ₦144" {
		t.Errorf("%q", got)
	}
	week := b.get("/calendar?view=week&at=2026-06-10").is(200).has("8 to 14 June 2026", "Long list", "Right behind", "At night").lacks("Fees")
	for _, c := range []sms.Campaign{first, second, night} {
		if week.page().Find(`a.move[href="`+views.SchedulePath(c.ID)+`"]`).Length() != 1 {
			t.Errorf("%s cannot be moved", c.Name)
		}
	}
	b.get("/calendar?at=nonsense&view=x").is(200).has("June 2026")
	s.as(s.hire("viewer@example.com", sms.Viewer)).get("/calendar?view=week&at=2026-06-10").is(200).lacks(">Move<")
}
