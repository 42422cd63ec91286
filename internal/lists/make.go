package lists

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/plan"
	"smsdesk/internal/radar"
	"smsdesk/internal/sms"
)

// make puts the rows into a campaign.
func (im *Importer) make(ctx context.Context, l sms.List) error {
	account, err := im.lists.store.Account(ctx, l.AccountID)
	if err != nil {
		return err
	}
	some, l, err := im.rowsToMake(ctx, account, l)
	var p planned
	if err == nil {
		p, err = im.plan(ctx, account, l, some)
	}
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
	tally, err := im.makeMessages(ctx, l, c, some, p.plan)
	if err != nil {
		return err
	}
	if err := im.store.PublishImport(ctx, l, c, tally, im.lists.ms()); err != nil {
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
}

// rowsToMake are the staged rows as the campaign has them: where the person
// wants it so, without those who got nearly the same text by now. l is the list
// with their count.
func (im *Importer) rowsToMake(ctx context.Context, account sms.Account,
	l sms.List) (iter.Seq2[sms.ListRow, error], sms.List, error) {
	staged := im.store.StagedRows(ctx, l.UID, l.Sum)
	leaveOut, looked := l.Order.OnlyNew, im.lists.ms()
	if l.Tally.LookedAt != 0 && !leaveOut {
		return staged, l, nil
	}
	found, err := im.already(ctx, l, l.Sum, l.Tally.Good+l.Tally.Kinds[sms.RowAlready])
	if err != nil {
		return nil, l, err
	}
	l, err = im.change(ctx, l, func(now *sms.List) {
		leaveOutAlready(&now.Tally, false)
		now.Tally.Already, now.Tally.LookedAt = found.Already(), looked
		leaveOutAlready(&now.Tally, leaveOut)
	})
	if !leaveOut {
		found = nil
	}
	at := account.Location()
	return func(yield func(sms.ListRow, error) bool) {
		for r, err := range staged {
			if got, is := found.At(rowOf(r)); is && r.Kind == "" && err == nil {
				r.Kind, r.Reason = sms.RowAlready, sms.AlreadyReason(time.UnixMilli(got).In(at))
			}
			if !yield(r, err) {
				return
			}
		}
	}, l, err
}

// plan reads the rows once and divides those to be sent into calls.
func (im *Importer) plan(ctx context.Context, account sms.Account, l sms.List,
	some iter.Seq2[sms.ListRow, error]) (p planned, err error) {
	c := sms.Campaign{AccountID: l.AccountID, Name: l.Order.Name, SenderID: l.Order.SenderID, Flash: l.Order.Flash,
		ListID: l.ID, Recipients: l.Tally.Rows, TextKey: radar.ListKey(l.Order),
		CreatedBy: l.CreatedBy, CreatedName: l.CreatedName, SendAgain: l.Again,
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
	for r, err := range some {
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
		c.Parts += int64(r.Parts)
		print.Add(r.MSISDN(), r.Text)
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
func (im *Importer) makeMessages(ctx context.Context, l sms.List, c sms.Campaign,
	some iter.Seq2[sms.ListRow, error], plan plan.Plan) (sms.Tally, error) {
	tally, done, sent, said := sms.Tally{}, int64(0), 0, im.lists.now()
	waiting := make([]sms.Message, 0, messagesPerTx)
	store := func() error {
		n, err := im.store.PutMessages(ctx, c.ID, waiting, im.lists.ms())
		if err != nil {
			return err
		}
		done += int64(n)
		waiting = waiting[:copy(waiting, waiting[n:])]
		if now := im.lists.now(); now.Sub(said) >= progressInterval {
			said = now
			return im.progress(ctx, l, done, l.Tally.Rows)
		}
		return nil
	}
	for r, err := range some {
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
		if waiting = append(waiting, m); len(waiting) == messagesPerTx {
			if err := store(); err != nil {
				return nil, err
			}
		}
	}
	for len(waiting) > 0 {
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
