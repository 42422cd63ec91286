package views

import (
	"smsdesk/internal/sms"
)

// TokensPage lists tokens and makes new ones. Secret is shown on one page only.
type TokensPage struct {
	Formatter
	Rows        []sms.Token
	Mine        int64 // the person's own id
	Administers bool  // sees everybody's tokens
	People      []Option
	Secret      string
	Name, User  string // as typed
	Bad         sms.Invalid
}

// RevokePage asks before a token is ended.
type RevokePage struct {
	Formatter
	Token sms.Token
}
