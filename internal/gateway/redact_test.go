package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"smsdesk/internal/sms"
)

// forms are the ways in which a secret comes back in practice.
func forms(secret string) []string {
	escaped, _ := json.Marshal(secret)
	var plain bytes.Buffer
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	_ = e.Encode(secret)
	inJSON := unquoted(strings.TrimSpace(plain.String()))
	quoted := unquoted(fmt.Sprintf("%q", secret))
	list := []string{secret, url.QueryEscape(secret), url.PathEscape(secret), unquoted(string(escaped)), inJSON, quoted,
		html.EscapeString(secret), url.QueryEscape(url.QueryEscape(secret)), strings.ReplaceAll(secret, "/", `\/`)}
	for _, s := range []string{url.QueryEscape(secret), url.PathEscape(secret)} {
		list = append(list, lowerHex(s))
	}
	return list
}

func unquoted(s string) string { return s[1 : len(s)-1] }

func lowerHex(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:], bytes.ToLower(b[i+1:i+3]))
		}
	}
	return string(b)
}

func TestRedact(t *testing.T) {
	secrets := []string{testKey, testClient, `a"b\c'd<e>f`, "käse/ẹ+=", "with space", "😀key"}
	for _, secret := range secrets {
		r := newRedactor(secret)
		for _, form := range forms(secret) {
			got := r.text("before " + form + " after")
			if got != "before "+redactedMark+" after" {
				t.Errorf("%q of %q: %q", form, secret, got)
			}
		}
	}
	if got := newRedactor("", "").text("a\xffb"); got != "a\uFFFDb" {
		t.Errorf("%q", got)
	}
	if got := newRedactor("a•").text("aa•••"); strings.Contains(got, "a•") {
		t.Errorf("%q", got)
	}
}

func FuzzRedact(f *testing.F) {
	f.Add(testKey, "https://api.example.com/v2/SendSMS?ApiKey=", "&x", uint8(1))
	f.Add(`a"b\c`, `{"ApiKey":"`, `"}`, uint8(4))
	f.Add("•", "••", "\xff", uint8(0))
	f.Add("%25", "%2525", "%", uint8(7))
	f.Fuzz(func(t *testing.T, secret, before, after string, form uint8) {
		if secret == "" || len(secret) > 60 || !plainSecret(secret) {
			return
		}
		list := forms(secret)
		r := newRedactor(secret, "other-secret")
		began := time.Now()
		text := before + list[int(form)%len(list)] + after
		excerpt := r.brief(text, maxExcerpt)
		if d := time.Since(began); d > time.Second {
			t.Fatalf("%v for %d bytes", d, len(text))
		}
		if len(excerpt) > maxExcerpt || !utf8.ValidString(excerpt) {
			t.Fatalf("excerpt of %d bytes", len(excerpt))
		}
		for _, out := range []string{r.text(text), excerpt} {
			for _, hidden := range list {
				if strings.Contains(out, hidden) {
					t.Fatalf("%q shows %q", out, hidden)
				}
			}
		}
	})
}

// TestExcerptIsBounded: a secret that the cut goes through is not half shown.
func TestExcerptIsBounded(t *testing.T) {
	long := strings.Repeat("S3cret+", 20)
	r := newRedactor(long)
	body := strings.Repeat(long, 400)
	for shift := range 40 {
		got := r.brief(strings.Repeat("x", shift)+body, maxExcerpt)
		if strings.Contains(got, "S3cret") || len(got) > maxExcerpt {
			t.Fatalf("shift %d: %q", shift, got)
		}
	}
}

// TestNoCredentialAnywhere plays answers that echo the credentials in every
// form through every operation and looks at all that comes out.
func TestNoCredentialAnywhere(t *testing.T) {
	var echoes []string
	for _, secret := range []string{testKey, testClient} {
		echoes = append(echoes, forms(secret)...)
	}
	page := strings.Join(echoes, "\n")
	quoted, _ := json.Marshal(page)
	answers := map[string]string{
		"HTML":        answer("200 OK", "<html>"+page),
		"500":         answer("500 Internal Server Error", page),
		"404":         answer("404 Not Found", page),
		"description": http200(`{"ErrorCode":21,"ErrorDescription":` + string(quoted) + `}`),
		"listed":      http200(`{"ErrorCode":7,"ErrorDescription":` + string(quoted) + `}`),
		"row":         http200(`{"ErrorCode":0,"Data":[{"MobileNumber":"1","MessageId":"","MessageErrorCode":5,"MessageErrorDescription":` + string(quoted) + `}]}`),
		"words":       http200(`{"ErrorCode":0,"Data":` + string(quoted) + `}`),
		"error words": http200(`{"ErrorCode":0,"Data":"error#` + strings.Trim(string(quoted), `"`) + `"}`),
		"no HTTP":     page,
		"bad head":    "HTTP/1.1 200 OK\r\n" + url.QueryEscape(page) + "\r\n\r\n",
		"429":         answer("429 Too Many Requests", page),
		"redirect":    answer("302 Found", "", "Location: https://x/?ApiKey="+url.QueryEscape(testKey)),
		"nothing":     "",
	}
	for name, raw := range answers {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t, func(p *peer, c net.Conn) {
				if _, _, err := p.request(c); err == nil {
					_, _ = io.WriteString(c, raw)
				}
			})
			var logged bytes.Buffer
			client := func() *Client {
				return open(t, p.url(), func(cfg *Config) {
					cfg.Log = slog.New(slog.NewJSONHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
				})
			}
			ctx := context.Background()
			var out []any
			// A new client each time: a 429 stops the old one.
			out = append(out, client().Send(ctx, textCall("1"), yes), client().getting().Send(ctx, textCall("1"), yes))
			for _, f := range []func(*Client) (any, error){
				func(c *Client) (any, error) { return c.Balance(ctx) },
				func(c *Client) (any, error) { return c.BalanceIn(ctx, "xml") },
				func(c *Client) (any, error) { return c.MessageStatus(ctx, "x") },
				func(c *Client) (any, error) { return c.Groups(ctx) },
				func(c *Client) (any, error) { return c.CreateGroup(ctx, "x") },
				func(c *Client) (any, error) { return c.DeleteGroup(ctx, 1) },
			} {
				v, err := f(client())
				out = append(out, v, err)
				for ; err != nil; err = errors.Unwrap(err) {
					out = append(out, err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err))
				}
			}
			all := fmt.Sprintf("%+v\n%s", out, logged.String())
			for _, hidden := range echoes {
				if strings.Contains(all, hidden) {
					t.Fatalf("%q is shown in %s", hidden, all)
				}
			}
		})
	}
	if logged := fmt.Sprintf("%v", sms.Outcome{}); strings.Contains(logged, testKey) {
		t.Fatal("the check itself is broken")
	}
}

func BenchmarkRedact(b *testing.B) {
	r := newRedactor("cGFzc3dvcmQtb2YtZm9ydHktZm91ci1jaGFyYWN0ZXJz+/==", "3f2504e0-4f89-11d3-9a0c-0305e82c3301")
	body := strings.Repeat(`{"MobileNumber":"2348031230101","MessageId":"fc103131-5931-4530-ba8e-aa223c769536"},`, 100)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		r.brief(body, maxExcerpt)
	}
}
