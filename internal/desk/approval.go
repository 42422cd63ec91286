package desk

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
)

// Ask is what a person wants a second one to approve: the campaign as it was
// shown, and when it is to go.
type Ask struct {
	StartOrder
	At       sms.Schedule // zero: as soon as it is approved
	HandOver bool         // at At by the provider's schedule, as HandOverCampaign does
}

// ApproveOrder is a second person's yes to a campaign as it was shown.
type ApproveOrder struct {
	Version   int64
	Again     bool // as in StartOrder
	MayRepeat bool // as in StartOrder
}

// approvalProblem says that a draft needs a second person before it goes.
func (d *Campaigns) approvalProblem(ctx context.Context, c sms.Campaign) (sentence string, err error) {
	needed, above, err := d.needsApproval(ctx, c)
	if err != nil || !needed {
		return "", err
	}
	if c.GroupID != "" {
		return "Campaigns to a group need approval. Ask for approval instead", nil
	}
	if above == 1 {
		return "Campaigns to more than 1 recipient need approval. Ask for approval instead", nil
	}
	return fmt.Sprintf("Campaigns to more than %d recipients need approval. Ask for approval instead", above), nil
}

// NeedsApproval says whether a draft goes only with the yes of a second person.
func (d *Campaigns) NeedsApproval(ctx context.Context, c sms.Campaign) (bool, error) {
	needed, _, err := d.needsApproval(ctx, c)
	return needed, err
}

func (d *Campaigns) needsApproval(ctx context.Context, c sms.Campaign) (needed bool, above int64, err error) {
	account, err := d.store.Account(ctx, c.AccountID)
	if err != nil || account.ApproveAbove == 0 {
		return false, 0, err
	}
	out, err := d.Outgoing(ctx, c)
	return account.NeedsApproval(c, out), account.ApproveAbove, err
}

// Approvers are the people who could approve a draft for which by asks.
func (d *Campaigns) Approvers(ctx context.Context, by sms.User, c sms.Campaign) ([]sms.User, error) {
	list, err := d.store.Users(ctx)
	return c.Approvers(list, by), err
}

// AskApproval puts a draft before a second person. From then on nothing of it
// may change. Whoever presses twice gets it as it is; sms.ErrConflict is for
// whoever was not the first. The fields of its Invalid are approval, time and
// those of StartCampaign without typed.
func (d *Campaigns) AskApproval(ctx context.Context, by sms.User, id int64, o Ask) (sms.Campaign, error) {
	if err := by.May(sms.Sender, "ask for approval"); err != nil {
		return sms.Campaign{}, err
	}
	c, err := d.store.Campaign(ctx, id)
	if err != nil || c.Waits() && c.Approval.AskedBy == by.ID {
		return c, err
	}
	if !c.MayStart() {
		return c, fmt.Errorf("ask for approval of campaign %d: %w", id, sms.ErrConflict)
	}
	if err := d.checkAsk(ctx, by, c, o); err != nil {
		return c, err
	}
	asked, err := d.store.UpdateCampaign(ctx, id, d.ms(), func(c *sms.Campaign) error {
		return c.Ask(o.At, o.HandOver, by, o.Version, o.Again, d.now())
	})
	if errors.Is(err, sms.ErrConflict) {
		if now, failed := d.store.Campaign(ctx, id); failed == nil && now.Waits() && now.Approval.AskedBy == by.ID {
			return now, nil
		}
	}
	if err != nil {
		return c, err
	}
	d.approvalDone(ctx, by, "campaign.ask", asked, "content "+asked.Fingerprint)
	return asked, nil
}

// checkAsk asks what a start would be asked, so that a second person is not
// given what cannot be sent.
func (d *Campaigns) checkAsk(ctx context.Context, by sms.User, c sms.Campaign, o Ask) error {
	bad := sms.Invalid{}
	needed, _, err := d.needsApproval(ctx, c)
	if err != nil {
		return err
	}
	can, err := d.Approvers(ctx, by, c)
	switch {
	case err != nil:
		return err
	case !needed:
		bad["approval"] = "This campaign no longer needs approval. Check it, then send it"
	case len(can) == 0:
		bad["approval"] = "No one else can approve it. Ask an administrator to give someone the Approver role"
	}
	if sentence, err := d.askedTimeProblem(ctx, c, o); err != nil {
		return err
	} else if sentence != "" {
		bad["time"] = sentence
	}
	more, err := d.checks(ctx, by, c, sms.WayAsk, o.StartOrder)
	if err != nil {
		return err
	}
	maps.Copy(bad, more.invalid())
	return bad.Or()
}

func (d *Campaigns) askedTimeProblem(ctx context.Context, c sms.Campaign, o Ask) (string, error) {
	switch {
	case o.At.At == 0:
		return "", nil
	case !o.HandOver:
		return o.At.Check(d.now()), nil
	}
	account, err := d.store.Account(ctx, c.AccountID)
	return handOverProblem(account, c, o.At, d.now()), err
}

// ApproveCampaign is the second person's yes: the campaign starts, is scheduled
// or handed over as it was asked for. What came too late for its time is left
// to a person, as the Scheduler does. Whoever approves twice gets the campaign as it
// is; sms.ErrConflict says that it changed, was taken back or that somebody
// else was first, sms.ErrForbidden that it is the person's own. The fields of
// its Invalid are sender_id, again, time and may_repeat.
func (d *Campaigns) ApproveCampaign(ctx context.Context, by sms.User, id int64, o ApproveOrder) (sms.Campaign, error) {
	c, err := d.loadForApproval(ctx, by, id, "approve")
	if err != nil || !c.Waits() && c.Approval.ApprovedBy == by.ID {
		return c, err
	}
	if !c.Waits() {
		return c, fmt.Errorf("approve campaign %d: %w", id, sms.ErrConflict)
	}
	if err := d.checkApproval(ctx, by, c, o); err != nil {
		return c, err
	}
	approved, err := d.store.UpdateCampaign(ctx, id, d.ms(), func(now *sms.Campaign) error {
		if now.Fingerprint != c.Fingerprint {
			return sms.ErrConflict
		}
		return now.Approve(by, o.Version, o.Again, d.now())
	})
	if errors.Is(err, sms.ErrConflict) {
		if now, failed := d.store.Campaign(ctx, id); failed == nil && !now.Waits() && now.Approval.ApprovedBy == by.ID {
			return now, nil
		}
	}
	if err != nil {
		return c, err
	}
	d.approvalDone(ctx, by, "campaign.approve", approved, "content "+approved.Fingerprint)
	return approved, nil
}

// loadForApproval reads a campaign for the person who is to approve it.
func (d *Campaigns) loadForApproval(ctx context.Context, by sms.User, id int64, doing string) (sms.Campaign, error) {
	if err := by.May(sms.Approver, doing+" campaign"); err != nil {
		return sms.Campaign{}, err
	}
	c, err := d.store.Campaign(ctx, id)
	if err == nil && !c.MayApprove(by) {
		err = fmt.Errorf("%s campaign %d: %w: someone else has to approve it", doing, id, sms.ErrForbidden)
	}
	return c, err
}

// checkApproval asks once more what may have changed since the question. A group
// that is not there stands at the sender ID: the form has no place of its own.
func (d *Campaigns) checkApproval(ctx context.Context, by sms.User, c sms.Campaign, o ApproveOrder) error {
	refused, err := d.checks(ctx, by, c, sms.WayApprove, StartOrder{Again: o.Again, MayRepeat: o.MayRepeat})
	if err != nil {
		return err
	}
	bad := refused.invalid()
	if sentence := refused.of(sms.CheckGroup); sentence != "" {
		delete(bad, fieldOf(sms.CheckGroup))
		bad[fieldOf(sms.CheckSender)] = sentence
	}
	if c.HandOver {
		account, err := d.store.Account(ctx, c.AccountID)
		if err != nil {
			return err
		}
		if handOverProblem(account, c, c.Schedule(), d.now()) != "" {
			bad["time"] = "It is too late to schedule this with the provider. Send it back so that another time can be chosen"
		}
	}
	return bad.Or()
}

// ReturnCampaign sends a campaign that waits for approval back to its author:
// it is a draft again and shows the reason. Errors are those of
// ApproveCampaign; the field of its Invalid is reason.
func (d *Campaigns) ReturnCampaign(ctx context.Context, by sms.User, id, version int64,
	reason string) (sms.Campaign, error) {
	reason, sentence := sms.CheckReturned(reason)
	c, err := d.loadForApproval(ctx, by, id, "send back")
	if err != nil {
		return c, err
	}
	if sentence != "" {
		return c, sms.Invalid{"reason": sentence}
	}
	returned, err := d.store.UpdateCampaign(ctx, id, d.ms(), func(c *sms.Campaign) error {
		return c.Return(by, version, reason, d.now())
	})
	if err != nil {
		return c, err
	}
	d.approvalDone(ctx, by, "campaign.return", returned, reason)
	return returned, nil
}

// WithdrawApproval makes a campaign that waits for approval a draft again, to
// be changed or left. Once it is approved the error is sms.ErrConflict.
func (d *Campaigns) WithdrawApproval(ctx context.Context, by sms.User, id int64) (sms.Campaign, error) {
	return d.updateCampaign(ctx, by, id, "campaign.take_back", (*sms.Campaign).TakeBack)
}

func (d *Campaigns) approvalDone(ctx context.Context, by sms.User, action string, c sms.Campaign, detail string) {
	when := "at once"
	if c.SendAt > 0 {
		when = "for " + c.Schedule().Time().Format("2006-01-02 15:04 -0700")
	}
	d.audit(ctx, by, action, feed.Campaign(c.ID), fmt.Sprintf("%d messages, %d parts, %s; %s", c.Recipients, c.Parts, when,
		detail))
	d.feed.Publish(feed.Campaign(c.ID), feed.Campaigns(c.AccountID))
}
