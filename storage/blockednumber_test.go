package storage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/sms"
)

func (f *fixture) block(kind sms.BlockKind, numbers ...string) (added int64) {
	f.t.Helper()
	var list []sms.Blocked
	for _, n := range numbers {
		list = append(list, sms.Blocked{AccountID: f.account.ID, Number: n, Kind: kind, Note: "asked by phone", ByID: 1,
			ByName: "Ada Obi", Since: f.now()})
	}
	added, err := f.db.Block(f.ctx, list)
	f.must(err)
	return added
}

func (f *fixture) blockedNumbers(filter sms.BlockedFilter) (list []string, more bool) {
	f.t.Helper()
	filter.AccountID = f.account.ID
	rows, more, err := f.db.BlockedNumbers(f.ctx, filter)
	f.must(err)
	for _, b := range rows {
		list = append(list, b.Number)
	}
	return list, more
}

// Unblock is EndBlock by somebody of the staff.
func (db *DB) Unblock(ctx context.Context, id int64) (sms.Blocked, error) {
	return db.EndBlock(ctx, id, sms.Unblocking{At: began, Kind: sms.BlockedByStaff, Note: "came by in person", ByID: 2,
		ByName: "Bola Ade"})
}

func TestABlockedNumberKeepsItsFirstDay(t *testing.T) {
	f := newFixture(t)
	other := f.other(t, "Other")
	if n := f.block(sms.BlockedByStaff, numbers(250)...); n != 250 {
		t.Errorf("%d added", n)
	}
	first, err := f.db.BlockedAmong(f.ctx, f.account.ID, numbers(3))
	f.must(err)
	if n := f.block(sms.BlockedByFile, numbers(251)...); n != 1 {
		t.Errorf("%d added again", n)
	}
	again, err := f.db.BlockedAmong(f.ctx, f.account.ID, numbers(3))
	f.must(err)
	if d := cmp.Diff(first, again); d != "" || len(first) != 3 {
		t.Error(d)
	}
	b := first[numbers(1)[0]]
	want := sms.Blocked{ID: b.ID, AccountID: f.account.ID, Number: numbers(1)[0], Kind: sms.BlockedByStaff,
		Note: "asked by phone", ByID: 1, ByName: "Ada Obi", Since: b.Since}
	if got, err := f.db.BlockedNumber(f.ctx, b.ID); err != nil || got != want || b.Since == 0 {
		t.Errorf("%+v %v", got, err)
	}
	if n, err := f.db.CountBlocked(f.ctx, f.account.ID); err != nil || n != 251 {
		t.Errorf("%d %v", n, err)
	}
	if gone, err := f.db.Unblock(f.ctx, b.ID); err != nil || gone != want {
		t.Errorf("%+v %v", gone, err)
	}
	if _, err := f.db.Unblock(f.ctx, b.ID); !errors.Is(err, sms.ErrNotFound) {
		t.Error(err)
	}
	if list, err := f.db.BlockedAmong(f.ctx, f.account.ID, numbers(250)); err != nil || len(list) != 249 {
		t.Errorf("%d %v", len(list), err)
	}
	if list, err := f.db.BlockedAmong(f.ctx, other.account.ID, numbers(250)); err != nil || len(list) != 0 {
		t.Errorf("another account's: %d %v", len(list), err)
	}
}

func TestBlockedNumbersInPages(t *testing.T) {
	f := newFixture(t)
	f.other(t, "Other").block(sms.BlockedByStaff, "2348030099999")
	f.block(sms.BlockedByStaff, "2348030000003", "2348030000001", "2348099000000", "2348030000002")
	list, more := f.blockedNumbers(sms.BlockedFilter{Limit: 3})
	if !slices.Equal(list, []string{"2348030000002", "2348099000000", "2348030000001"}) || !more {
		t.Errorf("%v %v", list, more)
	}
	last := one[int64](f, "select id from blocked where number = '2348030000001'")
	if list, more = f.blockedNumbers(sms.BlockedFilter{Before: last, Limit: 3}); !slices.Equal(list,
		[]string{"2348030000003"}) || more {
		t.Errorf("%v %v", list, more)
	}
	for prefix, want := range map[string][]string{"23480300": {"2348030000001", "2348030000002", "2348030000003"},
		"2348099000000": {"2348099000000"}, "23470": nil, "9": nil} {
		if list, more := f.blockedNumbers(sms.BlockedFilter{Prefix: prefix, Limit: 9}); !slices.Equal(list, want) || more {
			t.Errorf("%s: %v %v", prefix, list, more)
		}
	}
	if list, more := f.blockedNumbers(sms.BlockedFilter{Prefix: "234", Limit: 2}); len(list) != 2 || !more {
		t.Errorf("%v %v", list, more)
	}
}

// A BLACKLIST report blocks its number once, in the transaction that applies
// it: also when it came before the answer, never when it is not believed, and
// a repetition of it does not undo what a person decided.
func TestAReportBlocksItsNumber(t *testing.T) {
	f := newFixture(t)
	c := f.proven("Hello", numbers(4)...)
	a := f.license(f.claim(4))
	early := f.report(a, 3, "BLACKLIST")
	f.apply(early)
	f.settle(a, answer(a))
	wrong := f.report(a, 0, "BLACKLIST")
	wrong.Mobile = "2348039999999"
	report := f.report(a, 1, "BLACKLIST")
	f.apply(report, wrong, f.report(a, 0, "DELIVRD"), f.report(a, 0, "BLACKLIST"), f.report(a, 2, "UNDELIV"))
	list, _ := f.blockedNumbers(sms.BlockedFilter{Limit: 9})
	if want := []string{a.Call.Recipients[1].Number, a.Call.Recipients[3].Number}; !slices.Equal(list, want) {
		t.Fatalf("blocked %v, want %v", list, want)
	}
	found, err := f.db.BlockedAmong(f.ctx, f.account.ID, list)
	f.must(err)
	b := found[list[0]]
	if b.Kind != sms.BlockedByReport || b.ByID != 0 || b.Since == 0 {
		t.Errorf("%+v", b)
	}
	f.must(second(f.db.Unblock(f.ctx, b.ID)))
	report.ReceivedAt = f.now()
	f.apply(report)
	if list, _ := f.blockedNumbers(sms.BlockedFilter{Limit: 9}); len(list) != 1 {
		t.Errorf("a repeated report blocked again: %v", list)
	}
	f.check()
	f.wantStates(c.ID, map[sms.State]int{sms.Accepted: 4})
}

// Blocked after the start: the claim leaves the number out with its reason,
// the licence refuses a call that was claimed before, and the campaign ends.
func TestBlockedAfterTheStartIsNotSent(t *testing.T) {
	f := newFixture(t)
	c := f.proven("Hello", numbers(9)...)
	n := numbers(9)
	f.block(sms.BlockedByStaff, n[0], n[2], n[8])
	claim, err := f.db.Claim(f.ctx, f.order(0, 3), f.now())
	f.must(err)
	a := claim.Attempt
	if !slices.Equal(claim.Changed, []int64{c.ID}) || a.Recipients != 3 || a.Call.Recipients[0].Number != n[1] {
		t.Fatalf("changed %v, claimed %+v", claim.Changed, a.Call.Recipients)
	}
	f.check()
	f.block(sms.BlockedByFile, n[3])
	if err := f.db.License(f.ctx, a, f.now()); !errors.Is(err, sms.ErrConflict) {
		t.Fatalf("a call to a blocked number was licensed: %v", err)
	}
	f.settle(a, sms.Outcome{Class: sms.ClassNothingLeft})
	sent := map[string]bool{}
	for a := f.claimAfter(0, 3); a != nil; a = f.claimAfter(0, 3) {
		for _, r := range f.license(a).Call.Recipients {
			sent[r.Number] = true
		}
		f.settle(a, answer(a))
		f.check()
	}
	if len(sent) != 5 || sent[n[0]] || sent[n[2]] || sent[n[3]] || sent[n[8]] {
		t.Errorf("sent %v", sent)
	}
	if got := f.campaign(c.ID); got.State != sms.CampaignFinished {
		t.Errorf("the campaign is %s", got.State)
	}
	tally, err := f.db.Tally(f.ctx, c.ID)
	if err != nil || tally["leftout"] != 4 || tally["network"] != 5 {
		t.Errorf("%v %v", tally, err)
	}
	m := f.messages(c.ID)
	if m[0].Reason != "Number blocked since 14 November (reason: added by Ada Obi)" ||
		m[3].Reason != "Number blocked since 14 November (reason: from a file uploaded by Ada Obi)" {
		t.Errorf("%q, %q", m[0].Reason, m[3].Reason)
	}
}

// A campaign of which every number has been blocked ends without a call, in
// as many claims as it takes, and lets the others have their turn.
func TestACampaignOfBlockedNumbersEndsByItself(t *testing.T) {
	f := newFixture(t)
	var list []string
	for i := range 3*blockedPass*blockedPasses + 50 {
		list = append(list, fmt.Sprintf("234803%07d", i))
	}
	c := f.start("Hello", list...)
	f.block(sms.BlockedByFile, list...)
	later := f.proven("Another", "2348099000000")
	claim, err := f.db.Claim(f.ctx, f.order(0, 5), f.now())
	f.must(err)
	a := claim.Attempt
	if a == nil || a.CampaignID != later.ID || !slices.Equal(claim.Changed, []int64{c.ID}) {
		t.Fatalf("claimed %+v, changed %v", a, claim.Changed)
	}
	f.settle(f.license(a), answer(a))
	for range 3 {
		if a := f.claimAfter(0, 5); a != nil {
			t.Fatalf("claimed %+v", a)
		}
	}
	f.check()
	f.wantStates(c.ID, map[sms.State]int{sms.Skipped: len(list)})
	if got := f.campaign(c.ID); got.State != sms.CampaignFinished {
		t.Errorf("the campaign is %s", got.State)
	}
}

// A draft with left-out messages is still only a draft.
func TestADraftKeepsWhatIsLeftOut(t *testing.T) {
	f := newFixture(t)
	draft := func(replaces int64) sms.Campaign {
		messages := []sms.Message{{Number: "2348030000001", Text: "Hello", Parts: 1, State: sms.Skipped, Reason: "why"},
			{Number: "2348030000002", Text: "Hello", Parts: 1}}
		c, _, err := f.db.CreateDraft(f.ctx, sms.Campaign{AccountID: f.account.ID, SenderID: "CLINIC", Text: "Hello"},
			randomHex(16), messages, replaces, f.now())
		f.must(err)
		return c
	}
	first := draft(0)
	f.check()
	f.wantStates(first.ID, map[sms.State]int{sms.Draft: 1, sms.Skipped: 1})
	c := draft(first.ID)
	if _, err := f.db.Campaign(f.ctx, first.ID); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("the replaced draft is still there: %v", err)
	}
	forgotten := draft(0)
	c = f.set(c.ID, sms.CampaignRunning)
	f.must(f.db.PurgeDrafts(f.ctx, f.now()))
	if _, err := f.db.Campaign(f.ctx, forgotten.ID); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("the old draft is still there: %v", err)
	}
	a := f.license(f.claim(5))
	f.settle(a, answer(a))
	f.check()
	f.wantStates(c.ID, map[sms.State]int{sms.Accepted: 1, sms.Skipped: 1})
	if m := f.messages(c.ID)[0]; m.Reason != "why" || f.campaign(c.ID).State != sms.CampaignFinished {
		t.Errorf("%+v", m)
	}
}

// TestEndedBlocksAreKept: whichever way a block ended, what stood in it is
// there with its end, for its own account and number only, also while the
// number is blocked once more; what did not end leaves nothing.
func TestEndedBlocksAreKept(t *testing.T) {
	f := newFixture(t)
	other := f.other(t, "Other")
	n := "2348030000101"
	first := sms.Blocked{AccountID: f.account.ID, Number: n, Kind: sms.BlockedByReport, Note: "a note", Since: f.now(),
		Proof: "Delivery report of message 7: BLACKLIST", MessageID: 7}
	later := sms.Blocked{AccountID: f.account.ID, Number: n, Kind: sms.BlockedByUSSD, Since: f.now(),
		Proof: "asked in *384*55# on MTN, session 5"}
	staff := sms.Unblocking{At: f.now(), Kind: sms.BlockedByStaff, Note: "came by in person", ByID: 2, ByName: "Bola Ade"}
	menu := sms.Unblocking{At: f.now(), Kind: sms.BlockedByUSSD, Note: "asked in *384*55# on MTN, session 9"}
	put := func(b sms.Blocked) sms.Blocked {
		t.Helper()
		added, err := f.db.Block(f.ctx, []sms.Blocked{b})
		if f.must(err); added != 1 {
			t.Fatal("not blocked")
		}
		list, err := f.db.BlockedAmong(f.ctx, b.AccountID, []string{b.Number})
		f.must(err)
		return list[b.Number]
	}
	standing := put(first)
	if _, done, err := f.db.EndOwnBlock(f.ctx, f.account.ID, n, sms.BlockedByUSSD, menu); done || err != nil {
		t.Errorf("a menu ended what a report did: %v", err)
	}
	if gone, err := f.db.EndBlock(f.ctx, standing.ID, staff); err != nil || gone != standing {
		t.Errorf("%+v %v", gone, err)
	}
	if _, err := f.db.EndBlock(f.ctx, standing.ID, staff); !errors.Is(err, sms.ErrNotFound) {
		t.Error(err)
	}
	standing = put(later)
	if gone, done, err := f.db.EndOwnBlock(f.ctx, f.account.ID, n, sms.BlockedByUSSD, menu); err != nil || !done ||
		gone != standing {
		t.Errorf("%+v %v %v", gone, done, err)
	}
	put(first)
	elsewhere := later
	elsewhere.AccountID = other.account.ID
	f.must(second(f.db.EndBlock(f.ctx, put(elsewhere).ID, staff)))
	list, err := f.db.EndedBlocks(f.ctx, f.account.ID, n, 9)
	f.must(err)
	for i := range list {
		list[i].ID = 0
	}
	if d := cmp.Diff([]sms.EndedBlock{{Blocked: later, End: menu}, {Blocked: first, End: staff}}, list); d != "" {
		t.Error(d)
	}
	if list, err = f.db.EndedBlocks(f.ctx, f.account.ID, n, 1); err != nil || len(list) != 1 || list[0].End != menu {
		t.Errorf("the newest: %+v %v", list, err)
	}
}
