package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"smsdesk/internal/sms"
)

// TestAcknowledgedReportsAfterARestore: 600 reports are acknowledged, then the
// desk dies, its inbox is gone and its database is one from before they came.
func TestAcknowledgedReportsAfterARestore(t *testing.T) {
	beside(t)
	const messages = 600
	p := newPair(t, binary(t, ""), 100, "--faults", "holdReports=true")
	desk := p.serve()
	c, _ := p.seed(killRows(numbersFrom(1, messages)))
	p.begin(c)
	waitFor(t, longPatience, "everything sent", func() bool {
		time.Sleep(50 * time.Millisecond)
		return p.campaign(c.ID).State == sms.CampaignFinished
	})
	if err := desk.stop(); err != nil {
		t.Fatal(err)
	}
	p.copyDatabase("smsdesk.db", "older.db")
	desk = p.serve()
	setFaults(t, p.sandbox, `{"duplicates":0.1}`)
	waitFor(t, longPatience, "all reports to be acknowledged", func() bool {
		s := p.sandboxState()
		return s.ReportsOwed == 0 && s.ReportsAnswered >= messages
	})
	desk.kill()
	for _, ending := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(filepath.Join(p.data, "inbox.db"+ending)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	p.copyDatabase("older.db", "smsdesk.db")
	desk = p.serve()
	waitFor(t, patience, "the reports to be back", func() bool {
		wrong, acknowledged, stored := p.unstored(c.ID)
		return len(wrong) == 0 && acknowledged >= messages && stored >= messages
	})
	if err := desk.stop(); err != nil {
		t.Error(err)
	}
	out, _ := command(t, p.bin, "--data", p.data, "doctor", "--counts")
	for _, line := range []string{"all counts match", "log of delivery reports is whole"} {
		if !strings.Contains(out, line) {
			t.Errorf("doctor does not say %q:\n%s", line, out)
		}
	}
}
