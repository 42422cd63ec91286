package desk_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
)

func TestSetupWorksOnceFor15Minutes(t *testing.T) {
	ctx, o := context.Background(), newOffice(t)
	first, needed, err := o.OpenSetup(ctx)
	if err != nil || !needed || len(first) != 64 {
		t.Fatalf("no set-up address: %q %t %v", first, needed, err)
	}
	second, _, _ := o.OpenSetup(ctx)
	if o.SetupOpen(first) || !o.SetupOpen(second) || o.SetupOpen("") {
		t.Error("the newest secret is the one that works")
	}
	o.clock.pass(15 * time.Minute)
	if o.SetupOpen(second) {
		t.Error("open after 15 minutes")
	}
	if _, err := o.CreateFirstAdministrator(ctx, second, "ada@example.com", "Ada", goodPassword); !errors.Is(err,
		sms.ErrNotFound) {
		t.Errorf("too late: %v", err)
	}
	token, _, _ := o.OpenSetup(ctx)
	if _, err := o.CreateFirstAdministrator(ctx, token, "", "", "short"); invalid(t, err, "email") == "" ||
		!o.SetupOpen(token) {
		t.Error("a form with faults used the secret up")
	}
	u, err := o.CreateFirstAdministrator(ctx, token, "Ada@Example.com", " Ada Obi ", goodPassword)
	if err != nil || u.Role != sms.Administrator || u.Name != "Ada Obi" || u.Email != "ada@example.com" || !u.Active {
		t.Fatalf("first administrator: %+v %v", u, err)
	}
	if _, err := o.CreateFirstAdministrator(ctx, token, "eve@example.com", "Eve", goodPassword); !errors.Is(err,
		sms.ErrNotFound) {
		t.Errorf("a second use: %v", err)
	}
	if _, needed, _ := o.OpenSetup(ctx); needed {
		t.Error("set-up opens although there is an administrator")
	}
}

func TestSetupIsClosedByAnAdministrator(t *testing.T) {
	ctx, o := context.Background(), newOffice(t)
	o.hire(t, "sender@example.com", sms.Sender)
	token, needed, _ := o.OpenSetup(ctx)
	if !needed {
		t.Fatal("a sender is no administrator")
	}
	_, err := o.CreateFirstAdministrator(ctx, token, "sender@example.com", "Ada", goodPassword)
	invalid(t, err, "email")
	o.hire(t, "boss@example.com", sms.Administrator)
	if _, err := o.CreateFirstAdministrator(ctx, token, "eve@example.com", "Eve", goodPassword); !errors.Is(err,
		sms.ErrConflict) {
		t.Errorf("after an administrator came from elsewhere: %v", err)
	}
	if o.SetupOpen(token) {
		t.Error("still open")
	}
}

func TestOneOfManyBecomesFirstAdministrator(t *testing.T) {
	ctx, o := context.Background(), newOffice(t)
	token, _, _ := o.OpenSetup(ctx)
	var made sync.Map
	var wait sync.WaitGroup
	for _, who := range []string{"a", "b", "c", "d"} {
		wait.Go(func() {
			if _, err := o.CreateFirstAdministrator(ctx, token, who+"@example.com", "Ada", goodPassword); err == nil {
				made.Store(who, true)
			}
		})
	}
	wait.Wait()
	n := 0
	made.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d first administrators", n)
	}
}

func TestCreateUserRules(t *testing.T) {
	ctx, o := context.Background(), newOffice(t)
	o.hire(t, "ada@example.com", sms.Sender)
	for _, c := range []struct {
		email, name, role, password, field string
	}{
		{"", "Ada", "sender", goodPassword, "email"},
		{"ada", "Ada", "sender", goodPassword, "email"},
		{"Ada <ada@example.com>", "Ada", "sender", goodPassword, "email"},
		{"ada@example.com\r\nBcc: x@example.com", "Ada", "sender", goodPassword, "email"},
		{"ADA@example.com", "Ada", "sender", goodPassword, "email"},
		{"b@example.com", " ", "sender", goodPassword, "name"},
		{"b@example.com", "Ada\nObi", "sender", goodPassword, "name"},
		{"b@example.com", strings.Repeat("ạ", 81), "sender", goodPassword, "name"},
		{"b@example.com", "Ada", "root", goodPassword, "role"},
		{"b@example.com", "Ada", "", goodPassword, "role"},
		{"b@example.com", "Ada", "sender", "short", "password"},
	} {
		_, err := o.CreateUser(ctx, desk.Operator(), c.email, c.name, sms.Role(c.role), c.password)
		var bad sms.Invalid
		if !errors.As(err, &bad) || bad[c.field] == "" || len(bad) != 1 {
			t.Errorf("%q %q %q: %v, want a sentence for %s only", c.email, c.name, c.role, err, c.field)
		}
	}
	for _, role := range []sms.Role{sms.Viewer, sms.Sender, sms.Approver, sms.Manager} {
		by := sms.User{ID: 9, Role: role, Active: true}
		if _, err := o.CreateUser(ctx, by, "b@example.com", "B", sms.Viewer, goodPassword); !errors.Is(err,
			sms.ErrForbidden) {
			t.Errorf("%s creates users: %v", role, err)
		}
		if _, err := o.Invite(ctx, by, "b@example.com", sms.Viewer); !errors.Is(err, sms.ErrForbidden) {
			t.Errorf("%s invites: %v", role, err)
		}
		if _, err := o.SaveUser(ctx, by, 1, sms.Administrator, true); !errors.Is(err, sms.ErrForbidden) {
			t.Errorf("%s gives rights: %v", role, err)
		}
	}
}

func TestInvitation(t *testing.T) {
	ctx, o := context.Background(), newOffice(t)
	boss := o.hire(t, "boss@example.com", sms.Administrator)
	for _, c := range []struct{ email, role, field string }{{"boss@example.com", "sender", "email"},
		{"x", "sender", "email"}, {"new@example.com", "king", "role"}} {
		_, err := o.Invite(ctx, boss, c.email, sms.Role(c.role))
		invalid(t, err, c.field)
	}
	token, err := o.Invite(ctx, boss, "New@example.com", sms.Approver)
	if err != nil || len(token) != 64 {
		t.Fatalf("%q %v", token, err)
	}
	if _, err := o.AcceptInvite(ctx, token, "", "short"); invalid(t, err, "name") == "" ||
		invalid(t, err, "password") == "" {
		t.Error("an empty form is accepted")
	}
	u, err := o.AcceptInvite(ctx, token, "Bola", goodPassword)
	if err != nil || u.Email != "new@example.com" || u.Role != sms.Approver {
		t.Fatalf("%+v %v", u, err)
	}
	if _, err := o.AcceptInvite(ctx, token, "Eve", goodPassword); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("second use: %v", err)
	}
	late, _ := o.Invite(ctx, boss, "late@example.com", sms.Viewer)
	o.clock.pass(24 * time.Hour)
	if _, err := o.AcceptInvite(ctx, late, "Eve", goodPassword); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("after 24 hours: %v", err)
	}
	if _, err := o.OpenInvite(ctx, strings.Repeat("0", 64)); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("made up: %v", err)
	}
}

func TestTheLastAdministratorStays(t *testing.T) {
	ctx, o := context.Background(), newOffice(t)
	boss := o.hire(t, "boss@example.com", sms.Administrator)
	_, err := o.SaveUser(ctx, boss, boss.ID, sms.Sender, true)
	invalid(t, err, "role")
	_, err = o.SaveUser(ctx, boss, boss.ID, sms.Administrator, false)
	invalid(t, err, "active")
	second := o.hire(t, "second@example.com", sms.Administrator)
	var failed sync.Map
	var wait sync.WaitGroup
	for _, id := range []int64{boss.ID, second.ID} {
		wait.Go(func() {
			if _, err := o.SaveUser(ctx, desk.Operator(), id, sms.Sender, true); err != nil {
				failed.Store(id, err)
			}
		})
	}
	wait.Wait()
	if n, _ := o.db.Administrators(ctx); n != 1 {
		t.Errorf("%d administrators after both lost the role at once", n)
	}
	if _, err := o.SaveUser(ctx, boss, 999, sms.Sender, true); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("a person that is not there: %v", err)
	}
}

func TestRenameUser(t *testing.T) {
	ctx, o := context.Background(), newOffice(t)
	u := o.hire(t, "ada@example.com", sms.Viewer)
	invalid(t, o.RenameUser(ctx, u, "\x00"), "name")
	if err := o.RenameUser(ctx, u, " Adá Obi "); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := o.db.UserByEmail(ctx, u.Email); got.Name != "Adá Obi" || got.Role != sms.Viewer || !got.Active {
		t.Errorf("%+v", got)
	}
}

func TestForgottenPassword(t *testing.T) {
	ctx, o := context.Background(), newOffice(t)
	boss, u := o.hire(t, "boss@example.com", sms.Administrator), o.hire(t, "ada@example.com", sms.Approver)
	if _, err := o.InviteAgain(ctx, u, boss); !errors.Is(err, sms.ErrForbidden) {
		t.Errorf("an approver gives passwords: %v", err)
	}
	here, _, err := o.SignIn(ctx, u.Email, goodPassword, "192.0.2.1", "")
	if err != nil {
		t.Fatal(err)
	}
	token, err := o.InviteAgain(ctx, boss, u)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Session(ctx, here); err != nil {
		t.Errorf("the offer alone signs the person out: %v", err)
	}
	if _, err := o.AcceptInvite(ctx, token, "", "short"); invalid(t, err, "password") == "" {
		t.Error("a short password")
	}
	got, err := o.AcceptInvite(ctx, token, "Eve", "another pony battery lamp")
	if err != nil || got.ID != u.ID || got.Role != sms.Approver || got.Name != u.Name {
		t.Fatalf("%+v %v", got, err)
	}
	if _, err := o.Session(ctx, here); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("an old session lives on: %v", err)
	}
	if _, _, err := o.SignIn(ctx, u.Email, "another pony battery lamp", "192.0.2.1", ""); err != nil {
		t.Error(err)
	}
	if _, err := o.AcceptInvite(ctx, token, "", goodPassword); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("second use: %v", err)
	}
	late, err := o.InviteAgain(ctx, boss, u)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.SaveUser(ctx, boss, u.ID, u.Role, false); err != nil {
		t.Fatal(err)
	}
	if _, err := o.AcceptInvite(ctx, late, "", goodPassword); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("a person who was deactivated comes back: %v", err)
	}
	u.Active = false
	if _, err := o.InviteAgain(ctx, boss, u); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("an offer to a person who was deactivated: %v", err)
	}
}
