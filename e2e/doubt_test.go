package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/playwright-community/playwright-go"

	"smsdesk/internal/sms"
	"smsdesk/storage"
)

// staff makes a person of a role and signs in.
func (p *pair) staff(role sms.Role) *crawler {
	p.t.Helper()
	must(p.t, p.bin, "--data", p.data, "user", "add", "--email", string(role)+"@example.com", "--name", "A "+role.Title(),
		"--role", string(role),
		"--password-file", writeFile(p.t, "password", adaPassword))
	return newCrawler(p.t, "http://"+p.listen, role)
}

func (p *pair) state(campaign int64, key string) int64 {
	p.t.Helper()
	tally, err := p.db.Tally(context.Background(), campaign)
	if err != nil {
		p.t.Fatal(err)
	}
	return tally[key]
}

// received puts a report into the running desk's inbox as if it had come at
// the given time: the tests do not wait for two minutes.
func (p *pair) received(at time.Time, query url.Values) {
	p.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	inbox, err := storage.OpenInbox(ctx, p.data, "", 0)
	if err != nil {
		p.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- inbox.Run(ctx, func() {}, func(int, error) {}) }()
	if err := inbox.Keep(ctx, sms.RawReport{AccountID: p.account.ID, ReceivedAt: at.UnixMilli(), Remote: "127.0.0.1:1",
		Query: query.Encode()}); err != nil {
		p.t.Fatal(err)
	}
	stop()
	<-done
	_ = inbox.Close()
}

func words(doc *goquery.Document) string {
	return strings.Join(strings.Fields(doc.Find("main").Text()), " ")
}

// TestDoubtEndsByAReportAndByAPerson: two answers are lost. A late report
// settles one, and the provider confirms its id; a person sends the other
// again, once warned, and it goes out once more and no oftener.
func TestDoubtEndsByAReportAndByAPerson(t *testing.T) {
	beside(t)
	p := newPair(t, binary(t, ""), 10)
	setFaults(t, p.sandbox, `{"holdReports":true}`)
	p.serve()
	boss := p.staff(sms.Administrator)
	first, second := p.send([]string{"2348030000008"}, "By a report"), p.send([]string{"2348030000008"}, "By a person")
	for _, c := range []sms.Campaign{first, second} {
		waitFor(t, patience, "a message in doubt", func() bool { return p.state(c.ID, "doubt") == 1 })
	}
	real := ""
	for _, e := range ledger(t, p.sandbox) {
		if e.Text == "By a report" {
			real = e.MessageID
		}
	}
	p.received(time.Now().Add(-3*time.Minute), url.Values{"messageId": {real}, "mobile": {"2348030000008"},
		"status": {"DELIVRD"}, "errorCode": {"000"},
		"submitDate": {""}, "doneDate": {"x"}, "shortMessage": {"By a  report"}})
	waitFor(t, patience, "the report to settle its message", func() bool {
		return p.state(first.ID, "delivered") == 1
	})
	var asked []sms.StatusQuery
	waitFor(t, patience, "the provider's word about the id", func() bool {
		var err error
		if asked, err = p.db.MessageAsked(context.Background(), p.messages(first.ID)[0].ID); err != nil {
			t.Fatal(err)
		}
		return len(asked) == 1 && asked[0].AskedAt > 0
	})
	if asked[0].Effect == sms.Suspicious || asked[0].Code != "" {
		t.Errorf("%+v", asked[0])
	}

	path := "/campaigns/" + strings.TrimPrefix(deskName(second.ID), "campaign:") + "/doubt"
	resp, doc := boss.get(path)
	if resp.StatusCode != http.StatusOK || !strings.Contains(words(doc), "1 message needs your decision") {
		t.Fatalf("%s: %s", resp.Status, words(doc))
	}
	form := values(doc.Find("form#decide"))
	for name := range form {
		if strings.HasPrefix(name, "call-") {
			form.Set(name, "again")
		}
	}
	doc = boss.answer(path, form)
	if !strings.Contains(words(doc), "Recipients may get the message twice and you may pay twice.") {
		t.Fatal(words(doc))
	}
	if n := len(ledger(t, p.sandbox)); n != 2 {
		t.Fatalf("%d texts were executed before anybody confirmed", n)
	}
	confirm := boss.post(path, values(doc.Find("form#again"))).Header.Get("Location")
	if !regexp.MustCompile(`/campaigns/\d+/confirm$`).MatchString(confirm) {
		t.Fatalf("sent to %q", confirm)
	}
	_, doc = boss.get(confirm)
	start := values(doc.Find("form[action$='/start']"))
	start.Set("again", "yes")
	if resp := boss.post(strings.TrimSuffix(confirm, "confirm")+"start", start); resp.StatusCode != http.StatusSeeOther {
		t.Fatalf("starting: %s", resp.Status)
	}
	waitFor(t, patience, "the second sending", func() bool { return len(ledger(t, p.sandbox)) == 3 })
	if p.state(second.ID, "resent") != 1 {
		t.Error("the old message is not closed")
	}
	if _, doc = boss.get(path); !strings.Contains(words(doc), "Nothing to decide") {
		t.Error(words(doc))
	}
	setFaults(t, p.sandbox, `{}`)
}

func deskName(id int64) string { b, _ := json.Marshal(id); return "campaign:" + string(b) }

// answer posts a form and reads the page that answers it.
func (c *crawler) answer(path string, form url.Values) *goquery.Document {
	c.t.Helper()
	req, err := http.NewRequest(http.MethodPost, c.base.String()+path, strings.NewReader(form.Encode()))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	resp, err := c.client.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	doc, err := goquery.NewDocumentFromReader(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return doc
}

// TestReportsLostWhileDown: the desk is killed while the reports of a campaign
// come, and is away for a minute. Afterwards the page names the gap and the
// messages without a report, and the provider is asked about each of them.
func TestReportsLostWhileDown(t *testing.T) {
	waits(t)
	p := newPair(t, binary(t, ""), 10)
	setFaults(t, p.sandbox, `{"holdReports":true}`)
	desk := p.serve()
	boss := p.staff(sms.Administrator)
	c := p.send(numbersFrom(1, 12), "While nobody listens")
	waitFor(t, patience, "the messages at the network", func() bool { return p.state(c.ID, "network") == 12 })
	desk.kill()
	killed := time.Now()
	setFaults(t, p.sandbox, `{}`)
	waitFor(t, patience, "the reports to be lost", func() bool {
		var state struct{ ReportsOwed, ReportsLost int }
		getJSON(t, "http://"+p.sandbox+"/_sandbox/state", &state)
		return state.ReportsLost == 12 && state.ReportsOwed == 0
	})
	time.Sleep(time.Until(killed.Add(time.Minute)))
	p.serve()
	_, doc := boss.get("/reports")
	waitFor(t, patience, "the gap", func() bool {
		_, doc = boss.get("/reports")
		return strings.Contains(words(doc), "12 messages from then have no report.")
	})
	if !regexp.MustCompile(`Not receiving reports for [6-9][0-9] seconds`).MatchString(words(doc)) {
		t.Errorf("the page does not say how long it was down:\n%s", words(doc))
	}
	form := values(doc.Find("form[action='/reports/gap']"))
	if resp := boss.post("/reports/gap", form); resp.StatusCode != http.StatusSeeOther {
		t.Fatalf("asking: %s", resp.Status)
	}
	waitFor(t, patience, "the provider's answers", func() bool { return p.state(c.ID, "delivered") == 12 })
	waitFor(t, patience, "the end of the questions", func() bool {
		_, doc = boss.get("/reports")
		return strings.Contains(words(doc), "Asked about 12 messages")
	})
	if !strings.Contains(words(doc), "Every message from that time has a report or a status.") {
		t.Error(words(doc))
	}
}

// TestDecidingInABrowser: the page is found from the campaign, decides, and
// tells by itself that a report was faster. Pictures are kept of it and of the
// log of reports, light, dark and on a phone.
func TestDecidingInABrowser(t *testing.T) {
	beside(t)
	o := openOffice(t)
	b := newBrowser(t)
	p := newTab(t, b, o.base)
	p.firstRun(o)
	setFaults(t, o.sandbox, `{"cutAfter":1,"holdReports":true}`)
	p.compose("Your appointment at the clinic is on Monday at nine. Bring your card.", "0803 000 0031", "0803 000 0032",
		"0803 000 0033")
	p.press("Send 3 messages now")
	p.row("0803 000 0031", "Needs your decision")
	p.follow("Review and decide")
	p.sees("3 messages need your decision")
	setFaults(t, o.sandbox, `{}`)
	p.sees("3 new reports may match these messages.")
	p.do(p.Locator("#hints-show").Click())
	p.do(p.GetByText("Decide each of the 3 messages").Click())
	p.sees("This will be settled automatically within 3 minutes.")
	here := p.URL()
	state, err := p.Context().StorageState()
	p.do(err)
	for name, options := range map[string]playwright.BrowserNewContextOptions{
		"light": {ColorScheme: playwright.ColorSchemeLight, Viewport: &playwright.Size{Width: 1280, Height: 1000}},
		"dark":  {ColorScheme: playwright.ColorSchemeDark, Viewport: &playwright.Size{Width: 1280, Height: 1000}},
		"phone": {ColorScheme: playwright.ColorSchemeLight, Viewport: &playwright.Size{Width: 390, Height: 1400}},
	} {
		options.StorageState = state.ToOptionalStorageState()
		view := newTab(t, b, o.base, options)
		view.do2(view.Goto(here))
		view.do(view.GetByText("Decide each of the 3 messages").Click())
		view.picture("doubt-" + name)
		view.open("/reports?kind=unmatched")
		view.do(view.Locator("#reports tbody summary").First().Click())
		view.picture("reports-" + name)
		view.quiet()
		p.do(view.Close()) // a session may have four live pages open
	}
	p.do(p.GetByLabel("Send again").First().Check())
	p.press("Save decisions")
	p.sees("Recipients may get the message twice and you may pay twice.")
	p.picture("again")
	p.follow("Go back without sending again")
	p.do(p.GetByLabel("Mark as sent").First().Check())
	p.press("Save decisions")
	p.sees("Decisions saved.")
	p.sees("Nothing to decide")
	p.quiet()
}
