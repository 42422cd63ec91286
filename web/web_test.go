package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/getkin/kin-openapi/routers"
	"github.com/go-chi/chi/v5"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/gateway"
	"smsdesk/internal/lists"
	"smsdesk/internal/migrated"
	"smsdesk/internal/rig"
	"smsdesk/internal/sms"
	"smsdesk/storage"
	"smsdesk/web/campaign"
	"smsdesk/web/kept"
	"smsdesk/web/page"
	"smsdesk/web/series"
	"smsdesk/web/ussd"
)

type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

// provider is a gateway that answers what a test sets.
type provider struct {
	desk.Gateway
	gateway.Opened
	err     error
	senders []sms.SenderID // nil: the ones below
}

func (p *provider) Balance(context.Context) ([]sms.Balance, error) {
	return []sms.Balance{{PluginType: "SMS", Credits: "₦57,524.50"}}, p.err
}

func (p *provider) SenderIDs(context.Context) ([]sms.SenderID, error) {
	if p.senders != nil {
		return p.senders, p.err
	}
	return []sms.SenderID{
		{ID: 1, Text: "CLINIC", IsActive: true, ApproveStatus: "Approved"},
		{ID: 2, Text: "SCHOOL", IsActive: true, ApproveStatus: "Pending"},
		{ID: 3, Text: "OLDNAME", IsActive: false, ApproveStatus: "Approved"},
	}, p.err
}

func (p *provider) Groups(context.Context) ([]sms.Group, error) {
	return []sms.Group{{ID: 11, Name: "Parents", ContactCount: 412}}, p.err
}

func (p *provider) BalanceXML(context.Context) ([]sms.Balance, string, error) {
	return []sms.Balance{{PluginType: "SMS", Credits: "₦57,524.50"}}, "<Credits>₦57,524.50</Credits>", p.err
}

func (p *provider) DeleteSenderID(context.Context, int64) (string, error) {
	return "SenderId deleted Successfully.", p.err
}

func (p *provider) PairSize(number, text string) (int, bool) { return gateway.PairSize(number, text) }

func (p *provider) TextLimit(_ sms.Call, limit int) int { return limit }

func (p *provider) PairRoom(_ sms.Call, budget int) int { return budget - 120 }

func (p *provider) Templates(context.Context) ([]sms.Template, error) {
	return []sms.Template{
		{ID: 7, Name: "Appointment", Text: "Dear ##Name##,\r\ncome on ##Date##.", IsApproved: true, IsActive: true},
		{ID: 8, Name: "Fees", Text: "Fees are due.", IsActive: true},
		{ID: 9, Name: "Old", Text: "Old", IsApproved: true},
	}, p.err
}

// site is the whole desk behind its pages, with real storage.
type site struct {
	t        *testing.T
	db       *storage.DB
	desk     *rig.Staff
	accounts *gateway.Accounts[*provider]
	feed     *feed.Feed
	web      *Web
	handler  http.Handler
	clock    *clock
	log      *journal
	provider *provider
	kept     string // the folder of what is sent after a session's end
	boss     sms.User
	cookie   string         // of sessions
	openapi  routers.Router // of the description of the API
}

const (
	goodPassword = "correct pony battery lamp"
	anyHash      = "$argon2id$v=19$m=19456,t=2,p=1$FJSnenLqLiBKt1Oko0EG+Q$tIXnluJQjuAnTxPIA3Iuc8ZQ3phaTs8StB63OFbaKAE"
)

// callbacks stands in for the gateway's own handler.
var callbacks = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "OK") })

// schema is a data folder to copy; see package migrated.
var schema = &migrated.Template{Make: func(data string) error {
	db, err := storage.Open(context.Background(), storage.Config{Data: data})
	if err != nil {
		return err
	}
	return db.Close()
}}

// newSite has an administrator; newEmptySite has nobody.
func newSite(t *testing.T, change ...func(*Config)) *site {
	t.Helper()
	s := newEmptySite(t, change...)
	s.boss = s.hire("boss@example.com", sms.Administrator)
	return s
}

func newEmptySite(t *testing.T, change ...func(*Config)) *site {
	t.Helper()
	db, err := storage.Open(t.Context(), storage.Config{Data: schema.Folder(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s := &site{t: t, db: db, feed: feed.New(), clock: &clock{t: time.Date(2026, 6, 3, 9, 48, 0, 0, time.UTC)},
		log: &journal{}, provider: &provider{}}
	log := slog.New(slog.NewTextHandler(s.log, nil))
	open := func(gateway.Opening[*provider]) (*provider, error) { return s.provider, nil }
	s.accounts = gateway.NewAccounts(open, db, log)
	s.desk = rig.StaffOn(db, gateway.See(s.accounts, func(p *provider) desk.Gateway {
		return p
	}), s.feed, log, s.clock.now)
	c := Config{Ask: asking(db), Do: doing(s.desk.Desk, s.desk.Lists)}
	c.Campaign = campaign.Config{
		Ask: campaign.Questions{Base: db, Beside: db, Campaign: db, Message: db, Confirm: db, Draft: db, Upload: db, Doubt: db,
			Overview: db, Find: db, Rehearsal: db, Wall: db},
		Do: campaign.Orders{Campaign: s.desk, Message: s.desk, Download: s.desk, Confirm: s.desk, Draft: s.desk,
			Upload: s.desk, Correct: s.desk, Doubt: s.desk, Audience: s.desk, Rehearsal: s.desk, Wall: s.desk},
	}
	c.Series = series.Config{Calendar: db, Ask: db, Do: s.desk.Series}
	c.USSD = ussd.Config{
		Ask: ussd.Questions{MenuBase: db, Menu: db, Caller: db},
		Do:  ussd.Orders{Menu: s.desk, Caller: s.desk},
	}
	c.Config = page.Config{Ask: db, Do: s.desk, Feed: s.feed, Log: log, PublicURL: "http://127.0.0.1:8080",
		Now: s.clock.now, Kept: s.keeping()}
	for _, f := range change {
		f(&c)
	}
	s.web = New(c)
	if s.cookie = "smsdesk"; c.Secure {
		s.cookie = "__Host-smsdesk"
	}
	s.handler = s.web.Routes(callbacks)
	return s
}

// keeping keeps what is sent after a session's end, on a disk without bounds.
func (s *site) keeping() page.Kept {
	s.t.Helper()
	s.kept = filepath.Join(s.t.TempDir(), "kept")
	folder, err := kept.Open(s.kept, s.clock.now, func(int64) bool { return true })
	if err != nil {
		s.t.Fatal(err)
	}
	return folder
}

// asking gives every noun the one storage, as main does.
func asking(db *storage.DB) Questions {
	return Questions{
		Health: db, Account: db, Endpoint: db, Journal: db, Balance: db, Report: db, Record: db,
		People: db, Blocked: db, Staff: db, Token: db, API: db, APIKept: db,
		APIFollow: db,
	}
}

// doing gives every noun the one desk, as main does.
func doing(d *desk.Desk, l *lists.Lists) Orders {
	return Orders{
		Account: d, Endpoint: d, Retention: d, Backup: d, Journal: d, Balance: d, Report: d,
		Record: d, People: d, Audience: l, Blocked: d, OptOut: d, Staff: d, Token: d, Door: d, API: d,
		APILists: l, APIData: d, APITokens: d,
		APIDrafts: d, APIDecide: d,
	}
}

// hire makes a person without the cost of a real password.
func (s *site) hire(email string, role sms.Role) sms.User {
	s.t.Helper()
	u, err := s.db.CreateUser(context.Background(), sms.User{Email: email, Name: "Ada Obi", Role: role}, anyHash,
		s.clock.now().UnixMilli())
	if err != nil {
		s.t.Fatal(err)
	}
	return u
}

func (s *site) account(a sms.Account) sms.Account {
	s.t.Helper()
	a.Country, a.Timezone, a.Currency, a.PerMinute = "NG", "Africa/Lagos", "₦", 100
	if a.BaseURL == "" {
		a.BaseURL = "https://api.example.com/v2"
	}
	made, err := s.desk.CreateAccount(context.Background(), desk.Operator(), a,
		sms.Credentials{ClientID: "CANARY-CLIENT-0001", APIKey: "CANARY-KEY-abcd4f2a"})
	if err != nil {
		s.t.Fatal(err)
	}
	return made
}

// browser keeps cookies and does not follow redirects.
type browser struct {
	site    *site
	cookies map[string]string
	ip      string
}

func (s *site) browser() *browser {
	return &browser{site: s, cookies: map[string]string{}, ip: "192.0.2.10"}
}

// as is a browser in which u is signed in.
func (s *site) as(u sms.User) *browser {
	s.t.Helper()
	b, token := s.browser(), desk.NewToken()
	if err := s.db.CreateSession(context.Background(), sha256.Sum256([]byte(token)), u.ID, "test",
		s.clock.now().UnixMilli()); err != nil {
		s.t.Fatal(err)
	}
	b.cookies[s.cookie] = token
	return b
}

type answer struct {
	t      *testing.T
	status int
	header http.Header
	body   string
}

func (b *browser) send(r *http.Request) answer {
	b.site.t.Helper()
	r.RemoteAddr = b.ip + ":40000"
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	rec := httptest.NewRecorder()
	b.site.handler.ServeHTTP(rec, r)
	for _, c := range rec.Result().Cookies() {
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		} else {
			b.cookies[c.Name] = c.Value
		}
	}
	a := answer{t: b.site.t, status: rec.Code, header: rec.Header(), body: rec.Body.String()}
	a.saysOneWord(r)
	return a
}

func (b *browser) get(path string) answer {
	b.site.t.Helper()
	return b.send(httptest.NewRequest(http.MethodGet, path, nil))
}

func (b *browser) post(path string, pairs ...string) answer {
	b.site.t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(values(pairs).Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return b.send(r)
}

func values(pairs []string) url.Values {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Add(pairs[i], pairs[i+1])
	}
	return v
}

func (a answer) page() *goquery.Document {
	a.t.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(a.body))
	if err != nil {
		a.t.Fatal(err)
	}
	return doc
}

// text is what a person reads at the selector, with single spaces.
func (a answer) text(selector string) string {
	a.t.Helper()
	return strings.Join(strings.Fields(a.page().Find(selector).Text()), " ")
}

func (a answer) is(status int) answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("status %d, want %d; location %q\n%.600s", a.status, status, a.header.Get("Location"), a.body)
	}
	return a
}

// to is a redirect to this address.
func (a answer) to(location string) answer {
	a.t.Helper()
	if a.is(http.StatusSeeOther); a.header.Get("Location") != location {
		a.t.Fatalf("redirect to %q, want %q", a.header.Get("Location"), location)
	}
	return a
}

func (a answer) has(words ...string) answer {
	a.t.Helper()
	text := a.text("body")
	for _, w := range words {
		if !strings.Contains(text, w) {
			a.t.Errorf("the page does not say %q: %.1500s", w, text)
		}
	}
	return a
}

func (a answer) lacks(words ...string) answer {
	a.t.Helper()
	for _, w := range words {
		if strings.Contains(a.body, w) {
			a.t.Errorf("the page says %q", w)
		}
	}
	return a
}

// broken is a store of which some answers fail.
type broken struct {
	*storage.DB
	panics bool
}

// breaking puts b between the pages and the storage, where b can fail.
func breaking(b *broken) func(*Config) {
	return func(c *Config) {
		b.DB = c.Ask.API.(*storage.DB)
		c.Ask.Staff, c.Ask.Token, c.Campaign.Ask.Campaign, c.Ask.API = b, b, b, b
	}
}

var errDisk = errors.New("the disk is on fire")

func (b broken) Users(context.Context) ([]sms.User, error) {
	if b.panics {
		panic(errDisk)
	}
	return nil, errDisk
}

func (b broken) CountCampaigns(ctx context.Context, f sms.CampaignFilter) ([]sms.CampaignCount, bool, error) {
	if b.panics {
		panic(errDisk)
	}
	return b.DB.CountCampaigns(ctx, f)
}

// routes is the map of addresses, to ask what is there.
func (s *site) routes() chi.Routes { return s.web.router(callbacks) }
