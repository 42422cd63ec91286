package web

import (
	"errors"
	"net/http"

	"github.com/go-chi/chi/v5/middleware"

	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

func (s *door) showMe(w http.ResponseWriter, r *http.Request, v *page.Visit, bad sms.Invalid) error {
	f := v.Frame("Your profile", "me")
	f.Error = len(bad) > 0
	if f.Error {
		f.Path = views.MePath
	}
	name := v.User.Name
	if r.PostForm.Has("name") {
		name = r.PostForm.Get("name")
	}
	p := views.MePage{Name: name, Email: v.User.Email, Role: v.User.Role.Title(), SignedIn: v.When(v.Since), Bad: bad}
	return s.Render(w, r, page.Status(r, bad), views.Me(f, p))
}

func (s *door) meName(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	err := s.desk.RenameUser(r.Context(), v.User, r.PostForm.Get("name"))
	return page.Form(s.showMe).Done(w, r, v, err, page.WithDone(views.MePath, "saved"))
}

func (s *door) mePassword(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	token, err := s.desk.ChangePassword(r.Context(), v.User, r.PostForm.Get("current"), r.PostForm.Get("password"),
		middleware.GetClientIP(r.Context()), r.UserAgent())
	if bad, ok := errors.AsType[sms.Invalid](err); ok {
		return s.showMe(w, r, v, bad)
	}
	if err != nil {
		return err
	}
	if err := v.Begin(w, token); err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.MePath, "password"))
}

func (s *door) meSignOutEverywhere(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	if err := s.desk.SignOutEverywhere(r.Context(), v.User); err != nil {
		return err
	}
	return s.leave(w, r, v, "everywhere")
}

// The colours belong to a screen and not to a person, so the browser keeps
// them; they also hold before the sign-in.
func (s *door) themeChoose(w http.ResponseWriter, r *http.Request, _ *page.Visit) error {
	s.SetTheme(w, r.PostForm.Get("theme"))
	return page.Redirect(w, r, page.LocalPath(r.PostForm.Get("next"), "/"))
}

// keysChoose turns single keys on or off, for who dictates or rests a hand on
// the keyboard (WCAG 2.2, 2.1.4).
func (s *door) keysChoose(w http.ResponseWriter, r *http.Request, _ *page.Visit) error {
	s.SetKeys(w, r.PostForm.Get("keys") == "on")
	return page.Redirect(w, r, page.WithDone(views.MePath, "saved"))
}
