package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"smsdesk/internal/sms"
)

// transcript is one exchange typed by hand from the specification.
type transcript struct {
	cites  string
	method string
	path   string
	query  []string // raw pairs, sorted
	header http.Header
	body   string
	answer string // every byte
}

func readTranscript(t *testing.T, name string) transcript {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	tr := transcript{header: http.Header{}}
	var asked, answered []string
	for line := range strings.SplitSeq(string(raw), "\n") {
		switch {
		case strings.HasPrefix(line, ">"):
			asked = append(asked, strings.TrimPrefix(strings.TrimPrefix(line, ">"), " "))
		case strings.HasPrefix(line, "<"):
			answered = append(answered, strings.TrimPrefix(strings.TrimPrefix(line, "<"), " "))
		case strings.HasPrefix(line, "§"):
			tr.cites = line
		}
	}
	first, rest := asked[0], asked[1:]
	tr.method, tr.path, _ = strings.Cut(first, " ")
	var query string
	tr.path, query, _ = strings.Cut(tr.path, "?")
	tr.query = pairs(query)
	for i, line := range rest {
		if line == "" {
			tr.body = strings.Join(rest[i+1:], "\n")
			break
		}
		k, v, _ := strings.Cut(line, ": ")
		tr.header.Set(k, v)
	}
	blank := slices.Index(answered, "")
	tr.answer = strings.Join(answered[:blank], "\r\n") + "\r\n\r\n" + strings.Join(answered[blank+1:], "\n")
	return tr
}

func pairs(query string) []string {
	if query == "" {
		return nil
	}
	p := strings.Split(query, "&")
	slices.Sort(p)
	return p
}

// check compares a request with the transcript: nothing missing, nothing more.
func (tr transcript) check(t *testing.T, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	got := transcript{method: r.Method, path: r.URL.Path, query: pairs(r.URL.RawQuery)}
	want := transcript{method: tr.method, path: tr.path, query: tr.query}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(transcript{})); d != "" {
		t.Errorf("request line: %s", d)
	}
	for k := range tr.header {
		if r.Header.Get(k) != tr.header.Get(k) {
			t.Errorf("header %s is %q, want %q", k, r.Header.Get(k), tr.header.Get(k))
		}
	}
	if !r.Close {
		t.Error("the connection is not asked to close")
	}
	if r.Header.Get("Accept-Encoding") != "" {
		t.Error("a compressed answer is asked for")
	}
	if tr.body == "" {
		if len(body) > 0 {
			t.Errorf("body %q, want none", body)
		}
		return
	}
	if bytes.Contains(body, []byte(`\u003c`)) || bytes.Contains(body, []byte(`\u0026`)) {
		t.Errorf("body is escaped for HTML: %s", body)
	}
	var wantBody, gotBody map[string]any
	if err := json.Unmarshal([]byte(tr.body), &wantBody); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(body, &gotBody); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(wantBody, gotBody); d != "" {
		t.Errorf("body: %s", d)
	}
}

func TestTranscripts(t *testing.T) {
	ctx := context.Background()
	at := time.Date(2031, 2, 28, 23, 5, 0, 0, time.UTC)
	two := textCall("2348031230101", "2348031230102")
	one := textCall("2348031230101")
	change := func(call sms.Call, f func(*sms.Call)) sms.Call { f(&call); return call }
	send := func(call sms.Call) func(*Client) (any, error) {
		return func(c *Client) (any, error) { return c.Send(ctx, call, yes), nil }
	}
	get := func(call sms.Call) func(*Client) (any, error) {
		return func(c *Client) (any, error) { return c.getting().Send(ctx, call, yes), nil }
	}
	answered := func(rows ...sms.ResultRow) sms.Outcome {
		return sms.Outcome{Class: sms.ClassAnswered, HTTPStatus: 200, Code: "000", Description: "Success", Rows: rows}
	}
	tests := []struct {
		name string
		call func(*Client) (any, error)
		want any
	}{
		{"4.1-balance", func(c *Client) (any, error) { return c.Balance(ctx) },
			[]sms.Balance{{PluginType: "SMS", Credits: "₦57,524.50", ReadAt: 5000},
				{PluginType: "Voice", Credits: "$22.00", ReadAt: 5000}}},
		{"4.1-balance-xml", func(c *Client) (any, error) { return c.BalanceIn(ctx, "xml") },
			"<Response><ErrorCode>0</ErrorCode><ErrorDescription>Success</ErrorDescription></Response>"},
		{"4.2-send", send(change(two, func(s *sms.Call) { s.Text = "Visit <us> & bring \"it\", ẹ ₦5" })),
			answered(sms.ResultRow{Number: "2348031230101", ProviderID: "fc103131-5931-4530-ba8e-aa223c769536"},
				sms.ResultRow{Number: "2348031230102", ProviderID: "fc103131-5931-4530-ba8e-aa223c769537"})},
		{"4.2-send-scheduled", send(change(one, func(s *sms.Call) { s.Text, s.Unicode, s.Flash, s.SchedTime = "ẹ kú àárọ̀", true, true, at })),
			sms.Outcome{Class: sms.ClassAnswered, HTTPStatus: 200, Code: "000", Description: "null",
				Rows: []sms.ResultRow{{Number: "2348031230101", ProviderID: "a-1"}}}},
		{"4.2-send-group", send(sms.Call{Kind: sms.CallGroup, SenderID: "CLINIC", Text: "Hello", GroupID: "61"}),
			answered(sms.ResultRow{Number: "2348031230101", ProviderID: "g-1"})},
		{"4.2-send-refused-row", send(two),
			answered(sms.ResultRow{Number: "2348031230101", Code: "401", Description: "source_address filter mismatch"},
				sms.ResultRow{Number: "2348031230102", ProviderID: "a-2"})},
		{"4.3-send-get", get(change(two, func(s *sms.Call) { s.Text, s.Unicode, s.SchedTime = "1+1 & ẹ", true, at })),
			answered(sms.ResultRow{Number: "2348031230101", ProviderID: "a-1"},
				sms.ResultRow{Number: "2348031230102", ProviderID: "a-2"})},
		{"4.3-send-get-group", get(sms.Call{Kind: sms.CallGroup, SenderID: "CLINIC", Text: "Hello", GroupID: "61", Flash: true}),
			answered(sms.ResultRow{Number: "2348031230101", ProviderID: "g-1"})},
		{"4.4-send-bulk", send(sms.Call{Kind: sms.CallPairs, SenderID: "CLINIC", SchedTime: at, Recipients: []sms.Recipient{
			{Number: "2348031230101", Text: "Hello Ada"}, {Number: "2348031230102", Text: "Hello Bola, 1+1=2"}}}),
			answered(sms.ResultRow{Number: "2348031230101", ProviderID: "b-1"},
				sms.ResultRow{Number: "2348031230102", ProviderID: "b-2"})},
		{"4.5-template-list", func(c *Client) (any, error) { return c.Templates(ctx) }, []sms.Template{
			{ID: 7, CompanyID: 3, Name: "Reminder", Text: "Dear ##Name##, come on ##Date##", IsApproved: true, IsActive: true,
				CreatedDate: "Mar 19, 2018", ApprovedDate: "Mar 20, 2018"},
			{ID: 8, CompanyID: 3, Name: "Old", Text: "x", IsActive: true, CreatedDate: "08-Aug-2025"}}},
		{"4.5-template-update", func(c *Client) (any, error) {
			return c.UpdateTemplate(ctx, 7, "Reminder", "Dear ##Name## <now>")
		}, "Template updated Successfully."},
		{"4.5-template-delete", func(c *Client) (any, error) { return c.DeleteTemplate(ctx, 7) }, "Template deleted Successfully."},
		{"4.6-senderid-list", func(c *Client) (any, error) { return c.SenderIDs(ctx) }, []sms.SenderID{
			{ID: 21, CompanyID: 3, Text: "CLINIC", Purpose: "Reminders", IsActive: true, ApproveStatus: "Approved",
				CreatedDate: "Mar 19, 2018", ApprovedDate: "Mar 20, 2018"},
			{ID: 22, CompanyID: 3, Text: "SCHOOL", ApproveStatus: "Pending", CreatedDate: "Mar 19, 2018"}}},
		{"4.6-senderid-update", func(c *Client) (any, error) { return c.UpdateSenderID(ctx, 21, "CLINIC", "Visits") }, "SenderId updated Successfully."},
		{"4.6-senderid-delete", func(c *Client) (any, error) { return c.DeleteSenderID(ctx, 21) }, "SenderId deleted Successfully."},
		{"4.7-group-list", func(c *Client) (any, error) { return c.Groups(ctx) },
			[]sms.Group{{ID: 61, Name: "Parents", ContactCount: 412}, {ID: 62, Name: "Staff"}}},
		{"4.7-group-create", func(c *Client) (any, error) { return c.CreateGroup(ctx, "Parents") }, "New Group added successfully."},
		{"4.7-group-update", func(c *Client) (any, error) { return c.UpdateGroup(ctx, 61, "Parents & friends") }, "Group updated Successfully."},
		{"4.7-group-delete", func(c *Client) (any, error) { return c.DeleteGroup(ctx, 61) }, "Group deleted successfully."},
		{"4.7-subgroup-create", func(c *Client) (any, error) { return c.CreateSubGroup(ctx, 61, "Class 3") }, "New Group added successfully."},
		{"4.8-message-status", func(c *Client) (any, error) { return c.MessageStatus(ctx, "fc103131-5931/1") },
			sms.MessageStatus{ProviderID: "fc103131-5931/1", Number: "2348031230101", SenderID: "CLINIC", Status: "SUBMITTED",
				ErrorCode:  "000",
				SubmitDate: "2031-03-01 00:05:00", DoneDate: "2031-03-01 00:05:09"}},
		{"7-001", func(c *Client) (any, error) { return c.Groups(ctx) }, &Error{Code: "001", Description: "Account details cannot be blank", HTTPStatus: 200,
			Sentence: "The provider did not receive the API key and client ID. Enter them in Settings, Connection"}},
		{"7-003", send(change(one, func(s *sms.Call) { s.SenderID = "" })), sms.Outcome{Class: sms.ClassListed, HTTPStatus: 200, Code: "003", Fault: sms.FaultSender,
			Description: "SenderId cannot be blank", Reason: "Choose a sender ID"}},
		{"7-007", func(c *Client) (any, error) { return c.Balance(ctx) }, &Error{Code: "007", Description: "Invalid username or password", HTTPStatus: 200,
			Sentence: "The provider says the API key or client ID is wrong. Copy both again from the provider dashboard"}},
		{"7-008", func(c *Client) (any, error) { return c.SenderIDs(ctx) }, &Error{Code: "008", Description: "Account inactive", HTTPStatus: 200,
			Sentence: "The provider says the account is not active. Contact the provider"}},
		{"7-010", func(c *Client) (any, error) { return c.Templates(ctx) }, &Error{Code: "010", Description: "Unauthorized API access", HTTPStatus: 200,
			Sentence: "API access is turned off for this account. Ask the provider to turn it on"}},
		{"7-027", func(c *Client) (any, error) { return c.CreateGroup(ctx, "Parents") }, &Error{Code: "027", Description: "Already exist", HTTPStatus: 200,
			Sentence: "There is already a group called “Parents”. Choose another name"}},
		{"7-028", func(c *Client) (any, error) { return c.DeleteTemplate(ctx, 7) }, &Error{Code: "028", Description: "Can not be found", HTTPStatus: 200,
			Sentence: "This template no longer exists at the provider. We have removed it from the list"}},
		{"8-429", send(one), sms.Outcome{Class: sms.ClassRate, HTTPStatus: 429, RetryAfter: 7 * time.Second,
			Reason: "We have reached the provider's limit of 1000000 requests per minute."}},
	}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) != len(tests) {
		t.Fatalf("%d transcripts, %d played: %v", len(files), len(tests), err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr := readTranscript(t, tt.name)
			p := newPeer(t, func(p *peer, c net.Conn) {
				r, _, err := p.request(c)
				if err != nil {
					t.Error(err)
					return
				}
				tr.check(t, r)
				_, _ = io.WriteString(c, tr.answer)
			})
			c := open(t, p.url(), func(cfg *Config) { cfg.Now = func() time.Time { return time.UnixMilli(5000) } })
			got, err := tt.call(c)
			if err != nil {
				got = err
			}
			if d := cmp.Diff(tt.want, got, cmpopts.IgnoreUnexported(Error{}),
				cmpopts.IgnoreFields(sms.Outcome{}, "Excerpt", "Written"),
				cmpopts.IgnoreFields(sms.MessageStatus{}, "Raw")); d != "" {
				t.Fatalf("%s\n%s", tr.cites, d)
			}
			if n, _ := p.saw(); n != 1 {
				t.Fatalf("%d connections, want 1", n)
			}
		})
	}
}

// TestCodes: every code of §7 in every form seen, for a send, a read and a change.
func TestCodes(t *testing.T) {
	codes := map[string]string{"001": "Account details cannot be blank", "003": "SenderId cannot be blank",
		"007": "Invalid username or password",
		"008": "Account inactive", "010": "Unauthorized API access", "027": "Already exist", "028": "Can not be found", "041": "Report not found"}
	for code, description := range codes {
		bare := strings.TrimLeft(code, "0")
		for _, form := range []string{bare, `"` + bare + `"`, `"` + code + `"`, code, " 0" + code + " "} {
			for _, data := range []string{"", `,"Data":null`, `,"Data":""`, `,"Data":[]`} {
				body := `{"ErrorCode":` + form + `,"ErrorDescription":"` + description + `"` + data + `}`
				e, err := parseEnvelope([]byte(body))
				if err != nil || e.code != code || e.description != description || e.hasData() {
					t.Fatalf("%s: %+v, %v", body, e, err)
				}
				want := sms.ClassHold
				if _, ok := listed(code); ok {
					want = sms.ClassListed
				}
				if o := judgeEnvelope(textCall("1"), e); o.Class != want || o.Code != code || o.Reason == "" {
					t.Fatalf("%s: %+v", body, o)
				}
			}
		}
		p := newPeer(t, reply(http200(`{"ErrorCode":`+bare+`,"ErrorDescription":"`+description+`"}`)))
		c := open(t, p.url())
		_, err := c.Groups(context.Background())
		checkCode(t, err, code, description)
		_, err = c.UpdateGroup(context.Background(), 5, "Staff")
		checkCode(t, err, code, description)
	}
}

func checkCode(t *testing.T, err error, code, description string) {
	t.Helper()
	e, ok := err.(*Error)
	if !ok || e.Code != code || e.Description != description || e.Sentence == "" {
		t.Fatalf("code %s: %#v", code, err)
	}
	if code == "041" && e.Sentence != "The provider answered “Report not found” (code 041)" {
		t.Fatalf("unlisted code is not shown as given: %s", e.Sentence)
	}
}

func TestChangeWords(t *testing.T) {
	for _, tt := range []struct{ data, want, wantErr string }{
		{`"success#Done."`, "Done.", ""},
		{`"Done."`, "Done.", ""},
		{`null`, "Success", ""},
		{`"error#Name too long"`, "", "The provider answered “Name too long”"},
	} {
		p := newPeer(t, reply(http200(`{"ErrorCode":0,"ErrorDescription":"Success","Data":`+tt.data+`}`)))
		got, err := open(t, p.url()).CreateGroup(context.Background(), "x")
		if got != tt.want || (err == nil) != (tt.wantErr == "") || err != nil && err.Error() != tt.wantErr {
			t.Errorf("%s: %q, %v", tt.data, got, err)
		}
	}
}
