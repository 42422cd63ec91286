package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"smsdesk/internal/lists"
	"smsdesk/internal/sms"
)

// importer works on lists until the test ends.
func (s *site) importer() {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- lists.NewImporter(s.desk.Lists, s.db).Run(ctx) }()
	s.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Errorf("importer: %v", err)
		}
	})
}

// parcelOf is a form with a file, as a browser sends it.
func parcelOf(t *testing.T, fields []string, name, content string) (body *bytes.Buffer, contentType string) {
	t.Helper()
	body = &bytes.Buffer{}
	w := multipart.NewWriter(body)
	for i := 0; i+1 < len(fields); i += 2 {
		if err := w.WriteField(fields[i], fields[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	part, err := w.CreateFormFile("file", name)
	if err == nil {
		_, err = io.WriteString(part, content)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return body, w.FormDataContentType()
}

// sends posts a file with the fields of the form on a page.
func (b *browser) sends(page answer, name, content string, pairs ...string) answer {
	b.site.t.Helper()
	fields := []string{}
	for _, f := range []string{"token", "account", "replaces"} {
		fields = append(fields, f, page.attr("#upload [name="+f+"], #compose [name="+f+"]", "value"))
	}
	body, contentType := parcelOf(b.site.t, append(fields, pairs...), name, content)
	r := httptest.NewRequest(http.MethodPost, "/new/list", body)
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return b.send(r)
}

var uploadedTo = regexp.MustCompile(`^/lists/([0-9a-f]{32})/message$`)

// uploads sends a file that is taken, and returns the address of its list.
func (b *browser) uploads(name, content string) string {
	b.site.t.Helper()
	got := b.sends(b.get("/new/list").is(200), name, content).is(http.StatusSeeOther)
	found := uploadedTo.FindStringSubmatch(got.header.Get("Location"))
	if found == nil {
		b.site.t.Fatalf("the upload leads to %q", got.header.Get("Location"))
	}
	return "/lists/" + found[1]
}

func (s *site) list(address string) sms.List {
	s.t.Helper()
	l, err := s.db.List(s.t.Context(), strings.Split(address, "/")[2])
	s.must(err)
	return l
}

// filled is the form of the message page with what a person fills in.
func (a answer) filled(pairs ...string) []string {
	a.t.Helper()
	form := a.page().Find("form#list")
	given := map[string]bool{}
	for i := 0; i+1 < len(pairs); i += 2 {
		given[pairs[i]] = true
	}
	fields := pairs
	for _, name := range []string{"version", "name", "template_in", "own"} {
		if !given[name] {
			fields = append(fields, name, form.Find("input[name="+name+"]").AttrOr("value", ""))
		}
	}
	if !given["text"] {
		fields = append(fields, "text", form.Find("[name=text]").Text())
	}
	if field := form.Find("[name=numbers]"); !given["numbers"] && field.Length() > 0 {
		fields = append(fields, "numbers", strings.TrimPrefix(field.Text(), "\n"), "list", form.Find("[name=list]").AttrOr("value", ""))
	}
	for _, name := range []string{"phone", "sender_id", "message", "template", "sheet", "encoding", "delimiter",
		"header"} {
		chosen := form.Find("select[name=" + name + "] option[selected]")
		if !given[name] && form.Find("select[name="+name+"]").Length() > 0 {
			fields = append(fields, name, chosen.AttrOr("value", ""))
		}
	}
	return fields
}

const (
	cleanList = "Phone,First name,Date\n08031234501,Ada,3 June\n08031234502,Bola,4 June\n08031234503,Chidi,5 June\n"
	cleanText = "Dear ##first_name##, see you on ##Date##."
)

// A clean file is four pages: New message, Message, Confirm, the campaign.
func TestACleanListIsThreePages(t *testing.T) {
	s := newSite(t)
	s.clinic()
	s.importer()
	b := s.as(s.boss)
	start := b.get("/new").is(200)
	s.leads(start)
	s.leads(b.get("/new/list").is(200).has("Drop a file here, or choose one", "08035550101", "Download example (XLSX)"))
	got := b.sends(start, `june-list.csv`, cleanList).is(http.StatusSeeOther)
	message := got.header.Get("Location")
	if !uploadedTo.MatchString(message) {
		t.Fatalf("the upload leads to %q", message)
	}
	page := b.get(message).is(200).has("june-list.csv", "Column with the phone numbers",
		"e.g. 08031234501, 08031234502, 08031234503", "Row 2 as the recipient sees it")
	s.leads(page)
	if phone, sender := page.text("#phone option[selected]"), page.text("#sender_id option[selected]"); phone != "Phone" ||
		sender != "CLINIC" {
		t.Errorf("chosen are %q and %q", phone, sender)
	}
	got = b.post(message, page.filled("text", cleanText, "do", "check")...).is(http.StatusSeeOther)
	confirm := got.header.Get("Location")
	if !regexp.MustCompile(`^/campaigns/\d+/confirm$`).MatchString(confirm) {
		t.Fatalf("the check leads to %q, list %+v", confirm, s.list(message))
	}
	b.get(confirm).is(200).has("Send 3 messages now")
	b.get(strings.Replace(message, "/message", "/check", 1)).to(confirm)
	b.get(message).to(confirm)
	messages := s.messages(s.campaign(s.list(message).CampaignID))
	if len(messages) != 3 || messages[0].Text != "Dear Ada, see you on 3 June." ||
		messages[2].Text != "Dear Chidi, see you on 5 June." {
		t.Errorf("%+v", messages)
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	s := newSite(t)
	s.clinic()
	b := s.as(s.boss)
	for name, tc := range map[string]struct{ file, content, sentence string }{
		"nothing chosen": {"", "", "Select a file to upload"},
		"wrong type":     {"list.csv", "%PDF-1.7\n1 0 obj", "The selected file must be a CSV, TSV, TXT, XLSX or ODS. Yours is a PDF"},
		"empty":          {"list.csv", "", "The selected file is empty"},
		"no rows":        {"list.csv", "phone,name\n", "The selected file has column names but no rows. Add at least one row"},
	} {
		got := b.sends(b.get("/new/list"), tc.file, tc.content).is(http.StatusUnprocessableEntity)
		s.leads(got)
		if title := got.text("title"); !strings.HasPrefix(title, "Error: ") {
			t.Errorf("%s: the title is %q", name, title)
		}
		if summary, field := got.text(`#errors a[href="#file"]`), got.text("#file-error"); summary != tc.sentence ||
			field != "Error: "+tc.sentence {
			t.Errorf("%s: %q in the summary, %q at the field", name, summary, field)
		}
		if got.attr("#file", "aria-invalid") != "true" ||
			!strings.Contains(got.attr("#file", "aria-describedby"), "file-error") {
			t.Errorf("%s: the field does not say that it is wrong", name)
		}
	}
	b.post("/new/list").is(http.StatusUnprocessableEntity).has("Select a file to upload")
	b.get("/new/list").lacks(`id="lists"`)
	s.noUploads()
}

// noUploads checks that nothing is left in the data folder.
func (s *site) noUploads() {
	s.t.Helper()
	left, err := filepath.Glob(filepath.Join(filepath.Dir(s.db.ListFolder("x")), "*"))
	s.must(err)
	if len(left) > 0 {
		s.t.Errorf("left behind: %v", left)
	}
}

// counted is a body that counts what is read of it.
type counted struct {
	io.Reader
	n int
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n += n
	return n, err
}

// A file over the limit is refused before it comes in where its size is told,
// and at the limit where it is not.
func TestFilesThatAreTooLarge(t *testing.T) {
	s := newSite(t)
	s.clinic()
	s.must(s.db.PutSetting(t.Context(), sms.SettingMaxList, fmt.Sprint(1<<20)))
	b := s.as(s.boss)
	page := b.get("/new/list").is(200).has("up to 1MB")
	if most := page.attr("#file", "data-upload"); most != "1048576" {
		t.Errorf("the script is told %q", most)
	}
	fields := []string{"token", page.attr("main [name=token]", "value"), "account",
		page.attr("main [name=account]", "value")}
	content := "phone\n" + strings.Repeat("08031234567\n", 1<<18)
	for name, tc := range map[string]struct {
		told     bool
		fields   []string
		most     int
		sentence string
	}{
		"its length is told": {true, fields, 64 << 10,
			"The selected file must be smaller than 1MB. Yours is 3MB. Remove sheets, pictures and columns you do not need"},
		"its length is not told": {false, fields, 2 << 20,
			"The selected file must be smaller than 1MB. Yours is larger. Remove sheets, pictures and columns you do not need"},
		"the script measured it before": {false, append([]string{"size", "325058560"}, fields...), 64 << 10,
			"The selected file must be smaller than 1MB. Yours is 310MB. Remove sheets, pictures and columns you do not need"},
	} {
		form, contentType := parcelOf(t, tc.fields, "big.csv", content)
		length := int64(form.Len())
		body := &counted{Reader: form}
		r := httptest.NewRequest(http.MethodPost, "/new/list", body)
		if r.ContentLength = -1; tc.told {
			r.ContentLength = length
		}
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		got := b.send(r).is(http.StatusRequestEntityTooLarge)
		if got.text("#file-error") != "Error: "+tc.sentence {
			t.Errorf("%s: %q", name, got.text("#file-error"))
		}
		if body.n > tc.most {
			t.Errorf("%s: %d bytes were read of it", name, body.n)
		}
		if got.header.Get("Connection") != "close" {
			t.Errorf("%s: the connection stays, with the rest of the file in it", name)
		}
	}
	s.noUploads()
}

// Who may not, and whoever comes from elsewhere, is told before the file.
func TestUploadAsksWhoBeforeTheFile(t *testing.T) {
	s := newSite(t)
	s.clinic()
	for name, tc := range map[string]struct {
		browser *browser
		site    string
		status  int
	}{
		"a viewer":     {s.as(s.hire("v@example.com", sms.Viewer)), "same-origin", http.StatusForbidden},
		"a stranger":   {s.browser(), "same-origin", http.StatusSeeOther},
		"another site": {s.as(s.boss), "cross-site", http.StatusForbidden},
	} {
		form, contentType := parcelOf(t, nil, "list.csv", cleanList)
		body := &counted{Reader: form}
		r := httptest.NewRequest(http.MethodPost, "/new/list", body)
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Sec-Fetch-Site", tc.site)
		if tc.browser.send(r).is(tc.status); body.n > 0 {
			t.Errorf("%s: %d bytes of the file were read", name, body.n)
		}
	}
	s.noUploads()
}

// A body that breaks off is nobody's fault of ours and leaves nothing.
func TestUploadThatBreaksOff(t *testing.T) {
	s := newSite(t)
	s.clinic()
	b := s.as(s.boss)
	page := b.get("/new/list")
	form, contentType := parcelOf(t, []string{"token", page.attr("main [name=token]", "value"), "account",
		page.attr("main [name=account]", "value")}, "list.csv", cleanList)
	for _, cut := range []int{10, 200, form.Len() - 60} {
		r := httptest.NewRequest(http.MethodPost, "/new/list",
			io.MultiReader(bytes.NewReader(form.Bytes()[:cut]), brokenLine{}))
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		b.send(r).is(http.StatusBadRequest).has("We could not read the form")
	}
	if strings.Contains(s.log.String(), "level=ERROR") {
		t.Errorf("%s", s.log.String())
	}
	s.noUploads()
}

type brokenLine struct{}

func (brokenLine) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestUploadPressedTwiceIsOneList(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	b := s.as(s.boss)
	page := b.get("/new/list")
	first := b.sends(page, "list.csv", cleanList).is(http.StatusSeeOther).header.Get("Location")
	if second := b.sends(page, "list.csv", cleanList).is(http.StatusSeeOther).header.Get("Location"); second != first {
		t.Errorf("the second press leads to %q", second)
	}
	if other := b.sends(page, "other.csv", cleanList).is(http.StatusSeeOther).header.Get("Location"); other == first {
		t.Error("another file leads to the first one's list")
	}
	all, err := s.db.Lists(t.Context(), a.ID, s.boss.ID, 10)
	if s.must(err); len(all) != 2 {
		t.Errorf("%d lists", len(all))
	}
}

func TestUploadForAnotherAccountIsNotTaken(t *testing.T) {
	s := newSite(t)
	s.clinic()
	b := s.as(s.boss)
	page := b.get("/new/list")
	other := s.account(sms.Account{Name: "School"})
	b.post("/account", "account", fmt.Sprint(other.ID), "next", "/new").is(http.StatusSeeOther)
	b.sends(page, "list.csv", cleanList).is(http.StatusUnprocessableEntity).has(
		"You have switched to another account, School. Choose the file again")
	s.noUploads()
}

// The page's script gets where to go as a header, and the whole form with what
// is wrong.
func TestUploadByScript(t *testing.T) {
	s := newSite(t)
	s.clinic()
	b := s.as(s.boss)
	page := b.get("/new")
	send := func(content string) answer {
		form, contentType := parcelOf(t, []string{"token", page.attr("main [name=token]", "value"), "account",
			page.attr("main [name=account]", "value")}, "list.csv", content)
		r := httptest.NewRequest(http.MethodPost, "/new/list", form)
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("HX-Request", "true")
		return b.send(r)
	}
	got := send("%PDF-1.7").is(http.StatusUnprocessableEntity).count("form#upload", 1)
	if got.text("#upload-box #file-error") == "" || got.attr("#upload [name=token]",
		"value") == page.attr("#compose [name=token]", "value") {
		t.Error("the form comes without the sentence or with a token that was used")
	}
	if to := send(cleanList).is(http.StatusNoContent).header.Get("HX-Redirect"); !uploadedTo.MatchString(to) {
		t.Errorf("it leads to %q", to)
	}
	b.post("/signout")
	if to := send(cleanList).is(http.StatusUnauthorized).header.Get("HX-Redirect"); !strings.HasPrefix(to,
		"/signin?next=%2Fnew%2Flist") {
		t.Errorf("signed out it leads to %q", to)
	}
}

func TestListsOfAPerson(t *testing.T) {
	s := newSite(t)
	s.clinic()
	b := s.as(s.boss)
	at := b.uploads("one\u202e & <b>.csv", cleanList)
	got := b.get("/new/list").is(200).has("one & <b>.csv", "No message yet", "Continue",
		"deleted 24 hours after the last change")
	s.leads(got)
	if got.attr("#lists a", "href") != at+"/message" {
		t.Errorf("it goes on at %q", got.attr("#lists a", "href"))
	}
	s.leads(b.get(at + "/delete").is(200).has("Delete this list?"))
	b.post(at + "/delete").to("/new/list?done=listdeleted")
	b.get("/new/list?done=listdeleted").is(200).has("List deleted.").count("#lists", 0)
	b.get(at + "/message").is(http.StatusNotFound)
	s.noUploads()
}

// A list is its person's own, whatever anybody else's role is.
func TestListsOfOthersAreNotThere(t *testing.T) {
	s := newSite(t)
	s.clinic()
	sender := s.hire("sender@example.com", sms.Sender)
	at := s.as(sender).uploads("list.csv", cleanList)
	b := s.as(s.boss)
	for _, page := range []string{"/message", "/check", "/rejected.xlsx", "/rejected.csv", "/delete", "/make", "/hidden"} {
		b.get(at + page).is(http.StatusNotFound)
	}
	for _, page := range []string{"/message", "/preview", "/make", "/hidden", "/delete"} {
		b.post(at+page, "text", "x").is(http.StatusNotFound)
	}
	uid := strings.TrimPrefix(at, "/lists/")
	b.get("/new/list?replaces=" + uid).is(http.StatusNotFound)
	b.get("/new/list").is(200).count("#lists", 0)
	if l := s.list(at); l.State != sms.ListUploaded {
		t.Errorf("the list is %s", l.State)
	}
	b.get("/lists/x/message").is(http.StatusNotFound)
	b.get("/lists/" + strings.Repeat("0", 32) + "/check").is(http.StatusNotFound)
}

func TestExamples(t *testing.T) {
	s := newSite(t)
	s.clinic()
	b := s.as(s.boss)
	got := b.get("/new/list/example.csv").is(200)
	if got.header.Get("Content-Disposition") != "attachment; filename=example.csv" ||
		!strings.Contains(got.body, "08035550101,Ada Obi,3 June") &&
			!strings.Contains(got.body, `"08035550101","Ada Obi","3 June"`) {
		t.Errorf("%v %q", got.header, got.body)
	}
	got = b.get("/new/list/example.xlsx").is(200)
	book, err := excelize.OpenReader(strings.NewReader(got.body))
	s.must(err)
	defer func() { _ = book.Close() }()
	if rows, err := book.GetRows(book.GetSheetName(0)); err != nil || len(rows) != 4 || rows[0][0] != "phone" ||
		rows[1][0] != "08035550101" {
		t.Errorf("%v, %v", rows, err)
	}
	s.importer()
	at := b.uploads("list.csv", cleanList)
	b.post(at+"/message", b.get(at+"/message").filled("text", cleanText)...).is(http.StatusSeeOther)
	uid := strings.TrimPrefix(at, "/lists/")
	page := b.get("/new/list?replaces="+uid).is(200).has("Upload a new file",
		"Keeps the message and column settings from list.csv.", "first_name")
	if got := b.get(page.attr("#example-csv", "href")).is(200); !strings.Contains(got.body, "first_name") {
		t.Errorf("the example has not the text's columns: %q", got.body)
	}
}

// With a new file in the place of an old one that fits, nothing is asked.
func TestSendAgainWithANewFileSkipsTheMessage(t *testing.T) {
	s := newSite(t)
	s.clinic()
	s.importer()
	b := s.as(s.boss)
	at := b.uploads("june.csv", cleanList)
	b.post(at+"/message", b.get(at+"/message").filled("text", cleanText)...).is(http.StatusSeeOther)
	again := b.get("/new/list?replaces=" + strings.TrimPrefix(at, "/lists/")).is(200)
	got := b.sends(again, "july.csv", "Date,First name,Phone\n1 July,Emeka,08031234999\n").is(http.StatusSeeOther)
	if to := got.header.Get("Location"); !strings.HasSuffix(to, "/confirm") {
		t.Fatalf("it leads to %q", to)
	}
	b.get(got.header.Get("Location")).is(200).has("Send 1 message now")
	got = b.sends(b.get("/new/list?replaces="+strings.TrimPrefix(at, "/lists/")), "odd.csv",
		"Phone,Given\n08031234999,Emeka\n").is(http.StatusSeeOther)
	if to := got.header.Get("Location"); !uploadedTo.MatchString(to) {
		t.Fatalf("a file that does not fit leads to %q", to)
	}
	if text := b.get(got.header.Get("Location")).is(200).text("#text"); text != cleanText {
		t.Errorf("the text is %q", text)
	}
}

func writeBook(t *testing.T, change func(*excelize.File)) string {
	t.Helper()
	book := excelize.NewFile()
	defer func() { _ = book.Close() }()
	change(book)
	var out bytes.Buffer
	if _, err := book.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func fill(t *testing.T, book *excelize.File, sheet string, rows ...[]string) {
	t.Helper()
	for i, row := range rows {
		for j, value := range row {
			cell, err := excelize.CoordinatesToCellName(j+1, i+1)
			if err == nil {
				err = book.SetCellStr(sheet, cell, value)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}
