package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"smsdesk/internal/sms"
	"smsdesk/internal/ussd"
	"smsdesk/views"
)

// menuMade is a menu of an example, published.
func (s *site) menuMade(a sms.Account, example int) int64 {
	s.t.Helper()
	id, err := s.desk.CreateMenu(context.Background(), s.boss, a.ID, ussd.Examples()[example])
	s.must(err)
	_, err = s.desk.PublishMenu(context.Background(), s.boss, id, 1)
	s.must(err)
	return id
}

// TestViewersSeeNumbersInPart: in the list, the conversation and the answers.
func TestViewersSeeNumbersInPart(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	menu := s.menuMade(a, 2)
	at := s.clock.now().UnixMilli()
	id := ussd.SessionID(at, 1)
	s.must(s.db.PutUSSDSessions(context.Background(), ussd.Batch{
		Sessions: []ussd.Session{{ID: id, AccountID: a.ID, MenuID: menu, Version: 1, Number: "2348030000101", Network: "mtn",
			Code: "347*13", BegunAt: at, LastAt: at, Steps: 1, Slowest: 1_200_000, Body: `{"msisdn":"2348030000101"}`}},
		Steps: []ussd.Step{{SessionID: id, No: 1, At: at, Screen: "start", Input: "call 0803 000 0101",
			Text: "Hello 08030000101"}},
		Saved: []ussd.SavedAnswer{{SessionID: id, AccountID: a.ID, MenuID: menu, Number: "2348030000101", Name: "Reason",
			Text: "ring 08030000101", At: at}}}))
	for role, masked := range map[sms.Role]bool{sms.Viewer: true, sms.Sender: false} {
		b := s.as(s.hire(string(role)+"@example.com", role))
		for _, path := range []string{"/ussd/sessions", "/ussd/sessions?kind=slow", views.SessionPath(id),
			views.MenuPath(menu) + "/answers"} {
			page := b.get(path)
			page.is(http.StatusOK)
			shown := strings.NewReplacer(" ", "", "\u00a0", "").Replace(page.text("main"))
			if strings.Contains(shown, "8030000101") == masked {
				t.Errorf("%s sees on %s: %s", role, path, page.text("main"))
			}
		}
		if got := b.get("/ussd/sessions"); !strings.Contains(got.text("#slow"), "slower than 1 second") {
			t.Errorf("no word of a slow answer: %s", got.text("main"))
		}
	}
	csv := s.as(s.boss).get(views.MenuPath(menu) + "/answers.csv")
	if !strings.Contains(csv.body, "Reason") || !strings.Contains(csv.body, "2348030000101") ||
		!strings.Contains(csv.body, "ring 08030000101") {
		t.Error(csv.body)
	}
}

// TestOneCodeOneMenu: two menus that would answer the same call cannot both be
// published; another network makes room.
func TestOneCodeOneMenu(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	s.menuMade(a, 0)
	other, err := s.desk.CreateMenu(context.Background(), s.boss, a.ID, ussd.Examples()[0])
	s.must(err)
	b, at := s.as(s.boss), views.MenuPath(other)
	got := b.post(at+"/publish", "revision", "1")
	got.is(http.StatusUnprocessableEntity)
	if !strings.Contains(got.text("#errors"), "already uses *347#") {
		t.Error(got.text("#errors"))
	}
	b.post(at+"/settings", "revision", "1", "name", "Glo", "code", "*347#", "on-glo", "yes", "name-0", "English", "code-0",
		"en").is(http.StatusSeeOther)
	b.post(at+"/publish", "revision", "1").is(http.StatusConflict)
	b.post(at+"/publish", "revision", "2").is(http.StatusSeeOther)
}

// TestAMenuGoesOutAndComesBack: the file of a menu makes the same menu again,
// and anything else is refused with a sentence.
func TestAMenuGoesOutAndComesBack(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	menu := s.menuMade(a, 1)
	b := s.as(s.boss)
	file := b.get(views.MenuPath(menu) + "/menu.json")
	got := b.upload("/ussd/new", "file", []byte(file.body), "from", "file")
	got.is(http.StatusSeeOther)
	d, err := s.db.MenuDraft(context.Background(), menu+1)
	s.must(err)
	if changes := ussd.Diff(ussd.Examples()[1], d.Menu); len(changes) > 0 {
		t.Errorf("%+v", changes)
	}
	for _, bad := range []string{"", "hello", "{}", `{"screens":"x"}`} {
		got := b.upload("/ussd/new", "file", []byte(bad), "from", "file")
		got.is(http.StatusUnprocessableEntity)
		if got.text("#errors") == "" {
			t.Errorf("%q is refused without a word", bad)
		}
	}
}

// TestTheSimulatorDialsAndShowsBothSides with a phone that a test holds.
func TestTheSimulatorDialsAndShowsBothSides(t *testing.T) {
	var pressed []ussd.PhoneInput
	s := newSite(t, func(c *Config) {
		c.USSD.Press = func(_ context.Context, _ int64, p ussd.PhoneInput) (ussd.PhoneOutput, error) {
			pressed = append(pressed, p)
			if p.Stage == ussd.End {
				return ussd.PhoneOutput{}, fmt.Errorf("dial: no answer")
			}
			return ussd.PhoneOutput{Request: `{"a":1}`, Answer: `{"b":2}`, Took: 1_500_000, Text: "1. Yes <b>"}, nil
		}
	})
	s.clinic()
	b := s.as(s.boss)
	b.post("/ussd/simulator", "dialled", "hello", "network", "mtn", "number", "12", "do",
		"dial").is(http.StatusUnprocessableEntity)
	page := b.post("/ussd/simulator", "dialled", "*347*1#", "network", "glo", "number", "0803 000 0101", "do", "dial")
	page.is(http.StatusOK)
	if !strings.Contains(page.text("#heard"), "1. Yes <b>") ||
		!strings.Contains(page.text("#took"), "which is too slow for some networks") || page.text("#answer") == "" {
		t.Error(page.text("main"))
	}
	session := pressed[0].Session
	if d := pressed[0]; d.Stage != ussd.Begin || d.Code != "347" || d.Text != "*347*1#" || d.Number != "2348030000101" ||
		!strings.HasPrefix(session, ussd.TrialPrefix) {
		t.Errorf("%+v", d)
	}
	b.post("/ussd/simulator", "dialled", "*347*1#", "network", "glo", "number", "0803 000 0101", "session", session,
		"input", "2", "do", "send").is(http.StatusOK)
	gone := b.post("/ussd/simulator", "dialled", "*347*1#", "network", "glo", "number", "0803 000 0101", "session",
		session, "do", "hangup")
	if pressed[1].Stage != ussd.Continue || pressed[1].Text != "2" || pressed[2].Stage != ussd.End ||
		pressed[2].Session != session || !strings.Contains(gone.text("main"), "Dial: no answer.") {
		t.Errorf("%+v %s", pressed, gone.text("main"))
	}
}

// TestAMenuIsWithdrawnRestoredAndDeleted, by a manager and nobody below.
func TestAMenuIsWithdrawnRestoredAndDeleted(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	menu := s.menuMade(a, 0)
	at := views.MenuPath(menu)
	for _, role := range []sms.Role{sms.Viewer, sms.Sender, sms.Approver} {
		b := s.as(s.hire(string(role)+"@example.com", role))
		for _, path := range []string{"/publish", "/withdraw", "/delete", "/restore", "/order", "/screen", "/settings",
			"/preview"} {
			b.post(at+path, "revision", "1", "version", "1", "do", "add").is(http.StatusForbidden)
		}
		page := b.get(at)
		page.is(http.StatusOK)
		for _, words := range []string{"Publish", "Edit", "Add a screen", "Code, languages and tables"} {
			if strings.Contains(page.text("main"), words) {
				t.Errorf("%s is offered %q", role, words)
			}
		}
	}
	b := s.as(s.hire("manager@example.com", sms.Manager))
	b.post(at+"/order", "revision", "1", "do", "add").is(http.StatusSeeOther)
	if got := b.get(at + "/publish").text("main"); !strings.Contains(got, "New screen") {
		t.Errorf("the difference is not shown: %s", got)
	}
	b.post(at + "/delete").is(http.StatusUnprocessableEntity) // callers can still dial it
	s.leads(b.get(at+"/versions").is(http.StatusOK).count(`a[href$="/restore?version=1"]`, 1))
	asked := b.get(at+"/restore?version=1").is(http.StatusOK).has("The current draft will be lost", "New screen")
	if asked.attr("#restore [name=revision]", "value") != "2" || asked.attr("#restore [name=version]", "value") != "1" {
		t.Error("the page asks about another version")
	}
	b.get(at + "/restore").to(at)
	b.get(at + "/restore?version=7").is(http.StatusNotFound)
	b.post(at+"/restore", "revision", "2", "version", "1").is(http.StatusSeeOther)
	b.get(at + "/restore?version=1").has("Nothing changes.")
	d, err := s.db.MenuDraft(context.Background(), menu)
	s.must(err)
	if changes := ussd.Diff(ussd.Examples()[0], d.Menu); len(changes) > 0 {
		t.Errorf("the draft differs from version 1: %+v", changes)
	}
	b.post(at + "/withdraw").is(http.StatusSeeOther)
	left, err := s.db.PublishedMenus(context.Background())
	s.must(err)
	if len(left) > 0 {
		t.Errorf("callers still get %+v", left)
	}
	b.post(at + "/delete").is(http.StatusSeeOther)
	b.get(at).is(http.StatusNotFound)
}

// TestAScreenIsRemovedAfterAQuestion that says what is lost, and what leads to
// it; nobody below a manager is asked.
func TestAScreenIsRemovedAfterAQuestion(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	menu := s.menuMade(a, 0)
	at, remove := views.MenuPath(menu), views.With(views.MenuPath(menu)+"/screen/remove", "key", "again")
	s.as(s.hire("s@example.com", sms.Sender)).get(remove).is(http.StatusForbidden)
	b := s.as(s.boss)
	form := b.get(views.With(at+"/screen", "key", "again")).is(http.StatusOK).count("#remove-screen", 1)
	if form.attr("#remove-screen", "href") != remove {
		t.Error("no way to the question")
	}
	asked := b.get(remove).is(http.StatusOK).has("Remove the screen Started again?", "will no longer lead to a screen.",
		"Callers keep the published version")
	b.get(views.With(at+"/screen/remove", "key", "start")).has("Callers begin with “")
	b.get(views.With(at+"/screen/remove", "key", "gone")).is(http.StatusNotFound)
	b.post(at+"/order", "do", "remove", "key", asked.attr("#remove [name=key]", "value"), "revision",
		asked.attr("#remove [name=revision]", "value")).to(at)
	d, err := s.db.MenuDraft(context.Background(), menu)
	s.must(err)
	if _, still := d.Menu.Screen("again"); still || len(d.Menu.Screens) != len(ussd.Examples()[0].Screens)-1 {
		t.Errorf("%d screens are left", len(d.Menu.Screens))
	}
	b.post(at+"/order", "do", "remove", "key", "start", "revision", asked.attr("#remove [name=revision]", "value")).is(
		http.StatusConflict)
}
