package gateway

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"smsdesk/internal/sms"
	"smsdesk/internal/ussd"
)

// maxWebhookBody is the longest answer of a webhook that is read.
const maxWebhookBody = 4 << 10

// Webhook asks addresses of the account's owner on behalf of a USSD menu.
type Webhook struct{ client *http.Client }

// NewWebhook returns a Webhook. Addresses inside the network that this machine
// stands in are refused, whatever a name resolves to, unless inside is set.
func NewWebhook(inside bool) *Webhook {
	d := &net.Dialer{Timeout: time.Second}
	if !inside {
		d.Control = func(_, address string, _ syscall.RawConn) error { return outsideOnly(address) }
	}
	return &Webhook{client: &http.Client{
		Transport: &http.Transport{DialContext: d.DialContext, MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute,
			TLSHandshakeTimeout: time.Second},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

var errInside = errors.New("the address is inside this network")

func outsideOnly(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if !public(at.Addr().WithZone("")) {
		return errInside
	}
	return nil
}

// Ask posts the question as JSON and returns the words of the answer: the field
// text of a JSON object, or a plain text. The header X-Smsdesk-Signature is
// "t=" and the time in seconds, ",v1=" and the HMAC-SHA256 with the menu's
// secret over that time, a full stop and the body, in hexadecimal digits. The
// deadline is ctx's. Errors never name the address's query.
func (w *Webhook) Ask(ctx context.Context, q ussd.Question) (string, error) {
	body, err := json.Marshal(q.Body)
	if err != nil {
		return "", fmt.Errorf("ask webhook: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, q.URL, bytes.NewReader(body))
	if err != nil || req.URL.Scheme != "https" && !sms.Loopback(req.URL.Hostname()) {
		return "", errors.New("ask webhook: the address cannot be used")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Smsdesk-Signature", Sign(q.Secret, q.At/1000, body))
	resp, err := w.client.Do(req)
	if err != nil {
		return "", fmt.Errorf("ask webhook at %s: %w", req.URL.Host, errors.Unwrap(err))
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxWebhookBody+1))
	if err != nil || resp.StatusCode != http.StatusOK || len(raw) > maxWebhookBody {
		return "", fmt.Errorf("ask webhook at %s: %s, %d bytes: %w", req.URL.Host, resp.Status, len(raw),
			errors.Join(err, errNoAnswer))
	}
	text := readWebhook(raw)
	if text == "" {
		return "", fmt.Errorf("ask webhook at %s: %w", req.URL.Host, errNoAnswer)
	}
	return text, nil
}

var errNoAnswer = errors.New("no usable answer")

// Sign is the signature header of a webhook's body.
func Sign(secret string, at int64, body []byte) string {
	m := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(m, "%d.", at)
	m.Write(body)
	return "t=" + strconv.FormatInt(at, 10) + ",v1=" + hex.EncodeToString(m.Sum(nil))
}

func readWebhook(raw []byte) string {
	raw = bytes.TrimSpace(raw)
	var answer struct {
		Text string `json:"text"`
	}
	text := string(raw)
	if bytes.HasPrefix(raw, []byte("{")) {
		if json.Unmarshal(raw, &answer) != nil {
			return ""
		}
		text = answer.Text
	}
	if !utf8.ValidString(text) || strings.HasPrefix(text, "<") {
		return ""
	}
	return strings.TrimSpace(text)
}
