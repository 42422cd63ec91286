package page

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"sync"
	"time"

	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
)

// The contract of a live stream.
const (
	streamsPerSession = 4
	streamsInAll      = 500
	topicsPerStream   = 20
	nudgeEvery        = 250 * time.Millisecond
	// nudgeShare is what each open page adds to the time between two nudges:
	// all pages together renew themselves 400 times a second at most.
	nudgeShare    = 2500 * time.Microsecond
	writeDeadline = 5 * time.Second
	retryAfter    = "5" // seconds
)

var topicForm = regexp.MustCompile(
	`^((campaign|campaigns|message|account|reports|ussd|rehearsal):[1-9][0-9]{0,18}|list:[0-9a-f]{32}|backup|journal)$`)

// Live bounds the streams of pages that move; a zero field is the usual.
type Live struct {
	PerSession int
	InAll      int
	KeepAlive  time.Duration
	Recheck    time.Duration // how often a stream's session is looked at again
}

// streamLimiter counts the open ones.
type streamLimiter struct {
	Live
	mu  sync.Mutex
	all int
	of  map[string]int // by session
}

func newStreams(l Live) *streamLimiter {
	usual := Live{PerSession: streamsPerSession, InAll: streamsInAll, KeepAlive: 15 * time.Second, Recheck: time.Minute}
	if l.PerSession > 0 {
		usual.PerSession = l.PerSession
	}
	if l.InAll > 0 {
		usual.InAll = l.InAll
	}
	if l.KeepAlive > 0 {
		usual.KeepAlive = l.KeepAlive
	}
	if l.Recheck > 0 {
		usual.Recheck = l.Recheck
	}
	return &streamLimiter{Live: usual, of: map[string]int{}}
}

// Streams is how many live pages are open.
func (s *Site) Streams() int {
	s.streams.mu.Lock()
	defer s.streams.mu.Unlock()
	return s.streams.all
}

func (s *streamLimiter) enter(session string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= s.InAll || s.of[session] >= s.PerSession {
		return false
	}
	s.all++
	s.of[session]++
	return true
}

// rest is the time between two nudges of one page.
func (s *streamLimiter) rest() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(nudgeEvery, time.Duration(s.all)*nudgeShare)
}

func (s *streamLimiter) leave(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.of[session]--; s.of[session] == 0 {
		delete(s.of, session)
	}
}

// Live streams the names of what changed to a person who is signed in.
func (s *Site) Live(w http.ResponseWriter, r *http.Request, v *Visit) error {
	topics, ok := topicsOf(r)
	if !ok {
		return ErrUnreadable
	}
	return s.StreamTo(w, r, Listening{Holder: v.Token(), Topics: topics, Still: func(ctx context.Context) error {
		_, err := s.desk.PeekSession(ctx, v.Token())
		return err
	}})
}

// Listening is who listens to what: Holder counts the streams that one session or
// link has open, and Still is asked now and then whether it may go on; an error
// ends the stream.
type Listening struct {
	Holder string
	Topics []string
	Still  func(ctx context.Context) error
}

// StreamTo streams the names of what changed, never data. It listens first and
// then names every topic once, so that a page which slept is never stale; a
// thousand changes between two nudges are one event.
func (s *Site) StreamTo(w http.ResponseWriter, r *http.Request, l Listening) error {
	if !s.streams.enter(l.Holder) {
		w.Header().Set("Retry-After", retryAfter)
		http.Error(w, "Too many pages with live updates are open. Close some", http.StatusTooManyRequests)
		return nil
	}
	defer s.streams.leave(l.Holder)
	listener := s.Feed.Subscribe(l.Topics...)
	defer listener.Close()

	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	out := eventWriter{w: w, control: http.NewResponseController(w)}
	// The server's own limits are for requests that end.
	if !okOrUnsupported(out.control.SetReadDeadline(time.Time{})) || !out.events(l.Topics) {
		return nil
	}
	s.stream(r, l, listener, out)
	return nil
}

func topicsOf(r *http.Request) ([]string, bool) {
	topics := r.URL.Query()["t"]
	if len(topics) == 0 || len(topics) > topicsPerStream {
		return nil, false
	}
	for _, t := range topics {
		if !topicForm.MatchString(t) {
			return nil, false
		}
	}
	return topics, true
}

// stream runs until the browser, the right to listen or the server ends.
func (s *Site) stream(r *http.Request, l Listening, listener *feed.Listener, out eventWriter) {
	keepAlive, recheck := time.NewTicker(s.streams.KeepAlive), time.NewTicker(s.streams.Recheck)
	defer keepAlive.Stop()
	defer recheck.Stop()
	calm := time.NewTimer(nudgeEvery)
	defer calm.Stop()
	var nudged <-chan struct{}
	for {
		alive := true
		select {
		case <-r.Context().Done():
			return
		case <-s.stopping:
			return
		case <-nudged:
			alive = out.events(listener.Take())
			nudged = nil
			calm.Reset(s.streams.rest())
		case <-calm.C:
			nudged = listener.C()
		case <-keepAlive.C:
			alive = out.comment()
		case <-recheck.C:
			err := l.Still(r.Context())
			if err != nil && !errors.Is(err, sms.ErrNotFound) && r.Context().Err() == nil {
				s.Log.Error("right to a live stream not checked", "id", RequestID(r.Context()), "error", err)
			}
			alive = err == nil
		}
		if !alive {
			return
		}
	}
}

// eventWriter writes with a deadline each, so that a browser which does not
// read costs one connection for a few seconds.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (e eventWriter) events(names []string) bool {
	var b []byte
	for _, n := range names {
		b = append(b, "event: "+n+"\ndata: \n\n"...)
	}
	return e.write(b)
}

func (e eventWriter) comment() bool { return e.write([]byte(": keep-alive\n\n")) }

func (e eventWriter) write(b []byte) bool {
	if !okOrUnsupported(e.control.SetWriteDeadline(time.Now().Add(writeDeadline))) {
		return false
	}
	if _, err := e.w.Write(b); err != nil {
		return false
	}
	return e.control.Flush() == nil && okOrUnsupported(e.control.SetWriteDeadline(time.Time{}))
}

// okOrUnsupported says that a deadline was set, or that this connection has none.
func okOrUnsupported(err error) bool { return err == nil || errors.Is(err, http.ErrNotSupported) }
