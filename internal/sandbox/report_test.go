package sandbox

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// atomicStrings collects texts from several goroutines.
type atomicStrings struct {
	mu  sync.Mutex
	all []string
}

func (a *atomicStrings) add(s string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, s)
}

func (a *atomicStrings) sorted() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Sorted(slices.Values(a.all))
}

func (v *service) settled(t testing.TB) State {
	t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for v.s.State().ReportsOwed > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("still owed: %+v", v.s.State())
		}
		time.Sleep(time.Millisecond)
	}
	return v.s.State()
}

func TestAFailedReportIsNotRepeated(t *testing.T) {
	hangUp := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			conn.Close()
		}
	})
	for name, answer := range map[string]http.HandlerFunc{
		"500":                 func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		"204 is not 200":      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) },
		"redirect":            func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
		"later than time-out": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"hangs up":            hangUp,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := start(t, func(c *Config) { c.ReportTimeout = 100 * time.Millisecond })
			v.sendTo("2348031234567", "opens a connection that is then reused")
			v.settled(t)
			v.dlr.answer.Store(&answer)
			v.sendTo("2348031234567", "fails")
			got := v.settled(t)
			if n := len(v.dlr.all()); n != 2 || got.ReportsAnswered != 1 || got.ReportsLost != 1 {
				t.Errorf("%d requests, %+v: want 2, one answered and one lost", n, got)
			}
		})
	}
}

func TestReportsWaitForAnAddress(t *testing.T) {
	v := start(t, func(c *Config) { c.DLRURL = "" })
	v.rows(v.sendTo("2348031234567,2348030000009", "x"))
	time.Sleep(20 * time.Millisecond)
	if got := v.s.State(); got.ReportsOwed != 2 {
		t.Errorf("%+v", got)
	}
	v.s.SetDLRURL("not an address")
	v.s.SetDLRURL(v.dlr.server.URL + "/dlr")
	v.dlr.wait(t, 2)
	v.settled(t)
	v.s.SetDLRURL("")
	v.rows(v.sendTo("2348031234567", "x"))
	time.Sleep(20 * time.Millisecond)
	if got := v.s.State(); got.ReportsOwed != 1 {
		t.Errorf("after the address was taken away: %+v", got)
	}
}

func TestDefaultDelayOfReports(t *testing.T) {
	v := start(t, func(c *Config) { c.ReportMin, c.ReportMax = 0, 0 })
	begin := time.Now()
	numbers := make([]string, 20)
	for i := range numbers {
		numbers[i] = fmt.Sprintf("23480312345%02d", i)
	}
	v.rows(v.sendTo(strings.Join(numbers, ","), "x"))
	v.dlr.wait(t, 1)
	if d := time.Since(begin); d < 190*time.Millisecond {
		t.Errorf("the first report came after %v", d)
	}
	v.dlr.wait(t, 20)
	if d := time.Since(begin); d > 3*time.Second {
		t.Errorf("the last report came after %v", d)
	}
}

func TestReportsAreDeliveredSideBySide(t *testing.T) {
	v := start(t)
	slow := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(100 * time.Millisecond) })
	v.dlr.answer.Store(&slow)
	numbers := make([]string, 120)
	for i := range numbers {
		numbers[i] = fmt.Sprintf("2348031234%03d", i)
	}
	begin := time.Now()
	v.rows(v.sendTo(strings.Join(numbers, ","), "x"))
	v.dlr.wait(t, 120)
	v.settled(t)
	if d := time.Since(begin); d > 2*time.Second {
		t.Errorf("120 reports of 100 ms took %v; 64 at a time need about 0.2 s", d)
	}
}

func BenchmarkReports(b *testing.B) {
	v := start(b, func(c *Config) { c.State = b.TempDir() + "/state" })
	numbers := make([]string, 100)
	for i := range numbers {
		numbers[i] = fmt.Sprintf("2348031234%03d", i)
	}
	list := strings.Join(numbers, ",")
	b.ResetTimer()
	sent := 0
	for sent < b.N {
		v.sendTo(list, "Hello, this is a text of a usual length for a bench.")
		sent += 100
	}
	b.ReportMetric(float64(sent)/b.Elapsed().Seconds(), "texts/s")
	for v.s.State().ReportsOwed > 0 {
		time.Sleep(time.Millisecond)
	}
	b.ReportMetric(float64(sent)/b.Elapsed().Seconds(), "reports/s")
	b.StopTimer()
	if got := v.s.State(); got.ReportsAnswered != int64(sent) || len(v.dlr.all()) != sent {
		b.Errorf("%d texts, %d received, %+v", sent, len(v.dlr.all()), got)
	}
}

// TestHeldReportsComeLater: nothing is lost while reports are held back.
func TestHeldReportsComeLater(t *testing.T) {
	v := start(t)
	if r := v.do("POST", "/_sandbox/faults", `{"holdReports":true}`, "Content-Type",
		"application/json"); r.status != http.StatusOK {
		t.Fatalf("%+v", r)
	}
	v.sendTo("2348031234567", "held")
	time.Sleep(300 * time.Millisecond)
	if got := v.dlr.all(); len(got) != 0 {
		t.Errorf("reports came although they are held: %v", got)
	}
	v.do("POST", "/_sandbox/faults", `{}`, "Content-Type", "application/json")
	v.settled(t)
	if got := v.dlr.all(); len(got) != 1 {
		t.Errorf("%d reports", len(got))
	}
}
