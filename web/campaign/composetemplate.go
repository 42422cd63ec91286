package campaign

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// fixedTexts are the texts for the marks of a text, as a form gives them.
func fixedTexts(text string, form url.Values) map[string]string {
	fixed := map[string]string{}
	for _, mark := range sms.Placeholders(text) {
		if value := page.Lines(form.Get(views.MarkName(mark))); value != "" {
			fixed[sms.PlaceholderKey(mark)] = value
		}
	}
	return fixed
}

// Template does what the editor's buttons ask for, and keeps all else that was
// typed: a template's text, the person's own text again, standard characters.
func (s *drafts) Template(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p, err := s.composeTyped(r, v)
	if err != nil {
		return err
	}
	switch r.PostForm.Get("do") {
	case "plain":
		p.Text, _ = inStandard(p.Text)
		return s.composeWith(w, r, v, p, nil)
	case "own":
		p.Template = ""
	}
	problem := applyTemplate(p.Templates, &p.Template, &p.TemplateIn, &p.Own, &p.Text)
	p.Fixed = fixedTexts(p.Text, r.PostForm)
	return s.composeWith(w, r, v, p, templateProblem(problem))
}

// applyTemplate puts the text of the chosen template into the message, or the
// person's own text again, which is kept meanwhile. problem says why it cannot.
func applyTemplate(templates []sms.Template, chosen, in, own, text *string) (problem string) {
	if *chosen == "" {
		if *in != "" && *own != "" {
			*text = *own
		}
		*in, *own = "", ""
		return ""
	}
	for _, t := range templates {
		if strconv.FormatInt(t.ID, 10) == *chosen {
			if *in == "" {
				*own = *text
			}
			*in, *text = *chosen, page.Lines(t.Text)
			return ""
		}
	}
	*chosen = *in
	return "This template can no longer be used. Choose another, or write your own text"
}

// applyWhereBlank puts the chosen template into a message in which nothing was
// written: what is read before it is sent can only be its text.
func applyWhereBlank(templates []sms.Template, chosen, in, own, text *string) (applied bool) {
	return *chosen != "" && *in == "" && strings.TrimSpace(*text) == "" &&
		applyTemplate(templates, chosen, in, own, text) == ""
}

// notApplied is what is said where a template was chosen and its text was not
// in the message when it was to be checked: what is confirmed is what was seen.
func notApplied(templates []sms.Template, chosen, in, own, text *string) sms.Invalid {
	problem := applyTemplate(templates, chosen, in, own, text)
	if problem == "" {
		problem = "The text you chose was not in the message yet. It is now: read it, then continue"
	}
	return templateProblem(problem)
}

func templateProblem(sentence string) sms.Invalid {
	if sentence == "" {
		return nil
	}
	return sms.Invalid{"template": sentence}
}

// composeWith shows the form again. A browser that renews the form in place
// shows nothing of an answer that is an error, so the sentence at the field
// has to come with 200.
func (s *drafts) composeWith(w http.ResponseWriter, r *http.Request, v *page.Visit, p views.ComposePage,
	bad sms.Invalid) error {
	if len(bad) > 0 && !page.IsFragment(r) {
		return s.composeAgain(w, r, v, p, bad)
	}
	_, p.Plain = inStandard(p.Text)
	p.NoAddress = s.noAddress(v, v.Account, p.Text)
	read := phone.ReadAll(p.Numbers, v.Account.Country, v.Account.Abroad)
	p.Count, p.Errors = &read, bad
	return s.Render(w, r, http.StatusOK, views.Compose(v.Frame("New message", "new"), p))
}

// Back answers the address of a form's button when it is opened as a
// page.
func (s *drafts) Back(w http.ResponseWriter, r *http.Request, _ *page.Visit) error {
	return page.Redirect(w, r, views.NewPath)
}

// usedOnce are the fields of a form that belong to one page and not to the
// message.
var usedOnce = []string{"token", "version", "account", "replaces", "file", "do", "audience", "group_to", "join"}

// keepTyped keeps a form and leads to the page that shows it again.
func (s *base) keepTyped(w http.ResponseWriter, r *http.Request, v *page.Visit, to string) error {
	for _, once := range usedOnce {
		r.PostForm.Del(once)
	}
	return page.Redirect(w, r, s.KeepTyped(v, to, r.PostForm))
}

// toList keeps a form for the page of a list's message, which shows it when it
// is opened again as well.
func (s *base) toList(w http.ResponseWriter, r *http.Request, v *page.Visit, save writtenOrders, l sms.List,
	to string) error {
	s.saveForm(r, v, save, v.Account.ID, ofList(l))
	return s.keepTyped(w, r, v, to)
}

// ToGroup takes a group for who gets the message; what was typed stays.
func (s *drafts) ToGroup(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	r.PostForm.Set("group", r.PostForm.Get("group_to"))
	return s.keepTyped(w, r, v, views.NewPath)
}

// Without takes back who was chosen; what was typed stays, and what was set aside
// for a group is there again.
func (s *drafts) Without(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	group, l := r.PostForm.Get("group"), sms.List{}
	r.PostForm.Del("group")
	if uid := r.PostForm.Get("list"); group != "" && uid != "" {
		var err error
		if l, err = s.asideList(r, v, uid); err != nil {
			return err
		}
	}
	r.PostForm.Del("list")
	if l.UID != "" {
		return s.toList(w, r, v, s.desk, l, views.ListPath(l.UID, "/message"))
	}
	return s.keepTyped(w, r, v, views.NewPath)
}

// asideList is the person's own list that was set aside for a group; the zero
// value where it is not there any more.
func (s *drafts) asideList(r *http.Request, v *page.Visit, uid string) (sms.List, error) {
	l, err := s.store.List(r.Context(), uid)
	if errors.Is(err, sms.ErrNotFound) || err == nil && (l.CreatedBy != v.User.ID || l.AccountID != v.Account.ID) {
		return sms.List{}, nil
	}
	return l, err
}

// ToAudience makes a list of an audience's people and goes on with it; what was
// typed stays.
func (s *drafts) ToAudience(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	l, err := s.lists.ListAudience(r.Context(), v.User, v.Account.ID, page.Number(r.PostForm.Get("audience")),
		r.PostForm.Get("token"))
	if bad, ok := errors.AsType[sms.Invalid](err); ok {
		p, err := s.composeTyped(r, v)
		if err != nil {
			return err
		}
		p.Way = views.WayAudience
		return s.composeAgain(w, r, v, p, bad)
	}
	if err != nil {
		return err
	}
	if err := s.forgetWritten(r, v); err != nil {
		return err
	}
	return s.toList(w, r, v, s.desk, l, views.ListNext(l))
}
