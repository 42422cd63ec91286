package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	bodyLimit    = 16 << 20
	callsKept    = 10_000
	excerptLimit = 16 << 10
)

// call is one API call as received: names in lower case, since resellers differ in it. Values keep theirs.
type call struct {
	seq    int64
	method string
	at     time.Time
	query  map[string]string
	body   map[string]string
	pairs  []recipient // MessageParameters of a SendBulkSMS by POST
	parent string      // the parent group in the path of a sub-group
	early  bool        // its reports go out before its answer
}

// receive numbers a call and reads it whole. The call is not nil beside an error.
func (s *Sandbox) receive(r *http.Request) (*call, error) {
	c := &call{method: r.Method, at: s.now(), query: queryValues(r.URL.RawQuery)}
	raw, err := io.ReadAll(io.LimitReader(r.Body, bodyLimit+1))
	if err == nil && len(raw) > bodyLimit {
		err = fmt.Errorf("a body above %d bytes", bodyLimit)
	}
	c.body, c.pairs = bodyValues(raw)
	c.seq = s.calls.begin(CallRecord{
		Method: r.Method,
		Path:   r.URL.Path,
		Query:  s.redact(redactQuery(r.URL.RawQuery)),
		Body:   s.redact(redactBody(raw)),
		At:     c.at.UnixMilli(),
	})
	if err != nil {
		return c, fmt.Errorf("read the call: %w", err)
	}
	return c, nil
}

// value is the first parameter that is not blank under one of the names, from where the method carries its
// parameters: the query for GET and DELETE, the body for POST and PUT (§5).
func (c *call) value(names ...string) string {
	from := c.query
	if c.method == http.MethodPost || c.method == http.MethodPut {
		from = c.body
	}
	for _, name := range names {
		if v := from[name]; strings.TrimSpace(v) != "" {
			return v
		}
	}
	return ""
}

// flag reads true and 1; everything else is the default, false.
func (c *call) flag(name string) bool {
	v := strings.TrimSpace(c.value(name))
	return strings.EqualFold(v, "true") || v == "1"
}

// id is the record's id, which a PUT carries in the query too (§4.5 to §4.7).
func (c *call) id() string { return strings.TrimSpace(c.query["id"]) }

// queryValues keeps the first of a repeated parameter and drops what cannot be decoded.
func queryValues(raw string) map[string]string {
	values := map[string]string{}
	for pair := range strings.SplitSeq(raw, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name, err1 := url.QueryUnescape(name)
		value, err2 := url.QueryUnescape(value)
		name = strings.ToLower(name)
		if _, seen := values[name]; !seen && err1 == nil && err2 == nil && name != "" {
			values[name] = value
		}
	}
	return values
}

func bodyValues(raw []byte) (map[string]string, []recipient) {
	fields, ok := lowerFields(raw)
	if !ok {
		return nil, nil
	}
	values := map[string]string{}
	for name, v := range fields {
		if text, ok := scalar(v); ok {
			values[name] = text
		}
	}
	var items []json.RawMessage
	if json.Unmarshal(fields["messageparameters"], &items) != nil {
		return values, nil
	}
	var pairs []recipient
	for _, item := range items {
		f, _ := lowerFields(item)
		number, _ := scalar(f["number"])
		text, _ := scalar(f["text"])
		pairs = append(pairs, recipient{strings.TrimSpace(number), text})
	}
	return values, pairs
}

// lowerFields decodes a JSON object; of names that differ only in case one wins, always the same.
func lowerFields(raw []byte) (map[string]json.RawMessage, bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return nil, false
	}
	lower := map[string]json.RawMessage{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if _, seen := lower[strings.ToLower(name)]; !seen {
			lower[strings.ToLower(name)] = fields[name]
		}
	}
	return lower, true
}

// scalar is a JSON text, number or boolean as text; null is the empty text.
func scalar(raw json.RawMessage) (string, bool) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0 || raw[0] == '{' || raw[0] == '[':
		return "", false
	case raw[0] == '"':
		var text string
		err := json.Unmarshal(raw, &text)
		return text, err == nil
	case string(raw) == "null":
		return "", true
	}
	return string(raw), true
}

// CallRecord is one API call as listed at /_sandbox/calls, credentials redacted. At is in unix milliseconds.
// Status is what was answered: 0 while the answer is still to come and where the connection was cut.
type CallRecord struct {
	Seq    int64  `json:"seq"`
	Method string `json:"method"`
	Path   string `json:"path"`
	Query  string `json:"query"`
	Body   string `json:"body"`
	At     int64  `json:"at"`
	Status int    `json:"status"`
}

// callLog remembers the last 10,000 calls.
type callLog struct {
	mu   sync.Mutex
	last int64
	kept []CallRecord // in order of seq, without a gap
}

func (l *callLog) begin(r CallRecord) (seq int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	r.Seq = l.last
	if len(l.kept) == callsKept {
		l.kept = l.kept[1:]
	}
	l.kept = append(l.kept, r)
	return r.Seq
}

// atLeast goes on counting behind the calls of an earlier process.
func (l *callLog) atLeast(seq int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = max(l.last, seq)
}

func (l *callLog) finish(c *call, status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := len(l.kept) - 1 - int(l.last-c.seq); i >= 0 {
		l.kept[i].Status = status
	}
}

func (l *callLog) list() []CallRecord {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]CallRecord{}, l.kept...)
}

const redacted = "REDACTED"

var credentialField = regexp.MustCompile(`(?i)("(?:ApiKey|ClientId)"\s*:\s*)(?:"(?:[^"\\]|\\.)*"?|[^",}\s]+)`)

func redactQuery(raw string) string {
	pairs := strings.Split(raw, "&")
	for i, pair := range pairs {
		name, _, _ := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(name)
		if err == nil && (strings.EqualFold(plain, "ApiKey") || strings.EqualFold(plain, "ClientId")) {
			pairs[i] = name + "=" + redacted
		}
	}
	return strings.Join(pairs, "&")
}

func redactBody(raw []byte) string {
	text := credentialField.ReplaceAllString(string(raw[:min(len(raw), excerptLimit)]), `${1}"`+redacted+`"`)
	return strings.ToValidUTF8(text, "\uFFFD")
}

// redact removes the account's own credentials wherever a broken call may have put them.
func (s *Sandbox) redact(text string) string {
	for _, secret := range []string{s.cfg.APIKey, s.cfg.ClientID} {
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
			if len(form) >= 8 {
				text = strings.ReplaceAll(text, form, redacted)
			}
		}
	}
	return text
}
