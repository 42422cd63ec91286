package storage

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// stmtCache asks the questions whose text never changes: to read a statement
// takes the engine longer than to answer most of them. Each is prepared once,
// when it is first asked.
type stmtCache struct {
	db    *sql.DB
	mu    sync.Mutex
	stmts map[string]*sql.Stmt
}

func newStmtCache(db *sql.DB) *stmtCache { return &stmtCache{db: db, stmts: map[string]*sql.Stmt{}} }

// statement returns nil where the text cannot be prepared: to ask it then says why.
func (p *stmtCache) statement(ctx context.Context, text string) *sql.Stmt {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stmts[text]
	if s == nil {
		var err error
		if s, err = p.db.PrepareContext(ctx, text); err != nil {
			return nil
		}
		p.stmts[text] = s
	}
	return s
}

// PrepareContext, ExecContext, QueryContext and QueryRowContext are those of
// the database.
func (p *stmtCache) PrepareContext(ctx context.Context, text string) (*sql.Stmt, error) {
	return p.db.PrepareContext(ctx, text)
}

func (p *stmtCache) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	return p.db.ExecContext(ctx, text, args...)
}

func (p *stmtCache) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if s := p.statement(ctx, text); s != nil {
		return s.QueryContext(ctx, args...)
	}
	return p.db.QueryContext(ctx, text, args...)
}

func (p *stmtCache) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	if s := p.statement(ctx, text); s != nil {
		return s.QueryRowContext(ctx, args...)
	}
	return p.db.QueryRowContext(ctx, text, args...)
}

// cached returns nil where a statement is not prepared yet.
func (p *stmtCache) cached(text string) *sql.Stmt {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stmts[text]
}

// prepareAll prepares statements outside of every transaction: one that is prepared
// in a transaction ends with it. It may wait for the connection, and whoever
// has that may ask for what is known. What cannot be prepared stays unknown.
func (p *stmtCache) prepareAll(ctx context.Context, texts map[string]bool) {
	for text := range texts {
		if p.cached(text) != nil {
			continue
		}
		s, err := p.db.PrepareContext(ctx, text)
		if err != nil {
			return
		}
		p.mu.Lock()
		if p.stmts[text] == nil {
			p.stmts[text], s = s, nil
		}
		p.mu.Unlock()
		if s != nil {
			_ = s.Close()
		}
	}
}

// txStmts is the statements of one transaction: those that are known are
// prepared, the others are to be learned when it has ended.
type txStmts struct {
	*sql.Tx
	cache   *stmtCache
	missing map[string]bool
}

func (t *txStmts) statement(ctx context.Context, text string) *sql.Stmt {
	s := t.cache.cached(text)
	if s == nil {
		t.missing[text] = true
		return nil
	}
	return t.StmtContext(ctx, s)
}

// ExecContext, QueryContext and QueryRowContext are those of the transaction.
func (t *txStmts) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	if s := t.statement(ctx, text); s != nil {
		return s.ExecContext(ctx, args...)
	}
	return t.Tx.ExecContext(ctx, text, args...)
}

func (t *txStmts) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if s := t.statement(ctx, text); s != nil {
		return s.QueryContext(ctx, args...)
	}
	return t.Tx.QueryContext(ctx, text, args...)
}

func (t *txStmts) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	if s := t.statement(ctx, text); s != nil {
		return s.QueryRowContext(ctx, args...)
	}
	return t.Tx.QueryRowContext(ctx, text, args...)
}

func (p *stmtCache) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, s := range p.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
