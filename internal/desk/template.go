package desk

import (
	"context"
	"fmt"
	"strings"

	"smsdesk/internal/sms"
)

// filled is the text of an order as everybody gets it. A mark that nothing is
// given for would reach people as it is written, so it goes into bad.
func filled(o Order, bad sms.Invalid) string {
	text, missing := sms.Fill(plain(o.Text), func(name string) (string, bool) {
		value := strings.TrimSpace(plain(o.Fixed[sms.MarkKey(name)]))
		return value, value != "" && !sms.IsStopMark(name)
	})
	for _, name := range missing {
		if sms.IsStopMark(name) {
			bad["text"] = "The link to stop messages is another one for each person. Upload the numbers as a list, or write to an audience, to use it"
			continue
		}
		bad["field:"+sms.MarkKey(name)] = fmt.Sprintf("Enter what stands in the place of ##%s## for everybody, or upload a list with a column for it", name)
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
func (d *Desk) UsableTemplate(ctx context.Context, by sms.User, account int64, name string) (sms.Template, error) {
	if err := may(by, sms.Sender, "use template"); err != nil {
		return sms.Template{}, err
	}
	t, known, err := d.knownTemplate(ctx, account, name)
	if err != nil || known && t.Usable() {
		return t, err
	}
	err = d.lookUp(ctx, "templates", account, func(ctx context.Context, g Gateway) error {
		list, err := g.Templates(ctx)
		if err != nil {
			return err
		}
		return d.store.PutTemplates(ctx, account, list, d.ms())
	})
	if err != nil {
		return t, sms.Invalid{"template": fmt.Sprintf("The template %q is not known, and the provider could not be asked. Try again", name)}
	}
	t, known, err = d.knownTemplate(ctx, account, name)
	switch {
	case err != nil:
		return t, err
	case !known:
		return t, sms.Invalid{"template": fmt.Sprintf("There is no template %q at the provider", name)}
	case !t.Usable():
		return t, sms.Invalid{"template": fmt.Sprintf("The template %q is not approved and active at the provider. Choose another", name)}
	}
	return t, nil
}

// knownTemplate prefers one that is usable where several have the name.
func (d *Desk) knownTemplate(ctx context.Context, account int64, name string) (found sms.Template, known bool, err error) {
	list, err := d.store.Templates(ctx, account)
	for _, t := range list {
		if t.Name == name && !found.Usable() {
			found, known = t, true
		}
	}
	return found, known, err
}
