package storage

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// prepared asks the questions whose text never changes: to read a statement
// takes the engine longer than to answer most of them. Each is prepared once,
// when it is first asked.
type prepared struct {
	db *sql.DB
	mu sync.Mutex
	of map[string]*sql.Stmt
}

func newPrepared(db *sql.DB) *prepared { return &prepared{db: db, of: map[string]*sql.Stmt{}} }

// statement returns nil where the text cannot be prepared: to ask it then says why.
func (p *prepared) statement(ctx context.Context, text string) *sql.Stmt {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.of[text]
	if s == nil {
		var err error
		if s, err = p.db.PrepareContext(ctx, text); err != nil {
			return nil
		}
		p.of[text] = s
	}
	return s
}

// PrepareContext, ExecContext, QueryContext and QueryRowContext are those of
// the database.
func (p *prepared) PrepareContext(ctx context.Context, text string) (*sql.Stmt, error) {
	return p.db.PrepareContext(ctx, text)
}

func (p *prepared) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	return p.db.ExecContext(ctx, text, args...)
}

func (p *prepared) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if s := p.statement(ctx, text); s != nil {
		return s.QueryContext(ctx, args...)
	}
	return p.db.QueryContext(ctx, text, args...)
}

func (p *prepared) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	if s := p.statement(ctx, text); s != nil {
		return s.QueryRowContext(ctx, args...)
	}
	return p.db.QueryRowContext(ctx, text, args...)
}

// known returns nil where a statement is not prepared yet.
func (p *prepared) known(text string) *sql.Stmt {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.of[text]
}

// learn prepares statements outside of every transaction: one that is prepared
// in a transaction ends with it. It may wait for the connection, and whoever
// has that may ask for what is known. What cannot be prepared stays unknown.
func (p *prepared) learn(ctx context.Context, texts map[string]bool) {
	for text := range texts {
		if p.known(text) != nil {
			continue
		}
		s, err := p.db.PrepareContext(ctx, text)
		if err != nil {
			return
		}
		p.mu.Lock()
		if p.of[text] == nil {
			p.of[text], s = s, nil
		}
		p.mu.Unlock()
		if s != nil {
			_ = s.Close()
		}
	}
}

// telling is the statements of one transaction: those that are known are
// prepared, the others are to be learned when it has ended.
type telling struct {
	*sql.Tx
	prepared *prepared
	unknown  map[string]bool
}

func (t *telling) statement(ctx context.Context, text string) *sql.Stmt {
	s := t.prepared.known(text)
	if s == nil {
		t.unknown[text] = true
		return nil
	}
	return t.StmtContext(ctx, s)
}

// ExecContext, QueryContext and QueryRowContext are those of the transaction.
func (t *telling) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	if s := t.statement(ctx, text); s != nil {
		return s.ExecContext(ctx, args...)
	}
	return t.Tx.ExecContext(ctx, text, args...)
}

func (t *telling) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if s := t.statement(ctx, text); s != nil {
		return s.QueryContext(ctx, args...)
	}
	return t.Tx.QueryContext(ctx, text, args...)
}

func (t *telling) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	if s := t.statement(ctx, text); s != nil {
		return s.QueryRowContext(ctx, args...)
	}
	return t.Tx.QueryRowContext(ctx, text, args...)
}

func (p *prepared) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, s := range p.of {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
