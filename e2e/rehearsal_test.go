package e2e

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

var atRehearsal = regexp.MustCompile(`/rehearsals/\d+$`)

// over waits for the end of a rehearsal; without scripts by loading the page again.
func (p *tab) rehearsalEnds(script bool) {
	p.t.Helper()
	p.reaches(atRehearsal)
	waitFor(p.t, patience, "the end of the rehearsal", func() bool {
		if strings.Contains(p.text("main"), "This page will be deleted on") {
			return true
		}
		if !script {
			p.do2(p.Reload())
		}
		return false
	})
}

// TestRehearsal: an empty overview has a rehearsal to watch; a list is rehearsed,
// on a usual and on a bad day, before it is sent, and its campaign shows what was
// foretold beside what came. The provider gets nothing before Send is pressed.
func TestRehearsal(t *testing.T) {
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
			if !as.script {
				p = newTab(t, b, o.base, playwright.BrowserNewContextOptions{JavaScriptEnabled: playwright.Bool(false),
					Viewport: &playwright.Size{Width: as.width, Height: 844}})
				p.signIn(adaEmail, adaPassword)
			} else {
				p.withAxe()
			}
			p.open("/")
			p.inSight("#watch-go", false)
			p.press("Watch a rehearsal")
			p.rehearsalEnds(as.script)
			for _, words := range []string{"wait until someone presses Continue", "8 messages may or may not have been sent", "can be sent again"} {
				p.sees(words)
			}
			p.inSight("#onward", false)
			p.picture("rehearsal-watched")
			if as.script {
				p.isAccessible(strings.TrimPrefix(p.URL(), o.base))
			}

			var numbers []string
			for i := range 40 {
				numbers = append(numbers, ordinaryNumber(i))
			}
			p.compose("School opens on Monday at 8.", numbers...)
			p.inSight("#send-now", as.script)
			p.picture("rehearsal-offered")
			p.press("Rehearse")
			p.rehearsalEnds(as.script)
			p.sees("We do not say how many would arrive")
			p.inSight("#onward", false)
			if as.script {
				p.isAccessible(strings.TrimPrefix(p.URL(), o.base))
			}
			p.press("Show me a bad day")
			p.rehearsalEnds(as.script)
			p.sees("A bad day is made up")
			p.follow("Back to send")
			p.reaches(atConfirm)
			p.sees("Rehearsed on a bad day")
			if n := len(ledger(t, o.sandbox)); n != 0 {
				t.Fatalf("the provider was sent %d messages by rehearsals", n)
			}
			p.press("Send 40 messages now")
			p.reaches(atCampaign)
			waitFor(t, patience, "the messages", func() bool { return len(ledger(t, o.sandbox)) == 40 })
			p.open(strings.TrimPrefix(p.URL(), o.base))
			p.do(p.GetByText("Rehearsal: predicted and actual").Click())
			p.sees("Time to send")
			p.picture("rehearsal-compared")
		})
	}
}

// TestAKillInterruptsARehearsal: the next start says so and leaves no folder, and
// another one is played.
func TestAKillInterruptsARehearsal(t *testing.T) {
	beside(t)
	o := openOffice(t)
	p := newTab(t, newBrowser(t), o.base)
	p.firstRun(o)
	p.press("Watch a rehearsal")
	p.reaches(atRehearsal)
	p.sees("Rehearsing: ")
	o.kill()
	if len(o.rehearsing()) == 0 {
		t.Fatal("there is no folder of a rehearsal to be left")
	}
	o.process = start(t, binary(t, ""), o.cmd.Args[1:]...)
	o.ready(strings.TrimPrefix(o.base, "http://"))
	p.sees("smsdesk was restarted in the middle of this rehearsal")
	if left := o.rehearsing(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	p.press("Watch it again")
	p.rehearsalEnds(true)
}

// rehearsing lists the folders of rehearsals.
func (o *office) rehearsing() []string {
	o.t.Helper()
	list, err := filepath.Glob(filepath.Join(o.data, "rehearsal-*"))
	if err != nil {
		o.t.Fatal(err)
	}
	return list
}
