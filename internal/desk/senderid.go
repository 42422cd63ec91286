package desk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
)

// senderIDTTL is how long what was read of a sender ID is believed. The Reader
// reads much more often while the provider answers.
const senderIDTTL = 15 * time.Minute

// SenderProblem says why a sender ID cannot be used, or "". One that is not
// known to be usable, or was read long ago, is looked up at the service first.
// Where the service does not answer, what was read last counts.
func (d *Records) SenderProblem(ctx context.Context, account int64, sender string) (string, error) {
	if strings.TrimSpace(sender) == "" {
		return "Choose a sender ID", nil
	}
	usable, fresh, err := d.knownSender(ctx, account, sender)
	if err != nil || usable && fresh {
		return "", err
	}
	asked := d.lookUpRecords(ctx, account, sms.RecordSenders)
	if asked == nil {
		usable, _, err = d.knownSender(ctx, account, sender)
	}
	switch {
	case err != nil || usable:
		return "", err
	case asked != nil:
		return fmt.Sprintf(
			"We could not check with the provider whether sender ID %s is approved. Try again or choose another", sender), nil
	}
	return fmt.Sprintf("Sender ID %s is not approved and active. Choose another", sender), nil
}

func (d *Records) knownSender(ctx context.Context, account int64, sender string) (usable, fresh bool, err error) {
	list, err := d.store.SenderIDs(ctx, account)
	for _, s := range list {
		if s.Text == sender && s.Usable() {
			usable = true
			fresh = fresh || d.ms()-s.ReadAt < senderIDTTL.Milliseconds()
		}
	}
	return usable, fresh, err
}

// senderID finds a sender ID of an account as it was last read.
func (d *Records) senderID(ctx context.Context, account, id int64) (sms.SenderID, error) {
	list, err := d.store.SenderIDs(ctx, account)
	return recordOf("sender ID", id, list, err, func(x sms.SenderID) int64 { return x.ID })
}

// maxPurpose is the most characters of a purpose; the service's own limit is
// not shown.
const maxPurpose = 200

func purposeText(purpose string) (string, sms.Invalid) {
	purpose = sms.TidyName(purpose)
	switch {
	case purpose == "":
		return purpose, sms.Invalid{"purpose": "Enter what you will use this sender ID for"}
	case len([]rune(purpose)) > maxPurpose:
		return purpose, sms.Invalid{"purpose": fmt.Sprintf("Purpose must be %d characters or fewer", maxPurpose)}
	}
	return purpose, sms.Invalid{}
}

// UpdatePurpose changes the purpose of a sender ID at the service; its text is
// sent as it is, for it cannot change (§4.6). seen is the purpose that the
// person saw, as a form gives it back, line breaks changed: another one is the field changed of the
// Invalid. Other fields are
// purpose and provider. It returns the service's own words.
func (d *Records) UpdatePurpose(ctx context.Context, by sms.User, account, id int64, seen,
	purpose string) (said string, err error) {
	if err := by.May(sms.Manager, "update sender ID"); err != nil {
		return "", err
	}
	purpose, bad := purposeText(purpose)
	if err := bad.Or(); err != nil {
		return "", err
	}
	record, err := d.senderID(ctx, account, id)
	if err != nil {
		return "", err
	}
	return d.updateAtProvider(ctx, by, recordChange{kind: sms.RecordSenders, account: account, action: "senderid.update",
		detail: record.Text,
		check: func(ctx context.Context) error {
			now, err := d.senderID(ctx, account, id)
			if err == nil && sms.TidyName(now.Purpose) != sms.TidyName(seen) {
				err = sms.Invalid{"changed": "Someone else changed the purpose while you had it open. Check it, then save again"}
			}
			return err
		},
		call: func(ctx context.Context, g Gateway) (string, error) {
			return g.UpdateSenderID(ctx, id, record.Text, purpose)
		},
		keep:   func(ctx context.Context) error { return d.store.ChangePurpose(ctx, account, id, purpose) },
		forget: func(ctx context.Context) error { return d.store.DeleteSenderID(ctx, account, id) },
		shows: func(ctx context.Context) (bool, error) {
			now, err := d.senderID(ctx, account, id)
			return now.Purpose == purpose, err
		}})
}

// DeleteSenderID deletes a sender ID at the service for good (§4.6). It is not
// the account's default any more; campaigns that wait with it are held at their
// time.
func (d *Records) DeleteSenderID(ctx context.Context, by sms.User, account, id int64) (said string, err error) {
	if err := by.May(sms.Manager, "delete sender ID"); err != nil {
		return "", err
	}
	record, err := d.senderID(ctx, account, id)
	if err != nil {
		return "", err
	}
	forget := func(ctx context.Context) error {
		err := d.store.DeleteSenderID(ctx, account, id)
		a, failed := d.store.Account(ctx, account)
		if err == nil && failed == nil && a.DefaultSender == record.Text {
			failed = d.store.SetDefaultSender(ctx, account, "", d.ms())
		}
		return errors.Join(err, failed)
	}
	return d.updateAtProvider(ctx, by, recordChange{kind: sms.RecordSenders, account: account, action: "senderid.delete",
		detail: record.Text,
		call:   func(ctx context.Context, g Gateway) (string, error) { return g.DeleteSenderID(ctx, id) },
		keep:   forget, forget: forget,
		shows: func(ctx context.Context) (bool, error) { return isGone(d.senderID(ctx, account, id)) }})
}

// CreateSenderID asks the service for a sender ID, by a call that the
// specification does not show (§4.9); the account's settings must allow it. The
// fields of its Invalid are text, purpose and provider.
func (d *Records) CreateSenderID(ctx context.Context, by sms.User, account int64, text,
	purpose string) (said string, err error) {
	if err := by.May(sms.Manager, "create sender ID"); err != nil {
		return "", err
	}
	text = strings.TrimSpace(text)
	purpose, bad := purposeText(purpose)
	if sentence := sms.SenderTextProblem(text); sentence != "" {
		bad["text"] = sentence
	}
	if err := bad.Or(); err != nil {
		return "", err
	}
	return d.updateAtProvider(ctx, by, recordChange{kind: sms.RecordSenders, account: account, action: "senderid.create",
		detail: text,
		check:  func(ctx context.Context) error { return d.creates(ctx, account) },
		call:   func(ctx context.Context, g Gateway) (string, error) { return g.CreateSenderID(ctx, text, purpose) },
		shows: func(ctx context.Context) (bool, error) {
			list, err := d.store.SenderIDs(ctx, account)
			return slices.ContainsFunc(list, func(s sms.SenderID) bool { return s.Text == text }), err
		}})
}

// ChooseDefaultSender makes an approved and active sender ID the one that new
// messages begin with. The field of its Invalid is sender.
func (d *Records) ChooseDefaultSender(ctx context.Context, by sms.User, account, id int64) error {
	if err := by.May(sms.Manager, "choose the default sender ID"); err != nil {
		return err
	}
	record, err := d.senderID(ctx, account, id)
	if err != nil {
		return err
	}
	if !record.Usable() {
		return sms.Invalid{"sender": fmt.Sprintf("%s is not approved and active. Choose another", record.Text)}
	}
	if err := d.store.SetDefaultSender(ctx, account, record.Text, d.ms()); err != nil {
		return err
	}
	d.audit(ctx, by, "senderid.default", feed.Account(account), record.Text)
	d.feed.Publish(feed.Account(account), feed.Records(account))
	return nil
}
