package storage

import (
	"context"
	"errors"
	"fmt"
	"math"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// Reports lists delivery reports, newest first; more says that there are older ones.
func (db reportStore) Reports(ctx context.Context, f sms.ReportFilter) (list []sms.StoredReport, more bool, err error) {
	if f.Before == 0 {
		f.Before = math.MaxInt64
	}
	ask := map[sms.ReportKind]func(context.Context, int64, int64, int32) ([]query.DeliveryReport, error){
		sms.ReportsAll: db.read().ReportsPage, sms.ReportsUnmatched: db.read().UnmatchedPage,
		sms.ReportsRepeated: db.read().RepeatedPage}[f.Kind]
	if ask == nil {
		return nil, false, fmt.Errorf("list delivery reports: kind %q: %w", f.Kind, sms.ErrNotFound)
	}
	rows, err := ask(ctx, f.AccountID, f.Before, int32(f.Limit+1))
	if err != nil {
		return nil, false, fmt.Errorf("list delivery reports: %w", err)
	}
	if more = len(rows) > f.Limit; more {
		rows = rows[:f.Limit]
	}
	list = make([]sms.StoredReport, len(rows))
	for i, r := range rows {
		list[i] = report(r)
	}
	return list, more, nil
}

// Report finds a delivery report by its key.
func (db reportStore) Report(ctx context.Context, key int64) (sms.StoredReport, error) {
	r, err := db.read().ReportByID(ctx, key)
	return foundOne(r, err, report, "read a delivery report")
}

// NewerReports counts the reports of a kind above a key, up to 1,000.
func (db reportStore) NewerReports(ctx context.Context, account int64, kind sms.ReportKind, key int64) (int64, error) {
	ask := map[sms.ReportKind]func(context.Context, int64, int64) (int64, error){
		sms.ReportsAll: db.read().NewerReports, sms.ReportsUnmatched: db.read().NewerUnmatched,
		sms.ReportsRepeated: db.read().NewerRepeated}[kind]
	if ask == nil {
		return 0, nil
	}
	n, err := ask(ctx, account, key)
	return wrapNotFound(n, err, "count newer reports")
}

// SuspiciousReports counts reports whose id the service does not know, up to 100.
func (db reportStore) SuspiciousReports(ctx context.Context, account int64) (int64, error) {
	n, err := db.read().SuspiciousReports(ctx, account)
	return wrapNotFound(n, err, "count suspicious reports")
}

func forgottenName(account int64) string { return fmt.Sprintf("forgotten:%d", account) }

// PurgeUnmatched removes the unmatched reports of an account that are beyond
// the bounds of its quarantine, oldest first and a bounded number in one
// transaction, and counts them.
func (db reportStore) PurgeUnmatched(ctx context.Context, account int64, q sms.Quarantine) error {
	last, err := db.lastBeyond(ctx, account, q)
	if err != nil {
		return fmt.Errorf("find unmatched reports to forget: %w", err)
	}
	for more := true; more; {
		err := db.update(ctx, "forget unmatched reports", func(t *tx) error {
			n, err := t.Queries.ForgetUnmatched(ctx, account, last)
			if more = n > 0; err != nil || !more {
				return err
			}
			gone, err := t.Cursor(ctx, forgottenName(account))
			if err != nil && !errors.Is(classify(err), sms.ErrNotFound) {
				return err
			}
			return t.PutCursor(ctx, forgottenName(account), gone+n)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// lastBeyond is the newest unmatched report that is too old, or has too many or
// too large ones in front of it: it and all before it go. 0 is none.
func (db reportStore) lastBeyond(ctx context.Context, account int64, q sms.Quarantine) (last int64, err error) {
	err = db.reader.QueryRowContext(ctx, `select coalesce(max(u.id), 0) from (
  select r.id, r.received_at, count(*) over newest as reports, sum(octet_length(r.raw) + octet_length(r.short_message)) over newest as bytes
  from delivery_report r where r.account_id = $1 and r.effect = 'not_matched' window newest as (order by r.id desc)) u
where u.received_at < $2 or u.reports > $3 or u.bytes > $4`, account, q.Before, q.Reports, q.Bytes).Scan(&last)
	return last, err
}

// Forgotten counts the unmatched reports that PurgeUnmatched has removed.
func (db reportStore) Forgotten(ctx context.Context, account int64) (int64, error) {
	n, err := db.read().Cursor(ctx, forgottenName(account))
	if errors.Is(classify(err), sms.ErrNotFound) {
		return 0, nil
	}
	return wrapNotFound(n, err, "count forgotten reports")
}

// CountSilent counts the accepted messages without a final report that were
// sent in the given time, both ends included. Beyond sms.MaxStatusCheckCount it only
// says that there are more.
func (db reportStore) CountSilent(ctx context.Context, account, from, until int64) (int64, error) {
	n, err := db.read().CountSilent(ctx, account, from, until)
	if err != nil {
		return 0, fmt.Errorf("count messages without a report: %w", err)
	}
	return min(n, sms.MaxStatusCheckCount+1), nil
}

// Inquiry finds the inquiry about a gap by its beginning; sms.ErrNotFound when
// nobody asked.
func (db reportStore) Inquiry(ctx context.Context, account, from int64) (sms.StatusCheck, error) {
	r, err := db.read().InquiryAt(ctx, account, from)
	return foundOne(r, err, inquiry, "read an inquiry")
}

// OpenInquiry begins an inquiry, again where it has ended. It fails with
// sms.ErrConflict while it runs.
func (db reportStore) OpenInquiry(ctx context.Context, i sms.StatusCheck) error {
	return db.update(ctx, "begin an inquiry", func(t *tx) error {
		n, err := t.Queries.OpenInquiry(ctx, query.OpenInquiryParams{AccountID: i.AccountID, FromAt: i.Gap.From,
			UntilAt: i.Gap.Until, Total: i.Total,
			CursorAt: i.Gap.From - sms.GapReach.Milliseconds() - 1, ByID: i.By.ID, ByName: i.By.Name, StartedAt: i.StartedAt})
		if err != nil || n != 1 {
			return conflictIfNil(err)
		}
		return nil
	})
}

// StopInquiry ends the inquiry about a gap before its time.
func (db reportStore) StopInquiry(ctx context.Context, account, from, now int64) error {
	return db.update(ctx, "stop an inquiry", func(t *tx) error {
		r, err := t.InquiryAt(ctx, account, from)
		if err != nil {
			return err
		}
		n, err := t.EndInquiry(ctx, r.ID, string(sms.InquiryStopped), now)
		if err != nil || n != 1 {
			return conflictIfNil(err)
		}
		return nil
	})
}

// NextInquired finds the next message of an account's running inquiry. It
// fails with sms.ErrNotFound when there is none; an inquiry that has come to
// its end is ended.
func (db reportStore) NextInquired(ctx context.Context, account,
	now int64) (i sms.StatusCheck, m sms.Message, err error) {
	row, err := db.read().RunningInquiry(ctx, account)
	if _, err := wrapNotFound(row, err, "find an inquiry"); err != nil {
		return i, m, err
	}
	i = inquiry(row)
	next, err := nextSilent(ctx, db.read(), row)
	if err == nil {
		return i, message(next), nil
	}
	if !errors.Is(classify(err), sms.ErrNotFound) {
		return i, m, fmt.Errorf("find the next message of an inquiry: %w", err)
	}
	err = db.update(ctx, "end an inquiry", func(t *tx) error {
		_, err := t.EndInquiry(ctx, i.ID, string(sms.InquiryDone), now)
		return err
	})
	if err == nil {
		err = fmt.Errorf("find the next message of an inquiry: %w", sms.ErrNotFound)
	}
	return i, m, err
}

// nextSilent is the earlier of the next late message and the next that is not.
func nextSilent(ctx context.Context, q *query.Queries, i query.Inquiry) (query.Message, error) {
	silent, err := q.NextSilent(ctx, query.NextSilentParams{AccountID: i.AccountID, SentAt: i.CursorAt,
		SentAt_2: i.CursorID, SentAt_3: i.UntilAt})
	if err != nil && !errors.Is(classify(err), sms.ErrNotFound) {
		return silent, err
	}
	none := err != nil
	late, err := q.NextLate(ctx, query.NextLateParams{AccountID: i.AccountID, SentAt: i.CursorAt, SentAt_2: i.CursorID,
		SentAt_3: i.UntilAt})
	if err != nil {
		if none || !errors.Is(classify(err), sms.ErrNotFound) {
			return late, err
		}
		return silent, nil
	}
	if none || late.SentAt < silent.SentAt || late.SentAt == silent.SentAt && late.ID < silent.ID {
		return late, nil
	}
	return silent, nil
}

// PutInquired stores an answer of an inquiry and moves it on, in one
// transaction. One that was stopped meanwhile keeps the answer all the same.
func (db reportStore) PutInquired(ctx context.Context, i sms.StatusCheck, m sms.Message, a sms.StatusQuery,
	country string) (after sms.Message, effect sms.Effect, err error) {
	err = db.update(ctx, "store the provider's answer", func(t *tx) error {
		a.Why, a.InquiryID = sms.AskedGap, i.ID
		after, effect, err = t.putAnswer(ctx, a, country)
		if err != nil {
			return err
		}
		learnt := int64(0)
		if effect == sms.Changed {
			learnt = 1
		}
		_, err = t.MoveInquiry(ctx, query.MoveInquiryParams{ID: i.ID, Learnt: learnt, CursorAt: m.SentAt, CursorID: m.ID})
		return err
	})
	return after, effect, err
}

func inquiry(r query.Inquiry) sms.StatusCheck {
	return sms.StatusCheck{ID: r.ID, AccountID: r.AccountID, Gap: sms.Outage{From: r.FromAt, Until: r.UntilAt},
		State: sms.InquiryState(r.State), Total: r.Total,
		Asked: r.Asked, Resolved: r.Learnt, By: sms.User{ID: r.ByID, Name: r.ByName}, StartedAt: r.StartedAt,
		EndedAt: r.EndedAt}
}
