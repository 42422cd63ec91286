package storage

import (
	"fmt"
	"sync/atomic"
	"testing"

	"smsdesk/internal/sms"
)

// BenchmarkApplyReports is what a report costs that moves its message, in batches
// of 500 that came within a second, over four networks and all steps of time.
func BenchmarkApplyReports(b *testing.B) {
	const batch = 500
	db, err := Open(b.Context(), Config{Data: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	f := &fixture{t: b, ctx: b.Context(), db: db, clock: new(atomic.Int64)}
	f.clock.Store(began)
	f = f.other(b, "Clinic")
	for b.Loop() {
		b.StopTimer()
		list := make([]string, batch)
		for i := range list {
			list[i] = fmt.Sprintf("234%s%07d", []string{"803", "805", "802", "809"}[i%4], i)
		}
		f.proven("Hello", list...)
		var reports []sms.DeliveryReport
		for a := f.claimAfter(0, batch); a != nil; a = f.claimAfter(0, batch) {
			f.license(a)
			f.settle(a, answer(a))
			for i := range a.Messages {
				r := f.report(a, i, "DELIVRD")
				r.ReceivedAt = f.message(a.Messages[i]).SentAt + int64(i)*100
				reports = append(reports, r)
			}
		}
		b.StartTimer()
		f.apply(reports...)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/batch, "µs/report")
}
