package page

import (
	"fmt"
	"strconv"
	"strings"

	"smsdesk/internal/sms"
	"smsdesk/views"
)

// overtakenWord begins the word for a decision that reports overtook. Behind it
// stand, with a point before each, how many messages they settled and how many
// are left for each kind of left.
const overtakenWord = "overtaken"

// left are the ends of the sentence about such a decision, in the order of the
// counts in the word.
var left = [...]struct {
	choice sms.Choice
	words  string
}{
	{sms.ChooseAgain, "left to send again"},
	{sms.ChooseSent, "marked as sent"},
	{sms.ChooseClose, "closed"},
	{sms.ChooseQueue, "put back in the queue"},
	{"", "waiting for someone else to agree"},
}

// WithOvertaken is address with what became of a decision that reports overtook,
// to be shown once.
func WithOvertaken(address string, d sms.DecisionResult) string {
	counts := d.Counts
	if d.Decision.State == sms.DecisionProposed {
		counts = map[sms.Choice]int{}
		for _, n := range d.Counts {
			counts[""] += n
		}
	}
	word := overtakenWord + "." + strconv.Itoa(d.Settled)
	for _, l := range left {
		word += "." + strconv.Itoa(counts[l.choice])
	}
	return views.With(address, "done", word)
}

// overtaken is the sentence for such a word, "" for one that is none.
func overtaken(word string) string {
	parts := strings.Split(word, ".")
	if parts[0] != overtakenWord || len(parts) != len(left)+2 {
		return ""
	}
	settled := Number(parts[1])
	if settled < 1 {
		return ""
	}
	var ends []string
	for i, l := range left {
		if n := Number(parts[i+2]); n > 0 {
			ends = append(ends, views.Number(int(n))+" "+l.words)
		}
	}
	if len(ends) == 0 {
		ends = []string{"nothing was left to decide"}
	}
	return fmt.Sprintf("Reports settled %s in the meantime; %s.", views.Number(int(settled)), strings.Join(ends, ", "))
}
