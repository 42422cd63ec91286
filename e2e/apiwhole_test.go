package e2e

import (
	"fmt"
	"testing"
)

// TestAnotherProgramNeedsNoPage: contacts, an audience, a doubt and one message sent
// again, all over /api/v1, with the desk and the service as two processes.
func TestAnotherProgramNeedsNoPage(t *testing.T) {
	waits(t)
	p := newPair(t, binary(t, ""), 20)
	p.serve()
	a := p.client("manager")

	var imported struct{ Added int }
	a.must(200, "POST", "/contacts/import", `{"account":"Clinic","tags":["Board"],"contacts":[
{"phone":"0803 129 9001","name":"Ada"},{"phone":"08031299002","name":"Obi"},{"phone":"08031299003"}]}`, &imported)
	if imported.Added != 3 {
		t.Fatalf("%+v", imported)
	}
	a.must(201, "POST", "/audiences", `{"account":"Clinic","name":"Board",
"conditions":[{"key":"tag","op":"is","value":"Board"}]}`, nil)
	var sent apiCampaign
	a.must(201, "POST", "/campaigns", `{"account":"Clinic","senderId":"CLINIC","audience":"Board","text":"Dear ##Name##, come at nine",
"fill":{"Name":"member"},"send":true}`, &sent)
	a.until(sent.ID, "the audience's reports", func(c apiCampaign) bool { return c.Delivery["DELIVRD"] == 3 })

	var found struct {
		Items []struct {
			ID         int64
			CampaignID int64
			Text       string
		}
	}
	a.must(200, "POST", "/messages/search", `{"account":"Clinic","phone":"9003"}`, &found)
	if len(found.Items) != 1 || found.Items[0].Text != "Dear member, come at nine" || found.Items[0].CampaignID != sent.ID {
		t.Fatalf("%+v", found)
	}
	message := fmt.Sprintf("/messages/%d", found.Items[0].ID)
	a.must(200, "POST", message+"/ask", "", nil)
	var whole struct {
		Asked []struct{ Status string }
	}
	waitFor(t, longPatience, "the provider's answer", func() bool {
		a.must(200, "GET", message, "", &whole)
		return len(whole.Asked) == 1 && whole.Asked[0].Status == "DELIVRD"
	})
	var again apiCampaign
	a.must(201, "POST", message+"/again", "", &again)
	a.must(200, "POST", fmt.Sprintf("/campaigns/%d/send", again.ID), "", nil)
	a.until(again.ID, "the message's second report", func(c apiCampaign) bool { return c.Delivery["DELIVRD"] == 1 })

	var lost apiCampaign
	a.must(201, "POST", "/campaigns", `{"account":"Clinic","senderId":"CLINIC","text":"Come at ten","send":true,
"rows":[{"phone":"08030000008"}]}`, &lost)
	a.until(lost.ID, "the doubt", func(c apiCampaign) bool { return c.Counts["inDoubt"] == 1 })
	path := fmt.Sprintf("/campaigns/%d/doubt", lost.ID)
	var doubts struct {
		ReadAt string
		Items  []struct {
			Request  int64
			Messages []struct{ ID int64 }
		}
	}
	a.must(200, "GET", path, "", &doubts)
	if len(doubts.Items) != 1 || len(doubts.Items[0].Messages) != 1 {
		t.Fatalf("%+v", doubts)
	}
	var decided struct{ State string }
	a.must(200, "POST", path, fmt.Sprintf(`{"readAt":%q,"choices":[{"request":%d,"seen":1,"choice":"close"}]}`,
		doubts.ReadAt, doubts.Items[0].Request), &decided)
	if c := a.campaign(lost.ID); decided.State != "done" || c.Counts["closedUnknown"] != 1 {
		t.Errorf("%+v %+v", decided, c)
	}
	times := executedTimes(t, p.sandbox)
	for n, want := range map[string]int{"2348031299001": 1, "2348031299002": 1, "2348031299003": 2, "2348030000008": 1} {
		if times[n] != want {
			t.Errorf("%s was executed %d times, want %d", n, times[n], want)
		}
	}
}
