package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// feesList is a list of n rows from the first ordinary number on.
func feesList(t *testing.T, name string, n int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("phone,name\n")
	for i := range n {
		fmt.Fprintf(&b, "%s,Ada %d\n", ordinaryNumber(i), i)
	}
	return writeFile(t, name, b.String())
}

// TestOnlyTheNewOnesGetIt: who got nearly the same text is told on the check and
// before sending; they are left out, included again and left out, with scripts
// and without, on a desk and on a phone. Nobody gets it twice.
func TestOnlyTheNewOnesGetIt(t *testing.T) {
	beside(t)
	for name, as := range map[string]struct {
		script bool
		width  int
	}{"with scripts": {true, 1280}, "without scripts, on a phone": {false, 390}} {
		t.Run(name, func(t *testing.T) {
			o := openOffice(t)
			b := newBrowser(t)
			p := newTab(t, b, o.base)
			p.firstRun(o)
			defaultSender(t, o)
			p.sendsFees(feesList(t, "june.csv", 160), "Dear ##name##, fees are due on Friday.")
			p.press("Send 160 messages now")
			p.reaches(atCampaign)
			p.finishes()

			q := p
			if !as.script || as.width != 1280 {
				q = newTab(t, b, o.base, playwright.BrowserNewContextOptions{JavaScriptEnabled: playwright.Bool(as.script),
					Viewport: &playwright.Size{Width: as.width, Height: 844}})
				q.signIn(adaEmail, adaPassword)
			}
			q.open("/new/list")
			q.uploadsFees(feesList(t, "july.csv", 200), as.script)
			q.fill("Message", "DEAR ##name##! Fees are due, on Friday")
			q.press("Continue")
			q.checked()
			q.sees("160 of these 200 recipients got nearly this text")
			q.press("Send only to the 40 new")
			q.sees("40 messages are ready")
			q.press("Include them")
			q.sees("200 messages are ready")
			q.press("Continue with 200 messages")
			q.onward()
			q.reaches(atConfirm)
			q.sees("160 of these 200 recipients got nearly this text")
			q.press("Send 200 messages now")
			q.sees("Tick the box to send it to them again, or leave them out")
			q.press("Send only to the 40 new")
			q.onward()
			q.reaches(atConfirm)
			q.sees("160 recipients are left out")
			if as.script {
				q.inSight("#send-now", false)
			}
			q.press("Send 40 messages now")
			q.reaches(atCampaign)
			waitFor(t, patience, "the new ones", func() bool { return len(ledger(t, o.sandbox)) >= 200 })
			once := map[string]int{}
			for _, e := range ledger(t, o.sandbox) {
				once[e.Number]++
			}
			if len(once) != 200 {
				t.Errorf("%d numbers got it", len(once))
			}
			for number, n := range once {
				if n != 1 {
					t.Errorf("%s got it %d times", number, n)
				}
			}
		})
	}
}

// sendsFees uploads a list and writes its message.
func (p *tab) sendsFees(path, text string) {
	p.t.Helper()
	p.open("/new/list")
	p.uploadsFees(path, true)
	p.fill("Message", text)
	p.press("Continue")
	p.reaches(atConfirm)
}

// checked loads the page again until the rows have their verdicts.
func (p *tab) checked() {
	p.t.Helper()
	waitFor(p.t, patience, "the end of the check", func() bool {
		if !strings.Contains(p.text("main"), "You can leave this page") {
			return true
		}
		p.do2(p.Reload())
		return false
	})
}

// uploadsFees chooses a file; without scripts a button uploads it.
func (p *tab) uploadsFees(path string, script bool) {
	p.t.Helper()
	p.choose(path)
	if !script {
		p.press("Upload")
	}
	p.reaches(atMessage)
}
