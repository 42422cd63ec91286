package desk_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
	"smsdesk/internal/workers"
)

// TestNumbersAndTextsGoWhenTheirTimeIsOver moves the clock on month by month.
func TestNumbersAndTextsGoWhenTheirTimeIsOver(t *testing.T) {
	r := newRig(t, sandbox.Config{}, nil)
	c := r.start(r.draft("CLINIC", "A secret", ordinary(12)...))
	r.dispatch()
	r.until(c.ID, "the end", finished)
	for i, number := range []string{"2348030000102", "2348030000101"} {
		r.block(number)
		if i == 0 {
			continue // it holds, and stays
		}
		if _, err := r.desk.UnblockNumber(r.ctx, r.by, one(t, r, number).ID, "came by in person"); err != nil {
			t.Fatal(err)
		}
	}
	clock := time.Now()
	f := workers.NewForgetter(r.db, r.feed, slog.New(slog.DiscardHandler), func() time.Time { return clock })
	pass := func() (number, text string) {
		t.Helper()
		if err := f.Pass(r.ctx); err != nil {
			t.Fatal(err)
		}
		list, _, err := r.db.Messages(r.ctx, sms.MessageFilter{CampaignID: c.ID, Limit: 1})
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		return list[0].Number, list[0].Text
	}
	clock = clock.AddDate(20, 0, 0)
	if number, text := pass(); sms.Removed(number) || text != "A secret" {
		t.Fatalf("without a setting %q %q: everything is kept", number, text)
	}
	clock = clock.AddDate(-20, 0, 0)
	if err := r.desk.SaveRetention(r.ctx, r.by, sms.Retention{Messages: 3, Calls: 3, Reports: 3}); err != nil {
		t.Fatal(err)
	}
	clock = clock.AddDate(0, 3, -1)
	if number, _ := pass(); sms.Removed(number) {
		t.Fatal("removed a day early")
	}
	if ended, err := r.db.EndedBlocks(r.ctx, r.account.ID, "2348030000101", 9); err != nil || len(ended) != 1 {
		t.Errorf("an ended block a day early: %v %v", ended, err)
	}
	clock = clock.AddDate(0, 0, 6)
	if number, text := pass(); !sms.Removed(number) || text != "" {
		t.Fatalf("still there: %q %q", number, text)
	}
	if ended, err := r.db.EndedBlocks(r.ctx, r.account.ID, "2348030000101", 9); err != nil || len(ended) != 0 {
		t.Errorf("the ended block is still there: %v %v", ended, err)
	}
	one(t, r, "2348030000102")
	tally, err := r.db.Tally(r.ctx, c.ID)
	if err != nil || tally.Total() != 12 || tally["network"] != 12 {
		t.Errorf("tally %v, %v", tally, err)
	}
	if list, err := r.db.Miscounts(r.ctx); err != nil || len(list) > 0 {
		t.Errorf("%v %v", list, err)
	}
	attempts, err := r.db.MessageAttempts(r.ctx, 1)
	if err != nil || len(attempts) == 0 || attempts[0].Call.Text != "" || attempts[0].Excerpt != "" {
		t.Errorf("%+v %v", attempts, err)
	}
	audited := 0
	lines, err := r.db.AuditOf(r.ctx, feed.Campaign(c.ID))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		if line.Action == "campaign.forget" && strings.Contains(line.Detail, "12 messages") {
			audited++
		}
	}
	if audited != 1 {
		t.Errorf("audited %d times", audited)
	}
}

func TestOnlyAdministratorsSetHowLongThingsAreKept(t *testing.T) {
	r := newRig(t, sandbox.Config{}, nil)
	if err := r.desk.SaveRetention(r.ctx, sms.User{Role: sms.Manager, Active: true}, sms.Retention{}); !errors.Is(err,
		sms.ErrForbidden) {
		t.Error(err)
	}
	var bad sms.Invalid
	if err := r.desk.SaveRetention(r.ctx, r.by, sms.Retention{Messages: 121}); !errors.As(err, &bad) ||
		bad["messages"] == "" {
		t.Error(err)
	}
}
