package web

import (
	"fmt"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/api"
)

// asked is the confirmation's form with its button pressed.
func (b *browser) asked(c sms.Campaign, pairs ...string) answer {
	b.site.t.Helper()
	page := b.get(views.ConfirmPath(c.ID)).is(200)
	pairs = append(pairs, "version", page.attr("#send input[name=version]", "value"), "sure",
		page.attr("#send-now", "value"))
	return b.post(views.CampaignPath(c.ID)+"/start", pairs...)
}

func TestASecondPersonApproves(t *testing.T) {
	s := newSite(t)
	a := s.clinic(func(a *sms.Account) { a.ApproveAbove, a.ConfirmCountAbove = 2, 1 })
	ada := s.hire("ada@example.com", sms.Sender)
	bola, err := s.db.CreateUser(t.Context(), sms.User{Email: "bola@example.com", Name: "Bola Ade", Role: sms.Approver},
		anyHash, 1)
	if err != nil {
		t.Fatal(err)
	}
	c := s.draft(ada, desk.Order{AccountID: a.ID, Name: "Reminders", Numbers: typed(3), Text: "See you on Friday"})
	author, second, viewer := s.as(ada), s.as(bola), s.as(s.hire("view@example.com", sms.Viewer))

	confirm := author.get(views.ConfirmPath(c.ID)).is(200).has("This campaign needs approval",
		"to more than 2 recipients need approval", "Ada Obi or Bola Ade approves it")
	if confirm.text("#send-now") != "Ask for approval" || confirm.page().Find("#typed").Length() != 0 {
		t.Errorf("the button says %q", confirm.text("#send-now"))
	}
	s.leads(confirm)
	// What somebody presses who has an older page open sends nothing.
	author.post(views.CampaignPath(c.ID)+"/start", "version", fmt.Sprint(c.Version), "sure", views.WhenNow, "when",
		views.WhenNow, "typed", "3").is(422).has("This campaign needs approval")
	author.asked(c, "when", views.WhenNow).to(views.ApprovalPath(c.ID))
	author.asked2(c).to(views.ApprovalPath(c.ID))

	waits := author.get(views.ApprovalPath(c.ID)).is(200).has("Waiting for approval", "Waiting for Ada Obi or Bola Ade",
		"As soon as it is approved", "See you on Friday", "Cancel the campaign")
	if waits.page().Find("#approve-now, #send-back, #send-test").Length() != 0 {
		t.Error("the author may approve it, or try it")
	}
	s.leads(waits)
	viewer.get(views.ApprovalPath(c.ID)).is(403)
	if got := viewer.get(views.CampaignPath(c.ID)).is(200).has("This campaign is waiting for approval").page().Find(
		"#look-approve").Length(); got != 0 {
		t.Error("a viewer is led to a page that it may not open")
	}
	author.post(views.ApprovalPath(c.ID), "version", "2").is(403)
	if got := author.get("/campaigns").text("#nav-approval"); got != "" {
		t.Errorf("the author's navigation says %q", got)
	}

	list := second.get("/campaigns?state=needs-approval").is(200).has("Approve 1", "Reminders", "Needs approval")
	s.leads(list)
	page := second.get(views.ApprovalPath(c.ID)).is(200).has("Approve this campaign?", "Asked by", "Ada Obi, today at",
		"CLINIC", "Approve and send 3 messages")
	s.leads(page)
	if next := page.attr("#preview-next", "href"); next != views.ApprovalPath(c.ID)+"?row=2" {
		t.Errorf("the next row is at %q", next)
	}
	second.fragment(views.ApprovalPath(c.ID) + "?row=2").is(200).has("Message 2 of 3")
	version := page.attr("#approve input[name=version]", "value")
	second.post(views.ApprovalPath(c.ID)+"/return", "version", version, "reason",
		"").is(422).has("Enter what has to change")
	second.post(views.ApprovalPath(c.ID)+"/return", "version", version, "reason",
		"It is <Saturday>").to(views.CampaignPath(c.ID))
	for _, path := range []string{views.CampaignPath(c.ID), views.ConfirmPath(c.ID)} {
		author.get(path).is(200).has("Sent back by Bola Ade", "It is <Saturday>")
	}
	second.post(views.ApprovalPath(c.ID), "version", version).is(409).has("is no longer waiting for approval")

	author.asked(c, "when", views.WhenTomorrow).to(views.ApprovalPath(c.ID))
	page = second.get(views.ApprovalPath(c.ID)).has("Tomorrow at 9:00am, West Africa Time",
		"Approve and schedule for tomorrow at 9:00am")
	version = page.attr("#approve input[name=version]", "value")
	second.post(views.ApprovalPath(c.ID), "version", version).to(views.CampaignPath(c.ID))
	second.get(views.CampaignPath(c.ID)).has("Sending starts tomorrow at 9:00am", "Approved by Bola Ade today at")
	if got := s.campaign(c.ID); got.State != sms.CampaignScheduled || got.StartedName != "Ada Obi" {
		t.Errorf("%+v", got)
	}
	second.get(views.ApprovalPath(c.ID)).to(views.CampaignPath(c.ID))
	s.as(s.boss).post(views.ApprovalPath(c.ID), "version", version).is(409).has("This campaign has already been approved",
		"Approved by Bola Ade")
}

// asked2 presses the same button once more on the page that is still open.
func (b *browser) asked2(c sms.Campaign) answer {
	b.site.t.Helper()
	return b.post(views.CampaignPath(c.ID)+"/start", "version", fmt.Sprint(c.Version), "sure", views.Ask)
}

func TestApprovalTakenBackOrCancelled(t *testing.T) {
	s := newSite(t)
	a := s.clinic(func(a *sms.Account) { a.ApproveAbove = 2 })
	ada, bola := s.hire("ada@example.com", sms.Sender), s.hire("bola@example.com", sms.Approver)
	c := s.draft(ada, desk.Order{AccountID: a.ID, Numbers: typed(3), Text: "x"})
	author, second := s.as(ada), s.as(bola)
	author.asked(c).to(views.ApprovalPath(c.ID))
	version := second.get(views.ApprovalPath(c.ID)).attr("#approve input[name=version]", "value")
	author.post(views.ApprovalPath(c.ID) + "/take-back").to(views.CampaignPath(c.ID))
	second.post(views.ApprovalPath(c.ID), "version", version).is(409)
	author.asked(c).to(views.ApprovalPath(c.ID))
	author.get(views.CampaignPath(c.ID)+"/give-up").is(200).has("Cancel the campaign?", "Cancel 3 messages")
	author.post(views.CampaignPath(c.ID) + "/give-up").to(views.CampaignPath(c.ID))
	second.post(views.ApprovalPath(c.ID), "version", version).is(409)
	if got := s.campaign(c.ID); got.State != sms.CampaignCancelled || got.StartedAt != 0 {
		t.Errorf("%+v", got)
	}
}

func TestApprovalSaysWhatIsWrong(t *testing.T) {
	s := newSite(t)
	a := s.clinic(func(a *sms.Account) { a.ApproveAbove = 2 })
	c := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(3), Text: "x"})
	boss := s.as(s.boss)
	nobody := boss.get(views.ConfirmPath(c.ID)).is(200).has("No one can approve this campaign",
		"Ask an administrator to give it to someone.")
	nobody.count("#send-now", 0)
	s.leads(nobody)
	boss.asked2(c).is(422).has("No one else can approve it")
	bola := s.as(s.hire("bola@example.com", sms.Approver))
	boss.asked(c, "when", views.WhenNow, "hand_over", "yes").is(422).has("Choose a time, or untick this box")
	boss.asked(c, "when", views.WhenAt, "day", "2020-01-01", "time", "9:00").is(422).has("Time must be in the future")
	boss.asked(c, "when", views.WhenHour).to(views.ApprovalPath(c.ID))
	s.clock.pass(80 * time.Minute)
	bola.get(views.ApprovalPath(c.ID)).has("It is due now. If you approve it, it will be sent immediately.",
		"Approve and send 3 messages")
	s.clock.pass(20 * time.Minute)
	late := bola.get(views.ApprovalPath(c.ID)).has(
		"If you approve it, it will pause until someone decides when to send it.")
	if late.text("#approve-now") != "Approve" {
		t.Errorf("the button says %q", late.text("#approve-now"))
	}
	bola.post(views.ApprovalPath(c.ID), "version", late.attr("#approve input[name=version]", "value")).to(
		views.CampaignPath(c.ID))
	bola.get(views.CampaignPath(c.ID)).has("It was not sent on time", "approved after that time")
	boss.post(views.ApprovalPath(c.ID), "version", "1").is(403).has("Someone else has to approve this")

	// A setting that was turned off meanwhile does not turn the button into one that sends.
	off := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(3), Text: "y"})
	if _, err := s.db.UpdateAccount(t.Context(), a.ID, 1, func(a *sms.Account, _ *sms.Credentials) error {
		a.ApproveAbove = 0
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	boss.asked2(off).is(422).has("This campaign no longer needs approval")
	if got := s.campaign(off.ID); got.State != sms.CampaignDraft {
		t.Errorf("it is %s", got.State)
	}
}

func TestProgramsAskForApproval(t *testing.T) {
	s := newSite(t)
	a := s.clinic(func(a *sms.Account) { a.ApproveAbove = 2 })
	bola := s.hire("bola@example.com", sms.Approver)
	free, waits := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(3), Text: "x"}),
		s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(3), Text: "y"})
	p := s.machine(s.boss)
	p.post(fmt.Sprintf(api.Path+"/campaigns/%d/send", free.ID), "").is(200).has(`"state":"awaiting_approval"`)
	s.as(s.boss).asked(waits).to(views.ApprovalPath(waits.ID))
	p.get(fmt.Sprintf(api.Path+"/campaigns/%d", waits.ID)).is(200).has(`"state":"awaiting_approval"`)
	p.post(fmt.Sprintf(api.Path+"/campaigns/%d/send", waits.ID), "").is(200).has(`"state":"awaiting_approval"`)
	s.machine(s.hire("sam@example.com", sms.Sender)).post(fmt.Sprintf(api.Path+"/campaigns/%d/send", waits.ID), "").is(409)
	if _, err := s.desk.ApproveCampaign(t.Context(), bola, waits.ID,
		desk.ApproveOrder{Version: s.campaign(waits.ID).Version}); err != nil {
		t.Fatal(err)
	}
	p.get(fmt.Sprintf(api.Path+"/campaigns/%d", waits.ID)).is(200).has(`"approvedBy":"Ada Obi"`)
	other := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(3), Text: "z"})
	s.as(s.boss).asked(other).to(views.ApprovalPath(other.ID))
	p.post(fmt.Sprintf(api.Path+"/campaigns/%d/cancel", other.ID), "").is(200).has(`"state":"cancelled"`)
}

// A list opens for whoever uploaded it, so nobody else is led there.
func TestConfirmOfSomebodyElsesList(t *testing.T) {
	l := &listed{}
	s := newSite(t, l.between)
	a := s.clinic()
	c := s.own(a, 7, "Dear Ada", "Dear Bola")
	l.list = sms.List{ID: 7, UID: "0123", AccountID: a.ID, FileName: "list.csv"}
	other := s.as(s.hire("other@example.com", sms.Sender))
	if got := other.get(views.ConfirmPath(c.ID)).is(200).attr("#deck-back", "href"); got != views.CampaignPath(c.ID) {
		t.Errorf("back leads to %q", got)
	}
}
