package storage

import (
	"errors"
	"testing"

	"smsdesk/internal/series"
	"smsdesk/internal/sms"
)

func (f *fixture) newSeries(name string) series.Series {
	f.t.Helper()
	s, created, err := f.db.CreateSeries(f.ctx, series.Series{UID: randomHex(16), AccountID: f.account.ID, Name: name,
		SenderID: "CLINIC", Text: "Hello", State: series.Active, CreatedBy: 1, CreatedName: "Ada Obi", NextAt: began,
		Rule: series.Rule{Unit: series.Weekly, Step: 1, Weekdays: [7]bool{1: true}, Hour: 9, Zone: "Africa/Lagos",
			From: "2026-11-23", Count: 3, Moved: map[string]string{"2026-11-30": ""}}}, randomHex(32), f.now())
	f.must(err)
	if !created {
		f.t.Fatalf("not created")
	}
	return s
}

// newRun drafts the campaign of a run, as the list of a run is made into one.
func (f *fixture) newRun(s series.Series, n int, numbers ...string) sms.Campaign {
	f.t.Helper()
	c := sms.Campaign{AccountID: f.account.ID, Name: s.Name, SenderID: "CLINIC", Recipients: int64(len(numbers)),
		Parts: int64(len(numbers)), CreatedBy: 1, CreatedName: "Ada Obi", SeriesID: s.ID, SeriesRun: n}
	l, _, err := f.db.CreateList(f.ctx, sms.List{UID: randomHex(16), AccountID: f.account.ID, Purpose: sms.ForAudience,
		FileName: "Mothers", CreatedBy: 1, CreatedName: "Ada Obi"}, randomHex(32), f.now())
	f.must(err)
	l = f.making(l)
	c.ID, err = f.db.StartImport(f.ctx, l, c, f.now())
	f.must(err)
	messages := make([]sms.Message, len(numbers))
	for i, n := range numbers {
		messages[i] = sms.Message{AccountID: f.account.ID, Row: int64(i + 1), Number: n, Text: s.Text, Parts: 1, State: sms.Draft}
	}
	_, err = f.db.PutMessages(f.ctx, c.ID, messages, f.now())
	f.must(err)
	l, err = f.db.List(f.ctx, l.UID)
	f.must(err)
	f.must(f.db.PublishImport(f.ctx, l, c, sms.Tally{"draft": int64(len(numbers))}, f.now()))
	return f.campaign(c.ID)
}

func TestSeriesAreKept(t *testing.T) {
	f := newFixture(t)
	s := f.newSeries("Reminder")
	again, created, err := f.db.CreateSeries(f.ctx, s, "another token", f.now())
	if err == nil || created {
		t.Errorf("a second series of the same UID: %+v", again)
	}
	run := series.Run{SeriesID: s.ID, N: 1, Day: "2026-11-23", At: sms.Schedule{At: 5, Zone: "Africa/Lagos", Offset: 3600},
		State: series.Making, Why: "x", ListUID: "abc", CampaignID: 7, LeftOut: 2}
	calls := 0
	after, err := f.db.UpdateSeries(f.ctx, s.ID, f.now(), func(now *series.Series) ([]series.Run, error) {
		calls++
		now.Runs, now.LastDay, now.NextAt = 1, "2026-11-23", began+1000
		return []series.Run{run}, nil
	})
	f.must(err)
	got, err := f.db.Series(f.ctx, s.ID)
	f.must(err)
	if got.Version != 2 || after.Version != 2 || got.Runs != 1 || got.LastDay != "2026-11-23" || got.NextAt != began+1000 ||
		got.Rule.Words() != "Every Monday at 9:00am" || len(got.Rule.Moved) != 1 || calls != 1 {
		t.Errorf("%+v", got)
	}
	runs, err := f.db.SeriesRuns(f.ctx, s.ID, 9)
	f.must(err)
	run.ChangedAt = runs[0].ChangedAt
	if len(runs) != 1 || runs[0] != run {
		t.Errorf("%+v", runs)
	}
	if _, err := f.db.UpdateSeries(f.ctx, s.ID, f.now(), func(now *series.Series) ([]series.Run, error) {
		now.Name = "Lost"
		return nil, sms.ErrConflict
	}); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("%v", err)
	}
	for before, want := range map[int64]int{began: 1, began + 5000: 1} {
		if ids, err := f.db.SeriesToLookAt(f.ctx, before); err != nil || len(ids) != want {
			t.Errorf("at %d: %v %v", before, ids, err)
		}
	}
	if _, err := f.db.Series(f.ctx, 99); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if list, err := f.db.SeriesList(f.ctx, f.account.ID, 9); err != nil || len(list) != 1 || list[0].Name != "Reminder" {
		t.Errorf("%+v %v", list, err)
	}
}

// TestAnEarlierRunIsNoRepeatAfterARestore: the run that was lost is remembered for
// itself, and the next one goes to everybody. What made runs by itself waits for a
// person, because it may have been stopped since.
func TestAnEarlierRunIsNoRepeatAfterARestore(t *testing.T) {
	f := newFixture(t)
	s := f.newSeries("Reminder")
	_, err := f.db.UpdateSeries(f.ctx, s.ID, f.now(), func(*series.Series) ([]series.Run, error) {
		return []series.Run{{SeriesID: s.ID, N: 1, Day: "2026-11-23", State: series.Making}}, nil
	})
	f.must(err)
	copied := f.backup(t)
	j, l := f.journal(), ledger{}
	c := f.newRun(s, 1, numbers(3)...)
	f.set(c.ID, sms.CampaignRunning)
	f.send(j, l, 9)
	f.restore(t, copied)
	f.accept()
	j = f.journal()
	got, err := f.db.Series(f.ctx, s.ID)
	f.must(err)
	runs, err := f.db.SeriesRuns(f.ctx, s.ID, 9)
	f.must(err)
	if got.State != series.Paused || got.Pause != series.OlderState || runs[0].State != series.Asking ||
		runs[0].Why != series.OlderState {
		t.Fatalf("%+v %+v", got, runs)
	}
	again, next, other := f.newRun(s, 1, numbers(4)...), f.newRun(s, 2, numbers(4)...), f.newDraft("Hello", numbers(4)...)
	for id, want := range map[int64]int64{again.ID: 3, next.ID: 0, other.ID: 3} {
		sent := int64(0)
		found, _, err := f.db.RememberedIn(f.ctx, f.campaign(id))
		f.must(err)
		for _, r := range found {
			sent += r.Messages
		}
		if sent != want {
			t.Errorf("campaign %d: %d remembered, want %d", id, sent, want)
		}
	}
	for _, c := range []sms.Campaign{again, next} {
		f.set(c.ID, sms.CampaignRunning)
		f.send(j, l, 9)
	}
	f.wantStates(again.ID, map[sms.State]int{sms.Skipped: 3, sms.Accepted: 1})
	f.wantStates(next.ID, map[sms.State]int{sms.Accepted: 4})
	f.check()
}

// TestAnInterruptedRunIsMadeAgain: what a crash left hidden does not keep the run's
// place in the journal.
func TestAnInterruptedRunIsMadeAgain(t *testing.T) {
	f := newFixture(t)
	s := f.newSeries("Reminder")
	l, _, err := f.db.CreateList(f.ctx, sms.List{UID: randomHex(16), AccountID: f.account.ID, FileName: "x", CreatedBy: 1},
		randomHex(32), f.now())
	f.must(err)
	_, err = f.db.StartImport(f.ctx, f.making(l), sms.Campaign{AccountID: f.account.ID, Name: "x", SeriesID: s.ID, SeriesRun: 1}, f.now())
	f.must(err)
	if c := f.newRun(s, 1, numbers(2)...); c.SeriesID != s.ID || c.SeriesRun != 1 || c.State != sms.CampaignDraft {
		t.Errorf("%+v", c)
	}
}
