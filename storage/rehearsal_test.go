package storage

import (
	"errors"
	"testing"
	"time"

	"smsdesk/internal/rehearsal"
	"smsdesk/internal/sms"
)

func TestARehearsalFromTheOrderToItsEnd(t *testing.T) {
	f := newFixture(t)
	ada, bola := f.hire("ada@example.com", sms.Sender), f.hire("bola@example.com", sms.Sender)
	c := f.newDraft("Hello", "2348030000001", "2348030000002")
	order := func(by sms.User, at int64) (rehearsal.Rehearsal, error) {
		return f.db.OrderRehearsal(f.ctx, rehearsal.Rehearsal{AccountID: f.account.ID, CampaignID: c.ID, Name: c.Name, By: by,
			Kind: rehearsal.Usual, All: 2, CreatedAt: at})
	}
	first, err := order(ada, 100)
	f.must(err)
	if again, err := order(ada, 101); !errors.Is(err, sms.ErrConflict) || again.ID != first.ID {
		t.Fatalf("a second one at a time: %+v, %v", again, err)
	}
	second, err := order(bola, 102)
	f.must(err)
	begun, err := f.db.BeginRehearsal(f.ctx, 110)
	if err != nil || begun.ID != first.ID || begun.State != rehearsal.Running || begun.StartedAt != 110 {
		t.Fatalf("%+v, %v", begun, err)
	}
	begun.State, begun.Rows, begun.Done, begun.EndedAt = rehearsal.Done, 2, 2, 120
	begun.Result = rehearsal.Result{Requests: 1, Tally: sms.Tally{"delivered": 2}, Doubt: &rehearsal.Doubt{Row: 1}}
	f.must(f.db.SaveRehearsal(f.ctx, begun))
	got, err := f.db.Rehearsal(f.ctx, first.ID)
	if err != nil || got.Result.Tally["delivered"] != 2 || got.Result.Doubt.Row != 1 || got.By.Name != ada.Name {
		t.Errorf("%+v, %v", got, err)
	}
	if err := f.db.SaveRehearsal(f.ctx, begun); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("one that has ended is saved: %v", err)
	}
	_, err = f.db.BeginRehearsal(f.ctx, 130)
	f.must(err)
	f.must(f.db.StopRehearsal(f.ctx, second.ID, 140))
	if err := f.db.StopRehearsal(f.ctx, second.ID, 141); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("one is stopped twice: %v", err)
	}
	if _, err := f.db.BeginRehearsal(f.ctx, 150); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("nothing waits: %v", err)
	}
	list, err := f.db.CampaignRehearsals(f.ctx, c.ID, 5)
	if err != nil || len(list) != 2 || list[0].ID != second.ID || list[0].State != rehearsal.Stopped {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestRehearsalsEndWithTheirProcessAndAreForgotten(t *testing.T) {
	f := newFixture(t)
	ada, bola := f.hire("ada@example.com", sms.Sender), f.hire("bola@example.com", sms.Sender)
	var ids []int64
	for i, by := range []sms.User{ada, bola} {
		r, err := f.db.OrderRehearsal(f.ctx, rehearsal.Rehearsal{AccountID: f.account.ID, By: by, Kind: rehearsal.Watch,
			CreatedAt: int64(100 + i)})
		f.must(err)
		ids = append(ids, r.ID)
	}
	_, err := f.db.BeginRehearsal(f.ctx, 110)
	f.must(err)
	f.must(f.db.InterruptRehearsals(f.ctx, 120))
	is := func(id int64, want rehearsal.State) {
		t.Helper()
		r, err := f.db.Rehearsal(f.ctx, id)
		if want == "" && errors.Is(err, sms.ErrNotFound) {
			return
		}
		if err != nil || r.State != want {
			t.Errorf("%q, %v; want %q", r.State, err, want)
		}
	}
	is(ids[0], rehearsal.Interrupted)
	is(ids[1], rehearsal.Waiting)
	f.must(f.db.PurgeRehearsals(f.ctx, 100))
	is(ids[0], rehearsal.Interrupted)
	f.must(f.db.PurgeRehearsals(f.ctx, 200))
	is(ids[0], "")
	is(ids[1], rehearsal.Waiting)
}

func TestWhatAnAccountsPastTells(t *testing.T) {
	f := newFixture(t)
	c := f.newDraft("Hello", "2348030000001", "2348030000002", "2348030000003")
	f.set(c.ID, sms.CampaignRunning)
	a := f.claim(10)
	f.must(f.db.License(f.ctx, a, f.now()))
	f.settle(a, sms.Outcome{Class: sms.ClassAnswered, HTTPStatus: 200, Rows: []sms.ResultRow{
		{Number: "2348030000001", ProviderID: "p1"}, {Number: "2348030000002", Code: "401"},
		{Number: "2348030000003", ProviderID: "p3"}}})
	p, err := f.db.Past(f.ctx, f.account.ID, f.now()-time.Hour.Milliseconds())
	if err != nil || p.Refused != 1 || p.Requests[sms.ClassAnswered] != 1 || len(p.Traffic) == 0 || p.Traffic[0].N != 2 {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := f.db.Past(f.ctx, f.account.ID, f.now()+time.Hour.Milliseconds()); err != nil || p.Refused != 0 ||
		len(p.Requests) != 0 || len(p.Traffic) != 0 {
		t.Errorf("later: %+v, %v", p, err)
	}
}
