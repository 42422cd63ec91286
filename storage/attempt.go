package storage

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// callStore keeps the requests to the provider, from the claim to the outcome and what is
// decided about a doubt.
type callStore struct{ *core }

// License commits the one permission to send an attempt, together with the
// line that the journal gets before the first byte leaves (README.md). It fails
// with sms.ErrConflict when the attempt is not prepared any more, the lease was
// taken by somebody else, its campaign or account was stopped meanwhile, one of
// its numbers was blocked, or the account's sending hours are over.
func (db callStore) License(ctx context.Context, a *sms.Attempt, now int64) error {
	people := writePeople(db.people.ofCall(a.Call))
	// The journal gets its lines in the order of the commits.
	db.licensing.Lock()
	defer db.licensing.Unlock()
	journal := db.journal.Load()
	if journal != nil {
		if err := journal.Stuck(); err != nil {
			return fmt.Errorf("commit the licence: the journal cannot be written: %w", err)
		}
	}
	var line []byte
	var seq int64
	err := db.update(ctx, "commit the licence", func(t *tx) (err error) {
		line, seq, err = t.license(ctx, db.core, journal, a, people, now)
		return err
	})
	if err != nil {
		if journal != nil {
			journal.forgetNames()
		}
		return err
	}
	a.State, a.LicensedAt, a.JournalSeq = sms.AttemptSending, now, seq
	if journal != nil {
		journal.enqueue(seq, line)
	}
	return nil
}

func (t *tx) license(ctx context.Context, db *core, journal *Journal, a *sms.Attempt, people string,
	now int64) (line []byte, seq int64, err error) {
	of, err := t.AccountByID(ctx, a.AccountID)
	if err != nil {
		return nil, 0, err
	}
	c, err := t.CampaignByID(ctx, a.CampaignID)
	if err != nil {
		return nil, 0, err
	}
	if at := time.UnixMilli(now); sms.SendsAt(account(of), campaign(c.Campaign, c.Test), at).After(at) {
		return nil, 0, fmt.Errorf("%w: the sending hours were over before this call", sms.ErrConflict)
	}
	l := journalLine{Kind: lineLicence, Attempt: a.UID, Campaign: campaignUID(c.Campaign.Token), Account: of.Uid,
		People: people}
	if of.Test {
		l.Test = 1
	}
	if a.Call.Kind == sms.CallGroup {
		l.Group = 1
	}
	if journal != nil {
		if journal.nameOf(l.Campaign) {
			l.Name = db.people.sealName(campaignName{c.Campaign.Name, c.Campaign.StartedName}, db.desk, l.Campaign)
		}
		if err := t.DropJournalLines(ctx, db.node, journal.syncedUpTo()); err != nil {
			return nil, 0, err
		}
	}
	if line, seq, err = t.licence(ctx, db, l, now); err != nil {
		return nil, 0, err
	}
	n, err := t.LicenseAttempt(ctx, query.LicenseAttemptParams{ID: a.ID, Epoch: a.Epoch, LicensedAt: now, JournalSeq: seq})
	if err != nil {
		return nil, 0, err
	}
	if n != 1 {
		return nil, 0, fmt.Errorf("%w: sending was stopped before this call", sms.ErrConflict)
	}
	if n, err = t.LicenseMessages(ctx, a.ID, now); err != nil {
		return nil, 0, err
	}
	if n != int64(a.Recipients) {
		return nil, 0, fmt.Errorf("%w: %d messages instead of %d", errUnexpected, n, a.Recipients)
	}
	return line, seq, nil
}

// Settle commits the outcome of an attempt: its messages, the campaign's
// canary, a pause where the verdict asks for one, and the reports that came
// before the answer. Every message of the attempt must be in the settlement,
// once. alert is true when this settlement is the one that paused. Repeating
// it, or settling what Recover has settled, fails with sms.ErrConflict.
func (db callStore) Settle(ctx context.Context, a *sms.Attempt, s sms.Settlement, o sms.Outcome, country string,
	judge func(sms.Canary, []sms.Finished) sms.Verdict, now int64) (alert bool, err error) {
	err = db.update(ctx, "commit the outcome", func(t *tx) error {
		row, err := t.CampaignByID(ctx, a.CampaignID)
		if err != nil {
			return err
		}
		db.noteAnswer(ctx, a, campaignUID(row.Campaign.Token), s, now)
		if a.State, err = t.stands(ctx, a, o); err != nil {
			return err
		}
		of := campaign(row.Campaign, row.Test)
		group := a.Call.Kind == sms.CallGroup
		if group {
			s = groupSettlement(s, o)
		} else if len(s.Messages) != a.Recipients {
			return fmt.Errorf("attempt %d: %d of %d messages settled: %w", a.ID, len(s.Messages), a.Recipients, errUnexpected)
		}
		accepted, err := t.endAttempt(ctx, a, s, o, now)
		if err != nil {
			return err
		}
		if err := t.settleMessages(ctx, of, a, s.Messages, openState(a), o.Class, now); err != nil {
			return err
		}
		if group {
			if err := (accountTx{t}).settleGroup(ctx, of, a, s, o, country, now); err != nil {
				return err
			}
		}
		if accepted > 0 {
			taken, err := t.AcceptedOf(ctx, a.ID)
			if err != nil {
				return err
			}
			if err := t.recordUsage(ctx, of, taken, now); err != nil {
				return err
			}
		}
		if err := t.applyWaiting(ctx, a.AccountID, providerIDs(s, o, group), country, now); err != nil {
			return err
		}
		alert, err = t.updateAfterAttempt(ctx, a, of, sms.Finished{Class: o.Class, Accepted: accepted, Canary: a.Canary},
			judge,
			now)
		return err
	})
	return alert && err == nil, err
}

// stands is the state in which an attempt is found. A licence whose commit was
// reported as failed may stand there after all; nothing of it has left.
func (t *tx) stands(ctx context.Context, a *sms.Attempt, o sms.Outcome) (sms.AttemptState, error) {
	if a.State != sms.AttemptPrepared || o.Class != sms.ClassNothingLeft {
		return a.State, nil
	}
	row, err := t.AttemptByID(ctx, a.ID)
	if err == nil && row.State == string(sms.AttemptSending) && row.Epoch == a.Epoch {
		return sms.AttemptSending, nil
	}
	return a.State, err
}

// openState is the state in which an open attempt holds its messages.
func openState(a *sms.Attempt) sms.State {
	if a.State == sms.AttemptPrepared {
		return sms.Claimed
	}
	return sms.Sending
}

// providerIDs lists the ids of what an answer accepted, each once.
func providerIDs(s sms.Settlement, o sms.Outcome, group bool) []string {
	var ids []string
	for _, m := range s.Messages {
		if m.To == sms.Accepted {
			ids = append(append(ids, m.ProviderID), m.Aliases...)
		}
	}
	for _, r := range o.Rows {
		if group && o.Class == sms.ClassAnswered && taken(r) {
			ids = append(ids, r.ProviderID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func (t *tx) endAttempt(ctx context.Context, a *sms.Attempt, s sms.Settlement, o sms.Outcome,
	now int64) (accepted int64, err error) {
	state := s.State
	if a.State == sms.AttemptPrepared {
		state = sms.AttemptReleased
	}
	for _, m := range s.Messages {
		if m.To == sms.Accepted {
			accepted++
		}
	}
	if a.Call.Kind == sms.CallGroup && o.Class == sms.ClassAnswered {
		for _, r := range o.Rows {
			if taken(r) {
				accepted++
			}
		}
	}
	ended := t.steady()
	n, err := t.EndAttempt(ctx, query.EndAttemptParams{ID: a.ID, State: string(state), Class: string(o.Class),
		HttpStatus: int64(o.HTTPStatus), Code: o.Code,
		Reason: o.Reason, Excerpt: o.Excerpt, Written: o.Written, Accepted: accepted, EndedAt: now,
		Boot: ended.Boot, EndedSteady: ended.Ms, State_2: string(a.State)})
	if err == nil && n != 1 {
		err = fmt.Errorf("end attempt %d: %w", a.ID, errUnexpected)
	}
	return accepted, err
}

// settledPerStmt is how many messages one statement settles.
const settledPerStmt = 200

// settleMessages moves messages of an attempt of the campaign to what they
// became.
func (t *tx) settleMessages(ctx context.Context, of sms.Campaign, a *sms.Attempt, list []sms.Settled, from sms.State,
	class sms.Class, now int64) error {
	type ending struct {
		to           sms.State
		reason, code string
	}
	ends := map[ending][]sms.Settled{}
	for _, m := range list {
		if !from.MayBecome(m.To, class) {
			return fmt.Errorf("message %d may not go from %s to %s by class %s", m.MessageID, from, m.To, class)
		}
		end := ending{m.To, m.Reason, m.Code}
		if m.To == sms.Queued {
			end.reason, end.code = "", ""
		}
		ends[end] = append(ends[end], m)
	}
	for end, all := range ends {
		for some := range slices.Chunk(all, settledPerStmt) {
			args := []any{string(end.to), end.reason, end.code, now, string(from), a.ID}
			if err := t.settleBatch(ctx, of, args, some, now); err != nil {
				return err
			}
		}
		t.moveTally(of.ID, sms.StandingKey(from, "", false), sms.StandingKey(of.Shows(end.to), "", false), int64(len(all)))
		if of.Shows(end.to) != end.to {
			if err := t.SetUntidy(ctx, of.ID, true); err != nil {
				return err
			}
		}
	}
	for _, m := range list {
		for _, alias := range m.Aliases {
			if err := t.InsertAlias(ctx, a.AccountID, alias, m.MessageID); err != nil {
				return err
			}
		}
	}
	return t.DeleteSettledInFlight(ctx, a.ID)
}

const settleStatement = `update message set state = $1, reason = $2, code = $3, provider_id = s.column2, evidence = '', changed_at = $4
from (values %s) as s where message.id = s.column1 and message.state = $5 and message.attempt_id = $6 returning number, sent_at`

func (t *tx) settleBatch(ctx context.Context, of sms.Campaign, args []any, list []sms.Settled, now int64) error {
	rows := make([]string, len(list))
	for i, m := range list {
		rows[i] = fmt.Sprintf("(cast($%d as bigint), $%d)", len(args)+1, len(args)+2)
		args = append(args, m.MessageID, m.ProviderID)
	}
	var settled []sms.Message
	done, err := t.sql.QueryContext(ctx, fmt.Sprintf(settleStatement, strings.Join(rows, ", ")), args...)
	if err = forEachRow(done, err, func(scan func(...any) error) error {
		m := sms.Message{AccountID: of.AccountID, CampaignID: of.ID, State: list[0].To, Code: list[0].Code, ChangedAt: now}
		err := scan(&m.Number, &m.SentAt)
		settled = append(settled, m)
		return err
	}); err != nil {
		return fmt.Errorf("settle messages: %w", err)
	}
	if len(settled) != len(list) {
		return fmt.Errorf("%d of %d messages settled: %w", len(settled), len(list), errUnexpected)
	}
	for _, m := range settled {
		if err := t.countTraffic(ctx, m, 1); err != nil {
			return err
		}
	}
	return nil
}

// updateAfterAttempt brings the attempt's campaign up to date: its canary, a pause, its
// end.
func (t *tx) updateAfterAttempt(ctx context.Context, a *sms.Attempt, c sms.Campaign, ended sms.Finished,
	judge func(sms.Canary, []sms.Finished) sms.Verdict, now int64) (alert bool, err error) {
	v := sms.Verdict{Canary: c.Canary}
	if a.State == sms.AttemptPrepared {
		if a.Canary && c.Canary == sms.CanaryFlying {
			v.Canary = sms.CanaryPending
		}
	} else {
		before, err := t.RecentAttempts(ctx, c.ID, c.WindowFrom, a.ID)
		if err != nil {
			return false, err
		}
		v = judge(c.Canary, append([]sms.Finished{ended}, finished(before)...))
	}
	c.Proves(v.Canary)
	if v.PauseAccount {
		n, err := t.PauseAccount(ctx, a.AccountID, v.Sentence, v.Code)
		if err != nil {
			return false, err
		}
		alert = n == 1
	}
	if err := t.finish(ctx, &c, now); err != nil {
		return false, err
	}
	if v.PauseCampaign && c.State == sms.CampaignRunning {
		if err := c.PauseFor(v.Code, v.Sentence); err != nil {
			return false, err
		}
		alert = true
	}
	return alert, t.putCampaign(ctx, &c, now)
}

// finish ends a started campaign that has nothing left to send.
func (t *tx) finish(ctx context.Context, c *sms.Campaign, now int64) error {
	if !c.MayFinish() {
		return nil
	}
	left, err := t.CountUnsent(ctx, c.ID, c.AccountID)
	if err != nil || left > 0 {
		return err
	}
	return c.Finish(time.UnixMilli(now))
}

func finished(rows []query.RecentAttemptsRow) []sms.Finished {
	list := make([]sms.Finished, len(rows))
	for i, r := range rows {
		list[i] = sms.Finished{Class: sms.Class(r.Class), Accepted: r.Accepted, Canary: r.Canary}
	}
	return list
}

// Recover settles what the last process left open (internal/workers/README.md, Killed at any
// step): prepared attempts are released, licensed ones are in doubt.
func (db callStore) Recover(ctx context.Context, account, now int64) (released, doubtful int64, err error) {
	err = db.update(ctx, "recover open attempts", func(t *tx) error {
		open, err := t.OpenAttempts(ctx, account)
		if err != nil {
			return err
		}
		touched := []int64{}
		for _, r := range open {
			a := attempt(r)
			n, err := t.recover(ctx, &a, now)
			if err != nil {
				return err
			}
			if touched = appendNew(touched, a.CampaignID); a.State == sms.AttemptPrepared {
				released += n
			} else {
				doubtful += n
			}
		}
		if err := t.ResetFlyingCanaries(ctx, account); err != nil {
			return err
		}
		return t.finishAll(ctx, touched, now)
	})
	return released, doubtful, err
}

func (t *tx) finishAll(ctx context.Context, campaigns []int64, now int64) error {
	for _, id := range campaigns {
		row, err := t.CampaignByID(ctx, id)
		if err != nil {
			return err
		}
		c := campaign(row.Campaign, row.Test)
		if err := t.finish(ctx, &c, now); err != nil {
			return err
		}
		if err := t.putCampaign(ctx, &c, now); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) recover(ctx context.Context, a *sms.Attempt, now int64) (int64, error) {
	rows, err := t.AttemptMessages(ctx, a.ID)
	if err != nil {
		return 0, err
	}
	o := sms.Outcome{Class: sms.ClassCrash, Reason: "This system stopped while the request was under way."}
	if a.State == sms.AttemptPrepared {
		o = sms.Outcome{Class: sms.ClassNothingLeft}
	}
	recipients := make([]sms.Recipient, len(rows))
	for i, r := range rows {
		recipients[i].MessageID = r.ID
	}
	s := sms.Settle(recipients, o, "")
	if _, err := t.endAttempt(ctx, a, s, o, now); err != nil {
		return 0, err
	}
	of, err := t.campaign(ctx, a.CampaignID)
	if err != nil {
		return 0, err
	}
	return int64(len(rows)), t.settleMessages(ctx, of, a, s.Messages, openState(a), o.Class, now)
}

func attempt(r query.Attempt) sms.Attempt {
	return sms.Attempt{ID: r.ID, UID: r.Uid, AccountID: r.AccountID, CampaignID: r.CampaignID, Epoch: r.Epoch,
		State:  sms.AttemptState(r.State),
		Canary: r.Canary, Recipients: int(r.Recipients), Class: sms.Class(r.Class), HTTPStatus: int(r.HttpStatus),
		Code: r.Code, Reason: r.Reason,
		Excerpt: r.Excerpt, Written: r.Written, PreparedAt: r.PreparedAt, LicensedAt: r.LicensedAt, EndedAt: r.EndedAt,
		JournalSeq: r.JournalSeq,
		Call: sms.Call{Kind: sms.CallKind(r.Kind), SenderID: r.SenderID, Text: r.Text, Unicode: r.Unicode, Flash: r.Flash,
			GroupID: r.GroupID}}
}
