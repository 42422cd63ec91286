package web

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"smsdesk/internal/sms"
	"smsdesk/web/api"
)

// contacts is who a program sees, by number: name, fields and tags.
func (m *machine) contacts() map[string]string {
	m.site.t.Helper()
	var list struct{ Items []api.Contact }
	m.site.must(json.Unmarshal([]byte(m.get(api.Path+"/contacts?account=Clinic").is(200).body), &list))
	all := map[string]string{}
	for _, c := range list.Items {
		all[c.Phone] = fmt.Sprintf("%s %v %v", c.Name, c.Fields, c.Tags)
	}
	return all
}

func (m *machine) imports(name, file string, pairs ...string) answer {
	m.site.t.Helper()
	return m.uploadTo(api.Path+"/contacts/import", name, file, append([]string{"account", "Clinic"}, pairs...)...)
}

func TestAProgramImportsContacts(t *testing.T) {
	s, m := factory(t)
	at := api.Path + "/contacts/import"
	const two = `{"account":"Clinic","tags":["2026"],"contacts":[{"phone":"0803 000 0101","name":"Ada","fields":{"Town":"Lagos"},
"tags":["VIP"]},
{"phone":"08030000102","name":"Bola, \"B\""},{"phone":"+2348030000101","name":"Ada again"}]}`
	got := form[api.Imported](m.post(at, two).is(200))
	if got.Rows != 3 || got.Added != 2 || got.Changed != 0 || got.Repeated != 1 || len(got.Warnings) != 0 {
		t.Errorf("%+v", got)
	}
	want := map[string]string{"2348030000101": "Ada map[town:Lagos] [2026 VIP]", "2348030000102": `Bola, "B" map[] [2026]`}
	if have := m.contacts(); fmt.Sprint(have) != fmt.Sprint(want) {
		t.Errorf("%q", have)
	}
	if got := form[api.Imported](m.post(at, two).is(200)); got.Added != 0 || got.Changed != 0 {
		t.Errorf("the same again: %+v", got)
	}
	p := m.post(at, `{"account":"Clinic","contacts":[{"phone":"08030000103"},{"phone":"12"}]}`).problem(422)
	if p.Type != api.ProblemBadRows || p.BadRows != 1 || len(p.Rows) != 1 || p.Rows[0].Row != 2 ||
		!strings.Contains(p.Detail, "Nothing was imported") || len(m.contacts()) != 2 {
		t.Errorf("%+v", p)
	}
	if got := form[api.Imported](m.post(at, `{"account":"Clinic","skipBad":true,"contacts":[{"phone":"08030000103"},{"phone":"12"}]}`).
		is(200)); got.Added != 1 || got.Bad != 1 {
		t.Errorf("%+v", got)
	}
	for body, field := range map[string]string{`{"contacts":[{"phone":"08030000101"}]}`: "account", `{"account":"Clinic"}`: "contacts",
		`{"account":"Clinic","contacts":[{"name":"x"}]}`:                                          "contacts[0].phone",
		`{"account":"Clinic","contacts":[{"phone":"08030000101","town":"x"}]}`:                    "town",
		`{"account":"Clinic","contacts":[{"phone":"08030000101","fields":{"Phone number":"x"}}]}`: "contacts[0].fields.Phone number",
		`{"account":"Clinic","sheet":"x","contacts":[{"phone":"08030000101"}]}`:                   "sheet"} {
		if p := m.post(at, body).problem(422); len(p.Errors) == 0 || p.Errors[0].Field != field {
			t.Errorf("%s: %+v", body, p)
		}
	}
	s.machine(s.hire("v@example.com", sms.Viewer)).post(at, two).problem(403)
}

func TestAProgramImportsAFileOfContacts(t *testing.T) {
	s, m := factory(t)
	const file = "Full name,Mobile,Other,Town,Age\nAda,08030000101,08030000201,Lagos,30\nBola,12,,Ibadan,\n"
	fields := []string{"skipBad", "true", "phoneColumn", "mobile"}
	got := form[api.Imported](m.imports("people.csv", file, append(fields, "columns", `["Full name","Town"]`, "tags", `["Board"]`)...).is(200))
	if got.Rows != 2 || got.Added != 1 || got.Bad != 1 {
		t.Errorf("%+v", got)
	}
	if have := m.contacts(); fmt.Sprint(have) != "map[2348030000101:Ada map[town:Lagos] [Board]]" {
		t.Errorf("%q", have)
	}
	// What the program chose is not what a person chooses: the next file has all columns.
	m.imports("people.csv", file, fields...).is(200)
	if have := m.contacts(); !strings.Contains(have["2348030000101"], "age:30") ||
		!strings.Contains(have["2348030000101"], "other:08030000201") {
		t.Errorf("%q", have)
	}
	if p := m.imports("people.csv", file, "phoneColumn", "Mobile").problem(422); p.Type != api.ProblemBadRows || p.Rows[0].Row != 3 {
		t.Errorf("%+v", p)
	}
	// A column that looks more like the number's is kept all the same.
	m.imports("two.csv", "Mobile,Other\n08030000301,08030000302\n", "phoneColumn", "Other").is(200)
	if have := m.contacts()["2348030000302"]; have != " map[mobile:08030000301] []" {
		t.Errorf("%q", have)
	}
	m.post(api.Path+"/contacts/import", `{"account":"Clinic",
"contacts":[{"phone":"0803 000 0401","fields":{"Mobile number":"2348030000402"}}]}`).is(200)
	if have := m.contacts()["2348030000401"]; !strings.Contains(have, "mobilenumber:2348030000402") {
		t.Errorf("%q", have)
	}
	for pair, field := range map[[2]string]string{{"phoneColumn", "Phone"}: "phoneColumn", {"columns", `["City"]`}: "columns",
		{"columns", "City"}: "columns", {"text", "Hello"}: "text", {"skipBad", "perhaps"}: "skipBad"} {
		if p := m.imports("people.csv", file, pair[0], pair[1]).problem(422); len(p.Errors) == 0 || p.Errors[0].Field != field {
			t.Errorf("%v: %+v", pair, p)
		}
	}
	if p := m.imports("people.pdf", "%PDF-1.4\x00").problem(422); p.Errors[0].Field != "file" {
		t.Errorf("%+v", p)
	}
	a, err := s.db.AccountNamed(t.Context(), "Clinic")
	s.must(err)
	left, err := s.db.Lists(t.Context(), a.ID, m.token.User.ID, 20)
	s.must(err)
	for _, l := range left {
		if l.State != sms.ListMade {
			t.Errorf("left over: %s %s", l.FileName, l.State)
		}
	}
}
