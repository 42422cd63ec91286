package workers

import (
	"context"
	"time"

	"smsdesk/internal/sms"
)

// Gateways opens accounts at the provider.
type Gateways interface {
	For(ctx context.Context, a sms.Account) (Gateway, error)
}

// Gateway is what sending asks of one account at the provider.
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
	// Fill chooses of messages that could go together, at most limit, those that
	// one call with a URL of at most budget bytes carries, the first among them,
	// and its form.
	Fill(call sms.Call, messages []sms.Recipient, limit, budget int) (sms.CallKind, []sms.Recipient)
}

// Records reads an account's records at the provider and keeps them, with
// why they could not be read.
type Records interface {
	// ReadBalance reads the balance alone.
	ReadBalance(ctx context.Context, a sms.Account) error
}
