package desk

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"smsdesk/internal/sms"
)

// Gateway is one account at the bulk-SMS service.
type Gateway interface {
	// Send makes one call. licence is called once, after the connection
	// stands and before the first byte; an error from it ends the call unsent.
	// ctx ends the waiting before the licence and nothing after it.
	Send(ctx context.Context, call sms.Call, licence func() error) sms.Outcome
	// SendUrgent is Send in one of the places that are kept for a single
	// message that a person waits for.
	SendUrgent(ctx context.Context, call sms.Call, licence func() error) sms.Outcome
	// Wait is how long until a call of a campaign could start, 0 for now;
	// WaitUrgent is the same for an urgent one.
	Wait() time.Duration
	WaitUrgent() time.Duration
	// PairsOverhead is the bytes of the whole URL of GET /SendBulkSMS (§4.4)
	// with MobileNumber_Message empty and Is_Unicode false; Overhead is the
	// same for a call as it is, whose recipients it does not look at.
	PairsOverhead(senderID string, flash bool) int
	Overhead(call sms.Call) int
	Balance(ctx context.Context) ([]sms.Balance, error)
	SenderIDs(ctx context.Context) ([]sms.SenderID, error)
	Templates(ctx context.Context) ([]sms.Template, error)
}

// Opener makes a Gateway. recent are calls already made in the last minute,
// so that a restart does not exceed the rate.
type Opener func(a sms.Account, c sms.Credentials, recent []time.Time) (Gateway, error)

// Gateways keeps one open Gateway per account, because the rate limit and
// what was learnt from 429 answers live in it.
type Gateways struct {
	mu    sync.Mutex
	open  Opener
	store gatewayStore
	now   func() time.Time
	by    map[int64]openGateway
}

type openGateway struct {
	Gateway
	changedAt int64
	baseURL   string
}

type gatewayStore interface {
	Credentials(ctx context.Context, account int64) (sms.Credentials, error)
	RecentLicences(ctx context.Context, account, since int64) ([]time.Time, error)
}

// NewGateways returns a set with nothing open.
func NewGateways(open Opener, store gatewayStore, now func() time.Time) *Gateways {
	return &Gateways{open: open, store: store, now: now, by: map[int64]openGateway{}}
}

// For returns the account's gateway, opened afresh when its settings changed.
func (g *Gateways) For(ctx context.Context, a sms.Account) (Gateway, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if o, ok := g.by[a.ID]; ok && o.changedAt == a.ChangedAt && o.baseURL == a.BaseURL {
		return o.Gateway, nil
	}
	secrets, err := g.store.Credentials(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	recent, err := g.store.RecentLicences(ctx, a.ID, g.now().Add(-time.Minute).UnixMilli())
	if err != nil {
		return nil, err
	}
	made, err := g.open(a, secrets, recent)
	if err != nil {
		return nil, fmt.Errorf("open account %q: %w", a.Name, err)
	}
	g.by[a.ID] = openGateway{made, a.ChangedAt, a.BaseURL}
	return made, nil
}

// failure is what an account's connection shows for err: nothing when the
// waiting was ended from our side.
func failure(err error) string {
	if err == nil || errors.Is(err, context.Canceled) {
		return ""
	}
	return err.Error()
}
