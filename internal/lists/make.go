package lists

import (
	"context"
	"errors"
	"fmt"

	"smsdesk/internal/feed"
	"smsdesk/internal/plan"
	"smsdesk/internal/sms"
)

// make puts the rows into a campaign.
func (im *Importer) make(ctx context.Context, l sms.List) error {
	account, err := im.lists.store.Account(ctx, l.AccountID)
	if err != nil {
		return err
	}
	p, err := im.plan(ctx, account, l)
	if errors.Is(err, sms.ErrConflict) || errors.Is(err, sms.ErrNotFound) {
		im.lists.log.Warn("the staged rows of a list are damaged: it is checked again", "list", l.UID, "error", err)
		_, err = im.change(ctx, l, func(now *sms.List) { now.State, now.Done = sms.ListChecking, 0 })
		return err
	}
	if err != nil {
		return err
	}
	c := p.campaign
	if c.ID, err = im.store.StartImport(ctx, l, c, im.lists.ms()); err != nil {
		return err
	}
	tally, err := im.makeMessages(ctx, l, c, p.plan)
	if err != nil {
		return err
	}
	if err := im.store.PublishImport(ctx, l, c, tally, &p.sketch, im.lists.ms()); err != nil {
		return err
	}
	by := sms.User{ID: l.CreatedBy, Name: l.CreatedName}
	im.lists.audit(ctx, by, "campaign.draft", feed.Campaign(c.ID), fmt.Sprintf("%d rows of %s", c.Recipients, l.FileName))
	im.lists.feed.Publish(feed.List(l.UID), feed.Campaigns(l.AccountID), feed.Campaign(c.ID))
	return nil
}

// planned is a campaign before its messages are stored.
type planned struct {
	campaign sms.Campaign
	plan     plan.Plan
	sketch   sms.Sketch
}

// plan reads the staged rows once and divides those to be sent into calls.
func (im *Importer) plan(ctx context.Context, account sms.Account, l sms.List) (p planned, err error) {
	c := sms.Campaign{AccountID: l.AccountID, Name: l.Order.Name, SenderID: l.Order.SenderID, Flash: l.Order.Flash,
		ListID: l.ID, Recipients: l.Tally.Rows,
		Parts: l.Tally.Parts, CreatedBy: l.CreatedBy, CreatedName: l.CreatedName, SendAgain: l.Again,
		Template: l.Order.Template}
	if newRenderer(l.Order).constant() && len(sms.Placeholders(l.Order.Text)) == 0 {
		c.Text = l.Order.Text
	}
	limits, err := im.lists.checks.PlanLimits(ctx, account, c)
	if err != nil {
		return p, err
	}
	planner := plan.New(limits, int(l.Tally.Good))
	var print sms.Fingerprinter
	for r, err := range im.store.StagedRows(ctx, l.UID, l.Sum) {
		if err != nil {
			return p, err
		}
		if r.Row%releaseEvery == 0 {
			im.releaseMemory(ctx, l)
		}
		if r.Kind != "" {
			continue
		}
		c.Unicode = c.Unicode || r.Unicode
		print.Add(r.MSISDN(), r.Text)
		p.sketch.Add(r.Number)
		if err := planner.Add(plan.Row{ID: r.Row, Number: r.MSISDN(), Text: r.Text, Unicode: r.Unicode}); err != nil {
			return p, err
		}
	}
	planner.Seal()
	im.releaseMemory(ctx, l)
	p.plan = planner.Plan()
	im.releaseMemory(ctx, l)
	c.CallsText, c.CallsPairs = int64(p.plan.ByKind[sms.CallText]), int64(p.plan.ByKind[sms.CallPairs])
	c.Fingerprint = print.Sum(c.SenderID)
	p.campaign = c
	return p, nil
}

// makeMessages stores the messages of a hidden campaign, one for each row.
func (im *Importer) makeMessages(ctx context.Context, l sms.List, c sms.Campaign, plan plan.Plan) (sms.Tally, error) {
	tally, done, sent, said := sms.Tally{}, int64(0), 0, im.lists.now()
	some := make([]sms.Message, 0, messagesPerTx)
	store := func() error {
		n, err := im.store.PutMessages(ctx, c.ID, some, im.lists.ms())
		if err != nil {
			return err
		}
		done += int64(n)
		some = some[:copy(some, some[n:])]
		if now := im.lists.now(); now.Sub(said) >= progressInterval {
			said = now
			return im.progress(ctx, l, done, l.Tally.Rows)
		}
		return nil
	}
	for r, err := range im.store.StagedRows(ctx, l.UID, l.Sum) {
		if err != nil {
			return nil, err
		}
		if r.Row%releaseEvery == 0 {
			im.releaseMemory(ctx, l)
		}
		m := messageOf(r, c)
		if m.State == sms.Draft {
			m.Call = plan.Assign[sent]
			sent++
		}
		tally[sms.StandingKey(m.State, "", false)]++
		if some = append(some, m); len(some) == messagesPerTx {
			if err := store(); err != nil {
				return nil, err
			}
		}
	}
	for len(some) > 0 {
		if err := store(); err != nil {
			return nil, err
		}
	}
	return tally, ctx.Err()
}

func messageOf(r sms.ListRow, c sms.Campaign) sms.Message {
	m := sms.Message{AccountID: c.AccountID, CampaignID: c.ID, Row: r.Row, Number: r.MSISDN(), Text: r.Text,
		Unicode: r.Unicode, Parts: r.Parts, State: sms.Draft}
	if r.Kind != "" {
		m.State, m.Reason, m.Code = sms.Skipped, r.Reason, string(r.Kind)
	}
	return m
}
