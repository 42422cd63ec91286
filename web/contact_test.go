package web

import (
	"net/http"
	"testing"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/views"
)

// TestWhatIsWrongWithAFilterCanBeMended: its fields stay on the page, and it
// says nothing of who fits; a search that is over can be typed again.
func TestWhatIsWrongWithAFilterCanBeMended(t *testing.T) {
	s := newSite(t)
	a := s.account(sms.Account{Name: "Clinic", Country: "NG"})
	_, err := s.db.SaveContact(t.Context(), sms.Contact{AccountID: a.ID, Number: "2348035550101", Name: "Ada Obi",
		Fields: map[string]string{"town": "Ibadan"}},
		[]sms.ContactColumn{{Key: "town", Name: "Town"}}, s.clock.now().UnixMilli())
	s.must(err)
	s.as(s.boss).get("/contacts?column=town&op=more&value=x").is(http.StatusOK).
		has("Enter a number or a date, for example 5000 or 2026-01-31", "Correct the filter to see matching contacts.").count(
		"#filter[open]", 1).count("#search", 1).lacks("No contacts match")
	s.as(s.boss).get("/contacts?find=gone").is(http.StatusOK).has("This search has expired. Enter it again.").count(
		"#search", 1)
	s.as(s.boss).get("/contacts?column=town&op=is&value=Kano").has("No contacts match this filter")
}

// TestNumbersAreNotGuessedDigitByDigit: who sees them masked finds whole ones
// only.
func TestNumbersAreNotGuessedDigitByDigit(t *testing.T) {
	for _, tc := range []struct {
		typed  string
		masked bool
		prefix string
	}{
		{"0803 555", false, "234803555"},
		{"0803 555", true, ""},
		{"0803 555 0101", true, "2348035550101"},
		{"+234 803 555 0101", true, "2348035550101"},
	} {
		var f sms.ContactFilter
		desk.NarrowContacts(&f, tc.typed, "NG", tc.masked)
		if f.Prefix != tc.prefix || tc.prefix == "" && f.Filter.Everybody() {
			t.Errorf("%q, masked %t: prefix %q, filter %+v", tc.typed, tc.masked, f.Prefix, f.Filter)
		}
	}
}

// TestBlocksThatEndedAreShown: who sees numbers masked sees when and by whom,
// and neither proof nor note: people write numbers into them.
func TestBlocksThatEndedAreShown(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c, err := s.db.SaveContact(t.Context(), sms.Contact{AccountID: a.ID, Number: "2348030000101", Name: "Ada Obi"}, nil,
		s.clock.now().UnixMilli())
	s.must(err)
	page := views.ContactPath(c.ID, "")
	b, viewer := s.as(s.boss), s.as(s.hire("v@example.com", sms.Viewer))
	b.post("/settings/blocked", "numbers", "08030000101", "note",
		"wrote from 0803 555 0199").to("/settings/blocked?done=blocked")
	b.get(page).is(200).count("#blocked", 1).count("#ended", 0)
	b.post("/settings/blocked/1/unblock", "note", "came by in person").to("/settings/blocked?done=unblocked")
	s.leads(b.get(page).is(200).count("#blocked", 0).count("#ended tbody tr", 1).has("Previous blocks", "added by Ada Obi",
		"Entered by hand", "wrote from 0803 555 0199", "by Ada Obi", "came by in person"))
	viewer.get(page).is(200).count("#ended tbody tr", 1).has("added by Ada Obi", "by Ada Obi").lacks("Entered by hand",
		"wrote from", "came by in person", "0199")
	b.post("/settings/blocked", "numbers", "08030000101").to("/settings/blocked?done=blocked")
	b.get(page).is(200).count("#blocked", 1).count("#ended tbody tr", 1)
}

// TestWhoChangesAPersonSecondSeesBoth: what is stored now and what they typed,
// and saving once more takes its place.
func TestWhoChangesAPersonSecondSeesBoth(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c, err := s.db.SaveContact(t.Context(), sms.Contact{AccountID: a.ID, Number: "2348030000101", Name: "Ada Obi"}, nil,
		s.clock.now().UnixMilli())
	s.must(err)
	edit := views.ContactPath(c.ID, "/edit")
	ada, bola := s.as(s.boss), s.as(s.hire("b@example.com", sms.Sender))
	form := ada.get(edit).is(200)
	seen := form.attr("#contact [name=version]", "value")
	bola.post(edit, "version", seen, "number", "0803 000 0101", "name", "Adaobi", "tags",
		"Parents").to(views.ContactPath(c.ID, "?done=saved"))
	bad := ada.post(edit, "version", seen, "number", "0803", "name", "Ada O.").is(422).has("There is a problem")
	if bad.attr("#contact [name=version]", "value") != seen {
		t.Error("a mistake in a field makes the page forget what was seen")
	}
	again := ada.post(edit, "version", seen, "number", "0803 000 0102", "name",
		"Ada O.").is(409).has("Someone else changed this contact while you had it open", "Saved version", "Adaobi", "Parents", "0803 000 0101")
	if again.attr("#contact [name=number]", "value") != "0803 000 0102" ||
		again.attr("#contact [name=name]", "value") != "Ada O." {
		t.Errorf("what was typed is gone: %q %q", again.attr("#contact [name=number]", "value"),
			again.attr("#contact [name=name]", "value"))
	}
	ada.post(edit, "version", again.attr("#contact [name=version]", "value"), "number", "0803 000 0102", "name",
		"Ada O.").to(views.ContactPath(c.ID, "?done=saved"))
	now, err := s.db.Contact(t.Context(), c.ID)
	if err != nil || now.Name != "Ada O." || now.Number != "2348030000102" || len(now.Tags) != 0 {
		t.Errorf("%+v %v", now, err)
	}
}

// TestAPreviewForgetsNotWhatWasSeen: whoever looks at who fits before saving is
// told all the same that somebody else was faster.
func TestAPreviewForgetsNotWhatWasSeen(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	made, err := s.db.CreateAudience(t.Context(), sms.Audience{AccountID: a.ID, Name: "Ibadan", Kind: sms.Filtered}, nil,
		s.clock.now().UnixMilli())
	s.must(err)
	page, b := views.AudiencePath(made.ID, ""), s.as(s.boss)
	seen := b.get(page).is(200).attr("#audience [name=version]", "value")
	s.as(s.hire("b@example.com", sms.Sender)).post(page, "version", seen, "name", "Lagos", "do", "save").is(303)
	preview := b.post(page, "version", seen, "name", "Mine", "do", "preview").is(200).attr("#audience [name=version]",
		"value")
	again := b.post(page, "version", preview, "name", "Mine", "do",
		"save").is(409).has("Someone else changed this audience while you had it open", "It is now called “Lagos”")
	if again.attr("#audience [name=name]", "value") != "Mine" {
		t.Error("what was typed is gone")
	}
	b.post(page, "version", again.attr("#audience [name=version]", "value"), "name", "Mine", "do", "save").is(303)
}
