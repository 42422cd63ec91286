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
	b.upload("/new/list", "file", []byte("phone,name\n08035550101,Ada\n"), "token", desk.NewToken(),
		"account", "1", "text", "Dear ##name##").is(303)
	b.get("/new").is(200).count("#unsent", 0)
}
