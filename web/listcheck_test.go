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

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
)

const confirmed = `^/campaigns/\d+/confirm$`

// checks uploads a list, writes its message and returns its check page, which
// must be where it leads to.
func (b *browser) checks(name, content, text string) (at string, page answer) {
	b.site.t.Helper()
	at = b.uploads(name, content)
	got := b.post(at+"/message", b.get(at+"/message").filled("text", text)...).to(at + "/check")
	return at, b.get(got.header.Get("Location")).is(200)
}

func dirtyList(n int) string {
	var list strings.Builder
	list.WriteString("phone number,name,date\n")
	for i := range n {
		number, name, date := fmt.Sprintf("0803123%04d", i), "Ada", "12 June"
		switch i {
		case 2:
			number = "080312345"
		case 4:
			number = "2.34803E+12"
		case 6:
			name = ""
		case 8:
			date = strings.Repeat("Thursday the thirteenth of June ", 40)
		case 10:
			number = "0803 123 4000"
		case 12, 14:
			number = "08031299999"
		}
		fmt.Fprintf(&list, "%s,%s,%s\n", number, name, date)
	}
	return list.String()
}

func TestCheckOfADirtyList(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	s.importer()
	_, _, err := s.desk.BlockNumbers(t.Context(), s.boss, desk.BlockOrder{AccountID: a.ID, Numbers: "08031230019"})
	s.must(err)
	b := s.as(s.boss)
	at, page := b.checks("june.csv", dirtyList(20), "Dear ##name##, come on ##date##.")
	s.leads(page)
	page.has("4 of 20 rows need fixing", "june.csv", "4 of 20 rows to fix", "1 row is a duplicate.",
		"1 number is blocked. Nothing will be sent to it.", "We fixed 1 phone number. Removed spaces (1)",
		"14 messages are ready.", "2 rows are left out.")
	todo := map[string]string{"fill in the missing values in 1 row": "missing", "fix 2 phone numbers": "number",
		"change the message in 1 row": "text"}
	for words, kind := range todo {
		if href := page.attr(fmt.Sprintf(`#verdict a:contains("%s")`, words), "href"); href != at+"/check?kind="+kind+
			"#rows" {
			t.Errorf("%q leads to %q", words, href)
		}
	}
	for row, cell := range map[string]struct {
		column int
		fault  string
		given  string
	}{
		"4":  {1, "Too short: has 9 digits, needs 11", "080312345"},
		"6":  {1, "Excel has shortened this number (2.34803E+12), so its last digits are lost. Set the column to Text and re-enter the number", "2.34803E+12"},
		"8":  {2, "Missing: enter a name", ""},
		"10": {3, `Shorten "date"`, "Thursday the thirteenth"},
	} {
		cells := page.page().Find("#row-" + row).Children()
		if cells.First().Text() != row || !strings.Contains(cells.Eq(cell.column).Find(".cell-err b").Text(), cell.fault) ||
			!strings.Contains(cells.Eq(cell.column).Text(), cell.given) || cells.Find(".cell-err").Length() != 1 {
			t.Errorf("row %s: %q", row, cells.Text())
		}
	}
	got := b.get(at + "/check?kind=repaired").is(200).has("1 phone number that we fixed")
	if del, ins := got.text("#row-12 del"), got.text("#row-12 ins"); del != "0803 123 4000" || ins != "08031234000" {
		t.Errorf("repaired from %q to %q", del, ins)
	}
	b.get(at+"/check?kind=repeat").is(200).has("1 row that repeats an earlier one", "Same number and message as row 14")
	b.get(at + "/check?kind=nonsense").is(200).has("4 of 20 rows to fix")

	refused := b.post(at+"/make", "version", page.attr("#make [name=version]", "value")).is(http.StatusUnprocessableEntity)
	refused.has("4 rows have errors. Fix them and upload the list again, or leave them out")
	made := b.post(at+"/make", "version", page.attr("#make [name=version]", "value"), "leave_out",
		page.attr("#make [name=leave_out]", "value")).is(http.StatusSeeOther)
	if to := made.header.Get("Location"); !regexp.MustCompile(confirmed).MatchString(to) {
		t.Fatalf("it leads to %q", to)
	}
	b.get(made.header.Get("Location")).is(200).has("Send 14 messages now")
	if again := b.post(at+"/make", "version", "1", "leave_out", "yes").is(http.StatusSeeOther).header.Get(
		"Location"); again != made.header.Get("Location") {
		t.Errorf("pressed again it leads to %q", again)
	}
}

func TestDownloadOfTheRowsToFix(t *testing.T) {
	s := newSite(t)
	s.clinic()
	s.importer()
	b := s.as(s.boss)
	at, page := b.checks(`ju"ne é.csv`, dirtyList(20), "Dear ##name##, come on ##date##.")
	csv := b.get(page.attr("#rejected-csv", "href")).is(200)
	if kind, name := csv.header.Get("Content-Type"),
		csv.header.Get("Content-Disposition"); kind != "text/csv; charset=utf-8" ||
		!strings.HasPrefix(name, "attachment; filename*=utf-8''ju%22ne") {
		t.Errorf("%q, %q", kind, name)
	}
	if lines := strings.Split(strings.TrimSpace(csv.body), "\n"); len(lines) != 5 ||
		!strings.Contains(lines[0], "What to fix") || !strings.Contains(lines[1], "Too short") {
		t.Errorf("%q", csv.body)
	}
	book, err := excelize.OpenReader(strings.NewReader(b.get(page.attr("#rejected-xlsx", "href")).is(200).body))
	s.must(err)
	defer func() { _ = book.Close() }()
	if rows, err := book.GetRows(book.GetSheetName(0)); err != nil || len(rows) != 5 || rows[2][0] != "2.34803E+12" {
		t.Errorf("%v, %v", rows, err)
	}
	b.get(b.uploads("new.csv", cleanList) + "/rejected.csv").is(http.StatusConflict)
	b.get(at + "/check").is(200)
}

func TestTheCorrectedFileKeepsTheMessage(t *testing.T) {
	s := newSite(t)
	s.clinic()
	s.importer()
	b := s.as(s.boss)
	_, page := b.checks("june.csv", dirtyList(20), "Dear ##name##, come on ##date##.")
	if page.text("#upload label[for=file]") != "Upload the corrected file" {
		t.Errorf("%q", page.text("#upload label"))
	}
	got := b.sends(page, "june2.csv", dirtyList(2)).is(http.StatusSeeOther)
	if to := got.header.Get("Location"); !regexp.MustCompile(confirmed).MatchString(to) {
		t.Fatalf("it leads to %q", to)
	}
	refused := b.sends(page, "june3.csv", "%PDF-1.7").is(http.StatusUnprocessableEntity)
	if refused.attr("#upload [name=replaces]", "value") != page.attr("#upload [name=replaces]", "value") ||
		refused.text("#file-error") == "" {
		t.Error("the form forgets whose message it keeps")
	}
}

func TestHiddenRowsAreIncludedWhenAsked(t *testing.T) {
	s := newSite(t)
	s.clinic()
	s.importer()
	b := s.as(s.boss)
	book := writeBook(t, func(f *excelize.File) {
		fill(t, f, "Sheet1", []string{"Phone", "Name"}, []string{"08031234501", "Ada"}, []string{"08031234502", "Bola"},
			[]string{"08031234503", "Chidi"})
		if err := f.SetRowVisible("Sheet1", 3, false); err != nil {
			t.Fatal(err)
		}
	})
	at, page := b.checks("book.xlsx", book, "Dear ##Name##, hello")
	s.leads(page)
	page.has("1 hidden row is left out.", "Include them", "Continue with 2 messages")
	got := b.post(at+"/hidden", "version", page.attr("#include-hidden [name=version]", "value")).is(http.StatusSeeOther)
	b.get(got.header.Get("Location")).is(200).has("Send 3 messages now")
}

func TestNothingLeftToSend(t *testing.T) {
	s := newSite(t)
	s.clinic()
	s.importer()
	b := s.as(s.boss)
	_, page := b.checks("bad.csv", "phone,name\n12,Ada\n34,Bola\n", "Dear ##name##, hello")
	s.leads(page)
	page.has("rows need fixing", "bad.csv", "Upload the corrected file",
		"Back to message and columns").count("#make", 0)
}

// Rows come 50 a page, forwards and backwards.
func TestPagesOfRows(t *testing.T) {
	s := newSite(t)
	s.clinic()
	s.importer()
	b := s.as(s.boss)
	var list strings.Builder
	list.WriteString("phone,name\n08031234567,Ada\n")
	for i := range 120 {
		fmt.Fprintf(&list, "%d,Bola\n", i)
	}
	at, first := b.checks("long.csv", list.String(), "Dear ##name##, hello")
	rows := func(a answer) string {
		all := a.page().Find("#notes tbody tr")
		return fmt.Sprintf("%d from %s", all.Length(), strings.TrimPrefix(all.First().AttrOr("id", ""), "row-"))
	}
	second := b.get(strings.TrimSuffix(first.attr(".pager a[rel=next]", "href"), "#rows")).is(200)
	third := b.get(strings.TrimSuffix(second.attr(".pager a[rel=next]", "href"), "#rows")).is(200)
	back := b.get(strings.TrimSuffix(third.attr(".pager a[rel=prev]", "href"), "#rows")).is(200)
	start := b.get(strings.TrimSuffix(back.attr(".pager a[rel=prev]", "href"), "#rows")).is(200)
	if got := []string{rows(first), rows(second), rows(third), rows(back), rows(start)}; strings.Join(got,
		", ") != "50 from 3, 50 from 53, 20 from 103, 50 from 53, 50 from 3" {
		t.Errorf("%v", got)
	}
	third.count(".pager a[rel=next]", 0)
	start.count(".pager a[rel=prev]", 0)
	s.leads(second)
	b.get(at + "/check?after=99999999&kind=number").is(200)
}

// While rows are checked the page says how far they are and renews itself;
// it may be left, and leads on when they are done.
func TestCheckingGoesOnWithoutThePage(t *testing.T) {
	s := newSite(t)
	s.clinic()
	b := s.as(s.boss)
	at := b.uploads("list.csv", cleanList)
	b.post(at+"/message", b.get(at+"/message").filled("text", cleanText)...).to(at + "/check")
	l := s.list(at)
	s.must(s.db.PutListProgress(t.Context(), l, 42_000, 100_000))
	page := b.get(at+"/check").is(200).has("Checking the list", "Checked 42,000 of 100,000 rows", "Refresh",
		"You can leave this page")
	s.leads(page)
	if page.attr("progress", "value") != "42000" || page.attr("progress", "max") != "100000" {
		t.Error("the bar does not say so")
	}
	topic := feed.List(l.UID)
	if !strings.Contains(page.attr("#live", "hx-sse:connect"), l.UID) || page.attr("#list-live", "hx-trigger") != topic+
		" from:body" {
		t.Errorf("the page does not listen to %q", topic)
	}
	r := httptest.NewRequest(http.MethodGet, page.attr("#list-live", "hx-get"), nil)
	r.Header.Set("HX-Request", "true")
	if got := b.send(r).is(200); !strings.HasPrefix(got.body, `<div class="stack" id="list-live"`) {
		t.Errorf("%.200s", got.body)
	}
	b.get(at+"/check?pause=1").is(200).count("#live", 0).has("Paused")
	b.get("/new/list").is(200).has("Checking")
	b.get(at + "/message").to(at + "/check")
	s.importer()
	got, err := s.db.List(t.Context(), l.UID)
	for range 500 {
		if err != nil || got.State == sms.ListMade {
			break
		}
		time.Sleep(10 * time.Millisecond)
		got, err = s.db.List(t.Context(), l.UID)
	}
	if err != nil || got.State != sms.ListMade {
		t.Fatalf("%v, %v", got.State, err)
	}
	r = httptest.NewRequest(http.MethodGet, at+"/check", nil)
	r.Header.Set("HX-Request", "true")
	if to := b.send(r).is(http.StatusNoContent).header.Get("HX-Redirect"); !regexp.MustCompile(confirmed).MatchString(to) {
		t.Errorf("the page is led to %q", to)
	}
}

func TestAListThatFailed(t *testing.T) {
	s := newSite(t)
	s.clinic()
	b := s.as(s.boss)
	at := b.uploads("list.csv", cleanList)
	_, err := s.db.UpdateList(t.Context(), s.list(at).UID, s.clock.now().UnixMilli(), func(l *sms.List) error {
		l.State, l.Problem = sms.ListFailed,
			"We cannot read this file. Open it in Excel, choose Save As, choose CSV UTF-8, and upload that file"
		return nil
	})
	s.must(err)
	page := b.get(at+"/check").is(200).has("This list cannot be used",
		"Open it in Excel, choose Save As, choose CSV UTF-8, and upload that file.", "Upload another file", "Or change how we read this file")
	s.leads(page)
	b.get("/new/list").is(200).has("Cannot be used")
	b.get(at + "/message").is(200)
}

// TestAListWhoseFileIsMissing: backups may leave the uploaded files out.
func TestAListWhoseFileIsMissing(t *testing.T) {
	s := newSite(t)
	s.clinic()
	b := s.as(s.boss)
	at, other := b.uploads("list.csv", cleanList), b.uploads("other.csv", cleanList)
	uid := s.list(at).UID
	s.must(s.db.DropUpload(uid))
	_, err := s.db.UpdateList(t.Context(), uid, s.clock.now().UnixMilli(), func(l *sms.List) error {
		l.State = sms.ListUploaded
		return nil
	})
	s.must(err)
	b.get(at+"/message").is(200).has("This list cannot be used", "The file is not in this backup. Upload it again.",
		"Upload another file")
	b.get(other + "/message").is(200).lacks("not in this backup")
	b.get("/new/list").is(200)
}
