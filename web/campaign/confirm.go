package campaign

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/rehearsal"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// confirms are the pages between a draft and its start: check, time and approval.
type confirms struct {
	*base
	store confirmQuestions
	desk  confirmOrders
}

// confirmQuestions are what confirms ask of the storage.
type confirmQuestions interface {
	Balances(ctx context.Context, account int64) ([]sms.Balance, error)
	Campaign(ctx context.Context, id int64) (sms.Campaign, error)
	CampaignRehearsals(ctx context.Context, campaign int64, limit int) ([]rehearsal.Rehearsal, error)
	Costs(ctx context.Context, account, after int64) ([]sms.Cost, error)
	Extremes(ctx context.Context, campaign int64, most int) (sms.Extremes, error)
	FirstToSend(ctx context.Context, campaign int64) (sms.Message, error)
	Message(ctx context.Context, id int64) (sms.Message, error)
	MessageAtRow(ctx context.Context, campaign, row int64) (sms.Message, error)
	Messages(ctx context.Context, f sms.MessageFilter) (list []sms.Message, more bool, err error)
	RecordSettings(ctx context.Context, account int64) (sms.RecordSettings, error)
}

// confirmOrders are what people do on these pages.
type confirmOrders interface {
	AlreadySent(ctx context.Context, c sms.Campaign) (*sms.AlreadySent, error)
	ApproveCampaign(ctx context.Context, by sms.User, id int64, o desk.ApproveOrder) (sms.Campaign, error)
	Approvers(ctx context.Context, by sms.User, c sms.Campaign) ([]sms.User, error)
	AskApproval(ctx context.Context, by sms.User, id int64, o desk.Ask) (sms.Campaign, error)
	CancelSchedule(ctx context.Context, by sms.User, id int64) (sms.Campaign, error)
	HandOverCampaign(ctx context.Context, by sms.User, id int64, at sms.Schedule, o desk.StartOrder) (sms.Campaign, error)
	IncludeSent(ctx context.Context, by sms.User, id int64) (sms.Campaign, error)
	LeaveOutOfDraft(ctx context.Context, by sms.User, id, version int64, leaveOut bool) (sms.Campaign, error)
	Outgoing(ctx context.Context, c sms.Campaign) (sms.Outgoing, error)
	RenameCampaign(ctx context.Context, by sms.User, id int64, name string) (sms.Campaign, error)
	RepeatWarning(ctx context.Context, c sms.Campaign) (string, error)
	RescheduleCampaign(ctx context.Context, by sms.User, id int64, at sms.Schedule,
		o desk.StartOrder) (sms.Campaign, error)
	ReturnCampaign(ctx context.Context, by sms.User, id, version int64, reason string) (sms.Campaign, error)
	ScheduleCampaign(ctx context.Context, by sms.User, id int64, at sms.Schedule, o desk.StartOrder) (sms.Campaign, error)
	SendTest(ctx context.Context, by sms.User, campaign int64, o desk.TestOrder) (sms.Campaign, error)
	StartCampaign(ctx context.Context, by sms.User, id int64, o desk.StartOrder) (sms.Campaign, error)
	WithdrawApproval(ctx context.Context, by sms.User, id int64) (sms.Campaign, error)
}

func (s *confirms) Form(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	c, a, err := s.campaignOf(r)
	if err != nil {
		return err
	}
	if !c.MayStart() {
		return page.Redirect(w, r, views.CampaignPath(c.ID))
	}
	q := r.URL.Query()
	switch {
	case page.IsFragment(r) && q.Get("part") == "cost":
		p, err := s.confirmPage(r, v, c, a)
		if err != nil {
			return err
		}
		return s.Render(w, r, http.StatusOK, views.ConfirmCostParts(p))
	case page.IsFragment(r):
		p, err := s.preview(r, v, c, a, nil)
		if err != nil {
			return err
		}
		return s.Render(w, r, http.StatusOK, views.ConfirmPreview(p))
	}
	return s.showConfirm(w, r, v, c, a, nil)
}

// confirmPage is the page with what was chosen in the form so far. What cannot
// be read of it is not complained about here.
func (s *confirms) confirmPage(r *http.Request, v *page.Visit, c sms.Campaign,
	a sms.Account) (views.ConfirmPage, error) {
	ctx, f := r.Context(), r.PostForm
	p := views.ConfirmPage{Formatter: s.Formatter(v, a), Campaign: c, Account: a,
		Mine:     c.CreatedBy == v.User.ID && a.ID == v.Account.ID,
		Repeated: int(min(page.Number(r.URL.Query().Get("repeated")), 1_000_000)),
		Typed:    page.FirstLetters(f.Get("typed"), 40), Name: c.Name,
		MaySetPrice: v.User.Role.AtLeast(sms.Administrator)}
	var err error
	if p.Out, err = s.desk.Outgoing(ctx, c); err != nil {
		return p, err
	}
	if p.Contacts = -1; c.GroupID != "" {
		if g, err := s.groupFor(r, v, c.GroupID); err == nil && c.AccountID == v.Account.ID {
			p.Contacts = g.ContactCount
		}
	}
	if p.Approval, err = s.approvalOf(r, v, c, a, p.Out); err != nil {
		return p, err
	}
	if p.List, err = s.listBehind(ctx, c); err != nil {
		return p, err
	}
	if p.Already, err = s.already(r, p); err != nil {
		return p, err
	}
	if p.Rehearse, err = offer(ctx, s.store, p); err != nil {
		return p, err
	}
	text := c.Text
	if p.List != nil {
		text = p.List.Order.Text
	}
	p.NoAddress = s.noAddress(v, a, text)
	balances, err := s.store.Balances(ctx, a.ID)
	if err != nil {
		return p, err
	}
	p.Balance = sms.ForMessages(balances)
	if p.Price, p.WarnBelow, err = s.price(ctx, a); err != nil {
		return p, err
	}
	if p.Preview.Message, err = s.previewed(r, c); err != nil {
		return p, err
	}
	p.Later = s.schedulePage(r, v, c, a)
	p.Later.Fresh, p.Later.When = true, views.WhenNow
	if f.Get("when") != "" {
		later, at, err := s.scheduleTyped(r, p.Later)
		if p.Later = later; err == nil && p.Later.When != views.WhenNow {
			p.Later.Chosen = &at
		}
		var bad sms.Invalid
		p.Later.Ask = errors.As(err, &bad) && bad["which"] != "" || p.Later.Which != ""
	}
	if p.Repeat, err = s.repeat(r, c); err != nil {
		return p, err
	}
	p.Plan, err = s.plan(ctx, c, a, p.Later)
	p.Live = views.Refresh{ID: "cost", URL: views.With(views.ConfirmPath(c.ID), "part", "cost"),
		On: []string{feed.Account(a.ID)}}
	if p.Repeated > 0 {
		p.Live.URL = views.With(p.Live.URL, "repeated", strconv.Itoa(p.Repeated))
	}
	return p, err
}

// price is what a part costs, and below which balance to warn.
func (s *confirms) price(ctx context.Context, a sms.Account) (p views.Price, warnBelow int64, err error) {
	settings, err := s.store.RecordSettings(ctx, a.ID)
	if err != nil {
		return p, 0, err
	}
	p, err = page.PriceOf(ctx, s.store, a, s.Now())
	return p, settings.WarnBelow, err
}

// showConfirm shows the page, or shows it again with what is wrong.
func (s *confirms) showConfirm(w http.ResponseWriter, r *http.Request, v *page.Visit, c sms.Campaign, a sms.Account,
	bad sms.Invalid) error {
	p, err := s.confirmPage(r, v, c, a)
	if err != nil {
		return err
	}
	if p.Preview, err = s.preview(r, v, c, a, bad); err != nil {
		return err
	}
	p.Already.Error, p.Rehearse.Error = bad["again"], bad["rehearse"]
	p.Errors, p.Later.Errors = bad, bad
	if bad["name"] != "" {
		p.Name = r.PostForm.Get("name")
	}
	f := page.About(v.LiveFrame("Check and send", "new", feed.Account(a.ID)), v, a)
	if f.Error = len(bad) > 0; f.Paused {
		p.Live.On = nil
	}
	return s.Render(w, r, page.Status(r, bad), views.Confirm(f, p))
}

// repeat is what has to be said of a state that was lost before a campaign is
// sent, and the person's tick.
func (s *confirms) repeat(r *http.Request, c sms.Campaign) (p views.Repeat, err error) {
	p.Ticked = r.PostForm.Get("may_repeat") != ""
	p.Warning, err = s.desk.RepeatWarning(r.Context(), c)
	return p, err
}

// Include lets a draft go to those too who are remembered as having got
// its text.
func (s *confirms) Include(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	c, err := s.desk.IncludeSent(r.Context(), v.User, id)
	if errors.Is(err, sms.ErrConflict) {
		return s.ShowProblem(w, r, v, s.startedAlready(v, c))
	}
	if err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.ConfirmPath(id), "includesent"))
}

// measuredMost is the longest campaign without a list whose texts are measured
// for the preview.
const measuredMost = 10_000

// preview is the row that the address asks for; without one it is the first
// that is sent.
func (s *confirms) preview(r *http.Request, v *page.Visit, c sms.Campaign, a sms.Account,
	bad sms.Invalid) (views.Preview, error) {
	ctx := r.Context()
	p := views.Preview{Formatter: s.Formatter(v, a), Campaign: c, Count: c.Recipients}
	m, err := s.previewed(r, c)
	if err != nil {
		return p, err
	}
	p.Message = m
	for _, side := range []struct {
		filter sms.MessageFilter
		row    *int64
	}{{sms.MessageFilter{CampaignID: c.ID, Before: m.ID, Limit: 1}, &p.Previous},
		{sms.MessageFilter{CampaignID: c.ID, After: m.ID, Limit: 1}, &p.Next}} {
		beside, _, err := s.store.Messages(ctx, side.filter)
		if err != nil {
			return p, err
		}
		if len(beside) > 0 {
			*side.row = beside[0].Row
		}
	}
	list, err := s.listBehind(ctx, c)
	switch {
	case err != nil:
		return p, err
	case list != nil:
		p.Listed, p.Template, p.Longest, p.Odd = true, list.Order.Text, list.Tally.Longest, list.Tally.Odd
		if list.Tally.Texts == 1 {
			p.Longest, p.Odd = 0, 0
		}
	case c.Text == "" && c.Recipients <= measuredMost:
		e, err := s.store.Extremes(ctx, c.ID, measuredMost)
		if err != nil {
			return p, err
		}
		p.Longest, p.Odd = e.Longest, e.Odd
	}
	p.Test, err = s.testForm(r, v, c, a, bad)
	return p, err
}

func (s *confirms) previewed(r *http.Request, c sms.Campaign) (sms.Message, error) {
	ctx := r.Context()
	if id := page.Number(r.PostForm.Get("message")); id > 0 {
		if m, err := s.store.Message(ctx, id); err == nil && m.CampaignID == c.ID {
			return m, nil
		}
	}
	if q := r.URL.Query(); q.Get("row") != "" {
		return s.store.MessageAtRow(ctx, c.ID, page.Number(q.Get("row")))
	}
	m, err := s.store.FirstToSend(ctx, c.ID)
	if errors.Is(err, sms.ErrNotFound) {
		return s.store.MessageAtRow(ctx, c.ID, 1)
	}
	return m, err
}

func (s *confirms) testForm(r *http.Request, v *page.Visit, c sms.Campaign, a sms.Account,
	bad sms.Invalid) (views.TestForm, error) {
	t := views.TestForm{Token: desk.NewToken(), Number: views.Formatter{Country: a.Country}.Phone(v.User.TestNumber),
		Error: bad["test_number"]}
	if t.Error != "" {
		t.Number = page.FirstLetters(r.PostForm.Get("test_number"), 100)
	}
	id := page.Number(r.URL.Query().Get("tested"))
	if id == 0 {
		return t, nil
	}
	sent, err := s.store.Campaign(r.Context(), id)
	if errors.Is(err, sms.ErrNotFound) || err == nil && (sent.TestOf != c.ID || sent.CreatedBy != v.User.ID) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	to, _, err := s.store.Messages(r.Context(), sms.MessageFilter{CampaignID: id, Limit: 1})
	if len(to) > 0 {
		t.Sent, t.SentTo = &sent, to[0].Number
	}
	return t, err
}

// plan says how the campaign leaves when it is started at the chosen time.
func (s *confirms) plan(ctx context.Context, c sms.Campaign, a sms.Account,
	later views.SchedulePage) (views.Plan, error) {
	now := s.Now().In(a.Location())
	p := views.Plan{Now: now, Text: c.CallsText, Pairs: c.CallsPairs, PerMinute: a.PerMinute, Hours: a.Hours,
		Group: c.GroupID != "", From: now}
	calls := c.CallsText + c.CallsPairs
	if calls == 0 {
		limit := int64(max(a.CallLimit, 1))
		p.Text = (c.Recipients + limit - 1) / limit
		calls = p.Text
	}
	if c.Recipients > sms.CanarySize {
		calls++
	}
	if later.Chosen != nil {
		p.From, p.HandOver = later.Chosen.Time().In(a.Location()), later.HandOver
	} else {
		others, err := s.callsLeft(ctx, a, c.ID)
		if err != nil {
			return p, err
		}
		p.Others, calls = len(others), sms.Turns(calls, others)
	}
	p.Forecast = sms.Foresee(calls, a.PerMinute, a.Hours, p.From)
	return p, nil
}

// startOrder is what the person said with the button.
func startOrder(r *http.Request) desk.StartOrder {
	return desk.StartOrder{Version: page.Number(r.PostForm.Get("version")), Again: r.PostForm.Get("again") != "",
		Typed: r.PostForm.Get("typed"), Blind: r.PostForm.Get("blind") != "",
		MayRepeat: r.PostForm.Get("may_repeat") != ""}
}

// When renews what the page says of the chosen time.
func (s *confirms) When(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	if !counting(w, v) {
		return nil
	}
	c, a, err := s.campaignOf(r)
	if err != nil {
		return err
	}
	p, err := s.confirmPage(r, v, c, a)
	if err != nil {
		return err
	}
	return s.Render(w, r, http.StatusOK, views.ConfirmWhen(p))
}

// named gives the campaign the name that stands in the heading. The form then
// speaks of the campaign as it is named now.
func (s *confirms) named(r *http.Request, v *page.Visit, c sms.Campaign) (sms.Campaign, error) {
	name := r.PostForm.Get("name")
	if !r.PostForm.Has("name") || name == c.Name || !c.MayStart() {
		return c, nil
	}
	after, err := s.desk.RenameCampaign(r.Context(), v.User, c.ID, name)
	if err != nil {
		return c, err
	}
	if page.Number(r.PostForm.Get("version")) == c.Version {
		r.PostForm.Set("version", strconv.FormatInt(after.Version, 10))
	}
	return after, nil
}

// Start does what the button said: it sends now, or sets the chosen
// time. Where the button said something else than the choice, as it does
// without script, the time is shown for a last yes.
func (s *confirms) Start(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	c, a, err := s.campaignOf(r)
	if err != nil {
		return err
	}
	f := r.PostForm
	if c, err = s.named(r, v, c); err != nil {
		return s.ordered(w, r, v, c, a, err, "")
	}
	if f.Get("sure") == views.Ask {
		return s.approvalAsk(w, r, v, c, a)
	}
	if when := f.Get("when"); when != "" && when != views.WhenNow {
		return s.startLater(w, r, v, c, a)
	}
	switch sure := f.Get("sure"); {
	case sure != "" && sure != views.WhenNow:
		err = sms.Invalid{"when": "The time has just changed. Check the button, then press it again"}
	case f.Get("hand_over") != "":
		err = sms.Invalid{"hand_over": "Choose a time, or untick this box"}
	default:
		c, err = s.desk.StartCampaign(r.Context(), v.User, c.ID, startOrder(r))
	}
	return s.ordered(w, r, v, c, a, err, views.CampaignPath(c.ID))
}

func (s *confirms) startLater(w http.ResponseWriter, r *http.Request, v *page.Visit, c sms.Campaign,
	a sms.Account) error {
	if !c.MayStart() {
		return s.ScheduleSave(w, r, v)
	}
	p, at, err := s.scheduleTyped(r, s.schedulePage(r, v, c, a))
	if bad, ok := errors.AsType[sms.Invalid](err); ok {
		return s.showConfirm(w, r, v, c, a, bad)
	}
	if err != nil {
		return err
	}
	promised, sure := agreedTime(r.PostForm.Get("sure"), at, p.When, s.Now())
	if !sure {
		p.Chosen = &at
		if err := s.askForCount(r, &p, c, a); err != nil {
			return err
		}
		return s.showSchedule(w, r, v, a, p, nil)
	}
	c, err = s.later(c, p)(r.Context(), v.User, c.ID, promised, startOrder(r))
	return s.ordered(w, r, v, c, a, err, views.CampaignPath(c.ID))
}

// later is the order that sets the time.
func (s *confirms) later(c sms.Campaign, p views.SchedulePage) func(context.Context, sms.User, int64, sms.Schedule,
	desk.StartOrder) (sms.Campaign, error) {
	switch {
	case p.HandOver && c.MayStart():
		return s.desk.HandOverCampaign
	case c.MayReschedule():
		return s.desk.RescheduleCampaign
	}
	return s.desk.ScheduleCampaign
}

// agreedTime is the time that the button named, if that is still what the
// choice means: an hour from now is another minute when the button is pressed.
func agreedTime(sure string, at sms.Schedule, when string, now time.Time) (sms.Schedule, bool) {
	said := page.Number(sure)
	if said == at.At {
		return at, true
	}
	ahead := time.UnixMilli(said).Sub(now)
	if when != views.WhenHour || said == 0 || ahead < 30*time.Minute || ahead > 62*time.Minute {
		return at, false
	}
	return sms.ScheduleAt(time.UnixMilli(said).In(at.Time().Location())), true
}

// askForCount lets the page for a time ask for the number of recipients too.
func (s *confirms) askForCount(r *http.Request, p *views.SchedulePage, c sms.Campaign, a sms.Account) error {
	if !c.MayStart() || c.GroupID != "" {
		return nil
	}
	out, err := s.desk.Outgoing(r.Context(), c)
	if err == nil && out.Asks(a) {
		p.Asked, p.Typed = out.Messages, page.FirstLetters(r.PostForm.Get("typed"), 40)
	}
	return err
}

// SendTest sends the shown row to the person's own phone.
func (s *confirms) SendTest(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	c, a, err := s.campaignOf(r)
	if err != nil {
		return err
	}
	f := r.PostForm
	made, err := s.desk.SendTest(r.Context(), v.User, c.ID,
		desk.TestOrder{MessageID: page.Number(f.Get("message")), Number: f.Get("test_number"), Token: f.Get("token")})
	if bad, ok := errors.AsType[sms.Invalid](err); ok {
		return s.showConfirm(w, r, v, c, a, bad)
	}
	if err != nil {
		return err
	}
	m, err := s.store.Message(r.Context(), page.Number(f.Get("message")))
	if err != nil {
		return err
	}
	to := views.With(views.ConfirmPath(c.ID), "row", strconv.FormatInt(m.Row, 10))
	return page.Redirect(w, r, views.With(to, "tested", strconv.FormatInt(made.ID, 10)))
}

func (s *confirms) Rename(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	c, a, err := s.campaignOf(r)
	if err != nil {
		return err
	}
	after, err := s.desk.RenameCampaign(r.Context(), v.User, c.ID, r.PostForm.Get("name"))
	if page.IsFragment(r) && err == nil {
		return s.Render(w, r, http.StatusOK, views.ConfirmRenamed(after))
	}
	return s.ordered(w, r, v, c, a, err, page.WithDone(views.ConfirmPath(c.ID), "saved"))
}

// ordered shows what came of an order: the page again with what is wrong, who
// was first, or where it leads.
func (s *confirms) ordered(w http.ResponseWriter, r *http.Request, v *page.Visit, c sms.Campaign, a sms.Account,
	err error, to string) error {
	if bad, ok := errors.AsType[sms.Invalid](err); ok {
		return s.showConfirm(w, r, v, c, a, bad)
	}
	if errors.Is(err, sms.ErrConflict) {
		return s.ShowProblem(w, r, v, s.startedAlready(v, c))
	}
	if err != nil {
		return err
	}
	return page.Redirect(w, r, to)
}

// startedAlready is the page for whoever was not the first.
func (s *confirms) startedAlready(v *page.Visit, c sms.Campaign) views.Problem {
	p := views.Problem{Status: http.StatusConflict, Title: "This campaign has changed",
		Text: "Your press sent nothing. Check the campaign and try again.",
		Link: views.Link{Text: "Show the campaign", Href: views.CampaignPath(c.ID)}}
	if c.StartedAt > 0 {
		p.Title = "This campaign has already started"
		p.Text = "Started by " + c.StartedName + " " + v.When(c.StartedAt) + ". Nothing was sent twice."
	}
	return p
}

// Back answers the start's address when it is opened as a page.
func (s *confirms) Back(w http.ResponseWriter, r *http.Request, _ *page.Visit) error {
	id := page.PathID(r)
	return page.Redirect(w, r, views.ConfirmPath(id))
}
