package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/views"
)

// moments are the timeline's titles.
func (a answer) moments() (titles []string) {
	a.t.Helper()
	a.page().Find(".timeline > li > b").Each(func(_ int, e *goquery.Selection) { titles = append(titles, e.Text()) })
	return titles
}

func (s *site) messages(c sms.Campaign) []sms.Message {
	s.t.Helper()
	list, _, err := s.db.Messages(s.t.Context(), sms.MessageFilter{CampaignID: c.ID, Limit: 1000})
	s.must(err)
	return list
}

func messagePath(m sms.Message) string { return fmt.Sprint("/messages/", m.ID) }

func TestMessageTellsWhatHappened(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(3)})
	s.clock.pass(time.Minute)
	s.send(a, 1, func(sms.Call) sms.Outcome {
		return sms.Outcome{Class: sms.ClassNothingLeft, Reason: "The connection was refused."}
	})
	s.clock.pass(time.Minute)
	s.send(a, 1, func(sms.Call) sms.Outcome { return sms.Outcome{Class: sms.ClassRate, HTTPStatus: 429} })
	s.clock.pass(time.Minute)
	s.send(a, 1, accept)
	m := s.messages(c)[0]
	b := s.as(s.boss)
	page := b.get(messagePath(m)).is(200).has("Awaiting report", "No report yet.")
	s.leads(page)
	want := "Created|Campaign started|Request 1 was not sent|Request 2 was not sent|Request 3 was accepted"
	if got := strings.Join(page.moments(), "|"); got != want {
		t.Errorf("told %q, want %q", got, want)
	}
	page.has("The connection was refused. Nothing was sent. The message is back in the queue.",
		"The provider said we were sending too fast.", "HTTP status 429",
		"The provider accepted the message. This request contained 3 messages.", "Message ID id-1000", `{"ErrorCode":0}`)
	s.clock.pass(2 * time.Hour)
	b = s.as(s.boss)
	b.get(messagePath(m)).has("No report after 2 hours.")

	final := report("1000", "DELIVRD", "000")
	early := report("1000", "ACCEPTD", "")
	odd := report("1000", "ENROUTE", "")
	wrong := report("1000", "UNDELIV", "27")
	wrong.Mobile, wrong.DoneDate = "2348030009999", "other"
	again := final
	final.ID, early.ID, odd.ID, wrong.ID, again.ID = 1, 2, 3, 4, 5
	s.reports(a, final, early, odd, wrong, again)
	page = b.get(messagePath(m)).is(200).has("Delivered", "The network says it reached the phone.",
		"DELIVRD, code 000, submitDate 2606030948, doneDate 2606030949",
		"This report arrived 2 times", "No change.", "The provider's documentation does not list the status “ENROUTE”. We ignored it.",
		"but a different number, “2348030009999”. We ignored it.", "mobile=2348030001000&status=DELIVRD").lacks("No report yet", "No final report")
	s.leads(page)
	want += "|Report: delivered × 2|Report: awaiting report|Report with an unknown status|Report for a different number"
	if got := strings.Join(page.moments(), "|"); got != want {
		t.Errorf("told %q, want %q", got, want)
	}
	if again := b.fragment(messagePath(m)); again.html("#message-live") != page.html("#message-live") ||
		strings.Contains(again.body, "<h1") {
		t.Error("the fragment is not the one of the page")
	}
	if page.attr("#message-live", "hx-trigger") != fmt.Sprintf("message:%d from:body, campaign:%d from:body", m.ID, c.ID) {
		t.Errorf("it listens to %q", page.attr("#message-live", "hx-trigger"))
	}
	b.get(messagePath(m)+"?pause=1").count("#message-live[hx-get]", 0).count("#live", 0)
	b.get("/messages/999").is(404)
	b.get("/messages/0x1").is(404)
}

func TestMessageWithoutAnAnswer(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	b := s.as(s.boss)
	for name, c := range map[string]struct {
		answer func(sms.Call) sms.Outcome
		want   string
		state  string
	}{
		"lost": {func(sms.Call) sms.Outcome {
			return sms.Outcome{Class: sms.ClassDoubt, Reason: "We lost the connection while sending 1 message"}
		}, "got no answer", "Needs your decision"},
		"held": {func(sms.Call) sms.Outcome {
			return sms.Outcome{Class: sms.ClassHold, HTTPStatus: 200, Code: "042", Reason: "The provider answered “no”"}
		}, "was refused for an unrecognised reason", "Held for your decision"},
		"left out": {func(sms.Call) sms.Outcome { return sms.Outcome{Class: sms.ClassAnswered, HTTPStatus: 200, Code: "000"} },
			"was answered, but not for this number", "Needs your decision"},
		"refused": {func(call sms.Call) sms.Outcome {
			return sms.Outcome{Class: sms.ClassAnswered, HTTPStatus: 200, Code: "000",
				Rows: []sms.ResultRow{{Number: call.Recipients[0].Number, Code: "401", Description: "filter mismatch"}}}
		}, "was refused for this number", "Refused by the provider"},
	} {
		t.Run(name, func(t *testing.T) {
			campaign := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: "08030000101", Text: name})
			s.send(a, 1, c.answer)
			page := b.get(messagePath(s.messages(campaign)[0])).is(200).has(c.state)
			s.leads(page)
			if last := page.moments()[2]; !strings.HasSuffix(last, c.want) {
				t.Errorf("told %q", last)
			}
		})
	}
	waiting := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: "08030000102"})
	page := b.get(messagePath(s.messages(waiting)[0])).has("Waiting to send", "We send as fast as the provider allows.")
	if got := strings.Join(page.moments(), "|"); got != "Created|Campaign started" {
		t.Errorf("told %q", got)
	}
	draft := s.draft(s.boss, desk.Order{AccountID: a.ID, Numbers: "08030000102"})
	if got := b.get(messagePath(s.messages(draft)[0])).moments(); len(got) != 1 {
		t.Errorf("told %q", got)
	}
}

// A viewer sees no number whole, wherever it comes from.
func TestViewersSeeMaskedNumbers(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: "08035550101\n08035550102"})
	s.send(a, 1, func(call sms.Call) sms.Outcome {
		o := accept(call)
		o.Excerpt = `{"MobileNumber":"2348035550101"}`
		return o
	})
	for i, mobile := range []string{"2348035550101", "2348035550102", "not 0803 555 0102"} {
		s.reports(a, sms.DeliveryReport{ID: int64(i + 1), ProviderID: "id-0101", Mobile: mobile, Status: "DELIVRD",
			DoneDate: mobile, Raw: "mobile=" + mobile})
	}
	viewer, sender := s.as(s.hire("v@example.com", sms.Viewer)), s.as(s.hire("s@example.com", sms.Sender))
	page := viewer.get(views.CampaignPath(c.ID)).is(200).has("0803 ••• 0101")
	first := messagePath(s.messages(c)[0])
	for _, path := range []string{"/campaigns", views.CampaignPath(c.ID), first} {
		for _, got := range []answer{viewer.get(path).is(200), viewer.fragment(path).is(200)} {
			got.lacks("8035550101", "8035550102", "0803 555", "555 0101", "MobileNumber", "As received")
		}
	}
	viewer.fragment(page.attr("#campaign-live", "hx-get")).lacks("555 0101")
	if title := viewer.get(first).text("h1"); title != "Message to 0803 ••• 0101" {
		t.Errorf("the page is called %q", title)
	}
	sender.get(first).has("Message to 0803 555 0101", "mobile=2348035550101", `{"MobileNumber":"2348035550101"}`,
		"but a different number, “2348035550102”")
}
