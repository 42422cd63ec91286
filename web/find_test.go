package web

import (
	"strings"
	"testing"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/views"
)

// TestOneBoxFindsEverything: numbers, campaigns, their words, contacts,
// templates and the help, each in its panel; no address holds what was typed.
func TestOneBoxFindsEverything(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	s.started(s.boss, desk.Order{AccountID: a.ID, Name: "June visits", Numbers: typed(2), Text: "Bring your yellow card"})
	s.send(a, 5, accept)
	_, err := s.db.SaveContact(t.Context(), sms.Contact{AccountID: a.ID, Number: "2348035550101", Name: "Yellow Obi"}, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := s.as(s.boss)
	find := func(q string) answer {
		t.Helper()
		got := b.post(views.FindPath, "q", q).is(303)
		to := got.header.Get("Location")
		// A few digits may stand in any random word.
		if said := strings.ReplaceAll(q, " ", ""); len(said) > 6 && strings.Contains(strings.ToLower(to), strings.ToLower(said)) {
			t.Errorf("the address %q says what was looked for", to)
		}
		return b.get(to).is(200)
	}
	panels := func(at answer) string {
		var names []string
		for _, h := range at.page().Find(".found h2").EachIter() {
			names = append(names, h.Text())
		}
		return strings.Join(names, ", ")
	}
	for q, want := range map[string]string{
		"YELLOW":      "Contacts, Campaigns",
		"yellow obi":  "Contacts",
		"june":        "Campaigns",
		"keyboard":    "Help",
		"1000":        "Messages to these numbers",
		"0803555":     "Contacts",
		"nothing has": "",
	} {
		if got := panels(find(q)); got != want {
			t.Errorf("%q finds %q, want %q", q, got, want)
		}
	}
	find("nothing has").has("Nothing found")
	find("  ").has("Type a number")
	find("0803 000 1000").has("1 message to 0803 000 1000")
	find("<script>alert(1)</script>").has("Nothing found")
	b.get(views.FindPath + "?find=unknown").is(200).has("This search has expired")
	other := s.as(s.hire("v@example.com", sms.Viewer))
	if got := panels(other.get(b.post(views.FindPath, "q", "june").is(303).header.Get("Location"))); got != "" {
		t.Errorf("somebody else's search finds %q", got)
	}
}

// TestMessagesAreFoundByWords: the box of the messages takes words too.
func TestMessagesAreFoundByWords(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	s.started(s.boss, desk.Order{AccountID: a.ID, Name: "June visits", Numbers: typed(2), Text: "Bring your yellow card"})
	s.started(s.boss, desk.Order{AccountID: a.ID, Name: "100% July", Numbers: "08030001009", Text: "Something else"})
	s.send(a, 5, accept)
	b := s.as(s.boss)
	for q, want := range map[string]string{
		"yellow CARD": "0803 000 1001|0803 000 1000",
		"visits":      "0803 000 1001|0803 000 1000",
		"0% j":        "0803 000 1009",
	} {
		if numbers := b.found("/messages/search", "number", q).recipients(); numbers != want {
			t.Errorf("%q finds %q, want %q", q, numbers, want)
		}
	}
}
