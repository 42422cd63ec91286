package workers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/health"
	"smsdesk/internal/sms"
)

const (
	// keepAfter is how long an outcome may wait for the database before it goes to
	// the reserve, too.
	keepAfter = 2 * time.Second
	// The reserve has room for every outcome of the requests that may be under way:
	// outcomeRoom for one, rowRoom more for each of its recipients.
	outcomeRoom = 8 << 10
	rowRoom     = 256
	minReserve  = 1 << 20
	maxReserve  = 64 << 20
	// reserveAgain is the rest between two tries to reserve space.
	reserveAgain = 30 * time.Second
)

// verdictOf decides what an outcome means for its campaign, whenever it is stored.
func verdictOf(o sms.Outcome) func(sms.Canary, []sms.Finished) sms.Verdict {
	return func(canary sms.Canary, recent []sms.Finished) sms.Verdict { return sms.Judge(o, canary, recent) }
}

// settle commits the outcome, for as long as that takes: the answer is in memory
// only. When it takes long it is kept in the reserve, too, and nothing is
// claimed. A stop leaves it there; what is nowhere is tried again until the end.
func (l *accountWorker) settle(ctx context.Context, account sms.Account, a *sms.Attempt, o sms.Outcome) error {
	stopped, ctx := ctx.Done(), context.WithoutCancel(ctx)
	u := sms.Unsettled{UID: a.UID, Country: account.Country, At: l.now().UnixMilli(), Outcome: o}
	s := sms.Settle(a.Call.Recipients, o, account.Country)
	k := l.keep(u, a.State == sms.AttemptSending)
	defer k.end()
	for {
		alert, err := l.store.Settle(ctx, a, s, o, account.Country, verdictOf(o), u.At)
		if errors.Is(err, sms.ErrConflict) {
			alert, err = l.settleFound(ctx, u, err)
		}
		l.outage.Note(err)
		if err == nil {
			k.settled()
			l.report(a, len(s.Strange), o, alert)
			l.feed.Publish(feed.Campaign(a.CampaignID), feed.Campaigns(a.AccountID), feed.Account(a.AccountID))
			return nil
		}
		if errors.Is(err, sms.ErrConflict) {
			return fmt.Errorf("store the outcome of attempt %d: %w", a.ID, err)
		}
		k.failed(err)
		select {
		case <-stopped:
			if k.safe() {
				l.log.Warn("the outcome of a request is not stored: the next start does that", "attempt", a.ID, "class", o.Class)
				return nil
			}
			time.Sleep(settleInterval)
		case <-time.After(settleInterval):
		}
	}
}

// settleFound settles an attempt that is not as this process left it: after a
// failure nobody knows whether a change was stored. It is not our conflict when
// this very outcome stands there.
func (l *accountWorker) settleFound(ctx context.Context, u sms.Unsettled, conflict error) (alert bool, err error) {
	a, open, alert, err := l.store.SettleKept(ctx, u, verdictOf(u.Outcome))
	if err == nil && !open && a.Class != u.Outcome.Class {
		err = conflict
	}
	return alert, err
}

// keeping is an outcome on its way into the database.
type keeping struct {
	d        *Dispatcher
	u        sms.Unsettled
	licensed bool // without a licence nothing is lost with it
	timer    *time.Timer

	mu     sync.Mutex
	over   bool
	behind bool // it is among the Dispatcher's
	stands bool // in the reserve
	said   bool
}

func (d *Dispatcher) keep(u sms.Unsettled, licensed bool) *keeping {
	k := &keeping{d: d, u: u, licensed: licensed}
	k.timer = time.AfterFunc(keepAfter, func() { k.failed(nil) })
	return k
}

// failed keeps the outcome in the reserve and stops the claiming; why is nil
// when the database has not answered yet.
func (k *keeping) failed(why error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over {
		return
	}
	if !k.behind {
		k.behind = true
		k.d.behind.Add(1)
	}
	if !k.stands && k.licensed && k.d.reserve != nil {
		err := k.d.reserve.Put(k.u)
		k.stands = err == nil
		if err != nil && !k.said {
			k.said = true
			k.d.log.Error("the outcome of a request is in memory only: do not end smsdesk before there is space", "uid", k.u.UID,
				"error", err)
		}
	}
	if why != nil && health.TroubleOf(why) == "" {
		k.d.log.Error("outcome not stored yet", "uid", k.u.UID, "class", k.u.Outcome.Class, "error", why)
	}
}

// safe says that the outcome may be forgotten here: it is in the reserve, or
// nothing has left for which it stands.
func (k *keeping) safe() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stands || !k.licensed
}

// settled takes the outcome out of the reserve.
func (k *keeping) settled() {
	k.end()
	if !k.stands { // nobody changes it behind the end
		return
	}
	if err := k.d.reserve.Done(k.u.UID); err != nil {
		k.d.log.Warn("the reserve for outcomes is not cleared", "error", err)
	}
}

// end lets the claiming go on.
func (k *keeping) end() {
	k.timer.Stop()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over = true; k.behind {
		k.behind = false
		k.d.behind.Add(-1)
	}
}

// settleKept stores what an earlier process left in the reserve, before its
// attempts are taken for lost; false when ctx ended.
func (d *Dispatcher) settleKept(ctx context.Context) bool {
	if d.reserve == nil {
		return ctx.Err() == nil
	}
	for {
		list, err := d.reserve.Kept()
		if err != nil {
			d.log.Error("the reserve for outcomes cannot be read", "error", err)
		}
		slices.SortStableFunc(list, func(a, b sms.Unsettled) int { return cmp.Compare(a.At, b.At) })
		waits := false
		for _, u := range list {
			err := d.settleOne(ctx, u)
			d.outage.Note(err)
			waits = waits || health.TroubleOf(err) != ""
		}
		if !waits || ctx.Err() != nil {
			return ctx.Err() == nil
		}
		if !feed.Pause(ctx, settleInterval, nil) {
			return false
		}
	}
}

func (d *Dispatcher) settleOne(ctx context.Context, u sms.Unsettled) error {
	a, open, alert, err := d.store.SettleKept(ctx, u, verdictOf(u.Outcome))
	switch {
	case err != nil:
		if health.TroubleOf(err) == "" && ctx.Err() == nil {
			d.log.Error("an outcome that was kept cannot be stored", "uid", u.UID, "class", u.Outcome.Class, "error", err)
		}
		return err
	case open:
		d.log.Warn("an outcome that an earlier process kept is stored", "attempt", a.ID)
		d.report(&a, 0, u.Outcome, alert)
		d.feed.Publish(feed.Campaign(a.CampaignID), feed.Campaigns(a.AccountID), feed.Account(a.AccountID))
	}
	if err := d.reserve.Done(u.UID); err != nil {
		d.log.Warn("the reserve for outcomes is not cleared", "error", err)
	}
	return nil
}

// holding is the space that is reserved for outcomes.
type holding struct {
	size  int64
	tried time.Time // in vain
}

// hold reserves space for the outcomes of all requests that may be under way.
func (d *Dispatcher) hold(accounts []sms.Account) {
	if d.reserve == nil {
		return
	}
	size := int64(0)
	for _, a := range accounts {
		size += int64(d.inFlight+urgentInFlight) * (outcomeRoom + int64(a.CallLimit)*rowRoom)
	}
	size = min(max(size, minReserve), maxReserve)
	if size <= d.held.size || d.now().Sub(d.held.tried) < reserveAgain {
		return
	}
	if err := d.reserve.Hold(size); err != nil {
		if d.held.tried.IsZero() {
			d.log.Warn("no space is reserved for outcomes", "bytes", size, "error", err)
		}
		d.held.tried = d.now()
		return
	}
	d.held = holding{size: size}
}
