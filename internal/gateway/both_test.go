package gateway_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"smsdesk/internal/gateway"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

const (
	bothKey    = "c2FuZGJveA+/w=="
	bothClient = "both-client"
)

// stand is the client and the sandbox, each of which knows the other only by HTTP.
type stand struct {
	box    *sandbox.Sandbox
	url    string
	client *gateway.Client
}

func newStand(t *testing.T, change ...func(*sandbox.Config)) stand {
	t.Helper()
	cfg := sandbox.Config{APIKey: bothKey, ClientID: bothClient, PerMinute: -1, ReportMin: time.Millisecond,
		ReportMax: 5 * time.Millisecond}
	for _, f := range change {
		f(&cfg)
	}
	box, err := sandbox.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	server := httptest.NewServer(box.Handler())
	t.Cleanup(server.Close)
	s := stand{box: box, url: server.URL + "/v2"}
	s.client = s.open(t, bothKey)
	return s
}

func (s stand) open(t *testing.T, key string) *gateway.Client {
	t.Helper()
	return s.opened(t, key, 0)
}

// opened is an account that sends one text by GET where byGet is above 0.
func (s stand) opened(t *testing.T, key string, byGet int) *gateway.Client {
	t.Helper()
	c, err := gateway.Open(gateway.Config{
		BaseURL: s.url, PerMinute: 10_000, ByGet: byGet,
		Credentials: sms.Credentials{ClientID: bothClient, APIKey: key},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func licensed() error { return nil }

func text(numbers ...string) sms.Call {
	call := sms.Call{Kind: sms.CallText, SenderID: "SANDBOX", Text: "1+1 & <ẹ> ₦5", Unicode: true}
	for i, n := range numbers {
		call.Recipients = append(call.Recipients, sms.Recipient{MessageID: int64(i + 1), Number: n})
	}
	return call
}

// sender makes the call with a sender ID that the sandbox knows as usable.
func (s stand) sender(t *testing.T, call sms.Call) sms.Call {
	t.Helper()
	list, err := s.client.SenderIDs(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range list {
		if id.Usable() {
			call.SenderID = id.Text
			return call
		}
	}
	t.Fatalf("no usable sender ID in %+v", list)
	return call
}

func TestBothSend(t *testing.T) {
	s := newStand(t)
	ctx := context.Background()
	to := []string{"2348030000001", "2348031234567"}
	o := s.client.Send(ctx, s.sender(t, text(to...)), licensed)
	settled := sms.Settle(text(to...).Recipients, o, "NG")
	if o.Class != sms.ClassAnswered || settled.State != sms.AttemptAccepted {
		t.Fatalf("%+v", o)
	}
	getting := s.opened(t, bothKey, sms.DefaultURLBudget)
	if o := getting.Send(ctx, s.sender(t, text("2348031234568")), licensed); o.Class != sms.ClassAnswered {
		t.Fatalf("%+v", o)
	}
	pairs := text()
	pairs.Kind, pairs.Recipients = sms.CallPairs, []sms.Recipient{{Number: "2348031234571", Text: "Hi Ada, 1+1=2 & ẹ"},
		{Number: "2348031234572", Text: "Hi Bola"}}
	if o := s.client.Send(ctx, s.sender(t, pairs), licensed); o.Class != sms.ClassAnswered || len(o.Rows) != 2 {
		t.Fatalf("%+v", o)
	}
	want := [][2]string{{to[0], "1+1 & <ẹ> ₦5"}, {to[1], "1+1 & <ẹ> ₦5"}, {"2348031234568", "1+1 & <ẹ> ₦5"},
		{"2348031234571", "Hi Ada, 1+1=2 & ẹ"}, {"2348031234572", "Hi Bola"}}
	ledger := s.box.Ledger()
	for i, e := range ledger {
		if i >= len(want) || e.Number != want[i][0] || e.Text != want[i][1] {
			t.Fatalf("ledger %+v", ledger)
		}
	}
	if len(ledger) != len(want) || settled.Messages[0].ProviderID != ledger[0].MessageID {
		t.Fatalf("%d in the ledger, %+v", len(ledger), settled)
	}
	status, err := s.client.MessageStatus(ctx, ledger[0].MessageID)
	if err != nil || status.Number != to[0] || status.Status == "" || status.Raw == "" {
		t.Fatalf("%+v, %v", status, err)
	}
	_, err = s.client.MessageStatus(ctx, "no-such-id")
	var e *gateway.Error
	if !errors.As(err, &e) || e.Code == "" {
		t.Fatalf("%v", err)
	}
}

func TestBothGroupSend(t *testing.T) {
	s := newStand(t)
	ctx := context.Background()
	groups, err := s.client.Groups(ctx)
	if err != nil || len(groups) == 0 || groups[0].ContactCount == 0 {
		t.Fatalf("%+v, %v", groups, err)
	}
	call := s.sender(t, sms.Call{Kind: sms.CallGroup, Text: "Hello", GroupID: strconv.FormatInt(groups[0].ID, 10)})
	o := s.client.Send(ctx, call, licensed)
	if o.Class != sms.ClassAnswered || int64(len(o.Rows)) != groups[0].ContactCount || len(s.box.Ledger()) != len(o.Rows) {
		t.Fatalf("%+v", o)
	}
}

// TestBothFates: what the endings of the sandbox's numbers do to a call.
func TestBothFates(t *testing.T) {
	s := newStand(t)
	ctx := context.Background()
	refused := text("2348030000010", "2348031234567")
	o := s.client.Send(ctx, s.sender(t, refused), licensed)
	settled := sms.Settle(refused.Recipients, o, "NG")
	if settled.State != sms.AttemptPartial || settled.Messages[0].To != sms.Refused ||
		settled.Messages[1].To != sms.Accepted {
		t.Fatalf("ending 10: %+v %+v", settled, o)
	}
	before := len(s.box.Ledger())
	if o := s.client.Send(ctx, s.sender(t, text("2348030000008")), licensed); o.Class != sms.ClassDoubt ||
		len(s.box.Ledger()) != before+1 {
		t.Fatalf("ending 08: %+v", o)
	}
	o = s.client.Send(ctx, s.sender(t, text("2348030000011")), licensed)
	if o.Class != sms.ClassRate || len(s.box.Ledger()) != before+1 || s.client.Wait(gateway.Urgent) < time.Minute ||
		s.client.Rate() != 8000 {
		t.Fatalf("ending 11: %+v, rate %d", o, s.client.Rate())
	}
	again := s.open(t, bothKey).Send(ctx, s.senderOf(t, text("2348030000011")), licensed)
	if again.Class != sms.ClassAnswered {
		t.Fatalf("ending 11 again: %+v", again)
	}
}

// senderOf reads with a client of its own, because the stand's is held back by a 429.
func (s stand) senderOf(t *testing.T, call sms.Call) sms.Call {
	s.client = s.open(t, bothKey)
	return s.sender(t, call)
}

func TestBothFaults(t *testing.T) {
	s := newStand(t)
	ctx := context.Background()
	call := s.sender(t, text("2348031234567"))
	tests := []struct {
		name     string
		faults   sandbox.Faults
		want     sms.Class
		code     string
		executed int
	}{
		{"429", sandbox.Faults{TooMany: 1}, sms.ClassRate, "", 0},
		{"503 before", sandbox.Faults{ErrorBefore: 1}, sms.ClassDoubt, "", 0},
		{"503 after", sandbox.Faults{ErrorAfter: 1}, sms.ClassDoubt, "", 1},
		{"cut before", sandbox.Faults{CutBefore: 1}, sms.ClassDoubt, "", 0},
		{"cut after", sandbox.Faults{CutAfter: 1}, sms.ClassDoubt, "", 1},
		{"HTML before", sandbox.Faults{HTMLBefore: 1}, sms.ClassDoubt, "", 0},
		{"HTML after", sandbox.Faults{HTMLAfter: 1}, sms.ClassDoubt, "", 1},
		{"missing rows", sandbox.Faults{MissingRows: 1}, sms.ClassAnswered, "000", 1},
		{"inactive", sandbox.Faults{Inactive: true}, sms.ClassListed, "008", 0},
		{"unauthorized", sandbox.Faults{Unauthorized: true}, sms.ClassListed, "010", 0},
		{"inactive, text", sandbox.Faults{Inactive: true, CodeForm: "text007"}, sms.ClassListed, "008", 0},
		{"inactive, bare", sandbox.Faults{Inactive: true, CodeForm: "bare007"}, sms.ClassListed, "008", 0},
		{"bare 000", sandbox.Faults{CodeForm: "bare007"}, sms.ClassAnswered, "000", 1},
		{"text 0", sandbox.Faults{CodeForm: "text7"}, sms.ClassAnswered, "000", 1},
		{"numbers with plus", sandbox.Faults{NumberForm: "plus"}, sms.ClassAnswered, "000", 1},
		{"numbers with zero", sandbox.Faults{NumberForm: "zero"}, sms.ClassAnswered, "000", 1},
		{"0.0", sandbox.Faults{CodeForm: "point"}, sms.ClassAnswered, "000", 1},
		{"rows with codes", sandbox.Faults{RowForm: "coded"}, sms.ClassAnswered, "000", 1},
		{"rows without numbers", sandbox.Faults{RowForm: "unnumbered"}, sms.ClassAnswered, "000", 1},
		{"masked rows", sandbox.Faults{RowForm: "masked"}, sms.ClassAnswered, "000", 1},
		{"masked rows, numbers with zero", sandbox.Faults{RowForm: "masked", NumberForm: "zero"}, sms.ClassAnswered, "000", 1},
		{"a row without a list", sandbox.Faults{RowForm: "object"}, sms.ClassAnswered, "000", 1},
		{"names in lower case", sandbox.Faults{NameForm: "lower", RowForm: "coded"}, sms.ClassAnswered, "000", 1},
		{"inactive, 8.0", sandbox.Faults{Inactive: true, CodeForm: "point"}, sms.ClassListed, "008", 0},
	}
	for _, tt := range tests {
		both(t, tt.name, func(t *testing.T, byGet int) {
			if err := s.box.SetFaults(tt.faults); err != nil {
				t.Fatal(err)
			}
			before := len(s.box.Ledger())
			o := s.opened(t, bothKey, byGet).Send(ctx, call, licensed)
			if o.Class != tt.want || o.Code != tt.code || len(s.box.Ledger())-before != tt.executed {
				t.Fatalf("%+v, %d executed", o, len(s.box.Ledger())-before)
			}
			m := sms.Settle(call.Recipients, o, "NG").Messages[0].To
			if tt.want == sms.ClassAnswered && tt.faults.MissingRows == 0 && m != sms.Accepted {
				t.Fatalf("the message is %s: %+v", m, o)
			}
			if tt.executed == 1 && m != sms.Accepted && m != sms.InDoubt || tt.executed == 0 && m == sms.Accepted {
				t.Fatalf("the message is %s after %d executions", m, tt.executed)
			}
		})
	}
}

// both runs a test for accounts that send one text by POST and by GET.
func both(t *testing.T, name string, run func(t *testing.T, byGet int)) {
	t.Run(name, func(t *testing.T) { run(t, 0) })
	t.Run(name+", by GET", func(t *testing.T) { run(t, sms.DefaultURLBudget) })
}

func TestBothRefusals(t *testing.T) {
	s := newStand(t)
	ctx := context.Background()
	for key, code := range map[string]string{"wrong": "007", "": "001"} {
		c := s.open(t, key)
		_, err := c.Balance(ctx)
		var e *gateway.Error
		if !errors.As(err, &e) || e.Code != code {
			t.Errorf("key %q: %v", key, err)
		}
		if o := c.Send(ctx, text("2348031234567"), licensed); o.Class != sms.ClassListed || o.Code != code {
			t.Errorf("key %q: %+v", key, o)
		}
		if _, err := c.CreateGroup(ctx, "x"); !errors.As(err, &e) || e.Code != code {
			t.Errorf("key %q: %v", key, err)
		}
	}
	none := text("2348031234567")
	none.SenderID = ""
	if o := s.client.Send(ctx, none, licensed); o.Class != sms.ClassListed || o.Code != "003" ||
		o.Reason != "Choose a sender ID" {
		t.Errorf("no sender ID: %+v", o)
	}
	if len(s.box.Ledger()) != 0 {
		t.Error("something was executed")
	}
}

func TestBothRate(t *testing.T) {
	s := newStand(t, func(c *sandbox.Config) { c.PerMinute, c.RetryAfter = 2, 9*time.Second })
	ctx := context.Background()
	for range 2 {
		if _, err := s.client.Interactive().Balance(ctx); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.client.Interactive().Balance(ctx)
	if !errors.Is(err, gateway.ErrRate) {
		t.Fatalf("%v", err)
	}
	if w := s.client.Wait(gateway.Urgent); w < 8*time.Second || w > 11*time.Second {
		t.Fatalf("waits %v", w)
	}
	short, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if _, err := s.client.Balance(short); !errors.Is(err, gateway.ErrRate) {
		t.Fatalf("%v", err)
	}
	if o := s.open(t, bothKey).Send(ctx, text("2348031234567"), licensed); o.Class != sms.ClassRate ||
		o.RetryAfter != 9*time.Second {
		t.Fatalf("%+v", o)
	}
}

func TestBothRecords(t *testing.T) {
	s := newStand(t)
	ctx := context.Background()
	c := s.client
	balance, err := c.Balance(ctx)
	if err != nil || len(balance) == 0 {
		t.Fatalf("%+v, %v", balance, err)
	}
	if _, ok := balance[0].Amount(); !ok || balance[0].PluginType != "SMS" {
		t.Fatalf("%+v", balance)
	}
	if raw, err := c.BalanceIn(ctx, "xml"); err != nil || !strings.Contains(raw, "<Credits>") {
		t.Fatalf("%q, %v", raw, err)
	}
	templates, err := c.Templates(ctx)
	if err != nil || len(templates) == 0 || templates[0].ID == 0 || templates[0].Text == "" ||
		templates[0].CreatedDate == "" {
		t.Fatalf("%+v, %v", templates, err)
	}
	senders, err := c.SenderIDs(ctx)
	if err != nil || len(senders) < 2 {
		t.Fatalf("%+v, %v", senders, err)
	}
	said := func(want string) func(string, error) {
		return func(got string, err error) {
			t.Helper()
			if err != nil || got != want {
				t.Fatalf("%q, %v; want %q", got, err, want)
			}
		}
	}
	code := func(want string, err error) {
		t.Helper()
		var e *gateway.Error
		if !errors.As(err, &e) || e.Code != want {
			t.Fatalf("%v; want code %s", err, want)
		}
	}
	said("Template updated Successfully.")(c.UpdateTemplate(ctx, templates[0].ID, "New & <name>", "Dear ##Name##"))
	if after, err := c.Templates(ctx); err != nil || after[0].Name != "New & <name>" || after[0].Text != "Dear ##Name##" {
		t.Fatalf("%+v, %v", after, err)
	}
	said("Template deleted Successfully.")(c.DeleteTemplate(ctx, templates[0].ID))
	_, err = c.DeleteTemplate(ctx, templates[0].ID)
	code("028", err)
	said("SenderId updated Successfully.")(c.UpdateSenderID(ctx, senders[0].ID, senders[0].Text, "Visits"))
	said("SenderId deleted Successfully.")(c.DeleteSenderID(ctx, senders[0].ID))
	_, err = c.DeleteSenderID(ctx, senders[0].ID)
	code("028", err)
	said("New Group added successfully.")(c.CreateGroup(ctx, "Class 3"))
	_, err = c.CreateGroup(ctx, "Class 3")
	code("027", err)
	groups, err := c.Groups(ctx)
	if err != nil {
		t.Fatal(err)
	}
	made := groups[len(groups)-1]
	said("New Group added successfully.")(c.CreateSubGroup(ctx, made.ID, "Class 3a"))
	said("Group updated Successfully.")(c.UpdateGroup(ctx, made.ID, "Class 4"))
	if after, err := c.Groups(ctx); err != nil || len(after) != len(groups)+1 || after[len(groups)-1].Name != "Class 4" {
		t.Fatalf("%+v, %v", after, err)
	}
	said("Group deleted successfully.")(c.DeleteGroup(ctx, made.ID))
	_, err = c.DeleteGroup(ctx, made.ID)
	code("028", err)
}

// keeper keeps reports of one token.
type keeper struct {
	token string
	keep  func(rawQuery string)
}

func (k keeper) Account(h [32]byte) (int64, bool) { return 1, h == sha256.Sum256([]byte(k.token)) }

func (k keeper) Keep(_ context.Context, _, _ int64, _, rawQuery string) error {
	k.keep(rawQuery)
	return nil
}

func (keeper) Receives(context.Context) bool       { return true }
func (keeper) Refused()                            {}
func (keeper) TakesPosts([32]byte) bool            { return false }
func (keeper) Posted(int64)                        {}
func (keeper) Answered(int64, time.Duration, bool) {}

// TestBothReports: a text out, its reports back in through the callback.
func TestBothReports(t *testing.T) {
	const token = "0123456789abcdef"
	var mu sync.Mutex
	var reports []sms.DeliveryReport
	callback := httptest.NewServer(gateway.NewCallback(
		gateway.CallbackConfig{Reports: keeper{token, func(rawQuery string) {
			mu.Lock()
			defer mu.Unlock()
			reports = append(reports, gateway.ParseReport(rawQuery))
		}}}))
	defer callback.Close()
	s := newStand(t, func(c *sandbox.Config) { c.DLRURL = callback.URL + "/dlr/" + token })
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = s.box.Run(ctx) }()
	defer func() { cancel(); <-done }()
	call := s.sender(t, text("2348030000002"))
	o := s.client.Send(ctx, call, licensed)
	if o.Class != sms.ClassAnswered {
		t.Fatalf("%+v", o)
	}
	deadline := time.Now().Add(5 * time.Second)
	for time.Now().Before(deadline) && s.box.State().ReportsAnswered == 0 {
		time.Sleep(2 * time.Millisecond)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(reports) != 1 {
		t.Fatalf("%d reports", len(reports))
	}
	r := reports[0]
	if r.ProviderID != o.Rows[0].ProviderID || r.Mobile != "2348030000002" || r.Status != "UNDELIV" ||
		r.ShortMessage != call.Text ||
		r.SubmitDate == "" || r.DoneDate == "" || r.ErrorCode == "" {
		t.Fatalf("%+v", r)
	}
}
