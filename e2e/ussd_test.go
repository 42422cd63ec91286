package e2e

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// choice picks an option of the select with this label.
func (p *tab) choice(label, words string) {
	p.t.Helper()
	p.do2(p.GetByLabel(label, playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}).First().SelectOption(
		playwright.SelectOptionValues{Labels: &[]string{words}}))
}

func (p *tab) pressExactly(words string) {
	p.t.Helper()
	p.do(p.GetByRole("button", playwright.PageGetByRoleOptions{Name: words, Exact: playwright.Bool(true)}).First().Click())
}

// TestAMenuIsBuiltDialledAndObeyed: an opt-out is built screen by screen,
// published, dialled in the simulator on a network that leaves half of the
// request out, and the number is left out of the next campaign.
func TestAMenuIsBuiltDialledAndObeyed(t *testing.T) {
	beside(t)
	o := openOffice(t)
	p := newTab(t, newBrowser(t), o.base)
	p.firstRun(o)

	p.open("/ussd")
	p.sees("No menus yet.")
	p.picture("ussd-empty")
	p.follow("Start from an example")
	p.do(p.GetByLabel("Empty menu").Check())
	p.press("Create menu")
	p.sees("Fix before publishing")
	p.follow("Code, languages and tables")
	p.fill("Name of the menu", "Opt out")
	p.fill("Short code", "*384#")
	p.pressExactly("Save")
	p.sees("Saved.")

	p.press("Add a screen")
	p.fill("Name of the screen", "Stopped")
	p.fill("Text", "Done. You will get no more messages")
	p.choice("Action before this screen", "Block the caller's number")
	p.pressExactly("Save")
	p.press("Add a screen")
	p.follow("Remove this screen")
	p.sees("Remove the screen New screen?")
	p.picture("ussd-remove")
	p.press("Remove this screen")
	p.sees("2 screens")
	p.follow("1. Start")
	p.follow("Edit Start")
	p.fill("Text", "Messages from the clinic")
	p.do(p.Locator("#choice-0-en").Fill("Stop all messages"))
	p.do2(p.Locator("#next-0").SelectOption(playwright.SelectOptionValues{Labels: &[]string{"2. Stopped"}}))
	p.sees("1. Stop all messages") // the phone beside the form has it already
	p.picture("ussd-screen")
	p.pressExactly("Save")
	p.picture("ussd-editor")

	p.follow("Publish")
	p.press("Publish Opt out")
	p.sees("Published. New callers will get this version.")
	p.sees("Version 1 published")
	p.quiet()

	p.dial("*384#", "airtel", "0803 000 0101")
	p.sees("1. Stop all messages")
	p.picture("ussd-simulator")
	p.fill("Your answer", "9")
	p.press("Send")
	p.sees("That is not a valid choice.")
	p.fill("Your answer", "1")
	p.press("Send")
	p.sees("Done. You will get no more messages")
	p.sees("Session ended")
	if got := p.text("#answer"); !strings.Contains(got, `"command_id": 113`) || !strings.Contains(p.text("#took"), "ms") {
		t.Errorf("answer %s, took %s", got, p.text("#took"))
	}

	p.open("/settings/blocked")
	p.row("0803 000 0101", "opted out by USSD")
	p.compose("Only for some.", "0803 000 0001", "0803 000 0101")
	p.sees("Left out")
	p.press("Send 1 message now")
	p.do(p.WaitForURL(regexp.MustCompile(`/campaigns/\d+$`)))
	p.row("0803 000 0101", "Number blocked since")
	p.row("0803 000 0001", "Delivered")

	p.open("/ussd/sessions")
	p.row("0803 000 0101", "Completed")
	p.picture("ussd-sessions")
	p.follow("0803 000 0101")
	p.sees("Stop all messages")
	p.sees("Conversation")
	p.picture("ussd-session")
	p.open("/ussd/menus/1/answers")
	p.sees("Where callers go")
	p.sees("1 Stop")
	p.do(p.Locator("#map-table summary").Click())
	p.sees("Where callers leave")
	p.quiet()
	got := map[string]int{}
	for _, e := range ledger(t, o.sandbox) {
		got[e.Number]++
	}
	if fmt.Sprint(got) != "map[2348030000001:1]" {
		t.Errorf("the sandbox executed %v", got)
	}
}

// dial dials in the simulator.
func (p *tab) dial(code, network, number string) {
	p.t.Helper()
	p.open("/ussd/simulator")
	p.fill("Dial", code)
	p.choice("Network", network)
	p.fill("Caller's number", number)
	p.press("Dial")
}

// menuFrom makes a menu of an example and stays in its editor.
func (p *tab) menuFrom(example string) {
	p.t.Helper()
	p.open("/ussd/new")
	p.do(p.GetByLabel(example).Check())
	p.press("Create menu")
	p.do(p.WaitForURL(regexp.MustCompile(`/ussd/menus/\d+$`)))
}

// TestSurveyAndFeeWithoutScripts walks the other examples on every network,
// with scripts off, and finds the answers in the table and its download.
func TestSurveyAndFeeWithoutScripts(t *testing.T) {
	beside(t)
	o := openOffice(t)
	b := newBrowser(t)
	first := newTab(t, b, o.base)
	first.firstRun(o)
	state, err := first.Context().StorageState()
	if err != nil {
		t.Fatal(err)
	}
	p := newTab(t, b, o.base, playwright.BrowserNewContextOptions{StorageState: state.ToOptionalStorageState(),
		JavaScriptEnabled: playwright.Bool(false)})
	for _, example := range []string{"School fee balance", "Survey after a visit"} {
		p.menuFrom(example)
		p.follow("Publish")
		p.press("Publish " + example)
		p.sees("Version 1 published")
	}
	p.dial("*347*12#", "mtn", "0803 000 0102")
	for _, answer := range [][2]string{{"2", "Shigar da lambar dalibi"}, {"1003", "Saura na Chidi: 4,000 naira"}} {
		p.fill("Your answer", answer[0])
		p.press("Send")
		p.sees(answer[1])
	}
	for i, network := range []string{"mtn", "glo", "airtel", "9mobile"} {
		p.dial("*347*13*3#", network, fmt.Sprintf("0803 000 020%d", i))
		for _, answer := range [][2]string{{"Shorter queue", "On which day"}, {"1/2/2026", "May we send you news?"},
			{"1", "You are on the list."}} {
			p.fill("Your answer", answer[0])
			p.press("Send")
			p.sees(answer[1])
		}
	}
	p.open("/ussd/menus/2/answers")
	waitFor(t, patience, "the answers of all four", func() bool {
		p.do2(p.Reload())
		n, err := p.Locator("table tbody tr").Filter(playwright.LocatorFilterOptions{HasText: "Shorter queue"}).Count()
		p.do(err)
		return n == 4
	})
	for i := range 4 {
		p.row(fmt.Sprintf("0803 000 020%d", i), "Shorter queue")
	}
	p.mapOfFour()
	p.picture("ussd-answers")
	download, err := p.ExpectDownload(func() error {
		return p.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Download answers (CSV)"}).Click()
	})
	p.do(err)
	path, err := download.Path()
	p.do(err)
	raw, err := os.ReadFile(path)
	p.do(err)
	if csv := string(raw); strings.Count(csv, "Shorter queue") != 4 || !strings.Contains(csv, "Satisfied") ||
		!strings.Contains(csv, "2348030000203") {
		t.Errorf("the download holds\n%s", csv)
	}
	p.open("/ussd/sessions")
	p.sees("News: 4 callers")
}

// mapOfFour looks at the map of a survey that four callers went through: its
// figures, the bars of their answers, and on a phone its own region that scrolls.
func (p *tab) mapOfFour() {
	p.t.Helper()
	p.sees("Where callers go")
	p.sees("Ended here: 4")
	if n, err := p.Locator(".answers dt").Filter(playwright.LocatorFilterOptions{HasText: "Shorter queue"}).Count(); err != nil || n != 1 {
		p.t.Errorf("%d bars of the one answer (%v)", n, err)
	}
	p.do(p.SetViewportSize(390, 844))
	wide, err := p.Evaluate(`() => {
		const map = document.querySelector('.flowmap');
		return [document.documentElement.scrollWidth, map.scrollWidth > map.clientWidth, map.getAttribute('aria-label')];
	}`)
	p.do(err)
	if got := fmt.Sprint(wide); got != "[390 true Map of the menu, scrolls horizontally]" {
		p.t.Errorf("on a phone: %s", got)
	}
	p.do(p.SetViewportSize(1280, 800))
}
