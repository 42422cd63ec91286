package web

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/web/api"
)

// doubts is what an address says that a campaign has to be decided.
func (m *machine) doubts(c sms.Campaign) (path string, d api.Doubts) {
	m.site.t.Helper()
	path = fmt.Sprintf("%s/campaigns/%d/doubt", api.Path, c.ID)
	return path, form[api.Doubts](m.get(path).is(200))
}

func TestAProgramDecidesAboutDoubts(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	s.must(s.db.PutBalances(t.Context(), a.ID, []sms.Balance{{PluginType: "SMS", Credits: "₦57,524.50"}},
		s.clock.now().UnixMilli()-1000))
	c, list := s.doubtful(a, 4, "Hello")
	m := s.machine(s.hire("m@example.com", sms.Manager))
	path, d := m.doubts(c)
	if len(d.Items) != 1 || len(d.Items[0].Messages) != 4 || d.Items[0].BalanceBefore != "₦57,524.50" || d.NextCursor != nil ||
		d.Items[0].Messages[0].State != "inDoubt" || d.Items[0].Reason == "" || len(d.Proposals) != 0 {
		t.Fatalf("%+v", d)
	}
	viewer := s.machine(s.hire("v@example.com", sms.Viewer))
	if _, seen := viewer.doubts(c); strings.Contains(seen.Items[0].Messages[0].Phone, "2348030001000") {
		t.Error("a viewer sees a number")
	}
	choices := func(list string) string { return fmt.Sprintf(`{"readAt":%q,"choices":[%s]}`, *d.ReadAt, list) }
	one := func(i int, choice string) string {
		return fmt.Sprintf(`{"message":%d,"choice":%q}`, list[i].ID, choice)
	}
	request := d.Items[0].Request
	for body, field := range map[string]string{`{}`: "readAt", choices(``): "choices",
		choices(`{"request":1,"choice":"sent"}`): "choices[0].seen", choices(one(0, "maybe")): "choices[0].choice",
		choices(one(0, "sent") + `,{"message":9999,"choice":"sent"}`): "choices[1].message",
		choices(`{"call":1,"choice":"sent"}`):                         "call", choices(one(0, "later")): "choices"} {
		if p := m.post(path, body).problem(422); p.Errors[0].Field != field {
			t.Errorf("%s: %+v", body, p)
		}
	}
	s.clock.pass(time.Minute)
	body := choices(one(0, "sent") + "," + one(1, "again"))
	got := form[api.Decided](m.keyed(path, body, "d").is(200))
	if got.State != "done" || got.Decision == nil || got.Draft == nil || got.Settled != 0 || got.Campaign.Counts.InDoubt != 3 ||
		s.state(list[0].ID) != sms.Accepted {
		t.Errorf("%+v", got)
	}
	if draft := s.campaign(*got.Draft); draft.State != sms.CampaignDraft || draft.Recipients != 1 {
		t.Errorf("%+v", draft)
	}
	again := form[api.Decided](m.keyed(path, body, "d").is(200))
	if again.State != "repeated" || again.Draft != nil || again.Campaign.Counts.InDoubt != 3 {
		t.Errorf("%+v", again)
	}
	if _, now := m.doubts(c); len(now.Items) != 1 || len(now.Items[0].Messages) != 3 || now.Items[0].Messages[0].Draft == nil ||
		*now.Items[0].Messages[0].Draft != *got.Draft {
		t.Errorf("%+v", now)
	}
	stale := m.post(path, choices(fmt.Sprintf(`{"request":%d,"seen":4,"choice":"close"}`, request))).problem(409)
	if stale.Type != api.ProblemState || len(stale.Rows) != 1 || stale.Rows[0].Row != list[0].Row || s.state(list[2].ID) != sms.InDoubt {
		t.Errorf("%+v", stale)
	}
	m.post(path, choices(one(2, "queue"))).problem(409)
	sender := s.machine(s.hire("s@example.com", sms.Sender))
	sender.post(path, body).problem(403)
	sender.post(path+"/drop", `{"decision":1}`).problem(403)
	m.get(api.Path + "/campaigns/99/doubt").problem(404)
}

// TestReportsOvertakeAProgramsDecision: what they settled is counted, and the rest is
// decided.
func TestReportsOvertakeAProgramsDecision(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c, list := s.doubtful(a, 2, "Hello")
	m := s.machine(s.hire("m@example.com", sms.Manager))
	path, d := m.doubts(c)
	s.clock.pass(time.Minute)
	s.reports(a, sms.DeliveryReport{ID: 9, ProviderID: "late", Mobile: list[0].Number, Status: "DELIVRD", ShortMessage: list[0].Text})
	s.clock.pass(5 * time.Minute)
	s.must(s.db.Reconcile(t.Context(), a.ID, a.Country, s.clock.now().UnixMilli(), func(sms.ApplyResult) {}))
	decide := func(i int) api.Decided {
		t.Helper()
		return form[api.Decided](m.post(path, fmt.Sprintf(`{"readAt":%q,"choices":[{"message":%d,"choice":"close"}]}`,
			*d.ReadAt, list[i].ID)).is(200))
	}
	if got := decide(0); got.State != "settled" || got.Settled != 1 || got.Decision != nil || s.state(list[0].ID) != sms.Accepted {
		t.Errorf("%+v", got)
	}
	if got := decide(1); got.State != "done" || got.Settled != 0 || s.state(list[1].ID) != sms.ClosedUnknown {
		t.Errorf("%+v", got)
	}
}

// TestAProgramsDecisionsNeedASecondPerson as those of people.
func TestAProgramsDecisionsNeedASecondPerson(t *testing.T) {
	s := newSite(t)
	a := s.clinic(func(a *sms.Account) { a.CallLimit = 200 })
	c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(130), Text: "Hello"})
	s.send(a, 1, accept)
	s.send(a, 1, lost)
	m := s.machine(s.hire("m@example.com", sms.Manager))
	path, d := m.doubts(c)
	n := len(d.Items[0].Messages)
	got := form[api.Decided](m.post(path, fmt.Sprintf(`{"readAt":%q,"choices":[{"request":%d,"seen":%d,"choice":"sent"}]}`,
		*d.ReadAt, d.Items[0].Request, n)).is(200))
	if got.State != "proposed" || got.Decision == nil || got.Campaign.Counts.InDoubt != int64(n) {
		t.Fatalf("%+v", got)
	}
	if _, d = m.doubts(c); len(d.Proposals) != 1 || d.Proposals[0].Messages != n || d.Proposals[0].ID != *got.Decision {
		t.Errorf("%+v", d.Proposals)
	}
	if p := m.post(path+"/drop", `{"decision":999}`).problem(422); p.Errors[0].Field != "decision" {
		t.Errorf("%+v", p)
	}
	drop := fmt.Sprintf(`{"decision":%d}`, *got.Decision)
	m.post(path+"/drop", drop).is(200)
	m.post(path+"/drop", drop).problem(409)
	if _, d = m.doubts(c); len(d.Proposals) != 0 {
		t.Errorf("%+v", d.Proposals)
	}
}

func TestAProgramLinksAReport(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c, list := s.doubtful(a, 1, "Your appointment is on Monday at nine.")
	s.reports(a, sms.DeliveryReport{ProviderID: "x", Mobile: "2348030001000", Status: "DELIVRD",
		ShortMessage: "Your appointment is ", Raw: "r"},
		sms.DeliveryReport{ProviderID: "y", Mobile: "2348039999999", Status: "DELIVRD", Raw: "r"})
	m := s.machine(s.hire("m@example.com", sms.Manager))
	var reports struct {
		Items      []api.Report
		NextCursor *string
	}
	read := func(by *machine, query string) {
		t.Helper()
		reports.Items, reports.NextCursor = nil, nil
		s.must(json.Unmarshal([]byte(by.get(api.Path+"/reports?account=Clinic"+query).is(200).body), &reports))
	}
	read(m, "&kind=unmatched")
	if len(reports.Items) != 2 || len(reports.Items[0].MayBe) != 0 || len(reports.Items[1].MayBe) != 1 {
		t.Fatalf("%+v", reports.Items)
	}
	x := reports.Items[1]
	if x.MayBe[0] != (api.ReportOwner{Message: list[0].ID, CampaignID: c.ID, MayLink: true}) || x.Phone != "2348030001000" ||
		x.MessageID != "x" || x.Status != "DELIVRD" || x.Message != nil {
		t.Errorf("%+v", x)
	}
	if _, d := m.doubts(c); len(d.Items[0].Messages[0].Reports) != 1 || d.Items[0].Messages[0].Reports[0] != x.ID {
		t.Errorf("%+v", d)
	}
	read(s.machine(s.hire("v@example.com", sms.Viewer)), "")
	if strings.Contains(reports.Items[1].Phone, "2348030001000") {
		t.Error("a viewer sees a number")
	}
	read(m, "&limit=1")
	if len(reports.Items) != 1 || reports.NextCursor == nil {
		t.Fatalf("%+v", reports)
	}
	read(m, "&limit=1&cursor="+*reports.NextCursor)
	if len(reports.Items) != 1 || reports.Items[0].ID != x.ID || reports.NextCursor != nil {
		t.Errorf("%+v", reports)
	}
	m.get(api.Path + "/reports?account=Clinic&kind=lost").problem(400)

	path := fmt.Sprintf("%s/reports/%d/link", api.Path, x.ID)
	if p := m.post(path, `{"message":999}`).problem(422); p.Errors[0].Field != "message" {
		t.Errorf("%+v", p)
	}
	link := fmt.Sprintf(`{"message":%d}`, list[0].ID)
	s.machine(s.hire("s@example.com", sms.Sender)).post(path, link).problem(403)
	m.post(api.Path+"/reports/999/link", link).problem(404)
	if got := form[api.WholeMessage](m.post(path, link).is(200)); got.State != "accepted" || got.Status != "DELIVRD" {
		t.Errorf("%+v", got)
	}
	m.post(path, link).problem(409)
}

func TestAProgramAsksAboutAGap(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(3), Text: "Hello"})
	s.send(a, 1, accept)
	s.reports(a, report("1000", "DELIVRD", ""))
	s.must(second(s.db.Heartbeat(t.Context(), 0, s.clock.now().UnixMilli())))
	s.clock.pass(7 * time.Minute)
	s.must(second(s.db.Heartbeat(t.Context(), 0, s.clock.now().UnixMilli())))
	m, at := s.machine(s.hire("s@example.com", sms.Sender)), api.Path+"/reports/gaps"
	var gaps struct{ Items []api.Gap }
	read := func() api.Gap {
		t.Helper()
		gaps.Items = nil
		s.must(json.Unmarshal([]byte(m.get(at+"?account=Clinic").is(200).body), &gaps))
		if len(gaps.Items) != 1 {
			t.Fatalf("%+v", gaps)
		}
		return gaps.Items[0]
	}
	gap := read()
	if gap.Silent != 2 || gap.Check != nil {
		t.Errorf("%+v", gap)
	}
	about := fmt.Sprintf(`{"account":"Clinic","from":%q}`, *gap.From)
	viewer := s.machine(s.hire("v@example.com", sms.Viewer))
	viewer.get(at + "?account=Clinic").is(200)
	viewer.post(at+"/ask", about).problem(403)
	for _, body := range []string{`{"account":"Clinic","from":"x"}`, `{"account":"Clinic","from":"2026-06-01T00:00:00Z"}`} {
		if p := m.post(at+"/ask", body).problem(422); p.Errors[0].Field != "from" {
			t.Errorf("%+v", p)
		}
	}
	if got := form[api.Gap](m.post(at+"/ask", about).is(200)); got.Check == nil || got.Check.State != "running" || got.Check.Total != 2 {
		t.Errorf("%+v", got.Check)
	}
	m.post(at+"/ask", about).problem(409)
	if got := form[api.Gap](m.post(at+"/stop", about).is(200)); got.Check == nil || got.Check.State != "stopped" {
		t.Errorf("%+v", got.Check)
	}
	if got := read(); got.Check == nil || got.Check.State != "stopped" {
		t.Errorf("%+v", got)
	}
}
