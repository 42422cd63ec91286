package main

import (
	"context"
	"errors"
	"net/url"
	"time"

	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
	"smsdesk/internal/ussd"
)

// ussdURL is where this machine reaches an account's USSD endpoint.
func (s *server) ussdURL(ctx context.Context, account int64) (string, error) {
	addresses, err := s.db.CallbackAddresses(ctx, account, sms.CallbackUSSD, time.Now().UnixMilli())
	if err != nil || len(addresses) == 0 {
		return "", errors.Join(err, errors.New("the account has no address for USSD"))
	}
	return callbackURL("http://"+s.callbackAddr(), sms.CallbackUSSD, addresses[0].Token), nil
}

// press is a press of the simulator's keys: the same request that a network
// would make, over HTTP.
func (s *server) press(ctx context.Context, account int64, p ussd.PhoneInput) (ussd.PhoneOutput, error) {
	at, err := s.ussdURL(ctx, account)
	if err != nil {
		return ussd.PhoneOutput{}, err
	}
	h, err := s.phone.Press(ctx, sandbox.Press{URL: at, Number: p.Number, Network: p.Network, Code: p.Code, Text: p.Text,
		Session: p.Session, Stage: int(p.Stage)})
	return ussd.PhoneOutput{Request: string(h.Request), Answer: string(h.Answer), Took: h.Took.Microseconds(),
		Text: h.Text,
		End:  h.End, Problem: h.Problem}, err
}

// isLocalOnly says that the desk is reached from this machine alone.
func (s *server) isLocalOnly() bool {
	u, err := url.Parse(s.PublicURL)
	return err == nil && sms.Loopback(u.Hostname())
}
