package api

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"smsdesk/internal/desk"
	"smsdesk/internal/sms"
)

// searchOrder is a search for messages over all campaigns of an account.
type searchOrder struct {
	Account  string `json:"account"`
	Phone    string `json:"phone"`
	Words    string `json:"words"`
	Campaign int64  `json:"campaign"`
	Standing string `json:"standing"`
	From     string `json:"from"`
	To       string `json:"to"`
	Cursor   string `json:"cursor"`
	Limit    int    `json:"limit"`
}

// FoundMessage is a message with the campaign that it belongs to.
type FoundMessage struct {
	Message
	CampaignID int64  `json:"campaignId"`
	Campaign   string `json:"campaign"` // its name
}

// SearchMessages finds messages of an account, newest campaign first. It is no GET,
// so that numbers do not get into logs of addresses.
func (s Follow) SearchMessages(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	var said searchOrder
	if _, err := readBody(r, &said); err != nil {
		return err
	}
	a, err := s.accountFor(r.Context(), said.Account)
	if err != nil {
		return err
	}
	f, err := said.search(a, s.now())
	if err != nil {
		return err
	}
	list, next, err := s.follow.SearchMessages(r.Context(), f)
	if err != nil {
		return err
	}
	answer, words := page[FoundMessage]{Items: []FoundMessage{}}, messageWords()
	for _, m := range list {
		answer.Items = append(answer.Items,
			FoundMessage{messageForm(m.Message, words[m.State], p.masked()), m.Campaign.ID, m.Campaign.Name})
	}
	if next != (sms.MessageCursor{}) {
		text := fmt.Sprintf("%d.%d", next.CampaignID, next.MessageID)
		answer.NextCursor = &text
	}
	return writeJSON(w, http.StatusOK, answer)
}

// search is what is asked of the storage. Nothing is older than the months that are
// kept findable.
func (o searchOrder) search(a sms.Account, now time.Time) (sms.MessageSearch, error) {
	bad := sms.Invalid{}
	f := sms.MessageSearch{AccountID: a.ID, CampaignID: o.Campaign, Words: strings.TrimSpace(o.Words),
		Since: now.AddDate(0, -sms.SearchMonths, 0).UnixMilli(), Limit: cmp.Or(o.Limit, pageDefault)}
	if f.Limit < 1 || f.Limit > pageMost {
		bad["limit"] = "limit must be between 1 and 1,000"
	}
	if o.Phone != "" {
		var err error
		if f.Number, f.Ends, err = sms.ParseNumberQuery(o.Phone, a.Country); err != nil {
			bad["phone"] = sms.Sentence(err.(sms.Invalid), "number")
		}
		if f.Words != "" {
			bad["words"] = "Give either words or phone, not both"
		}
	}
	if tile := sms.Tile(o.Standing); o.Standing != "" {
		if !slices.Contains(sms.Tiles(), tile) {
			bad["standing"] = fmt.Sprintf("Must be one of %s", strings.Trim(fmt.Sprint(sms.Tiles()), "[]"))
		}
		f.Keys = tile.Keys()
	}
	var from, to time.Time
	for name, day := range map[string]struct {
		text string
		at   *time.Time
	}{"from": {o.From, &from}, "to": {o.To, &to}} {
		if at, err := time.ParseInLocation(time.DateOnly, day.text, a.Location()); err == nil {
			*day.at = at
		} else if day.text != "" {
			bad[name] = "Must be a date, for example 2026-06-03"
		}
	}
	if !from.IsZero() {
		f.From = from.UnixMilli()
	}
	if !to.IsZero() {
		f.To = to.AddDate(0, 0, 1).UnixMilli()
	}
	if !to.IsZero() && to.Before(from) {
		bad["to"] = "Must be on or after from"
	}
	if !o.before(&f.Before) {
		bad["cursor"] = "cursor must be the nextCursor of the previous page, unchanged"
	}
	if len(bad) > 0 {
		return f, wrongFields(http.StatusUnprocessableEntity, bad)
	}
	return f, nil
}

// before reads the cursor; "" is the first page.
func (o searchOrder) before(at *sms.MessageCursor) bool {
	if o.Cursor == "" {
		return true
	}
	campaign, message, both := strings.Cut(o.Cursor, ".")
	var wrongCampaign, wrongMessage error
	at.CampaignID, wrongCampaign = strconv.ParseInt(campaign, 10, 64)
	at.MessageID, wrongMessage = strconv.ParseInt(message, 10, 64)
	return both && wrongCampaign == nil && wrongMessage == nil && at.CampaignID > 0 && at.MessageID > 0
}

// MessageAgain makes a draft of one message, to be sent like any other.
func (s Follow) MessageAgain(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	key, err := idempotencyKey(r)
	if err != nil {
		return err
	}
	body, err := readBody(r, &struct{}{})
	if err != nil {
		return err
	}
	id, err := apiID(r)
	if err != nil {
		return err
	}
	m, err := s.store.Message(r.Context(), id)
	if err != nil {
		return err
	}
	return s.createdOnce(w, r, p, key, requestSum(r, body), func(token string) (int64, error) {
		made, err := s.desk.Resend(r.Context(), p.user,
			desk.ResendOrder{CampaignID: m.CampaignID, MessageID: m.ID, Token: token})
		return made.ID, renamed(err, "keys", "message")
	})
}

// Ask asks the provider what became of a message. The answer may take a while; it
// stands beside the message then.
func (s Follow) Ask(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	id, err := apiID(r)
	if err != nil {
		return err
	}
	if _, err := readBody(r, &struct{}{}); err != nil {
		return err
	}
	if err := s.orders.AskMessage(r.Context(), p.user, id); err != nil {
		return changedTo(err, "The provider gave no ID for this message, so it cannot be asked about it")
	}
	return s.ShowMessage(w, r, p)
}
