package web

import (
	"strings"
	"testing"

	"smsdesk/internal/sms"
)

func TestHelpExplainsEveryState(t *testing.T) {
	s := newSite(t)
	got := s.as(s.hire("v@example.com", sms.Viewer)).get("/help").is(200)
	s.leads(got)
	table := got.text("#state-table")
	for _, state := range sms.DisplayStatuses() {
		if !strings.Contains(table, state.Words) || !strings.Contains(table, state.Help) {
			t.Errorf("%s is not explained", state.Words)
		}
	}
	got.count("#state-table tbody tr", len(sms.DisplayStatuses())).count("#test-table tbody tr", 14).has("0803 000 0008",
		"160",
		"153", "70", "67")
	for _, id := range []string{"states", "doubt", "parts", "test-numbers", "ussd", "programs", "keys"} {
		got.count("#"+id, 1)
	}
	if strings.Contains(got.text("#state-table tbody tr:last-child td:last-child"), "–") {
		t.Error("a state does not say where it comes from")
	}
}
