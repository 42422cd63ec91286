package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/web/api"
)

func TestAProgramRenamesIncludesAndWithdraws(t *testing.T) {
	s, m := factory(t)
	a, err := s.db.AccountNamed(t.Context(), "Clinic")
	s.must(err)
	c := form[api.Campaign](m.create(ordered("Jun", twoRows)).is(201))
	if got := form[api.Campaign](m.post(orderPath(c, "rename"), `{"name":"June"}`).is(200)); got.Name != "June" || got.State != "draft" {
		t.Errorf("%+v", got)
	}
	for body, field := range map[string]string{`{}`: "name", `{"name":"` + strings.Repeat("x", 101) + `"}`: "name",
		`{"name":"x","text":"y"}`: "text"} {
		if p := m.post(orderPath(c, "rename"), body).problem(422); p.Errors[0].Field != field {
			t.Errorf("%s: %+v", body, p)
		}
	}
	m.post(orderPath(c, "include"), `{"really":true}`).problem(422)
	m.post(orderPath(c, "include"), "").is(200)
	if got := s.campaign(c.ID); !got.IncludeSent || got.State != sms.CampaignDraft {
		t.Errorf("%+v", got)
	}
	m.post(orderPath(c, "approval/withdraw"), "").problem(409)

	s.hire("approver@example.com", sms.Approver)
	s.update(a.ID, func(a *sms.Account) { a.ApproveAbove = 1 })
	if got := form[api.Campaign](m.post(orderPath(c, "send"), "").is(200)); got.State != "awaiting_approval" {
		t.Errorf("%+v", got)
	}
	if got := form[api.Campaign](m.post(orderPath(c, "approval/withdraw"), "").is(200)); got.State != "draft" {
		t.Errorf("%+v", got)
	}
	s.update(a.ID, func(a *sms.Account) { a.ApproveAbove = 0 })
	m.post(orderPath(c, "send"), "").is(200)
	for _, order := range []string{"rename", "include", "approval/withdraw"} {
		body := ""
		if order == "rename" {
			body = `{"name":"July"}`
		}
		if order == "include" {
			continue // it is included already
		}
		if p := m.post(orderPath(c, order), body).problem(409); p.Type != api.ProblemState {
			t.Errorf("%s: %+v", order, p)
		}
	}
	other := form[api.Campaign](m.create(ordered("Other", `,"send":true`+oneRow)).is(201))
	m.post(orderPath(other, "include"), "").problem(409)
	viewer := s.machine(s.hire("v3@example.com", sms.Viewer))
	for _, order := range []string{"rename", "include", "approval/withdraw"} {
		viewer.post(orderPath(c, order), "").problem(403)
	}
}

func TestAProgramSearchesMessages(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	fates := s.everyFate(a)
	s.clock.pass(48 * time.Hour)
	other := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: "08030001000", Name: "July bills", Text: "Pay"})
	m := s.machine(s.hire("ada@example.com", sms.Sender))
	viewer := s.machine(s.hire("v@example.com", sms.Viewer))
	find := func(by *machine, more string) (list struct {
		Items      []api.FoundMessage
		NextCursor *string
	}) {
		t.Helper()
		s.must(json.Unmarshal([]byte(by.post(api.Path+"/messages/search", `{"account":"Clinic"`+more+`}`).is(200).body), &list))
		return list
	}
	got := find(m, `,"phone":"0803 000 1000"`)
	if len(got.Items) != 2 || got.Items[0].CampaignID != other.ID || got.Items[0].Campaign != "July bills" ||
		got.Items[1].CampaignID != fates.ID || got.Items[1].Status != "DELIVRD" || got.NextCursor != nil {
		t.Errorf("%+v", got)
	}
	day := s.clock.now().Format(time.DateOnly)
	for more, want := range map[string]int{`,"phone":"1003"`: 1, `,"words":"bills"`: 1, `,"standing":"delivered"`: 1,
		fmt.Sprintf(`,"campaign":%d`, fates.ID): 9, `,"from":"` + day + `"`: 1, `,"to":"2026-06-03"`: 9, `,"phone":"08030009999"`: 0} {
		if got := find(m, more); len(got.Items) != want {
			t.Errorf("%s: %d, want %d", more, len(got.Items), want)
		}
	}
	seen, cursor := 0, ""
	for range 4 {
		got := find(m, fmt.Sprintf(`,"limit":3,"cursor":%q`, cursor))
		seen += len(got.Items)
		if got.NextCursor == nil {
			break
		}
		cursor = *got.NextCursor
	}
	if seen != 10 {
		t.Errorf("pages have %d of 10 messages", seen)
	}
	if got := find(viewer, `,"phone":"08030001000"`); len(got.Items) != 2 || strings.Contains(got.Items[0].Phone, "2348030001000") {
		t.Errorf("for a viewer: %+v", got)
	}
	for more, field := range map[string]string{`,"phone":"12"`: "phone", `,"phone":"08030001000","words":"x"`: "words",
		`,"from":"June"`: "from", `,"from":"2026-06-03","to":"2026-06-01"`: "to", `,"standing":"lost"`: "standing",
		`,"limit":5000`: "limit", `,"cursor":"7"`: "cursor", `,"number":"1"`: "number"} {
		if p := m.post(api.Path+"/messages/search", `{"account":"Clinic"`+more+`}`).problem(422); p.Errors[0].Field != field {
			t.Errorf("%s: %+v", more, p)
		}
	}
}

func TestAProgramSendsOneMessageAgainAndAsks(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.everyFate(a)
	list := s.messages(c)
	m := s.machine(s.hire("ada@example.com", sms.Sender))
	path := func(i int, order string) string { return fmt.Sprintf("%s/messages/%d%s", api.Path, list[i].ID, order) }
	again := form[api.Campaign](m.keyed(path(1, "/again"), "", "one").is(201))
	if again.State != "draft" || again.Rows != 1 || again.ID == c.ID {
		t.Errorf("%+v", again)
	}
	if twice := form[api.Campaign](m.keyed(path(1, "/again"), "", "one").is(201)); twice.ID != again.ID {
		t.Error("the key made a second draft")
	}
	if p := m.keyed(path(2, "/again"), "", "one").problem(422); p.Type != api.ProblemKey {
		t.Errorf("%+v", p)
	}
	m.post(path(1, "/again"), `{"text":"other"}`).problem(422)
	m.post(api.Path+"/messages/99999/again", "").problem(404)

	before := form[api.WholeMessage](m.get(path(1, "")).is(200))
	if len(before.Asked) != 0 {
		t.Errorf("%+v", before.Asked)
	}
	for range 2 {
		got := form[api.WholeMessage](m.post(path(1, "/ask"), "").is(200))
		if len(got.Asked) != 1 || got.Asked[0].OrderedAt == nil || got.Asked[0].AskedAt != nil {
			t.Errorf("%+v", got.Asked)
		}
	}
	if p := m.post(path(8, "/ask"), "").problem(409); !strings.Contains(p.Detail, "no ID") {
		t.Errorf("%+v", p)
	}
	viewer := s.machine(s.hire("v@example.com", sms.Viewer))
	viewer.post(path(1, "/ask"), "").problem(403)
	viewer.post(path(1, "/again"), "").problem(403)
	if got := m.order(http.MethodDelete, path(1, ""), ""); got.status != 405 || got.header.Get("Allow") != "GET, HEAD" {
		t.Errorf("%d %q", got.status, got.header.Get("Allow"))
	}
	contact := m.order(http.MethodGet, api.Path+"/contacts/1", "")
	if got := strings.Join(contact.header.Values("Allow"), ", "); contact.status != 405 || got != "PUT, DELETE" {
		t.Errorf("%d %q", contact.status, got)
	}
	if _, err := s.db.Campaign(context.Background(), again.ID); err != nil {
		t.Error(err)
	}
}
