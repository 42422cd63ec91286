package e2e

import (
	"regexp"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

// TestASeriesIsSentByItself: an audience, a rule, every date before it starts; the
// first run is prepared, stands in the calendar and is sent without anybody; another
// one is moved and one left out. The same form works without scripts.
func TestASeriesIsSentByItself(t *testing.T) {
	waits(t)
	o := openOffice(t)
	b := newBrowser(t)
	p := newTab(t, b, o.base)
	p.firstRun(o)
	p.parents("08030000001", "08030000002")
	plain := newTab(t, b, o.base, playwright.BrowserNewContextOptions{JavaScriptEnabled: playwright.Bool(false),
		Viewport: &playwright.Size{Width: 390, Height: 844}})
	plain.signIn(adaEmail, adaPassword)
	zone, err := time.LoadLocation("Africa/Lagos")
	if err != nil {
		t.Fatal(err)
	}
	soon := time.Now().In(zone).Add(90 * time.Second)
	for i, p := range []*tab{plain, p} {
		name := []string{"Plain reminder", "Vaccination reminder"}[i]
		p.open("/series/new")
		if p == plain {
			p.press("Review the dates")
			p.sees("There is a problem")
		}
		p.fill("Name", name)
		p.pick("Audience", "Parents")
		p.fill("Own text", name+": dear ##Name##, come to the clinic.")
		p.pick("Unit", "days")
		at := soon
		if p == plain {
			at = soon.AddDate(0, 0, 7)
		}
		p.do(p.Locator("#time").Fill(at.Format("15:04")))
		p.do(p.Locator("#from").Fill(at.Format("2006-01-02")))
		p.do(p.Locator("#count").Fill("4"))
		p.press("Review the dates")
		p.sees("The next 4 runs")
		p.sees(at.AddDate(0, 0, 3).Format("Monday 2 January 2006"))
		p.picture("series-review")
		p.press("Start the series")
		p.sees("The series is active.")
		p.sees("Every day at " + at.Format("3:04pm") + ", 4 times")
	}
	address := p.URL()
	p.sees("Coming runs")
	row := p.Locator("#run-1")
	p.until("the first run is prepared", func() bool {
		p.do2(p.Reload())
		words, _ := row.InnerText()
		return regexp.MustCompile(`Scheduled|Sending|Finished`).MatchString(words)
	})
	p.picture("series")

	// A coming run is moved from the calendar, the one after it left out.
	tomorrow := soon.AddDate(0, 0, 1)
	p.open("/calendar?view=week&at=" + tomorrow.Format("2006-01-02"))
	p.sees("Vaccination reminder")
	p.picture("calendar-week")
	p.do(p.Locator("#on-" + tomorrow.Format("2006-01-02") + " a.move").First().Click())
	p.do(p.Locator("#move #time").Fill(soon.Add(time.Minute).Format("15:04")))
	p.press("Move to this time")
	p.sees("Moved from " + tomorrow.Format("Monday 2 January") + ", " + soon.Format("3:04pm"))
	p.do(p.Locator("#day-" + tomorrow.AddDate(0, 0, 1).Format("2006-01-02")).GetByRole("link").Click())
	p.press("Leave out this run")
	p.sees("Left out")
	p.open("/calendar")
	p.sees("To come: ")
	p.picture("calendar")

	p.open(address[len(o.base):])
	p.until("the first run was sent by itself", func() bool {
		p.do2(p.Reload())
		words, _ := row.InnerText()
		return regexp.MustCompile(`Finished`).MatchString(words)
	})
	p.do(row.GetByRole("link").Click())
	p.row("0803 000 0001", "Delivered")
	p.sees("Run 1 of the series")
	if got := len(ledger(t, o.sandbox)); got != 2 {
		t.Errorf("%d messages were sent, want 2", got)
	}
	p.open(address[len(o.base):])
	p.press("Pause")
	p.sees("This series is paused")
	p.press("Resume the series")
	p.follow("Stop for good")
	p.press("Stop for good")
	p.sees("Stopped")
	p.quiet()
}

// until waits for something that takes minutes by its nature: the clock.
func (p *tab) until(what string, is func() bool) {
	p.t.Helper()
	for end := time.Now().Add(5 * time.Minute); !is(); time.Sleep(time.Second) {
		if time.Now().After(end) {
			p.t.Fatalf("waited in vain: %s", what)
		}
	}
}
