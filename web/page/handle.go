package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5"

	"smsdesk/internal/desk"
	"smsdesk/internal/health"
	"smsdesk/internal/sms"
	"smsdesk/views"
)

// Handler answers one request of one person. It renders or redirects, or it
// returns an error, of which handle alone makes a page.
type Handler func(w http.ResponseWriter, r *http.Request, v *Visit) error

// errHandled says that nothing is left to do.
var errHandled = errors.New("answered")

// handle is the one way from an address to its handler: who is it, may they,
// what did they send, answer; and whatever goes wrong becomes a page here.
func (s *Site) handle(rt Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := s.newVisit(r)
		if err == nil {
			err = s.admit(w, r, v, rt)
		}
		if err == nil && strings.Contains(rt.Pattern, "{id}") && PathID(r) < 1 {
			err = fmt.Errorf("address: %w", sms.ErrNotFound)
		}
		if err == nil {
			err = readForm(r)
		}
		switch {
		case err != nil:
		case rt.Shared != nil && IsFragment(r):
			err = s.share(w, r, v, rt)
		default:
			err = rt.Do(w, r, v)
		}
		if err != nil && !errors.Is(err, errHandled) {
			s.fail(w, r, v, rt, err)
		}
	})
}

// admit lets a person through, or sends them where they have to go first. A
// route without a role lets nobody through.
func (s *Site) admit(w http.ResponseWriter, r *http.Request, v *Visit, rt Route) error {
	if rt.Pattern != views.SetupPath {
		staffed, err := s.HasAdministrator(r.Context())
		if err != nil {
			return err
		}
		if !staffed {
			Redirect(w, r, views.SetupPath)
			return errHandled
		}
	}
	switch {
	case rt.Least == Anyone:
		return nil
	case v.User.ID == 0:
		return s.sendToSignIn(w, r, v, rt)
	}
	if _, known := sms.ParseRole(string(rt.Least)); known && v.User.Role.AtLeast(rt.Least) {
		return nil
	}
	return sms.ErrForbidden
}

// HasAdministrator says that somebody can sign in and set the desk up.
func (s *Site) HasAdministrator(ctx context.Context) (bool, error) {
	if s.Staffed.Load() {
		return true, nil
	}
	n, err := s.store.Administrators(ctx)
	if err == nil && n > 0 {
		s.Staffed.Store(true)
	}
	return n > 0, err
}

func (s *Site) sendToSignIn(w http.ResponseWriter, r *http.Request, v *Visit, rt Route) error {
	if rt.Pattern == views.LivePath {
		http.Error(w, "signed out", http.StatusUnauthorized)
		return errHandled
	}
	// The page, not the fragment, and never an address that only takes forms.
	next, form := r.URL.RequestURI(), r.Method != http.MethodGet && r.Method != http.MethodHead
	if IsFragment(r) {
		next = currentPage(r)
	} else if form {
		next = ""
	}
	if next == "" && s.pageExists(r.URL.Path) {
		next = r.URL.Path
	}
	saved := s.saveForm(r, v, rt)
	if saved != "" {
		next = saved
	}
	to := views.With(views.SignInPath, "next", LocalPath(next, ""))
	switch {
	case v.lost == nil:
	case form && saved == "":
		to = views.With(to, "why", "undone")
	case errors.Is(v.lost, desk.ErrTimedOut):
		to = views.With(to, "why", "timeout")
	default:
		to = views.With(to, "why", "ended")
	}
	if IsFragment(r) {
		w.Header().Set("HX-Redirect", to)
		http.Error(w, "signed out", http.StatusUnauthorized)
		return errHandled
	}
	Redirect(w, r, to)
	return errHandled
}

// readForm parses what was posted, so that handlers find it in r.PostForm.
func readForm(r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	if err := r.ParseForm(); err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return err
		}
		return ErrUnreadable
	}
	return nil
}

// ErrUnreadable is a form that no browser of ours would send.
var ErrUnreadable = errors.New("the form cannot be read")

func (s *Site) fail(w http.ResponseWriter, r *http.Request, v *Visit, rt Route, err error) {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return
	}
	p := problem(err, rt)
	if p.Status >= http.StatusInternalServerError {
		p.Reference = RequestID(r.Context())
		s.Log.Error("request failed", "id", p.Reference, "method", r.Method, "route", rt.Pattern, "user", v.User.ID, "error",
			err)
	}
	s.ShowProblem(w, r, v, p)
}

// problem finds the page for an error.
func problem(err error, rt Route) views.Problem {
	var large *http.MaxBytesError
	var bad sms.Invalid
	switch {
	case errors.As(err, &large):
		return views.TooLarge("1MB")
	case errors.As(err, &bad):
		return views.Problem{Status: http.StatusUnprocessableEntity, Title: "There is a problem with what you entered",
			Text: sentences(bad)}
	case errors.Is(err, errNotKept):
		return views.NotKept()
	case errors.Is(err, ErrUnreadable):
		return views.Problem{Status: http.StatusBadRequest, Title: "We could not read the form",
			Text: "Go back, reload the page and try again."}
	case errors.Is(err, sms.ErrNotFound):
		return views.NotFound()
	case errors.Is(err, sms.ErrForbidden):
		return forbidden(rt.Least)
	case errors.Is(err, sms.ErrConflict):
		return views.Problem{Status: http.StatusConflict, Title: "This has changed",
			Text: "Someone else changed it, or you already did this in another window. Nothing was done twice. Go back and reload the page."}
	case errors.Is(err, context.DeadlineExceeded):
		return views.Unavailable()
	case health.TroubleOf(err) != "":
		return views.Storing(health.TroubleOf(err).Sentence())
	}
	return views.Broken("")
}

func forbidden(least sms.Role) views.Problem {
	if _, known := sms.ParseRole(string(least)); !known {
		least = sms.Administrator
	}
	return views.Forbidden(least.Title())
}

func sentences(bad sms.Invalid) string {
	var all []string
	for _, s := range bad {
		all = append(all, strings.TrimSuffix(s, ".")+".")
	}
	return strings.Join(all, " ")
}

// ShowProblem is a page for a person, problem details for a program, and one
// line for what a page fetched by itself: htmx leaves a page as it is when an
// answer is not 2xx.
func (s *Site) ShowProblem(w http.ResponseWriter, r *http.Request, v *Visit, p views.Problem) error {
	if ForPrograms(r) {
		s.Program(w, p)
		return nil
	}
	if IsFragment(r) {
		http.Error(w, strings.TrimSpace(p.Title+". "+p.Text+" "+p.Reference), p.Status)
		return nil
	}
	if err := s.Render(w, r, p.Status, views.ErrorPage(v.Frame(p.Title, ""), p)); err != nil {
		s.Log.Error("error page not shown", "error", err)
		http.Error(w, p.Title, p.Status)
	}
	return nil
}

// Render writes a whole component or nothing of it.
func (s *Site) Render(w http.ResponseWriter, r *http.Request, status int, c templ.Component) error {
	var page bytes.Buffer
	if err := c.Render(r.Context(), &page); err != nil {
		return fmt.Errorf("render: %w", err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	// A browser that has gone away is nobody's error.
	_, _ = page.WriteTo(w)
	return nil
}

// Redirect sends the browser on after a form, by GET. to is an address of
// ours, never what somebody sent: see localPath. It returns nil, for a handler
// to end with it.
func Redirect(w http.ResponseWriter, r *http.Request, to string) error {
	if IsFragment(r) {
		w.Header().Set("HX-Redirect", to)
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// IsFragment says that a page asks for a part of itself.
func IsFragment(r *http.Request) bool { return r.Header.Get("HX-Request") == "true" }

// LocalPath returns next where it is a path on this desk, else other: what
// follows a sign-in must never lead to somebody else's site.
func LocalPath(next, other string) string {
	odd := func(c rune) bool { return c <= ' ' || c == '\\' || c == 0x7f || c == '\ufffd' }
	if len(next) > 2000 || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") ||
		strings.ContainsFunc(next, odd) {
		return other
	}
	if p, _, _ := strings.Cut(next, "?"); p == views.SignInPath || p == "/signout" {
		return other
	}
	return next
}

// PathID is the id in the address of a route with {id}; handle lets no other
// address through. It is 0 without one.
func PathID(r *http.Request) int64 {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// Who may, beside the roles of sms. A route with neither lets nobody through.
const (
	// anyone: strangers too.
	Anyone sms.Role = "anyone"
	// outside: no session is looked at, no cookie taken, no origin compared.
	Outside sms.Role = "outside"
)

// Route is one line of the map of addresses: least is the weakest role that
// may, do answers it. plain answers instead of do on routes that are outside;
// there an empty method means any.
type Route struct {
	Method, Pattern string
	Least           sms.Role
	Do              Handler
	Program         http.Handler // instead of do, at addresses for other programs; it asks for the role itself
	Plain           http.Handler
	Upload          bool // takes a small file
	Stream          bool // takes a file of any size, and looks after its size itself
	// Keeps is the page that shows again what was sent after the session's end,
	// "" where no page does; the pattern itself stands for its address.
	Keeps string
	// Offers keeps what was sent after the session's end for a page that says so
	// and has a button for it. It is not for what sends messages, nor for secrets.
	Offers bool
	// shared lets pages that ask for the same fragment get one rendering.
	Shared func(*Visit) (own string, ok bool)
}

// Page is everything between an address and its handler that needs to know
// the route. A stream is never compressed, and neither is a page that shows a
// secret beside words from the address: its length would tell about both.
func (s *Site) Page(rt Route) http.Handler {
	h := s.handle(rt)
	if rt.Pattern != views.LivePath && !strings.HasPrefix(rt.Pattern, views.CallbacksPath) &&
		rt.Pattern != views.TokensPath && rt.Pattern != views.KeptPath &&
		!strings.HasSuffix(rt.Pattern, views.WallSuffix) && !strings.Contains(rt.Pattern, "{token}") {
		h = s.packed(h)
	}
	most := int64(FormMost)
	if rt.Upload {
		most = uploadMost
	}
	if rt.Stream {
		return Private(slowBody(s.cross.Handler(h)))
	}
	return Private(s.limitBody(most, s.cross.Handler(h)))
}

// pageExists says that a page can be opened at this path.
func (s *Site) pageExists(path string) bool {
	return s.pages.Match(chi.NewRouteContext(), http.MethodGet, path)
}

// Side is the navigation with its counts and the foot below it.
func (s *Site) Side(w http.ResponseWriter, r *http.Request, v *Visit) error {
	return s.Render(w, r, http.StatusOK, views.Side(v.LiveFrame("", r.URL.Query().Get("nav"))))
}

// ForPrograms says that errors at this address are told as problem details.
func ForPrograms(r *http.Request) bool {
	return r.URL.Path == "/api" || strings.HasPrefix(r.URL.Path, "/api/")
}
