package desk_test

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/rehearsal"
	"smsdesk/internal/rig"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
	"smsdesk/internal/workers"
)

func TestOnlyDraftsOfEnoughRecipientsAreRehearsed(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	rehearse := func(by sms.User, c sms.Campaign, kind rehearsal.Kind) (rehearsal.Rehearsal, error) {
		return r.Desk.Rehearse(r.Ctx, by, desk.RehearseOrder{CampaignID: c.ID, Kind: kind, CostMiddle: 8_000})
	}
	few := r.Draft("CLINIC", "Hello", rig.Ordinary(rehearsal.MinRows-1)...)
	if _, err := rehearse(r.By, few, rehearsal.Usual); !isInvalid(err, "rehearse") {
		t.Errorf("so few recipients: %v", err)
	}
	c := r.Draft("CLINIC", "Hello", rig.Ordinary(rehearsal.MinRows)...)
	viewer := sms.User{ID: 7, Name: "Vi", Role: sms.Viewer, Active: true}
	if _, err := rehearse(viewer, c, rehearsal.Usual); !errors.Is(err, sms.ErrForbidden) {
		t.Errorf("a viewer: %v", err)
	}
	if _, err := r.Desk.WatchRehearsal(r.Ctx, viewer, r.Account.ID); !errors.Is(err, sms.ErrForbidden) {
		t.Errorf("a viewer watches: %v", err)
	}
	if _, err := rehearse(r.By, c, rehearsal.Watch); !isInvalid(err, "rehearse") {
		t.Errorf("an unknown day: %v", err)
	}
	made, err := rehearse(r.By, c, rehearsal.Bad)
	if err != nil || made.State != rehearsal.Waiting || made.All != rehearsal.MinRows || made.Name != c.Name ||
		made.Result.CostMiddle != 8_000 || made.By.ID != r.By.ID {
		t.Fatalf("%+v, %v", made, err)
	}
	if open, err := r.Desk.WatchRehearsal(r.Ctx, r.By, r.Account.ID); !errors.Is(err, sms.ErrConflict) || open.ID != made.ID {
		t.Errorf("two at a time: %+v, %v", open, err)
	}
	if err := r.Desk.StopRehearsal(r.Ctx, viewer, made.ID); !errors.Is(err, sms.ErrForbidden) {
		t.Errorf("a viewer stops it: %v", err)
	}
	if err := r.Desk.StopRehearsal(r.Ctx, sms.User{ID: 8, Role: sms.Sender, Active: true}, made.ID); err != nil {
		t.Errorf("a colleague stops it: %v", err)
	}
	if err := r.Desk.StopRehearsal(r.Ctx, r.By, made.ID); err != nil {
		t.Errorf("stopped twice: %v", err)
	}
	r.Start(c)
	if _, err := rehearse(r.By, c, rehearsal.Usual); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("a campaign that was started: %v", err)
	}
}

func isInvalid(err error, field string) bool {
	bad, is := errors.AsType[sms.Invalid](err)
	return is && bad[field] != ""
}

func TestRehearsalsAreForgottenAfterSevenDays(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	c := r.Draft("CLINIC", "Hello", rig.Ordinary(rehearsal.MinRows)...)
	made, err := r.Desk.Rehearse(r.Ctx, r.By, desk.RehearseOrder{CampaignID: c.ID, Kind: rehearsal.Usual})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Desk.StopRehearsal(r.Ctx, r.By, made.ID); err != nil {
		t.Fatal(err)
	}
	after := func(d time.Duration) error {
		t.Helper()
		f := workers.NewRetentionJob(r.DB, r.Feed, slog.New(slog.DiscardHandler), func() time.Time { return time.Now().Add(d) })
		if err := f.RunOnce(r.Ctx); err != nil {
			t.Fatal(err)
		}
		_, err := r.DB.Rehearsal(r.Ctx, made.ID)
		return err
	}
	if err := after(7*24*time.Hour - time.Minute); err != nil {
		t.Errorf("it is forgotten too early: %v", err)
	}
	if err := after(7*24*time.Hour + time.Minute); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("it is kept: %v", err)
	}
}
