package desk_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/rig"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

// quartet is a rig in which more than three recipients need a second person.
type quartet struct {
	*kit
	ada, bola, chidi, sam sms.User // administrator, approver, manager, sender
}

func newQuartet(t *testing.T) *quartet {
	t.Helper()
	o := &quartet{kit: newKit(t, sandbox.Config{}, func(a *sms.Account) { a.ApproveAbove, a.ConfirmCountAbove = 3, 2 })}
	hire := func(name string, role sms.Role) sms.User {
		u, err := o.DB.CreateUser(o.Ctx, sms.User{Email: name + "@example.com", Name: name, Role: role}, "x", 1)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	o.ada, o.bola, o.chidi, o.sam = hire("Ada", sms.Administrator), hire("Bola", sms.Approver), hire("Chidi", sms.Manager),
		hire("Sam", sms.Sender)
	o.By = o.ada
	return o
}

// asked is a campaign to n people that waits for approval.
func (o *quartet) asked(n int, at sms.Schedule) sms.Campaign {
	o.T.Helper()
	c := o.Draft("CLINIC", "Hello "+desk.NewToken()[:8], rig.Ordinary(n)...)
	c, err := o.Desk.AskApproval(o.Ctx, o.ada, c.ID, desk.Ask{StartOrder: desk.StartOrder{Version: c.Version}, At: at})
	if err != nil {
		o.T.Fatal(err)
	}
	return c
}

func (o *quartet) now(id int64) sms.Campaign {
	o.T.Helper()
	c, err := o.DB.Campaign(o.Ctx, id)
	if err != nil {
		o.T.Fatal(err)
	}
	return c
}

func (o *quartet) actions(id int64) (list []string) {
	o.T.Helper()
	lines, err := o.DB.AuditOf(o.Ctx, feed.Campaign(id))
	if err != nil {
		o.T.Fatal(err)
	}
	for _, l := range lines {
		list = append(list, l.Action+" by "+l.User.Name)
	}
	return list
}

// Nothing but a second person's yes lets a large draft of a person go.
func TestALargeCampaignNeedsASecondPerson(t *testing.T) {
	o := newQuartet(t)
	at := sms.ScheduleAt(time.Now().Add(3 * time.Hour))
	c := o.Draft("CLINIC", "Hello", rig.Ordinary(4)...)
	order := desk.StartOrder{Version: c.Version, Typed: "4"}
	const want = "Campaigns to more than 3 recipients need approval. Ask for approval instead"
	for _, by := range []sms.User{o.ada, o.bola, o.sam} {
		if _, err := o.Desk.StartCampaign(o.Ctx, by, c.ID, order); said(err, "approval") != want {
			t.Errorf("%s starts it: %v", by.Name, err)
		}
		if _, err := o.Desk.ScheduleCampaign(o.Ctx, by, c.ID, at, order); said(err, "approval") != want {
			t.Errorf("%s schedules it: %v", by.Name, err)
		}
		if _, err := o.Desk.HandOverCampaign(o.Ctx, by, c.ID, at, order); said(err, "approval") != want {
			t.Errorf("%s hands it over: %v", by.Name, err)
		}
	}
	small := o.Draft("CLINIC", "Hello", rig.Ordinary(3)...)
	if _, err := o.Desk.StartCampaign(o.Ctx, o.sam, small.ID,
		desk.StartOrder{Version: small.Version, Typed: "3"}); err != nil {
		t.Errorf("three: %v", err)
	}
	// Blocking somebody makes it no smaller: it could be undone after the start.
	if _, _, err := o.Desk.BlockNumbers(o.Ctx, o.ada,
		desk.BlockOrder{AccountID: o.Account.ID, Numbers: rig.Ordinary(4)[3]}); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Desk.StartCampaign(o.Ctx, o.ada, c.ID,
		desk.StartOrder{Version: c.Version, Typed: "3", Again: true}); said(err, "approval") != want {
		t.Errorf("after a number was blocked: %v", err)
	}
	if _, err := o.Desk.StartCampaign(o.Ctx, o.sam, c.ID, desk.StartOrder{Version: c.Version, FromToken: true}); said(err,
		"approval") != want {
		t.Errorf("a program is not asked: %v", err)
	}
	group, err := o.Desk.CreateCampaign(o.Ctx, o.ada, desk.Order{AccountID: o.Account.ID, SenderID: "CLINIC", GroupID: "7",
		GroupName: "All", Text: "Hello", Token: desk.NewToken()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Desk.StartCampaign(o.Ctx, o.ada, group.ID, desk.StartOrder{Version: group.Version}); !strings.HasPrefix(
		said(err, "approval"), "Campaigns to a group need") {
		t.Errorf("a group: %v", err)
	}
}

func TestApproveStartsWhatWasAskedFor(t *testing.T) {
	o := newQuartet(t)
	c := o.asked(4, sms.Schedule{})
	if c.State != sms.CampaignAwaiting || c.Started() || c.StartedBy != 0 || c.Approval.AskedName != "Ada" {
		t.Fatalf("asked: %+v", c)
	}
	order := desk.ApproveOrder{Version: c.Version}
	for _, by := range []sms.User{o.ada, o.sam} {
		if _, err := o.Desk.ApproveCampaign(o.Ctx, by, c.ID, order); !errors.Is(err, sms.ErrForbidden) {
			t.Errorf("%s approves: %v", by.Name, err)
		}
		if _, err := o.Desk.ReturnCampaign(o.Ctx, by, c.ID, c.Version, "no"); !errors.Is(err, sms.ErrForbidden) {
			t.Errorf("%s sends back: %v", by.Name, err)
		}
	}
	gone := o.bola
	gone.Active = false
	if _, err := o.Desk.ApproveCampaign(o.Ctx, gone, c.ID, order); !errors.Is(err, sms.ErrForbidden) {
		t.Errorf("somebody who left approves: %v", err)
	}
	// It is frozen.
	if _, err := o.Desk.RenameCampaign(o.Ctx, o.ada, c.ID, "Other"); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("renamed: %v", err)
	}
	if _, err := o.Desk.ProposeSchedule(o.Ctx, o.ada, c.ID, sms.ScheduleAt(time.Now().Add(time.Hour))); !errors.Is(err,
		sms.ErrConflict) {
		t.Errorf("another time: %v", err)
	}
	if _, err := o.Desk.StartCampaign(o.Ctx, o.ada, c.ID,
		desk.StartOrder{Version: c.Version, FromToken: true}); !errors.Is(err, sms.ErrConflict) {
		t.Errorf("started by a token: %v", err)
	}
	if _, err := o.Desk.ApproveCampaign(o.Ctx, o.bola, c.ID, desk.ApproveOrder{Version: c.Version - 1}); !errors.Is(err,
		sms.ErrConflict) {
		t.Errorf("another version approved: %v", err)
	}
	done, err := o.Desk.ApproveCampaign(o.Ctx, o.bola, c.ID, order)
	if err != nil || done.State != sms.CampaignRunning || done.StartedName != "Ada" ||
		done.Approval.ApprovedName != "Bola" || done.Approval.ApprovedAt == 0 {
		t.Fatalf("%+v %v", done, err)
	}
	if twice, err := o.Desk.ApproveCampaign(o.Ctx, o.bola, c.ID, order); err != nil || twice.Version != done.Version {
		t.Errorf("pressed twice: %v", err)
	}
	if got := o.actions(c.ID); !slices.Equal(got, []string{"campaign.ask by Ada", "campaign.approve by Bola"}) {
		t.Errorf("audited: %q", got)
	}
	defer o.Dispatch()()
	o.Until(c.ID, "its end", rig.Finished)
	for n, times := range o.Ledger() {
		if times != 1 {
			t.Errorf("%s got it %d times", n, times)
		}
	}
	if len(o.Ledger()) != 4 {
		t.Errorf("%d were sent to", len(o.Ledger()))
	}
}

func TestApproveChecksAgain(t *testing.T) {
	o := newQuartet(t)
	pending := o.Draft("PENDING1", "Hello", rig.Ordinary(4)...)
	pending, err := o.Desk.AskApproval(o.Ctx, o.ada, pending.ID,
		desk.Ask{StartOrder: desk.StartOrder{Version: pending.Version}})
	if err != nil {
		t.Fatal(err)
	}
	o.Know("CLINIC")
	if _, err := o.Desk.ApproveCampaign(o.Ctx, o.bola, pending.ID, desk.ApproveOrder{Version: pending.Version}); said(err,
		"sender_id") == "" {
		t.Errorf("the sender ID is gone: %v", err)
	}
	c := o.asked(4, sms.Schedule{})
	same := o.Draft("CLINIC", c.Text, rig.Ordinary(4)...)
	above := func(n int64) {
		if _, err := o.DB.UpdateAccount(o.Ctx, o.Account.ID, 1, func(a *sms.Account, _ *sms.Credentials) error {
			a.ApproveAbove = n
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	above(0)
	if _, err := o.Desk.StartCampaign(o.Ctx, o.sam, same.ID,
		desk.StartOrder{Version: same.Version, Typed: "4"}); err != nil {
		t.Fatal(err)
	}
	above(3)
	if _, err := o.Desk.ApproveCampaign(o.Ctx, o.bola, c.ID, desk.ApproveOrder{Version: c.Version}); said(err,
		"again") == "" {
		t.Errorf("the same campaign went out meanwhile: %v", err)
	}
	if _, err := o.Desk.ApproveCampaign(o.Ctx, o.bola, c.ID,
		desk.ApproveOrder{Version: c.Version, Again: true}); err != nil {
		t.Errorf("meant to go out again: %v", err)
	}
}

func TestApprovedForATime(t *testing.T) {
	o := newQuartet(t)
	at := sms.ScheduleAt(time.Now().Add(3 * time.Hour))
	for name, to := range map[string]struct {
		passed time.Duration // since the chosen time
		want   sms.CampaignState
	}{"to come": {-time.Hour, sms.CampaignScheduled}, "due now": {10 * time.Minute, sms.CampaignScheduled},
		"long past": {31 * time.Minute, sms.CampaignPaused}} {
		c := o.asked(4, at)
		moved, err := o.DB.UpdateCampaign(o.Ctx, c.ID, 1, func(c *sms.Campaign) error {
			c.SendAt = time.Now().Add(-to.passed).UnixMilli()
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := o.Desk.ApproveCampaign(o.Ctx, o.bola, c.ID, desk.ApproveOrder{Version: moved.Version})
		if err != nil || got.State != to.want || got.StartedAt != 0 || got.Started() {
			t.Errorf("%s: %s %q %v", name, got.State, got.Pause, err)
		}
		if to.want == sms.CampaignPaused && (!got.Held() || !strings.Contains(got.Pause, "approved after that time")) {
			t.Errorf("%s: %q", name, got.Pause)
		}
	}
	// Whoever cancels the schedule cancels the approval too.
	c := o.asked(4, at)
	if _, err := o.Desk.ApproveCampaign(o.Ctx, o.bola, c.ID, desk.ApproveOrder{Version: c.Version}); err != nil {
		t.Fatal(err)
	}
	c, err := o.Desk.CancelSchedule(o.Ctx, o.ada, c.ID)
	if err != nil || c.Approval != (sms.Approval{}) {
		t.Errorf("%+v %v", c.Approval, err)
	}
	if _, err := o.Desk.StartCampaign(o.Ctx, o.ada, c.ID, desk.StartOrder{Version: c.Version, Typed: "4"}); said(err,
		"approval") == "" {
		t.Errorf("an old approval counts: %v", err)
	}
}

func TestHandedOverOnlyInTime(t *testing.T) {
	o := newQuartet(t)
	c := o.Draft("CLINIC", "Hello", rig.Ordinary(4)...)
	order := desk.Ask{StartOrder: desk.StartOrder{Version: c.Version}, At: sms.ScheduleAt(time.Now().Add(time.Minute)),
		HandOver: true}
	if _, err := o.Desk.AskApproval(o.Ctx, o.ada, c.ID, order); said(err, "time") == "" {
		t.Errorf("asked for in a minute: %v", err)
	}
	order.At = sms.ScheduleAt(time.Now().Add(2 * time.Hour))
	c, err := o.Desk.AskApproval(o.Ctx, o.ada, c.ID, order)
	if err != nil || !c.HandOver {
		t.Fatal(err)
	}
	late, err := o.DB.UpdateCampaign(o.Ctx, c.ID, 1, func(c *sms.Campaign) error {
		c.SendAt = time.Now().Add(time.Minute).UnixMilli()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Desk.ApproveCampaign(o.Ctx, o.bola, c.ID, desk.ApproveOrder{Version: late.Version}); said(err,
		"time") == "" {
		t.Errorf("approved too late: %v", err)
	}
	if back, err := o.Desk.WithdrawApproval(o.Ctx, o.ada, c.ID); err != nil || back.HandOver || back.SendAt != 0 ||
		!back.MayStart() {
		t.Errorf("taken back: %+v %v", back, err)
	}
}

func TestSentBackAndTakenBack(t *testing.T) {
	o := newQuartet(t)
	c := o.asked(4, sms.Schedule{})
	for reason, want := range map[string]string{" ": "Enter what has to change",
		strings.Repeat("x", 501): "Reason must be 500 characters or fewer"} {
		if _, err := o.Desk.ReturnCampaign(o.Ctx, o.bola, c.ID, c.Version, reason); said(err, "reason") != want {
			t.Errorf("%q: %v", reason, err)
		}
	}
	back, err := o.Desk.ReturnCampaign(o.Ctx, o.bola, c.ID, c.Version, " The date is\nwrong. ")
	if err != nil || !back.MayStart() || back.Approval.Returned != "The date is wrong." ||
		back.Approval.ReturnedName != "Bola" || back.Approval.AskedBy != 0 {
		t.Fatalf("%+v %v", back, err)
	}
	again, err := o.Desk.AskApproval(o.Ctx, o.sam, c.ID, desk.Ask{StartOrder: desk.StartOrder{Version: back.Version}})
	if err != nil || again.Approval.Returned != "" {
		t.Fatalf("%+v %v", again, err)
	}
	if _, err := o.Desk.ApproveCampaign(o.Ctx, o.ada, c.ID, desk.ApproveOrder{Version: again.Version}); !errors.Is(err,
		sms.ErrForbidden) {
		t.Errorf("the author approves what somebody else asked for: %v", err)
	}
	if _, err := o.Desk.WithdrawApproval(o.Ctx, sms.User{ID: 9, Role: sms.Viewer, Active: true}, c.ID); !errors.Is(err,
		sms.ErrForbidden) {
		t.Errorf("a viewer takes it back: %v", err)
	}
	if draft, err := o.Desk.WithdrawApproval(o.Ctx, o.sam, c.ID); err != nil || !draft.MayStart() ||
		draft.Approval != (sms.Approval{}) {
		t.Errorf("%+v %v", draft, err)
	}
	if got := o.actions(c.ID); !slices.Equal(got,
		[]string{"campaign.ask by Ada", "campaign.return by Bola", "campaign.ask by Sam", "campaign.take_back by Sam"}) {
		t.Errorf("audited: %q", got)
	}
}

func TestNobodyToAsk(t *testing.T) {
	o := newQuartet(t)
	for _, u := range []sms.User{o.bola, o.chidi} {
		if _, err := o.Desk.SaveUser(o.Ctx, o.ada, u.ID, u.Role, false); err != nil {
			t.Fatal(err)
		}
	}
	c := o.Draft("CLINIC", "Hello", rig.Ordinary(4)...)
	if _, err := o.Desk.AskApproval(o.Ctx, o.ada, c.ID,
		desk.Ask{StartOrder: desk.StartOrder{Version: c.Version}}); !strings.HasPrefix(said(err, "approval"),
		"No one else can approve it") {
		t.Errorf("%v", err)
	}
	if _, err := o.Desk.SaveUser(o.Ctx, o.ada, o.bola.ID, sms.Sender, true); err != nil {
		t.Fatal(err)
	}
	if can, err := o.Desk.Approvers(o.Ctx, o.ada, c); err != nil || len(can) != 0 {
		t.Errorf("%v %v", can, err)
	}
	small := o.Draft("CLINIC", "Hello", rig.Ordinary(3)...)
	if _, err := o.Desk.AskApproval(o.Ctx, o.ada, small.ID,
		desk.Ask{StartOrder: desk.StartOrder{Version: small.Version}}); !strings.Contains(said(err, "approval"),
		"no longer needs approval") {
		t.Errorf("a small one: %v", err)
	}
}

// race gives two orders about one campaign at once and says how they ended.
func race(first, second func() error) (errs [2]error) {
	var wait sync.WaitGroup
	begin := make(chan struct{})
	for i, order := range []func() error{first, second} {
		wait.Add(1)
		go func() { defer wait.Done(); <-begin; errs[i] = order() }()
	}
	close(begin)
	wait.Wait()
	return errs
}

// One decision about a campaign counts, however many are made at once.
func TestDecisionsAtOnce(t *testing.T) {
	o := newQuartet(t)
	approve := func(by sms.User, c sms.Campaign) func() error {
		return func() error {
			_, err := o.Desk.ApproveCampaign(o.Ctx, by, c.ID, desk.ApproveOrder{Version: c.Version})
			return err
		}
	}
	for range 12 {
		c := o.asked(4, sms.Schedule{})
		errs := race(approve(o.bola, c), approve(o.chidi, c))
		if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs[:]...), sms.ErrConflict) {
			t.Fatalf("two approvers: %v, %v", errs[0], errs[1])
		}
		if got := o.now(c.ID); got.State != sms.CampaignRunning || len(o.actions(c.ID)) != 2 {
			t.Fatalf("two approvers: %s, %q", got.State, o.actions(c.ID))
		}

		c = o.asked(4, sms.Schedule{})
		errs = race(approve(o.bola, c), func() error { _, err := o.Desk.WithdrawApproval(o.Ctx, o.ada, c.ID); return err })
		want := sms.CampaignRunning
		if errs[0] != nil {
			want = sms.CampaignDraft
		}
		if got := o.now(c.ID); (errs[0] == nil) == (errs[1] == nil) || got.State != want {
			t.Fatalf("approved and taken back: %v, %v, then %s", errs[0], errs[1], got.State)
		}

		c = o.asked(4, sms.Schedule{})
		errs = race(approve(o.bola, c), func() error { _, err := o.Desk.CancelCampaign(o.Ctx, o.ada, c.ID); return err })
		if got := o.now(c.ID); errs[1] != nil || got.State != sms.CampaignCancelled ||
			(got.StartedAt > 0) != (errs[0] == nil) {
			t.Fatalf("approved and cancelled: %v, %v, then %s started at %d", errs[0], errs[1], got.State, got.StartedAt)
		}

		c = o.asked(4, sms.Schedule{})
		errs = race(approve(o.bola, c), func() error {
			_, err := o.Desk.ReturnCampaign(o.Ctx, o.chidi, c.ID, c.Version, "no")
			return err
		})
		if (errs[0] == nil) == (errs[1] == nil) {
			t.Fatalf("approved and sent back: %v, %v", errs[0], errs[1])
		}
	}
	if len(o.Ledger()) != 0 {
		t.Errorf("something was sent without the dispatcher: %v", o.Ledger())
	}
}
