package desk_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/rig"
	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
	"smsdesk/internal/workers"
)

// known reads everything that the service keeps.
func (r *kit) known() {
	r.T.Helper()
	if err := r.Desk.RefreshAccount(r.Ctx, r.By, r.Account.ID); err != nil {
		r.T.Fatal(err)
	}
}

func (r *kit) groupNamed(name string) (g sms.Group, ok bool) {
	r.T.Helper()
	list, err := r.DB.Groups(r.Ctx, r.Account.ID)
	if err != nil {
		r.T.Fatal(err)
	}
	for _, g := range list {
		if g.Name == name {
			return g, true
		}
	}
	return g, false
}

// through lets the rig's account reach the service by way of wrap.
func (r *kit) through(wrap func(http.Handler) http.Handler) {
	r.T.Helper()
	server := httptest.NewServer(wrap(r.Sandbox.Handler()))
	r.T.Cleanup(server.Close)
	a, err := r.Desk.SaveAccount(r.Ctx, r.By, r.Account.ID, func(a *sms.Account, _ *sms.Credentials) {
		a.BaseURL = server.URL + "/v2"
	})
	if err != nil {
		r.T.Fatal(err)
	}
	r.Account = a
}

// TestTwoPeopleRenameOneGroup: of many who rename a group at once one wins, and
// everybody else is told of it and changes nothing.
func TestTwoPeopleRenameOneGroup(t *testing.T) {
	r := newKit(t, sandbox.Config{Faults: sandbox.Faults{Latency: 5 * time.Millisecond}}, nil)
	r.known()
	const people = 8
	results := make([]error, people)
	var all sync.WaitGroup
	for i := range people {
		all.Go(func() {
			by := sms.User{ID: int64(i + 1), Name: fmt.Sprint("Person ", i), Role: sms.Manager, Active: true}
			_, results[i] = r.Desk.RenameGroup(r.Ctx, by, r.Account.ID, 107, "Parents", fmt.Sprint("Name ", i))
		})
	}
	all.Wait()
	won := -1
	for i, err := range results {
		var bad sms.Invalid
		switch {
		case err == nil && won < 0:
			won = i
		case err == nil:
			t.Errorf("%d and %d both renamed the group", won, i)
		case !errors.As(err, &bad) || !strings.Contains(bad["changed"], "Someone renamed this group"):
			t.Errorf("%d: %v", i, err)
		}
	}
	if _, ok := r.groupNamed(fmt.Sprint("Name ", won)); won < 0 || !ok {
		t.Errorf("nobody won (%d), or the list does not show it", won)
	}
	renamed := 0
	for _, c := range r.Calls() {
		if c.Method == http.MethodPut {
			renamed++
		}
	}
	if renamed != 1 {
		t.Errorf("the service was asked to rename %d times", renamed)
	}
}

// TestAChangeWhoseAnswerIsLostIsLookedFor in the list, and never made again.
func TestAChangeWhoseAnswerIsLostIsLookedFor(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.known()
	cut := func(executed bool) func(http.Handler) http.Handler {
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				if q.Method == http.MethodGet {
					next.ServeHTTP(w, q)
					return
				}
				if executed {
					next.ServeHTTP(httptest.NewRecorder(), q)
				}
				panic(http.ErrAbortHandler)
			})
		}
	}
	r.through(cut(true))
	if said, err := r.Desk.CreateGroup(r.Ctx, r.By, r.Account.ID, 107, "Mothers"); err != nil ||
		!strings.Contains(said, "the provider shows the change") {
		t.Errorf("%q %v", said, err)
	}
	if g, ok := r.groupNamed("Mothers"); !ok || g.ParentID != 107 || !g.MadeHere {
		t.Errorf("%+v %v", g, ok)
	}
	if _, err := r.Desk.DeleteTemplate(r.Ctx, r.By, r.Account.ID, 106); err != nil {
		t.Errorf("deleted although the answer was lost: %v", err)
	}
	if _, err := r.Desk.UpdatePurpose(r.Ctx, r.By, r.Account.ID, 102, "Notices to parents", "Fees"); err != nil {
		t.Errorf("changed although the answer was lost: %v", err)
	}
	r.through(cut(false))
	_, err := r.Desk.RenameGroup(r.Ctx, r.By, r.Account.ID, 108, "Staff", "Teachers")
	var bad sms.Invalid
	if !errors.As(err, &bad) || !strings.Contains(bad["provider"], "the change does not show") {
		t.Errorf("%v", err)
	}
	if _, ok := r.groupNamed("Staff"); !ok {
		t.Error("a change that was not made is kept")
	}
}

// TestWhatAChangeNeeds: the role, a record that is known, and a name that is
// not taken.
func TestWhatAChangeNeeds(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.known()
	sender := sms.User{ID: 9, Name: "Bola", Role: sms.Sender, Active: true}
	id := r.Account.ID
	for name, do := range map[string]func(by sms.User, record int64) error{
		"rename group": func(by sms.User, n int64) error { _, err := r.Desk.RenameGroup(r.Ctx, by, id, n, "x", "y"); return err },
		"delete group": func(by sms.User, n int64) error { _, err := r.Desk.DeleteGroup(r.Ctx, by, id, n, "x"); return err },
		"sub-group":    func(by sms.User, n int64) error { _, err := r.Desk.CreateGroup(r.Ctx, by, id, n, "z"); return err },
		"purpose": func(by sms.User, n int64) error {
			_, err := r.Desk.UpdatePurpose(r.Ctx, by, id, n, "x", "y")
			return err
		},
		"delete sender":  func(by sms.User, n int64) error { _, err := r.Desk.DeleteSenderID(r.Ctx, by, id, n); return err },
		"default sender": func(by sms.User, n int64) error { return r.Desk.ChooseDefaultSender(r.Ctx, by, id, n) },
		"template": func(by sms.User, n int64) error {
			_, err := r.Desk.UpdateTemplate(r.Ctx, by, id, sms.Template{ID: n}, "x", "y")
			return err
		},
		"delete template": func(by sms.User, n int64) error { _, err := r.Desk.DeleteTemplate(r.Ctx, by, id, n); return err },
		"make template":   func(by sms.User, n int64) error { _, err := r.Desk.CreateTemplate(r.Ctx, by, id, n); return err },
	} {
		if err := do(sender, 999); !errors.Is(err, sms.ErrForbidden) {
			t.Errorf("%s by a sender: %v", name, err)
		}
		if err := do(r.By, 999); !errors.Is(err, sms.ErrNotFound) {
			t.Errorf("%s of nothing: %v", name, err)
		}
	}
	_, err := r.Desk.CreateGroup(r.Ctx, r.By, id, 0, " Staff ")
	var bad sms.Invalid
	if !errors.As(err, &bad) || bad["name"] != "There is already a group called “Staff”. Choose another name" {
		t.Errorf("%v", err)
	}
	if _, err := r.Desk.CreateSenderID(r.Ctx, r.By, id, "LIBRARY", "Books"); !errors.As(err, &bad) ||
		!strings.Contains(bad["provider"], "provider dashboard") {
		t.Errorf("made although the account does not allow it: %v", err)
	}
	for _, c := range r.Calls() {
		if c.Method != http.MethodGet && c.Path != "/v2/Group" {
			t.Errorf("%s %s was called", c.Method, c.Path)
		}
	}
}

// TestARecordIsDeletedWhileACampaignWaitsForIt: the campaign stays as it was
// confirmed, and is held at its time with the reason.
func TestARecordIsDeletedWhileACampaignWaitsForIt(t *testing.T) {
	r := newKit(t, sandbox.Config{}, nil)
	r.known()
	if _, err := r.Desk.DeleteSenderID(r.Ctx, r.By, r.Account.ID, 103); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(2 * time.Minute)
	order := func(o desk.Order) sms.Campaign {
		o.AccountID, o.Token = r.Account.ID, desk.NewToken()
		c, err := r.Desk.CreateCampaign(r.Ctx, r.By, o)
		if err != nil {
			t.Fatal(err)
		}
		c, err = r.Desk.ScheduleCampaign(r.Ctx, r.By, c.ID,
			sms.Schedule{At: at.Truncate(time.Minute).UnixMilli(), Zone: "Africa/Lagos", Offset: 3600},
			desk.StartOrder{Version: c.Version, Blind: true})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	sender := order(desk.Order{SenderID: "SCHOOL", Numbers: "08030000101", Text: "School begins."})
	group := order(desk.Order{SenderID: "CLINIC", GroupID: "108", GroupName: "Staff", Text: "Meeting."})
	template := order(desk.Order{SenderID: "CLINIC", Numbers: "08030000102", Template: "Holiday",
		Text: "We are closed on public holidays. In an emergency call 0700 000 0000."})
	var all sync.WaitGroup
	for _, change := range []func() error{
		func() error { _, err := r.Desk.DeleteSenderID(r.Ctx, r.By, r.Account.ID, 102); return err },
		func() error { _, err := r.Desk.DeleteGroup(r.Ctx, r.By, r.Account.ID, 108, "Staff"); return err },
		func() error { _, err := r.Desk.DeleteTemplate(r.Ctx, r.By, r.Account.ID, 109); return err },
	} {
		all.Go(func() {
			if err := change(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	clock := func() time.Time { return time.Now().Add(2 * time.Minute) }
	later := desk.New(rig.Stores(r.DB), r.Orders(), r.Feed, slog.New(slog.DiscardHandler), clock)
	ctx, stop := context.WithCancel(r.Ctx)
	done := make(chan struct{})
	go func() { defer close(done); r.Scheduler(later, clock).Run(ctx) }()
	for c, want := range map[*sms.Campaign]string{
		&sender: "Sender ID SCHOOL is not approved and active",
		&group:  "The group Staff no longer exists at the provider",
	} {
		got, _ := r.Until(c.ID, "being held", rig.Paused)
		if !got.Held() || !strings.Contains(got.Pause, want) || got.SenderID != c.SenderID || got.GroupID != c.GroupID ||
			got.Text != c.Text {
			t.Errorf("%+v, want it held with %q", got, want)
		}
	}
	got, _ := r.Until(template.ID, "its start", func(c sms.Campaign, _ sms.Tally) bool {
		return c.State == sms.CampaignRunning
	})
	if got.Text != template.Text {
		t.Errorf("the text became %q", got.Text)
	}
	stop()
	<-done
}

// TestSendingStopsAtTheFloor, says why, and tells it once.
func TestSendingStopsAtTheFloor(t *testing.T) {
	r := newKit(t, sandbox.Config{Credit: 100_000}, func(a *sms.Account) { a.PerMinute = 100_000 })
	r.known()
	_, err := r.Desk.SaveRecordSettings(r.Ctx, r.By, r.Account.ID, func(s *sms.RecordSettings) {
		s.Floor, s.MailTo = 100_000, "ada@example.com"
	})
	if err != nil {
		t.Fatal(err)
	}
	c := r.Start(r.Draft("CLINIC", "Hello", rig.Ordinary(20)...))
	var mails mailbox
	clock := func() time.Time { return time.Now().Add(time.Minute) }
	reader := workers.NewReader(r.DB, desk.NewReadings(r.DB, r.Orders(), clock), r.Accounts, r.Feed,
		slog.New(slog.DiscardHandler), clock)
	reader.MailWith(&mails)
	ctx, stop := context.WithCancel(r.Ctx)
	done := make(chan struct{})
	go func() { defer close(done); reader.Run(ctx) }()
	got, _ := r.Until(c.ID, "the pause", rig.Paused)
	if got.PauseCode != sms.PauseFloor || !strings.HasPrefix(got.Pause,
		"The balance is ₦1,000.00, at or below the account's minimum.") {
		t.Errorf("%s %q", got.PauseCode, got.Pause)
	}
	for deadline := time.Now().Add(5 * time.Second); mails.text() == "" &&
		time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		r.Feed.Publish(feed.Account(0))
	}
	stop()
	<-done
	if !strings.HasPrefix(mails.text(), "ada@example.com smsdesk: Sending was paused on") ||
		strings.Count(mails.text(), "ada@") != 1 {
		t.Errorf("mailed: %q", mails.text())
	}
	alarms, err := r.DB.Alarms(r.Ctx, r.Account.ID)
	if err != nil || len(alarms) != 1 || alarms[0].Kind != sms.AlarmFloor {
		t.Errorf("%+v %v", alarms, err)
	}
}

// mailbox keeps what is mailed.
type mailbox struct {
	mu   sync.Mutex
	sent []string
}

func (m *mailbox) Mail(_ context.Context, to []string, subject, _ string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sent = append(m.sent, strings.Join(to, ",")+" "+subject)
	return nil
}

func (m *mailbox) text() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.sent, "\n")
}
