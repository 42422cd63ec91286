package e2e

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"

	"smsdesk/internal/sms"
)

// picks chooses an option of the select with this name by its words.
func (p *tab) picks(name, words string) {
	p.t.Helper()
	p.do2(p.Locator("select[name=" + name + "]").SelectOption(playwright.SelectOptionValues{Labels: &[]string{words}}))
}

// showsDays goes to fewer days and back, and to the campaigns of today through its
// column.
func (p *tab) showsDays() {
	p.t.Helper()
	p.follow("14 days")
	p.do(p.Locator("#days svg[aria-label^='Messages in the last 14 days']").WaitFor())
	p.do(p.Locator("#days svg a").Last().Click())
	p.do(p.WaitForURL(regexp.MustCompile(`/campaigns\?from=\d{4}-\d\d-\d\d&to=`)))
	p.sees("Campaigns, newest first")
	p.open("/")
	p.do(p.Locator("#days svg[aria-label^='Messages in the last 30 days']").WaitFor())
}

// rows are the phone numbers in the table of messages.
func (p *tab) rows() []string {
	p.t.Helper()
	list, err := p.Locator("#messages tbody tr td:nth-child(2), #messages tbody th").AllInnerTexts()
	p.do(err)
	return list
}

// looks keeps pictures of the page as it is seen on a desk, at night and on a phone.
func (p *tab) looks(name string) {
	p.t.Helper()
	for _, look := range []struct {
		suffix string
		scheme *playwright.ColorScheme
		width  int
		height int
	}{{"", playwright.ColorSchemeLight, 1280, 1500}, {"-dark", playwright.ColorSchemeDark, 1280, 1500},
		{"-phone", playwright.ColorSchemeLight, 390, 1900}} {
		p.do(p.EmulateMedia(playwright.PageEmulateMediaOptions{ColorScheme: look.scheme}))
		p.do(p.SetViewportSize(look.width, look.height))
		p.picture(name + look.suffix)
	}
	p.do(p.EmulateMedia(playwright.PageEmulateMediaOptions{ColorScheme: playwright.ColorSchemeLight}))
	p.do(p.SetViewportSize(1280, 900))
}

// TestWhoGotItWhoDidNotAndWhy is a morning after a campaign with every fate:
// the overview, the live page, its breakdown, one person, what to do next.
func TestWhoGotItWhoDidNotAndWhy(t *testing.T) {
	beside(t)
	o := openOffice(t)
	b := newBrowser(t)
	p := newTab(t, b, o.base)
	p.firstRun(o)
	p.sees("No messages yet")
	p.looks("overview-empty")

	setFaults(t, o.sandbox, `{"holdReports":true}`)
	p.compose("Good morning. The clinic is open from 9 today.", "0803 000 0001", "0803 000 0002", "0805 000 0003",
		"0805 000 0004", "0802 000 0005", "0809 000 0006", "0803 000 0012", "0805 000 0010", "0802 000 0101", "0803 000 0102")
	p.press("Send 10 messages now")
	p.do(p.WaitForURL(regexp.MustCompile(`/campaigns/\d+$`)))
	campaign := p.URL()
	p.tile("Awaiting report", "9")
	p.row("0805 000 0010", "Refused by the provider")

	// A filtered page stays as it is and says how much has changed.
	p.follow("Delivered")
	p.do(p.WaitForURL(regexp.MustCompile(`tile=delivered`)))
	p.sees("No messages with this status")
	p.sees("Live")
	p.do2(p.Evaluate("window.marker = 'not reloaded'"))
	setFaults(t, o.sandbox, `{}`)
	p.tile("Delivered", "3")
	p.sees("3 changes since you opened this page.")
	if marker, err := p.Evaluate("window.marker"); err != nil || marker != "not reloaded" {
		t.Errorf("the page was loaded again: %v, %v", marker, err)
	}
	p.picture("campaign-newer")
	p.do(p.Locator("#show-newer").Click())
	p.row("0803 000 0001", "Delivered")
	if got := p.rows(); len(got) != 3 {
		t.Errorf("delivered: %v", got)
	}
	p.open2(campaign)
	p.row("0805 000 0003", "expired")
	p.row("0802 000 0005", "Number is blocked")
	p.row("0803 000 0012", "Unknown")
	p.looks("campaign")

	p.takesAway()
	p.finds(campaign)
	p.breaksDown()
	p.open2(campaign)
	p.sendsAgain()
	p.open2(campaign)
	p.asks()

	p.compose("The clinic is closed on the day after the long holiday.", "0803 000 0001", "0803 000 0002", "0803 000 0101")
	p.later("Tomorrow 9:00am", "Schedule for tomorrow at 9:00am")
	p.open("/")
	p.sees("Latest campaigns")
	p.shownWhole("#latest", "#check")
	p.row("0803 000 0002", "2 times")
	p.row("0805 000 0003", "expired")
	if sent := p.text("#today-all"); sent != "11" {
		t.Errorf("%s messages sent today", sent)
	}
	p.sees("Delivered of every 100, by network and hour")
	p.showsDays()
	p.looks("overview")
	p.press("View messages to 0803 000 0002")
	p.sees("2 messages to 0803 000 0002")
	p.open("/messages?tile=failed")
	p.shownWhole("#messages")
	p.open("/")
	p.follow("Block 0803 000 0002")
	p.press("Block this number")
	p.open("/")
	p.row("0805 000 0003", "2 times")
	if strings.Contains(p.text("#check"), "0803 000 0002") {
		t.Error("a blocked number is still to be checked")
	}
	p.comparesWithUpload()
	p.quiet()

	must(t, binary(t, ""), "--data", o.data, "user", "add", "--email", "vera@example.com", "--name", "Vera", "--role",
		string(sms.Viewer), "--password-file", writeFile(t, "password", adaPassword))
	viewer := newTab(t, b, o.base)
	viewer.signIn("vera@example.com", adaPassword)
	viewer.sees("Latest campaigns")
	viewer.masked(campaign)
}

// shownWhole fails where a table is cut off at its right.
func (p *tab) shownWhole(tables ...string) {
	p.t.Helper()
	for _, table := range tables {
		if over, err := p.Locator(table).Evaluate(
			"e => { const box = e.closest('.scroll') ?? e.querySelector('.scroll'); return box.scrollWidth - box.clientWidth }",
			nil); err != nil || fmt.Sprint(over) != "0" {
			p.t.Errorf("%s is wider than its place by %v px, %v", table, over, err)
		}
	}
}

// finds looks for messages of the campaign by number, words, network and
// status; no number stands in an address.
func (p *tab) finds(campaign string) {
	p.t.Helper()
	random := regexp.MustCompile(`find=[0-9a-f]{32}`)
	for _, c := range []struct {
		number, text, state, network string
		want                         []string
	}{
		{"+234 805 000 0003", "", "All statuses", "All networks", []string{"0805 000 0003"}},
		{"0004", "", "All statuses", "All networks", []string{"0805 000 0004"}},
		{"", "CLINIC IS", "Not delivered", "All networks", []string{"0803 000 0002"}},
		{"", "", "All statuses", "Airtel", []string{"0802 000 0005", "0802 000 0101"}},
	} {
		p.open2(campaign)
		p.fill("Phone number", c.number)
		p.fill("Text contains", c.text)
		p.picks("state", c.state)
		p.picks("network", c.network)
		p.press("Filter")
		p.sees("found")
		if got := p.rows(); strings.Join(got, ",") != strings.Join(c.want, ",") {
			p.t.Errorf("%+v: %v", c, got)
		}
		if regexp.MustCompile(`0{3}`).MatchString(random.ReplaceAllString(strings.TrimPrefix(p.URL(), p.base), "")) {
			p.t.Errorf("a number in the address %s", p.URL())
		}
	}
	p.picture("campaign-found")
	p.fill("Phone number", "12")
	p.press("Filter")
	p.sees("There is a problem")
	p.sees("Enter the full number, or at least its last 4 digits")
	p.complaints = slices.DeleteFunc(p.complaints, func(c string) bool { return strings.Contains(c, "422") })
	p.open2(campaign)
	p.fill("Phone number", "0803 000 9999")
	p.press("Filter")
	p.sees("No messages match.")
	p.follow("Clear filters")
	p.row("0803 000 0001", "Delivered")
}

func (p *tab) breaksDown() {
	p.t.Helper()
	p.follow("Breakdown")
	p.sees("Why, by network")
	p.sees("Sent and reported")
	p.do(p.Locator("#breakdown-tables > summary").Click())
	p.sees("Why messages were not delivered")
	for _, words := range []string{"MTN", "Glo", "Airtel", "9mobile"} {
		p.row(words, "%")
	}
	p.row("Not delivered, expired", "EXPIRED")
	p.row("Refused by the network", "REJECTD")
	p.do(p.Locator("#curve-figures summary").Click())
	p.sees("Sent and reported, every")
	p.looks("breakdown")
	p.do(p.Locator("#networks a").Filter(playwright.LocatorFilterOptions{HasText: "Glo"}).Click())
	p.sees("3 messages found")
}

// sendsAgain: what can be sent again is proposed, what cannot says why.
func (p *tab) sendsAgain() {
	p.t.Helper()
	p.follow("Send again")
	p.sees("Delivery reports say these numbers are on a block list. They will be left out.")
	p.sees("Change one of them first.")
	p.picture("again")
	p.press("Continue")
	p.do(p.WaitForURL(regexp.MustCompile(`/campaigns/\d+/confirm$`)))
	p.picture("again-confirm")
	p.press("Send 2 messages now")
	p.do(p.WaitForURL(regexp.MustCompile(`/campaigns/\d+$`)))
	p.row("0803 000 0002", "Not delivered")
	p.row("0805 000 0003", "expired")
}

// asks asks the provider about the message of which no report came.
func (p *tab) asks() {
	p.t.Helper()
	p.follow("0809 000 0006")
	p.sees("No report yet")
	p.press("Ask the provider for its status")
	p.sees("Provider answer: delivered")
	p.do(p.Locator("details[id^=asked] summary").Click())
	p.sees(`"Status":"DELIVRD"`)
	p.looks("message")
	p.press("Messages to this number")
	p.sees("1 message to 0809 000 0006")
}

// masked is the same as a viewer sees it: no number whole, no button to press.
func (p *tab) masked(campaign string) {
	p.t.Helper()
	whole := regexp.MustCompile(`080[2359] 000 0\d{3}|23480[2359]00`)
	for _, address := range []string{campaign, campaign + "/breakdown", "/messages", "/messages/6", "/",
		"/messages?tile=delivered"} {
		p.open2(address)
		p.sees("Overview")
		content, err := p.Content()
		p.do(err)
		if found := whole.FindString(content); found != "" {
			p.t.Errorf("%s shows a viewer %q", address, found)
		}
		for _, words := range []string{"Send again", "Ask the provider", "Download all", "Evidence pack"} {
			if n, err := p.GetByText(words).Count(); err != nil || n > 0 {
				p.t.Errorf("%s offers a viewer %q, %v", address, words, err)
			}
		}
	}
	p.open("/messages")
	p.fill("Number, campaign or words", "0803-000-0102")
	p.press("Find")
	p.sees("1 message to")
	p.picture("messages-viewer")
}

// takesAway downloads the table and the evidence pack of the campaign as the
// links on its page give them.
func (p *tab) takesAway() {
	p.t.Helper()
	for id, holds := range map[string]string{"download-csv": "UNDELIV", "download-xlsx": "PK", "evidence": "PK"} {
		file, err := p.ExpectDownload(func() error { return p.Locator("#" + id).Click() })
		p.do(err)
		path, err := file.Path()
		p.do(err)
		content, err := os.ReadFile(path)
		p.do(err)
		if !strings.Contains(string(content), holds) {
			p.t.Errorf("%s holds %d bytes and no %q", file.SuggestedFilename(), len(content), holds)
		}
	}
}
