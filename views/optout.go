package views

// OptOutNoAddressProps says whether a text has an opt-out link that recipients
// could not open (desk.OptOutNoAddress), and whether this person can change that.
type OptOutNoAddressProps struct {
	Shown  bool
	CanSet bool // an administrator
}

// OptOutPage is what somebody sees who opened the link in a message.
type OptOutPage struct {
	Action   string
	From, To string // a sender ID, and the number in part
	Done     bool
	Unknown  bool // the link is not one of ours
	Busy     bool // too many tries from one address
}
