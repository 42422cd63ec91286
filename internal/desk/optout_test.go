package desk_test

import (
	"errors"
	"fmt"
	"testing"

	"smsdesk/internal/desk"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

// TestUSSDOptOutKeepsItsProof: whoever stops messages in a menu is blocked
// once, with the day and the words of the first time.
func TestUSSDOptOutKeepsItsProof(t *testing.T) {
	r := newRig(t, sandbox.Config{}, nil)
	for i, c := range []struct {
		number string
		fresh  bool
	}{{"+2348030000101", true}, {"08030000101", false}, {"2348030000102", true}} {
		fresh, err := r.desk.BlockByUSSD(r.ctx, r.account.ID, c.number, fmt.Sprintf("pressed 3 in *384*55# on MTN, session %d", i))
		if err != nil || fresh != c.fresh {
			t.Errorf("%s: %v, %v", c.number, fresh, err)
		}
	}
	_, err := r.desk.BlockByUSSD(r.ctx, r.account.ID, "no number", "x")
	if bad := (sms.Invalid{}); !errors.As(err, &bad) || bad["number"] == "" {
		t.Errorf("a number that nobody can read: %v", err)
	}
	known, err := r.db.BlockedAmong(r.ctx, r.account.ID, []string{"2348030000101"})
	if err != nil {
		t.Fatal(err)
	}
	b := known["2348030000101"]
	if b.Kind != sms.BlockedByUSSD || b.Proof != "pressed 3 in *384*55# on MTN, session 0" || b.Since == 0 || !b.ByPerson() {
		t.Errorf("%+v", b)
	}
	if _, _, err := r.desk.BlockNumbers(r.ctx, r.by, desk.BlockOrder{AccountID: r.account.ID, Numbers: "08030000101", File: []byte("08030000103\n"), FileName: `C:\lists\stop.csv`}); err != nil {
		t.Fatal(err)
	}
	if known, err = r.db.BlockedAmong(r.ctx, r.account.ID, []string{"2348030000101", "2348030000103"}); err != nil {
		t.Fatal(err)
	}
	if again := known["2348030000101"]; again.Kind != sms.BlockedByUSSD || again.Proof != b.Proof {
		t.Errorf("blocking once more changed the proof: %+v", again)
	}
	if file := known["2348030000103"]; file.Proof != "In the file stop.csv" {
		t.Errorf("%+v", file)
	}
}
