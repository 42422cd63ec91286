package storage

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// campaignStore keeps the campaigns and their messages as people see, find and change them.
type campaignStore struct{ *core }

// CreateDraft stores a checked campaign and its messages. The token makes it
// one: a second call with the same token returns the first result and created
// false. replaces names a draft of the same account that this one takes the
// place of, or 0. The campaign has as many recipients as messages are given;
// those that are skipped already stay so, with their reason.
func (db campaignStore) CreateDraft(ctx context.Context, c sms.Campaign, token string, messages []sms.Message, replaces,
	now int64) (made sms.Campaign, created bool, err error) {
	err = db.update(ctx, "create campaign", func(t *tx) error {
		first, err := t.CampaignByToken(ctx, token)
		if err == nil {
			made = campaign(first.Campaign, first.Test)
			return nil
		}
		if !errors.Is(classify(err), sms.ErrNotFound) {
			return err
		}
		if err := t.deleteDraft(ctx, c.AccountID, replaces); err != nil {
			return err
		}
		c.Recipients = int64(len(messages))
		id, err := t.insertCampaign(ctx, c, sms.CampaignDraft, token, now)
		if err != nil {
			return err
		}
		for i, m := range messages {
			if m.State != sms.Skipped {
				m.State = sms.Draft
			}
			m.AccountID, m.CampaignID, m.CreatedAt = c.AccountID, id, now
			if m.Row == 0 {
				m.Row = int64(i + 1)
			}
			if _, err := t.insertMessage(ctx, m, c.GroupID); err != nil {
				return err
			}
		}
		if err := t.recordTemplate(ctx, c, id, now); err != nil {
			return err
		}
		row, err := t.CampaignByID(ctx, id)
		made, created = campaign(row.Campaign, row.Test), true
		return err
	})
	return made, created, err
}

// recordTemplate writes down which of the account's templates a campaign's text
// came from, as it is now.
func (t *tx) recordTemplate(ctx context.Context, c sms.Campaign, id, now int64) error {
	if c.Template == "" {
		return nil
	}
	return t.PutCampaignTemplate(ctx, query.PutCampaignTemplateParams{Column1: id, AccountID: c.AccountID,
		Name: c.Template, Column4: now})
}

// insertMessage stores a message. The row that stands for a gateway group has
// no number; group tells it from that of another group with the same text.
func (t *tx) insertMessage(ctx context.Context, m sms.Message, group string) (int64, error) {
	id, err := t.InsertMessage(ctx, query.InsertMessageParams{AccountID: m.AccountID, CampaignID: m.CampaignID,
		RowNo: m.Row, Number: m.Number,
		Text: m.Text, TextHash: textHash(m.Text, group), Unicode: m.Unicode, Parts: int64(m.Parts), State: string(m.State),
		Reason: m.Reason, Code: m.Code,
		AttemptID: m.AttemptID, ProviderID: m.ProviderID, CreatedAt: m.CreatedAt, SentAt: m.SentAt, CallNo: int64(m.Call)})
	t.count(m.CampaignID, sms.StandingKey(m.State, "", false), 1)
	if err == nil {
		m.ChangedAt = m.CreatedAt
		err = t.countTraffic(ctx, m, 1)
	}
	return id, err
}

const hashBytes = 8

// textHash tells texts apart inside one account; eight bytes keep the index small.
func textHash(text, group string) []byte { return appendTextHash(nil, text, group) }

func appendTextHash(to []byte, text, group string) []byte {
	if group != "" {
		text = "group " + group + "\x00" + text
	}
	h := sha256.Sum256([]byte(text))
	return append(to, h[:hashBytes]...)
}

// deleteDraft removes a draft, a long one by and by. One of which messages were
// sent before an older copy of the database was put back is kept: it is the
// record of that.
func (t *tx) deleteDraft(ctx context.Context, account, id int64) error {
	row, err := t.CampaignByID(ctx, id)
	if errors.Is(classify(err), sms.ErrNotFound) || err == nil &&
		(row.Campaign.State != string(sms.CampaignDraft) || row.Campaign.AccountID != account) {
		return nil
	}
	if err != nil {
		return err
	}
	if moved, err := t.CountMoved(ctx, id); err != nil || moved > 0 {
		return err
	}
	if row.Campaign.Recipients > sweptPerTx {
		_, err := t.HideDraft(ctx, id)
		return err
	}
	if err := errors.Join(t.DeleteDraftMessages(ctx, id), t.DeleteTally(ctx, id)); err != nil {
		return err
	}
	_, err = t.DeleteDraft(ctx, id)
	return err
}

// ReplanDraft stores the messages of a draft anew, in the calls that they are
// divided into now. It fails with sms.ErrConflict when the draft was changed
// meanwhile, or when messages of it have left.
func (db campaignStore) ReplanDraft(ctx context.Context, c sms.Campaign, messages []sms.Message,
	now int64) (sms.Campaign, error) {
	var after sms.Campaign
	err := db.update(ctx, "plan campaign anew", func(t *tx) error {
		if moved, err := t.CountMoved(ctx, c.ID); err != nil || moved > 0 {
			return conflictIfNil(err)
		}
		n, err := t.Queries.ReplanDraft(ctx, query.ReplanDraftParams{ID: c.ID, Version: c.Version, Parts: c.Parts,
			CallsText: c.CallsText, CallsPairs: c.CallsPairs, ChangedAt: now})
		if err != nil || n != 1 {
			return conflictIfNil(err)
		}
		if err := errors.Join(t.DeleteDraftMessages(ctx, c.ID), t.DeleteTally(ctx, c.ID)); err != nil {
			return err
		}
		for _, m := range messages {
			if _, err := t.insertMessage(ctx, m, c.GroupID); err != nil {
				return err
			}
		}
		after, err = t.campaign(ctx, c.ID)
		return err
	})
	return after, err
}

// PurgeDrafts removes drafts that nobody started or changed since the given
// time, as many at once as one short transaction can.
func (db campaignStore) PurgeDrafts(ctx context.Context, before int64) error {
	return db.update(ctx, "forget old drafts", func(t *tx) error {
		drafts, err := t.OldDrafts(ctx, before)
		for removed := int64(0); len(drafts) > 0 && removed < sweptPerTx && err == nil; drafts = drafts[1:] {
			removed += drafts[0].Recipients
			err = t.deleteDraft(ctx, drafts[0].AccountID, drafts[0].ID)
		}
		return err
	})
}

// tidyPerTx is how many messages one transaction of Tidy moves.
const tidyPerTx = 1000

// Tidy does a bounded piece of what cancelling a campaign leaves to be done:
// nobody waits for it, and no other transaction waits long. more says that
// something is left.
func (db campaignStore) Tidy(ctx context.Context, now int64) (more bool, err error) {
	err = db.update(ctx, "tidy campaigns", func(t *tx) error {
		c, err := t.FirstUntidy(ctx)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		more = true
		return t.cancelBatch(ctx, c.ID, c.Pause, now)
	})
	return more && err == nil, err
}

// cancelBatch brings messages of a cancelled campaign to what they are shown as.
func (t *tx) cancelBatch(ctx context.Context, id int64, reason string, now int64) error {
	n, err := t.CancelQueued(ctx, query.CancelQueuedParams{CampaignID: id, Reason: reason, ChangedAt: now,
		Limit: tidyPerTx})
	if err != nil || n > 0 {
		return err
	}
	n, err = t.CancelDrafts(ctx, query.CancelDraftsParams{CampaignID: id, Reason: reason, ChangedAt: now,
		Limit: tidyPerTx})
	if err != nil || n > 0 {
		return err
	}
	return t.SetUntidy(ctx, id, false)
}

// Campaign finds a campaign by id.
func (db campaignStore) Campaign(ctx context.Context, id int64) (sms.Campaign, error) {
	row, err := db.read().CampaignByID(ctx, id)
	if _, err := wrapNotFound(row, err, "read campaign"); err != nil {
		return sms.Campaign{}, err
	}
	return campaign(row.Campaign, row.Test), nil
}

// campaign finds a campaign by id.
func (t *tx) campaign(ctx context.Context, id int64) (sms.Campaign, error) {
	row, err := t.CampaignByID(ctx, id)
	return campaign(row.Campaign, row.Test), classify(err)
}

// UpdateCampaign changes a campaign in one transaction; the closure decides.
// A start and a cancellation hold for all of its messages at once (see
// sms.Campaign.Shows), however many they are.
func (db campaignStore) UpdateCampaign(ctx context.Context, id, now int64,
	change func(*sms.Campaign) error) (sms.Campaign, error) {
	var after sms.Campaign
	err := db.update(ctx, "save campaign", func(t *tx) error {
		row, err := t.CampaignByID(ctx, id)
		if err != nil {
			return err
		}
		before := campaign(row.Campaign, row.Test)
		after = before
		if err := change(&after); err != nil {
			return err
		}
		if before.State == sms.CampaignCancelled {
			return fmt.Errorf("from %s to %s: %w", before.State, after.State, errUnexpected)
		}
		if err := t.retallyAll(ctx, after); err != nil {
			return err
		}
		if !before.Started() && after.Started() {
			if err := t.closeReplaced(ctx, after, after.StartedName, now); err != nil {
				return err
			}
		}
		if after.Name != before.Name {
			if err := t.indexName(ctx, id, after.Name); err != nil {
				return err
			}
		}
		if after.Approval != before.Approval {
			if err := t.putApproval(ctx, after); err != nil {
				return err
			}
		}
		if err := t.putCampaign(ctx, &after, now); err != nil {
			return err
		}
		// What was let go and has nothing to send ends in a step of its own: no
		// state but a started one may end.
		stood := after.State
		if err := t.finish(ctx, &after, now); err != nil || after.State == stood {
			return err
		}
		return t.putCampaign(ctx, &after, now)
	})
	return after, err
}

// retallyAll counts messages as what they are shown as after a change of their
// campaign.
func (t *tx) retallyAll(ctx context.Context, after sms.Campaign) error {
	counted, err := t.CampaignTally(ctx, after.ID)
	if err != nil {
		return err
	}
	for _, r := range counted {
		for _, state := range []sms.State{sms.Draft, sms.Queued} {
			if r.Key == sms.StandingKey(state, "", false) {
				t.moveTally(after.ID, r.Key, sms.StandingKey(after.Shows(state), "", false), r.N)
			}
		}
	}
	if after.State != sms.CampaignCancelled {
		return nil
	}
	return t.SetUntidy(ctx, after.ID, true)
}

func (t *tx) putCampaign(ctx context.Context, c *sms.Campaign, now int64) error {
	n, err := t.UpdateCampaign(ctx, query.UpdateCampaignParams{ID: c.ID, Version: c.Version, Name: c.Name,
		State: string(c.State), Pause: c.Pause,
		PauseCode: c.PauseCode, Canary: string(c.Canary), WindowFrom: c.WindowFrom, StartedBy: c.StartedBy,
		StartedName: c.StartedName,
		StartedAt:   c.StartedAt, FinishedAt: c.FinishedAt, ChangedAt: now, SendAt: c.SendAt, SendZone: c.SendZone,
		SendOffset: int64(c.SendOffset),
		SendAgain:  c.SendAgain, HandOver: c.HandOver, CancelledBy: c.CancelledBy})
	if err == nil && n != 1 {
		err = fmt.Errorf("campaign %d: %w", c.ID, errUnexpected)
	}
	c.Version++
	return err
}

// DueCampaigns lists scheduled campaigns whose time has come, the earliest
// first and at most 100.
func (db campaignStore) DueCampaigns(ctx context.Context, now int64) ([]int64, error) {
	ids, err := db.read().DueCampaigns(ctx, now)
	return wrapNotFound(ids, err, "list due campaigns")
}

// Tally counts a campaign's messages by standing.
func (db campaignStore) Tally(ctx context.Context, id int64) (sms.Tally, error) {
	rows, err := db.read().CampaignTally(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("count messages: %w", err)
	}
	tally := sms.Tally{}
	for _, r := range rows {
		if r.Key != interimKey {
			tally[r.Key] = r.N
		}
	}
	return tally, nil
}

// Decisions counts the messages of an account that wait for a person.
func (db campaignStore) Decisions(ctx context.Context, account int64) (int64, error) {
	n, err := db.read().DecisionCount(ctx, account)
	return wrapNotFound(n, err, "count decisions")
}

// Campaigns lists campaigns; more says that there are older ones.
func (db campaignStore) Campaigns(ctx context.Context,
	f sms.CampaignFilter) (list []sms.CampaignRow, more bool, err error) {
	ids, more, err := db.campaignIDs(ctx, f)
	if err != nil {
		return nil, false, err
	}
	for _, id := range ids {
		c, err := db.Campaign(ctx, id)
		if errors.Is(err, sms.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, false, err
		}
		tally, err := db.Tally(ctx, id)
		if err != nil {
			return nil, false, err
		}
		list = append(list, sms.CampaignRow{Campaign: c, Tally: tally})
	}
	return list, more, nil
}

func likeEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}

func campaign(r query.Campaign, test bool) sms.Campaign {
	return sms.Campaign{ID: r.ID, AccountID: r.AccountID, Name: r.Name, SenderID: r.SenderID, Text: r.Text,
		Unicode: r.Unicode, Flash: r.Flash,
		GroupID: r.GroupID, GroupName: r.GroupName, State: sms.CampaignState(r.State), Pause: r.Pause, PauseCode: r.PauseCode,
		Canary: sms.Canary(r.Canary), WindowFrom: r.WindowFrom, Version: r.Version, Recipients: r.Recipients, Parts: r.Parts,
		Fingerprint: r.Fingerprint, TextKey: r.TextKey,
		CreatedBy: r.CreatedBy, CreatedName: r.CreatedName, StartedBy: r.StartedBy, StartedName: r.StartedName,
		CreatedAt: r.CreatedAt,
		StartedAt: r.StartedAt, FinishedAt: r.FinishedAt, Test: test, SendAt: r.SendAt, SendZone: r.SendZone,
		SendOffset: int(r.SendOffset),
		SendAgain:  r.SendAgain, ListID: r.ListID, CallsText: r.CallsText, CallsPairs: r.CallsPairs, Urgent: r.Urgent,
		HandOver: r.HandOver, CancelledBy: r.CancelledBy, TestOf: r.TestOf, AgainOf: r.AgainOf, RemovedAt: r.RemovedAt,
		Approval: approval(r), IncludeSent: r.IncludeSent, SeriesID: r.SeriesID, SeriesRun: int(r.SeriesRun)}
}
