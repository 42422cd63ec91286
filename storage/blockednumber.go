package storage

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// Block puts numbers onto their accounts' lists of blocked numbers. One that
// is there already keeps its day and reason; added counts the others. A long
// list is stored in several transactions, so that no outcome and no report
// waits for it; after an error the same list can be given again.
func (db contactStore) Block(ctx context.Context, list []sms.Blocked) (added int64, err error) {
	for part := range slices.Chunk(list, blockedPerTx) {
		done, err := db.blockSome(ctx, part)
		if err != nil {
			return added, err
		}
		added += done
	}
	return added, nil
}

// blockedPerTx is how many numbers one transaction takes.
const blockedPerTx = 2000

// blockedPerStmt is how many numbers one statement takes.
const blockedPerStmt = 100

func (t contactTx) block(ctx context.Context, list []sms.Blocked) (added int64, err error) {
	var rows []string
	var args []any
	for _, b := range list {
		n := len(args)
		rows = append(rows, "("+places(n+1, 9)+")")
		args = append(args, b.AccountID, b.Number, string(b.Kind), b.Note, b.ByID, b.ByName, b.Since, b.Proof, b.MessageID)
	}
	done, err := t.sql.ExecContext(ctx,
		`insert into blocked (account_id, number, kind, note, by_id, by_name, since, proof, message_id) values `+
			strings.Join(rows, ", ")+
			` on conflict (account_id, number) do nothing`, args...)
	if err != nil {
		return 0, fmt.Errorf("insert blocked numbers: %w", err)
	}
	return done.RowsAffected()
}

// blockReported puts the number of a message onto the list when its report
// says BLACKLIST.
func (t contactTx) blockReported(ctx context.Context, m sms.Message, now int64) error {
	if !sms.Blockable(m.Number) {
		return nil
	}
	b := sms.Blocked{AccountID: m.AccountID, Number: m.Number, Kind: sms.BlockedByReport, Since: now, MessageID: m.ID,
		Proof: sms.ReportProof(m.ID, m.Delivery)}
	n, err := t.block(ctx, []sms.Blocked{b})
	if err != nil || n == 0 {
		return err
	}
	// No file is written in a transaction. The report that says it is in its own
	// log, so nothing is lost until this line is, too.
	line, err := t.blockLine(ctx, b, nil)
	if err != nil {
		return err
	}
	return t.owe(ctx, line)
}

// EndBlock takes a number off its list and returns what stood there; the list
// of ended blocks keeps it.
func (db contactStore) EndBlock(ctx context.Context, id int64, end sms.Unblocking) (gone sms.Blocked, err error) {
	return db.endBlock(ctx, end, func(t *tx) (query.Blocked, error) { return t.DeleteBlocked(ctx, id) })
}

// EndOwnBlock is EndBlock for a number that came onto the list by that way;
// done is false where it is not there, or came there by another.
func (db contactStore) EndOwnBlock(ctx context.Context, account int64, number string, kind sms.BlockKind,
	end sms.Unblocking) (gone sms.Blocked, done bool, err error) {
	gone, err = db.endBlock(ctx, end, func(t *tx) (query.Blocked, error) {
		return t.DeleteOwnBlocked(ctx, account, number, string(kind))
	})
	if errors.Is(err, sms.ErrNotFound) {
		return sms.Blocked{}, false, nil
	}
	return gone, err == nil, err
}

func (t contactTx) keepEnded(ctx context.Context, b sms.Blocked, end sms.Unblocking) error {
	return t.InsertEndedBlock(ctx, query.InsertEndedBlockParams{AccountID: b.AccountID, Number: b.Number,
		Kind: string(b.Kind), Note: b.Note, ByID: b.ByID, ByName: b.ByName,
		Since: b.Since, Proof: b.Proof, MessageID: b.MessageID, EndedAt: end.At, EndedKind: string(end.Kind),
		EndedNote: end.Note, EndedByID: end.ByID, EndedByName: end.ByName})
}

// EndedBlocks lists the blocks of a number that ended, the newest first, as far
// as they are kept.
func (db contactStore) EndedBlocks(ctx context.Context, account int64, number string,
	limit int) (list []sms.EndedBlock, err error) {
	rows, err := db.read().EndedBlocks(ctx, account, number, int32(limit))
	for _, r := range rows {
		list = append(list, sms.EndedBlock{
			Blocked: sms.Blocked{ID: r.ID, AccountID: r.AccountID, Number: r.Number, Kind: sms.BlockKind(r.Kind), Note: r.Note,
				ByID: r.ByID, ByName: r.ByName, Since: r.Since,
				Proof: r.Proof, MessageID: r.MessageID},
			End: sms.Unblocking{At: r.EndedAt, Kind: sms.BlockKind(r.EndedKind), Note: r.EndedNote, ByID: r.EndedByID,
				ByName: r.EndedByName}})
	}
	return wrapNotFound(list, err, "list ended blocks")
}

// BlockedNumber finds an entry of the list by id.
func (db contactStore) BlockedNumber(ctx context.Context, id int64) (sms.Blocked, error) {
	row, err := db.read().BlockedByID(ctx, id)
	return foundOne(row, err, blocked, "read blocked number")
}

// CountBlocked counts the blocked numbers of an account.
func (db contactStore) CountBlocked(ctx context.Context, account int64) (int64, error) {
	n, err := db.read().CountBlocked(ctx, account)
	return wrapNotFound(n, err, "count blocked numbers")
}

// maxDigits is longer than any number.
const maxDigits = "99999999999999999999"

// BlockedNumbers lists blocked numbers; more says that there are further ones.
func (db contactStore) BlockedNumbers(ctx context.Context,
	f sms.BlockedFilter) (list []sms.Blocked, more bool, err error) {
	before := f.Before
	if before == 0 {
		before = math.MaxInt64
	}
	var rows []query.Blocked
	if f.Prefix == "" {
		rows, err = db.read().BlockedPage(ctx, f.AccountID, before, int32(f.Limit+1))
	} else {
		rows, err = db.read().BlockedRange(ctx, query.BlockedRangeParams{AccountID: f.AccountID, Number: f.Prefix,
			Number_2: f.Prefix + maxDigits, Limit: int32(f.Limit + 1)})
	}
	if err != nil {
		return nil, false, fmt.Errorf("list blocked numbers: %w", err)
	}
	if more = len(rows) > f.Limit; more {
		rows = rows[:f.Limit]
	}
	for _, r := range rows {
		list = append(list, blocked(r))
	}
	return list, more, nil
}

// BlockedAmong finds those of the numbers that are on the account's list.
func (db contactStore) BlockedAmong(ctx context.Context, account int64,
	numbers []string) (map[string]sms.Blocked, error) {
	list := map[string]sms.Blocked{}
	for len(numbers) > 0 {
		n := min(len(numbers), blockedPerStmt)
		args := []any{account}
		for _, number := range numbers[:n] {
			args = append(args, number)
		}
		numbers = numbers[n:]
		if err := db.eachBlocked(ctx, args, func(b sms.Blocked) { list[b.Number] = b }); err != nil {
			return nil, fmt.Errorf("look for blocked numbers: %w", err)
		}
	}
	return list, nil
}

func (db contactStore) eachBlocked(ctx context.Context, args []any, do func(sms.Blocked)) error {
	rows, err := db.reader.QueryContext(ctx,
		`select id, account_id, number, kind, note, by_id, by_name, since, proof, message_id from blocked
  where account_id = $1 and number in (`+places(2, len(args)-1)+`)`, args...)
	return forEachRow(rows, err, func(scan func(...any) error) error {
		var r query.Blocked
		if err := scan(&r.ID, &r.AccountID, &r.Number, &r.Kind, &r.Note, &r.ByID, &r.ByName, &r.Since, &r.Proof,
			&r.MessageID); err != nil {
			return err
		}
		do(blocked(r))
		return nil
	})
}

// EachBlocked gives all blocked numbers of an account.
func (db contactStore) EachBlocked(ctx context.Context, account int64, do func(number string)) error {
	rows, err := db.reader.QueryContext(ctx, `select number from blocked where account_id = $1`, account)
	err = forEachRow(rows, err, func(scan func(...any) error) error {
		var number string
		if err := scan(&number); err != nil {
			return err
		}
		do(number)
		return nil
	})
	if err != nil {
		return fmt.Errorf("list blocked numbers: %w", err)
	}
	return nil
}

// places are n placeholders from $first on.
func places(first, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("$%d", first+i)
	}
	return strings.Join(list, ", ")
}

const (
	// blockedPass is how many queued messages are looked at once a call has
	// met a blocked one, blockedPasses how often one claim does that.
	blockedPass   = 500
	blockedPasses = 4
)

// blockedRecipients picks from the messages that the next claims would serve.
const blockedRecipients = `select c.id, b.kind, b.by_name, b.since from (
  select m.id, m.account_id, m.number from message m where ` + waiting + ` order by m.call_no, m.id limit $2) c
join blocked b on b.account_id = c.account_id and b.number = c.number`

// skipBlocked leaves out those messages of a call whose number has been
// blocked since the campaign was checked, and then those of the calls behind
// it too: a long list of them must not cost a pass a call. It returns how many
// they were.
func (c *claimer) skipBlocked(ctx context.Context, campaign int64, call []callRow) (int64, error) {
	today := time.UnixMilli(c.now).In(c.account.Location())
	why := map[int64]string{}
	for _, r := range call {
		if r.blocked != nil {
			why[r.MessageID] = r.blocked.Sentence(today)
		}
	}
	if len(why) == 0 {
		return 0, nil
	}
	if err := c.blockedAhead(ctx, campaign, func(id int64, b sms.Blocked) { why[id] = b.Sentence(today) }); err != nil {
		return 0, err
	}
	return c.leaveOut(ctx, campaign, why)
}

// leaveOut skips queued messages, each with its reason.
func (c *claimer) leaveOut(ctx context.Context, campaign int64, why map[int64]string) (int64, error) {
	if len(why) == 0 {
		return 0, nil
	}
	same := map[string][]any{}
	for id, reason := range why {
		same[reason] = append(same[reason], id)
	}
	for reason, ids := range same {
		done, err := c.sql.ExecContext(ctx,
			`update message set state = 'skipped', reason = $1, changed_at = $2 where state = 'queued' and id in (`+
				places(3, len(ids))+`)`,
			append([]any{reason, c.now}, ids...)...)
		if err != nil {
			return 0, fmt.Errorf("leave out blocked recipients: %w", err)
		}
		n, err := done.RowsAffected()
		if err != nil || n != int64(len(ids)) {
			return 0, errors.Join(err, fmt.Errorf("%w: %d of %d messages left out", errUnexpected, n, len(ids)))
		}
	}
	c.moveTally(campaign, sms.StandingKey(sms.Queued, "", false), sms.StandingKey(sms.Skipped, "", false), int64(len(why)))
	return int64(len(why)), nil
}

func (c *claimer) blockedAhead(ctx context.Context, campaign int64, do func(id int64, b sms.Blocked)) error {
	rows, err := c.sql.QueryContext(ctx, blockedRecipients, campaign, blockedPass)
	err = forEachRow(rows, err, func(scan func(...any) error) error {
		var id int64
		var b sms.Blocked
		if err := scan(&id, &b.Kind, &b.ByName, &b.Since); err != nil {
			return err
		}
		do(id, b)
		return nil
	})
	if err != nil {
		return fmt.Errorf("look for blocked recipients: %w", err)
	}
	return nil
}

func blocked(r query.Blocked) sms.Blocked {
	return sms.Blocked{ID: r.ID, AccountID: r.AccountID, Number: r.Number, Kind: sms.BlockKind(r.Kind), Note: r.Note,
		ByID: r.ByID, ByName: r.ByName, Since: r.Since,
		Proof: r.Proof, MessageID: r.MessageID}
}
