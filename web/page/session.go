package page

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/gorilla/sessions"

	"smsdesk/internal/sms"
	"smsdesk/views"
)

// sessionStore is a sessions.Store whose cookie carries a random id and nothing
// else; who is signed in stands in the storage under the id's SHA-256 and is
// read afresh for every request.
type sessionStore struct {
	desk    Orders
	name    string
	options sessions.Options
}

// The library's own defaults (no SameSite, no HttpOnly, 30 days) are all
// overridden. Without a Max-Age the cookie ends with the browser; the hours a
// session lives are counted on our side.
func newSessionStore(d Orders, secure bool) *sessionStore {
	return &sessionStore{
		desk: d, name: cookieName("smsdesk", secure),
		options: sessions.Options{Path: "/", HttpOnly: true, Secure: secure, SameSite: http.SameSiteLaxMode},
	}
}

// cookieName is a cookie's name; over https it binds the cookie to this host.
func cookieName(name string, secure bool) string {
	if secure {
		return "__Host-" + name
	}
	return name
}

const (
	sessionIDLength = 64
	sessionKey      = "session"
)

// Get is New: a request asks once.
func (s *sessionStore) Get(r *http.Request, name string) (*sessions.Session, error) {
	return s.New(r, name)
}

// New returns the session that the request's cookie leads to, or a new one. An
// sms.ErrNotFound means that the cookie leads nowhere any more.
func (s *sessionStore) New(r *http.Request, name string) (*sessions.Session, error) {
	session := sessions.NewSession(s, name)
	options := s.options
	session.Options, session.IsNew = &options, true
	cookie, err := r.Cookie(name)
	if err != nil || len(cookie.Value) != sessionIDLength {
		return session, nil
	}
	// What a page fetches by itself is no sign of a person.
	ask := s.desk.Session
	if r.Header.Get("HX-Request") != "" && r.Method == http.MethodGet || r.URL.Path == views.LivePath {
		ask = s.desk.PeekSession
	}
	known, err := ask(r.Context(), cookie.Value)
	if err != nil {
		return session, err
	}
	session.ID, session.IsNew = cookie.Value, false
	session.Values[sessionKey] = known
	return session, nil
}

// Save writes the cookie; a MaxAge below 0 removes it.
func (s *sessionStore) Save(_ *http.Request, w http.ResponseWriter, session *sessions.Session) error {
	if session.Options.MaxAge >= 0 && len(session.ID) != sessionIDLength {
		return fmt.Errorf("save session: %w", errors.New("it has no id"))
	}
	http.SetCookie(w, sessions.NewCookie(session.Name(), session.ID, session.Options))
	return nil
}

// Begin gives the browser the cookie of a session that the desk has opened.
func (v *Visit) Begin(w http.ResponseWriter, token string) error {
	v.session.ID, v.session.Options.MaxAge = token, 0
	return v.session.Save(v.R, w)
}

// End takes the cookie away.
func (v *Visit) End(w http.ResponseWriter) error {
	v.session.ID, v.session.Options.MaxAge = "", -1
	return v.session.Save(v.R, w)
}

func signedIn(s *sessions.Session) (sms.Session, bool) {
	known, ok := s.Values[sessionKey].(sms.Session)
	return known, ok && known.User.Active
}
