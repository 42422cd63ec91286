package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/api"
	"smsdesk/web/page"
)

func developer(c *Config) { c.Dev = true }

// Every address that the router answers has an entry in the table, and every
// entry says who may.
func TestEveryRouteIsInTheTable(t *testing.T) {
	s := newSite(t, developer)
	table := map[string]page.Route{}
	for _, rt := range s.web.table(callbacks) {
		key := rt.Method + " " + rt.Pattern
		if _, twice := table[key]; twice {
			t.Errorf("%s is there twice", key)
		}
		table[key] = rt
		_, role := sms.ParseRole(string(rt.Least))
		if !role && rt.Least != page.Anyone && rt.Least != page.Outside {
			t.Errorf("%s does not say who may", key)
		}
		handlers := 0
		for _, there := range []bool{rt.Do != nil, rt.Program != nil, rt.Plain != nil} {
			if there {
				handlers++
			}
		}
		if handlers != 1 || (rt.Plain != nil) != (rt.Least == page.Outside) || rt.Program != nil && !role {
			t.Errorf("%s needs one handler, a plain one only where it is outside, and programs need a role", key)
		}
		if strings.HasPrefix(rt.Pattern, api.Path) != (rt.Program != nil) && rt.Plain == nil {
			t.Errorf("%s is for people and programs alike", key)
		}
		change := rt.Program != nil && (rt.Method == "PUT" || rt.Method == "DELETE")
		if rt.Method != "GET" && rt.Method != "POST" && !change && (rt.Method != "" || rt.Least != page.Outside) {
			t.Errorf("%s has an odd method", key)
		}
	}
	walked := map[string]bool{}
	err := chi.Walk(s.web.router(callbacks), func(method, pattern string, _ http.Handler,
		_ ...func(http.Handler) http.Handler) error {
		key := method + " " + pattern
		if _, any := table[" "+pattern]; any {
			key = " " + pattern
		}
		if _, ok := table[key]; !ok {
			t.Errorf("%s %s is answered without an entry", method, pattern)
		}
		walked[key] = true
		return nil
	})
	if err != nil || len(walked) != len(table) {
		t.Errorf("%d of %d entries are answered: %v", len(walked), len(table), err)
	}
}

func TestARouteWithoutARoleLetsNobodyThrough(t *testing.T) {
	s := newSite(t)
	for _, least := range []sms.Role{"", "king", page.Outside} {
		s.handler = s.web.Page(page.Route{Method: "GET", Pattern: "/x", Least: least,
			Do: func(w http.ResponseWriter, _ *http.Request, _ *page.Visit) error {
				w.WriteHeader(http.StatusOK)
				return nil
			}})
		s.as(s.boss).get("/x").is(http.StatusForbidden)
		if got := s.browser().get("/x"); got.status == http.StatusOK {
			t.Errorf("least %q: a stranger gets in", least)
		}
	}
}

// The matrix: every role and a stranger at every address.
func TestRolesByRoutes(t *testing.T) {
	s := newSite(t, developer)
	s.account(sms.Account{Name: "Clinic"})
	people := map[sms.Role]sms.User{}
	for _, role := range sms.Roles() {
		people[role] = s.hire(string(role)+"@example.com", role)
	}
	for _, rt := range s.web.table(callbacks) {
		if rt.Least == page.Outside || rt.Program != nil {
			continue
		}
		path := strings.NewReplacer("{id}", "1", "{uid}", strings.Repeat("0", 32), "{token}",
			strings.Repeat("0", 64)).Replace(rt.Pattern)
		t.Run(rt.Method+" "+rt.Pattern, func(t *testing.T) {
			stranger := s.browser()
			switch got := request(t, stranger, rt.Method, path); {
			case rt.Least == page.Anyone:
				if got.status == http.StatusForbidden || got.status >= 500 ||
					strings.HasPrefix(got.header.Get("Location"), "/signin?next") {
					t.Errorf("a stranger gets %d", got.status)
				}
			case rt.Pattern == views.LivePath:
				got.is(http.StatusUnauthorized)
			default:
				got.is(http.StatusSeeOther)
				if !strings.HasPrefix(got.header.Get("Location"), views.SignInPath) {
					t.Errorf("a stranger is sent to %q", got.header.Get("Location"))
				}
			}
			for _, role := range sms.Roles() {
				got := request(t, s.as(people[role]), rt.Method, path)
				denied := rt.Least != page.Anyone && !role.AtLeast(rt.Least)
				if denied != (got.status == http.StatusForbidden) || got.status >= 500 ||
					strings.HasPrefix(got.header.Get("Location"), "/signin?next") {
					t.Errorf("%s gets %d, location %q", role, got.status, got.header.Get("Location"))
				}
				if denied && !strings.Contains(got.text("main"), "You need the "+rt.Least.Title()+" role.") {
					t.Errorf("%s is told %q", role, got.text("main"))
				}
			}
		})
	}
}

// request sends a bare request; a stream is cut off as soon as it has begun.
func request(t *testing.T, b *browser, method, path string) answer {
	t.Helper()
	if path == views.LivePath {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		return b.send(httptest.NewRequest(method, path+"?t=account:1", nil).WithContext(ctx))
	}
	if method == http.MethodGet {
		return b.get(path)
	}
	return b.post(path)
}

func TestWrongMethodNamesTheRightOnes(t *testing.T) {
	s := newSite(t)
	for path, want := range map[string][]string{"/signout": {"POST"}, "/signin": {"GET, HEAD", "POST"},
		"/healthz": {"GET, HEAD"}} {
		for _, method := range []string{"PUT", "DELETE", "TRACE", "OPTIONS"} {
			r := httptest.NewRequest(method, path, nil)
			r.Header.Set("Sec-Fetch-Site", "same-origin")
			got := s.browser().send(r).is(http.StatusMethodNotAllowed)
			if allow := got.header.Values("Allow"); !slices.Equal(allow, want) {
				t.Errorf("%s %s: Allow %v, want %v", method, path, allow, want)
			}
		}
	}
}

func TestOddPathsLeadNowhere(t *testing.T) {
	s := newSite(t, developer)
	boss := s.as(s.boss)
	for _, path := range []string{"/.git/config", "/.env", "/debug/pprof/", "/debug/vars", "/metrics", "/static/",
		"/static/../web.go", "/settings/account/0", "/settings/account/-1",
		"/settings/account/1e3", "/settings/account/99999999999999999999", "/settings/team/7777", "/signin/", "//signin",
		"/settings/account/1%2f..", "/api/v1", "/invite/x"} {
		boss.get(path).is(http.StatusNotFound)
	}
	staff := newSite(t)
	staff.as(staff.boss).get("/styleguide").is(http.StatusNotFound)
}

func TestHealth(t *testing.T) {
	s := newEmptySite(t)
	if got := s.browser().get("/healthz").is(http.StatusOK); got.body != "ok\n" {
		t.Errorf("%q", got.body)
	}
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	s.browser().get("/healthz").is(http.StatusServiceUnavailable)
}

// TestProbesOfBalancers: a desk that may not send is ready for reports, one that
// cannot store them is ready for pages, and both live.
func TestProbesOfBalancers(t *testing.T) {
	reason, receives := "", true
	s := newEmptySite(t, func(c *Config) {
		c.Ready = func(context.Context) string { return reason }
		c.Receives = func(context.Context) bool { return receives }
	})
	want := func(pages, reports int, body string) {
		t.Helper()
		for path, status := range map[string]int{"/livez": 200, "/healthz": 200, "/readyz": pages,
			"/readyz?for=reports": reports} {
			if got := s.browser().get(path).is(status); got.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s may be kept", path)
			}
		}
		if got := s.browser().get("/readyz"); got.body != body {
			t.Errorf("%q, want %q", got.body, body)
		}
	}
	want(200, 200, "ok\n")
	reason = "nothing is sent"
	want(503, 200, "not ready: nothing is sent\n")
	reason, receives = "", false
	want(200, 503, "ok\n")
}

// TestProxiesThatNobodyNamedAreTold, and no others.
func TestProxiesThatNobodyNamedAreTold(t *testing.T) {
	var told []string
	s := newEmptySite(t, func(c *Config) {
		c.Proxies = []string{"10.0.0.0/8", "fd00::/8"}
		c.Proxied = func(_ context.Context, peer string) { told = append(told, peer) }
	})
	for _, c := range [][2]string{{"192.0.2.7:80", "203.0.113.5"}, {"10.1.2.3:80", "203.0.113.5"},
		{"[::ffff:10.1.2.3]:80", "203.0.113.5"}, {"192.0.2.8:80", ""},
		{"[fd00::1]:80", "203.0.113.5"}, {"[2001:db8::1]:80", "203.0.113.5"}} {
		r := httptest.NewRequest(http.MethodGet, "/livez", nil)
		r.RemoteAddr = c[0]
		if c[1] != "" {
			r.Header.Set("X-Forwarded-For", c[1])
		}
		s.handler.ServeHTTP(httptest.NewRecorder(), r)
	}
	if want := []string{"192.0.2.7", "2001:db8::1"}; !slices.Equal(told, want) {
		t.Errorf("%v, want %v", told, want)
	}
}

func TestHeadIsGetWithoutBody(t *testing.T) {
	s := newSite(t)
	s.browser().send(httptest.NewRequest(http.MethodHead, "/signin", nil)).is(http.StatusOK)
}
