package e2e

import (
	"regexp"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// TestLimitsAndTheLinkThatStopsMessages: a link in a message opens a page on
// which the person stops messages, looking at it changes nothing, and the proof
// stands among the blocked numbers; who got enough messages is left out, and a
// person who would write to too many is told so.
func TestLimitsAndTheLinkThatStopsMessages(t *testing.T) {
	beside(t)
	o := openOffice(t)
	b := newBrowser(t)
	p := newTab(t, b, o.base)
	p.firstRun(o)
	p.upload("stop.csv", "Phone,Name\n08030000001,Ada\n08030000002,Bola\n")
	p.do2(p.Locator("select[name=sender_id]").SelectOption(playwright.SelectOptionValues{Values: &[]string{"CLINIC"}}))
	p.fill("Message", "Dear ##Name##, to stop: ##stop link##")
	p.press("Continue")
	p.press("Send 2 messages now")
	p.do(p.WaitForURL(regexp.MustCompile(`/campaigns/\d+$`)))
	p.row("0803 000 0001", "Delivered")
	p.open("/messages/1")
	link := regexp.MustCompile(`https?://\S+/s/[\w-]{22}`).FindString(p.text("main"))
	if link == "" || strings.Contains(link, "803") {
		t.Fatalf("the message has no link, or one with the number in it: %q in %s", link, p.text("main"))
	}
	path := link[strings.Index(link, "/s/"):]
	stranger := newTab(t, b, o.base)
	for range 2 {
		stranger.open(path)
		stranger.sees("Stop messages from CLINIC to 0803 ••• 0001?")
	}
	stranger.picture("stop")
	stranger.press("Stop messages")
	stranger.sees("You have opted out")
	stranger.open(path)
	stranger.sees("You have opted out")
	stranger.quiet()
	stranger.open("/s/" + strings.Repeat("A", 22))
	stranger.sees("This link does not work")
	p.open("/settings/blocked")
	p.row("0803 000 0001", "opted out with the link in a message")
	p.row("0803 000 0001", "Used the opt-out link, messages from CLINIC")
	p.picture("blocked-proof")

	p.open("/settings/account/1/limits")
	p.limits(map[string]string{"cap_messages": "1", "cap_days": "", "person_most": "2"})
	p.sees("Enter both the number of messages and the number of days, or leave both empty")
	p.picture("limits-error")
	p.limits(map[string]string{"cap_messages": "1", "cap_days": "7", "person_most": "2"})
	p.sees("Saved.")
	p.picture("limits")

	p.composeRefused("0803 000 0002", "This recipient already got 1 message in the last 7 days (limit: 1)")
	p.compose("To three.", "0803 000 0003", "0803 000 0021", "0803 000 0022")
	p.press("Send 3 messages now")
	p.sees("A campaign can have up to 2 recipients. This one has 3.")
	p.picture("limit-confirm")
}

// limits fills in the limits of an account and saves.
func (p *tab) limits(fields map[string]string) {
	p.t.Helper()
	for id, value := range fields {
		p.do(p.Locator("#" + id).Fill(value))
	}
	p.press("Save limits")
}
