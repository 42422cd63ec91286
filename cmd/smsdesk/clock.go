package main

import (
	"context"
	"errors"
	"time"

	"smsdesk/internal/health"
	"smsdesk/internal/sms"
	"smsdesk/internal/workers"
	"smsdesk/storage"
)

// watchClock makes schedules wait while the computer's clock disagrees with the
// provider or with the journal, of which newest is the time of the last line:
// zero when it is not known.
func (s *server) watchClock(newest func() time.Time) {
	s.accounts.TellTime(workers.NewClock(s.db, newest, wall, storage.Steady, s.log))
}

// elapsed is a clock that nobody can set.
func elapsed() time.Duration { return time.Duration(storage.Steady().Ms) * time.Millisecond }

// clock compares the computer's clock with what each account's provider last
// said about the time.
func (x *examination) clock(ctx context.Context) (list []finding, err error) {
	accounts, err := x.db.Accounts(ctx)
	for _, a := range accounts {
		r, unread := x.db.ClockReading(ctx, a.ID)
		switch {
		case unread == nil:
			list = append(list, clockFinding(a, r))
		case !errors.Is(unread, sms.ErrNotFound):
			err = errors.Join(err, unread)
		}
	}
	return list, err
}

func clockFinding(a sms.Account, r health.ClockReading) finding {
	by, since := r.Ahead(storage.Steady(), wall().UnixMilli())
	when := ""
	if !since {
		// The computer was started since, so only what was seen then is known.
		by = time.Duration(r.Wall-r.Service) * time.Millisecond
		when = " when it last answered, on " + time.UnixMilli(r.Service).In(a.Location()).Format("2 January 2006 at 3:04pm")
	}
	if sentence := health.ClockAgainst(by); sentence != "" {
		return found(fault, "account %q%s: %s", a.Name, when, sentence)
	}
	return found(fine, "the clock agrees with the provider of account %q to %d s%s", a.Name,
		int(by.Abs().Round(time.Second)/time.Second), when)
}
