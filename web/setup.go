package web

import (
	"errors"
	"net/http"

	"smsdesk/internal/sms"
	"smsdesk/views"
)

// setupForm is for the one person who reads the address in the terminal. An
// existing administrator closes it.
func (s *door) setupForm(w http.ResponseWriter, r *http.Request, v *visit) error {
	staffed, err := s.hasAdministrator(r.Context())
	if err != nil {
		return err
	}
	if staffed {
		redirect(w, r, views.SetupTasksPath)
		return nil
	}
	token := r.URL.Query().Get("token")
	if !s.desk.SetupOpen(token) {
		return s.setupClosed(w, r, v, token != "")
	}
	return s.render(w, r, http.StatusOK, views.SetUp(v.bareFrame("Set up smsdesk"), views.SetUpForm{Token: token}))
}

func (s *door) setupClosed(w http.ResponseWriter, r *http.Request, v *visit, tried bool) error {
	if tried {
		return s.render(w, r, http.StatusNotFound, views.SetUpClosed(v.bareFrame("This set-up address does not work any more"), true))
	}
	return s.render(w, r, http.StatusOK, views.SetUpClosed(v.bareFrame("Open the set-up address"), false))
}

func (s *door) setup(w http.ResponseWriter, r *http.Request, v *visit) error {
	form := views.SetUpForm{Token: r.PostForm.Get("token"), Email: r.PostForm.Get("email"), Name: r.PostForm.Get("name")}
	password := r.PostForm.Get("password")
	u, err := s.desk.CreateFirstAdministrator(r.Context(), form.Token, form.Email, form.Name, password)
	switch {
	case errors.As(err, &form.Bad):
		f := v.bareFrame("Set up smsdesk")
		f.Error = true
		return s.render(w, r, http.StatusUnprocessableEntity, views.SetUp(f, form))
	case errors.Is(err, sms.ErrNotFound):
		return s.setupClosed(w, r, v, true)
	case err != nil:
		return err
	}
	s.staffed.Store(true)
	if err := s.openSession(w, r, v, u.Email, password); err != nil {
		return err
	}
	redirect(w, r, withDone(views.SetupTasksPath, "setup"))
	return nil
}
