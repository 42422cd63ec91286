package e2e

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// focused is what the keyboard would press now.
func (p *tab) focused() (id, words string) {
	p.t.Helper()
	found, err := p.Evaluate("[document.activeElement.id, document.activeElement.textContent.trim()]")
	p.do(err)
	list := found.([]any)
	return fmt.Sprint(list[0]), fmt.Sprint(list[1])
}

// keysTo counts the keys from the top of the page to an element, following the
// links that skip what is on the way.
func (p *tab) keysTo(id string, most int) int {
	p.t.Helper()
	for keys := 1; keys <= most; keys++ {
		p.do(p.Keyboard().Press("Tab"))
		at, words := p.focused()
		if at == id {
			return keys
		}
		if words == "Skip to main content" || words == "Go to the Send button" {
			p.do(p.Keyboard().Press("Enter"))
			if keys++; func() bool { at, _ := p.focused(); return at == id }() {
				return keys
			}
		}
	}
	p.t.Fatalf("%s is more than %d keys away", id, most)
	return 0
}

// inSight says whether the primary action of a page stands on its first
// screen, on a desk and on a phone; whole says that the desk's page needs no
// scrolling at all.
func (p *tab) inSight(action string, whole bool) {
	p.t.Helper()
	for _, screen := range []playwright.Size{{Width: 390, Height: 844}, {Width: 1280, Height: 800}} {
		p.do(p.SetViewportSize(screen.Width, screen.Height))
		p.do2(p.Evaluate("scrollTo(0, 0)"))
		box, err := p.Locator(action).BoundingBox()
		p.do(err)
		if box == nil || box.Y < 0 || box.Y+box.Height > float64(screen.Height) || box.X+box.Width > float64(screen.Width) {
			p.t.Errorf("%s: %s stands at %+v of %d × %d", p.URL(), action, box, screen.Width, screen.Height)
		}
		high, err := p.Evaluate("document.documentElement.scrollHeight")
		p.do(err)
		if n, _ := high.(int); whole && screen.Width == 1280 && n > screen.Height {
			p.t.Errorf("%s is %d high, a screen %d", p.URL(), n, screen.Height)
		}
	}
}

// TestConfirmByKeyboard: at most seven keys from the load of the page to the
// Send button, also where the number of recipients has to be typed.
func TestConfirmByKeyboard(t *testing.T) {
	beside(t)
	o := openOffice(t)
	p := newTab(t, newBrowser(t), o.base)
	p.firstRun(o)
	p.compose("Good morning", "0803 000 0001", "0803 000 0002", "0803 000 0007")
	draft := p.URL()
	p.open2(draft)
	p.inSight("#send-now", true)
	t.Logf("%d keys to the Send button", p.keysTo("send-now", 7))

	p.open("/settings/account")
	p.follow("Sandbox")
	p.follow("Limits and approval")
	p.fill("Ask to confirm the number above", "2")
	p.press("Save limits")
	p.sees("Saved.")
	p.open2(draft)
	keys := p.keysTo("typed", 6)
	p.do(p.Keyboard().Type("33"))
	p.do(p.Keyboard().Press("Tab"))
	if id, _ := p.focused(); id != "send-now" {
		t.Errorf("after the number stands %q", id)
	}
	t.Logf("%d keys to the Send button where the number is typed", keys+1)
	p.do(p.Keyboard().Press("Enter"))
	p.sees("You typed 33. There are 3 recipients")
	p.picture("typed")
	p.fill("Type 3 to confirm", "3")
	p.do(p.Keyboard().Press("Enter"))
	p.do(p.WaitForURL(regexp.MustCompile(`/campaigns/\d+$`)))
	p.row("0803 000 0001", "Delivered")
}

// TestPreviewAndTest: another row and another time change the page in place,
// and the row shown goes to one's own phone.
func TestPreviewAndTest(t *testing.T) {
	beside(t)
	o := openOffice(t)
	b := newBrowser(t)
	p := newTab(t, b, o.base)
	p.firstRun(o)
	plain := newTab(t, b, o.base, playwright.BrowserNewContextOptions{JavaScriptEnabled: playwright.Bool(false),
		Viewport: &playwright.Size{Width: 320, Height: 844}})
	plain.signIn(adaEmail, adaPassword)
	for _, p := range []*tab{p, plain} {
		p.compose("Dear all, come on Friday.", "0803 000 0001", "0803 000 0002", "0803 000 0007")
		p.do2(p.Evaluate("window.marker = 'not reloaded'"))
		p.follow("Next")
		p.sees("Message 2 of 3")
		p.sees("to 0803 000 0002")
		p.fill("Number", "3")
		p.key("Enter")
		p.sees("Message 3 of 3")
		if p != plain {
			p.choosesTime("Tomorrow 9:00am")
			p.do(p.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Schedule for tomorrow at 9:00am"}).WaitFor())
			if marker, err := p.Evaluate("window.marker"); err != nil || marker != "not reloaded" {
				t.Errorf("the page was loaded again: marker %v, %v", marker, err)
			}
		}
		p.do(p.GetByText("Try it on your own phone").Click())
		p.fill("Send a test to your own phone", "0803 000 0101")
		p.press("Send a test")
		p.sees("Sent a test to 0803 000 0101.")
		p.sees("Message 3 of 3")
		p.picture("tested")
		p.follow("View the test")
		p.sees("Test of Dear all, come on Friday.")
		if p != plain {
			p.row("0803 000 0101", "Delivered")
		}
	}
	p.quiet()
}
