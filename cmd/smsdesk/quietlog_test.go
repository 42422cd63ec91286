package main

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"smsdesk/internal/health"
)

// TestTroubleIsLoggedOnceAMinute for each message and kind, with how often it
// was; what is no trouble with storage is never held back.
func TestTroubleIsLoggedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := newLog(&out, "text").With("part", "x")
		full := fmt.Errorf("apply: %w", health.Troubled{Trouble: health.TroubleFull, Err: errors.New("full")})
		for range 130 {
			log.Error("reports wait", "error", full)
			log.With("campaign", 1).Error("not claimed", slog.Any("error", full))
			log.Error("reports wait", "error", errors.New("another cause"))
			time.Sleep(time.Second)
		}
		log.Error("reports wait", "error", health.Troubled{Trouble: health.TroubleLocked, Err: errors.New("locked")})
		for text, want := range map[string]int{"msg=\"reports wait\" part=x error=\"apply: full\"": 3, "not claimed": 3,
			"times_before=59": 4, "another cause": 130, "locked": 1} {
			if got := strings.Count(out.String(), text); got != want {
				t.Errorf("%q stands %d times in the log, want %d", text, got, want)
			}
		}
	})
}
