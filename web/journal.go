package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5/middleware"

	"smsdesk/internal/feed"
	"smsdesk/internal/health"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// journals is the page about the journal and older states.
type journals struct {
	*page.Site
	store journalQuestions
	desk  journalOrders
}

// journalQuestions are what journals ask of the storage.
type journalQuestions interface {
	JournalGaps(ctx context.Context, limit int) ([]health.JournalGap, error)
	Question(ctx context.Context) (*health.Question, error)
	RememberedCampaigns(ctx context.Context) ([]health.RememberedSend, error)
	// Setting is "" for what was never set.
	ReadSetting(ctx context.Context, name string) (string, error)
}

// journalOrders are what people do on these pages.
type journalOrders interface {
	AcceptOlderState(ctx context.Context, by sms.User, password string, relation health.Relation, ip string) error
	CloseGap(ctx context.Context, by sms.User, id int64) error
	DeleteRemembered(ctx context.Context, by sms.User, from, before int64) (int64, error)
}

// gapsShown is how many accepted older states are listed.
const gapsShown = 20

// journalPage reads how the journal stands.
func (s *journals) journalPage(r *http.Request, v *page.Visit) (p views.JournalPage, err error) {
	ctx := r.Context()
	p.Formatter = s.Formatter(v, v.Account)
	if p.Question, err = s.store.Question(ctx); err != nil {
		return p, err
	}
	for name, to := range map[string]*string{health.SettingJournal: &p.Folder, health.SettingStuck: &p.Stuck,
		health.SettingAnswering: &p.Problem, health.SettingJournalShared: &p.Shared} {
		if *to, err = s.store.ReadSetting(ctx, name); err != nil {
			return p, err
		}
	}
	if p.Problem == health.AnswerDoing {
		p.Doing, p.Problem = p.Question != nil, ""
	}
	if p.Gaps, err = s.store.JournalGaps(ctx, gapsShown); err != nil {
		return p, err
	}
	p.Remembered, err = s.store.RememberedCampaigns(ctx)
	p.Live = views.Refresh{ID: "journal-live", URL: views.With(views.JournalPath, "was", p.Mark()),
		On: []string{feed.Journal}}
	return p, err
}

func (s *journals) journalShow(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p, err := s.journalPage(r, v)
	if err != nil {
		return err
	}
	if page.IsFragment(r) {
		// What moves is which of its pages this is. The one with the password
		// must not be written over while somebody types.
		if r.URL.Query().Get("was") != p.Mark() {
			return page.Redirect(w, r, views.JournalPath)
		}
		return s.Render(w, r, http.StatusOK, views.JournalLive(p))
	}
	return s.showJournal(w, r, v, p, nil)
}

func (s *journals) showJournal(w http.ResponseWriter, r *http.Request, v *page.Visit, p views.JournalPage,
	bad sms.Invalid) error {
	p.Bad = bad
	f := v.LiveFrame("Journal", "settings", feed.Journal)
	if f.Error = len(bad) > 0; f.Paused {
		p.Live.On = nil
	}
	return s.Render(w, r, page.Status(r, bad), views.JournalShow(f, p))
}

// journalAccept is an administrator's word that the older state is to be worked with.
func (s *journals) journalAccept(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	err := s.desk.AcceptOlderState(r.Context(), v.User, r.PostForm.Get("current"),
		health.Relation(r.PostForm.Get("relation")), middleware.GetClientIP(r.Context()))
	var bad sms.Invalid
	switch {
	case errors.As(err, &bad):
		p, err := s.journalPage(r, v)
		if err != nil {
			return err
		}
		return s.showJournal(w, r, v, p, bad)
	case err != nil && !errors.Is(err, sms.ErrConflict):
		return err
	}
	return page.Redirect(w, r, views.JournalPath)
}

// journalClose ends the warnings about an accepted older state.
func (s *journals) journalClose(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	if r.PostForm.Get("nothing") == "" {
		p, err := s.journalPage(r, v)
		if err != nil {
			return err
		}
		return s.showJournal(w, r, v, p,
			sms.Invalid{"nothing": "Tick the box if you are certain. Otherwise leave the warnings on"})
	}
	if err := s.desk.CloseGap(r.Context(), v.User, page.Number(r.PostForm.Get("gap"))); err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.JournalPath, "gapclosed"))
}

// day reads the day of which something is to be forgotten, in the account's zone.
func day(v *page.Visit, text string) (from, before time.Time, err error) {
	from, err = time.ParseInLocation(time.DateOnly, text, v.Account.Location())
	if err != nil {
		return from, before, sms.ErrNotFound
	}
	return from, from.AddDate(0, 0, 1), nil
}

func (s *journals) journalForgetForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	from, before, err := day(v, r.URL.Query().Get("day"))
	if err != nil {
		return page.Redirect(w, r, views.JournalPath)
	}
	p, err := s.journalPage(r, v)
	if err != nil {
		return err
	}
	f := v.Frame("Forget what was remembered?", "settings")
	f.Crumbs = []views.Link{{Text: "Journal", Href: views.JournalPath}}
	return s.Render(w, r, http.StatusOK, views.JournalForget(f, p.Forgetting(from, before)))
}

func (s *journals) journalForget(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	from, before, err := day(v, r.PostForm.Get("day"))
	if err != nil {
		return err
	}
	if _, err := s.desk.DeleteRemembered(r.Context(), v.User, from.UnixMilli(), before.UnixMilli()); err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.JournalPath, "forgotten"))
}
