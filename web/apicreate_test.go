package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/lists"
	"smsdesk/internal/sms"
	"smsdesk/web/api"
)

// importing runs the Importer beside the pages.
func (s *site) importing() {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	im := lists.NewImporter(s.desk.Lists, s.db)
	go func() { done <- im.Run(ctx) }()
	s.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Errorf("importer: %v", err)
		}
	})
}

// factory is a site that makes campaigns, and a program that may.
func factory(t *testing.T, change ...func(*Config)) (*site, *machine) {
	t.Helper()
	spool := t.TempDir()
	s := newSite(t, append(change, func(c *Config) { c.Spool = spool })...)
	s.clinic()
	s.importing()
	t.Cleanup(func() {
		if left, err := os.ReadDir(spool); err != nil || len(left) > 0 {
			t.Errorf("left over of requests: %v %v", left, err)
		}
	})
	return s, s.machine(s.hire("ada@example.com", sms.Sender))
}

func (m *machine) create(body string, header ...string) answer {
	m.site.t.Helper()
	r := httptest.NewRequest(http.MethodPost, api.Path+"/campaigns", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return m.send(r)
}

// upload sends a file with fields; a pair named "file" puts the file there.
func (m *machine) upload(name, file string, pairs ...string) answer {
	m.site.t.Helper()
	return m.uploadTo(api.Path+"/campaigns", name, file, pairs...)
}

func (m *machine) uploadTo(path, name, file string, pairs ...string) answer {
	m.site.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i := 0; i+1 < len(pairs); i += 2 {
		m.site.must(form.WriteField(pairs[i], pairs[i+1]))
	}
	part, err := form.CreateFormFile("file", name)
	m.site.must(err)
	_, err = io.WriteString(part, file)
	m.site.must(err)
	m.site.must(form.Close())
	r := httptest.NewRequest(http.MethodPost, path, &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	return m.send(r)
}

// texts are a campaign's messages: number and text, or the state and reason of
// those that are not to be sent.
func (s *site) texts(campaign int64) (list []string) {
	s.t.Helper()
	messages, _, err := s.db.Messages(context.Background(), sms.MessageFilter{CampaignID: campaign, Limit: 100_000})
	s.must(err)
	for _, m := range messages {
		if m.State == sms.Skipped {
			list = append(list, fmt.Sprintf("%d skipped %s", m.Row, m.Reason))
			continue
		}
		list = append(list, fmt.Sprintf("%d %s %s", m.Row, m.Number, m.Text))
	}
	return list
}

func (s *site) all() int {
	s.t.Helper()
	list, _, err := s.db.Campaigns(context.Background(), sms.CampaignFilter{Limit: 1000})
	s.must(err)
	return len(list)
}

func TestCreateFromJSON(t *testing.T) {
	s, m := factory(t)
	for name, c := range map[string]struct {
		body string
		want []string
		name string
		text string
	}{
		"a common text": {`{"account":"Clinic","senderId":"CLINIC","name":"June","text":"Come at nine","rows":[{"phone":"0803 000 0101"},{"phone":"+234 803 000 0102"}]}`,
			[]string{"1 2348030000101 Come at nine", "2 2348030000102 Come at nine"}, "June", "Come at nine"},
		"own texts, the rows before the rest, and no name": {`{"rows":[{"phone":"08030000101","text":"One"},{"text":"Two, \"quoted\"\nand broken","phone":"08030000102"}],"senderId":"CLINIC","account":"Clinic"}`,
			[]string{"1 2348030000101 One", "2 2348030000102 Two, \"quoted\"\nand broken"}, "API, 3 June 2026 10:48", ""},
		"fields and marks": {`{"account":"Clinic","senderId":"CLINIC","name":"Bills","text":"Dear ##First Name##, ##amount## naira, paid: ##paid##","rows":[
			{"phone":"08030000101","fields":{"first_name":"Ada","Amount":1500.50,"paid":true}},{"phone":"08030000102","fields":{"FIRST-NAME":"Obi","amount":"20","paid":false,"other":null}}]}`,
			[]string{"1 2348030000101 Dear Ada, 1500.50 naira, paid: true", "2 2348030000102 Dear Obi, 20 naira, paid: false"},
			"Bills", ""},
		"a row's own text instead of the common one": {`{"account":"Clinic","senderId":"CLINIC","name":"Mixed","text":"Dear ##name##","rows":[
			{"phone":"08030000101","fields":{"name":"Ada"}},{"phone":"08030000102","text":"For you: ##name##"},{"phone":"08030000103","text":"","fields":{"name":"Eve"}}]}`,
			[]string{"1 2348030000101 Dear Ada", "2 2348030000102 For you: ##name##", "3 2348030000103 Dear Eve"}, "Mixed", ""},
		"the number in a field": {`{"account":"Clinic","senderId":"CLINIC","name":"Cell","text":"Hello","phoneColumn":"Cell phone","rows":[{"fields":{"cell_phone":"08030000101"}},{"phone":"x","fields":{"cell_phone":"08030000102"}}]}`,
			[]string{"1 2348030000101 Hello", "2 2348030000102 Hello"}, "Cell", "Hello"},
		"null": {`{"account":"Clinic","senderId":"CLINIC","name":null,"text":"Hello","rows":[{"phone":"08030000101","text":null,"fields":null}],"skipBad":null,"scheduleAt":null,"flash":null,"group":null,"duplicates":null,"scheduleWithProvider":null}`,
			[]string{"1 2348030000101 Hello"}, "Hello", "Hello"},
	} {
		got := m.create(c.body).is(http.StatusCreated)
		f := form[api.Campaign](got)
		if path := fmt.Sprintf("%s/campaigns/%d", api.Path, f.ID); got.header.Get("Location") != path ||
			got.body != m.get(path).body {
			t.Errorf("%s: at %q, which is %s", name, got.header.Get("Location"), m.get(path).body)
		}
		if texts := s.texts(f.ID); strings.Join(texts, "|") != strings.Join(c.want, "|") {
			t.Errorf("%s:\n%q\nwant\n%q", name, texts, c.want)
		}
		if f.Name != c.name || f.Text != c.text || f.State != "draft" ||
			f.Counts != (api.Counts{Queued: int64(len(c.want))}) || f.Rows != int64(len(c.want)) || f.Plan.Calls < 1 ||
			f.StartedAt != nil {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestCreateRefusesWhatIsWrong(t *testing.T) {
	s, m := factory(t)
	good := map[string]string{"account": `"Clinic"`, "senderId": `"CLINIC"`, "name": `"June"`, "text": `"Hello"`,
		"rows": `[{"phone":"08030000101"}]`}
	with := func(pairs ...string) string {
		var members []string
		for name, value := range good {
			if pairs[0] != name {
				members = append(members, fmt.Sprintf("%q:%s", name, value))
			}
		}
		if pairs[1] != "" {
			members = append(members, fmt.Sprintf("%q:%s", pairs[0], pairs[1]))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	for _, c := range []struct{ name, value, field string }{
		{"account", `7`, "account"}, {"account", `"Nobody"`, "account"}, {"account", ``, "account"},
		{"senderId", ``, "senderId"}, {"senderId", `"PENDING"`, "senderId"}, {"senderId", `"NOBODY"`, "senderId"},
		{"senderId", `["CLINIC"]`, "senderId"}, {"text", ``, "rows"}, {"text", `5`, "text"},
		{"text", `"` + strings.Repeat("long ", 1000) + `"`, "text"}, {"name", `"` + strings.Repeat("n", 101) + `"`, "name"},
		{"send", `"yes"`, "send"}, {"skipBad", `1`, "skipBad"}, {"template", `"None"`, "template"},
		{"scheduleAt", `"tomorrow"`, "scheduleAt"}, {"scheduleAt", `17`, "scheduleAt"},
		{"scheduleAt", `"2026-06-03T09:47:00Z"`, "scheduleAt"}, {"scheduleAt", `"2028-06-03T09:47:00Z"`, "scheduleAt"},
		{"scheduleAt", `"2026-07-03T09:47:00"`, "scheduleAt"},
		{"rows", ``, "rows"}, {"rows", `[]`, "rows"}, {"rows", `null`, "rows"}, {"rows", `{}`, "rows"},
		{"rows", `"x"`, "rows"}, {"rows", `[7]`, "rows[0]"}, {"rows", `[{"phone":"08030000101"},null]`, "rows[1]"},
		{"rows", `[{"phone":8030000101}]`, "rows[0].phone"},
		{"rows", `[{"phone":"08030000101"},{"phone":"08030000102","text":{}}]`, "rows[1].text"}, {"rows", `[{"phone":"08030000101","fields":[]}]`, "rows[0].fields"},
		{"rows", `[{"phone":"08030000101","fields":{"a":{"b":1}}}]`, "rows[0].fields.a"},
		{"phoneColumn", `"mobile"`, "phoneColumn"}, {"phoneColumn", `3`, "phoneColumn"},
		{"text", `"Dear ##name##"`, "fields.name"},
	} {
		p := m.create(with(c.name, c.value)).problem(http.StatusUnprocessableEntity)
		if c.field == "rows" && p.BadRows > 0 {
			continue
		}
		if len(p.Errors) != 1 || p.Errors[0].Field != c.field || len(p.Errors[0].Detail) < 10 {
			t.Errorf("%s = %.60s: %+v", c.name, c.value, p)
		}
	}
	for name, body := range map[string]string{"nothing": "", "half": `{"account":"Clinic","rows":[{"phone":"0803`,
		"no JSON": "hello", "two": with("name", `"June"`) + "{}", "a comma": `{"account":"Clinic",}`} {
		if p := m.create(body).problem(http.StatusBadRequest); !strings.Contains(p.Detail, "JSON") {
			t.Errorf("%s: %+v", name, p)
		}
	}
	m.create(`[]`).problem(http.StatusUnprocessableEntity)
	m.create("a=b", "Content-Type", "application/x-www-form-urlencoded").problem(http.StatusUnsupportedMediaType)
	for _, key := range []string{"", "with space", "ünder", strings.Repeat("k", 256)} {
		p := m.create(with("name", `"June"`), "Idempotency-Key", key).problem(http.StatusBadRequest)
		if len(p.Errors) != 1 || p.Errors[0].Field != "Idempotency-Key" {
			t.Errorf("key %.20q: %+v", key, p)
		}
	}
	if n := s.all(); n != 0 {
		t.Errorf("%d campaigns were made", n)
	}
	if lists, err := s.db.Lists(t.Context(), 1, m.token.User.ID, 10); err != nil || len(lists) > 0 {
		t.Errorf("lists are left over: %v %v", lists, err)
	}
	s.machine(s.hire("v@example.com", sms.Viewer)).create(with("name", `"June"`)).problem(http.StatusForbidden)
}

func TestABadRowMakesNothing(t *testing.T) {
	s, m := factory(t)
	body := `{"account":"Clinic","senderId":"CLINIC","name":"June","text":"Dear ##name##","skipBad":%t,"rows":[{"phone":"08030000101","fields":{"name":"Ada"}},{"phone":"0803","fields":{"name":"Bo"}},{},{"phone":"08030000104"},
		{"phone":"08030000101","fields":{"name":"Ada"}},{"phone":"08030000106","text":"` + strings.Repeat("long\\n", 20_000) + "end" +
		`"},{"phone":"08030000107","fields":{"name":"Zoe"}}]}`
	p := m.create(fmt.Sprintf(body, false)).problem(http.StatusUnprocessableEntity)
	var rows []int64
	for _, r := range p.Rows {
		rows = append(rows, r.Row)
		if len(r.Detail) < 10 || !strings.HasSuffix(r.Detail, ".") {
			t.Errorf("row %d: %q", r.Row, r.Detail)
		}
	}
	if p.Type != api.ProblemBadRows || p.BadRows != 4 || fmt.Sprint(rows) != "[2 3 4 6]" {
		t.Errorf("%+v", p)
	}
	if s.all() != 0 {
		t.Error("a campaign was made")
	}
	f := form[api.Campaign](m.create(fmt.Sprintf(body, true)).is(http.StatusCreated))
	if f.Counts != (api.Counts{Queued: 2, Skipped: 5}) || f.Rows != 7 {
		t.Errorf("%+v", f)
	}
	list := form[api.MessagePage](m.get(fmt.Sprintf("%s/campaigns/%d/messages?state=skipped", api.Path, f.ID)))
	if len(list.Items) != 5 || list.Items[0].Row != 2 || list.Items[0].Reason == "" || list.Items[0].State != "skipped" {
		t.Errorf("%+v", list)
	}
	m.create(
		`{"account":"Clinic","senderId":"CLINIC","name":"June","text":"x","skipBad":true,"rows":[{"phone":"0803"}]}`).problem(
		http.StatusUnprocessableEntity)
}

func TestCreateFromAFile(t *testing.T) {
	s, m := factory(t)
	f := form[api.Campaign](m.upload("bills.csv",
		"Name,Mobile No,Amount\nAda,0803 000 0101,\"1,500\"\nObi,08030000102,20\n",
		"account", "Clinic", "senderId", "CLINIC", "text", "Dear ##name##, ##AMOUNT##", "send", "false", "skipBad", "", "flash", "").is(http.StatusCreated))
	if got := s.texts(f.ID); strings.Join(got, "|") != "2 2348030000101 Dear Ada, 1,500|3 2348030000102 Dear Obi, 20" ||
		f.Name != "bills" || f.State != "draft" {
		t.Errorf("%q %+v", got, f)
	}
	f = form[api.Campaign](m.upload("texts.csv",
		"Work,Home,Message\n08030000101,08030000201,Hello one\n08030000102,08030000202,Hello two\n",
		"account", "Clinic", "senderId", "CLINIC", "name", "Home", "phoneColumn", "home", "send", "true").is(http.StatusCreated))
	if got := s.texts(f.ID); strings.Join(got, "|") != "2 2348030000201 Hello one|3 2348030000202 Hello two" ||
		f.Name != "Home" || f.State != "running" {
		t.Errorf("%q %+v", got, f)
	}
	f = form[api.Campaign](m.upload("pairs.txt", "08030000101^One\n08030000102^Two\n", "account", "Clinic", "senderId",
		"CLINIC").is(http.StatusCreated))
	if got := s.texts(f.ID); strings.Join(got, "|") != "1 2348030000101 One|2 2348030000102 Two" {
		t.Errorf("%q", got)
	}
	made := s.all()
	fields := []string{"account", "Clinic", "senderId", "CLINIC", "text", "Hello"}
	for name, c := range map[string]struct {
		file  string
		field string
	}{"empty": {"", "file"}, "a PDF": {"%PDF-1.7 x", "file"}, "names only": {"Name,Phone\n", "file"},
		"no numbers": {"Name,Town\nAda,Lagos\n", "phoneColumn"}} {
		if p := m.upload("list.csv", c.file, fields...).problem(http.StatusUnprocessableEntity); len(p.Errors) != 1 ||
			p.Errors[0].Field != c.field {
			t.Errorf("%s: %+v", name, p)
		}
	}
	for name, c := range map[string]struct{ value, field string }{"send": {"perhaps", "send"},
		"phoneColumn": {"Nothing", "phoneColumn"}} {
		if p := m.upload("list.csv", "Phone\n08030000101\n", append(fields, name, c.value)...).problem(
			http.StatusUnprocessableEntity); len(p.Errors) != 1 || p.Errors[0].Field != c.field {
			t.Errorf("%s: %+v", name, p)
		}
	}
	broken := httptest.NewRequest(http.MethodPost, api.Path+"/campaigns", strings.NewReader("nothing"))
	broken.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	m.send(broken).problem(http.StatusBadRequest)
	if s.all() != made {
		t.Error("something was made of what was refused")
	}
}

func TestCreateStartsOrSchedules(t *testing.T) {
	s, m := factory(t)
	body := func(rest string) string {
		return `{"account":"Clinic","senderId":"CLINIC","name":"June","text":"Hello","rows":[{"phone":"08030000101"}]` +
			rest + `}`
	}
	// The same is asked for again and again: no program is asked whether it means it.
	for range 2 {
		if f := form[api.Campaign](m.create(body(`,"send":true`)).is(201)); f.State != "running" || f.StartedAt == nil ||
			f.StartedBy != "Ada Obi" || f.ScheduleAt != nil {
			t.Errorf("%+v", f)
		}
	}
	at := "2026-06-04T09:00:00+01:00"
	f := form[api.Campaign](m.create(body(`,"send":true,"scheduleAt":"` + at + `"`)).is(201))
	if f.State != "scheduled" || f.ScheduleAt == nil || *f.ScheduleAt != "2026-06-04T08:00:00.000Z" || f.StartedAt != nil {
		t.Errorf("%+v", f)
	}
	f = form[api.Campaign](m.create(body(`,"scheduleAt":"` + at + `"`)).is(201))
	if f.State != "draft" || f.ScheduleAt == nil || *f.ScheduleAt != "2026-06-04T08:00:00.000Z" {
		t.Errorf("%+v", f)
	}
	path := fmt.Sprintf("%s/campaigns/%d/send", api.Path, f.ID)
	for range 2 {
		if f := form[api.Campaign](m.post(path, "").is(200)); f.State != "scheduled" {
			t.Errorf("%+v", f)
		}
	}
	f = form[api.Campaign](m.create(body(`,"scheduleAt":"` + at + `"`)).is(201))
	s.clock.pass(48 * time.Hour)
	s.know(1, "CLINIC")
	if p := m.post(fmt.Sprintf("%s/campaigns/%d/send", api.Path, f.ID), "").problem(422); len(p.Errors) != 1 ||
		p.Errors[0].Field != "scheduleAt" {
		t.Errorf("%+v", p)
	}
}

func TestAProgramWaitsForTheSecondPerson(t *testing.T) {
	s, m := factory(t)
	a, err := s.db.AccountNamed(t.Context(), "Clinic")
	s.must(err)
	_, err = s.db.UpdateAccount(t.Context(), a.ID, 1, func(a *sms.Account, _ *sms.Credentials) error {
		a.ApproveAbove = 1
		return nil
	})
	s.must(err)
	body := `{"account":"Clinic","senderId":"CLINIC","name":"June","text":"Hello","send":true,"rows":[{"phone":"08030000101"},{"phone":"08030000102"}]}`
	bola := s.hire("bola@example.com", sms.Approver)
	f := form[api.Campaign](m.create(body).is(201))
	if f.State != "awaiting_approval" || f.StartedAt != nil {
		t.Fatalf("%+v", f)
	}
	path := fmt.Sprintf("%s/campaigns/%d", api.Path, f.ID)
	if again := form[api.Campaign](m.post(path+"/send", "").is(200)); again.State != "awaiting_approval" {
		t.Errorf("asked twice: %+v", again)
	}
	c, err := s.db.Campaign(t.Context(), f.ID)
	s.must(err)
	if _, err := s.desk.ApproveCampaign(t.Context(), bola, c.ID, desk.ApproveOrder{Version: c.Version}); err != nil {
		t.Fatal(err)
	}
	if f = form[api.Campaign](m.get(path).is(200)); f.State != "running" || f.ApprovedBy != bola.Name {
		t.Errorf("%+v", f)
	}
}

func TestCreateFromATemplate(t *testing.T) {
	s, m := factory(t)
	body := `{"account":"Clinic","senderId":"CLINIC","name":"June","template":%q,"rows":[{"phone":"08030000101","fields":{"name":"Ada","DATE":"Friday"}}]}`
	f := form[api.Campaign](m.create(fmt.Sprintf(body, "Appointment")).is(201))
	if got := s.texts(f.ID); strings.Join(got, "|") != "1 2348030000101 Dear Ada,\ncome on Friday." {
		t.Errorf("%q", got)
	}
	for name, words := range map[string]string{"Fees": "not approved and active", "Nothing": "no template"} {
		if p := m.create(fmt.Sprintf(body, name)).problem(422); len(p.Errors) != 1 || p.Errors[0].Field != "template" ||
			!strings.Contains(p.Errors[0].Detail, words) {
			t.Errorf("%s: %+v", name, p)
		}
	}
	both := strings.Replace(fmt.Sprintf(body, "Appointment"), `"name":"June"`, `"text":"Hello"`, 1)
	if p := m.create(both).problem(422); p.Errors[0].Field != "template" {
		t.Errorf("%+v", p)
	}
}

func TestCancelForPrograms(t *testing.T) {
	s, m := factory(t)
	a, err := s.db.AccountNamed(t.Context(), "Clinic")
	s.must(err)
	body := `{"account":"Clinic","senderId":"CLINIC","name":"June","text":"Hello","send":true,"rows":[` +
		strings.Repeat(`{"phone":"0803000%04d"},`, 24)
	var numbers []any
	for i := range 24 {
		numbers = append(numbers, 1000+i)
	}
	body = strings.TrimSuffix(fmt.Sprintf(body, numbers...), ",") + "]}"
	f := form[api.Campaign](m.create(body).is(201))
	s.send(a, 1, accept)
	path := fmt.Sprintf("%s/campaigns/%d", api.Path, f.ID)
	for range 2 {
		got := form[api.Campaign](m.post(path+"/cancel", "").is(200))
		if got.State != "cancelled" || got.Counts != (api.Counts{Accepted: 5, Cancelled: 19}) ||
			got.Delivery != (api.Delivery{None: 5}) || got.FinishedAt == nil {
			t.Errorf("%+v", got)
		}
	}
	for word, n := range map[string]int{"cancelled": 19, "queued": 0, "accepted": 5} {
		list := form[api.MessagePage](m.get(path + "/messages?state=" + word).is(200))
		if len(list.Items) != n {
			t.Errorf("%d are %s", len(list.Items), word)
		}
		for _, item := range list.Items {
			if item.State != word || word == "accepted" && (item.Status != "none" || item.MessageID == "") {
				t.Errorf("%+v", item)
			}
		}
	}
	if list := form[api.MessagePage](m.get(path + "/messages?status=none").is(200)); len(list.Items) != 5 {
		t.Errorf("%d without a report", len(list.Items))
	}
	for _, order := range []string{"send", "stop", "continue"} {
		if p := m.post(path+"/"+order, "").problem(409); p.Type != api.ProblemState ||
			!strings.Contains(p.Detail, "cancelled") {
			t.Errorf("%s: %+v", order, p)
		}
	}
	draft := form[api.Campaign](m.create(strings.Replace(body, `"send":true`, `"send":false`, 1)).is(201))
	if got := form[api.Campaign](m.post(fmt.Sprintf("%s/campaigns/%d/cancel", api.Path, draft.ID),
		"").is(200)); got.State != "cancelled" || got.Counts != (api.Counts{Cancelled: 24}) {
		t.Errorf("%+v", got)
	}
}

func TestAKeyMakesOneCampaign(t *testing.T) {
	s, m := factory(t)
	body := `{"account":"Clinic","senderId":"CLINIC","name":"June","text":"Hello","send":true,"rows":[{"phone":"08030000101","fields":{"a":"1","b":"2"}}]}`
	same := `{"rows":[{"fields":{"b":"2","a":"1"},"phone":"08030000101"}], "send":true, "name":"June", "text":"Hello", "senderId":"CLINIC", "account":"Clinic"}`
	var together sync.WaitGroup
	ids := make([]int64, 12)
	for i := range ids {
		together.Go(func() {
			text := body
			if i%2 == 1 {
				text = same
			}
			r := httptest.NewRequest(http.MethodPost, api.Path+"/campaigns", strings.NewReader(text))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Idempotency-Key", "order-7")
			r.Header.Set("Authorization", "Bearer "+m.secret)
			rec := httptest.NewRecorder()
			s.handler.ServeHTTP(rec, r)
			var f api.Campaign
			if err := json.Unmarshal(rec.Body.Bytes(), &f); err == nil && rec.Code == http.StatusCreated {
				ids[i] = f.ID
			}
		})
	}
	together.Wait()
	for _, id := range ids {
		if id == 0 || id != ids[0] {
			t.Fatalf("campaigns %v", ids)
		}
	}
	if n := s.all(); n != 1 {
		t.Errorf("%d campaigns", n)
	}
	p := m.create(strings.Replace(body, "Hello", "Goodbye", 1), "Idempotency-Key",
		"order-7").problem(http.StatusUnprocessableEntity)
	if p.Type != api.ProblemKey {
		t.Errorf("%+v", p)
	}
	other := s.machine(m.token.User)
	if f := form[api.Campaign](other.create(body, "Idempotency-Key", "order-7").is(201)); f.ID == ids[0] {
		t.Error("another token has the same keys")
	}
	if f := form[api.Campaign](m.create(body, "Idempotency-Key", "order-8").is(201)); f.ID == ids[0] {
		t.Error("another key is the same")
	}
	// What was refused leaves its key free.
	m.create(strings.Replace(body, "08030000101", "0803", 1), "Idempotency-Key", "order-9").problem(422)
	m.create(body, "Idempotency-Key", "order-9").is(201)
}

// cut is a desk that breaks off at a stage of a request, once, as a killed
// process does.
type cut struct {
	*desk.Desk
	*lists.Lists
	at string
}

func (c *cut) off(stage string) {
	if c.at == stage {
		c.at = ""
		panic(http.ErrAbortHandler)
	}
}

func (c *cut) UploadList(ctx context.Context, by sms.User, o lists.UploadOrder, body io.Reader) (sms.List, error) {
	l, err := c.Lists.UploadList(ctx, by, o, body)
	c.off("after the upload")
	return l, err
}

func (c *cut) MakeCampaign(ctx context.Context, by sms.User, uid string, version int64,
	o lists.MakeOrder) (sms.List, error) {
	c.off("after the check")
	return c.Lists.MakeCampaign(ctx, by, uid, version, o)
}

func (c *cut) EndRequest(ctx context.Context, by sms.User, r sms.TokenRequest) error {
	c.off("before the answer")
	return c.Desk.EndRequest(ctx, by, r)
}

// A request that was cut off in the middle is finished by its repeat.
func TestARepeatFinishesWhatWasCutOff(t *testing.T) {
	c := &cut{}
	s, m := factory(t, func(config *Config) {
		c.Desk, config.Do.API, config.Do.APITokens = config.Do.API.(*desk.Desk), c, c
		c.Lists, config.Do.APILists = config.Do.APILists.(*lists.Lists), c
	})
	body := `{"account":"Clinic","senderId":"CLINIC","name":"June","text":"Hello","send":true,"rows":[{"phone":"08030000101"},{"phone":"08030000102"}]}`
	for _, stage := range []string{"after the upload", "after the check", "before the answer"} {
		before, key := s.all(), strings.ReplaceAll(stage, " ", "-")
		c.at = stage
		func() {
			defer func() {
				if p := recover(); p != http.ErrAbortHandler {
					t.Fatalf("%s: not cut off: %v", stage, p)
				}
			}()
			m.create(body, "Idempotency-Key", key)
		}()
		f := form[api.Campaign](m.create(body, "Idempotency-Key", key).is(201))
		if again := form[api.Campaign](m.create(body, "Idempotency-Key", key).is(201)); again.ID != f.ID ||
			f.State != "running" || f.Rows != 2 || s.all() != before+1 {
			t.Errorf("%s: %+v, %d campaigns more", stage, f, s.all()-before)
		}
	}
}

func TestABodyThatIsTooLarge(t *testing.T) {
	s, m := factory(t)
	s.must(s.db.PutSetting(t.Context(), sms.SettingMaxList, "1000"))
	p := m.upload("list.csv", "Phone\n"+strings.Repeat("08030000101\n", 200), "account", "Clinic", "senderId", "CLINIC",
		"text", "x").problem(http.StatusRequestEntityTooLarge)
	if len(p.Errors) != 1 || p.Errors[0].Field != "file" {
		t.Errorf("%+v", p)
	}
	start := `{"account":"Clinic","senderId":"CLINIC","name":"June","text":"Hello","rows":[`
	announced := httptest.NewRequest(http.MethodPost, api.Path+"/campaigns", strings.NewReader(start))
	announced.ContentLength = 64<<20 + 1
	m.send(announced).problem(http.StatusRequestEntityTooLarge)
	row := `{"phone":"08030000101","fields":{"a":"` + strings.Repeat("x", 100_000) + `"}},`
	streamed := httptest.NewRequest(http.MethodPost, api.Path+"/campaigns",
		io.MultiReader(strings.NewReader(start), &repeated{text: row}))
	streamed.ContentLength = -1
	m.send(streamed).problem(http.StatusRequestEntityTooLarge)
	whole := `{"account":"` + strings.Repeat("x", 2<<20) + `"}`
	if p := m.create(whole).problem(422); p.Errors[0].Field != "account" {
		t.Errorf("%+v", p)
	}
	m.create(`{"rows":[{"phone":"` + strings.Repeat("x", 2<<20) + `"}]}`).problem(422)
	m.create(`{"a":"` + strings.Repeat("x", 900<<10) + `","b":"` + strings.Repeat("x", 900<<10) + `","c":1}`).problem(422)
}

// repeated reads one text again and again, without end.
type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(p []byte) (int, error) {
	n := copy(p, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	return n, nil
}
