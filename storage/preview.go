package storage

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// FirstToSend finds the first message of a draft that is not left out.
func (db campaignStore) FirstToSend(ctx context.Context, campaign int64) (sms.Message, error) {
	return previewed(db.read().FirstDraft(ctx, campaign))
}

// MessageAtRow finds the message of a row of a campaign's list, where that row
// has none the one of the next row that has, behind the last row the last one.
// Rows stand in the order of their ids, so that a few look-ups by id find one
// among a million.
func (db campaignStore) MessageAtRow(ctx context.Context, campaign, row int64) (sms.Message, error) {
	q := db.read()
	last, err := q.LastMessage(ctx, campaign)
	if err != nil || last.RowNo <= row {
		return previewed(last, err)
	}
	found, err := q.MessageFrom(ctx, campaign, 0)
	for low, high := found.ID, last.ID; err == nil && low < high; {
		middle := low + (high-low)/2
		var at query.Message
		if at, err = q.MessageFrom(ctx, campaign, middle); err != nil {
			break
		}
		if at.RowNo < row {
			low = at.ID + 1
			continue
		}
		high, found = middle, at
	}
	return previewed(found, err)
}

func previewed(r query.Message, err error) (sms.Message, error) {
	return foundOne(r, err, message, "read a row of a campaign")
}

// Extremes looks through at most most messages of a draft.
func (db campaignStore) Extremes(ctx context.Context, campaign int64, most int) (e sms.Extremes, err error) {
	rows, err := db.read().DraftLengths(ctx, campaign, int32(most))
	if err != nil {
		return e, fmt.Errorf("measure messages: %w", err)
	}
	parts, letters := int64(0), 0
	for _, r := range rows {
		n := utf8.RuneCountInString(r.Text)
		if r.Parts > parts || r.Parts == parts && n > letters {
			e.Longest, parts, letters = r.RowNo, r.Parts, n
		}
		if r.Unicode && (e.Odd == 0 || r.RowNo < e.Odd) {
			e.Odd = r.RowNo
		}
	}
	return e, nil
}

// BlockedSince counts the messages of a draft whose number was blocked after
// they were made, and their parts. Of more than most messages they are not
// counted: known is false then, unless no number was blocked since.
func (db campaignStore) BlockedSince(ctx context.Context, c sms.Campaign,
	most int) (messages, parts int64, known bool, err error) {
	newest, err := db.read().LastBlocked(ctx, c.AccountID)
	switch err = classify(err); {
	case errors.Is(err, sms.ErrNotFound) || err == nil && newest < c.CreatedAt:
		return 0, 0, true, nil
	case err != nil:
		return 0, 0, false, fmt.Errorf("look for numbers blocked since: %w", err)
	case c.Recipients > int64(most):
		return 0, 0, false, nil
	}
	r, err := db.read().BlockedDrafts(ctx, c.ID, int32(most))
	if err != nil {
		return 0, 0, false, fmt.Errorf("count numbers blocked since: %w", err)
	}
	return r.Messages, r.Parts, true, nil
}

// Pace is how fast a campaign's calls leave: those of its own that were allowed to
// start since a time, and when the service last answered that the account's come
// too fast, 0 when it did not.
func (db campaignStore) Pace(ctx context.Context, account, campaign, since int64) (calls, tooFast int64, err error) {
	if calls, err = db.read().CountLicences(ctx, account, since, campaign); err != nil {
		return 0, 0, fmt.Errorf("count calls: %w", err)
	}
	tooFast, err = db.read().LastRateAnswer(ctx, account, since)
	if err = classify(err); err != nil && !errors.Is(err, sms.ErrNotFound) {
		return 0, 0, fmt.Errorf("look for answers about the rate: %w", err)
	}
	return calls, tooFast, nil
}
