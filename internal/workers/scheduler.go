package workers

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/health"
	"smsdesk/internal/sms"
)

// Scheduler is the loop that finds campaigns whose time has come. It looks at
// the clocks, too, which tell whether it really has; what becomes of a campaign
// then is the Starter's decision.
type Scheduler struct {
	store   SchedulerStore
	orders  Starter
	clocks  Clocks
	feed    *feed.Feed
	log     *slog.Logger
	now     func() time.Time
	elapsed func() time.Duration
	wall    time.Time      // of the last look, zero before the first
	steady  time.Duration  // of the last look
	wrong   map[int64]bool // accounts that a wrong clock held at the last look
}

// SchedulerStore says what waits for its time.
type SchedulerStore interface {
	Accounts(ctx context.Context) ([]sms.Account, error)
	DueCampaigns(ctx context.Context, now int64) ([]int64, error)
}

// Starter decides whether a campaign starts that may be due, and starts it, holds
// it or leaves it as it is. Its error is sms.ErrConflict where somebody else
// changed the campaign meanwhile.
type Starter interface {
	StartDue(ctx context.Context, id int64, look health.Look) error
}

// Clocks is how the computer's clock, which shows wall now, stands with an
// account's service.
type Clocks interface {
	Standing(a sms.Account, wall time.Time) health.ClockStanding
}

// SchedulerConfig is what a Scheduler works with.
type SchedulerConfig struct {
	Store  SchedulerStore
	Orders Starter
	Clocks Clocks
	Feed   *feed.Feed
	Log    *slog.Logger
	Now    func() time.Time // the wall clock
	// Elapsed is a clock that nobody can set: the time since some fixed moment.
	Elapsed func() time.Duration
}

// NewScheduler returns a Scheduler; Run makes it work.
func NewScheduler(c SchedulerConfig) *Scheduler {
	return &Scheduler{store: c.Store, orders: c.Orders, clocks: c.Clocks, feed: c.Feed, log: c.Log, now: c.Now,
		elapsed: c.Elapsed, wrong: map[int64]bool{}}
}

// Run looks once a second until ctx ends.
func (s *Scheduler) Run(ctx context.Context) {
	for {
		s.look(ctx)
		if !feed.Pause(ctx, time.Second, nil) {
			return
		}
	}
}

// look starts what is due.
func (s *Scheduler) look(ctx context.Context) {
	now, jump := s.jumped(s.now().Round(0), s.elapsed())
	if jump > sms.MaxClockJump || jump < -sms.MaxClockJump {
		s.log.Warn("the clock jumped: no campaign is started at this look", "seconds", int(jump/time.Second))
	}
	look := health.Look{Now: now, Jump: jump, Clocks: s.standings(ctx, now), Wrong: s.wrong}
	ids, err := s.store.DueCampaigns(ctx, now.UnixMilli())
	if err != nil {
		s.logError(ctx, 0, err)
		return
	}
	for _, id := range ids {
		if err := s.orders.StartDue(ctx, id, look); err != nil && !errors.Is(err, sms.ErrConflict) {
			s.logError(ctx, id, err)
		}
	}
	for id, c := range look.Clocks {
		s.wrong[id] = c.State == health.ClockWrong
	}
}

// standings is how the computer's clock, which shows now, stands with each account.
// It is asked at every look, so that a wrong one is said before anything is due.
func (s *Scheduler) standings(ctx context.Context, now time.Time) map[int64]health.ClockStanding {
	accounts, err := s.store.Accounts(ctx)
	if err != nil {
		s.logError(ctx, 0, err)
	}
	standings := make(map[int64]health.ClockStanding, len(accounts))
	for _, a := range accounts {
		standings[a.ID] = s.clocks.Standing(a, now)
		if holds := standings[a.ID].State == health.ClockWrong; holds != s.wrong[a.ID] {
			s.feed.Publish(feed.Account(a.ID), feed.Campaigns(a.ID))
		}
	}
	return standings
}

// jumped notes both clocks and says by how much the wall clock ran away since
// the last look.
func (s *Scheduler) jumped(wall time.Time, steady time.Duration) (now time.Time, jump time.Duration) {
	if !s.wall.IsZero() {
		jump = wall.Sub(s.wall) - (steady - s.steady)
	}
	s.wall, s.steady = wall, steady
	return wall, jump
}

func (s *Scheduler) logError(ctx context.Context, id int64, err error) {
	if ctx.Err() == nil {
		s.log.Error("scheduled campaign not started", "campaign", id, "error", err)
	}
}
