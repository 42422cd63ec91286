package sandbox

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// carrier takes reports without a network.
type carrier struct{ delivered, failed atomic.Int64 }

func (c *carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	switch r.URL.Query().Get("status") {
	case "DELIVRD":
		c.delivered.Add(1)
	case "UNDELIV":
		c.failed.Add(1)
	}
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
}

// Whoever rehearses chooses each number's fate, names the sender ID and carries the
// reports.
func TestFatesAndReportsAsChosen(t *testing.T) {
	var c carrier
	v := start(t, func(cfg *Config) {
		cfg.Carry, cfg.SenderIDs, cfg.DLRURL = &c, []string{"MYNAME"}, "http://nobody.invalid/dlr"
		cfg.Fate = func(number string) int {
			return map[string]int{"2348031000001": 2, "2348031000003": 10, "2348031000004": 99}[number]
		}
	})
	r := v.do(http.MethodPost, "/v2/SendSMS", `{"ApiKey":"`+testKey+`","ClientId":"`+testClient+
		`","SenderId":"MYNAME","Message":"Hello","MobileNumbers":"2348031000001,2348030000002,2348031000003,2348031000004"}`)
	if r.status != http.StatusOK || strings.Count(r.body, `"MessageErrorCode":401`) != 1 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	v.settled(t)
	if d, f := c.delivered.Load(), c.failed.Load(); d != 2 || f != 1 {
		t.Errorf("%d reports of delivery and %d of failure were carried, want 2 and 1", d, f)
	}
}
