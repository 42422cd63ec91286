package campaign

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// doubts is the page on which messages in doubt are decided.
type doubts struct {
	*base
	store doubtQuestions
	desk  doubtOrders
}

// doubtQuestions are what doubts ask of the storage.
type doubtQuestions interface {
	Decision(ctx context.Context, id int64) (sms.Decision, error)
	DoubtGroups(ctx context.Context, c sms.Campaign, country string, after int64, limit int,
		now int64) (list []sms.DoubtGroup, more bool, err error)
	HintedDoubts(ctx context.Context, campaign int64) (int64, error)
	Message(ctx context.Context, id int64) (sms.Message, error)
	Proposals(ctx context.Context, campaign int64) ([]sms.Decision, error)
	Tally(ctx context.Context, id int64) (sms.Tally, error)
}

// doubtOrders are what people do on these pages.
type doubtOrders interface {
	AgreeDoubts(ctx context.Context, by sms.User, id int64) (sms.DecisionResult, error)
	DecideDoubts(ctx context.Context, by sms.User, campaign int64, choices []sms.DecisionItem,
		readAt int64) (sms.DecisionResult, error)
	DropDoubts(ctx context.Context, by sms.User, id int64) (sms.Decision, error)
}

// doubtPage is how many lost calls one page shows; each holds up to a call's
// worth of messages.
const doubtPage = 10

// Show is what of a campaign waits for a decision.
func (s *doubts) Show(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	c, a, err := s.campaignOf(r)
	if err != nil {
		return err
	}
	if page.IsFragment(r) {
		p, err := s.doubtNews(r, v, c, a)
		if err != nil {
			return err
		}
		return s.Render(w, r, http.StatusOK, views.DoubtNews(p))
	}
	return s.showDoubt(w, r, v, c, a, http.StatusOK, views.DoubtPage{})
}

// doubtNews is the part of the page that moves.
func (s *doubts) doubtNews(r *http.Request, v *page.Visit, c sms.Campaign, a sms.Account) (views.DoubtPage, error) {
	tally, err := s.store.Tally(r.Context(), c.ID)
	if err != nil {
		return views.DoubtPage{}, err
	}
	q := r.URL.Query()
	p := views.DoubtPage{Formatter: s.Formatter(v, a), Campaign: c, Waiting: tally.Tile(sms.TileDecision),
		WaitedBefore: page.Number(q.Get("waited")), HintedBefore: page.Number(q.Get("hinted"))}
	p.Hinted, err = s.store.HintedDoubts(r.Context(), c.ID)
	p.Live = doubtRefresh(c, p.WaitedBefore, p.HintedBefore)
	return p, err
}

func doubtRefresh(c sms.Campaign, waited, hinted int64) views.Refresh {
	q := url.Values{"waited": {strconv.FormatInt(waited, 10)}, "hinted": {strconv.FormatInt(hinted, 10)}}
	return views.Refresh{ID: "doubt-news", URL: views.DoubtPath(c.ID) + "?" + q.Encode(),
		On: []string{feed.Campaign(c.ID), feed.Reports(c.AccountID)}}
}

func (s *doubts) showDoubt(w http.ResponseWriter, r *http.Request, v *page.Visit, c sms.Campaign, a sms.Account,
	status int, p views.DoubtPage) error {
	ctx := r.Context()
	news, err := s.doubtNews(r, v, c, a)
	if err != nil {
		return err
	}
	p.Formatter, p.Campaign, p.Waiting, p.WaitedBefore = news.Formatter, c, news.Waiting, news.Waiting
	p.Hinted, p.HintedBefore = news.Hinted, news.Hinted
	p.CanDecide, p.Me, p.ReadAt = v.User.Role.AtLeast(sms.Manager), v.User.ID, s.Now().UnixMilli()
	after, more := page.Number(r.FormValue("after")), false
	if p.Groups, more, err = s.store.DoubtGroups(ctx, c, a.Country, after-1, doubtPage, s.Now().UnixMilli()); err != nil {
		return err
	}
	if p.Proposals, err = s.store.Proposals(ctx, c.ID); err != nil {
		return err
	}
	if after > 0 {
		p.First = views.DoubtPath(c.ID)
	}
	if more {
		p.Next = views.With(views.DoubtPath(c.ID), "after", strconv.FormatInt(p.Groups[len(p.Groups)-1].Attempt.ID+1, 10))
	}
	p.Live = doubtRefresh(c, p.Waiting, p.Hinted)
	f := page.About(v.LiveFrame("Decide: "+c.Name, "campaigns", p.Live.On...), v, a)
	f.Crumbs, f.Error = campaignCrumbs(c), status != http.StatusOK
	if f.Paused {
		p.Live.On = nil
	}
	return s.Render(w, r, status, views.DoubtShow(f, p))
}

// doubtChoices reads the form: which calls it showed, with how many messages,
// and what was chosen for each and for single messages of them.
func doubtChoices(form url.Values) (list []sms.DecisionItem, chosen map[string]sms.Choice) {
	chosen = map[string]sms.Choice{}
	for name := range form {
		kind, digits, _ := strings.Cut(name, "-")
		id, choice := page.Number(digits), sms.Choice(form.Get(name))
		switch {
		case id < 0 || choice == "":
			continue
		case kind == "call":
			chosen[name] = choice
			list = append(list, sms.DecisionItem{Attempt: id, Seen: int(page.Number(form.Get(views.SeenField(id)))),
				Choice: choice})
		case kind == "message":
			chosen[name] = choice
			list = append(list, sms.DecisionItem{Message: id, Choice: choice})
		}
	}
	slices.SortFunc(list, func(a, b sms.DecisionItem) int {
		return int(min(max(a.Message-b.Message+a.Attempt-b.Attempt, -1), 1))
	})
	return list, chosen
}

// Save carries decisions out. Whoever wants to send again sees first what
// that may do.
func (s *doubts) Save(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	c, a, err := s.campaignOf(r)
	if err != nil {
		return err
	}
	list, chosen := doubtChoices(r.PostForm)
	if list, err = s.withAttempts(r.Context(), list); err != nil {
		return err
	}
	again := slices.ContainsFunc(list, func(x sms.DecisionItem) bool { return x.Choice == sms.ChooseAgain })
	if again && r.PostForm.Get("confirmed") == "" {
		p, err := s.againPage(r, v, c, a, list)
		if err != nil {
			return err
		}
		if p.N > 0 {
			f := page.About(v.Frame("Send again?", "campaigns"), v, a)
			f.Crumbs = append(campaignCrumbs(c), views.Link{Text: "Decide", Href: views.DoubtPath(c.ID)})
			return s.Render(w, r, http.StatusOK, views.SendAgain(f, p))
		}
	}
	done, err := s.desk.DecideDoubts(r.Context(), v.User, c.ID, list, page.Number(r.PostForm.Get("read")))
	var bad sms.Invalid
	var gone sms.StaleDecisionError
	switch {
	case errors.As(err, &bad):
		return s.showDoubt(w, r, v, c, a, http.StatusUnprocessableEntity, views.DoubtPage{Bad: bad, Chosen: chosen})
	case errors.As(err, &gone):
		return s.showDoubt(w, r, v, c, a, http.StatusConflict, views.DoubtPage{Overtaken: gone.Messages, Chosen: chosen,
			Bad: sms.Invalid{"overtaken": "These messages are no longer as you saw them. Your decisions were not saved. Check the rest, then save again."}})
	case err != nil:
		return err
	}
	s.afterDecision(w, r, c, done)
	return nil
}

// withAttempts finds the call of each message that was chosen for itself: the
// form need not be trusted with it.
func (s *doubts) withAttempts(ctx context.Context, list []sms.DecisionItem) ([]sms.DecisionItem, error) {
	for i, x := range list {
		if x.Message == 0 {
			continue
		}
		m, err := s.store.Message(ctx, x.Message)
		if err != nil {
			return nil, err
		}
		list[i].Attempt = m.AttemptID
	}
	return list, nil
}

func (s *doubts) afterDecision(w http.ResponseWriter, r *http.Request, c sms.Campaign, done sms.DecisionResult) {
	switch {
	case done.Settled > 0 && done.Campaign.ID > 0:
		page.Redirect(w, r, page.WithOvertaken(views.ConfirmPath(done.Campaign.ID), done))
	case done.Settled > 0:
		page.Redirect(w, r, page.WithOvertaken(views.DoubtPath(c.ID), done))
	case done.Decision.State == sms.DecisionProposed:
		page.Redirect(w, r, page.WithDone(views.DoubtPath(c.ID), "proposed"))
	case done.Campaign.ID > 0:
		page.Redirect(w, r, views.ConfirmPath(done.Campaign.ID))
	default:
		page.Redirect(w, r, page.WithDone(views.DoubtPath(c.ID), "decided"))
	}
}

// namedAgain is how many numbers the warning names.
const namedAgain = 5

func (s *doubts) againPage(r *http.Request, v *page.Visit, c sms.Campaign, a sms.Account,
	list []sms.DecisionItem) (views.DoubtAgainPage, error) {
	p := views.DoubtAgainPage{Formatter: s.Formatter(v, a), Campaign: c}
	own, others := map[int64]bool{}, 0
	for _, x := range list {
		own[x.Message] = true
		if x.Choice != sms.ChooseAgain && x.Choice != sms.ChooseLater {
			others++
		}
	}
	add := func(m sms.Message) {
		if m.State != sms.InDoubt {
			return // settled meanwhile
		}
		if p.N++; len(p.Numbers) < namedAgain && m.Number != "" {
			p.Numbers = append(p.Numbers, m.Number)
		}
	}
	for _, x := range list {
		if x.Choice != sms.ChooseAgain {
			continue
		}
		if x.Message > 0 {
			m, err := s.store.Message(r.Context(), x.Message)
			if err != nil {
				return p, err
			}
			add(m)
			continue
		}
		groups, _, err := s.store.DoubtGroups(r.Context(), c, a.Country, x.Attempt-1, 1, s.Now().UnixMilli())
		if err != nil {
			return p, err
		}
		for _, g := range groups {
			for _, m := range g.Messages {
				if g.Attempt.ID == x.Attempt && !own[m.ID] {
					add(m)
				}
			}
		}
	}
	if others > 0 {
		p.Others = "Your other decisions on the previous page will be saved too."
	}
	for name, values := range r.PostForm {
		if kind, _, _ := strings.Cut(name, "-"); kind == "call" || kind == "message" || kind == "seen" || name == "read" {
			p.Fields = append(p.Fields, [2]string{name, values[0]})
		}
	}
	slices.SortFunc(p.Fields, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return p, nil
}

// doubtOf reads the decision that a form names; it must be this campaign's.
func (s *doubts) doubtOf(r *http.Request) (sms.Campaign, sms.Decision, error) {
	c, _, err := s.campaignOf(r)
	if err != nil {
		return c, sms.Decision{}, err
	}
	d, err := s.store.Decision(r.Context(), page.Number(r.PostForm.Get("decision")))
	if err == nil && d.CampaignID != c.ID {
		err = sms.ErrNotFound
	}
	return c, d, err
}

func (s *doubts) Agree(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	c, d, err := s.doubtOf(r)
	if err != nil {
		return err
	}
	done, err := s.desk.AgreeDoubts(r.Context(), v.User, d.ID)
	if err != nil {
		return err
	}
	s.afterDecision(w, r, c, done)
	return nil
}

func (s *doubts) Drop(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	c, d, err := s.doubtOf(r)
	if err != nil {
		return err
	}
	if _, err := s.desk.DropDoubts(r.Context(), v.User, d.ID); err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.DoubtPath(c.ID), "dropped"))
}

// Back answers an address that only takes forms.
func (s *doubts) Back(w http.ResponseWriter, r *http.Request, _ *page.Visit) error {
	id := page.PathID(r)
	return page.Redirect(w, r, views.DoubtPath(id))
}
