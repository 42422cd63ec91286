package series

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"smsdesk/internal/series"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// calendars are the pages on which campaigns stand by day.
type calendars struct {
	*page.Site
	store calendarQuestions
}

// calendarQuestions are what calendars ask of the storage.
type calendarQuestions interface {
	Audience(ctx context.Context, id int64) (sms.Audience, error)
	Calendar(ctx context.Context, account, from, to int64) ([]sms.Campaign, error)
	Costs(ctx context.Context, account, since int64) ([]sms.Cost, error)
	CountAudience(ctx context.Context, a sms.Audience) (int64, error)
	SeriesList(ctx context.Context, account int64, limit int) ([]series.Series, error)
}

const dayLayout = "2006-01-02"

func (s *calendars) Show(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	a, q := v.Account, r.URL.Query()
	zone := a.Location()
	now := s.Now().In(zone)
	at, err := time.ParseInLocation(dayLayout, q.Get("at"), zone)
	if err != nil || at.Year() < 2000 || at.Year() > 2200 {
		at = now
	}
	p := views.CalendarPage{Formatter: s.Formatter(v, a), Account: a, Week: q.Get("view") == "week",
		CanSend: v.User.Role.AtLeast(sms.Sender)}
	from, weeks := calendarDays(&p, at)
	if p.Price, err = page.PriceOf(r.Context(), s.store, a, s.Now()); err != nil {
		return err
	}
	items, err := s.items(r.Context(), p, from, from.AddDate(0, 0, 7*weeks))
	if err != nil {
		return err
	}
	p.Weeks = calendarWeeks(p, from, weeks, items)
	return s.Render(w, r, http.StatusOK, views.Calendar(v.Frame("Calendar", "campaigns"), p))
}

// calendarDays says which days the page shows: whole weeks from a Monday.
func calendarDays(p *views.CalendarPage, at time.Time) (from time.Time, weeks int) {
	day := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, at.Location())
	monday := func(d time.Time) time.Time { return d.AddDate(0, 0, -int((d.Weekday()+6)%7)) }
	if p.Week {
		p.First = monday(day)
		p.Prev, p.Next = p.First.AddDate(0, 0, -7).Format(dayLayout), p.First.AddDate(0, 0, 7).Format(dayLayout)
		return p.First, 1
	}
	p.First = day.AddDate(0, 0, 1-day.Day())
	p.Prev, p.Next = p.First.AddDate(0, -1, 0).Format(dayLayout), p.First.AddDate(0, 1, 0).Format(dayLayout)
	from, last := monday(p.First), p.First.AddDate(0, 1, -1)
	for weeks = 1; !from.AddDate(0, 0, 7*weeks).After(last); weeks++ {
	}
	return from, weeks
}

// items are what goes in [from, to), in the order of its times.
func (s *calendars) items(ctx context.Context, p views.CalendarPage, from, to time.Time) ([]views.CalendarItem, error) {
	campaigns, err := s.store.Calendar(ctx, p.Account.ID, from.UnixMilli(), to.UnixMilli())
	if err != nil {
		return nil, err
	}
	var list []views.CalendarItem
	for _, c := range campaigns {
		list = append(list, campaignItem(c, from.Location()))
	}
	runs, err := s.runs(ctx, p, from, to)
	if err != nil {
		return nil, err
	}
	list = append(list, runs...)
	slices.SortStableFunc(list, func(a, b views.CalendarItem) int { return a.At.Compare(b.At) })
	clashes(p.Account, s.Now(), list)
	return list, nil
}

func campaignItem(c sms.Campaign, zone *time.Location) views.CalendarItem {
	i := views.CalendarItem{At: time.UnixMilli(c.StartedAt).In(zone), Name: c.Name, Href: views.CampaignPath(c.ID),
		Campaign: &c, Count: c.Recipients, Parts: c.Parts}
	if c.StartedAt == 0 {
		i.At = time.UnixMilli(c.SendAt).In(zone)
	}
	if c.MayReschedule() {
		i.Move = views.SchedulePath(c.ID)
	}
	return i
}

// seriesInCalendar is how many series a calendar looks through.
const seriesInCalendar = 200

// runs are the coming runs of the account's series that are not campaigns yet.
func (s *calendars) runs(ctx context.Context, p views.CalendarPage, from, to time.Time) ([]views.CalendarItem, error) {
	all, err := s.store.SeriesList(ctx, p.Account.ID, seriesInCalendar)
	if err != nil {
		return nil, err
	}
	var list []views.CalendarItem
	for _, x := range all {
		if x.State != series.Active || x.NextAt == 0 || x.NextAt >= to.UnixMilli() {
			continue
		}
		count, err := s.people(ctx, x)
		if err != nil {
			return nil, err
		}
		parts := count * int64(sms.CountSegments(x.Text, false).Parts)
		for _, d := range x.Rule.Dates(x.LastDay, x.Runs, series.MostDays) {
			at := d.At.Time().In(from.Location())
			if !at.Before(to) && !d.Skipped {
				break
			}
			if d.Skipped || at.Before(from) {
				continue
			}
			list = append(list, views.CalendarItem{At: at, Name: x.Name, Href: views.SeriesOne(x.ID, ""), Series: true,
				Move: views.With(views.SeriesOne(x.ID, ""), "move", d.Day), Count: count, Parts: parts, Note: d.Note})
		}
	}
	return list, nil
}

// people counts the audience of a series; 0 where it was deleted.
func (s *calendars) people(ctx context.Context, x series.Series) (int64, error) {
	a, err := s.store.Audience(ctx, x.Audience)
	if errors.Is(err, sms.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return s.store.CountAudience(ctx, a)
}

// clashes notes at what is to come that it waits: behind another one, or for the
// sending hours.
func clashes(a sms.Account, now time.Time, list []views.CalendarItem) {
	var before *views.CalendarItem
	var busy time.Time
	for n := range list {
		i := &list[n]
		if i.At.Before(now) || i.Campaign != nil && i.Campaign.State == sms.CampaignCancelled {
			continue
		}
		f := sms.Foresee(callsOf(a, *i), a.PerMinute, a.Hours, i.At)
		switch {
		case f.Starts.After(i.At):
			i.Note = note(i.Note, "Outside the sending hours: it starts "+f.Starts.Format("Monday at 3:04pm"))
		case before != nil && i.At.Before(busy):
			i.Note = note(i.Note, fmt.Sprintf("“%s” may still be sending then, until about %s", page.FirstLetters(before.Name, 40),
				busy.Add(time.Minute-1).Truncate(time.Minute).Format("3:04pm")))
		}
		if f.Ends.After(busy) {
			before, busy = i, f.Ends
		}
	}
}

func note(first, second string) string {
	if first == "" {
		return second
	}
	return first + ". " + second
}

// callsOf is about how many requests a campaign takes.
func callsOf(a sms.Account, i views.CalendarItem) int64 {
	if i.Campaign != nil {
		if calls := i.Campaign.CallsText + i.Campaign.CallsPairs; calls > 0 {
			return calls
		}
	}
	limit := int64(max(a.CallLimit, 1))
	return (i.Count + limit - 1) / limit
}

// calendarWeeks puts what goes on each day where it stands.
func calendarWeeks(p views.CalendarPage, from time.Time, weeks int, items []views.CalendarItem) [][]views.CalendarDay {
	out := make([][]views.CalendarDay, weeks)
	for w := range out {
		for d := range 7 {
			date := from.AddDate(0, 0, 7*w+d)
			day := views.CalendarDay{Date: date, Other: !p.Week && date.Month() != p.First.Month()}
			day.Hours, day.Closed = hoursOf(p.Account.Hours, date)
			for _, i := range items {
				if i.At.Format(dayLayout) == date.Format(dayLayout) {
					day.Items = append(day.Items, i)
				}
			}
			out[w] = append(out[w], day)
		}
	}
	return out
}

// hoursOf are the sending hours of a day in words, "" where it is always open.
func hoursOf(h sms.Hours, date time.Time) (words string, closed bool) {
	if h.Always() {
		return "", false
	}
	from, to, closed := h.Day(date.Weekday())
	switch {
	case closed:
		return "No sending", true
	case from == to:
		return "Any hour", false
	}
	clock := func(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }
	return clock(from) + " to " + clock(to), false
}
