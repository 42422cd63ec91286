package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
)

// Audience is a saved set of contacts: those of a list, or whoever meets its
// conditions when it is used.
type Audience struct {
	ID         int64       `json:"id"`
	Name       string      `json:"name"`
	Kind       string      `json:"kind"` // picked or filter
	Any        bool        `json:"any"`  // one condition is enough
	Conditions []Condition `json:"conditions"`
	Version    int64       `json:"version"`
}

// Condition is what a contact has to meet.
type Condition struct {
	Key   string `json:"key"` // of a column, name or tag
	Op    string `json:"op"`
	Value string `json:"value"`
}

// audiencesMost is how many audiences are listed.
const audiencesMost = 1000

// ListAudiences lists the audiences of an account.
func (s Kept) ListAudiences(w http.ResponseWriter, r *http.Request, _ apiCaller) error {
	a, err := s.accountAsked(r)
	if err != nil {
		return err
	}
	list, err := s.kept.Audiences(r.Context(), a.ID, audiencesMost)
	if err != nil {
		return err
	}
	answer := page[Audience]{Items: []Audience{}}
	for _, x := range list {
		answer.Items = append(answer.Items, audienceForm(x))
	}
	return writeJSON(w, http.StatusOK, answer)
}

func audienceForm(a sms.Audience) Audience {
	f := Audience{ID: a.ID, Name: a.Name, Kind: string(a.Kind), Any: a.Filter.Any, Conditions: []Condition{}, Version: a.Version}
	for _, c := range a.Filter.Conditions {
		f.Conditions = append(f.Conditions, Condition{c.Key, string(c.Op), c.Value})
	}
	return f
}

// audienceSaid is an audience as a program writes it.
type audienceSaid struct {
	Account    string      `json:"account"`
	Version    int64       `json:"version"`
	Name       string      `json:"name"`
	Contacts   []int64     `json:"contacts"`
	Any        bool        `json:"any"`
	Conditions []Condition `json:"conditions"`
}

// CreateAudience makes an audience: of contacts, or of conditions.
func (s Kept) CreateAudience(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	return s.saveAudience(w, r, p, 0)
}

// ChangeAudience changes an audience's name and conditions.
func (s Kept) ChangeAudience(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	id, err := apiID(r)
	if err != nil {
		return err
	}
	return s.saveAudience(w, r, p, id)
}

func (s Kept) saveAudience(w http.ResponseWriter, r *http.Request, p apiCaller, id int64) error {
	var said audienceSaid
	if _, err := readBody(r, &said); err != nil {
		return err
	}
	a, err := s.accountFor(r.Context(), said.Account)
	if err != nil {
		return err
	}
	o := desk.AudienceOrder{ID: id, Version: said.Version, AccountID: a.ID, Name: said.Name, Kind: sms.Filtered,
		Filter: sms.Filter{Any: said.Any}, Members: said.Contacts}
	if said.Contacts != nil {
		o.Kind = sms.Picked
	}
	if picked, err := s.isPicked(r.Context(), id); err != nil {
		return err
	} else if picked {
		o.Kind = sms.Picked
	}
	for _, c := range said.Conditions {
		o.Filter.Conditions = append(o.Filter.Conditions, sms.Condition{Key: c.Key, Op: sms.Op(c.Op), Value: c.Value})
	}
	switch {
	case id > 0 && said.Contacts != nil:
		return wrongField(http.StatusUnprocessableEntity, "contacts", "Use /audiences/{id}/add and /audiences/{id}/remove")
	case o.Kind == sms.Picked && len(said.Conditions) > 0:
		return wrongField(http.StatusUnprocessableEntity, "conditions", "An audience has either contacts or conditions")
	}
	made, err := s.data.SaveAudience(r.Context(), p.user, o)
	if err != nil {
		return conditionNames(err, len(said.Conditions))
	}
	if made, err = s.kept.Audience(r.Context(), made.ID); err != nil {
		return err
	}
	status := http.StatusCreated
	if id > 0 {
		status = http.StatusOK
	}
	return writeJSON(w, status, audienceForm(made))
}

// isPicked says that an audience that is there has contacts of its own.
func (s Kept) isPicked(ctx context.Context, id int64) (bool, error) {
	if id == 0 {
		return false, nil
	}
	a, err := s.kept.Audience(ctx, id)
	return a.Kind == sms.Picked, err
}

// conditionNames names conditions as a program gave them.
func conditionNames(err error, n int) error {
	for i := range n {
		err = renamed(err, "condition:"+strconv.Itoa(i), fmt.Sprintf("conditions[%d]", i))
	}
	return err
}

// DeleteAudience deletes an audience; its contacts stay.
func (s Kept) DeleteAudience(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	return s.deleted(w, r, func(ctx context.Context, account, id int64) (string, error) {
		_, err := s.data.DeleteAudience(ctx, p.user, account, id)
		return "", err
	})
}

// ChangeMembers puts contacts into an audience, or with an address that ends with
// remove, takes them out.
func (s Kept) ChangeMembers(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	var said struct {
		Account  string  `json:"account"`
		Contacts []int64 `json:"contacts"`
	}
	o, err := s.record(r, &said, &said.Account)
	if err != nil {
		return err
	}
	n, err := s.data.ChangeMembers(r.Context(), p.user, o.account.ID, o.id, said.Contacts,
		!strings.HasSuffix(r.URL.Path, "/remove"))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, map[string]int64{"changed": n})
}
