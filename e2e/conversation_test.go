package e2e

import (
	"regexp"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// TestAConversationWithOneNumber: everything that was sent to a number stands on one
// page, whoever sent it and however the number is written, with the contact, its
// block and the proof; a message is sent again from there. The same without scripts,
// on a phone.
func TestAConversationWithOneNumber(t *testing.T) {
	beside(t)
	o := openOffice(t)
	b := newBrowser(t)
	p := newTab(t, b, o.base)
	p.firstRun(o)
	p.parents("08030000001", "08030000002")
	for _, text := range []string{"The fees are due on Monday.", "The clinic is closed on Friday."} {
		p.compose(text, "0803 000 0001", "0803 000 0021")
		p.press("Send 2 messages now")
		p.do(p.WaitForURL(regexp.MustCompile(`/campaigns/\d+$`)))
		p.row("0803 000 0001", "Delivered")
	}
	plain := newTab(t, b, o.base, playwright.BrowserNewContextOptions{JavaScriptEnabled: playwright.Bool(false),
		Viewport: &playwright.Size{Width: 390, Height: 844}})
	plain.signIn(adaEmail, adaPassword)
	for number, p := range map[string]*tab{"+234 803-000-0001": p, "08030000001": plain} {
		p.open("/messages")
		p.fill("Number, campaign or words", number)
		p.press("Find")
		p.sees("2 messages to 0803 000 0001, newest campaign first")
		p.sees("The fees are due on Monday.")
		p.sees("The clinic is closed on Friday.")
		p.sees("Delivered")
		p.sees("Ada")
		if n, err := p.Locator("#conversation > li").Count(); err != nil || n != 2 {
			t.Errorf("%d messages in the conversation, %v", n, err)
		}
		p.picture("conversation")
	}
	plain.fits(plain.URL()[len(o.base):], 390)

	p.do(p.Locator("#conversation > li").First().GetByRole("link", playwright.LocatorGetByRoleOptions{Name: "Send again"}).Click())
	p.do(p.WaitForURL(regexp.MustCompile(`/messages/\d+/again$`)))
	p.sees("The clinic is closed on Friday.")
	p.press("Continue")
	p.do(p.WaitForURL(regexp.MustCompile(`/campaigns/\d+/confirm$`)))
	p.sees("The clinic is closed on Friday.")

	p.open("/messages")
	p.fill("Number, campaign or words", "0803 000 0001")
	p.press("Find")
	p.follow("Block this number")
	p.press("Block this number")
	p.sees("Number blocked.")
	plain.open("/messages")
	plain.fill("Number, campaign or words", "08030000001")
	plain.press("Find")
	plain.sees("Proof:")
	plain.sees("added by Ada Obi")
	p.open("/messages")
	p.fill("Number, campaign or words", "0803 999 9999")
	p.press("Find")
	p.sees("0803 999 9999")
	p.quiet()
}
