package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/views"
)

func secure(c *Config) { c.Secure, c.PublicURL = true, "https://desk.example.com" }

// real is an administrator whose password is known.
func (s *site) real() {
	s.t.Helper()
	if _, err := s.desk.CreateUser(s.t.Context(), desk.Operator(), "ada@example.com", "Ada Obi", sms.Administrator,
		goodPassword); err != nil {
		s.t.Fatal(err)
	}
}

func TestSignInFlow(t *testing.T) {
	s := newEmptySite(t)
	s.real()
	b := s.browser()
	b.get("/settings/team?x=1&y=2").to("/signin?next=%2Fsettings%2Fteam%3Fx%3D1%26y%3D2")
	form := b.get("/signin?next=%2Fsettings%2Fteam%3Fx%3D1").is(http.StatusOK)
	if got, _ := form.page().Find("input[name=next]").Attr("value"); got != "/settings/team?x=1" {
		t.Errorf("next is %q", got)
	}
	if form.page().Find("input[name=email][autofocus]").Length() != 1 {
		t.Error("the email field has no focus")
	}
	wrong := b.post("/signin", "email", "ada@example.com", "password", "nope", "next",
		"/settings/team").is(http.StatusUnprocessableEntity)
	wrong.has("There is a problem", "The email address or password is wrong. You have 4 attempts left.").lacks("nope")
	if got := wrong.page().Find("title").Text(); !strings.HasPrefix(got, "Error: Sign in") {
		t.Errorf("title %q", got)
	}
	if got, _ := wrong.page().Find("input[name=email]").Attr("value"); got != "ada@example.com" {
		t.Error("the typed address is gone")
	}
	if len(b.cookies) != 0 {
		t.Error("a failed sign-in sets a cookie")
	}
	b.post("/signin", "email", "ada@example.com", "password", goodPassword, "next", "/settings/team").to("/settings/team")
	b.get("/settings/team").is(http.StatusOK).has("Ada Obi")
	b.get("/signin?next=/me").to("/me")
	old := b.cookies["smsdesk"]
	b.post("/signout").to("/signin?done=signedout")
	b.get("/signin?done=signedout").has("You have signed out.")
	b.cookies["smsdesk"] = old
	b.get("/settings/team").to("/signin?next=%2Fsettings%2Fteam&why=ended")
}

func TestSignInThrottle(t *testing.T) {
	s := newEmptySite(t)
	s.real()
	b := s.browser()
	for range 5 {
		b.post("/signin", "email", "ada@example.com", "password", "nope").is(http.StatusUnprocessableEntity)
	}
	b.post("/signin", "email", "ada@example.com", "password", goodPassword).is(http.StatusUnprocessableEntity).
		has("Too many attempts. Wait 15 minutes or ask an administrator.")
	s.clock.pass(15 * time.Minute)
	b.post("/signin", "email", "ada@example.com", "password", goodPassword).to("/")
}

// A header that anybody can send must not make a new visitor.
func TestThrottleIgnoresForgedAddresses(t *testing.T) {
	s := newEmptySite(t)
	s.real()
	passed := 0
	for i := range 60 {
		r := httptest.NewRequest(http.MethodPost, "/signin",
			strings.NewReader(url.Values{"email": {string(rune('a'+i%26)) + strings.Repeat("x", i) + "@example.com"},
				"password": {"x"}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		forged := "203.0.113." + string(rune('0'+i%10))
		for _, name := range []string{"X-Forwarded-For", "X-Real-IP", "True-Client-IP", "CF-Connecting-IP"} {
			r.Header.Set(name, forged)
		}
		r.Header.Set("Forwarded", "for="+forged)
		if strings.Contains(s.browser().send(r).body, "attempts left") {
			passed++
		}
	}
	if passed != 20 {
		t.Errorf("%d tries from one address in a minute", passed)
	}
}

// The peer is believed about its clients only where we were told so.
func TestProxyIsBelievedWhereToldSo(t *testing.T) {
	s := newEmptySite(t, func(c *Config) { c.Proxies = []string{"10.0.0.0/8"} })
	s.real()
	try := func(peer, claimed string) bool {
		b := s.browser()
		b.ip = peer
		r := httptest.NewRequest(http.MethodPost, "/signin",
			strings.NewReader(url.Values{"email": {desk.NewToken()[:9] + "@example.com"}, "password": {"x"}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("X-Forwarded-For", claimed)
		return strings.Contains(b.send(r).body, "attempts left")
	}
	for range 20 {
		try("10.1.1.1", "198.51.100.1")
	}
	if try("10.1.1.1", "198.51.100.1") {
		t.Error("one client behind the proxy is not throttled")
	}
	if !try("10.1.1.1", "198.51.100.2") {
		t.Error("another client behind the proxy is throttled too")
	}
	if !try("192.0.2.1", "198.51.100.1") {
		t.Error("a stranger speaks for the throttled client")
	}
}

func TestSessionCookieStrings(t *testing.T) {
	for _, c := range []struct {
		name         string
		config       func(*Config)
		opened, over string
	}{
		{"https", secure, `^__Host-smsdesk=([0-9a-f]{64}); Path=/; HttpOnly; Secure; SameSite=Lax$`,
			`^__Host-smsdesk=; Path=/; Expires=Thu, 01 Jan 1970 00:00:01 GMT; Max-Age=0; HttpOnly; Secure; SameSite=Lax$`},
		{"http on this machine", func(*Config) {}, `^smsdesk=([0-9a-f]{64}); Path=/; HttpOnly; SameSite=Lax$`,
			`^smsdesk=; Path=/; Expires=Thu, 01 Jan 1970 00:00:01 GMT; Max-Age=0; HttpOnly; SameSite=Lax$`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newEmptySite(t, c.config)
			s.real()
			b := s.browser()
			one := func(a answer, form string) string {
				t.Helper()
				set := a.header.Values("Set-Cookie")
				if len(set) != 1 || !regexp.MustCompile(form).MatchString(set[0]) {
					t.Fatalf("Set-Cookie %q, want %s", set, form)
				}
				return regexp.MustCompile(form).FindStringSubmatch(set[0] +
					"")[len(regexp.MustCompile(form).FindStringSubmatch(set[0]))-1]
			}
			first := one(b.post("/signin", "email", "ada@example.com", "password", goodPassword), c.opened)
			second := one(b.post("/me/password", "current", goodPassword, "password", "another pony battery lamp"), c.opened)
			if first == second {
				t.Error("a change of password keeps the id")
			}
			third := one(b.post("/signin", "email", "ada@example.com", "password", "another pony battery lamp"), c.opened)
			if third == second {
				t.Error("signing in again keeps the id")
			}
			for _, dead := range []string{first, second} {
				if _, err := s.desk.Session(t.Context(), dead); err == nil {
					t.Error("an old id still opens the desk")
				}
			}
			if got := b.get("/me").header.Values("Set-Cookie"); len(got) != 0 {
				t.Errorf("a page sets %q", got)
			}
			out := b.post("/signout")
			one(out, c.over)
			if got := out.header.Get("Clear-Site-Data"); got != `"cache", "storage"` {
				t.Errorf("Clear-Site-Data %q", got)
			}
		})
	}
}

// An id that somebody puts into a browser before the sign-in must not become
// the id of the session.
func TestSessionFixation(t *testing.T) {
	s := newEmptySite(t)
	s.real()
	b := s.browser()
	planted := strings.Repeat("ab", 32)
	b.cookies["smsdesk"] = planted
	b.post("/signin", "email", "ada@example.com", "password", goodPassword).to("/")
	if b.cookies["smsdesk"] == planted {
		t.Error("the planted id is in use")
	}
	b.cookies["smsdesk"] = planted
	b.get("/me").to("/signin?next=%2Fme&why=ended")
}

func TestExpiredSession(t *testing.T) {
	s := newSite(t)
	b := s.as(s.boss)
	s.clock.pass(2 * time.Hour)
	b.get("/me").to("/signin?next=%2Fme&why=timeout")
	b.get("/signin?next=%2Fme&why=timeout").has(
		"You were signed out after 2 hours of inactivity. Sign in to continue where you left off.")
	b.post("/settings/team", "email", "x").to("/signin?next=%2Fsettings%2Fteam&why=undone")
	b.post("/me/password", "current", "x").to("/signin?why=undone")
	b.get("/signin?why=undone").has("so nothing was changed or sent")

	r := httptest.NewRequest(http.MethodGet, "/side", nil)
	r.Header.Set("HX-Request", "true")
	r.Header.Set("HX-Current-URL", "http://127.0.0.1:8080/settings/reports?account=1")
	got := b.send(r).is(http.StatusUnauthorized)
	if to := got.header.Get("HX-Redirect"); to != "/signin?next=%2Fsettings%2Freports%3Faccount%3D1&why=timeout" {
		t.Errorf("HX-Redirect %q", to)
	}
	if len(got.body) > 20 {
		t.Errorf("a fragment is answered %q", got.body)
	}
}

// A live page asks by itself; that must not keep a session alive.
func TestWatchingIsNotUse(t *testing.T) {
	s := newSite(t)
	b := s.as(s.boss)
	for range 3 {
		s.clock.pass(50 * time.Minute)
		r := httptest.NewRequest(http.MethodGet, "/side", nil)
		r.Header.Set("HX-Request", "true")
		b.send(r)
	}
	b.get("/me").to("/signin?next=%2Fme&why=timeout")
}

var elsewhere = []string{
	"https://evil.example", "//evil.example", "///evil.example", `/\evil.example`, `\\evil.example`, `\/evil.example`, "/\t/evil.example", "/\n/evil.example",
	"/\r/evil.example", "\t//evil.example", " //evil.example", "/ /evil.example", "javascript:alert(1)",
	"data:text/html,x", "http:evil.example", "https:/evil.example",
	"evil.example", ".evil.example", "@evil.example", "/\x00/evil.example", "/%5cevil.example\\", "/x\\..\\..\\evil",
	"//evil.example/%2f..", "/\u00a0\\evil", "////", "//",
	"/signin?next=//evil.example", "/signout", "", "?x=//evil.example", "#//evil.example", "/\x7f/evil.example",
}

func TestNextStaysHere(t *testing.T) {
	s := newEmptySite(t)
	s.real()
	b := s.browser()
	b.post("/signin", "email", "ada@example.com", "password", goodPassword).to("/")
	signedIn := b.cookies["smsdesk"]
	for _, next := range elsewhere {
		b.get("/signin?" + url.Values{"next": {next}}.Encode()).to("/")
		b.post("/theme", "theme", "dark", "next", next).to("/")
		if got, ok := s.browser().get("/signin?" + url.Values{"next": {next}}.Encode()).page().Find("input[name=next]").Attr(
			"value"); ok {
			t.Errorf("the form keeps %q as %q", next, got)
		}
	}
	b.cookies["smsdesk"] = signedIn
	for _, next := range []string{"/me", "/settings/team?x=//y", "/campaigns/42#messages", "/%2f%2fevil"} {
		b.post("/theme", "theme", "dark", "next", next).to(next)
	}
}

func TestSetup(t *testing.T) {
	s := newEmptySite(t)
	b := s.browser()
	for _, path := range []string{"/", "/signin", "/me", "/settings/team", "/nowhere", "/invite/x"} {
		b.get(path).to("/setup")
	}
	b.get("/setup").is(http.StatusOK).has("Open the set-up link", "In the terminal where you started smsdesk")
	b.get("/healthz").is(http.StatusOK)
	b.get("/dlr/x").is(http.StatusOK)
	b.get("/setup?token=" + strings.Repeat("0", 64)).is(http.StatusNotFound).has("This set-up link has expired")

	token, _, err := s.desk.OpenSetup(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.get("/setup?token="+token).is(http.StatusOK).has("Set up smsdesk", "At least 15 characters")
	bad := b.post("/setup", "token", token, "email", "ada", "name", "Ada <b>", "password",
		"short").is(http.StatusUnprocessableEntity)
	bad.has("Enter an email address, for example ada@example.com",
		"Password must be at least 15 characters. Yours is 5").lacks("short\"")
	if got, _ := bad.page().Find("input[name=token]").Attr("value"); got != token {
		t.Error("the form forgot the secret")
	}
	b.post("/setup", "token", token, "email", "ada@example.com", "name", "Ada Obi", "password",
		goodPassword).to("/setup/tasks?done=setup")
	tasks := b.get("/setup/tasks?done=setup").is(http.StatusOK)
	tasks.has("Create the first administrator Done", "Connect to the provider", "Turn on delivery reports",
		"Choose the default sender ID",
		"Set the price, currency, country and time zone", "Add a second administrator", "Answer USSD codes", "Optional", "1 of 6 tasks done")
	tasks.page().Find(".tasks a").Each(func(_ int, a *goquery.Selection) {
		href, _ := a.Attr("href")
		b.get(href).is(http.StatusOK)
	})

	stranger := s.browser()
	stranger.get("/setup?token=" + token).to("/setup/tasks")
	stranger.get("/setup/tasks").to("/signin?next=%2Fsetup%2Ftasks")
	stranger.post("/setup", "token", token, "email", "eve@example.com", "name", "Eve", "password",
		goodPassword).is(http.StatusNotFound)
	if n, _ := s.db.Administrators(t.Context()); n != 1 {
		t.Errorf("%d administrators", n)
	}
}

func TestSetupIsClosedByAnAdministrator(t *testing.T) {
	s := newEmptySite(t)
	token, _, _ := s.desk.OpenSetup(t.Context())
	late, _, _ := s.desk.OpenSetup(t.Context())
	s.browser().get("/setup?token=" + token).is(http.StatusNotFound)
	s.clock.pass(15 * time.Minute)
	s.browser().get("/setup?token=" + late).is(http.StatusNotFound)
	fresh, _, _ := s.desk.OpenSetup(t.Context())
	s.real()
	s.browser().get("/setup?token=" + fresh).to("/setup/tasks")
	s.browser().post("/setup", "token", fresh, "email", "eve@example.com", "name", "Eve", "password",
		goodPassword).is(http.StatusConflict)
}

func TestInvitePages(t *testing.T) {
	s := newSite(t)
	boss, guest := s.as(s.boss), s.browser()
	boss.post("/settings/team", "email", "x", "role", "").is(http.StatusUnprocessableEntity).has("Enter an email address",
		"Choose a role")
	boss.post("/settings/team", "email", "bola@example.com", "role", "sender").to("/settings/team")
	shown := boss.get("/settings/team").has("Invitation link created", "bola@example.com", "1 open invitation")
	link, _ := shown.page().Find("#invite-link").Attr("value")
	path, ok := strings.CutPrefix(link, "http://127.0.0.1:8080")
	if !ok || len(path) != len("/invite/")+64 {
		t.Fatalf("link %q", link)
	}
	boss.get("/settings/team").lacks(path)
	s.as(s.boss).get("/settings/team").lacks(path)

	guest.get(path).is(http.StatusOK).has("Join smsdesk", "with the Sender role")
	if got, _ := guest.get(path).page().Find("input[name=email]").Attr("value"); got != "bola@example.com" {
		t.Errorf("address %q", got)
	}
	guest.post(path, "name", "Bola", "password", "short").is(http.StatusUnprocessableEntity).has(
		"Password must be at least 15 characters")
	guest.post(path, "name", "Bola", "password", goodPassword, "email", "eve@example.com", "role",
		"administrator").to("/me?done=accepted")
	guest.get("/me").is(http.StatusOK).has("Bola", "bola@example.com · Sender")
	guest.get("/settings/team").is(http.StatusForbidden)
	s.browser().get(path).is(http.StatusNotFound).has("This invitation has expired")
	s.browser().post(path, "name", "Eve", "password", goodPassword).is(http.StatusNotFound)
	if strings.Contains(s.log.String(), path) || strings.Contains(s.log.String(), strings.TrimPrefix(path, "/invite/")) {
		t.Error("the invitation is in the log")
	}
}

func TestForgottenPasswordPages(t *testing.T) {
	s := newEmptySite(t)
	s.real()
	bola := s.hire("bola@example.com", sms.Sender)
	boss, guest := s.browser(), s.browser()
	boss.post("/signin", "email", "ada@example.com", "password", goodPassword).to("/")
	for range 7 {
		guest.post("/signin", "email", bola.Email, "password", "forgotten").is(http.StatusUnprocessableEntity)
	}
	boss.post(views.UserPath(bola.ID), "do", "password").to("/settings/team")
	shown := boss.get("/settings/team").has("Invitation link created").lacks("open invitation")
	link, _ := shown.page().Find("#invite-link").Attr("value")
	path := strings.TrimPrefix(link, "http://127.0.0.1:8080")
	form := guest.get(path).is(http.StatusOK).has("Choose a new password",
		"An administrator gave you this link to choose a new password.")
	if form.page().Find("#name").Length() != 0 {
		t.Error("the form asks for a name")
	}
	guest.post(path, "password", "another pony battery lamp").to("/me?done=accepted")
	guest.get("/me").has("bola@example.com · Sender")
	s.browser().get(path).is(http.StatusNotFound)
}
