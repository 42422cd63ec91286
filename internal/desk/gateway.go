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
	Records
}

// Records are an account's records at the service: §4.1 and §4.5 to §4.7.
// Changes are made once and never repeated; they return the service's own
// words. Their errors are sms.ErrTaken (027), sms.ErrGone (028),
// sms.ErrUncertain, and others of which the text may be shown.
type Records interface {
	Balance(ctx context.Context) ([]sms.Balance, error)
	// BalanceXML asks for XML; raw is the answer's text of at most 16 KiB.
	BalanceXML(ctx context.Context) (list []sms.Balance, raw string, err error)
	templateRecords
	senderRecords
	groupRecords
}

type templateRecords interface {
	Templates(ctx context.Context) ([]sms.Template, error)
	// CreateTemplate is a call that the specification does not show (§4.9).
	CreateTemplate(ctx context.Context, name, text string) (string, error)
	UpdateTemplate(ctx context.Context, id int64, name, text string) (string, error)
	DeleteTemplate(ctx context.Context, id int64) (string, error)
}

type senderRecords interface {
	SenderIDs(ctx context.Context) ([]sms.SenderID, error)
	// CreateSenderID is a call that the specification does not show (§4.9).
	CreateSenderID(ctx context.Context, text, purpose string) (string, error)
	UpdateSenderID(ctx context.Context, id int64, text, purpose string) (string, error)
	DeleteSenderID(ctx context.Context, id int64) (string, error)
}

type groupRecords interface {
	Groups(ctx context.Context) ([]sms.Group, error)
	CreateGroup(ctx context.Context, name string) (string, error)
	CreateSubGroup(ctx context.Context, parent int64, name string) (string, error)
	UpdateGroup(ctx context.Context, id int64, name string) (string, error)
	DeleteGroup(ctx context.Context, id int64) (string, error)
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
