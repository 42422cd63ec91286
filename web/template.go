package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/views"
)

func (s *Web) usableTemplates(ctx context.Context, a sms.Account) ([]sms.Template, error) {
	all, err := s.store.Templates(ctx, a.ID)
	var usable []sms.Template
	for _, t := range all {
		if t.Usable() {
			usable = append(usable, t)
		}
	}
	return usable, err
}

// fixedTexts are the texts for the marks of a text, as a form gives them.
func fixedTexts(text string, form url.Values) map[string]string {
	fixed := map[string]string{}
	for _, mark := range sms.Marks(text) {
		if value := lines(form.Get(views.MarkName(mark))); value != "" {
			fixed[sms.MarkKey(mark)] = value
		}
	}
	return fixed
}

// composeTemplate puts a template's text into the form and keeps all else that
// was typed.
func (s *Web) composeTemplate(w http.ResponseWriter, r *http.Request, v *visit) error {
	p, err := s.composeTyped(r, v)
	if err != nil {
		return err
	}
	for _, t := range p.Templates {
		if strconv.FormatInt(t.ID, 10) == p.Template {
			p.Text = lines(t.Text)
			p.Fixed = fixedTexts(p.Text, r.PostForm)
			return s.composeWith(w, r, v, p, nil)
		}
	}
	bad := sms.Invalid{"template": "Choose a template, or write your own text"}
	if p.Template != "" {
		bad["template"] = "This template cannot be used any more. Choose another, or write your own text"
	}
	return s.composeWith(w, r, v, p, bad)
}

// composeWith shows the form again. A browser that renews the form in place
// shows nothing of an answer that is an error, so the sentence at the field
// has to come with 200.
func (s *Web) composeWith(w http.ResponseWriter, r *http.Request, v *visit, p views.ComposePage, bad sms.Invalid) error {
	if len(bad) > 0 && !isFragment(r) {
		return s.composeAgain(w, r, v, p, bad)
	}
	read := sms.ReadNumbers(p.Numbers, v.account.Country, v.account.Abroad)
	p.Count, p.Errors = &read, bad
	return s.render(w, r, http.StatusOK, views.Compose(v.frame("New message", "new"), p))
}

// composeBack answers the address of a form's button when it is opened as a
// page.
func (s *Web) composeBack(w http.ResponseWriter, r *http.Request, _ *visit) error {
	redirect(w, r, views.NewPath)
	return nil
}

// records is what is kept of an account's records at the provider.
func (s *Web) records(v *visit, a sms.Account) (views.Records, error) {
	ctx := v.r.Context()
	senders, err := s.store.SenderIDs(ctx, a.ID)
	if err != nil {
		return views.Records{}, err
	}
	templates, err := s.store.Templates(ctx, a.ID)
	if err != nil {
		return views.Records{}, err
	}
	reading, err := s.store.Reading(ctx, a.ID, sms.RecordTemplates)
	if err != nil {
		return views.Records{}, err
	}
	settings, err := s.store.RecordSettings(ctx, a.ID)
	if err != nil {
		return views.Records{}, err
	}
	rec := views.Records{Creates: settings.Creates, SenderIDs: len(senders), Templates: len(templates), Failure: reading.Failure}
	at := reading.At
	for _, x := range senders {
		at = max(at, x.ReadAt)
		if x.Usable() {
			rec.UsableSenderIDs++
		}
	}
	for _, x := range templates {
		if x.Usable() {
			rec.UsableTemplates++
		}
	}
	if at > 0 {
		rec.ReadAt = v.when(at)
	}
	return rec, nil
}

const refreshTimeout = 30 * time.Second

func (s *Web) accountRefresh(w http.ResponseWriter, r *http.Request, v *visit) error {
	id, err := pathID(r, "id")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), refreshTimeout)
	defer cancel()
	switch err := s.desk.RefreshAccount(ctx, v.user, id); {
	case err == nil:
		redirect(w, r, withDone(views.AccountPath(id), "refreshed"))
	case errors.Is(err, sms.ErrNotFound) || errors.Is(err, sms.ErrForbidden):
		return err
	default:
		s.log.Warn("records not read", "id", requestID(r.Context()), "account", id, "error", err)
		redirect(w, r, views.AccountPath(id))
	}
	return nil
}
