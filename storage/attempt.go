package storage

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// Claim takes a call's worth of queued messages of one running campaign and
// freezes them as a prepared attempt, in one transaction. Campaigns take
// turns: the first one behind the id after that has something to send is
// served. It returns nil when there is nothing to claim or the account is
// paused, and sms.ErrConflict when its lease has gone to another epoch.
// Messages whose number is blocked by now are left out on the way; changed
// lists the campaigns that had such.
func (db *DB) Claim(ctx context.Context, account, epoch, after int64, limit int, now int64) (made *sms.Attempt, changed []int64, err error) {
	err = db.update(ctx, "claim messages", func(t *tx) error {
		made, changed = nil, nil
		row, err := t.AccountByID(ctx, account)
		if err != nil {
			return err
		}
		if row.Epoch != epoch {
			return fmt.Errorf("%w: another process sends for this account now", sms.ErrConflict)
		}
		if row.Pause != "" {
			return nil
		}
		running, err := t.RunningCampaigns(ctx, account)
		if err != nil {
			return err
		}
		zone := sms.Account{Timezone: row.Timezone}.Location()
		for _, c := range inTurn(running, after) {
			skipped := false
			made, skipped, err = t.claimCampaign(ctx, account, c, epoch, max(limit, 1), zone, now)
			if skipped {
				changed = append(changed, c.ID)
			}
			if made != nil || err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return made, changed, nil
}

func inTurn(running []query.RunningCampaignsRow, after int64) []query.RunningCampaignsRow {
	for i, c := range running {
		if c.ID > after {
			return append(append([]query.RunningCampaignsRow{}, running[i:]...), running[:i]...)
		}
	}
	return running
}

func (t *tx) claimCampaign(ctx context.Context, account int64, turn query.RunningCampaignsRow, epoch int64, limit int, zone *time.Location, now int64) (made *sms.Attempt, skipped bool, err error) {
	canary := turn.Canary != string(sms.CanaryPassed)
	if canary {
		open, err := t.OpenCanary(ctx, account, turn.ID)
		if err != nil || open > 0 {
			return nil, false, err
		}
		limit = min(limit, sms.CanarySize)
	}
	first, skipped, err := t.firstAllowed(ctx, turn.ID, limit, zone, now)
	if errors.Is(err, sql.ErrNoRows) {
		if skipped {
			err = t.finishAll(ctx, []int64{turn.ID}, now)
			return nil, true, err
		}
		return nil, false, nil
	}
	if err != nil {
		return nil, skipped, err
	}
	if first.ID == 0 {
		return nil, true, nil
	}
	made, err = t.prepare(ctx, turn.ID, first, epoch, canary, limit, now)
	return made, skipped, err
}

// firstAllowed finds the first message to send after those have been left out
// whose number is blocked, so that freeze meets none of them. The id is 0 when
// there were more of them than one transaction should leave out.
func (t *tx) firstAllowed(ctx context.Context, campaign int64, limit int, zone *time.Location, now int64) (first query.FirstQueuedRow, skipped bool, err error) {
	look := limit
	for range blockedPasses {
		if first, err = t.FirstQueued(ctx, campaign); err != nil {
			return first, skipped, err
		}
		n, err := t.skipBlocked(ctx, campaign, first, look, zone, now)
		if err != nil || n == 0 {
			return first, skipped, err
		}
		skipped, look = true, max(limit, blockedPass)
	}
	return query.FirstQueuedRow{}, true, nil
}

func (t *tx) prepare(ctx context.Context, id int64, first query.FirstQueuedRow, epoch int64, canary bool, limit int, now int64) (*sms.Attempt, error) {
	row, err := t.CampaignByID(ctx, id)
	if err != nil {
		return nil, err
	}
	c := campaign(row.Campaign, row.Test)
	a := &sms.Attempt{UID: randomHex(16), AccountID: c.AccountID, CampaignID: c.ID, Epoch: epoch, State: sms.AttemptPrepared, Canary: canary, PreparedAt: now,
		Call: sms.Call{Kind: sms.CallText, SenderID: c.SenderID, Text: first.Text, Unicode: first.Unicode, Flash: c.Flash, GroupID: c.GroupID}}
	if c.GroupID != "" {
		a.Call.Kind = sms.CallGroup
	}
	a.ID, err = t.InsertAttempt(ctx, query.InsertAttemptParams{Uid: a.UID, AccountID: a.AccountID, CampaignID: a.CampaignID, Epoch: epoch, Canary: canary,
		Kind: string(a.Call.Kind), SenderID: c.SenderID, Text: first.Text, Unicode: first.Unicode, Flash: c.Flash, GroupID: c.GroupID, PreparedAt: now})
	if err != nil {
		return nil, err
	}
	return a, t.freeze(ctx, a, first.TextHash, limit, now)
}

const freezeRecipients = `insert into attempt_message (attempt_id, message_id)
select $1, min(c.id) from (
  select m.id, m.number from message m
  where m.campaign_id = $2 and m.state = 'queued' and m.text_hash = $3 and m.text = $6 and m.unicode = $4
    and not exists (select 1 from in_flight f where f.account_id = m.account_id and f.number = m.number and f.text_hash = m.text_hash)
  order by m.call_no, m.id limit $5 ` + claimLock + `) c
group by c.number`

// freeze picks messages of one text and one alphabet, each number once, none
// that is in flight already, and binds them to the attempt.
func (t *tx) freeze(ctx context.Context, a *sms.Attempt, hash []byte, limit int, now int64) error {
	_, err := t.raw.ExecContext(ctx, freezeRecipients, a.ID, a.CampaignID, hash, a.Call.Unicode, limit, a.Call.Text)
	if err != nil {
		return fmt.Errorf("freeze recipients: %w", err)
	}
	if err := t.FreezeInFlight(ctx, a.ID); err != nil {
		return fmt.Errorf("mark recipients in flight: %w", err)
	}
	rows, err := t.ClaimMessages(ctx, a.ID, now)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return fmt.Errorf("freeze recipients: %w", errUnexpected)
	}
	t.moved(a.CampaignID, "queued", "sending", int64(len(rows)))
	a.Recipients = len(rows)
	slices.SortFunc(rows, func(x, y query.ClaimMessagesRow) int { return cmp.Compare(x.ID, y.ID) })
	for _, r := range rows {
		a.Messages = append(a.Messages, r.ID)
		if a.Call.Kind != sms.CallGroup {
			a.Call.Recipients = append(a.Call.Recipients, sms.Recipient{MessageID: r.ID, Number: r.Number})
		}
	}
	if err := t.SetRecipients(ctx, a.ID, int64(len(rows))); err != nil {
		return err
	}
	if a.Canary {
		return t.SetCanary(ctx, a.CampaignID, string(sms.CanaryFlying))
	}
	return nil
}

// License commits the one permission to send an attempt (I7). It fails with
// sms.ErrConflict when the attempt is not prepared any more, the lease was
// taken by somebody else, its campaign or account was stopped meanwhile, or
// one of its numbers was blocked.
func (db *DB) License(ctx context.Context, a *sms.Attempt, now int64) error {
	err := db.update(ctx, "commit the licence", func(t *tx) error {
		n, err := t.LicenseAttempt(ctx, a.ID, a.Epoch, now)
		if err != nil {
			return err
		}
		if n != 1 {
			return fmt.Errorf("%w: sending was stopped before this call", sms.ErrConflict)
		}
		if n, err = t.LicenseMessages(ctx, a.ID, now); err != nil {
			return err
		}
		if n != int64(a.Recipients) {
			return fmt.Errorf("%w: %d messages instead of %d", errUnexpected, n, a.Recipients)
		}
		return nil
	})
	if err == nil {
		a.State, a.LicensedAt = sms.AttemptSending, now
	}
	return err
}

// Settle commits the outcome of an attempt: its messages, the campaign's
// canary, a pause where the verdict asks for one, and the reports that came
// before the answer. Every message of the attempt must be in the settlement,
// once. alert is true when this settlement is the one that paused. Repeating
// it, or settling what Recover has settled, fails with sms.ErrConflict.
func (db *DB) Settle(ctx context.Context, a *sms.Attempt, s sms.Settlement, o sms.Outcome, country string, judge func(sms.Canary, []sms.Finished) sms.Verdict, now int64) (alert bool, err error) {
	err = db.update(ctx, "commit the outcome", func(t *tx) error {
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
		for _, m := range s.Messages {
			if err := t.settleMessage(ctx, a, m, held(a), o.Class, now); err != nil {
				return err
			}
		}
		if group {
			if err := t.settleGroup(ctx, a, s, o, country, now); err != nil {
				return err
			}
		}
		if err := t.applyWaiting(ctx, a.AccountID, providerIDs(s, o, group), country, now); err != nil {
			return err
		}
		alert, err = t.afterAttempt(ctx, a, sms.Finished{Class: o.Class, Accepted: accepted, Canary: a.Canary}, judge, now)
		return err
	})
	return alert && err == nil, err
}

// held is the state in which an open attempt holds its messages.
func held(a *sms.Attempt) sms.State {
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

func (t *tx) endAttempt(ctx context.Context, a *sms.Attempt, s sms.Settlement, o sms.Outcome, now int64) (accepted int64, err error) {
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
	n, err := t.EndAttempt(ctx, query.EndAttemptParams{ID: a.ID, State: string(state), Class: string(o.Class), HttpStatus: int64(o.HTTPStatus), Code: o.Code,
		Reason: o.Reason, Excerpt: o.Excerpt, Written: o.Written, Accepted: accepted, EndedAt: now, State_2: string(a.State)})
	if err == nil && n != 1 {
		err = fmt.Errorf("end attempt %d: %w", a.ID, errUnexpected)
	}
	return accepted, err
}

func (t *tx) settleMessage(ctx context.Context, a *sms.Attempt, m sms.Settled, from sms.State, class sms.Class, now int64) error {
	if !from.MayBecome(m.To, class) {
		return fmt.Errorf("message %d may not go from %s to %s by class %s", m.MessageID, from, m.To, class)
	}
	reason, code := m.Reason, m.Code
	if m.To == sms.Queued {
		reason, code = "", ""
	}
	n, err := t.SettleMessage(ctx, query.SettleMessageParams{ID: m.MessageID, State: string(m.To), Reason: reason, Code: code, ProviderID: m.ProviderID,
		Evidence: "", ChangedAt: now, State_2: string(from), AttemptID: a.ID})
	if err != nil {
		return err
	}
	if n != 1 {
		return fmt.Errorf("message %d: %w", m.MessageID, errUnexpected)
	}
	t.moved(a.CampaignID, sms.StandingKey(from, "", false), sms.StandingKey(m.To, "", false), 1)
	for _, alias := range m.Aliases {
		if err := t.InsertAlias(ctx, a.AccountID, alias, m.MessageID); err != nil {
			return err
		}
	}
	if m.To == sms.InDoubt {
		return nil
	}
	return t.DeleteInFlight(ctx, m.MessageID)
}

func (t *tx) afterAttempt(ctx context.Context, a *sms.Attempt, ended sms.Finished, judge func(sms.Canary, []sms.Finished) sms.Verdict, now int64) (alert bool, err error) {
	row, err := t.CampaignByID(ctx, a.CampaignID)
	if err != nil {
		return false, err
	}
	c := campaign(row.Campaign, row.Test)
	v := sms.Verdict{Canary: c.Canary}
	if a.State == sms.AttemptPrepared {
		if a.Canary && c.Canary == sms.CanaryFlying {
			v.Canary = sms.CanaryPending
		}
	} else {
		before, err := t.RecentAttempts(ctx, c.ID, row.Campaign.WindowFrom, a.ID)
		if err != nil {
			return false, err
		}
		v = judge(c.Canary, append([]sms.Finished{ended}, finished(before)...))
	}
	c.Canary = v.Canary
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
		c.State, c.Pause, c.PauseCode, alert = sms.CampaignPaused, v.Sentence, v.Code, true
	}
	return alert, t.putCampaign(ctx, &c, row.Campaign.WindowFrom, now)
}

// finish ends a started campaign that has nothing left to send.
func (t *tx) finish(ctx context.Context, c *sms.Campaign, now int64) error {
	if c.State == sms.CampaignDraft || c.State == sms.CampaignFinished || c.MayReschedule() {
		return nil
	}
	left, err := t.CountUnsent(ctx, c.ID, c.AccountID)
	if err == nil && left == 0 {
		c.State, c.Pause, c.PauseCode, c.FinishedAt = sms.CampaignFinished, "", "", now
	}
	return err
}

func finished(rows []query.RecentAttemptsRow) []sms.Finished {
	list := make([]sms.Finished, len(rows))
	for i, r := range rows {
		list[i] = sms.Finished{Class: sms.Class(r.Class), Accepted: r.Accepted, Canary: r.Canary}
	}
	return list
}

// Recover settles what the last process left open (reliability.md, section
// 5): prepared attempts are released, licensed ones are in doubt.
func (db *DB) Recover(ctx context.Context, account, now int64) (released, doubtful int64, err error) {
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
		if err := t.putCampaign(ctx, &c, row.Campaign.WindowFrom, now); err != nil {
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
	for _, m := range s.Messages {
		if err := t.settleMessage(ctx, a, m, held(a), o.Class, now); err != nil {
			return 0, err
		}
	}
	return int64(len(rows)), nil
}

// RecentLicences lists when calls were licensed since the given time, for a
// rate limiter that starts again.
func (db *DB) RecentLicences(ctx context.Context, account, since int64) ([]time.Time, error) {
	rows, err := db.read().RecentLicences(ctx, account, since)
	if err != nil {
		return nil, fmt.Errorf("list recent calls: %w", err)
	}
	list := make([]time.Time, len(rows))
	for i, ms := range rows {
		list[i] = time.UnixMilli(ms)
	}
	return list, nil
}

func attempt(r query.Attempt) sms.Attempt {
	return sms.Attempt{ID: r.ID, UID: r.Uid, AccountID: r.AccountID, CampaignID: r.CampaignID, Epoch: r.Epoch, State: sms.AttemptState(r.State),
		Canary: r.Canary, Recipients: int(r.Recipients), Class: sms.Class(r.Class), HTTPStatus: int(r.HttpStatus), Code: r.Code, Reason: r.Reason,
		Excerpt: r.Excerpt, Written: r.Written, PreparedAt: r.PreparedAt, LicensedAt: r.LicensedAt, EndedAt: r.EndedAt,
		Call: sms.Call{Kind: sms.CallKind(r.Kind), SenderID: r.SenderID, Text: r.Text, Unicode: r.Unicode, Flash: r.Flash, GroupID: r.GroupID}}
}
