package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// blocks are the pages of blocked numbers.
type blocks struct {
	*page.Site
	store blockedQuestions
	desk  blockedOrders
}

// blockedQuestions are what blocks ask of the storage.
type blockedQuestions interface {
	Account(ctx context.Context, id int64) (sms.Account, error)
	BlockedNumber(ctx context.Context, id int64) (sms.Blocked, error)
	BlockedNumbers(ctx context.Context, f sms.BlockedFilter) (list []sms.Blocked, more bool, err error)
	CountBlocked(ctx context.Context, account int64) (int64, error)
}

// blockedOrders are what people do on these pages.
type blockedOrders interface {
	BlockNumbers(ctx context.Context, by sms.User, o desk.BlockOrder) (added int, all int, err error)
	UnblockNumber(ctx context.Context, by sms.User, id int64, why string) (sms.Blocked, error)
}

const blockedPage = 50

// blockedList shows the list, newest first. No phone number stands in an
// address: pages go by ids, and a search by a word (keepSearch).
func (s *blocks) blockedList(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	typed, _ := s.Search(v, r.URL.Query().Get("find"))
	return s.showBlocked(w, r, v, views.BlockedPage{Search: typed})
}

func (s *blocks) showBlocked(w http.ResponseWriter, r *http.Request, v *page.Visit, p views.BlockedPage) error {
	q := r.URL.Query()
	f := sms.BlockedFilter{AccountID: v.Account.ID, Before: page.Number(q.Get("before")),
		Prefix: sms.NumberPrefix(p.Search, v.Account.Country), Limit: blockedPage}
	var err error
	if p.Rows, p.More, err = s.store.BlockedNumbers(r.Context(), f); err != nil {
		return err
	}
	if p.Total, err = s.store.CountBlocked(r.Context(), v.Account.ID); err != nil {
		return err
	}
	p.Formatter, p.Account, p.NoAccount = s.Formatter(v, v.Account), v.Account.Name, v.Account.ID == 0
	p.MayUnblock, p.Administers = v.User.Role.AtLeast(sms.Manager), v.User.Role.AtLeast(sms.Administrator)
	if f.Before > 0 {
		p.First = views.BlockedPath
	}
	if p.More && f.Prefix == "" {
		p.Next = views.With(views.BlockedPath, "before", strconv.FormatInt(p.Rows[len(p.Rows)-1].ID, 10))
	}
	fr := v.Frame("Blocked numbers", "settings")
	fr.Error = len(p.Bad) > 0
	return s.Render(w, r, page.Status(r, p.Bad), views.BlockedNumbers(fr, p))
}

// blockedSearch leads to the numbers that begin with what was typed.
func (s *blocks) blockedSearch(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p := views.BlockedPage{Search: page.TypedNumber(r, "begins")}
	if p.Search != "" && sms.NumberPrefix(p.Search, v.Account.Country) == "" {
		p.Bad = sms.Invalid{"begins": "Enter the first digits of a phone number"}
		return s.showBlocked(w, r, v, p)
	}
	return page.Redirect(w, r, views.With(views.BlockedPath, "find", s.KeepSearch(v, p.Search)))
}

func (s *blocks) blockedAdd(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	file, name, err := page.Uploaded(r, "file")
	if err != nil {
		return err
	}
	p := views.BlockedPage{Numbers: page.Lines(r.PostForm.Get("numbers")), Note: r.PostForm.Get("note")}
	_, _, err = s.desk.BlockNumbers(r.Context(), v.User, desk.BlockOrder{AccountID: v.Account.ID, Numbers: p.Numbers,
		File: file, FileName: name, Note: p.Note})
	if errors.As(err, &p.Bad) {
		return s.showBlocked(w, r, v, p)
	}
	if err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.BlockedPath, "blocked"))
}

func (s *blocks) blockedEntry(r *http.Request) (sms.Blocked, sms.Account, error) {
	id := page.PathID(r)
	b, err := s.store.BlockedNumber(r.Context(), id)
	if err != nil {
		return b, sms.Account{}, err
	}
	a, err := s.store.Account(r.Context(), b.AccountID)
	return b, a, err
}

func (s *blocks) unblockForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	return s.showUnblock(w, r, v, "", nil)
}

func (s *blocks) showUnblock(w http.ResponseWriter, r *http.Request, v *page.Visit, note string,
	bad sms.Invalid) error {
	b, a, err := s.blockedEntry(r)
	if err != nil {
		return err
	}
	f := page.About(v.Frame("Unblock this number?", "settings"), v, a)
	f.Crumbs, f.Error = []views.Link{{Text: "Blocked numbers", Href: views.BlockedPath}}, len(bad) > 0
	return s.Render(w, r, page.Status(r, bad), views.Unblock(f,
		views.UnblockPage{Formatter: s.Formatter(v, a), Blocked: b, Note: note, Bad: bad}))
}

func (s *blocks) unblock(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	note := r.PostForm.Get("note")
	_, err := s.desk.UnblockNumber(r.Context(), v.User, id, note)
	if bad, ok := errors.AsType[sms.Invalid](err); ok {
		return s.showUnblock(w, r, v, note, bad)
	}
	if err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.BlockedPath, "unblocked"))
}
