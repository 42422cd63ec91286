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
	day, night := Hours{From: 8 * 60, To: 20 * 60}, Hours{From: 22*60 + 30, To: 6 * 60}
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
		{"an opening that is left out", Hours{From: 2*60 + 30, To: 20 * 60}, york, "2026-03-08T01:00:00-05:00", "2026-03-08T03:00:00-04:00"},
		{"one that is left out in London", Hours{From: 1*60 + 30, To: 20 * 60}, london, "2026-03-28T22:00:00Z", "2026-03-29T02:00:00+01:00"},
		{"hours that are left out whole", Hours{From: 2*60 + 10, To: 2*60 + 50}, york, "2026-03-08T01:00:00-05:00", "2026-03-09T02:10:00-04:00"},
		{"an opening that comes twice, the first", Hours{From: 1*60 + 30, To: 20 * 60}, york, "2026-11-01T00:10:00-04:00", "2026-11-01T01:30:00-04:00"},
		{"an opening that comes twice, the second", Hours{From: 1*60 + 30, To: 20 * 60}, york, "2026-11-01T01:10:00-05:00", "2026-11-01T01:30:00-05:00"},
		{"a closing that comes twice", Hours{From: 20 * 60, To: 1*60 + 30}, york, "2026-11-01T01:45:00-04:00", "2026-11-01T01:00:00-05:00"},
		{"clocks that move by half an hour", Hours{From: 2*60 + 10, To: 20 * 60}, lord, "2026-10-04T01:00:00+10:30", "2026-10-04T02:30:00+11:00"},
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
	for _, c := range []struct{ zone, from string }{{"America/New_York", "2026-03-07T12:00:00-05:00"},
		{"America/New_York", "2026-10-31T12:00:00-04:00"},
		{"Europe/London", "2026-03-28T12:00:00Z"}, {"Australia/Lord_Howe", "2026-04-04T12:00:00+11:00"}, {"Africa/Lagos", "2026-01-01T12:00:00+01:00"}} {
		weekend := [7]DayHours{time.Sunday: {Set: true, Closed: true}, time.Saturday: {Set: true, From: 1320, To: 150}}
		for _, h := range []Hours{{From: 8 * 60, To: 20 * 60}, {From: 90, To: 105}, {From: 150, To: 600}, {From: 60, To: 120},
			{From: 1200, To: 100}, {From: 0, To: 1}, {From: 1439, To: 0},
			{From: 8 * 60, To: 20 * 60, Own: weekend}, {Own: weekend}, {From: 8 * 60, To: 20 * 60, Own: weekend, Zone: "Africa/Nairobi"}} {
			first := zoned(t, c.zone, c.from)
			opens := opensFrom(h, first, 8*24*60)
			for at := first; at.Before(first.Add(24 * time.Hour)); at = at.Add(7*time.Minute + 13*time.Second) {
				want := at
				if minute := at.Truncate(time.Minute); !h.Open(at) {
					want = minute.Add(time.Duration(opens[minute.Sub(first)/time.Minute]) * time.Minute)
				}
				if got := h.Next(at); !got.Equal(want) {
					t.Fatalf("%s in %s at %s: %s, want %s", h.Words(), c.zone, at, got, want)
				}
			}
		}
	}
}

// opensFrom walks minute by minute and says of each how many minutes after it
// the next open one comes.
func opensFrom(h Hours, first time.Time, minutes int) []int {
	after := make([]int, minutes)
	for i, next := minutes-1, minutes; i >= 0; i-- {
		after[i] = next - i
		if h.Open(first.Add(time.Duration(i) * time.Minute)) {
			next = i
		}
	}
	return after
}

func TestSendsAt(t *testing.T) {
	night := zoned(t, "Africa/Lagos", "2026-11-21T03:10:00+01:00")
	morning := zoned(t, "Africa/Lagos", "2026-11-21T08:00:00+01:00")
	a := Account{Timezone: "Africa/Lagos", Hours: Hours{From: 8 * 60, To: 20 * 60}}
	for _, c := range []struct {
		campaign Campaign
		want     time.Time
	}{{Campaign{}, morning}, {Campaign{Urgent: true}, morning},
		{Campaign{HandOver: true, SendAt: morning.UnixMilli()}, night}, {Campaign{TestOf: 7}, night}} {
		if got := SendsAt(a, c.campaign, night.UTC()); !got.Equal(c.want) {
			t.Errorf("%+v: %s, want %s", c.campaign, got, c.want)
		}
	}
	if got := SendsAt(Account{Timezone: "Africa/Lagos"}, Campaign{}, night); !got.Equal(night) {
		t.Errorf("without quiet hours: %s", got)
	}
}

func TestReadHours(t *testing.T) {
	const both, one, different = "Enter both times, or leave both empty", "Enter a time of day, for example 08:00",
		"Start and end must be different. Leave both empty to send at any time"
	for _, c := range []struct {
		from, to string
		want     Hours
		bad      Invalid
	}{
		{"", "", Hours{}, nil},
		{" 08:00 ", "20:00", Hours{From: 480, To: 1200}, nil},
		{"8am", "8:30pm", Hours{From: 480, To: 1230}, nil},
		{"22:00", "06:00", Hours{From: 1320, To: 360}, nil},
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
	if got := (Hours{From: 480, To: 1200}).Pause(); got != "20:00 to 08:00" {
		t.Errorf("the pause is %q", got)
	}
}

func TestHoursByWeekday(t *testing.T) {
	h := Hours{From: 8 * 60, To: 20 * 60, Own: [7]DayHours{time.Sunday: {Set: true, Closed: true},
		time.Saturday: {Set: true, From: 9 * 60, To: 13 * 60}}}
	if got := h.Words(); got != "08:00 to 20:00, Saturday 09:00 to 13:00, closed on Sunday" {
		t.Error(got)
	}
	for at, want := range map[string]string{
		"2026-06-05T19:59:00+01:00": "2026-06-05T19:59:00+01:00", // a Friday
		"2026-06-05T20:00:00+01:00": "2026-06-06T09:00:00+01:00",
		"2026-06-06T13:00:00+01:00": "2026-06-08T08:00:00+01:00",
		"2026-06-07T12:00:00+01:00": "2026-06-08T08:00:00+01:00",
	} {
		if got := h.Next(zoned(t, "Africa/Lagos", at)); got.Format(time.RFC3339) != want {
			t.Errorf("after %s it opens at %s, want %s", at, got.Format(time.RFC3339), want)
		}
	}
	h.Zone = "Africa/Nairobi" // two hours ahead of Lagos
	if got := h.Next(zoned(t, "Africa/Lagos", "2026-06-05T03:00:00+01:00")).Format(
		time.RFC3339); got != "2026-06-05T06:00:00+01:00" {
		t.Errorf("Nairobi time it opens at %s", got)
	}
	closed := Hours{From: 60, To: 120}
	for d := range closed.Own {
		closed.Own[d] = DayHours{Set: true, Closed: true}
	}
	if closed.Valid() || (Hours{From: 60, To: 120, Zone: "Mars/Olympus"}).Valid() || !h.Valid() || h.Always() {
		t.Error("hours that never open, or a zone that is none, are taken")
	}
}
