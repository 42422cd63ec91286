package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// Templates lists what was last read from the gateway, by name.
func (db *DB) Templates(ctx context.Context, account int64) ([]sms.Template, error) {
	rows, err := db.read().Templates(ctx, account)
	if err != nil {
		return nil, fmt.Errorf("list templates: %w", err)
	}
	list := make([]sms.Template, len(rows))
	for i, r := range rows {
		list[i] = sms.Template{ID: r.ID, CompanyID: r.CompanyID, Name: r.Name, Text: r.Text, IsApproved: r.IsApproved, IsActive: r.IsActive,
			CreatedDate: r.CreatedDate, ApprovedDate: r.ApprovedDate}
	}
	return list, nil
}

// TemplateReading is when an account's templates were read, and what went
// wrong since; zero for an account whose templates were never asked for.
func (db *DB) TemplateReading(ctx context.Context, account int64) (sms.TemplateReading, error) {
	row, err := db.read().TemplateReading(ctx, account)
	if errors.Is(err, sql.ErrNoRows) {
		return sms.TemplateReading{}, nil
	}
	if err != nil {
		return sms.TemplateReading{}, fmt.Errorf("read the time of the templates: %w", err)
	}
	return sms.TemplateReading{At: row.ReadAt, Failure: row.Failure}, nil
}

// PutTemplates replaces what is known of an account's templates. Of several
// with one id the first counts, as with sender IDs.
func (db *DB) PutTemplates(ctx context.Context, account int64, list []sms.Template, now int64) error {
	return db.update(ctx, "store templates", func(t *tx) error {
		if err := t.DeleteTemplates(ctx, account); err != nil {
			return err
		}
		known := map[int64]bool{}
		for _, m := range list {
			if known[m.ID] {
				continue
			}
			known[m.ID] = true
			err := t.InsertTemplate(ctx, query.InsertTemplateParams{AccountID: account, ID: m.ID, CompanyID: m.CompanyID, Name: m.Name, Text: m.Text,
				IsApproved: m.IsApproved, IsActive: m.IsActive, CreatedDate: m.CreatedDate, ApprovedDate: m.ApprovedDate})
			if err != nil {
				return err
			}
		}
		return t.TemplatesRead(ctx, account, now)
	})
}

// MarkTemplates keeps why the templates could not be read. The list as it was
// last read stays.
func (db *DB) MarkTemplates(ctx context.Context, account int64, failure string) error {
	return db.update(ctx, "mark templates", func(t *tx) error { return t.TemplatesFailed(ctx, account, failure) })
}
