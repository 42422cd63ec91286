// Package web is what a browser or another program can ask: the map of addresses, sessions, forms
// in, pages out, live nudges. A question goes to the storage through the narrow
// interfaces declared here; an order goes to one method of the desk. It must
// never know SQL, the gateway's wire form, or how a page is drawn.
package web

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
	"smsdesk/internal/ussd"
)

// Store answers the questions of every page.
type Store interface {
	accountQuestions
	userQuestions
	campaignQuestions
	confirmQuestions
	blockedQuestions
	contactQuestions
	searchQuestions
	overviewQuestions
	againQuestions
	journalQuestions
	apiQuestions
	listQuestions
	doubtQuestions
	reportQuestions
	recordQuestions
	balanceQuestions
	menuQuestions
	ussdQuestions
	// Ready says whether the storage answers at all.
	Ready(ctx context.Context) error
}

type accountQuestions interface {
	Accounts(ctx context.Context) ([]sms.Account, error)
	Account(ctx context.Context, id int64) (sms.Account, error)
	Balances(ctx context.Context, account int64) ([]sms.Balance, error)
	SenderIDs(ctx context.Context, account int64) ([]sms.SenderID, error)
	Templates(ctx context.Context, account int64) ([]sms.Template, error)
	Reading(ctx context.Context, account int64, kind sms.RecordKind) (sms.Reading, error)
	Decisions(ctx context.Context, account int64) (int64, error)
	// Awaiting counts the campaigns that the user may approve.
	Awaiting(ctx context.Context, account, user int64) (int64, error)
	LastReportAt(ctx context.Context, account int64) (int64, error)
	CallbackAddresses(ctx context.Context, account int64, kind string, now int64) ([]sms.CallbackToken, error)
	// Setting is "" for what was never set.
	Setting(ctx context.Context, name string) (string, error)
}

type userQuestions interface {
	Users(ctx context.Context) ([]sms.User, error)
	Administrators(ctx context.Context) (int64, error)
	Invites(ctx context.Context, now int64) ([]sms.Invite, error)
}

// Config is what the pages need to work.
type Config struct {
	Desk  *desk.Desk
	Store Store
	Feed  *feed.Feed
	Log   *slog.Logger
	// PublicURL is where people and the provider reach this desk, such as
	// https://desk.example.com, without a slash at its end.
	PublicURL string
	// Secure says that browsers come by https: cookies get the __Host- prefix
	// and answers tell the browser to stay with https.
	Secure bool
	// Dev serves what only developers need.
	Dev bool
	Now func() time.Time
	// SandboxURL is the control page of the embedded sandbox, "" without one.
	SandboxURL string
	// Proxies are the networks of reverse proxies, such as "10.0.0.0/8", whose
	// X-Forwarded-For is believed. Without any, the peer is the client.
	Proxies []string
	// Spool is the folder for what programs send, until it is a list; "" is the
	// system's for such files.
	Spool string
	// Backups are those that this desk makes; nil makes none.
	Backups Backups
	// Mails says that this desk can send mail.
	Mails bool
	// Outage says why nothing can be stored at the moment, "" while all is well.
	// Nil never does.
	Outage func() string
	// Witness says why an account does not send yet although nothing is paused,
	// or what could not be found out before it did; "" otherwise. May be nil.
	Witness func(ctx context.Context, account int64) string
	// Press makes one request of the simulator's phone at the account's USSD
	// endpoint, over HTTP; Try lets a simulated session walk through a draft.
	Press func(ctx context.Context, account int64, p ussd.Press) (ussd.Heard, error)
	Try   func(session string, d ussd.Draft)
	// Ready says why the pages are of no use now, in a few words for operators,
	// "" when they are. Nil: the storage alone is asked.
	Ready func(ctx context.Context) string
	// Receives says whether a delivery report could be acknowledged now; nil: it
	// could.
	Receives func(ctx context.Context) bool
	// Proxied is told of a request that carries X-Forwarded-For and comes from
	// none of Proxies; may be nil.
	Proxied func(ctx context.Context, peer string)
	// Stopping ends the live streams when it is closed, so that a graceful
	// stop does not wait for them. Nil never stops them.
	Stopping <-chan struct{}
}

// Web answers browsers.
type Web struct {
	desk       *desk.Desk
	store      Store
	feed       *feed.Feed
	log        *slog.Logger
	now        func() time.Time
	publicURL  string
	sandboxURL string
	secure     bool
	dev        bool
	proxies    []string
	trusted    []netip.Prefix // proxies, read
	ready      func(ctx context.Context) string
	receives   func(ctx context.Context) bool
	proxied    func(ctx context.Context, peer string)
	stopping   <-chan struct{}
	sessions   *sessionStore
	cross      *http.CrossOriginProtection
	// packed compresses a page for browsers that take that: one for all routes,
	// since each tries its encoders when it is made.
	packed    func(http.Handler) http.Handler
	streams   *streams
	shares    *shares
	slips     *slips
	downloads seats  // for what people take away
	searches  *slips // what people look for, by the word in the address
	typed     *slips // forms sent after the session's end, for whoever signs in again
	pages     chi.Routes
	pace      *pace // of programs
	uploads   seats // for what programs send
	gate      *gate // of the page behind links in messages
	keys      *keys // Idempotency-Keys in work
	spool     string
	mails     bool
	backup    Backups
	outage    func() string
	witness   func(ctx context.Context, account int64) string
	press     func(ctx context.Context, account int64, p ussd.Press) (ussd.Heard, error)
	try       func(session string, d ussd.Draft)
	staffed   atomic.Bool // an administrator was seen; there is always one afterwards
}

// New returns the pages; Routes makes them answer.
func New(c Config) *Web {
	s := &Web{
		desk: c.Desk, store: c.Store, feed: c.Feed, log: c.Log, now: c.Now, publicURL: strings.TrimSuffix(c.PublicURL, "/"),
		sandboxURL: c.SandboxURL, secure: c.Secure, dev: c.Dev, proxies: c.Proxies, stopping: c.Stopping,
		cross: http.NewCrossOriginProtection(), packed: middleware.Compress(5, "text/html"), streams: newStreams(), shares: newShares(), slips: newSlips(5 * time.Minute), typed: newSlips(30 * time.Minute),
		searches: newSlips(searchLife), downloads: make(seats, downloadsMost), pace: newPace(), uploads: make(seats, uploadsAtOnce), keys: newKeys(), gate: newGate(), spool: c.Spool, mails: c.Mails, backup: c.Backups, press: c.Press, try: c.Try,
	}
	if s.outage = c.Outage; s.outage == nil {
		s.outage = func() string { return "" }
	}
	if s.witness = c.Witness; s.witness == nil {
		s.witness = func(context.Context, int64) string { return "" }
	}
	s.sessions = newSessionStore(c.Desk, c.Secure)
	s.probes(c)
	// A proxy may change the Host that the browser's Origin is compared with.
	if u, err := url.Parse(c.PublicURL); err == nil && u.Host != "" {
		if err := s.cross.AddTrustedOrigin(u.Scheme + "://" + u.Host); err != nil {
			s.log.Error("the public address cannot be an origin", "error", err)
		}
	}
	s.cross.SetDenyHandler(http.HandlerFunc(s.denyCross))
	return s
}
