package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/storage"
	"smsdesk/views"
)

// own drafts a campaign in which everybody has another text, of a list where
// list is not 0.
func (s *site) own(a sms.Account, list int64, texts ...string) sms.Campaign {
	s.t.Helper()
	c := sms.Campaign{AccountID: a.ID, Name: "june-list.xlsx", SenderID: "CLINIC", CreatedBy: s.boss.ID,
		CreatedName: s.boss.Name, ListID: list, CallsPairs: 3, CallsText: 1, Fingerprint: desk.NewToken()}
	var messages []sms.Message
	for i, text := range texts {
		n := sms.CountSegments(text, false)
		m := sms.Message{Row: int64(2 + 2*i), Number: fmt.Sprintf("23480300%05d", 1000+i), Text: text, Parts: n.Parts,
			Unicode: n.Unicode}
		if text == "" {
			m.State, m.Code, m.Number, m.Reason = sms.Skipped, string(sms.RowMissing), "", "Missing: enter a phone number"
		} else {
			c.Parts += int64(n.Parts)
		}
		messages = append(messages, m)
	}
	made, _, err := s.db.CreateDraft(context.Background(), c, desk.NewToken(), messages, 0, s.clock.now().UnixMilli())
	s.must(err)
	return made
}

// listed is a store that knows one list.
type listed struct {
	*storage.DB
	list sms.List
}

// between puts it between the pages of campaigns and the storage.
func (l *listed) between(c *Config) {
	l.DB = c.Campaign.Ask.Base.(*storage.DB)
	c.Campaign.Ask.Base = l
}

func (l *listed) ListByID(_ context.Context, id int64) (sms.List, error) {
	if id != l.list.ID {
		return sms.List{}, sms.ErrNotFound
	}
	return l.list, nil
}

func TestPreviewOfAnyRow(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.own(a, 0, "", "Short", strings.Repeat("a", 170), "Dear Bọla, "+strings.Repeat("b", 70), "Last")
	path := views.ConfirmPath(c.ID)
	b := s.as(s.boss)
	first := b.get(path).is(200).has("Message 4 of 5 to 0803 000 1001", "1 part, 5 characters")
	s.leads(first)
	for name, want := range map[string]string{"previous": "2", "next": "6", "longest": "6", "odd": "8"} {
		if got := first.attr("#preview-"+name, "href"); got != path+"?row="+want {
			t.Errorf("%s leads to %q", name, got)
		}
	}
	for row, want := range map[string]string{
		"2": "No number", "5": "to 0803 000 1002", "6": "2 parts, 170 characters",
		"8": "2 parts because of “ọ”", "99": "Last", "": "Short", "x": "No number", "-1": "No number", "99999999999999999999": "No number",
	} {
		page := b.get(views0(path, row)).is(200)
		if got := page.text("#preview"); !strings.Contains(got, want) {
			t.Errorf("row %q: %s", row, got)
		}
		fragment := b.fragment(views0(path, row)).is(200)
		if fragment.text("#preview") != page.text("#preview") || strings.Contains(fragment.body, "<html") {
			t.Errorf("row %q: the fragment is not the card of the page", row)
		}
		if got, _ := fragment.page().Find("#test [name=message]").Attr("value"); got == "" {
			t.Errorf("row %q: no message to try", row)
		}
	}
	last := b.get(path+"?row=10").count("#preview-next", 0)
	if last.attr("#preview-previous", "href") != path+"?row=8" {
		t.Errorf("before the last row is %q", last.attr("#preview-previous", "href"))
	}
	one := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(1)})
	b.get(views.ConfirmPath(one.ID)).has("To 0803 000 1000").count(
		"#preview-next, #preview-previous, #preview-longest, #preview-go", 0)
}

func views0(path, row string) string {
	if row == "" {
		return path
	}
	return path + "?row=" + row
}

// TestConfirmOfAList: what the list's tally knows stands on the page.
func TestConfirmOfAList(t *testing.T) {
	l := &listed{list: sms.List{ID: 7, UID: "abcd", State: sms.ListMade,
		Order: sms.ListOrder{Text: "Dear ##Name##, come on ##Day##."},
		Tally: sms.ListTally{Rows: 20, Good: 4, Hidden: 14, Parts: 5, Longest: 8, Odd: 8, Letters: "ọ", Texts: 4,
			Kinds: map[sms.RowKind]int64{sms.RowBlocked: 2, sms.RowRepeat: 1, sms.RowMissing: 1, sms.RowRepaired: 212,
				sms.RowLonger: 8, sms.RowOtherText: 3},
			Fixes: map[string]int64{"Added the missing 0": 200, "Removed spaces": 12}}}}
	s := newSite(t, l.between)
	a := s.clinic()
	c := s.own(a, 7, "Dear Ada, come on Monday.", "", "Dear Bọla, come on Friday.")
	b := s.as(s.boss)
	page := b.get(views.ConfirmPath(c.ID)).is(200)
	page.has("Row 2 to 0803 000 1000",
		"4 requests: 1 sending one text to many numbers, 3 each carrying a different text per number.",
		"1 missing value", "2 blocked", "1 repeated", "14 hidden", "2 of 20",
		"We fixed 212 numbers: added the missing 0 (200) and removed spaces (12).", "3 numbers will get more than one message because the texts differ.",
		"8 messages need extra parts because of “ọ”.", "Parts 2 1 each")
	page.lacks("unreadable")
	if got := page.text("#preview .mark"); got != "AdaMonday" {
		t.Errorf("marked %q", got)
	}
	if link := page.attr("#deck-back", "href"); link != "/lists/abcd/check" {
		t.Errorf("back leads to %q", link)
	}
	if page.attr("#preview-longest", "href") != views.ConfirmPath(c.ID)+"?row=8" {
		t.Error("the list's longest row is not offered")
	}
	page.count(".steps [aria-current]", 1)
	l.list = sms.List{ID: 7, UID: "abcd"}
	if got := b.get(views.ConfirmPath(c.ID)).attr("#deck-back", "href"); got != "/lists/abcd/message" {
		t.Errorf("from a clean list back leads to %q", got)
	}
}

func TestConfirmCountsWhatWasBlockedSince(t *testing.T) {
	s := newSite(t)
	a := s.clinic(func(a *sms.Account) { a.PricePerPart = 100; a.ConfirmCountAbove = 3 })
	c := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(5)})
	b := s.as(s.boss)
	path := views.ConfirmPath(c.ID)
	b.get(path).has("Recipients 5", "Type 5 to confirm").lacks("left out")
	b.post("/settings/blocked", "numbers", "08030001000").is(303)
	page := b.get(path).has("Recipients 4 of 5 1 left out: 1 blocked since the check", "Parts 4", "about ₦4.00",
		"Type 4 to confirm", "Required for campaigns with more than 3 recipients.")
	s.leads(page)
	if page.text("#send-now") != "Send 4 messages now" || page.text(`.top a[href="#typed"]`) != "Go to the Send button" {
		t.Errorf("the button says %q", page.text("#send-now"))
	}
	got := b.post(views.CampaignPath(c.ID)+"/start", "version", "1", "when", "now", "sure", "now", "typed", "1169").is(422)
	s.leads(got)
	if said := got.text(`#errors a[href="#typed"]`); said != "You typed 1169. There are 4 recipients" ||
		got.attr("#typed", "value") != "1169" {
		t.Errorf("said %q", said)
	}
	// Without script the time is asked for once more, and the number with it.
	later := b.post(views.CampaignPath(c.ID)+"/start", "version", "1", "when", "tomorrow", "sure", "now", "typed",
		"4").is(200)
	if later.text("#schedule-for") != "Schedule for tomorrow at 9:00am" || later.attr("#typed", "value") != "4" {
		t.Errorf("%q with %q", later.text("#schedule-for"), later.attr("#typed", "value"))
	}
	b.post(views.CampaignPath(c.ID)+"/schedule", later.confirmed()...).is(422).has("Type 4 to confirm").count(
		"#schedule-for", 1)
	b.post(views.CampaignPath(c.ID)+"/schedule", append(later.confirmed(), "typed", "4")...).to(views.CampaignPath(c.ID))

	all := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: "08030001001"})
	b.post("/settings/blocked", "numbers", "08030001001").is(303)
	b.get(views.ConfirmPath(all.ID)).has("There is no one left to send to.").count("#send-now", 0)
}

// timed is the form of the page with a time in it.
func (a answer) timed(when string, pairs ...string) []string {
	a.t.Helper()
	return append([]string{"version", a.attr("form#send [name=version]", "value"), "when", when}, pairs...)
}

func TestOneListOfTimes(t *testing.T) {
	s := newSite(t)
	a := s.clinic(func(a *sms.Account) { a.Timezone = "Europe/London" })
	c := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(5)})
	b := s.as(s.boss)
	start, path := views.CampaignPath(c.ID)+"/start", views.CampaignPath(c.ID)
	page := b.get(views.ConfirmPath(c.ID)).is(200)

	renewed := func(pairs ...string) answer {
		return b.post(path+"/when", append([]string{"version", "1"}, pairs...)...).is(200)
	}
	for _, c := range []struct {
		pairs        []string
		button, sure string
	}{
		{[]string{"when", "now"}, "Send 5 messages now", "now"},
		{[]string{"when", "tomorrow"}, "Schedule for tomorrow at 9:00am", strconv.FormatInt(time.Date(2026, 6, 4, 8, 0, 0, 0, time.UTC).UnixMilli(), 10)},
		{[]string{"when", "at", "day", "2026-06-05", "time", "16:45"}, "Schedule for Friday 5 June at 4:45pm",
			strconv.FormatInt(time.Date(2026, 6, 5, 15, 45, 0, 0, time.UTC).UnixMilli(), 10)},
		{[]string{"when", "at", "day", "2026-06-05", "time", "16:45", "hand_over", "yes"},
			"Schedule with the provider for Friday 5 June at 4:45pm", strconv.FormatInt(time.Date(2026, 6, 5, 15, 45, 0, 0, time.UTC).UnixMilli(), 10)},
		{[]string{"when", "at", "day", "", "time", ""}, "Schedule", ""},
		{[]string{"when", "at", "day", "2026-10-25", "time", "01:30"}, "Schedule", ""},
		{[]string{"when", "zzz"}, "Schedule", ""},
	} {
		got := renewed(c.pairs...)
		if got.text("#send-now") != c.button || got.attr("#send-now", "value") != c.sure {
			t.Errorf("%v: %q %q", c.pairs, got.text("#send-now"), got.attr("#send-now", "value"))
		}
	}
	renewed("when", "at", "day", "2026-10-25", "time", "01:30").has("First 1:30am", "Second 1:30am")
	if s.campaign(c.ID).State != sms.CampaignDraft {
		t.Fatal("looking at a time set it")
	}

	for name, c := range map[string]struct {
		pairs []string
		at    string
		want  string
	}{
		"a stale button":       {page.timed("now", "sure", "1780560000000"), "when", "The time has just changed. Check the button, then press it again"},
		"handing over at once": {page.timed("now", "sure", "now", "hand_over", "yes"), "hand_over", "Choose a time, or untick this box"},
		"no date":              {page.timed("at", "sure", "", "day", "", "time", "09:00"), "day", "Enter a date, for example 2026-06-04"},
		"a gap": {page.timed("at", "sure", "", "day", "2027-03-28", "time", "01:30"), "time",
			"1:30am does not exist on that day because the clocks go forward. Choose another time"},
		"an overlap": {page.timed("at", "sure", "", "day", "2026-10-25", "time", "01:30"), "which",
			"1:30am happens twice on that day because the clocks go back. Choose the first or the second"},
		"nothing": {page.timed("never", "sure", ""), "when", "Choose when to send"},
		"too soon to hand over": {page.timed("at", "sure",
			strconv.FormatInt(time.Date(2026, 6, 3, 9, 51, 0, 0, time.UTC).UnixMilli(), 10), "day", "2026-06-03", "time",
			"10:51", "hand_over", "yes"), "time",
			"Scheduling with the provider takes up to 6 minutes. Choose a later time"},
	} {
		got := b.post(start, c.pairs...).is(422)
		s.leads(got)
		if said := got.text(`#errors a[href="#` + c.at + `"]`); said != c.want ||
			!strings.HasPrefix(got.text("title"), "Error: ") || !strings.Contains(got.text("#"+c.at+"-error"), c.want) {
			t.Errorf("%s: said %q", name, got.text("#errors"))
		}
	}
	if s.campaign(c.ID).State != sms.CampaignDraft {
		t.Fatal("a refused form set a time")
	}

	// The button said the hour as it was two minutes ago: that is what is set.
	hour := renewed("when", "hour")
	s.clock.pass(2 * time.Minute)
	b.post(start, page.timed("hour", "sure", hour.attr("#send-now", "value"))...).to(path)
	if got := s.campaign(c.ID); got.State != sms.CampaignScheduled ||
		got.SendAt != time.Date(2026, 6, 3, 10, 48, 0, 0, time.UTC).UnixMilli() {
		t.Errorf("%s %s", got.State, got.Schedule().Time())
	}
	b.post(path + "/cancel").to(path)

	// Without script the button knows nothing of the choice, so it is asked.
	page = b.get(views.ConfirmPath(c.ID))
	asked := b.post(start, page.timed("at", "sure", "now", "day", "2026-06-05", "time", "16:45", "hand_over",
		"yes")...).is(200)
	s.leads(asked)
	asked.has("You cannot cancel them from here.")
	if asked.text("#schedule-for") != "Schedule with the provider for Friday 5 June at 4:45pm" {
		t.Errorf("asked %q", asked.text("#schedule-for"))
	}
	b.post(path+"/schedule", append(asked.confirmed(), "hand_over", "yes")...).to(path)
	if got := s.campaign(c.ID); !got.HandOver || got.State != sms.CampaignRunning || got.SendAt == 0 {
		t.Errorf("%+v", got)
	}
	b.get(path).has("Scheduled with the provider",
		"The provider will send it Friday 5 June at 4:45pm, London time (UTC+1). You cannot recall it from here.")
	b.post(start, page.timed("tomorrow", "sure", "now")...).is(409)
	s.browser().post(path+"/when", "when", "now").is(http.StatusNoContent)
}

func TestPlanSaysHowLongItTakes(t *testing.T) {
	s := newSite(t)
	a := s.clinic(func(a *sms.Account) {
		a.PerMinute = 1
		a.CallLimit = 10
		a.Hours = sms.Hours{From: 8 * 60, To: 11 * 60}
	})
	b := s.as(s.boss)
	small := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(40)})
	b.get(views.ConfirmPath(small.ID)).has("4 requests, each sending one text to many numbers.",
		"Takes about 5 minutes at 1 request per minute.", "Ends today about 10:53am.")
	large := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(190), Text: "Large"})
	b.get(views.ConfirmPath(large.ID)).has("Takes about 20 minutes at 1 request per minute.",
		"Sending pauses from 11:00 to 08:00; ends tomorrow about 8:10am.")
	s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(60), Text: "Other"})
	b.get(views.ConfirmPath(small.ID)).has(
		"Takes about 10 minutes at 1 request per minute. Another campaign on this account is also sending. They take turns.")
	s.clock.pass(3 * time.Hour)
	b = s.as(s.boss)
	closed := b.get(views.ConfirmPath(small.ID)).has(
		"Starts tomorrow at 8:00am, because the sending hours are 08:00 to 11:00.")
	if closed.text("#send-now") != "Send 40 messages, starting tomorrow at 8:00am" {
		t.Errorf("the button says %q", closed.text("#send-now"))
	}
	b.post(views.CampaignPath(small.ID)+"/when", "when", "tomorrow").is(200).has("Takes about 5 minutes").lacks(
		"They take turns")
}

func TestATestGoesToOnesOwnPhone(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.own(a, 0, "Dear Ada", "Dear Bola")
	b := s.as(s.boss)
	test := views.CampaignPath(c.ID) + "/test"
	second := b.get(views.ConfirmPath(c.ID) + "?row=4").is(200)
	if second.attr("#test_number", "value") != "" {
		t.Error("a number is known before the first test")
	}
	form := func(a answer, number string) []string {
		return []string{"token", a.attr("#test [name=token]", "value"), "message", a.attr("#test [name=message]", "value"),
			"test_number", number}
	}
	wrong := b.post(test, form(second, "0803 5S5 0101")...).is(422)
	s.leads(wrong)
	if said := wrong.text(`#errors a[href="#test_number"]`); !strings.HasPrefix(said, "Contains letters") ||
		wrong.attr("#test_number", "value") != "0803 5S5 0101" {
		t.Errorf("said %q, kept %q", said, wrong.attr("#test_number", "value"))
	}
	wrong.has("Dear Bola")
	sent := b.post(test, form(second, "0803 000 0101")...).is(303).header.Get("Location")
	if again := b.post(test, form(second, "0803 000 0101")...).header.Get("Location"); again != sent {
		t.Errorf("pressed twice: %q and %q", sent, again)
	}
	got := b.get(sent).is(200).has("Sent a test to 0803 000 0101. View the test", "Dear Bola")
	s.leads(got)
	if got.attr("#test_number", "value") != "0803 000 0101" {
		t.Error("the number is forgotten")
	}
	b.get(got.attr("#tested a", "href")).is(200).has("Test of june-list.xlsx", "test to one phone", "Dear Bola")
	rows := s.campaigns(a.ID)
	if len(rows) != 2 || rows[0].Campaign.TestOf != c.ID || rows[0].Campaign.State != sms.CampaignRunning ||
		s.campaign(c.ID).State != sms.CampaignDraft {
		t.Errorf("%d campaigns, %+v", len(rows), rows[0].Campaign)
	}
	// Nobody can make the page say that something was sent.
	u, err := url.Parse(sent)
	s.must(err)
	for _, id := range []int64{c.ID, 999} {
		q := u.Query()
		q.Set("tested", strconv.FormatInt(id, 10))
		b.get(u.Path+"?"+q.Encode()).is(200).count("#tested", 0)
	}
	colleague := s.as(s.hire("s@example.com", sms.Sender))
	colleague.get(sent).is(200).count("#tested", 0)
	s.as(s.hire("v@example.com", sms.Viewer)).post(test, form(second, "08030000101")...).is(403)
	b.get(test).to(views.ConfirmPath(c.ID))
}

func TestConfirmTakesAnotherName(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(2)})
	b := s.as(s.boss)
	path := views.CampaignPath(c.ID) + "/name"
	b.post(path, "name", "June reminders").to(views.ConfirmPath(c.ID) + "?done=saved")
	if got := b.get(views.ConfirmPath(c.ID)).has("June reminders").attr("#name", "value"); got != "June reminders" {
		t.Errorf("the field says %q", got)
	}
	long := strings.Repeat("n", 101)
	got := b.post(path, "name", long).is(422)
	s.leads(got)
	if got.text(`#errors a[href="#name"]`) != "Name must be 100 characters or fewer" ||
		got.attr("#name", "value") != long {
		t.Errorf("said %q", got.text("#errors"))
	}
	b.get(path).to(views.ConfirmPath(c.ID))
}

func TestConfirmRenewsTheBalance(t *testing.T) {
	s := newSite(t)
	a := s.clinic(func(a *sms.Account) { a.PricePerPart = 100 })
	c := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(2) + "\n" + typed(1)})
	b := s.as(s.boss)
	page := b.get(views.ConfirmPath(c.ID) + "?repeated=1").is(200).has("1 repeated")
	if page.attr("#live", "hx-sse:connect") == "" {
		t.Error("the page listens to nothing")
	}
	s.must(s.db.PutBalances(t.Context(), a.ID, []sms.Balance{{PluginType: "SMS", Credits: "₦1.50"}},
		s.clock.now().UnixMilli()))
	part := b.fragment(page.attr("#cost", "hx-get")).is(200)
	part.has("Balance ₦1.50", "₦0.50 short. Send fewer messages or top up", "1 repeated", "about ₦2.00")
	if fresh := b.get(views.ConfirmPath(c.ID) + "?repeated=1"); fresh.html("#cost") != part.html("#cost") {
		t.Error("the fragment is not the one of the page")
	}
	b.get(views.ConfirmPath(c.ID)+"?pause=1").count("#cost[hx-get]", 0)
}

func (s *site) reload(account int64) sms.Account {
	s.t.Helper()
	a, err := s.db.Account(context.Background(), account)
	s.must(err)
	return a
}
