package storage

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/sms"
)

// report makes the report about a recipient of a call.
func (f *fixture) report(a *sms.Attempt, recipient int, status string) sms.DeliveryReport {
	r := a.Call.Recipients[recipient]
	return sms.DeliveryReport{AccountID: a.AccountID, ProviderID: providerID(r.MessageID), Mobile: r.Number,
		Status: status, ReceivedAt: f.now(), SubmitDate: "s", ShortMessage: "m", Raw: "raw"}
}

func (f *fixture) cursor() int64 {
	f.t.Helper()
	n, err := f.db.InboxCursor(f.ctx)
	f.must(err)
	return n
}

// apply hands over reports as the receiver does.
func (f *fixture) apply(reports ...sms.DeliveryReport) sms.ApplyResult {
	f.t.Helper()
	cursor := f.cursor()
	for i := range reports {
		cursor++
		reports[i].ID = cursor
	}
	done, err := f.db.ApplyReports(f.ctx, reports, f.countries(), sms.Cursors{Inbox: cursor}, f.now())
	f.must(err)
	if got := f.cursor(); got != cursor {
		f.t.Fatalf("the cursor is %d, want %d", got, cursor)
	}
	return done
}

func (f *fixture) countries() map[int64]string { return map[int64]string{f.account.ID: "NG"} }

func (f *fixture) reports(message int64) []sms.StoredReport {
	f.t.Helper()
	list, err := f.db.MessageReports(f.ctx, message)
	f.must(err)
	return list
}

// TestAReportMovesItsMessage: stored whole, once, with what it did.
func TestAReportMovesItsMessage(t *testing.T) {
	f := newFixture(t)
	c := f.proven("Hello", numbers(2)...)
	a := f.license(f.claim(2))
	f.settle(a, answer(a))
	id := a.Messages[0]
	first := f.report(a, 0, "DELIVRD")
	first.ErrorCode, first.DoneDate = "000", "2026-03-01 10:00"
	done := f.apply(first)
	if d := cmp.Diff(sms.ApplyResult{Campaigns: []int64{c.ID}, Messages: []int64{id}}, done); d != "" {
		t.Error(d)
	}
	again := first
	again.ReceivedAt = f.now()
	if done := f.apply(again, again); len(done.Campaigns) != 0 || !slices.Equal(done.Messages, []int64{id}) {
		t.Errorf("a repetition: %+v", done)
	}
	weaker := f.report(a, 0, "ACCEPTD")
	f.apply(weaker)
	got := f.reports(id)
	first.ID, weaker.ID = 1, 4
	want := []sms.StoredReport{{DeliveryReport: first, Key: got[0].Key, Times: 3, LastAt: again.ReceivedAt, MessageID: id,
		Effect: sms.Changed},
		{DeliveryReport: weaker, Key: got[len(got)-1].Key, Times: 1, LastAt: weaker.ReceivedAt, MessageID: id, Effect: sms.Repeated}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if m := f.message(id); m.Delivery != (sms.Delivery{Status: sms.Delivrd, ErrorCode: "000",
		DoneDate: "2026-03-01 10:00", KnownAt: first.ReceivedAt}) {
		t.Errorf("%+v", m.Delivery)
	}
	if at, err := f.db.LastReportAt(f.ctx, f.account.ID); err != nil || at != weaker.ReceivedAt {
		t.Errorf("last report at %d, %v", at, err)
	}
	if at, err := f.db.LastReportAt(f.ctx, 99); err != nil || at != 0 {
		t.Errorf("%d %v", at, err)
	}
	f.check()
}

// TestReportsThatMustMoveNothing: kept, shown, not believed.
func TestReportsThatMustMoveNothing(t *testing.T) {
	f := newFixture(t)
	c := f.proven("Hello", numbers(3)...)
	a := f.license(f.claim(2))
	f.settle(a, answer(a))
	other := f.other(t, "Other")
	wrong, unlisted, empty := f.report(a, 0, "DELIVRD"), f.report(a, 0, "ENROUTE"), f.report(a, 0, "")
	wrong.Mobile = "2348039999999"
	unknown, nameless, foreign := f.report(a, 0, "DELIVRD"), f.report(a, 0, "DELIVRD"), f.report(a, 0, "DELIVRD")
	unknown.ProviderID, nameless.ProviderID, foreign.AccountID = "never given", "", other.account.ID
	before := f.messages(c.ID)
	done := f.apply(wrong, unlisted, empty, unknown, nameless, foreign)
	if done.Unmatched != 3 || len(done.Campaigns) != 0 {
		t.Errorf("%+v", done)
	}
	if d := cmp.Diff(before, f.messages(c.ID)); d != "" {
		t.Error(d)
	}
	var effects []sms.Effect
	for _, r := range f.reports(a.Messages[0]) {
		effects = append(effects, r.Effect)
	}
	if !slices.Equal(effects, []sms.Effect{sms.WrongNumber, sms.Unrecognised, sms.Unrecognised}) {
		t.Errorf("%v", effects)
	}
	if n := one[int](f, "select count(*) from delivery_report where effect = 'not_matched' and message_id = 0"); n != 3 {
		t.Errorf("%d unmatched reports were kept, want 3", n)
	}
	f.check()
}

// TestReportsBeforeTheAnswer: whatever came before the ids were known
// is applied with the answer, by id and number, whichever id the service used.
func TestReportsBeforeTheAnswer(t *testing.T) {
	f := newFixture(t)
	c := f.proven("Hello", numbers(4)...)
	a := f.license(f.claim(4))
	n := numbers(4)
	early := []sms.DeliveryReport{f.report(a, 0, "DELIVRD"), f.report(a, 0, "ACCEPTD"), f.report(a, 1, "EXPIRED"),
		f.report(a, 2, "DELIVRD"), f.report(a, 3, "REJECTD"), f.report(a, 3, "DELIVRD")}
	early[2].ProviderID = "alias"
	early[3].ProviderID, early[4].ProviderID = "shared", "shared"
	early[5].ProviderID, early[5].Mobile = "shared", "2348039999999"
	if done := f.apply(append(early, early[0])...); done.Unmatched != 7 {
		t.Errorf("%+v", done)
	}
	f.settle(a, sms.Outcome{Class: sms.ClassAnswered,
		Rows: []sms.ResultRow{{Number: n[0], ProviderID: early[0].ProviderID}, {Number: n[1], ProviderID: "main"},
			{Number: n[1], ProviderID: "alias"}, {Number: n[2], ProviderID: "shared"}, {Number: n[3], ProviderID: "shared"}}})
	var got []sms.Status
	for _, m := range f.messages(c.ID) {
		got = append(got, m.Delivery.Status)
	}
	if !slices.Equal(got, []sms.Status{sms.Delivrd, sms.Expired, sms.Delivrd, sms.Rejectd}) {
		t.Errorf("%v", got)
	}
	if n := one[int](f, "select count(*) from delivery_report where effect = 'not_matched'"); n != 0 {
		t.Errorf("%d reports still wait", n)
	}
	if r := f.reports(a.Messages[0]); len(r) != 2 || r[0].Times != 2 || r[0].Effect != sms.Changed {
		t.Errorf("%+v", r)
	}
	// Afterwards both ids and both numbers of the shared one are known.
	late := []sms.DeliveryReport{f.report(a, 1, "DELIVRD"), f.report(a, 1, "UNDELIV"), f.report(a, 3, "BLACKLIST")}
	late[0].ProviderID, late[1].ProviderID, late[2].ProviderID = "main", "alias", "shared"
	if done := f.apply(late...); done.Unmatched != 0 || len(done.Messages) != 2 {
		t.Errorf("%+v", done)
	}
	if m := f.message(a.Messages[1]); m.Delivery.Status != sms.Delivrd || !m.Delivery.Conflict {
		t.Errorf("%+v", m.Delivery)
	}
	if m := f.message(a.Messages[3]); m.Delivery.Status != sms.Blacklist {
		t.Errorf("%+v", m.Delivery)
	}
	f.check()
}

// TestReportsNameTheIDInAnyCase: before and after the answer; with another
// number such a report is about something that we do not know.
func TestReportsNameTheIDInAnyCase(t *testing.T) {
	f := newFixture(t)
	c := f.proven("Hello", numbers(4)...)
	a := f.license(f.claim(4))
	o := answer(a)
	for i, id := range []string{"abc-1", "ABC-2", "Abc-3", "aBc-3"} {
		o.Rows[i].ProviderID = id
	}
	report := func(i int, id string) sms.DeliveryReport {
		r := f.report(a, i, "DELIVRD")
		r.ProviderID = id
		return r
	}
	if done := f.apply(report(0, "ABC-1")); done.Unmatched != 1 {
		t.Errorf("%+v", done)
	}
	f.settle(a, o)
	stranger := report(2, "AbC-1")
	done := f.apply(report(1, "abc-2"), report(2, "Abc-3"), report(3, "aBc-3"), stranger, report(1, "abc-2"))
	if done.Unmatched != 1 || len(done.Messages) != 3 {
		t.Errorf("%+v", done)
	}
	for _, m := range f.messages(c.ID) {
		if m.Delivery.Status != sms.Delivrd {
			t.Errorf("%s is %q", m.ProviderID, m.Delivery.Status)
		}
	}
	if r := f.reports(a.Messages[0]); len(r) != 1 || r[0].ProviderID != "ABC-1" || r[0].Effect != sms.Changed {
		t.Errorf("%+v", r)
	}
	if r := f.reports(a.Messages[1]); len(r) != 1 || r[0].Times != 2 {
		t.Errorf("%+v", r)
	}
	f.check()
}

// TestAReportForADoubtWaits: a report may not yet move a message in doubt.
func TestAReportForADoubtWaits(t *testing.T) {
	f := newFixture(t)
	c := f.proven("Hello", numbers(1)...)
	a := f.license(f.claim(1))
	f.settle(a, sms.Outcome{Class: sms.ClassDoubt})
	if done := f.apply(f.report(a, 0, "DELIVRD")); done.Unmatched != 1 {
		t.Errorf("%+v", done)
	}
	f.wantStates(c.ID, map[sms.State]int{sms.InDoubt: 1})
	f.check()
}

// TestOrderOfReportsIsIndifferent goes through the database: 200
// shufflings of the same reports, with repetitions, in batches of any size,
// some before the answer, come to one delivery.
func TestOrderOfReportsIsIndifferent(t *testing.T) {
	f := newFixture(t)
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"ACCEPTD", "DELIVRD", "UNDELIV", "EXPIRED", "UNKNOWN", "BLACKLIST", "REJECTD", "DELETED", "ENROUTE"}
	const messages, rounds = 40, 5
	for range rounds {
		var set [][4]string // status, code, date, another number
		for range 1 + random.IntN(5) {
			set = append(set, [4]string{words[random.IntN(len(words))], fmt.Sprint(random.IntN(2)), fmt.Sprint(random.IntN(2)),
				[]string{"", "", "2348039999999"}[random.IntN(3)]})
		}
		// What a round's reports blocked must not be missing in the next one.
		for _, id := range column[int64](f, "select id from blocked") {
			f.must(second(f.db.Unblock(f.ctx, id)))
		}
		c := f.proven(randomHex(4), numbers(messages)...)
		a := f.license(f.claim(messages))
		var before, after []sms.DeliveryReport
		for i := range messages {
			list := append(slices.Clone(set), set[random.IntN(len(set))], set[random.IntN(len(set))])
			random.Shuffle(len(list), func(x, y int) { list[x], list[y] = list[y], list[x] })
			cut := random.IntN(len(list) + 1)
			for j, s := range list {
				r := f.report(a, i, s[0])
				if r.ErrorCode, r.DoneDate = s[1], s[2]; s[3] != "" {
					r.Mobile = s[3]
				}
				if j < cut {
					before = append(before, r)
				} else {
					after = append(after, r)
				}
			}
		}
		feed := func(list []sms.DeliveryReport) {
			for len(list) > 0 {
				n := 1 + random.IntN(len(list))
				f.apply(list[:n]...)
				list = list[n:]
			}
		}
		feed(before)
		f.settle(a, answer(a))
		feed(after)
		list := f.messages(c.ID)
		want := sms.Message{State: sms.Accepted, Number: list[0].Number}
		for _, s := range set {
			r := sms.DeliveryReport{Mobile: list[0].Number, Status: s[0], ErrorCode: s[1], DoneDate: s[2]}
			if s[3] != "" {
				r.Mobile = s[3]
			}
			want, _ = want.Apply(r, "NG")
		}
		for _, m := range list {
			m.Delivery.KnownAt = 0 // reports that come in another order come at other times
			if m.Delivery != want.Delivery {
				t.Fatalf("reports %v gave %+v, want %+v", set, m.Delivery, want.Delivery)
			}
			times, different := int64(0), map[[4]string]bool{}
			for _, r := range f.reports(m.ID) {
				times += r.Times
			}
			for _, s := range set {
				different[s] = true
			}
			if got := f.reports(m.ID); len(got) != len(different) || times != int64(len(set)+2) {
				t.Fatalf("%d reports of %d arrivals are stored, want %d of %d", len(got), times, len(different), len(set)+2)
			}
		}
		f.check()
	}
}

// TestCursorAndReportsCommitTogether: an error in the middle leaves
// neither a report nor the cursor behind.
func TestCursorAndReportsCommitTogether(t *testing.T) {
	f := newFixture(t)
	c := f.proven("Hello", numbers(3)...)
	a := f.license(f.claim(3))
	f.settle(a, answer(a))
	f.apply(f.report(a, 0, "ACCEPTD"))
	before, cursor := f.messages(c.ID), f.cursor()
	_, err := f.db.writer.ExecContext(f.ctx,
		`create trigger broken before insert on delivery_report when new.short_message = 'boom' begin select raise(abort, 'boom'); end`)
	f.must(err)
	batch := []sms.DeliveryReport{f.report(a, 0, "DELIVRD"), f.report(a, 1, "DELIVRD"), f.report(a, 2, "DELIVRD")}
	batch[2].ShortMessage = "boom"
	if _, err := f.db.ApplyReports(f.ctx, batch, f.countries(), sms.Cursors{Inbox: cursor + 3}, f.now()); err == nil {
		t.Fatal("no error")
	}
	if d := cmp.Diff(before, f.messages(c.ID)); d != "" {
		t.Error(d)
	}
	if n := one[int](f, "select count(*) from delivery_report"); n != 1 || f.cursor() != cursor {
		t.Errorf("%d reports, cursor %d of %d", n, f.cursor(), cursor)
	}
	f.check()
	_, err = f.db.writer.ExecContext(f.ctx, "drop trigger broken")
	f.must(err)
	f.apply(batch...)
	for _, m := range f.messages(c.ID) {
		if m.Delivery.Status != sms.Delivrd {
			t.Errorf("%+v", m.Delivery)
		}
	}
	for _, id := range a.Messages {
		for _, r := range f.reports(id) {
			if r.Times != 1 {
				t.Errorf("%+v was applied %d times", r.DeliveryReport, r.Times)
			}
		}
	}
	f.check()
}

func TestAnEmptyInboxHasCursorZero(t *testing.T) {
	f := newFixture(t)
	if f.cursor() != 0 {
		t.Error(f.cursor())
	}
	f.apply()
	f.must(f.db.Close())
	if _, err := f.db.InboxCursor(f.ctx); err == nil || errors.Is(err, sms.ErrNotFound) {
		t.Errorf("a closed database: %v", err)
	}
}
