package storage

import (
	"context"
	"fmt"

	"smsdesk/internal/sms"
)

const (
	// findLook is how many messages are held against a filter for one page.
	findLook = 2000
	// foundPerStmt is how many of them one question asks for.
	foundPerStmt = 500
)

// FindMessages lists messages of a campaign by what no index knows, in the
// order of their rows. next is where the following page begins, 0 where nothing
// is left; a page may hold fewer messages than the limit, even none, and still
// have one behind it, where there was too much to look through at once.
func (db campaignStore) FindMessages(ctx context.Context,
	f sms.MessageFilter) (list []sms.Message, next int64, err error) {
	c, err := db.messagesOf(ctx, f.CampaignID)
	if err != nil || c.ID == 0 {
		return nil, 0, err
	}
	var ids []int64
	query, args := findQuery(f, c)
	for looked, more := 0, true; more && next == 0; {
		args[1] = f.After
		rows, err := db.reader.QueryContext(ctx, query, args...)
		n := 0
		if err = forEachRow(rows, err, func(scan func(...any) error) error {
			var id int64
			var number, text string
			if err := scan(&id, &number, &text); err != nil {
				return err
			}
			n++
			if next == 0 && f.Admits(number, text, &db.networks) {
				if len(ids) == f.Limit {
					next = ids[f.Limit-1]
					return nil
				}
				ids = append(ids, id)
			}
			f.After = id
			return nil
		}); err != nil {
			return nil, 0, fmt.Errorf("look for messages: %w", err)
		}
		looked, more = looked+n, n == foundPerStmt
		if more && looked >= findLook && next == 0 {
			next = f.After
		}
	}
	if len(ids) == 0 {
		return nil, next, nil
	}
	list, _, err = db.Messages(ctx, sms.MessageFilter{CampaignID: f.CampaignID, IDs: ids, Limit: len(ids)})
	return list, next, err
}

// findQuery asks for messages of campaign $1 behind id $2 that an index can
// tell from the others.
func findQuery(f sms.MessageFilter, of sms.Campaign) (string, arguments) {
	a := arguments{f.CampaignID, f.After}
	const columns = "select id, number, text from message where "
	order := fmt.Sprintf(" order by id limit %d", foundPerStmt)
	if f.Number != "" || f.Ends != "" {
		candidates, more := numberQuery(sms.MessageSearch{AccountID: of.AccountID, Number: f.Number, Ends: f.Ends}, a)
		where := "id in (" + candidates + ") and campaign_id = $1 and id > $2"
		if f.Number != "" {
			where += " and number = " + more.add(f.Number)
		}
		if narrow(f) {
			where += " and " + fateConditions(statusKeys(of, filtered(f)))
		}
		return columns + where + order, more
	}
	if narrow(f) {
		return columns + "id in (" + standingPage(statusKeys(of, filtered(f)), " and id > $2", "asc", foundPerStmt) + ")" +
			order, a
	}
	return columns + "campaign_id = $1 and id > $2" + order, a
}

// fateConditions admits these fates where the messages are found already.
func fateConditions(list []statusKey) string {
	where := "(1 = 0"
	for _, f := range list {
		where += fmt.Sprintf(" or state = '%s' and status = '%s' and late = %t", f.state, f.status, f.late)
	}
	return where + ")"
}
