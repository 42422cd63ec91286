package web

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/views"
)

// upload sends a form with a file.
func (b *browser) upload(path, name string, file []byte, pairs ...string) answer {
	b.site.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i := 0; i+1 < len(pairs); i += 2 {
		b.site.must(form.WriteField(pairs[i], pairs[i+1]))
	}
	part, err := form.CreateFormFile(name, "numbers.csv")
	b.site.must(err)
	_, err = part.Write(file)
	b.site.must(err)
	b.site.must(form.Close())
	r := httptest.NewRequest(http.MethodPost, path, &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return b.send(r)
}

// listed are the numbers on the page of blocked numbers.
func (a answer) listed() string {
	a.t.Helper()
	var list []string
	a.page().Find("#blocked tbody th").Each(func(_ int, e *goquery.Selection) { list = append(list, e.Text()) })
	return strings.Join(list, "|")
}

func TestBlockedNumbersFromTextAndFile(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	b := s.as(s.hire("m@example.com", sms.Manager))
	page := b.get("/settings/blocked").is(200).has("No blocked numbers.", "by the account Clinic")
	s.leads(page)
	b.post("/settings/blocked", "numbers", "0803 000 0101\n0803 000 0102", "note",
		"asked by phone").to("/settings/blocked?done=blocked")
	b.upload("/settings/blocked", "file", []byte("Phone\n08030000102\n08030000103\n"), "numbers", "", "note",
		"").to("/settings/blocked?done=blocked")
	page = b.get("/settings/blocked?done=blocked").is(200).has("Numbers blocked.", "3 blocked numbers, newest first",
		"asked by phone", "added by Ada Obi", "from a file uploaded by Ada Obi")
	s.leads(page)
	if got := page.listed(); got != "0803 000 0103|0803 000 0102|0803 000 0101" {
		t.Errorf("listed %q", got)
	}
	bad := b.upload("/settings/blocked", "file", []byte("0803"), "numbers", "080312345", "note", "kept").is(422)
	bad.has("There is a problem", "Too short: has 9 digits, needs 11", "Too short: has 4 digits, needs 11")
	if bad.attr("#note", "value") != "kept" || bad.text("#numbers") != "080312345" {
		t.Error("what was typed is gone")
	}
	if got := b.upload("/settings/blocked", "file", bytes.Repeat([]byte("\n"), 1<<20+1)); got.status != 422 {
		t.Errorf("a file just too large: %d", got.status)
	}
	if got := b.upload("/settings/blocked", "file",
		bytes.Repeat([]byte("\n"), 2<<20)); got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a file far too large: %d", got.status)
	}
	broken := httptest.NewRequest(http.MethodPost, "/settings/blocked", strings.NewReader("nothing"))
	broken.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	broken.Header.Set("Sec-Fetch-Site", "same-origin")
	b.send(broken).is(http.StatusBadRequest)
	if n, err := s.db.CountBlocked(t.Context(), a.ID); err != nil || n != 3 {
		t.Errorf("%d %v", n, err)
	}
	if strings.Contains(s.log.String(), "8030000101") {
		t.Error("a number stands in the log")
	}
}

func TestBlockedSearchAndPages(t *testing.T) {
	s := newSite(t)
	s.clinic()
	b := s.as(s.boss)
	b.post("/settings/blocked", "numbers", typed(53)).to("/settings/blocked?done=blocked")
	page := b.get("/settings/blocked").has("53 blocked numbers, newest first", "50 numbers on this page")
	s.leads(page)
	next := page.attr("a[rel=next]", "href")
	if strings.Contains(next, "803") {
		t.Errorf("a number stands in the address %q", next)
	}
	if got := b.get(next).is(200).listed(); got != "0803 000 1002|0803 000 1001|0803 000 1000" {
		t.Errorf("the second page has %q", got)
	}
	b.get(b.get(next).attr("a[rel=prev]", "href")).has("50 numbers on this page")
	if got := b.found("/settings/blocked/search", "begins",
		"0803 000 105").has("3 numbers begin with 0803 000 105").listed(); got != "0803 000 1050|0803 000 1051|0803 000 1052" {
		t.Errorf("found %q", got)
	}
	if got := b.found("/settings/blocked/search", "begins",
		"+2348030001007").has("1 number begins with").listed(); got != "0803 000 1007" {
		t.Errorf("found %q", got)
	}
	s.leads(b.found("/settings/blocked/search", "begins", "0803").has("There are more matches. Enter more digits."))
	b.found("/settings/blocked/search", "begins", "0809").has("No blocked numbers start with this")
	b.post("/settings/blocked/search", "begins", "Ada").is(422).has("Enter the first digits of a phone number")
	b.found("/settings/blocked/search", "begins", "").has("newest first")
	b.get("/settings/blocked/search").to("/settings/blocked")
}

func TestUnblockAsksWhy(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	sender := s.as(s.hire("s@example.com", sms.Sender))
	sender.post("/settings/blocked", "numbers", "08030000101").to("/settings/blocked?done=blocked")
	s.leads(sender.get("/settings/blocked").is(200).count(`a[href$="/unblock"]`, 0).count(`nav a[href="/settings/team"]`,
		0).count(`nav a[href="/settings/blocked"]`, 1))
	sender.get("/settings/blocked/1/unblock").is(403)
	sender.post("/settings/blocked/1/unblock", "note", "x").is(403)
	b := s.as(s.boss)
	s.leads(b.get("/settings/blocked/1/unblock").is(200).has("Unblock 0803 000 0101?",
		"Number blocked since 3 June (reason: added by Ada Obi)."))
	b.post("/settings/blocked/1/unblock", "note", " ").is(422).has("Enter why this number should be unblocked")
	b.post("/settings/blocked/1/unblock", "note", "came by in person").to("/settings/blocked?done=unblocked")
	b.get("/settings/blocked?done=unblocked").has("Number unblocked.", "No blocked numbers.")
	b.get("/settings/blocked/1/unblock").is(404)
	b.post("/settings/blocked/1/unblock", "note", "again").is(404)
	if n, err := s.db.CountBlocked(t.Context(), a.ID); err != nil || n != 0 {
		t.Errorf("%d %v", n, err)
	}
}

func TestBlockTheNumberOfAMessage(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(2)})
	s.send(a, 5, accept)
	m := s.messages(c)[0]
	viewer := s.as(s.hire("v@example.com", sms.Viewer))
	viewer.get(messagePath(m)).is(200).count("#block-number", 0)
	viewer.post(messagePath(m) + "/block").is(403)
	viewer.get("/settings/blocked").is(403)
	b := s.as(s.hire("s@example.com", sms.Sender))
	page := b.get(messagePath(m)).is(200).count("#block-number", 1)
	s.leads(page)
	s.leads(b.get(page.attr("#block-number", "href")).is(200).has("Block 0803 000 1000?"))
	b.post(messagePath(m)+"/block", "note", strings.Repeat("x", 201)).is(422).has("Note must be 200 characters or fewer")
	b.post(messagePath(m)+"/block", "note", "asked").to(messagePath(m) + "?done=blockedone")
	page = b.get(messagePath(m)).count("#block-number", 0).has("Number blocked since 3 June (reason: added by Ada Obi).")
	s.leads(page)
	b.get(messagePath(m) + "/block").to(messagePath(m))
	b.post(messagePath(m) + "/block").to(messagePath(m) + "?done=blockedone")
	viewer.get(messagePath(m)).count("#number-blocked", 0)
	list, _, err := s.db.BlockedNumbers(t.Context(), sms.BlockedFilter{AccountID: a.ID, Limit: 5})
	if err != nil || len(list) != 1 || list[0].Number != m.Number || list[0].Note != "asked" {
		t.Errorf("%+v %v", list, err)
	}
}

func TestLeftOutNumbersAreCounted(t *testing.T) {
	s := newSite(t)
	a := s.clinic(func(a *sms.Account) { a.PricePerPart = 100 })
	b := s.as(s.boss)
	b.post("/settings/blocked", "numbers", "08030001000 08030001003").to("/settings/blocked?done=blocked")
	c := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(5)})
	path := views.CampaignPath(c.ID)
	page := b.get(path+"/confirm").is(200).has("Recipients 3 of 5 2 left out: 2 blocked",
		"Message 2 of 5 to 0803 000 1001", "Parts 3 1 each", "about ₦3.00")
	s.leads(page)
	if got := page.text("#send-now"); got != "Send 3 messages now" {
		t.Errorf("the button says %q", got)
	}
	b.post(path+"/start", "version", fmt.Sprint(c.Version)).to(path)
	b.post("/settings/blocked", "numbers", "08030001004").to("/settings/blocked?done=blocked")
	s.send(a, 5, accept)
	page = b.get(path).is(200).has("3 recipients were left out. The reason is shown next to each.", "Left out",
		"Number blocked since 3 June (reason: added by Ada Obi)", "Sending is complete.")
	s.leads(page)
	b.get(page.attr("#left-out-show", "href")).is(200).count("#messages tbody tr", 3)
	s.as(s.hire("v@example.com", sms.Viewer)).get(path).has("0803 ••• 1000").lacks("0803 000 1000")
	reply := b.post("/new", "token", strings.Repeat("a", 64), "account", fmt.Sprint(a.ID), "numbers", "08030001000",
		"sender_id", "CLINIC", "text", "Hello")
	reply.is(422).has("Number blocked since 3 June (reason: added by Ada Obi)")
}
