package storage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// reportStore keeps the delivery reports: applied, listed, taken as evidence.
type reportStore struct{ *core }

const inboxCursor = "inbox"

// InboxCursor is the inbox id up to which reports have been applied.
func (db *core) InboxCursor(ctx context.Context) (int64, error) {
	n, err := db.read().Cursor(ctx, inboxCursor)
	if err = classify(err); err == sms.ErrNotFound {
		return 0, nil
	}
	return wrapNotFound(n, err, "read the inbox cursor")
}

// otherCases are the spellings of an id in which a service may write it back:
// all small, all capital.
func otherCases(id string) (list []string) {
	for _, other := range []string{strings.ToLower(id), strings.ToUpper(id)} {
		if other != id {
			list = append(list, other)
		}
	}
	return list
}

// match finds the message that a report is about. Ids are unique at the
// service, but a wrong number with a right id is kept as such, never believed.
// An id that nobody has is looked for in the other case, too, and then the
// number decides.
func (t *tx) match(ctx context.Context, r sms.DeliveryReport,
	country string) (target, after sms.Message, effect sms.Effect, err error) {
	effect = sms.NotMatched
	if r.ProviderID == "" {
		return
	}
	rows, err := t.MessagesByProviderID(ctx, r.AccountID, r.ProviderID)
	exact := len(rows) > 0
	for _, id := range otherCases(r.ProviderID) {
		if err == nil && len(rows) == 0 {
			rows, err = t.MessagesByProviderID(ctx, r.AccountID, id)
		}
	}
	if err != nil {
		return target, after, effect, err
	}
	for _, row := range rows {
		m := message(row)
		changed, e := m.Apply(r, country)
		if e == sms.NotMatched || (effect != sms.NotMatched || !exact) && e == sms.WrongNumber {
			continue
		}
		target, after, effect = m, changed, e
		if e != sms.WrongNumber {
			break
		}
	}
	return target, after, effect, nil
}

// applyWaiting lets reports that came before the answer decide about the
// messages whose ids it gave. One id may stand for several numbers, so
// each report looks for its own message.
func (t *tx) applyWaiting(ctx context.Context, account int64, ids []string, country string, now int64) error {
	early, err := t.idsWithReports(ctx, account, ids)
	if err != nil {
		return err
	}
	for _, id := range early {
		waiting, err := t.UnmatchedFor(ctx, account, id)
		if err != nil {
			return err
		}
		for _, w := range waiting {
			target, after, effect, err := t.match(ctx, report(w).DeliveryReport, country)
			if err != nil {
				return err
			}
			if effect == sms.NotMatched {
				continue
			}
			if err := t.MatchReport(ctx, w.ID, target.ID, string(effect)); err != nil {
				return err
			}
			if effect != sms.WrongNumber {
				t.traffic.report(target.CampaignID, w.ReceivedAt, w.Status)
			}
			if effect == sms.Changed {
				if err := t.saveDelivery(ctx, target, after, now); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// earlyIDs finds those ids of an answer for which a report is there already.
const earlyIDs = `select distinct r.provider_id from delivery_report r where r.account_id = $1 and r.effect = 'not_matched' and r.provider_id in (%s)`

// idsPerStmt is how many ids one statement looks for.
const idsPerStmt = 512

func (t *tx) idsWithReports(ctx context.Context, account int64, ids []string) (found []string, err error) {
	for some := range slices.Chunk(ids, idsPerStmt) {
		args := []any{account}
		for _, id := range some {
			args = append(args, id)
			for _, other := range otherCases(id) {
				args = append(args, other)
			}
		}
		list, err := onlyColumn[string](t.sql.QueryContext(ctx, fmt.Sprintf(earlyIDs, places(2, len(args)-1)), args...))
		if err != nil {
			return nil, fmt.Errorf("look for early reports: %w", err)
		}
		found = append(found, list...)
	}
	return found, nil
}

// DoubtRateAnswers looks through unmatched reports received before the given
// time that it has not seen yet. A report for the number and text of a message
// whose call was answered 429, under an id that nobody was given, proves that
// this service executes such calls: from then on a 429 of the account is doubt.
// proven is true for the call that finds the proof.
func (db reportStore) DoubtRateAnswers(ctx context.Context, account int64, country string,
	before int64) (proven bool, err error) {
	err = db.update(ctx, "compare reports with calls answered 429", func(t *tx) error {
		name := fmt.Sprintf("429:%d", account)
		seen, err := t.Cursor(ctx, name)
		if err != nil && classify(err) != sms.ErrNotFound {
			return err
		}
		waiting, err := t.WaitingReports(ctx, account, seen, before)
		if err != nil || len(waiting) == 0 {
			return err
		}
		for _, w := range waiting {
			texts, err := t.TextsAnswered429(ctx, account, w.ReceivedAt-evidenceTTL, phone.Key(w.Mobile, country))
			if err != nil {
				return err
			}
			proven = proven || sms.SameText(w.ShortMessage, texts)
		}
		if err := t.PutCursor(ctx, name, waiting[len(waiting)-1].ID); err != nil || !proven {
			return err
		}
		n, err := t.Queries.DoubtRateAnswers(ctx, account)
		proven = n == 1
		return err
	})
	return proven && err == nil, err
}

// evidenceTTL is how long after a call a report may still speak for it, in
// milliseconds.
const evidenceTTL = 72 * 60 * 60 * 1000

// MessageReports lists the reports of a message in the order of arrival.
func (db reportStore) MessageReports(ctx context.Context, id int64) ([]sms.StoredReport, error) {
	rows, err := db.read().MessageReports(ctx, id)
	return foundAll(rows, err, report, "list a message's reports")
}

// LastReportAt is when the last report of an account arrived, 0 for never.
func (db reportStore) LastReportAt(ctx context.Context, account int64) (int64, error) {
	at, err := db.read().LastReportAt(ctx, account)
	return wrapNotFound(at, err, "read the last report's time")
}

// ReportArrivals is how often reports of an account arrived, repetitions
// counted too. It reads all of them: for checks, not for pages.
func (db reportStore) ReportArrivals(ctx context.Context, account int64) (int64, error) {
	n, err := db.read().ReportArrivals(ctx, account)
	return wrapNotFound(n, err, "count the arrivals of reports")
}

func report(r query.DeliveryReport) sms.StoredReport {
	return sms.StoredReport{
		DeliveryReport: sms.DeliveryReport{ID: r.InboxID, AccountID: r.AccountID, ReceivedAt: r.ReceivedAt,
			ProviderID: r.ProviderID, Mobile: r.Mobile,
			Status: r.Status, ErrorCode: r.ErrorCode, SubmitDate: r.SubmitDate, DoneDate: r.DoneDate,
			ShortMessage: r.ShortMessage, Raw: r.Raw},
		Key: r.ID, Times: r.Times, LastAt: r.LastAt, MessageID: r.MessageID, Effect: sms.Effect(r.Effect),
		Suspicious: r.Suspicious}
}
