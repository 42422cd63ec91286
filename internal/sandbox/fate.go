package sandbox

import "strconv"

// outcome is what becomes of a text, by the number's ending: the last seven digits 00000NN, NN from 01 to 14.
type outcome int

const (
	fateOrdinary  outcome = 0
	fateOutOfLine outcome = 7  // reported twice and out of order
	fateCut       outcome = 8  // the connection is lost after the text was accepted
	fateEarly     outcome = 9  // reported before the answer
	fateRefused   outcome = 10 // refused per recipient
	fateThrottled outcome = 11 // 429 once
	lastFate      outcome = 14
)

// reportSequence is a fate's delivery status words in the order they are reported, and the one MessageStatus ends
// with. For ending 06 the report is lost, not the text.
type reportSequence struct {
	reports []string
	final   string
}

var reportSequences = map[outcome]reportSequence{
	fateOrdinary:  {[]string{"DELIVRD"}, "DELIVRD"},
	1:             {[]string{"DELIVRD"}, "DELIVRD"},
	2:             {[]string{"UNDELIV"}, "UNDELIV"},
	3:             {[]string{"EXPIRED"}, "EXPIRED"},
	4:             {[]string{"REJECTD"}, "REJECTD"},
	5:             {[]string{"BLACKLIST"}, "BLACKLIST"},
	6:             {nil, "DELIVRD"},
	fateOutOfLine: {[]string{"DELIVRD", "ACCEPTD", "DELIVRD"}, "DELIVRD"},
	fateCut:       {[]string{"DELIVRD"}, "DELIVRD"},
	fateEarly:     {[]string{"DELIVRD"}, "DELIVRD"},
	fateThrottled: {[]string{"DELIVRD"}, "DELIVRD"},
	12:            {[]string{"UNKNOWN"}, "UNKNOWN"},
	13:            {[]string{"DELETED"}, "DELETED"},
	lastFate:      {[]string{"ACCEPTD"}, "ACCEPTD"},
}

// statusErrors is the errorCode beside a delivery status; the specification gives no values, three digits are
// what is seen.
var statusErrors = map[string]string{
	"DELIVRD":   "000",
	"ACCEPTD":   "000",
	"UNDELIV":   "101",
	"EXPIRED":   "102",
	"REJECTD":   "103",
	"BLACKLIST": "104",
	"UNKNOWN":   "105",
	"DELETED":   "106",
}

// fateOf is what a number meets.
func (s *Sandbox) fateOf(number string) outcome {
	if s.cfg.Fate == nil {
		return fateOf(number)
	}
	if o := outcome(s.cfg.Fate(number)); o >= fateOrdinary && o <= lastFate {
		return o
	}
	return fateOrdinary
}

// fateOf expects digits only.
func fateOf(number string) outcome {
	at := len(number) - 7
	if at < 0 || number[at:at+5] != "00000" {
		return fateOrdinary
	}
	n, err := strconv.Atoi(number[at+5:])
	if err != nil || outcome(n) > lastFate {
		return fateOrdinary
	}
	return outcome(n)
}
