package desk_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"smsdesk/internal/desk"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

// TestLimitsThatContradictEachOther are named by field; empty ones contradict
// nothing, and equal ones neither.
func TestLimitsThatContradictEachOther(t *testing.T) {
	user := func(role sms.Role, active bool) sms.User { return sms.User{Role: role, Active: active} }
	admin, sender := user(sms.Administrator, true), user(sms.Sender, true)
	for _, c := range []struct {
		limits  sms.Limits
		approve int64
		team    []sms.User
		want    string
	}{
		{sms.Limits{}, 0, nil, ""},
		{sms.Limits{MaxPerCampaign: 50, MaxPerDay: 50, MaxPerUserDay: 50}, 0, nil, ""},
		{sms.Limits{MaxPerDay: 1, MaxPerUserDay: 1}, 0, nil, ""},
		{sms.Limits{MaxPerCampaign: 50, MaxPerDay: 49}, 0, nil, "day_most"},
		{sms.Limits{MaxPerCampaign: 50, MaxPerDay: 49, MaxPerUserDay: 1}, 0, nil, "day_most person_day_most"},
		{sms.Limits{}, 1, nil, "approve_above"},
		{sms.Limits{}, 1, []sms.User{admin}, "approve_above"},
		{sms.Limits{}, 1, []sms.User{admin, user(sms.Approver, false), user(sms.Viewer, true)}, "approve_above"},
		{sms.Limits{}, 1, []sms.User{admin, sender}, ""},
		{sms.Limits{}, 1, []sms.User{admin, user(sms.Approver, true)}, ""},
		{sms.Limits{}, 1, []sms.User{sender, sender}, "approve_above"},
	} {
		bad := desk.LimitConflicts(sms.Account{Limits: c.limits, ApproveAbove: c.approve}, c.team)
		if got := strings.Join(slices.Sorted(maps.Keys(bad)), " "); got != c.want {
			t.Errorf("%+v, approval above %d, %d people: %q, want %q", c.limits, c.approve, len(c.team), got, c.want)
		}
	}
}

// TestSendingIsChangedInItsPlace: a change is given what is stored, a
// contradiction is refused with nothing stored, and one that is stored already
// does not keep other settings from being changed.
func TestSendingIsChangedInItsPlace(t *testing.T) {
	r := newKit(t, sandbox.Config{}, func(a *sms.Account) {
		a.Limits, a.Abroad = sms.Limits{MaxPerCampaign: 50, MaxPerDay: 10}, true
	})
	hours := sms.Hours{From: 480, To: 1200}
	a, err := r.Desk.SaveSending(r.Ctx, r.By, r.Account.ID, func(s *desk.Sending) { s.Hours = hours })
	if err != nil || a.Hours != hours || !a.Abroad || a.Limits.MaxPerDay != 10 {
		t.Fatalf("%+v, %v", a, err)
	}
	_, err = r.Desk.SaveSending(r.Ctx, r.By, r.Account.ID,
		func(s *desk.Sending) { s.Limits.MaxPerDay, s.Abroad = 20, false })
	if bad, ok := errors.AsType[sms.Invalid](err); !ok || bad["day_most"] == "" {
		t.Errorf("%v", err)
	}
	a, err = r.Desk.SaveSending(r.Ctx, r.By, r.Account.ID, func(s *desk.Sending) { s.Limits.MaxPerDay = 50 })
	if err != nil || !a.Abroad || a.Limits.MaxPerDay != 50 {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err = r.Desk.SaveSending(r.Ctx, sms.User{ID: 9, Role: sms.Manager, Active: true}, r.Account.ID,
		func(*desk.Sending) { t.Error("a manager changes it") }); !errors.Is(err, sms.ErrForbidden) {
		t.Errorf("%v", err)
	}
}

// TestThePriceIsSavedByItself: nothing else of the account changes with it.
func TestThePriceIsSavedByItself(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	before, err := r.DB.Account(r.Ctx, r.Account.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Desk.SavePrice(r.Ctx, r.By, r.Account.ID, 405, " ₦ "); err != nil {
		t.Fatal(err)
	}
	after, err := r.DB.Account(r.Ctx, r.Account.ID)
	if err != nil || after.PricePerPart != 405 || after.Currency != "₦" {
		t.Fatalf("%+v, %v", after, err)
	}
	after.PricePerPart, after.Currency, after.ChangedAt = before.PricePerPart, before.Currency, before.ChangedAt
	if after != before {
		t.Errorf("%+v\nbecame %+v", before, after)
	}
	if err := r.Desk.SavePrice(r.Ctx, r.By, r.Account.ID, -1, "₦"); err == nil {
		t.Error("a price below nothing is stored")
	}
	if err := r.Desk.SavePrice(r.Ctx, sms.User{ID: 9, Role: sms.Manager, Active: true}, r.Account.ID, 1,
		"₦"); !errors.Is(err, sms.ErrForbidden) {
		t.Errorf("%v", err)
	}
}
