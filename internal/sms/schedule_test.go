package sms

import (
	"errors"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // zones must not depend on the machine

	"pgregory.net/rapid"
)

func zone(t interface{ Fatalf(string, ...any) }, name string) *time.Location {
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return z
}

var zones = []string{"Africa/Lagos", "Africa/Casablanca", "Africa/Cairo", "Africa/Johannesburg", "Europe/London",
	"Europe/Berlin", "America/New_York",
	"America/St_Johns", "America/Santiago", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Chatham"}

// every lists the moments by trying each minute around: slow, and by another
// way than the code that is tested.
func every(wall time.Time, z *time.Location) (list []int64) {
	for at := wall.Add(-16 * time.Hour); at.Before(wall.Add(16 * time.Hour)); at = at.Add(time.Minute) {
		if at.In(z).Format("2006-01-02 15:04") == wall.Format("2006-01-02 15:04") {
			list = append(list, at.UnixMilli())
		}
	}
	return list
}

// TestMomentsAroundEveryChangeOfTheClock: 12 zones, two years.
func TestMomentsAroundEveryChangeOfTheClock(t *testing.T) {
	changes, gaps, overlaps := 0, 0, 0
	for _, name := range zones {
		z := zone(t, name)
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, z)
		for {
			_, at = at.ZoneBounds()
			if at.IsZero() || at.Year() > 2027 {
				break
			}
			changes++
			before := at.Add(-time.Second).In(z)
			_, offset := before.Zone()
			wall := at.UTC().Add(time.Duration(offset) * time.Second)
			for minute := -70; minute <= 70; minute += 5 {
				asked := wall.Add(time.Duration(minute) * time.Minute)
				want, got := every(asked, z), Occurrences(asked, z)
				if len(got) != len(want) {
					t.Fatalf("%s %s: %d moments, want %d", name, asked, len(got), len(want))
				}
				for i, m := range got {
					if m.UnixMilli() != want[i] {
						t.Errorf("%s %s: %s", name, asked, m)
					}
				}
				switch len(want) {
				case 0:
					gaps++
				case 2:
					overlaps++
				}
			}
		}
	}
	if changes < 30 || gaps < 80 || overlaps < 80 {
		t.Errorf("%d changes, %d gaps, %d overlaps: this proves nothing", changes, gaps, overlaps)
	}
}

// A moment that is read is exactly the one whose clock shows what was typed.
func TestReadScheduleRoundTrips(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	rapid.Check(t, func(r *rapid.T) {
		z := zone(r, rapid.SampledFrom(zones).Draw(r, "zone"))
		wall := now.Add(24*time.Hour + time.Duration(rapid.IntRange(0, 360*24*60).Draw(r, "minute"))*time.Minute)
		which := rapid.SampledFrom([]DSTChoice{"", Earlier, Later}).Draw(r, "which")
		s, err := ReadSchedule(wall.Format("2006-01-02"), wall.Format("15:04"), which, z, now)
		var bad Invalid
		switch n := len(every(wall, z)); {
		case n == 0:
			if !errors.As(err, &bad) || !strings.Contains(bad["time"], "the clocks go forward") {
				r.Fatalf("a time that does not exist: %v %v", s, err)
			}
		case n == 2 && which == "":
			if !errors.As(err, &bad) || bad["which"] == "" {
				r.Fatalf("two moments and no question: %v %v", s, err)
			}
		default:
			if err != nil || s.Time().Format("2006-01-02 15:04") != wall.Format("2006-01-02 15:04") || s.Zone != z.String() ||
				s.Moved() {
				r.Fatalf("%v: %+v %v", wall, s, err)
			}
			if n == 2 && s.DSTChoiceAt() != which || n == 1 && s.DSTChoiceAt() != "" {
				r.Fatalf("asked for %q, is %q", which, s.DSTChoiceAt())
			}
		}
	})
}

func TestReadScheduleSaysWhatIsWrong(t *testing.T) {
	lagos := zone(t, "Africa/Lagos")
	now := time.Date(2026, 6, 3, 9, 48, 0, 0, time.UTC)
	for _, c := range []struct{ day, clock, field, sentence string }{
		{"", "09:00", "day", "Enter a date, for example 2026-06-04"},
		{"2026-02-30", "09:00", "day", "Enter a date, for example 2026-06-04"},
		{"2026-06-04", "", "time", "Enter a time, for example 09:00"},
		{"2026-06-04", "25:00", "time", "Enter a time, for example 09:00"},
		{"2026-06-03", "10:48", "time", "Time must be in the future"},
		{"2027-06-03", "10:49", "time", "Date must be within the next year"},
	} {
		_, err := ReadSchedule(c.day, c.clock, "", lagos, now)
		var bad Invalid
		if !errors.As(err, &bad) || bad[c.field] != c.sentence {
			t.Errorf("%q %q: %v", c.day, c.clock, err)
		}
	}
	for _, typed := range [][2]string{{"2026-06-04", "09:00"}, {"4/6/2026", "9am"}, {"4 June 2026", "9:00 AM"},
		{" 4.6.2026 ", "9.00am"}} {
		s, err := ReadSchedule(typed[0], typed[1], "", lagos, now)
		if want := (Schedule{At: time.Date(2026, 6, 4, 8, 0, 0, 0, time.UTC).UnixMilli(), Zone: "Africa/Lagos",
			Offset: 3600}); err != nil || s != want {
			t.Errorf("%q: %+v %v", typed, s, err)
		}
	}
}

func TestProposedTimes(t *testing.T) {
	lagos := zone(t, "Africa/Lagos")
	now := time.Date(2026, 12, 31, 22, 59, 1, 0, time.UTC)
	if got := InAnHour(now, lagos).Time().Format("2006-01-02 15:04:05"); got != "2027-01-01 01:00:00" {
		t.Error(got)
	}
	if got := TomorrowMorning(now, lagos).Time().Format("2006-01-02 15:04:05"); got != "2027-01-01 09:00:00" {
		t.Error(got)
	}
	if got := TomorrowMorning(now.Add(time.Minute),
		lagos).Time().Format("2006-01-02 15:04:05"); got != "2027-01-02 09:00:00" {
		t.Error(got)
	}
}

func TestDueIsNeverEarlyAndNotForLong(t *testing.T) {
	s := Schedule{At: 1_000_000_000}
	at := time.UnixMilli(s.At)
	for _, c := range []struct {
		behind    time.Duration
		due, late bool
	}{{-time.Millisecond, false, false}, {0, true, false}, {MaxLate, true, false},
		{MaxLate + time.Millisecond, true, true}} {
		if due, late := s.Due(at.Add(c.behind)); due != c.due || late != c.late {
			t.Errorf("%s behind: due %v, late %v", c.behind, due, late)
		}
	}
}

// a zone whose rules changed, and one that is gone.
func TestAScheduleKnowsWhenItsZoneChanged(t *testing.T) {
	at := time.Date(2026, 6, 4, 8, 0, 0, 0, time.UTC).UnixMilli()
	for name, c := range map[string]struct {
		s     Schedule
		moved bool
		meant string
	}{
		"as chosen":     {Schedule{At: at, Zone: "Africa/Lagos", Offset: 3600}, false, "09:00"},
		"other rules":   {Schedule{At: at, Zone: "Africa/Lagos", Offset: 0}, true, "08:00"},
		"zone is gone":  {Schedule{At: at, Zone: "Africa/Atlantis", Offset: 7200}, true, "10:00"},
		"not scheduled": {Schedule{Offset: 5}, false, "00:00"},
	} {
		if got := c.s.Meant().Format("15:04"); c.s.Moved() != c.moved || got != c.meant {
			t.Errorf("%s: moved %v, meant %s", name, c.s.Moved(), got)
		}
	}
}
