package web

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/views"
)

func TestCampaignTilesFilterTheTable(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(10)})
	s.send(a, 10, func(call sms.Call) sms.Outcome {
		o := accept(call)
		for i := range o.Rows {
			if o.Rows[i].Number == "2348030001009" {
				o.Rows[i] = sms.ResultRow{Number: o.Rows[i].Number, Code: "401", Description: "destination_address filter mismatch"}
			}
		}
		return o
	})
	s.reports(a, report("1000", "DELIVRD", "000"), report("1001", "DELIVRD", "000"), report("1002", "UNDELIV", "27"),
		report("1003", "BLACKLIST", "31"),
		report("1004", "UNKNOWN", "9"))
	b := s.as(s.boss)
	path := views.CampaignPath(c.ID)
	page := b.get(path).is(200)
	s.leads(page)
	page.has("Started by Ada Obi today at 10:48am · sender ID CLINIC · 1 part each", "Messages 1 to 10 of 10",
		"UNDELIV, code 27", "destination_address filter mismatch, code 401",
		"Sending is complete. 4 messages are awaiting their reports.")
	var tiles []string
	page.page().Find(".counts a").Each(func(_ int, e *goquery.Selection) {
		tiles = append(tiles, strings.Join(strings.Fields(e.Text()), " "))
	})
	want := []string{"All 10", "Waiting 0", "Awaiting report 4", "Delivered 2 20.0%", "Not delivered 2 20.0%",
		"Unknown or no report 1", "Need your decision 0", "Not sent or closed 1"}
	if !slices.Equal(tiles, want) {
		t.Errorf("tiles %q, want %q", tiles, want)
	}
	for tile, numbers := range map[string]string{"waiting": "", "network": "1005 1006 1007 1008", "delivered": "1000 1001",
		"failed": "1002 1003", "unknown": "1004", "decision": "", "notsent": "1009"} {
		got := b.get(path + "?tile=" + tile).is(200)
		s.leads(got)
		if current := got.attr(".counts a[aria-current]", "id"); current != "tile-"+tile {
			t.Errorf("tile %s: the current one is %q", tile, current)
		}
		var shown []string
		got.page().Find("#messages tbody a").Each(func(_ int, e *goquery.Selection) {
			shown = append(shown, e.Text()[len(e.Text())-4:])
		})
		if strings.Join(shown, " ") != numbers {
			t.Errorf("tile %s shows %q, want %q", tile, shown, numbers)
		}
		if numbers == "" {
			got.has("No messages with this status")
		}
	}
	fine := b.get(path + "?tile=failed&state=blocked").is(200)
	if got := fine.text("#messages tbody"); !strings.Contains(got, "Number is blocked") ||
		strings.Contains(got, "UNDELIV") {
		t.Errorf("the finer filter shows %q", got)
	}
	fine.has("Status: Number is blocked (1)")
	b.get(path + "?tile=nonsense&state=nonsense").is(200).has("Messages 1 to 10 of 10")
	if got := b.get(path + "?pause=1"); got.attr("#tile-failed", "href") != path+"?pause=1&tile=failed" ||
		got.page().Find("[hx-get], #live").Length() != 0 {
		t.Error("a paused page does not stay paused")
	}
}

func TestCampaignMessagesPage(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(120)})
	b := s.as(s.boss)
	first := b.get(views.CampaignPath(c.ID)).has("Messages 1 to 50 of 120").count("#messages tbody tr", 50)
	second := b.get(first.attr("a[rel=next]", "href")).has("Messages 51 to 100 of 120").count("#messages tbody tr", 50)
	third := b.get(second.attr("a[rel=next]", "href")).has("Messages 101 to 120 of 120").count("#messages tbody tr",
		20).count("a[rel=next]", 0)
	back := b.get(third.attr("a[rel=prev]", "href")).has("Messages 51 to 100 of 120")
	if back.text("#messages tbody") != second.text("#messages tbody") {
		t.Error("the way back shows other messages")
	}
	if got := b.get(back.attr("a[rel=prev]", "href")); got.text("#messages tbody") != first.text("#messages tbody") {
		t.Error("the way back does not lead to the beginning")
	}
	for _, odd := range []string{"?after=x", "?after=-1", "?first=99999999999999999999&after=1", "?before=1&after=1",
		"?before=1"} {
		b.get(views.CampaignPath(c.ID) + odd).is(200)
	}
	b.get("/campaigns/0").is(404)
	b.get("/campaigns/999").is(404)
	b.get("/campaigns/x").is(404)
}

func TestCampaignRenewsFiguresAndChangedRows(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(8)})
	s.clock.pass(time.Minute)
	b := s.as(s.boss)
	page := b.get(views.CampaignPath(c.ID) + "?tile=waiting").is(200)
	live := page.attr("#campaign-live", "hx-get")
	if got := b.fragment(live).is(200); got.html("#campaign-live") != page.html("#campaign-live") || len(got.rows()) != 0 {
		t.Errorf("nothing has changed, but the fragment differs:\n%s\n%s", got.html("#campaign-live"),
			page.html("#campaign-live"))
	}
	s.send(a, 1, accept)
	got := b.fragment(live).is(200)
	if n := len(got.rows()); n != sms.CanarySize {
		t.Fatalf("%d rows come, want the %d that were sent", n, sms.CanarySize)
	}
	fresh := b.get(views.CampaignPath(c.ID))
	for _, id := range got.rows() {
		if got.row(id) != fresh.row(id) {
			t.Errorf("row %s is not the one of the page", id)
		}
	}
	if tile := got.text("#tile-network"); tile != "Awaiting report 5" {
		t.Errorf("the tile says %q", tile)
	}
	if again := b.fragment(live); !slices.Equal(again.rows(), got.rows()) {
		t.Errorf("a lost answer is not made good: %q", again.rows())
	}
	if next := b.fragment(got.attr("#campaign-live", "hx-get")); len(next.rows()) != 0 {
		t.Errorf("what the page knows comes again: %q", next.rows())
	}
	b.fragment(views.CampaignPath(c.ID) + "?rows=1-x.-.99999999999999999999.x-1.2").is(200)
	delivered := b.get(views.CampaignPath(c.ID) + "?tile=delivered")
	s.reports(a, report("1000", "DELIVRD", "000"), report("1001", "DELIVRD", "000"))
	newer := b.fragment(delivered.attr("#campaign-live", "hx-get"))
	newer.has("2 changes since you opened this page.")
	if len(newer.rows()) != 0 {
		t.Error("new rows push themselves into the page")
	}
	newer.count("#show-newer", 1)
}

// TestTheFilterOfARunningCampaignFollowsIt: what can be chosen grows with what has
// happened, what was offered stays, and nothing comes again for nothing.
func TestTheFilterOfARunningCampaignFollowsIt(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(5)})
	b := s.as(s.boss)
	choices := func(got answer, of string) string {
		var words []string
		got.page().Find(of + " option").Each(func(_ int, o *goquery.Selection) { words = append(words, o.Text()) })
		return strings.Join(words, ", ")
	}
	open := b.get(views.CampaignPath(c.ID)).is(200)
	if got := choices(open, "#state") + "; " + choices(open, "#network"); got !=
		"All statuses, Waiting to send; All networks" {
		t.Fatalf("the page offers %q", got)
	}
	live := open.attr("#campaign-live", "hx-get")
	b.fragment(live).count("#state, #network, input, form#find", 0)
	s.send(a, 1, accept)
	got := b.fragment(live).count("input, form#find", 0).count("hx-partial[hx-target='#state'] > select#state", 1).count(
		"hx-partial[hx-target='#network'] > select#network", 1)
	if words := choices(got, "#state"); words != "All statuses, Waiting to send, Awaiting report" {
		t.Errorf("the statuses are %q", words)
	}
	fresh := b.get(views.CampaignPath(c.ID))
	if words := choices(got, "#network"); words != choices(fresh, "#network") || words == "All networks" {
		t.Errorf("the networks are %q, on the page %q", words, choices(fresh, "#network"))
	}
	next := got.attr("#campaign-live", "hx-get")
	b.fragment(next).count("#state, #network", 0)
	s.reports(a, report("1000", "DELIVRD", "000"))
	if words := choices(b.fragment(next).count("#network", 0), "#state"); words !=
		"All statuses, Waiting to send, Awaiting report, Delivered" {
		t.Errorf("the statuses are %q", words)
	}
	// The filter that the page was opened with stays chosen.
	network := fresh.page().Find("#network option").Last().AttrOr("value", "")
	waiting := b.get(views.CampaignPath(c.ID) + "?state=network&network=" + url.QueryEscape(network))
	s.reports(a, report("1001", "UNDELIV", "001"))
	kept := b.fragment(waiting.attr("#campaign-live", "hx-get"))
	if kept.attr("#state option[selected]", "value") != "network" {
		t.Error("the chosen status is not chosen any more")
	}
	b.fragment(views.CampaignPath(c.ID) + "?offered=made.up.sent&networks=-1").is(200)
}

func TestCampaignSpeaksSeldom(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(8)})
	b := s.as(s.boss)
	say := func() string { return b.get(views.CampaignPath(c.ID)).attr("[data-say]", "data-say") }
	var said []string
	hear := func() {
		if words := say(); len(said) == 0 || said[len(said)-1] != words {
			said = append(said, words)
		}
	}
	hear()
	s.send(a, 9, accept)
	for i := range 8 {
		s.reports(a, report(fmt.Sprint(1000+i), "DELIVRD", "000"))
		hear()
	}
	want := []string{"", "25% of 8 messages done.", "50% of 8 messages done.", "75% of 8 messages done.",
		"All 8 messages finished: 8 delivered, 0 not delivered."}
	if !slices.Equal(said, want) {
		t.Errorf("said %q", said)
	}
}

func TestCampaignSaysWhatStandsInTheWay(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	viewer, sender, manager := s.as(s.hire("v@example.com", sms.Viewer)), s.as(s.hire("s@example.com", sms.Sender)),
		s.as(s.hire("m@example.com", sms.Manager))
	c := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(40)})
	path := views.CampaignPath(c.ID)
	sender.get(path).has("This campaign has not been sent").count(`a[href="`+path+`/confirm"]`, 1)
	viewer.get(path).has("Someone with the Sender role can send it.").count(`a[href="`+path+`/confirm"]`, 0)
	c, err := s.desk.StartCampaign(t.Context(), s.boss, c.ID, desk.StartOrder{Version: c.Version})
	s.must(err)
	sender.get(path).has("Sending starts in a few seconds.").count("#stop", 1)
	viewer.get(path).count("#stop", 0)
	s.clock.pass(time.Minute)
	sender.get(path).has("Less than a minute left at 100 requests per minute.")
	s.update(a.ID, func(a *sms.Account) { a.PerMinute = 1 })
	sender.get(path).has("About 4 minutes left at 1 request per minute.")
	s.must(s.db.MarkAccount(t.Context(), a.ID, "We cannot reach the provider", s.clock.now().UnixMilli()))
	sender.get(path).has("We cannot reach the provider. Nothing was sent. We will keep trying.")
	s.must(s.db.MarkAccount(t.Context(), a.ID, "", s.clock.now().UnixMilli()))

	s.send(a, 1, func(sms.Call) sms.Outcome {
		return sms.Outcome{Class: sms.ClassListed, HTTPStatus: 200, Code: "007",
			Fault: sms.FaultCredentials, Reason: "The API key is wrong"}
	})
	got := manager.get(path).has("Sending is paused for account Clinic", "The API key is wrong.")
	got.count(`#account-paused`, 1).count("#resume", 1)
	s.leads(got)
	sender.get(path).has("A manager can try again, or an administrator can fix the connection.").count("#resume", 0)
	sender.post(path + "/resume").is(403)
	manager.post(path + "/resume").to(path)
	manager.get(path).count("#account-paused", 0).count("#resume", 0)

	s.send(a, 1, func(sms.Call) sms.Outcome {
		return sms.Outcome{Class: sms.ClassHold, HTTPStatus: 200, Code: "042",
			Reason: `The provider answered "too many" (code 042)`}
	})
	got = sender.get(path).has("Sending is paused", `The provider answered "too many" (code 042). `,
		"5 messages need your decision", "35 messages have not been sent.")
	s.leads(got)
	got.count("#continue", 1)
	viewer.get(path).has("5 messages need your decision").count("#continue", 0)
	sender.post(path + "/continue").to(path)
	sender.get(path).count("#paused", 0)
}

func TestCampaignIsStoppedInTwoSteps(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(12)})
	s.send(a, 1, accept)
	path := views.CampaignPath(c.ID)
	b := s.as(s.hire("s@example.com", sms.Sender))
	page := b.get(b.get(path).attr("#stop", "href")).is(200).has(
		"5 messages are already with the provider and cannot be recalled. 7 will not be sent unless you continue.")
	s.leads(page)
	page.count("button.danger", 1)
	b.post(page.attr("main form", "action")).to(path)
	got := b.get(path).has("Sending was stopped", "7 messages have not been sent.")
	s.leads(got)
	got.count("#stop", 0)
	b.post(path + "/stop").to(path)
	b.get(path + "/stop").to(path)
	b.post(got.attr(".act form", "action")).to(path)
	b.get(path).count("#stopped", 0).count("#stop", 1)
	b.get(path + "/continue").to(path)
}

func TestCampaignOfAGroup(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.draft(s.boss, desk.Order{AccountID: a.ID, GroupID: "7", GroupName: "Parents"})
	b := s.as(s.boss)
	got := b.get(views.CampaignPath(c.ID)).has("to group Parents")
	if link := got.text("#messages tbody a"); link != "Group Parents" {
		t.Errorf("the message without a number is called %q", link)
	}
	b.get(got.attr("#messages tbody a", "href")).has("Message to the group Parents")
	b.get(views.ConfirmPath(c.ID)).is(200).has("Send to the group Parents now", "To everyone in the group Parents",
		"1 request. The provider sends the text to everyone in the group.",
		"Recipients not known Everyone in the group Parents", "1 part for each contact of the group")
}

// What is shown about test mode must be true of the thing on the page.
func TestCampaignOfAnotherAccount(t *testing.T) {
	s := newSite(t)
	test := s.account(sms.Account{Name: "Sandbox", Test: true, BaseURL: "http://127.0.0.1:1/v2"})
	a := s.clinic()
	c := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(1)})
	b := s.as(s.boss)
	s.must(s.desk.ChooseAccount(t.Context(), b.cookies[s.cookie], test.ID))
	b.get("/campaigns").has("Test mode.", "Nothing sent yet")
	for _, path := range []string{views.CampaignPath(c.ID), views.ConfirmPath(c.ID)} {
		got := b.get(path).is(200).has(
			"This belongs to another account, Clinic. You are using Sandbox. Switch account to see it.").lacks(
			"Test mode.")
		if title := got.text("title"); strings.Contains(title, "TEST") {
			t.Errorf("a real campaign stands under the title %q", title)
		}
	}
}

const payload = `"'><script>alert(1)</script><img src=x onerror=alert(2)><hx-partial hx-target="#live">`

func TestCampaignShowsWhatOthersWroteAsText(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(8), Name: payload, Text: payload})
	s.send(a, 1, func(call sms.Call) sms.Outcome {
		o := accept(call)
		o.Excerpt = payload
		o.Rows[0] = sms.ResultRow{Number: o.Rows[0].Number, Code: payload, Description: payload}
		return o
	})
	bad := report("1001", payload, payload)
	bad.Raw, bad.DoneDate, bad.SubmitDate = payload, payload, payload
	strange := report("1002", "DELIVRD", payload)
	strange.Mobile, strange.Raw = payload, payload
	fine := report("1002", "UNDELIV", payload)
	s.reports(a, bad, strange, fine)
	b := s.as(s.boss)
	list := b.get("/campaigns?name=" + url.QueryEscape(payload))
	page := b.get(views.CampaignPath(c.ID))
	answers := []answer{list, page, b.get(views.CampaignPath(c.ID) + "/stop"),
		b.fragment(page.attr("#campaign-live", "hx-get")),
		b.fragment(b.get("/campaigns").attr("#campaigns-live", "hx-get"))}
	page.page().Find("#messages tbody a").Each(func(_ int, e *goquery.Selection) {
		href, _ := e.Attr("href")
		answers = append(answers, b.get(href), b.fragment(href))
	})
	if len(answers) != 21 {
		t.Fatalf("%d answers", len(answers))
	}
	for _, got := range answers {
		got.is(200).lacks("<script>alert", "<img src=x", `<hx-partial hx-target="#live"`)
	}
	answers[5].has(payload)
}

func TestCampaignCarriesLongWords(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	word := strings.Repeat("Wellbeing", 34)[:300]
	c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(2), Text: word + " " + strings.Repeat("a", 617)})
	b := s.as(s.boss)
	page := b.get(views.CampaignPath(c.ID)).is(200).has("6 parts each")
	page.page().Find("#messages tbody td").Each(func(_ int, e *goquery.Selection) {
		if n := len([]rune(strings.TrimSpace(e.Text()))); n > 60 {
			t.Errorf("a cell has %d letters", n)
		}
	})
	b.get(page.attr("#messages tbody a", "href")).is(200).has(word)
}
