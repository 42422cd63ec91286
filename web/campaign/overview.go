package campaign

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// overviews is the first page.
type overviews struct {
	*base
	store overviewQuestions
}

// overviewQuestions are what overviews ask of the storage.
type overviewQuestions interface {
	// Awaiting counts the campaigns that the user may approve.
	Awaiting(ctx context.Context, account, user int64) (int64, error)
	Balances(ctx context.Context, account int64) ([]sms.Balance, error)
	// BalancesOn is the last reading before each of the times.
	BalancesOn(ctx context.Context, account int64, pluginType string, times []int64) ([]sms.BalanceSpan, error)
	BusyCampaigns(ctx context.Context, account int64, limit int) ([]sms.Campaign, error)
	Campaigns(ctx context.Context, f sms.CampaignFilter) (list []sms.CampaignRow, more bool, err error)
	ComingUp(ctx context.Context, account int64, limit int) ([]sms.Campaign, error)
	Costs(ctx context.Context, account, after int64) ([]sms.Cost, error)
	Decisions(ctx context.Context, account int64) (int64, error)
	FailingNumbers(ctx context.Context, account, since int64, limit int) ([]sms.FailingNumber, error)
	LastReportAt(ctx context.Context, account int64) (int64, error)
	NewerReports(ctx context.Context, account int64, kind sms.ReportKind, key int64) (int64, error)
	PausedCampaigns(ctx context.Context, account int64, limit int) ([]sms.Campaign, error)
	RecordSettings(ctx context.Context, account int64) (sms.RecordSettings, error)
	SenderIDs(ctx context.Context, account int64) ([]sms.SenderID, error)
	Tally(ctx context.Context, id int64) (sms.Tally, error)
	Traffic(ctx context.Context, account, since int64) ([]sms.Traffic, error)
	TrafficQuarters(ctx context.Context, account, since int64) ([]sms.Traffic, error)
	UsageDays(ctx context.Context, account int64, from, to string) ([]sms.UsageDay, error)
}

const (
	overviewLatest = 5
	// overviewComing is how many campaigns with a time to start are looked at.
	overviewComing = 20
	laneReach      = 24 * time.Hour
	// overviewFailing is how many numbers to check are shown.
	overviewFailing = 5
)

// Show is the page after signing in. All its figures are kept
// by what changes them; of messages it looks at the latest failed ones only,
// and not when it renews itself.
func (s *overviews) Show(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p := views.OverviewPage{Formatter: s.Formatter(v, v.Account), Account: v.Account,
		CanSend:  v.User.Role.AtLeast(sms.Sender),
		CanSetUp: v.User.Role.AtLeast(sms.Administrator)}
	id := v.Account.ID
	var topics []string
	p.Days = views.LastDays(p.Now, days(r))
	if id > 0 {
		topics = []string{feed.Campaigns(id), feed.Account(id), feed.Reports(id)}
		if err := s.addOverview(r.Context(), &p); err != nil {
			return err
		}
		if v.User.Role.AtLeast(sms.Approver) {
			var err error
			if p.Approvals, err = s.store.Awaiting(r.Context(), id, v.User.ID); err != nil {
				return err
			}
		}
	}
	if p.CanSetUp {
		var err error
		if p.Backups, err = s.Backups(r.Context(), v); err != nil {
			return err
		}
		topics = append(topics, feed.Backup)
	}
	p.Live = views.Refresh{ID: "overview-live", URL: "/?days=" + strconv.Itoa(len(p.Days)), On: topics}
	if page.IsFragment(r) {
		return s.Render(w, r, http.StatusOK, views.OverviewLive(p))
	}
	if id > 0 {
		if err := s.addOutlook(r.Context(), &p); err != nil {
			return err
		}
		var err error
		if p.Failing, err = s.store.FailingNumbers(r.Context(), id, p.Now.AddDate(0, -sms.SearchMonths, 0).UnixMilli(),
			overviewFailing); err != nil {
			return err
		}
	}
	f := v.LiveFrame("Overview", "overview", topics...)
	if f.Paused {
		p.Live.On = nil
	}
	return s.Render(w, r, http.StatusOK, views.Overview(f, p))
}

// addOverview reads what moves on the page.
func (s *overviews) addOverview(ctx context.Context, p *views.OverviewPage) error {
	a := p.Account
	for _, ask := range []func() error{
		func() (err error) { p.Decisions, err = s.store.Decisions(ctx, a.ID); return },
		func() (err error) { p.Paused, err = s.store.PausedCampaigns(ctx, a.ID, overviewLatest); return },
		func() (err error) {
			p.Unmatched, err = s.store.NewerReports(ctx, a.ID, sms.ReportsUnmatched, 0)
			return
		},
		func() (err error) { p.LastAt, err = s.store.LastReportAt(ctx, a.ID); return },
		func() (err error) { p.Silent, err = s.Silence(ctx, a, p.LastAt); return },
		func() (err error) { p.Coming, err = s.store.ComingUp(ctx, a.ID, overviewComing); return },
		func() error { return s.addTraffic(ctx, p) },
		func() error { return s.addLatest(ctx, p) },
		func() error { return s.addCredit(ctx, p) },
		func() error { return s.addSender(ctx, p) },
	} {
		if err := ask(); err != nil {
			return err
		}
	}
	if p.Decisions == 0 {
		return nil
	}
	var err error
	p.Decide, err = s.DecisionHref(ctx, a.ID)
	return err
}

// addTraffic reads the traffic by days of the account's zone, and that by network
// of the last 24 hours.
func (s *overviews) addTraffic(ctx context.Context, p *views.OverviewPage) error {
	quarters, err := s.store.TrafficQuarters(ctx, p.Account.ID, p.Days[0].Day.UnixMilli())
	if err != nil {
		return err
	}
	day := 0
	for _, t := range quarters {
		for day+1 < len(p.Days) && t.At >= p.Days[day+1].Day.UnixMilli() {
			day++
		}
		p.Days[day].Tally[t.Key] += t.N
	}
	p.Today = p.Days[len(p.Days)-1].Tally
	list, err := s.store.Traffic(ctx, p.Account.ID, p.Now.Add(-laneReach).UnixMilli())
	p.Lanes = sms.Lanes(list)
	return err
}

func (s *overviews) addLatest(ctx context.Context, p *views.OverviewPage) (err error) {
	f := sms.CampaignFilter{AccountID: p.Account.ID, Limit: overviewLatest,
		States: []sms.CampaignState{sms.CampaignRunning, sms.CampaignPaused, sms.CampaignStopped, sms.CampaignFinished,
			sms.CampaignCancelled}}
	if p.Latest, _, err = s.store.Campaigns(ctx, f); err != nil {
		return err
	}
	p.Used = len(p.Latest)+len(p.Coming) > 0
	return nil
}

// addCredit compares the balance with what is still to be sent.
func (s *overviews) addCredit(ctx context.Context, p *views.OverviewPage) error {
	balances, err := s.store.Balances(ctx, p.Account.ID)
	if err != nil {
		return err
	}
	p.Balance = page.BalanceView(balances, p.Account)
	if amount, ok := (sms.Balance{Credits: p.Balance.Text}).Amount(); ok {
		p.Credit = amount
	}
	if p.Unpaid, err = page.Unpaid(ctx, s.store, p.Account.ID, slices.Concat(p.Paused, p.Coming)); err != nil {
		return err
	}
	// What campaigns tell of the price is asked where something is to be paid for.
	if p.Price = views.PriceOf(p.Account, sms.LearntPrice{}); !p.Price.Known() && p.Unpaid > 0 {
		p.Price, err = page.PriceOf(ctx, s.store, p.Account, s.Now())
	}
	return err
}

func (s *overviews) addSender(ctx context.Context, p *views.OverviewPage) error {
	list, err := s.store.SenderIDs(ctx, p.Account.ID)
	if err != nil && !errors.Is(err, sms.ErrNotFound) {
		return err
	}
	p.NoSender = p.Account.ReachedAt > 0
	for _, one := range list {
		p.NoSender = p.NoSender && !one.Usable()
	}
	return nil
}

// addOutlook reads how the balance went, and how long it lasts.
func (s *overviews) addOutlook(ctx context.Context, p *views.OverviewPage) (err error) {
	balances, err := s.store.Balances(ctx, p.Account.ID)
	if err != nil {
		return err
	}
	b := sms.ForMessages(balances)
	if b == nil {
		return nil
	}
	times := make([]int64, 0, len(p.Days)+1)
	for _, d := range p.Days[1:] {
		times = append(times, d.Day.UnixMilli())
	}
	if p.Balances, err = s.store.BalancesOn(ctx, p.Account.ID, b.PluginType,
		append(times, p.Now.UnixMilli()+1)); err != nil {
		return err
	}
	settings, err := s.store.RecordSettings(ctx, p.Account.ID)
	if err != nil {
		return err
	}
	price := p.Price
	if !price.Known() {
		if price, err = page.PriceOf(ctx, s.store, p.Account, s.Now()); err != nil {
			return err
		}
	}
	p.WarnBelow = settings.WarnBelow
	p.Outlook, err = page.Outlook(ctx, s.store, p.Account, b, price, p.Unpaid, p.Now)
	return err
}

// days is how many days the columns show.
func days(r *http.Request) int {
	asked := page.Number(r.URL.Query().Get("days"))
	for _, n := range views.OverviewDays() {
		if int64(n) == asked {
			return n
		}
	}
	return views.OverviewDays()[0]
}
