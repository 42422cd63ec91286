package e2e

import (
	"sync/atomic"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// TestAPressWhoseAnswerIsLost: the first press never arrives, the second arrives
// and its answer is lost. The page says so, goes on asking, and leads to the
// campaign, which was sent once.
func TestAPressWhoseAnswerIsLost(t *testing.T) {
	beside(t)
	o := openOffice(t)
	p := newTab(t, newBrowser(t), o.base)
	p.firstRun(o)
	defaultSender(t, o)
	path, want := clean(t, "june-list.csv", 20)
	p.open("/new")
	p.choose(path)
	p.reaches(atMessage)
	p.press("Continue")
	p.reaches(atConfirm)
	var asked atomic.Int32
	seen := make(chan struct{})
	p.do(p.Route("**/start", func(r playwright.Route) {
		switch asked.Add(1) {
		case 1:
			_ = r.Abort()
		case 2:
			<-seen
			// Fetch carries the request out; the browser never hears of it.
			_, _ = r.Fetch(playwright.RouteFetchOptions{MaxRedirects: playwright.Int(0)})
			_ = r.Abort()
		default:
			_ = r.Continue()
		}
	}))
	p.press("Send 20 messages now")
	p.sees("smsdesk does not answer")
	p.picture("send-away")
	close(seen)
	p.reaches(atCampaign)
	p.finishes()
	executedOnce(t, o.sandbox, want)
	// It is asked a third time unless the page has heard of the start before that.
	if n := asked.Load(); n < 2 {
		t.Errorf("it was asked %d times", n)
	}
}

// TestAPressThatIsRefused: what is wrong is said on the page, as without scripts.
func TestAPressThatIsRefused(t *testing.T) {
	beside(t)
	o := openOffice(t)
	p := newTab(t, newBrowser(t), o.base)
	p.firstRun(o)
	defaultSender(t, o)
	path, _ := clean(t, "june-list.csv", 20)
	p.open("/new")
	p.choose(path)
	p.reaches(atMessage)
	p.press("Continue")
	p.reaches(atConfirm)
	p.choosesTime("Pick a time")
	p.do(p.Locator("#day").Fill("2020-01-01"))
	p.do(p.Locator(".deck-do .btn.big").Click())
	p.sees("There is a problem")
	if n := len(ledger(t, o.sandbox)); n != 0 {
		t.Errorf("%d messages were sent", n)
	}
}
