package storage

import (
	"context"

	"smsdesk/internal/sms"
	"smsdesk/storage/query"
)

// CreateToken stores a token under the SHA-256 of its secret.
func (db staffStore) CreateToken(ctx context.Context, hash [32]byte, t sms.Token) (sms.Token, error) {
	err := db.update(ctx, "create token", func(tx *tx) error {
		id, err := tx.InsertToken(ctx, query.InsertTokenParams{Name: t.Name, UserID: t.User.ID, Hash: hash[:], Hint: t.Hint,
			CreatedAt: t.CreatedAt})
		t.ID = id
		return err
	})
	return t, err
}

// TokenByHash finds a token, working or not, with its person as they are now.
func (db staffStore) TokenByHash(ctx context.Context, hash [32]byte) (sms.Token, error) {
	r, err := db.read().TokenByHash(ctx, hash[:])
	if _, err := wrapNotFound(r, err, "read token"); err != nil {
		return sms.Token{}, err
	}
	return token(r.Token, r.AppUser), nil
}

// Token finds a token by id.
func (db staffStore) Token(ctx context.Context, id int64) (sms.Token, error) {
	r, err := db.read().TokenByID(ctx, id)
	if _, err := wrapNotFound(r, err, "read token"); err != nil {
		return sms.Token{}, err
	}
	return token(r.Token, r.AppUser), nil
}

// Tokens lists the tokens of a person, or everybody's for 0: those not revoked
// first, the newest first, at most 500.
func (db staffStore) Tokens(ctx context.Context, user int64) ([]sms.Token, error) {
	rows, err := db.read().Tokens(ctx, user)
	return foundAll(rows, err, func(r query.TokensRow) sms.Token {
		return token(r.Token, r.AppUser)
	}, "list tokens")
}

// TouchToken remembers that a token was used.
func (db staffStore) TouchToken(ctx context.Context, id, now int64) error {
	return db.update(ctx, "touch token", func(t *tx) error { return t.Queries.TouchToken(ctx, id, now) })
}

// RevokeToken ends a token; revoked is false when it had ended before.
func (db staffStore) RevokeToken(ctx context.Context, id, now int64) (revoked bool, err error) {
	err = db.update(ctx, "revoke token", func(t *tx) error {
		n, err := t.Queries.RevokeToken(ctx, id, now)
		revoked = n == 1
		return err
	})
	return revoked && err == nil, err
}

// OpenTokenRequest stores what a program asks for under a key, unless the key
// is in use, and returns what stands under it.
func (db staffStore) OpenTokenRequest(ctx context.Context, r sms.TokenRequest,
	now int64) (first sms.TokenRequest, err error) {
	err = db.update(ctx, "store a program's request", func(t *tx) error {
		if err := t.InsertTokenRequest(ctx, query.InsertTokenRequestParams{TokenID: r.TokenID, Key: r.Key,
			Request: r.Request[:], CreatedAt: now}); err != nil {
			return err
		}
		row, err := t.TokenRequest(ctx, r.TokenID, r.Key)
		if err != nil {
			return err
		}
		first = sms.TokenRequest{TokenID: row.TokenID, Key: row.Key, CampaignID: row.CampaignID}
		if copy(first.Request[:], row.Request) != len(first.Request) {
			return errUnexpected
		}
		return nil
	})
	return first, err
}

// EndTokenRequest stores the result of a request. Without one, which is 0, the
// key is free again.
func (db staffStore) EndTokenRequest(ctx context.Context, r sms.TokenRequest) error {
	return db.update(ctx, "store a program's result", func(t *tx) error {
		if r.CampaignID == 0 {
			return t.DeleteTokenRequest(ctx, r.TokenID, r.Key)
		}
		_, err := t.SetTokenRequest(ctx, r.TokenID, r.Key, r.CampaignID)
		return err
	})
}

// PurgeTokenRequests removes requests made before the given time.
func (db staffStore) PurgeTokenRequests(ctx context.Context, before int64) error {
	return db.update(ctx, "forget old requests", func(t *tx) error { return t.DeleteOldTokenRequests(ctx, before) })
}

func token(r query.Token, u query.AppUser) sms.Token {
	return sms.Token{ID: r.ID, Name: r.Name, User: user(u), Hint: r.Hint, CreatedAt: r.CreatedAt, UsedAt: r.UsedAt,
		RevokedAt: r.RevokedAt}
}
