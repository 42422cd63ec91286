package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/gateway"
	"smsdesk/internal/sms"
	"smsdesk/internal/workers"
	"smsdesk/storage"
)

type accountCommand struct {
	Add  accountAdd  `cmd:"" help:"Add an account."`
	Show accountShow `cmd:"" help:"Show an account and its callback URLs, without secrets."`
	Test accountTest `cmd:"" help:"Test an account by reading its balance and sender IDs."`
}

type accountAdd struct {
	Name         string `required:"" help:"Account name."`
	BaseURL      string `required:"" name:"base-url" help:"Provider API URL, ending in /v2."`
	ClientID     string `required:"" name:"client-id" help:"Client ID from the provider dashboard." env:"SMSDESK_CLIENT_ID"`
	APIKeyFile   string `required:"" name:"api-key-file" help:"File that holds the API key." env:"SMSDESK_API_KEY_FILE"`
	PerMinute    int    `default:"100" help:"Requests per minute the provider allows, 1 to 1,000,000."`
	CallLimit    int    `default:"100" help:"Maximum recipients per request."`
	Country      string `default:"NG" help:"Country for numbers without a country code (two letters)."`
	Timezone     string `default:"Africa/Lagos" help:"Time zone of the account."`
	Currency     string `default:"₦" help:"Currency sign."`
	Price        string `help:"Price per part, for example 4.00; used for cost estimates."`
	Hours        string `help:"Sending hours, for example 08:00-20:00. Default: any time."`
	Abroad       bool   `help:"Allow numbers in other countries."`
	URLBudget    int    `default:"2000" name:"url-budget" help:"Maximum URL length in bytes, 500 to 8,000."`
	SendByGet    bool   `name:"send-by-get" help:"Send by GET instead of POST, for a provider that does not take POST."`
	TypeAbove    int64  `default:"5000" name:"type-above" help:"Require typing the number of recipients above this; 0 for never."`
	ApproveAbove int64  `default:"0" name:"approve-above" help:"Require approval above this many recipients; 0 for never."`
}

// Run stores an account; the provider need not be reachable.
func (c accountAdd) Run(ctx context.Context, e env) error {
	var bad flagErrors
	key, err := readSecret(c.APIKeyFile)
	if err != nil {
		bad = append(bad, "--api-key-file: "+err.Error())
	}
	a := sms.Account{Name: c.Name, BaseURL: c.BaseURL, PerMinute: c.PerMinute, CallLimit: c.CallLimit, Country: c.Country,
		Timezone: c.Timezone, Currency: c.Currency,
		Abroad: c.Abroad, URLBudget: c.URLBudget, SendByGet: c.SendByGet, ConfirmCountAbove: c.TypeAbove, ApproveAbove: c.ApproveAbove}
	if a.PricePerPart, err = sms.ReadPrice(c.Price); err != nil {
		bad = append(bad, "--price must be an amount, for example 4.00")
	}
	from, to, _ := strings.Cut(c.Hours, "-")
	if a.Hours, err = sms.ReadHours(from, to); err != nil {
		bad = append(bad, "--hours: enter a start and an end time, for example 08:00-20:00")
	}
	if err := a.Check(); err != nil {
		var list flagErrors
		if !errors.As(sentences(err), &list) {
			return err
		}
		bad = append(bad, list...)
	}
	db, err := e.open(ctx, bad)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	made, err := e.desk(db).CreateAccount(ctx, desk.Operator(), a, sms.Credentials{ClientID: c.ClientID, APIKey: key})
	if err != nil {
		return sentences(err)
	}
	_, err = fmt.Fprintf(e.out, "Added account %q. Run \"smsdesk account test --name %q\" to test it.\n", made.Name,
		made.Name)
	return err
}

type accountShow struct {
	Name      string `required:"" help:"Account name."`
	PublicURL string `name:"public-url" default:"http://127.0.0.1:8080" help:"Public URL of this smsdesk." env:"SMSDESK_PUBLIC_URL"`
}

// Run shows an account. The callback addresses are whole: they are made to be
// given to the provider.
func (c accountShow) Run(ctx context.Context, e env) error {
	db, err := e.openExisting(ctx, checkPublicURL(c.PublicURL))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	a, err := named(ctx, db, c.Name)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.out, 0, 4, 2, ' ', 0)
	state := "may send"
	if a.Pause != "" {
		state = "paused: " + a.Pause
	}
	for _, line := range [][2]string{{"Name", a.Name}, {"Address", a.BaseURL}, {"API key", "ends …" + a.KeyHint},
		{"Rate", fmt.Sprintf("%d requests per minute", a.PerMinute)},
		{"Country", a.Country}, {"Time zone", a.Timezone}, {"Currency", a.Currency}, {"Sending hours", hoursOf(a)}, {"State", state}} {
		fmt.Fprintf(w, "%s:\t%s\n", line[0], line[1])
	}
	for _, kind := range []struct{ key, label string }{{sms.CallbackDLR, "Delivery reports (DLR)"},
		{sms.CallbackUSSD, "USSD"}} {
		list, err := db.CallbackAddresses(ctx, a.ID, kind.key, time.Now().UnixMilli())
		if err != nil {
			return err
		}
		for _, t := range list {
			until := ""
			if t.ValidUntil > 0 {
				until = "  (old, until " + time.UnixMilli(t.ValidUntil).In(a.Location()).Format("2 January 2006") + ")"
			}
			fmt.Fprintf(w, "%s:\t%s%s\n", kind.label, callbackURL(c.PublicURL, kind.key, t.Token), until)
		}
	}
	return w.Flush()
}

func hoursOf(a sms.Account) string {
	if a.Hours.Always() {
		return "any"
	}
	return a.Hours.Words()
}

func callbackURL(public, kind, token string) string {
	return strings.TrimSuffix(public, "/") + "/" + kind + "/" + token
}

func named(ctx context.Context, db *storage.DB, name string) (sms.Account, error) {
	a, err := db.AccountNamed(ctx, name)
	if errors.Is(err, sms.ErrNotFound) {
		return a, fmt.Errorf("there is no account called %q", name)
	}
	return a, err
}

type accountTest struct {
	Name string `required:"" help:"Account name."`
}

// Run asks the provider and prints the proof.
func (c accountTest) Run(ctx context.Context, e env, db *storage.DB) error {
	a, err := named(ctx, db, c.Name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	t, err := e.desk(db).TestAccount(ctx, desk.Operator(), a.ID)
	if err != nil {
		return err
	}
	for _, b := range t.Balances {
		fmt.Fprintf(e.out, "Balance (%s): %s\n", b.PluginType, b.Credits)
	}
	_, err = fmt.Fprintf(e.out, "Connected. %d sender IDs. %d ms.\n", len(t.SenderIDs), t.Took.Milliseconds())
	return err
}

// checkPublicURL says what is wrong with the address that others use.
func checkPublicURL(raw string) (bad flagErrors) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" ||
		strings.Trim(u.Path, "/") != "" {
		bad = append(bad, fmt.Sprintf("--public-url: %q is not an address like https://sms.example.org", raw))
	}
	return bad
}

// campaignLine is an account's gateway as the desk asks for it.
type campaignLine struct{ *gateway.Client }

// Wait is how long until a call of a campaign could start.
func (l campaignLine) Wait() time.Duration { return l.Client.Wait(gateway.Bulk) }

// forOrders and forSending are what orders and the loops see of an account.
func forOrders(l campaignLine) desk.Gateway     { return l }
func forSending(l campaignLine) workers.Gateway { return l }

// opener makes gateways from accounts.
func opener(log *slog.Logger, now func() time.Time) gateway.Opener[campaignLine] {
	return func(o gateway.Opening[campaignLine]) (campaignLine, error) {
		a := o.Account
		cfg := gateway.Config{BaseURL: a.BaseURL, Credentials: o.Secrets, Location: a.Location(), PerMinute: a.PerMinute,
			Before: o.Before,
			Called: o.Called, Heard: o.Heard, Throttled: o.Throttled, Log: log, Now: now}
		cfg.After = o.After.Client
		if a.SendByGet {
			cfg.ByGet = cmp.Or(a.URLBudget, sms.DefaultURLBudget)
		}
		client, err := gateway.Open(cfg)
		return campaignLine{client}, err
	}
}
