package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// endpoints are the pages about where the provider sends reports and USSD sessions.
type endpoints struct {
	*page.Site
	store endpointQuestions
	desk  endpointOrders
}

// endpointQuestions are what endpoints ask of the storage.
type endpointQuestions interface {
	Account(ctx context.Context, id int64) (sms.Account, error)
	CallbackAddresses(ctx context.Context, account int64, kind string, now int64) ([]sms.CallbackToken, error)
	LastReportAt(ctx context.Context, account int64) (int64, error)
	PostedSince(ctx context.Context, account, since int64) (int64, error)
}

// endpointOrders are what people do on these pages.
type endpointOrders interface {
	RotateCallback(ctx context.Context, by sms.User, account int64, kind string) error
	TakePosts(ctx context.Context, by sms.User, account int64, take bool) error
}

// postedLately counts the reports of the last 7 days that came by POST and were
// turned away; none for an account that takes them by now.
func postedLately(ctx context.Context, store interface {
	PostedSince(ctx context.Context, account, since int64) (int64, error)
}, a sms.Account, now time.Time) (int64, error) {
	if a.TakePosts {
		return 0, nil
	}
	return store.PostedSince(ctx, a.ID, now.Add(-7*24*time.Hour).UnixMilli())
}

// callbackAccount is the account that the address names, else the chosen one.
func (s *endpoints) callbackAccount(r *http.Request, v *page.Visit) (sms.Account, error) {
	named := r.FormValue("account")
	if named == "" {
		if v.Account.ID == 0 {
			return sms.Account{}, sms.ErrNotFound
		}
		return v.Account, nil
	}
	id, err := strconv.ParseInt(named, 10, 64)
	if err != nil {
		return sms.Account{}, sms.ErrNotFound
	}
	return s.store.Account(r.Context(), id)
}

// callbackList shows the addresses to give to the provider.
func (s *endpoints) callbackList(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	a, err := s.callbackAccount(r, v)
	if errors.Is(err, sms.ErrNotFound) && len(v.Accounts) == 0 {
		return page.Redirect(w, r, views.NewAccountPath)
	}
	if err != nil {
		return err
	}
	page := views.CallbackPage{Account: a.Name, Test: a.Test, AccountID: a.ID, TakesPosts: a.TakePosts}
	for _, c := range []struct {
		kind string
		to   *views.CallbackAddress
	}{{sms.CallbackDLR, &page.Reports}, {sms.CallbackUSSD, &page.USSD}} {
		if *c.to, err = s.callbackAddress(r, v, a, c.kind); err != nil {
			return err
		}
	}
	if page.Last, err = s.lastReport(r, v, a); err != nil {
		return err
	}
	if u, err := url.Parse(s.PublicURL); err != nil || sms.Loopback(u.Hostname()) {
		page.OnlyHere = !a.Test
	}
	f := v.LiveFrame("Delivery reports", "settings", feed.Reports(a.ID))
	return s.Render(w, r, http.StatusOK, views.Callbacks(f, page))
}

func (s *endpoints) callbackAddress(r *http.Request, v *page.Visit, a sms.Account,
	kind string) (views.CallbackAddress, error) {
	out := views.CallbackAddress{Kind: kind, Rotate: views.RotatePath(a.ID, kind)}
	tokens, err := s.store.CallbackAddresses(r.Context(), a.ID, kind, s.Now().UnixMilli())
	if err != nil {
		return out, err
	}
	for _, t := range tokens {
		address := s.PublicURL + "/" + kind + "/" + t.Token
		if t.ValidUntil == 0 {
			out.URL = address
			continue
		}
		out.Old = append(out.Old, views.OldAddress{URL: address, Until: v.When(t.ValidUntil)})
	}
	return out, nil
}

// callbackLast is the one part of the page that moves.
func (s *endpoints) callbackLast(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	a, err := s.callbackAccount(r, v)
	if err != nil {
		return err
	}
	last, err := s.lastReport(r, v, a)
	if err != nil {
		return err
	}
	return s.Render(w, r, http.StatusOK, views.LastReport(last))
}

func (s *endpoints) lastReport(r *http.Request, v *page.Visit, a sms.Account) (views.LastReportNote, error) {
	at, err := s.store.LastReportAt(r.Context(), a.ID)
	note := views.LastReportNote{Again: views.CallbackPath(a.ID), Renew: views.Refresh{
		ID: "last-report", URL: views.CallbacksPath + "/last?account=" + strconv.FormatInt(a.ID, 10),
		On: []string{feed.Reports(a.ID)},
	}}
	if at > 0 {
		note.When = views.When(time.UnixMilli(at).In(a.Location()), s.Now())
	}
	if err == nil {
		note.Posted, err = postedLately(r.Context(), s.store, a, s.Now())
	}
	return note, err
}

// callbackPosts saves whether reports that come by POST are stored.
func (s *endpoints) callbackPosts(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	a, err := s.callbackAccount(r, v)
	if err != nil {
		return err
	}
	if err := s.desk.TakePosts(r.Context(), v.User, a.ID, r.PostForm.Get("take") != ""); err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.CallbackPath(a.ID), "saved"))
}

func (s *endpoints) callbackRotateForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	a, kind, err := s.rotated(r, v)
	if err != nil {
		return err
	}
	f := v.Frame("Create a new URL", "settings")
	f.Crumbs = []views.Link{{Text: "Delivery reports", Href: views.CallbackPath(a.ID)}, {Text: "Create a new URL"}}
	return s.Render(w, r, http.StatusOK, views.CallbackRotate(f,
		views.RotateForm{Action: views.CallbacksPath + "/rotate", Back: views.CallbackPath(a.ID), AccountID: a.ID,
			Account: a.Name, Kind: kind}))
}

func (s *endpoints) callbackRotate(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	a, kind, err := s.rotated(r, v)
	if err != nil {
		return err
	}
	if err := s.desk.RotateCallback(r.Context(), v.User, a.ID, kind); err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.CallbackPath(a.ID), "rotated"))
}

func (s *endpoints) rotated(r *http.Request, v *page.Visit) (sms.Account, string, error) {
	a, err := s.callbackAccount(r, v)
	if err != nil {
		return a, "", err
	}
	kind := r.FormValue("kind")
	if kind != sms.CallbackDLR && kind != sms.CallbackUSSD {
		return a, "", sms.ErrNotFound
	}
	return a, kind, nil
}
