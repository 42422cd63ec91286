package campaign

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

const (
	searchChoice = 50 // campaigns to choose from
	endedShown   = 5  // earlier blocks of a number
	// sameNumber marks a search for the number of a message: whoever sees
	// numbers only in part finds its other messages without learning it.
	sameNumber = "="
)

// List shows messages, all or those that a search found.
func (s *messages) List(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p, f := s.searchPage(v, r.URL.Query())
	sought, known := s.Search(v, r.URL.Query().Get("find"))
	p.Ended = !known
	number, same := strings.CutPrefix(sought, sameNumber)
	switch {
	case !same:
		p.Typed = sought
	case p.Masked:
		p.Number = number
	default:
		p.Number, p.Typed = number, p.Phone(number)
	}
	return s.showMessages(w, r, v, p, f)
}

// SearchFor takes the form and leads to a page whose address can be kept.
func (s *messages) SearchFor(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	p, f := s.searchPage(v, r.PostForm)
	p.Typed = page.TypedNumber(r, "number")
	_, _, err := readSought(p.Typed, v.Account.Country)
	if err != nil && !isWords(p.Typed) || len(p.Bad) > 0 {
		return s.showMessages(w, r, v, p, f)
	}
	sought := p.Typed
	if id := page.Number(r.PostForm.Get("message")); id > 0 {
		m, err := s.store.Message(r.Context(), id)
		if err != nil {
			return err
		}
		sought = sameNumber + m.Number
	}
	to := url.Values{}
	for _, name := range []string{"tile", "from", "to", "campaign"} {
		if value := r.PostForm.Get(name); value != "" {
			to.Set(name, value)
		}
	}
	if word := s.KeepSearch(v, sought); word != "" {
		to.Set("find", word)
	}
	address := views.MessagesPath
	if len(to) > 0 {
		address += "?" + to.Encode()
	}
	return page.Redirect(w, r, address)
}

// SearchBack answers an address that only takes forms.
func (s *messages) SearchBack(w http.ResponseWriter, r *http.Request, _ *page.Visit) error {
	return page.Redirect(w, r, views.MessagesPath)
}

// searchPage reads the filters of an address or a form. Nothing is older than
// the months that are kept findable.
func (s *messages) searchPage(v *page.Visit, q url.Values) (views.SearchPage, sms.MessageSearch) {
	p := views.SearchPage{Formatter: s.Formatter(v, v.Account), NoAccount: v.Account.ID == 0,
		CanSend: v.User.Role.AtLeast(sms.Sender),
		From:    q.Get("from"), To: q.Get("to"), Campaign: page.Number(q.Get("campaign"))}
	if t := sms.Tile(q.Get("tile")); slices.Contains(sms.Tiles(), t) {
		p.Tile = t
	}
	bad := sms.Invalid{}
	f := sms.MessageSearch{AccountID: v.Account.ID, CampaignID: p.Campaign, Keys: p.Tile.Keys(), Limit: views.PageLength,
		Since: p.Now.AddDate(0, -sms.SearchMonths, 0).UnixMilli()}
	from, ok := readDay(p.From, p.Now.Location())
	if !ok {
		bad["from"] = "Enter a date, for example 2026-06-03"
	} else if !from.IsZero() {
		f.From = from.UnixMilli()
	}
	to, ok := readDay(p.To, p.Now.Location())
	switch {
	case !ok:
		bad["to"] = "Enter a date, for example 2026-06-03"
	case !to.IsZero() && to.Before(from):
		bad["to"] = "End date must be on or after the start date"
	case !to.IsZero():
		f.To = to.AddDate(0, 0, 1).UnixMilli()
	}
	p.Bad = bad
	campaign, message, _ := strings.Cut(q.Get("before"), ".")
	f.Before = sms.MessageCursor{CampaignID: page.Number(campaign), MessageID: page.Number(message)}
	return p, f
}

// readDay reads a day of a form; "" is the zero time.
func readDay(text string, zone *time.Location) (time.Time, bool) {
	if text == "" {
		return time.Time{}, true
	}
	day, err := time.ParseInLocation(time.DateOnly, text, zone)
	return day, err == nil
}

func (s *messages) showMessages(w http.ResponseWriter, r *http.Request, v *page.Visit, p views.SearchPage,
	f sms.MessageSearch) error {
	var err error
	switch {
	case isWords(p.Typed):
		p.Words, f.Words = p.Typed, p.Typed
	case p.Number == "":
		p.Number, p.Ends, err = readSought(p.Typed, v.Account.Country)
	}
	if bad, ok := errors.AsType[sms.Invalid](err); ok {
		p.Bad["number"] = bad["number"]
	}
	f.Number, f.Ends = p.Number, p.Ends
	if err := s.addCampaigns(r, v, &p); err != nil {
		return err
	}
	var next sms.MessageCursor
	if len(p.Bad) == 0 && !p.Ended && !p.NoAccount {
		if p.Rows, next, err = s.store.SearchMessages(r.Context(), f); err != nil {
			return err
		}
	}
	if p.Conversation() {
		if p.Recipient, err = s.recipient(r.Context(), v.Account.ID, p.Number); err != nil {
			return err
		}
	}
	q := r.URL.Query()
	q.Del("before")
	here := views.MessagesPath
	if len(q) > 0 {
		here += "?" + q.Encode()
	}
	if f.Before.MessageID > 0 {
		p.First = here
	}
	if next != (sms.MessageCursor{}) {
		p.Next = views.With(here, "before", strconv.FormatInt(next.CampaignID, 10)+"."+strconv.FormatInt(next.MessageID, 10))
	}
	fr := v.Frame("Messages", "messages")
	fr.Error = len(p.Bad) > 0
	return s.Render(w, r, page.Status(r, p.Bad), views.Messages(fr, p))
}

// recipient is what is known of the number that was looked for.
func (s *messages) recipient(ctx context.Context, account int64,
	number string) (p views.Recipient, err error) {
	switch c, err := s.store.ContactByNumber(ctx, account, number); {
	case err == nil:
		p.Contact = &c
	case !errors.Is(err, sms.ErrNotFound):
		return p, err
	}
	blocked, err := s.store.BlockedAmong(ctx, account, []string{number})
	if err != nil {
		return p, err
	}
	if b, is := blocked[number]; is {
		p.Blocked = &b
	}
	p.Ended, err = s.store.EndedBlocks(ctx, account, number, endedShown)
	return p, err
}

// addCampaigns offers the latest campaigns to choose from, and the chosen one.
func (s *messages) addCampaigns(r *http.Request, v *page.Visit, p *views.SearchPage) error {
	if p.NoAccount {
		return nil
	}
	list, err := s.store.CampaignNames(r.Context(), v.Account.ID, searchChoice)
	if err != nil {
		return err
	}
	p.Campaigns = list
	if p.Campaign == 0 || slices.ContainsFunc(list, func(c sms.Campaign) bool { return c.ID == p.Campaign }) {
		return nil
	}
	c, err := s.store.Campaign(r.Context(), p.Campaign)
	if errors.Is(err, sms.ErrNotFound) || err == nil && c.AccountID != v.Account.ID {
		return nil
	}
	p.Campaigns = append([]sms.Campaign{c}, p.Campaigns...)
	return err
}
