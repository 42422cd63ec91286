package sms

import "time"

// Forecast is when a number of calls will have left.
type Forecast struct {
	Starts time.Time     // the first may leave
	Ends   time.Time     // the last has left; zero: not within a year
	Takes  time.Duration // of sending, without the pauses
	Pauses int           // times that the sending hours interrupt it
}

// mostCalls keeps a forecast inside what a time.Duration holds.
const mostCalls = 100_000_000

// Foresee says when calls will have left that go out one after another at a
// rate (§8), only within the sending hours, from a moment on. Times are in the
// zone of start, and so are the hours.
func Foresee(calls int64, perMinute int, hours Hours, start time.Time) Forecast {
	calls = min(max(calls, 0), mostCalls)
	f := Forecast{Starts: hours.Next(start), Takes: time.Duration(calls) * time.Minute / time.Duration(max(perMinute, 1))}
	if f.Takes > ScheduleMost {
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
		if at = hours.Next(closes); at.Sub(start) > ScheduleMost {
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

// closes is the end of the part of the day that is open at a moment.
func (h Hours) closes(at time.Time) time.Time {
	for day := range 3 {
		ends := time.Date(at.Year(), at.Month(), at.Day()+day, h.To/60, h.To%60, 0, 0, at.Location())
		if ends.After(at) {
			return ends
		}
	}
	return at
}
