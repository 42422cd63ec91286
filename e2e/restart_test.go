package e2e

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"smsdesk/internal/sms"
)

// handOver starts the desk as a service manager does that holds its sockets.
func (p *pair) handOver(sockets ...*os.File) *process {
	p.t.Helper()
	run := []string{"-c", fmt.Sprintf(`LISTEN_PID=$$ LISTEN_FDS=%d exec "$@"`, len(sockets)), "sh", p.bin, "--data",
		p.data, "serve", "--listen", p.listen, "--no-sandbox"}
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

const (
	restarts         = 50
	restartPerSecond = 200
)

// TestARestartLosesNoReport: while a service manager keeps the sockets,
// reports that come during restarts wait, and every one is answered and kept.
func TestARestartLosesNoReport(t *testing.T) {
	beside(t)
	p := newPair(t, binary(t, ""), 10)
	var pages *os.File
	p.listen, pages = listenFile(t)
	at, callbacks := listenFile(t)
	p.flags = []string{"--callback-listen", at}
	path := strings.TrimPrefix(p.callback("DLR"), "http://"+p.listen)
	desk := p.handOver(pages, callbacks)
	desk.ready(p.listen)
	stop := reportSteadily(t, "http://"+at+path, restartPerSecond)
	for range restarts {
		time.Sleep(50 * time.Millisecond)
		if err := desk.stop(); err != nil {
			t.Error(err)
		}
		desk = p.handOver(pages, callbacks)
		desk.ready(p.listen)
	}
	sent := stop()
	kept := map[string]bool{}
	waitFor(t, patience, "every report to be applied", func() bool {
		p.reportIDs(kept)
		return len(kept) == sent
	})
	t.Logf("%d restarts, %d reports", restarts, sent)
}

// reportSteadily sends reports at the times when they are due, however long
// the answers take, and fails the test for each that is not answered with 200
// within the provider's 10 s: it never repeats one.
func reportSteadily(t *testing.T, address string, perSecond int) (stop func() (sent int)) {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	done, ended := make(chan struct{}), make(chan int)
	var callers sync.WaitGroup
	report := func(n int) {
		resp, err := client.Get(fmt.Sprintf("%s?messageId=restart-%d&mobile=2348030000101&status=DELIVRD&errorCode=000",
			address, n))
		if err != nil {
			t.Errorf("report %d: %v", n, err)
			return
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("report %d: %s", n, resp.Status)
		}
	}
	go func() {
		clock, sent := time.NewTicker(5*time.Millisecond), 0
		defer clock.Stop()
		for began := time.Now(); ; {
			select {
			case <-done:
				callers.Wait()
				ended <- sent
				return
			case <-clock.C:
			}
			for due := int(time.Since(began).Seconds() * float64(perSecond)); sent < due; sent++ {
				n := sent
				callers.Go(func() { report(n) })
			}
		}
	}()
	return func() int { close(done); return <-ended }
}

// reportIDs adds the message ids of all stored reports.
func (p *pair) reportIDs(kept map[string]bool) {
	p.t.Helper()
	f := sms.ReportFilter{AccountID: p.account.ID, Kind: sms.ReportsAll, Limit: 1000}
	for more := true; more; {
		list, again, err := p.db.Reports(p.t.Context(), f)
		p.must(err)
		for _, r := range list {
			kept[r.ProviderID], f.Before = true, r.Key
		}
		more = again
	}
}

// TestTheWrongSocketsAreRefused: a desk that took only one of two sockets would
// leave callers of the other waiting for ever.
func TestTheWrongSocketsAreRefused(t *testing.T) {
	beside(t)
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
	if !strings.Contains(desk.output.String(), "expected 1 sockets from the service manager") {
		t.Errorf("it says %q", desk.output)
	}
}
