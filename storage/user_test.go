package storage

import (
	"crypto/sha256"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/sms"
)

func (f *fixture) hire(email string, role sms.Role) sms.User {
	f.t.Helper()
	u, err := f.db.CreateUser(f.ctx, sms.User{Email: email, Name: email, Role: role}, "hash of "+email, f.now())
	f.must(err)
	return u
}

func TestUsers(t *testing.T) {
	f := newFixture(t)
	u := f.hire("bola@example.com", sms.Sender)
	f.hire("ada@example.com", sms.Viewer)
	got, hash, err := f.db.UserByEmail(f.ctx, "bola@example.com")
	if err != nil || got != u || hash != "hash of bola@example.com" || !got.Active {
		t.Errorf("%+v %q %v", got, hash, err)
	}
	if _, err := f.db.CreateUser(f.ctx, sms.User{Email: u.Email}, "", 1); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("an email in use: %v", err)
	}
	if _, _, err := f.db.UserByEmail(f.ctx, "nobody@example.com"); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if list, err := f.db.Users(f.ctx); err != nil || len(list) != 2 || list[0].Name != "ada@example.com" {
		t.Errorf("%+v %v", list, err)
	}
	if n, err := f.db.Administrators(f.ctx); err != nil || n != 0 {
		t.Errorf("%d administrators, %v", n, err)
	}
}

func TestOnlyOneFirstAdministrator(t *testing.T) {
	f := newFixture(t)
	var made atomic.Int64
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			u, err := f.db.CreateFirstAdministrator(f.ctx, sms.User{Email: randomHex(4), Role: sms.Viewer}, "h", 1)
			switch {
			case err == nil && u.Role == sms.Administrator && u.Active:
				made.Add(1)
			case !errors.Is(err, sms.ErrConflict):
				t.Errorf("%+v %v", u, err)
			}
		})
	}
	all.Wait()
	if made.Load() != 1 {
		t.Errorf("%d first administrators", made.Load())
	}
}

func TestAChangeOfRightsEndsSessions(t *testing.T) {
	f := newFixture(t)
	u, other := f.hire("bola@example.com", sms.Sender), f.hire("ada@example.com", sms.Administrator)
	session := func(name string, user int64) [32]byte {
		hash := sha256.Sum256([]byte(name))
		f.must(f.db.CreateSession(f.ctx, hash, user, "Firefox", f.now()))
		return hash
	}
	signedIn := func(hash [32]byte) bool {
		s, err := f.db.Session(f.ctx, hash)
		if err != nil && !errors.Is(err, sms.ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil && !s.Ended
	}
	kept := session("other", other.ID)
	for name, c := range map[string]struct {
		change func() error
		ends   bool
	}{
		"name":     {func() error { return f.save(u.ID, func(u *sms.User) { u.Name = "Bola" }) }, false},
		"role":     {func() error { return f.save(u.ID, func(u *sms.User) { u.Role = sms.Manager }) }, true},
		"inactive": {func() error { return f.save(u.ID, func(u *sms.User) { u.Active = false }) }, true},
		"password": {func() error { return f.db.SetPassword(f.ctx, u.ID, "new") }, true},
		"all":      {func() error { return f.db.EndSessions(f.ctx, u.ID) }, true},
	} {
		hash := session(name, u.ID)
		f.must(c.change())
		if signedIn(hash) == c.ends || !signedIn(kept) {
			t.Errorf("%s: signed in %v, the other person %v", name, signedIn(hash), signedIn(kept))
		}
		f.must(f.save(u.ID, func(u *sms.User) { u.Active, u.Role = true, sms.Sender }))
	}
	if err := f.db.SetPassword(f.ctx, 99, "x"); err == nil {
		t.Error("a password for nobody")
	}
}

func (f *fixture) save(id int64, change func(*sms.User)) error {
	_, err := f.db.UpdateUser(f.ctx, id, func(u *sms.User, _ int64) error { change(u); return nil })
	return err
}

func TestTheLastAdministratorIsKnownToTheClosure(t *testing.T) {
	f := newFixture(t)
	u := f.hire("ada@example.com", sms.Administrator)
	var seen int64
	stop := errors.New("the last one")
	_, err := f.db.UpdateUser(f.ctx, u.ID, func(u *sms.User, administrators int64) error {
		seen, u.Active = administrators, false
		return stop
	})
	if !errors.Is(err, stop) || seen != 1 {
		t.Errorf("%v, %d administrators", err, seen)
	}
	if n, _ := f.db.Administrators(f.ctx); n != 1 {
		t.Errorf("%d administrators", n)
	}
}

func TestSessions(t *testing.T) {
	f := newFixture(t)
	u := f.hire("bola@example.com", sms.Sender)
	hash := sha256.Sum256([]byte("a"))
	f.must(f.db.CreateSession(f.ctx, hash, u.ID, "Firefox", 100))
	f.must(f.db.TouchSession(f.ctx, hash, 150))
	f.must(f.db.ChooseAccount(f.ctx, hash, f.account.ID))
	got, err := f.db.Session(f.ctx, hash)
	f.must(err)
	if d := cmp.Diff(sms.Session{User: u, AccountID: f.account.ID, CreatedAt: 100, SeenAt: 150}, got); d != "" {
		t.Error(d)
	}
	for _, c := range []struct {
		idle, oldest int64
		left         bool
	}{{150, 100, true}, {151, 0, false}, {0, 101, false}} {
		f.must(f.db.PurgeSessions(f.ctx, c.idle, c.oldest))
		if _, err := f.db.Session(f.ctx, hash); (err == nil) != c.left {
			t.Errorf("idle since %d, begun before %d: %v", c.idle, c.oldest, err)
		}
		if !c.left {
			f.must(f.db.CreateSession(f.ctx, hash, u.ID, "Firefox", 100))
			f.must(f.db.TouchSession(f.ctx, hash, 150))
		}
	}
	f.must(f.db.EndSession(f.ctx, hash))
	f.must(f.db.TouchSession(f.ctx, hash, 900))
	f.must(f.db.ChooseAccount(f.ctx, hash, 7))
	got, err = f.db.Session(f.ctx, hash)
	f.must(err)
	if !got.Ended || got.SeenAt != 150 || got.AccountID == 7 {
		t.Errorf("ended: %+v", got)
	}
	f.must(f.db.PurgeSessions(f.ctx, 151, 0))
	if _, err := f.db.Session(f.ctx, hash); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

func TestAnInviteIsUsedOnce(t *testing.T) {
	f := newFixture(t)
	hash := sha256.Sum256([]byte("token"))
	invite := sms.Invite{Email: "new@example.com", Role: sms.Approver, CreatedAt: 100, ExpiresAt: 200}
	f.must(f.db.CreateInvite(f.ctx, hash, invite, 1))
	if got, err := f.db.Invite(f.ctx, hash, 199); err != nil || got != invite {
		t.Errorf("%+v %v", got, err)
	}
	for _, at := range []int64{200, 201} {
		if _, err := f.db.Invite(f.ctx, hash, at); !errors.Is(err, sms.ErrNotFound) {
			t.Errorf("after its time: %v", err)
		}
		if _, err := f.db.AcceptInvite(f.ctx, hash, "N", "h", at); !errors.Is(err, sms.ErrNotFound) {
			t.Errorf("used after its time: %v", err)
		}
	}
	if list, err := f.db.Invites(f.ctx, 150); err != nil || len(list) != 1 {
		t.Errorf("%v %v", list, err)
	}
	var made atomic.Int64
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if u, err := f.db.AcceptInvite(f.ctx, hash, "New", "hash", 150); err == nil {
				made.Add(1)
				if u.Email != invite.Email || u.Role != invite.Role || !u.Active {
					t.Errorf("%+v", u)
				}
			} else if !errors.Is(err, sms.ErrNotFound) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if made.Load() != 1 {
		t.Errorf("used %d times", made.Load())
	}
	if list, err := f.db.Invites(f.ctx, 150); err != nil || len(list) != 0 {
		t.Errorf("%v %v", list, err)
	}
	taken := sha256.Sum256([]byte("second"))
	f.must(f.db.CreateInvite(f.ctx, taken, invite, 1))
	if _, err := f.db.AcceptInvite(f.ctx, taken, "N", "h", 150); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("an email in use: %v", err)
	}
	if _, err := f.db.Invite(f.ctx, taken, 150); err != nil {
		t.Errorf("the failed use consumed the invitation: %v", err)
	}
}

func TestSettingsAndAudit(t *testing.T) {
	f := newFixture(t)
	for _, want := range []string{"", "one", "two", ""} {
		if want != "" {
			f.must(f.db.PutSetting(f.ctx, "a", want))
		}
		name := "a"
		if want == "" {
			name = "never set"
		}
		if got, err := f.db.ReadSetting(f.ctx, name); err != nil || got != want {
			t.Errorf("%q %v, want %q", got, err, want)
		}
	}
	f.must(f.db.PutAudit(f.ctx, sms.Audit{At: 5, User: sms.User{ID: 1, Name: "Ada"}, Action: "campaign.start",
		Object: "campaign:1", Detail: "3 messages"}))
	if got := one[string](f,
		"select at || user_id || user_name || action || object || detail from audit"); got != "51Adacampaign.startcampaign:13 messages" {
		t.Error(got)
	}
}
