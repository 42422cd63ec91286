package gateway

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"smsdesk/internal/sms"
)

// busiest is the most moments within any window of the length.
func busiest(at []time.Time, length time.Duration) int {
	slices.SortFunc(at, time.Time.Compare)
	most, from := 0, 0
	for i, t := range at {
		for t.Sub(at[from]) >= length {
			from++
		}
		most = max(most, i-from+1)
	}
	return most
}

// load is a campaign at full speed against a limiter: when its calls started,
// and when the service counted each, at some moment up to its answer.
type load struct {
	workers int
	took    func() time.Duration
	lasts   time.Duration

	mu               sync.Mutex
	started, counted []time.Time
}

func (o *load) run(t *testing.T, l *limiter) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), o.lasts)
	defer cancel()
	var workers sync.WaitGroup
	for i := range o.workers {
		workers.Go(func() {
			p := Bulk
			if i == 0 && o.workers > 8 {
				p = Background
			}
			for {
				ticket, err := l.take(ctx, p)
				if err != nil {
					return
				}
				now, took := time.Now(), o.took()
				o.mu.Lock()
				o.started = append(o.started, now)
				o.counted = append(o.counted, now.Add(time.Duration(rand.Int64N(int64(took)+1))))
				o.mu.Unlock()
				time.Sleep(took)
				ticket.answered()
			}
		})
	}
	workers.Wait()
}

// TestRate: ten minutes at full speed with calls of up to two seconds.
func TestRate(t *testing.T) {
	for _, rate := range []int{1, 2, 10, 100, 1000} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			// Calls of before the restart hold their places, too.
			var counted []time.Time
			var before sms.CallsBefore
			for i := range min(rate, 3) {
				ago := time.Duration(i) * time.Second
				counted, before.Ended = append(counted, begin.Add(-ago)), append(before.Ended, ago)
			}
			o := load{workers: 16, lasts: 10*time.Minute + time.Second, counted: counted, took: func() time.Duration {
				return time.Duration(rand.IntN(2000)) * time.Millisecond
			}}
			o.run(t, newLimiter(rate, before, time.Now))
			if n := busiest(o.counted, time.Minute); n > rate {
				t.Errorf("rate %d: %d calls in 60 s", rate, n)
			}
			full := 0
			for _, s := range o.started {
				if s.Sub(begin) < 10*time.Minute {
					full++
				}
			}
			if need := (rate - kept(Bulk, rate)) * 10 * 98 / 100; rate > 1 && full < need-rate {
				t.Errorf("rate %d: only %d calls in 10 minutes, want %d", rate, full, need)
			}
		})
	}
}

// TestPace: however long the service takes to answer, a campaign uses 99 % of
// what the rule leaves, which is a place a minute and the time of the call; and
// no 10 s hold more than a quarter of a minute's places. What is kept for
// urgent calls is not part of it.
// A clock that runs faster than timers makes waiting for the rate as much shorter.
func TestAFastClockWaitsLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const speed = 100
		began := time.Now()
		l := newLimiter(10, sms.CallsBefore{}, func() time.Time { return began.Add(time.Since(began) * speed) })
		l.speed = speed
		for range 31 {
			ticket, err := l.take(t.Context(), Bulk)
			if err != nil {
				t.Fatal(err)
			}
			ticket.answered()
		}
		if took := time.Since(began) * speed; took < 3*time.Minute || took > 4*time.Minute {
			t.Errorf("31 calls at 10 a minute took %v by that clock", took)
		}
	})
}

func TestPace(t *testing.T) {
	for _, c := range []struct {
		rate, workers int
		took          time.Duration
	}{
		{100, 8, 0}, {100, 8, 300 * time.Millisecond}, {100, 8, 2 * time.Second}, {100, 40, 10 * time.Second}, {100, 8, 5 * time.Second},
		{1000, 8, 50 * time.Millisecond}, {1000, 100, 2 * time.Second}, {40, 8, 2 * time.Second},
		{10, 8, 300 * time.Millisecond}, {7, 8, 2 * time.Second}, {4, 8, 5 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			const minutes = 20
			o := load{workers: min(c.workers, 8), lasts: minutes * time.Minute, took: func() time.Duration { return c.took }}
			if c.workers > 8 {
				o.workers = c.workers
			}
			begin := time.Now()
			o.run(t, newLimiter(c.rate, sms.CallsBefore{}, time.Now))
			bulk := c.rate - kept(Bulk, c.rate)
			rule := float64(bulk) * minutes * 60 / (60 + c.took.Seconds())
			used := float64(len(o.started)) / rule
			minute, tenth, first := busiest(o.counted, time.Minute), busiest(o.counted, 10*time.Second), 0
			for _, s := range o.started {
				if s.Sub(begin) < 10*time.Second {
					first++
				}
			}
			t.Logf(
				"rate %d, answers after %v: %.1f %% of what the rule leaves, %.1f %% of the rate; busiest minute %d, busiest 10 s %d, first 10 s %d",
				c.rate, c.took, 100*used, 100*float64(len(o.started))/float64(c.rate*minutes), minute, tenth, first)
			quarter := (c.rate + 3) / 4
			if minute > c.rate || first > quarter || c.took <= 5*time.Second && tenth > quarter ||
				busiest(o.started, 10*time.Second) > quarter {
				t.Errorf("rate %d, answers after %v: busiest minute %d, 10 s %d", c.rate, c.took, minute, tenth)
			}
			if used < 0.99 {
				t.Errorf("rate %d, answers after %v: %.2f %% of the rule used", c.rate, c.took, 100*used)
			}
		})
	}
}

// TestFewCallsGoAtOnce: pacing holds up nobody who has little to send.
func TestFewCallsGoAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, begin := newLimiter(100, sms.CallsBefore{}, time.Now), time.Now()
		for range 24 {
			ticket, err := l.take(t.Context(), Bulk)
			if err != nil {
				t.Fatal(err)
			}
			ticket.answered()
		}
		if took := time.Since(begin); took != 0 {
			t.Fatalf("24 calls of 100 a minute took %v", took)
		}
		if w := l.wait(Bulk); w != paceWindow {
			t.Errorf("the next waits %v", w)
		}
		if w := l.wait(Urgent); w != 0 {
			t.Errorf("an urgent one waits %v", w)
		}
	})
}

func TestPriorities(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(100, sms.CallsBefore{}, time.Now)
		take := func(p Priority) *ticket {
			t.Helper()
			ticket, err := l.take(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			return ticket
		}
		begin := time.Now()
		for range 10 {
			take(Background).answered()
		}
		if w := l.wait(Background); w != time.Minute {
			t.Fatalf("the eleventh background read waits %v", w)
		}
		for range 89 {
			take(Bulk).answered()
		}
		left := time.Minute - time.Since(begin)
		if left != 20*time.Second || l.wait(Bulk) != left || l.wait(Urgent) != 0 {
			t.Fatalf("after %v bulk waits %v, urgent %v", time.Since(begin), l.wait(Bulk), l.wait(Urgent))
		}
		take(Urgent).answered()
		if w := l.wait(Urgent); w != left {
			t.Fatalf("the hundred and first call waits %v", w)
		}
		// Whoever asks for less than the wait is told at once.
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		asked := time.Now()
		if _, err := l.take(ctx, Urgent); !errors.Is(err, errRateTimeout) || time.Since(asked) != 0 {
			t.Fatalf("%v after %v", err, time.Since(asked))
		}
		// Places that go free at once are taken by the urgent first.
		time.Sleep(2 * time.Minute)
		for range 99 {
			take(Bulk).answered()
		}
		take(Urgent).answered()
		var order []Priority
		var mu sync.Mutex
		var waiters sync.WaitGroup
		for _, p := range []Priority{Bulk, Bulk, Background, Urgent} {
			waiters.Go(func() {
				ticket := take(p)
				mu.Lock()
				order = append(order, p)
				mu.Unlock()
				time.Sleep(time.Second)
				ticket.answered()
			})
			synctest.Wait()
		}
		if l.wait(Bulk) != 20*time.Second {
			t.Fatalf("%v", l.wait(Bulk))
		}
		waiters.Wait()
		if len(order) != 4 || len(l.waiting) != 0 {
			t.Fatalf("%v", order)
		}
	})
}

// TestUrgentFirst: with one place for all, the urgent waiter goes before those
// who came earlier.
func TestUrgentFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(1, sms.CallsBefore{}, time.Now)
		first, err := l.take(t.Context(), Bulk)
		if err != nil {
			t.Fatal(err)
		}
		first.answered()
		got := make(chan Priority, 3)
		for _, p := range []Priority{Bulk, Background, Urgent} {
			go func() {
				ticket, err := l.take(t.Context(), p)
				if err != nil {
					t.Error(err)
					return
				}
				got <- p
				ticket.answered()
			}()
			synctest.Wait()
		}
		begin := time.Now()
		for i, want := range []Priority{Urgent, Bulk, Background} {
			if p := <-got; p != want || time.Since(begin) != time.Duration(i+1)*time.Minute {
				t.Fatalf("place %d after %v went to %v", i, time.Since(begin), p)
			}
		}
	})
}

func TestRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(1, sms.CallsBefore{}, time.Now)
		held, err := l.take(t.Context(), Background)
		if err != nil {
			t.Fatal(err)
		}
		if w := l.wait(Urgent); w != time.Minute {
			t.Fatalf("%v beside a call under way", w)
		}
		go func() { time.Sleep(3 * time.Second); held.release() }()
		begin := time.Now()
		if _, err := l.take(t.Context(), Bulk); err != nil || time.Since(begin) != 3*time.Second {
			t.Fatalf("%v after %v", err, time.Since(begin))
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { time.Sleep(time.Second); cancel() }()
		if _, err := l.take(ctx, Bulk); !errors.Is(err, context.Canceled) || len(l.waiting) != 0 {
			t.Fatalf("%v, %d waiting", err, len(l.waiting))
		}
	})
}

func Test429(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(100, sms.CallsBefore{}, time.Now)
		var together []*ticket
		for range 8 {
			ticket, err := l.take(t.Context(), Bulk)
			if err != nil {
				t.Fatal(err)
			}
			together = append(together, ticket)
		}
		time.Sleep(time.Second)
		for _, ticket := range together {
			ticket.throttled(30 * time.Second)
		}
		if l.rateNow() != 80 {
			t.Fatalf("rate %d after one burst of 429", l.rateNow())
		}
		w := l.wait(Urgent)
		if w < 30*time.Second || w > 36*time.Second {
			t.Fatalf("urgent waits %v", w)
		}
		begin := time.Now()
		again, err := l.take(t.Context(), Bulk)
		if err != nil || time.Since(begin) != w {
			t.Fatalf("%v after %v, want %v", err, time.Since(begin), w)
		}
		again.throttled(time.Second)
		if l.rateNow() != 64 {
			t.Fatalf("rate %d after a second 429", l.rateNow())
		}
		for i := range 36 {
			time.Sleep(time.Minute)
			if l.rateNow() != min(100, 65+i) {
				t.Fatalf("rate %d after %d minutes", l.rateNow(), i+1)
			}
		}
		if w := l.wait(Bulk); w != 0 {
			t.Fatalf("still waits %v", w)
		}
		low := newLimiter(1, sms.CallsBefore{}, time.Now)
		ticket, err := low.take(t.Context(), Bulk)
		if err != nil {
			t.Fatal(err)
		}
		ticket.throttled(time.Minute)
		if low.rateNow() != 1 {
			t.Fatalf("rate %d, want at least 1", low.rateNow())
		}
	})
}

func TestCallsBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := sms.CallsBefore{Ended: []time.Duration{10 * time.Second, 50 * time.Second, 70 * time.Second, -time.Hour}}
		l := newLimiter(3, before, time.Now)
		if w := l.wait(Urgent); w != 10*time.Second {
			t.Fatalf("waits %v", w)
		}
		if w := l.wait(Bulk); w != 50*time.Second {
			t.Fatalf("bulk waits %v", w)
		}
		// Other settings forget nothing, and calls that others made are added.
		l.goOn(4, sms.CallsBefore{})
		if w := l.wait(Bulk); w != 10*time.Second {
			t.Fatalf("bulk waits %v after the change", w)
		}
		l.goOn(4, sms.CallsBefore{Ended: make([]time.Duration, 4)})
		if w := l.wait(Urgent); w != time.Minute {
			t.Fatalf("urgent waits %v when every place is taken", w)
		}
	})
}

// TestAThrottleGoesOn: what a 429 left in force is the same in the next process.
func TestAThrottleGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := newLimiter(100, sms.CallsBefore{}, time.Now)
		ticket, err := first.take(t.Context(), Bulk)
		if err != nil {
			t.Fatal(err)
		}
		ticket.throttled(30 * time.Second)
		time.Sleep(5 * time.Second)
		left := first.throttle()
		next := newLimiter(100, sms.CallsBefore{Throttle: left}, time.Now)
		if w := next.wait(Urgent); left.Wait != 30*time.Second || w < 25*time.Second || w != first.wait(Urgent) ||
			next.rateNow() != 80 {
			t.Fatalf("waits %v instead of %v at a rate of %d", w, first.wait(Urgent), next.rateNow())
		}
		time.Sleep(20 * time.Minute)
		if !first.throttle().None() || !next.throttle().None() || next.rateNow() != 100 {
			t.Fatalf("%+v, %+v", first.throttle(), next.throttle())
		}
	})
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2031, 3, 1, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"7": 7 * time.Second, " 120 ": 2 * time.Minute, "0": time.Second, "3600": time.Hour, "3601": time.Hour, "99999999999999999999": time.Hour,
		"Sat, 01 Mar 2031 12:01:30 GMT": 90 * time.Second, "Sat, 01 Mar 2031 11:00:00 GMT": time.Second, "Sun, 02 Mar 2031 12:00:00 GMT": time.Hour,
		"Saturday, 01-Mar-31 12:00:05 GMT": 5 * time.Second,
	} {
		if got, ok := retryAfter(header, now); !ok || got != want {
			t.Errorf("%q: %v, %v", header, got, ok)
		}
	}
	for _, header := range []string{"", " ", "-1", "1.5", "soon", "+3", "0x10", "1 2"} {
		if got, ok := retryAfter(header, now); ok || got != 0 {
			t.Errorf("%q: %v, %v", header, got, ok)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"7", "0", "99999999999999999999", "Sat, 01 Mar 2031 12:01:30 GMT", "-1", "",
		"Fri, 31 Dec 9999 23:59:59 GMT"} {
		f.Add(s, int64(1930219200))
	}
	f.Fuzz(func(t *testing.T, header string, unix int64) {
		now := time.Unix(unix%(1<<40), 0)
		wait, ok := retryAfter(header, now)
		if ok && (wait < minRetryAfter || wait > maxRetryAfter) || !ok && wait != 0 {
			t.Fatalf("%v, %v", wait, ok)
		}
		if _, err := http.ParseTime(header); err == nil && !ok {
			t.Fatal("a date is not read")
		}
	})
}
