package desk_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"

	"smsdesk/internal/desk"
	"smsdesk/internal/health"
	"smsdesk/internal/rig"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

const toldTwice = "some will get it twice"

// asks makes the database a copy that asks its question, as serve does.
func (r *kit) asks() health.Question {
	r.T.Helper()
	mark, err := json.Marshal(health.Copy{UID: "backup-1", MadeAt: time.Now().UnixMilli(), By: "J. Otieno"})
	if err != nil {
		r.T.Fatal(err)
	}
	if err := r.DB.PutSetting(r.Ctx, health.SettingCopy, string(mark)); err != nil {
		r.T.Fatal(err)
	}
	q, err := r.Afresh().Compare(r.Ctx, false)
	if err != nil || q.Relation != health.RelationCopy {
		r.T.Fatalf("%+v %v", q, err)
	}
	if err := r.DB.PutQuestion(r.Ctx, &q); err != nil {
		r.T.Fatal(err)
	}
	return q
}

// accepted answers the question and returns what is kept of it.
func (r *kit) accepted() health.JournalGap {
	r.T.Helper()
	if _, err := r.Afresh().Accept(r.Ctx, "Ada Obi", time.UTC, time.Now().UnixMilli()); err != nil {
		r.T.Fatal(err)
	}
	list, err := r.DB.JournalGaps(r.Ctx, 1)
	if err != nil || len(list) != 1 {
		r.T.Fatalf("%v %v", list, err)
	}
	return list[0]
}

// hoursLater is the same desk at another time.
func (r *kit) hoursLater(n int) *desk.Desk {
	return desk.New(rig.Stores(r.DB), r.Orders(), r.Feed, slog.New(slog.DiscardHandler), func() time.Time {
		return time.Now().Add(time.Duration(n) * time.Hour)
	})
}

// TestEveryWayToSendSaysFirstThatSomeMayGetItTwice, and none goes round it: what
// was made in an older state may have been sent before that came back.
func TestEveryWayToSendSaysFirstThatSomeMayGetItTwice(t *testing.T) {
	o := newQuartet(t)
	o.StartedJournal()
	at := sms.ScheduleAt(time.Now().Add(2 * time.Hour))
	draft := func(n int) sms.Campaign { return o.Draft("CLINIC", "Hello "+desk.NewToken()[:8], rig.Ordinary(n)...) }
	started := func() sms.Campaign { return o.Start(draft(2)) }
	scheduled := func() sms.Campaign {
		c := draft(2)
		c, err := o.Desk.ScheduleCampaign(o.Ctx, o.ada, c.ID, at, desk.StartOrder{Version: c.Version})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	stopped := func() sms.Campaign {
		c, err := o.Desk.StopCampaign(o.Ctx, o.ada, started().ID)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	order := func(c sms.Campaign, said bool) desk.StartOrder {
		return desk.StartOrder{Version: c.Version, MayRepeat: said}
	}
	ways := []struct {
		name string
		made func() sms.Campaign
		do   func(c sms.Campaign, said bool) (sms.Campaign, error)
		want sms.CampaignState
	}{
		{"start", func() sms.Campaign { return draft(2) }, func(c sms.Campaign, said bool) (sms.Campaign, error) {
			return o.Desk.StartCampaign(o.Ctx, o.ada, c.ID, order(c, said))
		}, sms.CampaignRunning},
		{"schedule", func() sms.Campaign { return draft(2) }, func(c sms.Campaign, said bool) (sms.Campaign, error) {
			return o.Desk.ScheduleCampaign(o.Ctx, o.ada, c.ID, at, order(c, said))
		}, sms.CampaignScheduled},
		{"hand over", func() sms.Campaign { return draft(2) }, func(c sms.Campaign, said bool) (sms.Campaign, error) {
			return o.Desk.HandOverCampaign(o.Ctx, o.ada, c.ID, at, order(c, said))
		}, sms.CampaignRunning},
		{"ask for approval", func() sms.Campaign { return draft(4) }, func(c sms.Campaign, said bool) (sms.Campaign, error) {
			return o.Desk.AskApproval(o.Ctx, o.ada, c.ID, desk.Ask{StartOrder: order(c, said)})
		}, sms.CampaignAwaiting},
		{"approve", func() sms.Campaign { return o.asked(4, sms.Schedule{}) }, func(c sms.Campaign, said bool) (sms.Campaign, error) {
			return o.Desk.ApproveCampaign(o.Ctx, o.bola, c.ID, desk.ApproveOrder{Version: c.Version, MayRepeat: said})
		}, sms.CampaignRunning},
		{"continue a started one", started, func(c sms.Campaign, said bool) (sms.Campaign, error) {
			return o.Desk.ContinueCampaign(o.Ctx, o.sam, c.ID, desk.ContinueOrder{MayRepeat: said})
		}, sms.CampaignRunning},
		{"continue a stopped one", stopped, func(c sms.Campaign, said bool) (sms.Campaign, error) {
			return o.Desk.ContinueCampaign(o.Ctx, o.sam, c.ID, desk.ContinueOrder{MayRepeat: said})
		}, sms.CampaignRunning},
		{"continue one that was to start by itself", scheduled, func(c sms.Campaign, said bool) (sms.Campaign, error) {
			return o.Desk.ContinueCampaign(o.Ctx, o.sam, c.ID, desk.ContinueOrder{MayRepeat: said})
		}, sms.CampaignRunning},
		{"another time", scheduled, func(c sms.Campaign, said bool) (sms.Campaign, error) {
			return o.Desk.RescheduleCampaign(o.Ctx, o.sam, c.ID, sms.ScheduleAt(time.Now().Add(5*time.Hour)), order(c, said))
		}, sms.CampaignScheduled},
	}
	made := make([]sms.Campaign, len(ways))
	for i, w := range ways {
		made[i] = w.made()
	}
	o.asks()
	c := draft(1)
	if _, err := o.Desk.StartCampaign(o.Ctx, o.ada, c.ID, order(c, false)); !strings.Contains(said(err, "may_repeat"),
		toldTwice) {
		t.Errorf("started while the question is open: %v", err)
	}
	if g := o.accepted(); !g.Open(time.Now()) {
		t.Fatalf("%+v", g)
	}
	for i, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			c := o.now(made[i].ID)
			n := "2 recipients have not received"
			if c.Recipients == 4 {
				n = "4 recipients have not received"
			}
			if got, err := w.do(c, false); !strings.Contains(said(err, "may_repeat"), toldTwice) ||
				!strings.Contains(said(err, "may_repeat"), n) {
				t.Fatalf("it was not said first: %v %v", got.State, err)
			}
			if now := o.now(c.ID); now.State != c.State || now.Version != c.Version {
				t.Errorf("it changed: %v", now.State)
			}
			if got, err := w.do(c, true); err != nil || got.State != w.want {
				t.Errorf("%v %v", got.State, err)
			}
			if actions := o.actions(c.ID); !strings.Contains(strings.Join(actions, " "), "campaign.may_repeat") {
				t.Errorf("not in the audit log: %v", actions)
			}
		})
	}
	c = draft(1)
	if _, err := o.Desk.SendTest(o.Ctx, o.ada, c.ID,
		desk.TestOrder{MessageID: o.First(c.ID).ID, Number: rig.Ordinary(1)[0],
			Token: desk.NewToken()}); err != nil {
		t.Errorf("a test to one's own phone is nobody else's message: %v", err)
	}
}

// TestTheWarningEnds: for new campaigns with the gap's time or with somebody's
// word, for what was made before only with that word.
func TestTheWarningEnds(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.StartedJournal()
	old := r.Draft("CLINIC", "Before", rig.Ordinary(1)...)
	r.asks()
	gap := r.accepted()
	later := r.hoursLater(80)
	if _, err := later.StartCampaign(r.Ctx, r.By, old.ID, desk.StartOrder{Version: old.Version}); !strings.Contains(
		said(err, "may_repeat"), toldTwice) {
		t.Errorf("what was made in the copy: %v", err)
	}
	fresh, err := later.CreateCampaign(r.Ctx, r.By,
		desk.Order{AccountID: r.Account.ID, SenderID: "CLINIC", Numbers: rig.Ordinary(1)[0], Text: "After",
			Token: desk.NewToken()})
	if err != nil {
		t.Fatal(err)
	}
	if warning, err := later.RepeatWarning(r.Ctx, fresh); warning != "" || err != nil {
		t.Errorf("after its time: %q %v", warning, err)
	}
	for who, want := range map[sms.Role]error{sms.Manager: sms.ErrForbidden, sms.Sender: sms.ErrForbidden} {
		if err := r.Desk.CloseGap(r.Ctx, sms.User{ID: 5, Role: who, Active: true}, gap.ID); !errors.Is(err, want) {
			t.Errorf("%s closes it: %v", who, err)
		}
	}
	if err := r.Desk.CloseGap(r.Ctx, r.By, gap.ID+7); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("another gap: %v", err)
	}
	if err := r.Desk.CloseGap(r.Ctx, r.By, gap.ID); err != nil {
		t.Fatal(err)
	}
	if err := r.Desk.CloseGap(r.Ctx, r.By, gap.ID); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("twice: %v", err)
	}
	if _, err := r.Desk.StartCampaign(r.Ctx, r.By, old.ID, desk.StartOrder{Version: old.Version}); err != nil {
		t.Errorf("after somebody said that nothing was sent: %v", err)
	}
}

// TestAProgramIsToldOnce of campaigns that were made since, and each time of
// those that are older.
func TestAProgramIsToldOnce(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.StartedJournal()
	old := r.Draft("CLINIC", "Before", rig.Ordinary(1)...)
	r.asks()
	r.accepted()
	start := func(c sms.Campaign, token int64, said bool) error {
		return second(r.Desk.StartCampaign(r.Ctx, r.By, c.ID,
			desk.StartOrder{Version: c.Version, FromToken: true, Token: token, MayRepeat: said}))
	}
	texts := 0
	fresh := func() sms.Campaign {
		texts++
		return r.Draft("CLINIC", "Hello "+strings.Repeat("x", texts), rig.Ordinary(1)...)
	}
	if err := start(fresh(), 1, false); !strings.Contains(said(err, "may_repeat"), toldTwice) {
		t.Errorf("the first: %v", err)
	}
	if err := start(fresh(), 1, true); err != nil {
		t.Error(err)
	}
	if err := start(fresh(), 1, false); err != nil {
		t.Errorf("told again: %v", err)
	}
	if err := start(fresh(), 2, false); said(err, "may_repeat") == "" {
		t.Errorf("another program: %v", err)
	}
	if err := start(old, 1, false); said(err, "may_repeat") == "" {
		t.Errorf("an older campaign: %v", err)
	}
	if sentence, err := r.Desk.RepeatWarningForProgram(r.Ctx, r.By, r.Account, false, 3); err != nil ||
		!strings.Contains(sentence, toldTwice) {
		t.Errorf("before it is made: %q %v", sentence, err)
	}
	r.asks()
	r.accepted()
	if err := start(fresh(), 1, false); said(err, "may_repeat") == "" {
		t.Errorf("another older state: %v", err)
	}
}

func TestAnOlderStateIsAcceptedByAnAdministratorWithAPassword(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	const password = "correct pony battery lamp"
	boss := r.withPassword(password)
	r.StartedJournal()
	if err := r.Desk.AcceptOlderState(r.Ctx, boss, password, health.RelationCopy, "10.0.0.1"); !errors.Is(err,
		sms.ErrConflict) {
		t.Errorf("no question: %v", err)
	}
	q := r.asks()
	manager := boss
	manager.Role = sms.Manager
	if err := r.Desk.AcceptOlderState(r.Ctx, manager, password, q.Relation, "10.0.0.1"); !errors.Is(err,
		sms.ErrForbidden) {
		t.Errorf("a manager: %v", err)
	}
	if err := r.Desk.AcceptOlderState(r.Ctx, boss, password, health.RelationBehind, "10.0.0.1"); !errors.Is(err,
		sms.ErrConflict) {
		t.Errorf("another question: %v", err)
	}
	for given, want := range map[string]string{"": "Enter your password",
		"wrong pony battery lamp": "Current password is wrong"} {
		if err := r.Desk.AcceptOlderState(r.Ctx, boss, given, q.Relation, "10.0.0.1"); !strings.Contains(said(err, "current"),
			want) {
			t.Errorf("%q: %v", given, err)
		}
	}
	if raw, err := r.DB.ReadSetting(r.Ctx, health.SettingAnswer); raw != "" || err != nil {
		t.Fatalf("an answer was left: %q %v", raw, err)
	}
	if err := r.Desk.AcceptOlderState(r.Ctx, boss, password, q.Relation, "10.0.0.1"); err != nil {
		t.Fatal(err)
	}
	raw, err := r.DB.ReadSetting(r.Ctx, health.SettingAnswer)
	var answer health.Answer
	if err := errors.Join(err, json.Unmarshal([]byte(raw), &answer)); err != nil ||
		answer != (health.Answer{By: "Ada Obi", Relation: q.Relation}) {
		t.Errorf("%+v %v", answer, err)
	}
	if doing, err := r.DB.ReadSetting(r.Ctx, health.SettingAnswering); doing != health.AnswerDoing || err != nil {
		t.Errorf("%q %v", doing, err)
	}
}

// withPassword is an administrator who can sign in.
func (r *kit) withPassword(password string) sms.User {
	r.T.Helper()
	hash, err := argon2id.CreateHash(password, argon2id.DefaultParams)
	if err != nil {
		r.T.Fatal(err)
	}
	u, err := r.DB.CreateUser(r.Ctx, sms.User{Email: "ada@example.com", Name: "Ada Obi", Role: sms.Administrator}, hash, 1)
	if err != nil {
		r.T.Fatal(err)
	}
	return u
}

// TestADraftSaysWhoHasGotIt: 3 of 4 were sent the same by a campaign that this
// copy does not know.
func TestADraftSaysWhoHasGotIt(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	c := r.Start(r.Draft("CLINIC", "Easter offer", rig.Ordinary(3)...))
	stop := r.Dispatch()
	r.Until(c.ID, "sent", func(c sms.Campaign, _ sms.Tally) bool { return c.State == sms.CampaignFinished })
	stop()
	r.forgets()
	r.asks()
	again := r.Draft("CLINIC", "Easter  offer", rig.Ordinary(4)...)
	r.accepted()
	out, err := r.Desk.Outgoing(r.Ctx, again)
	if err != nil || out.Messages != 1 || out.Parts != 1 || len(out.Sent) != 1 || out.Sent[0].Messages != 3 {
		t.Fatalf("%+v %v", out, err)
	}
	if _, err := r.Desk.IncludeSent(r.Ctx, sms.User{ID: 3, Role: sms.Viewer, Active: true}, again.ID); !errors.Is(err,
		sms.ErrForbidden) {
		t.Errorf("a viewer includes them: %v", err)
	}
	if _, err := r.Desk.DeleteRemembered(r.Ctx, sms.User{ID: 3, Role: sms.Manager, Active: true}, 1,
		time.Now().UnixMilli()); !errors.Is(err, sms.ErrForbidden) {
		t.Errorf("a manager forgets: %v", err)
	}
	if _, err := r.Desk.DeleteRemembered(r.Ctx, r.By, 5, 5); !errors.Is(err, sms.ErrNotFound) {
		t.Errorf("no time: %v", err)
	}
	if again, err = r.Desk.IncludeSent(r.Ctx, r.By, again.ID); err != nil || !again.IncludeSent {
		t.Fatalf("%+v %v", again, err)
	}
	if out, err := r.Desk.Outgoing(r.Ctx, again); err != nil || out.Messages != 4 || len(out.Sent) > 0 {
		t.Errorf("included: %+v %v", out, err)
	}
	if again, err = r.Desk.StartCampaign(r.Ctx, r.By, again.ID,
		desk.StartOrder{Version: again.Version, Again: true, MayRepeat: true}); err != nil {
		t.Fatal(err)
	}
	other := r.start2(r.Draft("CLINIC", "Easter offer", rig.Ordinary(5)...))
	if _, err := r.Desk.IncludeSent(r.Ctx, r.By, other.ID); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("a started one: %v", err)
	}
	third := r.Draft("CLINIC", "Easter offer", rig.Ordinary(4)...)
	if out, err := r.Desk.Outgoing(r.Ctx, third); err != nil || out.Messages != 1 {
		t.Errorf("%+v %v", out, err)
	}
	if n, err := r.Desk.DeleteRemembered(r.Ctx, r.By, 1, time.Now().UnixMilli()+1); err != nil || n != 3 {
		t.Errorf("%d %v", n, err)
	}
	if out, err := r.Desk.Outgoing(r.Ctx, third); err != nil || out.Messages != 4 || len(out.Sent) > 0 {
		t.Errorf("forgotten: %+v %v", out, err)
	}
}

// start2 starts a draft all the same.
func (r *kit) start2(c sms.Campaign) sms.Campaign {
	r.T.Helper()
	c, err := r.Desk.StartCampaign(r.Ctx, r.By, c.ID, desk.StartOrder{Version: c.Version, Again: true, MayRepeat: true})
	if err != nil {
		r.T.Fatal(err)
	}
	return c
}

// forgets makes what was licensed something that the database does not know.
func (r *kit) forgets() {
	r.T.Helper()
	raw, err := sql.Open("sqlite", "file:"+filepath.Join(r.Data, "smsdesk.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		r.T.Fatal(err)
	}
	defer func() { _ = raw.Close() }()
	if _, err := raw.ExecContext(r.Ctx, `update attempt set uid = 'lost-' || uid`); err != nil {
		r.T.Fatal(err)
	}
}

func second[T any](_ T, err error) error { return err }
