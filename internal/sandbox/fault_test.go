package sandbox

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// broken is a send under a fault, and how many texts it executed.
func (v *service) under(faults string, number string) (reply, int) {
	v.t.Helper()
	if r := v.post("/_sandbox/faults", faults); r.status != 200 {
		v.t.Fatalf("faults %s: %d %s", faults, r.status, r.body)
	}
	before := len(v.ledger())
	r := v.sendTo(number, "Hello")
	return r, len(v.ledger()) - before
}

func TestFaultsInPlaceOfAnAnswer(t *testing.T) {
	v := start(t)
	for _, c := range []struct {
		faults   string
		status   int // 0: reset
		html     bool
		executed int
	}{
		{`{"tooMany":1}`, 429, false, 0},
		{`{"errorBefore":1}`, 503, false, 0},
		{`{"errorAfter":1}`, 503, false, 1},
		{`{"errorAfter":1,"errorStatus":520}`, 520, false, 1},
		{`{"errorBefore":"1","errorStatus":"500"}`, 500, false, 0},
		{`{"cutBefore":1}`, 0, false, 0},
		{`{"cutAfter":1}`, 0, false, 1},
		{`{"htmlBefore":1}`, 200, true, 0},
		{`{"htmlAfter":1}`, 200, true, 1},
		{`{}`, 200, false, 1},
	} {
		t.Run(c.faults, func(t *testing.T) {
			v.t = t
			r, executed := v.under(c.faults, "2348031234567")
			if r.status != c.status || (r.err != nil) != (c.status == 0) || executed != c.executed {
				t.Errorf("status %d, %v, executed %d", r.status, r.err, executed)
			}
			if r.err != nil && !strings.Contains(r.err.Error(), "reset") {
				t.Errorf("not a reset: %v", r.err)
			}
			html := strings.HasPrefix(r.body, "<!DOCTYPE html>") && strings.HasPrefix(r.header.Get("Content-Type"), "text/html")
			if html != c.html {
				t.Errorf("HTML %v: %s", html, r.body)
			}
		})
	}
}

func TestFormsOfErrorCode(t *testing.T) {
	v := start(t)
	for form, want := range map[string][2]string{
		"number": {"0", "7"}, "text007": {`"000"`, `"007"`}, "text7": {`"0"`, `"7"`}, "bare007": {"000", "007"}, "point": {"0.0", "7.0"},
	} {
		r, _ := v.under(`{"codeForm":"`+form+`"}`, "2348031234567")
		if !strings.HasPrefix(r.body, `{"ErrorCode":`+want[0]+`,"ErrorDescription":"Success","Data":[`) {
			t.Errorf("%s: %s", form, r.body)
		}
		v.fails(v.get("/v2/Balance?ApiKey=x&ClientId=y"), want[1], "Invalid username or password")
	}
}

func TestAccountSwitches(t *testing.T) {
	v := start(t)
	r, executed := v.under(`{"inactive":true}`, "2348031234567")
	v.fails(r, "8", "Account inactive")
	if executed != 0 {
		t.Error("an inactive account sent")
	}
	v.fails(v.get("/v2/Balance?ApiKey=x&ClientId=y"), "7", "Invalid username or password")
	r, executed = v.under(`{"unauthorized":true}`, "2348031234567")
	v.fails(r, "10", "Unauthorized API access")
	v.fails(v.get("/v2/Group?"+creds), "10", "Unauthorized API access")
	if executed != 0 {
		t.Error("an unauthorized account sent")
	}
}

func TestMissingRows(t *testing.T) {
	v := start(t)
	numbers := strings.Repeat("2348031234567,", 200)
	r, executed := v.under(`{"missingRows":0.5}`, numbers)
	if n := len(v.rows(r)); n < 50 || n > 150 || executed != 200 {
		t.Errorf("%d rows of %d executed", n, executed)
	}
	if r, _ := v.under(`{"missingRows":1}`, numbers); r.body != `{"ErrorCode":0,"ErrorDescription":"Success","Data":[]}` {
		t.Errorf("all missing: %s", r.body)
	}
}

func TestNumberForms(t *testing.T) {
	v := start(t)
	for form, want := range map[string]string{"asked": "2348030000009", "plus": "+2348030000009", "zero": "08030000009"} {
		r, _ := v.under(`{"numberForm":"`+form+`"}`, "2348030000009")
		if got := v.rows(r)[0]["MobileNumber"]; got != want {
			t.Errorf("%s: answered %v, want %s", form, got, want)
		}
		reports := v.dlr.wait(t, 1)
		if got := reports[len(reports)-1].Get("mobile"); got != want {
			t.Errorf("%s: reported %v, want %s", form, got, want)
		}
	}
	if l := v.ledger(); l[1]["number"] != "2348030000009" {
		t.Errorf("the ledger keeps the number as asked: %v", l[1])
	}
}

func TestRowForms(t *testing.T) {
	v := start(t)
	for form, want := range map[string]string{
		"plain":      `[{"MobileNumber":"2348031234567","MessageId":"ID"}]`,
		"coded":      `[{"MobileNumber":"2348031234567","MessageId":"ID","MessageErrorCode":0,"MessageErrorDescription":"Success","Custom":""}]`,
		"unnumbered": `[{"MessageId":"ID"}]`,
		"masked":     `[{"MobileNumber":"234803****567","MessageId":"ID"}]`,
		"object":     `{"MobileNumber":"2348031234567","MessageId":"ID"}`,
	} {
		r, executed := v.under(`{"rowForm":"`+form+`"}`, "2348031234567")
		got := regexp.MustCompile(`[0-9a-f-]{36}`).ReplaceAllString(r.body, "ID")
		if got != `{"ErrorCode":0,"ErrorDescription":"Success","Data":`+want+`}` || executed != 1 {
			t.Errorf("%s: %s, %d executed", form, r.body, executed)
		}
	}
	r, _ := v.under(`{"rowForm":"masked","nameForm":"lower"}`, "2348030000010")
	if !strings.Contains(r.body, `"errorcode":0,"errordescription":"Success","data":[{`) ||
		!strings.Contains(r.body, `"mobilenumber":"234803****010"`) || !strings.Contains(r.body, `"messageerrorcode":401`) {
		t.Errorf("lower names: %s", r.body)
	}
}

func TestReportForms(t *testing.T) {
	v := start(t)
	type call struct{ method, kind, query, body string }
	calls := make(chan call, 10)
	take := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		calls <- call{r.Method, r.Header.Get("Content-Type"), r.URL.RawQuery, string(body)}
	})
	v.dlr.answer.Store(&take)
	for form, want := range map[string]call{
		"get":       {"GET", "", "status=DELIVRD", ""},
		"postForm":  {"POST", "application/x-www-form-urlencoded", "", "status=DELIVRD"},
		"postJSON":  {"POST", "application/json", "", `"status":"DELIVRD"`},
		"postQuery": {"POST", "", "status=DELIVRD", ""},
	} {
		v.under(`{"reportForm":"`+form+`"}`, "2348031234567")
		got := <-calls
		v.settled(t)
		if got.method != want.method || got.kind != want.kind || !strings.Contains(got.query, want.query) ||
			!strings.Contains(got.body, want.body) || want.body == "" && got.body != "" || want.query == "" && got.query != "" {
			t.Errorf("%s: %+v", form, got)
		}
	}
	v.under(`{"reportId":"upper"}`, "2348031234567")
	q, err := url.ParseQuery((<-calls).query)
	if id := q.Get("messageId"); err != nil || len(id) != 36 || id != strings.ToUpper(id) {
		t.Errorf("the id is %q", id)
	}
}

func TestEarlyReports(t *testing.T) {
	v := start(t)
	answered := make(chan struct{})
	handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		select {
		case <-answered:
			t.Error("a report after the answer")
		default:
		}
	})
	v.dlr.answer.Store(&handler)
	v.under(`{"earlyReports":1}`, "2348031234567,2348030000002,2348030000006")
	close(answered)
	if n := len(v.dlr.all()); n != 2 {
		t.Errorf("%d reports, want 2", n)
	}
}

func TestDuplicateReports(t *testing.T) {
	v := start(t)
	v.under(`{"duplicates":1}`, "2348031234567")
	v.dlr.wait(t, 2)
	v.settled(t)
	if raw := v.dlr.all(); len(raw) != 2 || raw[0] != raw[1] {
		t.Errorf("reports %q", raw)
	}
}

func TestLatencyIsSpentAlthoughTheCallerHangsUp(t *testing.T) {
	v := start(t)
	begin := time.Now()
	if _, executed := v.under(`{"latency":"80ms"}`, "2348031234567"); executed != 1 ||
		time.Since(begin) < 80*time.Millisecond {
		t.Errorf("executed %d in %v", executed, time.Since(begin))
	}
	req, err := http.NewRequest("GET", v.base+"/v2/SendSMS?"+creds+"&SenderId=CLINIC&Message=x&MobileNumber=2348031234567",
		nil)
	if err != nil {
		t.Fatal(err)
	}
	impatient := &http.Client{Timeout: 15 * time.Millisecond}
	if _, err := impatient.Do(req); err == nil {
		t.Fatal("answered before the latency had passed")
	}
	deadline := time.Now().Add(2 * time.Second)
	for len(v.ledger()) < 2 {
		if time.Now().After(deadline) {
			t.Fatal("a caller who hung up stopped the execution")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestProbabilitiesAreKeptAndRepeatable(t *testing.T) {
	run := func(seed uint64) (statuses []int) {
		v := start(t, func(c *Config) {
			c.Seed = seed
			c.Faults = Faults{TooMany: 0.3}
		})
		for range 100 {
			statuses = append(statuses, v.get("/v2/Balance?"+creds).status)
		}
		return statuses
	}
	a, b, other := run(7), run(7), run(8)
	if !slices.Equal(a, b) {
		t.Error("the same seed gave other faults")
	}
	if slices.Equal(a, other) {
		t.Error("another seed gave the same faults")
	}
	n := 0
	for _, status := range a {
		if status == 429 {
			n++
		}
	}
	if n < 10 || n > 50 {
		t.Errorf("%d of 100 calls answered 429, asked for 0.3", n)
	}
}

func TestParseFaults(t *testing.T) {
	got, err := ParseFaults("latency=300ms, cutAfter=0.05,inactive=true,codeForm=bare007,errorStatus=502,")
	want := Faults{Latency: 300 * time.Millisecond, CutAfter: 0.05, Inactive: true, CodeForm: "bare007", ErrorStatus: 502}
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := ParseFaults(""); err != nil || got != (Faults{}) {
		t.Errorf("empty: %+v, %v", got, err)
	}
	for text, complaints := range map[string][]string{
		"cutAfter=1.5":            {"cutAfter"},
		"cutAfter=NaN":            {"cutAfter"},
		"tooMany=-0.1,latency=1h": {"tooMany", "latency"},
		"latency=soon,inactive=x": {"latency", "inactive"},
		"nothing=1,cutBefore":     {"nothing", "cutBefore"},
		"errorStatus=404":         {"errorStatus"},
		"numberForm=roman":        {"numberForm"},
	} {
		_, err := ParseFaults(text)
		for _, word := range complaints {
			if err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %v does not name %s", text, err, word)
			}
		}
	}
}

func TestFaultsSurviveJSON(t *testing.T) {
	want := Faults{Latency: time.Second, TooMany: 0.1, ErrorBefore: 0.2, ErrorAfter: 0.3, ErrorStatus: 500, CutBefore: 0.4,
		CutAfter: 0.5, HTMLBefore: 0.6, HTMLAfter: 0.7,
		MissingRows: 0.8, EarlyReports: 0.9, Duplicates: 1, HoldReports: true, Inactive: true, Unauthorized: true,
		CodeForm: "text7", NumberForm: "zero", RowForm: "coded", NameForm: "lower", ReportForm: "postJSON", ReportID: "upper"}
	for i, n := 0, reflect.ValueOf(want); i < n.NumField(); i++ {
		if n.Field(i).IsZero() {
			t.Fatalf("%s is not in this test", n.Type().Field(i).Name)
		}
	}
	raw, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Faults
	if err := json.Unmarshal(raw, &got); err != nil || got != want {
		t.Errorf("%v\n%s\n%+v", err, raw, got)
	}
}
