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

// Desk is all orders of staff, each noun's in a type of its own.
type Desk struct {
	*Accounts
	*Again
	*Campaigns
	*Door
	*Doubts
	*Journal
	*Menus
	*People
	*Records
	*Rehearsals
	*Staff
	*Walls
}

// Stores is what the orders need to be remembered, by noun.
type Stores struct {
	Accounts   AccountStore
	Again      AgainStore
	Audit      feed.AuditStore
	Campaigns  CampaignStore
	Door       DoorStore
	Doubts     DoubtStore
	Journal    JournalStore
	Menus      MenuStore
	People     PeopleStore
	Records    RecordStore
	Reads      RefreshStore // what is read of the records at the provider
	Rehearsals RehearsalStore
	Staff      StaffStore
	Walls      WallStore
}

// work is what all orders have in common.
type work struct {
	feed  *feed.Feed
	log   *slog.Logger
	now   func() time.Time
	audit feed.Audit
}

func (w *work) ms() int64 { return w.now().UnixMilli() }

// New returns a desk. now is the wall clock.
func New(s Stores, at Gateways, news *feed.Feed, log *slog.Logger, now func() time.Time) *Desk {
	w := work{feed: news, log: log, now: now, audit: feed.AuditTo(s.Audit, log, now)}
	signin := newLoginLimiter(now)
	people := &People{work: w, store: s.People}
	records := &Records{work: w, store: s.Records, reads: s.Reads, gateways: at, lookups: newRefreshLimiter()}
	journal := &Journal{work: w, store: s.Journal, signin: signin}
	campaigns := &Campaigns{work: w, store: s.Campaigns, people: people, records: records, journal: journal}
	return &Desk{
		Accounts:   &Accounts{work: w, store: s.Accounts, gateways: at},
		Again:      &Again{work: w, store: s.Again, records: records},
		Campaigns:  campaigns,
		Door:       &Door{work: w, store: s.Door, signin: signin, outage: noOutage{}},
		Doubts:     &Doubts{work: w, store: s.Doubts, records: records},
		Journal:    journal,
		Menus:      &Menus{work: w, store: s.Menus},
		People:     people,
		Records:    records,
		Rehearsals: &Rehearsals{work: w, store: s.Rehearsals, campaigns: campaigns},
		Staff:      &Staff{work: w, store: s.Staff, signin: signin, setup: &setup{}},
		Walls:      &Walls{work: w, store: s.Walls},
	}
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
func (d *Door) Watch(outage Outage) { d.outage = outage }

// Operator is the person behind the command line: whoever may read the data
// folder may do everything.
func Operator() sms.User {
	return sms.User{Name: "Command line", Role: sms.Administrator, Active: true}
}

// NewToken returns 256 random bits as text.
func NewToken() string {
	b := make([]byte, 32)
	rand.Read(b)
	return hex.EncodeToString(b)
}
