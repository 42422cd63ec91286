package storage

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/sms"
	"smsdesk/internal/ussd"
)

func allow(ussd.Draft, []ussd.Published) error { return nil }

func TestMenusAreKept(t *testing.T) {
	f := newFixture(t)
	m := ussd.Examples()[1]
	id, err := f.db.CreateMenu(f.ctx, f.account.ID, m, "secret", f.now())
	f.must(err)
	d, err := f.db.MenuDraft(f.ctx, id)
	f.must(err)
	if diff := cmp.Diff(m, d.Menu); diff != "" || d.Secret != "secret" || d.Published != 0 || d.Revision != 1 {
		t.Fatalf("%+v %s", d, diff)
	}
	if list, err := f.db.PublishedMenus(f.ctx); err != nil || len(list) != 0 {
		t.Fatalf("a draft is published: %v %v", list, err)
	}
	m.Name = "Second"
	f.must(f.db.SaveMenu(f.ctx, id, 1, m, f.now()))
	if err := f.db.SaveMenu(f.ctx, id, 1, m, f.now()); !errors.Is(err, sms.ErrConflict) {
		t.Fatalf("two people saved the same revision: %v", err)
	}
	if _, err := f.db.PublishMenu(f.ctx, id, 1, f.now(), sms.User{}, allow); !errors.Is(err, sms.ErrConflict) {
		t.Fatalf("another revision was published: %v", err)
	}
	refusal := sms.Invalid{"menu": "no"}
	if _, err := f.db.PublishMenu(f.ctx, id, 2, f.now(), sms.User{}, func(ussd.Draft, []ussd.Published) error {
		return refusal
	}); !errors.As(err, &sms.Invalid{}) {
		t.Fatal(err)
	}
	for want := 1; want <= 2; want++ {
		no, err := f.db.PublishMenu(f.ctx, id, 2, f.now(), sms.User{ID: 7, Name: "Ada"}, allow)
		f.must(err)
		if no != want {
			t.Fatalf("version %d, want %d", no, want)
		}
	}
	list, err := f.db.PublishedMenus(f.ctx)
	f.must(err)
	if len(list) != 1 || list[0].Version != 2 || list[0].Menu.Name != "Second" || list[0].Secret != "secret" ||
		list[0].AccountID != f.account.ID {
		t.Fatalf("%+v", list)
	}
	for account, want := range map[int64]bool{f.account.ID: true, f.account.ID + 1: false} {
		if got, err := f.db.AnswersUSSD(f.ctx, account); err != nil || got != want {
			t.Errorf("account %d answers: %t %v", account, got, err)
		}
	}
	versions, err := f.db.MenuVersions(f.ctx, id)
	f.must(err)
	if len(versions) != 2 || versions[0].No != 2 || versions[1].ByName != "Ada" {
		t.Fatalf("%+v", versions)
	}
	f.must(f.db.WithdrawMenu(f.ctx, id))
	f.must(f.db.DeleteMenu(f.ctx, id))
	if list, err := f.db.Menus(f.ctx, f.account.ID); err != nil || len(list) != 0 {
		t.Fatal(list, err)
	}
}

func TestSessionsAreKept(t *testing.T) {
	f := newFixture(t)
	old, young := ussd.SessionID(began, 1), ussd.SessionID(began+1000, 1)
	a := ussd.Session{ID: old, AccountID: f.account.ID, MenuID: 3, Version: 1, Number: "2348030000101", Network: "mtn",
		Code: "347", BegunAt: began, LastAt: began, Steps: 1, Slowest: 5, Screen: "a", ServiceID: "s", USSDID: "u",
		Status: "200 OK", Body: "{}"}
	b := a
	b.ID, b.BegunAt, b.Number = young, began+1000, "2348030000102"
	f.must(f.db.PutUSSDSessions(f.ctx, ussd.Batch{Sessions: []ussd.Session{a, b},
		Steps: []ussd.Step{{SessionID: old, No: 1, At: began, Screen: "a", Input: "*347#", Text: "Hello", Took: 5},
			{SessionID: young, No: 1, At: began, Screen: "a"}},
		Saved: []ussd.SavedAnswer{{SessionID: old, AccountID: f.account.ID, MenuID: 3, Number: a.Number, Name: "Day",
			Text: "1",
			At:   1}, {SessionID: young, AccountID: f.account.ID, MenuID: 3, Number: b.Number, Name: "Day", Text: "2", At: 2}},
		Joined: []ussd.SignUp{{AccountID: f.account.ID, List: "News", Number: a.Number, At: 1},
			{AccountID: f.account.ID, List: "News", Number: a.Number, At: 2}}}))
	// What comes later has lost what only the begin tells.
	a.Steps, a.Screen, a.EndedAt, a.Ended, a.LastAt = 2, "b", began+9, ussd.EndedByTime, began+9
	later := a
	later.Status, later.Body, later.USSDID = "", "", ""
	f.must(f.db.PutUSSDSessions(f.ctx, ussd.Batch{Sessions: []ussd.Session{later},
		Steps: []ussd.Step{{SessionID: old, No: 2, Screen: "b", End: true}}}))
	got, steps, saved, err := f.db.USSDSession(f.ctx, old)
	f.must(err)
	if d := cmp.Diff(a, got); d != "" || len(steps) != 2 || !steps[1].End || len(saved) != 1 || saved[0].Text != "1" {
		t.Fatalf("%s %+v %+v", d, steps, saved)
	}
	if n, err := f.db.CountOpenUSSDSessions(f.ctx, f.account.ID); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	list, more, err := f.db.USSDSessions(f.ctx, ussd.SessionFilter{AccountID: f.account.ID, Limit: 1})
	if err != nil || !more || len(list) != 1 || list[0].ID != young {
		t.Fatal(list, more, err)
	}
	drops, err := f.db.Drops(f.ctx, 3)
	f.must(err)
	if d := cmp.Diff([]ussd.Drop{{Screen: "a", Seen: 2}, {Screen: "b", Seen: 1, Ended: 1}}, drops); d != "" {
		t.Error(d)
	}
	lists, err := f.db.JoinedLists(f.ctx, f.account.ID)
	if err != nil || lists["News"] != 1 {
		t.Fatal(lists, err)
	}
	gone, err := f.db.PurgeUSSDSessions(f.ctx, ussd.SessionID(began+500, 0))
	if err != nil || gone != 1 {
		t.Fatal(gone, err)
	}
	if _, _, _, err := f.db.USSDSession(f.ctx, old); !errors.Is(err, sms.ErrNotFound) {
		t.Fatal(err)
	}
	var answers []string
	f.must(f.db.EachAnswers(f.ctx, 3, 0, func(a []ussd.SavedAnswer) bool {
		answers = append(answers, a[0].Text)
		return true
	}))
	if d := cmp.Diff([]string{"2"}, answers); d != "" {
		t.Error(d)
	}
	f.must(f.db.EndOpenUSSDSessions(f.ctx, f.account.ID, ussd.EndedByRestart))
	if got, _, _, _ := f.db.USSDSession(f.ctx, young); got.Ended != ussd.EndedByRestart {
		t.Errorf("%+v", got)
	}
}

func TestOnlyItsOwnBlocksAreTakenBack(t *testing.T) {
	f := newFixture(t)
	for _, kind := range []sms.BlockKind{sms.BlockedByStaff, sms.BlockedByUSSD} {
		_, err := f.db.Block(f.ctx, []sms.Blocked{{AccountID: f.account.ID, Number: "234803000010" + string(kind[0]),
			Kind: kind, Since: 1}})
		f.must(err)
		_, done, err := f.db.EndOwnBlock(f.ctx, f.account.ID, "234803000010"+string(kind[0]), sms.BlockedByUSSD,
			sms.Unblocking{At: 2, Kind: sms.BlockedByUSSD})
		if err != nil || done != (kind == sms.BlockedByUSSD) {
			t.Errorf("%s: %v %v", kind, done, err)
		}
	}
}

// TestAReplayOfTheSpoolTakesNothingBack: after a crash the spool is read again,
// and what it holds of a session may be older than what the database took by
// the other way. Of two answers of one moment the one said last counts.
func TestAReplayOfTheSpoolTakesNothingBack(t *testing.T) {
	f := newFixture(t)
	id := ussd.SessionID(began, 1)
	batch := func(no int, at int64, word string) ussd.Batch {
		s := ussd.Session{ID: id, AccountID: f.account.ID, MenuID: 3, Number: "2348030000101", BegunAt: began, LastAt: at,
			Steps: no, Slowest: int64(no), Screen: word}
		return ussd.Batch{Sessions: []ussd.Session{s},
			Steps: []ussd.Step{{SessionID: id, No: 1, At: at, Screen: word}},
			Saved: []ussd.SavedAnswer{{SessionID: id, AccountID: f.account.ID, MenuID: 3, Number: s.Number, Name: "Day",
				Text: word,
				At:   at}},
			Joined: []ussd.SignUp{{AccountID: f.account.ID, List: "News", Number: s.Number, At: at}}}
	}
	holds := func(when, session, answer string, steps int, ended string) {
		t.Helper()
		s, said, saved, err := f.db.USSDSession(f.ctx, id)
		f.must(err)
		if s.Screen != session || s.Steps != steps || s.Slowest != int64(steps) || s.Ended != ended {
			t.Errorf("%s the session is %+v", when, s)
		}
		if len(saved) != 1 || saved[0].Text != answer {
			t.Errorf("%s the answers are %+v, want %s", when, saved, answer)
		}
		if len(said) != 1 || said[0].Screen != "second" {
			t.Errorf("%s the steps are %+v", when, said)
		}
	}
	old, newer := batch(1, began+1, "first"), batch(2, began+2, "second")
	f.must(f.db.PutUSSDSessions(f.ctx, newer))
	f.must(f.db.PutUSSDSessions(f.ctx, old))
	holds("after what is older", "second", "second", 2, "")
	f.must(f.db.PutUSSDSessions(f.ctx, newer))
	holds("after the same again", "second", "second", 2, "")
	f.must(f.db.PutUSSDSessions(f.ctx, batch(3, began+2, "third")))
	holds("after one of the same moment", "third", "third", 3, "")
	over := batch(3, began+3, "third")
	over.Sessions[0].EndedAt, over.Sessions[0].Ended = began+3, ussd.EndedByCaller
	f.must(f.db.PutUSSDSessions(f.ctx, over))
	f.must(f.db.PutUSSDSessions(f.ctx, batch(3, began+2, "second")))
	holds("after a replay from before its end", "third", "third", 3, ussd.EndedByCaller)
	if lists, err := f.db.JoinedLists(f.ctx, f.account.ID); err != nil || lists["News"] != 1 {
		t.Error(lists, err)
	}
}
