package sms

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func zoned(t *testing.T, zone, at string) time.Time {
	t.Helper()
	l, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	m, err := time.Parse(time.RFC3339, at)
	if err != nil {
		t.Fatal(err)
	}
	return m.In(l)
}

func TestHours(t *testing.T) {
	const lagos, york, london, lord = "Africa/Lagos", "America/New_York", "Europe/London", "Australia/Lord_Howe"
	day, night := Hours{8 * 60, 20 * 60}, Hours{22*60 + 30, 6 * 60}
	for _, c := range []struct {
		name           string
		hours          Hours
		zone, at, next string // next as the clock shows it, "": at once
	}{
		{"always", Hours{}, lagos, "2026-11-21T02:00:00+01:00", ""},
		{"the first minute", day, lagos, "2026-11-21T08:00:00+01:00", ""},
		{"the last one", day, lagos, "2026-11-21T19:59:59.999+01:00", ""},
		{"before", day, lagos, "2026-11-21T07:59:59.999+01:00", "2026-11-21T08:00:00+01:00"},
		{"behind", day, lagos, "2026-11-21T20:00:00+01:00", "2026-11-22T08:00:00+01:00"},
		{"the year's end", day, lagos, "2026-12-31T23:59:00+01:00", "2027-01-01T08:00:00+01:00"},
		{"over midnight, before it", night, lagos, "2026-11-21T22:30:00+01:00", ""},
		{"over midnight, behind it", night, lagos, "2026-11-21T05:59:00+01:00", ""},
		{"over midnight, closed", night, lagos, "2026-11-21T06:00:00+01:00", "2026-11-21T22:30:00+01:00"},
		{"the night on which clocks go on", day, york, "2026-03-07T21:00:00-05:00", "2026-03-08T08:00:00-04:00"},
		{"the night on which they go back", day, york, "2026-10-31T21:00:00-04:00", "2026-11-01T08:00:00-05:00"},
		{"an opening that is left out", Hours{2*60 + 30, 20 * 60}, york, "2026-03-08T01:00:00-05:00", "2026-03-08T03:00:00-04:00"},
		{"one that is left out in London", Hours{1*60 + 30, 20 * 60}, london, "2026-03-28T22:00:00Z", "2026-03-29T02:00:00+01:00"},
		{"hours that are left out whole", Hours{2*60 + 10, 2*60 + 50}, york, "2026-03-08T01:00:00-05:00", "2026-03-09T02:10:00-04:00"},
		{"an opening that comes twice, the first", Hours{1*60 + 30, 20 * 60}, york, "2026-11-01T00:10:00-04:00", "2026-11-01T01:30:00-04:00"},
		{"an opening that comes twice, the second", Hours{1*60 + 30, 20 * 60}, york, "2026-11-01T01:10:00-05:00", "2026-11-01T01:30:00-05:00"},
		{"a closing that comes twice", Hours{20 * 60, 1*60 + 30}, york, "2026-11-01T01:45:00-04:00", "2026-11-01T01:00:00-05:00"},
		{"clocks that move by half an hour", Hours{2*60 + 10, 20 * 60}, lord, "2026-10-04T01:00:00+10:30", "2026-10-04T02:30:00+11:00"},
	} {
		at := zoned(t, c.zone, c.at)
		want := at
		if c.next != "" {
			want = zoned(t, c.zone, c.next)
		}
		if got := c.hours.Next(at); !got.Equal(want) || !c.hours.Open(got) {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
	}
}

// TestNextOpeningIsTheFirst holds Next against a walk minute by minute over
// days on which clocks change.
func TestNextOpeningIsTheFirst(t *testing.T) {
	for _, c := range []struct{ zone, from string }{{"America/New_York", "2026-03-07T12:00:00-05:00"}, {"America/New_York", "2026-10-31T12:00:00-04:00"},
		{"Europe/London", "2026-03-28T12:00:00Z"}, {"Australia/Lord_Howe", "2026-04-04T12:00:00+11:00"}, {"Africa/Lagos", "2026-01-01T12:00:00+01:00"}} {
		for _, h := range []Hours{{8 * 60, 20 * 60}, {90, 105}, {150, 600}, {60, 120}, {1200, 100}, {0, 1}, {1439, 0}} {
			first := zoned(t, c.zone, c.from)
			for at := first; at.Before(first.Add(24 * time.Hour)); at = at.Add(7*time.Minute + 13*time.Second) {
				want := at
				for !h.Open(want) {
					want = want.Truncate(time.Minute).Add(time.Minute)
				}
				if got := h.Next(at); !got.Equal(want) {
					t.Fatalf("%s in %s at %s: %s, want %s", h.Words(), c.zone, at, got, want)
				}
			}
		}
	}
}

func TestSendsAt(t *testing.T) {
	night := zoned(t, "Africa/Lagos", "2026-11-21T03:10:00+01:00")
	morning := zoned(t, "Africa/Lagos", "2026-11-21T08:00:00+01:00")
	a := Account{Timezone: "Africa/Lagos", Hours: Hours{8 * 60, 20 * 60}}
	for _, c := range []struct {
		campaign Campaign
		want     time.Time
	}{{Campaign{}, morning}, {Campaign{Urgent: true}, morning}, {Campaign{HandOver: true, SendAt: morning.UnixMilli()}, night}, {Campaign{TestOf: 7}, night}} {
		if got := SendsAt(a, c.campaign, night.UTC()); !got.Equal(c.want) {
			t.Errorf("%+v: %s, want %s", c.campaign, got, c.want)
		}
	}
	if got := SendsAt(Account{Timezone: "Africa/Lagos"}, Campaign{}, night); !got.Equal(night) {
		t.Errorf("without quiet hours: %s", got)
	}
}

func TestReadHours(t *testing.T) {
	const both, one, different = "Enter both times, or leave both empty", "Enter a time of day, for example 08:00", "Enter two different times, or leave both empty"
	for _, c := range []struct {
		from, to string
		want     Hours
		bad      Invalid
	}{
		{"", "", Hours{}, nil},
		{" 08:00 ", "20:00", Hours{480, 1200}, nil},
		{"8am", "8:30pm", Hours{480, 1230}, nil},
		{"22:00", "06:00", Hours{1320, 360}, nil},
		{"08:00", "", Hours{}, Invalid{"hours_to": both}},
		{"", "20:00", Hours{}, Invalid{"hours_from": both}},
		{"early", "25:00", Hours{}, Invalid{"hours_from": one, "hours_to": one}},
		{"08:00", "08:00", Hours{}, Invalid{"hours_to": different}},
	} {
		got, err := ReadHours(c.from, c.to)
		var bad Invalid
		errors.As(err, &bad)
		if d := cmp.Diff(c.bad, bad); d != "" || c.bad == nil && got != c.want {
			t.Errorf("%q to %q: %v %s", c.from, c.to, got, d)
		}
		if from, to := got.Ends(); c.bad == nil {
			if again, err := ReadHours(from, to); err != nil || again != got {
				t.Errorf("%q to %q shown as %q to %q: %v", c.from, c.to, from, to, again)
			}
		}
	}
	if got := (Hours{480, 1200}).Pause(); got != "20:00 to 08:00" {
		t.Errorf("the pause is %q", got)
	}
}
