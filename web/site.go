package web

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
	"smsdesk/views"
)

// Site is what every page stands on: who asks, may they, the frame around a
// page, and the one way from an error to a page.
type Site struct {
	store     siteQuestions
	desk      siteOrders
	feed      *feed.Feed
	log       *slog.Logger
	now       func() time.Time
	publicURL string
	secure    bool
	proxies   []string
	stopping  <-chan struct{}
	sessions  *sessionStore
	cross     *http.CrossOriginProtection
	// packed compresses a page for browsers that take that: one for all routes,
	// since each tries its encoders when it is made.
	packed   func(http.Handler) http.Handler
	streams  *streams
	shares   *shares
	slips    *slips
	searches *slips // what people look for, by the word in the address
	typed    *slips // forms sent after the session's end, for whoever signs in again
	pages    chi.Routes
	backup   Backups
	outage   func() string
	witness  func(ctx context.Context, account int64) string
	staffed  atomic.Bool // an administrator was seen; there is always one afterwards
	// program answers a program with a page's problem.
	program func(w http.ResponseWriter, p views.Problem)
}

// siteQuestions are what every page asks of the storage: who asks, and what stands around the page.
type siteQuestions interface {
	Accounts(ctx context.Context) ([]sms.Account, error)
	Administrators(ctx context.Context) (int64, error)
	Alarms(ctx context.Context, account int64) ([]sms.Alarm, error)
	// Awaiting counts the campaigns that the user may approve.
	Awaiting(ctx context.Context, account, user int64) (int64, error)
	Balances(ctx context.Context, account int64) ([]sms.Balance, error)
	Campaigns(ctx context.Context, f sms.CampaignFilter) (list []sms.CampaignRow, more bool, err error)
	CountMenus(ctx context.Context, account int64) (int64, error)
	CountSilent(ctx context.Context, account, from, until int64) (int64, error)
	Decisions(ctx context.Context, account int64) (int64, error)
	Question(ctx context.Context) (*sms.Question, error)
	Reading(ctx context.Context, account int64, kind sms.RecordKind) (sms.Reading, error)
	RecordSettings(ctx context.Context, account int64) (sms.RecordSettings, error)
	SenderIDs(ctx context.Context, account int64) ([]sms.SenderID, error)
	// Setting is "" for what was never set.
	Setting(ctx context.Context, name string) (string, error)
}

// siteOrders say who is signed in, and whether the clock can be right.
type siteOrders interface {
	ClockStanding(a sms.Account) sms.ClockStanding
	PeekSession(ctx context.Context, token string) (sms.Session, error)
	Session(ctx context.Context, token string) (sms.Session, error)
}

func siteOf(c Config) *Site {
	s := &Site{
		store: c.Ask.Site, desk: c.Do.Site, feed: c.Feed, log: c.Log, now: c.Now,
		publicURL: strings.TrimSuffix(c.PublicURL, "/"), secure: c.Secure, proxies: c.Proxies, stopping: c.Stopping,
		sessions: newSessionStore(c.Do.Site, c.Secure), cross: http.NewCrossOriginProtection(),
		packed: middleware.Compress(5, "text/html"), streams: newStreams(), shares: newShares(),
		slips: newSlips(5 * time.Minute), searches: newSlips(searchLife), typed: newSlips(30 * time.Minute),
		backup: c.Backups, outage: c.Outage, witness: c.Witness, program: programs(c.Log),
	}
	if s.outage == nil {
		s.outage = func() string { return "" }
	}
	if s.witness == nil {
		s.witness = func(context.Context, int64) string { return "" }
	}
	// A proxy may change the Host that the browser's Origin is compared with.
	if u, err := url.Parse(c.PublicURL); err == nil && u.Host != "" {
		if err := s.cross.AddTrustedOrigin(u.Scheme + "://" + u.Host); err != nil {
			s.log.Error("the public address cannot be an origin", "error", err)
		}
	}
	s.cross.SetDenyHandler(http.HandlerFunc(s.denyCross))
	return s
}
