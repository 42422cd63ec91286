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
)

// busiest is the most moments within any 60 s.
func busiest(at []time.Time) int {
	slices.SortFunc(at, time.Time.Compare)
	most, from := 0, 0
	for i, t := range at {
		for t.Sub(at[from]) >= time.Minute {
			from++
		}
		most = max(most, i-from+1)
	}
	return most
}

// TestRate: ten minutes at full speed with calls of up to two seconds. The
// service counts each call at some moment between its start and its answer.
func TestRate(t *testing.T) {
	for _, rate := range []int{1, 2, 10, 100, 1000} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			// Calls of before the restart hold their places, too.
			var counted []time.Time
			for i := range min(rate, 3) {
				counted = append(counted, begin.Add(-time.Duration(i)*time.Second))
			}
			recent := slices.Clone(counted)
			l := newLimiter(rate, recent, time.Now)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute+time.Second)
			defer cancel()
			var mu sync.Mutex
			var started []time.Time
			var workers sync.WaitGroup
			for i := range 16 {
				workers.Go(func() {
					p := Bulk
					if i == 0 {
						p = Background
					}
					for {
						ticket, err := l.take(ctx, p)
						if err != nil {
							return
						}
						now := time.Now()
						took := time.Duration(rand.IntN(2000)) * time.Millisecond
						mu.Lock()
						started = append(started, now)
						counted = append(counted, now.Add(time.Duration(rand.Int64N(int64(took)+1))))
						mu.Unlock()
						time.Sleep(took)
						ticket.answered()
					}
				})
			}
			workers.Wait()
			if n := busiest(counted); n > rate {
				t.Errorf("rate %d: %d calls in 60 s", rate, n)
			}
			full := 0
			for _, s := range started {
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

// TestThroughput: with quick answers a campaign uses 99 % of the rate.
func TestThroughput(t *testing.T) {
	for _, rate := range []int{100, 1000} {
		synctest.Test(t, func(t *testing.T) {
			l := newLimiter(rate, nil, time.Now)
			begin := time.Now()
			var workers sync.WaitGroup
			var mu sync.Mutex
			var started []time.Time
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			for range 8 {
				workers.Go(func() {
					for {
						ticket, err := l.take(ctx, Bulk)
						if err != nil {
							return
						}
						mu.Lock()
						started = append(started, time.Now())
						mu.Unlock()
						time.Sleep(50 * time.Millisecond)
						ticket.answered()
					}
				})
			}
			workers.Wait()
			if len(started) < rate*10*99/100 || busiest(started) > rate {
				t.Fatalf("rate %d: %d calls in %v, busiest minute %d", rate, len(started), time.Since(begin), busiest(started))
			}
		})
	}
}

func TestPriorities(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(100, nil, time.Now)
		take := func(p Priority) *ticket {
			t.Helper()
			ticket, err := l.take(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			return ticket
		}
		for range 10 {
			take(Background).answered()
		}
		if w := l.wait(Background); w != time.Minute {
			t.Fatalf("the eleventh background read waits %v", w)
		}
		for range 89 {
			take(Bulk).answered()
		}
		if l.wait(Bulk) != time.Minute || l.wait(Urgent) != 0 {
			t.Fatalf("bulk waits %v, urgent %v", l.wait(Bulk), l.wait(Urgent))
		}
		take(Urgent).answered()
		if w := l.wait(Urgent); w != time.Minute {
			t.Fatalf("the hundred and first call waits %v", w)
		}
		// Whoever asks for less than the wait is told at once.
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		asked := time.Now()
		if _, err := l.take(ctx, Urgent); !errors.Is(err, errNoPlace) || time.Since(asked) != 0 {
			t.Fatalf("%v after %v", err, time.Since(asked))
		}
		// Places that go free at once are taken by the urgent first.
		time.Sleep(time.Minute)
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
		if l.wait(Bulk) != time.Minute {
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
		l := newLimiter(1, nil, time.Now)
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
		l := newLimiter(1, nil, time.Now)
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
		l := newLimiter(100, nil, time.Now)
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
		low := newLimiter(1, nil, time.Now)
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

func TestRecentCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		// Without the monotonic clock, as they come out of a database.
		old := func(d time.Duration) time.Time { return time.UnixMilli(now.Add(-d).UnixMilli()) }
		l := newLimiter(3, []time.Time{old(10 * time.Second), old(50 * time.Second), old(70 * time.Second), old(-time.Hour)}, time.Now)
		if w := l.wait(Urgent); w.Round(time.Second) != 10*time.Second {
			t.Fatalf("waits %v", w)
		}
		if w := l.wait(Bulk); w.Round(time.Second) != 50*time.Second {
			t.Fatalf("bulk waits %v", w)
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
	for _, s := range []string{"7", "0", "99999999999999999999", "Sat, 01 Mar 2031 12:01:30 GMT", "-1", "", "Fri, 31 Dec 9999 23:59:59 GMT"} {
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
