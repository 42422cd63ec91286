// Package web is what a browser or another program can ask: the map of addresses, sessions, forms
// in, pages out, live nudges. A question goes to the storage through the narrow
// interfaces declared here; an order goes to one method of the desk. It must
// never know SQL, the gateway's wire form, or how a page is drawn.
package web

import (
	"context"

	"smsdesk/web/api"
	"smsdesk/web/campaign"
	"smsdesk/web/page"
	"smsdesk/web/series"
	"smsdesk/web/ussd"
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
	API      api.Questions
	APIKept  api.KeptQuestions
	// APIFollow is about what became of messages.
	APIFollow api.FollowQuestions
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
	Audience  audienceOrders
	Blocked   blockedOrders
	OptOut    optOutOrders
	Staff     staffOrders
	Token     tokenOrders
	Door      doorOrders
	API       api.Orders
	APILists  api.ListOrders
	APIData   api.DataOrders
	APITokens api.TokenOrders
	APIDrafts api.DraftOrders
	APIDecide api.FollowOrders
}

// Config is what pages and programs need to work.
type Config struct {
	page.Config
	Ask      Questions
	Do       Orders
	Campaign campaign.Config
	USSD     ussd.Config
	Series   series.Config
	// Dev serves what only developers need.
	Dev bool
	// SandboxURL is the control page of the embedded sandbox, "" without one.
	SandboxURL string
	// Spool is the folder for what programs send, until it is a list; "" is the
	// system's for such files.
	Spool string
	// Mails says that this desk can send mail.
	Mails bool
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
	campaign   *campaign.Room
	ussd       *ussd.Room
	series     *series.Room
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
	api        *api.API
}

// New returns the pages; Routes makes them answer.
func New(c Config) *Web {
	c.Program = programs(c.Log)
	site := page.New(c.Config)
	return &Web{
		Site: site, dev: c.Dev, probes: newProbes(c),
		campaign: campaign.New(site, c.Campaign), ussd: ussd.New(site, c.USSD), series: series.New(site, c.Series),
		accounts:   &accounts{Site: site, store: c.Ask.Account, desk: c.Do.Account, sandboxURL: c.SandboxURL},
		endpoints:  &endpoints{Site: site, store: c.Ask.Endpoint, desk: c.Do.Endpoint},
		retentions: &retentions{Site: site, desk: c.Do.Retention},
		backups:    &backups{Site: site, desk: c.Do.Backup},
		journals:   &journals{Site: site, store: c.Ask.Journal, desk: c.Do.Journal},
		balances:   &balances{Site: site, store: c.Ask.Balance, desk: c.Do.Balance, mails: c.Mails},
		reports:    &reports{Site: site, store: c.Ask.Report, desk: c.Do.Report},
		records:    &records{Site: site, store: c.Ask.Record, desk: c.Do.Record},
		people:     &people{Site: site, store: c.Ask.People, desk: c.Do.People, lists: c.Do.Audience},
		blocks:     &blocks{Site: site, store: c.Ask.Blocked, desk: c.Do.Blocked},
		optouts:    &optouts{Site: site, desk: c.Do.OptOut, gate: newGate()},
		staff:      &staff{Site: site, store: c.Ask.Staff, desk: c.Do.Staff},
		tokens:     &tokens{Site: site, store: c.Ask.Token, desk: c.Do.Token},
		door:       &door{Site: site, desk: c.Do.Door},
		api:        api.New(c.apiConfig()),
	}
}

func (c Config) apiConfig() api.Config {
	return api.Config{Ask: c.Ask.API, Kept: c.Ask.APIKept, Follow: c.Ask.APIFollow, Do: c.Do.API, Data: c.Do.APIData,
		Tokens: c.Do.APITokens, Lists: c.Do.APILists, Drafts: c.Do.APIDrafts, Decide: c.Do.APIDecide,
		Feed: c.Feed, Log: c.Log, Now: c.Now, RequestID: page.RequestID, Spool: c.Spool, Stopping: c.Stopping}
}
