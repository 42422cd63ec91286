package e2e

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/sms"
)

// receiving is a desk whose callbacks have an address of their own, with one
// campaign whose messages wait for reports that nobody but the test sends.
type receiving struct {
	*pair
	desk     *process
	boss     *crawler
	at       string // address of the callbacks
	path     string // with the token
	campaign int64
	free     []sms.Message // without a report so far
}

const receivedText = "Come to the clinic on Monday."

func newReceiving(t *testing.T, messages int) *receiving {
	t.Helper()
	r := &receiving{pair: newPair(t, binary(t, ""), 100), at: freeAddr(t)}
	r.flags = []string{"--callback-listen", r.at}
	r.path = strings.TrimPrefix(r.callback("DLR"), "http://"+r.listen)
	setFaults(t, r.sandbox, `{"holdReports":true}`)
	r.desk = r.serve()
	r.boss = r.staff(sms.Administrator)
	c := r.send(numbersFrom(1, messages), receivedText)
	waitFor(t, patience, "the messages at the network", func() bool {
		return r.state(c.ID, "network") == int64(messages)
	})
	r.campaign, r.free = c.ID, r.messages(c.ID)
	return r
}

// next takes a message that no report was about.
func (r *receiving) next() sms.Message {
	r.t.Helper()
	if len(r.free) == 0 {
		r.t.Fatal("the campaign is too small for this test")
	}
	m := r.free[0]
	r.free = r.free[1:]
	return m
}

// report is the query of a report about a message; changes are pairs.
func report(m sms.Message, status string, changes ...string) string {
	q := url.Values{"messageId": {m.ProviderID}, "mobile": {m.Number}, "status": {status}, "errorCode": {"000"},
		"submitDate": {"2026-03-01 10:00"},
		"doneDate":   {"2026-03-01 10:01"}, "shortMessage": {receivedText}}
	for i := 0; i+1 < len(changes); i += 2 {
		q.Set(changes[i], changes[i+1])
	}
	return q.Encode()
}

// call sends a request as it is written, also what no client would send. The
// answer is its status and everything else that it tells but the time.
func (r *receiving) call(method, target string) (status int, answer string) {
	r.t.Helper()
	conn, err := net.DialTimeout("tcp", r.at, patience)
	r.must(err)
	defer func() { _ = conn.Close() }()
	r.must(conn.SetDeadline(time.Now().Add(patience)))
	_, err = fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: desk.example\r\nConnection: close\r\n\r\n", method, target)
	r.must(err)
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	r.must(err)
	body, err := io.ReadAll(resp.Body)
	r.must(err)
	_ = resp.Body.Close()
	resp.Header.Del("Date")
	return resp.StatusCode, fmt.Sprint(resp.Status, resp.Header, string(body))
}

// told calls the receiver with queries that it must take.
func (r *receiving) told(queries ...string) {
	r.t.Helper()
	for _, q := range queries {
		if status, answer := r.call("GET", r.path+"?"+q); status != 200 {
			r.t.Errorf("a report was answered %s: %.200s", answer, q)
		}
	}
}

func (r *receiving) arrivals() int64 {
	r.t.Helper()
	n, err := r.db.ReportArrivals(context.Background(), r.account.ID)
	r.must(err)
	return n
}

// applied waits until so many reports are counted, and not one more.
func (r *receiving) applied(want int64) {
	r.t.Helper()
	waitFor(r.t, patience, fmt.Sprintf("%d reports", want), func() bool { return r.arrivals() >= want })
	time.Sleep(50 * time.Millisecond)
	if got := r.arrivals(); got != want {
		r.t.Errorf("%d reports are stored, %d were acknowledged", got, want)
	}
}

// stands checks a message, what is stored of its reports, and its page.
func (r *receiving) stands(name string, m sms.Message, want sms.Delivery, different, times int64, onPage ...string) {
	r.t.Helper()
	now, err := r.db.Message(context.Background(), m.ID)
	r.must(err)
	if d := now.Delivery; d.Status != want.Status || d.Conflict != want.Conflict {
		r.t.Errorf("%s: the message stands as %+v, want %+v", name, d, want)
	}
	list, err := r.db.MessageReports(context.Background(), m.ID)
	r.must(err)
	all := int64(0)
	for _, one := range list {
		all += one.Times
	}
	if int64(len(list)) != different || all != times {
		r.t.Errorf("%s: %d reports of %d arrivals are stored, want %d of %d", name, len(list), all, different, times)
	}
	resp, doc := r.boss.get(fmt.Sprintf("/messages/%d", m.ID))
	for _, w := range onPage {
		if !strings.Contains(words(doc), w) {
			r.t.Errorf("%s: %s, and the page of the message does not say %q:\n%s", name, resp.Status, w, words(doc))
		}
	}
}

// TestReportsOverTheWholeWay takes true, repeated, unordered, odd, forged and hostile reports from
// the call of the provider to the page that staff look at.
func TestReportsOverTheWholeWay(t *testing.T) {
	beside(t)
	r := newReceiving(t, 12)
	normal, repeated, forward, backward, odd, lower, other, cut, hostile := r.next(), r.next(), r.next(), r.next(),
		r.next(), r.next(), r.next(), r.next(), r.next()
	r.told(report(normal, "DELIVRD"))
	r.told(report(repeated, "ACCEPTD"), report(repeated, "DELIVRD"), report(repeated, "DELIVRD"),
		report(repeated, "DELIVRD"))
	order := []string{"DELIVRD", "UNDELIV", "ACCEPTD", "EXPIRED", "UNKNOWN"}
	for i := range order {
		r.told(report(forward, order[i]), report(backward, order[len(order)-1-i]))
	}
	r.told(report(odd, "ENROUTE"), report(odd, ""), report(odd, "DELIVERED"))
	r.told(report(lower, " delivrd "))
	r.told(report(other, "DELIVRD", "mobile", "2348039999999"))
	r.told(report(cut, "DELIVRD", "shortMessage", "Absent subscriber"))
	nasty := []string{
		report(hostile, "UNDELIV") + "&status=DELIVRD&messageId=forged&mobile=2348039999999",
		"messageId=x&status=%zz&mobile=%", "a;b=c;status=DELIVRD", "%00=%00&messageId=%00", "",
		"messageId=x%0d%0alevel=ERROR+msg=forged&mobile=1%0alevel=ERROR+msg=forged&status=%1b[31m",
		"messageId=h&shortMessage=<script>alert(1)</script>&status=" + url.QueryEscape(`"><script>alert(1)</script>`) +
			"&mobile=" + url.QueryEscape(`<img src=x onerror=alert(1)>`),
		"messageId=long&shortMessage=" + strings.Repeat("%E1%BA%B9", 3600),
	}
	r.told(nasty...)
	if status, _ := r.call("GET", r.path+"?shortMessage="+
		strings.Repeat("x", 32<<10)); status != http.StatusRequestURITooLong {
		t.Errorf("more than 32 KiB: %d", status)
	}
	r.applied(int64(1 + 4 + 2*len(order) + 3 + 1 + 1 + 1 + len(nasty)))

	r.stands("one report", normal, sms.Delivery{Status: sms.Delivrd}, 1, 1, "Delivered", "DELIVRD, code 000",
		"2026-03-01 10:01")
	r.stands("repeated", repeated, sms.Delivery{Status: sms.Delivrd}, 2, 4, "Delivered", "× 3")
	for name, m := range map[string]sms.Message{"in order": forward, "in reverse": backward} {
		r.stands(name, m, sms.Delivery{Status: sms.Delivrd, Conflict: true}, 5, 5, "The reports conflict")
	}
	r.stands("unlisted status", odd, sms.Delivery{}, 3, 3, "Awaiting report", "ENROUTE")
	r.stands("letter case", lower, sms.Delivery{Status: sms.Delivrd}, 1, 1, "Delivered")
	r.stands("another number", other, sms.Delivery{}, 1, 1, "Awaiting report", "a different number")
	r.stands("another text", cut, sms.Delivery{Status: sms.Delivrd}, 1, 1, "Delivered", "Absent subscriber")
	r.stands("repeated parameters", hostile, sms.Delivery{Status: sms.Undeliv}, 1, 1, "Not delivered")

	list, _, err := r.db.Reports(t.Context(), sms.ReportFilter{AccountID: r.account.ID, Kind: sms.ReportsAll, Limit: 100})
	r.must(err)
	for _, q := range nasty {
		if q == "" {
			continue // tells nothing, as another one does: the two are one that came twice
		}
		if !slices.ContainsFunc(list, func(s sms.StoredReport) bool { return s.Raw == q }) {
			t.Errorf("not kept as it came: %.80q", q)
		}
	}
	_, doc := r.boss.get("/reports")
	if n := doc.Find("#reports script, #reports img").Length(); n != 0 {
		t.Errorf("a report has put %d elements into the page", n)
	}
	for _, w := range []string{"Unrecognised: ENROUTE", "The number does not match the message. Ignored.",
		"Its text differs from the message."} {
		if !strings.Contains(words(doc), w) {
			t.Errorf("the log of reports does not say %q", w)
		}
	}
	for line := range strings.Lines(r.desk.output.String()) {
		if strings.HasPrefix(line, "level=ERROR") || strings.Contains(line, "\x1b") ||
			strings.Contains(line, "2348039999999") {
			t.Errorf("a report wrote the line %q", line)
		}
	}
}

// TestForgedCallsMoveNothing: 24 wrong calls with a wrong
// token or method, about ids that are known and ids that are not, are answered
// alike, and nothing of them is stored.
func TestForgedCallsMoveNothing(t *testing.T) {
	beside(t)
	r := newReceiving(t, 2)
	m := r.next()
	token := strings.TrimPrefix(r.path, "/dlr/")
	unknown := m
	unknown.ProviderID = "00000000-0000-0000-0000-000000000000"
	calls := 0
	for _, wrong := range []string{"", "x", token[:len(token)-1], token + "x", strings.ToUpper(token[:len(token)-1]) + "?",
		strings.Repeat("0", len(token))} {
		first := ""
		for _, q := range []string{report(m, "DELIVRD"), report(unknown, "DELIVRD"),
			report(m, "BLACKLIST", "mobile", "2348039999999"), ""} {
			calls++
			status, answer := r.call("GET", "/dlr/"+strings.TrimSuffix(wrong, "?")+"?"+q)
			if first == "" {
				first = answer
			}
			if status != http.StatusNotFound || answer != first {
				t.Errorf("token %q: %s, not %s", wrong, answer, first)
			}
		}
	}
	for _, method := range []string{"HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECTED"} {
		status, answer := r.call(method, r.path+"?"+report(m, "DELIVRD"))
		if status != http.StatusMethodNotAllowed || !strings.Contains(answer, "Allow:[GET]") {
			t.Errorf("%s: %s", method, answer)
		}
	}
	_, known := r.call("GET", r.path+"?"+report(m, "ENROUTE"))
	if _, other := r.call("GET", r.path+"?"+report(unknown, "ENROUTE")); known != other ||
		!strings.HasPrefix(known, "200") {
		t.Errorf("a known id is answered %s and an unknown one %s", known, other)
	}
	r.applied(2)
	r.stands("after forged calls", m, sms.Delivery{}, 1, 1, "Awaiting report")
	waitFor(t, patience, "the refused calls on the page", func() bool {
		_, doc := r.boss.get("/reports?kind=refused")
		return strings.Contains(words(doc), fmt.Sprintf("Rejected today %d", calls))
	})
	if n := len(ledger(t, r.sandbox)); n != 2 {
		t.Errorf("%d texts were sent, want 2", n)
	}
}

// TestReportsBeforeTheirAnswers goes the whole way: the sandbox reports
// before it answers, and each report finds its message.
func TestReportsBeforeTheirAnswers(t *testing.T) {
	beside(t)
	p := newPair(t, binary(t, ""), 1)
	p.serve()
	c := p.send([]string{"2348030000009", "2348050000009", "2348020000009", "2348090000009"}, "Early")
	waitFor(t, patience, "the reports", func() bool { return p.state(c.ID, "delivered") == 4 })
	list, _, err := p.db.Reports(t.Context(), sms.ReportFilter{AccountID: p.account.ID, Kind: sms.ReportsAll, Limit: 9})
	p.must(err)
	early := 0
	for _, r := range list {
		if m, err := p.db.Message(t.Context(), r.MessageID); err != nil || m.ProviderID != r.ProviderID ||
			m.Number != r.Mobile {
			t.Errorf("the report %s belongs to %+v, %v", r.ProviderID, m, err)
		} else if r.ReceivedAt <= p.answeredAt(m) {
			early++
		}
	}
	if len(list) != 4 || early == 0 {
		t.Errorf("%d reports, %d before the answer: this proves nothing", len(list), early)
	}
}

// answeredAt is when the call of a message ended.
func (p *pair) answeredAt(m sms.Message) int64 {
	p.t.Helper()
	for a, err := range p.db.EachAttempt(context.Background(), m.CampaignID) {
		p.must(err)
		if a.ID == m.AttemptID {
			return a.EndedAt
		}
	}
	return 0
}

// TestReportsWhileTheInboxIsLocked goes the whole way: another process
// holds the inbox, the spool takes over, and when that fails too the provider
// is told the truth.
func TestReportsWhileTheInboxIsLocked(t *testing.T) {
	waits(t)
	r := newReceiving(t, 12)
	inbox, err := sql.Open("sqlite", "file:"+filepath.Join(r.data, "inbox.db"))
	r.must(err)
	defer func() { _ = inbox.Close() }()
	lock, err := inbox.Conn(t.Context())
	r.must(err)
	locked := func(words string) { _, err := lock.ExecContext(t.Context(), words); r.must(err) }
	locked("pragma busy_timeout = 10000")
	locked("begin exclusive")
	began := time.Now()
	var kept []sms.Message
	for range 5 {
		m := r.next()
		r.told(report(m, "DELIVRD"))
		kept = append(kept, m)
	}
	if took := time.Since(began); took > 5*8*time.Second {
		t.Errorf("5 reports took %s", took)
	}
	spool := filepath.Join(r.data, "spool")
	if files, err := filepath.Glob(filepath.Join(spool, "*.reports")); err != nil || len(files) == 0 {
		t.Errorf("the spool is empty, %v: this proves nothing", err)
	}
	locked("rollback")
	r.applied(5)
	for _, m := range kept {
		r.stands("kept in the spool", m, sms.Delivery{Status: sms.Delivrd}, 1, 1, "Delivered")
	}
	waitFor(t, patience, "an empty spool", func() bool {
		files, err := filepath.Glob(filepath.Join(spool, "*.reports"))
		return err == nil && len(files) == 0
	})

	r.must(os.RemoveAll(spool))
	r.must(os.WriteFile(spool, nil, 0o600))
	locked("begin exclusive")
	lost := r.next()
	if status, answer := r.call("GET", r.path+"?"+report(lost, "DELIVRD")); status != http.StatusServiceUnavailable {
		t.Errorf("nothing can be written, and the answer is %s", answer)
	}
	locked("rollback")
	m := r.next()
	r.told(report(m, "DELIVRD"))
	r.applied(6)
	r.stands("the report that was turned away", lost, sms.Delivery{}, 0, 0)
	waitFor(t, patience, "the loss on the page", func() bool {
		_, doc := r.boss.get("/reports")
		return strings.Contains(words(doc), "Lost today 1")
	})
}

// TestTheOldAddressWorksForAWhile: after an administrator has made a
// new address both work, and the old one ends with its time.
func TestTheOldAddressWorksForAWhile(t *testing.T) {
	beside(t)
	r := newReceiving(t, 4)
	page := fmt.Sprintf("/settings/reports/rotate?account=%d&kind=dlr", r.account.ID)
	_, doc := r.boss.get(page)
	form := values(doc.Find("main form[method=post]"))
	if resp := r.boss.post("/settings/reports/rotate", form); resp.StatusCode != http.StatusSeeOther {
		t.Fatalf("%s: %v", resp.Status, form)
	}
	old := r.path
	r.path = strings.TrimPrefix(r.callback("DLR"), "http://"+r.listen)
	if r.path == old {
		t.Fatal("the address is the same")
	}
	waitFor(t, patience, "the new address", func() bool { status, _ := r.call("GET", r.path); return status == 200 })
	first, second, third := r.next(), r.next(), r.next()
	r.told(report(first, "DELIVRD"))
	renewed := r.path
	r.path = old
	r.told(report(second, "DELIVRD"))
	waitFor(t, patience, "both reports", func() bool { return r.state(r.campaign, "delivered") == 2 })
	// The clock of the desk cannot be set from here, the end of the address can.
	main, err := sql.Open("sqlite", "file:"+filepath.Join(r.data, "smsdesk.db")+"?_pragma=busy_timeout(10000)")
	r.must(err)
	defer func() { _ = main.Close() }()
	done, err := main.ExecContext(t.Context(),
		"update callback_token set valid_until = $1 where kind = 'dlr' and valid_until between $2 and $3",
		time.Now().UnixMilli(), time.Now().Add(7*24*time.Hour-time.Minute).UnixMilli(),
		time.Now().Add(7*24*time.Hour).UnixMilli())
	r.must(err)
	if n, err := done.RowsAffected(); err != nil || n != 1 {
		t.Fatalf("%d addresses end in 7 days, %v", n, err)
	}
	waitFor(t, patience, "the end of the old address", func() bool {
		status, _ := r.call("GET", old+"?"+report(third, "ENROUTE"))
		return status == 404
	})
	r.path = renewed
	r.told(report(third, "UNDELIV"))
	waitFor(t, patience, "the third report", func() bool {
		m, err := r.db.Message(t.Context(), third.ID)
		return err == nil && m.Delivery.Status == sms.Undeliv
	})
}
