package web

import (
	"errors"
	"net/http"
	"strconv"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// audiencesCounted is how many audiences a page counts.
const audiencesCounted = 20

func (s *people) audienceList(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	ctx := r.Context()
	p := views.AudienceListPage{Formatter: s.Formatter(v, v.Account), NoAccount: v.Account.ID == 0,
		MayChange: v.User.Role.AtLeast(sms.Sender), Counts: map[int64]int64{}}
	var err error
	if p.Rows, err = s.store.Audiences(ctx, v.Account.ID, audiencesShown); err != nil {
		return err
	}
	if p.Columns, err = s.store.ContactColumns(ctx, v.Account.ID); err != nil {
		return err
	}
	for _, a := range p.Rows[:min(len(p.Rows), audiencesCounted)] {
		if p.Counts[a.ID], err = s.store.CountAudience(ctx, a); err != nil {
			return err
		}
	}
	return s.Render(w, r, http.StatusOK, views.AudienceList(v.Frame("Audiences", "contacts"), p))
}

// audienceOf is the audience of the address, of the chosen account only; the
// zero one at the address of a new one.
func (s *people) audienceOf(r *http.Request, v *page.Visit) (sms.Audience, error) {
	if r.PathValue("id") == "" {
		return sms.Audience{AccountID: v.Account.ID, Kind: sms.Filtered}, nil
	}
	id := page.PathID(r)
	a, err := s.store.Audience(r.Context(), id)
	if err == nil && a.AccountID != v.Account.ID {
		err = sms.ErrNotFound
	}
	return a, err
}

func (s *people) audienceShow(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	a, err := s.audienceOf(r, v)
	if err != nil {
		return err
	}
	p := views.AudiencePage{Audience: a, Name: a.Name}
	p.Filter = a.Filter
	return s.showAudience(w, r, v, p, http.StatusOK)
}

func (s *people) showAudience(w http.ResponseWriter, r *http.Request, v *page.Visit, p views.AudiencePage,
	status int) error {
	ctx, q := r.Context(), r.URL.Query()
	p.Formatter, p.MayChange, p.Token = s.Formatter(v, v.Account), v.User.Role.AtLeast(sms.Sender), desk.NewToken()
	var err error
	if p.Columns, err = s.store.ContactColumns(ctx, v.Account.ID); err != nil {
		return err
	}
	p.Counted = p.Audience.ID > 0 || !p.Filter.Everybody()
	if p.Counted && len(p.Bad) == 0 {
		now := p.Audience
		now.Filter = p.Filter
		f := sms.ContactFilter{AccountID: v.Account.ID, Filter: p.Filter, Before: page.Number(q.Get("before")),
			Limit: contactsShown}
		if now.Kind == sms.Picked {
			f.Audience = now.ID
		}
		var more bool
		if p.Rows, more, err = s.store.Contacts(ctx, f); err != nil {
			return err
		}
		if p.Count, err = s.store.CountAudience(ctx, now); err != nil {
			return err
		}
		if p.Blocked, err = s.store.CountBlockedIn(ctx, now); err != nil {
			return err
		}
		if p.Audience.ID > 0 {
			p.First, p.Next = contactPages(views.AudiencePath(p.Audience.ID, ""), nil, f, p.Rows, more)
		}
	}
	f := v.Frame(p.Title(), "contacts")
	f.Crumbs = []views.Link{{Text: "Contacts", Href: views.ContactsPath}, {Text: "Audiences", Href: views.AudiencesPath}}
	f.Error = status >= http.StatusBadRequest
	if p.Audience.ID > 0 {
		f.Path = views.AudiencePath(p.Audience.ID, "")
	}
	return s.Render(w, r, status, views.AudienceShow(f, p))
}

// audienceSave saves an audience, or shows who would be in it.
func (s *people) audienceSave(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	a, err := s.audienceOf(r, v)
	if err != nil {
		return err
	}
	form, stored := r.PostForm, a
	a.Version = page.Number(form.Get("version")) // as it was seen, also after a preview
	p := views.AudiencePage{Audience: a, Name: form.Get("name")}
	p.Filter = readFilter(form)
	if form.Get("do") == "preview" {
		columns, err := s.store.ContactColumns(r.Context(), v.Account.ID)
		if err != nil {
			return err
		}
		if errors.As(p.Filter.Check(columns), &p.Bad) {
			return s.showAudience(w, r, v, p, http.StatusUnprocessableEntity)
		}
		return s.showAudience(w, r, v, p, http.StatusOK)
	}
	saved, err := s.desk.SaveAudience(r.Context(), v.User,
		desk.AudienceOrder{ID: a.ID, Version: a.Version, AccountID: v.Account.ID, Name: p.Name, Kind: a.Kind,
			Filter: p.Filter})
	var bad sms.Invalid
	switch {
	case errors.As(err, &bad):
		p.NameProblem = bad["name"]
		delete(bad, "name")
		p.Bad = bad
		return s.showAudience(w, r, v, p, http.StatusUnprocessableEntity)
	case errors.Is(err, sms.ErrConflict):
		p.Audience, p.Changed = stored, true
		return s.showAudience(w, r, v, p, http.StatusConflict)
	case err != nil:
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.AudiencePath(saved.ID, ""), "saved"))
}

// audienceSend makes a list of the people and asks for the message.
func (s *people) audienceSend(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	a, err := s.audienceOf(r, v)
	if err != nil {
		return err
	}
	l, err := s.lists.ListAudience(r.Context(), v.User, v.Account.ID, a.ID, r.PostForm.Get("token"))
	if bad, ok := errors.AsType[sms.Invalid](err); ok {
		p := views.AudiencePage{Audience: a, Name: a.Name, AudienceBad: bad[firstKey(bad)]}
		p.Filter = a.Filter
		return s.showAudience(w, r, v, p, http.StatusUnprocessableEntity)
	}
	if err != nil {
		return err
	}
	return page.Redirect(w, r, views.ListNext(l))
}

func firstKey(bad sms.Invalid) string {
	for key := range bad {
		return key
	}
	return ""
}

func (s *people) audienceRemove(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	a, err := s.audienceOf(r, v)
	if err != nil {
		return err
	}
	var chosen []int64
	for _, text := range r.PostForm["contact"] {
		if id := page.Number(text); id > 0 && len(chosen) < contactsShown {
			chosen = append(chosen, id)
		}
	}
	_, err = s.desk.ChangeMembers(r.Context(), v.User, v.Account.ID, a.ID, chosen, false)
	if bad, ok := errors.AsType[sms.Invalid](err); ok {
		p := views.AudiencePage{Audience: a, Name: a.Name, ContactsFail: bad[firstKey(bad)]}
		p.Filter = a.Filter
		return s.showAudience(w, r, v, p, http.StatusUnprocessableEntity)
	}
	if err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.AudiencePath(a.ID, ""), "saved"))
}

// audienceBack answers addresses that only take forms.
func (s *people) audienceBack(w http.ResponseWriter, r *http.Request, _ *page.Visit) error {
	return page.Redirect(w, r, views.AudiencesPath+"/"+strconv.FormatInt(page.Number(r.PathValue("id")), 10))
}

func (s *people) audienceDeleteForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	a, err := s.audienceOf(r, v)
	if err != nil {
		return err
	}
	f := v.Frame("Delete this audience?", "contacts")
	f.Crumbs = []views.Link{{Text: "Audiences", Href: views.AudiencesPath},
		{Text: a.Name, Href: views.AudiencePath(a.ID, "")}}
	return s.Render(w, r, http.StatusOK, views.DeleteAudience(f, a))
}

func (s *people) audienceDelete(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	if _, err := s.desk.DeleteAudience(r.Context(), v.User, v.Account.ID, id); err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.AudiencesPath, "audiencedeleted"))
}
