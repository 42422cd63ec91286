package web

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"smsdesk/web/api"
)

// rowsOf are n rows of an order, from a number on.
func rowsOf(first, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"phone":"0803%07d","fields":{"name":"Ada"}}`, first+i)
	}
	return `,"rows":[` + strings.Join(list, ",") + "]"
}

// TestAProgramHearsWhoGotNearlyThisText: it sends on purpose where it says
// nothing, leaves them out, or is refused and nothing is made.
func TestAProgramHearsWhoGotNearlyThisText(t *testing.T) {
	_, m := factory(t)
	order := func(text, more string) string {
		return fmt.Sprintf(`{"account":"Clinic","senderId":"CLINIC","name":"Closed","text":%q%s}`, text, more)
	}
	const text = "Dear ##name##, the clinic is closed."
	first := form[api.Campaign](m.create(order(text, `,"send":true`+rowsOf(1000, 16))).is(201))
	if first.AlreadySent != nil || first.State != "running" {
		t.Fatalf("%+v", first)
	}

	again := form[api.Campaign](m.create(order("DEAR ##name##: the clinic is closed!", `,"send":true`+rowsOf(1000, 20))).is(201))
	a := again.AlreadySent
	if a == nil || a.Count != 16 || a.Of != 20 || a.Waiting != 16 || a.Campaign != first.ID || a.Campaigns != 1 ||
		a.LastAt == nil || a.LeftOut || again.State != "running" {
		t.Errorf("sent on purpose: %+v %+v", again, a)
	}

	p := m.create(order(text, `,"send":true,"ifAlreadySent":"refuse"`+rowsOf(1000, 20)), "Idempotency-Key", "k1").problem(409)
	if p.Type != api.ProblemAlready || p.AlreadySent == nil || p.AlreadySent.Count != 20 ||
		!strings.Contains(p.Detail, `"ifAlreadySent": "send"`) {
		t.Errorf("refused: %+v", p)
	}
	if list := form[api.CampaignPage](m.get(api.Path + "/campaigns").is(200)); len(list.Items) != 2 ||
		list.Items[0].AlreadySent != nil {
		t.Errorf("%d campaigns after a refusal", len(list.Items))
	}
	m.create(order(text, `,"send":true,"ifAlreadySent":"refuse"`+rowsOf(3000, 2)), "Idempotency-Key", "k1").is(201)

	var left struct {
		api.Campaign
		LeftOut map[string]int64 `json:"leftOut"`
	}
	got := m.create(order(text, `,"send":true,"ifAlreadySent":"leaveOut"`+rowsOf(1018, 12))).is(201)
	if err := json.Unmarshal([]byte(got.body), &left); err != nil || left.LeftOut["alreadySent"] != 2 ||
		left.Counts.Queued != 10 || left.Counts.Skipped != 2 || left.AlreadySent == nil || !left.AlreadySent.LeftOut {
		t.Errorf("left out: %v %s", err, got.body)
	}

	draft := form[api.Campaign](m.create(order(text, rowsOf(1000, 5))).is(201))
	path := api.Path + "/campaigns/" + strconv.FormatInt(draft.ID, 10)
	if read := form[api.Campaign](m.get(path).is(200)); read.AlreadySent == nil || read.AlreadySent.Count != 5 {
		t.Errorf("read: %+v", read)
	}
	if p := m.post(path+"/send", `{"ifAlreadySent":"refuse"}`).problem(409); p.Type != api.ProblemAlready {
		t.Errorf("%+v", p)
	}
	if p := m.post(path+"/send", `{"ifAlreadySent":"leaveOut"}`).problem(422); p.Errors[0].Field != "ifAlreadySent" {
		t.Errorf("%+v", p)
	}
	if sent := form[api.Campaign](m.post(path+"/send", `{}`).is(200)); sent.State != "running" {
		t.Errorf("%+v", sent)
	}
	for _, more := range []string{`,"ifAlreadySent":"maybe"` + oneRow, `,"group":"Parents","ifAlreadySent":"leaveOut"`} {
		if p := m.create(order("Hello", more)).problem(422); p.Errors[0].Field != "ifAlreadySent" {
			t.Errorf("%+v", p)
		}
	}
}
