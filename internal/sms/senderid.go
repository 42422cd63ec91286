package sms

import "strings"

// SenderID is one record of §2.4.
type SenderID struct {
	ID            int64 // the service's id
	CompanyID     int64
	Text          string // Sender-Id
	Purpose       string
	IsActive      bool
	ApproveStatus string // the service's own word; only "Approved" is specified
	CreatedDate   string // as given
	ApprovedDate  string // as given; never proof of approval
	ReadAt        int64  // when we read it, 0 when fresh from the gateway
}

// Usable says that the sender ID may be chosen: approved and active.
func (s SenderID) Usable() bool {
	return s.IsActive && strings.EqualFold(strings.TrimSpace(s.ApproveStatus), "Approved")
}
