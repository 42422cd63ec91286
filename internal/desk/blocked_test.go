package desk_test

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"smsdesk/internal/desk"
	"smsdesk/internal/rig"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

func (r *kit) blocked() (list []string) {
	r.T.Helper()
	rows, _, err := r.DB.BlockedNumbers(r.Ctx, sms.BlockedFilter{AccountID: r.Account.ID, Limit: 1000})
	if err != nil {
		r.T.Fatal(err)
	}
	for _, b := range rows {
		list = append(list, string(b.Kind)+" "+b.Number)
	}
	slices.Sort(list)
	return list
}

func TestBlockNumbersReadsTextAndFile(t *testing.T) {
	for name, c := range map[string]struct {
		numbers, file string
		want          []string
		bad           sms.Invalid
	}{
		"typed":             {numbers: "0803 000 0101, +2348030000102\n0803 000 0101", want: []string{"staff 2348030000101", "staff 2348030000102"}},
		"both":              {numbers: "0803 000 0101", file: "08030000101\n08030000102", want: []string{"file 2348030000102", "staff 2348030000101"}},
		"CSV with headings": {file: "\ufeffName,\"Phone\"\r\nAda Obi,\"0803 000 0101\"\r\n", want: []string{"file 2348030000101"}},
		"nothing":           {bad: sms.Invalid{"numbers": "Enter at least one phone number, or choose a file"}},
		"a wrong number":    {numbers: "080312345", file: "08030000101", bad: sms.Invalid{"numbers": "Too short: has 9 digits, needs 11"}},
		"wrong in the file": {file: "phone\n08030000101\n080312345\n08031",
			bad: sms.Invalid{"file": "2 numbers cannot be used. First problem: Too short: has 9 digits, needs 11"}},
		"only headings": {file: "phone,name\n", bad: sms.Invalid{"file": "The selected file has no phone numbers"}},
		"a spreadsheet": {file: "PK\x03\x04\x00\xff",
			bad: sms.Invalid{"file": "The selected file must be plain text or CSV. Save it as CSV UTF-8 and choose it again"}},
		"UTF-16": {file: "0\x008\x000\x003\x00",
			bad: sms.Invalid{"file": "The selected file must be plain text or CSV. Save it as CSV UTF-8 and choose it again"}},
		"too large": {file: strings.Repeat("\n", 1<<20+1),
			bad: sms.Invalid{"file": "The selected file must be smaller than 1MB. Split it and upload the parts"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newKit(t, sandbox.Config{}, nil)
			_, _, err := r.Desk.BlockNumbers(r.Ctx, r.By, desk.BlockOrder{AccountID: r.Account.ID, Numbers: c.numbers,
				File: []byte(c.file)})
			var bad sms.Invalid
			if errors.As(err, &bad); fmt.Sprint(bad) != fmt.Sprint(c.bad) || (err != nil) != (c.bad != nil) {
				t.Errorf("%v, want %v", err, c.bad)
			}
			if got := r.blocked(); !slices.Equal(got, c.want) {
				t.Errorf("blocked %q, want %q", got, c.want)
			}
		})
	}
}

func TestWhoMayBlock(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	for _, role := range sms.Roles() {
		u := sms.User{ID: 9, Name: "Bola", Role: role, Active: true}
		added, all, err := r.Desk.BlockNumbers(r.Ctx, u,
			desk.BlockOrder{AccountID: r.Account.ID, Numbers: "08030000101 08030000102", Note: "asked"})
		if may := role.AtLeast(sms.Sender); may != (err == nil) || !may && !errors.Is(err, sms.ErrForbidden) || may &&
			(all != 2 || added == 2 != (role == sms.Sender)) {
			t.Errorf("%s blocks: %d of %d, %v", role, added, all, err)
		}
		list, _, err := r.DB.BlockedNumbers(r.Ctx, sms.BlockedFilter{AccountID: r.Account.ID, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		id := int64(1)
		if len(list) > 0 {
			id = list[0].ID
		}
		_, err = r.Desk.UnblockNumber(r.Ctx, u, id, "asked again")
		if may := role.AtLeast(sms.Manager); may != (err == nil) || !may && !errors.Is(err, sms.ErrForbidden) {
			t.Errorf("%s unblocks: %v", role, err)
		}
	}
	var bad sms.Invalid
	for _, why := range []string{" ", strings.Repeat("x", 201)} {
		if _, err := r.Desk.UnblockNumber(r.Ctx, r.By, 1, why); !errors.As(err, &bad) || bad["note"] == "" {
			t.Errorf("without a reason: %v", err)
		}
	}
	if _, err := r.Desk.UnblockNumber(r.Ctx, r.By, 999, "why"); !errors.Is(err, sms.ErrNotFound) {
		t.Error(err)
	}
}

// TestBlockedNumbersAreLeftOut: before the check, after the start, and by a
// report, no blocked number reaches the service's ledger.
func TestBlockedNumbersAreLeftOut(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	list := rig.Ordinary(40)
	r.Block(list[0], list[7])
	c := r.Draft("CLINIC", "Hello", list...)
	if c.Recipients != 40 || c.Parts != 38 {
		t.Errorf("%d recipients, %d parts", c.Recipients, c.Parts)
	}
	r.Block(list[1])
	c = r.Start(c)
	r.Block(list[39])
	r.Dispatch()
	_, tally := r.Until(c.ID, "the end", rig.Finished)
	if tally["leftout"] != 4 || tally.Total() != 40 {
		t.Errorf("tally %v", tally)
	}
	if got := r.Ledger(); len(got) != 36 {
		t.Errorf("%d numbers in the ledger", len(got))
	}
	for _, i := range []int{0, 1, 7, 39} {
		if n := r.Ledger()["234"+list[i][1:]]; n != 0 {
			t.Errorf("number %d was sent to", i)
		}
	}
	var bad sms.Invalid
	order := desk.Order{AccountID: r.Account.ID, SenderID: "CLINIC", Numbers: list[0], Text: "Hello",
		Token: desk.NewToken()}
	if _, err := r.Desk.CreateCampaign(r.Ctx, r.By, order); !errors.As(err, &bad) ||
		!strings.HasPrefix(bad["numbers"], "Number blocked since ") {
		t.Errorf("one blocked number: %v", err)
	}
	order.Numbers = list[0] + "\n" + list[1]
	if _, err := r.Desk.CreateCampaign(r.Ctx, r.By, order); !errors.As(err, &bad) ||
		bad["numbers"] != "All 2 numbers are blocked" {
		t.Errorf("only blocked numbers: %v", err)
	}
}

// Blocked while the campaign runs: whatever the moment, what stands on the
// list before its call is licensed never arrives. Which of two commits was
// first is written down by the database itself: clocks are read before them.
func TestBlockedWhileItRuns(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	order := r.commits(
		`create trigger note_blocked after insert on blocked begin insert into commits (what, number) values ('blocked', new.number); end`,
		`create trigger note_licensed after update of state on message
  when new.state = 'sending' begin insert into commits (what, number) values ('licensed', new.number); end`)
	list := rig.Ordinary(300)
	c := r.Start(r.Draft("CLINIC", "Hello", list...))
	r.Dispatch()
	for i := 299; i > 0; i -= 7 {
		r.Block(list[i])
	}
	_, tally := r.Until(c.ID, "the end", rig.Finished)
	messages, _, err := r.DB.Messages(r.Ctx, sms.MessageFilter{CampaignID: c.ID, Limit: 300})
	if err != nil {
		t.Fatal(err)
	}
	blocked, licensed := order("blocked"), order("licensed")
	if len(blocked) != 43 {
		t.Fatalf("%d blocked", len(blocked))
	}
	sent := r.Ledger()
	var skipped int64
	for _, m := range messages {
		at, is := blocked[m.Number]
		switch {
		case m.State == sms.Skipped && (!is || sent[m.Number] != 0 || licensed[m.Number] != 0):
			t.Errorf("message %d was left out, blocked %v, licensed as %d, executed %d times", m.ID, is, licensed[m.Number],
				sent[m.Number])
		case m.State == sms.Skipped:
			skipped++
		case is && licensed[m.Number] > at || sent[m.Number] != 1:
			t.Errorf("message %d, blocked by commit %d, was licensed by commit %d and sent %d times", m.ID, at,
				licensed[m.Number], sent[m.Number])
		}
	}
	if tally["leftout"] != skipped || tally.Total() != 300 {
		t.Errorf("%d left out, tally %v", skipped, tally)
	}
	t.Logf("%d of %d were blocked in time", skipped, len(blocked))
}

// commits lets the database note its commits by triggers into the table
// commits; the result gives the place of each number's last one of a kind.
func (r *kit) commits(triggers ...string) func(what string) map[string]int {
	r.T.Helper()
	raw, err := sql.Open("sqlite", "file:"+filepath.Join(r.Data, "smsdesk.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		r.T.Fatal(err)
	}
	r.T.Cleanup(func() { _ = raw.Close() })
	for _, statement := range append(
		[]string{`create table commits (place integer primary key autoincrement, what text, number text)`}, triggers...) {
		if _, err := raw.ExecContext(r.Ctx, statement); err != nil {
			r.T.Fatal(err)
		}
	}
	return func(what string) map[string]int {
		rows, err := raw.QueryContext(r.Ctx, `select number, max(place) from commits where what = $1 group by number`, what)
		if err != nil {
			r.T.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		places := map[string]int{}
		for rows.Next() {
			var number string
			var place int
			if err := rows.Scan(&number, &place); err != nil {
				r.T.Fatal(err)
			}
			places[number] = place
		}
		if err := rows.Err(); err != nil {
			r.T.Fatal(err)
		}
		return places
	}
}
