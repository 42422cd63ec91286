package storage

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"smsdesk/internal/sms"
)

// Messages are found by the last ten digits of their numbers in message_number.
// Triggers keep it with each message of a campaign that can be seen; those of a
// hidden one come to it together, before it is shown, because what is written in
// the table's own order needs each of its pages once and not once a message.

const (
	// tailDigits is how many of the last digits are kept, backwards.
	tailDigits = 10
	// numbersPerRead, numbersPerStmt and numbersSorted are how many numbers one
	// question reads, one statement stores and are put in order in memory.
	numbersPerRead = 5000
	numbersPerStmt = 64
	numbersSorted  = 1 << 19

	campaignNumbers = "select id, number from message where campaign_id = $1 and id > $2 and number <> '' order by id limit $3"
	// byNumber is the condition on messages of account $1 to number $2; $3 is its tail.
	byNumber = "m.id in (select n.message_id from message_number n where n.account_id = $1 and n.tail = $3) and m.number = $2"
)

// isNumber is false for what stands in the place of a number whose time is over.
func isNumber(number string) bool { return strings.Trim(number, "0123456789") == "" }

// tailOf is a number as message_number holds it.
func tailOf(number string) int64 {
	first, _ := tailsOf(number[max(0, len(number)-tailDigits):])
	return first
}

// tailsOf is the first and the last tail of the numbers that end with these
// digits. A number of fewer than ten is as if zeros stood before it.
func tailsOf(digits string) (first, last int64) {
	first, _ = strconv.ParseInt(sms.ReverseTail(digits), 10, 64)
	last = first + 1
	for range tailDigits - len(digits) {
		first, last = first*10, last*10
	}
	return first, last - 1
}

// tailed is a row of message_number.
type tailed struct{ tail, message int64 }

// findByNumber has the messages of a hidden campaign found by their numbers, of
// which it holds so many in memory.
func (db campaignStore) findByNumber(ctx context.Context, c sms.Campaign, most int64) error {
	after, some := int64(0), make([]tailed, 0, min(max(c.Recipients+1, numbersPerRead), most))
	for more := true; more; {
		var err error
		some, err = db.someNumbers(ctx, c.ID, after, some[:0])
		if err != nil {
			return fmt.Errorf("read a campaign's numbers: %w", err)
		}
		if more = len(some) == cap(some); more {
			after = some[len(some)-1].message
		}
		slices.SortFunc(some, func(a, b tailed) int {
			return cmp.Or(cmp.Compare(a.tail, b.tail), cmp.Compare(a.message, b.message))
		})
		if err := db.putNumbers(ctx, c.AccountID, some); err != nil {
			return fmt.Errorf("store a campaign's numbers: %w", err)
		}
	}
	return nil
}

// someNumbers reads numbers of a campaign's messages behind an id into list, until
// that is full.
func (db campaignStore) someNumbers(ctx context.Context, campaign, after int64, list []tailed) ([]tailed, error) {
	for {
		n, limit := 0, min(numbersPerRead, cap(list)-len(list))
		rows, err := db.readStmts.QueryContext(ctx, campaignNumbers, campaign, after, limit)
		var number string
		if err := forEachRow(rows, err, func(scan func(...any) error) error {
			n++
			err := scan(&after, &number)
			if isNumber(number) {
				list = append(list, tailed{tailOf(number), after})
			}
			return err
		}); err != nil {
			return nil, err
		}
		if n < limit || len(list) == cap(list) {
			return list, nil
		}
	}
}

// putNumbers stores rows of message_number that are in its order.
func (db campaignStore) putNumbers(ctx context.Context, account int64, list []tailed) error {
	put := turns{what: "store numbers", text: insertNumbers(numbersPerStmt), last: int64(len(list)),
		after: func(int64) error { return ctx.Err() }}
	put.step = func(t *tx, many *sql.Stmt, at int64) (next, stored int64, err error) {
		some := list[at:min(at+numbersPerStmt, put.last)]
		args := make([]any, 0, 1+2*numbersPerStmt)
		args = append(args, account)
		for _, n := range some {
			args = append(args, n.tail, n.message)
		}
		if len(some) == numbersPerStmt {
			_, err = many.ExecContext(ctx, args...)
		} else {
			_, err = t.sql.ExecContext(ctx, insertNumbers(len(some)), args...)
		}
		return at + int64(len(some)), int64(len(some)), err
	}
	_, err := put.take(ctx, db)
	return err
}

// insertNumbers is for n messages of account $1: $2 tail, $3 message and so on.
// What a crash has stored of a campaign is there already.
func insertNumbers(n int) string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf("($1, $%d, $%d)", 2+2*i, 3+2*i)
	}
	return "insert into message_number (account_id, tail, message_id) values " + strings.Join(rows, ", ") +
		" on conflict do nothing"
}
