package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/sms"
)

// putBack plays what a snapshot of the whole folder does: the desk stops in the
// middle of a campaign, the folder is copied, the desk sends on, and then the
// folder comes back as it was. It returns the campaign and how many messages had
// been executed.
func putBack(t *testing.T, p *pair, text string, n int) (sms.Campaign, int) {
	t.Helper()
	_, err := p.db.UpdateAccount(t.Context(), p.account.ID, time.Now().UnixMilli(),
		func(a *sms.Account, _ *sms.Credentials) error {
			a.PricePerPart = 400
			return nil
		})
	p.must(err)
	desk := p.serve()
	waitFor(t, patience, "a reading of the balance", func() bool {
		list, err := p.db.Balances(t.Context(), p.account.ID)
		return err == nil && len(list) > 0
	})
	time.Sleep(3 * time.Second) // one from before the journal's start is read once more
	c := p.send(numbersFrom(7000, n), text)
	stopBefore(t, p, desk, c.ID)
	before := t.TempDir()
	p.must(p.db.Close())
	p.must(os.CopyFS(before, os.DirFS(p.data)))
	p.openDB()
	setFaults(t, p.sandbox, `{"holdReports":true}`)
	desk = p.serve()
	p.keepGoing(c.ID)
	waitFor(t, patience, "the end", func() bool { return p.campaign(c.ID).State == sms.CampaignFinished })
	p.must(desk.stop())
	p.must(p.db.Close())
	p.must(os.RemoveAll(p.data))
	p.must(os.CopyFS(p.data, os.DirFS(before)))
	p.openDB()
	p.keepGoing(c.ID)
	return c, len(ledger(t, p.sandbox))
}

func twice(t *testing.T, addr string) (n int) {
	t.Helper()
	times := map[string]int{}
	for _, e := range ledger(t, addr) {
		if times[e.Number+" "+e.Text]++; times[e.Number+" "+e.Text] == 2 {
			n++
		}
	}
	return n
}

// TestTheWholeFolderPutBackIsToldByTheBalance: nothing in the folder knows of
// what was sent in the meantime, but the account's balance does.
func TestTheWholeFolderPutBackIsToldByTheBalance(t *testing.T) {
	waits(t)
	p := newPair(t, binary(t, ""), 10, "--faults", "latency=3s,holdReports=true")
	c, sent := putBack(t, p, "Told by the balance", 200)
	p.serve()
	waitFor(t, patience, "the question", func() bool { return p.campaign(c.ID).State == sms.CampaignPaused })
	time.Sleep(2 * time.Second)
	got := p.campaign(c.ID)
	if now := len(ledger(t, p.sandbox)); now != sent || twice(t, p.sandbox) > 0 {
		t.Fatalf("%d were sent again before anybody was asked", now-sent)
	}
	if got.PauseCode != sms.PauseCopy || !strings.Contains(got.Pause,
		"that this desk did not spend. Was this smsdesk restored from a copy?") {
		t.Errorf("paused with %q: %s", got.PauseCode, got.Pause)
	}
	t.Log(got.Pause)
	p.keepGoing(c.ID)
	waitFor(t, patience, "messages after a person continued", func() bool {
		return len(ledger(t, p.sandbox)) > sent
	})
	if got = p.campaign(c.ID); got.State == sms.CampaignPaused && got.PauseCode == sms.PauseCopy {
		t.Errorf("asked again: %s", got.Pause)
	}
}

// TestWhatTheBalanceCannotTell: topped up meanwhile, or not looked at because
// others use the account, the folder that comes back repeats.
func TestWhatTheBalanceCannotTell(t *testing.T) {
	waits(t)
	for name, blind := range map[string]func(p *pair){
		"topped up": func(p *pair) {
			resp, err := http.Post("http://"+p.sandbox+"/_sandbox/credit", "application/x-www-form-urlencoded",
				strings.NewReader("amount=5000000"))
			p.must(err)
			if p.must(resp.Body.Close()); resp.StatusCode >= 300 {
				p.t.Fatal(resp.Status)
			}
		},
		"others send": func(p *pair) {
			_, err := p.db.UpdateRecordSettings(p.t.Context(), p.account.ID, func(s *sms.RecordSettings) error {
				s.OthersSend = true
				return nil
			})
			p.must(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, binary(t, ""), 10, "--faults", "latency=3s,holdReports=true")
			putBack(t, p, "Not told by the balance", 60)
			blind(p)
			p.serve()
			waitFor(t, patience, "a repetition, which is the documented miss", func() bool {
				return twice(t, p.sandbox) > 0
			})
		})
	}
}

// TestTheWholeFolderPutBackIsToldByAReport that comes in time: before the first
// request of the campaign.
func TestTheWholeFolderPutBackIsToldByAReport(t *testing.T) {
	waits(t)
	p := newPair(t, binary(t, ""), 10, "--faults", "latency=3s,holdReports=true")
	_, err := p.db.UpdateRecordSettings(t.Context(), p.account.ID, func(s *sms.RecordSettings) error {
		s.OthersSend = true
		return nil
	})
	p.must(err)
	c, sent := putBack(t, p, "Told by a report", 60)
	_, err = p.db.UpdateCampaign(t.Context(), c.ID, time.Now().UnixMilli(), (*sms.Campaign).Stop)
	p.must(err)
	p.serve()
	var last sms.Message
	for _, m := range p.messages(c.ID) {
		if m.State.Unsent() {
			last = m
		}
	}
	address := fmt.Sprintf(
		"%s?messageId=of-the-lost-time&mobile=%s&status=DELIVRD&errorCode=000&shortMessage=Told+by+a+report", p.callback("DLR"), last.Number)
	resp, err := http.Get(address)
	p.must(err)
	body := new(bytes.Buffer)
	_, err = body.ReadFrom(resp.Body)
	p.must(err)
	if p.must(resp.Body.Close()); resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s", resp.Status, body)
	}
	waitFor(t, patience, "the pause", func() bool { return p.campaign(c.ID).PauseCode == sms.PauseCopy })
	m, err := p.db.Message(t.Context(), last.ID)
	p.must(err)
	if m.State != sms.InDoubt || m.Reason != sms.ReportedReason || p.campaign(c.ID).Pause != sms.ReportedSentence {
		t.Errorf("%s %q, %q", m.State, m.Reason, p.campaign(c.ID).Pause)
	}
	if now := len(ledger(t, p.sandbox)); now != sent {
		t.Errorf("%d were sent again", now-sent)
	}
}
