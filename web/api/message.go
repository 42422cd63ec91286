package api

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
)

// Message is one message as programs see it. States use the words of
// apiCounts; Status is a word of apiDelivery, "" before the provider accepted it.
type Message struct {
	ID        int64  `json:"id"`
	Row       int64  `json:"row"`
	Phone     string `json:"phone"` // international digits; "" where the list had none that can be used
	Text      string `json:"text"`
	Parts     int    `json:"parts"`
	State     string `json:"state"`
	Status    string `json:"status"`
	MessageID string `json:"messageId"`
	Reason    string `json:"reason"`
}

// WholeMessage is what is known of one message.
type WholeMessage struct {
	Message
	CampaignID int64   `json:"campaignId"`
	Unicode    bool    `json:"unicode"`
	Code       string  `json:"code"`      // the provider's error code
	ErrorCode  string  `json:"errorCode"` // the delivery report's
	DoneDate   string  `json:"doneDate"`  // as the report gives it
	Late       bool    `json:"late"`
	CreatedAt  *string `json:"createdAt"`
	SentAt     *string `json:"sentAt"`
	ChangedAt  *string `json:"changedAt"`
	Asked      []Asked `json:"asked"`
}

// Asked is a question to the provider about a message, and its answer.
type Asked struct {
	OrderedAt *string `json:"orderedAt"`
	AskedAt   *string `json:"askedAt"` // null while it waits for a place under the rate
	Status    string  `json:"status"`  // the provider's own word
	Code      string  `json:"code"`    // its error code, "" for an answer
	Detail    string  `json:"detail"`  // its error in words
	Effect    string  `json:"effect"`  // what the answer did to the message
}

type MessagePage struct {
	Items      []Message `json:"items"`
	NextCursor *string   `json:"nextCursor"`
}

// messageStates says which states a word of apiCounts stands for.
func messageStates() map[string][]sms.State {
	return map[string][]sms.State{
		"queued": {sms.Draft, sms.Queued}, "claimed": {sms.Claimed}, "sending": {sms.Sending}, "accepted": {sms.Accepted}, "refused": {sms.Refused},
		"inDoubt": {sms.InDoubt}, "held": {sms.Held}, "skipped": {sms.Skipped}, "cancelled": {sms.Cancelled},
		"closedUnknown": {sms.ClosedUnknown}, "closedResent": {sms.ClosedResent},
	}
}

// messageWords is messageStates the other way round.
func messageWords() map[sms.State]string {
	words := map[sms.State]string{}
	for word, states := range messageStates() {
		for _, s := range states {
			words[s] = word
		}
	}
	return words
}

func messageForm(m sms.Message, word string, masked bool) Message {
	f := Message{ID: m.ID, Row: m.Row, Phone: m.Number, Text: m.Text, Parts: m.Parts, State: word, MessageID: m.ProviderID,
		Reason: m.Reason}
	if masked {
		f.Reason = phone.MaskText(m.Reason)
	}
	if m.State == sms.Accepted {
		f.Status = string(sms.NoReport)
		if m.Delivery.Status != "" {
			f.Status = string(m.Delivery.Status)
		}
	}
	if masked && m.Number != "" {
		f.Phone = phone.ForLog(m.Number)
	}
	return f
}

// ListMessages lists a campaign's messages in the order of its rows.
func (s *API) ListMessages(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	id, err := apiID(r)
	if err != nil {
		return err
	}
	at, err := readPage(r)
	if err != nil {
		return err
	}
	f := sms.MessageFilter{CampaignID: id, After: at.cursor, Limit: at.limit}
	if f.States, f.Status, err = messageFilterOf(r); err != nil {
		return err
	}
	if _, err := s.store.Campaign(r.Context(), id); err != nil {
		return err
	}
	list, more, err := s.store.Messages(r.Context(), f)
	if err != nil {
		return err
	}
	answer, words := MessagePage{Items: make([]Message, len(list))}, messageWords()
	for i, m := range list {
		answer.Items[i] = messageForm(m, words[m.State], p.masked())
		answer.NextCursor = cursorAfter(more, m.ID)
	}
	return writeJSON(w, http.StatusOK, answer)
}

// messageFilterOf reads state= and status=; empty ones filter nothing.
func messageFilterOf(r *http.Request) (states []sms.State, status sms.Status, err error) {
	q := r.URL.Query()
	if word := q.Get("state"); word != "" {
		if states = messageStates()[word]; states == nil {
			return nil, "", wrongField(http.StatusBadRequest, "state", "Must be one of "+
				strings.Join(slices.Sorted(maps.Keys(messageStates())), ", "))
		}
	}
	word := q.Get("status")
	if word == "" || word == string(sms.NoReport) {
		return states, sms.Status(word), nil
	}
	status, known := sms.ParseStatus(word)
	if !known {
		return nil, "", wrongField(http.StatusBadRequest, "status",
			"Must be a delivery report status, for example DELIVRD, or none")
	}
	return states, status, nil
}

func (s *API) ShowMessage(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	id, err := apiID(r)
	if err != nil {
		return err
	}
	return s.writeMessage(w, r, p, id)
}

// writeMessage answers with one message.
func (s *API) writeMessage(w http.ResponseWriter, r *http.Request, p apiCaller, id int64) error {
	m, err := s.store.Message(r.Context(), id)
	if err != nil {
		return err
	}
	asked, err := s.follow.MessageAsked(r.Context(), id)
	if err != nil {
		return err
	}
	whole := WholeMessage{Message: messageForm(m, messageWords()[m.State], p.masked()),
		CampaignID: m.CampaignID, Unicode: m.Unicode,
		Code: m.Code, ErrorCode: m.Delivery.ErrorCode, DoneDate: m.Delivery.DoneDate, Late: m.Delivery.Late,
		CreatedAt: moment(m.CreatedAt), SentAt: moment(m.SentAt), ChangedAt: moment(m.ChangedAt), Asked: []Asked{}}
	for _, q := range asked {
		whole.Asked = append(whole.Asked, Asked{moment(q.CreatedAt), moment(q.AskedAt), q.Answer.Status, q.Code, q.Words,
			string(q.Effect)})
	}
	return writeJSON(w, http.StatusOK, whole)
}
