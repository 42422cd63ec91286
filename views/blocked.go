package views

import (
	"smsdesk/internal/sms"
)

// BlockedPage is an account's list of blocked numbers and the form that adds
// to it.
type BlockedPage struct {
	Formatter
	Account     string
	NoAccount   bool
	MayUnblock  bool
	Administers bool
	Total       int64
	Rows        []sms.Blocked
	More        bool
	First, Next string // addresses of pages, "" for none
	Search      string // what was searched for, as typed
	Numbers     string // as typed into the form
	Note        string
	Bad         sms.Invalid
}

// UnblockPage asks before a number is taken off the list.
type UnblockPage struct {
	Formatter
	Blocked sms.Blocked
	Note    string
	Bad     sms.Invalid
}

// BlockMessagePage asks before the number of a message is blocked.
type BlockMessagePage struct {
	MessagePage
	Note string
	Bad  sms.Invalid
}
