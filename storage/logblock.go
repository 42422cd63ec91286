package storage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/storage/log"
	"smsdesk/storage/query"
)

// BlockLog holds every block and every end of one, so that a person who opted
// out stays out when an older copy of the database is put back
// (storage/README.md). A block is logged before it is stored and an end of one
// after it, so a crash in between leaves the number blocked.
type BlockLog struct{ sealedLog }

// BlockLogFolder is the log's folder beside the journal.
const BlockLogFolder = "blocks.log"

const blockCursor = "block log"

// blocking is the one way into the list of blocked numbers and into its log:
// one change after another, so that both have them in the same order.
type blocking struct {
	mu  sync.Mutex
	log *BlockLog // nil: what is done here is owed to it
	// replayed says that everything in the log is applied. Before, what is done
	// is owed too: the log's cursor must not jump.
	replayed bool
}

// OpenBlockLog opens the log in the folder of the journal. As with
// OpenReportLog nothing is made in the place of one that is missing before
// Create. Until UseBlockLog blocks are kept for it in the database.
func (db *core) OpenBlockLog(ctx context.Context, journal string, now func() time.Time) (*BlockLog, error) {
	return db.openBlockLog(ctx, journal, now, nil)
}

func (db *core) openBlockLog(ctx context.Context, journal string, now func() time.Time, fs log.FS) (*BlockLog, error) {
	l := &BlockLog{sealedLog{db: db, cursor: blockCursor, name: "block", period: "2006-01", now: now,
		cfg: log.Config{Dir: filepath.Join(journal, BlockLogFolder)}}}
	if err := db.openSealed(ctx, &l.sealedLog, fs); err != nil {
		return nil, fmt.Errorf("open the log of blocks: %w", err)
	}
	return l, nil
}

// Look looks again for a log that was not there.
func (l *BlockLog) Look(ctx context.Context) error { return l.lookAgain(ctx) }

// Create lets the log be made where there is none, as ReportLog.Create does.
func (l *BlockLog) Create() error { return l.create() }

// Close closes the log.
func (l *BlockLog) Close() error { return l.close() }

// Trouble is why blocks cannot be logged, "" while they can.
func (l *BlockLog) Trouble() string { return l.trouble() }

// Last is the number of the last record.
func (l *BlockLog) Last() (record int64) {
	record, _ = l.last()
	return record
}

// Forget removes what is older than the given time and applied, a segment at a
// time.
func (l *BlockLog) Forget(ctx context.Context, before int64) error {
	cursor, err := l.db.cursorOr(ctx, blockCursor)
	if err != nil {
		return err
	}
	return l.forget(before, cursor, byRecord)
}

// Check reads the whole log and counts its records. lost says in words of which
// days they cannot be read.
func (l *BlockLog) Check(context.Context) (n int, lost string, err error) {
	from := int64(0)
	l.mu.Lock()
	if len(l.heads) > 0 {
		from = l.heads[0].Seq
	}
	l.mu.Unlock()
	gone, err := l.since(from, byRecord, func(_, _ int64, lines []byte) error {
		n += bytes.Count(lines, []byte{'\n'})
		return nil
	})
	return n, daysOf(gone, time.Local), err
}

// UseBlockLog lets blocks be logged. It is called before anybody blocks.
func (db *core) UseBlockLog(l *BlockLog) {
	db.blocking.mu.Lock()
	defer db.blocking.mu.Unlock()
	db.blocking.log, db.blocking.replayed = l, false
}

func (db *core) cursorOr(ctx context.Context, name string) (int64, error) {
	n, err := db.read().Cursor(ctx, name)
	if errors.Is(classify(err), sms.ErrNotFound) {
		return 0, nil
	}
	return wrapNotFound(n, err, "read a cursor")
}

// loggedBlock is a line of the log. Row ids are not in it: they are given again
// after a restore.
type loggedBlock struct {
	Kind    string `json:"k"` // "block" or "end"
	Account string `json:"a"` // its uid
	Number  string `json:"n"`
	By      string `json:"b"` // sms.BlockKind
	Since   int64  `json:"t"`
	Name    string `json:"w,omitempty"`
	Note    string `json:"r,omitempty"`
	Proof   string `json:"p,omitempty"`

	EndAt   int64  `json:"et,omitempty"`
	EndBy   string `json:"eb,omitempty"`
	EndName string `json:"ew,omitempty"`
	EndNote string `json:"er,omitempty"`
}

func (t contactTx) blockLine(ctx context.Context, b sms.Blocked, end *sms.Unblocking) (string, error) {
	of, err := t.AccountByID(ctx, b.AccountID)
	if err != nil {
		return "", err
	}
	return blockLine(of.Uid, b, end), nil
}

func blockLine(account string, b sms.Blocked, end *sms.Unblocking) string {
	row := loggedBlock{Kind: "block", Account: account, Number: b.Number, By: string(b.Kind), Since: b.Since,
		Name: b.ByName, Note: b.Note, Proof: b.Proof}
	if end != nil {
		row.Kind, row.EndAt, row.EndBy, row.EndName, row.EndNote = "end", end.At, string(end.Kind), end.ByName, end.Note
	}
	text, _ := json.Marshal(row)
	return string(text)
}

// owe notes lines that are to be logged once the transaction is committed.
func (t contactTx) owe(ctx context.Context, lines ...string) error {
	for _, line := range lines {
		if err := t.OweBlock(ctx, line); err != nil {
			return fmt.Errorf("note for the log of blocks: %w", err)
		}
	}
	return nil
}

// paid is what went to the log.
type paid struct {
	record int64 // the last
	owed   int64 // everything owed up to this id is in it
}

func (t contactTx) paid(ctx context.Context, p paid) error {
	if p.owed > 0 {
		if err := t.DeleteOwedBlocks(ctx, p.owed); err != nil {
			return fmt.Errorf("note what was logged: %w", err)
		}
	}
	return t.PutCursor(ctx, blockCursor, p.record)
}

const owedPerStmt = 1000

// append logs what is owed and then the lines. The caller holds mu.
func (b *blocking) append(ctx context.Context, db *core, lines []string) (p paid, more bool, err error) {
	if b.log == nil || !b.replayed {
		return p, false, errAway
	}
	owed, err := db.read().OwedBlocks(ctx, owedPerStmt)
	if err != nil {
		return p, false, fmt.Errorf("read what the log of blocks lacks: %w", err)
	}
	more = len(owed) == owedPerStmt
	all := make([]string, 0, len(owed)+len(lines))
	for _, o := range owed {
		all, p.owed = append(all, o.Line), o.ID
	}
	if all = append(all, lines...); len(all) == 0 {
		return p, false, nil
	}
	var records []sealedRecord
	var text []byte
	for i, line := range all {
		text = append(append(text, line...), '\n')
		if i == len(all)-1 || len(text)+len(all[i+1]) > recordBytes {
			records, text = append(records, sealedRecord{lines: text}), nil
		}
	}
	p.record, err = b.log.append(records)
	return p, more, err
}

// LogBlocks logs what is owed: blocks by delivery reports, which are stored
// together with them, and what was done while the log could not be written.
func (db *core) LogBlocks(ctx context.Context) error {
	db.blocking.mu.Lock()
	defer db.blocking.mu.Unlock()
	return db.logOwed(ctx)
}

// logOwed is LogBlocks for who holds the lock.
func (db *core) logOwed(ctx context.Context) error {
	for more := true; more; {
		p, further, err := db.blocking.append(ctx, db, nil)
		if errors.Is(err, errAway) || err == nil && p.record == 0 {
			return nil
		}
		if err == nil {
			err = db.update(ctx, "note what was logged", func(t *tx) error { return contactTx{t}.paid(ctx, p) })
		}
		if err != nil {
			return fmt.Errorf("log blocks: %w", err)
		}
		more = further
	}
	return nil
}

// blockSome logs and then stores.
func (db *core) blockSome(ctx context.Context, list []sms.Blocked) (added int64, err error) {
	uids, err := db.accountNames(ctx)
	if err != nil {
		return 0, err
	}
	lines := make([]string, len(list))
	for i, b := range list {
		lines[i] = blockLine(uids[b.AccountID], b, nil)
	}
	db.blocking.mu.Lock()
	defer db.blocking.mu.Unlock()
	p, _, unlogged := db.blocking.append(ctx, db, lines)
	err = db.update(ctx, "block numbers", func(t *tx) error {
		if unlogged != nil {
			err = contactTx{t}.owe(ctx, lines...)
		} else {
			err = contactTx{t}.paid(ctx, p)
		}
		for i := 0; err == nil && i < len(list); i += blockedPerStmt {
			var n int64
			n, err = contactTx{t}.block(ctx, list[i:min(len(list), i+blockedPerStmt)])
			added += n
		}
		return err
	})
	return added, err
}

func (db *core) accountNames(ctx context.Context) (map[int64]string, error) {
	uids, err := db.accountUIDs(ctx)
	names := map[int64]string{}
	for uid, id := range uids {
		names[id] = uid
	}
	return names, err
}

// endBlock stores the end of a block and then logs it. What cannot be logged is
// owed: the number may be written to again as soon as the database says so.
func (db *core) endBlock(ctx context.Context, end sms.Unblocking, take func(*tx) (query.Blocked, error)) (
	gone sms.Blocked, err error) {
	db.blocking.mu.Lock()
	defer db.blocking.mu.Unlock()
	err = db.update(ctx, "unblock number", func(t *tx) error {
		row, err := take(t)
		if err != nil {
			return err
		}
		gone = blocked(row)
		line, err := contactTx{t}.blockLine(ctx, gone, &end)
		if err != nil {
			return err
		}
		return errors.Join(contactTx{t}.keepEnded(ctx, gone, end), contactTx{t}.owe(ctx, line))
	})
	if err == nil {
		_ = db.logOwed(ctx) // the log keeps why, for Trouble
	}
	return gone, err
}

// ReplayBlocks applies what the log holds behind its cursor, once, and nothing
// while the log is not there. Those of accounts
// that this database does not know are counted; lost says in words of which
// days blocks cannot be read.
func (db *core) ReplayBlocks(ctx context.Context) (applied, strangers int, lost string, err error) {
	db.blocking.mu.Lock()
	defer db.blocking.mu.Unlock()
	l := db.blocking.log
	if l == nil || db.blocking.replayed || l.isAway() {
		return 0, 0, "", nil
	}
	cursor, err := db.cursorOr(ctx, blockCursor)
	if err != nil {
		return 0, 0, "", err
	}
	uids, err := db.accountUIDs(ctx)
	if err != nil {
		return 0, 0, "", err
	}
	gone, err := l.since(cursor, byRecord, func(record, _ int64, lines []byte) error {
		return db.update(ctx, "apply the log of blocks", func(t *tx) error {
			for text := range bytes.Lines(lines) {
				var row loggedBlock
				if err := json.Unmarshal(text, &row); err != nil {
					return err
				}
				account := uids[row.Account]
				if account == 0 {
					strangers++
					continue
				}
				applied++
				if err := (contactTx{t}).replayBlock(ctx, account, row); err != nil {
					return err
				}
			}
			return t.PutCursor(ctx, blockCursor, record)
		})
	})
	if err != nil {
		return 0, 0, "", fmt.Errorf("apply the log of blocks: %w", err)
	}
	db.blocking.replayed = true
	return applied, strangers, daysOf(gone, time.Local), db.logOwed(ctx)
}

// replayBlock applies a line. An end is of that one block only: the number may
// have been blocked again meanwhile.
func (t contactTx) replayBlock(ctx context.Context, account int64, row loggedBlock) error {
	if row.Kind == "block" {
		_, err := t.block(ctx, []sms.Blocked{{AccountID: account, Number: row.Number, Kind: sms.BlockKind(row.By),
			Note: row.Note, ByName: row.Name, Since: row.Since,
			Proof: row.Proof}})
		return err
	}
	was, err := t.DeleteLoggedBlock(ctx, query.DeleteLoggedBlockParams{AccountID: account, Number: row.Number,
		Kind: row.By, Since: row.Since})
	if errors.Is(classify(err), sms.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return t.keepEnded(ctx, blocked(was), sms.Unblocking{At: row.EndAt, Kind: sms.BlockKind(row.EndBy), Note: row.EndNote,
		ByName: row.EndName})
}
