package storage

import (
	"strconv"
	"testing"

	"smsdesk/internal/radar"
	"smsdesk/internal/sms"
)

// TestWhatCountsAsSent holds each state and status of a message against the
// promise: what may have arrived or is about to leave counts, the rest does not.
func TestWhatCountsAsSent(t *testing.T) {
	f := newFixture(t)
	type counted struct {
		state  sms.State
		status sms.Status
	}
	want := map[counted]radar.How{{sms.Draft, ""}: radar.Waiting, {sms.Queued, ""}: radar.Waiting, {sms.Claimed, ""}: radar.Waiting,
		{sms.Sending, ""}: radar.Awaiting, {sms.InDoubt, ""}: radar.Doubtful, {sms.ClosedUnknown, ""}: radar.Doubtful,
		{sms.ClosedResent, ""}: radar.Doubtful, {sms.Accepted, ""}: radar.Awaiting, {sms.Accepted, sms.Acceptd}: radar.Awaiting,
		{sms.Accepted, sms.Unknown}: radar.Awaiting, {sms.Accepted, sms.Delivrd}: radar.Arrived}
	var all []counted
	for _, s := range sms.States() {
		if s != sms.Accepted {
			all = append(all, counted{s, ""})
		}
	}
	for _, s := range append(sms.Statuses(), "") {
		all = append(all, counted{sms.Accepted, s})
	}
	exec := func(text string, args ...any) {
		t.Helper()
		_, err := f.db.writer.ExecContext(f.ctx, text, args...)
		f.must(err)
	}
	messages := make([]sms.Message, len(all))
	for i := range messages {
		messages[i] = sms.Message{Number: strconv.FormatInt(numeric(i), 10), Text: "Hello", Parts: 1}
	}
	c := f.draftOf(sms.Campaign{Text: "Hello", TextKey: radar.Key("Hello")}, messages)
	for i, s := range all {
		exec("drop trigger if exists message_transition")
		exec("update message set state = $1, status = $2, sent_at = 77 where campaign_id = $3 and row_no = $4", string(s.state),
			string(s.status), c.ID, i+1)
	}
	exec("update campaign set started_at = 100, state = 'running' where id = $1", c.ID)
	look := func() map[counted]radar.How {
		t.Helper()
		similar, err := f.db.SimilarCampaigns(f.ctx, f.account.ID, 99, radar.Key("hello!"))
		f.must(err)
		if len(similar) != 1 || similar[0].ID != c.ID {
			t.Fatalf("%+v", similar)
		}
		got := map[counted]radar.How{}
		f.must(f.db.EachSent(f.ctx, similar[0], func(m radar.Sent) {
			got[all[int(m.Number-numeric(0))]] = m.How
		}, func(int64) error { return nil }))
		for i, s := range all {
			sent, err := f.db.SentTo(f.ctx, f.account.ID, numeric(i), 99)
			how, is := got[s]
			if err != nil || (len(sent) == 1) != is || is && (sent[0].How != how || sent[0].At != 77 || sent[0].Campaign.ID != c.ID) {
				t.Errorf("%v: %+v %v", s, sent, err)
			}
		}
		return got
	}
	check := func(want map[counted]radar.How) {
		t.Helper()
		got := look()
		for _, s := range all {
			how, is := got[s]
			if should, counts := want[s]; is != counts || how != should {
				t.Errorf("%v: %v %t", s, how, is)
			}
		}
	}
	check(want)
	exec("drop trigger if exists campaign_transition")
	exec("update campaign set state = 'cancelled' where id = $1", c.ID)
	for _, s := range []sms.State{sms.Draft, sms.Queued, sms.Claimed} {
		delete(want, counted{s, ""})
	}
	check(want)
	other := f.other(t, "Other").account.ID
	if list, err := f.db.SimilarCampaigns(f.ctx, other, 0, radar.Key("hello")); err != nil || len(list) > 0 {
		t.Errorf("of another account: %+v %v", list, err)
	}
	exec("update campaign set test_of = 1 where id = $1", c.ID)
	if list, err := f.db.SimilarCampaigns(f.ctx, f.account.ID, 0, radar.KeyEach); err != nil || len(list) > 0 {
		t.Errorf("a test of a text: %+v %v", list, err)
	}
	if list, err := f.db.SentTo(f.ctx, f.account.ID, numeric(0), 0); err != nil || len(list) > 0 {
		t.Errorf("a test of a text: %+v %v", list, err)
	}
}

// TestOlderCampaignsGetTheirKeys, a few at a time, and go on where it stopped.
func TestOlderCampaignsGetTheirKeys(t *testing.T) {
	f := newFixture(t)
	list := func(o sms.ListOrder) int64 {
		l, _, err := f.db.CreateList(f.ctx, sms.List{UID: randomHex(8), AccountID: f.account.ID, State: sms.ListMade, Order: o,
			CreatedBy: 1, CreatedName: "Ada"}, randomHex(16), 1)
		f.must(err)
		return l.ID
	}
	of := func(c sms.Campaign) int64 { return f.draftOf(c, nil).ID }
	typed := of(sms.Campaign{Text: "Hello"})
	want := map[int64]int64{typed: radar.Key("hello"),
		of(sms.Campaign{ListID: list(sms.ListOrder{Text: "Dear ##Name##, we are closed.", Message: -1})}): radar.Key("dear we are closed"),
		of(sms.Campaign{ListID: list(sms.ListOrder{Message: 1})}):                                         radar.KeyEach,
		of(sms.Campaign{ListID: 999}):                  radar.KeyEach,
		of(sms.Campaign{}):                             radar.KeyEach,
		of(sms.Campaign{AgainOf: typed}):               radar.Key("hello"),
		of(sms.Campaign{Text: "Other", TextKey: 4711}): 4711,
	}
	for range 450 {
		want[of(sms.Campaign{Text: "Many"})] = radar.Key("many")
	}
	rounds := 0
	for more := true; more; rounds++ {
		var err error
		more, err = f.db.FillTextKeys(f.ctx)
		f.must(err)
	}
	if rounds < 3 {
		t.Errorf("all at once, in %d rounds", rounds)
	}
	for id, key := range want {
		if got, err := f.db.Campaign(f.ctx, id); err != nil || got.TextKey != key {
			t.Errorf("campaign %d: %+v %v", id, got, err)
		}
	}
}

// numeric is the i-th number of a test.
func numeric(i int) int64 { return 2348030000000 + int64(i) }
