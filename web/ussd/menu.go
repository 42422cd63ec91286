package ussd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"smsdesk/internal/sms"
	"smsdesk/internal/ussd"
	"smsdesk/views"
	"smsdesk/web/page"
)

// menus are the pages of USSD menus and the simulator.
type menus struct {
	*menubase
	store menuQuestions
	desk  menuOrders
	press func(ctx context.Context, account int64, p ussd.PhoneInput) (ussd.PhoneOutput, error)
	try   func(session string, d ussd.Draft)
}

// menuQuestions are what menus ask of the storage.
type menuQuestions interface {
	MenuDraft(ctx context.Context, id int64) (ussd.Draft, error)
	MenuVersion(ctx context.Context, id int64, no int) (ussd.Version, error)
	MenuVersions(ctx context.Context, id int64) ([]ussd.Version, error)
	Menus(ctx context.Context, account int64) ([]ussd.Draft, error)
}

// menuOrders are what people do on these pages.
type menuOrders interface {
	CreateMenu(ctx context.Context, by sms.User, account int64, m ussd.Menu) (id int64, err error)
	DeleteMenu(ctx context.Context, by sms.User, id int64) error
	EditMenu(ctx context.Context, by sms.User, id, revision int64, edit func(m *ussd.Menu) error) (ussd.Draft, error)
	PublishMenu(ctx context.Context, by sms.User, id, revision int64) (no int, err error)
	RestoreMenu(ctx context.Context, by sms.User, id, revision int64, no int) error
	WithdrawMenu(ctx context.Context, by sms.User, id int64) error
}

// menubase finds the menu that a USSD page is about.
type menubase struct {
	*page.Site
	store menuBaseQuestions
}

// menuBaseQuestions are what menubase ask of the storage.
type menuBaseQuestions interface {
	Account(ctx context.Context, id int64) (sms.Account, error)
	MenuDraft(ctx context.Context, id int64) (ussd.Draft, error)
}

const (
	// Whatever else follows /ussd/ is a token, and must reach neither a page nor
	// a log.
	MenuPath = views.USSDPath + "/menus/{id}"
)

// List shows the menus of the account.
func (s *menus) List(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p := views.MenusPage{Formatter: s.Formatter(v, v.Account), MayEdit: v.User.Role.AtLeast(sms.Manager),
		NoAccount: v.Account.ID == 0}
	list, err := s.store.Menus(r.Context(), v.Account.ID)
	if err != nil {
		return err
	}
	for _, d := range list {
		row := views.MenuRow{Draft: d}
		if row.Newer, err = s.newer(r.Context(), d); err != nil {
			return err
		}
		for _, x := range ussd.Check(d.Menu) {
			if x.Stops {
				row.Problems++
			}
		}
		p.Rows = append(p.Rows, row)
	}
	return s.Render(w, r, http.StatusOK, views.Menus(v.Frame("USSD", "ussd"), p))
}

// newer says that the draft differs from what callers get.
func (s *menus) newer(ctx context.Context, d ussd.Draft) (bool, error) {
	if d.Published == 0 {
		return false, nil
	}
	now, err := s.store.MenuVersion(ctx, d.ID, d.Published)
	return len(ussd.Diff(now.Menu, d.Menu)) > 0, err
}

func (s *menus) NewForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.showNewMenu(w, r, v, views.NewMenuPage{Chosen: "0"})
}

func (s *menus) showNewMenu(w http.ResponseWriter, r *http.Request, v *page.Visit, p views.NewMenuPage) error {
	f := v.Frame("New menu", "ussd")
	f.Crumbs, f.Error = []views.Link{{Text: "USSD", Href: views.USSDPath}}, len(p.Bad) > 0
	return s.Render(w, r, page.Status(r, p.Bad), views.NewMenu(f, p))
}

func (s *menus) Create(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	file, _, err := page.Uploaded(r, "file")
	if err != nil {
		return err
	}
	p := views.NewMenuPage{Chosen: r.PostForm.Get("from")}
	m, bad := menuFrom(p.Chosen, file)
	if p.Bad = bad; len(bad) > 0 {
		return s.showNewMenu(w, r, v, p)
	}
	menu, err := s.desk.CreateMenu(r.Context(), v.User, v.Account.ID, m)
	if err != nil {
		return err
	}
	return page.Redirect(w, r, views.MenuPath(menu))
}

func menuFrom(chosen string, file []byte) (ussd.Menu, sms.Invalid) {
	switch n, err := strconv.Atoi(chosen); {
	case chosen == "file" && len(file) == 0:
		return ussd.Menu{}, sms.Invalid{"file": "Select a menu file"}
	case chosen == "file":
		m, sentence := ussd.ReadMenu(file)
		if sentence != "" {
			return m, sms.Invalid{"file": sentence}
		}
		return m, nil
	case chosen == "empty":
		return ussd.Menu{Name: "New menu", Languages: []ussd.Language{{Code: "en", Name: "English"}},
			Screens: []ussd.Screen{{Key: "start", Title: "Start", Kind: ussd.Choose, Text: ussd.Words{}}}}, nil
	case err == nil && n >= 0 && n < len(ussd.Examples()):
		return ussd.Examples()[n], nil
	}
	return ussd.Menu{}, sms.Invalid{"from": "Choose a starting point"}
}

// menu is the menu that the address names.
func (s *menubase) menu(r *http.Request) (ussd.Draft, sms.Account, error) {
	id := page.PathID(r)
	d, err := s.store.MenuDraft(r.Context(), id)
	if err != nil {
		return d, sms.Account{}, err
	}
	a, err := s.store.Account(r.Context(), d.AccountID)
	return d, a, err
}

func menuFrame(v *page.Visit, a sms.Account, d ussd.Draft, title string) views.PageFrame {
	f := page.About(v.Frame(title, "ussd"), v, a)
	f.Crumbs = []views.Link{{Text: "USSD", Href: views.USSDPath}}
	if title != d.Menu.Name {
		f.Crumbs = append(f.Crumbs, views.Link{Text: d.Menu.Name, Href: views.MenuPath(d.ID)})
	}
	return f
}

// Edit is the editor: the outline, and one screen on a phone.
func (s *menus) Edit(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	d, a, err := s.menu(r)
	if err != nil {
		return err
	}
	p := views.MenuPage{Formatter: s.Formatter(v, a), Draft: d, Found: ussd.Check(d.Menu),
		MayEdit: v.User.Role.AtLeast(sms.Manager)}
	if p.Newer, err = s.newer(r.Context(), d); err != nil {
		return err
	}
	key := r.URL.Query().Get("screen")
	if _, ok := d.Menu.Screen(key); !ok && len(d.Menu.Screens) > 0 {
		key = d.Menu.Screens[0].Key
	}
	p.Shown = preview(d.Menu, key, r.URL.Query().Get("lang"))
	p.Shown.Base = views.With(views.MenuPath(d.ID), "screen", key)
	return s.Render(w, r, http.StatusOK, views.MenuEditor(menuFrame(v, a, d, d.Menu.Name), p))
}

// preview is a screen as a caller sees it, with the names of values that only
// callers bring.
func preview(m ussd.Menu, key, language string) views.MenuPreview {
	p := ussd.NewProgram(m)
	screen, _ := m.Screen(key)
	if !slices.ContainsFunc(m.Languages, func(l ussd.Language) bool {
		return l.Code == language
	}) && len(m.Languages) > 0 {
		language = m.Languages[0].Code
	}
	out := views.MenuPreview{Key: key, Title: screen.Title, Language: language, Languages: m.Languages}
	out.Long, _ = p.Longest(key, language)
	out.Pages = p.Preview(key, language)
	return out
}

// Order adds, moves and removes screens.
func (s *menus) Order(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	key, do := r.PostForm.Get("key"), r.PostForm.Get("do")
	_, err := s.desk.EditMenu(r.Context(), v.User, id, page.Number(r.PostForm.Get("revision")), func(m *ussd.Menu) error {
		at := slices.IndexFunc(m.Screens, func(x ussd.Screen) bool { return x.Key == key })
		switch {
		case do == "add" && len(m.Screens) < ussd.MaxScreens:
			key = m.NewKey()
			m.Screens = append(m.Screens, ussd.Screen{Key: key, Title: "New screen", Kind: ussd.Finish, Text: ussd.Words{}})
		case do == "up" && at > 0:
			m.Screens[at-1], m.Screens[at] = m.Screens[at], m.Screens[at-1]
		case do == "down" && at >= 0 && at+1 < len(m.Screens):
			m.Screens[at], m.Screens[at+1] = m.Screens[at+1], m.Screens[at]
		case do == "remove" && at >= 0:
			m.Screens = slices.Delete(m.Screens, at, at+1)
		default:
			return sms.ErrConflict
		}
		return nil
	})
	if err != nil {
		return err
	}
	switch do {
	case "add":
		page.Redirect(w, r, views.With(views.MenuPath(id)+"/screen", "key", key))
	case "remove":
		page.Redirect(w, r, views.MenuPath(id))
	default:
		page.Redirect(w, r, views.With(views.MenuPath(id), "screen", key)+"#screen-"+key)
	}
	return nil
}

// Back answers an address that only takes forms.
func (s *menus) Back(w http.ResponseWriter, r *http.Request, _ *page.Visit) error {
	id := page.PathID(r)
	return page.Redirect(w, r, views.MenuPath(id))
}

func (s *menus) PublishForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.showPublish(w, r, v, nil)
}

func (s *menus) showPublish(w http.ResponseWriter, r *http.Request, v *page.Visit, bad sms.Invalid) error {
	d, a, err := s.menu(r)
	if err != nil {
		return err
	}
	p := views.PublishPage{Draft: d, Found: ussd.Check(d.Menu), Bad: bad}
	if d.Published > 0 {
		now, err := s.store.MenuVersion(r.Context(), d.ID, d.Published)
		if err != nil {
			return err
		}
		p.Changes = ussd.Diff(now.Menu, d.Menu)
	}
	f := menuFrame(v, a, d, "Publish "+d.Menu.Name+"?")
	f.Error = len(bad) > 0
	return s.Render(w, r, page.Status(r, bad), views.PublishMenu(f, p))
}

func (s *menus) Publish(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	_, err := s.desk.PublishMenu(r.Context(), v.User, id, page.Number(r.PostForm.Get("revision")))
	return page.Form(s.showPublish).Done(w, r, v, err, page.WithDone(views.MenuPath(id), "published"))
}

func (s *menus) Versions(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	d, a, err := s.menu(r)
	if err != nil {
		return err
	}
	p := views.VersionsPage{Formatter: s.Formatter(v, a), Draft: d, MayEdit: v.User.Role.AtLeast(sms.Manager)}
	if p.Versions, err = s.store.MenuVersions(r.Context(), d.ID); err != nil {
		return err
	}
	return s.Render(w, r, http.StatusOK, views.MenuVersions(menuFrame(v, a, d, "Versions"), p))
}

// RestoreForm shows what becomes of the draft.
func (s *menus) RestoreForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	if !r.URL.Query().Has("version") {
		return s.Back(w, r, v)
	}
	d, a, err := s.menu(r)
	if err != nil {
		return err
	}
	version, err := s.store.MenuVersion(r.Context(), d.ID, int(page.Number(r.URL.Query().Get("version"))))
	if err != nil {
		return err
	}
	p := views.RestorePage{Draft: d, Version: version, Changes: ussd.Diff(d.Menu, version.Menu)}
	return s.Render(w, r, http.StatusOK, views.RestoreMenu(menuFrame(v, a, d, "Make an earlier version the draft?"), p))
}

func (s *menus) Restore(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	if err := s.desk.RestoreMenu(r.Context(), v.User, id, page.Number(r.PostForm.Get("revision")),
		int(page.Number(r.PostForm.Get("version")))); err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.MenuPath(id), "restored"))
}

// Ask shows the page before a menu is withdrawn or deleted.
func (s *menus) Ask(remove bool) page.Handler {
	return func(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
		return s.showAsk(w, r, v, remove, nil)
	}
}

func (s *menus) showAsk(w http.ResponseWriter, r *http.Request, v *page.Visit, remove bool, bad sms.Invalid) error {
	d, a, err := s.menu(r)
	if err != nil {
		return err
	}
	title := "Withdraw this menu?"
	if remove {
		title = "Delete this menu?"
	}
	f := menuFrame(v, a, d, title)
	f.Error = len(bad) > 0
	return s.Render(w, r, page.Status(r, bad), views.AskMenu(f, views.AskMenuPage{Draft: d, Delete: remove, Bad: bad}))
}

func (s *menus) End(remove bool) page.Handler {
	return func(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
		id := page.PathID(r)
		to, order := page.WithDone(views.MenuPath(id), "withdrawn"), s.desk.WithdrawMenu
		if remove {
			to, order = page.WithDone(views.USSDPath, "menudeleted"), s.desk.DeleteMenu
		}
		err := order(r.Context(), v.User, id)
		if bad, ok := errors.AsType[sms.Invalid](err); ok {
			return s.showAsk(w, r, v, remove, bad)
		}
		if err != nil {
			return err
		}
		return page.Redirect(w, r, to)
	}
}

// Export gives the draft as a file that can be read in again.
func (s *menus) Export(w http.ResponseWriter, r *http.Request, _ *page.Visit) error {
	d, _, err := s.menu(r)
	if err != nil {
		return err
	}
	raw, err := json.MarshalIndent(d.Menu, "", "  ")
	if err != nil {
		return fmt.Errorf("write menu: %w", err)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="menu-`+strings.ReplaceAll(d.Menu.Code, "*", "-")+`.json"`)
	_, _ = w.Write(raw)
	return nil
}
