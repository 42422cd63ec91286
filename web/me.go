package web

import (
	"errors"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5/middleware"
	"github.com/gorilla/sessions"

	"smsdesk/internal/sms"
	"smsdesk/views"
)

func (s *door) me(w http.ResponseWriter, r *http.Request, v *visit) error {
	return s.showMe(w, r, v, nil)
}

func (s *door) showMe(w http.ResponseWriter, r *http.Request, v *visit, bad sms.Invalid) error {
	f := v.frame("My account", "me")
	f.Error = len(bad) > 0
	if f.Error {
		f.Path = views.MePath
	}
	name := v.user.Name
	if r.PostForm.Has("name") {
		name = r.PostForm.Get("name")
	}
	p := views.MePage{Name: name, Email: v.user.Email, Role: v.user.Role.Title(), SignedIn: v.when(v.since), Bad: bad}
	return s.render(w, r, status(r, bad), views.Me(f, p))
}

func (s *door) meName(w http.ResponseWriter, r *http.Request, v *visit) error {
	var bad sms.Invalid
	err := s.desk.RenameUser(r.Context(), v.user, r.PostForm.Get("name"))
	if errors.As(err, &bad) {
		return s.showMe(w, r, v, bad)
	}
	if err != nil {
		return err
	}
	redirect(w, r, withDone(views.MePath, "saved"))
	return nil
}

func (s *door) mePassword(w http.ResponseWriter, r *http.Request, v *visit) error {
	var bad sms.Invalid
	token, err := s.desk.ChangePassword(r.Context(), v.user, r.PostForm.Get("current"), r.PostForm.Get("password"),
		middleware.GetClientIP(r.Context()), r.UserAgent())
	if errors.As(err, &bad) {
		return s.showMe(w, r, v, bad)
	}
	if err != nil {
		return err
	}
	if err := v.begin(w, token); err != nil {
		return err
	}
	redirect(w, r, withDone(views.MePath, "password"))
	return nil
}

func (s *door) meSignOutEverywhere(w http.ResponseWriter, r *http.Request, v *visit) error {
	if err := s.desk.SignOutEverywhere(r.Context(), v.user); err != nil {
		return err
	}
	return s.leave(w, r, v, "everywhere")
}

const themeLife = 365 * 24 * time.Hour

// The colours belong to a screen and not to a person, so the browser keeps
// them; they also hold before the sign-in.
func (s *door) themeChoose(w http.ResponseWriter, r *http.Request, _ *visit) error {
	theme := r.PostForm.Get("theme")
	options := s.sessions.options
	options.MaxAge = int(themeLife / time.Second)
	if theme != "light" && theme != "dark" {
		theme, options.MaxAge = "", -1
	}
	http.SetCookie(w, sessions.NewCookie(cookieName("theme", s.secure), theme, &options))
	redirect(w, r, localPath(r.PostForm.Get("next"), "/"))
	return nil
}

func (v *visit) theme() string {
	c, err := v.r.Cookie(cookieName("theme", v.site.secure))
	if err == nil && (c.Value == "light" || c.Value == "dark") {
		return c.Value
	}
	return ""
}
