package storage

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
)

// TestForgottenCampaignsKeepTheirCounts: numbers and texts go, in batches, with
// what was counted as it was; a campaign with a doubt waits for its decision.
func TestForgottenCampaignsKeepTheirCounts(t *testing.T) {
	f := newFixture(t)
	const many = purgedPerTx + 20
	f.must(second(f.db.UpdateAccount(f.ctx, f.account.ID, f.now(), func(a *sms.Account, _ *sms.Credentials) error {
		a.CallLimit = many
		return nil
	})))
	c := f.proven("A secret", append(numbers(many-1), "2348030000001")...)
	for a := f.claimAfter(0, many); a != nil; a = f.claimAfter(0, many) {
		f.license(a)
		f.settle(a, answer(a))
		f.apply(f.report(a, 0, "DELIVRD"))
	}
	doubtful := f.proven("Another secret", "2348030000009")
	f.settle(f.license(f.claim(1)), sms.Outcome{Class: sms.ClassDoubt})
	ended := f.campaign(c.ID).FinishedAt
	if id, n, _, err := f.db.PurgeMessages(f.ctx, ended, f.now()); err != nil || id != 0 || n != 0 {
		t.Fatalf("its time is not over: campaign %d, %d messages, %v", id, n, err)
	}
	var batches []int64
	for whole := false; !whole; {
		var id, n int64
		var err error
		id, n, whole, err = f.db.PurgeMessages(f.ctx, f.now(), f.now())
		f.must(err)
		if id != c.ID {
			t.Fatalf("campaign %d", id)
		}
		batches = append(batches, n)
	}
	if d := cmp.Diff([]int64{purgedPerTx, many - purgedPerTx}, batches); d != "" {
		t.Error(d)
	}
	hashes := map[string]int{}
	for _, m := range f.messages(c.ID) {
		if !phone.Removed(m.Number) || m.Text != "" || m.State != sms.Accepted || m.ProviderID == "" {
			t.Fatalf("%+v", m)
		}
		hashes[m.Number]++
	}
	if len(hashes) != many-1 {
		t.Errorf("%d different numbers of %d", len(hashes), many-1)
	}
	if got := f.campaign(c.ID); got.RemovedAt == 0 || got.Text != "" {
		t.Errorf("%+v", got)
	}
	if id, _, _, err := f.db.PurgeMessages(f.ctx, f.now(), f.now()); err != nil || id != 0 {
		t.Fatalf("campaign %d, %v: the one with a doubt is not over", id, err)
	}
	if m := f.messages(doubtful.ID)[0]; m.Number != "2348030000009" || m.Text != "Another secret" {
		t.Errorf("%+v", m)
	}
	if n := one[int](f, "select count(*) from message where text_hash <> x'' and campaign_id = $1", c.ID); n != 0 {
		t.Errorf("%d hashes of texts stayed", n)
	}
	f.check()
	if list := f.miscounts(); len(list) > 0 {
		t.Errorf("%v", list)
	}
}

func TestForgottenReportsAndCalls(t *testing.T) {
	f := newFixture(t)
	f.proven("A secret", numbers(3)...)
	a := f.license(f.claim(3))
	f.settle(a, answer(a))
	f.apply(f.report(a, 0, "DELIVRD"), f.report(a, 1, "UNDELIV"))
	before := f.now()
	late := f.report(a, 2, "DELIVRD")
	f.apply(late)
	n, more, err := f.db.PurgeReports(f.ctx, before)
	if f.must(err); n != 2 || more {
		t.Errorf("%d reports, more %v", n, more)
	}
	for i, id := range a.Messages {
		r := f.reports(id)[0]
		if gone := i < 2; phone.Removed(r.Mobile) != gone || (r.ShortMessage == "" && r.Raw == "") != gone || r.Status == "" {
			t.Errorf("report %d: %+v", i, r)
		}
	}
	if n, more, err = f.db.PurgeReports(f.ctx, before); err != nil || n != 0 || more {
		t.Errorf("again: %d reports, more %v, %v", n, more, err)
	}
	if n, _, err = f.db.PurgeReports(f.ctx, f.now()); err != nil || n != 1 {
		t.Errorf("the late one: %d, %v", n, err)
	}
	if n, more, err = f.db.PurgeCalls(f.ctx, f.now()); err != nil || n != 1 || more {
		t.Errorf("%d calls, more %v, %v", n, more, err)
	}
	if text := one[string](f, "select text || excerpt from attempt where id = $1", a.ID); text != "" {
		t.Errorf("%q", text)
	}
	f.proven("Not answered yet", "2348030000077")
	f.license(f.claim(1))
	if n, _, err = f.db.PurgeCalls(f.ctx, f.now()); err != nil || n != 0 {
		t.Errorf("an open call was taken: %d, %v", n, err)
	}
	f.check()
}

// TestForgottenBlocksAreTheEndedOnes: a block that holds stays, however old.
func TestForgottenBlocksAreTheEndedOnes(t *testing.T) {
	f := newFixture(t)
	const many = purgedPerTx + 20
	list := numbers(many + 1)
	f.block(sms.BlockedByStaff, append(list, "2348039999999")...)
	end := func(at int64, numbers ...string) {
		for _, n := range numbers {
			_, done, err := f.db.EndOwnBlock(f.ctx, f.account.ID, n, sms.BlockedByStaff,
				sms.Unblocking{At: at, Kind: sms.BlockedByStaff})
			if f.must(err); !done {
				t.Fatal("was not blocked")
			}
		}
	}
	before := f.now() + 100
	end(before, list[0])
	end(before-1, list[1:]...)
	if n, more, err := f.db.PurgeBlocks(f.ctx, before); err != nil || n != purgedPerTx || !more {
		t.Errorf("%d, more %v, %v", n, more, err)
	}
	if n, more, err := f.db.PurgeBlocks(f.ctx, before); err != nil || n != many-purgedPerTx || more {
		t.Errorf("%d, more %v, %v", n, more, err)
	}
	if n := one[int](f, "select count(*) from ended_block where number = $1", list[0]); n != 1 {
		t.Error("one whose time is not over is gone")
	}
	if n := one[int](f, "select count(*) from ended_block"); n != 1 {
		t.Errorf("%d are left", n)
	}
	if blocked, _ := f.blockedNumbers(sms.BlockedFilter{Limit: 9}); len(blocked) != 1 || blocked[0] != "2348039999999" {
		t.Errorf("blocked: %v", blocked)
	}
}
