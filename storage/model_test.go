package storage

import (
	"flag"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"smsdesk/internal/sms"
)

// model is a random life of one account, with what the service would have
// executed as the oracle: a message is executed at most once, only with a
// licence, and what we say of it is true.
type model struct {
	*fixture
	campaigns []int64
	claimed   []*sms.Attempt // prepared
	flying    []*sms.Attempt // licensed
	dead      []*sms.Attempt // settled, or of a process that was killed
	executed  map[int64]int  // by message: what the service did
	blocked   map[string]bool
	given     []sms.DeliveryReport
}

// pick draws one of a list, the zero value from an empty one.
func pick[T any](t *rapid.T, list []T, label string) (one T) {
	if len(list) == 0 {
		return one
	}
	return list[rapid.IntRange(0, len(list)-1).Draw(t, label)]
}

func without(list []*sms.Attempt, a *sms.Attempt) []*sms.Attempt {
	return slices.DeleteFunc(list, func(b *sms.Attempt) bool { return a == b })
}

// order brings a campaign into a state, where a person may.
func (m *model) order(t *rapid.T, may func(sms.Campaign) bool, state sms.CampaignState) {
	if id := pick(t, m.campaigns, "campaign"); id > 0 && may(m.campaign(id)) {
		m.set(id, state)
	}
}

// Create drafts a campaign of a few numbers, often repeated, with few texts,
// so that the same message is often wanted twice, in calls as a plan or as
// nobody made them.
func (m *model) Create(t *rapid.T) {
	var list []sms.Message
	texts := rapid.SampledFrom([]int{0, 0, 2}).Draw(t, "texts")
	for range rapid.IntRange(1, 12).Draw(t, "recipients") {
		list = append(list, sms.Message{Number: m.number(t),
			Text: fmt.Sprint("text ", rapid.IntRange(0, texts).Draw(t, "text")),
			Call: int32(rapid.IntRange(0, 3).Draw(t, "call")), Parts: 1})
	}
	m.campaigns = append(m.campaigns, m.draftOf(sms.Campaign{}, list).ID)
}

// Cancel gives a campaign up for good, whatever is under way.
func (m *model) Cancel(t *rapid.T) { m.order(t, sms.Campaign.MayCancel, sms.CampaignCancelled) }

func (m *model) Tidy(*rapid.T) { m.must(second(m.db.Tidy(m.ctx, m.now()))) }

func (m *model) Start(t *rapid.T) { m.order(t, sms.Campaign.MayStart, sms.CampaignRunning) }

func (m *model) Stop(t *rapid.T) { m.order(t, sms.Campaign.MayStop, sms.CampaignStopped) }

func (m *model) Continue(t *rapid.T) { m.order(t, sms.Campaign.MayContinue, sms.CampaignRunning) }

func (m *model) Resume(t *rapid.T) {
	m.must(second(m.db.ResumeAccount(m.ctx, m.account.ID)))
}

// Block and Unblock are a person at the list of blocked numbers.
func (m *model) Block(t *rapid.T) {
	n := m.number(t)
	m.block(sms.BlockedByStaff, n)
	m.blocked[n] = true
}

func (m *model) Unblock(t *rapid.T) {
	n := m.number(t)
	list, err := m.db.BlockedAmong(m.ctx, m.account.ID, []string{n})
	m.must(err)
	if _, is := list[n]; is != m.blocked[n] {
		m.t.Fatalf("%s is blocked: %v, want %v", n, is, m.blocked[n])
	}
	if m.blocked[n] {
		m.must(second(m.db.Unblock(m.ctx, list[n].ID)))
		delete(m.blocked, n)
	}
}

func (m *model) number(t *rapid.T) string {
	return fmt.Sprintf("23480300%05d", rapid.IntRange(0, 15).Draw(t, "number"))
}

// holdsBlocked says that an attempt is about to send to a blocked number.
func (m *model) holdsBlocked(a *sms.Attempt) bool {
	return slices.ContainsFunc(a.Call.Recipients, func(r sms.Recipient) bool { return m.blocked[r.Number] })
}

func (m *model) Claim(t *rapid.T) {
	a := m.claimAfter(rapid.SampledFrom(append(m.campaigns, 0)).Draw(t, "after"), rapid.IntRange(1, 8).Draw(t, "limit"))
	if a == nil {
		return
	}
	if m.holdsBlocked(a) {
		m.t.Fatalf("a blocked number is claimed: %+v", a.Call.Recipients)
	}
	if a.Canary && a.Recipients > sms.CanarySize {
		m.t.Fatalf("a canary of %d", a.Recipients)
	}
	seen := map[string]bool{}
	for _, r := range a.Call.Recipients {
		if seen[r.Number] {
			m.t.Fatalf("%s is twice in one call", r.Number)
		}
		seen[r.Number] = true
	}
	for _, b := range slices.Concat(m.claimed, m.flying) {
		if b.CampaignID == a.CampaignID && (a.Canary || b.Canary) {
			m.t.Fatalf("a canary does not fly alone: %+v beside %+v", a, b)
		}
	}
	m.claimed = append(m.claimed, a)
}

// License licenses, and expects a refusal whenever something has stopped it.
func (m *model) License(t *rapid.T) {
	a := pick(t, m.claimed, "attempt")
	if a == nil {
		return
	}
	c := m.campaign(a.CampaignID)
	account, err := m.db.Account(m.ctx, m.account.ID)
	m.must(err)
	err = m.db.License(m.ctx, a, m.now())
	if may := c.State == sms.CampaignRunning && account.Pause == "" && a.Epoch == m.epoch &&
		!m.holdsBlocked(a); may != (err == nil) {
		m.t.Fatalf("licence of a campaign %s, account %q, epoch %d of %d, blocked %v: %v", c.State, account.Pause, a.Epoch,
			m.epoch, m.holdsBlocked(a), err)
	}
	m.claimed = without(m.claimed, a)
	if err != nil {
		m.settle(a, sms.Outcome{Class: sms.ClassNothingLeft, Reason: "no licence"})
		return
	}
	m.flying = append(m.flying, a)
}

func (m *model) LicenseAgain(t *rapid.T) {
	a := pick(t, slices.Concat(m.flying, m.dead), "attempt")
	if a == nil {
		return
	}
	twin := *a
	if err := m.db.License(m.ctx, &twin, m.now()); err == nil {
		m.t.Fatalf("attempt %d was licensed twice", a.ID)
	}
}

// Settle lets the service execute or not, and tells what was seen of it.
func (m *model) Settle(t *rapid.T) {
	if a := pick(t, m.flying, "attempt"); a != nil {
		m.flying = without(m.flying, a)
		m.settle(a, m.outcome(t, a))
		m.dead = append(m.dead, a)
	}
}

func (m *model) SettleAgain(t *rapid.T) {
	a := pick(t, m.dead, "attempt")
	if a == nil {
		return
	}
	if _, err := m.trySettle(a, answer(a)); err == nil {
		m.t.Fatalf("attempt %d was settled twice", a.ID)
	}
}

func (m *model) outcome(t *rapid.T, a *sms.Attempt) sms.Outcome {
	class := rapid.SampledFrom([]sms.Class{sms.ClassAnswered, sms.ClassAnswered, sms.ClassAnswered, sms.ClassNothingLeft,
		sms.ClassRate, sms.ClassListed, sms.ClassHold, sms.ClassDoubt}).Draw(t, "class")
	o := sms.Outcome{Class: class, Reason: "why"}
	switch class {
	case sms.ClassListed:
		o.Code = rapid.SampledFrom([]string{"003", "007"}).Draw(t, "code")
	case sms.ClassDoubt:
		m.execute(a, rapid.Bool().Draw(t, "executed"))
	case sms.ClassAnswered:
		for _, r := range a.Call.Recipients {
			row := sms.ResultRow{Number: r.Number, ProviderID: providerID(r.MessageID)}
			switch rapid.IntRange(0, 5).Draw(t, "row") {
			case 0:
				o.Rows = append(o.Rows, sms.ResultRow{Number: r.Number, Code: "401", Description: "filter"})
				continue
			case 1: // the answer leaves it out, whether it was executed or not
				if rapid.Bool().Draw(t, "executed") {
					m.executed[r.MessageID]++
				}
				continue
			}
			m.executed[r.MessageID]++
			o.Rows = append(o.Rows, row)
			m.given = append(m.given, sms.DeliveryReport{AccountID: a.AccountID, ProviderID: row.ProviderID, Mobile: r.Number})
		}
		o.Rows = rapid.Permutation(o.Rows).Draw(t, "rows")
	}
	return o
}

func (m *model) execute(a *sms.Attempt, really bool) {
	for _, id := range a.Messages {
		if really {
			m.executed[id]++
		}
	}
}

// Crash kills the process: what was flying may have been executed.
func (m *model) Crash(t *rapid.T) {
	for _, a := range m.flying {
		m.execute(a, rapid.Bool().Draw(t, "executed"))
	}
	m.lease()
	released, doubtful, err := m.db.Recover(m.ctx, m.account.ID, m.now())
	m.must(err)
	var wantReleased, wantDoubtful int64
	for _, a := range m.claimed {
		wantReleased += int64(a.Recipients)
	}
	for _, a := range m.flying {
		wantDoubtful += int64(a.Recipients)
	}
	if released != wantReleased || doubtful != wantDoubtful {
		m.t.Fatalf("%d released and %d in doubt, want %d and %d", released, doubtful, wantReleased, wantDoubtful)
	}
	m.dead = append(append(m.dead, m.claimed...), m.flying...)
	m.claimed, m.flying = nil, nil
}

func (m *model) Report(t *rapid.T) {
	if len(m.given) == 0 {
		return
	}
	r := pick(t, m.given, "report")
	r.Status = rapid.SampledFrom([]string{"DELIVRD", "UNDELIV", "ACCEPTD", "UNKNOWN", "ENROUTE", "BLACKLIST"}).Draw(t,
		"status")
	if rapid.IntRange(0, 5).Draw(t, "wrong") == 0 {
		r.Mobile = "2348039999999"
	}
	m.apply(r, r)
	m.reported()
}

// reported brings our own list up to date: a number is blocked from the
// moment on at which a message of it stands as such.
func (m *model) reported() {
	for _, n := range column[string](m.fixture, "select number from blocked where account_id = $1 and kind = 'report'",
		m.account.ID) {
		if one[int](m.fixture, "select count(*) from message where account_id = $1 and number = $2 and state = 'accepted'",
			m.account.ID, n) == 0 {
			m.t.Fatalf("%s is blocked by a report that no message had", n)
		}
		m.blocked[n] = true
	}
}

func (m *model) Late(t *rapid.T) {
	m.must(second(m.db.MarkLate(m.ctx, m.account.ID, m.clock.Load(), m.now())))
}

// Check holds after every step.
func (m *model) Check(t *rapid.T) {
	m.check()
	for _, id := range m.campaigns {
		for _, msg := range m.messages(id) {
			n := m.executed[msg.ID]
			if n > 1 {
				m.t.Fatalf("message %d was executed %d times", msg.ID, n)
			}
			switch msg.State {
			case sms.Accepted:
				if n != 1 {
					m.t.Fatalf("message %d is accepted and was executed %d times", msg.ID, n)
				}
			case sms.InDoubt, sms.Sending:
			default:
				if n != 0 {
					m.t.Fatalf("message %d is %s and was executed", msg.ID, msg.State)
				}
			}
		}
	}
	if n := one[int](m.fixture, `select count(*) from (select m.number, m.text_hash from message m where m.`+ofAccount+
		` and m.state in ('claimed', 'sending', 'in_doubt')
  group by m.number, m.text_hash having count(*) > 1)`, m.account.ID); n > 0 {
		m.t.Fatalf("%d messages are under way twice", n)
	}
}

// lifetimes makes rapid's default of 100 smaller, because each step waits for
// the disk; what a person asks for on the command line stands.
func lifetimes(t *testing.T, n string) {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	if checks == nil || checks.Value.String() != checks.DefValue {
		return
	}
	if err := flag.Set("rapid.checks", n); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = flag.Set("rapid.checks", checks.DefValue) })
}

// TestAnyLifeKeepsItsPromises lives random lives: nothing twice, nothing lost, no licence
// used again, no state that is not true.
func TestAnyLifeKeepsItsPromises(t *testing.T) {
	lifetimes(t, "40")
	base := newFixture(t)
	lives := 0
	rapid.Check(t, func(rt *rapid.T) {
		lives++
		m := &model{fixture: base.other(rt, fmt.Sprint("life ", lives)), executed: map[int64]int{},
			blocked: map[string]bool{}}
		actions := rapid.StateMachineActions(m)
		rt.Repeat(actions)
		m.finish()
	})
}

// finish lets everything go out that can: no one is forgotten.
func (m *model) finish() {
	if list := m.miscounts(); len(list) > 0 {
		m.t.Fatalf("counts differ: %v", list)
	}

	for _, a := range m.claimed {
		m.settle(a, sms.Outcome{Class: sms.ClassNothingLeft})
	}
	for _, a := range m.flying {
		m.execute(a, true)
		m.settle(a, answer(a))
	}
	m.must(second(m.db.ResumeAccount(m.ctx, m.account.ID)))
	for _, id := range m.campaigns {
		if c := m.campaign(id); c.MayStart() || c.MayContinue() {
			m.set(id, sms.CampaignRunning)
		}
	}
	for a := m.claimAfter(0, 100); a != nil; a = m.claimAfter(0, 100) {
		m.license(a)
		m.execute(a, true)
		m.settle(a, answer(a))
	}
	m.tidy()
	m.check()
	for _, id := range m.campaigns {
		waits := 0
		for _, msg := range m.messages(id) {
			if msg.State != sms.Queued {
				continue
			}
			waits++
			if one[int](m.fixture, "select count(*) from in_flight where account_id = $1 and number = $2 and text_hash = $3",
				m.account.ID, msg.Number, textHash(msg.Text, "")) != 1 {
				m.t.Fatalf("message %d waits for nothing", msg.ID)
			}
		}
		if c := m.campaign(id); c.State != sms.CampaignCancelled && (c.State == sms.CampaignFinished) != (waits == 0) {
			m.t.Fatalf("campaign %d is %s with %d messages waiting", id, c.State, waits)
		}
	}
}
