package campaign

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"smsdesk/internal/desk"
	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// writtenOffered is how many messages that were not sent are offered.
const writtenOffered = 3

// newWriting is the key of a form that is opened: two tabs are two messages.
func newWriting() string { return rand.Text() }

// ofList is the key of a list's form.
func ofList(l sms.List) string { return "list " + l.UID }

// formOf is what is remembered of a form, "" where nothing is written in it.
func formOf(form url.Values) string {
	if strings.TrimSpace(form.Get("text")+form.Get("numbers")) == "" {
		return ""
	}
	typed := url.Values{}
	for name, values := range form {
		if !page.Contains(usedOnce, name) {
			typed[name] = values
		}
	}
	return typed.Encode()
}

// saveForm remembers what stands in a form while a person types. What cannot be
// saved must not take the preview away, so it is only logged.
func (s *base) saveForm(r *http.Request, v *page.Visit, to writtenOrders, account int64, key string) {
	err := to.SaveWritten(r.Context(), v.User, account, key, formOf(r.PostForm))
	if err != nil && r.Context().Err() == nil {
		s.Log.Warn("what is typed is not saved", "id", page.RequestID(r.Context()), "error", err)
	}
}

func (s *drafts) saveWritten(r *http.Request, v *page.Visit) {
	if r.PostForm.Get("account") == strconv.FormatInt(v.Account.ID, 10) && !strings.HasPrefix(r.PostForm.Get("writing"), "list ") {
		s.saveForm(r, v, s.desk, v.Account.ID, r.PostForm.Get("writing"))
	}
}

// forgetWritten forgets what was typed, once it has become something else.
func (s *drafts) forgetWritten(r *http.Request, v *page.Visit) error {
	return s.desk.SaveWritten(r.Context(), v.User, v.Account.ID, r.PostForm.Get("writing"), "")
}

// writtenForm is what a person typed and did not go on with.
type writtenForm struct {
	key  string
	form url.Values
	at   int64
}

// readForm is the form under a key, its form nil where nothing is.
func readForm(ctx context.Context, from writtenQuestions, user, account int64, key string) (w writtenForm, err error) {
	text, at, err := from.Written(ctx, user, account, key)
	if errors.Is(err, sms.ErrNotFound) {
		return w, nil
	}
	if err != nil {
		return w, err
	}
	form, err := url.ParseQuery(text)
	return writtenForm{key, form, at}, err
}

// unsentForms are what the person typed on New message and did not go on with,
// the latest first.
func (s *drafts) unsentForms(r *http.Request, v *page.Visit) (list []writtenForm, err error) {
	ctx := r.Context()
	keys, err := s.store.WrittenKeys(ctx, v.User.ID, v.Account.ID, writtenOffered)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		w, err := readForm(ctx, s.store, v.User.ID, v.Account.ID, key)
		if err != nil {
			return nil, err
		}
		if w.form != nil {
			list = append(list, w)
		}
	}
	return list, nil
}

// goOn is the form with a key, or the latest, to be typed on: it keeps its key.
func goOn(list []writtenForm, key string) url.Values {
	for _, w := range list {
		if key == "" || w.key == key {
			w.form.Set("writing", w.key)
			return w.form
		}
	}
	return nil
}

// showTyped shows the form with what was typed.
func (s *drafts) showTyped(w http.ResponseWriter, r *http.Request, v *page.Visit, typed url.Values) error {
	r.PostForm = typed
	p, err := s.composeTyped(r, v)
	if err != nil {
		return err
	}
	if p.Token == "" {
		p.Token = desk.NewToken()
	}
	if p.Writing == "" {
		p.Writing = newWriting()
	}
	read := phone.ReadAll(p.Numbers, v.Account.Country, v.Account.Abroad)
	p.Count = &read
	return s.Render(w, r, http.StatusOK, views.Compose(v.Frame("New message", "new"), p))
}
