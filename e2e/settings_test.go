package e2e

import (
	"regexp"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// TestAccountSettings: the list says what is set, each page has its form with
// the button in sight, a contradiction is refused at its field, and a phone
// without scripts goes from the list to a page and back.
func TestAccountSettings(t *testing.T) {
	beside(t)
	o := openOffice(t)
	b := newBrowser(t)
	p := newTab(t, b, o.base)
	p.firstRun(o)
	plain := newTab(t, b, o.base, playwright.BrowserNewContextOptions{JavaScriptEnabled: playwright.Bool(false),
		Viewport: &playwright.Size{Width: 390, Height: 844}})
	plain.signIn(adaEmail, adaPassword)

	p.open("/settings/account")
	p.follow("Sandbox")
	for _, page := range []string{"Connection", "Sending hours", "Limits and approval", "Money", "Advanced"} {
		p.follow(page)
		p.do(p.Locator(".crumb li:last-child").Filter(playwright.LocatorFilterOptions{HasText: page}).WaitFor())
		p.inSight("#save", false)
		p.picture("settings-" + strings.ToLower(strings.Fields(page)[0]))
	}
	p.countsChanges()
	p.neverCovered()
	p.quiet()
	p.contradiction()
	p.savesAWeek()
	p.choosesAPrice()

	plain.open("/settings/account/1")
	plain.sees("Any time, not on Sunday, other hours on Saturday")
	if plain.text("#save") != "" && visible(plain.Locator("#save")) {
		t.Error("the list on a phone has the button of a page that is not shown")
	}
	plain.picture("settings-phone")
	plain.follow("Limits and approval")
	plain.contradiction()
	plain.do(plain.Locator(".crumb a", playwright.PageLocatorOptions{HasText: "Sandbox"}).Click())
	plain.sees("50,000 per campaign, 50,000 per day")
	plain.savesAWeek()
	plain.choosesAPrice()
	for _, page := range []string{"connection", "hours", "limits", "money", "advanced"} {
		plain.open("/settings/account/1/" + page)
		plain.inSight("#save", false)
	}
}

// countsChanges: what is not saved is counted while one types, and can be undone.
func (p *tab) countsChanges() {
	p.t.Helper()
	p.open("/settings/account/1/limits")
	p.fill("Maximum recipients per day", "90")
	p.do(p.GetByRole("switch").Check())
	p.sees("2 changes, not saved.")
	p.press("Undo")
	p.sees("recipients today")
	if day, err := p.Locator("#day_most").InputValue(); err != nil || day != "" {
		p.t.Errorf("after undoing stands %q, %v", day, err)
	}
	p.do(p.Locator("#day_most").Focus())
	p.do(p.Keyboard().Type("80"))
	p.sees("1 change, not saved.")
	p.do(p.Keyboard().Press("Enter"))
	p.sees("Saved.")
	p.sees("80 per day")
}

// neverCovered: what has the focus never stands behind the bar, which is reached
// last.
func (p *tab) neverCovered() {
	p.t.Helper()
	p.do(p.SetViewportSize(390, 844))
	p.open("/settings/account/1/limits")
	for range 40 {
		p.do(p.Keyboard().Press("Tab"))
		at, err := p.Evaluate(`() => {
			const e = document.activeElement, bar = document.getElementById('deck');
			return e.id === 'save' ? 'end' : bar.contains(e) || e.getBoundingClientRect().bottom <= bar.getBoundingClientRect().top ? '' : e.outerHTML;
		}`)
		p.do(err)
		switch at {
		case "":
		case "end":
			p.do(p.SetViewportSize(1280, 800))
			return
		default:
			p.t.Errorf("the bar covers %v", at)
		}
	}
	p.t.Error("Tab never reaches the button")
}

// contradiction: a limit that another one contradicts is refused with a
// sentence at its field, and nothing is stored until it is mended.
func (p *tab) contradiction() {
	p.t.Helper()
	p.open("/settings/account/1/limits")
	p.fill("Maximum recipients per campaign", "50,000")
	p.fill("Maximum recipients per day", "40000")
	p.press("Save limits")
	const sentence = "Maximum per day must be 50,000 or more, or the largest campaign would take more than a day"
	p.sees(sentence)
	if said := p.text("#day_most-error"); !strings.Contains(said, sentence) {
		p.t.Errorf("at the field stands %q", said)
	}
	p.picture("settings-contradiction")
	p.follow("Undo the changes")
	if day, err := p.Locator("#day_most").InputValue(); err != nil || day == "40000" {
		p.t.Errorf("after undoing stands %q, %v", day, err)
	}
	p.fill("Maximum recipients per campaign", "50,000")
	p.fill("Maximum recipients per day", "50,000")
	p.press("Save limits")
	p.sees("Saved.")
}

// savesAWeek: a day that is closed, and one with hours of its own.
func (p *tab) savesAWeek() {
	p.t.Helper()
	p.open("/settings/account/1/hours")
	if begins := p.Locator("#day_1_from"); visible(begins) {
		p.t.Error("a day without hours of its own asks for them")
	}
	p.do2(p.Locator("#day_0").SelectOption(playwright.SelectOptionValues{Values: &[]string{"closed"}}))
	p.do2(p.Locator("#day_6").SelectOption(playwright.SelectOptionValues{Values: &[]string{"own"}}))
	p.do(p.Locator("#day_6_from").Fill("14:00"))
	p.do(p.Locator("#day_6_to").Fill(""))
	p.press("Save sending hours")
	p.sees("Enter both times, or leave both empty")
	p.do(p.Locator("#day_6_to").Fill("18:30"))
	p.press("Save sending hours")
	p.sees("Saved.")
	p.do(p.GetByRole("img", playwright.PageGetByRoleOptions{Name: "Saturday: 2:00pm to 6:30pm"}).WaitFor())
	p.do(p.GetByRole("img", playwright.PageGetByRoleOptions{Name: "Sunday: closed"}).WaitFor())
	size := p.ViewportSize()
	for _, width := range []int{1280, 1000, 390, 320} {
		p.do(p.SetViewportSize(width, size.Height))
		p.fits("a week with hours of its own", width)
	}
	p.do(p.SetViewportSize(size.Width, size.Height))
}

// choosesAPrice: a typed price is asked for where it is chosen, and shown in the
// list; afterwards it is learned again.
func (p *tab) choosesAPrice() {
	p.t.Helper()
	p.open("/settings/account/1/money")
	price := p.Locator("#price_per_part")
	if visible(price) {
		p.t.Error("a price is asked for although it is learned")
	}
	choose := func(from string) {
		p.do2(p.Locator("#price_from").SelectOption(playwright.SelectOptionValues{Values: &[]string{from}}))
	}
	choose("typed")
	p.do(price.Fill("four"))
	p.press("Save money settings")
	p.sees("Enter a price, for example 4.00, or choose the learned one")
	p.do(price.Fill("3.50"))
	p.press("Save money settings")
	p.do(p.WaitForURL(regexp.MustCompile(`money\?done=saved`)))
	if said := p.text("#to-money"); visible(p.Locator("#to-money")) && !strings.Contains(said, "₦3.50 per part") {
		p.t.Errorf("the list says %q", said)
	}
	choose("learned")
	p.press("Save money settings")
	p.sees("Saved.")
}
