package web

import (
	"context"
	"net"
	"net/http"
	"net/netip"
)

// probes fills in what is asked of the desk by machines and left out by c.
func (s *Web) probes(c Config) {
	s.ready, s.receives, s.proxied = c.Ready, c.Receives, c.Proxied
	if s.ready == nil {
		s.ready = s.answers
	}
	if s.receives == nil {
		s.receives = func(context.Context) bool { return true }
	}
	for _, network := range c.Proxies {
		if p, err := netip.ParsePrefix(network); err == nil {
			s.trusted = append(s.trusted, p.Masked())
		}
	}
}

func (s *Web) answers(ctx context.Context) string {
	if err := s.store.Ready(ctx); err != nil {
		s.log.Error("not ready", "error", err)
		return "the database does not answer"
	}
	return ""
}

// health is ready without the journal: the pages can be read.
func (s *Web) health(w http.ResponseWriter, r *http.Request) { probe(w, s.answers(r.Context())) }

// alive says that the process answers.
func (s *Web) alive(w http.ResponseWriter, _ *http.Request) { probe(w, "") }

// readiness is for balancers: of the pages or, with for=reports, of the callbacks
// where they share this address. A desk that sends nothing still takes reports.
func (s *Web) readiness(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("for") == "reports" {
		probe(w, noReports(s.receives(r.Context())))
		return
	}
	probe(w, s.ready(r.Context()))
}

// watched tells of proxies that nobody named: without --trusted-proxy all their
// clients are one.
func (s *Web) watched(next http.Handler) http.Handler {
	if s.proxied == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Forwarded-For") != "" && !s.trusts(r.RemoteAddr) {
			peer, _, err := net.SplitHostPort(r.RemoteAddr)
			if err != nil {
				peer = r.RemoteAddr
			}
			s.proxied(r.Context(), peer)
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Web) trusts(remote string) bool {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return false
	}
	for _, p := range s.trusted {
		if p.Contains(at.Addr().Unmap()) {
			return true
		}
	}
	return false
}
