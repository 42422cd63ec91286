package campaign

import (
	"net/http"
	"net/url"
	"strconv"

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

// Template puts a template's text into the form and keeps all else that
// was typed.
func (s *drafts) Template(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p, err := s.composeTyped(r, v)
	if err != nil {
		return err
	}
	for _, t := range p.Templates {
		if strconv.FormatInt(t.ID, 10) == p.Template {
			p.Text = page.Lines(t.Text)
			p.Fixed = fixedTexts(p.Text, r.PostForm)
			return s.composeWith(w, r, v, p, nil)
		}
	}
	bad := sms.Invalid{"template": "Choose a template, or write your own text"}
	if p.Template != "" {
		bad["template"] = "This template can no longer be used. Choose another, or write your own text"
	}
	return s.composeWith(w, r, v, p, bad)
}

// composeWith shows the form again. A browser that renews the form in place
// shows nothing of an answer that is an error, so the sentence at the field
// has to come with 200.
func (s *drafts) composeWith(w http.ResponseWriter, r *http.Request, v *page.Visit, p views.ComposePage,
	bad sms.Invalid) error {
	if len(bad) > 0 && !page.IsFragment(r) {
		return s.composeAgain(w, r, v, p, bad)
	}
	read := phone.ReadAll(p.Numbers, v.Account.Country, v.Account.Abroad)
	p.Count, p.Errors = &read, bad
	return s.Render(w, r, http.StatusOK, views.Compose(v.Frame("New message", "new"), p))
}

// Back answers the address of a form's button when it is opened as a
// page.
func (s *drafts) Back(w http.ResponseWriter, r *http.Request, _ *page.Visit) error {
	return page.Redirect(w, r, views.NewPath)
}
