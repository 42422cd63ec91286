package sms

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestForesee(t *testing.T) {
	lagos, err := time.LoadLocation("Africa/Lagos")
	if err != nil {
		t.Fatal(err)
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(zone *time.Location, day, hour, minute int) time.Time {
		return time.Date(2026, 6, day, hour, minute, 0, 0, zone)
	}
	day, night := Hours{From: 8 * 60, To: 20 * 60}, Hours{From: 22 * 60, To: 2 * 60}
	for name, c := range map[string]struct {
		calls       int64
		rate        int
		hours       Hours
		start       time.Time
		starts, end time.Time
		pauses      int
	}{
		"nothing":                         {0, 100, Hours{}, at(lagos, 3, 10, 0), at(lagos, 3, 10, 0), at(lagos, 3, 10, 0), 0},
		"always":                          {1200, 100, Hours{}, at(lagos, 3, 23, 55), at(lagos, 3, 23, 55), at(lagos, 4, 0, 7), 0},
		"fits into the day":               {1200, 100, day, at(lagos, 3, 10, 0), at(lagos, 3, 10, 0), at(lagos, 3, 10, 12), 0},
		"ends with the day":               {1200, 100, day, at(lagos, 3, 19, 48), at(lagos, 3, 19, 48), at(lagos, 3, 20, 0), 0},
		"a minute over":                   {1300, 100, day, at(lagos, 3, 19, 48), at(lagos, 3, 19, 48), at(lagos, 4, 8, 1), 1},
		"goes on tomorrow":                {12_000, 100, day, at(lagos, 3, 19, 15), at(lagos, 3, 19, 15), at(lagos, 4, 9, 15), 1},
		"begins before the day":           {1200, 100, day, at(lagos, 3, 6, 30), at(lagos, 3, 8, 0), at(lagos, 3, 8, 12), 0},
		"begins after the day":            {1200, 100, day, at(lagos, 3, 21, 30), at(lagos, 4, 8, 0), at(lagos, 4, 8, 12), 0},
		"three days":                      {3 * 72_000, 100, day, at(lagos, 3, 8, 0), at(lagos, 3, 8, 0), at(lagos, 5, 20, 0), 2},
		"over midnight":                   {300 * 100, 100, night, at(lagos, 3, 23, 0), at(lagos, 3, 23, 0), at(lagos, 4, 24, 0), 1},
		"over midnight, after midnight":   {6000, 100, night, at(lagos, 3, 0, 30), at(lagos, 3, 0, 30), at(lagos, 3, 1, 30), 0},
		"a rate of none counts as one":    {3, 0, Hours{}, at(lagos, 3, 10, 0), at(lagos, 3, 10, 0), at(lagos, 3, 10, 3), 0},
		"the hours are those of the zone": {1200, 100, day, at(berlin, 3, 7, 59), at(berlin, 3, 8, 0), at(berlin, 3, 8, 12), 0},
		"more than a year":                {1_000_000, 1, day, at(lagos, 3, 8, 0), at(lagos, 3, 8, 0), time.Time{}, 0},
		"a minute a day, for over a year": {400, 1, Hours{From: 60, To: 61}, at(lagos, 3, 1, 0), at(lagos, 3, 1, 0), time.Time{}, 366},
		"clocks put back inside the hours": {4 * 60, 1, Hours{From: 60, To: 4 * 60},
			time.Date(2026, 10, 25, 1, 0, 0, 0, berlin), time.Date(2026, 10, 25, 1, 0, 0, 0, berlin),
			time.Date(2026, 10, 25, 4, 0, 0, 0, berlin), 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := Foresee(c.calls, c.rate, c.hours, c.start)
			if !got.Starts.Equal(c.starts) || !got.Ends.Equal(c.end) || got.Pauses != c.pauses {
				t.Errorf("%v to %v with %d pauses, want %v to %v with %d", got.Starts, got.Ends, got.Pauses, c.starts, c.end,
					c.pauses)
			}
		})
	}
}

// Whatever the hours, exactly as many open minutes pass as the calls take.
func TestForeseeSpendsOpenMinutesOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hours := Hours{From: rapid.IntRange(0, 1439).Draw(t, "from"), To: rapid.IntRange(0, 1439).Draw(t, "to")}
		for d := range rapid.IntRange(0, 6).Draw(t, "own days") {
			hours.Own[d] = DayHours{Set: true, Closed: rapid.Bool().Draw(t, "closed"),
				From: rapid.IntRange(0, 1439).Draw(t, "own from"), To: rapid.IntRange(0, 1439).Draw(t, "own to")}
		}
		start := time.Date(2026, 6, 3, 0, rapid.IntRange(0, 1439).Draw(t, "start"), 0, 0, time.UTC)
		calls := rapid.Int64Range(1, 3000).Draw(t, "calls")
		got := Foresee(calls, 1, hours, start)
		if got.Ends.IsZero() {
			return
		}
		open := int64(0)
		for at := start; at.Before(got.Ends); at = at.Add(time.Minute) {
			if hours.Open(at) {
				open++
			}
		}
		if open != calls {
			t.Fatalf("%d minutes are open from %v to %v, want %d", open, start, got.Ends, calls)
		}
	})
}

func TestTurns(t *testing.T) {
	for _, c := range []struct {
		own    int64
		others []int64
		want   int64
	}{{10, nil, 10}, {10, []int64{3}, 13}, {10, []int64{10, 50}, 30}, {0, []int64{5}, 0}} {
		if got := Turns(c.own, c.others); got != c.want {
			t.Errorf("Turns(%d, %v) = %d, want %d", c.own, c.others, got, c.want)
		}
	}
}
