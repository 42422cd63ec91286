package workers

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"smsdesk/internal/health"
	"smsdesk/internal/sms"
)

// Clock compares the computer's clock with what services say about the time and
// with the journal. What a service said once goes on by a clock that nobody can
// set, so that a wall clock that is set is noticed, and forgiven, at once.
type Clock struct {
	store   clockStore
	journal func() time.Time
	wall    func() time.Time
	steady  func() health.Steady
	log     *slog.Logger
	began   health.Steady

	mu sync.Mutex
	by map[int64]*heard
}

type clockStore interface {
	ClockReading(ctx context.Context, account int64) (health.ClockReading, error)
	PutClockReading(ctx context.Context, account int64, r health.ClockReading) error
}

// heard is what one account's service has said.
type heard struct {
	answered bool
	// latest holds the service's times at the steady clock's zero, ms UTC, the
	// oldest first.
	latest []int64
	at     int64 // of the last one, by the steady clock
	stored health.ClockReading
	said   health.ClockState
}

const (
	// hearInterval keeps a burst of answers from outvoting what was heard before.
	hearInterval  = 5 * time.Second
	maxHeard      = 5
	storeInterval = 10 * time.Minute
	// maxUnheard is how long after a start schedules wait for the first answer
	// of a service: less than sms.MaxLate, so that none is late by it.
	maxUnheard = 10 * time.Minute
)

// NewClock returns a Clock that has heard nothing. journal is the time of the
// journal's newest line, zero when it is not known; steady is a clock that
// nobody can set.
func NewClock(store clockStore, journal, wall func() time.Time, steady func() health.Steady, log *slog.Logger) *Clock {
	return &Clock{store: store, journal: journal, wall: wall, steady: steady, log: log, began: steady(),
		by: map[int64]*heard{}}
}

// Hear notes that the account's service answered now, and what time it was
// there: zero when the answer did not say.
func (c *Clock) Hear(account int64, service time.Time) {
	r, news := c.hear(account, service)
	if !news {
		return
	}
	// One that is not stored is not tried again: this stands in the way of calls.
	if err := c.store.PutClockReading(context.Background(), account, r); err != nil {
		c.log.Warn("what time it is for the service is not stored", "account", account, "error", err)
	}
}

// hear says what to store where that is something new.
func (c *Clock) hear(account int64, service time.Time) (r health.ClockReading, news bool) {
	now, wall := c.steady(), c.wall()
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.account(account)
	first := len(h.latest) == 0
	h.answered = true
	if service.IsZero() || !first && now.Ms-h.at < hearInterval.Milliseconds() {
		return r, false
	}
	h.latest, h.at = append(h.latest, service.UnixMilli()-now.Ms), now.Ms
	if len(h.latest) > maxHeard {
		h.latest = slices.Delete(h.latest, 0, 1)
	}
	zero := h.zero(wall.UnixMilli() - now.Ms)
	r = health.ClockReading{At: now, Service: zero + now.Ms, Wall: wall.UnixMilli()}
	moved := zero - (h.stored.Service - h.stored.At.Ms)
	old, known := now.Since(h.stored.At)
	if known && old < storeInterval && max(moved, -moved) < hearInterval.Milliseconds() {
		return r, false
	}
	h.stored = r
	return r, true
}

// account is what was heard, at first in an earlier process under the same
// start of the computer.
func (c *Clock) account(id int64) *heard {
	h := c.by[id]
	if h != nil {
		return h
	}
	h = &heard{}
	c.by[id] = h
	r, err := c.store.ClockReading(context.Background(), id)
	if err != nil && !errors.Is(err, sms.ErrNotFound) {
		c.log.Warn("what time it was for the service is not read", "account", id, "error", err)
	}
	if _, known := c.steady().Since(r.At); err == nil && known {
		h.answered, h.stored, h.at = true, r, r.At.Ms
		// It was the middle of several.
		h.latest = []int64{r.Service - r.At.Ms, r.Service - r.At.Ms, r.Service - r.At.Ms}
	}
	return h
}

// zero is the service's time at the steady clock's zero: the middle of what was
// heard, so that one odd answer changes nothing. Of two middle ones it is that
// which is farther from ours.
func (h *heard) zero(ours int64) int64 {
	sorted := slices.Sorted(slices.Values(h.latest))
	one, other := sorted[(len(sorted)-1)/2], sorted[len(sorted)/2]
	if max(one-ours, ours-one) > max(other-ours, ours-other) {
		return one
	}
	return other
}

// Standing is the computer's clock, which shows wall now, as the account sees
// it. A service on the same computer can show that the clock is wrong, but not
// that it is right: it has no other one.
func (c *Clock) Standing(a sms.Account, wall time.Time) health.ClockStanding {
	now := c.steady()
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.account(a.ID)
	s := c.standing(h, a, now, wall)
	if s.State != h.said {
		switch {
		case s.State == health.ClockWrong:
			c.log.Error("the computer's clock is wrong: nothing is started by a schedule", "account", a.ID, "seconds",
				int(s.By/time.Second), "against_the_journal", s.Journal)
		case h.said == health.ClockWrong:
			c.log.Info("the computer's clock is right again", "account", a.ID)
		}
		h.said = s.State
	}
	return s
}

func (c *Clock) standing(h *heard, a sms.Account, now health.Steady, wall time.Time) health.ClockStanding {
	if len(h.latest) > 0 {
		ours := wall.UnixMilli() - now.Ms
		by := time.Duration(ours-h.zero(ours)) * time.Millisecond
		if by > health.MaxClockDrift || by < -health.MaxClockDrift {
			return health.ClockStanding{State: health.ClockWrong, By: by}
		}
		if !a.Local() {
			return health.ClockStanding{State: health.ClockRight}
		}
	}
	if newest := c.journal(); !newest.IsZero() && wall.Sub(newest) < -health.MaxClockDrift {
		return health.ClockStanding{State: health.ClockWrong, By: wall.Sub(newest), Journal: true}
	}
	if !h.answered && now.Ms-c.began.Ms < maxUnheard.Milliseconds() {
		return health.ClockStanding{State: health.ClockUnheard}
	}
	return health.ClockStanding{State: health.ClockUnchecked}
}
