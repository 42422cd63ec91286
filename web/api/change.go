package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
)

// contactSaid is a contact as a program writes it anew.
type contactSaid struct {
	contactOrder
	Version int64 `json:"version"`
}

// saveContact adds or changes the contact that a program describes.
func (s Kept) saveContact(w http.ResponseWriter, r *http.Request, p apiCaller, id int64, said contactSaid) error {
	a, err := s.accountFor(r.Context(), said.Account)
	if err != nil {
		return err
	}
	columns, err := s.kept.ContactColumns(r.Context(), a.ID)
	if err != nil {
		return err
	}
	for key := range said.Fields {
		if !slices.ContainsFunc(columns, func(c sms.ContactColumn) bool { return c.Key == key }) {
			return unknownField("fields." + key)
		}
	}
	c, err := s.data.SaveContact(r.Context(), p.user, desk.ContactOrder{ID: id, Version: said.Version, AccountID: a.ID,
		Number: said.Phone, Name: said.Name, Fields: said.Fields, Tags: strings.Join(said.Tags, ",")})
	if err != nil {
		return renamed(err, "number", "phone")
	}
	status := http.StatusCreated
	if id > 0 {
		status = http.StatusOK
	}
	return writeJSON(w, status, contactForm(c, p.masked()))
}

// CreateContact adds a contact.
func (s Kept) CreateContact(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	var said contactOrder
	if _, err := readBody(r, &said); err != nil {
		return err
	}
	return s.saveContact(w, r, p, 0, contactSaid{contactOrder: said})
}

// ChangeContact puts a contact in the place of the one with this id and version.
func (s Kept) ChangeContact(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	var said contactSaid
	id, err := apiID(r)
	if err != nil {
		return err
	}
	if _, err := readBody(r, &said); err != nil {
		return err
	}
	return s.saveContact(w, r, p, id, said)
}

// DeleteContact deletes a contact; a blocked number stays blocked.
func (s Kept) DeleteContact(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	return s.deleted(w, r, func(ctx context.Context, account, id int64) (string, error) {
		_, err := s.data.DeleteContact(ctx, p.user, account, id)
		return "", err
	})
}

// deleted deletes a thing of an account; said are the provider's words about it.
func (s Kept) deleted(w http.ResponseWriter, r *http.Request,
	do func(ctx context.Context, account, id int64) (said string, err error)) error {
	id, err := apiID(r)
	if err != nil {
		return err
	}
	if _, err := readBody(r, &struct{}{}); err != nil {
		return err
	}
	a, err := s.accountAsked(r)
	if err != nil {
		return err
	}
	said, err := do(r.Context(), a.ID, id)
	if err != nil {
		return changedProblem(err)
	}
	return writeJSON(w, http.StatusOK, map[string]string{"said": said})
}

// changedProblem is the conflict of an order about what somebody else changed.
func changedProblem(err error) error {
	var bad sms.Invalid
	if errors.As(err, &bad) && bad["changed"] != "" {
		p := newProblem(http.StatusConflict, bad["changed"])
		p.Type = ProblemState
		return p
	}
	return err
}

// recordSaid is what a program writes of something that the provider keeps; each
// address takes some of it.
type recordSaid struct {
	account sms.Account
	id      int64
}

// record reads an order about one of the things that the provider keeps.
func (s Kept) record(r *http.Request, into any, account *string) (said recordSaid, err error) {
	if said.id, err = apiID(r); err != nil {
		return said, err
	}
	if _, err = readBody(r, into); err != nil {
		return said, err
	}
	said.account, err = s.accountFor(r.Context(), *account)
	return said, err
}

// ChangeTemplate changes name and text of a template at the provider.
func (s Kept) ChangeTemplate(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	var said struct {
		Account string `json:"account"`
		Name    string `json:"name"`
		Text    string `json:"text"`
	}
	o, err := s.record(r, &said, &said.Account)
	if err != nil {
		return err
	}
	list, err := s.store.Templates(r.Context(), o.account.ID)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(list, func(t sms.Template) bool { return t.ID == o.id })
	if at < 0 {
		return sms.ErrNotFound
	}
	words, err := s.data.UpdateTemplate(r.Context(), p.user, o.account.ID, list[at], said.Name, said.Text)
	return answerWords(w, http.StatusOK, words, err)
}

// answerWords answers with what the provider said.
func answerWords(w http.ResponseWriter, status int, words string, err error) error {
	if err != nil {
		return changedProblem(err)
	}
	return writeJSON(w, status, map[string]string{"said": words})
}

// DeleteTemplate deletes a template at the provider.
func (s Kept) DeleteTemplate(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	return s.deleted(w, r, func(ctx context.Context, account, id int64) (string, error) {
		return s.data.DeleteTemplate(ctx, p.user, account, id)
	})
}

// CreateSenderID asks the provider for a sender ID.
func (s Kept) CreateSenderID(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	var said struct {
		Account  string `json:"account"`
		SenderID string `json:"senderId"`
		Purpose  string `json:"purpose"`
	}
	if _, err := readBody(r, &said); err != nil {
		return err
	}
	a, err := s.accountFor(r.Context(), said.Account)
	if err != nil {
		return err
	}
	words, err := s.data.CreateSenderID(r.Context(), p.user, a.ID, said.SenderID, said.Purpose)
	if err != nil {
		err = renamed(err, "text", "senderId")
	}
	return answerWords(w, http.StatusCreated, words, err)
}

// ChangeSenderID changes what a sender ID is for.
func (s Kept) ChangeSenderID(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	var said struct {
		Account string `json:"account"`
		Purpose string `json:"purpose"`
	}
	o, err := s.record(r, &said, &said.Account)
	if err != nil {
		return err
	}
	list, err := s.store.SenderIDs(r.Context(), o.account.ID)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(list, func(x sms.SenderID) bool { return x.ID == o.id })
	if at < 0 {
		return sms.ErrNotFound
	}
	words, err := s.data.UpdatePurpose(r.Context(), p.user, o.account.ID, o.id, list[at].Purpose, said.Purpose)
	return answerWords(w, http.StatusOK, words, err)
}

// DeleteSenderID deletes a sender ID at the provider.
func (s Kept) DeleteSenderID(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	return s.deleted(w, r, func(ctx context.Context, account, id int64) (string, error) {
		return s.data.DeleteSenderID(ctx, p.user, account, id)
	})
}

// RenameGroup gives a group another name at the provider.
func (s Kept) RenameGroup(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	var said struct {
		Account string `json:"account"`
		Name    string `json:"name"`
	}
	o, err := s.record(r, &said, &said.Account)
	if err != nil {
		return err
	}
	seen, err := s.groupName(r.Context(), o.account.ID, o.id)
	if err != nil {
		return err
	}
	words, err := s.data.RenameGroup(r.Context(), p.user, o.account.ID, o.id, seen, said.Name)
	return answerWords(w, http.StatusOK, words, err)
}

// DeleteGroup deletes a group at the provider. What a person types to be sure is
// the name in the request.
func (s Kept) DeleteGroup(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	err := s.deleted(w, r, func(ctx context.Context, account, id int64) (string, error) {
		return s.data.DeleteGroup(ctx, p.user, account, id, r.URL.Query().Get("name"))
	})
	if err != nil {
		return renamed(err, "typed", "name")
	}
	return nil
}

func (s Kept) groupName(ctx context.Context, account, id int64) (string, error) {
	list, err := s.store.Groups(ctx, account)
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(list, func(g sms.Group) bool { return g.ID == id })
	if at < 0 {
		return "", sms.ErrNotFound
	}
	return list[at].Name, nil
}

// Reschedule gives a scheduled campaign another time.
func (s Drafts) Reschedule(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	var said struct {
		ScheduleAt string `json:"scheduleAt"`
		MayRepeat  bool   `json:"mayRepeat"`
	}
	return s.keyedOrder(w, r, p, &said, func(ctx context.Context, c sms.Campaign, a sms.Account) error {
		at, err := time.Parse(time.RFC3339, said.ScheduleAt)
		if err != nil {
			return wrongField(http.StatusUnprocessableEntity, "scheduleAt", wantsTime)
		}
		_, err = s.desk.RescheduleCampaign(ctx, p.user, c.ID, scheduleFor(at.UnixMilli(), a),
			desk.StartOrder{Version: c.Version, Again: said.MayRepeat})
		return err
	})
}

// Unschedule takes the time of a scheduled campaign back: it is a draft again.
func (s Drafts) Unschedule(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	if _, err := readBody(r, &struct{}{}); err != nil {
		return err
	}
	return s.programOrder(w, r, func(ctx context.Context, c sms.Campaign, _ sms.Account) error {
		_, err := s.desk.CancelSchedule(ctx, p.user, c.ID)
		return err
	})
}

// Again makes a draft of messages of an earlier campaign, to be sent like any
// other.
func (s *API) Again(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	var said struct {
		Which []string `json:"which"`
	}
	key, err := idempotencyKey(r)
	if err != nil {
		return err
	}
	body, err := readBody(r, &said)
	if err != nil {
		return err
	}
	earlier, _, err := s.programCampaign(r)
	if err != nil {
		return err
	}
	return s.createdOnce(w, r, p, key, requestSum(r, body), func(token string) (int64, error) {
		made, err := s.desk.Resend(r.Context(), p.user, desk.ResendOrder{CampaignID: earlier.Campaign.ID, Keys: said.Which,
			Token: token})
		return made.ID, renamed(err, "keys", "which")
	})
}
