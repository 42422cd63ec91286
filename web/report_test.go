package web

import (
	"context"
	"encoding/csv"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
)

func TestTheLogOfReports(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	boss := s.as(s.boss)
	empty := boss.get("/reports").is(http.StatusOK).has("No reports yet", "Copy the URL")
	s.leads(empty)
	c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(3), Text: "Hello"})
	s.send(a, 1, accept)
	wrong, strange, foreign := report("1001", "DELIVRD", ""), report("1002", "ENROUTE", ""), report("1002", "DELIVRD", "")
	wrong.Mobile, foreign.ProviderID, foreign.Mobile = "2348039999999", "nobody", "2348038888888"
	again := report("1000", "DELIVRD", "000")
	s.reports(a, report("1000", "DELIVRD", "000"), again, wrong, strange, foreign)
	page := boss.get("/reports").is(http.StatusOK)
	page.has("Delivered", "The number does not match the message", "Unrecognised: ENROUTE", "Row 1 of Hello", "× 2",
		"0 s ago", "As received", "mobile=2348030001000&status=DELIVRD").count("#reports tbody tr", 4)
	s.leads(page)
	boss.get("/reports?kind=duplicates").count("#reports tbody tr", 1).has("× 2")
	none := boss.get("/reports?kind=unmatched").count("#reports tbody tr", 1).has("It has just arrived.")
	if none.page().Find("form[action$='/link']").Length() != 0 {
		t.Error("a report without any candidate can be linked")
	}
	s.clock.pass(3 * time.Minute)
	boss.get("/reports?kind=unmatched").has("No matching message.")
	boss.get("/reports?kind=refused").has("No requests with a wrong token")
	boss.get("/reports?kind=nonsense").count("#reports tbody tr", 4)

	viewer := s.as(s.hire("viewer@example.com", sms.Viewer))
	viewer.get("/reports").is(http.StatusOK).has("0803 ••• 1000").lacks("2348030001000", "0803 000 1000", "As received",
		"export.csv")
	viewer.get("/reports/export.csv").is(http.StatusForbidden)

	// What comes later is counted and not pushed in.
	live := boss.fragment(page.attr("#reports-live", "hx-get")).is(http.StatusOK).count("#reports-live", 1)
	live.lacks("newer report")
	late := report("1001", "DELIVRD", "")
	late.ID = 90
	s.reports(a, late)
	boss.fragment(page.attr("#reports-live", "hx-get")).has("1 newer report.")
	if m := s.state(1); m != sms.Accepted || c.ID == 0 {
		t.Error(m)
	}
}

// TestPagesOfReports: fifty lines a page, each report once.
func TestPagesOfReports(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	var list []sms.DeliveryReport
	for i := range 120 {
		list = append(list, sms.DeliveryReport{ProviderID: "u" + ids(int64(i)), Mobile: "08030001000", Status: "DELIVRD",
			Raw: "x"})
	}
	s.reports(a, list...)
	seen, boss := map[string]bool{}, s.as(s.boss)
	pages := 0
	for at := "/reports?kind=unmatched"; at != ""; pages++ {
		page := boss.get(at).is(http.StatusOK)
		for _, line := range strings.Split(page.text("#reports tbody .raw"), "u") {
			seen[strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(line), " x"))] = true
		}
		next := page.page().Find(".pager a:contains(Next), a[rel=next]").Last()
		if strings.Contains(at, "2348") || strings.Contains(at, "0803") {
			t.Errorf("a number in an address: %s", at)
		}
		at = next.AttrOr("href", "")
		if pages > 5 {
			t.Fatal("the pages do not end")
		}
	}
	if pages != 3 {
		t.Errorf("%d pages", pages)
	}
}

// TestLinkingAReport is a person's word for a cut text.
func TestLinkingAReport(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	_, list := s.doubtful(a, 1, "Your appointment is on Monday at nine.")
	s.reports(a, sms.DeliveryReport{ProviderID: "x", Mobile: "2348030001000", Status: "DELIVRD",
		ShortMessage: "Your appointment is ", Raw: "r"})
	boss := s.as(s.boss)
	page := boss.get("/reports?kind=unmatched").has("Same number and start of text as row 1", "needs your decision",
		"Link to message in row 1")
	action := page.attr("form[action$='/link']", "action")
	s.as(s.hire("sender@example.com", sms.Sender)).get("/reports?kind=unmatched").count("form[action$='/link']", 0)
	boss.get("/campaigns/" + ids(list[0].CampaignID) +
		"/doubt").has("with the same number and the start of the text. It was probably sent.")
	boss.post(action, "message", "999").is(http.StatusNotFound)
	boss.post(action, "message", ids(list[0].ID)).to("/reports?done=linked&kind=unmatched")
	if s.state(list[0].ID) != sms.Accepted {
		t.Error("nothing happened")
	}
	boss.post(action, "message", ids(list[0].ID)).is(http.StatusConflict)
}

// TestTheGapIsShownAndAskedAbout through the pages; the questions themselves
// are the reconciler's.
func TestTheGapIsShownAndAskedAbout(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	ctx, now := context.Background(), func() int64 { return s.clock.now().UnixMilli() }
	s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(3), Text: "Hello"})
	s.send(a, 1, accept)
	s.reports(a, report("1000", "DELIVRD", ""))
	s.must(second(s.db.Heartbeat(ctx, 0, now())))
	s.clock.pass(7 * time.Minute)
	s.must(second(s.db.Heartbeat(ctx, 0, now())))
	boss := s.as(s.boss)
	page := boss.get("/reports").has("Not receiving reports from today at 10:48am to 10:55am",
		"2 messages from then have no report.", "Ask the provider about 2 messages")
	from := page.attr("form[action='/reports/gap'] input[name=from]", "value")
	viewer := s.as(s.hire("viewer@example.com", sms.Viewer))
	viewer.get("/reports").has("2 messages from then have no report.").count("form[action='/reports/gap']", 0)
	viewer.post("/reports/gap", "from", from).is(http.StatusForbidden)
	boss.post("/reports/gap", "from", "5").is(http.StatusNotFound)
	boss.post("/reports/gap", "from", from).to("/reports?done=asking")
	boss.get("/reports").has("Asking: 0 of 2.", "Stop asking").count("progress", 1)
	boss.post("/reports/gap", "from", from).is(http.StatusConflict)
	i, m, err := s.db.NextInquired(ctx, a.ID, now())
	s.must(err)
	_, _, err = s.db.PutInquired(ctx, i, m, sms.StatusQuery{AccountID: a.ID, MessageID: m.ID, ProviderID: m.ProviderID,
		AskedAt: now(),
		Answer:  sms.MessageStatus{Number: m.Number, Status: "UNDELIV", Raw: "{}"}}, a.Country)
	s.must(err)
	boss.get("/reports").has("Asking: 1 of 2. 1 has a status now.", "1 message from then has no report.")
	boss.post("/reports/gap/stop", "from", from).to("/reports?done=notasking")
	boss.get("/reports").has("Stopped after 1 of 2", "Ask the provider about 1 message")
}

func second[T any](_ T, err error) error { return err }

// TestHealthOfTheReceiver: what came, how fast, what was refused, and silence.
func TestHealthOfTheReceiver(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	var took sms.Timings
	took.Add(9 * time.Millisecond)
	minute := s.clock.now().Truncate(time.Minute).UnixMilli()
	s.must(s.db.AddReceiverStats(context.Background(),
		[]sms.ReceiverMinute{{AccountID: a.ID, Minute: minute, Answered: 2304, Lost: 2,
			Took: took}, {Minute: minute, Refused: 12}}))
	s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(3), Text: "Hello"})
	s.send(a, 1, accept)
	s.reports(a, report("1000", "DELIVRD", ""))
	boss := s.as(s.boss)
	page := boss.get("/reports").has("2,304", "10 ms", "Lost today", "12")
	if strings.Contains(page.text("main"), "No report for") {
		t.Error("an alarm without silence")
	}
	boss.get("/reports?kind=refused").has("today at 10:48am", "12").count("#refused-minutes tbody tr", 1)
	s.clock.pass(35 * time.Minute)
	boss.get("/reports").has("No report for 35 minutes, although 2 messages are awaiting one.", "Check the URL")
	s.clock.pass(24 * time.Hour)
	s.as(s.boss).get("/reports").has("24 hours ago").lacks("2,304")
}

// TestExportOfReports: streamed, whole, numbers as text, no formula.
func TestExportOfReports(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	evil := sms.DeliveryReport{ProviderID: "=cmd|' /C calc'!A0", Mobile: "+2348030001000", Status: "DELIVRD",
		ShortMessage: "\",\"=1+1", ErrorCode: "@x", Raw: "-1"}
	list := []sms.DeliveryReport{evil}
	for i := range 1500 {
		list = append(list, sms.DeliveryReport{ProviderID: "u" + ids(int64(i)), Mobile: "08030001000", Status: "DELIVRD"})
	}
	s.reports(a, list...)
	got := s.as(s.boss).get("/reports/export.csv").is(http.StatusOK)
	if kind, name := got.header.Get("Content-Type"),
		got.header.Get("Content-Disposition"); kind != "text/csv; charset=utf-8" ||
		name != `attachment; filename="delivery-reports-2026-06-03.csv"` {
		t.Errorf("%q %q", kind, name)
	}
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(got.body, "\ufeff"))).ReadAll()
	if err != nil || len(rows) != 1502 {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	last := rows[len(rows)-1]
	if last[3] != "2348030001000" || last[5] != "'@x" || last[6] != "'=cmd|' /C calc'!A0" || last[9] != "\",\"=1+1" ||
		last[13] != "'-1" {
		t.Errorf("%q", last)
	}
	for _, row := range rows {
		for _, cell := range row {
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t") {
				t.Fatalf("a formula: %q", cell)
			}
		}
	}
	s.as(s.boss).get("/reports/export.csv?kind=refused").is(http.StatusNotFound)
	s.as(s.hire("approver@example.com", sms.Approver)).get("/reports/export.csv?kind=unmatched").is(http.StatusOK)
}

// TestArrivalsByMinute: the picture's columns are the counts of the last hour
// and stand in the table behind it; what is older is not there.
func TestArrivalsByMinute(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(1)})
	s.send(a, 1, accept)
	s.reports(a, report("1000", "DELIVRD", ""))
	boss := s.as(s.boss)
	boss.get("/reports").is(http.StatusOK).has("No reports in the last hour.").count("#arrivals", 0)
	now := s.clock.now().Truncate(time.Minute)
	at := func(ago int) int64 { return now.Add(-time.Duration(ago) * time.Minute).UnixMilli() }
	s.must(s.db.AddReceiverStats(t.Context(), []sms.ReceiverMinute{
		{AccountID: a.ID, Minute: at(0), Answered: 3}, {AccountID: a.ID, Minute: at(9), Answered: 60, Lost: 20},
		{AccountID: a.ID, Minute: at(59), Answered: 1}, {AccountID: a.ID, Minute: at(60), Answered: 5000},
		{Minute: at(1), Refused: 7}}))
	page := boss.get("/reports").is(http.StatusOK)
	page.has("64 reports received, at most 80 per minute, at 10:39am. 20 reports were lost.")
	page.count("#arrivals-table tbody tr", 3).count("#arrivals rect", 4).count("#arrivals[role=img]", 1)
	if got := page.text("#arrivals-table tbody"); got !=
		"10:48am3010:39am60209:49am10" {
		t.Errorf("the table: %s", got)
	}
	var high []string
	page.page().Find("#arrivals rect").Each(func(_ int, e *goquery.Selection) {
		high = append(high, e.AttrOr("class", "")+" "+e.AttrOr("height", ""))
	})
	if got := strings.Join(high, ", "); got != "info 2.0, info 46.5, bad 15.5, info 2.3" {
		t.Errorf("the columns: %s", got)
	}
	if strings.Contains(page.body, "style=") {
		t.Error("an inline style")
	}
	boss.fragment(page.attr("#reports-live", "hx-get")).count("#arrivals", 1)
}

// TestUnmatchedReportsComeFirst, with what to do; long IDs are folded.
func TestUnmatchedReportsComeFirst(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	_, list := s.doubtful(a, 1, "Your appointment is on Monday at nine.")
	const long = "7f3c2a1b-aaaa-bbbb-cccc-0123456789ab"
	s.reports(a, sms.DeliveryReport{ProviderID: long, Mobile: "2348039999999", Status: "DELIVRD", Raw: "the raw words"},
		sms.DeliveryReport{Mobile: "2348039999998", Status: "UNDELIV", Raw: "r"},
		sms.DeliveryReport{ProviderID: "x", Mobile: "2348030001000", Status: "DELIVRD",
			ShortMessage: "Your appointment is ", Raw: "r"})
	boss := s.as(s.boss)
	page := boss.get("/reports").is(http.StatusOK).count("[id^=unmatched-]", 3).count("form[action$='/link']", 1)
	page.has("Link it if this is the message.", "Ask the provider to send message IDs with its reports.",
		"Wait 2 minutes.", "7f3c2a1b…89ab")
	s.leads(page)
	if got := page.text("#reports details:has(.raw) summary"); !strings.Contains(got, "7f3c2a1b…89ab") {
		t.Errorf("the ID is not folded: %s", got)
	}
	s.as(s.hire("sender@example.com", sms.Sender)).get("/reports").has(
		"Ask a manager to link it to the message.").count("form[action$='/link']", 0)
	s.as(s.hire("viewer@example.com", sms.Viewer)).get("/reports").has("0803 ••• 9999").lacks("the raw words",
		"2348039999999")
	s.clock.pass(3 * time.Minute)
	boss.get("/reports").has("If no other program sends from this account")
	boss.post(page.attr("form[action$='/link']", "action"), "message", ids(list[0].ID)).is(http.StatusSeeOther)
	boss.get("/reports").count("[id^=unmatched-]", 2)
	boss.get("/reports?kind=unmatched").count("[id^=unmatched-]", 0)
	for i := range 6 {
		s.reports(a, sms.DeliveryReport{ProviderID: "u" + ids(int64(i)), Mobile: "2348039999997", Status: "DELIVRD"})
	}
	boss.get("/reports").count("[id^=unmatched-]", 5).has("Show all unmatched reports")
}
