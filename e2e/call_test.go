package e2e

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sandboxCall is a call as the service's own record has it.
type sandboxCall struct {
	Method, Path, Query, Body string
}

// TestTheCallsAreThoseOfTheSpecification does everything that the pages of
// records can do and compares what arrived with sections 4.1 to 4.7: method,
// path, query and body, nothing more and nothing less.
func TestTheCallsAreThoseOfTheSpecification(t *testing.T) {
	beside(t)
	a := openArchive(t)
	a.open("/templates/109/edit")
	a.fill("Name", "Holidays & more")
	a.press("Save template")
	a.sees("Template changed at the provider.")
	a.open("/templates/106/delete")
	a.press("Delete template")
	a.sees("Template deleted at the provider.")
	a.open("/senders/102")
	a.fill("Purpose", "Notices <to> parents")
	a.press("Save purpose")
	a.sees("Purpose changed at the provider.")
	a.open("/senders/103/delete")
	a.press("Delete sender ID")
	a.sees("Sender ID deleted at the provider.")
	a.open("/groups/new")
	a.fill("Name", "Ẹ káàbọ̀ 1")
	a.press("Create the group")
	a.sees("Group created at the provider.")
	a.open("/groups/107/sub")
	a.fill("Name", "Mothers")
	a.press("Create the sub-group")
	a.sees("Sub-group created at the provider.")
	a.open("/groups/108")
	a.fill("New name", "Teachers")
	a.press("Rename group")
	a.sees("Group renamed at the provider.")
	a.groupMessage()
	a.open("/groups/108/delete")
	a.fill("Enter the group name to confirm", "Teachers")
	a.press("Delete group")
	a.sees("Group deleted at the provider.")

	const key, client = `"ApiKey":"REDACTED"`, `"ClientId":"REDACTED"`
	holiday := `"MessageTemplate":"We are closed on public holidays. In an emergency call 0700 000 0000."`
	want := []sandboxCall{
		{"PUT", "/v2/Template", "id=109", `{` + key + `,` + client + `,"TemplateName":"Holidays & more",` + holiday + `}`},
		{"DELETE", "/v2/Template", "ApiKey=REDACTED&ClientId=REDACTED&id=106", ""},
		{"PUT", "/v2/SenderId", "id=102", `{` + key + `,` + client + `,"SenderId":"SCHOOL","Purpose":"Notices <to> parents"}`},
		{"DELETE", "/v2/SenderId", "ApiKey=REDACTED&ClientId=REDACTED&id=103", ""},
		{"POST", "/v2/Group", "", `{` + key + `,` + client + `,"GroupName":"Ẹ káàbọ̀ 1"}`},
		{"POST", "/v2/Group/107/SubGroup", "", `{` + key + `,` + client + `,"GroupName":"Mothers"}`},
		{"PUT", "/v2/Group", "id=108", `{` + key + `,` + client + `,"GroupName":"Teachers"}`},
		{"POST", "/v2/SendSMS", "", `{` + key + `,` + client +
			`,"SenderId":"CLINIC","Message":"School begins at nine.","MobileNumbers":"","Is_Unicode":false,"Is_Flash":false,"SchedTime":"","GroupId":"107"}`},
		{"DELETE", "/v2/Group", "ApiKey=REDACTED&ClientId=REDACTED&id=108", ""},
	}
	reads := map[string]int{"/v2/Balance": 0, "/v2/Template": 0, "/v2/SenderId": 0, "/v2/Group": 0}
	var calls, changes []sandboxCall
	getJSON(t, "http://"+a.sandbox+"/_sandbox/calls", &calls)
	for _, c := range calls {
		if _, read := reads[c.Path]; c.Method == http.MethodGet && read {
			reads[c.Path]++
			if sameQuery(c.Query) != sameQuery("ApiKey=REDACTED&ClientId=REDACTED") || c.Body != "" {
				t.Errorf("GET %s?%s with the body %q", c.Path, c.Query, c.Body)
			}
			continue
		}
		changes = append(changes, c)
	}
	for path, n := range reads {
		if n == 0 {
			t.Errorf("GET %s was never made", path)
		}
	}
	for _, list := range [][]sandboxCall{want, changes} {
		for i := range list {
			list[i].Query, list[i].Body = sameQuery(list[i].Query), sameBody(t, list[i].Body)
		}
	}
	if d := cmp.Diff(want, changes); d != "" {
		t.Errorf("(-specification +calls):\n%s", d)
	}
}

// sameQuery writes a query in one order.
func sameQuery(raw string) string {
	q, err := url.ParseQuery(raw)
	if err != nil {
		return "unreadable: " + raw
	}
	return q.Encode()
}

// sameBody writes a JSON object in one order; types stay.
func sameBody(t *testing.T, raw string) string {
	t.Helper()
	if raw == "" {
		return ""
	}
	var v map[string]any
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		t.Errorf("%v: %s", err, raw)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
