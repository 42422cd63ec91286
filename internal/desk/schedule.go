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
func (d *Desk) ScheduleCampaign(ctx context.Context, by sms.User, id int64, at sms.Schedule, o StartOrder) (sms.Campaign, error) {
	return d.schedule(ctx, by, id, at, o, "campaign.schedule", sms.Campaign.MayStart)
}

// ProposeSchedule writes down on a draft when it is meant to start. Nothing
// starts by it before somebody schedules the campaign. The field of its Invalid
// is time.
func (d *Desk) ProposeSchedule(ctx context.Context, by sms.User, id int64, at sms.Schedule) (sms.Campaign, error) {
	if sentence := at.Check(d.now()); sentence != "" {
		return sms.Campaign{}, sms.Invalid{"time": sentence}
	}
	return d.change(ctx, by, id, "campaign.propose", func(c *sms.Campaign) error {
		if !c.MayStart() {
			return sms.ErrConflict
		}
		c.SendAt, c.SendZone, c.SendOffset = at.At, at.Zone, at.Offset
		return nil
	})
}

// RescheduleCampaign gives a campaign that has not started by its schedule yet
// another moment. Errors are those of ScheduleCampaign.
func (d *Desk) RescheduleCampaign(ctx context.Context, by sms.User, id int64, at sms.Schedule, o StartOrder) (sms.Campaign, error) {
	return d.schedule(ctx, by, id, at, o, "campaign.reschedule", sms.Campaign.MayReschedule)
}

func (d *Desk) schedule(ctx context.Context, by sms.User, id int64, at sms.Schedule, o StartOrder, action string, from func(sms.Campaign) bool) (sms.Campaign, error) {
	if err := may(by, sms.Sender, action); err != nil {
		return sms.Campaign{}, err
	}
	c, err := d.store.Campaign(ctx, id)
	if err != nil {
		return c, err
	}
	if c.State == sms.CampaignScheduled && c.SendAt == at.At && c.StartedBy == by.ID {
		return c, nil
	}
	if !from(c) {
		return c, fmt.Errorf("schedule campaign %d: %w", id, sms.ErrConflict)
	}
	if sentence := at.Check(d.now()); sentence != "" {
		return c, sms.Invalid{"time": sentence}
	}
	if err := d.checkStart(ctx, by, c, o); err != nil {
		return c, err
	}
	set, err := d.store.UpdateCampaign(ctx, id, d.ms(), func(c *sms.Campaign) error {
		if !from(*c) || c.Version != o.Version {
			return sms.ErrConflict
		}
		c.State, c.Pause, c.PauseCode, c.StartedBy, c.StartedName = sms.CampaignScheduled, "", "", by.ID, by.Name
		c.SendAt, c.SendZone, c.SendOffset, c.SendAgain = at.At, at.Zone, at.Offset, o.Again || c.SendAgain
		return nil
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
	d.audit(ctx, by, action, feed.Campaign(id), fmt.Sprintf("%d messages, %s", set.Recipients, at.Time().Format("2006-01-02 15:04 -0700")))
	d.feed.Tell(feed.Campaign(id), feed.Campaigns(set.AccountID))
	return set, nil
}

// CancelSchedule takes the schedule back: the campaign is a draft again, to be
// changed, sent or left. Once it has started the error is sms.ErrConflict.
func (d *Desk) CancelSchedule(ctx context.Context, by sms.User, id int64) (sms.Campaign, error) {
	return d.change(ctx, by, id, "campaign.unschedule", func(c *sms.Campaign) error {
		if !c.MayReschedule() {
			return sms.ErrConflict
		}
		draftAgain(c)
		return nil
	})
}

// hold leaves the start of a campaign to a person.
func (d *Desk) hold(ctx context.Context, id int64, code, sentence string) (sms.Campaign, error) {
	c, err := d.store.UpdateCampaign(ctx, id, d.ms(), func(c *sms.Campaign) error {
		if !c.MayReschedule() {
			return sms.ErrConflict
		}
		c.State, c.Pause, c.PauseCode = sms.CampaignPaused, sentence, code
		return nil
	})
	if err == nil {
		d.feed.Tell(feed.Campaign(id), feed.Campaigns(c.AccountID))
	}
	return c, err
}

// release starts a held campaign because a person says so, if its sender ID
// can be used; otherwise it stays held and says why.
func (d *Desk) release(ctx context.Context, by sms.User, c sms.Campaign) (sms.Campaign, error) {
	sentence, err := d.senderProblem(ctx, c.AccountID, c.SenderID)
	if err != nil {
		return c, err
	}
	if sentence != "" {
		return d.hold(ctx, c.ID, holdSender, sentence)
	}
	if sentence, err = d.groupProblem(ctx, c); err != nil {
		return c, err
	}
	if sentence != "" {
		return d.hold(ctx, c.ID, holdGroup, sentence)
	}
	return d.change(ctx, by, c.ID, "campaign.start", func(c *sms.Campaign) error {
		if !c.Held() {
			return sms.ErrConflict
		}
		c.State, c.Pause, c.PauseCode = sms.CampaignRunning, "", ""
		c.StartedBy, c.StartedName, c.StartedAt = by.ID, by.Name, d.ms()
		return nil
	})
}
