package stage

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	"smsdesk/internal/sms"
)

// pipes is a listener that nobody outside of the process can reach.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

// dial makes a connection.
func (p *pipes) dial(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Accept gives the service's side of the next connection.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, io.EOF
	}
}

// Close ends it.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr is no address.
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "rehearsal", Net: "pipe"} }

var errUnreached = errors.New("the rehearsal let this connection fail")

// failing is a dial of which some fail before a byte leaves.
func failing(dial func(context.Context) (net.Conn, error), share float64,
	seed uint64, failed func()) func(context.Context) (net.Conn, error) {
	var mu sync.Mutex
	dice := rand.New(rand.NewPCG(seed, 2))
	return func(ctx context.Context) (net.Conn, error) {
		mu.Lock()
		fails := dice.Float64() < share
		mu.Unlock()
		if fails {
			failed()
			return nil, errUnreached
		}
		return dial(ctx)
	}
}

// clock is the wall clock from a moment on, so many times as fast.
type clock struct {
	start time.Time
	began time.Time
	speed int
	mu    sync.Mutex
	ahead time.Duration // what was skipped
}

func newClock(start time.Time, speed int) *clock {
	return &clock{start: start, began: time.Now(), speed: speed}
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.start.Add(time.Since(c.began)*time.Duration(c.speed) + c.ahead)
}

// skip lets time pass at once.
func (c *clock) skip(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

// inbox keeps delivery reports in memory, as they come from the sandbox.
type inbox struct {
	account int64
	now     func() time.Time
	notify  func()
	mu      sync.Mutex
	list    []sms.RawReport
}

// RoundTrip takes one report and acknowledges it.
func (in *inbox) RoundTrip(r *http.Request) (*http.Response, error) {
	in.mu.Lock()
	in.list = append(in.list, sms.RawReport{ID: int64(len(in.list) + 1), AccountID: in.account,
		ReceivedAt: in.now().UnixMilli(), Query: r.URL.RawQuery})
	in.mu.Unlock()
	in.notify()
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
}

// After gives the reports behind an id.
func (in *inbox) After(_ context.Context, id int64, limit int) ([]sms.RawReport, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	from := min(int(id), len(in.list))
	return in.list[from:min(from+limit, len(in.list))], nil
}

// Applied forgets nothing: a rehearsal is short.
func (in *inbox) Applied(int64) {}

// journal counts licences in place of writing them down: the sandbox is gone with
// the process that could forget them.
type journal struct {
	now  func() time.Time
	mu   sync.Mutex
	n    int64
	last time.Time
}

// Append counts one.
func (j *journal) Append(*sms.Attempt) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.n, j.last = j.n+1, j.now()
	return nil
}

// Ready is always.
func (j *journal) Ready(context.Context) error { return nil }

func (j *journal) sum() (n int64, last time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.n, j.last
}
