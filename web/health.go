package web

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
)

// probes answer machines: balancers that ask whether the desk is of use.
type probes struct {
	store    healthQuestions
	log      *slog.Logger
	trusted  []netip.Prefix
	ready    func(ctx context.Context) string
	receives func(ctx context.Context) bool
	proxied  func(ctx context.Context, peer string)
}

type healthQuestions interface {
	// Ready says whether the storage answers at all.
	Ready(ctx context.Context) error
}

func newProbes(c Config) *probes {
	s := &probes{store: c.Ask.Health, log: c.Log, ready: c.Ready, receives: c.Receives, proxied: c.Proxied}
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
	return s
}

func (s *probes) answers(ctx context.Context) string {
	if err := s.store.Ready(ctx); err != nil {
		s.log.Error("not ready", "error", err)
		return "the database does not answer"
	}
	return ""
}

// health is ready without the journal: the pages can be read.
func (s *probes) health(w http.ResponseWriter, r *http.Request) { probe(w, s.answers(r.Context())) }

// alive says that the process answers.
func (s *probes) alive(w http.ResponseWriter, _ *http.Request) { probe(w, "") }

// readiness is for balancers: of the pages or, with for=reports, of the callbacks
// where they share this address. A desk that sends nothing still takes reports.
func (s *probes) readiness(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("for") == "reports" {
		probe(w, noReports(s.receives(r.Context())))
		return
	}
	probe(w, s.ready(r.Context()))
}

// watched tells of proxies that nobody named: without --trusted-proxy all their
// clients are one.
func (s *probes) watched(next http.Handler) http.Handler {
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

func (s *probes) trusts(remote string) bool {
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
