package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
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
	for words, kind := range map[string]string{"Missing value": "missing", "Phone number": "number", "Message": "text"} {
		if href := page.attr(fmt.Sprintf(`#rows .keys a:contains("%s")`, words), "href"); href != at+"/check?kind="+kind+
			"#rows" {
			t.Errorf("%q leads to %q", words, href)
		}
	}
	for row, want := range map[string][2]string{
		"4":  {"Too short: has 9 digits, needs 11", "080312345"},
		"6":  {"Excel has shortened this number (2.34803E+12), so its last digits are lost. Set the column to Text and re-enter the number", "2.34803E+12"},
		"8":  {"Missing: enter a name", ""},
		"10": {`Shorten "date"`, "Thursday the thirteenth"},
	} {
		if said := page.text("#fault-" + row); !strings.Contains(said, want[0]) {
			t.Errorf("row %s: %q", row, said)
		}
		page.count("#row-"+row+" input.input", 1)
		if given := page.attr("#row-"+row+" input.input", "value"); !strings.HasPrefix(given, want[1]) {
			t.Errorf("row %s has %q", row, given)
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
	page.has("rows need fixing", "bad.csv", "Upload a corrected file instead",
		"Back to message and columns").count("#go-on", 0)
}

// Rows to fix come 15 a page, forwards and backwards.
func TestPagesOfRows(t *testing.T) {
	s := newSite(t)
	s.clinic()
	s.importer()
	b := s.as(s.boss)
	var list strings.Builder
	list.WriteString("phone,name\n08031234567,Ada\n")
	for i := range 40 {
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
		", ") != "15 from 3, 15 from 18, 10 from 33, 15 from 18, 15 from 3" {
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

// formOf is what a form of the page would send, with what is typed instead.
func (a answer) formOf(form string, typed ...string) []string {
	a.t.Helper()
	var fields []string
	doc := a.page()
	inputs := doc.Find(form + " input[name]").AddSelection(doc.Find("input[form=" + strings.TrimPrefix(form, "#") + "]"))
	for i := range inputs.Length() {
		name := inputs.Eq(i).AttrOr("name", "")
		if !slices.Contains(typed, name) {
			fields = append(fields, name, inputs.Eq(i).AttrOr("value", ""))
		}
	}
	if inputs.Length() == 0 {
		a.t.Fatalf("no form %s", form)
	}
	return append(fields, typed...)
}

const someToFix = "phone,name,amount\n0803123,Ada,10\n08031234567,Bola,\n08031234568,Chidi,\n08031234569,Dayo,\n" +
	"08031234560,Efe,30\n08031234560,Efe again,40\n08031234571,Fola,\n08031234572,Gozie,\n"

// Without scripts the typed cells go with a button; what is right by then is
// sent, and what is not says so.
func TestRowsAreFixedWhereTheyStand(t *testing.T) {
	s := newSite(t)
	s.clinic()
	s.importer()
	b := s.as(s.boss)
	at, page := b.checks("fees.csv", someToFix, "Dear ##name##, pay ##amount##.")
	page.has("6 of 8 rows need fixing", "One amount for the 5 rows without one")
	saved := b.post(at+"/rows", page.formOf("#make", "cell:2:0", "08031234561", "cell:3:2", "5")...).is(http.StatusSeeOther)
	page = b.get(saved.header.Get("Location")).is(200).has("4 of 8 rows need fixing", "Ready", "0803123", "08031234561")
	page.count("#row-2.done", 1)
	page.count("#row-3.done", 1)
	fresh := b.get(at + "/check").is(200)
	fresh.count("#row-2", 0)
	b.get(at+"/check?kind=corrected").is(200).has("Corrected by Ada Obi", "The file has nothing here")
	wrong := b.post(at+"/rows", fresh.formOf("#make", "cell:4:2", strings.Repeat("long ", 300))...).is(http.StatusSeeOther)
	b.get(wrong.header.Get("Location")).is(200).has("Still wrong:")

	b.post(at+"/fill", b.get(at+"/check").formOf("#fill", "value", "20")...).is(http.StatusSeeOther)
	page = b.get(at + "/check").is(200)
	page.has("1 of 8 rows needs fixing", "Rows without amount get “20”.")
	b.post(at+"/first", page.formOf("#keep-first")...).is(http.StatusSeeOther)
	page = b.get(at+"/check").is(200).has("Of each number only the first row is sent.", "Send them too")

	// The row that is still wrong is mended by the press that leaves out the others.
	made := b.post(at+"/make", page.formOf("#make", "cell:4:2", "7")...).is(http.StatusSeeOther)
	if to := made.header.Get("Location"); !regexp.MustCompile(confirmed).MatchString(to) {
		t.Fatalf("it leads to %q", to)
	}
	b.get(made.header.Get("Location")).is(200).has("Send 7 messages now")
}

// With scripts one cell is posted, and the page comes back with it.
func TestACellAlone(t *testing.T) {
	s := newSite(t)
	s.clinic()
	s.importer()
	b := s.as(s.boss)
	at, page := b.checks("fees.csv", someToFix, "Dear ##name##, pay ##amount##.")
	got := b.postFragment(at+"/rows", page.formOf("#make", "cell:2:0", "08031234561")...).is(200)
	got.has("5 of 8 rows need fixing").count("#row-2.done", 1)
	if was, is := page.attr("#make [name=version]", "value"), got.attr("#make [name=version]", "value"); was == is {
		t.Error("the bar would send the version of before")
	}
	got = b.postFragment(at+"/rows", got.formOf("#make", "cell:3:2", strings.Repeat("9", 4001))...).is(200)
	got.has("This has more than 4,000 characters. Shorten it")
	b.post(at+"/rows", got.formOf("#make", "cell:6:0", "08031234562")...).is(http.StatusNotFound)
	s.as(s.hire("eve@example.org", sms.Sender)).post(at+"/rows", "cell:2:0", "08031234562").is(http.StatusNotFound)
	// Another page, opened before: what it shows of rows that were corrected since
	// then is no correction, and they go along.
	made := b.post(at+"/make", page.formOf("#make")...).is(http.StatusSeeOther)
	if to := made.header.Get("Location"); !regexp.MustCompile(confirmed).MatchString(to) {
		t.Fatalf("it leads to %q", to)
	}
}

const twoInACell = "phone,name\n08031234567 / 08051234567,Ada\n08031234568,Bola\n08031234569 or 0803123,Chidi\n" +
	"08031234570; 08051234570; 08071234570,Dayo\n"

// Without scripts the offer is a button of the row, and what was typed elsewhere
// goes along.
func TestRowsAreMadeOfRowsWithSeveralNumbers(t *testing.T) {
	s := newSite(t)
	s.clinic()
	s.importer()
	b := s.as(s.boss)
	at, page := b.checks("fees.csv", twoInACell, "Dear ##name##")
	page.has("3 of 4 rows need fixing", "3 rows have several numbers in one cell.")
	for row, want := range map[string]string{"2": "Make two rows of row 2", "4": "Make two rows of row 4", "5": "Make 3 rows of row 5"} {
		if got := page.text("#split-" + row); got != want {
			t.Errorf("row %s offers %q, want %q", row, got, want)
		}
	}
	split := func(page answer, field, value string, typed ...string) answer {
		button := page.attr("#"+field+"-"+value, "formaction")
		b.post(button, page.formOf("#make", append(typed, field, value)...)...).is(http.StatusSeeOther)
		return b.get(at + "/check").is(200)
	}
	page = split(page, "split", "2", "cell:4:0", "08031234569")
	page.has("1 of 5 rows needs fixing", "Row 6 was made of row 2.", "1 row was made of rows with several numbers.",
		"3 rows were corrected here.", "4 messages are ready").lacks("several numbers in one cell")
	page = split(page, "split", "5")
	page.has("7 messages are ready", "Rows 6 to 8 were made of rows with several numbers.")
	made := b.get(at+"/check?kind=corrected").is(200).has("Made of row 2 by Ada Obi", "Made of row 5 by Ada Obi")
	page = split(made, "undo", "5")
	page.has("1 of 5 rows needs fixing")
	b.post(at+"/split", page.formOf("#unsplit-all")...).is(http.StatusSeeOther)
	page = b.get(at + "/check").is(200).has("2 of 4 rows need fixing")

	page = split(page, "split", "all")
	page.has("7 messages are ready")
	again := b.get(at + "/check?kind=corrected").is(200)
	b.post(at+"/split", again.formOf("#make", "cell:6:0", "0803", "undo", "2")...).is(http.StatusSeeOther)
	b.get(at+"/check").is(200).has("1 of 6 rows needs fixing").count("#row-2", 1)
	s.as(s.hire("eve@example.org", sms.Sender)).post(at+"/split", "split", "all").is(http.StatusNotFound)
}

// A row that was made for a number that is wrong says whose it is.
func TestAMadeRowThatIsToBeFixed(t *testing.T) {
	s := newSite(t)
	s.clinic()
	s.importer()
	b := s.as(s.boss)
	at, page := b.checks("fees.csv", twoInACell, "Dear ##name##")
	b.post(at+"/split", page.formOf("#make", "split", "4")...).is(http.StatusSeeOther)
	page = b.get(at + "/check").is(200).has("3 of 5 rows need fixing")
	if got := page.text("#row-6 .what"); !strings.Contains(got, "Too short") || !strings.Contains(got, "From row 4") ||
		!strings.Contains(got, "Undo") {
		t.Errorf("%q", got)
	}
}
