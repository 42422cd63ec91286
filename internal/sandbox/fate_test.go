package sandbox

import (
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestFateOfANumber(t *testing.T) {
	for number, want := range map[string]outcome{
		"2348030000001": 1, "2348030000014": 14, "0000005": 5, "2547120000009": 9,
		"2348030000015": 0, "2348030000000": 0, "2348030000099": 0,
		"2348030000101": 0, "2348030100001": 0, "2348031234501": 0, "000001": 0, "": 0,
	} {
		if got := fateOf(number); got != want {
			t.Errorf("%s: %d, want %d", number, got, want)
		}
	}
}

func TestFatesThatAreReported(t *testing.T) {
	for ending, want := range map[string][]string{
		"0000001": {"DELIVRD"}, "0000002": {"UNDELIV"}, "0000003": {"EXPIRED"}, "0000004": {"REJECTD"}, "0000005": {"BLACKLIST"},
		"0000006": nil, "0000007": {"DELIVRD", "ACCEPTD", "DELIVRD"}, "0000012": {"UNKNOWN"}, "0000013": {"DELETED"}, "0000014": {"ACCEPTD"},
		"1234567": {"DELIVRD"}, "0000015": {"DELIVRD"},
	} {
		t.Run(ending, func(t *testing.T) {
			t.Parallel()
			v := start(t)
			id := v.rows(v.sendTo("234803"+ending, "Hello"))[0]["MessageId"].(string)
			v.dlr.wait(t, len(want))
			time.Sleep(30 * time.Millisecond) // nothing more may come
			var got []string
			for _, r := range v.dlr.wait(t, len(want)) {
				got = append(got, r.Get("status"))
				if r.Get("messageId") != id || r.Get("mobile") != "234803"+ending || r.Get("shortMessage") != "Hello" {
					t.Errorf("report %v", r)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("reported %v, want %v", got, want)
			}
			if ending == "0000007" {
				if raw := v.dlr.all(); raw[0] != raw[2] || raw[0] == raw[1] {
					t.Errorf("the repeated report is not identical: %q", raw)
				}
			}
			final := "DELIVRD"
			if len(want) > 0 {
				final = want[0]
			}
			if s := v.status(id); s["Status"] != final {
				t.Errorf("MessageStatus %v, want %s", s, final)
			}
		})
	}
}

func TestEnding08CutsTheWholeCall(t *testing.T) {
	v := start(t)
	r := v.sendTo("2348031234567,2348030000008", "Hello")
	if r.err == nil {
		t.Fatalf("answered %d %s", r.status, r.body)
	}
	if !strings.Contains(r.err.Error(), "reset") {
		t.Errorf("not a reset: %v", r.err)
	}
	if l := v.ledger(); len(l) != 2 {
		t.Errorf("ledger %v", l)
	}
	for _, report := range v.dlr.wait(t, 2) {
		if report.Get("status") != "DELIVRD" {
			t.Errorf("report %v", report)
		}
	}
	if calls := v.list("/_sandbox/calls"); calls[0]["status"] != 0.0 {
		t.Errorf("a cut call is listed with %v", calls[0]["status"])
	}
}

func TestEnding09ReportsBeforeTheAnswer(t *testing.T) {
	v := start(t)
	answered := make(chan struct{})
	var early atomicStrings
	handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-answered:
		default:
			early.add(r.URL.Query().Get("mobile"))
		}
	})
	v.dlr.answer.Store(&handler)
	rows := v.rows(v.sendTo("2348030000009,2348130000009", "Hello"))
	close(answered)
	if got := early.sorted(); !slices.Equal(got, []string{"2348030000009", "2348130000009"}) {
		t.Errorf("reported before the answer: %v", got)
	}
	time.Sleep(20 * time.Millisecond)
	if n := len(v.dlr.wait(t, 2)); n != 2 {
		t.Errorf("%d reports", n)
	}
	if v.status(rows[0]["MessageId"].(string))["Status"] != "DELIVRD" {
		t.Error("MessageStatus does not know of the early report")
	}
}

func TestEnding11IsThrottledOncePerNumber(t *testing.T) {
	v := start(t)
	var got []int
	for _, numbers := range []string{"2348030000011,2348031234567", "2348030000011", "2348130000011,2348030000011",
		"2348130000011,2348030000011"} {
		got = append(got, v.sendTo(numbers, "Hello").status)
	}
	if want := []int{429, 200, 429, 200}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if n := len(v.ledger()); n != 3 {
		t.Errorf("%d texts executed, want 3", n)
	}
	v.dlr.wait(t, 3)
}

func TestReportHasTheSevenParametersAndKeepsTheQuery(t *testing.T) {
	zone := time.FixedZone("WAT", 3600)
	fixed := time.Date(2026, 3, 1, 9, 5, 7, 0, zone)
	v := start(t, func(c *Config) {
		c.DLRURL += "?token=a%2Fb&status=mine"
		c.Location = zone
		c.Now = func() time.Time { return fixed }
		c.Faults.EarlyReports = 1
	})
	id := v.rows(v.sendTo("2348030000002", "Fee: ₦5 & 50% ^~"))[0]["MessageId"].(string)
	raw := v.dlr.all()
	if len(raw) != 1 || !strings.HasPrefix(raw[0], "token=a%2Fb&status=mine&") {
		t.Fatalf("queries %q", raw)
	}
	got, err := url.ParseQuery(raw[0])
	if err != nil {
		t.Fatal(err)
	}
	want := url.Values{
		"token": {"a/b"}, "status": {"mine", "UNDELIV"}, "messageId": {id}, "mobile": {"2348030000002"},
		"submitDate": {"2026-03-01 09:05:07"}, "doneDate": {"2026-03-01 09:05:07"}, "errorCode": {"101"}, "shortMessage": {"Fee: ₦5 & 50% ^~"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
