package desk

import (
	"context"
	"fmt"
	"slices"

	"smsdesk/internal/feed"
	"smsdesk/internal/phone"
	"smsdesk/internal/plan"
	"smsdesk/internal/sms"
)

// Again makes campaigns of messages that are to be sent once more.
type Again struct {
	work
	store   AgainStore
	records *Records
}

// AgainStore is what those orders need to be remembered.
type AgainStore interface {
	Account(ctx context.Context, id int64) (sms.Account, error)
	StartResend(ctx context.Context, c sms.Campaign, token string, now int64) (made sms.Campaign, whole bool, err error)
	BlockedAmong(ctx context.Context, account int64, numbers []string) (map[string]sms.Blocked, error)
	Campaign(ctx context.Context, id int64) (sms.Campaign, error)
	Message(ctx context.Context, id int64) (sms.Message, error)
	Messages(ctx context.Context, f sms.MessageFilter) (list []sms.Message, more bool, err error)
	PutMessages(ctx context.Context, campaign int64, messages []sms.Message, now int64) (stored int, err error)
	PublishResend(ctx context.Context, c sms.Campaign, tally sms.Tally, now int64) (sms.Campaign, error)
}

// messagesPerTx is how many messages one transaction may store.
const messagesPerTx = 3000

// ResendOrder says which messages of a campaign are to be sent again.
type ResendOrder struct {
	CampaignID int64
	Keys       []string // standings of sms.ResendChoices
	MessageID  int64    // this one message instead, whatever became of it; 0: those of Keys
	Token      string   // one-use: the same token gives the same campaign
}

// Resend makes a draft of the messages of an earlier campaign, for the
// person to confirm; the earlier messages stay as they are. Numbers that are
// blocked now are left out. Its Invalid has the one field "keys".
func (d *Again) Resend(ctx context.Context, by sms.User, o ResendOrder) (sms.Campaign, error) {
	if err := by.May(sms.Sender, "send again"); err != nil {
		return sms.Campaign{}, err
	}
	if len(o.Token) < 32 || len(o.Token) > 128 {
		return sms.Campaign{}, fmt.Errorf("send again: %w: the form is not one of ours", sms.ErrConflict)
	}
	earlier, err := d.store.Campaign(ctx, o.CampaignID)
	if err != nil {
		return sms.Campaign{}, err
	}
	account, err := d.store.Account(ctx, earlier.AccountID)
	if err != nil {
		return sms.Campaign{}, err
	}
	a := resend{from: d, order: o, account: account, earlier: earlier}
	if err := a.choose(ctx); err != nil {
		return sms.Campaign{}, err
	}
	limits, err := d.records.PlanLimits(ctx, account, earlier)
	if err != nil {
		return sms.Campaign{}, err
	}
	repetition := plan.NewRepetition(earlier, by, limits, len(a.ids))
	c, whole, err := d.store.StartResend(ctx, repetition.Campaign, o.Token, d.ms())
	switch {
	case err != nil:
		return c, err
	case whole && (c.CreatedBy != by.ID || c.AgainOf != earlier.ID):
		return c, fmt.Errorf("send again: %w: the form was used before", sms.ErrConflict)
	case whole:
		return c, nil
	}
	repetition.Campaign = c
	if c, err = a.make(ctx, repetition); err != nil {
		return c, err
	}
	d.audit(ctx, by, "campaign.again", feed.Campaign(c.ID),
		fmt.Sprintf("%d messages of %s", c.Recipients, feed.Campaign(earlier.ID)))
	d.feed.Publish(feed.Campaigns(c.AccountID), feed.Campaign(earlier.ID))
	return c, nil
}

const nothingAgain = "None of these messages can be sent again"

// resend is one order to send again at work.
type resend struct {
	from    *Again
	order   ResendOrder
	account sms.Account
	earlier sms.Campaign
	ids     []int64 // the chosen messages, in the order of rows
}

// choose finds the messages. Only their ids are kept: there may be a million.
func (a *resend) choose(ctx context.Context) error {
	if a.order.MessageID > 0 {
		m, err := a.from.store.Message(ctx, a.order.MessageID)
		if err != nil {
			return err
		}
		if m.CampaignID != a.earlier.ID || !m.MayResend() {
			return sms.Invalid{"keys": nothingAgain}
		}
		a.ids = []int64{m.ID}
		return nil
	}
	var keys []string
	for _, c := range sms.ResendChoices() {
		if c.May && slices.Contains(a.order.Keys, c.Standing.Key) {
			keys = append(keys, c.Standing.Key)
		}
	}
	if len(keys) == 0 {
		return sms.Invalid{"keys": "Choose what to send again"}
	}
	f := sms.MessageFilter{CampaignID: a.earlier.ID, Keys: keys, Limit: messagesPerTx}
	for more := true; more; {
		var list []sms.Message
		var err error
		if list, more, err = a.from.store.Messages(ctx, f); err != nil {
			return err
		}
		for _, m := range list {
			f.After = m.ID
			if m.Number != "" && !phone.Removed(m.Number) && m.Code != string(sms.RowRepeat) {
				a.ids = append(a.ids, m.ID)
			}
		}
	}
	if len(a.ids) == 0 {
		return sms.Invalid{"keys": nothingAgain}
	}
	return nil
}

// each gives the new messages in the order of rows, a few at a time. What may
// not be sent now is skipped; what was left out before and still may not be
// sent does not come along.
func (a *resend) each(ctx context.Context, do func([]sms.Message) error) error {
	today := a.from.now().In(a.account.Location())
	for ids := range slices.Chunk(a.ids, messagesPerTx/2) {
		list, _, err := a.from.store.Messages(ctx, sms.MessageFilter{CampaignID: a.earlier.ID, IDs: ids, Limit: len(ids)})
		if err != nil {
			return err
		}
		var numbers []string
		for _, m := range list {
			numbers = append(numbers, m.Number)
		}
		blocked, err := a.from.store.BlockedAmong(ctx, a.account.ID, numbers)
		if err != nil {
			return err
		}
		var out []sms.Message
		for _, m := range list {
			n := sms.Message{AccountID: m.AccountID, Row: m.Row, Number: m.Number, Text: m.Text, Unicode: m.Unicode,
				Parts: m.Parts, State: sms.Draft}
			if b, is := blocked[m.Number]; is {
				if m.State == sms.Skipped {
					continue
				}
				n.State, n.Reason, n.Code = sms.Skipped, b.Sentence(today), string(sms.RowBlocked)
			}
			out = append(out, n)
		}
		if err := do(out); err != nil {
			return err
		}
	}
	return nil
}

// make plans and stores the messages, and shows the campaign.
func (a *resend) make(ctx context.Context, r *plan.Repetition) (sms.Campaign, error) {
	if err := a.each(ctx, func(list []sms.Message) error {
		for _, m := range list {
			if err := r.Add(m); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return r.Campaign, err
	}
	if r.Tally["draft"] == 0 {
		return r.Campaign, sms.Invalid{"keys": nothingAgain + " because the numbers are blocked"}
	}
	if err := a.put(ctx, r.Campaign, r.Plan()); err != nil {
		return r.Campaign, err
	}
	return a.from.store.PublishResend(ctx, r.Campaign, r.Tally, a.from.ms())
}

var errAgainMoved = fmt.Errorf("%w: a number was blocked meanwhile", sms.ErrConflict)

// put stores the messages with their calls.
func (a *resend) put(ctx context.Context, c sms.Campaign, calls []int32) error {
	sent := 0
	err := a.each(ctx, func(list []sms.Message) error {
		for i := range list {
			if list[i].State == sms.Skipped {
				continue
			}
			if sent == len(calls) {
				return errAgainMoved
			}
			list[i].Call = calls[sent]
			sent++
		}
		for len(list) > 0 {
			n, err := a.from.store.PutMessages(ctx, c.ID, list, a.from.ms())
			if err != nil {
				return err
			}
			list = list[n:]
		}
		return nil
	})
	if err == nil && sent != len(calls) {
		err = errAgainMoved
	}
	return err
}
