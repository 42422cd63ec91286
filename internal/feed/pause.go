package feed

import (
	"context"
	"time"
)

// Pause waits for a nudge or a time; false when ctx ended.
func Pause(ctx context.Context, most time.Duration, nudge <-chan struct{}) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-nudge:
	case <-timer.C:
	}
	return ctx.Err() == nil
}
