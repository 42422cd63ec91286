package storage

import (
	"context"
	"fmt"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// Templates lists what was last read from the gateway, by name.
func (db accountStore) Templates(ctx context.Context, account int64) ([]sms.Template, error) {
	rows, err := db.read().Templates(ctx, account)
	if err != nil {
		return nil, fmt.Errorf("list templates: %w", err)
	}
	list := make([]sms.Template, len(rows))
	for i, r := range rows {
		list[i] = sms.Template{ID: r.ID, CompanyID: r.CompanyID, Name: r.Name, Text: r.Text, IsApproved: r.IsApproved,
			IsActive:    r.IsActive,
			CreatedDate: r.CreatedDate, ApprovedDate: r.ApprovedDate}
	}
	return list, nil
}

// PutTemplates replaces what is known of an account's templates. Of several
// with one id the first counts, as with sender IDs.
func (db accountStore) PutTemplates(ctx context.Context, account int64, list []sms.Template, now int64) error {
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
			err := t.InsertTemplate(ctx, query.InsertTemplateParams{AccountID: account, ID: m.ID, CompanyID: m.CompanyID,
				Name: m.Name, Text: m.Text,
				IsApproved: m.IsApproved, IsActive: m.IsActive, CreatedDate: m.CreatedDate, ApprovedDate: m.ApprovedDate})
			if err != nil {
				return err
			}
		}
		return t.RecordsRead(ctx, account, string(sms.RecordTemplates), now)
	})
}

// ChangeTemplate keeps a change of a template that the service has made.
func (db accountStore) ChangeTemplate(ctx context.Context, account, id int64, name, text string) error {
	return db.update(ctx, "change template", func(t *tx) error {
		return t.UpdateTemplate(ctx, query.UpdateTemplateParams{AccountID: account, ID: id, Name: name, Text: text})
	})
}

// DeleteTemplate takes a template out that the service has no more.
func (db accountStore) DeleteTemplate(ctx context.Context, account, id int64) error {
	return db.update(ctx, "forget template", func(t *tx) error { return t.DeleteTemplate(ctx, account, id) })
}

// TemplateDrafts lists an account's drafts, by name.
func (db accountStore) TemplateDrafts(ctx context.Context, account int64) ([]sms.TemplateDraft, error) {
	rows, err := db.read().TemplateDrafts(ctx, account)
	return foundAll(rows, err, templateDraft, "list template drafts")
}

// TemplateDraft finds a draft of an account.
func (db accountStore) TemplateDraft(ctx context.Context, account, id int64) (sms.TemplateDraft, error) {
	row, err := db.read().TemplateDraft(ctx, account, id)
	return foundOne(row, err, templateDraft, "read template draft")
}

func templateDraft(r query.TemplateDraft) sms.TemplateDraft {
	return sms.TemplateDraft{ID: r.ID, AccountID: r.AccountID, Name: r.Name, Text: r.Text, ChangedName: r.ChangedName,
		ChangedAt: r.ChangedAt}
}

// PutTemplateDraft stores a new draft (ID 0) or a change of one. ChangedAt of a
// change is when the person saw it changed last; another time is
// sms.ErrConflict. The draft comes back with the new time.
func (db accountStore) PutTemplateDraft(ctx context.Context, d sms.TemplateDraft,
	now int64) (sms.TemplateDraft, error) {
	err := db.update(ctx, "store template draft", func(t *tx) (err error) {
		if d.ID == 0 {
			d.ID, err = t.InsertTemplateDraft(ctx, query.InsertTemplateDraftParams{AccountID: d.AccountID, Name: d.Name,
				Text: d.Text, ChangedName: d.ChangedName, ChangedAt: now})
			return err
		}
		n, err := t.UpdateTemplateDraft(ctx, query.UpdateTemplateDraftParams{AccountID: d.AccountID, ID: d.ID, Name: d.Name,
			Text: d.Text, ChangedName: d.ChangedName,
			ChangedAt: max(now, d.ChangedAt+1), ChangedAt_2: d.ChangedAt})
		if err == nil && n != 1 {
			err = errUnexpected
		}
		return err
	})
	d.ChangedAt = max(now, d.ChangedAt+1)
	return d, err
}

// DeleteTemplateDraft removes a draft; one that is gone already is no error.
func (db accountStore) DeleteTemplateDraft(ctx context.Context, account, id int64) error {
	return db.update(ctx, "remove template draft", func(t *tx) error {
		_, err := t.DeleteTemplateDraft(ctx, account, id)
		return err
	})
}

// TemplateUses counts, by the id of a template, the campaigns whose text came from it.
func (db accountStore) TemplateUses(ctx context.Context, account int64) (map[int64]sms.TemplateUse, error) {
	rows, err := db.read().TemplateUses(ctx, account)
	if err != nil {
		return nil, fmt.Errorf("count uses of templates: %w", err)
	}
	uses := map[int64]sms.TemplateUse{}
	for _, r := range rows {
		uses[r.TemplateID] = sms.TemplateUse{Last: r.Last, Campaigns: r.N}
	}
	return uses, nil
}

// CampaignsOfTemplate lists the last ten campaigns whose text came from a
// template, and counts those that wait for their time.
func (db accountStore) CampaignsOfTemplate(ctx context.Context, account,
	id int64) (list []sms.Campaign, waiting int64, err error) {
	rows, err := db.read().CampaignsOfTemplate(ctx, account, id)
	if err != nil {
		return nil, 0, fmt.Errorf("list campaigns of a template: %w", err)
	}
	for _, r := range rows {
		list = append(list, campaign(r.Campaign, r.Test))
	}
	waiting, err = db.read().TemplateWaits(ctx, account, id)
	return list, waiting, wrapErr(err, "count campaigns of a template")
}

// CampaignTemplate is the template that a campaign's text came from;
// sms.ErrNotFound for own text.
func (db accountStore) CampaignTemplate(ctx context.Context, campaign int64) (sms.CampaignTemplate, error) {
	r, err := db.read().CampaignTemplate(ctx, campaign)
	if _, err := wrapNotFound(r, err, "read the campaign's template"); err != nil {
		return sms.CampaignTemplate{}, err
	}
	return sms.CampaignTemplate{CampaignID: r.CampaignID, TemplateID: r.TemplateID, Name: r.Name, Text: r.Text}, nil
}
