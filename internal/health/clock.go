package health

import (
	"fmt"
	"time"
)

// ClockReading is what time it was for a service at a moment.
type ClockReading struct {
	At      Steady
	Service int64 // ms UTC, by the service
	Wall    int64 // ms UTC, by the computer's clock
}

// Ahead is by how much the computer's clock, which shows wall now, is ahead of
// the service. It is not known when the computer was started since.
func (r ClockReading) Ahead(now Steady, wall int64) (by time.Duration, known bool) {
	since, known := now.Since(r.At)
	return time.Duration(wall-r.Service)*time.Millisecond - since, known
}

// MaxClockDrift is how far the computer's clock may be from that of a service, and
// behind what the journal has seen, before nothing starts by a schedule.
const MaxClockDrift = time.Minute

// ClockState is what is known of the computer's clock.
type ClockState int

// The states. Nothing starts by a schedule while the clock is Unheard or Wrong.
const (
	ClockUnheard   ClockState = iota // no service has answered yet
	ClockUnchecked                   // nobody can tell
	ClockRight                       // a service elsewhere agrees
	ClockWrong
)

// Look is what the clocks said when somebody looked for what is due.
type Look struct {
	Now    time.Time
	Jump   time.Duration           // by how much the wall clock ran away since the look before
	Clocks map[int64]ClockStanding // by account; one that is not in it was not asked
	Wrong  map[int64]bool          // accounts that a wrong clock held at the look before
}

// ClockStanding is the computer's clock as one account sees it.
type ClockStanding struct {
	State   ClockState
	By      time.Duration // ahead; of ClockWrong
	Journal bool          // it is the journal that disagrees, not the service
}

// Holds says that nothing may start by a schedule.
func (s ClockStanding) Holds() bool { return s.State == ClockUnheard || s.State == ClockWrong }

// Sentence says what is wrong and what to do, "" when nothing is.
func (s ClockStanding) Sentence() string {
	switch {
	case s.State != ClockWrong:
		return ""
	case s.Journal:
		return clockSentence(s.By, "the last request in the journal")
	}
	return clockSentence(s.By, "the provider's")
}

// ClockAgainst is what a clock that is so far ahead of the provider's has to be
// said of, "" when it is near enough.
func ClockAgainst(by time.Duration) string {
	if by.Abs() <= MaxClockDrift {
		return ""
	}
	return clockSentence(by, "the provider's")
}

func clockSentence(by time.Duration, against string) string {
	direction := "ahead of"
	if by < 0 {
		direction = "behind"
	}
	return fmt.Sprintf("The clock of the computer that runs smsdesk is %s %s %s. Scheduled campaigns wait. "+
		"Set the computer's clock, best by a time service (NTP); scheduled campaigns then continue automatically", clockSpan(by.Abs()), direction, against)
}

func clockSpan(by time.Duration) string {
	switch minutes := int(by.Round(time.Minute) / time.Minute); {
	case minutes < 2:
		return fmt.Sprintf("%d seconds", int(by.Round(time.Second)/time.Second))
	case minutes < 120:
		return fmt.Sprintf("%d minutes", minutes)
	case minutes < 48*60:
		return fmt.Sprintf("%d hours", (minutes+30)/60)
	default:
		return fmt.Sprintf("%d days", (minutes+12*60)/(24*60))
	}
}

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
