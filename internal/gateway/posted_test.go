package gateway

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

// TestPostedReports: turned away and counted unless the account takes them,
// then stored as a GET would have been; the token is asked for before.
func TestPostedReports(t *testing.T) {
	const report = "messageId=a-1&mobile=2348031230101&status=DELIVRD&shortMessage=Hi+%26+you"
	full := sms.DeliveryReport{ProviderID: "a-1", Mobile: "2348031230101", Status: "DELIVRD", ShortMessage: "Hi & you"}
	tests := []struct {
		name, path, query, body string
		posts                   bool
		status, posted, refused int
		want                    []sms.DeliveryReport
	}{
		{"not taken", token, "", report, false, 405, 1, 0, nil},
		{"wrong token", "x" + token, "", report, true, 404, 0, 1, nil},
		{"a form", token, "", report, true, 200, 0, 0, []sms.DeliveryReport{full}},
		{"a form behind a query", token, "messageId=b-2", report, true, 200, 0, 0,
			[]sms.DeliveryReport{{ProviderID: "b-2", Mobile: full.Mobile, Status: full.Status, ShortMessage: full.ShortMessage}}},
		{"a form of two lines", token, "", "messageId=a-1&status=DELI\nVRD\x00\xff", true, 200, 0, 0,
			[]sms.DeliveryReport{{ProviderID: "a-1", Status: "DELI\nVRD\uFFFD\uFFFD"}}},
		{"the query alone", token, report, "", true, 200, 0, 0, []sms.DeliveryReport{full}},
		{"JSON", token, "", `{"messageId":"a-1","mobile":2348031230101,"status":"DELIVRD","shortMessage":"Hi & you","x":null}`, true,
			200, 0, 0, []sms.DeliveryReport{full}},
		{"JSON, other case", token, "", "\ufeff" + ` {"MessageID":"a-1","MOBILE":"2348031230101","Status":"DELIVRD","shortmessage":"Hi & you"}`,
			true, 200, 0, 0, []sms.DeliveryReport{full}},
		{"several in JSON", token, "", `[{"messageId":"a-1"},{"messageId":"b-2"}]`, true, 200, 0, 0,
			[]sms.DeliveryReport{{ProviderID: "a-1"}, {ProviderID: "b-2"}}},
		{"broken JSON is kept", token, "", `{"messageId":`, true, 200, 0, 0, []sms.DeliveryReport{{}}},
		{"XML is kept", token, "", "<report>a-1</report>", true, 200, 0, 0, []sms.DeliveryReport{{}}},
		{"too long", token, "", strings.Repeat("x", maxReport+1), true, 413, 0, 0, nil},
		{"too long once written out", token, "", `{"a":"` + strings.Repeat("ẹ", maxReport/4) + `"}`, true, 413, 0, 0, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b inbox
			b.posts.Store(tt.posts)
			w := httptest.NewRecorder()
			NewCallback(b.config(nil)).ServeHTTP(w,
				httptest.NewRequest(http.MethodPost, "/dlr/"+tt.path+"?"+tt.query, strings.NewReader(tt.body)))
			if w.Code != tt.status || int(b.posted.Load()) != tt.posted || int(b.refused.Load()) != tt.refused ||
				len(b.reports) != len(tt.want) {
				t.Fatalf("%d, %d posted, %d refused, %d kept", w.Code, b.posted.Load(), b.refused.Load(), len(b.reports))
			}
			for i, kept := range b.reports {
				got := ParseReport(kept.query)
				if got.Raw == "" || strings.ContainsAny(got.Raw, "\n\x00") || !utf8.ValidString(got.Raw) || kept.account != 7 {
					t.Errorf("%+v", kept)
				}
				got.Raw = ""
				if d := cmp.Diff(tt.want[i], got); d != "" {
					t.Error(d)
				}
			}
		})
	}
}

// TestPostedReportsOfTheSandbox: the three forms in which the sandbox posts, over HTTP.
func TestPostedReportsOfTheSandbox(t *testing.T) {
	for i, form := range []string{"get", "postForm", "postJSON", "postQuery"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			var b inbox
			b.posts.Store(true)
			callback := httptest.NewServer(NewCallback(b.config(nil)))
			defer callback.Close()
			box, err := sandbox.New(sandbox.Config{APIKey: testKey, ClientID: testClient, PerMinute: -1, ReportMin: 1, ReportMax: 2,
				DLRURL: callback.URL + "/dlr/" + token, Faults: sandbox.Faults{ReportForm: form}})
			if err != nil {
				t.Fatal(err)
			}
			defer box.Close()
			go func() { _ = box.Run(t.Context()) }()
			server := httptest.NewServer(box.Handler())
			defer server.Close()
			call := textCall(fmt.Sprint(2348031230101 + i))
			call.SenderID = "SANDBOX"
			c := open(t, server.URL+"/v2")
			ids, err := c.SenderIDs(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range ids {
				if id.Usable() {
					call.SenderID = id.Text
				}
			}
			o := c.Send(t.Context(), call, yes)
			for end := time.Now().Add(5 * time.Second); box.State().ReportsAnswered == 0; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("no report: %+v %+v", box.State(), o)
				}
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			got := ParseReport(b.reports[0].query)
			if got.ProviderID != o.Rows[0].ProviderID || got.Mobile != call.Recipients[0].Number || got.Status != "DELIVRD" ||
				got.ShortMessage != call.Text {
				t.Errorf("%+v", got)
			}
		})
	}
}

// FuzzPostedReport: whatever is posted becomes queries that a log can hold.
func FuzzPostedReport(f *testing.F) {
	f.Add("token=1", []byte(`{"messageId":"a"}`))
	f.Add("", []byte("a=b&c=\x00\n"))
	f.Fuzz(func(t *testing.T, query string, body []byte) {
		if strings.ContainsFunc(query, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			return
		}
		list := postedReports(query, body)
		if len(list) == 0 {
			t.Fatal("nothing is kept")
		}
		for _, q := range list {
			if !utf8.ValidString(q) || strings.ContainsFunc(q, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
				t.Fatalf("%q", q)
			}
		}
	})
}
