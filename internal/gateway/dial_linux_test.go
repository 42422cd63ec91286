package gateway

import (
	"context"
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"

	"smsdesk/internal/sms"
)

// TestDialTimeout fills the queue of a listener that never accepts, so that
// Linux leaves further connections without an answer.
func TestDialTimeout(t *testing.T) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	at, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	addr := fmt.Sprintf("127.0.0.1:%d", at.(*syscall.SockaddrInet4).Port)
	full := false
	for range 10 {
		c, err := net.DialTimeout("tcp", addr, 50*time.Millisecond)
		if err != nil {
			full = true
			break
		}
		defer c.Close()
	}
	if !full {
		t.Fatal("the queue never filled")
	}
	c := open(t, "http://"+addr+"/v2", func(cfg *Config) { cfg.DialTimeout = 100 * time.Millisecond })
	o := c.Send(context.Background(), textCall("1"), func() error { t.Error("licensed"); return nil })
	if want := "We cannot reach the provider. Nothing was sent. Cause: the request timed out"; o.Class != sms.ClassNothingLeft || o.Reason != want {
		t.Fatalf("%+v", o)
	}
}
