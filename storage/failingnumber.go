package storage

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"smsdesk/internal/sms"
)

const (
	// failingLook is how many of the latest failed messages are held together.
	failingLook = 1000
	// failingCampaigns is how many campaigns they may be of: each costs a
	// question of its own, and most accounts need a handful.
	failingCampaigns = 2 * campaignsPerStmt
	// minFailures is how often a number has to have failed.
	minFailures = 2
)

// FailingNumbers lists the numbers of an account to which two or more of the
// latest messages were not delivered, most often first, and then the latest.
// Blocked ones are left out: nothing is sent to them. What was sent before
// since is not looked at. However many messages there are, it reads
// failingLook ids and numbers at most.
func (db callStore) FailingNumbers(ctx context.Context, account, since int64, limit int) ([]sms.FailingNumber, error) {
	ids, err := campaignStore(db).newestIDs(ctx, sms.MessageSearch{AccountID: account, Keys: sms.TileFailed.Keys(),
		Since: since, Limit: failingLook}, failingCampaigns)
	if err != nil {
		return nil, fmt.Errorf("look for failing numbers: %w", err)
	}
	list, err := db.repeated(ctx, ids[:min(len(ids), failingLook)])
	if err != nil {
		return nil, fmt.Errorf("look for failing numbers: %w", err)
	}
	var open []sms.FailingNumber
	for part := range slices.Chunk(list, blockedPerStmt) {
		numbers := make([]string, len(part))
		for i, n := range part {
			numbers[i] = n.Latest.Number
		}
		blocked, err := contactStore(db).BlockedAmong(ctx, account, numbers)
		if err != nil {
			return nil, err
		}
		for _, n := range part {
			if _, is := blocked[n.Latest.Number]; !is && len(open) < limit {
				open = append(open, n)
			}
		}
		if len(open) == limit {
			break
		}
	}
	return db.addLatest(ctx, open)
}

// messageNumbers asks for the numbers of n messages.
func messageNumbers(n int) string {
	return "select id, number from message where id in (" + places(1, n) + ")"
}

// repeated gives the numbers that stand behind several of the messages. Of the
// latest one only id and number are filled in.
func (db callStore) repeated(ctx context.Context, ids []int64) ([]sms.FailingNumber, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := db.reader.QueryContext(ctx, messageNumbers(len(ids)), anys(ids)...)
	by := map[string]sms.FailingNumber{}
	if err := forEachRow(rows, err, func(scan func(...any) error) error {
		var m sms.Message
		if err := scan(&m.ID, &m.Number); err != nil {
			return err
		}
		if !sms.Blockable(m.Number) { // removed, or known in part only
			return nil
		}
		n := by[m.Number]
		if n.Times++; m.ID > n.Latest.ID {
			n.Latest = m
		}
		by[m.Number] = n
		return nil
	}); err != nil {
		return nil, err
	}
	var list []sms.FailingNumber
	for _, n := range by {
		if n.Times >= minFailures {
			list = append(list, n)
		}
	}
	slices.SortFunc(list, func(a, b sms.FailingNumber) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), cmp.Compare(b.Latest.ID, a.Latest.ID))
	})
	return list, nil
}

// addLatest fills in the latest messages; a number whose message has gone
// meanwhile is left out.
func (db callStore) addLatest(ctx context.Context, list []sms.FailingNumber) ([]sms.FailingNumber, error) {
	ids := make([]int64, len(list))
	times := map[int64]int{}
	for i, n := range list {
		ids[i], times[n.Latest.ID] = n.Latest.ID, n.Times
	}
	found, err := campaignStore(db).foundMessages(ctx, ids)
	if err != nil {
		return nil, err
	}
	list = nil
	for _, m := range found {
		list = append(list, sms.FailingNumber{Times: times[m.ID], Latest: m.Message})
	}
	return list, nil
}
