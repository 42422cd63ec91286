package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"smsdesk/internal/desk"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

type sandboxCommand struct {
	Listen     string        `default:"127.0.0.1:8081" help:"Listen address." env:"SMSDESK_SANDBOX_LISTEN"`
	APIKey     string        `name:"api-key" default:"sandbox-api-key" help:"API key clients must send." env:"SMSDESK_SANDBOX_API_KEY"`
	ClientID   string        `name:"client-id" default:"sandbox-client-id" help:"Client ID that callers must give." env:"SMSDESK_SANDBOX_CLIENT_ID"`
	DLRURL     string        `name:"dlr-url" help:"URL for delivery reports; its query string is kept." env:"SMSDESK_SANDBOX_DLR_URL"`
	USSDURL    string        `name:"ussd-url" help:"URL the control page's USSD phone calls." env:"SMSDESK_SANDBOX_USSD_URL"`
	PerMinute  int           `default:"100" help:"Requests per 60 seconds; 0 for no limit." env:"SMSDESK_SANDBOX_PER_MINUTE"`
	RetryAfter time.Duration `default:"0s" help:"Retry-After for 429 answers; 0 for none."`
	State      string        `help:"File that keeps accepted messages across restarts a restart." type:"path" env:"SMSDESK_SANDBOX_STATE"`
	Timezone   string        `default:"Africa/Lagos" help:"Time zone of scheduled times and dates."`
	Currency   string        `default:"₦" help:"Currency sign of the balance."`
	Seed       uint64        `default:"1" help:"Random seed, for repeatable faults and delays."`
	Faults     string        `help:"Initial faults, for example latency=300ms,cutAfter=0.05,inactive=true."`
}

// Run plays the service until it is told to stop.
func (c sandboxCommand) Run(ctx context.Context, e env) error {
	cfg, bad := c.config(e)
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		bad = append(bad, "--listen: "+err.Error())
	}
	if len(bad) > 0 {
		if listener != nil {
			_ = listener.Close()
		}
		return bad
	}
	s, err := sandbox.New(cfg)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	fmt.Fprintf(e.out, "Sandbox ready at http://%s/v2 (control page http://%s/_sandbox/)\n", listener.Addr(),
		listener.Addr())
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error { return s.Run(ctx) })
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 5 * time.Second}
	work.Go(func() error { return serveUntil(ctx, server, listener) })
	return errors.Join(work.Wait(), s.Close())
}

func (c sandboxCommand) config(e env) (sandbox.Config, flagErrors) {
	var bad flagErrors
	location, err := time.LoadLocation(c.Timezone)
	if err != nil {
		bad = append(bad, fmt.Sprintf("--timezone: %q is not a time zone, for example Africa/Lagos", c.Timezone))
	}
	f, err := sandbox.ParseFaults(c.Faults)
	if err != nil {
		bad = append(bad, "--faults: "+err.Error())
	}
	if c.PerMinute < 0 {
		bad = append(bad, "--per-minute: give the calls allowed in 60 seconds, or 0 for no limit")
	}
	perMinute := c.PerMinute
	if perMinute == 0 {
		perMinute = -1
	}
	return sandbox.Config{APIKey: c.APIKey, ClientID: c.ClientID, DLRURL: c.DLRURL, USSDURL: c.USSDURL,
		PerMinute: perMinute, RetryAfter: c.RetryAfter, State: c.State,
		Location: location, Currency: c.Currency, Seed: c.Seed, Faults: f, Log: e.log}, bad
}

// sandboxName is the name of the test account that the embedded sandbox plays.
const sandboxName = "Sandbox"

// buildSandbox opens the embedded sandbox on a loopback port and points the
// test account at it. Beyond that it is an account like any other.
func (s *server) buildSandbox(ctx context.Context) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for the sandbox: %w", err)
	}
	base := "http://" + l.Addr().String() + "/v2"
	a, secrets, err := s.sandboxAccount(ctx, base)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	addresses, err := s.db.CallbackAddresses(ctx, a.ID, sms.CallbackDLR, time.Now().UnixMilli())
	if err != nil || len(addresses) == 0 {
		return errors.Join(fmt.Errorf("find the sandbox's report address: %w", err), l.Close())
	}
	dial, err := s.ussdURL(ctx, a.ID)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	s.sandbox, err = sandbox.New(sandbox.Config{USSDURL: dial, APIKey: secrets.APIKey, ClientID: secrets.ClientID,
		PerMinute: a.PerMinute, RetryAfter: 2 * time.Second,
		DLRURL:   callbackURL("http://"+s.callbackAddr(), sms.CallbackDLR, addresses[0].Token),
		State:    filepath.Join(s.storage.Data, "sandbox.jsonl"),
		Location: a.Location(), Currency: a.Currency, Seed: uint64(time.Now().UnixNano()), Log: s.log})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	s.closers = append(s.closers, s.sandbox.Close)
	s.sandboxURL = "http://" + l.Addr().String() + "/_sandbox/"
	s.service = &listening{l, &http.Server{Handler: s.sandbox.Handler(), ReadHeaderTimeout: 5 * time.Second}}
	s.closers = append(s.closers, func() error { return unlessClosed(l.Close()) })
	return nil
}

func (s *server) sandboxAccount(ctx context.Context, base string) (sms.Account, sms.Credentials, error) {
	a, err := s.db.AccountNamed(ctx, sandboxName)
	if errors.Is(err, sms.ErrNotFound) {
		secrets := sms.Credentials{ClientID: desk.NewToken()[:16], APIKey: desk.NewToken()}
		a, err = s.desk.CreateAccount(ctx, desk.Operator(),
			sms.Account{Name: sandboxName, BaseURL: base, Test: true, PerMinute: 1000,
				Country: "NG", Timezone: "Africa/Lagos", Currency: "₦", ConfirmCountAbove: sms.DefaultTypeAbove}, secrets)
		return a, secrets, err
	}
	if err != nil {
		return a, sms.Credentials{}, err
	}
	if !a.Test {
		return a, sms.Credentials{}, fmt.Errorf("account %q is a real account: rename it or run serve with --no-sandbox",
			sandboxName)
	}
	a, err = s.db.UpdateAccount(ctx, a.ID, time.Now().UnixMilli(), func(a *sms.Account, _ *sms.Credentials) error {
		a.BaseURL = base
		return nil
	})
	if err != nil {
		return a, sms.Credentials{}, err
	}
	secrets, err := s.db.Credentials(ctx, a.ID)
	return a, secrets, err
}
