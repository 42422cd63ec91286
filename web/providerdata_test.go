package web

import (
	"net/http"
	"strings"
	"testing"

	"smsdesk/internal/sms"
)

// TestRecordsWithoutAnAccount: nothing is connected, and each page says so.
func TestRecordsWithoutAnAccount(t *testing.T) {
	s := newSite(t)
	for _, path := range []string{"/templates", "/senders", "/groups", "/balance"} {
		if text := s.as(s.boss).get(path).is(http.StatusOK).text("main"); !strings.Contains(text,
			"No provider account connected") {
			t.Errorf("%s: %s", path, text)
		}
	}
}

// TestRecordsThatWereNeverRead are empty, and say what to do.
func TestRecordsThatWereNeverRead(t *testing.T) {
	s := newSite(t)
	s.account(sms.Account{Name: "Clinic"})
	for path, want := range map[string]string{
		"/templates": "Create templates in the provider dashboard",
		"/senders":   "Ask the provider to register a sender ID.",
		"/groups":    "No groups yet.",
		"/balance":   "We check the balance every few minutes and after each campaign.",
	} {
		text := s.as(s.boss).get(path).is(http.StatusOK).text("main")
		if !strings.Contains(text, want) || path != "/balance" &&
			!strings.Contains(text, "Not loaded from the provider yet.") {
			t.Errorf("%s: %s", path, text)
		}
	}
}

// TestRecordsFromTheCache: what was read last is shown with its time and why it
// could not be read again; a viewer is offered nothing that changes.
func TestRecordsFromTheCache(t *testing.T) {
	s := newSite(t)
	a := s.account(sms.Account{Name: "Clinic"})
	ctx, now := t.Context(), s.clock.now().UnixMilli()
	s.must(s.db.PutTemplates(ctx, a.ID, []sms.Template{{ID: 7, Name: "Fees", Text: "Dear ##Name##", IsActive: true}}, now))
	s.must(s.db.PutSenderIDs(ctx, a.ID, []sms.SenderID{{ID: 8, Text: "CLINIC", ApproveStatus: "On hold <b>",
		IsActive: true}}, now))
	s.must(s.db.PutGroups(ctx, a.ID, []sms.Group{{ID: 9, Name: "Parents", ContactCount: 412}}, now))
	s.must(s.db.PutBalances(ctx, a.ID, []sms.Balance{{PluginType: "SMS", Credits: "₦57,524.50"},
		{PluginType: "USSD", Credits: "no idea"}}, now))
	for _, kind := range []sms.RecordKind{sms.RecordTemplates, sms.RecordSenders, sms.RecordGroups, sms.RecordBalance} {
		s.must(s.db.MarkRecords(ctx, a.ID, kind, "We cannot reach the provider"))
	}
	viewer := s.hire("viewer@example.com", sms.Viewer)
	for path, want := range map[string][]string{
		"/templates":   {"Fees", "Not approved", "Showing what the provider said today at 10:48am."},
		"/templates/7": {"##Name##", "only approved and active templates can be used"},
		"/senders":     {"CLINIC", "On hold <b>", "Showing what the provider said today at 10:48am."},
		"/groups":      {"Parents", "412", "elsewhere", "Showing what the provider said today at 10:48am."},
		"/balance":     {"SMS₦57,524.50", "USSDno idea", "Could not read the balance", "Last known ₦57,524.50, today at 10:48am.", "No usage in June 2026."},
	} {
		page := s.as(viewer).get(path).is(http.StatusOK)
		for _, words := range want {
			if !strings.Contains(page.text("main"), words) {
				t.Errorf("%s does not say %q:\n%s", path, words, page.text("main"))
			}
		}
		if n := page.page().Find(
			"main form[method=post], main a[href$=delete], main a[href$=edit], main a[href*='group=']").Length(); n > 0 {
			t.Errorf("%s offers a viewer %d changes", path, n)
		}
	}
}

// TestBandsAboutTheBalance stand on every page until somebody has seen to them.
func TestBandsAboutTheBalance(t *testing.T) {
	s := newSite(t)
	a := s.account(sms.Account{Name: "Clinic"})
	ctx, now := t.Context(), s.clock.now().UnixMilli()
	const hour = 3_600_000
	for i, credits := range []string{"₦57,524.50", "₦53,524.50"} {
		s.must(s.db.PutBalances(ctx, a.ID, []sms.Balance{{PluginType: "SMS", Credits: credits}}, now-int64(2-i)*hour))
	}
	_, err := s.desk.SaveRecordSettings(ctx, s.boss, a.ID, func(x *sms.RecordSettings) { x.WarnBelow = 6_000_000 })
	s.must(err)
	for _, path := range []string{"/campaigns", "/templates"} {
		text := s.as(s.boss).get(path).text(".bands")
		for _, want := range []string{"The balance is low: ₦53,524.50. Your alert level is ₦60,000.00.",
			"The SMS balance fell ₦4,000.00, from ₦57,524.50 to ₦53,524.50 between"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q: %s", path, want, text)
			}
		}
	}
	page := s.as(s.boss).get("/balance")
	last, _ := page.page().Find("#seen input[name=last]").Attr("value")
	s.as(s.boss).post("/balance/seen", "last", last).is(http.StatusSeeOther)
	if text := s.as(s.boss).get("/campaigns").text(".bands"); strings.Contains(text, "although smsdesk sent nothing") ||
		!strings.Contains(text, "The balance is low") {
		t.Errorf("after it was seen: %s", text)
	}
}
