package web

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"smsdesk/internal/desk"
	"smsdesk/internal/feed"
	"smsdesk/internal/sms"
	"smsdesk/views"
)

func (a answer) csv() [][]string {
	a.t.Helper()
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(a.body, "\ufeff"))).ReadAll()
	if err != nil {
		a.t.Fatalf("%v in %.300q", err, a.body)
	}
	return rows
}

func TestDownloadOfACampaign(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.everyFate(a)
	b := s.as(s.boss)
	page := b.get(views.CampaignPath(c.ID))
	s.leads(page)
	got := b.get(page.attr("#download-csv", "href")).is(200)
	if kind, how := got.header.Get("Content-Type"),
		got.header.Get("Content-Disposition"); kind != "text/csv; charset=utf-8" ||
		how != `attachment; filename="june-reminders.csv"; filename*=UTF-8''june-reminders.csv` {
		t.Errorf("%s, %s", kind, how)
	}
	rows := got.csv()
	if len(rows) != 10 || rows[0][0] != "Row" || len(rows[0]) != 13 {
		t.Fatalf("%q", rows)
	}
	for i, want := range [][]string{{"Delivered", "DELIVRD", "000"}, {"Not delivered", "UNDELIV", "27"},
		{"Not delivered, expired", "EXPIRED", ""}, {"Not delivered, deleted by the network", "DELETED", ""},
		{"Refused by the network", "REJECTD", "8"}, {"Number is blocked", "BLACKLIST", ""}, {"Unknown", "UNKNOWN", ""},
		{"Refused by the provider", "", "401"}, {"Left out", "", ""}} {
		r := rows[i+1]
		if got := strings.Join(r[2:5], "|"); got != strings.Join(want, "|") || r[1] != "23480300010"+
			string(rune('0'))+string(rune('0'+i)) || r[10] != "The clinic is closed on Friday." {
			t.Errorf("row %d: %q", i, r)
		}
	}
	if rows[1][6] != "2026-06-03 10:48:00" || rows[1][11] != "id-1000" || rows[8][5] != "source_address filter mismatch" {
		t.Errorf("%q, %q", rows[1], rows[8])
	}
	filtered := b.get(b.get(views.CampaignPath(c.ID)+"?tile=failed").attr("#download-csv", "href")).csv()
	if len(filtered) != 6 || filtered[1][3] != "UNDELIV" {
		t.Errorf("not delivered: %q", filtered)
	}
	book, err := excelize.OpenReader(strings.NewReader(b.get(page.attr("#download-xlsx", "href")).is(200).body))
	s.must(err)
	cells, err := book.GetRows("Sheet1")
	s.must(err)
	for i := range rows {
		if got := strings.Join(cells[i], "|"); got != strings.TrimRight(strings.Join(rows[i], "|"), "|") {
			t.Errorf("row %d of the workbook: %s", i, got)
		}
	}
	lines, err := s.db.AuditOf(t.Context(), feed.Campaign(c.ID))
	s.must(err)
	if got := lines[len(lines)-2]; got.Action != "campaign.download" || got.Detail != "csv failed" {
		t.Errorf("audited: %+v", lines)
	}
	viewer := s.as(s.hire("viewer@example.com", sms.Viewer))
	viewer.get(views.CampaignPath(c.ID)).count("#downloads", 0)
	viewer.get(views.CampaignPath(c.ID) + "/messages.csv").is(http.StatusForbidden)
}

// Downloads hold what the page's whole filter shows, and the number stands in no
// address.
func TestDownloadOfWhatWasFound(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: "08030001001 08050001002 08030001003 07030001001",
		Text: "The clinic is closed on Friday."})
	s.send(a, 9, accept)
	s.reports(a, report("1003", "UNDELIV", "27"))
	b := s.as(s.boss)
	for _, tt := range []struct{ form, words, want, audited string }{
		{"", "Download all messages:", "2348030001001 2348050001002 2348030001003 2347030001001", "csv"},
		{"network=MTN", "Download these messages:", "2348030001001 2348030001003 2347030001001", "csv by network"},
		{"network=MTN tile=failed", "Download all “Not delivered” messages:", "2348030001003", "csv failed by network"},
		{"text=CLOSED number=08050001002", "Download these messages:", "2348050001002", "csv by text by number"},
		{"number=1001", "Download these messages:", "2348030001001 2347030001001", "csv by number"},
		{"number=1001 network=MTN tile=network", "Download all “", "2348030001001 2347030001001", "csv network by network by number"},
	} {
		var pairs []string
		for field := range strings.FieldsSeq(tt.form) {
			name, value, _ := strings.Cut(field, "=")
			pairs = append(pairs, name, value)
		}
		page := b.get(b.post(views.CampaignPath(c.ID)+"/find", pairs...).is(http.StatusSeeOther).header.Get("Location")).is(
			200).has(tt.words)
		address := page.attr("#download-csv", "href")
		if strings.Contains(address, "0001001") || strings.Contains(address, "0001002") {
			t.Errorf("%s: the address %s holds a number", tt.form, address)
		}
		var got []string
		for _, row := range b.get(address).is(200).csv()[1:] {
			got = append(got, row[1])
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%q: %v, want %s", tt.form, got, tt.want)
		}
		lines, err := s.db.AuditOf(t.Context(), feed.Campaign(c.ID))
		s.must(err)
		if got := lines[len(lines)-1]; got.Action != "campaign.download" || got.Detail != tt.audited {
			t.Errorf("audited: %q, want %q", got.Detail, tt.audited)
		}
	}
	// What nobody can tell any more is not taken for all messages.
	b.get(views.CampaignPath(c.ID)+"/messages.csv?find=made-up").is(http.StatusGone).has("This search has expired",
		"Go to the campaign")
}

// A downloaded cell is never a formula, whatever a provider or a list says.
func TestDownloadIsNoFormula(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.started(s.boss, desk.Order{AccountID: a.ID, Numbers: typed(1), Text: `=HYPERLINK("http://x","y")`,
		Name: "../../etc/passwd\r\nX: y"})
	s.send(a, 1, func(call sms.Call) sms.Outcome {
		o := accept(call)
		o.Rows[0] = sms.ResultRow{Number: o.Rows[0].Number, Code: "9", Description: "@SUM(1)\",\"=1+1"}
		return o
	})
	got := s.as(s.boss).get(views.CampaignPath(c.ID) + "/messages.csv").is(200)
	for _, row := range got.csv() {
		for _, cell := range row {
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@") {
				t.Errorf("the cell %q", cell)
			}
		}
	}
	if name := got.header.Get("Content-Disposition"); !strings.Contains(name, `"etc-passwd-x-y.csv"`) {
		t.Errorf("the file is called %s", name)
	}
}

func TestEvidenceOfACampaign(t *testing.T) {
	s := newSite(t)
	a := s.clinic()
	c := s.everyFate(a)
	b := s.as(s.boss)
	got := b.get(b.get(views.CampaignPath(c.ID)).attr("#evidence", "href")).is(200)
	z, err := zip.NewReader(bytes.NewReader([]byte(got.body)), int64(len(got.body)))
	s.must(err)
	files := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		s.must(err)
		content, err := io.ReadAll(r)
		s.must(err)
		files[f.Name] = string(content)
	}
	for name, words := range map[string][]string{
		"campaign.json": {`"made_by": "Ada Obi"`, `"started_by": "Ada Obi"`, `"sender_id": "CLINIC"`},
		"messages.csv":  {"2348030001008", "UNDELIV", "The clinic is closed on Friday."},
		"calls.csv":     {`{""ErrorCode"":0}`, `"accepted"`},
		"reports.csv":   {"mobile=2348030001001&status=UNDELIV", "2606030949"},
		"audit.csv":     {"campaign.start", "campaign.evidence"},
	} {
		for _, w := range words {
			if !strings.Contains(files[name], w) {
				t.Errorf("%s does not hold %q: %.600s", name, w, files[name])
			}
		}
	}
	if strings.Contains(got.body+files["calls.csv"], "CANARY") {
		t.Error("a credential is in the evidence")
	}
	s.as(s.hire("sender@example.com", sms.Sender)).get(views.CampaignPath(c.ID) + "/evidence.zip").is(http.StatusForbidden)
}
