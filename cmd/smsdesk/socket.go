package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

// firstPassed is the first file descriptor that a service manager passes.
const firstPassed = 3

// passedListeners are the sockets that a service manager has opened for this
// process (LISTEN_FDS and LISTEN_PID): connections wait in them while smsdesk
// restarts, so no report is turned away. Where it passes any there must
// be n: that of the pages, then that of the callbacks. The variables are taken
// away, so that no other process takes the sockets for its own.
func passedListeners(n int) ([]net.Listener, error) {
	pid, count := os.Getenv("LISTEN_PID"), os.Getenv("LISTEN_FDS")
	if count == "" || pid != strconv.Itoa(os.Getpid()) {
		return nil, nil
	}
	if err := errors.Join(os.Unsetenv("LISTEN_PID"), os.Unsetenv("LISTEN_FDS"),
		os.Unsetenv("LISTEN_FDNAMES")); err != nil {
		return nil, fmt.Errorf("take over the sockets of the service manager: %w", err)
	}
	if count != strconv.Itoa(n) {
		return nil, fmt.Errorf("expected %d sockets from the service manager (--listen, then --callback-listen), got %s", n,
			count)
	}
	var list []net.Listener
	for i := range n {
		f := os.NewFile(uintptr(firstPassed+i), "socket")
		l, err := net.FileListener(f)
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("socket %d of the service manager cannot be listened on: %w", i+1, err)
		}
		list = append(list, l)
	}
	return list, nil
}

const (
	// stopAnswers is how long open requests may take to finish at a stop.
	stopAnswers = 10 * time.Second
	// stopSilent is how long a connection that has said nothing yet may keep a
	// stop waiting: browsers open some in advance.
	stopSilent = time.Second
)

// serveUntil serves until ctx ends. Then nobody is let in any more, and who was
// let in before is answered: a report on its way must not be lost.
func serveUntil(ctx context.Context, server *http.Server, listener net.Listener) error {
	guests := openConns{open: map[net.Conn]http.ConnState{}}
	server.ConnState = guests.track
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	finish, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopAnswers)
	defer cancel()
	err := listener.Close()
	// Behind the end of Serve every connection that was let in has been noted.
	// Shutdown comes last: it drops requests that it finds unread.
	<-failed
	guests.wait(finish)
	if down := server.Shutdown(finish); down != nil {
		err = errors.Join(err, down, server.Close())
	}
	if err != nil {
		return fmt.Errorf("close %s: %w", listener.Addr(), err)
	}
	return nil
}

// openConns are the connections of a server that wait for an answer, or have not
// asked yet.
type openConns struct {
	mu   sync.Mutex
	open map[net.Conn]http.ConnState
}

func (g *openConns) track(c net.Conn, state http.ConnState) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if state == http.StateNew || state == http.StateActive {
		g.open[c] = state
		return
	}
	delete(g.open, c)
}

// wait returns when nobody waits for an answer, or when ctx ends.
func (g *openConns) wait(ctx context.Context) {
	silent := time.Now().Add(stopSilent)
	for ctx.Err() == nil && g.active(time.Now().Before(silent)) {
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (g *openConns) active(silentToo bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, state := range g.open {
		if silentToo || state == http.StateActive {
			return true
		}
	}
	return false
}
