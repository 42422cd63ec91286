package views

import (
	"smsdesk/internal/sms"
)

// TeamPage is the list of people and the form that invites one more. Link is
// an invitation's address, shown this once.
type TeamPage struct {
	People  []TeamRow
	Invited []InvitedRow
	OnlyOne bool // there is one administrator only
	Link    string
	Email   string
	Role    string
	Bad     sms.Invalid
}

// TeamRow is one person.
type TeamRow struct {
	Href, Name, Email, Role string
	Active, Me              bool
}

// InvitedRow is an invitation that nobody has used yet.
type InvitedRow struct {
	Email, Role, Until string
}

// PersonPage changes what one person may do.
type PersonPage struct {
	Action string
	User   sms.User
	Me     bool
	Bad    sms.Invalid
}
