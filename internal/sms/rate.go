package sms

import (
	"time"

	"smsdesk/internal/health"
)

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
	Since health.Steady
}
