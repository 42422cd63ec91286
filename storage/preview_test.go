package storage

import (
	"errors"
	"fmt"
	"testing"

	"smsdesk/internal/sms"
)

// rows drafts a campaign with messages of these rows, every text another one.
func (f *fixture) rows(list ...int64) sms.Campaign {
	f.t.Helper()
	messages := make([]sms.Message, len(list))
	for i, row := range list {
		messages[i] = sms.Message{Row: row, Number: fmt.Sprintf("23480300%05d", row), Text: fmt.Sprint("Row ", row), Parts: 1}
	}
	return f.draftOf(sms.Campaign{}, messages)
}

func TestMessageAtRow(t *testing.T) {
	f := newFixture(t)
	var list []int64
	for row := int64(2); row < 400; row++ {
		if row%7 != 0 && (row < 100 || row > 180) {
			list = append(list, row)
		}
	}
	f.rows(1, 2, 3)
	c := f.rows(list...)
	f.rows(1, 2, 3)
	for row := int64(0); row < 420; row++ {
		want := list[len(list)-1]
		for _, r := range list {
			if r >= row {
				want = r
				break
			}
		}
		if m, err := f.db.MessageAtRow(f.ctx, c.ID, row); err != nil || m.Row != want || m.CampaignID != c.ID {
			t.Fatalf("row %d: %d of campaign %d, %v, want %d", row, m.Row, m.CampaignID, err, want)
		}
	}
	if _, err := f.db.MessageAtRow(f.ctx, 999, 1); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("a campaign that is not there: %v", err)
	}
}

func TestPreviewBeginsWithWhatIsSent(t *testing.T) {
	f := newFixture(t)
	c := f.draftOf(sms.Campaign{}, []sms.Message{
		{Row: 2, Number: "2348030000001", Text: "Left out", Parts: 9, Unicode: true, State: sms.Skipped, Code: string(sms.RowBlocked)},
		{Row: 3, Number: "2348030000002", Text: "Short", Parts: 1},
		{Row: 4, Number: "2348030000003", Text: "Longer, two parts", Parts: 2, Call: 2},
		{Row: 5, Number: "2348030000004", Text: "ọ", Parts: 1, Unicode: true, Call: 4},
		{Row: 6, Number: "2348030000005", Text: "ọ, but earlier in the plan", Parts: 1, Unicode: true, Call: 3},
		{Row: 7, Number: "2348030000006", Text: "Longest of those with two parts", Parts: 2, Call: 2},
	})
	if m, err := f.db.FirstToSend(f.ctx, c.ID); err != nil || m.Row != 3 {
		t.Errorf("begins with row %d, %v", m.Row, err)
	}
	if e, err := f.db.Extremes(f.ctx, c.ID, 100); err != nil || e != (sms.Extremes{Longest: 7, Odd: 5}) {
		t.Errorf("%+v %v", e, err)
	}
	empty := f.draftOf(sms.Campaign{}, []sms.Message{{Row: 1, State: sms.Skipped}})
	if _, err := f.db.FirstToSend(f.ctx, empty.ID); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("nothing to send: %v", err)
	}
	if e, err := f.db.Extremes(f.ctx, empty.ID, 100); err != nil || e != (sms.Extremes{}) {
		t.Errorf("%+v %v", e, err)
	}
}

func TestBlockedSinceTheDraft(t *testing.T) {
	f := newFixture(t)
	block := func(since int64, numbers ...string) {
		var list []sms.Blocked
		for _, n := range numbers {
			list = append(list, sms.Blocked{AccountID: f.account.ID, Number: n, Kind: sms.BlockedByStaff, Since: since})
		}
		_, err := f.db.Block(f.ctx, list)
		f.must(err)
	}
	check := func(c sms.Campaign, most int, messages, parts int64, known bool) {
		t.Helper()
		m, p, k, err := f.db.BlockedSince(f.ctx, c, most)
		if err != nil || m != messages || p != parts || k != known {
			t.Errorf("%d messages with %d parts, known %v, %v; want %d, %d, %v", m, p, k, err, messages, parts, known)
		}
	}
	c := f.draftOf(sms.Campaign{}, []sms.Message{{Number: "2348030000001", Parts: 1}, {Number: "2348030000002", Parts: 2},
		{Number: "2348030000003", Parts: 3},
		{Number: "2348030000004", Parts: 4, State: sms.Skipped}})
	check(c, 10, 0, 0, true)
	block(c.CreatedAt-5, "2348030000004")
	check(c, 10, 0, 0, true)
	check(c, 2, 0, 0, true)
	block(f.now(), "2348030000002", "2348030000003", "2348039999999")
	check(c, 10, 2, 5, true)
	check(c, 3, 0, 0, false)
	other := f.other(t, "School")
	check(other.newDraft("Hello", "2348030000002"), 10, 0, 0, true)
}

func TestPace(t *testing.T) {
	f := newFixture(t)
	c := f.newDraft("Hello", "2348030000001", "2348030000002")
	f.set(c.ID, sms.CampaignRunning)
	before := f.now()
	a := f.claim(10)
	f.must(f.db.License(f.ctx, a, f.now()))
	if calls, tooFast, err := f.db.Pace(f.ctx, f.account.ID, c.ID, before); err != nil || calls != 1 || tooFast != 0 {
		t.Errorf("%d calls, too fast %d, %v", calls, tooFast, err)
	}
	if calls, _, err := f.db.Pace(f.ctx, f.account.ID, c.ID+1, before); err != nil || calls != 0 {
		t.Errorf("another campaign has %d calls, %v", calls, err)
	}
	f.settle(a, sms.Outcome{Class: sms.ClassRate, HTTPStatus: 429})
	if calls, tooFast, err := f.db.Pace(f.ctx, f.account.ID, c.ID, before); err != nil || calls != 1 || tooFast <= before {
		t.Errorf("%d calls, too fast %d, %v", calls, tooFast, err)
	}
	if calls, tooFast, err := f.db.Pace(f.ctx, f.account.ID, c.ID, f.now()+1000); err != nil || calls != 0 || tooFast != 0 {
		t.Errorf("later %d calls, too fast %d, %v", calls, tooFast, err)
	}
}
