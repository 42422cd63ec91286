package sms

import "time"

// Forecast is when a number of calls will have left.
type Forecast struct {
	Starts time.Time     // the first may leave
	Ends   time.Time     // the last has left; zero: not within a year
	Takes  time.Duration // of sending, without the pauses
	Pauses int           // times that the sending hours interrupt it
}

// maxCalls keeps a forecast inside what a time.Duration holds.
const maxCalls = 100_000_000

// Foresee says when calls will have left that go out one after another at a
// rate (§8), only within the sending hours, from a moment on. Times are in the
// zone of start, and so are the hours.
func Foresee(calls int64, perMinute int, hours Hours, start time.Time) Forecast {
	calls = min(max(calls, 0), maxCalls)
	f := Forecast{Starts: hours.Next(start), Takes: time.Duration(calls) * time.Minute / time.Duration(max(perMinute, 1))}
	if f.Takes > MaxScheduleAhead {
		return f
	}
	at, left := f.Starts, f.Takes
	for !hours.Always() {
		closes := hours.closes(at)
		if room := closes.Sub(at); left <= room {
			break
		} else {
			left -= max(room, 0)
		}
		f.Pauses++
		if at = hours.Next(closes); at.Sub(start) > MaxScheduleAhead {
			return f
		}
	}
	f.Ends = at.Add(left)
	return f
}

// Turns is how many calls leave until one campaign is done, when campaigns of
// one account take turns: each of the others puts in one for one of its own,
// as long as it has any.
func Turns(own int64, others []int64) int64 {
	all := own
	for _, n := range others {
		all += min(n, own)
	}
	return all
}

// closes is the end of the part of the day that is open at a moment; more than
// a year ahead where it never ends.
func (h Hours) closes(at time.Time) time.Time {
	zone := at.Location()
	at = h.in(at)
	if h.wholeWeek() {
		return at.Add(2 * MaxScheduleAhead).In(zone)
	}
	for h.Open(at) {
		ends := at
		for back := range 2 {
			begun, end, closed := h.window(at, back)
			if !closed && !at.Before(begun) && end.After(ends) {
				ends = end
			}
		}
		if ends.Equal(at) {
			break
		}
		at = ends
	}
	return at.In(zone)
}

// window is the part of the day that begins so many days before at's.
func (h Hours) window(at time.Time, back int) (begins, ends time.Time, closed bool) {
	moment := func(day, minute int) time.Time {
		return time.Date(at.Year(), at.Month(), at.Day()+day, minute/60, minute%60, 0, 0, at.Location())
	}
	from, to, closed := h.Day((at.Weekday() + 7 - time.Weekday(back)) % 7)
	switch {
	case from == to:
		return moment(-back, 0), moment(1-back, 0), closed
	case to < from:
		return moment(-back, from), moment(1-back, to), closed
	}
	return moment(-back, from), moment(-back, to), closed
}

// wholeWeek says that no minute of the week is closed.
func (h Hours) wholeWeek() bool {
	for d := range h.Own {
		if from, to, closed := h.Day(time.Weekday(d)); closed || from != to {
			return false
		}
	}
	return true
}
