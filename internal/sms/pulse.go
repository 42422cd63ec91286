package sms

import (
	"sort"
	"strconv"
	"strings"
	"time"
)

// Timings counts how long answers took, in steps: small enough to keep one for
// every minute, exact enough for a p99. The zero value counts nothing yet.
type Timings [len(steps) + 1]int64

// steps are the upper bounds in milliseconds.
var steps = [...]int{1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 2000, 5000, 9000}

// Add counts one answer.
func (t *Timings) Add(took time.Duration) {
	ms := int((took + time.Millisecond - 1) / time.Millisecond)
	t[sort.SearchInts(steps[:], ms)]++
}

// Merge adds another count.
func (t *Timings) Merge(o Timings) {
	for i, n := range o {
		t[i] += n
	}
}

// Within is the smallest step in which at least the given share of the answers
// was given, 0 when there were none. What took longer than the last step
// counts as twice that.
func (t Timings) Within(share float64) time.Duration {
	total := int64(0)
	for _, n := range t {
		total += n
	}
	seen := int64(0)
	for i, n := range t {
		seen += n
		if n > 0 && float64(seen) >= share*float64(total) {
			if i == len(steps) {
				return 2 * time.Duration(steps[i-1]) * time.Millisecond
			}
			return time.Duration(steps[i]) * time.Millisecond
		}
	}
	return 0
}

// String writes the counts without the zeros at their end.
func (t Timings) String() string {
	last := len(t)
	for last > 0 && t[last-1] == 0 {
		last--
	}
	words := make([]string, last)
	for i := range words {
		words[i] = strconv.FormatInt(t[i], 10)
	}
	return strings.Join(words, ",")
}

// ParseTimings reads what String wrote; what cannot be read counts as nothing.
func ParseTimings(s string) (t Timings) {
	for i, w := range strings.Split(s, ",") {
		if i < len(t) {
			t[i], _ = strconv.ParseInt(w, 10, 64)
		}
	}
	return t
}

// ReceiverMinute is what the callbacks' receiver did in one minute for one account;
// account 0 is for calls with a wrong token, which belong to nobody.
type ReceiverMinute struct {
	AccountID int64
	Minute    int64 // its beginning, in milliseconds
	Answered  int64 // reports kept and answered with 200
	Refused   int64 // wrong token
	Lost      int64 // answered with 503: the service discards such reports (§6.1)
	Posted    int64 // came by POST and were turned away
	Took      Timings
}

// Outage is a time in which this system did not answer callbacks.
type Outage struct {
	From, Until int64
}

// StatusCheck asks the service about the messages that have no report since a gap.
type StatusCheck struct {
	ID        int64
	AccountID int64
	Gap       Outage
	State     InquiryState
	Total     int64 // messages without a report when it began, at most MaxStatusCheckCount
	Asked     int64
	Resolved  int64 // whose status is known now
	By        User
	StartedAt int64
	EndedAt   int64
}

// InquiryState is where an inquiry stands.
type InquiryState string

// The states of an inquiry.
const (
	InquiryRunning InquiryState = "running"
	InquiryStopped InquiryState = "stopped"
	InquiryDone    InquiryState = "done"
)

// MaxStatusCheckCount is how far rows are counted that grow with every message; beyond
// it a page says "more than".
const MaxStatusCheckCount = 10_000

// GapReach is how long before a gap a message may have been sent whose report
// was lost in it.
const GapReach = time.Hour

// ReportFilter says which delivery reports are wanted, newest first.
type ReportFilter struct {
	AccountID int64
	Kind      ReportKind
	Before    int64 // keys below this; 0: from the newest
	Limit     int
}

// ReportKind is a tab of the report log.
type ReportKind string

// The kinds.
const (
	ReportsAll       ReportKind = ""
	ReportsUnmatched ReportKind = "unmatched"
	ReportsRepeated  ReportKind = "duplicates"
)
