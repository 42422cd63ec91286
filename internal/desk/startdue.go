package desk

import (
	"context"
	"fmt"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/health"
	"smsdesk/internal/series"
	"smsdesk/internal/sms"
)

// StartDue starts a scheduled campaign at its time: once, never early. It holds
// for a person what is more than sms.MaxLate late, of a series series.MaxLate, what became due because
// somebody set the clock, and what StartCampaign would refuse. While the
// computer's clock is wrong, or no service has said yet whether it is, the
// campaign waits as it is. Where it was started, moved or cancelled since it was
// read, the error is sms.ErrConflict.
//
// What became due in a jump of the clock is held where it was not one that put a
// wrong clock right, and no service elsewhere says that the clock is right:
// whether its time has really come is then what nobody here can know.
func (d *Campaigns) StartDue(ctx context.Context, id int64, look health.Look) error {
	c, err := d.store.Campaign(ctx, id)
	if err != nil {
		return err
	}
	due, late := c.Schedule().Due(look.Now)
	most := sms.MaxLate
	if c.SeriesID > 0 {
		most = series.MaxLate
		late = look.Now.Sub(time.UnixMilli(c.SendAt)) > most
	}
	if c.State != sms.CampaignScheduled || !due {
		return nil
	}
	clock, asked := look.Clocks[c.AccountID]
	if !asked || clock.Holds() {
		return nil
	}
	code, sentence := "", ""
	switch {
	case look.Jump < -sms.MaxClockJump:
		return nil
	case late && look.Wrong[c.AccountID]:
		code, sentence = sms.PauseClock, wrongClockSentence(c.Schedule(), most)
	case look.Jump > sms.MaxClockJump && clock.State != health.ClockRight && !look.Wrong[c.AccountID]:
		code, sentence = sms.PauseClock, jumpSentence(look.Jump)
	case late:
		code, sentence = sms.PauseLate, lateSentence(c.Schedule(), most)
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
func (d *Campaigns) startDue(ctx context.Context, c sms.Campaign) error {
	started, err := d.store.UpdateCampaign(ctx, c.ID, d.ms(), func(now *sms.Campaign) error {
		return now.StartDue(c.Version, d.now())
	})
	if err != nil {
		return err
	}
	by := sms.User{ID: c.StartedBy, Name: c.StartedName}
	d.audit(ctx, by, "campaign.start", feed.Campaign(c.ID),
		fmt.Sprintf("%d messages, %d parts, as scheduled", started.Recipients, started.Parts))
	d.feed.Publish(feed.Campaign(c.ID), feed.Campaigns(c.AccountID))
	return nil
}

// lateSentence says why a campaign was not started by itself.
func lateSentence(s sms.Schedule, most time.Duration) string {
	at := s.Time()
	return fmt.Sprintf(
		"It was scheduled for %s at %s, but smsdesk was not running. It is more than %d minutes late, so someone has to decide when to send it",
		at.Format("2 January 2006"), at.Format("3:04pm"), int(most/time.Minute))
}

// wrongClockSentence says why a campaign was not started by itself when the
// computer's clock was right again.
func wrongClockSentence(s sms.Schedule, most time.Duration) string {
	at := s.Time()
	return fmt.Sprintf(
		"It was scheduled for %s at %s, but the clock of the computer that runs smsdesk was wrong then. Because it is "+
			"more than %d minutes late, someone has to decide when to send it",
		at.Format("2 January 2006"), at.Format("3:04pm"), int(most/time.Minute))
}

// jumpSentence says why a campaign that became due by a jump of the clock was
// not started.
func jumpSentence(by time.Duration) string {
	return fmt.Sprintf(
		"The clock of the computer that runs smsdesk jumped ahead by %d minutes. Check the time, then decide when to send",
		int(by.Round(time.Minute)/time.Minute))
}
