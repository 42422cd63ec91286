package campaign

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"smsdesk/internal/desk"
	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// saveWritten remembers what stands in the form while a person types. What
// cannot be saved must not take the preview away, so it is only logged.
func (s *drafts) saveWritten(r *http.Request, v *page.Visit) {
	if r.PostForm.Get("account") != strconv.FormatInt(v.Account.ID, 10) {
		return
	}
	form := ""
	if strings.TrimSpace(r.PostForm.Get("text")+r.PostForm.Get("numbers")) != "" {
		typed := url.Values{}
		for name, values := range r.PostForm {
			if !page.Contains(usedOnce, name) {
				typed[name] = values
			}
		}
		form = typed.Encode()
	}
	if err := s.desk.SaveWritten(r.Context(), v.User, v.Account.ID, form); err != nil && r.Context().Err() == nil {
		s.Log.Warn("what is typed is not saved", "id", page.RequestID(r.Context()), "error", err)
	}
}

// forgetWritten forgets what was typed, once it has become something else.
func (s *drafts) forgetWritten(r *http.Request, v *page.Visit) error {
	return s.desk.SaveWritten(r.Context(), v.User, v.Account.ID, "")
}

// written is what the person typed and did not go on with, nil for nothing.
func (s *drafts) written(r *http.Request, v *page.Visit) (typed url.Values, at int64, err error) {
	form, at, err := s.store.Written(r.Context(), v.User.ID, v.Account.ID)
	if errors.Is(err, sms.ErrNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	typed, err = url.ParseQuery(form)
	return typed, at, err
}

// showTyped shows the form with what was typed.
func (s *drafts) showTyped(w http.ResponseWriter, r *http.Request, v *page.Visit, typed url.Values) error {
	r.PostForm = typed
	p, err := s.composeTyped(r, v)
	if err != nil {
		return err
	}
	if p.Token == "" {
		p.Token = desk.NewToken()
	}
	read := phone.ReadAll(p.Numbers, v.Account.Country, v.Account.Abroad)
	p.Count = &read
	return s.Render(w, r, http.StatusOK, views.Compose(v.Frame("New message", "new"), p))
}
