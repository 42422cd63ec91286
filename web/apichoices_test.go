package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"smsdesk/web/api"
)

func TestAProgramSendsToAnAudience(t *testing.T) {
	s, m := factory(t)
	var ids []int64
	for i, name := range []string{"Ada", "Bola", "Chidi"} {
		c := form[api.Contact](m.post(api.Path+"/contacts",
			fmt.Sprintf(`{"account":"Clinic","phone":"0803000010%d","name":%q}`, i+1, name)).is(201))
		ids = append(ids, c.ID)
	}
	m.post(api.Path+"/blocked", `{"account":"Clinic","phones":["08030000103"]}`).is(200)
	m.post(api.Path+"/audiences", fmt.Sprintf(`{"account":"Clinic","name":"Board","contacts":[%d,%d,%d]}`, ids[0], ids[1], ids[2])).is(201)
	m.post(api.Path+"/audiences", `{"account":"Clinic","name":"Nobody","contacts":[]}`).is(201)
	order := `{"account":"Clinic","senderId":"CLINIC","text":"Dear ##Name##, come.","audience":"Board","send":true}`
	c := form[api.Campaign](m.create(order, "Idempotency-Key", "a").is(201))
	if got := s.texts(c.ID); !slices.Equal(got, []string{"2 2348030000101 Dear Ada, come.", "3 2348030000102 Dear Bola, come.",
		"4 skipped Number blocked since 3 June (reason: added by Ada Obi)"}) ||
		c.State != "running" || c.Name != "Board" || c.Counts.Skipped != 1 {
		t.Errorf("%q %+v", got, c)
	}
	if again := form[api.Campaign](m.create(order, "Idempotency-Key", "a").is(201)); again.ID != c.ID {
		t.Error("the key made a second campaign")
	}
	for more, field := range map[string]string{`,"audience":"Staff","text":"x"`: "audience", `,"audience":"Nobody","text":"x"`: "audience",
		`,"audience":"Board"`: "text", `,"audience":"Board","group":"G","text":"x"`: "audience",
		`,"audience":"Board","text":"x"` + oneRow:                             "audience",
		`,"audience":"Board","text":"x","phoneColumn":"Name"`:                 "phoneColumn",
		`,"audience":"Board","text":"Dear ##Town##"`:                          "fields.town",
		`,"group":"G","text":"x","keepFirst":true`:                            "keepFirst",
		`,"group":"G","text":"Dear ##Name##","fill":{"Name":"friend"}`:        "fill",
		`,"group":"G","text":"x","duplicates":"refuse"`:                       "duplicates",
		`,"text":"x","sheet":"May"` + oneRow:                                  "sheet",
		`,"text":"x","includeHidden":true` + oneRow:                           "includeHidden",
		`,"text":"x","fill":"Name"` + oneRow:                                  "fill",
		`,"text":"x","fill":{"Name":"friend"}` + oneRow:                       "fill.Name",
		`,"text":"Dear ##Name##","fill":{"Name":"a\r\nb"}` + oneRow:           "fill.Name",
		`,"text":"Dear ##Name##","fill":{"Name":"friend","Nam":"x"}` + oneRow: "fill.Nam"} {
		if p := m.create(`{"account":"Clinic","senderId":"CLINIC"` + more + `}`).problem(422); len(p.Errors) == 0 || p.Errors[0].Field != field {
			t.Errorf("%s: %+v", more, p)
		}
	}
	if p := m.upload("a.csv", "Phone\n08030000101\n", "account", "Clinic", "senderId", "CLINIC", "text", "Hi", "audience",
		"Board").problem(422); p.Errors[0].Field != "audience" {
		t.Errorf("%+v", p)
	}
}

// TestAProgramKeepsTheFirstAndFillsTheEmpty: what staff decide at the check.
func TestAProgramKeepsTheFirstAndFillsTheEmpty(t *testing.T) {
	s, m := factory(t)
	const rows = `,"rows":[{"phone":"08030000101","fields":{"Name":"Ada"}},{"phone":"0803 000 0101","fields":{"Name":"Bola"}},
{"phone":"08030000102","fields":{"Name":""}},{"phone":"08030000103"}]`
	const more = `{"account":"Clinic","senderId":"CLINIC","text":"Dear ##Name##, ##Town##","fill":{"name":"friend","Town":"Lagos"}`
	got := m.create(more + `,"keepFirst":true` + rows + `}`).is(201)
	var answer struct {
		ID      int64
		LeftOut map[string]int64
	}
	s.must(json.Unmarshal([]byte(got.body), &answer))
	want := []string{"1 2348030000101 Dear Ada, Lagos",
		"2 skipped This number is in row 1, and only the first of each is kept", "3 2348030000102 Dear friend, Lagos",
		"4 2348030000103 Dear friend, Lagos"}
	if got := s.texts(answer.ID); !slices.Equal(got, want) || answer.LeftOut["sameNumber"] != 1 || answer.LeftOut["duplicates"] != 0 {
		t.Errorf("%q %+v", got, answer)
	}
	all := form[api.Campaign](m.create(more + rows + `}`).is(201))
	if got := s.texts(all.ID); len(got) != 4 {
		t.Errorf("%q", got)
	}
	// The next list with the same columns is not filled with what this one lacked.
	const file = "Phone,Name\n08030000101,Ada\n08030000102,\n"
	fields := []string{"account", "Clinic", "senderId", "CLINIC", "text", "Dear ##Name##"}
	filled := form[api.Campaign](m.upload("a.csv", file, append(fields, "fill", `{"Name":"friend"}`, "keepFirst", "true")...).is(201))
	if got := s.texts(filled.ID); !slices.Equal(got, []string{"2 2348030000101 Dear Ada", "3 2348030000102 Dear friend"}) {
		t.Errorf("%q", got)
	}
	at := s.as(s.boss).uploads("c.csv", file)
	l, err := s.db.List(t.Context(), at[len("/lists/"):])
	if err != nil || len(l.Order.Empty) > 0 || l.Order.FirstOnly {
		t.Errorf("%+v %v", l.Order, err)
	}
	if p := m.upload("b.csv", file, fields...).problem(422); p.Type != api.ProblemBadRows {
		t.Errorf("%+v", p)
	}
	if p := m.upload("a.csv", file, append(fields, "fill", `{"Name":1}`)...).problem(422); p.Errors[0].Field != "fill" {
		t.Errorf("%+v", p)
	}
}

// TestAProgramChoosesTheSheetAndTheHiddenRows: a page asks, a program says.
func TestAProgramChoosesTheSheetAndTheHiddenRows(t *testing.T) {
	s, m := factory(t)
	book := writeBook(t, func(f *excelize.File) {
		fill(t, f, "Sheet1", []string{"Phone"}, []string{"08031234501"}, []string{"08031234502"})
		s.must(f.SetRowVisible("Sheet1", 3, false))
		_, err := f.NewSheet("May")
		s.must(err)
		fill(t, f, "May", []string{"Phone"}, []string{"08031234509"})
	})
	fields := []string{"account", "Clinic", "senderId", "CLINIC", "text", "Hello"}
	for _, c := range []struct{ name, value, text string }{{"includeHidden", "true", "2 2348031234501 Hello,3 2348031234502 Hello"},
		{"includeHidden", "false", "2 2348031234501 Hello"}, {"sheet", "May", "2 2348031234509 Hello"}} {
		made := form[api.Campaign](m.upload("book.xlsx", book, append(fields, c.name, c.value)...).is(http.StatusCreated))
		if got := strings.Join(s.texts(made.ID), ","); got != c.text {
			t.Errorf("%s %s: %q", c.name, c.value, got)
		}
	}
	if p := m.upload("book.xlsx", book, append(fields, "sheet", "June")...).problem(422); p.Errors[0].Field != "sheet" {
		t.Errorf("%+v", p)
	}
}

// TestARefusedAudienceLeavesNothing: the list that was made of it is gone.
func TestARefusedAudienceLeavesNothing(t *testing.T) {
	s, m := factory(t)
	m.post(api.Path+"/contacts", `{"account":"Clinic","phone":"08030000101","name":"Ada"}`).is(201)
	m.post(api.Path+"/audiences", `{"account":"Clinic","name":"All"}`).is(201)
	a, err := s.db.AccountNamed(t.Context(), "Clinic")
	s.must(err)
	m.create(`{"account":"Clinic","senderId":"CLINIC","text":"Dear ##Town##","audience":"All"}`).problem(422)
	left, err := s.db.Lists(t.Context(), a.ID, m.token.User.ID, 9)
	if err != nil || len(left) > 0 {
		t.Errorf("%+v %v", left, err)
	}
}
