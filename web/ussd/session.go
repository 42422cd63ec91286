package ussd

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
	"smsdesk/internal/ussd"
	"smsdesk/views"
	"smsdesk/web/page"
)

// callers are the pages of USSD sessions and of what callers answered.
type callers struct {
	*menubase
	store callerQuestions
	desk  callerOrders
}

// callerQuestions are what callers ask of the storage.
type callerQuestions interface {
	Account(ctx context.Context, id int64) (sms.Account, error)
	CountOpenUSSDSessions(ctx context.Context, account int64) (int64, error)
	AnswerCounts(ctx context.Context, menu int64) ([]ussd.AnswerCount, error)
	Drops(ctx context.Context, menu int64) ([]ussd.Drop, error)
	EachAnswers(ctx context.Context, menu, before int64, do func(answers []ussd.SavedAnswer) bool) error
	EachJoined(ctx context.Context, account int64, list string, do func(j ussd.SignUp) error) error
	JoinedLists(ctx context.Context, account int64) (map[string]int64, error)
	MenuDraft(ctx context.Context, id int64) (ussd.Draft, error)
	MenuVersion(ctx context.Context, id int64, no int) (ussd.Version, error)
	Moves(ctx context.Context, menu int64) ([]ussd.Move, error)
	Menus(ctx context.Context, account int64) ([]ussd.Draft, error)
	// Setting is "" for what was never set.
	ReadSetting(ctx context.Context, name string) (string, error)
	SlowestUSSDSessions(ctx context.Context, account, least int64, limit int) ([]ussd.Session, error)
	USSDSession(ctx context.Context, id int64) (s ussd.Session, steps []ussd.Step, saved []ussd.SavedAnswer, err error)
	USSDSessions(ctx context.Context, f ussd.SessionFilter) (list []ussd.Session, more bool, err error)
}

// callerOrders are what people do on these pages.
type callerOrders interface {
	KeepSessions(ctx context.Context, by sms.User, days string) error
}

const (
	sessionsPage = 50
	// slowOfLate is how far back slow answers are warned of.
	slowOfLate = 24 * time.Hour
	slowMicros = 1_000_000
)

// List is the log of sessions.
func (s *callers) List(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.showSessions(w, r, v, nil, "")
}

func (s *callers) showSessions(w http.ResponseWriter, r *http.Request, v *page.Visit, bad sms.Invalid,
	days string) error {
	p := views.SessionsPage{Formatter: s.Formatter(v, v.Account), NoAccount: v.Account.ID == 0, Bad: bad, Days: days,
		MayKeep: v.User.Role.AtLeast(sms.Administrator), MayExport: v.User.Role.AtLeast(sms.Sender)}
	if kind := r.URL.Query().Get("kind"); kind == "open" || kind == "slow" {
		p.Kind = kind
	}
	if err := s.addSessions(r, v, &p); err != nil {
		return err
	}
	p.Renew = views.Refresh{ID: "sessions-live", URL: sessionsAddress(p.Kind, page.Number(r.URL.Query().Get("before"))),
		On: []string{feed.USSD(v.Account.ID)}}
	if page.IsFragment(r) {
		return s.Render(w, r, http.StatusOK, views.SessionsLive(v.Frame("", "ussd"), p))
	}
	if err := s.addJoined(r, v, &p); err != nil {
		return err
	}
	f := v.LiveFrame("USSD sessions", "ussd", feed.USSD(v.Account.ID))
	p.Mark = views.LiveMarkProps{Path: f.Path, Paused: f.Paused, ReadAt: views.Clock(v.Now())}
	f.Error = len(bad) > 0
	return s.Render(w, r, page.Status(r, bad), views.Sessions(f, p))
}

func sessionsAddress(kind string, before int64) string {
	to := views.With(views.SessionsPath, "kind", kind)
	if before > 0 {
		to = views.With(to, "before", strconv.FormatInt(before, 10))
	}
	return to
}

func (s *callers) addSessions(r *http.Request, v *page.Visit, p *views.SessionsPage) (err error) {
	ctx, account := r.Context(), v.Account.ID
	before := page.Number(r.URL.Query().Get("before"))
	more := false
	if p.Kind == "slow" {
		p.Rows, err = s.store.SlowestUSSDSessions(ctx, account, 0, sessionsPage)
	} else {
		p.Rows, more, err = s.store.USSDSessions(ctx, ussd.SessionFilter{AccountID: account, Open: p.Kind == "open",
			Before: before, Limit: sessionsPage})
	}
	if err != nil {
		return err
	}
	if more {
		p.Next = sessionsAddress(p.Kind, p.Rows[len(p.Rows)-1].ID)
	}
	if before > 0 {
		p.First = sessionsAddress(p.Kind, 0)
	}
	if p.Open, err = s.store.CountOpenUSSDSessions(ctx, account); err != nil {
		return err
	}
	slow, err := s.store.SlowestUSSDSessions(ctx, account, slowMicros, 100)
	for _, x := range slow {
		if s.Now().Sub(time.UnixMilli(x.BegunAt)) < slowOfLate {
			p.Slow++
		}
	}
	if err != nil {
		return err
	}
	p.Names, err = s.menuNames(ctx, account)
	return err
}

func (s *callers) menuNames(ctx context.Context, account int64) (map[int64]string, error) {
	list, err := s.store.Menus(ctx, account)
	names := map[int64]string{}
	for _, d := range list {
		names[d.ID] = d.Menu.Name
	}
	return names, err
}

func (s *callers) addJoined(r *http.Request, v *page.Visit, p *views.SessionsPage) error {
	lists, err := s.store.JoinedLists(r.Context(), v.Account.ID)
	if err != nil {
		return err
	}
	for name, people := range lists {
		l := views.JoinedList{Name: name, People: people}
		if p.MayExport {
			l.Href = views.USSDPath + "/joined.csv?" + url.Values{"list": {name}}.Encode()
		}
		p.Lists = append(p.Lists, l)
	}
	slices.SortFunc(p.Lists, func(a, b views.JoinedList) int { return strings.Compare(a.Name, b.Name) })
	if p.Days == "" {
		if p.Days, err = s.store.ReadSetting(r.Context(), ussd.SettingKeep); p.Days == "" {
			p.Days = strconv.Itoa(ussd.KeepDays)
		}
	}
	return err
}

func (s *callers) Keep(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	days := r.PostForm.Get("days")
	err := s.desk.KeepSessions(r.Context(), v.User, days)
	if bad, ok := errors.AsType[sms.Invalid](err); ok {
		return s.showSessions(w, r, v, bad, days)
	}
	if err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.SessionsPath, "saved"))
}

// Back answers an address that only takes forms.
func (s *callers) Back(w http.ResponseWriter, r *http.Request, _ *page.Visit) error {
	return page.Redirect(w, r, views.SessionsPath)
}

// Show is one session as a conversation.
func (s *callers) Show(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	var err error
	p := views.SessionPage{Titles: map[string]string{}}
	if p.Session, p.Steps, p.Saved, err = s.store.USSDSession(r.Context(), page.PathID(r)); err != nil {
		return err
	}
	a, err := s.store.Account(r.Context(), p.AccountID)
	if err != nil {
		return err
	}
	p.Formatter = s.Formatter(v, a)
	if err := s.addMenu(r.Context(), &p); err != nil {
		return err
	}
	f := page.About(v.Frame("Session", "ussd"), v, a)
	f.Crumbs = []views.Link{{Text: "USSD", Href: views.USSDPath}, {Text: "Sessions", Href: views.SessionsPath}}
	return s.Render(w, r, http.StatusOK, views.SessionShow(f, p))
}

// addMenu finds the version of the menu that the caller walked through.
func (s *callers) addMenu(ctx context.Context, p *views.SessionPage) error {
	p.Menu = "no menu on this code"
	if p.MenuID == 0 {
		return nil
	}
	menu, err := ussd.Menu{}, error(nil)
	if p.Version > 0 {
		var version ussd.Version
		version, err = s.store.MenuVersion(ctx, p.MenuID, p.Version)
		menu = version.Menu
		p.Menu = menu.Name + ", version " + strconv.Itoa(p.Version)
	} else {
		var d ussd.Draft
		d, err = s.store.MenuDraft(ctx, p.MenuID)
		menu = d.Menu
		p.Menu = menu.Name + ", draft"
	}
	if errors.Is(err, sms.ErrNotFound) {
		p.Menu = "deleted menu"
		return nil
	}
	for _, x := range menu.Screens {
		p.Titles[x.Key] = x.Title
	}
	return err
}

// MenuAnswers shows where callers leave and what they answered.
func (s *callers) MenuAnswers(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	d, a, err := s.menu(r)
	if err != nil {
		return err
	}
	p := views.AnswersPage{Formatter: s.Formatter(v, a), Draft: d, MayExport: v.User.Role.AtLeast(sms.Sender)}
	drops, err := s.store.Drops(r.Context(), d.ID)
	if err != nil {
		return err
	}
	p.Drops = dropRows(d.Menu, drops)
	if p.Map.Moves, err = s.store.Moves(r.Context(), d.ID); err != nil {
		return err
	}
	p.Map.Menu, p.Map.ID, p.Map.Drops, p.Map.MayEdit = d.Menu, d.ID, drops, v.User.Role.AtLeast(sms.Manager)
	if p.Counts, err = s.store.AnswerCounts(r.Context(), d.ID); err != nil {
		return err
	}
	var all [][]ussd.SavedAnswer
	err = s.store.EachAnswers(r.Context(), d.ID, page.Number(r.URL.Query().Get("before")),
		func(answers []ussd.SavedAnswer) bool {
			all = append(all, answers)
			return len(all) <= sessionsPage
		})
	if err != nil {
		return err
	}
	if len(all) > sessionsPage {
		all = all[:sessionsPage]
		p.Next = views.With(views.MenuPath(d.ID)+"/answers", "before", strconv.FormatInt(all[len(all)-1][0].SessionID, 10))
	}
	p.Names = views.AnswerNames(d.Menu, all)
	for _, answers := range all {
		p.Rows = append(p.Rows, views.NewAnswerRow(p.Names, answers))
	}
	return s.Render(w, r, http.StatusOK, views.MenuAnswers(menuFrame(v, a, d, "Answers and drop-off"), p))
}

// dropRows puts screens in the order of the menu; those of earlier versions
// come last.
func dropRows(m ussd.Menu, drops []ussd.Drop) (rows []views.ScreenDrop) {
	for _, x := range m.Screens {
		for _, d := range drops {
			if d.Screen == x.Key {
				rows = append(rows, views.ScreenDrop{Title: x.Title, Drop: d})
			}
		}
	}
	for _, d := range drops {
		if _, there := m.Screen(d.Screen); !there {
			rows = append(rows, views.ScreenDrop{Title: d.Screen + " (removed from the menu)", Drop: d})
		}
	}
	return rows
}

// AnswersExport gives the answers of a menu, one row a caller.
func (s *callers) AnswersExport(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	d, _, err := s.menu(r)
	if err != nil {
		return err
	}
	// Two passes: the columns must be known before the first row.
	var all [][]ussd.SavedAnswer
	known := map[string]bool{}
	if err := s.store.EachAnswers(r.Context(), d.ID, 0, func(answers []ussd.SavedAnswer) bool {
		for _, a := range answers {
			if !known[a.Name] {
				known[a.Name] = true
				all = append(all, answers)
			}
		}
		return r.Context().Err() == nil
	}); err != nil {
		return err
	}
	names := views.AnswerNames(d.Menu, all)
	out := page.CSVAnswer(w, "ussd-answers-"+v.Now().Format("2006-01-02"))
	out.Write(append([]string{"Phone number", "Last answer", "Session"}, names...)...)
	err = s.store.EachAnswers(r.Context(), d.ID, 0, func(answers []ussd.SavedAnswer) bool {
		row := views.NewAnswerRow(names, answers)
		out.Write(append([]string{row.Number, v.At(row.At).Format(time.RFC3339), strconv.FormatInt(row.Session, 10)},
			row.Answers...)...)
		return r.Context().Err() == nil
	})
	return s.Finish(out, err)
}

// JoinedExport gives the callers on a list.
func (s *callers) JoinedExport(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	out := page.CSVAnswer(w, "ussd-list-"+v.Now().Format("2006-01-02"))
	out.Write("Phone number", "Joined")
	err := s.store.EachJoined(r.Context(), v.Account.ID, r.URL.Query().Get("list"), func(j ussd.SignUp) error {
		out.Write(j.Number, v.At(j.At).Format(time.RFC3339))
		return r.Context().Err()
	})
	return s.Finish(out, err)
}
