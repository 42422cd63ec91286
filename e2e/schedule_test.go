package e2e

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/storage"
)

// choosesTime takes one of the tiles of "When to send".
func (p *tab) choosesTime(words string) {
	p.t.Helper()
	p.do(p.Locator("label.when", playwright.PageLocatorOptions{HasText: words}).Click())
}

// later schedules the campaign whose confirmation is open, and returns the
// address of its page.
func (p *tab) later(choice, button string) string {
	p.t.Helper()
	p.choosesTime(choice)
	named := p.GetByRole("button", playwright.PageGetByRoleOptions{Name: button})
	if scripts, err := p.Evaluate("'js' in document.documentElement.dataset"); err == nil && scripts == true {
		p.do(named.First().WaitFor())
	} else {
		p.do(p.Locator("#send-now").Click())
	}
	p.press(button)
	p.do(p.WaitForURL(regexp.MustCompile(`/campaigns/\d+$`)))
	p.sees("Sending starts ")
	return p.URL()
}

// TestScheduling: schedule, cancel, schedule again, and watch it start by
// itself; the same orders with scripts turned off.
func TestScheduling(t *testing.T) {
	beside(t)
	o := openOffice(t)
	b := newBrowser(t)
	p := newTab(t, b, o.base)
	p.firstRun(o)
	plain := newTab(t, b, o.base, playwright.BrowserNewContextOptions{JavaScriptEnabled: playwright.Bool(false),
		Viewport: &playwright.Size{Width: 390, Height: 844}})
	plain.signIn(adaEmail, adaPassword)
	for i, p := range []*tab{plain, p} {
		p.compose("See you at the clinic, "+[]string{"plain", "rich"}[i], "0803 000 0001", "0803 000 0002")
		p.picture("later")
		p.later("Tomorrow 9:00am", "Schedule for tomorrow at 9:00am")
		p.sees("9:00am West Africa Time")
		p.picture("scheduled")
		p.open("/campaigns?state=scheduled")
		p.sees("Tomorrow at 9:00am")
		p.follow("See you at the clinic")
		p.follow("Change time")
		p.fill("Time", "16:45")
		p.press("Review the time")
		p.press("Change to tomorrow at 4:45pm")
		p.sees("Sending starts tomorrow at 4:45pm")
		p.follow("Cancel")
		p.press("Cancel the schedule")
		p.sees("This campaign has not been sent")
	}
	if n := len(ledger(t, o.sandbox)); n != 0 {
		t.Fatalf("%d messages went out without their time", n)
	}

	p.follow("Check and send")
	address := p.later("In 1 hour", "Schedule for ")
	p.do2(p.Evaluate("window.marker = 'not reloaded'"))
	db, err := storage.Open(context.Background(), storage.Config{Data: o.data})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	due(t, db, address, time.Now().Add(2*time.Second))
	p.row("0803 000 0001", "Delivered")
	p.row("0803 000 0002", "Not delivered")
	if marker, err := p.Evaluate("window.marker"); err != nil || marker != "not reloaded" {
		t.Errorf("the page was loaded again: marker %v, %v", marker, err)
	}
	p.do2(p.Reload())
	p.sees("Started by Ada Obi")
	time.Sleep(2 * time.Second)
	if n := len(ledger(t, o.sandbox)); n != 2 {
		t.Errorf("the sandbox executed %d messages, want 2", n)
	}
	p.quiet()
}

// due sets the time of a scheduled campaign, which no form takes so near.
func due(t *testing.T, db *storage.DB, address string, at time.Time) {
	t.Helper()
	id, err := strconv.ParseInt(address[strings.LastIndex(address, "/")+1:], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.UpdateCampaign(context.Background(), id, time.Now().UnixMilli(), func(c *sms.Campaign) error {
		c.SendAt = at.UnixMilli()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestKilledWhileScheduled: what becomes due while the desk is down is sent
// once after it comes back, unless it is too late for that.
func TestKilledWhileScheduled(t *testing.T) {
	beside(t)
	p := newPair(t, binary(t, ""), 10)
	server := p.serve()
	numbers := numbersFrom(1, 25)
	soon, late := p.schedule(numbers[:20], "Soon"), p.schedule(numbers[20:], "Too late")
	server.kill()
	due(t, p.db, "/"+strconv.FormatInt(soon.ID, 10), time.Now().Add(-20*time.Minute))
	due(t, p.db, "/"+strconv.FormatInt(late.ID, 10), time.Now().Add(-31*time.Minute))
	for range 3 {
		server = p.serve()
		time.Sleep(150 * time.Millisecond)
		server.kill()
	}
	server = p.serve()
	waitFor(t, patience, "the end", func() bool {
		p.keepGoing(soon.ID)
		return p.campaign(soon.ID).State == sms.CampaignFinished
	})
	waitFor(t, patience, "the late one to be held", func() bool { return p.campaign(late.ID).Held() })
	if got := p.campaign(late.ID); !strings.Contains(got.Pause, "more than 30 minutes late") {
		t.Errorf("held without its sentence: %q", got.Pause)
	}
	for _, w := range p.dishonest(soon.ID, numbers[:20]) {
		t.Error(w)
	}
	times := map[string]int{}
	for _, e := range ledger(t, p.sandbox) {
		times[e.Number]++
	}
	for _, n := range numbers[20:] {
		if times[n] != 0 {
			t.Errorf("%s of the late campaign was executed", n)
		}
	}
	if err := server.stop(); err != nil {
		t.Errorf("stopping: %v", err)
	}
}

// schedule makes a campaign for an hour from now, as the desk does for a person.
func (p *pair) schedule(numbers []string, text string) sms.Campaign {
	p.t.Helper()
	ctx := context.Background()
	waitFor(p.t, longPatience, "the sender IDs", func() bool {
		list, err := p.db.SenderIDs(ctx, p.account.ID)
		return err == nil && len(list) > 0
	})
	d := p.desk()
	c, err := d.CreateCampaign(ctx, desk.Operator(),
		desk.Order{AccountID: p.account.ID, SenderID: "CLINIC", Numbers: strings.Join(numbers, "\n"), Text: text,
			Token: desk.NewToken()})
	if err != nil {
		p.t.Fatal(err)
	}
	if c, err = d.ScheduleCampaign(ctx, desk.Operator(), c.ID, sms.ScheduleAt(time.Now().Add(time.Hour)),
		desk.StartOrder{Version: c.Version}); err != nil {
		p.t.Fatal(err)
	}
	return c
}
