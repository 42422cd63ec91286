package web

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/health"
	"smsdesk/internal/sms"
	"smsdesk/storage"
	"smsdesk/views"
	"smsdesk/web/api"
	"smsdesk/web/page"
)

const longName = "one_very_long_word_without_any_place_to_break_it_anywhere_at_all"

// older makes the database a copy whose question is open.
func (s *site) older() health.Question {
	s.t.Helper()
	mark, err := json.Marshal(health.Copy{UID: "backup-1", MadeAt: s.clock.now().UnixMilli(), By: "J. Otieno"})
	s.must(err)
	s.must(s.db.PutSetting(s.t.Context(), health.SettingCopy, string(mark)))
	q, err := storage.NewJournal(s.db, storage.JournalConfig{}).Compare(s.t.Context(), false)
	s.must(err)
	s.must(s.db.PutQuestion(s.t.Context(), &q))
	return q
}

// carriedOut does what the running desk does with an answer.
func (s *site) carriedOut() {
	s.t.Helper()
	_, err := storage.NewJournal(s.db, storage.JournalConfig{}).Accept(s.t.Context(), "Ada Obi", time.UTC,
		s.clock.now().UnixMilli())
	s.must(err)
	s.must(s.db.PutSetting(s.t.Context(), health.SettingAnswer, ""))
	s.must(s.db.PutSetting(s.t.Context(), health.SettingAnswering, ""))
}

func TestTheJournalPageAsksAndSaysWhatCame(t *testing.T) {
	s := newSite(t)
	s.real()
	s.clinic()
	ada, _, err := s.db.UserByEmail(t.Context(), "ada@example.com")
	s.must(err)
	boss, manager := s.as(ada), s.as(s.hire("m@example.com", sms.Manager))
	for _, path := range []string{views.JournalPath, views.JournalPath + "/close", views.JournalPath + "/forget"} {
		manager.get(path).is(403)
		manager.post(path).is(403)
	}
	s.must(s.db.PutSetting(t.Context(), health.SettingJournal, "/srv/"+strings.Repeat(longName+"/", 3)+"dispatch.journal"))
	boss.get(views.JournalPath).is(200).has("Journal and database agree", "dispatch.journal",
		"No older state was ever accepted here").lacks("--journal", "0 messages", "Accept this older state")
	s.must(s.db.PutSetting(t.Context(), health.SettingJournalShared, "yes"))
	boss.get(views.JournalPath).is(200).has("on the same disk as the data", "--journal DIR")

	q := s.older()
	q.Campaigns = []health.RememberedSend{{UID: "a", Name: longName, StartedName: longName,
		FirstAt: s.clock.now().UnixMilli(), LastAt: s.clock.now().UnixMilli(), Messages: 1976},
		{UID: "b", FirstAt: 1, LastAt: s.clock.now().UnixMilli(), Messages: 3}}
	s.must(s.db.PutQuestion(t.Context(), &q))
	boss.get(views.JournalPath).is(200).has("This is the backup of", "by J. Otieno", "Put the newer state back",
		"Your password", longName, "1,976", "No longer known").
		lacks("agree.", "0 messages", "Review and answer")
	boss.get("/").is(200).has("Review and answer")
	manager.get("/").is(200).has("Nothing is sent until an administrator has answered").lacks("Review and answer")

	boss.post(views.JournalPath, "relation", string(q.Relation)).is(422).has("Enter your password")
	boss.post(views.JournalPath, "relation", string(q.Relation), "current",
		"wrong pony battery lamp").is(422).has("Current password is wrong")
	boss.post(views.JournalPath, "relation", "R5", "current", goodPassword).to(views.JournalPath)
	if raw, err := s.db.ReadSetting(t.Context(), health.SettingAnswer); raw != "" || err != nil {
		t.Fatalf("an answer was left: %q %v", raw, err)
	}
	boss.post(views.JournalPath, "relation", string(q.Relation), "current", goodPassword).to(views.JournalPath)
	shown := boss.get(views.JournalPath).is(200).has("Your answer is being carried out").lacks("Your password")
	was := shown.attr("#journal-live", "hx-get")
	boss.fragment(was).is(200).has("being carried out")
	s.must(s.db.PutSetting(t.Context(), health.SettingAnswering, "Your answer was not carried out: the disk is full."))
	boss.get(views.JournalPath).is(200).has("the disk is full", "Your password")

	s.carriedOut()
	if got := boss.fragment(was); got.header.Get("HX-Redirect") != views.JournalPath {
		t.Errorf("the page stays: %v", got.header)
	}
	boss.get(views.JournalPath).is(200).has("An older state was accepted by Ada Obi", "is not known",
		"smsdesk sent nothing after", "Older states that were accepted").lacks("0 messages", "Your password")
	gaps, err := s.db.JournalGaps(t.Context(), 1)
	s.must(err)
	gap := page.Number(boss.get(views.JournalPath).attr("#close [name=gap]", "value"))
	if gap != gaps[0].ID {
		t.Fatalf("gap %d", gap)
	}
	boss.post(views.JournalPath+"/close", "gap", "1").is(422).has("Tick the box if you are certain")
	boss.post(views.JournalPath+"/close", "gap", "77", "nothing", "yes").is(409)
	boss.post(views.JournalPath+"/close", "gap", "1", "nothing", "yes").is(303)
	boss.get(views.JournalPath).is(200).has("Journal and database agree", "said that nothing else was sent").lacks(
		"Stop the warnings")
	boss.get(views.JournalPath + "/close").to(views.JournalPath)
	boss.get(views.JournalPath + "/forget").to(views.JournalPath)
	boss.get(views.JournalPath + "/forget?day=2026-06-03").is(200).has("Nothing is remembered of this day").lacks(
		"forget-now")
	boss.post(views.JournalPath+"/forget", "day", "soon").is(404)
	boss.post(views.JournalPath+"/forget", "day", "2026-06-03").is(303)
}

// TestNobodyGoesRoundTheWarning: by the pages, also with forms of one's own.
func TestNobodyGoesRoundTheWarning(t *testing.T) {
	s := newSite(t)
	a := s.clinic(func(a *sms.Account) { a.ApproveAbove = 3 })
	sender, approver := s.hire("s@example.com", sms.Sender), s.hire("p@example.com", sms.Approver)
	b := s.as(sender)
	running := s.started(sender, desk.Order{AccountID: a.ID, Numbers: typed(2)})
	waits := s.draft(sender, desk.Order{AccountID: a.ID, Numbers: typed(4), Text: "Four"})
	waits, err := s.desk.AskApproval(t.Context(), sender, waits.ID,
		desk.Ask{StartOrder: desk.StartOrder{Version: waits.Version}})
	s.must(err)
	s.older()
	s.carriedOut()

	path := views.CampaignPath(running.ID)
	b.get(path).is(200).count(`a#continue[href$="/continue"]`, 1)
	b.get(path+"/continue").is(200).has("2 recipients have not received this message", "Some may get this message twice",
		"Continue and send", "Keep the campaign paused")
	b.post(path+"/continue").is(422).has("Continue and send", "will get it twice")
	if got := s.campaign(running.ID).State; got != sms.CampaignPaused {
		t.Fatalf("it is %s", got)
	}
	b.post(path+"/continue", "may_repeat", "yes").to(path)
	if got := s.campaign(running.ID).State; got != sms.CampaignRunning {
		t.Errorf("it is %s", got)
	}
	b.get(path + "/continue").to(path)

	fresh := s.draft(sender, desk.Order{AccountID: a.ID, Numbers: typed(1), Text: "Fresh"})
	path = views.CampaignPath(fresh.ID)
	version := func(c sms.Campaign) string {
		return b.get(views.ConfirmPath(c.ID)).attr("#send [name=version]", "value")
	}
	b.get(path+"/confirm").is(200).has("1 recipient has not received", "Send although some may get it twice")
	b.post(path+"/start", "version", version(fresh), "when", "now", "sure", "now").is(422).has("will get it twice")
	b.get(path + "/schedule?when=hour").is(200).has("Send although some may get it twice")
	tomorrow := s.clock.now().Add(24 * time.Hour).Format(time.DateOnly)
	b.post(path+"/schedule", "version", version(fresh), "when", "at", "day", tomorrow, "time",
		"09:00").is(422).has("will get it twice", "Send although some may get it twice")
	if got := s.campaign(fresh.ID).State; got != sms.CampaignDraft {
		t.Fatalf("it is %s", got)
	}
	b.post(path+"/start", "version", version(fresh), "when", "now", "sure", "now", "may_repeat", "yes").to(path)

	yes := s.as(approver)
	path = views.ApprovalPath(waits.ID)
	at := yes.get(path).is(200).has("Send although some may get it twice").attr("#approve [name=version]", "value")
	yes.post(path, "version", at).is(422).has("will get it twice")
	if got := s.campaign(waits.ID); !got.Waits() {
		t.Fatalf("it is %s", got.State)
	}
	yes.post(path, "version", at, "may_repeat", "yes").to(views.CampaignPath(waits.ID))
}

// TestAProgramIsToldThatSomeMayGetItTwice before anything is made or sent.
func TestAProgramIsToldThatSomeMayGetItTwice(t *testing.T) {
	s, m := factory(t)
	order := func(text, more string) string {
		return `{"account":"Clinic","senderId":"CLINIC","text":"` + text + `","rows":[{"phone":"08030000001"}]` + more + `}`
	}
	old := form[api.Campaign](m.create(order("Before", "")).is(201))
	running := form[api.Campaign](m.create(order("Runs", `,"send":true`)).is(201))
	s.older()
	s.carriedOut()
	s.clock.pass(time.Minute)
	campaigns := s.all()
	told := func(a answer) {
		t.Helper()
		if p := a.problem(409); p.Type != api.ProblemRepeat || !strings.Contains(p.Detail, "will get it twice") ||
			!strings.Contains(p.Detail, `"mayRepeat": true`) {
			t.Errorf("%+v", p)
		}
	}
	told(m.create(order("After", `,"send":true`), "Idempotency-Key", "one"))
	if n := s.all(); n != campaigns {
		t.Errorf("%d campaigns of %d", n, campaigns)
	}
	draft := form[api.Campaign](m.create(order("A draft", "")).is(201))
	send := func(c api.Campaign) string { return api.Path + "/campaigns/" + strconv.FormatInt(c.ID, 10) + "/send" }
	told(m.post(send(draft), "{}"))
	if got := form[api.Campaign](m.create(order("After", `,"send":true,"mayRepeat":true`), "Idempotency-Key",
		"one").is(201)); got.State != "running" {
		t.Errorf("%+v", got)
	}
	if got := form[api.Campaign](m.post(send(draft), "").is(200)); got.State != "running" {
		t.Errorf("a program is told twice: %+v", got)
	}
	told(m.post(send(old), ""))
	m.post(send(old), `{"mayRepeat":true}`).is(200)
	on := api.Path + "/campaigns/" + strconv.FormatInt(running.ID, 10) + "/continue"
	told(m.post(on, ""))
	m.post(on, "mayRepeat").problem(400)
	m.post(on, `{"mayRepeat":true}`).is(200)
	told(s.machine(s.hire("other@example.com", sms.Sender)).create(order("Another program", `,"send":true`)))
}
