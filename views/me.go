package views

import (
	"smsdesk/internal/sms"
)

// MePage is what a person sees and changes about themselves.
type MePage struct {
	Name, Email, Role, SignedIn string
	Bad                         sms.Invalid
}
