package campaign

import (
	"errors"
	"net/http"
	"slices"
	"strconv"

	"smsdesk/internal/feed"
	"smsdesk/internal/lists"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

const notesShown = 50

// ListCheck shows how far a list is, what the check found, or leads on.
func (s *uploads) ListCheck(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	l, a, err := s.listOf(r, v)
	if err != nil {
		return err
	}
	if l.State == sms.ListUploaded || l.State == sms.ListMade {
		return page.Redirect(w, r, views.ListNext(l))
	}
	if page.IsFragment(r) && !busy(l) {
		return page.Redirect(w, r, views.ListPath(l.UID, "/check"))
	}
	return s.showListCheck(w, r, v, l, a, http.StatusOK, nil)
}

func (s *uploads) showListCheck(w http.ResponseWriter, r *http.Request, v *page.Visit, l sms.List, a sms.Account,
	status int, bad sms.Invalid) error {
	path := views.ListPath(l.UID, "/check")
	p := views.ListCheckPage{Formatter: s.Formatter(v, a), List: l, Errors: bad}
	p.Live = views.Refresh{ID: "list-live", URL: path}
	if busy(l) {
		f := page.About(v.LiveFrame(p.Title(), listNav(l), feed.List(l.UID)), v, a)
		if !f.Paused {
			p.Live.On = []string{feed.List(l.UID)}
		}
		if page.IsFragment(r) {
			return s.Render(w, r, status, views.ListProgress(p))
		}
		return s.Render(w, r, status, views.ListCheck(f, p))
	}
	var err error
	if p.Upload, err = s.uploadFile(r.Context(), a.ID, l.UID); err != nil {
		return err
	}
	if l.State == sms.ListChecked {
		if err := s.readNotes(r, &p); err != nil {
			return err
		}
		p.Upload.Label = "Upload the corrected file"
	}
	if l.Purpose == sms.ForContacts {
		p.Upload.Action = views.ImportPath
	}
	f := page.About(v.Frame(p.Title(), listNav(l)), v, a)
	f.Path, f.Error = path, len(bad) > 0 || l.State == sms.ListFailed || l.Tally.Bad() > 0
	return s.Render(w, r, status, views.ListCheck(f, p))
}

// unreadable shows a list whose file cannot be read any more, with the reason and a way to upload it again.
func (s *uploads) unreadable(w http.ResponseWriter, r *http.Request, v *page.Visit, l sms.List, a sms.Account,
	err error) error {
	bad, _ := errors.AsType[sms.Invalid](err)
	if bad["file"] == "" {
		return err
	}
	l.State, l.Problem = sms.ListFailed, sms.Sentence(bad, "file")
	return s.showListCheck(w, r, v, l, a, http.StatusOK, nil)
}

// listNav is the item of the navigation that a list belongs to.
func listNav(l sms.List) string {
	if l.Purpose == sms.ForContacts {
		return "contacts"
	}
	return "new"
}

// readNotes reads the rows that the page shows: of the kind asked for, else
// the ones to fix, else of the first kind that there is.
func (s *uploads) readNotes(r *http.Request, p *views.ListCheckPage) error {
	q, t := r.URL.Query(), p.List.Tally
	filter := sms.RowFilter{After: page.Number(q.Get("after")), Limit: notesShown}
	kind := sms.RowKind(q.Get("kind"))
	if !slices.Contains(sms.RowKinds(), kind) || t.Kinds[kind] == 0 {
		kind = ""
	}
	if kind == "" && t.Bad() == 0 {
		for _, k := range sms.RowKinds() {
			if kind == "" && t.Kinds[k] > 0 {
				kind = k
			}
		}
		if kind == "" {
			return nil
		}
	}
	if kind != "" {
		filter.Kinds = []sms.RowKind{kind}
	}
	notes, more, err := s.store.ListNotes(r.Context(), p.List.UID, filter)
	if err != nil {
		return err
	}
	p.Kind, p.Notes = string(kind), notes
	p.Prev, p.Next = notePages(views.With(views.ListPath(p.List.UID, "/check"), "kind", string(kind)), q.Get("trail"),
		filter.After, notes, more)
	return nil
}

// notePages are the addresses of the pages before and after; the way back is
// kept in the address.
func notePages(here, trail string, after int64, notes []sms.RowNote, more bool) (prev, next string) {
	at := func(starts []int64) string {
		if len(starts) == 0 {
			return here + "#rows"
		}
		to := views.With(here, "after", strconv.FormatInt(starts[len(starts)-1], 10))
		return views.With(to, "trail", page.Joined(starts)) + "#rows"
	}
	starts := page.Numbers(trail)
	if after > 0 {
		prev = at(starts[:max(len(starts)-1, 0)])
	}
	if more && len(notes) > 0 {
		next = at(append(starts, notes[len(notes)-1].Row))
	}
	return prev, next
}

// ListMake has a campaign made of the rows that can be sent.
func (s *uploads) ListMake(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	l, a, err := s.listOf(r, v)
	if err != nil {
		return err
	}
	f := r.PostForm
	order := lists.MakeOrder{LeaveOut: f.Get("leave_out") != ""}
	after, err := s.lists.MakeCampaign(r.Context(), v.User, l.UID, page.Number(f.Get("version")), order)
	var bad sms.Invalid
	switch {
	case errors.As(err, &bad):
		return s.showListCheck(w, r, v, l, a, http.StatusUnprocessableEntity, bad)
	case errors.Is(err, sms.ErrConflict):
		return page.Redirect(w, r, views.ListNext(l))
	case err != nil:
		return err
	}
	return s.redirectToList(w, r, after)
}

// ListHidden reads the hidden rows too and checks all of them again.
func (s *uploads) ListHidden(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	l, _, err := s.listOf(r, v)
	if err != nil {
		return err
	}
	reading := l.Reading
	reading.Hidden = true
	read, err := s.lists.ReadList(r.Context(), v.User, l.UID, reading)
	if errors.Is(err, sms.ErrConflict) {
		return s.redirectToList(w, r, l)
	}
	if err != nil {
		return err
	}
	order := read.Order
	order.Name = l.Order.Name
	checked, err := s.lists.CheckList(r.Context(), v.User, l.UID, read.Version, order)
	if _, ok := errors.AsType[sms.Invalid](err); ok || errors.Is(err, sms.ErrConflict) {
		return page.Redirect(w, r, views.ListNext(read))
	}
	if err != nil {
		return err
	}
	return s.redirectToList(w, r, checked)
}

// ListBack answers addresses that only take forms.
func (s *uploads) ListBack(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	l, _, err := s.listOf(r, v)
	if err != nil {
		return err
	}
	return page.Redirect(w, r, views.ListNext(l))
}
