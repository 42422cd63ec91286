package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// accounts are the pages of connections, and what is left to set up.
type accounts struct {
	*page.Site
	store      accountQuestions
	desk       accountOrders
	sandboxURL string
}

// accountQuestions are what accounts ask of the storage.
type accountQuestions interface {
	Account(ctx context.Context, id int64) (sms.Account, error)
	Administrators(ctx context.Context) (int64, error)
	AnswersUSSD(ctx context.Context, account int64) (bool, error)
	Balances(ctx context.Context, account int64) ([]sms.Balance, error)
	Costs(ctx context.Context, account, after int64) ([]sms.Cost, error)
	LastReportAt(ctx context.Context, account int64) (int64, error)
	Reading(ctx context.Context, account int64, kind sms.RecordKind) (sms.Reading, error)
	RecordSettings(ctx context.Context, account int64) (sms.RecordSettings, error)
	SenderIDs(ctx context.Context, account int64) ([]sms.SenderID, error)
	// SentSince counts the recipients of the account's requests since a moment.
	SentSince(ctx context.Context, account, since int64) (int64, error)
	Templates(ctx context.Context, account int64) ([]sms.Template, error)
	Users(ctx context.Context) ([]sms.User, error)
}

// accountOrders are what people do on these pages.
type accountOrders interface {
	ChooseAccount(ctx context.Context, token string, account int64) error
	CreateAccount(ctx context.Context, by sms.User, a sms.Account, c sms.Credentials) (sms.Account, error)
	RefreshAccount(ctx context.Context, by sms.User, id int64) error
	ResumeAccount(ctx context.Context, by sms.User, id int64) error
	SaveAccount(ctx context.Context, by sms.User, id int64, change func(*sms.Account, *sms.Credentials)) (
		sms.Account, error)
	SavePrice(ctx context.Context, by sms.User, id, price int64, currency string) error
	SaveRecordSettings(ctx context.Context, by sms.User, account int64,
		change func(*sms.RecordSettings)) (sms.RecordSettings, error)
	SaveSending(ctx context.Context, by sms.User, id int64, change func(*desk.Sending)) (sms.Account, error)
	TestAccount(ctx context.Context, by sms.User, id int64) (desk.AccountTest, error)
}

const (
	testTimeout = 30 * time.Second
	// testShown is how long after a test its result may be shown by address.
	testShown = 10 * time.Minute
)

func (s *accounts) accountList(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	rows := make([]views.AccountRow, len(v.Accounts))
	for i, a := range v.Accounts {
		rows[i] = views.AccountRow{Href: views.AccountPath(a.ID), Name: a.Name, BaseURL: a.BaseURL, KeyHint: a.KeyHint,
			Test: a.Test,
			Rate: views.Number(a.PerMinute), Connection: page.Connection(a, s.Now())}
	}
	return s.Render(w, r, http.StatusOK, views.Accounts(v.Frame("Accounts", "settings"), rows))
}

func (s *accounts) accountNew(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	like := sms.Account{PerMinute: sms.DefaultPerMinute}
	for _, a := range v.Accounts {
		like.Country, like.Timezone, like.Currency = a.Country, a.Timezone, a.Currency
	}
	return s.showNew(w, r, v, accountFields(like), nil)
}

func (s *accounts) showNew(w http.ResponseWriter, r *http.Request, v *page.Visit, form views.AccountForm,
	bad sms.Invalid) error {
	const title = "Connect a real account"
	f := v.Frame(title, "settings")
	f.Crumbs = []views.Link{{Text: "Accounts", Href: views.AccountsPath}, {Text: title}}
	f.Error = len(bad) > 0
	return s.Render(w, r, page.Status(r, bad), views.NewAccountPage(f, form, bad))
}

func (s *accounts) accountCreate(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	form, bad := readAccount(r.PostForm, views.AccountForm{}), sms.Invalid{}
	a := sms.Account{CallLimit: sms.DefaultCallLimit, ConfirmCountAbove: sms.DefaultTypeAbove}
	form.apply(&a, bad)
	c := form.credentials()
	page.Merge(bad, a.Check())
	if c.ClientID == "" {
		bad["client_id"] = "Enter the client ID from the provider dashboard"
	}
	if c.APIKey == "" {
		bad["api_key"] = "Enter the API key from the provider dashboard"
	}
	if len(bad) > 0 {
		return s.showNew(w, r, v, form.AccountForm, bad)
	}
	made, err := s.desk.CreateAccount(r.Context(), v.User, a, c)
	if errors.As(err, &bad) {
		return s.showNew(w, r, v, form.AccountForm, bad)
	}
	if err != nil {
		return err
	}
	if err := s.desk.ChooseAccount(r.Context(), v.Token(), made.ID); err != nil {
		return err
	}
	return s.testAccount(w, r, v, made.ID)
}

// accountForm is the connection of an account or, at the account's own address,
// the list of its settings with the connection beside it. Its address may tell
// of a test that was just made.
func (s *accounts) accountForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	a, err := s.accountOf(r)
	if err != nil {
		return err
	}
	p, err := s.settings(v, a, views.SectionConnection)
	if err != nil {
		return err
	}
	tested := r.URL.Query().Get("tested")
	p.Index = tested == "" && r.URL.Path == views.AccountPath(a.ID)
	if tested == "" || s.Now().UnixMilli()-max(a.ReachedAt, a.FailedAt) > testShown.Milliseconds() {
		return s.showSettings(w, r, v, p)
	}
	if ms, err := strconv.Atoi(tested); err == nil && ms >= 0 && a.Failure == "" {
		p.Took = ms
		return s.showSettings(w, r, v, p)
	}
	p.Bad = testFailed(a, tested)
	return s.showSettings(w, r, v, p)
}

// testFailed is why a test did not work, at the field that has to be mended.
func testFailed(a sms.Account, tested string) sms.Invalid {
	sentence := a.Failure
	if sentence == "" {
		sentence = "Settings saved, but the test did not finish. Save and test again"
	}
	field := "base_url"
	if tested == blamesCredentials {
		field = "api_key"
	}
	if sentence == unreachable {
		sentence += ". Check the API URL and test again"
	}
	return sms.Invalid{field: sentence}
}

func (s *accounts) accountOf(r *http.Request) (sms.Account, error) {
	id := page.PathID(r)
	return s.store.Account(r.Context(), id)
}

// unreachable is what the gateway says when no answer came at all.
const unreachable = "We cannot reach the provider"

// blamesCredentials is what the address says of a test after which a person
// has to mend the API key or the client ID.
const blamesCredentials = "credentials"

func (s *accounts) accountSave(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	a, err := s.accountOf(r)
	if err != nil {
		return err
	}
	p, err := s.settings(v, a, views.SectionConnection)
	if err != nil {
		return err
	}
	form, bad := readAccount(r.PostForm, p.Form), sms.Invalid{}
	form.AccountForm = fixed(form.AccountForm, p.Form)
	p.Form = form.AccountForm
	changed := a
	form.apply(&changed, bad)
	page.Merge(bad, changed.Check())
	if d := changed.DefaultSender; d != "" && d != a.DefaultSender && !page.Contains(form.Senders, d) {
		bad["default_sender"] = "Choose a sender ID"
	}
	if len(bad) == 0 {
		_, err = s.desk.SaveAccount(r.Context(), v.User, a.ID, func(x *sms.Account, c *sms.Credentials) {
			form.apply(x, sms.Invalid{})
			if !a.Test {
				*c = form.credentials()
			}
		})
		if err != nil && !errors.As(err, &bad) {
			return err
		}
	}
	if len(bad) > 0 {
		p.Bad, p.Section = bad, views.SectionOf(bad)
		p.Money.Price, p.Money.Currency, p.Money.Typed = form.Price, form.Currency, form.Price != ""
		return s.showSettings(w, r, v, p)
	}
	return s.testAccount(w, r, v, a.ID)
}

// fixed puts back what a form may not change about this account: the
// connection of a test account belongs to the sandbox.
func fixed(form, stored views.AccountForm) views.AccountForm {
	form.ID, form.Test, form.KeyHint = stored.ID, stored.Test, stored.KeyHint
	form.Senders, form.SandboxURL = stored.Senders, stored.SandboxURL
	if form.Test {
		form.Name, form.BaseURL, form.Plan, form.PerMinute = stored.Name, stored.BaseURL, stored.Plan, stored.PerMinute
	}
	return form
}

func (s *accounts) testAccount(w http.ResponseWriter, r *http.Request, v *page.Visit, id int64) error {
	ctx, cancel := context.WithTimeout(r.Context(), testTimeout)
	defer cancel()
	tested := "failed"
	proof, err := s.desk.TestAccount(ctx, v.User, id)
	switch {
	case err == nil:
		tested = strconv.FormatInt(max(proof.Took.Milliseconds(), 1), 10)
	case sms.FaultOf(err) == sms.FaultCredentials:
		tested = blamesCredentials
	}
	if err != nil {
		s.Log.Warn("connection test failed", "id", page.RequestID(r.Context()), "account", id, "error", err)
	}
	return page.Redirect(w, r, views.With(views.SectionPath(id, views.SectionConnection), "tested", tested))
}

func (s *accounts) accountResume(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	if err := s.desk.ResumeAccount(r.Context(), v.User, id); err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.SectionPath(id, views.SectionConnection), "resumed"))
}

// accountInput is the form as it was sent, with the secrets, which never go
// back into a page.
type accountInput struct {
	views.AccountForm
	clientID, apiKey string
}

// readAccount reads a form; what it does not have stays as it is stored.
func readAccount(form url.Values, stored views.AccountForm) accountInput {
	field := func(name, stored string) string {
		if !form.Has(name) {
			return stored
		}
		return strings.TrimSpace(form.Get(name))
	}
	i := accountInput{clientID: field("client_id", ""), apiKey: field("api_key", "")}
	i.AccountForm = views.AccountForm{
		Name: field("name", ""), BaseURL: field("base_url", ""), Plan: field("plan", ""), PerMinute: field("per_minute", ""),
		Country: field("country", stored.Country), Timezone: field("timezone", stored.Timezone),
		Currency: field("currency", stored.Currency), Price: field("price_per_part", stored.Price),
		DefaultSender: field("default_sender", stored.DefaultSender), SecretsLost: i.clientID != "" || i.apiKey != "",
	}
	return i
}

func (i accountInput) credentials() sms.Credentials {
	return sms.Credentials{ClientID: i.clientID, APIKey: i.apiKey}
}

// apply writes the form onto an account; what cannot be read goes into bad,
// or is left for the account's own check to refuse.
func (i accountInput) apply(a *sms.Account, bad sms.Invalid) {
	a.Name, a.BaseURL = i.Name, strings.TrimSuffix(i.BaseURL, "/")
	a.Country, a.Timezone, a.Currency, a.DefaultSender = strings.ToUpper(i.Country), i.Timezone, i.Currency,
		i.DefaultSender
	count := i.Plan
	if i.Plan == views.OtherPlan {
		count = strings.ReplaceAll(i.PerMinute, ",", "")
	}
	var err error
	if a.PerMinute, err = strconv.Atoi(count); err != nil || a.PerMinute == 0 {
		a.PerMinute = -1
	}
	if a.PricePerPart, err = sms.ReadPrice(i.Price); err != nil {
		bad["price_per_part"] = "Enter a price, for example 4.00, or leave it empty"
	}
}

func accountFields(a sms.Account) views.AccountForm {
	form := views.AccountForm{ID: a.ID, Test: a.Test, Name: a.Name, BaseURL: a.BaseURL, KeyHint: a.KeyHint,
		Country:  a.Country,
		Timezone: a.Timezone, Currency: a.Currency, Price: page.FormatPrice(a.PricePerPart), DefaultSender: a.DefaultSender}
	form.Plan, form.PerMinute = planOf(a.PerMinute)
	return form
}

// planOf tells the two plans of §8 from any other rate.
func planOf(perMinute int) (plan, other string) {
	switch perMinute {
	case 100, 1000:
		return strconv.Itoa(perMinute), ""
	}
	return views.OtherPlan, strconv.Itoa(perMinute)
}

// accountChoose sets the account that this browser works with.
func (s *accounts) accountChoose(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id, err := strconv.ParseInt(r.PostForm.Get("account"), 10, 64)
	if err != nil {
		return sms.ErrNotFound
	}
	if err := s.desk.ChooseAccount(r.Context(), v.Token(), id); err != nil {
		return err
	}
	return page.Redirect(w, r, page.LocalPath(r.PostForm.Get("next"), "/"))
}

const refreshTimeout = 30 * time.Second

func (s *accounts) accountRefresh(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	back := views.SectionPath(id, views.SectionConnection)
	if r.PostForm.Get("section") == string(views.SectionAdvanced) {
		back = views.SectionPath(id, views.SectionAdvanced)
	}
	ctx, cancel := context.WithTimeout(r.Context(), refreshTimeout)
	defer cancel()
	switch err := s.desk.RefreshAccount(ctx, v.User, id); {
	case err == nil:
		page.Redirect(w, r, page.WithDone(back, "refreshed"))
	case errors.Is(err, sms.ErrNotFound) || errors.Is(err, sms.ErrForbidden):
		return err
	default:
		s.Log.Warn("records not read", "id", page.RequestID(r.Context()), "account", id, "error", err)
		page.Redirect(w, r, back)
	}
	return nil
}
