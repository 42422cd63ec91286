package sms

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"smsdesk/internal/phone"
)

func TestKeptUntil(t *testing.T) {
	lagos, _ := time.LoadLocation("Africa/Lagos")
	for _, c := range []struct {
		from   string
		months int
		want   string
	}{
		{"2026-02-03 14:00", 3, "2026-05-03 14:00"}, {"2026-01-31 10:00", 1, "2026-02-28 10:00"}, {"2028-01-31 10:00", 1, "2028-02-29 10:00"},
		{"2026-12-15 00:00", 13, "2028-01-15 00:00"}, {"2026-02-03 14:00", 0, ""},
	} {
		from, err := time.ParseInLocation("2006-01-02 15:04", c.from, lagos)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if until := KeptUntil(from.UnixMilli(), c.months, lagos); until > 0 {
			got = time.UnixMilli(until).In(lagos).Format("2006-01-02 15:04")
		}
		if got != c.want {
			t.Errorf("%s and %d months: %q, want %q", c.from, c.months, got, c.want)
		}
	}
	if KeptUntil(0, 3, lagos) != 0 {
		t.Error("what has not ended is kept")
	}
}

func TestRetentionIsChecked(t *testing.T) {
	for r, field := range map[Retention]string{{Messages: -1}: "messages", {Reports: 121}: "reports",
		{Calls: 121}: "calls"} {
		var bad Invalid
		if !errors.As(r.Check(), &bad) || bad[field] == "" || len(bad) != 1 {
			t.Errorf("%+v: %v", r, r.Check())
		}
	}
	want := Retention{Messages: 13, Reports: 120}
	if err := want.Check(); err != nil {
		t.Error(err)
	}
	if got, err := ReadRetention(want.ReadSetting(), nil); err != nil || got != want {
		t.Errorf("%+v %v", got, err)
	}
	if got, err := ReadRetention("", nil); err != nil || got != (Retention{}) {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := ReadRetention("{", nil); err == nil {
		t.Error("a broken setting was read")
	}
}

// TestARemovedNumberKeepsItsNetworkOnly: counts by network stay what they were.
func TestARemovedNumberKeepsItsNetworkOnly(t *testing.T) {
	networks := &phone.Networks{}
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.SampledFrom([]string{"234803", "234805", "234802", "25472", "4477", "9"}).Draw(t,
			"prefix") + rapid.StringMatching(`[0-9]{7}`).Draw(t, "rest")
		gone := phone.RemovedFrom(number, "00ff00ff00ff00ff", networks)
		if !phone.Removed(gone) || phone.Removed(number) || networks.Of(gone) != networks.Of(number) ||
			phone.Network(gone) != phone.Network(number) {
			t.Fatalf("%s became %s: %q, not %q", number, gone, networks.Of(gone), networks.Of(number))
		}
		if phone.RemovedFrom(gone, "other", networks) != gone {
			t.Fatal("removed twice")
		}
		if phone.Show(gone, "NG") != phone.RemovedWords || phone.Mask(gone, "NG") != phone.RemovedWords ||
			phone.ForLog(gone) != "••••" {
			t.Fatal("a removed number is shown")
		}
		if m := (Message{State: Accepted, Number: gone}); m.MayResend() {
			t.Fatal("it may be sent again")
		}
	})
	if phone.RemovedFrom("", "x", networks) != "" {
		t.Error("no number was removed")
	}
}

func TestNothingIsRemovedEarly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := time.Unix(rapid.Int64Range(1_700_000_000, 1_900_000_000).Draw(t, "from"), 0).UTC()
		months := rapid.IntRange(1, MaxRetention).Draw(t, "months")
		until := time.UnixMilli(KeptUntil(from.UnixMilli(), months, time.UTC)).UTC()
		if before := RemovedBefore(until.Add(-time.Second), months); from.UnixMilli() < before {
			t.Fatalf("of %s, kept for %d months until %s, it is removed earlier", from, months, until)
		}
		if before := RemovedBefore(until.AddDate(0, 0, 4), months); from.UnixMilli() >= before {
			t.Fatalf("of %s, kept for %d months until %s, it is still there four days later", from, months, until)
		}
	})
	if RemovedBefore(time.Now(), 0) != 0 {
		t.Error("what is kept for ever is removed")
	}
}

func TestTheLogOfReportsKeepsNothingLonger(t *testing.T) {
	now := time.Date(2026, 5, 31, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		set  Retention
		want time.Time
	}{
		{Retention{}, now.AddDate(0, 0, -30)},
		{Retention{LogDays: 7}, now.AddDate(0, 0, -7)},
		{Retention{LogDays: 90, Messages: 12, Reports: 6}, now.AddDate(0, 0, -90)},
		{Retention{LogDays: 90, Messages: 1}, time.Date(2026, 4, 30, 12, 0, 0, 0, time.UTC)},
		{Retention{LogDays: 90, Messages: 12, Reports: 2}, time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)},
	} {
		if got := c.set.LogBefore(now); got != c.want.UnixMilli() {
			t.Errorf("%+v: before %v, want %v", c.set, time.UnixMilli(got).UTC(), c.want)
		}
	}
	for days, ok := range map[int]bool{0: true, 1: true, MaxLogDays: true, -1: false, MaxLogDays + 1: false} {
		if err := (Retention{LogDays: days}).Check(); (err == nil) != ok {
			t.Errorf("%d days: %v", days, err)
		}
	}
}
