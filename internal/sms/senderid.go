package sms

import (
	"fmt"
	"slices"
	"strings"
)

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
func (s SenderID) Usable() bool { return s.IsActive && s.Approved() }

// Approved says that the service's word is the one that the specification shows.
func (s SenderID) Approved() bool {
	return strings.EqualFold(strings.TrimSpace(s.ApproveStatus), "Approved")
}

// UsableSender says that the list holds the sender ID as one that may be used.
func UsableSender(list []SenderID, text string) bool {
	return slices.ContainsFunc(list, func(s SenderID) bool { return s.Text == text && s.Usable() })
}

// SenderGone says why a running campaign cannot go on with its sender ID.
func SenderGone(text string) string {
	return fmt.Sprintf("Sender ID %s is no longer approved and active at the provider. Nothing more will be sent with it",
		text)
}
