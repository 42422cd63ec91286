package desk_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/rig"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

func said(err error, field string) string {
	var bad sms.Invalid
	errors.As(err, &bad)
	return bad[field]
}

func TestLargeCampaignsAreTyped(t *testing.T) {
	r := newKit(t, sandbox.Config{}, func(a *sms.Account) { a.ConfirmCountAbove = 3 })
	small, large := r.Draft("CLINIC", "Hello", rig.Ordinary(3)...), r.Draft("CLINIC", "Hello", rig.Ordinary(5)...)
	if _, err := r.Desk.StartCampaign(r.Ctx, r.By, small.ID, desk.StartOrder{Version: small.Version}); err != nil {
		t.Errorf("three are asked for: %v", err)
	}
	at := sms.ScheduleAt(time.Now().Add(time.Hour))
	for typed, want := range map[string]string{"": "Type 5 to confirm", "4": "You typed 4. There are 5 recipients",
		"five": "You typed five. There are 5 recipients",
		"05":   "You typed 05. There are 5 recipients", strings.Repeat("9", 50): "You typed " + strings.Repeat("9", 20) + "…. There are 5 recipients"} {
		order := desk.StartOrder{Version: large.Version, Typed: typed}
		if _, err := r.Desk.StartCampaign(r.Ctx, r.By, large.ID, order); said(err, "typed") != want {
			t.Errorf("started with %q: %v", typed, err)
		}
		if _, err := r.Desk.ScheduleCampaign(r.Ctx, r.By, large.ID, at, order); said(err, "typed") != want {
			t.Errorf("scheduled with %q: %v", typed, err)
		}
	}
	// A number that was blocked in the meantime is not sent to, and not counted.
	if _, _, err := r.Desk.BlockNumbers(r.Ctx, r.By,
		desk.BlockOrder{AccountID: r.Account.ID, Numbers: rig.Ordinary(1)[0]}); err != nil {
		t.Fatal(err)
	}
	if out, err := r.Desk.Outgoing(r.Ctx, large); err != nil || out.Messages != 4 || out.Parts != 4 || out.Blocked != 1 ||
		len(out.Sent) > 0 {
		t.Errorf("%+v %v", out, err)
	}
	if _, err := r.Desk.StartCampaign(r.Ctx, r.By, large.ID, desk.StartOrder{Version: large.Version, Typed: "5"}); said(
		err, "typed") != "You typed 5. There are 4 recipients" {
		t.Errorf("the old number is taken: %v", err)
	}
	large, err := r.Desk.ScheduleCampaign(r.Ctx, r.By, large.ID, at, desk.StartOrder{Version: large.Version, Typed: " 4 ",
		Again: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = r.Desk.RescheduleCampaign(r.Ctx, r.By, large.ID, sms.ScheduleAt(time.Now().Add(2*time.Hour)),
		desk.StartOrder{Version: large.Version}); err != nil {
		t.Errorf("asked again for another time: %v", err)
	}
	for name, order := range map[string]desk.StartOrder{"a token": {FromToken: true},
		"a thousand with a comma": {Typed: "1,000"}} {
		n := 4
		if order.Typed != "" {
			n = 1000
		}
		c := r.Draft("CLINIC", name, rig.Ordinary(n + 1)[1:]...)
		order.Version = c.Version
		if _, err := r.Desk.StartCampaign(r.Ctx, r.By, c.ID, order); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNobodyTypesWhereTheAccountDoesNotAsk(t *testing.T) {
	r := newKit(t, sandbox.Config{}, func(a *sms.Account) { a.ConfirmCountAbove = 0 })
	c := r.Draft("CLINIC", "Hello", rig.Ordinary(900)...)
	if _, err := r.Desk.StartCampaign(r.Ctx, r.By, c.ID, desk.StartOrder{Version: c.Version}); err != nil {
		t.Error(err)
	}
}

func TestRenameCampaign(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	c := r.Draft("CLINIC", "Hello", rig.Ordinary(2)...)
	if got, err := r.Desk.RenameCampaign(r.Ctx, r.By, c.ID, "  June \n reminders "); err != nil ||
		got.Name != "June reminders" {
		t.Errorf("%q %v", got.Name, err)
	}
	for name, want := range map[string]string{" ": "Enter a name for the campaign",
		strings.Repeat("n", 101): "Name must be 100 characters or fewer"} {
		if _, err := r.Desk.RenameCampaign(r.Ctx, r.By, c.ID, name); said(err, "name") != want {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := r.Desk.RenameCampaign(r.Ctx, sms.User{ID: 2, Role: sms.Viewer, Active: true}, c.ID,
		"Other"); !errors.Is(err, sms.ErrForbidden) {
		t.Errorf("a viewer: %v", err)
	}
	r.Start(r.Draft("CLINIC", "Started", rig.Ordinary(2)...))
	started := r.Start(r.Draft("CLINIC", "Started too", rig.Ordinary(2)...))
	if _, err := r.Desk.RenameCampaign(r.Ctx, r.By, started.ID, "Other"); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("a started one: %v", err)
	}
}

func TestSendTest(t *testing.T) {
	r := newKit(t, sandbox.Config{}, func(a *sms.Account) { a.ConfirmCountAbove = 1 })
	ada, err := r.DB.CreateUser(r.Ctx, sms.User{Email: "ada@example.com", Name: "Ada Obi", Role: sms.Sender}, "x", 1)
	if err != nil {
		t.Fatal(err)
	}
	ada.Active = true
	c := r.Draft("CLINIC", "Dear Ada, come on Friday.", rig.Ordinary(3)...)
	rows, _, err := r.DB.Messages(r.Ctx, sms.MessageFilter{CampaignID: c.ID, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	order := desk.TestOrder{MessageID: rows[1].ID, Number: "0803 000 0101", Token: desk.NewToken()}
	made, err := r.Desk.SendTest(r.Ctx, ada, c.ID, order)
	if err != nil || made.State != sms.CampaignRunning || made.TestOf != c.ID ||
		made.Name != "Test of Dear Ada, come on Friday." || made.Recipients != 1 || !made.Urgent {
		t.Fatalf("%+v %v", made, err)
	}
	if again, err := r.Desk.SendTest(r.Ctx, ada, c.ID, order); err != nil || again.ID != made.ID {
		t.Errorf("pressed twice: campaign %d, %v", again.ID, err)
	}
	second := order
	second.Token = desk.NewToken()
	if other, err := r.Desk.SendTest(r.Ctx, ada, c.ID, second); err != nil || other.ID == made.ID {
		t.Errorf("a second test: campaign %d, %v", other.ID, err)
	}
	if u, _, err := r.DB.UserByEmail(r.Ctx, "ada@example.com"); err != nil || u.TestNumber != "2348030000101" {
		t.Errorf("remembered %q, %v", u.TestNumber, err)
	}
	for number, want := range map[string]string{" ": "Enter the number of your own phone",
		"0803 000 010": "Too short: has 10 digits, needs 11", "08030000101, 08030000102": "Enter one number"} {
		if _, err := r.Desk.SendTest(r.Ctx, ada, c.ID,
			desk.TestOrder{MessageID: rows[0].ID, Number: number, Token: desk.NewToken()}); said(err, "test_number") != want {
			t.Errorf("%q: %v", number, err)
		}
	}
	if _, _, err := r.Desk.BlockNumbers(r.Ctx, r.By,
		desk.BlockOrder{AccountID: r.Account.ID, Numbers: "08030000199"}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Desk.SendTest(r.Ctx, ada, c.ID, desk.TestOrder{MessageID: rows[0].ID, Number: "08030000199",
		Token: desk.NewToken()}); !strings.HasPrefix(said(err, "test_number"), "Number blocked") {
		t.Errorf("a blocked number: %v", err)
	}
	other := r.Draft("CLINIC", "Other", rig.Ordinary(1)...)
	if _, err := r.Desk.SendTest(r.Ctx, ada, other.ID, order); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("a message of another campaign: %v", err)
	}
	if _, err := r.Desk.SendTest(r.Ctx, sms.User{ID: 2, Role: sms.Viewer, Active: true}, c.ID, order); !errors.Is(err,
		sms.ErrForbidden) {
		t.Errorf("a viewer: %v", err)
	}
	if now, err := r.DB.Campaign(r.Ctx, c.ID); err != nil || now.State != sms.CampaignDraft {
		t.Errorf("the campaign itself: %v %v", now.State, err)
	}
	pending := r.Draft("PENDING1", "Hello", rig.Ordinary(1)...)
	r.Know("SCHOOL")
	first, err := r.DB.FirstToSend(r.Ctx, pending.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Desk.SendTest(r.Ctx, ada, pending.ID,
		desk.TestOrder{MessageID: first.ID, Number: "08030000101", Token: desk.NewToken()}); said(err, "sender_id") == "" {
		t.Errorf("the sender ID is not approved any more: %v", err)
	}
	if n := fmt.Sprint(r.Ledger()); n != "map[]" {
		t.Errorf("something was sent without the dispatcher: %s", n)
	}
}
