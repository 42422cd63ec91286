package web

import (
	"errors"
	"fmt"
	"net/http"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

var goodAccount = []string{"name", "Clinic", "base_url", "https://api.example.com/v2", "client_id",
	"CANARY-CLIENT-0001", "api_key", "CANARY-KEY-abcd4f2a",
	"plan", "100", "country", "ng", "timezone", "Africa/Lagos", "currency", "₦", "price_per_part", "4.05"}

// with is a form with some fields changed.
func with(form []string, pairs ...string) []string {
	out := append([]string(nil), form...)
	for i := 0; i+1 < len(pairs); i += 2 {
		for j := 0; j+1 < len(out); j += 2 {
			if out[j] == pairs[i] {
				out = append(out[:j], out[j+2:]...)
				break
			}
		}
		out = append(out, pairs[i], pairs[i+1])
	}
	return out
}

func TestConnectAnAccount(t *testing.T) {
	s := newSite(t)
	boss := s.as(s.boss)
	boss.get("/settings/account").is(http.StatusOK).has("No provider account connected")
	boss.post("/settings/account", goodAccount...).to("/settings/account/1/connection?tested=1")
	page := boss.get("/settings/account/1?tested=212").is(http.StatusOK)
	page.has("Connected", "Balance ₦57,524.50 · 3 sender IDs, 1 usable", "answered in 212 ms", "Stored, ends …4f2a").lacks("CANARY")
	if got := boss.get("/settings/account/1/money").attr("#price_per_part", "value"); got != "4.05" {
		t.Errorf("price %q", got)
	}
	var senders []string
	page.page().Find("#default_sender option").Each(func(_ int, o *goquery.Selection) {
		senders = append(senders, o.Text())
	})
	if fmt.Sprint(senders) != "[None CLINIC]" {
		t.Errorf("sender IDs to choose from: %q", senders)
	}
	boss.get("/settings/account").has("Clinic", "ends …4f2a", "Provider: connected, just now")

	boss.post("/settings/account/1", with(goodAccount, "name", "Clinic 2", "client_id", "", "api_key", "", "plan", "other",
		"per_minute", "2,500", "default_sender", "CLINIC", "price_per_part", "")...).to("/settings/account/1/connection?tested=1")
	a, err := s.db.Account(t.Context(), 1)
	if err != nil || a.Name != "Clinic 2" || a.PerMinute != 2500 || a.DefaultSender != "CLINIC" || a.PricePerPart != 0 ||
		a.Country != "NG" {
		t.Errorf("%+v %v", a, err)
	}
	if c, _ := s.db.Credentials(t.Context(), 1); c.APIKey != "CANARY-KEY-abcd4f2a" || c.ClientID != "CANARY-CLIENT-0001" {
		t.Error("empty fields did not keep the secrets")
	}
}

func TestAccountFormSentences(t *testing.T) {
	s := newSite(t)
	boss := s.as(s.boss)
	boss.post("/settings/account", goodAccount...).is(http.StatusSeeOther)
	for _, c := range []struct{ field, value, at, sentence string }{
		{"name", " ", "name", "Enter a name for this account"},
		{"base_url", "http://api.example.com/v2", "base_url", "API URL must start with https://"},
		{"base_url", "https://api.example.com/v1", "base_url", "API URL must end with /v2"},
		{"base_url", "javascript:alert(1)", "base_url", "Enter the provider's API URL"},
		{"base_url", "https://u:p@api.example.com/v2", "base_url", "API URL must not contain a user name"},
		{"plan", "0", "per_minute", "Requests per minute must be"},
		{"plan", "", "per_minute", "Requests per minute must be"},
		{"plan", "other", "per_minute", "Requests per minute must be"},
		{"country", "XX", "country", "Enter a country as two letters"},
		{"timezone", "Mars/Base", "timezone", "Enter a time zone"},
		{"timezone", "../../etc/passwd", "timezone", "Enter a time zone"},
		{"currency", "naira", "currency", "Currency sign must be"},
		{"price_per_part", "four", "price_per_part", "Enter a price, for example 4.00"},
		{"price_per_part", "-1", "price_per_part", "Enter a price, for example 4.00"},
		{"price_per_part", "1.005", "price_per_part", "Enter a price, for example 4.00"},
		{"price_per_part", "99999999999", "price_per_part", "Enter a price, for example 4.00"},
		{"default_sender", "SCHOOL", "default_sender", "Choose a sender ID"},
	} {
		for _, path := range []string{"/settings/account", "/settings/account/1"} {
			if c.field == "default_sender" && path == "/settings/account" {
				continue
			}
			got := boss.post(path, with(with(goodAccount, "name", "Other"), c.field, c.value)...).is(
				http.StatusUnprocessableEntity).lacks("CANARY")
			if !strings.Contains(got.text("#"+c.at+"-error"), c.sentence) || !strings.Contains(got.text("#errors"), c.sentence) {
				t.Errorf("%s %s=%q: at the field %q, above %q", path, c.field, c.value, got.text("#"+c.at+"-error"),
					got.text("#errors"))
			}
			if got.page().Find(`#errors a[href="#`+c.at+`"]`).Length() != 1 || got.page().Find("#"+c.at).Length() != 1 {
				t.Errorf("%s: the summary does not lead to %s", path, c.at)
			}
		}
	}
	for field, sentence := range map[string]string{"client_id": "Enter the client ID", "api_key": "Enter the API key"} {
		got := boss.post("/settings/account", with(with(goodAccount, "name", "Other"), field, " ")...).is(
			http.StatusUnprocessableEntity).lacks("CANARY")
		if !strings.Contains(got.text("#"+field+"-error"), sentence) ||
			!strings.Contains(got.text("form"), "Paste it again") {
			t.Errorf("%s: %q", field, got.text("#"+field+"-error"))
		}
	}
	boss.post("/settings/account", goodAccount...).is(http.StatusUnprocessableEntity).has(
		"An account with this name already exists")
}

// blaming is an error of the provider that blames something.
type blaming struct {
	error
	fault sms.Fault
}

func (b blaming) Blames() sms.Fault { return b.fault }

func TestConnectionTestFails(t *testing.T) {
	for _, c := range []struct {
		fault         sms.Fault
		tested, field string
	}{{sms.FaultCredentials, "credentials", "api_key"}, {sms.FaultAccount, "failed", "base_url"},
		{"", "failed", "base_url"}} {
		s := newSite(t)
		sentence := "We cannot reach the provider"
		if c.fault != "" {
			sentence = "The provider blames the " + string(c.fault)
		}
		s.provider.err = blaming{errors.New(sentence), c.fault}
		boss := s.as(s.boss)
		boss.post("/settings/account", goodAccount...).to("/settings/account/1/connection?tested=" + c.tested)
		got := boss.get("/settings/account/1/connection?tested=" + c.tested).is(http.StatusOK).lacks("CANARY")
		if said := got.text(".deck-say"); !strings.HasPrefix(said, "Saved, but the test did not work") {
			t.Errorf("%s: the bar says %q of settings that are stored", c.fault, said)
		}
		if !strings.Contains(got.text("#"+c.field+"-error"), sentence) {
			t.Errorf("%s: at %s stands %q", c.fault, c.field, got.text("#"+c.field+"-error"))
		}
		boss.get("/settings/account/1").is(http.StatusOK).has("Not connected", sentence)
		boss.get("/settings/account/1?tested=5").count("#proof", 0)
		boss.get("/setup/tasks").has("Not connected")
		s.provider.err = nil
		boss.post("/settings/account/1", with(goodAccount, "api_key", "", "client_id", "")...).to(
			"/settings/account/1/connection?tested=1")
		boss.get("/settings/account/1?tested=1").has("Balance ₦57,524.50").count("#proof", 1)
	}
}

// The address can say that a test was made, but not that it worked.
func TestTestResultCannotBeMadeUp(t *testing.T) {
	s := newSite(t)
	a := s.account(sms.Account{Name: "Clinic"})
	boss := s.as(s.boss)
	for _, tested := range []string{"5", "failed", "-1", "x", "99999999999999999999"} {
		boss.get(views.AccountPath(a.ID)+"?tested="+tested).is(http.StatusOK).lacks("There is a problem").count("#proof", 0)
	}
}

func TestTheTestAccountKeepsItsConnection(t *testing.T) {
	s := newSite(t)
	a := s.account(sms.Account{Name: "Sandbox", Test: true, BaseURL: "http://127.0.0.1:9999/v2"})
	boss := s.as(s.boss)
	page := boss.get(views.AccountPath(a.ID)).is(http.StatusOK).has("uses the sandbox")
	if page.page().Find("#api_key, #base_url, #client_id, #name").Length() != 0 {
		t.Error("the connection of the test account can be edited")
	}
	boss.post(views.AccountPath(a.ID), with(goodAccount, "plan", "1000", "price_per_part", "2")...).to(
		views.SectionPath(a.ID, views.SectionConnection) + "?tested=1")
	got, _ := s.db.Account(t.Context(), a.ID)
	if got.Name != "Sandbox" || got.BaseURL != a.BaseURL || got.PerMinute != a.PerMinute || got.PricePerPart != 200 ||
		!got.Test {
		t.Errorf("%+v", got)
	}
	if c, _ := s.db.Credentials(t.Context(), a.ID); c.ClientID != "CANARY-CLIENT-0001" {
		t.Error("its secrets were replaced")
	}
	boss.get("/me").has("No messages reach real phones and no credit is used.Connect a real account")
	s.as(s.hire("v@example.com", sms.Viewer)).get("/me").has("Test mode.").lacks("Connect a real account")
	if title := boss.get("/me").text("title"); !strings.HasPrefix(title, "TEST") {
		t.Errorf("title %q", title)
	}
}

// What a form may not decide is not decided by it.
func TestExtraFieldsAreIgnored(t *testing.T) {
	s := newSite(t)
	boss := s.as(s.boss)
	boss.post("/settings/account", with(goodAccount, "test", "true", "id", "77", "Test", "1", "pause", "x", "call_limit",
		"5000")...).is(http.StatusSeeOther)
	if a, err := s.db.Account(t.Context(), 1); err != nil || a.Test || a.Pause != "" ||
		a.CallLimit != sms.DefaultCallLimit {
		t.Errorf("%+v %v", a, err)
	}
	viewer := s.hire("v@example.com", sms.Viewer)
	s.as(viewer).post("/me/name", "name", "Vera", "role", "administrator", "email", "x@example.com", "active",
		"1").to("/me?done=saved")
	if u, _, _ := s.db.UserByEmail(t.Context(), "v@example.com"); u.Role != sms.Viewer || u.Name != "Vera" {
		t.Errorf("%+v", u)
	}
}

func TestAccountChoiceAndPause(t *testing.T) {
	s := newSite(t)
	first := s.account(sms.Account{Name: "Alpha"})
	second := s.account(sms.Account{Name: "Beta"})
	boss, other := s.as(s.boss), s.as(s.boss)
	boss.post("/account", "account", fmt.Sprint(second.ID), "next", "/me").to("/me")
	chosen := func(b *browser) string {
		v, _ := b.get("/me").page().Find("#account-choice button[aria-current]").Attr("value")
		return v
	}
	if chosen(boss) != fmt.Sprint(second.ID) || chosen(other) != fmt.Sprint(first.ID) {
		t.Errorf("chosen %q here and %q there", chosen(boss), chosen(other))
	}
	boss.post("/account", "account", "77").is(http.StatusNotFound)
	boss.post("/account", "account", "x").is(http.StatusNotFound)
}

func TestReportsPage(t *testing.T) {
	s := newSite(t, secure)
	a := s.account(sms.Account{Name: "Clinic"})
	boss := s.as(s.boss)
	tokens := func(kind string) []sms.CallbackToken {
		list, err := s.db.CallbackAddresses(t.Context(), a.ID, kind, s.clock.now().UnixMilli())
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	page := boss.get("/settings/reports").is(http.StatusOK).has("Waiting for the first report.", "Check again",
		"Letter to the provider's support")
	for kind, id := range map[string]string{"dlr": "#dlr-address", "ussd": "#ussd-address"} {
		if got, _ := page.page().Find(id).Attr("value"); got != "https://desk.example.com/"+kind+"/"+tokens(kind)[0].Token {
			t.Errorf("%s address %q", kind, got)
		}
	}
	if letter := page.page().Find("#letter").Text(); !strings.Contains(letter, tokens("dlr")[0].Token) {
		t.Error("the letter does not name the address")
	}
	if on, _ := page.page().Find("#last-report").Attr("hx-trigger"); !strings.Contains(on, feed.Reports(a.ID)) {
		t.Errorf("the note waits for %q", on)
	}
	old := tokens("dlr")[0].Token
	boss.get("/settings/reports/rotate?account=1&kind=dlr").is(http.StatusOK).has("Create a new URL?",
		"will work for 7 more days")
	boss.get("/settings/reports/rotate?account=1&kind=x").is(http.StatusNotFound)
	boss.get("/settings/reports?account=9").is(http.StatusNotFound)
	boss.post("/settings/reports/rotate", "account", "1", "kind", "dlr").to("/settings/reports?account=1&done=rotated")
	page = boss.get("/settings/reports?account=1&done=rotated").has("New URL created.",
		"Works until Wednesday 10 June at 10:48am")
	if now := tokens("dlr"); len(now) != 2 || now[0].Token == old || now[1].Token != old || len(tokens("ussd")) != 1 {
		t.Errorf("after the change: %d addresses for reports, %d for USSD", len(now), len(tokens("ussd")))
	}
	if got, _ := page.page().Find("#dlr-old-1").Attr("value"); !strings.HasSuffix(got, old) {
		t.Error("the old address is not shown")
	}
	if page.page().Find("#only-here").Length() != 0 {
		t.Error("a public address is called unreachable")
	}

	_, err := s.db.ApplyReports(t.Context(), []sms.DeliveryReport{{ID: 1, AccountID: a.ID,
		ReceivedAt: s.clock.now().UnixMilli(), ProviderID: "x", Mobile: "2348035550101", Status: "DELIVRD"}},
		map[int64]string{a.ID: "NG"}, sms.Cursors{Inbox: 1}, s.clock.now().UnixMilli())
	if err != nil {
		t.Fatal(err)
	}
	boss.get("/settings/reports/last?account=1").has("Receiving delivery reports. Last one received today at 10:48am.")
	boss.get("/setup/tasks").has("Receiving reports")
}

// TestReportsByPost: pages say that they came and are lost, until an
// administrator takes them.
func TestReportsByPost(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	boss, viewer := s.as(s.boss), s.as(s.hire("viewer@example.com", sms.Viewer))
	boss.get("/settings/reports").lacks("Reports came by POST")
	minute := s.clock.now().Truncate(time.Minute).UnixMilli()
	s.must(s.db.AddReceiverStats(t.Context(), []sms.ReceiverMinute{{AccountID: a.ID, Minute: minute, Posted: 2},
		{AccountID: a.ID, Minute: minute - (8 * 24 * time.Hour).Milliseconds(), Posted: 40}}))
	const lost = "2 reports came by POST in the last 7 days and were not accepted."
	s.leads(boss.get("/settings/reports").is(200).has(lost))
	boss.get("/settings/reports/last?account=1").has(lost)
	boss.get("/reports").has(lost, "Accept reports sent by POST")
	viewer.get("/reports").has(lost, "Ask an administrator")
	viewer.post("/settings/reports/posts", "account", "1", "take", "yes").is(403)

	boss.post("/settings/reports/posts", "account", "1", "take", "yes").to("/settings/reports?account=1&done=saved")
	tokens, err := s.db.CallbackTokens(t.Context(), s.clock.now().UnixMilli())
	if err != nil || !s.reload(a.ID).TakePosts || !tokens[0].Posts {
		t.Errorf("%v %+v", err, tokens)
	}
	boss.get("/reports").lacks(lost)
	if boss.get("/settings/reports").lacks(lost).page().Find("#take[checked]").Length() != 1 {
		t.Error("the setting is not shown")
	}
	boss.post("/settings/reports/posts", "account", "1").is(303)
	if s.reload(a.ID).TakePosts {
		t.Error("reports by POST are still taken")
	}
}

func TestReportsPageWarnsOfALocalAddress(t *testing.T) {
	s := newSite(t)
	s.account(sms.Account{Name: "Clinic"})
	s.as(s.boss).get("/settings/reports").has("The provider cannot reach these addresses")
}

func TestTeam(t *testing.T) {
	s := newSite(t)
	boss := s.as(s.boss)
	boss.get("/settings/team").has(
		"You are the only team member. Add a second administrator so that you are not locked out.", "(you)")
	self := views.UserPath(s.boss.ID)
	boss.post(self, "do", "role", "role", "viewer").is(http.StatusUnprocessableEntity).has(
		"You cannot remove the last administrator.")
	boss.post(self, "do", "deactivate").is(http.StatusUnprocessableEntity).has("You cannot remove the last administrator.")
	bola := s.hire("bola@example.com", sms.Sender)
	hers := s.as(bola)
	boss.get(views.UserPath(bola.ID)).is(http.StatusOK)
	boss.post(views.UserPath(bola.ID), "do", "role", "role", "king").is(http.StatusUnprocessableEntity).has(
		"Choose a role")
	boss.post(views.UserPath(bola.ID), "do", "role", "role", "administrator").to("/settings/team?done=rights")
	hers.get("/me").to("/signin?next=%2Fme&why=ended")
	boss.get("/settings/team").lacks("Add a second administrator")
	boss.post(views.UserPath(bola.ID), "do", "deactivate").to("/settings/team?done=rights")
	boss.get(views.UserPath(bola.ID)).has("cannot sign in")
	boss.post(views.UserPath(bola.ID), "do", "activate").to("/settings/team?done=rights")
	boss.post(views.UserPath(bola.ID), "do", "everything").is(http.StatusBadRequest)
	boss.post(views.UserPath(99), "do", "activate").is(http.StatusNotFound)
}

func TestMe(t *testing.T) {
	s := newEmptySite(t)
	s.real()
	b := s.browser()
	b.post("/signin", "email", "ada@example.com", "password", goodPassword).to("/")
	elsewhere := s.browser()
	elsewhere.post("/signin", "email", "ada@example.com", "password", goodPassword).to("/")
	b.post("/me/name", "name", " ").is(http.StatusUnprocessableEntity).has("Enter a name")
	b.post("/me/password", "current", "wrong", "password", "another pony battery lamp").is(http.StatusUnprocessableEntity).
		has("Current password is wrong").lacks("another pony", "value=\"wrong\"")
	elsewhere.get("/me").is(http.StatusOK)
	b.post("/me/password", "current", goodPassword, "password", "another pony battery lamp").to("/me?done=password")
	b.get("/me?done=password").has("Password changed. You have been signed out of other browsers.")
	elsewhere.get("/me").to("/signin?next=%2Fme&why=ended")
	b.post("/me/sessions/end").to("/signin?done=everywhere")
	b.get("/me").to("/signin?next=%2Fme")
}

func TestDoneSaysOnlyWhatIsKnown(t *testing.T) {
	s := newSite(t)
	b := s.as(s.boss)
	b.get("/me?done=saved").has("Saved.")
	b.get("/me?done=" + "Your+account+is+locked").lacks("locked")
	if next, _ := b.get("/me?done=saved&x=1").page().Find(`form[action="/theme"] input[name=next]`).Attr(
		"value"); next != "/me?x=1" {
		t.Errorf("the forms of the frame come back to %q", next)
	}
}

var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'><svg onload=alert(1)>`,
	`" onfocus="alert(1)" autofocus="`, `</title><script>alert(1)</script>`,
	`</textarea><script>1</script>`, `javascript:alert(1)`, `{{7*7}} ${7*7} <%= 7*7 %>`, `<!-- x`, `]]><b>`,
	`" hx-get="/x" hx-trigger="load`, `<hx-partial hx-target="#main">x</hx-partial>`,
	`<input name=x formaction=javascript:alert(1)>`, `&lt;b&gt; &#60;b&#62;`, "\u202eevil", `<b>x</b>`,
	`<a href="javascript:1">x</a>`, `';alert(1)//`, `<iframe srcdoc="x">`, `<base href=//evil.example>`,
	`<meta http-equiv=refresh content=0;url=//evil.example>`, `<form action=//evil.example>`,
	`<style>*{display:none}</style>`, `<link rel=stylesheet href=//evil.example>`, `<math><mtext></mtext>`,
	`%3Cscript%3E`, `\u003cscript\u003e`, `<ScRiPt>`, `<svg><use href="data:,x">`, `<details open ontoggle=alert(1)>`,
}

// Whatever people or the provider write, the pages keep the same elements and
// attributes as with harmless words.
func TestHostileWordsStayWords(t *testing.T) {
	shape := func(words string) map[string]string {
		s := newSite(t)
		a := s.account(sms.Account{Name: words})
		paused := a
		_, err := s.db.UpdateAccount(t.Context(), a.ID, s.clock.now().UnixMilli(),
			func(x *sms.Account, _ *sms.Credentials) error {
				x.DefaultSender = words
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
		ctx, now := t.Context(), s.clock.now().UnixMilli()
		for _, err := range []error{
			s.db.MarkAccount(ctx, paused.ID, words, now),
			s.db.PutBalances(ctx, a.ID, []sms.Balance{{PluginType: "SMS", Credits: words}}, now),
			s.db.PutSenderIDs(ctx, a.ID, []sms.SenderID{{ID: 1, Text: words, IsActive: true, ApproveStatus: "Approved",
				Purpose: words}}, now),
			s.db.PutTemplates(ctx, a.ID, []sms.Template{{ID: 1, Name: words, Text: "##" +
				strings.NewReplacer("#", "", "\n", "").Replace(words) + "a## " + words, IsApproved: true, IsActive: true}}, now),
			s.db.MarkRecords(ctx, a.ID, sms.RecordTemplates, words),
			s.desk.RenameUser(ctx, s.boss, words),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		boss := s.as(s.boss)
		shapes := map[string]string{}
		for _, path := range []string{"/me", "/settings/account", views.AccountPath(a.ID), views.AccountPath(a.ID) +
			"?tested=failed", "/settings/team", views.UserPath(s.boss.ID), "/settings/reports", "/setup/tasks",
			"/settings/reports/rotate?account=1&kind=dlr", "/side?nav=me&path=/me", "/nowhere", "/campaigns", "/new"} {
			shapes[path] = outline(boss.get(path))
		}
		form := []string{"name", words, "base_url", words, "country", words, "timezone", words, "currency", words,
			"price_per_part", words, "email", words, "plan", "100", "token", words, "next", "/me"}
		for _, path := range []string{"/settings/account", views.AccountPath(a.ID), "/settings/team", "/signin"} {
			shapes["POST "+path] = outline(boss.post(path, form...))
		}
		return shapes
	}
	benign := shape("harmless")
	for _, words := range hostile {
		for path, got := range shape(words) {
			if got != benign[path] {
				t.Errorf("%s changes with %q:\n%s\ninstead of\n%s", path, words, got, benign[path])
			}
		}
	}
}

// outline lists the elements with the names of their attributes.
func outline(a answer) string {
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.ElementNode {
			var names []string
			for _, attr := range n.Attr {
				names = append(names, attr.Key)
			}
			sort.Strings(names)
			fmt.Fprintf(&b, "<%s %s>", n.Data, strings.Join(names, " "))
		}
		if n.Type == html.CommentNode {
			b.WriteString("<!-->")
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	for _, n := range a.page().Nodes {
		walk(n)
	}
	return fmt.Sprint(a.status) + b.String()
}

func TestNoSecretsInPages(t *testing.T) {
	s := newSite(t, developer)
	a := s.account(sms.Account{Name: "Clinic"})
	boss := s.as(s.boss)
	boss.post(views.AccountPath(a.ID), goodAccount...)
	var pages []answer
	for _, rt := range s.web.table(callbacks) {
		if rt.Method == http.MethodGet && rt.Pattern != views.LivePath && rt.Least != page.Outside {
			pages = append(pages, boss.get(strings.NewReplacer("{id}", "1", "{token}", "x").Replace(rt.Pattern)))
		}
	}
	for _, page := range pages {
		page.lacks("CANARY", anyHash, "argon2", boss.cookies["smsdesk"])
	}
}

func TestConnectionWords(t *testing.T) {
	now := time.Date(2026, 6, 3, 9, 48, 0, 0, time.UTC)
	before := func(d time.Duration) int64 { return now.Add(-d).UnixMilli() }
	for _, c := range []struct {
		account sms.Account
		want    string
	}{
		{sms.Account{}, "Provider: not checked yet"},
		{sms.Account{Failure: "x", FailedAt: before(0)}, "Provider: not connected"},
		{sms.Account{Failure: "x", ReachedAt: before(17 * time.Minute), Timezone: "Africa/Lagos"}, "Provider: unreachable since today at 10:31am"},
		{sms.Account{ReachedAt: before(0)}, "Provider: connected, just now"},
		{sms.Account{ReachedAt: before(time.Minute)}, "Provider: connected, 1 minute ago"},
		{sms.Account{ReachedAt: before(150 * time.Second)}, "Provider: connected, 2 minutes ago"},
		{sms.Account{ReachedAt: before(3 * time.Hour)}, "Provider: connected, 3 hours ago"},
		{sms.Account{ReachedAt: before(72 * time.Hour)}, "Provider: connected, 3 days ago"},
	} {
		if got := page.Connection(c.account, now).Text; got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestPrices(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "4": 400, "4.0": 400, "4.05": 405, "0.01": 1, "1,250.50": 125050,
		"1000000": 100000000} {
		got, err := sms.ReadPrice(text)
		if err != nil || got != want {
			t.Errorf("%q is %d, %v", text, got, err)
		}
		if again, err := sms.ReadPrice(page.FormatPrice(got)); err != nil || again != got {
			t.Errorf("%d does not survive being shown: %d %v", got, again, err)
		}
	}
	for _, text := range []string{".", ".5", "-1", "+1", "1.234", "1e3", "٤", "4 000", "1000000.01", "NaN", "0x10"} {
		if got, err := sms.ReadPrice(text); err == nil {
			t.Errorf("%q is read as %d", text, got)
		}
	}
}
