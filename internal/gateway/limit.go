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
	defaultRetryAfter = time.Minute
	minRetryAfter     = time.Second
	maxRetryAfter     = time.Hour
)

// errNoPlace: the caller's deadline ends before a place can be free.
var errNoPlace = errors.New("no place under the request rate in time")

// limiter gives out places in a sliding window. A place is taken when a call
// starts and free again one window after its answer was read. The service
// counts the call at some moment in between, so however long calls take it
// never sees more than the rate in any window.
type limiter struct {
	now  func() time.Time
	rate int // configured, a minute

	mu         sync.Mutex
	lowered    int // the rate set by the last 429; 0: none in force
	loweredAt  time.Time
	blocked    time.Time // nobody starts before
	all        window
	background window
	waiting    []*waiter
	changed    chan struct{} // closed when waiters should look again
}

type waiter struct{ priority Priority }

func newLimiter(rate int, recent []time.Time, now func() time.Time) *limiter {
	l := &limiter{now: now, rate: rate, changed: make(chan struct{})}
	at := now()
	for _, t := range recent {
		// Going by the distance gives the time the monotonic clock of at.
		if d := t.Sub(at); d > -rateWindow {
			l.all.freeAt = append(l.all.freeAt, at.Add(min(d, 0)+rateWindow))
		}
	}
	slices.SortFunc(l.all.freeAt, time.Time.Compare)
	return l
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

// take waits for a place. It fails with ctx's error, or with errNoPlace as
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
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < d {
			return nil, errNoPlace
		}
		l.pause(ctx, d)
	}
}

// pause lets the lock go until d has passed, something changed or ctx is done.
func (l *limiter) pause(ctx context.Context, d time.Duration) {
	changed := l.changed
	l.mu.Unlock()
	defer l.mu.Lock()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-changed:
	case <-timer.C:
	}
}

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
	d := max(0, l.blocked.Sub(now), l.all.wait(now, limit-kept(p, limit)-before))
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
}

func (l *limiter) grant(now time.Time, p Priority) *ticket {
	l.all.inFlight++
	if p == Background {
		l.background.inFlight++
	}
	return &ticket{limiter: l, priority: p, started: now}
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
		l.blocked = until
	}
	if l.lowered == 0 || !t.started.Before(l.loweredAt) {
		l.lowered, l.loweredAt = max(1, l.limit(now)*4/5), now
	}
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
