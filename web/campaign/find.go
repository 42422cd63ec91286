package campaign

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// finds is the one search box that every page has.
type finds struct {
	*base
	store findQuestions
}

// findQuestions are what finds ask of the storage.
type findQuestions interface {
	Campaigns(ctx context.Context, f sms.CampaignFilter) (list []sms.CampaignRow, more bool, err error)
	FindContacts(ctx context.Context, f sms.ContactFilter) (list []sms.Contact, more bool, count int64, err error)
	SearchMessages(ctx context.Context, f sms.MessageSearch) (list []sms.FoundMessage, next sms.MessageCursor, err error)
	Templates(ctx context.Context, account int64) ([]sms.Template, error)
}

const (
	// foundOfKind is how many of each kind the page shows.
	foundOfKind = 5
	// typedToFind is the longest that is looked for, in letters.
	typedToFind = 200
)

// For keeps what was typed and leads to a page whose address does not hold it.
// A whole number leads to its messages at once.
func (s *finds) For(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	typed := page.FirstLetters(strings.TrimSpace(r.PostForm.Get("q")), typedToFind)
	to := views.FindPath
	if number, _, err := readSought(typed, v.Account.Country); !isWords(typed) && err == nil && number != "" {
		to = views.MessagesPath
	}
	return page.Redirect(w, r, views.With(to, "find", s.KeepSearch(v, typed)))
}

// Show is what was found, a panel for each kind.
func (s *finds) Show(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	word := r.URL.Query().Get("find")
	typed, known := s.Search(v, word)
	p := views.FindPage{Formatter: s.Formatter(v, v.Account), Typed: typed, Ended: !known, Word: word}
	if typed != "" {
		if err := s.look(r.Context(), v, &p); err != nil {
			return err
		}
	}
	return s.Render(w, r, http.StatusOK, views.Find(v.Frame(p.Title(), ""), p))
}

func (s *finds) look(ctx context.Context, v *page.Visit, p *views.FindPage) (err error) {
	account := v.Account.ID
	p.Words = isWords(p.Typed)
	contacts := sms.ContactFilter{AccountID: account, Limit: foundOfKind}
	desk.NarrowContacts(&contacts, p.Typed, v.Account.Country, p.Masked)
	if p.Contacts, p.MoreContacts, _, err = s.store.FindContacts(ctx, contacts); err != nil {
		return err
	}
	if !p.Words {
		return s.lookForNumber(ctx, v, p)
	}
	p.Campaigns, p.MoreCampaigns, err = s.store.Campaigns(ctx,
		sms.CampaignFilter{AccountID: account, Words: p.Typed, Limit: foundOfKind})
	if err != nil {
		return err
	}
	templates, err := s.store.Templates(ctx, account)
	for _, t := range templates {
		if holds(t.Name, p.Typed) || holds(t.Text, p.Typed) {
			p.Templates = append(p.Templates, t)
		}
	}
	p.Templates = p.Templates[:min(len(p.Templates), foundOfKind)]
	p.Topics = views.HelpTopics(p.Typed)
	return err
}

// lookForNumber finds the latest numbers that end as typed.
func (s *finds) lookForNumber(ctx context.Context, v *page.Visit, p *views.FindPage) error {
	f := sms.MessageSearch{AccountID: v.Account.ID, Limit: views.PageLength,
		Since: v.Now().AddDate(0, -sms.SearchMonths, 0).UnixMilli()}
	var err error
	if f.Number, f.Ends, err = readSought(p.Typed, v.Account.Country); err != nil {
		p.Wrong = sms.Sentence(err.(sms.Invalid), "number")
		return nil
	}
	list, _, err := s.store.SearchMessages(ctx, f)
	for _, m := range list {
		same := func(l sms.FoundMessage) bool { return l.Number == m.Number }
		if len(p.Latest) < foundOfKind && !slices.ContainsFunc(p.Latest, same) {
			p.Latest = append(p.Latest, m)
		}
	}
	return err
}

func holds(text, words string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(words))
}

// isWords says that somebody looks for words and not for a number: a mistyped
// number still has more digits than letters.
func isWords(typed string) bool {
	letters, digits := 0, 0
	for _, r := range typed {
		switch {
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r):
			digits++
		}
	}
	return letters >= digits && letters > 0
}
