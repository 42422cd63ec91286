package workers_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/gateway"
	"smsdesk/internal/rig"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

func TestEveryMessageIsExecutedOnceInCallsOfTheLimit(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	c := r.Start(r.Draft("CLINIC", "Hello", rig.Ordinary(57)...))
	r.Dispatch()
	_, tally := r.Until(c.ID, "the end", rig.Finished)
	if tally["network"] != 57 {
		t.Errorf("tally %v, want 57 awaiting report", tally)
	}
	calls := map[int64]int{}
	for _, e := range r.Sandbox.Ledger() {
		calls[e.Call]++
	}
	small := 0
	for _, n := range calls {
		if n > 10 {
			t.Errorf("a call held %d recipients, the limit is 10", n)
		}
		if n <= sms.CanarySize {
			small++
		}
	}
	if len(r.Ledger()) != 57 || len(calls) != 7 || small < 1 {
		t.Errorf("%d numbers in %d calls %v; want 57 in 7, the first of at most %d", len(r.Ledger()), len(calls), calls,
			sms.CanarySize)
	}
}

// TestListedCodesPause: the answers of §7 that mean "nothing was executed"
// leave every row queued, pause once, and say their sentence.
func TestListedCodesPause(t *testing.T) {
	for _, form := range []string{"number", "text7", "text007", "bare007"} {
		for _, c := range []struct {
			name, code, sentence string
			faults               sandbox.Faults
			account              bool
			spoil                func(*kit)
		}{
			{name: "wrong key", code: "007", account: true, sentence: "The provider says the API key or client ID is wrong. Copy both again from the provider dashboard",
				spoil: func(r *kit) {
					if _, err := r.Desk.SaveAccount(r.Ctx, r.By, r.Account.ID, func(_ *sms.Account, c *sms.Credentials) {
						c.APIKey = "another key"
					}); err != nil {
						t.Fatal(err)
					}
				}},
			{name: "inactive", code: "008", account: true, faults: sandbox.Faults{Inactive: true},
				sentence: "The provider says the account is not active. Contact the provider"},
			{name: "unauthorized", code: "010", account: true, faults: sandbox.Faults{Unauthorized: true},
				sentence: "API access is turned off for this account. Ask the provider to turn it on"},
		} {
			t.Run(c.name+" as "+form, func(t *testing.T) {
				c.faults.CodeForm = sandbox.Faults{}.CodeForm
				r := newKit(t, sandbox.Config{}, nil)
				f, err := sandbox.ParseFaults("codeForm=" + form)
				if err != nil {
					t.Fatal(err)
				}
				f.Inactive, f.Unauthorized = c.faults.Inactive, c.faults.Unauthorized
				if err := r.Sandbox.SetFaults(f); err != nil {
					t.Fatal(err)
				}
				if c.spoil != nil {
					c.spoil(r)
				}
				campaign := r.Start(r.Draft("CLINIC", "Hello", rig.Ordinary(12)...))
				r.Dispatch()
				var a sms.Account
				r.Until(campaign.ID, "the pause", func(sms.Campaign, sms.Tally) bool {
					a, err = r.DB.Account(r.Ctx, r.Account.ID)
					return err == nil && a.Pause != ""
				})
				if a.Pause != c.sentence || a.PauseCode != c.code {
					t.Errorf("paused with %q (%s), want %q (%s)", a.Pause, a.PauseCode, c.sentence, c.code)
				}
				if _, tally := r.Until(campaign.ID, "all queued", func(_ sms.Campaign, tally sms.Tally) bool {
					return tally["queued"] == 12
				}); tally.Total() != 12 {
					t.Errorf("tally %v", tally)
				}
				if len(r.Ledger()) != 0 {
					t.Error("something was executed")
				}
			})
		}
	}
}

func TestAPausedAccountGoesOnAfterItsSettingsAreCured(t *testing.T) {
	r := newKit(t, sandbox.Config{Faults: sandbox.Faults{Inactive: true}}, nil)
	c := r.Start(r.Draft("CLINIC", "Hello", rig.Ordinary(7)...))
	r.Dispatch()
	r.Until(c.ID, "the pause", func(sms.Campaign, sms.Tally) bool {
		a, err := r.DB.Account(r.Ctx, r.Account.ID)
		return err == nil && a.Pause != ""
	})
	// A price and sending hours cure nothing at the provider.
	_, err := r.Desk.SaveSending(r.Ctx, r.By, r.Account.ID, func(s *desk.Sending) { s.Abroad = true })
	if err = errors.Join(err, r.Desk.SavePrice(r.Ctx, r.By, r.Account.ID, 405, "₦")); err != nil {
		t.Fatal(err)
	}
	if a, err := r.DB.Account(r.Ctx, r.Account.ID); err != nil || a.Pause == "" {
		t.Errorf("other settings ended the pause: %v", err)
	}
	if err := r.Sandbox.SetFaults(sandbox.Faults{}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Desk.TestAccount(r.Ctx, r.By, r.Account.ID); err != nil {
		t.Fatal(err)
	}
	_, tally := r.Until(c.ID, "the end", rig.Finished)
	if tally["network"] != 7 || len(r.Ledger()) != 7 {
		t.Errorf("tally %v, executed %d; want 7", tally, len(r.Ledger()))
	}
}

func TestLostAnswersStayInDoubtAndTripTheBreaker(t *testing.T) {
	for name, f := range map[string]sandbox.Faults{"cut after": {CutAfter: 1}, "cut before": {CutBefore: 1},
		"error after": {ErrorAfter: 1}, "HTML with 200": {HTMLAfter: 1}, "HTML before": {HTMLBefore: 1}} {
		t.Run(name, func(t *testing.T) {
			r := newKit(t, sandbox.Config{Faults: f}, nil)
			c := r.Start(r.Draft("CLINIC", "Hello", rig.Ordinary(60)...))
			r.Dispatch()
			got, tally := r.Until(c.ID, "the breaker", rig.Paused)
			if tally["doubt"] != 3*sms.CanarySize || tally["queued"] != 60-3*sms.CanarySize {
				t.Errorf("tally %v: three canaries in doubt and the rest queued were expected", tally)
			}
			if !strings.Contains(got.Pause, "We lost several requests in a row") {
				t.Errorf("paused with %q", got.Pause)
			}
			if err := r.Sandbox.SetFaults(sandbox.Faults{}); err != nil {
				t.Fatal(err)
			}
			if _, err := r.Desk.ContinueCampaign(r.Ctx, r.By, c.ID, desk.ContinueOrder{}); err != nil {
				t.Fatal(err)
			}
			_, tally = r.Until(c.ID, "the end", rig.Finished)
			if tally["doubt"] != 15 || tally["network"] != 45 {
				t.Errorf("tally %v", tally)
			}
			for n, times := range r.Ledger() {
				if times != 1 {
					t.Errorf("%s executed %d times", n, times)
				}
			}
		})
	}
}

func TestATooFastAnswerIsTriedAgainAndLosesNothing(t *testing.T) {
	r := newKit(t, sandbox.Config{RetryAfter: time.Second}, nil)
	c := r.Start(r.Draft("CLINIC", "Hello", "08030000011", "08030000001"))
	r.Dispatch()
	_, tally := r.Until(c.ID, "the end", rig.Finished)
	if tally["network"] != 2 || r.Ledger()["2348030000011"] != 1 {
		t.Errorf("tally %v, ledger %v", tally, r.Ledger())
	}
}

func TestAnAccountSetToHoldOn429LeavesItToAPerson(t *testing.T) {
	r := newKit(t, sandbox.Config{}, func(a *sms.Account) { a.HoldOn429 = true })
	c := r.Start(r.Draft("CLINIC", "Hello", "08030000011"))
	r.Dispatch()
	_, tally := r.Until(c.ID, "the end", rig.Finished)
	if tally["held"] != 1 || len(r.Ledger()) != 0 {
		t.Errorf("tally %v, ledger %v", tally, r.Ledger())
	}
}

func TestRowsRefusedOneByOneKeepTheProvidersReason(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	c := r.Start(r.Draft("CLINIC", "Hello", "08030000010", "08030000001"))
	r.Dispatch()
	_, tally := r.Until(c.ID, "the end", rig.Finished)
	if tally["refused"] != 1 || tally["network"] != 1 {
		t.Fatalf("tally %v", tally)
	}
	list, _, err := r.DB.Messages(r.Ctx, sms.MessageFilter{CampaignID: c.ID, Keys: []string{"refused"}, Limit: 5})
	if err != nil || len(list) != 1 || list[0].Reason == "" || list[0].Code != "401" {
		t.Errorf("%+v %v: the provider's own words are missing", list, err)
	}
}

func TestASenderIDRefusedForEveryRowPausesTheCampaign(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	c := r.Start(r.Draft("PENDING1", "Hello", rig.Ordinary(40)...))
	r.Dispatch()
	got, tally := r.Until(c.ID, "the pause", rig.Paused)
	if tally["refused"] != 15 || tally["queued"] != 25 || !strings.Contains(got.Pause, "refused every message") {
		t.Errorf("tally %v, pause %q", tally, got.Pause)
	}
}

func TestAnUnreachableProviderLosesNothingAndSaysSo(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	r := newKit(t, sandbox.Config{}, func(a *sms.Account) { a.BaseURL = "http://" + addr + "/v2" })
	c := r.Start(r.Draft("CLINIC", "Hello", rig.Ordinary(3)...))
	r.Dispatch()
	var a sms.Account
	r.Until(c.ID, "the failure", func(_ sms.Campaign, tally sms.Tally) bool {
		a, err = r.DB.Account(r.Ctx, r.Account.ID)
		return err == nil && a.Failure != "" && tally["queued"] == 3
	})
	if !strings.Contains(a.Failure, "Nothing was sent") || strings.Contains(a.Failure, rig.Key) {
		t.Errorf("failure %q", a.Failure)
	}
	if _, err := r.Desk.SaveAccount(r.Ctx, r.By, r.Account.ID, func(a *sms.Account, _ *sms.Credentials) {
		a.BaseURL = r.Service.URL + "/v2"
	}); err != nil {
		t.Fatal(err)
	}
	r.Until(c.ID, "the end", rig.Finished)
	if len(r.Ledger()) != 3 {
		t.Errorf("ledger %v", r.Ledger())
	}
}

func TestStopKeepsBackWhatHasNotLeftAndContinueSendsIt(t *testing.T) {
	r := newKit(t, sandbox.Config{Faults: sandbox.Faults{Latency: 100 * time.Millisecond}}, nil)
	c := r.Start(r.Draft("CLINIC", "Hello", rig.Ordinary(400)...))
	r.Dispatch()
	r.Until(c.ID, "the first answers", func(_ sms.Campaign, tally sms.Tally) bool { return tally["network"] > 20 })
	began := time.Now()
	if _, err := r.Desk.StopCampaign(r.Ctx, r.By, c.ID); err != nil {
		t.Fatal(err)
	}
	_, tally := r.Until(c.ID, "calls in flight", func(_ sms.Campaign, tally sms.Tally) bool {
		return tally["sending"] == 0
	})
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("stopping took %s", took)
	}
	if tally["queued"] == 0 || tally["network"]+tally["queued"] != 400 {
		t.Fatalf("tally %v", tally)
	}
	executed := len(r.Ledger())
	time.Sleep(300 * time.Millisecond)
	if now := len(r.Ledger()); now != executed || int64(now) != tally["network"] {
		t.Errorf("%d executed at the stop, %d later, %d known", executed, now, tally["network"])
	}
	if _, err := r.Desk.ContinueCampaign(r.Ctx, r.By, c.ID, desk.ContinueOrder{}); err != nil {
		t.Fatal(err)
	}
	if _, tally = r.Until(c.ID, "the end", rig.Finished); tally["network"] != 400 || len(r.Ledger()) != 400 {
		t.Errorf("tally %v, executed %d", tally, len(r.Ledger()))
	}
}

func TestAGracefulStopLeavesNothingInDoubt(t *testing.T) {
	r := newKit(t, sandbox.Config{Faults: sandbox.Faults{Latency: 150 * time.Millisecond}}, nil)
	c := r.Start(r.Draft("CLINIC", "Hello", rig.Ordinary(300)...))
	for range 4 {
		stop := r.Dispatch()
		time.Sleep(250 * time.Millisecond)
		stop()
		tally, err := r.DB.Tally(r.Ctx, c.ID)
		if err != nil || tally["doubt"] != 0 || tally["sending"] != 0 || tally["network"]+tally["queued"] != 300 {
			t.Fatalf("after a stop: %v %v", tally, err)
		}
	}
}

func TestAGroupIsOneCallWhoseAnswerBecomesMessages(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	c, err := r.Desk.CreateCampaign(r.Ctx, r.By, desk.Order{AccountID: r.Account.ID, SenderID: "CLINIC", Text: "Hello",
		GroupID: "107", GroupName: "Parents", Token: desk.NewToken()})
	if err != nil {
		t.Fatal(err)
	}
	r.Start(c)
	r.Dispatch()
	got, tally := r.Until(c.ID, "the end", rig.Finished)
	if tally["network"] != 12 || tally.Total() != 12 || got.Recipients != 12 || got.Parts != 12 {
		t.Errorf("tally %v, recipients %d, parts %d; the group Parents has 12 contacts", tally, got.Recipients, got.Parts)
	}
	list, _, err := r.DB.Messages(r.Ctx, sms.MessageFilter{CampaignID: c.ID, Limit: 50})
	if err != nil || len(list) != 12 || list[0].Number == "" || list[0].ProviderID == "" {
		t.Errorf("%d messages, %v", len(list), err)
	}
}

func TestAGroupWhoseAnswerIsLostIsInDoubtAsAWhole(t *testing.T) {
	r := newKit(t, sandbox.Config{Faults: sandbox.Faults{CutAfter: 1}}, nil)
	if err := r.DB.PutGroups(r.Ctx, r.Account.ID, []sms.Group{{ID: 107, Name: "Parents", ContactCount: 12}},
		1); err != nil {
		t.Fatal(err)
	}
	c, err := r.Desk.CreateCampaign(r.Ctx, r.By, desk.Order{AccountID: r.Account.ID, SenderID: "CLINIC", Text: "Hello",
		GroupID: "107", GroupName: "Parents", Token: desk.NewToken()})
	if err != nil {
		t.Fatal(err)
	}
	r.Start(c)
	r.Dispatch()
	_, tally := r.Until(c.ID, "the end", rig.Finished)
	time.Sleep(100 * time.Millisecond)
	if tally["doubt"] != 1 || tally.Total() != 1 || len(r.Sandbox.Ledger()) != 12 {
		t.Errorf("tally %v, executed %d: one doubt for the whole group, executed once", tally, len(r.Sandbox.Ledger()))
	}
}

func TestTwoDispatchersOneOfThemFromThePastNeverSendTwice(t *testing.T) {
	r := newKit(t, sandbox.Config{Faults: sandbox.Faults{Latency: 20 * time.Millisecond}}, nil)
	c := r.Start(r.Draft("CLINIC", "Hello", rig.Ordinary(200)...))
	r.DispatchFrom(true)
	time.Sleep(100 * time.Millisecond)
	r.Dispatch()
	r.Until(c.ID, "the end", func(c sms.Campaign, tally sms.Tally) bool {
		if c.State == sms.CampaignPaused {
			_, _ = r.Desk.ContinueCampaign(context.Background(), r.By, c.ID, desk.ContinueOrder{})
		}
		return c.State == sms.CampaignFinished
	})
	for n, times := range r.Ledger() {
		if times > 1 {
			t.Errorf("%s was executed %d times", n, times)
		}
	}
}

func TestA429OfAnAccountThatExecutesThemIsDoubt(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	c := r.Start(r.Draft("CLINIC", "Hello", "08030000011"))
	stop := r.Dispatch()
	// The row is back in the queue for a moment only where the Dispatcher asked
	// for the rate before the answer came and claimed after it was stored: it
	// then waits out the minute under its second claim. Stopping gives that up.
	r.Until(c.ID, "the first 429", func(sms.Campaign, sms.Tally) bool { return r.Throttled(c.ID) })
	stop()
	if tally, err := r.DB.Tally(r.Ctx, c.ID); err != nil || tally["queued"] != 1 || len(r.Ledger()) != 0 {
		t.Fatalf("after the 429: %v, executed %v, %v", tally, r.Ledger(), err)
	}
	// The service executed it all the same: its report arrives under an id
	// that nobody was given.
	report := sms.DeliveryReport{ID: 1, AccountID: r.Account.ID, ReceivedAt: time.Now().UnixMilli() - 200_000,
		ProviderID: "surprise", Mobile: "2348030000011", Status: "DELIVRD", ShortMessage: "Hello"}
	if _, err := r.DB.ApplyReports(r.Ctx, []sms.DeliveryReport{report}, map[int64]string{r.Account.ID: "NG"},
		sms.Cursors{Inbox: 1}, 1); err != nil {
		t.Fatal(err)
	}
	if proven, err := r.DB.DoubtRateAnswers(r.Ctx, r.Account.ID, "NG", time.Now().UnixMilli()-120_000); err != nil ||
		!proven {
		t.Fatalf("proven %v, %v", proven, err)
	}
	second := r.Start(r.Draft("CLINIC", "Once more", "08050000011"))
	// The minute that the service asked for is over.
	if err := r.DB.PutThrottle(r.Ctx, r.Account.ID, sms.Throttle{}); err != nil {
		t.Fatal(err)
	}
	r.Accounts = gateway.NewAccounts(rig.Open, r.DB, slog.New(slog.DiscardHandler))
	r.Dispatch()
	_, tally := r.Until(second.ID, "the doubt", rig.Finished)
	if tally["doubt"] != 1 {
		t.Errorf("tally %v", tally)
	}
}

// TestAnAccountThatSendsByGet: every request of one text is a GET within the
// account's length of URL, planned as it is sent, each message once; a doubt
// stays a doubt.
func TestAnAccountThatSendsByGet(t *testing.T) {
	r := newKit(t, sandbox.Config{}, func(a *sms.Account) { a.SendByGet, a.URLBudget, a.CallLimit = true, 500, 100 })
	numbers := append(rig.Ordinary(57), "2348030000008")
	c := r.Start(r.Draft("CLINIC", "Hello", numbers...))
	r.Dispatch()
	_, tally := r.Until(c.ID, "the end", rig.Finished)
	if tally["network"] < 50 || tally["doubt"] == 0 || len(r.Ledger()) != len(numbers) {
		t.Errorf("tally %v of %d executed", tally, len(r.Ledger()))
	}
	for number, times := range r.Ledger() {
		if times != 1 {
			t.Errorf("%s was sent %d times", number, times)
		}
	}
	sends := int64(0)
	for _, call := range r.Calls() {
		if call.Path != "/v2/SendSMS" {
			continue
		}
		sends++
		if call.Method != "GET" || len(r.Account.BaseURL)+len("/SendSMS?")+len(call.Query) > 500 {
			t.Errorf("%s with %d bytes of query", call.Method, len(call.Query))
		}
	}
	// The canary is a call more.
	if sends != c.CallsText && sends != c.CallsText+1 {
		t.Errorf("%d requests, %d were planned", sends, c.CallsText)
	}
}
