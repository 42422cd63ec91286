package series

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"smsdesk/internal/desk"
	"smsdesk/internal/series"
	"smsdesk/internal/series/orders"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// repeats are the pages of campaigns that repeat.
type repeats struct {
	*page.Site
	store seriesQuestions
	desk  seriesOrders
}

// seriesQuestions are what they ask of the storage.
type seriesQuestions interface {
	Audience(ctx context.Context, id int64) (sms.Audience, error)
	Campaign(ctx context.Context, id int64) (sms.Campaign, error)
	Audiences(ctx context.Context, account int64, limit int) ([]sms.Audience, error)
	ContactColumns(ctx context.Context, account int64) ([]sms.ContactColumn, error)
	Costs(ctx context.Context, account, since int64) ([]sms.Cost, error)
	CountAudience(ctx context.Context, a sms.Audience) (int64, error)
	Series(ctx context.Context, id int64) (series.Series, error)
	SeriesList(ctx context.Context, account int64, limit int) ([]series.Series, error)
	SeriesRuns(ctx context.Context, id int64, limit int) ([]series.Run, error)
	Tally(ctx context.Context, id int64) (sms.Tally, error)
}

// seriesOrders are what people do on these pages.
type seriesOrders interface {
	CheckSeries(ctx context.Context, by sms.User, o orders.Order) (orders.Order, error)
	CreateSeries(ctx context.Context, by sms.User, o orders.Order) (series.Series, error)
	DecideRun(ctx context.Context, by sms.User, id int64, n int, send bool) (series.Series, error)
	MoveRun(ctx context.Context, by sms.User, id int64, day string, at sms.Schedule) (series.Series, error)
	PauseSeries(ctx context.Context, by sms.User, id int64) (series.Series, error)
	ResumeSeries(ctx context.Context, by sms.User, id, ceiling int64) (series.Series, error)
	StopSeries(ctx context.Context, by sms.User, id int64) (series.Series, error)
}

const (
	audiencesShown = 200
	seriesShown    = 200
	runsShown      = 50
	datesShown     = 12
	seriesCrumbs   = "Series"
)

func (s *repeats) List(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	rows, err := s.store.SeriesList(r.Context(), v.Account.ID, seriesShown)
	if err != nil {
		return err
	}
	return s.Render(w, r, http.StatusOK, views.SeriesList(v.Frame("Series", "campaigns"),
		views.SeriesListPage{Formatter: s.Formatter(v, v.Account), CanSend: v.User.Role.AtLeast(sms.Sender), Rows: rows}))
}

// form is the form with what there is to choose.
func (s *repeats) form(r *http.Request, v *page.Visit) (p views.SeriesForm, err error) {
	ctx, a := r.Context(), v.Account
	p = views.SeriesForm{Formatter: s.Formatter(v, a), Account: a, Token: desk.NewToken()}
	if p.Senders, err = s.UsableSenders(v, a); err != nil {
		return p, err
	}
	if p.Templates, err = s.UsableTemplates(ctx, a); err != nil {
		return p, err
	}
	if p.Audiences, err = s.store.Audiences(ctx, a.ID, audiencesShown); err != nil {
		return p, err
	}
	p.Columns, err = s.store.ContactColumns(ctx, a.ID)
	return p, err
}

func (s *repeats) New(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p, err := s.form(r, v)
	if err != nil {
		return err
	}
	p.SenderID, p.Audience = v.Account.DefaultSender, page.Number(r.URL.Query().Get("audience"))
	tomorrow := p.Now.AddDate(0, 0, 1)
	p.Rule = series.Rule{Unit: series.Weekly, Short: series.LastDay, From: tomorrow.Format(dayLayout)}
	p.Rule.Weekdays[tomorrow.Weekday()] = true
	p.Step, p.Time, p.MonthDay, p.Ends, p.Count = "1", "09:00", strconv.Itoa(tomorrow.Day()), "count", "4"
	return s.showForm(w, r, v, p)
}

func (s *repeats) showForm(w http.ResponseWriter, r *http.Request, v *page.Visit, p views.SeriesForm) error {
	f := v.Frame(p.Title(), "campaigns")
	f.Crumbs, f.Error = []views.Link{{Text: seriesCrumbs, Href: views.SeriesPath}}, len(p.Errors) > 0
	return s.Render(w, r, page.Status(r, p.Errors), views.SeriesNew(f, p))
}

// typed reads the form. What cannot be read stands in bad.
func (s *repeats) typed(f url.Values, p views.SeriesForm) (views.SeriesForm, orders.Order, sms.Invalid) {
	bad := sms.Invalid{}
	short := func(name string) string { return page.FirstLetters(strings.TrimSpace(f.Get(name)), 40) }
	p.Name, p.SenderID, p.Template = page.FirstLetters(f.Get("name"), page.NameMost), f.Get("sender_id"), f.Get("template")
	p.Text, p.Audience, p.Flash = page.Lines(f.Get("text")), page.Number(f.Get("audience")), f.Get("flash") != ""
	p.Step, p.Time, p.MonthDay, p.Ends = short("step"), short("time"), short("month_day"), short("ends")
	p.Until, p.Count, p.Ceiling, p.Token = short("until"), short("count"), short("ceiling"), f.Get("token")
	p.Rule = series.Rule{Unit: series.Unit(short("unit")), Short: series.Short(short("short")), From: short("from"),
		Zone: p.Account.Location().String()}
	if p.Rule.Short != series.NoRun {
		p.Rule.Short = series.LastDay
	}
	p.Rule.Step, _ = strconv.Atoi(p.Step)
	p.Rule.MonthDay, _ = strconv.Atoi(p.MonthDay)
	for d := range p.Rule.Weekdays {
		p.Rule.Weekdays[d] = f.Get("weekday-"+strconv.Itoa(d)) != ""
	}
	if p.Ends == "until" {
		if p.Rule.Until = p.Until; p.Until == "" {
			bad["until"] = "Enter the last day, or choose a number of times"
		}
	} else {
		p.Rule.Count, _ = strconv.Atoi(p.Count)
	}
	hour, minute, known := sms.ReadClock(p.Time)
	if p.Rule.Hour, p.Rule.Minute = hour, minute; !known {
		bad["time"] = "Enter a time, for example 09:00"
	}
	ceiling, err := sms.ReadPrice(p.Ceiling)
	if err != nil {
		bad["ceiling"] = "Enter an amount, for example 5000"
	}
	return p, orders.Order{AccountID: p.Account.ID, Name: p.Name, SenderID: p.SenderID, Template: p.Template, Text: p.Text,
		Flash: p.Flash, Audience: p.Audience, Rule: p.Rule, Ceiling: ceiling, Token: p.Token}, bad
}

// Save shows the dates of what was typed, and starts the series when it was seen.
func (s *repeats) Save(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p, err := s.form(r, v)
	if err != nil {
		return err
	}
	p, o, bad := s.typed(r.PostForm, p)
	if r.PostForm.Get("do") == "change" {
		return s.showForm(w, r, v, p)
	}
	checked, err := s.desk.CheckSeries(r.Context(), v.User, o)
	if more, ok := errors.AsType[sms.Invalid](err); ok {
		for field, sentence := range more {
			if bad[field] == "" {
				bad[field] = sentence
			}
		}
	} else if err != nil {
		return err
	}
	if p.Errors = bad; len(bad) > 0 {
		return s.showForm(w, r, v, p)
	}
	if r.PostForm.Get("do") == "start" {
		made, err := s.desk.CreateSeries(r.Context(), v.User, o)
		if err != nil {
			return err
		}
		return page.Redirect(w, r, page.WithDone(views.SeriesOne(made.ID, ""), "seriesstarted"))
	}
	p.Text = checked.Text
	if err := s.review(r, &p, checked); err != nil {
		return err
	}
	return s.showForm(w, r, v, p)
}

// review adds what the last check shows.
func (s *repeats) review(r *http.Request, p *views.SeriesForm, o orders.Order) error {
	ctx := r.Context()
	a, err := s.store.Audience(ctx, o.Audience)
	if err != nil {
		return err
	}
	if p.Recipients, err = s.store.CountAudience(ctx, a); err != nil {
		return err
	}
	p.PartsFirst = p.Recipients * int64(sms.CountSegments(o.Text, false).Parts)
	p.Dates = o.Rule.Dates("", 0, datesShown)
	p.Price, err = page.PriceOf(ctx, s.store, p.Account, s.Now())
	return err
}

// of is the series of the address, of the chosen account only.
func (s *repeats) of(r *http.Request, v *page.Visit) (series.Series, error) {
	x, err := s.store.Series(r.Context(), page.PathID(r))
	if err == nil && x.AccountID != v.Account.ID {
		err = sms.ErrNotFound
	}
	return x, err
}

func (s *repeats) Show(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	x, err := s.of(r, v)
	if err != nil {
		return err
	}
	return s.show(w, r, v, x, nil)
}

// show is the page of a series; after an order that was not accepted with what is
// wrong.
func (s *repeats) show(w http.ResponseWriter, r *http.Request, v *page.Visit, x series.Series, bad sms.Invalid) error {
	ctx := r.Context()
	p := views.SeriesPage{Formatter: s.Formatter(v, v.Account), Series: x, Account: v.Account,
		CanSend: v.User.Role.AtLeast(sms.Sender), Coming: x.Rule.Dates(x.LastDay, x.Runs, datesShown), Errors: bad}
	if x.Ceiling > 0 {
		p.Ceiling = page.FormatPrice(x.Ceiling)
	}
	p.Moving, p.Day, p.Time = r.URL.Query().Get("move"), r.PostForm.Get("day"), r.PostForm.Get("time")
	if run := r.PostForm.Get("run"); run != "" {
		p.Moving = run
	}
	for _, d := range p.Coming {
		if d.Day == p.Moving && p.Day == "" {
			p.Day, p.Time = d.At.Time().Format(dayLayout), d.At.Time().Format("15:04")
		}
	}
	runs, err := s.store.SeriesRuns(ctx, x.ID, runsShown)
	if err != nil {
		return err
	}
	for _, run := range runs {
		one, err := s.run(ctx, run)
		if err != nil {
			return err
		}
		p.Runs = append(p.Runs, one)
	}
	if p.People, err = s.people(ctx, x); err != nil {
		return err
	}
	f := v.Frame(x.Name, "campaigns")
	f.Path = views.SeriesOne(x.ID, "")
	f.Crumbs, f.Error = []views.Link{{Text: seriesCrumbs, Href: views.SeriesPath}}, len(bad) > 0
	return s.Render(w, r, page.Status(r, bad), views.SeriesShow(f, p))
}

func (s *repeats) run(ctx context.Context, run series.Run) (one views.SeriesRun, err error) {
	if one.Run = run; run.CampaignID == 0 {
		return one, nil
	}
	c, err := s.store.Campaign(ctx, run.CampaignID)
	if errors.Is(err, sms.ErrNotFound) {
		return one, nil
	}
	if err != nil {
		return one, err
	}
	one.Campaign = &c
	one.Tally, err = s.store.Tally(ctx, c.ID)
	return one, err
}

func (s *repeats) people(ctx context.Context, x series.Series) (int64, error) {
	a, err := s.store.Audience(ctx, x.Audience)
	if errors.Is(err, sms.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return s.store.CountAudience(ctx, a)
}

// order carries one out and shows the series, or says what is wrong with it.
func (s *repeats) order(w http.ResponseWriter, r *http.Request, v *page.Visit, done string,
	do func(series.Series) error) error {
	x, err := s.of(r, v)
	if err != nil {
		return err
	}
	err = do(x)
	if bad, ok := errors.AsType[sms.Invalid](err); ok {
		return s.show(w, r, v, x, bad)
	}
	switch to := views.SeriesOne(x.ID, ""); {
	case errors.Is(err, sms.ErrConflict):
		return page.Redirect(w, r, to)
	case err != nil:
		return err
	default:
		return page.Redirect(w, r, page.WithDone(to, done))
	}
}

func (s *repeats) Pause(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.order(w, r, v, "seriespaused", func(x series.Series) error {
		_, err := s.desk.PauseSeries(r.Context(), v.User, x.ID)
		return err
	})
}

func (s *repeats) Resume(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.order(w, r, v, "seriesresumed", func(x series.Series) error {
		ceiling, err := sms.ReadPrice(r.PostForm.Get("ceiling"))
		if err != nil {
			return sms.Invalid{"ceiling": "Enter an amount, for example 5000"}
		}
		_, err = s.desk.ResumeSeries(r.Context(), v.User, x.ID, ceiling)
		return err
	})
}

func (s *repeats) StopForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	x, err := s.of(r, v)
	if err != nil {
		return err
	}
	f := v.Frame("Stop this series for good?", "campaigns")
	f.Crumbs = []views.Link{{Text: seriesCrumbs, Href: views.SeriesPath},
		{Text: page.FirstLetters(x.Name, 36), Href: views.SeriesOne(x.ID, "")}}
	return s.Render(w, r, http.StatusOK, views.SeriesStop(f, views.SeriesPage{Series: x}))
}

func (s *repeats) Stop(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.order(w, r, v, "seriesstopped", func(x series.Series) error {
		_, err := s.desk.StopSeries(r.Context(), v.User, x.ID)
		return err
	})
}

// Move gives one coming run another time, or skips it.
func (s *repeats) Move(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	f := r.PostForm
	return s.order(w, r, v, "saved", func(x series.Series) error {
		at := sms.Schedule{}
		if f.Get("do") != "skip" {
			var err error
			if at, err = sms.ReadSchedule(f.Get("day"), f.Get("time"), sms.Earlier, v.Account.Location(), s.Now()); err != nil {
				return err
			}
		}
		_, err := s.desk.MoveRun(r.Context(), v.User, x.ID, f.Get("run"), at)
		return err
	})
}

// Decide answers the question of a run.
func (s *repeats) Decide(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.order(w, r, v, "saved", func(x series.Series) error {
		_, err := s.desk.DecideRun(r.Context(), v.User, x.ID, int(page.Number(r.PathValue("run"))), r.PostForm.Get("do") == "send")
		return err
	})
}

// Back answers the address of an order when it is opened as a page.
func (s *repeats) Back(w http.ResponseWriter, r *http.Request, _ *page.Visit) error {
	return page.Redirect(w, r, views.SeriesOne(page.PathID(r), ""))
}
