package desk

import (
	"context"
	"fmt"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
)

// HandOverCampaign starts a draft at once and lets the service keep it until
// the given moment: every call carries it as SchedTime (§4.2), or scheduleTime
// (§4.4), in whole minutes of the account's zone. The service has no way to
// call back what was handed over. Whoever presses twice gets the campaign as it
// is, as from StartCampaign, and other errors are the same; the fields of its
// Invalid are time and those of StartCampaign.
func (d *Campaigns) HandOverCampaign(ctx context.Context, by sms.User, id int64, at sms.Schedule,
	o StartOrder) (sms.Campaign, error) {
	if err := by.May(sms.Sender, "hand over campaign"); err != nil {
		return sms.Campaign{}, err
	}
	c, err := d.store.Campaign(ctx, id)
	if err != nil {
		return c, err
	}
	if !c.MayStart() {
		return alreadyStarted(c, by)
	}
	account, err := d.store.Account(ctx, c.AccountID)
	if err != nil {
		return c, err
	}
	if sentence := handOverProblem(account, c, at, d.now()); sentence != "" {
		return c, sms.Invalid{"time": sentence}
	}
	if err := d.mayGo(ctx, by, c, sms.WayHandOver, o); err != nil {
		return c, err
	}
	started, err := d.store.UpdateCampaign(ctx, id, d.ms(), func(c *sms.Campaign) error {
		return c.HandOverAt(at, by, o.Version, o.Again, d.now())
	})
	if err != nil {
		return d.notStarted(ctx, by, c, err)
	}
	d.audit(ctx, by, "campaign.hand_over", feed.Campaign(id),
		fmt.Sprintf("%d messages, %d parts, for %s", started.Recipients, started.Parts,
			at.Time().Format("2006-01-02 15:04 -0700")))
	d.feed.Publish(feed.Campaign(id), feed.Campaigns(started.AccountID))
	return started, nil
}

// handOverSlack is what handing over may take beyond the calls themselves.
const handOverSlack = 5 * time.Minute

// handOverProblem says why a campaign cannot be handed over for a moment, or
// "": the time must be far enough for all of its calls to leave before, and
// within the sending hours, as nobody asks again when it has come.
func handOverProblem(a sms.Account, c sms.Campaign, at sms.Schedule, now time.Time) string {
	if sentence := at.Check(now); sentence != "" {
		return sentence
	}
	calls := time.Duration(c.CallsText + c.CallsPairs)
	needs := handOverSlack + calls*time.Minute/time.Duration(max(a.PerMinute, 1))
	if now.Add(needs).UnixMilli() > at.At {
		return fmt.Sprintf("Scheduling with the provider takes up to %d minutes. Choose a later time",
			(needs+time.Minute-1)/time.Minute)
	}
	if !a.Hours.Open(at.Time().In(a.Location())) {
		return fmt.Sprintf("This account only sends from %s. Choose a time within these hours", a.Hours.Words())
	}
	return ""
}
