// Package desk is what staff do: orders. An order asks whether this person may,
// whether it is valid, stores the result in one transaction and tells the Feed.
// It finishes within one request: what goes on by itself is the workers' matter. It
// must never know files, HTTP, SQL, HTML or how the gateway words its requests; it
// asks for what it needs through the interfaces declared here.
package desk

import (
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
)

// Desk takes the orders of staff.
type Desk struct {
	store    Store
	gateways Gateways
	feed     *feed.Feed
	log      *slog.Logger
	now      func() time.Time
	signin   *throttle
	setup    *setup
	lookups  *lookups
	stops    *sms.StopLinks // nil: texts hold no links
	outage   Outage
	audit    feed.Audit
	sent     sentCounts
}

// Store is what the orders need to be remembered.
type Store interface {
	accountStore
	campaignStore
	confirmStore
	blockedStore
	contactStore
	approvalStore
	againStore
	doubtStore
	userStore
	tokenStore
	retentionStore
	menuStore
	journalStore
	feed.AuditStore
}

// New returns a desk. now is the wall clock.
func New(store Store, gateways Gateways, news *feed.Feed, log *slog.Logger, now func() time.Time) *Desk {
	return &Desk{store: store, gateways: gateways, feed: news, log: log, now: now, outage: noOutage{},
		signin: newThrottle(now), setup: &setup{}, lookups: newLookups(),
		audit: feed.AuditTo(store, log, now)}
}

// Outage is what is known of a database that cannot be written.
type Outage interface {
	// Note takes the end of a write; nil ends the outage.
	Note(err error)
	// Sentence says what is wrong; "" while nothing is.
	Sentence() string
}

type noOutage struct{}

func (noOutage) Note(error)       {}
func (noOutage) Sentence() string { return "" }

// Watch lets the desk know when nothing can be stored. It is called before
// anything else is asked of the desk.
func (d *Desk) Watch(outage Outage) { d.outage = outage }

// Operator is the person behind the command line: whoever may read the data
// folder may do everything.
func Operator() sms.User {
	return sms.User{Name: "Command line", Role: sms.Administrator, Active: true}
}

func (d *Desk) ms() int64 { return d.now().UnixMilli() }

// NewToken returns 256 random bits as text.
func NewToken() string {
	b := make([]byte, 32)
	rand.Read(b)
	return hex.EncodeToString(b)
}
