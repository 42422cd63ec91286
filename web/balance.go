package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// balances is the page about the balance, usage and costs.
type balances struct {
	*page.Site
	store balanceQuestions
	desk  balanceOrders
	mails bool
}

// balanceQuestions are what balances ask of the storage.
type balanceQuestions interface {
	Alarms(ctx context.Context, account int64) ([]sms.Alarm, error)
	BalanceHistory(ctx context.Context, account int64, pluginType string, since int64) ([]sms.BalanceSpan, error)
	Balances(ctx context.Context, account int64) ([]sms.Balance, error)
	BusyCampaigns(ctx context.Context, account int64, limit int) ([]sms.Campaign, error)
	ComingUp(ctx context.Context, account int64, limit int) ([]sms.Campaign, error)
	Costs(ctx context.Context, account, after int64) ([]sms.Cost, error)
	PausedCampaigns(ctx context.Context, account int64, limit int) ([]sms.Campaign, error)
	RecordSettings(ctx context.Context, account int64) (sms.RecordSettings, error)
	Tally(ctx context.Context, id int64) (sms.Tally, error)
	UsageDays(ctx context.Context, account int64, from, to string) ([]sms.UsageDay, error)
}

// balanceOrders are what people do on these pages.
type balanceOrders interface {
	BalanceXML(ctx context.Context, by sms.User, account int64) (list []sms.Balance, raw string, err error)
	SaveRecordSettings(ctx context.Context, by sms.User, account int64,
		change func(*sms.RecordSettings)) (sms.RecordSettings, error)
	SeeAlarms(ctx context.Context, by sms.User, account, last int64) error
}

func (s *balances) balanceShow(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.showBalance(w, r, v, nil, nil)
}

// showBalance shows the page, with what is wrong with its form or what came as
// XML.
func (s *balances) showBalance(w http.ResponseWriter, r *http.Request, v *page.Visit, bad sms.Invalid,
	asked *views.BalanceXML) error {
	p, err := s.balancePage(r, v, bad)
	if err != nil {
		return err
	}
	topic := feed.Account(v.Account.ID)
	p.Live = views.Refresh{ID: "balance-live", URL: views.With(views.BalancePath, "days", strconv.Itoa(p.Days)),
		On: []string{topic}}
	if page.IsFragment(r) && r.Method == http.MethodGet {
		return s.Render(w, r, http.StatusOK, views.BalanceLive(p))
	}
	if err := s.addSpending(r, v, &p); err != nil {
		return err
	}
	p.XML = asked
	f := v.LiveFrame("Balance", "balance", topic)
	if f.Paused || p.NoAccount {
		f.Live, p.Live.On = nil, nil
	}
	// The page says the same, with more.
	f.Bands = slices.DeleteFunc(f.Bands, func(b views.Banner) bool { return b.ID == "balance-alarm" })
	f.Error = len(bad) > 0
	return s.Render(w, r, page.Status(r, bad), views.BalanceShow(f, p))
}

const (
	historyDays = 30
	// unpaidMost is how many paused and how many scheduled campaigns are looked at
	// for what they cost.
	unpaidMost = 50
)

func (s *balances) balancePage(r *http.Request, v *page.Visit, bad sms.Invalid) (p views.BalancePage, err error) {
	ctx, q := r.Context(), r.URL.Query()
	if p.RecordPage, err = s.RecordPage(v, sms.RecordBalance, bad); err != nil {
		return p, err
	}
	p.AccountRow, p.Administers, p.Mails = v.Account, v.User.Role.AtLeast(sms.Administrator), s.mails
	if p.Balances, err = s.store.Balances(ctx, v.Account.ID); err != nil {
		return p, err
	}
	if p.Alarms, err = s.store.Alarms(ctx, v.Account.ID); err != nil {
		return p, err
	}
	if p.Settings, err = s.store.RecordSettings(ctx, v.Account.ID); err != nil {
		return p, err
	}
	p.WarnBelow, p.Floor, p.MailTo = page.FormatPrice(p.Settings.WarnBelow), page.FormatPrice(p.Settings.Floor),
		p.Settings.MailTo
	if len(bad) > 0 && r.PostForm.Has("warn_below") {
		p.WarnBelow, p.Floor, p.MailTo = r.PostForm.Get("warn_below"), r.PostForm.Get("floor"), r.PostForm.Get("mail_to")
		p.Settings.OthersSend = r.PostForm.Get("others_send") != ""
	}
	p.Days = historyDays
	if days := page.Number(q.Get("days")); days == 7 || days == 90 {
		p.Days = int(days)
	}
	if b := sms.ForMessages(p.Balances); b != nil {
		if p.History, err = s.store.BalanceHistory(ctx, v.Account.ID, b.PluginType,
			v.Now().AddDate(0, 0, -p.Days).UnixMilli()); err != nil {
			return p, err
		}
	}
	if err := s.addCosts(ctx, v, &p); err != nil {
		return p, err
	}
	return p, s.addOutlook(ctx, v, &p)
}

// addSpending adds what was used.
func (s *balances) addSpending(r *http.Request, v *page.Visit, p *views.BalancePage) error {
	q := r.URL.Query()
	return s.addUsage(r.Context(), v, q.Get("month"), q.Get("by"), p)
}

// addOutlook adds how long the balance lasts, what is planned taken off first.
func (s *balances) addOutlook(ctx context.Context, v *page.Visit, p *views.BalancePage) error {
	paused, err := s.store.PausedCampaigns(ctx, v.Account.ID, unpaidMost)
	if err != nil {
		return err
	}
	coming, err := s.store.ComingUp(ctx, v.Account.ID, unpaidMost)
	if err != nil {
		return err
	}
	unpaid, err := page.Unpaid(ctx, s.store, v.Account.ID, slices.Concat(paused, coming))
	if err != nil {
		return err
	}
	p.Outlook, err = page.Outlook(ctx, s.store, v.Account, sms.ForMessages(p.Balances), p.Price, unpaid, p.Now)
	return err
}

// usageMonth reads a month, the present one where there is none, and its days.
func usageMonth(v *page.Visit, text string) (month, from, to string) {
	first, err := time.ParseInLocation("2006-01", text, v.Account.Location())
	if err != nil {
		first, _ = time.ParseInLocation("2006-01", v.Now().Format("2006-01"), v.Account.Location())
	}
	return first.Format("2006-01"), first.Format(time.DateOnly), first.AddDate(0, 1, -1).Format(time.DateOnly)
}

func (s *balances) addUsage(ctx context.Context, v *page.Visit, month, by string, p *views.BalancePage) error {
	var from, to string
	p.Month, from, to = usageMonth(v, month)
	p.By = "day"
	for _, t := range views.UsageBys() {
		if t.Href == by {
			p.By = by
		}
	}
	if p.By == "month" {
		from, to = v.Now().AddDate(0, -11, 0).Format("2006-01")+"-01", v.Now().Format(time.DateOnly)
	}
	days, err := s.store.UsageDays(ctx, v.Account.ID, from, to)
	p.Usage = sms.SumUsage(days, p.By == "day" || p.By == "month", usageNames[p.By])
	return err
}

var usageNames = map[string]func(sms.UsageDay) string{
	"day":     func(d sms.UsageDay) string { return d.Day },
	"month":   func(d sms.UsageDay) string { return d.Day[:min(len(d.Day), 7)] },
	"sender":  func(d sms.UsageDay) string { return d.SenderID },
	"person":  usagePerson,
	"network": func(d sms.UsageDay) string { return d.Network },
}

func usagePerson(d sms.UsageDay) string {
	switch {
	case d.UserID == 0:
		return "Command line"
	case d.UserName == "":
		return fmt.Sprintf("person %d", d.UserID)
	}
	return d.UserName
}

// price is what a part costs, as the page reckons.
func (s *balances) price(ctx context.Context, a sms.Account) (views.Price, error) {
	costs, err := s.store.Costs(ctx, a.ID, s.Now().Add(-page.PricesFrom).UnixMilli())
	overall, _ := sms.LearnPrices(sms.PriceSamples(costs))
	return views.PriceOf(a, overall), err
}

func (s *balances) addCosts(ctx context.Context, v *page.Visit, p *views.BalancePage) (err error) {
	if p.Costs, err = s.store.Costs(ctx, v.Account.ID, s.Now().Add(-page.PricesFrom).UnixMilli()); err != nil {
		return err
	}
	overall, networks := sms.LearnPrices(sms.PriceSamples(p.Costs))
	p.Price = views.PriceOf(v.Account, overall)
	if overall.Samples > 0 {
		p.Prices = append([]sms.LearntPrice{overall}, networks...)
	}
	const shown = 15
	p.Costs = p.Costs[:min(len(p.Costs), shown)]
	return nil
}

// usageDownload is the usage of a month, or of everything before it in the same
// year, as a table for a spreadsheet program.
func (s *balances) usageDownload(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	month, from, to := usageMonth(v, r.URL.Query().Get("month"))
	days, err := s.store.UsageDays(r.Context(), v.Account.ID, from, to)
	if err != nil {
		return err
	}
	price, err := s.price(r.Context(), v.Account)
	if err != nil {
		return err
	}
	out := page.CSVAnswer(w, "usage-"+month)
	out.Write("Day", "Sender ID", "Person", "Network (by prefix)", "Messages", "Parts", "Estimated cost")
	for _, d := range days {
		out.Write(d.Day, d.SenderID, usagePerson(d), d.Network, fmt.Sprint(d.Messages), fmt.Sprint(d.Parts),
			price.Decimal(d.Parts))
	}
	// A browser that has gone away is nobody's error.
	_ = out.Flush()
	return nil
}

func (s *balances) balanceLimits(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	bad := sms.Invalid{}
	read := func(field string) int64 {
		n, err := sms.ReadPrice(r.PostForm.Get(field))
		if err != nil {
			bad[field] = "Enter an amount, for example 5000, or leave it empty"
		}
		return n
	}
	warn, floor := read("warn_below"), read("floor")
	if len(bad) > 0 {
		return s.showBalance(w, r, v, bad, nil)
	}
	_, err := s.desk.SaveRecordSettings(r.Context(), v.User, v.Account.ID, func(x *sms.RecordSettings) {
		x.WarnBelow, x.Floor, x.MailTo = warn, floor, r.PostForm.Get("mail_to")
		x.OthersSend = r.PostForm.Get("others_send") != ""
	})
	if errors.As(err, &bad) {
		return s.showBalance(w, r, v, bad, nil)
	}
	if err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.BalancePath, "saved"))
}

func (s *balances) balanceSeen(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	if err := s.desk.SeeAlarms(r.Context(), v.User, v.Account.ID, page.Number(r.PostForm.Get("last"))); err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.BalancePath, "seen"))
}

// balanceXML shows what the provider answers when it is asked for XML (§4.1).
func (s *balances) balanceXML(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	list, raw, err := s.desk.BalanceXML(r.Context(), v.User, v.Account.ID)
	if bad, ok := errors.AsType[sms.Invalid](err); ok {
		return s.showBalance(w, r, v, bad, nil)
	}
	if err != nil {
		return err
	}
	return s.showBalance(w, r, v, nil, &views.BalanceXML{Raw: raw, List: list})
}
