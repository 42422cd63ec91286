package sms

import (
	"fmt"
	"strings"
	"time"

	"smsdesk/internal/health"
)

// Approval is what a second person has to do with a campaign: who asked for
// it, who gave it, and who sent the campaign back and why. Zero ids and times
// (ms UTC) stand for what has not happened.
type Approval struct {
	AskedBy      int64
	AskedName    string
	AskedAt      int64
	ApprovedBy   int64
	ApprovedName string
	ApprovedAt   int64
	Returned     string // why it was sent back to its author, "" when it was not
	ReturnedBy   int64
	ReturnedName string
	ReturnedAt   int64
}

// Waits says that a second person has to approve the campaign before anything
// of it is sent. Until then nothing of it may change.
func (c Campaign) Waits() bool { return c.State == CampaignAwaiting }

// NeedsApproval says whether a person may let the draft go only with the yes
// of a second one. Numbers that were blocked since are counted: they may be
// unblocked again. How many people are in a gateway group is not known, so one
// always needs it where the account asks at all.
func (a Account) NeedsApproval(c Campaign, o Outgoing) bool {
	return a.ApproveAbove > 0 && (c.GroupID != "" || o.Messages+o.Blocked+health.SumSends(o.Sent) > a.ApproveAbove)
}

// MayApprove says whether u may be the second person: an active Approver or
// above, who neither wrote the campaign nor asked for the approval.
func (c Campaign) MayApprove(u User) bool {
	return u.ID > 0 && u.Active && u.Role.AtLeast(Approver) && u.ID != c.CreatedBy && u.ID != c.Approval.AskedBy
}

// Approvers are the people who could approve the campaign if by asked for it,
// in the order of the list.
func (c Campaign) Approvers(list []User, by User) (can []User) {
	c.Approval.AskedBy = by.ID
	for _, u := range list {
		if c.MayApprove(u) {
			can = append(can, u)
		}
	}
	return can
}

const maxReturnReason = 500 // characters

// CheckReturned reads why a campaign is sent back; sentence says what is wrong
// with it, or is "".
func CheckReturned(reason string) (trimmed, sentence string) {
	trimmed = strings.Join(strings.Fields(strings.ToValidUTF8(reason, "�")), " ")
	switch {
	case trimmed == "":
		return trimmed, "Enter what has to change"
	case len([]rune(trimmed)) > maxReturnReason:
		return trimmed, "Reason must be 500 characters or fewer"
	}
	return trimmed, ""
}

// LateApproval says why a campaign that was approved after its time was not
// started.
func LateApproval(s Schedule) string {
	at := s.Time()
	return fmt.Sprintf(
		"It was scheduled for %s at %s, but was approved after that time. It is more than %d minutes late, so someone has to decide when to send it",
		at.Format("2 January 2006"), at.Format("3:04pm"), int(MaxLate/time.Minute))
}
