package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/views"
)

// everyFate is a finished campaign to 0803 000 1000 and the eight numbers after
// it: delivered, not delivered, expired, deleted, refused by the
// network, block list, unknown, refused by the provider, left out.
func (s *site) everyFate(a sms.Account) sms.Campaign {
	s.t.Helper()
	_, _, err := s.desk.BlockNumbers(s.t.Context(), s.boss, desk.BlockOrder{AccountID: a.ID, Numbers: "08030001008"})
	s.must(err)
	c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(9), Name: "June reminders"})
	s.send(a, 9, func(call sms.Call) sms.Outcome {
		o := accept(call)
		for i, r := range o.Rows {
			if strings.HasSuffix(r.Number, "1007") {
				o.Rows[i] = sms.ResultRow{Number: r.Number, Code: "401", Description: "source_address filter mismatch"}
			}
		}
		return o
	})
	s.reports(a, report("1000", "DELIVRD", "000"), report("1001", "UNDELIV", "27"), report("1002", "EXPIRED", ""),
		report("1003", "DELETED", ""),
		report("1004", "REJECTD", "8"), report("1005", "BLACKLIST", ""), report("1006", "UNKNOWN", ""))
	return c
}

func TestSendAgainToThoseNotDelivered(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.everyFate(a)
	b := s.as(s.boss)
	page := b.get(views.CampaignPath(c.ID)).is(200).has("Send again to 3",
		"Send to recipients left out or not sent")
	s.leads(page)
	form := b.get(page.attr("#again", "href")).is(200).has("1 not delivered", "1 not delivered, expired",
		"1 refused by the network",
		"Change one of them first.",
		"1 number is blocked. Delivery reports say these numbers are on a block list. They will be left out.", "1 refused by the provider")
	s.leads(form)
	checked := func(a answer) (keys []string) {
		a.page().Find("input[type=checkbox][checked]").Each(func(_ int, e *goquery.Selection) {
			keys = append(keys, e.AttrOr("name", ""))
		})
		return keys
	}
	if got := strings.Join(checked(form), " "); got != "key:undelivered key:expired key:deleted" {
		t.Errorf("proposed: %s", got)
	}
	if got := strings.Join(checked(b.get(views.CampaignPath(c.ID)+"/again?of=unsent")),
		" "); got != "key:refused key:leftout" {
		t.Errorf("proposed of the unsent: %s", got)
	}
	token := form.attr("input[name=token]", "value")
	b.post(views.CampaignPath(c.ID)+"/again", "token", token).is(http.StatusUnprocessableEntity).has(
		"Choose what to send again")
	to := b.post(views.CampaignPath(c.ID)+"/again", "token", token, "key:undelivered", "yes", "key:expired", "yes",
		"key:deleted", "yes", "key:blocked", "yes").is(http.StatusSeeOther).header.Get("Location")
	b.post(views.CampaignPath(c.ID)+"/again", "token", token, "key:undelivered", "yes").to(to)
	b.get(to).is(200).has("June reminders (sent again)", "Send 3 messages now")
	again := strings.TrimSuffix(to, "/confirm")
	b.get(again).has("Sends messages from June reminders again.")
	b.get(views.CampaignPath(c.ID)).has("Sent again in June reminders (sent again) (not sent yet).")
	b.get(views.CampaignPath(c.ID) + "/again").has("Messages from this campaign have been sent again before")
	made := s.messages(sms.Campaign{ID: 2})
	var rows []string
	for _, m := range made {
		rows = append(rows, m.Number)
		if m.Row != int64(m.Number[len(m.Number)-1]-'0')+1 || m.State != sms.Draft ||
			m.Text != "The clinic is closed on Friday." {
			t.Errorf("%+v", m)
		}
	}
	if got := strings.Join(rows, " "); got != "2348030001001 2348030001002 2348030001003" {
		t.Errorf("made for %s", got)
	}
	if got := s.messages(c); len(got) != 9 || got[1].Delivery.Status != sms.Undeliv {
		t.Errorf("the earlier campaign has changed: %+v", got)
	}
	s.as(s.hire("viewer@example.com", sms.Viewer)).get(views.CampaignPath(c.ID)).lacks("Send again to 3")
}

func TestSendAgainToTheUnsent(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.everyFate(a)
	b := s.as(s.boss)
	// 1008 is still blocked: it does not come along, and alone it is nothing.
	b.post(views.CampaignPath(c.ID)+"/again", "token", desk.NewToken(), "key:leftout",
		"yes").is(http.StatusUnprocessableEntity).has("None of these messages can be sent again because the numbers are blocked")
	to := b.post(views.CampaignPath(c.ID)+"/again", "token", desk.NewToken(), "key:refused", "yes", "key:leftout",
		"yes").is(http.StatusSeeOther).header.Get("Location")
	b.get(to).has("Send 1 message now")
	_, err := s.desk.UnblockNumber(t.Context(), s.boss, 1, "asked for it")
	s.must(err)
	to = b.post(views.CampaignPath(c.ID)+"/again", "token", desk.NewToken(), "key:leftout",
		"yes").is(http.StatusSeeOther).header.Get("Location")
	b.get(to).has("0803 000 1008", "Send 1 message now")
}

func TestSendOneMessageAgain(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.everyFate(a)
	b := s.as(s.boss)
	for i, want := range map[int]string{0: "This message was delivered. The recipient will get it twice",
		1: "The network could not deliver it.", 6: "The recipient may get it twice",
		7: "The provider did not accept this message."} {
		m := s.messages(c)[i]
		form := b.get(b.get(messagePath(m)).is(200).attr("#send-again", "href")).is(200).has(want)
		s.leads(form)
		to := b.post(messagePath(m)+"/again", "token", form.attr("input[name=token]", "value")).is(
			http.StatusSeeOther).header.Get("Location")
		b.get(to).has("Send 1 message now")
	}
	for _, i := range []int{5, 8} {
		b.get(messagePath(s.messages(c)[i])).count("#send-again", 0)
		b.get(messagePath(s.messages(c)[i]) + "/again").to(messagePath(s.messages(c)[i]))
	}
}
