package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"smsdesk/internal/sms"
)

func (a answer) chosen(name string) string {
	a.t.Helper()
	return a.page().Find(`select[id="`+name+`"] option[selected]`).AttrOr("value", "")
}

// Marks get their rows when the form is renewed, script or not; what matches a
// column by name is chosen already.
func TestMarksFindTheirColumns(t *testing.T) {
	s := newSite(t)
	s.clinic()
	b := s.as(s.boss)
	at := b.uploads("list.csv", cleanList) + "/message"
	page := b.get(at).is(200)
	got := b.post(at, page.filled("text", "Dear ##FIRST-NAME##, ##date## at ##Time##", "do", "preview", "flash", "yes",
		"name", "June <i>")...).is(200)
	s.leads(got)
	if a, c, d := got.chosen("field:firstname"), got.chosen("field:date"), got.chosen("field:time"); a != "1" ||
		c != "2" || d != "" {
		t.Errorf("chosen are %q, %q and %q", a, c, d)
	}
	got.has("e.g. Ada, Bola, Chidi", "e.g. 3 June, 4 June, 5 June", "Choose a column or text for ##Time##.")
	if text := got.text("#filled .bubble"); text != "Dear Ada, 3 June at ##Time##" {
		t.Errorf("the preview is %q", text)
	}
	if marked := got.text("#filled .mark"); marked != "Ada3 June##Time##" {
		t.Errorf("marked are %q", marked)
	}
	if got.attr("#name", "value") != "June <i>" || got.page().Find("#flash[checked]").Length() != 1 {
		t.Error("something typed was lost")
	}
	got = b.post(at, got.filled("text", "Dear ##FIRST-NAME##, ##date## at ##Time##", "field:firstname", "1", "field:date",
		"", "field:time", "fixed", "do", "preview")...).is(200)
	if got.chosen("field:date") != "" || got.chosen("field:time") != "fixed" ||
		got.page().Find(`[id="fixed:time"]`).Length() != 1 {
		t.Error("what was chosen is not what is shown")
	}
}

func TestWhatIsWrongWithTheMessage(t *testing.T) {
	s := newSite(t)
	s.clinic(func(a *sms.Account) { a.DefaultSender = "" })
	b := s.as(s.boss)
	at := b.uploads("list.csv", "First,Second\nAda,Bola\nChidi,Emeka\n") + "/message"
	page := b.get(at).is(200).has("Choose the column with the phone numbers")
	got := b.post(at, page.filled("text", "Hello ##Name##", "field:name", "fixed", "fixed:name", "  ", "name",
		strings.Repeat("x", 101), "do", "check")...).is(http.StatusUnprocessableEntity)
	s.leads(got)
	for field, sentence := range map[string]string{
		"phone":      "Choose the column with the phone numbers",
		"field:name": "The message uses ##Name##. Choose a column for it, or enter one text for everyone",
		"name":       "Name must be 100 characters or fewer",
	} {
		if at := got.text(`[id="` + field + `-error"]`); at != "Error: "+sentence {
			t.Errorf("%s: %q at the field", field, at)
		}
		if got.attr(`[id="`+field+`"]`, "aria-invalid") != "true" {
			t.Errorf("%s does not say that it is wrong", field)
		}
	}
	if n := got.page().Find("#errors a").Length(); n != 3 || !strings.HasPrefix(got.text("title"), "Error: ") {
		t.Errorf("%d errors in the summary, title %q", n, got.text("title"))
	}
	if got.page().Find("#text").Text() != "Hello ##Name##" {
		t.Error("the text was lost")
	}
	page = b.get(b.uploads("two.csv", "phone,mobile\n08031234501,08051234502\n08031234503,08051234504\n") +
		"/message").is(200)
	page.has(`Two columns look like phone numbers: "phone" and "mobile". Choose one`)
}

func TestTheTextComesFromAColumn(t *testing.T) {
	s := newSite(t)
	s.clinic()
	s.importer()
	b := s.as(s.boss)
	at := b.uploads("list.csv", "phone,message\n08031234501,Come at 9\n08031234502,Come at 10\n") + "/message"
	page := b.get(at).is(200)
	if page.chosen("message") != "1" || page.text("#filled .bubble") != "Come at 9" {
		t.Errorf("chosen is %q, shown %q", page.chosen("message"), page.text("#filled .bubble"))
	}
	got := b.post(at, page.filled("text", "Hello")...).is(http.StatusUnprocessableEntity)
	if got.text("#message-error") == "" || got.page().Find("#text").Text() != "Hello" {
		t.Error("both a text and a column are taken, or the text is lost")
	}
	b.post(at, page.filled()...).is(http.StatusSeeOther)
	if text := s.messages(s.campaign(s.list(at).CampaignID))[1].Text; text != "Come at 10" {
		t.Errorf("the second message is %q", text)
	}
}

// While a person types only the parts that change come back, with what was
// typed and chosen.
func TestListPreviewWhileTyping(t *testing.T) {
	s := newSite(t)
	s.clinic()
	b := s.as(s.boss)
	at := b.uploads("list.csv", cleanList)
	page := b.get(at + "/message")
	if page.attr("#filling[hx-post]", "hx-post") != at+"/preview" ||
		page.page().Find("[hx-post] #text").Length() != 1 {
		t.Error("what is typed is not watched")
	}
	ask := func(b *browser, pairs ...string) answer {
		r := httptest.NewRequest(http.MethodPost, at+"/preview", strings.NewReader(values(pairs).Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("HX-Request", "true")
		return b.send(r)
	}
	got := ask(b, page.filled("text", "Dear ##First name##, ọ##x##")...).is(200)
	if !strings.HasPrefix(got.body, `<div class="advice`) ||
		!strings.Contains(got.body, `hx-target="#filled"`) || !strings.Contains(got.body, `hx-target="#marks"`) ||
		strings.Contains(got.body, "<textarea") {
		t.Errorf("%.300s", got.body)
	}
	got.has("1 part", "Each part holds only 70 characters because of “ọ”.", "##x##")
	ask(b, "text", strings.Repeat("ọ", 1<<20)[:300_000], "phone", "77", "message", "-5").is(200)
	for name, other := range map[string]*browser{"a stranger": s.browser(),
		"a viewer": s.as(s.hire("v@example.com", sms.Viewer))} {
		if got := ask(other, "text", "x").is(http.StatusNoContent); got.body != "" {
			t.Errorf("%s is shown %q", name, got.body)
		}
	}
}

func TestATemplateForAList(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	s.templates(a.ID)
	s.importer()
	b := s.as(s.boss)
	at := b.uploads("list.csv", "Phone,Name,Date\n08031234501,Ada,Monday\n") + "/message"
	page := b.get(at).is(200)
	// Chosen and not applied: it comes back with the text in it, and is not sent with the old one.
	asked := b.post(at, page.filled("template", "7", "text", "mine")...).is(http.StatusUnprocessableEntity).has(
		"The text you chose was not in the message yet. It is now: read it, then continue",
		"Your own text, 4 characters, is kept.")
	if text := asked.page().Find("#text").Text(); text != "Dear ##Name##,\ncome on ##Date##." {
		t.Errorf("the text is %q", text)
	}
	back := b.post(at, asked.filled("do", "own")...).is(200)
	if text := back.page().Find("#text").Text(); text != "mine" || back.chosen("template") != "" {
		t.Errorf("brought back is %q", text)
	}
	got := b.post(at, page.filled("template", "7", "text", "mine", "do", "template")...).is(200)
	if text := got.page().Find("#text").Text(); text != "Dear ##Name##,\ncome on ##Date##." ||
		got.chosen("field:name") != "1" || got.chosen("field:date") != "2" {
		t.Errorf("the text is %q, columns %q and %q", text, got.chosen("field:name"), got.chosen("field:date"))
	}
	b.post(at, got.filled()...).is(http.StatusSeeOther)
	if o := s.list(at).Order; o.Template != "Appointment" {
		t.Errorf("kept is %+v", o)
	}
}

func TestReadItAnotherWay(t *testing.T) {
	s := newSite(t)
	s.clinic()
	b := s.as(s.boss)
	at := b.uploads("list.csv", "Tel;Name\n08031234501;\xc0da\n08031234502;Bola\n") + "/message"
	page := b.get(at).is(200).has("Windows-1252", "Semicolon", "Row 1", "Àda")
	got := b.post(at, page.filled("text", "Dear ##Name##", "encoding", "Windows-1251", "do", "read")...).is(200).has("Аda")
	if got.page().Find("#text").Text() != "Dear ##Name##" || got.chosen("field:name") != "1" ||
		got.page().Find("#reading[open]").Length() != 1 {
		t.Error("the text or its columns were lost, or the details are closed")
	}
	got = b.post(at, got.filled("header", "-1", "do", "read")...).is(200).has(
		"The first row looks like data, not column names", "Column A")
	if l := s.list(at); l.Reading.HeaderRow != -1 || l.Reading.Encoding != "Windows-1251" {
		t.Errorf("%+v", l.Reading)
	}
	got = b.post(at, got.filled("delimiter", "a", "do", "read")...).is(http.StatusUnprocessableEntity)
	if got.text("#delimiter-error") == "" || got.page().Find("#reading[open]").Length() != 1 {
		t.Error("what is wrong cannot be seen")
	}
	b.post(at, got.filled("delimiter", ";", "encoding", "EBCDIC", "do", "read")...).is(
		http.StatusUnprocessableEntity).count("#encoding-error", 1)
}

func TestSheetsOfAWorkbook(t *testing.T) {
	s := newSite(t)
	s.clinic()
	b := s.as(s.boss)
	book := writeBook(t, func(f *excelize.File) {
		fill(t, f, "Sheet1", []string{"Notes"}, []string{"nothing here"})
		if _, err := f.NewSheet("June"); err != nil {
			t.Fatal(err)
		}
		fill(t, f, "June", []string{"Phone", "Name"}, []string{"08031234501", "Ada"})
	})
	at := b.uploads("book.xlsx", book) + "/message"
	page := b.get(at).is(200).has("The selected file has 2 sheets. Choose the one to use.", "Include hidden rows")
	page.count("#encoding, #delimiter", 0)
	if page.chosen("sheet") != "Sheet1" {
		t.Errorf("chosen is %q", page.chosen("sheet"))
	}
	got := b.post(at, page.filled("sheet", "June", "do", "read")...).is(200)
	if got.chosen("sheet") != "June" || got.chosen("phone") != "0" ||
		!strings.Contains(got.text("#phone-hint"), "08031234501") {
		t.Errorf("sheet %q, phone %q", got.chosen("sheet"), got.chosen("phone"))
	}
}

// A session that ended while somebody wrote does not take the message away.
func TestAMessageIsKeptOverSigningIn(t *testing.T) {
	s := newSite(t)
	s.clinic()
	s.real()
	b := s.as(s.boss)
	at := b.uploads("list.csv", cleanList) + "/message"
	page := b.get(at)
	s.clock.pass(3 * time.Hour)
	to := b.post(at, page.filled("text", "Dear ##First name##, hello")...).is(http.StatusSeeOther).header.Get("Location")
	if !strings.Contains(to, "why=timeout") {
		t.Fatalf("it leads to %q", to)
	}
	next := b.get(to).attr("input[name=next]", "value")
	if !strings.HasPrefix(next, at+"?kept=") {
		t.Fatalf("after signing in it goes to %q", next)
	}
	got := s.as(s.boss).get(next).is(200)
	if text := got.page().Find("#text").Text(); text != "Dear ##First name##, hello" ||
		got.chosen("field:firstname") != "1" {
		t.Errorf("the text is %q", text)
	}
}

func TestAListChangedInAnotherWindow(t *testing.T) {
	s := newSite(t)
	s.clinic()
	b := s.as(s.boss)
	at := b.uploads("list.csv", cleanList) + "/message"
	page := b.get(at)
	b.post(at, page.filled("header", "-1", "do", "read")...).is(200)
	got := b.post(at, page.filled("text", "mine")...).is(http.StatusConflict).has(
		"You changed this list in another window. Review it, then check it again")
	if got.page().Find("#text").Text() != "mine" {
		t.Error("the text was lost")
	}
	s.leads(got)
}

// Without scripts a file goes up with the message that is written beside it, and
// where nothing about the two is left to ask, the next page is the confirmation.
func TestAFileAndItsMessageInOnePress(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	s.templates(a.ID)
	s.importer()
	b := s.as(s.boss)
	const list = "Phone,Name,Date\n0803123450%d,Ada,Monday\n"
	file := func(n int) string { return fmt.Sprintf(list, n) }
	page := b.get("/new").is(200)
	sent := func(name, content string, typed ...string) string {
		return b.sends(page, name, content, append(typed, "go_on", "yes")...).is(http.StatusSeeOther).header.Get("Location")
	}
	for what, to := range map[string]string{
		"own text":   sent("a.csv", file(1), "text", "Dear ##name##, come on ##DATE##."),
		"a template": sent("b.csv", file(2), "template", "7"),
	} {
		if !regexp.MustCompile(confirmed).MatchString(to) {
			t.Errorf("%s leads to %q", what, to)
			continue
		}
		b.get(to).is(200).has("Ada", "Monday")
	}
	for what, c := range map[string]struct{ content, text, template string }{
		"nothing written":        {file(3), "", ""},
		"a column that is not":   {file(4), "Dear ##surname##", ""},
		"own text and template":  {file(5), "mine", "7"},
		"two columns of numbers": {"Phone,Mobile,Name\n08031234506,08031234507,Ada\n", "Dear ##name##", ""},
		"no such template":       {file(8), "", "99"},
	} {
		to := sent(what+".csv", c.content, "text", c.text, "template", c.template)
		if !strings.Contains(to, "/message") {
			t.Errorf("%s leads to %q", what, to)
			continue
		}
		if c.text != "" {
			b.get(to).is(200).has(c.text)
		}
	}
	// Without the press the message goes to its page, as with scripts.
	if to := b.sends(page, "i.csv", file(9), "text", "Hello").is(http.StatusSeeOther).header.Get("Location"); !strings.Contains(
		to, "/message") {
		t.Errorf("Upload alone leads to %q", to)
	}
}

// What is read before it is sent can only be the template's text, where nothing
// else was written.
func TestAChosenTemplateGoesIntoAnEmptyMessage(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	s.templates(a.ID)
	s.importer()
	b := s.as(s.boss)
	at := b.uploads("list.csv", "Phone,Name,Date\n08031234501,Ada,Monday\n") + "/message"
	b.post(at, b.get(at).filled("template", "7", "text", " ")...).is(http.StatusSeeOther)
	if o := s.list(at).Order; o.Template != "Appointment" || o.Text != "Dear ##Name##,\ncome on ##Date##." {
		t.Errorf("kept is %+v", o)
	}
	other := b.uploads("other.csv", "Phone,Name\n08031234502,Ada\n") + "/message"
	b.post(other, b.get(other).filled("template", "7", "text", "")...).is(http.StatusUnprocessableEntity).has(
		"The text you chose was not in the message yet. It is now: read it, then continue")
}
