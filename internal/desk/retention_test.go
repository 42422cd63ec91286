package desk_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/phone"
	"smsdesk/internal/rig"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
	"smsdesk/internal/workers"
)

// TestNumbersAndTextsGoWhenTheirTimeIsOver moves the clock on month by month.
func TestNumbersAndTextsGoWhenTheirTimeIsOver(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	c := r.Start(r.Draft("CLINIC", "A secret", rig.Ordinary(12)...))
	r.Dispatch()
	r.Until(c.ID, "the end", rig.Finished)
	for i, number := range []string{"2348030000102", "2348030000101"} {
		r.Block(number)
		if i == 0 {
			continue // it holds, and stays
		}
		if _, err := r.Desk.UnblockNumber(r.Ctx, r.By, one(t, r, number).ID, "came by in person"); err != nil {
			t.Fatal(err)
		}
	}
	clock := time.Now()
	f := workers.NewRetentionJob(r.DB, r.Feed, slog.New(slog.DiscardHandler), func() time.Time { return clock })
	pass := func() (number, text string) {
		t.Helper()
		if err := f.RunOnce(r.Ctx); err != nil {
			t.Fatal(err)
		}
		list, _, err := r.DB.Messages(r.Ctx, sms.MessageFilter{CampaignID: c.ID, Limit: 1})
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		return list[0].Number, list[0].Text
	}
	clock = clock.AddDate(20, 0, 0)
	if number, text := pass(); phone.Removed(number) || text != "A secret" {
		t.Fatalf("without a setting %q %q: everything is kept", number, text)
	}
	clock = clock.AddDate(-20, 0, 0)
	if err := r.Desk.SaveRetention(r.Ctx, r.By, sms.Retention{Messages: 3, Calls: 3, Reports: 3}); err != nil {
		t.Fatal(err)
	}
	clock = clock.AddDate(0, 3, -1)
	if number, _ := pass(); phone.Removed(number) {
		t.Fatal("removed a day early")
	}
	if ended, err := r.DB.EndedBlocks(r.Ctx, r.Account.ID, "2348030000101", 9); err != nil || len(ended) != 1 {
		t.Errorf("an ended block a day early: %v %v", ended, err)
	}
	clock = clock.AddDate(0, 0, 6)
	if number, text := pass(); !phone.Removed(number) || text != "" {
		t.Fatalf("still there: %q %q", number, text)
	}
	if ended, err := r.DB.EndedBlocks(r.Ctx, r.Account.ID, "2348030000101", 9); err != nil || len(ended) != 0 {
		t.Errorf("the ended block is still there: %v %v", ended, err)
	}
	one(t, r, "2348030000102")
	tally, err := r.DB.Tally(r.Ctx, c.ID)
	if err != nil || tally.Total() != 12 || tally["network"] != 12 {
		t.Errorf("tally %v, %v", tally, err)
	}
	if list, err := r.DB.CountMismatches(r.Ctx); err != nil || len(list) > 0 {
		t.Errorf("%v %v", list, err)
	}
	attempts, err := r.DB.MessageAttempts(r.Ctx, 1)
	if err != nil || len(attempts) == 0 || attempts[0].Call.Text != "" || attempts[0].Excerpt != "" {
		t.Errorf("%+v %v", attempts, err)
	}
	audited := 0
	lines, err := r.DB.AuditOf(r.Ctx, feed.Campaign(c.ID))
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
	r := newKit(t, sandbox.Config{}, nil)
	if err := r.Desk.SaveRetention(r.Ctx, sms.User{Role: sms.Manager, Active: true}, sms.Retention{}); !errors.Is(err,
		sms.ErrForbidden) {
		t.Error(err)
	}
	var bad sms.Invalid
	if err := r.Desk.SaveRetention(r.Ctx, r.By, sms.Retention{Messages: 121}); !errors.As(err, &bad) ||
		bad["messages"] == "" {
		t.Error(err)
	}
}
