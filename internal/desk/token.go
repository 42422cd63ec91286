package desk

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"smsdesk/internal/sms"
)

// tokenTouch is how exactly it is known when a token was last used.
const tokenTouch = time.Minute

func tokenName(id int64) string { return "token:" + strconv.FormatInt(id, 10) }

// mayHold refuses whoever is neither the token's person nor an administrator.
func mayHold(by, owner sms.User, doing string) error {
	if by.ID != 0 && by.ID == owner.ID {
		return by.May(sms.Viewer, doing)
	}
	return by.May(sms.Administrator, doing)
}

// CreateToken makes a token that acts as owner and returns its secret, which is
// shown once and stored nowhere. The fields of its Invalid are name and user.
func (d *Staff) CreateToken(ctx context.Context, by, owner sms.User,
	name string) (secret string, made sms.Token, err error) {
	if err := mayHold(by, owner, "create token"); err != nil {
		return "", made, err
	}
	name = strings.TrimSpace(name)
	bad := sms.Invalid{}
	if s := checkName(name); s != "" {
		bad["name"] = s
	}
	if !owner.Active || owner.ID == 0 {
		bad["user"] = "This team member cannot sign in, so the token would not work"
	}
	if err := bad.Or(); err != nil {
		return "", made, err
	}
	secret = sms.TokenPrefix + NewToken()
	made, err = d.store.CreateToken(ctx, sha256.Sum256([]byte(secret)),
		sms.Token{Name: name, User: owner, Hint: sms.HintOf(secret), CreatedAt: d.ms()})
	if err != nil {
		return "", made, err
	}
	d.audit(ctx, by, "token.create", tokenName(made.ID), fmt.Sprintf("%s, for %s", name, userName(owner.ID)))
	return secret, made, nil
}

// RevokeToken ends a token at once. One that has ended already is not an error.
func (d *Staff) RevokeToken(ctx context.Context, by sms.User, id int64) (sms.Token, error) {
	t, err := d.store.Token(ctx, id)
	if err != nil {
		return t, err
	}
	if err := mayHold(by, t.User, "revoke token"); err != nil {
		return sms.Token{}, err
	}
	revoked, err := d.store.RevokeToken(ctx, id, d.ms())
	if err != nil {
		return t, err
	}
	if revoked {
		d.audit(ctx, by, "token.revoke", tokenName(id), t.Name)
	}
	return d.store.Token(ctx, id)
}

// UseToken finds the token behind a secret. sms.ErrNotFound when it does not
// work: unknown, revoked, or of a person who may not sign in.
func (d *Staff) UseToken(ctx context.Context, secret string) (sms.Token, error) {
	if !sms.TokenLike(secret) {
		return sms.Token{}, fmt.Errorf("use token: %w", sms.ErrNotFound)
	}
	t, err := d.store.TokenByHash(ctx, sha256.Sum256([]byte(secret)))
	if err != nil {
		return sms.Token{}, err
	}
	if !t.Works() {
		return sms.Token{}, fmt.Errorf("the token has been revoked: %w", sms.ErrNotFound)
	}
	if now := d.ms(); now-t.UsedAt >= tokenTouch.Milliseconds() {
		// When it was last used is a help to people; no request fails for it.
		if err := d.store.TouchToken(ctx, t.ID, now); err != nil && !errors.Is(err, context.Canceled) {
			d.log.Error("use of a token not noted", "token", t.ID, "error", err)
		}
	}
	return t, nil
}

// OpenRequest writes down what a program asks for under a key of its own. When
// the same was asked for before it returns that with its result, if there is
// one; sms.ErrConflict when the key was used for something else.
func (d *Staff) OpenRequest(ctx context.Context, by sms.User, r sms.TokenRequest) (sms.TokenRequest, error) {
	if err := by.May(sms.Sender, "open request"); err != nil {
		return r, err
	}
	first, err := d.store.OpenTokenRequest(ctx, r, d.ms())
	if err == nil && first.Request != r.Request {
		err = fmt.Errorf("open request: %w: the key was used for another one", sms.ErrConflict)
	}
	return first, err
}

// EndRequest writes down the result of a request. Without one the key is free
// again: what was refused may be asked for in another way.
func (d *Staff) EndRequest(ctx context.Context, by sms.User, r sms.TokenRequest) error {
	if err := by.May(sms.Sender, "end request"); err != nil {
		return err
	}
	return d.store.EndTokenRequest(ctx, r)
}
