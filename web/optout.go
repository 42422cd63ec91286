package web

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/go-chi/chi/v5/middleware"
	"golang.org/x/time/rate"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// optouts is the public page behind links in messages.
type optouts struct {
	*page.Site
	desk optOutOrders
	gate *ipLimiter
}

// optOutOrders are what people do on these pages.
type optOutOrders interface {
	ReadStop(ctx context.Context, token string) (q desk.StopRequest, err error)
	StopByLink(ctx context.Context, token, ip string) (desk.StopRequest, error)
}

// stopPath is the public page behind a link in a message. Its address holds no
// number that anybody could read.
const stopPath = "/s/{token}"

const (
	// gateEvery and gateBurst are how often one internet address may ask: people
	// behind one mobile network share theirs.
	gateEvery = time.Second
	gateBurst = 60
	// gateMost is how many addresses are known at once; then all begin anew.
	gateMost = 10_000
)

// ipLimiter slows strangers down who try out links.
type ipLimiter struct {
	mu sync.Mutex
	by map[string]*rate.Limiter
}

func newGate() *ipLimiter { return &ipLimiter{by: map[string]*rate.Limiter{}} }

func (g *ipLimiter) open(ip string, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.by) >= gateMost {
		clear(g.by)
	}
	if g.by[ip] == nil {
		g.by[ip] = rate.NewLimiter(rate.Every(gateEvery), gateBurst)
	}
	return g.by[ip].AllowN(now, 1)
}

// stopForm asks whether messages shall stop. Looking changes nothing: machines
// look at links too.
func (s *optouts) stopForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	if !s.gate.open(middleware.GetClientIP(r.Context()), s.Now()) {
		return s.tooMany(w, r, v)
	}
	q, err := s.desk.ReadStop(r.Context(), r.PathValue("token"))
	return s.showStop(w, r, v, q, err)
}

// stop blocks the number of the link.
func (s *optouts) stop(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	ip := middleware.GetClientIP(r.Context())
	if !s.gate.open(ip, s.Now()) {
		return s.tooMany(w, r, v)
	}
	q, err := s.desk.StopByLink(r.Context(), r.PathValue("token"), ip)
	return s.showStop(w, r, v, q, err)
}

func (s *optouts) tooMany(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	w.Header().Set("Retry-After", "60")
	return s.Render(w, r, http.StatusTooManyRequests,
		views.StopMessages(v.Frame("Try again in a minute", ""), views.OptOutPage{Busy: true}))
}

func (s *optouts) showStop(w http.ResponseWriter, r *http.Request, v *page.Visit, q desk.StopRequest, err error) error {
	if errors.Is(err, sms.ErrNotFound) {
		return s.Render(w, r, http.StatusNotFound, views.StopMessages(v.Frame("This link does not work", ""),
			views.OptOutPage{Unknown: true}))
	}
	if err != nil {
		return err
	}
	shown := views.Formatter{Now: s.Now().In(q.Account.Location()), Country: q.Account.Country, Masked: true}
	p := views.OptOutPage{Action: r.URL.Path, From: q.SenderID, To: shown.Phone(q.Number), Done: q.Done}
	w.Header().Set("X-Robots-Tag", "noindex")
	return s.Render(w, r, http.StatusOK, views.StopMessages(v.Frame(p.Title(), ""), p))
}
