package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"smsdesk/internal/sms"
)

const (
	killMessages = 1000
	kills        = 20
)

// TestKillLoop kills the desk with kill -9 again and again while it sends, as
// two processes over real HTTP. However often it dies, every message ends in
// one honest state and the service never executed one twice.
func TestKillLoop(t *testing.T) {
	beside(t)
	caught, wrong, summary := killLoop(t, "", kills)
	t.Log(summary)
	if caught*2 < kills {
		t.Errorf("only %d of %d kills hit a call in flight: this run proves nothing", caught, kills)
	}
	for _, w := range wrong {
		t.Error(w)
	}
}

// TestKillLoopNoticesNaiveRetry is the negative control: a build that takes
// doubt for "not sent" must be found out by the same loop.
func TestKillLoopNoticesNaiveRetry(t *testing.T) {
	waits(t)
	_, wrong, summary := killLoop(t, mistaken, 8)
	t.Log(summary)
	wrong = only(wrong, " times")
	if len(wrong) == 0 {
		t.Fatal("a build that retries naively went through unnoticed")
	}
	t.Logf("found out by %d violations, the first: %s", len(wrong), wrong[0])
}

func killLoop(t *testing.T, tags string, kills int) (caught int, wrong []string, summary string) {
	p := newPair(t, binary(t, tags), 10, "--faults", "latency=300ms", "--retry-after", "2s")
	p.flags = []string{"--calls-in-flight", "1"}
	desk := p.serve()
	numbers := numbersFrom(1, killMessages)
	c, _ := p.seed(killRows(numbers))
	p.begin(c)
	random := rand.New(rand.NewPCG(7, uint64(kills)))
	for i := range kills {
		if i == kills/2 {
			if got := p.campaign(c.ID); got.State == sms.CampaignPaused {
				wrong = append(wrong, "crashes alone paused the campaign: "+got.Pause)
			}
			setFaults(t, p.sandbox,
				`{"latency":"300ms","cutAfter":0.06,"cutBefore":0.06,"errorAfter":0.04,"htmlAfter":0.04,"missingRows":0.05,"tooMany":0.03}`)
		}
		p.keepGoing(c.ID)
		if i%4 == 0 {
			time.Sleep(time.Duration(random.IntN(700)) * time.Millisecond)
		} else {
			p.awaitCall(c.ID, random)
		}
		desk.kill()
		caught += p.inFlight()
		desk = p.serve()
	}
	setFaults(t, p.sandbox, `{}`)
	waitFor(t, longPatience, "the campaign's end", func() bool {
		p.keepGoing(c.ID)
		return p.campaign(c.ID).State == sms.CampaignFinished
	})
	time.Sleep(2500 * time.Millisecond)
	if err := desk.stop(); err != nil {
		t.Errorf("stopping: %v", err)
	}
	wrong = append(wrong, p.dishonest(c.ID, numbers)...)
	for _, e := range ledger(t, p.sandbox) {
		if e.Text != "Kill loop" && e.Text != "Kill loop for "+e.Number {
			wrong = append(wrong, fmt.Sprintf("%s got the text %q", e.Number, e.Text))
		}
	}
	return caught, wrong, p.summary(c.ID, kills, caught)
}

// awaitCall returns at a random moment of a call, however long the desk took to
// begin one, or when there is none left.
func (p *pair) awaitCall(campaign int64, random *rand.Rand) {
	p.t.Helper()
	waitFor(p.t, patience, "a call under way", func() bool {
		p.keepGoing(campaign)
		time.Sleep(time.Duration(random.IntN(250)) * time.Millisecond)
		return p.inFlight() > 0 || p.campaign(campaign).State == sms.CampaignFinished
	})
}

// killRows gives every other number a text of its own, so that calls with one
// text and lists of pairs both die.
func killRows(numbers []string) []sms.Message {
	list := make([]sms.Message, len(numbers))
	for i, n := range numbers {
		list[i] = sms.Message{Number: n, Text: "Kill loop", Parts: 1}
		if i%2 == 1 {
			list[i].Text += " for " + n
		}
	}
	return list
}

// inFlight is 1 when the last process left a licensed call open.
func (p *pair) inFlight() int {
	for _, m := range p.allMessages() {
		if m.State == sms.Sending {
			return 1
		}
	}
	return 0
}

func (p *pair) allMessages() []sms.Message {
	rows, _, err := p.db.Campaigns(context.Background(), sms.CampaignFilter{AccountID: p.account.ID, Limit: 100})
	if err != nil {
		p.t.Fatal(err)
	}
	var all []sms.Message
	for _, r := range rows {
		all = append(all, p.messages(r.Campaign.ID)...)
	}
	return all
}

// dishonest compares what is remembered with what was executed:
// nothing twice, nothing lost, no state that is not true.
func (p *pair) dishonest(campaign int64, numbers []string) (wrong []string) {
	times := map[string]int{}
	for _, e := range ledger(p.t, p.sandbox) {
		times[e.Number]++
	}
	seen := map[string]bool{}
	for _, m := range p.messages(campaign) {
		n := times[m.Number]
		seen[m.Number] = true
		switch {
		case n > 1:
			wrong = append(wrong, fmt.Sprintf("%s was executed %d times", m.Number, n))
		case m.State == sms.Accepted && n != 1:
			wrong = append(wrong, fmt.Sprintf("%s is called accepted but was never executed", m.Number))
		case (m.State == sms.Refused || m.State == sms.Queued) && n != 0:
			wrong = append(wrong, fmt.Sprintf("%s is %s but was executed", m.Number, m.State))
		case m.State != sms.Accepted && m.State != sms.Refused && m.State != sms.InDoubt && m.State != sms.Held:
			wrong = append(wrong, fmt.Sprintf("%s ended as %s", m.Number, m.State))
		}
	}
	for _, n := range numbers {
		if !seen[n] {
			wrong = append(wrong, n+" was lost")
		}
	}
	if len(seen) != len(numbers) {
		wrong = append(wrong, fmt.Sprintf("%d messages instead of %d", len(seen), len(numbers)))
	}
	tally, err := p.db.Tally(context.Background(), campaign)
	if err != nil || tally.Total() != int64(len(numbers)) {
		wrong = append(wrong, fmt.Sprintf("the tally counts %d of %d (%v)", tally.Total(), len(numbers), err))
	}
	return wrong
}

func (p *pair) summary(campaign int64, kills, caught int) string {
	states := map[sms.State]int{}
	for _, m := range p.messages(campaign) {
		states[m.State]++
	}
	return fmt.Sprintf("%d kills, %d of them with a call in flight; messages by status: %v; executed by the service: %d",
		kills, caught, states, len(ledger(p.t, p.sandbox)))
}
