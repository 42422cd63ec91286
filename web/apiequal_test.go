package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/web/api"
	"smsdesk/web/page"
)

// ordered is a campaign's order in JSON with more members.
func ordered(name, more string) string {
	return fmt.Sprintf(`{"account":"Clinic","senderId":"CLINIC","name":%q,"text":%q%s}`, name, name, more)
}

const (
	oneRow  = `,"rows":[{"phone":"08030000101"}]`
	twoRows = `,"rows":[{"phone":"08030000101"},{"phone":"08030000102"}]`
)

func (m *machine) keyed(path, body, key string) answer {
	m.site.t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", key)
	return m.send(r)
}

func orderPath(c api.Campaign, order string) string {
	return api.Path + "/campaigns/" + strconv.FormatInt(c.ID, 10) + "/" + order
}

// TestUnknownFieldsAreRefused: whatever sends does not pass over what it was
// asked for.
func TestUnknownFieldsAreRefused(t *testing.T) {
	s, m := factory(t)
	draft := form[api.Campaign](m.create(ordered("Draft", oneRow)).is(201))
	before := s.all()
	for name, c := range map[string]struct{ path, body, field string }{
		"create":       {api.Path + "/campaigns", ordered("x", `,"flahs":true`+oneRow), "flahs"},
		"another case": {api.Path + "/campaigns", ordered("x", `,"Flash":true`+oneRow), "Flash"},
		"a row":        {api.Path + "/campaigns", ordered("x", `,"rows":[{"phone":"08030000101","flash":true}]`), "rows[0].flash"},
		"send":         {orderPath(draft, "send"), `{"flash":true}`, "flash"},
		"continue":     {orderPath(draft, "continue"), `{"scheduleWithProvider":true}`, "scheduleWithProvider"},
		"test":         {orderPath(draft, "test"), `{"phone":"08030000101","text":"x"}`, "text"},
	} {
		p := m.post(c.path, c.body).problem(422)
		if len(p.Errors) != 1 || p.Errors[0].Field != c.field || !strings.Contains(p.Detail, "Unknown field") {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if p := m.upload("a.csv", "Phone\n08030000101\n", "account", "Clinic", "flahs", "true").problem(422); p.Errors[0].Field != "flahs" {
		t.Errorf("%+v", p)
	}
	if s.all() != before || form[api.Campaign](m.get(strings.TrimSuffix(orderPath(draft, ""), "/"))).State != "draft" {
		t.Error("something was done")
	}
}

// TestEveryOrderRefusesWhatItDoesNotKnow: no address that changes something passes
// over a field.
func TestEveryOrderRefusesWhatItDoesNotKnow(t *testing.T) {
	s, _ := factory(t)
	m := s.machine(s.boss)
	c := form[api.Campaign](m.create(ordered("Draft", oneRow)).is(201))
	for _, rt := range s.web.programTable() {
		if rt.Method == http.MethodGet {
			continue
		}
		path := strings.ReplaceAll(rt.Pattern, "{id}", strconv.FormatInt(c.ID, 10))
		p := m.order(rt.Method, path+"?account=Clinic", `{"zzz":true}`).problem(422)
		if len(p.Errors) != 1 || p.Errors[0].Field != "zzz" {
			t.Errorf("%s %s: %+v", rt.Method, rt.Pattern, p)
		}
	}
	if got := s.campaign(c.ID); got.State != sms.CampaignDraft {
		t.Errorf("%+v", got)
	}
}

// TestTextsAreSentAsGivenOrRefused: no text of a program is changed on the way.
func TestTextsAreSentAsGivenOrRefused(t *testing.T) {
	s, m := factory(t)
	texts := []string{"plain", " before", "after ", "after\n", "\ttab", "in\tside", "two\nlines", "two\r\nlines", "old\rMac",
		"a\u00a0b", "a\u00a0", "a,b;c\"d'e", `"quoted"`, "=1+1", "@home", "'x", "\ufeffmark", "a\ufeffb", "\u200bzero", "ẹ́ ọ̀ ₦",
		"e\u0301", "👍🏽", "nul\x00l", "bell\a", "#N/A", "##", "a##b", "~^|", "\u2028line", "\x1a", "a\n\nb", "\u0085nel", "x\v\fy"}
	refused := 0
	for _, text := range append(texts, "\xff", "lone") {
		quoted, err := json.Marshal(text)
		s.must(err)
		switch text {
		case "\xff":
			quoted = []byte("\"\xff\"")
		case "lone":
			quoted = []byte(`"half of a pair \ud800"`)
		}
		for _, body := range []string{fmt.Sprintf(`{"account":"Clinic","senderId":"CLINIC","name":"x","text":%s%s}`, quoted, oneRow),
			fmt.Sprintf(`{"account":"Clinic","senderId":"CLINIC","name":"x","rows":[{"phone":"08030000101","text":%s}]}`, quoted),
			fmt.Sprintf(`{"account":"Clinic","senderId":"CLINIC","name":"x","text":"to ##it##.","rows":[{"phone":"08030000101","fields":{"it":%s}}]}`, quoted)} {
			got := m.create(body)
			if got.status == 422 {
				got.problem(422)
				refused++
				continue
			}
			list, _, err := s.db.Messages(context.Background(),
				sms.MessageFilter{CampaignID: form[api.Campaign](got.is(201)).ID, Limit: 2})
			want := text
			if strings.Contains(body, "##it##") {
				want = "to " + strings.TrimSpace(text) + "."
			}
			if err != nil || len(list) != 1 || list[0].Text != want {
				t.Errorf("%q became %+v (%v)", want, list, err)
			}
		}
	}
	if refused < 20 || refused > 60 {
		t.Errorf("%d were refused", refused)
	}
	if p := m.create(ordered("x ", oneRow)).problem(422); p.Errors[0].Field != "text" {
		t.Errorf("%+v", p)
	}
}

func TestAProgramSendsFlash(t *testing.T) {
	s, m := factory(t)
	c := form[api.Campaign](m.create(ordered("Flash", `,"flash":true`+oneRow)).is(201))
	stored, err := s.db.Campaign(t.Context(), c.ID)
	if err != nil || !stored.Flash || !c.Flash {
		t.Errorf("%+v %v", c, err)
	}
	f := form[api.Campaign](m.upload("a.csv", "Phone\n08030000102\n", "account", "Clinic", "senderId", "CLINIC", "text",
		"Hi", "flash", "true").is(201))
	if !f.Flash {
		t.Errorf("%+v", f)
	}
}

func TestAProgramSendsToAGroup(t *testing.T) {
	s, m := factory(t)
	a, err := s.db.AccountNamed(t.Context(), "Clinic")
	s.must(err)
	s.must(s.db.PutGroups(t.Context(), a.ID, []sms.Group{{ID: 9, Name: "Parents", ContactCount: 412}, {ID: 10, Name: "Twice"},
		{ID: 11, Name: "Twice"}}, s.clock.now().UnixMilli()))
	c := form[api.Campaign](m.create(ordered("To parents", `,"group":"Parents"`), "Idempotency-Key", "g").is(201))
	stored, err := s.db.Campaign(t.Context(), c.ID)
	if err != nil || stored.GroupID != "9" || c.Group != "Parents" || c.State != "draft" || c.Text != "To parents" {
		t.Errorf("%+v %+v %v", c, stored, err)
	}
	if again := form[api.Campaign](m.create(ordered("To parents", `,"group":"Parents"`), "Idempotency-Key", "g").is(201)); again.ID != c.ID {
		t.Error("the key made a second campaign")
	}
	if sent := form[api.Campaign](m.post(orderPath(c, "send"), "").is(200)); sent.State != "running" {
		t.Errorf("%+v", sent)
	}
	for more, field := range map[string]string{`,"group":"Nobody"`: "group", `,"group":"Twice"`: "group",
		`,"group":"Parents"` + oneRow: "group"} {
		if p := m.create(ordered("x", more)).problem(422); p.Errors[0].Field != field {
			t.Errorf("%s: %+v", more, p)
		}
	}
	// A group counts as more recipients than any account lets go unapproved.
	s.update(a.ID, func(a *sms.Account) { a.ApproveAbove = 1 })
	if asked := form[api.Campaign](m.create(ordered("Approve", `,"group":"Parents","send":true`)).is(201)); asked.State != "awaiting_approval" {
		t.Errorf("%+v", asked)
	}
}

func TestAProgramSchedulesWithTheProvider(t *testing.T) {
	s, m := factory(t)
	at := s.clock.now().Add(3 * time.Hour).UTC().Format(time.RFC3339)
	c := form[api.Campaign](m.create(ordered("Handed", `,"send":true,"scheduleWithProvider":true,"scheduleAt":"`+at+`"`+oneRow)).is(201))
	stored, err := s.db.Campaign(t.Context(), c.ID)
	if err != nil || !stored.HandOver || !c.HandedOver || c.State != "running" {
		t.Errorf("%+v %v", c, err)
	}
	draft := form[api.Campaign](m.create(ordered("Later", `,"scheduleAt":"`+at+`"`+twoRows)).is(201))
	for range 2 {
		got := form[api.Campaign](m.keyed(orderPath(draft, "send"), `{"scheduleWithProvider":true}`, "k").is(200))
		if got.State != "running" || !got.HandedOver {
			t.Errorf("%+v", got)
		}
	}
	now := form[api.Campaign](m.create(ordered("Now", oneRow)).is(201))
	soon := s.clock.now().Add(2 * time.Minute).UTC().Format(time.RFC3339)
	for _, p := range []api.Problem{m.post(orderPath(now, "send"), `{"scheduleWithProvider":true}`).problem(422),
		m.create(ordered("x", `,"scheduleWithProvider":true,"scheduleAt":"`+at+`"`+oneRow)).problem(422),
		m.create(ordered("x", `,"scheduleWithProvider":true,"send":true`+oneRow)).problem(422)} {
		if p.Errors[0].Field != "scheduleWithProvider" {
			t.Errorf("%+v", p)
		}
	}
	if p := m.create(ordered("x", `,"send":true,"scheduleWithProvider":true,"scheduleAt":"`+soon+`"`+oneRow)).problem(422); p.Errors[0].Field != "scheduleAt" {
		t.Errorf("%+v", p)
	}
}

func TestAProgramSendsATest(t *testing.T) {
	s, m := factory(t)
	draft := form[api.Campaign](m.create(ordered("Bills", `,"rows":[{"phone":"08030000101","text":"One"},{"phone":"08030000102","text":"Two"}]`)).is(201))
	path := orderPath(draft, "test")
	first := form[api.Campaign](m.keyed(path, `{"phone":"0803 000 0001"}`, "t").is(201))
	again := form[api.Campaign](m.keyed(path, `{"phone":"0803 000 0001"}`, "t").is(201))
	if first.ID != again.ID || first.ID == draft.ID || first.State != "running" || first.Text != "One" {
		t.Errorf("%+v %+v", first, again)
	}
	if p := m.keyed(path, `{"phone":"0803 000 0002"}`, "t").problem(422); p.Type != api.ProblemKey {
		t.Errorf("%+v", p)
	}
	list, _, err := s.db.Messages(t.Context(), sms.MessageFilter{CampaignID: draft.ID, Limit: 9})
	s.must(err)
	if two := form[api.Campaign](m.post(path, fmt.Sprintf(`{"phone":"08030000001","message":%d}`, list[1].ID)).is(201)); two.Text != "Two" {
		t.Errorf("%+v", two)
	}
	for body, field := range map[string]string{`{}`: "phone", `{"phone":"x"}`: "phone", `{"phone":"08030000101,08030000102"}`: "phone"} {
		if p := m.post(path, body).problem(422); p.Errors[0].Field != field {
			t.Errorf("%s: %+v", body, p)
		}
	}
	m.post(path, `{"phone":"08030000001","message":9999}`).problem(404)
	s.machine(s.hire("v@example.com", sms.Viewer)).post(path, `{"phone":"08030000001"}`).problem(403)
}

func TestAProgramHearsOfDuplicates(t *testing.T) {
	_, m := factory(t)
	const rows = `,"rows":[{"phone":"08030000101"},{"phone":"0803 000 0101"},{"phone":"x"},{"phone":"08030000102"}]`
	got := m.create(ordered("Twice", `,"skipBad":true`+rows)).is(201)
	var said struct {
		LeftOut map[string]int64 `json:"leftOut"`
	}
	if err := json.Unmarshal([]byte(got.body), &said); err != nil || said.LeftOut["duplicates"] != 1 || said.LeftOut["bad"] != 1 {
		t.Errorf("%v %s", err, got.body)
	}
	p := m.create(ordered("Refused", `,"skipBad":true,"duplicates":"refuse"`+rows)).problem(422)
	if p.Type != api.ProblemBadRows || p.BadRows != 1 || len(p.Rows) != 1 || p.Rows[0].Row != 2 {
		t.Errorf("%+v", p)
	}
	if p := m.create(ordered("x", `,"duplicates":"maybe"`+oneRow)).problem(422); p.Errors[0].Field != "duplicates" {
		t.Errorf("%+v", p)
	}
}

// TestAKeySendsOnce: the same order under the same key does nothing more, also
// when it would be possible again.
func TestAKeySendsOnce(t *testing.T) {
	_, m := factory(t)
	c := form[api.Campaign](m.create(ordered("Once", oneRow)).is(201))
	m.keyed(orderPath(c, "send"), "", "s").is(200)
	m.post(orderPath(c, "stop"), "").is(200)
	m.keyed(orderPath(c, "continue"), "", "c").is(200)
	m.post(orderPath(c, "stop"), "").is(200)
	if got := form[api.Campaign](m.keyed(orderPath(c, "continue"), "", "c").is(200)); got.State != "stopped" {
		t.Errorf("a repetition continued it: %+v", got)
	}
	if p := m.keyed(orderPath(c, "continue"), "", "s").problem(422); p.Type != api.ProblemKey {
		t.Errorf("%+v", p)
	}
	if p := m.keyed(orderPath(c, "send"), "", "with space").problem(400); p.Errors[0].Field != "Idempotency-Key" {
		t.Errorf("%+v", p)
	}
}

// TestProgramsReadAndChangeWhatPagesDo: roles and pages as on the pages.
func TestProgramsReadAndChangeWhatPagesDo(t *testing.T) {
	s, m := factory(t)
	a, err := s.db.AccountNamed(t.Context(), "Clinic")
	s.must(err)
	now := s.clock.now().UnixMilli()
	s.must(s.db.PutBalances(t.Context(), a.ID, []sms.Balance{{PluginType: "SMS", Credits: "₦57,524.50", ReadAt: now}}, now))
	s.must(s.db.PutTemplates(t.Context(), a.ID, []sms.Template{{ID: 7, Name: "Fees", Text: "Dear ##Name##", IsApproved: true,
		IsActive: true}, {ID: 8, Name: "Old"}}, now))
	s.must(s.db.PutGroups(t.Context(), a.ID, []sms.Group{{ID: 9, Name: "Parents", ContactCount: 412}, {ID: 10, Name: "Staff"}}, now))
	at := func(path string) string { return api.Path + path }
	viewer, manager := s.machine(s.hire("v2@example.com", sms.Viewer)), s.machine(s.hire("m2@example.com", sms.Manager))
	for path, want := range map[string]string{"/balance?account=Clinic": `"credits":"₦57,524.50"`,
		"/templates?account=Clinic":  `"id":7,"name":"Fees","text":"Dear ##Name##","usable":true`,
		"/sender-ids?account=Clinic": `"senderId":"CLINIC"`, "/groups?account=Clinic": `"contacts":412`} {
		if got := viewer.get(at(path)).is(200); !strings.Contains(got.body, want) {
			t.Errorf("%s: %s", path, got.body)
		}
	}
	first := viewer.get(at("/groups?account=Clinic&limit=1")).is(200)
	if !strings.Contains(first.body, `"nextCursor":"9"`) ||
		!strings.Contains(viewer.get(at("/groups?account=Clinic&limit=1&cursor=9")).body, `"id":10,"name":"Staff","contacts":0}],"nextCursor":null`) {
		t.Errorf("pages of groups: %s", first.body)
	}
	for _, path := range []string{"/balance", "/contacts", "/groups?account=Nobody"} {
		if p := viewer.get(at(path)).problem(422); p.Errors[0].Field != "account" {
			t.Errorf("%s: %+v", path, p)
		}
	}
	const ada = `{"account":"Clinic","phone":"0803 000 0101","name":"Ada","tags":["Lagos"]}`
	viewer.post(at("/contacts"), ada).problem(403)
	if c := form[api.Contact](m.post(at("/contacts"), ada).is(201)); c.Phone != "2348030000101" || len(c.Tags) != 1 {
		t.Errorf("%+v", c)
	}
	m.post(at("/contacts"), ada).problem(422)
	if got := viewer.get(at("/contacts?account=Clinic")).is(200); strings.Contains(got.body, "2348030000101") || !strings.Contains(got.body, "Ada") {
		t.Errorf("for a viewer: %s", got.body)
	}
	viewer.get(at("/blocked?account=Clinic")).problem(403)
	if got := m.post(at("/blocked"), `{"account":"Clinic","phones":["08030000101","08030000102"],"note":"asked"}`).
		is(200); strings.TrimSpace(got.body) != `{"added":2,"all":2}` {
		t.Errorf("%s", got.body)
	}
	if p := m.post(at("/blocked"), `{"account":"Clinic","phones":["x"]}`).problem(422); p.Errors[0].Field != "phones" {
		t.Errorf("%+v", p)
	}
	m.post(at("/blocked"), `{"account":"Clinic","numbers":["08030000101"]}`).problem(422)
	var list struct{ Items []api.Blocked }
	s.must(json.Unmarshal([]byte(m.get(at("/blocked?account=Clinic")).is(200).body), &list))
	if len(list.Items) != 2 || list.Items[0].Note != "asked" {
		t.Fatalf("%+v", list)
	}
	off := at(fmt.Sprintf("/blocked/%d/unblock", list.Items[0].ID))
	m.post(off, `{"note":"asked again"}`).problem(403)
	manager.post(off, `{}`).problem(422)
	manager.post(off, `{"note":"asked again"}`).is(200)
	m.post(at("/groups"), `{"account":"Clinic","name":"New"}`).problem(403)
}

// order sends a request of any method with a JSON body.
func (m *machine) order(method, path, body string) answer {
	m.site.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return m.send(r)
}

func TestProgramsChangeAndDeleteContacts(t *testing.T) {
	_, m := factory(t)
	at := func(path string) string { return api.Path + path }
	ada := form[api.Contact](m.post(at("/contacts"), `{"account":"Clinic","phone":"08030000101","name":"Ada"}`).is(201))
	path := at(fmt.Sprintf("/contacts/%d", ada.ID))
	if p := m.post(at("/contacts"), `{"account":"Clinic","phone":"x"}`).problem(422); p.Errors[0].Field != "phone" {
		t.Errorf("%+v", p)
	}
	change := fmt.Sprintf(`{"account":"Clinic","version":%d,"phone":"08030000102","name":"Ada Obi","tags":["VIP"]}`, ada.Version)
	got := form[api.Contact](m.order("PUT", path, change).is(200))
	if got.Phone != "2348030000102" || got.Name != "Ada Obi" || len(got.Tags) != 1 || got.ID != ada.ID {
		t.Errorf("%+v", got)
	}
	m.order("PUT", path, change).problem(409)
	for _, bad := range []string{`{"account":"Clinic","version":2,"phone":"08030000102","colour":"red"}`,
		`{"account":"Clinic","version":2,"phone":"08030000102","fields":{"colour":"red"}}`} {
		if p := m.order("PUT", path, bad).problem(422); !strings.HasSuffix(p.Errors[0].Field, "colour") {
			t.Errorf("%s: %+v", bad, p)
		}
	}
	m.order("DELETE", path, "").problem(422)
	m.order("DELETE", path+"?account=Clinic", `{"really":true}`).problem(422)
	m.order("DELETE", path+"?account=Clinic", "").is(200)
	m.order("DELETE", path+"?account=Clinic", "").problem(404)
}

func TestProgramsKeepAudiences(t *testing.T) {
	_, m := factory(t)
	at := func(path string) string { return api.Path + path }
	ada := form[api.Contact](m.post(at("/contacts"), `{"account":"Clinic","phone":"08030000101","name":"Ada","tags":["VIP"]}`).is(201))
	picked := form[api.Audience](m.post(at("/audiences"), fmt.Sprintf(`{"account":"Clinic","name":"Board","contacts":[%d]}`, ada.ID)).is(201))
	if picked.Kind != "picked" || picked.Name != "Board" {
		t.Errorf("%+v", picked)
	}
	filter := form[api.Audience](m.post(at("/audiences"), `{"account":"Clinic","name":"VIPs","any":true,
"conditions":[{"key":"tag","op":"is","value":"VIP"}]}`).is(201))
	if filter.Kind != "filter" || !filter.Any || len(filter.Conditions) != 1 || filter.Conditions[0].Value != "VIP" {
		t.Errorf("%+v", filter)
	}
	for body, field := range map[string]string{`{"account":"Clinic","name":"VIPs"}`: "name",
		`{"account":"Clinic","name":"X","colour":"red"}`:                                       "colour",
		`{"account":"Clinic","name":"X","conditions":[{"key":"tag","op":"like","value":"V"}]}`: "conditions[0]",
		`{"account":"Clinic","name":"X","conditions":[{"key":"tag","op":"is","v":"V"}]}`:       "v"} {
		if p := m.post(at("/audiences"), body).problem(422); p.Errors[0].Field != field {
			t.Errorf("%s: %+v", body, p)
		}
	}
	path := at(fmt.Sprintf("/audiences/%d", picked.ID))
	one := fmt.Sprintf(`{"account":"Clinic","contacts":[%d]}`, ada.ID)
	for i, want := range []string{`{"changed":1}`, `{"changed":0}`, `{"changed":1}`} {
		do := []string{"/remove", "/remove", "/add"}[i]
		if got := m.post(path+do, one).is(200); strings.TrimSpace(got.body) != want {
			t.Errorf("%s: %s", do, got.body)
		}
	}
	m.post(at(fmt.Sprintf("/audiences/%d/add", filter.ID)), one).problem(422)
	change := fmt.Sprintf(`{"account":"Clinic","version":%d,"name":"Directors"}`, picked.Version)
	if got := form[api.Audience](m.order("PUT", path, change).is(200)); got.Name != "Directors" || got.Kind != "picked" {
		t.Errorf("%+v", got)
	}
	m.order("PUT", path, change).problem(409)
	if got := m.get(at("/audiences?account=Clinic")).is(200); !strings.Contains(got.body, "Directors") ||
		!strings.Contains(got.body, "VIPs") {
		t.Errorf("%s", got.body)
	}
	m.order("DELETE", path+"?account=Clinic", "").is(200)
	m.order("DELETE", path+"?account=Clinic", "").problem(404)
}

// TestProgramsChangeWhatTheProviderKeeps: the provider of this site answers nothing,
// so that what is refused before it is asked shows, and what would be asked fails.
func TestProgramsChangeWhatTheProviderKeeps(t *testing.T) {
	s, _ := factory(t)
	a, err := s.db.AccountNamed(t.Context(), "Clinic")
	s.must(err)
	now := s.clock.now().UnixMilli()
	s.must(s.db.PutTemplates(t.Context(), a.ID, []sms.Template{{ID: 7, Name: "Fees", Text: "Dear"}}, now))
	s.must(s.db.PutGroups(t.Context(), a.ID, []sms.Group{{ID: 9, Name: "Parents"}}, now))
	manager := s.machine(s.hire("m3@example.com", sms.Manager))
	for _, c := range []struct {
		method, path, body string
		status             int
		field              string
	}{
		{"PUT", "/templates/7", `{"account":"Clinic","name":"","text":"x"}`, 422, "name"},
		{"PUT", "/templates/7", `{"account":"Clinic","name":"x","text":""}`, 422, "text"},
		{"PUT", "/templates/7", `{"account":"Clinic","name":"x","text":"y","id":7}`, 422, "id"},
		{"PUT", "/templates/8", `{"account":"Clinic","name":"x","text":"y"}`, 404, ""},
		{"DELETE", "/templates/8?account=Clinic", "", 404, ""},
		{"POST", "/sender-ids", `{"account":"Clinic","senderId":"","purpose":"x"}`, 422, "senderId"},
		{"POST", "/sender-ids", `{"account":"Clinic","senderId":"NEW","purpose":""}`, 422, "purpose"},
		{"PUT", "/sender-ids/1", `{"account":"Clinic","purpose":""}`, 422, "purpose"},
		{"PUT", "/sender-ids/99", `{"account":"Clinic","purpose":"x"}`, 404, ""},
		{"DELETE", "/sender-ids/99?account=Clinic", "", 404, ""},
		{"PUT", "/groups/9", `{"account":"Clinic","name":""}`, 422, "name"},
		{"PUT", "/groups/10", `{"account":"Clinic","name":"x"}`, 404, ""},
		{"DELETE", "/groups/10?account=Clinic&name=Parents", "", 404, ""},
	} {
		p := manager.order(c.method, api.Path+c.path, c.body).problem(c.status)
		if c.field != "" && (len(p.Errors) == 0 || p.Errors[0].Field != c.field) {
			t.Errorf("%s %s %s: %+v", c.method, c.path, c.body, p)
		}
	}
}

func TestProgramsChangeATime(t *testing.T) {
	s, m := factory(t)
	at := func(hours int) string {
		return s.clock.now().Add(time.Duration(hours) * time.Hour).UTC().Format(time.RFC3339)
	}
	c := form[api.Campaign](m.create(fmt.Sprintf(`{"account":"Clinic","senderId":"CLINIC","name":"Later","text":"Hello","send":true,
"scheduleAt":%q,"rows":[{"phone":"08030000001"}]}`, at(5))).is(201))
	path := fmt.Sprintf("%s/campaigns/%d", api.Path, c.ID)
	if c.State != string(sms.CampaignScheduled) {
		t.Fatalf("%+v", c)
	}
	if p := m.post(path+"/reschedule", `{"scheduleAt":"tomorrow"}`).problem(422); p.Errors[0].Field != "scheduleAt" {
		t.Errorf("%+v", p)
	}
	m.post(path+"/reschedule", `{"at":"x"}`).problem(422)
	got := form[api.Campaign](m.post(path+"/reschedule", fmt.Sprintf(`{"scheduleAt":%q}`, at(7))).is(200))
	if got.State != string(sms.CampaignScheduled) || got.ScheduleAt == nil || *got.ScheduleAt == *c.ScheduleAt {
		t.Errorf("%+v", got)
	}
	got = form[api.Campaign](m.post(path+"/unschedule", "").is(200))
	if got.State != string(sms.CampaignDraft) {
		t.Errorf("%+v", got)
	}
	m.post(path+"/unschedule", "").problem(409)
	m.post(path+"/reschedule", fmt.Sprintf(`{"scheduleAt":%q}`, at(7))).problem(409)
}

func TestAProgramSendsAgain(t *testing.T) {
	_, m := factory(t)
	c := form[api.Campaign](m.create(`{"account":"Clinic","senderId":"CLINIC","name":"Once","text":"Hello","send":true,
"rows":[{"phone":"08030000001"},{"phone":"08030000002"}]}`).is(201))
	path := fmt.Sprintf("%s/campaigns/%d", api.Path, c.ID)
	m.post(path+"/again", `{"which":["stopped"],"all":true}`).problem(422)
	m.post(path+"/stop", "").is(200)
	m.post(path+"/cancel", "").is(200)
	if p := m.post(path+"/again", `{"which":["delivered"]}`).problem(422); p.Errors[0].Field != "which" {
		t.Errorf("%+v", p)
	}
	again := form[api.Campaign](m.keyed(path+"/again", `{"which":["stopped"]}`, "again-1").is(201))
	if again.ID == c.ID || again.State != string(sms.CampaignDraft) || again.Rows != 2 {
		t.Errorf("%+v", again)
	}
	if twice := form[api.Campaign](m.keyed(path+"/again", `{"which":["stopped"]}`, "again-1").is(201)); twice.ID != again.ID {
		t.Errorf("the same key made campaign %d and %d", again.ID, twice.ID)
	}
}

// TestTheTableOfThePagesAndTheAPIIsWhole: web/api/README.md names every order that
// a page takes, with what does the same for programs, or why nothing does.
func TestTheTableOfThePagesAndTheAPIIsWhole(t *testing.T) {
	s := newSite(t)
	text, err := os.ReadFile("api/README.md")
	s.must(err)
	programs, named := map[string]sms.Role{}, map[string]bool{}
	for _, rt := range s.web.programTable() {
		programs[rt.Method+" "+strings.TrimPrefix(rt.Pattern, api.Path)] = rt.Least
	}
	rows := map[string]string{}
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) == 4 && strings.HasPrefix(cells[1], " `/") {
			page := strings.Trim(cells[1], " `")
			if _, twice := rows[page]; twice {
				t.Errorf("%s stands twice", page)
			}
			rows[page] = strings.TrimSpace(cells[2])
		}
	}
	for _, rt := range s.web.table(callbacks) {
		if rt.Method != "POST" || rt.Program != nil || rt.Least == page.Outside || rt.Least == page.Anyone {
			continue
		}
		does, stands := rows[rt.Pattern]
		delete(rows, rt.Pattern)
		if !stands || does == "" || strings.Contains(strings.ToLower(does), "not yet") {
			t.Errorf("`%s` is not in the table", rt.Pattern)
		}
		for _, code := range strings.Split(does, "`") {
			least, is := programs[code]
			named[code] = true
			if !is && strings.Contains(code, " /") {
				t.Errorf("%s: there is no %q", rt.Pattern, code)
			}
			if is && !strings.HasPrefix(code, "GET ") && least != rt.Least {
				t.Errorf("%s needs %s, and %s needs %s", rt.Pattern, rt.Least, code, least)
			}
		}
	}
	for page := range rows {
		t.Errorf("%s is no order of a page", page)
	}
	for route := range programs {
		if !strings.HasPrefix(route, "GET ") && !named[route] {
			t.Errorf("%s is like no order of a page", route)
		}
	}
}
