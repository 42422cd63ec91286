package sms

import (
	"fmt"
	"strings"
	"time"
)

// Role is what a person may do. Each role may do all that the ones before it may.
type Role string

// The roles, weakest first.
const (
	Viewer        Role = "viewer"
	Sender        Role = "sender"
	Approver      Role = "approver"
	Manager       Role = "manager"
	Administrator Role = "administrator"
)

// Roles lists the roles, weakest first.
func Roles() []Role { return []Role{Viewer, Sender, Approver, Manager, Administrator} }

// ParseRole reads a role by its word, in any letter case.
func ParseRole(s string) (Role, bool) {
	r := Role(strings.ToLower(strings.TrimSpace(s)))
	return r, r.rank() > 0
}

func (r Role) rank() int {
	for i, x := range Roles() {
		if r == x {
			return i + 1
		}
	}
	return 0
}

// AtLeast says that r may do what least may. An unknown role may do nothing,
// and what only an unknown role may do is for nobody.
func (r Role) AtLeast(least Role) bool { return least.rank() > 0 && r.rank() >= least.rank() }

// Title is the role's word on screen.
func (r Role) Title() string {
	if r == "" {
		return ""
	}
	return strings.ToUpper(string(r[:1])) + string(r[1:])
}

// User is a member of staff. The zero User is nobody and may do nothing.
type User struct {
	ID        int64
	Email     string // lower case, unique
	Name      string
	Role      Role
	Active    bool
	CreatedAt int64
	// TestNumber is where the person last sent a test message, "" for nowhere.
	TestNumber string
}

// May refuses what u is doing where their role is weaker than least. The error
// is ErrForbidden.
func (u User) May(least Role, doing string) error {
	if !u.Active || !u.Role.AtLeast(least) {
		return fmt.Errorf("%s: %w: the role %s is needed", doing, ErrForbidden, least.Title())
	}
	return nil
}

// SessionTTL is how long a session lives in all (ASVS 7.3.2).
const SessionTTL = 12 * time.Hour

// SessionKnown is how long after its last use a session that is over is known.
const SessionKnown = 24 * time.Hour

// Session is one signed-in browser, stored under the SHA-256 of its id.
type Session struct {
	User      User
	AccountID int64 // the account chosen in this browser, 0 for the first
	CreatedAt int64
	SeenAt    int64
	Ended     bool // by the person, or by a change of password or role
}

// Invite is an unused invitation. Its address is shown once and never stored.
// Without a role it lets a person who is here already choose a new password.
type Invite struct {
	Email     string
	Role      Role
	CreatedAt int64
	ExpiresAt int64
}

// Audit is one line of who did what.
type Audit struct {
	At     int64
	User   User
	Action string
	Object string
	Detail string
}
