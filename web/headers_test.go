package web

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

const wantPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src " +
	"'self'; form-action 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'"

// Every answer, whatever its status, carries the headers that keep a browser
// in line.
func TestHeadersOnEveryAnswer(t *testing.T) {
	for _, mode := range []struct {
		name   string
		secure bool
	}{{"http", false}, {"https", true}} {
		t.Run(mode.name, func(t *testing.T) {
			faulty := &broken{}
			s := newSite(t, func(c *Config) {
				if mode.secure {
					secure(c)
				}
				breaking(faulty)(c)
			})
			viewer, boss := s.hire("v@example.com", sms.Viewer), s.as(s.boss)
			large := httptest.NewRequest(http.MethodPost, "/signin", strings.NewReader(strings.Repeat("x", page.FormMost+1)))
			large.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			large.Header.Set("Sec-Fetch-Site", "same-origin")
			streamed := large.Clone(t.Context())
			streamed.Body, streamed.ContentLength = io.NopCloser(strings.NewReader("email="+
				strings.Repeat("x", page.FormMost))), -1
			cross := httptest.NewRequest(http.MethodPost, "/signout", nil)
			cross.Header.Set("Sec-Fetch-Site", "cross-site")
			for want, got := range map[string]answer{
				"200":           s.browser().get("/signin"),
				"200 signed in": boss.get("/me"),
				"200 static":    s.browser().get(s.asset()),
				"200 callback":  s.browser().get("/dlr/x"),
				"200 health":    s.browser().get("/healthz"),
				"303":           s.browser().get("/"),
				"400":           boss.get("/live?t=x"),
				"401":           s.browser().get("/live?t=account:1"),
				"403":           s.as(viewer).get("/settings/team"),
				"403 cross":     s.browser().send(cross),
				"404":           s.browser().get("/nowhere"),
				"404 static":    s.browser().get("/static/x.css"),
				"405":           s.browser().get("/signout"),
				"413":           s.browser().send(large),
				"413 streamed":  s.browser().send(streamed),
				"422":           s.browser().post("/signin"),
				"500":           boss.get("/settings/team"),
				"500 panic":     panicking(faulty, boss),
			} {
				checkHeaders(t, want, got, mode.secure)
			}
		})
	}
}

func panicking(store *broken, b *browser) answer {
	store.panics = true
	defer func() { store.panics = false }()
	return b.get("/settings/team")
}

func (s *site) asset() string {
	href, _ := s.browser().get("/signin").page().Find("link[rel=stylesheet]").Attr("href")
	return href
}

func checkHeaders(t *testing.T, want string, got answer, secure bool) {
	t.Helper()
	code, _, _ := strings.Cut(want, " ")
	if code != strconv.Itoa(got.status) {
		t.Errorf("%s: status %d", want, got.status)
	}
	for name, value := range map[string]string{"Content-Security-Policy": wantPolicy, "X-Content-Type-Options": "nosniff",
		"Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY"} {
		if got.header.Get(name) != value || len(got.header.Values(name)) != 1 {
			t.Errorf("%s: %s %q", want, name, got.header.Values(name))
		}
	}
	if hsts := got.header.Get("Strict-Transport-Security"); secure != (hsts == "max-age=63072000; includeSubDomains") {
		t.Errorf("%s: Strict-Transport-Security %q", want, hsts)
	}
	if ct := got.header.Get("Content-Type"); strings.HasPrefix(ct, "text/") && !strings.HasSuffix(ct, "charset=utf-8") ||
		ct == "" && got.body != "" && !strings.HasSuffix(want, "callback") {
		t.Errorf("%s: Content-Type %q", want, ct)
	}
	page := !strings.Contains(want, "static") && !strings.Contains(want, "callback")
	if cache := got.header.Get("Cache-Control"); page && !strings.Contains(cache, "no-store") {
		t.Errorf("%s: Cache-Control %q", want, cache)
	}
	if page && !strings.Contains(want, "health") && !strings.Contains(strings.Join(got.header.Values("Vary"), ","),
		"HX-Request") {
		t.Errorf("%s: Vary %q", want, got.header.Values("Vary"))
	}
	for _, name := range []string{"Server", "X-Powered-By", "Access-Control-Allow-Origin"} {
		if got.header.Get(name) != "" {
			t.Errorf("%s: %s %q", want, name, got.header.Get(name))
		}
	}
}

func TestErrorPages(t *testing.T) {
	faulty := &broken{}
	s := newSite(t, breaking(faulty))
	boss := s.as(s.boss)
	for name, got := range map[string]answer{"fault": boss.get("/settings/team"), "panic": panicking(faulty, boss)} {
		id := got.header.Get("X-Request-Id")
		got.is(http.StatusInternalServerError).has("Something went wrong in smsdesk", id).lacks("fire", "goroutine", ".go:")
		if n := strings.Count(s.log.String(), "id="+id+" "); n != 2 {
			t.Errorf("%s: the log names %s %d times, want the fault and the request", name, id, n)
		}
	}
	boss.get("/me").is(http.StatusOK)
	s.as(s.hire("v@example.com", sms.Viewer)).get("/settings/team").is(http.StatusForbidden).
		has("You cannot open this page", "You need the Administrator role. Ask an administrator.")
	boss.get("/nowhere").is(http.StatusNotFound).has("Page not found", "Sign out")
	s.browser().get("/nowhere").is(http.StatusNotFound).has("Page not found").lacks("Sign out")

	fragment := httptest.NewRequest(http.MethodGet, "/settings/team", nil)
	fragment.Header.Set("HX-Request", "true")
	if got := boss.send(fragment).is(http.StatusInternalServerError); strings.Contains(got.body, "<") {
		t.Errorf("a fragment's error is %q", got.body)
	}
}

func TestAClientThatIsGoneIsNoFault(t *testing.T) {
	s := newSite(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.as(s.boss).send(httptest.NewRequest(http.MethodGet, "/me", nil).WithContext(ctx))
	if strings.Contains(s.log.String(), "level=ERROR") {
		t.Errorf("%s", s.log.String())
	}
}

// The combinations of what browsers say about where a form comes from.
func TestFormsFromOtherSites(t *testing.T) {
	s := newSite(t, secure)
	for _, c := range []struct {
		site, origin string
		allowed      bool
	}{
		{"same-origin", "https://desk.example.com", true},
		{"same-origin", "null", true},
		{"none", "", true},
		{"", "", true},
		{"", "https://desk.example.com", true},
		{"same-site", "https://other.example.com", false},
		{"cross-site", "https://evil.example", false},
		{"cross-site", "", false},
		{"", "https://evil.example", false},
		{"", "null", false},
		{"", "http://desk.example.com.evil.example", false},
	} {
		for _, rt := range s.web.table(callbacks) {
			if rt.Method != http.MethodPost || rt.Program != nil {
				continue // a program's token is not sent by a browser of its own accord
			}
			path := strings.NewReplacer("{id}", "9999", "{token}", "x").Replace(rt.Pattern)
			r := httptest.NewRequest(http.MethodPost, path, nil)
			r.Host = "desk.example.com"
			if c.site != "" {
				r.Header.Set("Sec-Fetch-Site", c.site)
			}
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			got := s.as(s.boss).send(r)
			if refused := got.status == http.StatusForbidden &&
				strings.Contains(got.body, "This form was sent from another site"); refused == c.allowed {
				t.Errorf("%s with Sec-Fetch-Site %q and Origin %q: status %d", path, c.site, c.origin, got.status)
			}
		}
	}
	r := httptest.NewRequest(http.MethodPost, "/ussd/x", nil)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	s.browser().send(r).is(http.StatusOK)
}

// No GET changes anything that is stored, except when a session was last used.
func TestGetChangesNothing(t *testing.T) {
	s := newSite(t, developer)
	a := s.account(sms.Account{Name: "Clinic"})
	boss := s.as(s.boss)
	before := s.dump(a)
	for _, rt := range s.web.table(callbacks) {
		if rt.Method == http.MethodGet && rt.Pattern != views.LivePath {
			boss.get(strings.NewReplacer("{id}", "1", "{token}", "x", "*", "x").Replace(rt.Pattern) + "?account=1&kind=dlr")
		}
	}
	if after := s.dump(a); after != before {
		t.Errorf("before %s\nafter %s", before, after)
	}
}

func (s *site) dump(a sms.Account) string {
	s.t.Helper()
	users, err := s.db.Users(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	accounts, err := s.db.Accounts(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	tokens, err := s.db.CallbackTokens(s.t.Context(), s.clock.now().UnixMilli())
	if err != nil {
		s.t.Fatal(err)
	}
	invites, err := s.db.Invites(s.t.Context(), 0)
	if err != nil {
		s.t.Fatal(err)
	}
	senders, err := s.db.SenderIDs(s.t.Context(), a.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprint(users, accounts, tokens, invites, senders)
}

// The log tells what was asked, and no secret.
func TestLogHoldsNoSecrets(t *testing.T) {
	s := newEmptySite(t)
	setup, _, _ := s.desk.OpenSetup(t.Context())
	b := s.browser()
	b.get("/setup?token=" + setup).is(http.StatusOK)
	b.post("/setup", "token", setup, "email", "ada@example.com", "name", "Ada", "password",
		goodPassword).to("/setup/tasks?done=setup")
	b.post("/signin", "email", "ada@example.com", "password", "PASSWORD-CANARY-1").is(http.StatusUnprocessableEntity)
	b.post("/settings/account", "api_key", "CANARY-KEY-1234", "client_id", "CANARY-CLIENT-1", "name",
		"Clinic").is(http.StatusUnprocessableEntity)
	for _, path := range []string{"/dlr/CANARY-TOKEN?mobile=2348035550101", "/ussd/CANARY-TOKEN", "/dlr/CANARY-TOKEN/x",
		"/invite/CANARY-TOKEN", "/wall/CANARY-TOKEN", "/wall/CANARY-TOKEN/live", "/wall/CANARY-TOKEN/x", "/invite/CANARY-TOKEN/x",
		"/CANARY-TOKEN", "/signin?next=/CANARY-TOKEN", "/dlr//CANARY-TOKEN", "/settings/team/CANARY-TOKEN/x"} {
		b.get(path)
	}
	odd := httptest.NewRequest("CANARYMETHOD", "/signin", nil)
	odd.Header.Set("User-Agent", "x\nlevel=ERROR msg=forged\u2028")
	odd.Header.Set("X-Request-Id", "CANARY-ID")
	b.send(odd)
	log := s.log.String()
	for _, secret := range []string{"CANARY", setup, goodPassword, b.cookies["smsdesk"], "2348035550101", "msg=forged"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
	for _, want := range []string{"path=/dlr/*", "path=/setup ", "path=/invite/{token}", "status=422"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not say %q", want)
		}
	}
}

func TestThemeCookie(t *testing.T) {
	s := newSite(t, secure)
	b := s.as(s.boss)
	got := b.post("/theme", "theme", "dark", "next", "/me").to("/me").header.Get("Set-Cookie")
	if !strings.HasPrefix(got, "__Host-theme=dark; Path=/; Expires=") ||
		!strings.HasSuffix(got, "; Max-Age=31536000; HttpOnly; Secure; SameSite=Lax") {
		t.Errorf("%q", got)
	}
	if theme, _ := b.get("/me").page().Find("html").Attr("data-theme"); theme != "dark" {
		t.Errorf("theme %q", theme)
	}
	b.post("/theme", "theme", `"><script>`, "next", "/me").to("/me")
	if theme, _ := b.get("/me").page().Find("html").Attr("data-theme"); theme != "auto" {
		t.Errorf("theme %q", theme)
	}
}

func TestCompression(t *testing.T) {
	s := newSite(t)
	s.account(sms.Account{Name: "Clinic"})
	for path, want := range map[string]string{"/me": "gzip", "/settings/reports": ""} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Accept-Encoding", "gzip")
		if got := s.as(s.boss).send(r).is(http.StatusOK).header.Get("Content-Encoding"); got != want {
			t.Errorf("%s: Content-Encoding %q, want %q", path, got, want)
		}
	}
}

func TestUnreadableForm(t *testing.T) {
	s := newSite(t)
	for _, body := range []string{"a=%zz", "a;b"} {
		r := httptest.NewRequest(http.MethodPost, "/me/name", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		s.as(s.boss).send(r).is(http.StatusBadRequest).has("We could not read the form")
	}
}
