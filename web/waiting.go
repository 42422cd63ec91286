package web

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"smsdesk/static"
	"smsdesk/views"
	"smsdesk/web/page"
)

// WaitingConfig says what answers while there is no desk.
type WaitingConfig struct {
	Sentence      string                         // what is wrong and what to do
	Receives      func(ctx context.Context) bool // whether delivery reports are acknowledged
	Callbacks     http.Handler                   // of /dlr and /ussd
	CallbacksOnly bool                           // there are no pages at this address
	Secure        bool
	Log           *slog.Logger
}

// waitingAgain is after how many seconds another try is worth it.
const waitingAgain = "5"

// Waiting answers every address while the desk cannot be opened: callbacks as
// told, /livez with 200, /readyz?for=reports by whether reports are acknowledged,
// and everything else with 503 and what is wrong.
func Waiting(cfg WaitingConfig) http.Handler {
	s := page.Bare(cfg.Log, cfg.Secure, programs(cfg.Log))
	page := s.Guarded(page.Private(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", waitingAgain)
		s.ShowProblem(w, r, s.Stranger(r), views.Waiting(cfg.Sentence, cfg.Receives(r.Context())))
	})))
	return s.Recovered(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		switch {
		case strings.HasPrefix(path, "/dlr/") || strings.HasPrefix(path, "/ussd/"):
			cfg.Callbacks.ServeHTTP(w, r)
		case path == "/livez":
			probe(w, "")
		case path == "/readyz" && (cfg.CallbacksOnly || r.URL.Query().Get("for") == "reports"):
			probe(w, noReports(cfg.Receives(r.Context())))
		case path == "/readyz" || path == "/healthz":
			probe(w, "there is no desk yet, or its data folder cannot be used")
		case cfg.CallbacksOnly:
			w.WriteHeader(http.StatusNotFound)
		case strings.HasPrefix(path, static.Prefix):
			s.Guarded(static.Handler()).ServeHTTP(w, r)
		default:
			page.ServeHTTP(w, r)
		}
	}))
}

// noReports is the reason why a desk is not ready for reports, "" where it is.
func noReports(receives bool) string {
	if receives {
		return ""
	}
	return "no report can be stored"
}

// probe answers a balancer: 200, or 503 with a reason.
func probe(w http.ResponseWriter, reason string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if reason != "" {
		w.Header().Set("Retry-After", waitingAgain)
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("not ready: " + reason + "\n"))
		return
	}
	_, _ = w.Write([]byte("ok\n"))
}
