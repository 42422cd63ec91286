package desk_test

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/gateway"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

func TestEveryMessageIsExecutedOnceInCallsOfTheLimit(t *testing.T) {
	r := newRig(t, sandbox.Config{}, nil)
	c := r.start(r.draft("CLINIC", "Hello", ordinary(57)...))
	r.dispatch()
	_, tally := r.until(c.ID, "the end", finished)
	if tally["network"] != 57 {
		t.Errorf("tally %v, want 57 awaiting report", tally)
	}
	calls := map[int64]int{}
	for _, e := range r.sandbox.Ledger() {
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
	if len(r.ledger()) != 57 || len(calls) != 7 || small < 1 {
		t.Errorf("%d numbers in %d calls %v; want 57 in 7, the first of at most %d", len(r.ledger()), len(calls), calls,
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
			spoil                func(*rig)
		}{
			{name: "wrong key", code: "007", account: true, sentence: "The provider says the API key or client ID is wrong. Copy both again from the provider dashboard",
				spoil: func(r *rig) {
					if _, err := r.desk.SaveAccount(r.ctx, r.by, r.account.ID, func(_ *sms.Account, c *sms.Credentials) {
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
				r := newRig(t, sandbox.Config{}, nil)
				f, err := sandbox.ParseFaults("codeForm=" + form)
				if err != nil {
					t.Fatal(err)
				}
				f.Inactive, f.Unauthorized = c.faults.Inactive, c.faults.Unauthorized
				if err := r.sandbox.SetFaults(f); err != nil {
					t.Fatal(err)
				}
				if c.spoil != nil {
					c.spoil(r)
				}
				campaign := r.start(r.draft("CLINIC", "Hello", ordinary(12)...))
				r.dispatch()
				var a sms.Account
				r.until(campaign.ID, "the pause", func(sms.Campaign, sms.Tally) bool {
					a, err = r.db.Account(r.ctx, r.account.ID)
					return err == nil && a.Pause != ""
				})
				if a.Pause != c.sentence || a.PauseCode != c.code {
					t.Errorf("paused with %q (%s), want %q (%s)", a.Pause, a.PauseCode, c.sentence, c.code)
				}
				if _, tally := r.until(campaign.ID, "all queued", func(_ sms.Campaign, tally sms.Tally) bool {
					return tally["queued"] == 12
				}); tally.Total() != 12 {
					t.Errorf("tally %v", tally)
				}
				if len(r.ledger()) != 0 {
					t.Error("something was executed")
				}
			})
		}
	}
}

func TestAPausedAccountGoesOnAfterItsSettingsAreCured(t *testing.T) {
	r := newRig(t, sandbox.Config{Faults: sandbox.Faults{Inactive: true}}, nil)
	c := r.start(r.draft("CLINIC", "Hello", ordinary(7)...))
	r.dispatch()
	r.until(c.ID, "the pause", func(sms.Campaign, sms.Tally) bool {
		a, err := r.db.Account(r.ctx, r.account.ID)
		return err == nil && a.Pause != ""
	})
	if err := r.sandbox.SetFaults(sandbox.Faults{}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.desk.TestAccount(r.ctx, r.by, r.account.ID); err != nil {
		t.Fatal(err)
	}
	_, tally := r.until(c.ID, "the end", finished)
	if tally["network"] != 7 || len(r.ledger()) != 7 {
		t.Errorf("tally %v, executed %d; want 7", tally, len(r.ledger()))
	}
}

func TestLostAnswersStayInDoubtAndTripTheBreaker(t *testing.T) {
	for name, f := range map[string]sandbox.Faults{"cut after": {CutAfter: 1}, "cut before": {CutBefore: 1},
		"error after": {ErrorAfter: 1}, "HTML with 200": {HTMLAfter: 1}, "HTML before": {HTMLBefore: 1}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, sandbox.Config{Faults: f}, nil)
			c := r.start(r.draft("CLINIC", "Hello", ordinary(60)...))
			r.dispatch()
			got, tally := r.until(c.ID, "the breaker", paused)
			if tally["doubt"] != 3*sms.CanarySize || tally["queued"] != 60-3*sms.CanarySize {
				t.Errorf("tally %v: three canaries in doubt and the rest queued were expected", tally)
			}
			if !strings.Contains(got.Pause, "We lost several requests in a row") {
				t.Errorf("paused with %q", got.Pause)
			}
			if err := r.sandbox.SetFaults(sandbox.Faults{}); err != nil {
				t.Fatal(err)
			}
			if _, err := r.desk.ContinueCampaign(r.ctx, r.by, c.ID, desk.ContinueOrder{}); err != nil {
				t.Fatal(err)
			}
			_, tally = r.until(c.ID, "the end", finished)
			if tally["doubt"] != 15 || tally["network"] != 45 {
				t.Errorf("tally %v", tally)
			}
			for n, times := range r.ledger() {
				if times != 1 {
					t.Errorf("%s executed %d times", n, times)
				}
			}
		})
	}
}

func TestATooFastAnswerIsTriedAgainAndLosesNothing(t *testing.T) {
	r := newRig(t, sandbox.Config{RetryAfter: time.Second}, nil)
	c := r.start(r.draft("CLINIC", "Hello", "08030000011", "08030000001"))
	r.dispatch()
	_, tally := r.until(c.ID, "the end", finished)
	if tally["network"] != 2 || r.ledger()["2348030000011"] != 1 {
		t.Errorf("tally %v, ledger %v", tally, r.ledger())
	}
}

func TestAnAccountSetToHoldOn429LeavesItToAPerson(t *testing.T) {
	r := newRig(t, sandbox.Config{}, func(a *sms.Account) { a.HoldOn429 = true })
	c := r.start(r.draft("CLINIC", "Hello", "08030000011"))
	r.dispatch()
	_, tally := r.until(c.ID, "the end", finished)
	if tally["held"] != 1 || len(r.ledger()) != 0 {
		t.Errorf("tally %v, ledger %v", tally, r.ledger())
	}
}

func TestRowsRefusedOneByOneKeepTheProvidersReason(t *testing.T) {
	r := newRig(t, sandbox.Config{}, nil)
	c := r.start(r.draft("CLINIC", "Hello", "08030000010", "08030000001"))
	r.dispatch()
	_, tally := r.until(c.ID, "the end", finished)
	if tally["refused"] != 1 || tally["network"] != 1 {
		t.Fatalf("tally %v", tally)
	}
	list, _, err := r.db.Messages(r.ctx, sms.MessageFilter{CampaignID: c.ID, Keys: []string{"refused"}, Limit: 5})
	if err != nil || len(list) != 1 || list[0].Reason == "" || list[0].Code != "401" {
		t.Errorf("%+v %v: the provider's own words are missing", list, err)
	}
}

func TestASenderIDRefusedForEveryRowPausesTheCampaign(t *testing.T) {
	r := newRig(t, sandbox.Config{}, nil)
	c := r.start(r.draft("PENDING1", "Hello", ordinary(40)...))
	r.dispatch()
	got, tally := r.until(c.ID, "the pause", paused)
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
	r := newRig(t, sandbox.Config{}, func(a *sms.Account) { a.BaseURL = "http://" + addr + "/v2" })
	c := r.start(r.draft("CLINIC", "Hello", ordinary(3)...))
	r.dispatch()
	var a sms.Account
	r.until(c.ID, "the failure", func(_ sms.Campaign, tally sms.Tally) bool {
		a, err = r.db.Account(r.ctx, r.account.ID)
		return err == nil && a.Failure != "" && tally["queued"] == 3
	})
	if !strings.Contains(a.Failure, "Nothing was sent") || strings.Contains(a.Failure, rigKey) {
		t.Errorf("failure %q", a.Failure)
	}
	if _, err := r.desk.SaveAccount(r.ctx, r.by, r.account.ID, func(a *sms.Account, _ *sms.Credentials) {
		a.BaseURL = r.service.URL + "/v2"
	}); err != nil {
		t.Fatal(err)
	}
	r.until(c.ID, "the end", finished)
	if len(r.ledger()) != 3 {
		t.Errorf("ledger %v", r.ledger())
	}
}

func TestStopKeepsBackWhatHasNotLeftAndContinueSendsIt(t *testing.T) {
	r := newRig(t, sandbox.Config{Faults: sandbox.Faults{Latency: 100 * time.Millisecond}}, nil)
	c := r.start(r.draft("CLINIC", "Hello", ordinary(400)...))
	r.dispatch()
	r.until(c.ID, "the first answers", func(_ sms.Campaign, tally sms.Tally) bool { return tally["network"] > 20 })
	began := time.Now()
	if _, err := r.desk.StopCampaign(r.ctx, r.by, c.ID); err != nil {
		t.Fatal(err)
	}
	_, tally := r.until(c.ID, "calls in flight", func(_ sms.Campaign, tally sms.Tally) bool {
		return tally["sending"] == 0
	})
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("stopping took %s", took)
	}
	if tally["queued"] == 0 || tally["network"]+tally["queued"] != 400 {
		t.Fatalf("tally %v", tally)
	}
	executed := len(r.ledger())
	time.Sleep(300 * time.Millisecond)
	if now := len(r.ledger()); now != executed || int64(now) != tally["network"] {
		t.Errorf("%d executed at the stop, %d later, %d known", executed, now, tally["network"])
	}
	if _, err := r.desk.ContinueCampaign(r.ctx, r.by, c.ID, desk.ContinueOrder{}); err != nil {
		t.Fatal(err)
	}
	if _, tally = r.until(c.ID, "the end", finished); tally["network"] != 400 || len(r.ledger()) != 400 {
		t.Errorf("tally %v, executed %d", tally, len(r.ledger()))
	}
}

func TestAGracefulStopLeavesNothingInDoubt(t *testing.T) {
	r := newRig(t, sandbox.Config{Faults: sandbox.Faults{Latency: 150 * time.Millisecond}}, nil)
	c := r.start(r.draft("CLINIC", "Hello", ordinary(300)...))
	for range 4 {
		stop := r.dispatch()
		time.Sleep(250 * time.Millisecond)
		stop()
		tally, err := r.db.Tally(r.ctx, c.ID)
		if err != nil || tally["doubt"] != 0 || tally["sending"] != 0 || tally["network"]+tally["queued"] != 300 {
			t.Fatalf("after a stop: %v %v", tally, err)
		}
	}
}

func TestAGroupIsOneCallWhoseAnswerBecomesMessages(t *testing.T) {
	r := newRig(t, sandbox.Config{}, nil)
	c, err := r.desk.CreateCampaign(r.ctx, r.by, desk.Order{AccountID: r.account.ID, SenderID: "CLINIC", Text: "Hello",
		GroupID: "107", GroupName: "Parents", Token: desk.NewToken()})
	if err != nil {
		t.Fatal(err)
	}
	r.start(c)
	r.dispatch()
	got, tally := r.until(c.ID, "the end", finished)
	if tally["network"] != 12 || tally.Total() != 12 || got.Recipients != 12 || got.Parts != 12 {
		t.Errorf("tally %v, recipients %d, parts %d; the group Parents has 12 contacts", tally, got.Recipients, got.Parts)
	}
	list, _, err := r.db.Messages(r.ctx, sms.MessageFilter{CampaignID: c.ID, Limit: 50})
	if err != nil || len(list) != 12 || list[0].Number == "" || list[0].ProviderID == "" {
		t.Errorf("%d messages, %v", len(list), err)
	}
}

func TestAGroupWhoseAnswerIsLostIsInDoubtAsAWhole(t *testing.T) {
	r := newRig(t, sandbox.Config{Faults: sandbox.Faults{CutAfter: 1}}, nil)
	if err := r.db.PutGroups(r.ctx, r.account.ID, []sms.Group{{ID: 107, Name: "Parents", ContactCount: 12}},
		1); err != nil {
		t.Fatal(err)
	}
	c, err := r.desk.CreateCampaign(r.ctx, r.by, desk.Order{AccountID: r.account.ID, SenderID: "CLINIC", Text: "Hello",
		GroupID: "107", GroupName: "Parents", Token: desk.NewToken()})
	if err != nil {
		t.Fatal(err)
	}
	r.start(c)
	r.dispatch()
	_, tally := r.until(c.ID, "the end", finished)
	time.Sleep(100 * time.Millisecond)
	if tally["doubt"] != 1 || tally.Total() != 1 || len(r.sandbox.Ledger()) != 12 {
		t.Errorf("tally %v, executed %d: one doubt for the whole group, executed once", tally, len(r.sandbox.Ledger()))
	}
}

func TestTwoDispatchersOneOfThemFromThePastNeverSendTwice(t *testing.T) {
	r := newRig(t, sandbox.Config{Faults: sandbox.Faults{Latency: 20 * time.Millisecond}}, nil)
	c := r.start(r.draft("CLINIC", "Hello", ordinary(200)...))
	r.dispatchFrom(true)
	time.Sleep(100 * time.Millisecond)
	r.dispatch()
	r.until(c.ID, "the end", func(c sms.Campaign, tally sms.Tally) bool {
		if c.State == sms.CampaignPaused {
			_, _ = r.desk.ContinueCampaign(context.Background(), r.by, c.ID, desk.ContinueOrder{})
		}
		return c.State == sms.CampaignFinished
	})
	for n, times := range r.ledger() {
		if times > 1 {
			t.Errorf("%s was executed %d times", n, times)
		}
	}
}

func TestA429OfAnAccountThatExecutesThemIsDoubt(t *testing.T) {
	r := newRig(t, sandbox.Config{}, nil)
	c := r.start(r.draft("CLINIC", "Hello", "08030000011"))
	stop := r.dispatch()
	// The row is back in the queue for a moment only where the Dispatcher asked
	// for the rate before the answer came and claimed after it was stored: it
	// then waits out the minute under its second claim. Stopping gives that up.
	r.until(c.ID, "the first 429", func(sms.Campaign, sms.Tally) bool { return r.throttled(c.ID) })
	stop()
	if tally, err := r.db.Tally(r.ctx, c.ID); err != nil || tally["queued"] != 1 || len(r.ledger()) != 0 {
		t.Fatalf("after the 429: %v, executed %v, %v", tally, r.ledger(), err)
	}
	// The service executed it all the same: its report arrives under an id
	// that nobody was given.
	report := sms.DeliveryReport{ID: 1, AccountID: r.account.ID, ReceivedAt: time.Now().UnixMilli() - 200_000,
		ProviderID: "surprise", Mobile: "2348030000011", Status: "DELIVRD", ShortMessage: "Hello"}
	if _, err := r.db.ApplyReports(r.ctx, []sms.DeliveryReport{report}, map[int64]string{r.account.ID: "NG"},
		sms.Cursors{Inbox: 1}, 1); err != nil {
		t.Fatal(err)
	}
	if proven, err := r.db.DoubtRateAnswers(r.ctx, r.account.ID, "NG", time.Now().UnixMilli()-120_000); err != nil ||
		!proven {
		t.Fatalf("proven %v, %v", proven, err)
	}
	second := r.start(r.draft("CLINIC", "Once more", "08050000011"))
	// The minute that the service asked for is over.
	if err := r.db.PutThrottle(r.ctx, r.account.ID, sms.Throttle{}); err != nil {
		t.Fatal(err)
	}
	r.accounts = gateway.NewAccounts(open, r.db, slog.New(slog.DiscardHandler))
	r.dispatch()
	_, tally := r.until(second.ID, "the doubt", finished)
	if tally["doubt"] != 1 {
		t.Errorf("tally %v", tally)
	}
}
