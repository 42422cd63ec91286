package orders_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/lists"
	"smsdesk/internal/rig"
	"smsdesk/internal/series"
	"smsdesk/internal/series/orders"
	"smsdesk/internal/sms"
	"smsdesk/internal/workers"
)

// repeats brings series further with the lists of a rig.
type repeats struct{ *rig.Staff }

func (r repeats) Advance(ctx context.Context, id int64) error {
	return r.Staff.Advance(ctx, id, r.Lists)
}

// weekly is a rig with people, an audience of three contacts, and what makes runs.
type weekly struct {
	*rig.Timetable
	ada, sam sms.User
	audience sms.Audience
	halt     func()
}

func repeated(t *testing.T, play func(w *weekly)) {
	t.Helper()
	rig.Scheduled(t, func(p *rig.Timetable) {
		w := &weekly{Timetable: p}
		hire := func(name string, role sms.Role) sms.User {
			u, err := p.DB.CreateUser(p.Ctx, sms.User{Email: name + "@example.com", Name: name, Role: role}, "x", 1)
			if err != nil {
				t.Fatal(err)
			}
			return u
		}
		w.ada, w.sam = hire("Ada", sms.Administrator), hire("Sam", sms.Sender)
		for i, n := range rig.Ordinary(3) {
			if _, err := p.Desk.SaveContact(p.Ctx, w.ada, desk.ContactOrder{AccountID: p.Account.ID, Number: n,
				Name: fmt.Sprintf("Person %d", i)}); err != nil {
				t.Fatal(err)
			}
		}
		var err error
		if w.audience, err = p.Desk.SaveAudience(p.Ctx, w.ada, desk.AudienceOrder{AccountID: p.Account.ID, Name: "Mothers",
			Kind: sms.Filtered}); err != nil {
			t.Fatal(err)
		}
		w.repeat()
		defer func() { w.halt(); w.Stop() }()
		play(w)
	})
}

// repeat starts what makes runs, as a process that begins does.
func (w *weekly) repeat() {
	ctx, cancel := context.WithCancel(context.Background())
	im := lists.NewImporter(w.Desk.Lists, w.DB)
	r := workers.NewRepeater(w.DB, repeats{w.Desk}, slog.New(slog.NewTextHandler(&w.Log, nil)), w.Clocks.Wall)
	done := make(chan struct{}, 2)
	go func() { _ = im.Run(ctx); done <- struct{}{} }()
	go func() { r.Run(ctx); done <- struct{}{} }()
	w.halt = sync.OnceFunc(func() { cancel(); <-done; <-done })
}

// down lets time pass while nothing runs.
func (w *weekly) down(d time.Duration) {
	w.halt()
	w.Stop()
	w.Pass(d)
	w.Run()
	w.repeat()
}

// order is a series of runs at nine every day from tomorrow.
func (w *weekly) order(count int) orders.Order {
	zone := w.Account.Location()
	tomorrow := w.Clocks.Wall().In(zone).AddDate(0, 0, 1)
	return orders.Order{AccountID: w.Account.ID, Name: "Reminder", SenderID: "CLINIC", Text: "Dear ##Name##, come on Monday.",
		Audience: w.audience.ID, Token: desk.NewToken(),
		Rule: series.Rule{Unit: series.Daily, Step: 1, Hour: 9, From: tomorrow.Format("2006-01-02"), Count: count}}
}

func (w *weekly) create(o orders.Order, by sms.User) series.Series {
	w.T.Helper()
	s, err := w.Desk.CreateSeries(w.Ctx, by, o)
	if err != nil {
		w.T.Fatal(err)
	}
	return s
}

// untilRun lets time pass until so long before (or, negative, after) the time of the next run.
func (w *weekly) untilRun(s series.Series, before time.Duration) {
	w.T.Helper()
	left := time.UnixMilli(w.series(s.ID).NextAt).Sub(w.Clocks.Wall())
	// The loops look often: where there is nothing to do for days, they rest.
	if idle := left - max(before, series.Lead) - 10*time.Second; idle > time.Hour {
		w.down(idle)
		left -= idle
	}
	w.Know("CLINIC") // as the Reader does all the time
	w.Pass(left - before)
}

func (w *weekly) series(id int64) series.Series {
	w.T.Helper()
	s, err := w.DB.Series(w.Ctx, id)
	if err != nil {
		w.T.Fatal(err)
	}
	return s
}

func (w *weekly) account(change func(*sms.Account)) {
	w.T.Helper()
	if _, err := w.DB.UpdateAccount(w.Ctx, w.Account.ID, 1, func(a *sms.Account, _ *sms.Credentials) error {
		change(a)
		return nil
	}); err != nil {
		w.T.Fatal(err)
	}
}

// runs are those begun, the first first.
func (w *weekly) runs(id int64) []series.Run {
	w.T.Helper()
	list, err := w.DB.SeriesRuns(w.Ctx, id, 500)
	if err != nil {
		w.T.Fatal(err)
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

func (w *weekly) isRun(id int64, n int, state series.RunState, why string) series.Run {
	w.T.Helper()
	list := w.runs(id)
	if len(list) < n {
		w.T.Fatalf("%d runs, want %d: %s", len(list), n, w.Log.String())
	}
	if r := list[n-1]; r.State != state || !strings.Contains(r.Why, why) || why == "" && r.Why != "" {
		w.T.Errorf("run %d is %s %q, want %s %q\n%s", n, r.State, r.Why, state, why, w.Log.String())
	}
	return list[n-1]
}

// TestRunsGoByThemselves: each is a campaign of its own to the audience of its day,
// and the same text once more is no repeat.
func TestRunsGoByThemselves(t *testing.T) {
	repeated(t, func(w *weekly) {
		s := w.create(w.order(2), w.sam)
		w.untilRun(s, series.Lead+time.Minute)
		if got := w.runs(s.ID); len(got) > 0 {
			t.Fatalf("too early: %+v", got)
		}
		w.Pass(5 * time.Minute)
		first := w.isRun(s.ID, 1, series.Made, "")
		c := w.Is(first.CampaignID, sms.CampaignScheduled, "")
		if c.SendAt != first.At.At || c.StartedName != "Sam" || !strings.HasPrefix(c.Name, "Reminder, ") || c.Recipients != 3 ||
			c.SeriesID != s.ID || c.SeriesRun != 1 {
			t.Errorf("%+v", c)
		}
		m, _, err := w.DB.Messages(w.Ctx, sms.MessageFilter{CampaignID: c.ID, Limit: 1})
		if err != nil || m[0].Text != "Dear Person 0, come on Monday." {
			t.Errorf("%+v %v", m, err)
		}
		w.Pass(series.Lead)
		w.Is(c.ID, sms.CampaignRunning, "")

		if _, err := w.Desk.SaveContact(w.Ctx, w.ada, desk.ContactOrder{AccountID: w.Account.ID, Number: "08099990000",
			Name: "New"}); err != nil {
			t.Fatal(err)
		}
		w.untilRun(s, -time.Minute)
		second := w.isRun(s.ID, 2, series.Made, "")
		if c := w.Is(second.CampaignID, sms.CampaignRunning, ""); c.Recipients != 4 || c.SendAgain {
			t.Errorf("%+v", c)
		}
		if got := w.series(s.ID); got.State != series.Ended || got.NextAt != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// TestAnotherCampaignWithTheTextIsARepeat: the radar is blind for the series only.
func TestAnotherCampaignWithTheTextIsARepeat(t *testing.T) {
	repeated(t, func(w *weekly) {
		o := w.order(1)
		o.Text = "Come on Monday."
		s := w.create(o, w.sam)
		w.untilRun(s, 2*time.Hour)
		w.Start(w.Draft("CLINIC", "Come on Monday.", rig.Ordinary(2)...))
		w.untilRun(s, 50*time.Minute)
		w.isRun(s.ID, 1, series.Asking, "already waiting to get nearly this text, from campaign \"Come on Monday.\"")
	})
}

// TestAMissedRunIsAskedAbout: more than fifteen minutes late nothing goes by itself,
// and of several that were missed one question is asked.
func TestAMissedRunIsAskedAbout(t *testing.T) {
	repeated(t, func(w *weekly) {
		s := w.create(w.order(4), w.sam)
		next := time.UnixMilli(s.NextAt).Sub(w.Clocks.Wall())
		w.down(next + 14*time.Minute)
		w.Know("CLINIC")
		w.Pass(3 * time.Minute)
		if r := w.isRun(s.ID, 1, series.Made, ""); w.Is(r.CampaignID, sms.CampaignRunning, "").StartedAt == 0 {
			t.Error("not started")
		}
		w.down(48 * time.Hour)
		w.Know("CLINIC")
		w.Pass(time.Minute)
		w.isRun(s.ID, 2, series.Skipped, "so was the next one")
		r := w.isRun(s.ID, 3, series.Asking, "15 minutes late")
		if _, err := w.Desk.DecideRun(w.Ctx, w.ada, s.ID, r.N, true); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Desk.DecideRun(w.Ctx, w.ada, s.ID, r.N, true); !errors.Is(err, sms.ErrConflict) {
			t.Errorf("a second answer: %v", err)
		}
		w.Pass(5 * time.Minute)
		late := w.isRun(s.ID, 3, series.Made, "Sent late by Ada")
		w.Is(late.CampaignID, sms.CampaignRunning, "")
		w.down(time.UnixMilli(w.series(s.ID).NextAt).Sub(w.Clocks.Wall()) + time.Hour)
		w.Pass(time.Minute)
		w.isRun(s.ID, 4, series.Asking, "smsdesk was not running")
		if _, err := w.Desk.DecideRun(w.Ctx, w.ada, s.ID, 4, false); err != nil {
			t.Fatal(err)
		}
		w.isRun(s.ID, 4, series.Skipped, "Left out by Ada")
	})
}

// TestASeriesPausesWhenWhatWasAgreedChanges and says what to do.
func TestASeriesPausesWhenWhatWasAgreedChanges(t *testing.T) {
	template := func(w *weekly, text string) {
		if err := w.DB.PutTemplates(w.Ctx, w.Account.ID, []sms.Template{{ID: 1, Name: "Visit", Text: text, IsApproved: true,
			IsActive: true}}, 1); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		change  func(w *weekly)
		why     string
		resumed func(w *weekly, s series.Series)
	}{
		"template": {func(w *weekly) { template(w, "Come on Tuesday, ##Name##.") }, `The text of its template "Visit" was changed`,
			func(w *weekly, s series.Series) {
				if s.Text != "Come on Tuesday, ##Name##." || s.CreatedName != "Sam" {
					t.Errorf("%+v", s)
				}
			}},
		"maker": {func(w *weekly) {
			if _, err := w.Desk.SaveUser(w.Ctx, w.ada, w.sam.ID, sms.Sender, false); err != nil {
				t.Fatal(err)
			}
		}, "Sam, in whose name it sends, can no longer send", func(w *weekly, s series.Series) {
			if s.CreatedName != "Ada" {
				t.Errorf("%+v", s)
			}
		}},
		"audience": {func(w *weekly) {
			if _, err := w.Desk.DeleteAudience(w.Ctx, w.ada, w.Account.ID, w.audience.ID); err != nil {
				t.Fatal(err)
			}
		}, "audience is empty or was deleted", nil},
	} {
		t.Run(name, func(t *testing.T) {
			repeated(t, func(w *weekly) {
				template(w, "Come on Monday, ##Name##.")
				o := w.order(3)
				o.Template, o.Text = "Visit", ""
				s := w.create(o, w.sam)
				if s.Text != "Come on Monday, ##Name##." {
					t.Fatalf("%+v", s)
				}
				w.untilRun(s, 2*time.Hour)
				c.change(w)
				w.untilRun(s, 30*time.Minute)
				got := w.series(s.ID)
				if got.State != series.Paused || !strings.Contains(got.Pause, c.why) || len(w.runs(s.ID)) > 0 {
					t.Fatalf("%+v %+v", got, w.runs(s.ID))
				}
				resumed, err := w.Desk.ResumeSeries(w.Ctx, w.ada, s.ID, 0)
				if c.resumed == nil {
					if bad := (sms.Invalid{}); !errors.As(err, &bad) || bad["audience"] == "" {
						t.Errorf("%v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				c.resumed(w, resumed)
				w.Pass(time.Hour)
				w.isRun(s.ID, 1, series.Made, "")
			})
		})
	}
}

// TestARunAboveItsCeilingPauses, and so does one whose cost nobody knows.
func TestARunAboveItsCeilingPauses(t *testing.T) {
	repeated(t, func(w *weekly) {
		o := w.order(3)
		o.Ceiling = 1199
		unknown := w.create(o, w.sam)
		w.untilRun(unknown, 30*time.Minute)
		w.isRun(unknown.ID, 1, series.Asking, "What a part costs is not known yet")
		w.Account.PricePerPart = 400
		w.account(func(a *sms.Account) { a.PricePerPart = 400 })
		o = w.order(3)
		o.Ceiling, o.Text = 1199, "Another text for ##Name##"
		s := w.create(o, w.sam)
		w.untilRun(s, 30*time.Minute)
		r := w.isRun(s.ID, 1, series.Asking, "would cost about ₦12.00, more than its ceiling of ₦11.99")
		w.Is(r.CampaignID, sms.CampaignDraft, "")
		if got := w.series(s.ID); got.State != series.Paused {
			t.Errorf("%+v", got)
		}
		if _, err := w.Desk.ResumeSeries(w.Ctx, w.sam, s.ID, 1200); err != nil {
			t.Fatal(err)
		}
		w.untilRun(s, 30*time.Minute)
		w.isRun(s.ID, 2, series.Made, "")
	})
}

// TestApprovalIsAskedThreeDaysBefore where the rules of the account want it.
func TestApprovalIsAskedThreeDaysBefore(t *testing.T) {
	repeated(t, func(w *weekly) {
		w.account(func(a *sms.Account) { a.ApproveAbove = 2 })
		o := w.order(1)
		o.Rule.From = w.Clocks.Wall().AddDate(0, 0, 6).Format("2006-01-02")
		s := w.create(o, w.sam)
		w.untilRun(s, series.ApprovalLead+time.Minute)
		if got := w.runs(s.ID); len(got) > 0 {
			t.Fatalf("too early: %+v", got)
		}
		w.Pass(3 * time.Minute)
		r := w.isRun(s.ID, 1, series.Made, "")
		c := w.Is(r.CampaignID, sms.CampaignAwaiting, "")
		if c.SendAt != r.At.At {
			t.Errorf("%+v", c)
		}
		if _, err := w.Desk.ApproveCampaign(w.Ctx, w.ada, c.ID, desk.ApproveOrder{Version: c.Version}); err != nil {
			t.Fatal(err)
		}
		w.Is(c.ID, sms.CampaignScheduled, "")
	})
}

func TestADayIsMovedOrSkipped(t *testing.T) {
	repeated(t, func(w *weekly) {
		s := w.create(w.order(3), w.sam)
		days := s.Rule.Dates("", 0, 4)
		to := sms.ScheduleAt(days[1].At.Time().Add(3 * time.Hour))
		if _, err := w.Desk.MoveRun(w.Ctx, w.ada, s.ID, days[1].Day, to); err != nil {
			t.Fatal(err)
		}
		s, err := w.Desk.MoveRun(w.Ctx, w.ada, s.ID, days[0].Day, sms.Schedule{})
		if err != nil || s.NextAt != to.At {
			t.Fatalf("%+v %v", s, err)
		}
		late := sms.ScheduleAt(days[2].At.Time().Add(time.Hour))
		if _, err := w.Desk.MoveRun(w.Ctx, w.ada, s.ID, days[1].Day, late); err == nil {
			t.Error("moved behind the next run")
		}
		w.untilRun(s, 30*time.Minute)
		r := w.isRun(s.ID, 1, series.Made, "")
		if r.Day != days[1].Day || w.Is(r.CampaignID, sms.CampaignScheduled, "").SendAt != to.At {
			t.Errorf("%+v", r)
		}
		if got := w.series(s.ID).Rule.Dates(r.Day, 1, 9); len(got) != 2 {
			t.Errorf("left: %+v", got)
		}
	})
}

func TestAPausedSeriesTellsWhatItSkipped(t *testing.T) {
	repeated(t, func(w *weekly) {
		s := w.create(w.order(4), w.sam)
		if _, err := w.Desk.PauseSeries(w.Ctx, w.ada, s.ID); err != nil {
			t.Fatal(err)
		}
		w.down(60 * time.Hour)
		w.Pass(time.Minute)
		if len(w.runs(s.ID)) > 0 {
			t.Fatal("a paused series went on")
		}
		w.Know("CLINIC")
		if _, err := w.Desk.ResumeSeries(w.Ctx, w.ada, s.ID, 0); err != nil {
			t.Fatal(err)
		}
		w.isRun(s.ID, 1, series.Skipped, "The series was paused")
		if _, err := w.Desk.StopSeries(w.Ctx, w.ada, s.ID); err != nil {
			t.Fatal(err)
		}
		before := len(w.runs(s.ID))
		w.down(60 * time.Hour)
		w.Pass(time.Minute)
		if got := w.series(s.ID); got.State != series.Stop || len(w.runs(s.ID)) != before {
			t.Errorf("%+v", got)
		}
	})
}

// TestASeriesThatCannotBe says so at the field.
func TestASeriesThatCannotBe(t *testing.T) {
	repeated(t, func(w *weekly) {
		for field, change := range map[string]func(o *orders.Order){
			"text":      func(o *orders.Order) { o.Text = "Dear ##Village##" },
			"audience":  func(o *orders.Order) { o.Audience = 99 },
			"sender_id": func(o *orders.Order) { o.SenderID = "NOBODY" },
			"name":      func(o *orders.Order) { o.Name = " " },
			"template":  func(o *orders.Order) { o.Template = "Lost" },
			"count":     func(o *orders.Order) { o.Rule.Count = 0 },
			"ceiling":   func(o *orders.Order) { o.Ceiling = -1 },
		} {
			o := w.order(1)
			change(&o)
			_, err := w.Desk.CreateSeries(w.Ctx, w.sam, o)
			if bad := (sms.Invalid{}); !errors.As(err, &bad) || bad[field] == "" {
				t.Errorf("%s: %v", field, err)
			}
		}
		o := w.order(1)
		first, second := w.create(o, w.sam), w.create(o, w.sam)
		if first.ID != second.ID {
			t.Error("the second press made a second series")
		}
		viewer := w.sam
		viewer.Role = sms.Viewer
		if _, err := w.Desk.CreateSeries(w.Ctx, viewer, w.order(1)); !errors.Is(err, sms.ErrForbidden) {
			t.Errorf("%v", err)
		}
	})
}

// meddling is somebody who orders something while the list of a run is being made.
type meddling struct {
	*lists.Lists
	order func()
}

func (m meddling) RunList(ctx context.Context, by sms.User, s series.Series, r series.Run) (sms.List, error) {
	l, err := m.Lists.RunList(ctx, by, s, r)
	if err == nil && l.State == sms.ListMade {
		m.order()
	}
	return l, err
}

// TestASeriesThatIsStoppedMeanwhileSchedulesNothing: whoever stops or pauses it while
// a run is being prepared is not overtaken.
func TestASeriesThatIsStoppedMeanwhileSchedulesNothing(t *testing.T) {
	for name, order := range map[string]func(w *weekly, id int64) (series.Series, error){
		"stop":  func(w *weekly, id int64) (series.Series, error) { return w.Desk.StopSeries(w.Ctx, w.ada, id) },
		"pause": func(w *weekly, id int64) (series.Series, error) { return w.Desk.PauseSeries(w.Ctx, w.ada, id) },
	} {
		t.Run(name, func(t *testing.T) {
			repeated(t, func(w *weekly) {
				s := w.create(w.order(2), w.sam)
				w.untilRun(s, series.Lead+5*time.Second)
				w.halt()
				w.Know("CLINIC")
				w.Pass(10 * time.Second)
				ctx, cancel := context.WithCancel(context.Background())
				done := make(chan struct{})
				go func() { _ = lists.NewImporter(w.Desk.Lists, w.DB).Run(ctx); close(done) }()
				ordered := false
				meddler := meddling{w.Desk.Lists, func() {
					if _, err := order(w, s.ID); err != nil {
						t.Error(err)
					}
					ordered = true
				}}
				var err error
				for range 60 {
					if err = w.Desk.Advance(w.Ctx, s.ID, meddler); ordered || err != nil {
						break
					}
					w.Pass(time.Second)
				}
				cancel()
				<-done
				if !ordered || !errors.Is(err, sms.ErrConflict) {
					t.Errorf("ordered %v, %v", ordered, err)
				}
				if again := w.Desk.Advance(w.Ctx, s.ID, w.Desk.Lists); again != nil {
					t.Error(again)
				}
				due, err := w.DB.DueCampaigns(w.Ctx, w.Clocks.Wall().Add(48*time.Hour).UnixMilli())
				if err != nil || len(due) > 0 {
					t.Errorf("scheduled: %v %v", due, err)
				}
			})
		})
	}
}
