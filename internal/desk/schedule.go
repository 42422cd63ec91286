package desk

import (
	"context"
	"errors"
	"fmt"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
)

// ScheduleCampaign makes a draft start by itself at the given moment, which
// must be to come and at most a year away. Like StartCampaign it gives the
// campaign as it is to whoever presses twice, and sms.ErrConflict to whoever
// was not the first. The fields of its Invalid are time and those of StartCampaign.
func (d *Campaigns) ScheduleCampaign(ctx context.Context, by sms.User, id int64, at sms.Schedule,
	o StartOrder) (sms.Campaign, error) {
	return d.schedule(ctx, by, id, at, o, scheduling{sms.WaySchedule, "campaign.schedule", (*sms.Campaign).ScheduleAt})
}

// ProposeSchedule writes down on a draft when it is meant to start. Nothing
// starts by it before somebody schedules the campaign. The field of its Invalid
// is time.
func (d *Campaigns) ProposeSchedule(ctx context.Context, by sms.User, id int64, at sms.Schedule) (sms.Campaign, error) {
	if sentence := at.Check(d.now()); sentence != "" {
		return sms.Campaign{}, sms.Invalid{"time": sentence}
	}
	return d.updateCampaign(ctx, by, id, "campaign.propose", func(c *sms.Campaign) error { return c.Propose(at) })
}

// RescheduleCampaign gives a campaign that has not started by its schedule yet
// another moment. Errors are those of ScheduleCampaign.
func (d *Campaigns) RescheduleCampaign(ctx context.Context, by sms.User, id int64, at sms.Schedule,
	o StartOrder) (sms.Campaign, error) {
	return d.schedule(ctx, by, id, at, o, scheduling{sms.WayReschedule, "campaign.reschedule", (*sms.Campaign).Reschedule})
}

// scheduling is one of the two ways of giving a campaign its time.
type scheduling struct {
	way    sms.Way
	action string
	move   func(c *sms.Campaign, at sms.Schedule, by sms.User, version int64, again bool) error
}

func (d *Campaigns) schedule(ctx context.Context, by sms.User, id int64, at sms.Schedule, o StartOrder,
	s scheduling) (sms.Campaign, error) {
	if err := by.May(sms.Sender, s.action); err != nil {
		return sms.Campaign{}, err
	}
	c, err := d.store.Campaign(ctx, id)
	if err != nil {
		return c, err
	}
	if c.State == sms.CampaignScheduled && c.SendAt == at.At && c.StartedBy == by.ID {
		return c, nil
	}
	if !s.way.May(c.Stands(), sms.CampaignScheduled) {
		return c, fmt.Errorf("schedule campaign %d: %w", id, sms.ErrConflict)
	}
	if sentence := at.Check(d.now()); sentence != "" {
		return c, sms.Invalid{"time": sentence}
	}
	if err := d.mayGo(ctx, by, c, s.way, o); err != nil {
		return c, err
	}
	set, err := d.store.UpdateCampaign(ctx, id, d.ms(), func(c *sms.Campaign) error {
		return s.move(c, at, by, o.Version, o.Again)
	})
	if errors.Is(err, sms.ErrConflict) {
		now, failed := d.store.Campaign(ctx, id)
		if failed == nil && now.State == sms.CampaignScheduled && now.SendAt == at.At && now.StartedBy == by.ID {
			return now, nil
		}
		return now, errors.Join(failed, fmt.Errorf("schedule campaign %d: %w", id, sms.ErrConflict))
	}
	if err != nil {
		return c, err
	}
	d.audit(ctx, by, s.action, feed.Campaign(id),
		fmt.Sprintf("%d messages, %s", set.Recipients, at.Time().Format("2006-01-02 15:04 -0700")))
	d.feed.Publish(feed.Campaign(id), feed.Campaigns(set.AccountID))
	return set, nil
}

// CancelSchedule takes the schedule back: the campaign is a draft again, to be
// changed, sent or left. Once it has started the error is sms.ErrConflict.
func (d *Campaigns) CancelSchedule(ctx context.Context, by sms.User, id int64) (sms.Campaign, error) {
	return d.updateCampaign(ctx, by, id, "campaign.unschedule", (*sms.Campaign).Unschedule)
}

// hold leaves the start of a campaign to a person, unless it is not the one any
// more about which that was decided.
func (d *Campaigns) hold(ctx context.Context, c sms.Campaign, code, sentence string) (sms.Campaign, error) {
	held, err := d.store.UpdateCampaign(ctx, c.ID, d.ms(), func(now *sms.Campaign) error {
		return now.Hold(c.Version, code, sentence)
	})
	if err == nil {
		d.feed.Publish(feed.Campaign(c.ID), feed.Campaigns(c.AccountID))
	}
	return held, err
}

// release starts a held campaign because a person says so; where it may not
// start, it stays held and says why.
func (d *Campaigns) release(ctx context.Context, by sms.User, c sms.Campaign, o StartOrder) (sms.Campaign, error) {
	refused, err := d.checks(ctx, by, c, sms.WayRelease, o)
	if err != nil {
		return c, err
	}
	if sentence := refused.of(sms.CheckRepeat); sentence != "" {
		return c, sms.Invalid{fieldOf(sms.CheckRepeat): sentence}
	}
	if code, sentence := refused.holds(); sentence != "" {
		return d.hold(ctx, c, code, sentence)
	}
	return d.updateCampaign(ctx, by, c.ID, "campaign.start", func(now *sms.Campaign) error {
		return now.Release(by, c.Version, d.now())
	})
}
