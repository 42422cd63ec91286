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

// TemplateDraft is a text that staff keep here until somebody makes a template
// of it at the provider.
type TemplateDraft struct {
	ID          int64
	AccountID   int64
	Name        string
	Text        string
	ChangedName string
	ChangedAt   int64
}

// TemplateUse is how often campaigns took their text from a template.
type TemplateUse struct {
	Last      int64 // when the last one was made (ms)
	Campaigns int64
}

// CampaignTemplate is the template that a campaign's text came from, as it was then.
type CampaignTemplate struct {
	CampaignID int64
	TemplateID int64
	Name       string
	Text       string
}

// MarksChanged compares the marks of two texts, whatever their order and their
// writing: those that only the new text has, and those that only the old one had.
func MarksChanged(before, after string) (added, gone []string) {
	only := func(of, other string) (list []string) {
		known := map[string]bool{}
		for _, m := range Placeholders(other) {
			known[PlaceholderKey(m)] = true
		}
		for _, m := range Placeholders(of) {
			if key := PlaceholderKey(m); !known[key] {
				known[key] = true
				list = append(list, m)
			}
		}
		return list
	}
	return only(after, before), only(before, after)
}
