package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// people are the pages of contacts and audiences.
type people struct {
	*page.Site
	store peopleQuestions
	desk  peopleOrders
	lists audienceOrders
}

// peopleQuestions are what people ask of the storage.
type peopleQuestions interface {
	Audience(ctx context.Context, id int64) (sms.Audience, error)
	Audiences(ctx context.Context, account int64, limit int) ([]sms.Audience, error)
	AudiencesOf(ctx context.Context, contact int64) ([]sms.Audience, error)
	BlockedAmong(ctx context.Context, account int64, numbers []string) (map[string]sms.Blocked, error)
	Contact(ctx context.Context, id int64) (sms.Contact, error)
	ContactColumns(ctx context.Context, account int64) ([]sms.ContactColumn, error)
	Contacts(ctx context.Context, f sms.ContactFilter) (list []sms.Contact, more bool, err error)
	CountAudience(ctx context.Context, a sms.Audience) (int64, error)
	CountBlockedIn(ctx context.Context, a sms.Audience) (int64, error)
	EndedBlocks(ctx context.Context, account int64, number string, limit int) ([]sms.EndedBlock, error)
	FindContacts(ctx context.Context, f sms.ContactFilter) (list []sms.Contact, more bool, count int64, err error)
	List(ctx context.Context, uid string) (sms.List, error)
	SearchMessages(ctx context.Context, f sms.MessageSearch) (list []sms.FoundMessage, next sms.MessageCursor, err error)
}

// audienceOrders make lists of audiences.
type audienceOrders interface {
	ListAudience(ctx context.Context, by sms.User, account, id int64, token string) (sms.List, error)
}

// peopleOrders are what people do on these pages.
type peopleOrders interface {
	ChangeMembers(ctx context.Context, by sms.User, account, audience int64, contacts []int64, in bool) (int64, error)
	DeleteAudience(ctx context.Context, by sms.User, account, id int64) (sms.Audience, error)
	DeleteContact(ctx context.Context, by sms.User, account, id int64) (sms.Contact, error)
	SaveAudience(ctx context.Context, by sms.User, o desk.AudienceOrder) (sms.Audience, error)
	SaveContact(ctx context.Context, by sms.User, o desk.ContactOrder) (sms.Contact, error)
}

const (
	contactsShown  = 50
	audiencesShown = 200
	historyShown   = 50
)

// readFilter reads the conditions of a form or an address; those without a
// column are left out.
func readFilter(q url.Values) sms.Filter {
	f := sms.Filter{Any: q.Get("join") == "any"}
	ops, values := q["op"], q["value"]
	for i, key := range q["column"] {
		if key == "" || i > sms.MaxFilterConditions || i >= len(ops) || i >= len(values) {
			continue
		}
		f.Conditions = append(f.Conditions, sms.Condition{Key: key, Op: sms.Op(ops[i]),
			Value: sms.TidyValue(values[i], sms.MaxContactValue)})
	}
	return f
}

// contactList shows the contacts: all, those of a search or those of a filter.
func (s *people) contactList(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.showContacts(w, r, v, nil, "")
}

func (s *people) showContacts(w http.ResponseWriter, r *http.Request, v *page.Visit, bad sms.Invalid,
	name string) error {
	ctx, q := r.Context(), r.URL.Query()
	p := views.ContactListPage{Formatter: s.Formatter(v, v.Account), NoAccount: v.Account.ID == 0,
		MayChange: v.User.Role.AtLeast(sms.Sender), PickBad: bad, Name: name, Total: -1}
	f := sms.ContactFilter{AccountID: v.Account.ID, Filter: readFilter(q), Before: page.Number(q.Get("before")),
		Limit: contactsShown}
	var err error
	if p.Columns, err = s.store.ContactColumns(ctx, v.Account.ID); err != nil {
		return err
	}
	p.Filter = f.Filter
	typed, known := s.Search(v, q.Get("find"))
	p.Typed, p.Ended = typed, !known
	wrong := errors.As(f.Filter.Check(p.Columns), &p.Bad)
	desk.NarrowContacts(&f, typed, v.Account.Country, p.Masked)
	if known && !wrong && v.Account.ID > 0 {
		if err := s.findContacts(r, v, &p, f); err != nil {
			return err
		}
	}
	if err := s.addImported(r, v, &p); err != nil {
		return err
	}
	fr := v.Frame("Contacts", "contacts")
	fr.Error = len(p.Bad)+len(p.PickBad) > 0
	return s.Render(w, r, page.Status(r, p.PickBad), views.ContactList(fr, p))
}

func (s *people) findContacts(r *http.Request, v *page.Visit, p *views.ContactListPage,
	f sms.ContactFilter) (err error) {
	ctx := r.Context()
	var more bool
	if p.Rows, more, p.Count, err = s.store.FindContacts(ctx, f); err != nil {
		return err
	}
	if len(p.Rows) == 0 && p.Count == 0 && p.Typed == "" && p.Filter.Everybody() {
		p.Total = 0
	}
	if p.MayChange {
		all, err := s.store.Audiences(ctx, v.Account.ID, audiencesShown)
		if err != nil {
			return err
		}
		for _, a := range all {
			if a.Kind == sms.Picked {
				p.Audiences = append(p.Audiences, a)
			}
		}
	}
	q := r.URL.Query()
	q.Del("before")
	q.Del("list")
	q.Del("done")
	p.First, p.Next = contactPages(views.ContactsPath, q, f, p.Rows, more)
	return nil
}

// contactPages are the addresses of the first page and the next one.
func contactPages(path string, q url.Values, f sms.ContactFilter, rows []sms.Contact, more bool) (first, next string) {
	here := path
	if len(q) > 0 {
		here += "?" + q.Encode()
	}
	if f.Before > 0 {
		first = here
	}
	if more && f.Prefix == "" {
		next = views.With(here, "before", strconv.FormatInt(rows[len(rows)-1].ID, 10))
	}
	return first, next
}

// addImported says what became of a list that this person has just taken in.
func (s *people) addImported(r *http.Request, v *page.Visit, p *views.ContactListPage) error {
	uid := r.URL.Query().Get("list")
	if uid == "" {
		return nil
	}
	l, err := s.store.List(r.Context(), uid)
	if errors.Is(err, sms.ErrNotFound) || err == nil &&
		(l.CreatedBy != v.User.ID || l.State != sms.ListMade || l.Purpose != sms.ForContacts) {
		return nil
	}
	p.Imported = &l
	return err
}

// contactSearch leads to who was looked for; neither names nor numbers stand in
// an address.
func (s *people) contactSearch(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	typed := page.TypedNumber(r, "who")
	if typed == "" {
		return page.Redirect(w, r, views.ContactsPath)
	}
	return page.Redirect(w, r, views.With(views.ContactsPath, "find", s.KeepSearch(v, typed)))
}

// contactBack answers addresses that only take forms.
func (s *people) contactBack(w http.ResponseWriter, r *http.Request, _ *page.Visit) error {
	return page.Redirect(w, r, views.ContactsPath)
}

// contactPick puts the chosen people into an audience, which may be a new one.
func (s *people) contactPick(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	f := r.PostForm
	var chosen []int64
	for _, text := range f["contact"] {
		if id := page.Number(text); id > 0 && len(chosen) < contactsShown {
			chosen = append(chosen, id)
		}
	}
	audience, name := page.Number(f.Get("audience")), strings.TrimSpace(f.Get("name"))
	var err error
	switch {
	case len(chosen) == 0:
		err = sms.Invalid{"contacts": "Select at least one contact"}
	case audience == 0 || name != "":
		var made sms.Audience
		made, err = s.desk.SaveAudience(r.Context(), v.User,
			desk.AudienceOrder{AccountID: v.Account.ID, Name: name, Kind: sms.Picked, Members: chosen})
		audience = made.ID
	default:
		_, err = s.desk.ChangeMembers(r.Context(), v.User, v.Account.ID, audience, chosen, true)
	}
	if bad, ok := errors.AsType[sms.Invalid](err); ok {
		return s.showContacts(w, r, v, bad, name)
	}
	if err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.AudiencePath(audience, ""), "saved"))
}

// contactOf is the contact of the address, of the chosen account only.
func (s *people) contactOf(r *http.Request, v *page.Visit) (sms.Contact, error) {
	id := page.PathID(r)
	c, err := s.store.Contact(r.Context(), id)
	if err == nil && c.AccountID != v.Account.ID {
		err = sms.ErrNotFound
	}
	return c, err
}

func (s *people) contactShow(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p, err := s.contactPage(r, v)
	if err != nil {
		return err
	}
	since := p.Now.AddDate(0, -sms.SearchMonths, 0).UnixMilli()
	found, next, err := s.store.SearchMessages(r.Context(),
		sms.MessageSearch{AccountID: v.Account.ID, Number: p.Contact.Number, Since: since, Limit: historyShown})
	if err != nil {
		return err
	}
	p.Messages, p.More = found, next != (sms.MessageCursor{})
	if p.Ended, err = s.store.EndedBlocks(r.Context(), v.Account.ID, p.Contact.Number, historyShown); err != nil {
		return err
	}
	f := v.Frame(p.Title(), "contacts")
	f.Crumbs = []views.Link{{Text: "Contacts", Href: views.ContactsPath}}
	return s.Render(w, r, http.StatusOK, views.ContactShow(f, p))
}

func (s *people) contactPage(r *http.Request, v *page.Visit) (p views.ContactPage, err error) {
	ctx := r.Context()
	p = views.ContactPage{Formatter: s.Formatter(v, v.Account), MayChange: v.User.Role.AtLeast(sms.Sender)}
	if p.Contact, err = s.contactOf(r, v); err != nil {
		return p, err
	}
	if p.Columns, err = s.store.ContactColumns(ctx, v.Account.ID); err != nil {
		return p, err
	}
	if p.Audiences, err = s.store.AudiencesOf(ctx, p.Contact.ID); err != nil {
		return p, err
	}
	blocked, err := s.store.BlockedAmong(ctx, v.Account.ID, []string{p.Contact.Number})
	if b, is := blocked[p.Contact.Number]; is {
		p.Blocked = &b
	}
	return p, err
}

func (s *people) contactNew(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.showContactForm(w, r, v, views.ContactFormPage{Typed: map[string]string{}})
}

func (s *people) contactForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	c, err := s.contactOf(r, v)
	if err != nil {
		return err
	}
	typed := map[string]string{"version": strconv.FormatInt(c.Version, 10),
		"number": s.Formatter(v, v.Account).Phone(c.Number), "name": c.Name, "tags": strings.Join(c.Tags, ", ")}
	for key, value := range c.Fields {
		typed["field:"+key] = value
	}
	return s.showContactForm(w, r, v, views.ContactFormPage{Contact: c, Typed: typed})
}

func (s *people) showContactForm(w http.ResponseWriter, r *http.Request, v *page.Visit, p views.ContactFormPage) error {
	p.Formatter = s.Formatter(v, v.Account)
	var err error
	if p.Columns, err = s.store.ContactColumns(r.Context(), v.Account.ID); err != nil {
		return err
	}
	f := v.Frame(p.Title(), "contacts")
	f.Crumbs, f.Error = []views.Link{{Text: "Contacts", Href: views.ContactsPath}}, len(p.Bad) > 0 || p.Changed
	if p.Changed {
		return s.Render(w, r, http.StatusConflict, views.ContactForm(f, p))
	}
	return s.Render(w, r, page.Status(r, p.Bad), views.ContactForm(f, p))
}

func (s *people) contactCreate(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.contactPut(w, r, v, sms.Contact{})
}

func (s *people) contactSave(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	c, err := s.contactOf(r, v)
	if err != nil {
		return err
	}
	return s.contactPut(w, r, v, c)
}

func (s *people) contactPut(w http.ResponseWriter, r *http.Request, v *page.Visit, c sms.Contact) error {
	typed, fields := map[string]string{}, map[string]string{}
	for name := range r.PostForm {
		typed[name] = r.PostForm.Get(name)
		if key, is := strings.CutPrefix(name, "field:"); is {
			fields[key] = typed[name]
		}
	}
	saved, err := s.desk.SaveContact(r.Context(), v.User,
		desk.ContactOrder{ID: c.ID, Version: page.Number(typed["version"]), AccountID: v.Account.ID, Number: typed["number"],
			Name:   typed["name"],
			Fields: fields, Tags: typed["tags"], Column: typed["column"], Value: typed["value"]})
	p := views.ContactFormPage{Contact: c, Typed: typed}
	switch {
	case errors.As(err, &p.Bad):
		return s.showContactForm(w, r, v, p)
	case errors.Is(err, sms.ErrConflict):
		// What is stored by now is shown beside what was typed: saved once more,
		// it is meant to take its place.
		if p.Contact, err = s.store.Contact(r.Context(), c.ID); err != nil {
			return err
		}
		typed["version"], p.Changed = strconv.FormatInt(p.Contact.Version, 10), true
		return s.showContactForm(w, r, v, p)
	case err != nil:
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.ContactPath(saved.ID, ""), "saved"))
}

func (s *people) contactDeleteForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p, err := s.contactPage(r, v)
	if err != nil {
		return err
	}
	f := v.Frame("Delete contact?", "contacts")
	f.Crumbs = []views.Link{{Text: "Contacts", Href: views.ContactsPath},
		{Text: p.Title(), Href: views.ContactPath(p.Contact.ID, "")}}
	return s.Render(w, r, http.StatusOK, views.DeleteContact(f, p))
}

func (s *people) contactDelete(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	if _, err := s.desk.DeleteContact(r.Context(), v.User, v.Account.ID, id); err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.ContactsPath, "contactdeleted"))
}
