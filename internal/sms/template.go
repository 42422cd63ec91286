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

// Usable says that the template may be chosen: approved and active.
func (t Template) Usable() bool { return t.IsApproved && t.IsActive }

// TemplateReading is how fresh an account's templates are.
type TemplateReading struct {
	At      int64  // when the list was last read (ms), 0: never
	Failure string // why the last attempt failed, a sentence for staff; "" when it did not
}
