package campaign

import (
	"context"
	"errors"
	"math/big"
	"net/http"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/rehearsal"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// rehearsals are the pages of lists that are played before they are sent.
type rehearsals struct {
	*base
	store    rehearsalQuestions
	desk     rehearsalOrders
	confirms *confirms
}

// rehearsalQuestions are what rehearsals ask of the storage.
type rehearsalQuestions interface {
	Rehearsal(ctx context.Context, id int64) (rehearsal.Rehearsal, error)
}

// rehearsalOrders are what people do on these pages.
type rehearsalOrders interface {
	Rehearse(ctx context.Context, by sms.User, o desk.RehearseOrder) (rehearsal.Rehearsal, error)
	StopRehearsal(ctx context.Context, by sms.User, id int64) error
	WatchRehearsal(ctx context.Context, by sms.User, account int64) (rehearsal.Rehearsal, error)
}

// Show is one rehearsal, live while it is played.
func (s *rehearsals) Show(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	one, err := s.store.Rehearsal(r.Context(), page.PathID(r))
	if err != nil {
		return err
	}
	a, err := s.base.store.Account(r.Context(), one.AccountID)
	if err != nil {
		return err
	}
	p := views.RehearsalPage{Formatter: s.Formatter(v, a), Rehearsal: one, Account: a}
	if one.CampaignID > 0 {
		c, err := s.base.store.Campaign(r.Context(), one.CampaignID)
		if err != nil && !errors.Is(err, sms.ErrNotFound) {
			return err
		}
		p.Draft, p.Gone = err == nil && c.MayStart(), err != nil
	}
	p.Live = views.Refresh{ID: "rehearsal", URL: views.RehearsalPath(one.ID), On: []string{feed.Rehearsal(one.ID)}}
	if page.IsFragment(r) {
		return s.Render(w, r, http.StatusOK, views.RehearsalLive(p))
	}
	f := page.About(v.LiveFrame("Rehearsal", "new", p.Live.On...), v, a)
	if f.Paused {
		p.Live.On = nil
	}
	return s.Render(w, r, http.StatusOK, views.RehearsalShow(f, p))
}

// Order has a draft rehearsed. While another one of the same person is open, that
// one is shown.
func (s *rehearsals) Order(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	c, a, err := s.campaignOf(r)
	if err != nil {
		return err
	}
	o := desk.RehearseOrder{CampaignID: c.ID, Kind: rehearsal.Kind(r.PostForm.Get("day"))}
	price, err := page.PriceOf(r.Context(), s.confirms.store, a, s.Now())
	if err != nil {
		return err
	}
	if price.Known() {
		out, err := s.confirms.desk.Outgoing(r.Context(), c)
		if err != nil {
			return err
		}
		o.CostLow, o.CostMiddle, o.CostHigh = costs(price, out.Parts)
	}
	one, err := s.desk.Rehearse(r.Context(), v.User, o)
	if bad, is := errors.AsType[sms.Invalid](err); is {
		return s.confirms.showConfirm(w, r, v, c, a, bad)
	}
	if errors.Is(err, sms.ErrConflict) && one.ID == 0 {
		return page.Redirect(w, r, views.CampaignPath(c.ID))
	}
	return s.show(w, r, one, err)
}

// Watch has one with made-up recipients played.
func (s *rehearsals) Watch(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	one, err := s.desk.WatchRehearsal(r.Context(), v.User, v.Account.ID)
	return s.show(w, r, one, err)
}

func (s *rehearsals) show(w http.ResponseWriter, r *http.Request, one rehearsal.Rehearsal, err error) error {
	if err != nil && (!errors.Is(err, sms.ErrConflict) || one.ID == 0) {
		return err
	}
	return page.Redirect(w, r, views.RehearsalPath(one.ID))
}

// Stop ends one.
func (s *rehearsals) Stop(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	if err := s.desk.StopRehearsal(r.Context(), v.User, id); err != nil {
		return err
	}
	return page.Redirect(w, r, views.RehearsalPath(id))
}

// Back answers addresses that only take forms, when they are opened as a page.
func (s *rehearsals) Back(w http.ResponseWriter, r *http.Request, _ *page.Visit) error {
	return page.Redirect(w, r, views.RehearsalPath(page.PathID(r)))
}

// costs is what so many parts cost, in hundredths.
func costs(p views.Price, parts int64) (low, middle, high int64) {
	in := func(each *big.Rat) int64 {
		x := new(big.Rat).Mul(each, big.NewRat(parts*100, 1))
		return new(big.Int).Quo(x.Num(), x.Denom()).Int64()
	}
	return in(p.Low), in(p.Middle), in(p.High)
}

// rehearsed are the questions of pages that tell of a campaign's rehearsals.
type rehearsed interface {
	CampaignRehearsals(ctx context.Context, campaign int64, limit int) ([]rehearsal.Rehearsal, error)
}

// offer is what the page before a send says of rehearsals.
func offer(ctx context.Context, store rehearsed, p views.ConfirmPage) (views.RehearsalOffer, error) {
	o := views.RehearsalOffer{Formatter: p.Formatter, Campaign: p.Campaign, Messages: p.Out.Messages,
		Shown: desk.MayRehearse(p.Campaign, p.Out)}
	if !o.Shown {
		return o, nil
	}
	list, err := store.CampaignRehearsals(ctx, p.Campaign.ID, 1)
	if len(list) > 0 {
		o.Latest = &list[0]
	}
	return o, err
}

// rehearsalsLooked is how many rehearsals of a campaign are looked through for the
// last one that foretells something.
const rehearsalsLooked = 20

// foretold finds the last rehearsal of a usual day that was finished before the
// campaign started.
func foretold(ctx context.Context, store rehearsed, c sms.Campaign) (rehearsal.Rehearsal, error) {
	list, err := store.CampaignRehearsals(ctx, c.ID, rehearsalsLooked)
	for _, r := range list {
		if r.Kind == rehearsal.Usual && r.State == rehearsal.Done {
			return r, nil
		}
	}
	return rehearsal.Rehearsal{}, err
}
