package campaign

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// tabFilter says which campaigns a tab of the list shows.
func tabFilter(tab string) (sms.CampaignFilter, bool) {
	switch tab {
	case "":
		return sms.CampaignFilter{}, true
	case "running":
		return sms.CampaignFilter{States: []sms.CampaignState{sms.CampaignRunning, sms.CampaignPaused}}, true
	case "scheduled":
		return sms.CampaignFilter{States: []sms.CampaignState{sms.CampaignScheduled}}, true
	case "needs-decision":
		return sms.CampaignFilter{Decision: true}, true
	case "needs-approval":
		return sms.CampaignFilter{States: []sms.CampaignState{sms.CampaignAwaiting}}, true
	case "test":
		return sms.CampaignFilter{Trials: true}, true
	case "finished":
		return sms.CampaignFilter{States: []sms.CampaignState{sms.CampaignFinished, sms.CampaignStopped,
			sms.CampaignCancelled}}, true
	case "drafts":
		return sms.CampaignFilter{States: []sms.CampaignState{sms.CampaignDraft}}, true
	}
	return sms.CampaignFilter{}, false
}

func (s *campaigns) List(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	if page.IsFragment(r) {
		return s.campaignRows(w, r, v)
	}
	p, filter, err := s.listFilter(r, v)
	if err != nil {
		return err
	}
	if len(p.Errors) == 0 {
		rows, more, err := s.store.Campaigns(r.Context(), filter)
		if err != nil {
			return err
		}
		p.Rows = rows
		p.Prev, p.Next = listPages(p.Address(p.Tab), r.URL.Query().Get("trail"), filter.Before, rows, more)
	}
	f := v.LiveFrame("Campaigns", "campaigns", feed.Campaigns(v.Account.ID))
	f.Error = len(p.Errors) > 0
	p.Live = listLive(v.Account.ID, views.Moving(p.Rows), f.Paused)
	return s.Render(w, r, http.StatusOK, views.CampaignList(f, p))
}

// listFilter reads which campaigns the address asks for. Days are those of the
// account's zone, both of them included.
func (s *campaigns) listFilter(r *http.Request, v *page.Visit) (views.CampaignListPage, sms.CampaignFilter, error) {
	q := r.URL.Query()
	word := func(name string, most int) string { return page.FirstLetters(strings.TrimSpace(q.Get(name)), most) }
	p := views.CampaignListPage{Formatter: s.Formatter(v, v.Account), Account: v.Account, Tab: q.Get("state"),
		Name: word("name", page.NameMost), SenderID: word("sender", 40),
		Person: page.Number(q.Get("person")), From: word("from", 40), To: word("to", 40),
		CanSend: v.User.Role.AtLeast(sms.Sender)}
	filter, known := tabFilter(p.Tab)
	if !known {
		p.Tab = ""
	}
	filter.AccountID, filter.Name, filter.Limit = v.Account.ID, p.Name, campaignsPage
	filter.SenderID, filter.Person, filter.Before = p.SenderID, p.Person, page.Number(q.Get("before"))
	p.Errors = sms.Invalid{}
	for field, to := range map[string]*int64{"from": &filter.From, "to": &filter.To} {
		text := word(field, 40)
		if text == "" {
			continue
		}
		day, err := time.ParseInLocation("2006-01-02", text, v.Account.Location())
		if err != nil {
			p.Errors[field] = "Enter a date, for example " + v.Now().Format("2006-01-02")
			continue
		}
		if field == "to" {
			day = day.AddDate(0, 0, 1)
		}
		*to = day.UnixMilli()
	}
	return p, filter, s.listChoices(r.Context(), v, &p)
}

// listChoices are the sender IDs and the people to choose from.
func (s *campaigns) listChoices(ctx context.Context, v *page.Visit, p *views.CampaignListPage) error {
	senders, err := s.store.SenderIDs(ctx, v.Account.ID)
	if err != nil {
		return err
	}
	for _, id := range senders {
		p.Senders = append(p.Senders, id.Text)
	}
	p.People, err = s.store.Users(ctx)
	return err
}

// listPages are the addresses of the pages before and after. The list is read
// from the newest on, so the way back is kept in the address.
func listPages(here, trail string, before int64, rows []sms.CampaignRow, more bool) (prev, next string) {
	starts := page.Numbers(trail)
	if before > 0 {
		prev = here
		if len(starts) > 1 {
			prev = views.With(views.With(here, "before", strconv.FormatInt(starts[len(starts)-2], 10)), "trail",
				page.Joined(starts[:len(starts)-1]))
		}
	}
	if more && len(rows) > 0 {
		last := rows[len(rows)-1].Campaign.ID
		next = views.With(views.With(here, "before", strconv.FormatInt(last, 10)), "trail", page.Joined(append(starts, last)))
	}
	return prev, next
}

func listLive(account int64, ids []int64, paused bool) views.Refresh {
	live := views.Refresh{ID: "campaigns-live", URL: views.CampaignsPath + "?" +
		url.Values{"rows": {page.Joined(ids)}}.Encode()}
	if len(ids) > 0 && !paused {
		live.On = []string{feed.Campaigns(account)}
	}
	return live
}

// campaignRows renews rows of the list that are on screen.
func (s *campaigns) campaignRows(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p := views.CampaignListPage{Formatter: s.Formatter(v, v.Account), Account: v.Account}
	for _, id := range page.Numbers(r.URL.Query().Get("rows")) {
		c, err := s.store.Campaign(r.Context(), id)
		if errors.Is(err, sms.ErrNotFound) || err == nil && c.AccountID != v.Account.ID {
			continue
		}
		if err != nil {
			return err
		}
		tally, err := s.store.Tally(r.Context(), id)
		if err != nil {
			return err
		}
		p.Rows = append(p.Rows, sms.CampaignRow{Campaign: c, Tally: tally})
	}
	p.Live = listLive(v.Account.ID, views.Moving(p.Rows), false)
	return s.Render(w, r, http.StatusOK, views.CampaignRows(p))
}
