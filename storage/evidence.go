package storage

import (
	"context"
	"errors"
	"fmt"

	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// unreadableKey stands in the place of a report's number that has no digits.
const unreadableKey = "-"

func reportKey(mobile, country string) string { return keptKey(phone.Key(mobile, country)) }

func keptKey(key string) string {
	if key != "" {
		return key
	}
	return unreadableKey
}

// maxIDsPerMessage is how many ids of one message are believed on the word of
// reports: more are somebody's play.
const maxIDsPerMessage = 5

// Reconcile lets reports that no id matches settle messages in doubt
// (internal/workers/README.md, Evidence). It works in small transactions and tells each
// what it settled.
func (db reportStore) Reconcile(ctx context.Context, account int64, country string, now int64,
	each func(sms.ApplyResult)) error {
	p := reconcilePass{account: account, country: country, now: now, people: db.people}
	for _, step := range []func(context.Context, *tx, *sms.ApplyResult) (int, error){p.key, p.answered, p.doubts, p.due} {
		for left := 1; left > 0; {
			var done sms.ApplyResult
			err := db.update(ctx, "compare reports with messages in doubt", func(t *tx) error {
				n, err := step(ctx, t, &done)
				left = n
				return err
			})
			if err != nil {
				return err
			}
			each(done)
		}
	}
	return nil
}

// reconcilePass is one walk over an account's doubts and reports.
type reconcilePass struct {
	account int64
	country string
	now     int64
	after   int64
	walked  int64 // messages in doubt up to here were compared with answers
	people  people
}

// key gives reports of an older version the number by which they are found.
func (p *reconcilePass) key(ctx context.Context, t *tx, _ *sms.ApplyResult) (int, error) {
	rows, err := t.UnkeyedReports(ctx, p.account)
	for _, r := range rows {
		err = errors.Join(err, t.KeyReport(ctx, r.ID, reportKey(r.Mobile, p.country)))
	}
	return len(rows), err
}

func (p *reconcilePass) cutoff() int64 { return p.now - sms.EvidenceGrace.Milliseconds() }

// doubts looks for reports about every message in doubt.
func (p *reconcilePass) doubts(ctx context.Context, t *tx, done *sms.ApplyResult) (int, error) {
	rows, err := t.DoubtsWithReports(ctx, p.account, p.after, p.cutoff())
	if err != nil {
		return 0, err
	}
	for _, r := range rows {
		p.after = r.ID
		waiting, err := t.UnmatchedTo(ctx, p.account, r.Number)
		if err != nil {
			return 0, err
		}
		for _, w := range waiting {
			if err := t.settleFromReport(ctx, report(w), p.country, done, p.now); err != nil {
				return 0, err
			}
		}
	}
	return len(rows), nil
}

// due looks once at each report that has become old enough: it may be the
// second one of a message that another report or a person has settled.
func (p *reconcilePass) due(ctx context.Context, t *tx, done *sms.ApplyResult) (int, error) {
	name := fmt.Sprintf("evidence:%d", p.account)
	seen, err := t.Cursor(ctx, name)
	if err != nil && !errors.Is(classify(err), sms.ErrNotFound) {
		return 0, err
	}
	rows, err := t.WaitingReports(ctx, p.account, seen, p.cutoff())
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	for _, r := range rows {
		if err := t.settleFromReport(ctx, report(r), p.country, done, p.now); err != nil {
			return 0, err
		}
	}
	return len(rows), t.PutCursor(ctx, name, rows[len(rows)-1].ID)
}

// settleFromReport settles the one message that a report can be about, if there is one.
// A report that a former one of the same id has brought along is left alone.
func (t *tx) settleFromReport(ctx context.Context, r sms.StoredReport, country string, done *sms.ApplyResult,
	now int64) error {
	stored, err := t.ReportByID(ctx, r.Key)
	if err != nil || stored.Effect != string(sms.NotMatched) {
		return err
	}
	among, err := t.mayHaveLeft(ctx, r, country)
	if err != nil {
		return err
	}
	m, ok := sms.Owner(r.DeliveryReport, among, country, now)
	if !ok {
		return nil
	}
	return t.acceptEvidence(ctx, m, r, sms.ByReport, country, done, now)
}

func (t *tx) mayHaveLeft(ctx context.Context, r sms.StoredReport, country string) ([]sms.Message, error) {
	rows, err := t.MayHaveLeft(ctx, r.AccountID, reportKey(r.Mobile, country), r.ReceivedAt-evidenceTTL-1)
	if err != nil {
		return nil, err
	}
	list := make([]sms.Message, len(rows))
	for i, row := range rows {
		list[i] = message(row)
	}
	return list, nil
}

// acceptEvidence takes a report as proof that the message was sent under its id: out
// of doubt where it is in doubt, a further name of it where it has one. Every
// report with that id then decides as if the answer had named it.
func (t *tx) acceptEvidence(ctx context.Context, m sms.Message, r sms.StoredReport, evidence, country string,
	done *sms.ApplyResult, now int64) error {
	err := error(nil)
	switch {
	case m.State == sms.InDoubt:
		err = t.leaveDoubt(ctx, m, sms.Accepted, r.ProviderID, "", evidence, now)
	case m.ProviderID == "":
		_, err = t.NameMessage(ctx, m.ID, r.ProviderID, now)
	default:
		known, err := t.MessageAsked(ctx, m.ID)
		if err != nil || len(known) >= maxIDsPerMessage {
			return err
		}
		if err := t.InsertAlias(ctx, m.AccountID, r.ProviderID, m.ID); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	_, err = t.PutAsked(ctx, query.PutAskedParams{AccountID: m.AccountID, MessageID: m.ID, ProviderID: r.ProviderID,
		Why: string(sms.AskedProof), CreatedAt: now})
	if err != nil {
		return err
	}
	done.Messages, done.Campaigns = appendNew(done.Messages, m.ID), appendNew(done.Campaigns, m.CampaignID)
	return t.applyWaiting(ctx, m.AccountID, []string{r.ProviderID}, country, now)
}

// leaveDoubt moves a message that waits for a decision, by compare-and-set.
// There is no way from here into the queue.
func (t *tx) leaveDoubt(ctx context.Context, m sms.Message, to sms.State, provider, reason, evidence string,
	now int64) error {
	if to == sms.Queued || !m.State.MayBecome(to, sms.ClassDoubt) {
		return fmt.Errorf("message %d may not go from %s to %s", m.ID, m.State, to)
	}
	n, err := t.LeaveDoubt(ctx, query.LeaveDoubtParams{ID: m.ID, State: string(to), Reason: reason, ProviderID: provider,
		Evidence: evidence, ChangedAt: now,
		State_2: string(m.State), AttemptID: m.AttemptID})
	if err != nil {
		return err
	}
	if n != 1 {
		return fmt.Errorf("message %d: %w", m.ID, errUnexpected)
	}
	t.moveTally(m.CampaignID, sms.StandingKey(m.State, "", false), sms.StandingKey(to, "", false), 1)
	if err := t.countTraffic(ctx, m, -1); err != nil {
		return err
	}
	if m.State = to; to == sms.Accepted {
		of, failed := t.campaign(ctx, m.CampaignID)
		if failed != nil {
			return failed
		}
		err = errors.Join(t.countTraffic(ctx, m, 1), t.recordUsage(ctx, of,
			[]query.AcceptedOfRow{{Number: m.Number, Parts: int64(m.Parts)}}, now))
	}
	return errors.Join(err, t.DeleteInFlight(ctx, m.ID))
}

// LinkReport ties a report to a message because a person says so. It fails
// with sms.ErrConflict when either has changed meanwhile.
func (db reportStore) LinkReport(ctx context.Context, key, id int64, country string,
	now int64) (done sms.ApplyResult, err error) {
	err = db.update(ctx, "link a report", func(t *tx) error {
		done = sms.ApplyResult{}
		row, err := t.ReportByID(ctx, key)
		if err != nil {
			return err
		}
		found, err := t.MessageByID(ctx, id)
		if err != nil {
			return err
		}
		r, m := report(row), message(found)
		if m.AccountID != r.AccountID {
			return sms.ErrNotFound
		}
		if r.Effect != sms.NotMatched || !sms.MayLink(m, r.DeliveryReport, country) {
			return errUnexpected
		}
		return t.acceptEvidence(ctx, m, r, sms.ByPerson, country, &done, now)
	})
	return done, err
}

// Candidates lists the messages that an unmatched report may be about: those
// that a person may link it to first.
func (db reportStore) Candidates(ctx context.Context, r sms.StoredReport, country string) ([]sms.Message, error) {
	rows, err := db.read().MayHaveLeft(ctx, r.AccountID, reportKey(r.Mobile, country), r.ReceivedAt-evidenceTTL-1)
	if err != nil {
		return nil, fmt.Errorf("look for a report's message: %w", err)
	}
	var list []sms.Message
	for _, row := range rows {
		if m := message(row); sms.FitReport(m, r.DeliveryReport, country) != sms.FitNone {
			list = append(list, m)
		}
	}
	return list, nil
}

// NextAsked is the oldest question to the service that waits for its turn.
func (db reportStore) NextAsked(ctx context.Context, account int64) (sms.StatusQuery, error) {
	r, err := db.read().NextAsked(ctx, account)
	return foundOne(r, err, asked, "find the next question")
}

// MessageAsked lists the questions about a message, oldest first.
func (db reportStore) MessageAsked(ctx context.Context, id int64) ([]sms.StatusQuery, error) {
	rows, err := db.read().MessageAsked(ctx, id)
	return foundAll(rows, err, asked, "list a message's questions")
}

// AskMessage lets a question about an accepted message wait for its turn, on
// behalf of a person. One that waits already is enough; made is false then. It
// fails with sms.ErrConflict when the message has no id to ask by.
func (db reportStore) AskMessage(ctx context.Context, id, now int64) (made bool, err error) {
	err = db.update(ctx, "ask about a message", func(t *tx) error {
		row, err := t.MessageByID(ctx, id)
		if err != nil {
			return err
		}
		m := message(row)
		if !m.MayAsk() {
			return errUnexpected
		}
		waiting, err := t.WaitingAsked(ctx, id)
		if err != nil || waiting > 0 {
			return err
		}
		made = true
		_, err = t.PutAsked(ctx, query.PutAskedParams{AccountID: m.AccountID, MessageID: m.ID, ProviderID: m.ProviderID,
			Why: string(sms.AskedStaff), CreatedAt: now})
		return err
	})
	return made && err == nil, err
}

// PutAnswer stores what the service answered and lets it decide, once. The
// question's AskedAt is when that was.
func (db reportStore) PutAnswer(ctx context.Context, a sms.StatusQuery,
	country string) (after sms.Message, effect sms.Effect, err error) {
	err = db.update(ctx, "store the provider's answer", func(t *tx) error {
		after, effect, err = t.putAnswer(ctx, a, country)
		return err
	})
	return after, effect, err
}

func (t *tx) putAnswer(ctx context.Context, a sms.StatusQuery,
	country string) (after sms.Message, effect sms.Effect, err error) {
	row, err := t.MessageByID(ctx, a.MessageID)
	if err != nil {
		return after, effect, err
	}
	m := message(row)
	after, effect = a.Evaluate(m, country)
	n, v := int64(1), a.Answer
	if a.ID == 0 {
		_, err = t.PutAsked(ctx, query.PutAskedParams{AccountID: a.AccountID, MessageID: a.MessageID,
			ProviderID: a.ProviderID, Why: string(a.Why),
			InquiryID: a.InquiryID, CreatedAt: a.AskedAt, AskedAt: a.AskedAt, Number: v.Number, Status: v.Status,
			ErrorCode: v.ErrorCode, DoneDate: v.DoneDate,
			Raw: v.Raw, Code: a.Code, Words: a.Words, Effect: string(effect)})
	} else {
		n, err = t.AnswerAsked(ctx, query.AnswerAskedParams{ID: a.ID, AskedAt: a.AskedAt, Number: v.Number, Status: v.Status,
			ErrorCode: v.ErrorCode,
			DoneDate:  v.DoneDate, Raw: v.Raw, Code: a.Code, Words: a.Words, Effect: string(effect)})
	}
	if err != nil || n != 1 {
		return after, effect, conflictIfNil(err)
	}
	switch effect {
	case sms.Changed:
		err = t.saveDelivery(ctx, m, after, a.AskedAt)
	case sms.Suspicious:
		err = t.SuspectReports(ctx, a.AccountID, a.ProviderID, a.MessageID)
	}
	return after, effect, err
}

func asked(r query.Asked) sms.StatusQuery {
	return sms.StatusQuery{ID: r.ID, AccountID: r.AccountID, MessageID: r.MessageID, ProviderID: r.ProviderID,
		Why: sms.QueryReason(r.Why), InquiryID: r.InquiryID,
		CreatedAt: r.CreatedAt, AskedAt: r.AskedAt, Code: r.Code, Words: r.Words, Effect: sms.Effect(r.Effect),
		Answer: sms.MessageStatus{ProviderID: r.ProviderID, Number: r.Number, Status: r.Status, ErrorCode: r.ErrorCode,
			DoneDate: r.DoneDate, Raw: r.Raw}}
}
