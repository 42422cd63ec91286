package storage

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// Heartbeat says that callbacks are answered now. With span 0 it begins a new
// stretch of time; otherwise it makes the stretch longer. It returns the
// stretch.
func (db reportStore) Heartbeat(ctx context.Context, span, now int64) (int64, error) {
	err := db.update(ctx, "note that callbacks are answered", func(t *tx) error {
		if span != 0 {
			n, err := t.ExtendSpan(ctx, span, now)
			if err != nil || n == 1 {
				return err
			}
		}
		id, err := t.OpenSpan(ctx, now)
		span = id
		return err
	})
	return span, err
}

// Gaps lists the times since the given one in which callbacks were not
// answered for at least the given length, oldest first. A gap that has not
// ended yet is not among them: then this process would not be asked.
func (db reportStore) Gaps(ctx context.Context, since, least int64) ([]sms.Outage, error) {
	spans, err := db.read().Spans(ctx, since)
	if err != nil {
		return nil, fmt.Errorf("list when callbacks were answered: %w", err)
	}
	slices.Reverse(spans)
	var gaps []sms.Outage
	for i := 1; i < len(spans); i++ {
		if g := (sms.Outage{From: spans[i-1].UntilAt, Until: spans[i].FromAt}); g.Until-g.From >= least {
			gaps = append(gaps, g)
		}
	}
	return gaps, nil
}

// AddReceiverStats adds what the receiver did. Each minute and account stands in the
// list once.
func (db reportStore) AddReceiverStats(ctx context.Context, list []sms.ReceiverMinute) error {
	if len(list) == 0 {
		return nil
	}
	return db.update(ctx, "count callbacks", func(t *tx) error {
		for _, p := range list {
			old, err := t.PulseAt(ctx, p.AccountID, p.Minute)
			if err != nil && !errors.Is(classify(err), sms.ErrNotFound) {
				return err
			}
			p.Took.Merge(sms.ParseTimings(old.Took))
			if err := t.AddPulse(ctx, query.AddPulseParams{AccountID: p.AccountID, Minute: p.Minute, Answered: p.Answered,
				Refused: p.Refused, Lost: p.Lost, Took: p.Took.String(), Posted: p.Posted}); err != nil {
				return err
			}
		}
		return nil
	})
}

// PulseSince adds up what the receiver did for an account since the given
// minute; account 0 is for wrong tokens.
func (db reportStore) PulseSince(ctx context.Context, account, since int64) (sum sms.ReceiverMinute, err error) {
	list, err := db.PulseMinutes(ctx, account, since)
	sum.AccountID, sum.Minute = account, since
	for _, p := range list {
		sum.Answered, sum.Refused, sum.Lost = sum.Answered+p.Answered, sum.Refused+p.Refused, sum.Lost+p.Lost
		sum.Posted += p.Posted
		sum.Took.Merge(p.Took)
	}
	return sum, err
}

// PulseMinutes lists what the receiver did for an account since the given
// minute, oldest first; minutes in which nothing happened are not there.
func (db reportStore) PulseMinutes(ctx context.Context, account, since int64) ([]sms.ReceiverMinute, error) {
	rows, err := db.read().Pulses(ctx, account, since)
	return foundAll(rows, err, pulse, "read what the receiver did")
}

// PostedSince counts the reports that came by POST since the given minute and
// were turned away, because the account does not take them so.
func (db reportStore) PostedSince(ctx context.Context, account, since int64) (int64, error) {
	n, err := db.read().PostedSince(ctx, account, since)
	return n, wrapErr(err, "count reports that came by POST")
}

// Refused lists the minutes before the given one in which calls with a wrong
// token came, newest first. before 0 begins with the newest.
func (db reportStore) Refused(ctx context.Context, before int64,
	limit int) (list []sms.ReceiverMinute, more bool, err error) {
	if before == 0 {
		before = math.MaxInt64
	}
	rows, err := db.read().RefusedMinutes(ctx, before, int32(limit+1))
	if err != nil {
		return nil, false, fmt.Errorf("list refused callbacks: %w", err)
	}
	if more = len(rows) > limit; more {
		rows = rows[:limit]
	}
	for _, r := range rows {
		list = append(list, pulse(r))
	}
	return list, more, nil
}

// PurgeReceiverStats removes counts and stretches of time older than the given one.
func (db reportStore) PurgeReceiverStats(ctx context.Context, accounts []int64, before int64) error {
	return db.update(ctx, "forget old counts of callbacks", func(t *tx) error {
		err := t.ForgetSpans(ctx, before)
		for _, a := range append([]int64{0}, accounts...) {
			err = errors.Join(err, t.ForgetPulses(ctx, a, before))
		}
		return err
	})
}

func pulse(r query.ReceiverMinute) sms.ReceiverMinute {
	return sms.ReceiverMinute{AccountID: r.AccountID, Minute: r.Minute, Answered: r.Answered, Refused: r.Refused,
		Lost: r.Lost, Posted: r.Posted, Took: sms.ParseTimings(r.Took)}
}
