package campaign

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/picture"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// addNetworks offers the networks of messages that have left.
func (s *campaigns) addNetworks(ctx context.Context, p *views.CampaignPage) error {
	cuts, err := s.store.CampaignCuts(ctx, p.Campaign.ID, sms.CutNetwork)
	if err != nil {
		return err
	}
	for _, c := range cuts {
		name := c.Name
		if name == "" {
			name = sms.NoNetwork
		}
		if !slices.Contains(p.Search.Networks, name) {
			p.Search.Networks = append(p.Search.Networks, name)
		}
	}
	return nil
}

// addChoices says whether the filter has more to choose from than the open page
// offers, which its live address tells. Networks only ever come.
func (s *campaigns) addChoices(ctx context.Context, q url.Values, p *views.CampaignPage) error {
	for _, key := range strings.SplitN(q.Get("offered"), ".", len(sms.DisplayStatuses())+1) {
		if _, known := sms.StandingByKey(key); known {
			p.Offered = append(p.Offered, key)
		}
	}
	p.MoreStates = len(p.StateKeys()) > len(p.Offered)
	err := s.addNetworks(ctx, p)
	p.MoreNetworks = int64(len(p.Search.Networks)) > page.Number(q.Get("networks"))
	return err
}

// wantedMessages says which messages of a campaign a page and its downloads are
// about. The error is an Invalid about the number.
func wantedMessages(p views.CampaignPage) (f sms.MessageFilter, err error) {
	f = sms.MessageFilter{CampaignID: p.Campaign.ID, Keys: p.Tile.Keys(), Network: p.Search.Network, Text: p.Search.Text}
	if p.State != "" {
		f.Keys = []string{p.State}
	}
	f.Number, f.Ends, err = readSought(p.Search.Typed, p.Account.Country)
	return f, err
}

// Find takes the form and leads to a page whose address can be kept.
func (s *campaigns) Find(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p, err := s.campaignPage(r, v)
	if err != nil {
		return err
	}
	p.Tile, p.State = messageFilter(r.PostForm)
	s.readSearch(v, r.PostForm, &p.Search)
	p.Search.Typed, p.Search.Find, p.Search.Ended = page.TypedNumber(r, "number"), "", false
	if _, _, err := readSought(p.Search.Typed, p.Account.Country); err != nil {
		return s.showCampaign(w, r, v, p)
	}
	p.Search.Find = s.KeepSearch(v, p.Search.Typed)
	p.Paused = r.PostForm.Get("pause") != ""
	return page.Redirect(w, r, p.Path(p.Tile, p.State))
}

// Breakdown is the other side of a campaign's page.
func (s *campaigns) Breakdown(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	whole, err := s.campaignPage(r, v)
	if err != nil {
		return err
	}
	f := s.campaignFrame(v, whole)
	whole.Paused = f.Paused
	p := views.BreakdownPage{CampaignPage: whole}
	for kind, to := range map[sms.CutKind]*[]sms.Breakdown{sms.CutNetwork: &p.ByNetwork, sms.CutReason: &p.ByReason} {
		if *to, err = s.store.CampaignCuts(r.Context(), p.Campaign.ID, kind); err != nil {
			return err
		}
	}
	if err := s.addBeside(r.Context(), &p); err != nil {
		return err
	}
	p.Live = views.Refresh{ID: "breakdown-live", URL: r.URL.Path, On: f.Live[:2]}
	if f.Paused {
		p.Live.On = nil
	}
	if page.IsFragment(r) {
		return s.Render(w, r, http.StatusOK, views.BreakdownLive(p))
	}
	return s.Render(w, r, http.StatusOK, views.Breakdown(f, p))
}

const (
	// usualSince is how far back deliveries tell what is usual.
	usualSince = 14 * 24 * time.Hour
	// earlierAmong is among how many campaigns the one before is looked for.
	earlierAmong = 20
)

// besideQuestions are what a breakdown asks of the storage about what stands beside
// its campaign.
type besideQuestions interface {
	AccountWaits(ctx context.Context, account, not, since int64) ([]picture.Wait, error)
	AuditOf(ctx context.Context, object string) ([]sms.Audit, error)
}

// addBeside reads what the campaign is held against: what is usual, the campaign
// before it of the same name, and what was done to it.
func (s *campaigns) addBeside(ctx context.Context, p *views.BreakdownPage) (err error) {
	c := p.Campaign
	if c.StartedAt == 0 {
		return nil
	}
	since := s.Now().Add(-usualSince).UnixMilli()
	if p.Usual, err = s.beside.AccountWaits(ctx, c.AccountID, c.ID, since); err != nil {
		return err
	}
	if p.Audit, err = s.beside.AuditOf(ctx, feed.Campaign(c.ID)); err != nil {
		return err
	}
	if _, p.TooFast, err = s.store.Pace(ctx, c.AccountID, c.ID, c.StartedAt); err != nil {
		return err
	}
	rows, _, err := s.store.Campaigns(ctx, sms.CampaignFilter{AccountID: c.AccountID, Name: c.Name, Before: c.ID,
		Limit: earlierAmong})
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.Campaign.Name == c.Name && row.Campaign.StartedAt > 0 {
			p.Earlier = &views.Earlier{Campaign: row.Campaign, Tally: row.Tally}
			p.Earlier.Waits, err = s.store.CampaignWaits(ctx, row.Campaign.ID)
			return err
		}
	}
	return nil
}
