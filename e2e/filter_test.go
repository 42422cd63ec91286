package e2e

import (
	"testing"

	"github.com/playwright-community/playwright-go"
)

// TestTheFilterFollowsWhatItsPersonLeavesAlone: reports come while somebody fills
// in the filter. What has come can be chosen, and what was typed and chosen stays.
func TestTheFilterFollowsWhatItsPersonLeavesAlone(t *testing.T) {
	beside(t)
	o := openOffice(t)
	p := newTab(t, newBrowser(t), o.base)
	p.firstRun(o)
	setFaults(t, o.sandbox, `{"holdReports":true}`)
	p.compose("Your appointment at the clinic is on Monday at nine.", "0803 000 0041", "0803 000 0042")
	p.press("Send 2 messages now")
	p.row("0803 000 0041", "Awaiting report")
	p.do(p.Locator("#state option[value=network]").WaitFor(playwright.LocatorWaitForOptions{
		State: playwright.WaitForSelectorStateAttached}))
	p.fill("Text contains", "appointm")
	p.pick("Status", "Awaiting report")
	setFaults(t, o.sandbox, `{}`)
	p.do(p.Locator("#state option[value=delivered]").WaitFor(playwright.LocatorWaitForOptions{
		State: playwright.WaitForSelectorStateAttached}))
	text, err := p.GetByLabel("Text contains").InputValue()
	p.do(err)
	state, err := p.Locator("#state").InputValue()
	p.do(err)
	if text != "appointm" || state != "network" {
		t.Errorf("the form holds %q and %q", text, state)
	}
	p.pick("Status", "Delivered")
	p.press("Filter")
	p.sees(" found")
	p.quiet()
}
