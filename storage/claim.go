package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// Claim takes a call's worth of queued messages of one running campaign and
// freezes them as a prepared attempt, in one transaction. Urgent campaigns come
// first, by id; the others take turns: the first one behind the id After that
// has something to send is served. Calls go out as they were planned, as far
// as the limits of now allow: what does not fit waits for another call. Nothing
// is claimed while the account is paused or outside its sending hours. The
// error is sms.ErrConflict when the account's lease has gone to another epoch.
//
// On the way messages whose number is blocked by now are left out, and a
// campaign is paused whose sender ID is not usable any more or whose time to be
// handed over has passed.
func (db callStore) Claim(ctx context.Context, o sms.ClaimOrder, now int64) (claim sms.Claim, err error) {
	err = db.update(ctx, "claim messages", func(t *tx) error {
		claim = sms.Claim{}
		row, err := t.AccountByID(ctx, o.AccountID)
		if err != nil {
			return err
		}
		if row.Epoch != o.Epoch {
			return fmt.Errorf("%w: another process sends for this account now", sms.ErrConflict)
		}
		if row.Pause != "" {
			return nil
		}
		running, err := t.RunningCampaigns(ctx, o.AccountID)
		if err != nil || len(running) == 0 {
			return err
		}
		c := claimer{db: db.core, tx: t, order: o, account: account(row), now: now, claim: &claim}
		if c.senders, err = (accountTx{t}).senderIDs(ctx, o.AccountID); err != nil {
			return err
		}
		for _, turn := range roundRobin(running, o) {
			if err := c.claimFrom(ctx, turn); err != nil || claim.Attempt != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return sms.Claim{}, err
	}
	return claim, nil
}

// roundRobin lists the campaigns that may be served in the order of their turns.
func roundRobin(running []query.RunningCampaignsRow, o sms.ClaimOrder) []query.RunningCampaignsRow {
	var urgent, behind, before []query.RunningCampaignsRow
	for _, c := range running {
		switch {
		case c.Urgent && o.Urgent:
			urgent = append(urgent, c)
		case c.Urgent || !o.Bulk:
		case c.ID > o.After:
			behind = append(behind, c)
		default:
			before = append(before, c)
		}
	}
	return append(append(urgent, behind...), before...)
}

// claimer is one claim's transaction.
type claimer struct {
	*tx
	db      *core
	order   sms.ClaimOrder
	account sms.Account
	senders []sms.SenderID
	now     int64
	test    bool // the campaign in turn is a test to oneself
	claim   *sms.Claim
}

// claimFrom claims from one campaign, if it may send now and has something to.
func (c *claimer) claimFrom(ctx context.Context, turn query.RunningCampaignsRow) error {
	at := time.UnixMilli(c.now)
	terms := sms.Campaign{ID: turn.ID, Urgent: turn.Urgent, HandOver: turn.HandOver, SendAt: turn.SendAt,
		SendZone: turn.SendZone, SendOffset: int(turn.SendOffset), TestOf: turn.TestOf}
	if sms.SendsAt(c.account, terms, at).After(at) {
		return nil
	}
	if !sms.UsableSender(c.senders, turn.SenderID) {
		return c.pause(ctx, turn.ID, sms.PauseSender, sms.SenderGone(turn.SenderID))
	}
	if terms.HandOverLate(at) {
		return c.pause(ctx, turn.ID, sms.PauseHandOver, terms.HandOverLateSentence())
	}
	room, err := c.dailyQuotaLeft(ctx)
	if err != nil || room == 0 && turn.TestOf == 0 {
		return err
	}
	c.test = turn.TestOf > 0
	limit, canary := int(min(int64(max(c.order.CallLimit, 1)), max(room, 1))), turn.Canary != string(sms.CanaryPassed)
	if canary {
		open, err := c.OpenCanary(ctx, c.account.ID, turn.ID)
		if err != nil || open > 0 {
			return err
		}
		limit = min(limit, sms.CanarySize)
	}
	rows, skipped, err := c.nextCall(ctx, turn.ID, limit)
	if skipped {
		c.claim.Changed = append(c.claim.Changed, turn.ID)
	}
	switch {
	case err != nil:
		return err
	case len(rows) > 0:
		c.claim.Urgent = turn.Urgent
		return c.prepare(ctx, turn.ID, rows, canary, limit)
	case skipped:
		return c.finishAll(ctx, []int64{turn.ID}, c.now)
	}
	return nil
}

// pause stops a campaign that may not go on.
func (c *claimer) pause(ctx context.Context, id int64, code, sentence string) error {
	row, err := c.CampaignByID(ctx, id)
	if err != nil {
		return err
	}
	paused := campaign(row.Campaign, row.Test)
	if err := paused.PauseFor(code, sentence); err != nil {
		return err
	}
	c.claim.Changed, c.claim.Paused = append(c.claim.Changed, id), append(c.claim.Paused, paused)
	return c.putCampaign(ctx, &paused, c.now)
}

// callRow is a message that waits for its call.
type callRow struct {
	sms.Recipient
	unicode bool
	blocked *sms.Blocked // nil: it is not
}

// nextCall lists the messages of the next call of the plan that are to be sent
// still, at most limit, after those have been left out whose number is blocked:
// freeze meets none of them. It lists none although there may be some when
// there were more blocked ones than one transaction should leave out.
func (c *claimer) nextCall(ctx context.Context, campaign int64, limit int) (rows []callRow, skipped bool, err error) {
	for range blockedPasses {
		first, err := c.firstQueued(ctx, campaign)
		if err != nil || first == nil {
			return nil, skipped, err
		}
		if rows, err = c.callRows(ctx, campaign, *first, limit); err != nil {
			return nil, skipped, err
		}
		n, err := c.skipBlocked(ctx, campaign, rows)
		if err == nil && n == 0 {
			n, err = c.skipCapped(ctx, campaign, rows)
		}
		if err == nil && n == 0 {
			n, err = c.skipRemembered(ctx, campaign, rows)
		}
		if err != nil || n == 0 {
			return rows, skipped, err
		}
		skipped = true
	}
	return nil, skipped, nil
}

// queuedPerTx is how many messages of a started campaign are queued at once,
// beside the rest of the last call among them.
const queuedPerTx = 2000

// firstQueued finds the first message that can go into a call now; when there
// is none it queues the next of the campaign's messages. Whole calls are
// queued, so that the call of a queued message is complete. nil: there is none,
// or what was queued waits for its twins and the next claim looks further.
func (c *claimer) firstQueued(ctx context.Context, campaign int64) (*query.FirstQueuedRow, error) {
	for range blockedPasses {
		first, err := c.FirstQueued(ctx, campaign)
		if err == nil {
			return &first, nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
		last, err := c.DraftCalls(ctx, campaign, queuedPerTx)
		if err != nil || last < 0 {
			return nil, err
		}
		if _, err := c.QueueDrafts(ctx, campaign, last, queuedPerTx+maxCall); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// maxCall is the highest call limit that an account may have.
const maxCall = 10_000

// waiting picks messages that are queued and of which no twin is in flight: a
// message of the same number and text.
const waiting = `m.campaign_id = $1 and m.state = 'queued'
  and not exists (select 1 from in_flight f where f.account_id = m.account_id and f.number = m.number and f.text_hash = m.text_hash)`

const callRecipients = `select m.id, m.number, m.text, m.unicode, b.kind, b.by_name, b.since from message m
left join blocked b on b.account_id = m.account_id and b.number = m.number
where ` + waiting + ` and m.call_no = $2 and m.unicode = $3 order by m.id limit $4 `

// callRows lists messages of one call of the plan and one alphabet.
func (c *claimer) callRows(ctx context.Context, campaign int64, first query.FirstQueuedRow,
	limit int) ([]callRow, error) {
	rows, err := c.sql.QueryContext(ctx, callRecipients+c.engine.claimLock(), campaign, first.CallNo, first.Unicode, limit)
	var list []callRow
	err = forEachRow(rows, err, func(scan func(...any) error) error {
		var r callRow
		var kind, by sql.NullString
		var since sql.NullInt64
		err := scan(&r.MessageID, &r.Number, &r.Text, &r.unicode, &kind, &by, &since)
		if kind.Valid {
			r.blocked = &sms.Blocked{Kind: sms.BlockKind(kind.String), ByName: by.String, Since: since.Int64}
		}
		list = append(list, r)
		return err
	})
	return wrapNotFound(list, err, "list a call's messages")
}

// prepare freezes as many of the messages as one call may hold.
func (c *claimer) prepare(ctx context.Context, id int64, rows []callRow, canary bool, limit int) error {
	row, err := c.CampaignByID(ctx, id)
	if err != nil {
		return err
	}
	of := campaign(row.Campaign, row.Test)
	a := &sms.Attempt{UID: randomHex(16), AccountID: of.AccountID, CampaignID: id, Epoch: c.order.Epoch,
		State: sms.AttemptPrepared, Canary: canary, PreparedAt: c.now,
		Call: sms.Call{Kind: sms.CallGroup, SenderID: of.SenderID, Text: rows[0].Text, Unicode: rows[0].unicode,
			Flash: of.Flash, GroupID: of.GroupID}}
	if of.HandOver {
		a.Call.SchedTime = time.UnixMilli(of.SendAt)
	}
	if of.GroupID != "" {
		a.Messages = []int64{rows[0].MessageID}
	} else {
		c.fill(a, rows, limit)
	}
	a.Recipients = len(a.Messages)
	a.ID, err = c.InsertAttempt(ctx, query.InsertAttemptParams{Uid: a.UID, AccountID: a.AccountID, CampaignID: id,
		Epoch: a.Epoch, Canary: canary, Recipients: int64(a.Recipients),
		Kind: string(a.Call.Kind), SenderID: a.Call.SenderID, Text: a.Call.Text, Unicode: a.Call.Unicode, Flash: a.Call.Flash,
		GroupID: a.Call.GroupID, PreparedAt: c.now})
	if err != nil {
		return err
	}
	c.claim.Attempt = a
	return c.bindToAttempt(ctx, a)
}

// fill decides the form of a call and which of the messages go into it.
func (c *claimer) fill(a *sms.Attempt, rows []callRow, limit int) {
	candidates := make([]sms.Recipient, len(rows))
	for i, r := range rows {
		candidates[i] = r.Recipient
	}
	a.Call.Kind, a.Call.Recipients = c.order.Fill(a.Call, candidates, limit)
	if a.Call.Kind == sms.CallPairs {
		a.Call.Text = ""
	}
	for i := range a.Call.Recipients {
		r := &a.Call.Recipients[i]
		a.Messages = append(a.Messages, r.MessageID)
		if a.Call.Kind == sms.CallText {
			r.Text = ""
		}
	}
}

// bindToAttempt binds the messages to their attempt and marks them in flight.
func (c *claimer) bindToAttempt(ctx context.Context, a *sms.Attempt) error {
	if err := c.bind(ctx, a.ID, a.Messages); err != nil {
		return err
	}
	if err := c.FreezeInFlight(ctx, a.ID); err != nil {
		return fmt.Errorf("mark recipients in flight: %w", err)
	}
	n, err := c.ClaimMessages(ctx, a.ID, c.now)
	if err != nil {
		return err
	}
	if n == 0 || n != int64(a.Recipients) {
		return fmt.Errorf("freeze recipients: %w", errUnexpected)
	}
	c.moveTally(a.CampaignID, "queued", "sending", n)
	if a.Canary {
		return c.SetCanary(ctx, a.CampaignID, string(sms.CanaryFlying))
	}
	return nil
}

// boundPerStmt is how many messages one statement binds.
const boundPerStmt = 500

func (t *tx) bind(ctx context.Context, attempt int64, messages []int64) error {
	for len(messages) > 0 {
		n := min(len(messages), boundPerStmt)
		args, rows := []any{attempt}, make([]string, n)
		for i, id := range messages[:n] {
			args = append(args, id)
			rows[i] = fmt.Sprintf("($1, $%d)", i+2)
		}
		if _, err := t.sql.ExecContext(ctx, `insert into attempt_message (attempt_id, message_id) values `+
			strings.Join(rows, ", "), args...); err != nil {
			return fmt.Errorf("bind messages to their attempt: %w", err)
		}
		messages = messages[n:]
	}
	return nil
}
