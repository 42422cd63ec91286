package web

import (
	"errors"
	"net/http"
	"strings"

	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

func templateID(t sms.Template) int64 { return t.ID }

// templateList shows the templates as they were last read, and the drafts.
func (s *records) templateList(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	ctx := r.Context()
	p := views.TemplatesPage{Search: page.FirstLetters(strings.TrimSpace(r.URL.Query().Get("q")), page.NameMost)}
	var err error
	if p.RecordPage, err = s.RecordPage(v, sms.RecordTemplates, nil); err != nil {
		return err
	}
	all, err := s.store.Templates(ctx, v.Account.ID)
	if err != nil {
		return err
	}
	uses, err := s.store.TemplateUses(ctx, v.Account.ID)
	if err != nil {
		return err
	}
	if p.Drafts, err = s.store.TemplateDrafts(ctx, v.Account.ID); err != nil {
		return err
	}
	p.All = len(all)
	wanted := strings.ToLower(p.Search)
	for _, t := range all {
		if strings.Contains(strings.ToLower(t.Name), wanted) || strings.Contains(strings.ToLower(t.Text), wanted) {
			p.Rows = append(p.Rows, views.TemplateRow{Template: t, Use: uses[t.ID]})
		}
	}
	return s.Render(w, r, http.StatusOK, views.Templates(s.recordFrame(v, "Templates", nil), p))
}

// template is the page of the template in the address.
func (s *records) template(r *http.Request, v *page.Visit, bad sms.Invalid) (p views.TemplatePage, err error) {
	ctx := r.Context()
	if p.RecordPage, err = s.RecordPage(v, sms.RecordTemplates, bad); err != nil {
		return p, err
	}
	all, err := s.store.Templates(ctx, v.Account.ID)
	if err != nil {
		return p, err
	}
	if p.Template, err = among(r, all, templateID); err != nil {
		return p, err
	}
	p.Name, p.Text = p.Template.Name, page.Lines(p.Template.Text)
	uses, err := s.store.TemplateUses(ctx, v.Account.ID)
	if err != nil {
		return p, err
	}
	p.Use = uses[p.Template.ID]
	p.Campaigns, p.Waiting, err = s.store.CampaignsOfTemplate(ctx, v.Account.ID, p.Template.ID)
	return p, err
}

func (s *records) templateCrumbs(p views.TemplatePage) []views.Link {
	return []views.Link{{Text: "Templates", Href: views.TemplatesPath},
		{Text: p.Template.Name, Href: views.TemplatesPath + "/" + page.Joined([]int64{p.Template.ID})}}
}

func (s *records) templateShow(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p, err := s.template(r, v, nil)
	if err != nil {
		return err
	}
	return s.Render(w, r, http.StatusOK, views.TemplateShow(s.recordFrame(v, p.Template.Name, nil,
		s.templateCrumbs(p)[:1]...), p))
}

// showTemplateForm shows the form, or shows it again with what was typed.
func (s *records) showTemplateForm(w http.ResponseWriter, r *http.Request, v *page.Visit, bad sms.Invalid) error {
	p, err := s.template(r, v, bad)
	if err != nil {
		return err
	}
	if r.Method == http.MethodPost {
		p.Name, p.Text, p.MarksOK = r.PostForm.Get("name"), page.Lines(r.PostForm.Get("text")), r.PostForm.Get("marks") != ""
		p.Added, p.Gone = sms.MarksChanged(p.Template.Text, p.Text)
	}
	return s.Render(w, r, page.Status(r, bad), views.TemplateEdit(s.recordFrame(v, "Change the template", bad,
		s.templateCrumbs(p)...), p))
}

// templateSave changes a template at the provider. Other marks than before
// need a second yes: lists and programs fill them by their names.
func (s *records) templateSave(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	f := r.PostForm
	seen := sms.Template{ID: id, Name: f.Get("seen_name"), Text: page.Lines(f.Get("seen_text"))}
	added, gone := sms.MarksChanged(seen.Text, f.Get("text"))
	if len(added)+len(gone) > 0 && f.Get("marks") == "" && strings.TrimSpace(f.Get("text")) != "" {
		return s.showTemplateForm(w, r, v,
			sms.Invalid{"marks": "This changes the template's placeholders. Tick the box to confirm"})
	}
	_, err := s.desk.UpdateTemplate(r.Context(), v.User, v.Account.ID, seen, f.Get("name"), f.Get("text"))
	return page.Form(s.showTemplateForm).Changed(w, r, v, err, views.TemplatesPath, "templatesaved", "templategone")
}

func (s *records) showTemplateDelete(w http.ResponseWriter, r *http.Request, v *page.Visit, bad sms.Invalid) error {
	p, err := s.template(r, v, bad)
	if err != nil {
		return err
	}
	return s.Render(w, r, page.Status(r, bad), views.TemplateDelete(s.recordFrame(v, "Delete this template?", bad,
		s.templateCrumbs(p)...), p))
}

func (s *records) templateDelete(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	_, err := s.desk.DeleteTemplate(r.Context(), v.User, v.Account.ID, id)
	return page.Form(s.showTemplateDelete).Changed(w, r, v, err, views.TemplatesPath, "templatedeleted", "templategone")
}

// draft is the page of the draft in the address; a new one has no id there.
func (s *records) draft(r *http.Request, v *page.Visit, bad sms.Invalid) (p views.DraftPage, err error) {
	if p.RecordPage, err = s.RecordPage(v, sms.RecordTemplates, bad); err != nil || r.PathValue("id") == "" {
		return p, err
	}
	id := page.PathID(r)
	p.Draft, err = s.store.TemplateDraft(r.Context(), v.Account.ID, id)
	return p, err
}

func (s *records) showDraft(w http.ResponseWriter, r *http.Request, v *page.Visit, bad sms.Invalid) error {
	p, err := s.draft(r, v, bad)
	if err != nil {
		return err
	}
	if r.Method == http.MethodPost && r.PostForm.Has("text") {
		p.Draft.Name, p.Draft.Text = r.PostForm.Get("name"), page.Lines(r.PostForm.Get("text"))
	}
	f := s.recordFrame(v, "Template draft", bad, views.Link{Text: "Templates", Href: views.TemplatesPath})
	return s.Render(w, r, page.Status(r, bad), views.DraftEdit(f, p))
}

func (s *records) draftSave(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p, err := s.draft(r, v, nil)
	if err != nil {
		return err
	}
	f := r.PostForm
	d := sms.TemplateDraft{ID: p.Draft.ID, AccountID: v.Account.ID, Name: f.Get("name"), Text: f.Get("text"),
		ChangedAt: page.Number(f.Get("seen"))}
	if v.Account.ID == 0 {
		return sms.ErrNotFound
	}
	_, err = s.desk.SaveTemplateDraft(r.Context(), v.User, d)
	var bad sms.Invalid
	switch {
	case errors.As(err, &bad):
		return s.showDraft(w, r, v, bad)
	case errors.Is(err, sms.ErrConflict):
		return s.showDraft(w, r, v, sms.Invalid{"changed": p.Draft.ChangedName +
			" changed this draft while you had it open. Copy your text, reopen the draft and paste it"})
	case err != nil:
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.TemplatesPath, "draftsaved"))
}

func (s *records) draftDeleteForm(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p, err := s.draft(r, v, nil)
	if err != nil {
		return err
	}
	return s.Render(w, r, http.StatusOK, views.DraftDelete(s.recordFrame(v, "Delete this draft?", nil,
		views.Link{Text: "Templates", Href: views.TemplatesPath}), p))
}

func (s *records) draftDelete(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	if err := s.desk.DeleteTemplateDraft(r.Context(), v.User, v.Account.ID, id); err != nil {
		return err
	}
	return page.Redirect(w, r, page.WithDone(views.TemplatesPath, "draftdeleted"))
}

// draftBack leads from the address of a button to the draft itself.
func (s *records) draftBack(w http.ResponseWriter, r *http.Request, _ *page.Visit) error {
	id := page.PathID(r)
	return page.Redirect(w, r, views.TemplatesPath+"/drafts/"+page.Joined([]int64{id}))
}

func (s *records) draftCreate(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	_, err := s.desk.CreateTemplate(r.Context(), v.User, v.Account.ID, id)
	return page.Form(s.showDraft).Changed(w, r, v, err, views.TemplatesPath, "templatemade", "templategone")
}
