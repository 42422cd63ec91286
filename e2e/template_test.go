package e2e

import (
	"regexp"
	"slices"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// TestATemplateIsSent chooses a template of the service, fills its marks and
// sends it, in a browser with scripts and in one without. Whoever presses Enter
// in a field checks the message and does not lose the text.
func TestATemplateIsSent(t *testing.T) {
	beside(t)
	o := openOffice(t)
	b := newBrowser(t)
	newTab(t, b, o.base).firstRun(o)
	for _, c := range []struct {
		name, number, place string
		scripts             bool
	}{{"scripts", "0803 555 0101", "Room 4", true}, {"no scripts", "0803 555 0102", "Room 5", false}} {
		t.Run(c.name, func(t *testing.T) {
			p := newTab(t, b, o.base, playwright.BrowserNewContextOptions{JavaScriptEnabled: playwright.Bool(c.scripts)})
			p.signIn(adaEmail, adaPassword)
			p.open("/new")
			if c.scripts {
				p.do2(p.Evaluate("window.marker = 'not reloaded'"))
			}
			p.numbers(c.number)
			p.fill("Message", "Typed before.")
			p.do2(p.Locator("select[name=sender_id]").SelectOption(playwright.SelectOptionValues{Values: &[]string{"SCHOOL"}}))
			options, err := p.Locator("select[name=template] option").AllInnerTexts()
			if want := []string{"Own text", "Appointment", "Holiday", "Results ready"}; err != nil ||
				!slices.Equal(options, want) {
				t.Errorf("offered are %q (%v), want only the approved and active ones %q", options, err, want)
			}
			p.do2(p.Locator("select[name=template]").SelectOption(
				playwright.SelectOptionValues{Labels: &[]string{"Results ready"}}))
			if !c.scripts {
				p.press("Use this template")
			}
			p.do(p.GetByLabel("Value for ##Place##").WaitFor())
			text, err := p.Locator("textarea[name=text]").InputValue()
			if err != nil ||
				text != "Dear ##Name##, your results are ready. Come to ##Place## between 8:00 and 16:00 before ##Date##." {
				t.Errorf("the text is %q, %v", text, err)
			}
			if numbers, err := p.Locator("textarea[name=numbers]").InputValue(); err != nil || numbers != c.number {
				t.Errorf("the numbers are %q, %v", numbers, err)
			}
			if c.scripts {
				if marker, err := p.Evaluate("window.marker"); err != nil || marker != "not reloaded" {
					t.Errorf("the page was loaded again: marker %v, %v", marker, err)
				}
			}

			p.fill("Value for ##Name##", "patient")
			p.fill("Value for ##Place##", c.place)
			if c.scripts {
				p.do(p.Locator("#preview .bubble").Filter(playwright.LocatorFilterOptions{HasText: "Come to " + c.place}).WaitFor())
			}
			p.do(p.GetByLabel("Value for ##Place##").Press("Enter"))
			p.do(p.Locator("#errors").WaitFor())
			p.sees("Enter a value for ##Date##, or upload a list with a column for it")
			p.follow("Enter a value for ##Date##")
			if c.scripts {
				if focused, err := p.Evaluate("document.activeElement.name"); err != nil || focused != "field:date" {
					t.Errorf("the summary leads to %v, %v", focused, err)
				}
			}
			p.complaints = nil // the browser tells every 422
			p.fill("Value for ##Date##", "Friday")
			p.do(p.GetByLabel("Value for ##Date##").Press("Enter"))
			p.do(p.WaitForURL(regexp.MustCompile(`/campaigns/\d+/confirm$`)))
			p.sees("Dear patient, your results are ready. Come to " + c.place + " between 8:00 and 16:00 before Friday.")
			p.press("Send 1 message now")
			p.do(p.WaitForURL(regexp.MustCompile(`/campaigns/\d+$`)))
			waitFor(t, patience, "the text at the service", func() bool {
				for _, e := range ledger(t, o.sandbox) {
					if e.Text == "Dear patient, your results are ready. Come to "+c.place+" between 8:00 and 16:00 before Friday." {
						return true
					}
				}
				return false
			})
			p.quiet()
		})
	}
}
