package page

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"smsdesk/internal/sms"
)

const (
	// shareGap is the shortest time between two renderings of one fragment.
	shareGap = 100 * time.Millisecond
	// shareTime bounds one rendering: it does not end with the page that asked first.
	shareTime = 10 * time.Second
)

// renderGroup lets pages that show the same thing renew it together: of one fragment
// at most one rendering runs and one waits, however many pages ask. A page joins
// only a rendering that has not begun, so nobody gets what is older than the
// change of which they heard. Nothing is kept once it is answered.
type renderGroup struct {
	mu sync.Mutex
	of map[shareKey]*renderTurn
}

// shareKey is all that a fragment depends on: its address, who may see what,
// the account chosen, and on some routes the person.
type shareKey struct {
	address string
	role    sms.Role
	account int64
	own     string
}

// renderTurn is one fragment: when its last rendering began and when it ended,
// and the one that waits.
type renderTurn struct {
	began time.Time
	last  *shared
	next  *shared
}

// shared is one rendering, for all who waited for it. The fields are written
// before done is closed.
type shared struct {
	done   chan struct{}
	status int
	header http.Header
	body   []byte
	packed func() []byte // body, compressed once
	err    error
}

func newShares() *renderGroup { return &renderGroup{of: map[shareKey]*renderTurn{}} }

// ByRole and byPerson say what a fragment depends on besides its address, the
// role and the account. ok is false where it must be rendered for one page alone.
func ByRole(v *Visit) (own string, ok bool) {
	// What a person looks for is theirs.
	return "", !v.R.URL.Query().Has("find")
}

// ByPerson shares a fragment among the windows of one person.
func ByPerson(v *Visit) (own string, ok bool) {
	return strconv.FormatInt(v.User.ID, 10) + " " + v.Theme(), true
}

// joinNext takes a place in the rendering that comes next; lead is for whoever has
// to do it, after the one in work.
func (s *renderGroup) joinNext(key shareKey) (next *shared, lead func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	turn := s.of[key]
	if turn == nil {
		s.expire()
		turn = &renderTurn{}
		s.of[key] = turn
	}
	if turn.next != nil {
		return turn.next, nil
	}
	next = &shared{done: make(chan struct{})}
	turn.next = next
	before, wait := turn.last, time.Until(turn.began.Add(shareGap))
	return next, func() {
		if before != nil {
			<-before.done
		}
		time.Sleep(wait)
		s.mu.Lock()
		defer s.mu.Unlock()
		turn.began, turn.last, turn.next = time.Now(), next, nil
	}
}

// expire forgets fragments that nobody renews any more.
func (s *renderGroup) expire() {
	for key, turn := range s.of {
		if turn.next == nil && time.Since(turn.began) > shareTime {
			delete(s.of, key)
		}
	}
}

// share answers with a rendering that others who ask for the same get too.
func (s *Site) share(w http.ResponseWriter, r *http.Request, v *Visit, rt Route) error {
	own, ok := rt.Shared(v)
	if !ok {
		return rt.Do(w, r, v)
	}
	next, lead := s.shares.joinNext(shareKey{r.URL.RequestURI(), v.User.Role, v.Account.ID, own})
	if lead != nil {
		lead()
		next.render(r, v, rt)
	}
	select {
	case <-next.done:
	case <-r.Context().Done():
		return r.Context().Err()
	}
	if next.err != nil {
		return next.err
	}
	return next.write(w, r)
}

var errRenderFailed = errors.New("the rendering that was shared broke off")

// render answers for all. Whatever becomes of it, nobody waits for ever.
func (a *shared) render(r *http.Request, v *Visit, rt Route) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), shareTime)
	defer cancel()
	a.err, a.header, a.status = errRenderFailed, http.Header{}, http.StatusOK
	defer close(a.done)
	mine := *v
	mine.R = r.WithContext(ctx)
	a.err = rt.Do(a, mine.R, &mine)
	a.packed = sync.OnceValue(a.compress)
}

// Header, WriteHeader and Write take the answer of the handler.
func (a *shared) Header() http.Header { return a.header }

func (a *shared) WriteHeader(status int) { a.status = status }

func (a *shared) Write(p []byte) (int, error) {
	a.body = append(a.body, p...)
	return len(p), nil
}

func (a *shared) compress() []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // the level is a good one
	_, _ = z.Write(a.body)                          // memory takes it all
	_ = z.Close()
	return b.Bytes()
}

// write gives the answer to one page; a cookie is nobody else's.
func (a *shared) write(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	for name, values := range a.header {
		if name != "Set-Cookie" {
			h[name] = slices.Clone(values)
		}
	}
	body := a.body
	if a.status == http.StatusOK && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		h.Add("Vary", "Accept-Encoding")
		body = a.packed()
	}
	w.WriteHeader(a.status)
	// A browser that has gone away is nobody's error.
	_, _ = w.Write(body)
	return nil
}
