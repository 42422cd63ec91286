package web

import (
	"errors"
	"net/http"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// settings are an account's settings as they are stored, with one of their pages.
func (s *accounts) settings(v *page.Visit, a sms.Account, section views.AccountSection) (
	p views.AccountSettings, err error) {
	ctx := v.R.Context()
	p = views.AccountSettings{Formatter: s.Formatter(v, a), Account: a, Section: section, Form: accountFields(a),
		Sending: sendingFields(a), Connection: page.Connection(a, s.Now())}
	p.Form.SandboxURL = s.sandboxURL
	if p.Form.Senders, err = s.UsableSenders(v, a); err != nil {
		return p, err
	}
	if p.Records, err = s.records(v, a); err != nil {
		return p, err
	}
	balances, err := s.store.Balances(ctx, a.ID)
	if err != nil {
		return p, err
	}
	p.Balance = sms.ForMessages(balances)
	team, err := s.store.Users(ctx)
	if err != nil {
		return p, err
	}
	p.Conflicts = desk.LimitConflicts(a, team)
	p.Senders, p.Approvers = desk.Approving(team)
	if p.SentToday, err = s.store.SentSince(ctx, a.ID, sms.DayBegins(p.Now).UnixMilli()); err != nil {
		return p, err
	}
	return p, s.money(v, a, &p)
}

// money is what a part costs, and what is known of that.
func (s *accounts) money(v *page.Visit, a sms.Account, p *views.AccountSettings) (err error) {
	ctx := v.R.Context()
	settings, err := s.store.RecordSettings(ctx, a.ID)
	if err != nil {
		return err
	}
	p.Money = views.MoneyForm{Typed: a.PricePerPart > 0, Price: page.FormatPrice(a.PricePerPart), Currency: a.Currency,
		WarnBelow: page.FormatPrice(settings.WarnBelow)}
	if p.Costs, err = s.store.Costs(ctx, a.ID, s.Now().Add(-page.PricesFrom).UnixMilli()); err != nil {
		return err
	}
	p.Learnt, _ = sms.LearnPrices(sms.PriceSamples(p.Costs))
	p.Price = views.PriceOf(a, p.Learnt)
	return nil
}

func (s *accounts) showSettings(w http.ResponseWriter, r *http.Request, v *page.Visit, p views.AccountSettings) error {
	f := v.Frame(p.Account.Name+": "+p.Section.Words(), "settings")
	f.Crumbs = []views.Link{{Text: "Accounts", Href: views.AccountsPath},
		{Text: p.Account.Name, Href: views.AccountPath(p.Account.ID)}, {Text: p.Section.Words()}}
	if p.Index {
		f.Title, f.Crumbs = p.Account.Name, []views.Link{f.Crumbs[0], {Text: p.Account.Name}}
	}
	f.Error = len(p.Bad) > 0
	p.Refused = f.Error && r.Method == http.MethodPost
	return s.Render(w, r, page.Status(r, p.Bad), views.AccountSettingsPage(f, p))
}

// section is a page of an account's settings.
func (s *accounts) section(section views.AccountSection) page.Handler {
	return func(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
		a, err := s.accountOf(r)
		if err != nil {
			return err
		}
		p, err := s.settings(v, a, section)
		if err != nil {
			return err
		}
		return s.showSettings(w, r, v, p)
	}
}

// moneySave takes what a part costs, and below which balance to warn.
func (s *accounts) moneySave(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	a, err := s.accountOf(r)
	if err != nil {
		return err
	}
	p, err := s.settings(v, a, views.SectionMoney)
	if err != nil {
		return err
	}
	p.Money = moneyTyped(r, p.Money)
	price, warn, bad := readMoney(p.Money)
	if len(bad) == 0 {
		if err = s.desk.SavePrice(r.Context(), v.User, a.ID, price, p.Money.Currency); err == nil {
			_, err = s.desk.SaveRecordSettings(r.Context(), v.User, a.ID, func(x *sms.RecordSettings) { x.WarnBelow = warn })
		}
		if err != nil && !errors.As(err, &bad) {
			return err
		}
	}
	if len(bad) > 0 {
		p.Bad = bad
		return s.showSettings(w, r, v, p)
	}
	return page.Redirect(w, r, page.WithDone(views.SectionPath(a.ID, views.SectionMoney), "saved"))
}

// moneyTyped is the form as it was sent; what it does not have stays as it is
// stored.
func moneyTyped(r *http.Request, p views.MoneyForm) views.MoneyForm {
	field := func(name string, to *string) {
		if r.PostForm.Has(name) {
			*to = page.TypedNumber(r, name)
		}
	}
	field("price_per_part", &p.Price)
	field("currency", &p.Currency)
	field("warn_below", &p.WarnBelow)
	if from := r.PostForm.Get("price_from"); from != "" {
		p.Typed = from == "typed"
	}
	return p
}

// readMoney reads the form; amounts are in hundredths.
func readMoney(p views.MoneyForm) (price, warn int64, bad sms.Invalid) {
	bad = sms.Invalid{}
	var err error
	if price, err = sms.ReadPrice(p.Price); p.Typed && (err != nil || price == 0) {
		bad["price_per_part"] = "Enter a price, for example 4.00, or choose the learned one"
	}
	if !p.Typed {
		price = 0
	}
	if warn, err = sms.ReadPrice(p.WarnBelow); err != nil {
		bad["warn_below"] = "Enter an amount, for example 5000, or leave it empty"
	}
	if len([]rune(p.Currency)) > 4 {
		bad["currency"] = "Currency sign must be 4 characters or fewer, for example ₦"
	}
	return price, warn, bad
}

// records is what is kept of an account's records at the provider.
func (s *accounts) records(v *page.Visit, a sms.Account) (views.Records, error) {
	ctx := v.R.Context()
	senders, err := s.store.SenderIDs(ctx, a.ID)
	if err != nil {
		return views.Records{}, err
	}
	templates, err := s.store.Templates(ctx, a.ID)
	if err != nil {
		return views.Records{}, err
	}
	reading, err := s.store.Reading(ctx, a.ID, sms.RecordTemplates)
	if err != nil {
		return views.Records{}, err
	}
	settings, err := s.store.RecordSettings(ctx, a.ID)
	if err != nil {
		return views.Records{}, err
	}
	rec := views.Records{Creates: settings.Creates, SenderIDs: len(senders), Templates: len(templates),
		Failure: reading.Failure}
	at := reading.At
	for _, x := range senders {
		at = max(at, x.ReadAt)
		if x.Usable() {
			rec.UsableSenderIDs++
		}
	}
	for _, x := range templates {
		if x.Usable() {
			rec.UsableTemplates++
		}
	}
	if at > 0 {
		rec.ReadAt = v.When(at)
	}
	return rec, nil
}
