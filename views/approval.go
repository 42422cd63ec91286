package views

import (
	"strings"

	"smsdesk/internal/sms"
)

// Ask is what the button of the last page before sending promises where a
// second person has to approve.
const Ask = "ask"

// Approval is what the confirmation says where a second person has to approve.
type Approval struct {
	Needed bool
	By     []string // names of those who may
}

// who are the people who may approve: "Bola Ade or Chidi Eze".
func (a Approval) who() string {
	const named = 3
	if n := len(a.By); n > named {
		return strings.Join(a.By[:named], ", ") + " or " + Plural(n-named, "other", "others")
	}
	if len(a.By) < 2 {
		return strings.Join(a.By, "")
	}
	return strings.Join(a.By[:len(a.By)-1], ", ") + " or " + a.By[len(a.By)-1]
}

// nobody says that there is nobody to ask.
func (a Approval) nobody() bool { return a.Needed && len(a.By) == 0 }

func (p ConfirmPage) approvalWords() string {
	if p.Campaign.GroupID != "" {
		return "Campaigns to a group need approval on this account, because the number of recipients is not known."
	}
	return "Campaigns to more than " + Plural(int(p.Account.ApproveAbove), "recipient", "recipients") +
		" need approval on this account."
}

// ApprovalPage is a campaign that waits for a second person.
type ApprovalPage struct {
	ConfirmPage
	CanApprove bool // this person is that second one
	Own        bool // this person wrote it or asked for the approval
	CanSend    bool
	Reason     string // why it is sent back, as typed
}

// Title is the page's heading.
func (p ApprovalPage) Title() string {
	if p.CanApprove {
		return "Approve this campaign?"
	}
	return "Waiting for approval"
}

// asked are the lines about what is to happen, and who wants it.
func (p ApprovalPage) asked() []KeyValue {
	c := p.Campaign
	terms := []KeyValue{{Name: "Asked by", Text: c.Approval.AskedName + ", " + p.When(c.Approval.AskedAt)}}
	if c.CreatedBy != c.Approval.AskedBy {
		terms = append(terms, KeyValue{Name: "Written by", Text: c.CreatedName + ", " + p.When(c.CreatedAt)})
	}
	return append(terms, KeyValue{Name: "Sender ID", Text: c.SenderID}, KeyValue{Name: "When", Text: p.when()})
}

func (p ApprovalPage) when() string {
	c := p.Campaign
	if c.SendAt == 0 {
		return "As soon as it is approved"
	}
	at := c.Schedule().Time()
	words := capitalise(When(at, p.Now)) + ", " + ZoneWords(at)
	if c.HandOver {
		words += ", scheduled with the provider"
	}
	return words
}

// passed says what becomes of a campaign whose time has passed.
func (p ApprovalPage) passed() string {
	c := p.Campaign
	due, late := c.Schedule().Due(p.Now)
	switch {
	case c.SendAt == 0 || !due:
		return ""
	case c.HandOver:
		return "The scheduled time has passed. Send it back so that another time can be chosen."
	case late:
		return "The scheduled time has passed. If you approve it, it will pause until someone decides when to send it."
	}
	return "It is due now. If you approve it, it will be sent immediately."
}

// button says what approving does.
func (p ApprovalPage) button() string {
	c := p.Campaign
	due, late := c.Schedule().Due(p.Now)
	switch {
	case c.SendAt == 0 || due && !late && !c.HandOver:
		return "Approve and send " + p.messages()
	case due:
		return "Approve"
	case c.HandOver:
		return "Approve and schedule with the provider for " + When(c.Schedule().Time(), p.Now)
	}
	return "Approve and schedule for " + When(c.Schedule().Time(), p.Now)
}

// why says why this person cannot approve it.
func (p ApprovalPage) why() string {
	switch {
	case p.Own && p.Approval.nobody():
		return "No one else can approve it. Ask an administrator to give someone the Approver role."
	case p.Own:
		return "Waiting for " + p.Approval.who() + ". It cannot be changed until then."
	}
	return "Someone with the Approver role has to approve it. It cannot be changed until then."
}

func (p ApprovalPage) reasonField() InputProps {
	return InputProps{Field: Field{Name: "reason", Label: "What has to change", Hint: "The author will see this.",
		Value: p.Reason, Error: p.Errors["reason"]}, Autocomplete: "off"}
}

// approvedWords say who approved the campaign, "" where nobody did.
func (o Formatter) approvedWords(c sms.Campaign) string {
	if c.Approval.ApprovedAt == 0 {
		return ""
	}
	return "Approved by " + c.Approval.ApprovedName + " " + o.When(c.Approval.ApprovedAt)
}

// approvals says on the overview that campaigns wait for this person.
func (p OverviewPage) approvals() action {
	if p.Approvals == 0 {
		return action{}
	}
	words := Plural(int(p.Approvals), "campaign is", "campaigns are") + " waiting for approval"
	return action{"approve", words, "Nothing will be sent until " + plural(p.Approvals, "it is", "they are") +
		" approved.", ToneWarn, GlyphApproval, Link{"Review", "/campaigns?state=needs-approval"}}
}
