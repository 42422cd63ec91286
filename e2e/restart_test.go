package e2e

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"smsdesk/internal/sms"
)

// handOver starts the desk as a service manager does that holds its sockets.
func (p *pair) handOver(sockets ...*os.File) *process {
	p.t.Helper()
	run := []string{"-c", fmt.Sprintf(`LISTEN_PID=$$ LISTEN_FDS=%d exec "$@"`, len(sockets)), "sh", p.bin, "--data", p.data, "serve", "--listen", p.listen, "--no-sandbox"}
	return startCommand(p.t, exec.Command("sh", append(run, p.flags...)...), sockets...)
}

func listenFile(t *testing.T) (addr string, socket *os.File) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if socket, err = l.(*net.TCPListener).File(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	return l.Addr().String(), socket
}

// TestARestartLosesNoReport is D-16: while a service manager keeps the socket,
// reports that come during restarts wait, and every one is answered and kept.
func TestARestartLosesNoReport(t *testing.T) {
	p := newPair(t, binary(t, ""), 10)
	var pages *os.File
	p.listen, pages = listenFile(t)
	at, callbacks := listenFile(t)
	p.flags = []string{"--callback-listen", at}
	path := strings.TrimPrefix(p.callback("DLR"), "http://"+p.listen)
	desk := p.handOver(pages, callbacks)
	desk.ready(p.listen, 15*time.Second)

	// The provider gives up after 10 s and never repeats a report.
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	var sent atomic.Int64
	stop := make(chan struct{})
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(5 * time.Millisecond):
				}
				n := sent.Add(1)
				resp, err := client.Get(fmt.Sprintf("http://%s%s?messageId=restart-%d&mobile=2348030000101&status=DELIVRD&errorCode=000", at, path, n))
				if err != nil {
					t.Errorf("report %d: %v", n, err)
					return
				}
				_ = resp.Body.Close()
				if resp.StatusCode != http.StatusOK {
					t.Errorf("report %d: %s", n, resp.Status)
				}
			}
		})
	}
	const restarts = 5
	for range restarts {
		time.Sleep(100 * time.Millisecond)
		if err := desk.stop(20 * time.Second); err != nil {
			t.Error(err)
		}
		desk = p.handOver(pages, callbacks)
		desk.ready(p.listen, 15*time.Second)
	}
	close(stop)
	callers.Wait()
	kept := map[string]bool{}
	waitFor(t, 20*time.Second, "every report to be applied", func() bool {
		f := sms.ReportFilter{AccountID: p.account.ID, Kind: sms.ReportsAll, Limit: 500}
		for more := true; more; {
			list, again, err := p.db.Reports(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range list {
				kept[r.ProviderID], f.Before = true, r.ID
			}
			more = again
		}
		return int64(len(kept)) == sent.Load()
	})
	t.Logf("%d restarts, %d reports", restarts, sent.Load())
}

// TestTheWrongSocketsAreRefused: a desk that took only one of two sockets would
// leave callers of the other waiting for ever.
func TestTheWrongSocketsAreRefused(t *testing.T) {
	p := newPair(t, binary(t, ""), 10)
	var one, two *os.File
	p.listen, one = listenFile(t)
	_, two = listenFile(t)
	desk := p.handOver(one, two)
	select {
	case <-desk.ended:
	case <-time.After(15 * time.Second):
		t.Fatal("it serves")
	}
	if !strings.Contains(desk.output.String(), "passes 2 sockets and 1 are needed") {
		t.Errorf("it says %q", desk.output)
	}
}
