package web

import (
	"strings"
	"testing"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
)

// What is typed is there again for its person and account, until it has become
// a campaign.
func TestWhatIsTypedIsOfferedAgain(t *testing.T) {
	s := newSite(t)
	s.clinic()
	u := s.hire("writer@example.com", sms.Sender)
	b := s.as(u)
	form := []string{"token", desk.NewToken(), "account", "1", "numbers", "0803 555 0101", "text", "Dear Ada,\r\nplease come",
		"sender_id", "SCHOOL", "name", "June", "flash", "1"}
	b.get("/new").is(200).count("#unsent", 0)
	b.post("/new/numbers", form...).is(200)
	b.post("/new/parts", form...).is(200)
	other := s.as(u)
	if got := other.get("/new").is(200).text("#unsent"); !strings.Contains(got, "You have an unsent message, “Dear Ada") ||
		!strings.Contains(got, "10:48am") {
		t.Fatalf("offered is %q", got)
	}
	s.as(s.boss).get("/new").is(200).count("#unsent", 0)
	s.as(s.boss).get("/new?go=on").is(200).lacks("Dear Ada", "0803 555 0101")
	page := other.get("/new?go=on").is(200)
	if page.page().Find("textarea[name=text]").Text() != "Dear Ada,\nplease come" ||
		page.text("textarea[name=numbers]") != "0803 555 0101" || page.attr("[name=name]", "value") != "June" {
		t.Errorf("not what was typed: %s", page.text("#compose"))
	}
	page.count("[name=flash][checked]", 1)
	if token := page.attr("#compose [name=token]", "value"); len(token) < 32 || token == form[1] {
		t.Errorf("the token is %q", token)
	}
	second := s.account(sms.Account{Name: "School", DefaultSender: "CLINIC", CallLimit: 10})
	b.post("/new/parts", "account", "99", "text", "of another account").is(200)
	if got := other.get("/new").text("#unsent"); strings.Contains(got, "another") || second.ID == 1 {
		t.Errorf("offered is %q", got)
	}
	b.post("/new", form...).is(303)
	if got := other.get("/new").text("#unsent a"); got != "Continue this message" ||
		strings.Contains(other.get("/new").attr("#unsent a", "href"), "go=on") {
		t.Error("what became a campaign is offered as if it had not")
	}
	b.post("/new/parts", form...).is(200)
	b.post("/new/parts", "account", "1", "text", " ", "numbers", "").is(200)
	other.get("/new?go=on").is(200).lacks("Dear Ada")
	if strings.Contains(s.log.String(), "0803") || strings.Contains(s.log.String(), "Dear") {
		t.Error("the log holds what was typed")
	}
}

// A file takes what was typed along, so that it is not offered twice.
func TestAnUploadTakesWhatWasTypedAlong(t *testing.T) {
	s := newSite(t)
	s.clinic()
	b := s.as(s.boss)
	b.post("/new/parts", "account", "1", "text", "Dear ##name##").is(200)
	b.get("/new").is(200).count("#unsent", 1)
	to := b.upload("/new/list", "file", []byte("phone,name\n08035550101,Ada\n"), "token", desk.NewToken(),
		"account", "1", "text", "Dear ##name##").is(303).header.Get("Location")
	b.get("/new").is(200).count("#unsent", 0)
	list, _, _ := strings.Cut(to, "?")
	for _, opened := range []string{to, to, list} { // and once more, after a reload and by its address alone
		if got := b.get(opened).is(200).page().Find("#text").Text(); got != "Dear ##name##" {
			t.Errorf("%s has %q", opened, got)
		}
	}
}

// Two tabs are two messages: each is saved and offered, and what one becomes
// leaves the other alone.
func TestTwoTabsAreTwoMessages(t *testing.T) {
	s := newSite(t)
	s.clinic()
	b := s.as(s.hire("writer@example.com", sms.Sender))
	one, two := b.get("/new").attr("[name=writing]", "value"), b.get("/new").attr("[name=writing]", "value")
	if one == two || len(one) < 20 {
		t.Fatalf("the keys are %q and %q", one, two)
	}
	form := func(key, text string) []string {
		return []string{"token", desk.NewToken(), "account", "1", "writing", key, "numbers", "0803 555 0101", "text", text,
			"sender_id", "SCHOOL"}
	}
	b.post("/new/parts", form(one, "First")...).is(200)
	b.post("/new/parts", form(two, "Second")...).is(200)
	page := b.get("/new").is(200).count("#unsent a", 2)
	page.has("“First”", "“Second”")
	page = b.get("/new?go=on&form=" + one).is(200)
	if page.page().Find("textarea[name=text]").Text() != "First" || page.attr("[name=writing]", "value") != one {
		t.Errorf("gone on with is %q", page.page().Find("textarea[name=text]").Text())
	}
	b.post("/new", form(one, "First")...).is(303)
	if got := b.get("/new?go=on&form=" + two).page().Find("textarea[name=text]").Text(); got != "Second" {
		t.Errorf("the other one is %q", got)
	}
	b.post("/new/parts", form("list 123", "of no list")...).is(200)
	b.get("/new").is(200).count("#unsent a", 2).has("“Second”").lacks("of no list")
}

// The message of a list is saved as it is typed, for that list, until the list is
// checked or read in another way.
func TestTheMessageOfAListIsSavedAsItIsTyped(t *testing.T) {
	s := newSite(t)
	s.clinic()
	s.importer()
	b := s.as(s.boss)
	at, other := b.uploads("list.csv", cleanList), b.uploads("other.csv", cleanList)
	page := b.get(at + "/message").is(200)
	typed := page.filled("text", "Dear ##First name##", "numbers", "0803 123 4599", "field:firstname", "2")
	b.postFragment(at+"/preview", typed...).is(200)
	page = s.as(s.boss).get(at + "/message").is(200)
	if page.page().Find("#text").Text() != "Dear ##First name##" || page.chosen("field:firstname") != "2" {
		t.Errorf("it is not there again: %q, %q", page.page().Find("#text").Text(), page.chosen("field:firstname"))
	}
	page.has("+ 1 typed")
	if got := b.get(other + "/message").page().Find("#text").Text(); got != "" {
		t.Errorf("the other list has %q", got)
	}
	b.get("/new").is(200).count("#unsent", 0)
	stale := page.filled("version", "1", "text", "of an old tab")
	b.post(at+"/message", page.filled()...).is(303)
	b.postFragment(at+"/preview", stale...)
	l := s.list(at)
	if form, _, err := s.db.Written(t.Context(), s.boss.ID, l.AccountID, "list "+l.UID); err == nil {
		t.Errorf("after the check there is still %q", form)
	}
}
