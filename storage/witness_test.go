package storage

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"smsdesk/internal/health"
	"smsdesk/internal/sms"
)

// snapshot copies the whole data folder while nobody has it open.
func (f *fixture) snapshot(t *testing.T) string {
	t.Helper()
	if j := f.db.journal.Load(); j != nil {
		f.must(j.Close())
	}
	f.must(f.db.Close())
	to := t.TempDir()
	f.must(os.CopyFS(to, os.DirFS(f.data)))
	f.db = open(t, f.data)
	f.lease()
	return to
}

// putBack brings the whole folder back as it was.
func (f *fixture) putBack(t *testing.T, from string) {
	t.Helper()
	if j := f.db.journal.Load(); j != nil {
		f.must(j.Close())
	}
	f.must(f.db.Close())
	f.must(os.RemoveAll(f.data))
	f.must(os.CopyFS(f.data, os.DirFS(from)))
	f.db = open(t, f.data)
	f.lease()
}

// reads stores a reading of the balance, in hundredths.
func (f *fixture) reads(hundredths int64) {
	f.t.Helper()
	credits := fmt.Sprintf("KES %d.%02d", hundredths/100, hundredths%100)
	f.must(f.db.PutBalances(f.ctx, f.account.ID, []sms.Balance{{PluginType: "SMS", Credits: credits}}, f.now()))
}

func (f *fixture) price(hundredths int64) {
	f.t.Helper()
	_, err := f.db.UpdateAccount(f.ctx, f.account.ID, f.now(), func(a *sms.Account, _ *sms.Credentials) error {
		a.PricePerPart = hundredths
		return nil
	})
	f.must(err)
}

// asked says whether the last reading has raised the question.
func (f *fixture) asked() bool {
	f.t.Helper()
	list, err := f.db.Alarms(f.ctx, f.account.ID)
	f.must(err)
	for _, a := range list {
		if a.Kind == sms.AlarmUnspent {
			return true
		}
	}
	return false
}

func (f *fixture) awaits() bool {
	f.t.Helper()
	awaits, err := f.db.AwaitsReading(f.ctx, f.account.ID)
	f.must(err)
	return awaits
}

const lostCalls = 8 // in the history that a snapshot hides, 3 messages each

// hidden plays a history that a snapshot of the folder hides: two calls are
// known, and lostCalls more were made before the folder came back as it was. It
// returns the campaign, the balance at the snapshot and that of today.
func hidden(t *testing.T, f *fixture, l ledger, price int64) (sms.Campaign, int64, int64) {
	t.Helper()
	balance := int64(1_000_000)
	j := f.journal()
	c := f.proven("Easter offer", numbers(40)...)
	f.reads(balance)
	balance -= price * 3 * int64(f.send(j, l, 2))
	f.reads(balance)
	before := f.snapshot(t)
	now := balance - price*3*int64(f.send(f.journal(), l, lostCalls))
	f.putBack(t, before)
	return c, balance, now
}

func TestABalanceThatFellAsksBeforeTheFirstRequest(t *testing.T) {
	f, l := newFixture(t), ledger{}
	f.price(400)
	c, known, now := hidden(t, f, l, 400)
	if q := f.relation(); q.Relation != health.RelationAgrees {
		t.Fatalf("%s", q.Relation)
	}
	j := f.journal()
	if !f.awaits() {
		t.Fatal("sending does not wait for a reading")
	}
	f.reads(now)
	c = f.campaign(c.ID)
	// Two calls of six messages may have been charged late, at 4.00 and a quarter more.
	want := fmt.Sprintf("The balance fell by KES %d that this desk did not spend. Was this smsdesk restored from a copy?",
		(known-now-6*500)/100)
	if c.State != sms.CampaignPaused || c.PauseCode != sms.PauseCopy || !strings.HasPrefix(c.Pause, want) || !f.asked() ||
		f.awaits() {
		t.Fatalf("%s %q, want %q", c.State, c.Pause, want)
	}
	if f.send(j, l, 100) != 0 || l.twice() != 0 {
		t.Fatalf("%d were sent twice before anybody was asked", l.twice())
	}
	// Once answered it is not asked again, neither now nor at the next start.
	f.goOn()
	f.reads(now)
	f.reopen(t)
	j = f.journal()
	f.reads(now)
	if c = f.campaign(c.ID); c.State != sms.CampaignRunning {
		t.Errorf("asked again: %s", c.Pause)
	}
	if f.send(j, l, 100) == 0 {
		t.Error("nothing was sent after Continue")
	}
}

// TestWhatTheBalanceMisses are the misses that storage/README.md tells of, and
// the ways in which it is not asked at all. In each of them a snapshot repeats.
func TestWhatTheBalanceMisses(t *testing.T) {
	for name, miss := range map[string]func(f *fixture, known, now int64){
		"topped up in between": func(f *fixture, known, now int64) { f.reads(now + (known - now) + 100) },
		"topped up by nearly as much: what may be charged late hides the rest": func(f *fixture, known, now int64) { f.reads(known - 6*400) },
		"others send from the account": func(f *fixture, _, now int64) {
			_, err := f.db.UpdateRecordSettings(f.ctx, f.account.ID, func(s *sms.RecordSettings) error {
				s.OthersSend = true
				return nil
			})
			f.must(err)
			if f.awaits() {
				f.t.Errorf("waits for what nobody looks at")
			}
			f.reads(now)
		},
		"a balance that cannot be read": func(f *fixture, _, _ int64) {
			f.must(f.db.PutBalances(f.ctx, f.account.ID, []sms.Balance{{PluginType: "SMS", Credits: "plenty"}}, f.now()))
		},
		"another currency": func(f *fixture, _, _ int64) {
			f.must(f.db.PutBalances(f.ctx, f.account.ID, []sms.Balance{{PluginType: "SMS", Credits: "₦1.00"}}, f.now()))
		},
		"no price is known and calls may be charged late": func(f *fixture, _, now int64) { f.price(0); f.reads(now) },
		"no answer": func(*fixture, int64, int64) {},
	} {
		t.Run(name, func(t *testing.T) {
			f, l := newFixture(t), ledger{}
			f.price(400)
			c, known, now := hidden(t, f, l, 400)
			j := f.journal()
			miss(f, known, now)
			if f.asked() || f.campaign(c.ID).State != sms.CampaignRunning {
				t.Fatalf("asked: %s", f.campaign(c.ID).Pause)
			}
			if f.send(j, l, 100); l.twice() == 0 {
				t.Error("nothing was repeated: this is no miss")
			}
		})
	}
}

// TestAFallWithoutAPrice asks where nothing of our own can have been charged.
func TestAFallWithoutAPrice(t *testing.T) {
	f := newFixture(t)
	f.journal()
	f.reads(10_000)
	c := f.start("Hello", "2348030000101")
	f.reopen(t)
	f.clock.Add(time.Hour.Milliseconds())
	f.journal()
	f.reads(9_000)
	if c = f.campaign(c.ID); !f.asked() || c.State != sms.CampaignPaused || !strings.Contains(c.Pause, "fell by KES 10 ") {
		t.Errorf("%s %s", c.State, c.Pause)
	}
	list, err := f.db.Alarms(f.ctx, f.account.ID)
	if f.must(err); len(list) != 1 {
		t.Errorf("the same fall is told twice: %+v", list)
	}
}

// TestAReadingByAnotherProcess hides nothing from the start.
func TestAReadingByAnotherProcess(t *testing.T) {
	f, l := newFixture(t), ledger{}
	f.price(400)
	c, _, now := hidden(t, f, l, 400)
	f.reads(now)
	if f.asked() {
		t.Fatal("a process that does not send asked")
	}
	f.journal()
	f.reads(now)
	if !f.asked() || f.campaign(c.ID).State != sms.CampaignPaused {
		t.Error("the start did not ask")
	}
}

// TestAnAcceptedOlderStateIsNotAskedAbout a second time by the balance.
func TestAnAcceptedOlderStateIsNotAskedAbout(t *testing.T) {
	f, l := newFixture(t), ledger{}
	f.price(400)
	j := f.journal()
	f.proven("Easter offer", numbers(40)...)
	f.reads(1_000_000)
	f.send(j, l, 2)
	before := f.backup(t)
	f.send(j, l, lostCalls)
	f.restore(t, before)
	f.accept()
	f.goOn()
	f.journal()
	f.reads(1_000_000 - 400*3*(2+lostCalls))
	if f.asked() {
		t.Error("asked again")
	}
}

// TestTheBalanceIsNoFalseAlarm: where only this desk sends, at prices up to the
// one that was set and charged up to a quarter of an hour late, nothing is asked
// whenever the balance is read and however often smsdesk starts.
func TestTheBalanceIsNoFalseAlarm(t *testing.T) {
	f, n := newFixture(t), 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		own := f.other(rt, fmt.Sprintf("Account %d", n))
		own.must(own.db.PutBalances(own.ctx, own.account.ID, nil, own.now()))
		own.price(400)
		type charge struct{ at, amount int64 }
		var charges []charge
		top := int64(10_000_000)
		read := func() {
			left := top
			for _, c := range charges {
				if c.at <= own.clock.Load() {
					left -= c.amount
				}
			}
			own.reads(left)
		}
		j := own.journal()
		defer func() { own.must(j.Close()) }()
		read()
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"send", "send", "read", "start", "wait", "top up", "doubt"}).Draw(rt, "step") {
			case "send", "doubt":
				c := own.proven(fmt.Sprintf("Text %d", own.now()), numbers(rapid.IntRange(1, 5).Draw(rt, "messages"))...)
				for a := own.claimAfter(c.ID-1, 3); a != nil; a = own.claimAfter(c.ID-1, 3) {
					own.license(a)
					own.must(j.Append(a))
					lag := rapid.Int64Range(0, chargeLag.Milliseconds()-1000).Draw(rt, "lag")
					charges = append(charges, charge{own.clock.Load() + lag,
						int64(a.Recipients) * rapid.Int64Range(0, 400).Draw(rt, "price")})
					if rapid.Bool().Draw(rt, "answered") {
						own.settle(a, answer(a))
					} else {
						own.settle(a, sms.Outcome{Class: sms.ClassDoubt})
					}
				}
			case "read":
				read()
			case "wait":
				own.clock.Add(rapid.Int64Range(0, 20*time.Minute.Milliseconds()).Draw(rt, "wait"))
			case "top up":
				top += 50_000
			case "start":
				own.must(j.Close())
				j = own.journal()
				if read(); own.asked() {
					rt.Fatalf("asked without a reason: %+v", charges)
				}
			}
		}
	})
}

// TestAReportForWhatWasNotSent puts the message in doubt and pauses its
// campaign; what is no proof does nothing.
func TestAReportForWhatWasNotSent(t *testing.T) {
	const text = "Your appointment is tomorrow at nine"
	told := func(f *fixture, number, text string) sms.ApplyResult {
		return f.apply(sms.DeliveryReport{AccountID: f.account.ID, ProviderID: randomHex(8), Mobile: number,
			Status: "DELIVRD", ShortMessage: text, ReceivedAt: f.now(), Raw: "raw"})
	}
	for name, c := range map[string]struct {
		tell  func(f *fixture) sms.ApplyResult
		doubt bool
	}{
		"the same": {func(f *fixture) sms.ApplyResult { return told(f, numbers(6)[4], text) }, true},
		"white space": {func(f *fixture) sms.ApplyResult {
			return told(f, "+"+numbers(6)[4], "Your appointment is  tomorrow at nine ")
		}, true},
		"a claimed message":     {func(f *fixture) sms.ApplyResult { f.claim(5); return told(f, numbers(6)[4], text) }, true},
		"a cut text":            {func(f *fixture) sms.ApplyResult { return told(f, numbers(6)[4], text[:25]) }, false},
		"another text":          {func(f *fixture) sms.ApplyResult { return told(f, numbers(6)[4], "Something else") }, false},
		"no text":               {func(f *fixture) sms.ApplyResult { return told(f, numbers(6)[4], "") }, false},
		"another number":        {func(f *fixture) sms.ApplyResult { return told(f, "2348039999999", text) }, false},
		"a request in progress": {func(f *fixture) sms.ApplyResult { f.license(f.claim(5)); return told(f, numbers(6)[4], text) }, false},
		"one that is in doubt": {func(f *fixture) sms.ApplyResult {
			f.settle(f.license(f.claim(5)), sms.Outcome{Class: sms.ClassDoubt})
			return told(f, numbers(6)[4], text)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.journal()
			made := f.proven(text, numbers(6)...)
			before := column[int64](f, "select count(*) from message where state = 'in_doubt'")[0]
			done := c.tell(f)
			m, got := f.messages(made.ID)[4], f.campaign(made.ID)
			after := column[int64](f, "select count(*) from message where state = 'in_doubt'")[0]
			if c.doubt != (done.Doubted == 1) || c.doubt != (got.PauseCode == sms.PauseCopy && got.State == sms.CampaignPaused) {
				t.Fatalf("%d in doubt, %s %q", done.Doubted, got.State, got.Pause)
			}
			if c.doubt && (m.State != sms.InDoubt || m.Reason != sms.ReportedReason || after != before+1) {
				t.Errorf("%s %q", m.State, m.Reason)
			}
			if !c.doubt {
				return
			}
			// The report then settles the doubt as it settles others.
			f.clock.Add(3 * time.Minute.Milliseconds())
			f.must(f.db.Reconcile(f.ctx, f.account.ID, "NG", f.now(), func(sms.ApplyResult) {}))
			if m = f.message(m.ID); m.State != sms.Accepted || m.Delivery.Status != "DELIVRD" {
				t.Errorf("%s %s", m.State, m.Delivery.Status)
			}
			if len(f.messages(made.ID)) != 6 {
				t.Error("messages were made")
			}
		})
	}
}

// TestAReportForADraft does nothing before somebody starts the campaign.
func TestAReportForADraft(t *testing.T) {
	f := newFixture(t)
	f.journal()
	c := f.newDraft("Hello again", numbers(1)...)
	done := f.apply(sms.DeliveryReport{AccountID: f.account.ID, ProviderID: "x", Mobile: numbers(1)[0], Status: "DELIVRD",
		ShortMessage: "Hello again", ReceivedAt: f.now(), Raw: "raw"})
	if done.Doubted != 0 || f.campaign(c.ID).State != sms.CampaignDraft {
		t.Errorf("%d, %s", done.Doubted, f.campaign(c.ID).State)
	}
}
