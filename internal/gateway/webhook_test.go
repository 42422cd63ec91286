package gateway

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/ussd"
)

func TestWebhook(t *testing.T) {
	tests := []struct {
		name, body string
		status     int
		want       string
	}{
		{"JSON", `{"text":" 12,500 naira "}`, 200, "12,500 naira"},
		{"plain text", "12,500 naira\n", 200, "12,500 naira"},
		{"HTML", "<html>", 200, ""},
		{"broken JSON", `{"text":`, 200, ""},
		{"nothing", "", 200, ""},
		{"too long", strings.Repeat("x", maxWebhookBody+1), 200, ""},
		{"not UTF-8", "\xff", 200, ""},
		{"error", "oops", 500, ""},
		{"redirect", "there", 302, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var asked int
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				body, _ := io.ReadAll(r.Body)
				m := hmac.New(sha256.New, []byte("secret"))
				fmt.Fprintf(m, "1700000000.%s", body)
				if want := "t=1700000000,v1=" + hex.EncodeToString(m.Sum(nil)); r.Header.Get("X-Smsdesk-Signature") != want ||
					!strings.Contains(string(body), `"values":{"Typed":"1001"}`) {
					t.Errorf("%s %s", r.Header, body)
				}
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}))
			defer s.Close()
			q := ussd.Question{URL: s.URL + "?key=CANARY", Secret: "secret", At: 1_700_000_000_999,
				Body: ussd.QuestionBody{Values: map[string]string{"Typed": "1001"}}}
			got, err := NewWebhook(true).Ask(context.Background(), q)
			if got != tt.want || (err == nil) != (tt.want != "") || asked != 1 {
				t.Errorf("%q, %v, asked %d times", got, err, asked)
			}
			if err != nil && strings.Contains(err.Error(), "CANARY") {
				t.Errorf("the error tells a secret: %v", err)
			}
		})
	}
}

func TestWebhookStaysOutside(t *testing.T) {
	for address, inside := range map[string]bool{"127.0.0.1:443": true, "10.1.2.3:443": true, "192.168.0.1:443": true,
		"169.254.169.254:80": true, "[::1]:443": true, "[fd00::1]:443": true,
		"[::ffff:10.0.0.1]:443": true, "100.64.0.1:443": true, "0.0.0.1:443": true, "[64:ff9b::a00:1]:443": true,
		"[2002:a00:1::]:443": true, "[2001:0:a00:1::]:443": true, "[::a00:1]:443": true, "198.18.0.1:443": true,
		"[fe80::1%eth0]:443": true, "8.8.8.8:443": false, "[2a00::1]:443": false} {
		if err := outsideOnly(address); (err != nil) != inside {
			t.Errorf("%s: %v", address, err)
		}
	}
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := NewWebhook(false).Ask(ctx, ussd.Question{URL: s.URL}); err == nil ||
		!strings.Contains(err.Error(), errInside.Error()) {
		t.Errorf("asked an address inside the network: %v", err)
	}
}
