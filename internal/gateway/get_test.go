package gateway_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

// TestGetIsSeenOnTheWire: an account that sends one text by GET uses §4.3 with
// every parameter, splits what its URL does not hold, and sends by POST what
// no URL holds.
func TestGetIsSeenOnTheWire(t *testing.T) {
	s := newStand(t)
	client := s.opened(t, bothKey, sms.DefaultURLBudget)
	numbers := make([]string, 150)
	for i := range numbers {
		numbers[i] = fmt.Sprint(2348031230000 + i)
	}
	call := s.sender(t, text(numbers...))
	waiting := slices.Clone(call.Recipients)
	for i := range waiting {
		waiting[i].Text = call.Text
	}
	limit := client.TextLimit(call, 100)
	for len(waiting) > 0 {
		kind, taken := client.Fill(call, waiting, 100, sms.DefaultURLBudget)
		if kind != sms.CallText || len(taken) < min(limit, len(waiting)) || len(taken) == 0 {
			t.Fatalf("%s of %d, the limit is %d", kind, len(taken), limit)
		}
		part := call
		part.Recipients = taken
		o := client.Send(t.Context(), part, licensed)
		if settled := sms.Settle(taken, o, "NG"); settled.State != sms.AttemptAccepted {
			t.Fatalf("%+v", o)
		}
		waiting = waiting[len(taken):]
	}
	groups, err := client.Groups(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	group := s.sender(t, sms.Call{Kind: sms.CallGroup, Text: "Hello", GroupID: fmt.Sprint(groups[0].ID), Flash: true})
	long := s.sender(t, text("2348031239999"))
	long.Text = strings.Repeat("ẹ ", 500)
	for _, call := range []sms.Call{group, long} {
		if o := client.Send(t.Context(), call, licensed); o.Class != sms.ClassAnswered {
			t.Fatalf("%+v", o)
		}
	}
	var sent []string
	for _, c := range s.box.Calls() {
		if c.Path != "/v2/SendSMS" {
			continue
		}
		sent = append(sent, c.Method)
		if c.Method == http.MethodGet && len(s.url)+len("/SendSMS?")+len(c.Query) > sms.DefaultURLBudget {
			t.Errorf("a URL of %d bytes", len(c.Query))
		}
	}
	if !slices.Equal(sent, []string{"GET", "GET", "GET", "POST"}) {
		t.Errorf("sent by %v", sent)
	}
	calls := s.box.Calls()
	first := calls[slices.IndexFunc(calls, func(c sandbox.CallRecord) bool { return c.Path == "/v2/SendSMS" })].Query
	for _, name := range []string{"ApiKey=", "ClientId=", "SenderId=", "Message=", "MobileNumber=", "Is_Unicode=true",
		"Is_Flash=false"} {
		if !strings.Contains(first, name) {
			t.Errorf("%s is missing in %s", name, first)
		}
	}
	if n := int64(len(s.box.Ledger())); n != 151+groups[0].ContactCount {
		t.Errorf("%d texts executed", n)
	}
}

// TestGetNeedsTheSameLicence: without one nothing leaves, and it is asked for
// once.
func TestGetNeedsTheSameLicence(t *testing.T) {
	s := newStand(t)
	client, call := s.opened(t, bothKey, sms.DefaultURLBudget), s.sender(t, text("2348031234567"))
	before, asked := len(s.box.Calls()), 0
	for _, send := range []func() sms.Outcome{
		func() sms.Outcome {
			return client.Send(t.Context(), call, func() error { asked++; return errors.New("no") })
		},
		func() sms.Outcome {
			return client.SendUrgent(t.Context(), call, func() error { asked++; return errors.New("no") })
		},
	} {
		if o := send(); o.Class != sms.ClassNothingLeft || o.Written != 0 {
			t.Errorf("%+v", o)
		}
	}
	if asked != 2 || len(s.box.Calls()) != before {
		t.Errorf("the licence was asked for %d times, %d calls left", asked, len(s.box.Calls())-before)
	}
}

// TestTextLimit: a POST has no URL to fill.
func TestTextLimit(t *testing.T) {
	s := newStand(t)
	call := text()
	for byGet, want := range map[int]int{0: 100, 500: 15, sms.DefaultURLBudget: 98, sms.MaxURLBudget: 100} {
		if got := s.opened(t, bothKey, byGet).TextLimit(call, 100); got != want {
			t.Errorf("%d bytes: %d recipients, want %d", byGet, got, want)
		}
	}
	call.Text = strings.Repeat("ẹ ", 500)
	if got := s.opened(t, bothKey, sms.DefaultURLBudget).TextLimit(call, 100); got != 100 {
		t.Errorf("a text for POST: %d recipients", got)
	}
	kind, taken := s.opened(t, bothKey, sms.DefaultURLBudget).Fill(call, []sms.Recipient{{Number: "1", Text: call.Text},
		{Number: "2", Text: call.Text}}, 100, sms.DefaultURLBudget)
	if kind != sms.CallText || len(taken) != 2 {
		t.Errorf("a text for POST: %s of %v", kind, taken)
	}
}
