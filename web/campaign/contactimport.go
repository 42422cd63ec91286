package campaign

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// ImportList is the address of a list whose rows become contacts.
const ImportList = views.ImportPath + "/{uid}"

func (s *uploads) ImportForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.showImport(w, r, v, http.StatusOK, nil)
}

func (s *uploads) showImport(w http.ResponseWriter, r *http.Request, v *page.Visit, status int, bad sms.Invalid) error {
	ctx, a := r.Context(), v.Account
	p := views.UploadPage{Formatter: s.Formatter(v, a), NoAccount: a.ID == 0, Errors: bad,
		Example: [][]string{{"Phone", "Name", "Town", "Paid", "Tags"},
			{"08030000101", "Ada Obi", "Ibadan", "no", "Parents"}, {"08030000102", "Bola Ade", "Lagos", "yes", "Parents, Board"}}}
	if p.NoAccount && v.User.Role.AtLeast(sms.Administrator) {
		p.Settings = views.Link{Text: "Connect an account", Href: views.NewAccountPath}
	}
	var err error
	if p.Form, err = s.uploadFile(ctx, a.ID, ""); err != nil {
		return err
	}
	p.Form.Error, p.Form.Action = bad["file"], views.ImportPath
	lists, err := s.store.Lists(ctx, a.ID, v.User.ID, listsShown)
	if err != nil {
		return err
	}
	p.Lists = slices.DeleteFunc(lists, func(l sms.List) bool { return l.Purpose != sms.ForContacts })
	f := v.Frame("Import contacts", "contacts")
	f.Crumbs, f.Error = []views.Link{{Text: "Contacts", Href: views.ContactsPath}}, len(bad) > 0
	return s.Render(w, r, status, views.ContactUpload(f, p))
}

// importPage is the form as the desk proposes it.
func (s *uploads) importPage(r *http.Request, v *page.Visit, l sms.List,
	a sms.Account) (views.ContactImportPage, error) {
	p := views.ContactImportPage{ListMessagePage: views.ListMessagePage{Formatter: s.Formatter(v, a), List: l,
		Order: l.Order},
		Fields: l.Order.Fields, Tags: l.Order.Fixed[sms.KeyTag]}
	_, profile, err := s.lists.ListProfile(r.Context(), v.User, l.UID)
	if err == nil {
		drawFile(&p.ListMessagePage, profile)
	}
	return p, err
}

func (s *uploads) ImportColumns(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	l, a, err := s.listOf(r, v)
	if err != nil {
		return err
	}
	if busy(l) || l.State == sms.ListMade || l.Purpose != sms.ForContacts {
		return page.Redirect(w, r, views.ListNext(l))
	}
	p, err := s.importPage(r, v, l, a)
	if err != nil {
		return s.unreadable(w, r, v, l, a, err)
	}
	return s.showImportColumns(w, r, v, p, a, http.StatusOK)
}

func (s *uploads) showImportColumns(w http.ResponseWriter, r *http.Request, v *page.Visit, p views.ContactImportPage,
	a sms.Account, status int) error {
	f := page.About(v.Frame("Match the columns", "contacts"), v, a)
	f.Crumbs = []views.Link{{Text: "Contacts", Href: views.ContactsPath},
		{Text: "Import contacts", Href: views.ImportPath}}
	f.Path, f.Error = views.ListStart(p.List), len(p.Errors) > 0
	return s.Render(w, r, status, views.ContactImport(f, p))
}

// ImportCheck answers every button of the form.
func (s *uploads) ImportCheck(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	l, a, err := s.listOf(r, v)
	if err != nil {
		return err
	}
	if busy(l) || l.State == sms.ListMade || l.Purpose != sms.ForContacts {
		return s.redirectToList(w, r, l)
	}
	p, err := s.importPage(r, v, l, a)
	if err != nil {
		return s.unreadable(w, r, v, l, a, err)
	}
	form := r.PostForm
	if form.Get("do") == "read" {
		fresh, err := s.lists.ReadList(r.Context(), v.User, l.UID, readingFrom(form, l.Reading))
		if errors.As(err, &p.Errors) {
			return s.showImportColumns(w, r, v, p, a, http.StatusUnprocessableEntity)
		}
		if err != nil && !errors.Is(err, sms.ErrConflict) {
			return err
		}
		return s.redirectToList(w, r, fresh)
	}
	chooseColumns(&p, form)
	l, err = s.lists.CheckList(r.Context(), v.User, l.UID, page.Number(form.Get("version")), p.Order)
	var bad sms.Invalid
	switch {
	case errors.As(err, &bad):
		p.Errors = bad
		return s.showImportColumns(w, r, v, p, a, http.StatusUnprocessableEntity)
	case errors.Is(err, sms.ErrConflict) && !busy(l) && l.State != sms.ListMade:
		p.List, p.Errors = l, sms.Invalid{"list": "You changed this list in another window. Review it, then check it again"}
		return s.showImportColumns(w, r, v, p, a, http.StatusConflict)
	case err != nil && !errors.Is(err, sms.ErrConflict):
		return err
	}
	return s.redirectToList(w, r, l)
}

// chooseColumns puts what a person chose into the page and its order.
func chooseColumns(p *views.ContactImportPage, form url.Values) {
	columns := p.List.Reading.Columns
	p.Order.Phone, p.Tags = columnOf(form.Get("phone"), len(columns)),
		sms.TidyValue(form.Get("tags"), 10*sms.MaxContactTag)
	p.Order.Fields, p.Order.Fixed = map[string]int{}, map[string]string{sms.KeyTag: p.Tags}
	name := columnOf(form.Get("name"), len(columns))
	for _, text := range form["keep"] {
		at := columnOf(text, len(columns))
		if at < 0 || at == p.Order.Phone || at == name {
			continue
		}
		key := sms.PlaceholderKey(columns[at])
		switch {
		case key == "tags":
			key = sms.KeyTag
		case key == sms.KeyName || key == "":
			key = "column" + strconv.Itoa(at+1)
		}
		if _, taken := p.Order.Fields[key]; !taken {
			p.Order.Fields[key] = at
		}
	}
	if name >= 0 {
		p.Order.Fields[sms.KeyName] = name
	}
	p.Fields = p.Order.Fields
}

// readingFrom is how a form wants a file to be read.
func readingFrom(form url.Values, reading sms.ListReading) sms.ListReading {
	before := reading
	reading.Encoding, reading.Delimiter, reading.Sheet, reading.Hidden = form.Get("encoding"), form.Get("delimiter"),
		form.Get("sheet"), form.Get("hidden") != ""
	if form.Has("header") {
		reading.HeaderRow, _ = strconv.Atoi(form.Get("header"))
	}
	if reading.Sheet != "" && reading.Sheet != before.Sheet && reading.HeaderRow == before.HeaderRow {
		reading.HeaderRow = 0
	}
	return reading
}
