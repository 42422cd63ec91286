package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"smsdesk/internal/sms"
)

// campaignIDs lists the ids of campaigns, newest first; more says that there
// are older ones.
func (db campaignStore) campaignIDs(ctx context.Context, f sms.CampaignFilter) (ids []int64, more bool, err error) {
	gram, err := db.rarestTrigram(ctx, f.Name)
	if err != nil {
		return nil, false, err
	}
	text, args := campaignList(f, gram)
	if ids, err = onlyColumn[int64](db.reader.QueryContext(ctx, text, args...)); err != nil {
		return nil, false, fmt.Errorf("list campaigns: %w", err)
	}
	if more = len(ids) > f.Limit; more {
		ids = ids[:f.Limit]
	}
	return ids, more, nil
}

// campaignList is the question for a page of campaigns. Each state, and each
// way to have to do with a campaign, is a walk of its own along an index from
// the newest on, of which a page's length is taken: a tab with few campaigns
// does not read all the others. gram is a rare part of the name that is looked
// for, "" where there is none.
func campaignList(f sms.CampaignFilter, gram string) (text string, args []any) {
	arg := func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	}
	rest := campaignConditions(f, gram, arg)
	walks := []string{""}
	if len(f.States) > 0 {
		walks = nil
		for _, s := range f.States {
			walks = append(walks, " and c.state = "+arg(string(s)))
		}
	}
	if f.Person > 0 {
		person := arg(f.Person)
		var both []string
		for _, w := range walks {
			both = append(both, w+" and c.created_by = "+person, w+" and c.started_by = "+person)
		}
		walks = both
	}
	for i, w := range walks {
		walks[i] = "select c.id from campaign c where " + rest + w + fmt.Sprintf(" order by c.id desc limit %d", f.Limit+1)
	}
	if len(walks) == 1 {
		return walks[0], args
	}
	for i, w := range walks {
		walks[i] = "select id from (" + w + fmt.Sprintf(") w%d", i)
	}
	return strings.Join(walks, " union ") + fmt.Sprintf(" order by 1 desc limit %d", f.Limit+1), args
}

// campaignConditions are those that hold for every walk.
func campaignConditions(f sms.CampaignFilter, gram string, arg func(any) string) string {
	parts := []string{"c.state <> 'hidden'"}
	if f.AccountID > 0 {
		parts = append(parts, "c.account_id = "+arg(f.AccountID))
	}
	if f.Decision {
		parts = append(parts,
			"c.id in (select t.campaign_id from campaign_tally t where t.key in ('doubt', 'held') and t.n > 0)")
	}
	if f.Trials {
		parts = append(parts, "c.test_of > 0")
	}
	if f.SenderID != "" {
		parts = append(parts, "c.sender_id = "+arg(f.SenderID))
	}
	if f.From > 0 {
		parts = append(parts, "(case when c.started_at > 0 then c.started_at else c.created_at end) >= "+arg(f.From))
	}
	if f.To > 0 {
		parts = append(parts, "(case when c.started_at > 0 then c.started_at else c.created_at end) < "+arg(f.To))
	}
	if f.Name != "" {
		parts = append(parts, `c.name_key like `+arg("%"+likeEscape(nameKey(f.Name))+"%")+` escape '\'`)
	}
	if f.Words != "" {
		parts = append(parts, worded(f.Words, arg))
	}
	if gram != "" {
		parts = append(parts, "c.id in (select g.campaign_id from campaign_gram g where g.gram = "+arg(gram)+")")
	}
	if f.Before > 0 {
		parts = append(parts, "c.id < "+arg(f.Before))
	}
	return strings.Join(parts, " and ")
}

// worded is the condition that campaign c has these words in its name, its text
// or the text that its list fills, in letters of either case.
func worded(words string, arg func(any) string) string {
	inText := arg("%" + likeEscape(nameKey(words)) + "%")
	written, _ := json.Marshal(nameKey(words))
	inList := arg(`%"text":"%` + likeEscape(string(written[1:len(written)-1])) + "%")
	return fmt.Sprintf(`(c.name_key like %s escape '\' or lower(c.text) like %s escape '\' or c.list_id > 0 and exists (
  select 1 from list l where l.id = c.list_id and lower(l.choices) like %s escape '\'))`, inText, inText, inList)
}
