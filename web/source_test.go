package web

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
)

// parents is an audience of two contacts.
func (s *site) parents(account sms.Account) sms.Audience {
	s.t.Helper()
	for number, name := range map[string]string{"08031234501": "Ada", "08031234511": "Dayo"} {
		if _, err := s.desk.SaveContact(context.Background(), s.boss, desk.ContactOrder{AccountID: account.ID, Number: number,
			Name: name}); err != nil {
			s.t.Fatal(err)
		}
	}
	a, err := s.desk.SaveAudience(context.Background(), s.boss, desk.AudienceOrder{AccountID: account.ID, Name: "Parents"})
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

// What is typed on New message goes along to the list, an audience is added to
// it, and one count says how it adds up.
func TestSourcesAddUpOnTheirPage(t *testing.T) {
	s := newSite(t)
	account := s.clinic()
	s.parents(account)
	s.importer()
	b := s.as(s.boss)
	list := b.upload("/new/list", "file", []byte("phone,name\n08031234501,Ada\n08031234502,Bola\n"), "token", desk.NewToken(),
		"account", "1", "text", "Come at 9", "numbers", "0803 123 4502\n0803 123 4599", "sender_id", "CLINIC").is(303)
	page := b.get(list.header.Get("Location")).is(200)
	if got := page.text("#list-count"); got != "2 from the file + 2 typed = 3 numbers, 1 twice" {
		t.Fatalf("it adds up to %q", got)
	}
	at := strings.SplitN(list.header.Get("Location"), "?", 2)[0]
	page = b.get(b.post(at, page.filled("audience", "1")...).is(303).header.Get("Location")).is(200)
	if got := page.text("#list-count"); got != "2 from the file + 2 typed + 2 in Parents = 4 numbers, 2 twice" {
		t.Errorf("it adds up to %q", got)
	}
	s.leads(page)
	part := b.postFragment(strings.TrimSuffix(at, "message")+"preview", page.filled("numbers", "0803 123 4598")...).is(200)
	part.has("2 from the file + 1 typed + 2 in Parents = 4 numbers, 1 twice")
	// A group is sent alone: the others are set aside, and come back.
	s.must(s.db.PutGroups(t.Context(), account.ID, []sms.Group{{ID: 7, Name: "Staff", ContactCount: 12}}, 1))
	group := b.get(b.post("/new/group", append(page.filled(), "group_to", "7")...).is(303).header.Get("Location")).is(200)
	group.has("Set aside: numbers.csv and 2 typed numbers.", "about 12").lacks("2 numbers")
	s.leads(group)
	back := b.post("/new/without", group.form("group", "7", "list", group.attr("#compose [name=list]", "value"), "text", "Come at 9",
		"numbers", group.attr("#compose [name=numbers]", "value"))...).is(303)
	page = b.get(back.header.Get("Location")).is(200)
	if got := page.text("#list-count"); got != "2 from the file + 2 typed + 2 in Parents = 4 numbers, 2 twice" {
		t.Errorf("back is %q", got)
	}
	many := b.post(at, page.filled("numbers", strings.Repeat("08031234567\n", 1001))...).is(http.StatusUnprocessableEntity)
	many.has("You can enter up to 1,000 numbers. You entered 1001. Put them into the file instead")
	s.leads(many)
	b.post(at, page.filled()...).is(303)
	l := s.list(at)
	check := b.get("/lists/" + l.UID + "/check").is(200)
	if got := check.text("#added"); got != "Rows 4 to 5 are of “Parents”. Rows 6 to 7 were typed." {
		t.Errorf("the check says %q of what was added", got)
	}
	check.has("2 rows are duplicates")
	// Whoever comes back finds the numbers where they were typed, and takes the audience out again.
	page = b.get(at).is(200)
	if got := page.page().Find("#numbers").Text(); strings.TrimSpace(got) != "0803 123 4502\n0803 123 4599" {
		t.Errorf("the numbers are %q", got)
	}
	page = b.get(b.post(at, page.filled("do", "remove:1")...).is(303).header.Get("Location")).is(200)
	if got := page.text("#list-count"); got != "2 from the file + 2 typed = 3 numbers, 1 twice" {
		t.Errorf("without the audience it is %q", got)
	}
	if got := s.as(s.hire("other@example.com", sms.Sender)).post(at, "audience", "1"); got.status != http.StatusNotFound {
		t.Errorf("a stranger adds an audience: %d", got.status)
	}
}
