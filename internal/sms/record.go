package sms

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// RecordKind is one kind of record that the service keeps for an account.
type RecordKind string

// The kinds of records that are read and kept.
const (
	RecordTemplates RecordKind = "templates"
	RecordSenders   RecordKind = "senders"
	RecordGroups    RecordKind = "groups"
	RecordBalance   RecordKind = "balance"
)

// Reading is how fresh the records of one kind are.
type Reading struct {
	At      int64  // when they were last read (ms), 0: never
	Failure string // why the last attempt failed, a sentence for staff; "" when it did not
}

// RecordSettings is what an account does with its records at the service.
type RecordSettings struct {
	Creates   bool  // this service makes templates and sender IDs by calls that the specification does not show (§4.9)
	WarnBelow int64 // a balance below this shows a band and is mailed, in hundredths; 0: never
	Floor     int64 // a balance at or below this pauses what is being sent, in hundredths; 0: never
	// OthersSend says that others send from the account, too: a fall of its
	// balance is then no reason to ask whether an older state came back.
	OthersSend bool
	MailTo     string // who is mailed, addresses with commas between them; "": nobody
}

// Check lists what is wrong with the settings.
func (s RecordSettings) Check() error {
	bad := Invalid{}
	if s.WarnBelow < 0 || s.WarnBelow > maxPrice {
		bad["warn_below"] = "Enter an amount, for example 5000, or leave it empty"
	}
	if s.Floor < 0 || s.Floor > maxPrice {
		bad["floor"] = "Enter an amount, for example 1000, or leave it empty"
	}
	for _, address := range s.Addresses() {
		name, host, ok := strings.Cut(address, "@")
		if !ok || name == "" || host == "" || len(address) > 254 || strings.ContainsFunc(address, oddInAddress) {
			bad["mail_to"] = fmt.Sprintf("%q is not an email address. Enter addresses like ada@example.com, separated by commas",
				cutRunes(address, 60))
		}
	}
	if len(s.Addresses()) > 10 {
		bad["mail_to"] = "Enter at most 10 email addresses"
	}
	return bad.Or()
}

func oddInAddress(r rune) bool {
	return r <= ' ' || r == utf8.RuneError || strings.ContainsRune(`<>()[]\,;:"`, r) || unicode.IsControl(r)
}

// Addresses are those who are mailed, each for itself.
func (s RecordSettings) Addresses() []string {
	var list []string
	for _, a := range strings.Split(s.MailTo, ",") {
		if a = strings.TrimSpace(a); a != "" {
			list = append(list, a)
		}
	}
	return list
}

func cutRunes(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// maxRecordName is the most characters of a name that smsdesk sends. The
// service's own limit is not shown.
const maxRecordName = 100

// TidyName writes a record's name on one line, without spaces around it.
func TidyName(name string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(name, "\uFFFD")), " ")
}

// NameProblem says what is wrong with the tidy name of a template or group, or "".
func NameProblem(noun, name string) string {
	switch {
	case name == "":
		return "Enter a name for the " + noun
	case utf8.RuneCountInString(name) > maxRecordName:
		return fmt.Sprintf("Name must be %d characters or fewer", maxRecordName)
	}
	return ""
}

// SenderTextProblem says what is wrong with the text of a sender ID, or ""
// (§2.4: 3 to 11 letters or digits).
func SenderTextProblem(text string) string {
	fits := func(r rune) bool { return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' }
	switch n := utf8.RuneCountInString(text); {
	case n == 0:
		return "Enter the sender ID"
	case strings.ContainsFunc(text, func(r rune) bool { return !fits(r) }):
		return "Sender ID must only contain letters A to Z and digits, with no spaces"
	case n < 3 || n > 11:
		return fmt.Sprintf("Sender ID must be 3 to 11 characters. Yours is %d", n)
	}
	return ""
}
