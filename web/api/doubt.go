package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"smsdesk/internal/phone"
	"smsdesk/internal/sms"
)

// doubtMost is how many requests one answer has; each may have thousands of messages.
const doubtMost = 10

// Doubts is what of a campaign waits for a decision.
type Doubts struct {
	ReadAt     *string        `json:"readAt"` // goes along with the decisions about it
	Proposals  []Proposal     `json:"proposals"`
	Items      []DoubtRequest `json:"items"`
	NextCursor *string        `json:"nextCursor"`
}

// Proposal is a decision that waits for a second person.
type Proposal struct {
	ID       int64   `json:"id"`
	By       string  `json:"by"`
	At       *string `json:"at"`
	Messages int     `json:"messages"`
}

// DoubtRequest is a request to the provider with the messages that wait for a
// decision because of it.
type DoubtRequest struct {
	Request       int64          `json:"request"`
	SentAt        *string        `json:"sentAt"`
	Reason        string         `json:"reason"`
	BalanceBefore string         `json:"balanceBefore"`
	BalanceAfter  string         `json:"balanceAfter"`
	Messages      []DoubtMessage `json:"messages"`
}

// DoubtMessage is one of those messages.
type DoubtMessage struct {
	Message
	Reports []int64 `json:"reports"` // those that may be about it, see GET /reports
	Draft   *int64  `json:"draft"`   // the campaign in which it is to be sent again
}

// ListDoubts lists what of a campaign waits for a decision, with what is known of it.
func (s Follow) ListDoubts(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	at, err := readPage(r)
	if err != nil {
		return err
	}
	c, a, err := s.programCampaign(r)
	if err != nil {
		return err
	}
	now := s.now().UnixMilli()
	// A cursor is one more than the last request, because 0 is a request too.
	groups, more, err := s.follow.DoubtGroups(r.Context(), c.Campaign, a.Country, at.cursor-1, min(at.limit, doubtMost), now)
	if err != nil {
		return err
	}
	proposed, err := s.follow.Proposals(r.Context(), c.Campaign.ID)
	if err != nil {
		return err
	}
	answer := Doubts{ReadAt: moment(now), Proposals: []Proposal{}, Items: []DoubtRequest{}}
	for _, d := range proposed {
		answer.Proposals = append(answer.Proposals, Proposal{d.ID, d.By.Name, moment(d.At), d.N})
	}
	for _, g := range groups {
		answer.Items = append(answer.Items, doubtForm(g, p.masked()))
		answer.NextCursor = cursorAfter(more, g.Attempt.ID+1)
	}
	return writeJSON(w, http.StatusOK, answer)
}

func doubtForm(g sms.DoubtGroup, masked bool) DoubtRequest {
	f := DoubtRequest{Request: g.Attempt.ID, SentAt: moment(g.Attempt.LicensedAt), Reason: g.Attempt.Reason,
		BalanceBefore: g.Before.Credits, BalanceAfter: g.After.Credits}
	if masked {
		f.Reason = phone.MaskText(f.Reason)
	}
	words := messageWords()
	for _, m := range g.Messages {
		d := DoubtMessage{Message: messageForm(m, words[m.State], masked), Reports: []int64{}}
		for _, h := range g.Hints[m.ID] {
			d.Reports = append(d.Reports, h.Report.Key)
		}
		if again := g.Again[m.ID].ID; again > 0 {
			d.Draft = &again
		}
		f.Messages = append(f.Messages, d)
	}
	return f
}

// decideOrder is what a program decided.
type decideOrder struct {
	ReadAt  string `json:"readAt"`
	Choices []struct {
		Request int64  `json:"request"`
		Seen    int    `json:"seen"`
		Message int64  `json:"message"`
		Choice  string `json:"choice"`
	} `json:"choices"`
}

// Decided is what became of decisions.
type Decided struct {
	State    string   `json:"state"` // done, proposed, settled or repeated
	Decision *int64   `json:"decision"`
	Settled  int      `json:"settled"`
	Draft    *int64   `json:"draft"`
	Campaign Campaign `json:"campaign"`
}

// Decide carries decisions about messages in doubt out, by the rules of the page:
// too many at once wait for a second person.
func (s Follow) Decide(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	var said decideOrder
	answer := Decided{State: "repeated"}
	key, err := idempotencyKey(r)
	if err != nil {
		return err
	}
	body, err := readBody(r, &said)
	if err != nil {
		return err
	}
	c, _, err := s.programCampaign(r)
	if err != nil {
		return err
	}
	_, err = s.once(r.Context(), p, key, requestSum(r, body), func(string) (int64, error) {
		list, readAt, err := s.choices(r.Context(), c.Campaign, said)
		if err != nil {
			return 0, err
		}
		done, err := s.orders.DecideDoubts(r.Context(), p.user, c.Campaign.ID, list, readAt)
		if err == nil {
			answer.say(done)
		}
		return c.Campaign.ID, err
	})
	if err != nil {
		return staleProblem(err)
	}
	c, a, err := s.countCampaign(r.Context(), c.Campaign.ID)
	if err != nil {
		return err
	}
	if answer.Campaign, err = s.one(r.Context(), c, a); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, answer)
}

func (d *Decided) say(done sms.DecisionResult) {
	d.Settled, d.State = done.Settled, "settled"
	if done.Decision.ID > 0 {
		d.State, d.Decision = string(done.Decision.State), &done.Decision.ID
	}
	if done.Campaign.ID > 0 {
		d.Draft = &done.Campaign.ID
	}
}

// choices reads what was decided, and finds the request of each message.
func (s Follow) choices(ctx context.Context, c sms.Campaign, said decideOrder) (list []sms.DecisionItem, readAt int64,
	err error) {
	read, err := time.Parse(time.RFC3339, said.ReadAt)
	if err != nil {
		return nil, 0, wrongField(http.StatusUnprocessableEntity, "readAt", "Give readAt as GET told it")
	}
	known := []sms.Choice{sms.ChooseLater, sms.ChooseSent, sms.ChooseAgain, sms.ChooseClose, sms.ChooseQueue}
	for i, x := range said.Choices {
		wrong := func(field, sentence string) error {
			return wrongField(http.StatusUnprocessableEntity, fmt.Sprintf("choices[%d].%s", i, field), sentence)
		}
		item := sms.DecisionItem{Attempt: x.Request, Message: x.Message, Seen: x.Seen, Choice: sms.Choice(x.Choice)}
		if !slices.Contains(known, item.Choice) {
			return nil, 0, wrong("choice", "Must be sent, again, close, queue or later")
		}
		if x.Message == 0 && x.Seen < 1 {
			return nil, 0, wrong("seen", "Give how many messages of the request GET told")
		}
		if x.Message != 0 {
			m, err := s.store.Message(ctx, x.Message)
			if errors.Is(err, sms.ErrNotFound) || err == nil && m.CampaignID != c.ID {
				return nil, 0, wrong("message", "This campaign has no such message")
			}
			if err != nil {
				return nil, 0, err
			}
			item.Attempt, item.Seen = m.AttemptID, 0
		}
		list = append(list, item)
	}
	return list, read.UnixMilli(), nil
}

// staleProblem names the messages that somebody else decided meanwhile.
func staleProblem(err error) error {
	gone, stale := errors.AsType[sms.StaleDecisionError](err)
	if !stale {
		return err
	}
	p := newProblem(http.StatusConflict,
		"These messages are no longer as you read them. Nothing was decided. Read them again, then decide")
	p.Type = ProblemState
	words := messageWords()
	for _, m := range gone.Messages {
		p.Rows = append(p.Rows, rowError{m.Row, "Message " + strconv.FormatInt(m.ID, 10) + " is " + words[m.State]})
	}
	return p
}

// DropDecision withdraws a proposal.
func (s Follow) DropDecision(w http.ResponseWriter, r *http.Request, p apiCaller) error {
	var said struct {
		Decision int64 `json:"decision"`
	}
	if _, err := readBody(r, &said); err != nil {
		return err
	}
	c, _, err := s.programCampaign(r)
	if err != nil {
		return err
	}
	d, err := s.follow.Decision(r.Context(), said.Decision)
	if errors.Is(err, sms.ErrNotFound) || err == nil && d.CampaignID != c.Campaign.ID {
		return wrongField(http.StatusUnprocessableEntity, "decision", "This campaign has no such proposal")
	}
	if err != nil {
		return err
	}
	if d, err = s.orders.DropDoubts(r.Context(), p.user, d.ID); err != nil {
		return changedTo(err, "This proposal is not open any more")
	}
	return writeJSON(w, http.StatusOK, Proposal{d.ID, d.By.Name, moment(d.At), d.N})
}
