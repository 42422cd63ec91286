package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strings"

	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
)

// reportBatch is a batch of reports on their way into the database. One statement
// looks for all their messages, one stores them, one moves the messages: what a
// report costs alone is spent on statements, not on rows.
type reportBatch struct {
	*tx
	countries    map[int64]string
	keys         map[int64]phone.Keys // by account
	byID         map[int64]*messageChange
	byProviderID map[providerKey][]*messageChange
	unmatched    map[eventKey]int64 // stored before, without a message: when received
	rows         []*batchReport
	events       map[eventKey]*batchReport
	inserted     map[eventKey]bool // stored for the first time
}

type messageChange struct{ before, after sms.Message }

type providerKey struct {
	account int64
	id      string
}

// eventKey tells a repetition from another report.
type eventKey struct {
	account                               int64
	id, mobile, status, errorCode, doneAt string
}

type batchReport struct {
	sms.DeliveryReport
	times, lastAt, message int64
	effect                 sms.Effect
}

// ApplyReports stores reports, lets each decide about its message and moves
// the cursors, in one transaction: a crash applies each once. The reports are
// in the order of the inbox; countries holds each account's country.
func (db reportStore) ApplyReports(ctx context.Context, reports []sms.DeliveryReport, countries map[int64]string,
	upTo sms.Cursors, now int64) (done sms.ApplyResult, err error) {
	err = db.updatePatiently(ctx, "apply delivery reports", func(t *tx) error {
		a := &reportBatch{tx: t, countries: countries, keys: map[int64]phone.Keys{}, byID: map[int64]*messageChange{},
			byProviderID: map[providerKey][]*messageChange{}, unmatched: map[eventKey]int64{},
			events:   map[eventKey]*batchReport{},
			inserted: map[eventKey]bool{}}
		if err := a.load(ctx, reports); err != nil {
			return err
		}
		for _, r := range reports {
			a.apply(r)
		}
		if done, err = a.save(ctx, now); err != nil {
			return err
		}
		if err = a.witness(ctx, &done, now); err != nil {
			return err
		}
		return t.putCursors(ctx, upTo)
	})
	return done, err
}

func (t *tx) putCursors(ctx context.Context, upTo sms.Cursors) error {
	if upTo.Log > 0 {
		if err := t.PutCursor(ctx, reportCursor, upTo.Log); err != nil {
			return err
		}
	}
	if upTo.Inbox == 0 {
		return nil
	}
	return t.PutCursor(ctx, inboxCursor, upTo.Inbox)
}

// reportedMessages finds messages by the ids that the service gave them; one id
// may stand for several, and one message may have several.
const reportedMessages = `select m.provider_id, m.id, m.account_id, m.campaign_id, m.number, m.state, m.status,
  m.error_code, m.done_date, m.conflict, m.late, m.sent_at, m.known_at
from message m where m.account_id = ? and m.provider_id <> '' and m.provider_id in (%[1]s)
union all
select a.provider_id, m.id, m.account_id, m.campaign_id, m.number, m.state, m.status,
  m.error_code, m.done_date, m.conflict, m.late, m.sent_at, m.known_at
from message_alias a join message m on m.id = a.message_id where a.account_id = ? and a.provider_id in (%[1]s)`

func (a *reportBatch) load(ctx context.Context, reports []sms.DeliveryReport) error {
	ids, seen := map[int64][]any{}, map[providerKey]bool{}
	for _, r := range reports {
		if key := (providerKey{r.AccountID, r.ProviderID}); r.ProviderID != "" && !seen[key] {
			seen[key] = true
			ids[r.AccountID] = append(ids[r.AccountID], r.ProviderID)
		}
	}
	for account, list := range ids {
		for some := range inFewSizes(list, idsPerStmt) {
			if err := a.loadByProviderID(ctx, account, some); err != nil {
				return fmt.Errorf("find the messages of reports: %w", err)
			}
			if err := a.loadUnmatched(ctx, account, some); err != nil {
				return fmt.Errorf("find reports that wait: %w", err)
			}
		}
		for some := range inFewSizes(a.inOtherCases(account, list), idsPerStmt) {
			if err := a.loadByProviderID(ctx, account, some); err != nil {
				return fmt.Errorf("find the messages of reports in another case: %w", err)
			}
		}
	}
	for _, list := range a.byProviderID {
		slices.SortFunc(list, func(x, y *messageChange) int { return cmp.Compare(x.before.ID, y.before.ID) })
	}
	return nil
}

// inOtherCases are the other spellings of those ids that no message has.
func (a *reportBatch) inOtherCases(account int64, ids []any) (list []any) {
	for _, id := range ids {
		if id := id.(string); len(a.byProviderID[providerKey{account, id}]) == 0 {
			for _, other := range otherCases(id) {
				list = append(list, other)
			}
		}
	}
	return list
}

// candidates are the messages that have a report's id, otherwise those of its
// number that have it in another case.
func (a *reportBatch) candidates(r sms.DeliveryReport) (list []*messageChange) {
	if list = a.byProviderID[providerKey{r.AccountID, r.ProviderID}]; len(list) > 0 {
		return list
	}
	for _, other := range otherCases(r.ProviderID) {
		for _, m := range a.byProviderID[providerKey{r.AccountID, other}] {
			if _, e := m.after.Apply(r, a.countries[r.AccountID]); e != sms.WrongNumber {
				list = append(list, m)
			}
		}
	}
	return list
}

func (a *reportBatch) loadByProviderID(ctx context.Context, account int64, ids []any) error {
	rows, err := a.stmts.QueryContext(ctx, fmt.Sprintf(reportedMessages, a.engine.placeholders(len(ids))),
		slices.Concat([]any{account}, ids, []any{account}, ids)...)
	return forEachRow(rows, err, func(scan func(...any) error) error {
		var id string
		var m sms.Message
		d := &m.Delivery
		if err := scan(&id, &m.ID, &m.AccountID, &m.CampaignID, &m.Number, &m.State, &d.Status, &d.ErrorCode,
			&d.DoneDate, &d.Conflict, &d.Late, &m.SentAt, &d.KnownAt); err != nil {
			return err
		}
		if a.byID[m.ID] == nil {
			a.byID[m.ID] = &messageChange{m, m}
		}
		key := providerKey{account, id}
		a.byProviderID[key] = append(a.byProviderID[key], a.byID[m.ID])
		return nil
	})
}

// waitingReports finds reports that came before their message was known.
const waitingReports = `select r.provider_id, r.mobile, r.status, r.error_code, r.done_date, r.received_at from delivery_report r
where r.account_id = ? and r.effect = 'not_matched' and r.provider_id in (%s)`

func (a *reportBatch) loadUnmatched(ctx context.Context, account int64, ids []any) error {
	rows, err := a.stmts.QueryContext(ctx, fmt.Sprintf(waitingReports, a.engine.placeholders(len(ids))),
		append([]any{account}, ids...)...)
	return forEachRow(rows, err, func(scan func(...any) error) error {
		key, at := eventKey{account: account}, int64(0)
		err := scan(&key.id, &key.mobile, &key.status, &key.errorCode, &key.doneAt, &at)
		a.unmatched[key] = at
		return err
	})
}

// apply lets a report move its message. A wrong number with a right id is
// kept as such, never believed.
func (a *reportBatch) apply(r sms.DeliveryReport) {
	var target *messageChange
	effect := sms.NotMatched
	for _, m := range a.candidates(r) {
		after, e := m.after.Apply(r, a.countries[r.AccountID])
		if e == sms.NotMatched || effect != sms.NotMatched && e == sms.WrongNumber {
			continue
		}
		if target, effect = m, e; e != sms.WrongNumber {
			m.after = after
			break
		}
	}
	row := &batchReport{DeliveryReport: r, times: 1, lastAt: r.ReceivedAt, effect: effect}
	if again := a.events[row.event()]; again != nil {
		again.times++
		again.lastAt = r.ReceivedAt
		return
	}
	if target != nil {
		row.message = target.before.ID
	}
	a.events[row.event()] = row
	a.rows = append(a.rows, row)
}

// save writes what was decided, messages in the order of their rows: their
// pages are then touched once.
func (a *reportBatch) save(ctx context.Context, now int64) (done sms.ApplyResult, err error) {
	for some := range inFewSizes(a.rows, reportsPerStmt) {
		if err := a.put(ctx, some); err != nil {
			return done, fmt.Errorf("store reports: %w", err)
		}
	}
	told := map[int64]bool{}
	var moved []*messageChange
	for _, r := range a.rows {
		if r.effect == sms.NotMatched {
			done.Unmatched += int(r.times)
			continue
		}
		a.count(r)
		if told[r.message] {
			continue
		}
		told[r.message] = true
		done.Messages = append(done.Messages, r.message)
		if m := a.byID[r.message]; m.before.Delivery != m.after.Delivery {
			moved = append(moved, m)
			done.Campaigns = appendNew(done.Campaigns, m.before.CampaignID)
		}
	}
	slices.SortFunc(moved, func(x, y *messageChange) int { return cmp.Compare(x.before.ID, y.before.ID) })
	for some := range inFewSizes(moved, reportsPerStmt) {
		if err := a.deliverSome(ctx, some, now); err != nil {
			return done, fmt.Errorf("move reported messages: %w", err)
		}
	}
	for _, m := range moved {
		if err := a.countDelivery(ctx, m.before, m.after, now); err != nil {
			return done, err
		}
	}
	return done, nil
}

// reportsPerStmt is how many rows one statement stores or moves.
const reportsPerStmt = 64

// A report that waited for its message takes the effect that it has now.
const putReports = `insert into delivery_report (account_id, inbox_id, received_at, last_at, times, provider_id,
  mobile, status, error_code, submit_date, done_date,
  short_message, raw, message_id, effect, match_key) values %s
on conflict (account_id, provider_id, mobile, status, error_code, done_date)
do update set times = delivery_report.times + excluded.times, last_at = excluded.last_at,
  message_id = case when delivery_report.effect = 'not_matched' then excluded.message_id else delivery_report.message_id end,
  effect = case when delivery_report.effect = 'not_matched' then excluded.effect else delivery_report.effect end
returning account_id, provider_id, mobile, status, error_code, done_date, times`

// ofRows is a statement of n rows.
func ofRows(text, row string, n int) string {
	return fmt.Sprintf(text, strings.Repeat(row+", ", n-1)+row)
}

// inFewSizes cuts a list into pieces of at most so many, each of which has the
// size of a power of two: there are few statements then, and all are prepared.
func inFewSizes[T any](list []T, most int) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		for len(list) > 0 {
			n := 1 << (bits.Len(uint(min(len(list), most))) - 1)
			if !yield(list[:n]) {
				return
			}
			list = list[n:]
		}
	}
}

func (a *reportBatch) put(ctx context.Context, list []*batchReport) error {
	const columns = 16
	args := make([]any, 0, columns*len(list))
	for _, r := range list {
		args = append(args, r.AccountID, r.ID, r.ReceivedAt, r.lastAt, r.times, r.ProviderID, r.Mobile, r.Status, r.ErrorCode,
			r.SubmitDate, r.DoneDate,
			r.ShortMessage, r.Raw, r.message, string(r.effect), keptKey(a.matchKeys(r.AccountID).Key(r.Mobile)))
	}
	stored, err := a.stmts.QueryContext(ctx, ofRows(putReports, "("+a.engine.placeholders(columns)+")", len(list)),
		args...)
	if err != nil {
		return err
	}
	// Of one that was there before, times are more than those of this batch. Ids
	// say nothing: after a restore they may be given again.
	for stored.Next() {
		var key eventKey
		var times int64
		if err := stored.Scan(&key.account, &key.id, &key.mobile, &key.status, &key.errorCode, &key.doneAt,
			&times); err != nil {
			return errors.Join(err, stored.Close())
		}
		a.inserted[key] = times == a.events[key].times
	}
	return errors.Join(stored.Err(), stored.Close())
}

func (a *reportBatch) matchKeys(account int64) phone.Keys {
	keys, known := a.keys[account]
	if !known {
		keys = phone.KeysOf(a.countries[account])
		a.keys[account] = keys
	}
	return keys
}

// count counts the first arrival of a report that has a message.
func (a *reportBatch) count(r *batchReport) {
	at, waited := a.unmatched[r.event()]
	if !waited {
		at = r.ReceivedAt
	}
	if (waited || a.inserted[r.event()]) && r.effect != sms.WrongNumber {
		a.traffic.report(a.byID[r.message].before.CampaignID, at, r.Status)
	}
}

func (r *batchReport) event() eventKey {
	return eventKey{r.AccountID, r.ProviderID, r.Mobile, r.Status, r.ErrorCode, r.DoneDate}
}

const deliverMessages = `update message set status = s.column2, error_code = s.column3, done_date = s.column4,
  conflict = s.column5, late = s.column6, known_at = s.column7, changed_at = ?
from (values %s) as s where message.id = s.column1 and message.state = 'accepted'`

func (a *reportBatch) deliverSome(ctx context.Context, list []*messageChange, now int64) error {
	args := []any{now}
	for _, m := range list {
		d := m.after.Delivery
		args = append(args, m.after.ID, string(d.Status), d.ErrorCode, d.DoneDate, d.Conflict, d.Late, d.KnownAt)
	}
	done, err := a.stmts.ExecContext(ctx, ofRows(deliverMessages,
		"(cast(? as bigint), ?, ?, ?, cast(? as boolean), cast(? as boolean), cast(? as bigint))", len(list)), args...)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n != int64(len(list)) {
		return errors.Join(err, errUnexpected)
	}
	return nil
}
