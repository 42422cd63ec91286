package campaign

import (
	"context"
	"errors"
	"net/http"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// addAgain finds the campaigns that belong to this one.
func (s *campaigns) addAgain(ctx context.Context, p *views.CampaignPage) (err error) {
	if p.Campaign.AgainOf > 0 {
		earlier, err := s.store.Campaign(ctx, p.Campaign.AgainOf)
		if err != nil && !errors.Is(err, sms.ErrNotFound) {
			return err
		}
		if err == nil {
			p.AgainOf = &earlier
		}
	}
	p.Again, err = s.store.Resends(ctx, p.Campaign.ID)
	return err
}

// AgainForm asks what of a campaign is to be sent again; ?of=unsent proposes
// what never left.
func (s *campaigns) AgainForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	unsent := r.URL.Query().Get("of") == "unsent"
	chosen := map[string]bool{}
	for _, c := range sms.ResendChoices() {
		chosen[c.Standing.Key] = c.May && c.NotSent == unsent && (c.Proposed || unsent)
	}
	return s.showAgain(w, r, v, views.AgainPage{Chosen: chosen, Token: desk.NewToken()})
}

func (s *campaigns) showAgain(w http.ResponseWriter, r *http.Request, v *page.Visit, p views.AgainPage) error {
	c, a, err := s.campaignOf(r)
	if err != nil {
		return err
	}
	if p.Tally, err = s.store.Tally(r.Context(), c.ID); err != nil {
		return err
	}
	shown := views.CampaignPage{Campaign: c, Tally: p.Tally, CanSend: true}
	if !shown.MaySendAgain() || views.FailedAgain(p.Tally)+views.UnsentAgain(p.Tally)+p.Tally["rejected"] == 0 {
		return page.Redirect(w, r, views.CampaignPath(c.ID))
	}
	if p.Earlier, err = s.store.Resends(r.Context(), c.ID); err != nil {
		return err
	}
	p.Formatter, p.Campaign = s.Formatter(v, a), c
	f := page.About(v.Frame("Send again", "campaigns"), v, a)
	f.Crumbs, f.Error = campaignCrumbs(c), len(p.Bad) > 0
	return s.Render(w, r, page.Status(r, p.Bad), views.AgainForm(f, p))
}

// Again makes the new draft and leads to its confirm page.
func (s *campaigns) Again(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	p := views.AgainPage{Chosen: map[string]bool{}, Token: r.PostForm.Get("token")}
	o := desk.ResendOrder{CampaignID: id, Token: p.Token}
	for _, c := range sms.ResendChoices() {
		if r.PostForm.Get("key:"+c.Standing.Key) != "" {
			o.Keys, p.Chosen[c.Standing.Key] = append(o.Keys, c.Standing.Key), true
		}
	}
	c, err := s.desk.Resend(r.Context(), v.User, o)
	if errors.As(err, &p.Bad) {
		p.Token = desk.NewToken()
		return s.showAgain(w, r, v, p)
	}
	if err != nil {
		return err
	}
	return page.Redirect(w, r, views.ConfirmPath(c.ID))
}
