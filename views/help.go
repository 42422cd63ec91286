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
		{"06", "No report arrives.", "network"},
		{"07", "The report arrives twice and out of order. It is counted once.", "delivered"},
		{"08", "The connection is lost after the provider accepted the text. This affects the whole request.", "doubt"},
		{"09", "The report arrives before the provider's answer.", "delivered"},
		{"10", "The provider refuses this number.", "refused"},
		{"11", "The provider says once that we are sending too fast. We try again.", "delivered"},
		{"12", "The report says UNKNOWN.", "unknown"},
		{"13", "The report says DELETED.", "deleted"},
		{"14", "The report says only ACCEPTD.", "network"},
	}
}

func (n testNumber) number() string { return "0803 000 00" + n.Ending }

func (n testNumber) standing() sms.DisplayStatus {
	s, _ := sms.StandingByKey(n.Standing)
	return s
}

// sources says which words of the provider or acts of people lead to a
// standing.
func sources(key string) string {
	return map[string]string{
		"draft": "not confirmed", "queued": "waiting here", "sending": "request in progress", "network": "Message ID, or ACCEPTD",
		"delivered": "DELIVRD", "undelivered": "UNDELIV", "expired": "EXPIRED", "deleted": "DELETED", "rejected": "REJECTD", "blocked": "BLACKLIST",
		"unknown": "UNKNOWN", "late": "no report in the time set", "doubt": "request sent, answer lost", "held": "an undocumented answer",
		"refused": "the provider refused this number", "closed": "someone's decision", "resent": "someone's decision",
		"stopped": "someone's choice", "leftout": "someone's choice",
	}[key]
}

// helpTopic is a part of the help, with further words that people look for.
type helpTopic struct{ Text, Href, words string }

func helpTopics() []helpTopic {
	return []helpTopic{
		{"What each status means", "#states", "delivered not delivered undelivered expired rejected blocked unknown report DLR"},
		{"What “in doubt” means", "#doubt", "decision twice lost answer"},
		{"What a part is", "#parts", "characters length price special 160 70 GSM unicode"},
		{"How lists are read", "#lists", "upload file excel csv xlsx ods xls phone numbers hidden rows columns whatsapp"},
		{"Rehearse before you send", "#rehearsal", "simulate forecast predict bad day try"},
		{"Test numbers", "#test-numbers", "sandbox try"},
		{"USSD", "#ussd", "menu code dial shortcode session caller star hash survey sign up"},
		{"Other programs", "#programs", "API token openapi integration webhook curl"},
		{"Keys", "#keys", "keyboard shortcut"},
	}
}

func helpChips() []Chip {
	var chips []Chip
	for _, t := range helpTopics() {
		chips = append(chips, Chip{Text: t.Text, Href: t.Href})
	}
	return chips
}
