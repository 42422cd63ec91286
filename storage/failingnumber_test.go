package storage

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"smsdesk/internal/sms"
)

// TestFailingNumbersAreWhatLookingAtEachWouldTell: how often, the latest
// message and the order are what all messages tell, without those blocked.
func TestFailingNumbersAreWhatLookingAtEachWouldTell(t *testing.T) {
	base := newFixture(t)
	_, err := base.db.writer.ExecContext(base.ctx, "drop trigger message_transition; drop trigger campaign_transition")
	base.must(err)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		f := base.other(t, fmt.Sprint("Account ", n))
		pool := append(numbers(5), "", "#MTN#0a1b2c")
		for range rapid.IntRange(1, 4).Draw(t, "campaigns") {
			c := f.newDraft("text", rapid.SliceOfN(rapid.SampledFrom(pool), 1, 15).Draw(t, "numbers")...)
			if rapid.IntRange(0, 4).Draw(t, "draft") > 0 {
				_, err := f.db.writer.ExecContext(f.ctx, "update campaign set state = 'finished', started_at = $2 where id = $1",
					c.ID, rapid.Int64Range(1, 3).Draw(t, "at")*1000)
				f.must(err)
			}
			f.scatter(t, c.ID)
		}
		var blocked []string
		for _, number := range pool[:5] {
			if rapid.IntRange(0, 3).Draw(t, "blocked") == 0 {
				blocked = append(blocked, number)
				_, err := f.db.Block(f.ctx, []sms.Blocked{{AccountID: f.account.ID, Number: number, Kind: sms.BlockedByStaff,
					Since: 1}})
				f.must(err)
			}
		}
		since, limit := rapid.SampledFrom([]int64{0, 2000}).Draw(t, "since"), rapid.IntRange(1, 5).Draw(t, "limit")
		got, err := f.db.FailingNumbers(f.ctx, f.account.ID, since, limit)
		f.must(err)
		want := f.failedTwice(since, blocked)
		want = want[:min(len(want), limit)]
		if !slices.EqualFunc(got, want, func(a, b sms.FailingNumber) bool {
			return a.Times == b.Times && a.Latest.ID == b.Latest.ID && a.Latest.Number == b.Latest.Number &&
				a.Latest.Delivery.Status == b.Latest.Delivery.Status
		}) {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
	})
}

// failedTwice looks at each message.
func (f *fixture) failedTwice(since int64, blocked []string) (list []sms.FailingNumber) {
	f.t.Helper()
	by := map[string][]sms.Message{}
	for _, id := range f.lookAtEach(sms.MessageSearch{Since: since}) {
		m, err := f.db.Message(f.ctx, id)
		f.must(err)
		if m.Standing().Tile == sms.TileFailed && sms.Blockable(m.Number) && !slices.Contains(blocked, m.Number) {
			by[m.Number] = append(by[m.Number], m)
		}
	}
	for _, failed := range by {
		if len(failed) > 1 {
			list = append(list, sms.FailingNumber{Times: len(failed), Latest: failed[0]})
		}
	}
	slices.SortFunc(list, func(a, b sms.FailingNumber) int {
		return cmp.Or(b.Times-a.Times, cmp.Compare(b.Latest.ID, a.Latest.ID))
	})
	return list
}

// TestFailingNumbersLookAtTheLatestOnly: what is behind the latest thousand
// failed messages is not counted.
func TestFailingNumbersLookAtTheLatestOnly(t *testing.T) {
	f := newFixture(t)
	_, err := f.db.writer.ExecContext(f.ctx, "drop trigger message_transition; drop trigger campaign_transition")
	f.must(err)
	list := numbers(failingLook + 1)
	for _, recipients := range [][]string{list[failingLook:], list} {
		c := f.newDraft("text", recipients...)
		_, err := f.db.writer.ExecContext(f.ctx, "update campaign set state = 'finished', started_at = 1000 where id = $1",
			c.ID)
		f.must(err)
		_, err = f.db.writer.ExecContext(f.ctx,
			"update message set state = 'accepted', status = 'UNDELIV' where campaign_id = $1", c.ID)
		f.must(err)
		_, err = f.db.writer.ExecContext(f.ctx, "delete from campaign_tally where campaign_id = $1", c.ID)
		f.must(err)
		_, err = f.db.writer.ExecContext(f.ctx,
			"insert into campaign_tally (campaign_id, key, n) values ($1, 'undelivered', $2)", c.ID, len(recipients))
		f.must(err)
	}
	if got, err := f.db.FailingNumbers(f.ctx, f.account.ID, 0, 5); err != nil || len(got) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := f.db.FailingNumbers(f.ctx, f.account.ID+1, 0, 5); err != nil || len(got) != 0 {
		t.Errorf("another account: %+v, %v", got, err)
	}
}
