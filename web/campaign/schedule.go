package campaign

import (
	"errors"
	"net/http"

	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// schedulePage is the question with nothing chosen yet: tomorrow at nine, or
// the time that the campaign has.
func (s *confirms) schedulePage(r *http.Request, v *page.Visit, c sms.Campaign, a sms.Account) views.SchedulePage {
	p := views.SchedulePage{Formatter: s.Formatter(v, a), Campaign: c, Zone: a.Location(), When: views.WhenTomorrow,
		Again: r.PostForm.Get("again") != "" || c.SendAgain}
	if c.MayReschedule() {
		at := c.Schedule().Time().In(p.Zone)
		p.When, p.Day, p.Time = views.WhenAt, at.Format("2006-01-02"), at.Format("15:04")
	}
	return p
}

// scheduleTyped adds what was chosen. The times that are counted from now are
// fixed here, so that the next page sets exactly the one that it shows.
func (s *confirms) scheduleTyped(r *http.Request, p views.SchedulePage) (views.SchedulePage, sms.Schedule, error) {
	p.HandOver = r.Form.Get("hand_over") != ""
	p.When, p.Day, p.Time, p.Which = r.Form.Get("when"), page.FirstLetters(r.Form.Get("day"), 40),
		page.FirstLetters(r.Form.Get("time"), 40), sms.DSTChoice(r.Form.Get("which"))
	var at sms.Schedule
	switch p.When {
	case views.WhenHour:
		at = sms.InAnHour(s.Now(), p.Zone)
	case views.WhenTomorrow:
		at = sms.TomorrowMorning(s.Now(), p.Zone)
	case views.WhenAt:
		var err error
		if at, err = sms.ReadSchedule(p.Day, p.Time, p.Which, p.Zone, s.Now()); err != nil {
			return p, at, err
		}
	default:
		return p, at, sms.Invalid{"when": "Choose when to send"}
	}
	p.Day, p.Time, p.Which = at.Time().Format("2006-01-02"), at.Time().Format("15:04"), at.DSTChoiceAt()
	return p, at, nil
}

func (s *confirms) ScheduleForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	c, a, err := s.campaignOf(r)
	if err != nil {
		return err
	}
	if !c.MayStart() && !c.MayReschedule() {
		return page.Redirect(w, r, views.CampaignPath(c.ID))
	}
	if err := r.ParseForm(); err != nil {
		return err
	}
	p := s.schedulePage(r, v, c, a)
	if !r.Form.Has("when") {
		if day, clock := r.Form.Get("day"), r.Form.Get("time"); day != "" {
			p.When, p.Day, p.Time = views.WhenAt, page.FirstLetters(day, 40), page.FirstLetters(clock, 40)
		}
		return s.showSchedule(w, r, v, a, p, nil)
	}
	p, at, err := s.scheduleTyped(r, p)
	if err != nil {
		return s.showSchedule(w, r, v, a, p, err)
	}
	p.Chosen = &at
	return s.showSchedule(w, r, v, a, p, nil)
}

// showSchedule shows the question, or the last page before the time is set.
func (s *confirms) showSchedule(w http.ResponseWriter, r *http.Request, v *page.Visit, a sms.Account,
	p views.SchedulePage, problem error) error {
	bad, ok := errors.AsType[sms.Invalid](problem)
	if problem != nil && !ok {
		return problem
	}
	p.Errors, p.Ask = bad, bad["which"] != "" || p.Which != "" && p.Chosen == nil
	if p.Chosen != nil {
		var err error
		if p.Repeat, err = s.repeat(r, p.Campaign); err != nil {
			return err
		}
		if !p.Campaign.SendAgain {
			if p.Already, err = s.desk.AlreadySent(r.Context(), p.Campaign); err != nil {
				return err
			}
		}
	}
	f := page.About(v.Frame(p.Title(), "campaigns"), v, a)
	f.Crumbs = campaignCrumbs(p.Campaign)
	status := http.StatusOK
	if f.Error = len(bad) > 0; f.Error {
		status = http.StatusUnprocessableEntity
	}
	return s.Render(w, r, status, views.Schedule(f, p))
}

func (s *confirms) ScheduleSave(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	c, a, err := s.campaignOf(r)
	if err != nil {
		return err
	}
	p, at, err := s.scheduleTyped(r, s.schedulePage(r, v, c, a))
	if err != nil {
		return s.showSchedule(w, r, v, a, p, err)
	}
	c, err = s.later(c, p)(r.Context(), v.User, c.ID, at, startOrder(r))
	var bad sms.Invalid
	switch {
	case errors.As(err, &bad) && bad["approval"] != "":
		return s.showConfirm(w, r, v, c, a, bad)
	case bad != nil:
		if bad["time"] == "" {
			p.Chosen = &at
			if err := s.askForCount(r, &p, c, a); err != nil {
				return err
			}
		}
		return s.showSchedule(w, r, v, a, p, err)
	}
	return s.ordered(w, r, v, c, a, err, views.CampaignPath(c.ID))
}

func (s *confirms) ScheduleCancelForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	c, a, err := s.campaignOf(r)
	if err != nil {
		return err
	}
	if !c.MayReschedule() {
		return page.Redirect(w, r, views.CampaignPath(c.ID))
	}
	f := page.About(v.Frame("Cancel the schedule?", "campaigns"), v, a)
	f.Crumbs = campaignCrumbs(c)
	return s.Render(w, r, http.StatusOK, views.CancelSchedule(f,
		views.CampaignPage{Formatter: s.Formatter(v, a), Campaign: c, Account: a}))
}

func (s *confirms) ScheduleCancel(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.campaignOrder(w, r, v, s.desk.CancelSchedule)
}
