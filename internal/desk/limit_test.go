package desk_test

import (
	"errors"
	"strings"
	"testing"

	"smsdesk/internal/desk"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

// TestLimitsOfOnePerson: whoever starts too large a campaign, or too many in a
// day, is told the limit; nothing is limited unless it was asked for.
func TestLimitsOfOnePerson(t *testing.T) {
	r := newKit(t, sandbox.Config{}, func(a *sms.Account) { a.Limits = sms.Limits{MaxPerCampaign: 3, MaxPerUserDay: 4} })
	start := func(text, numbers string) string {
		c, err := r.Desk.CreateCampaign(r.Ctx, r.By, desk.Order{AccountID: r.Account.ID, SenderID: "CLINIC", Numbers: numbers,
			Text: text, Token: desk.NewToken()})
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Desk.StartCampaign(r.Ctx, r.By, c.ID, desk.StartOrder{Version: c.Version})
		var bad sms.Invalid
		if errors.As(err, &bad) {
			return bad["limit"]
		}
		if err != nil {
			t.Fatal(err)
		}
		return ""
	}
	if got := start("one", "08030000101,08030000102,08030000103,08030000104"); !strings.HasPrefix(got,
		"A campaign can have up to 3 recipients. This one has 4.") {
		t.Error(got)
	}
	if got := start("two", "08030000101,08030000102,08030000103"); got != "" {
		t.Error(got)
	}
	if got := start("three", "08030000104,08030000105"); !strings.HasPrefix(got,
		"You can send to 4 recipients per day. You have sent to 3 today") {
		t.Error(got)
	}
	if got := start("four", "08030000104"); got != "" {
		t.Error(got)
	}
}
