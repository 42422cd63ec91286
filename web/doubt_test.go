package web

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
)

// lost answers nothing: the connection broke after the request had left.
func lost(sms.Call) sms.Outcome {
	return sms.Outcome{Class: sms.ClassDoubt, Reason: "The connection was closed before an answer came."}
}

// doubtful is a campaign of which every message is in doubt.
func (s *site) doubtful(a sms.Account, n int, text string) (sms.Campaign, []sms.Message) {
	s.t.Helper()
	c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(n), Text: text})
	s.send(a, 1, lost)
	list, _, err := s.db.Messages(context.Background(), sms.MessageFilter{CampaignID: c.ID, Limit: 1000})
	s.must(err)
	return c, list
}

func (s *site) state(id int64) sms.State {
	s.t.Helper()
	m, err := s.db.Message(context.Background(), id)
	s.must(err)
	return m.State
}

func ids(n int64) string { return strconv.FormatInt(n, 10) }

func TestDecidingByCallAndByMessage(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	s.must(s.db.PutBalances(context.Background(), a.ID, []sms.Balance{{PluginType: "SMS", Credits: "₦57,524.50"}},
		s.clock.now().UnixMilli()-1000))
	c, list := s.doubtful(a, 3, "The clinic is closed on Friday.")
	boss, path := s.as(s.boss), "/campaigns/"+ids(c.ID)+"/doubt"
	page := boss.get(path).is(http.StatusOK).has("3 messages need your decision",
		"Nothing is sent again unless you decide so", "The connection was closed before an answer came.",
		"may or may not have been sent", "₦57,524.50", "0803 000 1000", "This does not prove")
	if got := page.page().Find("#sidebar a[href='" + path + "'], nav a[href='" + path + "'], a[href='" + path +
		"']").Length(); got == 0 {
		t.Error("the navigation does not lead to the one campaign that waits")
	}
	form := page.page().Find("form#decide")
	call := form.Find("input[type=radio][name^=call-]").First().AttrOr("name", "")
	attempt := strings.TrimPrefix(call, "call-")
	if call == "" || form.Find("input[type=radio]:checked[value=later]").Length() != 1 ||
		form.Find("input[name=seen-"+attempt+"][value='3']").Length() != 1 {
		t.Fatalf("the form is not complete: %q", call)
	}
	read := form.Find("input[name=read]").AttrOr("value", "")
	boss.post(path, call, "later", "seen-"+attempt, "3", "read", read).is(http.StatusUnprocessableEntity).has(
		"Make at least one decision")
	boss.post(path, call, "later", "seen-"+attempt, "3", "read", read, "message-"+ids(list[0].ID), "sent", "message-"+
		ids(list[1].ID), "close").to(path + "?done=decided")
	for i, want := range []sms.State{sms.Accepted, sms.ClosedUnknown, sms.InDoubt} {
		if got := s.state(list[i].ID); got != want {
			t.Errorf("message %d is %s, want %s", i, got, want)
		}
	}
	boss.get(path+"?done=decided").has("Decisions saved.", "1 message needs your decision")
	if audit := s.log.String(); strings.Contains(audit, "2348030001000") {
		t.Error("the log shows a number")
	}
	// The news are told to whoever still has the old page.
	s.clock.pass(time.Minute)
	r := boss.fragment(path + "?waited=3")
	r.is(http.StatusOK).has("2 messages were settled since you opened this page.")
	if r.page().Find("#doubt-news").Length() != 1 {
		t.Error("the fragment is not itself")
	}
}

// TestSomebodyElseWasFaster keeps what the person had chosen.
func TestSomebodyElseWasFaster(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c, list := s.doubtful(a, 4, "Hello")
	boss, path := s.as(s.boss), "/campaigns/"+ids(c.ID)+"/doubt"
	read := ids(s.clock.now().UnixMilli())
	s.clock.pass(time.Minute)
	boss.post(path, "read", read, "message-"+ids(list[3].ID), "close").to(path + "?done=decided")
	got := boss.post(path, "read", read, "message-"+ids(list[3].ID), "sent", "message-"+ids(list[0].ID),
		"sent").is(http.StatusConflict)
	got.has("Someone else decided row 4 today at 10:49am. Your decisions were not saved.")
	if s.state(list[0].ID) != sms.InDoubt || got.page().Find("input[name=message-"+ids(list[0].ID)+
		"][value=sent]:checked").Length() != 1 {
		t.Error("the rest of the form is lost")
	}
	attempt := ids(list[0].AttemptID)
	boss.post(path, "read", read, "call-"+attempt, "sent", "seen-"+attempt, "4").is(http.StatusConflict).has("row 4")
	boss.post(path, "read", read, "message-999999", "sent").is(http.StatusNotFound)
	boss.post(path, "read", read, "call-"+attempt, "queue", "seen-"+attempt, "3").is(http.StatusConflict)
	if got := s.state(list[0].ID); got != sms.InDoubt {
		t.Errorf("a made-up choice led to %s", got)
	}
}

// TestReportsThatOvertakeADecision leave it what is left: nobody has to choose again.
func TestReportsThatOvertakeADecision(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c, list := s.doubtful(a, 4, "Hello")
	boss, path, attempt := s.as(s.boss), "/campaigns/"+ids(c.ID)+"/doubt", ids(list[0].AttemptID)
	read := ids(s.clock.now().UnixMilli())
	settle := func(of ...sms.Message) {
		t.Helper()
		var reports []sms.DeliveryReport
		for _, m := range of {
			reports = append(reports, sms.DeliveryReport{ID: m.ID, AccountID: a.ID, ProviderID: "late-" + ids(m.ID),
				Mobile: m.Number, Status: "DELIVRD", ShortMessage: m.Text, ReceivedAt: s.clock.now().UnixMilli()})
		}
		_, err := s.db.ApplyReports(t.Context(), reports, map[int64]string{a.ID: a.Country}, sms.Cursors{},
			s.clock.now().UnixMilli())
		s.must(err)
		s.clock.pass(5 * time.Minute)
		s.must(s.db.Reconcile(t.Context(), a.ID, a.Country, s.clock.now().UnixMilli(), func(sms.ApplyResult) {}))
		for _, m := range of {
			if got := s.state(m.ID); got != sms.Accepted {
				t.Fatalf("the report left message %d %s", m.ID, got)
			}
		}
	}
	s.clock.pass(time.Minute)
	settle(list[0], list[1])
	closed := boss.post(path, "read", read, "message-"+ids(list[1].ID), "close", "message-"+ids(list[2].ID),
		"close").is(http.StatusSeeOther).header.Get("Location")
	boss.get(closed).has("Reports settled 1 in the meantime; 1 closed.", "1 message needs your decision")
	if s.state(list[1].ID) != sms.Accepted || s.state(list[2].ID) != sms.ClosedUnknown {
		t.Errorf("%s, %s", s.state(list[1].ID), s.state(list[2].ID))
	}
	boss.post(path, "read", read, "call-"+attempt, "sent", "seen-"+attempt, "4").is(http.StatusConflict)

	c, list = s.doubtful(a, 3, "Goodbye")
	path, attempt, read = "/campaigns/"+ids(c.ID)+"/doubt", ids(list[0].AttemptID), ids(s.clock.now().UnixMilli())
	s.clock.pass(time.Minute)
	settle(list[0], list[2])
	choice := []string{"read", read, "call-" + attempt, "again", "seen-" + attempt, "3",
		"message-" + ids(list[2].ID), "again"}
	boss.post(path, choice...).is(http.StatusOK).has("Send 1 message again?")
	confirm := boss.post(path, append(choice, "confirmed", "yes")...).is(http.StatusSeeOther).header.Get("Location")
	boss.get(confirm).is(http.StatusOK).has("Reports settled 2 in the meantime; 1 left to send again.",
		"Send 1 message now")
	boss.post(path, append(choice, "confirmed", "yes")...).is(http.StatusConflict)
	settle(list[1])
	none := boss.post(path, choice...).is(http.StatusSeeOther).header.Get("Location")
	boss.get(none).has("Reports settled 3 in the meantime; nothing was left to decide.", "Nothing to decide")
	for _, made := range []string{"overtaken", "overtaken.0.1.0.0.0.0", "overtaken.-1.1.0.0.0.0",
		"overtaken.1.2.3.4.5.6.7"} {
		boss.get(path+"?done="+made).count("#done", 0)
	}
}

func TestSendingAgainAsksTwice(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c, list := s.doubtful(a, 3, "Hello")
	boss, path, attempt := s.as(s.boss), "/campaigns/"+ids(c.ID)+"/doubt", ids(list[0].AttemptID)
	second := boss.post(path, "read", "1", "call-"+attempt, "again", "seen-"+attempt, "3", "message-"+ids(list[2].ID),
		"close").is(http.StatusOK)
	second.has("Send 2 messages again?", "Recipients may get the message twice and you may pay twice.",
		"0803 000 1000 and 0803 000 1001", "other decisions on the previous page will be saved")
	if rows, _, err := s.db.Campaigns(context.Background(), sms.CampaignFilter{AccountID: a.ID, Limit: 9}); err != nil ||
		len(rows) != 1 {
		t.Fatalf("a campaign was made before the warning was read: %v", err)
	}
	var pairs []string
	for name, v := range hiddenFields(second.page().Find("form#again")) {
		pairs = append(pairs, name, v)
	}
	confirm := boss.post(path, pairs...).is(http.StatusSeeOther).header.Get("Location")
	if !strings.HasSuffix(confirm, "/confirm") {
		t.Fatalf("sent to %q", confirm)
	}
	boss.get(confirm).is(http.StatusOK).has("Send 2 messages now", "Hello (sent again)")
	boss.get(path).has("Will be sent again from the draft", "2 messages need your decision")
	if s.state(list[0].ID) != sms.InDoubt || s.state(list[2].ID) != sms.ClosedUnknown {
		t.Error("the old messages are not as they should be before the start")
	}
	version := boss.get(confirm).page().Find("input[name=version]").AttrOr("value", "")
	boss.post(strings.TrimSuffix(confirm, "confirm")+"start", "version", version, "again", "yes").is(http.StatusSeeOther)
	if got := s.state(list[0].ID); got != sms.ClosedResent {
		t.Errorf("the old message is %s", got)
	}
	boss.get(path).has("Nothing to decide", "No messages in this campaign need your decision.")
}

// TestTwoPeopleAboveAHundred through the pages.
func TestTwoPeopleAboveAHundred(t *testing.T) {
	s := newSite(t)
	a := s.clinic(func(a *sms.Account) { a.CallLimit = 200 })
	c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(130), Text: "Hello"})
	s.send(a, 1, accept)
	s.send(a, 1, lost)
	var attempt int64
	list, _, err := s.db.Messages(context.Background(), sms.MessageFilter{CampaignID: c.ID, Keys: []string{"doubt"},
		Limit: 1000})
	s.must(err)
	if attempt = list[0].AttemptID; len(list) <= sms.SecondFrom {
		t.Fatalf("only %d in doubt", len(list))
	}
	bola := s.hire("bola@example.com", sms.Manager)
	boss, other, path := s.as(s.boss), s.as(bola), "/campaigns/"+ids(c.ID)+"/doubt"
	boss.post(path, "read", "1", "call-"+ids(attempt), "sent", "seen-"+ids(attempt), strconv.Itoa(len(list))).to(path +
		"?done=proposed")
	mine := boss.get(path).has("Someone else has to agree", "Withdraw")
	decision := mine.page().Find("input[name=decision]").First().AttrOr("value", "")
	if mine.page().Find("form[action$='/agree']").Length() != 0 {
		t.Error("the first person is offered to agree")
	}
	boss.post(path+"/agree", "decision", decision).is(http.StatusForbidden)
	if s.state(list[0].ID) != sms.InDoubt {
		t.Fatal("decided by one person")
	}
	other.get(path).has("Agree to the decision for " + strconv.Itoa(len(list)) + " messages")
	other.post(path+"/agree", "decision", decision).to(path + "?done=decided")
	other.post(path+"/agree", "decision", decision).is(http.StatusConflict)
	other.post(path+"/drop", "decision", decision).is(http.StatusConflict)
	if s.state(list[0].ID) != sms.Accepted {
		t.Error("not decided by two")
	}
}

// TestWhoMayDecide: viewers see masked numbers and no form, senders no form.
func TestWhoMayDecide(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c, list := s.doubtful(a, 2, "Call 0803 000 1000")
	path := "/campaigns/" + ids(c.ID) + "/doubt"
	for _, role := range []sms.Role{sms.Viewer, sms.Sender, sms.Approver} {
		b := s.as(s.hire(string(role)+"@example.com", role))
		page := b.get(path).is(http.StatusOK).has("2 messages need your decision",
			"Only someone with the Manager role can decide.")
		if page.page().Find("form#decide").Length() != 0 {
			t.Errorf("%s is shown the form", role)
		}
		b.post(path, "read", "1", "message-"+ids(list[0].ID), "sent").is(http.StatusForbidden)
		b.post(path+"/agree", "decision", "1").is(http.StatusForbidden)
		if role == sms.Viewer {
			page.lacks("0803 000 1001", "2348030001001").has("0803 ••• 1001")
		}
	}
	s.as(s.boss).get("/campaigns/77/doubt").is(http.StatusNotFound)
	s.as(s.boss).get(path + "/agree").to(path)
	if s.state(list[0].ID) != sms.InDoubt {
		t.Error("decided by somebody who may not")
	}
}

// TestHeldMessagesAreQueuedAgain by a person only.
func TestHeldMessagesAreQueuedAgain(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(2)})
	s.send(a, 1, func(sms.Call) sms.Outcome {
		return sms.Outcome{Class: sms.ClassHold, HTTPStatus: 200, Code: "042", Reason: "Too many numbers"}
	})
	path := "/campaigns/" + ids(c.ID) + "/doubt"
	list, _, err := s.db.Messages(context.Background(), sms.MessageFilter{CampaignID: c.ID, Limit: 9})
	s.must(err)
	page := s.as(s.boss).get(path).has("It was probably not sent.", "Put back in the queue", "code 042")
	if page.page().Find("input[value=again], input[value=sent]").Length() != 0 {
		t.Error("held messages have the choices of doubtful ones")
	}
	s.as(s.boss).post(path, "read", "1", "message-"+ids(list[0].ID), "queue", "message-"+ids(list[1].ID),
		"close").to(path + "?done=decided")
	if s.state(list[0].ID) != sms.Queued || s.state(list[1].ID) != sms.ClosedUnknown {
		t.Errorf("%s, %s", s.state(list[0].ID), s.state(list[1].ID))
	}
}

// hiddenFields is what a browser would send of a form of hidden fields.
func hiddenFields(form *goquery.Selection) map[string]string {
	v := map[string]string{}
	form.Find("input[name]").Each(func(_ int, e *goquery.Selection) { v[e.AttrOr("name", "")] = e.AttrOr("value", "") })
	return v
}
