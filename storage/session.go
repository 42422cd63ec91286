package storage

import (
	"context"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// CreateSession stores a session.
func (db staffStore) CreateSession(ctx context.Context, hash [32]byte, user int64, agent string, now int64) error {
	return db.update(ctx, "create session", func(t *tx) error {
		return t.InsertSession(ctx, query.InsertSessionParams{Hash: hash[:], UserID: user, CreatedAt: now, Agent: agent})
	})
}

// Session finds a session, also one that was ended, and its person as they are
// now.
func (db staffStore) Session(ctx context.Context, hash [32]byte) (sms.Session, error) {
	r, err := db.read().SessionByHash(ctx, hash[:])
	if _, err := wrapNotFound(r, err, "read session"); err != nil {
		return sms.Session{}, err
	}
	return sms.Session{
		User: sms.User{ID: r.ID, Email: r.Email, Name: r.Name, Role: sms.Role(r.Role), Active: r.Active,
			CreatedAt: r.CreatedAt, TestNumber: r.TestNumber},
		AccountID: r.ChosenAccount, CreatedAt: r.SignedInAt, SeenAt: r.SeenAt, Ended: r.Ended,
	}, nil
}

// TouchSession remembers that the session was used.
func (db staffStore) TouchSession(ctx context.Context, hash [32]byte, now int64) error {
	return db.update(ctx, "touch session", func(t *tx) error { return t.Queries.TouchSession(ctx, hash[:], now) })
}

// ChooseAccount remembers the account chosen in this browser.
func (db staffStore) ChooseAccount(ctx context.Context, hash [32]byte, account int64) error {
	return db.update(ctx, "choose account", func(t *tx) error {
		_, err := t.Queries.ChooseAccount(ctx, hash[:], account)
		return err
	})
}

// EndSession ends one session.
func (db staffStore) EndSession(ctx context.Context, hash [32]byte) error {
	return db.update(ctx, "end session", func(t *tx) error { return t.Queries.EndSession(ctx, hash[:]) })
}

// EndSessions ends every session of a person.
func (db staffStore) EndSessions(ctx context.Context, user int64) error {
	return db.update(ctx, "end sessions", func(t *tx) error { return t.EndUserSessions(ctx, user) })
}

// PurgeSessions removes sessions not used since idle or begun before oldest.
func (db staffStore) PurgeSessions(ctx context.Context, idle, oldest int64) error {
	return db.update(ctx, "forget old sessions", func(t *tx) error { return t.DeleteOldSessions(ctx, idle, oldest) })
}

// ReadSetting reads one setting; "" when it was never set.
func (db *core) ReadSetting(ctx context.Context, name string) (string, error) {
	v, err := db.read().Setting(ctx, name)
	if err = classify(err); err == sms.ErrNotFound {
		return "", nil
	}
	return wrapNotFound(v, err, "read setting")
}

// PutSetting stores one setting.
func (db *core) PutSetting(ctx context.Context, name, value string) error {
	return db.update(ctx, "store setting", func(t *tx) error { return t.Queries.PutSetting(ctx, name, value) })
}

// PutAudit adds a line to the audit log. Lines are never changed.
func (db staffStore) PutAudit(ctx context.Context, a sms.Audit) error {
	return db.update(ctx, "write the audit log", func(t *tx) error {
		return t.InsertAudit(ctx, query.InsertAuditParams{At: a.At, UserID: a.User.ID, UserName: a.User.Name,
			Action: a.Action, Object: a.Object, Detail: a.Detail})
	})
}
