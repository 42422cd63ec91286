package sms

import (
	"fmt"
	"strconv"
	"strings"

	"smsdesk/internal/health"
)

// Outgoing is what of a draft would leave if it were started now.
type Outgoing struct {
	Messages int64
	Parts    int64
	LeftOut  int64 // left out when the draft was made
	// Blocked were blocked after that: they are left out when their turn comes.
	// Unsure says that some numbers were blocked, and that the campaign is too
	// long to count its own among them: Messages and Parts are the most then.
	Blocked int64
	Unsure  bool
	// Sent are the campaigns that sent the same to some of the recipients and
	// that this copy of the database does not know: those are left out, too.
	Sent []health.RememberedSend
}

// Asks says whether a person has to type the number of recipients.
func (o Outgoing) Asks(a Account) bool {
	return a.ConfirmCountAbove > 0 && o.Messages > a.ConfirmCountAbove
}

// TypedProblem says what is wrong with the number that a person typed, or "".
func (o Outgoing) TypedProblem(typed string) string {
	want := strconv.FormatInt(o.Messages, 10)
	typed = strings.Join(strings.FieldsFunc(typed, func(r rune) bool { return r == ' ' || r == ',' || r == '\u00a0' }), "")
	switch {
	case typed == want:
		return ""
	case typed == "":
		return "Type " + want + " to confirm"
	case len([]rune(typed)) > 20:
		typed = string([]rune(typed)[:20]) + "…"
	}
	return fmt.Sprintf("You typed %s. There are %s recipients", typed, want)
}
