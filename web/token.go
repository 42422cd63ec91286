package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// tokens are the pages of API tokens.
type tokens struct {
	*page.Site
	store tokenQuestions
	desk  tokenOrders
}

// tokenQuestions are what tokens ask of the storage.
type tokenQuestions interface {
	Token(ctx context.Context, id int64) (sms.Token, error)
	Tokens(ctx context.Context, user int64) ([]sms.Token, error)
	Users(ctx context.Context) ([]sms.User, error)
}

// tokenOrders are what people do on these pages.
type tokenOrders interface {
	CreateToken(ctx context.Context, by, owner sms.User, name string) (secret string, made sms.Token, err error)
	RevokeToken(ctx context.Context, by sms.User, id int64) (sms.Token, error)
}

// tokenSlip tells a new token from whatever else this browser is shown once.
func tokenSlip(v *page.Visit) string { return "token " + v.Token() }

func (s *tokens) tokenList(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.showTokens(w, r, v, views.TokensPage{Secret: s.Slips.Take(tokenSlip(v), s.Now()),
		User: strconv.FormatInt(v.User.ID, 10)})
}

// showTokens shows a person their own tokens, and an administrator everybody's.
func (s *tokens) showTokens(w http.ResponseWriter, r *http.Request, v *page.Visit, p views.TokensPage) error {
	p.Formatter, p.Mine, p.Administers = s.Formatter(v, v.Account), v.User.ID, v.User.Role.AtLeast(sms.Administrator)
	whose := v.User.ID
	if p.Administers {
		whose = 0
		users, err := s.store.Users(r.Context())
		if err != nil {
			return err
		}
		for _, u := range users {
			if u.Active {
				p.People = append(p.People, views.Option{Value: strconv.FormatInt(u.ID, 10), Label: u.Name + ", " + u.Role.Title()})
			}
		}
	}
	var err error
	if p.Rows, err = s.store.Tokens(r.Context(), whose); err != nil {
		return err
	}
	f := v.Frame("API tokens", tokenNav(v))
	f.Error = len(p.Bad) > 0
	return s.Render(w, r, page.Status(r, p.Bad), views.Tokens(f, p))
}

// tokenNav is the item of the navigation from which this person came.
func tokenNav(v *page.Visit) string {
	if v.User.Role.AtLeast(sms.Administrator) {
		return "settings"
	}
	return "me"
}

// tokenCreate makes a token for the person, or for anybody by an administrator.
func (s *tokens) tokenCreate(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p := views.TokensPage{Name: r.PostForm.Get("name"), User: strconv.FormatInt(v.User.ID, 10)}
	owner := v.User
	if id := page.Number(r.PostForm.Get("user")); id > 0 && id != owner.ID {
		p.User = r.PostForm.Get("user")
		users, err := s.store.Users(r.Context())
		if err != nil {
			return err
		}
		owner = sms.User{}
		for _, u := range users {
			if u.ID == id {
				owner = u
			}
		}
	}
	secret, _, err := s.desk.CreateToken(r.Context(), v.User, owner, p.Name)
	if errors.As(err, &p.Bad) {
		return s.showTokens(w, r, v, p)
	}
	if err != nil {
		return err
	}
	s.Slips.Put(tokenSlip(v), secret, s.Now())
	return page.Redirect(w, r, views.TokensPath)
}

// tokenOf finds the token of an address, if this person may see it.
func (s *tokens) tokenOf(r *http.Request, v *page.Visit) (sms.Token, error) {
	id := page.PathID(r)
	t, err := s.store.Token(r.Context(), id)
	if err == nil && t.User.ID != v.User.ID && !v.User.Role.AtLeast(sms.Administrator) {
		err = sms.ErrNotFound
	}
	return t, err
}

func (s *tokens) tokenRevokeForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	t, err := s.tokenOf(r, v)
	if err != nil {
		return err
	}
	if t.RevokedAt > 0 {
		return page.Redirect(w, r, views.TokensPath)
	}
	f := v.Frame("Revoke this token?", tokenNav(v))
	f.Crumbs = []views.Link{{Text: "API tokens", Href: views.TokensPath}}
	return s.Render(w, r, http.StatusOK, views.RevokeToken(f,
		views.RevokePage{Formatter: s.Formatter(v, v.Account), Token: t}))
}

func (s *tokens) tokenRevoke(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	t, err := s.tokenOf(r, v)
	if err != nil {
		return err
	}
	if _, err := s.desk.RevokeToken(r.Context(), v.User, t.ID); err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.TokensPath, "revoked"))
}
