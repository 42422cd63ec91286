// Package rig is a desk with real storage that talks to the sandbox over real
// HTTP, for the tests of orders, lists and workers. Nothing but tests knows it.
package rig

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/gateway"
	"smsdesk/internal/lists"
	"smsdesk/internal/migrated"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/series/orders"
	"smsdesk/internal/sms"
	"smsdesk/internal/workers"
	"smsdesk/storage"
)

// Staff is all that people order.
type Staff struct {
	*desk.Desk
	*lists.Lists
	*lists.Downloads
	*lists.Corrections
	*orders.Series
}

// Stores is one database for every noun.
func Stores(db *storage.DB) desk.Stores {
	return desk.Stores{Accounts: db, Again: db, Audit: db, Campaigns: db, Door: db, Doubts: db, Journal: db, Menus: db,
		People: db, Records: db, Reads: db, Rehearsals: db, Staff: db, Walls: db}
}

// StaffOn gives orders on a database.
func StaffOn(db *storage.DB, at desk.Gateways, news *feed.Feed, log *slog.Logger, now func() time.Time) *Staff {
	d := desk.New(Stores(db), at, news, log, now)
	l := lists.New(db, lists.Config{Feed: news, Log: log, Now: now, Audit: feed.AuditTo(db, log, now), Checks: d,
		Corrected: db, Already: db})
	return &Staff{d, l, lists.NewDownloads(l, db), lists.NewCorrections(l, db), orders.New(db, d, news, log, now)}
}

// Rig is a desk with real storage that talks to the sandbox over real HTTP.
type Rig struct {
	journal  *storage.Journal
	T        testing.TB
	Ctx      context.Context
	DB       *storage.DB
	Data     string
	Feed     *feed.Feed
	Desk     *Staff
	Accounts *gateway.Accounts[Service]
	Sandbox  *sandbox.Sandbox
	Service  *httptest.Server
	Account  sms.Account
	By       sms.User
	Store    workers.DispatchStore // of the Dispatcher; DB where nil
	Endures  func(*workers.Dispatcher)
}

// Client is an open account at the sandbox.
type Client struct{ *gateway.Client }

// Wait is how long a campaign waits.
func (c Client) Wait() time.Duration { return c.Client.Wait(gateway.Bulk) }

// Service is what all rooms ask of an account.
type Service interface {
	desk.Gateway
	workers.Gateway
	gateway.Opened
}

// ForOrders is what orders see of an account.
func ForOrders(s Service) desk.Gateway { return s }

// ForSending is what loops see of an account.
func ForSending(s Service) workers.Gateway { return s }

// Orders are the accounts as orders see them.
func (r *Rig) Orders() desk.Gateways { return gateway.See(r.Accounts, ForOrders) }

// Loops are the accounts as loops see them.
func (r *Rig) Loops() workers.Gateways { return gateway.See(r.Accounts, ForSending) }

// Open opens an account at the sandbox.
func Open(o gateway.Opening[Service]) (Service, error) {
	a := o.Account
	cfg := gateway.Config{BaseURL: a.BaseURL, Credentials: o.Secrets, Location: a.Location(), PerMinute: a.PerMinute,
		Before: o.Before,
		Called: o.Called, Heard: o.Heard, Throttled: o.Throttled, AnswerTimeout: 5 * time.Second, DialTimeout: time.Second}
	if before, is := o.After.(Client); is {
		cfg.After = before.Client
	}
	if a.SendByGet {
		cfg.ByGet = a.URLBudget
	}
	g, err := gateway.Open(cfg)
	return Client{g}, err
}

// Key is the API key of the rig's account.
const Key = "a+key/with=signs"

// schema is a data folder to copy; see package migrated.
var schema = &migrated.Template{Make: func(data string) error {
	db, err := storage.Open(context.Background(), storage.Config{Data: data})
	if err != nil {
		return err
	}
	return db.Close()
}}

// Folder is the data folder of a desk that nobody used.
func Folder(t testing.TB) string {
	t.Helper()
	return schema.Folder(t)
}

// CopyFolder makes such a folder at to.
func CopyFolder(to string) error { return schema.Copy(to) }

// New starts everything but the Dispatcher.
func New(t testing.TB, cfg sandbox.Config, change func(*sms.Account)) *Rig {
	t.Helper()
	ctx := t.Context()
	cfg.APIKey, cfg.ClientID = Key, "client-1"
	if cfg.PerMinute == 0 {
		cfg.PerMinute = 100_000
	}
	cfg.ReportMin, cfg.ReportMax = time.Millisecond, 2*time.Millisecond
	service, err := sandbox.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(service.Handler())
	t.Cleanup(server.Close)
	data := Folder(t)
	db, err := storage.Open(ctx, storage.Config{Data: data})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	r := &Rig{T: t, Ctx: ctx, DB: db, Data: data, Feed: feed.New(), Sandbox: service, Service: server,
		By: sms.User{ID: 1, Name: "Ada Obi", Role: sms.Administrator, Active: true}}
	r.Accounts = gateway.NewAccounts(Open, db, slog.New(slog.DiscardHandler))
	r.Desk = StaffOn(db, r.Orders(), r.Feed, slog.New(slog.DiscardHandler), time.Now)
	a := sms.Account{Name: "Clinic", BaseURL: server.URL + "/v2", PerMinute: 100_000, CallLimit: 10, Country: "NG",
		Timezone: "Africa/Lagos", Currency: "₦"}
	if change != nil {
		change(&a)
	}
	if r.Account, err = r.Desk.CreateAccount(ctx, r.By, a,
		sms.Credentials{ClientID: "client-1", APIKey: Key}); err != nil {
		t.Fatal(err)
	}
	r.Know("CLINIC", "PENDING1")
	return r
}

// Know makes sender IDs choosable without asking the Service, so that its
// answer to a send with them can be tested.
func (r *Rig) Know(senders ...string) {
	r.T.Helper()
	var list []sms.SenderID
	for i, s := range senders {
		list = append(list, sms.SenderID{ID: int64(i + 1), Text: s, IsActive: true, ApproveStatus: "Approved"})
	}
	if err := r.DB.PutSenderIDs(r.Ctx, r.Account.ID, list, time.Now().UnixMilli()); err != nil {
		r.T.Fatal(err)
	}
}

// StartedJournal is the one journal of this Rig's database.
func (r *Rig) StartedJournal() *storage.Journal {
	r.T.Helper()
	if r.journal != nil {
		return r.journal
	}
	r.journal = storage.NewJournal(r.DB, storage.JournalConfig{Program: "test"})
	if q, err := r.journal.Start(r.Ctx, time.Now().UnixMilli()); err != nil {
		r.T.Fatalf("%v: %s", err, q.Sentence(time.UTC))
	}
	journal := r.journal
	r.T.Cleanup(func() { _ = journal.Close() })
	return journal
}

// Afresh is the journal as the next start finds it.
func (r *Rig) Afresh() *storage.Journal {
	if r.journal != nil {
		_ = r.journal.Close()
		r.journal = nil
	}
	return storage.NewJournal(r.DB, storage.JournalConfig{Program: "test"})
}

// Dispatch starts the Dispatcher and returns what stops it and waits.
func (r *Rig) Dispatch() (stop func()) { return r.DispatchFrom(false) }

// DispatchFrom starts a Dispatcher that may lose its lease to a later one: its
// Open attempts then belong to the later one, and it ends with a conflict.
func (r *Rig) DispatchFrom(past bool) (stop func()) {
	r.T.Helper()
	journal := r.StartedJournal()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	var store workers.DispatchStore = r.DB
	if r.Store != nil {
		store = r.Store
	}
	d := workers.NewDispatcher(store, journal, r.Loops(), r.Feed, 8, slog.New(slog.DiscardHandler), time.Now)
	if r.Endures != nil {
		r.Endures(d)
	}
	go func() { done <- d.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil && !(past && errors.Is(err, sms.ErrConflict)) {
				r.T.Errorf("dispatcher: %v", err)
			}
		})
	}
	r.T.Cleanup(stop)
	return stop
}

// Scheduler starts the rig's campaigns at their time, by the clock now; by the
// other clock no time passes.
func (r *Rig) Scheduler(orders workers.Starter, now func() time.Time) *workers.Scheduler {
	return workers.NewScheduler(workers.SchedulerConfig{Store: r.DB, Orders: orders, Clocks: r.Accounts, Feed: r.Feed,
		Log: slog.New(slog.DiscardHandler), Now: now, Elapsed: func() time.Duration { return 0 }})
}

// Draft makes a typed campaign.
func (r *Rig) Draft(sender, text string, numbers ...string) sms.Campaign {
	r.T.Helper()
	c, err := r.Desk.CreateCampaign(r.Ctx, r.By,
		desk.Order{AccountID: r.Account.ID, SenderID: sender, Numbers: strings.Join(numbers, "\n"), Text: text,
			Token: desk.NewToken()})
	if err != nil {
		r.T.Fatal(err)
	}
	return c
}

// Start starts a campaign, whatever it looks like.
func (r *Rig) Start(c sms.Campaign) sms.Campaign {
	r.T.Helper()
	c, err := r.Desk.StartCampaign(r.Ctx, r.By, c.ID, desk.StartOrder{Version: c.Version, Again: true, Blind: true})
	if err != nil {
		r.T.Fatal(err)
	}
	return c
}

// Until waits for a campaign to look as wanted.
func (r *Rig) Until(id int64, what string, ok func(sms.Campaign, sms.Tally) bool) (sms.Campaign, sms.Tally) {
	r.T.Helper()
	for deadline := time.Now().Add(15 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		c, err := r.DB.Campaign(r.Ctx, id)
		if err != nil {
			r.T.Fatal(err)
		}
		tally, err := r.DB.Tally(r.Ctx, id)
		if err != nil {
			r.T.Fatal(err)
		}
		if ok(c, tally) {
			return c, tally
		}
		if time.Now().After(deadline) {
			r.T.Fatalf("waited in vain for %s: %s %q %v", what, c.State, c.Pause, tally)
		}
	}
}

// Finished says that a campaign has ended.
func Finished(c sms.Campaign, _ sms.Tally) bool { return c.State == sms.CampaignFinished }

// Paused says that a campaign is paused.
func Paused(c sms.Campaign, _ sms.Tally) bool { return c.State == sms.CampaignPaused }

// Throttled says that a call of the campaign's first message ended with a 429.
func (r *Rig) Throttled(campaign int64) bool {
	r.T.Helper()
	list, _, err := r.DB.Messages(r.Ctx, sms.MessageFilter{CampaignID: campaign, Limit: 1})
	if err != nil || len(list) == 0 {
		return false
	}
	attempts, err := r.DB.MessageAttempts(r.Ctx, list[0].ID)
	return err == nil && slices.ContainsFunc(attempts, func(a sms.Attempt) bool { return a.Class == sms.ClassRate })
}

// Ledger counts executions by number.
func (r *Rig) Ledger() map[string]int {
	times := map[string]int{}
	for _, e := range r.Sandbox.Ledger() {
		times[e.Number]++
	}
	return times
}

// Ordinary returns n numbers as people write them.
func Ordinary(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = "08031" + string([]byte{'0' + byte(i/100000%10), '0' + byte(i/10000%10), '0' + byte(i/1000%10),
			'0' + byte(i/100%10), '0' + byte(i/10%10), '0' + byte(i%10)})
	}
	return list
}

// Block blocks numbers of the rig's account.
func (r *Rig) Block(numbers ...string) {
	r.T.Helper()
	if _, _, err := r.Desk.BlockNumbers(r.Ctx, r.By,
		desk.BlockOrder{AccountID: r.Account.ID, Numbers: strings.Join(numbers, "\n")}); err != nil {
		r.T.Fatal(err)
	}
}

// Calls lists what the sandbox was called with.
func (r *Rig) Calls() (list []sandbox.CallRecord) {
	r.T.Helper()
	resp, err := http.Get(r.Service.URL + "/_sandbox/calls")
	if err != nil {
		r.T.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		r.T.Fatal(err)
	}
	return list
}

// First is the first message of a campaign.
func (r *Rig) First(campaign int64) sms.Message {
	r.T.Helper()
	list, _, err := r.DB.Messages(r.Ctx, sms.MessageFilter{CampaignID: campaign, Limit: 1})
	if err != nil || len(list) != 1 {
		r.T.Fatal(list, err)
	}
	return list[0]
}
