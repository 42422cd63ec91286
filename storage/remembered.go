package storage

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"smsdesk/internal/health"
	"smsdesk/internal/series"
	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// rememberedFor is how long after its request a message of another campaign
// still counts as the same: what is made later is new on purpose.
const rememberedFor = 7 * 24 * time.Hour

// refreshRemembered notes whether anything is remembered at all: nothing is
// looked up while there is not.
func (db *core) refreshRemembered(ctx context.Context) error {
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

// counts says whether it stands for a message of a campaign. Test accounts and
// others do not mix, what is made later is new on purpose, and so is what an
// earlier run of the same series sent.
func (r rememberedSend) counts(c sms.Campaign, earlier map[string]bool) bool {
	return r.test == c.Test && !earlier[r.campaign] &&
		(c.CreatedAt <= r.acceptedAt || c.CreatedAt <= r.licensedAt+rememberedFor.Milliseconds())
}

// earlierRuns are the names in the journal of the runs before a campaign in its
// series; none where it is not a run.
func earlierRuns(ctx context.Context, q *query.Queries, c sms.Campaign) (map[string]bool, error) {
	if c.SeriesID == 0 {
		return nil, nil
	}
	uid, err := q.SeriesUID(ctx, c.SeriesID)
	if err != nil {
		return nil, fmt.Errorf("read a series: %w", err)
	}
	earlier := make(map[string]bool, c.SeriesRun)
	for n := 1; n < c.SeriesRun; n++ {
		earlier[campaignUID(series.Token(uid, n))] = true
	}
	return earlier, nil
}

// asking is a database or a transaction, for questions.
type asking interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// rememberedAmong finds remembered sends by their hashes.
func rememberedAmong(ctx context.Context, ask asking, hashes []person) (map[person][]rememberedSend, error) {
	found := map[person][]rememberedSend{}
	for len(hashes) > 0 {
		n := min(len(hashes), blockedPerStmt)
		args := make([]any, n)
		for i := range args {
			args[i] = hashes[i][:]
		}
		hashes = hashes[n:]
		rows, err := ask.QueryContext(ctx,
			`select hash, campaign_uid, account_uid, test, licensed_at, accepted_at from remembered where hash in (`+
				places(1, n)+`)`, args...)
		if err = forEachRow(rows, err, func(scan func(...any) error) error {
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

// RememberedIn counts the unsent messages of a campaign that were sent by
// campaigns which this copy of the database does not know, by those campaigns,
// the latest first, and their parts. It costs nothing while nothing is
// remembered that could count for it, and else reads all of its messages.
func (db callStore) RememberedIn(ctx context.Context,
	c sms.Campaign) (list []health.RememberedSend, parts int64, err error) {
	if !db.remembers.Load() || c.IncludeSent {
		return nil, 0, nil
	}
	campaigns, err := db.RememberedCampaigns(ctx)
	if err != nil {
		return nil, 0, err
	}
	counts, err := db.remembersFor(ctx, c)
	if err != nil || !counts {
		return nil, 0, err
	}
	earlier, err := earlierRuns(ctx, db.read(), c)
	if err != nil {
		return nil, 0, err
	}
	by := map[string]*health.RememberedSend{}
	for after := int64(0); ; {
		some, err := db.unsentAfter(ctx, c, after)
		if err != nil {
			return nil, 0, err
		}
		n, err := db.countRemembered(ctx, c, earlier, some, by)
		if parts += n; err != nil {
			return nil, 0, err
		}
		if len(some) < sweptPerTx {
			return inOrder(campaigns, by), parts, nil
		}
		after = some[len(some)-1].id
	}
}

// remembersFor says whether anything that is remembered can count for a campaign.
func (db callStore) remembersFor(ctx context.Context, c sms.Campaign) (bool, error) {
	n := 0
	err := db.reader.QueryRowContext(ctx,
		`select count(*) from (select 1 from remembered where accepted_at >= $1 or licensed_at >= $2 limit 1) as some`,
		c.CreatedAt, c.CreatedAt-rememberedFor.Milliseconds()).Scan(&n)
	return wrapNotFound(n > 0, err, "look for remembered messages")
}

// unsentMessage is one that would be sent, by what it is remembered.
type unsentMessage struct {
	id, parts int64
	hash      person
}

func (db callStore) unsentAfter(ctx context.Context, c sms.Campaign, after int64) (list []unsentMessage, err error) {
	rows, err := db.reader.QueryContext(ctx,
		`select id, number, text, parts from message where campaign_id = $1 and state in ('draft', 'queued') and id > $2
		order by id limit $3`, c.ID, after, sweptPerTx)
	err = forEachRow(rows, err, func(scan func(...any) error) error {
		var m unsentMessage
		var number, text string
		err := scan(&m.id, &number, &text, &m.parts)
		if m.hash = db.people.of(number, text); c.GroupID != "" {
			m.hash = db.people.ofGroup(c.GroupID, text)
		}
		list = append(list, m)
		return err
	})
	return wrapNotFound(list, err, "list unsent messages")
}

// countRemembered adds the remembered ones of some messages and returns their parts.
func (db callStore) countRemembered(ctx context.Context, c sms.Campaign, earlier map[string]bool, some []unsentMessage,
	by map[string]*health.RememberedSend) (parts int64, err error) {
	hashes := make([]person, len(some))
	for i, m := range some {
		hashes[i] = m.hash
	}
	found, err := rememberedAmong(ctx, db.reader, hashes)
	if err != nil {
		return 0, err
	}
	for _, m := range some {
		i := slices.IndexFunc(found[m.hash], func(r rememberedSend) bool { return r.counts(c, earlier) })
		if i < 0 {
			continue
		}
		r := found[m.hash][i]
		of := by[r.campaign]
		if of == nil {
			of = &health.RememberedSend{UID: r.campaign, FirstAt: r.licensedAt, LastAt: r.licensedAt}
			by[r.campaign] = of
		}
		of.FirstAt, of.LastAt = min(of.FirstAt, r.licensedAt), max(of.LastAt, r.licensedAt)
		of.Messages++
		parts += m.parts
	}
	return parts, nil
}

// inOrder lists what was found in the order of the known campaigns, with their
// names; those without a row come last.
func inOrder(campaigns []health.RememberedSend, by map[string]*health.RememberedSend) (list []health.RememberedSend) {
	for _, r := range campaigns {
		if of := by[r.UID]; of != nil {
			of.Name, of.StartedName = r.Name, r.StartedName
			list = append(list, *of)
			delete(by, r.UID)
		}
	}
	for _, uid := range slices.Sorted(maps.Keys(by)) {
		list = append(list, *by[uid])
	}
	return list
}

// RememberedCampaigns lists campaigns of which messages are remembered, the
// latest first.
func (db callStore) RememberedCampaigns(ctx context.Context) ([]health.RememberedSend, error) {
	return rememberedCampaigns(ctx, db.read())
}

func rememberedCampaigns(ctx context.Context, q *query.Queries) ([]health.RememberedSend, error) {
	rows, err := q.RememberedCampaigns(ctx)
	if err != nil {
		return nil, fmt.Errorf("list remembered campaigns: %w", err)
	}
	list := make([]health.RememberedSend, len(rows))
	for i, r := range rows {
		list[i] = health.RememberedSend{UID: r.Uid, Name: r.Name, StartedName: r.StartedName, FirstAt: r.FirstAt,
			LastAt: r.LastAt, Messages: r.Messages, Doubtful: r.Doubtful}
	}
	return list, nil
}

// DeleteRemembered removes what was remembered of requests licensed between two
// times: an administrator knows that these people may be written to again, or
// the journal's lines are as old as they become.
func (db callStore) DeleteRemembered(ctx context.Context, from, before int64) (n int64, err error) {
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
func (db callStore) IncludeSent(ctx context.Context, campaign int64) error {
	return db.update(ctx, "include remembered recipients", func(t *tx) error {
		_, err := t.Queries.IncludeSent(ctx, campaign)
		return err
	})
}

// skipRemembered leaves out those messages of a call that were sent by requests
// which this copy of the database does not know, and those of the calls behind
// it. It returns how many they were.
func (c *claimer) skipRemembered(ctx context.Context, campaignID int64, call []callRow) (int64, error) {
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
	maps.Copy(why, more)
	n, err := c.leaveOut(ctx, campaignID, why)
	if err != nil || n == 0 {
		return n, err
	}
	return n, c.markRemembered(ctx, why)
}

// remembered gives the reason for each of the messages that were sent before.
func (c *claimer) remembered(ctx context.Context, of sms.Campaign, list []sms.Recipient) (map[int64]string, error) {
	hashes := make([]person, len(list))
	for i, r := range list {
		hashes[i] = c.db.people.of(r.Number, r.Text)
		if of.GroupID != "" {
			hashes[i] = c.db.people.ofGroup(of.GroupID, r.Text)
		}
	}
	found, err := rememberedAmong(ctx, c.sql, hashes)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	campaigns, err := rememberedCampaigns(ctx, c.Queries)
	if err != nil {
		return nil, err
	}
	earlier, err := earlierRuns(ctx, c.Queries, of)
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
			if r.counts(of, earlier) {
				why[list[i].MessageID] = health.RememberedReason(names[r.campaign],
					time.UnixMilli(r.licensedAt).In(c.account.Location()))
				break
			}
		}
	}
	return why, nil
}

// queuedAhead lists messages that the next claims would serve.
func (c *claimer) queuedAhead(ctx context.Context, campaignID int64) (list []sms.Recipient, err error) {
	rows, err := c.sql.QueryContext(ctx, `select m.id, m.number, m.text from message m where `+waiting+
		` order by m.call_no, m.id limit $2`, campaignID, blockedPass)
	err = forEachRow(rows, err, func(scan func(...any) error) error {
		var r sms.Recipient
		err := scan(&r.MessageID, &r.Number, &r.Text)
		list = append(list, r)
		return err
	})
	return wrapNotFound(list, err, "list queued messages")
}

// markRemembered tells such messages from others that were left out.
func (c *claimer) markRemembered(ctx context.Context, why map[int64]string) error {
	ids := make([]any, 0, len(why))
	for id := range why {
		ids = append(ids, id)
	}
	_, err := c.sql.ExecContext(ctx, `update message set code = '`+health.CodeRemembered+
		`' where state = 'skipped' and id in (`+places(1, len(ids))+`)`, ids...)
	if err != nil {
		return fmt.Errorf("mark remembered messages: %w", err)
	}
	return nil
}
