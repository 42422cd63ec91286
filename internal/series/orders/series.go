// Package orders takes the orders about campaigns that repeat, and brings their runs
// from a day of the rule to a scheduled campaign. What lets messages leave is the
// desk's decision: it must never know how a list is read, a campaign stored or a
// message sent.
package orders

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/series"
	"smsdesk/internal/sms"
)

// Series takes the orders about campaigns that repeat. Each run is a campaign like
// any other: it passes the same checks, and waits for approval where the rules say so.
type Series struct {
	store Store
	desk  Desk
	feed  *feed.Feed
	log   *slog.Logger
	now   func() time.Time
	audit feed.Audit
}

// New takes orders on a store. now is the wall clock.
func New(store Store, d Desk, news *feed.Feed, log *slog.Logger, now func() time.Time) *Series {
	return &Series{store: store, desk: d, feed: news, log: log, now: now, audit: feed.AuditTo(store, log, now)}
}

func (d *Series) ms() int64 { return d.now().UnixMilli() }

// Desk is what is asked before a run goes, and what lets it go.
type Desk interface {
	AskApproval(ctx context.Context, by sms.User, id int64, o desk.Ask) (sms.Campaign, error)
	NeedsApproval(ctx context.Context, c sms.Campaign) (bool, error)
	ScheduleCampaign(ctx context.Context, by sms.User, id int64, at sms.Schedule, o desk.StartOrder) (sms.Campaign, error)
	SenderProblem(ctx context.Context, account int64, sender string) (string, error)
	UsableTemplate(ctx context.Context, by sms.User, account int64, name string) (sms.Template, error)
}

// Store is what those orders need to be remembered.
type Store interface {
	feed.AuditStore
	Account(ctx context.Context, id int64) (sms.Account, error)
	Audience(ctx context.Context, id int64) (sms.Audience, error)
	Campaign(ctx context.Context, id int64) (sms.Campaign, error)
	ContactColumns(ctx context.Context, account int64) ([]sms.ContactColumn, error)
	Costs(ctx context.Context, account, after int64) ([]sms.Cost, error)
	CountAudience(ctx context.Context, a sms.Audience) (int64, error)
	CreateSeries(ctx context.Context, s series.Series, token string, now int64) (made series.Series, created bool,
		err error)
	Series(ctx context.Context, id int64) (series.Series, error)
	SeriesRun(ctx context.Context, id int64, n int) (series.Run, error)
	SeriesRuns(ctx context.Context, id int64, limit int) ([]series.Run, error)
	UpdateSeries(ctx context.Context, id, now int64, change func(*series.Series) ([]series.Run, error)) (series.Series,
		error)
	Users(ctx context.Context) ([]sms.User, error)
}

// Order is a new series as a person describes it.
type Order struct {
	AccountID int64
	Name      string
	SenderID  string
	Template  string // name of the service's template, "" for own text
	Text      string // of own text
	Flash     bool
	Audience  int64
	Rule      series.Rule
	Ceiling   int64  // the most that one run may cost, in hundredths of the currency; 0: no bound
	Token     string // one-use: the same token gives the same series
}

// CreateSeries checks an order and stores it: from then on its runs are made by
// themselves. The fields of its Invalid are name, sender_id, template, text,
// audience, ceiling and those of series.Rule.
func (d *Series) CreateSeries(ctx context.Context, by sms.User, o Order) (series.Series, error) {
	if err := by.May(sms.Sender, "create series"); err != nil {
		return series.Series{}, err
	}
	if len(o.Token) < 32 || len(o.Token) > 128 {
		return series.Series{}, fmt.Errorf("create series: %w: the form is not one of ours", sms.ErrConflict)
	}
	o, err := d.CheckSeries(ctx, by, o)
	if err != nil {
		return series.Series{}, err
	}
	s := series.Series{UID: newSeriesUID(), AccountID: o.AccountID, Name: o.Name, SenderID: o.SenderID, Template: o.Template,
		Text: o.Text, Flash: o.Flash, Audience: o.Audience, Rule: o.Rule, Ceiling: o.Ceiling, State: series.Active,
		CreatedBy: by.ID, CreatedName: by.Name}
	s.Look()
	made, created, err := d.store.CreateSeries(ctx, s, o.Token, d.ms())
	if err != nil || !created {
		return made, err
	}
	d.told(ctx, by, "series.create", made, made.Rule.Words()+", "+made.Rule.Ends())
	return made, nil
}

// mostName is the longest name of a series, in characters.
const mostName = 80

// CheckSeries says what is wrong with an order, and gives it as it would be stored:
// with the text of its template. Errors are those of CreateSeries.
func (d *Series) CheckSeries(ctx context.Context, by sms.User, o Order) (Order, error) {
	if err := by.May(sms.Sender, "create series"); err != nil {
		return o, err
	}
	account, err := d.store.Account(ctx, o.AccountID)
	if err != nil {
		return o, err
	}
	o.Rule.Zone = account.Location().String()
	return d.checkSeries(ctx, by, account, o)
}

func newSeriesUID() string {
	b := make([]byte, 16)
	rand.Read(b)
	return hex.EncodeToString(b)
}

func (d *Series) checkSeries(ctx context.Context, by sms.User, account sms.Account, o Order) (Order, error) {
	bad := sms.Invalid{}
	if invalid, ok := errors.AsType[sms.Invalid](o.Rule.Check(d.now())); ok {
		bad = invalid
	}
	o.Name = sms.TidyValue(o.Name, 2*mostName)
	if n := utf8.RuneCountInString(o.Name); n == 0 || n > mostName {
		bad["name"] = fmt.Sprintf("Enter a name for the series, of %d characters or fewer", mostName)
	}
	sentence, err := d.desk.SenderProblem(ctx, o.AccountID, o.SenderID)
	if err != nil {
		return o, err
	}
	if sentence != "" {
		bad["sender_id"] = sentence
	}
	if o.Template != "" {
		t, err := d.desk.UsableTemplate(ctx, by, o.AccountID, o.Template)
		if invalid, ok := errors.AsType[sms.Invalid](err); ok {
			bad["template"] = invalid["template"]
		} else if err != nil {
			return o, err
		}
		o.Text = t.Text
	}
	if bad["template"] == "" {
		if sentence, err = d.textProblem(ctx, account, o.Text); err != nil {
			return o, err
		} else if sentence != "" {
			bad["text"] = sentence
		}
	}
	if sentence, err = d.audienceProblem(ctx, o.AccountID, o.Audience); err != nil {
		return o, err
	} else if sentence != "" {
		bad["audience"] = sentence
	}
	if o.Ceiling < 0 {
		bad["ceiling"] = "Enter the most that one run may cost, or leave this empty"
	}
	return o, bad.Or()
}

// textProblem says why a text cannot be sent to contacts.
func (d *Series) textProblem(ctx context.Context, account sms.Account, text string) (string, error) {
	marks := sms.Placeholders(text)
	if len(marks) == 0 {
		return sms.CheckText(text, sms.CountSegments(text, false), account.MaxParts), nil
	}
	columns, err := d.store.ContactColumns(ctx, account.ID)
	if err != nil {
		return "", err
	}
	known := []string{sms.PlaceholderKey("Name")}
	for _, c := range columns {
		known = append(known, sms.PlaceholderKey(c.Name))
	}
	for _, m := range marks {
		if !sms.IsStopMark(m) && !slices.Contains(known, sms.PlaceholderKey(m)) {
			return "Contacts have no field " + m + ". Add the field to contacts, or remove ##" + m + "## from the message", nil
		}
	}
	return "", nil
}

func (d *Series) audienceProblem(ctx context.Context, account, id int64) (string, error) {
	a, err := d.store.Audience(ctx, id)
	if errors.Is(err, sms.ErrNotFound) || err == nil && a.AccountID != account {
		return "Choose an audience", nil
	}
	if err != nil {
		return "", err
	}
	n, err := d.store.CountAudience(ctx, a)
	if err != nil || n > 0 {
		return "", err
	}
	return "This audience is empty. Add contacts or change its filter", nil
}

// PauseSeries pauses a series until a person resumes it.
func (d *Series) PauseSeries(ctx context.Context, by sms.User, id int64) (series.Series, error) {
	return d.change(ctx, by, id, "series.pause", func(s *series.Series) ([]series.Run, error) {
		if s.State != series.Active {
			return nil, sms.ErrConflict
		}
		s.PauseFor("Paused by " + by.Name)
		return nil, nil
	})
}

// ResumeSeries goes on with a series that is paused, with the text that its
// template has now and under another ceiling where one is given. Whoever resumes a
// series whose maker cannot send any more is its maker from then on. Runs whose time
// passed meanwhile are skipped and told. The fields of its Invalid are template,
// text, sender_id, audience and ceiling.
func (d *Series) ResumeSeries(ctx context.Context, by sms.User, id, ceiling int64) (series.Series, error) {
	s, err := d.store.Series(ctx, id)
	if err != nil {
		return s, err
	}
	if err := by.May(sms.Sender, "resume series"); err != nil {
		return s, err
	}
	account, err := d.store.Account(ctx, s.AccountID)
	if err != nil {
		return s, err
	}
	o := Order{AccountID: s.AccountID, Name: s.Name, SenderID: s.SenderID, Template: s.Template, Text: s.Text,
		Audience: s.Audience, Ceiling: ceiling, Rule: s.Rule}
	o, err = d.checkSeries(ctx, by, account, o)
	if bad, ok := errors.AsType[sms.Invalid](err); ok {
		for _, field := range []string{"from", "until", "count"} {
			delete(bad, field) // the rule has begun
		}
		err = bad.Or()
	}
	if err != nil {
		return s, err
	}
	maker, err := d.maker(ctx, s)
	if err != nil {
		return s, err
	}
	return d.change(ctx, by, id, "series.resume", func(s *series.Series) ([]series.Run, error) {
		if s.State != series.Paused {
			return nil, sms.ErrConflict
		}
		s.State, s.Pause, s.Text, s.Ceiling = series.Active, "", o.Text, ceiling
		if maker.May(sms.Sender, "send series") != nil {
			s.CreatedBy, s.CreatedName = by.ID, by.Name
		}
		return passed(s, d.now(), "The series was paused"), nil
	})
}

// passed takes the days whose time has passed as skipped runs.
func passed(s *series.Series, now time.Time, why string) (runs []series.Run) {
	for next, ok := s.Next(); ok && next.At.At <= now.UnixMilli(); next, ok = s.Next() {
		r := s.Begin(next)
		r.State, r.Why = series.Skipped, why
		runs = append(runs, r)
	}
	s.Look()
	return runs
}

// StopSeries ends a series for good. Campaigns that are made already stay as they
// are.
func (d *Series) StopSeries(ctx context.Context, by sms.User, id int64) (series.Series, error) {
	seen, err := d.store.Series(ctx, id)
	if err != nil {
		return seen, err
	}
	open, err := d.store.SeriesRuns(ctx, id, series.MostRuns)
	if err != nil {
		return seen, err
	}
	return d.change(ctx, by, id, "series.stop", unchanged(seen, func(s *series.Series) (runs []series.Run, err error) {
		if s.State == series.Stop {
			return nil, nil
		}
		s.State, s.Pause, s.NextAt = series.Stop, "", 0
		for _, r := range open {
			switch {
			case r.State == series.Making && r.CampaignID > 0:
				r.State = series.Made
				runs = append(runs, r)
			case r.Open():
				r.State, r.Why = series.Skipped, "The series was stopped by "+by.Name
				runs = append(runs, r)
			}
		}
		return runs, nil
	}))
}

// MoveRun moves one day of a series that is not begun to another time, or skips it
// where at is zero. The field of its Invalid is time.
func (d *Series) MoveRun(ctx context.Context, by sms.User, id int64, day string, at sms.Schedule) (series.Series, error) {
	return d.change(ctx, by, id, "series.move", func(s *series.Series) ([]series.Run, error) {
		days := s.Rule.Dates(s.LastDay, s.Runs, series.MostDays)
		i := slices.IndexFunc(days, func(x series.Date) bool { return x.Day == day })
		if i < 0 {
			return nil, fmt.Errorf("move a run of series %d: %w", id, sms.ErrConflict)
		}
		rule, to := s.Rule, ""
		if at.At > 0 {
			to = at.Time().Format("2006-01-02T15:04")
			if sentence := at.Check(d.now()); sentence != "" {
				return nil, sms.Invalid{"time": sentence}
			}
			if i+1 < len(days) && at.At >= days[i+1].At.At && days[i+1].At.At > 0 || i > 0 && at.At <= days[i-1].At.At {
				return nil, sms.Invalid{"time": "Choose a time between the runs before and after this one"}
			}
		}
		rule.Moved = map[string]string{day: to}
		for k, v := range s.Rule.Moved {
			if k != day {
				rule.Moved[k] = v
			}
		}
		s.Rule = rule
		s.Look()
		return nil, nil
	})
}

// DecideRun answers the question of a run: it goes in a few minutes, or never. Where
// its campaign has been made already, that is what is to be confirmed instead: the
// error is sms.ErrConflict.
func (d *Series) DecideRun(ctx context.Context, by sms.User, id int64, n int, send bool) (series.Series, error) {
	seen, err := d.store.Series(ctx, id)
	if err != nil {
		return seen, err
	}
	asked, err := d.store.SeriesRun(ctx, id, n)
	if err != nil {
		return seen, err
	}
	action := "series.skip"
	if send {
		action = "series.send"
	}
	return d.change(ctx, by, id, action, unchanged(seen, func(s *series.Series) ([]series.Run, error) {
		r := asked
		if r.State != series.Asking || send && (r.CampaignID > 0 || s.State == series.Paused) {
			return nil, fmt.Errorf("decide a run of series %d: %w", id, sms.ErrConflict)
		}
		if !send {
			r.State, r.Why = series.Skipped, "Left out by "+by.Name
			return []series.Run{r}, nil
		}
		zone := r.At.Time().Location()
		r.State, r.Why, r.At = series.Making, "Sent late by "+by.Name, sms.ScheduleAt(d.now().Add(decidedLead).In(zone))
		return []series.Run{r}, nil
	}))
}

// decidedLead is when a run goes after a person decided that it should: its list
// takes some time.
const decidedLead = 2 * time.Minute

func (d *Series) change(ctx context.Context, by sms.User, id int64, action string,
	change func(*series.Series) ([]series.Run, error)) (series.Series, error) {
	if err := by.May(sms.Sender, action); err != nil {
		return series.Series{}, err
	}
	s, err := d.store.UpdateSeries(ctx, id, d.ms(), change)
	if err == nil {
		d.told(ctx, by, action, s, "")
	}
	return s, err
}

func (d *Series) told(ctx context.Context, by sms.User, action string, s series.Series, detail string) {
	d.audit(ctx, by, action, fmt.Sprintf("series:%d", s.ID), strings.TrimSpace(s.Name+" "+detail))
	d.feed.Publish(feed.Campaigns(s.AccountID))
}

func (d *Series) maker(ctx context.Context, s series.Series) (sms.User, error) {
	list, err := d.store.Users(ctx)
	for _, u := range list {
		if u.ID == s.CreatedBy {
			return u, err
		}
	}
	return sms.User{ID: s.CreatedBy, Name: s.CreatedName}, err
}
