package api

import (
	"context"
	"net/http"
	"slices"

	"smsdesk/internal/sms"
)

// TemplateDraft is a text that is kept here until a template is made of it.
type TemplateDraft struct {
	ID        int64   `json:"id"`
	Name      string  `json:"name"`
	Text      string  `json:"text"`
	ChangedBy string  `json:"changedBy"`
	ChangedAt *string `json:"changedAt"`
	Version   int64   `json:"version"`
}

func draftForm(d sms.TemplateDraft) TemplateDraft {
	return TemplateDraft{d.ID, d.Name, d.Text, d.ChangedName, moment(d.ChangedAt), d.ChangedAt}
}

// ListTemplateDrafts lists the drafts of an account.
func (s Kept) ListTemplateDrafts(w http.ResponseWriter, r *http.Request, _ apiCaller) error {
	return listKept(s, w, r, s.kept.TemplateDrafts, func(_ sms.Account, d sms.TemplateDraft) (int64, TemplateDraft) {
		return d.ID, draftForm(d)
	})
}

// CreateTemplateDraft keeps a new draft.
func (s Kept) CreateTemplateDraft(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	var said struct {
		Account string `json:"account"`
		Name    string `json:"name"`
		Text    string `json:"text"`
	}
	if _, err := readBody(r, &said); err != nil {
		return err
	}
	a, err := s.accountFor(r.Context(), said.Account)
	if err != nil {
		return err
	}
	d, err := s.data.SaveTemplateDraft(r.Context(), p.user,
		sms.TemplateDraft{AccountID: a.ID, Name: said.Name, Text: said.Text})
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusCreated, draftForm(d))
}

// ChangeTemplateDraft changes the draft with this id and version.
func (s Kept) ChangeTemplateDraft(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	var said struct {
		Account string `json:"account"`
		Version int64  `json:"version"`
		Name    string `json:"name"`
		Text    string `json:"text"`
	}
	o, err := s.record(r, &said, &said.Account)
	if err != nil {
		return err
	}
	if _, err = s.kept.TemplateDraft(r.Context(), o.account.ID, o.id); err != nil {
		return err
	}
	d, err := s.data.SaveTemplateDraft(r.Context(), p.user, sms.TemplateDraft{ID: o.id, AccountID: o.account.ID,
		Name: said.Name, Text: said.Text, ChangedAt: said.Version})
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, draftForm(d))
}

// DeleteTemplateDraft deletes a draft.
func (s Kept) DeleteTemplateDraft(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	return s.deleted(w, r, func(ctx context.Context, account, id int64) (string, error) {
		return "", s.data.DeleteTemplateDraft(ctx, p.user, account, id)
	})
}

// CreateTemplate makes a template of a draft at the provider.
func (s Kept) CreateTemplate(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	var said struct {
		Account string `json:"account"`
	}
	o, err := s.record(r, &said, &said.Account)
	if err != nil {
		return err
	}
	words, err := s.data.CreateTemplate(r.Context(), p.user, o.account.ID, o.id)
	return answerWords(w, http.StatusCreated, words, err)
}

// ChooseDefaultSender makes a sender ID the one that new messages begin with on pages.
func (s Kept) ChooseDefaultSender(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	var said struct {
		Account string `json:"account"`
	}
	o, err := s.record(r, &said, &said.Account)
	if err != nil {
		return err
	}
	if err := s.data.ChooseDefaultSender(r.Context(), p.user, o.account.ID, o.id); err != nil {
		return renamed(err, "sender", "id")
	}
	a, err := s.accountFor(r.Context(), said.Account)
	if err != nil {
		return err
	}
	list, err := s.store.SenderIDs(r.Context(), a.ID)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(list, func(x sms.SenderID) bool { return x.ID == o.id })
	if at < 0 {
		return sms.ErrNotFound
	}
	return writeJSON(w, http.StatusOK, senderForm(a, list[at]))
}
