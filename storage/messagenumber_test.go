package storage

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/sms"
)

// numbersAgree fails unless message_number holds each message that can be seen
// with a number, and nothing else.
func numbersAgree(t testing.TB, db *DB) {
	t.Helper()
	ctx := context.Background()
	var want, got []string
	rows, err := db.reader.QueryContext(ctx, `select m.account_id, m.number, m.id from message m
join campaign c on c.id = m.campaign_id and c.state <> 'hidden' where m.number <> '' order by m.id`)
	if err != nil && strings.Contains(err.Error(), "closed") {
		return // by the test
	}
	var account, id, tail int64
	var number string
	if err := forEachRow(rows, err, func(scan func(...any) error) error {
		err := scan(&account, &number, &id)
		if isNumber(number) {
			want = append(want, fmt.Sprint(account, " ", tailOf(number), " ", id))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	rows, err = db.reader.QueryContext(ctx, `select n.account_id, n.tail, n.message_id from message_number n
where not exists (select 1 from message m join campaign c on c.id = m.campaign_id where m.id = n.message_id and c.state = 'hidden')
order by n.message_id`)
	if err := forEachRow(rows, err, func(scan func(...any) error) error {
		err := scan(&account, &tail, &id)
		got = append(got, fmt.Sprint(account, " ", tail, " ", id))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("what message_number holds (-want +got):\n%s", d)
	}
}

func TestTailsOfNumbers(t *testing.T) {
	for digits, want := range map[string][2]int64{"27": {7200000000, 7299999999}, "0": {0, 999999999},
		"2348031234567"[3:]: {7654321308, 7654321308}, "4567": {7654000000, 7654999999}} {
		if first, last := tailsOf(digits); first != want[0] || last != want[1] {
			t.Errorf("%s: %d to %d, want %v", digits, first, last, want)
		}
	}
	for number, want := range map[string]int64{"2348031234567": 7654321308, "27": 7200000000, "1234567890123450": 543210987} {
		if got := tailOf(number); got != want {
			t.Errorf("%s: %d, want %d", number, got, want)
		}
	}
}

// The messages of a hidden campaign come to message_number together. A crash may
// leave some of them there; those of a removed one go.
func TestNumbersOfAHiddenCampaign(t *testing.T) {
	f := newFixture(t)
	l, rows := f.stage(1000)
	id, err := f.press(l, rows, func(int64) error { return nil })
	f.must(err)
	if n := one[int](f, "select count(*) from message_number"); n != 0 {
		t.Fatalf("%d messages of a hidden campaign are found by number", n)
	}
	some, err := f.db.someNumbers(f.ctx, id, 0, make([]tailed, 0, 2000))
	f.must(err)
	f.must(f.db.putNumbers(f.ctx, f.account.ID, some[:100]))
	f.must(f.db.findByNumber(f.ctx, sms.Campaign{ID: id, AccountID: f.account.ID, Recipients: 1000}, 100))
	with := 0
	for _, r := range rows {
		if r.Number > 0 {
			with++
		}
	}
	if n := one[int](f, "select count(*) from message_number"); n != with || len(some) != with {
		t.Errorf("%d of %d messages with a number are found by it", n, with)
	}
	if !slices.IsSortedFunc(some, func(a, b tailed) int { return int(a.message - b.message) }) {
		t.Error("the numbers of a campaign are not read in the order of its messages")
	}
	exec := func(text string) {
		t.Helper()
		_, err := f.db.writer.ExecContext(f.ctx, text, id)
		f.must(err)
	}
	exec("update campaign set state = 'draft' where id = $1")
	numbersAgree(t, f.db)
	exec("update message set number = 'removed' where campaign_id = $1 and row_no < 500")
	exec("delete from message where campaign_id = $1 and row_no > 900")
	numbersAgree(t, f.db)
}
