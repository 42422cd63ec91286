package lists

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"smsdesk/internal/sms"
)

const (
	// maxTunedHeap is up to which size of what is in use garbage is collected
	// early. What is larger cannot be kept small by that.
	maxTunedHeap = 80 << 20
	// sparingGarbage is how much garbage there may be then.
	sparingGarbage  = 8 << 20
	gcCheckInterval = 20 * time.Millisecond
)

// limitGC keeps the process small until restore is called: garbage is
// collected when there are sparingGarbage of it, not when there is as much as
// is in use. That costs little, as the tables of a list hold no pointers to
// follow. It is for one list at a time.
func limitGC() (restore func()) {
	debug.FreeOSMemory()
	before := debug.SetGCPercent(100)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		defer debug.SetGCPercent(before)
		ticker := time.NewTicker(gcCheckInterval)
		defer ticker.Stop()
		for set := 100; ; {
			if wanted := gcPercent(liveHeap(), before); wanted < set*9/10 || wanted > set {
				set = wanted
				debug.SetGCPercent(set)
			}
			select {
			case <-ticker.C:
			case <-stop:
				return
			}
		}
	}()
	return func() { close(stop); <-stopped }
}

// isLarge says that a list is large enough for memory to be spared.
func isLarge(l sms.List) bool { return l.Size > shortList }

// releaseEvery is after how many rows memory is given back.
const releaseEvery = 100_000

// releaseMemory gives back what the work on a long list does not need any more.
func (im *Importer) releaseMemory(ctx context.Context, l sms.List) {
	if isLarge(l) {
		im.logError(ctx, "memory not given back", im.store.ShrinkMemory(ctx))
		debug.FreeOSMemory()
	}
}

// gcPercent is how much garbage may come on top of what is in use, in percent
// of it.
func gcPercent(live uint64, usual int) int {
	if live == 0 || live > maxTunedHeap {
		return max(usual, 10)
	}
	return int(min(max(sparingGarbage*100/live, 10), 100))
}

// liveHeap is what the last collection found in use.
func liveHeap() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
