package campaign

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/picture"
	"smsdesk/internal/rehearsal"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// campaigns are the pages of campaigns that were made.
type campaigns struct {
	*base
	store  campaignQuestions
	beside besideQuestions
	desk   campaignOrders
}

// campaignQuestions are what campaigns ask of the storage.
type campaignQuestions interface {
	Resends(ctx context.Context, id int64) ([]sms.Campaign, error)
	Campaign(ctx context.Context, id int64) (sms.Campaign, error)
	CampaignFlow(ctx context.Context, id int64) ([]picture.Moment, error)
	CampaignWaits(ctx context.Context, id int64) ([]picture.Wait, error)
	Costs(ctx context.Context, account, since int64) ([]sms.Cost, error)
	CampaignCuts(ctx context.Context, id int64, kind sms.CutKind) ([]sms.Breakdown, error)
	CampaignRehearsals(ctx context.Context, campaign int64, limit int) ([]rehearsal.Rehearsal, error)
	CampaignTemplate(ctx context.Context, campaign int64) (sms.CampaignTemplate, error)
	Campaigns(ctx context.Context, f sms.CampaignFilter) (list []sms.CampaignRow, more bool, err error)
	Cost(ctx context.Context, id int64) (sms.Cost, error)
	FindMessages(ctx context.Context, f sms.MessageFilter) (list []sms.Message, next int64, err error)
	Groups(ctx context.Context, account int64) ([]sms.Group, error)
	Messages(ctx context.Context, f sms.MessageFilter) (list []sms.Message, more bool, err error)
	Pace(ctx context.Context, account, campaign, since int64) (calls int64, tooFast int64, err error)
	SenderIDs(ctx context.Context, account int64) ([]sms.SenderID, error)
	SentSince(ctx context.Context, account, since int64) (int64, error)
	Tally(ctx context.Context, id int64) (sms.Tally, error)
	Templates(ctx context.Context, account int64) ([]sms.Template, error)
	Users(ctx context.Context) ([]sms.User, error)
}

// campaignOrders are what people do on these pages.
type campaignOrders interface {
	CancelCampaign(ctx context.Context, by sms.User, id int64) (sms.Campaign, error)
	ContinueCampaign(ctx context.Context, by sms.User, id int64, o desk.ContinueOrder) (sms.Campaign, error)
	RepeatWarning(ctx context.Context, c sms.Campaign) (string, error)
	ResumeAccount(ctx context.Context, by sms.User, id int64) error
	Resend(ctx context.Context, by sms.User, o desk.ResendOrder) (sms.Campaign, error)
	StopCampaign(ctx context.Context, by sms.User, id int64) (sms.Campaign, error)
}

const (
	campaignsPage = 25
)

func (s *campaigns) Show(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	if r.URL.Query().Get("view") == wallView {
		return s.showWall(w, r, v)
	}
	p, err := s.campaignPage(r, v)
	if err != nil {
		return err
	}
	p.Tile, p.State = messageFilter(r.URL.Query())
	s.readSearch(v, r.URL.Query(), &p.Search)
	if page.IsFragment(r) {
		return s.campaignLive(w, r, p)
	}
	return s.showCampaign(w, r, v, p)
}

// campaignPage reads what every side of a campaign's page shows.
func (s *campaigns) campaignPage(r *http.Request, v *page.Visit) (p views.CampaignPage, err error) {
	c, a, err := s.campaignOf(r)
	if err != nil {
		return p, err
	}
	tally, err := s.store.Tally(r.Context(), c.ID)
	if err != nil {
		return p, err
	}
	p = views.CampaignPage{Formatter: s.Formatter(v, a), Campaign: c, Tally: tally, Account: a,
		CanSend: v.User.Role.AtLeast(sms.Sender), CanFix: v.User.Role.AtLeast(sms.Manager)}
	if p.Pattern = c.Text; c.Text == "" && c.RemovedAt == 0 {
		if l, err := s.listBehind(r.Context(), c); err != nil {
			return p, err
		} else if l != nil {
			p.Pattern = l.Order.Text
		}
	}
	if p.Records, err = s.recordNotes(r.Context(), c); err != nil {
		return p, err
	}
	if a.Limits.MaxPerDay > 0 {
		sent, err := s.store.SentSince(r.Context(), a.ID, sms.DayBegins(p.Now).UnixMilli())
		if err != nil {
			return p, err
		}
		p.DayFull = sent >= a.Limits.MaxPerDay
	}
	if c.MayContinue() && p.CanSend {
		if p.Repeat, err = s.desk.RepeatWarning(r.Context(), c); err != nil {
			return p, err
		}
	}
	if err := s.addPicture(r.Context(), &p); err != nil {
		return p, err
	}
	p.Retention, err = s.Retention(r.Context())
	return p, errors.Join(err, s.addPace(r.Context(), &p), s.addAgain(r.Context(), &p))
}

func (s *campaigns) showCampaign(w http.ResponseWriter, r *http.Request, v *page.Visit, p views.CampaignPage) error {
	if err := errors.Join(s.addNetworks(r.Context(), &p), s.addMessages(r, &p), s.addRehearsed(r.Context(), &p)); err != nil {
		return err
	}
	f := s.campaignFrame(v, p)
	p.Paused, p.Seen = f.Paused, p.Shown()
	p.Live = campaignRefresh(p, p.Rows)
	f.Error = len(p.Search.Bad) > 0
	return s.Render(w, r, page.Status(r, p.Search.Bad), views.CampaignShow(f, p))
}

func (s *campaigns) campaignFrame(v *page.Visit, p views.CampaignPage) views.PageFrame {
	c, a := p.Campaign, p.Account
	f := page.About(v.LiveFrame(c.Name, "campaigns", feed.Campaign(c.ID), feed.Account(a.ID)), v, a)
	// The page says the same about its own account, and keeps it true.
	f.Bands = slices.DeleteFunc(f.Bands, func(b views.Banner) bool {
		return b.ID == "account-paused" && a.ID == v.Account.ID
	})
	return f
}

// addRehearsed holds the campaign against its last rehearsal.
func (s *campaigns) addRehearsed(ctx context.Context, p *views.CampaignPage) error {
	c := p.Campaign
	if !c.Started() {
		return nil
	}
	last, err := foretold(ctx, s.store, c)
	if err != nil || last.ID == 0 {
		return err
	}
	p.Rehearsed = views.Rehearsed{Formatter: p.Formatter, Rehearsal: last, Account: p.Account, Campaign: c, Tally: p.Tally}
	if p.Rehearsed.Requests, _, err = s.store.Pace(ctx, c.AccountID, c.ID, 0); err != nil {
		return err
	}
	cost, err := s.store.Cost(ctx, c.ID)
	p.Rehearsed.Parts = cost.Parts()
	if fell, known := cost.Fell(); known && c.FinishedAt > 0 {
		p.Rehearsed.Spent = fell
	}
	return err
}

// addPicture reads the counts that the pictures are drawn from.
func (s *campaigns) addPicture(ctx context.Context, p *views.CampaignPage) (err error) {
	if p.Campaign.StartedAt == 0 {
		return nil
	}
	if p.Picture.Flow, err = s.store.CampaignFlow(ctx, p.Campaign.ID); err != nil {
		return err
	}
	if p.Picture.Waits, err = s.store.CampaignWaits(ctx, p.Campaign.ID); err != nil {
		return err
	}
	// What campaigns tell of the price is not read anew for every report.
	if p.Picture.Price = views.PriceOf(p.Account, sms.LearntPrice{}); !p.Picture.Price.Known() &&
		p.Campaign.State != sms.CampaignRunning {
		p.Picture.Price, err = page.PriceOf(ctx, s.store, p.Account, s.Now())
	}
	return err
}

const (
	paceWindow = time.Minute
	// tooFastShown is how long an answer about the rate is worth a band.
	tooFastShown = 2 * time.Minute
)

// addPace says how fast a campaign that is being sent leaves.
func (s *campaigns) addPace(ctx context.Context, p *views.CampaignPage) error {
	if p.Campaign.State != sms.CampaignRunning {
		return nil
	}
	calls, _, err := s.store.Pace(ctx, p.Account.ID, p.Campaign.ID, s.Now().Add(-paceWindow).UnixMilli())
	if err != nil {
		return err
	}
	_, tooFast, err := s.store.Pace(ctx, p.Account.ID, p.Campaign.ID, s.Now().Add(-tooFastShown).UnixMilli())
	if err != nil {
		return err
	}
	p.Pace = views.Pace{LastMinute: calls, TooFast: tooFast}
	p.Pace.Others, err = s.sending(ctx, p.Account, p.Campaign.ID)
	return err
}

// messageFilter reads the chosen tile and standing; what is not known filters
// nothing.
func messageFilter(q url.Values) (tile sms.Tile, state string) {
	if s, ok := sms.StandingByKey(q.Get("state")); ok {
		return s.Tile, s.Key
	}
	if t := sms.Tile(q.Get("tile")); slices.Contains(sms.Tiles(), t) {
		return t, ""
	}
	return "", ""
}

// addMessages reads the page of messages that the address asks for.
func (s *campaigns) addMessages(r *http.Request, p *views.CampaignPage) error {
	q := r.URL.Query()
	f, err := wantedMessages(*p)
	if err != nil {
		errors.As(err, &p.Search.Bad)
	}
	f.After, f.Before, f.Limit = page.Number(q.Get("after")), page.Number(q.Get("before")), views.PageLength
	if p.Search.Narrows() {
		f.Before = 0
		if !p.Search.Ended && len(p.Search.Bad) == 0 {
			p.Rows, p.Search.Next, err = s.store.FindMessages(r.Context(), f)
			return err
		}
		return nil
	}
	if f.Before > 0 {
		f.After = 0
	}
	rows, more, err := s.store.Messages(r.Context(), f)
	if err != nil {
		return err
	}
	p.Rows, p.Next, p.First = rows, more, 1
	if f.After > 0 || f.Before > 0 {
		p.First = int(max(min(page.Number(q.Get("first")), 1_000_000_000), 1))
	}
	if f.Before > 0 {
		p.Next = true
	}
	return nil
}

// campaignRefresh is the address at which the page asks for its figures and
// for those of its rows that are not as it shows them any more.
func campaignRefresh(p views.CampaignPage, rows []sms.Message) views.Refresh {
	marks := make([]string, len(rows))
	for i, m := range rows {
		marks[i] = strconv.FormatInt(m.ID, 10) + "-" + mark(m)
	}
	q := url.Values{"rows": {strings.Join(marks, ".")}, "seen": {strconv.FormatInt(p.Seen, 10)},
		"offered": {strings.Join(p.StateKeys(), ".")}, "networks": {strconv.Itoa(len(p.Search.Networks))}}
	if p.Tile != "" {
		q.Set("tile", string(p.Tile))
	}
	if p.State != "" {
		q.Set("state", p.State)
	}
	p.Search.Values(q)
	live := views.Refresh{ID: "campaign-live", URL: views.CampaignPath(p.Campaign.ID) + "?" + q.Encode()}
	if !p.Paused {
		live.On = []string{feed.Campaign(p.Campaign.ID), feed.Account(p.Account.ID)}
	}
	return live
}

// mark tells two looks of one row apart. The time alone would not do: two
// changes can fall into one millisecond.
func mark(m sms.Message) string {
	h := fnv.New32a()
	at := m.ChangedAt
	if m.State == sms.Queued {
		at = 0 // a start moves its messages a few at a time, which is no news to anybody
	}
	fmt.Fprintf(h, "%d %s %s %v", at, m.State, m.Reason, m.Delivery)
	return strconv.FormatUint(uint64(h.Sum32()), 36)
}

// shown reads which rows a page has, and how it shows them.
func shown(text string) (ids []int64, marks map[int64]string) {
	marks = map[int64]string{}
	for _, part := range strings.SplitN(text, ".", views.PageLength+1) {
		first, second, _ := strings.Cut(part, "-")
		if id := page.Number(first); id > 0 && len(ids) < views.PageLength {
			ids, marks[id] = append(ids, id), second
		}
	}
	return ids, marks
}

func (s *campaigns) campaignLive(w http.ResponseWriter, r *http.Request, p views.CampaignPage) error {
	q := r.URL.Query()
	ids, marks := shown(q.Get("rows"))
	p.Seen = page.Number(q.Get("seen"))
	var rows []sms.Message
	if len(ids) > 0 {
		var err error
		if rows, _, err = s.store.Messages(r.Context(),
			sms.MessageFilter{CampaignID: p.Campaign.ID, IDs: ids, Limit: len(ids)}); err != nil {
			return err
		}
	}
	// The row that stood for a group is gone once the answer names its people.
	if p.Campaign.GroupID != "" && len(rows) < len(ids) {
		return page.Redirect(w, r, views.CampaignPath(p.Campaign.ID))
	}
	for _, m := range rows {
		if marks[m.ID] != mark(m) {
			p.Changed = append(p.Changed, m)
		}
	}
	if err := s.addChoices(r.Context(), q, &p); err != nil {
		return err
	}
	p.Live = campaignRefresh(p, rows)
	return s.Render(w, r, http.StatusOK, views.CampaignLive(p))
}

func (s *campaigns) StopForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	c, a, err := s.campaignOf(r)
	if err != nil {
		return err
	}
	if !c.MayStop() {
		return page.Redirect(w, r, views.CampaignPath(c.ID))
	}
	tally, err := s.store.Tally(r.Context(), c.ID)
	if err != nil {
		return err
	}
	f := page.About(v.Frame("Stop sending?", "campaigns"), v, a)
	f.Crumbs = campaignCrumbs(c)
	return s.Render(w, r, http.StatusOK, views.StopCampaign(f, views.StopPage{Campaign: c, Tally: tally}))
}

func (s *campaigns) Stop(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.campaignOrder(w, r, v, s.desk.StopCampaign)
}

func (s *campaigns) GiveUpForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	c, a, err := s.campaignOf(r)
	if err != nil {
		return err
	}
	if !c.MayContinue() && !c.Waits() {
		return page.Redirect(w, r, views.CampaignPath(c.ID))
	}
	tally, err := s.store.Tally(r.Context(), c.ID)
	if err != nil {
		return err
	}
	f := page.About(v.Frame("Cancel unsent messages?", "campaigns"), v, a)
	f.Crumbs = campaignCrumbs(c)
	return s.Render(w, r, http.StatusOK, views.GiveUpCampaign(f, views.StopPage{Campaign: c, Tally: tally}))
}

func (s *campaigns) GiveUp(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.campaignOrder(w, r, v, s.desk.CancelCampaign)
}

// ContinueForm asks before a campaign is continued that may have gone on
// in a state that was lost; any other needs no question.
func (s *campaigns) ContinueForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.showContinue(w, r, v, nil)
}

func (s *campaigns) showContinue(w http.ResponseWriter, r *http.Request, v *page.Visit, bad sms.Invalid) error {
	c, a, err := s.campaignOf(r)
	if err != nil {
		return err
	}
	warning, err := s.desk.RepeatWarning(r.Context(), c)
	if err != nil {
		return err
	}
	if !c.MayContinue() || warning == "" {
		return page.Redirect(w, r, views.CampaignPath(c.ID))
	}
	f := page.About(v.Frame("Continue sending?", "campaigns"), v, a)
	f.Crumbs = campaignCrumbs(c)
	return s.Render(w, r, page.Status(r, bad), views.ContinueCampaign(f,
		views.ContinuePage{Campaign: c, Warning: warning}))
}

// Continue continues a campaign. Where something has to be said first
// and the form does not hold the answer, it is said instead.
func (s *campaigns) Continue(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	_, err := s.desk.ContinueCampaign(r.Context(), v.User, id,
		desk.ContinueOrder{MayRepeat: r.PostForm.Get("may_repeat") != ""})
	var bad sms.Invalid
	switch {
	case errors.As(err, &bad):
		return s.showContinue(w, r, v, bad)
	case err != nil && !errors.Is(err, sms.ErrConflict):
		return err
	}
	return page.Redirect(w, r, views.CampaignPath(id))
}

// Resume lets the campaign's account go on.
func (s *campaigns) Resume(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	c, a, err := s.campaignOf(r)
	if err != nil {
		return err
	}
	if err := s.desk.ResumeAccount(r.Context(), v.User, a.ID); err != nil {
		return err
	}
	return page.Redirect(w, r, views.CampaignPath(c.ID))
}
