package storage

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"smsdesk/internal/sms"
)

const (
	minute = int64(60_000)
	ripe   = 3 * minute // older than the grace
)

// doubt sends one text to numbers in a call whose answer is lost.
func (f *fixture) doubt(text string, n ...string) (sms.Campaign, *sms.Attempt) {
	f.t.Helper()
	c := f.proven(text, n...)
	a := f.license(f.claim(len(n)))
	f.settle(a, sms.Outcome{Class: sms.ClassDoubt, Reason: "The connection was closed."})
	return c, a
}

// foreign is a report for a recipient under an id that nobody was given.
func (f *fixture) foreign(a *sms.Attempt, recipient int, id, text, status string) sms.DeliveryReport {
	r := f.report(a, recipient, status)
	r.ProviderID, r.ShortMessage = id, text
	return r
}

func (f *fixture) pass(ms int64) { f.clock.Add(ms) }

// reconcile compares and returns the messages that were settled.
func (f *fixture) reconcile() (settled []int64) {
	f.t.Helper()
	f.must(f.db.Reconcile(f.ctx, f.account.ID, "NG", f.now(), func(a sms.ApplyResult) {
		settled = append(settled, a.Messages...)
	}))
	slices.Sort(settled)
	return settled
}

// TestALateReportSettlesADoubt is the one row of section 4 that works by
// itself, with each of its conditions missing once.
func TestALateReportSettlesADoubt(t *testing.T) {
	f := newFixture(t)
	c, a := f.doubt("Hello there, Ada", numbers(6)...)
	ids := a.Messages
	f.apply(f.foreign(a, 0, "x0", " Hello  there, Ada ", "DELIVRD"), f.foreign(a, 1, "x1", "Another text", "DELIVRD"),
		f.foreign(a, 2, "", "Hello there, Ada", "DELIVRD"), f.foreign(a, 4, "x4", "Hello there, Ada", "ENROUTE"),
		f.foreign(a, 5, "x5", "Hello there, Ada", "REJECTD"))
	if got := f.reconcile(); len(got) != 0 {
		t.Errorf("reports without their 120 s settled %v", got)
	}
	f.pass(ripe)
	f.apply(f.foreign(a, 3, "x3", "Hello there, Ada", "DELIVRD"))
	if d := cmp.Diff([]int64{ids[0], ids[4], ids[5]}, f.reconcile()); d != "" {
		t.Error(d)
	}
	want := map[int64]sms.Status{ids[0]: sms.Delivrd, ids[4]: "", ids[5]: sms.Rejectd}
	for id, status := range want {
		if m := f.message(id); m.State != sms.Accepted || m.Evidence != sms.ByReport || m.ProviderID == "" ||
			m.Delivery.Status != status {
			t.Errorf("%+v", m)
		}
	}
	f.wantStates(c.ID, map[sms.State]int{sms.InDoubt: 3, sms.Accepted: 3})
	f.check()
	// From now on the id is like one of an answer.
	f.apply(f.foreign(a, 4, "x4", "whatever", "DELIVRD"))
	if m := f.message(ids[4]); m.Delivery.Status != sms.Delivrd {
		t.Errorf("%+v", m.Delivery)
	}
	if got := f.reconcile(); len(got) != 0 {
		t.Errorf("the second time: %v", got)
	}
	f.check()
}

// TestADoubtAfterItsReport: the report lies there already when a crash makes
// the call doubtful.
func TestADoubtAfterItsReport(t *testing.T) {
	f := newFixture(t)
	c := f.proven("Hello", numbers(1)...)
	a := f.license(f.claim(1))
	f.apply(f.foreign(a, 0, "x", "Hello", "DELIVRD"))
	f.pass(ripe)
	if got := f.reconcile(); len(got) != 0 {
		t.Errorf("a message that is being sent was settled: %v", got)
	}
	if _, n, err := f.db.Recover(f.ctx, f.account.ID, f.now()); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	if got := f.reconcile(); !slices.Equal(got, a.Messages) {
		t.Errorf("settled %v", got)
	}
	f.wantStates(c.ID, map[sms.State]int{sms.Accepted: 1})
	f.check()
}

// TestTwoCandidatesSettleNothing: texts that differ in white space only are two
// messages and one report.
func TestTwoCandidatesSettleNothing(t *testing.T) {
	f := newFixture(t)
	n := numbers(1)
	first, a := f.doubt("Hello there", n...)
	second, _ := f.doubt("Hello  there", n...)
	f.apply(f.foreign(a, 0, "x", "Hello there", "DELIVRD"))
	f.pass(ripe)
	if got := f.reconcile(); len(got) != 0 {
		t.Errorf("settled %v", got)
	}
	groups, _, err := f.db.DoubtGroups(f.ctx, f.campaign(first.ID), "NG", 0, 10, f.now())
	f.must(err)
	if h := groups[0].Hints[a.Messages[0]]; len(h) != 1 || h[0].Fit != sms.FitWhole || h[0].OtherMatches != 1 ||
		h[0].Young {
		t.Errorf("%+v", h)
	}
	f.wantStates(second.ID, map[sms.State]int{sms.InDoubt: 1})
	f.check()
}

// TestACutTextIsAHint and a person may take it.
func TestACutTextIsAHint(t *testing.T) {
	f := newFixture(t)
	c, a := f.doubt("Your appointment is on Monday at nine.", numbers(1)...)
	f.apply(f.foreign(a, 0, "x", "Your appointment is ", "DELIVRD"))
	f.pass(ripe)
	if got := f.reconcile(); len(got) != 0 {
		t.Errorf("settled %v", got)
	}
	list, _, err := f.db.Reports(f.ctx, sms.ReportFilter{AccountID: f.account.ID, Kind: sms.ReportsUnmatched, Limit: 5})
	f.must(err)
	likely, err := f.db.Candidates(f.ctx, list[0], "NG")
	f.must(err)
	if len(list) != 1 || len(likely) != 1 || likely[0].ID != a.Messages[0] {
		t.Fatalf("%+v %+v", list, likely)
	}
	f.must(second(f.db.LinkReport(f.ctx, list[0].Key, likely[0].ID, "NG", f.now())))
	if m := f.message(likely[0].ID); m.State != sms.Accepted || m.Evidence != sms.ByPerson || m.ProviderID != "x" ||
		m.Delivery.Status != sms.Delivrd {
		t.Errorf("%+v", m)
	}
	if _, err := f.db.LinkReport(f.ctx, list[0].Key, likely[0].ID, "NG", f.now()); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("linked twice: %v", err)
	}
	f.wantStates(c.ID, map[sms.State]int{sms.Accepted: 1})
	f.check()
}

// TestEvidenceIsOneWhateverTheOrder feeds the same reports shuffled, repeated
// and in batches, with comparisons in between, and wants one result. Nothing
// ever goes from doubt into the queue.
func TestEvidenceIsOneWhateverTheOrder(t *testing.T) {
	f := newFixture(t)
	random := rand.New(rand.NewPCG(3, 4))
	const messages = 12
	words := []string{"ACCEPTD", "DELIVRD", "UNDELIV", "EXPIRED", "UNKNOWN", "REJECTD", "ENROUTE", ""}
	for round := range 12 {
		text := fmt.Sprintf("Round %d of the reports", round)
		type told struct{ id, text, status, code string }
		var set []told
		for range 1 + random.IntN(5) {
			set = append(set, told{[]string{"a", "a", "b", ""}[random.IntN(4)],
				[]string{text, text, text + " ", "Round", "Something else, twenty letters"}[random.IntN(5)],
				words[random.IntN(len(words))], fmt.Sprint(random.IntN(2))})
		}
		c, a := f.doubt(text, numbers(messages)...)
		for i := range messages {
			list := append(slices.Clone(set), set[random.IntN(len(set))])
			random.Shuffle(len(list), func(x, y int) { list[x], list[y] = list[y], list[x] })
			for len(list) > 0 {
				n := 1 + random.IntN(len(list))
				var batch []sms.DeliveryReport
				for _, s := range list[:n] {
					id := s.id
					if id != "" {
						id = fmt.Sprintf("%s-%d-%d", s.id, round, i)
					}
					r := f.foreign(a, i, id, s.text, s.status)
					r.ErrorCode = s.code
					batch = append(batch, r)
				}
				f.apply(batch...)
				if list = list[n:]; random.IntN(2) == 0 {
					f.pass(ripe)
					f.reconcile()
				}
			}
		}
		f.pass(ripe)
		f.reconcile()
		f.reconcile()
		all := f.messages(c.ID)
		for _, m := range all {
			m.Delivery.KnownAt = all[0].Delivery.KnownAt // reports that come in another order come at other times
			if m.State != all[0].State || m.Delivery != all[0].Delivery || m.Evidence != all[0].Evidence {
				t.Fatalf("round %d, reports %v:\n%s %+v\n%s %+v", round, set, m.State, m.Delivery, all[0].State, all[0].Delivery)
			}
			if m.State != sms.InDoubt && m.State != sms.Accepted {
				t.Fatalf("evidence led to %s", m.State)
			}
		}
		proof := slices.ContainsFunc(set, func(s told) bool { return s.id != "" && sms.SameText(s.text, []string{text}) })
		if (all[0].State == sms.Accepted) != proof {
			t.Fatalf("round %d, reports %v: %s", round, set, all[0].State)
		}
		f.check()
		// The next round's reports are about other texts; those of this one must
		// not stay in the way.
		f.pass(73 * 60 * minute)
	}
}

// TestTheProviderIsAskedAboutAnID: what the service answers confirms, moves on
// or raises suspicion, and never takes "was sent" back.
func TestTheProviderIsAskedAboutAnID(t *testing.T) {
	f := newFixture(t)
	_, a := f.doubt("Hello", numbers(3)...)
	for i := range 3 {
		f.apply(f.foreign(a, i, fmt.Sprint("x", i), "Hello", "ACCEPTD"))
	}
	f.pass(ripe)
	f.reconcile()
	effects := []sms.Effect{}
	for i := range 3 {
		q, err := f.db.NextAsked(f.ctx, f.account.ID)
		f.must(err)
		if q.Why != sms.AskedProof || q.ProviderID != fmt.Sprint("x", i) {
			t.Fatalf("%+v", q)
		}
		q.AskedAt = f.now()
		switch i {
		case 0:
			q.Answer = sms.MessageStatus{Number: "0" + f.message(q.MessageID).Number[3:], Status: "DELIVRD", ErrorCode: "000",
				Raw: "{}"}
		case 1:
			q.Code, q.Words = "041", "The provider answered"
		}
		_, effect, err := f.db.PutAnswer(f.ctx, q, "NG")
		f.must(err)
		effects = append(effects, effect)
		if _, _, err := f.db.PutAnswer(f.ctx, q, "NG"); !errors.Is(err, sms.ErrConflict) {
			t.Errorf("answered twice: %v", err)
		}
	}
	if d := cmp.Diff([]sms.Effect{sms.Changed, sms.Suspicious, sms.Confirmed}, effects); d != "" {
		t.Error(d)
	}
	if m := f.message(a.Messages[0]); m.Delivery.Status != sms.Delivrd {
		t.Errorf("%+v", m)
	}
	if r := f.reports(a.Messages[1]); len(r) != 1 || !r[0].Suspicious || f.message(a.Messages[1]).State != sms.Accepted {
		t.Errorf("%+v", r)
	}
	if n, err := f.db.SuspiciousReports(f.ctx, f.account.ID); err != nil || n != 1 {
		t.Error(n, err)
	}
	if list, err := f.db.MessageAsked(f.ctx, a.Messages[0]); err != nil || len(list) != 1 ||
		list[0].Answer.Status != "DELIVRD" || list[0].Effect != sms.Changed {
		t.Errorf("%+v %v", list, err)
	}
	f.check()
}

// TestQuarantineIsBounded: by age, by number and by size, oldest first;
// reports that have a message stay, and what went is counted.
func TestQuarantineIsBounded(t *testing.T) {
	f := newFixture(t)
	f.proven("Hello", numbers(2)...)
	a := f.license(f.claim(2))
	f.settle(a, answer(a))
	f.apply(f.report(a, 0, "DELIVRD"))
	const size = 1000
	for i := range 30 {
		f.apply(sms.DeliveryReport{AccountID: f.account.ID, ProviderID: fmt.Sprint("u", i), Mobile: "2348039999999",
			Status: "DELIVRD", ReceivedAt: f.now(),
			Raw: strings.Repeat("r", size-10), ShortMessage: "ten bytes."})
		f.pass(minute)
	}
	f.apply(f.report(a, 1, "DELIVRD"))
	now := f.clock.Load()
	for _, c := range []struct {
		name string
		q    sms.Quarantine
		left int
	}{
		{"nothing is beyond", sms.Quarantine{Reports: 30, Bytes: 30 * size}, 30},
		{"age", sms.Quarantine{Before: now - 25*minute + 1, Reports: 30, Bytes: 30 * size}, 24},
		{"number", sms.Quarantine{Reports: 20, Bytes: 30 * size}, 20},
		{"size", sms.Quarantine{Reports: 30, Bytes: 15*size + size/2}, 15},
		{"one report alone is too large", sms.Quarantine{Reports: 30, Bytes: 1}, 0},
	} {
		f.must(f.db.PurgeUnmatched(f.ctx, f.account.ID, c.q))
		var want []string
		for i := 30 - c.left; i < 30; i++ {
			want = append(want, fmt.Sprint("u", i))
		}
		got := column[string](f, "select provider_id from delivery_report where effect = 'not_matched' order by id")
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
		if gone, err := f.db.Forgotten(f.ctx, f.account.ID); err != nil || gone != int64(30-c.left) {
			t.Errorf("%s: %d were counted, %v", c.name, gone, err)
		}
	}
	for _, id := range a.Messages {
		if len(f.reports(id)) != 1 {
			t.Errorf("the report of message %d is gone", id)
		}
	}
	f.check()
}

// TestAFullQuarantineIsForgottenInParts: more than one transaction takes.
func TestAFullQuarantineIsForgottenInParts(t *testing.T) {
	f := newFixture(t)
	var batch []sms.DeliveryReport
	for i := range 5000 {
		batch = append(batch, sms.DeliveryReport{AccountID: f.account.ID, ProviderID: fmt.Sprint("u", i),
			Mobile: "2348039999999", Status: "DELIVRD", ReceivedAt: f.now()})
	}
	f.apply(batch...)
	f.must(f.db.PurgeUnmatched(f.ctx, f.account.ID, sms.Quarantine{Reports: 300, Bytes: 1 << 30}))
	if n := one[int](f, "select count(*) from delivery_report"); n != 300 {
		t.Errorf("%d are left", n)
	}
	if gone, err := f.db.Forgotten(f.ctx, f.account.ID); err != nil || gone != 4700 {
		t.Error(gone, err)
	}
}

// TestSilenceAfterAGap: messages without a report are found, asked about once
// each in the order of their sending, and counted.
func TestSilenceAfterAGap(t *testing.T) {
	f := newFixture(t)
	c := f.proven("Hello", numbers(4)...)
	a := f.license(f.claim(4))
	f.settle(a, answer(a))
	f.apply(f.report(a, 0, "DELIVRD"), f.report(a, 1, "ACCEPTD"))
	f.must(second(f.db.MarkLate(f.ctx, f.account.ID, f.now(), f.now()))) // some of them late already
	gap := sms.Outage{From: f.now(), Until: f.now() + minute}
	n, err := f.db.CountSilent(f.ctx, f.account.ID, gap.From-sms.GapReach.Milliseconds(), gap.Until)
	f.must(err)
	if n != 3 {
		t.Fatalf("%d messages are silent, want 3", n)
	}
	i := sms.StatusCheck{AccountID: f.account.ID, Gap: gap, Total: n, By: sms.User{ID: 1, Name: "Ada"}, StartedAt: f.now()}
	f.must(f.db.OpenInquiry(f.ctx, i))
	if err := f.db.OpenInquiry(f.ctx, i); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("opened twice: %v", err)
	}
	var seen []int64
	for range 9 {
		open, m, err := f.db.NextInquired(f.ctx, f.account.ID, f.now())
		if errors.Is(err, sms.ErrNotFound) {
			break
		}
		f.must(err)
		seen = append(seen, m.ID)
		q := sms.StatusQuery{AccountID: f.account.ID, MessageID: m.ID, ProviderID: m.ProviderID, AskedAt: f.now(),
			Answer: sms.MessageStatus{Number: m.Number, Status: "DELIVRD"}}
		if len(seen) == 2 {
			q.Answer.Status = "SUBMITTED"
		}
		_, _, err = f.db.PutInquired(f.ctx, open, m, q, "NG")
		f.must(err)
	}
	if d := cmp.Diff(a.Messages[1:], seen); d != "" {
		t.Errorf("asked about (-want +got):\n%s", d)
	}
	got, err := f.db.Inquiry(f.ctx, f.account.ID, gap.From)
	f.must(err)
	if got.State != sms.InquiryDone || got.Asked != 3 || got.Resolved != 2 {
		t.Errorf("%+v", got)
	}
	tally, err := f.db.Tally(f.ctx, c.ID)
	f.must(err)
	if tally["delivered"] != 3 {
		t.Errorf("%v", tally)
	}
	f.check()
	// Again, and stopped this time.
	f.must(f.db.OpenInquiry(f.ctx, i))
	f.must(f.db.StopInquiry(f.ctx, f.account.ID, gap.From, f.now()))
	if _, _, err := f.db.NextInquired(f.ctx, f.account.ID, f.now()); !errors.Is(err, sms.ErrNotFound) {
		t.Error(err)
	}
	if err := f.db.StopInquiry(f.ctx, f.account.ID, gap.From, f.now()); !errors.Is(err, sms.ErrConflict) {
		t.Error(err)
	}
}

func TestPulses(t *testing.T) {
	f := newFixture(t)
	span, err := f.db.Heartbeat(f.ctx, 0, 1000)
	f.must(err)
	for _, at := range []int64{2000, 3000} {
		again, err := f.db.Heartbeat(f.ctx, span, at)
		if err != nil || again != span {
			t.Fatal(again, err)
		}
	}
	next, err := f.db.Heartbeat(f.ctx, 0, 9000)
	if err != nil || next == span {
		t.Fatal(next, err)
	}
	gaps, err := f.db.Gaps(f.ctx, 0, 5000)
	f.must(err)
	if d := cmp.Diff([]sms.Outage{{From: 3000, Until: 9000}}, gaps); d != "" {
		t.Error(d)
	}
	if gaps, err := f.db.Gaps(f.ctx, 0, 7000); err != nil || len(gaps) != 0 {
		t.Error(gaps, err)
	}
	var took sms.Timings
	took.Add(4_000_000)
	p := sms.ReceiverMinute{AccountID: f.account.ID, Minute: 60_000, Answered: 2, Lost: 1, Posted: 4, Took: took}
	f.must(f.db.AddReceiverStats(f.ctx, []sms.ReceiverMinute{p, {Minute: 60_000, Refused: 3}}))
	f.must(f.db.AddReceiverStats(f.ctx, []sms.ReceiverMinute{p, {AccountID: f.account.ID, Minute: 120_000, Answered: 5},
		{Minute: 180_000, Refused: 1}}))
	sum, err := f.db.PulseSince(f.ctx, f.account.ID, 60_000)
	f.must(err)
	took.Merge(took)
	if d := cmp.Diff(sms.ReceiverMinute{AccountID: f.account.ID, Minute: 60_000, Answered: 9, Lost: 2, Posted: 8, Took: took},
		sum); d != "" {
		t.Error(d)
	}
	if n, err := f.db.PostedSince(f.ctx, f.account.ID, 60_000); err != nil || n != 8 {
		t.Error(n, err)
	}
	if n, err := f.db.PostedSince(f.ctx, f.account.ID, 60_001); err != nil || n != 0 {
		t.Error(n, err)
	}
	list, more, err := f.db.Refused(f.ctx, 0, 1)
	if err != nil || !more || len(list) != 1 || list[0].Minute != 180_000 {
		t.Errorf("%+v %v %v", list, more, err)
	}
	if list, more, err = f.db.Refused(f.ctx, 180_000, 1); err != nil || more || len(list) != 1 || list[0].Refused != 3 {
		t.Errorf("%+v %v %v", list, more, err)
	}
	f.must(f.db.PurgeReceiverStats(f.ctx, []int64{f.account.ID}, 170_000))
	if n := one[int](f, "select count(*) from receiver_minute"); n != 1 {
		t.Errorf("%d minutes are left", n)
	}
}
