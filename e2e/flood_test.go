package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestSlowCallersHoldNobodyUp: connections that send their request a
// letter at a time are closed by the receiver, and reports are taken meanwhile.
func TestSlowCallersHoldNobodyUp(t *testing.T) {
	waits(t)
	r := newReceiving(t, 20)
	const slow = 1000
	began := time.Now()
	var all sync.WaitGroup
	var closed atomic.Int64
	request := "GET " + r.path + "?messageId=slow HTTP/1.1\r\nHost: desk.example\r\n"
	for range slow {
		all.Go(func() {
			conn, err := net.DialTimeout("tcp", r.at, patience)
			if err != nil {
				t.Errorf("a slow caller is not let in: %v", err)
				return
			}
			defer func() { _ = conn.Close() }()
			for i := 0; time.Since(began) < time.Minute; i++ {
				if _, err := io.WriteString(conn, request[i%len(request):i%len(request)+1]); err != nil {
					closed.Add(1)
					return
				}
				time.Sleep(500 * time.Millisecond)
			}
		})
	}
	for range 20 {
		asked := time.Now()
		r.told(report(r.next(), "DELIVRD"))
		if took := time.Since(asked); took > 9*time.Second {
			t.Errorf("a report was answered after %s: the provider gives up after 10 s", took)
		}
	}
	all.Wait()
	if n := closed.Load(); n != slow {
		t.Errorf("%d of %d slow callers were closed", n, slow)
	}
	r.applied(20)
}

// TestAFloodOfReportsStopsNobody: many callers at once, every other one
// with a wrong token. What was acknowledged is stored, once for each time, and
// the pages answer meanwhile.
func TestAFloodOfReportsStopsNobody(t *testing.T) {
	r := newReceiving(t, 1)
	m := r.next()
	const callers = 200
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: callers}}
	var kept, busy, wrong atomic.Int64
	var all sync.WaitGroup
	until := time.Now().Add(5 * time.Second)
	for c := range callers {
		path := r.path
		if c%2 == 1 {
			path = "/dlr/wrong"
		}
		all.Go(func() {
			for i := 0; time.Now().Before(until); i++ {
				resp, err := client.Get("http://" + r.at + path + "?" + report(m, "ACCEPTD", "doneDate", fmt.Sprint(c, i)))
				if err != nil {
					t.Errorf("a call was not answered: %v", err)
					return
				}
				_ = resp.Body.Close()
				switch resp.StatusCode {
				case http.StatusOK:
					kept.Add(1)
				case http.StatusServiceUnavailable:
					busy.Add(1)
				case http.StatusNotFound:
					wrong.Add(1)
				default:
					t.Errorf("answered %s", resp.Status)
				}
			}
		})
	}
	pages := 0
	for ; time.Now().Before(until); pages++ {
		if resp, _ := r.boss.get("/reports"); resp.StatusCode != http.StatusOK {
			t.Errorf("the page answers %s", resp.Status)
		}
	}
	all.Wait()
	if kept.Load() < callers || wrong.Load() < callers || pages == 0 {
		t.Errorf("only %d reports, %d wrong calls and %d pages: this proves nothing", kept.Load(), wrong.Load(), pages)
	}
	waitFor(t, longPatience, "the flood to be applied", func() bool { return r.arrivals() >= kept.Load() })
	r.applied(kept.Load())
	t.Logf("%d reports kept, %d turned away, %d wrong tokens, %d pages in 5 s", kept.Load(), busy.Load(), wrong.Load(),
		pages)
}
