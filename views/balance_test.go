package views

import (
	"strings"
	"testing"
	"time"

	"smsdesk/internal/sms"
)

// TestTheLineOfTheBalance stands on nothing left, so that a small fall looks
// small, and is level where there is one reading only.
func TestTheLineOfTheBalance(t *testing.T) {
	now := time.Date(2026, time.June, 3, 10, 0, 0, 0, time.UTC)
	span := func(since, read time.Duration, credits string) sms.BalanceSpan {
		return sms.BalanceSpan{Balance: sms.Balance{PluginType: "SMS", Credits: credits, ReadAt: now.Add(read).UnixMilli()},
			Since: now.Add(since).UnixMilli()}
	}
	for _, tc := range []struct {
		history []sms.BalanceSpan
		line    string
	}{
		{[]sms.BalanceSpan{span(0, 0, "₦100.00")}, "M0 10.0H720"},
		{[]sms.BalanceSpan{span(0, time.Hour, "₦100.00"), span(2*time.Hour, 2*time.Hour, "₦50.00")}, "M0.0 10.0H360.0V10.0H720.0V84.0"},
		{[]sms.BalanceSpan{span(0, 0, "₦0.00"), span(time.Hour, time.Hour, "₦0.00")}, "M0.0 158.0H720.0V158.0"},
	} {
		p := BalancePage{History: tc.history}
		p.Now = now
		if c := p.chart(p.points()); c.Line != tc.line || !strings.HasPrefix(c.Area, c.Line) {
			t.Errorf("%q, want %q", c.Line, tc.line)
		}
	}
}
