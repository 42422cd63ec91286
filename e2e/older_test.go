package e2e

import (
	"fmt"
	"testing"
	"time"

	"smsdesk/internal/sms"
)

// TestAnOlderStateIsAnsweredOnThePage: the question, the answer with the
// password, the paused campaign, and the word before some may get it twice.
func TestAnOlderStateIsAnsweredOnThePage(t *testing.T) {
	waits(t)
	p := newPair(t, binary(t, ""), 10, "--faults", "latency=3s")
	must(t, p.bin, "--data", p.data, "user", "add", "--email", "administrator@example.com", "--name", "Ada Obi",
		"--role", "administrator", "--password-file", writeFile(t, "password", adaPassword))
	desk := p.serve()
	numbers := numbersFrom(9000, 200)
	c := p.send(numbers, "Answered on the page")
	stopBefore(t, p, desk, c.ID)
	p.copyDatabase("smsdesk.db", "before.db")
	setFaults(t, p.sandbox, `{"latency":"400ms"}`)
	desk = p.serve()
	p.keepGoing(c.ID)
	waitFor(t, patience, "some more messages", func() bool { return p.state(c.ID, "queued") < 180 })
	p.must(desk.stop())
	sent := len(ledger(t, p.sandbox))
	setFaults(t, p.sandbox, "{}")
	p.copyDatabase("before.db", "smsdesk.db")
	p.keepGoing(c.ID)
	p.serve()

	view := newTab(t, newBrowser(t), "http://"+p.listen).withAxe()
	view.signIn("administrator@example.com", adaPassword)
	view.open("/")
	view.sees("The journal knows of")
	view.follow("Review and answer")
	view.sees("Which messages were sent?")
	view.isAccessible("/settings/journal?question")
	view.do(view.SetViewportSize(1280, 800))
	view.press("Accept this older state")
	view.sees("Enter your password")
	view.fill("Your password", adaPassword)
	view.press("Accept this older state")
	waitFor(t, patience, "the answer to be carried out", func() bool {
		gap, err := p.db.OpenGap(t.Context(), time.Now().UnixMilli())
		return err == nil && gap.ID > 0
	})
	view.sees("in doubt or remembered")
	view.isAccessible("/settings/journal?answered")
	view.do(view.SetViewportSize(1280, 800))
	time.Sleep(time.Second)
	if now := len(ledger(t, p.sandbox)); now != sent {
		t.Fatalf("%d were sent before anybody continued", now-sent)
	}
	if got := p.campaign(c.ID); got.State != sms.CampaignPaused || got.PauseCode != sms.PauseCopy {
		t.Fatalf("the campaign is %s, %q", got.State, got.Pause)
	}
	view.open(fmt.Sprint("/campaigns/", c.ID))
	view.do(view.Locator("#continue").Click())
	view.sees("some will get it twice")
	view.isAccessible("/campaigns/ID/continue")
	view.do(view.SetViewportSize(1280, 800))
	view.press("Continue and send")
	// All places of the rate are taken for a minute.
	waitFor(t, longPatience, "the end", func() bool { return p.campaign(c.ID).State == sms.CampaignFinished })
	if n := twice(t, p.sandbox); n != 0 {
		t.Errorf("%d got it twice", n)
	}
	view.open("/settings/journal")
	view.sees("Warnings before sending")
	view.isAccessible("/settings/journal?agrees")
}
