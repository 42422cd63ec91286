package desk_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/rig"
	"smsdesk/internal/sms"
	"smsdesk/storage"
)

type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

type office struct {
	*desk.Desk
	db    *storage.DB
	clock *clock
	log   *bytes.Buffer
}

func newOffice(t *testing.T) office {
	t.Helper()
	db, err := storage.Open(context.Background(), storage.Config{Data: rig.Folder(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	o := office{db: db, clock: &clock{t: time.Date(2026, 6, 3, 10, 0, 0, 0, time.UTC)}, log: &bytes.Buffer{}}
	o.Desk = desk.New(rig.Stores(db), nil, feed.New(), slog.New(slog.NewTextHandler(o.log, nil)), o.clock.now)
	return o
}

const goodPassword = "correct pony battery lamp"

func (o office) hire(t *testing.T, email string, role sms.Role) sms.User {
	t.Helper()
	u, err := o.CreateUser(context.Background(), desk.Operator(), email, "Ada Obi", role, goodPassword)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func invalid(t *testing.T, err error, field string) string {
	t.Helper()
	var bad sms.Invalid
	if !errors.As(err, &bad) || bad[field] == "" {
		t.Fatalf("error %v has no sentence for %q", err, field)
	}
	return bad[field]
}

func TestSignInSentences(t *testing.T) {
	ctx, o := context.Background(), newOffice(t)
	o.hire(t, "ada@example.com", sms.Sender)
	for _, email := range []string{"ada@example.com", "nobody@example.com"} {
		want := []string{
			"The email address or password is wrong. You have 4 attempts left.",
			"The email address or password is wrong. You have 3 attempts left.",
			"The email address or password is wrong. You have 2 attempts left.",
			"The email address or password is not right. You have 1 try left.",
			"Too many attempts. Wait 15 minutes or ask an administrator.",
			"Too many attempts. Wait 15 minutes or ask an administrator.",
		}
		for i, w := range want {
			if _, _, err := o.SignIn(ctx, email, "wrong", "192.0.2.1", "test"); invalid(t, err, "email") != w {
				t.Errorf("%s, try %d: got %v, want %q", email, i+1, err, w)
			}
		}
	}
	if _, _, err := o.SignIn(ctx, "ada@example.com", goodPassword, "192.0.2.2", "test"); invalid(t, err, "email") == "" {
		t.Error("the right password opened a locked address")
	}
	o.clock.pass(15 * time.Minute)
	token, u, err := o.SignIn(ctx, " ADA@Example.com ", goodPassword, "192.0.2.2", "test")
	if err != nil || u.Email != "ada@example.com" || len(token) != 64 {
		t.Fatalf("after the wait: %q %v %v", token, u, err)
	}
	if _, _, err := o.SignIn(ctx, "ada@example.com", "wrong", "192.0.2.2",
		"test"); !strings.Contains(invalid(t, err, "email"), "4 attempts") {
		t.Errorf("a success does not give the tries back: %v", err)
	}
	if strings.Contains(o.log.String(), "wrong") || strings.Contains(o.log.String(), goodPassword) {
		t.Error("a password is in the log")
	}
}

func TestSignInNeedsBothFieldsAndAnActivePerson(t *testing.T) {
	ctx, o := context.Background(), newOffice(t)
	boss := o.hire(t, "boss@example.com", sms.Administrator)
	u := o.hire(t, "ada@example.com", sms.Sender)
	_, _, err := o.SignIn(ctx, "", "", "192.0.2.1", "")
	invalid(t, err, "email")
	invalid(t, err, "password")
	if _, err := o.SaveUser(ctx, boss, u.ID, sms.Sender, false); err != nil {
		t.Fatal(err)
	}
	_, _, err = o.SignIn(ctx, u.Email, goodPassword, "192.0.2.1", "")
	if got := invalid(t, err, "email"); got != "The email address or password is wrong. You have 4 attempts left." {
		t.Errorf("a person who was shut out is told %q", got)
	}
}

func TestSessionLife(t *testing.T) {
	ctx, o := context.Background(), newOffice(t)
	u := o.hire(t, "ada@example.com", sms.Sender)
	open := func() string {
		t.Helper()
		token, _, err := o.SignIn(ctx, u.Email, goodPassword, "192.0.2.1", "test")
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	idle := open()
	o.clock.pass(2*time.Hour - time.Second)
	if _, err := o.PeekSession(ctx, idle); err != nil {
		t.Errorf("before 2 hours: %v", err)
	}
	o.clock.pass(time.Second)
	if _, err := o.Session(ctx, idle); !errors.Is(err, desk.ErrTimedOut) || !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("after 2 hours without use: %v", err)
	}
	busy := open()
	for range 11 {
		o.clock.pass(time.Hour)
		if _, err := o.Session(ctx, busy); err != nil {
			t.Fatalf("in use: %v", err)
		}
	}
	o.clock.pass(time.Hour)
	if _, err := o.Session(ctx, busy); !errors.Is(err, sms.ErrNotFound) || errors.Is(err, desk.ErrTimedOut) {
		t.Errorf("after 12 hours: %v", err)
	}
	watched := open()
	for range 3 {
		o.clock.pass(time.Hour)
		_, _ = o.PeekSession(ctx, watched)
	}
	if _, err := o.Session(ctx, watched); !errors.Is(err, desk.ErrTimedOut) {
		t.Errorf("watching counted as use: %v", err)
	}
	if _, err := o.Session(ctx, strings.Repeat("0", 64)); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("made-up id: %v", err)
	}
}

func TestRightsEndSessions(t *testing.T) {
	ctx := context.Background()
	signIn := func(t *testing.T, o office, email, password string) string {
		token, _, err := o.SignIn(ctx, email, password, "192.0.2.1", "test")
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	alive := func(o office, token string) bool { _, err := o.Session(ctx, token); return err == nil }
	for name, act := range map[string]func(t *testing.T, o office, boss, u sms.User, here string){
		"sign-out everywhere": func(t *testing.T, o office, _, u sms.User, _ string) {
			if err := o.SignOutEverywhere(ctx, u); err != nil {
				t.Fatal(err)
			}
		},
		"role": func(t *testing.T, o office, boss, u sms.User, _ string) {
			if _, err := o.SaveUser(ctx, boss, u.ID, sms.Viewer, true); err != nil {
				t.Fatal(err)
			}
		},
		"shut out": func(t *testing.T, o office, boss, u sms.User, _ string) {
			if _, err := o.SaveUser(ctx, boss, u.ID, u.Role, false); err != nil {
				t.Fatal(err)
			}
		},
		"password": func(t *testing.T, o office, _, u sms.User, here string) {
			token, err := o.ChangePassword(ctx, u, goodPassword, "another pony battery lamp", "192.0.2.1", "test")
			if err != nil {
				t.Fatal(err)
			}
			if token == here || !alive(o, token) {
				t.Error("a change of password gives no new session")
			}
			if _, _, err := o.SignIn(ctx, u.Email, goodPassword, "192.0.2.1", ""); err == nil {
				t.Error("the old password still works")
			}
			signIn(t, o, u.Email, "another pony battery lamp")
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t)
			boss, u := o.hire(t, "boss@example.com", sms.Administrator), o.hire(t, "ada@example.com", sms.Sender)
			here, there, other := signIn(t, o, u.Email, goodPassword), signIn(t, o, u.Email, goodPassword),
				signIn(t, o, boss.Email, goodPassword)
			if here == there {
				t.Fatal("two sessions have one id")
			}
			act(t, o, boss, u, here)
			if alive(o, here) || alive(o, there) {
				t.Error("an old session lives on")
			}
			if !alive(o, other) {
				t.Error("somebody else was signed out")
			}
		})
	}
	t.Run("sign-out", func(t *testing.T) {
		o := newOffice(t)
		u := o.hire(t, "ada@example.com", sms.Sender)
		here, there := signIn(t, o, u.Email, goodPassword), signIn(t, o, u.Email, goodPassword)
		for range 2 {
			if err := o.SignOut(ctx, here); err != nil {
				t.Fatal(err)
			}
		}
		if alive(o, here) || !alive(o, there) {
			t.Error("sign-out ends one session, this one")
		}
	})
}

func TestChangePasswordIsThrottled(t *testing.T) {
	ctx, o := context.Background(), newOffice(t)
	u := o.hire(t, "ada@example.com", sms.Sender)
	_, err := o.ChangePassword(ctx, u, "", "short", "192.0.2.1", "")
	invalid(t, err, "current")
	invalid(t, err, "password")
	for range 5 {
		_, err = o.ChangePassword(ctx, u, "wrong", "another pony battery lamp", "192.0.2.1", "")
		invalid(t, err, "current")
	}
	_, err = o.ChangePassword(ctx, u, goodPassword, "another pony battery lamp", "192.0.2.1", "")
	if got := invalid(t, err, "current"); !strings.HasPrefix(got, "Too many attempts") {
		t.Errorf("the sixth try is answered %q", got)
	}
}

func TestAStorageFaultSignsNobodyIn(t *testing.T) {
	o := newOffice(t)
	u := o.hire(t, "ada@example.com", sms.Sender)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if token, _, err := o.SignIn(ctx, u.Email, goodPassword, "192.0.2.1", ""); err == nil || token != "" {
		t.Error("signed in although nothing could be stored")
	}
}
