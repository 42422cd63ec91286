package storage

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
	"smsdesk/storage/query"
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
func (t accountTx) settleGroup(ctx context.Context, of sms.Campaign, a *sms.Attempt, s sms.Settlement, o sms.Outcome,
	country string, now int64) error {
	rows, err := t.AttemptMessages(ctx, a.ID)
	if err != nil || len(rows) != 1 {
		return fmt.Errorf("the group's row: %w", conflictIfNil(err))
	}
	whole := message(rows[0])
	if s.State == sms.AttemptInDoubt && o.Class == sms.ClassAnswered {
		one := sms.Settled{MessageID: whole.ID, To: sms.InDoubt,
			Reason: "The provider's answer names no recipient of the group."}
		return t.settleMessages(ctx, of, a, []sms.Settled{one}, openState(a), o.Class, now)
	}
	if o.Class != sms.ClassAnswered {
		one := sms.Settle([]sms.Recipient{{MessageID: whole.ID}}, o, "").Messages[0]
		return t.settleMessages(ctx, of, a, []sms.Settled{one}, openState(a), o.Class, now)
	}
	if err := errors.Join(t.DeleteInFlight(ctx, whole.ID), t.DeleteAttemptMessages(ctx, whole.ID),
		t.DeleteMessage(ctx, whole.ID)); err != nil {
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

func (t accountTx) insertResult(ctx context.Context, a *sms.Attempt, whole sms.Message, r sms.ResultRow, country string,
	row, now int64) error {
	one := sms.Settle([]sms.Recipient{{Number: r.Number}}, sms.Outcome{Class: sms.ClassAnswered, Rows: []sms.ResultRow{r}},
		"").Messages[0]
	whole.Row, whole.Number, whole.State, whole.ProviderID = row, r.Number, one.To, one.ProviderID
	if p, err := phone.Parse(r.Number, country, true); err == nil {
		whole.Number = p.Number
	}
	whole.Reason, whole.Code, whole.AttemptID, whole.CreatedAt, whole.SentAt = one.Reason, one.Code, a.ID, now,
		a.LicensedAt
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

// Groups lists an account's groups as they were last read from the gateway, by
// name, with the parents that are known here.
func (db accountStore) Groups(ctx context.Context, account int64) ([]sms.Group, error) {
	rows, err := db.read().Groups(ctx, account)
	list := make([]sms.Group, len(rows))
	for i, r := range rows {
		list[i] = sms.Group{ID: r.ID, Name: r.Name, ContactCount: r.ContactCount, MadeHere: r.MadeHere, ParentID: r.ParentID}
	}
	return list, wrapErr(err, "list groups")
}

// pendingTTL is how long a group that was made here is looked for by its name.
const pendingTTL = 24 * time.Hour

// PutGroups replaces what is known of an account's groups. What was made here
// keeps its parent; a group that appears under a name that was just made here
// is that group. Of several with one id the first counts.
func (db accountStore) PutGroups(ctx context.Context, account int64, list []sms.Group, now int64) error {
	return db.update(ctx, "store groups", func(t *tx) error {
		before, err := t.Groups(ctx, account)
		if err != nil {
			return err
		}
		made, err := t.GroupsMade(ctx, account)
		if err != nil {
			return err
		}
		if err := t.DeleteGroups(ctx, account); err != nil {
			return err
		}
		known, pending := map[int64]query.ProviderGroup{}, map[string]int64{}
		for _, g := range before {
			known[g.ID] = g
		}
		for _, m := range made {
			pending[m.Name] = m.ParentID
		}
		if err := (accountTx{t}).insertGroups(ctx, account, list, known, pending); err != nil {
			return err
		}
		if err := t.ForgetGroupsMade(ctx, account, now-pendingTTL.Milliseconds()); err != nil {
			return err
		}
		return t.RecordsRead(ctx, account, string(sms.RecordGroups), now)
	})
}

func (t accountTx) insertGroups(ctx context.Context, account int64, list []sms.Group,
	known map[int64]query.ProviderGroup, pending map[string]int64) error {
	stored := map[int64]bool{}
	for _, g := range list {
		if stored[g.ID] {
			continue
		}
		stored[g.ID] = true
		row := query.InsertGroupParams{AccountID: account, ID: g.ID, Name: g.Name, ContactCount: g.ContactCount}
		if old, is := known[g.ID]; is {
			row.MadeHere, row.ParentID = old.MadeHere, old.ParentID
		} else if parent, is := pending[g.Name]; is {
			row.MadeHere, row.ParentID = true, parent
			if err := t.DeleteGroupMade(ctx, account, g.Name); err != nil {
				return err
			}
		}
		if err := t.InsertGroup(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// ExpectGroup remembers that a group of this name is being made here, under a
// parent or, for 0, under none: the service does not tell its id (§4.7).
func (db accountStore) ExpectGroup(ctx context.Context, account int64, name string, parent, now int64) error {
	return db.update(ctx, "expect group", func(t *tx) error {
		return t.PutGroupMade(ctx, query.PutGroupMadeParams{AccountID: account, Name: name, ParentID: parent, MadeAt: now})
	})
}

// UnexpectGroup takes that back when the service refused.
func (db accountStore) UnexpectGroup(ctx context.Context, account int64, name string) error {
	return db.update(ctx, "expect no group", func(t *tx) error { return t.DeleteGroupMade(ctx, account, name) })
}

// ChangeGroup keeps a new name that the service has given a group.
func (db accountStore) ChangeGroup(ctx context.Context, account, id int64, name string) error {
	return db.update(ctx, "rename group", func(t *tx) error { return t.RenameGroup(ctx, account, id, name) })
}

// DeleteGroup takes a group out that the service has no more.
func (db accountStore) DeleteGroup(ctx context.Context, account, id int64) error {
	return db.update(ctx, "forget group", func(t *tx) error { return t.DeleteGroup(ctx, account, id) })
}

// CountScheduledByGroup counts the campaigns that wait for their time to go to a group.
func (db accountStore) CountScheduledByGroup(ctx context.Context, account, id int64) (int64, error) {
	n, err := db.read().GroupWaits(ctx, account, strconv.FormatInt(id, 10))
	return n, wrapErr(err, "count campaigns of a group")
}
