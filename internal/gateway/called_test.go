package gateway

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"smsdesk/internal/sms"
)

// TestWhoIsToldOfACall: of reads and changes before and after, of each answer
// what time it was for the service, of a 429 before the call returns.
func TestWhoIsToldOfACall(t *testing.T) {
	at := time.Date(2031, 3, 1, 12, 0, 0, 0, time.UTC)
	var mu sync.Mutex
	var told []string
	tell := func(s string) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, s)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tell(r.Method)
		w.Header().Set("Date", at.Format(http.TimeFormat))
		switch r.Method {
		case http.MethodPost:
			w.Header()["Date"] = nil
		case http.MethodDelete:
			// The wait is read by the service's own clock.
			w.Header().Set("Retry-After", at.Add(20*time.Second).Format(http.TimeFormat))
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			w.Header().Set("Age", "7")
		}
		_, _ = w.Write([]byte(`{"ErrorCode":0,"ErrorDescription":"Success","Data":[]}`))
	}))
	defer server.Close()
	var wait time.Duration
	c, err := Open(Config{BaseURL: server.URL + "/v2", Credentials: sms.Credentials{ClientID: "c", APIKey: "k"},
		PerMinute: 100,
		Called:    func() func() { tell("called"); return func() { tell("ended") } },
		Heard:     func(service time.Time) { tell(service.Format("15:04:05")) },
		Throttled: func(th sms.Throttle) { wait = th.Wait; tell("throttled") }})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = c.Balance(t.Context())
	_, _ = c.CreateGroup(t.Context(), "Parents")
	_, _ = c.DeleteGroup(t.Context(), 1)
	want := []string{"called", "GET", "12:00:07", "ended", "called", "POST", "00:00:00", "ended", "called", "DELETE",
		"12:00:00", "throttled", "ended"}
	if !slices.Equal(told, want) || wait != 20*time.Second {
		t.Errorf("told %q, want %q; a wait of %v", told, want, wait)
	}
}
