package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"smsdesk/internal/sandbox"
)

type sandboxCommand struct {
	Listen     string        `default:"127.0.0.1:8081" help:"Address to listen on." env:"SMSDESK_SANDBOX_LISTEN"`
	APIKey     string        `name:"api-key" default:"sandbox-api-key" help:"API key that callers must give." env:"SMSDESK_SANDBOX_API_KEY"`
	ClientID   string        `name:"client-id" default:"sandbox-client-id" help:"Client ID that callers must give." env:"SMSDESK_SANDBOX_CLIENT_ID"`
	DLRURL     string        `name:"dlr-url" help:"Where delivery reports are sent; its own query string is kept." env:"SMSDESK_SANDBOX_DLR_URL"`
	USSDURL    string        `name:"ussd-url" help:"Where the USSD phone of the control page calls." env:"SMSDESK_SANDBOX_USSD_URL"`
	PerMinute  int           `default:"100" help:"Calls allowed in any 60 seconds; 0 for no limit." env:"SMSDESK_SANDBOX_PER_MINUTE"`
	RetryAfter time.Duration `default:"0s" help:"Retry-After of a 429 answer; 0 sends none."`
	State      string        `help:"File that keeps what was accepted over a restart." type:"path" env:"SMSDESK_SANDBOX_STATE"`
	Timezone   string        `default:"Africa/Lagos" help:"Time zone of scheduled times and dates."`
	Currency   string        `default:"₦" help:"Currency sign of the balance."`
	Seed       uint64        `default:"1" help:"Makes the chances of faults and delays repeatable."`
	Faults     string        `help:"Faults from the start, for example latency=300ms,cutAfter=0.05,inactive=true."`
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
	fmt.Fprintf(e.out, "Sandbox ready at http://%s/v2 (control page http://%s/_sandbox/)\n", listener.Addr(), listener.Addr())
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error { return s.Run(ctx) })
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 5 * time.Second}
	work.Go(func() error { return serveUntil(ctx, server, listener) })
	return errors.Join(work.Wait(), s.Close())
}

func (c sandboxCommand) config(e env) (sandbox.Config, faults) {
	var bad faults
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
	return sandbox.Config{APIKey: c.APIKey, ClientID: c.ClientID, DLRURL: c.DLRURL, USSDURL: c.USSDURL, PerMinute: perMinute, RetryAfter: c.RetryAfter, State: c.State,
		Location: location, Currency: c.Currency, Seed: c.Seed, Faults: f, Log: e.log}, bad
}
