package storage

import (
	"context"
	"errors"
	"fmt"

	"smsdesk/internal/sms"
)

// taken says that a row of an answer proves that its number was accepted.
func taken(r sms.ResultRow) bool { return r.ProviderID != "" && r.Code == "" }

// groupSettlement judges a group send as a whole. Before the answer its
// recipients are unknown and one row without a number stands for them all, so
// the settlement lists none.
func groupSettlement(s sms.Settlement, o sms.Outcome) sms.Settlement {
	s.Messages = nil
	if o.Class != sms.ClassAnswered {
		return s
	}
	s.State = sms.AttemptAccepted
	for _, r := range o.Rows {
		if !taken(r) {
			s.State = sms.AttemptPartial
		}
	}
	if len(o.Rows) == 0 {
		s.State = sms.AttemptInDoubt
	}
	return s
}

// settleGroup turns the answer of a group send into messages. An answer that
// names nobody proves nothing: the whole group stays in doubt.
func (t *tx) settleGroup(ctx context.Context, of sms.Campaign, a *sms.Attempt, s sms.Settlement, o sms.Outcome, country string, now int64) error {
	rows, err := t.AttemptMessages(ctx, a.ID)
	if err != nil || len(rows) != 1 {
		return fmt.Errorf("the group's row: %w", orUnexpected(err))
	}
	whole := message(rows[0])
	if s.State == sms.AttemptInDoubt && o.Class == sms.ClassAnswered {
		one := sms.Settled{MessageID: whole.ID, To: sms.InDoubt, Reason: "The provider's answer names no recipient of the group."}
		return t.settleMessages(ctx, of, a, []sms.Settled{one}, held(a), o.Class, now)
	}
	if o.Class != sms.ClassAnswered {
		one := sms.Settle([]sms.Recipient{{MessageID: whole.ID}}, o, "").Messages[0]
		return t.settleMessages(ctx, of, a, []sms.Settled{one}, held(a), o.Class, now)
	}
	if err := errors.Join(t.DeleteInFlight(ctx, whole.ID), t.DeleteAttemptMessages(ctx, whole.ID), t.DeleteMessage(ctx, whole.ID)); err != nil {
		return err
	}
	t.count(a.CampaignID, whole.Standing().Key, -1)
	for i, r := range o.Rows {
		if err := t.insertResult(ctx, a, whole, r, country, int64(i+1), now); err != nil {
			return err
		}
	}
	return t.SetCampaignCounts(ctx, a.CampaignID, int64(len(o.Rows)-1), int64(whole.Parts*(len(o.Rows)-1)))
}

func (t *tx) insertResult(ctx context.Context, a *sms.Attempt, whole sms.Message, r sms.ResultRow, country string, row, now int64) error {
	one := sms.Settle([]sms.Recipient{{Number: r.Number}}, sms.Outcome{Class: sms.ClassAnswered, Rows: []sms.ResultRow{r}}, "").Messages[0]
	whole.Row, whole.Number, whole.State, whole.ProviderID = row, r.Number, one.To, one.ProviderID
	if p, err := sms.ParsePhone(r.Number, country, true); err == nil {
		whole.Number = p.Number
	}
	whole.Reason, whole.Code, whole.AttemptID, whole.CreatedAt, whole.SentAt = one.Reason, one.Code, a.ID, now, a.LicensedAt
	id, err := t.insertMessage(ctx, whole, "")
	if err != nil {
		return err
	}
	if one.To == sms.InDoubt {
		if err := t.DoubtInFlight(ctx, id); err != nil {
			return err
		}
	}
	return t.InsertAttemptMessage(ctx, a.ID, id)
}
