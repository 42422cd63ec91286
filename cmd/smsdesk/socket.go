package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
)

// firstPassed is the first file descriptor that a service manager passes.
const firstPassed = 3

// passedListeners are the sockets that a service manager has opened for this
// process (LISTEN_FDS and LISTEN_PID): connections wait in them while smsdesk
// restarts, so no report is turned away (D-16). Where it passes any there must
// be n: that of the pages, then that of the callbacks. The variables are taken
// away, so that no other process takes the sockets for its own.
func passedListeners(n int) ([]net.Listener, error) {
	pid, count := os.Getenv("LISTEN_PID"), os.Getenv("LISTEN_FDS")
	if count == "" || pid != strconv.Itoa(os.Getpid()) {
		return nil, nil
	}
	if err := errors.Join(os.Unsetenv("LISTEN_PID"), os.Unsetenv("LISTEN_FDS"), os.Unsetenv("LISTEN_FDNAMES")); err != nil {
		return nil, fmt.Errorf("take over the sockets of the service manager: %w", err)
	}
	if count != strconv.Itoa(n) {
		return nil, fmt.Errorf("the service manager passes %s sockets and %d are needed: one for --listen, and one behind it for --callback-listen where that is given", count, n)
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
