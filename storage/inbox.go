package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"

	"smsdesk/internal/sms"
)

// Inbox keeps callbacks as they arrive, in a file of its own, so that a big
// import into the main database never slows a report down. A report that Keep
// has taken is on disk.
type Inbox struct {
	db    *sql.DB
	queue chan kept
}

type kept struct {
	sms.Kept
	done chan error
}

const (
	inboxQueue = 16 << 10
	inboxBatch = 1000
)

// OpenInbox opens the inbox of a data folder. cursor is where the applier
// stands: ids never start again below it, even when the file is a new one.
func OpenInbox(ctx context.Context, data string, cursor int64) (*Inbox, error) {
	db, err := sql.Open("sqlite", sqliteDSN(filepath.Join(data, "inbox.db")))
	if err != nil {
		return nil, fmt.Errorf("open the inbox: %w", err)
	}
	db.SetMaxOpenConns(2)
	if err := assertSQLite(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	for _, statement := range []string{
		`create table if not exists raw (id integer primary key autoincrement, account_id integer not null, received_at integer not null, remote text not null, query text not null)`,
		`insert into sqlite_sequence (name, seq) select 'raw', 0 where not exists (select 1 from sqlite_sequence where name = 'raw')`,
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return nil, errors.Join(fmt.Errorf("prepare the inbox: %w", err), db.Close())
		}
	}
	if _, err := db.ExecContext(ctx, `update sqlite_sequence set seq = $1 where name = 'raw' and seq < $1`, cursor); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare the inbox: %w", err), db.Close())
	}
	return &Inbox{db: db, queue: make(chan kept, inboxQueue)}, nil
}

// Close closes the file. Run must have ended.
func (in *Inbox) Close() error { return in.db.Close() }

// Keep stores a callback and returns once it is synced to disk. When ctx ends
// first it returns an error although the callback may still be stored.
func (in *Inbox) Keep(ctx context.Context, k sms.Kept) error {
	item := kept{k, make(chan error, 1)}
	select {
	case in.queue <- item:
	case <-ctx.Done():
		return fmt.Errorf("keep the report: %w", ctx.Err())
	}
	select {
	case err := <-item.done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("keep the report: %w", ctx.Err())
	}
}

// Run writes what Keep was given until ctx ends and the queue is empty. Each
// transaction takes whatever is queued: a fixed wait would only add delay.
// kept is called after each commit.
func (in *Inbox) Run(ctx context.Context, kept func()) error {
	for {
		batch := in.next(ctx)
		if batch == nil {
			return nil
		}
		err := in.write(context.WithoutCancel(ctx), batch)
		for _, item := range batch {
			item.done <- err
		}
		if err == nil {
			kept()
		}
	}
}

func (in *Inbox) next(ctx context.Context) []kept {
	var batch []kept
	select {
	case item := <-in.queue:
		batch = append(batch, item)
	case <-ctx.Done():
	}
	for len(batch) < inboxBatch {
		select {
		case item := <-in.queue:
			batch = append(batch, item)
		default:
			return batch
		}
	}
	return batch
}

func (in *Inbox) write(ctx context.Context, batch []kept) error {
	tx, err := in.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("store reports: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	insert, err := tx.PrepareContext(ctx, `insert into raw (account_id, received_at, remote, query) values ($1, $2, $3, $4)`)
	if err != nil {
		return fmt.Errorf("store reports: %w", err)
	}
	for _, k := range batch {
		if _, err := insert.ExecContext(ctx, k.AccountID, k.ReceivedAt, k.Remote, k.Query); err != nil {
			return fmt.Errorf("store reports: %w", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("store reports: %w", err)
	}
	return nil
}

// After lists what was kept behind the given id, in order.
func (in *Inbox) After(ctx context.Context, id int64, limit int) ([]sms.Kept, error) {
	rows, err := in.db.QueryContext(ctx, `select id, account_id, received_at, remote, query from raw where id > $1 order by id limit $2`, id, limit)
	if err != nil {
		return nil, fmt.Errorf("read the inbox: %w", err)
	}
	var list []sms.Kept
	for rows.Next() {
		var k sms.Kept
		if err := rows.Scan(&k.ID, &k.AccountID, &k.ReceivedAt, &k.Remote, &k.Query); err != nil {
			return nil, errors.Join(fmt.Errorf("read the inbox: %w", err), rows.Close())
		}
		list = append(list, k)
	}
	return list, errors.Join(rows.Err(), rows.Close())
}

// Trim forgets what has been applied. The ids are not used again.
func (in *Inbox) Trim(ctx context.Context, upTo int64) error {
	if _, err := in.db.ExecContext(ctx, `delete from raw where id in (select id from raw where id <= $1 order by id limit 5000)`, upTo); err != nil {
		return fmt.Errorf("trim the inbox: %w", err)
	}
	return nil
}
