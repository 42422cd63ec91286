package workers_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/gateway"
	"smsdesk/internal/plan"
	"smsdesk/internal/rig"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

// rows makes n rows of a list; every third has a text of its own.
func rows(first, n int) []sms.Message {
	list := make([]sms.Message, n)
	for i := range list {
		text := "The clinic is closed on Friday."
		if i%3 == 0 {
			text = fmt.Sprintf("Dear patient %d, your appointment is on Friday at nine.", first+i)
		}
		list[i] = sms.Message{Row: int64(i + 2), Number: fmt.Sprintf("234803%07d", 2_000_000+first+i), Text: text, Parts: 1}
	}
	return list
}

// list stores a planned draft as a list makes it.
func (r *kit) list(name string, messages []sms.Message) sms.Campaign {
	r.T.Helper()
	g, err := r.Orders().For(r.Ctx, r.Account)
	if err != nil {
		r.T.Fatal(err)
	}
	planner := plan.New(plan.Limits{CallLimit: r.Account.CallLimit, Size: g.PairSize, Room: func(unicode bool) int {
		return g.PairRoom(sms.Call{SenderID: "CLINIC", Unicode: unicode}, r.Account.URLBudget)
	}}, len(messages))
	for _, m := range messages {
		if err := planner.Add(plan.Row{ID: m.Row, Number: m.Number, Text: m.Text, Unicode: m.Unicode}); err != nil {
			r.T.Fatal(err)
		}
	}
	plan := planner.Plan()
	for i := range messages {
		messages[i].Call = plan.Assign[i]
	}
	c := sms.Campaign{AccountID: r.Account.ID, Name: name, SenderID: "CLINIC", CallsText: int64(plan.ByKind[sms.CallText]),
		CallsPairs: int64(plan.ByKind[sms.CallPairs]), Fingerprint: name}
	made, _, err := r.DB.CreateDraft(r.Ctx, c, desk.NewToken(), messages, 0, time.Now().UnixMilli())
	if err != nil {
		r.T.Fatal(err)
	}
	return made
}

// BenchmarkBulk measures what one call of a campaign with many texts costs
// from its claim to its outcome, the sandbox's share included.
func BenchmarkBulk(b *testing.B) {
	r := newKit(b, sandbox.Config{}, func(a *sms.Account) { a.CallLimit = 100; a.PerMinute = 1_000_000 })
	c := r.list("bulk", rows(1_000_000, b.N*20))
	c = r.Start(c)
	b.ResetTimer()
	r.Dispatch()
	for {
		got, err := r.DB.Campaign(r.Ctx, c.ID)
		if err != nil {
			b.Fatal(err)
		}
		if got.State == sms.CampaignFinished {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	b.StopTimer()
	calls := float64(c.CallsText + c.CallsPairs)
	b.ReportMetric(b.Elapsed().Seconds()*1000/calls, "ms/call")
	b.ReportMetric(float64(b.N*20)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkRate measures over two minutes how much of the allowed rate a
// campaign uses against a service that counts strictly. One 429 fails it.
func BenchmarkRate(b *testing.B) {
	const rate, minutes = 1200, 2
	for range b.N {
		r := newKit(b, sandbox.Config{PerMinute: rate}, func(a *sms.Account) { a.PerMinute, a.CallLimit = rate, 1 })
		c := r.Start(r.list("list", rows(1, rate*(minutes+1))))
		began := time.Now()
		stop := r.Dispatch()
		time.Sleep(minutes * time.Minute)
		stop()
		calls, refused := 0, 0
		for _, call := range r.Calls() {
			if calls++; call.Status == http.StatusTooManyRequests {
				refused++
			}
		}
		if refused > 0 || float64(calls) < 0.99*rate*minutes {
			b.Errorf("%d of %d allowed calls used, %d answered 429", calls, rate*minutes, refused)
		}
		tally, err := r.DB.Tally(r.Ctx, c.ID)
		if err != nil || tally["network"] != int64(calls) {
			b.Errorf("tally %v after %d calls, %v", tally, calls, err)
		}
		b.ReportMetric(100*float64(calls)/(rate*minutes), "%rate")
		b.ReportMetric(time.Since(began).Seconds(), "s")
	}
}

// TestARunningListIsSentOnceEachAsPlanned: many texts, each to its own number,
// in as many calls as the plan says and a first small one.
func TestARunningListIsSentOnceEachAsPlanned(t *testing.T) {
	r := newKit(t, sandbox.Config{}, func(a *sms.Account) { a.CallLimit = 40 })
	messages := rows(1, 400)
	messages[3].Text, messages[6].Text = "sneaky~2348099999999^text", "up ^ there"
	c := r.Start(r.list("list", messages))
	r.Dispatch()
	_, tally := r.Until(c.ID, "the end", rig.Finished)
	texts, calls := map[string]string{}, map[int64]bool{}
	for _, e := range r.Sandbox.Ledger() {
		texts[e.Number] = e.Text
		calls[e.Call] = true
	}
	for _, m := range messages {
		if texts[m.Number] != m.Text {
			t.Errorf("%s got %q, want %q", m.Number, texts[m.Number], m.Text)
		}
	}
	if tally["network"] != 400 || len(r.Sandbox.Ledger()) != 400 || int64(len(calls)) != c.CallsText+c.CallsPairs+1 {
		t.Errorf("tally %v, %d executed in %d calls, planned %d and %d", tally, len(r.Sandbox.Ledger()), len(calls),
			c.CallsText, c.CallsPairs)
	}
}

// TestCampaignsShareTheRate: of three campaigns of very different sizes each
// gets an equal share of the calls, within a tenth, while all of them run.
func TestCampaignsShareTheRate(t *testing.T) {
	r := newKit(t, sandbox.Config{Faults: sandbox.Faults{Latency: 5 * time.Millisecond}}, nil)
	sizes := []int{500, 1500, 4000}
	var small sms.Campaign
	for i, n := range sizes {
		list := rows(i*10_000, n)
		for k := range list {
			list[k].Text = fmt.Sprint("campaign ", i)
		}
		c := r.Start(r.list(fmt.Sprint("list ", i), list))
		if i == 0 {
			small = c
		}
	}
	stop := r.Dispatch()
	r.Until(small.ID, "the end of the smallest", rig.Finished)
	stop()
	shares, seen, last := map[string]int{}, map[int64]bool{}, int64(0)
	for _, e := range r.Sandbox.Ledger() {
		if e.Text == "campaign 0" {
			last = e.Call
		}
	}
	for _, e := range r.Sandbox.Ledger() {
		if e.Call <= last && !seen[e.Call] {
			seen[e.Call] = true
			shares[e.Text]++
		}
	}
	for name, calls := range shares {
		if equal := float64(len(seen)) / 3; float64(calls) < equal*0.9 || float64(calls) > equal*1.1 {
			t.Errorf("%s had %d of %d calls while all ran: %v", name, calls, len(seen), shares)
		}
	}
	if len(shares) != 3 {
		t.Errorf("%v", shares)
	}
}

// waiting is a gateway whose calls wait for a place under the rate as long as
// full is set; it counts those that do.
type waiting struct {
	rig.Service
	full    *atomic.Bool
	waiters *atomic.Int64
}

func (w waiting) Send(ctx context.Context, call sms.Call, licence func() error) sms.Outcome {
	w.waiters.Add(1)
	defer w.waiters.Add(-1)
	for w.full.Load() {
		select {
		case <-ctx.Done():
			return sms.Outcome{Class: sms.ClassNothingLeft, Reason: "stopped"}
		case <-time.After(time.Millisecond):
		}
	}
	return w.Service.Send(ctx, call, licence)
}

// TestStopTakesEffectWhileTheLimiterWaits: within two seconds, also when the
// order was given in another process that tells nobody here.
func TestStopTakesEffectWhileTheLimiterWaits(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	var full atomic.Bool
	var waiters atomic.Int64
	r.Accounts = gateway.NewAccounts(func(o gateway.Opening[rig.Service]) (rig.Service, error) {
		g, err := rig.Open(o)
		return waiting{g, &full, &waiters}, err
	}, r.DB, slog.New(slog.DiscardHandler))
	c := r.list("list", rows(1, 200))
	c = r.Start(c)
	r.Dispatch()
	elsewhere := desk.New(rig.Stores(r.DB), r.Orders(), feed.New(), slog.New(slog.DiscardHandler), time.Now)
	for _, d := range []*desk.Desk{r.Desk.Desk, elsewhere} {
		full.Store(true)
		r.Until(c.ID, "a call that waits", func(sms.Campaign, sms.Tally) bool { return waiters.Load() > 0 })
		began := time.Now()
		if _, err := d.StopCampaign(r.Ctx, r.By, c.ID); err != nil {
			t.Fatal(err)
		}
		r.Until(c.ID, "everything to be queued again", func(_ sms.Campaign, tally sms.Tally) bool {
			return tally["sending"] == 0
		})
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("stopping took %s", took)
		}
		full.Store(false)
		executed := len(r.Ledger())
		time.Sleep(50 * time.Millisecond)
		if len(r.Ledger()) != executed {
			t.Error("a stopped campaign went on")
		}
		began = time.Now()
		if _, err := d.ContinueCampaign(r.Ctx, r.By, c.ID, desk.ContinueOrder{}); err != nil {
			t.Fatal(err)
		}
		r.Until(c.ID, "the next call", func(sms.Campaign, sms.Tally) bool { return len(r.Ledger()) > executed })
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("continuing took %s", took)
		}
	}
	if _, tally := r.Until(c.ID, "the end", rig.Finished); tally["network"] != 200 || len(r.Ledger()) != 200 {
		t.Errorf("tally %v, executed %d", tally, len(r.Ledger()))
	}
}

// TestTooFastAnswersFailNoRow: however often the service says so, every row is
// sent once.
func TestTooFastAnswersFailNoRow(t *testing.T) {
	r := newKit(t, sandbox.Config{RetryAfter: time.Second, Faults: sandbox.Faults{TooMany: 0.5}, Seed: 3},
		func(a *sms.Account) {
			a.CallLimit = 20
		})
	c := r.Start(r.list("list", rows(1, 100)))
	r.Dispatch()
	_, tally := r.Until(c.ID, "the end", rig.Finished)
	refused := 0
	for _, call := range r.Calls() {
		if call.Status == 429 {
			refused++
		}
	}
	if tally["network"] != 100 || len(r.Ledger()) != 100 || len(r.Sandbox.Ledger()) != 100 || refused == 0 {
		t.Errorf("tally %v, executed %d, answered 429 %d times", tally, len(r.Sandbox.Ledger()), refused)
	}
}

// TestAnUrgentMessageWaitsForNoBulk: while a campaign holds all places that it
// may have for now, and all slots, a single message goes out at once.
func TestAnUrgentMessageWaitsForNoBulk(t *testing.T) {
	r := newKit(t, sandbox.Config{Faults: sandbox.Faults{Latency: 300 * time.Millisecond}}, func(a *sms.Account) {
		a.PerMinute, a.CallLimit = 10, 1
	})
	bulk := r.Start(r.list("list", rows(1, 40)))
	r.Dispatch()
	r.Until(bulk.ID, "its places to be used up", func(sms.Campaign, sms.Tally) bool { return len(r.Ledger()) == 3 })
	began := time.Now()
	c := r.Start(r.Draft("CLINIC", "Your code is 4711", "08035550101"))
	if !c.Urgent {
		t.Error("a message to one number is not urgent")
	}
	_, tally := r.Until(c.ID, "the end", rig.Finished)
	if took := time.Since(began); took > 2*time.Second || tally["network"] != 1 {
		t.Errorf("%v after %s", tally, took)
	}
	if n := len(r.Ledger()); n != 4 {
		t.Errorf("%d executed", n)
	}
}

// TestCancelGivesUpWhatHasNotLeft: for good, and once.
func TestCancelGivesUpWhatHasNotLeft(t *testing.T) {
	r := newKit(t, sandbox.Config{Faults: sandbox.Faults{Latency: 50 * time.Millisecond}}, nil)
	c := r.Start(r.list("list", rows(1, 600)))
	r.Dispatch()
	r.Until(c.ID, "the first answers", func(_ sms.Campaign, tally sms.Tally) bool { return tally["network"] > 20 })
	for range 2 {
		got, err := r.Desk.CancelCampaign(r.Ctx, r.By, c.ID)
		if err != nil || got.State != sms.CampaignCancelled || got.Pause != "Cancelled by Ada Obi" || got.FinishedAt == 0 {
			t.Fatalf("%+v %v", got, err)
		}
	}
	_, tally := r.Until(c.ID, "calls in flight", func(_ sms.Campaign, tally sms.Tally) bool {
		return tally["sending"] == 0
	})
	if tally["stopped"] == 0 || tally["network"]+tally["stopped"] != 600 || int(tally["network"]) != len(r.Ledger()) {
		t.Errorf("tally %v, executed %d", tally, len(r.Ledger()))
	}
	for name, err := range map[string]error{
		"continued": second(r.Desk.ContinueCampaign(r.Ctx, r.By, c.ID, desk.ContinueOrder{})), "stopped": second(r.Desk.StopCampaign(r.Ctx, r.By, c.ID)),
		"started": second(r.Desk.StartCampaign(r.Ctx, sms.User{ID: 9, Role: sms.Sender, Active: true}, c.ID, desk.StartOrder{Version: c.Version, Again: true})),
	} {
		if !errors.Is(err, sms.ErrConflict) {
			t.Errorf("%s after it was cancelled: %v", name, err)
		}
	}
	if _, err := r.Desk.CancelCampaign(r.Ctx, sms.User{Role: sms.Viewer, Active: true}, c.ID); !errors.Is(err,
		sms.ErrForbidden) {
		t.Errorf("a viewer cancels: %v", err)
	}
	done := r.Start(r.Draft("CLINIC", "Hello", "08035550101"))
	r.Until(done.ID, "the end", rig.Finished)
	if _, err := r.Desk.CancelCampaign(r.Ctx, r.By, done.ID); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("a finished one is cancelled: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestHandOver: every call carries the time in the account's zone, in the form
// of §4.2 and §4.4, and only where a person handed over.
func TestHandOver(t *testing.T) {
	r := newKit(t, sandbox.Config{}, func(a *sms.Account) { a.Hours = sms.Hours{From: 0, To: 23*60 + 59} })
	lagos := r.Account.Location()
	at := time.Now().In(lagos).AddDate(0, 0, 2)
	at = time.Date(at.Year(), at.Month(), at.Day(), 9, 5, 0, 0, lagos)
	c := r.list("list", rows(1, 30))
	for name, wrong := range map[string]time.Time{
		"Time must be in the future": time.Now().Add(-time.Minute),
		"Scheduling with the provider takes up to 6 minutes. Choose a later time":       time.Now().Add(4 * time.Minute),
		"This account only sends from 00:00 to 23:59. Choose a time within these hours": at.Add(14*time.Hour + 54*time.Minute),
		"Date must be within the next year":                                             at.AddDate(2, 0, 0),
	} {
		var bad sms.Invalid
		if _, err := r.Desk.HandOverCampaign(r.Ctx, r.By, c.ID, sms.ScheduleAt(wrong),
			desk.StartOrder{Version: c.Version}); !errors.As(err, &bad) || bad["time"] != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	got, err := r.Desk.HandOverCampaign(r.Ctx, r.By, c.ID, sms.ScheduleAt(at), desk.StartOrder{Version: c.Version})
	if err != nil || got.State != sms.CampaignRunning || !got.HandOver || got.SendAt != at.UnixMilli() {
		t.Fatalf("%+v %v", got, err)
	}
	if again, err := r.Desk.HandOverCampaign(r.Ctx, r.By, c.ID, sms.ScheduleAt(at),
		desk.StartOrder{Version: c.Version}); err != nil || again.ID != c.ID {
		t.Errorf("pressed twice: %v", err)
	}
	r.Dispatch()
	r.Until(c.ID, "the end", rig.Finished)
	plain := r.Start(r.list("plain", rows(1000, 30)))
	r.Until(plain.ID, "the end", rig.Finished)
	want := at.Format("2006-01-02 15:04")
	with, without := 0, 0
	for _, call := range r.Calls() {
		query, _ := url.QueryUnescape(call.Query)
		switch {
		case strings.Contains(query, "scheduleTime="+want) || strings.Contains(call.Body, `"SchedTime":"`+want+`"`):
			with++
		case strings.Contains(call.Body, `"SchedTime":""`) || strings.Contains(call.Path, "SendBulkSMS") &&
			!strings.Contains(query, "scheduleTime"):
			without++
		default:
			t.Errorf("%s %s %s", call.Path, query, call.Body)
		}
	}
	if calls := int(c.CallsText + c.CallsPairs + 1); with != calls || without != calls {
		t.Errorf("%d calls with a time, %d without, want %d each", with, without, calls)
	}
}

// TestSendingHoursAndApprovalAtTheMinuteOfSending: a running campaign rests in
// quiet hours and goes on by itself at their end; one whose sender ID was taken
// away is paused, and says so once.
func TestSendingHoursAndApprovalAtTheMinuteOfSending(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	now := time.Now().In(r.Account.Location())
	minute := now.Hour()*60 + now.Minute()
	quiet := func(h sms.Hours) {
		if _, err := r.Desk.SaveAccount(r.Ctx, r.By, r.Account.ID, func(a *sms.Account, _ *sms.Credentials) {
			a.Hours = h
		}); err != nil {
			t.Fatal(err)
		}
	}
	quiet(sms.Hours{From: (minute + 120) % 1440, To: (minute + 180) % 1440})
	c, urgent := r.Start(r.list("list", rows(1, 60))), r.Start(r.Draft("CLINIC", "Hello", "08035550101"))
	r.Dispatch()
	time.Sleep(300 * time.Millisecond)
	if n := len(r.Ledger()); n != 0 {
		t.Fatalf("%d sent in quiet hours", n)
	}
	quiet(sms.Hours{})
	r.Until(c.ID, "the end", rig.Finished)
	r.Until(urgent.ID, "the end", rig.Finished)

	quiet(sms.Hours{From: (minute + 120) % 1440, To: (minute + 180) % 1440})
	gone := r.Start(r.list("gone", rows(5000, 60)))
	r.Know("OTHER")
	quiet(sms.Hours{})
	got, tally := r.Until(gone.ID, "the pause", rig.Paused)
	if got.PauseCode != sms.PauseSender || got.Pause != sms.SenderGone("CLINIC") || tally["queued"] != 60 ||
		len(r.Ledger()) != 61 {
		t.Errorf("%q %v, executed %d", got.Pause, tally, len(r.Ledger()))
	}
	r.Know("CLINIC")
	if _, err := r.Desk.ContinueCampaign(r.Ctx, r.By, gone.ID, desk.ContinueOrder{}); err != nil {
		t.Fatal(err)
	}
	r.Until(gone.ID, "the end", rig.Finished)
}
