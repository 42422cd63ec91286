package storage

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/sms"
)

// TestATokenMakesOneCampaign: however often a form arrives.
func TestATokenMakesOneCampaign(t *testing.T) {
	f := newFixture(t)
	token := randomHex(16)
	var made atomic.Int64
	ids := make([]int64, 100)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			c, created, err := f.db.CreateDraft(f.ctx, sms.Campaign{AccountID: f.account.ID, Text: "Hello"}, token,
				[]sms.Message{{Number: "2348030000101", Text: "Hello"}}, 0, f.now())
			if err != nil {
				t.Error(err)
			}
			if ids[i] = c.ID; created {
				made.Add(1)
			}
		})
	}
	all.Wait()
	if slices.Sort(ids); made.Load() != 1 || ids[0] != ids[99] || ids[0] == 0 {
		t.Errorf("%d campaigns were made, ids %d to %d", made.Load(), ids[0], ids[99])
	}
	if n := one[int](f, "select count(*) from message"); n != 1 {
		t.Errorf("%d messages", n)
	}
	f.check()
}

// TestOneStartWins: the closure compares, the transaction sets.
func TestOneStartWins(t *testing.T) {
	f := newFixture(t)
	for range 4 {
		c := f.newDraft("Hello", numbers(3)...)
		var won, lost atomic.Int64
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				_, err := f.db.UpdateCampaign(f.ctx, c.ID, f.now(), func(now *sms.Campaign) error {
					return now.Start(adaObi, c.Version, false, time.UnixMilli(f.now()))
				})
				switch {
				case err == nil:
					won.Add(1)
				case errors.Is(err, sms.ErrConflict):
					lost.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		all.Wait()
		if won.Load() != 1 || lost.Load() != 49 {
			t.Errorf("%d starts won, %d lost", won.Load(), lost.Load())
		}
		f.wantStates(c.ID, map[sms.State]int{sms.Queued: 3})
	}
	f.check()
}

func TestADraftComesBackAsItWasOrdered(t *testing.T) {
	f := newFixture(t)
	want := sms.Campaign{Text: "Hello ọ", Unicode: true, Flash: true, Parts: 6, Fingerprint: "f"}
	made := f.draftOf(want, []sms.Message{{Number: "2348030000101", Text: "Hello ọ", Unicode: true, Parts: 3, Row: 7},
		{Number: "2348030000102", Text: "Hello ọ", Unicode: true, Parts: 3}})
	want.ID, want.AccountID, want.Name, want.SenderID, want.State, want.Canary = made.ID, f.account.ID, "A campaign",
		"CLINIC", sms.CampaignDraft, sms.CanaryPending
	want.Version, want.Recipients, want.CreatedBy, want.CreatedName, want.CreatedAt = 1, 2, 1, "Ada Obi", made.CreatedAt
	if d := cmp.Diff(want, made); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want, f.campaign(made.ID)); d != "" {
		t.Error(d)
	}
	list := f.messages(made.ID)
	wantMessage := sms.Message{ID: list[0].ID, AccountID: f.account.ID, CampaignID: made.ID, Row: 7,
		Number: "2348030000101", Text: "Hello ọ", Unicode: true, Parts: 3,
		State: sms.Draft, CreatedAt: made.CreatedAt, ChangedAt: made.CreatedAt}
	if d := cmp.Diff(wantMessage, list[0]); d != "" {
		t.Error(d)
	}
	if list[1].Row != 2 {
		t.Errorf("the second message is row %d", list[1].Row)
	}
	if _, err := f.db.Campaign(f.ctx, 99); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if _, err := f.db.Message(f.ctx, 99); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if _, err := f.db.UpdateCampaign(f.ctx, 99, 1, func(*sms.Campaign) error {
		return nil
	}); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

func TestADraftReplacesOnlyADraftOfItsAccount(t *testing.T) {
	f := newFixture(t)
	other := f.other(t, "Other")
	draft, running, foreign := f.newDraft("a", numbers(2)...), f.start("b", numbers(2)...),
		other.newDraft("c", numbers(2)...)
	for _, replaced := range []int64{draft.ID, running.ID, foreign.ID, draft.ID, 99} {
		_, created, err := f.db.CreateDraft(f.ctx, sms.Campaign{AccountID: f.account.ID}, randomHex(16),
			[]sms.Message{{Number: "1", Text: "x"}}, replaced, f.now())
		if err != nil || !created {
			t.Errorf("replacing %d: %v %v", replaced, created, err)
		}
	}
	if _, err := f.db.Campaign(f.ctx, draft.ID); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("the replaced draft is still there: %v", err)
	}
	f.tidy()
	if n := one[int](f, "select count(*) from message where campaign_id = $1", draft.ID) + one[int](f,
		"select count(*) from campaign_tally where campaign_id = $1", draft.ID); n != 0 {
		t.Errorf("%d rows of the replaced draft are left", n)
	}
	f.wantStates(running.ID, map[sms.State]int{sms.Queued: 2})
	other.wantStates(foreign.ID, map[sms.State]int{sms.Draft: 2})
	f.check()
	other.check()
}

func TestOldDraftsAreForgottenAndNothingElse(t *testing.T) {
	f := newFixture(t)
	old, running := f.newDraft("a", numbers(2)...), f.start("b", numbers(2)...)
	before := f.now()
	fresh := f.newDraft("c", numbers(2)...)
	f.must(f.db.PurgeDrafts(f.ctx, before))
	if _, err := f.db.Campaign(f.ctx, old.ID); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("%v", err)
	}
	f.wantStates(running.ID, map[sms.State]int{sms.Queued: 2})
	f.wantStates(fresh.ID, map[sms.State]int{sms.Draft: 2})
	f.check()
}

func TestCampaignListAndFilters(t *testing.T) {
	f := newFixture(t)
	var ids []int64
	for i, name := range []string{"June reminders", "100% off", "Ọjà_open", "june again"} {
		c := f.newDraft("Hello", numbers(2)...)
		_, err := f.db.UpdateCampaign(f.ctx, c.ID, f.now(), func(c *sms.Campaign) error {
			err := c.Rename(name)
			if i == 1 {
				err = errors.Join(err, letGo(c, time.UnixMilli(f.now())))
			}
			return err
		})
		f.must(err)
		ids = append(ids, c.ID)
	}
	f.settle(f.license(f.claim(9)), sms.Outcome{Class: sms.ClassDoubt, Reason: "lost"})
	f.other(t, "Other").newDraft("x", numbers(1)...)
	for name, c := range map[string]struct {
		filter sms.CampaignFilter
		want   []int
		more   bool
	}{
		"all":             {sms.CampaignFilter{Limit: 9}, []int{3, 2, 1, 0}, false},
		"exactly":         {sms.CampaignFilter{Limit: 4}, []int{3, 2, 1, 0}, false},
		"page":            {sms.CampaignFilter{Limit: 3}, []int{3, 2, 1}, true},
		"before":          {sms.CampaignFilter{Limit: 9, Before: ids[2]}, []int{1, 0}, false},
		"drafts":          {sms.CampaignFilter{Limit: 9, States: []sms.CampaignState{sms.CampaignDraft, sms.CampaignPaused}}, []int{3, 2, 0}, false},
		"decision":        {sms.CampaignFilter{Limit: 9, Decision: true}, []int{1}, false},
		"name":            {sms.CampaignFilter{Limit: 9, Name: "JUNE"}, []int{3, 0}, false},
		"per cent":        {sms.CampaignFilter{Limit: 9, Name: "%"}, []int{1}, false},
		"underscore":      {sms.CampaignFilter{Limit: 9, Name: "_"}, []int{2}, false},
		"letters abroad":  {sms.CampaignFilter{Limit: 9, Name: "ỌJÀ"}, []int{2}, false},
		"backslash":       {sms.CampaignFilter{Limit: 9, Name: `\`}, nil, false},
		"quote":           {sms.CampaignFilter{Limit: 9, Name: `' or 1=1 --`}, nil, false},
		"a hostile state": {sms.CampaignFilter{Limit: 9, States: []sms.CampaignState{"x') or (1=1"}}, nil, false},
	} {
		c.filter.AccountID = f.account.ID
		rows, more, err := f.db.Campaigns(f.ctx, c.filter)
		f.must(err)
		var want, got []int64
		for _, i := range c.want {
			want = append(want, ids[i])
		}
		for _, r := range rows {
			got = append(got, r.Campaign.ID)
			if r.Tally.Total() != r.Campaign.Recipients {
				t.Errorf("%s: the tally %v", name, r.Tally)
			}
		}
		if !slices.Equal(got, want) || more != c.more {
			t.Errorf("%s: %v more=%v, want %v more=%v", name, got, more, want, c.more)
		}
	}
	if n, err := f.db.Decisions(f.ctx, f.account.ID); err != nil || n != 2 {
		t.Errorf("%d decisions, %v", n, err)
	}
}

func TestMessagePagesAndFilters(t *testing.T) {
	f := newFixture(t)
	c := f.proven("Hello", numbers(30)...)
	f.newDraft("other", numbers(5)...)
	accepted := f.license(f.claim(10))
	f.settle(accepted, answer(accepted))
	f.settle(f.license(f.claim(5)), sms.Outcome{Class: sms.ClassDoubt})
	f.claim(3)
	f.license(f.claim(2))
	all := f.messages(c.ID)
	ids := func(list []sms.Message) (ids []int64) {
		for _, m := range list {
			ids = append(ids, m.ID)
		}
		return ids
	}
	page := func(filter sms.MessageFilter) ([]int64, bool) {
		filter.CampaignID = c.ID
		list, more, err := f.db.Messages(f.ctx, filter)
		f.must(err)
		return ids(list), more
	}
	var walked []int64
	for after, more := int64(0), true; more; after = walked[len(walked)-1] {
		var got []int64
		got, more = page(sms.MessageFilter{After: after, Limit: 7})
		walked = append(walked, got...)
	}
	if d := cmp.Diff(ids(all), walked); d != "" {
		t.Errorf("forwards:\n%s", d)
	}
	var back []int64
	for before, more := all[29].ID+1, true; more; before = back[0] {
		var got []int64
		got, more = page(sms.MessageFilter{Before: before, Limit: 7})
		back = append(got, back...)
	}
	if d := cmp.Diff(ids(all), back); d != "" {
		t.Errorf("backwards:\n%s", d)
	}
	if got, more := page(sms.MessageFilter{IDs: []int64{all[3].ID, 1 << 40, all[1].ID}, Limit: 9}); more ||
		!slices.Equal(got, []int64{all[1].ID, all[3].ID}) {
		t.Errorf("rows on screen: %v", got)
	}
	for _, s := range sms.DisplayStatuses() {
		var want []int64
		for _, m := range all {
			if m.Standing().Key == s.Key {
				want = append(want, m.ID)
			}
		}
		if got, _ := page(sms.MessageFilter{Keys: []string{s.Key}, Limit: 99}); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", s.Key, got, want)
		}
	}
	if got, _ := page(sms.MessageFilter{Keys: []string{"nothing", "' or 1=1"}, Limit: 99}); len(got) != 0 {
		t.Errorf("a key that does not exist finds %d messages", len(got))
	}
	if got, _ := page(sms.MessageFilter{Keys: []string{"doubt", "sending"}, Limit: 99}); len(got) != 10 {
		t.Errorf("two keys find %d messages, want 10", len(got))
	}
	f.check()
}

// TestEveryStandingCanBeAskedFor inserts a message of every combination and
// asks for each standing by its key: no one is missed, no one found twice.
func TestEveryStandingCanBeAskedFor(t *testing.T) {
	f := newFixture(t)
	c := f.newDraft("Hello", "2348030000101")
	tx, err := f.db.writer.BeginTx(f.ctx, nil)
	f.must(err)
	n := 1
	for _, state := range sms.States() {
		for _, status := range append(sms.Statuses(), "") {
			for _, late := range []bool{false, true} {
				if state != sms.Accepted && (status != "" || late) {
					continue
				}
				_, err := tx.ExecContext(f.ctx,
					`insert into message (account_id, campaign_id, row_no, number, text, text_hash, unicode, parts, state, reason, code, attempt_id,
  provider_id, evidence, status, error_code, done_date, conflict, late, created_at, sent_at, changed_at)
  select account_id, campaign_id, row_no, number, text, text_hash, unicode, parts, $1, reason, code, attempt_id,
  provider_id, evidence, $2, '', '', false, $3, 1, 1, 1
  from message where campaign_id = $4 limit 1`, state, status, late, c.ID)
				f.must(err)
				n++
			}
		}
	}
	f.must(tx.Commit())
	found := map[int64]string{}
	for _, s := range sms.DisplayStatuses() {
		list, _, err := f.db.Messages(f.ctx, sms.MessageFilter{CampaignID: c.ID, Keys: []string{s.Key}, Limit: 999})
		f.must(err)
		for _, m := range list {
			if was := found[m.ID]; was != "" || m.Standing().Key != s.Key {
				t.Errorf("%s %s late=%v was found as %q and as %q", m.State, m.Delivery.Status, m.Delivery.Late, was, s.Key)
			}
			found[m.ID] = s.Key
		}
	}
	if len(found) != n {
		t.Errorf("%d of %d messages have a standing to be asked for", len(found), n)
	}
}

func TestLateMessagesAreMarkedOnce(t *testing.T) {
	f := newFixture(t)
	c := f.proven("Hello", numbers(4)...)
	a := f.license(f.claim(4))
	f.settle(a, answer(a))
	reports := []sms.DeliveryReport{f.report(a, 0, "DELIVRD"), f.report(a, 1, "ACCEPTD"), f.report(a, 2, "UNKNOWN")}
	f.apply(reports...)
	mark := func(before int64) []int64 {
		campaigns, err := f.db.MarkLate(f.ctx, f.account.ID, before, f.now())
		f.must(err)
		f.check()
		return campaigns
	}
	if got := mark(a.LicensedAt); len(got) != 0 {
		t.Errorf("late before the limit: %v", got)
	}
	if got := mark(a.LicensedAt + 1); !slices.Equal(got, []int64{c.ID}) {
		t.Errorf("%v", got)
	}
	if got := mark(a.LicensedAt + 1); len(got) != 0 {
		t.Errorf("marked again: %v", got)
	}
	tally, err := f.db.Tally(f.ctx, c.ID)
	f.must(err)
	if d := cmp.Diff(sms.Tally{"delivered": 1, "unknown": 1, "late": 2}, tally); d != "" {
		t.Error(d)
	}
	f.apply(f.report(a, 3, "UNDELIV"))
	if m := f.message(a.Messages[3]); m.Delivery.Late || m.Delivery.Status != sms.Undeliv {
		t.Errorf("%+v: a final report ends lateness", m.Delivery)
	}
	f.check()
}
