package api

import (
	"context"
	"net/http"
	"testing"
	"time"
)

// Whoever asks too often is slowed down, then refused for a while.
func TestTheRateOfOneToken(t *testing.T) {
	p := newPace()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var refused *Problem
	for range 4 * (paceBurst + paceRate*int(paceWait/time.Second)) {
		if err := p.wait(ctx, 1); err != nil && err != context.Canceled {
			refused = apiProblem(err)
			break
		}
	}
	if refused == nil || refused.Status != http.StatusTooManyRequests || refused.retryAfter < 1 {
		t.Fatalf("%+v", refused)
	}
	if err := p.wait(t.Context(), 2); err != nil {
		t.Errorf("another token: %v", err)
	}
}
