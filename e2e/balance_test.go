package e2e

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestBalancePage: the credit as given, a fall that nobody sent for, the
// warning, usage, cost and the floor.
func TestBalancePage(t *testing.T) {
	beside(t)
	a := openArchive(t)
	a.goes("/balance", "₦1,000,000.00", "balance-fresh")
	a.sees("No usage in")
	a.compose("To be paid for.", "0803 000 0101", "0803 000 0102", "0805 000 0103")
	a.press("Send 3 messages now")
	a.do(a.WaitForURL(regexp.MustCompile(`/campaigns/\d+$`)))
	a.tile("Awaiting report", "3")
	a.open("/balance")
	waitFor(t, patience, "the balance after the campaign, on a page that nobody loads again", func() bool {
		return strings.Contains(a.text("#balance-live"), "₦999,988.00") &&
			strings.Contains(a.text("#balance-chart"), "Lowest ₦999,988.00")
	})
	a.goes("/balance?by=network", "MTN", "balance")
	a.sees("₦12.00")
	a.sees("All networks")
	a.do(a.Locator("#costs").ScrollIntoViewIfNeeded())
	a.picture("balance-costs")
	a.open("/balance")
	a.sees(": 3 parts")
	a.sees("How long it lasts cannot be told")
	a.do(a.Locator("#usage-days svg a").Last().Click())
	a.sees("To be paid for.")
	for _, by := range []string{"month", "sender", "person"} {
		a.open("/balance?by=" + by)
		a.sees("Total")
	}
	a.sees("Ada Obi")

	a.open("/balance")
	a.fill("Low-balance alert (optional)", "a lot")
	a.press("Save")
	a.refused("Enter an amount, for example 5000, or leave it empty")
	a.fill("Low-balance alert (optional)", "999,990")
	a.fill("Minimum balance (optional)", "999,980")
	a.fill("Send alerts to (optional)", "ada@example.com")
	a.press("Save")
	a.sees("Saved.")
	a.open("/campaigns")
	a.sees("The balance is low: ₦999,988.00. Your alert level is ₦999,990.00.")
	a.picture("balance-low")

	a.open("/balance")
	a.do(a.Locator("#xml summary").Click())
	a.press("Check now")
	a.sees("The balance as XML")
	if said := a.text("#xml-balance-0"); said != "SMS: ₦999,988.00" {
		t.Errorf("read out of the XML: %q", said)
	}

	mend := a.unreachable()
	time.Sleep(2100 * time.Millisecond)
	a.open("/balance")
	a.press("Refresh balance")
	a.sees("Could not read the balance")
	a.sees("Last known ₦999,988.00")
	a.picture("balance-unreachable")
	mend()
	a.quiet()
}
