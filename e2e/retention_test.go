package e2e

import (
	"strings"
	"testing"
	"time"
)

// TestRetentionIsSetAndShown: an administrator sets the months, a wrong figure
// is told beside its field, and pages say until when things are kept.
func TestRetentionIsSetAndShown(t *testing.T) {
	beside(t)
	o := openOffice(t)
	p := newTab(t, newBrowser(t), o.base)
	p.open("/signin")
	p.firstRun(o)
	p.compose("A text for three months", "0803 000 0001")
	p.press("Send 1 message now")
	p.row("0803 000 0001", "Delivered")
	campaign := p.URL()
	p.open("/settings/retention")
	p.fill("Messages (months)", "1000")
	p.press("Save")
	p.sees("Months must be between 1 and 120")
	p.picture("retention")
	p.complaints = nil // the browser tells every 422
	p.fill("Messages (months)", "3")
	p.fill("Log of delivery reports, in days", "14")
	p.press("Save")
	p.sees("Saved.")
	p.open(strings.TrimPrefix(campaign, o.base))
	zone, err := time.LoadLocation("Africa/Lagos")
	if err != nil {
		t.Fatal(err)
	}
	p.sees("kept until " + time.Now().In(zone).AddDate(0, 3, 0).Format("2 January 2006"))
	if out := must(t, binary(t, ""), "--data", o.data, "retention", "show"); !strings.Contains(out,
		"Messages: 3 months") || !strings.Contains(out, "Reports: forever") || !strings.Contains(out, "Log of reports: 14 days") {
		t.Error(out)
	}
	if out := must(t, binary(t, ""), "--data", o.data, "doctor", "--counts"); !strings.Contains(out, "all counts match") {
		t.Error(out)
	}
}
