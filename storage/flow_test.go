package storage

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/picture"
	"smsdesk/internal/sms"
)

func (f *fixture) flow(campaign int64) []picture.Moment {
	f.t.Helper()
	list, err := f.db.CampaignFlow(f.ctx, campaign)
	f.must(err)
	return list
}

func (f *fixture) waits(campaign int64) []picture.Wait {
	f.t.Helper()
	list, err := f.db.CampaignWaits(f.ctx, campaign)
	f.must(err)
	return list
}

// after makes a report that came so long after its request was licensed.
func after(r sms.DeliveryReport, licensed int64, late time.Duration) sms.DeliveryReport {
	r.ReceivedAt = licensed + late.Milliseconds()
	return r
}

// TestReportsCountWhereTheyCame: the picture is made of the times at which reports
// came, whenever they are applied and however often they come.
func TestReportsCountWhereTheyCame(t *testing.T) {
	f := newFixture(t)
	c := f.proven("Hello", numbers(5)...)
	a := f.license(f.claim(4))
	f.settle(a, answer(a))
	left := f.message(a.Messages[0]).SentAt
	list := []sms.DeliveryReport{after(f.report(a, 0, "DELIVRD"), left, 4*time.Second),
		after(f.report(a, 1, "ACCEPTD"), left, 5*time.Second), after(f.report(a, 1, "UNDELIV"), left, 40*time.Second),
		after(f.report(a, 2, "UNKNOWN"), left, 70*time.Second)}
	f.apply(list...)
	second := func(late time.Duration) int64 {
		return picture.Slot(left+late.Milliseconds(), f.campaign(c.ID).StartedAt)
	}
	want := []picture.Moment{{At: second(0), Sent: 4}, {At: second(4 * time.Second), Delivered: 1},
		{At: second(40 * time.Second), Failed: 1}, {At: second(70 * time.Second), Unsure: 1}}
	sent := f.message(f.messages(c.ID)[0].ID)
	if first := f.flow(c.ID)[0]; sent.State == sms.Accepted && first.Sent == 5 {
		want[0].Sent = 5
	}
	if d := cmp.Diff(want, f.flow(c.ID)); d != "" {
		t.Fatal(d)
	}
	if d := cmp.Diff([]picture.Wait{{Network: "MTN", Key: sms.ReportDelivered, Low: 3, N: 1},
		{Network: "MTN", Key: sms.ReportFailed, Low: 30, N: 1}}, f.waits(c.ID)); d != "" {
		t.Fatal(d)
	}
	f.apply(list...)
	if d := cmp.Diff(want, f.flow(c.ID)); d != "" {
		t.Errorf("after the same reports came again:\n%s", d)
	}
	f.apply(after(f.report(a, 2, "DELIVRD"), left, 90*time.Second))
	want = append(want[:3], picture.Moment{At: second(70 * time.Second)}, picture.Moment{At: second(90 * time.Second),
		Delivered: 1})
	if d := cmp.Diff(want, f.flow(c.ID)); d != "" {
		t.Errorf("what was unknown has become known:\n%s", d)
	}
	f.check()
}

// TestSecondsBecomeMinutes: the seconds of a campaign are folded where they are many,
// once, and nothing is lost.
func TestSecondsBecomeMinutes(t *testing.T) {
	f := newFixture(t)
	long, short := f.proven("Hello", numbers(2)...), f.proven("Hello again", numbers(2)...)
	total := map[int64]picture.Moment{}
	for i, c := range []sms.Campaign{long, short} {
		start := f.campaign(c.ID).StartedAt
		for s := range picture.Most + 60 - 100*i {
			_, err := f.db.writer.ExecContext(f.ctx, `insert into campaign_flow (campaign_id, at, sent, delivered, failed, unsure)
values ($1, $2, 3, 2, 1, 0) on conflict do nothing`, c.ID, picture.Slot(start, start)+int64(s)*1000)
			f.must(err)
		}
		for _, m := range f.flow(c.ID) {
			total[c.ID] = total[c.ID].Add(m)
		}
	}
	before := len(f.flow(short.ID))
	for more, steps := true, 0; more; steps++ {
		var err error
		more, err = f.db.FoldFlow(f.ctx, f.now()+1)
		f.must(err)
		if steps > 3 {
			t.Fatal("folding has no end")
		}
	}
	sum := picture.Moment{}
	for _, m := range f.flow(long.ID) {
		if m.At%60_000 != 0 {
			t.Errorf("second %d is still there", m.At)
		}
		sum = sum.Add(m)
	}
	if len(f.flow(long.ID)) > 4 || sum != total[long.ID] {
		t.Errorf("%s", fmt.Sprint(len(f.flow(long.ID)), " rows, ", sum, " of ", total[long.ID]))
	}
	if n := len(f.flow(short.ID)); n != before {
		t.Errorf("a short campaign has %d rows, had %d", n, before)
	}
}
