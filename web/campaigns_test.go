package web

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
)

func TestCampaignListIsEmpty(t *testing.T) {
	s := newSite(t)
	s.clinic()
	boss, viewer := s.as(s.boss), s.as(s.hire("view@example.com", sms.Viewer))
	got := boss.get("/campaigns").is(200).has("Nothing sent yet")
	got.count(`main a[href="/new"]`, 1)
	s.leads(got)
	viewer.get("/campaigns").is(200).has("Nothing sent yet").count(`a[href="/new"]`, 0)
	for _, address := range []string{"/campaigns?name=zebra", "/campaigns?state=running&sender=CLINIC",
		"/campaigns?person=7", "/campaigns?from=2026-06-01", "/campaigns?to=2026-06-01"} {
		got := boss.get(address).is(200).has("No campaigns match.")
		if got.text(".empty a") != "Clear filters" || got.page().Find("#clear-filters").Length() != 1 {
			t.Errorf("%s does not offer to clear the filters", address)
		}
	}
	for tab, want := range map[string]string{"running": "No campaigns here.", "scheduled": "No campaigns here.",
		"needs-decision": "No campaigns need your decision",
		"needs-approval": "No campaigns need approval", "drafts": "No campaigns here.", "finished": "No campaigns here.", "test": "No campaigns here."} {
		got := boss.get("/campaigns?state=" + tab).is(200).has(want)
		if got.text(".empty a") != "Show all campaigns" {
			t.Errorf("%s says %q", tab, got.text(".empty"))
		}
		s.leads(got)
	}
	boss.get("/campaigns?state=nonsense").is(200).has("Nothing sent yet")
}

func TestCampaignListShowsEachUnderItsTab(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	order := func(name string, n int) desk.Order {
		return desk.Order{AccountID: a.ID, Name: name, Numbers: typed(n), Text: name}
	}
	s.draft(s.boss, order("A draft", 3))
	lost := s.started(s.boss, order("Lost on the way", 2))
	s.send(a, 1, func(sms.Call) sms.Outcome {
		return sms.Outcome{Class: sms.ClassDoubt, Reason: "We lost the connection."}
	})
	done := s.started(s.boss, order("All there", 4))
	s.send(a, 10, accept)
	s.reports(a, report("1000", "DELIVRD", "000"), report("1001", "DELIVRD", "000"), report("1002", "UNDELIV", "27"))
	running := s.started(s.boss, order("On its way", 5))
	b := s.as(s.boss)
	for address, want := range map[string]string{
		"/campaigns":                                  "On its way All there Lost on the way A draft",
		"/campaigns?state=running":                    "On its way",
		"/campaigns?state=needs-decision":             "Lost on the way",
		"/campaigns?state=finished":                   "All there Lost on the way",
		"/campaigns?state=drafts":                     "A draft",
		"/campaigns?name=ALL+the":                     "All there",
		"/campaigns?name=way&state=finished":          "Lost on the way",
		"/campaigns?name=%25":                         "",
		"/campaigns?before=" + fmt.Sprint(running.ID): "All there Lost on the way A draft",
	} {
		if got := b.get(address).is(200).text("#campaigns tbody th"); strings.ReplaceAll(got, " ",
			"") != strings.ReplaceAll(want, " ", "") {
			t.Errorf("%s shows %q, want %q", address, got, want)
		}
	}
	page := b.get("/campaigns")
	s.leads(page)
	row := "#campaign-" + fmt.Sprint(done.ID)
	if got := page.text(row); !strings.Contains(got, "50.0%") || !strings.Contains(got, "Awaiting reports") ||
		!strings.Contains(got, "today at 10:48am") {
		t.Errorf("the row says %q", got)
	}
	if label := page.attr(row+" svg[role=img]",
		"aria-label"); label != "4 messages by status: awaiting report 1, delivered 2, not delivered 1" {
		t.Errorf("the bar is called %q", label)
	}
	if got := page.text("#campaign-" + fmt.Sprint(lost.ID)); !strings.Contains(got, "Needs your decision") {
		t.Errorf("the row in doubt says %q", got)
	}
	page.count(`nav [aria-current]`, 3)
}

func TestCampaignListPages(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	const perPage = 25
	for i := range 2*perPage + 3 {
		s.draft(s.boss, desk.Order{AccountID: a.ID, Name: fmt.Sprintf("Number %d", i), Numbers: typed(1)})
	}
	b := s.as(s.boss)
	var seen []string
	address, addresses := "/campaigns?name=number", []string{}
	for range 5 {
		page := b.get(address).is(200)
		page.page().Find("#campaigns tbody th").Each(func(_ int, e *goquery.Selection) { seen = append(seen, e.Text()) })
		addresses = append(addresses, address)
		next := page.page().Find("a[rel=next]")
		if next.Length() == 0 {
			break
		}
		address, _ = next.Attr("href")
	}
	if len(seen) != 2*perPage+3 || seen[0] != "Number 52" || seen[len(seen)-1] != "Number 0" || len(addresses) != 3 {
		t.Fatalf("%d campaigns on %d pages: %q", len(seen), len(addresses), seen)
	}
	for i := 2; i > 0; i-- {
		back := b.get(addresses[i]).attr("a[rel=prev]", "href")
		if got, want := b.get(back).text("#campaigns tbody"), b.get(addresses[i-1]).text("#campaigns tbody"); got != want {
			t.Errorf("the way back from page %d leads to %q", i+1, back)
		}
	}
}

func TestCampaignRowsRenewThemselves(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	s.draft(s.boss, desk.Order{AccountID: a.ID, Name: "A draft", Numbers: typed(1), Text: "x"})
	c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(3)})
	b := s.as(s.boss)
	page := b.get("/campaigns")
	live := page.attr("#campaigns-live", "hx-get")
	id := fmt.Sprint("campaign-", c.ID)
	again := b.fragment(live).is(200)
	if again.html("#campaigns-live") != page.html("#campaigns-live") {
		t.Error("the region is not the same in the page and in the fragment")
	}
	if got := again.rows(); !slices.Equal(got, []string{id}) {
		t.Fatalf("rows %q, want only the running one", got)
	}
	if again.row(id) != page.row(id) {
		t.Error("the row is not the same in the page and in the fragment")
	}
	s.send(a, 10, accept)
	s.reports(a, report("1000", "DELIVRD", "0"), report("1001", "DELIVRD", "0"), report("1002", "DELIVRD", "0"))
	if got := b.fragment(live); !strings.Contains(got.body, "100%") || !strings.Contains(got.body, "Finished") {
		t.Errorf("the row stays as it was: %s", got.body)
	}
	other := s.account(sms.Account{Name: "Other"})
	s.know(other.ID, "CLINIC")
	foreign := s.started(s.boss, desk.Order{AccountID: other.ID, Numbers: typed(1), Text: "Secret of others"})
	if got := b.fragment(fmt.Sprintf("/campaigns?rows=%d.x.-4.99999999999999999999.%d", foreign.ID, c.ID)).is(200); len(
		got.rows()) != 1 || strings.Contains(got.body, "Secret") {
		t.Errorf("rows of another account: %q", got.rows())
	}
	if at := b.get("/campaigns?pause=1"); at.page().Find("#campaigns-live[hx-get]").Length() != 0 ||
		at.page().Find("#live").Length() != 0 {
		t.Error("a paused list is not at rest")
	}
}

func TestCampaignListFilters(t *testing.T) {
	s := newSite(t)
	a := s.clinic(func(a *sms.Account) { a.PricePerPart = 400 })
	s.know(a.ID, "CLINIC", "SCHOOL")
	bola := s.hire("bola@example.com", sms.Sender)
	s.started(s.boss, desk.Order{AccountID: a.ID, Name: "June reminders", Numbers: typed(2), Text: "June"})
	s.clock.pass(24 * time.Hour)
	s.draft(bola, desk.Order{AccountID: a.ID, Name: "Fees of the school", SenderID: "SCHOOL", Numbers: typed(3),
		Text: "Fees"})
	c := s.draft(bola, desk.Order{AccountID: a.ID, Name: "Started by the boss", Numbers: typed(1), Text: "Bola wrote it"})
	if _, err := s.desk.StartCampaign(t.Context(), s.boss, c.ID, desk.StartOrder{Version: c.Version}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.desk.SendTest(t.Context(), bola, c.ID,
		desk.TestOrder{MessageID: s.messages(c)[0].ID, Number: "08030000101", Token: desk.NewToken()}); err != nil {
		t.Fatal(err)
	}
	b := s.as(s.boss)
	for address, want := range map[string]string{
		"/campaigns?sender=SCHOOL":                                   "Fees of the school",
		"/campaigns?sender=NOBODY":                                   "",
		"/campaigns?state=test":                                      "Test of Started by the boss",
		fmt.Sprintf("/campaigns?person=%d", s.boss.ID):               "Started by the boss, June reminders",
		fmt.Sprintf("/campaigns?person=%d&state=drafts", bola.ID):    "Fees of the school",
		fmt.Sprintf("/campaigns?person=%d&state=running", s.boss.ID): "Started by the boss, June reminders",
		fmt.Sprintf("/campaigns?person=%d&from=2026-06-04",
			bola.ID): "Test of Started by the boss, Started by the boss, Fees of the school",
		"/campaigns?from=2026-06-03&to=2026-06-03":               "June reminders",
		"/campaigns?to=2026-06-02":                               "",
		"/campaigns?from=2026-06-04&sender=CLINIC&name=THE+boss": "Test of Started by the boss, Started by the boss",
	} {
		var names []string
		page := b.get(address).is(200)
		page.page().Find("#campaigns tbody th").Each(func(_ int, e *goquery.Selection) { names = append(names, e.Text()) })
		if got := strings.Join(names, ", "); got != want {
			t.Errorf("%s shows %q, want %q", address, got, want)
		}
		s.leads(page)
	}
	page := b.get("/campaigns?from=2026-06-03&sender=SCHOOL&state=drafts")
	if page.attr(".tabs a:first-of-type, nav a[href*='sender=SCHOOL']", "href") == "" ||
		page.page().Find("#filters[open]").Length() != 1 {
		t.Error("the filters are lost on the way to another tab, or hidden while they are set")
	}
	if got := page.text("#campaigns tbody tr"); !strings.Contains(got, "₦12.00") || !strings.Contains(got, "Ada Obi") {
		t.Errorf("the row says %q", got)
	}
	bad := b.get("/campaigns?from=3+June").has("Enter a date, for example 2026-06-04", "No search was run")
	if bad.page().Find("#campaigns").Length() != 0 {
		t.Error("a filter that cannot be read shows everything")
	}
}
