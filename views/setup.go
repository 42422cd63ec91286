package views

import (
	"smsdesk/internal/sms"
)

// SetUpForm makes the first administrator. Token is the secret of the address
// that was printed in the terminal.
type SetUpForm struct {
	Token, Email, Name string
	Bad                sms.Invalid
}

// Needed counts the tasks that are not optional.
func (l TaskList) Needed() (n int) {
	for _, t := range l.Tasks {
		if !t.Optional {
			n++
		}
	}
	return n
}

// TaskList is what is left to do; it renews itself when a report arrives.
type TaskList struct {
	Tasks []Task
	Done  int  // of Needed
	Next  Link // the first task that is open
	Renew Refresh
}
