package web

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
)

// found follows a search to the page it leads to; no number may stand in its
// address. A few digits may stand in any random word.
func (b *browser) found(path string, pairs ...string) answer {
	b.site.t.Helper()
	got := b.post(path, pairs...).is(http.StatusSeeOther)
	to := got.header.Get("Location")
	for i, typed := range pairs {
		if digits := strings.Trim(typed, "+ 0"); i > 0 && pairs[i-1] == "number" &&
			len(digits) > 6 && strings.Contains(to, digits) {
			b.site.t.Errorf("the address %q holds a number", to)
		}
	}
	return b.get(to).is(http.StatusOK)
}

// numbers are the first cells of the rows of messages.
func (a answer) recipients() string {
	a.t.Helper()
	var list []string
	if one := a.page().Find("#conversation > li"); one.Length() > 0 {
		return strings.TrimSuffix(strings.Repeat(a.text("dl dd:first-of-type")+"|", one.Length()), "|")
	}
	a.page().Find("#messages tbody th").Each(func(_ int, e *goquery.Selection) {
		list = append(list, strings.TrimSpace(e.Text()))
	})
	return strings.Join(list, "|")
}

func TestMessagesFindsOnePerson(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	first := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(3), Text: "First reminder"})
	s.send(a, 5, accept)
	s.clock.pass(48 * time.Hour)
	s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: "08030001001\n07030001001", Text: "Second reminder"})
	s.send(a, 5, accept)
	s.reports(a, report("1002", "UNDELIV", "27"))
	s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: "08030001001", Text: "Not sent yet"})
	b := s.as(s.boss)

	all := b.get("/messages").is(200)
	s.leads(all)
	if got := all.recipients(); got != "0703 000 1001|0803 000 1001|0803 000 1002|0803 000 1001|0803 000 1000" {
		t.Errorf("all: %s", got)
	}
	for _, typed := range []string{"0803 000 1001", "+234 803 000 1001", "2348030001001", "8030001001",
		" 0803-000-1001 "} {
		page := b.found("/messages/search", "number", typed).has("2 messages to 0803 000 1001, newest campaign first")
		if got := page.recipients(); got != "0803 000 1001|0803 000 1001" {
			t.Errorf("%s: %s", typed, got)
		}
		s.leads(page)
	}
	if got := b.found("/messages/search", "number",
		"1001").has("3 messages to numbers ending in 1001").recipients(); got != "0703 000 1001|0803 000 1001|0803 000 1001" {
		t.Errorf("by the last digits: %s", got)
	}
	b.found("/messages/search", "number", "0803 555 0101").has("No messages to 0803 555 0101 in the last 13 months.")
	b.found("/messages/search", "number", "0803 000 1001", "tile",
		"failed").has("No messages to 0803 000 1001 match these filters.")
	if got := b.found("/messages/search", "tile", "failed").recipients(); got != "0803 000 1002" {
		t.Errorf("not delivered: %s", got)
	}
	if got := b.found("/messages/search", "campaign",
		"1").recipients(); got != "0803 000 1002|0803 000 1001|0803 000 1000" {
		t.Errorf("of one campaign: %s", got)
	}
	today := s.clock.now().Format(time.DateOnly)
	if got := b.found("/messages/search", "from", today).recipients(); got != "0703 000 1001|0803 000 1001" {
		t.Errorf("from today: %s", got)
	}
	if got := b.found("/messages/search", "to", s.clock.now().AddDate(0, 0,
		-2).Format(time.DateOnly)).recipients(); got != "0803 000 1002|0803 000 1001|0803 000 1000" {
		t.Errorf("until two days ago: %s", got)
	}
	for typed, sentence := range map[string]string{
		"0803 5S5 0101":  `Contains letters: character 7 of "0803 5S5 0101" is S`,
		"12":             "Enter the full number, or at least its last 4 digits",
		"0803 555 01011": "Too long: has 12 digits, needs 11",
	} {
		page := b.post("/messages/search", "number", typed).is(http.StatusUnprocessableEntity).has(sentence)
		if page.attr("#number", "value") != typed {
			t.Errorf("%q is not kept", typed)
		}
		s.leads(page)
	}
	b.post("/messages/search", "from", "tomorrow").is(http.StatusUnprocessableEntity).has(
		"Enter a date, for example 2026-06-03")
	b.post("/messages/search", "from", "2026-06-03", "to", "2026-06-01").is(http.StatusUnprocessableEntity).has(
		"End date must be on or after the start date")
	b.get("/messages/search").to("/messages")
	b.get("/messages?find=made-up").is(200).has("This search has expired.")

	// A word is worth nothing to somebody else, or to the next day.
	word := b.post("/messages/search", "number", "0803 000 1001").header.Get("Location")
	s.as(s.hire("other@example.com", sms.Sender)).get(word).has("This search has expired.")
	s.clock.pass(13 * time.Hour)
	s.as(s.boss).get(word).has("This search has expired.")

	s.clock.pass(14 * 30 * 24 * time.Hour)
	b = s.as(s.boss)
	b.found("/messages/search", "number", "0803 000 1001").has("No messages to 0803 000 1001 in the last 13 months.")
	_ = first
}

func TestMessagesAreMaskedForViewers(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(2)})
	s.send(a, 5, accept)
	b := s.as(s.hire("viewer@example.com", sms.Viewer))
	b.get("/messages").is(200).has("0803 ••• 1001").lacks("08030001001", "803 000 1001", "8030001001")
	b.found("/messages/search", "number", "0803 000 1001").has("1 message to 0803 ••• 1001")
	same := b.found("/messages/search", "message", "2").has("1 message to 0803 ••• 1001").lacks("08030001001",
		"0803 000 1001", "8030001001")
	if got := same.attr("#number", "value"); got != "" {
		t.Errorf("the field shows %q", got)
	}
	s.as(s.boss).found("/messages/search", "message", "2").has("1 message to 0803 000 1001")
}

func TestMessagesPages(t *testing.T) {
	s := newSite(t)
	a := s.clinic(func(a *sms.Account) { a.CallLimit = 100 })
	s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(70), Text: "One"})
	s.send(a, 9, accept)
	s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(60), Text: "Two"})
	s.send(a, 9, accept)
	b := s.as(s.boss)
	for _, filter := range []string{"", "?tile=network"} {
		var all []string
		page := b.get("/messages" + filter).is(200)
		for range 5 {
			s.leads(page)
			all = append(all, strings.Split(page.recipients(), "|")...)
			next, more := page.page().Find("a[rel=next], .pager a:contains(Next)").Attr("href")
			if !more {
				break
			}
			page = b.get(next).is(200)
		}
		if len(all) != 130 || all[0] != "0803 000 1059" || all[129] != "0803 000 1000" {
			t.Errorf("%q: %d messages, from %s to %s", filter, len(all), all[0], all[len(all)-1])
		}
	}
}

// TestMessagesOfOnePersonAreAConversation: what was sent to a number, each with
// its state and campaign, beside who it is and whether it may be written to.
func TestMessagesOfOnePersonAreAConversation(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	s.started(s.boss, desk.Order{AccountID: a.ID, Name: "First", Numbers: typed(2), Text: "First reminder"})
	s.send(a, 5, accept)
	s.clock.pass(48 * time.Hour)
	s.started(s.boss, desk.Order{AccountID: a.ID, Name: "Second", Numbers: "08030001000", Text: "Second reminder"})
	s.send(a, 5, accept)
	s.reports(a, report("1000", "UNDELIV", "27"))
	b := s.as(s.boss)
	find := func(b *browser, number string) answer {
		return b.found("/messages/search", "number", number).is(http.StatusOK)
	}
	page := find(b, "0803 000 1000").count("#conversation > li", 2).count(".bubble", 2)
	page.has("2 messages to 0803 000 1000", "First reminder", "Second reminder", "Not delivered", "code 27",
		"Awaiting report", "Not a saved contact", "Block this number")
	page.count("#conversation a[href$='/again']", 2)
	s.leads(page)
	contact, err := s.db.SaveContact(t.Context(), sms.Contact{AccountID: a.ID, Number: "2348030001000", Name: "Funmi"}, nil, 1)
	s.must(err)
	_, _, err = s.desk.BlockNumbers(t.Context(), s.boss, desk.BlockOrder{AccountID: a.ID, Numbers: "0803 000 1000"})
	s.must(err)
	page = find(b, "0803 000 1000").has("Funmi", "Number blocked since", "Proof:").lacks("Block this number")
	page.count("#conversation a[href$='/again']", 0).count("a[href='/contacts/"+ids(contact.ID)+"']", 1)
	s.leads(page)
	find(b, "0803 555 0101").has("No messages to 0803 555 0101 in the last 13 months.", "Not a saved contact")

	viewer := s.as(s.hire("viewer@example.com", sms.Viewer)).found("/messages/search", "message", "1")
	viewer.count("#conversation > li", 2).has("0803 ••• 1000").lacks("0803 000 1000", "2348030001000", "Proof:", "/again",
		"Block this number")
}
