package api

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"smsdesk/internal/desk"
	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
)

// page is a part of a list.
type page[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"nextCursor"`
}

// BalanceEntry is what is left of one kind of credit, as it was last read (§2.2).
type BalanceEntry struct {
	Type    string  `json:"type"`
	Credits string  `json:"credits"`
	ReadAt  *string `json:"readAt"`
}

// Template is a text that the provider keeps.
type Template struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Text   string `json:"text"`
	Usable bool   `json:"usable"`
}

// SenderID is a sender ID as the provider told it last.
type SenderID struct {
	ID      int64  `json:"id"`
	Text    string `json:"senderId"`
	Purpose string `json:"purpose"`
	Status  string `json:"status"` // the provider's own word
	Usable  bool   `json:"usable"`
	Default bool   `json:"default"` // new messages begin with it on pages
}

// Group is a contact group that the provider keeps.
type Group struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	Contacts int64  `json:"contacts"`
}

// Contact is a person saved in smsdesk.
type Contact struct {
	ID      int64             `json:"id"`
	Phone   string            `json:"phone"`
	Name    string            `json:"name"`
	Fields  map[string]string `json:"fields"`
	Tags    []string          `json:"tags"`
	Blocked bool              `json:"blocked"`
	Version int64             `json:"version"`
}

// Blocked is a number to which nothing is sent.
type Blocked struct {
	ID    int64   `json:"id"`
	Phone string  `json:"phone"`
	Kind  string  `json:"kind"`
	Note  string  `json:"note"`
	By    string  `json:"by"`
	Since *string `json:"since"`
}

// Kept answers programs about what an account keeps.
type Kept struct{ *API }

// Kept are those addresses.
func (s *API) Kept() Kept { return Kept{s} }

// accountAsked is the account that a question names.
func (s Kept) accountAsked(r *http.Request) (sms.Account, error) {
	return s.accountFor(r.Context(), r.URL.Query().Get("account"))
}

// Balance lists the balance as it was last read.
func (s Kept) Balance(w http.ResponseWriter, r *http.Request, _ apiCaller) error {
	a, err := s.accountAsked(r)
	if err != nil {
		return err
	}
	list, err := s.store.Balances(r.Context(), a.ID)
	if err != nil {
		return err
	}
	answer := page[BalanceEntry]{Items: []BalanceEntry{}}
	for _, b := range list {
		answer.Items = append(answer.Items, BalanceEntry{b.PluginType, b.Credits, moment(b.ReadAt)})
	}
	return writeJSON(w, http.StatusOK, answer)
}

// ListTemplates lists the provider's templates as they were last read.
func (s Kept) ListTemplates(w http.ResponseWriter, r *http.Request, _ apiCaller) error {
	return listKept(s, w, r, s.store.Templates, func(_ sms.Account, t sms.Template) (int64, Template) {
		return t.ID, Template{t.ID, t.Name, t.Text, t.Usable()}
	})
}

// ListSenderIDs lists the provider's sender IDs as they were last read.
func (s Kept) ListSenderIDs(w http.ResponseWriter, r *http.Request, _ apiCaller) error {
	return listKept(s, w, r, s.store.SenderIDs, func(a sms.Account, x sms.SenderID) (int64, SenderID) {
		return x.ID, senderForm(a, x)
	})
}

func senderForm(a sms.Account, x sms.SenderID) SenderID {
	return SenderID{x.ID, x.Text, x.Purpose, x.ApproveStatus, x.Usable(), x.Text == a.DefaultSender}
}

// ListGroups lists the provider's groups as they were last read.
func (s Kept) ListGroups(w http.ResponseWriter, r *http.Request, _ apiCaller) error {
	return listKept(s, w, r, s.store.Groups, func(_ sms.Account, g sms.Group) (int64, Group) {
		return g.ID, Group{g.ID, g.Name, g.ContactCount}
	})
}

// listKept writes a page of what the provider keeps of an account, in the order
// of its ids.
func listKept[T, F any](s Kept, w http.ResponseWriter, r *http.Request,
	read func(context.Context, int64) ([]T, error), form func(sms.Account, T) (int64, F)) error {
	at, err := readPage(r)
	if err != nil {
		return err
	}
	a, err := s.accountAsked(r)
	if err != nil {
		return err
	}
	list, err := read(r.Context(), a.ID)
	if err != nil {
		return err
	}
	id := func(x T) int64 { n, _ := form(a, x); return n }
	slices.SortStableFunc(list, func(x, y T) int { return cmp.Compare(id(x), id(y)) })
	answer := page[F]{Items: []F{}}
	for _, x := range list {
		switch n, f := form(a, x); {
		case n <= at.cursor:
		case len(answer.Items) == at.limit:
			return writeJSON(w, http.StatusOK, answer)
		default:
			answer.Items = append(answer.Items, f)
			answer.NextCursor = cursorAfter(n != id(list[len(list)-1]), n)
		}
	}
	return writeJSON(w, http.StatusOK, answer)
}

// ListContacts lists contacts from the newest on.
func (s Kept) ListContacts(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	at, err := readPage(r)
	if err != nil {
		return err
	}
	a, err := s.accountAsked(r)
	if err != nil {
		return err
	}
	list, more, err := s.store.Contacts(r.Context(), sms.ContactFilter{AccountID: a.ID, Before: at.cursor, Limit: at.limit})
	if err != nil {
		return err
	}
	answer := page[Contact]{Items: []Contact{}}
	for _, c := range list {
		answer.Items = append(answer.Items, contactForm(c, p.masked()))
		answer.NextCursor = cursorAfter(more, c.ID)
	}
	return writeJSON(w, http.StatusOK, answer)
}

func contactForm(c sms.Contact, masked bool) Contact {
	f := Contact{ID: c.ID, Phone: c.Number, Name: c.Name, Fields: map[string]string{}, Tags: []string{},
		Blocked: c.BlockedKind != "", Version: c.Version}
	maps.Copy(f.Fields, c.Fields)
	f.Tags = append(f.Tags, c.Tags...)
	if masked && c.Number != "" {
		f.Phone = phone.ForLog(c.Number)
	}
	return f
}

// contactOrder is a contact as a program writes it.
type contactOrder struct {
	Account string            `json:"account"`
	Phone   string            `json:"phone"`
	Name    string            `json:"name"`
	Fields  map[string]string `json:"fields"`
	Tags    []string          `json:"tags"`
}

// ListBlocked lists blocked numbers from the newest on.
func (s Kept) ListBlocked(w http.ResponseWriter, r *http.Request, _ apiCaller) error {
	at, err := readPage(r)
	if err != nil {
		return err
	}
	a, err := s.accountAsked(r)
	if err != nil {
		return err
	}
	list, more, err := s.store.BlockedNumbers(r.Context(),
		sms.BlockedFilter{AccountID: a.ID, Before: at.cursor, Limit: at.limit})
	if err != nil {
		return err
	}
	answer := page[Blocked]{Items: []Blocked{}}
	for _, b := range list {
		answer.Items = append(answer.Items, blockedForm(b))
		answer.NextCursor = cursorAfter(more, b.ID)
	}
	return writeJSON(w, http.StatusOK, answer)
}

func blockedForm(b sms.Blocked) Blocked {
	return Blocked{b.ID, b.Number, string(b.Kind), b.Note, b.ByName, moment(b.Since)}
}

// Block puts numbers onto the list of those to which nothing is sent.
func (s Kept) Block(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	var said struct {
		Account string   `json:"account"`
		Phones  []string `json:"phones"`
		Note    string   `json:"note"`
	}
	if _, err := readBody(r, &said); err != nil {
		return err
	}
	a, err := s.accountFor(r.Context(), said.Account)
	if err != nil {
		return err
	}
	added, all, err := s.data.BlockNumbers(r.Context(), p.user,
		desk.BlockOrder{AccountID: a.ID, Numbers: strings.Join(said.Phones, "\n"), Note: said.Note})
	if err != nil {
		return renamed(err, "rows", "phones")
	}
	return writeJSON(w, http.StatusOK, map[string]int{"added": added, "all": all})
}

// renamed gives a field of an order the name that it has in this request.
func renamed(err error, from, to string) error {
	if err == nil {
		return nil
	}
	p := apiProblem(err)
	for i, e := range p.Errors {
		if e.Field == from {
			p.Errors[i].Field, p.Detail = to, to+": "+e.Detail
		}
	}
	if p.Status >= http.StatusInternalServerError {
		return err
	}
	return p
}

// Unblock takes a number off the list.
func (s Kept) Unblock(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	var said struct {
		Note string `json:"note"`
	}
	id, err := apiID(r)
	if err != nil {
		return err
	}
	if _, err := readBody(r, &said); err != nil {
		return err
	}
	b, err := s.data.UnblockNumber(r.Context(), p.user, id, said.Note)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, blockedForm(b))
}

// CreateGroup makes a group at the provider.
func (s Kept) CreateGroup(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	var said struct {
		Account string `json:"account"`
		Name    string `json:"name"`
		Parent  int64  `json:"parent"`
	}
	if _, err := readBody(r, &said); err != nil {
		return err
	}
	a, err := s.accountFor(r.Context(), said.Account)
	if err != nil {
		return err
	}
	words, err := s.data.CreateGroup(r.Context(), p.user, a.ID, said.Parent, said.Name)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusCreated, map[string]string{"said": words})
}
