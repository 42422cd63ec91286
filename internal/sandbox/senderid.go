package sandbox

import (
	"regexp"
	"slices"
)

// senderID is §2.4, field names as on the wire. A status other than Approved is not in the specification.
type senderID struct {
	ID            int64  `json:"Id"`
	CompanyID     int64  `json:"CompanyId"`
	Text          string `json:"Sender-Id"`
	Purpose       string `json:"Purpose"`
	IsActive      bool   `json:"IsActive"`
	CreatedDate   string `json:"CreatedDate"`
	ApproveStatus string `json:"ApproveStatus"`
	ApprovedDate  string `json:"ApprovedDate"`
}

const (
	approved = "Approved"
	pending  = "Pending"
)

var senderIDForm = regexp.MustCompile(`^[A-Za-z0-9]{3,11}$`)

// listSenderIDs is §4.6.
func (s *Sandbox) listSenderIDs(*call) answer {
	return success(append([]senderID{}, s.senders...))
}

// createSenderID is not in the specification; some resellers offer it. The new sender ID awaits approval.
func (s *Sandbox) createSenderID(c *call) answer {
	text, purpose := c.value("senderid"), c.value("purpose")
	switch {
	case text == "":
		return failure(codeNoSenderID)
	case purpose == "":
		return failure(codeMissing)
	case !senderIDForm.MatchString(text):
		return failure(codeBadSenderID)
	case slices.ContainsFunc(s.senders, func(x senderID) bool { return x.Text == text }):
		return failure(codeRecordExists)
	}
	x := senderID{ID: s.nextID(), CompanyID: companyID, Text: text, Purpose: purpose, IsActive: true, CreatedDate: s.day(),
		ApproveStatus: pending}
	return s.change(entry{Sender: &x}, "SenderId added successfully.")
}

// updateSenderID changes the purpose only: the text must equal the existing one.
func (s *Sandbox) updateSenderID(c *call) answer {
	text, purpose := c.value("senderid"), c.value("purpose")
	i := s.senderIndex(c.id())
	switch {
	case text == "":
		return failure(codeNoSenderID)
	case purpose == "" || c.id() == "":
		return failure(codeMissing)
	case i < 0:
		return failure(codeNotFound)
	case s.senders[i].Text != text:
		return failure(codeBadSenderID)
	}
	x := s.senders[i]
	x.Purpose = purpose
	return s.change(entry{Sender: &x}, "SenderId updated Successfully.")
}

func (s *Sandbox) deleteSenderID(c *call) answer {
	i := s.senderIndex(c.id())
	switch {
	case c.id() == "":
		return failure(codeMissing)
	case i < 0:
		return failure(codeNotFound)
	}
	return s.change(entry{SenderGone: s.senders[i].ID}, "SenderId deleted Successfully.")
}

// senderIndex is -1 where there is no such record.
func (s *Sandbox) senderIndex(id string) int {
	n, ok := parseID(id)
	if !ok {
		return -1
	}
	return slices.IndexFunc(s.senders, func(x senderID) bool { return x.ID == n })
}

// maySend tells whether a sender ID is approved and active.
func (s *Sandbox) maySend(text string) bool {
	return slices.ContainsFunc(s.senders, func(x senderID) bool {
		return x.Text == text && x.ApproveStatus == approved && x.IsActive
	})
}
