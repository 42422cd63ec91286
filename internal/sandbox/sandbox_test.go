package sandbox

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	testKey    = "aB3+/xyzTestKey=="
	testClient = "client-0001"
	creds      = "ApiKey=aB3%2B%2FxyzTestKey%3D%3D&ClientId=client-0001"
	jsonCreds  = `"ApiKey":"aB3+/xyzTestKey==","ClientId":"client-0001"`
	uuidForm   = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`
)

// service is a sandbox on a real listener with a receiver for its reports.
type service struct {
	t    testing.TB
	s    *Sandbox
	base string
	dlr  *receiver
	stop func()
}

// receiver is an account owner's endpoint that answers 200 and keeps every query.
type receiver struct {
	mu      sync.Mutex
	queries []string
	server  *httptest.Server
	answer  atomic.Pointer[http.HandlerFunc]
}

func newReceiver(t testing.TB) *receiver {
	r := &receiver{}
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		r.queries = append(r.queries, req.URL.RawQuery)
		r.mu.Unlock()
		if h := r.answer.Load(); h != nil {
			(*h)(w, req)
		}
	}))
	t.Cleanup(r.server.Close)
	return r
}

func (r *receiver) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string{}, r.queries...)
}

// wait returns the reports as soon as there are n.
func (r *receiver) wait(t testing.TB, n int) []url.Values {
	t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for len(r.all()) < n {
		if time.Now().After(deadline) {
			t.Fatalf("%d reports after 5 s, want %d", len(r.all()), n)
		}
		time.Sleep(time.Millisecond)
	}
	var out []url.Values
	for _, raw := range r.all() {
		v, err := url.ParseQuery(raw)
		if err != nil {
			t.Fatalf("a report's query %q: %v", raw, err)
		}
		out = append(out, v)
	}
	return out
}

// start runs a sandbox until the test ends; changes alter its configuration.
func start(t testing.TB, changes ...func(*Config)) *service {
	t.Helper()
	dlr := newReceiver(t)
	cfg := Config{
		APIKey: testKey, ClientID: testClient, PerMinute: -1, Seed: 1,
		DLRURL: dlr.server.URL + "/dlr/token", ReportMin: time.Millisecond, ReportMax: 5 * time.Millisecond,
	}
	for _, change := range changes {
		change(&cfg)
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.Handler())
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-ran; err != nil {
			t.Errorf("Run: %v", err)
		}
		server.Close()
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	t.Cleanup(stop)
	return &service{t: t, s: s, base: server.URL, dlr: dlr, stop: stop}
}

// oneShot never reuses a connection: Go repeats a GET on a reused one by itself.
var oneShot = &http.Client{Transport: &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}

type reply struct {
	status int
	body   string
	header http.Header
	err    error
}

func (v *service) do(method, path, body string, headers ...string) reply {
	v.t.Helper()
	req, err := http.NewRequest(method, v.base+path, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := oneShot.Do(req)
	if err != nil {
		return reply{err: err}
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, string(raw), resp.Header, err}
}

func (v *service) get(path string, headers ...string) reply {
	v.t.Helper()
	return v.do("GET", path, "", headers...)
}
func (v *service) post(path, body string) reply { v.t.Helper(); return v.do("POST", path, body) }

// sendTo posts one text to the numbers.
func (v *service) sendTo(numbers, text string) reply {
	v.t.Helper()
	return v.post("/v2/SendSMS", `{`+jsonCreds+`,"SenderId":"CLINIC","Message":"`+text+`","MobileNumbers":"`+numbers+`"}`)
}

// rows are the elements of Data of a successful answer.
func (v *service) rows(r reply) []map[string]any {
	v.t.Helper()
	var envelope struct {
		ErrorCode        *int
		ErrorDescription string
		Data             []map[string]any
	}
	if err := json.Unmarshal([]byte(r.body), &envelope); err != nil || r.status != 200 {
		v.t.Fatalf("status %d, %v: %s %v", r.status, err, r.body, r.err)
	}
	if envelope.ErrorCode == nil || *envelope.ErrorCode != 0 || envelope.ErrorDescription != "Success" {
		v.t.Fatalf("not a success: %s", r.body)
	}
	return envelope.Data
}

func (v *service) ledger() []map[string]any {
	v.t.Helper()
	return v.list("/_sandbox/ledger")
}

func (v *service) list(path string) []map[string]any {
	v.t.Helper()
	r := v.get(path)
	var out []map[string]any
	if err := json.Unmarshal([]byte(r.body), &out); err != nil || !strings.HasPrefix(r.body, "[") {
		v.t.Fatalf("%s: %v: %s", path, err, r.body)
	}
	return out
}

// fails asserts an error to the byte: no Data in it.
func (v *service) fails(r reply, code, description string) {
	v.t.Helper()
	want := `{"ErrorCode":` + code + `,"ErrorDescription":"` + description + `"}`
	if r.status != 200 || r.body != want {
		v.t.Errorf("got %d %s %v, want 200 %s", r.status, r.body, r.err, want)
	}
}

// says asserts a successful answer whose Data is a text.
func (v *service) says(r reply, data string) {
	v.t.Helper()
	want := `{"ErrorCode":0,"ErrorDescription":"Success","Data":"` + data + `"}`
	if r.status != 200 || r.body != want {
		v.t.Errorf("got %d %s %v, want 200 %s", r.status, r.body, r.err, want)
	}
}

func TestCredentials(t *testing.T) {
	v := start(t)
	send := `,"SenderId":"CLINIC","Message":"x","MobileNumbers":"2348031234567"}`
	for _, c := range []struct {
		name              string
		r                 reply
		code, description string
	}{
		{"none", v.get("/v2/Balance"), "1", "Account details cannot be blank"},
		{"no client", v.get("/v2/Balance?ApiKey=x"), "1", "Account details cannot be blank"},
		{"blank key", v.get("/v2/Balance?ApiKey=%20&ClientId=client-0001"), "1", "Account details cannot be blank"},
		{"wrong key", v.get("/v2/Balance?ApiKey=x&ClientId=client-0001"), "7", "Invalid username or password"},
		{"wrong client", v.get("/v2/Balance?ApiKey=aB3%2B%2FxyzTestKey%3D%3D&ClientId=x"), "7", "Invalid username or password"},
		{"base64 key not encoded", v.get("/v2/Balance?ApiKey=aB3+/xyzTestKey==&ClientId=client-0001"), "7", "Invalid username or password"},
		{"first of a repeated key counts", v.get("/v2/Balance?ApiKey=x&" + creds), "7", "Invalid username or password"},
		{"POST with credentials in the query", v.post("/v2/SendSMS?"+creds, "{"+send[1:]), "1", "Account details cannot be blank"},
		{"POST with a body that is no JSON", v.post("/v2/SendSMS", "ApiKey=x&ClientId=y"), "1", "Account details cannot be blank"},
		{"POST with null", v.post("/v2/SendSMS", `{"ApiKey":null,"ClientId":"client-0001"`+send), "1", "Account details cannot be blank"},
		{"POST wrong", v.post("/v2/SendSMS", `{"ApiKey":"x","ClientId":"client-0001"`+send), "7", "Invalid username or password"},
		{"DELETE with credentials in the body", v.do("DELETE", "/v2/Group?id=1", `{`+jsonCreds+`}`), "1", "Account details cannot be blank"},
		{"PUT with credentials in the query", v.do("PUT", "/v2/Group?id=1&"+creds, `{"GroupName":"x"}`), "1", "Account details cannot be blank"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v.t = t
			v.fails(c.r, c.code, c.description)
		})
	}
	v.t = t
	if r := v.get("/v2/Balance?apikey=aB3%2B%2FxyzTestKey%3D%3D&CLIENTID=client-0001"); !strings.Contains(r.body,
		`"ErrorCode":0`) {
		t.Errorf("names in another case: %s", r.body)
	}
	if n := len(v.ledger()); n != 0 {
		t.Errorf("%d texts executed without credentials", n)
	}
}

func TestPaths(t *testing.T) {
	v := start(t)
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/v2/balance", 200},
		{"GET", "/V2/BALANCE", 200},
		{"POST", "/v2/group/1/subgroup", 200},
		{"POST", "/v2/senDsms", 200},
		{"GET", "/Balance", 404},
		{"GET", "/v1/Balance", 404},
		{"GET", "/v2/Nothing", 404},
		{"POST", "/v2/Group/1/2/SubGroup", 404},
		{"POST", "/v2/Group//SubGroup", 307}, // net/http cleans the path
		{"GET", "/v2/Group/1/SubGroup", 405},
		{"POST", "/v2/Balance", 405},
		{"HEAD", "/v2/SendSMS", 405},
		{"PATCH", "/v2/Template", 405},
		{"GET", "/healthz", 200},
	} {
		if r := v.do(c.method, c.path, ""); r.status != c.status {
			t.Errorf("%s %s: %d, want %d (%v)", c.method, c.path, r.status, c.status, r.err)
		}
	}
}

func TestRateLimit(t *testing.T) {
	for _, c := range []struct {
		name       string
		retryAfter time.Duration
		want       []string
	}{
		{"as specified", 0, nil},
		{"with Retry-After", 1500 * time.Millisecond, []string{"2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var now atomic.Int64
			now.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMilli())
			v := start(t, func(cfg *Config) {
				cfg.PerMinute, cfg.RetryAfter = 3, c.retryAfter
				cfg.Now = func() time.Time { return time.UnixMilli(now.Load()) }
			})
			status := func() int { return v.get("/v2/Balance?" + creds).status }
			burst := []int{status(), status()}
			now.Add(30_000)
			burst = append(burst, status(), status())
			if want := []int{200, 200, 200, 429}; !slices.Equal(burst, want) {
				t.Fatalf("got %v, want %v", burst, want)
			}
			if r := v.sendTo("2348031234567", "hello"); r.status != 429 || !slices.Equal(r.header["Retry-After"], c.want) {
				t.Errorf("a send above the rate: %d %v", r.status, r.header)
			}
			now.Add(29_999)
			if got := status(); got != 429 {
				t.Errorf("after 59.999 s: %d", got)
			}
			now.Add(1)
			if got := []int{status(), status(), status()}; !slices.Equal(got, []int{200, 200, 429}) {
				t.Errorf("after 60 s: %v: the window must slide", got)
			}
			if n := len(v.ledger()); n != 0 {
				t.Errorf("%d texts executed above the rate", n)
			}
		})
	}
}

func TestConfigurationFaultsAreReportedAtOnce(t *testing.T) {
	_, err := New(Config{ReportMin: time.Second, Credit: -1, Faults: Faults{CutAfter: 2, CodeForm: "octal"}})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"ApiKey", "delay", "credit", "cutAfter", "codeForm"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %q", want, err)
		}
	}
	if _, err := New(Config{APIKey: "a", ClientID: "b", DLRURL: "dlr/secret-token"}); err == nil ||
		strings.Contains(err.Error(), "secret") {
		t.Errorf("bad report address: %v", err)
	}
	if _, err := New(Config{APIKey: "a", ClientID: "b", State: t.TempDir()}); err == nil {
		t.Error("a folder was taken for a state file")
	}
}
