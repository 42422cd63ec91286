package desk_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

// TestUSSDOptOutKeepsItsProof: whoever stops messages in a menu is blocked
// once, with the day and the words of the first time.
func TestUSSDOptOutKeepsItsProof(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	for i, c := range []struct {
		number string
		fresh  bool
	}{{"+2348030000101", true}, {"08030000101", false}, {"2348030000102", true}} {
		fresh, err := r.Desk.BlockByUSSD(r.Ctx, r.Account.ID, c.number,
			fmt.Sprintf("pressed 3 in *384*55# on MTN, session %d", i))
		if err != nil || fresh != c.fresh {
			t.Errorf("%s: %v, %v", c.number, fresh, err)
		}
	}
	_, err := r.Desk.BlockByUSSD(r.Ctx, r.Account.ID, "no number", "x")
	if bad := (sms.Invalid{}); !errors.As(err, &bad) || bad["number"] == "" {
		t.Errorf("a number that nobody can read: %v", err)
	}
	known, err := r.DB.BlockedAmong(r.Ctx, r.Account.ID, []string{"2348030000101"})
	if err != nil {
		t.Fatal(err)
	}
	b := known["2348030000101"]
	if b.Kind != sms.BlockedByUSSD || b.Proof != "pressed 3 in *384*55# on MTN, session 0" || b.Since == 0 ||
		!b.ByPerson() {
		t.Errorf("%+v", b)
	}
	if _, _, err := r.Desk.BlockNumbers(r.Ctx, r.By, desk.BlockOrder{AccountID: r.Account.ID, Numbers: "08030000101",
		File: []byte("08030000103\n"), FileName: `C:\lists\stop.csv`}); err != nil {
		t.Fatal(err)
	}
	if known, err = r.DB.BlockedAmong(r.Ctx, r.Account.ID, []string{"2348030000101", "2348030000103"}); err != nil {
		t.Fatal(err)
	}
	if again := known["2348030000101"]; again.Kind != sms.BlockedByUSSD || again.Proof != b.Proof {
		t.Errorf("blocking once more changed the proof: %+v", again)
	}
	if file := known["2348030000103"]; file.Proof != "From the file stop.csv" {
		t.Errorf("%+v", file)
	}
}

// TestUSSDTakesBackOnlyWhatUSSDDid: each block that ended is kept with its
// proof and its end, also when the person stops messages once more.
func TestUSSDTakesBackOnlyWhatUSSDDid(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	const number = "2348030000101"
	stop := func(proof string) {
		t.Helper()
		if fresh, err := r.Desk.BlockByUSSD(r.Ctx, r.Account.ID, "+"+number, proof); err != nil || !fresh {
			t.Fatal(fresh, err)
		}
	}
	takeBack := func(want bool) {
		t.Helper()
		if done, err := r.Desk.UnblockByUSSD(r.Ctx, r.Account.ID, number,
			"asked in *384*55# on MTN, session 2"); err != nil || done != want {
			t.Fatal(done, err)
		}
	}
	r.Block("0803 000 0101")
	takeBack(false)
	id := one(t, r, number).ID
	if _, err := r.Desk.UnblockNumber(r.Ctx, r.By, id, "came by in person"); err != nil {
		t.Fatal(err)
	}
	takeBack(false)
	stop("session 1")
	takeBack(true)
	stop("session 3")
	if one(t, r, number).Proof != "session 3" {
		t.Error("blocked again, but not as of now")
	}
	list, err := r.DB.EndedBlocks(r.Ctx, r.Account.ID, number, 9)
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v %v", list, err)
	}
	if b := list[0]; b.Proof != "session 1" || b.End.Words() != "by the recipient, by USSD" ||
		b.End.Note != "asked in *384*55# on MTN, session 2" || b.End.At < b.Since || b.Since == 0 {
		t.Errorf("%+v", b)
	}
	if b := list[1]; b.ByName != r.By.Name || b.Proof != "Entered by hand" || b.End.Words() != "by "+r.By.Name ||
		b.End.Note != "came by in person" || b.End.At < b.Since {
		t.Errorf("%+v", b)
	}
	lines, err := r.DB.AuditOf(r.Ctx, feed.Account(r.Account.ID))
	if err != nil {
		t.Fatal(err)
	}
	var who []string
	for _, line := range lines {
		if line.Action == "number.unblock" {
			who = append(who, line.User.Name)
		}
	}
	if slices.Sort(who); !slices.Equal(who, []string{r.By.Name, "the recipient"}) {
		t.Errorf("the audit log names %q", who)
	}
}

// one is the block of a number that there is.
func one(t *testing.T, r *kit, number string) sms.Blocked {
	t.Helper()
	known, err := r.DB.BlockedAmong(r.Ctx, r.Account.ID, []string{number})
	if err != nil || len(known) != 1 {
		t.Fatal(known, err)
	}
	return known[number]
}

// TestOptOutNoAddress: a link that leads to this computer or its network helps
// no recipient.
func TestOptOutNoAddress(t *testing.T) {
	const text = "Sale. Stop: ##Stop link##"
	for address, want := range map[string]bool{"": true, "http://127.0.0.1:8080": true, "http://localhost": true,
		"http://[::1]:8080": true, "http://192.168.1.7": true, "http://10.0.0.2:8080": true, "http://0.0.0.0:80": true, "::": true,
		"https://sms.example.org": false, "https://203.0.113.7": false} {
		if got := desk.OptOutNoAddress(text, address); got != want {
			t.Errorf("%q: %t", address, got)
		}
		if desk.OptOutNoAddress("Sale ##Name##", address) {
			t.Errorf("%q: a text without a link is warned of", address)
		}
	}
}
