package web

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/internal/workers"
	"smsdesk/views"
)

// confirmed is what the last page before a schedule would send, with some
// fields changed.
func (a answer) confirmed(pairs ...string) []string {
	a.t.Helper()
	var all []string
	for _, name := range []string{"version", "when", "day", "time", "which"} {
		value := a.attr("form#schedule input[name="+name+"]", "value")
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				value = pairs[i+1]
			}
		}
		all = append(all, name, value)
	}
	return all
}

func (s *site) campaign(id int64) sms.Campaign {
	s.t.Helper()
	c, err := s.db.Campaign(context.Background(), id)
	s.must(err)
	return c
}

func TestConfirmOffersToSendLater(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(5)})
	page := s.as(s.boss).get(views.ConfirmPath(c.ID)).is(200)
	s.leads(page)
	page.has("Now", "In 1 hour 11:48am", "Tomorrow 9:00am, ", "Pick a time",
		"Times are in West Africa Time (now 10:48am). You can cancel until sending starts.")
	page.count("main .btn:not(.quiet)", 1)
	if page.attr("[name=when][checked]", "value") != "now" || page.attr("#send-now", "value") != "now" ||
		page.text("#send-now") != "Send 5 messages now" {
		t.Error("it is not sent now unless another time is chosen")
	}
}

func TestScheduleChangeAndCancel(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.draft(s.boss, desk.Order{AccountID: a.ID, Name: "June reminders", Numbers: typed(5)})
	path := views.CampaignPath(c.ID)
	b, viewer := s.as(s.boss), s.as(s.hire("v@example.com", sms.Viewer))
	for address, want := range map[string]string{
		"?when=hour":                                 "Schedule for today at 11:48am",
		"?when=at&day=2026-06-04&time=07:05":         "Schedule for tomorrow at 7:05am",
		"?when=at&day=12+June+2026&time=4pm":         "Schedule for Friday 12 June at 4:00pm",
		"?when=tomorrow&day=2026-12-12&time=12:12":   "Schedule for tomorrow at 9:00am",
		"?when=at&day=2027-01-01&time=0:00&which=zz": "Schedule for 1 January 2027 at 12:00am",
	} {
		if got := b.get(path + "/schedule" + address).is(200); got.text("#schedule-for") != want {
			t.Errorf("%s: the button says %q", address, got.text("#schedule-for"))
		}
	}
	if got := s.campaign(c.ID); got.State != sms.CampaignDraft {
		t.Fatalf("looking at a time set it: %s", got.State)
	}
	page := b.get(path+"/schedule?when=tomorrow").is(200).has("DateThursday 4 June 2026", "Time9:00am",
		"Time zoneWest Africa Time", "Recipients5")
	s.leads(page)
	viewer.post(path+"/schedule", page.confirmed()...).is(403)
	for range 2 {
		b.post(path+"/schedule", page.confirmed()...).to(path)
	}
	want := sms.Schedule{At: time.Date(2026, 6, 4, 8, 0, 0, 0, time.UTC).UnixMilli(), Zone: "Africa/Lagos", Offset: 3600}
	if got := s.campaign(c.ID); got.State != sms.CampaignScheduled || got.Schedule() != want {
		t.Fatalf("%+v", got)
	}
	shown := b.get(path).is(200).has("Sending starts tomorrow at 9:00am",
		"Thursday 4 June 2026, 9:00am West Africa Time. Scheduled by Ada Obi. You can cancel until sending starts.")
	s.leads(shown)
	shown.count("#stop", 0).count("#change-time", 1).count("#cancel", 1)
	viewer.get(path).is(200).has("Sending starts tomorrow at 9:00am").count("#change-time", 0).count("#cancel", 0)
	b.get(path + "/confirm").to(path)
	list := b.get("/campaigns?state=scheduled").is(200).has("June reminders", "Tomorrow at 9:00am")
	s.leads(list)
	b.get("/campaigns?state=drafts").lacks("June reminders")

	change := b.get(path + "/schedule").is(200).has("Change the time")
	s.leads(change)
	if change.attr("[name=day]", "value") != "2026-06-04" || change.attr("[name=time]", "value") != "09:00" ||
		change.attr("[name=when][checked]", "value") != "at" {
		t.Error("the time that it has is not in the form")
	}
	later := b.get(path + "/schedule?when=at&day=2026-06-05&time=10:30").is(200)
	if later.text("#schedule-for") != "Change to Friday 5 June at 10:30am" {
		t.Errorf("the button says %q", later.text("#schedule-for"))
	}
	b.post(path+"/schedule", later.confirmed("version", "1")...).is(409).has("This campaign has changed")
	b.post(path+"/schedule", later.confirmed()...).to(path)
	b.get(path).has("Sending starts Friday 5 June at 10:30am")

	cancel := b.get(path+"/cancel").is(200).has("Cancel the schedule?", "Nothing has been sent.")
	s.leads(cancel)
	viewer.post(path + "/cancel").is(403)
	b.post(path + "/cancel").to(path)
	b.post(path + "/cancel").to(path)
	b.get(path + "/cancel").to(path)
	b.get(path).has("This campaign has not been sent").count("#confirm", 1)
	if got := s.campaign(c.ID); got.State != sms.CampaignDraft || got.SendAt != 0 {
		t.Errorf("%+v", got)
	}
}

func TestScheduleSaysWhatIsWrong(t *testing.T) {
	s := newSite(t)
	a := s.clinic(func(a *sms.Account) { a.Timezone = "Europe/London" })
	c := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(2)})
	path := views.CampaignPath(c.ID) + "/schedule"
	b := s.as(s.boss)
	for query, want := range map[string][2]string{
		"when=at&day=&time=09:00":                        {"day", "Enter a date, for example 2026-06-04"},
		"when=at&day=2026-06-04&time=nine":               {"time", "Enter a time, for example 09:00"},
		"when=at&day=2026-06-03&time=10:48":              {"time", "Time must be in the future"},
		"when=at&day=2027-06-30&time=10:48":              {"time", "Date must be within the next year"},
		"when=at&day=2027-03-28&time=01:30":              {"time", "1:30am does not exist on that day because the clocks go forward. Choose another time"},
		"when=at&day=2026-10-25&time=01:30":              {"which", "1:30am happens twice on that day because the clocks go back. Choose the first or the second"},
		"when=never&day=2026-10-25&time=01:30&which=two": {"when", "Choose when to send"},
	} {
		got := b.get(path + "?" + query).is(422)
		s.leads(got)
		if said := got.text(`#errors a[href="#` + want[0] + `"]`); said != want[1] ||
			!strings.HasPrefix(got.text("title"), "Error: ") {
			t.Errorf("%s: said %q", query, said)
		}
		typed, err := url.ParseQuery(query)
		s.must(err)
		if got.attr("[name=day]", "value") != typed.Get("day") || got.attr("[name=time]", "value") != typed.Get("time") {
			t.Errorf("%s: what was typed is gone", query)
		}
		if again := b.post(path, "version", "1", "when", typed.Get("when"), "day", typed.Get("day"), "time",
			typed.Get("time"), "which", typed.Get("which")); again.status != 422 {
			t.Errorf("%s: taken with %d", query, again.status)
		}
	}
	for which, want := range map[string]time.Time{"earlier": time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC),
		"later": time.Date(2026, 10, 25, 1, 30, 0, 0, time.UTC)} {
		page := b.get(path + "?when=at&day=2026-10-25&time=01:30&which=" + which).is(200)
		if words := page.text("#schedule-for"); words != "Schedule for Sunday 25 October at 1:30am (the "+which+")" &&
			words != "Change to Sunday 25 October at 1:30am (the "+which+")" {
			t.Errorf("the button says %q", words)
		}
		b.post(path, page.confirmed()...).to(views.CampaignPath(c.ID))
		if got := s.campaign(c.ID); got.SendAt != want.UnixMilli() {
			t.Errorf("%s: %s", which, got.Schedule().Time())
		}
	}
	s.know(a.ID, "SCHOOL")
	other := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(2), SenderID: "SCHOOL", Text: "Other"})
	page := b.get(views.CampaignPath(other.ID) + "/schedule?when=tomorrow").is(200)
	s.know(a.ID, "CLINIC")
	b.post(views.CampaignPath(other.ID)+"/schedule",
		page.confirmed()...).is(422).has("Sender ID SCHOOL is not approved and active. Choose another")
}

func TestScheduleAsksAboutTheSameCampaign(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	s.started(s.boss, desk.Order{AccountID: a.ID, Name: "First", Numbers: typed(3)})
	c := s.draft(s.boss, desk.Order{AccountID: a.ID, Name: "Second", Numbers: typed(3)})
	path := views.CampaignPath(c.ID) + "/schedule"
	b := s.as(s.boss)
	page := b.get(path + "?when=hour").is(200).has("All 3 recipients are already waiting to get nearly this text")
	s.leads(page)
	got := b.post(path, page.confirmed()...).is(422).has("Tick the box to send it to them again")
	s.leads(got)
	b.post(path, append(got.confirmed(), "again", "yes")...).to(views.CampaignPath(c.ID))
	if !s.campaign(c.ID).SendAgain {
		t.Error("the answer is forgotten")
	}
}

// A campaign that was held at its time says why and offers all that helps.
func TestAHeldCampaignSaysWhy(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(3)})
	c, err := s.desk.ScheduleCampaign(t.Context(), s.boss, c.ID,
		sms.ScheduleAt(s.clock.now().Add(time.Hour).In(a.Location())), desk.StartOrder{Version: c.Version})
	s.must(err)
	path := views.CampaignPath(c.ID)
	s.clock.pass(2 * time.Hour)
	b := s.as(s.boss)
	b.get(path).is(200).has("Sending starts in a few seconds")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	scheduler := workers.NewScheduler(workers.SchedulerConfig{Store: s.db, Orders: s.desk, Clocks: s.accounts,
		Feed: s.feed, Log: slog.New(slog.DiscardHandler), Now: s.clock.now, Elapsed: func() time.Duration { return 0 }})
	go func() { defer close(done); scheduler.Run(ctx) }()
	for deadline := time.Now().Add(5 * time.Second); !s.campaign(c.ID).Held() && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	<-done
	page := b.get(path).is(200).has("It was not sent on time",
		"more than 30 minutes late, so someone has to decide when to send it.", "3 messages have not been sent.")
	s.leads(page)
	page.count("#continue", 1).count("#change-time", 1).count("#cancel", 1).count("#stop", 0)
	if page.text("#continue") != "Send now" {
		t.Errorf("the button says %q", page.text("#continue"))
	}
	b.get("/campaigns?state=running").has("Paused")
	b.post(path + "/continue").to(path)
	if got := s.campaign(c.ID); got.State != sms.CampaignRunning || got.StartedAt == 0 {
		t.Errorf("%+v", got)
	}
}
