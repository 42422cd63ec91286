package desk

import (
	"context"
	"errors"
	"time"

	"smsdesk/internal/health"
	"smsdesk/internal/plan"
	"smsdesk/internal/sms"
)

// Gateways opens accounts at the provider.
type Gateways interface {
	For(ctx context.Context, a sms.Account) (Gateway, error)
	// Standing is the computer's clock, which shows wall now, as the account sees
	// it.
	Standing(a sms.Account, wall time.Time) health.ClockStanding
}

// Gateway is what orders ask of one account at the provider.
type Gateway interface {
	// PairSize is how much of a call's room a message takes that goes with
	// messages of other texts; ok is false for one that cannot.
	PairSize(number, text string) (n int, ok bool)
	// PairRoom is how much room such a call has, with a URL of at most budget
	// bytes. It does not look at the call's recipients.
	PairRoom(call sms.Call, budget int) int
	// TextLimit is how many recipients a call of one text may have, at most limit.
	TextLimit(call sms.Call, limit int) int
	AccountRecords
}

// AccountRecords are an account's records at the service: §4.1 and §4.5 to §4.7.
// Changes are made once and never repeated; they return the service's own
// words. Their errors are sms.ErrTaken (027), sms.ErrGone (028),
// sms.ErrUncertain, and others of which the text may be shown.
type AccountRecords interface {
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

// ClockStanding is the computer's clock as the account's service and the journal
// see it.
func (d *Accounts) ClockStanding(a sms.Account) health.ClockStanding {
	return d.gateways.Standing(a, d.now())
}

// failure is what an account's connection shows for err: nothing when the
// waiting was ended from our side.
func failure(err error) string {
	if err == nil || errors.Is(err, context.Canceled) {
		return ""
	}
	return err.Error()
}

// textLimit is how many recipients a call of the campaign's one text may have,
// which only the URL of a GET bounds further.
func (d *Records) textLimit(ctx context.Context, account sms.Account, c sms.Campaign) (int, error) {
	if !account.SendByGet || c.Text == "" || c.GroupID != "" {
		return account.CallLimit, nil
	}
	gateway, err := d.gateways.For(ctx, account)
	if err != nil {
		return 0, err
	}
	return gateway.TextLimit(sms.Call{Kind: sms.CallText, SenderID: c.SenderID, Text: c.Text, Flash: c.Flash},
		account.CallLimit), nil
}

// PlanLimits are the bounds of the calls that send a campaign's messages now.
func (d *Records) PlanLimits(ctx context.Context, account sms.Account, c sms.Campaign) (plan.Limits, error) {
	gateway, err := d.gateways.For(ctx, account)
	if err != nil {
		return plan.Limits{}, err
	}
	limit, err := d.textLimit(ctx, account, c)
	if err != nil {
		return plan.Limits{}, err
	}
	return plan.Limits{CallLimit: limit, Size: gateway.PairSize, Room: func(unicode bool) int {
		return gateway.PairRoom(sms.Call{SenderID: c.SenderID, Flash: c.Flash, Unicode: unicode}, account.URLBudget)
	}}, nil
}
