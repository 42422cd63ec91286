package storage

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// rememberedFor is how long after its request a message of another campaign
// still counts as the same: what is made later is new on purpose.
const rememberedFor = 7 * 24 * time.Hour

// refreshRemembered notes whether anything is remembered at all: nothing is
// looked up while there is not.
func (db *DB) refreshRemembered(ctx context.Context) error {
	n, err := db.read().AnyRemembered(ctx)
	if err != nil {
		return fmt.Errorf("look for remembered messages: %w", err)
	}
	db.remembers.Store(n > 0)
	return nil
}

// rememberedSend is a row of what was sent before an older state came back.
type rememberedSend struct {
	campaign   string
	account    string
	test       bool
	licensedAt int64
	acceptedAt int64
}

// counts says whether it stands for a message of a campaign that was made at
// that time. Test accounts and others do not mix.
func (r rememberedSend) counts(test bool, madeAt int64) bool {
	return r.test == test && (madeAt <= r.acceptedAt || madeAt <= r.licensedAt+rememberedFor.Milliseconds())
}

// asking is a database or a transaction, for questions.
type asking interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// rememberedAmong finds remembered sends by their hashes.
func rememberedAmong(ctx context.Context, ask asking, hashes []person) (map[person][]rememberedSend, error) {
	found := map[person][]rememberedSend{}
	for len(hashes) > 0 {
		n := min(len(hashes), blockedAtOnce)
		args := make([]any, n)
		for i := range args {
			args[i] = hashes[i][:]
		}
		hashes = hashes[n:]
		rows, err := ask.QueryContext(ctx, `select hash, campaign_uid, account_uid, test, licensed_at, accepted_at from remembered where hash in (`+places(1, n)+`)`, args...)
		if err = each(rows, err, func(scan func(...any) error) error {
			var hash []byte
			var r rememberedSend
			err := scan(&hash, &r.campaign, &r.account, &r.test, &r.licensedAt, &r.acceptedAt)
			var h person
			copy(h[:], hash)
			found[h] = append(found[h], r)
			return err
		}); err != nil {
			return nil, fmt.Errorf("look for remembered messages: %w", err)
		}
	}
	return found, nil
}

// RememberedAmong finds those recipients of a campaign that was made, or is
// being made, at that time who were sent the same text by a campaign that this
// copy of the database does not know. The result holds, by place in the list,
// the uid of that campaign and when. text is used where a recipient has none of
// its own. It costs nothing while nothing is remembered.
func (db *DB) RememberedAmong(ctx context.Context, account sms.Account, list []sms.Recipient, text string, madeAt int64) (map[int]sms.RememberedSend, error) {
	if !db.remembers.Load() {
		return nil, nil
	}
	hashes := make([]person, len(list))
	for i, r := range list {
		if r.Text == "" {
			r.Text = text
		}
		hashes[i] = db.people.of(r.Number, r.Text)
	}
	found, err := rememberedAmong(ctx, db.reader, hashes)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	names, err := db.rememberedNames(ctx)
	if err != nil {
		return nil, err
	}
	result := map[int]sms.RememberedSend{}
	for i, h := range hashes {
		for _, r := range found[h] {
			if r.counts(account.Test, madeAt) {
				result[i] = sms.RememberedSend{UID: r.campaign, Name: names[r.campaign].Name, FirstAt: r.licensedAt, LastAt: r.licensedAt, Messages: 1}
				break
			}
		}
	}
	return result, nil
}

func (db *DB) rememberedNames(ctx context.Context) (map[string]sms.RememberedSend, error) {
	list, err := db.RememberedCampaigns(ctx)
	if err != nil {
		return nil, err
	}
	names := make(map[string]sms.RememberedSend, len(list))
	for _, r := range list {
		names[r.UID] = r
	}
	return names, nil
}

// RememberedCampaigns lists campaigns of which messages are remembered, the
// latest first.
func (db *DB) RememberedCampaigns(ctx context.Context) ([]sms.RememberedSend, error) {
	return rememberedCampaigns(ctx, db.read())
}

func rememberedCampaigns(ctx context.Context, q *query.Queries) ([]sms.RememberedSend, error) {
	rows, err := q.RememberedCampaigns(ctx)
	if err != nil {
		return nil, fmt.Errorf("list remembered campaigns: %w", err)
	}
	list := make([]sms.RememberedSend, len(rows))
	for i, r := range rows {
		list[i] = sms.RememberedSend{UID: r.Uid, Name: r.Name, StartedName: r.StartedName, FirstAt: r.FirstAt, LastAt: r.LastAt, Messages: r.Messages, Doubtful: r.Doubtful}
	}
	return list, nil
}

// ForgetRemembered removes what was remembered of requests licensed between two
// times: an administrator knows that these people may be written to again, or
// the journal's lines are as old as they become.
func (db *DB) ForgetRemembered(ctx context.Context, from, before int64) (n int64, err error) {
	err = db.update(ctx, "forget remembered messages", func(t *tx) error {
		if n, err = t.Queries.ForgetRemembered(ctx, from, before); err != nil {
			return err
		}
		return t.ForgetRememberedCampaigns(ctx)
	})
	if err != nil {
		return 0, err
	}
	return n, db.refreshRemembered(ctx)
}

// IncludeSent says that a campaign goes to people too who are remembered as
// having got it.
func (db *DB) IncludeSent(ctx context.Context, campaign int64) error {
	return db.update(ctx, "include remembered recipients", func(t *tx) error {
		_, err := t.Queries.IncludeSent(ctx, campaign)
		return err
	})
}

// skipRemembered leaves out those messages of a call that were sent by requests
// which this copy of the database does not know, and those of the calls behind
// it. It returns how many they were.
func (c *claiming) skipRemembered(ctx context.Context, campaignID int64, call []callRow) (int64, error) {
	if !c.db.remembers.Load() || len(call) == 0 {
		return 0, nil
	}
	row, err := c.CampaignByID(ctx, campaignID)
	if err != nil || row.Campaign.IncludeSent {
		return 0, err
	}
	of := campaign(row.Campaign, row.Test)
	list := make([]sms.Recipient, len(call))
	for i, r := range call {
		list[i] = r.Recipient
	}
	why, err := c.remembered(ctx, of, list)
	if err != nil || len(why) == 0 {
		return 0, err
	}
	further, err := c.queuedAhead(ctx, campaignID)
	if err != nil {
		return 0, err
	}
	more, err := c.remembered(ctx, of, further)
	if err != nil {
		return 0, err
	}
	for id, reason := range more {
		why[id] = reason
	}
	n, err := c.leaveOut(ctx, campaignID, why)
	if err != nil || n == 0 {
		return n, err
	}
	return n, c.markRemembered(ctx, why)
}

// remembered gives the reason for each of the messages that were sent before.
func (c *claiming) remembered(ctx context.Context, of sms.Campaign, list []sms.Recipient) (map[int64]string, error) {
	hashes := make([]person, len(list))
	for i, r := range list {
		hashes[i] = c.db.people.of(r.Number, r.Text)
		if of.GroupID != "" {
			hashes[i] = c.db.people.ofGroup(of.GroupID, r.Text)
		}
	}
	found, err := rememberedAmong(ctx, c.raw, hashes)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	campaigns, err := rememberedCampaigns(ctx, c.Queries)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, r := range campaigns {
		names[r.UID] = r.Name
	}
	why := map[int64]string{}
	for i, h := range hashes {
		for _, r := range found[h] {
			if r.counts(of.Test, of.CreatedAt) {
				why[list[i].MessageID] = sms.RememberedReason(names[r.campaign], time.UnixMilli(r.licensedAt).In(c.account.Location()))
				break
			}
		}
	}
	return why, nil
}

// queuedAhead lists messages that the next claims would serve.
func (c *claiming) queuedAhead(ctx context.Context, campaignID int64) (list []sms.Recipient, err error) {
	rows, err := c.raw.QueryContext(ctx, `select m.id, m.number, m.text from message m where `+waiting+` order by m.call_no, m.id limit $2`, campaignID, blockedPass)
	err = each(rows, err, func(scan func(...any) error) error {
		var r sms.Recipient
		err := scan(&r.MessageID, &r.Number, &r.Text)
		list = append(list, r)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list queued messages: %w", err)
	}
	return list, nil
}

// markRemembered tells such messages from others that were left out.
func (c *claiming) markRemembered(ctx context.Context, why map[int64]string) error {
	ids := make([]any, 0, len(why))
	for id := range why {
		ids = append(ids, id)
	}
	_, err := c.raw.ExecContext(ctx, `update message set code = '`+sms.CodeRemembered+`' where state = 'skipped' and id in (`+places(1, len(ids))+`)`, ids...)
	if err != nil {
		return fmt.Errorf("mark remembered messages: %w", err)
	}
	return nil
}
