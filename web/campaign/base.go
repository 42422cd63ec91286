package campaign

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// base is what every page about campaigns needs.
type base struct {
	*page.Site
	store baseQuestions
}

// baseQuestions are what base ask of the storage.
type baseQuestions interface {
	Account(ctx context.Context, id int64) (sms.Account, error)
	Campaign(ctx context.Context, id int64) (sms.Campaign, error)
	Campaigns(ctx context.Context, f sms.CampaignFilter) (list []sms.CampaignRow, more bool, err error)
	Groups(ctx context.Context, account int64) ([]sms.Group, error)
	ListByID(ctx context.Context, id int64) (sms.List, error)
	// Setting is "" for what was never set.
	ReadSetting(ctx context.Context, name string) (string, error)
}

func (s *base) campaignOf(r *http.Request) (sms.Campaign, sms.Account, error) {
	id := page.PathID(r)
	c, err := s.store.Campaign(r.Context(), id)
	if err != nil {
		return c, sms.Account{}, err
	}
	a, err := s.store.Account(r.Context(), c.AccountID)
	return c, a, err
}

// campaignCrumbs lead up from a page about a part of a campaign.
func campaignCrumbs(c sms.Campaign) []views.Link {
	return []views.Link{{Text: "Campaigns", Href: views.CampaignsPath},
		{Text: page.FirstLetters(c.Name, 36), Href: views.CampaignPath(c.ID)}}
}

// campaignOrder carries out an order. Where the campaign's state does not
// allow it any more, its page says why.
func (s *base) campaignOrder(w http.ResponseWriter, r *http.Request, v *page.Visit,
	order func(context.Context, sms.User, int64) (sms.Campaign, error)) error {
	id := page.PathID(r)
	if _, err := order(r.Context(), v.User, id); err != nil && !errors.Is(err, sms.ErrConflict) {
		return err
	}
	return page.Redirect(w, r, views.CampaignPath(id))
}

// ToCampaign answers an address that only takes forms, when it is opened as
// a page: after signing in again, say.
func (s *base) ToCampaign(w http.ResponseWriter, r *http.Request, _ *page.Visit) error {
	id := page.PathID(r)
	return page.Redirect(w, r, views.CampaignPath(id))
}

const (
	// countedMost bounds what is counted while a person types.
	countedMost = 64 << 10
)

// groupFor finds a group of the chosen account.
func (s *base) groupFor(r *http.Request, v *page.Visit, id string) (*sms.Group, error) {
	list, err := s.store.Groups(r.Context(), v.Account.ID)
	for _, g := range list {
		if strconv.FormatInt(g.ID, 10) == id {
			return &g, nil
		}
	}
	if err == nil {
		err = fmt.Errorf("group: %w", sms.ErrNotFound)
	}
	return nil, err
}

// counting lets a person's form be counted while they type. The session of
// somebody who thought for long may be over: leading them to sign in at once
// would take the form away from under their hands, so nothing is answered and
// the form's own button says so.
func counting(w http.ResponseWriter, v *page.Visit) bool {
	if v.User.Role.AtLeast(sms.Sender) {
		return true
	}
	w.WriteHeader(http.StatusNoContent)
	return false
}

// listBehind is the list that a campaign was made of, nil without one.
func (s *base) listBehind(ctx context.Context, c sms.Campaign) (*sms.List, error) {
	if c.ListID == 0 {
		return nil, nil
	}
	l, err := s.store.ListByID(ctx, c.ListID)
	if errors.Is(err, sms.ErrNotFound) {
		return nil, nil
	}
	return &l, err
}

// callsLeft estimates how many calls each of the account's other campaigns
// that are being sent has before it.
func (s *base) callsLeft(ctx context.Context, a sms.Account, not int64) (left []int64, err error) {
	others, err := s.sending(ctx, a, not)
	for _, o := range others {
		left = append(left, o.Calls)
	}
	return left, err
}

// sending are the account's other campaigns that are being sent.
func (s *base) sending(ctx context.Context, a sms.Account, not int64) (others []views.Ahead, err error) {
	rows, _, err := s.store.Campaigns(ctx, sms.CampaignFilter{AccountID: a.ID,
		States: []sms.CampaignState{sms.CampaignRunning}, Limit: 20})
	for _, row := range rows {
		if n := views.CallsLeft(row.Campaign, row.Tally, a); n > 0 && row.Campaign.ID != not {
			others = append(others, views.Ahead{Name: row.Campaign.Name, StartedAt: row.Campaign.StartedAt,
				Messages: row.Tally.Tile(sms.TileWaiting), Calls: n})
		}
	}
	return others, err
}

// foundTextMost is the most letters that are looked for in texts.
const foundTextMost = 100

// readSearch reads what is looked for among a campaign's messages. The number
// stands behind a word in the address, never in it.
func (s *base) readSearch(v *page.Visit, q url.Values, p *views.MessageSearch) {
	p.Network = page.FirstLetters(q.Get("network"), foundTextMost)
	p.Text = strings.TrimSpace(page.FirstLetters(q.Get("text"), foundTextMost))
	p.Find = q.Get("find")
	typed, known := s.Search(v, p.Find)
	p.Typed, p.Ended = typed, !known
	p.Started = page.Number(q.Get("after")) > 0
}

func (s *base) uploadMost(ctx context.Context) (int64, error) {
	set, err := s.store.ReadSetting(ctx, sms.SettingMaxList)
	if n, bad := strconv.ParseInt(set, 10, 64); err == nil && bad == nil && n > 0 {
		return n, nil
	}
	return sms.MaxListBytes, err
}

// uploadForm is the form for a file; replaces is the list whose order is kept.
func (s *base) uploadFile(ctx context.Context, account int64, replaces string) (views.UploadForm, error) {
	most, err := s.uploadMost(ctx)
	return views.UploadForm{Token: desk.NewToken(), Account: strconv.FormatInt(account, 10), Replaces: replaces,
		Most: most}, err
}

func readSought(typed, country string) (number, ends string, err error) {
	if typed == "" {
		return "", "", nil
	}
	return sms.ParseNumberQuery(typed, country)
}

// noAddress warns of an opt-out link that recipients could not open.
func (s *base) noAddress(v *page.Visit, a sms.Account, text string) views.OptOutNoAddressProps {
	return views.OptOutNoAddressProps{Shown: desk.OptOutNoAddress(text, s.PublicURL) && !a.Test,
		CanSet: v.User.Role.AtLeast(sms.Administrator)}
}
