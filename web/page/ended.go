package page

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/kept"
)

// Kept keeps, sealed, what people sent after their session had ended: one body
// a person, for an hour, under a key that works once.
type Kept interface {
	Keep(person int64, about kept.About, body io.Reader) (key string, err error)
	// Look and Take give kept.ErrNone where nothing is kept.
	Look(person int64, key string) (*kept.Form, error)
	Take(person int64, key string) (*kept.Form, error)
}

// keptField carries the word of what was typed, in addresses and in a form.
const keptField = "kept"

// EndedSession is the session that this browser had until lately, of a person
// who may sign in again; ok is false for everybody else.
func (v *Visit) EndedSession() (s sms.Session, ok bool, err error) {
	cookie, missing := v.R.Cookie(v.site.sessions.name)
	if missing != nil || len(cookie.Value) != sessionIDLength {
		return sms.Session{}, false, nil
	}
	s, err = v.site.desk.EndedSession(v.R.Context(), cookie.Value)
	if errors.Is(err, sms.ErrNotFound) {
		return sms.Session{}, false, nil
	}
	return s, err == nil, err
}

// saveForm keeps what was sent after the session had ended, and returns the
// address that shows it to the same person, "" where it is lost. Strangers must
// not fill the disk: only a session of ours that ended lately earns this.
func (s *Site) saveForm(r *http.Request, v *Visit, rt Route) string {
	page := rt.Keeps
	if page == rt.Pattern {
		page = r.URL.Path
	}
	if rt.Offers {
		page = views.KeptPath
	}
	if page == "" || s.kept == nil || r.Method != http.MethodPost {
		return ""
	}
	ended, ok, err := v.EndedSession()
	var key string
	if ok && err == nil {
		key, err = s.kept.Keep(ended.User.ID, kept.About{Path: r.URL.RequestURI(), Type: r.Header.Get("Content-Type"),
			Length: r.ContentLength}, r.Body)
	}
	if err != nil {
		s.Log.Warn("a form sent after the session's end is not kept", "id", RequestID(r.Context()), "route", rt.Pattern,
			"error", err)
	}
	if key == "" {
		return ""
	}
	return views.With(page, keptField, key)
}

// Keeps says that an address leads to what was sent after a session's end.
func Keeps(u *url.URL) bool { return u.Query().Get(keptField) != "" }

// KeepTyped keeps what a person typed for the page that shows it again, and
// returns that page's address.
func (s *Site) KeepTyped(v *Visit, to string, typed url.Values) string {
	word := desk.NewToken()
	s.typed.Put(searchKey(v, word), typed.Encode(), s.Now())
	return views.With(to, keptField, word)
}

// Typed is what the person typed before a button, or the end of a session, led
// to this page. It works once; it is nil where nothing is kept.
func (s *Site) Typed(r *http.Request, v *Visit) (url.Values, error) {
	word := r.URL.Query().Get(keptField)
	if word == "" {
		return nil, nil
	}
	if text := s.typed.Take(searchKey(v, word), s.Now()); text != "" {
		return url.ParseQuery(text)
	}
	if s.kept == nil {
		return nil, nil
	}
	form, err := s.kept.Take(v.User.ID, word)
	if errors.Is(err, kept.ErrNone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = form.Close() }()
	text, err := io.ReadAll(io.LimitReader(form, FormMost))
	if err != nil {
		return nil, err
	}
	typed, err := url.ParseQuery(string(text))
	if err != nil {
		return nil, ErrUnreadable
	}
	return typed, nil
}

// errNotKept is for a key that was used, is too old or somebody else's.
var errNotKept = errors.New("what was sent is no longer kept")

// Offer shows what was sent after the session's end and was not carried out.
func (s *Site) Offer(w http.ResponseWriter, r *http.Request, v *Visit) error {
	key := r.URL.Query().Get(keptField)
	form, err := s.look(v, key)
	if err != nil {
		return err
	}
	defer func() { _ = form.Close() }()
	p := views.OfferPage{Key: key, File: fileIn(form)}
	return s.Render(w, r, http.StatusOK, views.Offer(v.Frame(p.Title(), ""), p))
}

func (s *Site) look(v *Visit, key string) (*kept.Form, error) {
	if s.kept == nil {
		return nil, errNotKept
	}
	form, err := s.kept.Look(v.User.ID, key)
	if errors.Is(err, kept.ErrNone) {
		err = errNotKept
	}
	return form, err
}

// backFrom is the page that a form stands on.
func (s *Site) backFrom(sent string) string {
	path, _, _ := strings.Cut(sent, "?")
	if s.pageExists(path) {
		return LocalPath(path, "/")
	}
	return "/"
}

// offerParts is how many fields of a form may stand before its file.
const offerParts = 80

// fileIn is the name of the file in a form, "" without one.
func fileIn(form *kept.Form) string {
	_, params, err := mime.ParseMediaType(form.Type)
	if err != nil || params["boundary"] == "" {
		return ""
	}
	parts := multipart.NewReader(form, params["boundary"])
	for range offerParts {
		part, err := parts.NextPart()
		if err != nil {
			return ""
		}
		if name := part.FileName(); name != "" {
			return name
		}
	}
	return ""
}

// CarryOut does what was asked after the session's end, now that the person has
// read that it was not done and pressed the button; or forgets it.
func (s *Site) CarryOut(w http.ResponseWriter, r *http.Request, v *Visit) error {
	if s.kept == nil {
		return errNotKept
	}
	form, err := s.kept.Take(v.User.ID, r.PostForm.Get(keptField))
	if errors.Is(err, kept.ErrNone) {
		return errNotKept
	}
	if err != nil {
		return err
	}
	defer func() { _ = form.Close() }()
	if r.PostForm.Get("do") != "now" {
		return Redirect(w, r, s.backFrom(form.Path))
	}
	again, err := sentAgain(r, form)
	if err != nil {
		return err
	}
	s.pages.ServeHTTP(w, again)
	return nil
}

// sentAgain is the request that brought the form, as this browser would send it
// now. It is finished even if the browser goes away: nothing is kept any more.
func sentAgain(r *http.Request, form *kept.Form) (*http.Request, error) {
	to, err := url.ParseRequestURI(form.Path)
	if err != nil {
		return nil, ErrUnreadable
	}
	routed := context.WithValue(context.WithoutCancel(r.Context()), chi.RouteCtxKey, nil)
	again := r.Clone(routed)
	again.URL, again.RequestURI = to, form.Path
	again.Form, again.PostForm, again.MultipartForm = nil, nil, nil
	again.Body, again.ContentLength = io.NopCloser(form), form.Length
	again.Header.Set("Content-Type", form.Type)
	again.Header.Set("Content-Length", strconv.FormatInt(form.Length, 10))
	return again, nil
}
