package storage

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"smsdesk/internal/sms"
)

func TestTokens(t *testing.T) {
	f := newFixture(t)
	ada, err := f.db.CreateUser(f.ctx, sms.User{Email: "ada@example.com", Name: "Ada", Role: sms.Sender}, "hash", f.now())
	f.must(err)
	secret := sms.TokenPrefix + strings.Repeat("0a", 32)
	hash := sha256.Sum256([]byte(secret))
	made, err := f.db.CreateToken(f.ctx, hash, sms.Token{Name: "Billing", User: ada, Hint: sms.HintOf(secret),
		CreatedAt: f.now()})
	f.must(err)
	if _, err := f.db.CreateToken(f.ctx, hash, sms.Token{Name: "Again", User: ada}); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("the same secret twice: %v", err)
	}
	f.must(f.db.TouchToken(f.ctx, made.ID, 77))
	got, err := f.db.TokenByHash(f.ctx, hash)
	f.must(err)
	if !got.Works() || got.User.Email != "ada@example.com" || got.UsedAt != 77 || got.Hint != "0a0a" {
		t.Errorf("%+v", got)
	}
	_, err = f.db.UpdateUser(f.ctx, ada.ID, func(u *sms.User, _ int64) error { u.Active = false; return nil })
	f.must(err)
	if got, err = f.db.TokenByHash(f.ctx, hash); err != nil || got.Works() {
		t.Errorf("the token of somebody who may not sign in works: %v", err)
	}
	for i, want := range []bool{true, false} {
		if revoked, err := f.db.RevokeToken(f.ctx, made.ID, f.now()); err != nil || revoked != want {
			t.Errorf("revocation %d: %t %v", i, revoked, err)
		}
	}
	if list, err := f.db.Tokens(f.ctx, 0); err != nil || len(list) != 1 || list[0].RevokedAt == 0 {
		t.Errorf("%+v %v", list, err)
	}
	if list, err := f.db.Tokens(f.ctx, ada.ID+1); err != nil || len(list) != 0 {
		t.Errorf("somebody else's: %+v %v", list, err)
	}
	if _, err := f.db.TokenByHash(f.ctx, sha256.Sum256([]byte("other"))); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("%v", err)
	}
	f.must(f.db.Close())
	for _, name := range []string{"smsdesk.db", "smsdesk.db-wal"} {
		if raw, err := os.ReadFile(filepath.Join(f.data, name)); err == nil &&
			bytes.Contains(raw, []byte(secret[len(sms.TokenPrefix):])) {
			t.Errorf("%s holds the secret", name)
		}
	}
}

// What stands under a key is what was asked for first, until it has failed.
func TestTokenRequests(t *testing.T) {
	f := newFixture(t)
	ada, err := f.db.CreateUser(f.ctx, sms.User{Email: "ada@example.com", Name: "Ada", Role: sms.Sender}, "hash", f.now())
	f.must(err)
	token, err := f.db.CreateToken(f.ctx, sha256.Sum256([]byte("a")), sms.Token{Name: "Billing", User: ada})
	f.must(err)
	one := sms.TokenRequest{TokenID: token.ID, Key: "k1", Request: sha256.Sum256([]byte("one"))}
	two := sms.TokenRequest{TokenID: token.ID, Key: "k1", Request: sha256.Sum256([]byte("two"))}
	for range 2 {
		if got, err := f.db.OpenTokenRequest(f.ctx, one, 10); err != nil || got != one {
			t.Fatalf("%+v %v", got, err)
		}
	}
	if got, err := f.db.OpenTokenRequest(f.ctx, two, 10); err != nil || got != one {
		t.Errorf("another request under the same key: %+v %v", got, err)
	}
	f.must(f.db.EndTokenRequest(f.ctx, one))
	if got, err := f.db.OpenTokenRequest(f.ctx, two, 10); err != nil || got != two {
		t.Errorf("after a failure: %+v %v", got, err)
	}
	two.CampaignID = 9
	f.must(f.db.EndTokenRequest(f.ctx, two))
	f.must(f.db.EndTokenRequest(f.ctx, one))
	if got, err := f.db.OpenTokenRequest(f.ctx, one, 10); err != nil || got != two {
		t.Errorf("a result is not kept: %+v %v", got, err)
	}
	f.must(f.db.PurgeTokenRequests(f.ctx, 11))
	if got, err := f.db.OpenTokenRequest(f.ctx, one, 12); err != nil || got != one {
		t.Errorf("an old one is not forgotten: %+v %v", got, err)
	}
}
