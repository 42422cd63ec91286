package sms

import (
	"fmt"
	"strings"
	"time"
)

// Schedule is the moment at which a campaign is to start. At alone decides;
// Zone and Offset are what the person meant by it.
type Schedule struct {
	At     int64  // ms UTC
	Zone   string // IANA name
	Offset int    // seconds east of UTC that the zone had at At when it was chosen
}

const (
	// MaxScheduleAhead is how far ahead a campaign can be scheduled.
	MaxScheduleAhead = 365 * 24 * time.Hour
	// MaxLate is how late a scheduled campaign still starts by itself. After
	// that a person decides: nobody wants a text at three in the morning.
	MaxLate = 30 * time.Minute
	// MaxClockJump is how far the wall clock may run away from the monotonic one
	// between two looks before it counts as set by somebody.
	MaxClockJump = time.Minute
)

// DSTChoice says which of two moments is meant when clocks are put back and a time
// of day comes twice.
type DSTChoice string

// The two of them.
const (
	Earlier DSTChoice = "earlier"
	Later   DSTChoice = "later"
)

// ScheduleAt is the schedule for a known moment.
func ScheduleAt(at time.Time) Schedule {
	_, offset := at.Zone()
	return Schedule{At: at.UnixMilli(), Zone: at.Location().String(), Offset: offset}
}

// Time is the moment in its own zone, in UTC when the zone is not known any
// more.
func (s Schedule) Time() time.Time {
	zone, err := time.LoadLocation(s.Zone)
	if err != nil || s.Zone == "" {
		zone = time.UTC
	}
	return time.UnixMilli(s.At).In(zone)
}

// Moved says that the zone's rules are not the ones of when the time was
// chosen: the clock on the wall will show another time than was meant.
func (s Schedule) Moved() bool {
	_, offset := s.Time().Zone()
	return s.At > 0 && offset != s.Offset
}

// Meant is what the clock on the wall should show, as it was chosen.
func (s Schedule) Meant() time.Time {
	return time.UnixMilli(s.At).In(time.FixedZone(s.Zone, s.Offset))
}

// Check returns the sentence that says why a campaign cannot be scheduled for
// this moment, or "".
func (s Schedule) Check(now time.Time) string {
	switch at := time.UnixMilli(s.At); {
	case !at.After(now):
		return "Time must be in the future"
	case at.After(now.Add(MaxScheduleAhead)):
		return "Date must be within the next year"
	}
	return ""
}

// Due says what is to be done now with a campaign that was scheduled for At:
// wait, start, or hold it for a person because it is too late.
func (s Schedule) Due(now time.Time) (due, late bool) {
	behind := now.Sub(time.UnixMilli(s.At))
	return behind >= 0, behind > MaxLate
}

// Occurrences lists every moment at which clocks in the zone show this date and
// time of day, the earliest first: one as a rule, none when clocks are put
// forward past it, two when they are put back.
func Occurrences(wall time.Time, zone *time.Location) []time.Time {
	const around = 50 * time.Hour // a zone may leave out a whole day
	as := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), 0, 0, time.UTC)
	var found []time.Time
	for from := as.Add(-around).In(zone); ; {
		_, offset := from.Zone()
		_, end := from.ZoneBounds()
		at := as.Add(-time.Duration(offset) * time.Second).In(zone)
		if _, is := at.Zone(); is == offset && !at.Before(from) && (end.IsZero() || at.Before(end)) {
			found = append(found, at)
		}
		if end.IsZero() || end.After(as.Add(around)) {
			return found
		}
		from = end.In(zone)
	}
}

// ReadSchedule reads a date and a time of day as people type them, in the
// account's zone. The fields of its Invalid are day, time and which; under
// which it asks for the earlier or the later of two moments.
func ReadSchedule(day, clock string, which DSTChoice, zone *time.Location, now time.Time) (Schedule, error) {
	bad := Invalid{}
	date, dateKnown := readDay(day)
	if !dateKnown {
		bad["day"] = "Enter a date, for example " + now.In(zone).AddDate(0, 0, 1).Format("2006-01-02")
	}
	hour, minute, clockKnown := ReadClock(clock)
	if !clockKnown {
		bad["time"] = "Enter a time, for example 09:00"
	}
	if len(bad) > 0 {
		return Schedule{}, bad
	}
	wall := time.Date(date.Year(), date.Month(), date.Day(), hour, minute, 0, 0, time.UTC)
	moments := Occurrences(wall, zone)
	var chosen time.Time
	switch {
	case len(moments) == 0:
		return Schedule{}, Invalid{"time": fmt.Sprintf(
			"%s does not exist on that day because the clocks go forward. Choose another time", wall.Format("3:04pm"))}
	case len(moments) == 1 || which == Earlier:
		chosen = moments[0]
	case which == Later:
		chosen = moments[len(moments)-1]
	default:
		return Schedule{}, Invalid{"which": fmt.Sprintf(
			"%s happens twice on that day because the clocks go back. Choose the first or the second", wall.Format("3:04pm"))}
	}
	s := ScheduleAt(chosen)
	if sentence := s.Check(now); sentence != "" {
		return Schedule{}, Invalid{"time": sentence}
	}
	return s, nil
}

func readDay(text string) (time.Time, bool) {
	for _, layout := range []string{"2006-01-02", "2/1/2006", "2.1.2006", "2 January 2006", "2 Jan 2006"} {
		if t, err := time.Parse(layout, strings.TrimSpace(text)); err == nil {
			return t, t.Year() >= 2000 && t.Year() < 10000
		}
	}
	return time.Time{}, false
}

// ReadClock reads a time of day as people type it.
func ReadClock(text string) (hour, minute int, ok bool) {
	text = strings.ToLower(strings.Join(strings.Fields(text), ""))
	for _, layout := range []string{"15:04", "15:04:05", "15.04", "3:04pm", "3.04pm", "3pm"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.Hour(), t.Minute(), t.Second() == 0
		}
	}
	return 0, 0, false
}

// InAnHour proposes the next whole minute an hour from now.
func InAnHour(now time.Time, zone *time.Location) Schedule {
	return ScheduleAt(now.Add(time.Hour + time.Minute - 1).Truncate(time.Minute).In(zone))
}

// TomorrowMorning proposes 9:00 on the next day; where clocks leave that out,
// the first moment after it.
func TomorrowMorning(now time.Time, zone *time.Location) Schedule {
	y, m, d := now.In(zone).Date()
	for hour := 9; ; hour++ {
		if found := Occurrences(time.Date(y, m, d+1, hour, 0, 0, 0, time.UTC), zone); len(found) > 0 {
			return ScheduleAt(found[0])
		}
	}
}

// DSTChoiceAt says which of two moments a schedule is; "" where its time of day
// comes once.
func (s Schedule) DSTChoiceAt() DSTChoice {
	at := s.Time()
	moments := Occurrences(at, at.Location())
	switch {
	case len(moments) < 2:
		return ""
	case moments[0].UnixMilli() == s.At:
		return Earlier
	}
	return Later
}
