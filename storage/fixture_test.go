package storage

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"smsdesk/internal/gateway"
	"smsdesk/internal/migrated"
	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
)

// tb is what *testing.T and *rapid.T have in common.
type tb interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// schema is a data folder to copy; see package migrated.
var schema = &migrated.Template{Make: func(data string) error {
	db, err := Open(context.Background(), Config{Data: data})
	if err != nil {
		return err
	}
	return db.Close()
}}

// open opens the database of a folder, and closes it after the test.
func open(t *testing.T, data string) *DB {
	t.Helper()
	db, err := Open(t.Context(), Config{Data: data})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// fixture is a database with one account that this process may send for.
type fixture struct {
	t       tb
	ctx     context.Context
	db      *DB
	data    string
	account sms.Account
	epoch   int64
	clock   *atomic.Int64
}

const began = 1_700_000_000_000

func newFixture(t *testing.T) *fixture {
	t.Helper()
	data := schema.Folder(t)
	f := &fixture{t: t, ctx: t.Context(), db: open(t, data), data: data, clock: new(atomic.Int64)}
	f.clock.Store(began)
	t.Cleanup(func() { numbersAgree(t, f.db) })
	return f.other(t, "Clinic")
}

// other is the same database seen from another account.
func (f fixture) other(t tb, name string) *fixture {
	t.Helper()
	f.t = t
	a, err := f.db.CreateAccount(f.ctx, anAccount(name), sms.Credentials{ClientID: "client", APIKey: "a-key-of-thirteen"},
		f.now())
	f.must(err)
	f.account = a
	f.must(f.db.PutSenderIDs(f.ctx, a.ID, []sms.SenderID{{ID: 1, Text: "CLINIC", IsActive: true,
		ApproveStatus: "Approved"}}, f.now()))
	f.lease()
	return &f
}

func anAccount(name string) sms.Account {
	return sms.Account{Name: name, BaseURL: "https://api.example.com/v2", PerMinute: 100, CallLimit: 10, URLBudget: 2000,
		MaxParts: 6, Country: "NG",
		Timezone: "Africa/Lagos", Currency: "₦", LateAfter: sms.DefaultLateAfter}
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatalf("%v", err)
	}
}

// now is a clock that moves by a millisecond at each look.
func (f *fixture) now() int64 { return f.clock.Add(1) }

func (f *fixture) lease() {
	f.t.Helper()
	epoch, err := f.db.TakeLease(f.ctx, f.account.ID)
	f.must(err)
	f.epoch = epoch
}

func (f *fixture) newDraft(text string, numbers ...string) sms.Campaign {
	f.t.Helper()
	messages := make([]sms.Message, len(numbers))
	for i, n := range numbers {
		messages[i] = sms.Message{Number: n, Text: text, Parts: 1}
	}
	return f.draftOf(sms.Campaign{Text: text}, messages)
}

// newGroup drafts a campaign to a group kept at the gateway.
func (f *fixture) newGroup(text, group string) sms.Campaign {
	f.t.Helper()
	return f.draftOf(sms.Campaign{Text: text, GroupID: group, GroupName: "Parents"}, []sms.Message{{Text: text, Parts: 2}})
}

func (f *fixture) draftOf(c sms.Campaign, messages []sms.Message) sms.Campaign {
	f.t.Helper()
	c.AccountID, c.Name, c.SenderID, c.CreatedBy, c.CreatedName = f.account.ID, "A campaign", "CLINIC", 1, "Ada Obi"
	made, created, err := f.db.CreateDraft(f.ctx, c, randomHex(16), messages, 0, f.now())
	f.must(err)
	if !created || made.State != sms.CampaignDraft || made.Recipients != int64(len(messages)) {
		f.t.Fatalf("draft %+v, created %v", made, created)
	}
	return made
}

var adaObi = sms.User{ID: 1, Name: "Ada Obi"}

// set orders a campaign into a state, as the desk does.
func (f *fixture) set(id int64, state sms.CampaignState) sms.Campaign {
	f.t.Helper()
	c, err := f.db.UpdateCampaign(f.ctx, id, f.now(), func(c *sms.Campaign) error {
		return orderInto(c, state, time.UnixMilli(f.now()))
	})
	f.must(err)
	return c
}

func orderInto(c *sms.Campaign, state sms.CampaignState, now time.Time) error {
	switch state {
	case sms.CampaignRunning:
		return letGo(c, now)
	case sms.CampaignPaused:
		if c.MayReschedule() {
			return c.Hold(c.Version, sms.PauseLate, "It is late")
		}
		return c.PauseFor("007", "The key is wrong")
	case sms.CampaignStopped:
		return c.Stop()
	case sms.CampaignCancelled:
		return c.Cancel(adaObi, now)
	}
	return c.Unschedule()
}

func letGo(c *sms.Campaign, now time.Time) error {
	switch c.Stands() {
	case sms.CampaignRunning, sms.CampaignFinished:
		return nil
	case sms.CampaignDraft:
		return c.Start(adaObi, c.Version, false, now)
	case sms.CampaignScheduled:
		return c.StartDue(c.Version, now)
	case sms.CampaignHeld:
		return c.Release(adaObi, c.Version, now)
	}
	return c.Continue(*c, now)
}

// start makes a running campaign to the numbers.
func (f *fixture) start(text string, numbers ...string) sms.Campaign {
	f.t.Helper()
	return f.set(f.newDraft(text, numbers...).ID, sms.CampaignRunning)
}

// proven makes a running campaign that needs no canary any more.
func (f *fixture) proven(text string, numbers ...string) sms.Campaign {
	f.t.Helper()
	c := f.start(text, numbers...)
	c, err := f.db.UpdateCampaign(f.ctx, c.ID, f.now(), func(c *sms.Campaign) error {
		c.Proves(sms.CanaryPassed)
		return nil
	})
	f.must(err)
	return c
}

func (f *fixture) campaign(id int64) sms.Campaign {
	f.t.Helper()
	c, err := f.db.Campaign(f.ctx, id)
	f.must(err)
	return c
}

func (f *fixture) claimAfter(after int64, limit int) *sms.Attempt {
	f.t.Helper()
	claim, err := f.db.Claim(f.ctx, f.order(after, limit), f.now())
	f.must(err)
	return claim.Attempt
}

// pairRoom is how many bytes the pairs of a call may take.
const pairRoom = 1850

func (f *fixture) order(after int64, limit int) sms.ClaimOrder {
	return sms.ClaimOrder{AccountID: f.account.ID, Epoch: f.epoch, After: after, Urgent: true, Bulk: true,
		CallLimit: limit, Fill: fillUpTo(pairRoom)}
}

// fillUpTo makes calls whose pairs take at most so many bytes of a URL.
func fillUpTo(room int) func(sms.Call, []sms.Recipient, int) (sms.CallKind, []sms.Recipient) {
	return func(_ sms.Call, messages []sms.Recipient, limit int) (sms.CallKind, []sms.Recipient) {
		return gateway.Fill(messages, limit, room)
	}
}

// claim claims where there must be something to claim.
func (f *fixture) claim(limit int) *sms.Attempt {
	f.t.Helper()
	a := f.claimAfter(0, limit)
	if a == nil {
		f.t.Fatalf("nothing was claimed")
	}
	return a
}

func (f *fixture) license(a *sms.Attempt) *sms.Attempt {
	f.t.Helper()
	f.must(f.db.License(f.ctx, a, f.now()))
	return a
}

func (f *fixture) settle(a *sms.Attempt, o sms.Outcome) (alert bool) {
	f.t.Helper()
	alert, err := f.trySettle(a, o)
	f.must(err)
	return alert
}

func (f *fixture) trySettle(a *sms.Attempt, o sms.Outcome) (alert bool, err error) {
	judge := func(canary sms.Canary, recent []sms.Finished) sms.Verdict { return sms.Judge(o, canary, recent) }
	return f.db.Settle(f.ctx, a, sms.Settle(a.Call.Recipients, o, "NG"), o, "NG", judge, f.now())
}

// answer accepts every recipient of a call under the id "id-<message>".
func answer(a *sms.Attempt) sms.Outcome {
	o := sms.Outcome{Class: sms.ClassAnswered, HTTPStatus: 200, Code: "000"}
	for _, r := range a.Call.Recipients {
		o.Rows = append(o.Rows, sms.ResultRow{Number: r.Number, ProviderID: providerID(r.MessageID)})
	}
	return o
}

func providerID(message int64) string { return fmt.Sprintf("id-%d", message) }

func numbers(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("23480300%05d", i)
	}
	return list
}

func (f *fixture) messages(campaign int64) []sms.Message {
	f.t.Helper()
	list, more, err := f.db.Messages(f.ctx, sms.MessageFilter{CampaignID: campaign, Limit: 100_000})
	f.must(err)
	if more {
		f.t.Fatalf("more than 100,000 messages")
	}
	return list
}

func (f *fixture) message(id int64) sms.Message {
	f.t.Helper()
	m, err := f.db.Message(f.ctx, id)
	f.must(err)
	return m
}

func (f *fixture) wantStates(campaign int64, want map[sms.State]int) {
	f.t.Helper()
	got := map[sms.State]int{}
	for _, m := range f.messages(campaign) {
		got[m.State]++
	}
	if d := cmp.Diff(want, got); d != "" {
		f.t.Fatalf("states of campaign %d (-want +got):\n%s", campaign, d)
	}
}

// tidy does all that removing and cancelling left to be done.
func (f *fixture) tidy() (steps int) {
	f.t.Helper()
	for {
		cancels, err := f.db.Tidy(f.ctx, f.now())
		f.must(err)
		removes, err := f.db.DeleteAbandonedImports(f.ctx, f.now())
		f.must(err)
		if !cancels && !removes {
			return steps
		}
		steps++
	}
}

// one reads a single value.
func one[T any](f *fixture, query string, args ...any) (v T) {
	f.t.Helper()
	f.must(f.db.reader.QueryRowContext(f.ctx, query, args...).Scan(&v))
	return v
}

// column reads one column.
func column[T any](f *fixture, query string, args ...any) (list []T) {
	f.t.Helper()
	rows, err := f.db.reader.QueryContext(f.ctx, query, args...)
	f.must(err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var v T
		f.must(rows.Scan(&v))
		list = append(list, v)
	}
	f.must(rows.Err())
	return list
}

// ofAccount goes by the index of campaigns: the tests' own questions must not
// be the slow ones.
const ofAccount = "campaign_id in (select id from campaign where account_id = $1)"

// check holds the account against what must always be true: the tally is a
// recount, nobody is lost, what is in flight is exactly what is claimed,
// sending or in doubt, every open message has its open attempt, and a finished
// campaign has nothing left to send.
func (f *fixture) check() {
	f.t.Helper()
	for _, id := range column[int64](f, "select id from campaign where account_id = $1 and state <> 'hidden'",
		f.account.ID) {
		f.checkCampaign(f.campaign(id))
	}
	doubtful := column[int64](f, "select id from message where "+ofAccount+
		" and state in ('claimed', 'sending', 'in_doubt') order by id", f.account.ID)
	flying := column[int64](f, "select message_id from in_flight where account_id = $1 order by message_id", f.account.ID)
	if d := cmp.Diff(doubtful, flying); d != "" {
		f.t.Fatalf("in flight (-messages +table):\n%s", d)
	}
	lost := column[int64](f, `select m.id from message m left join attempt a on a.id = m.attempt_id where m.`+ofAccount+`
  and (m.state = 'claimed' and coalesce(a.state, '') <> 'prepared' or m.state = 'sending' and coalesce(a.state, '') <> 'sending')`, f.account.ID)
	if len(lost) > 0 {
		f.t.Fatalf("messages %v are under way without an open attempt", lost)
	}
	idle := column[int64](f,
		`select a.id from attempt a where a.account_id = $1 and a.state in ('prepared', 'sending') and a.recipients <>
  (select count(*) from message m where m.campaign_id = a.campaign_id and m.attempt_id = a.id
  and m.state = case when a.state = 'sending' then 'sending' else 'claimed' end)`, f.account.ID)
	if len(idle) > 0 {
		f.t.Fatalf("attempts %v do not hold their recipients", idle)
	}
	f.checkTraffic()
}

// checkTraffic recounts what pages show without counting.
func (f *fixture) checkTraffic() {
	f.t.Helper()
	want, err := recountTraffic(f.ctx, f.db.reader, &phone.Networks{})
	f.must(err)
	got, err := storedTraffic(f.ctx, f.db.reader)
	f.must(err)
	f.must(storedFlow(f.ctx, f.db.reader, got))
	kept, counted := counts{}, counts{}
	kept.flow(got)
	counted.flow(want)
	if list := differences(kept, counted); len(list) > 0 {
		f.t.Fatalf("over time: %v", list)
	}
	for what, d := range map[string]string{"traffic": cmp.Diff(want.slots, got.slots, cmp.AllowUnexported(slotKey{})),
		"quarters": cmp.Diff(want.quarters, got.quarters, cmp.AllowUnexported(quarterKey{})), "cuts": cmp.Diff(want.cuts, got.cuts, cmp.AllowUnexported(cutKey{}))} {
		if d != "" {
			f.t.Fatalf("%s (-recount +counted):\n%s", what, d)
		}
	}
}

func (f *fixture) checkCampaign(c sms.Campaign) {
	f.t.Helper()
	got, err := f.db.Tally(f.ctx, c.ID)
	f.must(err)
	want, unsent := sms.Tally{}, 0
	counted, err := f.db.CountCampaign(f.ctx, c.ID)
	f.must(err)
	for _, m := range f.messages(c.ID) {
		want[m.Standing().Key]++
		counted.States[m.State]--
		if m.State == sms.Accepted && m.Delivery.Status == "" {
			counted.Delivery[sms.NoReport]--
		} else if m.State == sms.Accepted {
			counted.Delivery[m.Delivery.Status]--
		}
		if m.State.Unsent() || m.State == sms.Sending {
			unsent++
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		f.t.Fatalf("tally of campaign %d (-recount +tally):\n%s", c.ID, d)
	}
	for state, n := range counted.States {
		if n != 0 {
			f.t.Fatalf("campaign %d counts %d more messages that are %s than there are", c.ID, n, state)
		}
	}
	for status, n := range counted.Delivery {
		if n != 0 {
			f.t.Fatalf("campaign %d counts %d more messages reported %s than there are", c.ID, n, status)
		}
	}
	if got.Total() != c.Recipients {
		f.t.Fatalf("campaign %d has %d recipients and %d messages", c.ID, c.Recipients, got.Total())
	}
	if c.State == sms.CampaignFinished && unsent > 0 {
		f.t.Fatalf("campaign %d is finished and has %d messages to send", c.ID, unsent)
	}
	if c.Started() && c.State != sms.CampaignFinished && c.State != sms.CampaignCancelled && unsent == 0 {
		f.t.Fatalf("campaign %d is %s and has nothing left to send", c.ID, c.State)
	}
}
