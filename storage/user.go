package storage

import (
	"context"
	"fmt"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// staffStore keeps the team members, their sessions and their tokens.
type staffStore struct{ *core }

// CreateUser stores a person. An email address in use gives sms.ErrConflict.
func (db staffStore) CreateUser(ctx context.Context, u sms.User, passwordHash string, now int64) (sms.User, error) {
	err := db.update(ctx, "create user", func(t *tx) error {
		id, err := t.InsertUser(ctx, query.InsertUserParams{Email: u.Email, Name: u.Name, Role: string(u.Role),
			PasswordHash: passwordHash, CreatedAt: now})
		u.ID, u.Active, u.CreatedAt = id, true, now
		return err
	})
	return u, err
}

// CreateFirstAdministrator stores the first administrator; sms.ErrConflict
// when there is one already, however many people try at once.
func (db staffStore) CreateFirstAdministrator(ctx context.Context, u sms.User, passwordHash string,
	now int64) (sms.User, error) {
	u.Role = sms.Administrator
	err := db.update(ctx, "create the first administrator", func(t *tx) error {
		n, err := t.CountAdministrators(ctx)
		if err != nil {
			return err
		}
		if n > 0 {
			return fmt.Errorf("%w: there is an administrator already", sms.ErrConflict)
		}
		u.ID, err = t.InsertUser(ctx, query.InsertUserParams{Email: u.Email, Name: u.Name, Role: string(u.Role),
			PasswordHash: passwordHash, CreatedAt: now})
		u.Active, u.CreatedAt = true, now
		return err
	})
	return u, err
}

// UserByEmail finds a person and the hash of the password.
func (db staffStore) UserByEmail(ctx context.Context, email string) (sms.User, string, error) {
	r, err := db.read().UserByEmail(ctx, email)
	if _, err := wrapNotFound(r, err, "read user"); err != nil {
		return sms.User{}, "", err
	}
	return user(r), r.PasswordHash, nil
}

// Users lists everybody, by name.
func (db staffStore) Users(ctx context.Context) ([]sms.User, error) {
	rows, err := db.read().Users(ctx)
	return foundAll(rows, err, user, "list users")
}

// UpdateUser changes a person's name, role and whether they may sign in; the
// closure also gets the number of active administrators. A change of rights
// ends the person's sessions in the same transaction.
func (db staffStore) UpdateUser(ctx context.Context, id int64, change func(u *sms.User, administrators int64) error) (
	u sms.User, err error) {
	err = db.update(ctx, "save user", func(t *tx) error {
		row, err := t.UserByID(ctx, id)
		if err != nil {
			return err
		}
		n, err := t.CountAdministrators(ctx)
		if err != nil {
			return err
		}
		before := user(row)
		u = before
		if err := change(&u, n); err != nil {
			return err
		}
		if _, err = t.SetUser(ctx, query.SetUserParams{ID: id, Name: u.Name, Role: string(u.Role),
			Active: u.Active}); err != nil {
			return err
		}
		if u.Role == before.Role && u.Active == before.Active {
			return nil
		}
		return t.EndUserSessions(ctx, id)
	})
	return u, err
}

// SetPassword stores the hash of a new password and ends every session of
// the person.
func (db staffStore) SetPassword(ctx context.Context, id int64, passwordHash string) error {
	return db.update(ctx, "change password", func(t *tx) error {
		n, err := t.Queries.SetPassword(ctx, id, passwordHash)
		if err != nil || n == 0 {
			return conflictIfNil(err)
		}
		return t.EndUserSessions(ctx, id)
	})
}

// SetTestNumber remembers where a person sent a test message.
func (db staffStore) SetTestNumber(ctx context.Context, id int64, number string) error {
	return db.update(ctx, "remember the test number", func(t *tx) error {
		return t.Queries.SetTestNumber(ctx, id, number)
	})
}

// Administrators counts the active administrators.
func (db staffStore) Administrators(ctx context.Context) (int64, error) {
	n, err := db.read().CountAdministrators(ctx)
	return wrapNotFound(n, err, "count administrators")
}

func user(r query.AppUser) sms.User {
	return sms.User{ID: r.ID, Email: r.Email, Name: r.Name, Role: sms.Role(r.Role), Active: r.Active,
		CreatedAt: r.CreatedAt, TestNumber: r.TestNumber}
}

// CreateInvite stores an invitation under the SHA-256 of its token.
func (db staffStore) CreateInvite(ctx context.Context, hash [32]byte, i sms.Invite, by int64) error {
	return db.update(ctx, "create invitation", func(t *tx) error {
		return t.InsertInvite(ctx, query.InsertInviteParams{Hash: hash[:], Email: i.Email, Role: string(i.Role),
			CreatedBy: by, CreatedAt: i.CreatedAt, ExpiresAt: i.ExpiresAt})
	})
}

// Invite finds an invitation that can still be used.
func (db staffStore) Invite(ctx context.Context, hash [32]byte, now int64) (sms.Invite, error) {
	r, err := db.read().OpenInvite(ctx, hash[:], now)
	if _, err := wrapNotFound(r, err, "read invitation"); err != nil {
		return sms.Invite{}, err
	}
	return sms.Invite{Email: r.Email, Role: sms.Role(r.Role), CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt}, nil
}

// Invites lists the invitations that can still be used.
func (db staffStore) Invites(ctx context.Context, now int64) ([]sms.Invite, error) {
	rows, err := db.read().OpenInvites(ctx, now)
	return foundAll(rows, err, func(r query.Invite) sms.Invite {
		return sms.Invite{Email: r.Email, Role: sms.Role(r.Role), CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt}
	}, "list invitations")
}

// AcceptInvite uses an invitation once and makes its person. The address and
// the role are those of the invitation, whatever the caller thinks. One without
// a role gives an active person of that address a new password and ends their
// sessions; the name stays.
func (db staffStore) AcceptInvite(ctx context.Context, hash [32]byte, name, passwordHash string,
	now int64) (u sms.User, err error) {
	err = db.update(ctx, "accept invitation", func(t *tx) error {
		i, err := t.OpenInvite(ctx, hash[:], now)
		if err != nil {
			return err
		}
		if n, err := t.UseInvite(ctx, hash[:], now); err != nil || n != 1 {
			return fmt.Errorf("use the invitation: %w", conflictIfNil(err))
		}
		if i.Role == "" {
			u, err = accountTx{t}.newPassword(ctx, i.Email, passwordHash)
			return err
		}
		u = sms.User{Email: i.Email, Name: name, Role: sms.Role(i.Role), Active: true, CreatedAt: now}
		u.ID, err = t.InsertUser(ctx, query.InsertUserParams{Email: u.Email, Name: u.Name, Role: i.Role,
			PasswordHash: passwordHash, CreatedAt: now})
		return err
	})
	return u, err
}

func (t accountTx) newPassword(ctx context.Context, email, passwordHash string) (sms.User, error) {
	row, err := t.UserByEmail(ctx, email)
	if err != nil {
		return sms.User{}, err
	}
	if !row.Active {
		return sms.User{}, errUnexpected
	}
	if n, err := t.Queries.SetPassword(ctx, row.ID, passwordHash); err != nil || n != 1 {
		return sms.User{}, conflictIfNil(err)
	}
	return user(row), t.EndUserSessions(ctx, row.ID)
}

func conflictIfNil(err error) error {
	if err == nil {
		return errUnexpected
	}
	return err
}
