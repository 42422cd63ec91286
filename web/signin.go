package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5/middleware"

	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// door is where people come in and leave, and what they set for themselves.
type door struct {
	*page.Site
	desk doorOrders
}

// doorOrders are what people do on these pages.
type doorOrders interface {
	// ChooseAccount gives sms.ErrNotFound for an account that has gone.
	ChooseAccount(ctx context.Context, token string, account int64) error
	AcceptInvite(ctx context.Context, token, name, password string) (sms.User, error)
	ChangePassword(ctx context.Context, by sms.User, current, wanted, ip, agent string) (token string, err error)
	CreateFirstAdministrator(ctx context.Context, token, email, name, password string) (sms.User, error)
	OpenInvite(ctx context.Context, token string) (sms.Invite, error)
	RenameUser(ctx context.Context, by sms.User, name string) error
	SetupOpen(token string) bool
	SignIn(ctx context.Context, email, password, ip, agent string) (token string, u sms.User, err error)
	SignOut(ctx context.Context, token string) error
	SignOutEverywhere(ctx context.Context, by sms.User) error
}

// whySignIn are the sentences for a person who was signed in before.
var whySignIn = map[string]string{
	"timeout": "You were signed out after 2 hours of inactivity. Sign in to continue where you left off.",
	"ended":   "You were signed out. Sign in to continue where you left off.",
	"undone":  "You were signed out before this was done, so nothing was changed or sent. Sign in to try again.",
}

func (s *door) signinForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	next := page.LocalPath(r.URL.Query().Get("next"), "")
	if v.User.ID != 0 {
		return page.Redirect(w, r, orHome(next))
	}
	form := views.SignInForm{Next: next, Notice: whySignIn[r.URL.Query().Get("why")]}
	if u, err := url.Parse(next); form.Notice != "" && err == nil && page.Keeps(u) {
		form.Notice += " What you sent is kept for 1 hour. Nothing was changed or sent."
	}
	return s.Render(w, r, http.StatusOK, views.SignIn(v.Frame("Sign in", ""), form))
}

func orHome(next string) string {
	if next == "" {
		return "/"
	}
	return next
}

func (s *door) signin(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	form := views.SignInForm{Email: r.PostForm.Get("email"), Next: page.LocalPath(r.PostForm.Get("next"), "")}
	err := s.openSession(w, r, v, form.Email, r.PostForm.Get("password"))
	if errors.As(err, &form.Bad) {
		f := v.Frame("Sign in", "")
		f.Error = true
		return s.Render(w, r, http.StatusUnprocessableEntity, views.SignIn(f, form))
	}
	if err != nil {
		return err
	}
	return page.Redirect(w, r, orHome(form.Next))
}

// openSession signs a person in with a fresh id; the session that the browser
// had before, whoever's it was, is over. The person goes on with the account
// that was chosen in it.
func (s *door) openSession(w http.ResponseWriter, r *http.Request, v *page.Visit, email, password string) error {
	ended, ok, err := v.EndedSession()
	if err != nil {
		return err
	}
	token, u, err := s.desk.SignIn(r.Context(), email, password, middleware.GetClientIP(r.Context()), r.UserAgent())
	if err != nil {
		return err
	}
	if old := v.Token(); old != "" {
		if err := s.desk.SignOut(r.Context(), old); err != nil {
			return err
		}
	}
	if ok && ended.User.ID == u.ID && ended.AccountID != 0 {
		err := s.desk.ChooseAccount(r.Context(), token, ended.AccountID)
		if err != nil && !errors.Is(err, sms.ErrNotFound) {
			return err
		}
	}
	return v.Begin(w, token)
}

func (s *door) signout(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	if token := v.Token(); token != "" {
		if err := s.desk.SignOut(r.Context(), token); err != nil {
			return err
		}
	}
	return s.leave(w, r, v, "signedout")
}

// leave forgets the browser: nothing that a page showed stays in it.
func (s *door) leave(w http.ResponseWriter, r *http.Request, v *page.Visit, word string) error {
	if err := v.End(w); err != nil {
		return err
	}
	w.Header().Set("Clear-Site-Data", `"cache", "storage"`)
	return page.Redirect(w, r, page.WithDone(views.SignInPath, word))
}

func (s *door) inviteForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	i, err := s.desk.OpenInvite(r.Context(), r.PathValue("token"))
	if errors.Is(err, sms.ErrNotFound) {
		return s.inviteOver(w, r, v)
	}
	if err != nil {
		return err
	}
	form := views.InviteForm{Action: r.URL.Path, Email: i.Email, Role: i.Role}
	return s.Render(w, r, http.StatusOK, views.AcceptInvite(v.BareFrame(inviteTitle(i)), form))
}

func (s *door) inviteAccept(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	i, err := s.desk.OpenInvite(r.Context(), r.PathValue("token"))
	if errors.Is(err, sms.ErrNotFound) {
		return s.inviteOver(w, r, v)
	}
	if err != nil {
		return err
	}
	form := views.InviteForm{Action: r.URL.Path, Email: i.Email, Role: i.Role, Name: r.PostForm.Get("name")}
	password := r.PostForm.Get("password")
	u, err := s.desk.AcceptInvite(r.Context(), r.PathValue("token"), form.Name, password)
	if errors.As(err, &form.Bad) {
		f := v.BareFrame(inviteTitle(i))
		f.Error = true
		return s.Render(w, r, http.StatusUnprocessableEntity, views.AcceptInvite(f, form))
	}
	if errors.Is(err, sms.ErrNotFound) {
		return s.inviteOver(w, r, v)
	}
	if err != nil {
		return err
	}
	if err := s.openSession(w, r, v, u.Email, password); err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.MePath, "accepted"))
}

func inviteTitle(i sms.Invite) string {
	if i.Role == "" {
		return "Choose a new password"
	}
	return "Join smsdesk"
}

func (s *door) inviteOver(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.Render(w, r, http.StatusNotFound, views.ErrorPage(v.BareFrame(""), views.Problem{
		Status: http.StatusNotFound, Title: "This invitation has expired",
		Text: "Invitations work once and for 24 hours. Ask an administrator for a new one.",
		Link: views.Link{Text: "Sign in", Href: views.SignInPath},
	}))
}
