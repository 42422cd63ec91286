package sms

import "time"

// Steady is a moment by a clock that nobody can set: milliseconds since the
// computer was started, and which start that was.
type Steady struct {
	Boot int64 // 0: not known
	Ms   int64
}

// Since is how long before s the other moment was. It is not known when the
// computer was started in between, or when the clock cannot be read.
func (s Steady) Since(before Steady) (d time.Duration, known bool) {
	if s.Boot == 0 || s.Boot != before.Boot {
		return 0, false
	}
	return time.Duration(s.Ms-before.Ms) * time.Millisecond, true
}

// Throttle is what answers 429 have left in force. The zero value is nothing.
type Throttle struct {
	Wait time.Duration // how long the service told us to wait
	Left time.Duration // of it, with what was added to it
	Rate int           // requests a minute; 0: the configured ones
	Ago  time.Duration // since when: Rate grows by one each minute
}

// None says that nothing is in force.
func (t Throttle) None() bool { return t.Left <= 0 && t.Rate == 0 }

// CallsBefore is what a rate limiter has to know of earlier processes.
type CallsBefore struct {
	// Ended is how long ago calls have ended that may still hold a place.
	Ended    []time.Duration
	Throttle Throttle
	// Since names the beginning from which Ended was reckoned: another one
	// means that there are calls which nobody here has made.
	Since Steady
}
