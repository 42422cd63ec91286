package desk

import (
	"context"
	"errors"
	"fmt"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
)

// Scheduler is the loop that starts campaigns at their time. It starts each
// once, never early, and leaves to a person what is more than sms.LateMost
// late, what became due because somebody set the clock, and what StartCampaign
// would refuse. While the computer's clock is wrong,
// or no service has said yet whether it is, campaigns wait as they are.
type Scheduler struct {
	desk    *Desk
	elapsed func() time.Duration
	wall    time.Time      // of the last look, zero before the first
	steady  time.Duration  // of the last look
	wrong   map[int64]bool // accounts that a wrong clock held at the last look
}

// NewScheduler returns a Scheduler; Run makes it work. elapsed is a clock that
// nobody can set: the time since some fixed moment.
func NewScheduler(d *Desk, elapsed func() time.Duration) *Scheduler {
	return &Scheduler{desk: d, elapsed: elapsed, wrong: map[int64]bool{}}
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
	now, jump := s.jumped(s.desk.now().Round(0), s.elapsed())
	if jump > sms.JumpMost || jump < -sms.JumpMost {
		s.desk.log.Warn("the clock jumped: no campaign is started at this look", "seconds", int(jump/time.Second))
	}
	clocks := s.clocks(ctx, now)
	ids, err := s.desk.store.DueCampaigns(ctx, now.UnixMilli())
	if err != nil {
		s.complain(ctx, 0, err)
		return
	}
	for _, id := range ids {
		if err := s.due(ctx, id, now, jump, clocks); err != nil && !errors.Is(err, sms.ErrConflict) {
			s.complain(ctx, id, err)
		}
	}
	for id, c := range clocks {
		s.wrong[id] = c.State == sms.ClockWrong
	}
}

// clocks is how the computer's clock, which shows now, stands with each account.
// It is asked at every look, so that a wrong one is said before anything is due.
func (s *Scheduler) clocks(ctx context.Context, now time.Time) map[int64]sms.ClockStanding {
	accounts, err := s.desk.store.Accounts(ctx)
	if err != nil {
		s.complain(ctx, 0, err)
	}
	standings := make(map[int64]sms.ClockStanding, len(accounts))
	for _, a := range accounts {
		standings[a.ID] = s.desk.gateways.Standing(a, now)
		if holds := standings[a.ID].State == sms.ClockWrong; holds != s.wrong[a.ID] {
			s.desk.feed.Tell(feed.Account(a.ID), feed.Campaigns(a.ID))
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

func (s *Scheduler) complain(ctx context.Context, id int64, err error) {
	if ctx.Err() == nil {
		s.desk.log.Error("scheduled campaign not started", "campaign", id, "error", err)
	}
}

// due starts one campaign, or holds it. What became due in a jump of the clock
// is held where it was not one that put a wrong clock right, and no service
// elsewhere says that the clock is right: whether its time has really come is
// then what nobody here can know.
func (s *Scheduler) due(ctx context.Context, id int64, now time.Time, jump time.Duration,
	clocks map[int64]sms.ClockStanding) error {
	d := s.desk
	c, err := d.store.Campaign(ctx, id)
	if err != nil {
		return err
	}
	due, late := c.Schedule().Due(now)
	if c.State != sms.CampaignScheduled || !due {
		return nil
	}
	clock, asked := clocks[c.AccountID]
	if !asked || clock.Holds() {
		return nil
	}
	code, sentence := "", ""
	switch {
	case jump < -sms.JumpMost:
		return nil
	case late && s.wrong[c.AccountID]:
		code, sentence = sms.PauseClock, sms.WrongClockSentence(c.Schedule())
	case jump > sms.JumpMost && clock.State != sms.ClockRight && !s.wrong[c.AccountID]:
		code, sentence = sms.PauseClock, sms.JumpSentence(jump)
	case late:
		code, sentence = sms.PauseLate, sms.LateSentence(c.Schedule())
	default:
		refused, err := d.checks(ctx, sms.User{ID: c.StartedBy, Name: c.StartedName}, c, sms.WayStartDue, StartOrder{})
		if err != nil {
			return err
		}
		code, sentence = refused.holds()
	}
	if sentence != "" {
		d.log.Warn("scheduled campaign held for a person", "campaign", id, "reason", code)
		_, err := d.hold(ctx, c, code, sentence)
		return err
	}
	return d.startDue(ctx, c)
}

// startDue starts a campaign unless it was started, moved or cancelled since
// it was read.
func (d *Desk) startDue(ctx context.Context, c sms.Campaign) error {
	started, err := d.store.UpdateCampaign(ctx, c.ID, d.ms(), func(now *sms.Campaign) error {
		return now.StartDue(c.Version, d.now())
	})
	if err != nil {
		return err
	}
	by := sms.User{ID: c.StartedBy, Name: c.StartedName}
	d.audit(ctx, by, "campaign.start", feed.Campaign(c.ID),
		fmt.Sprintf("%d messages, %d parts, as scheduled", started.Recipients, started.Parts))
	d.feed.Tell(feed.Campaign(c.ID), feed.Campaigns(c.AccountID))
	return nil
}
