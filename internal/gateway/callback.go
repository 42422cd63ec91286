package gateway

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"smsdesk/internal/sms"
	"smsdesk/internal/ussd"
)

// Limits of the callbacks (§6.1, §6.2; internal/workers/README.md, Reports and USSD).
const (
	maxReport        = 32 << 10
	maxUSSD          = 16 << 10
	maxCallsInFlight = 512
	maxCallsWaiting  = 16 << 10
	reportStop       = 8 * time.Second // the service gives up after 10 s
	// The apology must have left within 2 s.
	ussdStop = 1800 * time.Millisecond
)

// Reports is where delivery reports go.
type Reports interface {
	// Account finds the account whose token has this SHA-256 hash, also for USSD.
	// It is asked for every call, from memory; comparing hashes lets timing tell
	// nothing.
	Account(tokenHash [32]byte) (accountID int64, ok bool)
	// TakesPosts says whether that account takes reports by POST, which §6.1 does
	// not know.
	TakesPosts(tokenHash [32]byte) bool
	// Posted is told of every report that came by POST and is not taken.
	Posted(accountID int64)
	// Keep stores one raw report for good and returns after the fsync.
	// receivedAt is in milliseconds since 1970 UTC.
	Keep(ctx context.Context, accountID int64, receivedAt int64, remote, rawQuery string) error
	// Receives says whether a report could be acknowledged now.
	Receives(ctx context.Context) bool
	// Refused is told of every wrong token.
	Refused()
	// Answered is told how long the answer to a report took, and whether the
	// report was kept.
	Answered(accountID int64, took time.Duration, kept bool)
}

// Sessions answers one stage of a USSD session.
type Sessions interface {
	Answer(ctx context.Context, accountID int64, r ussd.Request) (ussd.Answer, error)
}

// CallbackConfig says where calls of the service go.
type CallbackConfig struct {
	Reports  Reports
	Sessions Sessions // nil: every session ends politely
	Log      *slog.Logger
	Now      func() time.Time // nil: time.Now
}

// Callback receives what the service calls: GET /dlr/{token} (§6.1), where an
// account wants it POST as well, and POST /ussd/{token} (§6.2). It answers alike whether an id is known or not.
// GET /livez and /readyz are for balancers: 200, or 503 while no report can be
// acknowledged.
type Callback struct {
	cfg        CallbackConfig
	reports    *concurrencyLimit
	sessions   *concurrencyLimit
	reportStop time.Duration
	ussdStop   time.Duration
}

// NewCallback makes the handler. Nothing is started.
func NewCallback(cfg CallbackConfig) *Callback {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Callback{
		cfg:        cfg,
		reports:    newConcurrencyLimit(maxCallsInFlight, maxCallsWaiting),
		sessions:   newConcurrencyLimit(maxCallsInFlight, 0),
		reportStop: reportStop,
		ussdStop:   ussdStop,
	}
}

// ServeHTTP answers both callbacks and the probes; every other path is not found.
func (c *Callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// nil keeps net/http from guessing a type for answers without a body.
	w.Header()["Content-Type"] = nil
	defer func() {
		if p := recover(); p != nil {
			c.cfg.Log.Error("a callback panicked", "panic", fmt.Sprint(p))
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}()
	if token, ok := strings.CutPrefix(r.URL.Path, "/dlr/"); ok {
		c.serveReport(w, r, token)
		return
	}
	if token, ok := strings.CutPrefix(r.URL.Path, "/ussd/"); ok {
		c.serveUSSD(w, r, token)
		return
	}
	if r.URL.Path == "/livez" || r.URL.Path == "/readyz" {
		c.serveProbe(w, r)
		return
	}
	w.WriteHeader(http.StatusNotFound)
}

// serveProbe says that the process answers and, on /readyz, that reports are
// taken: nothing else may turn them away.
func (c *Callback) serveProbe(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	text := "ok\n"
	if r.URL.Path == "/readyz" && !c.cfg.Reports.Receives(r.Context()) {
		w.Header().Set("Retry-After", "5")
		w.WriteHeader(http.StatusServiceUnavailable)
		text = "not ready: no report can be stored\n"
	}
	if _, err := io.WriteString(w, text); err != nil {
		c.cfg.Log.Debug("a probe was not answered", "error", err)
	}
}

// admit checks method and token; where it says no it has answered.
func (c *Callback) admit(w http.ResponseWriter, r *http.Request, token string,
	methods ...string) (accountID int64, ok bool) {
	if !slices.Contains(methods, r.Method) {
		w.Header().Set("Allow", methods[0])
		w.WriteHeader(http.StatusMethodNotAllowed)
		return 0, false
	}
	accountID, ok = c.cfg.Reports.Account(sha256.Sum256([]byte(token)))
	if !ok {
		c.cfg.Reports.Refused()
		w.WriteHeader(http.StatusNotFound)
	}
	return accountID, ok
}

// serveReport answers 200 only after the report is stored. The service does
// not repeat a report (§6.1), so whatever can be kept is kept, readable or not.
func (c *Callback) serveReport(w http.ResponseWriter, r *http.Request, token string) {
	began := time.Now()
	accountID, ok := c.admit(w, r, token, http.MethodGet, http.MethodPost)
	if !ok {
		return
	}
	queries, ok := c.reportQueries(w, r, accountID, token)
	if !ok {
		return
	}
	receivedAt, remote := c.cfg.Now().UnixMilli(), r.RemoteAddr
	// The caller hanging up must not undo the storing of what it told us.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), c.reportStop)
	defer cancel()
	err := c.reports.do(ctx, func() error {
		for _, query := range queries {
			if err := c.cfg.Reports.Keep(ctx, accountID, receivedAt, remote, query); err != nil {
				return err
			}
		}
		return nil
	})
	c.cfg.Reports.Answered(accountID, time.Since(began), err == nil)
	if err != nil {
		c.cfg.Log.Error("a delivery report was not kept", "account", accountID, "error", err)
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusOK)
}

// serveUSSD always answers a caller with a right token with 200 and a valid
// answer: anything else leaves a person in front of a dead screen.
func (c *Callback) serveUSSD(w http.ResponseWriter, r *http.Request, token string) {
	accountID, ok := c.admit(w, r, token, http.MethodPost)
	if !ok {
		return
	}
	// A connection that breaks must not end the session: the network may ask
	// again with the same bytes and gets the answer that was meant.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), c.ussdStop)
	defer cancel()
	// A body that trickles in must not take the answer's time. A listener
	// without deadlines has limits of its own.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(c.ussdStop))
	req, err := readUSSD(r.Body)
	answer := ussd.Answer{End: true, Text: ussd.Apology}
	if err == nil {
		answer, err = c.answer(ctx, accountID, req)
	}
	if err != nil {
		c.cfg.Log.Warn("a USSD request was not answered by a menu", "account", accountID, "error", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	if _, err := w.Write(answer.JSON(req)); err != nil {
		c.cfg.Log.Warn("a USSD answer was not written", "account", accountID, "error", err)
	}
}

func readUSSD(body io.Reader) (ussd.Request, error) {
	b, err := io.ReadAll(io.LimitReader(body, maxUSSD+1))
	if err != nil {
		return ussd.Request{}, fmt.Errorf("read USSD request: %w", err)
	}
	if len(b) > maxUSSD {
		return ussd.Request{}, ussd.ErrMalformed
	}
	return ussd.ParseRequest(b)
}

// answer asks the menu; the Answer it returns is valid even beside an error.
func (c *Callback) answer(ctx context.Context, accountID int64, req ussd.Request) (ussd.Answer, error) {
	if c.cfg.Sessions == nil {
		return ussd.Answer{End: true, Text: ussd.NoMenu}, nil
	}
	answers := make(chan ussd.Answer, 1)
	err := c.sessions.do(ctx, func() error {
		a, err := c.cfg.Sessions.Answer(ctx, accountID, req)
		if err == nil {
			answers <- a
		}
		return err
	})
	if err != nil {
		return ussd.Answer{End: true, Text: ussd.Apology}, err
	}
	return <-answers, nil
}

var errFull = errors.New("too many callbacks at once")

// concurrencyLimit lets a number of calls work at once and another number wait.
type concurrencyLimit struct {
	maxBusy   int64
	busy      atomic.Int64
	semaphore chan struct{}
}

func newConcurrencyLimit(inFlight, waiting int) *concurrencyLimit {
	return &concurrencyLimit{maxBusy: int64(inFlight + waiting), semaphore: make(chan struct{}, inFlight)}
}

// do runs work in a place of its own and returns its error, errFull when there
// is no room to wait, or ctx's error when that ends first; then the work is
// left to finish by itself and keeps its place until it has. A panic is an error.
func (b *concurrencyLimit) do(ctx context.Context, work func() error) error {
	if b.busy.Add(1) > b.maxBusy {
		b.busy.Add(-1)
		return errFull
	}
	select {
	case b.semaphore <- struct{}{}:
	case <-ctx.Done():
		b.busy.Add(-1)
		return ctx.Err()
	}
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("panic: %v", p)
			}
			<-b.semaphore
			b.busy.Add(-1)
		}()
		done <- work()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ParseReport reads the parameters of a delivery report (§2.6). It never
// fails: names are found as specified first, then without regard to case; of
// repeated names the first counts; an escape that cannot be decoded stays as
// it is; ";" is an ordinary character. Only the fields that the query tells
// are set.
func ParseReport(rawQuery string) sms.DeliveryReport {
	p := reportParams(rawQuery)
	return sms.DeliveryReport{
		ProviderID:   strings.TrimSpace(p.value("messageId")),
		Mobile:       p.value("mobile"),
		Status:       p.value("status"),
		ErrorCode:    p.value("errorCode"),
		SubmitDate:   p.value("submitDate"),
		DoneDate:     p.value("doneDate"),
		ShortMessage: p.value("shortMessage"),
		Raw:          rawQuery,
	}
}

type params []struct{ name, value string }

func reportParams(rawQuery string) params {
	var p params
	for pair := range strings.SplitSeq(rawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		p = append(p, struct{ name, value string }{unescape(name), unescape(value)})
	}
	return p
}

func (p params) value(name string) string {
	for _, q := range p {
		if q.name == name {
			return q.value
		}
	}
	for _, q := range p {
		if strings.EqualFold(q.name, name) {
			return q.value
		}
	}
	return ""
}

// unescape decodes what can be decoded, once. What is not UTF-8 afterwards, or
// is NUL, which databases refuse, becomes U+FFFD.
func unescape(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		s = plain
	} else {
		var b strings.Builder
		for i := 0; i < len(s); i++ {
			if c, err := url.QueryUnescape(s[i:min(i+3, len(s))]); s[i] == '%' && err == nil {
				b.WriteString(c)
				i += 2
			} else if s[i] == '+' {
				b.WriteByte(' ')
			} else {
				b.WriteByte(s[i])
			}
		}
		s = b.String()
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, string(utf8.RuneError)), "\x00", string(utf8.RuneError))
}
