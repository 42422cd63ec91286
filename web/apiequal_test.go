package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/web/api"
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
