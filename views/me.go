package views

import (
	"smsdesk/internal/sms"
)

// MePage is what a person sees and changes about themselves.
type MePage struct {
	Name, Email, Role, SignedIn string
	Bad                         sms.Invalid
}

// onOrOff is what the button for keys asks for.
func onOrOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func keysButton(off bool) string {
	if off {
		return "Turn these keys on"
	}
	return "Turn these keys off"
}
