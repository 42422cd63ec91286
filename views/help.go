package views

import "smsdesk/internal/sms"

// testNumber is an ending that forces an outcome at the embedded sandbox.
type testNumber struct{ Ending, Happens, Standing string }

// testNumbers are the endings that the sandbox knows, each with the standing that the
// message gets by it.
func testNumbers() []testNumber {
	return []testNumber{
		{"01", "The report says DELIVRD.", "delivered"},
		{"02", "The report says UNDELIV.", "undelivered"},
		{"03", "The report says EXPIRED.", "expired"},
		{"04", "The report says REJECTD.", "rejected"},
		{"05", "The report says BLACKLIST.", "blocked"},
		{"06", "No report comes.", "network"},
		{"07", "The report comes twice and out of order. It counts once.", "delivered"},
		{"08", "The connection is lost after the text was taken. It hits the whole request.", "doubt"},
		{"09", "The report comes before the answer.", "delivered"},
		{"10", "The provider refuses this number.", "refused"},
		{"11", "The provider says once that requests come too fast. We send again.", "delivered"},
		{"12", "The report says UNKNOWN.", "unknown"},
		{"13", "The report says DELETED.", "deleted"},
		{"14", "The report says only ACCEPTD.", "network"},
	}
}

func (n testNumber) number() string { return "0803 000 00" + n.Ending }

func (n testNumber) standing() sms.Standing {
	s, _ := sms.StandingByKey(n.Standing)
	return s
}

// sources says which words of the provider or acts of people lead to a
// standing.
func sources(key string) string {
	return map[string]string{
		"draft": "not confirmed", "queued": "waiting here", "sending": "request under way", "network": "Message ID, or ACCEPTD",
		"delivered": "DELIVRD", "undelivered": "UNDELIV", "expired": "EXPIRED", "deleted": "DELETED", "rejected": "REJECTD", "blocked": "BLACKLIST",
		"unknown": "UNKNOWN", "late": "nothing for the time that is set", "doubt": "request sent, answer lost", "held": "an answer that nobody documented",
		"refused": "an error for this number", "closed": "a person's decision", "resent": "a person's decision", "stopped": "a person's choice", "leftout": "a person's choice",
	}[key]
}
