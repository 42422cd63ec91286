package views

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // zones must not depend on the machine

	"smsdesk/internal/sms"
)

func TestZoneWords(t *testing.T) {
	for name, want := range map[string][2]string{
		"Africa/Lagos":     {"West Africa Time", "West Africa Time"},
		"Africa/Nairobi":   {"East Africa Time", "East Africa Time"},
		"Africa/Cairo":     {"Cairo time (UTC+2)", "Cairo time (UTC+3)"},
		"Europe/London":    {"London time (UTC+0)", "London time (UTC+1)"},
		"America/New_York": {"New York time (UTC-5)", "New York time (UTC-4)"},
		"America/St_Johns": {"St Johns time (UTC-3:30)", "St Johns time (UTC-2:30)"},
		"UTC":              {"UTC", "UTC"},
	} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, month := range []time.Month{time.January, time.July} {
			if got := ZoneWords(time.Date(2026, month, 10, 12, 0, 0, 0, zone)); got != want[i] {
				t.Errorf("%s in %s: %q, want %q", name, month, got, want[i])
			}
		}
	}
}

// whoever looks at the campaign sees that its clock will show another
// time than was chosen.
func TestAChangedZoneIsShown(t *testing.T) {
	at := time.Date(2026, 6, 4, 8, 0, 0, 0, time.UTC)
	p := CampaignPage{Formatter: Formatter{Now: at.Add(-time.Hour)},
		Campaign: sms.Campaign{State: sms.CampaignScheduled, SendAt: at.UnixMilli(), SendZone: "Africa/Lagos",
			SendOffset: 3600}}
	if got := p.zoneMoved(); got != "" {
		t.Errorf("nothing changed, but the page says %q", got)
	}
	p.Campaign.SendOffset = 7200
	if got := p.zoneMoved(); !strings.Contains(got, "10:00am is now 9:00am") {
		t.Errorf("the page says %q", got)
	}
}
