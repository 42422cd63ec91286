package web

import (
	"context"
	"errors"
	"net/http"

	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// staff are the pages of the team.
type staff struct {
	*page.Site
	store staffQuestions
	desk  staffOrders
}

// staffQuestions are what staff ask of the storage.
type staffQuestions interface {
	Invites(ctx context.Context, now int64) ([]sms.Invite, error)
	Users(ctx context.Context) ([]sms.User, error)
}

// staffOrders are what people do on these pages.
type staffOrders interface {
	Invite(ctx context.Context, by sms.User, email string, role sms.Role) (token string, err error)
	InviteAgain(ctx context.Context, by, who sms.User) (token string, err error)
	SaveUser(ctx context.Context, by sms.User, id int64, role sms.Role, active bool) (sms.User, error)
}

func (s *staff) userList(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.showTeam(w, r, v, views.TeamPage{Link: s.Slips.Take(v.Token(), s.Now())})
}

func (s *staff) showTeam(w http.ResponseWriter, r *http.Request, v *page.Visit, p views.TeamPage) error {
	users, err := s.store.Users(r.Context())
	if err != nil {
		return err
	}
	invites, err := s.store.Invites(r.Context(), s.Now().UnixMilli())
	if err != nil {
		return err
	}
	administrators := 0
	for _, u := range users {
		row := views.TeamRow{Href: views.UserPath(u.ID), Name: u.Name, Email: u.Email, Role: u.Role.Title(), Active: u.Active,
			Me: u.ID == v.User.ID}
		p.People = append(p.People, row)
		if u.Active && u.Role == sms.Administrator {
			administrators++
		}
	}
	p.OnlyOne = administrators < 2
	for _, i := range invites {
		if i.Role == "" {
			continue
		}
		p.Invited = append(p.Invited, views.InvitedRow{Email: i.Email, Role: i.Role.Title(), Until: v.When(i.ExpiresAt)})
	}
	f := v.Frame("Team", "settings")
	f.Error = len(p.Bad) > 0
	return s.Render(w, r, page.Status(r, p.Bad), views.Team(f, p))
}

func (s *staff) userInvite(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p := views.TeamPage{Email: r.PostForm.Get("email"), Role: r.PostForm.Get("role")}
	token, err := s.desk.Invite(r.Context(), v.User, p.Email, sms.Role(p.Role))
	if errors.As(err, &p.Bad) {
		return s.showTeam(w, r, v, p)
	}
	if err != nil {
		return err
	}
	s.showOnce(w, r, v, token)
	return nil
}

// showOnce puts the invitation's address on the next page of the team.
func (s *staff) showOnce(w http.ResponseWriter, r *http.Request, v *page.Visit, token string) {
	s.Slips.Put(v.Token(), s.PublicURL+"/invite/"+token, s.Now())
	page.Redirect(w, r, views.TeamPath)
}

func (s *staff) person(r *http.Request) (sms.User, error) {
	id := page.PathID(r)
	users, err := s.store.Users(r.Context())
	if err != nil {
		return sms.User{}, err
	}
	for _, u := range users {
		if u.ID == id {
			return u, nil
		}
	}
	return sms.User{}, sms.ErrNotFound
}

func (s *staff) userForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	u, err := s.person(r)
	if err != nil {
		return err
	}
	return s.showPerson(w, r, v, u, nil)
}

func (s *staff) showPerson(w http.ResponseWriter, r *http.Request, v *page.Visit, u sms.User, bad sms.Invalid) error {
	f := v.Frame(u.Name, "settings")
	f.Crumbs = []views.Link{{Text: "Team", Href: views.TeamPath}, {Text: u.Name}}
	f.Error = len(bad) > 0
	return s.Render(w, r, page.Status(r, bad), views.Person(f,
		views.PersonPage{Action: views.UserPath(u.ID), User: u, Me: u.ID == v.User.ID, Bad: bad}))
}

// userSave changes the role or whether the person may sign in, or makes an
// address to choose a new password at; each form of the page sends one of them.
func (s *staff) userSave(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	u, err := s.person(r)
	if err != nil {
		return err
	}
	role, active := u.Role, u.Active
	switch r.PostForm.Get("do") {
	case "role":
		role = sms.Role(r.PostForm.Get("role"))
	case "deactivate":
		active = false
	case "activate":
		active = true
	case "password":
		token, err := s.desk.InviteAgain(r.Context(), v.User, u)
		if err != nil {
			return err
		}
		s.showOnce(w, r, v, token)
		return nil
	default:
		return page.ErrUnreadable
	}
	_, err = s.desk.SaveUser(r.Context(), v.User, u.ID, role, active)
	if bad, ok := errors.AsType[sms.Invalid](err); ok {
		return s.showPerson(w, r, v, u, bad)
	}
	if err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.TeamPath, "rights"))
}
