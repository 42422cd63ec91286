package web

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/go-chi/chi/v5"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
)

// clinic is an account with two usable sender IDs.
func (s *site) clinic(change ...func(*sms.Account)) sms.Account {
	s.t.Helper()
	a := s.account(sms.Account{Name: "Clinic", DefaultSender: "CLINIC", CallLimit: 10})
	s.know(a.ID, "CLINIC", "SCHOOL")
	for _, f := range change {
		s.update(a.ID, f)
	}
	a, err := s.db.Account(context.Background(), a.ID)
	s.must(err)
	return a
}

func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) update(account int64, change func(*sms.Account)) {
	s.t.Helper()
	_, err := s.db.UpdateAccount(context.Background(), account, s.clock.now().UnixMilli(), func(a *sms.Account, _ *sms.Credentials) error { change(a); return nil })
	s.must(err)
}

func (s *site) know(account int64, senders ...string) {
	s.t.Helper()
	list := []sms.SenderID{{ID: 90, Text: "PENDING", IsActive: true, ApproveStatus: "Pending"}, {ID: 91, Text: "OLDNAME", ApproveStatus: "Approved"}}
	for i, text := range senders {
		list = append(list, sms.SenderID{ID: int64(i + 1), Text: text, IsActive: true, ApproveStatus: "Approved"})
	}
	s.must(s.db.PutSenderIDs(context.Background(), account, list, s.clock.now().UnixMilli()))
}

// typed makes numbers 0803 000 1000 and the ones after it.
func typed(n int) string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("0803%07d", 1000+i)
	}
	return strings.Join(lines, "\n")
}

func (s *site) draft(by sms.User, o desk.Order) sms.Campaign {
	s.t.Helper()
	o.Token = desk.NewToken()
	if o.SenderID == "" {
		o.SenderID = "CLINIC"
	}
	if o.Text == "" {
		o.Text = "The clinic is closed on Friday."
	}
	c, err := s.desk.CreateCampaign(context.Background(), by, o)
	s.must(err)
	return c
}

func (s *site) started(by sms.User, o desk.Order) sms.Campaign {
	s.t.Helper()
	c := s.draft(by, o)
	c, err := s.desk.StartCampaign(context.Background(), by, c.ID, c.Version, true)
	s.must(err)
	return c
}

// accept answers a call: every number gets an id made of its last four digits.
func accept(call sms.Call) sms.Outcome {
	o := sms.Outcome{Class: sms.ClassAnswered, HTTPStatus: 200, Code: "000", Excerpt: `{"ErrorCode":0}`}
	for _, r := range call.Recipients {
		o.Rows = append(o.Rows, sms.ResultRow{Number: r.Number, ProviderID: "id-" + r.Number[len(r.Number)-4:]})
	}
	return o
}

// send makes calls until nothing is left or most of them are made.
func (s *site) send(account sms.Account, most int, answer func(sms.Call) sms.Outcome) {
	s.t.Helper()
	ctx := context.Background()
	epoch, err := s.db.TakeLease(ctx, account.ID)
	s.must(err)
	for range most {
		now := s.clock.now().UnixMilli()
		a, err := s.db.Claim(ctx, account.ID, epoch, 0, account.CallLimit, now)
		s.must(err)
		if a == nil {
			return
		}
		s.must(s.db.License(ctx, a, now))
		o := answer(a.Call)
		_, err = s.db.Settle(ctx, a, sms.Settle(a.Call.Recipients, o, account.Country), o, account.Country,
			func(c sms.Canary, f []sms.Finished) sms.Verdict { return sms.Judge(o, c, f) }, now)
		s.must(err)
	}
}

func (s *site) reports(account sms.Account, reports ...sms.DeliveryReport) {
	s.t.Helper()
	for i := range reports {
		reports[i].AccountID, reports[i].ReceivedAt = account.ID, s.clock.now().UnixMilli()
		if reports[i].ID == 0 {
			reports[i].ID = int64(i + 1)
		}
	}
	_, err := s.db.ApplyReports(context.Background(), reports, map[int64]string{account.ID: account.Country}, int64(len(reports)), s.clock.now().UnixMilli())
	s.must(err)
}

func report(last4, status, code string) sms.DeliveryReport {
	return sms.DeliveryReport{ProviderID: "id-" + last4, Mobile: "234803000" + last4, Status: status, ErrorCode: code, SubmitDate: "2606030948", DoneDate: "2606030949",
		Raw: "mobile=234803000" + last4 + "&status=" + status}
}

func (b *browser) fragment(path string) answer {
	b.site.t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("HX-Request", "true")
	return b.send(r)
}

// html is the one element at the selector as it stands in the answer.
func (a answer) html(selector string) string {
	a.t.Helper()
	found := a.page().Find(selector)
	if found.Length() != 1 {
		a.t.Fatalf("%d elements at %q in %.800s", found.Length(), selector, a.body)
	}
	html, err := goquery.OuterHtml(found)
	if err != nil {
		a.t.Fatal(err)
	}
	return html
}

func (a answer) attr(selector, name string) string {
	a.t.Helper()
	value, ok := a.page().Find(selector).Attr(name)
	if !ok {
		a.t.Fatalf("no %s at %q in %.800s", name, selector, a.body)
	}
	return value
}

func (a answer) count(selector string, want int) answer {
	a.t.Helper()
	if got := a.page().Find(selector).Length(); got != want {
		a.t.Errorf("%d elements at %q, want %d", got, selector, want)
	}
	return a
}

// row is a table's row as it was written.
func (a answer) row(id string) string {
	a.t.Helper()
	_, row, found := strings.Cut(a.body, `<tr id="`+id+`"`)
	row, _, closed := strings.Cut(row, "</tr>")
	if !found || !closed {
		a.t.Fatalf("no row %s in %.800s", id, a.body)
	}
	return row
}

// rows are the tables' rows that an answer to a refetch carries.
func (a answer) rows() (ids []string) {
	a.t.Helper()
	a.page().Find("hx-partial").Each(func(_ int, p *goquery.Selection) {
		target, _ := p.Attr("hx-target")
		ids = append(ids, strings.TrimPrefix(target, "#"))
	})
	return ids
}

// leads checks that every link, form and refetch of a page has a handler.
func (s *site) leads(a answer) {
	s.t.Helper()
	open := func(method, address string) {
		u, err := url.Parse(address)
		if err != nil || u.Host != "" {
			s.t.Errorf("%s %q leads away", method, address)
			return
		}
		if u.Path != "" && !s.web.pages.Match(chi.NewRouteContext(), method, u.Path) {
			s.t.Errorf("%s %q leads nowhere", method, address)
		}
	}
	each := func(selector, attribute, method string) {
		a.page().Find(selector).Each(func(_ int, e *goquery.Selection) {
			address, _ := e.Attr(attribute)
			open(method, address)
		})
	}
	each("a[href]", "href", http.MethodGet)
	each("form[method=post]", "action", http.MethodPost)
	each("form[method=get]", "action", http.MethodGet)
	each("[hx-get]", "hx-get", http.MethodGet)
	each("[hx-post]", "hx-post", http.MethodPost)
	ids := map[string]bool{}
	a.page().Find("[id]").Each(func(_ int, e *goquery.Selection) {
		id, _ := e.Attr("id")
		if ids[id] {
			s.t.Errorf("the id %q is there twice", id)
		}
		ids[id] = true
	})
	a.count("h1", 1)
}

func TestCampaignListIsEmpty(t *testing.T) {
	s := newSite(t)
	s.clinic()
	boss, viewer := s.as(s.boss), s.as(s.hire("view@example.com", sms.Viewer))
	got := boss.get("/campaigns").is(200).has("Nothing sent yet.")
	got.count(`main a[href="/new"]`, 1)
	s.leads(got)
	viewer.get("/campaigns").is(200).has("Nothing sent yet.").count(`a[href="/new"]`, 0)
	for _, address := range []string{"/campaigns?name=zebra", "/campaigns?state=running", "/campaigns?state=needs-decision", "/campaigns?state=drafts", "/campaigns?state=finished"} {
		got := boss.get(address).is(200).has("No campaigns match.")
		if got.text(".empty a") != "Clear filters" {
			t.Errorf("%s does not offer to clear the filters", address)
		}
	}
	boss.get("/campaigns?state=nonsense").is(200).has("Nothing sent yet.")
}

func TestCampaignListShowsEachUnderItsTab(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	order := func(name string, n int) desk.Order {
		return desk.Order{AccountID: a.ID, Name: name, Numbers: typed(n), Text: name}
	}
	s.draft(s.boss, order("A draft", 3))
	lost := s.started(s.boss, order("Lost on the way", 2))
	s.send(a, 1, func(sms.Call) sms.Outcome { return sms.Outcome{Class: sms.ClassDoubt, Reason: "We lost the connection."} })
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
		if got := b.get(address).is(200).text("#campaigns tbody th"); strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
			t.Errorf("%s shows %q, want %q", address, got, want)
		}
	}
	page := b.get("/campaigns")
	s.leads(page)
	row := "#campaign-" + fmt.Sprint(done.ID)
	if got := page.text(row); !strings.Contains(got, "50.0%") || !strings.Contains(got, "Waiting for reports") || !strings.Contains(got, "today at 10:48am") {
		t.Errorf("the row says %q", got)
	}
	if label := page.attr(row+" svg[role=img]", "aria-label"); label != "4 messages by state: with the network 1, delivered 2, not delivered 1" {
		t.Errorf("the bar is called %q", label)
	}
	if got := page.text("#campaign-" + fmt.Sprint(lost.ID)); !strings.Contains(got, "Needs your decision") {
		t.Errorf("the row in doubt says %q", got)
	}
	page.count(`nav [aria-current]`, 2)
}

func TestCampaignListPages(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	for i := range 2*campaignsPage + 3 {
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
	if len(seen) != 2*campaignsPage+3 || seen[0] != "Number 52" || seen[len(seen)-1] != "Number 0" || len(addresses) != 3 {
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
	if got := b.fragment(fmt.Sprintf("/campaigns?rows=%d.x.-4.99999999999999999999.%d", foreign.ID, c.ID)).is(200); len(got.rows()) != 1 || strings.Contains(got.body, "Secret") {
		t.Errorf("rows of another account: %q", got.rows())
	}
	if at := b.get("/campaigns?pause=1"); at.page().Find("#campaigns-live[hx-get]").Length() != 0 || at.page().Find("#live").Length() != 0 {
		t.Error("a paused list is not at rest")
	}
}

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
	s.reports(a, report("1000", "DELIVRD", "000"), report("1001", "DELIVRD", "000"), report("1002", "UNDELIV", "27"), report("1003", "BLACKLIST", "31"),
		report("1004", "UNKNOWN", "9"))
	b := s.as(s.boss)
	path := campaignPath(c.ID)
	page := b.get(path).is(200)
	s.leads(page)
	page.has("Started by Ada Obi today at 10:48am · sender ID CLINIC · 1 part each", "Messages 1 to 10 of 10", "UNDELIV, code 27", "destination_address filter mismatch, code 401",
		"Everything has left. 4 messages wait for their reports.")
	var tiles []string
	page.page().Find(".tile").Each(func(_ int, e *goquery.Selection) {
		tiles = append(tiles, strings.Join(strings.Fields(e.Text()), " "))
	})
	want := []string{"All 10", "Waiting 0", "With the network 4", "Delivered 2 20.0%", "Not delivered 2 20.0%", "Unknown or late 1", "Not sent 1"}
	if !slices.Equal(tiles, want) {
		t.Errorf("tiles %q, want %q", tiles, want)
	}
	for tile, numbers := range map[string]string{"waiting": "", "network": "1005 1006 1007 1008", "delivered": "1000 1001", "failed": "1002 1003", "unknown": "1004", "decision": "", "notsent": "1009"} {
		got := b.get(path + "?tile=" + tile).is(200)
		s.leads(got)
		if current := got.attr(".tile[aria-current]", "id"); current != "tile-"+tile {
			t.Errorf("tile %s: the current one is %q", tile, current)
		}
		var shown []string
		got.page().Find("#messages tbody a").Each(func(_ int, e *goquery.Selection) { shown = append(shown, e.Text()[len(e.Text())-4:]) })
		if strings.Join(shown, " ") != numbers {
			t.Errorf("tile %s shows %q, want %q", tile, shown, numbers)
		}
		if numbers == "" {
			got.has("No messages here")
		}
	}
	fine := b.get(path + "?tile=failed&state=blocked").is(200)
	if got := fine.text("#messages tbody"); !strings.Contains(got, "Number is blocked") || strings.Contains(got, "UNDELIV") {
		t.Errorf("the finer filter shows %q", got)
	}
	fine.has("Only: Number is blocked (1)")
	b.get(path + "?tile=nonsense&state=nonsense").is(200).has("Messages 1 to 10 of 10")
	if got := b.get(path + "?pause=1"); got.attr("#tile-failed", "href") != path+"?pause=1&tile=failed" || got.page().Find("[hx-get], #live").Length() != 0 {
		t.Error("a paused page does not stay paused")
	}
}

func TestCampaignMessagesPage(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(120)})
	b := s.as(s.boss)
	first := b.get(campaignPath(c.ID)).has("Messages 1 to 50 of 120").count("#messages tbody tr", 50)
	second := b.get(first.attr("a[rel=next]", "href")).has("Messages 51 to 100 of 120").count("#messages tbody tr", 50)
	third := b.get(second.attr("a[rel=next]", "href")).has("Messages 101 to 120 of 120").count("#messages tbody tr", 20).count("a[rel=next]", 0)
	back := b.get(third.attr("a[rel=prev]", "href")).has("Messages 51 to 100 of 120")
	if back.text("#messages tbody") != second.text("#messages tbody") {
		t.Error("the way back shows other messages")
	}
	if got := b.get(back.attr("a[rel=prev]", "href")); got.text("#messages tbody") != first.text("#messages tbody") {
		t.Error("the way back does not lead to the beginning")
	}
	for _, odd := range []string{"?after=x", "?after=-1", "?first=99999999999999999999&after=1", "?before=1&after=1", "?before=1"} {
		b.get(campaignPath(c.ID) + odd).is(200)
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
	page := b.get(campaignPath(c.ID) + "?tile=waiting").is(200)
	live := page.attr("#campaign-live", "hx-get")
	if got := b.fragment(live).is(200); got.html("#campaign-live") != page.html("#campaign-live") || len(got.rows()) != 0 {
		t.Errorf("nothing has changed, but the fragment differs:\n%s\n%s", got.html("#campaign-live"), page.html("#campaign-live"))
	}
	s.send(a, 1, accept)
	got := b.fragment(live).is(200)
	if n := len(got.rows()); n != sms.CanarySize {
		t.Fatalf("%d rows come, want the %d that were sent", n, sms.CanarySize)
	}
	fresh := b.get(campaignPath(c.ID))
	for _, id := range got.rows() {
		if got.row(id) != fresh.row(id) {
			t.Errorf("row %s is not the one of the page", id)
		}
	}
	if tile := got.text("#tile-network"); tile != "With the network 5" {
		t.Errorf("the tile says %q", tile)
	}
	s.clock.pass(time.Minute)
	if later := b.fragment(got.attr("#campaign-live", "hx-get")); len(later.rows()) != sms.CanarySize {
		t.Errorf("a change is not told again within the margin: %q", later.rows())
	} else if last := b.fragment(later.attr("#campaign-live", "hx-get")); len(last.rows()) != 0 {
		t.Errorf("old changes come for ever: %q", last.rows())
	}
	delivered := b.get(campaignPath(c.ID) + "?tile=delivered")
	s.reports(a, report("1000", "DELIVRD", "000"), report("1001", "DELIVRD", "000"))
	newer := b.fragment(delivered.attr("#campaign-live", "hx-get"))
	newer.has("2 newer messages.")
	if len(newer.rows()) != 0 {
		t.Error("new rows push themselves into the page")
	}
	newer.count("#show-newer", 1)
}

func TestCampaignSpeaksSeldom(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(8)})
	b := s.as(s.boss)
	say := func() string { return b.get(campaignPath(c.ID)).attr("[data-say]", "data-say") }
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
	want := []string{"", "25% of 8 messages done.", "50% of 8 messages done.", "75% of 8 messages done.", "All 8 messages done: 8 delivered, 0 not delivered."}
	if !slices.Equal(said, want) {
		t.Errorf("said %q", said)
	}
}

func TestCampaignSaysWhatStandsInTheWay(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	viewer, sender, manager := s.as(s.hire("v@example.com", sms.Viewer)), s.as(s.hire("s@example.com", sms.Sender)), s.as(s.hire("m@example.com", sms.Manager))
	c := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(20)})
	path := campaignPath(c.ID)
	sender.get(path).has("This campaign has not been sent").count(`a[href="`+path+`/confirm"]`, 1)
	viewer.get(path).has("Somebody with the role Sender can send it.").count(`a[href="`+path+`/confirm"]`, 0)
	c, err := s.desk.StartCampaign(t.Context(), s.boss, c.ID, c.Version, false)
	s.must(err)
	sender.get(path).has("Sending starts in a few seconds.").count("#stop", 1)
	viewer.get(path).count("#stop", 0)
	s.clock.pass(time.Minute)
	sender.get(path).has("Less than a minute left at 100 requests a minute.")
	s.update(a.ID, func(a *sms.Account) { a.CallLimit, a.PerMinute = 1, 5 })
	sender.get(path).has("About 4 minutes left at 5 requests a minute.")
	s.must(s.db.MarkAccount(t.Context(), a.ID, "We cannot reach the provider", s.clock.now().UnixMilli()))
	sender.get(path).has("We cannot reach the provider. Nothing was sent. We try again by ourselves.")
	s.must(s.db.MarkAccount(t.Context(), a.ID, "", s.clock.now().UnixMilli()))

	s.send(a, 1, func(sms.Call) sms.Outcome {
		return sms.Outcome{Class: sms.ClassListed, HTTPStatus: 200, Code: "007", Reason: "refused"}
	})
	refused, _ := sms.Listed("007")
	got := manager.get(path).has("Sending is paused for the account Clinic", refused.Sentence+".")
	got.count(`#account-paused`, 1).count("#resume", 1)
	s.leads(got)
	sender.get(path).has("A manager can try again. An administrator can change the connection.").count("#resume", 0)
	sender.post(path + "/resume").is(403)
	manager.post(path + "/resume").to(path)
	manager.get(path).count("#account-paused", 0).count("#resume", 0)

	s.send(a, 1, func(sms.Call) sms.Outcome {
		return sms.Outcome{Class: sms.ClassHold, HTTPStatus: 200, Code: "042", Reason: `The provider answered "too many" (code 042)`}
	})
	got = sender.get(path).has("Sending is paused", `The provider answered "too many" (code 042). `, "5 messages need your decision", "15 messages are kept back.")
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
	path := campaignPath(c.ID)
	b := s.as(s.hire("s@example.com", sms.Sender))
	page := b.get(b.get(path).attr("#stop", "href")).is(200).has("5 messages are already with the provider and cannot be called back. 7 will be kept back.")
	s.leads(page)
	page.count("button.danger", 1)
	b.post(page.attr("main form", "action")).to(path)
	got := b.get(path).has("Sending was stopped", "7 messages are kept back.")
	s.leads(got)
	got.count("#stop", 0)
	b.post(path + "/stop").to(path)
	b.get(path + "/stop").to(path)
	b.post(got.attr("#stopped form", "action")).to(path)
	b.get(path).count("#stopped", 0).count("#stop", 1)
	b.get(path + "/continue").to(path)
}

func TestCampaignOfAGroup(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.draft(s.boss, desk.Order{AccountID: a.ID, GroupID: "7", GroupName: "Parents"})
	b := s.as(s.boss)
	got := b.get(campaignPath(c.ID)).has("to the group Parents")
	if link := got.text("#messages tbody a"); link != "Group Parents" {
		t.Errorf("the message without a number is called %q", link)
	}
	b.get(got.attr("#messages tbody a", "href")).has("Message to the group Parents")
	b.get(campaignPath(c.ID)+"/confirm").is(200).has("Send to the group Parents now", "To the group Parents", "Not known: the provider keeps the group's numbers")
}

// What is shown about test mode must be true of the thing on the page.
func TestCampaignOfAnotherAccount(t *testing.T) {
	s := newSite(t)
	test := s.account(sms.Account{Name: "Sandbox", Test: true, BaseURL: "http://127.0.0.1:1/v2"})
	a := s.clinic()
	c := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(1)})
	b := s.as(s.boss)
	s.must(s.desk.ChooseAccount(t.Context(), b.cookies[s.web.sessions.name], test.ID))
	b.get("/campaigns").has("Test mode.", "Nothing sent yet.")
	for _, path := range []string{campaignPath(c.ID), campaignPath(c.ID) + "/confirm"} {
		got := b.get(path).is(200).has("This belongs to the account Clinic. You are working with Sandbox.").lacks("Test mode.")
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
	page := b.get(campaignPath(c.ID))
	answers := []answer{list, page, b.get(campaignPath(c.ID) + "/stop"), b.fragment(page.attr("#campaign-live", "hx-get")),
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
	page := b.get(campaignPath(c.ID)).is(200).has("6 parts each")
	page.page().Find("#messages tbody td").Each(func(_ int, e *goquery.Selection) {
		if n := len([]rune(strings.TrimSpace(e.Text()))); n > 60 {
			t.Errorf("a cell has %d letters", n)
		}
	})
	b.get(page.attr("#messages tbody a", "href")).is(200).has(word)
}
