package web

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"smsdesk/internal/sms"
	"smsdesk/views"
)

// section opens a page of the clinic's settings.
func (b *browser) section(account int64, s views.AccountSection) answer {
	b.site.t.Helper()
	return b.get(views.SectionPath(account, s)).is(200)
}

func TestSendingSettings(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	b := s.as(s.boss)
	page := b.section(a.ID, views.SectionHours).has("08:00 to 20:00 is usual in Nigeria.", "West Africa Time.")
	s.leads(page)
	if page.attr("#hours_from", "value") != "" ||
		b.section(a.ID, views.SectionAdvanced).attr("#url_budget", "value") != "2,000" ||
		b.section(a.ID, views.SectionLimits).page().Find("#abroad[checked]").Length() != 0 {
		t.Error("sending hours or abroad are not off by default")
	}
	good := map[views.AccountSection][]string{
		views.SectionHours:    {"hours_from", "08:00", "hours_to", "20:00"},
		views.SectionLimits:   {"abroad", "yes", "type_above", "1,000", "person_most", ""},
		views.SectionAdvanced: {"call_limit", "50", "url_budget", "8,000"},
	}
	for section, form := range good {
		path := views.SectionPath(a.ID, section)
		b.post(path, form...).to(path + "?done=saved")
		s.as(s.hire(string(section)+"@example.com", sms.Manager)).post(path, form...).is(403)
	}
	got := s.reload(a.ID)
	if got.Hours != (sms.Hours{From: 480, To: 1200}) || !got.Abroad || got.ConfirmCountAbove != 1000 ||
		got.CallLimit != 50 || got.URLBudget != 8000 || got.Name != "Clinic" {
		t.Errorf("%+v", got)
	}
	page = b.section(a.ID, views.SectionHours)
	if page.attr("#hours_from", "value") != "08:00" || page.attr("#hours_to", "value") != "20:00" ||
		b.section(a.ID, views.SectionLimits).page().Find("#abroad[checked]").Length() != 1 {
		t.Error("what was saved is not shown")
	}
	if said := page.text("#to-hours"); !strings.Contains(said, "8:00am to 8:00pm") {
		t.Errorf("the list says %q", said)
	}
	for _, c := range []struct {
		section                views.AccountSection
		field, value, at, want string
	}{
		{views.SectionHours, "hours_to", "", "hours_to", "Enter both times, or leave both empty"},
		{views.SectionHours, "hours_to", "08:00", "hours_to",
			"Start and end must be different. Leave both empty to send at any time"},
		{views.SectionHours, "hours_from", "early", "hours_from", "Enter a time of day, for example 08:00"},
		{views.SectionLimits, "type_above", "many", "type_above", "Number of recipients must be between 0 and 1,000,000"},
		{views.SectionLimits, "person_most", "-1", "person_most",
			"Limit must be a whole number up to 100,000,000, or empty for no limit"},
		{views.SectionAdvanced, "call_limit", "0", "call_limit", "Recipients per request must be between 1 and 10,000"},
		{views.SectionAdvanced, "call_limit", "", "call_limit", "Recipients per request must be between 1 and 10,000"},
		{views.SectionAdvanced, "url_budget", "0", "url_budget", "URL length must be between 500 and 8,000 bytes"},
		{views.SectionAdvanced, "url_budget", "8001", "url_budget", "URL length must be between 500 and 8,000 bytes"},
	} {
		path := views.SectionPath(a.ID, c.section)
		refused := b.post(path, with(good[c.section], c.field, c.value)...).is(422)
		s.leads(refused)
		if said := refused.text(`#errors a[href="#` + c.at + `"]`); said != c.want ||
			refused.attr("#"+c.field, "value") != c.value || !strings.Contains(refused.text("#"+c.at+"-error"), c.want) ||
			refused.attr(".deck-say a", "href") != path {
			t.Errorf("%s=%q: said %q, kept %q", c.field, c.value, refused.text("#errors"), refused.attr("#"+c.field, "value"))
		}
	}
	if s.reload(a.ID) != got {
		t.Error("what was refused was stored")
	}
}

// TestAPageSavesItsOwnFields: what stands on another page, or was not sent,
// stays as it is.
func TestAPageSavesItsOwnFields(t *testing.T) {
	s := newSite(t)
	a := s.clinic(func(a *sms.Account) {
		a.Hours, a.Abroad, a.ConfirmCountAbove = sms.Hours{From: 480, To: 1200}, true, 7
		a.Limits, a.SendByGet, a.Currency = sms.Limits{MaxPerDay: 90, CapMessages: 2, CapDays: 5}, true, "₦"
		a.PricePerPart = 400
	})
	b := s.as(s.boss)
	for _, section := range []views.AccountSection{views.SectionHours, views.SectionAdvanced, views.SectionMoney} {
		b.post(views.SectionPath(a.ID, section)).to(views.SectionPath(a.ID, section) + "?done=saved")
	}
	b.post(views.SectionPath(a.ID, views.SectionLimits), "abroad", "yes").is(303)
	now := s.reload(a.ID)
	now.ChangedAt = a.ChangedAt
	if now != a {
		t.Errorf("empty forms made of %+v\n%+v", a, now)
	}
	b.post(views.SectionPath(a.ID, views.SectionAdvanced), "send_by", "post").is(303)
	b.post(views.SectionPath(a.ID, views.SectionLimits), "day_most", "").is(303)
	b.post(views.SectionPath(a.ID, views.SectionHours), "day_0", "closed", "hours_zone", "Africa/Nairobi").is(303)
	if now = s.reload(a.ID); now.SendByGet || now.Abroad || now.Limits.MaxPerDay != 0 || now.Limits.CapMessages != 2 ||
		!now.Hours.Own[0].Closed || now.Hours.Zone != "Africa/Nairobi" || now.Hours.From != 480 {
		t.Errorf("%+v", now)
	}
	settings := func() sms.RecordSettings {
		got, err := s.db.RecordSettings(context.Background(), a.ID)
		s.must(err)
		return got
	}
	b.post(views.SectionPath(a.ID, views.SectionAdvanced), "creates", "yes").is(303)
	if !settings().Creates {
		t.Error("records are still not made from here")
	}
	b.post(views.SectionPath(a.ID, views.SectionMoney), "warn_below", "5,000").is(303)
	if got := settings(); got.WarnBelow != 500_000 || !got.Creates {
		t.Errorf("%+v", got)
	}
}

// TestTheFormOfBeforeIsTaken: one address took hours, limits and requests at once.
func TestTheFormOfBeforeIsTaken(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	b := s.as(s.boss)
	path := views.AccountPath(a.ID) + "/sending"
	form := []string{"hours_from", "08:00", "hours_to", "20:00", "abroad", "yes", "type_above", "1,000", "call_limit",
		"50", "url_budget", "8,000", "send_by", "get"}
	b.post(path, form...).to(views.SectionPath(a.ID, views.SectionLimits) + "?done=saved")
	if got := s.reload(a.ID); got.Hours.From != 480 || got.ConfirmCountAbove != 1000 || got.CallLimit != 50 ||
		!got.SendByGet || !got.Abroad {
		t.Errorf("%+v", got)
	}
	refused := b.post(path, with(form, "call_limit", "0")...).is(422)
	if refused.text(".sections [aria-current] span") != "Advanced" || refused.attr("#set", "action") !=
		views.SectionPath(a.ID, views.SectionAdvanced) {
		t.Error("what is wrong is not shown on its page")
	}
	b.post(views.AccountPath(a.ID)+"/records", "creates", "yes").to(
		views.SectionPath(a.ID, views.SectionAdvanced) + "?done=saved")
}

// TestLimitsThatContradict: each is refused with a sentence at its field, and
// told in the list where it is stored all the same.
func TestLimitsThatContradict(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	b := s.as(s.boss)
	path := views.SectionPath(a.ID, views.SectionLimits)
	alone := "No one could approve, because no one approves their own campaigns. Give another team member the Approver " +
		"role first, or leave this empty"
	for _, c := range []struct {
		form     []string
		at, want string
	}{
		{[]string{"person_most", "50,000", "day_most", "40,000"}, "day_most",
			"Maximum per day must be 50,000 or more, or the largest campaign would take more than a day"},
		{[]string{"person_most", "50,000", "person_day_most", "49,999"}, "person_day_most",
			"Maximum per team member must be 50,000 or more, or no one could send the largest campaign"},
		{[]string{"approve_above", "1000"}, "approve_above", alone},
		{[]string{"cap_messages", "1", "cap_days", ""}, "cap_days",
			"Enter both the number of messages and the number of days, or leave both empty"},
	} {
		refused := b.post(path, c.form...).is(422)
		if said := refused.text(`#errors a[href="#` + c.at + `"]`); said != c.want ||
			!strings.Contains(refused.text("#"+c.at+"-error"), c.want) {
			t.Errorf("%v: said %q", c.form, refused.text("#errors"))
		}
	}
	if s.reload(a.ID).Limits != (sms.Limits{}) {
		t.Error("contradictions were stored")
	}
	b.post(path, "person_most", "50,000", "day_most", "50,000", "person_day_most", "50,000").to(path + "?done=saved")
	s.hire("sam@example.com", sms.Sender)
	b.post(path, "approve_above", "1000").to(path + "?done=saved")
	page := b.get(path).has("1 team member can approve, but not their own campaigns.")
	if said := page.text("#to-limits small"); said != "Approval above 1,000, 50,000 per campaign" {
		t.Errorf("the list says %q", said)
	}
	s.update(a.ID, func(a *sms.Account) { a.Limits.MaxPerDay = 10 })
	if said := b.get(path).text("#to-limits .tag.bad"); said != "Limits contradict each other" {
		t.Errorf("the list says %q", said)
	}
	// What else is on the pages can be saved in the meantime.
	b.post(views.SectionPath(a.ID, views.SectionHours), "hours_from", "08:00", "hours_to", "20:00").is(303)
}

// TestThePriceIsLearnedOrTyped: the choice decides.
func TestThePriceIsLearnedOrTyped(t *testing.T) {
	s := newSite(t)
	a := s.clinic(func(a *sms.Account) { a.PricePerPart = 405 })
	b := s.as(s.boss)
	path := views.SectionPath(a.ID, views.SectionMoney)
	b.post(path, "price_from", "learned", "price_per_part", "4.05", "currency", "₦").to(path + "?done=saved")
	if got := s.reload(a.ID); got.PricePerPart != 0 || got.Currency != "₦" {
		t.Errorf("%d %s", got.PricePerPart, got.Currency)
	}
	for _, typed := range []string{"", "four", "0", "1.005"} {
		refused := b.post(path, "price_from", "typed", "price_per_part", typed).is(422)
		if said := refused.text("#price_per_part-error"); !strings.Contains(said, "Enter a price, for example 4.00") {
			t.Errorf("%q: %q", typed, said)
		}
	}
	b.post(path, "price_from", "typed", "price_per_part", "3.50", "warn_below", "x").is(422)
	b.post(path, "price_from", "typed", "price_per_part", "3.50", "currency", "naira").is(422)
	b.post(path, "price_from", "typed", "price_per_part", "3.50", "currency", "₦").to(path + "?done=saved")
	if said := b.get(path).text("#to-money small"); said != "₦3.50 per part" {
		t.Errorf("the list says %q", said)
	}
}

// TestTheListIsThePageOfAPhone: at the account's own address a phone shows the
// list only, unless there is something to tell of the connection.
func TestTheListIsThePageOfAPhone(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	b := s.as(s.boss)
	b.get(views.AccountPath(a.ID)).is(200).count(".settings.index", 1).count(".deck.desk", 1)
	b.get(views.AccountPath(a.ID)+"?tested=failed").count(".settings.index", 0)
	b.post(views.AccountPath(a.ID), "name", "").is(422).count(".settings.index", 0).count(".deck.desk", 0)
	for _, section := range views.AccountSections() {
		page := b.section(a.ID, section).count(".settings.index", 0).count(".deck.desk", 0)
		s.leads(page)
		var names []string
		page.page().Find(".sections a > span").Each(func(_ int, e *goquery.Selection) { names = append(names, e.Text()) })
		if !slices.Equal(names, []string{"Connection", "Sending hours", "Limits and approval", "Money", "Advanced"}) {
			t.Errorf("%s lists %q", section, names)
		}
	}
}
