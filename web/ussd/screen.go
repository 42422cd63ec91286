package ussd

import (
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"smsdesk/internal/sms"
	"smsdesk/internal/ussd"
	"smsdesk/views"
	"smsdesk/web/page"
)

// screen is the screen that the address names.
func (s *menus) screen(r *http.Request) (p views.ScreenPage, a sms.Account, err error) {
	if p.Draft, a, err = s.menu(r); err != nil {
		return p, a, err
	}
	var ok bool
	if p.Screen, ok = p.Menu.Screen(r.URL.Query().Get("key")); !ok {
		return p, a, fmt.Errorf("screen: %w", sms.ErrNotFound)
	}
	return p, a, nil
}

// ScreenForm shows the form of one screen.
func (s *menus) ScreenForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p, a, err := s.screen(r)
	if err != nil {
		return err
	}
	p.Shown = preview(p.Menu, p.Screen.Key, r.URL.Query().Get("lang"))
	for _, x := range ussd.Check(p.Menu) {
		if x.Screen == p.Screen.Key {
			p.Found = append(p.Found, x)
		}
	}
	return s.Render(w, r, http.StatusOK, views.MenuScreen(menuFrame(v, a, p.Draft, p.Screen.Title), p))
}

// ScreenRemoveForm says what is lost with a screen; menuOrder removes it.
func (s *menus) ScreenRemoveForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p, a, err := s.screen(r)
	if err != nil {
		return err
	}
	return s.Render(w, r, http.StatusOK, views.RemoveScreen(menuFrame(v, a, p.Draft, "Remove this screen?"), p))
}

// ScreenSave stores the form in the draft. What is not right yet is stored
// too, and listed: only publishing asks for a whole menu.
func (s *menus) ScreenSave(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	key := r.PostForm.Get("key")
	_, err := s.desk.EditMenu(r.Context(), v.User, id, page.Number(r.PostForm.Get("revision")), func(m *ussd.Menu) error {
		for i := range m.Screens {
			if m.Screens[i].Key == key {
				m.Screens[i] = readScreen(r.PostForm, *m, m.Screens[i])
				return nil
			}
		}
		return sms.ErrNotFound
	})
	if err != nil {
		return err
	}
	if r.PostForm.Get("do") == "more" {
		return page.Redirect(w, r, page.WithDone(views.With(views.MenuPath(id)+"/screen", "key", key), "saved"))
	}
	return page.Redirect(w, r, page.WithDone(views.With(views.MenuPath(id), "screen", key), "saved"))
}

// ScreenPreview is the phone beside the form while somebody types.
func (s *menus) ScreenPreview(w http.ResponseWriter, r *http.Request, _ *page.Visit) error {
	d, _, err := s.menu(r)
	if err != nil {
		return err
	}
	key := r.PostForm.Get("key")
	for i, x := range d.Menu.Screens {
		if x.Key == key {
			d.Menu.Screens[i] = readScreen(r.PostForm, d.Menu, x)
		}
	}
	return s.Render(w, r, http.StatusOK, views.PhonePreview(preview(d.Menu, key, "")))
}

// readScreen reads the form of a screen. Fields that the form did not show,
// because the screen was of another kind, stay as they were.
func readScreen(f url.Values, m ussd.Menu, s ussd.Screen) ussd.Screen {
	was := s.Kind
	s.Title, s.Kind, s.Text = written(f, "title", 60), ussd.Kind(f.Get("kind")), words(f, m, "text", -1)
	if was != ussd.Finish {
		s.Save, s.Record, s.Back = written(f, "save", 40), f.Get("record") != "", f.Get("back") != ""
	}
	table, column := cell(m, f.Get("cell"))
	switch was {
	case ussd.Choose:
		s.Choices = readChoices(f, m)
	case ussd.Ask:
		s.Next = f.Get("next")
		s.Rule = ussd.Rule{Form: ussd.Form(f.Get("form")), Min: int(page.Number(f.Get("min"))),
			Max: int(page.Number(f.Get("max"))), Table: table, Column: column, Wrong: words(f, m, "wrong", -1)}
	case ussd.Pick:
		s.Next, s.Table, s.Column = f.Get("next"), table, column
	}
	s.Does = nil
	for i := 0; f.Has(views.ScreenField("deed", i, "")); i++ {
		at := func(name string) string { return written(f, views.ScreenField(name, i, ""), 500) }
		a := ussd.Action{Kind: ussd.ActionKind(at("deed")), List: at("list"), Into: at("into"), By: at("by"), URL: at("url"),
			Fallback: at("fallback"), Otherwise: at("otherwise")}
		a.Table, a.Column = cell(m, at("cell"))
		if a.Kind != "" && len(s.Does) < 10 {
			s.Does = append(s.Does, a)
		}
	}
	return s
}

func readChoices(f url.Values, m ussd.Menu) (list []ussd.Choice) {
	for i := 0; f.Has(views.ScreenField("next", i, "")); i++ {
		c := ussd.Choice{Text: words(f, m, "choice", i), Next: f.Get(views.ScreenField("next", i, "")),
			Language: f.Get(views.ScreenField("language", i, ""))}
		if len(c.Text) > 0 {
			list = append(list, c)
		}
	}
	return list
}

func written(f url.Values, name string, most int) string {
	return strings.TrimSpace(page.FirstLetters(page.Lines(strings.ToValidUTF8(f.Get(name), "")), most))
}

func words(f url.Values, m ussd.Menu, name string, n int) ussd.Words {
	w := ussd.Words{}
	for _, l := range m.Languages {
		if text := written(f, views.ScreenField(name, n, l.Code), 2000); text != "" {
			w[l.Code] = text
		}
	}
	if len(w) == 0 {
		return nil
	}
	return w
}

// cell finds the table and column that a select names.
func cell(m ussd.Menu, name string) (table, column string) {
	for _, t := range m.Tables {
		for _, c := range t.Columns {
			if views.Cell(t.Name, c) == name {
				return t.Name, c
			}
		}
	}
	return "", ""
}

func (s *menus) Settings(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	d, a, err := s.menu(r)
	if err != nil {
		return err
	}
	return s.Render(w, r, http.StatusOK, views.MenuSettings(menuFrame(v, a, d, "Code, languages and tables"),
		views.MenuSettingsPage{Draft: d}))
}

func (s *menus) SettingsSave(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	d, a, err := s.menu(r)
	if err != nil {
		return err
	}
	revision := page.Number(r.PostForm.Get("revision"))
	draft, err := s.desk.EditMenu(r.Context(), v.User, d.ID, revision, func(m *ussd.Menu) error {
		bad := readSettings(r.PostForm, m)
		return bad.Or()
	})
	if bad, ok := errors.AsType[sms.Invalid](err); ok {
		draft.Revision = revision
		f := menuFrame(v, a, d, "Code, languages and tables")
		f.Error = true
		return s.Render(w, r, http.StatusUnprocessableEntity,
			views.MenuSettings(f, views.MenuSettingsPage{Draft: draft, Bad: bad}))
	}
	if err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.MenuPath(d.ID), "saved"))
}

func readSettings(f url.Values, m *ussd.Menu) sms.Invalid {
	bad := sms.Invalid{}
	m.Name, m.Code = written(f, "name", 60), strings.Trim(written(f, "code", 30), "*# ")
	if m.Name == "" {
		bad["name"] = "Enter a name for the menu"
	}
	if m.Code == "" || strings.Trim(m.Code, "0123456789*") != "" {
		bad["code"] = "Short code must be digits, for example 347 or 347*12"
	}
	m.Networks = nil
	for _, n := range ussd.Networks() {
		if f.Get("on-"+n) != "" {
			m.Networks = append(m.Networks, n)
		}
	}
	var languages []ussd.Language
	for i := 0; f.Has(views.ScreenField("code", i, "")) && len(languages) < ussd.MaxLanguages; i++ {
		at := func(name string) string { return written(f, views.ScreenField(name, i, ""), 60) }
		l := ussd.Language{Code: strings.ToLower(at("code")), Name: at("name"), Back: at("back"), More: at("more"),
			Wrong: at("wrong")}
		if l.Name != "" && l.Code == "" {
			l.Code = strings.ToLower(page.FirstLetters(l.Name, 2))
		}
		if l.Name != "" {
			languages = append(languages, l)
		}
	}
	if len(languages) > 0 {
		m.Languages = languages
	}
	var tables []ussd.Table
	for i := 0; f.Has(views.ScreenField("table", i, "")); i++ {
		name := written(f, views.ScreenField("table", i, ""), 40)
		if name == "" {
			continue
		}
		t, sentence := readTable(name, page.Lines(f.Get(views.ScreenField("rows", i, ""))))
		if sentence != "" {
			bad[views.ScreenField("rows", i, "")] = sentence
		}
		tables = append(tables, t)
	}
	m.Tables = tables
	return bad
}

// readTable reads rows as they are typed or pasted from a spreadsheet.
func readTable(name, text string) (ussd.Table, string) {
	t := ussd.Table{Name: name}
	c := csv.NewReader(strings.NewReader(strings.ToValidUTF8(text, "")))
	c.FieldsPerRecord, c.LazyQuotes, c.TrimLeadingSpace = -1, true, true
	if first, _, _ := strings.Cut(text, "\n"); strings.Contains(first, "\t") {
		c.Comma = '\t'
	}
	rows, err := c.ReadAll()
	if err != nil {
		return t, "We cannot read the rows: " + err.Error()
	}
	if len(rows) < 2 {
		return t, "Enter the column names and at least one row"
	}
	if len(rows)-1 > ussd.MaxRows {
		return t, "A table has at most " + strconv.Itoa(ussd.MaxRows) + " rows"
	}
	t.Columns, t.Rows = rows[0], rows[1:]
	for i, row := range t.Rows {
		if len(row) > len(t.Columns) {
			return t, fmt.Sprintf("Row %d has %d cells. It must have %d", i+1, len(row), len(t.Columns))
		}
	}
	return t, ""
}
