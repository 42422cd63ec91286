package campaign

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"smsdesk/internal/feed"
	"smsdesk/internal/lists"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

const (
	// notesShown is how many rows a page has, fixesShown how many with a field.
	notesShown, fixesShown = 50, 15
	// doneShown is the most rows that stay in view after they were corrected.
	doneShown = 1000
)

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
		if err := s.readNotes(r, &p, a); err != nil {
			return err
		}
		p.Currency = a.Currency
		if p.Price, err = page.PriceOf(r.Context(), s.store, a, s.Now()); err != nil {
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
func (s *uploads) readNotes(r *http.Request, p *views.ListCheckPage, a sms.Account) error {
	q, t := r.URL.Query(), p.List.Tally
	if r.Method == http.MethodPost {
		q = r.PostForm
	}
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
	fields := kind == "" || kind.Bad() || kind == sms.RowCorrected
	if fields {
		filter.Limit = fixesShown
	}
	notes, more, err := s.store.ListNotes(r.Context(), p.List.UID, filter)
	if err != nil {
		return err
	}
	p.Kind, p.Notes, p.After, p.Trail = string(kind), notes, filter.After, q.Get("trail")
	p.Several, p.MaxSplit = map[int64]int{}, lists.MaxSplit
	for _, n := range notes {
		if phone := p.List.Order.Phone; n.Kind == sms.RowNumber && phone >= 0 && phone < len(n.Cells) {
			p.Several[n.Row] = len(lists.SeveralNumbers(a, n.Cells[phone]))
		}
	}
	if err := s.readFixed(r.Context(), p, q, fields); err != nil {
		return err
	}
	p.Prev, p.Next = notePages(views.With(views.ListPath(p.List.UID, "/check"), "kind", string(kind)), q.Get("trail"),
		filter.After, notes, more)
	return nil
}

// readFixed reads what was corrected and, where the rows have fields, keeps in
// view what was corrected since the page was opened with the rows up to upto.
func (s *uploads) readFixed(ctx context.Context, p *views.ListCheckPage, q url.Values, fields bool) error {
	since, upto := page.Number(q.Get("since")), page.Number(q.Get("upto"))
	all, err := s.store.Corrections(ctx, p.List.ID)
	if err != nil {
		return err
	}
	p.Fixed, p.Since, p.Upto = map[int64][]sms.Correction{}, since, upto
	fresh := map[int64]bool{}
	for _, c := range all {
		p.Fixed[c.Row] = append(p.Fixed[c.Row], c)
		fresh[c.Row] = fresh[c.Row] || since > 0 && c.At >= since
		if c.From != 0 {
			p.Made = append(p.Made, c)
		}
	}
	if !fields {
		return nil
	}
	if since == 0 {
		p.Since = s.Now().UnixMilli()
	}
	if len(p.Notes) > 0 {
		p.Upto = max(p.Upto, p.Notes[len(p.Notes)-1].Row)
	}
	if len(fresh) == 0 || p.Upto == 0 {
		return nil
	}
	done, _, err := s.store.ListNotes(ctx, p.List.UID, sms.RowFilter{Kinds: []sms.RowKind{sms.RowCorrected},
		After: p.After, Upto: p.Upto, Limit: doneShown})
	p.Done = slices.DeleteFunc(done, func(n sms.RowNote) bool { return !fresh[n.Row] })
	return err
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
	version := page.Number(f.Get("version"))
	// Rows that were corrected meanwhile, here or by this very press, do not make
	// it another list; another text or other columns do.
	if l.State == sms.ListChecked && (l.Version == version || f.Get("order") == views.OrderKey(l)) {
		// What was typed and not saved yet goes along.
		corrected, err := s.corrections.Correct(r.Context(), v.User, l.UID, typedCells(f))
		if bad, ok := errors.AsType[sms.Invalid](err); ok {
			return s.showListCheck(w, r, v, l, a, http.StatusUnprocessableEntity, bad)
		}
		if err != nil && !errors.Is(err, sms.ErrConflict) {
			return err
		}
		if l = corrected; l.State != sms.ListChecked {
			return s.redirectToList(w, r, l)
		}
		version = l.Version
	}
	order := lists.MakeOrder{LeaveOut: f.Get("leave_out") != ""}
	after, err := s.lists.MakeCampaign(r.Context(), v.User, l.UID, version, order)
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

// typedCells are the cells of a list that were changed in a form: what stands in
// the others may be older than what somebody typed elsewhere.
func typedCells(f url.Values) (cells []lists.Cell) {
	for name, value := range f {
		row, column, is := strings.Cut(strings.TrimPrefix(name, "cell:"), ":")
		was, shown := f["was:"+name]
		if !is || !strings.HasPrefix(name, "cell:") || shown && was[0] == value[0] {
			continue
		}
		at, err := strconv.Atoi(column)
		if err == nil {
			cells = append(cells, lists.Cell{Row: page.Number(row), Column: at, Value: value[0]})
		}
	}
	slices.SortFunc(cells, func(a, b lists.Cell) int { return cmp.Or(cmp.Compare(a.Row, b.Row), a.Column-b.Column) })
	return cells
}

// ListRows corrects the cells that were typed.
func (s *uploads) ListRows(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	l, a, err := s.listOf(r, v)
	if err != nil {
		return err
	}
	if l.State != sms.ListChecked {
		return page.Redirect(w, r, views.ListNext(l))
	}
	after, err := s.corrections.Correct(r.Context(), v.User, l.UID, typedCells(r.PostForm))
	bad, invalid := errors.AsType[sms.Invalid](err)
	switch {
	case invalid && !page.IsFragment(r):
		return s.showListCheck(w, r, v, l, a, http.StatusUnprocessableEntity, bad)
	case invalid:
		return s.showListCheck(w, r, v, l, a, http.StatusOK, bad)
	case errors.Is(err, sms.ErrConflict):
		return page.Redirect(w, r, views.ListNext(l))
	case err != nil:
		return err
	case busy(after):
		return s.redirectToList(w, r, after)
	case page.IsFragment(r):
		return s.showListCheck(w, r, v, after, a, http.StatusOK, nil)
	}
	to := views.With(views.ListPath(l.UID, "/check"), "kind", r.PostForm.Get("kind"))
	for _, name := range []string{"after", "trail", "since", "upto"} {
		to = views.With(to, name, r.PostForm.Get(name))
	}
	return page.Redirect(w, r, to+"#rows")
}

// ListSplit makes rows of those that have several numbers, or takes them back. What
// was typed and not saved yet goes along.
func (s *uploads) ListSplit(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	do, rows := s.corrections.Split, r.PostForm.Get("split")
	if undo := r.PostForm.Get("undo"); undo != "" {
		do, rows = s.corrections.Unsplit, undo
	}
	return s.listDecided(w, r, v, func(l sms.List, _ int64) (sms.List, error) {
		if typed := typedCells(r.PostForm); len(typed) > 0 {
			if after, err := s.corrections.Correct(r.Context(), v.User, l.UID, typed); err != nil || busy(after) {
				return after, err
			}
		}
		return do(r.Context(), v.User, l.UID, page.Numbers(rows))
	})
}

// ListFill puts one value where a placeholder has none; nothing takes that back.
func (s *uploads) ListFill(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.listDecided(w, r, v, func(l sms.List, version int64) (sms.List, error) {
		return s.corrections.FillEmpty(r.Context(), v.User, l.UID, version, r.PostForm.Get("mark"), r.PostForm.Get("value"))
	})
}

// ListFirst says whether of each number only the first row is sent.
func (s *uploads) ListFirst(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.listDecided(w, r, v, func(l sms.List, version int64) (sms.List, error) {
		return s.corrections.KeepFirst(r.Context(), v.User, l.UID, version, r.PostForm.Get("only") != "")
	})
}

// listDecided carries out a decision about a checked list, all of whose rows are
// then checked again.
func (s *uploads) listDecided(w http.ResponseWriter, r *http.Request, v *page.Visit,
	do func(l sms.List, version int64) (sms.List, error)) error {
	l, a, err := s.listOf(r, v)
	if err != nil {
		return err
	}
	after, err := do(l, page.Number(r.PostForm.Get("version")))
	if bad, ok := errors.AsType[sms.Invalid](err); ok {
		return s.showListCheck(w, r, v, l, a, http.StatusUnprocessableEntity, bad)
	}
	if errors.Is(err, sms.ErrConflict) {
		return page.Redirect(w, r, views.ListNext(l))
	}
	if err != nil {
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
