package workers

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
)

// Repeater is the loop that finds series of which a run is due soon or begun. What
// becomes of a run is the Repeats' decision.
type Repeater struct {
	store  RepeaterStore
	orders Repeats
	log    *slog.Logger
	now    func() time.Time
	looks  int
}

// RepeaterStore says which series need a look.
type RepeaterStore interface {
	SeriesToLookAt(ctx context.Context, before int64) ([]int64, error)
}

// Repeats brings a series further. Its error is sms.ErrConflict where somebody else
// changed it meanwhile.
type Repeats interface {
	Advance(ctx context.Context, id int64) error
}

// NewRepeater returns a Repeater; Run makes it work.
func NewRepeater(store RepeaterStore, orders Repeats, log *slog.Logger, now func() time.Time) *Repeater {
	return &Repeater{store: store, orders: orders, log: log, now: now}
}

// repeatLead is the longest time before a run that anything may be done for it. How
// many recipients it has is counted then, so only every farLooks-th look goes so far;
// the others see what is due within nearLead.
const (
	repeatLead     = 4 * 24 * time.Hour
	nearLead       = time.Hour
	farLooks       = 30
	repeatInterval = 2 * time.Second
)

// Run looks every two seconds until ctx ends.
func (r *Repeater) Run(ctx context.Context) {
	for {
		r.look(ctx)
		if !feed.Pause(ctx, repeatInterval, nil) {
			return
		}
	}
}

func (r *Repeater) look(ctx context.Context) {
	lead := nearLead
	if r.looks%farLooks == 0 {
		lead = repeatLead
	}
	r.looks++
	ids, err := r.store.SeriesToLookAt(ctx, r.now().Add(lead).UnixMilli())
	if err != nil {
		r.logError(ctx, 0, err)
		return
	}
	for _, id := range ids {
		if err := r.orders.Advance(ctx, id); err != nil && !errors.Is(err, sms.ErrConflict) {
			r.logError(ctx, id, err)
		}
	}
}

func (r *Repeater) logError(ctx context.Context, id int64, err error) {
	if ctx.Err() == nil {
		r.log.Error("series not looked after", "series", id, "error", err)
	}
}
