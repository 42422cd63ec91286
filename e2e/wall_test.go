package e2e

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// TestAWallScreenFollowsACampaign: a manager opens the wall screen and creates a link
// for a TV, which shows what arrives by itself, until it is revoked; without scripts
// it shows the same.
func TestAWallScreenFollowsACampaign(t *testing.T) {
	beside(t)
	o := openOffice(t)
	b := newBrowser(t)
	p := newTab(t, b, o.base)
	p.firstRun(o)
	setFaults(t, o.sandbox, `{"holdReports":true}`)
	p.compose("Good morning. The clinic is open from 9 today.", "0803 000 0001", "0803 000 0002", "0805 000 0101")
	p.press("Send 3 messages now")
	p.do(p.WaitForURL(regexp.MustCompile(`/campaigns/\d+$`)))
	campaign := p.URL()
	p.tile("Awaiting report", "3")

	p.follow("Links for a TV")
	p.press("Create a link")
	p.sees("It is shown this once")
	address, err := p.Locator("#wall-address").InputValue()
	p.do(err)

	screen := playwright.BrowserNewContextOptions{Viewport: &playwright.Size{Width: 1920, Height: 1080}}
	tv := newTab(t, b, o.base, screen)
	tv.open2(address)
	tv.counts("network", "3")
	tv.do2(tv.Evaluate("window.marker = 'not reloaded'"))
	setFaults(t, o.sandbox, `{}`)
	tv.counts("delivered", "2")
	tv.counts("failed", "1")
	if marker, err := tv.Evaluate("window.marker"); err != nil || marker != "not reloaded" {
		t.Errorf("the screen was loaded again: %v, %v", marker, err)
	}
	if words := tv.text("main"); regexp.MustCompile(`080|The clinic is open|Leave`).MatchString(words) {
		t.Errorf("strangers read %q", words)
	}
	tv.picture("wall")
	tv.fits("the wall screen", 1920)

	p.open2(campaign)
	p.follow("Wall screen")
	p.counts("delivered", "2")
	p.picture("wall-signed-in")
	p.do(p.Locator("#wall-leave").Focus())
	p.do(p.Keyboard().Press("Enter"))
	p.tile("Delivered", "2")

	plain := newTab(t, b, o.base, playwright.BrowserNewContextOptions{JavaScriptEnabled: playwright.Bool(false)})
	plain.open2(address)
	plain.counts("delivered", "2")

	state, err := p.Context().StorageState()
	p.do(err)
	seen := newTab(t, b, o.base, playwright.BrowserNewContextOptions{StorageState: state.ToOptionalStorageState()}).withAxe()
	for _, path := range []string{address, campaign + "?view=wall", campaign + "/wall", campaign, campaign + "/breakdown"} {
		seen.open2(path)
		seen.isAccessible(path)
	}

	p.follow("Links for a TV")
	p.press("Revoke")
	p.do(p.Locator("#wall-links").WaitFor(playwright.LocatorWaitForOptions{State: playwright.WaitForSelectorStateDetached}))
	if answer, err := plain.Goto(address); err != nil || answer.Status() != http.StatusNotFound {
		t.Errorf("a revoked link: %v, %v", answer, err)
	}
}

// counts waits until a count of a wall screen is so high.
func (p *tab) counts(tile, want string) {
	p.t.Helper()
	p.do(p.Locator("#wall-" + tile + " b").Filter(playwright.LocatorFilterOptions{
		HasText: regexp.MustCompile("^" + want + "$")}).WaitFor())
}
