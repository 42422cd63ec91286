package sms

import (
	"fmt"
	"strings"
	"time"

	"github.com/nyaruka/phonenumbers"
)

// BlockKind says how a number came onto the list of blocked numbers.
type BlockKind string

// The kinds.
const (
	BlockedByStaff  BlockKind = "staff"
	BlockedByFile   BlockKind = "file"
	BlockedByReport BlockKind = "report" // a delivery report with the status BLACKLIST (§2.6)
	BlockedByUSSD   BlockKind = "ussd"   // the person themself, in a USSD menu
	BlockedByLink   BlockKind = "link"   // the person themself, on the page that a link in a message opens
)

// Blocked is a number to which an account sends nothing. It reaches no group
// that is kept at the gateway: what is in one is not known here.
type Blocked struct {
	ID        int64
	AccountID int64
	Number    string // MSISDN as digits with country code, no "+"
	Kind      BlockKind
	Note      string // why, as a person wrote it; may be ""
	ByID      int64  // 0 where nobody of the staff did it
	ByName    string
	Since     int64
	Proof     string // how it is known: a sentence for staff without the number in it; may be ""
	MessageID int64  // the message whose report or link did it, 0 for none
}

// Unblocking says how a block ended.
type Unblocking struct {
	At     int64
	Kind   BlockKind // BlockedByStaff, or BlockedByUSSD where the person took it back in a menu
	Note   string    // why, as staff wrote it, or how the person asked for it
	ByID   int64     // 0 where nobody of the staff did it
	ByName string
}

// Words says in words by whom the block was taken back.
func (u Unblocking) Words() string {
	if u.Kind == BlockedByUSSD {
		return "by the recipient, by USSD"
	}
	return "by " + u.ByName
}

// EndedBlock is a block that is no more. Its ID is its own and none of a
// present block.
type EndedBlock struct {
	Blocked
	End Unblocking
}

// ByPerson says that whoever has the number asked for it.
func (b Blocked) ByPerson() bool { return b.Kind == BlockedByUSSD || b.Kind == BlockedByLink }

// Reason says in words how the number came onto the list.
func (b Blocked) Reason() string {
	switch {
	case b.Kind == BlockedByReport:
		return "delivery report BLACKLIST"
	case b.Kind == BlockedByUSSD:
		return "opted out by USSD"
	case b.Kind == BlockedByLink:
		return "opted out with the link in a message"
	case b.Kind == BlockedByFile && b.ByName != "":
		return "from a file uploaded by " + b.ByName
	case b.Kind == BlockedByFile:
		return "from a file"
	case b.ByName != "":
		return "added by " + b.ByName
	}
	return "entered by hand"
}

// ReportProof is the proof of a block by a message's delivery report.
func ReportProof(message int64, d Delivery) string {
	proof := fmt.Sprintf("Delivery report of message %d: %s", message, d.Status)
	if d.ErrorCode != "" && d.ErrorCode != "0" && d.ErrorCode != "000" {
		proof += ", error " + d.ErrorCode
	}
	if d.DoneDate != "" {
		proof += ", done " + d.DoneDate
	}
	return proof
}

// Sentence is why a message to the number is left out. The day is that of
// now's zone, with the year where it is another one than now's.
func (b Blocked) Sentence(now time.Time) string {
	since := time.UnixMilli(b.Since).In(now.Location())
	day := since.Format("2 January")
	if since.Year() != now.Year() {
		day = since.Format("2 January 2006")
	}
	return "Number blocked since " + day + " (reason: " + b.Reason() + ")"
}

// Blockable says that a number can be put onto the list: a group's answer may
// name its recipients in part only, and such a name would match nobody.
func Blockable(number string) bool {
	return number != "" && strings.Trim(number, "0123456789") == ""
}

// BlockedFilter says which blocked numbers of an account are wanted. Without
// a prefix they come newest first.
type BlockedFilter struct {
	AccountID int64
	Before    int64  // ids below this; 0: from the newest
	Prefix    string // the number's first digits with country code, in the order of the numbers
	Limit     int
}

// NumberPrefix reads the first digits of a number as people type them, in the
// form in which numbers are kept; "" when it has no digits.
func NumberPrefix(typed, country string) string {
	digits := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, typed)
	if national, ok := strings.CutPrefix(digits, "00"); ok {
		return national
	}
	if national, ok := strings.CutPrefix(digits, "0"); ok {
		return fmt.Sprint(phonenumbers.GetCountryCodeForRegion(strings.ToUpper(country))) + national
	}
	return digits
}
