package desk

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/mail"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"smsdesk/internal/sms"
)

const (
	setupTTL    = 15 * time.Minute
	inviteTTL   = 24 * time.Hour
	maxUserName = 80  // characters
	maxEmail    = 254 // bytes, the most that mail can carry
)

// Staff takes the orders about people who work here and about their programs.
type Staff struct {
	work
	store  StaffStore
	signin *loginLimiter
	setup  *setup
}

// StaffStore is what those orders need to be remembered.
type StaffStore interface {
	AcceptInvite(ctx context.Context, hash [32]byte, name, passwordHash string, now int64) (sms.User, error)
	Administrators(ctx context.Context) (int64, error)
	CreateFirstAdministrator(ctx context.Context, u sms.User, passwordHash string, now int64) (sms.User, error)
	CreateInvite(ctx context.Context, hash [32]byte, i sms.Invite, by int64) error
	CreateToken(ctx context.Context, hash [32]byte, t sms.Token) (sms.Token, error)
	CreateUser(ctx context.Context, u sms.User, passwordHash string, now int64) (sms.User, error)
	EndTokenRequest(ctx context.Context, r sms.TokenRequest) error
	Invite(ctx context.Context, hash [32]byte, now int64) (sms.Invite, error)
	OpenTokenRequest(ctx context.Context, r sms.TokenRequest, now int64) (sms.TokenRequest, error)
	RevokeToken(ctx context.Context, id, now int64) (bool, error)
	Token(ctx context.Context, id int64) (sms.Token, error)
	TokenByHash(ctx context.Context, hash [32]byte) (sms.Token, error)
	TouchToken(ctx context.Context, id, now int64) error
	UpdateUser(ctx context.Context, id int64, change func(u *sms.User, administrators int64) error) (sms.User, error)
	UserByEmail(ctx context.Context, email string) (sms.User, string, error)
}

// userName names a person in the audit log.
func userName(id int64) string { return "user:" + strconv.FormatInt(id, 10) }

func canonical(email string) string {
	return strings.ToLower(norm.NFC.String(strings.TrimSpace(email)))
}

func checkEmail(email string) string {
	a, err := mail.ParseAddress(email)
	switch {
	case email == "":
		return "Enter an email address"
	case err != nil || a.Address != email || a.Name != "" || len(email) > maxEmail ||
		strings.ContainsAny(email, "<>\"\\"):
		return "Enter an email address, for example ada@example.com"
	}
	return ""
}

func checkName(name string) string {
	switch {
	case name == "":
		return "Enter a name"
	case utf8.RuneCountInString(name) > maxUserName:
		return fmt.Sprintf("Name must be %d characters or fewer", maxUserName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool {
		return r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029'
	}):
		return "Name has a character that cannot be shown. Retype it"
	}
	return ""
}

// checkUser collects what is wrong with a new person.
func checkUser(u sms.User, password string) sms.Invalid {
	bad := sms.Invalid{}
	for field, sentence := range map[string]string{"email": checkEmail(u.Email), "name": checkName(u.Name),
		"password": checkPassword(password, u)} {
		if sentence != "" {
			bad[field] = sentence
		}
	}
	return bad
}

var (
	errEmailTaken = sms.Invalid{"email": "A team member with this email address already exists"}
	errNoRole     = sms.Invalid{"role": "Choose a role"}
)

// CreateUser makes a person who can sign in at once. The command line uses it
// with Operator.
func (d *Staff) CreateUser(ctx context.Context, by sms.User, email, name string, role sms.Role,
	password string) (sms.User, error) {
	if err := by.May(sms.Administrator, "create user"); err != nil {
		return sms.User{}, err
	}
	u := sms.User{Email: canonical(email), Name: strings.TrimSpace(name), Role: role}
	bad := checkUser(u, password)
	if _, ok := sms.ParseRole(string(role)); !ok {
		bad["role"] = errNoRole["role"]
	}
	if len(bad) > 0 {
		return sms.User{}, bad
	}
	hash, err := d.signin.hashing.hash(ctx, password)
	if err != nil {
		return sms.User{}, err
	}
	u, err = d.store.CreateUser(ctx, u, hash, d.ms())
	if errors.Is(err, sms.ErrConflict) {
		return sms.User{}, errEmailTaken
	}
	if err != nil {
		return sms.User{}, err
	}
	d.audit(ctx, by, "user.create", userName(u.ID), string(u.Role))
	return u, nil
}

// RenameUser changes the person's own name.
func (d *Staff) RenameUser(ctx context.Context, by sms.User, name string) error {
	if err := by.May(sms.Viewer, "change name"); err != nil {
		return err
	}
	name = strings.TrimSpace(name)
	if s := checkName(name); s != "" {
		return sms.Invalid{"name": s}
	}
	if _, err := d.store.UpdateUser(ctx, by.ID, func(u *sms.User, _ int64) error {
		u.Name = name
		return nil
	}); err != nil {
		return err
	}
	d.audit(ctx, by, "user.rename", userName(by.ID), "")
	return nil
}

const lastAdministrator = "You cannot remove the last administrator. Make someone else an administrator first"

// SaveUser changes a person's role and whether they may sign in. Either change
// ends their sessions. The last administrator stays one: sms.Invalid under
// "role" or "active".
func (d *Staff) SaveUser(ctx context.Context, by sms.User, id int64, role sms.Role, active bool) (sms.User, error) {
	if err := by.May(sms.Administrator, "change a person's rights"); err != nil {
		return sms.User{}, err
	}
	if _, ok := sms.ParseRole(string(role)); !ok {
		return sms.User{}, errNoRole
	}
	u, err := d.store.UpdateUser(ctx, id, func(u *sms.User, administrators int64) error {
		if u.Active && u.Role == sms.Administrator && administrators <= 1 {
			if !active {
				return sms.Invalid{"active": lastAdministrator}
			}
			if role != sms.Administrator {
				return sms.Invalid{"role": lastAdministrator}
			}
		}
		u.Role, u.Active = role, active
		return nil
	})
	if err != nil {
		return sms.User{}, err
	}
	d.audit(ctx, by, "user.rights", userName(id), fmt.Sprintf("%s, active %t", role, active))
	return u, nil
}

// Invite makes an invitation for one email address and one role and returns
// its secret, which is shown once and works once within 24 hours.
func (d *Staff) Invite(ctx context.Context, by sms.User, email string, role sms.Role) (token string, err error) {
	if err := by.May(sms.Administrator, "invite"); err != nil {
		return "", err
	}
	email = canonical(email)
	bad := sms.Invalid{}
	if s := checkEmail(email); s != "" {
		bad["email"] = s
	} else if _, _, err := d.store.UserByEmail(ctx, email); err == nil {
		bad["email"] = errEmailTaken["email"]
	} else if !errors.Is(err, sms.ErrNotFound) {
		return "", err
	}
	if _, ok := sms.ParseRole(string(role)); !ok {
		bad["role"] = errNoRole["role"]
	}
	if len(bad) > 0 {
		return "", bad
	}
	if token, err = d.newInvite(ctx, by, email, role); err != nil {
		return "", err
	}
	d.audit(ctx, by, "user.invite", email, string(role))
	return token, nil
}

func (d *Staff) newInvite(ctx context.Context, by sms.User, email string, role sms.Role) (token string, err error) {
	token = NewToken()
	i := sms.Invite{Email: email, Role: role, CreatedAt: d.ms(), ExpiresAt: d.now().Add(inviteTTL).UnixMilli()}
	return token, d.store.CreateInvite(ctx, sha256.Sum256([]byte(token)), i, by.ID)
}

// InviteAgain makes a secret with which a person who has forgotten the
// password chooses a new one, once within 24 hours. Until then nothing changes.
func (d *Staff) InviteAgain(ctx context.Context, by, who sms.User) (token string, err error) {
	if err := by.May(sms.Administrator, "give a new password"); err != nil {
		return "", err
	}
	if !who.Active {
		return "", fmt.Errorf("give a new password: the person may not sign in: %w", sms.ErrConflict)
	}
	if token, err = d.newInvite(ctx, by, who.Email, ""); err != nil {
		return "", err
	}
	d.audit(ctx, by, "user.password", userName(who.ID), "")
	return token, nil
}

// OpenInvite finds the invitation behind a secret; sms.ErrNotFound when it is
// used, too old or was never made.
func (d *Staff) OpenInvite(ctx context.Context, token string) (sms.Invite, error) {
	return d.store.Invite(ctx, sha256.Sum256([]byte(token)), d.ms())
}

// AcceptInvite makes the invited person, with the address and the role of the
// invitation, or gives a new password to the one who was invited again. It
// works once.
func (d *Staff) AcceptInvite(ctx context.Context, token, name, password string) (sms.User, error) {
	i, err := d.OpenInvite(ctx, token)
	if err != nil {
		return sms.User{}, err
	}
	u := sms.User{Email: i.Email, Name: strings.TrimSpace(name), Role: i.Role}
	if i.Role == "" {
		if u, _, err = d.store.UserByEmail(ctx, i.Email); err != nil {
			return sms.User{}, err
		}
	}
	if bad := checkUser(u, password); len(bad) > 0 {
		return sms.User{}, bad
	}
	hash, err := d.signin.hashing.hash(ctx, password)
	if err != nil {
		return sms.User{}, err
	}
	u, err = d.store.AcceptInvite(ctx, sha256.Sum256([]byte(token)), u.Name, hash, d.ms())
	if errors.Is(err, sms.ErrConflict) && i.Role != "" {
		return sms.User{}, errEmailTaken
	}
	if err != nil {
		return sms.User{}, err
	}
	d.signin.reset(u.Email)
	d.audit(ctx, u, "user.accept", userName(u.ID), string(u.Role))
	return u, nil
}

// setup is the one-time way in for the first administrator. Its secret lives
// in memory only and ends with the process.
type setup struct {
	mu    sync.Mutex
	hash  [32]byte
	until time.Time
}

func (s *setup) open(token string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	hash := sha256.Sum256([]byte(token))
	return now.Before(s.until) && subtle.ConstantTimeCompare(hash[:], s.hash[:]) == 1
}

func (s *setup) put(hash [32]byte, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hash, s.until = hash, until
}

func (s *setup) close() { s.put([32]byte{}, time.Time{}) }

// OpenSetup makes a new secret for the set-up page, good for 15 minutes, when
// there is no administrator yet. An earlier one stops working.
func (d *Staff) OpenSetup(ctx context.Context) (token string, needed bool, err error) {
	n, err := d.store.Administrators(ctx)
	if err != nil || n > 0 {
		return "", false, err
	}
	token = NewToken()
	d.setup.put(sha256.Sum256([]byte(token)), d.now().Add(setupTTL))
	return token, true, nil
}

// SetupOpen says whether the secret opens the set-up page at the moment.
func (d *Staff) SetupOpen(token string) bool { return d.setup.open(token, d.now()) }

// CreateFirstAdministrator makes the first administrator. sms.ErrNotFound when
// the secret does not work (any more), sms.ErrConflict when there is an
// administrator already, however that one came to be.
func (d *Staff) CreateFirstAdministrator(ctx context.Context, token, email, name, password string) (sms.User, error) {
	if !d.SetupOpen(token) {
		return sms.User{}, fmt.Errorf("set up: %w", sms.ErrNotFound)
	}
	u := sms.User{Email: canonical(email), Name: strings.TrimSpace(name), Role: sms.Administrator}
	if bad := checkUser(u, password); len(bad) > 0 {
		return sms.User{}, bad
	}
	hash, err := d.signin.hashing.hash(ctx, password)
	if err != nil {
		return sms.User{}, err
	}
	u, err = d.store.CreateFirstAdministrator(ctx, u, hash, d.ms())
	if errors.Is(err, sms.ErrConflict) {
		return sms.User{}, d.setupConflict(ctx, err)
	}
	if err != nil {
		return sms.User{}, err
	}
	d.setup.close()
	d.audit(ctx, u, "user.first", userName(u.ID), "")
	return u, nil
}

// setupConflict tells an administrator who was faster from an address that
// belongs to somebody already.
func (d *Staff) setupConflict(ctx context.Context, err error) error {
	n, failed := d.store.Administrators(ctx)
	if failed != nil {
		return failed
	}
	if n == 0 {
		return errEmailTaken
	}
	d.setup.close()
	return err
}
