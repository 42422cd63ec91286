package web

import (
	"strings"
	"testing"

	"smsdesk/internal/sms"
)

// A message to typed numbers says what it costs as it is written.
func TestTheCostTicksWhileAMessageIsWritten(t *testing.T) {
	s := newSite(t)
	s.clinic(func(a *sms.Account) { a.PricePerPart, a.Currency = 400, "₦" })
	b := s.as(s.boss)
	form := func(pairs ...string) []string { return append([]string{"account", "1"}, pairs...) }
	b.get("/new").is(200).lacks("Estimated cost")
	got := b.postFragment("/new/parts", form("text", "Dear all", "numbers", "0803 555 0101, 0803 555 0102")...).is(200)
	got.has("about ₦8", "2 recipients, 2 parts", "₦4.00 a part, as set in Settings", "about ₦8.00 estimated cost")
	got = b.postFragment("/new/parts", form("text", "Dear all")...).is(200)
	got.has("about ₦4.00 for each recipient")
	got = b.postFragment("/new/parts", form("text", strings.Repeat("x", 80)+"“", "numbers", "0803 555 0101, 0803 555 0102")...)
	got.is(200).has("Use standard characters, save 1 part each, about ₦8")
	got = b.postFragment("/new/numbers", form("text", "Dear all", "numbers", "0803 555 0101")...).is(200)
	got.has("1 number", "about ₦4.00", "1 recipient, 1 part")
}

// Of a list, the cost is that of its rows, and the longest can be looked at.
func TestAListIsLookedAtWhileItsMessageIsWritten(t *testing.T) {
	s := newSite(t)
	s.clinic(func(a *sms.Account) { a.PricePerPart, a.Currency = 400, "₦" })
	b := s.as(s.boss)
	at := b.uploads("list.csv", "phone,name\n08031234501,Ada\n08031234502,"+strings.Repeat("Bola ", 40)+
		"\n08031234503,Tọ́pẹ́\n08031234501,Ada\n") + "/message"
	page := b.get(at).is(200)
	text := []string{"text", "Dear ##name##", "field:name", "1", "sender_id", "CLINIC"}
	got := b.post(at, page.filled(append(text, "do", "see:longest")...)...).is(200)
	if told := got.text("#filled .told"); !strings.HasPrefix(told, "Row 3 ") {
		t.Errorf("the longest is %q", told)
	}
	if got.attr("#see-longest", "aria-pressed") != "true" || got.attr("[name=see]", "value") != "longest" {
		t.Error("nothing says that this is the longest")
	}
	got.has("about ₦16", "3 recipients, 4 parts")
	s.leads(got)
	got = b.post(at, got.filled(append(text, "do", "see:special")...)...).is(200)
	if bubble := got.text("#filled .bubble"); !strings.Contains(bubble, "Tọ́pẹ́") {
		t.Errorf("the one with special characters is %q", bubble)
	}
	// It stays in view while the text changes, without a second press.
	got = b.postFragment(strings.TrimSuffix(at, "message")+"preview",
		page.filled("text", "Hello ##name##", "field:name", "1", "see", "longest")...).is(200)
	got.has("Row 3 as the recipient sees it", "about ₦16")
	got = b.postFragment(strings.TrimSuffix(at, "message")+"preview", page.filled("text", "Hello", "see", "longest")...)
	got.is(200).has("Row 2 as the recipient sees it").lacks("Longest")
}
