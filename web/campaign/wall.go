package campaign

import (
	"context"
	"net/http"
	"strconv"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
	"smsdesk/internal/wall"
	"smsdesk/views"
	"smsdesk/web/page"
)

// walls are wall screens: a campaign's counts, large, for who is signed in and for
// whoever holds a link.
type walls struct {
	*campaigns
	store wallQuestions
	desk  wallOrders
}

// wallQuestions are what walls ask of the storage.
type wallQuestions interface {
	WallLinks(ctx context.Context, campaign int64) ([]wall.Link, error)
}

// wallOrders are what people do about links to wall screens.
type wallOrders interface {
	MakeWallLink(ctx context.Context, by sms.User, campaign int64) (secret string, err error)
	RevokeWallLink(ctx context.Context, by sms.User, campaign, id int64) error
	OpenWall(ctx context.Context, secret string) (wall.Link, sms.Campaign, error)
}

// wallView is the value of "view" that makes a campaign's page its wall screen.
const wallView = "wall"

// wallPage reads what a wall screen shows: counts, never messages.
func (s *campaigns) wallPage(ctx context.Context, v *page.Visit, c sms.Campaign, a sms.Account) (views.WallPage, error) {
	p := views.CampaignPage{Formatter: s.Formatter(v, a), Campaign: c, Account: a}
	var err error
	if p.Tally, err = s.store.Tally(ctx, c.ID); err != nil {
		return views.WallPage{}, err
	}
	if err = s.addPicture(ctx, &p); err == nil {
		err = s.addPace(ctx, &p)
	}
	return views.WallPage{CampaignPage: p, Title: c.Name}, err
}

// showWall answers a person who is signed in.
func (s *campaigns) showWall(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	c, a, err := s.campaignOf(r)
	if err != nil {
		return err
	}
	p, err := s.wallPage(r.Context(), v, c, a)
	if err != nil {
		return err
	}
	topics := []string{feed.Campaign(c.ID), feed.Account(a.ID)}
	p.Leave = views.CampaignPath(c.ID)
	p.Live = views.Refresh{ID: "wall", URL: views.With(p.Leave, "view", wallView), On: topics}
	if page.IsFragment(r) {
		return s.Render(w, r, http.StatusOK, views.WallLive(p))
	}
	f := v.BareFrame(c.Name + ", wall screen")
	f.Live = topics
	return s.Render(w, r, http.StatusOK, views.WallScreen(f, p))
}

// Open answers whoever holds a link. Of the name they read the first words.
func (s *walls) Open(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	_, c, err := s.desk.OpenWall(r.Context(), r.PathValue("token"))
	if err != nil {
		return err
	}
	a, err := s.base.store.Account(r.Context(), c.AccountID)
	if err != nil {
		return err
	}
	p, err := s.wallPage(r.Context(), v, c, a)
	if err != nil {
		return err
	}
	p.Title = wall.Title(c.Name)
	p.Live = views.Refresh{ID: "wall", URL: r.URL.Path, On: []string{feed.Campaign(c.ID), feed.Account(a.ID)}}
	p.Stream = r.URL.Path + "/live"
	if page.IsFragment(r) {
		return s.Render(w, r, http.StatusOK, views.WallLive(p))
	}
	return s.Render(w, r, http.StatusOK, views.WallScreen(v.BareFrame(p.Title), p))
}

// Live streams to a wall screen that was opened by a link, for as long as it works.
func (s *walls) Live(w http.ResponseWriter, r *http.Request, _ *page.Visit) error {
	secret := r.PathValue("token")
	l, c, err := s.desk.OpenWall(r.Context(), secret)
	if err != nil {
		return err
	}
	return s.StreamTo(w, r, page.Listening{Holder: "wall " + strconv.FormatInt(l.ID, 10),
		Topics: []string{feed.Campaign(c.ID), feed.Account(c.AccountID)}, Still: func(ctx context.Context) error {
			_, _, err := s.desk.OpenWall(ctx, secret)
			return err
		}})
}

// wallSlip tells a new link from whatever else this browser is shown once.
func wallSlip(v *page.Visit, campaign int64) string {
	return "wall " + strconv.FormatInt(campaign, 10) + " " + v.Token()
}

// Links lists a campaign's links, and shows a new one once.
func (s *walls) Links(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	c, a, err := s.campaignOf(r)
	if err != nil {
		return err
	}
	p := views.WallLinksPage{Formatter: s.Formatter(v, a), Campaign: c}
	if p.Links, err = s.store.WallLinks(r.Context(), c.ID); err != nil {
		return err
	}
	if secret := s.Slips.Take(wallSlip(v, c.ID), s.Now()); secret != "" {
		p.Made = s.PublicURL + "/wall/" + secret
	}
	f := page.About(v.Frame("Wall screen", "campaigns"), v, a)
	f.Crumbs = campaignCrumbs(c)
	return s.Render(w, r, http.StatusOK, views.WallLinks(f, p))
}

// Make makes a link.
func (s *walls) Make(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	secret, err := s.desk.MakeWallLink(r.Context(), v.User, id)
	if err != nil {
		return err
	}
	s.Slips.Put(wallSlip(v, id), secret, s.Now())
	return page.Redirect(w, r, views.CampaignPath(id)+views.WallSuffix)
}

// Revoke ends a link at once.
func (s *walls) Revoke(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	if err := s.desk.RevokeWallLink(r.Context(), v.User, id, page.Number(r.PostForm.Get("link"))); err != nil {
		return err
	}
	return page.Redirect(w, r, views.CampaignPath(id)+views.WallSuffix)
}
