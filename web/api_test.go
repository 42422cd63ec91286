package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/web/api"
)

// machine is another program with a token.
type machine struct {
	site   *site
	secret string
	token  sms.Token
}

// machine makes a token that acts as u.
func (s *site) machine(u sms.User) *machine {
	s.t.Helper()
	secret, t, err := s.desk.CreateToken(context.Background(), desk.Operator(), u, "Billing")
	s.must(err)
	return &machine{s, secret, t}
}

func (m *machine) send(r *http.Request) answer {
	m.site.t.Helper()
	r.RemoteAddr = "192.0.2.20:40000"
	if m.secret != "" {
		r.Header.Set("Authorization", "Bearer "+m.secret)
	}
	rec := httptest.NewRecorder()
	m.site.handler.ServeHTTP(rec, r)
	a := answer{t: m.site.t, status: rec.Code, header: rec.Header(), body: rec.Body.String()}
	if cookies := rec.Result().Cookies(); len(cookies) > 0 {
		m.site.t.Errorf("%s %s sets a cookie", r.Method, r.URL)
	}
	for name, want := range map[string]string{"Content-Security-Policy": wantPolicy, "X-Content-Type-Options": "nosniff",
		"Access-Control-Allow-Origin": "", "Cache-Control": "no-store"} {
		if a.header.Get(name) != want {
			m.site.t.Errorf("%s %s: %s %q", r.Method, r.URL, name, a.header.Get(name))
		}
	}
	m.site.described(r, a)
	return a
}

func (m *machine) get(path string) answer {
	m.site.t.Helper()
	return m.send(httptest.NewRequest(http.MethodGet, path, nil))
}

func (m *machine) post(path, body string) answer {
	m.site.t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return m.send(r)
}

// form is the answer as a value of the API.
func form[T any](a answer) (v T) {
	a.t.Helper()
	if ct := a.header.Get("Content-Type"); ct != "application/json" {
		a.t.Fatalf("content type %q: %.300s", ct, a.body)
	}
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		a.t.Fatalf("%v: %.300s", err, a.body)
	}
	return v
}

// problem is the answer as problem details, whose status must be the answer's.
func (a answer) problem(status int) api.Problem {
	a.t.Helper()
	a.is(status)
	var p api.Problem
	if err := json.Unmarshal([]byte(a.body), &p); err != nil || a.header.Get("Content-Type") != api.ProblemJSON ||
		p.Status != status || p.Title == "" {
		a.t.Fatalf("no problem details: %q %v %.300s", a.header.Get("Content-Type"), err, a.body)
	}
	return p
}

func TestOnlyATokenOpensTheAPI(t *testing.T) {
	s := newSite(t)
	s.clinic()
	ada := s.hire("ada@example.com", sms.Sender)
	m := s.machine(ada)
	list := api.Path + "/campaigns"
	m.get(list).is(200)
	for name, header := range map[string]string{"none": "", "basic": "Basic YWRhOng=", "unknown": "Bearer " +
		sms.TokenPrefix + strings.Repeat("0", 64), "odd": "Bearer x",
		"empty": "Bearer ", "without the word": m.secret, "cut": "Bearer " + m.secret[:len(m.secret)-1]} {
		r := httptest.NewRequest(http.MethodGet, list, nil)
		if header != "" {
			r.Header.Set("Authorization", header)
		}
		stranger := &machine{site: s}
		got := stranger.send(r)
		got.problem(http.StatusUnauthorized)
		if challenge := got.header.Get("WWW-Authenticate"); !strings.HasPrefix(challenge, "Bearer ") ||
			(header != "") != strings.Contains(challenge, "invalid_token") {
			t.Errorf("%s: challenge %q", name, challenge)
		}
	}
	// A signed-in browser is not a program.
	if got := s.as(s.boss).get(list); got.status != http.StatusUnauthorized {
		t.Errorf("a session opens the API: %d", got.status)
	}
	if _, err := s.desk.SaveUser(t.Context(), s.boss, ada.ID, sms.Sender, false); err != nil {
		t.Fatal(err)
	}
	m.get(list).problem(http.StatusUnauthorized)
	if _, err := s.desk.SaveUser(t.Context(), s.boss, ada.ID, sms.Sender, true); err != nil {
		t.Fatal(err)
	}
	m.get(list).is(200)
	if _, err := s.desk.RevokeToken(t.Context(), ada, m.token.ID); err != nil {
		t.Fatal(err)
	}
	m.get(list).problem(http.StatusUnauthorized)
	if strings.Contains(s.log.String(), m.secret[len(sms.TokenPrefix):]) {
		t.Error("the token stands in the log")
	}
}

// The matrix: a token of every role at every address for programs.
func TestRolesByRoutesOfTheAPI(t *testing.T) {
	s := newSite(t)
	s.clinic()
	machines := map[sms.Role]*machine{}
	for _, role := range sms.Roles() {
		machines[role] = s.machine(s.hire(string(role)+"@example.com", role))
	}
	for _, rt := range s.web.programTable() {
		if rt.Program == nil {
			continue
		}
		path := strings.ReplaceAll(rt.Pattern, "{id}", "1")
		for role, m := range machines {
			got := m.send(httptest.NewRequest(rt.Method, path, nil))
			if denied := !role.AtLeast(rt.Least); denied != (got.status == http.StatusForbidden) || got.status >= 500 {
				t.Errorf("%s %s: %s gets %d", rt.Method, rt.Pattern, role, got.status)
			} else if denied && !strings.Contains(got.header.Get("WWW-Authenticate"), "insufficient_scope") {
				t.Errorf("%s %s: challenge %q", rt.Method, rt.Pattern, got.header.Get("WWW-Authenticate"))
			}
		}
	}
}

func TestProblemsOfTheAPI(t *testing.T) {
	faulty := &broken{}
	s := newSite(t, breaking(faulty))
	s.clinic()
	m := s.machine(s.boss)
	for path, status := range map[string]int{"/api": 404, "/api/v1": 404, "/api/v1/": 404, "/api/v1/nowhere": 404,
		"/api/v2/campaigns": 404, "/api/v1/campaigns/7777": 404, "/api/v1/campaigns/x": 404,
		"/api/v1/campaigns/0": 404, "/api/v1/messages/7777": 404, "/api/v1/campaigns/7777/messages": 404, "/api/v1/campaigns/1/send": 405,
		"/api/v1/campaigns?limit=0": 400, "/api/v1/campaigns?limit=1001": 400, "/api/v1/campaigns?limit=x": 400, "/api/v1/campaigns?limit=-1": 400,
		"/api/v1/campaigns?cursor=x": 400, "/api/v1/campaigns?cursor=-4": 400, "/api/v1/campaigns?account=Nobody": 400,
		"/api/v1/campaigns/1/messages?state=draft": 400, "/api/v1/campaigns/1/messages?status=maybe": 400} {
		p := m.get(path).problem(status)
		if status == http.StatusBadRequest && (len(p.Errors) != 1 || !strings.Contains(path, p.Errors[0].Field+"=")) {
			t.Errorf("%s: the field is not named: %+v", path, p)
		}
	}
	for _, method := range []string{"PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"} {
		got := m.send(httptest.NewRequest(method, api.Path+"/campaigns/1/send", nil))
		got.problem(http.StatusMethodNotAllowed)
		if got.header.Get("Allow") != "POST" {
			t.Errorf("%s: Allow %q", method, got.header.Get("Allow"))
		}
	}
	m.get(api.Path + "/campaigns?limit=&cursor=").is(200)
	faulty.panics = true
	if p := m.get(api.Path + "/campaigns").problem(500); p.Instance == "" || strings.Contains(p.Detail, "fire") {
		t.Errorf("a panic: %+v", p)
	}
	faulty.panics = false
}

func TestACampaignForPrograms(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	ada := s.hire("ada@example.com", sms.Sender)
	m := s.machine(ada)
	c := s.draft(ada, desk.Order{AccountID: a.ID, Name: "June reminders", Numbers: typed(3), Text: "Come at nine"})
	path := fmt.Sprintf("%s/campaigns/%d", api.Path, c.ID)
	got := form[api.Campaign](m.get(path).is(200))
	if got.ID != c.ID || got.State != "draft" || got.Counts != (api.Counts{Queued: 3}) || got.Account != "Clinic" ||
		got.CreatedAt == nil || *got.CreatedAt != "2026-06-03T09:48:00.000Z" || got.StartedAt != nil {
		t.Errorf("%+v", got)
	}
	if got.Plan.Calls != 1 || got.Plan.Text != 1 || got.Plan.Pairs != 0 {
		t.Errorf("plan %+v", got.Plan)
	}
	m.post(path+"/continue", "").problem(409)
	m.post(path+"/stop", "").problem(409)
	if got := form[api.Campaign](m.post(path+"/send", "").is(200)); got.State != "running" || got.StartedAt == nil ||
		got.Counts.Queued != 3 {
		t.Errorf("%+v", got)
	}
	m.post(path+"/send", "{}").is(200)
	other := s.machine(s.hire("other@example.com", sms.Sender))
	if p := other.post(path+"/send", "").problem(409); !strings.Contains(p.Detail, "running") ||
		!strings.Contains(p.Detail, "Ada Obi") {
		t.Errorf("%+v", p)
	}
	m.post(path+"/continue", "").is(200)
	for range 2 {
		if got := form[api.Campaign](m.post(path+"/stop", "").is(200)); got.State != "stopped" {
			t.Errorf("%+v", got)
		}
	}
	m.post(path+"/send", "").problem(409)
	if got := form[api.Campaign](m.post(path+"/continue", "").is(200)); got.State != "running" {
		t.Errorf("%+v", got)
	}
	list := form[api.CampaignPage](m.get(api.Path + "/campaigns?account=Clinic").is(200))
	if len(list.Items) != 1 || list.Items[0].ID != c.ID || list.NextCursor != nil {
		t.Errorf("%+v", list)
	}
}

// What pauses the account pauses its campaigns as programs see them.
func TestAPausedAccountForPrograms(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	ada := s.hire("ada@example.com", sms.Sender)
	c := s.started(ada, desk.Order{AccountID: a.ID, Numbers: typed(2)})
	path := fmt.Sprintf("%s/campaigns/%d", api.Path, c.ID)
	s.send(a, 1, func(sms.Call) sms.Outcome {
		return sms.Outcome{Class: sms.ClassListed, HTTPStatus: 200, Code: "007", Fault: sms.FaultCredentials,
			Reason: "The API key is wrong"}
	})
	m := s.machine(ada)
	if got := form[api.Campaign](m.get(path)); got.State != "paused" || !strings.Contains(got.Reason, "API key") {
		t.Errorf("%+v", got)
	}
	m.post(path+"/continue", "").problem(403)
	if got := form[api.Campaign](s.machine(s.boss).post(path+"/continue", "").is(200)); got.State != "running" ||
		got.Reason != "" {
		t.Errorf("%+v", got)
	}
}

func TestMessagesForPrograms(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	ada := s.hire("ada@example.com", sms.Sender)
	c := s.draft(ada, desk.Order{AccountID: a.ID, Numbers: typed(7)})
	path := fmt.Sprintf("%s/campaigns/%d/messages", api.Path, c.ID)
	m := s.machine(ada)
	seen, pages := map[int64]bool{}, 0
	for cursor := ""; ; pages++ {
		got := form[api.MessagePage](m.get(path + "?limit=3&cursor=" + cursor).is(200))
		for _, item := range got.Items {
			if seen[item.Row] || item.State != "queued" || item.Status != "" || !strings.HasPrefix(item.Phone, "234803") ||
				item.Text == "" || item.Parts != 1 {
				t.Errorf("%+v", item)
			}
			seen[item.Row] = true
		}
		if got.NextCursor == nil {
			break
		}
		cursor = *got.NextCursor
	}
	if len(seen) != 7 || pages != 2 {
		t.Errorf("%d rows on %d pages", len(seen), pages+1)
	}
	if got := form[api.MessagePage](m.get(path + "?state=accepted").is(200)); len(got.Items) != 0 ||
		got.NextCursor != nil {
		t.Errorf("%+v", got)
	}
	if got := form[api.MessagePage](m.get(path + "?state=queued&status=").is(200)); len(got.Items) != 7 {
		t.Errorf("%+v", got)
	}
	first := form[api.MessagePage](m.get(path + "?limit=1")).Items[0]
	whole := form[api.WholeMessage](m.get(fmt.Sprintf("%s/messages/%d", api.Path, first.ID)).is(200))
	if whole.Message != first || whole.CampaignID != c.ID || whole.CreatedAt == nil || whole.SentAt != nil {
		t.Errorf("%+v", whole)
	}
	// A viewer sees as little of a number as on the pages.
	viewer := s.machine(s.hire("v@example.com", sms.Viewer))
	for _, p := range []string{path, fmt.Sprintf("%s/messages/%d", api.Path, first.ID)} {
		if body := viewer.get(p).is(200).body; strings.Contains(body, first.Phone) || !strings.Contains(body, "2348••••") {
			t.Errorf("a viewer reads %.300s", body)
		}
	}
}
