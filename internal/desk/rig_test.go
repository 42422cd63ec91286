package desk_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/gateway"
	"smsdesk/internal/migrated"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
	"smsdesk/internal/workers"
	"smsdesk/storage"
)

// rig is a desk with real storage that talks to the sandbox over real HTTP.
type rig struct {
	journal  *storage.Journal
	t        testing.TB
	ctx      context.Context
	db       *storage.DB
	data     string
	feed     *feed.Feed
	desk     *desk.Desk
	accounts *gateway.Accounts[service]
	sandbox  *sandbox.Sandbox
	service  *httptest.Server
	account  sms.Account
	by       sms.User
	store    workers.DispatchStore // of the Dispatcher; db where nil
	endures  func(*workers.Dispatcher)
}

type client struct{ *gateway.Client }

func (c client) Wait() time.Duration { return c.Client.Wait(gateway.Bulk) }

// service is what all rooms ask of an account.
type service interface {
	desk.Gateway
	workers.Gateway
	gateway.Opened
}

func forOrders(s service) desk.Gateway     { return s }
func forSending(s service) workers.Gateway { return s }

func (r *rig) orders() desk.Gateways   { return gateway.See(r.accounts, forOrders) }
func (r *rig) loops() workers.Gateways { return gateway.See(r.accounts, forSending) }

func open(o gateway.Opening[service]) (service, error) {
	a := o.Account
	cfg := gateway.Config{BaseURL: a.BaseURL, Credentials: o.Secrets, Location: a.Location(), PerMinute: a.PerMinute,
		Before: o.Before,
		Called: o.Called, Heard: o.Heard, Throttled: o.Throttled, AnswerTimeout: 5 * time.Second, DialTimeout: time.Second}
	if before, open := o.After.(client); open {
		cfg.After = before.Client
	}
	g, err := gateway.Open(cfg)
	return client{g}, err
}

const rigKey = "a+key/with=signs"

// schema is a data folder to copy; see package migrated.
var schema = &migrated.Template{Make: func(data string) error {
	db, err := storage.Open(context.Background(), storage.Config{Data: data})
	if err != nil {
		return err
	}
	return db.Close()
}}

// newRig starts everything but the Dispatcher.
func newRig(t testing.TB, cfg sandbox.Config, change func(*sms.Account)) *rig {
	t.Helper()
	ctx := t.Context()
	cfg.APIKey, cfg.ClientID = rigKey, "client-1"
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
	data := schema.Folder(t)
	db, err := storage.Open(ctx, storage.Config{Data: data})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	r := &rig{t: t, ctx: ctx, db: db, data: data, feed: feed.New(), sandbox: service, service: server,
		by: sms.User{ID: 1, Name: "Ada Obi", Role: sms.Administrator, Active: true}}
	r.accounts = gateway.NewAccounts(open, db, slog.New(slog.DiscardHandler))
	r.desk = desk.New(db, r.orders(), r.feed, slog.New(slog.DiscardHandler), time.Now)
	a := sms.Account{Name: "Clinic", BaseURL: server.URL + "/v2", PerMinute: 100_000, CallLimit: 10, Country: "NG",
		Timezone: "Africa/Lagos", Currency: "₦"}
	if change != nil {
		change(&a)
	}
	if r.account, err = r.desk.CreateAccount(ctx, r.by, a,
		sms.Credentials{ClientID: "client-1", APIKey: rigKey}); err != nil {
		t.Fatal(err)
	}
	r.know("CLINIC", "PENDING1")
	return r
}

// know makes sender IDs choosable without asking the service, so that its
// answer to a send with them can be tested.
func (r *rig) know(senders ...string) {
	r.t.Helper()
	var list []sms.SenderID
	for i, s := range senders {
		list = append(list, sms.SenderID{ID: int64(i + 1), Text: s, IsActive: true, ApproveStatus: "Approved"})
	}
	if err := r.db.PutSenderIDs(r.ctx, r.account.ID, list, time.Now().UnixMilli()); err != nil {
		r.t.Fatal(err)
	}
}

// startedJournal is the one journal of this rig's database.
func (r *rig) startedJournal() *storage.Journal {
	r.t.Helper()
	if r.journal != nil {
		return r.journal
	}
	r.journal = storage.NewJournal(r.db, storage.JournalConfig{Program: "test"})
	if q, err := r.journal.Start(r.ctx, time.Now().UnixMilli()); err != nil {
		r.t.Fatalf("%v: %s", err, q.Sentence(time.UTC))
	}
	journal := r.journal
	r.t.Cleanup(func() { _ = journal.Close() })
	return journal
}

// dispatch starts the Dispatcher and returns what stops it and waits.
func (r *rig) dispatch() (stop func()) { return r.dispatchFrom(false) }

// dispatchFrom starts a Dispatcher that may lose its lease to a later one: its
// open attempts then belong to the later one, and it ends with a conflict.
func (r *rig) dispatchFrom(past bool) (stop func()) {
	r.t.Helper()
	journal := r.startedJournal()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	var store workers.DispatchStore = r.db
	if r.store != nil {
		store = r.store
	}
	d := workers.NewDispatcher(store, journal, r.loops(), r.feed, 8, slog.New(slog.DiscardHandler), time.Now)
	if r.endures != nil {
		r.endures(d)
	}
	go func() { done <- d.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil && !(past && errors.Is(err, sms.ErrConflict)) {
				r.t.Errorf("dispatcher: %v", err)
			}
		})
	}
	r.t.Cleanup(stop)
	return stop
}

func (r *rig) draft(sender, text string, numbers ...string) sms.Campaign {
	r.t.Helper()
	c, err := r.desk.CreateCampaign(r.ctx, r.by,
		desk.Order{AccountID: r.account.ID, SenderID: sender, Numbers: strings.Join(numbers, "\n"), Text: text,
			Token: desk.NewToken()})
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

func (r *rig) start(c sms.Campaign) sms.Campaign {
	r.t.Helper()
	c, err := r.desk.StartCampaign(r.ctx, r.by, c.ID, desk.StartOrder{Version: c.Version, Again: true, Blind: true})
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

// until waits for a campaign to look as wanted.
func (r *rig) until(id int64, what string, ok func(sms.Campaign, sms.Tally) bool) (sms.Campaign, sms.Tally) {
	r.t.Helper()
	for deadline := time.Now().Add(15 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		c, err := r.db.Campaign(r.ctx, id)
		if err != nil {
			r.t.Fatal(err)
		}
		tally, err := r.db.Tally(r.ctx, id)
		if err != nil {
			r.t.Fatal(err)
		}
		if ok(c, tally) {
			return c, tally
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("waited in vain for %s: %s %q %v", what, c.State, c.Pause, tally)
		}
	}
}

func finished(c sms.Campaign, _ sms.Tally) bool { return c.State == sms.CampaignFinished }

func paused(c sms.Campaign, _ sms.Tally) bool { return c.State == sms.CampaignPaused }

// throttled says that a call of the campaign's first message ended with a 429.
func (r *rig) throttled(campaign int64) bool {
	r.t.Helper()
	list, _, err := r.db.Messages(r.ctx, sms.MessageFilter{CampaignID: campaign, Limit: 1})
	if err != nil || len(list) == 0 {
		return false
	}
	attempts, err := r.db.MessageAttempts(r.ctx, list[0].ID)
	return err == nil && slices.ContainsFunc(attempts, func(a sms.Attempt) bool { return a.Class == sms.ClassRate })
}

// ledger counts executions by number.
func (r *rig) ledger() map[string]int {
	times := map[string]int{}
	for _, e := range r.sandbox.Ledger() {
		times[e.Number]++
	}
	return times
}

func ordinary(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = "08031" + string([]byte{'0' + byte(i/100000%10), '0' + byte(i/10000%10), '0' + byte(i/1000%10),
			'0' + byte(i/100%10), '0' + byte(i/10%10), '0' + byte(i%10)})
	}
	return list
}
