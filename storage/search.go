package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"smsdesk/internal/sms"
)

// Every question of this file reads as many rows as it shows, whatever the
// size of the table: no OFFSET, no COUNT, and each condition on messages is
// one that an index answers in the order of the page.

const (
	// tail is the indexed expression of message_tail. It must be written as in
	// the migration, or no engine knows that it is the same.
	tail = `substr('0000000000' || number, length(number) + 10, 1) || substr('0000000000' || number, length(number) + 9, 1) || substr('0000000000' || number, length(number) + 8, 1) || substr('0000000000' || number, length(number) + 7, 1) || substr('0000000000' || number, length(number) + 6, 1) || substr('0000000000' || number, length(number) + 5, 1) || substr('0000000000' || number, length(number) + 4, 1) || substr('0000000000' || number, length(number) + 3, 1) || substr('0000000000' || number, length(number) + 2, 1) || substr('0000000000' || number, length(number) + 1, 1)`
	// tailMost bounds the numbers with the same last digits that are put in
	// order for one page.
	tailMost = 20_000
	// tailLook is about how many of them are held against the other conditions.
	tailLook = 300
	// searchCampaigns is how many campaigns are looked into at a time.
	searchCampaigns = 60
)

// arguments collects what stands for $1, $2 and so on.
type arguments []any

func (a *arguments) add(v any) string {
	*a = append(*a, v)
	return fmt.Sprintf("$%d", len(*a))
}

// fate is one combination of the columns behind a standing.
type fate struct {
	state  sms.State
	status sms.Status
	late   bool
}

// fates lists the combinations behind standing keys, by asking sms.StandingKey
// about each there is, so that the table of words exists once.
func fates(keys []string) (list []fate) {
	add := func(f fate) {
		if slices.Contains(keys, sms.StandingKey(f.state, f.status, f.late)) {
			list = append(list, f)
		}
	}
	for _, state := range sms.States() {
		if state != sms.Accepted {
			add(fate{state: state})
			continue
		}
		for _, status := range append(sms.Statuses(), "") {
			add(fate{state, status, false})
			add(fate{state, status, true})
		}
	}
	return list
}

// standingPage asks for the ids of a campaign's messages with these standings,
// in order: each fate has its own stretch of message_standing, which is in the
// order of ids, and a page of each is enough for a page of all. The values are
// our own constants, never input.
func standingPage(keys []string, campaign, beyond, order string, limit int) string {
	var arms []string
	for _, f := range fates(keys) {
		arms = append(arms, fmt.Sprintf("select * from (select id from message where campaign_id = %s and state = '%s' and status = '%s' and late = %t%s order by id %s limit %d) q%d",
			campaign, f.state, f.status, f.late, beyond, order, limit, len(arms)))
	}
	if len(arms) == 0 {
		return "select id from message where 1 = 0"
	}
	return "select id from (" + strings.Join(arms, " union all ") + fmt.Sprintf(") ids order by id %s limit %d", order, limit)
}

// standingMessages is a page of a campaign's messages with the wanted
// standings. Its arguments are those of messageConditions.
func standingMessages(f sms.MessageFilter, order string) string {
	beyond := ""
	n := 1
	for _, bound := range []struct {
		at int64
		op string
	}{{f.After, ">"}, {f.Before, "<"}} {
		if bound.at > 0 {
			n++
			beyond += fmt.Sprintf(" and id %s $%d", bound.op, n)
		}
	}
	return "select " + messageColumns + " from message where id in (" + standingPage(f.Keys, "$1", beyond, order, f.Limit+1) + ") order by id " + order
}

// CampaignNames lists the latest started campaigns of an account, of which
// only id and name are filled in.
func (db *DB) CampaignNames(ctx context.Context, account int64, limit int) (list []sms.Campaign, err error) {
	rows, err := db.reader.QueryContext(ctx, "select id, name from campaign where account_id = $1 and started_at > 0 order by id desc limit $2", account, limit)
	if err != nil {
		return nil, fmt.Errorf("list campaigns' names: %w", err)
	}
	for rows.Next() {
		var c sms.Campaign
		if err := rows.Scan(&c.ID, &c.Name); err != nil {
			return nil, errors.Join(fmt.Errorf("list campaigns' names: %w", err), rows.Close())
		}
		list = append(list, c)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("list campaigns' names: %w", err)
	}
	return list, nil
}

// SearchMessages lists messages of an account that were found. next is where
// the following page begins, zero where nothing is left; a page may hold fewer
// messages than the limit, even none, and still have one behind it, where
// there was too much to look through at once.
func (db *DB) SearchMessages(ctx context.Context, f sms.MessageSearch) (list []sms.FoundMessage, next sms.Place, err error) {
	var ids []int64
	var seen int64
	if f.Number != "" || f.Ends != "" {
		ids, seen, err = db.numberIDs(ctx, f)
	} else {
		ids, err = db.searchIDs(ctx, f)
	}
	if err != nil {
		return nil, next, fmt.Errorf("search messages: %w", err)
	}
	more := len(ids) > f.Limit
	if more {
		ids = ids[:f.Limit]
	}
	if list, err = db.foundMessages(ctx, ids); err != nil {
		return nil, next, err
	}
	switch {
	case more && len(list) > 0:
		last := list[len(list)-1]
		next = sms.Place{CampaignID: last.CampaignID, MessageID: last.ID}
	case seen > 0:
		next = sms.Place{MessageID: seen}
	}
	return list, next, nil
}

// numberIDs finds by a number or its last digits. The index gives the ids; the
// other conditions are held against each of them, and after tailLook of them
// the rest is left to the next page: seen is where that begins.
func (db *DB) numberIDs(ctx context.Context, f sms.MessageSearch) (ids []int64, seen int64, err error) {
	query, args := numberQuery(f)
	candidates, err := db.ids(ctx, query, args)
	if err != nil {
		return nil, 0, err
	}
	looked := 0
	for part := range slices.Chunk(candidates, f.Limit+1) {
		if looked >= tailLook {
			return ids, candidates[looked-1], nil
		}
		looked += len(part)
		query, args := numberFilter(f, part)
		found, err := db.ids(ctx, query, args)
		if err != nil {
			return nil, 0, err
		}
		if ids = append(ids, found...); len(ids) > f.Limit {
			return ids[:f.Limit+1], 0, nil
		}
	}
	return ids, 0, nil
}

// numberQuery asks for the messages behind a number or its last digits,
// newest first. The index holds all that it reads.
func numberQuery(f sms.MessageSearch) (string, arguments) {
	var a arguments
	where := "account_id = " + a.add(f.AccountID) + " and number <> '' and (" + tail + ")"
	if f.Number != "" {
		where += " = " + a.add(padded(sms.Backwards(f.Number)))
	} else {
		first := sms.Backwards(f.Ends)
		where += " between " + a.add(first) + " and " + a.add(first+mostDigits)
	}
	if f.Before.MessageID > 0 {
		where += " and id < " + a.add(f.Before.MessageID)
	}
	return fmt.Sprintf("select id from (select id from message where %s limit %d) q order by id desc", where, tailMost), a
}

// numberFilter holds the other conditions against some of the messages.
func numberFilter(f sms.MessageSearch, ids []int64) (string, arguments) {
	var a arguments
	in := make([]string, len(ids))
	for i, id := range ids {
		in[i] = a.add(id)
	}
	where := []string{"m.id in (" + strings.Join(in, ", ") + ")", "c.id = m.campaign_id" + startedIn(f, "+c.started_at", &a)}
	if f.Number != "" {
		where = append(where, "m.number = "+a.add(f.Number))
	}
	if f.CampaignID > 0 {
		where = append(where, "m.campaign_id = "+a.add(f.CampaignID))
	}
	if len(f.Keys) > 0 {
		any := []string{"1 = 0"}
		for _, s := range fates(f.Keys) {
			any = append(any, fmt.Sprintf("m.state = '%s' and m.status = '%s' and m.late = %t", s.state, s.status, s.late))
		}
		where = append(where, "("+strings.Join(any, " or ")+")")
	}
	return "select m.id from message m cross join campaign c where " + strings.Join(where, " and ") + " order by m.id desc", a
}

// padded is how the index has a number of fewer than ten digits.
func padded(backwards string) string {
	return backwards + strings.Repeat("0", max(0, 10-len(backwards)))
}

// searchIDs finds without a number: campaign by campaign from the newest, and
// only in those that have what is looked for. Each campaign that is looked
// into gives at least one message, so that a page costs a bounded number of
// questions.
func (db *DB) searchIDs(ctx context.Context, f sms.MessageSearch) (ids []int64, err error) {
	first, last, err := db.campaignSpan(ctx, f)
	if err != nil || last == 0 {
		return nil, err
	}
	if f.Before.CampaignID > 0 {
		last = min(last, f.Before.CampaignID)
	}
	newest, err := db.reader.PrepareContext(ctx, newestQuery(f))
	if err != nil {
		return nil, err
	}
	defer func() { _ = newest.Close() }()
	for len(ids) <= f.Limit && first <= last {
		query, args := campaignsQuery(f, first, last)
		campaigns, err := db.ids(ctx, query, args)
		if err != nil {
			return nil, err
		}
		for _, c := range campaigns {
			before := int64(math.MaxInt64)
			if c == f.Before.CampaignID {
				before = f.Before.MessageID
			}
			found, err := readIDs(newest.QueryContext(ctx, c, before))
			if err != nil {
				return nil, err
			}
			if ids = append(ids, found...); len(ids) > f.Limit {
				return ids[:f.Limit+1], nil
			}
			last = c - 1
		}
		if len(campaigns) < searchCampaigns {
			break
		}
	}
	return ids, nil
}

// campaignSpan is the first and the last of the campaigns that were started in
// time, 0 for none; there may be others between them.
func (db *DB) campaignSpan(ctx context.Context, f sms.MessageSearch) (first, last int64, err error) {
	switch {
	case f.CampaignID > 0:
		return f.CampaignID, f.CampaignID, nil
	case f.From == 0 && f.To == 0:
		return 1, math.MaxInt64, nil
	}
	query, args := spanQuery(f)
	err = db.reader.QueryRowContext(ctx, query, args...).Scan(&first, &last)
	return first, last, err
}

func spanQuery(f sms.MessageSearch) (string, arguments) {
	var a arguments
	return "select coalesce(min(id), 0), coalesce(max(id), 0) from campaign where account_id = " + a.add(f.AccountID) + startedIn(f, "started_at", &a), a
}

// startedIn is the condition on a campaign's start. A campaign that is found
// by its id is told so by a "+" before the column, or SQLite may go through all
// that were started in time for each message.
func startedIn(f sms.MessageSearch, column string, a *arguments) string {
	where := " and " + column + " > 0 and " + column + " >= " + a.add(max(f.From, f.Since))
	if f.To > 0 {
		where += " and " + column + " < " + a.add(f.To)
	}
	return where
}

// campaignsQuery asks for campaigns that were started in time and have
// messages as looked for, newest first. Where standings are looked for, the
// tallies tell: each of them has its own stretch of campaign_tally_some.
func campaignsQuery(f sms.MessageSearch, first, last int64) (string, arguments) {
	var a arguments
	account, from, to := a.add(f.AccountID), a.add(first), a.add(last)
	started := startedIn(f, "+c.started_at", &a)
	if len(f.Keys) == 0 {
		return fmt.Sprintf("select c.id from campaign c where c.account_id = %s and c.id between %s and %s%s and exists (select 1 from campaign_tally t where t.campaign_id = c.id and t.n > 0) order by c.id desc limit %d",
			account, from, to, started, searchCampaigns), a
	}
	var arms []string
	for i, k := range f.Keys {
		arms = append(arms, fmt.Sprintf("select * from (select t.campaign_id as id from campaign_tally t cross join campaign c where t.key = %s and t.n > 0 and t.campaign_id between %s and %s and c.id = t.campaign_id and +c.account_id = %s%s order by t.campaign_id desc limit %d) k%d",
			a.add(k), from, to, account, started, searchCampaigns, i))
	}
	return "select id from (" + strings.Join(arms, " union ") + fmt.Sprintf(") c order by id desc limit %d", searchCampaigns), a
}

// newestQuery asks for the newest messages of campaign $1 below id $2.
func newestQuery(f sms.MessageSearch) string {
	if len(f.Keys) > 0 {
		return standingPage(f.Keys, "$1", " and id < $2", "desc", f.Limit+1)
	}
	return fmt.Sprintf("select id from message where campaign_id = $1 and id < $2 order by id desc limit %d", f.Limit+1)
}

func (db *DB) ids(ctx context.Context, query string, args []any) ([]int64, error) {
	return readIDs(db.reader.QueryContext(ctx, query, args...))
}

func readIDs(rows *sql.Rows, err error) (ids []int64, _ error) {
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		ids = append(ids, id)
	}
	return ids, errors.Join(rows.Err(), rows.Close())
}

// foundMessages reads messages in the order of the ids; one that has gone
// meanwhile is left out.
func (db *DB) foundMessages(ctx context.Context, ids []int64) ([]sms.FoundMessage, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = id
	}
	rows, err := db.reader.QueryContext(ctx, "select m.*, c.name, c.group_name, c.sender_id from (select "+messageColumns+" from message where id in ("+places(1, len(ids))+`)) m
  join campaign c on c.id = m.campaign_id`, args...)
	if err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	by := map[int64]sms.FoundMessage{}
	for rows.Next() {
		var found sms.FoundMessage
		if found.Message, err = scanMessage(rows, &found.CampaignName, &found.GroupName, &found.SenderID); err != nil {
			return nil, errors.Join(fmt.Errorf("read messages: %w", err), rows.Close())
		}
		by[found.ID] = found
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	list := make([]sms.FoundMessage, 0, len(ids))
	for _, id := range ids {
		if m, ok := by[id]; ok {
			list = append(list, m)
		}
	}
	return list, nil
}
