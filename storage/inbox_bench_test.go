package storage

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"smsdesk/internal/sms"
)

// BenchmarkKeep is what an acknowledged report costs with 64 callers at once:
// the inbox and the log of reports side by side, beside the inbox alone in the
// same run.
func BenchmarkKeep(b *testing.B) {
	alone := keepReports(b, false)
	both := keepReports(b, true)
	b.ReportMetric(float64(b.N)/both.Seconds(), "reports/s")
	b.ReportMetric(alone.Seconds()/both.Seconds(), "of_inbox_alone")
}

func keepReports(b *testing.B, logged bool) time.Duration {
	b.Helper()
	data := b.TempDir()
	db, err := Open(b.Context(), Config{Data: data})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	f := &fixture{t: b, ctx: b.Context(), db: db, data: data, clock: new(atomic.Int64)}
	f.clock.Store(began)
	f = f.other(b, "Clinic")
	in := NewInbox(data, "")
	defer func() { _ = in.Close() }()
	if logged {
		l, err := db.OpenReportLog(f.ctx, data, func() time.Time { return time.UnixMilli(f.now()) })
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		if err := l.Create(); err != nil {
			b.Fatal(err)
		}
		in.LogWith(l, 0)
	}
	if err := in.Open(f.ctx, 0); err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(f.ctx)
	var running sync.WaitGroup
	running.Go(func() { _ = in.Run(ctx, func() {}, func(int, error) {}) })
	defer running.Wait()
	defer stop()

	k := sms.RawReport{AccountID: f.account.ID, ReceivedAt: began, Remote: "192.0.2.7",
		Query: "messageId=6f1c1a5e-7d0f-4d57-9f0e-0d7b7b8c5b0e" +
			"&mobile=2348030000001&submitDate=2026-03-01%2010:00&doneDate=2026-03-01%2010:01&status=DELIVRD&errorCode=000&shortMessage=Hello"}
	var next atomic.Int64
	var callers sync.WaitGroup
	start := time.Now()
	for range 64 {
		callers.Go(func() {
			for next.Add(1) <= int64(b.N) {
				if err := in.Keep(ctx, k); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	callers.Wait()
	return time.Since(start)
}
