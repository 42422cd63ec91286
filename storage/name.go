package storage

import (
	"context"
	"fmt"
	"strings"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// Names of campaigns are found by any part of them, in any case. Each three
// letters that follow each other in a name are kept in an index, so that a
// search reads the campaigns that have the rarest three letters of what is
// looked for, and not all of them.

const (
	gramLetters = 3
	// gramsAsked is how many of a search's grams are counted, and gramRare up to
	// how many campaigns have one that is worth to start from: newest first,
	// matches for more common ones come soon.
	gramsAsked = 16
	gramRare   = 500
)

// nameKey is a name as it is searched.
func nameKey(name string) string { return strings.ToLower(name) }

// trigrams are the different grams of a key in their order.
func trigrams(key string) (list []string) {
	letters, seen := []rune(key), map[string]bool{}
	for i := 0; i+gramLetters <= len(letters); i++ {
		if g := string(letters[i : i+gramLetters]); !seen[g] {
			seen[g] = true
			list = append(list, g)
		}
	}
	return list
}

// indexName makes a campaign found by its name.
func (t *tx) indexName(ctx context.Context, campaign int64, name string) error {
	key := nameKey(name)
	if err := t.PutNameKey(ctx, campaign, key); err != nil {
		return err
	}
	if err := t.DropGrams(ctx, campaign); err != nil {
		return err
	}
	for _, g := range trigrams(key) {
		if err := t.PutGram(ctx, g, campaign); err != nil {
			return err
		}
	}
	return nil
}

// insertCampaign stores a campaign in its first state, to be found by its name.
func (t *tx) insertCampaign(ctx context.Context, c sms.Campaign, state sms.CampaignState, token string,
	now int64) (id int64, err error) {
	id, err = t.InsertCampaign(ctx, query.InsertCampaignParams{AccountID: c.AccountID, Token: token, Name: c.Name,
		SenderID: c.SenderID, Text: c.Text, Unicode: c.Unicode, Flash: c.Flash, GroupID: c.GroupID, GroupName: c.GroupName,
		State: string(state), Recipients: c.Recipients, Parts: c.Parts, Fingerprint: c.Fingerprint, CreatedBy: c.CreatedBy,
		CreatedName: c.CreatedName, CreatedAt: now, ListID: c.ListID, CallsText: c.CallsText, CallsPairs: c.CallsPairs,
		Urgent: c.Urgent, TestOf: c.TestOf, AgainOf: c.AgainOf, SendAgain: c.SendAgain,
		TextKey: c.TextKey, SeriesID: c.SeriesID, SeriesRun: int64(c.SeriesRun)})
	if err == nil {
		err = t.indexName(ctx, id, c.Name)
	}
	return id, err
}

// fillNames makes campaigns of an older version found by their names.
func (db campaignStore) fillNames(ctx context.Context) error {
	for {
		some, err := db.read().CampaignsWithoutKey(ctx)
		if err != nil {
			return fmt.Errorf("list campaigns that are not found by name: %w", err)
		}
		if len(some) == 0 {
			return nil
		}
		err = db.update(ctx, "make campaigns found by name", func(t *tx) error {
			for _, c := range some {
				if err := t.indexName(ctx, c.ID, c.Name); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
}

const countGram = `select count(*) from (select 1 from campaign_gram where gram = $1 limit $2) g`

// rarestTrigram is the gram of what is looked for that the fewest campaigns have, ""
// where each is common or there is none.
func (db campaignStore) rarestTrigram(ctx context.Context, name string) (rare string, err error) {
	fewest := int64(gramRare)
	for i, g := range trigrams(nameKey(name)) {
		var n int64
		if err := db.readStmts.QueryRowContext(ctx, countGram, g, fewest).Scan(&n); err != nil {
			return "", fmt.Errorf("look for a part of a name: %w", err)
		}
		if n < fewest {
			fewest, rare = n, g
		}
		if fewest == 0 || i == gramsAsked {
			break
		}
	}
	return rare, nil
}
