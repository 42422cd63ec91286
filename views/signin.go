package views

import (
	"smsdesk/internal/sms"
)

// SignInForm is the form of the sign-in page. Notice tells a person who was
// signed in before why they are here.
type SignInForm struct {
	Email, Next, Notice string
	Bad                 sms.Invalid
}

// InviteForm is the page behind an invitation; without a role it is for a new
// password of somebody who is here already.
type InviteForm struct {
	Action, Email, Name string
	Role                sms.Role
	Bad                 sms.Invalid
}
