package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"smsdesk/internal/health"
	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// openCalls is more than there can be calls under way for one account.
const openCalls = 200

// CallsBefore is what a rate limiter of the account has to know of earlier
// processes. Calls whose end is known by the clock that nobody can set count
// from then. Those that are open end now. Of another start of the computer
// nothing is known: its latest calls, as many as the rate has places, count
// from when the account was opened first under this one, and so does the wait
// of a 429. The first opening of an account begins its row.
func (db accountStore) CallsBefore(ctx context.Context, account int64, rate int) (sms.CallsBefore, error) {
	if forgetful {
		return sms.CallsBefore{}, nil
	}
	const doing = "look for earlier calls"
	now := db.steady()
	r, err := db.read().AccountRate(ctx, account)
	known := err == nil
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return sms.CallsBefore{}, fmt.Errorf("%s: %w", doing, err)
	}
	others, err := db.read().OtherCalls(ctx, account)
	if err != nil {
		return sms.CallsBefore{}, fmt.Errorf("%s: %w", doing, err)
	}
	if !known || r.Boot != now.Boot || now.Boot == 0 || slices.Contains(others, 0) {
		err := db.update(ctx, "begin to count calls", func(t *tx) (err error) {
			if r, err = t.beginRate(ctx, account, now); err == nil {
				others, err = t.OtherCalls(ctx, account)
			}
			return err
		})
		if err != nil {
			return sms.CallsBefore{}, err
		}
	}
	calls, err := db.read().LatestCalls(ctx, account, int32(rate+openCalls))
	if err != nil {
		return sms.CallsBefore{}, fmt.Errorf("%s: %w", doing, err)
	}
	before := sms.CallsBefore{Since: health.Steady{Boot: r.Boot, Ms: r.Since}, Throttle: throttle(r, now)}
	began, _ := now.Since(before.Since)
	for _, c := range calls {
		ended, known := now.Since(health.Steady{Boot: c.Boot, Ms: c.EndedSteady})
		switch {
		case sms.AttemptState(c.State) == sms.AttemptSending:
			ended = 0
		case !known:
			ended = began
		}
		before.Ended = append(before.Ended, ended)
	}
	if r.Taken {
		before.Ended = append(before.Ended, repeat(began, rate)...)
	}
	for _, ended := range others {
		before.Ended = append(before.Ended, time.Duration(now.Ms-ended)*time.Millisecond)
	}
	return before, nil
}

func repeat(d time.Duration, n int) []time.Duration {
	list := make([]time.Duration, n)
	for i := range list {
		list[i] = d
	}
	return list
}

func throttle(r query.AccountRate, now health.Steady) sms.Throttle {
	ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	t := sms.Throttle{Wait: ms(r.Wait), Rate: int(r.Lowered)}
	if r.Wait > 0 {
		t.Left = ms(max(0, r.WaitUntil-now.Ms))
	}
	if r.Lowered > 0 {
		t.Ago = ms(max(0, now.Ms-r.LoweredAt))
	}
	return t
}

// beginRate ends what is open, and reckons the account's calls from now on where
// they are those of another start of the computer.
func (t *tx) beginRate(ctx context.Context, account int64, now health.Steady) (query.AccountRate, error) {
	r, err := t.AccountRate(ctx, account)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return r, err
	}
	if err == nil && r.Boot == now.Boot && now.Boot != 0 {
		return r, t.EndOpenCalls(ctx, account, now.Boot, now.Ms)
	}
	if err := t.RestampCalls(ctx, account, now.Boot, now.Ms); err != nil {
		return r, err
	}
	asked := r.Boot == 0 && r.Taken
	r = query.AccountRate{AccountID: account, Boot: now.Boot, Since: now.Ms, Taken: asked, Wait: r.Wait,
		Lowered: r.Lowered}
	if r.Wait > 0 {
		r.WaitUntil = now.Ms + r.Wait
	}
	if r.Lowered > 0 {
		r.LoweredAt = now.Ms
	}
	return r, t.PutAccountRate(ctx, query.PutAccountRateParams(r))
}

// BeginCall notes a call of the account for which there is no licence: one that
// reads records or changes them.
func (db accountStore) BeginCall(ctx context.Context, account int64) (id int64, err error) {
	err = db.update(ctx, "note a request", func(t *tx) error {
		now := db.steady()
		if err := t.ForgetCalls(ctx, account, now.Boot, now.Ms-time.Minute.Milliseconds()); err != nil {
			return err
		}
		id, err = t.Queries.BeginCall(ctx, account, now.Boot)
		return err
	})
	return id, err
}

// EndCall notes that a call has ended now.
func (db accountStore) EndCall(ctx context.Context, id int64) error {
	return db.update(ctx, "note the end of a request", func(t *tx) error {
		now := db.steady()
		return t.Queries.EndCall(ctx, id, now.Boot, max(now.Ms, 1))
	})
}

// PutThrottle remembers what answers 429 have left in force for an account.
func (db accountStore) PutThrottle(ctx context.Context, account int64, th sms.Throttle) error {
	return db.update(ctx, "remember an answer 429", func(t *tx) error {
		now := db.steady().Ms
		p := query.SetThrottleParams{AccountID: account, Lowered: int64(th.Rate)}
		if th.Left > 0 {
			p.Wait, p.WaitUntil = th.Wait.Milliseconds(), now+th.Left.Milliseconds()
		}
		if th.Rate > 0 {
			p.LoweredAt = now - th.Ago.Milliseconds()
		}
		return t.SetThrottle(ctx, p)
	})
}

// takeAllPlaces makes every account begin anew with all of its places taken for
// a minute, in a process that serves already too: what was sent in the last
// minute is not in this copy of the database.
func (t *tx) takeAllPlaces(ctx context.Context, now int64) error {
	if err := t.TakeAllPlaces(ctx); err != nil {
		return err
	}
	return t.ReopenAccounts(ctx, now)
}

// ClockReading is what a service last said about the time; the error is
// sms.ErrNotFound when it has said nothing yet.
func (db accountStore) ClockReading(ctx context.Context, account int64) (health.ClockReading, error) {
	row, err := db.read().ClockReading(ctx, account)
	r, err := wrapNotFound(row, err, "read what time it was for the service")
	return health.ClockReading{At: health.Steady{Boot: r.Boot, Ms: r.Steady}, Service: r.ServiceAt, Wall: r.ReadAt}, err
}

// PutClockReading replaces an account's reading.
func (db accountStore) PutClockReading(ctx context.Context, account int64, r health.ClockReading) error {
	return db.update(ctx, "remember what time it is for the service", func(t *tx) error {
		return t.PutClockReading(ctx, query.PutClockReadingParams{AccountID: account, Boot: r.At.Boot, Steady: r.At.Ms,
			ServiceAt: r.Service, ReadAt: r.Wall})
	})
}
