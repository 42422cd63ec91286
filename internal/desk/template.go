package desk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
)

// filled is the text of an order as everybody gets it. A mark that nothing is
// given for would reach people as it is written, so it goes into bad.
func filled(o Order, bad sms.Invalid) string {
	text, missing := sms.Fill(plain(o.Text), func(name string) (string, bool) {
		value := strings.TrimSpace(plain(o.Fixed[sms.PlaceholderKey(name)]))
		return value, value != "" && !sms.IsStopMark(name)
	})
	for _, name := range missing {
		if sms.IsStopMark(name) {
			bad["text"] = "Opt-out links are different for each recipient. To use one, upload a list or send to an audience"
			continue
		}
		bad["field:"+sms.PlaceholderKey(name)] = fmt.Sprintf(
			"Enter a value for ##%s##, or upload a list with a column for it", name)
	}
	return strings.TrimSpace(text)
}

// plain undoes what forms and strange programs do to a text.
func plain(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
}

// UsableTemplate finds an approved and active template of the account by its
// name. One that is not known here is looked up at the service first. The field
// of its Invalid is template.
func (d *Records) UsableTemplate(ctx context.Context, by sms.User, account int64, name string) (sms.Template, error) {
	if err := by.May(sms.Sender, "use template"); err != nil {
		return sms.Template{}, err
	}
	t, known, err := d.knownTemplate(ctx, account, name)
	if err != nil || known && t.Usable() {
		return t, err
	}
	if err = d.lookUpRecords(ctx, account, sms.RecordTemplates); err != nil {
		return t, sms.Invalid{"template": fmt.Sprintf("We could not check the template %q with the provider. Try again",
			name)}
	}
	t, known, err = d.knownTemplate(ctx, account, name)
	switch {
	case err != nil:
		return t, err
	case !known:
		return t, sms.Invalid{"template": fmt.Sprintf("There is no template %q at the provider", name)}
	case !t.Usable():
		return t, sms.Invalid{"template": fmt.Sprintf("The template %q is not approved and active. Choose another", name)}
	}
	return t, nil
}

// knownTemplate prefers one that is usable where several have the name.
func (d *Records) knownTemplate(ctx context.Context, account int64,
	name string) (found sms.Template, known bool, err error) {
	list, err := d.store.Templates(ctx, account)
	for _, t := range list {
		if t.Name == name && !found.Usable() {
			found, known = t, true
		}
	}
	return found, known, err
}

// templateText writes name and text of a template the way they are sent, and
// says what is wrong with them in the fields name and text.
func templateText(name, text string) (string, string, sms.Invalid) {
	bad := sms.Invalid{}
	name, text = sms.TidyName(name), strings.TrimSpace(plain(text))
	if sentence := sms.NameProblem("template", name); sentence != "" {
		bad["name"] = sentence
	}
	if text == "" {
		bad["text"] = "Enter the text of the template"
	} else if len([]rune(text)) > maxTemplate {
		bad["text"] = fmt.Sprintf("Text must be %d characters or fewer", maxTemplate)
	}
	return name, text, bad
}

// maxTemplate is the most characters of a template's text; the service's own
// limit is not shown.
const maxTemplate = 2000

// template finds a template of an account as it was last read.
func (d *Records) template(ctx context.Context, account, id int64) (sms.Template, error) {
	list, err := d.store.Templates(ctx, account)
	return recordOf("template", id, list, err, func(x sms.Template) int64 { return x.ID })
}

// UpdateTemplate changes name and text of a template at the service (§4.5).
// seen is the template as the person saw it: when somebody else has changed it
// since, nothing is done and the field of the Invalid is changed. Other fields
// are name, text and provider. It returns the service's own words.
func (d *Records) UpdateTemplate(ctx context.Context, by sms.User, account int64, seen sms.Template, name,
	text string) (said string, err error) {
	if err := by.May(sms.Manager, "update template"); err != nil {
		return "", err
	}
	name, text, bad := templateText(name, text)
	if err := bad.Or(); err != nil {
		return "", err
	}
	is := func(name, text string) func(ctx context.Context) (bool, error) {
		return func(ctx context.Context) (bool, error) {
			now, err := d.template(ctx, account, seen.ID)
			return now.Name == name && plain(now.Text) == text, err
		}
	}
	return d.updateAtProvider(ctx, by, recordChange{kind: sms.RecordTemplates, account: account, action: "template.update",
		detail: name,
		check: func(ctx context.Context) error {
			same, err := is(seen.Name, plain(seen.Text))(ctx)
			if err == nil && !same {
				err = sms.Invalid{"changed": "Someone else changed this template while you had it open. Check the current version, then save again"}
			}
			return err
		},
		call: func(ctx context.Context, g Gateway) (string, error) {
			return g.UpdateTemplate(ctx, seen.ID, name, text)
		},
		keep:   func(ctx context.Context) error { return d.store.ChangeTemplate(ctx, account, seen.ID, name, text) },
		forget: func(ctx context.Context) error { return d.store.DeleteTemplate(ctx, account, seen.ID) },
		shows:  is(name, text)})
}

// DeleteTemplate deletes a template at the service for good (§4.5). Campaigns
// keep the text that they took from it.
func (d *Records) DeleteTemplate(ctx context.Context, by sms.User, account, id int64) (said string, err error) {
	if err := by.May(sms.Manager, "delete template"); err != nil {
		return "", err
	}
	t, err := d.template(ctx, account, id)
	if err != nil {
		return "", err
	}
	forget := func(ctx context.Context) error { return d.store.DeleteTemplate(ctx, account, id) }
	return d.updateAtProvider(ctx, by, recordChange{kind: sms.RecordTemplates, account: account, action: "template.delete",
		detail: t.Name,
		call:   func(ctx context.Context, g Gateway) (string, error) { return g.DeleteTemplate(ctx, id) },
		keep:   forget, forget: forget,
		shows: func(ctx context.Context) (bool, error) { return isGone(d.template(ctx, account, id)) }})
}

// isGone turns the error of a search into what it says.
func isGone(_ any, err error) (bool, error) {
	if errors.Is(err, sms.ErrNotFound) {
		return true, nil
	}
	return false, err
}

// SaveTemplateDraft keeps a text here, until somebody makes a template of it at
// the provider. ID 0 is a new draft; ChangedAt is when the person saw it
// changed last. The fields of its Invalid are name and text.
func (d *Records) SaveTemplateDraft(ctx context.Context, by sms.User,
	draft sms.TemplateDraft) (sms.TemplateDraft, error) {
	if err := by.May(sms.Sender, "save template draft"); err != nil {
		return draft, err
	}
	var bad sms.Invalid
	if draft.Name, draft.Text, bad = templateText(draft.Name, draft.Text); len(bad) > 0 {
		return draft, bad
	}
	draft.ChangedName = by.Name
	kept, err := d.store.PutTemplateDraft(ctx, draft, d.ms())
	if err == nil {
		d.feed.Publish(feed.Records(draft.AccountID))
	}
	return kept, err
}

// DeleteTemplateDraft removes a draft that is kept here.
func (d *Records) DeleteTemplateDraft(ctx context.Context, by sms.User, account, id int64) error {
	if err := by.May(sms.Sender, "delete template draft"); err != nil {
		return err
	}
	draft, err := d.store.TemplateDraft(ctx, account, id)
	if err != nil {
		return err
	}
	if err := d.store.DeleteTemplateDraft(ctx, account, id); err != nil {
		return err
	}
	d.audit(ctx, by, "template.draft_delete", feed.Account(account), draft.Name)
	d.feed.Publish(feed.Records(account))
	return nil
}

// creates refuses what the account's settings do not allow.
func (d *Records) creates(ctx context.Context, account int64) error {
	s, err := d.store.RecordSettings(ctx, account)
	if err == nil && !s.Creates {
		err = sms.Invalid{"provider": "Create templates and sender IDs in the provider dashboard. An administrator can " +
			"turn this on here in the account's settings"}
	}
	return err
}

// CreateTemplate makes a template of a draft at the service, by a call that the
// specification does not show (§4.9); the account's settings must allow it. The
// draft goes when it worked.
func (d *Records) CreateTemplate(ctx context.Context, by sms.User, account, draft int64) (said string, err error) {
	if err := by.May(sms.Manager, "create template"); err != nil {
		return "", err
	}
	from, err := d.store.TemplateDraft(ctx, account, draft)
	if err != nil {
		return "", err
	}
	return d.updateAtProvider(ctx, by, recordChange{kind: sms.RecordTemplates, account: account, action: "template.create",
		detail: from.Name,
		check:  func(ctx context.Context) error { return d.creates(ctx, account) },
		call: func(ctx context.Context, g Gateway) (string, error) {
			return g.CreateTemplate(ctx, from.Name, from.Text)
		},
		keep: func(ctx context.Context) error { return d.store.DeleteTemplateDraft(ctx, account, draft) },
		shows: func(ctx context.Context) (bool, error) {
			list, err := d.store.Templates(ctx, account)
			return slices.ContainsFunc(list, func(t sms.Template) bool {
				return t.Name == from.Name && plain(t.Text) == from.Text
			}), err
		}})
}
