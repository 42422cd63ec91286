package web

import (
	"context"
	"errors"
	"fmt"
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
	LastReportAt(ctx context.Context, account int64) (int64, error)
	Reading(ctx context.Context, account int64, kind sms.RecordKind) (sms.Reading, error)
	RecordSettings(ctx context.Context, account int64) (sms.RecordSettings, error)
	SenderIDs(ctx context.Context, account int64) ([]sms.SenderID, error)
	Templates(ctx context.Context, account int64) ([]sms.Template, error)
}

// accountOrders are what people do on these pages.
type accountOrders interface {
	ChooseAccount(ctx context.Context, token string, account int64) error
	CreateAccount(ctx context.Context, by sms.User, a sms.Account, c sms.Credentials) (sms.Account, error)
	RefreshAccount(ctx context.Context, by sms.User, id int64) error
	ResumeAccount(ctx context.Context, by sms.User, id int64) error
	SaveAccount(ctx context.Context, by sms.User, id int64, change func(*sms.Account, *sms.Credentials)) (
		sms.Account, error)
	SaveSending(ctx context.Context, by sms.User, id int64, s desk.Sending) (sms.Account, error)
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
	return s.Render(w, r, http.StatusOK, views.Accounts(v.Frame("Connection", "settings"), rows))
}

func (s *accounts) accountNew(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	like := sms.Account{PerMinute: sms.DefaultPerMinute}
	for _, a := range v.Accounts {
		like.Country, like.Timezone, like.Currency = a.Country, a.Timezone, a.Currency
	}
	return s.showAccount(w, r, v, accountFields(like), nil)
}

func (s *accounts) accountCreate(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	form, bad := readAccount(r.PostForm), sms.Invalid{}
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
		return s.showAccount(w, r, v, form.AccountForm, bad)
	}
	made, err := s.desk.CreateAccount(r.Context(), v.User, a, c)
	if errors.As(err, &bad) {
		return s.showAccount(w, r, v, form.AccountForm, bad)
	}
	if err != nil {
		return err
	}
	if err := s.desk.ChooseAccount(r.Context(), v.Token(), made.ID); err != nil {
		return err
	}
	return s.testAccount(w, r, v, made.ID)
}

func (s *accounts) accountForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	a, err := s.accountOf(r)
	if err != nil {
		return err
	}
	form := accountFields(a)
	tested := r.URL.Query().Get("tested")
	if tested == "" || s.Now().UnixMilli()-max(a.ReachedAt, a.FailedAt) > testShown.Milliseconds() {
		form.Trouble = a.Failure
		return s.showAccount(w, r, v, form, nil)
	}
	ms, err := strconv.Atoi(tested)
	if err == nil && ms >= 0 && a.Failure == "" {
		form.Proof, err = s.proof(r.Context(), a, ms)
		if err != nil {
			return err
		}
		return s.showAccount(w, r, v, form, nil)
	}
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
	return s.showAccount(w, r, v, form, sms.Invalid{field: sentence})
}

func (s *accounts) accountOf(r *http.Request) (sms.Account, error) {
	id := page.PathID(r)
	return s.store.Account(r.Context(), id)
}

// proof says what the provider answered, in figures that a person can compare.
func (s *accounts) proof(ctx context.Context, a sms.Account, ms int) (string, error) {
	balances, err := s.store.Balances(ctx, a.ID)
	if err != nil {
		return "", err
	}
	senders, err := s.store.SenderIDs(ctx, a.ID)
	if err != nil {
		return "", err
	}
	sentence := "Connected."
	if b := page.BalanceView(balances, a); b.Text != "" {
		sentence += " Balance " + b.Text + "."
	}
	return fmt.Sprintf("%s %s. %s ms.", sentence, views.Plural(len(senders), "sender ID", "sender IDs"), views.Number(ms)),
		nil
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
	form, bad := readAccount(r.PostForm), sms.Invalid{}
	form.AccountForm = fixed(form.AccountForm, a)
	changed := a
	form.apply(&changed, bad)
	page.Merge(bad, changed.Check())
	senders, err := s.UsableSenders(v, a)
	if err != nil {
		return err
	}
	if d := changed.DefaultSender; d != "" && d != a.DefaultSender && !page.Contains(senders, d) {
		bad["default_sender"] = "Choose a sender ID"
	}
	if len(bad) > 0 {
		return s.showAccount(w, r, v, form.AccountForm, bad)
	}
	_, err = s.desk.SaveAccount(r.Context(), v.User, a.ID, func(x *sms.Account, c *sms.Credentials) {
		form.apply(x, sms.Invalid{})
		if !a.Test {
			*c = form.credentials()
		}
	})
	if errors.As(err, &bad) {
		return s.showAccount(w, r, v, form.AccountForm, bad)
	}
	if err != nil {
		return err
	}
	return s.testAccount(w, r, v, a.ID)
}

// fixed puts back what a form may not change about this account: the
// connection of a test account belongs to the sandbox.
func fixed(form views.AccountForm, a sms.Account) views.AccountForm {
	form.ID, form.Test, form.KeyHint = a.ID, a.Test, a.KeyHint
	if a.Test {
		form.Name, form.BaseURL = a.Name, a.BaseURL
		form.Plan, form.PerMinute = planOf(a.PerMinute)
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
	return page.Redirect(w, r, views.With(views.AccountPath(id), "tested", tested))
}

func (s *accounts) accountResume(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	if err := s.desk.ResumeAccount(r.Context(), v.User, id); err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.AccountPath(id), "resumed"))
}

func (s *accounts) showAccount(w http.ResponseWriter, r *http.Request, v *page.Visit, form views.AccountForm,
	bad sms.Invalid) error {
	form.Bad, form.Action, form.SandboxURL = bad, views.AccountsPath, s.sandboxURL
	title := "Connect a real account"
	if form.ID != 0 {
		a, err := s.store.Account(r.Context(), form.ID)
		if err != nil {
			return err
		}
		form.Action, form.Pause, title = views.AccountPath(form.ID), a.Pause, a.Name
		if form.Sending.Action == "" {
			form.Sending = s.sendingFields(a)
		}
		if form.Senders, err = s.UsableSenders(v, a); err != nil {
			return err
		}
		if form.Records, err = s.records(v, a); err != nil {
			return err
		}
	}
	f := v.Frame(title, "settings")
	f.Crumbs = []views.Link{{Text: "Connection", Href: views.AccountsPath}, {Text: title}}
	f.Error = len(bad) > 0
	return s.Render(w, r, page.Status(r, bad), views.AccountPage(f, form))
}

// accountInput is the form as it was sent, with the secrets, which never go
// back into a page.
type accountInput struct {
	views.AccountForm
	clientID, apiKey string
}

func readAccount(form url.Values) accountInput {
	field := func(name string) string { return strings.TrimSpace(form.Get(name)) }
	return accountInput{
		AccountForm: views.AccountForm{
			Name: field("name"), BaseURL: field("base_url"), Plan: field("plan"), PerMinute: field("per_minute"),
			Country:  field("country"),
			Timezone: field("timezone"), Currency: field("currency"), Price: field("price_per_part"),
			DefaultSender: field("default_sender"),
			SecretsLost:   field("client_id") != "" || field("api_key") != "",
		},
		clientID: field("client_id"), apiKey: field("api_key"),
	}
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

const refreshTimeout = 30 * time.Second

func (s *accounts) accountRefresh(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	ctx, cancel := context.WithTimeout(r.Context(), refreshTimeout)
	defer cancel()
	switch err := s.desk.RefreshAccount(ctx, v.User, id); {
	case err == nil:
		page.Redirect(w, r, page.WithDone(views.AccountPath(id), "refreshed"))
	case errors.Is(err, sms.ErrNotFound) || errors.Is(err, sms.ErrForbidden):
		return err
	default:
		s.Log.Warn("records not read", "id", page.RequestID(r.Context()), "account", id, "error", err)
		page.Redirect(w, r, views.AccountPath(id))
	}
	return nil
}
