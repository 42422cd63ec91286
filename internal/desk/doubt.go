package desk

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/plan"
	"smsdesk/internal/sms"
)

// Doubts takes what people decide about messages of which nobody knows whether
// they were sent.
type Doubts struct {
	work
	store   DoubtStore
	records *Records
}

// DoubtStore is what those orders need to be remembered.
type DoubtStore interface {
	Account(ctx context.Context, id int64) (sms.Account, error)
	Agree(ctx context.Context, id int64, second sms.User, limits plan.Limits, now int64) (sms.DecisionResult, error)
	AskMessage(ctx context.Context, id, now int64) (made bool, err error)
	Campaign(ctx context.Context, id int64) (sms.Campaign, error)
	CountSilent(ctx context.Context, account, from, until int64) (int64, error)
	Decide(ctx context.Context, d sms.Decision, limits plan.Limits, since, now int64) (sms.DecisionResult, error)
	Decision(ctx context.Context, id int64) (sms.Decision, error)
	DropDecision(ctx context.Context, id int64, by sms.User, now int64) (sms.Decision, error)
	Gaps(ctx context.Context, since, least int64) ([]sms.Outage, error)
	LinkReport(ctx context.Context, key, message int64, country string, now int64) (sms.ApplyResult, error)
	Message(ctx context.Context, id int64) (sms.Message, error)
	OpenInquiry(ctx context.Context, i sms.StatusCheck) error
	Report(ctx context.Context, key int64) (sms.StoredReport, error)
	StopInquiry(ctx context.Context, account, from, now int64) error
}

// decideWithin is the time in which the decisions of one person are added up
// for sms.SecondFrom.
const decideWithin = 24 * time.Hour

// DecideDoubts carries out what a person chose about messages of a campaign
// that are in doubt or held, but for those that reports settled since readAt,
// when the person's page was made. It is whole or not at all: sms.StaleDecisionError
// names what somebody else decided meanwhile. Too many at once wait for a second
// person (the decision's state says so). What is to be sent again stands in a
// draft of its own afterwards, to be confirmed.
func (d *Doubts) DecideDoubts(ctx context.Context, by sms.User, campaign int64, choices []sms.DecisionItem,
	readAt int64) (sms.DecisionResult, error) {
	if err := by.May(sms.Manager, "decide about messages in doubt"); err != nil {
		return sms.DecisionResult{}, err
	}
	c, err := d.store.Campaign(ctx, campaign)
	if err != nil {
		return sms.DecisionResult{}, err
	}
	choices = slices.DeleteFunc(slices.Clone(choices), func(x sms.DecisionItem) bool {
		return x.Message == 0 && x.Choice == sms.ChooseLater
	})
	if !slices.ContainsFunc(choices, func(x sms.DecisionItem) bool { return x.Choice != sms.ChooseLater }) {
		return sms.DecisionResult{}, sms.Invalid{"choices": "Make at least one decision"}
	}
	limits, err := d.againLimits(ctx, c)
	if err != nil {
		return sms.DecisionResult{}, err
	}
	out, err := d.store.Decide(ctx, sms.Decision{CampaignID: c.ID, AccountID: c.AccountID, Choices: choices, By: by,
		At: readAt}, limits, d.now().Add(-decideWithin).UnixMilli(), d.ms())
	if err != nil || out.Decision.ID == 0 {
		return out, err
	}
	action := "doubt.decide"
	if out.Decision.State == sms.DecisionProposed {
		action = "doubt.propose"
	}
	d.decided(ctx, by, action, c, out)
	return out, nil
}

// AgreeDoubts carries out what somebody else proposed. The same person cannot
// do both.
func (d *Doubts) AgreeDoubts(ctx context.Context, by sms.User, id int64) (sms.DecisionResult, error) {
	if err := by.May(sms.Manager, "agree to decisions"); err != nil {
		return sms.DecisionResult{}, err
	}
	proposed, err := d.store.Decision(ctx, id)
	if err != nil {
		return sms.DecisionResult{}, err
	}
	c, err := d.store.Campaign(ctx, proposed.CampaignID)
	if err != nil {
		return sms.DecisionResult{}, err
	}
	limits, err := d.againLimits(ctx, c)
	if err != nil {
		return sms.DecisionResult{}, err
	}
	out, err := d.store.Agree(ctx, id, by, limits, d.ms())
	if err != nil {
		return out, err
	}
	d.decided(ctx, by, "doubt.agree", c, out)
	return out, nil
}

// againLimits are planLimits of a campaign whose messages may be sent again.
func (d *Doubts) againLimits(ctx context.Context, c sms.Campaign) (plan.Limits, error) {
	a, err := d.store.Account(ctx, c.AccountID)
	if err != nil {
		return plan.Limits{}, err
	}
	return d.records.PlanLimits(ctx, a, c)
}

// DropDoubts takes a proposal back: the person who made it, or anybody else who
// might have agreed.
func (d *Doubts) DropDoubts(ctx context.Context, by sms.User, id int64) (sms.Decision, error) {
	if err := by.May(sms.Manager, "take decisions back"); err != nil {
		return sms.Decision{}, err
	}
	out, err := d.store.DropDecision(ctx, id, by, d.ms())
	if err != nil {
		return out, err
	}
	d.audit(ctx, by, "doubt.drop", feed.Campaign(out.CampaignID),
		fmt.Sprintf("decision %d by %s, %d messages", out.ID, out.By.Name, out.N))
	d.feed.Publish(feed.Campaign(out.CampaignID))
	return out, nil
}

func (d *Doubts) decided(ctx context.Context, by sms.User, action string, c sms.Campaign, out sms.DecisionResult) {
	detail := fmt.Sprintf("decision %d: %s", out.Decision.ID, countChoices(out.Counts))
	if out.Decision.Second.ID > 0 {
		detail += ", proposed by " + out.Decision.By.Name
	}
	if out.Settled > 0 {
		detail += fmt.Sprintf(", %d settled by reports before", out.Settled)
	}
	if out.Campaign.ID > 0 {
		detail += fmt.Sprintf(", to be sent again in %s", feed.Campaign(out.Campaign.ID))
	}
	d.audit(ctx, by, action, feed.Campaign(c.ID), detail+". "+choiceList(out.Decision.Choices))
	d.feed.Publish(feed.Campaign(c.ID), feed.Campaigns(c.AccountID))
	if out.Campaign.ID > 0 {
		d.feed.Publish(feed.Campaign(out.Campaign.ID))
	}
}

func countChoices(counts map[sms.Choice]int) string {
	var words []string
	for _, c := range []sms.Choice{sms.ChooseSent, sms.ChooseAgain, sms.ChooseClose, sms.ChooseQueue} {
		if n := counts[c]; n > 0 {
			words = append(words, fmt.Sprintf("%s %d", c, n))
		}
	}
	return strings.Join(words, ", ")
}

// choiceList writes every choice for the audit log, by call and message.
func choiceList(list []sms.DecisionItem) string {
	words := make([]string, len(list))
	for i, c := range list {
		words[i] = fmt.Sprintf("attempt %d: %s (%d)", c.Attempt, c.Choice, c.Seen)
		if c.Message > 0 {
			words[i] = fmt.Sprintf("message %d: %s", c.Message, c.Choice)
		}
	}
	return strings.Join(words, "; ")
}

// LinkReport ties a report that no id matches to a message of the same number
// and text, which it settles as "sent". It fails with sms.ErrConflict when
// either is not as it was.
func (d *Doubts) LinkReport(ctx context.Context, by sms.User, key, message int64) error {
	if err := by.May(sms.Manager, "link a report"); err != nil {
		return err
	}
	r, err := d.store.Report(ctx, key)
	if err != nil {
		return err
	}
	a, err := d.store.Account(ctx, r.AccountID)
	if err != nil {
		return err
	}
	done, err := d.store.LinkReport(ctx, key, message, a.Country, d.ms())
	if err != nil {
		return err
	}
	d.audit(ctx, by, "report.link", feed.Message(message), fmt.Sprintf("report %d", key))
	d.feed.Publish(feed.Applied(a.ID, done.Campaigns, done.Messages)...)
	return nil
}

// AskMessage asks the service what became of one message (§4.8). The question
// takes a place under the rate that nobody else needs, so the answer may take a
// while; it stands beside the message then. A question that waits already is
// not put twice. It fails with sms.ErrConflict when the service gave no id for
// the message.
func (d *Doubts) AskMessage(ctx context.Context, by sms.User, message int64) error {
	if err := by.May(sms.Sender, "ask about a message"); err != nil {
		return err
	}
	m, err := d.store.Message(ctx, message)
	if err != nil {
		return err
	}
	made, err := d.store.AskMessage(ctx, message, d.ms())
	if err != nil || !made {
		return err
	}
	d.audit(ctx, by, "message.ask", feed.Message(message), "")
	d.feed.Publish(feed.Message(message), feed.Asked(m.AccountID))
	return nil
}

// minGap is the shortest time without callbacks that counts as a gap, and
// gapsBack how far back gaps are shown.
const (
	minGap   = 2 * time.Second
	gapsBack = 7 * 24 * time.Hour
)

// Gaps lists when callbacks were not answered in the last seven days, oldest
// first.
func (d *Doubts) Gaps(ctx context.Context) ([]sms.Outage, error) {
	return d.store.Gaps(ctx, d.now().Add(-gapsBack).UnixMilli(), minGap.Milliseconds())
}

// AskAboutGap asks the service what became of the messages whose reports may
// have been lost in a gap, which its beginning names. The questions take only
// places that nobody else needs; it may be stopped.
func (d *Doubts) AskAboutGap(ctx context.Context, by sms.User, account, from int64) error {
	if err := by.May(sms.Sender, "ask about lost reports"); err != nil {
		return err
	}
	gaps, err := d.Gaps(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(gaps, func(g sms.Outage) bool { return g.From == from })
	if i < 0 {
		return fmt.Errorf("ask about lost reports: %w", sms.ErrNotFound)
	}
	g := gaps[i]
	n, err := d.store.CountSilent(ctx, account, g.From-sms.GapReach.Milliseconds(), g.Until)
	if err != nil {
		return err
	}
	if err := d.store.OpenInquiry(ctx, sms.StatusCheck{AccountID: account, Gap: g, Total: n, By: by,
		StartedAt: d.ms()}); err != nil {
		return err
	}
	d.audit(ctx, by, "gap.ask", feed.Account(account), fmt.Sprintf("%d messages", n))
	d.feed.Publish(feed.Reports(account))
	return nil
}

// StopAsking ends the questions about a gap.
func (d *Doubts) StopAsking(ctx context.Context, by sms.User, account, from int64) error {
	if err := by.May(sms.Sender, "stop asking about lost reports"); err != nil {
		return err
	}
	if err := d.store.StopInquiry(ctx, account, from, d.ms()); err != nil {
		return err
	}
	d.audit(ctx, by, "gap.stop", feed.Account(account), "")
	d.feed.Publish(feed.Reports(account))
	return nil
}
