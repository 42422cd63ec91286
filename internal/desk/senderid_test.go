package desk_test

import (
	"errors"
	"strings"
	"testing"

	"smsdesk/internal/desk"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

func (r *kit) trySender(sender string) string {
	r.T.Helper()
	_, err := r.Desk.CreateCampaign(r.Ctx, r.By,
		desk.Order{AccountID: r.Account.ID, SenderID: sender, Numbers: "08030000101", Text: "Hello", Token: desk.NewToken()})
	var bad sms.Invalid
	if err != nil && !errors.As(err, &bad) {
		r.T.Fatal(err)
	}
	return bad["sender_id"]
}

// A sender ID that is not known, or was read long ago, is looked up before
// anybody is told that it cannot be used.
func TestAnUnknownSenderIDIsLookedUp(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	if err := r.DB.PutSenderIDs(r.Ctx, r.Account.ID, nil, 1); err != nil {
		t.Fatal(err)
	}
	if got := r.trySender("CLINIC"); got != "" {
		t.Errorf("one that the service knows: %q", got)
	}
	if list, err := r.DB.SenderIDs(r.Ctx, r.Account.ID); err != nil || len(list) < 2 {
		t.Errorf("what was read is not kept: %v %v", list, err)
	}
	if got := r.trySender("NOBODY"); !strings.Contains(got, "is not approved and active") {
		t.Errorf("one that nobody knows: %q", got)
	}
	if err := r.DB.PutSenderIDs(r.Ctx, r.Account.ID, nil, 1); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		r.trySender("NOBODY")
	}
	if list, err := r.DB.SenderIDs(r.Ctx, r.Account.ID); err != nil || len(list) > 0 {
		t.Errorf("the service was asked again within two seconds: %v %v", list, err)
	}
}

func TestWhatWasReadLastCountsWhileTheServiceIsAway(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	if err := r.DB.PutSenderIDs(r.Ctx, r.Account.ID,
		[]sms.SenderID{{ID: 1, Text: "CLINIC", IsActive: true, ApproveStatus: "Approved"}}, 1); err != nil {
		t.Fatal(err)
	}
	r.Service.Close()
	if got := r.trySender("CLINIC"); got != "" {
		t.Errorf("one that was usable: %q", got)
	}
	if got := r.trySender("OTHER"); !strings.Contains(got, "We could not check with the provider") {
		t.Errorf("one that is not known: %q", got)
	}
}

// TestAPurposeOfTwoLinesCanBeChanged: a form gives back other line breaks than
// it was given.
func TestAPurposeOfTwoLinesCanBeChanged(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.known()
	if err := r.DB.ChangePurpose(r.Ctx, r.Account.ID, 101, "Appointments\nand reminders"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Desk.UpdatePurpose(r.Ctx, r.By, r.Account.ID, 101, "Appointments\r\nand reminders",
		"Reminders"); err != nil {
		t.Error(err)
	}
	if _, err := r.Desk.UpdatePurpose(r.Ctx, r.By, r.Account.ID, 101, "Appointments", "Greetings"); err == nil {
		t.Error("a purpose that somebody else changed was overwritten")
	}
}
