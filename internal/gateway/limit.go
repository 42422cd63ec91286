package gateway

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"smsdesk/internal/sms"
)

// Priority says who gives way to whom under the rate (§8).
type Priority int

// The priorities. Bulk and Background never take the last places, which are
// kept for Urgent; Background takes at most a tenth of all.
const (
	Bulk       Priority = iota // the calls of campaigns
	Urgent                     // a person waits for this one
	Background                 // reads that nobody waits for
)

const (
	rateWindow        = time.Minute
	paceWindow        = 10 * time.Second
	maxPace           = 15 * time.Second
	defaultRetryAfter = time.Minute
	minRetryAfter     = time.Second
	maxRetryAfter     = time.Hour
)

// errRateTimeout: the caller's deadline ends before a place can be free.
var errRateTimeout = errors.New("no place under the request rate in time")

// limiter gives out places in a sliding window. A place is taken when a call
// starts and free again one window after its answer was read. The service
// counts the call at some moment in between, so however long calls take it
// never sees more than the rate in any window. A second, shorter window paces
// the calls, so that a minute's places do not all go at once.
type limiter struct {
	now   func() time.Time
	speed int // how many times as fast as timers now runs

	mu         sync.Mutex
	rate       int // configured, a minute
	lowered    int // the rate set by the last 429; 0: none in force
	loweredAt  time.Time
	blocked    time.Time     // nobody starts before
	told       time.Duration // the wait that blocked comes from
	all        window
	background window
	pace       pace
	waiting    []*waiter
	changed    chan struct{} // closed when waiters should look again
}

type waiter struct{ priority Priority }

// newLimiter makes a limiter that goes on where the one of an earlier process
// ended.
func newLimiter(rate int, past sms.CallsBefore, now func() time.Time) *limiter {
	l := &limiter{now: now, speed: 1, rate: rate, changed: make(chan struct{})}
	l.remember(past)
	if t := past.Throttle; t.Rate > 0 {
		l.lowered, l.loweredAt = t.Rate, now().Add(-t.Ago)
	}
	if t := past.Throttle; t.Left > 0 {
		l.blocked, l.told = now().Add(t.Left), t.Wait
	}
	return l
}

// remember takes the places of calls that ended elsewhere.
func (l *limiter) remember(past sms.CallsBefore) {
	now := l.now()
	for _, ago := range past.Ended {
		if ago = max(ago, 0); ago < rateWindow {
			l.all.freeAt = append(l.all.freeAt, now.Add(rateWindow-ago))
		}
		if ago < paceWindow {
			l.pace.freeAt = append(l.pace.freeAt, now.Add(paceWindow-ago))
		}
	}
	slices.SortFunc(l.all.freeAt, time.Time.Compare)
	slices.SortFunc(l.pace.freeAt, time.Time.Compare)
}

// goOn sets another rate and takes the places of calls that this limiter does
// not know of.
func (l *limiter) goOn(rate int, past sms.CallsBefore) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rate = rate
	l.remember(past)
	l.tell()
}

// window holds the taken places: those of calls under way, and for each ended
// call the time when its place is free, earliest first.
type window struct {
	inFlight int
	freeAt   []time.Time
}

func (w *window) prune(now time.Time) {
	i := 0
	for i < len(w.freeAt) && !w.freeAt[i].After(now) {
		i++
	}
	w.freeAt = w.freeAt[i:]
}

// wait is how long until fewer than room places are taken. A call under way
// frees its place one window from now at the earliest.
func (w *window) wait(now time.Time, room int) time.Duration {
	over := w.inFlight + len(w.freeAt) - room
	switch {
	case over < 0:
		return 0
	case over < len(w.freeAt):
		return w.freeAt[over].Sub(now)
	}
	return rateWindow
}

func (w *window) end(freeAt time.Time) {
	w.inFlight--
	w.freeAt = append(w.freeAt, freeAt)
}

// pace holds the places of calls in a window so short that a minute has four of
// it: when each is free, earliest first. That is paceWindow after a call has
// ended, and maxPace after it has started at the latest: four times maxPace
// is the least time after which the rate frees a place again, so that slow
// calls are not held up by pacing.
type pace struct{ freeAt []time.Time }

func (p *pace) prune(now time.Time) {
	i, _ := slices.BinarySearchFunc(p.freeAt, now, func(t, now time.Time) int {
		if t.After(now) {
			return 1
		}
		return -1
	})
	p.freeAt = p.freeAt[i:]
}

func (p *pace) hold(until time.Time) {
	i, _ := slices.BinarySearchFunc(p.freeAt, until, time.Time.Compare)
	p.freeAt = slices.Insert(p.freeAt, i, until)
}

// drop gives the place back that was held until then.
func (p *pace) drop(until time.Time) {
	if i, held := slices.BinarySearchFunc(p.freeAt, until, time.Time.Compare); held {
		p.freeAt = slices.Delete(p.freeAt, i, i+1)
	}
}

// wait is how long until fewer than room places are held.
func (p *pace) wait(now time.Time, room int) time.Duration {
	over := len(p.freeAt) - room
	switch {
	case over < 0:
		return 0
	case over < len(p.freeAt):
		return p.freeAt[over].Sub(now)
	}
	return paceWindow
}

// take waits for a place. It fails with ctx's error, or with errRateTimeout as
// soon as ctx's deadline is seen to come first.
func (l *limiter) take(ctx context.Context, p Priority) (*ticket, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := &waiter{p}
	l.enqueue(w)
	defer l.leave(w)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		now := l.now()
		d := l.delay(now, p, l.waiting[:slices.Index(l.waiting, w)])
		if d <= 0 {
			return l.grant(now, p), nil
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < l.byTimer(d) {
			return nil, errRateTimeout
		}
		l.pause(ctx, d)
	}
}

// pause lets the lock go until d has passed, something changed or ctx is done.
func (l *limiter) pause(ctx context.Context, d time.Duration) {
	changed := l.changed
	l.mu.Unlock()
	defer l.mu.Lock()
	timer := time.NewTimer(l.byTimer(d))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-changed:
	case <-timer.C:
	}
}

// byTimer is how long a timer runs while d passes by now.
func (l *limiter) byTimer(d time.Duration) time.Duration { return d / time.Duration(l.speed) }

// enqueue puts urgent waiters before all others; within a kind the first stays first.
func (l *limiter) enqueue(w *waiter) {
	i := len(l.waiting)
	if w.priority == Urgent {
		for i > 0 && l.waiting[i-1].priority != Urgent {
			i--
		}
	}
	l.waiting = slices.Insert(l.waiting, i, w)
}

func (l *limiter) leave(w *waiter) {
	l.waiting = slices.DeleteFunc(l.waiting, func(o *waiter) bool { return o == w })
	l.tell()
}

func (l *limiter) tell() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// delay is how long a call of priority p must wait behind those ahead of it.
func (l *limiter) delay(now time.Time, p Priority, ahead []*waiter) time.Duration {
	l.all.prune(now)
	l.background.prune(now)
	l.pace.prune(now)
	limit := l.limit(now)
	share := max(1, limit/10)
	before, behind := 0, 0
	for _, o := range ahead {
		if o.priority == Background {
			// One that is over its share holds nobody else up.
			if l.background.wait(now, share-behind) > 0 {
				continue
			}
			behind++
		}
		before++
	}
	d := max(0, l.blocked.Sub(now), l.all.wait(now, limit-kept(p, limit)-before), l.pace.wait(now, paced(p, limit)-before))
	if p == Background {
		d = max(d, l.background.wait(now, share-behind))
	}
	return d
}

// kept is the number of places that p leaves to Urgent: few enough that bulk
// uses 99 % of the rate also where each call takes a third of a second, which
// lengthens the minute of its place.
func kept(p Priority, limit int) int {
	if p == Urgent || limit < 2 {
		return 0
	}
	return max(1, limit/200)
}

// paced is how many places of the pace p may take: a quarter of a minute's,
// rounded up, of which Urgent's are kept where the rest still lets bulk use the
// rate. A minute's places and the time of a call have room for 13/3 of the
// longest maxPace. Of a lower rate Urgent goes beyond the quarter.
func paced(p Priority, limit int) int {
	quarter, keep := (limit+3)/4, kept(Bulk, limit)
	bulk := quarter - keep
	if bulk*13*100/3 < (limit-keep)*102 {
		bulk = quarter
	}
	if p == Urgent {
		return max(quarter, bulk+keep)
	}
	return bulk
}

// limit is the rate in force: after a 429 it grows back by one each minute.
func (l *limiter) limit(now time.Time) int {
	if l.lowered == 0 {
		return l.rate
	}
	n := l.lowered + int(now.Sub(l.loweredAt)/time.Minute)
	if n >= l.rate {
		l.lowered = 0
		return l.rate
	}
	return n
}

func (l *limiter) wait(p Priority) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	ahead := l.waiting
	if p == Urgent {
		ahead = slices.DeleteFunc(slices.Clone(ahead), func(o *waiter) bool { return o.priority != Urgent })
	}
	return l.delay(l.now(), p, ahead)
}

func (l *limiter) rateNow() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.limit(l.now())
}

// ticket is one taken place. Exactly one of its methods is called once.
type ticket struct {
	limiter  *limiter
	priority Priority
	started  time.Time
	paced    time.Time // until when it holds its place of the pace
}

func (l *limiter) grant(now time.Time, p Priority) *ticket {
	l.all.inFlight++
	if p == Background {
		l.background.inFlight++
	}
	t := &ticket{limiter: l, priority: p, started: now, paced: now.Add(maxPace)}
	l.pace.hold(t.paced)
	return t
}

// answered: the call has ended, and the service may have counted it until now.
func (t *ticket) answered() {
	l := t.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	t.end(l.now())
}

func (t *ticket) end(now time.Time) {
	t.limiter.all.end(now.Add(rateWindow))
	if sooner := now.Add(paceWindow); sooner.Before(t.paced) {
		t.limiter.pace.drop(t.paced)
		t.limiter.pace.hold(sooner)
	}
	if t.priority == Background {
		t.limiter.background.end(now.Add(rateWindow))
	}
}

// release: nothing of the call has left, so the service cannot have counted it.
func (t *ticket) release() {
	l := t.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all.inFlight--
	l.pace.drop(t.paced)
	if t.priority == Background {
		l.background.inFlight--
	}
	l.tell()
}

// throttled: the service answered 429. Nobody starts for wait and up to a
// fifth more, and the rate falls by a fifth. Calls that were under way
// together lower it once.
func (t *ticket) throttled(wait time.Duration) {
	l := t.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	t.end(now)
	if until := now.Add(time.Duration(float64(wait) * (1 + rand.Float64()/5))); until.After(l.blocked) {
		l.blocked, l.told = until, wait
	}
	if l.lowered == 0 || !t.started.Before(l.loweredAt) {
		l.lowered, l.loweredAt = max(1, l.limit(now)*4/5), now
	}
}

// throttle is what answers 429 have left in force.
func (l *limiter) throttle() sms.Throttle {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	var t sms.Throttle
	if left := l.blocked.Sub(now); left > 0 {
		t.Left, t.Wait = left, l.told
	}
	if l.limit(now) < l.rate && l.lowered > 0 {
		t.Rate, t.Ago = l.lowered, now.Sub(l.loweredAt)
	}
	return t
}

// retryAfter reads the header of RFC 9110, seconds or a date: at least a
// second and at most an hour. ok is false when it is missing or neither.
func retryAfter(header string, now time.Time) (wait time.Duration, ok bool) {
	header = strings.TrimSpace(header)
	if header == "" {
		return 0, false
	}
	if strings.Trim(header, "0123456789") == "" {
		n, err := strconv.ParseInt(header, 10, 64)
		if err != nil || n > int64(maxRetryAfter/time.Second) {
			return maxRetryAfter, true
		}
		return max(minRetryAfter, time.Duration(n)*time.Second), true
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0, false
	}
	return min(maxRetryAfter, max(minRetryAfter, at.Sub(now))), true
}
