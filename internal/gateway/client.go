// Package gateway is the bulk-SMS service seen from us: one client of its
// HTTP API (§4) and the handlers for what it calls back (§6). The wire form of
// the service is known here and nowhere else.
//
// It is an adapter like storage and obeys storage's import row: of this
// project only internal/sms and internal/ussd. It must never know how
// campaigns are planned, stored or shown, and never decides to repeat
// anything: a send leaves at most once, whatever becomes of it.
//
// No error, outcome or log line made here holds a credential.
//
// Section signs (§) refer to the service's interface specification.
package gateway

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"smsdesk/internal/sms"
)

// Config says which account of which service is called, and how fast.
type Config struct {
	BaseURL     string // must end with the segment v2 (§9)
	Credentials sms.Credentials
	Location    *time.Location   // in which scheduled times are written; nil: UTC
	PerMinute   int              // request rate of the account (§8)
	Before      sms.CallsBefore  // what earlier processes have left
	ByGet       int              // most bytes of the URL of a GET /SendSMS (§4.3); 0: one text goes by POST
	After       *Client          // whose places and whose 429 answers go on; nil: those of Before alone
	Log         *slog.Logger     // nil: nothing is logged
	Now         func() time.Time // nil: time.Now
	RootCAs     *x509.CertPool   // nil: the system's

	// Called is told of each call that no licence stands for, before it is made,
	// and gives what is to be done when it has ended.
	Called func() (ended func())
	// Heard is told what time it was for the service when an answer came: zero
	// when the answer does not say. Throttled is told what each 429 has left in
	// force, before the call returns. All may be nil.
	Heard     func(service time.Time)
	Throttled func(sms.Throttle)
	// Dial makes the connections in place of the network, for a test whose time
	// is its own and for a rehearsal. Nothing judges the address then.
	Dial func(ctx context.Context) (net.Conn, error)
	// Speed is how many times as fast as the computer's clock Now runs, so that
	// waiting for the rate takes so much less; 0 is 1.
	Speed int

	// Zero: 5 s, 5 s, 60 s, 20 s. AnswerTimeout runs from the first byte of a
	// send or change to the last of its answer; ReadTimeout covers a whole read.
	DialTimeout, TLSTimeout, AnswerTimeout, ReadTimeout time.Duration
}

// The largest answer that is read, and the largest secret that is accepted.
const (
	maxAnswer = 4 << 20
	maxHead   = 64 << 10
	maxSecret = 512
)

// Client calls one account of the service. It may be used by many goroutines;
// every call passes the account's one limiter.
type Client struct {
	base          string // without a trailing slash
	secrets       sms.Credentials
	location      *time.Location
	limiter       *limiter
	dialer        *dialer
	reads         *http.Client
	redact        redactor
	log           *slog.Logger
	now           func() time.Time
	answerTimeout time.Duration
	readTimeout   time.Duration
	byGet         int      // most bytes of the URL of a GET /SendSMS; 0: by POST
	priority      Priority // of reads
	called        func() func()
	heard         func(time.Time)
	throttled     func(sms.Throttle)
}

// Open checks the configuration and makes a client. Nothing is called and
// nothing is started. The error is an sms.Invalid.
func Open(cfg Config) (*Client, error) {
	bad := sms.Invalid{}
	if s := sms.CheckBaseURL(cfg.BaseURL); s != "" {
		bad["base_url"] = s
	}
	if cfg.PerMinute < 1 || cfg.PerMinute > 1_000_000 {
		bad["per_minute"] = "Requests per minute must be between 1 and 1,000,000"
	}
	if !plainSecret(cfg.Credentials.ClientID) {
		bad["client_id"] = "Client ID must be 512 characters or fewer. Copy it from the provider dashboard"
	}
	if !plainSecret(cfg.Credentials.APIKey) {
		bad["api_key"] = "API key must be 512 characters or fewer. Copy it from the provider dashboard"
	}
	if err := bad.Or(); err != nil {
		return nil, err
	}
	base, err := url.Parse(strings.TrimSuffix(strings.TrimSpace(cfg.BaseURL), "/"))
	if err != nil || strings.IndexFunc(base.Host, func(r rune) bool { return r > unicode.MaxASCII }) >= 0 {
		return nil, sms.Invalid{"base_url": sms.CheckBaseURL("")}
	}
	c := &Client{
		base:          base.String(),
		secrets:       cfg.Credentials,
		location:      cfg.Location,
		redact:        newRedactor(cfg.Credentials.APIKey, cfg.Credentials.ClientID),
		log:           cfg.Log,
		now:           cfg.Now,
		answerTimeout: orDefault(cfg.AnswerTimeout, 60*time.Second),
		readTimeout:   orDefault(cfg.ReadTimeout, 20*time.Second),
		byGet:         cfg.ByGet,
		priority:      Background,
		called:        cfg.Called,
		heard:         cfg.Heard,
		throttled:     cfg.Throttled,
	}
	if c.location == nil {
		c.location = time.UTC
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.called == nil {
		c.called = func() func() { return func() {} }
	}
	if c.heard == nil {
		c.heard = func(time.Time) {}
	}
	if c.throttled == nil {
		c.throttled = func(sms.Throttle) {}
	}
	if cfg.After != nil {
		c.limiter = cfg.After.limiter
		c.limiter.goOn(cfg.PerMinute, cfg.Before)
	} else {
		c.limiter = newLimiter(cfg.PerMinute, cfg.Before, c.now)
	}
	c.limiter.speed = max(cfg.Speed, 1)
	c.dialer = newDialer(base, cfg.RootCAs, orDefault(cfg.DialTimeout, 5*time.Second),
		orDefault(cfg.TLSTimeout, 5*time.Second))
	c.dialer.instead = cfg.Dial
	c.reads = newReader(c.dialer)
	return c, nil
}

func orDefault(d, fallback time.Duration) time.Duration {
	if d <= 0 {
		return fallback
	}
	return d
}

func plainSecret(s string) bool {
	return len(s) <= maxSecret && utf8.ValidString(s) && strings.IndexFunc(s, unicode.IsControl) < 0
}

// newReader makes the client for reads. It never follows a redirect, which
// would carry the credentials to another host, and never reuses a connection.
func newReader(d *dialer) *http.Client {
	t := &http.Transport{
		DialContext:            d.dial,
		TLSHandshakeTimeout:    d.tlsTimeout,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHead,
		TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{},
	}
	if d.tls != nil {
		t.TLSClientConfig = d.tls.Clone()
	}
	return &http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Interactive returns a client whose reads take the same limiter's places as
// urgent sends do: for a person who is waiting.
func (c *Client) Interactive() *Client {
	d := *c
	d.priority = Urgent
	return &d
}

// Wait is how long until a call of that priority could start; 0: now. It is a
// lower bound while calls are under way.
func (c *Client) Wait(p Priority) time.Duration { return c.limiter.wait(p) }

// WaitUrgent is Wait for the places that are kept for urgent single sends.
func (c *Client) WaitUrgent() time.Duration { return c.Wait(Urgent) }

// Rate is the number of requests a minute now in force: the configured one, or
// fewer for a while after the service answered 429 (§8).
func (c *Client) Rate() int { return c.limiter.rateNow() }

// Throttle is what answers 429 have left in force.
func (c *Client) Throttle() sms.Throttle { return c.limiter.throttle() }

// query adds the credentials to the parameters of a GET or DELETE (§5). A
// space is written %20, which every decoder reads alike; "+" is not.
func (c *Client) query(v url.Values) string {
	q := url.Values{}
	for k, list := range v {
		q[k] = list
	}
	q.Set("ApiKey", c.secrets.APIKey)
	q.Set("ClientId", c.secrets.ClientID)
	return strings.ReplaceAll(q.Encode(), "+", "%20")
}

// target is the whole URL of a GET or DELETE.
func (c *Client) target(path string, v url.Values) string { return c.base + path + "?" + c.query(v) }

// body adds the credentials to the fields of a POST or PUT (§5).
func (c *Client) body(fields map[string]any) ([]byte, error) {
	all := map[string]any{"ApiKey": c.secrets.APIKey, "ClientId": c.secrets.ClientID}
	for k, v := range fields {
		all[k] = v
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(all); err != nil {
		return nil, fmt.Errorf("write request body: %w", err)
	}
	return bytes.TrimRight(out.Bytes(), "\n"), nil
}

// request builds a call. With fields they become the JSON body and query
// stands as it is; without, the credentials join the query.
func (c *Client) request(ctx context.Context, method, path string, query url.Values,
	fields map[string]any) (*http.Request, error) {
	target, body := c.base+path, []byte(nil)
	if fields == nil {
		target = c.target(path, query)
	} else {
		var err error
		if body, err = c.body(fields); err != nil {
			return nil, err
		}
		if len(query) > 0 {
			target += "?" + query.Encode()
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New(c.redact.text(err.Error()))
	}
	if fields == nil {
		r.Body, r.GetBody, r.ContentLength = nil, nil, 0
	} else {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "smsdesk")
	r.Close = true
	return r, nil
}

// read makes one GET that changes nothing and returns the answer whatever its
// status. The error is an *Error.
func (c *Client) read(ctx context.Context, path string, query url.Values, header http.Header) (oneShotResult, error) {
	ticket, err := c.limiter.take(ctx, c.priority)
	if err != nil {
		return oneShotResult{}, c.waitError(err)
	}
	ctx, cancel := context.WithTimeout(ctx, c.readTimeout)
	defer cancel()
	req, err := c.request(ctx, http.MethodGet, path, query, nil)
	if err != nil {
		ticket.release()
		return oneShotResult{}, unreachable(err.Error())
	}
	for k, v := range header {
		req.Header[k] = v
	}
	defer c.called()()
	began := time.Now()
	resp, err := c.reads.Do(req)
	if err != nil {
		ticket.answered()
		c.logCall(req, 0, began)
		return oneShotResult{}, c.failed(err)
	}
	defer resp.Body.Close()
	s := oneShotResult{status: resp.StatusCode, header: resp.Header}
	s.body, s.err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	c.settleTicket(ticket, s)
	c.logCall(req, s.status, began)
	switch {
	case s.err != nil:
		return s, c.failed(s.err)
	case len(s.body) > maxAnswer:
		return s, &Error{HTTPStatus: s.status, Sentence: "The provider's answer is larger than 4MB, so we did not read it"}
	}
	return s, nil
}

// list reads an endpoint that answers with records.
func (c *Client) list(ctx context.Context, path string) ([]record, error) {
	s, err := c.read(ctx, path, nil, nil)
	if err != nil {
		return nil, err
	}
	e, err := c.parseResponse(s, subject{})
	if err != nil {
		return nil, err
	}
	records, err := e.records()
	if err != nil {
		return nil, unreadable(s.status)
	}
	return records, nil
}

// change makes one call that changes a record, once and in an urgent place, as
// a person waits for it. Whatever becomes of it, only a person repeats it. It
// returns the service's own words.
func (c *Client) change(ctx context.Context, method, path string, query url.Values, fields map[string]any,
	about subject) (string, error) {
	req, err := c.request(ctx, method, path, query, fields)
	if err != nil {
		return "", unreachable(err.Error())
	}
	ended := func() {}
	s := c.sendOnce(ctx, Urgent, req, func() error {
		ended = c.called()
		return nil
	})
	ended()
	switch {
	case s.limited():
		return "", c.waitError(s.rateTimeout)
	case s.written == 0:
		return "", c.failed(s.err)
	case s.status == http.StatusTooManyRequests:
		return "", c.rateError(s.status)
	case s.status == 0, s.err != nil, s.status >= 500, s.status == http.StatusRequestTimeout:
		return "", uncertainError(s.status)
	}
	e, err := c.parseResponse(s, about)
	if unread := (*Error)(nil); errors.As(err, &unread) && unread.Code == "" && s.status < 300 {
		return "", uncertainError(s.status)
	}
	if err != nil {
		return "", err
	}
	said := strings.TrimSpace(c.redact.brief(e.words(), maxDescription))
	if after, ok := strings.CutPrefix(said, "error#"); ok {
		return "", &Error{Description: after, HTTPStatus: s.status,
			Sentence: fmt.Sprintf("The provider answered “%s”", after)}
	}
	return strings.TrimPrefix(said, "success#"), nil
}

// settleTicket tells the limiter what an answer says about the rate, and
// whoever wants to know what it says about the time.
func (c *Client) settleTicket(t *ticket, s oneShotResult) {
	if s.status != 0 {
		c.heard(serviceTime(s.header))
	}
	if s.status != http.StatusTooManyRequests {
		t.answered()
		return
	}
	// A date is read by the service's own clock where the answer has that, too.
	now := serviceTime(s.header)
	if now.IsZero() {
		now = c.now()
	}
	wait, ok := retryAfter(s.header.Get("Retry-After"), now)
	if !ok {
		wait = defaultRetryAfter
	}
	t.throttled(wait)
	c.throttled(c.Throttle())
	c.log.Warn("the service answered 429", "wait", wait, "rate", c.Rate())
}

// serviceTime is what time it was for the service when it answered, or zero. An
// answer that a cache kept says how long in Age.
func serviceTime(h http.Header) time.Time {
	at, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return time.Time{}
	}
	if age, err := strconv.ParseInt(strings.TrimSpace(h.Get("Age")), 10, 32); err == nil && age > 0 {
		at = at.Add(time.Duration(age) * time.Second)
	}
	return at
}

func (c *Client) logCall(r *http.Request, status int, began time.Time) {
	c.log.Debug("gateway call", "method", r.Method, "path", r.URL.Path, "status", status, "took", time.Since(began))
}
