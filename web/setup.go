package web

import (
	"errors"
	"net/http"

	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// setupForm is for the one person who reads the address in the terminal. An
// existing administrator closes it.
func (s *door) setupForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	staffed, err := s.HasAdministrator(r.Context())
	if err != nil {
		return err
	}
	if staffed {
		return page.Redirect(w, r, views.SetupTasksPath)
	}
	token := r.URL.Query().Get("token")
	if !s.desk.SetupOpen(token) {
		return s.setupClosed(w, r, v, token != "")
	}
	return s.Render(w, r, http.StatusOK, views.SetUp(v.BareFrame("Set up smsdesk"), views.SetUpForm{Token: token}))
}

func (s *door) setupClosed(w http.ResponseWriter, r *http.Request, v *page.Visit, tried bool) error {
	if tried {
		return s.Render(w, r, http.StatusNotFound, views.SetUpClosed(v.BareFrame("This set-up link has expired"), true))
	}
	return s.Render(w, r, http.StatusOK, views.SetUpClosed(v.BareFrame("Open the set-up link"), false))
}

func (s *door) setup(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	form := views.SetUpForm{Token: r.PostForm.Get("token"), Email: r.PostForm.Get("email"), Name: r.PostForm.Get("name")}
	password := r.PostForm.Get("password")
	u, err := s.desk.CreateFirstAdministrator(r.Context(), form.Token, form.Email, form.Name, password)
	switch {
	case errors.As(err, &form.Bad):
		f := v.BareFrame("Set up smsdesk")
		f.Error = true
		return s.Render(w, r, http.StatusUnprocessableEntity, views.SetUp(f, form))
	case errors.Is(err, sms.ErrNotFound):
		return s.setupClosed(w, r, v, true)
	case err != nil:
		return err
	}
	s.Staffed.Store(true)
	if err := s.openSession(w, r, v, u.Email, password); err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.SetupTasksPath, "setup"))
}
