package web

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/xuri/excelize/v2"
)

// What a page would ask about a file, a program is told with the campaign, also
// when it asks again.
func TestCreateTellsWhatOfAFileIsLeftOut(t *testing.T) {
	s, m := factory(t)
	book := writeBook(t, func(f *excelize.File) {
		fill(t, f, "Sheet1", []string{"Phone", "Name", "name"}, []string{"08031234501", "Ada", "x"}, []string{"08031234502", "Bola", "y"},
			[]string{"phone", "name", "NAME"}, []string{"08031234503", "Chidi", "z"})
		s.must(f.SetRowVisible("Sheet1", 3, false))
		for _, name := range []string{"Old", "Notes"} {
			_, err := f.NewSheet(name)
			s.must(err)
			fill(t, f, name, []string{"Phone"}, []string{"08031234509"})
		}
		s.must(f.SetSheetVisible("Old", false))
	})
	fields := []string{"account", "Clinic", "senderId", "CLINIC", "text", "Dear ##Name##, hello"}
	got := m.upload("book.xlsx", book, fields...).is(201)
	var answer struct {
		ID, Rows int64
		Warnings []string
	}
	s.must(json.Unmarshal([]byte(got.body), &answer))
	if want := []string{"1 hidden row was left out", "1 row was left out because the column names are repeated there",
		`The hidden sheet "Old" was not read`, `The sheet "Notes" was not read. Only "Sheet1" was`,
		`2 columns are called "Name". Only the first was used`}; !slices.Equal(answer.Warnings, want) || answer.Rows != 2 {
		t.Errorf("%d rows, %q", answer.Rows, answer.Warnings)
	}
	if got := s.texts(answer.ID); !slices.Equal(got, []string{"2 2348031234501 Dear Ada, hello", "5 2348031234503 Dear Chidi, hello"}) {
		t.Errorf("%q", got)
	}
}

// TestNamesInTheMiddleAreTold: rows that say the names of the columns again are
// left out. A list that is right otherwise goes on to be confirmed, and hears of
// it there; another one at its check.
func TestNamesInTheMiddleAreTold(t *testing.T) {
	const said = "1 row is left out because the column names are repeated there."
	s := newSite(t)
	s.clinic()
	s.importer()
	b := s.as(s.boss)
	const list = "phone,name\n08031234501,Ada\nPHONE,Name\n08031234502,Bola\n"
	_, page := b.checks("bad.csv", list+"12,Chidi\n", "Dear ##name##, hello")
	page.has(said)
	at := b.uploads("two.csv", list)
	made := b.post(at+"/message", b.get(at+"/message").filled("text", "Dear ##name##, hello")...).is(http.StatusSeeOther)
	b.get(made.header.Get("Location")).is(200).has(said)
}
