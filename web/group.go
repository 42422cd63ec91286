package web

import (
	"net/http"

	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

func groupID(g sms.Group) int64 { return g.ID }

// groupList shows the groups as they were last read.
func (s *records) groupList(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	var p views.GroupsPage
	var err error
	if p.RecordPage, err = s.RecordPage(v, sms.RecordGroups, nil); err != nil {
		return err
	}
	list, err := s.store.Groups(r.Context(), v.Account.ID)
	if err != nil {
		return err
	}
	p.Rows = sms.GroupTree(list)
	return s.Render(w, r, http.StatusOK, views.Groups(s.recordFrame(v, "Groups", nil), p))
}

// group is the page of the group in the address; without one it is for a new one.
func (s *records) group(r *http.Request, v *page.Visit, bad sms.Invalid) (p views.GroupPage, err error) {
	if p.RecordPage, err = s.RecordPage(v, sms.RecordGroups, bad); err != nil || r.PathValue("id") == "" {
		return p, err
	}
	all, err := s.store.Groups(r.Context(), v.Account.ID)
	if err != nil {
		return p, err
	}
	if p.Group, err = among(r, all, groupID); err != nil {
		return p, err
	}
	p.Name = p.Group.Name
	for _, g := range all {
		if g.ParentID == p.Group.ID {
			p.Below++
		}
	}
	p.Waiting, err = s.store.CountScheduledByGroup(r.Context(), v.Account.ID, p.Group.ID)
	return p, err
}

func groupCrumbs() views.Link { return views.Link{Text: "Groups", Href: views.GroupsPath} }

func (s *records) showGroupNew(w http.ResponseWriter, r *http.Request, v *page.Visit, bad sms.Invalid) error {
	p, err := s.group(r, v, bad)
	if err != nil {
		return err
	}
	p.Parent, p.Name = p.Group, r.PostForm.Get("name")
	title := "Create a group"
	if p.Parent.ID != 0 {
		title = "Create a sub-group"
	}
	return s.Render(w, r, page.Status(r, bad), views.GroupNew(s.recordFrame(v, title, bad, groupCrumbs()), p))
}

func (s *records) groupCreate(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	parent := page.Number(r.PathValue("id"))
	_, err := s.desk.CreateGroup(r.Context(), v.User, v.Account.ID, parent, r.PostForm.Get("name"))
	done := "groupmade"
	if parent != 0 {
		done = "subgroupmade"
	}
	return page.Form(s.showGroupNew).Changed(w, r, v, err, views.GroupsPath, done, "groupgone")
}

func (s *records) showGroupForm(w http.ResponseWriter, r *http.Request, v *page.Visit, bad sms.Invalid) error {
	p, err := s.group(r, v, bad)
	if err != nil {
		return err
	}
	if r.Method == http.MethodPost {
		p.Name = r.PostForm.Get("name")
	}
	return s.Render(w, r, page.Status(r, bad), views.GroupEdit(s.recordFrame(v, "Rename group", bad, groupCrumbs()), p))
}

func (s *records) groupSave(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	_, err := s.desk.RenameGroup(r.Context(), v.User, v.Account.ID, id, r.PostForm.Get("seen"), r.PostForm.Get("name"))
	return page.Form(s.showGroupForm).Changed(w, r, v, err, views.GroupsPath, "groupsaved", "groupgone")
}

func (s *records) showGroupDelete(w http.ResponseWriter, r *http.Request, v *page.Visit, bad sms.Invalid) error {
	p, err := s.group(r, v, bad)
	if err != nil {
		return err
	}
	p.Typed = r.PostForm.Get("typed")
	return s.Render(w, r, page.Status(r, bad), views.GroupDelete(s.recordFrame(v, "Delete this group?", bad,
		groupCrumbs()), p))
}

func (s *records) groupDelete(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	_, err := s.desk.DeleteGroup(r.Context(), v.User, v.Account.ID, id, r.PostForm.Get("typed"))
	return page.Form(s.showGroupDelete).Changed(w, r, v, err, views.GroupsPath, "groupdeleted", "groupgone")
}
