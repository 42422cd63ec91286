package desk

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
)

// nobodyAtAll is a store in which no address is known.
type nobodyAtAll struct{ DoorStore }

func (nobodyAtAll) UserByEmail(context.Context, string) (sms.User, string, error) {
	return sms.User{}, "", sms.ErrNotFound
}

func (nobodyAtAll) PutAudit(context.Context, sms.Audit) error { return nil }

// TestUnknownAddressCostsTheSameWork: an unknown address goes through the same
// hash, with the same parameters, as a known one (ASVS 6.3.8).
func TestUnknownAddressCostsTheSameWork(t *testing.T) {
	d := New(Stores{Door: nobodyAtAll{}, Audit: nobodyAtAll{}}, nil, feed.New(), slog.New(slog.DiscardHandler), time.Now)
	for range cap(d.Door.signin.hashing) {
		d.Door.signin.hashing <- struct{}{}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := d.SignIn(ctx, "nobody@example.com", "a wrong password of fair length", "192.0.2.1",
		""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an unknown address was answered without hashing: %v", err)
	}
	params, salt, key, err := argon2id.DecodeHash(nobodysHash)
	if err != nil || *params != hashParams || len(salt) != int(hashParams.SaltLength) ||
		len(key) != int(hashParams.KeyLength) {
		t.Errorf("the dummy hash costs something else: %+v, %v", params, err)
	}
}
