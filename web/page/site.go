// Package page is what every page stands on: who asks, may they, form in, page or
// part out, live and shared parts, what is kept of forms. It must never know a
// page of any noun, nor any order but "who is this".
package page

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
	"smsdesk/internal/health"
	"smsdesk/internal/sms"
	"smsdesk/views"
)

// Site is what every page stands on: who asks, may they, the frame around a
// page, and the one way from an error to a page.
type Site struct {
	store     Questions
	desk      Orders
	Feed      *feed.Feed
	Log       *slog.Logger
	Now       func() time.Time
	PublicURL string
	Secure    bool
	proxies   []string
	stopping  <-chan struct{}
	sessions  *sessionStore
	cross     *http.CrossOriginProtection
	// packed compresses a page for browsers that take that: one for all routes,
	// since each tries its encoders when it is made.
	packed   func(http.Handler) http.Handler
	streams  *streamLimiter
	shares   *renderGroup
	Slips    *oneTimeValues
	searches *oneTimeValues // what people look for, by the word in the address
	typed    *oneTimeValues // what was typed before a button led to another page
	kept     Kept
	pages    chi.Router
	Backup   Backups
	outage   func() string
	witness  func(ctx context.Context, account int64) string
	Staffed  atomic.Bool // an administrator was seen; there is always one afterwards
	// program answers a program with a page's problem.
	Program func(w http.ResponseWriter, p views.Problem)
}

// Questions are what every page asks of the storage: who asks, and what stands around the page.
type Questions interface {
	Accounts(ctx context.Context) ([]sms.Account, error)
	Administrators(ctx context.Context) (int64, error)
	Alarms(ctx context.Context, account int64) ([]sms.Alarm, error)
	// Awaiting counts the campaigns that the user may approve.
	Awaiting(ctx context.Context, account, user int64) (int64, error)
	Balances(ctx context.Context, account int64) ([]sms.Balance, error)
	Campaigns(ctx context.Context, f sms.CampaignFilter) (list []sms.CampaignRow, more bool, err error)
	CountSilent(ctx context.Context, account, from, until int64) (int64, error)
	Decisions(ctx context.Context, account int64) (int64, error)
	Question(ctx context.Context) (*health.Question, error)
	Reading(ctx context.Context, account int64, kind sms.RecordKind) (sms.Reading, error)
	RecordSettings(ctx context.Context, account int64) (sms.RecordSettings, error)
	SenderIDs(ctx context.Context, account int64) ([]sms.SenderID, error)
	Templates(ctx context.Context, account int64) ([]sms.Template, error)
	// Setting is "" for what was never set.
	ReadSetting(ctx context.Context, name string) (string, error)
}

// Orders say who is signed in, and whether the clock can be right.
type Orders interface {
	ClockStanding(a sms.Account) health.ClockStanding
	// EndedSession is a session that was over lately, else sms.ErrNotFound.
	EndedSession(ctx context.Context, token string) (sms.Session, error)
	PeekSession(ctx context.Context, token string) (sms.Session, error)
	Session(ctx context.Context, token string) (sms.Session, error)
}

// Config is what every page needs to work.
type Config struct {
	Ask  Questions
	Do   Orders
	Feed *feed.Feed
	Log  *slog.Logger
	Now  func() time.Time
	// PublicURL is where people and the provider reach this desk, such as
	// https://desk.example.com, without a slash at its end.
	PublicURL string
	// Secure says that browsers come by https: cookies get the __Host- prefix
	// and answers tell the browser to stay with https.
	Secure bool
	// Proxies are the networks of reverse proxies, such as "10.0.0.0/8", whose
	// X-Forwarded-For is believed. Without any, the peer is the client.
	Proxies []string
	// Backups are those that this desk makes; nil makes none.
	Backups Backups
	// Kept keeps what is sent after a session's end; nil keeps nothing.
	Kept Kept
	// Outage says why nothing can be stored at the moment, "" while all is well.
	// Nil never does.
	Outage func() string
	// Witness says why an account does not send yet although nothing is paused,
	// or what could not be found out before it did; "" otherwise. May be nil.
	Witness func(ctx context.Context, account int64) string
	// Stopping ends the live streams when it is closed, so that a graceful
	// stop does not wait for them. Nil never stops them.
	Stopping <-chan struct{}
	Live     Live
	// Program tells a program of a page's problem, at addresses for programs.
	Program func(w http.ResponseWriter, p views.Problem)
}

// New returns what every page stands on.
func New(c Config) *Site {
	s := &Site{
		store: c.Ask, desk: c.Do, Feed: c.Feed, Log: c.Log, Now: c.Now,
		PublicURL: strings.TrimSuffix(c.PublicURL, "/"), Secure: c.Secure, proxies: c.Proxies, stopping: c.Stopping,
		sessions: newSessionStore(c.Do, c.Secure), cross: http.NewCrossOriginProtection(),
		packed: middleware.Compress(5, "text/html"), streams: newStreams(c.Live), shares: newShares(),
		Slips: newSlips(5 * time.Minute), searches: newSlips(searchLife), typed: newSlips(30 * time.Minute), kept: c.Kept,
		Backup: c.Backups, outage: c.Outage, witness: c.Witness, Program: c.Program,
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
			s.Log.Error("the public address cannot be an origin", "error", err)
		}
	}
	s.cross.SetDenyHandler(http.HandlerFunc(s.rejectCrossOrigin))
	return s
}

// Bare shows problems and knows nobody, while there is no desk.
func Bare(log *slog.Logger, secure bool, program func(http.ResponseWriter, views.Problem)) *Site {
	return &Site{Log: log, Secure: secure, Program: program}
}

// Stranger is a request of nobody, for a problem that comes before anyone is known.
func (s *Site) Stranger(r *http.Request) *Visit { return &Visit{site: s, R: r} }

// UseRoutes tells which pages can be opened.
func (s *Site) UseRoutes(m chi.Router) { s.pages = m }

// Backups are the desk's own, which it makes while it runs.
type Backups interface {
	// Plan says how they are made; the zero value is not at all.
	Plan() health.BackupPlan
	// Start begins one, unless one is being made.
	Start(by string)
	// Doing says what is being done at the moment, "" for nothing.
	Doing() string
}
