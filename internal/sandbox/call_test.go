package sandbox

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCallsAreListedWithoutCredentials(t *testing.T) {
	v := start(t)
	v.get("/v2/Balance?" + creds + "&x=1")
	v.get("/v2/Balance?aPiKeY=aB3+/xyzTestKey==&client%49d=client-0001&Message=client-0001")
	v.post("/v2/SendSMS", `{`+jsonCreds+`,"SenderId":"CLINIC","Message":"say \"hi\"","MobileNumbers":"2348031234567"}`)
	v.post("/v2/SendSMS", `{"apikey" : "escaped \" quote", "CLIENTID":12345, "broken`)
	v.post("/v2/SendSMS", `ApiKey=aB3%2B%2FxyzTestKey%3D%3D&ClientId=client-0001`)
	v.do("DELETE", "/v2/Group?id=999&"+creds, "")
	v.get("/v2/Nothing?" + creds)
	calls := v.list("/_sandbox/calls")
	want := []struct {
		method, path, query, body string
		status                    float64
	}{
		{"GET", "/v2/Balance", "ApiKey=REDACTED&ClientId=REDACTED&x=1", "", 200},
		{"GET", "/v2/Balance", "aPiKeY=REDACTED&client%49d=REDACTED&Message=REDACTED", "", 200},
		{"POST", "/v2/SendSMS", "", `{"ApiKey":"REDACTED","ClientId":"REDACTED","SenderId":"CLINIC","Message":"say \"hi\"","MobileNumbers":"2348031234567"}`, 200},
		{"POST", "/v2/SendSMS", "", `{"apikey" : "REDACTED", "CLIENTID":"REDACTED", "broken`, 200},
		{"POST", "/v2/SendSMS", "", `ApiKey=REDACTED&ClientId=REDACTED`, 200},
		{"DELETE", "/v2/Group", "id=999&ApiKey=REDACTED&ClientId=REDACTED", "", 200},
		{"GET", "/v2/Nothing", "ApiKey=REDACTED&ClientId=REDACTED", "", 404},
	}
	if len(calls) != len(want) {
		t.Fatalf("%d calls, want %d", len(calls), len(want))
	}
	for i, w := range want {
		c := calls[i]
		if c["seq"] != float64(i+1) || c["method"] != w.method || c["path"] != w.path || c["query"] != w.query ||
			c["body"] != w.body || c["status"] != w.status || c["at"].(float64) == 0 {
			t.Errorf("call %d: %v\nwant %+v", i+1, c, w)
		}
	}
}

func TestCallLogKeepsTheLast(t *testing.T) {
	var l callLog
	l.atLeast(40)
	for range callsKept + 7 {
		c := &call{}
		c.seq = l.begin(CallRecord{})
		l.finish(c, 200)
	}
	kept := l.list()
	if len(kept) != callsKept || kept[0].Seq != 48 || kept[len(kept)-1].Seq != 47+callsKept {
		t.Errorf("%d kept, %d to %d", len(kept), kept[0].Seq, kept[len(kept)-1].Seq)
	}
	for _, c := range kept {
		if c.Status != 200 {
			t.Fatalf("call %d has status %d", c.Seq, c.Status)
		}
	}
	l.finish(&call{seq: 41}, 500) // long gone
}

func TestBodyAboveTheLimit(t *testing.T) {
	v := start(t)
	if r := v.post("/v2/SendSMS", `{`+jsonCreds+`,"Message":"`+strings.Repeat("x", bodyLimit)+`"}`); r.status != 413 &&
		r.err == nil {
		t.Errorf("%d", r.status)
	}
	if calls := v.list("/_sandbox/calls"); calls[0]["status"] != 413.0 {
		t.Errorf("%v", calls[0]["status"])
	}
}

// FuzzCall looks for input that breaks the reading of calls, and for credentials in the list of calls.
func FuzzCall(f *testing.F) {
	f.Add("POST", "id=1", `{"ApiKey":"k","MobileNumbers":1}`)
	f.Add("GET", "ApiKey=%zz&=x&&Message=%F0%9F", "")
	f.Add("POST", "", `{"MessageParameters":[{"Number":[],"Text":{}},null,1]}`)
	s, err := New(Config{APIKey: testKey, ClientID: testClient, PerMinute: -1})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, method, query, body string) {
		c := &call{method: method, query: queryValues(query)}
		c.body, c.pairs = bodyValues([]byte(body))
		for key := range operations {
			if m, _, _ := strings.Cut(key, " "); m == method {
				c.query["apikey"], c.query["clientid"] = testKey, testClient
				s.execute(c, operations[key], draw{})
			}
		}
		shown := s.redact(redactQuery(query+"&ApiKey="+testKey)) + s.redact(redactBody([]byte(body+testClient)))
		if strings.Contains(shown, testKey) || (len(body) < excerptLimit-64 && strings.Contains(shown, testClient)) {
			t.Errorf("credentials in %q", shown)
		}
		if !utf8.ValidString(redactBody([]byte(body))) {
			t.Errorf("not UTF-8: %q", body)
		}
	})
}

// FuzzBulkPairs reads lists of pairs as the service does (§4.4): what was
// encoded arrives as it was, and whatever stands in a value, there are as many
// recipients as "~" part, or none at all.
func FuzzBulkPairs(f *testing.F) {
	f.Add("2348031230101", "Hello", "2348031230102", "1+1=2 & \u1eb9\n%7E%5E")
	f.Add("2348031230101", "hi~2348099999999^pay here", "2348031230102", "x^y")
	f.Add("", "", "~", "^")
	f.Fuzz(func(t *testing.T, n1, t1, n2, t2 string) {
		s, err := New(Config{APIKey: testKey, ClientID: testClient, PerMinute: -1, Credit: 1 << 50})
		if err != nil {
			t.Fatal(err)
		}
		value := n1 + "^" + t1 + "~" + n2 + "^" + t2
		c := &call{method: "GET", query: queryValues("SenderId=CLINIC&MobileNumber_Message=" + url.QueryEscape(value))}
		if got := c.value("mobilenumber_message"); got != value {
			t.Fatalf("%q arrived as %q", value, got)
		}
		a := s.sendPairs(c)
		var sent []recipient
		for _, m := range s.Ledger() {
			sent = append(sent, recipient{m.Number, m.Text})
		}
		rows, _ := a.data.([]any)
		if len(rows) > 0 && len(rows) != strings.Count(value, "~")+1 || len(sent) > len(rows) {
			t.Fatalf("%q made %d rows and %d messages", value, len(rows), len(sent))
		}
		plain := func(number, text string) bool {
			return wellFormed(number) && fateOf(number) == 0 && strings.TrimSpace(text) != "" && !strings.ContainsAny(text, "~^")
		}
		if plain(n1, t1) && plain(n2, t2) && n1 != n2 && !slices.Equal(sent, []recipient{{n1, t1}, {n2, t2}}) {
			t.Fatalf("%q was sent as %q", value, sent)
		}
	})
}
