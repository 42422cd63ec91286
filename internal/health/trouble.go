package health

import "errors"

// Trouble is what keeps the desk from storing anything; "" for none.
type Trouble string

// The kinds of trouble with storage. What is none of them is a wrong
// configuration or a fault of ours.
const (
	TroubleFull     Trouble = "full"
	TroubleReadOnly Trouble = "read-only"
	TroubleLocked   Trouble = "locked"
	TroubleDamaged  Trouble = "damaged"
	TroubleFailing  Trouble = "failing"
)

// Sentence says what is wrong and what to do.
func (t Trouble) Sentence() string {
	switch t {
	case "":
		return ""
	case TroubleFull:
		return "The disk with the data folder is full, so nothing is being sent. Free some space on it. smsdesk will then continue automatically."
	case TroubleReadOnly:
		return "The data folder cannot be written, so nothing is being sent. " +
			"Make the disk and the folder writable for the user that runs smsdesk. smsdesk will then continue automatically."
	case TroubleLocked:
		return "Another program has locked the database, so nothing is being sent. " +
			"Close that program, for example a database shell or a copy job. smsdesk will then continue automatically."
	case TroubleDamaged:
		return "A database file in the data folder is damaged, so nothing is being sent. Stop smsdesk and restore a backup; the README says how."
	default:
		return "The disk with the data folder cannot be read or written, so nothing is being sent. " +
			"Check the disk; the log has the error. smsdesk will then continue automatically."
	}
}

// Troubled is an error of which the cause is trouble with storage.
type Troubled struct {
	Trouble Trouble
	Err     error
}

// Error is that of the cause.
func (t Troubled) Error() string { return t.Err.Error() }

// Unwrap gives the cause.
func (t Troubled) Unwrap() error { return t.Err }

// TroubleOf is the trouble with storage behind an error, "" where there is none.
func TroubleOf(err error) Trouble {
	if t, ok := errors.AsType[Troubled](err); ok {
		return t.Trouble
	}
	return ""
}
