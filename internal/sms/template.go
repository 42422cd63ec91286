package sms

// Template is one record of §2.3.
type Template struct {
	ID           int64 // TemplateId
	CompanyID    int64
	Name         string
	Text         string // MessageTemplate, marks written as ##Name##
	IsApproved   bool
	IsActive     bool
	CreatedDate  string // CreatededDate on the wire; as given
	ApprovedDate string // as given; never proof of approval
}
