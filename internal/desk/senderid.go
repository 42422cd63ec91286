package desk

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// senderAge is how long what was read of a sender ID is believed. The Reader
// reads much more often while the provider answers.
const senderAge = 15 * time.Minute

// senderProblem says why a sender ID cannot be used, or "". One that is not
// known to be usable, or was read long ago, is looked up at the service first.
// Where the service does not answer, what was read last counts.
func (d *Desk) senderProblem(ctx context.Context, account int64, sender string) (string, error) {
	if strings.TrimSpace(sender) == "" {
		return "Choose a sender ID", nil
	}
	usable, fresh, err := d.knownSender(ctx, account, sender)
	if err != nil || usable && fresh {
		return "", err
	}
	asked := d.lookUpSenders(ctx, account)
	if asked == nil {
		usable, _, err = d.knownSender(ctx, account, sender)
	}
	switch {
	case err != nil || usable:
		return "", err
	case asked != nil:
		return fmt.Sprintf("The sender ID %s is not known to be approved, and the provider could not be asked. Try again, or choose another", sender), nil
	}
	return fmt.Sprintf("The sender ID %s is not approved and active at the provider. Choose another", sender), nil
}

func (d *Desk) knownSender(ctx context.Context, account int64, sender string) (usable, fresh bool, err error) {
	list, err := d.store.SenderIDs(ctx, account)
	for _, s := range list {
		if s.Text == sender && s.Usable() {
			usable = true
			fresh = fresh || d.ms()-s.ReadAt < senderAge.Milliseconds()
		}
	}
	return usable, fresh, err
}

// lookUpSenders reads an account's sender IDs from the service and stores them.
func (d *Desk) lookUpSenders(ctx context.Context, account int64) error {
	return d.lookUp(ctx, "sender IDs", account, func(ctx context.Context, g Gateway) error {
		list, err := g.SenderIDs(ctx)
		if err != nil {
			return err
		}
		return d.store.PutSenderIDs(ctx, account, list, d.ms())
	})
}
