package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/views"
)

// next is where a person is led who signs in after this answer.
func (a answer) next() (why, next string) {
	a.t.Helper()
	to, err := url.Parse(a.is(http.StatusSeeOther).header.Get("Location"))
	if err != nil || to.Path != "/signin" {
		a.t.Fatalf("it leads to %q, %v", a.header.Get("Location"), err)
	}
	return to.Query().Get("why"), to.Query().Get("next")
}

func (s *site) keptFiles() int {
	s.t.Helper()
	all, err := os.ReadDir(s.kept)
	s.must(err)
	return len(all)
}

func (s *site) who(u sms.User) (sms.User, error) {
	u, _, err := s.db.UserByEmail(s.t.Context(), u.Email)
	return u, err
}

func (s *site) campaignsThere() int {
	s.t.Helper()
	rows, _, err := s.db.Campaigns(s.t.Context(), sms.CampaignFilter{Limit: 50})
	s.must(err)
	return len(rows)
}

// Whatever ended the session, what was typed is there again, and nothing was
// done with it.
func TestWhatWasTypedIsThereAgain(t *testing.T) {
	for name, c := range map[string]struct {
		end func(s *site, u sms.User)
		why string
	}{
		"2 hours without use": {func(s *site, _ sms.User) { s.clock.pass(2 * time.Hour) }, "timeout"},
		"12 hours in all":     {func(s *site, _ sms.User) { s.clock.pass(13 * time.Hour) }, "ended"},
		"signed out everywhere": {func(s *site, u sms.User) {
			s.must(s.desk.SignOutEverywhere(context.Background(), u))
		}, "ended"},
		"password changed": {func(s *site, u sms.User) {
			s.must(s.db.SetPassword(context.Background(), u.ID, anyHash))
		}, "ended"},
		"another role": {func(s *site, u sms.User) {
			_, err := s.desk.SaveUser(context.Background(), s.boss, u.ID, sms.Manager, true)
			s.must(err)
		}, "ended"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.clinic()
			u := s.hire("writer@example.com", sms.Sender)
			b := s.as(u)
			form := []string{"numbers", "0803 555 0101\r\n0803 555 0102", "text", "Dear Ada,\r\n“come” ₦5 & <b>",
				"sender_id", "SCHOOL", "name", "June", "flash", "1", "token", desk.NewToken(), "account", "1"}
			for i := 0; name == "12 hours in all" && i < 12; i++ {
				b.get("/me").is(200)
				s.clock.pass(time.Hour)
			}
			c.end(s, u)
			why, next := b.post("/new", form...).next()
			if why != c.why || s.campaignsThere() != 0 {
				t.Errorf("why %q, %d campaigns", why, s.campaignsThere())
			}
			b.get("/signin?why=" + why + "&next=" + url.QueryEscape(next)).has("What you sent is kept for 1 hour.")
			if stranger := s.as(s.boss).get(next).is(200); stranger.text("textarea[name=text]") != "" ||
				stranger.text("textarea[name=numbers]") != "" {
				t.Error("another person reads it")
			}
			again := s.as(u)
			page := again.get(next).is(200)
			if page.page().Find("textarea[name=numbers]").Text() != "0803 555 0101\n0803 555 0102" ||
				page.page().Find("textarea[name=text]").Text() != "Dear Ada,\n“come” ₦5 & <b>" ||
				page.attr("[name=name]", "value") != "June" || page.attr("[name=token]", "value") != form[11] {
				t.Errorf("not what was typed: %s", page.text("form"))
			}
			page.count("[name=flash][checked]", 1)
			if again.get(next).is(200).text("textarea[name=text]") != "" || s.keptFiles() != 0 {
				t.Error("it is shown a second time")
			}
			first := again.post("/new", form...).is(http.StatusSeeOther).header.Get("Location")
			if second := again.post("/new", form...).header.Get("Location"); second != first || s.campaignsThere() != 1 {
				t.Errorf("pressed twice: %q and %q, %d campaigns", first, second, s.campaignsThere())
			}
		})
	}
}

// Nobody fills the disk who was not signed in lately.
func TestNothingIsKeptForStrangers(t *testing.T) {
	s := newSite(t)
	s.clinic()
	form := []string{"numbers", "0803 555 0101", "text", "From nobody"}
	lost := func(b *browser, want string) {
		t.Helper()
		why, next := b.post("/new", form...).next()
		if why != want || strings.Contains(next, "kept") || s.keptFiles() != 0 {
			t.Errorf("why %q, next %q, %d files", why, next, s.keptFiles())
		}
	}
	lost(s.browser(), "")
	made := s.browser()
	made.cookies[s.cookie] = strings.Repeat("ab", 32)
	lost(made, "undone")
	u := s.hire("writer@example.com", sms.Sender)
	gone := s.as(u)
	_, err := s.desk.SaveUser(t.Context(), s.boss, u.ID, sms.Sender, false)
	s.must(err)
	lost(gone, "undone")
	old := s.as(s.boss)
	s.clock.pass(sms.SessionKnown)
	lost(old, "undone")
}

func TestAnHourLaterNothingIsKept(t *testing.T) {
	s := newSite(t)
	s.clinic()
	b := s.as(s.boss)
	s.clock.pass(3 * time.Hour)
	_, next := b.post("/new", "text", "Dear Ada").next()
	s.clock.pass(time.Hour)
	if got := s.as(s.boss).get(next).is(200).text("textarea[name=text]"); got != "" {
		t.Errorf("after an hour: %q", got)
	}
}

// The account that was chosen is the one a person goes on with: a form belongs
// to one.
func TestSigningInGoesOnWithTheAccount(t *testing.T) {
	s := newEmptySite(t)
	s.real()
	s.clinic()
	second := s.account(sms.Account{Name: "School", DefaultSender: "CLINIC", CallLimit: 10})
	b := s.browser()
	signIn := func() { b.post("/signin", "email", "ada@example.com", "password", goodPassword).to("/") }
	signIn()
	b.post("/account", "account", strconv.FormatInt(second.ID, 10), "next", "/me")
	s.clock.pass(3 * time.Hour)
	_, next := b.post("/new", "text", "Dear Ada", "account", strconv.FormatInt(second.ID, 10)).next()
	signIn()
	page := b.get(next).is(200)
	if page.attr("#compose [name=account]", "value") != strconv.FormatInt(second.ID, 10) || page.text("textarea[name=text]") != "Dear Ada" {
		t.Errorf("account %q", page.attr("#compose [name=account]", "value"))
	}
}

// A file is uploaded when its person says so, once.
func TestAFileOutlivesItsSession(t *testing.T) {
	s := newSite(t)
	s.clinic()
	u := s.hire("writer@example.com", sms.Sender)
	b := s.as(u)
	page := b.get("/new").is(200)
	s.clock.pass(3 * time.Hour)
	file := "phone,name\n08035550101,Ada\n08035550102,Bola\n"
	why, next := b.upload("/new/list", "file", []byte(file), "token", page.attr("#compose [name=token]", "value"),
		"account", "1", "text", "Dear ##name##").next()
	if why != "timeout" || !strings.HasPrefix(next, "/kept?kept=") || s.keptFiles() != 1 {
		t.Fatalf("why %q, next %q, %d files", why, next, s.keptFiles())
	}
	key := strings.TrimPrefix(next, "/kept?kept=")
	s.as(s.boss).get(next).is(http.StatusNotFound).has("This is no longer kept")
	s.as(s.boss).post("/kept", "kept", key, "do", "now").is(http.StatusNotFound)
	again := s.as(u)
	again.get(next).is(200).has("Your file has not been uploaded yet", "numbers.csv")
	if lists, err := s.db.Lists(t.Context(), 1, u.ID, 9); err != nil || len(lists) != 0 {
		t.Fatalf("%d lists before anybody said so, %v", len(lists), err)
	}
	to := again.post("/kept", "kept", key, "do", "now").is(http.StatusSeeOther).header.Get("Location")
	if !strings.HasPrefix(to, "/lists/") {
		t.Fatalf("it leads to %q", to)
	}
	if got := again.get(to).is(200).text("textarea[name=text]"); got != "Dear ##name##" {
		t.Errorf("the text beside it is %q", got)
	}
	again.post("/kept", "kept", key, "do", "now").is(http.StatusNotFound).has("This is no longer kept")
	if lists, err := s.db.Lists(t.Context(), 1, u.ID, 9); err != nil || len(lists) != 1 || s.keptFiles() != 0 {
		t.Errorf("%d lists, %d files, %v", len(lists), s.keptFiles(), err)
	}
	if strings.Contains(s.log.String(), key) || strings.Contains(s.log.String(), "0803") {
		t.Error("the log holds what was kept")
	}
}

func TestWhatWasFilledInIsOffered(t *testing.T) {
	s := newSite(t)
	s.clinic()
	b := s.as(s.boss)
	s.clock.pass(3 * time.Hour)
	_, next := b.post("/me/name", "name", "Ada Eze").next()
	again := s.as(s.boss)
	again.get(next).is(200).has("Your changes have not been saved yet")
	key := strings.TrimPrefix(next, "/kept?kept=")
	if u, err := s.who(s.boss); err != nil || u.Name == "Ada Eze" {
		t.Fatalf("it was carried out by itself: %v", err)
	}
	foreign := httptest.NewRequest(http.MethodPost, "/kept", strings.NewReader(values([]string{"kept", key, "do", "now"}).Encode()))
	foreign.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	foreign.Header.Set("Sec-Fetch-Site", "cross-site")
	again.send(foreign).is(http.StatusForbidden)
	again.post("/kept", "kept", key, "do", "now").to("/me?done=saved")
	if u, err := s.who(s.boss); err != nil || u.Name != "Ada Eze" {
		t.Errorf("name %q, %v", u.Name, err)
	}
	_, next = b.post("/me/name", "name", "Nobody").next()
	again.post("/kept", "kept", strings.TrimPrefix(next, "/kept?kept="), "do", "drop").is(http.StatusSeeOther)
	again.get(next).is(http.StatusNotFound)
	if u, err := s.who(s.boss); err != nil || u.Name != "Ada Eze" {
		t.Errorf("discarded, and the name is %q, %v", u.Name, err)
	}
}

// What sends, and what holds a secret, is never kept.
func TestWhatSendsIsNotKept(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(3)})
	b := s.as(s.boss)
	s.clock.pass(3 * time.Hour)
	for _, path := range []string{views.CampaignPath(c.ID) + "/start", "/me/password", "/settings/account/1", "/settings/team"} {
		if why, next := b.post(path, "x", "y").next(); why != "undone" || strings.Contains(next, "kept") {
			t.Errorf("%s: why %q, next %q", path, why, next)
		}
	}
	if s.keptFiles() != 0 {
		t.Errorf("%d files", s.keptFiles())
	}
}
