package web

import (
	"bufio"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"smsdesk/web/page"
)

// liveSite serves over a real connection.
type liveSite struct {
	*site
	server *httptest.Server
	stop   chan struct{}
}

func newLiveSite(t *testing.T, live ...page.Live) *liveSite {
	t.Helper()
	stop := make(chan struct{})
	s := newSite(t, func(c *Config) {
		c.Stopping = stop
		for _, l := range live {
			c.Live = l
		}
	})
	server := httptest.NewUnstartedServer(s.handler)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.Start()
	t.Cleanup(server.Close)
	return &liveSite{site: s, server: server, stop: stop}
}

type event struct {
	name string
	at   time.Time
}

// watch opens a stream; its events arrive until it ends.
func (s *liveSite) watch(ctx context.Context, b *browser, query string) (*http.Response, <-chan event) {
	s.t.Helper()
	return s.listen(ctx, b, "/live?"+query)
}

// listen opens a stream at an address; its events arrive until it ends.
func (s *liveSite) listen(ctx context.Context, b *browser, address string) (*http.Response, <-chan event) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.server.URL+address, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("HX-Request", "true")
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	resp, err := s.server.Client().Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	events := make(chan event, 1000)
	go func() {
		defer close(events)
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		for lines.Scan() {
			if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				events <- event{name, time.Now()}
			} else if strings.HasPrefix(lines.Text(), ":") {
				events <- event{"keep-alive", time.Now()}
			}
		}
	}()
	return resp, events
}

func next(t *testing.T, events <-chan event) string {
	t.Helper()
	select {
	case e := <-events:
		return e.name
	case <-time.After(5 * time.Second):
		t.Fatal("no event in 5 s")
		return ""
	}
}

func ended(t *testing.T, events <-chan event) {
	t.Helper()
	for {
		select {
		case _, open := <-events:
			if !open {
				return
			}
		case <-time.After(5 * time.Second):
			t.Fatal("the stream goes on")
		}
	}
}

func (s *liveSite) open() int {
	return s.web.Streams()
}

func TestLiveContract(t *testing.T) {
	s := newLiveSite(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	resp, events := s.watch(ctx, s.as(s.boss), "t=campaign:42&t=account:1")
	for name, want := range map[string]string{"Content-Type": "text/event-stream; charset=utf-8",
		"Cache-Control": "no-cache", "X-Accel-Buffering": "no", "Content-Encoding": ""} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s %q, want %q", name, got, want)
		}
	}
	if first := []string{next(t, events), next(t, events)}; !slices.Equal(first, []string{"campaign:42", "account:1"}) {
		t.Errorf("right after the connect came %v", first)
	}
	s.feed.Publish("campaign:7", "campaign:42")
	if got := next(t, events); got != "campaign:42" {
		t.Errorf("got %q", got)
	}
	cancel()
	ended(t, events)
	for range 100 {
		if s.open() == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d streams are still counted", s.open())
}

// A flood of changes is at most four nudges a second, and the last is not lost.
func TestLiveRate(t *testing.T) {
	s := newLiveSite(t)
	_, events := s.watch(t.Context(), s.as(s.boss), "t=campaign:42")
	next(t, events)
	time.Sleep(300 * time.Millisecond)
	told := time.Now()
	for time.Since(told) < time.Second {
		s.feed.Publish("campaign:42")
		time.Sleep(time.Millisecond)
	}
	last := time.Now()
	time.Sleep(400 * time.Millisecond)
	s.close()
	var at []time.Time
	for e := range events {
		at = append(at, e.at)
	}
	if len(at) < 3 || len(at) > 6 {
		t.Errorf("%d nudges in a second and a bit", len(at))
	}
	if len(at) > 0 && at[0].Sub(told) > 200*time.Millisecond {
		t.Errorf("the first change waited %v", at[0].Sub(told))
	}
	if len(at) > 0 && at[len(at)-1].Before(last.Add(-10*time.Millisecond)) {
		t.Error("the last change was lost")
	}
}

func (s *liveSite) close() { close(s.stop) }

func TestLiveLimits(t *testing.T) {
	const perSession = 4
	s := newLiveSite(t, page.Live{InAll: perSession + 1})
	b := s.as(s.boss)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var first <-chan event
	for i := range perSession {
		_, events := s.watch(ctx, b, "t=campaign:1")
		next(t, events)
		if i == 0 {
			first = events
		}
	}
	resp, _ := s.watch(ctx, b, "t=campaign:1")
	if resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") == "" {
		t.Errorf("stream %d: %d, Retry-After %q", perSession+1, resp.StatusCode, resp.Header.Get("Retry-After"))
	}
	other, events := s.watch(ctx, s.as(s.boss), "t=campaign:1")
	if other.StatusCode != http.StatusOK || next(t, events) != "campaign:1" {
		t.Errorf("another session: %d", other.StatusCode)
	}
	if resp, _ := s.watch(ctx, s.as(s.boss), "t=campaign:1"); resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a stream too many in all: %d", resp.StatusCode)
	}
	select {
	case <-first:
		t.Error("a refused stream disturbed another")
	default:
	}
}

func TestLiveTopics(t *testing.T) {
	s := newSite(t)
	for _, query := range []string{"", "t=", "t=campaign", "t=campaign:", "t=campaign:0", "t=campaign:x", "t=campaign:-1",
		"t=user:1", "t=campaign:1%0Adata:x", "t=campaign:1&t=x",
		"t=Campaign:1", "t=campaign:1:2", "t=campaign:12345678901234567890", strings.Repeat("t=campaign:1&", 20) + "t=campaign:2"} {
		if got := s.as(s.boss).get("/live?" + query); got.status != http.StatusBadRequest {
			t.Errorf("%q: status %d", query, got.status)
		}
	}
}

func TestLiveEnds(t *testing.T) {
	t.Run("with the session", func(t *testing.T) {
		s := newLiveSite(t, page.Live{Recheck: 20 * time.Millisecond})
		b := s.as(s.boss)
		_, events := s.watch(t.Context(), b, "t=campaign:1")
		next(t, events)
		if err := s.desk.SignOut(t.Context(), b.cookies["smsdesk"]); err != nil {
			t.Fatal(err)
		}
		ended(t, events)
	})
	t.Run("with the hours", func(t *testing.T) {
		s := newLiveSite(t, page.Live{Recheck: 20 * time.Millisecond})
		_, events := s.watch(t.Context(), s.as(s.boss), "t=campaign:1")
		next(t, events)
		s.clock.pass(2 * time.Hour)
		ended(t, events)
	})
	t.Run("with the server", func(t *testing.T) {
		s := newLiveSite(t)
		_, events := s.watch(t.Context(), s.as(s.boss), "t=campaign:1")
		next(t, events)
		s.close()
		ended(t, events)
	})
	t.Run("and keeps alive before", func(t *testing.T) {
		s := newLiveSite(t, page.Live{KeepAlive: 10 * time.Millisecond})
		_, events := s.watch(t.Context(), s.as(s.boss), "t=campaign:1")
		next(t, events)
		if got := next(t, events); got != "keep-alive" {
			t.Errorf("got %q", got)
		}
		s.close()
		ended(t, events)
	})
}
