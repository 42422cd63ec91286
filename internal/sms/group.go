package sms

// Group is one contact group at the gateway (§2.5). The list tells no parent.
type Group struct {
	ID           int64
	Name         string
	ContactCount int64
}
