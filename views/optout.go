package views

// OptOutPage is what somebody sees who opened the link in a message.
type OptOutPage struct {
	Action   string
	From, To string // a sender ID, and the number in part
	Done     bool
	Unknown  bool // the link is not one of ours
	Busy     bool // too many tries from one address
}
