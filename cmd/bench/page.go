package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/lists"
	"smsdesk/internal/sms"
	"smsdesk/storage"
	"smsdesk/web"
	"smsdesk/web/campaign"
	"smsdesk/web/page"
	"smsdesk/web/ussd"
)

const (
	pagesSmall = 1_000_000
	pagesLarge = 10_000_000
	pageTimes  = 60
	pageWarm   = 5
	listBar    = 50 * time.Millisecond
	// growthFloor is a time below which growth says nothing: a page that takes
	// 1 ms instead of 0.3 has read a few more blocks of the index.
	growthFloor = 5 * time.Millisecond
)

// office is a running desk over a seeded database, asked without a network.
type office struct {
	db      *storage.DB
	handler http.Handler
	cookie  *http.Cookie
}

func openOffice(ctx context.Context, data string) (*office, error) {
	db, err := storage.Open(ctx, storage.Config{Data: data})
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	news := feed.New()
	d := benchDesk(db, news)
	l := benchLists(db, d, news)
	token, now := desk.NewToken(), time.Now().UnixMilli()
	user, err := db.CreateUser(ctx, sms.User{Email: fmt.Sprintf("bench-%d@example.com", now), Name: "Ada Obi",
		Role: sms.Administrator}, "no password fits this", now)
	if err == nil {
		err = db.CreateSession(ctx, sha256.Sum256([]byte(token)), user.ID, "bench", now)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	ask := web.Questions{
		Health: db, Account: db, Endpoint: db, Journal: db, Balance: db, Report: db, Record: db,
		People: db, Blocked: db, Staff: db, Token: db, API: db, APIKept: db,
		APIFollow: db,
	}
	do := web.Orders{
		Account: d, Endpoint: d, Retention: d, Backup: d, Journal: d, Balance: d, Report: d,
		Record: d, People: d, Audience: l, Blocked: d, OptOut: d, Staff: d, Token: d, Door: d, API: d,
		APILists: l, APIData: d, APITokens: d,
		APIDrafts: d, APIDecide: d,
	}
	campaigns := campaign.Config{
		Ask: campaign.Questions{Base: db, Campaign: db, Message: db, Confirm: db, Draft: db, Upload: db, Doubt: db,
			Overview: db, Find: db},
		Do: campaign.Orders{Campaign: d, Message: d, Download: lists.NewDownloads(l, db), Confirm: d, Draft: d, Upload: l,
			Correct: lists.NewCorrections(l, db), Audience: l,
			Doubt: d},
	}
	menus := ussd.Config{
		Ask: ussd.Questions{MenuBase: db, Menu: db, Caller: db},
		Do:  ussd.Orders{Menu: d, Caller: d},
	}
	site := page.Config{Ask: db, Do: d, Feed: news, Log: log, PublicURL: "http://127.0.0.1:8080", Now: time.Now}
	w := web.New(web.Config{Config: site, Ask: ask, Do: do, Campaign: campaigns, USSD: menus, Spool: data})
	return &office{db: db, handler: w.Routes(nil), cookie: &http.Cookie{Name: "smsdesk", Value: token}}, nil
}

// ask answers one request; a form is posted and its answer followed.
func (o *office) ask(page string, form url.Values) (took time.Duration, err error) {
	r := httptest.NewRequest(http.MethodGet, page, nil)
	if form != nil {
		r = httptest.NewRequest(http.MethodPost, page, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	r.AddCookie(o.cookie)
	rec := httptest.NewRecorder()
	began := time.Now()
	o.handler.ServeHTTP(rec, r)
	took = time.Since(began)
	switch {
	case form != nil && rec.Code == http.StatusSeeOther:
		rest, err := o.ask(rec.Header().Get("Location"), nil)
		return took + rest, err
	case rec.Code != http.StatusOK:
		return took, fmt.Errorf("%s: status %d", page, rec.Code)
	}
	return took, nil
}

// asked is one kind of page; i makes every look another one.
type asked struct {
	name string
	page func(i int) (string, url.Values)
}

func pages() []asked {
	at := func(address string) func(int) (string, url.Values) {
		return func(int) (string, url.Values) { return address, nil }
	}
	search := func(pairs ...string) func(i int) (string, url.Values) {
		return func(i int) (string, url.Values) {
			form := url.Values{}
			for p := 0; p < len(pairs); p += 2 {
				value := pairs[p+1]
				if strings.Contains(value, "%") {
					value = fmt.Sprintf(value, (i*7_777)%1_000_000)
				}
				form.Set(pairs[p], value)
			}
			return "/messages/search", form
		}
	}
	ago := func(days int) string { return time.Now().AddDate(0, 0, -days).Format(time.DateOnly) }
	find := func(pairs ...string) func(i int) (string, url.Values) {
		return func(i int) (string, url.Values) {
			_, form := search(pairs...)(i)
			return "/campaigns/1/find", form
		}
	}
	return []asked{
		{"overview", at("/")},
		{"breakdown of 100,000", at("/campaigns/1/breakdown")},
		{"campaign, a network", at("/campaigns/1?network=MTN")},
		{"campaign, a network that is not there", at("/campaigns/1?network=Safaricom")},
		{"campaign, words that are not there", find("text", "nowhere")},
		{"campaign, a number", find("number", "0803%07d")},
		{"campaign, last 7 digits", find("number", "%07d", "state", "delivered")},
		{"campaigns", at("/campaigns")},
		{"campaigns by name", at("/campaigns?name=nothing")},
		{"campaign of 100,000", at("/campaigns/1")},
		{"campaign, page in the middle", func(i int) (string, url.Values) {
			return fmt.Sprintf("/campaigns/1?after=%d&first=%d", 40_000+i*500, 40_001+i*500), nil
		}},
		{"campaign, page before", func(i int) (string, url.Values) {
			return fmt.Sprintf("/campaigns/1?before=%d&first=%d", 40_000+i*500, 39_950+i*500), nil
		}},
		{"campaign, not delivered", at("/campaigns/1?tile=failed")},
		{"campaign, in doubt", at("/campaigns/1?state=doubt")},
		{"campaign, nothing of that", at("/campaigns/1?state=held")},
		{"message", func(i int) (string, url.Values) { return fmt.Sprintf("/messages/%d", 1+i*997), nil }},
		{"messages", at("/messages")},
		{"messages, not delivered", search("tile", "failed")},
		{"messages, in doubt", search("tile", "decision")},
		{"messages of some days", search("from", ago(200), "to", ago(190))},
		{"messages of some days, in doubt", search("from", ago(300), "to", ago(100), "tile", "decision")},
		{"messages to a number", search("number", "0803%07d")},
		{"messages to a number, delivered", search("number", "0803%07d", "tile", "delivered")},
		{"messages to the last 7 digits", search("number", "%07d")},
	}
}

// benchPages measures pages over a million and over ten million messages, in
// turns.
func benchPages(ctx context.Context, e env) ([]line, error) {
	var offices []*office
	for _, n := range []int64{pagesSmall, pagesLarge} {
		data := e.path(fmt.Sprintf("pages-%d", n))
		if _, err := seed(ctx, data, n, largeCampaign); err != nil {
			return nil, err
		}
		defer func() { _ = os.RemoveAll(data) }()
		o, err := openOffice(ctx, data)
		if err != nil {
			return nil, err
		}
		defer func() { _ = o.db.Close() }()
		offices = append(offices, o)
	}
	return comparePages(ctx, offices)
}

// comparePages asks both offices, the small one first, for every page in turns.
func comparePages(ctx context.Context, offices []*office) ([]line, error) {
	var lines []line
	for _, p := range pages() {
		var took [2][]time.Duration
		for i := range pageWarm + pageTimes {
			for n, o := range offices {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				page, form := p.page(i)
				t, err := o.ask(page, form)
				if err != nil {
					return nil, err
				}
				if i >= pageWarm {
					took[n] = append(took[n], t)
				}
			}
		}
		small, large := p95(took[0]), p95(took[1])
		lines = append(lines,
			line{name: p.name, figure: fmt.Sprintf("%.1f ms for 95 of 100 with 10 million messages", ms(large)),
				against: fmt.Sprintf("of %.0f ms", ms(listBar)),
				ratio:   ms(large) / ms(listBar), bar: 1, most: true},
			line{name: p.name + ", growth", figure: fmt.Sprintf("%.1f ms", ms(large)),
				against: fmt.Sprintf("%.1f ms with a million (less than %.0f ms counts as that)", ms(small), ms(growthFloor)),
				ratio:   ms(max(large, growthFloor)) / ms(max(small, growthFloor)), bar: 1.5, most: true})
	}
	return lines, nil
}

func p95(took []time.Duration) time.Duration {
	slices.Sort(took)
	return took[len(took)*95/100]
}
