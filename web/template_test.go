package web

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"smsdesk/internal/sms"
	"smsdesk/views"
)

// templates keeps what the provider offers, as the Reader does.
func (s *site) templates(account int64) {
	s.t.Helper()
	list, err := s.provider.Templates(s.t.Context())
	s.must(err)
	s.must(s.db.PutTemplates(s.t.Context(), account, list, s.clock.now().UnixMilli()))
}

func TestComposeOffersOnlyTemplatesThatMayBeUsed(t *testing.T) {
	s := newSite(t)
	b := s.as(s.boss)
	a := s.account(sms.Account{Name: "Clinic"})
	s.know(a.ID, "CLINIC")
	b.get("/new").is(200).count("#template, #use-template", 0)
	s.templates(a.ID)
	got := b.get("/new").is(200)
	if options := got.text("select#template"); options != "Own textAppointment" {
		t.Errorf("offered are %q", options)
	}
	if got.attr("#use-template", "formaction") != "/new/template" ||
		got.attr("#template", "hx-post") != "/new/template" {
		t.Error("the button leads elsewhere")
	}
	// The Enter key presses the first button, which must not replace the text.
	first := got.page().Find("form#compose button").First()
	if first.Text() != "Continue" || first.AttrOr("formaction", "") != "" {
		t.Errorf("the first button is %q", first.Text())
	}
}

func TestATemplateFillsTheTextAndKeepsTheRest(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	s.templates(a.ID)
	b := s.as(s.boss)
	page := b.get("/new")
	if page.page().Find("#marks[hidden]").Length() != 1 {
		t.Error("fields for marks stand on an empty form")
	}
	got := b.post("/new/template", page.form("numbers", "08030000101", "text", "mine", "sender_id", "SCHOOL", "name",
		"June", "flash", "yes", "template", "7", "field:date", "Monday")...).is(200)
	s.leads(got)
	form := got.page().Find("form#compose")
	if text := form.Find("[name=text]").Text(); text != "Dear ##Name##,\ncome on ##Date##." {
		t.Errorf("the text is %q", text)
	}
	if form.Find("[name=numbers]").Text() != "08030000101" ||
		form.Find("#sender_id option[selected]").AttrOr("value", "") != "SCHOOL" ||
		form.Find("[name=name]").AttrOr("value", "") != "June" ||
		form.Find("[name=flash][checked]").Length() != 1 ||
		form.Find("[name=token]").AttrOr("value", "") != page.attr("#compose [name=token]", "value") ||
		form.Find("#template option[selected]").Text() != "Appointment" {
		t.Error("something typed was lost")
	}
	labels := form.Find("#marks label").Map(func(_ int, l *goquery.Selection) string { return l.Text() })
	if strings.Join(labels, "|") != "Value for ##Name##|Value for ##Date##" ||
		form.Find("[name='field:date']").AttrOr("value", "") != "Monday" || form.Find("#marks[hidden]").Length() != 0 {
		t.Errorf("the fields are %q", labels)
	}
	if preview := got.text("#preview .bubble"); !strings.Contains(preview, "Dear ##Name##") ||
		!strings.Contains(preview, "come on Monday.") {
		t.Errorf("the preview is %q", preview)
	}

	send := func(pairs ...string) answer {
		return b.post("/new", got.form(append([]string{"sender_id", "SCHOOL", "numbers", "08030000101"}, pairs...)...)...)
	}
	wrong := send("field:date", "Monday").is(422)
	s.leads(wrong)
	if said := wrong.text(
		`#errors a[href="#field%3Aname"]`); said != "Enter a value for ##Name##, or upload a list with a column for it" {
		t.Errorf("the summary says %q", said)
	}
	if wrong.page().Find("[name='field:date']").AttrOr("value", "") != "Monday" ||
		wrong.page().Find("[id='field:name'][aria-invalid]").Length() != 1 {
		t.Error("the field is not marked, or the other one is lost")
	}
	send("field:date", "Monday", "field:name", "all").is(303)
	rows := s.campaigns(a.ID)
	if len(rows) != 1 || rows[0].Campaign.Text != "Dear all,\ncome on Monday." {
		t.Errorf("%+v", rows)
	}
	// The same form with another word in a field is another message.
	send("field:date", "Monday", "field:name", "everybody").is(303)
	if rows := s.campaigns(a.ID); len(rows) != 2 {
		t.Errorf("%d campaigns", len(rows))
	}
}

func TestATemplateThatCannotBeUsed(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	s.templates(a.ID)
	b := s.as(s.boss)
	page := b.get("/new")
	for id, sentence := range map[string]string{
		"8":  "This template can no longer be used. Choose another, or write your own text",
		"99": "This template can no longer be used. Choose another, or write your own text",
		"x":  "This template can no longer be used. Choose another, or write your own text"} {
		got := b.post("/new/template", page.form("text", "mine", "template", id)...).is(422)
		if got.text(`#errors a[href="#template"]`) != sentence || got.page().Find("[name=text]").Text() != "mine" {
			t.Errorf("%q: %q", id, got.text("#errors"))
		}
	}
	b.get("/new/template").to("/new")
	s.as(s.hire("v@example.com", sms.Viewer)).post("/new/template", "template", "7").is(403)
}

// A browser that renews the form in place shows nothing of an error answer.
func TestATemplateInPlace(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	s.templates(a.ID)
	b := s.as(s.boss)
	page := b.get("/new")
	got := b.postFragment("/new/template", page.form("template", "8")...).is(200)
	if !strings.Contains(got.text("#writing #template-error"), "This template can no longer be used") {
		t.Error("nothing is said")
	}
	got = b.postFragment("/new/parts", "text", "Hi ##Name##, ##name## and ##Day##", "field:name", "Ada").is(200)
	if n := got.page().Find("#marks input").Length(); n != 2 ||
		!strings.Contains(got.text(".bubble"), "Hi Ada, Ada and ##Day##") {
		t.Errorf("%d fields, %q", n, got.text(".bubble"))
	}
	if got = b.postFragment("/new/parts", "text", strings.Repeat("##x##", 3)+marksUpTo(60)).is(200); got.page().Find(
		"#marks input").Length() != 20 {
		t.Error("a careless text makes a page of fields")
	}
}

func (b *browser) postFragment(path string, pairs ...string) answer {
	b.site.t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(values(pairs).Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("HX-Request", "true")
	return b.send(r)
}

func marksUpTo(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("##m" + strings.Repeat("i", i) + "##")
	}
	return b.String()
}

func TestRecordsAreReadAgain(t *testing.T) {
	s := newSite(t)
	a := s.account(sms.Account{Name: "Clinic"})
	b := s.as(s.boss)
	path := views.SectionPath(a.ID, views.SectionAdvanced)
	got := b.get(path).is(200).has("From the provider", "Not refreshed yet.")
	if got.attr("form#refresh", "action") != views.AccountPath(a.ID)+"/refresh" {
		t.Error("the button leads elsewhere")
	}
	b.post(views.AccountPath(a.ID) + "/refresh").to(views.SectionPath(a.ID, views.SectionConnection) + "?done=refreshed")
	b.post(views.AccountPath(a.ID)+"/refresh", "section", "advanced").to(path + "?done=refreshed")
	b.get(path+"?done=refreshed").is(200).has("3 (1 usable)", "Refreshed today at",
		"refreshed").count("#templates-failed", 0)
	s.must(s.db.MarkRecords(t.Context(), a.ID, sms.RecordTemplates, "API access is turned off for this account"))
	b.get(path).has("We could not read the templates", "API access is turned off for this account",
		"3 (1 usable)")
	s.provider.err = errors.New("We cannot reach the provider")
	b.post(views.AccountPath(a.ID)+"/refresh", "section", "advanced").to(path)
	b.get(views.AccountPath(a.ID)).has("Not connected", "We cannot reach the provider")
	b.get(path).has("Refreshed today at")
	b.post(views.AccountsPath + "/99/refresh").is(404)
	s.as(s.hire("s@example.com", sms.Sender)).post(views.AccountPath(a.ID) + "/refresh").is(403)
}
