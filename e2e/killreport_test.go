package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"smsdesk/internal/sandbox"
	"smsdesk/internal/sms"
)

// TestKillLoopWhileReceiving: the desk is killed with kill -9 (20 times, 60 by make soak)
// again and again while the sandbox sends it reports, a fifth of them twice.
// Each acknowledged report is stored, and none counts oftener than it was sent.
func TestKillLoopWhileReceiving(t *testing.T) {
	beside(t)
	reportKills := many(20, 60)
	busy, wrong, summary := killReceiving(t, "", reportKills, many(10_000, 30_000))
	t.Log(summary)
	if busy*2 < reportKills {
		t.Errorf("only %d of %d kills came while reports did: this run proves nothing", busy, reportKills)
	}
	for i, w := range wrong {
		if t.Error(w); i == 20 {
			break
		}
	}
}

// TestKillLoopNoticesEarlyAcknowledgement is the negative control: a build that
// acknowledges before the sync must be found out by the same loop.
func TestKillLoopNoticesEarlyAcknowledgement(t *testing.T) {
	beside(t)
	_, wrong, summary := killReceiving(t, mistaken, 12, many(10_000, 30_000))
	t.Log(summary)
	wrong = only(wrong, " reports were acknowledged and ")
	if len(wrong) == 0 {
		t.Fatal("a build that acknowledges before the sync went through unnoticed")
	}
	t.Logf("found out by %d violations, the first: %s", len(wrong), wrong[0])
}

func killReceiving(t *testing.T, tags string, kills, reportMessages int) (busy int, wrong []string, summary string) {
	p := newPair(t, binary(t, tags), 100, "--faults", "holdReports=true")
	desk := p.serve()
	c, _ := p.seed(killRows(numbersFrom(1, reportMessages)))
	p.begin(c)
	waitFor(t, longPatience, "everything sent", func() bool {
		time.Sleep(50 * time.Millisecond)
		return p.campaign(c.ID).State == sms.CampaignFinished
	})
	random := rand.New(rand.NewPCG(7, uint64(kills)))
	for range kills {
		before := p.reportsAnswered()
		setFaults(t, p.sandbox, `{"duplicates":0.2}`)
		waitFor(t, patience, "a report", func() bool { return p.reportsAnswered() > before || p.reportsOwed() == 0 })
		time.Sleep(time.Duration(random.IntN(15)) * time.Millisecond)
		// A report that nobody receives is discarded: the gap is not what is
		// looked at here.
		held := make(chan struct{})
		go func() {
			defer close(held)
			setFaults(t, p.sandbox, `{"holdReports":true}`)
		}()
		desk.kill()
		<-held
		if p.reportsAnswered() > before {
			busy++
		}
		desk = p.serve()
	}
	setFaults(t, p.sandbox, `{"duplicates":0.2}`)
	waitFor(t, longPatience, "the last reports", func() bool { return p.reportsOwed() == 0 })
	if err := desk.stop(); err != nil {
		t.Errorf("stopping: %v", err)
	}
	wrong, acknowledged, stored := p.unstored(c.ID)
	if out, code := command(t, p.bin, "--data", p.data, "doctor", "--counts"); code != 0 {
		wrong = append(wrong, "the counts differ: "+out)
	}
	return busy, wrong, fmt.Sprintf("%d kills, %d while reports came; %d reports acknowledged, %d stored; %d messages",
		kills, busy, acknowledged, stored, reportMessages)
}

func (p *pair) sandboxState() (s sandbox.State) {
	getJSON(p.t, "http://"+p.sandbox+"/_sandbox/state", &s)
	return s
}

func (p *pair) reportsAnswered() int64 { return p.sandboxState().ReportsAnswered }

func (p *pair) reportsOwed() int { return p.sandboxState().ReportsOwed }

func (p *pair) reported() (list []sandbox.Reported) {
	getJSON(p.t, "http://"+p.sandbox+"/_sandbox/reports", &list)
	return list
}

// unstored compares the reports that the sandbox sent with those that are
// stored: acknowledged ⊆ stored ⊆ sent, counted with their repetitions.
func (p *pair) unstored(campaign int64) (wrong []string, acknowledged, stored int) {
	type told struct{ sent, answered int }
	of := map[string]told{}
	for _, r := range p.reported() {
		t := of[r.MessageID]
		of[r.MessageID] = told{t.sent + r.Sent, t.answered + r.Answered}
	}
	for _, m := range p.messages(campaign) {
		list, err := p.db.MessageReports(context.Background(), m.ID)
		p.must(err)
		times := 0
		for _, r := range list {
			times += int(r.Times)
		}
		t := of[m.ProviderID]
		acknowledged += t.answered
		stored += times
		switch {
		case times < t.answered:
			wrong = append(wrong, fmt.Sprintf("message %d: %d reports were acknowledged and %d are stored", m.ID, t.answered,
				times))
		case times > t.sent:
			wrong = append(wrong, fmt.Sprintf("message %d: %d reports were sent and %d are counted", m.ID, t.sent, times))
		case t.answered > 0 && m.Delivery.Status != sms.Delivrd:
			wrong = append(wrong, fmt.Sprintf("message %d stands as %q after its report", m.ID, m.Delivery.Status))
		}
	}
	return wrong, acknowledged, stored
}
