package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"smsdesk/internal/health"
	"smsdesk/storage"
)

// quietLog passes on what is logged. Of what many loops say again and again
// while storage is in trouble it lets one line a minute through for each
// message, with how many there were.
type quietLog struct {
	slog.Handler
	heard *heard
}

type heard struct {
	mu   sync.Mutex
	said map[heardKey]*hearing
}

type heardKey struct {
	message string
	trouble health.Trouble
}

type hearing struct {
	at      time.Time
	skipped int
}

const heardAgain = time.Minute

func newQuietLog(next slog.Handler) quietLog {
	return quietLog{next, &heard{said: map[heardKey]*hearing{}}}
}

// Handle writes the record, or counts it.
func (q quietLog) Handle(ctx context.Context, r slog.Record) error {
	trouble := health.Trouble("")
	r.Attrs(func(a slog.Attr) bool {
		if err, is := a.Value.Any().(error); is {
			trouble = storage.TroubleOf(err)
		}
		return trouble == ""
	})
	if trouble == "" {
		return q.Handler.Handle(ctx, r)
	}
	skipped, say := q.heard.hear(heardKey{r.Message, trouble}, r.Time)
	if !say {
		return nil
	}
	if skipped > 0 {
		r.AddAttrs(slog.Int("times_before", skipped))
	}
	return q.Handler.Handle(ctx, r)
}

func (h *heard) hear(key heardKey, now time.Time) (skipped int, say bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := h.said[key]
	if last == nil {
		h.said[key] = &hearing{at: now}
		return 0, true
	}
	if now.Sub(last.at) < heardAgain {
		last.skipped++
		return 0, false
	}
	skipped, last.at, last.skipped = last.skipped, now, 0
	return skipped, true
}

// WithAttrs and WithGroup hear what their parent hears.
func (q quietLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quietLog{q.Handler.WithAttrs(attrs), q.heard}
}

// WithGroup is like WithAttrs.
func (q quietLog) WithGroup(name string) slog.Handler {
	return quietLog{q.Handler.WithGroup(name), q.heard}
}
