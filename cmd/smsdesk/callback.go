package main

import (
	"context"
	"net/http"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
)

// callbackAddr is where this machine reaches the callbacks.
func (s *server) callbackAddr() string {
	if s.CallbackListen != "" {
		return reachable(s.listeners[1].at.Addr().String())
	}
	return reachable(s.listeners[0].at.Addr().String())
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

func (s *server) keep(ctx context.Context, account, at int64, remote, query string) error {
	return s.inbox.Keep(ctx, sms.Kept{AccountID: account, ReceivedAt: at, Remote: remote, Query: query})
}

// spooled tells the operator that reports take the second way (D-11).
func (s *server) spooled(n int, why error) {
	s.log.Error("the inbox cannot be written: delivery reports wait in the spool", "reports", n, "error", why)
}

func (s *server) account(hash [32]byte) (int64, bool) {
	id, ok := (*s.tokens.Load())[hash]
	return id, ok
}

// readTokens keeps the callback tokens in memory: a wrong one must not cost a
// look into the database.
func (s *server) readTokens(ctx context.Context) error {
	list, err := s.db.CallbackTokens(ctx, time.Now().UnixMilli())
	if err != nil {
		return err
	}
	tokens := make(map[[32]byte]int64, len(list))
	for _, t := range list {
		tokens[t.Hash] = t.AccountID
	}
	s.tokens.Store(&tokens)
	return nil
}

func (s *server) keepTokens(ctx context.Context) {
	news := s.feed.Listen(desk.AccountName(0))
	defer news.Close()
	for {
		timer := time.NewTimer(time.Second)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-news.Nudged():
			news.Take()
		case <-timer.C:
		}
		timer.Stop()
		if err := s.readTokens(ctx); err != nil && ctx.Err() == nil {
			s.log.Error("callback addresses not read", "error", err)
		}
	}
}
