package workers_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
	"smsdesk/internal/workers"
)

// reconcile runs both loops of a Reconciler with a clock that is ahead.
func (r *kit) reconcile(ahead time.Duration) {
	r.T.Helper()
	now := func() time.Time { return time.Now().Add(ahead) }
	rec := workers.NewReconciler(r.DB, r.Loops(), r.Feed, slog.New(slog.DiscardHandler), now)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{}, 2)
	for _, loop := range []func(context.Context){rec.MatchReports, rec.QueryStatuses} {
		go func() { loop(ctx); done <- struct{}{} }()
	}
	r.T.Cleanup(func() { cancel(); <-done; <-done })
}

// lost sends to a number whose answer is lost and returns its message.
func (r *kit) lost(text string) sms.Message {
	r.T.Helper()
	c := r.Start(r.Draft("CLINIC", text, "08030000008"))
	r.Until(c.ID, "doubt", func(_ sms.Campaign, t sms.Tally) bool { return t["doubt"] == 1 })
	return r.First(c.ID)
}

// arrived stores a report as the receiver does.
func (r *kit) arrived(x sms.DeliveryReport) {
	r.T.Helper()
	cursor, err := r.DB.InboxCursor(r.Ctx)
	if err != nil {
		r.T.Fatal(err)
	}
	x.AccountID, x.ID, x.ReceivedAt = r.Account.ID, cursor+1, time.Now().UnixMilli()
	if _, err := r.DB.ApplyReports(r.Ctx, []sms.DeliveryReport{x}, map[int64]string{r.Account.ID: "NG"},
		sms.Cursors{Inbox: x.ID}, x.ReceivedAt); err != nil {
		r.T.Fatal(err)
	}
}

// TestAReportSettlesAndTheProviderConfirms: the whole way, with the sandbox's
// own MessageStatus (§4.8) as the second witness; and a forged id is found out.
func TestAReportSettlesAndTheProviderConfirms(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.Dispatch()
	honest, forged := r.lost("Honest"), r.lost("Forged")
	real := ""
	for _, e := range r.Sandbox.Ledger() {
		if e.Text == "Honest" {
			real = e.MessageID
		}
	}
	r.arrived(sms.DeliveryReport{ProviderID: real, Mobile: honest.Number, Status: "ACCEPTD", ShortMessage: "Honest"})
	r.arrived(sms.DeliveryReport{ProviderID: "00000000-0000-4000-8000-000000000000", Mobile: forged.Number,
		Status: "DELIVRD", ShortMessage: "Forged"})
	r.reconcile(3 * time.Minute)
	asked := func(id int64) sms.StatusQuery {
		for deadline := time.Now().Add(15 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			list, err := r.DB.MessageAsked(r.Ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			if len(list) == 1 && list[0].AskedAt > 0 {
				return list[0]
			}
			if time.Now().After(deadline) {
				t.Fatalf("message %d was not asked about: %+v", id, list)
			}
		}
	}
	// The sandbox knows that it delivered the text; the report only said ACCEPTD.
	if a := asked(honest.ID); a.Effect != sms.Changed || a.Answer.Status != "DELIVRD" ||
		!strings.Contains(a.Answer.Raw, real) {
		t.Errorf("%+v", a)
	}
	if a := asked(forged.ID); a.Effect != sms.Suspicious || a.Code == "" || a.Words == "" {
		t.Errorf("%+v", a)
	}
	if m := r.First(honest.CampaignID); m.State != sms.Accepted || m.Evidence != sms.ByReport ||
		m.Delivery.Status != sms.Delivrd {
		t.Errorf("%+v", m)
	}
	if m := r.First(forged.CampaignID); m.State != sms.Accepted {
		t.Errorf("suspicion took %q back to %s", m.Evidence, m.State)
	}
}

// TestAPersonAsksAboutAMessage: the question is put once, goes out soon, and its
// answer is believed as a report would be.
func TestAPersonAsksAboutAMessage(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.Dispatch()
	c := r.Start(r.Draft("CLINIC", "Hello", "08030000006")) // delivered, but no report ever comes
	r.Until(c.ID, "accepted", func(_ sms.Campaign, t sms.Tally) bool { return t["network"] == 1 })
	m := r.First(c.ID)
	viewer := sms.User{ID: 2, Name: "Vera", Role: sms.Viewer, Active: true}
	if err := r.Desk.AskMessage(r.Ctx, viewer, m.ID); !errors.Is(err, sms.ErrForbidden) {
		t.Errorf("a viewer: %v", err)
	}
	for range 2 {
		if err := r.Desk.AskMessage(r.Ctx, desk.Operator(), m.ID); err != nil {
			t.Fatal(err)
		}
	}
	list, err := r.DB.MessageAsked(r.Ctx, m.ID)
	if err != nil || len(list) != 1 || list[0].AskedAt != 0 || list[0].Why != sms.AskedStaff {
		t.Fatal(list, err)
	}
	r.reconcile(0)
	for deadline := time.Now().Add(15 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if list, err = r.DB.MessageAsked(r.Ctx, m.ID); err != nil {
			t.Fatal(err)
		}
		if list[0].AskedAt > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%+v", list)
		}
	}
	t.Logf("%+v", list[0].Answer)
	if !strings.Contains(list[0].Answer.Raw, m.ProviderID) || list[0].Effect != sms.Changed &&
		list[0].Effect != sms.NotConclusive {
		t.Errorf("%+v", list)
	}
	if after := r.First(c.ID); (list[0].Effect == sms.Changed) != (after.Delivery.Status != "") {
		t.Errorf("%s: %+v", list[0].Effect, after.Delivery)
	}
	doubtful := r.lost("Lost")
	if err := r.Desk.AskMessage(r.Ctx, desk.Operator(), doubtful.ID); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("a message without an id: %v", err)
	}
}

// silent plays the database of a Pulse.
type silent struct {
	spans  [][2]int64
	pulses map[[2]int64]sms.ReceiverMinute
	broken atomic.Bool
}

func (s *silent) Heartbeat(_ context.Context, span, now int64) (int64, error) {
	if span == 0 {
		s.spans = append(s.spans, [2]int64{now, now})
		return int64(len(s.spans)), nil
	}
	s.spans[span-1][1] = now
	return span, nil
}

func (s *silent) AddReceiverStats(_ context.Context, list []sms.ReceiverMinute) error {
	if s.broken.Load() {
		return fmt.Errorf("broken")
	}
	for _, p := range list {
		k := [2]int64{p.AccountID, p.Minute}
		old := s.pulses[k]
		old.Answered, old.Refused, old.Lost = old.Answered+p.Answered, old.Refused+p.Refused, old.Lost+p.Lost
		s.pulses[k] = old
	}
	return nil
}

// TestPulseTellsWhenNobodyAnswered: beats while callbacks are answered, a gap
// where they are not, and a last beat at a stop in good order. No count is lost
// while the database cannot be written.
func TestPulseTellsWhenNobodyAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &silent{pulses: map[[2]int64]sms.ReceiverMinute{}}
		var deaf atomic.Bool
		began := time.Now()
		p := workers.NewPulse(store, func(context.Context) bool {
			return !deaf.Load()
		}, 10*time.Second, feed.New(), slog.New(slog.DiscardHandler), time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { p.Run(ctx); close(ended) }()
		time.Sleep(25 * time.Second)
		store.broken.Store(true)
		p.Answered(7, 3*time.Millisecond, true)
		p.Answered(7, time.Millisecond, false)
		p.Refused()
		time.Sleep(10 * time.Second)
		store.broken.Store(false)
		p.Refused()
		deaf.Store(true)
		time.Sleep(2 * time.Minute)
		deaf.Store(false)
		time.Sleep(27 * time.Second)
		cancel()
		<-ended
		if len(store.spans) != 2 {
			t.Fatalf("%d stretches: %v", len(store.spans), store.spans)
		}
		at := func(ms int64) time.Duration { return time.UnixMilli(ms).Sub(began).Round(time.Second) }
		if from, until := at(store.spans[0][1]), at(store.spans[1][0]); from != 30*time.Second || until != 160*time.Second {
			t.Errorf("a gap from %s to %s", from, until)
		}
		if last := at(store.spans[1][1]); last != 182*time.Second {
			t.Errorf("the last beat is at %s", last)
		}
		var sum sms.ReceiverMinute
		for _, c := range store.pulses {
			sum.Answered, sum.Refused, sum.Lost = sum.Answered+c.Answered, sum.Refused+c.Refused, sum.Lost+c.Lost
		}
		if sum.Answered != 1 || sum.Lost != 1 || sum.Refused != 2 {
			t.Errorf("%+v", sum)
		}
	})
}
