package desk

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"smsdesk/internal/health"
	"smsdesk/internal/sms"
)

// How long a session lives: without use, and in all (ASVS 7.3.1, 7.3.2).
const (
	sessionIdle  = 2 * time.Hour
	sessionTouch = time.Minute // the time of last use is written at most this often
	maxUserAgent = 200         // bytes kept of what a browser says it is
)

// ErrTimedOut is the sms.ErrNotFound of a session that was not used for 2 hours.
var ErrTimedOut = fmt.Errorf("the session was not used for too long: %w", sms.ErrNotFound)

// Door lets people in and out.
type Door struct {
	work
	store  DoorStore
	signin *loginLimiter
	outage Outage
}

// DoorStore is what those orders need to be remembered.
type DoorStore interface {
	Account(ctx context.Context, id int64) (sms.Account, error)
	ChooseAccount(ctx context.Context, hash [32]byte, account int64) error
	CreateSession(ctx context.Context, hash [32]byte, user int64, agent string, now int64) error
	EndSession(ctx context.Context, hash [32]byte) error
	EndSessions(ctx context.Context, user int64) error
	Session(ctx context.Context, hash [32]byte) (sms.Session, error)
	SetPassword(ctx context.Context, id int64, passwordHash string) error
	TouchSession(ctx context.Context, hash [32]byte, now int64) error
	UserByEmail(ctx context.Context, email string) (sms.User, string, error)
}

const tooManyTries = "Too many attempts. Wait 15 minutes or ask an administrator."

func wrongPassword(left int) string {
	switch left {
	case 0:
		return tooManyTries
	case 1:
		return "The email address or password is not right. You have 1 try left."
	}
	return fmt.Sprintf("The email address or password is wrong. You have %d attempts left.", left)
}

// SignIn opens a session and returns its secret. A wrong password, an unknown
// address and a person who may not sign in any more look and take the same;
// the sms.Invalid has the sentence under "email". ip is where the request
// comes from, agent what the browser says it is.
func (d *Door) SignIn(ctx context.Context, email, password, ip, agent string) (token string, u sms.User, err error) {
	email = canonical(email)
	bad := sms.Invalid{}
	if email == "" {
		bad["email"] = "Enter your email address"
	}
	if password == "" {
		bad["password"] = "Enter your password"
	}
	if len(bad) > 0 {
		return "", sms.User{}, bad
	}
	left, ok := d.signin.reserve(email, ip)
	if !ok {
		d.log.Warn("sign-in refused: too many tries", "ip", ip)
		return "", sms.User{}, sms.Invalid{"email": tooManyTries}
	}
	u, hash, err := d.store.UserByEmail(ctx, email)
	if errors.Is(err, sms.ErrNotFound) {
		u, hash, err = sms.User{}, nobodysHash, nil
	}
	if err != nil {
		return "", sms.User{}, err
	}
	if len(password) > maxPassword {
		password = password[:maxPassword+1]
	}
	ok, err = d.signin.hashing.matches(ctx, password, hash)
	if err != nil {
		return "", sms.User{}, err
	}
	if !ok || !u.Active {
		d.audit(ctx, u, "signin.fail", userName(u.ID), ip)
		return "", sms.User{}, sms.Invalid{"email": wrongPassword(left)}
	}
	d.signin.reset(email)
	if token, err = d.newSession(ctx, u, agent); err != nil {
		return "", sms.User{}, err
	}
	d.audit(ctx, u, "signin", userName(u.ID), ip)
	return token, u, nil
}

func (d *Door) newSession(ctx context.Context, u sms.User, agent string) (token string, err error) {
	if len(agent) > maxUserAgent {
		agent = agent[:maxUserAgent]
	}
	token = NewToken()
	return token, d.store.CreateSession(ctx, sha256.Sum256([]byte(token)), u.ID, strings.ToValidUTF8(agent, "?"), d.ms())
}

// Session finds the session behind a secret and remembers that it was used.
// ErrTimedOut when that is too long ago, sms.ErrNotFound when there is none.
func (d *Door) Session(ctx context.Context, token string) (sms.Session, error) {
	s, err := d.PeekSession(ctx, token)
	if err != nil || d.ms()-s.SeenAt < sessionTouch.Milliseconds() || d.outage.Sentence() != "" {
		return s, err
	}
	err = d.store.TouchSession(ctx, sha256.Sum256([]byte(token)), d.ms())
	if health.TroubleOf(err) != "" {
		d.outage.Note(err)
		err = nil // a page that only shows something needs no disk
	}
	return s, err
}

// PeekSession is Session for what a page asks for by itself: it does not count
// as use, so that a live page left open does not stay signed in for ever.
func (d *Door) PeekSession(ctx context.Context, token string) (sms.Session, error) {
	hash := sha256.Sum256([]byte(token))
	s, err := d.store.Session(ctx, hash)
	if err != nil {
		return sms.Session{}, err
	}
	if !s.User.Active || s.Ended {
		return sms.Session{}, fmt.Errorf("the session was ended: %w", sms.ErrNotFound)
	}
	now := d.ms()
	if now-s.CreatedAt >= sms.SessionTTL.Milliseconds() {
		return sms.Session{}, fmt.Errorf("the session is too old: %w", sms.ErrNotFound)
	}
	if now-s.SeenAt >= sessionIdle.Milliseconds() {
		return sms.Session{}, ErrTimedOut
	}
	return s, nil
}

// EndedSession finds a session that is over and was used within
// sms.SessionKnown, of a person who may still sign in; else sms.ErrNotFound.
func (d *Door) EndedSession(ctx context.Context, token string) (sms.Session, error) {
	s, err := d.store.Session(ctx, sha256.Sum256([]byte(token)))
	if err != nil {
		return sms.Session{}, err
	}
	now := d.ms()
	over := s.Ended || now-s.SeenAt >= sessionIdle.Milliseconds() || now-s.CreatedAt >= sms.SessionTTL.Milliseconds()
	if !over || !s.User.Active || now-s.SeenAt >= sms.SessionKnown.Milliseconds() {
		return sms.Session{}, fmt.Errorf("no session that is over: %w", sms.ErrNotFound)
	}
	return s, nil
}

// SignOut ends a session. One that has ended already is not an error.
func (d *Door) SignOut(ctx context.Context, token string) error {
	hash := sha256.Sum256([]byte(token))
	s, err := d.store.Session(ctx, hash)
	if errors.Is(err, sms.ErrNotFound) || s.Ended {
		return nil
	}
	if err != nil {
		return err
	}
	if err := d.store.EndSession(ctx, hash); err != nil {
		return err
	}
	d.audit(ctx, s.User, "signout", userName(s.User.ID), "")
	return nil
}

// SignOutEverywhere ends every session of the person.
func (d *Door) SignOutEverywhere(ctx context.Context, by sms.User) error {
	if err := by.May(sms.Viewer, "sign out everywhere"); err != nil {
		return err
	}
	if err := d.store.EndSessions(ctx, by.ID); err != nil {
		return err
	}
	d.audit(ctx, by, "signout.everywhere", userName(by.ID), "")
	return nil
}

// ChangePassword gives the person a new password, ends all their sessions and
// opens a new one, of which it returns the secret.
func (d *Door) ChangePassword(ctx context.Context, by sms.User, current, wanted, ip,
	agent string) (token string, err error) {
	if err := by.May(sms.Viewer, "change password"); err != nil {
		return "", err
	}
	bad := sms.Invalid{}
	if current == "" {
		bad["current"] = "Enter your current password"
	}
	if s := checkPassword(wanted, by); s != "" {
		bad["password"] = s
	}
	if len(bad) > 0 {
		return "", bad
	}
	left, ok := d.signin.reserve(by.Email, ip)
	if !ok {
		return "", sms.Invalid{"current": tooManyTries}
	}
	u, hash, err := d.store.UserByEmail(ctx, by.Email)
	if err != nil {
		return "", err
	}
	if ok, err = d.signin.hashing.matches(ctx, current, hash); err != nil {
		return "", err
	}
	if !ok {
		d.audit(ctx, u, "password.fail", userName(u.ID), "")
		return "", sms.Invalid{"current": wrongCurrent(left)}
	}
	d.signin.reset(by.Email)
	if hash, err = d.signin.hashing.hash(ctx, wanted); err != nil {
		return "", err
	}
	if err := d.store.SetPassword(ctx, u.ID, hash); err != nil {
		return "", err
	}
	d.audit(ctx, u, "password.change", userName(u.ID), "")
	return d.newSession(ctx, u, agent)
}

func wrongCurrent(left int) string {
	if left == 0 {
		return tooManyTries
	}
	return "Current password is wrong. Enter it again"
}

// ChooseAccount remembers which account this browser works with.
func (d *Door) ChooseAccount(ctx context.Context, token string, account int64) error {
	if _, err := d.store.Account(ctx, account); err != nil {
		return err
	}
	return d.store.ChooseAccount(ctx, sha256.Sum256([]byte(token)), account)
}
