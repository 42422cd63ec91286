package desk

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
)

// Accounts takes the orders about accounts at the provider and about how long
// what was sent is kept.
type Accounts struct {
	work
	store    AccountStore
	gateways Gateways
}

// AccountStore is what those orders need to be remembered.
type AccountStore interface {
	Account(ctx context.Context, id int64) (sms.Account, error)
	CreateAccount(ctx context.Context, a sms.Account, c sms.Credentials, now int64) (sms.Account, error)
	PutSetting(ctx context.Context, name, value string) error
	ResumeAccount(ctx context.Context, id int64) (bool, error)
	RotateCallback(ctx context.Context, account int64, kind string, now int64) error
	UpdateAccount(ctx context.Context, id, now int64, change func(*sms.Account, *sms.Credentials) error) (
		sms.Account, error)
	Users(ctx context.Context) ([]sms.User, error)
	RefreshStore
}

// withDefaults fills in what a new account needs and nobody said.
func withDefaults(a sms.Account) sms.Account {
	a.Name, a.BaseURL = strings.TrimSpace(a.Name), strings.TrimSuffix(strings.TrimSpace(a.BaseURL), "/")
	a.Country = strings.ToUpper(strings.TrimSpace(a.Country))
	a.Currency, a.Timezone = strings.TrimSpace(a.Currency), strings.TrimSpace(a.Timezone)
	for _, d := range []struct {
		field *int
		value int
	}{{&a.PerMinute, sms.DefaultPerMinute}, {&a.CallLimit, sms.DefaultCallLimit}, {&a.URLBudget, sms.DefaultURLBudget},
		{&a.MaxParts, sms.DefaultMaxParts}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if a.LateAfter == 0 {
		a.LateAfter = sms.DefaultLateAfter
	}
	return a
}

func checkAccount(a sms.Account, c sms.Credentials, credentialsNeeded bool) error {
	bad := sms.Invalid{}
	if err := a.Check(); err != nil && !errors.As(err, &bad) {
		return err
	}
	if credentialsNeeded && strings.TrimSpace(c.ClientID) == "" {
		bad["client_id"] = "Enter the client ID from the provider dashboard"
	}
	if credentialsNeeded && strings.TrimSpace(c.APIKey) == "" {
		bad["api_key"] = "Enter the API key from the provider dashboard"
	}
	return bad.Or()
}

var errNameTaken = sms.Invalid{"name": "An account with this name already exists. Choose another name"}

// CreateAccount stores an account. It does not call the service: a desk can
// be set up while the provider cannot be reached.
func (d *Accounts) CreateAccount(ctx context.Context, by sms.User, a sms.Account,
	c sms.Credentials) (sms.Account, error) {
	if err := by.May(sms.Administrator, "create account"); err != nil {
		return sms.Account{}, err
	}
	a = withDefaults(a)
	if err := checkAccount(a, c, true); err != nil {
		return sms.Account{}, err
	}
	made, err := d.store.CreateAccount(ctx, a, trimmed(c), d.ms())
	if errors.Is(err, sms.ErrConflict) {
		return sms.Account{}, errNameTaken
	}
	if err != nil {
		return sms.Account{}, err
	}
	d.audit(ctx, by, "account.create", feed.Account(made.ID), made.Name)
	d.feed.Publish(feed.Account(made.ID), feed.Account(0))
	return made, nil
}

// SaveAccount changes an account; credentials left empty stay as they are.
// New settings may cure what paused it, so a pause ends.
func (d *Accounts) SaveAccount(ctx context.Context, by sms.User, id int64,
	change func(*sms.Account, *sms.Credentials)) (
	sms.Account, error) {
	if err := by.May(sms.Administrator, "save account"); err != nil {
		return sms.Account{}, err
	}
	_, err := d.store.UpdateAccount(ctx, id, d.ms(), func(a *sms.Account, c *sms.Credentials) error {
		before := *a
		change(a, c)
		a.ID, a.Test = before.ID, before.Test
		*a, *c = withDefaults(*a), trimmed(*c)
		return checkAccount(*a, *c, false)
	})
	if errors.Is(err, sms.ErrConflict) {
		return sms.Account{}, errNameTaken
	}
	if err != nil {
		return sms.Account{}, err
	}
	if _, err := d.store.ResumeAccount(ctx, id); err != nil {
		return sms.Account{}, err
	}
	d.audit(ctx, by, "account.save", feed.Account(id), "")
	d.feed.Publish(feed.Account(id), feed.Account(0))
	return d.store.Account(ctx, id)
}

// Sending is how an account sends, apart from its connection.
type Sending struct {
	Hours     sms.Hours
	Limits    sms.Limits
	Abroad    bool
	TypeAbove int64
	// ApproveAbove is from how many recipients on a second person has to say yes.
	ApproveAbove int64
	CallLimit    int
	URLBudget    int
	SendByGet    bool // one text goes by GET /SendSMS (§4.3) instead of POST
}

// sendingOf is how an account sends now.
func sendingOf(a sms.Account) Sending {
	return Sending{Hours: a.Hours, Limits: a.Limits, Abroad: a.Abroad, TypeAbove: a.ConfirmCountAbove,
		ApproveAbove: a.ApproveAbove, CallLimit: a.CallLimit, URLBudget: a.URLBudget, SendByGet: a.SendByGet}
}

func (s Sending) put(a *sms.Account) {
	a.Hours, a.Limits, a.Abroad, a.ConfirmCountAbove, a.ApproveAbove = s.Hours, s.Limits, s.Abroad, s.TypeAbove,
		s.ApproveAbove
	a.CallLimit, a.URLBudget, a.SendByGet = s.CallLimit, s.URLBudget, s.SendByGet
}

// SaveSending changes how an account sends: change is given what is set now.
// Campaigns that are planned already keep their calls. The fields of its Invalid
// are those of sms.Account.Check and, where limits or approval change, of
// LimitConflicts.
func (d *Accounts) SaveSending(ctx context.Context, by sms.User, id int64, change func(*Sending)) (sms.Account, error) {
	if err := by.May(sms.Administrator, "save account"); err != nil {
		return sms.Account{}, err
	}
	team, err := d.store.Users(ctx)
	if err != nil {
		return sms.Account{}, err
	}
	a, err := d.store.UpdateAccount(ctx, id, d.ms(), func(a *sms.Account, _ *sms.Credentials) error {
		before := sendingOf(*a)
		s := before
		change(&s)
		s.put(a)
		if err := a.Check(); err != nil || s.Limits == before.Limits && s.ApproveAbove == before.ApproveAbove {
			return err
		}
		return LimitConflicts(*a, team).Or()
	})
	if err != nil {
		return a, err
	}
	d.audit(ctx, by, "account.sending", feed.Account(id), sendingOf(a).words())
	d.feed.Publish(feed.Account(id), feed.Account(0))
	return a, nil
}

// words are what is kept of a change.
func (s Sending) words() string {
	hours := "at any hour"
	if !s.Hours.Always() {
		hours = s.Hours.Words()
	}
	return fmt.Sprintf(
		"%s, abroad %t, number typed above %d, approved above %d, %d recipients a request, %d bytes an address, at most "+
			"%d messages in %d days to a person, %d recipients a day, %d a campaign, %d a day for one of the staff, by GET %t",
		hours, s.Abroad, s.TypeAbove, s.ApproveAbove, s.CallLimit, s.URLBudget, s.Limits.CapMessages, s.Limits.CapDays,
		s.Limits.MaxPerDay, s.Limits.MaxPerCampaign, s.Limits.MaxPerUserDay, s.SendByGet)
}

// LimitConflicts are limits that contradict each other, by field: day_most,
// person_day_most and approve_above. team are the people of the desk.
func LimitConflicts(a sms.Account, team []sms.User) sms.Invalid {
	bad, l := sms.Invalid{}, a.Limits
	most := humanize.Comma(l.MaxPerCampaign)
	if l.MaxPerDay > 0 && l.MaxPerDay < l.MaxPerCampaign {
		bad["day_most"] = "Maximum per day must be " + most + " or more, or the largest campaign would take more than a day"
	}
	if l.MaxPerUserDay > 0 && l.MaxPerUserDay < l.MaxPerCampaign {
		bad["person_day_most"] = "Maximum per team member must be " + most +
			" or more, or no one could send the largest campaign"
	}
	if senders, approvers := Approving(team); a.ApproveAbove > 0 && (approvers == 0 || approvers == 1 && senders == 1) {
		bad["approve_above"] = "No one could approve, because no one approves their own campaigns. " +
			"Give another team member the Approver role first, or leave this empty"
	}
	return bad
}

// Approving counts the people who may send campaigns, and those of them who may
// approve the campaigns of others.
func Approving(team []sms.User) (senders, approvers int) {
	for _, u := range team {
		if u.Active && u.Role.AtLeast(sms.Sender) {
			senders++
		}
		if u.Active && u.Role.AtLeast(sms.Approver) {
			approvers++
		}
	}
	return senders, approvers
}

// SavePrice changes what a part is taken to cost, in hundredths, and the sign
// before amounts; a price of 0 is learned from campaigns. A pause does not end.
// The fields of its Invalid are those of sms.Account.Check.
func (d *Accounts) SavePrice(ctx context.Context, by sms.User, id, price int64, currency string) error {
	if err := by.May(sms.Administrator, "save account"); err != nil {
		return err
	}
	_, err := d.store.UpdateAccount(ctx, id, d.ms(), func(a *sms.Account, _ *sms.Credentials) error {
		a.PricePerPart, a.Currency = price, strings.TrimSpace(currency)
		return a.Check()
	})
	if err != nil {
		return err
	}
	d.audit(ctx, by, "account.price", feed.Account(id), fmt.Sprintf("%d hundredths a part, currency %q", price, currency))
	d.feed.Publish(feed.Account(id), feed.Account(0))
	return nil
}

func trimmed(c sms.Credentials) sms.Credentials {
	return sms.Credentials{ClientID: strings.TrimSpace(c.ClientID), APIKey: strings.TrimSpace(c.APIKey)}
}

// AccountTest is the proof that an account works.
type AccountTest struct {
	Balances  []sms.Balance
	SenderIDs []sms.SenderID
	Templates []sms.Template // as they were read now; none when only they could not be
	Took      time.Duration  // of the balance call
}

// TestAccount asks the service for the balance, the sender IDs and the
// templates and keeps them. A test that succeeds ends a pause. The error's text may be shown.
func (d *Accounts) TestAccount(ctx context.Context, by sms.User, id int64) (AccountTest, error) {
	if err := by.May(sms.Administrator, "test account"); err != nil {
		return AccountTest{}, err
	}
	a, err := d.store.Account(ctx, id)
	if err != nil {
		return AccountTest{}, err
	}
	t, err := refresh(ctx, d.store, d.gateways, a, d.now)
	d.feed.Publish(feed.Account(id))
	if err != nil {
		return AccountTest{}, err
	}
	if _, err := d.store.ResumeAccount(ctx, id); err != nil {
		return AccountTest{}, err
	}
	d.audit(ctx, by, "account.test", feed.Account(id), "")
	d.feed.Publish(feed.Account(id), feed.Account(0))
	return t, nil
}

// RefreshAccount reads the balance and all records again.
// The error's text may be shown.
func (d *Accounts) RefreshAccount(ctx context.Context, by sms.User, id int64) error {
	if err := by.May(sms.Sender, "refresh account"); err != nil {
		return err
	}
	a, err := d.store.Account(ctx, id)
	if err != nil {
		return err
	}
	_, err = refresh(ctx, d.store, d.gateways, a, d.now)
	d.feed.Publish(feed.Account(id))
	return err
}

// Readings reads what the provider keeps of accounts, and stores it, for nobody in
// particular.
type Readings struct {
	store    RefreshStore
	gateways Gateways
	now      func() time.Time
}

// NewReadings returns Readings. now is the wall clock.
func NewReadings(store RefreshStore, gateways Gateways, now func() time.Time) *Readings {
	return &Readings{store, gateways, now}
}

// ReadBalance reads an account's balance again.
func (r *Readings) ReadBalance(ctx context.Context, a sms.Account) error {
	g, err := r.gateways.For(ctx, a)
	if err == nil {
		_, err = recordReader{r.store, g, a.ID, r.now}.balance(ctx)
	}
	return err
}

// ReadRecords reads an account's balance and records of every kind again.
func (r *Readings) ReadRecords(ctx context.Context, a sms.Account) error {
	_, err := refresh(ctx, r.store, r.gateways, a, r.now)
	return err
}

type RefreshStore interface {
	MarkAccount(ctx context.Context, id int64, failure string, now int64) error
	PutSenderIDs(ctx context.Context, account int64, list []sms.SenderID, now int64) error
	PutBalances(ctx context.Context, account int64, list []sms.Balance, now int64) error
	PutTemplates(ctx context.Context, account int64, list []sms.Template, now int64) error
	PutGroups(ctx context.Context, account int64, list []sms.Group, now int64) error
	MarkRecords(ctx context.Context, account int64, kind sms.RecordKind, failure string) error
}

// refresh reads an account's records from the service and stores them with
// the time they were read. Templates and groups are a convenience: an account
// that may not list them can send all the same, so why they failed is only kept.
func refresh(ctx context.Context, store RefreshStore, gateways Gateways, a sms.Account,
	now func() time.Time) (t AccountTest, err error) {
	g, err := gateways.For(ctx, a)
	if err != nil {
		return t, err
	}
	r := recordReader{store, g, a.ID, now}
	began := now()
	t.Balances, err = r.balance(ctx)
	t.Took = now().Sub(began)
	if err == nil {
		t.SenderIDs, err = r.senders(ctx)
	}
	if err != nil {
		if f := failure(err); f != "" {
			err = errors.Join(err, store.MarkAccount(ctx, a.ID, f, now().UnixMilli()))
		}
		return t, err
	}
	if err = store.MarkAccount(ctx, a.ID, "", now().UnixMilli()); err != nil {
		return t, err
	}
	t.Templates, _ = r.templates(ctx)
	_ = r.groups(ctx)
	return t, nil
}

// ResumeAccount ends a pause: sending starts again.
func (d *Accounts) ResumeAccount(ctx context.Context, by sms.User, id int64) error {
	if err := by.May(sms.Manager, "resume account"); err != nil {
		return err
	}
	resumed, err := d.store.ResumeAccount(ctx, id)
	if err != nil || !resumed {
		return err
	}
	d.audit(ctx, by, "account.resume", feed.Account(id), "")
	d.feed.Publish(feed.Account(id), feed.Account(0))
	return nil
}

// TakePosts says whether delivery reports that come by POST are stored like
// those that come by GET (§6.1).
func (d *Accounts) TakePosts(ctx context.Context, by sms.User, account int64, take bool) error {
	if err := by.May(sms.Administrator, "change how reports are received"); err != nil {
		return err
	}
	if _, err := d.store.UpdateAccount(ctx, account, d.ms(), func(a *sms.Account, _ *sms.Credentials) error {
		a.TakePosts = take
		return nil
	}); err != nil {
		return err
	}
	d.audit(ctx, by, "callback.posts", feed.Account(account), strconv.FormatBool(take))
	d.feed.Publish(feed.Account(account), feed.Account(0), feed.Reports(account))
	return nil
}

// RotateCallback makes a new callback address; the old one works for seven
// more days.
func (d *Accounts) RotateCallback(ctx context.Context, by sms.User, account int64, kind string) error {
	if err := by.May(sms.Administrator, "make a new callback address"); err != nil {
		return err
	}
	if kind != sms.CallbackDLR && kind != sms.CallbackUSSD {
		return sms.ErrNotFound
	}
	if err := d.store.RotateCallback(ctx, account, kind, d.ms()); err != nil {
		return err
	}
	d.audit(ctx, by, "callback.rotate", feed.Account(account), kind)
	d.feed.Publish(feed.Account(0))
	return nil
}
