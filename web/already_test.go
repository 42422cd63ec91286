package web

import (
	"net/http"
	"strings"
	"testing"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/views"
)

// twenty are the rows of a list for closedText, from a number on.
func twenty(first, n int) string {
	var b strings.Builder
	b.WriteString("Phone,Name\n")
	for _, number := range strings.Fields(typed(first + n))[first:] {
		b.WriteString(strings.Trim(number, ",") + ",Ada\n")
	}
	return b.String()
}

const closedText = "Dear ##Name##, the clinic is closed."

// pressed posts a button of the card about those who got nearly the same text.
func (b *browser) pressed(page answer, do string) answer {
	b.site.t.Helper()
	form := page.page().Find("#already-form")
	if page.page().Find("#already-"+do).Length() != 1 {
		b.site.t.Fatalf("there is no button %s: %s", do, page.text("#already"))
	}
	return b.post(form.AttrOr("action", ""), "version", page.attr("#already-form [name=version]", "value"), "do",
		do).is(http.StatusSeeOther)
}

// TestACheckedListSaysWhoGotNearlyThisText, who is left out for it, included
// again, and at last asked about before sending.
func TestACheckedListSaysWhoGotNearlyThisText(t *testing.T) {
	s := newSite(t)
	s.clinic()
	s.importer()
	b := s.as(s.boss)
	at := b.uploads("june.csv", twenty(0, 16))
	b.post(at+"/message", b.get(at+"/message").filled("text", closedText)...).is(http.StatusSeeOther)
	c := s.campaign(s.list(at).CampaignID)
	_, err := s.desk.StartCampaign(t.Context(), s.boss, c.ID, desk.StartOrder{Version: c.Version})
	s.must(err)

	at, page := b.checks("july.csv", twenty(0, 20), strings.ToUpper(closedText)+"!!")
	s.leads(page)
	page.has("20 messages are ready", "16 of these 20 recipients are already waiting to get nearly this text", "16 had it",
		"4 new", "june by Ada Obi, today at 10:48am", "Send only to the 4 new", "Send to all 20", "Continue with 20 messages")
	b.pressed(page, "leave-out").to(at + "/check?done=alreadyout")
	page = b.get(at+"/check").has("16 recipients are left out: got nearly this text today at 10:48am",
		"Continue with 4 messages", "4 messages are ready")
	b.pressed(page, "take-back").to(at + "/check?done=alreadyback")
	page = b.get(at+"/check").has("Continue with 20 messages").count("#already-all", 1)
	b.pressed(page, "all")
	page = b.get(at + "/check").has("Send to all 20: chosen")
	b.pressed(page, "leave-out")
	b.post(at+"/make", "version", b.get(at+"/check").attr("#make [name=version]", "value")).is(http.StatusSeeOther)
	c = s.campaign(s.list(at).CampaignID)

	page = b.get(views.CampaignPath(c.ID)+"/confirm").has("16 recipients are left out: got nearly this text today at 10:48am",
		"Send 4 messages now", "16 already sent").count("[name=again]", 0)
	b.pressed(page, "take-back")
	c = s.campaign(s.list(at).CampaignID)
	path := views.CampaignPath(c.ID)
	page = b.get(path+"/confirm").has("16 of these 20 recipients are already waiting to get nearly this text",
		"Send 20 messages now").count("[name=again]", 1)
	s.leads(page)
	got := b.post(path+"/start", "version", page.attr("[name=version]", "value")).is(422)
	sentence := "16 of these 20 recipients are already waiting to get nearly this text. " +
		"Tick the box to send it to them again, or leave them out"
	if got.text(`#errors a[href="#again"]`) != sentence || got.text("#again-error") != "Error: "+sentence {
		t.Errorf("said %q", got.text("#errors"))
	}
	b.pressed(b.get(path+"/confirm"), "leave-out")
	c = s.campaign(s.list(at).CampaignID)
	path = views.CampaignPath(c.ID)
	page = b.get(path + "/confirm").has("Send 4 messages now")
	b.post(path+"/start", "version", page.attr("[name=version]", "value")).to(path)
	tally, err := s.db.Tally(t.Context(), c.ID)
	if err != nil || tally["queued"] != 4 || tally["leftout"] != 16 {
		t.Errorf("%v %v", tally, err)
	}
}

// TestATypedDraftLeavesThemOutInPlace, and takes them in again.
func TestATypedDraftLeavesThemOutInPlace(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	b := s.as(s.boss)
	s.started(s.boss, desk.Order{AccountID: a.ID, Name: "June", Numbers: typed(3)})
	c := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(10)})
	path := views.CampaignPath(c.ID)
	page := b.get(path+"/confirm").has("3 of these 10 recipients are already waiting to get nearly this text",
		"Send 10 messages now")
	s.leads(page)
	b.pressed(page, "leave-out").to(path + "/confirm?done=alreadyout")
	b.post(path+"/already", "version", page.attr("[name=version]", "value"), "do", "leave-out").to(path + "/confirm")
	page = b.get(path+"/confirm").has("3 recipients are left out: got nearly this text", "Send 7 messages now",
		"3 already sent").count("[name=again]", 0)
	if got := s.campaign(c.ID); got.Parts != 7 || got.Recipients != 10 || got.CallsText != 1 {
		t.Errorf("%+v", got)
	}
	b.pressed(page, "take-back").to(path + "/confirm?done=alreadyback")
	page = b.get(path + "/confirm").has("Send 10 messages now")
	b.pressed(page, "leave-out")
	b.post(path+"/start", "version", b.get(path+"/confirm").attr("[name=version]", "value")).to(path)
	tally, err := s.db.Tally(t.Context(), c.ID)
	if err != nil || tally["queued"] != 7 || tally["leftout"] != 3 {
		t.Errorf("%v %v", tally, err)
	}
	b.post(path+"/already", "version", "1", "do", "leave-out").is(409)
}

// TestWhatDidNotArriveDoesNotCount: of five calls one was reported as not
// delivered, and one as delivered; the others may have arrived.
func TestWhatDidNotArriveDoesNotCount(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	sent := s.started(s.boss, desk.Order{AccountID: a.ID, Name: "June", Numbers: typed(5)})
	s.send(a, 5, accept)
	list, _, err := s.db.Messages(t.Context(), sms.MessageFilter{CampaignID: sent.ID, Limit: 10})
	s.must(err)
	report := func(m sms.Message, status string) sms.DeliveryReport {
		return sms.DeliveryReport{ProviderID: m.ProviderID, Mobile: m.Number, Status: status}
	}
	s.reports(a, report(list[0], "UNDELIV"), report(list[1], "DELIVRD"))
	c := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(5)})
	s.as(s.boss).get(views.CampaignPath(c.ID)+"/confirm").has("4 of these 5 recipients got nearly this text just now",
		"3 are awaiting a report. Messages that were not delivered do not count.", "Send only to the new one")
	already, err := s.desk.AlreadySent(t.Context(), c)
	if err != nil || already.Recipients != 4 || already.Awaiting != 3 || already.Waiting != 0 || already.LastAt == 0 {
		t.Errorf("%+v %v", already, err)
	}
}

// TestAGroupIsAskedAboutToo: its numbers are not known, but that it got the text
// is.
func TestAGroupIsAskedAboutToo(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	s.must(s.db.PutGroups(t.Context(), a.ID, []sms.Group{{ID: 7, Name: "Parents"}, {ID: 8, Name: "Staff"}}, 1))
	order := desk.Order{AccountID: a.ID, GroupID: "7", GroupName: "Parents"}
	first := s.draft(s.boss, order)
	_, err := s.desk.StartCampaign(t.Context(), s.boss, first.ID, desk.StartOrder{Version: first.Version, Blind: true})
	s.must(err)
	again := s.draft(s.boss, order)
	s.as(s.boss).get(views.CampaignPath(again.ID)+"/confirm").has("This group got nearly this text").count("[name=again]", 1)
	order.GroupID, order.GroupName = "8", "Staff"
	other := s.draft(s.boss, order)
	s.as(s.boss).get(views.CampaignPath(other.ID)+"/confirm").count("#already", 0)
}
