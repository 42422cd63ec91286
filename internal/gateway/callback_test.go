package gateway

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/sms"
	"smsdesk/internal/ussd"
)

const token = "f3b1c0ffee5b1c0ffee5b1c0ffee5b1c"

type keptReport struct {
	account, at   int64
	remote, query string
}

// inbox remembers the reports that it is given.
type inbox struct {
	mu       sync.Mutex
	reports  []keptReport
	refused  atomic.Int64
	posts    atomic.Bool // the account takes reports by POST
	posted   atomic.Int64
	log      bytes.Buffer
	keep     func(context.Context) error // before a report is remembered; nil: nothing
	receives atomic.Bool
}

func (b *inbox) Account(h [32]byte) (int64, bool) { return 7, h == sha256.Sum256([]byte(token)) }

func (b *inbox) Keep(ctx context.Context, account, at int64, remote, query string) error {
	if b.keep != nil {
		if err := b.keep(ctx); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reports = append(b.reports, keptReport{account, at, remote, query})
	return nil
}

func (b *inbox) Receives(context.Context) bool       { return b.receives.Load() }
func (b *inbox) Refused()                            { b.refused.Add(1) }
func (b *inbox) TakesPosts([32]byte) bool            { return b.posts.Load() }
func (b *inbox) Posted(int64)                        { b.posted.Add(1) }
func (b *inbox) Answered(int64, time.Duration, bool) {}

func (b *inbox) config(keep func(context.Context) error) CallbackConfig {
	b.keep = keep
	b.receives.Store(true)
	return CallbackConfig{Reports: b, Log: slog.New(slog.NewTextHandler(&b.log, nil)), Now: func() time.Time {
		return time.UnixMilli(1234)
	}}
}

// answering answers a stage of a session by a function.
type answering func(ctx context.Context, account int64, r ussd.Request) (ussd.Answer, error)

func (a answering) Answer(ctx context.Context, account int64, r ussd.Request) (ussd.Answer, error) {
	return a(ctx, account, r)
}

// panicking has Reports that panic.
type panicking struct{ *inbox }

func (panicking) Account([32]byte) (int64, bool) { panic("broken") }

// TestProbesOfTheCallbacks: ready is only whether reports can be stored.
func TestProbesOfTheCallbacks(t *testing.T) {
	var b inbox
	cfg := b.config(nil)
	s := httptest.NewServer(NewCallback(cfg))
	defer s.Close()
	want := func(method, path string, status int, body string) {
		t.Helper()
		r, err := http.NewRequest(method, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		got, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != status || string(got) != body {
			t.Errorf("%s %s: %d %q", method, path, resp.StatusCode, got)
		}
	}
	want("GET", "/livez", 200, "ok\n")
	want("GET", "/readyz", 200, "ok\n")
	want("GET", "/readyz?for=reports", 200, "ok\n")
	want("HEAD", "/readyz", 200, "")
	want("POST", "/readyz", 405, "")
	b.receives.Store(false)
	want("GET", "/livez", 200, "ok\n")
	want("GET", "/readyz", 503, "not ready: no report can be stored\n")
	if len(b.reports) != 0 || b.refused.Load() != 0 {
		t.Error("a probe counts as a call")
	}
}

func TestReportAnswers(t *testing.T) {
	good := "doneDate=2031-03-01+00%3A05&submitDate=x&errorCode=000&shortMessage=Hello&status=DELIVRD&messageId=a-1&mobile=2348031230101"
	long := strings.Repeat("x", maxReport)
	tests := []struct {
		name, method, target string
		want, kept, refused  int
	}{
		{"report", "GET", "/dlr/" + token + "?" + good, 200, 1, 0},
		{"no query", "GET", "/dlr/" + token, 200, 1, 0},
		{"semicolons and bad escapes", "GET", "/dlr/" + token + "?a;b=%zz&status=%", 200, 1, 0},
		{"longest", "GET", "/dlr/" + token + "?" + long, 200, 1, 0},
		{"too long", "GET", "/dlr/" + token + "?" + long + "x", 414, 0, 0},
		{"wrong token", "GET", "/dlr/" + token + "x?" + good, 404, 0, 1},
		{"no token", "GET", "/dlr/?" + good, 404, 0, 1},
		{"more path", "GET", "/dlr/" + token + "/x?" + good, 404, 0, 1},
		{"HEAD", "HEAD", "/dlr/" + token + "?" + good, 405, 0, 0},
		{"POST", "POST", "/dlr/" + token + "?" + good, 405, 0, 0},
		{"OPTIONS", "OPTIONS", "/dlr/" + token, 405, 0, 0},
		{"GET for USSD", "GET", "/ussd/" + token, 405, 0, 0},
		{"wrong USSD token", "POST", "/ussd/x", 404, 0, 1},
		{"elsewhere", "GET", "/healthz", 404, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b inbox
			s := httptest.NewServer(NewCallback(b.config(nil)))
			defer s.Close()
			r, err := http.NewRequest(tt.method, s.URL+tt.target, nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != tt.want || len(body) != 0 || resp.Header.Get("Content-Type") != "" {
				t.Fatalf("%d %q %v", resp.StatusCode, body, resp.Header)
			}
			if len(b.reports) != tt.kept || int(b.refused.Load()) != tt.refused {
				t.Fatalf("%d kept, %d refused", len(b.reports), b.refused.Load())
			}
			if tt.kept > 0 {
				_, query, _ := strings.Cut(tt.target, "?")
				got := b.reports[0]
				if !strings.HasPrefix(got.remote, "127.0.0.1:") || got.account != 7 || got.at != 1234 || got.query != query {
					t.Fatalf("%+v", got)
				}
			}
			if strings.Contains(b.log.String(), token[:8]) || strings.Contains(b.log.String(), "2348031230101") {
				t.Fatal(b.log.String())
			}
		})
	}
}

// TestSameAnswer: nothing tells a known id from an unknown one.
func TestSameAnswer(t *testing.T) {
	var b inbox
	c := NewCallback(b.config(nil))
	var first string
	for _, id := range []string{"known", "unknown", ""} {
		w := httptest.NewRecorder()
		c.ServeHTTP(w, httptest.NewRequest("GET", "/dlr/"+token+"?messageId="+id, nil))
		if got := fmt.Sprint(w.Code, w.Header(), w.Body); first == "" {
			first = got
		} else if got != first {
			t.Fatalf("%s, not %s", got, first)
		}
	}
}

func TestReportNotKept(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	for name, keep := range map[string]func(context.Context) error{
		"error":        func(context.Context) error { return errors.New("disk full") },
		"panic":        func(context.Context) error { panic("broken") },
		"too slow":     func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"never leaves": func(context.Context) error { <-hang; return nil },
	} {
		t.Run(name, func(t *testing.T) {
			var b inbox
			c := NewCallback(b.config(keep))
			if c.reportStop != 8*time.Second || c.ussdStop != 1800*time.Millisecond {
				t.Fatal("the stops are not those of the design")
			}
			c.reportStop = 50 * time.Millisecond
			w := httptest.NewRecorder()
			began := time.Now()
			c.ServeHTTP(w, httptest.NewRequest("GET", "/dlr/"+token+"?status=DELIVRD", nil))
			if w.Code != 503 || w.Body.Len() != 0 || time.Since(began) > time.Second {
				t.Fatalf("%d after %v", w.Code, time.Since(began))
			}
		})
	}
	w := httptest.NewRecorder()
	NewCallback(CallbackConfig{Reports: panicking{}}).ServeHTTP(w, httptest.NewRequest("GET", "/dlr/x", nil))
	if w.Code != 503 {
		t.Fatalf("panic in Account: %d", w.Code)
	}
}

// TestHangUp: a caller that goes away does not undo the storing.
func TestHangUp(t *testing.T) {
	var b inbox
	ctx, cancel := context.WithCancel(context.Background())
	c := NewCallback(b.config(func(ctx context.Context) error { cancel(); return ctx.Err() }))
	w := httptest.NewRecorder()
	c.ServeHTTP(w, httptest.NewRequest("GET", "/dlr/"+token, nil).WithContext(ctx))
	if w.Code != 200 || len(b.reports) != 1 {
		t.Fatalf("%d, %d kept", w.Code, len(b.reports))
	}
}

func TestFlood(t *testing.T) {
	var b inbox
	var inside, most atomic.Int64
	free := make(chan struct{})
	c := NewCallback(b.config(func(context.Context) error {
		if n := inside.Add(1); n > most.Load() {
			most.Store(n)
		}
		<-free
		inside.Add(-1)
		return nil
	}))
	c.reports = newConcurrencyLimit(4, 6)
	codes := make(chan int, 100)
	serve := func() {
		w := httptest.NewRecorder()
		c.ServeHTTP(w, httptest.NewRequest("GET", "/dlr/"+token, nil))
		codes <- w.Code
	}
	for range 10 {
		go serve()
	}
	for c.reports.busy.Load() < 10 || inside.Load() < 4 {
		time.Sleep(time.Millisecond)
	}
	for range 5 {
		serve()
		if code := <-codes; code != 503 {
			t.Fatalf("%d above the limit", code)
		}
	}
	wrong := httptest.NewRecorder()
	c.ServeHTTP(wrong, httptest.NewRequest("GET", "/dlr/wrong", nil))
	if wrong.Code != 404 {
		t.Fatalf("a wrong token waits: %d", wrong.Code)
	}
	close(free)
	for range 10 {
		if code := <-codes; code != 200 {
			t.Fatalf("%d below the limit", code)
		}
	}
	if most.Load() > 4 || len(b.reports) != 10 {
		t.Fatalf("%d at once, %d kept", most.Load(), len(b.reports))
	}
	for c.reports.busy.Load() != 0 {
		time.Sleep(time.Millisecond)
	}
	if d := NewCallback(CallbackConfig{}); cap(d.reports.semaphore) != 512 || d.reports.maxBusy != 512+16384 {
		t.Fatal("the limits are not those of the design")
	}
}

func TestParseReport(t *testing.T) {
	full := sms.DeliveryReport{ProviderID: "a-1", Mobile: "2348031230101", Status: "DELIVRD", ErrorCode: "000",
		SubmitDate: "2031-03-01 00:05", DoneDate: "2103010006", ShortMessage: "Hi & ẹ"}
	tests := []struct {
		name, query string
		want        sms.DeliveryReport
	}{
		{"§6.1",
			"doneDate=2103010006&submitDate=2031-03-01+00%3A05&errorCode=000&shortMessage=Hi%20%26%20%E1%BA%B9&status=DELIVRD&messageId=a-1&mobile=2348031230101", full},
		{"other case",
			"DoneDate=2103010006&SUBMITDATE=2031-03-01%2000:05&errorcode=000&ShortMessage=Hi+%26+ẹ&Status=DELIVRD&MessageID=a-1&Mobile=2348031230101", full},
		{"specified name before other case", "MessageId=x&messageId=a-1&STATUS=y&status=DELIVRD", sms.DeliveryReport{ProviderID: "a-1", Status: "DELIVRD"}},
		{"first of repeated", "status=DELIVRD&status=UNDELIV&messageId=&messageId=b", sms.DeliveryReport{Status: "DELIVRD"}},
		{"escaped name", "%73tatus=DELIVRD", sms.DeliveryReport{Status: "DELIVRD"}},
		{"bad escapes stay", "shortMessage=100%+sure+%zz%4&status=%41CCEPTD", sms.DeliveryReport{ShortMessage: "100% sure %zz%4", Status: "ACCEPTD"}},
		{"decoded once", "shortMessage=%2541", sms.DeliveryReport{ShortMessage: "%41"}},
		{"semicolon is text", "shortMessage=a;status=x&status=DELIVRD", sms.DeliveryReport{ShortMessage: "a;status=x", Status: "DELIVRD"}},
		{"equals in text", "shortMessage=a=b", sms.DeliveryReport{ShortMessage: "a=b"}},
		{"NUL and Latin-1", "shortMessage=a%00b%E9", sms.DeliveryReport{ShortMessage: "a\uFFFDb\uFFFD"}},
		{"line breaks", "shortMessage=a%0d%0ab", sms.DeliveryReport{ShortMessage: "a\r\nb"}},
		{"space around the id", "messageId=+a-1%20", sms.DeliveryReport{ProviderID: "a-1"}},
		{"empty", "", sms.DeliveryReport{}},
		{"junk", "&&=&==&%", sms.DeliveryReport{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.Raw = tt.query
			if d := cmp.Diff(tt.want, ParseReport(tt.query)); d != "" {
				t.Fatal(d)
			}
		})
	}
}

func FuzzDLRQuery(f *testing.F) {
	f.Add("doneDate=x&submitDate=x&errorCode=000&shortMessage=Hello%20%26&status=DELIVRD&messageId=a-1&mobile=234")
	f.Add("Status=%zz&status=%4&messageId;=%00%ff&messageId=a&messageId=b")
	f.Add("shortMessage=%25%32%35+%")
	f.Add("MessageID=b&shortMessage=messageId=a&Status=UNDELIV&status=")
	f.Fuzz(func(t *testing.T, query string) {
		r := ParseReport(query)
		if r.Raw != query {
			t.Fatal("the raw query is changed")
		}
		for _, s := range []string{r.ProviderID, r.Mobile, r.Status, r.ErrorCode, r.SubmitDate, r.DoneDate, r.ShortMessage} {
			if !utf8.ValidString(s) || strings.Contains(s, "\x00") || len(s) > 3*len(query) {
				t.Fatalf("%q", s)
			}
		}
		// A later parameter never changes what an earlier one of the specified
		// name said, not even with nothing; it does go before another case.
		again := ParseReport(query + "&messageId=forged&status=forged")
		for _, f := range []struct{ name, was, is string }{
			{"messageId", r.ProviderID, again.ProviderID},
			{"status", r.Status, again.Status},
		} {
			want := "forged"
			if slices.ContainsFunc(reportParams(query), func(p struct{ name, value string }) bool { return p.name == f.name }) {
				want = f.was
			}
			if f.is != want {
				t.Fatalf("%s: %q became %q, not %q", f.name, f.was, f.is, want)
			}
		}
	})
}

func TestUSSDAnswers(t *testing.T) {
	begin := `{"msisdn":"2348031230101","network":"mtn","shortcode":"347","text":"*347#","session":{"type":{"code":2,"name":"begin"}},
		"backend":{"cuap":{"header":{"command_len":"1","receiver_id":"2","sender_id":"3"}}}}`
	hang := make(chan struct{})
	defer close(hang)
	menu := func(f func(context.Context) (ussd.Answer, error)) func(context.Context, int64, ussd.Request) (ussd.Answer,
		error) {
		return func(ctx context.Context, account int64, r ussd.Request) (ussd.Answer, error) {
			if account != 7 || r.MSISDN != "2348031230101" || r.Stage != ussd.Begin {
				return ussd.Answer{}, errors.New("wrong request")
			}
			return f(ctx)
		}
	}
	tests := []struct {
		name, body string
		menu       func(context.Context, int64, ussd.Request) (ussd.Answer, error)
		stage      string
		text       string
	}{
		{"no menu", begin, nil, "end", ussd.NoMenu},
		{"goes on", begin, menu(func(context.Context) (ussd.Answer, error) { return ussd.Answer{Text: "1. Yes"}, nil }), "continue", "1. Yes"},
		{"ends", begin, menu(func(context.Context) (ussd.Answer, error) { return ussd.Answer{End: true, Text: "Bye"}, nil }), "end", "Bye"},
		{"fails", begin, menu(func(context.Context) (ussd.Answer, error) { return ussd.Answer{Text: "x"}, errors.New("no database") }), "end", ussd.Apology},
		{"panics", begin, menu(func(context.Context) (ussd.Answer, error) { panic("broken") }), "end", ussd.Apology},
		{"hangs", begin, menu(func(context.Context) (ussd.Answer, error) { <-hang; return ussd.Answer{}, nil }), "end", ussd.Apology},
		{"malformed", `{"text":"a"b"}`, nil, "end", ussd.Apology},
		{"empty", ``, nil, "end", ussd.Apology},
		{"deep", strings.Repeat(`{"a":`, 3000), nil, "end", ussd.Apology},
		{"too long", begin + strings.Repeat(" ", maxUSSD), nil, "end", ussd.Apology},
		{"1 MiB", strings.Repeat("x", 1<<20), nil, "end", ussd.Apology},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b inbox
			cfg := b.config(nil)
			if tt.menu != nil {
				cfg.Sessions = answering(tt.menu)
			}
			c := NewCallback(cfg)
			c.ussdStop = 100 * time.Millisecond
			w := httptest.NewRecorder()
			began := time.Now()
			c.ServeHTTP(w, httptest.NewRequest("POST", "/ussd/"+token, strings.NewReader(tt.body)))
			var got struct {
				Text    string
				Session struct{ Type struct{ Name string } }
			}
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 ||
				w.Header().Get("Content-Type") != "application/json" {
				t.Fatalf("%v in %d %s", err, w.Code, w.Body)
			}
			if got.Text != tt.text || got.Session.Type.Name != tt.stage || time.Since(began) > time.Second {
				t.Fatalf("%s after %v", w.Body, time.Since(began))
			}
			if strings.Contains(b.log.String(), "2348031230101") || strings.Contains(b.log.String(), token) {
				t.Fatal(b.log.String())
			}
		})
	}
}

// TestABrokenConnectionDoesNotEndASession: the menu still gets to its end, so
// that the same bytes asked again meet the answer that was meant.
func TestABrokenConnectionDoesNotEndASession(t *testing.T) {
	var b inbox
	cfg := b.config(nil)
	cfg.Sessions = answering(func(ctx context.Context, _ int64, _ ussd.Request) (ussd.Answer, error) {
		if _, limited := ctx.Deadline(); !limited || ctx.Err() != nil {
			return ussd.Answer{}, errors.New("cut off")
		}
		return ussd.Answer{Text: "1. Yes"}, nil
	})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w := httptest.NewRecorder()
	NewCallback(cfg).ServeHTTP(w, httptest.NewRequest("POST", "/ussd/"+token,
		strings.NewReader(`{"session":{"type":{"code":2}}}`)).WithContext(ctx))
	if !strings.Contains(w.Body.String(), "1. Yes") {
		t.Error(w.Body)
	}
}
