package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
	"smsdesk/internal/workers"
)

// callbackAddr is where this machine reaches the callbacks.
func (s *server) callbackAddr() string {
	return reachable(s.doors[len(s.doors)-1].at.Addr().String())
}

// answersCallbacks asks this server itself, by the way that the provider's
// calls take inside this machine. The wrong method gets an answer that needs no
// token and counts for nothing.
func (s *server) answersCallbacks(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodOptions, "http://"+s.callbackAddr()+"/dlr/", nil)
	if err != nil {
		return false
	}
	req.Close = true
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusMethodNotAllowed
}

// caller is where reports go: what keeps them, and the pulse that counts them.
// Before the desk is up there is no pulse.
type caller struct {
	front *front
	pulse *workers.ReceiverStats
}

func (c caller) Account(hash [32]byte) (int64, bool) {
	t, ok := c.front.token(hash)
	return t.AccountID, ok
}

func (c caller) TakesPosts(hash [32]byte) bool {
	t, ok := c.front.token(hash)
	return ok && t.Posts
}

func (c caller) Keep(ctx context.Context, account, at int64, remote, query string) error {
	return c.front.keep(ctx, account, at, remote, query)
}

func (c caller) Receives(ctx context.Context) bool { return c.front.receives(ctx) }

func (c caller) Refused() {
	if c.pulse != nil {
		c.pulse.Refused()
	}
}

func (c caller) Posted(account int64) {
	if c.pulse != nil {
		c.pulse.Posted(account)
	}
}

func (c caller) Answered(account int64, took time.Duration, kept bool) {
	if c.pulse != nil {
		c.pulse.Answered(account, took, kept)
	}
}

func (f *front) keep(ctx context.Context, account, at int64, remote, query string) error {
	return f.inbox.Keep(ctx, sms.RawReport{AccountID: account, ReceivedAt: at, Remote: remote, Query: query})
}

// spooled tells the operator that reports take the second way, at once
// and then each minute.
func (f *front) spooled(n int, why error) {
	f.aside += n
	if now := time.Now(); now.Sub(f.asideSaid) >= time.Minute {
		f.log.Error("the inbox cannot be written: delivery reports wait in the spool", "reports", f.aside, "error", why)
		f.aside, f.asideSaid = 0, now
	}
}

// token finds the token that has this hash. A replaced token is let go when its
// time is over, even if the database cannot be asked any more.
func (f *front) token(hash [32]byte) (t sms.CallbackToken, ok bool) {
	tokens := f.tokens.Load()
	if tokens == nil {
		return t, false
	}
	t, ok = (*tokens)[hash]
	return t, ok && (t.ValidUntil == 0 || t.ValidUntil > time.Now().UnixMilli())
}

func (f *front) know(list []sms.CallbackToken) {
	tokens := make(map[[32]byte]sms.CallbackToken, len(list))
	for _, t := range list {
		tokens[t.Hash] = t
	}
	f.tokens.Store(&tokens)
}

// readTokens keeps the callback tokens in memory: a wrong one must not cost a
// look into the database. Their hashes are kept in files beside it, too, for a
// time in which it cannot be read; unkept is why they are not.
func (s *server) readTokens(ctx context.Context) (unkept, err error) {
	list, err := s.db.CallbackTokens(ctx, time.Now().UnixMilli())
	if err != nil {
		return nil, err
	}
	s.know(list)
	return s.cache.Write(list), nil
}

func (s *server) keepTokens(ctx context.Context) {
	news := s.feed.Subscribe(feed.Account(0))
	defer news.Close()
	for said := ""; ; {
		timer := time.NewTimer(time.Second)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-news.C():
			news.Take()
		case <-timer.C:
		}
		timer.Stop()
		err := errors.Join(s.readTokens(ctx))
		if err != nil && said != err.Error() && ctx.Err() == nil {
			s.log.Error("callback addresses not read, or not kept", "error", err)
		}
		if said = ""; err != nil {
			said = err.Error()
		}
	}
}
