package sandbox

import "slices"

// messageTemplate is §2.3, field names as on the wire.
type messageTemplate struct {
	ID           int64  `json:"TemplateId"`
	CompanyID    int64  `json:"CompanyId"`
	Name         string `json:"TemplateName"`
	Text         string `json:"MessageTemplate"`
	IsApproved   bool   `json:"IsApproved"`
	IsActive     bool   `json:"IsActive"`
	CreatedDate  string `json:"CreatededDate"`
	ApprovedDate string `json:"ApprovedDate"`
}

// listTemplates is §4.5.
func (s *Sandbox) listTemplates(*call) answer {
	return success(append([]messageTemplate{}, s.templates...))
}

// createTemplate is not in the specification; some resellers offer it. The new template awaits approval.
func (s *Sandbox) createTemplate(c *call) answer {
	name, text := c.value("templatename"), c.value("messagetemplate")
	if name == "" || text == "" {
		return failure(codeMissing)
	}
	t := messageTemplate{ID: s.nextID(), CompanyID: companyID, Name: name, Text: text, IsActive: true,
		CreatedDate: s.day()}
	return s.change(entry{Template: &t}, "Template Added successfully.")
}

func (s *Sandbox) updateTemplate(c *call) answer {
	name, text := c.value("templatename"), c.value("messagetemplate")
	i := s.templateIndex(c.id())
	switch {
	case name == "" || text == "" || c.id() == "":
		return failure(codeMissing)
	case i < 0:
		return failure(codeNotFound)
	}
	t := s.templates[i]
	t.Name, t.Text = name, text
	return s.change(entry{Template: &t}, "Template updated Successfully.")
}

func (s *Sandbox) deleteTemplate(c *call) answer {
	i := s.templateIndex(c.id())
	switch {
	case c.id() == "":
		return failure(codeMissing)
	case i < 0:
		return failure(codeNotFound)
	}
	return s.change(entry{TemplateGone: s.templates[i].ID}, "Template deleted Successfully.")
}

// templateIndex is -1 where there is no such template.
func (s *Sandbox) templateIndex(id string) int {
	n, ok := parseID(id)
	if !ok {
		return -1
	}
	return slices.IndexFunc(s.templates, func(t messageTemplate) bool { return t.ID == n })
}
