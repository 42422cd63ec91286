package storage

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"smsdesk/internal/health"
	"smsdesk/internal/sms"
)

// What stands between the inbox and the log of reports: ids, order, what is
// owed to the log, and a file that is damaged or another one (storage/README.md).

const (
	inboxName = "inbox.db"
	// awayIDs is how much further ids go on while the log is not there: what it
	// holds then cannot have the same ones.
	awayIDs = 1 << 32
)

// LogWith lets Keep return only once a report is in the log too. cursor is up
// to where the log was applied. It is called before Open.
func (in *Inbox) LogWith(l *ReportLog, cursor int64) {
	in.using.Lock()
	defer in.using.Unlock()
	in.log.Store(l)
	in.known = cursor
	l.noting.Lock()
	l.wake = in.wakeUp
	l.noting.Unlock()
}

// Last is the highest id that was given, in this process or before it.
func (in *Inbox) Last() int64 { return in.last.Load() }

// number gives the reports their ids: behind everything that was ever kept
// here, applied or logged.
func (in *Inbox) number(ctx context.Context, batch []sms.RawReport) error {
	last := in.last.Load()
	if in.unsure {
		var seq int64
		if err := in.db.QueryRowContext(ctx, `select seq from sqlite_sequence where name = 'raw'`).Scan(&seq); err != nil {
			return err
		}
		last = max(last, seq)
		in.unsure = false
	}
	switch {
	case in.log.Load() == nil:
	case in.log.Load().Away():
		last = max(last, in.known+awayIDs)
	default:
		last = max(last, in.logged())
	}
	in.noted = 0
	if l := in.log.Load(); l != nil && l.hasNotes() {
		last++
		in.noted = last
	}
	for i := range batch {
		last++
		batch[i].ID = last
	}
	in.last.Store(last)
	return nil
}

// logBeside begins to append a batch to the log; the function that it returns
// waits for it. While older reports are owed to the log they come first.
func (in *Inbox) logBeside(ctx context.Context, batch []sms.RawReport) (wait func()) {
	l, first := in.log.Load(), in.noted
	if first == 0 && len(batch) > 0 {
		first = batch[0].ID
	}
	if l == nil || first == 0 || l.Away() || !in.caughtUp(ctx, first) {
		return func() {}
	}
	var notes []sealedRecord
	if in.noted > 0 {
		notes = l.takeNotes(in.noted)
	}
	var all sync.WaitGroup
	all.Go(func() {
		if err := l.put(ctx, batch, notes...); err != nil {
			in.behind = time.Now()
		}
	})
	return all.Wait
}

// caughtUp says that the log has everything before an id.
func (in *Inbox) caughtUp(ctx context.Context, before int64) bool {
	logged := in.logged()
	if logged >= before-1 {
		return true
	}
	if time.Since(in.behind) < spoolInterval {
		return false
	}
	for {
		list, _, err := readKept(ctx, in.db, logged, inboxBatch)
		if err == nil && len(list) == 0 {
			// The ids between are nobody's.
			in.log.Load().skip(before - 1)
			in.behind = time.Time{}
			return true
		}
		if err == nil {
			err = in.log.Load().put(ctx, list)
		}
		if err != nil {
			in.behind = time.Now()
			return false
		}
		logged = list[len(list)-1].ID
	}
}

// catchUp brings to the log what it lacks.
func (in *Inbox) catchUp(ctx context.Context) {
	if in.log.Load() == nil || in.log.Load().Away() || in.number(ctx, nil) != nil {
		return
	}
	if in.noted > 0 {
		in.logBeside(ctx, nil)()
		return
	}
	in.caughtUp(ctx, in.last.Load()+1)
}

// owes says that the log lacks reports that are here.
func (in *Inbox) owes() bool {
	l := in.log.Load()
	return l != nil && !l.Away() && (in.logged() < in.last.Load() || l.hasNotes())
}

// forgettableUpTo is up to where reports are applied, and logged where they
// are to be.
func (in *Inbox) forgettableUpTo() int64 {
	logged := int64(math.MaxInt64)
	if in.log.Load() != nil {
		if logged = in.known; !in.log.Load().Away() {
			logged = in.logged()
		}
	}
	return min(in.applied.Load(), logged)
}

// keptSum tells a row that the disk has changed; it is never 0.
func keptSum(k sms.RawReport) int64 {
	var numbers [24]byte
	binary.LittleEndian.PutUint64(numbers[:], uint64(k.ID))
	binary.LittleEndian.PutUint64(numbers[8:], uint64(k.AccountID))
	binary.LittleEndian.PutUint64(numbers[16:], uint64(k.ReceivedAt))
	sum := crc32.Update(crc32.Checksum(numbers[:], castagnoli), castagnoli, []byte(k.Remote))
	sum = crc32.Update(sum, castagnoli, []byte{0})
	return int64(crc32.Update(sum, castagnoli, []byte(k.Query))) + 1
}

// prepareSums adds the column to a file from before it was there. Its rows have
// no sum.
func (in *Inbox) prepareSums(ctx context.Context) error {
	var n int
	err := in.db.QueryRowContext(ctx, `select count(*) from pragma_table_info('raw') where name = 'sum'`).Scan(&n)
	if err == nil && n == 0 {
		_, err = in.db.ExecContext(ctx, `alter table raw add column sum integer not null default 0`)
	}
	return err
}

// readKept reads reports behind an id; bad are the ids of those that the disk
// has changed, which are not in the list.
func readKept(ctx context.Context, from querier, id int64, limit int) (list []sms.RawReport, bad []int64, err error) {
	rows, err := from.QueryContext(ctx,
		`select id, account_id, received_at, remote, query, sum from raw where id > $1 order by id limit $2`, id, limit)
	err = forEachRow(rows, err, func(scan func(...any) error) error {
		var k sms.RawReport
		var sum int64
		if err := scan(&k.ID, &k.AccountID, &k.ReceivedAt, &k.Remote, &k.Query, &sum); err != nil {
			return err
		}
		if sum != 0 && sum != keptSum(k) {
			bad = append(bad, k.ID)
			return nil
		}
		list = append(list, k)
		return nil
	})
	return list, bad, err
}

// mend takes reports that the disk has changed from the log.
func (in *Inbox) mend(ctx context.Context, list []sms.RawReport, bad []int64) ([]sms.RawReport, error) {
	byID := map[int64]sms.RawReport{}
	for _, k := range list {
		byID[k.ID] = k
	}
	wanted := map[int64]bool{}
	for _, id := range bad {
		wanted[id] = true
	}
	if in.log.Load() != nil && !in.log.Load().Away() {
		_, _, err := in.log.Load().Entries(ctx, bad[0]-1, func(some []sms.RawReport) error {
			for _, k := range some {
				if wanted[k.ID] {
					byID[k.ID] = k
					delete(wanted, k.ID)
				}
			}
			if len(wanted) == 0 {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return nil, err
		}
	}
	in.damaged.Add(int64(len(wanted)))
	return sortedKept(byID), nil
}

// checkWhole reads everything of a small database.
func checkWhole(ctx context.Context, db *sql.DB) error {
	var said string
	if err := db.QueryRowContext(ctx, `pragma quick_check(1)`).Scan(&said); err != nil {
		return fmt.Errorf("check the file: %w", err)
	}
	if said != "ok" {
		return health.Troubled{Trouble: health.TroubleDamaged, Err: fmt.Errorf("the file is damaged: %s", said)}
	}
	return nil
}

// leaveDamaged gives a damaged inbox another name.
func (in *Inbox) leaveDamaged() error {
	path := filepath.Join(in.data, inboxName)
	in.aside = fmt.Sprintf("%s.damaged-%d", inboxName, time.Now().UnixMilli())
	for _, ending := range []string{"", "-wal", "-shm"} {
		err := os.Rename(path+ending, filepath.Join(in.data, in.aside)+ending)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("set the damaged inbox aside: %w", err)
		}
	}
	return syncFolder(in.data)
}

// Meet compares the inbox with what the database knows of it, and with the log,
// and returns sentences about what is not as it was. It is called once the
// inbox is open.
func (in *Inbox) Meet(ctx context.Context, db *DB) (sentences []string, err error) {
	in.using.Lock()
	defer in.using.Unlock()
	if in.db == nil {
		return nil, errNotOpen
	}
	if err := in.number(ctx, nil); err != nil {
		return nil, fmt.Errorf("read the inbox: %w", err)
	}
	was, err := db.ReadSetting(ctx, settingInbox)
	if err != nil {
		return nil, err
	}
	seen, err := db.inboxSeen(ctx)
	if err != nil {
		return nil, err
	}
	var seq int64
	if err := in.db.QueryRowContext(ctx, `select seq from sqlite_sequence where name = 'raw'`).Scan(&seq); err != nil {
		return nil, fmt.Errorf("read the inbox: %w", err)
	}
	complete := "Every delivery report that was acknowledged is in the log and was taken from there."
	if in.log.Load() == nil || in.log.Load().Away() || in.logged() < seen {
		complete = "Delivery reports that were acknowledged in the last seconds before may be missing: compare the reports with the provider's."
	}
	switch {
	case in.aside != "":
		sentences = append(sentences, "The file inbox.db was damaged. It is now called "+in.aside+" and can be removed. "+
			complete)
	case was != "" && was != in.id:
		sentences = append(sentences,
			"The file inbox.db is not the one that this desk used before: it was deleted, emptied or replaced. "+complete)
	case was != "" && seq < seen:
		sentences = append(sentences, "The file inbox.db is older than this desk: a copy was put back. "+complete)
	}
	if short, err := in.short(ctx); err != nil {
		return nil, err
	} else if short {
		sentences = append(sentences, "The log of delivery reports ends earlier than this desk: its end was lost. "+
			"What was applied is still here, but it cannot be replayed if an older copy of the database is put back.")
	}
	if was != in.id {
		if err := db.PutSetting(ctx, settingInbox, in.id); err != nil {
			return nil, err
		}
	}
	return sentences, db.SeeInbox(ctx, in.last.Load())
}

func (in *Inbox) logged() int64 {
	_, logged := in.log.Load().Last()
	return logged
}

// short says that the log lacks reports which were applied and which are not
// here any more to be logged again.
func (in *Inbox) short(ctx context.Context) (bool, error) {
	if in.log.Load() == nil || in.log.Load().Away() || in.logged() >= in.known {
		return false, nil
	}
	var here int64
	err := in.db.QueryRowContext(ctx, `select count(*) from raw where id > $1 and id <= $2`, in.logged(),
		in.known).Scan(&here)
	return wrapNotFound(here < in.known-in.logged(), err, "read the inbox")
}

const (
	settingInbox = "inbox"
	inboxSeen    = "inbox seen"
)

// SeeInbox notes the highest id that the inbox has given.
func (db *core) SeeInbox(ctx context.Context, last int64) error {
	return db.update(ctx, "note how far the inbox is", func(t *tx) error { return t.PutCursor(ctx, inboxSeen, last) })
}

// inboxSeen is at least the cursor.
func (db *core) inboxSeen(ctx context.Context) (int64, error) {
	seen, err := db.read().Cursor(ctx, inboxSeen)
	if err != nil && !errors.Is(classify(err), sms.ErrNotFound) {
		return 0, fmt.Errorf("read how far the inbox was: %w", err)
	}
	cursor, err := db.InboxCursor(ctx)
	return max(seen, cursor), err
}
