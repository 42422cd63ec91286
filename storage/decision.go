package storage

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"smsdesk/internal/plan"
	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// maxCallMessages is the most messages of one call that are listed: no call holds more.
const maxCallMessages = 1000

// DoubtGroups lists the calls behind the given attempt that left messages of a
// campaign waiting for a decision. more says that there are further ones.
func (db callStore) DoubtGroups(ctx context.Context, c sms.Campaign, country string, after int64, limit int,
	now int64) (list []sms.DoubtGroup, more bool, err error) {
	q := db.read()
	ids, err := q.DecisionAttempts(ctx, c.ID, after, int32(limit+1))
	if err != nil {
		return nil, false, fmt.Errorf("list lost calls: %w", err)
	}
	if more = len(ids) > limit; more {
		ids = ids[:limit]
	}
	for _, id := range ids {
		g, err := doubtGroup(ctx, q, c, id, country, now)
		if err != nil {
			return nil, false, fmt.Errorf("read a lost call: %w", err)
		}
		list = append(list, g)
	}
	return list, more, nil
}

func doubtGroup(ctx context.Context, q *query.Queries, c sms.Campaign, id int64, country string,
	now int64) (g sms.DoubtGroup, err error) {
	row, err := q.AttemptByID(ctx, id)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return g, err
	}
	g = sms.DoubtGroup{Attempt: attempt(row), Hints: map[int64][]sms.Hint{}, Again: map[int64]sms.Campaign{}}
	g.Attempt.ID = id
	rows, err := q.WaitingOf(ctx, c.ID, id, maxCallMessages)
	if err != nil {
		return g, err
	}
	for _, r := range rows {
		m := message(r)
		g.Messages = append(g.Messages, m)
		if m.State != sms.InDoubt {
			continue
		}
		if g.Hints[m.ID], err = hints(ctx, q, m, country, now); err != nil {
			return g, err
		}
		s, err := q.SuccessorOf(ctx, m.ID)
		if err == nil && planned(s) {
			g.Again[m.ID] = sms.Campaign{ID: s.CampaignID, Name: s.Name, State: sms.CampaignState(s.CampaignState)}
		} else if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return g, err
		}
	}
	g.Before, g.After, err = balancesAround(ctx, q, c.AccountID, g.Attempt)
	return g, err
}

// planned says that a successor is still going to be sent.
func planned(s query.SuccessorOfRow) bool {
	switch sms.CampaignState(s.CampaignState) {
	case sms.CampaignDraft, sms.CampaignAwaiting, sms.CampaignScheduled, sms.CampaignPaused:
		return s.MessageState == string(sms.Draft)
	}
	return false
}

func balancesAround(ctx context.Context, q *query.Queries, account int64,
	a sms.Attempt) (before, after sms.Balance, err error) {
	if a.LicensedAt == 0 {
		return before, after, nil
	}
	b, err := q.BalanceBefore(ctx, account, a.LicensedAt)
	if err == nil {
		before = sms.Balance{PluginType: b.PluginType, Credits: b.Credits, ReadAt: min(b.ReadAt, a.LicensedAt)}
	} else if !errors.Is(err, sql.ErrNoRows) {
		return before, after, err
	}
	b, err = q.BalanceAfter(ctx, account, max(a.EndedAt, a.LicensedAt))
	switch {
	case err == nil:
		after = sms.Balance{PluginType: b.PluginType, Credits: b.Credits, ReadAt: max(b.Since, a.EndedAt)}
	case errors.Is(err, sql.ErrNoRows):
		err = nil
	}
	return before, after, err
}

// hints lists the unmatched reports that may be about a message in doubt.
func hints(ctx context.Context, q *query.Queries, m sms.Message, country string, now int64) ([]sms.Hint, error) {
	if m.Number == "" {
		return nil, nil
	}
	rows, err := q.UnmatchedTo(ctx, m.AccountID, m.Number)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	rivals, err := q.MayHaveLeft(ctx, m.AccountID, m.Number, m.SentAt-evidenceTTL)
	if err != nil {
		return nil, err
	}
	var list []sms.Hint
	for _, row := range rows {
		r := report(row)
		h := sms.Hint{Report: r, Fit: sms.FitReport(m, r.DeliveryReport, country),
			Young: now-r.ReceivedAt <= sms.EvidenceGrace.Milliseconds()}
		if h.Fit == sms.FitNone {
			continue
		}
		for _, other := range rivals {
			if o := message(other); o.ID != m.ID && sms.FitReport(o, r.DeliveryReport, country) != sms.FitNone {
				h.OtherMatches++
			}
		}
		list = append(list, h)
	}
	return list, nil
}

// Decide carries out what a person chose for the messages that no report settled
// since d.At, when the person was shown what there was to decide; limits bound
// the calls of what is to be sent again. It is whole or not at all: it fails with
// sms.StaleDecisionError when somebody decided about any of the messages
// meanwhile. Where the messages marked as sent or sent again, with those of the
// same person after since, are more than sms.SecondFrom, only the proposal is
// stored.
func (db callStore) Decide(ctx context.Context, d sms.Decision, limits plan.Limits, since,
	now int64) (out sms.DecisionResult, err error) {
	err = db.update(ctx, "store decisions", func(t *tx) error {
		out = sms.DecisionResult{Decision: d, Counts: map[sms.Choice]int{}}
		picked, settled, err := t.selectItems(ctx, d, true)
		if err != nil {
			return err
		}
		if out.Settled = settled; settled > 0 && len(picked) == 0 {
			return nil
		}
		for _, p := range picked {
			if p.choice.NeedsSecond() {
				out.Decision.N++
			}
			out.Counts[p.choice]++
		}
		alone, err := t.DecidedAlone(ctx, d.CampaignID, d.By.ID, since)
		if err != nil {
			return err
		}
		out.Decision.At, out.Decision.State = now, sms.DecisionDone
		if out.Decision.N > 0 && out.Decision.N+int(alone) > sms.SecondFrom {
			out.Decision.State = sms.DecisionProposed
		}
		if err := t.putDecision(ctx, &out.Decision); err != nil || out.Decision.State == sms.DecisionProposed {
			return err
		}
		out.Campaign, err = t.applyDecision(ctx, out.Decision, picked, limits, now)
		return err
	})
	return out, err
}

// Agree carries out what another person proposed. Messages that were settled
// meanwhile are left as they are: evidence only ever says "was sent". The
// second person must not be the first; then it is sms.ErrForbidden.
func (db callStore) Agree(ctx context.Context, id int64, second sms.User, limits plan.Limits,
	now int64) (out sms.DecisionResult, err error) {
	err = db.update(ctx, "agree to decisions", func(t *tx) error {
		out = sms.DecisionResult{Counts: map[sms.Choice]int{}}
		d, err := t.decision(ctx, id)
		if err != nil {
			return err
		}
		if d.By.ID == second.ID {
			return fmt.Errorf("%w: a second person has to agree", sms.ErrForbidden)
		}
		if err := t.endDecision(ctx, &d, sms.DecisionDone, second, now); err != nil {
			return err
		}
		out.Decision = d
		picked, settled, err := t.selectItems(ctx, d, false)
		if err != nil {
			return err
		}
		out.Settled = settled
		for _, p := range picked {
			out.Counts[p.choice]++
		}
		out.Campaign, err = t.applyDecision(ctx, d, picked, limits, now)
		return err
	})
	return out, err
}

// DropDecision takes a proposal back.
func (db callStore) DropDecision(ctx context.Context, id int64, by sms.User, now int64) (d sms.Decision, err error) {
	err = db.update(ctx, "take a decision back", func(t *tx) error {
		if d, err = t.decision(ctx, id); err != nil {
			return err
		}
		return t.endDecision(ctx, &d, sms.DecisionDropped, by, now)
	})
	return d, err
}

// HintedDoubts counts the messages in doubt of a campaign to whose number an
// unmatched report came, up to 1,000.
func (db callStore) HintedDoubts(ctx context.Context, campaign int64) (int64, error) {
	n, err := db.read().HintedDoubts(ctx, campaign)
	return wrapNotFound(n, err, "count hints")
}

// Proposals lists the decisions of a campaign that wait for a second person.
func (db callStore) Proposals(ctx context.Context, campaign int64) ([]sms.Decision, error) {
	rows, err := db.read().ProposedDecisions(ctx, campaign)
	return readAll(rows, err, decision, "list proposals")
}

// Decision finds a decision by id.
func (db callStore) Decision(ctx context.Context, id int64) (sms.Decision, error) {
	r, err := db.read().DecisionByID(ctx, id)
	return readOne(r, err, decision, "read a decision")
}

func (t *tx) decision(ctx context.Context, id int64) (sms.Decision, error) {
	r, err := t.DecisionByID(ctx, id)
	if err != nil {
		return sms.Decision{}, err
	}
	return decision(r)
}

func (t *tx) putDecision(ctx context.Context, d *sms.Decision) error {
	raw, err := json.Marshal(d.Choices)
	if err != nil {
		return fmt.Errorf("write choices: %w", err)
	}
	decidedAt := int64(0)
	if d.State == sms.DecisionDone {
		decidedAt = d.At
	}
	d.ID, err = t.PutDecision(ctx, query.PutDecisionParams{AccountID: d.AccountID, CampaignID: d.CampaignID,
		State: string(d.State), N: int64(d.N),
		Choices: string(raw), ByID: d.By.ID, ByName: d.By.Name, At: d.At, DecidedAt: decidedAt})
	return err
}

func (t *tx) endDecision(ctx context.Context, d *sms.Decision, state sms.DecisionState, second sms.User,
	now int64) error {
	n, err := t.EndDecision(ctx, query.EndDecisionParams{ID: d.ID, State: string(state), SecondID: second.ID,
		SecondName: second.Name, DecidedAt: now})
	if err != nil || n != 1 {
		return conflictIfNil(err)
	}
	d.State, d.Second, d.DecidedAt = state, second, now
	return nil
}

func decision(r query.Decision) (sms.Decision, error) {
	d := sms.Decision{ID: r.ID, CampaignID: r.CampaignID, AccountID: r.AccountID, State: sms.DecisionState(r.State),
		N:  int(r.N),
		By: sms.User{ID: r.ByID, Name: r.ByName}, At: r.At, Second: sms.User{ID: r.SecondID, Name: r.SecondName},
		DecidedAt: r.DecidedAt}
	if err := json.Unmarshal([]byte(r.Choices), &d.Choices); err != nil {
		return d, fmt.Errorf("read choices: %w", err)
	}
	return d, nil
}

type decisionItem struct {
	message sms.Message
	choice  sms.Choice
}

// selectItems turns choices into messages, and counts those that reports settled
// since the person saw them. With strict, any other message that is not as the
// person saw it is sms.StaleDecisionError; without, it is left out.
func (t *tx) selectItems(ctx context.Context, d sms.Decision, strict bool) (list []decisionItem, settled int,
	err error) {
	of, err := t.campaign(ctx, d.CampaignID)
	if err != nil {
		return nil, 0, err
	}
	var gone sms.StaleDecisionError
	own, whole := byScope(d.Choices)
	changed := false
	for _, c := range d.Choices {
		rows, err := t.messagesOf(ctx, d, c)
		if err != nil {
			return nil, 0, err
		}
		if c.Message == 0 && len(rows) != c.Seen {
			byReport, err := t.leftByReport(ctx, d, c, len(rows))
			if err != nil {
				return nil, 0, err
			}
			if settled += byReport; byReport == 0 && strict {
				late, err := t.DecidedSince(ctx, c.Attempt, d.At)
				if err != nil {
					return nil, 0, err
				}
				for _, r := range late {
					gone.Messages = append(gone.Messages, message(r))
				}
				changed = true
				continue
			}
		}
		for _, m := range rows {
			if own[m.ID] && c.Message == 0 {
				continue
			}
			_, ok := c.Choice.Becomes(m.State, of.State)
			mine := m.CampaignID == d.CampaignID && m.AttemptID == c.Attempt
			switch {
			case ok && mine && c.Choice != sms.ChooseLater:
				list = append(list, decisionItem{m, c.Choice})
			case ok && mine:
			case mine && overtakenByReport(m, c.Choice, of):
				if !whole[c.Attempt] {
					settled++ // otherwise the whole call's choice has counted it
				}
			case strict:
				if changed = true; m.CampaignID == d.CampaignID {
					gone.Messages = append(gone.Messages, m)
				}
			}
		}
	}
	if changed {
		return nil, 0, gone
	}
	return list, settled, nil
}

// byScope tells the messages that have a choice of their own, and the calls of
// which the rest has one.
func byScope(choices []sms.DecisionItem) (own, whole map[int64]bool) {
	own, whole = map[int64]bool{}, map[int64]bool{}
	for _, c := range choices {
		if c.Message > 0 {
			own[c.Message] = true
		} else {
			whole[c.Attempt] = true
		}
	}
	return own, whole
}

// leftByReport is how many messages of a call fewer wait than the person saw,
// 0 unless reports alone settled every one of them.
func (t *tx) leftByReport(ctx context.Context, d sms.Decision, c sms.DecisionItem, waiting int) (int, error) {
	rows, err := t.SettledSince(ctx, c.Attempt, d.At)
	if err != nil {
		return 0, err
	}
	reported := 0
	for _, r := range rows {
		if r.CampaignID != d.CampaignID || r.Evidence != sms.ByReport {
			return 0, nil
		}
		reported = int(r.N)
	}
	// A later report about a message that was settled before counts as well.
	if missing := c.Seen - waiting; missing > 0 && missing <= reported {
		return missing, nil
	}
	return 0, nil
}

// overtakenByReport says that a report has settled a message to which a choice
// about one in doubt came too late.
func overtakenByReport(m sms.Message, c sms.Choice, of sms.Campaign) bool {
	_, known := c.Becomes(sms.InDoubt, of.State)
	return known && m.State == sms.Accepted && m.Evidence == sms.ByReport
}

func (t *tx) messagesOf(ctx context.Context, d sms.Decision, c sms.DecisionItem) ([]sms.Message, error) {
	var rows []query.Message
	var err error
	if c.Message > 0 {
		row, e := t.MessageByID(ctx, c.Message)
		rows, err = []query.Message{row}, e
	} else {
		rows, err = t.WaitingOf(ctx, d.CampaignID, c.Attempt, maxCallMessages)
	}
	list := make([]sms.Message, len(rows))
	for i, r := range rows {
		list[i] = message(r)
	}
	return list, err
}

// applyDecision moves the messages. The tally commits with them.
func (t *tx) applyDecision(ctx context.Context, d sms.Decision, list []decisionItem, limits plan.Limits,
	now int64) (made sms.Campaign, err error) {
	var again []sms.Message
	requeued := false
	for _, p := range list {
		switch p.choice {
		case sms.ChooseSent:
			err = t.leaveDoubt(ctx, p.message, sms.Accepted, "", "", sms.ByPerson, now)
		case sms.ChooseClose:
			err = t.leaveDoubt(ctx, p.message, sms.ClosedUnknown, "", "Closed by "+d.By.Name+".", sms.ByPerson, now)
		case sms.ChooseQueue:
			requeued, err = true, t.queueHeld(ctx, p.message, now)
		case sms.ChooseAgain:
			again = append(again, p.message)
		}
		if err != nil {
			return made, err
		}
	}
	if requeued {
		if err := t.reopen(ctx, d.CampaignID, now); err != nil {
			return made, err
		}
	}
	if len(again) > 0 {
		made, err = t.draftResend(ctx, d, again, limits, now)
	}
	return made, err
}

// queueHeld puts a held message back. Its class is H, so that nothing is known
// to have been executed only because a person says so: this is the one way
// back into the queue that a person may take, and only from "held".
func (t *tx) queueHeld(ctx context.Context, m sms.Message, now int64) error {
	n, err := t.QueueHeld(ctx, m.ID, now, m.AttemptID)
	if err != nil || n != 1 {
		return conflictIfNil(err)
	}
	t.moveTally(m.CampaignID, sms.StandingKey(sms.Held, "", false), sms.StandingKey(sms.Queued, "", false), 1)
	return t.countTraffic(ctx, m, -1)
}

// reopen lets a finished campaign send what was put back, beginning with a
// small first call; one that is stopped or paused stays so.
func (t *tx) reopen(ctx context.Context, id, now int64) error {
	row, err := t.CampaignByID(ctx, id)
	if err != nil {
		return err
	}
	c := campaign(row.Campaign, row.Test)
	if c.State == sms.CampaignFinished {
		if err := c.Reopen(time.UnixMilli(now)); err != nil {
			return err
		}
	}
	return t.putCampaign(ctx, &c, now)
}

// draftResend makes new messages in place of doubtful ones, in a draft of their
// own. The doubtful ones are closed when that starts, and not before: a draft
// may be thrown away, and a report may still come.
func (t *tx) draftResend(ctx context.Context, d sms.Decision, list []sms.Message, limits plan.Limits,
	now int64) (made sms.Campaign, err error) {
	from, err := t.campaign(ctx, d.CampaignID)
	if err != nil {
		return made, err
	}
	// Inside a campaign the rows rise with the ids.
	slices.SortFunc(list, func(a, b sms.Message) int { return cmp.Compare(a.Row, b.Row) })
	r := plan.NewRepetition(from, d.By, limits, len(list))
	fresh := make([]sms.Message, len(list))
	for i, m := range list {
		s, err := t.SuccessorOf(ctx, m.ID)
		if err == nil && planned(s) {
			return made, fmt.Errorf("message %d is to be sent again already: %w", m.ID, errUnexpected)
		}
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return made, err
		}
		fresh[i] = sms.Message{AccountID: m.AccountID, Row: m.Row, Number: m.Number, Text: m.Text, Unicode: m.Unicode,
			Parts: m.Parts, State: sms.Draft, CreatedAt: now}
		if err := r.Add(fresh[i]); err != nil {
			return made, err
		}
	}
	calls, c := r.Plan(), &r.Campaign
	c.ID, err = t.insertCampaign(ctx, *c, sms.CampaignDraft, randomHex(32), now)
	if err != nil {
		return made, err
	}
	for i, m := range fresh {
		m.CampaignID, m.Call = c.ID, calls[i]
		id, err := t.insertMessage(ctx, m, from.GroupID)
		if err == nil {
			_, err = t.Succeed(ctx, list[i].ID, id, c.ID)
		}
		if err != nil {
			return made, err
		}
	}
	return t.campaign(ctx, c.ID)
}

// closeReplaced closes the doubtful messages whose successors are about to be
// queued. One that a report or a person has settled meanwhile was sent, or is
// somebody else's to decide: its successor is left out.
func (t *tx) closeReplaced(ctx context.Context, c sms.Campaign, by string, now int64) error {
	rows, err := t.Predecessors(ctx, c.ID)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.State != string(sms.InDoubt) {
			n, err := t.SkipSuccessor(ctx, r.SuccessorID, settledMeanwhile(sms.State(r.State)), now)
			if err != nil {
				return err
			}
			t.moveTally(c.ID, sms.StandingKey(c.Shows(sms.Draft), "", false), sms.StandingKey(sms.Skipped, "", false), n)
			continue
		}
		n, err := t.CloseResent(ctx, r.MessageID, "Replaced by a new message by "+by+".", now)
		if err != nil || n != 1 {
			return conflictIfNil(err)
		}
		t.moveTally(r.CampaignID, sms.StandingKey(sms.InDoubt, "", false), sms.StandingKey(sms.ClosedResent, "", false), 1)
		was := sms.Message{CampaignID: r.CampaignID, State: sms.InDoubt, SentAt: r.SentAt, ChangedAt: r.ChangedAt}
		if err := errors.Join(t.countTraffic(ctx, was, -1), t.DeleteInFlight(ctx, r.MessageID)); err != nil {
			return err
		}
	}
	return nil
}

func settledMeanwhile(s sms.State) string {
	if s == sms.Accepted {
		return "The first message was sent after all: a report came."
	}
	return "The first message was decided in another way."
}

// Resent says which message took the place of another: both 0 where there is none.
func (db callStore) Resent(ctx context.Context, message int64) (predecessor, successor int64, err error) {
	q := db.read()
	predecessor, err = q.PredecessorOf(ctx, message)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, 0, fmt.Errorf("look for a message's predecessor: %w", err)
	}
	s, err := q.SuccessorOf(ctx, message)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, 0, fmt.Errorf("look for a message's successor: %w", err)
	}
	return predecessor, s.SuccessorID, nil
}
