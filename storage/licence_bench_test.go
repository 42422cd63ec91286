package storage

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/storage/log"
)

// BenchmarkLicence is what a request costs the disk before its first byte, with
// eight of them under way. Beside it stands its floor in the same run: one
// commit and one synced line with nothing else in them.
func BenchmarkLicence(b *testing.B) {
	data := b.TempDir()
	db, err := Open(b.Context(), Config{Data: data})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	f := &fixture{t: b, ctx: b.Context(), db: db, data: data, clock: new(atomic.Int64)}
	f.clock.Store(began)
	f = f.other(b, "Clinic")
	j := f.journal()
	f.proven("Hello", numbers(b.N+8)...)
	attempts := make(chan *sms.Attempt, b.N)
	for range b.N {
		attempts <- f.claim(1)
	}
	close(attempts)
	took := byEight(b, b.N, func(int) error {
		a := <-attempts
		if err := db.License(f.ctx, a, f.now()); err != nil {
			return err
		}
		return j.Append(a)
	})
	floor := byEight(b, b.N, bareLicence(b, f))
	b.ReportMetric(float64(b.N)/took.Seconds(), "licences/s")
	b.ReportMetric(floor.Seconds()/took.Seconds(), "of_floor")
}

// byEight does something n times, eight at once.
func byEight(b *testing.B, n int, do func(int) error) time.Duration {
	b.Helper()
	var next atomic.Int64
	var all sync.WaitGroup
	start := time.Now()
	for range 8 {
		all.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				if err := do(int(i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	return time.Since(start)
}

// bareLicence is a commit and a synced line.
func bareLicence(b *testing.B, f *fixture) func(int) error {
	b.Helper()
	l, err := log.Open(log.Config{Dir: filepath.Join(f.data, "floor"), Ending: ".x"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Close() })
	q := newQueue(l.Append)
	line := make([]byte, 300)
	line[299] = '\n'
	return func(i int) error {
		if _, err := f.db.writer.ExecContext(f.ctx, "update journal_head set at = $1", i); err != nil {
			return err
		}
		return q.Put(line).Wait()
	}
}
