package lists

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"golang.org/x/sync/errgroup"

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
	if p.campaign.ID, err = im.store.StartImport(ctx, l, p.campaign, im.lists.ms()); err != nil {
		return err
	}
	if err := im.makeMessages(ctx, l, some, p); err != nil {
		return err
	}
	c := p.campaign
	if err := im.store.PublishImport(ctx, l, c, p.tally, im.lists.ms()); err != nil {
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
	rows     []int32 // those that are sent, in the order of the plan
	left     int64   // how many were left out after the check
	tally    sms.Tally
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
		Template: l.Order.Template, SeriesID: l.Reading.Series, SeriesRun: l.Reading.SeriesRun}
	if newRenderer(l.Order).constant() && len(sms.Placeholders(l.Order.Text)) == 0 {
		c.Text = l.Order.Text
	}
	limits, err := im.lists.checks.PlanLimits(ctx, account, c)
	if err != nil {
		return p, err
	}
	planner := plan.New(limits, int(l.Tally.Good))
	p.rows, p.tally = make([]int32, 0, l.Tally.Good), sms.Tally{}
	var print sms.Fingerprinter
	err = im.readAhead(ctx, l, some, func(r sms.ListRow) error {
		if r.Kind != "" {
			p.tally[sms.StandingKey(sms.Skipped, "", false)]++
			if r.Reason != "" {
				p.left++
			}
			return nil
		}
		p.tally[sms.StandingKey(sms.Draft, "", false)]++
		p.rows = append(p.rows, int32(r.Row))
		c.Unicode = c.Unicode || r.Unicode
		c.Parts += int64(r.Parts)
		number := r.MSISDN()
		print.Add(number, r.Text)
		return planner.Add(plan.Row{ID: r.Row, Number: number, Text: r.Text, Unicode: r.Unicode})
	})
	if err != nil {
		return p, err
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

// readAhead gives the rows in their order: one hand reads ahead of the other.
func (im *Importer) readAhead(ctx context.Context, l sms.List, rows iter.Seq2[sms.ListRow, error],
	do func(sms.ListRow) error) error {
	hands, ctx := errgroup.WithContext(ctx)
	ahead := make(chan []sms.ListRow, batchesWaiting)
	hands.Go(recoverPanic(func() error {
		defer close(ahead)
		batch := make([]sms.ListRow, 0, rowsPerBatch)
		for r, err := range rows {
			if err != nil {
				return err
			}
			if r.Row%releaseEvery == 0 {
				im.releaseMemory(ctx, l)
			}
			if batch = append(batch, r); len(batch) < cap(batch) {
				continue
			}
			if !send(ctx, ahead, batch) {
				return ctx.Err()
			}
			batch = make([]sms.ListRow, 0, rowsPerBatch)
		}
		if !send(ctx, ahead, batch) {
			return ctx.Err()
		}
		return nil
	}))
	hands.Go(recoverPanic(func() error {
		for batch := range ahead {
			for _, r := range batch {
				if err := do(r); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	return hands.Wait()
}

// makeMessages stores the messages of a hidden campaign, one for each row.
func (im *Importer) makeMessages(ctx context.Context, l sms.List, some iter.Seq2[sms.ListRow, error], p planned) error {
	said := im.lists.now()
	calls := func(yield func(int64, int32) bool) {
		for i, row := range p.rows {
			if !yield(int64(row), p.plan.Assign[i]) {
				return
			}
		}
	}
	progress := func(done int64) error {
		if now := im.lists.now(); now.Sub(said) >= progressInterval {
			said = now
			return im.progress(ctx, l, done, l.Tally.Rows)
		}
		return ctx.Err()
	}
	return im.store.PutStaged(ctx, l.UID, p.campaign, p.tally.Total(), calls, leftSince(some, p.left), im.lists.ms(),
		progress)
}

// leftSince are the rows that were left out after the check; none is read where
// there are none.
func leftSince(rows iter.Seq2[sms.ListRow, error], n int64) iter.Seq2[sms.ListRow, error] {
	return func(yield func(sms.ListRow, error) bool) {
		if n == 0 {
			return
		}
		for r, err := range rows {
			if (err != nil || r.Reason != "") && !yield(r, err) {
				return
			}
		}
	}
}
