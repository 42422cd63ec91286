package e2e

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

// TestBlockedNumbersAreNotSentTo: a number is blocked by hand, one by a file,
// one by its own BLACKLIST report and one from its message; none of them is
// sent to afterwards, and the pages say how many were left out and why.
func TestBlockedNumbersAreNotSentTo(t *testing.T) {
	beside(t)
	o := openOffice(t)
	p := newTab(t, newBrowser(t), o.base)
	p.firstRun(o)

	p.open("/settings/blocked")
	p.sees("No blocked numbers.")
	p.fill("Phone numbers", "0803 000 0101")
	p.fill("Note (optional)", "asked by phone")
	p.do(p.GetByLabel("Or upload a file of numbers").SetInputFiles(writeFile(t, "numbers.csv",
		"Name,Phone\nBola,0803 000 0102\n")))
	p.press("Block numbers")
	p.sees("Numbers blocked.")
	p.sees("from a file uploaded by Ada Obi")

	p.compose("Only for some.", "0803 000 0001", "0803 000 0101", "0803 000 0102", "0803 000 0005")
	p.sees("Left out")
	p.press("Send 2 messages now")
	p.do(p.WaitForURL(regexp.MustCompile(`/campaigns/\d+$`)))
	p.row("0803 000 0001", "Delivered")
	p.row("0803 000 0005", "Number is blocked")
	p.row("0803 000 0101", "Number blocked since")
	p.row("0803 000 0102", "Left out")
	p.picture("blocked")

	p.open("/settings/blocked")
	p.row("0803 000 0005", "delivery report BLACKLIST")
	p.quiet()

	p.composeRefused("0803 000 0005", "(reason: delivery report BLACKLIST)")

	p.open("/messages/1")
	p.follow("Block this number")
	p.press("Block this number")
	p.sees("Number blocked.")
	p.compose("The second one.", "0803 000 0001", "0803 000 0005", "0803 000 0021")
	p.sees("Left out")
	p.press("Send 1 message now")
	p.row("0803 000 0021", "Delivered")

	p.open("/settings/blocked")
	p.fill("Number begins with", "0803 000 01")
	p.press("Search")
	p.sees("2 numbers begin with 0803 000 01")
	p.do(p.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Unblock 0803 000 0101"}).Click())
	p.press("Unblock this number")
	p.sees("Enter why this number should be unblocked")
	p.fill("Why are you unblocking this number?", "came by in person")
	p.press("Unblock this number")
	p.sees("Number unblocked.")
	p.compose("Welcome back.", "0803 000 0101")
	p.press("Send 1 message now")
	p.row("0803 000 0101", "Delivered")

	time.Sleep(time.Second)
	got := map[string]int{}
	for _, e := range ledger(t, o.sandbox) {
		got[e.Number]++
	}
	want := map[string]int{"2348030000001": 1, "2348030000005": 1, "2348030000021": 1, "2348030000101": 1}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the sandbox executed %v, want %v", got, want)
	}
}

// composeRefused writes to numbers that are all blocked.
func (p *tab) composeRefused(number, sentence string) {
	p.t.Helper()
	p.open("/new")
	p.numbers(number)
	p.do2(p.Locator("select[name=sender_id]").SelectOption(playwright.SelectOptionValues{Values: &[]string{"CLINIC"}}))
	p.fill("Message", "Nobody gets this.")
	p.press("Continue")
	p.sees("There is a problem")
	p.sees(sentence)
}
