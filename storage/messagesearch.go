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
	// maxTailMatches bounds the numbers with the same last digits that are put in
	// order for one page.
	maxTailMatches = 20_000
	// tailLook is about how many of them are held against the other conditions.
	tailLook = 300
	// campaignsPerStmt is how many campaigns are looked into at a time.
	campaignsPerStmt = 60
)

// arguments collects what stands for $1, $2 and so on.
type arguments []any

func (a *arguments) add(v any) string {
	*a = append(*a, v)
	return fmt.Sprintf("$%d", len(*a))
}

// statusKey is one combination of the columns behind a standing.
type statusKey struct {
	state  sms.State
	status sms.Status
	late   bool
}

// statusKeys lists the combinations in a campaign that a condition on its messages
// as people see them admits.
func statusKeys(of sms.Campaign, admits func(m sms.Message) bool) (list []statusKey) {
	add := func(f statusKey) {
		if admits(sms.Message{State: of.Shows(f.state), Delivery: sms.Delivery{Status: f.status, Late: f.late}}) {
			list = append(list, f)
		}
	}
	for _, state := range sms.States() {
		if state != sms.Accepted {
			add(statusKey{state: state})
			continue
		}
		for _, status := range append(sms.Statuses(), "") {
			add(statusKey{state, status, false})
			add(statusKey{state, status, true})
		}
	}
	return list
}

// byStatus admits messages of these standings, all where there are none.
func byStatus(keys []string) func(m sms.Message) bool {
	return func(m sms.Message) bool { return len(keys) == 0 || slices.Contains(keys, m.Standing().Key) }
}

// filtered admits what a filter wants by standing, state and status.
func filtered(f sms.MessageFilter) func(m sms.Message) bool {
	return func(m sms.Message) bool {
		reported := m.Delivery.Status
		if reported == "" {
			reported = sms.NoReport
		}
		return byStatus(f.Keys)(m) && (len(f.States) == 0 || slices.Contains(f.States, m.State)) &&
			(f.Status == "" || m.State == sms.Accepted && f.Status == reported)
	}
}

// standingPage asks for the ids of campaign $1's messages with these fates, in
// order: each fate has its own stretch of message_standing, which is in the
// order of ids, and a page of each is enough for a page of all. The values are
// our own constants, never input.
func standingPage(fates []statusKey, beyond, order string, limit int) string {
	var arms []string
	for _, f := range fates {
		arms = append(arms,
			fmt.Sprintf(
				"select * from (select id from message where campaign_id = $1 and state = '%s' and status = '%s' and late = %t%s order by id %s limit %d) q%d",
				f.state, f.status, f.late, beyond, order, limit, len(arms)))
	}
	if len(arms) == 0 {
		return "select id from message where 1 = 0"
	}
	return "select id from (" + strings.Join(arms, " union all ") + fmt.Sprintf(") ids order by id %s limit %d", order,
		limit)
}

// narrow says that a filter goes by what became of the messages.
func narrow(f sms.MessageFilter) bool {
	return (len(f.Keys) > 0 || len(f.States) > 0 || f.Status != "") && len(f.IDs) == 0
}

// standingMessages is a page of a campaign's messages with the wanted
// standings. Its arguments are those of messageConditions.
func standingMessages(f sms.MessageFilter, of sms.Campaign, columns, order string) string {
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
	return "select " + columns + " from message where id in (" +
		standingPage(statusKeys(of, filtered(f)), beyond, order, f.Limit+1) + ") order by id " + order
}

// latestStarted asks for the latest campaigns that were started. The "+" keeps
// SQLite from sorting all that ever were.
const latestStarted = "select " + campaignShows +
	" from campaign c where account_id = $1 and +started_at > 0 order by id desc limit $2"

// CampaignNames lists the latest started campaigns of an account, of which
// only what decides how their messages are shown is filled in.
func (db campaignStore) CampaignNames(ctx context.Context, account int64, limit int) ([]sms.Campaign, error) {
	list, err := readCampaigns(db.readStmts.QueryContext(ctx, latestStarted, account, limit))
	return wrapNotFound(list, err, "list campaigns' names")
}

// SearchMessages lists messages of an account that were found. next is where
// the following page begins, zero where nothing is left; a page may hold fewer
// messages than the limit, even none, and still have one behind it, where
// there was too much to look through at once.
func (db campaignStore) SearchMessages(ctx context.Context,
	f sms.MessageSearch) (list []sms.FoundMessage, next sms.MessageCursor, err error) {
	if f.Number != "" || f.Ends != "" {
		list, next, err = db.searchNumber(ctx, f)
	} else {
		list, next, err = db.searchCampaigns(ctx, f)
	}
	if err != nil {
		return nil, sms.MessageCursor{}, fmt.Errorf("search messages: %w", err)
	}
	return list, next, nil
}

// searchNumber finds by a number or its last digits. The index gives the ids;
// the other conditions are held against each of the messages, and after
// tailLook of them the rest is left to the next page.
func (db campaignStore) searchNumber(ctx context.Context,
	f sms.MessageSearch) (list []sms.FoundMessage, next sms.MessageCursor, err error) {
	query, args := numberQuery(f, nil)
	candidates, err := db.ids(ctx, query, args)
	if err != nil {
		return nil, next, err
	}
	looked := 0
	for part := range slices.Chunk(candidates, f.Limit+1) {
		if looked >= tailLook {
			return list, sms.MessageCursor{MessageID: candidates[looked-1]}, nil
		}
		looked += len(part)
		found, err := db.foundMessages(ctx, part)
		if err != nil {
			return nil, next, err
		}
		for _, m := range found {
			if !matches(f, m) {
				continue
			}
			if len(list) == f.Limit {
				return list, cursorOf(list), nil
			}
			list = append(list, m)
		}
	}
	return list, next, nil
}

func cursorOf(list []sms.FoundMessage) sms.MessageCursor {
	last := list[len(list)-1]
	return sms.MessageCursor{CampaignID: last.CampaignID, MessageID: last.ID}
}

// matches holds all conditions but that on the last digits against a message.
func matches(f sms.MessageSearch, m sms.FoundMessage) bool {
	c := m.Campaign
	return (f.Number == "" || m.Number == f.Number) && c.Started() && c.StartedAt >= max(f.From, f.Since, 1) &&
		(f.To == 0 || c.StartedAt < f.To) &&
		(f.CampaignID == 0 || c.ID == f.CampaignID) && byStatus(f.Keys)(m.Message)
}

// numberQuery asks for the messages behind a number or its last digits,
// newest first. The index holds all that it reads. a are the arguments that
// there are already.
func numberQuery(f sms.MessageSearch, a arguments) (string, arguments) {
	where := "account_id = " + a.add(f.AccountID)
	if f.Number != "" {
		where += " and tail = " + a.add(tailOf(f.Number))
	} else {
		first, last := tailsOf(f.Ends)
		where += " and tail between " + a.add(first) + " and " + a.add(last)
	}
	if f.Before.MessageID > 0 {
		where += " and message_id < " + a.add(f.Before.MessageID)
	}
	return fmt.Sprintf("select id from (select message_id as id from message_number where %s limit %d) q order by id desc",
		where, maxTailMatches), a
}

// searchCampaigns finds without a number: campaign by campaign from the newest,
// and only in those that have what is looked for. Each campaign that is looked
// into gives at least one message, so that a page costs a bounded number of
// questions.
func (db campaignStore) searchCampaigns(ctx context.Context,
	f sms.MessageSearch) (list []sms.FoundMessage, next sms.MessageCursor, err error) {
	ids, err := db.newestIDs(ctx, f, math.MaxInt)
	if err != nil {
		return nil, next, err
	}
	more := len(ids) > f.Limit
	list, err = db.foundMessages(ctx, ids[:min(len(ids), f.Limit)])
	if more && len(list) > 0 {
		next = cursorOf(list)
	}
	return list, next, err
}

// newestIDs finds messages of at most so many campaigns, and somewhat more of
// them than the limit where there are more.
func (db campaignStore) newestIDs(ctx context.Context, f sms.MessageSearch, most int) (ids []int64, err error) {
	first, last, err := db.campaignSpan(ctx, f)
	if err != nil || last == 0 {
		return nil, err
	}
	if f.Before.CampaignID > 0 {
		last = min(last, f.Before.CampaignID)
	}
	newest := statements{db: db.reader, made: map[string]*sql.Stmt{}}
	defer newest.close()
	for len(ids) <= f.Limit && first <= last && most > 0 {
		query, args := campaignsQuery(f, first, last)
		campaigns, err := readCampaigns(db.reader.QueryContext(ctx, query, args...))
		if err != nil {
			return nil, err
		}
		for _, c := range campaigns[:min(len(campaigns), most)] {
			before := int64(math.MaxInt64)
			if c.ID == f.Before.CampaignID {
				before = f.Before.MessageID
			}
			found, err := newest.ids(ctx, newestQuery(f, c), c.ID, before)
			if err != nil {
				return nil, err
			}
			if ids = append(ids, found...); len(ids) > f.Limit {
				break
			}
			last = c.ID - 1
		}
		if len(campaigns) < campaignsPerStmt {
			break
		}
		most -= len(campaigns)
	}
	return ids, nil
}

// statements are questions that are asked again and again with other values.
type statements struct {
	db   *sql.DB
	made map[string]*sql.Stmt
}

func (s statements) ids(ctx context.Context, query string, args ...any) ([]int64, error) {
	if s.made[query] == nil {
		made, err := s.db.PrepareContext(ctx, query)
		if err != nil {
			return nil, err
		}
		s.made[query] = made
	}
	return onlyColumn[int64](s.made[query].QueryContext(ctx, args...))
}

func (s statements) close() {
	for _, made := range s.made {
		_ = made.Close()
	}
}

// campaignSpan is the first and the last of the campaigns that were started in
// time, 0 for none; there may be others between them.
func (db campaignStore) campaignSpan(ctx context.Context, f sms.MessageSearch) (first, last int64, err error) {
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
	return "select coalesce(min(id), 0), coalesce(max(id), 0) from campaign where account_id = " +
		a.add(f.AccountID) + startedIn(f, "started_at", &a), a
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
	started := startedIn(f, "+c.started_at", &a) + " and c.state <> 'hidden'"
	if f.Words != "" {
		started += " and " + worded(f.Words, a.add)
	}
	if len(f.Keys) == 0 {
		return fmt.Sprintf(`select %s from campaign c where c.account_id = %s and c.id between %s and %s%s
  and exists (select 1 from campaign_tally t where t.campaign_id = c.id and t.n > 0) order by c.id desc limit %d`,
			campaignShows, account, from, to, started, campaignsPerStmt), a
	}
	var arms []string
	for i, k := range f.Keys {
		arms = append(arms,
			fmt.Sprintf(
				`select * from (select %s from campaign_tally t cross join campaign c where t.key = %s and t.n > 0 and t.campaign_id between %s and %s
  and c.id = t.campaign_id and +c.account_id = %s%s order by t.campaign_id desc limit %d) k%d`, campaignShows, a.add(k),
				from, to, account, started, campaignsPerStmt, i))
	}
	return "select * from (" + strings.Join(arms, " union ") + fmt.Sprintf(") c order by id desc limit %d",
		campaignsPerStmt), a
}

// campaignShows is what of a campaign decides how its messages are shown.
const campaignShows = "c.id, c.name, c.group_name, c.sender_id, c.state, c.pause, c.send_at, c.started_at, c.finished_at"

func displayFields(c *sms.Campaign) []any {
	return []any{&c.ID, &c.Name, &c.GroupName, &c.SenderID, &c.State, &c.Pause, &c.SendAt, &c.StartedAt, &c.FinishedAt}
}

func readCampaigns(rows *sql.Rows, err error) ([]sms.Campaign, error) {
	return records(rows, err, displayFields)
}

// newestQuery asks for the newest messages of campaign $1 below id $2.
func newestQuery(f sms.MessageSearch, of sms.Campaign) string {
	if len(f.Keys) > 0 {
		return standingPage(statusKeys(of, byStatus(f.Keys)), " and id < $2", "desc", f.Limit+1)
	}
	return fmt.Sprintf("select id from message where campaign_id = $1 and id < $2 order by id desc limit %d", f.Limit+1)
}

func (db campaignStore) ids(ctx context.Context, query string, args []any) ([]int64, error) {
	return onlyColumn[int64](db.reader.QueryContext(ctx, query, args...))
}

// foundMessages reads messages in the order of the ids; one that has gone
// meanwhile is left out.
func (db campaignStore) foundMessages(ctx context.Context, ids []int64) ([]sms.FoundMessage, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := db.reader.QueryContext(ctx, "select m.*, "+campaignShows+" from (select "+messageColumns+
		" from message where id in ("+places(1, len(ids))+`)) m
  join campaign c on c.id = m.campaign_id and c.state <> 'hidden'`, anys(ids)...)
	if err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	by := map[int64]sms.FoundMessage{}
	for rows.Next() {
		var c sms.Campaign
		m, err := scanMessage(rows, displayFields(&c)...)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("read messages: %w", err), rows.Close())
		}
		by[m.ID] = sms.FoundMessage{Message: shown(m, c), Campaign: c}
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
