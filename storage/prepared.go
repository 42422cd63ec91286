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

func (p *prepared) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, s := range p.of {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
