package desk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
)

// Records takes the orders about what the provider keeps of an account: sender
// IDs, templates, groups and the balance.
type Records struct {
	work
	store    RecordStore
	reads    RefreshStore
	gateways Gateways
	lookups  *refreshLimiter
}

// RecordStore is what those orders need to be remembered.
type RecordStore interface {
	Account(ctx context.Context, id int64) (sms.Account, error)
	ChangeGroup(ctx context.Context, account, id int64, name string) error
	ChangePurpose(ctx context.Context, account, id int64, purpose string) error
	ChangeTemplate(ctx context.Context, account, id int64, name, text string) error
	ExpectGroup(ctx context.Context, account int64, name string, parent, now int64) error
	DeleteGroup(ctx context.Context, account, id int64) error
	DeleteSenderID(ctx context.Context, account, id int64) error
	DeleteTemplate(ctx context.Context, account, id int64) error
	DeleteTemplateDraft(ctx context.Context, account, id int64) error
	Groups(ctx context.Context, account int64) ([]sms.Group, error)
	PutTemplateDraft(ctx context.Context, d sms.TemplateDraft, now int64) (sms.TemplateDraft, error)
	RecordSettings(ctx context.Context, account int64) (sms.RecordSettings, error)
	SeeAlarms(ctx context.Context, account, last int64, by string, now int64) (int64, error)
	SenderIDs(ctx context.Context, account int64) ([]sms.SenderID, error)
	SetDefaultSender(ctx context.Context, account int64, text string, now int64) error
	TemplateDraft(ctx context.Context, account, id int64) (sms.TemplateDraft, error)
	Templates(ctx context.Context, account int64) ([]sms.Template, error)
	UnexpectGroup(ctx context.Context, account int64, name string) error
	UpdateRecordSettings(ctx context.Context, account int64, change func(*sms.RecordSettings) error) (
		sms.RecordSettings, error)
}

// recordReader reads records of one account and keeps them, or keeps why they
// could not be read.
type recordReader struct {
	store   RefreshStore
	gateway Gateway
	account int64
	now     func() time.Time
}

func readInto[T any](ctx context.Context, r recordReader, kind sms.RecordKind, read func(context.Context) ([]T, error),
	put func(context.Context, int64, []T, int64) error) ([]T, error) {
	list, err := read(ctx)
	if err == nil {
		return list, put(ctx, r.account, list, r.now().UnixMilli())
	}
	if f := failure(err); f != "" {
		err = errors.Join(err, r.store.MarkRecords(ctx, r.account, kind, f))
	}
	return nil, err
}

func (r recordReader) balance(ctx context.Context) ([]sms.Balance, error) {
	return readInto(ctx, r, sms.RecordBalance, r.gateway.Balance, r.store.PutBalances)
}

func (r recordReader) senders(ctx context.Context) ([]sms.SenderID, error) {
	return readInto(ctx, r, sms.RecordSenders, r.gateway.SenderIDs, r.store.PutSenderIDs)
}

func (r recordReader) templates(ctx context.Context) ([]sms.Template, error) {
	return readInto(ctx, r, sms.RecordTemplates, r.gateway.Templates, r.store.PutTemplates)
}

func (r recordReader) groups(ctx context.Context) error {
	_, err := readInto(ctx, r, sms.RecordGroups, r.gateway.Groups, r.store.PutGroups)
	return err
}

func (r recordReader) read(ctx context.Context, kind sms.RecordKind) (err error) {
	switch kind {
	case sms.RecordBalance:
		_, err = r.balance(ctx)
	case sms.RecordSenders:
		_, err = r.senders(ctx)
	case sms.RecordTemplates:
		_, err = r.templates(ctx)
	case sms.RecordGroups:
		err = r.groups(ctx)
	default:
		err = sms.ErrNotFound
	}
	return err
}

// RefreshRecords reads an account's records of one kind again. Who comes while
// they are read, or just afterwards, shares the answer. The error's text may be
// shown, and is kept for the pages.
func (d *Records) RefreshRecords(ctx context.Context, by sms.User, account int64, kind sms.RecordKind) error {
	if err := by.May(sms.Sender, "refresh "+string(kind)); err != nil {
		return err
	}
	return d.lookUpRecords(ctx, account, kind)
}

func (d *Records) lookUpRecords(ctx context.Context, account int64, kind sms.RecordKind) error {
	return d.refreshUnknown(ctx, string(kind), account, func(ctx context.Context, g Gateway) error {
		return recordReader{d.reads, g, account, d.now}.read(ctx, kind)
	})
}

// recordChange is one change of a record at the service. Its functions may be
// nil.
type recordChange struct {
	kind    sms.RecordKind
	account int64
	action  string // for the record of who did what
	detail  string
	// check looks at what is known here, right before the call.
	check func(ctx context.Context) error
	call  func(ctx context.Context, g Gateway) (string, error)
	// keep stores what the service has done, forget that it has no such record.
	keep, forget func(ctx context.Context) error
	// shows looks into the list, read again, for the change.
	shows func(ctx context.Context) (bool, error)
}

const changeTimeout = 90 * time.Second

// updateAtProvider makes one call, once, and keeps what came of it. Changes of one
// account's records of one kind are made one after the other, so that each
// looks at what the one before left. It goes on when the person's browser has
// gone: a request that has left is not called back. What the service refuses is
// an Invalid with the field "provider", or "name" for a name that is taken; a
// record that is gone there is sms.ErrGone, and gone here too.
func (d *Records) updateAtProvider(ctx context.Context, by sms.User, c recordChange) (said string, err error) {
	turn := d.lookups.of(fmt.Sprint("change of ", c.kind, c.account))
	turn.mu.Lock()
	defer turn.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), changeTimeout)
	defer cancel()
	if c.check != nil {
		if err := c.check(ctx); err != nil {
			return "", err
		}
	}
	a, err := d.store.Account(ctx, c.account)
	if err != nil {
		return "", err
	}
	g, err := d.gateways.For(ctx, a)
	if err != nil {
		return "", err
	}
	said, err = c.call(ctx, g)
	reader := recordReader{d.reads, g, c.account, d.now}
	switch {
	case errors.Is(err, sms.ErrGone):
		if c.forget != nil {
			err = errors.Join(err, c.forget(ctx))
		}
		d.reload(ctx, reader, c.kind)
		d.feed.Publish(feed.Records(c.account))
		return "", err
	case errors.Is(err, sms.ErrUncertain):
		if said, err = d.verifyChange(ctx, reader, c, err); err != nil {
			return "", err
		}
	case errors.Is(err, sms.ErrTaken):
		return "", sms.Invalid{"name": err.Error()}
	case err != nil:
		return "", sms.Invalid{"provider": err.Error()}
	}
	if c.keep != nil {
		if err := c.keep(ctx); err != nil {
			return "", err
		}
	}
	d.reload(ctx, reader, c.kind)
	d.audit(ctx, by, c.action, feed.Account(c.account), c.detail)
	d.feed.Publish(feed.Records(c.account), feed.Account(c.account))
	return said, nil
}

// reload brings what is kept up to date after a change. That it fails is kept
// for the page, and does not undo the change.
func (d *Records) reload(ctx context.Context, r recordReader, kind sms.RecordKind) {
	if err := r.read(ctx, kind); err != nil {
		d.log.Warn(string(kind)+" not read after a change", "account", r.account, "error", err)
	}
}

// verifyChange reads the list after a change of which nobody knows whether it
// was made.
func (d *Records) verifyChange(ctx context.Context, r recordReader, c recordChange,
	lost error) (said string, err error) {
	if c.shows == nil || r.read(ctx, c.kind) != nil {
		return "", sms.Invalid{"provider": lost.Error()}
	}
	there, err := c.shows(ctx)
	if err != nil {
		return "", err
	}
	d.feed.Publish(feed.Records(c.account))
	if !there {
		return "",
			sms.Invalid{"provider": "We lost the connection, and the change does not show at the provider. Refresh the list " +
				"in a minute. Try again only if the change is still missing"}
	}
	return "We lost the connection, but the provider shows the change. It is saved.", nil
}

// SaveRecordSettings changes what an account does with its records. The fields
// of its Invalid are those of sms.RecordSettings.Check.
func (d *Records) SaveRecordSettings(ctx context.Context, by sms.User, account int64,
	change func(*sms.RecordSettings)) (sms.RecordSettings, error) {
	if err := by.May(sms.Administrator, "save the settings of records"); err != nil {
		return sms.RecordSettings{}, err
	}
	if _, err := d.store.Account(ctx, account); err != nil {
		return sms.RecordSettings{}, err
	}
	after, err := d.store.UpdateRecordSettings(ctx, account, func(s *sms.RecordSettings) error {
		change(s)
		return s.Check()
	})
	if err != nil {
		return after, err
	}
	d.audit(ctx, by, "account.records", feed.Account(account),
		fmt.Sprintf("creates %t, warning below %d, floor %d (hundredths), others send %t",
			after.Creates, after.WarnBelow, after.Floor, after.OthersSend))
	d.feed.Publish(feed.Account(account), feed.Records(account))
	return after, nil
}

// SeeAlarms says that a person has seen the alarms about a balance, up to the
// last one that was shown.
func (d *Records) SeeAlarms(ctx context.Context, by sms.User, account, last int64) error {
	if err := by.May(sms.Manager, "see alarms"); err != nil {
		return err
	}
	n, err := d.store.SeeAlarms(ctx, account, last, by.Name, d.ms())
	if err != nil || n == 0 {
		return err
	}
	d.audit(ctx, by, "balance.seen", feed.Account(account), fmt.Sprintf("%d alarms", n))
	d.feed.Publish(feed.Account(account))
	return nil
}

// BalanceXML asks for the balance in the other format of §4.1 and shows what came.
func (d *Records) BalanceXML(ctx context.Context, by sms.User,
	account int64) (list []sms.Balance, raw string, err error) {
	if err := by.May(sms.Administrator, "ask for the balance as XML"); err != nil {
		return nil, "", err
	}
	err = d.readRecords(ctx, account, func(ctx context.Context, g Gateway) error {
		if list, raw, err = g.BalanceXML(ctx); err != nil {
			err = sms.Invalid{"provider": err.Error()}
		}
		return err
	})
	return list, raw, err
}

// recordOf finds a record by its id in a list that was read with err.
func recordOf[T any](what string, id int64, list []T, err error, idOf func(T) int64) (found T, _ error) {
	i := slices.IndexFunc(list, func(x T) bool { return idOf(x) == id })
	switch {
	case err != nil:
		return found, err
	case i < 0:
		return found, fmt.Errorf("%s %d: %w", what, id, sms.ErrNotFound)
	}
	return list[i], nil
}
