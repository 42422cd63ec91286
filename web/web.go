// Package web is what a browser or another program can ask: the map of addresses, sessions, forms
// in, pages out, live nudges. A question goes to the storage through the narrow
// interfaces declared here; an order goes to one method of the desk. It must
// never know SQL, the gateway's wire form, or how a page is drawn.
package web

import (
	"context"

	"smsdesk/internal/ussd"
	"smsdesk/web/page"
)

// Questions are what each noun's pages ask of the storage.
type Questions struct {
	Health   healthQuestions
	Account  accountQuestions
	Endpoint endpointQuestions
	Journal  journalQuestions
	Balance  balanceQuestions
	Report   reportQuestions
	Record   recordQuestions
	People   peopleQuestions
	Blocked  blockedQuestions
	Staff    staffQuestions
	Token    tokenQuestions
	Base     baseQuestions
	Campaign campaignQuestions
	Message  messageQuestions
	Confirm  confirmQuestions
	Draft    draftQuestions
	Upload   uploadQuestions
	Doubt    doubtQuestions
	Overview overviewQuestions
	MenuBase menuBaseQuestions
	Menu     menuQuestions
	Caller   callerQuestions
	API      apiQuestions
}

// Orders are what people and programs do, by the noun that is ordered about.
type Orders struct {
	Account   accountOrders
	Endpoint  endpointOrders
	Retention retentionOrders
	Backup    backupOrders
	Journal   journalOrders
	Balance   balanceOrders
	Report    reportOrders
	Record    recordOrders
	People    peopleOrders
	Blocked   blockedOrders
	OptOut    optOutOrders
	Staff     staffOrders
	Token     tokenOrders
	Door      doorOrders
	Campaign  campaignOrders
	Message   messageOrders
	Download  downloadOrders
	Confirm   confirmOrders
	Draft     draftOrders
	Upload    uploadOrders
	Doubt     doubtOrders
	Menu      menuOrders
	Caller    callerOrders
	API       apiOrders
}

// Config is what pages and programs need to work.
type Config struct {
	page.Config
	Ask Questions
	Do  Orders
	// Dev serves what only developers need.
	Dev bool
	// SandboxURL is the control page of the embedded sandbox, "" without one.
	SandboxURL string
	// Spool is the folder for what programs send, until it is a list; "" is the
	// system's for such files.
	Spool string
	// Mails says that this desk can send mail.
	Mails bool
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
}

// Web answers browsers and programs: the map of addresses, over one type for
// each noun.
type Web struct {
	*page.Site
	dev        bool
	probes     *probes
	accounts   *accounts
	endpoints  *endpoints
	retentions *retentions
	backups    *backups
	journals   *journals
	balances   *balances
	reports    *reports
	records    *records
	people     *people
	blocks     *blocks
	optouts    *optouts
	staff      *staff
	tokens     *tokens
	door       *door
	campaigns  *campaigns
	messages   *messages
	downloads  *downloads
	confirms   *confirms
	drafts     *drafts
	uploads    *uploads
	doubts     *doubts
	overviews  *overviews
	menus      *menus
	callers    *callers
	api        *api
}

// New returns the pages; Routes makes them answer.
func New(c Config) *Web {
	c.Program = programs(c.Log)
	site := page.New(c.Config)
	room := &base{Site: site, store: c.Ask.Base}
	menu := &menubase{Site: site, store: c.Ask.MenuBase}
	return &Web{
		Site: site, dev: c.Dev, probes: newProbes(c),
		accounts:   &accounts{Site: site, store: c.Ask.Account, desk: c.Do.Account, sandboxURL: c.SandboxURL},
		endpoints:  &endpoints{Site: site, store: c.Ask.Endpoint, desk: c.Do.Endpoint},
		retentions: &retentions{Site: site, desk: c.Do.Retention},
		backups:    &backups{Site: site, desk: c.Do.Backup},
		journals:   &journals{Site: site, store: c.Ask.Journal, desk: c.Do.Journal},
		balances:   &balances{Site: site, store: c.Ask.Balance, desk: c.Do.Balance, mails: c.Mails},
		reports:    &reports{Site: site, store: c.Ask.Report, desk: c.Do.Report},
		records:    &records{Site: site, store: c.Ask.Record, desk: c.Do.Record},
		people:     &people{Site: site, store: c.Ask.People, desk: c.Do.People},
		blocks:     &blocks{Site: site, store: c.Ask.Blocked, desk: c.Do.Blocked},
		optouts:    &optouts{Site: site, desk: c.Do.OptOut, gate: newGate()},
		staff:      &staff{Site: site, store: c.Ask.Staff, desk: c.Do.Staff},
		tokens:     &tokens{Site: site, store: c.Ask.Token, desk: c.Do.Token},
		door:       &door{Site: site, desk: c.Do.Door},
		campaigns:  &campaigns{base: room, store: c.Ask.Campaign, desk: c.Do.Campaign},
		messages:   &messages{base: room, store: c.Ask.Message, desk: c.Do.Message},
		downloads:  &downloads{base: room, desk: c.Do.Download, downloads: make(seats, downloadsMost)},
		confirms:   &confirms{base: room, store: c.Ask.Confirm, desk: c.Do.Confirm},
		drafts:     &drafts{base: room, store: c.Ask.Draft, desk: c.Do.Draft},
		uploads:    &uploads{base: room, store: c.Ask.Upload, desk: c.Do.Upload},
		doubts:     &doubts{base: room, store: c.Ask.Doubt, desk: c.Do.Doubt},
		overviews:  &overviews{base: room, store: c.Ask.Overview},
		menus:      &menus{menubase: menu, store: c.Ask.Menu, desk: c.Do.Menu, press: c.Press, try: c.Try},
		callers:    &callers{menubase: menu, store: c.Ask.Caller, desk: c.Do.Caller},
		api:        &api{store: c.Ask.API, desk: c.Do.API, feed: c.Feed, log: c.Log, now: c.Now, pace: newPace(), uploads: make(seats, uploadsAtOnce), keys: newKeys(), spool: c.Spool, stopping: c.Stopping},
	}
}
